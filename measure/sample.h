/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of a sample (hot): concluded, then completed, then recorded. Inline, with the role as a constant; what
 * is rare, or a loop by itself, is in sample.c.
 */
#ifndef MEASURE_SAMPLE_H
#define MEASURE_SAMPLE_H

#include "measure/exchange.h"
#include "measure/rules.h"
#include "result/breach.h"

/* The outer two times bracket the inner two: at the emitter user space is around the wire, at the reflector the wire is
 * around user space. What is off by more than two clocks drift apart in that time, or than stamps are wrong, was spoilt
 * by a clock that was set in between. */
#define STEP_SLACK_NS (20 * NS_PER_US)

/*
 * Stamps of the kernel and of user space are of CLOCK_REALTIME, which may be set; but for that it goes as fast as
 * CLOCK_MONOTONIC. Each reading of it lies between two of the other clock, so that time in which this thread does not
 * run, anywhere, is not taken for a step. Readings do not show steps that undo each other, of which the kernel tells,
 * nor does the kernel tell at once: so both are looked at. A sample is good if nothing was seen between a reading
 * before the first of its two times (flight.base_ns) and one after the second.
 */
#define ASK_NS (10 * NS_PER_MS) /* so often at least the kernel is asked, that it is known when the clock was set */
/* and so often at most: for a sample that looks odd, and when the loop was held up for longer */
#define PAUSE_NS NS_PER_MS

/* Asks the kernel, if it was not asked for so long. By now_ns as just read. */
INLINE void sample_ask(struct exchange *x, int64_t since_ns)
{
	if (!x->clock_set || x->now_ns - x->asked_ns < since_ns)
		return;
	x->asked_ns = x->now_ns;
	if (clock_set_seen(x->clock_set))
		x->set_ns = x->now_ns;
}

/* Reflector: a reading of both clocks, into now_ns, now_real_ns and now_by_ns, and what it tells. odd: there was reason
 * to look. */
void sample_read_clocks(struct exchange *x, bool odd);

/* Emitter: was CLOCK_REALTIME set since the packet was sent? By readings alone. */
bool sample_was_set(const struct flight *f);

/* The same by all that there is, in both roles: this is now, after its last time. */
bool sample_was_spoilt(struct exchange *x, const struct flight *f);

/* The two times of user space, from CLOCK_REALTIME to the clock of the NIC. */
void sample_place_user_times(struct exchange *x, struct flight *f);

/* Adds each stage of a recorded sample to its histogram. */
void sample_record_stages(struct exchange *x, const struct sample *s);

INLINE bool sample_is_slow(const struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	return x->options->threshold_ns && result_figure(&x->result, s, &value_ns) &&
	       value_ns > x->options->threshold_ns;
}

/* A breach comes first: evidence is frozen before anything else touches the machine. */
INLINE void sample_freeze(struct exchange *x, struct flight *f)
{
	f->breach = true;
	/* Not again for what was still on its way when a breach ended the run. */
	if (x->on_breach && x->result.end != END_BREACH) {
		x->on_breach(x->context, &f->sample);
		x->rested_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
	if (!x->options->keep_going)
		x->result.end = END_BREACH;
}

INLINE bool sample_is_stepped(const struct sample *s)
{
	int64_t around_ns = s->time_ns[3] - s->time_ns[0], within_ns = s->time_ns[2] - s->time_ns[1];

	if (!s->source[0] || !s->source[1] || !s->source[2] || !s->source[3])
		return false;
	return within_ns > around_ns + STEP_SLACK_NS + (within_ns >> STEP_SLACK_SHIFT);
}

/* Only what looks odd is worth the reading of clocks: what is negative, a breach, or longer than this. */
#define ODD_NS (100 * NS_PER_US)

INLINE bool is_odd(const struct sample *s)
{
	return (uint64_t)s->latency_ns > ODD_NS;
}

/* TIMEBASE_SYSTEM: what waited at a reflector may look as short as others although it is not. */
INLINE bool sample_is_spoilt(struct exchange *x, const struct flight *f, const bool emit)
{
	if (is_odd(&f->sample) || sample_is_slow(x, &f->sample))
		return sample_was_spoilt(x, f);
	return !emit && f->base_ns < x->set_ns;
}

/* Everything that this host can know of a packet in flight, it has or will not get. Computes its latency and looks for
 * a breach: this comes before the next packet. True: it is to be completed and recorded, which may come after. */
INLINE bool sample_conclude(struct exchange *x, struct flight *f, const bool emit)
{
	struct account *a = &x->result.account;
	struct sample *s = &f->sample;

	x->result.last_ns = x->now_ns;
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
	if ((exchange_checks_nic(x) && sample_is_stepped(s)) || f->set ||
	    (exchange_checks_realtime(x) && sample_is_spoilt(x, f, emit))) {
		counter_add(&a->stepped, 1);
		stamp_doubt(x->channel, channel_lane(x->channel, f->lane)); /* or it was the stamp of another packet */
		return false;
	}
	if (x->options->threshold_on == FIGURE_RTT && sample_is_slow(x, s))
		sample_freeze(x, f);
	if (x->clocks)
		sample_place_user_times(x, f);
	return true;
}

/* Now the other host's times are there too, as far as they came. A threshold on what needs them is looked at here.
 * agrees: see measure/rules.h. */
INLINE void sample_complete(struct exchange *x, struct flight *f, bool agrees, const bool emit)
{
	struct sample *s = &f->sample;

	rules_check(x, f, agrees, emit);
	if (emit) {
		int64_t value_ns;

		counter_add(&x->result.account.follow_up[s->follow_up], 1);
		if (x->options->threshold_on != FIGURE_RTT) {
			if (sample_is_slow(x, s))
				sample_freeze(x, f);
			counter_add(&x->result.account.unjudged, !result_figure(&x->result, s, &value_ns));
		}
	}
	if (f->breach)
		breach_note(&x->result, s);
}

INLINE void raise_bound(struct exchange *x, const struct flight *f, enum bound bound, unsigned one, unsigned other)
{
	const uint8_t *source = f->sample.source;

	if (f->bound_ns[bound] > x->result.bound_ns[bound] &&
	    (source[one] == SOURCE_USER || source[other] == SOURCE_USER))
		x->result.bound_ns[bound] = f->bound_ns[bound];
}

/* False: its latency is none. */
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
	raise_bound(x, f, BOUND_HERE, emit ? EMIT_T1_USER : REFLECT_T2_USER, emit ? EMIT_T4_USER : REFLECT_T3_USER);
	if (emit)
		raise_bound(x, f, BOUND_THERE, THERE + REFLECT_T2_USER, THERE + REFLECT_T3_USER);
	if (x->result.has_stages)
		sample_record_stages(x, s);
	if (s->latency_ns > atomic_load_explicit(&a->recent_max_ns, memory_order_relaxed))
		atomic_store_explicit(&a->recent_max_ns, s->latency_ns, memory_order_relaxed);
	if (x->log && (!o->log_threshold_ns || s->latency_ns > o->log_threshold_ns))
		log_add(x->log, s);
	if (x->tally)
		tally_add(x->tally, s->latency_ns, x->now_ns);
	return true;
}

/* A sample that waits for nothing more. */
INLINE bool sample_settle(struct exchange *x, struct flight *f, const bool emit)
{
	if (!sample_conclude(x, f, emit))
		return false;
	sample_complete(x, f, true, emit);
	return true;
}

#endif
