/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processing of a sample (hot): concluded, then completed, then recorded. Inline, with the role as a
 * constant; rare code and loops are in sample.c.
 */
#ifndef MEASURE_SAMPLE_H
#define MEASURE_SAMPLE_H

#include "measure/exchange.h"
#include "measure/rules.h"
#include "result/breach.h"

/* The outer two times bracket the inner two: at the emitter user space is around the wire, at the reflector
 * the wire is around user space. A violation by more than the drift of the clocks in that time, or the
 * timestamp error, means that a clock was stepped in between. */
#define STEP_SLACK_NS (20 * NS_PER_US)

/*
 * Kernel and user-space timestamps are of CLOCK_REALTIME, which may be stepped; otherwise its rate equals
 * that of CLOCK_MONOTONIC. Each reading of it lies between two readings of CLOCK_MONOTONIC, so that
 * preemption of this thread is not taken for a step. Readings do not show steps that cancel out, which the
 * kernel reports, but the kernel reports with a delay: so both are used. A sample is good if no step was
 * detected between a reading before the first of its two times (flight.base_ns) and a reading after the
 * second.
 */
#define ASK_NS (10 * NS_PER_MS) /* maximum interval between queries of the kernel for clock steps */
/* minimum interval: for an odd sample, and after a longer stall of the loop */
#define PAUSE_NS NS_PER_MS

/* Queries the kernel if the last query is older than this interval. Uses now_ns as just read. */
INLINE void sample_ask(struct exchange *x, int64_t since_ns)
{
	if (!x->clock_set || x->now_ns - x->asked_ns < since_ns)
		return;
	x->asked_ns = x->now_ns;
	if (clock_set_seen(x->clock_set))
		x->set_ns = x->now_ns;
}

/* Reflector: reads both clocks into now_ns, now_real_ns and now_by_ns and checks for a step. odd: a sample
 * looks suspicious. */
void sample_read_clocks(struct exchange *x, bool odd);

/* Emitter: true if readings show that CLOCK_REALTIME was stepped since the packet was sent. */
bool sample_was_set(const struct flight *f);

/* The same by readings and the kernel, in both roles: now is after the packet's last time. */
bool sample_was_spoilt(struct exchange *x, const struct flight *f);

/* exchange.places: places the kernel's transmit timestamp `at` on the scale of the NIC's clock, by the relation of the
 * clocks at that time. Without it the time is removed. */
void sample_place(struct exchange *x, struct flight *f, unsigned at);

/* Converts the two user-space times and the kernel's receive time from CLOCK_REALTIME to the timebase of
 * the NIC's clock. */
void sample_convert_user_times(struct exchange *x, struct flight *f);

/* exchange.packets: the timestamps of a packet and its reply, before their conversion. */
void sample_note_packets(struct exchange *x, const struct sample *s, bool emit);

/* Adds each stage of a recorded sample to its histogram. */
void sample_record_stages(struct exchange *x, const struct sample *s);

INLINE bool sample_is_slow(const struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	return x->options->threshold_ns && result_metric(&x->result, s, &value_ns) &&
	       value_ns > x->options->threshold_ns;
}

/* A breach comes first: the evidence (trace) is frozen before anything else touches the machine. */
INLINE void sample_freeze(struct exchange *x, struct flight *f)
{
	f->breach = true;
	/* Not again for packets still in flight when a breach ended the run. */
	if (x->result.end != END_BREACH) {
		const int64_t seen_ns = x->freezes ? clock_read_ns(CLOCK_MONOTONIC) : 0;

		if (x->on_breach) {
			x->on_breach(x->context, &f->sample);
			exchange_note_rest(x);
		}
		if (x->freezes)
			freeze_note_breach(x, f, seen_ns);
	}
	if (!x->options->keep_going)
		x->result.end = END_BREACH;
}

/* bound_ns: error of the placed timestamp; 0: it was not placed. */
INLINE bool sample_is_stepped(const struct sample *s, int64_t bound_ns)
{
	int64_t around_ns = s->time_ns[3] - s->time_ns[0], within_ns = s->time_ns[2] - s->time_ns[1];

	if (!s->source[0] || !s->source[1] || !s->source[2] || !s->source[3])
		return false;
	return within_ns > around_ns + STEP_SLACK_NS + (within_ns >> STEP_SLACK_SHIFT) + bound_ns;
}

/* Only odd samples justify reading the clocks: negative, a breach, or longer than this. */
#define ODD_NS (100 * NS_PER_US)

INLINE bool is_odd(const struct sample *s)
{
	return (uint64_t)s->latency_ns > ODD_NS;
}

/* TIMEBASE_SYSTEM: a step can make a request that waited at a reflector look fast. */
INLINE bool sample_is_spoilt(struct exchange *x, const struct flight *f, const bool emit)
{
	if (is_odd(&f->sample) || sample_is_slow(x, &f->sample))
		return sample_was_spoilt(x, f);
	return !emit && f->base_ns < x->set_ns;
}

/* Concludes a packet whose local times are final: computes the latency and checks for a breach before the
 * next packet. True: to be completed and recorded, which may come after the next packet. */
INLINE bool sample_conclude(struct exchange *x, struct flight *f, const bool emit)
{
	struct account *a = &x->result.account;
	struct sample *s = &f->sample;

	x->result.last_ns = x->now_ns;
	if (x->packets)
		sample_note_packets(x, s, emit);
	if (f->warmup) {
		counter_add(&a->warmup, 1);
		return false;
	}
	if (emit && f->unasked) {
		counter_add(&a->unasked, 1);
		return false;
	}
	if (!s->source[x->from] || !s->source[x->to]) {
		counter_add(&a->unstamped, 1);
		counter_add(&a->missing_tx, !s->source[emit ? x->from : x->to]);
		counter_add(&a->missing_rx, !s->source[emit ? x->to : x->from]);
		return false;
	}
	s->latency_ns = s->time_ns[x->to] - s->time_ns[x->from];
	if ((exchange_checks_nic(x) && sample_is_stepped(s, f->bound_ns[BOUND_LOCAL])) || f->set ||
	    (exchange_checks_realtime(x) && sample_is_spoilt(x, f, emit))) {
		counter_add(&a->stepped, 1);
		/* or it was the timestamp of another packet */
		stamp_doubt(x->channel, channel_peer_socket(x->channel, f->peer_socket));
		return false;
	}
	if (x->options->threshold_on == METRIC_RTT && sample_is_slow(x, s))
		sample_freeze(x, f);
	counter_add(&a->missing_kernel, x->channel->kernel_times && !s->source[KERNEL_RECEIVE]);
	if (f->detailed) {
		counter_add(&a->detailed, 1);
		counter_add(&a->missing_queue, !s->source[KERNEL_QUEUE]);
		counter_add(&a->missing_driver,
			    channel_sent_source(x->channel) == SOURCE_HARDWARE && !s->source[KERNEL_DRIVER]);
	}
	if (x->clocks)
		sample_convert_user_times(x, f);
	return true;
}

/* Completes the sample with the remote times that arrived. A threshold on a metric that needs them is
 * checked here. agrees: see measure/rules.h. */
INLINE void sample_complete(struct exchange *x, struct flight *f, bool agrees, const bool emit)
{
	struct sample *s = &f->sample;

	rules_check(x, f, agrees, emit);
	if (emit) {
		int64_t value_ns;

		counter_add(&x->result.account.follow_up[s->follow_up], 1);
		if (x->options->threshold_on != METRIC_RTT) {
			if (sample_is_slow(x, s))
				sample_freeze(x, f);
			counter_add(&x->result.account.unjudged, !result_metric(&x->result, s, &value_ns));
		}
	}
	if (f->breach)
		breach_note(&x->result, s);
}

INLINE void raise_bound(struct exchange *x, const struct flight *f, enum bound bound, unsigned one, unsigned other)
{
	const uint8_t *source = f->sample.source;

	if (f->bound_ns[bound] > x->result.bound_ns[bound].value &&
	    (source[one] == SOURCE_USER || source[other] == SOURCE_USER || (bound == BOUND_LOCAL && x->places)))
		x->result.bound_ns[bound].value = f->bound_ns[bound];
}

/* False if the latency is invalid. */
INLINE bool sample_record(struct exchange *x, const struct flight *f, const bool emit)
{
	const struct options *o = x->options;
	const struct sample *s = &f->sample;
	struct account *a = &x->result.account;

	if (!histogram_add(x->result.histogram, s->latency_ns, s->seq)) {
		counter_add(&a->negative, 1);
		return false;
	}
	counter_add(&a->recorded, 1);
	spikes_add(&x->result.spikes, s->latency_ns, s->time_ns[x->from]);
	raise_bound(x, f, BOUND_LOCAL, emit ? EMIT_T1_USER : REFLECT_T2_USER, emit ? EMIT_T4_USER : REFLECT_T3_USER);
	if (emit)
		raise_bound(x, f, BOUND_REMOTE, REMOTE + REFLECT_T2_USER, REMOTE + REFLECT_T3_USER);
	if (x->result.has_stages)
		sample_record_stages(x, s);
	if (s->latency_ns > atomic_load_explicit(&a->recent_max_ns, memory_order_relaxed))
		atomic_store_explicit(&a->recent_max_ns, s->latency_ns, memory_order_relaxed);
	if (x->log && (!o->log_threshold_ns || s->latency_ns > o->log_threshold_ns))
		log_add(x->log, s);
	if (x->sample_queue)
		sample_queue_add(x->sample_queue, s->latency_ns, x->now_ns);
	if (x->neighbours)
		neighbours_add(x->neighbours, s);
	return true;
}

/* Completes and records a sample that waits for nothing more. */
INLINE bool sample_settle(struct exchange *x, struct flight *f, const bool emit)
{
	if (!sample_conclude(x, f, emit))
		return false;
	sample_complete(x, f, true, emit);
	return true;
}

#endif
