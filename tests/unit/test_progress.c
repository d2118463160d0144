/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The progress line of a thread that looks at the run now and then. */
#include "report/text/progress.c"

#include "golden.h"

static struct options options = { .interface = "veth7" };
static struct result result = { .options = &options };
static struct progress progress = { .result = &result, .server = "10.9.8.7" };
static char said[1024];

static unsigned lines(void)
{
	unsigned n = 0;

	for (const char *c = said; *c; c++)
		n += *c == '\n';
	return n;
}

/* Without the time of day that a line begins with, and tenths of seconds. */
static void show(void)
{
	for (char *line = said, *end; (end = strchr(line, '\n')); line = end + 1) {
		char *after = strstr(line, ", after "), *tenths = after && after < end ? strchr(after, '.') : NULL;

		if (tenths && tenths < end)
			tenths[1] = '?';
		golden("%.*s\n", (int)(end - strstr(line, ": ") - 2), strstr(line, ": ") + 2);
	}
}

static void look(int times)
{
	struct util_capture capture;

	util_capture_begin(&capture);
	while (times--)
		progress_print_outage(&progress);
	util_capture_end(&capture, said, sizeof(said));
}

/* Not so that the peer is back, which the end of a run does not show. */
static void a_run_that_ends_in_an_outage(void **state)
{
	(void)state;
	result.outages = (struct outages){ 0 };
	progress.gone_since_ns = 0;
	outage_begin(&result.outages, clock_read_ns(CLOCK_MONOTONIC) - 4 * NS_PER_S);
	outage_publish(&result.outages, 9);
	look(1);
	assert_int_equal(lines(), 1);
	outage_last(&result.outages, clock_read_ns(CLOCK_MONOTONIC));
	look(2);
	assert_string_equal(said, "");
	assert_int_equal(result.outages.count, 1);
	assert_in_range(result.outages.total_ns, 4 * NS_PER_S, 3600 * NS_PER_S);
	result.outages = (struct outages){ 0 };
	progress.gone_since_ns = 0;
}

static void who_is_gone_is_reported_once_and_who_is_back_too(void **state)
{
	(void)state;
	look(2);
	assert_string_equal(said, "");
	outage_begin(&result.outages, clock_read_ns(CLOCK_MONOTONIC) - 3 * NS_PER_S);
	look(2); /* it is not long yet */
	assert_string_equal(said, "");
	outage_publish(&result.outages, 12345);
	look(3);
	assert_int_equal(lines(), 1);
	show();
	outage_end(&result.outages, clock_read_ns(CLOCK_MONOTONIC), true);
	look(3);
	assert_int_equal(lines(), 1);
	show();
	look(1);
	assert_string_equal(said, "");
}

static void one_after_the_other_between_two_looks(void **state)
{
	(void)state;
	outage_begin(&result.outages, clock_read_ns(CLOCK_MONOTONIC) - 9 * NS_PER_S);
	outage_publish(&result.outages, 1);
	look(1);
	outage_end(&result.outages, clock_read_ns(CLOCK_MONOTONIC), true);
	outage_begin(&result.outages, clock_read_ns(CLOCK_MONOTONIC) - 4 * NS_PER_S);
	outage_publish(&result.outages, UINT32_MAX);
	look(2);
	show();
}

static void a_link_that_changes_is_reported(void **state)
{
	struct util_capture capture;

	(void)state;
	util_capture_begin(&capture);
	progress_print_link(&progress, true);
	progress_print_link(&progress, false);
	progress_print_link(&progress, true);
	util_capture_end(&capture, said, sizeof(said));
	show();
}

/* Whom an echo goes to runs no reflector, and needs none. */
static void who_answers_no_echo(void **state)
{
	static const struct options o = { .transport = TRANSPORT_ICMP };

	(void)state;
	for (int refused = 0; refused <= 2; refused += 2) {
		struct util_capture capture;

		util_capture_begin(&capture);
		progress_print_silence(&o, "10.9.8.7", (uint64_t)refused);
		util_capture_end(&capture, said, sizeof(said));
		show();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_gone_is_reported_once_and_who_is_back_too),
		cmocka_unit_test(one_after_the_other_between_two_looks), cmocka_unit_test(a_run_that_ends_in_an_outage),
		cmocka_unit_test(a_link_that_changes_is_reported), cmocka_unit_test(who_answers_no_echo),
	};

	util_seed();
	return golden_run(tests);
}
