/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The step of timestamps, and timestamps in a wrong order. */
#include "result/stamp_check.c"

#include "util.h"

#define START_NS 1600000000000000003 /* the grid of a clock does not begin at 0 */

static struct stamp_check check;

static int set_up(void **state)
{
	(void)state;
	check = (struct stamp_check){ 0 };
	return 0;
}

/* A packet that was sent after all timestamps before it were read, as with one in flight. */
static void add(unsigned way, int64_t ns)
{
	stamp_check_add(&check, way, ns, check.last_ns[way]);
}

/* Packets at random times on the grid of a clock with this step. */
static void send_on_grid(unsigned packets, int64_t step_ns)
{
	uint64_t seed = 7;
	int64_t steps = 0;

	for (unsigned i = 0; i < packets; i++) {
		steps += 1 + (int64_t)(random_next(&seed) % 100000);
		add(STAMP_SENT, START_NS + steps * step_ns);
		add(STAMP_RECEIVED, START_NS + (steps + 1 + (int64_t)(random_next(&seed) % 1000)) * step_ns);
		steps += 2000;
	}
}

static void each_step_is_found(void **state)
{
	static const int64_t steps_ns[] = { 1, 2, 8, 16, 20, 40, 1000, NS_PER_MS };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(steps_ns); i++) {
		check = (struct stamp_check){ 0 };
		send_on_grid(STAMP_STEP_LEAST / 2, steps_ns[i]);
		assert_true(stamp_check_step_ns(&check).known);
		assert_int_equal(stamp_check_step_ns(&check).value, steps_ns[i]);
		assert_int_equal(stamp_check_faults(&check), 0);
	}
}

static void few_timestamps_have_no_step(void **state)
{
	(void)state;
	send_on_grid(STAMP_STEP_LEAST / 2 - 1, 8);
	assert_false(stamp_check_step_ns(&check).known);
	add(STAMP_SENT, START_NS + 80 * NS_PER_S);
	assert_false(stamp_check_step_ns(&check).known);
	add(STAMP_SENT, START_NS + 81 * NS_PER_S);
	assert_int_equal(stamp_check_step_ns(&check).value, 8);
}

/* All equal: nothing has moved. */
static void a_clock_that_stands_has_no_step(void **state)
{
	(void)state;
	for (int i = 0; i < STAMP_STEP_LEAST; i++)
		add(STAMP_SENT, START_NS);
	assert_false(stamp_check_step_ns(&check).known);
	assert_int_equal(check.repeated[STAMP_SENT], STAMP_STEP_LEAST - 1);
}

static void the_step_is_of_the_first_timestamps(void **state)
{
	(void)state;
	send_on_grid(STAMP_STEP_MOST / 2, 8);
	add(STAMP_SENT, START_NS + 1000 * NS_PER_S + 1);
	assert_int_equal(stamp_check_step_ns(&check).value, 8);
	assert_int_equal(check.steps_of, STAMP_STEP_MOST);
}

static void repeated_and_backward_are_counted_by_direction(void **state)
{
	(void)state;
	add(STAMP_SENT, START_NS);
	add(STAMP_RECEIVED, START_NS); /* another direction */
	assert_int_equal(stamp_check_faults(&check), 0);
	add(STAMP_SENT, START_NS);
	assert_int_equal(check.repeated[STAMP_SENT], 1);
	add(STAMP_RECEIVED, START_NS - 1);
	assert_int_equal(check.backward[STAMP_RECEIVED], 1);
	add(STAMP_RECEIVED, START_NS); /* later than the wrong one */
	add(STAMP_SENT, START_NS + 1);
	assert_int_equal(check.stamps[STAMP_SENT], 3);
	assert_int_equal(check.stamps[STAMP_RECEIVED], 3);
	assert_int_equal(stamp_check_faults(&check), 2);
}

/* Many in flight: the timestamps of packets that were sent together are in any order. */
static void packets_in_flight_together_are_not_compared(void **state)
{
	(void)state;
	stamp_check_add(&check, STAMP_SENT, START_NS + 100, 0);
	stamp_check_add(&check, STAMP_SENT, START_NS, 0);
	stamp_check_add(&check, STAMP_SENT, START_NS, 0);
	assert_int_equal(stamp_check_faults(&check), 0);
	stamp_check_add(&check, STAMP_SENT, START_NS + 50, START_NS + 100);
	assert_int_equal(check.backward[STAMP_SENT], 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_step_is_found, set_up),
		cmocka_unit_test_setup(few_timestamps_have_no_step, set_up),
		cmocka_unit_test_setup(a_clock_that_stands_has_no_step, set_up),
		cmocka_unit_test_setup(the_step_is_of_the_first_timestamps, set_up),
		cmocka_unit_test_setup(repeated_and_backward_are_counted_by_direction, set_up),
		cmocka_unit_test_setup(packets_in_flight_together_are_not_compared, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
