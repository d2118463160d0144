/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * 95 % intervals of percentiles. For report/ and analyse/ only.
 *
 * Samples of the same time are alike, so an interval that counts each sample by itself is too narrow. Here the run is
 * divided into blocks of whole seconds; the scatter of the share of samples below a percentile from block to block gives
 * the standard error of that share (the ratio estimator of cluster samples), and the percentiles at both ends of that
 * error are the interval of the percentile (Woodruff 1952). A correlation between neighbouring blocks is added. Without
 * blocks the error is that of the binomial distribution, which is right for independent samples only.
 */
#ifndef REPORT_TEXT_CONFIDENCE_H
#define REPORT_TEXT_CONFIDENCE_H

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "result/confidence.h"

#include <stdio.h>

struct report;

#define CONFIDENCE_BLOCKS 64 /* at most; then pairs become one, so from then on there are at least half as many */
/* Buckets of a block: 1 ns wide below 256 ns, above it 1/128 of a power of two, to 2^39 ns. */
#define CONFIDENCE_BUCKETS 4096

/* All zeros to begin with. */
struct confidence_blocks {
	uint64_t (*count)[CONFIDENCE_BUCKETS]; /* CONFIDENCE_BLOCKS + 1, the last is the sum; NULL: nothing was added yet */
	uint64_t samples[CONFIDENCE_BLOCKS + 1];
	unsigned blocks; /* complete ones */
	unsigned seconds_each, seconds; /* seconds of a block, and of the incomplete block after the last complete one */
	bool failed; /* no memory: nothing is known */
};

/* Adds the samples of the next second, in any order. Not hot: another thread than the loop. */
void confidence_add(struct confidence_blocks *b, const int64_t *value_ns, size_t n);

/* The errors at the percentiles of all samples of complete blocks; and the width of the goal, if it has a percentile. */
void confidence_find(struct confidence *to, const struct confidence_blocks *b, const struct known_goal *goal);

/* Half of the width of the 95 % interval of the percentile of the goal, as a share of its value, by the blocks alone
 * (their buckets are 0.8 % wide). False: no goal, fewer than CONFIDENCE_BLOCKS_LEAST blocks, or no upper end. */
bool confidence_width(const struct confidence_blocks *b, const struct known_goal *goal, double *width);

static inline bool confidence_is_reached(const struct known_goal *goal, double width)
{
	return width * 1e9 <= (double)goal->width_ppb;
}

void confidence_close(struct confidence_blocks *b);

struct confidence_interval {
	int64_t low_ns;
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
