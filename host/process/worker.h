/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker thread: each duty that runs beside the measuring thread is a row here, with its function. This module does
 * not depend on the modules of the duties.
 */
#ifndef HOST_PROCESS_WORKER_H
#define HOST_PROCESS_WORKER_H

#include "rant.h"

#include <sched.h>
#include <semaphore.h>

struct worker_duty {
	int64_t period_ns;
	unsigned early; /* the first calls, which come 10 ms apart */
	bool at_end; /* once more by the caller of worker_stop(), with or without a thread */
	void (*act)(void *context);
	void *context;
};

#define WORKER_DUTIES_MAX 8

struct worker {
	struct worker_duty duty[WORKER_DUTIES_MAX];
	unsigned duties;
	const char *name; /* of the thread, as ps and top show it: 15 octets at most */
	void (*begin)(void *context); /* first action of the thread; NULL: none */
	void (*end)(void *context); /* last action of the thread; NULL: none */
	void *context;
	/* NULL: never; the measuring thread sleeps: all duties are done twice a second at most */
	const _Atomic bool *idle;

	/* Its own. */
	bool running;
	bool shares_files; /* it could not get a table of files of its own */
	sem_t begun;
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* CPUs where work does not disturb the measurement: all but the caller's and the isolated CPUs. 0; -ENODEV: none. */
int worker_choose_cpus(cpu_set_t *cpus);

/* Starts a thread on these CPUs at SCHED_OTHER, with all signals blocked: they are the measuring thread's. stack_bytes:
 * 0 for what is usual. 0 or -errno; -EINVAL: the cpuset has none of these CPUs. */
int worker_start_thread(unsigned long *thread, const cpu_set_t *cpus, size_t stack_bytes, void *(*act)(void *),
			void *argument);

/* One duty more, before worker_start(). Duties that are due at the same time are done in the order in which they were
 * added. */
void worker_add(struct worker *w, struct worker_duty duty);

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if there are duties. It has its own
 * table of files from here on: what either opens or closes is not so for the other. 0, or -errno: -ENODEV when there is
 * no other CPU that it may use. */
int worker_start(struct worker *w);

/* Ends the thread, if there is one, and does what is to be done at the end. A second call does that once more. */
void worker_stop(struct worker *w);

#endif
