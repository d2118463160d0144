/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order that the times of a sample must have: data, by role. docs/clocks.md has it in words. */
#ifndef RESULT_RULES_H
#define RESULT_RULES_H

#include "rant.h"
#include "result/stages.h"

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

/* Is T3 of the reply, after T2, a part of the round trip? Stamps are taken late on arrival and early on departure,
 * which makes the response shorter, so it can be longer only by what they and the clocks' rates are off. */
INLINE bool rules_is_part(const struct sample *s, int64_t response_ns)
{
	return response_ns >= -RESPONSE_SLACK_NS &&
	       response_ns <= s->latency_ns + RESPONSE_SLACK_NS + (response_ns >> STEP_SLACK_SHIFT);
}

INLINE bool rules_is_response(const struct sample *s)
{
	return rules_is_part(s, s->time_ns[THERE + REFLECT_T3_WIRE] - s->time_ns[THERE + REFLECT_T2_WIRE]);
}

#define BROKEN_KEPT 16

/* A sample that broke a rule. */
struct broken_rule {
	uint32_t seq;
	uint8_t rule;
	int64_t by_ns; /* the first time is so much after the second; else the response */
};

#endif
