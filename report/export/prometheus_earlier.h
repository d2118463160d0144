/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the file that an earlier run wrote by --prometheus, so that those of this run go on from them. For
 * prometheus.c only. */
#ifndef REPORT_EXPORT_PROMETHEUS_EARLIER_H
#define REPORT_EXPORT_PROMETHEUS_EARLIER_H

#include "rant.h"

#define PROMETHEUS_BUCKETS 22 /* with the bucket +Inf */
#define PROMETHEUS_NAME_BYTES 128

struct prometheus_earlier {
	unsigned counters;
	struct {
		char name[PROMETHEUS_NAME_BYTES];
		uint64_t count;
	} counter[64];

	/* Of the histogram. */
	uint64_t upto[PROMETHEUS_BUCKETS]; /* samples up to the edge of the bucket */
	unsigned buckets; /* read so far */
	uint64_t samples;
	int64_t sum_ns;
};

/*
 * Reads the file of this path. labels: those of this run, as text; a file with others is of another series, and has
 * nothing for this one. histogram: its name. 0, also where there is no file. -EINVAL: the file is not what rant writes,
 * and *e is empty; *line is the number of the wrong line, or 0 where there is none. Else -errno.
 */
int prometheus_earlier_read(struct prometheus_earlier *e, const char *path, const char *labels, const char *histogram,
			    unsigned *line);

/* 0 where there is none of this name. */
uint64_t prometheus_earlier_count(const struct prometheus_earlier *e, const char *name);

#endif
