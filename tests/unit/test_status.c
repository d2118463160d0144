/* build: wraps=warnx sources=report/verdict/verdict.c,report/verdict/steadiness.c,histogram.c,report/text/label.c,report/verdict/verdict_activity.c,report/verdict/verdict_finding.c,report/verdict/verdict_outage.c,report/verdict/verdict_remote.c,host/counters/activity*.c,host/clock/clock*.c,host/nic/nic*.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The exit status, and the text of a failure: the errors instead of an answer, and the reason why -q ends with 3. */
#include "report/text/status.c"

#include "util.h"

#include <stdarg.h>

static struct options options;
static struct result result;
static struct verdict verdict;
static struct report report = { .options = &options, .result = &result, .verdict = &verdict };
static char said[1024];

void __wrap_warnx(const char *format, ...);
void __wrap_warnx(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + strlen(said), sizeof(said) - strlen(said), format, arguments);
	va_end(arguments);
	strcat(said, "\n");
}

/* An emitter to whom all was answered. */
static int set_up(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&result, 0, sizeof(result));
	memset(&verdict, 0, sizeof(verdict));
	options.stamp = SOURCE_KERNEL;
	counter_add(&result.account.answered, 10);
	counter_add(&result.account.recorded, 10);
	return 0;
}

static void expect(enum status status, const char *words)
{
	*said = 0;
	assert_int_equal(status_judge(&report, "10.0.0.2 port 862", 0), status);
	assert_string_equal(said, words);
}

#define NOTHING "nothing was measured: 10.0.0.2 port 862 "

/* The most specific reason: each row outranks the row before. */
static void nobody_answered(void **state)
{
	struct account *a = &result.account;
	struct {
		counter *count;
		const char *words;
	} rows[] = {
		{ &a->refused, NOTHING "never answered\n" },
		{ &a->port_closed,
		  "nothing was measured: no program listens on 10.0.0.2 port 862 (ICMP port unreachable): start a "
		  "reflector "
				   "there, or give its --port\n" },
		{ &a->foreign,
		  NOTHING "answers, but is not a STAMP reflector: no packet was a reply to our probes\n" },
		{ &a->malformed,
		  NOTHING "answers, but is not a STAMP reflector: no packet was a reply to our probes\n" },
		{ &a->late, NOTHING "answers, but always after --timeout: give a longer --timeout\n" },
		{ &a->unverified,
		  NOTHING "answers, but the HMAC of its replies is wrong or missing: does it have this --key?\n" },
	};

	(void)state;
	a->answered = a->recorded = 0;
	expect(STATUS_FAILED, NOTHING "never answered\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		counter_add(rows[i].count, 1);
		expect(STATUS_FAILED, rows[i].words);
	}
	a->foreign = 0; /* malformed replies are enough */
	a->late = a->unverified = 0;
	expect(STATUS_FAILED, rows[3].words);
	/* A reflector asks nobody. */
	options.role = ROLE_REFLECT;
	expect(STATUS_DONE, "");
}

static void why_the_status_is_3(void **state)
{
	(void)state;
	verdict = (struct verdict){ .level = VERDICT_DOUBTFUL, .reasons = 2,
				    .reason = { { VERDICT_DOUBTFUL, "stamps are missing", "", "3 of 9", "" },
						{ VERDICT_DOUBTFUL, "the peer did not answer", "", "2.00 %",
						  " for 1.0 s" } } };
	expect(STATUS_DONE, "");
	options.quiet = true;
	expect(STATUS_DONE, "");
	/* The report has said so already. */
	options.strict = true;
	expect(STATUS_UNTRUSTED,
	       "the measurement is doubtful: stamps are missing (3 of 9); the peer did not answer for 1.0 s (2.00 %)\n");
	options.quiet = false;
	expect(STATUS_UNTRUSTED, "");
	verdict.level = VERDICT_VOID;
	options.strict = false;
	expect(STATUS_UNTRUSTED, "");
}

/* Only a reflector, only by a signal, and only where nothing came. */
static void a_reflector_that_nobody_used(void **state)
{
	(void)state;
	result.account.answered = result.account.recorded = 0;
	verdict.level = VERDICT_VOID;
	options.role = ROLE_REFLECT;
	result.end = END_DURATION;
	expect(STATUS_UNTRUSTED, "");
	result.end = END_SIGNAL;
	expect(STATUS_DONE, "");
	options.strict = options.quiet = true;
	expect(STATUS_DONE, "");
	counter_add(&result.account.received, 1);
	options.quiet = false;
	expect(STATUS_UNTRUSTED, "");
}

static void what_comes_first(void **state)
{
	(void)state;
	verdict.level = VERDICT_VOID;
	counter_add(&result.account.breaches, 1);
	expect(STATUS_BREACH, "");
	options.keep_going = true;
	assert_int_equal(status_judge(&report, "", -EIO), STATUS_FAILED);
	expect(STATUS_UNTRUSTED, "");
}

#define TEST(function) cmocka_unit_test_setup(function, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_answered),
		TEST(why_the_status_is_3),
		TEST(a_reflector_that_nobody_used),
		TEST(what_comes_first),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
