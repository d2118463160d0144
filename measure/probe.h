/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sending a probe and receiving its reply (hot), shared by the emitter's loops with one and with several in
 * flight. */
#ifndef MEASURE_PROBE_H
#define MEASURE_PROBE_H

#include "measure/join.h"
#include "measure/verbs.h"

/* Iterations of the emitter's loop, each at least one system call, between two readings of the clock for
 * timeouts. */
#define EMIT_CLOCK_TURNS 16
#define SILENCE_NS (3 * NS_PER_S) /* time without answers until a warning is printed */

/* Writes the members that all probes share. */
void probe_prepare(struct exchange *x);

/* Remembers a timed-out probe, so that a reply is counted as late and not as a duplicate. */
void probe_remember_lost(struct exchange *x, uint32_t seq);

/* Counts a reply to a probe that is not in flight (late, duplicated or invalid). */
void probe_take_old_reply(struct exchange *x);

/* Only for a reply that names the T1 of its probe, so it is not forged. */
INLINE void probe_note_ssid(struct exchange *x)
{
	x->emit.ssid_reported |= x->emit.reply.ssid == x->plan->ssid;
}

INLINE uint64_t *probe_t1(struct exchange *x, uint32_t seq)
{
	return &x->emit.t1[seq & x->emit.t1_mask];
}

/* Decodes the received datagram into x->emit.reply. False: not a reply to a probe of this run; counted. */
INLINE bool probe_read_reply(struct exchange *x)
{
	struct account *a = &x->result.account;
	struct reply *r = &x->emit.reply;
	enum packet_verdict verdict = packet_read_reply(x->channel->datagram, join_reply_bytes(x), x->key, r);
	const bool timed = x->measuring && !x->closing;

	counter_add(&a->timed_packets, timed);
	counter_add(&a->timed_bytes, timed ? x->arrival.bytes : 0);
	if (verdict == PACKET_UNVERIFIED) {
		counter_add(&a->unverified, 1);
		return false;
	}
	if (x->arrival.truncated || verdict != PACKET_GOOD) {
		counter_add(&a->malformed, 1);
		return false;
	}
	/* Numbers never sent and other sessions are foreign. A peer without SSIDs always sends 0 (RFC 8972
	 * section 3). */
	uint32_t age = x->next_key - r->sender_seq;

	if ((r->ssid != x->plan->ssid && (r->ssid || x->emit.ssid_reported)) || age == 0 ||
	    age > counter_get(&a->sent) ||
	    age > INT32_MAX) {
		counter_add(&a->foreign, 1);
		return false;
	}
	return true;
}

/* True if the reply answers a probe that is older than an answered probe. */
INLINE bool probe_is_behind(const struct exchange *x, uint32_t seq)
{
	return counter_get(&x->result.account.answered) && (int32_t)(x->emit.highest_answered - seq) > 0;
}

/* Sets the arrival of the reply that was read at the probe in flight. */
INLINE void probe_note_answer(struct exchange *x, struct flight *f)
{
	probe_note_ssid(x);
	counter_add(&x->result.account.answered, 1);
	if (x->result.outages.since_ns)
		outage_end(&x->result.outages, clock_read_ns(CLOCK_MONOTONIC), !f->warmup);
	verb_note_arrival(x, &f->sample, EMIT_T4_WIRE, EMIT_T4_USER);
	if (x->arrival.source == SOURCE_HARDWARE)
		stamp_check_add(&x->result.stamp_check, STAMP_RECEIVED, x->arrival.time_ns,
				f->before_ns[STAMP_RECEIVED]);
}

/* Sends the next probe; NULL if the kernel refused it. */
INLINE struct flight *probe_send(struct exchange *x)
{
	struct flight *f = verb_open(x, true);
	struct sample *s = &f->sample;
	const bool warmup = !x->measuring && x->warmup_left > x->emit.warmup_open;

	/* The duration counts from the first probe after the warm-up; until then from the last answer, so
	 * that a peer that never answers cannot keep the run from ending. */
	if (!x->result.started || (!x->measuring && !warmup)) {
		x->result.started = true;
		x->measuring = !warmup;
		if (x->measuring && x->on_start)
			x->on_start(x->context);
		verb_read_clock(x);
		x->result.began_ns = x->now_ns;
		x->result.stalls = (struct outages){ 0 };
	}
	f->warmup = warmup;
	if (x->pace.interval_ns)
		f->late_ns = clock_read_ns(CLOCK_MONOTONIC) - x->emit.due_ns;
	s->seq = x->next_key;
	s->ssid = x->plan->ssid;
	s->time_ns[EMIT_T1_USER] = clock_read_ns(CLOCK_REALTIME);
	s->source[EMIT_T1_USER] = SOURCE_USER;
	f->detailed = exchange_is_detailed(x, s->seq, (uint32_t)x->options->stages.every);
	f->base_ns = x->now_ns;
	f->sent_real_ns = s->time_ns[EMIT_T1_USER];
	f->sent_by_ns = 0;
	if (x->emit.freeze.changed)
		freeze_write(x);
	packet_probe(x->emit.probe, x->plan, s->seq, s->time_ns[EMIT_T1_USER]);
	/* Without --interval these clock readings would cost a few percent of a round trip, more than the
	 * value is worth. */
	const int64_t called_ns = x->pace.interval_ns ? clock_read_ns(CLOCK_MONOTONIC) : 0;

	if (!verb_send(x, f, x->emit.probe, x->emit.probe_bytes, NULL))
		return NULL;
	f->call_ns = x->pace.interval_ns ? clock_read_ns(CLOCK_MONOTONIC) - called_ns : 0;
	*probe_t1(x, s->seq) = packet_t1(x->emit.probe, x->key);
	return f;
}

/* With --interval, by the clock as just read: sleeps until shortly before the next slot. False: did not
 * sleep (too late or not wanted). */
INLINE bool probe_sleep(struct exchange *x)
{
	const struct options *o = x->options;
	const int64_t end_ns = x->result.started && o->duration_ns ? x->result.began_ns + o->duration_ns : INT64_MAX;

	if (o->pacing == PACING_SPIN || !pace_sleep(&x->pace, o->pacing == PACING_HYBRID, x->now_ns, end_ns))
		return false;
	x->rested_ns = x->pace.slept_until_ns;
	x->polled_ticks = poll_clock_read(&x->poll_clock);
	return true;
}

/* Stops sending: slots that begin from now on are not counted. */
INLINE void probe_end_slots(struct exchange *x)
{
	if (x->pace.interval_ns)
		pace_pass(&x->pace, x->now_ns);
}

/* Counts consecutive lost probes, by the clock as just read: a long outage is passed to another thread for
 * a warning, or ends the run. */
void probe_note_outage(struct exchange *x);

/* By the clock as just read. */
INLINE void probe_note_silence(struct exchange *x)
{
	if (x->result.outages.since_ns)
		probe_note_outage(x);
	if (!counter_get(&x->result.account.answered) && !x->silence_reported && x->on_silence &&
	    x->now_ns - x->result.began_ns >= SILENCE_NS) {
		x->silence_reported = true;
		x->on_silence(x->context);
	}
}

#endif
