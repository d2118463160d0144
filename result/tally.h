/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latencies of the last moments, for a thread that tells of them while the run goes on (hot: add). One thread adds,
 * one other takes, and neither waits for the other.
 */
#ifndef RESULT_TALLY_H
#define RESULT_TALLY_H

#include "rant.h"

#define TALLY_VALUES 65536 /* a power of two: for 100 ms at 655,000 samples per second */

/* All zeros to begin with, but for the memory. */
struct tally {
	int64_t *value; /* TALLY_VALUES of them, the caller's memory */

	/* Of the thread that adds. */
	_Alignas(64) uint64_t room; /* ready may grow so far: as last seen */
	counter left_out; /* values that came when it was full */
	_Atomic int64_t last_ns; /* CLOCK_MONOTONIC: of the last one; 0: there was none */
	_Atomic int64_t gap_ns; /* the longest from one to the next: raised here, reset by who takes */
	_Atomic uint64_t ready; /* so many were added, and may be read */

	/* Of the thread that takes. */
	_Alignas(64) _Atomic uint64_t taken; /* whose room is free */
};

/* Hot: the room that was given back since it was last seen. False: none. */
static inline bool tally_find_room(struct tally *t)
{
	/* What is read by the other thread is read before its room is given back. */
	t->room = atomic_load_explicit(&t->taken, memory_order_acquire) + TALLY_VALUES;
	return t->room != atomic_load_explicit(&t->ready, memory_order_relaxed);
}

/* Hot: when the last one came. now_ns: not 0. */
static inline void tally_note_time(struct tally *t, int64_t now_ns)
{
	const int64_t last_ns = atomic_load_explicit(&t->last_ns, memory_order_relaxed);

	if (now_ns - last_ns > atomic_load_explicit(&t->gap_ns, memory_order_relaxed) && last_ns)
		atomic_store_explicit(&t->gap_ns, now_ns - last_ns, memory_order_relaxed);
	atomic_store_explicit(&t->last_ns, now_ns, memory_order_relaxed);
}

/* Hot. now_ns: CLOCK_MONOTONIC, as it was last read. */
static inline void tally_add(struct tally *t, int64_t value_ns, int64_t now_ns)
{
	const uint64_t ready = atomic_load_explicit(&t->ready, memory_order_relaxed);

	tally_note_time(t, now_ns);
	if (ready == t->room && !tally_find_room(t)) {
		counter_add(&t->left_out, 1);
		return;
	}
	t->value[ready % TALLY_VALUES] = value_ns;
	atomic_store_explicit(&t->ready, ready + 1, memory_order_release);
}

/* By the other thread: copies up to `most` of the oldest, and gives their room back. Returns how many. */
size_t tally_take(struct tally *t, int64_t *to, size_t most);

/* By the other thread: the longest time from one value to the next that has ended since this was asked last, or from
 * the last one to now_ns; -1: there was no value yet. */
int64_t tally_take_gap(struct tally *t, int64_t now_ns);

#endif
