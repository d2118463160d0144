// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run set-up: options of the loop, and the loop of the role. A packet in flight is in a small ring by the
 * id of its transmit timestamp, so that a late timestamp is added to its own record or to a counter, never
 * to the record of another packet.
 */
#include "measure/exchange.h"

#include "measure/inside.h"
#include "wire/kernel_call.h"

void exchange_drop_clocks(struct exchange *x)
{
	struct stage stages[STAGES];

	x->clocks = NULL;
	x->packets = NULL;
	x->result.converted = false;
	stages_of_role(x->options->role, options_on_wire(x->options), stages);
	for (int i = 0; i < STAGES; i++)
		if (stages[i].bound == BOUND_LOCAL)
			x->result.stage[i] = NULL;
}

INLINE void set(counter *to, const counter *from)
{
	atomic_store_explicit(to, counter_get(from), memory_order_relaxed);
}

void exchange_note_granted(struct exchange *x)
{
	const struct channel *c = x->channel;

	x->result.granted = (struct granted){
		.transport = socket_name(c), .receive_buffer_bytes = c->receive_buffer_bytes,
		.stamps = c->sent_by_kernel ? SOURCE_RECEIVE : c->wire,
		.transmit_stamps = c->tx_stamps, .stamp_ids_by_message = c->peer_socket[0].id_by_message,
		.receive_by_kernel = c->kernel_times,
		.transmit_by_kernel = c->detail ? x->options->stages.every : 0,
		.stamp_ids_of_peer_sockets = c->peer_sockets > c->listeners, .preloaded = KERNEL_CALL_IS_KNOWN &&
			!c->direct,
	};
}

void exchange_note_wire(struct exchange *x, int speed_mbps)
{
	const size_t bytes = transport_frame_bytes(x->channel->transport->header_bytes, packet_plan_bytes(x->plan));

	if (speed_mbps)
		x->result.wire = (struct wire){ speed_mbps, bytes, transport_wire_ns(bytes, speed_mbps) };
}

void exchange_collect(struct exchange *x)
{
	struct result *r = &x->result;
	const struct channel *c = x->channel;

	set(&r->truncated, &c->control_truncated);
	set(&r->error_other, &c->error_other);
	set(&r->peer_sockets_taken, &c->peer_sockets_taken);
	set(&r->peer_sockets_refused, &c->peer_sockets_refused);
	if (!x->sessions)
		return;
	set(&r->sessions, &x->sessions->opened);
	set(&r->evicted, &x->sessions->evicted);
}

/* Initialises the state of the loop. */
static void finish(struct exchange *x)
{
	struct result *r = &x->result;
	const struct window *w = &x->window;

	r->ended_ns = x->now_ns;
	set(&r->slots, &x->pace.slots);
	set(&r->missed, &x->pace.missed);
	r->window.reached = w->reached;
	r->window.stamps_most = w->stamps_most;
	r->window.stamps_limited = w->stamps_limited;
	r->window.by_nic = x->channel->tx_stamps && channel_sent_source(x->channel) == SOURCE_HARDWARE;
	r->software_remote = (struct software_remote){ .reported = x->emit.reply.software_reported,
						     .t2_known = x->emit.reply.t2_user_known };
	if (x->emit.reply.software_bound_ns >= 0)
		r->software_remote.bound_ns = optional_of(x->emit.reply.software_bound_ns);
	for (unsigned i = 0; i < x->source_ports; i++)
		x->source_port[i].number = x->channel->port[i].own_port;
	exchange_collect(x);
}

void exchange_run(struct exchange *x)
{
	const struct options *o = x->options;

	stages_latency_times(o->role, x->channel->tx_stamps, &x->from, &x->to);
	stages_of_role(o->role, x->channel->tx_stamps, x->result.stages);
	for (int i = 0; i < BOUNDS; i++)
		x->result.bound_ns[i] = optional_of(0);
	for (int i = 0; i < STAGES; i++)
		x->result.has_stages |= x->result.stage[i] != NULL;
	x->timebase = o->no_step_check ? TIMEBASE_UNCHECKED : x->channel->tx_stamps &&
		      x->channel->wire == SOURCE_HARDWARE ? TIMEBASE_NIC :
		      TIMEBASE_SYSTEM;
	x->places = x->channel->tx_stamps && x->channel->sent_by_kernel;
	x->same_timebase = x->clocks || x->channel->wire != SOURCE_HARDWARE;
	x->wants_user_rx = o->sw_timestamps || !x->channel->tx_stamps || exchange_checks_nic(x);
	x->details = !x->channel->detail ? 0 : channel_sent_source(x->channel) == SOURCE_HARDWARE ? 2 : 1;
	x->freezes = o->role == ROLE_EMIT ? x->plan->freeze : o->threshold_ns > 0;
	x->emit.digest_at_once = x->pmc || o->threshold_on != METRIC_RTT;
	x->set_ns = INT64_MIN;
	if (!x->flight) {
		x->flight = x->few;
		x->flight_mask = FLIGHTS - 1;
		x->emit.t1 = x->emit.few_t1;
		x->emit.t1_mask = T1_REMEMBERED - 1;
	}
	x->warmup_left = (uint64_t)o->warmup;
	x->pace = (struct pace){ .interval_ns = o->interval_ns, .jitter_percent = o->jitter_percent,
				 .poisson = o->poisson,
				 .random = (uint64_t)o->seed };
	if (o->interval_ns)
		pace_begin(&x->pace, clock_read_ns(CLOCK_MONOTONIC));
	x->polled_ticks = poll_clock_read(&x->poll_clock);
	if (x->window.most)
		window_run(x);
	else if (o->role == ROLE_EMIT)
		emit_run(x);
	else
		reflect_run(x);
	finish(x);
}
