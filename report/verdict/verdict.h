/* SPDX-License-Identifier: GPL-2.0-or-later */
/* May the numbers be trusted? */
#ifndef REPORT_VERDICT_VERDICT_H
#define REPORT_VERDICT_VERDICT_H

#include "rant.h"

struct report;

/* TRUSTED: no reason was found. DOUBTFUL: some numbers may be wrong or missing. VOID: the numbers do not
 * describe the intended measurement. */
enum verdict_level { VERDICT_TRUSTED, VERDICT_DOUBTFUL, VERDICT_VOID };

/* Counters of the measuring thread at one moment, from getrusage(2) with RUSAGE_THREAD. */
struct verdict_thread {
	bool known;
	uint64_t minor_faults, major_faults, switches;
	int64_t at_ns; /* CLOCK_MONOTONIC */
	int cpu; /* -1: not known */
};

/* Input of the verdict. The caller owns all objects. */
struct verdict_facts {
	const struct options *options;
	const struct result *result;
	const struct histogram *histogram;
	struct verdict_thread thread[2]; /* right before the loop, right after it */
	int lock_error; /* by memory_lock() */
	int64_t absent_bytes; /* by memory_absent_bytes(), after the loop and before anything is unlocked */
	bool balanced; /* by account_balances() */
};

#define VERDICT_TEXT_BYTES 192
#define VERDICT_REASONS 48
#define VERDICT_MORE_BYTES 32

struct verdict_reason {
	enum verdict_level level;
	const char *name, *why;
	char text[VERDICT_TEXT_BYTES]; /* the numbers */
	char more[VERDICT_MORE_BYTES]; /* follows the name; empty for most */
	uint64_t number, limit; /* measured value, and the largest value that is not a reason */
	const char *id; /* lower case words with hyphens, for programs */
	const char *unit; /* of number and limit; empty: none */
	const char *cure; /* remedy, in one clause */
};

struct verdict {
	enum verdict_level level; /* the worst of the reasons */
	unsigned reasons, unjudgeds;
	struct verdict_reason reason[VERDICT_REASONS];
	struct verdict_reason unjudged[VERDICT_REASONS]; /* applicable, but not readable; without numbers */
};

extern const char *const verdict_levels[]; /* by enum verdict_level: "trusted" and so on */

/* The level and the reasons, each with its numbers: "doubtful: stamps are missing (3 of 9)". No newline. */
void verdict_write(FILE *out, const struct verdict *v);

/* For the measuring thread: two system calls. */
void verdict_read_thread(struct verdict_thread *t);

/* Takes the facts that the report has, after the run, and checks that the counters add up. */
void verdict_take(struct verdict_facts *f, const struct report *r);

/* One thread at a time. */
void verdict_reach(struct verdict *v, const struct verdict_facts *f);

/* True if the exit status is 3. */
bool verdict_fails(const struct verdict *v, bool strict);

#endif
