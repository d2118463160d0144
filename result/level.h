/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The level of the latency from second to second, and the changes of it that report/verdict/steadiness.c found. */
#ifndef RESULT_LEVEL_H
#define RESULT_LEVEL_H

#include "rant.h"

#define LEVEL_STRETCHES 512 /* even */
#define LEVEL_CHANGES_MAX 8
#define LEVEL_WITH_BYTES 96

/* One second of the run, or 2, 4, 8 ... seconds of a long one. */
struct level_stretch {
	int64_t from_ns; /* after the start of the run */
	double median_ns, p99_ns; /* sums over its seconds */
	unsigned seconds; /* that had enough samples */
	uint64_t samples;
};

/* All zeros to begin with. */
struct levels {
	struct level_stretch stretch[LEVEL_STRETCHES];
	unsigned stretches, seconds_each; /* seconds_each 0: nothing was added */
	uint64_t seconds, silent; /* silent: with too few samples for a median */
	bool no_p99; /* a second had too few samples for a p99 */
	bool of_several; /* the seconds belong to several runs */
};

struct level_change {
	bool is_p99; /* else the median */
	int64_t after_ns; /* after the start of the run */
	int64_t before_ns, now_ns; /* latency */
	char with[LEVEL_WITH_BYTES]; /* changes of this machine at that time; empty: none was seen */
};

struct level_changes {
	bool is_judged; /* else there are too few seconds, or none with enough samples */
	unsigned count;
	struct level_change change[LEVEL_CHANGES_MAX]; /* the median first, each in order of time */
	int64_t settled_ns; /* only the beginning of the run differs, until this time; 0: it is not so */
	uint64_t settled_samples; /* recorded before that */
	int64_t stretch_ns; /* resolution of the times */
};

#endif
