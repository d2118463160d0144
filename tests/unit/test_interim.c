/* build: sources=@report,report/text/interval.c,report/text/progress.c,host/process/signals.c,host/process/loop.c,host/process/memory.c,host/process/worker.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The interim report: its text, its line, and the time when it is due. */
#include "report/text/interim.c"

#include "fake_report.h"

static void all(FILE *out)
{
	interim_write(out, &report, &histogram, 12.34, 0);
}

static void line(FILE *out)
{
	interim_write_line(out, &report, &histogram, 3600);
}

static void without_latencies(FILE *out)
{
	interim_write(out, &report, NULL, 1, 0);
	interim_write_line(out, &report, NULL, 1);
}

static void show(void (*write_it)(FILE *out))
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	write_it(out);
	fclose(out);
	golden("%s", text);
}

static void of_a_reflector(void **state)
{
	struct account *a = &result.account;

	(void)state;
	options.role = ROLE_REFLECT;
	options.histogram = false;
	for (uint32_t i = 0; i < 3; i++)
		histogram_add(&histogram, 1000 * (i + 1), i);
	counter_add(&a->received, 10);
	counter_add(&a->sent, 3);
	counter_add(&a->recorded, 3);
	counter_add(&a->disallowed, 4);
	counter_add(&a->over_rate, 3);
	counter_add(&a->missing_tx, 1);
	counter_add(&result.sessions, 2);
	show(all);
	show(line);
}

static void of_an_emitter(void **state)
{
	(void)state;
	options.threshold_ns = 1;
	histogram_add(&histogram, 5000, 1);
	counter_add(&result.account.sent, 2);
	counter_add(&result.account.lost, 1);
	show(line);
	show(all); /* as it has --histogram */
	show(all);
}

static void what_cannot_be_read_is_reported(void **state)
{
	(void)state;
	show(without_latencies);
}

/* The copy has no sample above --overflow to the nanosecond. */
static void a_copy_has_its_percentiles(void **state)
{
	struct interim s = { .report = &report };
	struct histogram copy;
	const struct histogram *h;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, (int64_t)(200 + i * 37 % 100) * NS_PER_US, i);
	h = copy_histogram(&s, &copy);
	assert_ptr_equal(h, &copy);
	assert_in_range(histogram_percentile(h, 50, 100).value_ns, 249 * NS_PER_US * 1023 / 1024, 249 * NS_PER_US);
	assert_int_equal(histogram_percentile(h, 1, 1).value_ns, 299 * NS_PER_US);
	interim_stop(&s);
	assert_null(s.memory);
}

static void lines_are_due(void **state)
{
	struct interim s = { .report = &report };

	(void)state;
	assert_false(is_due(&s.next_ns, options.summary_ns, 100 * NS_PER_S, 1)); /* not asked for */
	options.summary_ns = 10 * NS_PER_S;
	assert_false(is_due(&s.next_ns, options.summary_ns, 9 * NS_PER_S, NS_PER_S));
	assert_true(is_due(&s.next_ns, options.summary_ns, 11 * NS_PER_S, NS_PER_S));
	assert_false(is_due(&s.next_ns, options.summary_ns, 11 * NS_PER_S + 1, NS_PER_S));
	assert_false(is_due(&s.next_ns, options.summary_ns, 21 * NS_PER_S - 1, NS_PER_S));
	assert_true(is_due(&s.next_ns, options.summary_ns, 21 * NS_PER_S + 5, NS_PER_S));
	/* After a halt one line, and the next one when it would have been. */
	assert_true(is_due(&s.next_ns, options.summary_ns, 58 * NS_PER_S, NS_PER_S));
	assert_false(is_due(&s.next_ns, options.summary_ns, 60 * NS_PER_S, NS_PER_S));
	assert_true(is_due(&s.next_ns, options.summary_ns, 61 * NS_PER_S, NS_PER_S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(of_a_reflector, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_an_emitter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_copy_has_its_percentiles, set_up, tear_down),
		cmocka_unit_test_setup_teardown(lines_are_due, set_up, tear_down),
	};

	return golden_run(tests);
}
