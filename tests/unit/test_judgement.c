/* build: sources=@report,report/verdict/s*.c,report/verdict/v*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the conclusions, and the warning of accounts that do not balance. */
#include "report/verdict/judgement.c"

#include "fake_report.h"

static struct judgement judgement;
static struct by_second seconds;
static char said[400];

static void judge(void)
{
	struct util_capture c;

	histogram_finish(&histogram);
	result.histogram = &histogram;
	judgement = (struct judgement){ .facts.absent_bytes = -1 };
	report.facts = &judgement.facts;
	util_capture_begin(&c);
	judgement_reach(&judgement, &report, &result, &seconds);
	util_capture_end(&c, said, sizeof(said));
	assert_ptr_equal(report.verdict, &judgement.verdict);
	assert_ptr_equal(report.teeth, &judgement.teeth);
}

static bool has_reason(const char *id)
{
	for (unsigned i = 0; i < judgement.verdict.reasons; i++)
		if (!strcmp(judgement.verdict.reason[i].id, id))
			return true;
	return false;
}

static void accounts_that_do_not_balance(void **state)
{
	(void)state;
	judge();
	assert_string_equal(said, "");
	counter_add(&result.account.sent, 1);
	judge();
	assert_non_null(strstr(said, "the accounts do not balance: this is a fault of rant"));
	assert_true(has_reason("counters-unbalanced"));
}

static void a_change_of_the_level_is_a_reason(void **state)
{
	(void)state;
	memset(&seconds, 0, sizeof(seconds));
	for (int i = 0; i < 60; i++)
		steadiness_add(&seconds.levels, i * NS_PER_S, 1000, (i < 30 ? 20000 : 30000) + i % 3 * 10, 40000 + i % 5 * 10);
	seconds.second.start_ns = 100 * NS_PER_S;
	result.changes = (struct result_changes){ .count = 1, .kept = { { 130 * NS_PER_S, "CPU 3: 3000 to 2000 MHz" } } };
	judge();
	assert_int_equal(result.level_changes.count, 1);
	assert_non_null(strstr(result.level_changes.change[0].with, "CPU 3: 3000 to 2000 MHz"));
	assert_true(has_reason("level-changed"));
}

static void modes_are_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		histogram_add(&histogram, (i % 2 ? 20000 : 70000) + i % 400, i);
	judge();
	assert_int_equal(judgement.teeth.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(accounts_that_do_not_balance, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_change_of_the_level_is_a_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(modes_are_found, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
