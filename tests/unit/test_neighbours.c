/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The last samples, which are held while the trace is frozen. */
#include "result/neighbours.h"

#include "util.h"

static struct sample slots[NEIGHBOURS];
static _Atomic int held;
static struct neighbours n;

static void add(uint32_t first, uint32_t last)
{
	for (uint32_t seq = first; seq <= last; seq++)
		neighbours_add(&n, &(struct sample){ .seq = seq });
}

static void assert_kept(uint32_t first, uint32_t last)
{
	assert_int_equal(neighbours_count(&n), last - first + 1);
	for (unsigned i = 0; i < neighbours_count(&n); i++)
		assert_int_equal(neighbours_at(&n, i)->seq, first + i);
}

static void the_last_are_kept(void **state)
{
	(void)state;
	n = (struct neighbours){ .slot = slots, .held = &held };
	assert_int_equal(neighbours_count(&n), 0);
	add(1, 5);
	assert_kept(1, 5);
	add(6, NEIGHBOURS);
	assert_kept(1, NEIGHBOURS);
	add(NEIGHBOURS + 1, NEIGHBOURS + 3);
	assert_kept(4, NEIGHBOURS + 3);
}

static void held_samples_stay(void **state)
{
	(void)state;
	n = (struct neighbours){ .slot = slots, .held = &held };
	add(1, 10);
	atomic_store(&held, 1);
	add(11, 3000);
	assert_kept(1, 10);
	atomic_store(&held, 0);
	add(3001, 3001);
	assert_int_equal(neighbours_at(&n, 10)->seq, 3001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_are_kept),
		cmocka_unit_test(held_samples_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
