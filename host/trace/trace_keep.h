/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving and re-arming of the trace during the run. */
#ifndef HOST_TRACE_TRACE_KEEP_H
#define HOST_TRACE_TRACE_KEEP_H

#include "host/trace/trace_save.h"
#include "tracefs.h"

struct trace_keeper {
	/* Set by the caller. */
	struct trace *trace; /* NULL: none */
	const char *folder; /* for saved traces */
	int64_t interval_ns; /* re-arm at most once in this time */

	/* Results; initialize with zeros. */
	struct trace_saved saved; /* the last saved trace; path empty: none */
	int error; /* -errno of saving or re-arming; no trace is saved after it */
	int64_t rearmed_ns; /* CLOCK_MONOTONIC */
};

/* Housekeeping thread. Saves a frozen trace that is not saved yet, and re-arms it. A trace that cannot be saved stays
 * frozen as evidence, and saving it is not tried again. now_ns: CLOCK_MONOTONIC. */
void trace_keep(struct trace_keeper *k, int64_t now_ns);

/* trace_keep() at the current time, as a duty of host/process/worker.h: the context is a struct trace_keeper. */
void trace_keep_now(void *keeper);

/* After the run: saves the trace of the last breach, if `folder` is given and it was not saved already. k->saved is
 * then the last saved trace. 0, or -errno after one line: saving or re-arming failed. */
int trace_keep_last(struct trace_keeper *k);

#endif
