/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Location of tracefs, and the small files of an instance. For trace_*.c and tracefs.c only. */
#ifndef HOST_TRACE_TRACE_FILES_H
#define HOST_TRACE_TRACE_FILES_H

#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#define TRACE_MOUNT_BYTES 176

/* Finds the folder of the top instance, by /proc/mounts. False: not mounted. */
bool trace_find(char mount[static TRACE_MOUNT_BYTES]);

/* Reads the beginning of a file of the instance, without the newline at the end. 0, or -errno with an empty text. */
int trace_read_text(const struct trace *t, const char *name, char *text, size_t bytes);

/* A number at the beginning of a file: "1410", "7 (expanded: 1408)". False: the file has none. */
bool trace_read_number(const struct trace *t, const char *name, uint64_t *number);

/* Opens per_cpu, which has a folder for each CPU; close it by closedir(). NULL and errno. */
DIR *trace_open_per_cpu(const struct trace *t);

/* The number of the next folder cpuN, or -1 at the end. */
int trace_next_cpu(DIR *per_cpu);

/* The bit of a CPU in tracing_cpumask: "ffffffff,00000003". */
bool trace_in_mask(const char *mask, size_t cpu);

/* Size of the buffer of a CPU, the smallest if they differ. False: not known. */
bool trace_read_buffer_kib(const struct trace *t, uint64_t *kib);

/* Number of enabled events in the first 4 KiB of names; a tracer counts as one event. */
unsigned trace_count_events(const struct trace *t);

/* Present value of tracing_on: 1, 0, or -1 if it cannot be read. */
static inline int trace_read_on(const struct trace *t)
{
	char c;

	if (pread(t->on_fd, &c, 1, 0) != 1)
		return -1;
	return c == '0' ? 0 : 1;
}

/* Hot path. Writes one character to a switch. 0 or errno. */
static inline int trace_set(int fd, const char *c)
{
	ssize_t done = pwrite(fd, c, 1, 0);

	return done == 1 ? 0 : done < 0 ? errno : EIO;
}

#endif
