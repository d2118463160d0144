/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a run, for people and for scripts. */
#ifndef REPORT_TEXT_REPORT_H
#define REPORT_TEXT_REPORT_H

#include "rant.h"

struct memory;

/* Everything that the report needs. The caller owns all objects. A pointer is NULL only if its comment allows it. */
struct report {
	const struct options *options;
	const struct result *result;
	const struct verdict_facts *facts; /* NULL: not known */
	const struct histogram *histogram;
	bool samples_are_taken; /* another thread takes the samples during the run, for outputs */
	bool stdout_taken; /* a log or another output uses stdout */
	bool no_other_cpu; /* only the measuring CPU is available: no housekeeping thread */
	const struct verdict *verdict; /* NULL: not reached */
	const struct teeth *teeth; /* NULL: modes were not determined */
	const char *tracing; /* place where the kernel is tracing; NULL: none found */
};

/* Writes the complete report. columns: width of the terminal, 0: out is not a terminal. */
void report_write(FILE *out, const struct report *r, int columns);

/* The same below the headline and the verdict, of a live run or of one that was read. */
void report_write_sections(FILE *out, const struct report *r, int columns);

/* Width of the terminal; 0: `out` is not a terminal. */
int report_columns(FILE *out);

/* Writes the report to stdout, in the width of the terminal if it is one; to stderr if an output uses stdout. 0, or
 * -EIO after one line. */
int report_print(const struct report *r);

/* The period of the slow samples, where there is one. */
void report_write_rhythm(FILE *out, const struct report *r);

/* ---- configuration.c --------------------------------------------------------------------------------------------- */

/* Configuration of the run. */

/* For --verbose. log: memory of the log; NULL without a log. */
void report_configuration(FILE *out, const struct report *r, const struct memory *histogram, const struct memory *log);

/* ---- environment.c ----------------------------------------------------------------------------------------------- */

/* A breach as variables for a command. */

#define REPORT_ENVIRONMENT_MAX (9 + ALL_TIMES + 1)
#define REPORT_ENVIRONMENT_BYTES (REPORT_ENVIRONMENT_MAX * 48)

/*
 * RANT_ROLE, RANT_INTERFACE, RANT_NUMBER (number + 1: of the breach, from 1), RANT_SEQ, RANT_LATENCY_NS,
 * RANT_THRESHOLD_NS, RANT_THRESHOLD_ON (rtt, response or network), RANT_RESPONSE_NS and RANT_NETWORK_NS if an
 * emitter knows them, and each known time, as RANT_T1_HW=1773883524.780127138. NULL ends environment[], which points
 * into text. A variable that does not fit is omitted.
 */
void report_environment(const struct report *r, const struct sample *s, uint64_t number,
			char text[REPORT_ENVIRONMENT_BYTES], char *environment[REPORT_ENVIRONMENT_MAX]);

#endif
