/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers for the files of host/clock/ only: arithmetic of times that saturates at 64 bits, since a driver or a packet
 * may contain any value; relations; mean rates.
 */
#ifndef HOST_CLOCK_CLOCK_INSIDE_H
#define HOST_CLOCK_CLOCK_INSIDE_H

#include "host/clock/clock.h"

#define TRIES 3 /* of an operation that fails while a clock is set, a driver is busy, or a slot is written */
#define TICK_NS 16 /* the slowest counter in use (82576); a stamp may hide its tick behind a finer fraction */
#define FREE_PPB 1000000 /* bound of the rate of a clock not yet measured: above the error of any quartz in use */
#define SLEW_PPB 500000 /* rate of adjtime(3), and the greatest frequency setting of adjtimex(2) */
#define TOLERANCE_PPB 50000 /* a larger change of rate without a change of the frequency setting is a step */
#define ABSURD_NS (INT64_MAX / 8) /* 36 years: a larger bound or change is invalid */

/* |a - b|, never negative. */
static inline int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return INT64_MAX;
	return d < 0 ? (d == INT64_MIN ? INT64_MAX : -d) : d;
}

static inline int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a > b ? INT64_MAX : INT64_MIN;
	return d;
}

static inline int64_t sum_of_bounds(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

/* Drift at a rate of ppb over a time, rounded up. */
static inline int64_t over(int64_t ns, int64_t ppb)
{
	double product = (double)ns * ((double)ppb / NS_PER_S);

	return product < 9e18 ? (int64_t)product + 1 : INT64_MAX;
}

static inline int64_t absolute(int64_t a)
{
	return distance(a, 0);
}

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* False: the clock cannot be read, or its time in ns exceeds 64 bits. */
static inline bool read_ns(clockid_t clock, int64_t *ns)
{
	struct timespec t;

	return !clock_gettime(clock, &t) && !__builtin_mul_overflow((int64_t)t.tv_sec, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)t.tv_nsec, ns);
}

/* ---- Relations -------------------------------------------------------------------------------------------------- */

/* Initial value of a relation that was not measured. */
static const struct clock_relation none = { .bound_ns = INT64_MAX };

static inline bool is_taken(const struct clock_relation *r)
{
	return r->bound_ns != INT64_MAX;
}

/* True if both relations can hold. Between them a system clock may be slewed by 1/8 of the time, the fastest slew. */
static inline bool agree(const struct clock_relation *a, const struct clock_relation *b)
{
	int64_t slack_ns = distance(a->at_ns, b->at_ns) / 8;

	return distance(a->offset_ns, b->offset_ns) <= sum_of_bounds(sum_of_bounds(a->bound_ns, b->bound_ns), slack_ns);
}

/* Error of a bracket of the PHC in addition to its width: the granularity of both clocks. */
static inline int64_t slack(const struct clock_watch *c)
{
	return c->system_granularity_ns + larger(c->phc_granularity_ns, TICK_NS);
}

/* ---- Readings ---------------------------------------------------------------------------------------------------- */

static inline const struct clock_reading *kept(const struct clock_watch *c, uint64_t number)
{
	return &c->history[number % CLOCK_HISTORY];
}

static inline uint64_t oldest_kept(const struct clock_watch *c)
{
	return c->readings > CLOCK_HISTORY ? c->readings - CLOCK_HISTORY : 0;
}

/* By how much a jump exceeds its bound. 0 or less: no step is proved. */
static inline int64_t excess(const struct clock_jump *j)
{
	return difference(absolute(j->size_ns), j->bound_ns);
}

/* ---- Mean rates ------------------------------------------------------------------------------------------------- */

/* Width of a bracket for a clock with this rate: during the bracket the clock moves by ppb of the width in addition. */
static inline double widened(int64_t bound_ns, double ppb)
{
	return (double)bound_ns * (1 + (ppb < 0 ? -ppb : ppb) / NS_PER_S);
}

/* Mean rate between two relations; y is the later relation. */
static inline struct clock_rate rate_of(const struct clock_relation *x, const struct clock_relation *y)
{
	struct clock_rate r = { .over_ns = difference(y->at_ns, x->at_ns) };
	double dt_s = (double)r.over_ns / NS_PER_S;

	if (r.over_ns <= 0)
		return (struct clock_rate){ 0 };
	r.measured = true;
	r.ppb = (double)difference(y->offset_ns, x->offset_ns) / dt_s;
	r.bound_ppb = widened(sum_of_bounds(x->bound_ns, y->bound_ns), r.ppb) / dt_s;
	r.known = r.ppb > r.bound_ppb || -r.ppb > r.bound_ppb;
	return r;
}

static inline struct clock_rate better(struct clock_rate a, struct clock_rate b)
{
	return b.measured && (!a.measured || b.bound_ppb < a.bound_ppb) ? b : a;
}

/* ---- clock_track.c ----------------------------------------------------------------------------------------------- */

/* Rates, steps and standstills of each clock, found from successive readings. */

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

/* ---- clock_fault.c ----------------------------------------------------------------------------------------------- */

/* Standstills and frequency errors of the PHC, and the steps that they explain. The queries are in clock.h. */

/* To be called before a reading with the PHC, other than the first, is added. True: the PHC stands, or stood at the
 * previous reading, which explains its offset; any remainder was counted as a step. */
bool clock_fault_stands(struct clock_watch *c, struct clock_reading *r);

/* To be called before a reading that found a step is added. True: a frequency error explains this step and the step of
 * the previous reading; both steps are taken back, and the two readings belong together. */
bool clock_fault_is_a_rate(struct clock_watch *c, struct clock_reading *r);

/* To be called after a reading was added: searches for a frequency error of the PHC. */
void clock_fault_look(struct clock_watch *c);

/* ---- clock_seqlock.c --------------------------------------------------------------------------------------------- */

/* The seqlock that publishes the clock relation to the measuring thread; the readers are in clock.h. To be called after
 * a reading was added: publishes the new relation, and records the error of the previous. */
void clock_seqlock_publish(struct clock_watch *c);

#endif
