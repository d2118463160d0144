/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rates, steps and standstills of each clock, found from successive readings. For clock.c only. */
#ifndef HOST_CLOCK_CLOCK_TRACK_H
#define HOST_CLOCK_CLOCK_TRACK_H

#include "host/clock/clock.h"

/* The two clocks of a relation, whose steps and frequency settings affect it. */
enum between { PHC_REAL, PHC_RAW, REAL_RAW };

/* Rate of an offset. If it is not measured, it comes from the frequency settings, with a wider bound. */
struct clock_slope {
	bool measured;
	double ppb, bound_ppb;
};

/* Adds a reading to the history. Fills its broken[] and odd_ns[]; counts steps, standstills and changes of the
 * frequency settings; begins a new segment where a clock was set or stood still. */
void clock_track_add(struct clock_watch *c, struct clock_reading *r);

/* Slope at a reading that is still in the history, by the readings of the two seconds before it. */
struct clock_slope clock_track_slope(const struct clock_watch *c, uint64_t number, enum between b);

/* Difference, at reading r, between the clock and its extrapolation from an earlier reading. The bound is the sum of
 * the uncertainties of both brackets, of the rate, and of changes of the rate since then; extra_ppb is added to it. */
struct clock_jump clock_track_jump(const struct clock_watch *c, uint64_t number, const struct clock_reading *r,
				   enum clock_which which, int64_t extra_ppb);

void clock_track_note_step(struct clock_watch *c, const struct clock_jump *j);

/* Limit of the change of rate between two readings: the sum over both clocks, which may change independently. */
int64_t clock_track_spread_ppb(const struct clock_reading *x, const struct clock_reading *y, enum between b);

/* Mean rate over the present segment, which began at the last step or standstill. */
struct clock_rate clock_track_segment(const struct clock_track *t);

#endif
