/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cause of a breach: the interval of the late stage, divided by milestones into sections, and the owners of each
 * section; the same of ordinary packets in the same buffer; the excess of each owner.
 */
#ifndef EXPLAIN_CAUSE_H
#define EXPLAIN_CAUSE_H

#include "explain/evidence.h"
#include "explain/owner.h"

/* A section ends at a milestone. If a milestone is not in the trace, its time is in the next section. */
enum section {
	SECTION_INTERRUPT, /* NIC to the interrupt of its own vector */
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
	int packets; /* SECTION_STACK: other packets before this one */
	int32_t irq; /* SECTION_INTERRUPT: the interrupt */
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

/* An owner over the whole stage. Threads of the same name are one owner. */
struct owner_excess {
	struct owner owner; /* of the largest part */
	int64_t ns, typical_ns;
	int64_t detail_ns; /* time of owner.detail */
	int tasks; /* different threads of this name */
};

#define CAUSE_RANKS 32

struct cause {
	const struct stage_row *stage;
	bool chosen; /* no blame is known: it is the longest stage of this host */
	int64_t from_ns, ns, bound_ns;
	int cpus[4], cpu_count; /* CPUs of the sections */
	struct section_time section[SECTIONS];
	size_t packets; /* ordinary packets of which the typical times are; 0: not known */
	int64_t typical_ns;
	int64_t section_typical_ns[SECTIONS];
	struct owner_excess rank[CAUSE_RANKS]; /* by excess, largest first */
	int ranks;
	int named; /* first elements of rank[] that are the cause: 1 or 2; 0: spread over `spread` parts */
	int spread;
	int64_t absent_ns; /* not in the trace, of ns */
	int64_t missing_ns; /* the buffer would have to begin earlier by this time */
	const char *not_enabled; /* events whose absence leaves eventless time unexplained; NULL: none */
};

/* Explains a breach. 0, or -errno after one line on stderr. *o: the owners, which the caller frees in any case. */
int cause_find(struct cause *c, struct owners *o, const struct evidence *e, const char *folder);

#endif
