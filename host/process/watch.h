/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The housekeeping thread: what has to be done during a run and not by the measuring thread is a row here, handed over
 * as a function. This room knows none of what the duties are about.
 */
#ifndef HOST_PROCESS_WATCH_H
#define HOST_PROCESS_WATCH_H

#include "rant.h"

#include <sched.h>
#include <semaphore.h>

struct watch_duty {
	int64_t period_ns;
	unsigned early; /* the first calls, which come 10 ms apart */
	bool at_end; /* once more by the caller of watch_stop(), with or without a thread */
	void (*act)(void *context);
	void *context;
};

#define WATCH_DUTIES_MAX 8

struct watch {
	struct watch_duty duty[WATCH_DUTIES_MAX];
	unsigned duties;
	const char *name; /* of the thread, as ps and top show it: 15 octets at most */
	void (*begin)(void *context); /* NULL: nothing; the first thing that the thread does */
	void (*end)(void *context); /* NULL: nothing; the last one */
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

/* Where nothing disturbs: all CPUs but the caller's and the isolated ones. 0, or -ENODEV when there is none. */
int watch_choose_cpus(cpu_set_t *cpus);

/* Starts a thread on these CPUs at SCHED_OTHER, with all signals blocked: they are the measuring thread's. stack_bytes:
 * 0 for what is usual. 0 or -errno; -EINVAL: the cpuset has none of these CPUs. */
int watch_start_thread(unsigned long *thread, const cpu_set_t *cpus, size_t stack_bytes, void *(*act)(void *),
		       void *argument);

/* One duty more, before watch_start(). Duties that are due at the same time are done in the order in which they were
 * added. */
void watch_add(struct watch *w, struct watch_duty duty);

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if there are duties. It has its own
 * table of files from here on: what either opens or closes is not so for the other. 0, or -errno: -ENODEV when there is
 * no other CPU that it may use. */
int watch_start(struct watch *w);

/* Ends the thread, if there is one, and does what is to be done at the end. A second call does that once more. */
void watch_stop(struct watch *w);

#endif
