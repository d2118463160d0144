/* build: sources=report/verdict_finding.c,report/label.c,histogram.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/clock*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that a person quotes. */
#include "report/headline.c"

#include "fake_report.h"

static struct verdict verdict;

static const char *headline(void)
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&histogram);
	headline_write(out, &report);
	fclose(out);
	return text;
}

static void lasted(int64_t ns)
{
	exchange.started = true;
	exchange.began_ns = NS_PER_S;
	exchange.ended_ns = NS_PER_S + ns;
}

/* 11,000 of them: those from the 10,990th on are above 99.9 %. */
static void a_run_to_quote(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 10980; i++)
		histogram_add(&histogram, 11240, i);
	for (uint32_t i = 0; i < 19; i++)
		histogram_add(&histogram, 16449, 20000 + i);
	histogram_add(&histogram, 34439, 27246923);
	lasted(600 * NS_PER_S + 120 * NS_PER_MS);
	assert_string_equal(headline(), "RTT p50 11.2 us, p99.9 16.4 us, max 34.4 us (#27246923) of 11,000 samples in 600 s, 0 lost\n");
	report.verdict = &verdict;
	counter_add(&exchange.account.lost, 1234567);
	assert_string_equal(headline(), "RTT p50 11.2 us, p99.9 16.4 us, max 34.4 us (#27246923) of 11,000 samples in 600 s, "
			    "1,234,567 lost: trusted\n");
	verdict.level = VERDICT_DOUBTFUL;
	assert_non_null(strstr(headline(), "lost: doubtful\n"));
	verdict.level = VERDICT_VOID;
	assert_non_null(strstr(headline(), "lost: void\n"));
	/* Who answers does not know what was lost. */
	options.role = ROLE_REFLECT;
	assert_string_equal(headline(), "Response p50 11.2 us, p99.9 16.4 us, max 34.4 us (#27246923) of 11,000 samples in 600 s: void\n");
}

static void what_there_is_too_little_of(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 5500, 10000);
	assert_string_equal(headline(), "Response p50 5.50 us, p99.9 5.50 us, max 5.50 us (#0) of 10,000 samples in 0 s\n");
	forget_samples(&histogram, 5500, 9999);
	assert_string_equal(headline(), "Response p50 5.50 us, p99.9 5.50 us, max 5.50 us (#0) of 9,999 samples (too few for p99.9) in 0 s\n");
	forget_samples(&histogram, 5500, 1);
	assert_string_equal(headline(), "Response p50 5.50 us, p99.9 5.50 us, max 5.50 us (#0) of 1 sample (too few for p99.9) in 0 s\n");
	forget_samples(&histogram, 0, 0);
	assert_string_equal(headline(), "Response not known: no samples in 0 s\n");
	options.role = ROLE_EMIT;
	counter_add(&exchange.account.lost, 12);
	lasted(3 * NS_PER_S);
	assert_string_equal(headline(), "RTT not known: no samples in 3 s, 12 lost\n");
}

static void bounds_are_told(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	assert_string_equal(headline(), "Response p50 >= 100.0 us, p99.9 >= 100.0 us, max 200.0 us (#0) of 131,073 samples in 0 s\n");
}

static void times_as_somebody_says_them(void **state)
{
	static const struct {
		int64_t ns;
		const char *end;
	} rows[] = {
		{ 0, " in 0 s\n" }, { 999, " in 0 s\n" }, { 12 * NS_PER_MS, " in 0.012 s\n" }, { 2529 * NS_PER_MS, " in 2.53 s\n" },
		{ 10 * NS_PER_S, " in 10 s\n" }, { 99994 * NS_PER_MS, " in 100 s\n" }, { 86400 * NS_PER_S + 1, " in 86400 s\n" },
	};

	(void)state;
	options.role = ROLE_REFLECT;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		lasted(rows[i].ns);
		headline();
		assert_string_equal(text + strlen(text) - strlen(rows[i].end), rows[i].end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_to_quote),
		TEST(what_there_is_too_little_of),
		TEST(bounds_are_told),
		TEST(times_as_somebody_says_them),
	};

	return cmocka_run_group_tests_name("headline", tests, NULL, NULL);
}
