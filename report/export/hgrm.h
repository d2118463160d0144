/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The percentile distribution of a histogram as HdrHistogram writes it
 * (AbstractHistogram.outputPercentileDistribution), which its plotters read: values in microseconds. */
#ifndef REPORT_EXPORT_HGRM_H
#define REPORT_EXPORT_HGRM_H

#include "rant.h"
#include "report/log/log_file.h"

struct histogram;

/* A line for each step, five in each half of what is left, up to the largest. A value is the lower edge of its bucket,
 * as in the report. Steps at which only a bound is known are left out, and a comment says so. The histogram is
 * finished. */
void hgrm_write(FILE *out, const struct histogram *h);

/* The same into the file of --hgrm, which is finished then. 0, or -errno after one line. */
int hgrm_write_file(struct log_file *file, const struct histogram *h);

#endif
