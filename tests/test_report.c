/* build: wraps= sources=histogram.c,log.c,exchange.c,timestamping.c,packet.c,session.c,tracefs.c,pmc.c,clock.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* What people read: the lines that scripts parse, labels that never say more than is known, and a log that is whole or
 * not there. */
#include "report.c"

#include "util.h"

#include <dirent.h>
#include <sys/sysmacros.h>

/* ---- A finished run ------------------------------------------------------------------------------------------------ */

static struct options options;
static struct histogram histogram;
static struct exchange exchange;
static struct channel channel;
static struct sessions sessions;
static struct log transactions;
static struct sample records[8];
static struct report report;
static char *text;

static int set_up(void **state)
{
	(void)state;
	memset(&exchange, 0, sizeof(exchange));
	memset(&channel, 0, sizeof(channel));
	options = (struct options){ .stamp = SOURCE_KERNEL, .histogram = true, .overflow_ns = 100 * NS_PER_US,
				    .bucket_ns = NS_PER_US, .interface = "veth0" };
	histogram_place(&histogram, calloc(1, histogram_layout(&histogram, options.overflow_ns)));
	sessions_init(&sessions);
	exchange.sessions = &sessions;
	exchange.options = &options;
	report = (struct report){ .options = &options, .exchange = &exchange, .channel = &channel, .histogram = &histogram };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(histogram.carry);
	free(text);
	text = NULL;
	return 0;
}

static const char *written(int columns)
{
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	histogram_finish(&histogram);
	report_write(out, &report, columns);
	fclose(out);
	return text;
}

/* A line of its own: scripts look for lines. */
static void assert_line(const char *all, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = all; (at = strstr(at, line)); at++)
		if ((at == all || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
			return;
	fail_msg("there is no line '%s' in:\n%s", line, all);
}

static void assert_no(const char *all, const char *words)
{
	if (strstr(all, words))
		fail_msg("'%s' must not be in:\n%s", words, all);
}

/* ---- Statistics ---------------------------------------------------------------------------------------------------- */

static void the_documented_lines(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		histogram_add(&histogram, 8327 + 10 * i, 1000 + i);
	histogram_add(&histogram, 34439, 27246923);
	exchange.started = true;
	exchange.ended_ns = exchange.last_ns = 600 * NS_PER_S + 120 * NS_PER_MS;
	const char *all = written(0);

	assert_line(all, "Test is complete. Duration: 600.12 s");
	assert_line(all, "--- Latency Statistics ---");
	assert_line(all, "MIN: 8327 ns | MAX: 34439 ns | AVG: 9076 ns | Total Samples: 101");
	assert_line(all, "Histogram Summary:");
	assert_line(all, "  Samples   :  101");
	assert_line(all, "  Minimum   :  8.33 us (#1000)");
	assert_line(all, "  Maximum   :  34.44 us (#27246923)");
	assert_line(all, "  Average   :  9.08 us");
	assert_line(all, "  Percentiles (us):");
	assert_line(all, "    50th    :  8.827 (Median)");
	assert_line(all, "    90th    :  9.227");
	assert_line(all, "    99.99th :  34.439");
	assert_line(all, "         8.000 -        9.000 :           68  67.3267%");
	assert_line(all, "       100.000 -   (overflow) :            0   0.0000%");
	assert_line(all, "Rate: 0 round trips/s");
	assert_no(all, "99.999th");
	assert_no(all, "#####");
}

static void no_sample_is_not_zero(void **state)
{
	(void)state;
	const char *all = written(0);

	assert_line(all, "Test is complete. Duration: 0.00 s");
	assert_line(all, "MIN: n/a | MAX: n/a | AVG: n/a | Total Samples: 0");
	assert_line(all, "  Samples   :  0");
	assert_no(all, "Percentiles");
	assert_no(all, "Rate:");
}

static void rare_percentiles_need_ten_samples_above(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000000; i++)
		histogram_add(&histogram, 5000, i);
	const char *all = written(0);

	assert_line(all, "    99.999th:  5.000");
	assert_no(all, "99.9999th");
}

static void one_less_is_too_few(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 999999; i++)
		histogram_add(&histogram, 5000, i);
	assert_no(written(0), "99.999th");
}

static void a_full_overflow_store_gives_bounds(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < HISTOGRAM_OVERFLOW_STORE + 1; i++)
		histogram_add(&histogram, 200 * NS_PER_US + i, i);
	assert_line(written(0), "    50th    :  >= 100.000 (Median) (bound: overflow store full)");
}

static void bars_only_on_a_terminal(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		histogram_add(&histogram, 5000, i);
	for (uint32_t i = 0; i < 25; i++)
		histogram_add(&histogram, 7000, i);
	size_t whole = 0, half = 0;

	written(80);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, "5.000 -"))
			whole = strspn(strchr(line, '#'), "#");
		if (strstr(line, "7.000 -"))
			half = strspn(strchr(line, '#'), "#");
		if (strstr(line, "#"))
			assert_true(strlen(line) <= 80);
	}
	assert_true(whole > 10);
	assert_int_equal(half, (whole + 1) / 2);
}

/* ---- Labels --------------------------------------------------------------------------------------------------------- */

static void labels_say_where_stamps_come_from(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool no_tx;
		const char *name;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, "RTT = T4_HW - T1_HW" },
		{ ROLE_EMIT, SOURCE_KERNEL, false, "RTT = T4_KERNEL - T1_KERNEL" },
		{ ROLE_EMIT, SOURCE_USER, false, "RTT = T4_SW - T1_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, "RESPONSE = T3_HW - T2_HW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, false, "RESPONSE = T3_KERNEL - T2_KERNEL" },
		{ ROLE_REFLECT, SOURCE_USER, false, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, true, "RESPONSE = T3_SW - T2_SW" },
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.no_tx_stamps = rows[i].no_tx;
		report_latency_name(&options, name, sizeof(name));
		assert_string_equal(name, rows[i].name);
	}
}

static void a_breach_shows_every_stamp_there_is(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_HARDWARE;
	options.threshold_ns = 100000;
	exchange.breach = (struct sample){
		.seq = 4294967295, .latency_ns = 330151,
		.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
		.time_ns = { 1773883524780127138, 1773883524780430176, 1773883524780430768, 1773883524780457289 },
	};
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Response latency (330151 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Sequence number: 4294967295");
	assert_line(all, "  T2_HW (NIC rx): 1773883524.780127138");
	assert_line(all, "  T3_HW (NIC tx): 1773883524.780457289");
	assert_line(all, "  T2_SW (app rx): 1773883524.780430176");
	assert_line(all, "  T3_SW (app tx): 1773883524.780430768");
	free(text);
	exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	assert_no(written(0), "T2_SW (");
}

static void kernel_stamps_are_never_called_hardware(void **state)
{
	(void)state;
	options.threshold_ns = 1;
	exchange.breach = (struct sample){ .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER } };
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Round-trip latency (0 ns) exceeds threshold (1 ns).");
	assert_line(all, "  T1_KERNEL (kernel tx): 0.000000000");
	assert_no(all, "HW");
	assert_no(all, "NIC");
}

/* ---- The log -------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/rant-report-XXXXXX", path[64];

static int set_up_log(void **state)
{
	strcpy(folder, "/tmp/rant-report-XXXXXX");
	set_up(state);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log.txt", folder);
	log_place(&transactions, records, COUNT_OF(records), false);
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

static void add_record(uint32_t seq, int64_t first_ns, int64_t latency_ns)
{
	struct sample s = { .seq = seq, .latency_ns = latency_ns,
			    .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER },
			    .time_ns = { first_ns, first_ns + 1, first_ns + 2, first_ns + 3 } };

	log_add(&transactions, &s);
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

static void an_absent_stamp_is_a_dash(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.no_tx_stamps = true;
	add_record(7, NS_PER_S, 1);
	records[0].source[REFLECT_T2_WIRE] = SOURCE_NONE;
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
	struct sample *many = calloc(MANY, sizeof(*many));
	size_t lines = 0;

	(void)state;
	log_place(&transactions, many, MANY, false);
	for (uint32_t i = 0; i < MANY; i++)
		add_record(i, i, i);
	for (const char *at = logged(); (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, MANY + 2);
	assert_non_null(strstr(text, "\n     99999 "));
	free(many);
}

static void accounts_of_a_log(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		histogram_add(&histogram, i, i);
	for (uint32_t i = 0; i < 10; i++)
		add_record(i, i, i);
	assert_line(written(0), "Log: 8 of 20 records, 2 left out because it was full, 10 not above --log-threshold");
}

/* ---- The file of the log ------------------------------------------------------------------------------------------------ */

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

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
#define LOG_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_log, tear_down_log)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_documented_lines),
		TEST(no_sample_is_not_zero),
		TEST(rare_percentiles_need_ten_samples_above),
		TEST(one_less_is_too_few),
		TEST(a_full_overflow_store_gives_bounds),
		TEST(bars_only_on_a_terminal),
		TEST(labels_say_where_stamps_come_from),
		TEST(a_breach_shows_every_stamp_there_is),
		TEST(kernel_stamps_are_never_called_hardware),
		LOG_TEST(the_documented_columns),
		LOG_TEST(columns_follow_role_and_stamps),
		LOG_TEST(an_absent_stamp_is_a_dash),
		LOG_TEST(times_before_1970_keep_their_sign),
		LOG_TEST(a_long_log_is_whole),
		LOG_TEST(accounts_of_a_log),
		LOG_TEST(bad_paths_are_refused_before_the_run),
		LOG_TEST(a_full_device_is_an_error_and_stays_a_device),
		LOG_TEST(the_old_log_stays_until_the_new_one_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
