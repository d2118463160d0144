/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How sure is the difference of two runs? A moving-block bootstrap over their seconds (Kuensch 1989): latencies of one
 * moment are alike, so whole stretches of time are drawn, not samples. docs/compare.md has it in words.
 */
#ifndef ANALYSE_BOOTSTRAP_H
#define ANALYSE_BOOTSTRAP_H

#include "rant.h"

struct blocks;

#define BOOTSTRAP_LEAST 30 /* seconds: with fewer there is no interval */
#define BOOTSTRAP_DRAWS 1000
#define BOOTSTRAP_FIGURES 16 /* at most */

/* A percentile; denominator 0: the share of probes that were lost. */
struct bootstrap_figure {
	uint64_t numerator, denominator;
	double difference; /* of the two runs, as it is known exactly: ns, or a share */
	double low, high; /* result: 95 % interval of it */
};

/* May there be an interval? */
bool bootstrap_is_fit(const struct blocks *a, const struct blocks *b);

/* Sets the intervals of b less a. Both are fit. Always the same for the same seconds: the random numbers are splitmix64
 * from a fixed seed. 0 or -ENOMEM. */
int bootstrap_run(const struct blocks *a, const struct blocks *b, struct bootstrap_figure *figures, unsigned n);

#endif
