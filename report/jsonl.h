/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --jsonl writes while the run goes on: an object in each line. docs/json.md has their members. */
#ifndef REPORT_JSONL_H
#define REPORT_JSONL_H

#include "measure/breach.h"
#include "measure/tally.h"
#include "report/json.h"
#include "report/log_file.h"

#define JSONL_VALUES 1048576 /* of a second; what is beyond is counted and in no percentile */

struct jsonl {
	/* Set by jsonl_open(). */
	const struct report *report;
	struct log_file *file;
	struct tally *tally; /* what is in none of the values, and the gaps */
	int64_t *value; /* of this second */

	struct json json;
	struct breach_teller breaches;
	size_t values;
	uint64_t samples, left_out; /* of this second, in all and not in value[] */
	int64_t max_ns;
	int64_t start_ns, from_ns; /* CLOCK_MONOTONIC: of the first second, and of this one */
	uint64_t number; /* of this one, from 1 on */
	uint64_t sent, lost, unheard; /* the counts when it began; the last one of the tally */
};

/* Memory for all of it; the file is open, and stays the caller's, as the tally. 0, or -ENOMEM after one line. */
int jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file, struct tally *tally);

/* Right before the run: the first line, which tells what is about to run. */
void jsonl_begin(struct jsonl *l);

/* Beside the run: latencies of this second. */
void jsonl_add(struct jsonl *l, const int64_t *value_ns, size_t n);

/* Beside the run, when all that there was is added: the lines of breaches, and of a second that is over. */
void jsonl_look(struct jsonl *l);

/* After the run, when all is added: what is left, and the summary. */
void jsonl_end(struct jsonl *l, int status);

void jsonl_close(struct jsonl *l);

#endif
