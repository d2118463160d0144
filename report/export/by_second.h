/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that tell of each second: the elements of --json, the lines of --jsonl, the intervals of --hlog. Of a run
 * while it goes on (report/export/outputs.c), and of what runs have left (analyse/output.c).
 */
#ifndef REPORT_EXPORT_BY_SECOND_H
#define REPORT_EXPORT_BY_SECOND_H

#include "report/export/hlog.h"
#include "report/export/json.h"
#include "report/export/jsonl.h"
#include "report/export/second.h"
#include "report/log/log_file.h"

struct by_second {
	struct log_file json, lines_file, hlog_file; /* path NULL: not asked for; lines: of --jsonl */
	struct json writer; /* of --json */
	struct jsonl lines;
	struct hlog hlog;
	struct second second; /* value NULL: there is no memory for it yet, or nobody tells of seconds */
};

#define BY_SECOND_CLOSED { .json.fd = -1, .lines_file.fd = -1, .hlog_file.fd = -1 }

/* Opens those that the report's options ask for. 0, or -errno after one line: by_second_close() leaves nothing then. */
int by_second_open(struct by_second *b, const struct report *r);

static inline bool by_second_is_wanted(const struct by_second *b)
{
	return b->json.path || b->lines_file.path || b->hlog_file.path;
}

/* The object of --json up to its seconds, which come one by one; seconds false: none are known. It stays in its block
 * until the first one is over. */
void by_second_begin_json(struct by_second *b, bool seconds);

/* The second is over: all of them are told, and the next one begins. */
void by_second_tell(struct by_second *b);

/* When the object has all that it gets, but for its end. 0, or -errno after one line. */
int by_second_finish_json(struct by_second *b);

/* When the last line is told, and the last second. 0, or -errno after one line. */
int by_second_finish_lines(struct by_second *b);
int by_second_finish_hlog(struct by_second *b);

/* In a signal handler, before the program ends: see log_file_cut_off(). */
void by_second_cut_off(struct by_second *b);

/* Frees the memory. What is not finished is removed, however much of it is written. */
void by_second_close(struct by_second *b);

#endif
