// SPDX-License-Identifier: GPL-2.0-or-later
/* The percentile distribution of a histogram in the format of HdrHistogram. */
#include "report/export/hgrm.h"

#include "histogram.h"
#include "report/text/label.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define STEPS_OF_HALF 5 /* default of HdrHistogram */

/* Position in the samples in ascending order: samples in buckets, then samples that were kept exactly. */
struct cursor {
	const struct histogram *histogram;
	uint32_t bucket; /* next bucket */
	uint32_t kept; /* index of the next kept sample */
	int64_t value_ns;
	uint64_t upto; /* samples at or below the value */
};

/* Moves to the first value with at least `rank` samples at or below it. */
static void go_to(struct cursor *c, uint64_t rank)
{
	const struct histogram *h = c->histogram;
	const uint64_t by_bucket = h->count - h->kept;

	while (c->upto < rank && c->upto < by_bucket) {
		const int64_t edge_ns = histogram_bucket_ns(h, c->bucket);
		const uint64_t upto = c->upto + histogram_bucket(h, c->bucket);

		c->value_ns = c->bucket >= h->buckets && edge_ns < h->min_ns ? h->min_ns : edge_ns;
		c->upto = upto < by_bucket ? upto : by_bucket; /* the bucket may also count the smallest kept samples */
		c->bucket++;
	}
	while (c->kept < h->kept && (c->upto < rank || h->overflow[c->kept] == c->value_ns)) {
		c->value_ns = h->overflow[c->kept++];
		c->upto++;
	}
}

/* A step has (2 * STEPS_OF_HALF - i) / (2 * STEPS_OF_HALF * 2^half) of the samples above it. In integers,
 * because rounding errors of a sum of shares would exceed a sample at the end. */
static void write_step(FILE *out, struct cursor *c, unsigned half, unsigned i)
{
	const struct histogram *h = c->histogram;
	const unsigned tenths = 2 * STEPS_OF_HALF - i;
	const double left = (double)tenths / (2 * STEPS_OF_HALF) / (double)(1ULL << half);
	const uint64_t rank = h->count - (uint64_t)((unsigned __int128)h->count * tenths / (2 * STEPS_OF_HALF) >> half);

	go_to(c, rank ? rank : 1);
	fprintf(out, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", label_us(c->value_ns), 1 - left, c->upto, 1 / left);
}

static void write_steps(FILE *out, const struct histogram *h)
{
	struct cursor c = { .histogram = h };

	for (unsigned half = 0; half < 64 && c.upto < h->count; half++)
		for (unsigned i = 0; i < STEPS_OF_HALF && c.upto < h->count; i++)
			write_step(out, &c, half, i);
	fprintf(out, "%12.3f %2.12f %10" PRIu64 "\n", label_us(h->max_ns), 1.0, h->count);
}

void hgrm_write(FILE *out, const struct histogram *h)
{
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	if (!h->count)
		return;
	write_steps(out, h);
	fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", histogram_mean_ns(h) / NS_PER_US,
		histogram_deviation_ns(h) / NS_PER_US);
	fprintf(out, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n", label_us(h->max_ns), h->count);
}

int hgrm_write_file(struct log_file *file, const struct histogram *h)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int error;

	if (out)
		hgrm_write(out, h);
	if (!out || fclose(out)) {
		warnx("no memory for --hgrm");
		return -ENOMEM;
	}
	error = log_file_write(file, text, bytes);
	free(text);
	return error | log_file_finish(file);
}
