/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stage of one packet in the trace: its interval, divided by milestones into sections with their owners. */
#ifndef EXPLAIN_WALK_H
#define EXPLAIN_WALK_H

#include "explain/evidence.h"
#include "explain/owner.h"

/* A section ends at a milestone. If a milestone is not in the trace, its time is in the next section. */
enum section {
	SECTION_INTERRUPT, /* NIC to the interrupt of its own vector, or to the raised NET_RX if that is not known */
	SECTION_NET_RX, /* interrupt to the softirq NET_RX, or to the thread of NAPI */
	SECTION_STACK, /* NET_RX to the packet in the stack */
	SECTION_SOCKET, /* the packet in the stack to the socket */
	SECTION_THREAD, /* the socket to the thread on its CPU */
	SECTION_APP, /* the thread on its CPU to the time in the program; and the program between receive and send */
	SECTION_QUEUE, /* send call to the queue of the interface */
	SECTION_DRIVER, /* queue to the driver */
	SECTION_WIRE, /* driver to the timestamp */
	SECTIONS
};

struct section_time {
	bool there;
	int cpu; /* -1: not known */
	int64_t ns;
	int packets; /* SECTION_STACK: other packets before the packet */
	int32_t irq; /* SECTION_INTERRUPT: the interrupt; -1: not known */
	uint32_t irq_name;
	struct owner_parts parts;
};

enum stage_kind { STAGE_IS_RECEIVE, STAGE_IS_APP, STAGE_IS_TRANSMIT };

/* A stage of this host, by the times between which it lies. */
struct stage_row {
	const char *id; /* as in --json, without _ns */
	const char *name;
	enum stage_kind kind;
	int from[2], to[2]; /* number of the time by role; 0: this role does not have the stage */
	enum stamp_kind from_kind, to_kind;
};

struct placed {
	int64_t from_ns, to_ns, bound_ns; /* by the trace clock */
};

/* The interval of a stage of a packet. False: a time is not known, or it cannot be placed. */
bool walk_place(const struct evidence *e, const struct stage_row *stage, const struct stamps *s, struct placed *i);

/* Divides the interval. The sections, and the owners of each, sum to it. */
void walk_stage(const struct evidence *e, const struct owners *o, const struct stage_row *stage,
		const struct stamps *s, const struct placed *i, struct section_time section[SECTIONS]);

#endif
