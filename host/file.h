/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads small files of /proc, /sys and /etc as a whole. */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "rant.h"

#include <errno.h>

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

#endif
