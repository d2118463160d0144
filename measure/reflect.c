// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector: receive, send, fetch. Answers any number of emitters, but no packet that a reflector may
 * have sent. */
#include "measure/inside.h"

#include "measure/idle_sleep.h"
#include "measure/polling_order.h"
#include "measure/verbs.h"
#include "wire/allow.h"
#include "wire/peer_socket.h"

#define UNREAD_REPORTED 8 /* replies of a session that report requests dropped unread */
/* probes of a session without the rant TLV that make it an emitter's, not a few stray packets */
#define ONCE_PROBES 10

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* Packets that must not be answered, or two reflectors could answer each other for ever: replies, packets
 * from our own port (a reflector's; emitters use other ports), with our own address as source, or sent to
 * more than one host. */
INLINE bool is_foreign(const struct exchange *x, enum packet_verdict verdict)
{
	const struct arrival *a = &x->arrival;

	return verdict == PACKET_IS_REPLY || !a->to_unicast || (a->from_self && !x->loopback) ||
	       (ntohs(a->from.in.sin_port) == x->options->port && !x->channel->transport->one_port);
}

/* Timestamping method by RFC 8972 section 4.3. */
INLINE uint8_t method_of(uint8_t source)
{
	return source == SOURCE_NONE ? PACKET_METHOD_NONE :
	       source == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* Converts a user-space time to the timebase of our timestamps, if their relation is known; also if a
 * timestamp is missing, since the times of all replies must be comparable. *bound_ns: -1 if unknown, else
 * raised to the error. */
INLINE int64_t on_scale(const struct exchange *x, int64_t realtime_ns, int64_t *bound_ns)
{
	int64_t converted_ns, error_ns;

	if (x->channel->wire != SOURCE_HARDWARE || *bound_ns < 0)
		return realtime_ns;
	if (!x->clocks || !clock_to_phc(x->clocks, realtime_ns, &converted_ns, &error_ns)) {
		*bound_ns = -1;
		return realtime_ns;
	}
	if (error_ns > *bound_ns)
		*bound_ns = error_ns;
	return converted_ns;
}

/* True if the clock of our timestamps was stepped or stood still since the session began. Times converted
 * before that was detected may be wrong by that step: the bound reported from then on covers them. */
INLINE void report_doubt(const struct exchange *x, const struct session *session, struct answer *answer)
{
	int64_t step_error_ns;

	answer->clock_doubted = x->watched && clock_doubts(x->watched) != session->doubts;
	if (!answer->clock_doubted || answer->software_bound_ns < 0)
		return;
	step_error_ns = clock_step_error_ns(x->watched);
	if (step_error_ns > answer->software_bound_ns)
		answer->software_bound_ns = step_error_ns;
}

/* Sources of T2 and of the follow-up. Without transmit timestamps the follow-up is of user space: if both
 * are software, no source is reported. */
INLINE uint8_t source_to_report(const struct exchange *x, uint8_t wire)
{
	if (wire == SOURCE_HARDWARE && x->places)
		return SOURCE_RECEIVE;
	if (wire == SOURCE_KERNEL && !x->channel->tx_stamps)
		return SOURCE_NONE;
	return wire ? wire : SOURCE_USER;
}

/* The bound of a reply covers the placed T3 of the replies that it may report, at most FOLLOW_UPS_MAX. */
INLINE void note_placed(struct exchange *x, int64_t bound_ns)
{
	struct reflector *r = &x->reflect;

	if (r->placed++ == FOLLOW_UPS_MAX) {
		r->placed = 1;
		r->placed_bound_ns[1] = r->placed_bound_ns[0];
		r->placed_bound_ns[0] = 0;
	}
	if (bound_ns > r->placed_bound_ns[0])
		r->placed_bound_ns[0] = bound_ns;
}

INLINE void report_placed(const struct exchange *x, struct answer *answer)
{
	const int64_t *bound_ns = x->reflect.placed_bound_ns;

	for (int i = 0; i < 2 && answer->software_bound_ns >= 0; i++)
		if (bound_ns[i] > answer->software_bound_ns)
			answer->software_bound_ns = bound_ns[i];
}

/* Unread requests may belong to any session: several replies of each session report them, in case one is
 * lost. */
INLINE uint8_t discard_reasons(const struct exchange *x, struct session *session)
{
	const uint32_t unread = x->channel->unread + (uint32_t)counter_get(&x->result.account.cut_short);

	if (!session->reply_seq || session->stateless)
		session->unread = unread;
	if (unread != session->unread) {
		session->unread = unread;
		session->unread_at = session->reply_seq;
		session->discard_reasons |= DISCARD_UNREAD;
	} else if (session->reply_seq - session->unread_at >= UNREAD_REPORTED) {
		session->discard_reasons &= (uint8_t)~DISCARD_UNREAD;
	}
	return session->discard_reasons;
}

/* Fills the reply. T3 is the start of sending (RFC 8762 section 4.3); so it is read last. */
INLINE size_t make_reply(struct exchange *x, struct flight *f, struct session *session, bool *malformed_tlv)
{
	const struct arrival *a = &x->arrival;
	struct sample *s = &f->sample;
	const uint8_t wire = s->source[REFLECT_T2_WIRE];
	const struct session_reply *last = session_last_reply(session);
	struct packet_departure departures[FOLLOW_UPS_MAX];
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
		.follow_up_seq = session->reply_seq - 1,
		.follow_up_ns = last->ns,
		.follow_up_method = last->method,
		.wire_source = source_to_report(x, wire),
		.discarded = session->discarded,
		.discard_reasons = discard_reasons(x, session),
		.stateless = session->stateless,
		.poll_gap_ns = s->poll_gap_ns,
	};

	/* The program's time replaces a missing timestamp, on the same timebase. */
	if (!wire)
		answer.t2_ns = on_scale(x, x->arrival_user_ns, &answer.software_bound_ns);
	if (x->reflect.request.wants_t2_user) {
		answer.t2_user_known = true;
		answer.t2_user_ns = on_scale(x, x->arrival_user_ns, &answer.software_bound_ns);
	}
	if (x->reflect.request.wants_t2_kernel && s->source[KERNEL_RECEIVE]) {
		const bool apart = answer.software_bound_ns < 0;

		answer.t2_kernel_ns = on_scale(x, s->time_ns[KERNEL_RECEIVE], &answer.software_bound_ns);
		/* Only on the timebase of T2_SW. */
		answer.t2_kernel_known = apart || answer.software_bound_ns >= 0;
	}
	if (x->reflect.request.wants_follow_ups || x->reflect.request.kernel_every) {
		answer.follow_up = departures;
		answer.follow_ups = (uint8_t)session_departures(session, departures);
	}
	if (x->reflect.request.freeze.present)
		answer.freeze = freeze_answer(x, session);
	if (x->reflect.request.wants_cause)
		answer.cause = freeze_cause_answer(x, session);
	s->time_ns[REFLECT_T3_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[REFLECT_T3_USER] = SOURCE_USER;
	answer.t3_ns = on_scale(x, s->time_ns[REFLECT_T3_USER], &answer.software_bound_ns);
	if (x->places)
		report_placed(x, &answer);
	report_doubt(x, session, &answer);
	return packet_reply(x->channel->datagram, a->bytes, x->key, &answer, malformed_tlv);
}

/* Stores the departure for later replies. Without transmit timestamps only T3 of user space exists. */
INLINE void note_reply(struct exchange *x, struct session *session, struct flight *f)
{
	const bool reported = !x->channel->tx_stamps;

	f->session = (uint16_t)(session - x->sessions->session);
	f->reply_seq = session->reply_seq;
	session_note_reply(session, f->key, reported ? PACKET_METHOD_SOFTWARE : PACKET_METHOD_NONE,
			   f->sample.time_ns[REFLECT_T3_USER]);
}

/* A transmit time of the kernel as a time after the program's. False: not known, or not within 32 bits. */
INLINE bool after_user(const struct exchange *x, const struct sample *s, unsigned at, uint32_t *after_ns)
{
	int64_t bound_ns = 0, ns;
	const int64_t user_ns = on_scale(x, s->time_ns[REFLECT_T3_USER], &bound_ns);
	const bool apart = bound_ns < 0;

	if (!s->source[at])
		return false;
	ns = on_scale(x, s->time_ns[at], &bound_ns) - user_ns;
	*after_ns = (uint32_t)ns;
	return (bound_ns < 0) == apart && (uint64_t)ns <= UINT32_MAX;
}

/* Departure report for the next replies of this session. */
INLINE void note_departure(struct exchange *x, const struct flight *f)
{
	const struct sample *s = &f->sample;
	struct packet_departure d = { .seq = f->reply_seq,
				      .method = method_of((uint8_t)channel_sent_source(x->channel)),
				      .ns = s->time_ns[REFLECT_T3_WIRE] };

	if (x->places) {
		if (!s->source[REFLECT_T3_WIRE])
			return;
		note_placed(x, f->bound_ns[BOUND_LOCAL]);
	}
	if (f->detailed)
		d.kernel = (uint8_t)((after_user(x, s, KERNEL_QUEUE, &d.queue_ns) ? PACKET_KERNEL_QUEUE : 0) |
				     (after_user(x, s, KERNEL_DRIVER, &d.driver_ns) ? PACKET_KERNEL_DRIVER : 0));
	session_note_departure(&x->sessions->session[f->session], f->key, &d);
}

/* A kernel timestamp is older than the receive call by the queueing time, if this thread did not run. But
 * not older than the last time the socket was empty. Queued requests are checked before the first is
 * concluded: a step may be hidden for their queueing time. */
INLINE void note_base(struct exchange *x, struct flight *f, const struct peer_socket *from)
{
	f->base_ns = x->channel->tx_stamps ? from->empty_ns : x->now_ns;
	if (exchange_reads_both(x) && x->channel->tx_stamps &&
	    (uint64_t)(f->sample.time_ns[REFLECT_T3_USER] - x->reflect.now_real_ns) > PAUSE_NS)
		sample_read_clocks(x, true);
}

/* An answer whose times are complete or not awaited. */
INLINE void finish_answer(struct exchange *x, struct flight *f)
{
	/* Another request was answered in between: the counters include both. */
	bool counted = x->pmc && f->key + 1 == x->next_key && pmc_end(x->pmc);

	if (!sample_settle(x, f, false))
		return;
	if (sample_record(x, f, false))
		ipdv_note_answer(x, f);
	if (counted)
		pmc_account(x->pmc, sample_is_slow(x, &f->sample));
}

/* True if the request is to be answered, whoever its sender is. If not it is counted. */
INLINE bool read_request(struct exchange *x)
{
	const struct options *o = x->options;
	struct account *a = &x->result.account;
	struct request *r = &x->reflect.request;
	enum packet_verdict verdict;

	/* Other packets are not examined: verifying an HMAC costs more than anything else here. */
	if (o->allow.prefixes && !allow_has(&o->allow, &x->arrival.from)) {
		counter_add(&a->disallowed, 1);
		return false;
	}
	verdict = packet_read_request(x->channel->datagram, x->arrival.bytes, x->key, r);
	if (x->arrival.truncated || verdict == PACKET_MALFORMED) {
		counter_add(&a->malformed, 1);
		return false;
	}
	if (verdict == PACKET_UNVERIFIED) {
		counter_add(&a->unverified, 1);
		return false;
	}
	if (x->arrival.cut_short) {
		counter_add(&a->cut_short, 1);
		return false;
	}
	if (is_foreign(x, verdict)) {
		counter_add(&a->foreign, 1);
		return false;
	}
	/* The reply would be longer than the request: amplification to a forged source. */
	if (x->arrival.bytes < STAMP_BASE_BYTES && !o->allow_short) {
		counter_add(&a->too_short, 1);
		return false;
	}
	if (r->wants_t2_user && !x->wants_user_rx && x->arrival.source)
		x->arrival_user_ns = clock_read_ns(CLOCK_REALTIME);
	/* Requested from the first such request on, so that no other reflector pays for it. */
	if (r->wants_t2_kernel && !x->channel->kernel_times && !x->reflect.kernel_times_asked) {
		x->reflect.kernel_times_asked = true;
		if (x->options->stages.detail != STAGES_NIC)
			socket_want_kernel_times(x->channel);
	}
	if (r->kernel_every && !x->channel->detail && !x->reflect.detail_asked) {
		x->reflect.detail_asked = true;
		if (x->options->stages.detail != STAGES_NIC)
			socket_want_detail(x->channel);
	}
	/* The first such request is too early to show its class. The reply is sent with the class of the
	 * request. */
	if (r->wants_class && !x->channel->tos_wanted)
		socket_want_tos(x->channel);
	x->arrival.in_class = r->wants_class && x->arrival.tos >= 0;
	return true;
}

/* The session of the sender if its request is to be answered; else NULL, and counted. The clock was read at
 * most REFLECT_CLOCK_TURNS iterations ago. Replayed requests do not use the rate limit. */
INLINE struct session *admit(struct exchange *x)
{
	struct account *a = &x->result.account;
	const struct request *r = &x->reflect.request;
	struct session *session;

	if (!read_request(x))
		return NULL;
	session = session_find(x->sessions, &x->arrival.from, r->ssid, x->now_ns);
	/* A sender with many addresses must not block other senders; with a key replays could not be
	 * detected. */
	if (!session && !x->key)
		session = sessions_stateless(x->sessions, r->seq);
	if (session && !session->requests && x->watched)
		session->doubts = clock_doubts(x->watched);
	if (!session)
		counter_add(&a->no_session, 1);
	else if (x->key && session_replayed(x->sessions, session, r->seq, r->t1_ns))
		counter_add(&a->replayed, 1);
	else if (session_over_rate(x->sessions, session, x->now_ns))
		counter_add(&a->over_rate, 1);
	else
		return session;
	return NULL;
}

/* The first answer, and the first measured answer. */
INLINE void note_start(struct exchange *x, struct flight *f)
{
	if (!x->result.started) {
		x->result.started = true;
		verb_read_clock(x);
		x->result.began_ns = f->sent_ns = x->now_ns;
	}
	if (!x->measuring && !f->warmup) {
		x->measuring = true;
		if (x->on_start)
			x->on_start(x->context);
		exchange_note_rest(x);
	}
}

/* The timestamps of a session are in the order of its requests; not those of several senders, which may be received
 * by several queues of the NIC. After the send, so that it is not late for this reason. */
INLINE void check_stamp(struct exchange *x, struct flight *f, struct session *session, enum order order)
{
	const bool follows = order == ORDER_NEXT && f->sample.seq && !session->stateless;

	f->before_ns[STAMP_SENT] = follows ? session->stamp_ns[STAMP_SENT] : 0;
	if (f->sample.source[REFLECT_T2_WIRE] != SOURCE_HARDWARE)
		return;
	stamp_check_add(&x->result.stamp_check, STAMP_RECEIVED, f->sample.time_ns[REFLECT_T2_WIRE],
			follows ? session->stamp_ns[STAMP_RECEIVED] : 0);
	if (order == ORDER_NEXT)
		session->stamp_ns[STAMP_RECEIVED] = f->sample.time_ns[REFLECT_T2_WIRE];
}

INLINE void reflect_answer(struct exchange *x)
{
	struct account *a = &x->result.account;
	const struct request *r = &x->reflect.request;
	struct session *session = admit(x);
	struct peer_socket *from = x->channel->at;

	from->used_ns = x->now_ns;
	if (!session)
		return;
	if (x->arrival.strays)
		x->channel->at = &x->channel->peer_socket[from->listener]; /* the unconnected socket */
	if (x->pmc)
		pmc_begin(x->pmc);
	struct flight *f = verb_open(x, false);
	enum order order = session_note(session, r->seq);
	x->reflect.emitters_probes += x->reflect.request.is_rant || session->requests >= ONCE_PROBES;

	exchange_begin_gaps(x, false);
	f->sample.seq = r->seq;
	f->sample.ssid = r->ssid;
	f->warmup = x->warmup_left > 0;
	f->detailed = exchange_is_detailed(x, r->seq, r->kernel_every) ||
		      (x->options->stages.detail == STAGES_FULL &&
		       exchange_is_detailed(x, r->seq, (uint32_t)x->options->stages.every));
	verb_note_arrival(x, &f->sample, REFLECT_T2_WIRE, REFLECT_T2_USER);

	bool malformed_tlv;
	size_t bytes = make_reply(x, f, session, &malformed_tlv);

	const bool sent = verb_send(x, f, x->channel->datagram, bytes, &x->arrival);

	check_stamp(x, f, session, order);
	/* After the reply, so that the response is not late for this reason. */
	if (x->reflect.freeze.due)
		freeze_for_emitter(x, session);
	if (!sent) {
		counter_add(&a->unanswered, 1);
		session->discarded++;
		session->discard_reasons |= DISCARD_REFUSED;
		return;
	}
	exchange_note_poll(x);
	exchange_end_gaps(x, r->seq);
	note_reply(x, session, f);
	note_base(x, f, from);
	counter_add(&a->stateless, session->stateless);
	counter_add(&a->repeated, order == ORDER_DUPLICATE);
	if (order == ORDER_DUPLICATE && x->log)
		log_mark_repeated(x->log, r->seq);
	counter_add(&a->reordered, order == ORDER_REORDERED);
	counter_add(&a->malformed_tlv, malformed_tlv);
	x->warmup_left -= f->warmup;
	counter_add(&a->answered, 1);
	note_start(x, f);
	exchange_record_gap(x);
	if (f->state == FLIGHT_STAMPED) {
		finish_answer(x, f);
		x->oldest_key = x->next_key;
	}
	if (from->number < x->channel->listeners && session->requests % PEER_SOCKET_REQUESTS == 0)
		polling_look_if_busy(x, session);
}

INLINE bool is_waiting(const struct exchange *x)
{
	return x->oldest_key != x->next_key;
}

/* Advances past complete flights, and gives up those older than the limit. */
static void expire(struct exchange *x, int64_t limit_ns)
{
	for (; is_waiting(x); x->oldest_key++) {
		struct flight *f = verb_flight_of(x, x->oldest_key);

		if (f->state != FLIGHT_WAITING)
			continue;
		if (x->now_ns - f->sent_ns < limit_ns)
			return;
		f->state = FLIGHT_GIVEN_UP;
		if (sample_settle(x, f, false))
			sample_record(x, f, false);
	}
}

/* Fetches all while something waits: a late or duplicated timestamp must not delay that of the last reply,
 * since the next request may be there already, and its reply reports it. */
INLINE void fetch(struct exchange *x, uint8_t peer_socket, bool all)
{
	bool more;

	x->channel->at = &x->channel->peer_socket[peer_socket];
	do {
		struct flight *f = verb_fetch(x, false, &more);

		if (!f)
			continue;
		note_departure(x, f);
		if (f->sample.source[REFLECT_T3_WIRE] == SOURCE_HARDWARE)
			x->sessions->session[f->session].stamp_ns[STAMP_SENT] = f->sample.time_ns[REFLECT_T3_WIRE];
		finish_answer(x, f);
		while (is_waiting(x) && verb_flight_of(x, x->oldest_key)->state != FLIGHT_WAITING)
			x->oldest_key++;
	} while (more && (all || is_waiting(x)));
}

/* The newest first, since its timestamp may be available already. */
INLINE void reflect_fetch(struct exchange *x)
{
	fetch(x, verb_flight_of(x, x->next_key - 1)->peer_socket, false);
	if (is_waiting(x) && verb_flight_of(x, x->oldest_key)->peer_socket != x->channel->at->number)
		fetch(x, verb_flight_of(x, x->oldest_key)->peer_socket, false);
}

/* Also duplicated or late timestamps, of a socket without pending flights. */
static void fetch_all(struct exchange *x)
{
	for (int i = 0; i < x->channel->peer_sockets; i++)
		fetch(x, (uint8_t)i, true);
}

/* Drains sockets other than that of the newest reply: late timestamps have no waiting flight, and their
 * ring entry is soon reused. */
static void fetch_left_behind(struct exchange *x)
{
	struct channel *c = x->channel;
	const int newest = verb_flight_of(x, x->next_key - 1)->peer_socket;

	for (int i = 0; i < c->peer_sockets; i++)
		if (i != newest && x->next_key - c->peer_socket[i].last_key <= FLIGHTS)
			fetch(x, (uint8_t)i, true);
}

/* A pending error queue entry would end the sleep at once. */
static void reflect_wait(struct exchange *x, bool receive)
{
	fetch_all(x);
	if (is_waiting(x))
		verb_wait(x, receive);
}

/* If nothing arrived, the next iteration notices. */
static void reflect_idle_sleep(struct exchange *x)
{
	fetch_all(x);
	if (!idle_sleep(x))
		x->turn |= REFLECT_CLOCK_TURNS - 1;
	verb_read_clock(x);
}

/* --once: ends if no known emitter sends any more, after enough time to return from an outage. A session of
 * a few packets that are not a rant's is ignored: it neither delays nor causes the end. */
static void check_once(struct exchange *x)
{
	if (!x->reflect.emitters_probes)
		return;
	if (x->reflect.emitters_probes != x->reflect.emitters_probes_seen) {
		x->reflect.emitters_probes_seen = x->reflect.emitters_probes;
		x->reflect.emitters_silent_since_ns = x->now_ns;
	} else if (x->now_ns - x->reflect.emitters_silent_since_ns >= x->options->once_silence_ns) {
		x->result.end = END_ONCE;
		x->now_ns = x->reflect.emitters_silent_since_ns; /* the silence is not part of the run */
	}
}

static void reflect_clock(struct exchange *x, bool idle)
{
	verb_read_clock(x);
	if (x->options->once)
		check_once(x);
	if (verb_is_over(x))
		return;
	if (x->turn % REFLECT_CLOCK_TURNS == 0 && x->channel->tx_stamps)
		fetch_left_behind(x);
	expire(x, x->options->timeout_ns);
	polling_choose_hot(x);
	if (idle_sleep_is_due(x, is_waiting(x)) && idle && !x->reflect.unread) {
		reflect_idle_sleep(x);
		return;
	}
	if (idle && is_waiting(x) && x->now_ns - verb_flight_of(x, x->oldest_key)->sent_ns > STAMP_SPIN_NS) {
		reflect_wait(x, true);
		verb_read_clock(x);
	}
}

/* The last timestamps may still be pending. */
static void reflect_drain(struct exchange *x)
{
	int64_t limit_ns = exchange_is_interrupted(x) && x->options->timeout_ns > DRAIN_TIMEOUT_NS ? DRAIN_TIMEOUT_NS :
		x->options->timeout_ns;
	int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + limit_ns;
	int64_t ended_ns = x->now_ns;

	while (is_waiting(x) && clock_read_ns(CLOCK_MONOTONIC) < until_ns) {
		reflect_fetch(x);
		if (is_waiting(x))
			reflect_wait(x, false);
	}
	if (x->channel->tx_stamps)
		fetch_all(x);
	expire(x, INT64_MIN);
	x->now_ns = ended_ns;
}

void reflect_run(struct exchange *x)
{
	verb_read_clock(x);
	while (!x->result.end) {
		x->channel->at = polling_choose_peer_socket(x);
		bool got = verb_receive(x);

		if (x->reflect.unread && x->channel->at == &x->channel->peer_socket[x->reflect.first])
			x->reflect.unread = got ? x->reflect.unread - 1 : 0;
		if (got)
			reflect_answer(x);
		polling_note(x, got);
		if (is_waiting(x))
			reflect_fetch(x);
		if (++x->turn % REFLECT_CLOCK_TURNS == 0 || *x->stop || (got && x->options->count))
			reflect_clock(x, !got);
	}
	reflect_drain(x);
}
