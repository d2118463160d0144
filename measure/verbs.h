/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send, receive and fetch of both roles (hot). Inline, with the role as a constant, so that each role is a
 * single loop without calls between its system calls.
 */
#ifndef MEASURE_VERBS_H
#define MEASURE_VERBS_H

#include "measure/exchange.h"
#include "measure/sample.h"
#include "measure/tx_match.h"

#include <errno.h>
#include <string.h>

/* Time for which timestamps are awaited by spinning. After that the thread sleeps in poll: some drivers
 * deliver timestamps in a kernel thread on the sending CPU, which a real-time spinner would starve
 * (kernel-timestamping: delivery). Usual deliveries take 5 to 100 us. */
#define STAMP_SPIN_NS (200 * NS_PER_US)
#define STAMP_SLEEP_NS NS_PER_MS

/* Drain timeout: after the end the last reply or timestamp is awaited no longer than this, whatever
 * --timeout is; also the retry interval of a refused send. */
#define DRAIN_TIMEOUT_NS (100 * NS_PER_MS)

INLINE void verb_read_clock(struct exchange *x)
{
	if (exchange_reads_both(x)) {
		sample_read_clocks(x, false);
		return;
	}
	exchange_read_now(x);
	if (exchange_checks_realtime(x))
		sample_ask(x, ASK_NS);
}

INLINE struct flight *verb_flight_of(struct exchange *x, uint32_t key)
{
	return &x->flight[key & x->flight_mask];
}

/* The kernel refused a send, or reports an ICMP error here. */
INLINE void verb_refused(struct exchange *x, int error)
{
	counter_add(&x->result.account.refused, 1);
	if (error == -ECONNREFUSED)
		counter_add(&x->result.account.port_closed, 1);
}

/* Receives a datagram if there is one. Errors that the kernel reports here, such as a closed port, are
 * counted. */
INLINE bool verb_receive(struct exchange *x)
{
	const int64_t before_ticks = x->polled_ticks;
	int got = stamp_receive(x->channel, &x->arrival);

	exchange_note_poll(x);
	if (got > 0) {
		const int64_t empty_ticks = x->channel->at->empty_ticks;
		const int64_t gap_ns = empty_ticks ? poll_clock_ns(&x->poll_clock, x->polled_ticks - empty_ticks) : 0;

		/* Also if the kernel has no timestamp, so that a reply always has a receive time to report. */
		if (x->wants_user_rx || !x->arrival.source)
			x->arrival_user_ns = clock_read_ns(CLOCK_REALTIME);
		x->poll_gap_ns = gap_ns < 0 ? 0 : gap_ns < UINT32_MAX ? (uint32_t)gap_ns : UINT32_MAX;
		counter_add(&x->result.account.received, 1);
		x->channel->at->received++;
		return true;
	}
	if (got < 0) {
		verb_refused(x, got);
	} else {
		x->channel->at->empty_ns = x->now_ns;
		x->channel->at->empty_ticks = before_ticks;
	}
	return false;
}

/* Opens the record of the packet about to be sent. The old record in that ring entry is given up. */
INLINE struct flight *verb_open(struct exchange *x, const bool emit)
{
	struct flight *f = verb_flight_of(x, x->next_key);

	if (f->state == FLIGHT_WAITING) {
		f->state = FLIGHT_GIVEN_UP;
		if (sample_settle(x, f, emit))
			sample_record(x, f, emit);
	}
	if (!emit && x->next_key - x->oldest_key >= FLIGHTS)
		x->oldest_key = x->next_key - FLIGHTS + 1;
	memset(f->sample.source, SOURCE_NONE, sizeof(f->sample.source));
	f->sample.follow_up = FOLLOW_UP_NONE;
	f->sample.poll_gap_ns = f->sample.remote_poll_gap_ns = 0;
	f->sample.same_timebase = f->sample.off_scale = f->sample.converted = false;
	f->breach = f->kept = f->counted = f->validated = f->has_offset = f->set = f->detailed = false;
	memset(f->bound_ns, 0, sizeof(f->bound_ns));
	f->state = FLIGHT_NONE;
	f->key = x->next_key;
	return f;
}

/* True if the next packet by this port requests no timestamp. Counted for each port. */
INLINE bool verb_is_load(const struct exchange *x, unsigned port)
{
	const int64_t every = x->options->stamp_every;

	return every > 1 && (x->port ? x->source_port[port].sent : x->next_key) % (uint64_t)every;
}

/* Sleeps until a timestamp is there, or with `receive` a datagram, but not for long. One system call. */
INLINE void verb_wait(struct exchange *x, bool receive)
{
	stamp_wait(x->channel, receive, STAMP_SLEEP_NS);
	exchange_note_rest(x);
}

/* Sends. On success the flight waits for its timestamp, or is sent completely if none was requested. */
INLINE bool verb_send(struct exchange *x, struct flight *f, const void *packet, size_t bytes,
		      const struct arrival *answering)
{
	struct peer_socket *at = x->channel->at;
	int error;

	/* With one in flight the timestamp arrives before the next packet; a timestamp missing after this
	 * number of later timestamps is lost. */
	at->id_open &= x->next_key - at->asked_key <= x->window.most;
	f->id = at->id_by_message ? f->key : at->next_id;
	f->unasked = x->channel->unasked = verb_is_load(x, at->number);
	f->detailed &= !f->unasked;
	x->channel->detailed = f->detailed;
	error = stamp_send(x->channel, packet, bytes, f->id, answering);
	if (error) {
		verb_refused(x, error);
		/* The socket is bound to an interface index that no longer exists and never will again. */
		if (error == -ENODEV && !x->result.end)
			x->result.end = END_GONE;
		return false;
	}
	if (!f->unasked) {
		at->next_id = f->id + 1;
		at->last_key = f->key;
		at->ids_ahead = f->id - f->key;
	}
	if (at->id_asked && !f->unasked) {
		at->id_open = at->id_due = true;
		at->asked_key = f->key;
	}
	if (at->id_open || f->unasked)
		f->id ^= TX_MATCH_UNKNOWN_ID;
	x->next_key++;
	f->sent_ns = x->now_ns;
	f->peer_socket = at->number;
	memcpy(f->before_ns, x->result.stamp_check.last_ns, sizeof(f->before_ns));
	f->state = x->channel->tx_stamps && !f->unasked ? FLIGHT_WAITING : FLIGHT_STAMPED;
	counter_add(&x->result.account.sent, 1);
	if (!f->warmup)
		x->result.measured++;
	return true;
}

/* Fetches one transmit timestamp. Returns the flight that it completed, or NULL. *more: an entry was read,
 * valid or not. */
INLINE struct flight *verb_fetch(struct exchange *x, const bool emit, bool *more)
{
	struct departure d;
	enum fetch fetched = stamp_fetch(x->channel, &d);

	*more = fetched != FETCH_EMPTY;
	if (fetched == FETCH_ID)
		tx_match_learn_id(x, d.id);
	if (fetched == FETCH_QUEUE || fetched == FETCH_DRIVER)
		tx_match_kernel(x, &d, fetched == FETCH_QUEUE ? KERNEL_QUEUE : KERNEL_DRIVER,
				emit ? EMIT_T1_USER : REFLECT_T3_USER);
	if (fetched != FETCH_STAMP)
		return NULL;

	struct flight *f = tx_match_flight_of(x, d.id);
	const unsigned at = emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE;

	if (f && f->state == FLIGHT_WAITING && channel_sent_source(x->channel) == SOURCE_HARDWARE)
		stamp_check_add(&x->result.stamp_check, STAMP_SENT, d.time_ns, f->before_ns[STAMP_SENT]);
	if (!f || (f->state == FLIGHT_WAITING && !tx_match_agrees(x, f, d.time_ns, emit))) {
		counter_add(&x->result.account.stamp_unmatched, 1);
		stamp_doubt(x->channel, x->channel->at);
	} else if (f->state == FLIGHT_WAITING) {
		f->sample.time_ns[at] = d.time_ns;
		f->sample.source[at] = (uint8_t)channel_sent_source(x->channel);
		f->state = FLIGHT_STAMPED;
		if (f->detailed)
			sample_note_driver(&f->sample, at, false);
		if (x->places)
			sample_place(x, f, at);
		return f;
	} else {
		counter_add(f->state == FLIGHT_STAMPED ? &x->result.account.stamp_duplicate :
			    &x->result.account.stamp_late, 1);
	}
	return NULL;
}

/* The receiving half of a sample. */
INLINE void verb_note_arrival(struct exchange *x, struct sample *s, const unsigned wire, const unsigned user)
{
	s->time_ns[wire] = x->arrival.time_ns;
	s->source[wire] = x->arrival.source;
	s->poll_gap_ns = x->poll_gap_ns;
	if (x->wants_user_rx) {
		s->time_ns[user] = x->arrival_user_ns;
		s->source[user] = SOURCE_USER;
	}
	if (!x->channel->kernel_times)
		return;
	s->time_ns[KERNEL_RECEIVE] = x->arrival.kernel_ns;
	s->source[KERNEL_RECEIVE] = x->arrival.kernel_ns ? SOURCE_KERNEL : SOURCE_NONE;
}

INLINE bool verb_time_is_up(const struct exchange *x)
{
	return x->result.started && x->options->duration_ns &&
	       x->now_ns - x->result.began_ns >= x->options->duration_ns;
}

/* True if the run has ended, by the clock as last read. */
INLINE bool verb_is_over(struct exchange *x)
{
	const struct options *o = x->options;

	if (x->result.end)
		return true;
	if (*x->stop)
		x->result.end = exchange_is_interrupted(x) ? END_SIGNAL : END_KNOWN;
	else if (verb_time_is_up(x))
		x->result.end = END_DURATION;
	else if (o->count && x->result.measured >= (uint64_t)o->count)
		x->result.end = END_COUNT;
	return x->result.end != END_NOT_YET;
}

#endif
