/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exact counts in byte buckets (hot: add). */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "rant.h"

#define HISTOGRAM_BUCKETS_MAX 1000000
#define HISTOGRAM_OVERFLOW_STORE (128 * 1024) /* samples kept one by one, of the latency */
#define HISTOGRAM_PART_STORE (8 * 1024) /* of a part of it */

struct histogram {
	int64_t width_ns; /* of a bucket */
	int64_t limit_ns; /* first value that overflows */
	uint32_t buckets;
	uint8_t *low; /* count modulo 256: all that adding touches, but for ... */
	uint32_t *carry; /* ... count / 256: 2^40 samples in one bucket are more than a month of nothing else */
	int64_t *overflow; /* in order of arrival until histogram_finish() sorts them */
	uint32_t overflow_capacity;
	uint64_t overflows; /* all, kept or not */
	uint64_t begun; /* samples of which a thread that copies may see a part: count, and 1 more while one is added */
	uint32_t wraps; /* of bytes, twice: odd while one is carried */
	uint64_t count; /* buckets + overflows */
	uint64_t negatives; /* never in a bucket */
	int64_t min_ns, max_ns;
	uint32_t min_seq, max_seq;
	__int128 sum, sum_of_squares; /* 10^12 samples of 10^9 ns fit */
};

struct percentile {
	int64_t value_ns;
	bool bound; /* the overflow store was full: the true value is this or more */
};

/* Chooses the bucket width: width_ns, or the power of ten above it that needs no more than HISTOGRAM_BUCKETS_MAX.
 * overflow_capacity: samples above the limit that are kept one by one. Returns the bytes that histogram_place()
 * wants. */
size_t histogram_layout(struct histogram *h, int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity);

size_t histogram_bytes(const struct histogram *h); /* the same, of one that is laid out */

/* Lays the buckets out in zeroed memory that the caller owns, aligned for uint64_t. */
void histogram_place(struct histogram *h, void *memory);

/* True: recorded. False: negative, and counted as such. */
bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq);

uint64_t histogram_bucket(const struct histogram *h, uint32_t index);

/* Once, after the last histogram_add(): sorts the overflow samples. */
void histogram_finish(struct histogram *h);

/*
 * By another thread than the one that adds, which is not held up by it: a copy as it is now, in `memory`, which is the
 * caller's, of histogram_bytes() and aligned for uint64_t. What is added meanwhile is in it or not; minimum, maximum,
 * mean and deviation are of one moment. The overflow samples are not in order. It ends after a fixed number of
 * readings. False: too much was added while it was read, or the other thread stood still within histogram_add(). There
 * is no copy then: try again later.
 */
bool histogram_copy(struct histogram *to, void *memory, const struct histogram *from);

/* Smallest recorded value with at least numerator/denominator of the samples at or below it (nearest rank); with
 * buckets wider than 1 ns, the lower edge of its bucket. Needs count > 0. */
struct percentile histogram_percentile(const struct histogram *h, uint64_t numerator, uint64_t denominator);

/* Both need count > 0. */
double histogram_mean_ns(const struct histogram *h);
double histogram_deviation_ns(const struct histogram *h); /* of the population */

/* The standard deviation of the population from its sums. count > 0. */
double histogram_deviation(uint64_t count, unsigned __int128 sum, unsigned __int128 sum_of_squares);

#endif
