/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU affinity and scheduling policy of the measuring thread. */
#ifndef RESULT_AFFINITY_H
#define RESULT_AFFINITY_H

#include "rant.h"

/* All zeros: not read. */
struct result_affinity {
	char text[64]; /* "CPU 3, SCHED_FIFO 22"; "not known": the kernel refused; empty: not read */
	bool known; /* the members below are known */
	int cpus; /* number of CPUs in the affinity mask */
	int priority; /* 0 except with SCHED_FIFO and SCHED_RR */
	char policy[24]; /* "SCHED_FIFO" */
};

#endif
