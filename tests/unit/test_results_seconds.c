/* build: sources=analyse/[a-q]*.c,analyse/r[a-z]*.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Seconds of a log by its times, and seconds of several runs in one order. */
#include "analyse/seconds.c"

#include "results_files.h"

#include <stdlib.h>

#define S NS_PER_S

static struct outcome *o;
static struct by_second reported;
static struct seconds s;
static struct blocks blocks;
static char path[32] = "/tmp/seconds.XXXXXX", *text;

static int set_up(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/seconds.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	o = outcome_open(&(struct options){ .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US,
					    .jsonl_path = path });
	o->options.stamp = SOURCE_KERNEL;
	reported = (struct by_second)BY_SECOND_CLOSED;
	blocks = (struct blocks){ .block = NULL };
	assert_int_equal(by_second_open(&reported, &o->report), 0);
	assert_int_equal(seconds_open(&s, &reported, o), 0);
	seconds_begin(&s, true);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	by_second_close(&reported);
	outcome_close(o);
	blocks_free(&blocks);
	unlink(path);
	free(text);
	text = NULL;
	return 0;
}

/* Adds a sample with this last time; INT64_MIN: without a time. */
static void add(int64_t time_ns, uint32_t seq, int64_t latency_ns)
{
	struct sample one = { .seq = seq, .latency_ns = latency_ns, .time_ns[EMIT_T4_WIRE] = time_ns,
			      .source[EMIT_T4_WIRE] = time_ns == INT64_MIN ? SOURCE_NONE : SOURCE_KERNEL };

	seconds_add(&s, &one, EMIT_T4_WIRE);
}

/* Ends the file and reads its lines, except the first, which is the configuration. */
static void finish(void)
{
	FILE *file;
	size_t bytes;

	seconds_end(&s);
	assert_int_equal(by_second_finish_lines(&reported), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	text = calloc(1, 1 << 20);
	bytes = fread(text, 1, (1 << 20) - 1, file);
	fclose(file);
	assert_in_range(bytes, 1, (1 << 20) - 2);
	assert_non_null(strchr(text, '\n'));
	memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n') + 1) + 1);
}

static void assert_line(unsigned number, const char *words)
{
	const char *line = text;
	char one[2048];

	for (unsigned i = 1; i < number; i++) {
		line = strchr(line, '\n');
		assert_non_null(line);
		line++;
	}
	snprintf(one, sizeof(one), "%.*s", (int)strcspn(line, "\n"), line);
	if (!strstr(one, words))
		fail_msg("line %u has not '%s': %s", number, words, one);
}

static void assert_lines(unsigned lines)
{
	unsigned n = 0;

	for (const char *c = text; *c; c++)
		n += *c == '\n';
	assert_int_equal(n, lines);
}

/* ---- Of a log ---------------------------------------------------------------------------------------------------- */

/* Seconds count from the first sample. A sample at the end of a second belongs to the next. Two empty seconds are
 * one line. */
static void of_a_log(void **state)
{
	(void)state;
	add(1000 * S + 7, 5, 300);
	add(1001 * S + 6, 6, 500);
	add(1001 * S + 7, 8, 400);
	add(1004 * S + 8, 9, 100);
	finish();
	assert_lines(4);
	assert_line(1,
		    "\"number\":1,\"from_ns\":0,\"to_ns\":1000000000,\"unix_ns\":1001000000007,\"sent\":null,\"lost\":null,\"samples\":2,\"p50_ns\":300,"
		       "\"p99_ns\":500,\"p99_9_ns\":500,\"max_ns\":500,\"longest_gap_ns\":999999999,\"not_in_percentiles\":0,\"run\":1,\"skipped\":0,"
		       "\"bucket_ns\":1000,\"buckets\":[[0,2]]}");
	assert_line(2, "\"from_ns\":1000000000,\"to_ns\":2000000000,\"unix_ns\":1002000000007,");
	assert_line(2,
		    "\"samples\":1,\"p50_ns\":400,\"p99_ns\":400,\"p99_9_ns\":400,\"max_ns\":400,\"longest_gap_ns\":1000000000,");
	assert_line(2, "\"skipped\":1,");
	assert_line(3, "\"number\":3,\"from_ns\":2000000000,\"to_ns\":4000000000,");
	assert_line(3,
		    "\"samples\":0,\"p50_ns\":null,\"p99_ns\":null,\"p99_9_ns\":null,\"max_ns\":null,\"longest_gap_ns\":3000000000,");
	assert_line(4, "\"from_ns\":4000000000,\"to_ns\":4000000001,\"unix_ns\":1004000000008,");
	assert_line(4, "\"longest_gap_ns\":3000000001,");
	assert_line(4, "\"skipped\":0,");
}

/* Time continues after a backward step; reordered replies stay in their second. */
static void a_clock_that_is_set(void **state)
{
	(void)state;
	add(1000 * S, 5, 300);
	add(1000 * S + 500 * NS_PER_MS, 7, 300);
	add(1000 * S + 400 * NS_PER_MS, 6, 300);
	add(900 * S, 8, 300);
	add(900 * S + 600 * NS_PER_MS, 9, 300);
	finish();
	assert_lines(2);
	assert_line(1, "\"samples\":4,");
	assert_line(1, "\"skipped\":1,");
	assert_line(2, "\"from_ns\":1000000000,\"to_ns\":1100000000,\"unix_ns\":900600000000,");
}

/* Times of a log that was not written by rant. */
static void times_that_cannot_be(void **state)
{
	(void)state;
	add(INT64_MIN, 1, 300);
	add(INT64_MIN + 1, 2, 300);
	add(INT64_MAX, 3, 300);
	add(-1, 4, 300);
	add(INT64_MIN, 5, 300);
	add(INT64_MAX - 1, 0, 300);
	finish();
	assert_non_null(strstr(text, "\"samples\":"));
}

/* A time beyond the limit: the sample belongs to the second of the sample before. */
static void a_time_that_is_far_off(void **state)
{
	(void)state;
	add(0, 1, 300);
	add(INT64_MAX - 5, 2, 300);
	add(0, 3, 300);
	add(2 * S, 4, 300);
	finish();
	assert_lines(3);
	assert_line(1, "\"samples\":3,");
	assert_line(3, "\"from_ns\":2000000000,\"to_ns\":2000000000,");
}

static void without_a_time(void **state)
{
	(void)state;
	add(INT64_MIN, 1, 300);
	finish();
	assert_lines(1);
	assert_line(1, "\"from_ns\":0,\"to_ns\":0,\"unix_ns\":null,");
}

static void of_a_nic(void **state)
{
	(void)state;
	o->options.stamp = SOURCE_HARDWARE;
	add(1000 * S, 1, 300);
	finish();
	assert_line(1, "\"unix_ns\":null,");
}

/* Files of one run follow each other; a log that begins earlier belongs to another run. */
static void several_logs(void **state)
{
	(void)state;
	add(1000 * S, 1, 300);
	seconds_next_log(&s);
	add(1000 * S + 100, 2, 300);
	seconds_next_log(&s);
	add(990 * S, 1, 300);
	add(990 * S + 50, 4, 300);
	finish();
	assert_lines(2);
	assert_line(1, "\"from_ns\":0,\"to_ns\":100,");
	assert_line(1, "\"samples\":2,");
	assert_line(1, "\"run\":1,\"skipped\":0,");
	assert_line(2, "\"number\":2,\"from_ns\":0,\"to_ns\":50,\"unix_ns\":990000000050,");
	assert_line(2, "\"longest_gap_ns\":50,");
	assert_line(2, "\"run\":2,\"skipped\":2,");
}

static void of_no_sample(void **state)
{
	(void)state;
	finish();
	assert_string_equal(text, "");
}

/* ---- Of JSON ----------------------------------------------------------------------------------------------------- */

static void add_block(uint32_t run, int64_t from_ns, int64_t began_unix_ns, int64_t max_ns, uint64_t count)
{
	struct block *one;

	assert_int_equal(blocks_add(&blocks, count + 2, 1), 0);
	one = &blocks.block[blocks.blocks - 1];
	one->all = count + 1;
	one->run = run;
	one->has_sent = one->has_unix = true;
	one->from_ns = from_ns;
	one->to_ns = from_ns + S;
	one->began_unix_ns = began_unix_ns;
	one->unix_ns = began_unix_ns + one->to_ns;
	one->max_ns = max_ns;
	one->gap_ns = one->skipped = -1;
	one->percentile_ns[0] = 5001;
	one->percentile_ns[1] = one->percentile_ns[2] = 5009;
	if (count)
		assert_int_equal(blocks_add_bucket(&blocks, 4992, count), 0);
}

static void runs_in_order(void **state)
{
	(void)state;
	add_block(1, 0, 1000 * S, 5010, 10);
	add_block(1, S, 1000 * S, 9000, 10); /* the maximum is outside the buckets */
	add_block(2, 0, 1000 * S + 10, -1, 0);
	assert_int_equal(seconds_pass_on(&s, &blocks), 0);
	finish();
	assert_lines(3);
	assert_line(1,
		    "\"number\":1,\"from_ns\":0,\"to_ns\":1000000000,\"unix_ns\":1001000000000,\"sent\":12,\"lost\":null,\"samples\":11,\"p50_ns\":5001,"
		       "\"p99_ns\":5009,\"p99_9_ns\":5009,\"max_ns\":5010,\"longest_gap_ns\":null,\"not_in_percentiles\":1,\"run\":1,\"skipped\":null,"
		       "\"bucket_ns\":null,\"buckets\":[[4992,10]]}");
	assert_line(2, "\"number\":2,\"from_ns\":0,\"to_ns\":1000000000,\"unix_ns\":1001000000010,");
	assert_line(2, "\"samples\":1,\"p50_ns\":null,");
	assert_line(2, "\"not_in_percentiles\":1,\"run\":2,");
	assert_line(3, "\"number\":3,\"from_ns\":1000000000,");
	assert_line(3, "\"max_ns\":9000,");
	assert_line(3, "\"buckets\":[[4992,10]]}");
}

/* If a second has no time, the order stays. */
static void runs_without_times(void **state)
{
	(void)state;
	add_block(1, 0, 2000 * S, 5010, 10);
	add_block(2, 0, 1000 * S, 5010, 10);
	blocks.block[1].has_unix = false;
	assert_int_equal(seconds_pass_on(&s, &blocks), 0);
	finish();
	assert_line(1, "\"run\":1,");
	assert_line(2, "\"unix_ns\":null,");
	assert_line(2, "\"run\":2,");
}

/* More samples than a second can hold are only counted. */
static void too_many(void **state)
{
	(void)state;
	add_block(1, 0, 1000 * S, 5010, 1ULL << 52);
	assert_int_equal(seconds_pass_on(&s, &blocks), 0);
	finish();
	assert_line(1, "\"samples\":4503599627370497,");
	assert_line(1, "\"buckets\":[[4992,1048576]]}");
	assert_line(1, "\"not_in_percentiles\":4503599626321921,");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_a_log), TEST(a_clock_that_is_set), TEST(times_that_cannot_be), TEST(a_time_that_is_far_off),
			TEST(without_a_time), TEST(of_a_nic),
		TEST(several_logs), TEST(of_no_sample), TEST(runs_in_order), TEST(runs_without_times), TEST(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
