/* build: wraps= sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The histogram against a sorted array of the same samples. */
#include "histogram.c"

#include "util.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static struct histogram h;
static void *memory;

static void place_as(int64_t limit_ns, int64_t width_ns, uint32_t overflow_capacity)
{
	size_t bytes = histogram_layout(&h, limit_ns, width_ns, overflow_capacity);

	assert_int_equal(histogram_bytes(&h), bytes);

	/* The size that histogram_layout() returned and not an octet more, so that ASan sees writes behind it. */
	memory = calloc(1, bytes);
	assert_non_null(memory);
	histogram_assign(&h, memory);
}

/* As the latency itself is kept. */
static void place(int64_t limit_ns)
{
	place_as(limit_ns, 1, HISTOGRAM_OVERFLOW_STORE);
}

static int release(void **state)
{
	(void)state;
	free(memory);
	memory = NULL;
	return 0;
}

static uint64_t in_buckets(uint32_t first, uint32_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += histogram_bucket(&h, i);
	return sum;
}

/* Every sample is in one bucket, below or above the limit. */
static void check_identity(uint64_t added)
{
	assert_int_equal(h.count, added);
	assert_int_equal(in_buckets(0, h.buckets) + h.overflows, h.count);
	assert_int_equal(in_buckets(h.buckets, h.buckets + h.log_buckets), h.overflows);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The definition, literally: the smallest value with at least numerator/denominator of all at or below it. */
static int64_t nearest_rank(const int64_t *sorted, uint64_t n, uint64_t numerator, uint64_t denominator)
{
	for (uint64_t at_or_below = 1; at_or_below < n; at_or_below++)
		if ((unsigned __int128)at_or_below * denominator >= (unsigned __int128)n * numerator)
			return sorted[at_or_below - 1];
	return sorted[n - 1];
}

static const uint64_t fractions[][2] = {
	{ 0, 100 }, { 1, 100 }, { 1, 4 }, { 1, 3 }, { 50, 100 }, { 2, 3 }, { 90, 100 }, { 95, 100 }, { 99, 100 },
	{ 999, 1000 }, { 9999, 10000 }, { 99999, 100000 }, { 999999, 1000000 }, { 100, 100 },
};

static void check_percentiles(const int64_t *sorted, uint64_t n)
{
	for (size_t i = 0; i < COUNT_OF(fractions) + 8; i++) {
		uint64_t of = i < COUNT_OF(fractions) ? fractions[i][1] : 1 + util_below(1000000);
		uint64_t part = i < COUNT_OF(fractions) ? fractions[i][0] : util_below(of + 1);
		int64_t expected = nearest_rank(sorted, n, part, of);
		struct percentile p = histogram_percentile(&h, part, of);
		int64_t least = expected;

		if (expected < h.limit_ns)
			least = expected -= expected % h.width_ns;
		else if (n > h.kept && expected <= sorted[n - h.kept]) /* its rank may be below those that are kept */
			least -= expected / 1024;
		if (p.value_ns < least || p.value_ns > expected)
			fail_msg("%llu/%llu of %llu: %lld, expected %lld", (unsigned long long)part,
				 (unsigned long long)of, (unsigned long long)n, (long long)p.value_ns,
				 (long long)expected);
	}
}

static void check_close(double value, long double expected)
{
	if (fabsl((long double)value - expected) > 1e-12L * fabsl(expected) + 1e-9L)
		fail_msg("%.17g, expected %.20Lg", value, expected);
}

/* Two passes in long double, the textbook's way. */
static void check_moments(const int64_t *value, uint64_t n)
{
	long double mean = 0, variance = 0;

	for (uint64_t i = 0; i < n; i++)
		mean += (long double)value[i];
	mean /= (long double)n;
	for (uint64_t i = 0; i < n; i++)
		variance += ((long double)value[i] - mean) * ((long double)value[i] - mean);
	check_close(histogram_mean_ns(&h), mean);
	check_close(histogram_deviation_ns(&h), sqrtl(variance / (long double)n));
}

static double random_unit(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static int64_t uniform(void)
{
	return (int64_t)util_below(50000);
}

static int64_t bell(void)
{
	return 20000 + (int64_t)(500 * sqrt(-2 * log(random_unit())) * cos(6.283185307179586 * random_unit()));
}

/* As a real link: a narrow body, and a tail that reaches into the overflow. */
static int64_t long_tail(void)
{
	return 9000 + (int64_t)(100 / random_unit());
}

static int64_t two_peaks(void)
{
	return util_below(10) ? 12345 : 987654321;
}

static int64_t constant(void)
{
	return 999999;
}

static int64_t around_the_limit(void)
{
	return 999990 + (int64_t)util_below(20);
}

static int64_t mostly_overflow(void)
{
	return (int64_t)util_below(5000000000);
}

static void fill_and_check(int64_t (*next)(void), uint64_t n, int64_t limit_ns)
{
	int64_t *value = malloc(n * sizeof(*value));

	place(limit_ns);
	for (uint64_t i = 0; i < n; i++) {
		value[i] = next();
		assert_true(histogram_add(&h, value[i], (uint32_t)i));
	}
	check_identity(n);
	check_moments(value, n);
	assert_true(value[h.min_seq] == h.min_ns && value[h.max_seq] == h.max_ns);
	histogram_finish(&h);
	check_identity(n);
	qsort(value, n, sizeof(*value), compare);
	assert_true(h.min_ns == value[0] && h.max_ns == value[n - 1]);
	check_percentiles(value, n);
	free(value);
	release(NULL);
}

static void percentiles_of_random_samples(void **state)
{
	static int64_t (*const distributions[])(void) = {
		uniform, bell, long_tail, two_peaks, constant, around_the_limit, mostly_overflow,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(distributions); i++) {
		fill_and_check(distributions[i], 1 + util_below(20000), 1000000);
		/* Buckets of 10 ns, of which the last is rarely whole. */
		fill_and_check(distributions[i], 1 + util_below(20000), 3000000 + (int64_t)util_below(1000));
		for (uint64_t n = 1; n <= 12; n++)
			fill_and_check(distributions[i], n, 20000);
	}
}

static void ten_samples_by_hand(void **state)
{
	static const int64_t percent[][2] = { { 1, 10 }, { 10, 10 }, { 11, 20 }, { 50, 50 }, { 51, 60 }, { 90, 90 },
					      { 91, 100 }, { 99, 100 }, { 100, 100 } };

	(void)state;
	place(1000);
	for (int64_t v = 100; v; v -= 10)
		assert_true(histogram_add(&h, v, (uint32_t)v));
	histogram_finish(&h);
	check_identity(10);
	for (size_t i = 0; i < COUNT_OF(percent); i++)
		assert_true(histogram_percentile(&h, (uint64_t)percent[i][0], 100).value_ns == percent[i][1]);
	check_close(histogram_mean_ns(&h), 55);
	check_close(histogram_deviation_ns(&h), sqrtl(825));
}

static void layouts(void **state)
{
	static const struct {
		int64_t limit_ns, width_ns;
		uint32_t buckets;
	} rows[] = {
		{ 1, 1, 1 }, { 100000, 1, 100000 }, { 999999, 1, 999999 }, { 1000000, 1, 1000000 },
		{ 1000001, 10, 100001 }, { 1000010, 10, 100001 }, { 1000011, 10, 100002 }, { 10000000, 10, 1000000 },
		{ 10000001, 100, 100001 }, { NS_PER_S, 1000, 1000000 }, { NS_PER_S + 1, 10000, 100001 },
		{ 3600 * NS_PER_S, 10000000, 360000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		size_t bytes = histogram_layout(&h, rows[i].limit_ns, 1, HISTOGRAM_OVERFLOW_STORE);
		const uint64_t all = h.buckets + h.log_buckets;

		assert_int_equal(h.limit_ns, rows[i].limit_ns);
		assert_int_equal(h.width_ns, rows[i].width_ns);
		assert_int_equal(h.buckets, rows[i].buckets);
		assert_int_equal(h.overflow_capacity, HISTOGRAM_OVERFLOW_STORE);
		assert_int_equal(h.count + h.overflows + h.negatives, 0);
		assert_int_equal(bytes, all * 5 + HISTOGRAM_OVERFLOW_STORE * 8);

		/* Its memory is all zero, so every count is. */
		place(rows[i].limit_ns);
		check_identity(0);
		release(NULL);
	}
}

static void layouts_of_another_width(void **state)
{
	static const struct {
		int64_t limit_ns, wanted_ns, width_ns;
		uint32_t buckets;
	} rows[] = {
		{ 1, 10, 10, 1 }, { 10, 10, 10, 1 }, { 11, 10, 10, 2 }, { 100000, 10, 10, 10000 },
		{ 10000000, 10, 10, 1000000 }, { 10000001, 10, 100, 100001 }, { NS_PER_S, 10, 1000, 1000000 },
		{ 3000000, 3, 3, 1000000 }, { 3000001, 3, 30, 100001 },
	};
	static const uint32_t stores[] = { 0, 1, 7, HISTOGRAM_OVERFLOW_STORE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (size_t n = 0; n < COUNT_OF(stores); n++) {
			place_as(rows[i].limit_ns, rows[i].wanted_ns, stores[n]);
			assert_int_equal(h.width_ns, rows[i].width_ns);
			assert_int_equal(h.buckets, rows[i].buckets);
			assert_int_equal(h.overflow_capacity, stores[n]);
			assert_int_equal(histogram_bytes(&h),
					 (h.buckets + h.log_buckets) * 5ULL + stores[n] * 8ULL);
			/* Each octet of it in use: ASan finds a missing octet, the counts find a shared octet. */
			for (int64_t v = 0; v < rows[i].limit_ns; v += h.width_ns)
				assert_true(histogram_add(&h, v, 0));
			for (uint32_t v = 0; v <= stores[n]; v++)
				assert_true(histogram_add(&h, NS_PER_S * 3601 - v, 0));
			assert_int_equal(histogram_bucket(&h, h.buckets + h.log_buckets - 1), stores[n] + 1);
			histogram_finish(&h);
			for (uint32_t k = 0; k < h.buckets; k++)
				assert_int_equal(histogram_bucket(&h, k), 1);
			for (uint32_t v = 0; v < stores[n]; v++)
				assert_true(h.overflow[stores[n] - 1 - v] == NS_PER_S * 3601 - v);
			check_identity(h.buckets + stores[n] + 1);
			release(NULL);
		}
	}
}

/* A part's histogram has wide buckets and a small store; the latency's is as it ever was. */
static void percentiles_of_a_part(void **state)
{
	(void)state;
	place_as(1000, 10, 3);
	for (int64_t v = 0; v < 100; v++)
		assert_true(histogram_add(&h, v * 10 + 9, 0));
	histogram_finish(&h);
	assert_true(histogram_percentile(&h, 1, 100).value_ns == 0);
	assert_true(histogram_percentile(&h, 50, 100).value_ns == 490);
	assert_true(histogram_percentile(&h, 99, 100).value_ns == 980);
	release(NULL);
	for (int overflows = 3; overflows <= 4; overflows++) {
		place_as(1000, 10, 3);
		for (int64_t v = 0; v < overflows; v++)
			assert_true(histogram_add(&h, 2000 - v, 0));
		histogram_finish(&h);
		/* The smallest of four is not kept, and its bucket is 1 ns wide. */
		assert_true(histogram_percentile(&h, 1, 4).value_ns == (overflows == 4 ? 1997 : 1998));
		assert_true(histogram_percentile(&h, 1, 2).value_ns == (overflows == 4 ? 1998 : 1999));
		assert_true(histogram_percentile(&h, 1, 1).value_ns == 2000);
		release(NULL);
	}
}

/* A carry has 32 bits: the count of a bucket must not be cut off there. */
static void a_count_beyond_32_bits(void **state)
{
	(void)state;
	place(100);
	h.carry[42] = UINT32_MAX;
	h.low[42] = 255;
	assert_true(histogram_bucket(&h, 42) == (1ULL << 40) - 1);
	h.carry[42] = 1 << 24;
	h.low[42] = 0;
	assert_true(histogram_bucket(&h, 42) == 1ULL << 32);
	memset(&h.carry[42], 0, sizeof(h.carry[42]));
}

/* Last bucket, first overflow: the boundary that another program got wrong. */
static void the_limit(int64_t limit_ns)
{
	uint32_t last;

	place(limit_ns);
	last = h.buckets - 1;
	assert_true(histogram_add(&h, limit_ns - 1, 1));
	assert_int_equal(histogram_bucket(&h, last), 1);
	assert_int_equal(h.overflows, 0);
	assert_true(histogram_add(&h, limit_ns, 2));
	assert_int_equal(histogram_bucket(&h, last), 1);
	assert_int_equal(h.overflows, 1);
	assert_true(histogram_add(&h, limit_ns + 1, 3));
	assert_int_equal(h.overflows, 2);
	assert_true(histogram_add(&h, 0, 4));
	assert_int_equal(histogram_bucket(&h, 0), limit_ns == 1 ? 2 : 1);
	histogram_finish(&h);
	assert_true(histogram_percentile(&h, 25, 100).value_ns == 0);
	assert_true(histogram_percentile(&h, 50, 100).value_ns == (limit_ns - 1) / h.width_ns * h.width_ns);
	assert_true(histogram_percentile(&h, 75, 100).value_ns == limit_ns);
	assert_true(histogram_percentile(&h, 100, 100).value_ns == limit_ns + 1);
	check_identity(4);
	release(NULL);
}

static void values_at_the_limit(void **state)
{
	(void)state;
	the_limit(1);
	the_limit(2);
	the_limit(100000);
	the_limit(1000000);
	the_limit(1000001);
	the_limit(1000005);
	the_limit(10000000);
	the_limit(NS_PER_S + 7);
}

static void values_at_bucket_edges(void **state)
{
	(void)state;
	place(2000000);
	assert_int_equal(h.width_ns, 10);
	for (int64_t v = 0; v < 2000000; v += 9999)
		assert_true(histogram_add(&h, v, 0));
	check_identity(201);
	release(NULL);

	place(2000000);
	assert_true(histogram_add(&h, 9, 0));
	assert_true(histogram_add(&h, 10, 0));
	assert_true(histogram_add(&h, 19, 0));
	assert_true(histogram_add(&h, 20, 0));
	assert_int_equal(histogram_bucket(&h, 0), 1);
	assert_int_equal(histogram_bucket(&h, 1), 2);
	assert_int_equal(histogram_bucket(&h, 2), 1);
	check_identity(4);
}

static void counts_pass_a_byte(void **state)
{
	static const uint64_t looks[] = { 1, 255, 256, 257, 511, 512, 513, 65535, 65536, 65537 };
	uint64_t added = 0;

	(void)state;
	place(100);
	for (size_t i = 0; i < COUNT_OF(looks); i++) {
		for (; added < looks[i]; added++)
			assert_true(histogram_add(&h, 42, (uint32_t)added));
		assert_int_equal(histogram_bucket(&h, 42), looks[i]);
		assert_int_equal(histogram_bucket(&h, 41), 0);
		assert_int_equal(histogram_bucket(&h, 43), 0);
		check_identity(looks[i]);
	}
	/* A neighbour that wraps at the same time, in the last bucket. */
	for (int i = 0; i < 256; i++)
		assert_true(histogram_add(&h, 99, 0));
	assert_int_equal(histogram_bucket(&h, 99), 256);
	assert_int_equal(histogram_bucket(&h, 42), 65537);
	check_identity(65537 + 256);
	assert_true(histogram_percentile(&h, 65537, 65537 + 256).value_ns == 42);
	assert_true(histogram_percentile(&h, 65538, 65537 + 256).value_ns == 99);
}

/* `kept` in buckets (value i % 1000), then `overflows` descending from 3000000. */
static void fill_overflow(uint64_t kept, uint64_t overflows)
{
	place(1000);
	for (uint64_t i = 0; i < kept; i++)
		assert_true(histogram_add(&h, (int64_t)(i % 1000), (uint32_t)i));
	for (uint64_t i = 0; i < overflows; i++)
		assert_true(histogram_add(&h, 3000000 - (int64_t)i, (uint32_t)(kept + i)));
	histogram_finish(&h);
	check_identity(kept + overflows);
	assert_int_equal(h.overflows, overflows);
}

static void the_overflow_store_is_just_full(void **state)
{
	const uint64_t full = HISTOGRAM_OVERFLOW_STORE;

	(void)state;
	fill_overflow(full, full);
	for (uint64_t rank = full + 1; rank <= 2 * full; rank += 1 + util_below(100))
		assert_true(histogram_percentile(&h, rank, 2 * full).value_ns == 3000000 - (int64_t)(2 * full - rank));
}

/* Ten times as many samples above the limit as are kept: the largest are exact, the others to 1/1024. */
static void the_overflow_store_is_too_small(void **state)
{
	const uint64_t full = HISTOGRAM_OVERFLOW_STORE, below = full + 1, above = 10 * full, all = below + above;

	(void)state;
	fill_overflow(below, above);
	assert_int_equal(h.kept, full);
	assert_true(histogram_percentile(&h, below, all).value_ns == 999);
	for (uint64_t rank = below + 1; rank <= all; rank += 1 + util_below(100)) {
		const int64_t exact = 3000000 - (int64_t)(all - rank);
		const int64_t ns = histogram_percentile(&h, rank, all).value_ns;

		assert_in_range(ns, rank > all - full ? exact : exact - exact / 1024, exact);
	}
	assert_true(histogram_percentile(&h, 100, 100).value_ns == 3000000);
	assert_true(h.max_ns == 3000000 && h.max_seq == below);
	assert_true(h.min_ns == 0 && h.min_seq % 1000 == 0);
}

/* In any order of arrival the heap has the largest, each value as often as it came. */
static void the_largest_are_kept(void **state)
{
	enum { N = 30000 };
	static int64_t value[N];
	static const int64_t spreads[] = { 10, 5000, NS_PER_S };

	(void)state;
	for (unsigned round = 0; round < 3 * COUNT_OF(spreads); round++) {
		place_as(1000, 1, round % 2 ? HISTOGRAM_OVERFLOW_STORE : 5);
		for (int i = 0; i < N; i++)
			value[i] = 1000 + (int64_t)util_below((uint64_t)spreads[round % COUNT_OF(spreads)]);
		if (round / COUNT_OF(spreads))
			qsort(value, N, sizeof(*value), compare);
		for (int i = 0; i < N; i++)
			assert_true(histogram_add(&h, value[round / COUNT_OF(spreads) == 2 ? N - 1 - i : i], 0));
		qsort(value, N, sizeof(*value), compare);
		histogram_finish(&h);
		assert_int_equal(h.kept, h.overflow_capacity);
		assert_memory_equal(h.overflow, value + N - h.kept, h.kept * sizeof(*value));
		release(NULL);
	}
}

/* ---- Log-linear buckets ------------------------------------------------------------------------------------------ */

static uint32_t bucket_of(int64_t value_ns)
{
	for (uint32_t i = 0; i < h.buckets + h.log_buckets; i++)
		if (histogram_bucket(&h, i))
			return i;
	fail_msg("%lld is in no bucket", (long long)value_ns);
	return 0;
}

/* Each begins at the end of the bucket before, and all of its values are counted in it. */
static void edges_of_log_linear_buckets(void **state)
{
	static const int64_t limits[] = { 1, 1000, 2048, 2049, 100000, 131072, NS_PER_S, 10 * NS_PER_S };

	(void)state;
	for (size_t l = 0; l < COUNT_OF(limits); l++) {
		place(limits[l]);
		assert_true(histogram_bucket_ns(&h, h.buckets) == limits[l]);
		assert_in_range(HISTOGRAM_MOST_NS - histogram_bucket_ns(&h, h.buckets + h.log_buckets - 1), 0,
				HISTOGRAM_MOST_NS / 1024);
		for (uint32_t i = h.buckets; i + 1 < h.buckets + h.log_buckets; i += 1 + util_below(50)) {
			const int64_t from = histogram_bucket_ns(&h, i), next = histogram_bucket_ns(&h, i + 1);
			const int64_t inside[] = { from, from + (next - from) / 2, next - 1 };

			assert_true(next > from && next - from <= (from < 2048 ? 1 : from / 1024));
			for (size_t v = 0; v < COUNT_OF(inside); v++) {
				assert_true(histogram_fill(&h, inside[v], 1));
				assert_int_equal(histogram_bucket(&h, i), v + 1);
			}
		}
		release(NULL);
	}
}

static void the_first_and_the_last_value(void **state)
{
	static const int64_t values[] = { 100000, 100001, HISTOGRAM_MOST_NS, HISTOGRAM_MOST_NS + 1, INT64_MAX };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		place(100000);
		assert_true(histogram_add(&h, values[i], 1));
		check_identity(1);
		assert_int_equal(bucket_of(values[i]), i < 2 ? h.buckets : h.buckets + h.log_buckets - 1);
		histogram_finish(&h);
		assert_true(histogram_percentile(&h, 1, 2).value_ns == values[i]);
		release(NULL);
	}
}

#define SPREAD 5000000 /* samples: sorting these takes most of the test's time */

/* From 1 us to 10 s, in equal shares each power of ten. */
static int64_t seven_decades(void)
{
	return (int64_t)(1000 * exp(random_unit() * log(1e7)));
}

/* Nothing but the counts grows: no memory is asked for after histogram_assign(). */
static void percentiles_of_the_whole_range(void **state)
{
	static const uint64_t shares[] = { 1000, 10000, 50000, 90000, 95000, 99000, 99900, 99990, 99999 };
	int64_t *value = malloc(SPREAD * sizeof(*value));
	size_t bytes;

	(void)state;
	place(100000);
	bytes = histogram_bytes(&h);
	for (uint32_t i = 0; i < SPREAD; i++) {
		value[i] = seven_decades();
		histogram_add(&h, value[i], i);
	}
	histogram_finish(&h);
	check_identity(SPREAD);
	assert_int_equal(histogram_bytes(&h), bytes);
	assert_in_range(bytes, 1, 650000);
	qsort(value, SPREAD, sizeof(*value), compare);
	for (size_t i = 0; i < COUNT_OF(shares); i++) {
		const int64_t exact = value[(SPREAD * shares[i] + 99999) / 100000 - 1];
		const int64_t ns = histogram_percentile(&h, shares[i], 100000).value_ns;

		if (exact < 100000 || shares[i] > 99920)
			assert_true(ns == exact);
		else
			assert_in_range(ns, exact - exact / 1024, exact);
	}
	assert_true(histogram_percentile(&h, 1, 1).value_ns == value[SPREAD - 1]);
	free(value);
}

/* ---- Saved histograms -------------------------------------------------------------------------------------------- */

static void add_saved(const struct histogram *from)
{
	for (uint32_t i = 0; i < from->buckets + from->log_buckets; i++)
		assert_true(histogram_fill(&h, histogram_bucket_ns(from, i), histogram_bucket(from, i)));
	for (uint32_t i = 0; i < from->kept; i++)
		histogram_keep(&h, from->overflow[i]);
	h.overflows += from->overflows;
	h.min_ns = h.count && h.min_ns < from->min_ns ? h.min_ns : from->min_ns;
	h.max_ns = h.max_ns > from->max_ns ? h.max_ns : from->max_ns;
	h.count += from->count;
}

/* Two saved halves have every bucket, every kept sample and every percentile of the whole. */
static void merged_halves_are_the_whole(void **state)
{
	struct histogram part[3];
	void *taken[3];

	(void)state;
	for (int k = 0; k < 3; k++) {
		place(100000);
		part[k] = h;
		taken[k] = memory;
	}
	for (uint32_t i = 0; i < 60000; i++) {
		const int64_t ns = seven_decades();

		histogram_add(&part[i % 3 == 0], ns, i);
		histogram_add(&part[2], ns, i);
	}
	for (int k = 0; k < 3; k++)
		histogram_finish(&part[k]);
	place(100000);
	add_saved(&part[0]);
	add_saved(&part[1]);
	histogram_finish(&h);
	check_identity(60000);
	assert_int_equal(h.kept, HISTOGRAM_OVERFLOW_STORE);
	assert_memory_equal(h.overflow, part[2].overflow, histogram_bytes(&h));
	for (uint64_t share = 0; share <= 1000; share++)
		assert_true(histogram_percentile(&h, share, 1000).value_ns ==
			    histogram_percentile(&part[2], share, 1000).value_ns);
	for (int k = 0; k < 3; k++)
		free(taken[k]);
}

static void a_bucket_that_cannot_count_it_is_left(void **state)
{
	static const int64_t values[] = { 42, 5000 };

	(void)state;
	place(100);
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		assert_true(histogram_fill(&h, values[i], (1ULL << 40) - 2));
		assert_false(histogram_fill(&h, values[i], 2));
		assert_false(histogram_fill(&h, values[i], UINT64_MAX));
		assert_true(histogram_fill(&h, values[i], 1));
	}
	assert_int_equal(histogram_bucket(&h, 42), (1ULL << 40) - 1);
}

static void negatives_stand_apart(void **state)
{
	(void)state;
	place(1000);
	assert_false(histogram_add(&h, -1, 7));
	assert_false(histogram_add(&h, INT64_MIN, 8));
	assert_int_equal(h.negatives, 2);
	check_identity(0);
	assert_true(histogram_add(&h, 5, 9));
	assert_false(histogram_add(&h, -1000000, 10));
	histogram_finish(&h);
	assert_int_equal(h.negatives, 3);
	check_identity(1);
	assert_true(h.min_ns == 5 && h.max_ns == 5);
	assert_true(h.min_seq == 9 && h.max_seq == 9);
	assert_true(h.sum == 5 && h.sum_of_squares == 25);
	assert_true(histogram_percentile(&h, 1, 100).value_ns == 5);
	check_close(histogram_mean_ns(&h), 5);
	check_close(histogram_deviation_ns(&h), 0);
}

static void minimum_and_maximum_with_their_numbers(void **state)
{
	(void)state;
	place(1000);
	assert_true(histogram_add(&h, 500, 0xfffffffe)); /* the first is both */
	assert_true(h.min_ns == 500 && h.max_ns == 500);
	assert_true(h.min_seq == 0xfffffffe && h.max_seq == 0xfffffffe);
	assert_true(histogram_add(&h, 5000, 0xffffffff)); /* in the overflow */
	assert_true(histogram_add(&h, 0, 0));
	assert_true(histogram_add(&h, 400, 1));
	assert_true(h.min_ns == 0 && h.max_ns == 5000);
	assert_true(h.min_seq == 0 && h.max_seq == 0xffffffff);
	check_identity(4);
	release(NULL);

	/* A first sample of 0 is above nothing, but it is the maximum. */
	place(1000);
	assert_true(histogram_add(&h, 0, 9));
	assert_true(h.min_ns == 0 && h.max_ns == 0);
	assert_true(h.min_seq == 9 && h.max_seq == 9);
	check_identity(1);
	release(NULL);

	/* All above 0: the zeroed fields are no sample. And only overflow. */
	place(1000);
	assert_true(histogram_add(&h, 7000, 3));
	assert_true(histogram_add(&h, 6000, 4));
	histogram_finish(&h);
	assert_true(h.min_ns == 6000 && h.min_seq == 4);
	assert_true(h.max_ns == 7000 && h.max_seq == 3);
	assert_true(histogram_percentile(&h, 50, 100).value_ns == 6000);
	check_identity(2);
}

/* A small spread on a large offset is where the difference of two large squares would lose everything. */
static void deviation_on_a_large_offset(void **state)
{
	static const int64_t offsets[] = { 1000000, NS_PER_S, 3600 * NS_PER_S };
	static int64_t value[1000];

	(void)state;
	for (size_t o = 0; o < COUNT_OF(offsets); o++) {
		place(1000);
		for (size_t i = 0; i < COUNT_OF(value); i++) {
			value[i] = offsets[o] + (int64_t)(i % 2);
			assert_true(histogram_add(&h, value[i], 0));
		}
		check_moments(value, COUNT_OF(value));
		check_close(histogram_deviation_ns(&h), 0.5L);
		check_identity(COUNT_OF(value));
		release(NULL);
	}
}

static void set_bucket(uint32_t i, uint64_t count)
{
	h.low[i] = (uint8_t)count;
	h.carry[i] = count / 256;
}

/* Weeks of samples: the fields are set as adding would have left them. */
#define MANY 1000000000000ULL

static void all_but_one_of_one_second(void)
{
	const uint64_t n = MANY;

	/* All of one second. */
	h.count = n;
	h.sum = (__int128)n * NS_PER_S;
	h.sum_of_squares = h.sum * NS_PER_S;
	h.min_ns = h.max_ns = NS_PER_S;
	set_bucket(100000, n);
	check_identity(n);
	check_close(histogram_mean_ns(&h), 1e9L);
	check_close(histogram_deviation_ns(&h), 0);
	assert_true(histogram_percentile(&h, 1, 1000000).value_ns == NS_PER_S);
	assert_true(histogram_percentile(&h, 999999, 1000000).value_ns == NS_PER_S);
	assert_true(histogram_percentile(&h, 100, 100).value_ns == NS_PER_S);

	/* One of them 0. */
	h.sum -= NS_PER_S;
	h.sum_of_squares -= (__int128)NS_PER_S * NS_PER_S;
	set_bucket(100000, n - 1);
	set_bucket(0, 1);
	check_identity(n);
	check_close(histogram_mean_ns(&h), 1e9L * (1 - 1e-12L));
	check_close(histogram_deviation_ns(&h), 1e3L * sqrtl(1 - 1e-12L));
	assert_true(histogram_percentile(&h, 1, n).value_ns == 0);
	assert_true(histogram_percentile(&h, 2, n).value_ns == NS_PER_S);
}

static void half_of_them_less(void)
{
	const uint64_t n = MANY;

	/* Half of them 0. */
	h.sum = (__int128)(n / 2) * NS_PER_S;
	h.sum_of_squares = h.sum * NS_PER_S;
	set_bucket(100000, n / 2);
	set_bucket(0, n / 2);
	check_identity(n);
	check_close(histogram_mean_ns(&h), 5e8L);
	check_close(histogram_deviation_ns(&h), 5e8L);
	assert_true(histogram_percentile(&h, 50, 100).value_ns == 0);
	assert_true(histogram_percentile(&h, 500001, 1000000).value_ns == NS_PER_S);
	assert_true(histogram_percentile(&h, 999999999, 1000000000).value_ns == NS_PER_S); /* n * numerator: 70 bits */

	/* Half 999999999, half 10^9: a spread of 0.5 ns on all that. */
	h.sum = (__int128)n * NS_PER_S - n / 2;
	h.sum_of_squares = (__int128)(n / 2) * NS_PER_S * NS_PER_S + (__int128)(n / 2) * 999999999 * 999999999;
	set_bucket(0, 0);
	set_bucket(99999, n / 2);
	check_identity(n);
	check_close(histogram_mean_ns(&h), 999999999.5L);
	check_close(histogram_deviation_ns(&h), 0.5L);
}

static void a_million_million_samples(void **state)
{
	const uint64_t n = MANY;

	(void)state;
	place(2 * NS_PER_S);
	assert_int_equal(h.width_ns, 10000);
	all_but_one_of_one_second();
	half_of_them_less();

	/* Another histogram in which they all overflow. */
	release(NULL);
	place(1000);
	h.count = h.overflows = n;
	h.sum = (__int128)n * NS_PER_S;
	h.sum_of_squares = h.sum * NS_PER_S;
	h.min_ns = NS_PER_S - 1000000;
	h.max_ns = NS_PER_S;
	assert_true(histogram_fill(&h, NS_PER_S, n));
	histogram_finish(&h);
	check_identity(n);
	assert_in_range(histogram_percentile(&h, 50, 100).value_ns, NS_PER_S - NS_PER_S / 1024, NS_PER_S);
	assert_true(histogram_percentile(&h, 100, 100).value_ns == NS_PER_S);
	assert_true(histogram_add(&h, NS_PER_S, 0));
	check_identity(n + 1);
}

/* ---- Beside the adding thread ------------------------------------------------------------------------------------ */

static void a_copy_is_the_same(void **state)
{
	struct histogram copy;
	void *other;

	(void)state;
	place_as(1000, 1, 16);
	for (uint32_t i = 0; i < 3000; i++)
		histogram_add(&h, (int64_t)util_below(1100), i);
	histogram_add(&h, -1, 0);
	other = malloc(histogram_bytes(&h));
	assert_true(histogram_copy(&copy, other, &h));
	assert_memory_equal(copy.carry, h.carry, (h.buckets + h.log_buckets) * 5);
	assert_true((void *)copy.carry == other && copy.count == h.count && copy.negatives == 1 &&
		    copy.overflows == h.overflows && copy.kept == 0);
	histogram_finish(&h);
	for (uint64_t rank = 1; rank <= 3000; rank++) /* the buckets above the limit are 1 ns wide here */
		assert_true(histogram_percentile(&copy, rank, 3000).value_ns ==
			    histogram_percentile(&h, rank, 3000).value_ns);
	assert_true(copy.min_ns == h.min_ns && copy.max_ns == h.max_ns && copy.min_seq == h.min_seq &&
		    copy.max_seq == h.max_seq);
	assert_true(copy.sum == h.sum && copy.sum_of_squares == h.sum_of_squares);
	free(other);
}

static void a_copy_of_nothing(void **state)
{
	struct histogram copy;
	void *other;

	(void)state;
	place(1000);
	other = malloc(histogram_bytes(&h));
	assert_true(histogram_copy(&copy, other, &h));
	assert_int_equal(copy.count, 0);
	free(other);
}

/* The other thread stands still between the byte that wraps and the count beside it. */
static void half_a_sample_is_no_copy(void **state)
{
	struct histogram copy;
	void *other;

	(void)state;
	place(1000);
	for (uint32_t i = 0; i < 300; i++)
		histogram_add(&h, 5, i);
	other = malloc(histogram_bytes(&h));
	h.carry[5]--;
	assert_false(histogram_copy(&copy, other, &h));
	h.carry[5]++;
	h.count--;
	assert_false(histogram_copy(&copy, other, &h));
	h.count++;
	h.wraps++;
	assert_false(histogram_copy(&copy, other, &h));
	h.wraps++;
	assert_true(histogram_copy(&copy, other, &h));
	free(other);
}

/* The thread that adds is halted by a signal, wherever it is within histogram_add(), while a copy is made. */
#define HALTS 100

static _Atomic enum { GOES_ON, HALTED, OVER } halting;
static _Atomic uint64_t added;

static void halt(int signal_number)
{
	(void)signal_number;
	atomic_store(&halting, HALTED);
	while (atomic_load(&halting) == HALTED)
		sched_yield();
}

static int64_t value_of(uint64_t i)
{
	return 600 + (int64_t)(i % 500);
}

static void *add_until_over(void *unused)
{
	for (uint64_t n = 0; atomic_load(&halting) != OVER; n++) {
		histogram_add(&h, value_of(n), (uint32_t)n);
		atomic_store_explicit(&added, n + 1, memory_order_relaxed);
	}
	return unused;
}

/* Somewhere else than last time: it has gone on. */
static void halt_it(pthread_t thread)
{
	const uint64_t before = atomic_load(&added);

	while (atomic_load(&added) < before + 100)
		sched_yield();
	pthread_kill(thread, SIGUSR2);
	while (atomic_load(&halting) != HALTED)
		sched_yield();
}

/* Whole samples from the first on. *n and the sums are of the samples added up so far. */
static void check_sums(const struct histogram *copy, uint64_t *n, __int128 *sum, __int128 *squares)
{
	for (; *n < copy->count; (*n)++) {
		*sum += value_of(*n);
		*squares += value_of(*n) * value_of(*n);
	}
	assert_true(copy->sum == *sum);
	assert_true(copy->sum_of_squares == *squares);
	for (uint32_t i = 0; i < copy->buckets; i++)
		assert_int_equal(histogram_bucket(copy, i), i < 600 || i >= 1100 ? 0 : (copy->count + 1099 - i) / 500);
}

static void copies_of_one_that_stands_still(void **state)
{
	uint64_t n = 0, copies = 0;
	__int128 sum = 0, squares = 0;
	struct histogram copy;
	pthread_t thread;
	void *other;

	(void)state;
	place_as(1100, 1, 64);
	other = malloc(histogram_bytes(&h));
	halting = GOES_ON;
	added = 0;
	signal(SIGUSR2, halt);
	assert_int_equal(pthread_create(&thread, NULL, add_until_over, NULL), 0);
	for (int i = 0; i < HALTS; i++) {
		halt_it(thread);
		if (histogram_copy(&copy, other, &h)) {
			check_sums(&copy, &n, &sum, &squares);
			copies++;
		}
		atomic_store(&halting, GOES_ON);
	}
	atomic_store(&halting, OVER);
	pthread_join(thread, NULL);
	signal(SIGUSR2, SIG_DFL);
	assert_true(histogram_copy(&copy, other, &h));
	assert_int_equal(copy.count, added);
	check_sums(&copy, &n, &sum, &squares);
	free(other);
	print_message("%" PRIu64 " copies at %d halts\n", copies, HALTS);
}

#define BURSTS 60
#define BURST 500 /* samples, each value once */

/* Both threads continue by the progress of the other, and never by time. */
struct growing {
	_Atomic uint64_t readings;
	_Atomic bool done;
};

static void *add_in_bursts(void *growing)
{
	struct growing *g = growing;
	uint64_t readings;

	for (uint32_t i = 0; i < BURSTS; i++) {
		for (uint32_t k = 0; k < BURST; k++)
			histogram_add(&h, 600 + k, i * BURST + k);
		/* The second reading from here on begins and ends while nothing is added. */
		for (readings = atomic_load(&g->readings); atomic_load(&g->readings) < readings + 2;)
			sched_yield();
	}
	atomic_store(&g->done, true);
	return NULL;
}

/* No sample is in it by half, or by its sum and not by its square. */
static void check_copy(const struct histogram *copy)
{
	uint64_t in_buckets = 0;

	for (uint32_t i = 0; i < copy->buckets; i++)
		in_buckets += histogram_bucket(copy, i);
	assert_int_equal(in_buckets + copy->overflows, copy->count);
	assert_true(copy->min_ns == 600 && copy->max_ns <= 1099);
	if (copy->count < 20 * BURST)
		return;
	assert_true(histogram_mean_ns(copy) > 842 && histogram_mean_ns(copy) < 857);
	assert_true(histogram_deviation_ns(copy) > 139 && histogram_deviation_ns(copy) < 149);
}

static void copies_while_it_grows(void **state)
{
	struct growing g = { 0 };
	uint64_t before = 0, copies = 0;
	struct histogram copy;
	pthread_t thread;
	void *other;

	(void)state;
	place_as(1000, 1, 64);
	other = malloc(histogram_bytes(&h));
	assert_int_equal(pthread_create(&thread, NULL, add_in_bursts, &g), 0);
	while (!atomic_load(&g.done)) {
		if (histogram_copy(&copy, other, &h) && copy.count) {
			check_copy(&copy);
			assert_true(copy.count >= before);
			before = copy.count;
			copies++;
		}
		atomic_fetch_add(&g.readings, 1);
	}
	pthread_join(thread, NULL);
	free(other);
	check_identity(BURSTS * BURST);
	assert_true(copies >= BURSTS);
	print_message("%" PRIu64 " copies of %" PRIu64 " readings\n", copies, g.readings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(layouts, release),
		cmocka_unit_test_teardown(layouts_of_another_width, release),
		cmocka_unit_test_teardown(percentiles_of_a_part, release),
		cmocka_unit_test_teardown(a_count_beyond_32_bits, release),
		cmocka_unit_test_teardown(ten_samples_by_hand, release),
		cmocka_unit_test_teardown(percentiles_of_random_samples, release),
		cmocka_unit_test_teardown(values_at_the_limit, release),
		cmocka_unit_test_teardown(values_at_bucket_edges, release),
		cmocka_unit_test_teardown(counts_pass_a_byte, release),
		cmocka_unit_test_teardown(the_overflow_store_is_just_full, release),
		cmocka_unit_test_teardown(the_overflow_store_is_too_small, release),
		cmocka_unit_test_teardown(the_largest_are_kept, release),
		cmocka_unit_test_teardown(edges_of_log_linear_buckets, release),
		cmocka_unit_test_teardown(the_first_and_the_last_value, release),
		cmocka_unit_test_teardown(percentiles_of_the_whole_range, release),
		cmocka_unit_test_teardown(merged_halves_are_the_whole, release),
		cmocka_unit_test_teardown(a_bucket_that_cannot_count_it_is_left, release),
		cmocka_unit_test_teardown(negatives_stand_apart, release),
		cmocka_unit_test_teardown(minimum_and_maximum_with_their_numbers, release),
		cmocka_unit_test_teardown(deviation_on_a_large_offset, release),
		cmocka_unit_test_teardown(a_million_million_samples, release),
		cmocka_unit_test_teardown(a_copy_is_the_same, release),
		cmocka_unit_test_teardown(a_copy_of_nothing, release),
		cmocka_unit_test_teardown(half_a_sample_is_no_copy, release),
		cmocka_unit_test_teardown(copies_of_one_that_stands_still, release),
		cmocka_unit_test_teardown(copies_while_it_grows, release),
	};

	util_seed();
	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
