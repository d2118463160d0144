/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU affinity and scheduling policy of the measuring thread, as taskset and chrt set them. */
#ifndef HOST_PROCESS_AFFINITY_H
#define HOST_PROCESS_AFFINITY_H

#include "rant.h"

struct options;

struct affinity {
	int error; /* 0; or -errno: the other members are not known */
	int cpus; /* number of CPUs in the affinity mask */
	int cpu; /* a CPU of the affinity mask; the only CPU if `cpus` is 1 */
	int policy, priority; /* sched_getscheduler(2); priority is 0 except with SCHED_FIFO and SCHED_RR */
};

#define AFFINITY_TEXT_BYTES 64

/* Moves the calling thread to the CPU of --cpu and the priority of --fifo, if given; these override taskset and chrt.
 * Call it first: the measuring thread (loop.h) inherits both, and worker.h starts other threads on other CPUs. *p: the
 * affinity and policy read back. 0, or -errno after one line; a refused setting stays unchanged. Sources:
 * sched_setaffinity(2), sched_setscheduler(2). */
int affinity_read(struct affinity *p, const struct options *o);

/* "SCHED_FIFO"; "another policy" for a policy without a name here. */
const char *affinity_policy(const struct affinity *p);

/* "CPU 3, SCHED_FIFO 22"; "any of 8 CPUs, SCHED_OTHER". */
const char *affinity_text(const struct affinity *p, char text[AFFINITY_TEXT_BYTES]);

#endif
