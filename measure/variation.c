// SPDX-License-Identifier: GPL-2.0-or-later
/* How the delays of consecutive probes differ (hot). */
#include "measure/variation.h"

#include "measure/exchange.h"

#define FINE (1U << VARIATION_FINE_BITS)

/* ---- Adding -------------------------------------------------------------------------------------------------------- */

INLINE void add(struct variation_figure *f, uint64_t ns)
{
	unsigned shift, i;

	if (ns >> VARIATION_BITS) {
		f->beyond++;
		return;
	}
	/* Below 2 * FINE all the digits count; of others the first ones. */
	shift = 63 - VARIATION_FINE_BITS - (unsigned)__builtin_clzll(ns | FINE);
	i = (shift << VARIATION_FINE_BITS) + (unsigned)(ns >> shift);
	if (++f->low[i] == 0)
		f->carry[i]++;
	if (ns < f->min_ns || !f->count)
		f->min_ns = ns;
	if (ns > f->max_ns)
		f->max_ns = ns;
	f->count++;
	f->sum += ns;
	f->sum_of_squares += (unsigned __int128)ns * ns;
}

INLINE void follow(struct variation_figure *f, int64_t delay_ns, uint32_t seq, uint8_t kind)
{
	int64_t by_ns;

	if (seq - f->seq == 1 && f->kind == kind) {
		if (__builtin_sub_overflow(delay_ns, f->delay_ns, &by_ns))
			f->beyond++;
		else
			add(f, by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns);
	}
	f->delay_ns = delay_ns;
	f->seq = seq;
	f->kind = kind;
}

void variation_count(struct variation_figure *f, uint64_t ns)
{
	add(f, ns);
}

void variation_add(struct variation_figure *f, int64_t delay_ns, uint32_t seq, uint8_t kind)
{
	follow(f, delay_ns, seq, kind);
}

/* Was a clock set, or told to be in doubt, since the last sample? A reply tells it of the sample before too, so that the sample after one
 * at which it was seen is disturbed as well. */
INLINE bool is_disturbed(struct exchange *x)
{
	struct variation *v = &x->variation;
	const uint64_t doubted = counter_get(&x->account.doubted);
	const bool now = doubted != v->doubted || x->set_ns > v->set_ns, before = v->disturbed;

	if (now) {
		v->doubted = doubted;
		v->set_ns = x->set_ns;
	}
	v->disturbed = now;
	return now || before;
}

/* Times that broke a rule are no longer in the sample; nothing holds them against each other without a peer. T2 and T3 that are of
 * different kinds are no response. */
INLINE void note_there(struct exchange *x, const struct sample *s)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	struct variation_figure *forward = &x->variation.of[VARIATION_FORWARD], *backward = &x->variation.of[VARIATION_BACKWARD];
	int64_t delay_ns;

	if (is_disturbed(x)) {
		x->variation.left_out += s->source[t2] != SOURCE_NONE;
		return;
	}
	if (s->source[t2] && !__builtin_sub_overflow(s->time_ns[t2], s->time_ns[x->from], &delay_ns))
		follow(forward, delay_ns, s->seq, s->source[t2]);
	if (s->source[t3] && !__builtin_sub_overflow(s->time_ns[x->to], s->time_ns[t3], &delay_ns))
		follow(backward, delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->stages[STAGE_RESPONSE], s, &delay_ns))
		follow(&x->variation.of[VARIATION_RESPONSE], delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->stages[STAGE_NETWORK], s, &delay_ns))
		follow(&x->variation.of[VARIATION_NETWORK], delay_ns, s->seq, s->source[t3]);
}

void variation_note(struct exchange *x, const struct sample *s)
{
	follow(&x->variation.of[VARIATION_RTT], s->latency_ns, s->seq, SOURCE_USER);
	if (x->peer)
		note_there(x, s);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

/* The middle of a bucket. */
static uint64_t value_of(unsigned i)
{
	const unsigned shift = i < FINE ? 0 : (i >> VARIATION_FINE_BITS) - 1;

	return ((uint64_t)(i - (shift << VARIATION_FINE_BITS)) << shift) + ((1ULL << shift) >> 1);
}

uint64_t variation_percentile(const struct variation_figure *f, uint64_t numerator, uint64_t denominator)
{
	const uint64_t rank = (f->count * numerator + denominator - 1) / denominator;
	uint64_t below = 0, ns;
	unsigned i;

	for (i = 0; i < VARIATION_BUCKETS - 1; i++) {
		below += f->carry[i] * 256ULL + f->low[i];
		if (below && below >= rank)
			break;
	}
	ns = value_of(i);
	return ns < f->min_ns ? f->min_ns : ns > f->max_ns ? f->max_ns : ns;
}
