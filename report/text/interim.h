/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interim report during a run, on SIGUSR1, and the interval lines of --summary-every. */
#ifndef REPORT_TEXT_INTERIM_H
#define REPORT_TEXT_INTERIM_H

#include "host/process/worker.h"
#include "report/text/interval.h"
#include "report/text/report.h"

struct histogram;

#define INTERIM_LIVE_NS NS_PER_S /* period of the line on a terminal */

struct interim {
	const struct report *report; /* from interim_begin() on, the copy */
	/* as it was before the run, for the thread: the caller's is written at the end of the run */
	struct report copy;
	struct worker worker; /* a separate thread: a slow reader of stdout delays no other duty */
	void (*begin)(void *context); /* of the caller, in that thread */
	void *context;
	_Atomic int64_t began_ns; /* CLOCK_MONOTONIC: of the run; 0: not yet */
	int64_t next_ns; /* of the line; 0: none was due so far */
	struct result *result; /* of the report; set by the caller, for its account.recent_max_ns */
	bool live; /* a line is redrawn on the terminal of stderr */
	struct interval interval; /* of that line, or of --every */
	int64_t next_interval_ns; /* when it ends; 0: none ended so far */
	void *memory; /* of a copy of the histogram, and for putting it in order; NULL: not needed so far */
};

/* Starts the thread, on another CPU than the measuring one; it calls `begin` first. The report stays the caller's.
 * Without such a CPU there is none, which is told in one line where lines were asked for. Nothing is told with
 * --quiet. */
void interim_start(struct interim *s, const struct report *r, void (*begin)(void *context), void *context);

/* Right before the run. */
void interim_begin(struct interim *s);

/* After the run and before its report. A second call does nothing. */
void interim_stop(struct interim *s);

/* For interim_start()'s thread, and tests: the text, at this time of the run. h: a copy;
 * NULL: it could not be read. columns: width of the terminal, 0 when out is none. */
void interim_write(FILE *out, const struct report *r, const struct histogram *h, double seconds, int columns);
/* of --summary-every */
void interim_write_line(FILE *out, const struct report *r, const struct histogram *h, double seconds);

#endif
