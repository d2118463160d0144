/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources=host/clock/clock_budget.c,host/clock/clock_packets.c,host/clock/clock.c,host/clock/clock_fault.c,host/clock/clock_track.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Conversion of times to the PHC, with simulated clocks: distance from the last reading, bound, and errors found after
 * the conversion. */
#include "host/clock/clock_seqlock.c"
#include "host/clock/clock_compare.c"

#include "util.h"
#include "fake_clocks.h"

/* ---- There and back ---------------------------------------------------------------------------------------------- */

static void a_converted_time_goes_back(void **state)
{
	int64_t ns = 5, phc_ns, bound_ns;

	(void)state;
	assert_false(clock_to_realtime(&c, &ns)); /* no reading yet */
	assert_int_equal(ns, 5);
	fake.clock[PHC].ppb = 40000; /* the offset changes by 40 us a second */
	open_made();
	measure();
	for (int i = 0; i < 10; i++) {
		pass(S / 10);
		measure();
	}
	for (int i = -10; i <= 5; i++) {
		const int64_t real_ns = shows(REAL) + i * S / 20;

		assert_true(clock_to_phc(&c, real_ns, &phc_ns, &bound_ns));
		ns = phc_ns;
		assert_true(clock_to_realtime(&c, &ns));
		assert_true(distance(ns, real_ns) <= 5); /* 40 ppm of 20 us, and roundings */
	}
	ns = phc_ns + 2 * CLOCK_STALE_NS;
	assert_false(clock_to_realtime(&c, &ns));
}

/* ---- Far from the last reading ----------------------------------------------------------------------------------- */

#define MOMENTS 2000

/* True values of the clocks. */
static struct {
	int64_t real_ns, phc_ns;
} truth[MOMENTS];
static int moments;

static void remember(void)
{
	truth[moments].real_ns = shows(REAL);
	truth[moments++].phc_ns = shows(PHC);
	assert_true(moments < MOMENTS);
}

static int64_t last_bound_ns;

static bool is_converted(int i)
{
	int64_t said_ns;

	if (!clock_to_phc(&c, truth[i].real_ns, &said_ns, &last_bound_ns))
		return false;
	if (distance(said_ns, truth[i].phc_ns) > last_bound_ns)
		fail_msg("%lld ms ago: %lld ns off, bound %lld",
			 (long long)((shows(REAL) - truth[i].real_ns) / NS_PER_MS),
			 (long long)(said_ns - truth[i].phc_ns), (long long)last_bound_ns);
	return true;
}

static void watch_for(int64_t ns)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		pass(50 * NS_PER_MS);
		remember();
		pass(50 * NS_PER_MS);
		measure();
	}
}

/* A round trip of some seconds during which a servo acts: converted, with a bound that covers the servo. */
static void times_long_before_the_reading(void **state)
{
	for (int servo = 0; servo < 3; servo++) {
		int64_t bound_ns = 0;

		made_clocks(state);
		moments = 0;
		fake.clock[PHC].ppb = 40000;
		open_made();
		measure();
		for (int i = 0; i < 16; i++) {
			watch_for(S / 2);
			if (servo)
				turn(PHC, (int64_t)util_below(20000) - 10000);
			if (servo == 2)
				turn(REAL, (int64_t)util_below(100000) - 50000);
		}
		watch_for(S);
		for (int i = moments - 1; i > moments - 30; i--)
			assert_true(is_converted(i));
		assert_true(is_converted(moments - 10));
		bound_ns = last_bound_ns;
		assert_true(is_converted(moments - 30));
		assert_true(last_bound_ns > bound_ns && last_bound_ns < NS_PER_MS);
		for (int i = 0; i < moments; i++)
			is_converted(i);
		clock_close(&c);
	}
}

/* While the PHC cannot be read: converted for some seconds, with a bound for the greatest slew of the kernel. */
static void times_long_after_the_reading(void **state)
{
	for (int kind = 0; kind < 3; kind++) {
		int64_t bound_ns[2] = { 0 };

		made_clocks(state);
		moments = 0;
		open_made();
		measure();
		watch_for(3 * S);
		fake.phc_error = EIO;
		for (int n = 0; n < 50; n++) {
			if (n == 10) { /* after this the first bound would not hold */
				fake.clock[kind == 1 ? PHC : REAL].ppb += kind ? 490000 : 0;
				fake.adjtime_us = kind == 2;
			}
			pass(S / 10);
			assert_int_equal(clock_measure(&c, 0), -EIO);
			remember();
			if (n < 25)
				assert_true(is_converted(moments - 1));
			else if (n > 40)
				assert_false(is_converted(moments - 1));
			else
				is_converted(moments - 1);
			bound_ns[n > 9] = n == 5 || n == 24 ? last_bound_ns : bound_ns[n > 9];
		}
		assert_true(bound_ns[1] > bound_ns[0] + 100000 && bound_ns[1] < NS_PER_MS + 10000);
		assert_int_equal(c.failures, 50);
	}
}

/* No conversion across a step, a standstill, a frequency error, or a long time without readings. */
static void times_before_the_present_stretch(void **state)
{
	for (int kind = 0; kind < 6; kind++) {
		int before, during;

		made_clocks(state);
		moments = 0;
		open_made();
		measure();
		watch_for(S);
		before = moments;
		assert_true(is_converted(before - 1));
		if (kind == 0)
			step(PHC, S);
		else if (kind == 1)
			step(REAL, S);
		fake.clock[PHC].stands = kind == 2;
		fake.clock[PHC].ppb = kind == 3 ? 50000000 : 0;
		if (kind == 4)
			pass(S + S / 5);
		if (kind == 5) { /* the system clock is set while the PHC cannot be read */
			fake.phc_error = EBUSY;
			pass(S / 10);
			step(REAL, S);
			assert_int_equal(clock_measure(&c, 0), -EBUSY);
			fake.phc_error = 0;
		}
		for (int i = 0; i < 5; i++) {
			int64_t said_ns, bound_ns;

			pass(S / 10);
			measure();
			if (kind == 2 || (kind == 3 && i))
				assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
		}
		fake.clock[PHC].stands = false;
		fake.clock[PHC].ppb = 0;
		during = moments;
		watch_for(S);
		assert_true(is_converted(moments - 1));
		assert_true(is_converted(moments - 3));
		for (int i = 0; i < before; i++)
			assert_false(is_converted(i));
		assert_true(during == before);
	}
}

/* ---- Errors found after a conversion ----------------------------------------------------------------------------- */

static int event_which, event_kind;
static int64_t event_ns;

static void something_happens(void)
{
	fake.changes++;
	if (event_kind == 0)
		step(event_which, event_ns);
	else if (event_kind == 1)
		fake.clock[PHC].stands = true;
	else
		fake.clock[PHC].ppb = event_ns;
}

/* Any fault between two readings: the error of times converted meanwhile is within the bound, or within the error
 * reported later. */
static void nothing_is_off_by_more_than_is_reported(void **state)
{
	static const int64_t sizes_ns[] = { 15000, 100000, NS_PER_MS, 30 * NS_PER_MS, S, 37 * S };
	static const int64_t rates_ppb[] = { 5000000, 50000000, 200000000, 500000000 };

	for (int i = 0; i < 600; i++) {
		int64_t worst_ns = 0, most_ns;

		made_clocks(state);
		fake.no_raw = i % 2;
		fake.ioctl_error[CLOCK_PRECISE] = i % 3 ? EOPNOTSUPP : 0;
		event_kind = i % 5 < 3 ? 0 : i % 5 - 2;
		event_which = i % 5 == 2 ? REAL : PHC;
		event_ns = event_kind ? rates_ppb[util_below(4)] : sizes_ns[util_below(6)];
		if (util_below(2))
			event_ns = -event_ns;
		open_made();
		measure();
		run_for(S, true);
		assert_int_equal(clock_step_error_ns(&c), 0);
		if (i % 4) {
			fake.event_at_ns = fake.now_ns + (int64_t)util_below(S / 3);
			fake.event = something_happens;
		}
		for (int n = 0; n < 400; n++) {
			int64_t said_ns, bound_ns;

			pass(NS_PER_MS + (int64_t)util_below(NS_PER_MS));
			if (clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns) &&
			    distance(said_ns, shows(PHC)) > bound_ns)
				worst_ns = larger(worst_ns, distance(said_ns, shows(PHC)));
			if (n == 59 && i % 4 == 0) { /* within a reading, or right after it */
				fake.event_at_ns = fake.now_ns + (int64_t)util_below(80000);
				fake.event = something_happens;
			}
			if (n % 60 == 59)
				measure();
		}
		if (worst_ns > clock_step_error_ns(&c))
			fail_msg("%d, event %d of %lld: error %lld, reported %lld", i, event_kind, (long long)event_ns,
				 (long long)worst_ns, (long long)clock_step_error_ns(&c));
		/* The reported error is not much larger than needed: half of a step within a bracket is also in the
		 * bound, and a part of it in the rate. */
		most_ns = event_kind ? S / 5 : absolute(event_ns) / 4 * 7 + 80000;
		if (clock_step_error_ns(&c) >= most_ns)
			fail_msg("%d, event %d of %lld: reported %lld", i, event_kind, (long long)event_ns,
				 (long long)clock_step_error_ns(&c));
	}
}

/* Range of the frequency setting plus the slew of the kernel in both directions: the widest of a stretch. */
static void what_the_frequencies_explain(void **state)
{
	struct clock_watch w = { .published_ns = S };
	struct clock_reading r = { .began_ns = S + 1 };

	(void)state;
	r.frequency[CLOCK_OF_NIC] = (struct clock_frequency){ .known = true, .ppb = 100, .slew_ppb = 7 };
	follow_stretch(&w, &r, true);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_NIC][0], 93);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_NIC][1], 107);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_SYSTEM][0], -SLEW_PPB);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_SYSTEM][1], SLEW_PPB);
	r.frequency[CLOCK_OF_NIC] = (struct clock_frequency){ .known = true, .ppb = 90 };
	follow_stretch(&w, &r, false);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_NIC][0], 90);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_NIC][1], 107);
	r.began_ns += CLOCK_FRESH_NS + 1; /* a longer time without readings */
	follow_stretch(&w, &r, false);
	assert_int_equal(w.frequency_ppb[CLOCK_OF_NIC][1], 90);
}

static void what_was_found_since(void **state)
{
	int64_t at_ns[4];

	(void)state;
	open_made();
	measure();
	for (int i = 0; i < 3; i++) {
		run_for(S, false);
		at_ns[i] = shows(RAW);
		step(PHC, i == 0 ? S : i == 1 ? NS_PER_MS : 30 * NS_PER_MS);
	}
	run_for(S, false);
	at_ns[3] = shows(RAW);
	assert_true(distance(clock_step_error_ns(&c), S) < 20000);
	assert_true(distance(clock_step_error_since(&c, 0), S) < 20000);
	assert_true(distance(clock_step_error_since(&c, at_ns[0]), S) < 20000);
	assert_true(distance(clock_step_error_since(&c, at_ns[1]), 30 * NS_PER_MS) < 20000);
	assert_true(distance(clock_step_error_since(&c, at_ns[2]), 30 * NS_PER_MS) < 20000);
	assert_int_equal(clock_step_error_since(&c, at_ns[3]), 0);
	/* Each error is smaller than the previous error: no error is dropped in favour of a larger error. */
	for (int i = 0; i < CLOCK_STEP_ERRORS_KEPT + 4; i++) {
		step(PHC, 25 * NS_PER_MS - i * NS_PER_MS);
		run_for(S, false);
	}
	assert_true(clock_step_error_since(&c, at_ns[3]) >= 25 * NS_PER_MS);
	assert_true(clock_step_error_since(&c, shows(RAW) - S - S / 10) >= 14 * NS_PER_MS);
	assert_int_equal(clock_step_error_since(&c, shows(RAW)), 0);
}

/* A relation that was never published cannot have caused a wrong conversion. */
static void a_step_while_nothing_is_reported(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(S, true);
	step(PHC, 50000);
	pass(S / 10);
	measure();
	step(PHC, -S);
	pass(S / 10);
	measure();
	run_for(S, false);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 2);
	assert_true(distance(clock_step_error_ns(&c), 50000) < 20000);
}

static void doubts(void **state)
{
	uint32_t before;

	(void)state;
	open_made();
	measure();
	run_for(S, true);
	assert_int_equal(clock_doubts(&c), 0);
	step(PHC, S);
	run_for(S, false);
	assert_int_equal(clock_doubts(&c), 1);
	step(REAL, -S);
	run_for(S, false);
	assert_int_equal(clock_doubts(&c), 2);
	fake.clock[PHC].stands = true;
	fake.changes++;
	pass(S / 2);
	measure();
	assert_true(clock_doubts(&c) > 2);
	run_for(S, false);
	before = clock_doubts(&c);
	fake.clock[PHC].stands = false;
	fake.changes++;
	run_for(S, false);
	assert_int_equal(clock_doubts(&c), before + 1);
	fake.clock[PHC].ppb = 50000000;
	fake.changes++;
	run_for(S, false);
	assert_true(clock_doubts(&c) > before);
	before = clock_doubts(&c);
	fake.clock[PHC].ppb = 0;
	fake.changes++;
	run_for(S, false);
	assert_true(clock_doubts(&c) > before);
	before = clock_doubts(&c);
	run_for(2 * S, true);
	assert_int_equal(clock_doubts(&c), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(a_converted_time_goes_back),
		MADE_TEST(times_long_before_the_reading),
		MADE_TEST(times_long_after_the_reading),
		MADE_TEST(times_before_the_present_stretch),
		MADE_TEST(nothing_is_off_by_more_than_is_reported),
		MADE_TEST(what_the_frequencies_explain),
		MADE_TEST(what_was_found_since),
		MADE_TEST(a_step_while_nothing_is_reported),
		MADE_TEST(doubts),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
