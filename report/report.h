/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All text for people. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "rant.h"
#include "tracefs.h"
#include "host/action.h"
#include "host/memory.h"
#include "host/nic.h"
#include "report/verdict.h"

struct report {
	const struct options *options;
	const struct exchange *exchange;
	const struct channel *channel;
	const struct histogram *histogram;
	const struct log *log;
	const struct trace *trace; /* NULL: none */
	const struct trace_saved *saved; /* the last one; path empty: none */
	const struct actions *actions;
	struct clock_watch *clocks; /* NULL: not watched */
	const struct clock_peer *peer; /* NULL: not looked at */
	const char *stages_why; /* why there are no stages although user-space times were asked for; NULL: there are */
	const struct pmc *pmc; /* NULL: none */
	const struct activity *activity; /* NULL: none */
	const struct activity_reading *activity_start, *activity_breach, *activity_end; /* breach: NULL without one */
	/* At the worst breach, and at the one before it (or the start); NULL: the first breach was the worst. */
	const struct activity_reading *activity_worst, *activity_before_worst;
	uint64_t strays;
	uint64_t breaches_missed; /* of struct watch */
	bool no_other_cpu; /* the housekeeping thread had to be left out */
	const struct verdict *verdict; /* NULL: not reached */
	const char *tracing; /* where the kernel is tracing; NULL: nowhere that can be seen */
};

/* "RTT = T4_KERNEL - T1_KERNEL" and the like. */
void report_latency_name(const struct options *o, char *text, size_t bytes);

#define REPORT_ENVIRONMENT_MAX (9 + ALL_TIMES + 1)
#define REPORT_ENVIRONMENT_BYTES (REPORT_ENVIRONMENT_MAX * 48)

/* A breach as variables for a command: RANT_ROLE, RANT_INTERFACE, RANT_NUMBER (of the breach, from 1), RANT_SEQ, RANT_LATENCY_NS,
 * RANT_THRESHOLD_NS, RANT_THRESHOLD_ON (rtt, response or network), RANT_RESPONSE_NS and RANT_NETWORK_NS where an emitter
 * knows them, and each time that there is, as RANT_T1_HW=1773883524.780127138. NULL ends environment[], which points
 * into text. */
void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX]);

/* What is about to run, for --verbose. */
void report_configuration(FILE *out, const struct report *r, const struct nic *n, const struct memory *histogram,
			  const struct memory *log);

/* The whole text report. columns: width of the terminal, 0 when out is none. */
void report_write(FILE *out, const struct report *r, int columns);

/* The log file: opened and checked before the run, given its name after it. */
struct log_file {
	const char *path;
	char temporary[PATH_MAX]; /* empty: path is written directly (a device or a pipe) */
	int fd;
};

int log_file_open(struct log_file *f, const char *path);

/* Writes the log and closes the file; -errno after one line, and then `path` is as it was before the run. */
int log_file_write(struct log_file *f, const struct report *r);

/* Removes what is unfinished. Safe in a signal handler, and after log_file_write(). */
void log_file_abandon(struct log_file *f);

#endif
