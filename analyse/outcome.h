/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of one run or several: put together as a run leaves it behind, so that the rooms of the report can
 * speak of it. */
#ifndef ANALYSE_OUTCOME_H
#define ANALYSE_OUTCOME_H

#include "histogram.h"
#include "options.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "result/tally.h"

struct seconds;

#define OUTCOME_FORMULA_BYTES 64

struct outcome {
	struct options options; /* what is to be written, and what is known of the runs */
	struct result result;
	struct report report;
	struct histogram latency, stage[STAGES], one_way[ONE_WAYS], planned[PLANNED];
	struct verdict verdict; /* only its level */
	struct tally tally; /* what is in no bucket */
	struct read read;
	struct seconds *seconds; /* the caller's; NULL: nobody tells of them */
	bool has_seconds; /* and there are some to be told */

	char *note; /* lines about what was read, for the text; NULL: none */
	size_t note_bytes;
	FILE *notes; /* where they are written */
};

/* Begins one with what the command line says of the output. NULL after one line: no memory. outcome_close() frees
 * it. */
struct outcome *outcome_open(const struct options *o);
void outcome_close(struct outcome *o);

/* Opens a file to be read, which is no device and no pipe. NULL after one line. */
FILE *outcome_open_file(const char *path);

/* Adds a file, whose memory is the outcome's; NULL after one line: no memory, or it is there already. */
struct read_file *outcome_add_file(struct outcome *o, const char *path, FILE *file, const char *form);

/* Are these one file, by device and inode? Then -EINVAL after one line, else 0. */
int outcome_refuse_same(const struct read_file *a, const struct read_file *b);

/* Lays one of the histograms out as a run does, by the options of the outcome, and sets the pointer to it. 0, or -errno
 * after one line. */
int outcome_place(struct histogram *h, struct histogram **pointer, const struct options *o, int64_t width_ns,
		  uint32_t overflow_capacity);

/* When all is read: can the buckets of --bucket-size be made of what there is? 0, or -errno after one line. */
int outcome_check_buckets(const struct outcome *o);

/* When all is read: sorts what must be. */
void outcome_finish(struct outcome *o);

/* The whole text. columns: width of the terminal, 0: out is none. */
void outcome_write(FILE *out, const struct outcome *o, int columns);

#endif
