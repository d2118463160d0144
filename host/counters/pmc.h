/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hardware counters of the measuring thread: reading them around an exchange. Hot. pmu.h opens them. */
#ifndef HOST_COUNTERS_PMC_H
#define HOST_COUNTERS_PMC_H

#include "rant.h"

#define PMC_MAX 13

struct pmc {
	unsigned counters; /* number of counters that are read; length of the arrays below */
	uint8_t event[PMC_MAX]; /* index of the known events, for pmc_name() in pmu.h */
	bool user_only; /* work in the kernel is not counted, because it is not permitted */
	/* System calls that reading adds to an exchange: 0 when all is read by the instruction rdpmc, else 2. */
	unsigned system_calls;
	char missing[256]; /* "a, b, c": events that this machine lacks or cannot count at the same time; "" if none */
	bool software_left_out; /* events that only a system call can read are omitted: see pmc_open() in pmu.h */

	/* Results, of exchanges whose counters could be read. */
	uint64_t delta[PMC_MAX]; /* of the last exchange; valid if pmc_end() returned true */
	uint64_t quick, quick_sum[PMC_MAX];
	uint64_t slow, slow_sum[PMC_MAX];
	uint64_t spike[PMC_MAX]; /* of the first slow sample */
	uint64_t failed; /* exchanges whose counters could not be read */
	bool partial[PMC_MAX]; /* set by pmc_finish(): did not count all the time, so its values are too low */

	/* Internal. The first `direct` counters are read by rdpmc, the others by one read() of a group, in this
	 * order. */
	unsigned direct;
	const void *page[PMC_MAX]; /* struct perf_event_mmap_page, NULL: none */
	int fd[PMC_MAX];
	int group_fd; /* -1: rdpmc reads all counters */
	bool begun, idle[PMC_MAX]; /* pmc_begin() succeeded; the counter was found stopped */
	uint64_t before[PMC_MAX];
};

/* Before the first and after the last step of an exchange. pmc_end() fills p->delta; false: not readable. */
void pmc_begin(struct pmc *p);
bool pmc_end(struct pmc *p);

/* Adds p->delta to the sums of the quick or of the slow samples; the first slow sample is kept as the spike. Call it
 * only after pmc_end() returned true. */
void pmc_account(struct pmc *p, bool slow);

#endif
