/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The housekeeping thread. */
#ifndef HOST_WATCH_H
#define HOST_WATCH_H

#include "rant.h"
#include "tracefs.h"
#include "host/clock.h"
#include "host/trace_save.h"
#include "measure/exchange.h"

struct watch {
	/* Set by the caller. */
	struct exchange *exchange;
	bool progress; /* a line on stderr every second */
	/* A breach, in order; those that exchange_breach() has lost are counted in `missed`. May be NULL. */
	void (*on_breach)(void *context, const struct sample *s, uint64_t number);
	void *context;
	struct trace *trace; /* to save when it is frozen and switch on again, at most once in rearm_interval_ns; NULL: none */
	const char *save_path;
	int64_t rearm_interval_ns;
	struct clock_watch *clocks; /* to measure ten times a second; NULL: none */

	/* Results. */
	uint64_t missed;
	struct trace_saved saved; /* the last one; path empty: none */
	int save_error; /* after it nothing is saved any more */

	/* Its own. */
	bool running;
	uint64_t breaches_seen;
	int64_t rearmed_ns; /* CLOCK_MONOTONIC */
	int stop_fd;
	unsigned long thread; /* pthread_t */
};

/* Starts the housekeeping thread on another CPU than the caller's, at SCHED_OTHER, if it has anything to do. 0, or -errno:
 * -ENODEV when there is no other CPU that it may use. */
int watch_start(struct watch *w);

/* Ends the thread. What it has not got round to is done by the caller: after the run. */
void watch_stop(struct watch *w);

#endif
