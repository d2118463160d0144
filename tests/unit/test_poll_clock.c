/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The clock of the poll gaps, against CLOCK_MONOTONIC of this machine. */
#include "host/clock/poll_clock.c"

#include "util.h"

#include <time.h>

static void a_difference_is_in_nanoseconds(void **state)
{
	struct poll_clock c;

	(void)state;
	poll_clock_open(&c);
	for (int i = 0; i < 20; i++) {
		const int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC), first = poll_clock_read(&c);

		while (clock_read_ns(CLOCK_MONOTONIC) - before_ns < 3 * NS_PER_MS)
			;
		const int64_t gap_ns = poll_clock_ns(&c, poll_clock_read(&c) - first);
		const int64_t most_ns = clock_read_ns(CLOCK_MONOTONIC) - before_ns;

		/* The first reading may come late, then the difference is too short: not more often than not. */
		if (gap_ns >= 2990 * NS_PER_US && gap_ns <= most_ns + most_ns / 1000)
			return;
	}
	fail_msg("no difference of 20 was that of CLOCK_MONOTONIC");
}

static void a_clock_agrees_with_itself(void **state)
{
	struct poll_clock c;

	(void)state;
	poll_clock_open(&c);
	assert_true(poll_clock_agrees(&c));
	if (!c.ns_per_tick) {
		print_message("# the kernel does not keep its time by the counter of this machine\n");
		return;
	}
	/* Back by 5 ms, or not counting for 5 ms; and a wrong frequency. */
	c.begun_ticks += (int64_t)((5 * NS_PER_MS << 32) / (int64_t)c.ns_per_tick);
	assert_false(poll_clock_agrees(&c));
	poll_clock_open(&c);
	c.begun_ticks -= (int64_t)((5 * NS_PER_MS << 32) / (int64_t)c.ns_per_tick);
	assert_false(poll_clock_agrees(&c));
}

static void without_the_counter_a_tick_is_a_nanosecond(void **state)
{
	const struct poll_clock c = { 0 };

	(void)state;
	const int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC), read = poll_clock_read(&c);

	assert_in_range(read, before_ns, clock_read_ns(CLOCK_MONOTONIC));
	assert_int_equal(poll_clock_ns(&c, 12345), 12345);
	assert_true(poll_clock_agrees(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_is_in_nanoseconds),
		cmocka_unit_test(a_clock_agrees_with_itself),
		cmocka_unit_test(without_the_counter_a_tick_is_a_nanosecond),
	};

	return cmocka_run_group_tests_name("poll_clock", tests, NULL, NULL);
}
