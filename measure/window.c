// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter with several probes in flight: send, receive and fetch, each once per iteration. */
#include "measure/window.h"

#include "measure/inside.h"
#include "measure/probe.h"

#define RETRY_NS NS_PER_MS /* retry interval of a refused send: a queue of this host may be full */
#define PORT_TURNS 64 /* with one in flight other ports are polled once in this number of iterations */

INLINE bool is_open(const struct flight *f)
{
	return f->fate == FATE_OPEN || f->fate == FATE_CLOSING;
}

/* ---- Pending replies and timestamps ------------------------------------------------------------------------------ */

/* Upper bound of the pending entries by the clock as just read, each possibly duplicated. No probe times
 * out before all of them are read or the queue is empty: this thread may have been preempted. */
static void mark(struct window_queue *q, uint32_t waiting, int64_t now_ns)
{
	if (q->unread)
		return;
	q->unread = 2 * waiting + 1;
	q->marked_ns = now_ns;
}

/* got: an entry was read; else no port has any. */
INLINE void note_read(struct window_queue *q, bool got)
{
	if (!q->unread)
		return;
	q->unread = got ? q->unread - 1 : 0;
	if (!q->unread)
		q->read_ns = q->marked_ns;
}

/* ---- Results of a probe ------------------------------------------------------------------------------------------ */

/* Its reply and its timestamp have arrived, or the timestamp is lost. */
INLINE void conclude(struct exchange *x, struct flight *f)
{
	if (f->warmup) {
		x->emit.warmup_open--;
		x->warmup_left--;
		if (!x->measuring)
			x->result.began_ns = x->now_ns;
	}
	f->kept = sample_conclude(x, f, true);
	if (f->kept && f->sample.latency_ns > x->window.slowest_ns)
		x->window.slowest_ns = f->sample.latency_ns;
}

static void give_up(struct exchange *x, struct flight *f, bool unfinished)
{
	struct window *w = &x->window;

	w->in_flight--;
	x->emit.warmup_open -= f->warmup;
	counter_add(unfinished ? &x->result.account.unfinished : &x->result.account.lost, 1);
	if (x->port && !unfinished)
		x->source_port[f->peer_socket].lost++;
	if (!unfinished)
		outage_note_lost(&x->result.outages, f->sent_ns, w->answered_ns);
	if (f->state == FLIGHT_WAITING)
		f->state = FLIGHT_GIVEN_UP;
	f->fate = FATE_LOST;
}

/* The ring has little space for later probes. */
static bool is_crowded(const struct exchange *x)
{
	return x->next_key - x->oldest_key > x->flight_mask / 2;
}

/* Times out probes, by the clock as just read. ends: the run ends; then also probes within their timeout
 * that were sent before an answered probe and unanswered for that long. */
static void expire(struct exchange *x, bool ends)
{
	struct window *w = &x->window;

	for (; w->expire_key != x->next_key; w->expire_key++) {
		struct flight *f = verb_flight_of(x, w->expire_key);

		if (f->fate != FATE_OPEN)
			outage_end_row(&x->result.outages, f->sent_ns, !f->warmup);
		else if (window_age(f, w->reply_queue.read_ns) >= x->options->timeout_ns)
			give_up(x, f, false);
		else if (ends)
			outage_note_open(&x->result.outages, f->sent_ns);
		else
			return;
	}
}

/* force: wait for nothing. True: its ring entry is needed only for late packets. */
static bool is_over(struct exchange *x, struct flight *f, bool force)
{
	if (f->fate == FATE_OPEN && force)
		give_up(x, f, true);
	if (f->fate != FATE_ANSWERED)
		return f->fate == FATE_LOST || f->fate == FATE_DONE || force;
	if (f->state == FLIGHT_WAITING) {
		const int64_t drain_timeout_ns = is_crowded(x) ? window_stamps_drain_timeout_ns(x) :
			x->options->timeout_ns;

		if (window_age(f, x->window.stamp_queue.read_ns) < drain_timeout_ns && !force)
			return false;
		f->state = FLIGHT_GIVEN_UP;
		conclude(x, f);
	}
	if (!f->kept)
		return true;

	const bool awaits_t3 = join_awaits_t3(x, f);

	if (awaits_t3 && !force && !is_crowded(x))
		return false;
	if (f->reported && f->sample.follow_up == FOLLOW_UP_NONE)
		f->sample.follow_up = f->t3_unreported ? FOLLOW_UP_UNKNOWN : awaits_t3 &&
		force ? FOLLOW_UP_END : FOLLOW_UP_LOST;
	join_validate(x, f);
	return true;
}

/* In send order. */
static void retire(struct exchange *x, bool force)
{
	while (x->oldest_key != x->next_key && is_over(x, verb_flight_of(x, x->oldest_key), force))
		x->oldest_key++;
	join_release(x, force);
}

/* The window or the ring is full. */
static bool is_full(const struct exchange *x)
{
	return x->next_key - x->window.held_key >= x->flight_mask;
}

/* ---- Send, receive, fetch ---------------------------------------------------------------------------------------- */

static bool may_send(struct exchange *x)
{
	const struct options *o = x->options;
	struct window *w = &x->window;

	if (w->in_flight >= w->most || (x->pace.interval_ns && x->now_ns < x->pace.due_ns) || x->now_ns < w->retry_ns ||
	    (o->count && x->result.measured >= (uint64_t)o->count) || is_full(x))
		return false;
	if (w->stamps_out < w->stamps_most || verb_is_load(x, w->next_port))
		return true;
	w->stamps_held = true;
	return false;
}

/* The next try uses the next port, so that a refusing port does not block the others; with a delay if all
 * ports refuse. */
static void note_refused(struct exchange *x)
{
	struct window *w = &x->window;

	if (!w->in_flight && !x->closing)
		outage_begin(&x->result.outages, x->now_ns);
	if (x->port)
		x->source_port[x->channel->at->number].refused++;
	if (x->port && ++w->refused < x->source_ports)
		return;
	w->retry_ns = x->now_ns + RETRY_NS;
}

INLINE void choose_port(struct exchange *x)
{
	struct window *w = &x->window;

	x->channel->at = &x->channel->port[w->next_port];
	w->next_port = w->next_port + 1 < x->source_ports ? w->next_port + 1 : 0;
}

static void note_sent(struct exchange *x, struct flight *f)
{
	source_port_note_sent(x, f);
	x->window.last_port = f->peer_socket;
	x->window.refused = 0;
}

static struct flight *send_probe(struct exchange *x)
{
	struct window *w = &x->window;
	struct flight *f = verb_flight_of(x, x->next_key);

	if (f->fate == FATE_LOST)
		probe_remember_lost(x, f->key);
	f->fate = FATE_DONE;
	if (!w->in_flight)
		exchange_begin_gaps(x, true);
	if (!probe_send(x)) {
		note_refused(x);
		return NULL;
	}
	if (x->port)
		note_sent(x, f);
	f->fate = FATE_OPEN;
	f->t3_unreported = false;
	w->in_flight++;
	x->emit.warmup_open += f->warmup;
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
	const uint32_t seq = x->emit.reply.sender_seq;

	if (probe_is_behind(x, seq))
		counter_add(&x->result.account.reordered, f->fate == FATE_OPEN);
	else
		x->emit.highest_answered = seq;
	probe_note_answer(x, f);
	/* epoll(7), and no poll of this socket, shows which of several sockets is empty. */
	if (x->port)
		f->sample.poll_gap_ns = 0;
	exchange_end_gaps(x, seq);
	exchange_record_gap(x);
	w->answered_ns = x->now_ns;
	w->in_flight--;
	if (f->fate == FATE_OPEN) {
		f->fate = FATE_ANSWERED;
		f->confirm_key = x->next_key;
		join_digest_of(x, f);
		if (f->state == FLIGHT_STAMPED)
			conclude(x, f);
	} else {
		f->fate = FATE_DONE;
		join_closing(x, f);
	}
	retire(x, false);
}

static void take(struct exchange *x)
{
	const uint32_t seq = x->emit.reply.sender_seq;
	struct flight *f = verb_flight_of(x, seq);

	/* Replies are matched within their port. */
	if (f->key == seq && f->peer_socket != x->channel->at->number) {
		counter_add(&x->result.account.foreign, 1);
		return;
	}
	if (f->key == seq && f->fate == FATE_LOST) {
		probe_remember_lost(x, seq);
		f->fate = FATE_DONE;
	}
	if (f->key != seq || seq - x->oldest_key >= x->next_key - x->oldest_key || !is_open(f))
		probe_take_old_reply(x);
	else if (!packet_has_t1(x->channel->datagram, *probe_t1(x, seq), x->key))
		counter_add(&x->result.account.foreign, 1);
	else
		take_answer(x, f);
}

/* False: nothing was pending. */
static bool fetch_entry(struct exchange *x)
{
	struct window *w = &x->window;
	bool more;
	struct flight *f = verb_fetch(x, true, &more);

	if (more || !x->port)
		note_read(&w->stamp_queue, more);
	if (!f)
		return more;
	if (window_age(f, x->now_ns) > w->slowest_stamp_ns)
		w->slowest_stamp_ns = window_age(f, x->now_ns);
	w->stamps_out -= f->key - w->stamp_key < x->next_key - w->stamp_key; /* not counted if it was overdue */
	window_stamps_pass(x);
	if (f->fate == FATE_ANSWERED) {
		conclude(x, f);
		retire(x, false);
	}
	return more;
}

/* As many entries as a packet has at most. False: nothing was pending. */
INLINE bool fetch(struct exchange *x)
{
	bool more = fetch_entry(x);

	for (unsigned left = x->details; left && more && fetch_entry(x); left--)
		;
	return more;
}

INLINE void receive(struct exchange *x)
{
	const bool got = verb_receive(x);

	if (got || !x->port)
		note_read(&x->window.reply_queue, got);
	if (got && probe_read_reply(x))
		take(x);
}

/* Reads some of the pending entries of any port. False: none. */
static bool look_at_all(struct exchange *x)
{
	struct stamp_ready ready[STAMP_READY];
	const unsigned n = stamp_look(x->channel, ready);

	for (unsigned i = 0; i < n; i++) {
		x->channel->at = &x->channel->port[ready[i].number];
		if ((ready[i].fetch && !fetch(x)) || ready[i].receive)
			receive(x);
	}
	if (!n) {
		note_read(&x->window.reply_queue, false);
		note_read(&x->window.stamp_queue, false);
	}
	return n > 0;
}

/* With one in flight its port is read directly, like a single port; the same for all in turn where a read
 * makes the kernel poll the NIC. */
static void look_at_ports(struct exchange *x)
{
	struct window *w = &x->window;
	const bool alone = w->most == 1 && x->turn % PORT_TURNS;

	if (!alone)
		look_at_all(x);
	if (!alone && !x->options->busy_poll_us)
		return;
	x->channel->at = &x->channel->port[alone ? w->last_port : x->turn % x->source_ports];
	receive(x);
	if (w->stamps_out)
		fetch(x);
}

static void look_at_clock(struct exchange *x)
{
	struct window *w = &x->window;

	verb_read_clock(x);
	mark(&w->reply_queue, w->in_flight, x->now_ns);
	mark(&w->stamp_queue, w->stamps_out * (1 + x->details), x->now_ns);
	for (; w->dated_key != x->next_key; w->dated_key++)
		verb_flight_of(x, w->dated_key)->sent_by_ns = x->now_ns;
	probe_note_silence(x);
	window_stamps_look(x);
	expire(x, false);
	retire(x, false);
}

/* Sleeps if nothing is in flight and no probe is due. */
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
			x->emit.due_ns = pace_take(&x->pace, x->now_ns);
		if (x->port)
			choose_port(x);
		send_probe(x);
	}
	if (x->port) {
		look_at_ports(x);
	} else {
		receive(x);
		if (x->window.stamps_out || x->turn % EMIT_CLOCK_TURNS == 0)
			fetch(x);
	}
	if (++x->turn % EMIT_CLOCK_TURNS == 0 || x->pace.interval_ns)
		look_at_clock(x);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static bool is_cut_short(const struct exchange *x)
{
	return exchange_is_interrupted(x) || x->result.end == END_GONE;
}

/* True if a probe lacks its reply or timestamp and has time left. */
static bool is_waited_for(struct exchange *x)
{
	for (uint32_t key = x->oldest_key; key != x->next_key && !x->window.in_flight; key++) {
		const struct flight *f = verb_flight_of(x, key);

		if (f->state == FLIGHT_WAITING && window_age(f, x->window.stamp_queue.read_ns) < x->options->timeout_ns)
			return true;
	}
	return x->window.in_flight;
}

/* True if probes that timed out at the end may still be answered (late instead of lost). Like irtt, for
 * three times the longest round trip. */
static bool may_be_late(struct exchange *x)
{
	const struct flight *f = verb_flight_of(x, x->next_key - 1);

	return counter_get(&x->result.account.lost) && !is_cut_short(x) &&
	       window_age(f, x->now_ns) < 3 * x->window.slowest_ns;
}

/* Probes in flight at the end are awaited as usual, but only briefly after a signal. */
static void drain(struct exchange *x)
{
	const int64_t since_ns = x->now_ns;

	while ((is_waited_for(x) || may_be_late(x)) && !(is_cut_short(x) &&
							 x->now_ns - since_ns >= DRAIN_TIMEOUT_NS))
		turn(x, false);
}

/* Reads late or duplicated datagrams of unpolled ports; bounded, whoever sends. */
static void look_at_rest(struct exchange *x)
{
	for (unsigned i = 0; i < x->source_ports * PORT_TURNS && look_at_all(x); i++)
		;
}

/* True if a sample waits for T3 of its reply on this port. */
static bool is_joining(struct exchange *x, unsigned peer_socket)
{
	for (uint32_t key = x->oldest_key; key != x->next_key; key++) {
		struct flight *f = verb_flight_of(x, key);

		if (f->peer_socket == peer_socket && f->fate == FATE_ANSWERED && f->kept && join_awaits_t3(x, f))
			return true;
	}
	return false;
}

/* Sends a closing probe on each port with waiting samples, and on the first port if samples are held;
 * returns their number. */
static unsigned send_closing(struct exchange *x)
{
	unsigned sent = 0;

	for (unsigned peer_socket = 0; peer_socket < (x->port ? x->source_ports : 1); peer_socket++) {
		struct flight *f;

		if ((x->port && !is_joining(x, peer_socket) &&
		     !(peer_socket == 0 && x->window.held_key != x->oldest_key)) ||
		    is_full(x))
			continue;
		if (x->port)
			x->channel->at = &x->channel->port[peer_socket];
		f = send_probe(x);
		if (!f)
			continue;
		f->fate = FATE_CLOSING;
		counter_add(&x->result.account.closing, 1);
		sent++;
	}
	return sent;
}

/* The last probes sent. */
static bool is_closing(struct exchange *x, unsigned sent)
{
	for (unsigned i = 1; i <= sent; i++)
		if (verb_flight_of(x, x->next_key - i)->fate == FATE_CLOSING ||
		    verb_flight_of(x, x->next_key - i)->state == FLIGHT_WAITING)
			return true;
	return false;
}

/* Sends a closing probe, and waits for its reply for a while. */
static void close_once(struct exchange *x)
{
	struct flight *f = NULL;
	int64_t sent_ns;

	verb_read_clock(x);
	sent_ns = x->now_ns;
	if (x->port)
		x->channel->at = &x->channel->port[0];
	if (!is_full(x))
		f = send_probe(x);
	if (!f) {
		turn(x, false); /* may make room */
		return;
	}
	f->fate = FATE_CLOSING;
	counter_add(&x->result.account.closing, 1);
	while (is_closing(x, 1) && x->now_ns - sent_ns < FREEZE_CLOSING_NS)
		turn(x, false);
}

/* The breach that ended the run may have no other probe that requests a freeze. */
static void close_freeze(struct exchange *x)
{
	for (int i = 0; i < FREEZE_CLOSING && x->emit.freeze.asking && x->result.end != END_GONE; i++)
		close_once(x);
	freeze_end(x);
	freeze_await_cause(x, close_once);
}

/* The last samples still wait for T3 of their replies, which only the reply to one more probe reports; and
 * for an exchange that confirms them. */
static void close_window(struct exchange *x)
{
	const int64_t last_ns = x->result.last_ns, now_ns = x->now_ns;
	const uint32_t reached = x->window.reached;
	unsigned sent = 0;

	x->closing = true;
	if (x->window.held_key != x->next_key && !x->window.in_flight && counter_get(&x->result.account.answered))
		sent = send_closing(x);
	while (is_closing(x, sent) && x->now_ns - now_ns < DRAIN_TIMEOUT_NS &&
	       x->now_ns - now_ns < x->options->timeout_ns)
		turn(x, false);
	for (unsigned i = sent; i; i--)
		join_confirm_held(x, verb_flight_of(x, x->next_key - i));
	close_freeze(x);
	retire(x, true);
	/* Closing probes are not part of the run. */
	x->window.reached = reached;
	x->result.last_ns = last_ns;
	x->now_ns = now_ns;
}

void window_run(struct exchange *x)
{
	probe_prepare(x);
	x->result.probe_bytes = optional_of((int64_t)x->emit.probe_bytes);
	window_stamps_begin(x);
	verb_read_clock(x);
	while (!verb_is_over(x)) {
		turn(x, true);
		rest(x);
	}
	probe_end_slots(x);
	drain(x);
	look_at_rest(x);
	expire(x, true);
	outage_last(&x->result.outages, x->now_ns);
	close_window(x);
}
