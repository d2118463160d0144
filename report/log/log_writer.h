/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the ring of the log to its file: beside the run where there is a thread for it, else after it. */
#ifndef REPORT_LOG_LOG_WRITER_H
#define REPORT_LOG_LOG_WRITER_H

#include "host/process/watch.h"
#include "report/log/log_file.h"
#include "report/log/log_form.h"
#include "result/log.h"

#define LOG_WRITER_PERIOD_NS (50 * NS_PER_MS) /* twice that is the longest that a record waits */
#define LOG_BLOCK_BYTES (256 << 10) /* written at a time, while there is so much */
#define LOG_MARKS 256 /* by which --log-last knows how old records are, a power of two */

struct report;

/* The ring may not be there yet; it is, and is drained; all that is in it is to be written before the thread ends. */
enum log_writer_state { LOG_WRITER_WAITS, LOG_WRITER_DRAINS, LOG_WRITER_ENDS };

struct log_writer {
	/* Set by log_writer_open(). */
	const struct report *report;
	struct log *log; /* not empty when there is something to write; its ring may be placed later */
	const struct log_form *form;
	struct log_file file;
	int64_t last_ns; /* --log-last; 0: all is written */
	struct watch watch;
	bool beside; /* there is a thread that writes beside the run */
	_Atomic enum log_writer_state state; /* what the ring holds is handed over with it */
	void (*begin)(void *context); /* of the caller, in that thread */
	void *context;

	/* Of the thread that writes. */
	struct log_columns columns;
	bool begun; /* the columns are chosen, and the file has its begin */
	char *block;
	size_t used; /* of the block */
	uint64_t in_block; /* records */
	bool waited; /* what is in the block was there at the call before */
	uint64_t in_file; /* records of the present file: its begin tells of them */
	uint64_t *in_files; /* of each file of a rotation, by its number */
	struct {
		uint64_t records; /* that are not in the file, since the last one that is */
		uint32_t seq; /* of the first of them */
		const char *why;
	} gap;
	uint64_t breaches; /* seen */
	int64_t write_until_ns; /* CLOCK_MONOTONIC: what surrounds a breach */
	bool is_near; /* it was before that time at the last call */
	int64_t looked_ns; /* CLOCK_MONOTONIC: of the last call, */
	uint64_t seen; /* and how many there had been then, in all */
	struct log_mark {
		int64_t mono_ns;
		uint64_t ready; /* of the ring, in all */
	} mark[LOG_MARKS];
	uint64_t marks;

	/* Results. Records, in all: */
	uint64_t written;
	uint64_t removed; /* of these, with the oldest files */
	uint64_t not_kept; /* outside of --log-last */
	uint64_t unwritten; /* for want of a place */
	int64_t octets;
	int64_t shortest_ns; /* what --log-last has kept when the ring was too small; 0: all that was asked for */
};

/* Opens and checks the file of the report's options, and enters both into the report. 0, or -errno after one line:
 * nothing is left then. Without a --log all of these do nothing. */
int log_writer_open(struct log_writer *w, struct report *r, struct log *log);

/* Starts a thread on another CPU that writes beside the run, and calls `begin` first; it does not touch the ring before
 * log_writer_hand_over(). 0, or -errno as watch_start() has it: then all is written by log_writer_finish(). */
int log_writer_start(struct log_writer *w, void (*begin)(void *context), void *context);

/* The ring is placed, and the file is the thread's alone from now on. */
void log_writer_hand_over(struct log_writer *w);

/* After the run, once: what is left is written, the file closed and given its name. 0, or -errno: a line has said
 * so. */
int log_writer_finish(struct log_writer *w);

/* Removes a file that has nothing in it. Does nothing after log_writer_finish(), and if it was not opened. */
void log_writer_close(struct log_writer *w);

#endif
