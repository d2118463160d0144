/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts in byte buckets: exact up to a limit, log-linear above it (hot: add). */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "rant.h"

#define HISTOGRAM_BUCKETS_MAX 1000000
#define HISTOGRAM_OVERFLOW_STORE 4096 /* largest samples above the limit that are kept to the nanosecond */
#define HISTOGRAM_LOG_BITS 10 /* each power of two above the limit is divided into 1,024 buckets */
#define HISTOGRAM_MOST_NS (100 * NS_PER_S) /* the last bucket also counts all larger values */

struct histogram {
	int64_t width_ns; /* of a bucket below the limit */
	int64_t limit_ns; /* first value that overflows into the log-linear buckets */
	int64_t most_ns; /* larger values count in the last bucket */
	uint32_t buckets; /* below the limit */
	uint32_t log_buckets; /* log-linear buckets, which follow those below the limit */
	uint32_t log_first; /* position of the first of them in the series that begins at 0 ns */
	uint8_t *low; /* for each bucket its count modulo 256, the only octet that most samples write */
	uint32_t *carry; /* for each bucket its count / 256: 2^40 samples a bucket take more than a month */
	int64_t *overflow; /* the largest samples above the limit: a heap, and ascending after histogram_finish() */
	uint32_t overflow_capacity;
	uint32_t kept; /* values in overflow[] */
	uint64_t overflows; /* samples above the limit, each in a log-linear bucket */
	uint64_t begun; /* count, and 1 more while a sample is added, so that a copying thread sees it */
	uint32_t wraps; /* odd while a byte is carried, and 2 more after each */
	uint64_t count; /* samples below and above the limit */
	uint64_t negatives; /* in no bucket */
	int64_t min_ns, max_ns;
	uint32_t min_seq, max_seq;
	__int128 sum, sum_of_squares; /* 10^12 samples of 10^9 ns fit */
};

struct percentile {
	int64_t value_ns;
};

/* Chooses the bucket width: width_ns, or the power of ten above it that needs at most HISTOGRAM_BUCKETS_MAX buckets.
 * overflow_capacity: number of the largest samples above the limit that are kept to the nanosecond. Returns the bytes
 * that histogram_assign() needs. */
size_t histogram_layout(struct histogram *h, int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity);

size_t histogram_bytes(const struct histogram *h); /* the same, after histogram_layout() */

/* Lays the buckets out in zeroed memory that the caller owns, aligned for uint64_t. */
void histogram_assign(struct histogram *h, void *memory);

/* True: recorded. False: the value is negative, and counted in `negatives` only. */
bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq);

/* index: below h->buckets + h->log_buckets. */
uint64_t histogram_bucket(const struct histogram *h, uint32_t index);

/* Smallest value that is counted in this bucket. Log-linear buckets are at most 1/1024 of it wide. */
int64_t histogram_bucket_ns(const struct histogram *h, uint32_t index);

/* The same by a value that the bucket has. */
int64_t histogram_edge_ns(const struct histogram *h, int64_t value_ns);

/* For saved histograms: more samples in the bucket that has this value. Leaves all other members as they are. False:
 * the bucket cannot count that many. */
bool histogram_fill(struct histogram *h, int64_t value_ns, uint64_t count);

/* For saved histograms: a sample above the limit that is in a bucket already. Kept if it is among the largest. */
void histogram_keep(struct histogram *h, int64_t value_ns);

/* Once, after the last histogram_add(): sorts the kept samples. */
void histogram_finish(struct histogram *h);

/*
 * For a thread beside the adding thread, which is never held up: a copy of the current state, in `memory`, which
 * the caller owns, of histogram_bytes() and aligned for uint64_t. A sample that is added meanwhile is in the copy or
 * not; minimum, maximum, mean and deviation belong to one moment. The copy keeps no sample to the nanosecond. It ends
 * after a fixed number of attempts. False: too many samples were added during the copy, or the other thread was stopped
 * within histogram_add(). There is no copy then: try again later.
 */
bool histogram_copy(struct histogram *to, void *memory, const struct histogram *from);

/*
 * The smallest recorded value with at least numerator/denominator of the samples at or below it (nearest rank). Exact
 * to the nanosecond below the limit with buckets of 1 ns, and among the kept samples; else the lower edge of its
 * bucket, which above the limit is at most 1/1024 too low. Needs count > 0 and histogram_finish().
 */
struct percentile histogram_percentile(const struct histogram *h, uint64_t numerator, uint64_t denominator);

/* Both need count > 0. */
double histogram_mean_ns(const struct histogram *h);
double histogram_deviation_ns(const struct histogram *h); /* of the population */

/* The standard deviation of the population from its sums. count > 0. */
double histogram_deviation(uint64_t count, unsigned __int128 sum, unsigned __int128 sum_of_squares);

#endif
