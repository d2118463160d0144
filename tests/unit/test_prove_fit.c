/* build: sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The slope of a time against the octets, and the verdict on timestamps. */
#include "analyse/prove_fit.c"

#include "util.h"

#define SIZES 9
#define GIGABIT 1000 /* Mbit/s: 8 ns for an octet */

static struct prove_point point[2 * SIZES];
static uint64_t seed;

/* Two rounds of sizes, with a noise of up to so many ns. */
static void make_points(double ns_per_octet, int64_t noise_ns)
{
	for (int i = 0; i < 2 * SIZES; i++) {
		point[i].bytes = 112 + 160 * (i % SIZES);
		point[i].ns = 5000 + (int64_t)(ns_per_octet * (double)point[i].bytes);
		if (noise_ns)
			point[i].ns += (int64_t)(random_next(&seed) % (uint64_t)(2 * noise_ns + 1)) - noise_ns;
	}
}

static struct prove_slope slope_of(double ns_per_octet, int64_t noise_ns)
{
	seed = 11;
	make_points(ns_per_octet, noise_ns);
	return prove_fit(point, 2 * SIZES);
}

static void assert_near(double got, double want, double within)
{
	if (fabs(got - want) > within)
		fail_msg("%f is not within %f of %f", got, within, want);
}

static void each_slope_is_found(void **state)
{
	static const double slopes[] = { -2, 0, 0.08, 0.8, 8, 16, 80 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(slopes); i++) {
		struct prove_slope s = slope_of(slopes[i], 0);

		assert_true(s.known);
		assert_near(s.ns_per_octet, slopes[i], 0.002); /* points are whole nanoseconds */
		assert_near(s.bound, 0, 0.01);
		s = slope_of(slopes[i], 50);
		assert_near(s.ns_per_octet, slopes[i], s.bound);
		assert_in_range(s.bound * 1000, 1, 100);
	}
}

/* One size of nine, in both rounds, and one more. */
static void late_packets_do_not_move_the_slope(void **state)
{
	(void)state;
	make_points(16, 0);
	point[3].ns += NS_PER_MS;
	point[SIZES + 3].ns += NS_PER_MS;
	point[8].ns += 40000;
	const struct prove_slope s = prove_fit(point, 2 * SIZES);

	assert_near(s.ns_per_octet, 16, 0.01);
}

static void three_sizes_are_needed(void **state)
{
	(void)state;
	make_points(16, 0);
	assert_false(prove_fit(point, 0).known);
	assert_false(prove_fit(point, 1).known);
	assert_false(prove_fit(point, 2).known);
	assert_true(prove_fit(point, 3).known);
	for (int i = 0; i < 2 * SIZES; i++)
		point[i].bytes = 112 + 160 * (i % 2);
	assert_false(prove_fit(point, 2 * SIZES).known);
}

static void judged(double network, double response, int64_t mbps, enum prove_verdict want, const char *text)
{
	const struct prove_slope n = { true, network, 0.01 }, r = { true, response, 0.01 };
	char got[300];

	assert_int_equal(prove_judge(&n, &r, mbps, got, sizeof(got)), want);
	if (!strstr(got, text))
		fail_msg("'%s' is not in: %s", text, got);
}

static void whole_serialisations_are_of_the_wire(void **state)
{
	(void)state;
	judged(16.1, 8, GIGABIT, PROVE_WIRE,
	       "timestamps are of the wire: slope 16.10 ns/octet, 16.00 expected (2 serialisations of 8.00 at 1000 Mbit/s)");
	judged(8, 0, GIGABIT, PROVE_WIRE, "(1 serialisation of 8.00");
	judged(64, 0, GIGABIT, PROVE_WIRE, "64.00 expected");
	judged(0.81, 0.8, 10000, PROVE_WIRE, "slope 0.81 ns/octet, 0.80 expected");
	judged(16.79, 8, GIGABIT, PROVE_WIRE, "16.00 expected");
}

static void other_slopes_are_not_of_the_wire(void **state)
{
	(void)state;
	judged(16.81, 8, GIGABIT, PROVE_NOT_WIRE, "not of the wire, or a link on the path has another speed: slope 16.81 ns/octet");
	judged(10, 8, GIGABIT, PROVE_NOT_WIRE, "a multiple of 8.00 expected");
	judged(-8, 8, GIGABIT, PROVE_NOT_WIRE, "slope -8.00");
	judged(72, 8, GIGABIT, PROVE_NOT_WIRE, "slope 72.00"); /* nine: any slope is close to some number of them */
}

/* On a cable the response contains the rest of the probe. */
static void without_a_switch_the_response_decides(void **state)
{
	const struct prove_slope none = { .known = false }, zero = { true, 0, 0.01 }, wide = { true, 7, 1 };
	char text[300];

	(void)state;
	judged(0.1, 8.2, GIGABIT, PROVE_WIRE, "response slope 8.20 ns/octet, at least 8.00 expected");
	judged(0.1, 30, GIGABIT, PROVE_WIRE, "no switch that stores frames");
	judged(0.1, 1, GIGABIT, PROVE_NOT_WIRE, "taken after the whole frame");
	assert_int_equal(prove_judge(&zero, &none, GIGABIT, text, sizeof(text)), PROVE_UNKNOWN);
	assert_int_equal(prove_judge(&zero, &wide, GIGABIT, text, sizeof(text)), PROVE_UNKNOWN);
	assert_string_equal(text, "not known: network slope 0, and response slope 7.00 ns/octet (+-1.00) is too uncertain against 8.00");
}

static void what_is_not_known_is_not_judged(void **state)
{
	const struct prove_slope none = { .known = false }, good = { true, 16, 0.01 }, wide = { true, 16, 0.81 },
				 limit = { true, 16, 0.8 }, between = { true, 16.9, 0.5 };
	char text[300];

	(void)state;
	assert_int_equal(prove_judge(&none, &good, GIGABIT, text, sizeof(text)), PROVE_UNKNOWN);
	assert_string_equal(text, "not known: the network time is not known for three sizes");
	assert_int_equal(prove_judge(&good, &good, 0, text, sizeof(text)), PROVE_UNKNOWN);
	assert_string_equal(text, "not known: the driver reports no link speed");
	assert_int_equal(prove_judge(&good, &good, -1, text, sizeof(text)), PROVE_UNKNOWN);
	assert_int_equal(prove_judge(&wide, &good, GIGABIT, text, sizeof(text)), PROVE_UNKNOWN);
	assert_string_equal(text, "not known: slope 16.00 ns/octet (+-0.81) is too uncertain against 8.00 at 1000 Mbit/s");
	assert_int_equal(prove_judge(&between, &good, GIGABIT, text, sizeof(text)), PROVE_UNKNOWN);
	assert_int_equal(prove_judge(&limit, &good, GIGABIT, text, sizeof(text)), PROVE_WIRE);
}

#define RUNS 200

/* Runs of a NIC with this slope in serialisations, by verdict. */
static void judge_many(double slope, int64_t speed_mbps, int64_t noise_ns, unsigned count[PROVE_NOT_WIRE + 1])
{
	const double octet_ns = 8000.0 / (double)speed_mbps;
	const struct prove_slope response = { true, 2 * octet_ns, 0 };

	memset(count, 0, (PROVE_NOT_WIRE + 1) * sizeof(count[0]));
	for (int i = 0; i < RUNS; i++) {
		char text[300];

		make_points(slope * octet_ns, noise_ns);
		const struct prove_slope network = prove_fit(point, 2 * SIZES);

		count[prove_judge(&network, &response, speed_mbps, text, sizeof(text))]++;
	}
}

/* From a noise that decides nothing to none. */
static void no_noise_makes_a_false_verdict(void **state)
{
	static const int64_t speeds[] = { 1000, 10000, 25000 };
	static const double good[] = { 0, 1, 2 }, bad[] = { 1.25, 2.375, 2.5 };
	unsigned count[PROVE_NOT_WIRE + 1];

	(void)state;
	seed = 11;
	for (size_t s = 0; s < COUNT_OF(speeds); s++)
		for (int64_t noise_ns = 4096; noise_ns; noise_ns /= 2)
			for (size_t i = 0; i < COUNT_OF(good); i++) {
				const bool quiet = 150 * speeds[s] * noise_ns < 80000000;

				judge_many(good[i], speeds[s], noise_ns, count);
				assert_int_equal(count[PROVE_NOT_WIRE], 0);
				assert_true(!quiet || count[PROVE_WIRE] == RUNS);
				judge_many(bad[i], speeds[s], noise_ns, count);
				assert_in_range(count[PROVE_WIRE], 0, 1);
				assert_true(!quiet || count[PROVE_NOT_WIRE] == RUNS);
			}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_slope_is_found),
		cmocka_unit_test(late_packets_do_not_move_the_slope),
		cmocka_unit_test(three_sizes_are_needed),
		cmocka_unit_test(whole_serialisations_are_of_the_wire),
		cmocka_unit_test(other_slopes_are_not_of_the_wire),
		cmocka_unit_test(without_a_switch_the_response_decides),
		cmocka_unit_test(what_is_not_known_is_not_judged),
		cmocka_unit_test(no_noise_makes_a_false_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
