/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The percentile distribution of a histogram as HdrHistogram writes it
 * (AbstractHistogram.outputPercentileDistribution), which its plotters read: values in microseconds. */
#ifndef REPORT_EXPORT_HGRM_H
#define REPORT_EXPORT_HGRM_H

#include "rant.h"
#include "report/log/log_file.h"

struct histogram;

/* A line for each step, five in each half of the remaining share, up to the maximum. Values are the percentiles of the
 * report. Needs histogram_finish(). */
void hgrm_write(FILE *out, const struct histogram *h);

/* The same to the file of --hgrm, which is then closed. 0, or -errno after one line. */
int hgrm_write_file(struct log_file *file, const struct histogram *h);

#endif
