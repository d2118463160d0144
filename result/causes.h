/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes of breaches, found in the saved traces after the run: see explain/. */
#ifndef RESULT_CAUSES_H
#define RESULT_CAUSES_H

#include "rant.h"

struct result;

/* Owner of the time of a CPU, and the cause of a breach. */
enum owner_class {
	OWNER_ABSENT, /* not in the trace: the buffer begins later, or does not have this CPU */
	OWNER_LOST, /* not in the trace: events were lost, or a switch of tasks is missing */
	OWNER_NMI, OWNER_IRQ, OWNER_VECTOR, OWNER_SOFTIRQ,
	OWNER_THREAD, /* another thread */
	OWNER_IDLE, /* number: the idle state, -1 while it is left, or OWNER_IDLE_UNKNOWN */
	OWNER_RANT, /* the measuring thread */
	/* Assigned from milestones, see explain/cause.c. */
	OWNER_HELD, /* the interrupt did not arrive: moderation of the NIC, or interrupts are off in this thread */
	OWNER_WAKE, /* the interrupt did not arrive, and the CPU was idle: moderation, or exit from the idle state */
	OWNER_DEFERRED, /* the softirq was left to ksoftirqd, and this thread ran */
	OWNER_SOFTIRQS_OFF, /* the softirq waited: this thread had softirqs off, or not seen by the kernel */
	OWNER_PACKETS, /* number of other packets in the same softirq before the packet */
	/* No event for a long time while the measuring thread was on the CPU. number: 1 if its program may have taken
	 * the time, 0 if it polled the socket. */
	OWNER_UNSEEN,
	OWNER_WIRE, /* after the driver: the NIC or its bus */
	OWNER_OTHERS, /* owners that did not fit into a list */
	OWNER_CLASSES,

	/* Causes that are not an owner. */
	CAUSE_SPREAD = OWNER_CLASSES, /* no two owners have half of the excess */
	CAUSE_NONE, /* the stage was not late within the bound of the times */
	CAUSE_NOT_EXPLAINED, /* the trace could not be explained, or was left out */
	CAUSE_CLASSES
};

#define CAUSE_NAME_BYTES 48
#define CAUSE_STAGE_BYTES 32
#define CAUSE_REASON_BYTES 256
#define CAUSE_PARTS 32
#define CAUSES_MAX 65 /* traces of the first, the worst and the last breaches of a file; a run explains at most 64 */

/* Words for a class: in JSON and Prometheus, and before the name in a text. */
struct cause_word {
	const char *id, *text;
};

extern const struct cause_word cause_words[CAUSE_CLASSES]; /* by enum owner_class */

/* Time of one owner within the late stage. */
struct why_part {
	uint8_t class; /* enum owner_class, below OWNER_CLASSES */
	struct optional cpu; /* on which it had most of this time */
	char name[CAUSE_NAME_BYTES]; /* of the thread, interrupt ...; empty: the class has none */
	int64_t value_ns, typical_ns;
};

/* Counters of time that the kernel does not see, over an interval that has the whole late stage. */
struct why_unseen {
	bool there; /* breach.json has them; else nothing below is known */
	struct optional cpu; /* the measuring CPU, of which they are; not known: not bound to one */
	struct optional smi_count, steal_ms; /* in the interval */
	int64_t smi_within_ns, steal_within_ns; /* length of the interval */
	int64_t steal_step_ms; /* the kernel counts it in such steps */
	bool steal_ever; /* since boot */
	struct optional disrupted; /* 1: the hypervisor reported a disruption of the virtual machine */
	char smi_why[CAUSE_REASON_BYTES / 2], steal_why[CAUSE_REASON_BYTES / 2]; /* reason if it is not known */
};

/* Explanation of one breach. The parts sum to the stage, the largest excess comes first. */
struct why {
	uint32_t seq; /* of the breach, and: */
	int64_t latency_ns;
	char not_explained[CAUSE_REASON_BYTES]; /* the reason; then nothing below is known. Empty: it is explained */
	uint8_t class; /* of the cause: that of part[0], CAUSE_SPREAD or CAUSE_NONE */
	uint8_t named; /* first elements of part[] that are the cause: 1 or 2; 0: CAUSE_SPREAD, CAUSE_NONE */
	char stage[CAUSE_STAGE_BYTES]; /* as in --json: "kernel_to_app_ns" */
	bool has_typical;
	int64_t value_ns, typical_ns, bound_ns; /* of the stage */
	uint64_t ordinary_packets; /* of which the typical times are */
	uint64_t events; /* in the trace */
	struct why_unseen unseen;
	struct why_part part[CAUSE_PARTS];
	unsigned parts;
};

/* Traces of the run with the same cause: the same class and name. */
struct cause_count {
	uint8_t class; /* enum owner_class */
	struct optional cpu; /* the same in all of them */
	char name[CAUSE_NAME_BYTES];
	uint64_t traces;
};

struct result_causes {
	uint64_t traces; /* saved traces of the run: the sum of all counts */
	struct cause_count count[CAUSES_MAX + 1]; /* the most frequent first, CAUSE_NOT_EXPLAINED last */
	unsigned counts;
	struct why why[CAUSES_MAX];
	unsigned whys;
};

/* The explanation of this breach; NULL: its trace was not saved. */
const struct why *causes_find(const struct result *r, const struct sample *s);

/* Name and CPU of the cause. */
static inline const char *why_name(const struct why *w)
{
	return w->named ? w->part[0].name : "";
}

static inline struct optional why_cpu(const struct why *w)
{
	return w->named ? w->part[0].cpu : (struct optional){ .known = false };
}

/* Excess of a part; without typical times its whole time. */
static inline int64_t why_excess_ns(const struct why *w, const struct why_part *p)
{
	return w->has_typical ? p->value_ns - p->typical_ns : p->value_ns;
}

/* True if a cause of this class may be outside of the kernel, so that struct why_unseen matters. */
static inline bool why_may_be_unseen(int class)
{
	return class == OWNER_UNSEEN || class == OWNER_SOFTIRQS_OFF;
}

/* The part of the cause that may be outside of the kernel; NULL: none. */
static inline const struct why_part *why_unseen_part(const struct why *w)
{
	for (unsigned i = 0; i < w->named; i++)
		if (why_may_be_unseen(w->part[i].class))
			return &w->part[i];
	return NULL;
}

/* Share of a part in the whole, at most 100. */
int causes_percent(int64_t part_ns, int64_t whole_ns);

/* Share of the cause in the excess of the stage, without typical times in the stage; at most 100. */
int why_share_percent(const struct why *w);

/* Counts the trace of this explanation. */
void causes_count(struct result_causes *c, const struct why *w);

/* The same for traces without an explanation. */
void causes_count_not_explained(struct result_causes *c, uint64_t traces);

/* After the last count: the order of count[]. */
void causes_sort(struct result_causes *c);

/* Number of traces with this cause. */
uint64_t causes_of(const struct result_causes *c, const struct why *w);

/* Traces whose cause has this class. */
uint64_t causes_of_class(const struct result_causes *c, int class);

#endif
