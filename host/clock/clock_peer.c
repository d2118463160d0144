// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Offset of the reflector's clock. Two clocks drift apart by at most PEER_APART, so no T2 - T1 may be below the highest
 * earlier T3 - T4 less that drift, and vice versa. A violation is a step, a standstill or a frequency error. All limits
 * are discarded then, and the offset is invalid until PEER_AGREE exchanges agree with each other: with a clock that
 * stands, each exchange contradicts the previous exchange.
 */
#include "host/clock/clock_peer.h"

#include "host/clock/clock_inside.h"

#define PEER_APART (1.0 / 1024) /* frequency error plus steering of each of two clocks is below 488 ppm */
#define PEER_SLACK_NS NS_PER_US /* error of timestamps by the delay between the wire and the timestamp unit */
#define PEER_AGREE 16 /* exchanges that must agree before the offset is valid */
/* largest change of rate between two exchanges that is not a step, as for the PHC of this host */
#define PEER_CHANGE_PPB 50000
#define PEER_RATE_OVER_NS (50 * NS_PER_MS)
#define PEER_STILL_NS NS_PER_US /* longer than a tick of any clock */
#define PEER_FASTEST 4
#define PEER_STOOD_NS NS_PER_MS
#define PEER_WRONG_PPB (PEER_APART * NS_PER_S)
#define PEER_MANY 4 /* conflicts in an event, or repeated jumps, from which a frequency error is considered */
#define PEER_OFTEN 1024 /* exchanges per jump; fewer may be a frequency error */

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* Extrapolation of a limit to another time: the lowest value of a floor, the highest value of a ceiling, by the limits
 * of the rate. */
static int64_t peer_low(const struct clock_peer_belief *b, const struct clock_peer_edge *floor, int64_t now_ns)
{
	int64_t since_ns = difference(now_ns, floor->at_ns);

	return sum_of_bounds(floor->offset_ns, (int64_t)((double)since_ns * (since_ns < 0 ? b->fastest : b->slowest)));
}

static int64_t peer_high(const struct clock_peer_belief *b, const struct clock_peer_edge *ceiling, int64_t now_ns)
{
	int64_t since_ns = difference(now_ns, ceiling->at_ns);

	return sum_of_bounds(ceiling->offset_ns,
			     (int64_t)((double)since_ns * (since_ns < 0 ? b->slowest : b->fastest)));
}

/* By how much the floor exceeds the ceiling, less PEER_SLACK_NS. Above 0: they contradict each other. */
static int64_t peer_excess(const struct clock_peer_belief *b, const struct clock_peer_edge *floor,
			   const struct clock_peer_edge *ceiling)
{
	if (!floor->known || !ceiling->known)
		return 0;
	return difference(difference(peer_low(b, floor, ceiling->at_ns), ceiling->offset_ns), PEER_SLACK_NS);
}

/* Offset by a single exchange. */
static struct clock_relation peer_middle(const struct clock_peer_edge *floor, const struct clock_peer_edge *ceiling)
{
	int64_t direction_ns = difference(ceiling->offset_ns, floor->offset_ns);

	return (struct clock_relation){ .at_ns = ceiling->at_ns, .offset_ns = floor->offset_ns + direction_ns / 2,
					.bound_ns = absolute(direction_ns) / 2 + 1 + TICK_NS };
}

/* Offset at at_ns, by all limits. */
static struct clock_relation peer_between(const struct clock_peer_belief *b, int64_t at_ns)
{
	struct clock_relation r = peer_middle(&(struct clock_peer_edge){ .offset_ns = peer_low(b, &b->floor, at_ns) },
					      &(struct clock_peer_edge){ .offset_ns = peer_high(b, &b->ceiling,
												at_ns) });

	r.at_ns = at_ns;
	return r;
}

/* Sum of both one-way delays of an exchange. */
static int64_t peer_directions(const struct clock_relation *r)
{
	return sum_of_bounds(r->bound_ns, r->bound_ns);
}

/* ---- The rate ---------------------------------------------------------------------------------------------------- */

/* Limits that hold for any two clocks. */
static const struct clock_peer_belief nothing = { .fastest = PEER_APART, .slowest = -PEER_APART };

/* Narrows the limits of the rate, to find a small step after a long gap. PEER_CHANGE_PPB allows for a servo. */
static void learn_rate(struct clock_peer_belief *b, const struct clock_relation *latest)
{
	struct clock_rate r = rate_of(&b->anchor, latest);
	double rate = r.ppb / NS_PER_S, apart = (r.bound_ppb + PEER_CHANGE_PPB) / NS_PER_S;

	if (!r.measured || r.over_ns < PEER_RATE_OVER_NS || apart >= PEER_APART || rate > 0.1 || rate < -0.1)
		return;
	b->fastest = rate + apart;
	b->slowest = rate - apart;
	/* An exchange that a step widens gives a wide range, which two clocks cannot have. */
	if (rate < PEER_APART && b->fastest > PEER_APART)
		b->fastest = PEER_APART;
	if (rate > -PEER_APART && b->slowest < -PEER_APART)
		b->slowest = -PEER_APART;
}

/* ---- Best relation of each second -------------------------------------------------------------------------------- */

static void peer_window(struct clock_peer_belief *b, const struct clock_relation *r)
{
	if (!b->has_window) {
		b->window = *r;
		b->since_ns = r->at_ns;
		b->has_window = true;
		return;
	}
	if (distance(r->at_ns, b->since_ns) < NS_PER_S) {
		if (r->bound_ns < b->window.bound_ns)
			b->window = *r;
		return;
	}
	if (b->has_first)
		b->last = b->window;
	else
		b->first = b->window;
	b->has_last = b->has_first;
	b->has_first = true;
	b->anchor = b->window;
	b->window = *r;
	b->since_ns = r->at_ns;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static struct clock_peer_event *peer_event(struct clock_peer *p)
{
	return p->events <= PEER_EVENTS_KEPT ? &p->event[p->events - 1] : &p->spare;
}

double clock_peer_event_ppb(const struct clock_peer_event *e)
{
	int64_t over_ns = difference(e->last.at_ns, e->first.at_ns);

	if (over_ns <= 0)
		return 0;
	return (double)difference(e->last.offset_ns, e->first.offset_ns) / (double)over_ns * NS_PER_S;
}

/* Above PEER_FASTEST the clock was set, which is not a frequency error. */
static bool is_wrong_ppb(double ppb)
{
	return (ppb > PEER_WRONG_PPB || ppb < -PEER_WRONG_PPB) && ppb < PEER_FASTEST * NS_PER_S;
}

/* A clock at a wrong rate causes the next conflict when it has drifted by the sum of both one-way delays. If exchanges
 * agreed for longer than that, the clock was set. */
static bool is_possible_rate(double ppb, int64_t directions_ns, int64_t agreed_ns)
{
	const double past = (ppb < 0 ? -ppb : ppb) / NS_PER_S - PEER_APART;

	return is_wrong_ppb(ppb) && (double)agreed_ns * past <= 2.0 * (double)sum_of_bounds(directions_ns,
											    PEER_SLACK_NS);
}

bool clock_peer_event_size(const struct clock_peer_event *e, int64_t *size_ns, int64_t *bound_ns)
{
	*size_ns = difference(e->after.offset_ns, e->before.offset_ns);
	*bound_ns = sum_of_bounds(e->after.bound_ns, e->before.bound_ns);
	return e->has_before && absolute(*size_ns) > *bound_ns;
}

/* Replaces the offset of a single exchange, which may contain the step, by the limits of all exchanges that agreed. */
static void by_belief(struct clock_relation *r, const struct clock_peer_belief *b)
{
	if (b->floor.known && b->ceiling.known)
		*r = peer_between(b, r->at_ns);
}

static void end_event(struct clock_peer *p)
{
	struct clock_peer_event *e = peer_event(p);

	p->in_event = false;
	e->after = p->latest;
	e->directions_ns = e->has_before ? smaller(e->directions_ns, peer_directions(&p->latest)) :
					   peer_directions(&p->latest);
	by_belief(&e->after, &p->belief);
	/* After a step back, T2 may repeat once by chance. */
	e->kind = e->stills > 1 || e->stood_ns > PEER_STOOD_NS ? PEER_STOOD :
		  e->conflicts >= PEER_MANY && is_possible_rate(clock_peer_event_ppb(e), e->directions_ns,
								e->agreed_ns) ?
			  PEER_WRONG_RATE :
													    PEER_JUMPED;
	p->jumps += e->kind == PEER_JUMPED;
	p->stands += e->kind == PEER_STOOD;
	p->wrong_rates += e->kind == PEER_WRONG_RATE;
}

/* Start of a conflict: the last exchange that the new limit contradicts. */
static const struct clock_peer_row *peer_since(const struct clock_peer *p, const struct clock_peer_edge *floor,
					       const struct clock_peer_edge *ceiling)
{
	uint64_t oldest = p->rows > PEER_ROWS ? p->rows - PEER_ROWS : 0;
	const struct clock_peer_row *r = &p->row[oldest % PEER_ROWS];

	/* A floor belongs to the last exchange, so the conflict may lie within that exchange. */
	for (uint64_t i = p->rows - (floor && p->rows > oldest + 1); i > oldest; i--) {
		r = &p->row[(i - 1) % PEER_ROWS];
		if (ceiling ? peer_excess(&p->belief, &r->floor, ceiling) > 0 :
		    peer_excess(&p->belief, floor, &r->ceiling) > 0)
			break;
	}
	return r;
}

static void begin_event(struct clock_peer *p, const struct clock_peer_row *since)
{
	const struct clock_peer_edge *floor = &since->floor, *ceiling = &since->ceiling;

	p->events++;
	*peer_event(p) = (struct clock_peer_event){ .seq = { since->moment.seq }, .mono_ns = { since->moment.mono_ns },
						    .has_before = floor->known && ceiling->known };
	if (peer_event(p)->has_before) {
		peer_event(p)->before = peer_middle(floor, ceiling);
		peer_event(p)->directions_ns = peer_directions(&peer_event(p)->before);
		by_belief(&peer_event(p)->before, &p->belief);
		peer_event(p)->first = peer_event(p)->before;
	}
	p->in_event = true;
}

/* Updates the longest interval without a conflict, up to the previous exchange. */
static void note_agreed(struct clock_peer *p, struct clock_peer_event *e)
{
	/* A conflict is found up to one exchange late, at both ends of the interval. */
	const int64_t agreed_ns = p->conflicts ? p->now.mono_ns - p->conflict_ns - 2 * p->gap_ns : 0;

	if (agreed_ns > p->agreed_ns)
		p->agreed_ns = agreed_ns;
	if (e->conflicts && agreed_ns > e->agreed_ns)
		e->agreed_ns = agreed_ns;
}

/* One of floor and ceiling is NULL; the other is the new limit. */
static void note_conflict(struct clock_peer *p, const struct clock_peer_edge *floor,
			  const struct clock_peer_edge *ceiling,
			  const struct clock_peer_moment *moment)
{
	const struct clock_peer_edge *edge = floor ? floor : ceiling;
	struct clock_peer_event *e;

	if (!p->in_event) {
		p->before = p->belief;
		begin_event(p, peer_since(p, floor, ceiling));
	}
	p->there_as_before = false;
	e = peer_event(p);
	note_agreed(p, e);
	p->conflicts++;
	e->conflicts++;
	p->conflict_ns = moment->mono_ns;
	p->gap_ns = 0;
	e->seq[1] = moment->seq;
	e->mono_ns[1] = moment->mono_ns;
	e->last = (struct clock_relation){ .at_ns = edge->at_ns, .offset_ns = edge->offset_ns };
	if (!e->has_before && e->conflicts == 1)
		e->first = e->last;
	p->unsettled = PEER_AGREE;
	p->belief = nothing;
	p->rows = 0;
}

/* A complete exchange agrees with the limits before the event: no clock fault, but single timestamps were wrong. */
static void come_back(struct clock_peer *p)
{
	p->outliers++;
	p->events--;
	p->in_event = false;
	p->unsettled = 0;
	p->belief = p->before;
}

/* One of floor and ceiling is NULL. */
static bool is_as_before(const struct clock_peer *p, const struct clock_peer_edge *floor,
			 const struct clock_peer_edge *ceiling)
{
	const struct clock_peer_belief *b = &p->before;

	return p->in_event && b->floor.known && b->ceiling.known &&
	       peer_excess(b, floor ? floor : &b->floor, ceiling ? ceiling : &b->ceiling) <= 0;
}

/* Only the exchange right after a wrong timestamp can restore the limits: later exchanges agree with both, since the
 * clocks may have drifted by the size of a step. */
static bool may_return(const struct clock_peer *p)
{
	return p->unsettled >= PEER_AGREE - 1;
}

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

static void note_still(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns)
{
	int64_t local_ns = difference(t1_ns, p->t1_ns);

	if (!p->in_event || local_ns <= PEER_STILL_NS || t2_ns != p->t2_ns)
		return;
	peer_event(p)->stills++;
	peer_event(p)->stood_ns = sum_of_bounds(peer_event(p)->stood_ns, local_ns);
}

static void clock_peer_begin(struct clock_peer *p, const struct clock_peer_moment *moment)
{
	p->has_remote = true;
	p->begun = *moment;
	p->belief = nothing;
}

bool clock_peer_forward(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, const struct clock_peer_moment *moment)
{
	struct clock_peer_edge edge = { .known = true, .at_ns = t1_ns };
	struct clock_peer_belief *b = &p->belief;
	bool agrees;

	if (__builtin_sub_overflow(t2_ns, t1_ns, &edge.offset_ns)) {
		p->refused++;
		return false;
	}
	/* Not at the time of agreement: a step hidden in that exchange would become part of the rate. */
	if (b->has_anchor && p->exchanges % PEER_AGREE == 0)
		learn_rate(b, &p->latest);
	agrees = peer_excess(b, &b->floor, &edge) <= 0;
	if (!agrees)
		note_conflict(p, NULL, &edge, moment);
	p->there_as_before = is_as_before(p, NULL, &edge);
	if (p->has_remote)
		note_still(p, t1_ns, t2_ns);
	else
		clock_peer_begin(p, moment);
	if (!b->ceiling.known || edge.offset_ns <= peer_high(b, &b->ceiling, t1_ns))
		b->ceiling = edge;
	p->row[p->rows++ % PEER_ROWS] = (struct clock_peer_row){ .ceiling = edge, .moment = *moment };
	p->gap_ns = larger(p->gap_ns, moment->mono_ns - p->now.mono_ns);
	p->now = *moment;
	p->t1_ns = t1_ns;
	p->t2_ns = t2_ns;
	return agrees;
}

static void note_agreement(struct clock_peer *p)
{
	struct clock_peer_belief *b = &p->belief;

	p->exchanges++;
	if (p->unsettled && --p->unsettled == 0)
		end_event(p);
	if (p->unsettled)
		return;
	if (!b->has_anchor) {
		b->anchor = p->latest;
		b->has_anchor = true;
	}
	peer_window(b, &p->latest);
}

bool clock_peer_backward(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns)
{
	struct clock_peer_row *row = &p->row[(p->rows - 1) % PEER_ROWS];
	struct clock_peer_edge edge = { .known = true, .at_ns = t4_ns };
	struct clock_peer_belief *b = &p->belief;
	const struct clock_peer_moment moment = row->moment;

	if (!p->rows || __builtin_sub_overflow(t3_ns, t4_ns, &edge.offset_ns)) {
		p->refused++;
		return false;
	}
	if (p->there_as_before && may_return(p) && is_as_before(p, &edge, NULL)) {
		come_back(p);
		if (row->ceiling.offset_ns <= peer_high(b, &b->ceiling, row->ceiling.at_ns))
			b->ceiling = row->ceiling;
	}
	if (peer_excess(b, &edge, &b->ceiling) > 0) {
		note_conflict(p, &edge, NULL, &moment);
		b->floor = edge;
		return false;
	}
	if (!b->floor.known || edge.offset_ns >= peer_low(b, &b->floor, t4_ns))
		b->floor = edge;
	row->floor = edge;
	p->latest = peer_middle(&edge, &row->ceiling);
	note_agreement(p);
	return true;
}

void clock_peer_contradicts(struct clock_peer *p)
{
	p->conflict_ns = p->now.mono_ns;
	p->gap_ns = 0;
}

bool clock_peer_pair(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns, int64_t t1_ns, int64_t t2_ns,
		     const struct clock_peer_moment *moment)
{
	struct clock_peer_edge floor = { .known = true, .at_ns = t4_ns }, ceiling = { .known = true, .at_ns = t1_ns };

	if (__builtin_sub_overflow(t3_ns, t4_ns, &floor.offset_ns) ||
	    __builtin_sub_overflow(t2_ns, t1_ns, &ceiling.offset_ns) ||
	    peer_excess(&p->belief, &floor, &ceiling) <= 0)
		return true;
	note_conflict(p, NULL, &ceiling, moment);
	p->belief.ceiling = ceiling;
	return false;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

bool clock_peer_offset(const struct clock_peer *p, int64_t at_ns, int64_t *offset_ns, int64_t *bound_ns)
{
	const struct clock_peer_belief *b = &p->belief;
	struct clock_relation middle;

	if (!b->floor.known || !b->ceiling.known || p->unsettled)
		return false;
	middle = peer_between(b, at_ns);
	/* The limits contradict each other by less than an event: timestamps are inexact, or a clock was set by little.
	 * Then the last exchange alone gives the offset. */
	if (peer_low(b, &b->floor, at_ns) > peer_high(b, &b->ceiling, at_ns)) {
		middle = p->latest;
		middle.bound_ns = sum_of_bounds(middle.bound_ns,
						(int64_t)((double)distance(at_ns, middle.at_ns) * PEER_APART));
	}
	*offset_ns = middle.offset_ns;
	*bound_ns = middle.bound_ns;
	return true;
}

/* A frequency error too small for a conflict in each exchange: it shows in the mean rate, or as many jumps that add up
 * to it. */
static void note_wrong_rate(struct clock_peer *p, const struct clock_relation *from, const struct clock_relation *to)
{
	const struct clock_rate rate = rate_of(from, to);
	const double sure_ppb = (rate.ppb < 0 ? -rate.ppb : rate.ppb) - rate.bound_ppb;
	if (!rate.known || p->stands || p->wrong_rates || !is_wrong_ppb(sure_ppb) ||
	    !is_possible_rate(rate.ppb, peer_directions(&p->latest), p->agreed_ns))
		return;
	p->events = p->wrong_rates = 1;
	p->jumps = 0;
	p->event[0] = (struct clock_peer_event){ .kind = PEER_WRONG_RATE, .seq = { p->begun.seq, p->now.seq },
						 .mono_ns = { p->begun.mono_ns, p->now.mono_ns }, .has_before = true,
						 .before = *from, .first = *from, .after = *to, .last = *to };
}

void clock_peer_finish(struct clock_peer *p)
{
	const struct clock_relation before = p->event[0].before; /* note_wrong_rate() overwrites event[0] */

	if (p->in_event)
		end_event(p);
	if (p->jumps >= PEER_MANY && p->exchanges / p->jumps < PEER_OFTEN && p->event[0].has_before)
		note_wrong_rate(p, &before, &p->latest);
	else if (!p->events && p->belief.has_first)
		note_wrong_rate(p, &p->belief.first, &p->belief.window);
}

bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate)
{
	const struct clock_peer_belief *b = &p->belief;

	if (!b->has_window)
		return false;
	*offset = b->window;
	if (b->has_last && b->last.bound_ns < offset->bound_ns)
		*offset = b->last;
	*rate = (struct clock_rate){ 0 };
	if (b->has_first)
		*rate = rate_of(&b->first, &b->window);
	if (b->has_last)
		*rate = better(*rate, rate_of(&b->first, &b->last));
	return true;
}
