/* build: wraps=write,pwrite,open,rename,poll,clock_gettime sources=report/log/log_file.c,report/log/log_mend.c,report/log/log_form.c,report/log/log_text.c,report/log/log_npy.c,report/text/label.c,host/process/worker.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* --log-last: records kept before and after a breach and before the end, by a simulated clock. */
#include "report/log/log_writer.c"

#include "log_writer_bench.h"

#define START_NS (1000 * NS_PER_S)
#define PER_TURN 50 /* records per call of the thread: one each millisecond */
#define TURN_NS (50 * NS_PER_MS)

static void open_last(int64_t last_ns, uint64_t capacity)
{
	options.log_last_ns = last_ns;
	open_writer(capacity);
	mono_ns = START_NS;
}

static void turns(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		offer(PER_TURN);
		mono_ns += TURN_NS;
		drain(w);
	}
}

static bool is_in_file(uint32_t seq)
{
	char line[512], word[16];
	bool found = false;
	FILE *in = fopen(path, "r");

	snprintf(word, sizeof(word), "%10u ", seq);
	while (fgets(line, sizeof(line), in))
		found |= !strncmp(line, word, strlen(word));
	fclose(in);
	return found;
}

/* From and to: the minimum contents of the file; it may have two calls more, before and after. */
static void assert_kept(uint32_t from, uint32_t to)
{
	const uint32_t slack = 2 * PER_TURN;

	for (uint32_t seq = from; seq < to; seq += PER_TURN / 2)
		assert_true(is_in_file(seq));
	assert_true(is_in_file(from) && is_in_file(to - 1));
	if (from > slack)
		assert_false(is_in_file(from - slack - 1));
	if (to + slack < offered)
		assert_false(is_in_file(to + slack));
}

static void only_the_end_without_a_breach(void **state)
{
	(void)state;
	open_last(NS_PER_S, 100000);
	turns(200);
	assert_int_equal(w->written, 0);
	finish_and_see();
	assert_kept(9000, 10000);
	assert_true(w->not_kept >= 8900 && w->not_kept <= 9000);
	assert_int_equal(seen.notes, 1);
	assert_non_null(strstr(seen.last_note, " from SEQ 0 on"));
	assert_int_equal(w->shortest_ns, 0);
}

static void before_and_after_a_breach(void **state)
{
	(void)state;
	open_last(NS_PER_S, 100000);
	turns(100);
	counter_add(&result.account.breaches, 1); /* at about record 5000 */
	turns(100);
	finish_and_see();
	assert_kept(4000, 6000);
	assert_kept(9000, 10000);
	assert_int_equal(seen.notes, 2);
	assert_true(seen.records >= 3000 && seen.records <= 3300);
}

/* A second breach in the time after the first: the time restarts. */
static void breaches_one_after_the_other(void **state)
{
	(void)state;
	open_last(NS_PER_S, 100000);
	turns(60);
	counter_add(&result.account.breaches, 1);
	turns(15);
	counter_add(&result.account.breaches, 3);
	turns(125);
	finish_and_see();
	assert_kept(2000, 4750);
	assert_int_equal(seen.notes, 2);
}

static void a_run_that_is_shorter(void **state)
{
	(void)state;
	open_last(100 * NS_PER_S, 100000);
	turns(20);
	finish_and_see();
	assert_int_equal(w->not_kept, 0);
	assert_int_equal(seen.notes, 0);
	assert_int_equal(seen.records, 1000);
}

/* As many marks as are remembered, many times over. */
static void the_last_of_a_long_run(void **state)
{
	static const int64_t lasts_ns[] = { 100 * NS_PER_MS, 12 * NS_PER_S + 800 * NS_PER_MS, 20 * NS_PER_S };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lasts_ns); i++) {
		const uint32_t kept = (uint32_t)(lasts_ns[i] / NS_PER_MS),
				      step = (uint32_t)(lasts_ns[i] / NS_PER_MS / 128);

		offered = 0;
		memset(&result.account, 0, sizeof(result.account));
		open_last(lasts_ns[i], 100000);
		turns(2000);
		finish_and_see();
		assert_true(seen.records >= kept && seen.records <= kept + 2 * PER_TURN + step);
		assert_int_equal(w->shortest_ns, 0);
		log_writer_close(w);
	}
}

/* The ring is too small for this time: the oldest records go, no new record is left out, and a line reports
 * it. */
static void a_ring_that_is_too_small_for_it(void **state)
{
	(void)state;
	open_last(10 * NS_PER_S, 4000);
	turns(200);
	assert_int_equal(counter_get(&transactions.left_out), 0);
	assert_true(log_ready(&transactions) <= 3000 && log_ready(&transactions) >= 2900);
	/* Three quarters of 4000, at one per millisecond. */
	assert_true(w->shortest_ns >= 2900 * NS_PER_MS && w->shortest_ns <= 3200 * NS_PER_MS);
	finish_and_see();
	assert_true(seen.records >= 2900 && seen.records <= 3000);
}

/* It drops less than arrives in a call, the resolution of a record's age: not worth a message. */
static void a_ring_that_is_just_large_enough(void **state)
{
	(void)state;
	open_last(NS_PER_S, 1320); /* three quarters: 990 */
	turns(200);
	assert_int_equal(w->shortest_ns, 0);
	finish_and_see();
	assert_int_equal(seen.records, 990);
	assert_kept(9010, 10000);
}

static void the_last_of_an_array(void **state)
{
	(void)state;
	options.log_format = LOG_NPY;
	open_last(NS_PER_S, 100000);
	turns(100);
	assert_int_equal(log_writer_finish(w), 0);
	assert_counts();
	assert_int_equal(see_npy(path).in_header, w->written);
	assert_npy(0, (uint32_t)w->not_kept, (uint16_t)w->not_kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITER_TEST(only_the_end_without_a_breach),
		WRITER_TEST(before_and_after_a_breach),
		WRITER_TEST(breaches_one_after_the_other),
		WRITER_TEST(a_run_that_is_shorter),
		WRITER_TEST(the_last_of_a_long_run),
		WRITER_TEST(a_ring_that_is_too_small_for_it),
		WRITER_TEST(a_ring_that_is_just_large_enough),
		WRITER_TEST(the_last_of_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
