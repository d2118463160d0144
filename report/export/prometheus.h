/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --prometheus writes for the textfile collector of node_exporter, in the text format 0.0.4: the counts of the
 * accounts, a histogram with fixed buckets, and the verdict. docs/json.md has their names. */
#ifndef REPORT_EXPORT_PROMETHEUS_H
#define REPORT_EXPORT_PROMETHEUS_H

#include "report/log/log_file.h"
#include "result/tally.h"

#define PROMETHEUS_PERIOD_NS (10 * NS_PER_S)
#define PROMETHEUS_BUCKETS 22 /* with the one that has all */

struct histogram;
struct report;

struct prometheus {
	const struct report *report;
	const struct tally *tally;
	struct log_file file; /* open only while it is written */
	bool is_broken; /* it could not be, which was said */
	bool no_accounts; /* nothing is known but of the recorded samples: all else is left out */
	uint64_t bucket[PROMETHEUS_BUCKETS]; /* samples that are in this one and in none before it */
	uint64_t samples;
	int64_t sum_ns, next_ns; /* CLOCK_MONOTONIC: when it is to be written again */
};

/* Checks that the file of the report's options can be written; `tally` stays the caller's. 0, or -errno after one
 * line. */
int prometheus_open(struct prometheus *p, const struct report *r, const struct tally *tally);

/* Beside the run: latencies. */
void prometheus_add(struct prometheus *p, const int64_t *value_ns, size_t n);

/* Instead: a finished histogram. What it has not kept one by one is in none of the buckets. */
void prometheus_take(struct prometheus *p, const struct histogram *h);

/* Beside the run: replaces the file when it is time to. */
void prometheus_look(struct prometheus *p);

/* After the run, with the verdict. 0, or -errno: a line has said so, now or before. */
int prometheus_end(struct prometheus *p);

#endif
