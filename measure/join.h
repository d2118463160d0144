/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other host's times (hot): what a reply tells beside that it is there, and T3 on its wire, which the next one
 * tells. */
#ifndef MEASURE_JOIN_H
#define MEASURE_JOIN_H

#include "measure/exchange.h"

/* A reply has the length of its request (RFC 8972 section 4). A TWAMP-Light reflector may send padding of its own
 * behind that (RFC 5357 section 4.2.1), which is no TLV. */
static inline size_t join_reply_bytes(const struct exchange *x)
{
	return x->arrival.bytes < x->result.probe_bytes ? x->arrival.bytes : x->result.probe_bytes;
}

/* All that a reply tells beside that it is there. This can wait until the next probe is on its way, but not until the
 * next datagram is received. */
void join_digest_reply(struct exchange *x);

/* The same, if there is such a reply. */
static inline void join_digest(struct exchange *x)
{
	if (x->emit.undigested)
		join_digest_reply(x);
}

/* The same at once, of a reply to f, one of many in flight: see measure/window.h. */
void join_digest_of(struct exchange *x, struct flight *f);

/* With many in flight: may T3 of this answered one still be told? */
bool join_awaits_t3(const struct exchange *x, const struct flight *f);

/* A reply that comes too late, or again, may still have the follow-up that is waited for. again: its probe was answered
 * before. */
void join_again(struct exchange *x, bool again);

/* Does a sample wait for its T3? */
static inline bool join_waits_for_t3(const struct exchange *x)
{
	return x->emit.joining && x->emit.joining->sample.follow_up == FOLLOW_UP_NONE;
}

/* What is answered is to be recorded: at once, or when the next reply has told of T3, if this peer tells. */
void join_keep(struct exchange *x, struct flight *f);

/* With many in flight, in the order of sending: compares the times of an answered probe, which has all that it will
 * get, with the two hosts' clocks. Then it is held until join_release() records it. */
void join_weigh(struct exchange *x, struct flight *f);

/*
 * Records the flights that are held, from window.held_key on, as far as each is followed by an exchange that began
 * after its reply was read: only that one shows whether a clock was set before T4, since probes sent before it may have
 * been reflected before the step too. A flight that was contradicted by then loses the reflector's times. force: also
 * without such an exchange, since none will come.
 */
void join_release(struct exchange *x, bool force);

/* The reply to a closing probe was read; and its stamp has come, or will not. */
void join_closing(struct exchange *x, struct flight *f);
void join_confirm_held(struct exchange *x, struct flight *f);

/* The sample that waits is complete if its T3 has come, and need not wait until the present exchange f is over. */
void join_confirm(struct exchange *x, struct flight *f);

/* The sample that waits gets nothing more: if T3 has not come, it is because of `how`. Nothing, if none waits. next: a
 * later exchange whose reply was digested; NULL: there is none. */
void join_end(struct exchange *x, enum follow_up how, struct flight *next);

#endif
