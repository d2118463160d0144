/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen,nanosleep sources=host/clock/clock_fault.c,host/clock/clock_packets.c,host/clock/clock_track.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* A clock that refuses readings above a rate: alone, with other readers, and the bounds with fewer readings. */
#include "host/clock/clock.c"
#include "host/clock/clock_budget.c"
#include "host/clock/clock_compare.c"
#include "host/clock/clock_seqlock.c"

#include "golden.h"
#include "fake_clocks.h"

#define DEVICE_PER_S 125 /* ENA */
#define LIMIT 100

static char folder[64];

int __real_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)left;
	pass(t->tv_sec * S + t->tv_nsec);
	return 0;
}

static int limited_clock(void **state)
{
	made_clocks(state);
	strcpy(folder, "/tmp/rant-limit.XXXXXX");
	assert_non_null(mkdtemp(folder));
	budget_folder = folder;
	fake.reads_per_s = DEVICE_PER_S;
	fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
	fake.clock[PHC].ppb = 20000;
	return 0;
}

static int remove_clock(void **state)
{
	char path[96];

	(void)state;
	fake.on = false;
	snprintf(path, sizeof(path), "%s/reads-ptp7", folder);
	unlink(path);
	return rmdir(folder);
}

static void open_limited(struct clock_watch *w)
{
	int error = clock_open_limited(w, 7, LIMIT);

	if (error)
		fail_msg("clock_open_limited: %d, %s", error, w->why);
}

/* The largest bound of conversions in a run of `seconds`, ten readings a second; each is checked against the truth. */
static int64_t run_alone(int seconds)
{
	int64_t worst_ns = 0;

	for (int64_t end_ns = fake.now_ns + seconds * S; fake.now_ns < end_ns;) {
		for (int i = 0; i < 4; i++) {
			int64_t phc_ns, bound_ns;

			pass(25 * NS_PER_MS);
			ask(true);
			if (clock_to_phc(&c, shows(REAL), &phc_ns, &bound_ns))
				worst_ns = larger(worst_ns, bound_ns);
		}
		clock_measure(&c, 0);
	}
	return worst_ns;
}

/* Without the limit the device refuses readings: they are counted, and the attempts become rare. */
static void without_a_limit(void **state)
{
	(void)state;
	fake.reads_per_s = 0;
	open_made();
	fake.reads_per_s = 20;
	for (int i = 0; i < 100; i++) {
		pass(100 * NS_PER_MS);
		clock_measure(&c, 0);
	}
	assert_true(c.refused > 0 && c.refused <= c.failures);
	assert_true(fake.refused > 0);
	/* As before for a second, then up to 3.2 s. */
	fake.phc_error = EBUSY;
	pass(4 * S);
	c.failures = c.refused = c.refused_in_row = 0;
	for (int i = 0; i < 10; i++, pass(100 * NS_PER_MS))
		assert_int_equal(clock_measure(&c, 0), -EBUSY);
	for (int i = 0; i < 320; i++, pass(100 * NS_PER_MS))
		assert_int_equal(clock_measure(&c, 0), -EBUSY);
	assert_true(c.refused >= 22 && c.refused <= 24);
	assert_int_equal(c.failures, 330);
	clock_close(&c);
}

static void a_single_rant(void **state)
{
	int64_t worst_ns;

	(void)state;
	open_limited(&c);
	assert_true(c.budget.fd >= 0);
	clock_measure(&c, 0);
	run_alone(2); /* the rate becomes known */
	worst_ns = run_alone(58);
	assert_int_equal(fake.refused, 0);
	assert_int_equal(c.refused, 0);
	assert_int_equal(c.failures, 0);
	assert_int_equal(c.budget.waits, 0);
	assert_true(c.readings > 590);
	if (worst_ns > 3000)
		fail_msg("worst bound %lld ns", (long long)worst_ns);
	assert_no_steps();
	check_rate(CLOCK_OF_NIC, 20000);
	clock_close(&c);
}

/* Each of several rants gets readings, none is refused, and the bounds hold. */
static void several_rants(int rants, int64_t most_ns)
{
	static struct clock_watch other[8];
	int64_t worst_ns = 0;

	open_limited(&c);
	for (int i = 1; i < rants; i++)
		open_limited(&other[i]);
	clock_measure(&c, 0);
	for (int i = 0; i < 600; i++) {
		int64_t phc_ns, bound_ns;

		pass(100 * NS_PER_MS);
		for (int k = 1; k < rants; k++)
			clock_measure(&other[k], 0);
		ask(i > 20);
		if (i > 20 && clock_to_phc(&c, shows(REAL), &phc_ns, &bound_ns))
			worst_ns = larger(worst_ns, bound_ns);
		clock_measure(&c, 0);
	}
	assert_int_equal(fake.refused, 0);
	assert_int_equal(c.failures, 0);
	assert_true(c.budget.waits > 0);
	for (int i = 1; i < rants; i++) {
		assert_int_equal(other[i].failures, 0);
		assert_true(other[i].readings > (uint64_t)(60 * LIMIT / READING_READS / rants / 2));
		assert_int_equal(counter_get(&other[i].track[CLOCK_OF_NIC].steps), 0);
		clock_close(&other[i]);
	}
	assert_true(c.readings > (uint64_t)(60 * LIMIT / READING_READS / rants / 2));
	assert_true(c.readings < 600);
	if (worst_ns > most_ns)
		fail_msg("worst bound %lld ns", (long long)worst_ns);
	assert_no_steps();
	clock_close(&c);
}

static void three_rants(void **state)
{
	(void)state;
	several_rants(3, 4000);
}

static void eight_rants(void **state)
{
	(void)state;
	several_rants(8, 8000);
}

/* The bound of a conversion grows with the time since the reading. */
static void the_bound_grows(void **state)
{
	int64_t before_ns = 0, bound_ns, phc_ns;

	(void)state;
	open_limited(&c);
	clock_measure(&c, 0);
	run_alone(5);
	c.budget.reads_per_s = READING_READS - 1; /* no share admits a reading */
	for (int i = 0; i < 40; i++) {
		uint64_t readings = c.readings;

		pass(100 * NS_PER_MS);
		assert_int_equal(clock_measure(&c, 0), 0);
		assert_int_equal(c.readings, readings);
		ask(false);
		if (!clock_to_phc(&c, shows(REAL), &phc_ns, &bound_ns))
			break;
		assert_true(bound_ns > before_ns);
		before_ns = bound_ns;
	}
	assert_true(before_ns > 100 * NS_PER_US);
	clock_close(&c);
}

/* Other programs read the clock without a limit: after a refusal no attempt for a second, then for two, up to eight. */
static void refusals_of_the_device(void **state)
{
	uint64_t attempts = 0;

	(void)state;
	open_limited(&c);
	clock_measure(&c, 0);
	run_alone(3);
	for (int error = 0; error < 2; error++) {
		uint64_t failures = c.failures, refused = c.refused;
		int64_t at_ns = 0, gap_ns = 0;

		fake.phc_error = error ? EOPNOTSUPP : EBUSY;
		for (int i = 0; i < 400; i++) {
			uint64_t before = c.refused;

			pass(100 * NS_PER_MS);
			assert_int_equal(clock_measure(&c, 0), -fake.phc_error);
			if (c.refused == before)
				continue;
			if (at_ns)
				gap_ns = larger(gap_ns, fake.now_ns - at_ns);
			at_ns = fake.now_ns;
		}
		/* Each is a reading that failed, whether or not the device was asked. */
		assert_int_equal(c.failures - failures, 400);
		attempts = c.refused - refused;
		assert_true(attempts >= 6 && attempts <= 8);
		assert_true(gap_ns > 7900 * NS_PER_MS && gap_ns < 8300 * NS_PER_MS);
		fake.phc_error = 0;
		pass(9 * S);
		assert_int_equal(clock_measure(&c, 0), 0);
		assert_int_equal(c.refused_in_row, 0);
	}
	/* Another error is not a refusal. */
	attempts = c.refused;
	fake.phc_error = EIO;
	pass(2 * S);
	assert_int_equal(clock_measure(&c, 0), -EIO);
	pass(100 * NS_PER_MS);
	assert_int_equal(clock_measure(&c, 0), -EIO);
	assert_int_equal(c.refused, attempts);
	assert_int_equal(c.refused_in_row, 0);
	fake.phc_error = 0;
	clock_close(&c);
}

/* A refusal of a limited clock is not repeated by other methods. */
static void a_refusal_is_a_single_attempt(void **state)
{
	unsigned before;

	(void)state;
	open_limited(&c);
	pass(2 * S);
	fake.fails_every = 1;
	before = fake.reads;
	assert_int_equal(clock_measure(&c, 0), -EBUSY);
	assert_int_equal(fake.reads - before, 1);
	clock_close(&c);
}

static void no_share_at_the_start(void **state)
{
	struct clock_budget greedy;
	static struct clock_watch w;

	(void)state;
	clock_budget_open(&greedy, 7, LIMIT);
	assert_true(clock_budget_take(&greedy, LIMIT));
	/* The share of a second later. */
	open_limited(&c);
	assert_int_equal(c.budget.waits, 0);
	clock_close(&c);
	/* None while another program holds the lock. */
	assert_true(lock(greedy.fd, F_WRLCK));
	assert_int_equal(clock_open_limited(&w, 7, LIMIT), -EBUSY);
	assert_string_equal(w.why, "/dev/ptp7: other programs use up its 100 readings a second");
	assert_int_equal(w.phc_fd, -1);
	clock_close(&w);
	clock_budget_close(&greedy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, limited_clock, remove_clock)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_limit), TEST(a_single_rant), TEST(three_rants), TEST(eight_rants),
		TEST(the_bound_grows), TEST(refusals_of_the_device), TEST(a_refusal_is_a_single_attempt),
		TEST(no_share_at_the_start),
	};

	util_seed();
	return cmocka_run_group_tests_name("clock_limit", tests, NULL, NULL);
}
