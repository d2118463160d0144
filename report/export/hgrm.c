// SPDX-License-Identifier: GPL-2.0-or-later
/* The percentile distribution of a histogram as HdrHistogram writes it. */
#include "report/export/hgrm.h"

#include "histogram.h"
#include "report/text/label.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define STEPS_OF_HALF 5 /* HdrHistogram's own default */

/* A place in the sorted samples. */
struct place {
	const struct histogram *histogram;
	uint64_t kept; /* of the overflow */
	uint32_t bucket; /* the next one */
	uint64_t overflow; /* the next one */
	int64_t value_ns;
	uint64_t upto; /* samples at or below the value */
};

/* To the first value with at least so many samples at or below it. False: it is not known. */
static bool go_to(struct place *p, uint64_t rank)
{
	const struct histogram *h = p->histogram;

	while (p->upto < rank && p->bucket < h->buckets) {
		p->value_ns = p->bucket * h->width_ns;
		p->upto += histogram_bucket(h, p->bucket++);
	}
	if (p->upto < rank && p->kept < h->overflows)
		return false;
	while (p->overflow < p->kept && (p->upto < rank || h->overflow[p->overflow] == p->value_ns)) {
		p->value_ns = h->overflow[p->overflow++];
		p->upto++;
	}
	return true;
}

/* Of the samples (2 * STEPS_OF_HALF - i) / (2 * STEPS_OF_HALF * 2^half) lie above a step: in whole numbers, for a share
 * that is added up is off by more than a sample in the end. False: what follows is not known. */
static bool write_step(FILE *out, struct place *p, unsigned half, unsigned i)
{
	const struct histogram *h = p->histogram;
	const unsigned tenths = 2 * STEPS_OF_HALF - i;
	const double left = (double)tenths / (2 * STEPS_OF_HALF) / (double)(1ULL << half);
	const uint64_t rank = h->count - (uint64_t)((unsigned __int128)h->count * tenths / (2 * STEPS_OF_HALF) >> half);

	if (!go_to(p, rank ? rank : 1)) {
		fprintf(out, "# %" PRIu64 " samples above %.3f were not kept one by one: no steps among them\n",
			h->overflows,
			label_us(h->limit_ns));
		return false;
	}
	fprintf(out, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", label_us(p->value_ns), 1 - left, p->upto, 1 / left);
	return true;
}

static void write_steps(FILE *out, const struct histogram *h)
{
	struct place p = { .histogram = h, .kept = h->overflows < h->overflow_capacity ? h->overflows :
			   h->overflow_capacity };
	bool known = true;

	for (unsigned half = 0; half < 64 && known && p.upto < h->count; half++)
		for (unsigned i = 0; i < STEPS_OF_HALF && known && p.upto < h->count; i++)
			known = write_step(out, &p, half, i);
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
