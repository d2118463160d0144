/* build: sources=report/export/second.c,report/export/json.c,report/text/label.c,histogram.c,@result libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The interval log of HdrHistogram: its octets, read back one by one, and where a value is. */
#include "report/export/hlog.c"

#include "result/result.h"

#include <setjmp.h>

#include <cmocka.h>

static struct options options = { .role = ROLE_EMIT, .interface = "veth0" };
static struct result result;
static struct report report = { .options = &options, .result = &result };
static struct sample_queue sample_queue;
static struct second s;
static struct log_file file;
static struct hlog h;
static char got[LINE_CHARACTERS + 1];

/* In place of the file. */
int log_file_write(struct log_file *f, const char *from, size_t bytes)
{
	assert_ptr_equal(f, &file);
	assert_in_range(bytes, 1, LINE_CHARACTERS);
	memcpy(got, from, bytes);
	got[bytes] = 0;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	memset(&result, 0, sizeof(result));
	sample_queue = (struct sample_queue){ .value = NULL };
	report.samples_are_taken = true;
	assert_int_equal(second_open(&s, &report, &sample_queue), 0);
	assert_int_equal(hlog_open(&h, &report, &file), 0);
	s.start_ns = s.from_ns = 5 * NS_PER_S;
	s.start_unix_ns = 1700000000 * NS_PER_S + 1600 * NS_PER_US;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hlog_close(&h);
	second_close(&s);
	return 0;
}

/* ---- Reading it back --------------------------------------------------------------------------------------------- */

static uint8_t octets[OCTETS_MAX + 100];
static size_t octets_got;
static int64_t counts[PLACES];

static unsigned digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_true(c && at);
	return (unsigned)(at - digits);
}

static void read_base64(const char *text)
{
	const size_t n = strlen(text);

	assert_int_equal(n % 4, 0);
	octets_got = 0;
	for (size_t i = 0; i < n; i += 4) {
		const unsigned missing = text[i + 2] == '=' ? 2 : text[i + 3] == '=' ? 1 : 0;
		uint32_t value = 0;

		assert_true(!missing || i + 4 == n);
		for (unsigned k = 0; k < 4; k++)
			value = value << 6 | (k < 4 - missing ? digit_of(text[i + k]) : 0);
		assert_int_equal(value & ((1U << 8 * missing) - 1), 0);
		for (unsigned k = 0; k < 3 - missing; k++)
			octets[octets_got++] = (uint8_t)(value >> (16 - 8 * k));
	}
}

static uint64_t read_integer(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

/* Returns how many octets are in the block. */
static size_t read_zlib(const uint8_t *from)
{
	const size_t n = from[3] | (size_t)from[4] << 8;

	assert_int_equal(read_integer(from, 2) % 31, 0); /* RFC 1950 section 2.2: FCHECK */
	assert_int_equal(*from & 15, 8);
	assert_int_equal(from[2], 1); /* the last block, stored */
	assert_int_equal((from[5] | (unsigned)from[6] << 8) ^ n, 0xffff);
	assert_int_equal(read_integer(from + 7 + n, 4), adler32(from + 7, n));
	assert_ptr_equal(from + 7 + n + 4, octets + octets_got);
	return n;
}

/* Returns how many places there are. */
static size_t read_counts(const uint8_t *at, const uint8_t *end)
{
	size_t place = 0;

	memset(counts, 0, sizeof(counts));
	while (at < end) {
		uint64_t value = 0;
		int64_t count;

		for (unsigned shift = 0;; shift += 7) {
			value |= (uint64_t)(*at & 127) << shift;
			if (*at++ < 128)
				break;
		}
		count = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
		if (count < 0)
			place += (size_t)-count;
		else
			counts[place++] = count;
		assert_in_range(place, 1, PLACES);
	}
	assert_ptr_equal(at, end);
	return place;
}

/* The line of the second with these, of this duration. Returns the number of positions in it. */
static size_t reported(const int64_t *values, size_t n, int64_t ns)
{
	const uint8_t *plain = octets + 8 + 7;
	char *histogram;
	size_t bytes;

	second_add(&s, values, n);
	result.ended_ns = s.from_ns + ns;
	assert_true(second_is_left(&s));
	hlog_second(&h, &s);
	second_next(&s);
	assert_int_equal(got[h.characters - 1], '\n');
	got[h.characters - 1] = 0;
	histogram = strrchr(got, ',') + 1;
	read_base64(histogram);
	histogram[0] = 0;
	assert_int_equal(read_integer(octets, 4), 0x1c849314);
	assert_int_equal(read_integer(octets + 4, 4), octets_got - 8);
	bytes = read_zlib(octets + 8);
	assert_int_equal(read_integer(plain, 4), 0x1c849313);
	assert_int_equal(read_integer(plain + 4, 4), bytes - 40);
	assert_int_equal(read_integer(plain + 8, 4), 0);
	assert_int_equal(read_integer(plain + 12, 4), 3);
	assert_int_equal(read_integer(plain + 16, 8), 1);
	assert_int_equal(read_integer(plain + 24, 8), 86400000000000);
	assert_int_equal(read_integer(plain + 32, 8), 0x3ff0000000000000);
	return read_counts(plain + 40, plain + bytes);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

/* By hand: bucket b has the values from 1024 << b on, in steps of 1 << b. */
static void where_a_value_is(void **state)
{
	(void)state;
	assert_int_equal(place_of(0), 0);
	assert_int_equal(place_of(2047), 2047);
	assert_int_equal(place_of(2048), 2048);
	assert_int_equal(place_of(2049), 2048);
	assert_int_equal(place_of(2050), 2049);
	assert_int_equal(place_of(4095), 3071);
	assert_int_equal(place_of(4096), 3072);
	assert_int_equal(place_of(1024LL << 20), 21 * 1024);
	assert_int_equal(place_of((1024LL << 20) - 1), 21 * 1024 - 1);
	assert_in_range(place_of(HLOG_MOST_NS), 36 * 1024, PLACES - 1);
}

static void the_head(void **state)
{
	(void)state;
	*got = 0;
	hlog_begin(&h, s.start_unix_ns, NULL);
	assert_string_equal(got, ""); /* not before it is known that the run begins */
	hlog_end(&h);
	assert_string_equal(got, "#[Logged with rant " RANT_VERSION "]\n"
				 "#[Round trips of veth0, in nanoseconds]\n"
				 "#[Histogram log format version 1.2]\n"
				 "#[StartTime: 1700000000.002 (seconds since epoch), Tue Nov 14 22:13:20 UTC 2023]\n"
				 "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
	*got = 0;
	hlog_end(&h); /* it is there once */
	assert_string_equal(got, "");
	/* The time of a second that was read may be unknown. */
	options.interface = NULL;
	hlog_begin(&h, 0, "No intervals: why");
	hlog_end(&h);
	assert_string_equal(got, "#[Logged with rant " RANT_VERSION "]\n"
				 "#[Round trips of saved files, in nanoseconds]\n"
				 "#[No intervals: why]\n"
				 "#[Histogram log format version 1.2]\n"
				 "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
	options.interface = "veth0";
}

/* The lines follow each other, though each number is rounded. */
static void lines(void **state)
{
	static const int64_t values[] = { 70000, 12, 70001, 12, 0 };

	(void)state;
	assert_int_equal(reported(values, 5, 1000300 * NS_PER_US), place_of(70000) + 1);
	assert_string_equal(got, "1700000000.002,1.000,0.070001,");
	assert_int_equal(counts[0], 1);
	assert_int_equal(counts[12], 2);
	assert_int_equal(counts[place_of(70000)], 2);
	assert_int_equal(reported(values, 1, 999700 * NS_PER_US), place_of(70000) + 1);
	assert_string_equal(got, "1700000001.002,1.000,0.070000,");
	assert_int_equal(counts[0], 0);
	assert_int_equal(counts[place_of(70000)], 1);
	assert_int_equal(h.left_out, 0);
}

static void nothing_in_a_second(void **state)
{
	(void)state;
	assert_int_equal(reported(NULL, 0, NS_PER_S), 1);
	assert_string_equal(got, "1700000000.002,1.000,0.000000,");
	assert_int_equal(counts[0], 0);
}

/* Payloads of each length that base64 fills up, and counts with more octets. */
static void all_lengths(void **state)
{
	static int64_t values[20000];

	(void)state;
	for (size_t n = 1; n <= 20000; n = n < 40 ? n + 1 : n * 8) {
		for (size_t i = 0; i < n; i++)
			values[i] = n < 40 ? (int64_t)(i * 3) : 5;
		reported(values, n, NS_PER_S);
		assert_int_equal(counts[n < 40 ? 3 * (n - 1) : 5], n < 40 ? 1 : n);
	}
}

/* As long as a line can be: each place has a sample, and as many as there can be have 64. */
static void the_longest(void **state)
{
	static int64_t values[SECOND_VALUES];
	const size_t places = (size_t)place_of(HLOG_MOST_NS) + 1, many = 16000;
	size_t n = 0;

	(void)state;
	for (size_t place = 0; place < places; place++)
		for (size_t i = 0; i < (place < many ? 64 : 1); i++)
			values[n++] = place < 2048 ? (int64_t)place :
			(int64_t)(1024 + place % 1024) << (place / 1024 - 1);
	assert_in_range(n, SECOND_VALUES - 10000, SECOND_VALUES);
	assert_int_equal(reported(values, n, NS_PER_S), places);
	assert_int_equal(h.bytes, 40 + places + many);
	assert_in_range(h.bytes, 50000, OCTETS_MAX);
	for (size_t place = 0; place < places; place++)
		assert_int_equal(counts[place], place < many ? 64 : 1);
	for (n = 0; n < SECOND_VALUES; n++)
		values[n] = 1;
	assert_int_equal(reported(values, n, NS_PER_S), 2);
	assert_int_equal(counts[1], SECOND_VALUES);
}

static void what_is_in_no_line_is_counted(void **state)
{
	static const int64_t values[] = { 10, HLOG_MOST_NS, HLOG_MOST_NS + 1, INT64_MAX };

	(void)state;
	counter_add(&sample_queue.left_out, 7);
	reported(values, 4, NS_PER_S);
	assert_string_equal(got, "1700000000.002,1.000,86400000.000000,");
	assert_int_equal(counts[10], 1);
	assert_int_equal(counts[place_of(HLOG_MOST_NS)], 1);
	assert_int_equal(h.left_out, 9);
}

static void checksum(void **state)
{
	(void)state;
	assert_int_equal(adler32((const uint8_t *)"Wikipedia", 9), 0x11e60398);
	assert_int_equal(adler32(NULL, 0), 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(where_a_value_is),
		TEST(the_head),
		TEST(lines),
		TEST(nothing_in_a_second),
		TEST(all_lengths),
		TEST(the_longest),
		TEST(what_is_in_no_line_is_counted),
		TEST(checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
