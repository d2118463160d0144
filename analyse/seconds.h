/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seconds of what was read, for the files that tell of each. Of a log they are made while it is read: a sample is
 * in the second in which its last time is, counted from the first sample on. What --json has written has them, and they
 * are put in order.
 */
#ifndef ANALYSE_SECONDS_H
#define ANALYSE_SECONDS_H

#include "report/export/second.h"

struct blocks;
struct by_second;
struct outcome;

struct seconds {
	struct by_second *to; /* the caller's, as the outcome is */
	struct outcome *outcome;

	/* Inside. */
	struct second_again again; /* of the second that is not over */
	bool has_head; /* of --hlog */
	bool has_time; /* a record with a time was there */
	bool is_next; /* the next record is the first one of its log */
	uint64_t records; /* of this run */
	uint64_t next_seq;
	int64_t at_ns; /* of the last record, by a clock that begins with the run and does not go back */
	int64_t shift_ns; /* what a time of the log has to be added to be of that clock */
};

/* Memory for a second. 0, or -ENOMEM after one line. */
int seconds_open(struct seconds *s, struct by_second *to, struct outcome *o);

/* When the options of the outcome are known: the first lines. known: there will be seconds, of a log always. */
void seconds_begin(struct seconds *s, bool known);

/* Of logs: a sample, whose last time is time_ns[to]. */
void seconds_add(struct seconds *s, const struct sample *sample, uint8_t to);

/* What follows is of another log: one that begins before the last sample of this one is of another run. */
void seconds_next_log(struct seconds *s);

/* Of JSON: all seconds, in the order in which they ended. 0, or -ENOMEM after one line. */
int seconds_tell(struct seconds *s, const struct blocks *b);

/* When all is added: what is left of the last one. */
void seconds_end(struct seconds *s);

#endif
