/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cause of a breach: the interval of the late stage, divided by milestones into sections, and the owners of each
 * section; the same of ordinary packets in the same buffer; the excess of each owner.
 */
#ifndef EXPLAIN_CAUSE_H
#define EXPLAIN_CAUSE_H

#include "explain/walk.h"

/* An owner over the whole stage. Threads of the same name are one owner. */
struct owner_excess {
	struct owner owner; /* of the largest part */
	int64_t ns, typical_ns;
	int64_t detail_ns; /* time of owner.detail */
	int tasks; /* different threads of this name */
};

#define CAUSE_RANKS 32

struct cause {
	const struct stage_row *stage;
	bool chosen; /* no blame is known: it is the longest stage of this host */
	int64_t from_ns, ns, bound_ns;
	int cpus[4], cpu_count; /* CPUs of the sections */
	struct section_time section[SECTIONS];
	size_t packets; /* ordinary packets of which the typical times are; 0: not known */
	int64_t typical_ns;
	int64_t section_typical_ns[SECTIONS];
	struct owner_excess rank[CAUSE_RANKS]; /* by excess, largest first */
	int ranks;
	int named; /* first elements of rank[] that are the cause: 1 or 2; 0: spread over `spread` parts */
	int spread;
	int64_t absent_ns; /* not in the trace, of ns */
	int64_t missing_ns; /* the buffer of a CPU of these would have to begin earlier by this time */
	int64_t held_ns; /* this buffer holds the events from so long before the marker on */
	uint64_t lost; /* events lost during the stage */
	int lost_cpu; /* on this CPU of these */
};

/* Explains a breach. 0, or -errno with the reason in `why`. *o: the owners, which the caller frees in any case. */
int cause_find(struct cause *c, struct owners *o, const struct evidence *e, char why[CAUSE_REASON_BYTES]);

/* The CPU on which an owner had most time; -1: not known. */
int cause_cpu(const struct cause *c, const struct owner *o);

#endif
