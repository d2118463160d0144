// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A run: what the options mean for the loop, and the order of the role. A packet in flight lives in a small ring by the id of
 * its transmit stamp, so that a late stamp lands in its own record or in a counter, never in the record of another packet.
 */
#include "measure/exchange.h"

#include "measure/emit.h"
#include "measure/reflect.h"

void exchange_drop_clocks(struct exchange *x)
{
	struct stage stages[STAGES];

	x->clocks = NULL;
	stages_of_role(x->options->role, options_on_wire(x->options), stages);
	for (int i = 0; i < STAGES; i++)
		if (stages[i].bound == BOUND_HERE)
			x->stage[i] = NULL;
}

void exchange_run(struct exchange *x)
{
	const struct options *o = x->options;

	stages_latency_times(o->role, x->channel->tx_stamps, &x->from, &x->to);
	stages_of_role(o->role, x->channel->tx_stamps, x->stages);
	for (int i = 0; i < STAGES; i++)
		x->has_stages |= x->stage[i] != NULL;
	x->check_steps = x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE && !o->no_step_check;
	x->check_set = !(x->channel->tx_stamps && x->channel->wire == SOURCE_HARDWARE) && !o->no_step_check;
	x->one_scale = x->clocks || x->channel->wire != SOURCE_HARDWARE;
	x->weigh_stamps = x->channel->tx_stamps && !o->no_step_check;
	x->read_both = x->check_set && o->role == ROLE_REFLECT;
	x->want_user_rx = o->sw_timestamps || !x->channel->tx_stamps || x->check_steps;
	x->digest_at_once = x->pmc || o->threshold_on != FIGURE_RTT;
	x->set_ns = INT64_MIN;
	if (!x->flight) {
		x->flight = x->few;
		x->flight_mask = FLIGHTS - 1;
		x->t1 = x->few_t1;
		x->t1_mask = T1_REMEMBERED - 1;
	}
	x->warmup_left = (uint64_t)o->warmup;
	x->pace = (struct pace){ .interval_ns = o->interval_ns, .jitter_percent = o->jitter_percent, .poisson = o->poisson,
				 .random = (uint64_t)o->seed };
	if (o->interval_ns)
		pace_begin(&x->pace, clock_read_ns(CLOCK_MONOTONIC));
	if (x->window.most)
		window_run(x);
	else if (o->role == ROLE_EMIT)
		emit_run(x);
	else
		reflect_run(x);
	x->ended_ns = x->now_ns;
}
