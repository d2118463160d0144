// SPDX-License-Identifier: GPL-2.0-or-later
/* Processing of a sample: rare cases and loops (hot). */
#include "measure/sample.h"

/* more datagrams than a receive queue can hold: each uses at least about 600 octets of it */
#define QUEUE_MAX 65536

/* True if the difference exceeds the time between two readings. */
static bool is_step(int64_t real_ns, int64_t least_ns, int64_t most_ns)
{
	return real_ns > most_ns + STEP_SLACK_NS || real_ns < least_ns - STEP_SLACK_NS;
}

void sample_read_clocks(struct exchange *x, bool odd)
{
	const int64_t ns = x->now_ns, real_ns = x->reflect.now_real_ns, by_ns = x->reflect.now_by_ns;
	struct channel *c = x->channel;
	bool set;

	exchange_read_now(x);
	x->reflect.now_real_ns = clock_read_ns(CLOCK_REALTIME);
	x->reflect.now_by_ns = clock_read_ns(CLOCK_MONOTONIC);
	/* The first reading has no predecessor. */
	set = by_ns && is_step(x->reflect.now_real_ns - real_ns, x->now_ns - by_ns, x->reflect.now_by_ns - ns);
	if (set)
		x->set_ns = x->now_ns;
	sample_ask(x, set ? 0 : odd ? PAUSE_NS : ASK_NS);
	for (struct peer_socket *l = c->peer_socket; l < &c->peer_socket[c->peer_sockets]; l++) {
		if (x->set_ns == x->now_ns)
			l->set_received = l->received;
		/* A socket that is never empty: datagrams queued at that time have been received since. */
		if (l->empty_ns < x->set_ns && l->received - l->set_received >= QUEUE_MAX)
			l->empty_ns = x->set_ns;
	}
}

bool sample_was_spoilt(struct exchange *x, const struct flight *f)
{
	if (exchange_reads_both(x)) {
		sample_read_clocks(x, true);
		return f->base_ns < x->set_ns;
	}
	exchange_read_now(x);
	sample_ask(x, PAUSE_NS);
	return f->base_ns < x->set_ns || sample_was_set(f);
}

/* Time since sent_real_ns was read. */
bool sample_was_set(const struct flight *f)
{
	int64_t since_ns = clock_read_ns(CLOCK_MONOTONIC);
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME) - f->sent_real_ns;
	int64_t most_ns = clock_read_ns(CLOCK_MONOTONIC) - f->sent_ns;
	int64_t least_ns = f->sent_by_ns ? since_ns - f->sent_by_ns : 0;

	return is_step(real_ns, least_ns, most_ns);
}

/* Converts one time in place. False: the relation of the clocks is not known. */
static bool convert(struct exchange *x, struct flight *f, int i)
{
	struct sample *s = &f->sample;
	int64_t bound_ns;

	if (!clock_to_phc(x->clocks, s->time_ns[i], &s->time_ns[i], &bound_ns)) {
		s->source[i] = SOURCE_NONE;
		return false;
	}
	if (bound_ns > f->bound_ns[BOUND_LOCAL])
		f->bound_ns[BOUND_LOCAL] = bound_ns;
	return true;
}

void sample_place(struct exchange *x, struct flight *f, unsigned at)
{
	if (!x->clocks || !convert(x, f, (int)at))
		f->sample.source[at] = SOURCE_NONE;
}

/* Converts the two user-space times and the kernel's times from CLOCK_REALTIME to the clock of the NIC. */
void sample_convert_user_times(struct exchange *x, struct flight *f)
{
	bool converted = true;

	for (int i = 0; i < TIMES; i++)
		if (f->sample.source[i] == SOURCE_USER)
			converted &= convert(x, f, i);
	if (f->sample.source[KERNEL_RECEIVE])
		converted &= convert(x, f, KERNEL_RECEIVE);
	if (x->places && f->sample.source[KERNEL_RECEIVE]) {
		const unsigned wire = x->options->role == ROLE_EMIT ? EMIT_T4_WIRE : REFLECT_T2_WIRE;

		placing_note(&x->result.placing, f->sample.time_ns[KERNEL_RECEIVE] - f->sample.time_ns[wire],
			     f->bound_ns[BOUND_LOCAL]);
	}
	for (int i = KERNEL_QUEUE; i <= KERNEL_DRIVER && f->detailed; i++)
		if (f->sample.source[i])
			converted &= convert(x, f, i);
	f->sample.converted = true; /* a time without a place has no source any more */
	counter_add(&x->result.account.unconverted, !converted);
}

/* The kernel's times are nearer to those of the NIC than the times of user space. The driver's transmit time does not
 * count: it may be taken after the start of the transmission. */
void sample_note_packets(struct exchange *x, const struct sample *s, bool emit)
{
	const unsigned out = emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE, in = emit ? EMIT_T4_WIRE : REFLECT_T2_WIRE;
	const unsigned before = s->source[KERNEL_QUEUE] ? KERNEL_QUEUE : emit ? EMIT_T1_USER : REFLECT_T3_USER;
	const unsigned after = s->source[KERNEL_RECEIVE] ? KERNEL_RECEIVE : emit ? EMIT_T4_USER : REFLECT_T2_USER;

	if (s->source[out] != SOURCE_HARDWARE || s->source[in] != SOURCE_HARDWARE || !s->source[before] ||
	    !s->source[after])
		return;
	clock_packets_note(x->packets, &(struct clock_exchange){ s->time_ns[before], s->time_ns[out], s->time_ns[in],
								 s->time_ns[after] });
}

void sample_record_stages(struct exchange *x, const struct sample *s)
{
	int64_t value_ns;

	for (int i = 0; i < STAGES; i++) {
		const struct stage *stage = &x->result.stages[i];

		if (x->result.stage[i] && stages_value(stage, s, &value_ns))
			histogram_add(x->result.stage[i], value_ns, s->seq);
	}
}
