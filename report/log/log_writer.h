/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the log's ring to its file: during the run if there is a thread for it, else after the run. */
#ifndef REPORT_LOG_LOG_WRITER_H
#define REPORT_LOG_LOG_WRITER_H

#include "host/process/worker.h"
#include "report/log/log_file.h"
#include "report/log/log_form.h"
#include "result/log.h"

#define LOG_WRITER_PERIOD_NS (50 * NS_PER_MS) /* a record waits at most twice as long */
#define LOG_BLOCK_BYTES (256 << 10) /* octets of one write, while that many are available */
#define LOG_MARKS 256 /* time marks by which --log-last dates records, a power of two */

struct report;

/* Writer states: the ring may not exist yet; exists and is drained; is to be written completely before the
 * thread ends. */
enum log_writer_state { LOG_WRITER_WAITS, LOG_WRITER_DRAINS, LOG_WRITER_ENDS };

struct log_writer {
	/* Set by log_writer_open(). */
	const struct report *report;
	struct log *log; /* not empty if records are waiting; its ring may be set later */
	const struct log_form *form;
	struct log_file file;
	int64_t last_ns; /* --log-last; 0: write all records */
	struct worker worker;
	bool beside; /* a thread writes during the run */
	_Atomic enum log_writer_state state; /* hands the ring's contents over */
	void (*begin)(void *context); /* set by the caller; called in that thread */
	void *context;

	/* Owned by the writer thread. */
	struct log_columns columns;
	bool begun; /* the columns are chosen and the begin of the file is written */
	char *block;
	size_t used; /* octets used of the block */
	uint64_t in_block; /* records */
	bool waited; /* the block's data were there at the previous call */
	uint64_t in_file; /* records of the present file, for its header */
	uint64_t *in_files; /* records of each file of a rotation, by its number */
	struct {
		uint64_t records; /* records left out since the last written record */
		uint32_t seq; /* SEQ of the first of them */
		const char *why;
	} gap;
	uint64_t breaches; /* breaches seen */
	int64_t write_until_ns; /* CLOCK_MONOTONIC: end of the interval around a breach that is written */
	bool is_near; /* the last call was before write_until_ns */
	int64_t looked_ns; /* CLOCK_MONOTONIC: last call */
	uint64_t seen; /* total records at the last call */
	struct log_mark {
		int64_t mono_ns;
		uint64_t ready; /* total records of the ring */
	} mark[LOG_MARKS];
	uint64_t marks;

	/* Results: total records. */
	uint64_t written;
	uint64_t removed; /* part of these, removed with the oldest files */
	uint64_t not_kept; /* outside of --log-last */
	uint64_t unwritten; /* lost, since the ring was full */
	int64_t octets;
	/* interval that --log-last kept when the ring was too small; 0: the whole interval */
	int64_t shortest_ns;
};

/* Opens and checks the file by the report's options. 0, or -errno after one line with nothing left. Without --log all
 * these functions do nothing. */
int log_writer_open(struct log_writer *w, const struct report *r, struct log *log);

/* Starts a thread on another CPU that writes during the run and calls `begin` first; it does not touch the
 * ring before log_writer_hand_over(). 0, or -errno of worker_start(): then log_writer_finish() writes
 * everything. */
int log_writer_start(struct log_writer *w, void (*begin)(void *context), void *context);

/* Call when the ring exists: from now on the thread owns the file. */
void log_writer_hand_over(struct log_writer *w);

/* Call once after the run: writes the rest, closes the file and renames it. 0, or -errno after one line. */
int log_writer_finish(struct log_writer *w);

/* Before log_writer_hand_over(): the ring, and who writes. After log_writer_finish(): all. */
void log_writer_result(const struct log_writer *w, struct result_log *to);

/* Removes an empty file. No effect after log_writer_finish() or if it was not opened. */
void log_writer_close(struct log_writer *w);

#endif
