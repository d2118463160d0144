/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a run writes: opened and checked before it, and given their names when they are whole. */
#ifndef REPORT_EXPORT_OUTPUTS_H
#define REPORT_EXPORT_OUTPUTS_H

#include "host/process/watch.h"
#include "report/export/by_second.h"
#include "report/export/prometheus.h"
#include "report/log/log_file.h"
#include "report/log/log_writer.h"
#include "report/text/so_far.h"
#include "report/text/status.h"
#include "result/tally.h"

struct nic;
struct report;
struct rights;
struct rights_needs;

#define OUTPUTS_FINDINGS 32

/* What the doctor said before the run. */
struct outputs_finding {
	bool fail; /* else a warning */
	char subject[48], what[256], where[96], why[192], cure[192]; /* why, cure: empty where there is none */
};

struct outputs {
	struct log_writer log;
	struct report *report;
	struct by_second told; /* of the thread below, while it runs */
	struct log_file hgrm; /* path NULL: not asked for */
	struct prometheus prometheus; /* report NULL: not asked for */
	struct tally tally; /* what is told while the run goes on */
	bool no_seconds; /* there was no memory for them; of the measuring thread */
	_Atomic bool begun; /* the first lines are there: from now on it is the thread that writes */
	/* writes what is written while the run goes on: a reader that is slow must not hold up others */
	struct watch watch;
	void (*begin)(void *context); /* of the caller, in that thread */
	void *context;
	struct so_far so_far;
	struct outputs_finding finding[OUTPUTS_FINDINGS];
	unsigned findings; /* some may not be kept */
};

#define OUTPUTS_CLOSED { .log.file.fd = -1, .told = BY_SECOND_CLOSED, .hgrm.fd = -1, .prometheus.file.fd = -1 }

/* Opens all that the report's options ask for; `log` as for log_writer_open(). The same file twice, or stdout, is
 * -EINVAL. 0, or
 * -errno after one line: nothing is left then. */
int outputs_open(struct outputs *o, struct report *r, struct log *log);

/* Starts the threads that write while the run goes on, on another CPU: the one of struct so_far, and one for the files,
 * if one of them wants that; both call `begin` first. Returns what
 * the measuring thread is to fill; NULL: nothing. */
struct tally *outputs_start(struct outputs *o, void (*begin)(void *context), void *context);

/* What they need when the rights are gone. */
void outputs_need(const struct outputs *o, struct rights_needs *n);

/* Right before the run, in the measuring thread: the files get their owner. 0, or -errno after one line. */
int outputs_hand_over(struct outputs *o, const struct rights *r);

/* Before the run, when its memory is locked: what is read of the machine for a program, and the first lines. What fails
 * is told by outputs_hand_over(). */
void outputs_look(struct outputs *o, const struct nic *n);

/* After the run, before the report is written: ends the log, and the reports so far, which go to the same place. 0 or
 * -errno, after one line. */
int outputs_end_beside(struct outputs *o);

/* After the run, when the report has all that there is and the exit status is known: writes and closes what is not the
 * log. Returns the status, which a file that cannot be written makes STATUS_FAILED, after one line. */
enum status outputs_write(struct outputs *o, enum status status);

/* In a signal handler, before the program ends: see log_file_cut_off(). */
void outputs_cut_off(struct outputs *o);

/* Removes what is not whole, but for the log. Does nothing if all is written, or was not opened. */
void outputs_close(struct outputs *o);

#endif
