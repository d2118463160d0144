/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Consistency rules for the times of a sample (hot); docs/clocks.md describes them. Checked on every sample
 * before it is recorded, when all its times have arrived. Times that break a rule are removed from the
 * sample and counted, and the first cases are kept for the report.
 */
#ifndef MEASURE_RULES_H
#define MEASURE_RULES_H

#include "measure/exchange.h"
#include "result/rules.h"

/* Counts a broken rule, keeps it if it is among the first, and removes the times. */
void rules_note_broken(struct exchange *x, struct sample *s, unsigned rule, unsigned out, int64_t by_ns);

/* Errors of T1 and of the reflector's T3 which a kernel took, and which were placed on the scale of the NIC that took
 * the receive time; 0: not placed. */
INLINE int64_t rules_t1_error_ns(const struct flight *f)
{
	return f->sample.source[EMIT_T1_WIRE] == SOURCE_KERNEL && f->sample.source[EMIT_T4_WIRE] == SOURCE_HARDWARE ?
		       f->bound_ns[BOUND_LOCAL] : 0;
}

INLINE int64_t rules_t3_error_ns(const struct flight *f)
{
	const uint8_t *remote = f->sample.source + REMOTE;

	return remote[REFLECT_T3_WIRE] == SOURCE_KERNEL && remote[REFLECT_T2_WIRE] == SOURCE_HARDWARE ?
		       f->bound_ns[BOUND_REMOTE] : 0;
}

/* True if the response of an emitter's sample fits into its round trip. Most do without these errors. */
INLINE bool rules_fits(const struct flight *f)
{
	return rules_is_response(&f->sample, 0) ||
	       rules_is_response(&f->sample, rules_t1_error_ns(f) + rules_t3_error_ns(f));
}

INLINE bool rules_is_broken(struct exchange *x, struct flight *f, unsigned i, const struct rule r)
{
	struct sample *s = &f->sample;
	const int64_t over_ns = s->time_ns[r.first] - s->time_ns[r.second];

	if (r.first == r.second || over_ns <= f->bound_ns[r.bound] || !s->source[r.first] || !s->source[r.second] ||
	    (r.bound == BOUND_REMOTE && !s->same_timebase) || (r.bound == BOUND_LOCAL && !x->same_timebase))
		return false;
	rules_note_broken(x, s, i, r.out, over_ns);
	return true;
}

INLINE void rules_check_order(struct exchange *x, struct flight *f, const bool emit)
{
	const struct rule *rules = rules_of_order[emit ? ROLE_EMIT : ROLE_REFLECT];
	struct sample *s = &f->sample;
	bool broken = false;

	/* The role is a constant, so the rules are constants too. */
#pragma GCC unroll 9
	for (unsigned i = 0; i < RULES_ALWAYS; i++)
		broken |= rules_is_broken(x, f, i, rules[i]);
	if (s->source[KERNEL_QUEUE] || s->source[KERNEL_DRIVER] || s->source[REMOTE_KERNEL_QUEUE] ||
	    s->source[REMOTE_KERNEL_DRIVER])
		for (unsigned i = RULES_ALWAYS; i < RULES_OF_ORDER; i++)
			broken |= rules_is_broken(x, f, i, rules[i]);
	if (broken)
		counter_add(&x->result.account.disordered, 1);
}

/* agrees: T1..T4 fit the offset of the clocks of both hosts; always true at a reflector. */
INLINE void rules_check(struct exchange *x, struct flight *f, bool agrees, const bool emit)
{
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_WIRE;
	struct sample *s = &f->sample;

	/* A negative round trip is not recorded: a local timestamp is wrong. */
	if (emit && s->source[t2] && s->latency_ns >= 0) {
		const bool is_response = !s->source[t3] || rules_fits(f);

		if (!is_response || !agrees) {
			rules_note_broken(x, s, is_response ? RULE_RELATION : RULE_RESPONSE, RULE_ALL_REMOTE,
					  s->time_ns[t3] - s->time_ns[t2]);
			s->follow_up = FOLLOW_UP_STEPPED;
		}
	}
	rules_check_order(x, f, emit);
}

#endif
