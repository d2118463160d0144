/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The report as a whole: a run with one of everything, the last lines, and the configuration before it. */
#include "report/text/report.c"
#include "report/text/configuration.c"

#include "fake_report.h"

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* All that a reflector writes. Options about the other host, which an emitter has, change nothing in it. */
static void the_report_of_a_reflector(void **state)
{
	struct account *a = &result.account;
	counter *const counters[] = { &a->sent, &a->received, &a->warmup, &a->recorded, &a->unstamped, &a->negative,
				      &a->stepped,
				      &a->repeated, &a->reordered, &a->foreign, &a->malformed, &a->unverified,
				      &a->disallowed,
				      &a->too_short, &a->no_session, &a->replayed, &a->over_rate, &a->malformed_tlv,
				      &a->unanswered, &a->refused, &result.sessions, &result.evicted, &a->woken };

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	options.plain = false; /* nothing that a reflector is asked */
	for (size_t i = 0; i < COUNT_OF(counters); i++)
		counter_add(counters[i], 101 + i);
	result.started = true;
	result.last_ns = result.ended_ns = 10 * NS_PER_S;
	breach_at(7, 303038, 592, 26521);
	show_report();
}

/* Scripts look rows up by their names: no two have the same, whatever of the report is there. */
static void no_two_rows_have_one_name(void **state)
{
	char names[128][64];
	int n = 0;

	(void)state;
	options.verbose = true;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	result.directions = (struct directions){ .reported = true, .lost_unknown = 1, .discarded = 1,
						 .duplicate_forward = 1,
						   .duplicate_backward = 1, .reordered_forward = 1,
						   .reordered_backward = 1,
						   .restarts = 1 };
	counter_add(&result.account.answered, 1);
	counter_add(&result.account.follow_up_late, 1);
	counter_add(&result.account.unjudged, 1);
	counter_add(&result.account.breaches, 1);
	result.breach = result.worst = joined_sample(7, 1, 1, 1, 1);
	show_report();
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *end = strstr(line, ":  ");

		if (line[0] != ' ' || line[1] != ' ' || line[2] == ' ' || !end || end - line >= 64)
			continue;
		while (end[-1] == ' ')
			end--;
		assert_true(n < 128);
		snprintf(names[n], sizeof(names[n]), "%.*s", (int)(end - line - 2), line + 2);
		for (int i = 0; i < n; i++)
			if (!strcmp(names[i], names[n]))
				fail_msg("there are two rows '%s'", names[i]);
		n++;
	}
	/* Histogram 5, packets 26, directions 9, stamps of the reflector 9, missing stamps 10. */
	assert_int_equal(n, 59);
}

static void what_no_other_cpu_means(void **state)
{
	(void)state;
	show_report();
	report.no_other_cpu = true;
	show_report();
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static struct verdict verdict;

static void give_verdict(enum verdict_level level, unsigned reasons)
{
	verdict = (struct verdict){
		.level = level, .reasons = reasons, .unjudgeds = 1,
		.reason = { { level, "stamps are missing", "they may have been slow", "3 of 9" },
			    { VERDICT_DOUBTFUL, "page faults during the run", "each stops the thread", "2" } },
		.unjudged = { { VERDICT_DOUBTFUL, "the CPU's frequency changed", "no", "" } },
	};
	report.verdict = &verdict;
}

static void the_verdict_is_on_top(void **state)
{
	(void)state;
	report.no_other_cpu = true;
	give_verdict(VERDICT_TRUSTED, 0);
	show_report();
	give_verdict(VERDICT_DOUBTFUL, 1);
	strcpy(verdict.reason[0].more, " for 1.104 s");
	show_report();
	*verdict.reason[0].more = '\0';
	show_report();
	give_verdict(VERDICT_VOID, 2);
	show_report();
	/* Before its cause, too. */
	options.threshold_ns = 100000;
	histogram_add(&histogram, 200000, 7);
	breach_at(7, 1, 200000, 1);
	show_report();
	report.verdict = NULL;
	show_report();
}

static void why_a_reason_matters(void **state)
{
	(void)state;
	options.verbose = true;
	give_verdict(VERDICT_DOUBTFUL, 2);
	show_report();
}

static void tracing_is_a_note(void **state)
{
	(void)state;
	give_verdict(VERDICT_TRUSTED, 0);
	report.tracing = "/t/instances/rant";
	show_report();
}

/* ---- The configuration ------------------------------------------------------------------------------------------- */

static void write_configuration(void)
{
	const struct memory some = { .bytes = 3 << 20 };
	size_t bytes;

	take_results();
	strcpy(result.nic.name, "veth0");
	strcpy(result.nic.driver, "veth");
	result.granted.transport = "UDP";
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	report_configuration(out, &report, &some, &some);
	fclose(out);
}

static void show_configuration(void)
{
	write_configuration();
	golden("%s--\n", text);
}

static void what_stands_before_libc(void **state)
{
	(void)state;
	for (int direct = 0; direct <= 1; direct++) {
		result.granted.preloaded = !direct;
		write_configuration();
		assert_int_equal(strstr(text, "Packets go through a preloaded library (LD_PRELOAD)\n") != NULL,
				 !direct);
	}
}

static void the_trace_in_the_configuration(void **state)
{
	(void)state;
	show_configuration();
	traced();
	show_configuration();
	trace.snapshot = true;
	trace.spare_bytes = 5 << 19;
	show_configuration();
}

static void the_log_in_the_configuration(void **state)
{
	(void)state;
	write_log(0);
	log_assign(&transactions, NULL, 500000, false, false);
	show_configuration();
	result.log.beside = false;
	show_configuration();
	log_assign(&transactions, NULL, 500000, true, false);
	show_configuration();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(the_report_of_a_reflector),
		TEST(no_two_rows_have_one_name),
		TEST(what_no_other_cpu_means),
		TEST(the_verdict_is_on_top),
		TEST(why_a_reason_matters),
		TEST(tracing_is_a_note),
		TEST(what_stands_before_libc), TEST(the_trace_in_the_configuration),
		TEST(the_log_in_the_configuration),
	};

	return golden_run(tests);
}
