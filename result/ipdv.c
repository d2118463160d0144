// SPDX-License-Identifier: GPL-2.0-or-later
/* Percentiles of IPDV. */
#include "result/ipdv.h"

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
