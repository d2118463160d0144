/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of time that the kernel does not see, around a breach: system management interrupts (SMI) and stolen time
 * of the measuring CPU, and disruptions of the virtual machine. The kernel reads the SMI count by an interrupt of that
 * CPU, so it is read before the run and after each freeze only; the others are read periodically.
 */
#ifndef HOST_COUNTERS_ACTIVITY_UNSEEN_H
#define HOST_COUNTERS_ACTIVITY_UNSEEN_H

#include "host/counters/activity.h"

#define UNSEEN_READINGS 16

/* One reading. A counter that cannot be read, or was omitted, is not known. */
struct unseen_reading {
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC_RAW */
	struct optional smi; /* 32 bits */
	struct optional steal_ms; /* since boot */
	struct optional disruptions; /* a marker, not a number */
};

/* Initialize with zeros, and set `activity`. For one thread at a time; another may call activity_read(). */
struct unseen_watch {
	struct activity *activity; /* open */
	int64_t breach_ns; /* entry of the last freeze; 0: none */
	/* Of the last freeze. */
	struct unseen_reading before; /* without the SMI count */
	struct unseen_reading smi_before; /* with it: that of the previous freeze, or before the run */
	struct unseen_reading after;

	/* Internal. */
	struct unseen_reading last; /* with the SMI count */
	struct unseen_reading reading[UNSEEN_READINGS]; /* periodic ones, number i is reading[i % UNSEEN_READINGS] */
	unsigned readings;
};

/* Before the run: the first reading. Allocates; without memory the stolen time is not known. */
void activity_unseen_begin(struct unseen_watch *w);

/* Reads. breach_ns: CLOCK_MONOTONIC_RAW at the entry of the freeze while the trace is frozen, else 0; the SMI count is
 * read once for each freeze. latency_ns: of the breach; `before` is the last reading before it that is kept. */
void activity_unseen_look(struct unseen_watch *w, int64_t breach_ns, int64_t latency_ns);

/* Reason for which the SMI count or the stolen time cannot be read. */
const char *activity_unseen_why(const struct activity *a, bool smi, char *text, size_t bytes);

/* Steps in which the kernel counts stolen time. */
int64_t activity_unseen_step_ms(void);

#endif
