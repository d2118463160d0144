/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small files of /proc, /sys and /etc as a whole, and writes all of a text. */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "rant.h"

#include <errno.h>
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
