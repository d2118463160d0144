// SPDX-License-Identifier: GPL-2.0-or-later
/* File of the log, with little effect on the machine: disk space is preallocated, and written data are
 * dropped from the page cache. */
#include "report/log/log_file.h"

#include "report/log/log_mend.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOG_OPTION "log"
#define MODE_MOST 0644 /* minus the umask and the permissions that the replaced log does not have */
#define AHEAD_BYTES (16 << 20)
#define COLD_BYTES (8 << 20)
#define NUMBERED_MAX (PATH_MAX + 24) /* a path with a number appended; the kernel refuses longer paths */

/* ---- Names ------------------------------------------------------------------------------------------------------- */

bool log_file_is_stdout(const char *path)
{
	return !strcmp(path, LOG_FILE_STDOUT) || !strcmp(path, "/dev/stdout");
}

static void numbered(char name[NUMBERED_MAX], const char *path, uint64_t number)
{
	snprintf(name, NUMBERED_MAX, "%s.%llu", path, (unsigned long long)number);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int say_refused(const struct log_file *f, int error)
{
	const char *option = f->option, *path = f->path;

	if (error == -EISDIR || error == -ELOOP)
		warnx("--%s %s: is a %s: give the path of a file", option, path,
		      error == -EISDIR ? "directory" : "symbolic link");
	else if (error == -EBUSY)
		warnx("--%s %s: another rant is writing %s" LOG_FILE_PARTIAL ": choose another place", option, path,
		      path);
	else
		warnx("--%s %s: cannot write there (%s): choose another place", option, path, strerror(-error));
	return error;
}

/* Opens the path: the checked file is the written file, whatever replaces the path meanwhile. A device or
 * pipe stays open and must not be replaced by a file. For a file only the mode is used. 0 or -errno. */
static int look_at(struct log_file *f)
{
	struct stat s;

	/* Non-blocking: a pipe may have no reader. */
	f->fd = open(f->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(f->fd, &s) || (!S_ISREG(s.st_mode) && fcntl(f->fd, F_SETFL, O_WRONLY)))
		return -errno;
	if (S_ISREG(s.st_mode)) {
		f->mode &= s.st_mode;
		close(f->fd);
		f->fd = -1;
	}
	return 0;
}

/* Like rename(2), but fails with EEXIST. Not every file system supports that atomically. */
static int rename_new(const char *from, const char *to)
{
	int result = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);

	if (!result || errno != EINVAL)
		return result;
	if (access(to, F_OK))
		return rename(from, to);
	errno = EEXIST;
	return -1;
}

static bool is_at(const char *path, int fd)
{
	struct stat local, held;

	return !lstat(path, &local) && !fstat(fd, &held) && local.st_dev == held.st_dev && local.st_ino == held.st_ino;
}

/* Opens and locks an earlier run's file, so that no other run moves it; -1: not readable, or a symbolic
 * link; -EBUSY: that run still writes, or another run has just moved it. */
static int hold(const char *path)
{
	const int how = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open(path, O_RDWR | how);

	if (fd < 0)
		fd = open(path, O_RDONLY | how);
	if (fd < 0)
		return -1;
	if (!(flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) && is_at(path, fd))
		return fd;
	close(fd);
	return -EBUSY;
}

static int give_number(const struct log_file *f, const char *mended)
{
	char aside[NUMBERED_MAX];

	for (uint64_t n = 1;; n++) {
		numbered(aside, f->partial, n);
		if (!rename_new(f->partial, aside))
			break;
		if (errno != EEXIST)
			return -errno;
	}
	warnx("--%s %s: an earlier run did not end and has left %s, which is now %s%s%s", f->option, f->path,
	      f->partial, aside,
	      *mended ? ": " : "", mended);
	return 0;
}

/* Cuts an earlier run's file to whole lines or records, then renames it with a number: if this run is
 * killed in between, the next run does it. 0, or -errno; -EBUSY: that run still writes. */
static int move_aside(const struct log_file *f)
{
	char mended[LOG_MEND_BYTES] = "";
	struct stat s;
	int fd, error;

	if (lstat(f->partial, &s))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(s.st_mode) && !S_ISLNK(s.st_mode))
		return -EEXIST;
	fd = hold(f->partial);
	if (fd == -EBUSY)
		return fd;
	if (fd >= 0)
		log_mend(fd, mended);
	error = give_number(f, mended);
	if (fd >= 0)
		close(fd);
	return error;
}

/* Creates the partial file next to the path. 0 or -errno. */
static int make_partial(struct log_file *f)
{
	int error = move_aside(f);

	if (error)
		return error;
	f->whole_bytes = 0; /* first, since log_file_cut_off() must not extend the new file to the old length */
	f->fd = open(f->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, f->mode);
	if (f->fd < 0)
		return -errno;
	flock(f->fd, LOCK_EX | LOCK_NB); /* shows other runs that this run still writes */
	f->allocated_bytes = f->cold_bytes = 0;
	return 0;
}

/* The number after the name of a file of the log, or 0. */
static uint64_t number_of(const char *file, const char *name)
{
	const size_t length = strlen(name);
	const char *number = file + length + 1;
	size_t digits;

	if (strncmp(file, name, length) || file[length] != '.')
		return 0;
	digits = strspn(number, "0123456789");
	return number[digits] || digits > 18 ? 0 : strtoull(number, NULL, 10);
}

/* After all existing numbers, so that no file of an earlier run is replaced: its first files may be gone. 0
 * or -errno. */
static int number_first(struct log_file *f)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	char folder[PATH_MAX] = ".";
	DIR *d;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(name - f->path), f->path);
	d = opendir(folder);
	if (!d)
		return -errno;
	f->next = 1;
	for (struct dirent *e; (e = readdir(d));)
		if (number_of(e->d_name, name) >= f->next)
			f->next = number_of(e->d_name, name) + 1;
	closedir(d);
	f->first = f->next;
	return 0;
}

static int open_file(struct log_file *f)
{
	int error;

	if (snprintf(f->partial, sizeof(f->partial), "%s" LOG_FILE_PARTIAL, f->path) >= (int)sizeof(f->partial))
		error = -ENAMETOOLONG;
	else
		error = f->rotate_bytes ? number_first(f) : 0;
	if (!error)
		error = make_partial(f);
	if (error)
		*f->partial = 0;
	return error;
}

static int open_of(struct log_file *f, const char *option, const char *path, int64_t rotate_bytes, int64_t keep)
{
	int error = 0;

	*f = (struct log_file){ .option = option, .path = path, .fd = -1, .mode = MODE_MOST,
				.rotate_bytes = rotate_bytes, .keep = keep };
	if (log_file_is_stdout(path)) {
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		error = f->fd < 0 ? -errno : 0;
	} else {
		error = look_at(f);
	}
	if (!error && f->fd >= 0 && rotate_bytes) {
		warnx("--log-rotate: --log %s is not a regular file: give the path of a file, or leave --log-rotate out", path);
		log_file_abandon(f);
		return -EINVAL;
	}
	if (!error && f->fd < 0)
		error = open_file(f);
	if (!error)
		return 0;
	log_file_abandon(f);
	return say_refused(f, error);
}

int log_file_open(struct log_file *f, const char *path, int64_t rotate_bytes, int64_t keep)
{
	return open_of(f, LOG_OPTION, path, rotate_bytes, keep);
}

int log_file_open_of(struct log_file *f, const char *option, const char *path)
{
	return open_of(f, option, path, 0, 0);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int fail(struct log_file *f, int error)
{
	const char *rest = strcmp(f->option, LOG_OPTION) ? "the rest of it" : "the rest of the log";

	f->error = error;
	if (error == -EPIPE)
		warnx("--%s %s: its reader has gone away: %s is left out", f->option, f->path, rest);
	else if (*f->partial && f->whole_bytes)
		warnx("--%s %s: could not be written (%s): %s is left out, and the written part stays as %s: "
		      "free space or choose another place", f->option, f->path, strerror(-error), rest, f->partial);
	else
		warnx("--%s %s: could not be written (%s): %s is left out: choose another place", f->option, f->path,
		      strerror(-error), rest);
	return error;
}

/* On such file systems the kernel would write zeros first, so each octet of the log would be written twice. */
static bool is_in_memory(const struct log_file *f)
{
	struct statfs s;

	return !fstatfs(f->fd, &s) && s.f_type == TMPFS_MAGIC;
}

/* Unused preallocation is released at the end, but not after a crash. */
static void allocate_ahead(struct log_file *f, int64_t bytes)
{
	const int64_t ahead_bytes = f->rotate_bytes && f->rotate_bytes < AHEAD_BYTES ? f->rotate_bytes : AHEAD_BYTES;

	if (!*f->partial || f->whole_bytes + bytes + ahead_bytes / 16 <= f->allocated_bytes)
		return;
	if (!f->allocated_bytes && is_in_memory(f)) {
		f->allocated_bytes = INT64_MAX;
		return;
	}
	/* Without support for it, writing is a little slower. */
	fallocate(f->fd, FALLOC_FL_KEEP_SIZE, f->allocated_bytes, ahead_bytes);
	f->allocated_bytes += ahead_bytes;
}

/* Starts write-back of the last data and drops data already on disk from the page cache: few pages are
 * dirty. */
static void cool_down(struct log_file *f)
{
	if (!*f->partial || f->whole_bytes - f->cold_bytes < 2 * COLD_BYTES)
		return;
	sync_file_range(f->fd, f->cold_bytes + COLD_BYTES, COLD_BYTES, SYNC_FILE_RANGE_WRITE);
	sync_file_range(f->fd, f->cold_bytes, COLD_BYTES,
			SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
	posix_fadvise(f->fd, f->cold_bytes, COLD_BYTES, POSIX_FADV_DONTNEED);
	f->cold_bytes += COLD_BYTES;
}

/* Another process made stdout or the pipe non-blocking. */
static bool is_to_wait(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return errno == EINTR || (errno == EAGAIN && poll(&p, 1, -1) >= 0);
}

int log_file_write(struct log_file *f, const char *from, size_t bytes)
{
	const char *to = from + bytes;

	allocate_ahead(f, (int64_t)bytes);
	while (!f->error && !f->cut_off && from < to) {
		ssize_t done = write(f->fd, from, (size_t)(to - from));

		if (done < 0 && !is_to_wait(f->fd)) {
			fail(f, -errno);
			/* Removes the partly written record. */
			if (*f->partial && ftruncate(f->fd, f->whole_bytes))
				f->cut_off = true;
		}
		from += done > 0 ? done : 0;
	}
	if (f->error || f->cut_off)
		return f->error ? f->error : -ECANCELED;
	f->whole_bytes += (int64_t)bytes;
	cool_down(f);
	return 0;
}

int log_file_put(void *file, const char *from, size_t bytes)
{
	return log_file_write(file, from, bytes);
}

int log_file_write_begin(struct log_file *f, const char *from, size_t bytes)
{
	if (f->error || f->cut_off)
		return f->error;
	ssize_t done = pwrite(f->fd, from, bytes, 0);

	return done == (ssize_t)bytes ? 0 : fail(f, done < 0 ? -errno : -EIO);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* 0 or -errno. Some file systems report a full disk at close. */
static int close_as(struct log_file *f, const char *name)
{
	int error = 0;

	if (*f->partial && ftruncate(f->fd, f->whole_bytes))
		error = -errno;
	if (close(f->fd) && !error)
		error = -errno;
	f->fd = -1;
	if (!error && *f->partial && rename(f->partial, name))
		error = -errno;
	return error;
}

int log_file_rotate(struct log_file *f)
{
	char name[NUMBERED_MAX];
	int error;

	if (f->error)
		return f->error;
	numbered(name, f->path, f->next);
	error = close_as(f, name);
	if (error)
		return fail(f, error);
	f->next++;
	if (f->next - f->first >= (uint64_t)f->keep) {
		numbered(name, f->path, f->first++);
		unlink(name);
	}
	error = make_partial(f);
	if (!error)
		return 0;
	*f->partial = 0; /* the partial file belongs to another run */
	return fail(f, error);
}

int log_file_finish(struct log_file *f)
{
	char name[NUMBERED_MAX];
	int error;

	snprintf(name, sizeof(name), "%s", f->path);
	if (f->rotate_bytes)
		numbered(name, f->path, f->next);
	error = f->error ? f->error : close_as(f, name);
	if (!error) {
		*f->partial = 0;
		return 0;
	}
	if (!f->error)
		fail(f, error);
	log_file_abandon(f);
	return error;
}

/* By name, because the writer thread has separate file descriptors; from now on it does not write. */
void log_file_cut_off(struct log_file *f)
{
	f->cut_off = true;
	if (!*f->partial)
		return;
	if (!f->whole_bytes)
		unlink(f->partial);
	else if (truncate(f->partial, f->whole_bytes))
		return; /* it contains more than whole records */
}

void log_file_abandon(struct log_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	if (*f->partial && !f->whole_bytes)
		unlink(f->partial);
	*f->partial = 0;
}

void log_file_discard(struct log_file *f)
{
	f->whole_bytes = 0;
	log_file_abandon(f);
}
