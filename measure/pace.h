/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When probes leave that are sent by the clock (hot): in slots on the scale of CLOCK_MONOTONIC, each counted from the
 * first one. So nothing drifts, whatever the time between two takes; and what could not be sent in its slot is missed,
 * and never sent behind the others.
 */
#ifndef MEASURE_PACE_H
#define MEASURE_PACE_H

#include "rant.h"

struct pace {
	/* Set by the caller. */
	int64_t interval_ns; /* from slot to slot, with `poisson` on average */
	/* each probe is due up to so much of the interval after its slot begins, equally likely */
	int64_t jitter_percent;
	bool poisson; /* from slot to slot exponentially distributed (RFC 2330 section 11.1.1) */
	uint64_t random; /* the seed, which stands for all that is drawn */

	int64_t slot_ns; /* of the slot after the next one */
	int64_t due_ns, after_ns; /* of the next slot, and of that one */
	counter slots, missed; /* that have begun, and that had no probe */
	int64_t slept_until_ns; /* as planned, the last time */
	int64_t margin_ns; /* see pace_sleep() */
};

/* The first slot begins now (CLOCK_MONOTONIC). */
void pace_begin(struct pace *p, int64_t now_ns);

/* Slots that had no probe are missed when the next one is due: also at the end of the run. */
void pace_pass(struct pace *p, int64_t now_ns);

/* Takes the slot that is due, p->due_ns <= now_ns, after pace_pass(). Returns when the probe should have left, at most
 * one slot before now_ns. */
int64_t pace_take(struct pace *p, int64_t now_ns);

/*
 * Sleeps until p->due_ns less a margin, but not beyond end_ns, and not for long, since a signal may have ended the run.
 * False: it is too late to sleep. The margin is by how much sleeping is late here, which it learns: 3/2 of that, and
 * 1/64 less each time that it was less. hybrid: false: no margin.
 */
bool pace_sleep(struct pace *p, bool hybrid, int64_t now_ns, int64_t end_ns);

#endif
