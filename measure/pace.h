/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedule of probes (hot): slots on CLOCK_MONOTONIC, counted from the first slot, so that the send
 * duration causes no drift. A probe that could not be sent in its slot is counted as missed and never sent
 * later.
 */
#ifndef MEASURE_PACE_H
#define MEASURE_PACE_H

#include "rant.h"

struct pace {
	/* Set by the caller. */
	int64_t interval_ns; /* interval between slots; with `poisson` the mean */
	/* each probe is scheduled uniformly within this fraction of the interval after its slot begins */
	int64_t jitter_percent;
	bool poisson; /* intervals are exponentially distributed (RFC 2330 section 11.1.1) */
	/* state of the random generator; initially the seed, which determines the whole schedule */
	uint64_t random;

	int64_t slot_ns; /* begin of the slot after the next */
	int64_t due_ns, after_ns; /* scheduled time of the next slot's probe, and of the slot after */
	counter slots, missed; /* slots begun; slots without a probe */
	int64_t slept_until_ns; /* scheduled end of the last sleep */
	int64_t margin_ns; /* sleep margin, see pace_sleep() */
};

/* Starts the first slot now (CLOCK_MONOTONIC). */
void pace_begin(struct pace *p, int64_t now_ns);

/* Counts slots without a probe as missed when the next slot is due; call it also at the end of the run. */
void pace_pass(struct pace *p, int64_t now_ns);

/* Takes the due slot (p->due_ns <= now_ns), after pace_pass(). Returns the scheduled send time, at most one
 * slot before now_ns. */
int64_t pace_take(struct pace *p, int64_t now_ns);

/*
 * Sleeps until p->due_ns minus a margin, not beyond end_ns, and in short sleeps, since a signal may have
 * ended the run. False: too late to sleep. The margin follows the wake-up latency of this host: 3/2 of a
 * larger latency, and 1/64 less after each smaller latency. hybrid false: no margin.
 */
bool pace_sleep(struct pace *p, bool hybrid, int64_t now_ns, int64_t end_ns);

#endif
