/* build: sources=report/log/log_form.c,report/log/log_text.c,report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The log as an array of NumPy, octet by octet: its header by the format's own rules, and where each number is. */
#include "report/log/log_npy.c"

#include "log_bench.h"

static struct log_columns columns;
static char *header, *made; /* header: terminated with a 0, without the octets before the text */

static int tear_down_npy(void **state)
{
	free(header);
	free(made);
	header = made = NULL;
	return tear_down(state);
}

/* The byte order by the header. */
static char order(void)
{
	return (char)((union { uint16_t number; uint8_t octet; }){ 1 }.octet ? '<' : '>');
}

static void make_header(uint64_t number)
{
	free(header);
	header = malloc(NPY_BEGIN_BYTES + 1);
	log_columns_choose(&columns, &options, result.remote);
	free(made);
	made = malloc(NPY_BEGIN_BYTES);
	assert_ptr_equal(log_npy_begin(made, &columns, number), made + NPY_BEGIN_BYTES);
	/* Version 1.0: the length has 16 bits, little-endian, and the records begin at a multiple of 64. */
	assert_memory_equal(made, "\x93NUMPY\x01\x00", 8);
	assert_int_equal((uint8_t)made[8] | (uint8_t)made[9] << 8, NPY_BEGIN_BYTES - 10);
	assert_int_equal(NPY_BEGIN_BYTES % 64, 0);
	memcpy(header, made + 10, NPY_BEGIN_BYTES - 10);
	header[NPY_BEGIN_BYTES - 10] = 0;
}

/* The text of the header, in which every '<' of `expected` is this machine's order, and blanks follow to its end. */
static void assert_header(uint64_t number, const char *expected)
{
	char wanted[NPY_BEGIN_BYTES + 1];
	size_t length = strlen(expected);

	make_header(number);
	assert_true(length < NPY_BEGIN_BYTES - 10);
	for (size_t i = 0; i <= length; i++)
		wanted[i] = expected[i] == '<' ? order() : expected[i];
	if (strncmp(header, wanted, length))
		fail_msg("not\n%s\nbut\n%s", wanted, header);
	assert_int_equal(strspn(header + length, " "), NPY_BEGIN_BYTES - 11 - length);
	assert_int_equal(header[NPY_BEGIN_BYTES - 11], '\n');
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

/* Absent columns have no name: to NumPy that is padding, not a field. */
static void the_header_of_a_plain_log(void **state)
{
	(void)state;
	options.sw_timestamps = true;
	assert_header(0,
		      "{'descr': [('SEQ', '<u4'), ('LEFT_OUT', '<u2'), ('', '|V2'), ('T1_SW', '<i8'), ('T1_KERNEL', "
		      "'<i8'), "
		      "('T4_KERNEL', '<i8'), ('T4_SW', '<i8'), ('RTT', '<i8'), ('', '|V16'), ], 'fortran_order': "
		      "False, "
		      "'shape': (0,), }");
	options.sw_timestamps = false;
	options.stamp = SOURCE_HARDWARE;
	assert_header(1, "{'descr': [('SEQ', '<u4'), ('LEFT_OUT', '<u2'), ('', '|V2'), ('', '|V8'), ('T1_HW', '<i8'), "
		      "('T4_HW', '<i8'), ('', '|V8'), ('RTT', '<i8'), ('', '|V16'), ], 'fortran_order': False, "
		      "'shape': (1,), }");
	options.role = ROLE_REFLECT;
	options.no_tx_stamps = true;
	assert_header(42,
		      "{'descr': [('SEQ', '<u4'), ('LEFT_OUT', '<u2'), ('', '|V2'), ('T2_HW', '<i8'), ('T2_SW', "
		      "'<i8'), "
		      "('T3_SW', '<i8'), ('', '|V8'), ('RESPONSE', '<i8'), ('', '|V16'), ], 'fortran_order': False, "
		      "'shape': (42,), }");
}

#define GAPS "('POLL_GAP', '<u4'), ('REMOTE_POLL_GAP', '<u4'), ('', '|V8'), ('', '|V8'), ('', '|V8'), "

static void the_header_of_a_full_log(void **state)
{
	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_KERNEL, true, 1);
	assert_header(1234567,
		      "{'descr': [('SEQ', '<u4'), ('LEFT_OUT', '<u2'), ('FLAGS', '<u2'), ('T1_SW', '<i8'), ('T1_HW', "
		      "'<i8'), "
		      "('T4_HW', '<i8'), ('T4_SW', '<i8'), ('RTT', '<i8'), ('T2_KERNEL', '<i8'), ('T2_SW', '<i8'), "
		      "('T3_SW', '<i8'), ('T3_KERNEL', '<i8'), ('RESPONSE', '<i8'), ('NETWORK', '<i8'), " GAPS "], "
		      "'fortran_order': False, 'shape': (1234567,), }");
	/* Values reported twice are stored once. */
	result.remote = SOURCE_USER;
	assert_header(0,
		      "{'descr': [('SEQ', '<u4'), ('LEFT_OUT', '<u2'), ('FLAGS', '<u2'), ('T1_SW', '<i8'), ('T1_HW', "
		      "'<i8'), "
		      "('T4_HW', '<i8'), ('T4_SW', '<i8'), ('RTT', '<i8'), ('T2_SW', '<i8'), ('', '|V8'), "
		      "('', '|V8'), ('T3_SW', '<i8'), ('RESPONSE', '<i8'), ('NETWORK', '<i8'), " GAPS "], "
		      "'fortran_order': False, 'shape': (0,), }");
}

/* It overwrites the earlier header. */
static void a_header_is_as_long_whatever_the_number(void **state)
{
	static const uint64_t numbers[] = { 0, 9, 10, UINT32_MAX, UINT64_MAX };

	(void)state;
	full_log(SOURCE_KERNEL, SOURCE_KERNEL, true, 1);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		char shape[64];

		snprintf(shape, sizeof(shape), " 'shape': (%llu,), }   ", (unsigned long long)numbers[i]);
		make_header(numbers[i]);
		assert_non_null(strstr(header, shape));
		assert_int_equal(strspn(strstr(header, ", }") + 3, " ") + 1, strlen(strstr(header, ", }") + 3));
	}
}

/* For each role, timestamp source and host: an octet after the header would be detected, and names are
 * unique. */
static void every_header_has_its_room(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2 * SOURCES * SOURCES * 4; kind++) {
		options.role = kind & 1 ? ROLE_REFLECT : ROLE_EMIT;
		options.sw_timestamps = kind & 2;
		options.log_full = options.role == ROLE_EMIT && kind & 4;
		options.stamp = SOURCE_USER + (kind / 8) % 3;
		result.remote = (uint8_t)((kind / 8) % SOURCES);
		make_header(UINT64_MAX);
		assert_non_null(strstr(header, " 'shape': (18446744073709551615,), }   "));
		for (char *at = header; (at = strstr(at, "('")); at++) {
			char name[24];

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + 2, "'") + 3, at);
			if (strcmp(name, "(''"))
				assert_int_equal(times_in(header, name), 1);
		}
	}
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Offsets of the numbers by the format. */
struct got {
	uint32_t seq;
	uint16_t left_out, flags;
	int64_t number[11]; /* four times, the latency, and of a full log four times, response and network */
	uint32_t gap_ns[2]; /* of a full log */
	int64_t kernel_ns[2]; /* the same */
};

static struct got record(const struct sample *s, uint64_t left_out)
{
	const size_t bytes = options.log_full ? 128 : 64;
	struct got g = { 0 };
	char *at = malloc(bytes);

	log_columns_choose(&columns, &options, result.remote);
	assert_ptr_equal(log_npy_record(at, &columns, s, left_out), at + bytes);
	memcpy(&g.seq, at, 4);
	memcpy(&g.left_out, at + 4, 2);
	memcpy(&g.flags, at + 6, 2);
	memcpy(g.number, at + 8, options.log_full ? 88 : 40);
	if (options.log_full)
		memcpy(g.gap_ns, at + 96, 8);
	if (options.log_full)
		memcpy(g.kernel_ns, at + 104, 16);
	for (size_t i = options.log_full ? 120 : 48; i < bytes; i++)
		assert_int_equal((uint8_t)at[i], options.log_full ? 0xff : 0);
	free(at);
	return g;
}

static void assert_numbers(const struct got *g, size_t n, const int64_t *numbers)
{
	for (size_t i = 0; i < n; i++)
		if (g->number[i] != numbers[i])
			fail_msg("number %zu is %lld, not %lld", i, (long long)g->number[i], (long long)numbers[i]);
}

#define MISSING INT64_MIN

static void a_plain_record(void **state)
{
	struct sample s;

	(void)state;
	add_record(4294967295, 1771555281293181657, 54769);
	s = *log_at(&transactions, 0);
	options.sw_timestamps = true;
	struct got g = record(&s, 3);

	assert_int_equal(g.seq, 4294967295);
	assert_int_equal(g.left_out, 3);
	assert_int_equal(g.flags, 0);
	assert_numbers(&g, 5, (const int64_t[]){ 1771555281293181657, 1771555281293181658, 1771555281293181659,
						 1771555281293181660, 54769 });
	/* An absent column, and a timestamp. */
	options.sw_timestamps = false;
	s.source[EMIT_T4_WIRE] = SOURCE_NONE;
	s.latency_ns = -1;
	g = record(&s, 0);
	assert_int_equal(g.left_out, 0);
	assert_numbers(&g, 5, (const int64_t[]){ MISSING, 1771555281293181658, MISSING, MISSING, -1 });
}

static void left_out_stops_at_its_most(void **state)
{
	static const struct {
		uint64_t left_out;
		uint16_t reported;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 65534, 65534 }, { 65535, 65535 }, { 65536, 65535 }, { UINT64_MAX, 65535 } };
	struct sample s = sample_of(1, 1, 1, 1);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(record(&s, rows[i].left_out).left_out, rows[i].reported);
}

static void a_full_record(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, 1);
	s = joined_sample(7, 5400, 2100, 900, 7000);
	s.poll_gap_ns = 512;
	s.remote_poll_gap_ns = UINT32_MAX;
	struct got g = record(&s, 0);

	assert_int_equal(g.seq, 7);
	assert_int_equal(g.gap_ns[0], 512);
	assert_int_equal(g.gap_ns[1], UINT32_MAX);
	assert_int_equal(g.flags, FOLLOW_UP_THERE);
	assert_numbers(&g, 11, (const int64_t[]){ 1773883524780127138, 1773883524780130138, 1773883524780145538,
						  1773883524780147538, 15400, 1234567890000000000, 1234567890000002100,
						  1234567890000003000, 1234567890000010000, 10000, 5400 });
	s.off_scale = true;
	s.same_timebase = false;
	g = record(&s, 0);
	assert_int_equal(g.flags, FOLLOW_UP_THERE | 256);
	assert_numbers(&g, 11, (const int64_t[]){ 1773883524780127138, 1773883524780130138, 1773883524780145538,
						  1773883524780147538, 15400, 1234567890000000000, MISSING, MISSING,
						  1234567890000010000, 10000, 5400 });
}

/* Numbers that stand in files, so that none may become another. */
static void the_flags_of_a_record(void **state)
{
	static const struct {
		enum follow_up why;
		uint16_t flags;
	} rows[] = {
		{ FOLLOW_UP_NONE, 0 }, { FOLLOW_UP_LOST, 2 }, { FOLLOW_UP_UNKNOWN, 3 }, { FOLLOW_UP_UNREPORTED, 4 },
			{ FOLLOW_UP_MIXED, 5 },
		{ FOLLOW_UP_END, 6 }, { FOLLOW_UP_STEPPED, 7 },
	};

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, 1);
	assert_int_equal(FOLLOW_UPS, 8);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = without_t3(joined_sample(7, 5400, 2100, 900, 7000), rows[i].why);
		struct got g = record(&s, 0);

		assert_int_equal(g.flags, rows[i].flags);
		assert_numbers(&g, 11, (const int64_t[]){ 1773883524780127138, 1773883524780130138, 1773883524780145538,
							  1773883524780147538, 15400, 1234567890000000000,
							  1234567890000002100,
							  1234567890000003000, MISSING, MISSING, MISSING });
		s.source[EMIT_T1_USER] = SOURCE_NONE;
		g = record(&s, 0);
		assert_int_equal(g.flags, rows[i].flags | 256);
		assert_int_equal(g.number[0], MISSING);
	}
}

/* Nothing is read after the end of a plain record in the ring: no remote times. */
static void a_record_that_ends_after_our_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	place_records(1, false, false);
	struct sample s = joined_sample(9, 5400, 2100, 900, 7000);

	log_add(&transactions, &s);
	struct got g = record(log_at(&transactions, 0), 0);

	assert_int_equal(g.seq, 9);
	assert_numbers(&g, 5, (const int64_t[]){ 1773883524780127138, 1773883524780130138, 1773883524780145538,
						 1773883524780147538, 15400 });
}

#define NPY_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_log, tear_down_npy)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NPY_TEST(the_header_of_a_plain_log),
		NPY_TEST(the_header_of_a_full_log),
		NPY_TEST(a_header_is_as_long_whatever_the_number),
		NPY_TEST(every_header_has_its_room),
		NPY_TEST(a_plain_record),
		NPY_TEST(left_out_stops_at_its_most),
		NPY_TEST(a_full_record),
		NPY_TEST(the_flags_of_a_record),
		NPY_TEST(a_record_that_ends_after_our_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
