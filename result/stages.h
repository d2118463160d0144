/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of an exchange, and which times make its latency: data, by role. */
#ifndef RESULT_STAGES_H
#define RESULT_STAGES_H

#include "rant.h"

/* The parts of an exchange: differences of times on one scale. */
enum stage_index {
	/* Emitter. */
	STAGE_APP_TO_WIRE, STAGE_WIRE_TO_APP, STAGE_RESPONSE, STAGE_NETWORK, STAGE_REMOTE_WIRE_TO_APP, STAGE_REMOTE_APP,
	STAGE_REMOTE_APP_TO_WIRE,
	STAGES,
	/* Reflector. */
	STAGE_RECEIVE = 0, STAGE_TRANSMIT, STAGE_APP,
};

/* How far off a stage may be: the errors of putting user-space times on the scale of the stamps, at each host. */
enum bound { BOUND_NONE, BOUND_HERE, BOUND_THERE, BOUNDS };

struct stage {
	uint8_t from, to, less_from, less_to; /* index sample.time_ns: (to - from) - (less_to - less_from) */
	uint8_t bound; /* enum bound */
	bool inside; /* it is a part of the latency that no other part is a part of; else beside it, or made of such */
	bool user; /* a time of user space is in it: only with --sw-timestamps */
	bool peer; /* the reflector's reply is needed for it */
};

/* Which times make the latency of a role, by where wire stamps come from; *from and *to index sample.time_ns. */
void stages_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to);

/* The stages of a role, STAGES of them; those beyond its last have from == to. on_wire: as for
 * stages_latency_times(). */
void stages_of_role(enum role role, bool on_wire, struct stage stages[STAGES]);

/* Hot. True: the times of the stage are there and comparable, and *value_ns is what it took. */
static inline bool stages_value(const struct stage *stage, const struct sample *s, int64_t *value_ns)
{
	const uint8_t *there = s->source;

	*value_ns = (s->time_ns[stage->to] - s->time_ns[stage->from]) -
		    (s->time_ns[stage->less_to] - s->time_ns[stage->less_from]);
	return there[stage->from] && there[stage->to] && there[stage->less_from] && there[stage->less_to] &&
	       (stage->bound != BOUND_THERE || s->one_scale);
}

#endif
