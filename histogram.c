// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A histogram that never saturates. Adding a sample touches one byte per bucket; when the byte wraps, a wide counter is
 * incremented: count = carry * 256 + byte. At 1 ns per bucket a run touches a few kB, which stay in the cache. Above
 * the limit the same bytes count log-linear buckets, whose index takes a shift and no division.
 */
#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t buckets_of_both(const struct histogram *h)
{
	return h->buckets + h->log_buckets;
}

size_t histogram_bytes(const struct histogram *h)
{
	return buckets_of_both(h) * (sizeof(*h->carry) + sizeof(*h->low)) + h->overflow_capacity * sizeof(*h->overflow);
}

/* In the series of log-linear buckets that begins at 0 ns: 1 ns wide up to 2,048 ns, then 1,024 each power of two. */
static inline uint32_t log_index(int64_t value_ns)
{
	const unsigned exponent = 63 - (unsigned)__builtin_clzll((uint64_t)value_ns | 1U << HISTOGRAM_LOG_BITS);
	const unsigned shift = exponent - HISTOGRAM_LOG_BITS;

	return (shift << HISTOGRAM_LOG_BITS) + (uint32_t)(value_ns >> shift);
}

static int64_t log_edge_ns(uint32_t index)
{
	const uint32_t powers = index >> HISTOGRAM_LOG_BITS, shift = powers ? powers - 1 : 0;

	return (int64_t)(index - (shift << HISTOGRAM_LOG_BITS)) << shift;
}

size_t histogram_layout(struct histogram *h, int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity)
{
	const int64_t most_ns = limit_ns > HISTOGRAM_MOST_NS ? limit_ns : HISTOGRAM_MOST_NS;

	while ((limit_ns + width_ns - 1) / width_ns > HISTOGRAM_BUCKETS_MAX)
		width_ns *= 10;
	*h = (struct histogram){
		.width_ns = width_ns,
		.limit_ns = limit_ns,
		.most_ns = most_ns,
		.buckets = (uint32_t)((limit_ns + width_ns - 1) / width_ns),
		.log_buckets = log_index(most_ns) - log_index(limit_ns) + 1,
		.log_first = log_index(limit_ns),
		.overflow_capacity = overflow_capacity,
	};
	return histogram_bytes(h);
}

void histogram_assign(struct histogram *h, void *memory)
{
	/* The widest first, so that each is aligned. */
	h->overflow = memory;
	h->carry = (uint32_t *)(h->overflow + h->overflow_capacity);
	h->low = (uint8_t *)(h->carry + buckets_of_both(h));
}

/* Members that another thread reads during a write. Relaxed order costs nothing; the fences in histogram_add() define
 * the order. */
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

/* Once in 256 samples: a reader of both counts of a bucket sees by `wraps` whether they belong together. */
static __attribute__((noinline)) void carry_byte(struct histogram *h, uint64_t i)
{
	PUT(h->wraps, h->wraps + 1);
	atomic_thread_fence(memory_order_release);
	PUT(h->low[i], 0);
	PUT(h->carry[i], h->carry[i] + 1);
	__atomic_store_n(&h->wraps, h->wraps + 1, __ATOMIC_RELEASE);
}

static inline void count_in_bucket(struct histogram *h, uint64_t i)
{
	const uint8_t low = (uint8_t)(h->low[i] + 1);

	if (low)
		PUT(h->low[i], low);
	else
		carry_byte(h, i);
}

/* Apart, because a compiler that sees both cases divides by 1 too. */
static __attribute__((noinline)) uint64_t divide(uint64_t value_ns, uint64_t width_ns)
{
	return value_ns / width_ns;
}

static inline uint64_t index_below(const struct histogram *h, int64_t value_ns)
{
	/* A division would cost more than the rest of histogram_add(); the usual width needs none. */
	return h->width_ns == 1 ? (uint64_t)value_ns : divide((uint64_t)value_ns, (uint64_t)h->width_ns);
}

static inline uint64_t index_above(const struct histogram *h, int64_t value_ns)
{
	return h->buckets + log_index(value_ns < h->most_ns ? value_ns : h->most_ns) - h->log_first;
}

/* ---- The largest samples: a heap whose first value is the smallest that is kept ---------------------------------- */

static __attribute__((noinline)) void move_up(int64_t *heap, uint32_t i, int64_t value_ns)
{
	while (i && heap[(i - 1) / 2] > value_ns) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = value_ns;
}

static __attribute__((noinline)) void replace_first(int64_t *heap, uint32_t n, int64_t value_ns)
{
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < n) {
		child += child + 1 < n && heap[child + 1] < heap[child];
		if (heap[child] >= value_ns)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = value_ns;
}

void histogram_keep(struct histogram *h, int64_t value_ns)
{
	if (h->kept < h->overflow_capacity)
		move_up(h->overflow, h->kept++, value_ns);
	else if (h->kept && value_ns > h->overflow[0])
		replace_first(h->overflow, h->kept, value_ns);
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

static __attribute__((noinline)) void put_in_overflow(struct histogram *h, int64_t value_ns)
{
	count_in_bucket(h, index_above(h, value_ns));
	histogram_keep(h, value_ns);
	PUT(h->overflows, h->overflows + 1);
}

bool histogram_add(struct histogram *h, int64_t value_ns, uint32_t seq)
{
	const uint64_t count = h->count;

	if (value_ns < 0) {
		PUT(h->negatives, h->negatives + 1);
		return false;
	}
	/* A thread that reads any member written below sees that the sample has begun. */
	PUT(h->begun, count + 1);
	atomic_thread_fence(memory_order_release);
	if (value_ns < h->limit_ns)
		count_in_bucket(h, index_below(h, value_ns));
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
	/* A thread that sees the new count sees all members of the sample. */
	__atomic_store_n(&h->count, count + 1, __ATOMIC_RELEASE);
	return true;
}

uint64_t histogram_bucket(const struct histogram *h, uint32_t index)
{
	return h->carry[index] * 256ULL + h->low[index];
}

int64_t histogram_bucket_ns(const struct histogram *h, uint32_t index)
{
	if (index < h->buckets)
		return index * h->width_ns;

	const int64_t edge_ns = log_edge_ns(index - h->buckets + h->log_first);

	return edge_ns > h->limit_ns ? edge_ns : h->limit_ns;
}

static uint64_t index_of(const struct histogram *h, int64_t value_ns)
{
	return value_ns < h->limit_ns ? index_below(h, value_ns) : index_above(h, value_ns);
}

int64_t histogram_edge_ns(const struct histogram *h, int64_t value_ns)
{
	return histogram_bucket_ns(h, (uint32_t)index_of(h, value_ns));
}

bool histogram_fill(struct histogram *h, int64_t value_ns, uint64_t count)
{
	const uint64_t i = index_of(h, value_ns);
	const uint64_t all = histogram_bucket(h, (uint32_t)i) + count;

	if (all < count || all >> 8 > UINT32_MAX)
		return false;
	h->low[i] = (uint8_t)all;
	h->carry[i] = (uint32_t)(all >> 8);
	return true;
}

void histogram_finish(struct histogram *h)
{
	if (h->kept)
		qsort(h->overflow, h->kept, sizeof(*h->overflow), compare_ns);
}

/* ---- A copy by another thread ------------------------------------------------------------------------------------ */

#define TRIES 1000
#define TOGETHER 64 /* buckets per attempt: far fewer than 256 samples are added meanwhile */

/* All members except the buckets, in a state between two samples. */
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

/* Copies buckets first..end - 1 and adds their samples to *count. */
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
	const uint32_t all = buckets_of_both(from);

	for (uint32_t i = 0; i < all; i += TOGETHER)
		if (!copy_some(to, from, i, all - i < TOGETHER ? all : i + TOGETHER, count))
			return false;
	return true;
}

/* v * n / d, where v * n may exceed 128 bits. */
static __int128 scaled(__int128 v, uint64_t n, uint64_t d)
{
	return d ? v / d * n + v % d * n / d : 0;
}

bool histogram_copy(struct histogram *to, void *memory, const struct histogram *from)
{
	struct histogram after;
	uint64_t count = 0;

	*to = (struct histogram){ .width_ns = from->width_ns, .limit_ns = from->limit_ns, .most_ns = from->most_ns,
				  .buckets = from->buckets, .log_buckets = from->log_buckets,
				  .log_first = from->log_first };
	histogram_assign(to, memory);
	if (!read_head(to, from) || !copy_buckets(to, from, &count) || !read_head(&after, from))
		return false;
	if (count < to->count || count > after.count)
		return false;
	to->overflows = 0;
	for (uint32_t i = to->buckets; i < buckets_of_both(to); i++)
		to->overflows += histogram_bucket(to, i);
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

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

/* rank: among the samples above the limit. The lower edge of the first bucket may be below all samples. */
static int64_t percentile_above(const struct histogram *h, uint64_t rank)
{
	uint64_t below = 0;
	uint32_t i = h->buckets;

	while (i + 1 < buckets_of_both(h) && (below += histogram_bucket(h, i)) < rank)
		i++;

	const int64_t edge_ns = histogram_bucket_ns(h, i);

	return edge_ns > h->min_ns ? edge_ns : h->min_ns;
}

struct percentile histogram_percentile(const struct histogram *h, uint64_t numerator, uint64_t denominator)
{
	unsigned __int128 scaled = (unsigned __int128)h->count * numerator;
	uint64_t rank = (uint64_t)((scaled + denominator - 1) / denominator);
	uint64_t below = 0;

	if (rank == 0)
		rank = 1;
	if (rank > h->count - h->kept)
		return (struct percentile){ .value_ns = h->overflow[rank - (h->count - h->kept) - 1] };
	for (uint32_t i = 0; i < h->buckets; i++) {
		below += histogram_bucket(h, i);
		if (below >= rank)
			return (struct percentile){ .value_ns = i * h->width_ns };
	}
	if (rank == h->count)
		return (struct percentile){ .value_ns = h->max_ns };
	return (struct percentile){ .value_ns = percentile_above(h, rank - below) };
}

double histogram_mean_ns(const struct histogram *h)
{
	return (double)h->sum / (double)h->count;
}

double histogram_deviation(uint64_t count, unsigned __int128 sum, unsigned __int128 sum_of_squares)
{
	/* count * sum(x^2) - sum(x)^2 exceeds 128 bits at 10^12 samples, and a difference of two large doubles loses
	 * the digits of the variance. So the integer part of the mean is subtracted first. Intermediate values may
	 * wrap, the result fits. */
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
