// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two orders of exchange (hot). Emit: send, receive, fetch. Reflect: receive, send, fetch. All else is shared.
 * A packet in flight lives in a small ring by the id of its transmit stamp, so that a late stamp lands in its own record
 * or in a counter, never in the record of another packet.
 */
#include "measure/exchange.h"

#include "histogram.h"
#include "host/clock.h"
#include "host/clock_peer.h"
#include "host/pmc.h"
#include "measure/log.h"
#include "options.h"
#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/session.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

#include <string.h>

/* How long stamps are waited for by spinning. After that the thread sleeps in poll: some drivers hand stamps over in a
 * kernel thread on the CPU that sent, which a real-time spinner would starve (kernel-timestamping: delivery). Usual
 * deliveries take 5 to 100 us. */
#define STAMP_SPIN_NS (200 * NS_PER_US)
#define STAMP_SLEEP_NS NS_PER_MS

/* The clock is read in every so many turns of a loop; a turn is at least one system call, so it is never old. */
#define EMIT_CLOCK_TURNS 16
#define REFLECT_CLOCK_TURNS 64

/* However long --timeout is: after the end nobody waits longer for the last reply or stamp, and a refused send is tried
 * again after this. */
#define PATIENCE_NS (100 * NS_PER_MS)

#define SILENCE_NS (3 * NS_PER_S) /* until it is said that nothing answers */
#define ONCE_SILENCE_NS (2 * NS_PER_S) /* until --once ends */

#define INLINE static inline __attribute__((always_inline))

INLINE void read_clock(struct exchange *x)
{
	x->now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (x->read_both) {
		x->now_real_ns = clock_read_ns(CLOCK_REALTIME);
		x->now_by_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
}

INLINE struct flight *flight_of(struct exchange *x, uint32_t key)
{
	return &x->flight[key % FLIGHTS];
}

INLINE bool stage_value(const struct stage *stage, const struct sample *s, int64_t *value_ns)
{
	const uint8_t *there = s->source;

	*value_ns = (s->time_ns[stage->to] - s->time_ns[stage->from]) -
		    (s->time_ns[stage->less_to] - s->time_ns[stage->less_from]);
	return there[stage->from] && there[stage->to] && there[stage->less_from] && there[stage->less_to] &&
	       (stage->bound != BOUND_THERE || s->one_scale);
}

bool exchange_stage_value(const struct stage *stage, const struct sample *s, int64_t *value_ns)
{
	return stage_value(stage, s, value_ns);
}

bool exchange_figure(const struct exchange *x, const struct sample *s, int64_t *value_ns)
{
	const int64_t on = x->options->threshold_on;

	*value_ns = s->latency_ns;
	return on == FIGURE_RTT ||
	       stage_value(&x->stages[on == FIGURE_RESPONSE ? STAGE_RESPONSE : STAGE_NETWORK], s, value_ns);
}

INLINE bool is_slow(const struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	return x->options->threshold_ns && exchange_figure(x, s, &value_ns) && value_ns > x->options->threshold_ns;
}

/* A breach comes first: evidence is frozen before anything else touches the machine. */
INLINE void freeze(struct exchange *x, struct flight *f)
{
	f->breach = true;
	/* Not again for what was still on its way when a breach ended the run. */
	if (x->on_breach && x->end != END_BREACH)
		x->on_breach(x->context, &f->sample);
	if (!x->options->keep_going)
		x->end = END_BREACH;
}

/* When the sample has all that it will get. */
static void note_breach(struct exchange *x, const struct sample *s)
{
	counter *breaches = &x->account.breaches;
	uint64_t before = counter_get(breaches);
	int64_t value_ns, worst_ns;

	if (!before)
		x->breach = *s;
	exchange_figure(x, s, &value_ns);
	exchange_figure(x, &x->worst, &worst_ns);
	if (!before || value_ns > worst_ns)
		x->worst = *s;
	/* The count is seen before the sample that takes the place of an older one, */
	atomic_thread_fence(memory_order_release);
	x->kept[before % BREACHES_KEPT] = *s;
	/* and the sample is there before the count that tells of it. */
	atomic_store_explicit(breaches, before + 1, memory_order_release);
}

/* The outer two times bracket the inner two: at the emitter user space is around the wire, at the reflector the wire is
 * around user space. What is off by more than two clocks drift apart in that time, or than stamps are wrong, was spoilt
 * by a clock that was set in between. */
#define STEP_SLACK_NS (20 * NS_PER_US)
#define STEP_SLACK_SHIFT 9 /* 1/512 of the time: 2000 ppm, more than clocks are off or steered */

INLINE bool is_stepped(const struct sample *s)
{
	int64_t around_ns = s->time_ns[3] - s->time_ns[0], within_ns = s->time_ns[2] - s->time_ns[1];

	if (!s->source[0] || !s->source[1] || !s->source[2] || !s->source[3])
		return false;
	return within_ns > around_ns + STEP_SLACK_NS + (within_ns >> STEP_SLACK_SHIFT);
}

/* Stamps of the kernel and of user space are of CLOCK_REALTIME, which may be set; but for that it goes as fast as
 * CLOCK_MONOTONIC. Only what looks odd is worth the reading of clocks: what is negative, a breach, or longer than this. */
#define ODD_NS (100 * NS_PER_US)

INLINE bool is_odd(const struct sample *s)
{
	return (uint64_t)s->latency_ns > ODD_NS;
}

/* Since sent_real_ns was read. Each reading lies between two of the other clock, so that time in which this thread does not
 * run, anywhere, is not taken for a step. */
static bool was_set(const struct flight *f)
{
	int64_t since_ns = clock_read_ns(CLOCK_MONOTONIC);
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME) - f->sent_real_ns;
	int64_t most_ns = clock_read_ns(CLOCK_MONOTONIC) - f->sent_ns;
	int64_t least_ns = f->sent_by_ns ? since_ns - f->sent_by_ns : 0;

	return real_ns > most_ns + STEP_SLACK_NS || real_ns < least_ns - STEP_SLACK_NS;
}

/* The two times of user space, from CLOCK_REALTIME to the clock of the NIC. */
static void place_user_times(struct exchange *x, struct sample *s)
{
	bool placed = true;

	for (int i = 0; i < TIMES; i++) {
		int64_t bound_ns;

		if (s->source[i] != SOURCE_USER)
			continue;
		if (!clock_to_phc(x->clocks, s->time_ns[i], &s->time_ns[i], &bound_ns)) {
			s->source[i] = SOURCE_NONE;
			placed = false;
		} else if (bound_ns > x->bound_ns[BOUND_HERE]) {
			x->bound_ns[BOUND_HERE] = bound_ns;
		}
	}
	counter_add(&x->account.unplaced, !placed);
}

/* Everything that this host can know of a packet in flight, it has or will not get. Computes its latency and looks for a
 * breach: this comes before the next packet. True: it is to be completed and recorded, which may come after. */
INLINE bool conclude(struct exchange *x, struct flight *f, const bool emit)
{
	struct account *a = &x->account;
	struct sample *s = &f->sample;

	x->last_ns = x->now_ns;
	if (f->warmup) {
		counter_add(&a->warmup, 1);
		return false;
	}
	if (!s->source[x->from] || !s->source[x->to]) {
		counter_add(&a->unstamped, 1);
		counter_add(&a->missing_tx, !s->source[emit ? x->from : x->to]);
		counter_add(&a->missing_rx, !s->source[emit ? x->to : x->from]);
		return false;
	}
	s->latency_ns = s->time_ns[x->to] - s->time_ns[x->from];
	if ((x->check_steps && is_stepped(s)) || (x->check_set && (is_odd(s) || is_slow(x, s)) && was_set(f))) {
		counter_add(&a->stepped, 1);
		return false;
	}
	if (x->options->threshold_on == FIGURE_RTT && is_slow(x, s))
		freeze(x, f);
	if (x->clocks)
		place_user_times(x, s);
	return true;
}

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

/* Now the other host's times are there too, as far as they came. A threshold on what needs them is looked at here. */
INLINE void complete(struct exchange *x, struct flight *f, const bool emit)
{
	struct sample *s = &f->sample;

	if (emit) {
		int64_t value_ns;

		counter_add(&x->account.follow_up[s->follow_up], 1);
		if (x->options->threshold_on != FIGURE_RTT) {
			if (is_slow(x, s))
				freeze(x, f);
			counter_add(&x->account.unjudged, !exchange_figure(x, s, &value_ns));
		}
	}
	if (f->breach)
		note_breach(x, s);
}

static void record_stages(struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	for (int i = 0; i < STAGES; i++) {
		const struct stage *stage = &x->stages[i];

		if (!x->stage[i] || !stage_value(stage, s, &value_ns))
			continue;
		histogram_add(x->stage[i], value_ns, s->seq);
		/* The two hosts' clocks may differ in rate: by no more than 1/1024 of the time that is taken off. */
		counter_add(&x->account.stage_negative, value_ns < -(x->bound_ns[stage->bound] +
			    ((s->time_ns[stage->less_to] - s->time_ns[stage->less_from]) >> 10)));
	}
}

/* False: its latency is none. */
INLINE bool record(struct exchange *x, const struct sample *s)
{
	const struct options *o = x->options;
	struct account *a = &x->account;

	if (!histogram_add(x->histogram, s->latency_ns, s->seq)) {
		counter_add(&a->negative, 1);
		return false;
	}
	counter_add(&a->recorded, 1);
	if (x->has_stages)
		record_stages(x, s);
	if (s->latency_ns > atomic_load_explicit(&a->recent_max_ns, memory_order_relaxed))
		atomic_store_explicit(&a->recent_max_ns, s->latency_ns, memory_order_relaxed);
	if (x->log && (!o->log_threshold_ns || s->latency_ns > o->log_threshold_ns))
		log_add(x->log, s);
	return true;
}

/* A sample that waits for nothing more. */
INLINE bool settle(struct exchange *x, struct flight *f, const bool emit)
{
	if (!conclude(x, f, emit))
		return false;
	complete(x, f, emit);
	return true;
}

/* An emitter's sample has all that it will get. */
INLINE void finish_probe(struct exchange *x, struct flight *f)
{
	complete(x, f, true);
	/* The counters are still those of its exchange: the next one is not over, and none was lost in between. */
	if (f->counted && x->next_key - f->key <= 2)
		pmc_account(x->pmc, is_slow(x, &f->sample));
	bool recorded = record(x, &f->sample);

	if (x->peer)
		split_ways(x, &f->sample, recorded);
}

/* The sample before the present one has its follow-up, or will not get it. */
static void end_join(struct exchange *x, enum follow_up how)
{
	struct flight *f = x->joining;

	if (!f)
		return;
	x->joining = NULL;
	f->sample.follow_up = (uint8_t)how;
	finish_probe(x, f);
}

/* Receives one datagram if there is one. Errors that the kernel reports here, such as a refused port, are counted. */
INLINE bool receive(struct exchange *x)
{
	int got = stamp_receive(x->channel, &x->arrival);

	if (got > 0) {
		/* Also where the kernel has no stamp, so that a reply always has a time of arrival to tell. */
		if (x->want_user_rx || !x->arrival.source)
			x->arrival_user_ns = clock_read_ns(CLOCK_REALTIME);
		counter_add(&x->account.received, 1);
		return true;
	}
	if (got < 0)
		counter_add(&x->account.refused, 1);
	return false;
}

/* Opens the record of the packet that is about to be sent. A record that the ring has come round to is given up. */
INLINE struct flight *open_flight(struct exchange *x, const bool emit)
{
	struct flight *f = flight_of(x, x->next_key);

	if (f->state == FLIGHT_WAITING) {
		f->state = FLIGHT_GIVEN_UP;
		if (settle(x, f, emit))
			record(x, &f->sample);
	}
	if (x->next_key - x->oldest_key >= FLIGHTS)
		x->oldest_key = x->next_key - FLIGHTS + 1;
	memset(f->sample.source, SOURCE_NONE, sizeof(f->sample.source));
	f->sample.follow_up = FOLLOW_UP_NONE;
	f->sample.one_scale = f->breach = f->kept = f->counted = false;
	f->state = FLIGHT_NONE;
	f->key = x->next_key;
	return f;
}

/* Sends. On success the flight waits for its stamp, or is complete as far as sending goes if none was asked for. */
INLINE bool send_flight(struct exchange *x, struct flight *f, const void *packet, size_t bytes,
			const struct arrival *answering)
{
	if (stamp_send(x->channel, packet, bytes, f->key, answering)) {
		counter_add(&x->account.refused, 1);
		return false;
	}
	x->next_key++;
	f->sent_ns = x->now_ns;
	f->state = x->channel->tx_stamps ? FLIGHT_WAITING : FLIGHT_STAMPED;
	counter_add(&x->account.sent, 1);
	if (!f->warmup)
		x->measured++;
	return true;
}

/* What the next reply of this session will say of this one; if the session is still that one. */
INLINE void note_departure(struct exchange *x, const struct flight *f, int64_t time_ns)
{
	struct session *session = &x->sessions->session[f->session];

	if (!session->has_last || session->last_key != f->key)
		return;
	session->last_ns = time_ns;
	session->last_source = (uint8_t)x->channel->wire;
}

/* Fetches one transmit stamp. Returns the flight that it completed, or NULL. *more: something was read, right or wrong. */
INLINE struct flight *fetch(struct exchange *x, const bool emit, bool *more)
{
	struct departure d;
	enum fetch fetched = stamp_fetch(x->channel, &d);

	*more = fetched != FETCH_EMPTY;
	if (fetched != FETCH_STAMP)
		return NULL;

	struct flight *f = flight_of(x, d.key);
	const unsigned at = emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE;

	if (f->key != d.key || f->state == FLIGHT_NONE) {
		counter_add(&x->account.stamp_unmatched, 1);
	} else if (f->state == FLIGHT_WAITING) {
		f->sample.time_ns[at] = d.time_ns;
		f->sample.source[at] = (uint8_t)x->channel->wire;
		f->state = FLIGHT_STAMPED;
		if (!emit)
			note_departure(x, f, d.time_ns);
		return f;
	} else {
		counter_add(f->state == FLIGHT_STAMPED ? &x->account.stamp_duplicate : &x->account.stamp_late, 1);
	}
	return NULL;
}

/* The receiving half of a sample. */
INLINE void note_arrival(struct exchange *x, struct sample *s, const unsigned wire, const unsigned user)
{
	s->time_ns[wire] = x->arrival.time_ns;
	s->source[wire] = x->arrival.source;
	if (x->want_user_rx) {
		s->time_ns[user] = x->arrival_user_ns;
		s->source[user] = SOURCE_USER;
	}
}

INLINE bool time_is_up(const struct exchange *x)
{
	return x->started && x->options->duration_ns && x->now_ns - x->began_ns >= x->options->duration_ns;
}

/* Has the run come to its end? By the clock as last read. */
INLINE bool is_over(struct exchange *x)
{
	const struct options *o = x->options;

	if (x->end)
		return true;
	if (*x->stop)
		x->end = END_SIGNAL;
	else if (time_is_up(x))
		x->end = END_DURATION;
	else if (o->count && x->measured >= (uint64_t)o->count)
		x->end = END_COUNT;
	return x->end != END_NOT_YET;
}

/* ---- Emit --------------------------------------------------------------------------------------------------------- */

#define LOST_ANSWERED (-1) /* no sequence number */

/* Remembers a probe that was given up, so that its reply, should it come, is late and not a duplicate. */
static void remember_lost(struct exchange *x, uint32_t seq)
{
	x->lost[x->lost_total++ % LOST_REMEMBERED] = seq;
}

/* A reply to a probe that is no longer in flight. True: that probe has been answered before. */
static bool take_old_reply(struct exchange *x, uint32_t seq)
{
	uint64_t known = x->lost_total < LOST_REMEMBERED ? x->lost_total : LOST_REMEMBERED;
	struct account *a = &x->account;

	if (counter_get(&a->answered) && (int32_t)(x->highest_answered - seq) > 0)
		counter_add(&a->reordered, 1);
	for (uint64_t i = 0; i < known; i++) {
		int64_t *lost = &x->lost[(x->lost_total - 1 - i) % LOST_REMEMBERED];

		if (*lost == seq) {
			*lost = LOST_ANSWERED;
			counter_add(&a->late, 1);
			return false;
		}
	}
	counter_add(&a->duplicate, 1);
	return true;
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
		end_join(x, FOLLOW_UP_MIXED);
		return true;
	}
	if (!is_response(&f->sample, r->follow_up_ns))
		return false;
	f->sample.time_ns[t3] = r->follow_up_ns;
	f->sample.source[t3] = f->sample.source[t2];
	end_join(x, FOLLOW_UP_THERE);
	return true;
}

/* The reply to the probe after the one that waits: whatever it says, nothing later will say more. */
INLINE void join_or_not(struct exchange *x, const struct reply *r)
{
	if (!x->joining || join(x, r))
		return;
	if (!r->follow_up_told)
		end_join(x, FOLLOW_UP_UNTOLD);
	else
		end_join(x, r->seq == x->joining->reply_seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
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

/* What is answered is to be recorded: at once, or when the next reply has told of T3, if this peer tells. */
INLINE void emit_keep(struct exchange *x, struct flight *f)
{
	if (f->told) {
		x->joining = f;
		return;
	}
	f->sample.follow_up = x->plan->stages ? FOLLOW_UP_UNTOLD : FOLLOW_UP_NONE;
	finish_probe(x, f);
}

/* A reply has the length of its request (RFC 8972 section 4). A TWAMP-Light reflector may send padding of its own behind
 * that (RFC 5357 section 4.2.1), which is no TLV. */
INLINE size_t reply_bytes(const struct exchange *x)
{
	return x->arrival.bytes < x->probe_bytes ? x->arrival.bytes : x->probe_bytes;
}

INLINE void read_tlvs(struct exchange *x)
{
	packet_read_tlvs(x->channel->datagram, reply_bytes(x), x->key, &x->reply);
}

/* All that a reply tells beside that it is there. This can wait until the next probe is on its way, but not until the next
 * datagram is received. */
static void digest_reply(struct exchange *x)
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
		emit_keep(x, f);
}

INLINE void digest(struct exchange *x)
{
	if (x->undigested)
		digest_reply(x);
}

/* A reply that comes too late, or again, may still have the follow-up that is waited for. */
static void take_again(struct exchange *x)
{
	const struct reply *r = &x->reply;
	bool again = take_old_reply(x, r->sender_seq);

	read_tlvs(x);
	directions_note(&x->directions, r->sender_seq, r->seq, again);
	if (!r->follow_up_told || join(x, r))
		return;
	if (r->follow_up_method != PACKET_METHOD_NONE)
		counter_add(&x->account.follow_up_late, !again);
	else if (x->joining && r->seq == x->joining->reply_seq + 1)
		end_join(x, FOLLOW_UP_UNKNOWN);
}

/* Reads what was received into x->reply. False: it is no reply to any probe of this run, and counted. */
INLINE bool read_reply(struct exchange *x)
{
	struct account *a = &x->account;
	struct reply *r = &x->reply;
	enum packet_verdict verdict = packet_read_reply(x->channel->datagram, reply_bytes(x), x->key, r);

	if (verdict == PACKET_UNVERIFIED) {
		counter_add(&a->unverified, 1);
		return false;
	}
	if (x->arrival.truncated || verdict != PACKET_GOOD) {
		counter_add(&a->malformed, 1);
		return false;
	}
	/* What was never sent is foreign; so is another session (a peer without SSIDs says 0). */
	uint32_t age = x->next_key - r->sender_seq;

	if ((r->ssid && r->ssid != x->plan->ssid) || age == 0 || age > counter_get(&a->sent) || age > INT32_MAX) {
		counter_add(&a->foreign, 1);
		return false;
	}
	return true;
}

/* Takes what was received. True: it answers the probe in flight, which has its arrival now. */
INLINE bool take_reply(struct exchange *x, struct flight *f, bool answered)
{
	struct account *a = &x->account;
	const struct reply *r = &x->reply;

	if (!read_reply(x))
		return false;
	if (x->next_key - r->sender_seq != 1 || !f || answered) {
		take_again(x);
		return false;
	}
	if (!packet_answers(x->channel->datagram, x->probe, x->key)) {
		counter_add(&a->foreign, 1);
		return false;
	}
	counter_add(&a->answered, 1);
	x->highest_answered = r->sender_seq;
	note_arrival(x, &f->sample, EMIT_T4_WIRE, EMIT_T4_USER);
	x->undigested = f;
	if (x->digest_at_once)
		digest_reply(x);
	return true;
}

/* So many probes were lost that the ring has come round to the sample that waits; unless the last reply has its T3. */
static void end_wait(struct exchange *x)
{
	const struct flight *f = x->joining;

	digest(x);
	if (x->joining == f)
		end_join(x, FOLLOW_UP_LOST);
}

/* Sends the next probe; NULL if the kernel did not take it. */
INLINE struct flight *emit_probe(struct exchange *x)
{
	if (x->joining == flight_of(x, x->next_key))
		end_wait(x);

	struct flight *f = open_flight(x, true);
	struct sample *s = &f->sample;

	/* The duration counts from the first probe after the warm-up; until then from the last answer, so that a peer
	 * that never answers cannot keep the run from ending. */
	if (!x->started || (!x->measuring && x->warmup_left == 0)) {
		x->started = true;
		x->measuring = x->warmup_left == 0;
		if (x->measuring && x->on_start)
			x->on_start(x->context);
		read_clock(x);
		x->began_ns = x->now_ns;
	}
	f->warmup = x->warmup_left > 0;
	s->seq = x->next_key;
	s->time_ns[EMIT_T1_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[EMIT_T1_USER] = SOURCE_USER;
	f->sent_real_ns = s->time_ns[EMIT_T1_USER];
	f->sent_by_ns = 0;
	packet_probe(x->probe, x->plan, s->seq, s->time_ns[EMIT_T1_USER]);
	return send_flight(x, f, x->probe, x->probe_bytes, NULL) ? f : NULL;
}

INLINE void emit_silence(struct exchange *x)
{
	if (!counter_get(&x->account.answered) && !x->silence_told && x->on_silence &&
	    x->now_ns - x->began_ns >= SILENCE_NS) {
		x->silence_told = true;
		x->on_silence(x->context);
	}
}

#define NOT_YET INT64_MIN

enum wait { WAIT_ANSWERED, WAIT_TIMED_OUT, WAIT_CUT_SHORT };

/* Is it time to give up? WAIT_ANSWERED: no. */
static enum wait emit_patience(struct exchange *x, const struct flight *f, int64_t waited_ns)
{
	int64_t limit_ns = x->options->timeout_ns;

	if (x->closing)
		return waited_ns >= limit_ns || waited_ns >= PATIENCE_NS ? WAIT_CUT_SHORT : WAIT_ANSWERED;
	if (*x->stop)
		return WAIT_CUT_SHORT;
	if (waited_ns >= limit_ns)
		return WAIT_TIMED_OUT;
	return waited_ns >= PATIENCE_NS && (!f || time_is_up(x)) ? WAIT_CUT_SHORT : WAIT_ANSWERED;
}

/* Waits for the reply, then for the stamp; each wait has the same limit. Without a flight (refused) it passes the time
 * until the next try. *answered: the reply was there, with or without the stamp. */
INLINE enum wait emit_await(struct exchange *x, struct flight *f, bool *answered)
{
	int64_t since_ns = NOT_YET; /* the clock is read too rarely to know it at once: the wait is that much longer */
	bool more;

	*answered = false;
	for (;;) {
		digest(x);
		bool got = receive(x);

		if (got && take_reply(x, f, *answered)) {
			*answered = true;
			since_ns = NOT_YET;
		}
		if (*answered) {
			do {
				if (f->state == FLIGHT_STAMPED)
					return WAIT_ANSWERED;
				fetch(x, true, &more);
			} while (more);
		}
		if (++x->turn % EMIT_CLOCK_TURNS && (!*x->stop || x->closing))
			continue;
		read_clock(x);
		if (f && !f->sent_by_ns)
			f->sent_by_ns = x->now_ns;
		emit_silence(x);
		if (since_ns == NOT_YET)
			since_ns = x->now_ns;

		enum wait wait = emit_patience(x, f, x->now_ns - since_ns);

		if (wait != WAIT_ANSWERED)
			return wait;
		if (*answered && !got && x->now_ns - since_ns > STAMP_SPIN_NS)
			stamp_wait(x->channel, false, STAMP_SLEEP_NS);
	}
}

/* Of a probe that got no reply the stamp is of no use, but must not stay in the queue. */
static void emit_give_up(struct exchange *x, struct flight *f)
{
	bool more;

	do
		fetch(x, true, &more);
	while (more);
	if (f->state == FLIGHT_WAITING)
		f->state = FLIGHT_GIVEN_UP;
}

/* The last sample still waits for T3 of its reply, which only a reply to one more probe can tell. */
static void emit_close(struct exchange *x)
{
	const int64_t last_ns = x->last_ns, now_ns = x->now_ns;
	bool answered;

	digest(x);
	if (!x->joining)
		return;
	x->closing = true;
	struct flight *f = emit_probe(x);

	if (f) {
		counter_add(&x->account.closing, 1);
		emit_await(x, f, &answered);
		digest(x);
		emit_give_up(x, f);
	}
	end_join(x, FOLLOW_UP_END);
	/* It is no part of the run. */
	x->last_ns = last_ns;
	x->now_ns = now_ns;
}

static void emit(struct exchange *x)
{
	packet_prepare(x->probe, x->plan);
	x->probe_bytes = packet_plan_bytes(x->plan);
	while (!is_over(x)) {
		if (x->pmc)
			pmc_begin(x->pmc);
		struct flight *f = emit_probe(x);
		bool answered;
		enum wait wait = emit_await(x, f, &answered);
		bool counted = x->pmc && pmc_end(x->pmc);

		if (!f) {
			/* The counters are not those of the sample that waits any more. */
			if (x->joining)
				x->joining->counted = false;
			continue;
		}
		f->counted = counted;
		if (f->state == FLIGHT_WAITING)
			emit_give_up(x, f);
		if (!answered)
			remember_lost(x, f->sample.seq);
		if (wait == WAIT_CUT_SHORT) {
			counter_add(&x->account.unfinished, 1);
		} else if (!answered) {
			counter_add(&x->account.lost, 1);
		} else {
			if (f->warmup) {
				x->warmup_left--;
				x->began_ns = x->now_ns;
			}
			f->kept = conclude(x, f, true);
			if (f->kept && !x->undigested)
				emit_keep(x, f);
		}
	}
	emit_close(x);
}

/* ---- Reflect ------------------------------------------------------------------------------------------------------ */

/* What must not be answered, or two reflectors would talk to each other for ever: replies, what comes from our own port
 * (a reflector's), what has our own address as source, and what was sent to more than one host. */
INLINE bool is_foreign(const struct exchange *x, enum packet_verdict verdict)
{
	const struct arrival *a = &x->arrival;

	return verdict == PACKET_IS_REPLY || !a->to_unicast || (a->from_self && !x->loopback) ||
	       ntohs(a->from.in.sin_port) == x->options->port;
}

/* How a time was taken, as RFC 8972 section 4.3 has it. */
INLINE uint8_t method_of(uint8_t source)
{
	return source == SOURCE_NONE ? PACKET_METHOD_NONE :
	       source == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* A time of user space on the scale of our stamps, if that is known. *bound_ns: -1 if not, else raised to the error. */
INLINE int64_t on_scale(const struct exchange *x, uint8_t wire, int64_t realtime_ns, int64_t *bound_ns)
{
	int64_t placed_ns, error_ns;

	if ((wire != SOURCE_HARDWARE && !x->clocks) || *bound_ns < 0)
		return realtime_ns;
	if (!x->clocks || !clock_to_phc(x->clocks, realtime_ns, &placed_ns, &error_ns)) {
		*bound_ns = -1;
		return realtime_ns;
	}
	if (error_ns > *bound_ns)
		*bound_ns = error_ns;
	return placed_ns;
}

/* Of which kind T2 and the follow-up are. Without transmit stamps the follow-up is of user space: where that is software
 * as T2 is, nothing is said. */
INLINE uint8_t source_to_tell(const struct exchange *x, uint8_t wire)
{
	if (wire == SOURCE_KERNEL && !x->channel->tx_stamps)
		return SOURCE_NONE;
	return wire ? wire : SOURCE_USER;
}

/* What the reply says. T3 is the start of sending (RFC 8762 section 4.3); so it is read last. */
INLINE size_t make_reply(struct exchange *x, struct flight *f, const struct session *session, bool *malformed_tlv)
{
	const struct arrival *a = &x->arrival;
	struct sample *s = &f->sample;
	const uint8_t wire = s->source[REFLECT_T2_WIRE];
	struct answer answer = {
		.seq = session->reply_seq,
		.t2_ns = s->time_ns[REFLECT_T2_WIRE],
		.ttl = a->ttl >= 0 && a->ttl <= UINT8_MAX ? (uint8_t)a->ttl : UINT8_MAX,
		.t2_method = method_of(wire ? wire : SOURCE_USER),
		.t3_method = PACKET_METHOD_SOFTWARE,
		.sync_source = x->sync_source,
		.tos_known = a->tos >= 0,
		.tos = (uint8_t)a->tos,
		.received = (uint32_t)session->requests,
		.sent = session->reply_seq + 1,
		.wire_source = source_to_tell(x, wire),
	};

	/* Of a stamp that is missing the program's time takes the place, on the same scale. */
	if (!wire)
		answer.t2_ns = on_scale(x, wire, x->arrival_user_ns, &answer.software_bound_ns);
	if (session->has_last && session->last_source) {
		answer.follow_up_seq = session->last_seq;
		answer.follow_up_ns = session->last_ns;
		answer.follow_up_method = method_of(session->last_source);
	}
	if (x->request.wants_t2_user) {
		answer.t2_user_known = true;
		answer.t2_user_ns = on_scale(x, wire, x->arrival_user_ns, &answer.software_bound_ns);
	}
	s->time_ns[REFLECT_T3_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[REFLECT_T3_USER] = SOURCE_USER;
	answer.t3_ns = on_scale(x, wire, s->time_ns[REFLECT_T3_USER], &answer.software_bound_ns);
	return packet_reply(x->channel->datagram, a->bytes, x->key, &answer, malformed_tlv);
}

/* So that the next reply can say when this one left. Where no transmit stamps are taken, T3 of user space is all there is. */
INLINE void note_reply(struct exchange *x, struct session *session, struct flight *f)
{
	session->has_last = true;
	session->last_key = f->key;
	session->last_seq = session->reply_seq++;
	session->last_source = SOURCE_NONE;
	f->session = (uint16_t)(session - x->sessions->session);
	if (x->channel->tx_stamps)
		return;
	session->last_source = SOURCE_USER;
	session->last_ns = f->sample.time_ns[REFLECT_T3_USER];
}

/* An answer that has all its times, or none to wait for. */
INLINE void finish_answer(struct exchange *x, struct flight *f)
{
	/* Another was answered in between: what was counted is of both. */
	bool counted = x->pmc && f->key + 1 == x->next_key && pmc_end(x->pmc);

	if (!settle(x, f, false))
		return;
	record(x, &f->sample);
	if (counted)
		pmc_account(x->pmc, is_slow(x, &f->sample));
}

/* Is it to be answered? If not it is counted. */
INLINE bool read_request(struct exchange *x)
{
	struct account *a = &x->account;
	struct request *r = &x->request;
	enum packet_verdict verdict = packet_read_request(x->channel->datagram, x->arrival.bytes, x->key, r);

	if (x->arrival.truncated || verdict == PACKET_MALFORMED) {
		counter_add(&a->malformed, 1);
		return false;
	}
	if (verdict == PACKET_UNVERIFIED) {
		counter_add(&a->unverified, 1);
		return false;
	}
	if (is_foreign(x, verdict)) {
		counter_add(&a->foreign, 1);
		return false;
	}
	if (r->wants_t2_user && !x->want_user_rx && x->arrival.source)
		x->arrival_user_ns = clock_read_ns(CLOCK_REALTIME);
	/* The first such request is too early to tell. The reply goes out in the class in which the request came. */
	if (r->wants_class && !x->channel->tos_wanted)
		socket_want_tos(x->channel);
	x->arrival.in_class = r->wants_class && x->arrival.tos >= 0;
	return true;
}

INLINE void reflect_answer(struct exchange *x)
{
	struct account *a = &x->account;
	const struct request *r = &x->request;

	if (!read_request(x))
		return;
	if (x->pmc)
		pmc_begin(x->pmc);
	struct session *session = session_find(x->sessions, &x->arrival.from, r->ssid);
	struct flight *f = open_flight(x, false);

	enum order order = session_note(session, r->seq);

	f->sample.seq = r->seq;
	f->warmup = x->warmup_left > 0;
	note_arrival(x, &f->sample, REFLECT_T2_WIRE, REFLECT_T2_USER);

	bool malformed_tlv;
	size_t bytes = make_reply(x, f, session, &malformed_tlv);

	if (!send_flight(x, f, x->channel->datagram, bytes, &x->arrival)) {
		counter_add(&a->unanswered, 1);
		return;
	}
	note_reply(x, session, f);
	counter_add(&a->repeated, order == ORDER_DUPLICATE);
	counter_add(&a->reordered, order == ORDER_REORDERED);
	counter_add(&a->malformed_tlv, malformed_tlv);
	x->warmup_left -= f->warmup;
	counter_add(&a->answered, 1);
	if (!x->started) {
		x->started = true;
		read_clock(x);
		x->began_ns = f->sent_ns = x->now_ns;
	}
	f->sent_real_ns = x->now_real_ns;
	f->sent_by_ns = x->now_by_ns;
	if (!x->measuring && !f->warmup) {
		x->measuring = true;
		if (x->on_start)
			x->on_start(x->context);
	}
	if (f->state == FLIGHT_STAMPED) {
		finish_answer(x, f);
		x->oldest_key = x->next_key;
	}
}

INLINE bool is_waiting(const struct exchange *x)
{
	return x->oldest_key != x->next_key;
}

/* Moves past what is complete, and gives up what is older than the limit. */
static void expire(struct exchange *x, int64_t limit_ns)
{
	for (; is_waiting(x); x->oldest_key++) {
		struct flight *f = flight_of(x, x->oldest_key);

		if (f->state != FLIGHT_WAITING)
			continue;
		if (x->now_ns - f->sent_ns < limit_ns)
			return;
		f->state = FLIGHT_GIVEN_UP;
		if (settle(x, f, false))
			record(x, &f->sample);
	}
}

/* All that is there, as long as something waits: a late stamp or one that came twice must not hold up that of the last
 * reply, since the next request may be there already, and its reply is to tell of it. */
INLINE void reflect_fetch(struct exchange *x)
{
	bool more;

	do {
		struct flight *f = fetch(x, false, &more);

		if (!f)
			continue;
		finish_answer(x, f);
		while (is_waiting(x) && flight_of(x, x->oldest_key)->state != FLIGHT_WAITING)
			x->oldest_key++;
	} while (more && is_waiting(x));
}

/* --once: the first emitter has the first session, until 1,024 newer ones have pushed it out. */
static void check_once(struct exchange *x)
{
	const struct session *first = &x->sessions->session[0];

	if (!x->started)
		return;
	if (first->requests != x->first_requests_seen) {
		x->first_requests_seen = first->requests;
		x->first_silent_since_ns = x->now_ns;
	} else if (x->now_ns - x->first_silent_since_ns >= ONCE_SILENCE_NS) {
		x->end = END_ONCE;
		x->now_ns = x->first_silent_since_ns; /* the silence is no part of the run */
	}
}

static void reflect_clock(struct exchange *x, bool idle)
{
	read_clock(x);
	if (x->options->once)
		check_once(x);
	if (is_over(x))
		return;
	expire(x, x->options->timeout_ns);
	if (idle && is_waiting(x) && x->now_ns - flight_of(x, x->oldest_key)->sent_ns > STAMP_SPIN_NS) {
		stamp_wait(x->channel, true, STAMP_SLEEP_NS);
		read_clock(x);
	}
}

/* The last stamps may still be on their way. */
static void reflect_drain(struct exchange *x)
{
	int64_t limit_ns = *x->stop && x->options->timeout_ns > PATIENCE_NS ? PATIENCE_NS : x->options->timeout_ns;
	int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + limit_ns;
	int64_t ended_ns = x->now_ns;

	while (is_waiting(x) && clock_read_ns(CLOCK_MONOTONIC) < until_ns) {
		reflect_fetch(x);
		if (is_waiting(x))
			stamp_wait(x->channel, false, STAMP_SLEEP_NS);
	}
	expire(x, INT64_MIN);
	x->now_ns = ended_ns;
}

static void reflect(struct exchange *x)
{
	read_clock(x);
	while (!x->end) {
		bool got = receive(x);

		if (got)
			reflect_answer(x);
		if (is_waiting(x))
			reflect_fetch(x);
		if (++x->turn % REFLECT_CLOCK_TURNS == 0 || *x->stop || (got && x->options->count))
			reflect_clock(x, !got);
	}
	reflect_drain(x);
}

/* ---- Both --------------------------------------------------------------------------------------------------------- */

void exchange_latency_times(enum role role, bool on_wire, uint8_t *from, uint8_t *to)
{
	static const uint8_t times[2][2][2] = {
		[ROLE_EMIT] = { { EMIT_T1_USER, EMIT_T4_USER }, { EMIT_T1_WIRE, EMIT_T4_WIRE } },
		[ROLE_REFLECT] = { { REFLECT_T2_USER, REFLECT_T3_USER }, { REFLECT_T2_WIRE, REFLECT_T3_WIRE } },
	};

	*from = times[role][on_wire][0];
	*to = times[role][on_wire][1];
}

void exchange_stages(enum role role, bool on_wire, struct stage stages[STAGES])
{
	enum { T2_WIRE = THERE + REFLECT_T2_WIRE, T2_USER = THERE + REFLECT_T2_USER, T3_USER = THERE + REFLECT_T3_USER,
	       T3_WIRE = THERE + REFLECT_T3_WIRE };
	static const struct stage all[][STAGES] = {
		[ROLE_EMIT] = {
			[STAGE_APP_TO_WIRE] = { EMIT_T1_USER, EMIT_T1_WIRE, .bound = BOUND_HERE, .user = true },
			[STAGE_WIRE_TO_APP] = { EMIT_T4_WIRE, EMIT_T4_USER, .bound = BOUND_HERE, .user = true },
			[STAGE_RESPONSE] = { T2_WIRE, T3_WIRE, .peer = true },
			[STAGE_NETWORK] = { .less_from = T2_WIRE, .less_to = T3_WIRE, .inside = true, .peer = true },
			[STAGE_REMOTE_WIRE_TO_APP] = { T2_WIRE, T2_USER, .bound = BOUND_THERE, .inside = true, .user = true,
						       .peer = true },
			[STAGE_REMOTE_APP] = { T2_USER, T3_USER, .bound = BOUND_THERE, .inside = true, .user = true,
					       .peer = true },
			[STAGE_REMOTE_APP_TO_WIRE] = { T3_USER, T3_WIRE, .bound = BOUND_THERE, .inside = true, .user = true,
						       .peer = true },
		},
		[ROLE_REFLECT] = {
			[STAGE_RECEIVE] = { REFLECT_T2_WIRE, REFLECT_T2_USER, .bound = BOUND_HERE, .inside = true, .user = true },
			[STAGE_TRANSMIT] = { REFLECT_T3_USER, REFLECT_T3_WIRE, .bound = BOUND_HERE, .inside = true, .user = true },
			[STAGE_APP] = { REFLECT_T2_USER, REFLECT_T3_USER, .bound = BOUND_HERE, .inside = true, .user = true },
		},
	};

	memcpy(stages, all[role], sizeof(all[role]));
	for (int i = 0; i < STAGES; i++)
		if (stages[i].less_from == stages[i].less_to)
			stages[i].less_from = stages[i].less_to = stages[i].from;
	if (role == ROLE_EMIT)
		exchange_latency_times(role, on_wire, &stages[STAGE_NETWORK].from, &stages[STAGE_NETWORK].to);
}

bool exchange_breach(const struct exchange *x, uint64_t index, struct sample *s)
{
	const counter *breaches = &x->account.breaches;

	/* The caller has read the count; the sample that it tells of comes after it. */
	atomic_thread_fence(memory_order_acquire);
	*s = x->kept[index % BREACHES_KEPT];
	/* What is overwritten while it is copied is counted right after it. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(breaches, memory_order_acquire) - index < BREACHES_KEPT;
}

void exchange_run(struct exchange *x)
{
	const struct options *o = x->options;

	exchange_latency_times(o->role, x->channel->tx_stamps, &x->from, &x->to);
	exchange_stages(o->role, x->channel->tx_stamps, x->stages);
	for (int i = 0; i < STAGES; i++)
		x->has_stages |= x->stage[i] != NULL;
	x->check_steps = x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE && !o->no_step_check;
	x->check_set = !(x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE) && !o->no_step_check;
	x->read_both = x->check_set && o->role == ROLE_REFLECT;
	x->want_user_rx = o->sw_timestamps || !x->channel->tx_stamps || x->check_steps;
	x->digest_at_once = x->pmc || o->threshold_on != FIGURE_RTT;
	x->warmup_left = (uint64_t)o->warmup;
	if (o->role == ROLE_EMIT)
		emit(x);
	else
		reflect(x);
	x->ended_ns = x->now_ns;
}

bool exchange_balanced(const struct exchange *x)
{
	const struct account *a = &x->account;
	const struct histogram *h = x->histogram;
	uint64_t concluded = counter_get(&a->warmup) + counter_get(&a->recorded) + counter_get(&a->lost) +
			     counter_get(&a->unstamped) + counter_get(&a->negative) + counter_get(&a->stepped) +
			     counter_get(&a->unfinished) + counter_get(&a->closing);
	uint64_t taken = counter_get(&a->answered) + counter_get(&a->unanswered) + counter_get(&a->late) +
			 counter_get(&a->duplicate) + counter_get(&a->foreign) + counter_get(&a->malformed) +
			 counter_get(&a->unverified);
	uint64_t in_buckets = h->overflows, completed = 0;

	for (int i = 0; i < FOLLOW_UPS; i++)
		completed += counter_get(&a->follow_up[i]);
	if (x->options->role == ROLE_EMIT && completed != counter_get(&a->recorded) + counter_get(&a->negative))
		return false;

	for (uint32_t i = 0; i < h->buckets; i++)
		in_buckets += histogram_bucket(h, i);
	return counter_get(&a->sent) == concluded && counter_get(&a->received) == taken &&
	       counter_get(&a->recorded) == h->count && h->count == in_buckets &&
	       counter_get(&a->negative) == h->negatives && (!x->log || x->log->used <= h->count);
}
