/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of --jsonl during the run: one object per line. docs/json.md describes their members. */
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
	struct breach_printer breaches;
};

/* The open file stays the caller's. */
void jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file);

/* Begins a line of this type, to which the caller adds members; the line end closes its object. */
struct json *jsonl_begin_line(struct jsonl *l, const char *type);
void jsonl_end_line(struct jsonl *l);

/* Before the run: the first line, with the configuration. */
void jsonl_begin(struct jsonl *l);

/* During the run, and once after it: lines of the breaches since the last call. */
void jsonl_look(struct jsonl *l);

/* Line of a second that has ended. */
void jsonl_second(struct jsonl *l, const struct second *s);

/* After the run and after all other lines: the summary. */
void jsonl_end(struct jsonl *l, int status);

#endif
