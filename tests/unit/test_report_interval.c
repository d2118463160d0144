/* build: sources=histogram.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The samples of one interval, as the difference of two copies of the histogram. */
#include "report/text/interval.c"

#include "util.h"

static struct histogram histogram, copy;
static struct result result;
static struct interval interval;
static struct interval_line line;
static char memory[1 << 20], of_copy[1 << 20], text[160];

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(&histogram, 0, sizeof(histogram));
	memset(&result, 0, sizeof(result));
	assert_in_range(histogram_layout(&histogram, 100 * NS_PER_US, 1, 64), 1, sizeof(memory));
	histogram_assign(&histogram, memory);
	interval = (struct interval){ .began_ns = NS_PER_S };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	interval_close(&interval);
	return 0;
}

static void add_samples(int n, int64_t ns)
{
	for (int i = 0; i < n; i++)
		histogram_add(&histogram, ns, (uint32_t)i);
	counter_add(&result.account.recorded, (uint64_t)n);
	if (ns > result.account.recent_max_ns)
		result.account.recent_max_ns = ns;
}

static const char *end_at(int64_t now_ns, bool whole)
{
	memset(of_copy, 0, sizeof(of_copy));
	assert_true(histogram_copy(&copy, of_copy, &histogram));
	interval_end(&interval, &line, &result, &copy, now_ns);
	interval_write(text, sizeof(text), &line, whole);
	return text;
}

static void intervals_are_not_cumulative(void **state)
{
	(void)state;
	add_samples(1000, 5000);
	counter_add(&result.account.lost, 3);
	assert_string_equal(end_at(2 * NS_PER_S, false),
			    "1.0 s  1000 samples  1000/s  p50 5.000 us  p99 5.000 us  max 5.000 us  lost 3");
	add_samples(99, 7000);
	add_samples(2, 90000);
	assert_string_equal(end_at(4 * NS_PER_S, false),
			    "3.0 s  101 samples  50/s  p50 7.000 us  p99 90.000 us  max 90.000 us  lost 0");
	add_samples(300, 1);
	assert_string_equal(end_at(5 * NS_PER_S, true),
			    "4.0 s  1401 samples  300/s  p50 0.001 us  p99 0.001 us  max 0.001 us  lost 0");
}

/* More than 255 in one bucket are carried. */
static void carries_are_subtracted(void **state)
{
	(void)state;
	add_samples(70000, 10);
	end_at(2 * NS_PER_S, false);
	add_samples(69999, 10);
	add_samples(70001, 20);
	end_at(3 * NS_PER_S, false);
	assert_int_equal(line.samples, 140000);
	assert_int_equal(line.p50.value_ns, 20);
	assert_int_equal(histogram_percentile(&histogram, 50, 100).value_ns, 10);
}

/* Above --overflow buckets are at most 1/1024 wide. */
static void overflow_samples_are_those_of_the_interval(void **state)
{
	(void)state;
	add_samples(10, 900 * NS_PER_US);
	end_at(2 * NS_PER_S, false);
	for (int i = 10; i > 0; i--)
		add_samples(1, (200 + i) * NS_PER_US);
	end_at(3 * NS_PER_S, false);
	assert_in_range(line.p50.value_ns, 205 * NS_PER_US - 205 * NS_PER_US / 1024, 205 * NS_PER_US);
	assert_in_range(line.p99.value_ns, 210 * NS_PER_US - 210 * NS_PER_US / 1024, 210 * NS_PER_US);
}

static void nothing_came(void **state)
{
	(void)state;
	assert_string_equal(end_at(2 * NS_PER_S, false), "1.0 s  0 samples  0/s  p50 -  p99 -  max -  lost 0");
	add_samples(5, 100);
	interval_end(&interval, &line, &result, NULL, 3 * NS_PER_S);
	assert_false(line.known);
	assert_int_equal(line.samples, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(intervals_are_not_cumulative, set_up, tear_down),
		cmocka_unit_test_setup_teardown(carries_are_subtracted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(overflow_samples_are_those_of_the_interval, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_came, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
