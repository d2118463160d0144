/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files that the kernel makes, read whole. */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "rant.h"

#include <errno.h>

/* At most bytes - 1 octets, with a 0 behind them, also where there are none. Their number, or -errno. */
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
