/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interval of the difference of two runs: a moving-block bootstrap over their seconds (Kuensch 1989). Samples of the
 * same time are correlated, so stretches of time are drawn, not samples. See docs/compare.md.
 */
#ifndef ANALYSE_BOOTSTRAP_H
#define ANALYSE_BOOTSTRAP_H

#include "rant.h"

struct blocks;

#define BOOTSTRAP_LEAST 30 /* seconds; with fewer the interval is not known */
#define BOOTSTRAP_DRAWS 1000
#define BOOTSTRAP_METRICS 16 /* at most */

/* A percentile; denominator 0: the share of probes that were lost. */
struct bootstrap_metric {
	uint64_t numerator, denominator;
	double difference; /* exact difference of both runs: ns, or a share */
	double low, high; /* result: 95 % interval of it */
};

/* True if both runs are long enough for an interval. */
bool bootstrap_is_fit(const struct blocks *a, const struct blocks *b);

/* Sets the intervals of b minus a; bootstrap_is_fit() must be true. Deterministic: the random numbers are
 * splitmix64 from a fixed seed. 0 or -ENOMEM. */
int bootstrap_run(const struct blocks *a, const struct blocks *b, struct bootstrap_metric *metrics, unsigned n);

#endif
