// SPDX-License-Identifier: GPL-2.0-or-later
/* Sample queue with one producer and one consumer: functions of the consumer. */
#include "result/sample_queue.h"

size_t sample_queue_take(struct sample_queue *t, int64_t *to, size_t most)
{
	const uint64_t taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
	const uint64_t remote = atomic_load_explicit(&t->ready, memory_order_acquire) - taken;
	const size_t n = remote < most ? remote : most;

	for (size_t i = 0; i < n; i++)
		to[i] = t->value[(taken + i) % SAMPLE_QUEUE_VALUES];
	atomic_store_explicit(&t->taken, taken + n, memory_order_release);
	return n;
}

int64_t sample_queue_take_gap(struct sample_queue *t, int64_t now_ns)
{
	const int64_t last_ns = atomic_load_explicit(&t->last_ns, memory_order_relaxed);
	const int64_t gap_ns = atomic_exchange_explicit(&t->gap_ns, 0, memory_order_relaxed);

	if (!last_ns)
		return -1;
	return now_ns - last_ns > gap_ns ? now_ns - last_ns : gap_ns;
}
