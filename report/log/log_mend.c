// SPDX-License-Identifier: GPL-2.0-or-later
/* Repair of a truncated log. It may be of an older version with other options, so its format is detected
 * from its contents. */
#include "report/log/log_mend.h"

#include "report/log/log_form.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZEROS_MAX ((int64_t)256 << 20) /* far more than the data written in the 5 s commit interval of ext4 */
#define LINE_MAX_BYTES LOG_BEGIN_BYTES /* longest line of a log */
#define NPY_PREFIX_BYTES 10 /* magic, version, and the length of the header that follows */
/* Octets at the end of a record that are never all zero: they contain a time or NPY_MISSING. */
#define NPY_WRITTEN_BYTES 32

struct left {
	int fd;
	int64_t bytes, whole_bytes;
	bool is_array;
	uint64_t records, reported; /* of an array: whole records, and the number in the header */
	size_t begun; /* octets of the header */
	char begin[NPY_BEGIN_BYTES + 1]; /* as a string */
};

/* ---- Finding whole lines and records ----------------------------------------------------------------------------- */

static bool is_zero(const char *block, size_t n)
{
	return !*block && !memcmp(block, block + 1, n - 1);
}

/* Offset after the last non-zero octet; -1: unknown. */
static int64_t before_zeros(const struct left *l)
{
	char block[64 << 10];
	int64_t end = l->bytes;

	while (end > 0 && l->bytes - end <= ZEROS_MAX) {
		const size_t n = end < (int64_t)sizeof(block) ? (size_t)end : sizeof(block);

		if (pread(l->fd, block, n, end - (int64_t)n) != (ssize_t)n)
			return -1;
		for (size_t i = is_zero(block, n) ? 0 : n; i; i--)
			if (block[i - 1])
				return end - (int64_t)(n - i);
		end -= (int64_t)n;
	}
	return end > 0 ? -1 : 0;
}

static bool find_whole_lines(struct left *l)
{
	const int64_t end = before_zeros(l);
	const size_t n = end < LINE_MAX_BYTES ? (size_t)end : LINE_MAX_BYTES;
	char last[LINE_MAX_BYTES];
	size_t i = n;

	if (end < 0 || pread(l->fd, last, n, end - (int64_t)n) != (ssize_t)n)
		return false;
	while (i && last[i - 1] != '\n')
		i--;
	l->whole_bytes = end - (int64_t)(n - i);
	return i || end == (int64_t)n; /* a longer line does not belong to a log */
}

/* Sum of the field sizes in a header of log_npy_begin(); 0: another header. */
static int64_t record_bytes(const struct left *l)
{
	static const char first[] = "{'descr': [('SEQ', '";
	const size_t length = NPY_BEGIN_BYTES - NPY_PREFIX_BYTES;
	const char *at = l->begin + NPY_PREFIX_BYTES;
	int64_t sum = 0;

	if ((uint8_t)l->begin[8] != (length & 0xff) || (uint8_t)l->begin[9] != length >> 8 ||
	    strncmp(at, first, strlen(first)))
		return 0;
	while ((at = strstr(at, "', '"))) {
		at += strcspn(at, "0123456789)");
		sum += strtol(at, NULL, 10);
	}
	return sum > NPY_WRITTEN_BYTES ? sum : 0;
}

static const char shape[] = "'shape': (";

static bool find_whole_records(struct left *l)
{
	const int64_t size = record_bytes(l), end = before_zeros(l), begun = NPY_BEGIN_BYTES;
	const char *reported = strstr(l->begin + NPY_PREFIX_BYTES, shape);
	int64_t whole, all;

	if (l->bytes < begun)
		return true; /* not even a header */
	if (!size || !reported || end < begun)
		return false;
	whole = (end - begun + NPY_WRITTEN_BYTES - 1) / size;
	all = (l->bytes - begun) / size;
	l->reported = strtoull(reported + strlen(shape), NULL, 10);
	l->records = (uint64_t)(whole < all ? whole : all);
	l->whole_bytes = begun + (int64_t)l->records * size;
	return true;
}

/* Reads the begin of the file, which may be truncated too. */
static bool begins(const struct left *l, const char *with)
{
	const size_t length = strlen(with);

	return !memcmp(l->begin, with, l->begun < length ? l->begun : length);
}

/* False: not known to be a log. */
static bool find_whole(struct left *l)
{
	const ssize_t n = pread(l->fd, l->begin, NPY_BEGIN_BYTES, 0);

	l->begun = n > 0 ? (size_t)n : 0;
	l->is_array = l->begun && begins(l, "\x93NUMPY\x01");
	if (l->is_array)
		return find_whole_records(l);
	if (!*l->begin)
		return !n || (n > 0 && !before_zeros(l)); /* no data reached the disk */
	return (begins(l, "       SEQ") || begins(l, "SEQ,")) && find_whole_lines(l);
}

/* ---- Repair ------------------------------------------------------------------------------------------------------ */

/* The header has the same length for any number: it is padded with blanks. */
static bool write_records(struct left *l)
{
	char *at = strstr(l->begin + NPY_PREFIX_BYTES, shape) + strlen(shape);
	const size_t space = (size_t)(l->begin + NPY_BEGIN_BYTES - at);
	const int n = snprintf(at, space, "%" PRIu64 ",), }", l->records);

	if (n >= (int)space)
		return false;
	memset(at + n, ' ', space - (size_t)n);
	l->begin[NPY_BEGIN_BYTES - 1] = '\n';
	return pwrite(l->fd, l->begin, NPY_BEGIN_BYTES, 0) == NPY_BEGIN_BYTES;
}

/* Also files of root, from a rotation with --user. A file with several links may belong to another user. */
static bool is_ours(const struct stat *s)
{
	const uid_t own = geteuid();

	return s->st_nlink == 1 && (!own || s->st_uid == own);
}

static bool change(struct left *l, const struct stat *s)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, s->st_mtim };
	bool done = is_ours(s) && !ftruncate(l->fd, l->whole_bytes);

	if (done && l->records != l->reported)
		done = write_records(l);
	if (done)
		futimens(l->fd, times);
	return done;
}

static void print(const struct left *l, bool done, char words[LOG_MEND_BYTES])
{
	const int64_t behind = l->bytes - l->whole_bytes;
	int n = 0;

	*words = 0;
	if (behind)
		n = snprintf(words, LOG_MEND_BYTES,
			     done ? "%" PRId64 " octets after its last whole %s were removed" :
				    "it could not be changed: leave out the %" PRId64 " octets after its last "
				    "whole %s",
			     behind, l->is_array ? "record" : "line");
	if (l->records != l->reported)
		snprintf(words + n, LOG_MEND_BYTES - (size_t)n, "%sits header %s %" PRIu64 " records",
			 n ? ", and " : "",
			 done ? "now counts" : "should count", l->records);
}

void log_mend(int fd, char words[LOG_MEND_BYTES])
{
	struct left l = { .fd = fd };
	struct stat s;

	*words = 0;
	if (fstat(fd, &s) || !S_ISREG(s.st_mode))
		return;
	l.bytes = s.st_size;
	if (find_whole(&l))
		print(&l, change(&l, &s), words);
}
