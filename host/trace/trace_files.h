/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Location of tracefs, and the small files of an instance; its events. For trace_*.c and tracefs.c only. */
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

/* ---- trace_events.c ---------------------------------------------------------------------------------------------- */

/* The events that rant switches on in an instance that it has made. */

struct trace_event {
	const char *name; /* SYSTEM/NAME, as the folder below events/ */
	bool packet; /* only in the set TRACE_EVENTS_PACKET */
	bool each; /* an interrupt of the NIC causes it, so the CPU of the interrupts records it for each packet */
};

/* Both sets, the light one first. config/trace.sh and docs/spikes.md have the same names. */
extern const struct trace_event trace_event_table[];
extern const size_t trace_event_rows;

/* Switches on the events of the set; fills t->events, and t->events_missing for those that this kernel does not have.
 * 0, or -errno after one line. */
int trace_events_on(struct trace *t, enum trace_events set);

/* Switches off all events of the instance, if trace_events_on() has switched on any. Safe in a signal handler. */
void trace_events_off(const struct trace *t);

/* Number of enabled events that a packet causes, at a NIC with one interrupt for each packet, in the first 4 KiB of
 * names. An event outside of the table counts; a tracer counts as one event. */
unsigned trace_count_packet_events(const struct trace *t);

/* ---- trace_doubt.c ----------------------------------------------------------------------------------------------- */

/* Conditions that make a trace useless. */

/* Checks that markers can be written: the switch of the instance, and the CPUs of this process. 0, or -EINVAL after one
 * line. Also prints a line if they can be written on some of the CPUs only. */
int trace_doubt_markers(const struct trace *t);

/* Prints a line each for a clock, events and a buffer that cannot show the cause of a breach. Fills t->clock. */
void trace_doubt_content(struct trace *t, double packets_per_s);

#endif
