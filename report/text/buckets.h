/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a histogram. For report/ only. */
#ifndef REPORT_TEXT_BUCKETS_H
#define REPORT_TEXT_BUCKETS_H

#include "rant.h"

struct histogram;
struct options;

#define BUCKETS_ROWS_MOST 40 /* without --verbose */

/* True if the histogram needs more rows than that: one for each bucket of --bucket-size with a sample, and one for the
 * overflow. Needs count > 0. */
bool buckets_are_folded(const struct histogram *h, const struct options *o);

/* Each row has its limits, its samples and their share; on a terminal also a bar. A folded histogram has at most
 * BUCKETS_ROWS_MOST rows, the narrowest where most samples are; "..." replaces buckets without a sample, and it has
 * bars in a file too. columns: width of the terminal, 0: out is not a terminal. Needs count > 0. */
void buckets_write(FILE *out, const struct histogram *h, const struct options *o, int columns);

#endif
