/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 95 % intervals of percentiles. For report/ and analyse/ only.
 *
 * The share of samples above a percentile differs from block to block of the run. Its variance, with the correlation of
 * neighbouring blocks, gives an effective number of samples: that many independent samples would know the share as well.
 * The ranks of the interval are those of the binomial distribution with that number (Woodruff 1952; Korn and Graubard
 * 1998). Without blocks all samples count as independent, which makes the interval of most latencies too narrow.
 */
#ifndef REPORT_TEXT_CONFIDENCE_H
#define REPORT_TEXT_CONFIDENCE_H

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "result/confidence.h"

#include <stdio.h>

struct report;

#define CONFIDENCE_BLOCKS 128 /* even; a full table is merged by two */
#define CONFIDENCE_TARGETS 64 /* shares of a block whose values are kept */
#define CONFIDENCE_POINTS (2 * CONFIDENCE_TARGETS + 3)

/* Distribution of the samples of a block: exact at its points, linear between them. */
struct confidence_block {
	uint64_t count;
	unsigned seconds;
	unsigned points;
	struct confidence_point {
		int64_t value_ns;
		uint64_t below; /* number of samples at or below value_ns */
	} point[CONFIDENCE_POINTS];
};

/* All zeros to begin with. */
struct confidence_blocks {
	struct confidence_block block[CONFIDENCE_BLOCKS];
	unsigned blocks, seconds_each; /* seconds_each 0: nothing was added */
};

/* Adds the samples of the next second, in ascending order. Another thread than the loop. */
void confidence_add(struct confidence_blocks *b, const int64_t *value_ns, size_t n);

/* The effective numbers of samples at the percentiles of h, which has the samples of b; and the width of the goal. b
 * NULL: no samples. */
void confidence_find(struct confidence *to, const struct confidence_blocks *b, const struct histogram *h,
		     const struct known_goal *goal);

/* Half of the width of the 95 % interval of the percentile of the goal, as a share of its value, by the blocks alone.
 * False: no goal, fewer than CONFIDENCE_BLOCKS_LEAST blocks, or too few samples for one of the ends. */
bool confidence_width(const struct confidence_blocks *b, const struct known_goal *goal, double *width);

static inline bool confidence_is_reached(const struct known_goal *goal, double width)
{
	return width * 1e9 <= (double)goal->width_ppb;
}

struct confidence_interval {
	int64_t low_ns; /* the minimum, if too few samples are below the percentile */
	int64_t high_ns; /* -1: not known, since too few samples are above the percentile */
};

/* c: of the latency; NULL, or too few blocks: binomial. h must have samples. index: of label_percentiles[]. */
struct confidence_interval confidence_interval(const struct histogram *h, const struct confidence *c, unsigned index);

static inline bool confidence_is_by_blocks(const struct confidence *c)
{
	return c && c->blocks >= CONFIDENCE_BLOCKS_LEAST;
}

/* The intervals of the latency, for the complete report. */
void confidence_write(FILE *out, const struct report *r);

/* A line about --until-known, if it was given. */
void confidence_write_goal(FILE *out, const struct report *r);

#endif
