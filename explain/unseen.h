/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of time that the kernel does not see, in breach.json: SMI count, stolen time, disruptions. */
#ifndef EXPLAIN_UNSEEN_H
#define EXPLAIN_UNSEEN_H

#include "analyse/tree.h"
#include "result/causes.h"

struct cause;
struct evidence;

/* A counter at both ends of an interval, which is of CLOCK_MONOTONIC_RAW. */
struct unseen_counter {
	bool known;
	int64_t from_ns, to_ns;
	int64_t from, to;
	char why[CAUSE_REASON_BYTES / 2]; /* reason if it is not known */
};

struct unseen {
	bool there;
	int cpu; /* -1: not known */
	int64_t step_ms;
	struct unseen_counter smi, steal, disruptions;
};

/* Reads the member `unseen`; NULL: it is missing. */
void unseen_read(struct unseen *u, const struct tree *t);

/* Differences of the counters whose interval has the whole late stage, others are not known. */
void unseen_take(struct why_unseen *w, const struct cause *c, const struct evidence *e);

#endif
