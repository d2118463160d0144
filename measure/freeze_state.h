/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the loop for freezing the traces of both hosts, see measure/freeze.h. */
#ifndef MEASURE_FREEZE_STATE_H
#define MEASURE_FREEZE_STATE_H

#include "rant.h"
#include "wire/session.h"

/* Result of a hook that freezes the trace of this host. */
struct freeze_done {
	bool was_frozen; /* before, at another breach */
	struct optional ns; /* from the call of the hook until the trace was frozen; not known: no trace was frozen by it */
};

/* Emitter. */
struct freeze_emitter {
	bool changed; /* the freeze TLV of the next probe is to be written */
	bool asking; /* the probes request a freeze at `seq` */
	uint32_t seq;
	int64_t since_ns; /* CLOCK_MONOTONIC: that breach was seen; 0: no request yet */
	uint32_t probes; /* that carried the request */
	bool seen; /* the probes report that the reflector's breach `peer_seq` was seen */
	bool has_peer; /* `peer_seq` is valid */
	uint32_t peer_seq; /* the newest breach of the reflector */
};

/* Reflector. */
struct freeze_reflector {
	/* A request that is honoured after its reply was sent. */
	bool due;
	uint32_t due_seq, due_age_us;
	int64_t due_ns; /* CLOCK_MONOTONIC: it was read */
	int64_t allowed_ns; /* CLOCK_MONOTONIC: the last request was honoured; 0: none was */
	/* The breach at which the trace was frozen last: its sender, number and time, and flags of the answer to that
	 * sender; flags 0: none. */
	struct session_sender of;
	uint32_t seq;
	int64_t frozen_ns;
	uint8_t flags;
	/* The own breach that the next replies to `to` report. */
	unsigned announce; /* left replies */
	struct session_sender to;
	uint32_t breach_seq;
	int64_t breach_ns;
};

#endif
