/* build: sources=report/export/json.c,report/text/label.c,histogram.c,@result libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The samples of a second: its percentiles, its buckets, and counts where a value is not known. */
#include "report/export/second.c"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static struct options options;
static struct result result;
static struct report report = { .options = &options, .result = &result };
static struct sample_queue sample_queue;
static struct second s;
static char got[65536];

static int set_up(void **state)
{
	(void)state;
	memset(&result, 0, sizeof(result));
	sample_queue = (struct sample_queue){ .value = NULL };
	report.samples_are_taken = true;
	options.role = ROLE_EMIT;
	assert_int_equal(second_open(&s, &report, &sample_queue), 0);
	second_begin(&s);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	second_close(&s);
	return 0;
}

static int take(void *context, const char *from, size_t bytes)
{
	char *to = context;

	assert_true(strlen(to) + bytes < sizeof(got));
	strncat(to, from, bytes);
	return 0;
}

static void end_after(int64_t ns)
{
	result.ended_ns = s.from_ns + ns;
	assert_true(second_is_left(&s));
}

static const char *reported(int64_t width_ns)
{
	static struct json j;

	*got = 0;
	json_begin(&j, take, got, true);
	json_object(&j, NULL);
	second_put(&j, &s);
	second_put_buckets(&j, &s, width_ns);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	return got;
}

static void assert_has(const char *what)
{
	if (!strstr(got, what))
		fail_msg("'%s' is not in %s", what, got);
}

/* Begin of the bucket that has this value. */
static void finer_buckets(void **state)
{
	static const int64_t values[][2] = {
		{ 0, 0 }, { 1, 1 }, { 127, 127 }, { 128, 128 }, { 255, 255 }, { 256, 256 }, { 257, 256 }, { 258, 258 },
			{ 511, 510 },
		{ 512, 512 }, { 515, 512 }, { 516, 516 }, { 1023, 1020 }, { 1024, 1024 }, { 1031, 1024 },
			{ 1032, 1032 },
		{ 65535, 65280 }, { 65536, 65536 }, { 1000000, 999424 }, { INT64_MAX, INT64_MAX - (1LL << 55) + 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_int_equal(start_of(values[i][0], 0), values[i][1]);
		assert_int_equal(start_of(values[i][1], 0), values[i][1]);
	}
	for (int64_t v = 1; v < 1000000; v++)
		assert_true(start_of(v, 0) <= v && (v - start_of(v, 0)) * 128 < start_of(v, 0) + (v < 128) * 128);
}

static void as_it_is_reported(void **state)
{
	static const int64_t values[] = { 5000, 300, 301, 3, 302 };

	(void)state;
	s.start_ns = s.from_ns = 1000;
	counter_add(&result.account.sent, 7);
	counter_add(&result.account.lost, 2);
	second_add(&s, values, 5);
	end_after(900);
	reported(0);
	assert_has("{\"number\":1,\"from_ns\":0,\"to_ns\":900,\"unix_ns\":");
	assert_has(",\"sent\":7,\"lost\":2,\"samples\":5,\"p50_ns\":301,\"p99_ns\":5000,\"p99_9_ns\":5000,\"max_ns\":5000,"
		   "\"longest_gap_ns\":null,\"not_in_percentiles\":0,\"buckets\":[[3,1],[300,2],[302,1],[4992,1]]}");
	reported(100);
	assert_has("\"buckets\":[[0,1],[300,3],[5000,1]]}");
}

/* Numbers of all lengths, and with each digit. */
static void in_order(void **state)
{
	static int64_t values[3000];
	const unsigned seed = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : (unsigned)s.start_ns;

	(void)state;
	print_message("SEED=%u repeats this run\n", seed);
	srand(seed);
	for (int run = 0; run < 200; run++) {
		const size_t n = run < 10 ? (size_t)run : 1 + (size_t)rand() % 3000;

		for (size_t i = 0; i < n; i++)
			values[i] = (int64_t)(((uint64_t)rand() << 32 | (uint64_t)rand()) & INT64_MAX) >> (run < 64 ?
			63 - run : rand() % 63);
		second_add(&s, values, n);
		end_after(1);
		qsort(values, n, sizeof(*values), compare_ns);
		assert_memory_equal(s.value, values, n * sizeof(*values));
		second_next(&s);
	}
}

/* The next second has no samples of the second before. */
static void one_after_the_other(void **state)
{
	(void)state;
	s.start_ns = s.from_ns = 1000;
	counter_add(&result.account.sent, 7);
	second_add(&s, (const int64_t[]){ 9 }, 1);
	end_after(50);
	second_next(&s);
	counter_add(&result.account.sent, 3);
	end_after(60);
	reported(0);
	assert_has("{\"number\":2,\"from_ns\":50,\"to_ns\":110,");
	assert_has(",\"sent\":3,\"lost\":0,\"samples\":0,\"p50_ns\":null,\"p99_ns\":null,\"p99_9_ns\":null,\"max_ns\":null,");
	assert_has("\"buckets\":[]}");
}

static void what_is_too_much_is_counted(void **state)
{
	static const int64_t values[1000];

	(void)state;
	for (int i = 0; i < SECOND_VALUES / 1000 + 1; i++)
		second_add(&s, values, 1000);
	second_add(&s, (const int64_t[]){ 77 }, 1);
	counter_add(&sample_queue.left_out, 5);
	end_after(1);
	assert_int_equal(second_left_out(&s), (SECOND_VALUES / 1000 + 1) * 1000 - SECOND_VALUES + 1 + 5);
	reported(0);
	assert_has("\"samples\":1049006,");
	assert_has("\"max_ns\":77,");
	assert_has("\"not_in_percentiles\":430,\"buckets\":[[0,1048576]]}");
	second_next(&s);
	end_after(1);
	assert_int_equal(second_left_out(&s), 0);
}

static void of_a_reflector_nothing_is_lost(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	end_after(1);
	assert_null(strstr(reported(0), "\"lost\""));
}

static void when_it_is_over(void **state)
{
	(void)state;
	assert_false(second_is_over(&s));
	s.from_ns = s.start_ns += 500 * NS_PER_MS; /* a start that is still to come */
	assert_false(second_is_over(&s));
	s.from_ns = s.start_ns -= 1500 * NS_PER_MS;
	assert_true(second_is_over(&s));
	second_next(&s);
	assert_false(second_is_over(&s)); /* the next one ends at a whole second after the start */
	assert_true(s.from_ns - s.start_ns >= NS_PER_S && s.from_ns - s.start_ns < 2 * NS_PER_S);
}

/* A second ended while the last closing probes were sent, after the end of the run. */
static void closing_probes_are_in_a_second(void **state)
{
	(void)state;
	counter_add(&result.account.sent, 5);
	end_after(NS_PER_S);
	second_next(&s);
	result.ended_ns = s.from_ns - 1;
	assert_false(second_is_left(&s));
	counter_add(&result.account.sent, 7);
	assert_true(second_is_left(&s));
	assert_non_null(strstr(reported(0), "\"sent\":7,"));
	second_next(&s);
	assert_false(second_is_left(&s));
}

static void nothing_is_left_without_samples_one_by_one(void **state)
{
	(void)state;
	result.ended_ns = 0; /* it did not begin */
	assert_false(second_is_left(&s));
	result.ended_ns = s.from_ns + 1;
	report.samples_are_taken = false;
	assert_false(second_is_left(&s));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finer_buckets),
		TEST(as_it_is_reported),
		TEST(in_order),
		TEST(one_after_the_other),
		TEST(what_is_too_much_is_counted),
		TEST(of_a_reflector_nothing_is_lost),
		TEST(when_it_is_over),
		TEST(closing_probes_are_in_a_second),
		TEST(nothing_is_left_without_samples_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
