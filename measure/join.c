// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remote timestamps. An answered sample waits for T3 on the wire of its reply, which the next reply reports
 * (RFC 8972 section 4.7); then its one-way delays are known.
 */
#include "measure/join.h"

#include "host/clock/clock_peer.h"
#include "measure/verbs.h"

/* The reflector's clock minus ours at a local time, and the error bound. False: unknown. */
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

/* One-way delays by the clock offset that the exchanges themselves show; at the local end of each
 * direction, since the clocks drift during a long response. The offset at T1 stays valid unless the
 * exchange itself contradicts it (a small clock step). reported: the
 * reply reports T3. */
INLINE void record_directions(struct exchange *x, const struct flight *f, bool reported)
{
	const struct sample *s = &f->sample;
	const int64_t t1_ns = s->time_ns[x->from], t4_ns = s->time_ns[x->to];
	const int64_t t2_ns = s->time_ns[REMOTE + REFLECT_T2_WIRE], t3_ns = s->time_ns[REMOTE + REFLECT_T3_WIRE];
	int64_t offset_ns[ONE_WAYS], bound_ns[ONE_WAYS], most_ns;

	if (!offset_at(x, t1_ns, &offset_ns[ONE_WAY_FORWARD], &bound_ns[ONE_WAY_FORWARD]) ||
	    !offset_at(x, t4_ns, &offset_ns[ONE_WAY_BACKWARD], &bound_ns[ONE_WAY_BACKWARD]))
		return;
	if (f->has_offset && f->offset_bound_ns <= bound_ns[ONE_WAY_FORWARD] &&
	    is_within(f->offset_ns, offset_ns[ONE_WAY_FORWARD], bound_ns[ONE_WAY_FORWARD])) {
		offset_ns[ONE_WAY_FORWARD] = f->offset_ns;
		bound_ns[ONE_WAY_FORWARD] = f->offset_bound_ns;
	}
	bound_ns[ONE_WAY_FORWARD] += rules_t1_error_ns(f);
	bound_ns[ONE_WAY_BACKWARD] += rules_t3_error_ns(f);
	most_ns = bound_ns[bound_ns[ONE_WAY_BACKWARD] > bound_ns[ONE_WAY_FORWARD]];
	if (reported) {
		ipdv_print_directions(x, s, offset_ns, most_ns);
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
	x->result.one_way_bound_ns[1] = optional_of(most_ns);
	if (most_ns >= x->result.one_way_bound_ns[0].value)
		x->result.one_way_bound_ns[0] = optional_of(most_ns);
}

/* An emitter's sample is complete. */
INLINE void finish_probe(struct exchange *x, struct flight *f, bool agrees)
{
	bool reported;

	sample_complete(x, f, agrees, true);
	/* The counters still belong to its exchange: the next exchange has not ended, and no probe was lost
	 * in between. */
	if (f->counted && x->next_key - f->key <= 2)
		pmc_account(x->pmc, sample_is_slow(x, &f->sample));
	if (!sample_record(x, f, true))
		return;
	reported = ipdv_note(x, &f->sample);
	if (x->port)
		source_port_note(x, f);
	if (x->result.planned[PLANNED_LATE]) {
		histogram_add(x->result.planned[PLANNED_LATE], f->late_ns, f->sample.seq);
		histogram_add(x->result.planned[PLANNED_RTT], f->late_ns + f->sample.latency_ns, f->sample.seq);
		histogram_add(x->result.planned[PLANNED_CALL], f->call_ns, f->sample.seq);
	}
	if (x->peer && (reported || f->sample.source[REMOTE + REFLECT_T3_WIRE]))
		record_directions(x, f, reported);
}

/* ---- The relation of the two hosts' clocks ----------------------------------------------------------------------- */

INLINE bool hold_remote(struct exchange *x, struct flight *f)
{
	const struct clock_peer_moment moment = { .seq = f->sample.seq, .mono_ns = x->now_ns };
	/* Placed times may be late by their error: the limits of the offset hold with it. */
	const int64_t t1_ns = f->sample.time_ns[x->from] - rules_t1_error_ns(f);
	const bool agrees = clock_peer_forward(x->peer, t1_ns, f->sample.time_ns[REMOTE + REFLECT_T2_WIRE], &moment);

	/* Now, not at the end of the exchange: the exchanges around T1 give the best offset, however long
	 * the response takes. */
	f->has_offset = offset_at(x, t1_ns, &f->offset_ns, &f->offset_bound_ns);
	return agrees;
}

/* T1 and T2, when both are known: before those of any later exchange. */
INLINE bool validate_forward(struct exchange *x, struct flight *f)
{
	const struct sample *s = &f->sample;
	const bool before = f->validated;

	f->validated = true;
	return before || !x->peer || !s->source[x->from] || !s->source[REMOTE + REFLECT_T2_WIRE] || hold_remote(x, f);
}

/* T3 and T4 of the last compared exchange. Without T3 of its reply on the wire, the whole response time is
 * uncertainty. A negative round trip has a wrong local timestamp, which proves nothing about the
 * reflector's clock. */
INLINE bool validate_backward(struct exchange *x, const struct flight *f)
{
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_WIRE;
	const struct sample *s = &f->sample;
	bool is_response, agrees;

	if (!x->peer || !s->source[t2] || s->latency_ns < 0)
		return true;
	is_response = s->source[t3] && rules_fits(f);
	agrees = clock_peer_backward(x->peer, is_response ? s->time_ns[t3] - rules_t3_error_ns(f) : s->time_ns[t2],
				     s->time_ns[x->to]);
	if (s->source[t3] && !is_response)
		clock_peer_contradicts(x->peer);
	return agrees;
}

INLINE bool is_settled(const struct exchange *x)
{
	return !x->peer || clock_peer_is_settled(x->peer);
}

/* ---- T3 ---------------------------------------------------------------------------------------------------------- */

/* Sets T3 of the waiting sample. The sample waits on for T1 and T2 of the next exchange, which show whether
 * a clock was stepped meanwhile. */
static void decide(struct exchange *x, enum follow_up how)
{
	x->emit.joining->sample.follow_up = (uint8_t)how;
}

/* next: a later exchange, whose T1 is known or lost; NULL: none. */
static void finish_joining(struct exchange *x, struct flight *next)
{
	struct flight *f = x->emit.joining;
	bool agrees;

	if (!f)
		return;
	agrees = validate_backward(x, f);
	if (next)
		agrees &= validate_forward(x, next);
	x->emit.joining = NULL;
	finish_probe(x, f, agrees && is_settled(x));
}

void join_end(struct exchange *x, enum follow_up how, struct flight *next)
{
	if (join_waits_for_t3(x))
		decide(x, how);
	finish_joining(x, next);
}

/* Source of a timestamp, by the reply's method field and, from a rant, its own source field. */
INLINE uint8_t source_reported(const struct reply *r, uint8_t method)
{
	if (method == PACKET_METHOD_HARDWARE)
		return SOURCE_HARDWARE;
	if (method != PACKET_METHOD_SOFTWARE)
		return SOURCE_LOCAL;
	if (r->software_reported && r->wire_source == SOURCE_RECEIVE)
		return SOURCE_KERNEL;
	return r->software_reported && (r->wire_source == SOURCE_USER || r->wire_source == SOURCE_KERNEL) ?
		r->wire_source :
													 SOURCE_LOCAL;
}

#define ERA_NS (NS_PER_S << 32)
#define HALF_ERA_NS (ERA_NS / 2)

/* Packets have seconds modulo 2^32: a clock that passes an end of that range (2106; 1970, of an unset
 * clock) is continued. Times more than half an era beyond the first time are left unchanged, so that no
 * difference of such times overflows. */
INLINE int64_t in_era(const struct exchange *x, int64_t ns)
{
	if (ns < x->emit.era_ns && ns < HALF_ERA_NS)
		return ns + ERA_NS;
	if (ns >= x->emit.era_ns + ERA_NS && ns >= HALF_ERA_NS)
		return ns - ERA_NS;
	return ns;
}

/* A transmit time of the reflector's kernel, reported as a time after that of its program. */
INLINE void note_kernel(struct sample *s, unsigned at, uint32_t after_ns)
{
	if (!s->source[REMOTE + REFLECT_T3_USER])
		return;
	s->time_ns[at] = s->time_ns[REMOTE + REFLECT_T3_USER] + after_ns;
	s->source[at] = SOURCE_KERNEL;
}

/* Adds the kernel's times of that reply, if this reply reports them. */
INLINE void add_kernel(const struct reply *r, struct packet_departure *d)
{
	for (unsigned i = 0; i < r->departures; i++) {
		if (r->departure[i].seq != d->seq)
			continue;
		d->kernel = r->departure[i].kernel;
		d->queue_ns = r->departure[i].queue_ns;
		d->driver_ns = r->departure[i].driver_ns;
	}
}

/* Departure that the Follow-Up TLV of a reply reports. */
INLINE struct packet_departure followed_up(const struct reply *r)
{
	struct packet_departure d = { .seq = r->follow_up_seq, .method = r->follow_up_method, .ns = r->follow_up_ns };

	add_kernel(r, &d);
	return d;
}

/* T2 is of the reflector's NIC; T3 is of its kernel, placed on the scale of that NIC with a known bound. */
INLINE bool is_placed(const struct flight *f, const struct reply *r, uint8_t method)
{
	return r->software_reported && r->wire_source == SOURCE_RECEIVE && method == PACKET_METHOD_SOFTWARE &&
	       r->software_bound_ns >= 0 && f->bound_ns[BOUND_REMOTE] >= 0 &&
	       f->sample.source[REMOTE + REFLECT_T2_WIRE] == SOURCE_HARDWARE;
}

/* T3 on the wire of its reply, as reported by a later reply. */
INLINE void take_t3(struct exchange *x, struct flight *f, const struct reply *r, const struct packet_departure *d)
{
	const uint8_t method = d->method;
	const unsigned t2 = REMOTE + REFLECT_T2_WIRE, t3 = REMOTE + REFLECT_T3_WIRE;

	/* Also if only this reply shows that better timestamps than T2's exist; a reply without such a T2
	 * reports a lesser source. */
	if (is_placed(f, r, method)) {
		f->sample.source[t3] = SOURCE_KERNEL;
		if (r->software_bound_ns > f->bound_ns[BOUND_REMOTE])
			f->bound_ns[BOUND_REMOTE] = r->software_bound_ns;
	} else if (method != f->t2_method || !f->sample.source[t2] ||
		   source_reported(r, method) > f->sample.source[t2]) {
		f->sample.follow_up = FOLLOW_UP_MIXED;
		return;
	} else {
		f->sample.source[t3] = f->sample.source[t2];
	}
	f->sample.time_ns[t3] = in_era(x, d->ns);
	f->sample.follow_up = FOLLOW_UP_THERE;
	if (d->kernel & PACKET_KERNEL_QUEUE)
		note_kernel(&f->sample, REMOTE_KERNEL_QUEUE, d->queue_ns);
	if (d->kernel & PACKET_KERNEL_DRIVER && f->sample.source[t3] == SOURCE_HARDWARE)
		note_kernel(&f->sample, REMOTE_KERNEL_DRIVER, d->driver_ns);
	sample_note_driver(&f->sample, t3, true);
}

/* T3 of the previous reply, if the previous sample waits for it. */
INLINE bool join(struct exchange *x, const struct reply *r)
{
	struct flight *f = x->emit.joining;

	if (!join_waits_for_t3(x) || !r->follow_up_reported || r->follow_up_method == PACKET_METHOD_NONE ||
	    r->follow_up_seq != f->reply_seq)
		return false;

	const struct packet_departure d = followed_up(r);

	take_t3(x, f, r, &d);
	return true;
}

/* The reply to the probe after the waiting sample: no later reply has more about it. */
INLINE void join_or_not(struct exchange *x, const struct reply *r)
{
	if (!join_waits_for_t3(x) || join(x, r))
		return;
	if (!r->follow_up_reported)
		decide(x, FOLLOW_UP_UNREPORTED);
	else
		decide(x, r->seq == x->emit.joining->reply_seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
}

/* Source of T2. A reflector that lacks a better timestamp for a packet reports its program's time instead:
 * that is not a wire timestamp, and may be of another clock. */
INLINE uint8_t stamp_remote(struct exchange *x, const struct reply *r)
{
	static const uint8_t rank[HOST_SOURCES] = { [SOURCE_USER] = 1, [SOURCE_LOCAL] = 1, [SOURCE_KERNEL] = 2,
						    [SOURCE_HARDWARE] = 3, [SOURCE_RECEIVE] = 3 };
	const uint8_t source = source_reported(r, r->t2_method);
	const uint8_t host = source == SOURCE_HARDWARE && r->software_reported && r->wire_source == SOURCE_RECEIVE ?
				     SOURCE_RECEIVE : source;
	const uint8_t best = atomic_load_explicit(&x->result.remote, memory_order_relaxed);

	if (rank[host] > rank[best])
		atomic_store_explicit(&x->result.remote, host, memory_order_relaxed);
	return rank[source] < rank[best] ? SOURCE_NONE : source;
}

/* Copies the remote timestamps of this reply. */
INLINE void note_remote(struct exchange *x, struct flight *f, const struct reply *r)
{
	struct sample *s = &f->sample;

	f->reported = r->follow_up_reported;
	f->reply_seq = r->seq;
	f->t2_method = r->t2_known ? r->t2_method : PACKET_METHOD_NONE;
	s->time_ns[REMOTE + REFLECT_T2_WIRE] = in_era(x, r->t2_ns);
	s->source[REMOTE + REFLECT_T2_WIRE] = r->t2_known ? stamp_remote(x, r) : SOURCE_NONE;
	if (s->source[REMOTE + REFLECT_T2_WIRE])
		x->emit.era_ns = s->time_ns[REMOTE + REFLECT_T2_WIRE] - HALF_ERA_NS;
	s->time_ns[REMOTE + REFLECT_T3_USER] = in_era(x, r->t3_ns);
	s->source[REMOTE + REFLECT_T3_USER] = r->t3_known ? SOURCE_USER : SOURCE_NONE;
	s->remote_poll_gap_ns = r->poll_gap_ns;
	s->alike = r->software_reported ? r->software_bound_ns >= 0 : r->t2_method == r->t3_method;
	if (!r->software_reported)
		return;
	s->same_timebase = r->software_bound_ns >= 0;
	s->off_scale = !s->same_timebase;
	f->bound_ns[BOUND_REMOTE] = r->software_bound_ns;
	if (r->t2_kernel_known && s->source[REMOTE + REFLECT_T2_WIRE] == SOURCE_HARDWARE) {
		s->time_ns[REMOTE_KERNEL_RECEIVE] = in_era(x, r->t2_kernel_ns);
		s->source[REMOTE_KERNEL_RECEIVE] = SOURCE_KERNEL;
	}
	if (!r->t2_user_known)
		return;
	s->time_ns[REMOTE + REFLECT_T2_USER] = in_era(x, r->t2_user_ns);
	s->source[REMOTE + REFLECT_T2_USER] = SOURCE_USER;
}

/* Copies other reports of a reply: DSCP, ECN and TTL of the probe at the reflector. */
INLINE void note_state(struct exchange *x, const struct reply *r)
{
	const struct options *o = x->options;
	struct account *a = &x->result.account;

	if (r->ttl >= 0 && r->ttl != o->ttl) {
		counter_add(&a->other_ttl, 1);
		x->result.arrived_ttl = (uint8_t)r->ttl;
	}
	if (r->class_reported && r->dscp != o->dscp) {
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
	if (!f) /* unreachable; silences gcc -fanalyzer, since finish_joining() may get NULL */
		__builtin_unreachable();
	agrees = validate_forward(x, f);
	if (f->reported) {
		x->emit.joining = f;
		return;
	}
	f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNREPORTED : FOLLOW_UP_NONE;
	agrees &= validate_backward(x, f);
	finish_probe(x, f, agrees && is_settled(x));
}

/* in_time: the reply to a probe in flight. */
INLINE void read_tlvs(struct exchange *x, const bool in_time)
{
	packet_read_tlvs(x->channel->datagram, join_reply_bytes(x), x->key, &x->emit.reply);
	if (x->freezes && x->emit.reply.freeze.present)
		freeze_note_reply(x, in_time);
}

/* Loss by direction from the number of a reply in time, and the reported discards. */
INLINE void note_number(struct exchange *x, struct directions *d, uint32_t sender_seq)
{
	const struct reply *r = &x->emit.reply;

	counter_add(&x->result.account.stateless, r->stateless);
	if (r->stateless)
		directions_stateless(d, sender_seq);
	else
		directions_note(d, sender_seq, r->seq, false);
	if (r->discards_reported && directions_has_news(d, r->discarded, r->discard_reasons) && !r->stateless)
		directions_discards(d, r->seq, r->discarded, r->discard_reasons);
}

void join_digest_reply(struct exchange *x)
{
	const struct reply *r = &x->emit.reply;
	struct flight *f = x->emit.undigested;

	x->emit.undigested = NULL;
	read_tlvs(x, true);
	note_number(x, &x->result.directions, r->sender_seq);
	if (r->follow_up_reported && r->follow_up_method != PACKET_METHOD_NONE)
		directions_stateful(&x->result.directions);
	join_or_not(x, r);
	note_remote(x, f, r);
	note_state(x, r);
	if (f->kept)
		keep(x, f);
}

void join_confirm(struct exchange *x, struct flight *f)
{
	if (x->emit.joining && !join_waits_for_t3(x))
		finish_joining(x, f);
}

/* Separate, so that join_digest_reply() is inlined: a call costs 13 instructions of each plain round trip. */
void join_keep(struct exchange *x, struct flight *f)
{
	keep(x, f);
}

/* ---- With many in flight ----------------------------------------------------------------------------------------- */

/* Compares T1 and T2 of a probe, if both are known: false if they contradict earlier exchanges. */
static bool confirm_held(struct exchange *x, struct flight *f)
{
	if (f->sample.source[x->from] && f->sample.source[REMOTE + REFLECT_T2_WIRE])
		x->window.confirmed_key = f->key;
	return validate_forward(x, f);
}

#define BESIDE_MOST 64 /* flights compared for one; the rest is left to later flights */

/* Its known is false without T3 and T4 that may be compared. A response that is not part of its round trip may have a
 * wrong T3, unless a conflict since then shows that a clock was set. */
static struct window_reply reply_of(const struct exchange *x, const struct flight *f)
{
	const struct sample *s = &f->sample;
	struct window_reply r = { .t4_ns = s->time_ns[x->to] };

	if (f->fate != FATE_ANSWERED || !f->kept || !s->source[REMOTE + REFLECT_T3_WIRE] || s->latency_ns < 0 ||
	    (!rules_fits(f) && f->conflicts == x->peer->conflicts))
		return r;
	r.known = true;
	r.t3_ns = s->time_ns[REMOTE + REFLECT_T3_WIRE] - rules_t3_error_ns(f);
	r.network_ns = s->latency_ns - (r.t3_ns - s->time_ns[REMOTE + REFLECT_T2_WIRE]);
	/* Steps may have made the response negative, or longer than the round trip. */
	if (r.network_ns < 0)
		r.network_ns = 0;
	else if (r.network_ns > s->latency_ns)
		r.network_ns = s->latency_ns;
	return r;
}

static bool agrees_with_reply(struct exchange *x, const struct flight *f, const struct window_reply *r)
{
	const struct clock_peer_moment moment = { .seq = f->sample.seq, .mono_ns = x->now_ns };
	int64_t t1_ns;

	if (!r->known || r->t4_ns < x->window.beside_since_ns)
		return true;
	t1_ns = f->sample.time_ns[x->from] - rules_t1_error_ns(f);
	if (clock_peer_pair(x->peer, r->t3_ns, r->t4_ns, t1_ns, f->sample.time_ns[REMOTE + REFLECT_T2_WIRE], &moment))
		return true;
	/* Later flights that were in flight then contradict it too. */
	x->window.beside_since_ns = (r->t4_ns > t1_ns ? r->t4_ns : t1_ns) + r->network_ns + STEP_SLACK_NS;
	return false;
}

/* Compares flights that ended just before this flight began, and just after. By the clock of the timestamps:
 * replies may wait to be read for longer than a round trip. */
static bool agrees_with_held(struct exchange *x, const struct flight *f)
{
	const int64_t t1_ns = f->sample.time_ns[x->from];
	struct window *w = &x->window;
	unsigned after = 0;

	if (!f->sample.source[x->from] || !f->sample.source[REMOTE + REFLECT_T2_WIRE])
		return true;
	if ((int32_t)(w->held_key - w->beside_key) > 0)
		w->beside_key = w->held_key;
	if (t1_ns < w->beside_t1_ns) { /* this host's clock was stepped */
		w->beside_since_ns = INT64_MIN;
		w->beside.known = false;
	}
	w->beside_t1_ns = t1_ns;
	if (t1_ns < w->beside_since_ns) /* not compared: a further step in this time is not detected */
		return false;
	/* It may be recorded already: confirmed by an exchange that began before a step which this flight met. */
	if (!agrees_with_reply(x, f, &w->beside))
		return false;
	for (uint32_t key = w->beside_key, end = x->closing ? x->oldest_key : key + BESIDE_MOST;
	     key != x->oldest_key && key != end; key++) {
		const struct flight *h = verb_flight_of(x, key);
		const bool answered = h->fate == FATE_ANSWERED && h->kept;
		const int64_t t4_ns = answered ? h->sample.time_ns[x->to] : INT64_MIN;
		const struct window_reply r = reply_of(x, h);

		if (!agrees_with_reply(x, f, &r))
			return false;
		/* The first flight after T1 may have been reflected before a step that this flight met: the
		 * directions take their time. */
		if (t4_ns <= t1_ns && !after) {
			w->beside_key = key;
			if (r.known)
				w->beside = r;
		} else if (t4_ns > t1_ns && ++after == 2) {
			break;
		}
	}
	return true;
}

void join_validate(struct exchange *x, struct flight *f)
{
	if (!f->reported)
		f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNREPORTED : FOLLOW_UP_NONE;
	if (!x->peer)
		return;
	f->conflicts = x->peer->conflicts;
	f->agrees = confirm_held(x, f) && agrees_with_held(x, f);
	f->agrees &= validate_backward(x, f);
	f->agrees &= is_settled(x) && f->conflicts == x->peer->conflicts;
}

void join_confirm_held(struct exchange *x, struct flight *f)
{
	if (x->peer && confirm_held(x, f))
		agrees_with_held(x, f);
}

static bool is_confirmed(const struct exchange *x, const struct flight *f)
{
	return !x->peer || !f->reported || (int32_t)(x->window.confirmed_key - f->confirm_key) >= 0;
}

void join_release(struct exchange *x, bool force)
{
	struct window *w = &x->window;

	for (; w->held_key != x->oldest_key; w->held_key++) {
		struct flight *f = verb_flight_of(x, w->held_key);

		if (f->fate != FATE_ANSWERED || !f->kept)
			continue;
		/* A full ring would delay sending. */
		if (!force && !is_confirmed(x, f) && x->next_key - w->held_key < x->flight_mask)
			return;
		finish_probe(x, f, !x->peer || (f->agrees && f->conflicts == x->peer->conflicts));
	}
}

/* Reply numbers of the session of the received reply. */
INLINE struct replies *replies_here(struct exchange *x)
{
	return x->port ? &x->port[x->channel->at->number].replies : &x->window.replies;
}

INLINE struct directions *directions_here(struct exchange *x)
{
	return x->port ? &x->source_port[x->channel->at->number].directions : &x->result.directions;
}

/* NULL: no known flight has this reply. */
INLINE struct flight *flight_of_reply(struct exchange *x, uint32_t reply_seq)
{
	const struct replies *replies = replies_here(x);
	struct flight *f = verb_flight_of(x, replies->key[reply_seq & replies->mask]);

	return f->fate == FATE_ANSWERED && f->reply_seq == reply_seq && f->peer_socket == x->channel->at->number ? f :
		NULL;
}

/* Each T3 is reported by several replies; one is enough. */
static void take_one(struct exchange *x, const struct reply *r, const struct packet_departure *d)
{
	struct flight *f = flight_of_reply(x, d->seq);

	if (!f) {
		replies_here(x)->early[d->seq % EARLY_T3S] = *d;
	} else if (f->sample.follow_up == FOLLOW_UP_NONE) {
		take_t3(x, f, r, d);
	} else if (f->reported && (f->sample.follow_up == FOLLOW_UP_LOST || f->sample.follow_up == FOLLOW_UP_UNKNOWN)) {
		counter_add(&x->result.account.follow_up_late, 1);
		f->reported = false; /* only once */
	}
}

/* Takes all departures of earlier replies that a reply reports. */
static void take_follow_ups(struct exchange *x, const struct reply *r)
{
	struct flight *before = flight_of_reply(x, r->seq - 1);
	struct packet_departure d;

	if (!r->follow_up_reported)
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE) {
		directions_stateful(directions_here(x));
		d = followed_up(r);
		take_one(x, r, &d);
	} else if (before) {
		before->t3_unreported = true;
	}
	for (unsigned i = 0; i < r->follow_ups; i++) {
		d = r->follow_up[i];
		add_kernel(r, &d);
		take_one(x, r, &d);
	}
}

/* Replies of the count before a restart: no further departures will be reported, and earlier reports do not
 * apply to the new count. */
static void forget_replies(struct exchange *x, struct replies *replies, const struct flight *first_of_new)
{
	for (uint32_t key = x->oldest_key; key != x->next_key; key++) {
		struct flight *f = verb_flight_of(x, key);

		if (f != first_of_new && f->fate == FATE_ANSWERED && f->peer_socket == x->channel->at->number &&
		    f->reported &&
		    f->sample.follow_up == FOLLOW_UP_NONE)
			f->sample.follow_up = FOLLOW_UP_LOST;
	}
	for (unsigned i = 0; i < EARLY_T3S; i++)
		replies->early[i].method = PACKET_METHOD_NONE;
	replies->any = false;
}

/* Checks the number of a reply. */
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

	read_tlvs(x, true);
	note_direction(x, f);
	note_remote(x, f, r);
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
	const struct replies *replies = x->port ? &x->port[f->peer_socket].replies : &x->window.replies;
	const int32_t after = (int32_t)(replies->highest - f->reply_seq);

	/* A reflector that restarted its numbers reports nothing about earlier replies. */
	return f->reported && f->sample.follow_up == FOLLOW_UP_NONE && after >= 0 && after <= WINDOW_T3_REACH;
}

/* The probe's number in its port's count is kept as long as its flight. */
static void note_again(struct exchange *x, bool again)
{
	const struct reply *r = &x->emit.reply;
	const struct flight *f = verb_flight_of(x, r->sender_seq);

	if (!x->port)
		directions_note(&x->result.directions, r->sender_seq, r->seq, again);
	else if (f->key == r->sender_seq && f->peer_socket == x->channel->at->number)
		directions_note(directions_here(x), f->port_seq, r->seq, again);
}

void join_again(struct exchange *x, bool again)
{
	const struct reply *r = &x->emit.reply;

	read_tlvs(x, false);
	if (!r->stateless)
		note_again(x, again);
	if (x->window.most) {
		take_follow_ups(x, r);
		return;
	}
	if (!r->follow_up_reported || join(x, r))
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE)
		counter_add(&x->result.account.follow_up_late, !again);
	else if (join_waits_for_t3(x) && r->seq == x->emit.joining->reply_seq + 1)
		decide(x, FOLLOW_UP_UNKNOWN);
}

void join_closing(struct exchange *x, struct flight *f)
{
	join_again(x, false);
	note_remote(x, f, &x->emit.reply);
}
