/* build: sources=report/label.c,histogram.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/clock*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The log file: its columns, its records, and that it is whole or not there. */
#include "report/log_file.c"

#include "fake_report.h"

#include <dirent.h>
#include <sys/sysmacros.h>

static char folder[] = "/tmp/rant-report-XXXXXX", path[64];

static int set_up_log(void **state)
{
	strcpy(folder, "/tmp/rant-report-XXXXXX");
	set_up(state);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log.txt", folder);
	place_records(RECORDS, false, false);
	report.log = &transactions;
	return 0;
}

static int files_in_folder(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int tear_down_log(void **state)
{
	unlink(path);
	assert_int_equal(files_in_folder(), 0);
	rmdir(folder);
	return tear_down(state);
}

static const char *logged(void)
{
	struct log_file f;
	size_t bytes;

	assert_int_equal(log_file_open(&f, path), 0);
	assert_int_equal(log_file_write(&f, &report), 0);
	free(text);
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &bytes);

	for (int c; (c = fgetc(in)) != EOF;)
		fputc(c, out);
	fclose(in);
	fclose(out);
	return text;
}

/* ---- The columns ------------------------------------------------------------------------------------------------- */

#define RULE                                                                                                            \
	"------------------------------------------------------------------------------------------------------------" \
	"------------------------------------------"

static void the_documented_columns(void **state)
{
	(void)state;
	options.sw_timestamps = true;
	add_record(0, 1771555281293181657, 54769);
	add_record(4294967295, 0, 0);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                      T1_KERNEL                      T4_KERNEL"
		"                          T4_SW             RTT\n" RULE "\n"
		"         0           1771555281.293181657           1771555281.293181658           1771555281.293181659"
		"           1771555281.293181660           54769\n"
		"4294967295                    0.000000000                    0.000000001                    0.000000002"
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

/* An emitter with a full log. split: with all times of user space. */
static void full_log(enum source here, enum source there, bool split, uint64_t capacity)
{
	joined_run(here, there, split);
	options.log_full = true;
	place_records(capacity, false, true);
}

static void a_full_log_has_all_eight_times(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, RECORDS);
	s = joined_sample(4294967295, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(logged(),
		"       SEQ                          T1_SW                          T1_HW                          T4_HW"
		"                          T4_SW             RTT                          T2_HW                          T2_SW"
		"                          T3_SW                          T3_HW        RESPONSE         NETWORK      FLAGS\n"
		RULE RULE "-----------------\n"
		"4294967295           1773883524.780127138           1773883524.780130138           1773883524.780145538"
		"           1773883524.780147538           15400           1234567890.000000000           1234567890.000002100"
		"           1234567890.000003000           1234567890.000010000           10000            5400          -\n");
	assert_int_equal(strlen(RULE RULE "-----------------"), strcspn(text, "\n"));
}

/* The fields of the last line. */
static const char *last_fields(void)
{
	static char fields[512];
	char *line = (char *)logged();

	line[strlen(line) - 1] = '\0';
	line = strrchr(line, '\n') + 1;
	*fields = '\0';
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		sprintf(fields + strlen(fields), "%s%s", *fields ? " " : "", word);
	return fields;
}

/* Why T3 of the reply is missing, and all that is missing with it. */
static void flags_of_a_full_log(void **state)
{
	static const struct {
		enum follow_up why;
		const char *flag;
	} rows[] = {
		{ FOLLOW_UP_LOST, "lost" }, { FOLLOW_UP_UNKNOWN, "unknown" }, { FOLLOW_UP_UNTOLD, "untold" },
		{ FOLLOW_UP_MIXED, "mixed" }, { FOLLOW_UP_END, "end" }, { FOLLOW_UP_NONE, "plain" },
	};

	(void)state;
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, COUNT_OF(rows));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = without_t3(joined_sample((uint32_t)i, 5400, 2100, 900, 7000), rows[i].why);
		char fields[512];

		log_add(&transactions, &s);
		snprintf(fields, sizeof(fields), "%zu 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
			 "1773883524.780147538 15400 1234567890.000000000 1234567890.000002100 1234567890.000003000 - - - %s", i,
			 rows[i].flag);
		assert_string_equal(last_fields(), fields);
	}
}

/* A clock there that runs fast can make the network take less than nothing: that is written as it is. */
static void what_a_full_log_has_of_odd_samples(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_KERNEL, SOURCE_LOCAL, false, RECORDS);
	s = joined_sample(1, -20, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "1 1773883524.780130138 1773883524.780140118 9980 1234567890.000000000 - "
			    "1234567890.000003000 1234567890.000010000 10000 -20 -");
	/* A clock that was set back. */
	s = joined_sample(2, 5400, 2100, 900, -7000);
	s.latency_ns = -3;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "2 1773883524.780130138 1773883524.780131538 -3 1234567890.000000000 - "
			    "1234567890.000003000 1234567889.999996000 -4000 5400 -");
	/* Nothing at all was told. */
	memset(s.source, SOURCE_NONE, sizeof(s.source));
	s.follow_up = FOLLOW_UP_UNTOLD;
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "2 - - -3 - - - - - - untold");
}

static void a_full_log_with_times_of_user_space(void **state)
{
	struct sample s;

	(void)state;
	full_log(SOURCE_USER, SOURCE_USER, true, RECORDS);
	s = joined_sample(3, 5400, 2100, 900, 7000);
	log_add(&transactions, &s);
	assert_string_equal(last_fields(), "3 1773883524.780127138 1773883524.780142538 15400 1234567890.000000000 "
			    "1234567890.000010000 10000 5400 -");
}

static void columns_of_a_full_log(void **state)
{
	static const struct {
		enum source here, there;
		bool split;
		const char *names;
	} rows[] = {
		{ SOURCE_HARDWARE, SOURCE_KERNEL, true,
		  "SEQ T1_SW T1_HW T4_HW T4_SW RTT T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE NETWORK FLAGS" },
		{ SOURCE_HARDWARE, SOURCE_LOCAL, false,
		  "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK FLAGS" },
		{ SOURCE_HARDWARE, SOURCE_NONE, false, "SEQ T1_HW T4_HW RTT T2_LOCAL T2_SW T3_SW T3_LOCAL RESPONSE NETWORK FLAGS" },
		{ SOURCE_KERNEL, SOURCE_HARDWARE, false,
		  "SEQ T1_KERNEL T4_KERNEL RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK FLAGS" },
		{ SOURCE_USER, SOURCE_HARDWARE, false, "SEQ T1_SW T4_SW RTT T2_HW T2_SW T3_SW T3_HW RESPONSE NETWORK FLAGS" },
		/* Times that are told twice are there once. */
		{ SOURCE_USER, SOURCE_USER, true, "SEQ T1_SW T4_SW RTT T2_SW T3_SW RESPONSE NETWORK FLAGS" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		tear_down(state);
		set_up(state);
		report.log = &transactions;
		full_log(rows[i].here, rows[i].there, rows[i].split, 1);
		char *line = strtok((char *)logged(), "\n"), names[256] = "";

		for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
			sprintf(names + strlen(names), "%s%s", *names ? " " : "", word);
		assert_string_equal(names, rows[i].names);
	}
}

/* In more than one piece, and each as full as it may be: with times that a hostile reflector could tell, the last line of a
 * piece is the longest. */
static void a_long_full_log_is_whole(void **state)
{
	enum { MANY = 20000, SHORT = RULE_FULL_WIDTH + 1, LONG = SHORT + 4 + 5 };
	const long room = LOG_CHUNK_BYTES - SHORT - 2 * SHORT; /* beside the header and a last line, if that were a short one */
	long shorts = 0;
	size_t lines = 0;

	(void)state;
	while ((room - shorts * SHORT) % LONG >= LONG - SHORT)
		shorts++;
	assert_true(shorts < room / SHORT);
	full_log(SOURCE_HARDWARE, SOURCE_HARDWARE, true, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		struct sample s = joined_sample(i, 5400, 2100, 900, 7000);

		/* -4 10^18 and 4 10^18: as far as a time of the packet goes. */
		if (i >= shorts) {
			s.time_ns[THERE + REFLECT_T2_WIRE] = 4000000000 * NS_PER_S;
			s.time_ns[THERE + REFLECT_T3_WIRE] = i % 2 ? 0 : 8000000000 * NS_PER_S;
		}
		log_add(&transactions, &s);
	}
	logged();
	for (const char *at = text; (at = strchr(at, '\n')) && at[1]; at++)
		if (++lines > 1)
			assert_int_equal(strtoul(at + 1, NULL, 10), lines - 2);
	assert_int_equal(lines, MANY + 1);
	assert_int_equal(strlen(text), (2 + shorts) * SHORT + (MANY - shorts) * LONG);
}

/* A plain log although the other host told everything: its records end after our times. */
static void a_plain_log_of_an_emitter_that_heard_all(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	place_records(2, true, false);
	for (uint32_t i = 0; i < 3; i++) {
		struct sample s = joined_sample(i, 5400, 2100, 900, 7000);

		log_add(&transactions, &s);
	}
	assert_string_equal(last_fields(), "2 1773883524.780127138 1773883524.780130138 1773883524.780145538 "
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

static void a_long_log_is_whole(void **state)
{
	enum { MANY = 100000 };
	size_t lines = 0;

	(void)state;
	place_records(MANY, false, false);
	for (uint32_t i = 0; i < MANY; i++)
		add_record(i, i, i);
	for (const char *at = logged(); (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, MANY + 2);
	assert_non_null(strstr(text, "\n     99999 "));
}

/* With every place of the newest record in the memory. */
static void a_circular_log_is_written_from_old_to_new(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 3 * RECORDS; n++) {
		uint32_t expected = n < RECORDS ? 0 : n - (uint32_t)RECORDS;

		place_records(RECORDS, true, false);
		for (uint32_t i = 0; i < n; i++)
			add_record(i, i, i);
		const char *line = strchr(strchr(logged(), '\n') + 1, '\n') + 1; /* below the header */

		for (; *line; line = strchr(line, '\n') + 1)
			assert_int_equal(strtoul(line, NULL, 10), expected++);
		assert_int_equal(expected, n);
	}
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void assert_refused(const char *bad, const char *words)
{
	struct util_capture c;
	struct log_file f;
	char said[512];

	util_capture_begin(&c);
	int error = log_file_open(&f, bad);

	util_capture_end(&c, said, sizeof(said));
	assert_true(error < 0);
	assert_non_null(strstr(said, words));
	assert_non_null(strstr(said, bad));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	log_file_abandon(&f);
}

static void bad_paths_are_refused_before_the_run(void **state)
{
	char link[80];

	(void)state;
	assert_refused(folder, "directory");
	assert_refused("/nonexistent/log.txt", "No such file");
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	assert_refused(link, "symbolic link");
	unlink(link);
	assert_int_equal(files_in_folder(), 0);
}

static void a_full_device_is_an_error_and_stays_a_device(void **state)
{
	struct util_capture c;
	struct log_file f;
	struct stat s;
	char said[512];

	(void)state;
	add_record(1, 1, 1);
	/* A node of its own: a fault here would replace /dev/full for all. */
	if (mknod(path, S_IFCHR | 0666, makedev(1, 7))) {
		print_message("device nodes need root\n");
		skip();
	}
	assert_int_equal(log_file_open(&f, path), 0);
	util_capture_begin(&c);
	int error = log_file_write(&f, &report);

	util_capture_end(&c, said, sizeof(said));
	assert_int_equal(error, -ENOSPC);
	assert_non_null(strstr(said, "No space left"));
	assert_int_equal(stat(path, &s), 0);
	assert_true(S_ISCHR(s.st_mode));
}

static void the_old_log_stays_until_the_new_one_is_whole(void **state)
{
	struct log_file f;
	struct stat before, after;

	(void)state;
	add_record(1, 1, 1);
	logged();
	chmod(path, 0640);
	stat(path, &before);
	assert_int_equal(log_file_open(&f, path), 0);
	assert_int_equal(files_in_folder(), 2);
	stat(path, &after);
	assert_int_equal(before.st_ino, after.st_ino);
	log_file_abandon(&f);
	assert_int_equal(files_in_folder(), 1);
	logged();
	stat(path, &after);
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(after.st_mode & 0777, 0640);
}

#define LOG_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_log, tear_down_log)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(the_documented_columns),
		LOG_TEST(columns_follow_role_and_stamps),
		LOG_TEST(a_full_log_has_all_eight_times),
		LOG_TEST(flags_of_a_full_log),
		LOG_TEST(what_a_full_log_has_of_odd_samples),
		LOG_TEST(a_full_log_with_times_of_user_space),
		LOG_TEST(columns_of_a_full_log),
		LOG_TEST(a_long_full_log_is_whole),
		LOG_TEST(a_plain_log_of_an_emitter_that_heard_all),
		LOG_TEST(an_absent_stamp_is_a_dash),
		LOG_TEST(times_before_1970_keep_their_sign),
		LOG_TEST(a_long_log_is_whole),
		LOG_TEST(a_circular_log_is_written_from_old_to_new),
		LOG_TEST(bad_paths_are_refused_before_the_run),
		LOG_TEST(a_full_device_is_an_error_and_stays_a_device),
		LOG_TEST(the_old_log_stays_until_the_new_one_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
