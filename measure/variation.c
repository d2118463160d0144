// SPDX-License-Identifier: GPL-2.0-or-later
/* Which samples the figures of result/variation.h are about (hot). */
#include "measure/variation.h"

#include "measure/exchange.h"
#include "measure/rules.h"

/* Was a clock set, or told to be in doubt, since the last sample? A reply tells it of the sample before too, so that
 * the sample after one at which it was seen is disturbed as well. */
INLINE bool is_disturbed(struct exchange *x)
{
	struct disturbance *d = &x->emit.disturbance;
	const uint64_t doubted = counter_get(&x->result.account.doubted);
	const bool now = doubted != d->doubted || x->set_ns > d->set_ns, before = d->lasts;

	if (now) {
		d->doubted = doubted;
		d->set_ns = x->set_ns;
	}
	d->lasts = now;
	return now || before;
}

/* Below 0 it may be by what is not known of the clocks. */
INLINE void tell(struct told *t, enum told_of of, int64_t delay_ns)
{
	if (delay_ns < 0)
		t->negative[of]++;
	else
		variation_count(&t->delay[of], (uint64_t)delay_ns);
}

/* What the reply itself says, where it is all that there is. */
static bool note_told(struct exchange *x, const struct sample *s)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_USER;
	struct told *t = &x->result.variation.told;
	int64_t response_ns, back_ns;

	if (!s->source[t2] || !s->source[t3])
		return false;
	if (!s->alike) {
		t->two_clocks++;
		return false;
	}
	if (__builtin_sub_overflow(s->time_ns[t3], s->time_ns[t2], &response_ns) || !rules_is_part(s, response_ns)) {
		t->no_part++;
		return false;
	}
	tell(t, TOLD_RESPONSE, response_ns);
	tell(t, TOLD_NETWORK, s->latency_ns - response_ns);
	variation_add(&t->varies[TOLD_RESPONSE], response_ns, s->seq, s->source[t2]);
	variation_add(&t->varies[TOLD_NETWORK], s->latency_ns - response_ns, s->seq, s->source[t2]);
	if (!__builtin_sub_overflow(s->time_ns[x->to], s->time_ns[t3], &back_ns))
		variation_add(&t->varies[TOLD_RECEIVE], back_ns, s->seq, s->source[t2]);
	return true;
}

void variation_tell_ways(struct exchange *x, const struct sample *s, const int64_t offset_ns[2], int64_t bound_ns)
{
	struct told *t = &x->result.variation.told;

	tell(t, TOLD_SEND, s->time_ns[THERE + REFLECT_T2_WIRE] - s->time_ns[x->from] - offset_ns[0]);
	tell(t, TOLD_RECEIVE, s->time_ns[x->to] - s->time_ns[THERE + REFLECT_T3_USER] + offset_ns[1]);
	t->bound_ns[1] = bound_ns;
	if (bound_ns > t->bound_ns[0])
		t->bound_ns[0] = bound_ns;
}

/* Times that broke a rule are no longer in the sample; nothing holds them against each other without a peer. T2 and T3
 * that are of different kinds are no response. */
INLINE bool note_there(struct exchange *x, const struct sample *s)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	struct variation_figure *forward = &x->result.variation.of[VARIATION_FORWARD],
					   *backward = &x->result.variation.of[VARIATION_BACKWARD];
	int64_t delay_ns;

	if (is_disturbed(x)) {
		x->result.variation.left_out += s->source[t2] != SOURCE_NONE;
		return false;
	}
	if (s->source[t2] && !__builtin_sub_overflow(s->time_ns[t2], s->time_ns[x->from], &delay_ns))
		variation_add(forward, delay_ns, s->seq, s->source[t2]);
	if (s->source[t3] && !__builtin_sub_overflow(s->time_ns[x->to], s->time_ns[t3], &delay_ns))
		variation_add(backward, delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->result.stages[STAGE_RESPONSE], s, &delay_ns))
		variation_add(&x->result.variation.of[VARIATION_RESPONSE], delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->result.stages[STAGE_NETWORK], s, &delay_ns))
		variation_add(&x->result.variation.of[VARIATION_NETWORK], delay_ns, s->seq, s->source[t3]);
	return !s->source[t3] && note_told(x, s);
}

bool variation_note(struct exchange *x, const struct sample *s)
{
	variation_add(&x->result.variation.of[VARIATION_RTT], s->latency_ns, s->seq, SOURCE_USER);
	return x->peer && note_there(x, s);
}

void variation_note_answer(struct exchange *x, const struct flight *f)
{
	struct session *s = &x->sessions->session[f->session];
	const int64_t by_ns = f->sample.latency_ns - s->response_ns; /* of what is recorded neither is negative */

	/* A stamp that comes so late may be that of a session that was forgotten, whose place is another's now. */
	if (x->now_ns - f->sent_ns >= SESSION_IDLE_NS)
		return;
	if (s->has_response && f->sample.seq - s->response_seq == 1)
		variation_count(&x->result.variation.of[VARIATION_RESPONSE],
				by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns);
	s->has_response = true;
	s->response_seq = f->sample.seq;
	s->response_ns = f->sample.latency_ns;
}
