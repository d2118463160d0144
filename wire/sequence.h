/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequence numbers, and loss by direction (hot). */
#ifndef WIRE_SEQUENCE_H
#define WIRE_SEQUENCE_H

#include "rant.h"
#include "wire/packet.h"

/* All zeros to begin with. */
struct sequence_window {
	uint32_t highest;
	uint64_t seen; /* bit n: highest - n was seen */
	uint64_t noted;
};

enum order {
	ORDER_NEXT, /* above the highest number, with or without a gap */
	ORDER_REORDERED, /* below the highest, and new */
	ORDER_DUPLICATE, /* seen before */
	ORDER_OLD, /* 64 or more below the highest: duplicate or new is unknown. Changes only `noted` */
};

/* Notes a number and classifies it. Numbers wrap at 2^32; up to 2^31 - 1 above the highest counts as ahead. */
enum order sequence_note(struct sequence_window *w, uint32_t seq);

/* Positions on a number line that does not wrap. */
struct directions_segment {
	int64_t origin; /* first probe that this count can have answered */
	int64_t first_probe, last_probe, first_reply, last_reply;
	int64_t probes, replies; /* answered probes and received replies of this segment */
	/* reply number at last_probe, plus one for each later duplicate: the next gap begins after it */
	int64_t gap_reply;
	int64_t lost_forward; /* probes certainly lost forward, summed gap by gap */
	int64_t last_gap; /* probes certainly lost forward in the gap before last_probe */
	uint32_t discarded; /* requests that the reflector received and did not answer, as reported */
	int64_t maybe_unread; /* part of lost_forward that the reflector may have received */
};

/* Gap between two consecutive answered probes: missing probes and replies, both exclusive. */
struct directions_gap {
	int64_t before_probe, after_probe, before_reply, after_reply;
};

#define DIRECTIONS_GAPS 16

/*
 * The emitter's loss by direction, from the reply numbers of a stateful reflector (RFC 8762 section 4: its
 * own count per session, from 0). All zeros initially; results are valid after directions_finish().
 * Invariant: lost_forward + lost_backward + discarded + lost_unknown = probes sent - probes answered.
 *
 * A gap lies between two consecutive answered probes: P missing probes, and Q missing numbers between their
 * replies. Without duplicated requests, Q probes lost their reply and P - Q did not arrive. A duplicated
 * request takes two numbers, and if one of its replies is lost, the missing number looks like the lost
 * reply to another probe. So if a run shows a duplicated request (a probe answered with two numbers, or a
 * gap with Q > P), only max(0, P - Q) of each gap is certain, as lost_forward. The rest is unknown, and
 * lost_backward is 0.
 *
 * The reply to a reordered request has its number in a later gap. A run with reordered requests is taken as
 * a single gap.
 *
 * A restarted reflector counts from 0 again. The probes between the last answer of the old count and the
 * first answer of the new count are a gap too: Q numbers of the new count are missing, and the other probes
 * did not reach the new reflector. Replies that the old reflector sent after its last received reply cannot
 * be counted: their probes are in lost_forward.
 *
 * Thus no direction is charged more than its loss, and both are exact without duplicated requests. Numbers
 * cannot show three exceptions: reordering among the first or last packets of a run; reordered requests
 * whose replies were all lost; duplicated requests that each lost a reply in a gap with a probe that did
 * not arrive.
 */
struct directions {
	/* the reflector counts its own replies; else all loss is unknown and the other members are 0 */
	bool reported;
	/* probes that did not arrive; probes whose reply did not arrive */
	uint64_t lost_forward, lost_backward;
	/* probes that the reflector received and did not answer, as reported; reasons: discard_reasons */
	uint64_t discarded;
	uint8_t discard_reasons; /* enum packet_discard; probes of DISCARD_UNREAD are in lost_unknown */
	uint64_t lost_unknown; /* lost after the last answer, or explained by a duplicated request */
	uint64_t reordered_forward, reordered_backward; /* replies */
	uint64_t duplicate_forward; /* second replies to a request, including lost replies */
	uint64_t duplicate_backward; /* replies received twice, or too old to classify */
	uint64_t restarts; /* the reply count began again: the reflector was restarted or forgot the session */

	/* Internal. */
	bool stateful; /* the reflector is proven to be stateful */
	/* a request was reordered, or may have been: its reply is in none of the remembered gaps */
	bool overtaken;
	uint64_t answered; /* answered probes */
	bool begun, counted; /* a segment has begun; an earlier segment exists */
	int64_t origin; /* first probe that a new count can have answered */
	uint64_t hidden; /* missing replies beyond the missing probes */
	uint64_t by_gap; /* lost_forward if no request was reordered */
	struct sequence_window window; /* reply numbers since the last restart */
	struct directions_segment now, before; /* segments since the last restart, and before it */
	int64_t begins; /* probe whose answer showed the restart */
	uint32_t begins_reply; /* reply number of that answer */
	/* last gaps with missing probes and replies: late packets may belong to them */
	struct directions_gap gaps[DIRECTIONS_GAPS];
	uint64_t gaps_noted;
};

/* Call for every good reply of the session: in time, late or duplicated. again: the named probe was
 * answered before. */
void directions_note(struct directions *d, uint32_t sender_seq, uint32_t reply_seq, bool again);

/*
 * Call after directions_note() for a reply that reports discards: `discarded` requests of the session so
 * far (low bits of the count) that the reflector received and did not answer, and the reasons (enum
 * packet_discard). A discarded request takes no reply number, so it is in its gap like a request that did
 * not arrive.
 */
void directions_discards(struct directions *d, uint32_t reply_seq, uint16_t discarded, uint8_t reasons);

/* True if such a report has new counts; nearly all replies have none. */
static inline bool directions_has_news(const struct directions *d, uint16_t discarded, uint8_t reasons)
{
	return discarded != (uint16_t)d->now.discarded || reasons & DISCARD_UNREAD || reasons & ~d->discard_reasons;
}

/* Call instead of directions_note() for a reply of a reflector that reports no session for this sender: its
 * number is the probe's and shows nothing. Loss during that time is unknown. */
void directions_stateless(struct directions *d, uint32_t sender_seq);

/* Call if something else proves that the reflector counts its own replies: a follow-up (RFC 8972 section
 * 4.7). */
void directions_stateful(struct directions *d);

/* Call once, after the run. sent: number of probes, numbered from 0. */
void directions_finish(struct directions *d, uint64_t sent);

#endif
