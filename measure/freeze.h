/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Freezing the traces of both hosts at one breach (docs/protocol.md, type 244). The callers test exchange.freezes, or
 * the presence of the TLV, so that other runs pay a branch.
 */
#ifndef MEASURE_FREEZE_H
#define MEASURE_FREEZE_H

#include "measure/exchange.h"

#define FREEZE_CLOSING 10 /* closing probes that request a freeze at most ... */
#define FREEZE_CLOSING_NS (10 * NS_PER_MS) /* ... and the time that each waits for its reply at most */

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

/* Reflector: the answer to the freeze TLV of the last request, of this session. It may be due after the reply. */
struct packet_freeze freeze_answer(struct exchange *x, struct session *session);

/* Reflector, when the reply was sent: honours a request that is due. */
void freeze_for_emitter(struct exchange *x, struct session *session);

#endif
