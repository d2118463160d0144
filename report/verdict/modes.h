/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modes of a distribution: peaks with a significant valley between them. */
#ifndef REPORT_VERDICT_MODES_H
#define REPORT_VERDICT_MODES_H

#include "rant.h"

struct histogram;

#define MODES_KEPT 8
#define MODES_LEAST_SAMPLES 1000 /* fewer give no finding */

struct mode {
	int64_t value_ns; /* median of the samples around the peak */
	int64_t spread_ns; /* from the 10th to the 90th percentile of the mode */
	uint64_t samples; /* up to the middle of the valley on each side */
};

struct modes {
	unsigned count; /* 0: too few samples */
	unsigned kept; /* elements of mode[] */
	struct mode mode[MODES_KEPT]; /* the modes with the most samples, in ascending order of value */
	uint64_t samples; /* of the histogram */
	int64_t distance_ns; /* between neighbouring modes; 0: a single mode, or no common distance */
};

/*
 * Finds the modes. One mode is not a finding. By chance at most 1 % of unimodal distributions have two. Peaks that are
 * closer than 250 ns, and peaks that the granularity of a clock makes (up to 2 us), count as a single mode.
 */
void modes_find(struct modes *to, const struct histogram *h);

double modes_percent(const struct modes *m, const struct mode *one);

#endif
