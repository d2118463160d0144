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
	ORDER_NEXT, /* ahead of all, perhaps by more than one */
	ORDER_REORDERED, /* behind, and new */
	ORDER_DUPLICATE, /* seen before */
	ORDER_OLD, /* behind by 64 or more: whether it was seen is not known. Changes only `noted` */
};

/* Notes a number and says how it stands to those before. Numbers wrap at 2^32; ahead is up to 2^31 - 1. */
enum order sequence_note(struct sequence_window *w, uint32_t seq);

/* Positions on a line that does not wrap. */
struct directions_segment {
	int64_t origin; /* the first probe that this count can have answered */
	int64_t first_probe, last_probe, first_reply, last_reply;
	int64_t probes, replies; /* how many of these were answered, and seen */
	int64_t gap_reply; /* to last_probe, and on by one for each that came again since: the next gap is behind it */
	int64_t lost_forward; /* certain, gap by gap */
	int64_t last_gap; /* the same, of the gap before last_probe */
	uint32_t discarded; /* requests that the reflector got and did not answer, as it reports */
	int64_t maybe_unread; /* of lost_forward: the reflector may have got them */
};

/* Between two neighbours that were answered: probes and replies that are missing, both without the ends. */
struct directions_gap {
	int64_t before_probe, after_probe, before_reply, after_reply;
};

#define DIRECTIONS_GAPS 16

/*
 * The emitter's view of what got lost, and on which way, from the numbers that a stateful reflector gives its replies
 * (RFC 8762 section 4: its own count per session, from 0). All zeros to begin with; results are there after
 * directions_finish(). Always: lost_forward + lost_backward + discarded + lost_unknown = probes sent - probes answered.
 *
 * A gap is what is missing between two neighbouring answered probes: P probes, and Q numbers between those of their
 * replies. If no request came twice, Q probes lost their reply and P - Q did not arrive. But a request that came twice
 * takes two numbers, and where one of its replies is lost its number is missing just as that of a lost reply to another
 * probe. So in a run that shows such a request (a probe answered by two numbers, or a gap with Q > P) only
 * max(0, P - Q) of each gap is certain, as lost_forward. The rest is unknown, and lost_backward is 0.
 *
 * The reply to a request that was overtaken has its number in a later gap. A run that shows that is taken as one gap.
 *
 * A reflector that was started again counts from 0 again. The probes between the last answer of the old count and the
 * first one of the new count are a gap too: Q numbers of the new count are missing, and the others did not reach the
 * new reflector. Replies that the old one may have sent after its last reply that came cannot be counted: their probes
 * are in lost_forward.
 *
 * Thus no direction is told more than it lost, and both are exact where no request came twice. Numbers cannot tell
 * three exceptions: the order changed among the first or the last of a run; requests were overtaken, and the replies to
 * all of them were lost; requests came twice, and each of them lost a reply in a gap with a probe that did not arrive.
 */
struct directions {
	bool told; /* the reflector counts its own replies. If not, all loss is unknown and the rest is 0 */
	uint64_t lost_forward, lost_backward; /* probes that did not arrive, or whose reply did not */
	/* probes that the reflector got and did not answer, as it reports: it says why in discard_reasons */
	uint64_t discarded;
	uint8_t discard_reasons; /* enum packet_discard; DISCARD_UNREAD: such ones are in lost_unknown */
	uint64_t lost_unknown; /* after the last answer, and what a second reply may explain */
	uint64_t reordered_forward, reordered_backward; /* replies */
	uint64_t duplicate_forward; /* second replies to a request, also such as were lost */
	uint64_t duplicate_backward; /* the same reply again, or one again that is too old to tell */
	uint64_t restarts; /* its count began again, e.g. it was started again or forgot the session */

	/* Inside. */
	bool stateful; /* proven */
	bool overtaken; /* a request was by a later one, or may have been: its reply is in no gap that is remembered */
	uint64_t answered; /* probes */
	bool begun, counted; /* there is a segment; there was one before */
	int64_t origin; /* the first probe that a new count can have answered */
	uint64_t hidden; /* replies that are missing beyond the probes that are */
	uint64_t by_gap; /* lost_forward, if nothing was overtaken */
	struct sequence_window window; /* of the replies, since the last restart */
	struct directions_segment now, before; /* since the last restart, and up to it */
	int64_t begins; /* the probe whose answer showed the restart, */
	uint32_t begins_reply; /* and the number of that answer */
	struct directions_gap gaps[DIRECTIONS_GAPS]; /* the last ones with both missing: what is late may fit in */
	uint64_t gaps_noted;
};

/* To be called for every good reply of the session: in time, late or a duplicate. again: the probe that it names was
 * answered before. */
void directions_note(struct directions *d, uint32_t sender_seq, uint32_t reply_seq, bool again);

/*
 * To be called after directions_note() for a reply that reports them: `discarded` requests of the session until then
 * (the low bits of the count) that the reflector got and did not answer, and why (enum packet_discard). A discarded
 * request takes no number, so it is in its gap like one that did not arrive.
 */
void directions_discards(struct directions *d, uint32_t reply_seq, uint16_t discarded, uint8_t reasons);

/* Does such a report change anything? Of nearly all replies it does not. */
static inline bool directions_has_news(const struct directions *d, uint16_t discarded, uint8_t reasons)
{
	return discarded != (uint16_t)d->now.discarded || reasons & DISCARD_UNREAD || reasons & ~d->discard_reasons;
}

/* To be called instead of directions_note() for a reply of a reflector that has no session for this sender, as it
 * reports: its number is the probe's, and shows nothing. What was lost meanwhile is unknown. */
void directions_stateless(struct directions *d, uint32_t sender_seq);

/* To be called when something else proves that the reflector counts by itself: a follow-up (RFC 8972 section 4.7). */
void directions_stateful(struct directions *d);

/* To be called once, after the run. sent: probes, numbered from 0. */
void directions_finish(struct directions *d, uint64_t sent);

#endif
