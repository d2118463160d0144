/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seconds for outputs by the second. Those of a log are made while it is read: a sample belongs to the second of its
 * last time, counted from the first sample. JSON has seconds, which are sorted by time.
 */
#ifndef ANALYSE_SECONDS_H
#define ANALYSE_SECONDS_H

#include "report/export/second.h"

struct blocks;
struct by_second;
struct outcome;

struct seconds {
	struct by_second *to; /* of the caller, like the outcome */
	struct outcome *outcome;

	/* Private. */
	struct second_again again; /* properties of the current second */
	bool has_head; /* the header of --hlog is written */
	bool has_time; /* a record with a time was read */
	bool is_next; /* the next record is the first of its log */
	uint64_t records; /* records of the current run */
	uint64_t next_seq;
	int64_t at_ns; /* time of the last record, by a monotonic clock that starts with the run */
	int64_t shift_ns; /* offset from times of the log to this clock */
};

/* Allocates memory for a second. 0, or -ENOMEM after one line. */
int seconds_open(struct seconds *s, struct by_second *to, struct outcome *o);

/* Writes the first lines; the options of the outcome are set before. known: there will be seconds, which is always
 * so for a log. */
void seconds_begin(struct seconds *s, bool known);

/* Adds a sample of a log, whose last time is time_ns[to]. */
void seconds_add(struct seconds *s, const struct sample *sample, uint8_t to);

/* The next sample is from another log. A log that begins before the last sample of the former belongs to another
 * run. */
void seconds_next_log(struct seconds *s);

/* Writes all seconds of JSON files, in order of their end. 0, or -ENOMEM after one line. */
int seconds_pass_on(struct seconds *s, const struct blocks *b);

/* After the last sample: writes the last second. */
void seconds_end(struct seconds *s);

#endif
