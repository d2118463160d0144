/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For how long nothing answered (hot): the time that a count of lost probes hides. */
#ifndef RESULT_OUTAGE_H
#define RESULT_OUTAGE_H

#include "rant.h"

/*
 * An outage begins when the first probe of a row without an answer was sent, or refused by the kernel, and lasts until
 * the next answer to a probe in time, or the end of the run. So each lost probe stands for its timeout: of what
 * happened in it nothing is known. With many in flight a row is of probes that were sent one after the other, and one
 * that was not known as such before the next answer is an outage if it has OUTAGE_PROBES and took OUTAGE_LEAST_NS until
 * an answered probe was sent: what is lost by chance is none. All zeros to begin with; CLOCK_MONOTONIC.
 */
#define OUTAGE_PROBES 2
#define OUTAGE_LEAST_NS (10 * NS_PER_MS)

struct outages {
	uint64_t count;
	int64_t total_ns, longest_ns;
	int64_t longest_at_ns; /* when the longest one began */
	int64_t since_ns; /* the one that lasts began then; 0: none */
	/* Many in flight: lost probes, sent one after the other; when the first was; the row is an outage that lasts or
	 * is counted. */
	uint64_t row;
	int64_t row_ns;
	bool row_counts;
	/* For another thread to tell of while it lasts, when it is long: since_ns then, and the last sequence number
	 * that was answered. */
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

/* One that is over. */
static inline void outage_add(struct outages *o, int64_t began_ns, int64_t ended_ns)
{
	const int64_t ns = ended_ns - began_ns;

	o->count++;
	o->total_ns += ns;
	if (ns <= o->longest_ns)
		return;
	o->longest_ns = ns;
	o->longest_at_ns = began_ns;
}

/* The run ends in it. For the other thread it goes on: that the run is over is no answer. */
static inline void outage_last(struct outages *o, int64_t at_ns)
{
	const int64_t began_ns = o->since_ns;

	o->since_ns = 0;
	if (began_ns)
		outage_add(o, began_ns, at_ns);
}

/* Many in flight, each in the order of their sends: this one has no answer. */
static inline void outage_note_open(struct outages *o, int64_t sent_ns)
{
	if (!o->row++) {
		o->row_ns = sent_ns;
		o->row_counts = false;
	}
}

/* This one is lost. While nothing was answered since it was sent, the outage lasts. */
static inline void outage_note_lost(struct outages *o, int64_t sent_ns, int64_t answered_ns)
{
	outage_note_open(o, sent_ns);
	if (answered_ns >= sent_ns)
		return;
	outage_begin(o, o->row_ns);
	o->row_counts = true;
}

/* And this one is not. counts: it was not in the warm-up. */
static inline void outage_end_row(struct outages *o, int64_t sent_ns, bool counts)
{
	if (counts && o->row >= OUTAGE_PROBES && !o->row_counts && sent_ns - o->row_ns >= OUTAGE_LEAST_NS)
		outage_add(o, o->row_ns, sent_ns);
	o->row = 0;
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
