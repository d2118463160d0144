// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of the stages of an exchange, by role. */
#include "result/stages.h"

#include <string.h>

void stages_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to)
{
	static const uint8_t times[2][2][2] = {
		[ROLE_EMIT] = { { EMIT_T1_USER, EMIT_T4_USER }, { EMIT_T1_WIRE, EMIT_T4_WIRE } },
		[ROLE_REFLECT] = { { REFLECT_T2_USER, REFLECT_T3_USER }, { REFLECT_T2_WIRE, REFLECT_T3_WIRE } },
	};

	*from = times[role][on_wire][0];
	*to = times[role][on_wire][1];
}

void stages_of_role(enum role role, bool on_wire, struct stage stages[STAGES])
{
	enum { T2_WIRE = REMOTE + REFLECT_T2_WIRE, T2_USER = REMOTE + REFLECT_T2_USER,
		T3_USER = REMOTE + REFLECT_T3_USER,
	       T3_WIRE = REMOTE + REFLECT_T3_WIRE };
	static const struct stage all[][STAGES] = {
		[ROLE_EMIT] = {
			[STAGE_APP_TO_WIRE] = { EMIT_T1_USER, EMIT_T1_WIRE, .bound = BOUND_LOCAL, .user = true },
			[STAGE_WIRE_TO_APP] = { EMIT_T4_WIRE, EMIT_T4_USER, .bound = BOUND_LOCAL, .user = true },
			[STAGE_WIRE_TO_KERNEL] = { EMIT_T4_WIRE, KERNEL_RECEIVE, .bound = BOUND_LOCAL, .user = true,
						   .kernel = true },
			[STAGE_KERNEL_TO_APP] = { KERNEL_RECEIVE, EMIT_T4_USER, .user = true, .kernel = true },
			[STAGE_RESPONSE] = { T2_WIRE, T3_WIRE, .peer = true },
			[STAGE_NETWORK] = { .less_from = T2_WIRE, .less_to = T3_WIRE, .inside = true, .peer = true },
			[STAGE_REMOTE_WIRE_TO_APP] = { T2_WIRE, T2_USER, .bound = BOUND_REMOTE, .inside = true,
						       .user = true,
						       .peer = true },
			[STAGE_REMOTE_WIRE_TO_KERNEL] = { T2_WIRE, REMOTE_KERNEL_RECEIVE, .bound = BOUND_REMOTE,
							  .user = true, .peer = true, .kernel = true },
			[STAGE_REMOTE_KERNEL_TO_APP] = { REMOTE_KERNEL_RECEIVE, T2_USER, .user = true, .peer = true,
							 .kernel = true },
			[STAGE_REMOTE_APP] = { T2_USER, T3_USER, .bound = BOUND_REMOTE, .inside = true, .user = true,
					       .peer = true },
			[STAGE_REMOTE_APP_TO_WIRE] = { T3_USER, T3_WIRE, .bound = BOUND_REMOTE, .inside = true,
						       .user = true,
						       .peer = true },
		},
		[ROLE_REFLECT] = {
			[STAGE_RECEIVE] = { REFLECT_T2_WIRE, REFLECT_T2_USER, .bound = BOUND_LOCAL, .inside = true,
					    .user = true },
			[STAGE_TRANSMIT] = { REFLECT_T3_USER, REFLECT_T3_WIRE, .bound = BOUND_LOCAL, .inside = true,
					     .user = true },
			[STAGE_APP] = { REFLECT_T2_USER, REFLECT_T3_USER, .bound = BOUND_LOCAL, .inside = true,
					.user = true },
			[STAGE_RECEIVE_KERNEL] = { REFLECT_T2_WIRE, KERNEL_RECEIVE, .bound = BOUND_LOCAL,
						   .user = true, .kernel = true },
			[STAGE_RECEIVE_APP] = { KERNEL_RECEIVE, REFLECT_T2_USER, .user = true, .kernel = true },
		},
	};

	memcpy(stages, all[role], sizeof(all[role]));
	for (int i = 0; i < STAGES; i++)
		if (stages[i].less_from == stages[i].less_to)
			stages[i].less_from = stages[i].less_to = stages[i].from;
	if (role == ROLE_EMIT)
		stages_latency_times(role, on_wire, &stages[STAGE_NETWORK].from, &stages[STAGE_NETWORK].to);
}

/* Poll gap of the host that received the packet of a receive stage; 0: another stage, or not known. */
static uint32_t poll_gap_of(const struct stage *stage, enum role role, const struct sample *s)
{
	const uint8_t wire = role == ROLE_EMIT ? EMIT_T4_WIRE : REFLECT_T2_WIRE;
	const uint8_t user = role == ROLE_EMIT ? EMIT_T4_USER : REFLECT_T2_USER;

	if (stage->less_from != stage->less_to)
		return 0;
	if (stage->to == user && (stage->from == wire || stage->kernel))
		return s->poll_gap_ns;
	return stage->to == REMOTE + REFLECT_T2_USER && (stage->from == REMOTE + REFLECT_T2_WIRE || stage->kernel) ?
	       s->remote_poll_gap_ns : 0;
}

bool stages_split(const struct stage *stage, enum role role, const struct sample *s, int64_t *unpolled_ns,
		  int64_t *late_ns)
{
	const uint32_t gap_ns = poll_gap_of(stage, role, s);
	int64_t value_ns;

	if (!gap_ns || !stages_value(stage, s, &value_ns) || value_ns < 0)
		return false;
	*unpolled_ns = gap_ns == UINT32_MAX || gap_ns > value_ns ? value_ns : gap_ns;
	*late_ns = value_ns - *unpolled_ns;
	return true;
}
