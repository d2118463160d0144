/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --stamp receive: transmit timestamps of the kernel, placed on the scale of the NIC's clock, cost the bound of the
 * relation of the clocks; receive timestamps of the NIC avoid the delay from the NIC to the kernel, which those of
 * --stamp kernel include. Without the latter being larger, --stamp kernel is the better choice.
 */
#ifndef RESULT_PLACING_H
#define RESULT_PLACING_H

#include "rant.h"

#define PLACING_ENOUGH 100 /* samples */

/* Written by the loop, read by the housekeeping thread. */
struct placing {
	counter samples; /* with a receive time of the kernel on the scale of the NIC's clock */
	counter delay_ns; /* sum of the delays from the NIC to the kernel; negative ones are complements */
	_Atomic int64_t bound_ns; /* largest bound of a transmit timestamp */
	_Atomic bool refused; /* the run was ended for placing_is_worse() */
};

/* Hot. */
static inline void placing_note(struct placing *p, int64_t delay_ns, int64_t bound_ns)
{
	counter_add(&p->delay_ns, (uint64_t)delay_ns);
	if (bound_ns > atomic_load_explicit(&p->bound_ns, memory_order_relaxed))
		atomic_store_explicit(&p->bound_ns, bound_ns, memory_order_relaxed);
	counter_add(&p->samples, 1);
}

/* Mean delay from the NIC to the kernel; 0 without samples. */
static inline int64_t placing_delay_ns(const struct placing *p)
{
	const uint64_t n = counter_get(&p->samples);

	return n ? (int64_t)counter_get(&p->delay_ns) / (int64_t)n : 0;
}

/* True if the bound exceeds the delay that is avoided. False as well with fewer than `enough` samples. */
static inline bool placing_is_worse(const struct placing *p, uint64_t enough)
{
	return counter_get(&p->samples) >= enough && counter_get(&p->samples) &&
	       atomic_load_explicit(&p->bound_ns, memory_order_relaxed) > placing_delay_ns(p);
}

#endif
