/* build: wraps=memory_free_bytes,memory_map sources=measure/source_port.c,measure/ipdv.c,wire/sequence.c,histogram.c,@result,host/process/memory.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory of the log: the size of its ring, by options and by the presence of a writer thread. */
#include "measure/run_buffers.c"

#include "golden.h"

/* ---- A machine with so much memory ------------------------------------------------------------------------------- */

#define PLENTY (1ULL << 41)

static struct {
	uint64_t free_bytes;
	int map_error;
	size_t mapped; /* octets, by the last call */
	unsigned maps;
} fake;

uint64_t __wrap_memory_free_bytes(void);
uint64_t __wrap_memory_free_bytes(void)
{
	return fake.free_bytes;
}

/* Nothing is mapped: this test never reads it. */
int __wrap_memory_map(struct memory *m, size_t bytes, bool huge);
int __wrap_memory_map(struct memory *m, size_t bytes, bool huge)
{
	(void)m;
	(void)huge;
	fake.mapped = bytes;
	fake.maps++;
	return fake.map_error;
}

static struct options options;
static struct run_buffers run_buffers;
static struct exchange exchange;
static struct util_capture capture;
static char said[1024];

static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.free_bytes = PLENTY;
	options = (struct options){ .log_path = "log" };
	memset(&run_buffers, 0, sizeof(run_buffers));
	memset(&exchange, 0, sizeof(exchange));
	return 0;
}

static int open_log(bool emptied)
{
	util_capture_begin(&capture);
	int error = run_buffers_open_log(&run_buffers, &options, &exchange, emptied);

	util_capture_end(&capture, said, sizeof(said));
	return error;
}

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

/* An emitter with all 13 histograms and the usual --overflow. */
static void all_histograms_take_eight_megabytes(void **state)
{
	int converted = 0;

	(void)state;
	options = (struct options){ .role = ROLE_EMIT, .stamp = SOURCE_KERNEL, .sw_timestamps = true,
				    .interval_ns = NS_PER_MS, .overflow_ns = 100 * NS_PER_US, .bucket_ns = NS_PER_US };
	assert_int_equal(open_histograms(&run_buffers, &options, &exchange), 0);
	for (int i = 0; i < STAGES; i++)
		converted += exchange.result.stage[i] != NULL;
	for (int i = 0; i < ONE_WAYS; i++)
		converted += exchange.result.one_way[i] != NULL;
	for (int i = 0; i < PLANNED; i++)
		converted += exchange.result.planned[i] != NULL;
	assert_int_equal(converted, 12);
	assert_in_range(fake.mapped, 7000000, 8000000);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------------- */

#define RING (LOG_RING_BYTES / 64)
#define RING_FULL (LOG_RING_BYTES / 152)

/* Only --save-trace has the memory for the packets before a breach. */
static void neighbours(void **state)
{
	static struct exchange x;
	static struct run_buffers s;
	struct options o = { .role = ROLE_EMIT, .overflow_ns = 1000, .bucket_ns = 1000, .window = 1 };

	(void)state;
	memset(&x, 0, sizeof(x));
	memset(&s, 0, sizeof(s));
	assert_int_equal(open_neighbours(&s, &o, &x), 0);
	assert_null(x.neighbours);
	o.save_trace_path = "d";
	assert_int_equal(open_neighbours(&s, &o, &x), 0);
	assert_ptr_equal(x.neighbours, &s.neighbours);
	assert_int_equal(fake.mapped, NEIGHBOURS * sizeof(struct sample));
	fake.map_error = -ENOMEM;
	util_capture_begin(&capture);
	const int error = open_neighbours(&s, &o, &x);

	util_capture_end(&capture, said, sizeof(said));
	assert_int_equal(error, -ENOMEM);
	golden_line(said);
}

static void sizes(void **state)
{
	static const struct {
		const char *name;
		struct options options;
		uint64_t capacity, without; /* a thread that empties it */
		bool circular_without;
	} rows[] = {
		{ "endless: an hour without a thread", { .duration_ns = 0 }, RING, 207000000, false },
		{ "a minute", { .duration_ns = 60 * NS_PER_S }, RING, 3450000, false },
		{ "a second: the rate may be higher", { .duration_ns = NS_PER_S }, RING, 57500, false },
		{ "a few packets", { .count = 100 }, 100, 100, false },
		{ "one: a mark and a record", { .count = 1 }, 2, 2, false },
		{ "many packets", { .count = 10000000 }, RING, 10000000, false },
		{ "as many as the ring has", { .count = RING }, RING, RING, false },
		{ "a count that the duration ends", { .count = 1000000, .duration_ns = NS_PER_S }, 57500, 57500,
		  false },
		{ "full", { .log_full = true }, RING_FULL, 207000000, false },
		{ "--snapshot", { .snapshot = true }, RING, 500000, true },
		{ "--snapshot of a few", { .snapshot = true, .count = 10 }, 10, 10, true },
		{ "--snapshot and rotation", { .snapshot = true, .log_rotate = { 1 << 20, 3 } }, RING, 207000000,
		  false },
		{ "--log-last 1", { .log_last_ns = NS_PER_S }, RING, 100000, true },
		{ "--log-last 0.1 is as a second", { .log_last_ns = 100 * NS_PER_MS }, RING, 100000, true },
		{ "--log-last 60", { .log_last_ns = 60 * NS_PER_S }, 6000000, 6000000, true },
		{ "--log-last 59.001", { .log_last_ns = 59001 * NS_PER_MS }, 6000000, 6000000, true },
		{ "--log-last longer than the run", { .log_last_ns = 60 * NS_PER_S, .duration_ns = 10 * NS_PER_S },
		  575000, 575000, true },
		{ "--log-last and few packets", { .log_last_ns = 60 * NS_PER_S, .count = 100 }, 100, 100, true },
		{ "--log-last and --snapshot", { .log_last_ns = 60 * NS_PER_S, .snapshot = true }, 6000000, 6000000,
		  true },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (int emptied = 0; emptied < 2; emptied++) {
			const uint64_t wanted = emptied ? rows[i].capacity : rows[i].without;

			set_up(state);
			options = rows[i].options;
			options.log_path = "log";
			assert_int_equal(open_log(emptied), 0);
			assert_string_equal(said, "");
			if (run_buffers.log.capacity != wanted ||
			    run_buffers.log.circular != (!emptied && rows[i].circular_without))
				fail_msg("%s, %s: %llu%s, not %llu", rows[i].name, emptied ? "emptied" : "not emptied",
					 (unsigned long long)run_buffers.log.capacity, run_buffers.log.circular ?
						 " circular" : "",
					 (unsigned long long)wanted);
			assert_int_equal(run_buffers.log.record_bytes, options.log_full ? 152 : 64);
			assert_int_equal(fake.mapped, wanted * run_buffers.log.record_bytes);
			assert_ptr_equal(exchange.log, &run_buffers.log);
		}
}

static void only_the_last_of_a_snapshot(void **state)
{
	(void)state;
	assert_false(options_log_is_circular(&options));
	options.log_last_ns = NS_PER_S;
	assert_false(options_log_is_circular(&options));
	options.snapshot = true;
	assert_false(options_log_is_circular(&options));
	options.log_last_ns = 0;
	assert_true(options_log_is_circular(&options));
	options.log_rotate.bytes = 1 << 20;
	assert_false(options_log_is_circular(&options));
}

static void without_a_log_there_is_no_ring(void **state)
{
	(void)state;
	options.log_path = NULL;
	assert_int_equal(open_log(true), 0);
	assert_int_equal(fake.maps, 0);
	assert_null(exchange.log);
}

/* ---- Little memory ----------------------------------------------------------------------------------------------- */

/* The run's memory is not reduced: at most a quarter of the free memory. */
static void a_quarter_of_the_free_memory(void **state)
{
	(void)state;
	fake.free_bytes = 4 * 64 * 1000000;
	assert_int_equal(open_log(false), 0);
	assert_int_equal(run_buffers.log.capacity, 1000000);
	assert_string_equal(said, "");
	options.verbose = true;
	assert_int_equal(open_log(false), 0);
	golden_line(said);
	/* The ring that is emptied is small, and has its size. */
	assert_int_equal(open_log(true), 0);
	assert_int_equal(run_buffers.log.capacity, RING);
	assert_string_equal(said, "");
	/* A count that does not fit. */
	options.count = 2000000;
	assert_int_equal(open_log(false), 0);
	assert_int_equal(run_buffers.log.capacity, 1000000);
	options.count = 1000000;
	assert_int_equal(open_log(false), 0);
	assert_string_equal(said, "");
	/* And there is always space for a mark and a record. */
	fake.free_bytes = 0;
	assert_int_equal(open_log(false), 0);
	assert_int_equal(run_buffers.log.capacity, 2);
}

/* It would hold less than requested, unnoticed until the breach. */
static void seconds_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	for (int emptied = 0; emptied < 2; emptied++) {
		set_up(state);
		options.log_last_ns = 60 * NS_PER_S;
		fake.free_bytes = 4ULL * 64 * 6000000;
		assert_int_equal(open_log(emptied), 0);
		assert_string_equal(said, "");
		assert_int_equal(run_buffers.log.capacity, 6000000);
		set_up(state);
		options.log_last_ns = 60 * NS_PER_S;
		fake.free_bytes = 4ULL * 64 * 6000000 - 1;
		assert_int_equal(open_log(emptied), -ENOMEM);
		golden_line(said);
		assert_int_equal(fake.maps, 0);
		assert_null(exchange.log);
		/* A run that is short needs no more than it has packets. */
		options.count = 1000;
		assert_int_equal(open_log(emptied), 0);
		assert_int_equal(run_buffers.log.capacity, 1000);
	}
}

static void no_memory_at_all(void **state)
{
	(void)state;
	fake.map_error = -ENOMEM;
	options.count = 1000;
	assert_int_equal(open_log(true), -ENOMEM);
	golden_line(said);
	assert_null(exchange.log);
}

/* 10 s in buckets of 10 us are a million: the finest. */
static void buckets_that_the_finest_does_not_divide(void **state)
{
	int error;

	(void)state;
	options = (struct options){ .overflow_ns = 10 * NS_PER_S, .bucket_ns = 15 * NS_PER_US };
	util_capture_begin(&capture);
	error = run_buffers_open(&run_buffers, &options, &exchange);
	util_capture_end(&capture, said, sizeof(said));
	assert_int_equal(error, -EINVAL);
	assert_int_equal(fake.maps, 0);
	golden_line(said);
}

#define STORE_TEST(function) cmocka_unit_test_setup(function, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(all_histograms_take_eight_megabytes), STORE_TEST(sizes), STORE_TEST(neighbours),
		STORE_TEST(only_the_last_of_a_snapshot),
		STORE_TEST(without_a_log_there_is_no_ring),
		STORE_TEST(a_quarter_of_the_free_memory),
		STORE_TEST(seconds_that_do_not_fit_are_refused),
		STORE_TEST(no_memory_at_all),
		STORE_TEST(buckets_that_the_finest_does_not_divide),
	};

	return golden_run(tests);
}
