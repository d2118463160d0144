/* build: sources=histogram.c,report/log/log_file.c,report/log/log_mend.c,report/text/label.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The percentile distribution: its lines, and each step against the percentiles of the histogram. */
#include "report/export/hgrm.c"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static struct histogram h;
static char *text;

static int set_up(void **state)
{
	(void)state;
	histogram_assign(&h, calloc(1, histogram_layout(&h, 100000, 1, 64)));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(h.overflow);
	free(text);
	text = NULL;
	return 0;
}

static const char *written(void)
{
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&h);
	hgrm_write(out, &h);
	fclose(out);
	return text;
}

static void lines(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= 4; i++)
		histogram_add(&h, 1000 * i, i);
	assert_string_equal(written(),
			    "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
			    "       1.000 0.000000000000          1           1.00\n"
			    "       1.000 0.100000000000          1           1.11\n"
			    "       1.000 0.200000000000          1           1.25\n"
			    "       2.000 0.300000000000          2           1.43\n"
			    "       2.000 0.400000000000          2           1.67\n"
			    "       2.000 0.500000000000          2           2.00\n"
			    "       3.000 0.550000000000          3           2.22\n"
			    "       3.000 0.600000000000          3           2.50\n"
			    "       3.000 0.650000000000          3           2.86\n"
			    "       3.000 0.700000000000          3           3.33\n"
			    "       3.000 0.750000000000          3           4.00\n"
			    "       4.000 0.775000000000          4           4.44\n"
			    "       4.000 1.000000000000          4\n"
			    "#[Mean    =        2.500, StdDeviation   =        1.118]\n"
			    "#[Max     =        4.000, Total count    =            4]\n");
}

static void nothing(void **state)
{
	(void)state;
	assert_string_equal(written(), "       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
}

/* Values in the buckets and beyond; each line is the histogram's own percentile, to the next sample. */
static void as_the_histogram_has_it(void **state)
{
	const char *line;
	double value, share, before = -1;
	unsigned long long count;
	unsigned steps = 0;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < 3000; i++)
		histogram_add(&h, i % 50 ? 5000 + rand() % 3000 : 100000 + rand() % 5, i);
	line = strchr(strchr(written(), '\n') + 1, '\n') + 1;
	for (; *line != '#'; line = strchr(line, '\n') + 1, steps++) {
		assert_int_equal(sscanf(line, "%lf %lf %llu", &value, &share, &count), 3);
		assert_true(share > before);
		before = share;
		/* A share has twelve digits. */
		const struct percentile p = histogram_percentile(&h, (uint64_t)(share * 1e12 + 0.5), 1000000000000);

		assert_int_equal((int64_t)(value * 1000 + 0.5), p.value_ns);
		assert_true((double)count >= share * 3000 - 1e-6);
	}
	assert_in_range(steps, 40, 80);
}

/* 1,000 samples above the limit, of which the 64 largest are kept: the steps go on without a gap, and the counts are
 * those of the samples at or below each value. */
static void steps_above_the_limit(void **state)
{
	const char *line;
	double value, share;
	unsigned long long count, before = 0;
	unsigned steps = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		histogram_add(&h, 200000 + i * 1000, i);
	assert_int_equal(h.kept, 64);
	line = strchr(strchr(written(), '\n') + 1, '\n') + 1;
	for (; *line != '#'; line = strchr(line, '\n') + 1, steps++) {
		assert_int_equal(sscanf(line, "%lf %lf %llu", &value, &share, &count), 3);
		const uint64_t rank = (uint64_t)(share * 1000 + 0.999999);
		const double exact = 200 + (double)(rank ? rank - 1 : 0);

		assert_true(value <= exact && value >= exact * (rank > 936 ? 1 : 1023 / 1024.0) - 1e-6);
		assert_true(count >= rank && count >= before && count <= 1000);
		before = count;
	}
	assert_in_range(steps, 40, 80);
	assert_non_null(strstr(text, "\n    1199.000 1.000000000000       1000\n"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(lines), TEST(nothing), TEST(as_the_histogram_has_it),
					    TEST(steps_above_the_limit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
