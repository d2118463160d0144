/* build: wraps= sources=histogram.c,report/text/label.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of percentiles: how often they contain the true percentile. Fixed seeds. */
#include "report/text/confidence.c"

#include "util.h"

#include <stdlib.h>

#define TRIALS 1000
#define LEVEL_NS 2000.0
#define SPREAD_NS 330.0
#define NARROW_NS 6.0 /* as stamps of a NIC on a quiet path: all within 2 % of the level */
#define LIMIT_NS 4000

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

/* Two by one draw (Box and Muller). */
static double normal(void)
{
	static bool has_second;
	static double second;
	double radius, angle;

	has_second = !has_second;
	if (!has_second)
		return second;
	radius = sqrt(-2 * log(uniform()));
	angle = 2 * M_PI * uniform();
	second = radius * sin(angle);
	return radius * cos(angle);
}

/* Seconds with `samples` each. rho: correlation of a sample with the next; by_second: of a second's level with the
 * next. level_share: share of the variance that the level has. */
struct pattern {
	const char *name;
	unsigned blocks, samples;
	double rho, by_second, level_share;
	double spread_ns;
};

static struct histogram h;
static void *memory;
static const struct known_goal goal = { .text = "p50:1%", .numerator = 50, .denominator = 100, .width_ppb = 10000000 };

static void clear(void)
{
	const size_t bytes = histogram_layout(&h, LIMIT_NS, 1, 0);

	h.log_buckets = 1; /* no value is that large, and reading such buckets takes time */
	memory = memory ? memory : malloc(bytes);
	assert_non_null(memory);
	memset(memory, 0, bytes);
	histogram_assign(&h, memory);
}

static int free_memory(void **state)
{
	(void)state;
	free(memory);
	memory = NULL;
	return 0;
}

static void draw_run(struct confidence_blocks *p, const struct pattern *s)
{
	int64_t drawn[2000];
	double level = normal(), value = normal();

	clear();
	p->blocks = p->seconds_each = 0;
	for (unsigned i = 0; i < s->blocks; i++) {
		level = s->by_second * level + sqrt(1 - s->by_second * s->by_second) * normal();
		for (unsigned k = 0; k < s->samples; k++) {
			value = s->rho * value + sqrt(1 - s->rho * s->rho) * normal();
			drawn[k] = llround(LEVEL_NS + s->spread_ns * (sqrt(s->level_share) * level +
								      sqrt(1 - s->level_share) * value));
			histogram_add(&h, drawn[k], 0);
		}
		qsort(drawn, s->samples, sizeof(*drawn), compare_ns);
		confidence_add(p, drawn, s->samples);
	}
	histogram_finish(&h);
}

/* An end that is not known excludes nothing. The true value of rounded ones may be a nanosecond lower. */
static bool contains(const struct confidence_interval *i, unsigned *open, double true_ns)
{
	*open += i->high_ns < 0;
	return (double)i->low_ns <= true_ns + 0.5 && (i->high_ns < 0 || (double)i->high_ns >= true_ns - 0.5);
}

static void count_contained(const struct pattern *s, bool by_blocks, unsigned contained[2])
{
	static const double quantile[2] = { 0, 2.3263479 };
	static const unsigned index[2] = { PERCENTILE_50, PERCENTILE_99 };
	static struct confidence_blocks p;
	unsigned open[2] = { 0 };

	contained[0] = contained[1] = 0;
	for (unsigned i = 0; i < TRIALS; i++) {
		struct confidence c = { .blocks = s->blocks };

		draw_run(&p, s);
		for (int k = 0; k < 2; k++) {
			const struct label_percentile *row = &label_percentiles[index[k]];
			const int64_t value_ns = histogram_percentile(&h, row->numerator, row->denominator).value_ns;

			if (by_blocks)
				c.effective[index[k]] = (int64_t)floor(effective_count(&p, value_ns));

			const struct confidence_interval found = confidence_interval(&h, by_blocks ? &c : NULL, index[k]);

			contained[k] += contains(&found, &open[k], LEVEL_NS + s->spread_ns * quantile[k]);
		}
	}
	print_message("# %s, %u blocks of %u, %s: p50 %u, p99 %u of %u intervals contain the true value (%u, %u are open)\n",
		      s->name, s->blocks, s->samples, by_blocks ? "by blocks" : "binomial", contained[0], contained[1],
		      TRIALS, open[0], open[1]);
}

static void expect_honest(const struct pattern *s, bool by_blocks)
{
	unsigned contained[2];

	count_contained(s, by_blocks, contained);
	for (int k = 0; k < 2; k++)
		assert_in_range(contained[k], 930, 970);
}

static void independent_samples(void **state)
{
	(void)state;
	util_random_state = 1;
	expect_honest(&(struct pattern){ "independent", 30, 100, 0, 0, 0, SPREAD_NS }, true);
	expect_honest(&(struct pattern){ "independent", 50, 50, 0, 0, 0, SPREAD_NS }, true);
}

static void samples_of_one_binomial(void **state)
{
	(void)state;
	util_random_state = 2;
	expect_honest(&(struct pattern){ "independent", 4, 1000, 0, 0, 0, SPREAD_NS }, false);
}

static void correlated_samples(void **state)
{
	(void)state;
	util_random_state = 3;
	expect_honest(&(struct pattern){ "AR(0.9) of samples", 30, 100, 0.9, 0, 0, SPREAD_NS }, true);
	expect_honest(&(struct pattern){ "AR(0.5) of seconds", 60, 60, 0, 0.5, 0.3, SPREAD_NS }, true);
}

/* Rounding to nanoseconds makes the interval somewhat wider than it has to be, and never narrower. */
static void narrow_distributions(void **state)
{
	unsigned contained[2];

	(void)state;
	util_random_state = 7;
	count_contained(&(struct pattern){ "narrow", 30, 100, 0.9, 0, 0, NARROW_NS }, true, contained);
	for (int k = 0; k < 2; k++)
		assert_in_range(contained[k], 930, 1000);
}

/* The limit, see docs/report.md: the median is still honest, and p99 is not, because its samples are those of a few
 * stretches of time. */
static void strongly_correlated_seconds(void **state)
{
	unsigned contained[2];

	(void)state;
	util_random_state = 4;
	count_contained(&(struct pattern){ "AR(0.9) of seconds", 70, 30, 0, 0.9, 0.5, SPREAD_NS }, true, contained);
	assert_in_range(contained[0], 850, 970);
	assert_in_range(contained[1], 600, 970);
}

/* Binomial intervals of such samples are far too narrow, which is why blocks are used. */
static void binomial_is_for_independent_samples(void **state)
{
	unsigned contained[2];

	(void)state;
	util_random_state = 5;
	count_contained(&(struct pattern){ "AR(0.9) of samples", 10, 200, 0.9, 0, 0, SPREAD_NS }, false, contained);
	assert_true(contained[0] < 700);
}

static void few_samples(void **state)
{
	struct confidence_interval found;

	(void)state;
	clear();
	for (int i = 0; i < 40; i++)
		histogram_add(&h, 1000 + i, 0);
	histogram_finish(&h);
	found = confidence_interval(&h, NULL, PERCENTILE_50);
	assert_int_equal(found.low_ns, 1013); /* 14th and 27th of 40: the table of the sign test */
	assert_int_equal(found.high_ns, 1026);
	found = confidence_interval(&h, NULL, PERCENTILE_99);
	assert_int_equal(found.high_ns, -1);
	assert_true(found.low_ns > 1000 && found.low_ns < 1039);
}

static void the_width_of_the_goal(void **state)
{
	static struct confidence_blocks p;
	struct confidence c;
	double first, last;

	(void)state;
	util_random_state = 8;
	draw_run(&p, &(struct pattern){ "independent", CONFIDENCE_BLOCKS_LEAST - 1, 100, 0, 0, 0, SPREAD_NS });
	confidence_find(&c, &p, &h, &goal);
	assert_int_equal(c.blocks, 0);
	assert_false(c.has_width);
	draw_run(&p, &(struct pattern){ "independent", CONFIDENCE_BLOCKS_LEAST, 100, 0, 0, 0, SPREAD_NS });
	confidence_find(&c, &p, &h, &goal);
	assert_int_equal(c.blocks, CONFIDENCE_BLOCKS_LEAST);
	first = c.width;
	/* 3,000 samples: 2.045 / sqrt(4 * 3000) of the ranks, whose density is 1 / (330 * sqrt(2 pi)), are 15 of 2,000 ns. */
	assert_true(first > 0.005 && first < 0.012);
	/* Three are above p99.9. */
	assert_false(confidence_width(&p, &(struct known_goal){ .numerator = 9999, .denominator = 10000 }, &last));
	draw_run(&p, &(struct pattern){ "independent", 16 * CONFIDENCE_BLOCKS_LEAST, 100, 0, 0, 0, SPREAD_NS });
	assert_true(confidence_width(&p, &goal, &last));
	assert_true(last < first / 3);
}

/* The table is merged by two, and every sample stays in it. */
static void long_runs(void **state)
{
	static struct confidence_blocks p;
	uint64_t count = 0;

	(void)state;
	util_random_state = 6;
	p.blocks = p.seconds_each = 0;
	draw_run(&p, &(struct pattern){ "independent", 1000, 50, 0, 0, 0, SPREAD_NS });
	assert_int_equal(p.seconds_each, 8);
	assert_int_equal(p.blocks, 125);
	for (unsigned i = 0; i < p.blocks; i++) {
		const struct confidence_block *b = &p.block[i];

		count += b->count;
		assert_true(b->points <= CONFIDENCE_POINTS);
		assert_int_equal(b->point[b->points - 1].below, b->count);
		for (unsigned k = 1; k < b->points; k++)
			assert_true(b->point[k - 1].value_ns < b->point[k].value_ns &&
				    b->point[k - 1].below <= b->point[k].below);
	}
	assert_int_equal(count, 50000);
}

static void seconds_without_samples(void **state)
{
	static struct confidence_blocks p;

	(void)state;
	confidence_add(&p, NULL, 0);
	assert_int_equal(p.blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_samples),
		cmocka_unit_test(samples_of_one_binomial),
		cmocka_unit_test(correlated_samples),
		cmocka_unit_test(narrow_distributions),
		cmocka_unit_test(strongly_correlated_seconds),
		cmocka_unit_test(binomial_is_for_independent_samples),
		cmocka_unit_test(few_samples),
		cmocka_unit_test(the_width_of_the_goal),
		cmocka_unit_test(long_runs),
		cmocka_unit_test(seconds_without_samples),
	};

	return cmocka_run_group_tests_name("confidence", tests, NULL, free_memory);
}
