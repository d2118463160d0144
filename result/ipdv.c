// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of IPDV. */
#include "result/ipdv.h"

#include "histogram.h"

#include <string.h>

/* Middle of bucket i. */
static uint64_t value_of(unsigned i)
{
	const unsigned shift = i < IPDV_FINE ? 0 : (i >> IPDV_FINE_BITS) - 1;

	return ((uint64_t)(i - (shift << IPDV_FINE_BITS)) << shift) + ((1ULL << shift) >> 1);
}

uint64_t ipdv_percentile(const struct ipdv_metric *f, uint64_t numerator, uint64_t denominator)
{
	const uint64_t rank = (f->count * numerator + denominator - 1) / denominator;
	uint64_t below = 0, ns;
	unsigned i;

	for (i = 0; i < IPDV_BUCKETS - 1; i++) {
		below += f->carry[i] * 256ULL + f->low[i];
		if (below && below >= rank)
			break;
	}
	ns = value_of(i);
	return ns < f->min_ns ? f->min_ns : ns > f->max_ns ? f->max_ns : ns;
}

void ipdv_figures(struct ipdv_figures *to, const struct ipdv_metric *from)
{
	*to = (struct ipdv_figures){ .count = from->count, .beyond = from->beyond };
	if (!from->count)
		return;
	to->min_ns = from->min_ns;
	to->p50_ns = ipdv_percentile(from, 50, 100);
	to->p99_ns = ipdv_percentile(from, 99, 100);
	to->max_ns = from->max_ns;
	to->mean_ns = (double)from->sum / (double)from->count;
	to->deviation_ns = histogram_deviation(from->count, from->sum, from->sum_of_squares);
}

static void reported_result(struct reported_figures *to, const struct reported *from)
{
	for (int i = 0; i < REPORTED_DELAYS; i++) {
		ipdv_figures(&to->delay[i], &from->delay[i]);
		to->negative[i] = from->negative[i];
	}
	for (int i = 0; i < REPORTED_VARIATIONS; i++)
		ipdv_figures(&to->varies[i], &from->varies[i]);
	to->two_clocks = from->two_clocks;
	to->no_part = from->no_part;
	memcpy(to->bound_ns, from->bound_ns, sizeof(to->bound_ns));
}

void ipdv_result(struct result_ipdv *to, const struct ipdv *from)
{
	for (int i = 0; i < IPDV_METRICS; i++)
		ipdv_figures(&to->of[i], &from->of[i]);
	reported_result(&to->reported, &from->reported);
	to->left_out = from->left_out;
}
