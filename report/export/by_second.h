/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outputs per second: elements of --json, lines of --jsonl, intervals of --hlog. During a run
 * (report/export/outputs.c), and from saved files (analyse/output.c).
 */
#ifndef REPORT_EXPORT_BY_SECOND_H
#define REPORT_EXPORT_BY_SECOND_H

#include "report/export/hlog.h"
#include "report/export/json.h"
#include "report/export/jsonl.h"
#include "report/export/second.h"
#include "report/text/confidence.h"
#include "report/log/log_file.h"
#include "result/level.h"

struct by_second {
	struct log_file json, lines_file, hlog_file; /* path NULL: option not given; lines: --jsonl */
	struct json writer; /* for --json */
	struct jsonl lines;
	struct hlog hlog;
	struct levels levels; /* of all seconds so far, for report/verdict/steadiness.h */
	struct confidence_blocks *confidence; /* of one run; NULL: no output needs the samples of each second */
	bool is_goal; /* --until-known: also without a file the samples of each second are needed */
	struct second second; /* value NULL: not allocated yet, or no output per second */
};

#define BY_SECOND_CLOSED { .json.fd = -1, .lines_file.fd = -1, .hlog_file.fd = -1 }

/* Opens the files of the report's options. 0, or -errno after one line: by_second_close() then leaves no file. */
int by_second_open(struct by_second *b, const struct report *r);

static inline bool by_second_is_wanted(const struct by_second *b)
{
	return b->json.path || b->lines_file.path || b->hlog_file.path || b->is_goal;
}

/* Writes the object of --json up to its seconds, which follow one by one; seconds false: none are known. The text stays
 * in its buffer until the first second ends. */
void by_second_begin_json(struct by_second *b, bool seconds);

/* Writes the second that has ended to all files, and begins the next. */
void by_second_pass_on(struct by_second *b);

/* Ends the object of --json, after its last member. 0, or -errno after one line. */
int by_second_finish_json(struct by_second *b);

/* Ends --jsonl and --hlog, after the last line and the last second. 0, or -errno after one line. */
int by_second_finish_lines(struct by_second *b);
int by_second_finish_hlog(struct by_second *b);

/* In a signal handler, before the program ends: see log_file_cut_off(). */
void by_second_cut_off(struct by_second *b);

/* Frees the memory and removes unfinished files, whatever their size. */
void by_second_close(struct by_second *b);

#endif
