/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources=host/clock/clock_budget.c,host/clock/clock_packets.c,host/clock/clock.c,host/clock/clock_seqlock.c,host/clock/clock_fault.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates and their bounds, steps and standstills between readings, with simulated clocks. */
#include "host/clock/clock_track.c"
#include "host/clock/clock_compare.c"

#include "util.h"
#include "fake_clocks.h"

/* ---- Rates and bounds ------------------------------------------------------------------------------------------- */

static const int64_t drifts_ppb[] = { 0, 50, -50, 50000, -50000, 500000, -500000 };

/* The four methods, with and without CLOCK_MONOTONIC_RAW, each with every drift: all values stay within the bound. */
static void drift_by_every_method(void **state)
{
	for (int m = 0; m < CLOCK_METHODS; m++) {
		for (size_t d = 0; d < COUNT_OF(drifts_ppb); d++) {
			made_clocks(state);
			for (int i = 0; i < m; i++)
				fake.ioctl_error[i] = EOPNOTSUPP;
			fake.no_raw = d % 2;
			fake.clock[PHC].ppb = drifts_ppb[d];
			step(PHC, (int64_t)util_below(2000000) - 1000000);
			fake.spike_every = (int64_t)util_below(3) * 4;
			fake.phc_tick_ns = 1 << util_below(5);
			fake.changes = 0;
			open_made();
			assert_int_equal(c.method, m);
			measure();
			run_for(20 * S, true);
			assert_no_steps();
			pass(1);
			check_rate(CLOCK_OF_NIC, (double)drifts_ppb[d]);
			check_rate(CLOCK_OF_SYSTEM, 0);
			assert_int_equal(clock_scale(&c), CLOCK_SCALE_UTC);
			assert_int_equal(clock_steering(&c, CLOCK_OF_NIC), CLOCK_NOT_STEERED);
			clock_close(&c);
			assert_int_equal(fake.opened, fake.closed);
		}
	}
}

/* Two readings must suffice: a host with a single CPU takes no more. */
static void two_readings(void **state)
{
	(void)state;
	for (size_t d = 0; d < COUNT_OF(drifts_ppb); d++) {
		made_clocks(state);
		fake.clock[PHC].ppb = drifts_ppb[d];
		open_made();
		measure();
		int64_t began_ns = fake.now_ns;

		while (fake.now_ns < began_ns + 600 * S) {
			pass(10 * S);
			ask(false);
		}
		assert_int_equal(answered, 0); /* all too old */
		measure();
		assert_no_steps();
		check_rate(CLOCK_OF_NIC, (double)drifts_ppb[d]);
		struct clock_rate r = clock_drift(&c, CLOCK_OF_NIC);

		assert_true(r.over_ns >= 600 * S && r.bound_ppb < 20);
		assert_int_equal(r.known, d > 0);
	}
}

/* A servo on the PHC, a daemon on the system clock, its pending corrections: all values stay within the bound. */
static void steered_clocks(void **state)
{
	(void)state;
	for (int round = 0; round < 30; round++) {
		made_clocks(state);
		fake.clock[PHC].ppb = (int64_t)util_below(200000) - 100000;
		fake.no_raw = round % 2;
		fake.no_adjtimex = round % 7 == 6;
		fake.no_phc_frequency = round % 5 == 4;
		open_made();
		measure();
		for (int i = 0; i < 20; i++) {
			run_for((int64_t)util_below(2 * S), false);
			pass((int64_t)util_below(100000000));
			if (!fake.no_phc_frequency)
				turn(PHC, (int64_t)util_below(200000) - 100000);
			if (util_below(2))
				turn(REAL, (int64_t)util_below(1000000) - 500000);
		}
		run_for(S, false);
		assert_no_steps();
		assert_true(answered > asked / 2);
		assert_int_equal(clock_steering(&c, CLOCK_OF_NIC),
				 fake.no_phc_frequency ? CLOCK_STEERING_UNKNOWN : CLOCK_STEERED);
		assert_int_equal(clock_steering(&c, CLOCK_OF_SYSTEM),
				 fake.no_adjtimex ? CLOCK_STEERING_UNKNOWN : CLOCK_STEERED);
	}
}

static int64_t slew_at;

static void slew_begins(void)
{
	fake.clock[REAL].ppb += 500000;
	fake.adjtime_us = 1000;
	fake.changes++;
	slew_at = fake.now_ns;
}

static void slew_ends(void)
{
	fake.clock[REAL].ppb -= 500000;
	fake.adjtime_us = 0;
	fake.changes++;
}

/* adjtime(3): the frequency setting does not change, and the rest of the offset is reported. */
static void a_correction_is_worked_off(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(3 * S, true);
	for (int i = 0; i < 20; i++) {
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(S);
		fake.event = slew_begins;
		run_for(S + S / 2, false);
		fake.event_at_ns = slew_at + 2 * S;
		fake.event = slew_ends;
		run_for(2 * S, false);
	}
	assert_no_steps();
}

/* The kernel's own loop: it corrects a share of the rest each second, so the rate changes every second without a
 * frequency setting. */
static void the_kernels_loop(void **state)
{
	(void)state;
	fake.constant = 2;
	open_made();
	measure();
	run_for(S, true);
	fake.pll_offset_ns = 4000000;
	for (int second = 0; second < 30; second++) {
		int64_t stage_ns = fake.pll_offset_ns >> (2 + fake.constant);

		fake.clock[REAL].ppb = stage_ns;
		fake.changes += second == 0;
		run_for(S, second > 0);
		fake.pll_offset_ns -= stage_ns;
	}
	assert_no_steps();
	assert_true(clock_last(&c)->frequency[CLOCK_OF_SYSTEM].slew_ppb > 0);
}

/* Temperature drift of a quartz: its rate changes without any setting. */
static void a_rate_that_wanders(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 30000;
	open_made();
	measure();
	for (int i = 0; i < 600; i++) {
		fake.clock[PHC].ppb = 30000 + (int64_t)util_below(900) - 450;
		run_for(S / 10, true);
	}
	assert_no_steps();
}

/* More than a quartz does, less than a step makes, and without a frequency setting: the next reading shows it. */
static void a_rate_that_changes_by_itself(void **state)
{
	(void)state;
	open_made();
	measure();
	for (int i = 0; i < 20; i++) {
		run_for(2 * S, false);
		pass((int64_t)util_below(S / 10));
		fake.clock[PHC].ppb = i % 2 ? 0 : 20000;
		fake.changes++;
	}
	assert_no_steps();
}

/* A segment that begins or ends with a bracket of 1 ms: the neighbouring readings are used. */
static void a_bad_bracket_at_either_end(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 20000;
	open_made();
	fake.ioctl_error[CLOCK_PRECISE] = EBUSY;
	fake.cost_ns = 2000000;
	measure();
	fake.cost_ns = 2000;
	run_for(10 * S, true);
	fake.cost_ns = 2000000;
	measure();
	check_rate(CLOCK_OF_NIC, 20000);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).bound_ppb < 2000);
	/* A later and shorter segment does not replace it. */
	fake.cost_ns = 2000;
	step(PHC, NS_PER_MS);
	run_for(S, false);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).over_ns > 6 * S);
	check_rate(CLOCK_OF_NIC, 20000);
}

/* Days, with an occasional slow reading. */
static void days(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 12345;
	fake.clock[REAL].ppb = fake.frequency_ppb[REAL] = -7000;
	fake.spike_every = 3;
	open_made();
	for (int64_t end_ns = fake.now_ns + 5 * 86400 * S; fake.now_ns < end_ns;) {
		measure();
		pass(10 * S + (int64_t)util_below(S));
		fake.cost_ns = 500 + (int64_t)util_below(5000);
	}
	measure();
	assert_no_steps();
	check_rate(CLOCK_OF_NIC, 12345);
	check_rate(CLOCK_OF_SYSTEM, -7000);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).bound_ppb < 0.1);
	assert_int_equal(clock_scale(&c), CLOCK_SCALE_OTHER); /* 19 ppm for five days */
	assert_true(c.readings > 30000);
}

/* Size of a bound: on a quiet host little more than the brackets. */
static void bounds_are_narrow(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	fake.clock[PHC].ppb = 50000;
	open_made();
	measure();
	run_for(5 * S, true);
	pass(100 * NS_PER_MS);
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	print_message("extrapolated by 0.1 s: +- %lld ns\n", (long long)bound_ns);
	assert_true(bound_ns < 2 * fake.cost_ns);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

static int step_which;
static int64_t step_by_ns;
static int64_t stepped_at_ns;

static void step_now(void)
{
	step(step_which, step_by_ns);
	stepped_at_ns = shows(RAW);
}

static void check_step(enum clock_which which, int64_t by_ns)
{
	const struct clock_jump *j = &c.step[c.steps_kept - 1];

	assert_true(c.steps_kept > 0);
	assert_int_equal(j->which, which);
	if (distance(j->size_ns, by_ns) > j->bound_ns)
		fail_msg("a step of %lld +- %lld is not one of %lld", (long long)j->size_ns, (long long)j->bound_ns,
			 (long long)by_ns);
	if (stepped_at_ns < j->mono_ns[0] || stepped_at_ns > j->mono_ns[1] || j->mono_ns[1] - j->mono_ns[0] > S / 3)
		fail_msg("%lld is not between %lld and %lld", (long long)stepped_at_ns, (long long)j->mono_ns[0],
			 (long long)j->mono_ns[1]);
	assert_true(j->mark[1] >= j->mark[0]);
	assert_true(excess(&c.track[which].largest) > 0);
}

/* Steps of either clock, of many sizes, between readings and within them; igb's counter wrap is included. */
static void steps_of_each_clock(void **state)
{
	static const int64_t sizes_ns[] = { 20000, -20000, 1000000, -1000000, S, -S, 37 * S, -37 * S, 1LL << 41,
					    -(1LL << 41), 400000 * S, -1780000000 * S };

	for (int which = REAL; which <= PHC; which++) {
		for (size_t i = 0; i < 2 * COUNT_OF(sizes_ns); i++) {
			enum clock_which w = which == PHC ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM;

			made_clocks(state);
			fake.no_raw = i % 2;
			fake.clock[PHC].ppb = drifts_ppb[util_below(5)];
			open_made();
			measure();
			run_for(3 * S, true);
			step_which = which;
			step_by_ns = sizes_ns[i / 2];
			fake.event_at_ns = fake.now_ns + S / 2 + (int64_t)util_below(S / 10);
			fake.event = step_now;
			run_for(S, false);
			assert_int_equal(counter_get(&c.track[w].steps), 1);
			assert_int_equal(counter_get(&c.track[!w].steps), 0);
			check_step(w, step_by_ns);
			run_for(2 * S, true);
			assert_int_equal(c.steps_kept, 1);
			check_rate(CLOCK_OF_NIC, (double)fake.clock[PHC].ppb);
			check_rate(CLOCK_OF_SYSTEM, 0);
		}
	}
}

/* A step between the calls of a reading: the reading is repeated, and the step is found. */
static void a_step_within_a_reading(void **state)
{
	int seen = 0;

	for (int i = 0; i < 200; i++) {
		made_clocks(state);
		fake.no_raw = i % 2;
		fake.ioctl_error[CLOCK_PRECISE] = i % 8 < 4 ? EOPNOTSUPP : 0;
		open_made();
		measure();
		run_for(S, true);
		step_which = i % 4 < 2 ? REAL : PHC;
		step_by_ns = util_below(2) ? 3 * NS_PER_MS : -3 * NS_PER_MS;
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(4000);
		fake.event = step_now;
		measure();
		if (fake.event)
			continue; /* the reading was quicker */
		changes_known = fake.changes - 1; /* it may have been in the reading or after it */
		ask(false);
		seen += (int)c.steps_kept;
		pass(S / 10);
		measure();
		pass(S / 10);
		measure();
		ask(true);
		assert_int_equal(c.steps_kept, 1);
		check_step(i % 4 < 2 ? CLOCK_OF_SYSTEM : CLOCK_OF_NIC, step_by_ns);
	}
	assert_true(seen > 20);
}

/* The reading right after the step has a bracket that could hide it; the next reading finds the step. */
static void a_step_behind_a_long_bracket(void **state)
{
	int hidden = 0;

	for (int i = 0; i < 20; i++) {
		made_clocks(state);
		fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
		fake.clock[PHC].ppb = -40000;
		open_made();
		measure();
		run_for(3 * S, true);
		step_which = PHC;
		step_by_ns = i % 2 ? 60000 : -60000;
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(S / 20);
		fake.event = step_now;
		for (int n = 0; n < 4; n++) {
			pass(S / 40);
			ask(false);
		}
		fake.cost_ns = 8000000;
		measure();
		fake.cost_ns = 2000;
		hidden += c.steps_kept == 0;
		run_for(S, false);
		assert_int_equal(c.steps_kept, 1);
		check_step(CLOCK_OF_NIC, step_by_ns);
		run_for(3 * S, true);
		assert_int_equal(c.steps_kept, 1);
		check_rate(CLOCK_OF_NIC, -40000);
	}
	assert_true(hidden > 5);
}

/* Steps below the effect of a change of rate are not reported, but the bounds include them. */
static void small_steps(void **state)
{
	for (int i = 0; i < 20; i++) {
		made_clocks(state);
		open_made();
		measure();
		run_for(3 * S, true);
		pass((int64_t)util_below(S / 10));
		step(i % 4 < 2 ? PHC : REAL, (i % 2 ? 1 : -1) * (1000 + (int64_t)util_below(3500)));
		run_for(5 * S, false);
		assert_no_steps();
	}
}

/* Times after a step are not converted until two readings agree, nor times in between. */
static void nothing_is_said_around_a_step(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	measure();
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	run_for(S, true);
	pass(S / 20);
	step(PHC, NS_PER_MS);
	pass(S / 20);
	measure();
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	pass(S / 10);
	measure();
	ask(true);
	/* Times before the step are never converted. */
	assert_true(clock_to_phc(&c, shows(REAL) - S / 20, &said_ns, &bound_ns));
	assert_false(clock_to_phc(&c, shows(REAL) - S / 10 - S / 50, &said_ns, &bound_ns));
}

static void more_steps_than_are_kept(void **state)
{
	(void)state;
	open_made();
	measure();
	for (int i = 0; i < CLOCK_STEPS_KEPT + 10; i++) {
		pass(S / 10);
		step(PHC, i % 2 ? NS_PER_MS : -NS_PER_MS);
		measure();
	}
	assert_int_equal(c.steps_kept, CLOCK_STEPS_KEPT);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), CLOCK_STEPS_KEPT + 10);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_SYSTEM].steps), 0);
}

/* Between the brackets of a reading the clock falls behind by more than their bounds. */
static void a_clock_that_stands_still_and_is_read_slowly(void **state)
{
	(void)state;
	fake.cost_ns = 200000;
	fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
	open_made();
	measure();
	run_for(2 * S, false);
	fake.clock[PHC].stands = true;
	fake.changes++;
	for (int i = 0; i < 10; i++) {
		pass(S / 10);
		measure();
	}
	assert_int_equal(c.failures, 0);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	assert_true(c.track[CLOCK_OF_NIC].stood_ns > S / 2);
}

static void a_clock_that_stands_still(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	fake.clock[PHC].ppb = 30000;
	open_made();
	measure();
	run_for(3 * S, true);
	fake.clock[PHC].stands = true;
	fake.changes++;
	pass(S / 10);
	for (int i = 0; i < 10; i++) {
		measure();
		assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
		pass(S / 10);
	}
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	assert_true(c.track[CLOCK_OF_NIC].standing);
	assert_true(distance(c.track[CLOCK_OF_NIC].stood_ns, S - S / 10) < S / 100);
	fake.clock[PHC].stands = false;
	fake.changes++;
	pass(S / 20);
	measure();
	pass(S / 10);
	run_for(3 * S, false);
	assert_false(c.track[CLOCK_OF_NIC].standing);
	ask(true);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	/* At the next reading the stopped clock was behind, as after a step, but there was no step. */
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 0);
	check_rate(CLOCK_OF_NIC, 30000);
}

/* A clock with a tick of 1 ms does not stand still if two reads lie within a tick. */
static void a_coarse_clock(void **state)
{
	(void)state;
	fake.phc_tick_ns = NS_PER_MS;
	fake.cost_ns = 200000; /* or the tick would not show */
	open_made();
	for (int i = 0; i < 50; i++) {
		measure();
		measure();
		pass(S / 20);
		ask(true);
	}
	measure();
	assert_no_steps();
}

/* The largest step exceeds its bound; a larger value within a long bracket does not count. */
static void the_largest_jump(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(3 * S, true);
	fake.cost_ns = 2000000;
	pass(S / 10);
	measure();
	pass(S / 10);
	measure();
	fake.cost_ns = 2000;
	pass(S / 10);
	measure();
	assert_no_steps();
	assert_true(excess(&c.track[CLOCK_OF_NIC].largest) <= 0);
	/* The state that such a reading may leave. */
	c.track[CLOCK_OF_NIC].largest.size_ns = 400000;
	c.track[CLOCK_OF_NIC].largest.bound_ns = 500000;
	run_for(3 * S, true);
	step(PHC, -70000);
	run_for(S, false);
	assert_true(distance(c.track[CLOCK_OF_NIC].largest.size_ns, -70000) < 15000);
}

/* A gap longer than the history: the next value is not a step between two readings. */
static void a_clock_that_was_away_for_long(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(S, true);
	fake.phc_error = ENODEV;
	for (int i = 0; i < CLOCK_HISTORY + 10; i++) {
		assert_int_equal(clock_measure(&c, 0), -ENODEV);
		pass(S / 10);
	}
	step(PHC, S);
	fake.phc_error = 0;
	measure();
	pass(S / 10);
	measure();
	ask(true);
	assert_int_equal(c.steps_kept, 0);
	run_for(S, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(drift_by_every_method),
		MADE_TEST(two_readings),
		MADE_TEST(steered_clocks),
		MADE_TEST(a_correction_is_worked_off),
		MADE_TEST(the_kernels_loop),
		MADE_TEST(a_rate_that_wanders),
		MADE_TEST(a_rate_that_changes_by_itself),
		MADE_TEST(a_bad_bracket_at_either_end),
		MADE_TEST(days),
		MADE_TEST(bounds_are_narrow),
		MADE_TEST(steps_of_each_clock),
		MADE_TEST(a_step_within_a_reading),
		MADE_TEST(a_step_behind_a_long_bracket),
		MADE_TEST(small_steps),
		MADE_TEST(nothing_is_said_around_a_step),
		MADE_TEST(more_steps_than_are_kept),
		MADE_TEST(a_clock_that_stands_still_and_is_read_slowly),
		MADE_TEST(a_clock_that_stands_still),
		MADE_TEST(a_coarse_clock),
		MADE_TEST(the_largest_jump),
		MADE_TEST(a_clock_that_was_away_for_long),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
