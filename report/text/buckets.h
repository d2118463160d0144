/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a histogram. For report/ only. */
#ifndef REPORT_TEXT_BUCKETS_H
#define REPORT_TEXT_BUCKETS_H

#include "rant.h"

struct histogram;
struct options;

#define BUCKETS_ROWS_MOST 40 /* without --verbose */

/* Does it take more rows than that, one for each bucket of --bucket-size with a sample, and one for the overflow? Needs
 * count > 0. */
bool buckets_are_folded(const struct histogram *h, const struct options *o);

/* Each row has its limits, its samples and their share; on a terminal a bar. One that is folded has BUCKETS_ROWS_MOST
 * at most, the narrowest where most samples are; "..." stands for buckets without a sample, and it has bars in a file
 * too. columns: width of the terminal, 0 when out is none. Needs count > 0. */
void buckets_write(FILE *out, const struct histogram *h, const struct options *o, int columns);

#endif
