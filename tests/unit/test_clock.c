/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources=host/clock/clock_budget.c,host/clock/clock_packets.c,host/clock/clock_fault.c,host/clock/clock_track.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening, comparing and querying clocks: with simulated clocks, and with real PHCs where a host has them (the lab).
 */
#include "host/clock/clock.c"
#include "host/clock/clock_compare.c"
#include "host/clock/clock_seqlock.c"

#include "golden.h"
#include "fake_clocks.h"

#include <pthread.h>

static int real_clocks(void **state)
{
	(void)state;
	fake.on = false;
	return 0;
}

/* ---- Comparing -------------------------------------------------------------------------------------------------- */

static void the_shortest_bracket(void **state)
{
	struct clock_relation r = none;

	(void)state;
	assert_false(is_taken(&r));
	narrow(&r, 1000, 5000, 2000, 20);
	assert_int_equal(r.at_ns, 1500);
	assert_int_equal(r.offset_ns, 3500);
	assert_true(r.bound_ns >= 520 && r.bound_ns < 530);
	narrow(&r, 3000, 7000, 3101, 20); /* shorter */
	assert_int_equal(r.at_ns, 3050);
	assert_int_equal(r.offset_ns, 3950);
	assert_true(r.bound_ns >= 71 && r.bound_ns < 75);
	narrow(&r, 4000, 8000, 4200, 20); /* longer */
	narrow(&r, 5000, 9000, 4999, 20); /* the clock was set back during the bracket */
	narrow(&r, 5000, INT64_MIN, 5010, 20);
	narrow(&r, INT64_MIN, 0, INT64_MAX, 20);
	assert_int_equal(r.at_ns, 3050);
}

/* ---- Missing devices and privileges ----------------------------------------------------------------------------- */

static void no_clock_is_no_failure(void **state)
{
	static const struct {
		int index, open_error, phc_error, result;
		const char *says;
	} rows[] = {
		{ -1, 0, 0, -ENODEV, "the NIC has no clock of its own (PHC)" },
		{ 7, EACCES, 0, -EACCES, "/dev/ptp7: Permission denied: run as root, or make it readable" },
		{ 7, ENOENT, 0, -ENOENT,
		  "/dev/ptp7: No such file or directory: pass it into this container, or run 'modprobe ptp'" },
		{ 7, EMFILE, 0, -EMFILE, "/dev/ptp7: Too many open files" },
		{ 7, 0, ENODEV, -ENODEV, "/dev/ptp7 cannot be read: No such device" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t said_ns, bound_ns;

		made_clocks(state);
		fake.open_error = rows[i].open_error;
		fake.phc_error = rows[i].phc_error;
		assert_int_equal(clock_open(&c, rows[i].index), rows[i].result);
		assert_string_equal(c.why, rows[i].says);
		assert_int_equal(fake.opened, fake.closed);
		assert_null(clock_last(&c));
		/* The system clock is watched without a PHC too. */
		for (int n = 0; n < 20; n++) {
			assert_int_equal(clock_measure(&c, 0), 0);
			assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
			pass(S / 10);
		}
		step(REAL, S);
		assert_int_equal(clock_measure(&c, 0), 0);
		assert_int_equal(counter_get(&c.track[CLOCK_OF_SYSTEM].steps), 1);
		assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 0);
		assert_false(clock_drift(&c, CLOCK_OF_NIC).measured);
		assert_int_equal(clock_scale(&c), CLOCK_SCALE_UNKNOWN);
		clock_close(&c);
	}
}

static void a_clock_that_goes_away(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	measure();
	run_for(S, true);
	fake.phc_error = ENODEV;
	assert_int_equal(clock_measure(&c, 0), -ENODEV);
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns)); /* by the last reading */
	pass(5 * S);
	assert_int_equal(clock_measure(&c, 0), -ENODEV);
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	assert_int_equal(c.failures, 2);
	assert_int_equal(c.failure, ENODEV);
	fake.phc_error = 0;
	measure();
	ask(true);
	run_for(S, true);
	assert_no_steps();
	assert_int_equal(c.failures, 2);
}

static void busy_for_some_time(void **state)
{
	(void)state;
	fake.cost_ns = 20000;
	open_made();
	assert_int_equal(c.method, CLOCK_PRECISE);
	fake.busy = TRIES - 1;
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns < 200);
	fake.busy = TRIES; /* this reading uses the next method */
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns > 200);
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns < 200);
	run_for(S, true);
}

/* Some reads fail while the PHC is opened: it counts as readable. */
static void busy_from_the_start(void **state)
{
	for (int every = 2; every < 5; every++) {
		made_clocks(state);
		fake.fails_every = every;
		open_made();
		for (int i = 0; i < 20; i++) {
			assert_int_equal(clock_measure(&c, 0), 0);
			ask(true);
			pass(S / 10);
		}
		assert_no_steps();
		assert_true(c.phc_granularity_ns > 0);
	}
	made_clocks(state);
	fake.fails_every = 1;
	assert_int_equal(clock_open(&c, 7), -EBUSY);
	golden("%s\n", c.why);
}

static void set_again(void)
{
	step(PHC, NS_PER_MS);
	fake.event = set_again;
	fake.event_at_ns = fake.now_ns + 100;
}

/* A clock that is set during each try: reported as such and not as a frequency error. */
static void set_within_each_try(void **state)
{
	(void)state;
	fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
	open_made();
	measure();
	run_for(S, true);
	set_again();
	assert_int_equal(clock_measure(&c, 0), -ESTALE);
	fake.event = NULL;
	assert_int_equal(c.failures, 1);
	golden("%s\n", clock_failure(&c));
	pass(S / 10);
	measure();
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 1);
	assert_true(clock_step_error_ns(&c) > NS_PER_MS);
}

static void a_better_method_that_lies(void **state)
{
	(void)state;
	fake.precise_wrong_ns = NS_PER_MS;
	open_made();
	assert_int_equal(c.method, CLOCK_EXTENDED);
	assert_true(c.raw_taken);
	measure();
	run_for(S, true);
}

static void kernels_that_say_no(void **state)
{
	(void)state;
	fake.frequency_wants_write = true;
	fake.frequency_ppb[PHC] = -1000;
	open_made();
	measure();
	assert_true(c.track[CLOCK_OF_NIC].frequency[0].known);
	assert_int_equal(c.track[CLOCK_OF_NIC].frequency[0].ppb, -1000);
	assert_int_equal(fake.opened, 2);
	clock_close(&c);
	assert_int_equal(fake.closed, 2);
	made_clocks(state);
	fake.no_phc_frequency = fake.no_adjtimex = true;
	open_made();
	measure();
	run_for(2 * S, true);
	assert_int_equal(clock_steering(&c, CLOCK_OF_NIC), CLOCK_STEERING_UNKNOWN);
	assert_int_equal(clock_steering(&c, CLOCK_OF_SYSTEM), CLOCK_STEERING_UNKNOWN);
	assert_false(clock_last(&c)->frequency[CLOCK_OF_SYSTEM].known);
	assert_no_steps();
}

static void names_and_granularities(void **state)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{ "igb clock\n", "igb clock" },
		{ NULL, "ptp7" },
		{ "\n", "ptp7" },
		{ "bad\033[2J\n", "bad?[2J" },
		{ "a name of more than thirty-one characters\n", "a name of more than thirty-one " },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		made_clocks(state);
		fake.name = rows[i].file;
		fake.phc_tick_ns = 8;
		open_made();
		assert_string_equal(c.name, rows[i].name);
		assert_int_equal(c.phc_granularity_ns % 8, 0);
		assert_true(c.phc_granularity_ns > 0 && c.phc_granularity_ns < 200);
		assert_true(c.system_granularity_ns >= 10 && c.system_granularity_ns < 30);
		assert_string_equal(clock_method_name(&c), "PTP_SYS_OFFSET_PRECISE");
	}
}

static void scales(void **state)
{
	static const struct {
		int64_t offset_ns;
		int tai_s;
		enum clock_scale scale;
	} rows[] = {
		{ 0, 0, CLOCK_SCALE_UTC },
		{ -S + NS_PER_MS, 0, CLOCK_SCALE_UTC },
		{ 2 * S, 0, CLOCK_SCALE_OTHER },
		{ 37 * S, 0, CLOCK_SCALE_TAI },
		{ 37 * S, 37, CLOCK_SCALE_TAI },
		{ 38 * S, 40, CLOCK_SCALE_OTHER },
		{ 40 * S, 40, CLOCK_SCALE_TAI },
		{ -37 * S, 0, CLOCK_SCALE_OTHER },
		{ -1780000000 * S, 0, CLOCK_SCALE_OTHER },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		made_clocks(state);
		fake.tai_s = rows[i].tai_s;
		step(PHC, rows[i].offset_ns);
		open_made();
		assert_int_equal(clock_scale(&c), CLOCK_SCALE_UNKNOWN);
		measure();
		if (clock_scale(&c) != rows[i].scale)
			fail_msg("row %zu: %d", i, clock_scale(&c));
		assert_int_equal(c.tai_s, rows[i].tai_s);
	}
}

/* ---- Edges ------------------------------------------------------------------------------------------------------ */

static void epochs_before_1970_and_at_the_edges(void **state)
{
	static const int64_t phc_s[] = { 0, -1, -1000, 1, -4000000000, -7000000000, 9223372036, -9223372036 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(phc_s); i++) {
		made_clocks(state);
		bool fits = phc_s[i] > -7400000000 && phc_s[i] < 9000000000;

		fake.clock[PHC].value = (__int128)phc_s[i] * S * S;
		fake.clock[PHC].ppb = -50000;
		fake.changes = 0;
		if (clock_open(&c, 7)) {
			assert_false(fits);
			continue;
		}
		for (int n = 0; n < 20; n++) {
			int error = clock_measure(&c, 0);

			assert_true(!error || !fits);
			if (!error)
				ask(true);
			pass(S / 10);
		}
		if (!fits)
			continue;
		assert_no_steps();
		check_rate(CLOCK_OF_NIC, -50000);
	}
}

static void stamps_that_are_none(void **state)
{
	static const struct {
		struct ptp_clock_time t;
		bool good;
		int64_t ns;
	} rows[] = {
		{ { .sec = 0, .nsec = 0 }, true, 0 },
		{ { .sec = 1, .nsec = 999999999 }, true, 1999999999 },
		{ { .sec = -1, .nsec = 999999999 }, true, -1 },
		{ { .sec = 1, .nsec = 1000000000 }, false, 0 },
		{ { .sec = 9223372036, .nsec = 854775807 }, true, INT64_MAX },
		{ { .sec = 9223372036, .nsec = 854775808 }, false, 0 },
		{ { .sec = -9223372036, .nsec = 0 }, true, -9223372036 * S },
		{ { .sec = INT64_MAX, .nsec = 0 }, false, 0 },
		{ { .sec = INT64_MIN, .nsec = 0 }, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t ns;
		bool good = stamp_ns(&rows[i].t, &ns);

		if (good != rows[i].good || (good && ns != rows[i].ns))
			fail_msg("row %zu", i);
	}
}

/* Any value from a driver: no overflow (UBSan would end the test), and a bound is never negative. */
static void garbage(void **state)
{
	for (int i = 0; i < 300; i++) {
		int64_t said_ns, bound_ns;

		made_clocks(state);
		for (int m = 0; m < i % 3; m++)
			fake.ioctl_error[m] = EOPNOTSUPP;
		fake.no_raw = util_below(2);
		open_made();
		fake.garbage = true;
		for (int n = 0; n < 30; n++) {
			fake.garbage = util_below(8);
			clock_measure(&c, 0);
			pass((int64_t)util_below(S));
			const struct clock_relation *r = &clock_last(&c)->phc_real;
			int64_t at[] = { shows(REAL), r->at_ns, INT64_MIN, INT64_MAX, (int64_t)util_random() };

			for (size_t k = 0; k < COUNT_OF(at); k++) {
				if (clock_to_phc(&c, at[k], &said_ns, &bound_ns))
					assert_true(bound_ns >= 0);
			}
			clock_drift(&c, CLOCK_OF_NIC);
			clock_scale(&c);
		}
	}
}

/* ---- Two threads ------------------------------------------------------------------------------------------------ */

static struct clock_watch shared;
static _Atomic bool stop_writing;

/* Every published relation has the same number in all fields, so a torn read is detected. */
static void *write_slots(void *argument)
{
	(void)argument;
	for (int64_t n = 1; !atomic_load(&stop_writing); n++) {
		struct reported t = { .relation = { .at_ns = n, .offset_ns = n, .bound_ns = n }, .since_ns = -n,
				  .valid = true };
		uint32_t other = !atomic_load_explicit(&shared.current, memory_order_relaxed);

		slot_write(&shared.slot[other], &t);
		atomic_store_explicit(&shared.current, other, memory_order_release);
	}
	return NULL;
}

static void no_torn_reads(void **state)
{
	pthread_t writer;
	int64_t said_ns, bound_ns;
	int torn = 0, got = 0;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_slots, NULL), 0);
	while (!clock_to_phc(&shared, 0, &said_ns, &bound_ns))
		;
	for (int i = 0; i < 3000000; i++) {
		if (!clock_to_phc(&shared, 0, &said_ns, &bound_ns))
			continue;
		got++;
		torn += bound_ns != said_ns + 2; /* the rates are 0 */
	}
	atomic_store(&stop_writing, true);
	pthread_join(writer, NULL);
	assert_int_equal(torn, 0);
	assert_true(got > 0);
}

/* A writer that is interrupted in the middle delays no reader. */
static void a_sleeping_writer(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	measure();
	run_for(S, true);
	for (int i = 0; i < 4; i++) {
		struct clock_slot *reported = &c.slot[atomic_load(&c.current)];
		uint32_t sequence = atomic_load(&reported->sequence);

		pass(S / 10);
		measure();
		assert_int_equal(atomic_load(&reported->sequence), sequence); /* not the slot that may be being read */
		assert_true(reported != &c.slot[atomic_load(&c.current)]);
	}
	atomic_fetch_add(&c.slot[!atomic_load(&c.current)].sequence, 1);
	ask(true);
	atomic_fetch_add(&c.slot[atomic_load(&c.current)].sequence, 1);
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
}

/* ---- The clocks of this host ------------------------------------------------------------------------------------ */

static void system_clock_of_this_machine(void **state)
{
	int64_t slept_ns = 0;

	(void)state;
	clock_open(&c, -1);
	assert_true(c.system_granularity_ns > 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(clock_measure(&c, 0), 0);
		usleep(20000);
		slept_ns += 20000000;
	}
	struct clock_rate r = clock_drift(&c, CLOCK_OF_SYSTEM);

	assert_true(r.measured && r.over_ns >= slept_ns * 4 / 5);
	print_message("tick at most %lld ns, CLOCK_REALTIME %.0f +- %.0f ppb\n", (long long)c.system_granularity_ns,
		      r.ppb, r.bound_ppb);
	clock_close(&c);
}

static void print_phc(int index, int outside)
{
	const struct clock_reading *last = clock_last(&c);
	const struct clock_track *t = &c.track[CLOCK_OF_NIC];
	struct clock_rate r = clock_drift(&c, CLOCK_OF_NIC);

	print_message("ptp%d '%s' by %s%s, granularity %lld ns\n", index, c.name, clock_method_name(&c),
		      c.raw_taken ? " with raw" : "", (long long)c.phc_granularity_ns);
	print_message("ptp%d offset %lld +- %lld ns, drift %.0f +- %.0f ppb, scale %d\n", index,
		      (long long)last->phc_real.offset_ns, (long long)last->phc_real.bound_ns, r.ppb, r.bound_ppb,
		      clock_scale(&c));
	print_message("ptp%d frequency setting %s%s %lld ppb, changed %llu times, stood still %llu times, outside %d\n",
		      index,
		      t->frequency[1].known ? "known" : "unknown", c.frequency_fd == c.phc_fd ? "" : " (by O_RDWR)",
		      (long long)t->frequency[1].ppb,
		      (unsigned long long)t->frequency_changes, (unsigned long long)counter_get(&t->standstills),
			      outside);
	for (uint32_t i = 0; i < c.steps_kept; i++)
		print_message("ptp%d step of %s: %lld +- %lld ns at reading %llu\n", index,
			      c.step[i].which == CLOCK_OF_NIC ? "PHC" : "system", (long long)c.step[i].size_ns,
			      (long long)c.step[i].bound_ns, (unsigned long long)c.step[i].mark[1]);
}

/* Two methods must agree, and a reported relation must hold at a later check. READINGS, 50 ms apart. */
static void phc_of_this_machine(int index)
{
	const char *readings = getenv("READINGS");
	int64_t said_ns, bound_ns;
	int outside = 0;

	if (clock_open(&c, index))
		fail_msg("ptp%d: %s", index, c.why);
	for (int i = 0; i < (readings ? atoi(readings) : 20); i++) {
		struct clock_compared t = { none, none };
		int error = clock_measure(&c, (uint64_t)i);

		if (error)
			fail_msg("ptp%d: %s", index, strerror(-error));
		assert_int_equal(take_sandwich(&c, &t), 0);
		outside += !agree(&t.real, &clock_last(&c)->phc_real) || !agree(&t.raw, &clock_last(&c)->phc_raw);
		usleep(50000);
		assert_int_equal(clock_compare_phc(&c, &t), 0);
		outside += clock_to_phc(&c, t.real.at_ns, &said_ns, &bound_ns) &&
			   distance(said_ns - t.real.at_ns, t.real.offset_ns) > bound_ns + t.real.bound_ns;
	}
	clock_measure(&c, 0);
	print_phc(index, outside);
	clock_close(&c);
	/* A single check may lie beyond a step, or a change that only the next reading detects. */
	uint64_t changes = 0;

	for (int i = 0; i < CLOCKS; i++)
		changes += 2 * counter_get(&c.track[i].steps) + c.track[i].frequency_changes;
	assert_true((uint64_t)outside <= changes);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).measured);
}

static void phcs_of_this_machine(void **state)
{
	int found = 0;

	(void)state;
	for (int i = 0; i < 16; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/ptp%d", i);
		if (access(path, R_OK) || (getenv("PHC") && atoi(getenv("PHC")) != i))
			continue;
		found++;
		phc_of_this_machine(i);
	}
	if (!found) {
		print_message("no PHC here that may be read\n");
		skip();
	}
}

#define REAL_TEST(f) cmocka_unit_test_setup(f, real_clocks)

/* test_clock [PATTERN]: only the tests with such a name. PHC=N: only /dev/ptpN of this host. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(the_shortest_bracket),
		MADE_TEST(no_clock_is_no_failure),
		MADE_TEST(a_clock_that_goes_away),
		MADE_TEST(busy_for_some_time),
		MADE_TEST(busy_from_the_start),
		MADE_TEST(set_within_each_try),
		MADE_TEST(a_better_method_that_lies),
		MADE_TEST(kernels_that_say_no),
		MADE_TEST(names_and_granularities),
		MADE_TEST(scales),
		MADE_TEST(epochs_before_1970_and_at_the_edges),
		MADE_TEST(stamps_that_are_none),
		MADE_TEST(garbage),
		REAL_TEST(no_torn_reads),
		MADE_TEST(a_sleeping_writer),
		REAL_TEST(system_clock_of_this_machine),
		REAL_TEST(phcs_of_this_machine),
	};

	util_seed();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return golden_run(tests);
}
