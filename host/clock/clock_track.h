/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What moved between readings: the rates, steps and standstills of each clock. For clock.c alone. */
#ifndef HOST_CLOCK_CLOCK_TRACK_H
#define HOST_CLOCK_CLOCK_TRACK_H

#include "host/clock/clock.h"

/* Between which clocks a relation is, and so which steps and dials are its own. */
enum between { PHC_REAL, PHC_RAW, REAL_RAW };

/* How fast an offset changes, in ns per second, that is ppb. Not measured: told by the dials, with a bound to match. */
struct clock_slope {
	bool measured;
	double ppb, bound_ppb;
};

/* Adds a reading to the history. Fills its broken[] and odd_ns[]; counts steps, standstills and changes of the dials;
 * parts the history where a clock was set or stood still. */
void clock_track_add(struct clock_watch *c, struct clock_reading *r);

/* The slope at a reading that is still in the history, by the two seconds before it. */
struct clock_slope clock_track_slope(const struct clock_watch *c, uint64_t number, enum between b);

/* How far the clock is, at r, from where its rate at a reading would have taken it. The bound is what brackets, that
 * rate and the changes of rate since then leave open; extra_ppb: and what is allowed beside these. */
struct clock_jump clock_track_jump(const struct clock_watch *c, uint64_t number, const struct clock_reading *r,
				   enum clock_which which, int64_t extra_ppb);

void clock_track_note_step(struct clock_watch *c, const struct clock_jump *j);

/* How far rates may have changed between two readings: the sum, for two clocks need not change at one moment. */
int64_t clock_track_spread_ppb(const struct clock_reading *x, const struct clock_reading *y, enum between b);

/* The mean rate over the present segment, that is since the last step or standstill. */
struct clock_rate clock_track_segment(const struct clock_track *t);

#endif
