/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker thread: each duty that runs at the same time as the measurement is a row here, with its function. This
 * module does not depend on the modules of the duties.
 */
#ifndef HOST_PROCESS_WORKER_H
#define HOST_PROCESS_WORKER_H

#include "rant.h"

#include <sched.h>
#include <semaphore.h>

struct worker_duty {
	int64_t period_ns;
	unsigned early; /* number of first calls, at intervals of 10 ms */
	bool at_end; /* also called by worker_stop(), with or without a thread */
	void (*act)(void *context);
	void *context;
};

#define WORKER_DUTIES_MAX 12

struct worker {
	struct worker_duty duty[WORKER_DUTIES_MAX];
	unsigned duties;
	const char *name; /* of the thread in ps and top: at most 15 octets */
	void (*begin)(void *context); /* first action of the thread; NULL: none */
	void (*end)(void *context); /* last action of the thread; NULL: none */
	void *context;
	/* True while the measuring thread sleeps: duties then run at most once in idle_ns (0: half a second). NULL: never */
	const _Atomic bool *idle;
	int64_t idle_ns;

	/* Internal. */
	bool running;
	bool shares_files; /* it has no separate table of files */
	sem_t begun;
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* CPUs where work does not disturb the measurement: all but the caller's and the isolated CPUs. 0; -ENODEV: none. */
int worker_choose_cpus(cpu_set_t *cpus);

/* Starts a thread on these CPUs at SCHED_OTHER, with all signals blocked, because the measuring thread handles them.
 * stack_bytes: 0 for the default. 0 or -errno; -EINVAL: the cpuset has none of these CPUs. */
int worker_start_thread(unsigned long *thread, const cpu_set_t *cpus, size_t stack_bytes, void *(*act)(void *),
			void *argument);

/* Adds a duty, before worker_start(). Duties that are due at the same time run in the order in which they were
 * added. */
void worker_add(struct worker *w, struct worker_duty duty);

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if there are duties. From
 * here on it has a separate table of files: opening or closing a file does not affect the other threads. 0, or -errno:
 * -ENODEV if only the caller's CPU is available. */
int worker_start(struct worker *w);

/* Ends the thread, if it runs, and calls the duties with at_end. A second call calls these duties again. */
void worker_stop(struct worker *w);

#endif
