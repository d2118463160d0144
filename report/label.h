/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of roles, times and kinds of stamps, and numbers as text. For report/ only. */
#ifndef REPORT_LABEL_H
#define REPORT_LABEL_H

#include "rant.h"

struct exchange;
struct options;
struct report;

struct label_time {
	const char *name, *direction;
	bool wire; /* else user space */
};

struct label_role {
	const char *latency; /* column of the log */
	const char *breach; /* first words of a breach */
	const char *done; /* what is counted per second */
	struct label_time time[TIMES];
};

/* By where a stamp was taken: never called more than it is. */
struct label_stamp {
	const char *suffix; /* of its name: T1_HW */
	const char *place;
	const char *option, *clock; /* NULL: of another host only */
	const char *taken; /* at the other host */
};

/* What became of T3 of a reply. */
struct label_follow_up {
	const char *flag; /* in the log */
	const char *name; /* of a row; no other row has it, since scripts look rows up by name; NULL: no row */
	const char *meaning; /* NULL: it is there */
};

extern const struct label_role label_roles[]; /* by enum role */
extern const struct label_stamp label_stamps[]; /* by enum source */
extern const struct label_follow_up label_follow_ups[FOLLOW_UPS];

/* Time i of a sample of this role, 0 .. ALL_TIMES - 1. */
const struct label_time *label_time(enum role role, int i);

/* enum source of the wire stamps at the host of time i: here as the options say, there as the replies told. */
int64_t label_source(const struct report *r, int i);

/* Is time i one of the reflector's program whose wire stamps are of its program too? Then the two are the same. */
bool label_told_twice(const struct report *r, int i);

/* Writes "T1_HW" and the like, 16 bytes at most; returns text. */
const char *label_time_name(char *text, size_t bytes, const struct report *r, int i);

/* "RTT = T4_KERNEL - T1_KERNEL" and the like, 64 bytes at most. */
void label_latency(const struct options *o, char *text, size_t bytes);

/* Numbers as text, without a 0 behind them: each writes up to `end`, 20 bytes at most, and returns where it begins. */
char *label_digits(char *end, uint64_t v, int least); /* at least so many digits */
char *label_signed_digits(char *end, int64_t v);
char *label_time_digits(char *end, int64_t ns); /* seconds.nanoseconds, 21 bytes at most */

static inline double label_us(int64_t ns)
{
	return (double)ns / NS_PER_US;
}

static inline double label_seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

#endif
