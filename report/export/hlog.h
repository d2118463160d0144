/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of --hlog during the run: an interval log of HdrHistogram, format version 1.2, one line per second. Header and
 * lines are those of HistogramLogWriter (Java) and are read by HistogramLogReader and by hdr_log_read() (C), which
 * accepts no comment after the header. The histogram is the compressed V2 encoding of
 * AbstractHistogram.encodeIntoCompressedByteBuffer(). Its zlib stream (RFC 1950) has one stored block (RFC 1951 section
 * 3.2.4), which every reader accepts and which needs no zlib.
 */
#ifndef REPORT_EXPORT_HLOG_H
#define REPORT_EXPORT_HLOG_H

#include "report/export/second.h"
#include "report/log/log_file.h"

struct report;

#define HLOG_MOST_NS (86400 * NS_PER_S) /* highest trackable value in each line; larger values are only counted */

struct hlog {
	/* Set by hlog_open(). */
	const struct report *report;
	struct log_file *file;
	uint8_t *octets; /* encoding of one histogram */
	char *line;

	char head[512]; /* empty after it is written */
	size_t bytes, characters; /* used in octets and line */
	uint32_t carry; /* base64: octets that are not in the line yet */
	unsigned carried; /* number of these */
	uint64_t left_out; /* samples that are in no line */
};

/* Allocates memory for a line. The open file stays the caller's. 0, or -ENOMEM after one line. */
int hlog_open(struct hlog *h, const struct report *r, struct log_file *file);

/* Makes the header, which is written with the first line. start_unix_ns: CLOCK_REALTIME at the begin of the first
 * second; 0: not known. note: a remark of at most 100 characters; NULL: none. */
void hlog_begin(struct hlog *h, int64_t start_unix_ns, const char *note);

/* Writes a second that has ended. Its times are by CLOCK_MONOTONIC since the start, so that they ascend even if the
 * system clock is set. */
void hlog_second(struct hlog *h, const struct second *s);

/* After the last second: writes the header if no line was written, and prints one line on stderr if lines lack samples,
 * because the format has no field for that. */
void hlog_end(struct hlog *h);

void hlog_close(struct hlog *h);

#endif
