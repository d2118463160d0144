/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of delays and how they vary: golden text, with numbers by hand. */
#include "report/text/ipdv.c"

#include "fake_report.h"

#define RTT "  RTT                   4     10.000     16.500     12.000*    30.000*    30.000     7.921\n"
#define IPDV "  RTT IPDV              3      2.000      6.667      2.000*    16.000*    16.000     6.600\n"

static struct histogram planned[PLANNED];
static struct ipdv ipdv;

static void show(void)
{
	ipdv_result(&result.ipdv, &ipdv);
	show_report();
}

static void forget_planned(void)
{
	for (int i = 0; i < PLANNED; i++) {
		free(planned[i].overflow);
		planned[i].overflow = NULL;
	}
}

static int end(void **state)
{
	forget_planned();
	memset(&ipdv, 0, sizeof(ipdv));
	return tear_down(state);
}

/* Four round trips of 10, 12, 14 and 30 us: mean 16.5, squares of the deviations 42.25 + 20.25 + 6.25 + 182.25 =
 * 4 * 62.75; from one to the next 2, 2 and 16: mean 20 / 3, squares 4 + 4 + 256 = 3 * 88, less 400 / 9. */
static void four_round_trips(void)
{
	static const int64_t us[] = { 10, 12, 14, 30 };

	options.role = ROLE_EMIT;
	options.histogram = false;
	for (uint32_t i = 0; i < COUNT_OF(us); i++) {
		histogram_add(&histogram, us[i] * NS_PER_US, 7 + i);
		ipdv_add(&ipdv.of[IPDV_RTT], us[i] * NS_PER_US, 7 + i, SOURCE_KERNEL);
	}
}

/* 3, 5 and 4 us there; 2, 2 and 1 us back. */
static void three_ways(bool known)
{
	static const int64_t us[ONE_WAYS][3] = { { 3, 5, 4 }, { 2, 2, 1 } };

	for (int direction = 0; direction < ONE_WAYS; direction++) {
		place(&one_way[direction], 10);
		result.one_way[direction] = &one_way[direction];
		result.one_way_bound_ns[direction] = optional_of(0);
		for (uint32_t i = 0; i < 3; i++) {
			if (known)
				histogram_add(&one_way[direction], us[direction][i] * NS_PER_US + 7, i);
			ipdv_add(&ipdv.of[IPDV_FORWARD + direction], us[direction][i] * NS_PER_US + 7, i,
				 SOURCE_KERNEL);
		}
	}
}

static void the_round_trip_alone(void **state)
{
	(void)state;
	four_round_trips();
	show();
	/* Not where there is nothing. */
	forget_samples(&histogram, 0, 0);
	show();
}

/* The same responses of a reflector, two of which followed each other in a session. */
static void the_response_of_a_reflector(void **state)
{
	(void)state;
	four_round_trips();
	options.role = ROLE_REFLECT;
	memset(&ipdv, 0, sizeof(ipdv));
	show();
	ipdv_add(&ipdv.of[IPDV_RESPONSE], 3000, 1, SOURCE_KERNEL);
	ipdv_add(&ipdv.of[IPDV_RESPONSE], 1000, 2, SOURCE_KERNEL);
	show();
	forget_samples(&histogram, 0, 0);
	show();
}

static void one_sample_does_not_vary(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	histogram_add(&histogram, 10000, 0);
	ipdv_add(&ipdv.of[IPDV_RTT], 10000, 0, SOURCE_KERNEL);
	show();
}

static void all_that_there_is(void **state)
{
	(void)state;
	four_round_trips();
	three_ways(true);
	options.interval_ns = NS_PER_MS;
	place(&stage[STAGE_RESPONSE], 1);
	result.stage[STAGE_RESPONSE] = &stage[STAGE_RESPONSE];
	histogram_add(&stage[STAGE_RESPONSE], 1000, 0);
	histogram_add(&stage[STAGE_RESPONSE], 3000, 0);
	place(&stage[STAGE_NETWORK], 1);
	result.stage[STAGE_NETWORK] = &stage[STAGE_NETWORK];
	histogram_add(&stage[STAGE_NETWORK], 9000, 0);
	histogram_add(&stage[STAGE_NETWORK], 9500, 0);
	for (uint32_t i = 0; i < 2; i++) {
		ipdv_add(&ipdv.of[IPDV_RESPONSE], 1000 + 2000 * i, i, SOURCE_KERNEL);
		ipdv_add(&ipdv.of[IPDV_NETWORK], 9000 + 50 * i, i, SOURCE_KERNEL);
	}
	for (int i = 0; i < PLANNED; i++) {
		place(&planned[i], 1);
		result.planned[i] = &planned[i];
	}
	histogram_add(&planned[PLANNED_LATE], 250, 0);
	histogram_add(&planned[PLANNED_RTT], 99999, 0);
	histogram_add(&planned[PLANNED_CALL], 1234, 0);
	show();
}

/* Where the clocks are not related. */
static void ways_of_which_only_the_ipdv_is_known(void **state)
{
	(void)state;
	four_round_trips();
	three_ways(false);
	show();
	result.one_way[0] = result.one_way[1] = NULL;
	show();
}

static void what_is_not_in_it(void **state)
{
	(void)state;
	four_round_trips();
	three_ways(true);
	histogram_add(&one_way[0], -1, 3);
	histogram_add(&histogram, -1, 3); /* which the counters show */
	ipdv.left_out = 41;
	ipdv_add(&ipdv.of[IPDV_RTT], INT64_MAX, 11, SOURCE_KERNEL);
	show();
}

/* Two replies of a reflector that does not report their departure. */
static void what_its_program_prints(void)
{
	struct reported *t = &ipdv.reported;

	for (unsigned i = 0; i < 2; i++) {
		ipdv_count(&t->delay[REPORTED_RESPONSE], 1000 + 2000 * i);
		ipdv_count(&t->delay[REPORTED_NETWORK], 9000 - 50 * i);
		ipdv_add(&t->varies[REPORTED_RESPONSE], 1000 + 2000 * i, i, SOURCE_LOCAL);
		ipdv_add(&t->varies[REPORTED_NETWORK], 9000 - 50 * i, i, SOURCE_LOCAL);
		ipdv_add(&t->varies[REPORTED_RECEIVE], 4000 + 25 * i, i, SOURCE_LOCAL);
	}
}

static void a_table_of_its_own_for_what_a_program_prints(void **state)
{
	struct reported *t = &ipdv.reported;

	(void)state;
	four_round_trips();
	what_its_program_prints();
	show();
	show();
	ipdv_count(&t->delay[REPORTED_SEND], 3000);
	t->negative[REPORTED_RECEIVE] = 7;
	t->bound_ns[0] = 1234;
	t->bound_ns[1] = 77;
	t->no_part = 5;
	t->two_clocks = 6;
	show();
	/* With a reflector that is known by stamps these count. */
	counter_add(&result.account.follow_up[FOLLOW_UP_THERE], 1);
	show();
}

static void a_program_that_prints_nothing(void **state)
{
	(void)state;
	four_round_trips();
	show();
	ipdv.reported.two_clocks = 4;
	show();
}

static void a_full_overflow_store(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	options.histogram = false;
	forget_samples(&histogram, 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	show();
}

static void it_fits_the_terminal(void **state)
{
	(void)state;
	four_round_trips();
	width = 90;
	show();
	width = 80;
	show();
}

#define ENDED(function) cmocka_unit_test_setup_teardown(function, set_up, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		ENDED(the_round_trip_alone),
		ENDED(the_response_of_a_reflector),
		ENDED(one_sample_does_not_vary),
		ENDED(all_that_there_is),
		ENDED(ways_of_which_only_the_ipdv_is_known),
		ENDED(what_is_not_in_it),
		ENDED(a_table_of_its_own_for_what_a_program_prints),
		ENDED(a_program_that_prints_nothing),
		ENDED(a_full_overflow_store),
		ENDED(it_fits_the_terminal),
	};

	return golden_run(tests);
}
