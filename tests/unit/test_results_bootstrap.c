/* build: sources=analyse/blocks.c,analyse/tree.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Coverage of the interval of a difference, by simulation with a fixed seed. */
#include "analyse/bootstrap.c"

#include "util.h"

#include "analyse/run_parts.h"

#define TRIALS 150

int run_refuse(const char *path, const char *member, const char *why)
{
	(void)path, (void)member, (void)why;
	return -EINVAL;
}

bool run_count(const struct tree *t, int64_t *count)
{
	return tree_integer(t, count);
}

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static int64_t bucket_of(double ns)
{
	const int64_t v = ns < 0 ? 0 : (int64_t)ns;
	const int64_t width = second_fine_ns(v);

	return v / width * width;
}

/* The level of a second follows an AR(1) process, like a machine that warms up. rho: its autocorrelation. */
struct process {
	double middle_ns, level_ns, spread_ns, rho, loss;
	bool tail; /* noise is exponential, not normal */
};

#define SAMPLES 60

/* The samples of the run go into all[seconds * SAMPLES]. */
static void make_run(struct blocks *b, const struct process *p, unsigned seconds, double *all)
{
	double level = normal();

	*b = (struct blocks){ .has_loss = true };
	for (unsigned i = 0; i < seconds; i++) {
		int64_t start[SAMPLES];
		unsigned lost = 0;

		level = p->rho * level + sqrt(1 - p->rho * p->rho) * normal();
		for (unsigned k = 0; k < SAMPLES; k++) {
			const double noise = p->tail ? -log(uniform()) : normal();
			const double ns = p->middle_ns + p->level_ns * level + p->spread_ns * noise;

			all[i * SAMPLES + k] = ns;
			start[k] = bucket_of(ns);
			lost += uniform() < p->loss * exp(level);
		}
		qsort(start, SAMPLES, sizeof(start[0]), compare_ns);
		blocks_add(b, SAMPLES, lost);
		for (unsigned k = 0, from = 0; k < SAMPLES; k++) {
			if (k + 1 < SAMPLES && start[k + 1] == start[k])
				continue;
			blocks_add_bucket(b, start[k], k + 1 - from);
			from = k + 1;
		}
	}
	qsort(all, (size_t)seconds * SAMPLES, sizeof(*all), compare_doubles);
}

static double exact(const double *all, unsigned n, const struct bootstrap_metric *f)
{
	return floor(all[(n * f->numerator + f->denominator - 1) / f->denominator - 1]);
}

static double share(const struct blocks *b)
{
	uint64_t sent = 0, lost = 0;

	for (size_t i = 0; i < b->blocks; i++) {
		sent += b->block[i].sent;
		lost += b->block[i].lost;
	}
	return (double)lost / (double)sent;
}

/* Counts the trials whose interval contains the true difference: of p50, p90, p99 and loss. Both runs follow the
 * same process; the second has `later_ns` more latency. */
static void cover(const struct process *p, unsigned seconds, double later_ns, unsigned covered[4])
{
	double *all_a = malloc(seconds * SAMPLES * sizeof(double)), *all_b = malloc(seconds * SAMPLES * sizeof(double));
	struct process q = *p;

	q.middle_ns += later_ns;
	memset(covered, 0, 4 * sizeof(*covered));
	for (unsigned i = 0; i < TRIALS; i++) {
		struct bootstrap_metric f[4] = { { .numerator = 50, .denominator = 100 },
						 { .numerator = 90, .denominator = 100 },
						 { .numerator = 99, .denominator = 100 }, { .denominator = 0 } };
		struct blocks a, b;

		make_run(&a, p, seconds, all_a);
		make_run(&b, &q, seconds, all_b);
		for (int k = 0; k < 3; k++)
			f[k].difference = exact(all_b, seconds * SAMPLES, &f[k]) - exact(all_a, seconds * SAMPLES,
											 &f[k]);
		f[3].difference = share(&b) - share(&a);
		assert_int_equal(bootstrap_run(&a, &b, f, 4), 0);
		for (int k = 0; k < 4; k++)
			covered[k] += f[k].low <= (k < 3 ? later_ns : 0) && f[k].high >= (k < 3 ? later_ns : 0);
		blocks_free(&a);
		blocks_free(&b);
	}
	free(all_a);
	free(all_b);
	print_message("of %u trials covered: p50 %u, p90 %u, p99 %u, loss %u\n", TRIALS, covered[0], covered[1],
		      covered[2], covered[3]);
}

/* 90 to 99.7 %: with a coverage of 95 %, fewer than 135 of 150 are covered once in 300 runs of the test
 * (binomial). The seed is fixed, so the result is always the same. */
static void assert_covered(const struct process *p, unsigned seconds, double later_ns)
{
	unsigned covered[4];

	cover(p, seconds, later_ns, covered);
	for (int k = 0; k < 4; k++)
		assert_in_range(covered[k], TRIALS * 90 / 100, TRIALS * 997 / 1000);
}

static void independent_seconds(void **state)
{
	(void)state;
	util_random_state = 1;
	assert_covered(&(struct process){ .middle_ns = 20000, .spread_ns = 1500, .loss = 0.02 }, 60, 300);
}

static void a_long_tail(void **state)
{
	(void)state;
	util_random_state = 2;
	assert_covered(&(struct process){ .middle_ns = 6000, .spread_ns = 4000, .tail = true, .loss = 0.05 }, 60, 0);
}

/* Intervals from single seconds would be too narrow by the square root of three. */
static void seconds_that_hang_together(void **state)
{
	(void)state;
	util_random_state = 3;
	assert_covered(&(struct process){ .middle_ns = 20000, .level_ns = 800, .spread_ns = 900, .rho = 0.5,
					  .loss = 0.02 }, 90, 200);
}

static void the_fewest(void **state)
{
	(void)state;
	util_random_state = 4;
	assert_covered(&(struct process){ .middle_ns = 20000, .level_ns = 500, .spread_ns = 900, .rho = 0.3,
					  .loss = 0.02 }, BOOTSTRAP_LEAST, 0);
}

static void the_same_twice(void **state)
{
	const struct process p = { .middle_ns = 5000, .level_ns = 400, .spread_ns = 300, .rho = 0.5, .loss = 0.01 };
	struct bootstrap_metric f = { .numerator = 99, .denominator = 100 }, g = f;
	static double all[1000 * SAMPLES];
	struct blocks a, b;

	(void)state;
	util_random_state = 5;
	make_run(&a, &p, 1000, all); /* more than the table has rows */
	make_run(&b, &p, 40, all);
	assert_int_equal(bootstrap_run(&a, &b, &f, 1), 0);
	assert_int_equal(bootstrap_run(&a, &b, &g, 1), 0);
	assert_true(f.low == g.low && f.high == g.high && f.low < 0 && f.high > 0);
	/* The difference of a run from itself is 0, and the interval contains it. */
	f.difference = 0;
	assert_int_equal(bootstrap_run(&b, &b, &f, 1), 0);
	assert_true(f.low < 0 && f.high > 0);
	assert_true(bootstrap_is_fit(&a, &b));
	b.blocks = BOOTSTRAP_LEAST - 1;
	assert_false(bootstrap_is_fit(&a, &b));
	assert_false(bootstrap_is_fit(&b, &a));
	blocks_free(&a);
	blocks_free(&b);
}

/* A run whose samples all have the same value. */
static void add_run(struct blocks *b, unsigned seconds, int64_t value_ns)
{
	b->runs++;
	for (unsigned i = 0; i < seconds; i++) {
		blocks_add(b, 1, 0);
		b->block[b->blocks - 1].run = b->runs;
		blocks_add_bucket(b, value_ns, 1);
	}
}

/* Counts the rows of the first run in `most` draws. A draw has whole blocks of this run, as long as the run. */
static uint64_t rows_of_first(const struct blocks *b, unsigned length, unsigned draws, uint64_t *all)
{
	uint64_t state = 9, rows = 0;
	struct table t;

	assert_int_equal(make_table(&t, b), 0);
	*all = 0;
	for (unsigned i = 0; i < draws; i++) {
		take_some(&t, &state);
		assert_int_equal(t.sum[0] % length, 0);
		rows += t.sum[0];
		for (size_t k = 0; k < t.columns; k++)
			*all += t.sum[k];
	}
	free_table(&t);
	return rows;
}

static void a_block_is_of_one_run(void **state)
{
	struct blocks b = { .has_loss = true };
	uint64_t all, rows;

	(void)state;
	add_run(&b, 16, 10);
	add_run(&b, 24, 20);
	rows = rows_of_first(&b, 7, 20000, &all);
	assert_in_range(1000 * rows / all, 395, 405);
	blocks_free(&b);
}

/* A short run has shorter blocks, and more of them. */
static void a_short_run_is_drawn_as_often(void **state)
{
	struct blocks b = { .has_loss = true };
	uint64_t all, rows;

	(void)state;
	add_run(&b, 2, 10);
	add_run(&b, 98, 20);
	rows = rows_of_first(&b, 2, 20000, &all);
	assert_in_range(10000 * rows / all, 190, 210);
	blocks_free(&b);
}

/* More seconds than rows of the table, and more runs than rows. */
static void many_runs(void **state)
{
	struct bootstrap_metric f = { .numerator = 50, .denominator = 100, .difference = 0 };
	struct blocks a = { .has_loss = true }, b = { .has_loss = true };

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		add_run(&a, 1 + i % 5, 10 + i);
	for (unsigned i = 0; i < 1500; i++)
		add_run(&b, 1, 10 + i % 300);
	assert_int_equal(bootstrap_run(&a, &b, &f, 1), 0);
	assert_true(f.low < 0 && f.high > 0 && f.high - f.low < 200);
	blocks_free(&a);
	blocks_free(&b);
}

/* All samples are equal, so the interval has no width. */
static void no_ipdv(void **state)
{
	struct bootstrap_metric f = { .numerator = 50, .denominator = 100, .difference = 7 };
	struct blocks a = { .has_loss = true }, b = { .has_loss = true };

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		blocks_add(&a, 10, 0);
		blocks_add_bucket(&a, 100, 10);
		blocks_add(&b, 10, 0);
		blocks_add_bucket(&b, 107, 10);
	}
	assert_int_equal(bootstrap_run(&a, &b, &f, 1), 0);
	assert_true(f.low == 7 && f.high == 7);
	blocks_free(&a);
	blocks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_seconds), cmocka_unit_test(a_long_tail),
			cmocka_unit_test(seconds_that_hang_together),
		cmocka_unit_test(the_fewest), cmocka_unit_test(the_same_twice), cmocka_unit_test(no_ipdv),
		cmocka_unit_test(a_block_is_of_one_run), cmocka_unit_test(a_short_run_is_drawn_as_often),
		cmocka_unit_test(many_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
