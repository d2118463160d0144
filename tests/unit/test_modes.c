/* build: sources=histogram.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Modes: how many unimodal runs have two, and how well modes that are there are measured. Fixed seeds. */
#include "report/verdict/modes.c"

#include "util.h"

#define RUNS 1000
#define FALSE_MOST (RUNS / 100)
#define LIMIT_NS 100000 /* of --overflow by default */

static struct histogram histogram;

static double uniform(void)
{
	return ((double)(util_random() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Empties it without a new layout, and from the first to the last sample, which takes less time than a run. */
static void clear(void)
{
	struct histogram h = { .width_ns = histogram.width_ns, .limit_ns = histogram.limit_ns,
			       .most_ns = histogram.most_ns, .buckets = histogram.buckets,
			       .log_buckets = histogram.log_buckets, .log_first = histogram.log_first,
			       .low = histogram.low, .carry = histogram.carry };
	const uint32_t from = first_bucket(&histogram), n = bucket_from(&h, histogram.max_ns + 1) - from;

	memset(h.low + from, 0, n);
	memset(h.carry + from, 0, n * sizeof(*h.carry));
	histogram = h;
}

static int set_up(void **state)
{
	void *memory = calloc(1, histogram_layout(&histogram, LIMIT_NS, 1, 0));

	util_random_state = 37;
	histogram_assign(&histogram, memory);
	*state = memory;
	return memory ? 0 : -1;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* The difference of two times that a clock with this granularity makes. */
static void add_sample(double ns, int64_t grain_ns)
{
	const double began = uniform() * (double)grain_ns;
	const int64_t ticks = (int64_t)floor((began + (ns < 0 ? 0 : ns)) / (double)grain_ns);

	histogram_add(&histogram, ticks * grain_ns, 0);
}

/* ---- One mode ---------------------------------------------------------------------------------------------------- */

static double by_normal(double spread)
{
	return 20000 + 5000 * spread * normal();
}

static double by_log_normal(double spread)
{
	return 10000 + 5000 * exp(spread * normal());
}

/* Shape 1.5: no variance. Far beyond the limit of the buckets of 1 ns. */
static double by_pareto(double spread)
{
	return 10000 + 20000 * spread * (pow(uniform(), -1 / 1.5) - 1);
}

static double by_uniform(double spread)
{
	return 20000 + 20000 * spread * uniform();
}

/* Erlang, shape 2. */
static double by_gamma(double spread)
{
	return 10000 - 10000 * spread * log(uniform() * uniform());
}

static const struct {
	const char *name;
	double (*next)(double spread);
} shapes[] = { { "normal", by_normal },
	       { "log-normal", by_log_normal },
	       { "Pareto", by_pareto },
	       { "uniform", by_uniform },
	       { "gamma", by_gamma } };

/* Clocks of 1, 8 and 40 ns; from two ticks of the coarsest to half of the range. */
static unsigned count_false(size_t shape, unsigned samples, unsigned runs)
{
	static const int64_t grains_ns[] = { 1, 8, 40 };
	static const double spreads[] = { 0.002, 0.05, 0.2, 1 };
	unsigned found = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct modes m;

		clear();
		for (unsigned k = 0; k < samples; k++)
			add_sample(shapes[shape].next(spreads[i % COUNT_OF(spreads)]), grains_ns[i % COUNT_OF(grains_ns)]);
		modes_find(&m, &histogram);
		found += m.count != 1;
	}
	return found;
}

static void unimodal_runs(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT_OF(shapes); s++) {
		const unsigned found = count_false(s, 1200, RUNS);

		print_message("%s: %u of %u runs have several modes\n", shapes[s].name, found, RUNS);
		assert_in_range(found, 0, FALSE_MOST);
	}
}

/* As where the load changes slowly. */
static void correlated_samples(void **state)
{
	const double rho = 0.9;
	unsigned found = 0;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		double noise = normal();
		struct modes m;

		clear();
		for (unsigned k = 0; k < 3000; k++) {
			noise = rho * noise + sqrt(1 - rho * rho) * normal();
			add_sample(30000 + 3000 * noise, 1);
		}
		modes_find(&m, &histogram);
		found += m.count != 1;
	}
	print_message("correlated: %u of 300 runs have several modes\n", found);
	assert_in_range(found, 0, 3);
}

/* ---- Modes that are there ---------------------------------------------------------------------------------------- */

#define SAMPLES 20000
#define BASE_NS 41200.0
#define APART_NS 50000.0

/* A mode with a tail to the right. */
static double one_mode(double at_ns, double wide_ns)
{
	return at_ns + wide_ns * (0.2 * normal() - 0.5 * log(uniform()));
}

static void assert_near(double value, double wanted, double share)
{
	if (fabs(value - wanted) > share * wanted)
		fail_msg("%.1f is not within %.0f %% of %.1f", value, 100 * share, wanted);
}

static void assert_share(const struct modes *m, unsigned i, double percent)
{
	if (fabs(modes_percent(m, &m->mode[i]) - percent) > 2)
		fail_msg("mode %u has %.2f %%, not %.0f %%", i, modes_percent(m, &m->mode[i]), percent);
}

static void find_two(double share, double wide_ns, int64_t grain_ns)
{
	struct modes m;

	clear();
	for (unsigned k = 0; k < SAMPLES; k++)
		add_sample(one_mode(uniform() < share ? BASE_NS : BASE_NS + APART_NS, wide_ns), grain_ns);
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.kept, 2);
	assert_share(&m, 0, 100 * share);
	assert_share(&m, 1, 100 - 100 * share);
	assert_near((double)m.distance_ns, APART_NS, 0.01);
	assert_near((double)m.mode[0].value_ns, BASE_NS, 0.1);
	assert_int_equal(m.mode[0].samples + m.mode[1].samples, SAMPLES);
}

static void two_modes(void **state)
{
	static const double shares[] = { 0.9, 0.5, 0.1 }, widths_ns[] = { 10, 300, 3000 };
	static const int64_t grains_ns[] = { 1, 8, 40 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 3; k++)
			for (unsigned g = 0; g < 3; g++)
				for (unsigned run = 0; run < 4; run++)
					find_two(shares[i], widths_ns[k], grains_ns[g]);
}

/* Some teeth are above the limit of the buckets of 1 ns. */
static void a_comb(void **state)
{
	static const double widths_ns[] = { 10, 2000 };

	(void)state;
	for (unsigned teeth = 3; teeth <= 12; teeth += 3)
		for (unsigned i = 0; i < COUNT_OF(widths_ns); i++) {
			struct modes m;

			clear();
			for (unsigned k = 0; k < SAMPLES; k++)
				add_sample(one_mode(BASE_NS + APART_NS * (double)util_below(teeth), widths_ns[i]), 1);
			modes_find(&m, &histogram);
			assert_int_equal(m.count, teeth);
			assert_int_equal(m.kept, teeth < MODES_KEPT ? teeth : MODES_KEPT);
			assert_near((double)m.distance_ns, APART_NS, 0.01);
			for (unsigned k = 0; k < m.kept; k++)
				assert_share(&m, k, 100.0 / teeth);
		}
}

/* A timer does not make distances without a common divisor. */
static void modes_without_a_distance(void **state)
{
	static const double at_ns[] = { 20000, 43000, 80000 };
	struct modes m;

	(void)state;
	clear();
	for (unsigned k = 0; k < SAMPLES; k++)
		add_sample(one_mode(at_ns[k % 3], 1000), 1);
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 3);
	assert_int_equal(m.distance_ns, 0);
}

/* Steps of 80 ns with a scatter of 1 ns, as a clock makes whose rate is adjusted, and a clock of 1 us. */
static void coarse_clocks(void **state)
{
	static const int64_t ticks_ns[] = { 80, 333, 1000 };

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(ticks_ns); i++)
		for (unsigned run = 0; run < 10; run++) {
			struct modes m;

			clear();
			for (unsigned k = 0; k < SAMPLES; k++) {
				const double ns = BASE_NS + (run % 2 ? 300 : 3000) * normal();

				histogram_add(&histogram, llround(ns / (double)ticks_ns[i]) * ticks_ns[i] +
							  (int64_t)util_below(3) - 1, 0);
			}
			modes_find(&m, &histogram);
			assert_int_equal(m.count, 1);
		}
}

static void too_few_samples(void **state)
{
	struct modes m;

	(void)state;
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 0);
	for (unsigned k = 0; k < MODES_LEAST_SAMPLES - 1; k++)
		add_sample(k % 2 ? BASE_NS : BASE_NS + APART_NS, 1);
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 0);
	add_sample(BASE_NS, 1);
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.samples, MODES_LEAST_SAMPLES);
}

/* All samples have one value. */
static void a_single_value(void **state)
{
	struct modes m;

	(void)state;
	for (unsigned k = 0; k < 70000; k++)
		add_sample(BASE_NS, 1);
	modes_find(&m, &histogram);
	assert_int_equal(m.count, 1);
	assert_int_equal(m.distance_ns, 0);
	assert_int_equal(m.mode[0].value_ns, BASE_NS);
	assert_int_equal(m.mode[0].samples, 70000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(unimodal_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(correlated_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_modes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_comb, set_up, tear_down),
		cmocka_unit_test_setup_teardown(modes_without_a_distance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(coarse_clocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(too_few_samples, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_single_value, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
