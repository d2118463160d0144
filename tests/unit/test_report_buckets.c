/* build: sources=report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of a histogram: unfolded, or folded to forty, with every sample in exactly one row. */
#include "report/text/buckets.c"

#include "fake_report.h"

static const char *rows(int columns)
{
	size_t bytes;
	free(text);
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&histogram);
	buckets_write(out, &histogram, &options, columns);
	fclose(out);
	return text;
}

static int lines(void)
{
	return times_in(text, "\n");
}

/* Adds up the printed rows in order; fails if a row begins before the end of the row before, and where rows are folded
 * and the gap between them is not printed. */
static uint64_t sum_of_rows(void)
{
	const bool folded = buckets_are_folded(&histogram, &options);
	const double none = -1;
	double before = none;
	uint64_t sum = 0, powers = 0;
	bool gap = false;

	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		unsigned long long count;
		double from, to = 0;

		if (!strncmp(line, "  ...\n", 6)) {
			gap = true;
			continue;
		}
		if (sscanf(line, " %lf - %lf | %llu", &from, &to, &count) == 3) {
			assert_true(from >= before && to > from && count);
			before = to;
			powers += count;
			continue;
		}
		assert_int_equal(powers, 0);
		if (sscanf(line, " %lf - (overflow) : %llu", &from, &count) != 2)
			assert_true(sscanf(line, " %lf - %lf : %llu", &from, &to, &count) == 3 && count);
		assert_true(before == none || (gap ? from > before : folded ? from == before : from >= before));
		assert_true(folded || !gap);
		before = to;
		gap = false;
		sum += count;
	}
	assert_int_equal(powers, histogram.overflows);
	return sum;
}

static void add(int64_t us, uint32_t samples)
{
	for (uint32_t i = 0; i < samples; i++)
		histogram_add(&histogram, us * NS_PER_US + 500, i);
}

/* 39 buckets and that of the overflow are as they are, without bars and marks in a file. */
static void forty_rows_are_not_folded(void **state)
{
	(void)state;
	for (int64_t us = 0; us < 78; us += 2)
		add(us, 1);
	assert_false(buckets_are_folded(&histogram, &options));
	rows(0);
	assert_int_equal(lines(), 40);
	assert_no(text, "...");
	assert_no(text, "#");
	add(79, 1);
	assert_true(buckets_are_folded(&histogram, &options));
	rows(0);
	assert_true(lines() <= 40);
	assert_non_null(strstr(text, "  ...\n"));
	assert_non_null(strstr(text, "%  ##"));
	assert_int_equal(sum_of_rows(), 40);
	options.verbose = true;
	assert_false(buckets_are_folded(&histogram, &options));
	rows(0);
	assert_int_equal(lines(), 41);
	assert_no(text, "...");
}

/* Where most are, each bucket has its row; the few beside them share theirs, and the outlier has its own. */
static void the_finest_rows_are_where_the_samples_are(void **state)
{
	(void)state;
	for (int64_t us = 10; us < 20; us++)
		add(us, 1000);
	for (int64_t us = 20; us < 70; us++)
		add(us, 3);
	add(98, 1);
	rows(0);
	assert_true(lines() <= 40);
	assert_true(lines() >= 35);
	for (int us = 10; us < 20; us++) {
		char row[64];

		snprintf(row, sizeof(row), "\n  %12.3f - %12.3f :         1000 ", (double)us, us + 1.0);
		assert_non_null(strstr(text, row + (us == 10))); /* the first begins the text */
	}
	assert_line(text, "  ...");
	assert_non_null(strstr(text, "\n        98.000 -       99.000 :            1   0.0099%\n"));
	assert_int_equal(sum_of_rows(), 10151);
	assert_non_null(strstr(text, "100.000 -   (overflow) :            0   0.0000%\n"));
}

/* Buckets of 1 ns, by chance: however they lie, there are no more rows, none is empty, and no sample is missing. */
static void whatever_they_are_like(void **state)
{
	(void)state;
	options.bucket_ns = 1;
	for (int round = 0; round < 30; round++) {
		const uint64_t spread = 50 + util_below(120000), n = 100 + util_below(3000);

		forget_samples(&histogram, 0, 0);
		for (uint64_t i = 0; i < n; i++)
			histogram_add(&histogram, (int64_t)(util_below(spread) & (round % 3 ? ~0ULL : 0xff0fULL)),
				      (uint32_t)i);
		rows(round % 2 ? 100 : 0);
		if (buckets_are_folded(&histogram, &options))
			assert_in_range(lines(), 20, 40);
		assert_int_equal(sum_of_rows(), n);
	}
}

/* The overflow is divided by powers of two, the first of which begins at the limit, and the rows stay forty. */
static void powers_of_two_above_the_limit(void **state)
{
	static const int64_t us[] = { 100, 131, 132, 200, 300, 5000, 137438, 10000000 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(us); i++)
		add(us[i], (uint32_t)(i + 1));
	rows(0);
	assert_line(text, "       100.000 -   (overflow) :           36 100.0000%");
	assert_line(text, "       100.000 -      131.072 |            1   2.7778%");
	assert_line(text, "       131.072 -      262.144 |            9  25.0000%");
	assert_line(text, "      4194.304 -     8388.608 |            6  16.6667%");
	assert_line(text, "   8589934.592 - 17179869.184 |            8  22.2222%");
	assert_int_equal(lines(), 7);
	for (int64_t k = 0; k < 90; k++)
		add(k, 3);
	rows(0);
	assert_in_range(lines(), 35, 40);
	assert_int_equal(sum_of_rows(), 36 + 270);
	histogram_add(&histogram, 200 * NS_PER_S, 0);
	rows(0);
	assert_line(text, "  68719476.736 -   (and more) |            1   0.3257%  #");
}

/* No row is wider than the terminal, and the fullest has the longest bar. */
static void bars_have_the_room_that_there_is(void **state)
{
	(void)state;
	for (int64_t us = 0; us < 50; us++)
		add(us, us == 7 ? 4000 : 2000);
	for (int columns = 60; columns <= 200; columns += 35) {
		char *line;

		rows(columns);
		line = strstr(text, "7.000 -        8.000");
		assert_non_null(line);
		assert_int_equal(strspn(strchr(line, '#'), "#"), columns - 56);
		for (char *one = strtok(text, "\n"); one; one = strtok(NULL, "\n"))
			assert_true((int)strlen(one) <= columns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(forty_rows_are_not_folded),
		TEST(the_finest_rows_are_where_the_samples_are),
		TEST(whatever_they_are_like),
		TEST(powers_of_two_above_the_limit),
		TEST(bars_have_the_room_that_there_is),
	};

	util_seed();
	return cmocka_run_group_tests_name("buckets", tests, NULL, NULL);
}
