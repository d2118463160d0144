// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other host's PHC: each exchange of four times brackets it, as a reading does our own. The shortest bracket of a
 * second counts.
 */
#include "host/clock_peer.h"

#include "host/clock_inside.h"

static void peer_begin(struct clock_peer *p, const struct clock_relation *r)
{
	p->best = p->window = *r;
	p->since_ns = r->at_ns;
	p->has_first = p->has_last = false;
}

/* How far two clocks may part in a time: 1/2048 is 488 ppm, each clock half of it. */
static int64_t peer_aged(const struct clock_relation *r, int64_t now_ns)
{
	return sum_of_bounds(r->bound_ns, distance(now_ns, r->at_ns) / 2048);
}

static void peer_window(struct clock_peer *p, const struct clock_relation *r)
{
	if (distance(r->at_ns, p->since_ns) < NS_PER_S) {
		if (r->bound_ns < p->window.bound_ns)
			p->window = *r;
		return;
	}
	if (p->has_first)
		p->last = p->window;
	else
		p->first = p->window;
	p->has_last = p->has_first;
	p->has_first = true;
	p->window = *r;
	p->since_ns = r->at_ns;
}

void clock_peer_add(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, int64_t t3_ns, int64_t t4_ns)
{
	int64_t round_trip_ns, response_ns, there_ns, way_ns;
	struct clock_relation r = { .at_ns = t1_ns };

	if (__builtin_sub_overflow(t4_ns, t1_ns, &round_trip_ns) ||
	    __builtin_sub_overflow(t3_ns, t2_ns, &response_ns) || __builtin_sub_overflow(t2_ns, t1_ns, &there_ns) ||
	    __builtin_sub_overflow(round_trip_ns, response_ns, &way_ns) || way_ns < 0 ||
	    __builtin_sub_overflow(there_ns, way_ns / 2, &r.offset_ns)) {
		p->refused++;
		return;
	}
	r.bound_ns = way_ns / 2 + way_ns % 2 + TICK_NS;
	if (p->exchanges++ == 0) {
		peer_begin(p, &r);
		return;
	}
	int64_t aged_ns = peer_aged(&p->best, t1_ns);

	if (distance(r.offset_ns, p->best.offset_ns) > sum_of_bounds(aged_ns, r.bound_ns)) {
		p->jumps++;
		peer_begin(p, &r);
		return;
	}
	if (r.bound_ns <= aged_ns)
		p->best = r;
	peer_window(p, &r);
}

bool clock_peer_offset(const struct clock_peer *p, int64_t t1_ns, int64_t *offset_ns, int64_t *bound_ns)
{
	*offset_ns = p->best.offset_ns;
	*bound_ns = peer_aged(&p->best, t1_ns);
	return p->exchanges;
}

bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate)
{
	if (!p->exchanges)
		return false;
	*offset = p->window.bound_ns < p->best.bound_ns ? p->window : p->best;
	if (p->has_last && p->last.bound_ns < offset->bound_ns)
		*offset = p->last;
	*rate = (struct clock_rate){ 0 };
	if (p->has_first)
		*rate = rate_of(&p->first, &p->window);
	if (p->has_last)
		*rate = better(*rate, rate_of(&p->first, &p->last));
	return true;
}
