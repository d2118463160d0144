/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a run, for people and for scripts. */
#ifndef REPORT_TEXT_REPORT_H
#define REPORT_TEXT_REPORT_H

#include "rant.h"

/* Everything that the report needs. The caller owns all objects. A pointer is NULL only if its comment allows it. */
struct report {
	const struct options *options;
	const struct result *result;
	const struct verdict_facts *facts; /* NULL: not known */
	const struct histogram *histogram;
	uint64_t breaches_missed; /* breaches that the housekeeping thread could not read */
	bool samples_are_taken; /* another thread takes the samples during the run, for outputs */
	bool stdout_taken; /* a log or another output uses stdout */
	bool no_other_cpu; /* only the measuring CPU is available: no housekeeping thread */
	const struct verdict *verdict; /* NULL: not reached */
	const struct teeth *teeth; /* NULL: modes were not determined */
	const char *tracing; /* place where the kernel is tracing; NULL: none found */
};

/* Writes the complete report. columns: width of the terminal, 0: out is not a terminal. */
void report_write(FILE *out, const struct report *r, int columns);

/* Width of the terminal; 0: `out` is not a terminal. */
int report_columns(FILE *out);

/* Writes the report to stdout, in the width of the terminal if it is one; to stderr if an output uses stdout. 0, or
 * -EIO after one line. */
int report_print(const struct report *r);

/* The period of the slow samples, where there is one. */
void report_write_rhythm(FILE *out, const struct report *r);

#endif
