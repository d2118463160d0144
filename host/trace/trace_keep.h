/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saving and re-arming while the run goes on. */
#ifndef HOST_TRACE_TRACE_KEEP_H
#define HOST_TRACE_TRACE_KEEP_H

#include "host/trace/trace_save.h"
#include "tracefs.h"

struct trace_keeper {
	/* Set by the caller. */
	struct trace *trace; /* NULL: none */
	const char *folder; /* to save it in */
	int64_t interval_ns; /* re-arm at most once in this */

	/* Results; at first zeros. */
	struct trace_saved saved; /* the last saved trace; path empty: none */
	int error; /* -errno of saving or re-arming; after it nothing is saved any more */
	int64_t rearmed_ns; /* CLOCK_MONOTONIC */
};

/* Housekeeping thread. Saves the trace when it is frozen and not saved yet, and re-arms it. One that cannot be saved
 * stays frozen, for it is the evidence, and is not tried again. now_ns: of CLOCK_MONOTONIC. */
void trace_keep(struct trace_keeper *k, int64_t now_ns);

/* The same now, as a duty of host/process/worker.h: the context is a struct trace_keeper. */
void trace_keep_now(void *keeper);

/* After the run: saves the trace of the last breach, if `folder` is given and it was not saved already. k->saved is
 * then what was saved last. 0, or -errno: something could not be saved or switched on again, which was said. */
int trace_keep_last(struct trace_keeper *k);

#endif
