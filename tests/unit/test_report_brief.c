/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The brief report: its lines and columns, the verdict with its cure, colour, and values of any size. */
#include "report/text/brief.c"

#include "fake_report.h"

#include "host/nic/nic.h"

static struct verdict verdict;

static int set_up_brief(void **state)
{
	set_up(state);
	options.details = options.histogram = false;
	memset(&verdict, 0, sizeof(verdict));
	report.verdict = &verdict;
	result.started = true;
	result.ended_ns = 10 * NS_PER_S;
	return 0;
}

static void add_one(enum verdict_level level, const char *name, const char *found, const char *cure)
{
	struct verdict_reason *r = &verdict.reason[verdict.reasons++];

	*r = (struct verdict_reason){ .level = level, .name = name, .cure = cure };
	snprintf(r->text, sizeof(r->text), "%s", found);
	verdict.level = level > verdict.level ? level : verdict.level;
}

static unsigned count_lines(const char *all)
{
	unsigned lines = 0;

	for (; *all; all++)
		lines += *all == '\n';
	return lines;
}

/* Longer only where scripts match the line. */
static void assert_fits(const char *all, unsigned lines)
{
	assert_in_range(count_lines(all), 1, lines);
	for (const char *end; *all; all = end + 1) {
		end = strchr(all, '\n');
		if (strncmp(all, "MIN: ", 5) && end - all > BRIEF_COLUMNS)
			fail_msg("%d columns: %.*s", (int)(end - all), (int)(end - all), all);
	}
}

static void a_trusted_run_of_an_emitter(void **state)
{
	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
	counter_add(&result.account.sent, 1000);
	golden("%s\n", written(0));
	assert_fits(text, BRIEF_LINES);
}

static void add_rhythm(void)
{
	struct rhythm *r = &result.rhythm;

	*r = (struct rhythm){ .period_ns = 99999999999, .p = 1e-99, .in_phase = 1000, .of = 1000,
			      .has_suspects = true, .suspects = RHYTHM_SUSPECTS };
	for (unsigned i = 0; i < RHYTHM_SUSPECTS; i++)
		r->suspect[i] = (struct suspect){ { "lockup detector (kernel.watchdog_thresh 10)", NS_PER_S }, 10 };
}

/* With everything that adds a line, and texts that are longer than their lines. */
static void the_most_that_there_can_be(void **state)
{
	static const char *const found = "a counter with a long name 18446744073709551615, another counter with a "
					 "long name 18446744073709551615, and one more of these 18446744073709551615";

	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
	for (int i = 0; i < 5; i++)
		add_one(VERDICT_DOUBTFUL, "the NIC counted errors or drops", found, "larger rings (ethtool -G)");
	strcpy(result.nic.driver, "a_driver_with_a_very_long_name");
	report.tracing = "/sys/kernel/tracing/instances/rant";
	counter_add(&result.account.sent, UINT32_MAX);
	counter_add(&result.account.lost, UINT32_MAX / 2);
	counter_add(&result.account.late, UINT32_MAX);
	counter_add(&result.account.duplicate, UINT32_MAX);
	counter_add(&result.account.reordered, UINT32_MAX);
	counter_add(&result.account.unstamped, UINT32_MAX);
	result.directions = (struct directions){ .reported = true, .lost_forward = UINT32_MAX,
						 .lost_backward = UINT32_MAX, .discarded = UINT32_MAX,
						 .lost_unknown = UINT32_MAX };
	result.outages = (struct outages){ .count = UINT32_MAX, .total_ns = 5 * NS_PER_S, .longest_ns = NS_PER_S };
	assert_fits(written(0), BRIEF_LINES);
	golden("%s\n", written(0));
	options.threshold_ns = 1000;
	counter_add(&result.account.breaches, UINT32_MAX);
	result.breach = result.worst = joined_sample(UINT32_MAX, 100 * NS_PER_S, 1, 1, 1);
	assert_fits(written(0), BRIEF_LINES + BRIEF_LINES_BREACH);
	golden("%s\n", written(0));
	add_rhythm();
	assert_fits(written(0), BRIEF_LINES + BRIEF_LINES_BREACH + BRIEF_LINES_RHYTHM);
	golden("%s\n", written(0));
	options.histogram = true;
	assert_fits(written(0), BRIEF_LINES + BRIEF_LINES_BREACH + BRIEF_LINES_RHYTHM + BRIEF_LINES_HISTOGRAM);
}

static void a_verdict_has_its_cure(void **state)
{
	(void)state;
	add_one(VERDICT_DOUBTFUL, "lost its CPU", "0.106 s, 5.1 % of the run", "--fifo 22 on an isolated CPU");
	golden("%s\n", written(0));
	assert_non_null(strstr(text, "lost its CPU (0.106 s, 5.1 % of the run): --fifo 22"));
}

/* Two lines at most, and the cure is not cut off: with the longest name that an interface has. */
static void modes_keep_their_cure(void **state)
{
	static struct teeth teeth;
	struct tooth *t = &teeth.tooth[0];

	(void)state;
	teeth = (struct teeth){ .count = 1 };
	result.delays = (struct delays){ .count = 1, .delay = { { "gro_flush_timeout 50000", 50000,
			       "echo 0 >/sys/class/net/an_interface_15/gro_flush_timeout" } } };
	*t = (struct tooth){ .stage = TEETH_OF_LATENCY, .cause = &result.delays.delay[0] };
	t->modes = (struct modes){ .count = 12, .kept = MODES_KEPT, .samples = 1200, .distance_ns = 50012,
				   .mode[0] = { .value_ns = 1000000, .samples = 100 } };
	report.teeth = &teeth;
	golden("%s\n", written(0));
	assert_fits(text, BRIEF_LINES + BRIEF_LINES_MODES);
	assert_non_null(strstr(text, "/gro_flush_timeout\n"));
	t->modes.count = t->modes.kept = 2;
	t->modes.mode[1] = (struct mode){ .value_ns = 1050012, .samples = 1100 };
	written(0);
	assert_fits(text, BRIEF_LINES + BRIEF_LINES_MODES);
	assert_non_null(strstr(text, "/gro_flush_timeout\n"));
	t->cause = NULL;
	t->stage = STAGE_APP_TO_WIRE;
	assert_null(strstr(written(0), "modes of"));
}

/* From 100 ms on the complete report had no blank between two columns. */
static void columns_never_merge(void **state)
{
	(void)state;
	for (int64_t ns = 1; ns <= 100 * NS_PER_S; ns *= 10)
		for (int i = 0; i < 20; i++)
			histogram_add(&histogram, ns, (uint32_t)i);
	golden("%s\n", written(0));
	assert_fits(text, BRIEF_LINES);
	assert_non_null(strstr(text, " 100000000.0"));
}

static void colour_is_for_terminals(void **state)
{
	(void)state;
	add_one(VERDICT_VOID, "nothing was recorded", "0 packets sent", "see the losses");
	assert_null(strchr(written(0), '\033'));
	options.color = COLOR_ALWAYS;
	written(0);
	assert_non_null(strstr(text, "\033[1mRTT not known: no samples\033[0m\n"));
	assert_non_null(strstr(text, "\033[31mMeasurement: void\033[0m: nothing"));
	options.color = COLOR_NEVER;
	assert_null(strchr(written(0), '\033'));
}

static void lines_break_at_spaces(void **state)
{
	struct paragraph p = { .text = "" };
	char *shown_lines = NULL;
	size_t bytes;
	FILE *out = open_memstream(&shown_lines, &bytes);

	(void)state;
	for (int i = 0; i < 60; i++)
		add(&p, "word%02d ", i);
	write_lines(out, &p, 3);
	fclose(out);
	assert_int_equal(count_lines(shown_lines), 3);
	assert_fits(shown_lines, 3);
	assert_non_null(strstr(shown_lines, " ...\n"));
	golden("%s", shown_lines);
	free(shown_lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_trusted_run_of_an_emitter, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(the_most_that_there_can_be, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(a_verdict_has_its_cure, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(modes_keep_their_cure, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(columns_never_merge, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(colour_is_for_terminals, set_up_brief, tear_down),
		cmocka_unit_test_setup_teardown(lines_break_at_spaces, set_up_brief, tear_down),
	};

	return golden_run(tests);
}
