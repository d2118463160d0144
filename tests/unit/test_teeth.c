/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Which setting explains modes, where none may be named, and the text. */
#include "report/verdict/teeth.c"

#include "fake_report.h"
#include "report/text/sections.h"

#define BASE_NS 41200
#define SAMPLES 10000

static struct teeth teeth;

static int set_up_teeth(void **state)
{
	set_up(state);
	util_random_state = 37;
	teeth = (struct teeth){ .count = 0 };
	result.delays = (struct delays){ .count = 2, .delay = {
		{ "rx-usecs 50", 50000, "ethtool -C eth1 rx-usecs 0" },
		{ "gro_flush_timeout 20000", 20000, "echo 0 >/sys/class/net/eth1/gro_flush_timeout" } } };
	report.teeth = &teeth;
	return 0;
}

/* `n` modes with the same number of samples, each 400 ns wide. */
static void add_modes(struct histogram *h, int64_t at_ns, int64_t apart_ns, unsigned n)
{
	for (unsigned i = 0; i < SAMPLES; i++)
		histogram_add(h, at_ns + apart_ns * (int64_t)util_below(n) + (int64_t)util_below(400) - 200, i);
	histogram_finish(h);
}

static const struct delay *found(int64_t at_ns, int64_t apart_ns, unsigned n)
{
	free(histogram.overflow);
	place(&histogram, 1);
	add_modes(&histogram, at_ns, apart_ns, n);
	teeth_find(&teeth, &report);
	return teeth.count ? teeth.tooth[0].cause : NULL;
}

static void a_distance_names_its_setting(void **state)
{
	(void)state;
	assert_ptr_equal(found(BASE_NS, 50000, 2), &result.delays.delay[0]);
	assert_ptr_equal(found(BASE_NS, 50000, 5), &result.delays.delay[0]);
	assert_ptr_equal(found(BASE_NS, 50900, 2), &result.delays.delay[0]);
	assert_ptr_equal(found(BASE_NS, 20000, 3), &result.delays.delay[1]);
}

static void another_distance_names_none(void **state)
{
	static const int64_t apart_ns[] = { 10000, 21600, 25000, 48500, 51500, 100000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(apart_ns); i++) {
		assert_null(found(BASE_NS, apart_ns[i], 2));
		assert_int_equal(teeth.count, 1);
		assert_int_equal(teeth.tooth[0].modes.count, 2);
	}
}

static void one_thin_peak(void **state)
{
	(void)state;
	assert_ptr_equal(found(50300, 0, 1), &result.delays.delay[0]);
	assert_int_equal(teeth.tooth[0].modes.count, 1);
	found(BASE_NS, 0, 1);
	assert_int_equal(teeth.count, 0);
	/* A wide peak is not a tooth. */
	free(histogram.overflow);
	place(&histogram, 1);
	for (unsigned i = 0; i < SAMPLES; i++)
		histogram_add(&histogram, 48000 + (int64_t)util_below(5000), i);
	histogram_finish(&histogram);
	teeth_find(&teeth, &report);
	assert_int_equal(teeth.count, 0);
}

/* 1 us of 5 us would fit too much. */
static void a_short_delay_has_to_fit_better(void **state)
{
	(void)state;
	result.delays.delay[1].value_ns = 5000;
	assert_ptr_equal(found(BASE_NS, 5300, 2), &result.delays.delay[1]);
	assert_null(found(BASE_NS, 5800, 2));
}

/* A NIC has stamped a reply before its interrupt: only the way to the program is delayed. */
static void stamps_of_a_nic_are_before_the_interrupt(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	options.stamp = SOURCE_HARDWARE;
	assert_null(found(BASE_NS, 50000, 2));
	assert_int_equal(teeth.count, 1);
	options.role = ROLE_REFLECT;
	assert_non_null(found(BASE_NS, 50000, 2));
	options.stamp = SOURCE_KERNEL;
	assert_null(found(BASE_NS, 50000, 2));
	options.role = ROLE_EMIT;
	assert_non_null(found(BASE_NS, 50000, 2));
}

static void stages_have_their_own(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	options.stamp = SOURCE_HARDWARE;
	options.sw_timestamps = true;
	add_modes(&histogram, BASE_NS, 0, 1);
	for (int i = 0; i < STAGES; i++) {
		place(&stage[i], 1);
		result.stage[i] = &stage[i];
	}
	add_modes(&stage[STAGE_APP_TO_WIRE], 3000, 50000, 2);
	add_modes(&stage[STAGE_WIRE_TO_APP], 3000, 50000, 2);
	teeth_find(&teeth, &report);
	assert_int_equal(teeth.count, 2);
	assert_int_equal(teeth.tooth[0].stage, STAGE_APP_TO_WIRE);
	assert_null(teeth.tooth[0].cause);
	assert_int_equal(teeth.tooth[1].stage, STAGE_WIRE_TO_APP);
	assert_ptr_equal(teeth.tooth[1].cause, &result.delays.delay[0]);
	assert_ptr_equal(teeth_first(&teeth), &teeth.tooth[1]);
	/* Without a cause modes of a stage are left to the complete report. */
	result.delays.count = 0;
	teeth_find(&teeth, &report);
	assert_null(teeth_first(&teeth));
	memset(result.stage, 0, sizeof(result.stage));
}

static void the_text(void **state)
{
	char line[TEETH_TEXT_BYTES];

	(void)state;
	options.role = ROLE_EMIT;
	found(BASE_NS, 50000, 2);
	teeth_say(line, sizeof(line), &report, teeth_first(&teeth), 3);
	golden("%s\n", line);
	assert_non_null(strstr(line, " us apart: rx-usecs 50: ethtool -C eth1 rx-usecs 0"));
	found(BASE_NS, 33000, 5);
	teeth_say(line, sizeof(line), &report, teeth_first(&teeth), 3);
	golden("%s\n", line);
	found(50300, 0, 1);
	teeth_say(line, sizeof(line), &report, teeth_first(&teeth), 3);
	golden("%s\n", line);
	assert_non_null(strstr(written(0), "\nModes:\n  Thin peak of RTT: 100 % near 50.3 us: rx-usecs 50: ethtool"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_distance_names_its_setting, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(another_distance_names_none, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(one_thin_peak, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(a_short_delay_has_to_fit_better, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(stamps_of_a_nic_are_before_the_interrupt, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(stages_have_their_own, set_up_teeth, tear_down),
		cmocka_unit_test_setup_teardown(the_text, set_up_teeth, tear_down),
	};

	return golden_run(tests);
}
