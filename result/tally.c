// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring of latencies with one writer and one reader: what the reader does. */
#include "result/tally.h"

size_t tally_take(struct tally *t, int64_t *to, size_t most)
{
	const uint64_t taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
	const uint64_t there = atomic_load_explicit(&t->ready, memory_order_acquire) - taken;
	const size_t n = there < most ? there : most;

	for (size_t i = 0; i < n; i++)
		to[i] = t->value[(taken + i) % TALLY_VALUES];
	atomic_store_explicit(&t->taken, taken + n, memory_order_release);
	return n;
}

int64_t tally_take_gap(struct tally *t, int64_t now_ns)
{
	const int64_t last_ns = atomic_load_explicit(&t->last_ns, memory_order_relaxed);
	const int64_t gap_ns = atomic_exchange_explicit(&t->gap_ns, 0, memory_order_relaxed);

	if (!last_ns)
		return -1;
	return now_ns - last_ns > gap_ns ? now_ns - last_ns : gap_ns;
}
