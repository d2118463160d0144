// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two orders of exchange (hot). Emit: send, receive, fetch. Reflect: receive, send, fetch. All else is shared.
 * A packet in flight lives in a small ring by the id of its transmit stamp, so that a late stamp lands in its own record
 * or in a counter, never in the record of another packet.
 */
#include "rant.h"

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

INLINE bool is_slow(const struct exchange *x, const struct sample *s)
{
	return x->options->threshold_ns && s->latency_ns > x->options->threshold_ns;
}

/* A breach comes first: evidence is frozen before anything else touches the machine. */
INLINE void freeze(struct exchange *x, const struct sample *s)
{
	/* Not again for what was still on its way when a breach ended the run. */
	if (x->on_breach && x->end != END_BREACH)
		x->on_breach(x->context, s);
}

static void note_breach(struct exchange *x, const struct sample *s)
{
	counter *breaches = &x->account.breaches;
	uint64_t before = counter_get(breaches);

	if (!before)
		x->breach = *s;
	if (!before || s->latency_ns > x->worst.latency_ns)
		x->worst = *s;
	/* The count is seen before the sample that takes the place of an older one, */
	atomic_thread_fence(memory_order_release);
	x->kept[before % BREACHES_KEPT] = *s;
	/* and the sample is there before the count that tells of it. */
	atomic_store_explicit(breaches, before + 1, memory_order_release);
	if (!x->options->keep_going)
		x->end = END_BREACH;
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
		} else if (bound_ns > x->stage_bound_ns) {
			x->stage_bound_ns = bound_ns;
		}
	}
	counter_add(&x->account.unplaced, !placed);
}

/* Everything that a packet in flight could get, it has or will not get. Computes its latency and looks for a breach:
 * this comes before the next packet. True: it is to be recorded, which may come after. */
INLINE bool conclude(struct exchange *x, struct flight *f, const bool emit)
{
	struct account *a = &x->account;
	struct sample *s = &f->sample;
	bool breach;

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
	breach = is_slow(x, s);
	if (breach)
		freeze(x, s);
	if (x->clocks)
		place_user_times(x, s);
	if (emit && x->peer) /* T3 of a reply may be of another clock than T2 */
		clock_peer_add(x->peer, s->time_ns[EMIT_T1_WIRE], x->reply_t2_ns, x->reply_t2_ns, s->time_ns[EMIT_T4_WIRE]);
	if (breach)
		note_breach(x, s);
	return true;
}

bool exchange_stage_value(const struct stage *stage, const struct sample *s, int64_t *value_ns)
{
	*value_ns = s->time_ns[stage->to] - s->time_ns[stage->from];
	return s->source[stage->from] && s->source[stage->to];
}

static void record_stages(struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	for (int i = 0; i < STAGES; i++) {
		if (!x->stage[i] || !exchange_stage_value(&x->stages[i], s, &value_ns))
			continue;
		histogram_add(x->stage[i], value_ns, s->seq);
		counter_add(&x->account.stage_negative, value_ns < -x->stage_bound_ns);
	}
}

INLINE void record(struct exchange *x, const struct sample *s)
{
	const struct options *o = x->options;
	struct account *a = &x->account;

	if (!histogram_add(x->histogram, s->latency_ns, s->seq)) {
		counter_add(&a->negative, 1);
		return;
	}
	counter_add(&a->recorded, 1);
	if (x->stages)
		record_stages(x, s);
	if (s->latency_ns > atomic_load_explicit(&a->recent_max_ns, memory_order_relaxed))
		atomic_store_explicit(&a->recent_max_ns, s->latency_ns, memory_order_relaxed);
	if (x->log && (!o->log_threshold_ns || s->latency_ns > o->log_threshold_ns))
		log_add(x->log, s);
}

INLINE void settle(struct exchange *x, struct flight *f, const bool emit)
{
	if (conclude(x, f, emit))
		record(x, &f->sample);
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
		settle(x, f, emit);
	}
	if (x->next_key - x->oldest_key >= FLIGHTS)
		x->oldest_key = x->next_key - FLIGHTS + 1;
	memset(f->sample.source, SOURCE_NONE, sizeof(f->sample.source));
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
	counter_add(&x->account.lost, 1);
}

/* A reply to a probe that is no longer in flight. */
static void take_old_reply(struct exchange *x, uint32_t seq)
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
			return;
		}
	}
	counter_add(&a->duplicate, 1);
}

/* Takes what was received. True: it answers the probe in flight, which has its arrival now. */
INLINE bool take_reply(struct exchange *x, struct flight *f, bool answered)
{
	struct account *a = &x->account;
	const uint8_t *packet = x->channel->datagram;
	struct reply r;

	if (x->arrival.truncated || packet_read_reply(packet, x->arrival.bytes, &r) != PACKET_GOOD) {
		counter_add(&a->malformed, 1);
		return false;
	}
	/* 1: the newest probe. What was never sent is foreign; so is another session (a peer without SSIDs says 0). */
	uint32_t age = x->next_key - r.sender_seq;

	if ((r.ssid && r.ssid != x->ssid) || age == 0 || age > counter_get(&a->sent) || age > INT32_MAX) {
		counter_add(&a->foreign, 1);
		return false;
	}
	if (age != 1 || !f || answered) {
		take_old_reply(x, r.sender_seq);
		return false;
	}
	if (!packet_answers(packet, x->probe)) {
		counter_add(&a->foreign, 1);
		return false;
	}
	counter_add(&a->answered, 1);
	x->highest_answered = r.sender_seq;
	x->reply_t2_ns = r.t2_ns;
	note_arrival(x, &f->sample, EMIT_T4_WIRE, EMIT_T4_USER);
	return true;
}

/* Sends the next probe; NULL if the kernel did not take it. */
INLINE struct flight *emit_probe(struct exchange *x)
{
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
	packet_probe(x->probe, s->seq, x->ssid, s->time_ns[EMIT_T1_USER]);
	return send_flight(x, f, x->probe, sizeof(x->probe), NULL) ? f : NULL;
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
		if (++x->turn % EMIT_CLOCK_TURNS && !*x->stop)
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

static void emit(struct exchange *x)
{
	struct flight *done = NULL; /* its recording waits until the next probe is on its way, when there is time */

	while (!is_over(x)) {
		if (x->pmc)
			pmc_begin(x->pmc);
		struct flight *f = emit_probe(x);
		bool answered;

		if (done)
			record(x, &done->sample);
		done = NULL;
		enum wait wait = emit_await(x, f, &answered);
		bool counted = x->pmc && pmc_end(x->pmc);

		if (!f)
			continue;
		if (f->state == FLIGHT_WAITING)
			emit_give_up(x, f);
		if (wait == WAIT_CUT_SHORT) {
			counter_add(&x->account.unfinished, 1);
		} else if (!answered) {
			remember_lost(x, f->sample.seq);
		} else {
			if (f->warmup) {
				x->warmup_left--;
				x->began_ns = x->now_ns;
			}
			if (conclude(x, f, true))
				done = f;
			if (counted && done)
				pmc_account(x->pmc, is_slow(x, &f->sample));
		}
	}
	if (done)
		record(x, &done->sample);
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

/* The user-space stamp, which the reply carries too: the start of sending (RFC 8762 section 4.3). */
INLINE size_t make_reply(struct exchange *x, struct sample *s, uint32_t reply_seq, bool *malformed_tlv)
{
	const struct arrival *a = &x->arrival;
	uint8_t ttl = a->ttl >= 0 && a->ttl <= UINT8_MAX ? (uint8_t)a->ttl : UINT8_MAX;

	s->time_ns[REFLECT_T3_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[REFLECT_T3_USER] = SOURCE_USER;

	int64_t t2_ns = s->source[REFLECT_T2_WIRE] ? s->time_ns[REFLECT_T2_WIRE] : x->arrival_user_ns;

	return packet_reply(x->channel->datagram, a->bytes, reply_seq, t2_ns, s->time_ns[REFLECT_T3_USER], ttl,
			    malformed_tlv);
}

/* An answer that has all its times, or none to wait for. */
INLINE void finish_answer(struct exchange *x, struct flight *f)
{
	/* Another was answered in between: what was counted is of both. */
	bool counted = x->pmc && f->key + 1 == x->next_key && pmc_end(x->pmc);

	if (!conclude(x, f, false))
		return;
	record(x, &f->sample);
	if (counted)
		pmc_account(x->pmc, is_slow(x, &f->sample));
}

INLINE void reflect_answer(struct exchange *x)
{
	struct account *a = &x->account;
	struct request r;
	enum packet_verdict verdict = packet_read_request(x->channel->datagram, x->arrival.bytes, &r);

	if (x->arrival.truncated || verdict == PACKET_MALFORMED) {
		counter_add(&a->malformed, 1);
		return;
	}
	if (is_foreign(x, verdict)) {
		counter_add(&a->foreign, 1);
		return;
	}
	if (x->pmc)
		pmc_begin(x->pmc);
	struct session *session = session_find(x->sessions, &x->arrival.from, r.ssid);
	struct flight *f = open_flight(x, false);

	enum order order = session_note(session, r.seq);

	f->sample.seq = r.seq;
	f->warmup = x->warmup_left > 0;
	note_arrival(x, &f->sample, REFLECT_T2_WIRE, REFLECT_T2_USER);

	bool malformed_tlv;
	size_t bytes = make_reply(x, &f->sample, session->reply_seq, &malformed_tlv);

	if (!send_flight(x, f, x->channel->datagram, bytes, &x->arrival)) {
		counter_add(&a->unanswered, 1);
		return;
	}
	session->reply_seq++;
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
		settle(x, f, false);
	}
}

INLINE void reflect_fetch(struct exchange *x)
{
	bool more;
	struct flight *f = fetch(x, false, &more);

	if (!f)
		return;
	finish_answer(x, f);
	while (is_waiting(x) && flight_of(x, x->oldest_key)->state != FLIGHT_WAITING)
		x->oldest_key++;
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

const struct stage *exchange_stages(enum role role)
{
	static const struct stage stages[][STAGES] = {
		[ROLE_EMIT] = {
			{ EMIT_T1_USER, EMIT_T1_WIRE, false },
			{ EMIT_T4_WIRE, EMIT_T4_USER, false },
		},
		[ROLE_REFLECT] = {
			{ REFLECT_T2_WIRE, REFLECT_T2_USER, true },
			{ REFLECT_T3_USER, REFLECT_T3_WIRE, true },
			{ REFLECT_T2_USER, REFLECT_T3_USER, true },
		},
	};

	return stages[role];
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
	x->stages = exchange_has_stages(x) ? exchange_stages(o->role) : NULL;
	x->check_steps = x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE && !o->no_step_check;
	x->check_set = !(x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE) && !o->no_step_check;
	x->read_both = x->check_set && o->role == ROLE_REFLECT;
	x->want_user_rx = o->sw_timestamps || !x->channel->tx_stamps || x->check_steps;
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
			     counter_get(&a->unfinished);
	uint64_t taken = counter_get(&a->answered) + counter_get(&a->unanswered) + counter_get(&a->late) +
			 counter_get(&a->duplicate) + counter_get(&a->foreign) + counter_get(&a->malformed);
	uint64_t in_buckets = h->overflows;

	for (uint32_t i = 0; i < h->buckets; i++)
		in_buckets += histogram_bucket(h, i);
	return counter_get(&a->sent) == concluded && counter_get(&a->received) == taken &&
	       counter_get(&a->recorded) == h->count && h->count == in_buckets &&
	       counter_get(&a->negative) == h->negatives && (!x->log || x->log->used <= h->count);
}
