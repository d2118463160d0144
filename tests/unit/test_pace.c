/* build: wraps=clock_nanosleep,clock_gettime sources=measure/pace.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Slots over days of a simulated clock, and sleeps with simulated wake-up latency. */
#include "measure/pace.h"

#include "util.h"

#include <errno.h>

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left);

#define BEGIN_NS (1000 * NS_PER_S)
#define DAY_NS (86400 * NS_PER_S)

static int64_t now_ns, late_ns, slept_until_ns;
static unsigned sleeps;
static int sleep_error;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!now_ns)
		return __real_clock_gettime(clock, t);
	assert_int_equal(clock, CLOCK_MONOTONIC);
	t->tv_sec = now_ns / NS_PER_S;
	t->tv_nsec = now_ns % NS_PER_S;
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	sleeps++;
	slept_until_ns = until->tv_sec * NS_PER_S + until->tv_nsec;
	assert_true(slept_until_ns > now_ns);
	now_ns = sleep_error ? now_ns : slept_until_ns + late_ns;
	return sleep_error;
}

static struct pace begun(int64_t interval_ns, int64_t jitter_percent, bool poisson, uint64_t seed)
{
	struct pace p = { .interval_ns = interval_ns, .jitter_percent = jitter_percent, .poisson = poisson,
			  .random = seed };

	pace_begin(&p, BEGIN_NS);
	return p;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

/* Each exchange takes another fraction of its slot, and each probe leaves a little late. */
static void nothing_drifts_in_days(void **state)
{
	struct pace p = begun(333 * NS_PER_MS, 0, false, 0);
	int64_t n = 0;

	(void)state;
	for (; p.due_ns < BEGIN_NS + 10 * DAY_NS; n++) {
		assert_int_equal(p.due_ns, BEGIN_NS + n * 333 * NS_PER_MS);
		assert_int_equal(pace_take(&p, p.due_ns + util_below(300) * NS_PER_MS), BEGIN_NS + n * 333 * NS_PER_MS);
	}
	assert_int_equal(counter_get(&p.slots), n);
	assert_int_equal(counter_get(&p.missed), 0);
}

/* A slot is kept until the next slot is due. */
static void what_is_not_kept_is_missed(void **state)
{
	static const struct {
		int64_t after_us, missed, late_us;
	} rows[] = { { 1000, 0, 0 }, { 1001, 0, 1 }, { 1999, 0, 999 }, { 2000, 1, 0 }, { 2001, 1, 1 }, { 4500, 3, 500 },
		     { 1000000, 999, 0 }, { 60000999, 59999, 999 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct pace p = begun(NS_PER_MS, 0, false, 0);
		const int64_t at_ns = BEGIN_NS + rows[i].after_us * NS_PER_US;

		assert_int_equal(pace_take(&p, BEGIN_NS), BEGIN_NS);
		assert_int_equal(pace_take(&p, at_ns), at_ns - rows[i].late_us * NS_PER_US);
		assert_int_equal(counter_get(&p.missed), rows[i].missed);
		assert_int_equal(counter_get(&p.slots), rows[i].missed + 2);
		/* No probe is sent after its slot. */
		assert_true(p.due_ns > at_ns);
		assert_int_equal((p.due_ns - BEGIN_NS) % NS_PER_MS, 0);
	}
}

static void what_is_over_at_the_end_is_missed(void **state)
{
	struct pace p = begun(NS_PER_MS, 0, false, 0);

	(void)state;
	pace_take(&p, BEGIN_NS);
	pace_pass(&p, BEGIN_NS + 1999 * NS_PER_US); /* that of the slot that has begun may have been next */
	assert_int_equal(counter_get(&p.missed), 0);
	pace_pass(&p, BEGIN_NS + 5 * NS_PER_MS);
	assert_int_equal(counter_get(&p.missed), 4);
	assert_int_equal(counter_get(&p.slots), 5);
}

/* ---- Chance ------------------------------------------------------------------------------------------------------ */

static void jitter_stays_in_its_slot(void **state)
{
	(void)state;
	for (int64_t percent = 1; percent <= 100; percent += 33) {
		struct pace p = begun(NS_PER_MS, percent, false, util_random());
		int64_t least_ns = INT64_MAX, most_ns = 0, sum_ns = 0;
		const int64_t n = 200000;

		for (int64_t i = 0; i < n; i++) {
			const int64_t after_ns = p.due_ns - BEGIN_NS - i * NS_PER_MS;

			assert_in_range(after_ns, 0, percent * NS_PER_MS / 100);
			least_ns = after_ns < least_ns ? after_ns : least_ns;
			most_ns = after_ns > most_ns ? after_ns : most_ns;
			sum_ns += after_ns;
			pace_take(&p, p.due_ns);
		}
		/* Equally likely: the mean is within six times its own deviation. */
		assert_true(least_ns < percent * NS_PER_MS / 100 / 1000);
		assert_true(most_ns > percent * NS_PER_MS / 100 * 999 / 1000);
		assert_in_range(sum_ns / n, percent * NS_PER_MS / 100 / 2 - percent * 40,
				percent * NS_PER_MS / 100 / 2 + percent * 40);
		assert_int_equal(counter_get(&p.missed), 0);
	}
}

static void poisson_has_its_mean_and_its_distribution(void **state)
{
	struct pace p = begun(NS_PER_MS, 0, true, util_random());
	const int n = 200000;
	int longer_than_mean = 0, longer_than_three = 0;
	int64_t last_ns = p.due_ns;

	(void)state;
	for (int i = 0; i < n; i++) {
		pace_take(&p, p.due_ns);
		assert_true(p.due_ns >= last_ns);
		longer_than_mean += p.due_ns - last_ns > NS_PER_MS;
		longer_than_three += p.due_ns - last_ns > 3 * NS_PER_MS;
		last_ns = p.due_ns;
	}
	/* Within six deviations of 1, 1/e and 1/e^3. */
	assert_in_range((last_ns - BEGIN_NS) / n, NS_PER_MS * 985 / 1000, NS_PER_MS * 1015 / 1000);
	assert_in_range(longer_than_mean, n * 0.361, n * 0.375);
	assert_in_range(longer_than_three, n * 0.0468, n * 0.0528);
}

static void a_seed_is_a_schedule(void **state)
{
	struct pace a = begun(NS_PER_MS, 50, false, 7), same = begun(NS_PER_MS, 50, false, 7),
			other = begun(NS_PER_MS, 50, false, 8);
	int equal = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(a.due_ns, same.due_ns);
		equal += a.due_ns == other.due_ns;
		pace_take(&a, a.due_ns);
		pace_take(&same, same.due_ns);
		pace_take(&other, other.due_ns);
	}
	assert_in_range(equal, 0, 5);
}

/* ---- Sleeping ---------------------------------------------------------------------------------------------------- */

static struct pace due_in(int64_t ns)
{
	struct pace p = begun(ns, 0, false, 0);

	pace_take(&p, BEGIN_NS);
	now_ns = BEGIN_NS;
	late_ns = sleeps = 0;
	sleep_error = 0;
	return p;
}

static void no_sleep_is_long(void **state)
{
	struct pace p = due_in(10 * NS_PER_S);

	(void)state;
	assert_true(pace_sleep(&p, false, now_ns, INT64_MAX));
	assert_int_equal(slept_until_ns, BEGIN_NS + 50 * NS_PER_MS);
	assert_true(pace_sleep(&p, false, BEGIN_NS + 9990 * NS_PER_MS, INT64_MAX));
	assert_int_equal(slept_until_ns, BEGIN_NS + 10 * NS_PER_S);
	now_ns = BEGIN_NS;
	assert_true(pace_sleep(&p, false, now_ns, BEGIN_NS + NS_PER_MS));
	assert_int_equal(slept_until_ns, BEGIN_NS + NS_PER_MS);
	assert_false(pace_sleep(&p, false, BEGIN_NS + 10 * NS_PER_S, INT64_MAX));
	assert_int_equal(sleeps, 3);
}

static void a_signal_ends_a_sleep(void **state)
{
	struct pace p = due_in(10 * NS_PER_S);
	const int64_t margin_ns = p.margin_ns;

	(void)state;
	sleep_error = EINTR;
	assert_true(pace_sleep(&p, true, now_ns, INT64_MAX));
	assert_int_equal(p.margin_ns, margin_ns);
}

/* With any wake-up latency the probe is in time after a few sleeps, and the remaining spin is little
 * longer. */
static void the_margin_is_learnt(void **state)
{
	static const int64_t lates_us[] = { 0, 5, 60, 200, 1000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lates_us); i++) {
		struct pace p = due_in(10 * NS_PER_MS);

		late_ns = lates_us[i] * NS_PER_US;
		for (int n = 0; n < 1000; n++) {
			while (pace_sleep(&p, true, now_ns, INT64_MAX))
				;
			if (n > 700) {
				assert_true(now_ns <= p.due_ns - late_ns * 2 / 5);
				assert_true(now_ns >= p.due_ns - late_ns / 2 - 20 * NS_PER_US);
			}
			now_ns = now_ns > p.due_ns ? now_ns : p.due_ns;
			pace_take(&p, now_ns);
		}
		assert_int_equal(counter_get(&p.missed), 0);
	}
}

/* Such a late wake-up is an outlier, and is not waited for all the time. */
static void the_margin_has_an_end(void **state)
{
	struct pace p = due_in(100 * NS_PER_MS);

	(void)state;
	late_ns = NS_PER_S;
	pace_sleep(&p, true, now_ns, INT64_MAX);
	assert_int_equal(p.margin_ns, 2 * NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_drifts_in_days), cmocka_unit_test(what_is_not_kept_is_missed),
		cmocka_unit_test(what_is_over_at_the_end_is_missed), cmocka_unit_test(jitter_stays_in_its_slot),
		cmocka_unit_test(poisson_has_its_mean_and_its_distribution), cmocka_unit_test(a_seed_is_a_schedule),
		cmocka_unit_test(no_sleep_is_long), cmocka_unit_test(a_signal_ends_a_sleep),
		cmocka_unit_test(the_margin_is_learnt),
		cmocka_unit_test(the_margin_has_an_end),
	};

	util_seed();
	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
