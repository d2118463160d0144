/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of a run while it goes on: the report so far, when SIGUSR1 asks for it, and a line every so often
 * (--summary-every). */
#ifndef REPORT_TEXT_SO_FAR_H
#define REPORT_TEXT_SO_FAR_H

#include "host/process/watch.h"
#include "report/text/report.h"

struct histogram;

struct so_far {
	const struct report *report; /* from so_far_begin() on, the copy */
	/* as it was before the run, for the thread: the caller's is written at the end of the run */
	struct report copy;
	struct watch watch; /* a thread of its own: a reader that is slow holds up nobody else */
	void (*begin)(void *context); /* of the caller, in that thread */
	void *context;
	_Atomic int64_t began_ns; /* CLOCK_MONOTONIC: of the run; 0: not yet */
	int64_t next_ns; /* of the line; 0: none was due so far */
	void *memory; /* of a copy of the histogram, and for putting it in order; NULL: not needed so far */
};

/* Starts the thread, on another CPU than the measuring one; it calls `begin` first. The report stays the caller's.
 * Without such a CPU there is none, which is told in one line where lines were asked for. Nothing is told with
 * --quiet. */
void so_far_start(struct so_far *s, const struct report *r, void (*begin)(void *context), void *context);

/* Right before the run. */
void so_far_begin(struct so_far *s);

/* After the run and before its report. A second call does nothing. */
void so_far_stop(struct so_far *s);

/* For so_far_start()'s thread, and tests: the text, at this time of the run. h: a copy, its overflow samples in order;
 * NULL: it could not be read. columns: width of the terminal, 0 when out is none. */
void so_far_write(FILE *out, const struct report *r, const struct histogram *h, double seconds, int columns);
/* of --summary-every */
void so_far_write_line(FILE *out, const struct report *r, const struct histogram *h, double seconds);

#endif
