/* build: sources=analyse/[a-b]*.c,analyse/compare_write.c,analyse/[d-z]*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of --compare, and their texts. */
#include "analyse/compare.c"

#include "golden.h"

static struct compare c;
static char *text;

static int set_up(void **state)
{
	(void)state;
	memset(&c, 0, sizeof(c));
	for (int i = 0; i < 2; i++) {
		struct outcome *o = outcome_open(&(struct options){ .bucket_ns = NS_PER_US,
								    .overflow_ns = 100 * NS_PER_US });

		c.run[i] = o;
		o->options.role = ROLE_EMIT;
		o->read.has_accounts = true;
		outcome_assign(&o->latency, NULL, &o->options, 1);
		outcome_add_file(o, i ? "new" : "old", stdin, "json");
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		outcome_close(c.run[i]);
		blocks_free(&c.blocks[i]);
	}
	free(text);
	text = NULL;
	return 0;
}

/* n samples from `ns` on, one nanosecond apart. */
static void add(int run, unsigned n, int64_t ns)
{
	for (unsigned i = 0; i < n; i++)
		histogram_add(&c.run[run]->latency, ns + i, i);
	c.run[run]->read.file[0].samples += n;
}

static void set_loss_of(int run, uint64_t sent, uint64_t lost)
{
	counter_add(&c.run[run]->result.account.sent, sent);
	counter_add(&c.run[run]->result.account.lost, lost);
}

static void add_seconds(int run, unsigned seconds, int64_t start_ns, unsigned lost)
{
	c.blocks[run].has_loss = true;
	for (unsigned i = 0; i < seconds; i++) {
		blocks_add(&c.blocks[run], 100, lost);
		blocks_add_bucket(&c.blocks[run], start_ns, 100);
	}
}

/* Compares, and returns the first line. */
static const char *judged(int64_t milli_percent, int64_t ns)
{
	size_t bytes;
	FILE *out;

	c.tolerance = (struct tolerance){ milli_percent, ns };
	c.rows = 0;
	for (int i = 0; i < 2; i++)
		outcome_finish(c.run[i]);
	set_rows(&c);
	assert_int_equal(set_intervals(&c), 0);
	judge_all(&c);
	free(text);
	out = open_memstream(&text, &bytes);
	compare_write(out, &c);
	fclose(out);
	*strchr(text, '\n') = '\0';
	return text;
}

static const struct compare_row *row(const char *name)
{
	for (unsigned i = 0; i < c.rows; i++)
		if (!strcmp(c.row[i].name, name))
			return &c.row[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* Without intervals the difference decides: more than the share, and more than the time. */
static void by_the_difference(void **state)
{
	(void)state;
	add(0, 1000, 10000);
	add(1, 1000, 10600);
	golden("%s\n", judged(0, 0));
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	judged(6000, 0);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	judged(5000, 599);
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	judged(5000, 600);
	golden("%s\n", text);
	judged(0, 600);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	judged(5500, 0);
	assert_int_equal(c.result, COMPARE_IS_WORSE); /* 600 of 10,499 is 5.71 %, of 10,990 5.46 % */
	assert_int_equal(row("p99")->result, COMPARE_IS_EQUAL);
	assert_int_equal(row("p50")->result, COMPARE_IS_WORSE);
}

static void better(void **state)
{
	(void)state;
	add(0, 1000, 20000);
	add(1, 1000, 10000);
	golden("%s\n", judged(5000, 0));
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
}

static void what_decides_nothing(void **state)
{
	(void)state;
	add(0, 999, 10000);
	add(1, 999, 10000);
	add(0, 1, 11000);
	add(1, 1, 99000);
	judged(0, 0);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	assert_int_equal(row("max")->difference, 88000);
	assert_false(row("max")->decides);
	assert_true(row("p99.9")->few && !row("p99.9")->decides);
	assert_true(row("p99")->decides);
	assert_false(row("10 %")->decides);
	golden("%s", text + strlen(text) + 1);
}

/* Percentiles above --overflow decide as those below it. */
static void above_the_overflow(void **state)
{
	(void)state;
	add(0, 1000, 10000);
	add(1, 500, 10000);
	add(1, 500, 200000);
	golden("%s\n", judged(5000, 0));
	assert_true(row("p90")->decides);
	assert_true(row("p90")->b == 200399);
	/* The other way round it is better. */
	struct outcome *run = c.run[0];

	c.run[0] = c.run[1];
	c.run[1] = run;
	judged(0, 0);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	assert_int_equal(row("p90")->result, COMPARE_IS_BETTER);
}

/* Returns the error message. */
static const char *not_judged(void)
{
	struct util_capture capture;
	static char said[512];
	int error;

	judged(0, 0);
	util_capture_begin(&capture);
	error = check_rows(&c);
	util_capture_end(&capture, said, sizeof(said));
	assert_int_equal(error, *said ? -EINVAL : 0);
	return said;
}

/* Refused where no row can decide. */
static void nothing_decides(void **state)
{
	(void)state;
	add(0, 19, 10000);
	add(1, 1000, 90000);
	golden("%s", not_judged());
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	add(0, 1, 10019);
	assert_string_equal(not_judged(), "");
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	/* Nor is the number of compared runs limited. */
	add(1, 2000, 200000);
	add(0, 200, 200000);
	assert_string_equal(not_judged(), "");
}

static void loss(void **state)
{
	(void)state;
	add(0, 1000, 10000);
	add(1, 1000, 10000);
	set_loss_of(0, 1000, 10);
	set_loss_of(1, 2000, 22);
	golden("%s\n", judged(0, 0));
	judged(11000, 0);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	judged(9000, NS_PER_S); /* a tolerance in ns does not apply to loss */
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	c.run[0]->read.has_accounts = false;
	judged(0, 0);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	for (unsigned i = 0; i < c.rows; i++)
		assert_true(c.row[i].kind != COMPARE_LOSS);
}

/* The ends of the interval decide. Equal seconds have an interval without width. */
static void by_the_interval(void **state)
{
	(void)state;
	add(0, 3000, 10000);
	add(1, 3000, 10600);
	add_seconds(0, 30, 9984, 0);
	add_seconds(1, 30, 10560, 0);
	golden("%s\n", judged(0, 0));
	judged(0, 600);
	assert_int_not_equal(c.result, COMPARE_IS_WORSE);
	judged(0, 599);
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	/* Half of the seconds of the first run are slow: the difference may be chance. */
	for (unsigned i = 0; i < 15; i++)
		c.blocks[0].bucket[i].start_ns = 20032 / 128 * 128;
	judged(0, 0);
	assert_true(row("p50")->low < 0 && row("p50")->has_interval);
	assert_int_equal(row("p50")->result, COMPARE_IS_UNDECIDED);
	/* With one second less there is no interval. */
	c.blocks[0].blocks = 29;
	judged(0, 0);
	assert_int_equal(c.result, COMPARE_IS_WORSE);
	golden("%s", text + strlen(text) + 1);
}

/* Each outcome by the ends of the interval, 100 ns allowed. */
static void three_outcomes(void **state)
{
	static const struct {
		double low, high;
		bool b_bound;
		enum compare_result result;
	} rows[] = {
		{ 101, 300, false, COMPARE_IS_WORSE },	    { 100, 300, false, COMPARE_IS_UNDECIDED },
		{ -300, 101, false, COMPARE_IS_UNDECIDED }, { -300, 100, false, COMPARE_IS_EQUAL },
		{ -300, -100, false, COMPARE_IS_EQUAL },    { -300, -101, false, COMPARE_IS_BETTER },
		{ -300, -101, true, COMPARE_IS_UNDECIDED },
	};

	(void)state;
	c.tolerance.ns = 100;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct compare_row one = { .decides = true, .has_interval = true, .low = rows[i].low,
					   .high = rows[i].high, .b_bound = rows[i].b_bound };

		judge(&c, &one);
		assert_int_equal(one.result, rows[i].result);
	}
}

/* The result is that of the worst row: worse, undecided, better, equal. */
static void the_worst_row_decides(void **state)
{
	static const double ends[][2] = { { 0, 0 }, { -9, -8 }, { -1, 1 }, { 8, 9 } };
	static const enum compare_result results[] = { COMPARE_IS_EQUAL, COMPARE_IS_BETTER, COMPARE_IS_UNDECIDED,
						       COMPARE_IS_WORSE };

	(void)state;
	for (size_t n = 0; n < COUNT_OF(ends); n++) {
		c.rows = 0;
		for (size_t i = 0; i <= n; i++)
			c.row[n - i] = (struct compare_row){ .decides = true, .has_interval = true, .low = ends[i][0],
							     .high = ends[i][1] };
		c.rows = (unsigned)n + 1;
		judge_all(&c);
		assert_int_equal(c.result, results[n]);
	}
}

/* A wide interval is undecided. The table has at most 80 columns, also with large values. */
static void undecided(void **state)
{
	(void)state;
	add(0, 3000, 6000);
	add(1, 2500, 6000);
	add(1, 500, 90000);
	add_seconds(0, 30, 6016, 1);
	add_seconds(1, 30, 6016, 1);
	for (unsigned i = 5; i < 10; i++)
		c.blocks[1].bucket[i].start_ns = 90112;
	set_loss_of(0, 3000, 100);
	set_loss_of(1, 3000, 100);
	golden("%s\n", judged(0, 0));
	assert_int_equal(c.result, COMPARE_IS_UNDECIDED);
	golden("%s\n", judged(0, 1000));
	golden("%s", text + strlen(text) + 1);
	for (const char *line = text + strlen(text) + 1; *line; line += strcspn(line, "\n") + 1)
		assert_in_range(strcspn(line, "\n"), 0, 80);
	strcpy(c.differences, "--size 64 and 128");
	judged(0, 1000);
	assert_non_null(strstr(text + strlen(text) + 1, "  Settings that differ: --size 64 and 128\n"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(by_the_difference), TEST(better), TEST(what_decides_nothing),
					    TEST(above_the_overflow), TEST(nothing_decides), TEST(loss),
					    TEST(by_the_interval), TEST(three_outcomes),
					    TEST(the_worst_row_decides), TEST(undecided) };

	return golden_run(tests);
}
