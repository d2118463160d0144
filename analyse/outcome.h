/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of one run or of several, as it was read from files, in the form that the report takes. */
#ifndef ANALYSE_OUTCOME_H
#define ANALYSE_OUTCOME_H

#include "histogram.h"
#include "options.h"
#include "report/text/report.h"
#include "report/verdict/teeth.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "result/sample_queue.h"

struct seconds;

#define OUTCOME_FORMULA_BYTES 64

struct outcome {
	struct options options; /* options of the output, and of the runs as far as they are known */
	struct result result;
	struct report report;
	struct histogram latency, stage[STAGES], one_way[ONE_WAYS], planned[PLANNED], poll_gaps;
	struct verdict verdict; /* only the level is set */
	struct teeth teeth;
	struct ipdv_metric rtt_ipdv; /* of a log */
	struct sample_queue sample_queue; /* samples without a bucket */
	struct read read;
	struct seconds *seconds; /* of the caller; NULL: no output needs the seconds */
	bool has_seconds; /* the files have seconds */

	char *note; /* lines about the files, for the text; NULL: none */
	size_t note_bytes;
	FILE *notes; /* stream into `note` */
};

/* Creates an empty outcome with the options of the output. NULL after one line: no memory. outcome_close() frees
 * it. */
struct outcome *outcome_open(const struct options *o);
void outcome_close(struct outcome *o);

/* Opens a regular file to read. NULL after one line. */
FILE *outcome_open_file(const char *path);

/* Adds a file, which outcome_close() frees. NULL after one line: no memory, or the file was added before. */
struct read_file *outcome_add_file(struct outcome *o, const char *path, FILE *file, const char *form);

/* -EINVAL after one line if both are the same file, by device and inode; else 0. */
int outcome_refuse_same(const struct read_file *a, const struct read_file *b);

/* Allocates a histogram with the buckets of a run, by the options of the outcome, and sets the pointer to it. 0, or
 * -errno after one line. */
int outcome_assign(struct histogram *h, struct histogram **pointer, const struct options *o, int64_t width_ns);

/* After reading: checks that --bucket-size is a multiple of the buckets of the files. 0, or -errno after one line. */
int outcome_check_buckets(const struct outcome *o);

/* After reading: sorts the overflow samples. */
void outcome_finish(struct outcome *o);

/* Writes the report. columns: width of the terminal; 0: out is not a terminal. */
void outcome_write(FILE *out, const struct outcome *o, int columns);

#endif
