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
			[STAGE_RESPONSE] = { T2_WIRE, T3_WIRE, .peer = true },
			[STAGE_NETWORK] = { .less_from = T2_WIRE, .less_to = T3_WIRE, .inside = true, .peer = true },
			[STAGE_REMOTE_WIRE_TO_APP] = { T2_WIRE, T2_USER, .bound = BOUND_REMOTE, .inside = true,
						       .user = true,
						       .peer = true },
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
		},
	};

	memcpy(stages, all[role], sizeof(all[role]));
	for (int i = 0; i < STAGES; i++)
		if (stages[i].less_from == stages[i].less_to)
			stages[i].less_from = stages[i].less_to = stages[i].from;
	if (role == ROLE_EMIT)
		stages_latency_times(role, on_wire, &stages[STAGE_NETWORK].from, &stages[STAGE_NETWORK].to);
}
