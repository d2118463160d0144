/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of --prometheus for the textfile collector of node_exporter, in the text format 0.0.4: counters of packets, a
 * histogram with fixed buckets, the verdict, and gauges of the last run. docs/json.md has their names. */
#ifndef REPORT_EXPORT_PROMETHEUS_H
#define REPORT_EXPORT_PROMETHEUS_H

#include "report/export/prometheus_earlier.h"
#include "report/log/log_file.h"
#include "result/sample_queue.h"

#define PROMETHEUS_PERIOD_NS (10 * NS_PER_S)

struct histogram;
struct report;

struct prometheus {
	const struct report *report;
	const struct sample_queue *sample_queue;
	struct log_file file; /* open only while it is written */
	bool is_broken; /* writing failed, and a line on stderr has said so */
	bool no_accounts; /* of a log: only the recorded samples are known, and all other metrics are left out */
	uint64_t bucket[PROMETHEUS_BUCKETS]; /* samples above the edge of the bucket before, up to its own */
	uint64_t samples;
	int64_t sum_ns;
	int64_t next_ns; /* time of the next write, CLOCK_MONOTONIC */
	struct prometheus_earlier earlier; /* added to all counters */
};

/* Checks that the file of the report's options can be written; `sample_queue` stays the caller's. 0, or -errno after
 * one line. */
int prometheus_open(struct prometheus *p, const struct report *r, const struct sample_queue *sample_queue);

/* Before a run: counters continue from those of an existing file. If it cannot be used, prints one line, and they begin
 * at 0, which Prometheus takes for a restart. */
void prometheus_go_on(struct prometheus *p);

/* During the run: latencies. */
void prometheus_add(struct prometheus *p, const int64_t *value_ns, size_t n);

/* Instead: a finished histogram, by the lower edges of its buckets. */
void prometheus_take(struct prometheus *p, const struct histogram *h);

/* During the run: replaces the file every PROMETHEUS_PERIOD_NS. */
void prometheus_look(struct prometheus *p);

/* After the run, with the verdict. 0, or -errno after one line, now or before. */
int prometheus_end(struct prometheus *p);

#endif
