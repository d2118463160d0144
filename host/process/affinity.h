/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU affinity and scheduling policy of the measuring thread, as taskset and chrt set them. */
#ifndef HOST_PROCESS_AFFINITY_H
#define HOST_PROCESS_AFFINITY_H

#include "rant.h"

struct options;

struct affinity {
	int error; /* 0; or -errno: the rest is not known */
	int cpus; /* that it may run on; */
	int cpu; /* a CPU of the affinity mask; the only CPU if `cpus` is 1 */
	int policy, priority; /* sched_getscheduler(2); 0 but for SCHED_FIFO and SCHED_RR */
};

#define AFFINITY_TEXT_BYTES 64

/* Takes the caller's thread to the CPU and the priority of --cpu and --fifo, where these were given, whatever taskset
 * and chrt have said. First of all: the measuring thread (loop.h) inherits both, and other threads are where worker.h
 * puts them, on other CPUs. *p: where it is then. 0, or -errno after one line, with the thread left where it was as
 * far as that was refused. Sources: sched_setaffinity(2), sched_setscheduler(2). */
int affinity_read(struct affinity *p, const struct options *o);

/* "SCHED_FIFO"; "another policy" where it is none that has a name here. */
const char *affinity_policy(const struct affinity *p);

/* "CPU 3, SCHED_FIFO 22"; "any of 8 CPUs, SCHED_OTHER". */
const char *affinity_text(const struct affinity *p, char text[AFFINITY_TEXT_BYTES]);

#endif
