/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where tracefs is, and the small files of an instance. For the files of the trace alone. */
#ifndef HOST_TRACE_TRACE_FILES_H
#define HOST_TRACE_TRACE_FILES_H

#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#define TRACE_MOUNT_BYTES 176

/* Finds the folder of the top instance, by /proc/mounts. False: there is none here. */
bool trace_find(char mount[static TRACE_MOUNT_BYTES]);

/* Reads the beginning of a file of the instance, without the newline at the end. 0, or -errno with an empty text. */
int trace_read_text(const struct trace *t, const char *name, char *text, size_t bytes);

/* A number at the beginning of a file: "1410", "7 (expanded: 1408)". False: there is none. */
bool trace_read_number(const struct trace *t, const char *name, uint64_t *number);

/* The folder with a folder for each CPU, for closedir(); NULL and errno. */
DIR *trace_open_per_cpu(const struct trace *t);

/* The number of its next folder cpuN, or -1. */
int trace_next_cpu(DIR *per_cpu);

/* The size of a CPU's buffer, the smallest where they differ. False: not known. */
bool trace_read_buffer_kib(const struct trace *t, uint64_t *kib);

/* How many events are enabled; another tracer than none counts as one. Those in the first 4 KiB of names. */
unsigned trace_count_events(const struct trace *t);

/* tracing_on as it is: 1, 0, or -1 if it cannot be read. */
static inline int trace_read_on(const struct trace *t)
{
	char c;

	if (pread(t->on_fd, &c, 1, 0) != 1)
		return -1;
	return c == '0' ? 0 : 1;
}

/* Hot. One character to a switch. 0 or errno. */
static inline int trace_set(int fd, const char *c)
{
	ssize_t done = pwrite(fd, c, 1, 0);

	return done == 1 ? 0 : done < 0 ? errno : EIO;
}

#endif
