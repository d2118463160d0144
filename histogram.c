// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A histogram that is exact and never saturates. Adding touches one byte per bucket; when the byte wraps, a wide
 * counter beside it goes up: count = carry * 256 + byte. At 1 ns per bucket a run touches a few kB, which stay in the
 * cache.
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

/* What another thread may read while it is written. Without an order, which costs nothing: histogram_add() says what
 * comes before what. */
#define PUT(to, value) __atomic_store_n(&(to), value, __ATOMIC_RELAXED)
#define GET(from) __atomic_load_n(&(from), __ATOMIC_RELAXED)

/* 128 bits are read and written as two halves. */
typedef uint64_t __attribute__((may_alias)) half;
enum { LOWER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, UPPER = !LOWER };

static void put_wide(__int128 *to, __int128 value)
{
	PUT(((half *)to)[LOWER], (half)value);
	PUT(((half *)to)[UPPER], (half)(value >> 64));
}

static __int128 get_wide(const __int128 *from)
{
	return (__int128)((unsigned __int128)GET(((const half *)from)[UPPER]) << 64 | GET(((const half *)from)[LOWER]));
}

/* One in 256: who reads both parts of a bucket knows by `wraps` whether they belong together. */
static void carry_byte(struct histogram *h, uint64_t i)
{
	PUT(h->wraps, h->wraps + 1);
	atomic_thread_fence(memory_order_release);
	PUT(h->low[i], 0);
	PUT(h->carry[i], h->carry[i] + 1);
	__atomic_store_n(&h->wraps, h->wraps + 1, __ATOMIC_RELEASE);
}

static void put_in_bucket(struct histogram *h, int64_t value_ns)
{
	/* A division costs more than all else here; the usual width needs none. */
	const uint64_t i = h->width_ns == 1 ? (uint64_t)value_ns : (uint64_t)value_ns / (uint64_t)h->width_ns;
	const uint8_t low = (uint8_t)(h->low[i] + 1);

	if (low)
		PUT(h->low[i], low);
	else
		carry_byte(h, i);
}

static void put_in_overflow(struct histogram *h, int64_t value_ns)
{
	/* Written once, and seen with the count that tells of it. */
	if (h->overflows < h->overflow_capacity)
		h->overflow[h->overflows] = value_ns;
	PUT(h->overflows, h->overflows + 1);
}

bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq)
{
	const uint64_t count = h->count;

	if (value_ns < 0) {
		PUT(h->negatives, h->negatives + 1);
		return false;
	}
	/* Who reads something of this sample sees that it has begun, */
	PUT(h->begun, count + 1);
	atomic_thread_fence(memory_order_release);
	if (value_ns < h->limit_ns)
		put_in_bucket(h, value_ns);
	else
		put_in_overflow(h, value_ns);
	if (value_ns < h->min_ns || count == 0) {
		PUT(h->min_ns, value_ns);
		PUT(h->min_seq, seq);
	}
	if (value_ns > h->max_ns || count == 0) {
		PUT(h->max_ns, value_ns);
		PUT(h->max_seq, seq);
	}
	put_wide(&h->sum, h->sum + value_ns);
	put_wide(&h->sum_of_squares, h->sum_of_squares + (__int128)value_ns * value_ns);
	/* and who sees that it is counted sees all of it. */
	__atomic_store_n(&h->count, count + 1, __ATOMIC_RELEASE);
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

/* ---- Beside the one who adds ------------------------------------------------------------------------------------- */

#define TRIES 1000
#define TOGETHER 64 /* buckets that are read at a time: much less than 256 samples come meanwhile */

/* All but the buckets, as it is between two samples. */
static bool read_head(struct histogram *to, const struct histogram *from)
{
	for (int i = 0; i < TRIES; i++) {
		to->count = __atomic_load_n(&from->count, __ATOMIC_ACQUIRE);
		to->overflows = GET(from->overflows);
		to->negatives = GET(from->negatives);
		to->min_ns = GET(from->min_ns);
		to->max_ns = GET(from->max_ns);
		to->min_seq = GET(from->min_seq);
		to->max_seq = GET(from->max_seq);
		to->sum = get_wide(&from->sum);
		to->sum_of_squares = get_wide(&from->sum_of_squares);
		atomic_thread_fence(memory_order_acquire);
		to->begun = GET(from->begun);
		if (to->begun == to->count)
			return true;
	}
	return false;
}

/* Up to `end`: adds what is in them to *count. */
static bool copy_some(struct histogram *to, const struct histogram *from, uint32_t first, uint32_t end, uint64_t *count)
{
	for (int tries = 0; tries < TRIES; tries++) {
		const uint32_t wraps = __atomic_load_n(&from->wraps, __ATOMIC_ACQUIRE);
		uint64_t n = 0;

		for (uint32_t i = first; i < end; i++) {
			to->carry[i] = GET(from->carry[i]);
			to->low[i] = GET(from->low[i]);
			n += histogram_bucket(to, i);
		}
		atomic_thread_fence(memory_order_acquire);
		if (!(wraps & 1) && GET(from->wraps) == wraps) {
			*count += n;
			return true;
		}
	}
	return false;
}

static bool copy_buckets(struct histogram *to, const struct histogram *from, uint64_t *count)
{
	for (uint32_t i = 0; i < from->buckets; i += TOGETHER)
		if (!copy_some(to, from, i, from->buckets - i < TOGETHER ? from->buckets : i + TOGETHER, count))
			return false;
	return true;
}

/* v * n / d, which may pass 128 bits in between. */
static __int128 scaled(__int128 v, uint64_t n, uint64_t d)
{
	return d ? v / d * n + v % d * n / d : 0;
}

bool histogram_copy(struct histogram *to, void *memory, const struct histogram *from)
{
	struct histogram after;
	uint64_t count = 0;

	*to = (struct histogram){ .width_ns = from->width_ns, .limit_ns = from->limit_ns, .buckets = from->buckets,
				  .overflow_capacity = from->overflow_capacity };
	histogram_place(to, memory);
	if (!read_head(to, from))
		return false;
	memcpy(to->overflow, from->overflow, overflows_kept(to) * sizeof(*to->overflow));
	if (!copy_buckets(to, from, &count) || !read_head(&after, from))
		return false;
	count += to->overflows;
	if (count < to->count || count > after.count)
		return false;
	to->negatives = after.negatives;
	to->min_ns = after.min_ns;
	to->max_ns = after.max_ns;
	to->min_seq = after.min_seq;
	to->max_seq = after.max_seq;
	to->sum = scaled(after.sum, count, after.count);
	to->sum_of_squares = scaled(after.sum_of_squares, count, after.count);
	to->count = to->begun = count;
	return true;
}

/* ---- What is told of it ------------------------------------------------------------------------------------------ */

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
	 * what is looked for; so the whole part of the mean is taken out first, in integers. What is between may pass
	 * 128 bits, but not what is left. */
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
