/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On which CPU the measuring thread runs, and before which other tasks: what taskset and chrt do. */
#ifndef HOST_PROCESS_PLACE_H
#define HOST_PROCESS_PLACE_H

#include "rant.h"

struct options;

struct place {
	int error; /* 0; or -errno: the rest is not known */
	int cpus; /* that it may run on; */
	int cpu; /* one of them, the only one if cpus is 1 */
	int policy, priority; /* sched_getscheduler(2); 0 but for SCHED_FIFO and SCHED_RR */
};

#define PLACE_TEXT_BYTES 64

/* Takes the caller's thread to the CPU and the priority of --cpu and --fifo, where these were given, whatever taskset
 * and chrt have said. First of all: the measuring thread (loop.h) inherits both, and other threads are where watch.h
 * puts them, on other CPUs. *p: where it is then. 0, or -errno after one line, with the thread left where it was as
 * far as that was refused. Sources: sched_setaffinity(2), sched_setscheduler(2). */
int place_take(struct place *p, const struct options *o);

/* "SCHED_FIFO"; "another policy" where it is none that has a name here. */
const char *place_policy(const struct place *p);

/* "CPU 3, SCHED_FIFO 22"; "any of 8 CPUs, SCHED_OTHER". */
const char *place_text(const struct place *p, char text[PLACE_TEXT_BYTES]);

#endif
