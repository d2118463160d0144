/* build: wraps= sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The ring of the log: its size and order, and its behaviour when it is full, whoever takes from
 * it. */
#include "result/log.c"

#include "util.h"

#include <pthread.h>
#include <sched.h>

/* A record of the plain log, and one with the times of the other host. */
#define RECORD_BYTES 64
#define FULL_RECORD_BYTES 152
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
	assert_int_equal(log_capacity(0, 3000, 4 * FULL_RECORD_BYTES * 1000, RECORD_BYTES, &limited),
			 1000 * FULL_RECORD_BYTES / RECORD_BYTES);
	assert_true(limited);
}

static void random_sample(struct sample *s)
{
	util_random_bytes(s, sizeof(*s));
	s->follow_up %= FOLLOW_UPS; /* else it would be a mark */
}

/* Contents of a sample in a log of this kind. */
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
	log_assign(l, memory, capacity, circular, full);
	assert_int_equal(l->record_bytes, kept_bytes(full));
	assert_int_equal(l->capacity, capacity);
	assert_int_equal(log_ready(l), 0);
	assert_int_equal(l->added, 0);
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
			assert_int_equal(log_ready(&l), i + 1);
			assert_int_equal(l.added, i + 1);
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
			assert_int_equal(l.added, 3);
			assert_int_equal(log_ready(&l), 3);
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

		log_assign(&l, NULL, 0, kind & 1, kind & 2);
		assert_false(log_add(&l, &s));
		assert_int_equal(l.left_out, 1);
		assert_int_equal(l.added, 0);
		assert_int_equal(log_ready(&l), 0);
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
		uint32_t seq;
		struct log l;
		uint8_t *memory = place(&l, CAPACITY, true, full);

		for (uint64_t i = 0; i < records; i++) {
			random_sample(&offered[i]);
			assert_true(log_add(&l, &offered[i]));
		}
		assert_int_equal(log_ready(&l), kept);
		assert_int_equal(l.added, records);
		assert_int_equal(l.left_out, records - kept);
		assert_int_equal(log_last_gap(&l, &seq), 0);
		for (uint64_t i = 0; i < kept; i++)
			assert_memory_equal(log_at(&l, i), &offered[records - kept + i], kept_bytes(full));
		free(memory);
	}
}

/* ---- One adds, one takes ----------------------------------------------------------------------------------------- */

/* The expected next record, and the record read. */
struct reader {
	uint32_t next;
	uint64_t records, in_gaps, gaps;
	size_t bytes; /* of a record */
};

/* Each record carries its number in all of its members, so that a torn record is found. */
static struct sample numbered(uint32_t seq)
{
	struct sample s = { .seq = seq, .latency_ns = seq };

	for (int i = 0; i < ALL_TIMES; i++)
		s.time_ns[i] = (int64_t)seq << (i % TIMES);
	return s;
}

static void expect(struct reader *r, const struct sample *s)
{
	struct sample whole = numbered(r->next);

	assert_int_equal(s->seq, r->next);
	if (log_is_gap(s)) {
		assert_true(log_gap(s));
		r->next += (uint32_t)log_gap(s);
		r->in_gaps += log_gap(s);
		r->gaps++;
		return;
	}
	assert_memory_equal(s, &whole, r->bytes);
	r->next++;
	r->records++;
}

/* Takes n records, each of which must be the expected one. */
static void take_some(struct log *l, struct reader *r, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		expect(r, log_at(l, i));
	log_take(l, n);
}

/* After the end: every record that was offered is there, or in exactly one gap. */
static void assert_all(struct log *l, struct reader *r, uint64_t offered)
{
	uint32_t seq = 0;
	uint64_t last;

	take_some(l, r, log_ready(l));
	last = log_last_gap(l, &seq);
	if (last)
		assert_int_equal(seq, r->next);
	assert_int_equal(r->next + last, offered);
	assert_int_equal(r->records, l->added);
	assert_int_equal(r->in_gaps + last, l->left_out);
	assert_int_equal(l->added + l->left_out, offered);
}

static void offer(struct log *l, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct sample s = numbered(i);

		log_add(l, &s);
	}
}

/* A mark takes a place too, so it is not made before there is one for a record beside it. */
static void a_gap_is_marked_before_the_record_that_follows(void **state)
{
	struct log l;
	struct reader r = { .bytes = RECORD_BYTES };
	uint8_t *memory = place(&l, 4, false, false);
	uint32_t seq;

	(void)state;
	offer(&l, 0, 7); /* 4, 5, 6 have no place */
	assert_int_equal(log_ready(&l), 4);
	assert_int_equal(log_last_gap(&l, &seq), 3);
	assert_int_equal(seq, 4);
	take_some(&l, &r, 1);
	offer(&l, 7, 8); /* nor has 7: one place is too little */
	assert_int_equal(log_ready(&l), 3);
	assert_int_equal(l.left_out, 4);
	take_some(&l, &r, 1);
	offer(&l, 8, 9);
	assert_int_equal(log_ready(&l), 4);
	assert_true(log_is_gap(log_at(&l, 2)));
	assert_int_equal(log_at(&l, 2)->seq, 4);
	assert_int_equal(log_gap(log_at(&l, 2)), 4);
	assert_int_equal(log_at(&l, 3)->seq, 8);
	assert_int_equal(log_last_gap(&l, &seq), 0);
	assert_all(&l, &r, 9);
	assert_int_equal(r.gaps, 1);
	free(memory);
}

static void a_gap_at_the_very_end(void **state)
{
	struct log l;
	struct reader r = { .bytes = RECORD_BYTES };
	uint8_t *memory = place(&l, 2, false, false);
	uint32_t seq;

	(void)state;
	offer(&l, 0, 12);
	assert_int_equal(log_last_gap(&l, &seq), 10);
	assert_int_equal(seq, 2);
	take_some(&l, &r, 2);
	/* It is not marked before the next record, so that the gap is counted once. */
	assert_int_equal(log_ready(&l), 0);
	assert_int_equal(log_last_gap(&l, &seq), 10);
	assert_all(&l, &r, 12);
	free(memory);
}

/* Each way in which so many are taken after each that is added, over many times round. */
static void rings_of_every_size(void **state)
{
	(void)state;
	for (uint64_t capacity = 2; capacity <= 9; capacity++)
		for (uint32_t burst = 1; burst <= 12; burst++)
			for (uint64_t most = 0; most <= capacity; most++) {
				const bool full = burst % 2;
				struct log l;
				struct reader r = { .bytes = kept_bytes(full) };
				uint8_t *memory = place(&l, capacity, false, full);

				for (uint32_t at = 0; at < 20 * burst; at += burst) {
					offer(&l, at, at + burst);
					assert_true(log_ready(&l) <= capacity);
					take_some(&l, &r, log_ready(&l) < most ? log_ready(&l) : most);
				}
				/* Whoever takes all in time misses nothing. */
				if (most == capacity && burst <= capacity)
					assert_int_equal(l.left_out, 0);
				assert_all(&l, &r, 20 * burst);
				free(memory);
			}
}

/* It is not a record, and without space it is lost; in a circular log an overwritten mark is not a record that is
 * lost. */
static void a_number_that_is_repeated_has_a_mark(void **state)
{
	struct log l;
	uint8_t *memory = place(&l, 4, false, false);

	(void)state;
	offer(&l, 0, 1);
	log_mark_repeated(&l, 4000000000U);
	assert_int_equal(log_ready(&l), 2);
	assert_true(log_is_mark(log_at(&l, 1)));
	assert_false(log_is_gap(log_at(&l, 1)));
	assert_int_equal(log_at(&l, 1)->seq, 4000000000U);
	assert_int_equal(l.added, 1);
	offer(&l, 1, 3);
	log_mark_repeated(&l, 2);
	assert_int_equal(log_ready(&l), 4);
	assert_int_equal(l.left_out, 0);
	free(memory);
	memory = place(&l, 4, true, false);
	log_mark_repeated(&l, 7);
	offer(&l, 0, 4);
	assert_int_equal(l.left_out, 0);
	offer(&l, 4, 5);
	assert_int_equal(l.left_out, 1);
	free(memory);
}

/* Of 32 bits: enough for the numbers of a run that is longer than this. */
static void a_gap_longer_than_the_numbers(void **state)
{
	struct log l;
	uint8_t *memory = place(&l, 2, false, false);

	(void)state;
	offer(&l, 0, 3);
	l.gap += 1ULL << 40;
	log_take(&l, 2);
	offer(&l, 3, 4);
	assert_true(log_is_gap(log_at(&l, 0)));
	assert_int_equal(log_gap(log_at(&l, 0)), (1ULL << 40) + 1);
	assert_false(log_is_gap(log_at(&l, 1)));
	free(memory);
}

/* ---- Two threads ------------------------------------------------------------------------------------------------- */

#define OFFERED 1000000
#define PAUSES 1000 /* at most: beside a busy program each waits for that program, some milliseconds */

struct race {
	struct log l;
	_Atomic bool over;
	uint32_t offered;
	uint32_t pause_every; /* records, after which the other thread may come; 0: never */
};

static void *add_all(void *argument)
{
	struct race *r = argument;

	for (uint32_t i = 0; i < r->offered; i++) {
		struct sample s = numbered(i);

		log_add(&r->l, &s);
		if (r->pause_every && i % r->pause_every == 0)
			sched_yield();
	}
	atomic_store(&r->over, true);
	return NULL;
}

/* How the other thread takes: at most so many at once, and only when so many are there. */
static void race(uint64_t capacity, bool full, uint64_t most, uint64_t least, uint32_t pause_every)
{
	static struct race r;
	struct reader reader = { .bytes = kept_bytes(full) };
	uint8_t *memory = place(&r.l, capacity, false, full);
	pthread_t adder;

	r.over = false;
	r.offered = pause_every && pause_every < OFFERED / PAUSES ? pause_every * PAUSES : OFFERED;
	r.pause_every = pause_every;
	assert_int_equal(pthread_create(&adder, NULL, add_all, &r), 0);
	for (bool over = false; !over;) {
		uint64_t ready;

		over = atomic_load(&r.over);
		ready = log_ready(&r.l);
		assert_true(ready <= capacity);
		if (ready >= least)
			take_some(&r.l, &reader, ready < most ? ready : most);
		else
			sched_yield();
	}
	pthread_join(adder, NULL);
	assert_all(&r.l, &reader, r.offered);
	free(memory);
}

static void a_fast_reader(void **state)
{
	(void)state;
	race(1024, false, UINT64_MAX, 1, 512);
	race(1024, true, UINT64_MAX, 1, 512);
	race(7, false, UINT64_MAX, 1, 3);
}

static void a_slow_reader(void **state)
{
	(void)state;
	race(1024, false, 1, 1, 0);
	race(1024, true, 3, 1, 64);
	race(2, false, 1, 1, 0);
	race(2, true, 2, 2, 2);
}

/* It takes when the ring is full and not before: each time there is a gap, but where it is as fast as that. */
static void a_reader_that_stops(void **state)
{
	(void)state;
	race(1000, false, UINT64_MAX, 1000, 0);
	race(33, true, 20, 32, 0);
	race(64, false, UINT64_MAX, UINT64_MAX, 0); /* for ever */
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
		cmocka_unit_test(a_gap_is_marked_before_the_record_that_follows),
		cmocka_unit_test(a_gap_at_the_very_end),
		cmocka_unit_test(rings_of_every_size),
		cmocka_unit_test(a_gap_longer_than_the_numbers), cmocka_unit_test(a_number_that_is_repeated_has_a_mark),
		cmocka_unit_test(a_fast_reader),
		cmocka_unit_test(a_slow_reader),
		cmocka_unit_test(a_reader_that_stops),
	};

	util_seed();
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
