/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small files of /proc, /sys and /etc as a whole, checks files of others, and writes all of a text. */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "rant.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads at most bytes - 1 octets and terminates them by a 0, also after an error. Their number, or -errno. */
static inline int file_read(const char *path, char *text, size_t bytes)
{
	FILE *f = fopen(path, "re");
	size_t got;

	*text = '\0';
	if (!f)
		return -errno;
	got = fread(text, 1, bytes - 1, f);
	fclose(f);
	text[got] = '\0';
	return (int)got;
}

/* Size of an open file. -EINVAL: not a regular file; -EFBIG: larger than max_bytes; else -errno. */
static inline int64_t file_regular_bytes(int fd, int64_t max_bytes)
{
	struct stat s;

	if (fstat(fd, &s))
		return -errno;
	if (!S_ISREG(s.st_mode))
		return -EINVAL;
	return s.st_size > max_bytes ? -EFBIG : s.st_size;
}

/* Writes all octets, in as many calls as it takes. 0 or -errno. */
static inline int file_write_all(int fd, const char *from, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, from, bytes);

		if (done < 0 && errno != EINTR)
			return -errno;
		from += done > 0 ? done : 0;
		bytes -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

#endif
