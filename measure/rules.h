/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the times of a sample must obey (hot); docs/clocks.md has it in words. Checked on every sample that is to be recorded, when it
 * has all that it will get. Times that break a rule are taken out of it, counted, and the first ones are kept for the report.
 */
#ifndef MEASURE_RULES_H
#define MEASURE_RULES_H

#include "measure/exchange.h"

/* Of two times of a sample the first is not after the second, by more than the bound. */
struct rule {
	uint8_t first, second; /* index sample.time_ns; both the same: no rule */
	uint8_t bound; /* enum bound */
	uint8_t out; /* a bit for each time that is taken out */
};

#define RULES_OF_ORDER 5
#define RULE_USER_HERE (1U << EMIT_T1_USER | 1U << EMIT_T4_USER)
#define RULE_USER_REFLECT (1U << REFLECT_T2_USER | 1U << REFLECT_T3_USER)
#define RULE_USER_THERE (RULE_USER_REFLECT << THERE)
#define RULE_ALL_THERE (0xfU << THERE)

/* The rules of order of a role. */
static const struct rule rules_of_order[][RULES_OF_ORDER] = {
	[ROLE_EMIT] = {
		{ EMIT_T1_USER, EMIT_T1_WIRE, BOUND_HERE, RULE_USER_HERE },
		{ EMIT_T4_WIRE, EMIT_T4_USER, BOUND_HERE, RULE_USER_HERE },
		{ THERE + REFLECT_T2_WIRE, THERE + REFLECT_T2_USER, BOUND_THERE, RULE_USER_THERE },
		{ THERE + REFLECT_T2_USER, THERE + REFLECT_T3_USER, BOUND_NONE, RULE_USER_THERE },
		{ THERE + REFLECT_T3_USER, THERE + REFLECT_T3_WIRE, BOUND_THERE, RULE_USER_THERE },
	},
	[ROLE_REFLECT] = {
		{ REFLECT_T2_WIRE, REFLECT_T2_USER, BOUND_HERE, RULE_USER_REFLECT },
		{ REFLECT_T2_USER, REFLECT_T3_USER, BOUND_NONE, RULE_USER_REFLECT },
		{ REFLECT_T3_USER, REFLECT_T3_WIRE, BOUND_HERE, RULE_USER_REFLECT },
	},
};

/* Beside those of order: struct broken_rule.rule from here on. */
enum { RULE_RESPONSE = RULES_OF_ORDER, RULE_RELATION };

#define RESPONSE_SLACK_NS NS_PER_US
#define STEP_SLACK_SHIFT 9 /* 1/512 of the time: 2000 ppm, more than clocks are off or steered */

/* Is T3 of the reply, after T2, a part of the round trip? Stamps are taken late on arrival and early on departure, which makes the
 * response shorter, so it can be longer only by what they and the clocks' rates are off. */
INLINE bool rules_is_part(const struct sample *s, int64_t response_ns)
{
	return response_ns >= -RESPONSE_SLACK_NS &&
	       response_ns <= s->latency_ns + RESPONSE_SLACK_NS + (response_ns >> STEP_SLACK_SHIFT);
}

INLINE bool rules_is_response(const struct sample *s)
{
	return rules_is_part(s, s->time_ns[THERE + REFLECT_T3_WIRE] - s->time_ns[THERE + REFLECT_T2_WIRE]);
}

/* Counts a broken rule, keeps it if it is one of the first, and takes the times out. */
void rules_note_broken(struct exchange *x, struct sample *s, unsigned rule, unsigned out, int64_t by_ns);

INLINE void rules_check_order(struct exchange *x, struct flight *f, const bool emit)
{
	const struct rule *rules = rules_of_order[emit ? ROLE_EMIT : ROLE_REFLECT];
	struct sample *s = &f->sample;
	bool broken = false;

	/* With the role as a constant, so are the rules. */
#pragma GCC unroll 5
	for (unsigned i = 0; i < RULES_OF_ORDER; i++) {
		const struct rule r = rules[i];
		const int64_t over_ns = s->time_ns[r.first] - s->time_ns[r.second];

		if (r.first == r.second || over_ns <= f->bound_ns[r.bound] || !s->source[r.first] || !s->source[r.second] ||
		    (r.bound == BOUND_THERE && !s->one_scale) || (r.bound == BOUND_HERE && !x->one_scale))
			continue;
		rules_note_broken(x, s, i, r.out, over_ns);
		broken = true;
	}
	if (broken)
		counter_add(&x->account.disordered, 1);
}

/* agrees: T1..T4 fit to what the exchanges tell of the two hosts' clocks; a reflector's always do. */
INLINE void rules_check(struct exchange *x, struct flight *f, bool agrees, const bool emit)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	struct sample *s = &f->sample;

	/* A round trip of less than nothing is not recorded, and has a wrong stamp of ours. */
	if (emit && s->source[t2] && s->latency_ns >= 0) {
		const bool is_response = !s->source[t3] || rules_is_response(s);

		if (!is_response || !agrees) {
			rules_note_broken(x, s, is_response ? RULE_RELATION : RULE_RESPONSE, RULE_ALL_THERE,
					  s->time_ns[t3] - s->time_ns[t2]);
			s->follow_up = FOLLOW_UP_STEPPED;
		}
	}
	rules_check_order(x, f, emit);
}

#endif
