/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages of an exchange, and the timestamps of its latency, by role. */
#ifndef RESULT_STAGES_H
#define RESULT_STAGES_H

#include "rant.h"

/* A stage is a difference of timestamps on the same timebase. */
enum stage_index {
	/* Emitter. */
	STAGE_APP_TO_WIRE, STAGE_WIRE_TO_APP, STAGE_APP_TO_QUEUE, STAGE_QUEUE_TO_DRIVER, STAGE_DRIVER_TO_WIRE,
	STAGE_WIRE_TO_KERNEL, STAGE_KERNEL_TO_APP, STAGE_RESPONSE, STAGE_NETWORK,
	STAGE_REMOTE_WIRE_TO_APP, STAGE_REMOTE_WIRE_TO_KERNEL, STAGE_REMOTE_KERNEL_TO_APP, STAGE_REMOTE_APP,
	STAGE_REMOTE_APP_TO_WIRE,
	STAGE_REMOTE_APP_TO_QUEUE, STAGE_REMOTE_QUEUE_TO_DRIVER, STAGE_REMOTE_DRIVER_TO_WIRE,
	STAGES,
	/* Reflector. */
	STAGE_RECEIVE = 0, STAGE_TRANSMIT, STAGE_APP, STAGE_RECEIVE_KERNEL, STAGE_RECEIVE_APP,
	STAGE_TRANSMIT_APP, STAGE_TRANSMIT_QUEUE, STAGE_TRANSMIT_DRIVER,
};

/* Host whose conversion of user-space times to the timebase of the timestamps limits the accuracy of a stage. */
enum bound { BOUND_NONE, BOUND_LOCAL, BOUND_REMOTE, BOUNDS };

struct stage {
	uint8_t from, to, less_from, less_to; /* index sample.time_ns: (to - from) - (less_to - less_from) */
	uint8_t bound; /* enum bound */
	bool inside; /* within the latency and not divided further; else outside of it, or a sum of stages */
	bool user; /* has a timestamp of user space: only with --sw-timestamps */
	bool peer; /* needs the timestamps in the reply */
	/* a part, by the kernel's receive time or transmit times, of the stage `whole` (enum stage_index) */
	bool receive_part, transmit_part;
	uint8_t whole;
	bool by_nic; /* only where the NIC timestamps `to` */
};

/* Timestamps of the latency of a role: *to - *from, which index sample.time_ns. on_wire: by the NIC or the kernel. */
void stages_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to);

/* STAGES stages of a role; those after its last have from == to. on_wire: as for stages_latency_times(). */
void stages_of_role(enum role role, bool on_wire, struct stage stages[STAGES]);

/* Hot. True: the timestamps of the stage are known and comparable, and *value_ns is its duration. */
static inline bool stages_value(const struct stage *stage, const struct sample *s, int64_t *value_ns)
{
	const uint8_t *remote = s->source;

	*value_ns = (s->time_ns[stage->to] - s->time_ns[stage->from]) -
		    (s->time_ns[stage->less_to] - s->time_ns[stage->less_from]);
	return remote[stage->from] && remote[stage->to] && remote[stage->less_from] && remote[stage->less_to] &&
	       (!stage->by_nic || remote[stage->to] == SOURCE_HARDWARE) && (stage->bound != BOUND_REMOTE || s->same_timebase);
}

/* True for a part of another stage. */
static inline bool stages_is_part(const struct stage *stage)
{
	return stage->receive_part || stage->transmit_part;
}

/* Divides a receive stage, from a timestamp on the wire to user space: for at most *unpolled_ns the program did not poll
 * the socket; in the rest, *late_ns, it polled and the socket was empty, so the packet was late. False: the stage is not
 * another, or the poll gap of that host is not known. */
bool stages_split(const struct stage *stage, enum role role, const struct sample *s, int64_t *unpolled_ns,
		  int64_t *late_ns);

#endif
