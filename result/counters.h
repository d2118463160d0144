/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware counters of the measuring thread, of exchanges whose counters could be read. */
#ifndef RESULT_COUNTERS_H
#define RESULT_COUNTERS_H

#include "host/counters/pmc.h"
#include "rant.h"

/* All zeros: not read. */
struct result_counters {
	unsigned counters; /* length of the arrays below */
	const char *name[PMC_MAX]; /* in 'perf list'; constants */
	bool user_only; /* work in the kernel is not counted */
	unsigned system_calls; /* that reading adds to an exchange */
	char missing[sizeof(((struct pmc *)NULL)->missing)]; /* names of events that are not counted; "" if none */
	uint64_t quick, quick_sum[PMC_MAX]; /* exchanges that are not slow, and sums over these */
	uint64_t slow;
	uint64_t spike[PMC_MAX]; /* of the first slow exchange */
	uint64_t failed; /* exchanges whose counters could not be read */
	bool partial[PMC_MAX]; /* did not count all the time, so its values are too low */
};

#endif
