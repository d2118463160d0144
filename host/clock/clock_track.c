// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rates, steps and standstills found from successive readings, and the segments of a clock's history between them.
 *
 * Between readings only limits of the change of rate are known: a quartz changes by 1 ppm within seconds (WANDER_PPB),
 * a servo by the frequency setting that it writes. The change of the setting is added to the bound; where the setting
 * cannot be read, the greatest change that the kernel allows (500 ppm) is assumed.
 */
#include "host/clock/clock_inside.h"


#define WANDER_PPB 1000
#define UNKNOWN_PPB (2 * SLEW_PPB) /* change of a setting that cannot be read: the whole range of adjtimex(2) */
#define RATE_WINDOW_NS (2 * NS_PER_S)
#define JUMP_BACK 4
#define RATE_BACK 24
#define LOOK_BACK 16 /* readings among which the most precise is kept */

/* ---- Rates over the last readings ------------------------------------------------------------------------------- */

static const struct clock_relation *relation(const struct clock_reading *r, enum between b)
{
	return b == PHC_REAL ? &r->phc_real : b == PHC_RAW ? &r->phc_raw : &r->real_raw;
}

static bool is_in(const struct clock_reading *r, enum between b)
{
	return r->has_phc || b == REAL_RAW;
}

/* True if neither clock was set between the previous reading and r. */
static bool is_joined(const struct clock_reading *r, enum between b)
{
	return !(b != REAL_RAW && r->broken[CLOCK_OF_NIC]) && !(b != PHC_RAW && r->broken[CLOCK_OF_SYSTEM]);
}

int64_t clock_track_spread_ppb(const struct clock_reading *x, const struct clock_reading *y, enum between b)
{
	int64_t sum = 0;

	for (int i = 0; i < CLOCKS; i++) {
		const struct clock_frequency *d = &x->frequency[i], *e = &y->frequency[i];

		if (b == (i == CLOCK_OF_NIC ? REAL_RAW : PHC_RAW))
			continue;
		sum += d->known && e->known ? distance(d->ppb, e->ppb) :
		       d->assumed && e->assumed ? 0 : UNKNOWN_PPB;
		sum += larger(d->slew_ppb, e->slew_ppb);
	}
	return sum;
}

/* Unexplained change of both clocks since the previous reading. */
static int64_t odd(const struct clock_reading *r, enum between b)
{
	return sum_of_bounds(b == REAL_RAW ? 0 : r->odd_ns[CLOCK_OF_NIC],
			     b == PHC_RAW ? 0 : r->odd_ns[CLOCK_OF_SYSTEM]);
}

/* Slope by the frequency settings only, where two readings of both clocks do not exist. */
static struct clock_slope rate_of_frequencies(const struct clock_reading *r, enum between b)
{
	const struct clock_frequency *nic = &r->frequency[CLOCK_OF_NIC], *system = &r->frequency[CLOCK_OF_SYSTEM];
	int64_t free_ppb = b == REAL_RAW && system->known ? TOLERANCE_PPB : FREE_PPB;
	int64_t nic_ppb = nic->known ? nic->ppb : 0, system_ppb = system->known ? system->ppb : 0;

	return (struct clock_slope){
		.ppb = (double)(b == PHC_REAL ? nic_ppb - system_ppb : b == PHC_RAW ? nic_ppb : system_ppb),
		.bound_ppb = (double)(free_ppb + clock_track_spread_ppb(r, r, b)),
	};
}

/* open_ns: uncertainty in addition to the brackets. */
static struct clock_slope rate_between(const struct clock_reading *from, const struct clock_reading *to, enum between b,
				       int64_t changes_ppb, int64_t open_ns)
{
	const struct clock_relation *x = relation(from, b), *y = relation(to, b);
	double dt_s = (double)difference(y->at_ns, x->at_ns) / NS_PER_S;
	double ppb = (double)difference(y->offset_ns, x->offset_ns) / dt_s;

	if (dt_s <= 0)
		return (struct clock_slope){ 0 };
	open_ns = sum_of_bounds(open_ns, sum_of_bounds(x->bound_ns, y->bound_ns));
	return (struct clock_slope){
		.measured = true,
		.ppb = ppb,
		.bound_ppb = widened(open_ns, ppb) / dt_s + (double)changes_ppb + WANDER_PPB,
	};
}

/* True if the readings between the two lie on the line through both. Otherwise there was a change of rate, or a step
 * below the limit of detection. */
static bool is_straight(const struct clock_watch *c, uint64_t from, uint64_t to, enum between b,
			const struct clock_slope *rate, int64_t changes_ppb)
{
	const struct clock_relation *x = relation(kept(c, from), b), *y = relation(kept(c, to), b);

	for (uint64_t n = from + 1; n < to; n++) {
		const struct clock_relation *z = relation(kept(c, n), b);

		if (!is_in(kept(c, n), b))
			continue;
		int64_t since_ns = difference(z->at_ns, x->at_ns);
		double expected_ns = rate->ppb * ((double)since_ns / NS_PER_S);
		double off_ns = (double)difference(z->offset_ns, x->offset_ns) - expected_ns;
		double bound_ns = widened(sum_of_bounds(z->bound_ns, larger(x->bound_ns, y->bound_ns)), rate->ppb) +
				  (double)over(since_ns, 2 * WANDER_PPB + changes_ppb);

		if (off_ns > bound_ns || off_ns < -bound_ns)
			return false;
	}
	return true;
}

/*
 * Measured from the earlier reading that gives the least bound, among the readings of the last two seconds that lie on
 * a straight line. Over a longer time the brackets count less, but the frequency setting may have changed. Between
 * readings that are too close to each other the frequency settings give a better bound.
 */
struct clock_slope clock_track_slope(const struct clock_watch *c, uint64_t number, enum between b)
{
	const struct clock_reading *newest = kept(c, number);
	struct clock_slope best = rate_of_frequencies(newest, b);
	int64_t changes_ppb = 0, odd_ns = 0;

	for (uint64_t n = number; n > oldest_kept(c) && number - n < RATE_BACK && is_in(newest, b); n--) {
		const struct clock_reading *before = kept(c, n - 1);
		struct clock_slope r;

		if (!is_joined(kept(c, n), b))
			break;
		odd_ns = sum_of_bounds(odd_ns, odd(kept(c, n), b));
		changes_ppb = larger(changes_ppb, clock_track_spread_ppb(before, newest, b));
		if (!is_in(before, b))
			continue; /* the clock could not be read then */
		if (n < number && distance(newest->began_ns, before->began_ns) > RATE_WINDOW_NS)
			break;
		r = rate_between(before, newest, b, changes_ppb, odd_ns);
		if (!r.measured || !is_straight(c, n - 1, number, b, &r, changes_ppb))
			break;
		if (r.bound_ppb < best.bound_ppb)
			best = r;
	}
	return best;
}

/* ---- Steps, standstills, segments ------------------------------------------------------------------------------- */

/* From an early reading to a late reading. Several of each are kept, so that a wide bracket at either end does not
 * count. */
struct clock_rate clock_track_segment(const struct clock_track *t)
{
	struct clock_rate r = { 0 };

	for (int i = 0; i < 6 && t->segment_readings > 1; i++)
		r = better(r, rate_of(&t->first[i / 3], &t->recent[i % 3]));
	return r;
}

static void segment_end(struct clock_track *t)
{
	t->rate = better(t->rate, clock_track_segment(t));
	t->segment_readings = 0;
}

static void segment_add(struct clock_track *t, const struct clock_relation *r)
{
	uint64_t n = t->segment_readings++;

	t->recent[0] = *r;
	if (n == 0)
		t->first[0] = t->first[1] = t->recent[2] = *r;
	if (n < LOOK_BACK && r->bound_ns < t->first[1].bound_ns)
		t->first[1] = *r;
	if (n % LOOK_BACK == 0) {
		t->recent[1] = t->recent[2];
		t->recent[2] = *r;
	} else if (r->bound_ns <= t->recent[2].bound_ns) {
		t->recent[2] = *r;
	}
}

static void note_frequency(struct clock_track *t, const struct clock_frequency *d)
{
	if (!d->known)
		return;
	if (!t->frequency[0].known)
		t->frequency[0] = *d;
	else if (d->ppb != t->frequency[1].ppb)
		t->frequency_changes++;
	t->frequency[1] = *d;
}

struct clock_jump clock_track_jump(const struct clock_watch *c, uint64_t number, const struct clock_reading *r,
				   enum clock_which which, int64_t extra_ppb)
{
	enum between b = which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW;
	const struct clock_reading *before = kept(c, number);
	const struct clock_relation *x = relation(before, b), *y = relation(r, b);
	struct clock_slope rate = clock_track_slope(c, number, b);
	int64_t dt_ns = distance(y->at_ns, x->at_ns);
	int64_t bound_ppb = (int64_t)rate.bound_ppb + extra_ppb;
	double expected_ns = rate.ppb * ((double)dt_ns / NS_PER_S);
	double brackets_ns = widened(sum_of_bounds(x->bound_ns, y->bound_ns), rate.ppb);

	if (expected_ns > (double)ABSURD_NS || expected_ns < -(double)ABSURD_NS)
		expected_ns = 0;
	return (struct clock_jump){
		.which = which,
		.size_ns = difference(difference(y->offset_ns, x->offset_ns), (int64_t)expected_ns),
		.bound_ns = sum_of_bounds(brackets_ns < (double)ABSURD_NS ? (int64_t)brackets_ns : ABSURD_NS,
					  over(dt_ns, bound_ppb)),
		.ppb = rate.ppb,
		.mono_ns = { before->began_ns, r->ended_ns },
		.mark = { before->mark, r->mark },
	};
}

void clock_track_note_step(struct clock_watch *c, const struct clock_jump *j)
{
	struct clock_track *t = &c->track[j->which];

	if (c->steps_kept < CLOCK_STEPS_KEPT) {
		c->step[c->steps_kept++] = *j;
	} else {
		if (!t->unkept_ns[1])
			t->unkept_ns[0] = j->mono_ns[0];
		t->unkept_ns[1] = j->mono_ns[1];
	}
	counter_add(&t->steps, 1);
	c->found++;
	c->found_ns = larger(c->found_ns, sum_of_bounds(absolute(j->size_ns), j->bound_ns));
}

/* True: the clock stepped. The search starts at the reading that gives the least bound, so a step that a long bracket
 * hid is found by the next reading, and lies at any time since that start. */
static bool note_jump(struct clock_watch *c, struct clock_track *t, struct clock_reading *r, enum clock_which which)
{
	enum between b = which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW;
	int64_t changes_ppb = clock_track_spread_ppb(kept(c, t->last_number), r, b);
	struct clock_jump last = clock_track_jump(c, t->last_number, r, which, changes_ppb);
	struct clock_jump best = clock_track_jump(c, t->last_number, r, which, changes_ppb + TOLERANCE_PPB);
	uint64_t since = t->last_number;

	for (uint64_t n = since; n > oldest_kept(c) && t->last_number - n < JUMP_BACK; n--) {
		struct clock_jump j;

		if (!is_joined(kept(c, n), b))
			break;
		changes_ppb += clock_track_spread_ppb(kept(c, n - 1), kept(c, n), b);
		if (!is_in(kept(c, n - 1), b))
			continue;
		j = clock_track_jump(c, n - 1, r, which, changes_ppb + TOLERANCE_PPB);
		if (j.bound_ns < best.bound_ns) {
			best = j;
			since = n - 1;
		}
	}
	if (excess(&last) > 0)
		r->odd_ns[which] = sum_of_bounds(absolute(last.size_ns), last.bound_ns);
	if (!t->has_largest || excess(&best) > excess(&t->largest))
		t->largest = best;
	t->has_largest = true;
	if (excess(&best) <= 0)
		return false;
	for (uint64_t n = since + 1; n < c->readings; n++)
		c->history[n % CLOCK_HISTORY].broken[which] = true;
	clock_track_note_step(c, &best);
	return true;
}

/* True: a new segment of the clock's history begins. */
static bool note_change(struct clock_watch *c, struct clock_track *t, struct clock_reading *r, enum clock_which which)
{
	if (t->last_number < oldest_kept(c))
		return true; /* the history has no reading with the PHC any more */
	if (which == CLOCK_OF_SYSTEM)
		return note_jump(c, t, r, which);
	if (clock_fault_stands(c, r))
		return true;
	return note_jump(c, t, r, which) && !clock_fault_is_a_rate(c, r);
}

static void judge_clock(struct clock_watch *c, struct clock_reading *r, enum clock_which which)
{
	struct clock_track *t = &c->track[which];

	note_frequency(t, &r->frequency[which]);
	if (which == CLOCK_OF_NIC && !r->has_phc)
		return;
	if (t->readings)
		r->broken[which] = note_change(c, t, r, which);
	if (r->broken[which])
		segment_end(t);
	segment_add(t, relation(r, which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW));
	t->last = which == CLOCK_OF_NIC ? r->phc_real : r->real_raw;
	t->number_before = t->last_number;
	t->last_number = c->readings;
	t->readings++;
}

void clock_track_add(struct clock_watch *c, struct clock_reading *r)
{
	c->found_ns = 0;
	judge_clock(c, r, CLOCK_OF_SYSTEM);
	judge_clock(c, r, CLOCK_OF_NIC);
	c->history[c->readings++ % CLOCK_HISTORY] = *r;
	if (r->has_phc)
		clock_fault_look(c);
}
