/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Freezing the traces of both hosts at one breach (docs/protocol.md, type 244). The callers test exchange.freezes, or
 * the presence of the TLV, so that other runs pay a branch.
 */
#ifndef MEASURE_FREEZE_H
#define MEASURE_FREEZE_H

#include "rant.h"
#include "wire/packet.h"
#include "wire/session.h"

struct exchange;
struct flight;

#define FREEZE_CLOSING 10 /* closing probes that request a freeze at most ... */
#define FREEZE_CLOSING_NS (10 * NS_PER_MS) /* ... and the time that each waits for its reply at most */
#define FREEZE_CAUSES 64 /* slots for causes at a reflector */

/* ---- State of the loop ------------------------------------------------------------------------------------------- */

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
	/* After the run the closing probes ask for the cause of the first breach. */
	bool cause_asking;
	uint32_t cause_from; /* number of the first of these probes */
	struct packet_plan plan; /* of these probes */
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
	struct packet_cause cause; /* that the next reply reports */
};

/* Causes of the traces that were saved last, of which another thread writes the next while the loop reads. */
struct freeze_causes {
	_Atomic unsigned written; /* number i is in slot i % FREEZE_CAUSES */
	struct {
		uint16_t ssid;
		struct packet_cause cause;
	} slot[FREEZE_CAUSES];
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* After the hook of a breach: requests the freeze of the reflector, or reports the breach to the emitter. seen_ns:
 * CLOCK_MONOTONIC before the hook. */
void freeze_note_breach(struct exchange *x, const struct flight *f, int64_t seen_ns);

/* Emitter: writes the freeze TLV of the next probe. Call if emit.freeze.changed. */
void freeze_write(struct exchange *x);

/* Emitter: reads the freeze TLV of the last reply. in_time: it answers a probe in flight; only such a reply
 * may freeze the trace of this host. */
void freeze_note_reply(struct exchange *x, bool in_time);

/* Emitter: a request without an answer ends with the run. */
void freeze_end(struct exchange *x);

/* Emitter, after the run: asks for the cause of the first breach at the reflector, and waits for it at most 1 s.
 * close() sends a closing probe, and waits for its reply for a while. */
void freeze_await_cause(struct exchange *x, void (*close)(struct exchange *x));

/* Reflector: the answer to the freeze TLV of the last request, of this session. It may be due after the reply. */
struct packet_freeze freeze_answer(struct exchange *x, struct session *session);

/* Reflector: the answer to a request for the cause of a breach. It is valid until the next call. */
const struct packet_cause *freeze_cause_answer(struct exchange *x, const struct session *session);

/* The one thread that writes: adds the cause of a breach at which the trace was frozen for this run. */
static inline void freeze_causes_add(struct freeze_causes *causes, uint16_t ssid, const struct packet_cause *c)
{
	const unsigned n = atomic_load_explicit(&causes->written, memory_order_relaxed);

	causes->slot[n % FREEZE_CAUSES].ssid = ssid;
	causes->slot[n % FREEZE_CAUSES].cause = *c;
	atomic_store_explicit(&causes->written, n + 1, memory_order_release);
}

/* Reflector, when the reply was sent: honours a request that is due. */
void freeze_for_emitter(struct exchange *x, struct session *session);

#endif
