/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Outages (hot): periods without an answer, which a count of lost probes does not show. */
#ifndef RESULT_OUTAGE_H
#define RESULT_OUTAGE_H

#include "rant.h"

/*
 * An outage begins with the first unanswered probe of a series, when it was sent or refused by the kernel, and lasts
 * until the next answer within the timeout, or until the end of the run. So a single lost probe counts for its timeout,
 * because nothing is known about that time. With many probes in flight the series follows the send order. A series that
 * is detected only after the next answer is an outage if it has OUTAGE_PROBES and took OUTAGE_LEAST_NS until an
 * answered probe was sent, so that random loss is not an outage. Initially all zeros; times are CLOCK_MONOTONIC.
 */
#define OUTAGE_PROBES 2
#define OUTAGE_LEAST_NS (10 * NS_PER_MS)

struct outages {
	uint64_t count;
	int64_t total_ns, longest_ns;
	int64_t longest_at_ns; /* begin of the longest outage */
	int64_t since_ns; /* begin of the current outage; 0: none */
	/* With many probes in flight: */
	uint64_t row; /* consecutive lost probes, in the order of their sends */
	int64_t row_ns; /* send time of the first of these */
	bool row_counts; /* the series belongs to the current outage, or is counted already */
	/* Read by the thread that prints: */
	_Atomic int64_t long_since_ns; /* begin of a current outage that is long; 0: none */
	_Atomic uint32_t long_after; /* last sequence number answered before it */
};

static inline void outage_begin(struct outages *o, int64_t at_ns)
{
	if (!o->since_ns)
		o->since_ns = at_ns;
}

/* The current outage is long: publishes it to the thread that prints. */
static inline void outage_publish(struct outages *o, uint32_t after)
{
	atomic_store_explicit(&o->long_after, after, memory_order_relaxed);
	atomic_store_explicit(&o->long_since_ns, o->since_ns, memory_order_release);
}

/* Counts an outage that has ended. */
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

/* The run ends during an outage. long_since_ns stays, because the end of the run is not an answer. */
static inline void outage_last(struct outages *o, int64_t at_ns)
{
	const int64_t began_ns = o->since_ns;

	o->since_ns = 0;
	if (began_ns)
		outage_add(o, began_ns, at_ns);
}

/* Many in flight, in the order of their sends: this probe has no answer. */
static inline void outage_note_open(struct outages *o, int64_t sent_ns)
{
	if (!o->row++) {
		o->row_ns = sent_ns;
		o->row_counts = false;
	}
}

/* This probe is lost. It is in the current outage if no probe was answered after its send. */
static inline void outage_note_lost(struct outages *o, int64_t sent_ns, int64_t answered_ns)
{
	outage_note_open(o, sent_ns);
	if (answered_ns >= sent_ns)
		return;
	outage_begin(o, o->row_ns);
	o->row_counts = true;
}

/* This probe was answered. counts: it was sent after the warm-up. */
static inline void outage_end_row(struct outages *o, int64_t sent_ns, bool counts)
{
	if (counts && o->row >= OUTAGE_PROBES && !o->row_counts && sent_ns - o->row_ns >= OUTAGE_LEAST_NS)
		outage_add(o, o->row_ns, sent_ns);
	o->row = 0;
}

/* Ends the current outage by an answer. counts: the answer came after the warm-up. */
static inline void outage_end(struct outages *o, int64_t at_ns, bool counts)
{
	atomic_store_explicit(&o->long_since_ns, 0, memory_order_relaxed);
	if (!counts)
		o->since_ns = 0;
	outage_last(o, at_ns);
}

/* Share of a run of run_ns; at most 100. */
static inline double outage_percent(const struct outages *o, int64_t run_ns)
{
	if (!o->total_ns)
		return 0;
	return o->total_ns < run_ns ? 100.0 * (double)o->total_ns / (double)run_ns : 100;
}

#endif
