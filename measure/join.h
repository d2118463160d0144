/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remote timestamps (hot): T2 and T3 of a reply, and the Follow-Up T3 of the wire that the next reply
 * reports. */
#ifndef MEASURE_JOIN_H
#define MEASURE_JOIN_H

#include "measure/exchange.h"

/* A reply has the length of its request (RFC 8972 section 4). A TWAMP-Light reflector may append its own
 * padding (RFC 5357 section 4.2.1), which is not a TLV. */
static inline size_t join_reply_bytes(const struct exchange *x)
{
	return x->arrival.bytes < x->emit.probe_bytes ? x->arrival.bytes : x->emit.probe_bytes;
}

/* Reads the TLVs of the last reply. May wait until the next probe is sent, but not until the next datagram
 * is received. */
void join_digest_reply(struct exchange *x);

/* Calls the above if such a reply is pending. */
static inline void join_digest(struct exchange *x)
{
	if (x->emit.undigested)
		join_digest_reply(x);
}

/* Reads the TLVs at once, of a reply to f with several probes in flight: see measure/window.h. */
void join_digest_of(struct exchange *x, struct flight *f);

/* With several in flight: true if T3 of this answered probe may still be reported. */
bool join_awaits_t3(const struct exchange *x, const struct flight *f);

/* Takes the follow-up from a late or duplicated reply. again: its probe was answered before. */
void join_again(struct exchange *x, bool again);

/* True if a sample waits for its T3. */
static inline bool join_waits_for_t3(const struct exchange *x)
{
	return x->emit.joining && x->emit.joining->sample.follow_up == FOLLOW_UP_NONE;
}

/* Records an answered probe: at once, or after the next reply has reported T3, if the peer supports that. */
void join_keep(struct exchange *x, struct flight *f);

/* With several in flight, in send order: compares the complete times of an answered probe with the clocks
 * of both hosts. It is then held until join_release() records it. */
void join_validate(struct exchange *x, struct flight *f);

/*
 * Records held flights from window.held_key on, as far as each is followed by an exchange that began after
 * its reply was read: only that exchange shows whether a clock was set before T4, since probes sent earlier
 * may have been reflected before the step too. A flight contradicted by then loses the reflector's times.
 * force: record without such an exchange, at the end of the run.
 */
void join_release(struct exchange *x, bool force);

/* Call when the reply to a closing probe was read and its timestamp has arrived or is lost. */
void join_closing(struct exchange *x, struct flight *f);
void join_confirm_held(struct exchange *x, struct flight *f);

/* Completes the waiting sample if its T3 has arrived, without waiting for the end of the present exchange
 * f. */
void join_confirm(struct exchange *x, struct flight *f);

/* Ends the wait of a sample: if T3 has not arrived, `how` is the reason. No effect if none waits. next: a
 * later exchange whose reply was digested; NULL: none. */
void join_end(struct exchange *x, enum follow_up how, struct flight *next);

#endif
