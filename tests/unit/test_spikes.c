/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The slowest samples of a run, and samples at random. */
#include "result/spikes.c"

#include "util.h"

static struct spikes spikes;

static int64_t value_of(unsigned i)
{
	return (int64_t)((i * 2654435761U) % 100003);
}

static int compare_values(const void *a, const void *b)
{
	return compare_ns(&((const struct spike *)a)->value_ns, &((const struct spike *)b)->value_ns);
}

/* Each value from 0 to 100002 comes once, in any order. */
static void the_slowest_are_kept(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 100003; i++)
		spikes_add(&spikes, value_of(i), i);
	assert_int_equal(spikes.count, SPIKES_KEPT);
	qsort(spikes.kept, spikes.count, sizeof(spikes.kept[0]), compare_values);
	for (unsigned i = 0; i < SPIKES_KEPT; i++) {
		assert_true(i == 0 || spikes.kept[i].value_ns >= spikes.kept[i - 1].value_ns);
		assert_int_equal(spikes.kept[i].value_ns, value_of((unsigned)spikes.kept[i].at_ns));
	}
	/* No value outside is larger. */
	for (unsigned i = 1, above = 0; i < 100003; i++) {
		above += value_of(i) > spikes.kept[0].value_ns;
		assert_in_range(above, 0, SPIKES_KEPT - 1);
	}
	assert_int_equal(spikes.first_ns, 1);
	assert_int_equal(spikes.last_ns, 100002);
}

/* In each tenth of the run about as many, and at no fixed distance. */
static void samples_at_random(void **state)
{
	unsigned in_tenth[10] = { 0 }, odd = 0;

	(void)state;
	memset(&spikes, 0, sizeof(spikes));
	for (unsigned i = 0; i < 1000000; i++)
		spikes_add(&spikes, 1, i);
	assert_in_range(spikes.ordinary, SPIKES_ORDINARY / 2, SPIKES_ORDINARY);
	for (unsigned i = 0; i < spikes.ordinary; i++) {
		in_tenth[spikes.ordinary_ns[i] / 100000]++;
		odd += spikes.ordinary_ns[i] & 1;
	}
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(in_tenth[i], spikes.ordinary / 10 * 7 / 10, spikes.ordinary / 10 * 13 / 10);
	assert_in_range(odd, spikes.ordinary * 4 / 10, spikes.ordinary * 6 / 10);
}

static void few_samples(void **state)
{
	(void)state;
	memset(&spikes, 0, sizeof(spikes));
	for (unsigned i = 0; i < 3; i++)
		spikes_add(&spikes, 10 - i, 100 + i);
	assert_int_equal(spikes.count, 3);
	assert_int_equal(spikes.kept[0].value_ns, 8);
	assert_int_equal(spikes.first_ns, 100);
	assert_int_equal(spikes.last_ns, 102);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_slowest_are_kept), cmocka_unit_test(samples_at_random),
					    cmocka_unit_test(few_samples) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
