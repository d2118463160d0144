/* build: wraps= sources=histogram.c,report/text/label.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of percentiles: how often they contain the true percentile, in simulated runs of known distributions. */
#include "report/text/confidence.c"

#include "util.h"

#define TRIALS 1000
#define BLOCKS 32
#define EACH 200 /* samples of a block */
#define SIGMA 0.5 /* of the logarithm of the latency */
#define MEDIAN_NS 10000

static uint64_t state_of_random;
static struct histogram histogram;
static struct confidence_blocks blocks;
static void *memory;
static const struct known_goal goal = { .text = "p50:1%", .numerator = 50, .denominator = 100, .width_ppb = 10000000 };

static double uniform(void)
{
	return ((double)(random_next(&state_of_random) >> 11) + 0.5) / 9007199254740992.0;
}

/* The polar method of Marsaglia, which makes two at once. */
static double normal(void)
{
	static double other;
	static bool has_other;
	double x, y, square;

	has_other = !has_other;
	if (!has_other)
		return other;
	do {
		x = 2 * uniform() - 1;
		y = 2 * uniform() - 1;
		square = x * x + y * y;
	} while (square >= 1);

	const double factor = sqrt(-2 * log(square) / square);

	other = y * factor;
	return x * factor;
}

static int set_up(void **state)
{
	const size_t bytes = histogram_layout(&histogram, 200 * NS_PER_US, 1, HISTOGRAM_OVERFLOW_STORE);

	(void)state;
	memory = memory ? memory : malloc(bytes);
	memset(memory, 0, bytes);
	histogram_assign(&histogram, memory);
	if (blocks.count) {
		uint64_t(*count)[CONFIDENCE_BUCKETS] = blocks.count;

		memset(count, 0, (CONFIDENCE_BLOCKS + 1) * sizeof(*count));
		blocks = (struct confidence_blocks){ .count = count, .seconds_each = 1 };
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	confidence_close(&blocks);
	free(memory);
	memory = NULL;
	return 0;
}

/* Samples of `count` blocks: each is correlated with the one before by `along`, and all of a block have a part in common
 * whose deviation is `shared`. */
static void run(unsigned count, double along, double shared)
{
	int64_t value[EACH];
	double x = normal();

	set_up(NULL);
	for (unsigned i = 0; i < count; i++) {
		const double common = shared * normal();

		for (unsigned k = 0; k < EACH; k++) {
			x = along * x + sqrt(1 - along * along) * normal();
			value[k] = (int64_t)(MEDIAN_NS * exp(SIGMA * x + common));
			histogram_add(&histogram, value[k], k);
		}
		confidence_add(&blocks, value, EACH);
	}
	histogram_finish(&histogram);
}

static bool contains(const struct confidence *c, unsigned index, double true_ns)
{
	const struct confidence_interval i = confidence_interval(&histogram, c, index);

	return (double)i.low_ns <= true_ns && (i.high_ns < 0 || true_ns <= (double)i.high_ns + 1);
}

/* Number of runs whose interval contains the true percentile. */
static void cover(unsigned found[2], unsigned trials, double along, double shared, bool by_blocks)
{
	const double sigma = sqrt(SIGMA * SIGMA + shared * shared);
	const double p50_ns = MEDIAN_NS, p99_ns = MEDIAN_NS * exp(sigma * 2.3263478740);

	found[0] = found[1] = 0;
	for (unsigned trial = 0; trial < trials; trial++) {
		struct confidence c = { .blocks = BLOCKS };

		run(BLOCKS, along, shared);
		assert_int_equal(blocks.blocks, BLOCKS);
		c.error[LABEL_P50] = (int64_t)(error_at(&blocks, 0.5) * CONFIDENCE_UNIT);
		c.error[LABEL_P99] = (int64_t)(error_at(&blocks, 0.99) * CONFIDENCE_UNIT);
		found[0] += contains(by_blocks ? &c : NULL, LABEL_P50, p50_ns);
		found[1] += contains(by_blocks ? &c : NULL, LABEL_P99, p99_ns);
	}
	print_message("# correlation %.1f, blocks %.1f, %s: p50 in %u, p99 in %u of %u\n", along, shared,
		      by_blocks ? "by blocks" : "binomial", found[0], found[1], trials);
}

static void the_true_percentile_is_within(void **state)
{
	static const double cases[][2] = { { 0, 0 }, { 0.9, 0 }, { 0, 0.3 } };
	unsigned found[2];

	(void)state;
	state_of_random = 37;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		cover(found, TRIALS, cases[i][0], cases[i][1], true);
		assert_in_range(found[0], 930, 970);
		/* p99 of correlated samples has few independent ones above it. */
		assert_in_range(found[1], i ? 910 : 930, 975);
	}
}

/* Without blocks it is right for independent samples, and the report says so; others show why. */
static void the_binomial_interval_needs_independent_samples(void **state)
{
	unsigned found[2];

	(void)state;
	state_of_random = 38;
	cover(found, TRIALS / 4, 0, 0, false);
	assert_in_range(found[0], 230, 245);
	assert_in_range(found[1], 230, 247);
	cover(found, TRIALS / 4, 0.9, 0, false);
	assert_in_range(found[0], 0, 200);
}

static void long_runs_have_blocks_of_several_seconds(void **state)
{
	struct confidence c;

	(void)state;
	state_of_random = 39;
	run(CONFIDENCE_BLOCKS_LEAST - 1, 0, 0);
	confidence_find(&c, &blocks, &goal);
	assert_int_equal(c.blocks, 0);
	assert_true(c.width < 0);
	run(CONFIDENCE_BLOCKS * 5 + 3, 0, 0);
	confidence_find(&c, &blocks, &goal);
	assert_int_equal(c.block_s, 8);
	assert_int_equal(c.blocks, 40);
	assert_int_equal(blocks.seconds, 3);
	assert_true(c.width > 0 && c.width < 0.02);
	/* The sum has the complete blocks. */
	assert_int_equal(blocks.samples[CONFIDENCE_BLOCKS], 320 * EACH);
	uint64_t all = 0;

	for (unsigned i = 0; i < blocks.blocks; i++)
		all += blocks.samples[i];
	assert_int_equal(all, 320 * EACH);
}

static void buckets_are_adjacent(void **state)
{
	(void)state;
	for (size_t k = 1; k < CONFIDENCE_BUCKETS; k++) {
		const int64_t start_ns = (int64_t)start_of(k);

		assert_int_equal(bucket_of(start_ns), k);
		assert_int_equal(bucket_of(start_ns - 1), k - 1);
	}
	assert_int_equal(bucket_of(INT64_MAX), CONFIDENCE_BUCKETS - 1);
	assert_true(start_of(CONFIDENCE_BUCKETS - 1) > 100.0 * NS_PER_S);
}

static void the_width_shrinks_with_the_run(void **state)
{
	double first, last;

	(void)state;
	state_of_random = 40;
	run(CONFIDENCE_BLOCKS_LEAST - 1, 0, 0);
	assert_false(confidence_width(&blocks, &goal, &first));
	run(CONFIDENCE_BLOCKS_LEAST, 0, 0);
	assert_true(confidence_width(&blocks, &goal, &first));
	/* 6,000 samples: 2.045 * sqrt(0.25 / 6000) of rank are 1.32 % and 1.65 % of the value; a bucket is 0.8 %. */
	assert_true(first > 0.010 && first < 0.030);
	/* Six are above p99.9. */
	assert_false(confidence_width(&blocks, &(struct known_goal){ .numerator = 9999, .denominator = 10000 }, &last));
	run(16 * CONFIDENCE_BLOCKS_LEAST, 0, 0);
	assert_true(confidence_width(&blocks, &goal, &last));
	assert_true(last < 0.7 * first);
}

/* With few samples the upper end is not known, and never the maximum. */
static void too_few_samples_have_no_upper_end(void **state)
{
	struct confidence_interval i;

	(void)state;
	state_of_random = 41;
	run(1, 0, 0);
	i = confidence_interval(&histogram, NULL, LABEL_P99);
	assert_int_equal(i.high_ns, -1);
	assert_true(i.low_ns > 0 && i.low_ns < histogram.max_ns);
	i = confidence_interval(&histogram, NULL, LABEL_P50);
	assert_true(i.low_ns < i.high_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_true_percentile_is_within),
		cmocka_unit_test(the_binomial_interval_needs_independent_samples),
		cmocka_unit_test(long_runs_have_blocks_of_several_seconds),
		cmocka_unit_test(buckets_are_adjacent),
		cmocka_unit_test(the_width_shrinks_with_the_run),
		cmocka_unit_test(too_few_samples_have_no_upper_end),
	};

	return cmocka_run_group_tests_name("confidence", tests, NULL, tear_down);
}
