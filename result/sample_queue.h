/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample queue (hot: add): latencies on their way to the thread that writes outputs during the run. One producer, one
 * consumer, and neither waits for the other.
 */
#ifndef RESULT_SAMPLE_QUEUE_H
#define RESULT_SAMPLE_QUEUE_H

#include "rant.h"

#define SAMPLE_QUEUE_VALUES 65536 /* a power of two: for 100 ms at 655,000 samples per second */

/* Initially all zeros, except for `value`. */
struct sample_queue {
	int64_t *value; /* SAMPLE_QUEUE_VALUES of them, memory of the caller */

	/* Written by the producer. */
	_Alignas(64) uint64_t space; /* limit of ready, as last read from `taken` */
	counter left_out; /* values dropped because the queue was full */
	_Atomic int64_t last_ns; /* time of the last value, CLOCK_MONOTONIC; 0: none yet */
	_Atomic int64_t gap_ns; /* longest time between two values: raised here, reset by the consumer */
	_Atomic uint64_t ready; /* number of values added so far */

	/* Written by the consumer. */
	_Alignas(64) _Atomic uint64_t taken; /* number of values consumed so far */
};

/* Hot: reads how far the consumer is. False: the queue is full. */
static inline bool sample_queue_find_space(struct sample_queue *t)
{
	/* Acquire: the consumer has read the values before they are overwritten. */
	t->space = atomic_load_explicit(&t->taken, memory_order_acquire) + SAMPLE_QUEUE_VALUES;
	return t->space != atomic_load_explicit(&t->ready, memory_order_relaxed);
}

/* Hot: records the time of a value. now_ns: not 0. */
static inline void sample_queue_note_time(struct sample_queue *t, int64_t now_ns)
{
	const int64_t last_ns = atomic_load_explicit(&t->last_ns, memory_order_relaxed);

	if (now_ns - last_ns > atomic_load_explicit(&t->gap_ns, memory_order_relaxed) && last_ns)
		atomic_store_explicit(&t->gap_ns, now_ns - last_ns, memory_order_relaxed);
	atomic_store_explicit(&t->last_ns, now_ns, memory_order_relaxed);
}

/* Hot. now_ns: last reading of CLOCK_MONOTONIC. */
static inline void sample_queue_add(struct sample_queue *t, int64_t value_ns, int64_t now_ns)
{
	const uint64_t ready = atomic_load_explicit(&t->ready, memory_order_relaxed);

	sample_queue_note_time(t, now_ns);
	if (ready == t->space && !sample_queue_find_space(t)) {
		counter_add(&t->left_out, 1);
		return;
	}
	t->value[ready % SAMPLE_QUEUE_VALUES] = value_ns;
	atomic_store_explicit(&t->ready, ready + 1, memory_order_release);
}

/* Consumer: moves up to `most` of the oldest values to `to`. Returns their number. */
size_t sample_queue_take(struct sample_queue *t, int64_t *to, size_t most);

/* Consumer: the longest time between two values since the last call, or from the last value to now_ns if that is
 * longer; -1: no value yet. */
int64_t sample_queue_take_gap(struct sample_queue *t, int64_t now_ns);

#endif
