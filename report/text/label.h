/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of roles, times and kinds of stamps, and numbers as text. For report/ only. */
#ifndef REPORT_TEXT_LABEL_H
#define REPORT_TEXT_LABEL_H

#include "rant.h"

struct clock_rate;
struct result;
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

/* State of T3 of a reply: enum follow_up. */
struct label_follow_up {
	const char *flag; /* in the log */
	const char *name; /* of a row; no other row has it, since scripts look rows up by name; NULL: no row */
	const char *meaning; /* NULL: it is there */
	const char *json; /* member of JSON of schema 1, if it is not made from the name; else NULL */
};

/* Why a reflector did not answer, in JSON. */
struct label_discard {
	uint8_t reason; /* enum packet_discard */
	const char *name;
};

#define LABEL_DISCARDS 3

/* The percentiles of reports and files, the smallest first; every list of several is made of these rows. */
struct label_percentile {
	const char *percent; /* "99.9": all digits that are shown */
	uint64_t numerator, denominator;
	bool rare; /* shown only where ten samples lie above it */
};

enum { LABEL_P50, LABEL_P90, LABEL_P95, LABEL_P99, LABEL_P99_9, LABEL_P99_99, LABEL_P99_999, LABEL_P99_9999,
       LABEL_PERCENTILES };

extern const struct label_percentile label_percentiles[LABEL_PERCENTILES];
extern const struct label_discard label_discards[LABEL_DISCARDS];
extern const struct label_role label_roles[]; /* by enum role */
extern const struct label_stamp label_stamps[]; /* by enum source */
extern const struct label_follow_up label_follow_ups[FOLLOW_UPS];

/* Text from which json_name() makes the member of JSON of a follow-up that has a row. */
static inline const char *label_follow_up_json(int i)
{
	return label_follow_ups[i].json ? label_follow_ups[i].json : label_follow_ups[i].name;
}

/* Time i of a sample of this role, 0 .. ALL_TIMES - 1. */
static inline const struct label_time *label_time(enum role role, int i)
{
	return i < REMOTE ? &label_roles[role].time[i] : &label_roles[ROLE_REFLECT].time[i - REMOTE];
}

/* enum source of the wire stamps at the host of time i: here as the options say, there as the replies told. */
int64_t label_source(const struct report *r, int i);

/* Is time i one of the reflector's program whose wire stamps are of its program too? Then the two are the same. there:
 * enum source of the reflector's stamps. */
bool label_reported_twice(enum role role, int64_t remote, int i);

/* Is time i of the sample there, and of the clock that its name says? Not where the reflector told that its program's
 * times have no place on the scale of its stamps, nor where such a time took the place of a stamp that it usually
 * has. */
static inline bool label_has_time(enum role role, int64_t remote, const struct sample *s, int i)
{
	if (i < REMOTE || !s->source[i])
		return s->source[i];
	if (!label_time(role, i)->wire)
		return !s->off_scale;
	return remote != SOURCE_HARDWARE || s->source[i] == SOURCE_HARDWARE;
}

/* Writes "T1_HW" and the like, 16 bytes at most; returns text. source: of the wire stamps of that host. */
const char *label_name(char *text, size_t bytes, enum role role, int i, int64_t source);
const char *label_time_name(char *text, size_t bytes, const struct report *r, int i); /* the source: label_source() */

/* "RTT = T4_KERNEL - T1_KERNEL" and the like, 64 bytes at most. */
void label_latency(const struct options *o, char *text, size_t bytes);

/* Numbers as text, no terminating NUL: each writes up to `end`, 20 bytes at most, and returns where it begins. */
char *label_digits(char *end, uint64_t v, int least); /* at least `least` digits */
char *label_signed_digits(char *end, int64_t v);
char *label_time_digits(char *end, int64_t ns); /* seconds.nanoseconds, 21 bytes at most */

/* "20.0 % slow" or "5000 ppm fast", for a clock that is off by much; with its bound: " (+-0.1)". 48 bytes at most. */
void label_rate(char *text, size_t bytes, const struct clock_rate *rate, bool with_bound);

/* True if fewer than ten of `count` samples are above this percentile: its value varies much from run to run. */
static inline bool label_is_few(uint64_t count, uint64_t numerator, uint64_t denominator)
{
	return (unsigned __int128)count * (denominator - numerator) < (unsigned __int128)10 * denominator;
}

static inline double label_us(int64_t ns)
{
	return (double)ns / NS_PER_US;
}

static inline double label_seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

#endif
