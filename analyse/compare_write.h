/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a comparison found, and how it is said. For analyse/compare*.c only. */
#ifndef ANALYSE_COMPARE_WRITE_H
#define ANALYSE_COMPARE_WRITE_H

#include "analyse/blocks.h"
#include "options.h"
#include "rant.h"

struct json;
struct outcome;

#define COMPARE_ROWS 16

struct compare_row {
	enum { COMPARE_PERCENTILE, COMPARE_MAX, COMPARE_LOSS, COMPARE_DECILE } kind;
	char name[16];
	uint64_t numerator, denominator; /* of a percentile */
	double a, b, difference; /* ns; of the loss shares of 1 */
	bool a_bound, b_bound; /* the true one is this or more */
	bool few; /* fewer than ten samples are above it, in one of the runs */
	bool decides; /* whether the run is worse */
	bool has_interval;
	double low, high; /* of the difference, 95 % */
	enum { COMPARE_IS_EQUAL, COMPARE_IS_BETTER, COMPARE_IS_WORSE } result;
};

struct compare {
	struct outcome *run[2];
	struct blocks blocks[2];
	struct tolerance tolerance;
	struct compare_row row[COMPARE_ROWS];
	unsigned rows;
	bool has_intervals, is_worse;
};

/* The text: a line for people first. */
void compare_write(FILE *out, const struct compare *c);

/* The same as an object; docs/compare.md has its members. */
void compare_write_json(struct json *j, const struct compare *c);

#endif
