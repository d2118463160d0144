/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the kernel's text of a trace (all.txt of a folder that --save-trace wrote) into an array of events.
 *
 * The text has microseconds: the kernel rounds each time (ns2usecs()), so a difference of two times is off by up to
 * 1 us. The file is not trusted: memory is bounded, and a line that cannot be read is counted and skipped.
 */
#ifndef EXPLAIN_TRACE_TEXT_H
#define EXPLAIN_TRACE_TEXT_H

#include "rant.h"

#define TRACE_TEXT_NS 1000 /* largest error of a difference of two times */
#define TRACE_TEXT_EVENTS_MAX (1U << 20) /* of more events the oldest are dropped; 32 octets each */
#define TRACE_TEXT_CPUS_MAX 1024
#define TRACE_TEXT_NAME_BYTES 40
#define TRACE_TEXT_NAMES_MAX 16384 /* different names of tasks, interrupts and functions; further names are "?" */
#define TRACE_TEXT_LINE_BYTES 1024 /* of a longer line the rest is ignored */

enum event_kind {
	EVENT_OTHER, /* an event without a meaning here; its line names the running task and the context */
	EVENT_IRQ_ENTRY, EVENT_IRQ_EXIT, /* number: the interrupt */
	EVENT_VECTOR_ENTRY, EVENT_VECTOR_EXIT, /* number: the vector, or 0 */
	EVENT_SOFTIRQ_RAISE, EVENT_SOFTIRQ_ENTRY, EVENT_SOFTIRQ_EXIT, /* number: enum softirq of the kernel */
	EVENT_NMI, /* at the end of the handler; number: its duration in nanoseconds */
	EVENT_SWITCH, /* name, number, prio: the next task; `task` and `pid` are the previous one */
	EVENT_WAKING, /* name, number, prio: the woken task */
	EVENT_IDLE, /* number: the idle state; -1: its end */
	/* name: the function; tasklets are as timers */
	EVENT_HRTIMER_ENTRY, EVENT_HRTIMER_EXIT, EVENT_TIMER_ENTRY, EVENT_TIMER_EXIT,
	EVENT_WORK_START, EVENT_WORK_END, /* name: the function */
	EVENT_NAPI_POLL, /* after the poll; name: the interface, number: its packets */
	EVENT_RECEIVE, /* netif_receive_skb_entry, napi_gro_receive_entry; name: the interface */
	EVENT_QUEUE, /* net_dev_queue; name: the interface */
	EVENT_XMIT, EVENT_XMIT_END, /* net_dev_start_xmit, net_dev_xmit: of the driver; name: the interface */
	EVENT_DATA_READY, /* number: the protocol */
	EVENT_CONSUME,
	EVENT_PRINT, /* a marker */
	EVENT_LOST, /* number: events lost on this CPU between its previous event and this time */
	EVENT_KINDS
};

#define SOFTIRQ_NET_RX 3 /* include/linux/interrupt.h */

struct event {
	int64_t ns; /* by the trace clock */
	uint32_t name, task; /* index of trace_text_name() */
	int32_t pid; /* the running task */
	int32_t number;
	int16_t prio; /* of the kernel: below 100 real-time, 120 is nice 0 */
	uint16_t cpu;
	uint8_t kind; /* enum event_kind */
	char context; /* h: interrupt; H: interrupt within a softirq; s: softirq; z, Z: NMI; '.': none; 0: not known */
	char irqs; /* d, D: interrupts are off; 0: not known */
};

/* A marker of rant. */
struct trace_marker {
	int64_t ns; /* when it was written, by the trace clock */
	int32_t pid;
	int cpu;
	char task[TRACE_TEXT_NAME_BYTES];
	char text[TRACE_TEXT_LINE_BYTES]; /* from RANT_ on; empty: there is none */
};

struct trace_text {
	struct event *event; /* in the order of time */
	size_t count;
	uint64_t kinds; /* bit 1 << enum event_kind: at least one event of this kind was read */
	struct trace_marker start, breach; /* the last of each */
	int64_t resolution_ns; /* largest error of a difference of two times of events */
	char clock[16]; /* empty: the header does not name it */
	bool lost_known;
	uint64_t lost_before; /* events overwritten before the first line, of all CPUs */
	uint64_t buffer_kib; /* size of the buffer of each CPU; 0: not known */
	uint64_t lost; /* events lost between the lines */
	uint64_t unknown; /* events of kind EVENT_OTHER */
	uint64_t malformed; /* lines that could not be read, or whose time is before that of the previous line */
	uint64_t dropped; /* oldest events, beyond TRACE_TEXT_EVENTS_MAX */
	bool cut_off; /* the last line is not complete */
	bool x86; /* the header names such a machine */
	struct trace_text_names *names;
};

/* Reads `file` from its beginning to its end. 0, or -ENOMEM. Call trace_text_free() in any case. */
int trace_text_read(struct trace_text *t, FILE *file);

void trace_text_free(struct trace_text *t);

/* Index of the first event at or after a time by the trace clock; t->count: none. */
size_t trace_text_first(const struct trace_text *t, int64_t ns);

/* A name without control characters, at most TRACE_TEXT_NAME_BYTES - 1 octets. */
const char *trace_text_name(const struct trace_text *t, uint32_t name);

/* ---- For trace_pages.c ------------------------------------------------------------------------------------------- */

/* A name as number, stored the first time. Control characters and UTF-8 become '?'. */
uint32_t trace_text_intern(struct trace_text *t, const char *text, size_t bytes);

/* Stores the marker of the start or of the breach; any other text is ignored. */
void trace_text_note_marker(struct trace_text *t, const struct event *e, const char *text);

/* An event of the kernel that has a meaning here. */
struct trace_event_row {
	const char *system, *event; /* as in the folder `events` of tracefs */
	enum event_kind kind;
	bool (*read)(struct trace_text *t, struct event *e, const char *arguments);
	const char *name; /* of a vector */
};

/* Row n from 0 on; NULL: after the last. */
const struct trace_event_row *trace_text_row(size_t n);

#endif
