// SPDX-License-Identifier: GPL-2.0-or-later
/* The reflector: receive, send, fetch. Any number of emitters are answered, and none that could be a reflector too. */
#include "measure/reflect.h"

#include "measure/doze.h"
#include "measure/turns.h"
#include "measure/verbs.h"
#include "wire/allow.h"
#include "wire/lane.h"

#define UNREAD_TOLD 8 /* replies of a session that report requests that nobody read */
#define ONCE_PROBES 10 /* of one session without our TLV: it is an emitter's, and not a stray packet or two */

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* What must not be answered, or two reflectors would talk to each other for ever: replies, what comes from our own port
 * (a reflector's, where emitters have others), what has our own address as source, and what was sent to more than
 * one host. */
INLINE bool is_foreign(const struct exchange *x, enum packet_verdict verdict)
{
	const struct arrival *a = &x->arrival;

	return verdict == PACKET_IS_REPLY || !a->to_unicast || (a->from_self && !x->loopback) ||
	       (ntohs(a->from.in.sin_port) == x->options->port && !x->channel->transport->one_port);
}

/* How a time was taken, as RFC 8972 section 4.3 has it. */
INLINE uint8_t method_of(uint8_t source)
{
	return source == SOURCE_NONE ? PACKET_METHOD_NONE :
	       source == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* A time of user space on the scale of our stamps, if that is known; also beside one that is missing, for the times of
 * all replies go side by side. *bound_ns: -1 if not, else raised to the error. */
INLINE int64_t on_scale(const struct exchange *x, int64_t realtime_ns, int64_t *bound_ns)
{
	int64_t placed_ns, error_ns;

	if (x->channel->wire != SOURCE_HARDWARE || *bound_ns < 0)
		return realtime_ns;
	if (!x->clocks || !clock_to_phc(x->clocks, realtime_ns, &placed_ns, &error_ns)) {
		*bound_ns = -1;
		return realtime_ns;
	}
	if (error_ns > *bound_ns)
		*bound_ns = error_ns;
	return placed_ns;
}

/* Was the clock of our stamps set, or did it stand, since the session began? Times that were placed before that was
 * seen may have been off by it: the bound that is told from then on covers them. */
INLINE void tell_doubt(const struct exchange *x, const struct session *session, struct answer *answer)
{
	int64_t misplaced_ns;

	answer->clock_doubted = x->watched && clock_doubts(x->watched) != session->doubts;
	if (!answer->clock_doubted || answer->software_bound_ns < 0)
		return;
	misplaced_ns = clock_misplaced_ns(x->watched);
	if (misplaced_ns > answer->software_bound_ns)
		answer->software_bound_ns = misplaced_ns;
}

/* Of which kind T2 and the follow-up are. Without transmit stamps the follow-up is of user space: where that is
 * software as T2 is, nothing is said. */
INLINE uint8_t source_to_tell(const struct exchange *x, uint8_t wire)
{
	if (wire == SOURCE_KERNEL && !x->channel->tx_stamps)
		return SOURCE_NONE;
	return wire ? wire : SOURCE_USER;
}

/* Requests that nobody read may be of any session: some replies of each report it, in case one is lost. */
INLINE uint8_t discard_reasons(const struct exchange *x, struct session *session)
{
	const uint32_t unread = x->channel->unread + (uint32_t)counter_get(&x->result.account.cut_short);

	if (!session->reply_seq || session->stateless)
		session->unread = unread;
	if (unread != session->unread) {
		session->unread = unread;
		session->unread_at = session->reply_seq;
		session->discard_reasons |= DISCARD_UNREAD;
	} else if (session->reply_seq - session->unread_at >= UNREAD_TOLD) {
		session->discard_reasons &= (uint8_t)~DISCARD_UNREAD;
	}
	return session->discard_reasons;
}

/* What the reply says. T3 is the start of sending (RFC 8762 section 4.3); so it is read last. */
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
		.wire_source = source_to_tell(x, wire),
		.discarded = session->discarded,
		.discard_reasons = discard_reasons(x, session),
		.stateless = session->stateless,
	};

	/* Of a stamp that is missing the program's time takes the place, on the same scale. */
	if (!wire)
		answer.t2_ns = on_scale(x, x->arrival_user_ns, &answer.software_bound_ns);
	if (x->reflect.request.wants_t2_user) {
		answer.t2_user_known = true;
		answer.t2_user_ns = on_scale(x, x->arrival_user_ns, &answer.software_bound_ns);
	}
	if (x->reflect.request.wants_follow_ups) {
		answer.follow_up = departures;
		answer.follow_ups = (uint8_t)session_departures(session, departures);
	}
	s->time_ns[REFLECT_T3_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[REFLECT_T3_USER] = SOURCE_USER;
	answer.t3_ns = on_scale(x, s->time_ns[REFLECT_T3_USER], &answer.software_bound_ns);
	tell_doubt(x, session, &answer);
	return packet_reply(x->channel->datagram, a->bytes, x->key, &answer, malformed_tlv);
}

/* So that the next replies can say when this one left. Where no transmit stamps are taken, T3 of user space is all
 * there is. */
INLINE void note_reply(struct exchange *x, struct session *session, struct flight *f)
{
	const bool told = !x->channel->tx_stamps;

	f->session = (uint16_t)(session - x->sessions->session);
	f->reply_seq = session->reply_seq;
	session_note_reply(session, f->key, told ? PACKET_METHOD_SOFTWARE : PACKET_METHOD_NONE,
			   f->sample.time_ns[REFLECT_T3_USER]);
}

/* What the next replies of this session will say of this one. */
INLINE void note_departure(struct exchange *x, const struct flight *f)
{
	session_note_departure(&x->sessions->session[f->session], f->reply_seq, f->key,
			       method_of((uint8_t)x->channel->wire),
			       f->sample.time_ns[REFLECT_T3_WIRE]);
}

/* A stamp of the kernel is from before the request was received: as long before as it waited, if this thread did not
 * run. But not from before the socket was empty. Requests that waited are looked at before the first of them is
 * concluded: a step may hide for how long they did. */
INLINE void note_base(struct exchange *x, struct flight *f, const struct lane *from)
{
	f->base_ns = x->channel->tx_stamps ? from->empty_ns : x->now_ns;
	if (exchange_reads_both(x) && x->channel->tx_stamps &&
	    (uint64_t)(f->sample.time_ns[REFLECT_T3_USER] - x->reflect.now_real_ns) > PAUSE_NS)
		sample_read_clocks(x, true);
}

/* An answer that has all its times, or none to wait for. */
INLINE void finish_answer(struct exchange *x, struct flight *f)
{
	/* Another was answered in between: what was counted is of both. */
	bool counted = x->pmc && f->key + 1 == x->next_key && pmc_end(x->pmc);

	if (!sample_settle(x, f, false))
		return;
	if (sample_record(x, f, false))
		variation_note_answer(x, f);
	if (counted)
		pmc_account(x->pmc, sample_is_slow(x, &f->sample));
}

/* Is it to be answered, whoever sent it? If not it is counted. */
INLINE bool read_request(struct exchange *x)
{
	const struct options *o = x->options;
	struct account *a = &x->result.account;
	struct request *r = &x->reflect.request;
	enum packet_verdict verdict;

	/* Of others nothing is looked at: verifying an HMAC costs more than anything else here. */
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
	/* The reply would be longer: sent to a false source, a few octets would become many. */
	if (x->arrival.bytes < STAMP_BASE_BYTES && !o->allow_short) {
		counter_add(&a->too_short, 1);
		return false;
	}
	if (r->wants_t2_user && !x->wants_user_rx && x->arrival.source)
		x->arrival_user_ns = clock_read_ns(CLOCK_REALTIME);
	/* The first such request is too early to tell. The reply goes out in the class in which the request came. */
	if (r->wants_class && !x->channel->tos_wanted)
		socket_want_tos(x->channel);
	x->arrival.in_class = r->wants_class && x->arrival.tos >= 0;
	return true;
}

/* The session of the sender, if its request is to be answered. If not it is counted, and NULL. The clock is as last
 * read, REFLECT_CLOCK_TURNS turns ago at most. What was replayed takes nothing of the rate. */
INLINE struct session *admit(struct exchange *x)
{
	struct account *a = &x->result.account;
	const struct request *r = &x->reflect.request;
	struct session *session;

	if (!read_request(x))
		return NULL;
	session = session_find(x->sessions, &x->arrival.from, r->ssid, x->now_ns);
	/* Whoever sends from many addresses must not keep others from an answer; with a key, what was replayed could
	 * not be told. */
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

/* The first answer, and the first that is measured. */
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
		x->rested_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
}

INLINE void reflect_answer(struct exchange *x)
{
	struct account *a = &x->result.account;
	const struct request *r = &x->reflect.request;
	struct session *session = admit(x);
	struct lane *from = x->channel->at;

	from->used_ns = x->now_ns;
	if (!session)
		return;
	if (x->arrival.strays)
		x->channel->at = &x->channel->lane[from->listener]; /* which is nobody's */
	if (x->pmc)
		pmc_begin(x->pmc);
	struct flight *f = verb_open(x, false);
	enum order order = session_note(session, r->seq);
	x->reflect.emitters_probes += x->reflect.request.is_rant || session->requests >= ONCE_PROBES;

	f->sample.seq = r->seq;
	f->warmup = x->warmup_left > 0;
	verb_note_arrival(x, &f->sample, REFLECT_T2_WIRE, REFLECT_T2_USER);

	bool malformed_tlv;
	size_t bytes = make_reply(x, f, session, &malformed_tlv);

	if (!verb_send(x, f, x->channel->datagram, bytes, &x->arrival)) {
		counter_add(&a->unanswered, 1);
		session->discarded++;
		session->discard_reasons |= DISCARD_REFUSED;
		return;
	}
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
	if (f->state == FLIGHT_STAMPED) {
		finish_answer(x, f);
		x->oldest_key = x->next_key;
	}
	if (from->number < x->channel->listeners && session->requests % LANE_REQUESTS == 0)
		turns_look_if_busy(x, session);
}

INLINE bool is_waiting(const struct exchange *x)
{
	return x->oldest_key != x->next_key;
}

/* Moves past what is complete, and gives up what is older than the limit. */
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

/* All that is there, as long as something waits: a late stamp or one that came twice must not hold up that of the last
 * reply, since the next request may be there already, and its reply is to tell of it. */
INLINE void fetch(struct exchange *x, uint8_t lane, bool all)
{
	bool more;

	x->channel->at = &x->channel->lane[lane];
	do {
		struct flight *f = verb_fetch(x, false, &more);

		if (!f)
			continue;
		note_departure(x, f);
		finish_answer(x, f);
		while (is_waiting(x) && verb_flight_of(x, x->oldest_key)->state != FLIGHT_WAITING)
			x->oldest_key++;
	} while (more && (all || is_waiting(x)));
}

/* The newest first, for it may be there already. */
INLINE void reflect_fetch(struct exchange *x)
{
	fetch(x, verb_flight_of(x, x->next_key - 1)->lane, false);
	if (is_waiting(x) && verb_flight_of(x, x->oldest_key)->lane != x->channel->at->number)
		fetch(x, verb_flight_of(x, x->oldest_key)->lane, false);
}

/* Also what came twice, or late, by a lane that nothing waits for. */
static void fetch_all(struct exchange *x)
{
	for (int i = 0; i < x->channel->lanes; i++)
		fetch(x, (uint8_t)i, true);
}

/* What still comes by lanes that others than the newest reply went by: nothing may wait for it, and soon its flight is
 * another's. */
static void fetch_left_behind(struct exchange *x)
{
	struct channel *c = x->channel;
	const int newest = verb_flight_of(x, x->next_key - 1)->lane;

	for (int i = 0; i < c->lanes; i++)
		if (i != newest && x->next_key - c->lane[i].last_key <= FLIGHTS)
			fetch(x, (uint8_t)i, true);
}

/* What is in an error queue would wake us at once. */
static void reflect_wait(struct exchange *x, bool receive)
{
	fetch_all(x);
	if (is_waiting(x))
		stamp_wait(x->channel, receive, STAMP_SLEEP_NS);
}

/* If nothing came, the next turn is enough to see it. */
static void reflect_doze(struct exchange *x)
{
	fetch_all(x);
	if (!doze(x))
		x->turn |= REFLECT_CLOCK_TURNS - 1;
	verb_read_clock(x);
}

/* --once: nothing comes from any emitter that was here, and one that is cut off for a while has had the time to come
 * back. A session of a few packets that are not those of a rant is nobody to wait for, and nobody whose silence ends
 * the run. */
static void check_once(struct exchange *x)
{
	if (!x->reflect.emitters_probes)
		return;
	if (x->reflect.emitters_probes != x->reflect.emitters_probes_seen) {
		x->reflect.emitters_probes_seen = x->reflect.emitters_probes;
		x->reflect.emitters_silent_since_ns = x->now_ns;
	} else if (x->now_ns - x->reflect.emitters_silent_since_ns >= x->options->once_silence_ns) {
		x->result.end = END_ONCE;
		x->now_ns = x->reflect.emitters_silent_since_ns; /* the silence is no part of the run */
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
	turns_choose_hot(x);
	if (doze_is_due(x, is_waiting(x)) && idle && !x->reflect.unread) {
		reflect_doze(x);
		return;
	}
	if (idle && is_waiting(x) && x->now_ns - verb_flight_of(x, x->oldest_key)->sent_ns > STAMP_SPIN_NS) {
		reflect_wait(x, true);
		verb_read_clock(x);
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
		x->channel->at = turns_choose_lane(x);
		bool got = verb_receive(x);

		if (x->reflect.unread && x->channel->at == &x->channel->lane[x->reflect.first])
			x->reflect.unread = got ? x->reflect.unread - 1 : 0;
		if (got)
			reflect_answer(x);
		turns_note(x, got);
		if (is_waiting(x))
			reflect_fetch(x);
		if (++x->turn % REFLECT_CLOCK_TURNS == 0 || *x->stop || (got && x->options->count))
			reflect_clock(x, !got);
	}
	reflect_drain(x);
}
