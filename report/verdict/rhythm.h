/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rhythm: the period at which spikes come. */
#ifndef REPORT_VERDICT_RHYTHM_H
#define REPORT_VERDICT_RHYTHM_H

#include "result/spikes.h"

#define RHYTHM_SPIKES 20 /* fewer give no finding */
#define RHYTHM_P 1e-3 /* share of runs without a rhythm that have a finding, at most */
#define RHYTHM_LEAST_NS NS_PER_MS /* shortest period */
#define RHYTHM_MOST_NS (100 * NS_PER_S) /* longest period */
#define RHYTHM_PERIODS 10 /* with a spike in phase, at least */

struct rhythm_times {
	const int64_t *spike_ns; /* in ascending order */
	unsigned spikes;
	const int64_t *ordinary_ns; /* times of samples chosen at random; NULL: at any time */
	unsigned ordinary;
	int64_t from_ns, until_ns; /* the run; all spikes are in it */
	int64_t probe_ns; /* time between two probes; 0: not known */
};

/*
 * Finds the period of the spikes. No period below two intervals of the probes is found, because the probes make the
 * times, and none in which as many of all probes are in phase. Nothing is found if the spikes in phase are in less than
 * 7 tenths of the time or in fewer than RHYTHM_PERIODS periods.
 *
 * Takes less than a second and 6 MiB: a long run is searched for periods from 1/65536 of its length on, and its stretches
 * with most spikes, each an eighth of the previous stretch, are searched for shorter periods. False: none is found.
 */
bool rhythm_find(struct rhythm *to, const struct rhythm_times *t);

#endif
