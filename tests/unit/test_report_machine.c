/* build: sources=@report libs=-lm */
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

static const struct result_difference few[] = {
	{ "Measuring thread", "involuntary switches", "", ACTIVITY_COUNTED, .delta = 3 },
	{ "Measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, .delta = 18446744073709551615U },
	{ "CPU 1", "frequency", "kHz", ACTIVITY_CHANGED, .from = 3000000, .to = 800000 },
	{ "CPU 1", "governor", "", ACTIVITY_CHANGED, .from = 1, .to = 2 },
	{ "veth0", "rx_missed", "", ACTIVITY_RESET, .delta = 9, .from = 70, .to = 2 },
	{ "veth0", "busy", "us", ACTIVITY_RESET, .from = 70, .to = 2 },
	{ "veth0", "tx_lost", "", ACTIVITY_GONE, .from = 5 },
};

static const struct result_difference one[] = { { "Whole run", "packets", "", ACTIVITY_COUNTED, .delta = 1 } };

static struct result_differences some(const struct result_difference *list, size_t count)
{
	return (struct result_differences){ .known = true, .count = count, .list = (struct result_difference *)list };
}

static struct result_activity *active(void)
{
	result.activity = (struct result_activity){ .is_read = true, .run = some(one, 1),
						    .until_breach = some(few, COUNT_OF(few)) };
	return &result.activity;
}

static void differences_of_each_kind(void **state)
{
	(void)state;
	active();
	show_report();
}

static void until_the_breach_and_during_the_run(void **state)
{
	struct result_activity *a = active();

	(void)state;
	/* It went on after the first breach. */
	options.keep_going = true;
	a->until_breach.mark[1] = 70;
	show_report();
	show_report();
	a->before_worst = some(one, 1);
	a->before_worst.mark[0] = 3;
	a->before_worst.mark[1] = 18446744073709551615U;
	show_report();
	a->before_worst.count = a->run.count = 0;
	show_report();
	a->run.count = 1;
	a->before_worst.known = false;
	/* There was none: only for who wants to know. */
	a->until_breach.known = false;
	options.keep_going = false;
	show_report();
	options.verbose = true;
	show_report();
}

/* The run ended before, or it was not asked for. */
static void no_reading_no_difference(void **state)
{
	struct result_activity *a = active();

	(void)state;
	a->run.known = false;
	show_report();
	a->until_breach.known = false;
	show_report();
	*a = (struct result_activity){ 0 };
	show_report();
}

static void more_differences_than_the_list_holds(void **state)
{
	static struct result_difference many[201];
	struct result_activity *a = active();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		many[i] = (struct result_difference){ "Many", "", "", ACTIVITY_COUNTED, .delta = 1000 + i };
		snprintf(many[i].name, sizeof(many[i].name), "number %zu", i);
	}
	a->until_breach = some(many, 200);
	show_report();
	a->until_breach.count = 201;
	show_report();
}

static void what_cannot_be_reported_of_the_machine(void **state)
{
	struct result_activity *a = active();

	(void)state;
	a->until_breach = some(one, 1);
	a->unreadables = 2;
	strcpy(a->unreadable[0], "SMI count (/dev/cpu/1/msr: No such file or directory)");
	strcpy(a->unreadable[1], "frequency (no cpufreq)");
	strcpy(a->unreadable[2], "left over");
	show_report();
	options.verbose = true;
	show_report();
	options.verbose = false;
	a->counters_left_out = 5;
	show_report();
	a->unreadables_left_out = 2;
	show_report();
	a->counters_left_out = 0;
	show_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(counters_without_a_spike),
		TEST(counters_of_a_spike),
		TEST(what_the_counters_are_not),
		TEST(differences_of_each_kind),
		TEST(until_the_breach_and_during_the_run),
		TEST(no_reading_no_difference),
		TEST(more_differences_than_the_list_holds),
		TEST(what_cannot_be_reported_of_the_machine),
	};

	return golden_run(tests);
}
