/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steadiness: changes of the level of the latency during a run. */
#ifndef REPORT_VERDICT_STEADINESS_H
#define REPORT_VERDICT_STEADINESS_H

#include "rant.h"
#include "result/level.h"

#define STEADINESS_SECONDS 20 /* fewer give no finding */

/* Adds a second. samples: number of samples of the percentiles; the median counts from 20 samples on, p99 from 100. */
void steadiness_add(struct levels *l, int64_t from_ns, uint64_t samples, int64_t median_ns, int64_t p99_ns);

/*
 * Finds the changes of level. By chance at most 1 % of all runs have one, also where neighbouring seconds are
 * correlated, up to an autocorrelation of 0.7. Nothing is found in fewer than STEADINESS_SECONDS seconds, in several
 * runs that were put together, where a tenth of the seconds had too few samples, below a change of 2 %, and where the
 * level rather drifts than jumps.
 */
void steadiness_find(struct level_changes *to, const struct levels *l);

struct result_changes;
struct result_clocks;

/* Adds to each change the changes of this machine and the steps of its clocks at that time. start_ns: CLOCK_MONOTONIC at
 * the begin of the first second. */
void steadiness_explain(struct level_changes *to, const struct result_changes *machine,
			const struct result_clocks *clocks, int64_t start_ns);

/* "p50 20.1 to 21.3 us after 61 s, p99 ..."; empty without a change. */
void steadiness_say(char *text, size_t bytes, const struct level_changes *c);

#endif
