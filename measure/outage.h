/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long nothing answered (hot): the time that a count of lost probes hides. */
#ifndef MEASURE_OUTAGE_H
#define MEASURE_OUTAGE_H

#include "rant.h"

/*
 * An outage begins when the first probe of a row without an answer was sent, or refused by the kernel, and lasts until the next
 * answer to a probe in time, or the end of the run. So each lost probe stands for its timeout: of what happened in it nothing
 * is known. All zeros to begin with; CLOCK_MONOTONIC.
 */
struct outages {
	uint64_t count;
	int64_t total_ns, longest_ns;
	int64_t longest_at_ns; /* when the longest one began */
	int64_t since_ns; /* the one that lasts began then; 0: none */
	/* For another thread to tell of while it lasts, when it is long: since_ns then, and the last sequence number that was answered. */
	_Atomic int64_t long_since_ns; /* 0: none */
	_Atomic uint32_t long_after;
};

static inline void outage_begin(struct outages *o, int64_t at_ns)
{
	if (!o->since_ns)
		o->since_ns = at_ns;
}

/* The one that lasts is long. */
static inline void outage_publish(struct outages *o, uint32_t after)
{
	atomic_store_explicit(&o->long_after, after, memory_order_relaxed);
	atomic_store_explicit(&o->long_since_ns, o->since_ns, memory_order_release);
}

/* The run ends in it. For the other thread it goes on: that the run is over is no answer. */
static inline void outage_last(struct outages *o, int64_t at_ns)
{
	const int64_t began_ns = o->since_ns, ns = at_ns - began_ns;

	o->since_ns = 0;
	if (!began_ns)
		return;
	o->count++;
	o->total_ns += ns;
	if (ns <= o->longest_ns)
		return;
	o->longest_ns = ns;
	o->longest_at_ns = began_ns;
}

/* By an answer. counts: it was not in the warm-up. */
static inline void outage_end(struct outages *o, int64_t at_ns, bool counts)
{
	atomic_store_explicit(&o->long_since_ns, 0, memory_order_relaxed);
	if (!counts)
		o->since_ns = 0;
	outage_last(o, at_ns);
}

/* Of a run that took so long; at most 100. */
static inline double outage_percent(const struct outages *o, int64_t run_ns)
{
	if (!o->total_ns)
		return 0;
	return o->total_ns < run_ns ? 100.0 * (double)o->total_ns / (double)run_ns : 100;
}

#endif
