// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The other host's clock. Two clocks part by no more than PEER_APART says; so each T2 - T1 must not be below the
 * highest T3 - T4 so far, less that, and the other way round. Where it is, one of the clocks was set, stands, or runs
 * at a rate that no clock has. What was known is forgotten then, and nothing is believed until some exchanges have
 * agreed with each other: of a clock that stands, each one contradicts the one before.
 */
#include "host/clock/clock_peer.h"

#include "host/clock/clock_inside.h"

#define PEER_APART (1.0 / 1024) /* each of two clocks is off or steered by less than 488 ppm */
#define PEER_SLACK_NS NS_PER_US /* stamps may be early or late by the way from the wire to where they are taken */
#define PEER_AGREE 16 /* exchanges */
/* how far a rate may change from one exchange to the next, and be no step: as of our own clock */
#define PEER_CHANGE_PPB 50000
#define PEER_RATE_OVER_NS (50 * NS_PER_MS)
#define PEER_STILL_NS NS_PER_US /* in which a clock moves by more than its tick */
#define PEER_FASTEST 4
#define PEER_STOOD_NS NS_PER_MS
#define PEER_WRONG_PPB (PEER_APART * NS_PER_S)
#define PEER_MANY 4 /* conflicts in one event, or jumps that come again and again */
#define PEER_OFTEN 1024 /* exchanges */

/* ---- Edges ------------------------------------------------------------------------------------------------------- */

/* How low a floor may be at another time, and how high a ceiling: where the rate takes it, and as far as the clocks
 * part beside that. */
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

/* How far is the floor above the ceiling, beyond what may be? More than 0: both cannot be true. */
static int64_t peer_excess(const struct clock_peer_belief *b, const struct clock_peer_edge *floor,
			   const struct clock_peer_edge *ceiling)
{
	if (!floor->known || !ceiling->known)
		return 0;
	return difference(difference(peer_low(b, floor, ceiling->at_ns), ceiling->offset_ns), PEER_SLACK_NS);
}

/* Of one exchange. */
static struct clock_relation peer_middle(const struct clock_peer_edge *floor, const struct clock_peer_edge *ceiling)
{
	int64_t way_ns = difference(ceiling->offset_ns, floor->offset_ns);

	return (struct clock_relation){ .at_ns = ceiling->at_ns, .offset_ns = floor->offset_ns + way_ns / 2,
					.bound_ns = absolute(way_ns) / 2 + 1 + TICK_NS };
}

/* All that is known of the difference at a moment. */
static struct clock_relation peer_between(const struct clock_peer_belief *b, int64_t at_ns)
{
	struct clock_relation r = peer_middle(&(struct clock_peer_edge){ .offset_ns = peer_low(b, &b->floor, at_ns) },
					      &(struct clock_peer_edge){ .offset_ns = peer_high(b, &b->ceiling,
												at_ns) });

	r.at_ns = at_ns;
	return r;
}

/* How long both ways of one exchange took. */
static int64_t peer_ways(const struct clock_relation *r)
{
	return sum_of_bounds(r->bound_ns, r->bound_ns);
}

/* ---- The rate ---------------------------------------------------------------------------------------------------- */

/* Nothing but what holds of any two clocks. */
static const struct clock_peer_belief nothing = { .fastest = PEER_APART, .slowest = -PEER_APART };

/* What is known of the rate allows for less than the worst, so that a small step after a long gap is seen; but a servo
 * may change it. */
static void learn_rate(struct clock_peer_belief *b, const struct clock_relation *latest)
{
	struct clock_rate r = rate_of(&b->anchor, latest);
	double rate = r.ppb / NS_PER_S, apart = (r.bound_ppb + PEER_CHANGE_PPB) / NS_PER_S;

	if (!r.measured || r.over_ns < PEER_RATE_OVER_NS || apart >= PEER_APART || rate > 0.1 || rate < -0.1)
		return;
	b->fastest = rate + apart;
	b->slowest = rate - apart;
}

/* ---- The best of a second ---------------------------------------------------------------------------------------- */

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

/* More than some times as fast is no rate. */
static bool is_wrong_ppb(double ppb)
{
	return (ppb > PEER_WRONG_PPB || ppb < -PEER_WRONG_PPB) && ppb < PEER_FASTEST * NS_PER_S;
}

/* Between two conflicts a clock at a wrong rate moves away from the other by what the ways hide, and no further: where
 * exchanges agreed for longer, it was set. */
static bool is_possible_rate(double ppb, int64_t ways_ns, int64_t agreed_ns)
{
	const double past = (ppb < 0 ? -ppb : ppb) / NS_PER_S - PEER_APART;

	return is_wrong_ppb(ppb) && (double)agreed_ns * past <= 2.0 * (double)sum_of_bounds(ways_ns, PEER_SLACK_NS);
}

bool clock_peer_event_size(const struct clock_peer_event *e, int64_t *size_ns, int64_t *bound_ns)
{
	*size_ns = difference(e->after.offset_ns, e->before.offset_ns);
	*bound_ns = sum_of_bounds(e->after.bound_ns, e->before.bound_ns);
	return e->has_before && absolute(*size_ns) > *bound_ns;
}

/* What is known by all exchanges that agreed, which is more than one of them tells: around a step that may be in it. */
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
	e->ways_ns = e->has_before ? smaller(e->ways_ns, peer_ways(&p->latest)) : peer_ways(&p->latest);
	by_belief(&e->after, &p->belief);
	/* A step back may take T2 to where it was before, by chance and once. */
	e->kind = e->stills > 1 || e->stood_ns > PEER_STOOD_NS ? PEER_STOOD :
		  e->conflicts >= PEER_MANY && is_possible_rate(clock_peer_event_ppb(e), e->ways_ns, e->agreed_ns) ?
			  PEER_WRONG_RATE :
													    PEER_JUMPED;
	p->jumps += e->kind == PEER_JUMPED;
	p->stands += e->kind == PEER_STOOD;
	p->wrong_rates += e->kind == PEER_WRONG_RATE;
}

/* Since when? Since the last exchange that the new edge contradicts. */
static const struct clock_peer_row *peer_since(const struct clock_peer *p, const struct clock_peer_edge *floor,
					       const struct clock_peer_edge *ceiling)
{
	uint64_t oldest = p->rows > PEER_ROWS ? p->rows - PEER_ROWS : 0;
	const struct clock_peer_row *r = &p->row[oldest % PEER_ROWS];

	/* A floor is that of the last exchange, within which it may be. */
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
		peer_event(p)->ways_ns = peer_ways(&peer_event(p)->before);
		by_belief(&peer_event(p)->before, &p->belief);
		peer_event(p)->first = peer_event(p)->before;
	}
	p->in_event = true;
}

/* Since the last conflict, up to the exchange before this one. */
static void note_agreed(struct clock_peer *p, struct clock_peer_event *e)
{
	/* It is seen an exchange late at either end. */
	const int64_t agreed_ns = p->conflicts ? p->now.mono_ns - p->conflict_ns - 2 * p->gap_ns : 0;

	if (agreed_ns > p->agreed_ns)
		p->agreed_ns = agreed_ns;
	if (e->conflicts && agreed_ns > e->agreed_ns)
		e->agreed_ns = agreed_ns;
}

/* One of the edges is NULL: the new one is the other. */
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

/* A whole exchange agrees with what was believed before: nothing has happened to a clock, some stamps were wrong. */
static void come_back(struct clock_peer *p)
{
	p->outliers++;
	p->events--;
	p->in_event = false;
	p->unsettled = 0;
	p->belief = p->before;
}

/* One of the edges is NULL. */
static bool is_as_before(const struct clock_peer *p, const struct clock_peer_edge *floor,
			 const struct clock_peer_edge *ceiling)
{
	const struct clock_peer_belief *b = &p->before;

	return p->in_event && b->floor.known && b->ceiling.known &&
	       peer_excess(b, floor ? floor : &b->floor, ceiling ? ceiling : &b->ceiling) <= 0;
}

/* The exchange after the one with the wrong stamp returns, or none: later ones agree with both, for the clocks may have
 * parted by as much as a step. */
static bool may_return(const struct clock_peer *p)
{
	return p->unsettled >= PEER_AGREE - 1;
}

/* ---- Exchanges --------------------------------------------------------------------------------------------------- */

static void note_still(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns)
{
	int64_t here_ns = difference(t1_ns, p->t1_ns);

	if (!p->in_event || here_ns <= PEER_STILL_NS || t2_ns != p->t2_ns)
		return;
	peer_event(p)->stills++;
	peer_event(p)->stood_ns = sum_of_bounds(peer_event(p)->stood_ns, here_ns);
}

static void clock_peer_begin(struct clock_peer *p, const struct clock_peer_moment *moment)
{
	p->has_there = true;
	p->begun = *moment;
	p->belief = nothing;
}

bool clock_peer_there(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, const struct clock_peer_moment *moment)
{
	struct clock_peer_edge edge = { .known = true, .at_ns = t1_ns };
	struct clock_peer_belief *b = &p->belief;
	bool agrees;

	if (__builtin_sub_overflow(t2_ns, t1_ns, &edge.offset_ns)) {
		p->refused++;
		return false;
	}
	/* Not when it agreed: what it hides of a step is part of the rate. */
	if (b->has_anchor && p->exchanges % PEER_AGREE == 0)
		learn_rate(b, &p->latest);
	agrees = peer_excess(b, &b->floor, &edge) <= 0;
	if (!agrees)
		note_conflict(p, NULL, &edge, moment);
	p->there_as_before = is_as_before(p, NULL, &edge);
	if (p->has_there)
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

/* One more exchange agrees. */
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

bool clock_peer_back(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns)
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
	/* They contradict each other by less than what is an event: stamps are off, or a clock was set by little. The
	 * last exchange alone does not. */
	if (peer_low(b, &b->floor, at_ns) > peer_high(b, &b->ceiling, at_ns)) {
		middle = p->latest;
		middle.bound_ns = sum_of_bounds(middle.bound_ns,
						(int64_t)((double)distance(at_ns, middle.at_ns) * PEER_APART));
	}
	*offset_ns = middle.offset_ns;
	*bound_ns = middle.bound_ns;
	return true;
}

/* A rate that is too small a fault to make each exchange contradict the one before: it shows in the mean, or as many
 * jumps that add up to it. */
static void note_wrong_rate(struct clock_peer *p, const struct clock_relation *from, const struct clock_relation *to)
{
	const struct clock_rate rate = rate_of(from, to);
	const double sure_ppb = (rate.ppb < 0 ? -rate.ppb : rate.ppb) - rate.bound_ppb;
	if (!rate.known || p->stands || p->wrong_rates || !is_wrong_ppb(sure_ppb) ||
	    !is_possible_rate(rate.ppb, peer_ways(&p->latest), p->agreed_ns))
		return;
	p->events = p->wrong_rates = 1;
	p->jumps = 0;
	p->event[0] = (struct clock_peer_event){ .kind = PEER_WRONG_RATE, .seq = { p->begun.seq, p->now.seq },
						 .mono_ns = { p->begun.mono_ns, p->now.mono_ns }, .has_before = true,
						 .before = *from, .first = *from, .after = *to, .last = *to };
}

void clock_peer_finish(struct clock_peer *p)
{
	const struct clock_relation before = p->event[0].before; /* it may be written over */

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
