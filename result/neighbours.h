/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last recorded samples (hot: add), for the evidence of a breach: they show the usual times in the same trace. */
#ifndef RESULT_NEIGHBOURS_H
#define RESULT_NEIGHBOURS_H

#include "rant.h"

#define NEIGHBOURS 1024 /* a power of two */
#define NEIGHBOURS_SAVED 1000

struct neighbours {
	struct sample *slot; /* NEIGHBOURS samples */
	uint64_t added;
	/* Not 0: nothing is added, and another thread may read. The state of the trace, which the loop changes to frozen
	 * and another thread back. */
	const _Atomic int *held;
};

/* Hot. Adds a recorded sample, in place of the oldest, unless the samples are held. */
static inline void neighbours_add(struct neighbours *n, const struct sample *s)
{
	/* Ordered after the reads of the thread that has changed it to 0. */
	if (atomic_load_explicit(n->held, memory_order_acquire))
		return;
	n->slot[n->added++ % NEIGHBOURS] = *s;
}

/* Number of kept samples. While the samples are held, or after the run. */
static inline unsigned neighbours_count(const struct neighbours *n)
{
	return n->added < NEIGHBOURS ? (unsigned)n->added : NEIGHBOURS;
}

/* Kept sample i, 0 is the oldest. */
static inline const struct sample *neighbours_at(const struct neighbours *n, unsigned i)
{
	return &n->slot[(n->added - neighbours_count(n) + i) % NEIGHBOURS];
}

#endif
