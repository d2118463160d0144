/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The housekeeping thread: what has to be done during a run and not by the measuring thread is a row here, handed over as a
 * function. This room knows none of what the duties are about.
 */
#ifndef HOST_WATCH_H
#define HOST_WATCH_H

#include "rant.h"

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

	/* Its own. */
	bool running;
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* One duty more, before watch_start(). Duties that are due at the same time are done in the order in which they were added. */
void watch_add(struct watch *w, struct watch_duty duty);

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if there are duties. 0, or -errno:
 * -ENODEV when there is no other CPU that it may use. */
int watch_start(struct watch *w);

/* Ends the thread, if there is one, and does what is to be done at the end. A second call does that once more. */
void watch_stop(struct watch *w);

#endif
