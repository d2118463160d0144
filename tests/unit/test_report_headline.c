/* build: sources=report/verdict/verdict_finding.c,report/text/label.c,report/text/limit.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The line that a person quotes. */
#include "report/text/headline.c"

#include "fake_report.h"

static struct verdict verdict;

static void headline(void)
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&histogram);
	headline_write(out, &report);
	fclose(out);
	golden("%s", text);
}

static void lasted(int64_t ns)
{
	result.started = true;
	result.began_ns = NS_PER_S;
	result.ended_ns = NS_PER_S + ns;
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
	headline();
	report.verdict = &verdict;
	counter_add(&result.account.lost, 1234567);
	headline();
	verdict.level = VERDICT_DOUBTFUL;
	headline();
	verdict.level = VERDICT_VOID;
	headline();
	/* A reflector does not know the losses. */
	options.role = ROLE_REFLECT;
	headline();
}

static void what_there_is_too_little_of(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 5500, 10000);
	headline();
	forget_samples(&histogram, 5500, 9999);
	headline();
	forget_samples(&histogram, 5500, 1);
	headline();
	forget_samples(&histogram, 0, 0);
	headline();
	options.role = ROLE_EMIT;
	counter_add(&result.account.lost, 12);
	lasted(3 * NS_PER_S);
	headline();
}

static void above_the_overflow(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	forget_samples(&histogram, 200 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	headline();
}

static void times_as_somebody_says_them(void **state)
{
	static const int64_t ns[] = { 0, 999, 12 * NS_PER_MS, 2529 * NS_PER_MS, 10 * NS_PER_S, 99994 * NS_PER_MS,
				      86400 * NS_PER_S + 1 };

	(void)state;
	options.role = ROLE_REFLECT;
	for (size_t i = 0; i < COUNT_OF(ns); i++) {
		lasted(ns[i]);
		headline();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_run_to_quote),
		TEST(what_there_is_too_little_of),
		TEST(above_the_overflow),
		TEST(times_as_somebody_says_them),
	};

	return golden_run(tests);
}
