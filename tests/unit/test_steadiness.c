/* build: sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of level: how many are found in steady runs, and how many of those that are there. Fixed seeds. */
#include "report/verdict/steadiness.c"

#include "util.h"

#define RUNS 1000
#define CHANGED_RUNS 200
#define LEVEL_NS 20000.0
#define SPREAD_NS 200.0 /* 1 %, from second to second */
#define WIDE_NS 2000.0 /* in steady runs, so that the least change of 2 % hides no false finding */

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* From one second to the next. The ratio of two normal variables has Student's t distribution with one degree of
 * freedom, which has no variance. */
struct noise {
	const char *name;
	double rho;
	bool has_heavy_tail;
};

static const struct noise independent = { "independent", 0, false }, correlated = { "AR(0.7)", 0.7, false },
			  heavy_tail = { "heavy tail", 0, true };

static double next_of(const struct noise *n, double *state)
{
	*state = n->rho * *state + sqrt(1 - n->rho * n->rho) * normal();
	return n->has_heavy_tail ? *state / fabs(normal()) : *state;
}

/* A run whose level is higher by `share` from second `at` on, until `until`. p99 has noise of its own. */
static void make_run(struct levels *l, const struct noise *n, unsigned seconds, unsigned at, unsigned until,
		     double share, double spread_ns)
{
	double median = normal(), p99 = normal();

	*l = (struct levels){ .stretches = 0 };
	for (unsigned i = 0; i < seconds; i++) {
		const double level = LEVEL_NS * (i >= at && i < until ? 1 + share : 1);
		const double by_median = next_of(n, &median), by_p99 = next_of(n, &p99);

		steadiness_add(l, i * NS_PER_S, 1000, llround(level + spread_ns * by_median),
			       llround(2 * level + 2 * spread_ns * by_p99));
	}
}

static unsigned count_false(const struct noise *n, unsigned seconds)
{
	unsigned found = 0;

	for (unsigned i = 0; i < RUNS; i++) {
		struct level_changes c;
		struct levels l;

		make_run(&l, n, seconds, 0, 0, 0, WIDE_NS);
		steadiness_find(&c, &l);
		found += c.count > 0;
	}
	print_message("%s, %u s: %u of %u steady runs have a change\n", n->name, seconds, found, RUNS);
	return found;
}

static void steady_runs(void **state)
{
	static const unsigned seconds[] = { 20, 30, 60, 120, 300 };
	const struct noise *const each[] = { &independent, &correlated, &heavy_tail };

	(void)state;
	for (size_t k = 0; k < COUNT_OF(each); k++)
		for (size_t i = 0; i < COUNT_OF(seconds); i++)
			assert_in_range(count_false(each[k], seconds[i]), 0, RUNS / 100);
}

/* The median of each run is found to have changed once, at most five seconds from the true time. */
static unsigned count_dated(const struct noise *n, unsigned seconds, unsigned at, double share)
{
	unsigned dated = 0;

	for (unsigned i = 0; i < CHANGED_RUNS; i++) {
		struct level_changes c;
		struct levels l;

		make_run(&l, n, seconds, at, seconds, share, SPREAD_NS);
		steadiness_find(&c, &l);
		dated += c.count && !c.change[0].is_p99 && (c.count == 1 || c.change[1].is_p99) &&
			 llabs(c.change[0].after_ns - at * NS_PER_S) <= 5 * NS_PER_S;
	}
	print_message("%s, %u s, %+.0f %% after %u s: %u of %u found and dated\n", n->name, seconds, 100 * share, at,
		      dated, CHANGED_RUNS);
	return dated;
}

static void changes_are_found(void **state)
{
	static const struct {
		const struct noise *noise;
		unsigned seconds, at;
		double share;
	} rows[] = {
		{ &independent, 60, 30, 0.05 },	  { &independent, 120, 30, 0.05 }, { &independent, 120, 100, -0.05 },
		{ &independent, 300, 20, 0.05 },  { &correlated, 120, 60, 0.05 },  { &correlated, 300, 75, 0.05 },
		{ &correlated, 300, 200, -0.05 }, { &heavy_tail, 120, 60, 0.05 },  { &heavy_tail, 300, 100, 0.05 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_in_range(count_dated(rows[i].noise, rows[i].seconds, rows[i].at, rows[i].share),
				CHANGED_RUNS * 90 / 100, CHANGED_RUNS);
}

/* A drift of 20 % is not a jump; the line fits better. */
static void trends(void **state)
{
	static const unsigned seconds[] = { 60, 300 };
	unsigned found = 0;

	(void)state;
	for (unsigned k = 0; k < COUNT_OF(seconds); k++)
		for (unsigned i = 0; i < RUNS; i++) {
			struct levels l = { .stretches = 0 };
			struct level_changes c;
			double noise = normal();

			for (unsigned t = 0; t < seconds[k]; t++) {
				const double ns = LEVEL_NS * (1 + 0.2 * t / seconds[k]) +
						  SPREAD_NS * next_of(&correlated, &noise);

				steadiness_add(&l, t * NS_PER_S, 1000, llround(ns), llround(2 * ns));
			}
			steadiness_find(&c, &l);
			found += c.count > 0;
		}
	print_message("%u of %u drifting runs have a change\n", found, 2 * RUNS);
	assert_in_range(found, 0, 2 * RUNS / 100);
}

static struct level_changes changes_of(struct levels *l)
{
	struct level_changes c;

	steadiness_find(&c, l);
	return c;
}

/* Bad input has no finding. */
static void no_finding(void **state)
{
	struct levels l;

	(void)state;
	l = (struct levels){ .stretches = 0 };
	assert_int_equal(changes_of(&l).count, 0);
	make_run(&l, &independent, 19, 9, 19, 1, SPREAD_NS);
	assert_int_equal(changes_of(&l).count, 0);
	make_run(&l, &independent, 100, 50, 100, 1, SPREAD_NS);
	assert_int_equal(changes_of(&l).count, 2);
	l.of_several = true;
	assert_int_equal(changes_of(&l).count, 0);
	/* Too few samples for p99, then for either. */
	l.of_several = false;
	steadiness_add(&l, 100 * NS_PER_S, 99, 40000, 80000);
	assert_int_equal(changes_of(&l).count, 1);
	for (unsigned i = 101; i < 111; i++)
		steadiness_add(&l, i * NS_PER_S, 19, 40000, 80000);
	assert_int_equal(changes_of(&l).count, 1);
	steadiness_add(&l, 111 * NS_PER_S, 0, -1, -1);
	steadiness_add(&l, 112 * NS_PER_S, 0, -1, -1);
	assert_int_equal(changes_of(&l).count, 0);
	/* Certain, and too small to matter. */
	make_run(&l, &independent, 100, 50, 100, 0.019, 0);
	assert_int_equal(changes_of(&l).count, 0);
	make_run(&l, &independent, 100, 50, 100, 0.021, 0);
	assert_int_equal(changes_of(&l).count, 2);
	make_run(&l, &independent, 100, 0, 0, 0, 0);
	assert_int_equal(changes_of(&l).count, 0);
}

static void words(void **state)
{
	struct level_changes c;
	struct levels l;
	char text[192] = "";

	(void)state;
	make_run(&l, &independent, 100, 0, 12, 0.5, 0);
	c = changes_of(&l);
	steadiness_say(text, sizeof(text), &c);
	assert_string_equal(text, "p50 30.00 to 20.00 us after 12 s, p99 60.00 to 40.00 us after 12 s; only the "
			    "beginning differs: --warmup 12000");
	/* Two steps. */
	l = (struct levels){ .stretches = 0 };
	for (unsigned i = 0; i < 120; i++)
		steadiness_add(&l, i * NS_PER_S, 50, 20000 + i / 40 * 2000 + i % 3, 0);
	c = changes_of(&l);
	assert_int_equal(c.count, 2);
	assert_int_equal(c.change[0].after_ns, 40 * NS_PER_S);
	assert_int_equal(c.change[1].after_ns, 80 * NS_PER_S);
	assert_int_equal(c.change[0].now_ns, 22001);
	assert_int_equal(c.settled_ns, 0);
	/* Near the end it is not the beginning. */
	make_run(&l, &independent, 100, 26, 100, 0.5, 0);
	assert_int_equal(changes_of(&l).settled_ns, 0);
}

/* 10,000 seconds are kept in stretches of 32. */
static void long_run(void **state)
{
	struct level_changes c;
	struct levels l;

	(void)state;
	make_run(&l, &independent, 10000, 6400, 10000, 0.05, SPREAD_NS);
	assert_int_equal(l.seconds_each, 32);
	assert_int_equal(l.stretches, 313);
	c = changes_of(&l);
	assert_int_equal(c.count, 2);
	assert_int_equal(c.change[0].after_ns, 6400 * NS_PER_S);
}

/* Changes of the machine and of clocks within a second of a change of level are named with it; others are not. */
static void changes_of_the_machine_at_that_time(void **state)
{
	static struct result_changes machine;
	static struct result_clocks clocks;
	struct level_changes c = { .is_judged = true, .count = 2, .stretch_ns = NS_PER_S };
	char text[512] = "";

	(void)state;
	c.change[0] = (struct level_change){ .after_ns = 60 * NS_PER_S, .before_ns = 20000, .now_ns = 22000 };
	c.change[1] = (struct level_change){ .is_p99 = true, .after_ns = 90 * NS_PER_S, .before_ns = 40000, .now_ns = 50000 };
	machine.count = 3;
	machine.kept[0] = (struct machine_change){ .at_ns = 1061 * NS_PER_S, .text = "interrupt 45 from CPU 1 to 2" };
	machine.kept[1] = (struct machine_change){ .at_ns = 1075 * NS_PER_S, .text = "never" };
	machine.kept[2] = (struct machine_change){ .at_ns = 1059 * NS_PER_S, .text = "CPU 1 from 3600 to 2400 MHz" };
	clocks.steps_kept = 1;
	clocks.step[0] = (struct clock_jump){ .which = CLOCK_OF_SYSTEM, .mono_ns = { 1089 * NS_PER_S, 1090 * NS_PER_S } };
	steadiness_explain(&c, &machine, &clocks, 1000 * NS_PER_S);
	steadiness_say(text, sizeof(text), &c);
	assert_string_equal(text, "p50 20.00 to 22.00 us after 60 s (then: interrupt 45 from CPU 1 to 2; CPU 1 from 3600 to 2400 MHz), "
				  "p99 40.00 to 50.00 us after 90 s (then: CLOCK_REALTIME set)");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(changes_of_the_machine_at_that_time),
		cmocka_unit_test(steady_runs), cmocka_unit_test(changes_are_found),
					    cmocka_unit_test(trends), cmocka_unit_test(no_finding),
					    cmocka_unit_test(words), cmocka_unit_test(long_run) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
