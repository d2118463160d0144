// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of the clocks as plain data. */
#include "result/take.h"

#include "host/clock/clock.h"
#include "host/clock/clock_peer.h"
#include "result/clocks.h"

#include <string.h>

static void take_track(struct result_clock_track *to, const struct clock_watch *c, enum clock_which which)
{
	const struct clock_track *t = &c->track[which];

	*to = (struct result_clock_track){
		.rate = clock_drift(c, which), .steering = clock_steering(c, which),
		.frequency_changes = t->frequency_changes, .steps = counter_get(&t->steps),
		.standstills = counter_get(&t->standstills), .wrong_rates = counter_get(&t->wrong_rates),
		.stood_ns = t->stood_ns, .has_largest = t->has_largest, .largest = t->largest,
	};
	to->rate_is_wrong = clock_rate_is_wrong(&t->frequency[1], &to->rate);
}

static void take_budget(struct result_clocks *to, const struct clock_watch *c)
{
	to->refused = c->refused;
	to->limit_per_s = c->budget.reads_per_s;
	to->shared = c->budget.reads_per_s && !c->budget.error;
	snprintf(to->not_shared, sizeof(to->not_shared), "%s", c->budget.error ? strerror(c->budget.error) : "");
	to->waited = c->budget.waits;
}

static void take_nic_clock(struct result_clocks *to, const struct clock_watch *c)
{
	const struct clock_reading *last = clock_last(c);
	const struct clock_track *track = &c->track[CLOCK_OF_NIC];

	memcpy(to->name, c->name, sizeof(to->name));
	snprintf(to->method, sizeof(to->method), "%s", clock_method_name(c));
	to->scale = clock_scale(c);
	to->has_relation = c->packets ? track->readings : last && last->has_phc;
	if (to->has_relation)
		to->minus_realtime = c->packets ? track->last : last->phc_real;
	to->readings = c->packets ? track->readings : c->readings;
	to->failures = c->failures;
	snprintf(to->failure, sizeof(to->failure), "%s", clock_failure(c));
	take_budget(to, c);
}

static void take_fault(struct result_clock_fault *to, const struct clock_fault *from)
{
	*to = (struct result_clock_fault){ .stands = from->stands, .over = from->over, .rate = from->rate,
					   .began_ns = { from->began_ns[0], from->began_ns[1] } };
	clock_fault_lasted(from, to->lasted_ns);
}

void take_clocks(struct result_clocks *to, const struct clock_watch *from, int64_t began_ns)
{
	to->watched = true;
	to->comparable = clock_is_comparable(from);
	to->by_packets = from->packets;
	memcpy(to->why, from->why, sizeof(to->why));
	take_nic_clock(to, from);
	for (int i = 0; i < CLOCKS; i++)
		take_track(&to->track[i], from, i);
	memcpy(to->step, from->step, sizeof(to->step));
	to->steps_kept = from->steps_kept;
	to->faults_kept = from->faults_kept;
	for (uint32_t i = 0; i < to->faults_kept; i++)
		take_fault(&to->fault[i], &from->fault[i]);
	to->late_ns = clock_step_error_since(from, began_ns);
}

static void take_event(struct result_peer_event *to, const struct clock_peer_event *from)
{
	*to = (struct result_peer_event){ .kind = from->kind, .seq = { from->seq[0], from->seq[1] },
					  .mono_ns = { from->mono_ns[0], from->mono_ns[1] },
					  .conflicts = from->conflicts, .stood_ns = from->stood_ns,
					  .ppb = clock_peer_event_ppb(from) };
	to->has_size = clock_peer_event_size(from, &to->size_ns, &to->bound_ns);
}

void take_peer(struct result_peer *to, const struct clock_peer *from, const struct clock_watch *clocks, bool by_nic)
{
	*to = (struct result_peer){ .compared = true, .events = from->events,
				    .faults = { [PEER_JUMPED] = from->jumps, [PEER_STOOD] = from->stands,
						[PEER_WRONG_RATE] = from->wrong_rates } };
	to->is_known = clock_peer_result(from, &to->offset, &to->rate);
	for (uint64_t i = 0; i < clocks_peer_kept(to); i++) {
		struct result_peer_event *e = &to->event[i];

		take_event(e, &from->event[i]);
		e->theirs = !clocks || !clock_moved(clocks, by_nic ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM, e->mono_ns[0],
						    e->mono_ns[1]);
		to->faults[e->kind] -= !e->theirs;
	}
}

bool take_clocks_moved(const struct clock_watch *clocks)
{
	bool moved = false;

	for (int i = 0; i < CLOCKS; i++)
		moved |= counter_get(&clocks->track[i].steps) || counter_get(&clocks->track[i].standstills);
	return moved;
}
