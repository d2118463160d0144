/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring of latencies: each comes out once and in order; those that do not fit are counted. */
#include "result/sample_queue.c"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int64_t values[SAMPLE_QUEUE_VALUES], got[SAMPLE_QUEUE_VALUES + 1];
static struct sample_queue t;

static int set_up(void **state)
{
	(void)state;
	t = (struct sample_queue){ .value = values };
	return 0;
}

static void comes_out_in_order(void **state)
{
	(void)state;
	assert_int_equal(sample_queue_take(&t, got, 10), 0);
	for (int64_t i = 0; i < 10; i++)
		sample_queue_add(&t, 100 + i, 1000);
	assert_int_equal(sample_queue_take(&t, got, 4), 4);
	assert_int_equal(sample_queue_take(&t, got + 4, 100), 6);
	for (int64_t i = 0; i < 10; i++)
		assert_int_equal(got[i], 100 + i);
	assert_int_equal(sample_queue_take(&t, got, 10), 0);
}

static void a_full_ring_is_counted(void **state)
{
	(void)state;
	for (int64_t i = 0; i < SAMPLE_QUEUE_VALUES; i++)
		sample_queue_add(&t, i, 1000);
	assert_int_equal(counter_get(&t.left_out), 0);
	sample_queue_add(&t, -1, 1000);
	sample_queue_add(&t, -2, 1000);
	assert_int_equal(counter_get(&t.left_out), 2);
	assert_int_equal(sample_queue_take(&t, got, 1), 1);
	sample_queue_add(&t, 77, 1000); /* into the entry of the first */
	sample_queue_add(&t, -3, 1000);
	assert_int_equal(counter_get(&t.left_out), 3);
	assert_int_equal(sample_queue_take(&t, got, SAMPLE_QUEUE_VALUES + 1), SAMPLE_QUEUE_VALUES);
	assert_int_equal(got[0], 1);
	assert_int_equal(got[SAMPLE_QUEUE_VALUES - 2], SAMPLE_QUEUE_VALUES - 1);
	assert_int_equal(got[SAMPLE_QUEUE_VALUES - 1], 77);
}

static void gaps(void **state)
{
	(void)state;
	assert_int_equal(sample_queue_take_gap(&t, 5000), -1); /* of nothing there is none */
	sample_queue_add(&t, 1, 10000);
	assert_int_equal(sample_queue_take_gap(&t, 10300), 300); /* up to now */
	sample_queue_add(&t, 1, 10500);
	sample_queue_add(&t, 1, 10600);
	assert_int_equal(sample_queue_take_gap(&t, 10610), 500);
	assert_int_equal(sample_queue_take_gap(&t, 10610), 10); /* reported once */
	assert_int_equal(sample_queue_take_gap(&t, 12610), 2010); /* lasts */
	sample_queue_add(&t, 1, 13600);
	assert_int_equal(sample_queue_take_gap(&t, 13600), 3000);
}

#define MANY 3000000

static void *add_many(void *unused)
{
	for (int64_t i = 0; i < MANY; i++)
		sample_queue_add(&t, i, 1000 + i);
	return unused;
}

static void two_threads(void **state)
{
	int64_t taken = 0, before = -1, skipped = 0;
	pthread_t thread;
	bool over = false;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, add_many, NULL), 0);
	while (!over) {
		over = atomic_load(&t.ready) + counter_get(&t.left_out) == MANY;
		for (size_t n; (n = sample_queue_take(&t, got, 1000)); taken += (int64_t)n)
			for (size_t i = 0; i < n; before = got[i++]) {
				assert_true(got[i] > before);
				skipped += got[i] - before - 1;
			}
	}
	pthread_join(thread, NULL);
	skipped += MANY - 1 - before;
	assert_int_equal(taken + (int64_t)counter_get(&t.left_out), MANY);
	assert_int_equal(skipped, counter_get(&t.left_out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(comes_out_in_order, set_up),
		cmocka_unit_test_setup(a_full_ring_is_counted, set_up),
		cmocka_unit_test_setup(gaps, set_up),
		cmocka_unit_test_setup(two_threads, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
