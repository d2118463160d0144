// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other host's times. A sample that has its reply waits for T3 on the wire of that, which the reply after it tells
 * (RFC 8972 section 4.7); then its ways can be told apart.
 */
#include "measure/join.h"

#include "host/clock/clock_peer.h"
#include "measure/verbs.h"

/* The reflector's clock minus ours at a moment of ours, and how far off that may be. False: not known. */
INLINE bool offset_at(const struct exchange *x, int64_t at_ns, int64_t *offset_ns, int64_t *bound_ns)
{
	if (x->options->synced_ns < 0)
		return clock_peer_offset(x->peer, at_ns, offset_ns, bound_ns);
	*offset_ns = 0;
	*bound_ns = x->options->synced_ns;
	return true;
}

INLINE bool is_within(int64_t a_ns, int64_t b_ns, int64_t bound_ns)
{
	int64_t apart_ns;

	return !__builtin_sub_overflow(a_ns, b_ns, &apart_ns) && apart_ns <= bound_ns && apart_ns >= -bound_ns;
}

/* How long each way took, by the difference of the two hosts' clocks as the exchanges themselves tell it: at the end of
 * that way which is here, for during a long response the clocks part. What was known at T1 holds unless the exchange
 * itself contradicts it, for a clock was set by little. told: T3 is what the reply says. */
INLINE void record_ways(struct exchange *x, const struct flight *f, bool told)
{
	const struct sample *s = &f->sample;
	const int64_t t1_ns = s->time_ns[x->from], t4_ns = s->time_ns[x->to];
	const int64_t t2_ns = s->time_ns[THERE + REFLECT_T2_WIRE], t3_ns = s->time_ns[THERE + REFLECT_T3_WIRE];
	int64_t offset_ns[ONE_WAYS], bound_ns[ONE_WAYS], most_ns;

	if (!offset_at(x, t1_ns, &offset_ns[ONE_WAY_FORWARD], &bound_ns[ONE_WAY_FORWARD]) ||
	    !offset_at(x, t4_ns, &offset_ns[ONE_WAY_BACKWARD], &bound_ns[ONE_WAY_BACKWARD]))
		return;
	if (f->has_offset && f->offset_bound_ns <= bound_ns[ONE_WAY_FORWARD] &&
	    is_within(f->offset_ns, offset_ns[ONE_WAY_FORWARD], bound_ns[ONE_WAY_FORWARD])) {
		offset_ns[ONE_WAY_FORWARD] = f->offset_ns;
		bound_ns[ONE_WAY_FORWARD] = f->offset_bound_ns;
	}
	most_ns = bound_ns[bound_ns[ONE_WAY_BACKWARD] > bound_ns[ONE_WAY_FORWARD]];
	if (told) {
		variation_tell_ways(x, s, offset_ns, most_ns);
		return;
	}
	if (x->result.one_way[ONE_WAY_FORWARD]) {
		const int64_t forward_ns = t2_ns - t1_ns - offset_ns[ONE_WAY_FORWARD];
		const int64_t backward_ns = t4_ns - t3_ns + offset_ns[ONE_WAY_BACKWARD];

		histogram_add(x->result.one_way[ONE_WAY_FORWARD], forward_ns, s->seq);
		histogram_add(x->result.one_way[ONE_WAY_BACKWARD], backward_ns, s->seq);
		x->result.one_way_beyond += (forward_ns < -bound_ns[ONE_WAY_FORWARD]) +
					    (backward_ns < -bound_ns[ONE_WAY_BACKWARD]);
	}
	x->result.one_way_bound_ns[1] = most_ns;
	if (most_ns > x->result.one_way_bound_ns[0])
		x->result.one_way_bound_ns[0] = most_ns;
}

/* An emitter's sample has all that it will get. */
INLINE void finish_probe(struct exchange *x, struct flight *f, bool agrees)
{
	bool told;

	sample_complete(x, f, agrees, true);
	/* The counters are still those of its exchange: the next one is not over, and none was lost in between. */
	if (f->counted && x->next_key - f->key <= 2)
		pmc_account(x->pmc, sample_is_slow(x, &f->sample));
	if (!sample_record(x, f, true))
		return;
	told = variation_note(x, &f->sample);
	if (x->port)
		source_port_note(x, f);
	if (x->result.planned[PLANNED_LATE]) {
		histogram_add(x->result.planned[PLANNED_LATE], f->late_ns, f->sample.seq);
		histogram_add(x->result.planned[PLANNED_RTT], f->late_ns + f->sample.latency_ns, f->sample.seq);
		histogram_add(x->result.planned[PLANNED_CALL], f->call_ns, f->sample.seq);
	}
	if (x->peer && (told || f->sample.source[THERE + REFLECT_T3_WIRE]))
		record_ways(x, f, told);
}

/* ---- The relation of the two hosts' clocks ----------------------------------------------------------------------- */

INLINE bool hold_there(struct exchange *x, struct flight *f)
{
	const struct clock_peer_moment moment = { .seq = f->sample.seq, .mono_ns = x->now_ns };
	const int64_t t1_ns = f->sample.time_ns[x->from];
	const bool agrees = clock_peer_there(x->peer, t1_ns, f->sample.time_ns[THERE + REFLECT_T2_WIRE], &moment);

	/* Now, and not when the exchange is over: the exchanges around T1 know it best, however long the response
	 * takes. */
	f->has_offset = offset_at(x, t1_ns, &f->offset_ns, &f->offset_bound_ns);
	return agrees;
}

/* T1 and T2, when both are known: before those of any later exchange. */
INLINE bool weigh_there(struct exchange *x, struct flight *f)
{
	const struct sample *s = &f->sample;
	const bool before = f->weighed;

	f->weighed = true;
	return before || !x->peer || !s->source[x->from] || !s->source[THERE + REFLECT_T2_WIRE] || hold_there(x, f);
}

/* T3 and T4 of the exchange that was weighed last. Without T3 of the reply on its wire, all of the response is part of
 * what is not known. A round trip of less than nothing has a wrong stamp of ours, which says nothing of the
 * reflector's clock. */
INLINE bool weigh_back(struct exchange *x, const struct flight *f)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	const struct sample *s = &f->sample;
	bool is_response, agrees;

	if (!x->peer || !s->source[t2] || s->latency_ns < 0)
		return true;
	is_response = s->source[t3] && rules_is_response(s);
	agrees = clock_peer_back(x->peer, s->time_ns[is_response ? t3 : t2], s->time_ns[x->to]);
	if (s->source[t3] && !is_response)
		clock_peer_contradicts(x->peer);
	return agrees;
}

INLINE bool is_settled(const struct exchange *x)
{
	return !x->peer || clock_peer_is_settled(x->peer);
}

/* ---- T3 ---------------------------------------------------------------------------------------------------------- */

/* What became of T3 of the sample that waits. It waits on for T1 and T2 of the exchange after it, which tell whether a
 * clock was set in the meantime. */
static void decide(struct exchange *x, enum follow_up how)
{
	x->emit.joining->sample.follow_up = (uint8_t)how;
}

/* next: a later exchange, whose T1 is known or will not be; NULL: none. */
static void finish_joining(struct exchange *x, struct flight *next)
{
	struct flight *f = x->emit.joining;
	bool agrees;

	if (!f)
		return;
	agrees = weigh_back(x, f);
	if (next)
		agrees &= weigh_there(x, next);
	x->emit.joining = NULL;
	finish_probe(x, f, agrees && is_settled(x));
}

void join_end(struct exchange *x, enum follow_up how, struct flight *next)
{
	if (join_waits_for_t3(x))
		decide(x, how);
	finish_joining(x, next);
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

#define ERA_NS (NS_PER_S << 32)
#define HALF_ERA_NS (ERA_NS / 2)

/* Packets have the seconds modulo 2^32: a clock that passes an end of that (2106; 1970, of one that was never set) goes
 * on. What would be more than half an era beyond the first one is left where it was read, so that no difference of
 * such times overflows. */
INLINE int64_t in_era(const struct exchange *x, int64_t ns)
{
	if (ns < x->emit.era_ns && ns < HALF_ERA_NS)
		return ns + ERA_NS;
	if (ns >= x->emit.era_ns + ERA_NS && ns >= HALF_ERA_NS)
		return ns - ERA_NS;
	return ns;
}

/* T3 on the wire of its reply, as a later one tells it. */
INLINE void take_t3(struct exchange *x, struct flight *f, const struct reply *r, uint8_t method, int64_t ns)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;

	/* Also where only this reply tells that there are better stamps than T2 was; in one that misses T2 itself it is
	 * told less of than there is. */
	if (method != f->t2_method || !f->sample.source[t2] || source_told(r, method) > f->sample.source[t2]) {
		f->sample.follow_up = FOLLOW_UP_MIXED;
		return;
	}
	f->sample.time_ns[t3] = in_era(x, ns);
	f->sample.source[t3] = f->sample.source[t2];
	f->sample.follow_up = FOLLOW_UP_THERE;
}

/* Of the reply before, if that is what the sample before is waiting for. */
INLINE bool join(struct exchange *x, const struct reply *r)
{
	struct flight *f = x->emit.joining;

	if (!join_waits_for_t3(x) || !r->follow_up_told || r->follow_up_method == PACKET_METHOD_NONE ||
	    r->follow_up_seq != f->reply_seq)
		return false;
	take_t3(x, f, r, r->follow_up_method, r->follow_up_ns);
	return true;
}

/* The reply to the probe after the one that waits: whatever it says, nothing later will say more. */
INLINE void join_or_not(struct exchange *x, const struct reply *r)
{
	if (!join_waits_for_t3(x) || join(x, r))
		return;
	if (!r->follow_up_told)
		decide(x, FOLLOW_UP_UNTOLD);
	else
		decide(x, r->seq == x->emit.joining->reply_seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
}

/* What T2 is a stamp of. Whoever has better ones and misses one says the time of its program instead: that is no stamp
 * on the wire, and may be of another clock. */
INLINE uint8_t stamp_there(struct exchange *x, const struct reply *r)
{
	static const uint8_t rank[SOURCES] = { [SOURCE_USER] = 1, [SOURCE_LOCAL] = 1, [SOURCE_KERNEL] = 2,
					       [SOURCE_HARDWARE] = 3 };
	uint8_t source = source_told(r, r->t2_method),
			 best = atomic_load_explicit(&x->result.there, memory_order_relaxed);

	if (rank[source] > rank[best])
		atomic_store_explicit(&x->result.there, source, memory_order_relaxed);
	return rank[source] < rank[best] ? SOURCE_NONE : source;
}

/* The other host's times, as far as this reply has them. */
INLINE void note_there(struct exchange *x, struct flight *f, const struct reply *r)
{
	struct sample *s = &f->sample;

	f->told = r->follow_up_told;
	f->reply_seq = r->seq;
	f->t2_method = r->t2_known ? r->t2_method : PACKET_METHOD_NONE;
	s->time_ns[THERE + REFLECT_T2_WIRE] = in_era(x, r->t2_ns);
	s->source[THERE + REFLECT_T2_WIRE] = r->t2_known ? stamp_there(x, r) : SOURCE_NONE;
	if (s->source[THERE + REFLECT_T2_WIRE])
		x->emit.era_ns = s->time_ns[THERE + REFLECT_T2_WIRE] - HALF_ERA_NS;
	s->time_ns[THERE + REFLECT_T3_USER] = in_era(x, r->t3_ns);
	s->source[THERE + REFLECT_T3_USER] = r->t3_known ? SOURCE_USER : SOURCE_NONE;
	s->alike = r->software_told ? r->software_bound_ns >= 0 : r->t2_method == r->t3_method;
	if (!r->software_told)
		return;
	s->one_scale = r->software_bound_ns >= 0;
	s->off_scale = !s->one_scale;
	f->bound_ns[BOUND_THERE] = r->software_bound_ns;
	if (!r->t2_user_known)
		return;
	s->time_ns[THERE + REFLECT_T2_USER] = in_era(x, r->t2_user_ns);
	s->source[THERE + REFLECT_T2_USER] = SOURCE_USER;
}

/* What else a reply tells: in which state the probe arrived there. */
INLINE void note_state(struct exchange *x, const struct reply *r)
{
	const struct options *o = x->options;
	struct account *a = &x->result.account;

	if (r->ttl >= 0 && r->ttl != o->ttl) {
		counter_add(&a->other_ttl, 1);
		x->result.arrived_ttl = (uint8_t)r->ttl;
	}
	if (r->class_told && r->dscp != o->dscp) {
		counter_add(&a->other_class, 1);
		x->result.arrived_dscp = r->dscp;
	}
	if (r->clock_doubted && !counter_get(&a->doubted))
		x->result.doubted_seq = r->sender_seq;
	counter_add(&a->doubted, r->clock_doubted);
	counter_add(&a->malformed_tlv, r->tlv_malformed);
	counter_add(&a->unusable_tlv, r->tlv_integrity);
}

INLINE void keep(struct exchange *x, struct flight *f)
{
	bool agrees;

	finish_joining(x, f);
	if (!f) /* never; finish_joining() may be given none, and gcc -fanalyzer takes this one for it */
		__builtin_unreachable();
	agrees = weigh_there(x, f);
	if (f->told) {
		x->emit.joining = f;
		return;
	}
	f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNTOLD : FOLLOW_UP_NONE;
	agrees &= weigh_back(x, f);
	finish_probe(x, f, agrees && is_settled(x));
}

INLINE void read_tlvs(struct exchange *x)
{
	packet_read_tlvs(x->channel->datagram, join_reply_bytes(x), x->key, &x->emit.reply);
}

/* What the number of a reply in time shows, and what it says of requests that the reflector did not answer. */
INLINE void note_number(struct exchange *x, struct directions *d, uint32_t sender_seq)
{
	const struct reply *r = &x->emit.reply;

	counter_add(&x->result.account.stateless, r->stateless);
	if (r->stateless)
		directions_stateless(d, sender_seq);
	else
		directions_note(d, sender_seq, r->seq, false);
	if (r->discards_told && directions_has_news(d, r->discarded, r->discard_reasons) && !r->stateless)
		directions_discards(d, r->seq, r->discarded, r->discard_reasons);
}

void join_digest_reply(struct exchange *x)
{
	const struct reply *r = &x->emit.reply;
	struct flight *f = x->emit.undigested;

	x->emit.undigested = NULL;
	read_tlvs(x);
	note_number(x, &x->result.directions, r->sender_seq);
	if (r->follow_up_told && r->follow_up_method != PACKET_METHOD_NONE)
		directions_stateful(&x->result.directions);
	join_or_not(x, r);
	note_there(x, f, r);
	note_state(x, r);
	if (f->kept)
		keep(x, f);
}

void join_confirm(struct exchange *x, struct flight *f)
{
	if (x->emit.joining && !join_waits_for_t3(x))
		finish_joining(x, f);
}

/* Of its own only so that join_digest_reply() has it inline: a call costs 13 instructions of each plain round trip. */
void join_keep(struct exchange *x, struct flight *f)
{
	keep(x, f);
}

/* ---- With many in flight ----------------------------------------------------------------------------------------- */

/* T1 and T2 of a probe, if both are known: false if they contradict those before. */
static bool confirm_held(struct exchange *x, struct flight *f)
{
	if (f->sample.source[x->from] && f->sample.source[THERE + REFLECT_T2_WIRE])
		x->window.confirmed_key = f->key;
	return weigh_there(x, f);
}

#define BESIDE_MOST 64 /* flights that are looked at for one: what is left of them is for those after it */

/* Those that are held and ended just before this one began, and just after. By the clock of the stamps: replies may
 * wait to be read for longer than a round trip takes. */
static bool agrees_with_held(struct exchange *x, const struct flight *f)
{
	const unsigned t2 = THERE + REFLECT_T2_WIRE, t3 = THERE + REFLECT_T3_WIRE;
	const struct clock_peer_moment moment = { .seq = f->sample.seq, .mono_ns = x->now_ns };
	const int64_t t1_ns = f->sample.time_ns[x->from];
	struct window *w = &x->window;
	unsigned after = 0;

	if (!f->sample.source[x->from] || !f->sample.source[t2])
		return true;
	if ((int32_t)(w->held_key - w->beside_key) > 0)
		w->beside_key = w->held_key;
	if (t1_ns < w->beside_t1_ns) /* this host's clock was set */
		w->beside_since_ns = INT64_MIN;
	w->beside_t1_ns = t1_ns;
	if (t1_ns < w->beside_since_ns)
		return true;
	for (uint32_t key = w->beside_key, end = key + BESIDE_MOST; key != x->oldest_key && key != end; key++) {
		const struct flight *h = verb_flight_of(x, key);
		const bool answered = h->fate == FATE_ANSWERED && h->kept;
		const int64_t t4_ns = answered ? h->sample.time_ns[x->to] : INT64_MIN;

		if (answered && h->sample.source[t3] && t4_ns >= w->beside_since_ns && rules_is_response(&h->sample) &&
		    !clock_peer_pair(x->peer, h->sample.time_ns[t3], t4_ns, t1_ns, f->sample.time_ns[t2], &moment)) {
			/* What was still on its way then contradicts it too. */
			w->beside_since_ns = (t4_ns > t1_ns ? t4_ns : t1_ns) + h->sample.latency_ns -
					     (h->sample.time_ns[t3] - h->sample.time_ns[t2]) + STEP_SLACK_NS;
			return false;
		}
		/* The first one after T1 may have been reflected before a step that this one met there before: the ways
		 * take their time. */
		if (t4_ns <= t1_ns && !after)
			w->beside_key = key;
		else if (t4_ns > t1_ns && ++after == 2)
			break;
	}
	return true;
}

void join_weigh(struct exchange *x, struct flight *f)
{
	if (!f->told)
		f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNTOLD : FOLLOW_UP_NONE;
	if (!x->peer)
		return;
	f->conflicts = x->peer->conflicts;
	f->agrees = confirm_held(x, f) && agrees_with_held(x, f);
	f->agrees &= weigh_back(x, f);
	f->agrees &= is_settled(x) && f->conflicts == x->peer->conflicts;
}

void join_confirm_held(struct exchange *x, struct flight *f)
{
	if (x->peer)
		confirm_held(x, f);
}

static bool is_confirmed(const struct exchange *x, const struct flight *f)
{
	return !x->peer || !f->told || (int32_t)(x->window.confirmed_key - f->confirm_key) >= 0;
}

void join_release(struct exchange *x, bool force)
{
	struct window *w = &x->window;

	for (; w->held_key != x->oldest_key; w->held_key++) {
		struct flight *f = verb_flight_of(x, w->held_key);

		if (f->fate != FATE_ANSWERED || !f->kept)
			continue;
		/* A ring that is full would hold up the sending. */
		if (!force && !is_confirmed(x, f) && x->next_key - w->held_key < x->flight_mask)
			return;
		finish_probe(x, f, !x->peer || (f->agrees && f->conflicts == x->peer->conflicts));
	}
}

/* Of the session of what was received. */
INLINE struct replies *replies_here(struct exchange *x)
{
	return x->port ? &x->port[x->channel->at->number].replies : &x->window.replies;
}

INLINE struct directions *directions_here(struct exchange *x)
{
	return x->port ? &x->result.port[x->channel->at->number].directions : &x->result.directions;
}

/* NULL: no flight that is known has this reply. */
INLINE struct flight *flight_of_reply(struct exchange *x, uint32_t reply_seq)
{
	const struct replies *replies = replies_here(x);
	struct flight *f = verb_flight_of(x, replies->key[reply_seq & replies->mask]);

	return f->fate == FATE_ANSWERED && f->reply_seq == reply_seq && f->lane == x->channel->at->number ? f : NULL;
}

/* Each T3 is told by several replies, of which one is enough. */
static void take_one(struct exchange *x, const struct reply *r, const struct packet_departure *d)
{
	struct flight *f = flight_of_reply(x, d->seq);

	if (!f) {
		replies_here(x)->early[d->seq % EARLY_T3S] = *d;
	} else if (f->sample.follow_up == FOLLOW_UP_NONE) {
		take_t3(x, f, r, d->method, d->ns);
	} else if (f->told && (f->sample.follow_up == FOLLOW_UP_LOST || f->sample.follow_up == FOLLOW_UP_UNKNOWN)) {
		counter_add(&x->result.account.follow_up_late, 1);
		f->told = false; /* once */
	}
}

/* All that a reply tells of those before it. */
static void take_follow_ups(struct exchange *x, const struct reply *r)
{
	struct flight *before = flight_of_reply(x, r->seq - 1);

	if (!r->follow_up_told)
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE) {
		directions_stateful(directions_here(x));
		take_one(x, r, &(struct packet_departure){ r->follow_up_seq, r->follow_up_method, r->follow_up_ns });
	} else if (before) {
		before->t3_untold = true;
	}
	for (unsigned i = 0; i < r->follow_ups; i++)
		take_one(x, r, &r->follow_up[i]);
}

/* Replies of the count before a restart: nothing will say when those left that it did not say, and nothing that it said
 * is of a number of the new one. */
static void forget_replies(struct exchange *x, struct replies *replies, const struct flight *first_of_new)
{
	for (uint32_t key = x->oldest_key; key != x->next_key; key++) {
		struct flight *f = verb_flight_of(x, key);

		if (f != first_of_new && f->fate == FATE_ANSWERED && f->lane == x->channel->at->number && f->told &&
		    f->sample.follow_up == FOLLOW_UP_NONE)
			f->sample.follow_up = FOLLOW_UP_LOST;
	}
	for (unsigned i = 0; i < EARLY_T3S; i++)
		replies->early[i].method = PACKET_METHOD_NONE;
	replies->any = false;
}

/* Of the number of a reply. */
static void note_direction(struct exchange *x, const struct flight *f)
{
	struct directions *d = directions_here(x);
	const uint64_t restarts = d->restarts;

	note_number(x, d, x->port ? f->port_seq : x->emit.reply.sender_seq);
	if (d->restarts != restarts)
		forget_replies(x, replies_here(x), f);
}

void join_digest_of(struct exchange *x, struct flight *f)
{
	const struct reply *r = &x->emit.reply;
	struct replies *replies = replies_here(x);
	const struct packet_departure *early = &replies->early[r->seq % EARLY_T3S];

	read_tlvs(x);
	note_direction(x, f);
	note_there(x, f, r);
	note_state(x, r);
	if (r->stateless)
		return;
	replies->key[r->seq & replies->mask] = f->key;
	if (!replies->any || (int32_t)(r->seq - replies->highest) > 0)
		replies->highest = r->seq;
	replies->any = true;
	if (early->seq == r->seq && early->method != PACKET_METHOD_NONE)
		take_one(x, r, early);
	take_follow_ups(x, r);
}

bool join_awaits_t3(const struct exchange *x, const struct flight *f)
{
	const struct replies *replies = x->port ? &x->port[f->lane].replies : &x->window.replies;
	const int32_t after = (int32_t)(replies->highest - f->reply_seq);

	/* A reflector that began its numbers again tells nothing of those before. */
	return f->told && f->sample.follow_up == FOLLOW_UP_NONE && after >= 0 && after <= WINDOW_T3_REACH;
}

/* Where its port counted a probe is known for as long as its flight is. */
static void note_again(struct exchange *x, bool again)
{
	const struct reply *r = &x->emit.reply;
	const struct flight *f = verb_flight_of(x, r->sender_seq);

	if (!x->port)
		directions_note(&x->result.directions, r->sender_seq, r->seq, again);
	else if (f->key == r->sender_seq && f->lane == x->channel->at->number)
		directions_note(directions_here(x), f->port_seq, r->seq, again);
}

void join_again(struct exchange *x, bool again)
{
	const struct reply *r = &x->emit.reply;

	read_tlvs(x);
	if (!r->stateless)
		note_again(x, again);
	if (x->window.most) {
		take_follow_ups(x, r);
		return;
	}
	if (!r->follow_up_told || join(x, r))
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE)
		counter_add(&x->result.account.follow_up_late, !again);
	else if (join_waits_for_t3(x) && r->seq == x->emit.joining->reply_seq + 1)
		decide(x, FOLLOW_UP_UNKNOWN);
}

void join_closing(struct exchange *x, struct flight *f)
{
	join_again(x, false);
	note_there(x, f, &x->emit.reply);
}
