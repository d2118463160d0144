/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Required order of the timestamps of a sample, by role. docs/clocks.md explains it. */
#ifndef RESULT_RULES_H
#define RESULT_RULES_H

#include "rant.h"
#include "result/stages.h"

/* Timestamp `first` must not be later than `second` by more than the bound. */
struct rule {
	uint8_t first, second; /* index sample.time_ns; equal: no rule */
	uint8_t bound; /* enum bound */
	uint16_t out; /* bit mask of the timestamps that a broken rule removes */
};

#define RULES_OF_ORDER 17
#define RULES_ALWAYS 9 /* the others are of the kernel's transmit times */
#define RULE_USER_HERE (1U << EMIT_T1_USER | 1U << EMIT_T4_USER)
#define RULE_USER_REFLECT (1U << REFLECT_T2_USER | 1U << REFLECT_T3_USER)
#define RULE_USER_REMOTE (RULE_USER_REFLECT << REMOTE)
#define RULE_KERNEL_REMOTE (1U << REMOTE_KERNEL_RECEIVE)
#define RULE_QUEUE_REMOTE (1U << REMOTE_KERNEL_QUEUE)
#define RULE_DRIVER_REMOTE (1U << REMOTE_KERNEL_DRIVER)
#define RULE_ALL_REMOTE (0xfU << REMOTE | RULE_KERNEL_REMOTE | RULE_QUEUE_REMOTE | RULE_DRIVER_REMOTE)

/* The rules of order of a role. */
static const struct rule rules_of_order[][RULES_OF_ORDER] = {
	[ROLE_EMIT] = {
		{ EMIT_T1_USER, EMIT_T1_WIRE, BOUND_LOCAL, RULE_USER_HERE },
		{ EMIT_T4_WIRE, EMIT_T4_USER, BOUND_LOCAL, RULE_USER_HERE },
		{ REMOTE + REFLECT_T2_WIRE, REMOTE + REFLECT_T2_USER, BOUND_REMOTE, RULE_USER_REMOTE },
		{ REMOTE + REFLECT_T2_USER, REMOTE + REFLECT_T3_USER, BOUND_NONE, RULE_USER_REMOTE },
		{ REMOTE + REFLECT_T3_USER, REMOTE + REFLECT_T3_WIRE, BOUND_REMOTE, RULE_USER_REMOTE },
		{ EMIT_T4_WIRE, KERNEL_RECEIVE, BOUND_LOCAL, 1U << KERNEL_RECEIVE },
		{ KERNEL_RECEIVE, EMIT_T4_USER, BOUND_NONE, 1U << KERNEL_RECEIVE },
		{ REMOTE + REFLECT_T2_WIRE, REMOTE_KERNEL_RECEIVE, BOUND_REMOTE, RULE_KERNEL_REMOTE },
		{ REMOTE_KERNEL_RECEIVE, REMOTE + REFLECT_T2_USER, BOUND_NONE, RULE_KERNEL_REMOTE },
		{ EMIT_T1_USER, KERNEL_QUEUE, BOUND_NONE, 1U << KERNEL_QUEUE },
		{ KERNEL_QUEUE, KERNEL_DRIVER, BOUND_NONE, 1U << KERNEL_QUEUE | 1U << KERNEL_DRIVER },
		{ KERNEL_QUEUE, EMIT_T1_WIRE, BOUND_LOCAL, 1U << KERNEL_QUEUE },
		{ KERNEL_DRIVER, EMIT_T1_WIRE, BOUND_LOCAL, 1U << KERNEL_DRIVER },
		{ REMOTE + REFLECT_T3_USER, REMOTE_KERNEL_QUEUE, BOUND_NONE, RULE_QUEUE_REMOTE },
		{ REMOTE_KERNEL_QUEUE, REMOTE_KERNEL_DRIVER, BOUND_NONE, RULE_QUEUE_REMOTE | RULE_DRIVER_REMOTE },
		{ REMOTE_KERNEL_QUEUE, REMOTE + REFLECT_T3_WIRE, BOUND_REMOTE, RULE_QUEUE_REMOTE },
		{ REMOTE_KERNEL_DRIVER, REMOTE + REFLECT_T3_WIRE, BOUND_REMOTE, RULE_DRIVER_REMOTE },
	},
	[ROLE_REFLECT] = {
		{ REFLECT_T2_WIRE, REFLECT_T2_USER, BOUND_LOCAL, RULE_USER_REFLECT },
		{ REFLECT_T2_USER, REFLECT_T3_USER, BOUND_NONE, RULE_USER_REFLECT },
		{ REFLECT_T3_USER, REFLECT_T3_WIRE, BOUND_LOCAL, RULE_USER_REFLECT },
		{ REFLECT_T2_WIRE, KERNEL_RECEIVE, BOUND_LOCAL, 1U << KERNEL_RECEIVE },
		{ KERNEL_RECEIVE, REFLECT_T2_USER, BOUND_NONE, 1U << KERNEL_RECEIVE },
		[RULES_ALWAYS] = { REFLECT_T3_USER, KERNEL_QUEUE, BOUND_NONE, 1U << KERNEL_QUEUE },
		{ KERNEL_QUEUE, KERNEL_DRIVER, BOUND_NONE, 1U << KERNEL_QUEUE | 1U << KERNEL_DRIVER },
		{ KERNEL_QUEUE, REFLECT_T3_WIRE, BOUND_LOCAL, 1U << KERNEL_QUEUE },
		{ KERNEL_DRIVER, REFLECT_T3_WIRE, BOUND_LOCAL, 1U << KERNEL_DRIVER },
	},
};

/* Values of struct broken_rule.rule that are not an index of rules_of_order[]. */
enum { RULE_RESPONSE = RULES_OF_ORDER, RULE_RELATION };

#define RESPONSE_SLACK_NS NS_PER_US
#define STEP_SLACK_SHIFT 9 /* 1/512: 2000 ppm, more than the frequency error or steering of a clock */

/* True if T3 - T2 of the reply fits into the round trip. Timestamps are late on arrival and early on departure, which
 * shortens the response: it can exceed the round trip only by their error and by the frequency error of the clocks.
 * bound_ns: error of timestamps that were placed on the scale of another clock. */
INLINE bool rules_is_part(const struct sample *s, int64_t response_ns, int64_t bound_ns)
{
	return response_ns >= -RESPONSE_SLACK_NS - bound_ns &&
	       response_ns <= s->latency_ns + RESPONSE_SLACK_NS + bound_ns + (response_ns >> STEP_SLACK_SHIFT);
}

INLINE bool rules_is_response(const struct sample *s, int64_t bound_ns)
{
	return rules_is_part(s, s->time_ns[REMOTE + REFLECT_T3_WIRE] - s->time_ns[REMOTE + REFLECT_T2_WIRE],
			     bound_ns);
}

#define BROKEN_KEPT 16

/* A sample that broke a rule. */
struct broken_rule {
	uint32_t seq;
	uint8_t rule;
	int64_t by_ns; /* difference of the two timestamps, first - second; of other rules the response */
};

#endif
