/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of a comparison, as text and as JSON. For analyse/compare*.c only. */
#ifndef ANALYSE_COMPARE_WRITE_H
#define ANALYSE_COMPARE_WRITE_H

#include "analyse/blocks.h"
#include "analyse/runs.h"
#include "options.h"
#include "rant.h"

struct json;
struct outcome;

#define COMPARE_ROWS 16

/* EQUAL and BETTER are both "not worse"; BETTER is it by more than the tolerance. */
enum compare_result { COMPARE_IS_EQUAL, COMPARE_IS_BETTER, COMPARE_IS_WORSE, COMPARE_IS_UNDECIDED };

struct compare_row {
	enum { COMPARE_PERCENTILE, COMPARE_MAX, COMPARE_LOSS, COMPARE_DECILE } kind;
	char name[16];
	uint64_t numerator, denominator; /* of a percentile */
	double a, b, difference; /* ns; loss: shares of 1 */
	double allowed; /* the tolerance, in the same unit */
	bool a_bound, b_bound; /* the true value is this or more */
	bool few; /* fewer than ten samples are above it, in one of the runs */
	bool decides; /* counts for the result of the comparison */
	bool has_interval;
	double low, high; /* interval of the difference; 95 % for all rows that decide at the same time */
	enum compare_result result;
};

struct compare {
	struct outcome *run[2];
	struct blocks blocks[2];
	struct tolerance tolerance;
	struct compare_row row[COMPARE_ROWS];
	unsigned rows;
	bool has_intervals;
	enum compare_result result; /* worst of the rows that decide: worse, undecided, better, equal */
	char differences[RUNS_DIFFERENCES_BYTES]; /* with --anyway: settings that differ, see runs_differences() */
};

/* The text; its first line is the result in words. */
void compare_write(FILE *out, const struct compare *c);

/* The same as an object; docs/compare.md lists its members. */
void compare_write_json(struct json *j, const struct compare *c);

#endif
