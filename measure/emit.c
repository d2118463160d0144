// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter's loop with one probe in flight: send, receive, fetch; lost, late and duplicated replies. */
#include "measure/inside.h"

#include "measure/probe.h"

#define CUT_SHORT_NS NS_PER_S /* a wait truncated by the end of the run counts as an outage from this length */

/* Reads the received datagram. True: it answers the probe in flight, whose arrival is set. */
INLINE bool take_reply(struct exchange *x, struct flight *f, bool answered)
{
	const struct reply *r = &x->emit.reply;

	if (!probe_read_reply(x))
		return false;
	if (x->next_key - r->sender_seq != 1 || !f || answered) {
		probe_take_old_reply(x);
		return false;
	}
	if (!packet_answers(x->channel->datagram, x->emit.probe, x->key)) {
		counter_add(&x->result.account.foreign, 1);
		return false;
	}
	probe_note_answer(x, f);
	exchange_end_gaps(x, r->sender_seq);
	x->emit.highest_answered = r->sender_seq;
	x->emit.undigested = f;
	if (x->emit.digest_at_once)
		join_digest_reply(x);
	return true;
}

/* So many lost probes that the ring reaches the waiting sample; unless the last reply has its T3. */
static void end_wait(struct exchange *x)
{
	const struct flight *f = x->emit.joining;

	join_digest(x);
	if (x->emit.joining == f)
		join_end(x, FOLLOW_UP_LOST, NULL);
}

/* Waits for the next slot and takes it. Datagrams received meanwhile are late or invalid. False: the run
 * ended before. */
static bool emit_pause(struct exchange *x)
{
	join_digest(x);
	for (;;) {
		verb_read_clock(x);
		if (verb_is_over(x))
			return false;
		if (x->now_ns >= x->pace.due_ns)
			break;
		if (probe_sleep(x))
			continue;
		if (verb_receive(x))
			take_reply(x, NULL, false);
	}
	x->emit.due_ns = pace_take(&x->pace, x->now_ns);
	return true;
}

/* Sends the next probe; NULL if the kernel did not take it. */
INLINE struct flight *emit_probe(struct exchange *x)
{
	if (x->emit.joining == verb_flight_of(x, x->next_key))
		end_wait(x);
	/* The reply cannot be in the socket before its probe is sent. */
	x->channel->at->empty_ticks = x->polled_ticks;

	struct flight *f = probe_send(x);

	exchange_note_poll(x);
	exchange_begin_gaps(x, true);
	exchange_record_gap(x);
	return f;
}

#define NOT_YET INT64_MIN

enum wait { WAIT_ANSWERED, WAIT_TIMED_OUT, WAIT_CUT_SHORT };

/* WAIT_ANSWERED: not timed out. */
static enum wait emit_drain_timeout(struct exchange *x, const struct flight *f, int64_t waited_ns)
{
	int64_t limit_ns = x->options->timeout_ns;

	if (x->closing && (x->emit.freeze.asking || x->emit.freeze.cause_asking) && waited_ns >= FREEZE_CLOSING_NS)
		return WAIT_CUT_SHORT;
	if (x->closing)
		return waited_ns >= limit_ns || waited_ns >= DRAIN_TIMEOUT_NS ? WAIT_CUT_SHORT : WAIT_ANSWERED;
	if (exchange_is_interrupted(x) || x->result.end == END_GONE || x->result.end == END_GIVEN_UP)
		return WAIT_CUT_SHORT;
	if (waited_ns >= limit_ns)
		return WAIT_TIMED_OUT;
	return waited_ns >= DRAIN_TIMEOUT_NS && (!f || verb_time_is_up(x)) ? WAIT_CUT_SHORT : WAIT_ANSWERED;
}

/* Waits for the reply, then for the timestamp, each up to the timeout. Without a flight (refused send) it
 * waits until the next try. *answered: the reply arrived, with or without its timestamp. */
INLINE enum wait emit_await(struct exchange *x, struct flight *f, bool *answered)
{
	int64_t since_ns = NOT_YET; /* the clock is read at intervals, so the wait is that much longer */
	bool more;

	*answered = false;
	/* A kernel timestamp is usually available when the send returns; the reply takes longer than
	 * reading it. */
	if (f && x->channel->wire == SOURCE_KERNEL)
		for (unsigned left = 1 + f->detailed; left && f->state == FLIGHT_WAITING; left--)
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
		if (++x->turn % EMIT_CLOCK_TURNS && (!*x->stop || x->closing))
			continue;
		verb_read_clock(x);
		if (f && !f->sent_by_ns)
			f->sent_by_ns = x->now_ns;
		probe_note_silence(x);
		if (since_ns == NOT_YET)
			since_ns = x->now_ns;

		enum wait wait = emit_drain_timeout(x, f, x->now_ns - since_ns);

		if (wait != WAIT_ANSWERED)
			return wait;
		if (*answered && !got && x->now_ns - since_ns > STAMP_SPIN_NS)
			verb_wait(x, false);
	}
}

/* Removes the useless timestamp of an unanswered probe from the error queue. */
static void emit_give_up(struct exchange *x, struct flight *f)
{
	bool more;

	do
		verb_fetch(x, true, &more);
	while (more);
	if (f->state == FLIGHT_WAITING)
		f->state = FLIGHT_GIVEN_UP;
}

/* Ends a probe that was not answered or not sent. A probe truncated by the end of the run may have been
 * answered in time; but with a long --timeout it may hide an outage. */
static void note_outage(struct exchange *x, int64_t tried_ns, enum wait wait)
{
	if (wait != WAIT_CUT_SHORT || x->now_ns - tried_ns >= CUT_SHORT_NS)
		outage_begin(&x->result.outages, tried_ns);
}

/* Returns the closing probe if it was answered; else NULL. */
static struct flight *emit_closing(struct exchange *x)
{
	struct flight *f = emit_probe(x);
	bool answered;

	if (!f)
		return NULL;
	counter_add(&x->result.account.closing, 1);
	emit_await(x, f, &answered);
	join_digest(x);
	emit_give_up(x, f);
	if (!answered)
		probe_remember_lost(x, f->sample.seq);
	return answered ? f : NULL;
}

static void close_once(struct exchange *x)
{
	emit_closing(x);
}

/* The last sample still waits for T3 of its reply, which only the reply to one more probe reports. The breach that
 * ended the run may have no other probe that requests a freeze. */
static void emit_close(struct exchange *x)
{
	const int64_t last_ns = x->result.last_ns, now_ns = x->now_ns;

	join_digest(x);
	x->closing = true;
	join_end(x, FOLLOW_UP_END, join_waits_for_t3(x) ? emit_closing(x) : NULL);
	for (int i = 0; i < FREEZE_CLOSING && x->emit.freeze.asking && x->result.end != END_GONE; i++)
		emit_closing(x);
	freeze_end(x);
	freeze_await_cause(x, close_once);
	/* Closing probes are not part of the run. */
	x->result.last_ns = last_ns;
	x->now_ns = now_ns;
}

void emit_run(struct exchange *x)
{
	probe_prepare(x);
	x->result.probe_bytes = optional_of((int64_t)x->emit.probe_bytes);
	while (!verb_is_over(x)) {
		if (x->pace.interval_ns && !emit_pause(x))
			break;
		if (x->pmc)
			pmc_begin(x->pmc);
		struct flight *f = emit_probe(x);
		const int64_t tried_ns = x->now_ns;
		bool answered;
		enum wait wait = emit_await(x, f, &answered);

		/* Its counters were the last to be read. */
		if (x->pmc && answered)
			join_confirm(x, f);
		bool counted = x->pmc && pmc_end(x->pmc);

		if (!answered)
			note_outage(x, tried_ns, wait);
		if (!f) {
			/* The counters no longer belong to the waiting sample. */
			if (x->emit.joining)
				x->emit.joining->counted = false;
			continue;
		}
		f->counted = counted;
		if (f->state == FLIGHT_WAITING)
			emit_give_up(x, f);
		if (!answered) {
			probe_remember_lost(x, f->sample.seq);
			exchange_end_gaps(x, f->sample.seq);
		}
		if (wait == WAIT_CUT_SHORT) {
			counter_add(&x->result.account.unfinished, 1);
		} else if (!answered) {
			counter_add(&x->result.account.lost, 1);
		} else {
			if (f->warmup) {
				x->warmup_left--;
				x->result.began_ns = x->now_ns;
			}
			f->kept = sample_conclude(x, f, true);
			if (f->kept && !x->emit.undigested)
				join_keep(x, f);
		}
	}
	exchange_record_gap(x);
	probe_end_slots(x);
	outage_last(&x->result.outages, x->now_ns);
	emit_close(x);
}
