/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of one interval of a run: the difference of two copies of its histogram. */
#ifndef REPORT_TEXT_INTERVAL_H
#define REPORT_TEXT_INTERVAL_H

#include "histogram.h"
#include "rant.h"

struct result;

struct interval {
	int64_t began_ns; /* start of the run, CLOCK_MONOTONIC; set by the caller */
	int64_t last_ns; /* end of the previous interval; 0: none ended so far */
	void *memory; /* buckets of the last copy; NULL: not needed so far */
	uint64_t recorded, lost; /* counts at the end of the previous interval */
};

struct interval_line {
	double seconds, length; /* since the start of the run; of the interval */
	uint64_t samples, all_samples; /* of the interval, and of the run */
	uint64_t lost; /* of the interval */
	bool known; /* the percentiles are known */
	struct percentile p50, p99;
	int64_t max_ns;
};

/* Ends the interval. now: a copy by histogram_copy(); NULL: not available, and the percentiles are not known. Resets
 * account.recent_max_ns of the result. */
void interval_end(struct interval *v, struct interval_line *line, struct result *result, const struct histogram *now,
		  int64_t now_ns);

/* "2.0 s  50000 samples  ..." without a newline. whole: samples of the run, else of the interval. */
void interval_write(char *text, size_t bytes, const struct interval_line *line, bool whole);

void interval_close(struct interval *v);

#endif
