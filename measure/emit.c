// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter: send, receive, fetch. Lost, late and repeated replies are told apart here. */
#include "measure/emit.h"

#include "measure/join.h"
#include "measure/verbs.h"

/* The clock is read in every so many turns of the loop; a turn is at least one system call, so it is never old. */
#define CLOCK_TURNS 16
#define SILENCE_NS (3 * NS_PER_S) /* until it is said that nothing answers */
#define CUT_SHORT_NS NS_PER_S /* a wait that the end cut short is an outage from then on */

#define LOST_ANSWERED (-1) /* no sequence number */

/* Only of a reply that names the T1 of its probe: what it says is not made up. */
INLINE void note_ssid(struct exchange *x)
{
	x->ssid_told |= x->reply.ssid == x->plan->ssid;
}

INLINE uint64_t *t1_of(struct exchange *x, uint32_t seq)
{
	return &x->t1[seq % T1_REMEMBERED];
}

/* Remembers a probe that was given up, so that its reply, should it come, is late and not a duplicate. */
static void remember_lost(struct exchange *x, uint32_t seq)
{
	x->lost[x->lost_total++ % LOST_REMEMBERED] = (struct lost_probe){ .seq = seq, .t1 = *t1_of(x, seq) };
}

/* NULL: it was not given up, or so long ago that it is forgotten. */
static struct lost_probe *find_lost(struct exchange *x, uint32_t seq)
{
	uint64_t known = x->lost_total < LOST_REMEMBERED ? x->lost_total : LOST_REMEMBERED;

	for (uint64_t i = 0; i < known; i++) {
		struct lost_probe *lost = &x->lost[(x->lost_total - 1 - i) % LOST_REMEMBERED];

		if (lost->seq == seq)
			return lost;
	}
	return NULL;
}

/* Is it the reply to a probe that is no longer in flight? Whoever sees no probe can guess its number, but not its T1. Where that
 * is not known any more its SSID has to do. */
static bool is_old_reply(const struct exchange *x, uint32_t seq, const struct lost_probe *lost)
{
	const uint8_t *packet = x->channel->datagram;

	if (x->next_key - seq <= T1_REMEMBERED)
		return packet_has_t1(packet, x->t1[seq % T1_REMEMBERED], x->key);
	return lost ? packet_has_t1(packet, lost->t1, x->key) : x->reply.ssid == x->plan->ssid;
}

/* A reply to a probe that is no longer in flight, or so it says. */
static void take_old_reply(struct exchange *x)
{
	const uint32_t seq = x->reply.sender_seq;
	struct lost_probe *lost = find_lost(x, seq);
	struct account *a = &x->account;

	if (!is_old_reply(x, seq, lost)) {
		counter_add(&a->foreign, 1);
		return;
	}
	note_ssid(x);
	if (counter_get(&a->answered) && (int32_t)(x->highest_answered - seq) > 0)
		counter_add(&a->reordered, 1);
	counter_add(lost ? &a->late : &a->duplicate, 1);
	if (lost)
		lost->seq = LOST_ANSWERED;
	join_again(x, !lost);
}

/* Reads what was received into x->reply. False: it is no reply to any probe of this run, and counted. */
INLINE bool read_reply(struct exchange *x)
{
	struct account *a = &x->account;
	struct reply *r = &x->reply;
	enum packet_verdict verdict = packet_read_reply(x->channel->datagram, join_reply_bytes(x), x->key, r);

	if (verdict == PACKET_UNVERIFIED) {
		counter_add(&a->unverified, 1);
		return false;
	}
	if (x->arrival.truncated || verdict != PACKET_GOOD) {
		counter_add(&a->malformed, 1);
		return false;
	}
	/* What was never sent is foreign; so is another session. A peer without SSIDs says 0 (RFC 8972 section 3), always. */
	uint32_t age = x->next_key - r->sender_seq;

	if ((r->ssid != x->plan->ssid && (r->ssid || x->ssid_told)) || age == 0 || age > counter_get(&a->sent) ||
	    age > INT32_MAX) {
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
		take_old_reply(x);
		return false;
	}
	if (!packet_answers(x->channel->datagram, x->probe, x->key)) {
		counter_add(&a->foreign, 1);
		return false;
	}
	note_ssid(x);
	counter_add(&a->answered, 1);
	if (x->outages.since_ns)
		outage_end(&x->outages, clock_read_ns(CLOCK_MONOTONIC), !f->warmup);
	x->highest_answered = r->sender_seq;
	verb_note_arrival(x, &f->sample, EMIT_T4_WIRE, EMIT_T4_USER);
	x->undigested = f;
	if (x->digest_at_once)
		join_digest_reply(x);
	return true;
}

/* So many probes were lost that the ring has come round to the sample that waits; unless the last reply has its T3. */
static void end_wait(struct exchange *x)
{
	const struct flight *f = x->joining;

	join_digest(x);
	if (x->joining == f)
		join_end(x, FOLLOW_UP_LOST, NULL);
}

/* Waits for the next slot, and takes it. What comes meanwhile is late, or no reply. False: the run is over before. */
static bool emit_pause(struct exchange *x)
{
	const struct options *o = x->options;
	const int64_t end_ns = x->started && o->duration_ns ? x->began_ns + o->duration_ns : INT64_MAX;

	join_digest(x);
	for (;;) {
		verb_read_clock(x);
		if (verb_is_over(x))
			return false;
		if (x->now_ns >= x->pace.due_ns)
			break;
		if (o->pacing != PACING_SPIN && pace_sleep(&x->pace, o->pacing == PACING_HYBRID, x->now_ns, end_ns))
			continue;
		if (verb_receive(x))
			take_reply(x, NULL, false);
	}
	x->due_ns = pace_take(&x->pace, x->now_ns);
	return true;
}

/* Sends the next probe; NULL if the kernel did not take it. */
INLINE struct flight *emit_probe(struct exchange *x)
{
	if (x->joining == verb_flight_of(x, x->next_key))
		end_wait(x);

	struct flight *f = verb_open(x, true);
	struct sample *s = &f->sample;

	/* The duration counts from the first probe after the warm-up; until then from the last answer, so that a peer
	 * that never answers cannot keep the run from ending. */
	if (!x->started || (!x->measuring && x->warmup_left == 0)) {
		x->started = true;
		x->measuring = x->warmup_left == 0;
		if (x->measuring && x->on_start)
			x->on_start(x->context);
		verb_read_clock(x);
		x->began_ns = x->now_ns;
	}
	f->warmup = x->warmup_left > 0;
	if (x->pace.interval_ns)
		f->late_ns = clock_read_ns(CLOCK_MONOTONIC) - x->due_ns;
	s->seq = x->next_key;
	s->time_ns[EMIT_T1_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[EMIT_T1_USER] = SOURCE_USER;
	f->base_ns = x->now_ns;
	f->sent_real_ns = s->time_ns[EMIT_T1_USER];
	f->sent_by_ns = 0;
	packet_probe(x->probe, x->plan, s->seq, s->time_ns[EMIT_T1_USER]);
	if (!verb_send(x, f, x->probe, x->probe_bytes, NULL))
		return NULL;
	*t1_of(x, s->seq) = packet_t1(x->probe, x->key);
	return f;
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
	if (*x->stop || x->end == END_GONE)
		return WAIT_CUT_SHORT;
	if (waited_ns >= limit_ns)
		return WAIT_TIMED_OUT;
	return waited_ns >= PATIENCE_NS && (!f || verb_time_is_up(x)) ? WAIT_CUT_SHORT : WAIT_ANSWERED;
}

/* Waits for the reply, then for the stamp; each wait has the same limit. Without a flight (refused) it passes the time
 * until the next try. *answered: the reply was there, with or without the stamp. */
INLINE enum wait emit_await(struct exchange *x, struct flight *f, bool *answered)
{
	int64_t since_ns = NOT_YET; /* the clock is read too rarely to know it at once: the wait is that much longer */
	bool more;

	*answered = false;
	/* One of the kernel is mostly there when the send returns; the reply takes longer than to read it. */
	if (f && f->state == FLIGHT_WAITING && x->channel->wire == SOURCE_KERNEL)
		verb_fetch(x, true, &more);
	for (;;) {
		join_digest(x);
		bool got = verb_receive(x);

		if (got && take_reply(x, f, *answered)) {
			*answered = true;
			since_ns = NOT_YET;
		}
		if (*answered) {
			do {
				if (f->state == FLIGHT_STAMPED)
					return WAIT_ANSWERED;
				verb_fetch(x, true, &more);
			} while (more);
		}
		if (++x->turn % CLOCK_TURNS && (!*x->stop || x->closing))
			continue;
		verb_read_clock(x);
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
		verb_fetch(x, true, &more);
	while (more);
	if (f->state == FLIGHT_WAITING)
		f->state = FLIGHT_GIVEN_UP;
}

/* Of a probe that got no reply, or that the kernel did not take. One that the end of the run cut short would have been
 * answered in time, as far as anybody knows; but with a long --timeout it may hide that nobody is there any more. */
static void note_outage(struct exchange *x, int64_t tried_ns, enum wait wait)
{
	if (wait != WAIT_CUT_SHORT || x->now_ns - tried_ns >= CUT_SHORT_NS)
		outage_begin(&x->outages, tried_ns);
}

/* The last sample still waits for T3 of its reply, which only a reply to one more probe can tell. */
static void emit_close(struct exchange *x)
{
	const int64_t last_ns = x->last_ns, now_ns = x->now_ns;
	bool answered;

	join_digest(x);
	if (!join_waits_for_t3(x)) {
		join_end(x, FOLLOW_UP_END, NULL);
		return;
	}
	x->closing = true;
	struct flight *f = emit_probe(x);

	if (f) {
		counter_add(&x->account.closing, 1);
		emit_await(x, f, &answered);
		join_digest(x);
		emit_give_up(x, f);
	}
	join_end(x, FOLLOW_UP_END, f && answered ? f : NULL);
	/* It is no part of the run. */
	x->last_ns = last_ns;
	x->now_ns = now_ns;
}

void emit_run(struct exchange *x)
{
	packet_prepare(x->probe, x->plan);
	x->probe_bytes = packet_plan_bytes(x->plan);
	while (!verb_is_over(x)) {
		if (x->pace.interval_ns && !emit_pause(x))
			break;
		if (x->pmc)
			pmc_begin(x->pmc);
		struct flight *f = emit_probe(x);
		const int64_t tried_ns = x->now_ns;
		bool answered;
		enum wait wait = emit_await(x, f, &answered);

		/* Its counters are those that were read last. */
		if (x->pmc && answered)
			join_confirm(x, f);
		bool counted = x->pmc && pmc_end(x->pmc);

		if (!answered)
			note_outage(x, tried_ns, wait);
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
			f->kept = sample_conclude(x, f, true);
			if (f->kept && !x->undigested)
				join_keep(x, f);
		}
	}
	outage_end(&x->outages, x->now_ns, true);
	emit_close(x);
}
