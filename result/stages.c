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

#define RECEIVE_PART(of) .user = true, .receive_part = true, .whole = (of)
#define TRANSMIT_PART(of) .user = true, .transmit_part = true, .whole = (of)

void stages_of_role(enum role role, bool on_wire, struct stage stages[STAGES])
{
	enum { T2_WIRE = REMOTE + REFLECT_T2_WIRE, T2_USER = REMOTE + REFLECT_T2_USER,
		T3_USER = REMOTE + REFLECT_T3_USER,
	       T3_WIRE = REMOTE + REFLECT_T3_WIRE };
	static const struct stage all[][STAGES] = {
		[ROLE_EMIT] = {
			[STAGE_APP_TO_WIRE] = { EMIT_T1_USER, EMIT_T1_WIRE, .bound = BOUND_LOCAL, .user = true },
			[STAGE_WIRE_TO_APP] = { EMIT_T4_WIRE, EMIT_T4_USER, .bound = BOUND_LOCAL, .user = true },
			[STAGE_APP_TO_QUEUE] = { EMIT_T1_USER, KERNEL_QUEUE, TRANSMIT_PART(STAGE_APP_TO_WIRE) },
			[STAGE_QUEUE_TO_DRIVER] = { KERNEL_QUEUE, KERNEL_DRIVER, TRANSMIT_PART(STAGE_APP_TO_WIRE) },
			[STAGE_DRIVER_TO_WIRE] = { KERNEL_DRIVER, EMIT_T1_WIRE, TRANSMIT_PART(STAGE_APP_TO_WIRE),
						   .bound = BOUND_LOCAL, .by_nic = true },
			[STAGE_WIRE_TO_KERNEL] = { EMIT_T4_WIRE, KERNEL_RECEIVE, RECEIVE_PART(STAGE_WIRE_TO_APP),
						   .bound = BOUND_LOCAL },
			[STAGE_KERNEL_TO_APP] = { KERNEL_RECEIVE, EMIT_T4_USER, RECEIVE_PART(STAGE_WIRE_TO_APP) },
			[STAGE_RESPONSE] = { T2_WIRE, T3_WIRE, .peer = true },
			[STAGE_NETWORK] = { .less_from = T2_WIRE, .less_to = T3_WIRE, .inside = true, .peer = true },
			[STAGE_REMOTE_WIRE_TO_APP] = { T2_WIRE, T2_USER, .bound = BOUND_REMOTE, .inside = true,
						       .user = true,
						       .peer = true },
			[STAGE_REMOTE_WIRE_TO_KERNEL] = { T2_WIRE, REMOTE_KERNEL_RECEIVE, .bound = BOUND_REMOTE,
							  .peer = true, RECEIVE_PART(STAGE_REMOTE_WIRE_TO_APP) },
			[STAGE_REMOTE_KERNEL_TO_APP] = { REMOTE_KERNEL_RECEIVE, T2_USER, .peer = true,
							 RECEIVE_PART(STAGE_REMOTE_WIRE_TO_APP) },
			[STAGE_REMOTE_APP] = { T2_USER, T3_USER, .bound = BOUND_REMOTE, .inside = true, .user = true,
					       .peer = true },
			[STAGE_REMOTE_APP_TO_WIRE] = { T3_USER, T3_WIRE, .bound = BOUND_REMOTE, .inside = true,
						       .user = true,
						       .peer = true },
			[STAGE_REMOTE_APP_TO_QUEUE] = { T3_USER, REMOTE_KERNEL_QUEUE, .peer = true,
							TRANSMIT_PART(STAGE_REMOTE_APP_TO_WIRE) },
			[STAGE_REMOTE_QUEUE_TO_DRIVER] = { REMOTE_KERNEL_QUEUE, REMOTE_KERNEL_DRIVER, .peer = true,
							   TRANSMIT_PART(STAGE_REMOTE_APP_TO_WIRE) },
			[STAGE_REMOTE_DRIVER_TO_WIRE] = { REMOTE_KERNEL_DRIVER, T3_WIRE, .bound = BOUND_REMOTE,
							  .peer = true, .by_nic = true,
							  TRANSMIT_PART(STAGE_REMOTE_APP_TO_WIRE) },
		},
		[ROLE_REFLECT] = {
			[STAGE_RECEIVE] = { REFLECT_T2_WIRE, REFLECT_T2_USER, .bound = BOUND_LOCAL, .inside = true,
					    .user = true },
			[STAGE_TRANSMIT] = { REFLECT_T3_USER, REFLECT_T3_WIRE, .bound = BOUND_LOCAL, .inside = true,
					     .user = true },
			[STAGE_APP] = { REFLECT_T2_USER, REFLECT_T3_USER, .bound = BOUND_LOCAL, .inside = true,
					.user = true },
			[STAGE_RECEIVE_KERNEL] = { REFLECT_T2_WIRE, KERNEL_RECEIVE, .bound = BOUND_LOCAL,
						   RECEIVE_PART(STAGE_RECEIVE) },
			[STAGE_RECEIVE_APP] = { KERNEL_RECEIVE, REFLECT_T2_USER, RECEIVE_PART(STAGE_RECEIVE) },
			[STAGE_TRANSMIT_APP] = { REFLECT_T3_USER, KERNEL_QUEUE, TRANSMIT_PART(STAGE_TRANSMIT) },
			[STAGE_TRANSMIT_QUEUE] = { KERNEL_QUEUE, KERNEL_DRIVER, TRANSMIT_PART(STAGE_TRANSMIT) },
			[STAGE_TRANSMIT_DRIVER] = { KERNEL_DRIVER, REFLECT_T3_WIRE, TRANSMIT_PART(STAGE_TRANSMIT),
						    .bound = BOUND_LOCAL, .by_nic = true },
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
	if (stage->to == user && (stage->from == wire || stage->receive_part))
		return s->poll_gap_ns;
	return stage->to == REMOTE + REFLECT_T2_USER && (stage->from == REMOTE + REFLECT_T2_WIRE || stage->receive_part) ?
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
