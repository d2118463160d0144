/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of roles, times and timestamp sources, and numbers as text. For report/ only. */
#ifndef REPORT_TEXT_LABEL_H
#define REPORT_TEXT_LABEL_H

#include "options.h"
#include "rant.h"
#include "result/percentiles.h"

struct clock_rate;
struct result;
struct report;

struct label_time {
	const char *name, *direction;
	bool wire; /* else user space, or: */
	bool kernel; /* the kernel's time beside the timestamp */
	bool itself; /* with timestamps of the kernel it is the timestamp itself */
	const char *suffix, *place; /* of a kernel's time; NULL: those of its source */
};

struct label_role {
	const char *latency; /* column of the log */
	const char *breach; /* first words of the text about a breach */
	const char *done; /* unit of the rate per second */
	struct label_time time[TIMES];
};

/* Names by the source of a timestamp; a name never claims a better source. */
struct label_stamp {
	const char *suffix; /* of the name: T1_HW */
	const char *place;
	const char *option, *clock; /* NULL: a source that only other hosts have */
	const char *taken; /* description for the other host */
};

/* State of T3 of a reply: enum follow_up. */
struct label_follow_up {
	const char *flag; /* in the log */
	const char *name; /* of a row; unique, since scripts find rows by name; NULL: no row */
	const char *meaning; /* NULL: T3 is present */
	const char *json; /* JSON member of schema 1, if it differs from the name; else NULL */
};

/* Reason in JSON why a reflector did not answer. */
struct label_discard {
	uint8_t reason; /* enum packet_discard */
	const char *name;
};

#define LABEL_DISCARDS 3

/* The percentiles of reports and files, in ascending order; every list of percentiles uses these rows. */
struct label_percentile {
	const char *percent; /* "99.9": as printed */
	uint64_t numerator, denominator;
	bool rare; /* printed only if at least ten samples are above it */
};

extern const struct label_percentile label_percentiles[PERCENTILES];
extern const struct label_discard label_discards[LABEL_DISCARDS];
extern const struct label_role label_roles[]; /* by enum role */
extern const struct label_time label_kernel[][2]; /* KERNEL_RECEIVE, KERNEL_QUEUE, KERNEL_DRIVER; by enum role */
extern const struct label_stamp label_stamps[]; /* by enum source, HOST_SOURCES elements */
extern const struct label_follow_up label_follow_ups[FOLLOW_UPS];

/* Text from which json_name() makes the JSON member of a follow-up that has a row. */
static inline const char *label_follow_up_json(int i)
{
	return label_follow_ups[i].json ? label_follow_ups[i].json : label_follow_ups[i].name;
}

/* Time i of a sample of this role, 0 .. ALL_TIMES - 1. */
static inline const struct label_time *label_time(enum role role, int i)
{
	if (i >= KERNEL_RECEIVE)
		return &label_kernel[i < KERNEL_QUEUE ? 0 : 1 + (i - KERNEL_QUEUE) % 2][time_is_remote(i) ? ROLE_REFLECT :
										       role];
	return i < REMOTE ? &label_roles[role].time[i] : &label_roles[ROLE_REFLECT].time[i - REMOTE];
}

/* enum source of the timestamps at the host of time i: by the options for this host, by the replies for the other. */
int64_t label_source(const struct report *r, int i);

/* enum source of time i: of the timestamps of its host on the wire, of user space, or of the kernel's receive time. */
static inline int64_t label_source_of(const struct label_time *t, int64_t wire)
{
	return t->wire ? source_of_packets(wire, *t->direction == 't') : t->kernel ? SOURCE_KERNEL : SOURCE_USER;
}

/* True if the run takes this time of the kernel. */
static inline bool label_kernel_is_taken(const struct label_time *t, const struct options *o)
{
	return *t->direction == 't' ? options_queue_times(o) : options_kernel_times(o);
}

/* True if time i is a user-space time of a reflector whose timestamps are user-space times too, so that both are the
 * same. remote: enum source of the reflector's timestamps. */
bool label_reported_twice(enum role role, int64_t remote, int i);

/* True if the sample has time i, by the clock that its name says. False if the reflector reports that its user-space
 * times cannot be converted to the timebase of its timestamps, or if a user-space time replaced a timestamp. */
static inline bool label_has_time(enum role role, int64_t remote, const struct sample *s, int i)
{
	if (!time_is_remote(i) || !s->source[i])
		return s->source[i];
	if (!label_time(role, i)->wire)
		return !s->off_scale;
	return remote != SOURCE_HARDWARE || s->source[i] == SOURCE_HARDWARE;
}

/* Writes a name such as "T1_HW", at most 16 bytes; returns text. source: of the timestamps of that host. */
const char *label_name(char *text, size_t bytes, enum role role, int i, int64_t source);
const char *label_time_name(char *text, size_t bytes, const struct report *r, int i); /* source: label_source() */

/* Writes the formula, such as "RTT = T4_KERNEL - T1_KERNEL", at most 64 bytes. */
void label_latency(const struct options *o, char *text, size_t bytes);

/* Numbers as text, without a terminating NUL: each writes up to `end`, at most 20 bytes, and returns the begin. */
char *label_digits(char *end, uint64_t v, int least); /* at least `least` digits */
char *label_signed_digits(char *end, int64_t v);
char *label_time_digits(char *end, int64_t ns); /* seconds.nanoseconds, 21 bytes at most */

/* "20.0 % slow" or "5000 ppm fast", for a clock with a large frequency error; with its bound: " (+-0.1)". 48 bytes at
 * most. */
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
