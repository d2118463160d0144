/* build: wraps= sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The transaction log: how large, in which order, and what happens when it is full. */
#include "measure/log.c"

#include "util.h"

/* A record of the plain log, and one with the times of the other host. */
#define RECORD_BYTES 56
#define FULL_RECORD_BYTES 88
#define PLENTY (1ULL << 41)

static void capacities(void **state)
{
	static const struct {
		const char *name;
		int64_t duration_ns;
		uint64_t count, free_bytes, capacity;
		bool limited;
	} rows[] = {
		{ "1 s", NS_PER_S, 0, PLENTY, 57500, false },
		{ "60 s", 60 * NS_PER_S, 0, PLENTY, 3450000, false },
		{ "a day", 86400 * NS_PER_S, 0, PLENTY, 4968000000, false },
		{ "a begun second is a whole one", NS_PER_S + 1, 0, PLENTY, 115000, false },
		{ "less than a second", 1, 0, PLENTY, 57500, false },
		{ "endless: an hour", 0, 0, PLENTY, 207000000, false },
		{ "count is less", 60 * NS_PER_S, 1000, PLENTY, 1000, false },
		{ "count is one less", NS_PER_S, 57499, PLENTY, 57499, false },
		{ "count is the same", NS_PER_S, 57500, PLENTY, 57500, false },
		{ "count is more", NS_PER_S, 57501, PLENTY, 57500, false },
		{ "count of 1", 0, 1, PLENTY, 1, false },
		{ "endless with a count", 0, 5000, PLENTY, 5000, false },
		{ "endless with a count above an hour", 0, 300000000, PLENTY, 207000000, false },
		{ "count without end", NS_PER_S, UINT64_MAX, PLENTY, 57500, false },
		{ "just fits a quarter", NS_PER_S, 0, 4 * RECORD_BYTES * 57500, 57500, false },
		{ "just does not", NS_PER_S, 0, 4 * RECORD_BYTES * 57500 - 1, 57499, true },
		{ "a quarter of a GB", 0, 0, 1 << 30, (1 << 28) / RECORD_BYTES, true },
		{ "a count that fits", 0, 1000, 4 * RECORD_BYTES * 1000, 1000, false },
		{ "a count that does not", 0, 1001, 4 * RECORD_BYTES * 1000, 1000, true },
		{ "one less", 0, 1000, 4 * RECORD_BYTES * 1000 - 1, 999, true },
		{ "no memory", NS_PER_S, 0, 0, 0, true },
		{ "a century on a large machine", 100LL * 366 * 86400 * NS_PER_S, 0, UINT64_MAX,
		  100ULL * 366 * 86400 * 57500, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool limited = !rows[i].limited;
		uint64_t capacity = log_capacity(rows[i].duration_ns, rows[i].count, rows[i].free_bytes, RECORD_BYTES,
						 &limited);

		if (capacity != rows[i].capacity || limited != rows[i].limited)
			fail_msg("%s: %llu%s, expected %llu%s", rows[i].name, (unsigned long long)capacity,
				 limited ? " limited" : "", (unsigned long long)rows[i].capacity,
				 rows[i].limited ? " limited" : "");
	}
}

static void the_size_of_a_record_counts(void **state)
{
	bool limited;

	(void)state;
	assert_int_equal(log_record_bytes(false), RECORD_BYTES);
	assert_int_equal(log_record_bytes(true), FULL_RECORD_BYTES);
	assert_int_equal(sizeof(struct sample), FULL_RECORD_BYTES);
	assert_int_equal(log_capacity(0, 1000, 4 * FULL_RECORD_BYTES * 1000, FULL_RECORD_BYTES, &limited), 1000);
	assert_false(limited);
	assert_int_equal(log_capacity(0, 1000, 4 * FULL_RECORD_BYTES * 1000 - 1, FULL_RECORD_BYTES, &limited), 999);
	assert_true(limited);
	assert_int_equal(log_capacity(0, 2000, 4 * FULL_RECORD_BYTES * 1000, RECORD_BYTES, &limited), 1571);
	assert_true(limited);
}

static void random_sample(struct sample *s)
{
	util_random_bytes(s, sizeof(*s));
}

/* What a log of this kind keeps of a sample. */
static size_t kept_bytes(bool full)
{
	return full ? FULL_RECORD_BYTES : RECORD_BYTES;
}

/* Exactly as much as the records take, so that ASan sees one octet too many: written, or read. */
static void *place(struct log *l, uint64_t capacity, bool circular, bool full)
{
	void *memory = malloc(capacity * kept_bytes(full));

	assert_non_null(memory);
	memset(l, 0xa5, sizeof(*l));
	log_place(l, memory, capacity, circular, full);
	assert_int_equal(l->record_bytes, kept_bytes(full));
	assert_int_equal(l->capacity, capacity);
	assert_int_equal(l->used, 0);
	assert_int_equal(l->first, 0);
	assert_int_equal(l->left_out, 0);
	assert_int_equal(l->circular, circular);
	return memory;
}

static void records_stay_as_they_came(void **state)
{
	enum { RECORDS = 1000 };
	static struct sample offered[RECORDS];

	(void)state;
	for (int full = 0; full < 2; full++) {
		struct log l;
		uint8_t *memory = place(&l, RECORDS, false, full);

		for (uint64_t i = 0; i < RECORDS; i++) {
			random_sample(&offered[i]);
			assert_true(log_add(&l, &offered[i]));
			assert_int_equal(l.used, i + 1);
		}
		for (uint64_t i = 0; i < RECORDS; i++) {
			assert_memory_equal(memory + i * kept_bytes(full), &offered[i], kept_bytes(full));
			assert_ptr_equal(log_at(&l, i), memory + i * kept_bytes(full));
		}
		assert_int_equal(l.left_out, 0);
		free(memory);
	}
}

static void a_full_log_counts_what_it_leaves_out(void **state)
{
	struct sample first[3], late;

	(void)state;
	for (int full = 0; full < 2; full++) {
		struct log l;
		uint8_t *memory = place(&l, 3, false, full);

		for (int i = 0; i < 3; i++) {
			random_sample(&first[i]);
			assert_true(log_add(&l, &first[i]));
		}
		for (uint64_t i = 1; i <= 1000; i++) {
			random_sample(&late);
			assert_false(log_add(&l, &late));
			assert_int_equal(l.left_out, i);
			assert_int_equal(l.used, 3);
		}
		for (uint64_t i = 0; i < 3; i++)
			assert_memory_equal(memory + i * kept_bytes(full), &first[i], kept_bytes(full));
		free(memory);
	}
}

static void a_log_without_room(void **state)
{
	struct sample s = { .seq = 1 };

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct log l;

		log_place(&l, NULL, 0, kind & 1, kind & 2);
		assert_false(log_add(&l, &s));
		assert_int_equal(l.left_out, 1);
		assert_int_equal(l.used, 0);
	}
}

/* Every number of records from none to four times round: the newest are there, in order. */
static void a_circular_log_keeps_the_newest(void **state)
{
	enum { CAPACITY = 7, MOST = 4 * CAPACITY };
	struct sample offered[MOST];

	(void)state;
	for (uint64_t n = 0; n <= 2 * MOST + 1; n++) {
		const bool full = n % 2;
		const uint64_t records = n / 2, kept = records < CAPACITY ? records : CAPACITY;
		struct log l;
		uint8_t *memory = place(&l, CAPACITY, true, full);

		for (uint64_t i = 0; i < records; i++) {
			random_sample(&offered[i]);
			assert_true(log_add(&l, &offered[i]));
		}
		assert_int_equal(l.used, kept);
		assert_int_equal(l.left_out, records - kept);
		for (uint64_t i = 0; i < kept; i++)
			assert_memory_equal(log_at(&l, i), &offered[records - kept + i], kept_bytes(full));
		free(memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capacities),
		cmocka_unit_test(the_size_of_a_record_counts),
		cmocka_unit_test(records_stay_as_they_came),
		cmocka_unit_test(a_full_log_counts_what_it_leaves_out),
		cmocka_unit_test(a_log_without_room),
		cmocka_unit_test(a_circular_log_keeps_the_newest),
	};

	util_seed();
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
