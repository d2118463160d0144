/* build: sources=analyse/[a-b]*.c,analyse/compare_write.c,analyse/[d-z]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Share of right and wrong results of --compare, by simulation with a fixed seed of runs whose difference is
 * known. */
#include "analyse/compare.c"

#include "util.h"

#include <math.h>

#define TRIALS 200
#define POWER_TRIALS 50
#define SECONDS 60
#define SAMPLES 60 /* per second */

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Latencies are middle_ns + level + noise, with one level a second that follows an AR(1) process. */
struct process {
	double middle_ns, level_ns, spread_ns, rho;
	bool has_tail; /* noise is exponential, not normal */
};

static int compare_samples(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void add_second(struct blocks *b, int64_t ns[SAMPLES])
{
	int64_t start[SAMPLES];

	for (unsigned k = 0; k < SAMPLES; k++)
		start[k] = ns[k] / second_fine_ns(ns[k]) * second_fine_ns(ns[k]);
	qsort(start, SAMPLES, sizeof(start[0]), compare_samples);
	blocks_add(b, SAMPLES, 0);
	for (unsigned k = 0, from = 0; k < SAMPLES; k++) {
		if (k + 1 < SAMPLES && start[k + 1] == start[k])
			continue;
		blocks_add_bucket(b, start[k], k + 1 - from);
		from = k + 1;
	}
}

static struct outcome *make_run(struct blocks *b, const struct process *p)
{
	const struct options options = { .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US };
	struct outcome *o = outcome_open(&options);
	double level = normal();

	assert_non_null(o);
	assert_int_equal(outcome_assign(&o->latency, NULL, &o->options, 1), 0);
	for (unsigned i = 0; i < SECONDS; i++) {
		int64_t ns[SAMPLES];

		level = p->rho * level + sqrt(1 - p->rho * p->rho) * normal();
		for (unsigned k = 0; k < SAMPLES; k++) {
			const double noise = p->has_tail ? -log(uniform()) : normal();

			ns[k] = (int64_t)(p->middle_ns + p->level_ns * level + p->spread_ns * noise);
			histogram_add(&o->latency, ns[k], i);
		}
		add_second(b, ns);
	}
	outcome_finish(o);
	return o;
}

static enum compare_result compare_once(const struct process *p, double higher_ns, double tolerance_ns)
{
	struct compare c = { .tolerance.ns = (int64_t)tolerance_ns };
	struct process q = *p;

	q.middle_ns += higher_ns;
	c.run[0] = make_run(&c.blocks[0], p);
	c.run[1] = make_run(&c.blocks[1], &q);
	set_rows(&c);
	while (c.row[c.rows - 1].kind == COMPARE_DECILE)
		c.rows--; /* deciles decide nothing, and take time */
	assert_int_equal(set_intervals(&c), 0);
	judge_all(&c);
	for (int i = 0; i < 2; i++) {
		outcome_close(c.run[i]);
		blocks_free(&c.blocks[i]);
	}
	return c.result;
}

struct counts {
	unsigned worse, not_worse, undecided;
};

static struct counts compare_often(const struct process *p, double higher_ns, double tolerance_ns, unsigned trials)
{
	struct counts n = { 0 };

	for (unsigned i = 0; i < trials; i++) {
		const enum compare_result result = compare_once(p, higher_ns, tolerance_ns);

		n.worse += result == COMPARE_IS_WORSE;
		n.undecided += result == COMPARE_IS_UNDECIDED;
	}
	n.not_worse = trials - n.worse - n.undecided;
	print_message("%u trials, %+g ns with %g ns allowed: %u worse, %u not worse, %u undecided\n", trials, higher_ns,
		      tolerance_ns, n.worse, n.not_worse, n.undecided);
	return n;
}

static const struct process independent = { 20000, 300, 1000, 0, false };
static const struct process correlated = { 20000, 300, 1000, 0.5, false };
static const struct process heavy_tail = { 20000, 300, 1000, 0, true };

/* At the tolerance itself, where a wrong decision is most likely: each decision is wrong at one nanosecond more or
 * less. Below 5 %. */
static void wrong_decisions(void **state)
{
	const struct process *const each[] = { &independent, &correlated, &heavy_tail };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(each); i++) {
		const struct counts n = compare_often(each[i], 1000, 1000, TRIALS);

		assert_in_range(n.worse, 0, TRIALS * 5 / 100 - 1);
		assert_in_range(n.not_worse, 0, TRIALS * 5 / 100 - 1);
	}
}

/* Without a tolerance, and without a difference. */
static void no_tolerance(void **state)
{
	struct counts n = compare_often(&correlated, 0, 0, TRIALS);

	(void)state;
	assert_in_range(n.worse, 0, TRIALS * 5 / 100 - 1);
	assert_in_range(n.undecided, TRIALS * 90 / 100, TRIALS);
}

/* The share of right decisions where the difference is one tolerance away from the limit. docs/compare.md states it. */
static void power(void **state)
{
	struct counts n = compare_often(&independent, 0, 1000, POWER_TRIALS);

	(void)state;
	assert_in_range(n.not_worse, POWER_TRIALS * 95 / 100, POWER_TRIALS);
	n = compare_often(&correlated, 0, 1000, POWER_TRIALS);
	assert_in_range(n.not_worse, POWER_TRIALS * 90 / 100, POWER_TRIALS);
	n = compare_often(&independent, 2000, 1000, POWER_TRIALS);
	assert_in_range(n.worse, POWER_TRIALS * 95 / 100, POWER_TRIALS);
	n = compare_often(&heavy_tail, 2000, 1000, POWER_TRIALS);
	assert_in_range(n.worse, POWER_TRIALS * 95 / 100, POWER_TRIALS);
	n = compare_often(&heavy_tail, 0, 1000, POWER_TRIALS);
	assert_int_equal(n.worse, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(wrong_decisions), cmocka_unit_test(no_tolerance),
					    cmocka_unit_test(power) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
