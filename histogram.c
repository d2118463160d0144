// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A histogram that is exact and never saturates. Adding touches one byte per bucket; when the byte wraps, a wide counter
 * beside it goes up: count = carry * 256 + byte. At 1 ns per bucket a run touches a few kB, which stay in the cache.
 */
#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t histogram_bytes(const struct histogram *h)
{
	return h->buckets * (sizeof(*h->carry) + sizeof(*h->low)) + h->overflow_capacity * sizeof(*h->overflow);
}

size_t histogram_layout(struct histogram *h, int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity)
{
	while ((limit_ns + width_ns - 1) / width_ns > HISTOGRAM_BUCKETS_MAX)
		width_ns *= 10;
	*h = (struct histogram){
		.width_ns = width_ns,
		.limit_ns = limit_ns,
		.buckets = (uint32_t)((limit_ns + width_ns - 1) / width_ns),
		.overflow_capacity = overflow_capacity,
	};
	return histogram_bytes(h);
}

void histogram_place(struct histogram *h, void *memory)
{
	/* The widest first, so that each is aligned. */
	h->overflow = memory;
	h->carry = (uint32_t *)(h->overflow + h->overflow_capacity);
	h->low = (uint8_t *)(h->carry + h->buckets);
}

bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq)
{
	if (value_ns < 0) {
		h->negatives++;
		return false;
	}
	if (value_ns < h->limit_ns) {
		/* A division costs more than all else here; the usual width needs none. */
		uint64_t i = h->width_ns == 1 ? (uint64_t)value_ns : (uint64_t)value_ns / (uint64_t)h->width_ns;

		if (++h->low[i] == 0)
			h->carry[i]++;
	} else {
		if (h->overflows < h->overflow_capacity)
			h->overflow[h->overflows] = value_ns;
		h->overflows++;
	}
	if (value_ns < h->min_ns || h->count == 0) {
		h->min_ns = value_ns;
		h->min_seq = seq;
	}
	if (value_ns > h->max_ns || h->count == 0) {
		h->max_ns = value_ns;
		h->max_seq = seq;
	}
	h->count++;
	h->sum += value_ns;
	h->sum_of_squares += (__int128)value_ns * value_ns;
	return true;
}

uint64_t histogram_bucket(const struct histogram *h, uint32_t index)
{
	return h->carry[index] * 256ULL + h->low[index];
}

static uint64_t overflows_kept(const struct histogram *h)
{
	return h->overflows < h->overflow_capacity ? h->overflows : h->overflow_capacity;
}

void histogram_finish(struct histogram *h)
{
	if (h->overflows)
		qsort(h->overflow, overflows_kept(h), sizeof(*h->overflow), compare_ns);
}

/* ---- Beside the one who adds ------------------------------------------------------------------------------------------ */

#define COPY_TRIES 8
#define HEAD_TRIES 1000

/* All but the buckets. Its stores are plain ones, all of them done when histogram_add() returns: what is the same twice is whole. */
static bool read_head(struct histogram *to, const struct histogram *from)
{
	struct histogram again;

	for (int i = 0; i < HEAD_TRIES; i++) {
		memcpy(to, from, sizeof(*to));
		atomic_thread_fence(memory_order_acquire);
		memcpy(&again, from, sizeof(again));
		atomic_thread_fence(memory_order_acquire);
		if (!memcmp(to, &again, sizeof(again)))
			return true;
	}
	return false;
}

/* Returns how many samples are in the copy. Where a byte wraps between two readings they are 256 too few, which the caller sees. */
static uint64_t copy_buckets(struct histogram *to, const struct histogram *from)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < from->buckets; i++) {
		to->carry[i] = *(const volatile uint32_t *)&from->carry[i];
		to->low[i] = *(const volatile uint8_t *)&from->low[i];
		count += histogram_bucket(to, i);
	}
	return count;
}

/* v * n / d, which may pass 128 bits in between. */
static __int128 scaled(__int128 v, uint64_t n, uint64_t d)
{
	return d ? v / d * n + v % d * n / d : 0;
}

static bool try_to_copy(struct histogram *to, void *memory, const struct histogram *from)
{
	struct histogram after;

	if (!read_head(to, from))
		return false;
	histogram_place(to, memory);
	memcpy(to->overflow, from->overflow, overflows_kept(to) * sizeof(*to->overflow));
	after.count = to->count;
	to->count = copy_buckets(to, from) + to->overflows;
	if (to->count < after.count || !read_head(&after, from) || to->count > after.count)
		return false;
	to->negatives = after.negatives;
	to->min_ns = after.min_ns;
	to->max_ns = after.max_ns;
	to->min_seq = after.min_seq;
	to->max_seq = after.max_seq;
	to->sum = scaled(after.sum, to->count, after.count);
	to->sum_of_squares = scaled(after.sum_of_squares, to->count, after.count);
	return true;
}

bool histogram_copy(struct histogram *to, void *memory, const struct histogram *from)
{
	for (int i = 0; i < COPY_TRIES; i++)
		if (try_to_copy(to, memory, from))
			return true;
	return false;
}

/* ---- What is told of it ----------------------------------------------------------------------------------------------- */

struct percentile histogram_percentile(const struct histogram *h, uint64_t numerator, uint64_t denominator)
{
	unsigned __int128 scaled = (unsigned __int128)h->count * numerator;
	uint64_t rank = (uint64_t)((scaled + denominator - 1) / denominator);
	uint64_t below = 0;

	if (rank == 0)
		rank = 1;
	for (uint32_t i = 0; i < h->buckets; i++) {
		below += histogram_bucket(h, i);
		if (below >= rank)
			return (struct percentile){ .value_ns = i * h->width_ns };
	}
	/* Those that were not kept may be smaller or larger than those that were: all that is sure is the limit, and
	 * that the last rank is the maximum. */
	if (rank == h->count)
		return (struct percentile){ .value_ns = h->max_ns };
	if (h->overflows > h->overflow_capacity)
		return (struct percentile){ .value_ns = h->limit_ns, .bound = true };
	return (struct percentile){ .value_ns = h->overflow[rank - below - 1] };
}

double histogram_mean_ns(const struct histogram *h)
{
	return (double)h->sum / (double)h->count;
}

double histogram_deviation(uint64_t count, unsigned __int128 sum, unsigned __int128 sum_of_squares)
{
	/* count * sum(x^2) - sum(x)^2 would pass 128 bits at 10^12 samples, and a difference of two large doubles loses
	 * what is looked for; so the whole part of the mean is taken out first, in integers. What is between may pass 128 bits, but
	 * not what is left. */
	unsigned __int128 n = count, mean = sum / n;
	unsigned __int128 rest = sum - mean * n; /* 0 .. n - 1 */
	unsigned __int128 squares = sum_of_squares - 2 * mean * sum + mean * mean * n;
	double fraction = (double)rest / (double)n;
	double variance = (double)squares / (double)n - fraction * fraction;

	return variance > 0 ? sqrt(variance) : 0;
}

double histogram_deviation_ns(const struct histogram *h)
{
	return histogram_deviation(h->count, (unsigned __int128)h->sum, (unsigned __int128)h->sum_of_squares);
}
