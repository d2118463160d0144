/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output files of a run: opened and checked before it, renamed to their paths when they are complete. */
#ifndef REPORT_EXPORT_OUTPUTS_H
#define REPORT_EXPORT_OUTPUTS_H

#include "host/process/worker.h"
#include "report/export/by_second.h"
#include "report/export/prometheus.h"
#include "report/log/log_file.h"
#include "report/log/log_writer.h"
#include "report/text/interim.h"
#include "report/text/status.h"
#include "result/sample_queue.h"

struct nic;
struct report;
struct privileges;
struct privileges_needs;

#define OUTPUTS_FINDINGS 32

/* A finding of the doctor before the run. */
struct outputs_finding {
	const char *level; /* of struct check_reported */
	char subject[48], what[256], where[96], why[192], cure[192]; /* why, cure: may be empty */
};

struct outputs {
	struct log_writer log;
	struct report *report;
	struct by_second reported; /* used by the thread below during the run */
	struct log_file hgrm; /* path NULL: option not given */
	struct prometheus prometheus; /* report NULL: not asked for */
	struct sample_queue sample_queue; /* sample queue for outputs during the run */
	bool no_seconds; /* no memory for seconds; set by the measuring thread */
	_Atomic bool begun; /* the first lines are written, and the thread below may write */
	/* Thread of its own for outputs during the run, because a slow reader of a pipe must not delay the log. */
	struct worker worker;
	void (*on_known)(void); /* called in that thread when --until-known is reached; set by the caller */
	void (*begin)(void *context); /* callback of the caller, run in that thread */
	void *context;
	struct interim interim;
	struct outputs_finding finding[OUTPUTS_FINDINGS];
	unsigned findings; /* number of findings, including those not kept */
};

#define OUTPUTS_CLOSED { .log.file.fd = -1, .reported = BY_SECOND_CLOSED, .hgrm.fd = -1, .prometheus.file.fd = -1 }

/* Opens the files of the report's options; `log` as for log_writer_open(). -EINVAL if two outputs are the same file, or
 * both stdout. 0, or -errno after one line: no file is left then. */
int outputs_open(struct outputs *o, struct report *r, struct log *log);

/* Starts the threads that write during the run, on another CPU: those of the log and of struct interim, and one for
 * other files, if such a file is written during the run. All call `begin` first. Returns the sample queue for the
 * measuring thread; NULL: none. */
struct sample_queue *outputs_start(struct outputs *o, void (*begin)(void *context), void *context);

/* Prepares the threads for the time without privileges. */
void outputs_need(const struct outputs *o, struct privileges_needs *n);

/* Before the run, in the measuring thread: sets the owner of the files. 0, or -errno after one line. */
int outputs_hand_over(struct outputs *o, const struct privileges *r);

/* Before the run, after its memory is locked: reads the state of the machine and writes the first lines. Errors are
 * reported by outputs_hand_over(). */
void outputs_look(struct outputs *o, const struct nic *n);

/* After the run, before the verdict: ends the log, the interim reports, which share stdout with the report, and the thread
 * of the other outputs, whose seconds the verdict reads. 0, or -errno after one line. */
int outputs_end_beside(struct outputs *o);

/* After the run, with the final report and exit status: writes and closes all files except the log. Returns the exit
 * status, or STATUS_FAILED after one line if a file cannot be written. */
enum status outputs_write(struct outputs *o, enum status status);

/* In a signal handler, before the program ends: see log_file_cut_off(). */
void outputs_cut_off(struct outputs *o);

/* Removes incomplete files, except the log. Does nothing if all files are complete or were not opened. */
void outputs_close(struct outputs *o);

#endif
