/* build: sources=report/log/log_form.c,report/log/log_npy.c,report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The log as text: its columns, their contents, and missing values. */
#include "report/log/log_text.c"

#include "log_bench.h"

#include <inttypes.h>

/* ---- The columns ------------------------------------------------------------------------------------------------- */

static const char *logged(void)
{
	return logged_as(LOG_TEXT);
}

#define MORE_RULE "-------------------------------------------------------"
#define RULE \
	"------------------------------------------------------------------------------------------------------------" \
	"------------------------------------------"

static void the_documented_columns(void **state)
{
	(void)state;
	options.sw_timestamps = true;
	add_record(0, 1771555281293181657, 54769);
	add_record(4294967295, 0, 0);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                      T1_KERNEL                      "
		"T4_KERNEL"
		"                          T4_SW             RTT\n" RULE "\n"
		"         0           1771555281.293181657           1771555281.293181658           "
		"1771555281.293181659"
		"           1771555281.293181660           54769\n"
		"4294967295                    0.000000000                    0.000000001                    "
		"0.000000002"
		"                    0.000000003               0\n");
}

static void columns_follow_role_and_stamps(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool sw, no_tx;
		const char *names;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, false, "SEQ T1_HW T4_HW RTT" },
		{ ROLE_EMIT, SOURCE_HARDWARE, true, false, "SEQ T1_SW T1_HW T4_HW T4_SW RTT" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, false, "SEQ T2_HW T2_SW T3_SW T3_HW RESPONSE" },
		{ ROLE_REFLECT, SOURCE_KERNEL, false, false, "SEQ T2_KERNEL T3_KERNEL RESPONSE" },
		{ ROLE_EMIT, SOURCE_USER, false, false, "SEQ T1_SW T4_SW RTT" },
		{ ROLE_REFLECT, SOURCE_USER, true, false, "SEQ T2_SW T3_SW RESPONSE" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, true, "SEQ T2_HW T2_SW T3_SW RESPONSE" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.sw_timestamps = rows[i].sw;
		options.no_tx_stamps = rows[i].no_tx;
		char *line = strtok((char *)logged(), "\n"), names[128] = "";

		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			sprintf(names + strlen(names), "%s%s", *names ? " " : "", word);
		assert_string_equal(names, rows[i].names);
	}
}

static void a_full_log_has_all_eight_times(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, RECORDS);
	s = joined_sample(4294967295, 5400, 2100, 900, 7000);
	s.poll_gap_ns = 512;
	s.remote_poll_gap_ns = UINT32_MAX;
	log_add(&transactions, &s);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                          T1_HW                          "
		"T4_HW"
		"                          T4_SW             RTT                          T2_HW                        "
		"  T2_SW"
		"                          T3_SW                          T3_HW        RESPONSE         NETWORK        "
		"POLL_GAP REMOTE_POLL_GAP            FLAGS\n"
		RULE RULE MORE_RULE "\n"
		"4294967295           1773883524.780127138           1773883524.780130138           "
		"1773883524.780145538"
		"           1773883524.780147538           15400           1234567890.000000000           "
		"1234567890.000002100"
		"           1234567890.000003000           1234567890.000010000           10000            5400        "
		"     512      4294967295                -\n");
	assert_int_equal(strlen(RULE RULE MORE_RULE), strcspn(text, "\n"));
}

/* Why T3 of the reply is missing, and all that is missing with it. */
static void flags_of_a_full_log(void **state)
{
	static const struct {
		enum follow_up why;
		const char *flag;
	} rows[] = {
		{ FOLLOW_UP_LOST, "lost" }, { FOLLOW_UP_UNKNOWN, "unknown" }, { FOLLOW_UP_UNREPORTED, "untold" },
		{ FOLLOW_UP_MIXED, "mixed" }, { FOLLOW_UP_END, "end" }, { FOLLOW_UP_NONE, "plain" },
	};

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = without_t3(joined_sample((uint32_t)i, 5400, 2100, 900, 7000), rows[i].why);
		char fields[512];

		log_add(&transactions, &s);
		snprintf(fields, sizeof(fields), "%zu 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
			 "1773883524.780147538 15400 1234567890.000000000 1234567890.000002100 1234567890.000003000 - "
			 "- - - - %s", i,
			 rows[i].flag);
		assert_string_equal(last_fields(LOG_TEXT), fields);
	}
}

/* A time of each host cannot be converted to the timebase of its NIC, so its column is empty. */
static void what_has_no_place_is_a_dash_with_a_flag(void **state)
{
#define HERE "1773883524.780127138 1773883524.780130138 1773883524.780145538 1773883524.780147538 15400 "
	static const struct {
		enum follow_up why;
		bool off_scale, local[2];
		const char *fields;
	} rows[] = {
		{ FOLLOW_UP_THERE, true, { false, false },
		  HERE "1234567890.000000000 - - 1234567890.000010000 10000 5400 - - unplaced" },
		{ FOLLOW_UP_LOST, true, { false, false }, HERE "1234567890.000000000 - - - - - - - lost,unplaced" },
		{ FOLLOW_UP_UNKNOWN, true, { false, false }, HERE "1234567890.000000000 - - - - - - - unknown,unplaced" },
		{ FOLLOW_UP_END, false, { true, true }, "- 1773883524.780130138 1773883524.780145538 - 15400 "
		  "1234567890.000000000 1234567890.000002100 1234567890.000003000 - - - - - end,unplaced" },
		{ FOLLOW_UP_THERE, false, { true, false },
		  "- 1773883524.780130138 1773883524.780145538 1773883524.780147538 "
		  "15400 1234567890.000000000 1234567890.000002100 1234567890.000003000 1234567890.000010000 10000 "
		  "5400 - - unplaced" },
		{ FOLLOW_UP_THERE, true, { false, true },
		  "1773883524.780127138 1773883524.780130138 1773883524.780145538 - "
		  "15400 1234567890.000000000 - - 1234567890.000010000 10000 5400 - - unplaced" },
	};

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = joined_sample((uint32_t)i, 5400, 2100, 900, 7000);
		char fields[512];

		if (rows[i].why != FOLLOW_UP_THERE)
			s = without_t3(s, rows[i].why);
		s.same_timebase = !rows[i].off_scale;
		s.off_scale = rows[i].off_scale;
		for (int k = 0; k < 2; k++)
			if (rows[i].local[k])
				s.source[k ? EMIT_T4_USER : EMIT_T1_USER] = SOURCE_NONE;
		log_add(&transactions, &s);
		snprintf(fields, sizeof(fields), "%zu %s", i, rows[i].fields);
		assert_string_equal(last_fields(LOG_TEXT), fields);
	}
	/* The longest word fits into the column. */
	for (const char *line = strchr(logged(), '\n'); (line = strchr(line + 1, '\n')) && line[1];)
		assert_int_equal(strcspn(line + 1, "\n"), strlen(RULE RULE MORE_RULE));
}

/* A reflector other than rant does not report the clock of T3: it is written as reported. */
static void what_is_not_reported_to_have_no_place_stays(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, false, RECORDS);
	s = joined_sample(1, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "1 1773883524.780130138 1773883524.780145538 15400 1234567890.000000000 - "
			    "1234567890.000003000 1234567890.000010000 10000 5400 - - -");
	/* But a time of its program that replaced the NIC's, before the first NIC timestamp arrived, does
	 * not belong to it. */
	s = without_t3(joined_sample(2, 5400, 2100, 900, 7000), FOLLOW_UP_MIXED);
	s.source[REMOTE + REFLECT_T2_WIRE] = SOURCE_USER;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "2 1773883524.780130138 1773883524.780145538 15400 - - 1234567890.000003000 - - - - - mixed");
}

/* A clock there that runs fast can make the network take less than nothing: that is written as it is. */
static void what_a_full_log_has_of_odd_samples(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_KERNEL, SOURCE_LOCAL, false, RECORDS);
	s = joined_sample(1, -20, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "1 1773883524.780130138 1773883524.780140118 9980 1234567890.000000000 - "
			    "1234567890.000003000 1234567890.000010000 10000 -20 - - -");
	/* A clock that was set back. */
	s = joined_sample(2, 5400, 2100, 900, -7000);
	s.latency_ns = -3;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "2 1773883524.780130138 1773883524.780131538 -3 1234567890.000000000 - "
			    "1234567890.000003000 1234567889.999996000 -4000 5400 - - -");
	/* No value was reported. */
	memset(s.source, SOURCE_NONE, sizeof(s.source));
	s.follow_up = FOLLOW_UP_UNREPORTED;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT), "2 - - -3 - - - - - - - - untold");
}

static void a_full_log_with_times_of_user_space(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_USER, SOURCE_USER, true, RECORDS);
	s = joined_sample(3, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "3 1773883524.780127138 1773883524.780142538 15400 1234567890.000000000 "
			    "1234567890.000010000 10000 5400 - - -");
}

static void columns_of_a_full_log(void **state)
{
	static const struct {
		enum source local, remote;
		bool split;
		const char *names;
		bool kernel;
	} rows[] = {
		{ SOURCE_HARDWARE, SOURCE_HARDWARE, true,
		  "SEQ T1_SW T1_HW T4_HW T4_SW RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP "
		  "T4_KERNEL T2_KERNEL FLAGS", true },
		{ SOURCE_HARDWARE, SOURCE_KERNEL, true,
		  "SEQ T1_SW T1_HW T4_HW T4_SW RTT T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP "
		  "T4_KERNEL FLAGS", true },
		{ SOURCE_HARDWARE, SOURCE_KERNEL, true,
		  "SEQ T1_SW T1_HW T4_HW T4_SW RTT T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
		{ SOURCE_HARDWARE, SOURCE_LOCAL, false,
		  "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
		{ SOURCE_HARDWARE, SOURCE_NONE, false,
		  "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
		{ SOURCE_KERNEL, SOURCE_HARDWARE, false,
		  "SEQ T1_KERNEL T4_KERNEL RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
		{ SOURCE_USER, SOURCE_HARDWARE, false,
		  "SEQ T1_SW T4_SW RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
		/* Times reported twice are stored once. */
		{ SOURCE_USER, SOURCE_USER, true, "SEQ T1_SW T4_SW RTT T2_SW T3_SW RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		tear_down(state);
		set_up(state);
		options.stages.detail = rows[i].kernel ? STAGES_KERNEL : STAGES_NIC;
		full_log(rows[i].local, rows[i].remote, rows[i].split, 1);
		char *line = strtok((char *)logged(), "\n"), names[256] = "";

		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			sprintf(names + strlen(names), "%s%s", *names ? " " : "", word);
		assert_string_equal(names, rows[i].names);
	}
}

/* A plain log although the other host reported everything: its records end after the local times. */
static void a_plain_log_of_an_emitter_that_heard_all(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	place_records(2, true, false);
	for (uint32_t i = 0; i < 3; i++) {
		struct sample s = joined_sample(i, 5400, 2100, 900, 7000);

		log_add(&transactions, &s);
	}
	assert_string_equal(last_fields(LOG_TEXT), "2 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
			    "1773883524.780147538 15400");
}

static void an_absent_stamp_is_a_dash(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.no_tx_stamps = true;
	add_record(7, NS_PER_S, 1);
	((struct sample *)records)->source[REFLECT_T2_WIRE] = SOURCE_NONE;
	assert_non_null(strstr(logged(), "\n         7                              -"));
}

static void times_before_1970_keep_their_sign(void **state)
{
	(void)state;
	add_record(1, -2, 5);
	assert_non_null(strstr(logged(), " -0.000000001                    0.000000000 "));
}

/* With times of a hostile reflector, numbers of a line are wider than its columns, and still complete. */
/* For each number of digits the last, the first and the next number, with both signs: columns of latencies
 * get wider, and no digit is lost. */
static void numbers_stand_at_the_right_of_their_columns(void **state)
{
	char expected[64], got[64];

	(void)state;
	for (int64_t power = 1; power <= 1000000000000000000; power *= 10) {
		for (int64_t v = power - 1; v <= power + 1; v++) {
			*put_value(got, v) = 0;
			snprintf(expected, sizeof(expected), " %15" PRId64, v);
			assert_string_equal(got, expected);
			*put_value(got, -v) = 0;
			snprintf(expected, sizeof(expected), " %15" PRId64, -v);
			assert_string_equal(got, expected);
		}
		if (power == 1000000000000000000)
			break;
	}
	for (uint64_t seq = 1; seq <= UINT32_MAX; seq *= 3) {
		*put_number_aligned(got, (int64_t)seq, LOG_SEQ_WIDTH) = 0;
		snprintf(expected, sizeof(expected), "%10" PRIu64, seq);
		assert_string_equal(got, expected);
	}
}

/* The second is remembered: within it, at both ends of it, before it and long after it. */
static void a_time_is_written_by_the_second_before_it(void **state)
{
	static const int64_t steps_ns[] = { 0, 1, 999999998, 1, NS_PER_S - 1, 1, -1, -NS_PER_S, 5, 86400 * NS_PER_S,
					    -3 };
	struct log_columns c = { .options = &options };
	int64_t ns = 1771555281 * NS_PER_S;
	char expected[64], got[64];

	(void)state;
	for (size_t i = 0; i < sizeof(steps_ns) / sizeof(steps_ns[0]); i++) {
		ns += steps_ns[i];
		*put_time(got, &c, 0, ns) = 0;
		snprintf(expected, sizeof(expected), " %20" PRId64 ".%09" PRId64, (int64_t)(ns / NS_PER_S),
			 (int64_t)(ns % NS_PER_S));
		assert_string_equal(got, expected);
	}
}

static void the_longest_line_has_its_room(void **state)
{
	enum { SHORT = RULE_FULL_WIDTH + 1, LONG = SHORT + 4 + 5 };
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, 2);
	s = joined_sample(UINT32_MAX, 5400, 2100, 900, 7000);
	/* -4 10^18 and 4 10^18: as far as a time of the packet goes. */
	s.time_ns[REMOTE + REFLECT_T2_WIRE] = 4000000000 * NS_PER_S;
	s.time_ns[REMOTE + REFLECT_T3_WIRE] = 0;
	log_add(&transactions, &s);
	logged();
	assert_int_equal(strlen(text), 2 * SHORT + LONG);
	assert_non_null(strstr(text, " -4000000000000000000 4000000000000015400               -               -                -\n"));
	/* The longest 64-bit number, more than any clock shows. */
	s.latency_ns = INT64_MIN;
	s.time_ns[REMOTE + REFLECT_T2_WIRE] = s.time_ns[REMOTE + REFLECT_T3_WIRE] = INT64_MIN;
	log_add(&transactions, &s);
	logged();
	assert_non_null(strstr(text, " -9223372036854775808 "));
	assert_non_null(strstr(text, " -9223372036.854775808 "));
}

/* ---- Comma-separated values -------------------------------------------------------------------------------------- */

/* Whole nanoseconds, so that no reader rounds them, and no blank. */
static void the_documented_fields(void **state)
{
	(void)state;
	options.sw_timestamps = true;
	add_record(0, 1771555281293181657, 54769);
	add_record(4294967295, -2, 0);
	assert_string_equal(logged_as(LOG_CSV),
		"SEQ,T1_SW,T1_KERNEL,T4_KERNEL,T4_SW,RTT\n"
		"0,1771555281293181657,1771555281293181658,1771555281293181659,1771555281293181660,54769\n"
		"4294967295,-2,-1,0,1,0\n");
}

static void fields_of_a_full_log(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, RECORDS);
	s = joined_sample(7, -20, 2100, 900, 7000);
	s.poll_gap_ns = 512;
	s.remote_poll_gap_ns = 700;
	log_add(&transactions, &s);
	s = without_t3(joined_sample(8, 5400, 2100, 900, 7000), FOLLOW_UP_LOST);
	log_add(&transactions, &s);
	s.seq++;
	s.off_scale = true;
	s.same_timebase = false;
	log_add(&transactions, &s);
	s = joined_sample(10, 5400, 2100, 900, 7000);
	s.source[EMIT_T1_USER] = SOURCE_NONE;
	log_add(&transactions, &s);
	assert_string_equal(logged_as(LOG_CSV),
		"SEQ,T1_SW,T1_HW,T4_HW,T4_SW,RTT,T2_HW,T2_SW,T3_SW,T3_HW,RESPONSE,NETWORK,POLL_GAP,REMOTE_POLL_GAP,FLAGS\n"
		"7,1773883524780127138,1773883524780130138,1773883524780140118,1773883524780142118,9980,"
		"1234567890000000000,1234567890000002100,1234567890000003000,1234567890000010000,10000,-20,512,700,-\n"
		"8,1773883524780127138,1773883524780130138,1773883524780145538,1773883524780147538,15400,"
		"1234567890000000000,1234567890000002100,1234567890000003000,,,,,,lost\n"
		"9,1773883524780127138,1773883524780130138,1773883524780145538,1773883524780147538,15400,"
		"1234567890000000000,,,,,,,,lost;unplaced\n"
		"10,,1773883524780130138,1773883524780145538,1773883524780147538,15400,"
		"1234567890000000000,1234567890000002100,1234567890000003000,1234567890000010000,10000,5400,,,unplaced\n");
}

/* Both have equal values in each column. */
static void the_fields_are_those_of_the_columns(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool sw, no_tx;
		const char *lines;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, false, "SEQ,T1_HW,T4_HW,RTT\n7,2,3,1\n" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, false, "SEQ,T2_HW,T2_SW,T3_SW,T3_HW,RESPONSE\n7,1,2,3,4,1\n" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, true, "SEQ,T2_HW,T2_SW,T3_SW,RESPONSE\n7,1,2,3,1\n" },
		{ ROLE_EMIT, SOURCE_USER, false, false, "SEQ,T1_SW,T4_SW,RTT\n7,1,4,1\n" },
	};

	(void)state;
	add_record(7, 1, 1);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.sw_timestamps = rows[i].sw;
		options.no_tx_stamps = rows[i].no_tx;
		assert_string_equal(logged_as(LOG_CSV), rows[i].lines);
	}
	((struct sample *)records)->source[EMIT_T1_USER] = SOURCE_NONE;
	assert_string_equal(logged_as(LOG_CSV), "SEQ,T1_SW,T4_SW,RTT\n7,,4,1\n");
}

/* The reflector reported better timestamps after the columns were named: times of another clock are
 * missing. */
static void what_is_of_another_clock_than_its_column_is_missing(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, false, RECORDS);
	s = joined_sample(1, 5400, 2100, 900, 7000);
	s.source[REMOTE + REFLECT_T2_WIRE] = s.source[REMOTE + REFLECT_T3_WIRE] = SOURCE_KERNEL;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(LOG_TEXT),
			    "1 1773883524.780130138 1773883524.780145538 15400 - - 1234567890.000003000 - "
			    "10000 5400 - - -");
}

#define LOG_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_log, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(the_documented_columns),
		LOG_TEST(columns_follow_role_and_stamps),
		LOG_TEST(a_full_log_has_all_eight_times),
		LOG_TEST(flags_of_a_full_log),
		LOG_TEST(what_has_no_place_is_a_dash_with_a_flag),
		LOG_TEST(what_is_not_reported_to_have_no_place_stays),
		LOG_TEST(what_a_full_log_has_of_odd_samples),
		LOG_TEST(a_full_log_with_times_of_user_space),
		LOG_TEST(columns_of_a_full_log),
		LOG_TEST(a_plain_log_of_an_emitter_that_heard_all),
		LOG_TEST(an_absent_stamp_is_a_dash),
		LOG_TEST(times_before_1970_keep_their_sign),
		LOG_TEST(numbers_stand_at_the_right_of_their_columns),
		LOG_TEST(a_time_is_written_by_the_second_before_it),
		LOG_TEST(the_longest_line_has_its_room),
		LOG_TEST(the_documented_fields),
		LOG_TEST(fields_of_a_full_log),
		LOG_TEST(the_fields_are_those_of_the_columns),
		LOG_TEST(what_is_of_another_clock_than_its_column_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
