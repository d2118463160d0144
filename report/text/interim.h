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
	/* the report before the run, for the thread: the caller changes its own at the end of the run */
	struct report copy;
	struct worker worker; /* a separate thread: a slow reader of stdout delays no other duty */
	void (*begin)(void *context); /* callback of the caller, in that thread */
	void *context;
	_Atomic int64_t began_ns; /* start of the run, CLOCK_MONOTONIC; 0: not yet */
	int64_t next_ns; /* time of the next line; 0: none was due so far */
	struct result *result; /* result of the report; set by the caller, for its account.recent_max_ns */
	bool live; /* a line is redrawn on the terminal of stderr */
	struct interval interval; /* for that line, or for --every */
	int64_t next_interval_ns; /* end of the interval; 0: none ended so far */
	void *memory; /* for a copy of the histogram, and for sorting it; NULL: not needed so far */
};

/* Starts the thread, on a CPU other than the measuring CPU; it calls `begin` first. The report stays the caller's.
 * Without such a CPU no thread is started, and one line reports that if an option requires lines. Prints nothing with
 * --quiet. */
void interim_start(struct interim *s, const struct report *r, void (*begin)(void *context), void *context);

/* Right before the run. */
void interim_begin(struct interim *s);

/* After the run and before its report. A second call does nothing. */
void interim_stop(struct interim *s);

/* For interim_start()'s thread, and tests: the text, at this time of the run. h: a copy;
 * NULL: it could not be read. columns: width of the terminal, 0: out is not a terminal. */
void interim_write(FILE *out, const struct report *r, const struct histogram *h, double seconds, int columns);
/* The line of --summary-every. */
void interim_write_line(FILE *out, const struct report *r, const struct histogram *h, double seconds);

#endif
