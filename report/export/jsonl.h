/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --jsonl writes while the run goes on: an object in each line. docs/json.md has their members. */
#ifndef REPORT_EXPORT_JSONL_H
#define REPORT_EXPORT_JSONL_H

#include "report/export/json.h"
#include "report/export/second.h"
#include "report/log/log_file.h"
#include "result/breach.h"

struct jsonl {
	/* Set by jsonl_open(). */
	const struct report *report;
	struct log_file *file;

	struct json json;
	struct breach_teller breaches;
};

/* The file is open, and stays the caller's. */
void jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file);

/* A line of this type of the caller's own: its object is open, and is ended with the line. */
struct json *jsonl_begin_line(struct jsonl *l, const char *type);
void jsonl_end_line(struct jsonl *l);

/* Right before the run: the first line, which tells what is about to run. */
void jsonl_begin(struct jsonl *l);

/* Beside the run, and once after it: the lines of breaches that came since. */
void jsonl_look(struct jsonl *l);

/* A second that is over. */
void jsonl_second(struct jsonl *l, const struct second *s);

/* After the run, when all of these are told: the summary. */
void jsonl_end(struct jsonl *l, int status);

#endif
