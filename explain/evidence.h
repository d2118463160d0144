/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The evidence of a breach: a folder that --save-trace wrote, with the trace (all.txt), the marker of the breach in it,
 * and breach.json, which may be absent. Times of the packet are placed on the trace clock.
 *
 * The folder is not trusted: files are opened without following links, sizes are bounded, numbers are checked.
 */
#ifndef EXPLAIN_EVIDENCE_H
#define EXPLAIN_EVIDENCE_H

#include "explain/trace_pages.h"
#include "explain/unseen.h"
#include "result/causes.h"

#define EVIDENCE_PACKETS_MAX 1000
#define EVIDENCE_IRQS_MAX 256
#define RUN_ID_BYTES 8

/* STAMP_QUEUE: a sent packet entered the queueing discipline; STAMP_DRIVER: its driver got it. */
enum stamp_kind { STAMP_SW, STAMP_KERNEL, STAMP_HW, STAMP_QUEUE, STAMP_DRIVER, STAMP_KINDS };

extern const char *const stamp_kinds[STAMP_KINDS]; /* as the names of times end: T1_SW */

/* The times of one packet at this host, by T1 to T4; the NIC's are of its own clock, all others of CLOCK_REALTIME. */
struct stamps {
	uint32_t seq;
	bool other_run; /* a packet of another emitter than the breach: seq is not comparable */
	bool known[5][STAMP_KINDS];
	int64_t ns[5][STAMP_KINDS];
};

struct evidence {
	struct trace_text text;
	char no_pages[TRACE_PAGES_WHY_BYTES]; /* why its times are of the text, +- 1 us; empty: they are of the raw pages */

	/* From the marker. */
	enum role role;
	struct stamps breach;
	int64_t latency_ns;
	int64_t realtime_ns; /* CLOCK_REALTIME at the marker, and the same instant by the trace clock: */
	int64_t placed_ns;
	bool raw_known;
	int64_t raw_ns; /* the same by CLOCK_MONOTONIC_RAW */
	int64_t placed_bound_ns; /* of this relation, with the resolution of the events */
	bool rate_known;
	double rate; /* of the trace clock minus that of CLOCK_REALTIME, relative */

	/* An event without which a CPU may be busy unnoticed, "SYSTEM:NAME", and which was not enabled; NULL: none. From the
	 * formats in raw/, else from the events in the text. */
	const char *not_enabled;

	/* From breach.json. */
	bool details; /* it was read */
	char run[RUN_ID_BYTES]; /* empty: not known */
	int cpu; /* of the measuring thread; -1: not known */
	int irqs;
	int32_t irq[EVIDENCE_IRQS_MAX]; /* interrupts of the NIC */
	char interface[IFNAMSIZ]; /* empty: not known */
	char blame[32]; /* id of the late stage; empty: not known */
	bool hw_known;
	int64_t hw_minus_realtime_ns, hw_bound_ns;
	struct unseen unseen;
	struct stamps *packet; /* ordinary packets before the breach */
	size_t packets;
};

/* Writes the reason for which a folder cannot be explained, and returns -error. */
__attribute__((format(printf, 3, 4)))
int evidence_refuse(char why[CAUSE_REASON_BYTES], int error, const char *format, ...);

/* Reads the folder. 0, or -errno with the reason in `why`. breach.json that cannot be read is one line on stderr, and
 * its values are not known. Call evidence_close() in any case. */
int evidence_open(struct evidence *e, const char *folder, char why[CAUSE_REASON_BYTES]);

void evidence_close(struct evidence *e);

/* Time n (1 to 4) of a packet by the trace clock, with its bound. False: not known, or it cannot be placed. */
bool evidence_place(const struct evidence *e, const struct stamps *s, int n, enum stamp_kind kind, int64_t *ns,
		    int64_t *bound_ns);

/* Copies a text of breach.json, as printable ASCII; empty if it is missing. */
void evidence_read_name(const struct tree *t, char *to, size_t bytes);

#endif
