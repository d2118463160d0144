/* build: wraps=write,pwrite,open,rename,poll sources=report/log/log_mend.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The log file: that it is whole or not there, whatever becomes of the disk, of its reader and of the program. */
#include "report/log/log_file.c"

#include "log_folder.h"

#include <sys/sysmacros.h>

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static void assert_refused_with(const char *bad, int64_t rotate_bytes)
{
	struct log_file f;

	listen_from_here();
	int error = log_file_open(&f, bad, rotate_bytes, 3);

	util_capture_end(&capture, said, sizeof(said));
	if (strlen(bad) < NAME_MAX)
		golden_line(said);
	else
		assert_one_line(said);
	assert_true(error < 0);
	assert_non_null(strstr(said, bad));
	assert_int_equal(f.fd, -1);
	log_file_abandon(&f);
}

static void assert_refused(const char *bad)
{
	assert_refused_with(bad, 0);
	assert_refused_with(bad, 1 << 20);
}

static void bad_paths_are_refused_before_the_run(void **state)
{
	char link[80], long_path[PATH_MAX];

	(void)state;
	assert_refused(folder);
	assert_refused("/nonexistent/log.txt");
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	assert_refused(link);
	unlink(link);
	/* The name is short enough, but not with its suffix. */
	snprintf(long_path, sizeof(long_path), "%s/%0250d", folder, 0);
	assert_refused(long_path);
	/* Each component is short enough, but not the whole path. */
	snprintf(long_path, sizeof(long_path), "%s/", folder);
	while (strlen(long_path) < PATH_MAX - 8)
		strcat(long_path, "./");
	strcat(long_path, "a");
	assert_refused(long_path);
	assert_int_equal(files_in_folder(), 0);
	assert_int_equal(mkdir(partial, 0700), 0);
	assert_refused(path);
	assert_int_equal(files_in_folder(), 1);
}

static void what_is_no_file_cannot_rotate(void **state)
{
	int reader;

	(void)state;
	assert_refused_with("/dev/null", 1 << 20);
	assert_refused_with("-", 1 << 20);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_refused_with(path, 1 << 20);
	close(reader);
	assert_int_equal(files_in_folder(), 1);
}

static void the_standard_output(void **state)
{
	static const struct {
		const char *path;
		bool is;
	} rows[] = { { "-", true }, { "/dev/stdout", true }, { "--", false }, { "./-", false }, { "", false },
		     { "/dev/stderr", false } };
	const int before = dup(STDOUT_FILENO);
	struct log_file f;
	int error;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(log_file_is_stdout(rows[i].path), rows[i].is);
	fflush(stdout);
	put_file(path, "");
	assert_int_equal(dup2(open(path, O_WRONLY | O_APPEND), STDOUT_FILENO), STDOUT_FILENO);
	error = log_file_open(&f, "-", 0, 0) || put(&f, "a\n") || log_file_finish(&f);
	/* It is still there for others. */
	error |= __real_write(STDOUT_FILENO, "b\n", 2) != 2;
	listen_from_here();
	close(STDOUT_FILENO);
	int closed = log_file_open(&f, "-", 0, 0);

	dup2(before, STDOUT_FILENO);
	assert_said_line();
	assert_int_equal(error, 0);
	assert_int_equal(closed, -EBADF);
	assert_file(path, "a\nb\n");
	assert_int_equal(files_in_folder(), 1);
	close(before);
}

/* A log reveals latencies of a system: only its owner may write it, and its readers are those of the old
 * log. */
static void a_mode_is_never_looser_than_the_umask(void **state)
{
	static const struct {
		mode_t before, mask, after; /* before: ABSENT for no old log */
	} rows[] = {
#define ABSENT 010000
		{ ABSENT, 022, 0644 }, { ABSENT, 077, 0600 }, { ABSENT, 0, 0644 }, { ABSENT, 002, 0644 },
		{ 0644, 022, 0644 }, { 0666, 022, 0644 }, { 0666, 0, 0644 }, { 0777, 0, 0644 }, { 0755, 022, 0644 },
		{ 0644, 027, 0640 }, { 0644, 077, 0600 }, { 0640, 022, 0640 }, { 0600, 0, 0600 }, { 0660, 0, 0640 },
		{ 0400, 022, 0400 },
	};
	mode_t mask = umask(022);
	struct stat s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!(rows[i].before & 0200) && rows[i].before != ABSENT && geteuid() != 0)
			continue; /* only root may write it */
		unlink(path);
		umask(rows[i].mask);
		if (rows[i].before != ABSENT) {
			fclose(fopen(path, "w"));
			assert_int_equal(chmod(path, rows[i].before), 0);
		}
		write_whole("a\n");
		assert_int_equal(stat(path, &s), 0);
		assert_int_equal(s.st_mode & 07777, rows[i].after);
		/* It is left as it was. */
		assert_int_equal(umask(022), rows[i].mask);
	}
	umask(mask);
}

static char victim[80];

static void put_victim(void)
{
	unlink(path);
	assert_int_equal(link(victim, path), 0);
}

static void put_link(void)
{
	unlink(path);
	assert_int_equal(symlink(victim, path), 0);
}

/* A pipe is at the path when it is looked at, and another file of the user's when it is opened. */
static void what_is_opened_is_what_was_checked(void **state)
{
	void (*const acts[])(void) = { put_victim, put_link };

	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	for (int i = 0; i < 2; i++) {
		struct log_file f;

		assert_int_equal(mkfifo(path, 0600), 0);
		put_file(victim, "of the user\n");
		before_open = acts[i];
		listen_from_here();
		int error = log_file_open(&f, path, 0, 0) || put(&f, "a\n");

		i ? assert_said_line() : assert_said_nothing();
		assert_int_equal(error, i == 1);
		log_file_abandon(&f);
		assert_file(victim, "of the user\n");
		unlink(victim);
		unlink(path);
	}
}

/* Another process creates a link at PATH.partial at the same time. */
static void put_link_for_partial(void)
{
	assert_int_equal(symlink(victim, partial), 0);
}

static void what_is_made_was_not_there(void **state)
{
	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	put_file(victim, "of the user\n");
	before_partial = put_link_for_partial;
	struct log_file f;

	listen_from_here();
	int error = log_file_open(&f, path, 0, 0);

	assert_said_line();
	assert_int_equal(error, -EEXIST);
	assert_file(victim, "of the user\n");
	assert_int_equal(files_in_folder(), 2);
}

/* No reader: reported, and the run continues. */
static void a_pipe_without_a_reader(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path);
}

/* ---- Existing files ---------------------------------------------------------------------------------------------- */

static void the_old_log_stays_until_the_new_one_is_whole(void **state)
{
	struct log_file f;
	struct stat before, after;

	(void)state;
	write_whole("old\n");
	chmod(path, 0640);
	stat(path, &before);
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	assert_int_equal(put(&f, "new\n"), 0);
	assert_file(path, "old\n");
	assert_file(partial, "new\n");
	assert_int_equal(files_in_folder(), 2);
	assert_int_equal(log_file_finish(&f), 0);
	assert_file(path, "new\n");
	assert_int_equal(files_in_folder(), 1);
	stat(path, &after);
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(after.st_mode & 0777, 0640);
	/* Nothing was written: nothing is left. */
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	log_file_abandon(&f);
	log_file_abandon(&f);
	assert_int_equal(files_in_folder(), 1);
	assert_file(path, "new\n");
}

/* Files of earlier runs that did not end. Each is kept, whatever their number. */
static void what_an_earlier_run_left_is_moved_aside(void **state)
{
	char aside[96];

	(void)state;
	for (int n = 1; n <= 3; n++) {
		struct log_file f;

		snprintf(aside, sizeof(aside), "%s.%d", partial, n);
		put_file(partial, aside);
		listen_from_here();
		int error = log_file_open(&f, path, 0, 0) || put(&f, "new\n") || log_file_finish(&f);

		assert_said_line();
		assert_int_equal(error, 0);
		assert_int_equal(files_in_folder(), 1 + n);
		for (int k = 1; k <= n; k++) {
			snprintf(aside, sizeof(aside), "%s.%d", partial, k);
			assert_file(aside, aside);
		}
	}
	/* A link counts too, and its target stays unchanged. */
	struct log_file f;

	put_file(path, "old\n");
	assert_int_equal(symlink(path, partial), 0);
	listen_from_here();
	int error = log_file_open(&f, path, 0, 0) || put(&f, "new\n");

	assert_said_line();
	assert_int_equal(error, 0);
	assert_file(path, "old\n");
	log_file_abandon(&f);
}

/* More of it is in test_report_log_mend.c. The target of a link is not a file of an earlier run. */
static void a_cut_line_does_not_move_aside(void **state)
{
	static const char cut[] = "SEQ,RTT\n1,23\n2,3";
	char aside[96];
	struct log_file f;

	(void)state;
	for (int n = 1; n <= 2; n++) {
		snprintf(aside, sizeof(aside), "%s.%d", partial, n);
		put_file(n == 1 ? partial : path, cut);
		if (n == 2)
			assert_int_equal(symlink(path, partial), 0);
		listen_from_here();
		int error = log_file_open(&f, path, 0, 0);

		log_file_abandon(&f);
		assert_said_line();
		assert_int_equal(error, 0);
		assert_file(aside, n == 1 ? "SEQ,RTT\n1,23\n" : cut);
	}
	assert_file(path, cut);
}

static void exchange_partial(void)
{
	assert_int_equal(rename(partial, victim), 0);
	put_file(partial, "SEQ,RTT\n4,5");
}

/* Two runs find an earlier run's file: the other run has moved it and writes its own by now. */
static void what_is_moved_is_what_was_held(void **state)
{
	struct log_file f;

	(void)state;
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	put_file(partial, "SEQ,RTT\n1,2");
	after_left = exchange_partial;
	listen_from_here();
	int error = log_file_open(&f, path, 0, 0);

	assert_said_line();
	assert_int_equal(error, -EBUSY);
	assert_file(victim, "SEQ,RTT\n1,2");
	assert_file(partial, "SEQ,RTT\n4,5");
	assert_int_equal(files_in_folder(), 2);
}

static void another_run_that_still_writes_is_left_alone(void **state)
{
	struct log_file f, other;

	(void)state;
	assert_int_equal(log_file_open(&other, path, 0, 0), 0);
	assert_int_equal(put(&other, "a\n"), 0);
	for (int i = 0; i < 2; i++) {
		listen_from_here();
		int error = log_file_open(&f, path, 1000 * i, 3);

		assert_said_line();
		assert_int_equal(error, -EBUSY);
		log_file_abandon(&f);
		assert_int_equal(files_in_folder(), 1);
	}
	assert_int_equal(put(&other, "b\n"), 0);
	assert_int_equal(log_file_finish(&other), 0);
	assert_file(path, "a\nb\n");
	/* Now it has ended. */
	write_whole("c\n");
	assert_file(path, "c\n");
	/* So it is for the file that a rotation makes later. */
	assert_int_equal(log_file_open(&other, path, 1000, 3), 0);
	assert_int_equal(put(&other, "a\n"), 0);
	assert_int_equal(log_file_rotate(&other), 0);
	assert_refused(path);
	assert_int_equal(put(&other, "b\n"), 0);
	assert_int_equal(log_file_finish(&other), 0);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The kernel writes any part of the data, and is interrupted, or has no space just now. */
static void short_writes_make_a_whole_file(void **state)
{
	static const struct {
		size_t most;
		unsigned interrupts;
		int error;
	} rows[] = { { 1, 0, 0 }, { 7, 1, EINTR }, { 100, 3, EINTR }, { 0, 2, EAGAIN }, { 999, 1, EAGAIN } };
	enum { BLOCK = 1000, BLOCKS = 5 };
	char block[BLOCK];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct log_file f;

		kernel.most = rows[i].most;
		kernel.interrupts = kernel.interrupts_left = rows[i].interrupts;
		kernel.interrupt_error = rows[i].error;
		kernel.polls = 0;
		assert_int_equal(log_file_open(&f, path, 0, 0), 0);
		for (unsigned k = 0; k < BLOCKS; k++) {
			fill(block, BLOCK, k);
			assert_int_equal(log_file_write(&f, block, BLOCK), 0);
			assert_int_equal(f.whole_bytes, (k + 1) * BLOCK);
		}
		assert_int_equal(log_file_finish(&f), 0);
		assert_filled(path, BLOCK, BLOCKS);
		/* It waits, and does not ask again and again. */
		assert_int_equal(kernel.polls > 0, rows[i].error == EAGAIN);
	}
}

/* A full disk: earlier data stay as whole records, and a single line reports it. */
static void a_full_disk_leaves_whole_records(void **state)
{
	static const int64_t rows[] = { 0, 1, 3, 4, 5, 7, 8, 9 };

	(void)state;
	put_file(path, "old\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const int64_t whole = rows[i] / 4;
		struct log_file f;
		int errors[4];

		assert_int_equal(log_file_open(&f, path, 0, 0), 0);
		kernel.until = rows[i];
		kernel.error = ENOSPC;
		listen_from_here();
		for (int k = 0; k < 3; k++)
			errors[k] = put(&f, "abc\n");
		kernel.until = -1; /* space again, but something is missing by now */
		errors[3] = put(&f, "xyz\n");
		int begin = log_file_write_begin(&f, "ABC", 3), end = log_file_finish(&f);

		assert_said_line();
		for (int k = 0; k < 4; k++)
			assert_int_equal(errors[k], k < whole ? 0 : -ENOSPC);
		assert_int_equal(begin, -ENOSPC);
		assert_int_equal(end, -ENOSPC);
		assert_file(path, "old\n");
		log_file_abandon(&f);
		if (whole)
			assert_file(partial, whole == 1 ? "abc\n" : "abc\nabc\n");
		assert_int_equal(files_in_folder(), whole ? 2 : 1);
		unlink(partial);
	}
}

static void a_full_device_is_an_error_and_stays_a_device(void **state)
{
	struct log_file f;
	struct stat s;

	(void)state;
	/* A node of its own: a fault here would replace /dev/full for all. */
	if (mknod(path, S_IFCHR | 0666, makedev(1, 7))) {
		print_message("device nodes need root\n");
		skip();
	}
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	listen_from_here();
	int error = put(&f, "a\n"), again = put(&f, "a\n"), end = log_file_finish(&f);

	assert_said_line();
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(again, -ENOSPC);
	assert_int_equal(end, -ENOSPC);
	assert_int_equal(stat(path, &s), 0);
	assert_true(S_ISCHR(s.st_mode));
	assert_int_equal(files_in_folder(), 1);
}

/* SIGPIPE is ignored in rant. */
static void a_reader_that_goes_away(void **state)
{
	char got[8] = "";
	struct log_file f;
	int reader;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	assert_int_equal(fcntl(f.fd, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(put(&f, "a\n"), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 2);
	close(reader);
	listen_from_here();
	int error = put(&f, "b\n"), again = put(&f, "c\n"), end = log_file_finish(&f);

	assert_said_line();
	assert_int_equal(error, -EPIPE);
	assert_int_equal(again, -EPIPE);
	assert_int_equal(end, -EPIPE);
	assert_int_equal(files_in_folder(), 1);
}

/* New data are appended after earlier data. */
static void the_begin_is_written_again(void **state)
{
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	assert_int_equal(put(&f, "head 0\nabc\n"), 0);
	assert_int_equal(log_file_write_begin(&f, "head 1", 6), 0);
	assert_int_equal(put(&f, "def\n"), 0);
	assert_int_equal(log_file_write_begin(&f, "head 2", 6), 0);
	assert_file(partial, "head 2\nabc\ndef\n");
	kernel.short_begin = true;
	listen_from_here();
	int error = log_file_write_begin(&f, "head 3", 6), end = log_file_finish(&f);

	assert_said_line();
	assert_true(error < 0);
	assert_int_equal(end, error);
}

/* More than is held in memory, and than is allocated at once. */
static void a_long_file_is_whole(void **state)
{
	enum { BLOCK = 500000, BLOCKS = 100 };
	char *block = malloc(BLOCK);
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	for (unsigned k = 0; k < BLOCKS; k++) {
		fill(block, BLOCK, k);
		assert_int_equal(log_file_write(&f, block, BLOCK), 0);
		/* Space is allocated before it is needed. */
		assert_true(f.allocated_bytes >= f.whole_bytes);
	}
	assert_true(f.whole_bytes - f.cold_bytes < 2 * COLD_BYTES);
	assert_int_equal(log_file_finish(&f), 0);
	assert_filled(path, BLOCK, BLOCKS);
	free(block);
}

static int64_t octets_on_disk(const char *name)
{
	struct stat s;

	assert_int_equal(stat(name, &s), 0);
	return (int64_t)s.st_blocks * 512;
}

/* Where the file system can do this at all. */
static void space_ahead_is_given_back(void **state)
{
	struct log_file f;
	char name[80];

	(void)state;
	for (int how = 0; how < 4; how++) {
		assert_int_equal(log_file_open(&f, path, how ? AHEAD_BYTES : 0, 3), 0);
		assert_int_equal(put(&f, "abc\n"), 0);
		if (octets_on_disk(partial) < AHEAD_BYTES) {
			log_file_finish(&f);
			print_message("no space can be taken ahead here\n");
			skip();
		}
		snprintf(name, sizeof(name), "%s", partial);
		if (how == 0)
			assert_int_equal(log_file_finish(&f), 0);
		if (how == 1)
			assert_int_equal(log_file_rotate(&f), 0);
		if (how == 2)
			log_file_cut_off(&f);
		if (how == 3) {
			kernel.until = 1;
			kernel.error = EIO;
			listen_from_here();
			assert_int_equal(put(&f, "abc\n"), -EIO);
			assert_said_line();
		}
		if (how < 2)
			snprintf(name, sizeof(name), how ? "%s.1" : "%s", path);
		assert_file(name, "abc\n");
		assert_true(octets_on_disk(name) <= 64 << 10);
		log_file_abandon(&f);
		unlink(partial);
	}
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Where files are in memory. */
static void no_space_is_taken_ahead_in_memory(void **state)
{
	const char *name = "/dev/shm/rant-test_report_log_file", *begun = "/dev/shm/rant-test_report_log_file.partial";
	struct log_file f;

	(void)state;
	assert_int_equal(log_file_open(&f, name, 0, 0), 0);
	if (!is_in_memory(&f)) {
		log_file_abandon(&f);
		print_message("/dev/shm is not in memory\n");
		skip();
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(put(&f, "abc\n"), 0);
		assert_true(octets_on_disk(begun) <= 64 << 10);
	}
	assert_int_equal(log_file_finish(&f), 0);
	assert_file(name, "abc\nabc\n");
	unlink(name);
}

/* Also where the rest is thrown away, as at the end of a run that was not begun. */
static void what_cannot_have_its_name_stays(void **state)
{
	struct log_file f;

	(void)state;
	put_file(path, "old\n");
	for (int rotates = 0; rotates < 2; rotates++) {
		assert_int_equal(log_file_open(&f, path, rotates ? 1000 : 0, 3), 0);
		assert_int_equal(put(&f, "abc\n"), 0);
		kernel.rename_error = EROFS;
		listen_from_here();
		int error = rotates ? log_file_rotate(&f) : log_file_finish(&f), again = put(&f, "def\n");

		if (rotates)
			assert_int_equal(log_file_finish(&f), -EROFS);
		log_file_discard(&f);
		assert_said_line();
		assert_int_equal(error, -EROFS);
		assert_int_equal(again, -EROFS);
		assert_file(path, "old\n");
		assert_file(partial, "abc\n");
		assert_int_equal(files_in_folder(), 2);
		kernel.rename_error = 0;
		unlink(partial);
	}
}

static void what_is_written_stays_when_it_is_cut_off(void **state)
{
	enum { BLOCK = 300000 };
	char *block = malloc(BLOCK);

	(void)state;
	put_file(path, "old\n");
	for (unsigned whole = 0; whole < 3; whole++) {
		assert_int_equal(log_file_open(&being_written, path, 0, 0), 0);
		kernel.in_writes = (int)whole + 1;
		kernel.act = cut_off;
		listen_from_here();
		for (unsigned k = 0; k < 5; k++) {
			fill(block, BLOCK, k);
			log_file_write(&being_written, block, BLOCK);
		}
		util_capture_end(&capture, said, sizeof(said));
		assert_int_equal(left_bytes, whole ? (int64_t)whole * BLOCK : -1);
		if (whole)
			assert_filled(partial, BLOCK, whole);
		assert_int_equal(files_in_folder(), whole ? 2 : 1);
		assert_file(path, "old\n");
		close(being_written.fd);
		unlink(partial);
	}
	/* Before anything is written. */
	assert_int_equal(log_file_open(&being_written, path, 0, 0), 0);
	cut_off();
	assert_int_equal(files_in_folder(), 1);
	close(being_written.fd);
	/* And when all is done, or was never begun. */
	write_whole("new\n");
	memset(&being_written, 0, sizeof(being_written));
	cut_off();
	assert_file(path, "new\n");
	free(block);
}

/* A device has nothing that could be taken back. */
static void a_device_is_cut_off(void **state)
{
	(void)state;
	assert_int_equal(log_file_open(&being_written, "/dev/null", 0, 0), 0);
	assert_int_equal(put(&being_written, "abc\n"), 0);
	cut_off();
	assert_int_equal(put(&being_written, "abc\n"), -ECANCELED);
	log_file_abandon(&being_written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(bad_paths_are_refused_before_the_run),
		LOG_TEST(what_is_no_file_cannot_rotate),
		LOG_TEST(the_standard_output),
		LOG_TEST(a_mode_is_never_looser_than_the_umask),
		LOG_TEST(what_is_opened_is_what_was_checked),
		LOG_TEST(what_is_made_was_not_there),
		LOG_TEST(a_pipe_without_a_reader),
		LOG_TEST(the_old_log_stays_until_the_new_one_is_whole),
		LOG_TEST(what_an_earlier_run_left_is_moved_aside),
		LOG_TEST(a_cut_line_does_not_move_aside),
		LOG_TEST(what_is_moved_is_what_was_held),
		LOG_TEST(another_run_that_still_writes_is_left_alone),
		LOG_TEST(short_writes_make_a_whole_file),
		LOG_TEST(a_full_disk_leaves_whole_records),
		LOG_TEST(a_full_device_is_an_error_and_stays_a_device),
		LOG_TEST(a_reader_that_goes_away),
		LOG_TEST(the_begin_is_written_again),
		LOG_TEST(a_long_file_is_whole),
		LOG_TEST(space_ahead_is_given_back), LOG_TEST(no_space_is_taken_ahead_in_memory),
		LOG_TEST(what_cannot_have_its_name_stays),
		LOG_TEST(what_is_written_stays_when_it_is_cut_off),
		LOG_TEST(a_device_is_cut_off),
	};

	return golden_run(tests);
}
