/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder for logs, and a kernel that writes as a test wants. A test includes report/log/log_file.c first, then
 * this. */
#ifndef LOG_FOLDER_H
#define LOG_FOLDER_H

#include "golden.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

/* Each write takes at most so many octets; after so many in all it fails, again and again. */
static struct {
	size_t most; /* 0: no limit */
	int64_t until; /* octets that are still taken; -1: no limit */
	int error; /* result then; -1: as many octets as there are, but one */
	unsigned interrupts; /* of each write, before it is done */
	int interrupt_error; /* EINTR or EAGAIN */
	unsigned interrupts_left, polls;
	int in_writes; /* called instead of the n-th write, as a signal handler is */
	void (*act)(void);
	int rename_error, open_error;
	bool short_begin;
} kernel;

ssize_t __real_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes)
{
	if (fd == STDERR_FILENO)
		return __real_write(fd, from, bytes);
	if (kernel.act && !--kernel.in_writes) {
		void (*act)(void) = kernel.act;

		/* The kernel took a part of it before. */
		assert_true(__real_write(fd, from, bytes / 2) > 0);
		kernel.act = NULL;
		act();
		errno = EBADF; /* a program would have ended */
		return -1;
	}
	if (kernel.interrupts_left) {
		kernel.interrupts_left--;
		errno = kernel.interrupt_error;
		return -1;
	}
	kernel.interrupts_left = kernel.interrupts;
	if (kernel.until >= 0 && (int64_t)bytes > kernel.until) {
		ssize_t some = kernel.until ? __real_write(fd, from, (size_t)kernel.until) : -1;

		errno = kernel.error;
		kernel.until = 0;
		return some;
	}
	kernel.until -= kernel.until >= 0 ? (int64_t)bytes : 0;
	return __real_write(fd, from, kernel.most && bytes > kernel.most ? kernel.most : bytes);
}

ssize_t __real_pwrite(int fd, const void *from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	return __real_pwrite(fd, from, bytes / (kernel.short_begin ? 2 : 1), at);
}

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	if (p->events != POLLOUT)
		return __real_poll(p, n, ms); /* of a thread that waits for its end */
	assert_int_equal(n, 1);
	assert_int_equal(ms, -1);
	kernel.polls++;
	return 1;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	errno = kernel.rename_error;
	return kernel.rename_error ? -1 : __real_rename(from, to);
}

/* Interference of another program just before the path given to rant is opened, and right after PATH.partial was made;
 * and right after an existing file was opened. */
static void (*before_open)(void), (*before_partial)(void), (*after_partial)(void), (*after_left)(void);

static char folder[] = "/tmp/rant-report-XXXXXX", path[64], partial[80];

static inline void call(void (**act)(void))
{
	void (*once)(void) = *act;

	*act = NULL;
	if (once)
		once();
}

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...)
{
	const bool makes = flags & O_CREAT;
	va_list arguments;
	mode_t mode;
	int fd;

	if (!strcmp(name, path))
		call(&before_open);
	if (makes)
		call(&before_partial);
	va_start(arguments, flags);
	mode = makes ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (makes && kernel.open_error) {
		errno = kernel.open_error;
		return -1;
	}
	fd = __real_open(name, flags, mode);
	if (makes)
		call(&after_partial);
	else if (!strcmp(name, partial))
		call(&after_left);
	return fd;
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

static struct util_capture capture;
static char said[3 * PATH_MAX];

static inline int set_up_folder(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.until = -1;
	before_open = before_partial = after_partial = after_left = NULL;
	strcpy(folder, "/tmp/rant-report-XXXXXX");
	assert_non_null(mkdtemp(folder));
	golden_hide("FOLDER", folder);
	snprintf(path, sizeof(path), "%s/log.txt", folder);
	snprintf(partial, sizeof(partial), "%s.partial", path);
	return 0;
}

/* Beside "." and "..". */
static inline int files_in_folder(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static inline int tear_down_folder(void **state)
{
	DIR *d = opendir(folder);

	(void)state;
	for (struct dirent *e; (e = readdir(d));)
		if (*e->d_name != '.')
			unlinkat(dirfd(d), e->d_name, e->d_type == DT_DIR ? AT_REMOVEDIR : 0);
	closedir(d);
	assert_int_equal(rmdir(folder), 0);
	return 0;
}

static inline unsigned lines_said(void)
{
	unsigned n = 0;

	for (const char *c = said; *c; c++)
		n += *c == '\n';
	return n;
}

static inline void listen_from_here(void)
{
	util_capture_begin(&capture);
}

static inline void assert_said_line(void)
{
	util_capture_end(&capture, said, sizeof(said));
	golden_line(said);
}

static inline void assert_said_nothing(void)
{
	util_capture_end(&capture, said, sizeof(said));
	assert_string_equal(said, "");
}

static inline void put_file(const char *name, const char *words)
{
	FILE *out = fopen(name, "w");

	assert_non_null(out);
	fputs(words, out);
	fclose(out);
}

static inline void assert_file(const char *name, const char *words)
{
	char got[4096] = "";
	FILE *in = fopen(name, "r");

	if (!in)
		fail_msg("there is no %s", name);
	got[fread(got, 1, sizeof(got) - 1, in)] = 0;
	fclose(in);
	if (strcmp(got, words))
		fail_msg("%s has not\n%s\nbut\n%s", name, words, got);
}

/* PATH.n has so, or is not there. */
static inline void assert_number(int n, const char *words)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.%d", path, n);
	if (words)
		assert_file(name, words);
	else
		assert_int_equal(access(name, F_OK), -1);
}

static inline int put(struct log_file *f, const char *words)
{
	return log_file_write(f, words, strlen(words));
}

/* A log with nothing but these words, as a run makes it. */
static inline void write_whole(const char *words)
{
	struct log_file f;

	assert_int_equal(log_file_open(&f, path, 0, 0), 0);
	assert_int_equal(put(&f, words), 0);
	assert_int_equal(log_file_finish(&f), 0);
}

static struct log_file being_written;
/* of PATH.partial right after it was cut off, when a program would have ended; -1: no such file */
static int64_t left_bytes;

static inline void cut_off(void)
{
	struct stat s;

	log_file_cut_off(&being_written);
	log_file_cut_off(&being_written);
	left_bytes = stat(partial, &s) ? -1 : (int64_t)s.st_size;
}

static inline void fill(char *to, size_t bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)('a' + (seed + i) % 26);
}

/* A file of this length whose octets are those of fill(), block for block. */
static inline void assert_filled(const char *name, size_t block, unsigned blocks)
{
	char *wanted = malloc(block), *got = malloc(block);
	FILE *in = fopen(name, "r");

	assert_non_null(in);
	for (unsigned i = 0; i < blocks; i++) {
		fill(wanted, block, i);
		assert_int_equal(fread(got, 1, block, in), block);
		assert_memory_equal(got, wanted, block);
	}
	assert_int_equal(fgetc(in), EOF);
	fclose(in);
	free(wanted);
	free(got);
}

#define LOG_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_folder, tear_down_folder)

#endif
