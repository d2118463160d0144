// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Standstills and frequency errors of the PHC.
 *
 * Between two readings a change of rate looks like a step. The next readings distinguish them: after a step the clock
 * runs as before, at a wrong rate each reading is off by the same share. So both are counted as steps at first, and
 * taken back when the rate is measured. A fault begins and ends at an unknown time between two readings: it explains
 * any offset between the extrapolations by the old rate and by the new rate.
 */
#include "host/clock/clock_inside.h"

#include <string.h>

#define STANDSTILL_NS NS_PER_MS
#define STOPPED_PPB (-1e9)
#define FASTEST_PPB 2e9 /* a larger frequency error means that the clock is set again and again */
/* Two rates are the same if they differ by at most 1/64, plus their bounds. */
#define ALIKE_SHARE 64

static struct clock_fault *current(struct clock_watch *c)
{
	return &c->fault[c->faults_kept - 1];
}

/* ---- Steps that are taken back ----------------------------------------------------------------------------------- */

/* True if a change to this rate, at some time between the two readings, explains the jump. */
static bool is_explained(const struct clock_jump *j, double ppb)
{
	double all_ns = (ppb - j->ppb) * ((double)difference(j->mono_ns[1], j->mono_ns[0]) / NS_PER_S);
	double size_ns = (double)j->size_ns, bound_ns = (double)j->bound_ns;

	return size_ns >= (all_ns < 0 ? all_ns : 0) - bound_ns && size_ns <= (all_ns > 0 ? all_ns : 0) + bound_ns;
}

static void take_back(struct clock_watch *c, uint32_t i)
{
	struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const bool was_largest = t->largest.mono_ns[1] == c->step[i].mono_ns[1];

	c->steps_kept--;
	memmove(&c->step[i], &c->step[i + 1], (c->steps_kept - i) * sizeof(c->step[0]));
	counter_add(&t->steps, UINT64_MAX);
	if (!was_largest)
		return;
	t->has_largest = false;
	for (i = 0; i < c->steps_kept; i++) {
		const struct clock_jump *j = &c->step[i];

		if (j->which != CLOCK_OF_NIC || (t->has_largest && excess(j) <= excess(&t->largest)))
			continue;
		t->largest = *j;
		t->has_largest = true;
	}
}

/* Takes back the last steps of the PHC that a change to this rate explains: steps that reach to from_ns, and earlier
 * steps without a gap. Returns the earliest time of the first step taken back; from_ns: no step was taken back. */
static int64_t take_back_explained(struct clock_watch *c, int64_t from_ns, double ppb)
{
	for (uint32_t i = c->steps_kept; i-- > 0;) {
		const struct clock_jump *j = &c->step[i];

		if (j->which != CLOCK_OF_NIC)
			continue;
		if (j->mono_ns[1] < from_ns || !is_explained(j, ppb))
			break;
		from_ns = j->mono_ns[0];
		take_back(c, i);
	}
	return from_ns;
}

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

static void begin(struct clock_watch *c, bool stands, int64_t from_ns, int64_t to_ns)
{
	struct clock_track *t = &c->track[CLOCK_OF_NIC];

	if (c->faults_kept < CLOCK_FAULTS_KEPT)
		c->fault[c->faults_kept++] = (struct clock_fault){ .stands = stands, .began_ns = { from_ns, to_ns } };
	else
		c->has_going = false;
	current(c)->lost_bound_ns = INT64_MAX;
	current(c)->over = false;
	c->in_fault = true;
	c->found++;
	counter_add(stands ? &t->standstills : &t->wrong_rates, 1);
}

static void end(struct clock_watch *c, int64_t from_ns, int64_t to_ns)
{
	struct clock_fault *s = current(c);

	s->ended_ns[0] = larger(from_ns, s->began_ns[0]);
	s->ended_ns[1] = to_ns;
	s->over = true;
	c->in_fault = false;
	c->found++;
}

/* Beginning of the previous reading: a rate that changed shortly before a reading has too small an effect there. */
static int64_t earlier(const struct clock_watch *c, uint64_t number)
{
	return kept(c, number > oldest_kept(c) ? number - 1 : number)->began_ns;
}

static void go_on(struct clock_watch *c, const struct clock_reading *r)
{
	current(c)->ended_ns[0] = current(c)->ended_ns[1] = r->began_ns;
}

void clock_fault_lasted(const struct clock_fault *s, int64_t ns[2])
{
	ns[0] = larger(difference(s->ended_ns[0], s->began_ns[1]), 0);
	ns[1] = larger(difference(s->ended_ns[1], s->began_ns[0]), ns[0]);
	if (!s->stands || !s->over || s->lost_bound_ns == INT64_MAX)
		return;
	ns[0] = larger(difference(s->lost_ns, s->lost_bound_ns), ns[0]);
	ns[1] = larger(smaller(sum_of_bounds(s->lost_ns, s->lost_bound_ns), ns[1]), ns[0]);
}

/* ---- Standstills ------------------------------------------------------------------------------------------------- */

/* PHC value of the reading. */
static int64_t phc_of(const struct clock_reading *r)
{
	int64_t phc_ns;

	return __builtin_add_overflow(r->phc_raw.at_ns, r->phc_raw.offset_ns, &phc_ns) ? 0 : phc_ns;
}

/* True if the PHC has the same value as at the previous reading although time has passed. */
static bool is_still(const struct clock_watch *c, const struct clock_reading *before, const struct clock_reading *r)
{
	return distance(phc_of(r), phc_of(before)) <= slack(c) &&
	       difference(r->phc_raw.at_ns, before->phc_raw.at_ns) >=
		       sum_of_bounds(STANDSTILL_NS, sum_of_bounds(r->phc_raw.bound_ns, before->phc_raw.bound_ns));
}

/* Jump from the reading with this number to r. */
static struct clock_jump jump_from(const struct clock_watch *c, uint64_t number, const struct clock_reading *r)
{
	return clock_track_jump(c, number, r, CLOCK_OF_NIC,
				clock_track_spread_ppb(kept(c, number), r, PHC_RAW) + TOLERANCE_PPB);
}

/* The PHC has the value of the last reading, so it stood already then. */
static void stands_since_last(struct clock_watch *c, const struct clock_reading *r)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const struct clock_reading *last = kept(c, t->last_number);
	int64_t from_ns = take_back_explained(c, last->ended_ns, STOPPED_PPB);

	c->found_ns = larger(c->found_ns, difference(r->ended_ns, last->began_ns));
	c->has_going = t->readings > 1 && (!last->broken[CLOCK_OF_NIC] || from_ns < last->ended_ns);
	c->going_number = t->number_before;
	begin(c, true, from_ns < last->ended_ns ? from_ns : last->began_ns, last->ended_ns);
}

/* The PHC stands now and moved since the last reading, so the standstill began in between. */
static void stands_since_between(struct clock_watch *c, const struct clock_reading *r)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const struct clock_reading *last = kept(c, t->last_number);
	struct clock_jump j = jump_from(c, t->last_number, r);

	c->found_ns = larger(c->found_ns, sum_of_bounds(absolute(j.size_ns), j.bound_ns));
	if (excess(&j) > 0 && !is_explained(&j, STOPPED_PPB))
		clock_track_note_step(c, &j);
	c->has_going = true;
	c->going_number = t->last_number;
	begin(c, true, last->began_ns, r->ended_ns);
}

/* The time that the PHC fell behind is the duration of the standstill; a remainder is a step. */
static void goes_again(struct clock_watch *c, const struct clock_reading *r)
{
	const struct clock_reading *last = kept(c, c->track[CLOCK_OF_NIC].last_number);
	struct clock_fault *s = current(c);
	struct clock_jump j;
	int64_t ns[2], lost_ns;

	end(c, last->began_ns, r->ended_ns);
	if (!c->has_going || c->going_number < oldest_kept(c))
		return;
	j = jump_from(c, c->going_number, r);
	clock_fault_lasted(s, ns);
	lost_ns = difference(0, j.size_ns);
	if (difference(lost_ns, ns[0]) >= -j.bound_ns && difference(lost_ns, ns[1]) <= j.bound_ns) {
		s->lost_ns = lost_ns;
		s->lost_bound_ns = j.bound_ns;
		return;
	}
	j.size_ns = difference(j.size_ns, -(ns[0] + (ns[1] - ns[0]) / 2));
	j.bound_ns = sum_of_bounds(j.bound_ns, (ns[1] - ns[0]) / 2 + 1);
	j.mono_ns[0] = last->began_ns;
	j.mark[0] = last->mark;
	if (excess(&j) > 0)
		clock_track_note_step(c, &j);
}

/* Known total duration of standstills. */
static int64_t stood_in_all(const struct clock_watch *c)
{
	int64_t sum_ns = 0;

	for (uint32_t i = 0; i < c->faults_kept; i++) {
		const struct clock_fault *s = &c->fault[i];
		int64_t ns[2];

		clock_fault_lasted(s, ns);
		if (s->stands)
			sum_ns = sum_of_bounds(sum_ns, s->lost_bound_ns == INT64_MAX ? ns[0] : s->lost_ns);
	}
	return sum_ns;
}

bool clock_fault_stands(struct clock_watch *c, struct clock_reading *r)
{
	struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const struct clock_reading *last = kept(c, t->last_number);
	const bool stood = t->standing, still = is_still(c, last, r);

	t->standing = still || r->frozen;
	if (!stood && !t->standing)
		return false;
	if (!stood && c->in_fault)
		end(c, earlier(c, t->last_number), r->ended_ns);
	if (stood && !t->standing)
		goes_again(c, r);
	else if (!stood && still)
		stands_since_last(c, r);
	else if (!stood)
		stands_since_between(c, r);
	if (t->standing)
		go_on(c, r);
	t->stood_ns = stood_in_all(c);
	return true;
}

/* ---- Wrong rates ------------------------------------------------------------------------------------------------- */

bool clock_rate_is_wrong(const struct clock_frequency *frequency, const struct clock_rate *rate)
{
	int64_t most_ppb = frequency->known ? CLOCK_WRONG_PPB : 2 * CLOCK_WRONG_PPB;
	int64_t ppb = !frequency->known ? 0 : frequency->ppb > CLOCK_WRONG_PPB ? CLOCK_WRONG_PPB :
		      frequency->ppb < -CLOCK_WRONG_PPB ? -CLOCK_WRONG_PPB : frequency->ppb;
	double off_ppb = rate->ppb - (double)ppb;

	return rate->measured && (off_ppb < 0 ? -off_ppb : off_ppb) - rate->bound_ppb > (double)most_ppb;
}

/* True if two pairs of readings have the same frequency error. */
static bool is_one_rate(const struct clock_frequency *frequency, const struct clock_rate *a, const struct clock_rate *b)
{
	double apart_ppb = a->ppb > b->ppb ? a->ppb - b->ppb : b->ppb - a->ppb;
	double bound_ppb = a->bound_ppb + b->bound_ppb, size_ppb = b->ppb < 0 ? -b->ppb : b->ppb;

	return clock_rate_is_wrong(frequency, a) && clock_rate_is_wrong(frequency, b) && size_ppb <= FASTEST_PPB &&
	       apart_ppb <= bound_ppb + size_ppb / ALIKE_SHARE && bound_ppb <= size_ppb / 2;
}

/* If the PHC ran at this rate since the last break of the history, the break was not a step but the beginning of the
 * frequency error. Returns as take_back_explained() does, with to_ns for none. */
static int64_t take_back_start(struct clock_watch *c, uint64_t number, const struct clock_reading *r,
			       const struct clock_rate *rate, int64_t to_ns)
{
	const struct clock_reading *start;
	struct clock_rate mean;
	int64_t from_ns;

	while (number > oldest_kept(c) && !(kept(c, number)->has_phc && kept(c, number)->broken[CLOCK_OF_NIC]))
		number--;
	start = kept(c, number);
	mean = rate_of(&start->phc_raw, &r->phc_raw);
	if (!start->has_phc || !is_one_rate(&r->frequency[CLOCK_OF_NIC], &mean, rate))
		return to_ns;
	from_ns = take_back_explained(c, start->ended_ns, rate->ppb);
	return from_ns < start->ended_ns ? from_ns : to_ns;
}

bool clock_fault_is_a_rate(struct clock_watch *c, struct clock_reading *r)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const struct clock_reading *last = kept(c, t->last_number), *before = kept(c, t->number_before);
	struct clock_rate rates[2];
	int64_t from_ns;

	if (t->readings < 2 || t->number_before < oldest_kept(c) || !last->broken[CLOCK_OF_NIC])
		return false;
	rates[0] = rate_of(&before->phc_raw, &last->phc_raw);
	rates[1] = rate_of(&last->phc_raw, &r->phc_raw);
	if (!is_one_rate(&r->frequency[CLOCK_OF_NIC], &rates[0], &rates[1]))
		return false;
	from_ns = take_back_explained(c, r->ended_ns, rates[1].ppb);
	for (uint64_t n = t->number_before + 1; n < c->readings; n++)
		c->history[n % CLOCK_HISTORY].broken[CLOCK_OF_NIC] = false;
	c->history[t->last_number % CLOCK_HISTORY].odd_ns[CLOCK_OF_NIC] = r->odd_ns[CLOCK_OF_NIC] = 0;
	from_ns = take_back_start(c, t->number_before, r, &rates[1], smaller(from_ns, earlier(c, t->number_before)));
	begin(c, false, from_ns, last->ended_ns); /* the first pair of readings may begin before the fault */
	current(c)->rate = rate_of(&before->phc_raw, &r->phc_raw);
	return true;
}

void clock_fault_look(struct clock_watch *c)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const struct clock_reading *r = kept(c, t->last_number), *before = kept(c, t->number_before);
	struct clock_slope slope = clock_track_slope(c, t->last_number, PHC_RAW);
	struct clock_rate rate = { .measured = slope.measured, .known = slope.measured, .ppb = slope.ppb,
				   .bound_ppb = slope.bound_ppb };
	const bool wrong = clock_rate_is_wrong(&r->frequency[CLOCK_OF_NIC], &rate);

	if (t->standing)
		return;
	if (wrong && !c->in_fault)
		begin(c, false, earlier(c, t->number_before), r->ended_ns);
	if (wrong) {
		int64_t *from_ns = &current(c)->began_ns[0];

		*from_ns = take_back_start(c, t->last_number, r, &rate, *from_ns);
		current(c)->rate = better(current(c)->rate, rate);
		go_on(c, r);
	} else if (c->in_fault) {
		end(c, earlier(c, t->number_before), r->ended_ns);
		/* A return to the frequency setting between the two readings explains the step. */
		take_back_explained(c, r->ended_ns, (double)r->frequency[CLOCK_OF_NIC].ppb);
	} else if (c->faults_kept && !current(c)->stands && !r->broken[CLOCK_OF_NIC] &&
		   current(c)->ended_ns[1] == before->ended_ns) {
		/* as above, with the measured rate after the fault */
		take_back_explained(c, before->ended_ns, slope.ppb);
	}
}

/* ---- Queries ----------------------------------------------------------------------------------------------------- */

static bool overlap(int64_t a_ns, int64_t b_ns, int64_t from_ns, int64_t to_ns)
{
	return a_ns <= to_ns && b_ns >= from_ns;
}

bool clock_moved(const struct clock_watch *c, enum clock_which which, int64_t from_mono_ns, int64_t to_mono_ns)
{
	const struct clock_track *t = &c->track[which];

	for (uint32_t i = 0; i < c->steps_kept; i++)
		if (c->step[i].which == which &&
		    overlap(c->step[i].mono_ns[0], c->step[i].mono_ns[1], from_mono_ns, to_mono_ns))
			return true;
	for (uint32_t i = 0; i < c->faults_kept && which == CLOCK_OF_NIC; i++)
		if (overlap(c->fault[i].began_ns[0], c->fault[i].ended_ns[1], from_mono_ns, to_mono_ns))
			return true;
	return t->unkept_ns[1] && overlap(t->unkept_ns[0], t->unkept_ns[1], from_mono_ns, to_mono_ns);
}
