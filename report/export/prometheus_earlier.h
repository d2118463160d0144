/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters in the file that an earlier run wrote by --prometheus, from which the counters of this run continue. For
 * prometheus.c only. */
#ifndef REPORT_EXPORT_PROMETHEUS_EARLIER_H
#define REPORT_EXPORT_PROMETHEUS_EARLIER_H

#include "rant.h"
#include "result/causes.h"

#define PROMETHEUS_BUCKETS 22 /* with the bucket +Inf */
#define PROMETHEUS_NAME_BYTES 128
#define PROMETHEUS_CAUSES "rant_breach_causes_total"

struct prometheus_earlier {
	unsigned counters;
	struct {
		char name[PROMETHEUS_NAME_BYTES];
		uint64_t count;
	} counter[64];

	/* By the label `cause` of PROMETHEUS_CAUSES. */
	bool has_causes;
	uint64_t cause[CAUSE_CLASSES];

	/* Histogram. */
	uint64_t upto[PROMETHEUS_BUCKETS]; /* samples up to the edge of the bucket */
	unsigned buckets; /* read so far */
	uint64_t samples;
	int64_t sum_ns;
};

/*
 * Reads the file of this path. labels: labels of this run, as text; a file with other labels belongs to another series
 * and is ignored. histogram: name of the histogram. 0, also if the file does not exist. -EINVAL: the file was not
 * written by rant, and *e is empty; *line is the number of the wrong line, or 0. Else -errno.
 */
int prometheus_earlier_read(struct prometheus_earlier *e, const char *path, const char *labels, const char *histogram,
			    unsigned *line);

/* Value of the counter of this name; 0 without such a counter. */
uint64_t prometheus_earlier_count(const struct prometheus_earlier *e, const char *name);

#endif
