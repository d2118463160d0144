/* build: sources=report/log/log_form.c,report/log/log_npy.c,report/log/log_text.c,report/text/label.c,histogram.c,@result,host/process/memory.c,wire/[a-z]*.c,host/clock/clock*.c,host/counters/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Truncated logs: for any cut, and any octets after it, whole lines or records are left; files that are not
 * logs, or belong to another user, are unchanged. */
#include "report/log/log_mend.c"

#include "log_bench.h"

#include <sys/stat.h>

/* ---- A log that was cut ------------------------------------------------------------------------------------------ */

#define LOGGED 3 /* records */

static char name[] = "/tmp/rant-mend-XXXXXX", words[LOG_MEND_BYTES];
static char whole[NPY_BEGIN_BYTES + LOGGED * LOG_RECORD_BYTES], got[sizeof(whole) + 2 * 4096];
static size_t bytes_whole, ends[LOGGED + 2]; /* of the begin and of each record; none after the last */
static bool is_array;

static int set_up_mend(void **state)
{
	strcpy(name, "/tmp/rant-mend-XXXXXX");
	close(mkstemp(name));
	return set_up_log(state);
}

static int tear_down_mend(void **state)
{
	unlink(name);
	return tear_down(state);
}

static void make_log(enum log_format format, bool full)
{
	const struct log_form *form = &log_forms[format];
	struct log_columns c;
	char *at;
	size_t n = 0;

	options.log_full = options.sw_timestamps = full;
	is_array = format == LOG_NPY;
	log_columns_choose(&c, &options, result.remote);
	memset(whole, 0, sizeof(whole));
	at = form->begin(whole, &c, LOGGED);
	ends[n++] = (size_t)(at - whole);
	for (uint32_t i = 0; i < LOGGED; i++) {
		struct sample s = { .seq = i, .latency_ns = 7,
				    .time_ns = { 1771555281293181657, 1771555281293181658, 1771555281293181659,
			1771555281293181660 }, .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER } };

		at = form->record(at, &c, &s, 0);
		ends[n++] = (size_t)(at - whole);
	}
	ends[n] = SIZE_MAX;
	bytes_whole = (size_t)(at - whole);
}

static int put_octets(const void *from, size_t bytes, int64_t zeros)
{
	int fd;

	/* A new file: truncated data go to the disk at once on ext4. */
	unlink(name);
	fd = open(name, O_RDWR | O_EXCL | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, from, bytes, 0), bytes);
	assert_int_equal(ftruncate(fd, (off_t)((int64_t)bytes + zeros)), 0);
	return fd;
}

static size_t get_octets(void)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(fd, got, sizeof(got), 0);

	close(fd);
	assert_true(n >= 0 && n < (ssize_t)sizeof(got));
	return (size_t)n;
}

/* Number of records that end at or before the offset; -1: not even the begin of an array. For lines, the
 * header alone counts. */
static int records_before(size_t at)
{
	int n = -1;

	for (size_t i = 0; ends[i] <= at; i++)
		n++;
	return n;
}

static size_t lines_before(size_t at)
{
	while (at && whole[at - 1] != '\n')
		at--;
	return at;
}

static void assert_mended(size_t cut, int64_t zeros, size_t want)
{
	const long long behind = (long long)cut + zeros - (long long)want;
	char shape_reported[40];
	size_t n = get_octets();
	long long removed = 0;

	if (n != want || (behind && sscanf(words, "%lld octets", &removed) != 1) || removed != behind ||
	    (!behind && *words && !is_array))
		fail_msg("cut at %zu, %lld zeros: %zu octets are left and not %zu, '%s'", cut, (long long)zeros, n,
			 want, words);
	if (is_array && n) {
		snprintf(shape_reported, sizeof(shape_reported), "'shape': (%d,), }  ", records_before(want));
		assert_non_null(strstr(got + 10, shape_reported));
		assert_int_equal(got[NPY_BEGIN_BYTES - 1], '\n');
		assert_int_equal(strstr(words, "its header") != NULL, records_before(want) != LOGGED);
		assert_memory_equal(got, whole, (size_t)(strstr(whole + 10, "'shape'") - whole));
		assert_memory_equal(got + NPY_BEGIN_BYTES, whole + NPY_BEGIN_BYTES, want - NPY_BEGIN_BYTES);
	} else {
		assert_memory_equal(got, whole, want);
	}
}

static void cut_everywhere(enum log_format format, bool full)
{
	make_log(format, full);
	for (size_t cut = 0; cut <= bytes_whole; cut++) {
		const int n = is_array ? records_before(cut) : 0;
		int fd = put_octets(whole, cut, 0);

		log_mend(fd, words);
		close(fd);
		assert_mended(cut, 0, is_array ? n < 0 ? 0 : ends[n] : lines_before(cut));
	}
}

static void lines_are_cut_back(void **state)
{
	(void)state;
	cut_everywhere(LOG_TEXT, false);
	cut_everywhere(LOG_TEXT, true);
}

static void values_are_cut_back(void **state)
{
	(void)state;
	cut_everywhere(LOG_CSV, false);
	cut_everywhere(LOG_CSV, true);
}

static void records_are_cut_back(void **state)
{
	(void)state;
	cut_everywhere(LOG_NPY, false);
	cut_everywhere(LOG_NPY, true);
}

/* From a sector on, of 512 octets: as records are placed, that is at a multiple of 32 in each. More than is read at
 * once. */
static void zeros_are_no_end(void **state)
{
	static const int64_t zeros[] = { 1, 20, 32, 511, 4096, 100000 };

	(void)state;
	for (int kind = 0; kind < 2 * LOG_FORMATS; kind++) {
		make_log((enum log_format)(kind / 2), kind % 2);
		for (size_t cut = 0; cut <= bytes_whole; cut += is_array ? 32 : 1)
			for (size_t i = 0; i < COUNT_OF(zeros) && (!cut || cut >= (is_array ? NPY_BEGIN_BYTES : 10));
			     i++) {
				const int n = is_array ? records_before(cut) : 0;
				int fd = put_octets(whole, cut, zeros[i]);

				log_mend(fd, words);
				close(fd);
				if (!cut) { /* no octet shows that it was an array */
					assert_int_equal(get_octets(), 0);
					assert_non_null(strstr(words, " octets "));
					continue;
				}
				assert_mended(cut, zeros[i], is_array ? ends[n] : lines_before(cut));
			}
	}
}

/* A record that ends with zeros: the latency is 0, and the octets after it are unused. */
static void zeros_that_were_written_stay(void **state)
{
	(void)state;
	for (int full = 0; full < 2; full++) {
		make_log(LOG_NPY, full);
		memset(whole + bytes_whole - (full ? 16 : 24), 0, full ? 16 : 24);
		int fd = put_octets(whole, bytes_whole, 0);

		log_mend(fd, words);
		close(fd);
		assert_string_equal(words, "");
		assert_mended(bytes_whole, 0, bytes_whole);
	}
}

/* The run was killed between the records and their number, or the number was on the disk before them. */
static void the_number_of_records_is_put_right(void **state)
{
	static const char *const numbers[] = { "0", "2", "4", "18446744073709551615" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		make_log(LOG_NPY, i % 2);
		char *reported = strstr(whole + 10, "'shape': (") + 10;

		memcpy(reported, numbers[i], strlen(numbers[i]));
		memcpy(reported + strlen(numbers[i]), ",), }", 5);
		int fd = put_octets(whole, bytes_whole, 0);

		log_mend(fd, words);
		golden("%s\n", words);
		log_mend(fd, words);
		assert_string_equal(words, "");
		close(fd);
		assert_int_equal(get_octets(), bytes_whole);
		assert_non_null(strstr(got + 10, "'shape': (3,), }  "));
		assert_int_equal(strlen(strstr(got + 10, "3,), }")), strlen(strstr(got + 10, "3,), }   ")));
		assert_int_equal(got[NPY_BEGIN_BYTES - 1], '\n');
		assert_memory_equal(got + NPY_BEGIN_BYTES, whole + NPY_BEGIN_BYTES, bytes_whole - NPY_BEGIN_BYTES);
	}
}

/* ---- Unchanged files --------------------------------------------------------------------------------------------- */

static int64_t length_of(int fd)
{
	struct stat s;

	assert_int_equal(fstat(fd, &s), 0);
	return s.st_size;
}

static void what_is_no_log_stays(void **state)
{
	static char long_line[4096] = "SEQ,";
	static const char *const rows[] = { "no log", "SEQUENCE", "SE\nx", "\n       SEQ", "        SEQ", "\x93NUMPX" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int fd = put_octets(rows[i], strlen(rows[i]), i == 0 ? 10 : 0);

		log_mend(fd, words);
		assert_string_equal(words, "");
		assert_int_equal(length_of(fd), strlen(rows[i]) + (i == 0 ? 10 : 0));
		close(fd);
	}
	/* The last line is longer than any of a log. */
	memset(long_line + 4, 'x', sizeof(long_line) - 4);
	long_line[4096 - LOG_BEGIN_BYTES - 1] = '\n';
	int fd = put_octets(long_line, sizeof(long_line), 0);

	log_mend(fd, words);
	assert_string_equal(words, "");
	assert_int_equal(length_of(fd), sizeof(long_line));
	close(fd);
	/* An octet less. */
	fd = put_octets(long_line, sizeof(long_line) - 1, 0);
	log_mend(fd, words);
	golden("%s\n", words);
	close(fd);
	/* It begins with zeros, but is more than these. */
	fd = put_octets("\0\0SEQ", 5, 3);
	log_mend(fd, words);
	assert_string_equal(words, "");
	assert_int_equal(length_of(fd), 8);
	close(fd);
}

/* An array with a header that is none of ours. */
static void what_is_anothers_array_stays(void **state)
{
	static const struct {
		size_t at;
		const char *octets;
	} rows[] = { { 8, "x" }, { 9, "\x04" }, { 12, "DESCR" }, { 23, "SEX" } };
	char *reported;

	(void)state;
	for (size_t i = 0; i <= COUNT_OF(rows); i++) {
		make_log(LOG_NPY, false);
		reported = strstr(whole + 10, "'shape'");
		if (i < COUNT_OF(rows))
			memcpy(whole + rows[i].at, rows[i].octets, strlen(rows[i].octets));
		else
			memcpy(reported, "'SHAPE'", 7);
		int fd = put_octets(whole, bytes_whole - 1, 0);

		log_mend(fd, words);
		assert_string_equal(words, "");
		assert_int_equal(length_of(fd), bytes_whole - 1);
		close(fd);
	}
}

/* No more is read than is needed: each of these would take hours. */
static void a_huge_file_is_not_read_through(void **state)
{
	static const char *const begins_with[] = { "SEQ,\n", "       SEQ", "", "\x93NUMPY\x01" };
	const int64_t huge = (int64_t)1 << 42;

	(void)state;
	for (size_t i = 0; i < 2 * COUNT_OF(begins_with); i++) {
		int fd = put_octets(begins_with[i / 2], strlen(begins_with[i / 2]), 0);

		if (ftruncate(fd, huge)) {
			print_message("no file may be that long here\n");
			skip();
		}
		if (i % 2)
			assert_int_equal(pwrite(fd, "x", 1, huge - 1), 1);
		log_mend(fd, words);
		assert_string_equal(words, "");
		assert_int_equal(length_of(fd), huge);
		close(fd);
	}
	/* But this number of zeros is. */
	make_log(LOG_CSV, false);
	int fd = put_octets(whole, bytes_whole, ZEROS_MAX);

	log_mend(fd, words);
	assert_int_equal(length_of(fd), bytes_whole);
	close(fd);
}

static void assert_left_alone(int fd, size_t length)
{
	log_mend(fd, words);
	golden("%s\n", words);
	assert_int_equal(length_of(fd), length);
}

static void what_may_not_be_changed_is_reported(void **state)
{
	char second[80];
	int fd;

	(void)state;
	close(put_octets("SEQ,RTT\n1,23", 12, 0));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_left_alone(fd, 12);
	close(fd);
	make_log(LOG_NPY, false);
	close(put_octets(whole, bytes_whole - 1, 0));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_left_alone(fd, bytes_whole - 1);
	close(fd);
	/* It has another name, perhaps that of a file of the user's. */
	snprintf(second, sizeof(second), "%s.2", name);
	fd = put_octets("SEQ,RTT\n1,23", 12, 0);
	assert_int_equal(link(name, second), 0);
	assert_left_alone(fd, 12);
	unlink(second);
	log_mend(fd, words);
	assert_int_equal(length_of(fd), 8);
	close(fd);
}

/* Root's runs leave files of --user; other users cannot change another's file. */
static void whose_file_is_changed(void **state)
{
	int fd, root;

	(void)state;
	if (geteuid()) {
		print_message("only root can be another\n");
		skip();
	}
	fd = put_octets("SEQ,RTT\n1,23", 12, 0);
	assert_int_equal(seteuid(65534), 0);
	log_mend(fd, words);
	root = seteuid(0);
	assert_int_equal(root, 0);
	golden("%s\n", words);
	assert_int_equal(length_of(fd), 12);
	assert_int_equal(fchown(fd, 65534, (gid_t)-1), 0);
	log_mend(fd, words);
	assert_int_equal(length_of(fd), 8);
	assert_int_equal(pwrite(fd, "2,", 2, 8), 2);
	assert_int_equal(seteuid(65534), 0);
	log_mend(fd, words);
	root = seteuid(0);
	assert_int_equal(root, 0);
	assert_string_equal(words, "2 octets after its last whole line were removed");
	close(fd);
}

static void what_is_no_file_stays(void **state)
{
	int ends_of[2], fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_int_equal(pipe(ends_of), 0);
	assert_int_equal(write(ends_of[1], "SEQ,", 4), 4);
	log_mend(ends_of[0], words);
	assert_string_equal(words, "");
	log_mend(fd, words);
	assert_string_equal(words, "");
	log_mend(-1, words);
	assert_string_equal(words, "");
	close(fd);
	close(ends_of[0]);
	close(ends_of[1]);
}

/* It is the time at which the run was killed. */
static void the_time_of_the_last_change_stays(void **state)
{
	const struct timespec then[] = { { 1000000000, 1 }, { 1000000000, 2 } };
	struct stat s;

	(void)state;
	int fd = put_octets("SEQ,RTT\n1,23", 12, 0);

	assert_int_equal(futimens(fd, then), 0);
	log_mend(fd, words);
	assert_int_equal(fstat(fd, &s), 0);
	assert_int_equal(s.st_size, 8);
	assert_int_equal(s.st_mtim.tv_sec, 1000000000);
	assert_int_equal(s.st_mtim.tv_nsec, 2);
	close(fd);
}

/* After the end of the file there are no octets of it, but allocated disk space. */
static void room_that_was_taken_ahead_is_given_back(void **state)
{
	struct stat s;

	(void)state;
	int fd = put_octets("SEQ,RTT\n", 8, 0);

	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 16 << 20) || fstat(fd, &s) || s.st_blocks * 512 < 16 << 20) {
		close(fd);
		print_message("no space can be taken ahead here\n");
		skip();
	}
	assert_int_equal(s.st_size, 8);
	log_mend(fd, words);
	assert_string_equal(words, "");
	assert_int_equal(fstat(fd, &s), 0);
	assert_int_equal(s.st_size, 8);
	assert_true(s.st_blocks * 512 <= 64 << 10);
	close(fd);
}

#define MEND_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_mend, tear_down_mend)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MEND_TEST(lines_are_cut_back),
		MEND_TEST(values_are_cut_back),
		MEND_TEST(records_are_cut_back),
		MEND_TEST(zeros_are_no_end),
		MEND_TEST(zeros_that_were_written_stay),
		MEND_TEST(the_number_of_records_is_put_right),
		MEND_TEST(what_is_no_log_stays),
		MEND_TEST(what_is_anothers_array_stays),
		MEND_TEST(a_huge_file_is_not_read_through),
		MEND_TEST(what_may_not_be_changed_is_reported),
		MEND_TEST(whose_file_is_changed),
		MEND_TEST(what_is_no_file_stays),
		MEND_TEST(the_time_of_the_last_change_stays),
		MEND_TEST(room_that_was_taken_ahead_is_given_back),
	};

	return golden_run(tests);
}
