// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects the samples of the IPDV statistics in result/ipdv.h (hot). */
#include "measure/ipdv.h"

#include "measure/exchange.h"
#include "measure/rules.h"

/* True if a clock step or fault was reported since the last sample. A reply also reports faults of the
 * sample before it, so the sample after a detection is disturbed as well. */
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

/* May be negative by the uncertainty of the clock offset. */
INLINE void print(struct reported *t, enum reported_of of, int64_t delay_ns)
{
	if (delay_ns < 0)
		t->negative[of]++;
	else
		ipdv_count(&t->delay[of], (uint64_t)delay_ns);
}

/* Values reported by the reply itself, if nothing else exists. */
static bool note_reported(struct exchange *x, const struct sample *s)
{
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_USER;
	struct reported *t = &x->ipdv.reported;
	int64_t response_ns, back_ns;

	if (!s->source[t2] || !s->source[t3])
		return false;
	if (!s->alike) {
		t->two_clocks++;
		return false;
	}
	if (__builtin_sub_overflow(s->time_ns[t3], s->time_ns[t2], &response_ns) || !rules_is_part(s, response_ns, 0)) {
		t->no_part++;
		return false;
	}
	print(t, REPORTED_RESPONSE, response_ns);
	print(t, REPORTED_NETWORK, s->latency_ns - response_ns);
	ipdv_add(&t->varies[REPORTED_RESPONSE], response_ns, s->seq, s->source[t2]);
	ipdv_add(&t->varies[REPORTED_NETWORK], s->latency_ns - response_ns, s->seq, s->source[t2]);
	if (!__builtin_sub_overflow(s->time_ns[x->to], s->time_ns[t3], &back_ns))
		ipdv_add(&t->varies[REPORTED_RECEIVE], back_ns, s->seq, s->source[t2]);
	return true;
}

void ipdv_print_directions(struct exchange *x, const struct sample *s, const int64_t offset_ns[2], int64_t bound_ns)
{
	struct reported *t = &x->ipdv.reported;

	print(t, REPORTED_SEND, s->time_ns[REMOTE + REFLECT_T2_WIRE] - s->time_ns[x->from] - offset_ns[0]);
	print(t, REPORTED_RECEIVE, s->time_ns[x->to] - s->time_ns[REMOTE + REFLECT_T3_USER] + offset_ns[1]);
	t->bound_ns[1] = bound_ns;
	if (bound_ns > t->bound_ns[0])
		t->bound_ns[0] = bound_ns;
}

/* Times that broke a rule are already removed; without a peer they cannot be checked. T2 and T3 of
 * different sources give no response time. */
INLINE bool note_remote(struct exchange *x, const struct sample *s)
{
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_WIRE;
	struct ipdv_metric *forward = &x->ipdv.of[IPDV_FORWARD],
					   *backward = &x->ipdv.of[IPDV_BACKWARD];
	int64_t delay_ns;

	if (is_disturbed(x)) {
		x->ipdv.left_out += s->source[t2] != SOURCE_NONE;
		return false;
	}
	if (s->source[t2] && !__builtin_sub_overflow(s->time_ns[t2], s->time_ns[x->from], &delay_ns))
		ipdv_add(forward, delay_ns, s->seq, s->source[t2]);
	if (s->source[t3] && !__builtin_sub_overflow(s->time_ns[x->to], s->time_ns[t3], &delay_ns))
		ipdv_add(backward, delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->result.stages[STAGE_RESPONSE], s, &delay_ns))
		ipdv_add(&x->ipdv.of[IPDV_RESPONSE], delay_ns, s->seq, s->source[t3]);
	if (stages_value(&x->result.stages[STAGE_NETWORK], s, &delay_ns))
		ipdv_add(&x->ipdv.of[IPDV_NETWORK], delay_ns, s->seq, s->source[t3]);
	return !s->source[t3] && note_reported(x, s);
}

bool ipdv_note(struct exchange *x, const struct sample *s)
{
	ipdv_add(&x->ipdv.of[IPDV_RTT], s->latency_ns, s->seq, SOURCE_USER);
	return x->peer && note_remote(x, s);
}

void ipdv_note_answer(struct exchange *x, const struct flight *f)
{
	struct session *s = &x->sessions->session[f->session];
	/* both are recorded, so neither is negative */
	const int64_t by_ns = f->sample.latency_ns - s->response_ns;

	/* A very late timestamp may belong to an evicted session whose entry has another sender now. */
	if (x->now_ns - f->sent_ns >= SESSION_IDLE_NS)
		return;
	if (s->has_response && f->sample.seq - s->response_seq == 1)
		ipdv_count(&x->ipdv.of[IPDV_RESPONSE],
			   by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns);
	s->has_response = true;
	s->response_seq = f->sample.seq;
	s->response_ns = f->sample.latency_ns;
}
