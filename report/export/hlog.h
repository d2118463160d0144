/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --hlog writes while the run goes on: an interval log of HdrHistogram, format version 1.2, a line a second. Its
 * head and its lines are as HistogramLogWriter of its Java implementation writes them, and read by HistogramLogReader
 * and by hdr_log_read() of the C one, which takes no comment behind the head. The histogram is the compressed V2
 * encoding of AbstractHistogram.encodeIntoCompressedByteBuffer(), whose zlib stream (RFC 1950) has one block that is
 * stored (RFC 1951 section 3.2.4): readers do not see that, and no zlib is needed.
 */
#ifndef REPORT_EXPORT_HLOG_H
#define REPORT_EXPORT_HLOG_H

#include "report/export/second.h"
#include "report/log/log_file.h"

struct report;

#define HLOG_MOST_NS (86400 * NS_PER_S) /* readers are told so; what is above is counted and in no line */

struct hlog {
	/* Set by hlog_open(). */
	const struct report *report;
	struct log_file *file;
	uint8_t *octets; /* of one histogram */
	char *line;

	char head[512]; /* empty once it is written */
	size_t bytes, characters; /* of octets and line */
	uint32_t carry; /* of base64: octets that are not in the line yet, */
	unsigned carried; /* so many */
	uint64_t left_out; /* samples that are in no line */
};

/* Memory for a line; the file is open, and stays the caller's. 0, or -ENOMEM after one line. */
int hlog_open(struct hlog *h, const struct report *r, struct log_file *file);

/* Its head, which is written with the first line. start_unix_ns: CLOCK_REALTIME when the first second begins; 0: not
 * known. note: a remark of at most 100 characters; NULL: none. */
void hlog_begin(struct hlog *h, int64_t start_unix_ns, const char *note);

/* A second that is over. Its times are by CLOCK_MONOTONIC from the start on, so that they follow each other though the
 * clock be set. */
void hlog_second(struct hlog *h, const struct second *s);

/* After the last one: the head, if there is no line; and one line on stderr, if samples are in none: the file itself
 * has no place for it. */
void hlog_end(struct hlog *h);

void hlog_close(struct hlog *h);

#endif
