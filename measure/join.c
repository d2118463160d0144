// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other host's times. A sample that has its reply waits for T3 on the wire of that, which the reply after it tells (RFC
 * 8972 section 4.7); then its ways can be told apart.
 */
#include "measure/join.h"

#include "host/clock_peer.h"
#include "measure/verbs.h"

/* How long each way took, by the difference of the two hosts' clocks as the exchanges themselves tell it. */
INLINE void split_ways(struct exchange *x, const struct sample *s, bool recorded)
{
	int64_t t2_ns = s->time_ns[THERE + REFLECT_T2_WIRE], offset_ns = 0, bound_ns = x->options->synced_ns;
	/* Without T3 of the reply on its wire, all of the response is part of what is not known. */
	bool joined = s->source[THERE + REFLECT_T3_WIRE];
	int64_t t3_ns = joined ? s->time_ns[THERE + REFLECT_T3_WIRE] : t2_ns;

	if (!s->source[THERE + REFLECT_T2_WIRE])
		return;
	clock_peer_add(x->peer, s->time_ns[x->from], t2_ns, t3_ns, s->time_ns[x->to]);
	/* At T4, so that the bound covers how far the clocks part from T1 on. */
	if (!joined || (bound_ns < 0 && !clock_peer_offset(x->peer, s->time_ns[x->to], &offset_ns, &bound_ns)))
		return;
	if (recorded && x->one_way[ONE_WAY_FORWARD]) {
		histogram_add(x->one_way[ONE_WAY_FORWARD], t2_ns - s->time_ns[x->from] - offset_ns, s->seq);
		histogram_add(x->one_way[ONE_WAY_BACKWARD], s->time_ns[x->to] - t3_ns + offset_ns, s->seq);
	}
	x->one_way_bound_ns[1] = bound_ns;
	if (bound_ns > x->one_way_bound_ns[0])
		x->one_way_bound_ns[0] = bound_ns;
}

/* An emitter's sample has all that it will get. */
INLINE void finish_probe(struct exchange *x, struct flight *f)
{
	sample_complete(x, f, true);
	/* The counters are still those of its exchange: the next one is not over, and none was lost in between. */
	if (f->counted && x->next_key - f->key <= 2)
		pmc_account(x->pmc, sample_is_slow(x, &f->sample));
	bool recorded = sample_record(x, &f->sample);

	if (x->peer)
		split_ways(x, &f->sample, recorded);
}

void join_end(struct exchange *x, enum follow_up how)
{
	struct flight *f = x->joining;

	if (!f)
		return;
	x->joining = NULL;
	f->sample.follow_up = (uint8_t)how;
	finish_probe(x, f);
}

/* A stamp's source, by what the reply says of how it was taken and, from a rant, of what it is. */
INLINE uint8_t source_told(const struct reply *r, uint8_t method)
{
	if (method == PACKET_METHOD_HARDWARE)
		return SOURCE_HARDWARE;
	if (method != PACKET_METHOD_SOFTWARE)
		return SOURCE_LOCAL;
	return r->software_told && (r->wire_source == SOURCE_USER || r->wire_source == SOURCE_KERNEL) ? r->wire_source :
													 SOURCE_LOCAL;
}

/* A reflector that began again may give a later reply the number of the one that is waited for, and that one left after this
 * sample was over; or a clock was set between T2 and T3. The response is a part of the round trip: stamps are taken late on
 * arrival and early on departure, which makes it shorter, so it can be longer only by what they and the clocks' rates are off. */
#define RESPONSE_SLACK_NS NS_PER_US

INLINE bool is_response(const struct sample *s, int64_t t3_ns)
{
	int64_t response_ns = t3_ns - s->time_ns[THERE + REFLECT_T2_WIRE];

	return response_ns >= -RESPONSE_SLACK_NS &&
	       response_ns <= s->latency_ns + RESPONSE_SLACK_NS + (response_ns >> STEP_SLACK_SHIFT);
}

/* T3 on the wire of the reply before, if it is what the sample before is waiting for. */
INLINE bool join(struct exchange *x, const struct reply *r)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	struct flight *f = x->joining;

	if (!f || !r->follow_up_told || r->follow_up_method == PACKET_METHOD_NONE || r->follow_up_seq != f->reply_seq)
		return false;
	/* Also where only this reply tells that there are better stamps than T2 was; in one that misses T2 itself it is told
	 * less of than there is. */
	if (r->follow_up_method != f->t2_method || !f->sample.source[t2] ||
	    source_told(r, r->follow_up_method) > f->sample.source[t2]) {
		join_end(x, FOLLOW_UP_MIXED);
		return true;
	}
	if (!is_response(&f->sample, r->follow_up_ns))
		return false;
	f->sample.time_ns[t3] = r->follow_up_ns;
	f->sample.source[t3] = f->sample.source[t2];
	join_end(x, FOLLOW_UP_THERE);
	return true;
}

/* The reply to the probe after the one that waits: whatever it says, nothing later will say more. */
INLINE void join_or_not(struct exchange *x, const struct reply *r)
{
	if (!x->joining || join(x, r))
		return;
	if (!r->follow_up_told)
		join_end(x, FOLLOW_UP_UNTOLD);
	else
		join_end(x, r->seq == x->joining->reply_seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
}

/* What T2 is a stamp of. Whoever has better ones and misses one says the time of its program instead: that is no stamp on the
 * wire, and may be of another clock. */
INLINE uint8_t stamp_there(struct exchange *x, const struct reply *r)
{
	static const uint8_t rank[SOURCES] = { [SOURCE_USER] = 1, [SOURCE_LOCAL] = 1, [SOURCE_KERNEL] = 2,
					       [SOURCE_HARDWARE] = 3 };
	uint8_t source = source_told(r, r->t2_method);

	if (rank[source] > rank[x->there])
		x->there = source;
	return rank[source] < rank[x->there] ? SOURCE_NONE : source;
}

/* The other host's times, as far as this reply has them. */
INLINE void note_there(struct exchange *x, struct flight *f, const struct reply *r)
{
	struct sample *s = &f->sample;

	f->told = r->follow_up_told;
	f->reply_seq = r->seq;
	f->t2_method = r->t2_known ? r->t2_method : PACKET_METHOD_NONE;
	s->time_ns[THERE + REFLECT_T2_WIRE] = r->t2_ns;
	s->source[THERE + REFLECT_T2_WIRE] = r->t2_known ? stamp_there(x, r) : SOURCE_NONE;
	s->time_ns[THERE + REFLECT_T3_USER] = r->t3_ns;
	s->source[THERE + REFLECT_T3_USER] = r->t3_known ? SOURCE_USER : SOURCE_NONE;
	if (!r->software_told)
		return;
	s->one_scale = r->software_bound_ns >= 0;
	if (r->software_bound_ns > x->bound_ns[BOUND_THERE])
		x->bound_ns[BOUND_THERE] = r->software_bound_ns;
	if (!r->t2_user_known)
		return;
	s->time_ns[THERE + REFLECT_T2_USER] = r->t2_user_ns;
	s->source[THERE + REFLECT_T2_USER] = SOURCE_USER;
}

/* What else a reply tells: in which state the probe arrived there. */
INLINE void note_state(struct exchange *x, const struct reply *r)
{
	const struct options *o = x->options;
	struct account *a = &x->account;

	if (r->ttl >= 0 && r->ttl != o->ttl) {
		counter_add(&a->other_ttl, 1);
		x->arrived_ttl = (uint8_t)r->ttl;
	}
	if (r->class_told && r->dscp != o->dscp) {
		counter_add(&a->other_class, 1);
		x->arrived_dscp = r->dscp;
	}
	counter_add(&a->malformed_tlv, r->tlv_malformed);
	counter_add(&a->unusable_tlv, r->tlv_integrity);
}

INLINE void keep(struct exchange *x, struct flight *f)
{
	if (f->told) {
		x->joining = f;
		return;
	}
	f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNTOLD : FOLLOW_UP_NONE;
	finish_probe(x, f);
}

INLINE void read_tlvs(struct exchange *x)
{
	packet_read_tlvs(x->channel->datagram, join_reply_bytes(x), x->key, &x->reply);
}

void join_digest_reply(struct exchange *x)
{
	const struct reply *r = &x->reply;
	struct flight *f = x->undigested;

	x->undigested = NULL;
	read_tlvs(x);
	directions_note(&x->directions, r->sender_seq, r->seq, false);
	if (r->follow_up_told && r->follow_up_method != PACKET_METHOD_NONE)
		directions_stateful(&x->directions);
	join_or_not(x, r);
	note_there(x, f, r);
	note_state(x, r);
	if (f->kept)
		keep(x, f);
}

/* Of its own only so that join_digest_reply() has it inline: a call costs 13 instructions of each plain round trip. */
void join_keep(struct exchange *x, struct flight *f)
{
	keep(x, f);
}

void join_again(struct exchange *x, bool again)
{
	const struct reply *r = &x->reply;

	read_tlvs(x);
	directions_note(&x->directions, r->sender_seq, r->seq, again);
	if (!r->follow_up_told || join(x, r))
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE)
		counter_add(&x->account.follow_up_late, !again);
	else if (x->joining && r->seq == x->joining->reply_seq + 1)
		join_end(x, FOLLOW_UP_UNKNOWN);
}
