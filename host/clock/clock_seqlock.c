// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Seqlock for the relation of the PHC to CLOCK_REALTIME, by which the measuring thread converts its times to the PHC
 * (hot path), and the errors that were found only after a conversion.
 */
#include "host/clock/clock_inside.h"

#include "host/clock/clock_compare.h"

/* A copy of the content of a slot. */
struct reported {
	struct clock_relation relation;
	int64_t since_ns;
	double rate, rate_bound, growth[2];
	bool valid;
};

/* ---- Readers (hot path) ------------------------------------------------------------------------------------------ */

INLINE bool place(const struct reported *t, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns)
{
	int64_t d_ns, away_ns, offset_ns;

	if (!t->valid || realtime_ns < t->since_ns || __builtin_sub_overflow(realtime_ns, t->relation.at_ns, &d_ns) ||
	    d_ns > CLOCK_STALE_NS || d_ns < -CLOCK_STALE_NS)
		return false;
	away_ns = d_ns < 0 ? -d_ns : d_ns;
	*bound_ns = t->relation.bound_ns + (int64_t)(t->rate_bound * (double)away_ns) + 2;
	if (away_ns > CLOCK_FRESH_NS) {
		double more_ns = t->growth[d_ns > 0] * (double)(away_ns - CLOCK_FRESH_NS);

		if (more_ns > CLOCK_USELESS_NS)
			return false;
		*bound_ns += (int64_t)more_ns + 1;
	}
	return !__builtin_add_overflow(t->relation.offset_ns, (int64_t)(t->rate * (double)d_ns), &offset_ns) &&
	       !__builtin_add_overflow(realtime_ns, offset_ns, phc_ns);
}

/* False: the slot was written at the same time. */
INLINE bool slot_read(const struct clock_slot *s, struct reported *t)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);

	t->valid = atomic_load_explicit(&s->valid, memory_order_relaxed);
	t->relation.at_ns = atomic_load_explicit(&s->at_ns, memory_order_relaxed);
	t->relation.offset_ns = atomic_load_explicit(&s->offset_ns, memory_order_relaxed);
	t->relation.bound_ns = atomic_load_explicit(&s->bound_ns, memory_order_relaxed);
	t->since_ns = atomic_load_explicit(&s->since_ns, memory_order_relaxed);
	t->rate = atomic_load_explicit(&s->rate, memory_order_relaxed);
	t->rate_bound = atomic_load_explicit(&s->rate_bound, memory_order_relaxed);
	for (int i = 0; i < 2; i++)
		t->growth[i] = atomic_load_explicit(&s->growth[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return !(sequence & 1) && sequence == atomic_load_explicit(&s->sequence, memory_order_relaxed);
}

bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns)
{
	struct reported t;
	bool whole = false;

	/* A second try happens only if two readings, 0.1 s apart, were published during the first. */
	for (int i = 0; i < TRIES && !whole; i++)
		whole = slot_read(&c->slot[atomic_load_explicit(&c->current, memory_order_acquire)], &t);
	return whole && place(&t, realtime_ns, phc_ns, bound_ns);
}

/* ---- Writer ------------------------------------------------------------------------------------------------------ */

static void slot_write(struct clock_slot *s, const struct reported *t)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->valid, t->valid, memory_order_relaxed);
	atomic_store_explicit(&s->at_ns, t->relation.at_ns, memory_order_relaxed);
	atomic_store_explicit(&s->offset_ns, t->relation.offset_ns, memory_order_relaxed);
	atomic_store_explicit(&s->bound_ns, t->relation.bound_ns, memory_order_relaxed);
	atomic_store_explicit(&s->since_ns, t->since_ns, memory_order_relaxed);
	atomic_store_explicit(&s->rate, t->rate, memory_order_relaxed);
	atomic_store_explicit(&s->rate_bound, t->rate_bound, memory_order_relaxed);
	for (int i = 0; i < 2; i++)
		atomic_store_explicit(&s->growth[i], t->growth[i], memory_order_relaxed);
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

/* Updates the start of the present stretch of readings without a fault, and the range of the frequency settings in it.
 * A gap above CLOCK_FRESH_NS begins a new stretch, since settings may have changed unseen. */
static void follow_stretch(struct clock_watch *c, const struct clock_reading *r, bool broken)
{
	const bool anew = broken || !c->published_ns || r->began_ns - c->published_ns > CLOCK_FRESH_NS;

	if (anew)
		c->since_ns = r->phc_real.at_ns;
	c->published_ns = r->began_ns;
	for (int i = 0; i < CLOCKS; i++) {
		const struct clock_frequency *d = &r->frequency[i];
		int64_t least_ppb = d->known ? d->ppb - d->slew_ppb : -SLEW_PPB;
		int64_t most_ppb = d->known ? d->ppb + d->slew_ppb : SLEW_PPB;

		c->frequency_ppb[i][0] = anew ? least_ppb : smaller(c->frequency_ppb[i][0], least_ppb);
		c->frequency_ppb[i][1] = anew ? most_ppb : larger(c->frequency_ppb[i][1], most_ppb);
	}
}

#define LONG_BRACKET_SHIFT 6

static struct reported to_print(const struct clock_watch *c, const struct clock_reading *r, bool broken)
{
	struct clock_slope rate = clock_track_slope(c, c->readings - 1, PHC_REAL);
	const bool sick = broken || c->in_fault || !r->has_phc || r->phc_real.bound_ns >= ABSURD_NS ||
			  /* the PHC has never been observed to advance */
			  (!c->phc_granularity_ns && c->track[CLOCK_OF_NIC].readings < 2) ||
			  (c->packets && rate.bound_ppb > CLOCK_PACKETS_RATE_PPB);
	double frequencies_ppb = 0;
	struct reported t = {
		.relation = r->phc_real, .since_ns = c->since_ns, .rate = rate.ppb / NS_PER_S,
		.rate_bound = rate.bound_ppb / NS_PER_S, .valid = !sick && rate.ppb < NS_PER_S && rate.ppb > -NS_PER_S,
	};

	for (int i = 0; i < CLOCKS; i++)
		frequencies_ppb += (double)c->frequency_ppb[i][1] - (double)c->frequency_ppb[i][0];
	/* Before: a larger change would have been found as a step. After: the largest slew of the kernel. */
	t.growth[0] = (frequencies_ppb + 2 * TOLERANCE_PPB) / NS_PER_S;
	t.growth[1] = (frequencies_ppb + SLEW_PPB) / NS_PER_S;
	/* A step that a long bracket hides also distorts the rate: a bound of 0.6 ms was exceeded by 0.14 %. */
	t.relation.bound_ns = sum_of_bounds(t.relation.bound_ns, t.relation.bound_ns >> LONG_BRACKET_SHIFT);
	return t;
}

/* ---- Errors found after a conversion ----------------------------------------------------------------------------- */

static void note_step_error(struct clock_watch *c, int64_t mono_ns, int64_t by_ns)
{
	uint32_t n = c->step_errors_kept;

	while (n && c->step_error[n - 1].by_ns <= by_ns)
		n--;
	if (n == CLOCK_STEP_ERRORS_KEPT)
		by_ns = c->step_error[--n].by_ns;
	c->step_error[n] = (struct clock_step_error){ mono_ns, by_ns };
	c->step_errors_kept = n + 1;
	atomic_store_explicit(&c->step_error_ns, c->step_error[0].by_ns, memory_order_relaxed);
}

/* Error of the published relation, by another relation; 0: within the bounds of both. */
static int64_t off_by(const struct reported *t, const struct clock_relation *now)
{
	int64_t reported_ns, bound_ns, off_ns;

	if (!place(t, now->at_ns, &reported_ns, &bound_ns))
		return 0;
	off_ns = distance(difference(reported_ns, now->at_ns), now->offset_ns);
	return off_ns > sum_of_bounds(bound_ns, now->bound_ns) ? sum_of_bounds(off_ns, now->bound_ns) : 0;
}

/* Called after a new relation was published: checks the previous relation. If it was wrong, its error may have grown
 * since the reading, so the clocks are compared again. */
static void look_back(struct clock_watch *c, const struct reported *t, const struct clock_reading *r)
{
	struct clock_compared again;
	int64_t off_ns;

	if (!t->valid)
		return;
	off_ns = larger(c->found_ns, r->has_phc ? off_by(t, &r->phc_real) : 0);
	if (!off_ns)
		return;
	if (c->phc_fd >= 0 && clock_budget_take(&c->budget, COMPARE_LIMITED_READS) && !clock_compare_phc(c, &again))
		off_ns = larger(off_ns, off_by(t, &again.real));
	note_step_error(c, clock_read_ns(CLOCK_MONOTONIC), off_ns);
}

int64_t clock_step_error_since(const struct clock_watch *c, int64_t mono_ns)
{
	for (uint32_t i = 0; i < c->step_errors_kept; i++)
		if (c->step_error[i].mono_ns >= mono_ns)
			return c->step_error[i].by_ns;
	return 0;
}

/* Writes the slot that is not current, so that an interrupted writer never delays the measuring thread. */
void clock_seqlock_publish(struct clock_watch *c)
{
	const struct clock_reading *r = &c->history[(c->readings - 1) % CLOCK_HISTORY];
	uint32_t current = atomic_load_explicit(&c->current, memory_order_relaxed);
	bool broken = r->broken[CLOCK_OF_NIC] || r->broken[CLOCK_OF_SYSTEM];
	struct reported t, before;

	atomic_store_explicit(&c->doubts, c->found, memory_order_relaxed);
	if (!r->has_phc && !broken)
		return; /* the published relation expires by CLOCK_STALE_NS */
	if (r->has_phc)
		follow_stretch(c, r, broken || c->in_fault);
	else
		c->published_ns = 0;
	t = to_print(c, r, broken);
	slot_write(&c->slot[!current], &t);
	atomic_store_explicit(&c->current, !current, memory_order_release);
	if (slot_read(&c->slot[current], &before))
		look_back(c, &before, r);
}
