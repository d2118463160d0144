/* build: wraps=activity_differences sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Activity of the machine: hardware counters and differences of readings. */
#include "report/text/machine.c"

#include "fake_report.h"

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

static void counted(void)
{
	hardware = (struct pmc){ .counters = 3, .event = { 0, 1, 8 }, .quick = 4, .quick_sum = { 40000, 10, 0 } };
}

static void counters_without_a_spike(void **state)
{
	(void)state;
	show_report();
	counted();
	show_report();
}

static void counters_of_a_spike(void **state)
{
	(void)state;
	counted();
	hardware.slow = 2;
	hardware.spike[0] = 987654321;
	hardware.spike[1] = 1;
	hardware.slow_sum[0] = 5000000000;
	show_report();
	/* All were slow: there is no mean, and 0 is none. */
	hardware.quick = 0;
	show_report();
}

static void what_the_counters_are_not(void **state)
{
	(void)state;
	counted();
	hardware.counters = 1;
	hardware.partial[0] = true;
	hardware.user_only = true;
	strcpy(hardware.missing, "cache-misses, page-faults");
	hardware.failed = 12;
	hardware.system_calls = 2;
	show_report();
	hardware.slow = 1;
	hardware.spike[0] = 3;
	show_report();
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

static struct activity activity;
static struct activity_reading at_start, at_breach, at_end;

/* Off by default: then the real one is asked. */
static struct {
	const struct activity_difference *until_breach, *until_end;
	size_t breach_count, end_count;
} differences;

size_t __real_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max);
size_t __wrap_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max);
size_t __wrap_activity_differences(const struct activity *a, const struct activity_reading *before,
				   const struct activity_reading *after, struct activity_difference *list, size_t max)
{
	const bool breach = after == &at_breach;
	const struct activity_difference *from = breach ? differences.until_breach : differences.until_end;
	const size_t count = breach ? differences.breach_count : differences.end_count;

	if (!from)
		return __real_activity_differences(a, before, after, list, max);
	assert_ptr_equal(a, &activity);
	assert_ptr_equal(before, &at_start);
	assert_true(breach || after == &at_end);
	memcpy(list, from, (count < max ? count : max) * sizeof(*list));
	return count;
}

static const struct activity_difference few[] = {
	{ "Measuring thread", "involuntary switches", "", ACTIVITY_COUNTED, .delta = 3 },
	{ "Measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, .delta = 18446744073709551615U },
	{ "CPU 1", "frequency", "kHz", ACTIVITY_CHANGED, .from = 3000000, .to = 800000 },
	{ "CPU 1", "governor", "", ACTIVITY_CHANGED, .from = 1, .to = 2 },
	{ "veth0", "rx_missed", "", ACTIVITY_RESET, .delta = 9, .from = 70, .to = 2 },
	{ "veth0", "busy", "us", ACTIVITY_RESET, .from = 70, .to = 2 },
	{ "veth0", "tx_lost", "", ACTIVITY_GONE, .from = 5 },
};

static const struct activity_difference one[] = { { "Whole run", "packets", "", ACTIVITY_COUNTED, .delta = 1 } };

static void active(void)
{
	memset(&activity, 0, sizeof(activity));
	differences.until_breach = few;
	differences.breach_count = COUNT_OF(few);
	differences.until_end = one;
	differences.end_count = 1;
	report.activity = &activity;
	report.activity_start = &at_start;
	report.activity_breach = &at_breach;
	report.activity_end = &at_end;
}

static int tear_down_activity(void **state)
{
	memset(&differences, 0, sizeof(differences));
	return tear_down(state);
}

static void differences_of_each_kind(void **state)
{
	(void)state;
	active();
	show_report();
}

static void until_the_breach_and_during_the_run(void **state)
{
	(void)state;
	active();
	/* It went on after the first breach. */
	options.keep_going = true;
	at_start.mark = 3;
	at_breach.mark = 70;
	at_end.mark = 18446744073709551615U;
	show_report();
	show_report();
	report.activity_before_worst = &at_start;
	report.activity_worst = &at_end;
	show_report();
	differences.end_count = 0;
	show_report();
	differences.end_count = 1;
	report.activity_before_worst = report.activity_worst = NULL;
	/* There was none: only for who wants to know. */
	report.activity_breach = NULL;
	options.keep_going = false;
	show_report();
	options.verbose = true;
	show_report();
}

/* The run ended before, or it was not asked for. */
static void no_reading_no_difference(void **state)
{
	(void)state;
	active();
	report.activity_end = NULL;
	show_report();
	report.activity_end = &at_end;
	report.activity_start = NULL;
	show_report();
	report.activity = NULL;
	report.activity_start = &at_start;
	show_report();
}

static void more_differences_than_the_list_holds(void **state)
{
	static struct activity_difference many[201];
	static char name[201][16];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		snprintf(name[i], sizeof(name[i]), "number %zu", i);
		many[i] = (struct activity_difference){ "Many", name[i], "", ACTIVITY_COUNTED, .delta = 1000 + i };
	}
	active();
	differences.until_breach = many;
	differences.breach_count = 200;
	show_report();
	differences.breach_count = 201;
	show_report();
}

static void what_cannot_be_reported_of_the_machine(void **state)
{
	(void)state;
	active();
	differences.until_breach = one;
	differences.breach_count = 1;
	activity.unreadables = 2;
	strcpy(activity.unreadable[0], "SMI count (/dev/cpu/1/msr: No such file or directory)");
	strcpy(activity.unreadable[1], "frequency (no cpufreq)");
	strcpy(activity.unreadable[2], "left over");
	show_report();
	options.verbose = true;
	show_report();
	options.verbose = false;
	activity.counters_left_out = 5;
	show_report();
	activity.unreadables_left_out = 2;
	show_report();
	activity.counters_left_out = 0;
	show_report();
}

#define ACTIVITY_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down_activity)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(counters_without_a_spike),
		TEST(counters_of_a_spike),
		TEST(what_the_counters_are_not),
		ACTIVITY_TEST(differences_of_each_kind),
		ACTIVITY_TEST(until_the_breach_and_during_the_run),
		ACTIVITY_TEST(no_reading_no_difference),
		ACTIVITY_TEST(more_differences_than_the_list_holds),
		ACTIVITY_TEST(what_cannot_be_reported_of_the_machine),
	};

	return golden_run(tests);
}
