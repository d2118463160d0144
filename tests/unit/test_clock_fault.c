/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources=host/clock/clock_budget.c,host/clock/clock_packets.c,host/clock/clock.c,host/clock/clock_seqlock.c,host/clock/clock_track.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Standstills and frequency errors of a simulated PHC: reported with their duration, and not as steps. */
#include "host/clock/clock_fault.c"
#include "host/clock/clock_compare.c"

#include "util.h"
#include "fake_clocks.h"

static struct clock_track *const nic = &c.track[CLOCK_OF_NIC];

/* The start of a run: ten readings at shorter intervals. */
static void begin_run(void)
{
	open_made();
	measure();
	for (int i = 0; i < 10; i++) {
		pass(10 * NS_PER_MS);
		measure();
	}
}

static int64_t change_at_ns; /* of CLOCK_MONOTONIC */
static int64_t next_ppb;

static void change_rate(void)
{
	fake.clock[PHC].ppb = next_ppb;
	fake.changes++;
	change_at_ns = shows(RAW);
}

/* The change may come during a reading, or too shortly before a reading to be found there: checks nothing. */
static void change_rate_to(int64_t ppb)
{
	next_ppb = ppb;
	fake.event = change_rate;
	fake.event_at_ns = fake.now_ns + (int64_t)util_below(S / 5);
	for (int i = 0; i < 5; i++) {
		pass(S / 10 + (int64_t)util_below(S / 100));
		measure();
	}
	assert_null(fake.event);
}

static void assert_between(const char *what, int64_t ns, const int64_t between_ns[2])
{
	if (ns < between_ns[0] || ns > between_ns[1])
		fail_msg("%s: %lld is not in %lld .. %lld", what, (long long)ns, (long long)between_ns[0],
			 (long long)between_ns[1]);
}

static void assert_no_step(void)
{
	if (counter_get(&nic->steps) || c.steps_kept)
		fail_msg("%llu steps, the first by %lld +- %lld", (unsigned long long)counter_get(&nic->steps),
			 (long long)c.step[0].size_ns, (long long)c.step[0].bound_ns);
	assert_true(!nic->has_largest || excess(&nic->largest) <= 0);
}

static void assert_fault(uint32_t i, double ppb)
{
	const struct clock_rate *r = &c.fault[i].rate;

	assert_true(i < c.faults_kept);
	assert_false(c.fault[i].stands);
	if (!r->known || r->ppb - ppb > r->bound_ppb || ppb - r->ppb > r->bound_ppb)
		fail_msg("spell %u: %.0f +- %.0f is not %.0f", i, r->ppb, r->bound_ppb, ppb);
}

/* ---- Rates ------------------------------------------------------------------------------------------------------- */

static const int64_t wrong_ppb[] = { 1200000, -1200000, 5000000, -5000000, 50000000, -50000000, -200000000, 200000000,
				     -500000000, 500000000, 1000000000 };

/* Two seconds suffice, by every method. */
static void a_wrong_rate_from_the_start(void **state)
{
	for (size_t i = 0; i < 4 * COUNT_OF(wrong_ppb) * 2; i++) {
		int64_t ppb = wrong_ppb[i % COUNT_OF(wrong_ppb)], phc_ns, bound_ns;
		const int methods = (int)(i / COUNT_OF(wrong_ppb) % 4);

		made_clocks(state);
		for (int m = 0; m < methods; m++)
			fake.ioctl_error[m] = EOPNOTSUPP;
		fake.no_raw = i >= 4 * COUNT_OF(wrong_ppb);
		fake.clock[PHC].ppb = ppb;
		begin_run();
		run_for(2 * S, false);
		assert_no_step();
		assert_int_equal(c.failures, 0);
		assert_int_equal(counter_get(&nic->standstills), 0);
		assert_int_equal(counter_get(&nic->wrong_rates), 1);
		assert_fault(0, (double)ppb);
		check_rate(CLOCK_OF_NIC, (double)ppb);
		assert_true(clock_drift(&c, CLOCK_OF_NIC).known);
		assert_false(c.fault[0].over);
		assert_false(clock_to_phc(&c, shows(REAL), &phc_ns, &bound_ns));
		assert_true(clock_doubts(&c) > 0);
	}
}

/* Three readings on a host with a single CPU: right before the run, and after it. */
static void a_wrong_rate_and_few_readings(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = -200000000;
	open_made();
	measure();
	pass(5 * NS_PER_MS);
	measure();
	pass(10 * S);
	measure();
	assert_no_step();
	assert_int_equal(counter_get(&nic->wrong_rates), 1);
	check_rate(CLOCK_OF_NIC, -200000000);
}

/* Rates of real clocks, and changes of rate by ptp4l. */
static void rates_that_are_not_wrong(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		made_clocks(state);
		fake.no_phc_frequency = i % 4 == 3;
		fake.clock[PHC].ppb = fake.no_phc_frequency ? (int64_t)util_below(1900000) - 950000 :
							 (int64_t)util_below(200000) - 100000;
		begin_run();
		run_for(S, false);
		for (int turns = 0; turns < 10 && !fake.no_phc_frequency; turns++) {
			turn(PHC, (int64_t)util_below(2000000) - 1000000);
			run_for(S / 2, false);
		}
		assert_no_step();
		assert_int_equal(c.faults_kept, 0);
	}
}

/* Any frequency error, at any time, and its end: no step is counted, and its duration is reported. */
static void a_rate_that_goes_wrong_for_a_while(void **state)
{
	for (size_t i = 0; i < 8 * COUNT_OF(wrong_ppb); i++) {
		int64_t ppb = wrong_ppb[i % COUNT_OF(wrong_ppb)], from_ns, to_ns, lasted_ns[2];

		made_clocks(state);
		fake.no_raw = i % 2;
		fake.clock[PHC].ppb = (int64_t)util_below(100000) - 50000;
		begin_run();
		run_for(S, false);
		change_rate_to(ppb);
		from_ns = change_at_ns;
		run_for(S + (int64_t)util_below(S), false);
		change_rate_to(20000);
		to_ns = change_at_ns;
		run_for(S, false);
		ask(true);
		assert_no_step();
		assert_int_equal(counter_get(&nic->wrong_rates), 1);
		assert_fault(0, (double)ppb);
		assert_true(c.fault[0].over);
		assert_between("began", from_ns, c.fault[0].began_ns);
		assert_between("ended", to_ns, c.fault[0].ended_ns);
		clock_fault_lasted(&c.fault[0], lasted_ns);
		assert_between("lasted", to_ns - from_ns, lasted_ns);
		assert_true(lasted_ns[1] - lasted_ns[0] < S / 2);
		assert_false(clock_moved(&c, CLOCK_OF_NIC, 0, from_ns - S / 2));
		assert_true(clock_moved(&c, CLOCK_OF_NIC, 0, from_ns));
		assert_true(clock_moved(&c, CLOCK_OF_NIC, to_ns, INT64_MAX));
		assert_false(clock_moved(&c, CLOCK_OF_NIC, to_ns + S / 2, INT64_MAX));
		assert_false(clock_moved(&c, CLOCK_OF_SYSTEM, 0, INT64_MAX));
	}
}

/* The run ends with the first reading after the fault. */
static void a_rate_that_ends_with_the_run(void **state)
{
	for (size_t i = 0; i < 4 * COUNT_OF(wrong_ppb); i++) {
		made_clocks(state);
		begin_run();
		change_rate_to(wrong_ppb[i % COUNT_OF(wrong_ppb)]);
		run_for(S, false);
		pass((int64_t)util_below(S / 10));
		fake.clock[PHC].ppb = 0;
		pass((int64_t)util_below(S / 10));
		measure();
		assert_no_step();
		assert_int_equal(counter_get(&nic->wrong_rates), 1);
	}
}

/* The frequency setting explains it, and latencies are wrong all the same. */
static void a_frequency_turned_too_far(void **state)
{
	(void)state;
	begin_run();
	run_for(S, true);
	turn(PHC, -200000000);
	run_for(2 * S, false);
	assert_no_step();
	assert_int_equal(counter_get(&nic->wrong_rates), 1);
	assert_fault(0, -200000000);
	turn(PHC, 0);
	run_for(S, false);
	ask(true);
	assert_no_step();
	assert_true(c.fault[0].over);
}

static void from_one_wrong_rate_to_another(void **state)
{
	(void)state;
	begin_run();
	run_for(S, true);
	change_rate_to(-200000000);
	run_for(S, false);
	change_rate_to(300000000);
	run_for(S, false);
	change_rate_to(0);
	run_for(S, false);
	assert_no_step();
	assert_int_equal(c.faults_kept, 2);
	assert_fault(0, -200000000);
	assert_fault(1, 300000000);
}

/* A step during a frequency error stays a step. */
static void a_step_at_a_wrong_rate(void **state)
{
	static const int64_t sizes_ns[] = { S, -S, 50 * NS_PER_MS };

	for (size_t i = 0; i < COUNT_OF(sizes_ns); i++) {
		made_clocks(state);
		fake.clock[PHC].ppb = -200000000;
		begin_run();
		run_for(S, false);
		step(PHC, sizes_ns[i]);
		run_for(S, false);
		assert_int_equal(counter_get(&nic->steps), 1);
		assert_true(distance(c.step[0].size_ns, sizes_ns[i]) <= c.step[0].bound_ns);
		fake.clock[PHC].ppb = 0;
		run_for(S, false);
		assert_int_equal(counter_get(&nic->steps), 1);
	}
}

/* The step that the rate first seemed to be is taken back; it was the largest, so the second largest is reported. */
static void steps_before_a_wrong_rate(void **state)
{
	static const int64_t sizes_ns[] = { NS_PER_MS, 5 * NS_PER_MS, 2 * NS_PER_MS };

	(void)state;
	begin_run();
	for (size_t i = 0; i < COUNT_OF(sizes_ns); i++) {
		run_for(S, false);
		step(PHC, sizes_ns[i]);
	}
	run_for(S, false);
	change_rate_to(-500000000);
	run_for(2 * S, false);
	assert_int_equal(c.faults_kept, 1);
	assert_int_equal(counter_get(&nic->steps), COUNT_OF(sizes_ns));
	assert_int_equal(c.steps_kept, COUNT_OF(sizes_ns));
	assert_true(distance(nic->largest.size_ns, sizes_ns[1]) <= nic->largest.bound_ns);
}

/* Several steps in a row, by a program that sets the clock repeatedly, are not a frequency error. */
static void steps_are_no_rate(void **state)
{
	for (int i = 0; i < 50; i++) {
		const int steps = 2 + (int)util_below(4);

		made_clocks(state);
		begin_run();
		run_for(S, true);
		for (int n = 0; n < steps; n++) {
			pass(S / 10);
			step(PHC, (i % 2 ? NS_PER_MS : -NS_PER_MS) * (1 + (n * 7 + i) % 5));
			measure();
		}
		run_for(S, false);
		assert_int_equal(counter_get(&nic->steps), steps);
		assert_int_equal(c.faults_kept, 0);
	}
}

/* Nor are steps at the interval of the readings, if they are larger than any frequency error. */
static void large_steps_are_no_rate(void **state)
{
	for (int forward = 0; forward < 2; forward++) {
		made_clocks(state);
		begin_run();
		run_for(S, true);
		for (int n = 0; n < 20; n++) {
			pass(S / 10);
			step(PHC, forward ? 3 * S / 2 : -3 * S / 2);
			measure();
		}
		run_for(S, false);
		assert_int_equal(counter_get(&nic->steps), 20);
		assert_int_equal(c.faults_kept, 0);
	}
}

/* ---- Standstills ------------------------------------------------------------------------------------------------- */

static void signals_end_now(void)
{
	fake.clock[PHC].stands = true;
	fake.changes++;
	change_at_ns = shows(RAW);
}

static int64_t stop_for(int64_t ns)
{
	int64_t from_ns;

	fake.event = signals_end_now;
	fake.event_at_ns = fake.now_ns + (int64_t)util_below(S / 10);
	for (int i = 0; fake.event || fake.now_ns < fake.event_at_ns + ns; i++) {
		int64_t left_ns = fake.event ? S / 10 : fake.event_at_ns + ns - fake.now_ns;

		if (left_ns > S / 10)
			left_ns = S / 10;
		pass(left_ns);
		if (left_ns == S / 10)
			measure();
	}
	from_ns = change_at_ns;
	fake.clock[PHC].stands = false;
	fake.changes++;
	change_at_ns = shows(RAW);
	pass((int64_t)util_below(S / 20) + 1);
	measure();
	return from_ns;
}

static void a_standstill_and_how_long_it_was(void **state)
{
	static const int64_t stood_ns[] = { S / 4, S / 2, S, 5 * S };

	for (size_t i = 0; i < 20 * COUNT_OF(stood_ns); i++) {
		int64_t from_ns, true_ns, ns[2];

		made_clocks(state);
		fake.no_raw = i % 3 == 2;
		fake.ioctl_error[CLOCK_PRECISE] = i % 5 ? EOPNOTSUPP : 0;
		fake.clock[PHC].ppb = 40000;
		begin_run();
		run_for(S, true);
		from_ns = stop_for(stood_ns[i / 20]);
		true_ns = change_at_ns - from_ns;
		run_for(S, false);
		ask(true);
		assert_no_step();
		assert_int_equal(counter_get(&nic->standstills), 1);
		assert_int_equal(c.faults_kept, 1);
		assert_true(c.fault[0].stands && c.fault[0].over);
		assert_between("began", from_ns, c.fault[0].began_ns);
		assert_between("ended", change_at_ns, c.fault[0].ended_ns);
		clock_fault_lasted(&c.fault[0], ns);
		assert_between("lasted", true_ns, ns);
		assert_true(ns[1] - ns[0] < S / 50);
		assert_true(distance(nic->stood_ns, true_ns) < S / 100);
		check_rate(CLOCK_OF_NIC, 40000);
	}
}

/* A single reading is enough, by any method. */
static void a_standstill_that_one_reading_sees(void **state)
{
	for (int i = 0; i < 50; i++) {
		int64_t from_ns, true_ns, ns[2];

		made_clocks(state);
		for (int m = 0; m < i % 4; m++)
			fake.ioctl_error[m] = EOPNOTSUPP;
		fake.no_raw = i >= 25;
		begin_run();
		run_for(S, true);
		from_ns = stop_for(S * 11 / 100);
		true_ns = change_at_ns - from_ns;
		run_for(S, false);
		assert_no_step();
		assert_int_equal(counter_get(&nic->standstills), 1);
		clock_fault_lasted(&c.fault[0], ns);
		assert_between("lasted", true_ns, ns);
		assert_true(ns[1] - ns[0] < S / 50);
	}
}

/* The PHC stood at every reading: the readings limit the duration. */
static void a_clock_that_stands_all_the_time(void **state)
{
	int64_t ns[2];

	(void)state;
	fake.clock[PHC].stands = true;
	open_made();
	measure();
	run_for(2 * S, false);
	assert_int_equal(counter_get(&nic->standstills), 1);
	assert_no_step();
	clock_fault_lasted(&c.fault[0], ns);
	assert_true(ns[0] > 2 * S - S / 3 && ns[1] < 2 * S + S / 3);
	assert_int_equal(answered, 0);
}

/* A NIC reset: the PHC stands, and is set when it runs again. */
static void a_standstill_and_a_step(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		const int64_t by_ns = i % 2 ? 37 * S : -37 * S;

		made_clocks(state);
		begin_run();
		run_for(S, true);
		stop_for(S);
		step(PHC, by_ns); /* after it was read */
		run_for(S, false);
		assert_int_equal(counter_get(&nic->standstills), 1);
		assert_int_equal(counter_get(&nic->steps), 1);
		made_clocks(state);
		begin_run();
		run_for(S, true);
		fake.clock[PHC].stands = true;
		fake.changes++;
		for (int n = 0; n < 10; n++) {
			pass(S / 10);
			measure();
		}
		fake.clock[PHC].stands = false;
		step(PHC, by_ns); /* before */
		run_for(S, false);
		assert_int_equal(counter_get(&nic->standstills), 1);
		assert_int_equal(counter_get(&nic->steps), 1);
		assert_true(distance(c.step[0].size_ns, by_ns) <= c.step[0].bound_ns);
	}
}

/* More faults than are kept: the last entry covers the rest. */
static void more_standstills_than_are_kept(void **state)
{
	(void)state;
	begin_run();
	for (int i = 0; i < CLOCK_FAULTS_KEPT + 5; i++) {
		run_for(S / 2, false);
		stop_for(S / 4);
	}
	run_for(S, false);
	assert_int_equal(counter_get(&nic->standstills), CLOCK_FAULTS_KEPT + 5);
	assert_int_equal(c.faults_kept, CLOCK_FAULTS_KEPT);
	assert_true(clock_moved(&c, CLOCK_OF_NIC, change_at_ns, change_at_ns));
	assert_false(c.in_fault);
}

/* ---- Reads that fail --------------------------------------------------------------------------------------------- */

/* Three of four reads fail; faults of the clock are still reported. */
static void with_reads_that_fail(void **state)
{
	for (int kind = 0; kind < 3; kind++) {
		made_clocks(state);
		begin_run();
		run_for(S, true);
		fake.clock[PHC].stands = kind == 1;
		fake.clock[PHC].ppb = kind == 2 ? -50000000 : 0;
		fake.changes += kind > 0;
		for (int i = 0; i < 40; i++) {
			pass(S / 10);
			ask(false);
			fake.phc_error = i % 4 ? EBUSY : 0;
			assert_int_equal(clock_measure(&c, 0), i % 4 ? -EBUSY : 0);
			changes_known = i < 9 ? changes_known : fake.changes;
		}
		fake.phc_error = 0;
		assert_no_step();
		assert_int_equal(counter_get(&nic->standstills), kind == 1);
		assert_int_equal(counter_get(&nic->wrong_rates), kind == 2);
		assert_int_equal(c.failures, 30);
		assert_int_equal(c.failure, EBUSY);
		assert_string_equal(clock_failure(&c), "Device or resource busy");
	}
}

/* ---- Time and kind of a fault ------------------------------------------------------------------------------------ */

static void steps_that_are_not_kept_count(void **state)
{
	int64_t first_ns;

	(void)state;
	begin_run();
	first_ns = shows(RAW);
	for (int i = 0; i < CLOCK_STEPS_KEPT + 4; i++) {
		pass(S / 10);
		step(PHC, i % 2 ? S : -S);
		measure();
	}
	assert_false(clock_moved(&c, CLOCK_OF_NIC, 0, first_ns - S / 20));
	assert_true(clock_moved(&c, CLOCK_OF_NIC, 0, first_ns));
	assert_true(clock_moved(&c, CLOCK_OF_NIC, shows(RAW), shows(RAW) + S) ||
		    clock_moved(&c, CLOCK_OF_NIC, shows(RAW) - S / 10, shows(RAW) + S));
	run_for(S, false);
	assert_false(clock_moved(&c, CLOCK_OF_NIC, shows(RAW) - S / 2, shows(RAW)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(a_wrong_rate_from_the_start),
		MADE_TEST(a_wrong_rate_and_few_readings),
		MADE_TEST(rates_that_are_not_wrong),
		MADE_TEST(a_rate_that_goes_wrong_for_a_while),
		MADE_TEST(a_rate_that_ends_with_the_run),
		MADE_TEST(a_frequency_turned_too_far),
		MADE_TEST(from_one_wrong_rate_to_another),
		MADE_TEST(a_step_at_a_wrong_rate), MADE_TEST(steps_before_a_wrong_rate),
		MADE_TEST(steps_are_no_rate), MADE_TEST(large_steps_are_no_rate),
		MADE_TEST(a_standstill_and_how_long_it_was),
		MADE_TEST(a_standstill_that_one_reading_sees),
		MADE_TEST(a_clock_that_stands_all_the_time),
		MADE_TEST(a_standstill_and_a_step),
		MADE_TEST(more_standstills_than_are_kept),
		MADE_TEST(with_reads_that_fail),
		MADE_TEST(steps_that_are_not_kept_count),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
