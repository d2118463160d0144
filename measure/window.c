// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter with more than one probe in flight: send, receive, fetch, each once in a turn. */
#include "measure/window.h"

#include "measure/probe.h"

#define RETRY_NS NS_PER_MS /* after a refused send: a queue of this host may be full */
/* A transmit stamp that takes longer, and so many times as long as any before, is taken for missing; should it come, it is used. */
#define OVERDUE_NS (10 * NS_PER_MS)
#define OVERDUE_TIMES 4
#define STAMPS_ENOUGH 64 /* so many came: there may be one more at once */

INLINE bool is_open(const struct flight *f)
{
	return f->fate == FATE_OPEN || f->fate == FATE_CLOSING;
}

/* For how long it has been on its way, at least: by the clock as read before and after the send. */
INLINE int64_t age(const struct flight *f, int64_t now_ns)
{
	return f->sent_by_ns ? now_ns - f->sent_by_ns : 0;
}

/* ---- What waits to be read ---------------------------------------------------------------------------------------------- */

/* By the clock as just read: so many may have come, and each twice. Before all of them are read, or the queue was empty, none is given up:
 * this thread may have had no CPU. */
static void mark(struct window_queue *q, uint32_t waiting, int64_t now_ns)
{
	if (q->unread)
		return;
	q->unread = 2 * waiting + 1;
	q->marked_ns = now_ns;
}

INLINE void note_read(struct window_queue *q, bool got)
{
	if (!q->unread)
		return;
	q->unread = got ? q->unread - 1 : 0;
	if (!q->unread)
		q->read_ns = q->marked_ns;
}

/* ---- How many transmit stamps the NIC takes --------------------------------------------------------------------------- */

/* Many NICs keep one stamp at a time, others four. What they do not take has none, and nobody says so. */
static void begin_stamps(struct exchange *x)
{
	struct window *w = &x->window;
	const bool unlimited = !x->channel->tx_stamps || x->channel->wire != SOURCE_HARDWARE;

	w->stamps_most = unlimited ? w->most : 1;
}

/* Past all whose stamps have come: one that is late, and may be missing, holds up those behind it. */
static void pass_stamps(struct exchange *x)
{
	struct window *w = &x->window;

	for (; w->stamp_key != x->next_key; w->stamp_key++) {
		const struct flight *f = verb_flight_of(x, w->stamp_key);

		if (f->state == FLIGHT_WAITING)
			break;
		w->stamps_good += f->state == FLIGHT_STAMPED;
	}
	if (!w->stamps_held || w->stamps_limited || w->stamps_good < STAMPS_ENOUGH)
		return;
	w->stamps_most += w->stamps_most < w->most;
	w->stamps_good = 0;
	w->stamps_held = false;
}

static void note_stamp_overdue(struct window *w, const struct flight *f)
{
	w->stamps_out--;
	w->stamps_good = 0;
	if (f->stamps_out < 2 || f->stamps_out > w->stamps_most)
		return; /* not for others; or when more were tried */
	w->stamps_limited = true;
	w->stamps_most = f->stamps_out - 1;
}

static int64_t overdue_after(const struct exchange *x)
{
	const int64_t slow_ns = OVERDUE_TIMES * x->window.slowest_stamp_ns, ns = slow_ns > OVERDUE_NS ? slow_ns : OVERDUE_NS;

	return ns < x->options->timeout_ns ? ns : x->options->timeout_ns;
}

/* By the clock as just read. */
static void look_for_overdue(struct exchange *x)
{
	struct window *w = &x->window;
	const int64_t overdue_ns = overdue_after(x);

	for (pass_stamps(x); w->stamp_key != x->next_key; pass_stamps(x)) {
		const struct flight *f = verb_flight_of(x, w->stamp_key);

		if (age(f, w->stamps.read_ns) < overdue_ns)
			return;
		note_stamp_overdue(w, f);
		w->stamp_key++;
	}
}

/* ---- What becomes of a probe ---------------------------------------------------------------------------------------- */

/* Its reply and its stamp are there, or the latter will not come. */
INLINE void conclude(struct exchange *x, struct flight *f)
{
	if (f->warmup) {
		x->warmup_left -= x->warmup_left > 0;
		x->began_ns = x->now_ns;
	}
	f->kept = sample_conclude(x, f, true);
}

/* Nothing was answered since: a lost one among answered ones is no outage. */
static void give_up(struct exchange *x, struct flight *f, bool unfinished)
{
	struct window *w = &x->window;

	w->in_flight--;
	counter_add(unfinished ? &x->account.unfinished : &x->account.lost, 1);
	if (!unfinished && w->answered_ns < f->sent_ns)
		outage_begin(&x->outages, f->sent_ns);
	if (f->state == FLIGHT_WAITING)
		f->state = FLIGHT_GIVEN_UP;
	f->fate = FATE_LOST;
}

/* There is little room for those to come. */
static bool is_crowded(const struct exchange *x)
{
	return x->next_key - x->oldest_key > x->flight_mask / 2;
}

/* By the clock as just read. */
static void expire(struct exchange *x)
{
	struct window *w = &x->window;

	for (; w->expire_key != x->next_key; w->expire_key++) {
		struct flight *f = verb_flight_of(x, w->expire_key);

		if (f->fate != FATE_OPEN)
			continue;
		if (age(f, w->replies.read_ns) < x->options->timeout_ns)
			return;
		give_up(x, f, false);
	}
}

/* force: nothing is waited for any more. True: it needs its place no longer, but for what comes too late. */
static bool is_over(struct exchange *x, struct flight *f, bool force)
{
	if (f->fate == FATE_OPEN && force)
		give_up(x, f, true);
	if (f->fate != FATE_ANSWERED)
		return f->fate == FATE_LOST || f->fate == FATE_DONE || force;
	if (f->state == FLIGHT_WAITING) {
		const int64_t patience_ns = is_crowded(x) ? overdue_after(x) : x->options->timeout_ns;

		if (age(f, x->window.stamps.read_ns) < patience_ns && !force)
			return false;
		f->state = FLIGHT_GIVEN_UP;
		conclude(x, f);
	}
	if (!f->kept)
		return true;

	const bool awaits_t3 = join_awaits_t3(x, f);

	if (awaits_t3 && !force && !is_crowded(x))
		return false;
	if (f->told && f->sample.follow_up == FOLLOW_UP_NONE)
		f->sample.follow_up = f->t3_untold ? FOLLOW_UP_UNKNOWN : awaits_t3 && force ? FOLLOW_UP_END : FOLLOW_UP_LOST;
	join_keep(x, f);
	return true;
}

/* In the order in which they were sent. */
static void retire(struct exchange *x, bool force)
{
	while (x->oldest_key != x->next_key && is_over(x, verb_flight_of(x, x->oldest_key), force))
		x->oldest_key++;
}

/* ---- The verbs ------------------------------------------------------------------------------------------------------ */

static bool may_send(struct exchange *x)
{
	const struct options *o = x->options;
	struct window *w = &x->window;

	if (w->in_flight >= w->most || (x->pace.interval_ns && x->now_ns < x->pace.due_ns) || x->now_ns < w->retry_ns ||
	    (o->count && x->measured >= (uint64_t)o->count) || x->next_key - x->oldest_key >= x->flight_mask)
		return false;
	if (w->stamps_out < w->stamps_most)
		return true;
	w->stamps_held = true;
	return false;
}

static struct flight *send_probe(struct exchange *x)
{
	struct window *w = &x->window;
	struct flight *f = verb_flight_of(x, x->next_key);

	if (f->fate == FATE_LOST)
		probe_remember_lost(x, f->key);
	if (x->joining == f)
		join_end(x, FOLLOW_UP_LOST, NULL);
	f->fate = FATE_DONE;
	if (!probe_send(x)) {
		w->retry_ns = x->now_ns + RETRY_NS;
		return NULL;
	}
	f->fate = FATE_OPEN;
	f->t3_untold = false;
	w->in_flight++;
	if (w->in_flight > w->reached)
		w->reached = w->in_flight;
	w->stamps_out += f->state == FLIGHT_WAITING;
	f->stamps_out = w->stamps_out;
	return f;
}

/* A reply to a probe that is in flight. */
static void take_answer(struct exchange *x, struct flight *f)
{
	struct window *w = &x->window;
	const uint32_t seq = x->reply.sender_seq;

	if (probe_is_behind(x, seq))
		counter_add(&x->account.reordered, 1);
	else
		x->highest_answered = seq;
	probe_note_answer(x, f);
	w->answered_ns = x->now_ns;
	w->in_flight--;
	if (f->fate == FATE_OPEN) {
		f->fate = FATE_ANSWERED;
		join_digest_of(x, f);
		if (f->state == FLIGHT_STAMPED)
			conclude(x, f);
	} else {
		f->fate = FATE_DONE;
		join_again(x, false);
	}
	retire(x, false);
}

static void take(struct exchange *x)
{
	const uint32_t seq = x->reply.sender_seq;
	struct flight *f = verb_flight_of(x, seq);

	if (f->key == seq && f->fate == FATE_LOST) {
		probe_remember_lost(x, seq);
		f->fate = FATE_DONE;
	}
	if (f->key != seq || seq - x->oldest_key >= x->next_key - x->oldest_key || !is_open(f))
		probe_take_old_reply(x);
	else if (!packet_has_t1(x->channel->datagram, *probe_t1(x, seq), x->key))
		counter_add(&x->account.foreign, 1);
	else
		take_answer(x, f);
}

static void fetch(struct exchange *x)
{
	struct window *w = &x->window;
	bool more;
	struct flight *f = verb_fetch(x, true, &more);

	note_read(&w->stamps, more);
	if (!f)
		return;
	if (age(f, x->now_ns) > w->slowest_stamp_ns)
		w->slowest_stamp_ns = age(f, x->now_ns);
	w->stamps_out -= f->key - w->stamp_key < x->next_key - w->stamp_key; /* or it was overdue */
	pass_stamps(x);
	if (f->fate != FATE_ANSWERED)
		return;
	conclude(x, f);
	retire(x, false);
}

static void receive(struct exchange *x)
{
	const bool got = verb_receive(x);

	note_read(&x->window.replies, got);
	if (got && probe_read_reply(x))
		take(x);
}

static void look_at_clock(struct exchange *x)
{
	struct window *w = &x->window;

	verb_read_clock(x);
	mark(&w->replies, w->in_flight, x->now_ns);
	mark(&w->stamps, w->stamps_out, x->now_ns);
	for (; w->dated_key != x->next_key; w->dated_key++)
		verb_flight_of(x, w->dated_key)->sent_by_ns = x->now_ns;
	probe_note_silence(x);
	look_for_overdue(x);
	expire(x);
	retire(x, false);
}

/* Nothing is on its way, and nothing due: there is time to sleep. */
static void rest(struct exchange *x)
{
	const struct window *w = &x->window;

	if (x->pace.interval_ns && !w->in_flight && !w->stamps_out)
		probe_sleep(x);
}

INLINE void turn(struct exchange *x, bool sends)
{
	if (sends && may_send(x)) {
		if (x->pace.interval_ns)
			x->due_ns = pace_take(&x->pace, x->now_ns);
		send_probe(x);
	}
	receive(x);
	if (x->window.stamps_out || x->turn % CLOCK_TURNS == 0)
		fetch(x);
	if (++x->turn % CLOCK_TURNS == 0 || x->pace.interval_ns)
		look_at_clock(x);
}

/* ---- The run -------------------------------------------------------------------------------------------------------- */

static bool is_cut_short(const struct exchange *x)
{
	return *x->stop || x->end == END_GONE;
}

/* Is there a probe without its reply or its stamp, and time left for it? */
static bool is_waited_for(struct exchange *x)
{
	for (uint32_t key = x->oldest_key; key != x->next_key && !x->window.in_flight; key++) {
		const struct flight *f = verb_flight_of(x, key);

		if (f->state == FLIGHT_WAITING && age(f, x->window.stamps.read_ns) < x->options->timeout_ns)
			return true;
	}
	return x->window.in_flight;
}

/* What is in flight at the end is waited for as any other, but not long if somebody wants it to end. */
static void drain(struct exchange *x)
{
	const int64_t since_ns = x->now_ns;

	while (is_waited_for(x) && !(is_cut_short(x) && x->now_ns - since_ns >= PATIENCE_NS))
		turn(x, false);
}

/* The last samples still wait for T3 of their replies, which only a reply to one more probe can tell. */
static void close_window(struct exchange *x)
{
	const int64_t last_ns = x->last_ns, now_ns = x->now_ns;
	struct flight *f = NULL;

	x->closing = true;
	if (x->oldest_key != x->next_key && !x->window.in_flight && counter_get(&x->account.answered))
		f = send_probe(x);
	if (f) {
		f->fate = FATE_CLOSING;
		counter_add(&x->account.closing, 1);
	}
	while (f && f->fate == FATE_CLOSING && x->now_ns - now_ns < PATIENCE_NS && x->now_ns - now_ns < x->options->timeout_ns)
		turn(x, false);
	retire(x, true);
	join_end(x, FOLLOW_UP_END, NULL);
	/* It is no part of the run. */
	x->last_ns = last_ns;
	x->now_ns = now_ns;
}

void window_run(struct exchange *x)
{
	packet_prepare(x->probe, x->plan);
	x->probe_bytes = packet_plan_bytes(x->plan);
	begin_stamps(x);
	verb_read_clock(x);
	while (!verb_is_over(x)) {
		turn(x, true);
		rest(x);
	}
	probe_end_slots(x);
	drain(x);
	outage_end(&x->outages, x->now_ns, true);
	close_window(x);
}
