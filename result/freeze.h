/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Freezing the traces of both hosts at one breach: requests of the emitter, and what became of them. */
#ifndef RESULT_FREEZE_H
#define RESULT_FREEZE_H

#include "rant.h"

/* FREEZE_MARKED: the other host marked the sequence number but froze no trace. FREEZE_BY_PEER: an emitter
 * froze its trace at a breach of the reflector. FREEZE_WAITING is never the outcome after a run. */
enum freeze_outcome { FREEZE_NONE, FREEZE_WAITING, FREEZE_CONFIRMED, FREEZE_MARKED, FREEZE_DENIED, FREEZE_TAKEN,
		      FREEZE_UNCONFIRMED, FREEZE_BY_PEER, FREEZE_OUTCOMES };

/* Outcome names in JSON files; NULL: FREEZE_NONE. */
static const char *const freeze_names[FREEZE_OUTCOMES] = {
	[FREEZE_WAITING] = "waiting", [FREEZE_CONFIRMED] = "frozen", [FREEZE_MARKED] = "marked",
	[FREEZE_DENIED] = "refused", [FREEZE_TAKEN] = "occupied", [FREEZE_UNCONFIRMED] = "unconfirmed",
	[FREEZE_BY_PEER] = "by_peer",
};

/* The first breach of the run at which the other host was to freeze. */
struct freeze_first {
	enum freeze_outcome outcome;
	uint32_t seq;
	/* the trace of this host was frozen this long after the breach was seen; at a breach of the other host, after
	 * the packet with its flag was read */
	struct optional own_ns;
	/* an emitter's breach: the reflector froze at most this long after it was seen, and at least this less the
	 * bound. A breach of the other host: its age when its packet was made */
	struct optional peer_ns, peer_bound_ns;
	uint32_t probes; /* emitter: probes that carried the request */
	struct optional holds; /* 1: the frozen buffer of this host reaches back to the packet; 0: it does not */
};

struct result_freeze {
	counter asked; /* emitter: breaches that were requested of the reflector; reflector: breaches of emitters */
	counter confirmed; /* of these, marked by the reflector */
	counter refused, occupied; /* of these, refused, or refused since the trace was frozen at another breach */
	counter unconfirmed; /* emitter: of these, without an answer */
	counter left_out; /* emitter: breaches that were not requested, during another request or soon after it */
	counter of_peer; /* emitter: breaches of the reflector, which froze the trace here */
	counter announced; /* reflector: own breaches that its replies reported to an emitter */
	bool peer_supports; /* emitter: a reply had the freeze TLV */
	struct freeze_first first;
	union address emitter; /* reflector: sender of the request of `first` */
	char emitter_name[64]; /* the same as text, after the run; empty: none */
	struct optional event_raw_ns; /* CLOCK_MONOTONIC_RAW before the packet of `first` was sent or received */
};

#endif
