/* SPDX-License-Identifier: GPL-2.0-or-later */
/* breach.json in the folder of a saved trace: the breach, and the packets before it. docs/spikes.md has its members. */
#ifndef REPORT_EXPORT_BREACH_FILE_H
#define REPORT_EXPORT_BREACH_FILE_H

#include "rant.h"

struct activity_vector;
struct neighbours;
struct report;
struct unseen_watch;

/* Everything that the file needs beside the report. Times of user space and of the kernel in the samples are on the
 * clock of the NIC with `converted`; to_realtime() converts them back. */
struct breach_facts {
	const struct report *report;
	const struct sample *sample; /* the breach */
	const struct neighbours *neighbours; /* held */
	const char *trace_clock;
	struct optional host_cpu; /* on which the marker was written */
	pid_t thread;
	const char *interface;
	bool has_relation;
	int64_t hw_minus_realtime_ns, hw_bound_ns;
	bool converted;
	bool (*to_realtime)(void *context, int64_t *ns); /* false: not known */
	void *context;
	const struct activity_vector *interrupt;
	unsigned interrupts;
	const struct unseen_watch *unseen; /* around this breach; NULL: not read */
};

/* Writes the file. 0, or -errno; then the file is not there. */
int breach_file_write(int folder_fd, const struct breach_facts *f);

#endif
