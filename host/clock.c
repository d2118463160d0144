// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clocks: the NIC's own (PHC), CLOCK_REALTIME and CLOCK_MONOTONIC_RAW, and how they relate.
 *
 * What is wanted is PHC against CLOCK_REALTIME, for software stamps are of CLOCK_REALTIME; so that relation is measured
 * itself, and not put together from two, each with its error. CLOCK_MONOTONIC_RAW is the judge: nobody steps or steers
 * it, so when it agrees with one of the two, the other one moved.
 *
 * Between readings nothing is known but how fast a clock may change: a quartz by 1 ppm in seconds (WANDER_PPB), a
 * servo by what it writes into the clock's dial. The dials can be read, so the worst that the kernel allows (500 ppm)
 * is assumed only where they cannot, and what they moved is added to the bound.
 */
#include "host/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timex.h>
#include <unistd.h>

#define SAMPLES 5 /* of which the one with the shortest bracket counts */
#define TRIES 3
#define TICK_NS 16 /* the slowest counter in use (82576); a stamp may hide its tick behind a finer fraction */
#define PRECISE_NS 100 /* a tick of the always running timer (up to 42 ns) at both ends, and the link's own delay */

#define WANDER_PPB 1000
#define TOLERANCE_PPB 50000 /* before a change of rate without a change of dial is called a step */
#define FREE_PPB 1000000 /* of a clock not yet measured: no quartz in use is so far off */
#define SLEW_PPB 500000 /* adjtime(3), and the most that adjtimex(2) sets a frequency to */
#define UNKNOWN_PPB (2 * SLEW_PPB) /* between two readings of a dial that cannot be read: from one end to the other */
#define RATE_WINDOW_NS (2 * NS_PER_S)
#define STANDSTILL_NS NS_PER_MS
#define ABSURD_NS (INT64_MAX / 8) /* 36 years: as an error or a change, no number to go on with */
#define JUMP_BACK 4
#define RATE_BACK 24
#define LOOK_BACK 16 /* readings among which a precise one is looked for */

/* linux/ptp_clock.h of Linux 6.12; older headers have a reserved word in the clock's place, older kernels want it 0. */
struct offset_extended {
	uint32_t samples;
	int32_t clock;
	uint32_t reserved[2];
	struct ptp_clock_time ts[PTP_MAX_SAMPLES][3];
};

_Static_assert(sizeof(struct offset_extended) == sizeof(struct ptp_sys_offset_extended), "as the kernel has it");

#ifndef ADJ_OFFSET_SS_READ
#define ADJ_OFFSET_SS_READ 0xa001
#endif
#define PLL_SHIFT 2 /* SHIFT_PLL of the kernel's include/linux/timex.h */

/* Between which clocks a relation is, and so which steps and dials are its own. */
enum between { PHC_REAL, PHC_RAW, REAL_RAW };

/* ---- Arithmetic ------------------------------------------------------------------------------------------------- */

static int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return INT64_MAX;
	return d < 0 ? (d == INT64_MIN ? INT64_MAX : -d) : d;
}

static int64_t difference(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return a > b ? INT64_MAX : INT64_MIN;
	return d;
}

static int64_t sum_of_bounds(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

/* What a rate makes of a time; rounded up. */
static int64_t over(int64_t ns, int64_t ppb)
{
	double product = (double)ns * ((double)ppb / NS_PER_S);

	return product < 9e18 ? (int64_t)product + 1 : INT64_MAX;
}

static int64_t absolute(int64_t a)
{
	return distance(a, 0);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool stamp_ns(const struct ptp_clock_time *t, int64_t *ns)
{
	return t->nsec < NS_PER_S && !__builtin_mul_overflow((int64_t)t->sec, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)t->nsec, ns);
}

static bool read_ns(clockid_t clock, int64_t *ns)
{
	struct timespec t;

	return !clock_gettime(clock, &t) && !__builtin_mul_overflow((int64_t)t.tv_sec, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)t.tv_nsec, ns);
}

/* ---- One relation ----------------------------------------------------------------------------------------------- */

static const struct clock_relation none = { .bound_ns = INT64_MAX };

static bool is_taken(const struct clock_relation *r)
{
	return r->bound_ns != INT64_MAX;
}

/*
 * Takes the bracket before, other, after if it is the best so far. `other` was read somewhere in it: half of it is the
 * error, and granularities. 1/512 more: the offset moved by some 1000 ppm between that moment and the middle.
 */
static void narrow(struct clock_relation *best, int64_t before_ns, int64_t other_ns, int64_t after_ns, int64_t slack_ns)
{
	int64_t width_ns, half_ns, offset_ns, bound_ns;

	if (__builtin_sub_overflow(after_ns, before_ns, &width_ns) || width_ns < 0)
		return; /* set back in between */
	half_ns = width_ns / 2 + width_ns % 2;
	bound_ns = sum_of_bounds(half_ns + half_ns / 512, slack_ns + 1);
	if (bound_ns >= best->bound_ns || __builtin_sub_overflow(other_ns, before_ns + width_ns / 2, &offset_ns))
		return;
	*best = (struct clock_relation){ before_ns + width_ns / 2, offset_ns, bound_ns };
}

/* b's other clock is a's clock: a - x - y. False beyond 64 bits. */
static bool chain(struct clock_relation *to, const struct clock_relation *a, const struct clock_relation *b)
{
	int64_t apart_ns;

	if (__builtin_sub_overflow(a->at_ns, b->offset_ns, &to->at_ns) ||
	    __builtin_add_overflow(a->offset_ns, b->offset_ns, &to->offset_ns))
		return false;
	apart_ns = distance(to->at_ns, b->at_ns);
	to->bound_ns = sum_of_bounds(sum_of_bounds(a->bound_ns, b->bound_ns), over(apart_ns, 2 * FREE_PPB));
	return true;
}

/* Can both be true? An eighth of the time between them for a system clock that is slewed as fast as can be. */
static bool agree(const struct clock_relation *a, const struct clock_relation *b)
{
	int64_t slack_ns = distance(a->at_ns, b->at_ns) / 8;

	return distance(a->offset_ns, b->offset_ns) <= sum_of_bounds(sum_of_bounds(a->bound_ns, b->bound_ns), slack_ns);
}

static bool take_real_raw(const struct clock_watch *c, struct clock_relation *real_raw)
{
	*real_raw = none;
	for (int i = 0; i < SAMPLES; i++) {
		int64_t before_ns, real_ns, after_ns;

		if (read_ns(CLOCK_MONOTONIC_RAW, &before_ns) && read_ns(CLOCK_REALTIME, &real_ns) &&
		    read_ns(CLOCK_MONOTONIC_RAW, &after_ns))
			narrow(real_raw, before_ns, real_ns, after_ns, c->system_granularity_ns);
	}
	return is_taken(real_raw);
}

/* ---- Four ways to compare the PHC with the system's clocks ------------------------------------------------------ */

struct taken {
	struct clock_relation real, raw; /* PHC minus these; raw may be none */
};

static int64_t slack(const struct clock_watch *c)
{
	return c->system_granularity_ns + larger(c->phc_granularity_ns, TICK_NS);
}

static int done(const struct taken *t)
{
	return is_taken(&t->real) ? 0 : -EIO;
}

static int take_precise(const struct clock_watch *c, struct taken *t)
{
	int64_t phc_ns, real_ns, raw_ns, bound_ns = PRECISE_NS + slack(c);

	for (int i = 0; i < TRIES; i++) {
		struct ptp_sys_offset_precise p = { 0 };

		if (ioctl(c->phc_fd, PTP_SYS_OFFSET_PRECISE, &p)) {
			if (errno == EBUSY)
				continue;
			return -errno;
		}
		if (!stamp_ns(&p.device, &phc_ns) || !stamp_ns(&p.sys_realtime, &real_ns) ||
		    !stamp_ns(&p.sys_monoraw, &raw_ns))
			return -EIO;
		/* A bracket of no width: all three are of one instant. */
		narrow(&t->real, real_ns, phc_ns, real_ns, bound_ns);
		narrow(&t->raw, raw_ns, phc_ns, raw_ns, bound_ns);
		return done(t);
	}
	return -EBUSY;
}

static int extended(const struct clock_watch *c, clockid_t clock, struct clock_relation *to)
{
	struct offset_extended x = { .samples = SAMPLES, .clock = clock };
	int64_t before_ns, phc_ns, after_ns;

	if (ioctl(c->phc_fd, _IOWR(PTP_CLK_MAGIC, 9, struct offset_extended), &x))
		return -errno;
	for (int i = 0; i < SAMPLES; i++)
		if (stamp_ns(&x.ts[i][0], &before_ns) && stamp_ns(&x.ts[i][1], &phc_ns) &&
		    stamp_ns(&x.ts[i][2], &after_ns))
			narrow(to, before_ns, phc_ns, after_ns, slack(c));
	return is_taken(to) ? 0 : -EIO;
}

static int take_extended(const struct clock_watch *c, struct taken *t)
{
	int error = extended(c, CLOCK_REALTIME, &t->real);

	if (!error && c->raw_taken)
		error = extended(c, CLOCK_MONOTONIC_RAW, &t->raw);
	return error;
}

static int take_plain(const struct clock_watch *c, struct taken *t)
{
	struct ptp_sys_offset p = { .n_samples = SAMPLES };
	int64_t before_ns, phc_ns, after_ns;

	if (ioctl(c->phc_fd, PTP_SYS_OFFSET, &p))
		return -errno;
	for (int i = 0; i < 2 * SAMPLES; i += 2)
		if (stamp_ns(&p.ts[i], &before_ns) && stamp_ns(&p.ts[i + 1], &phc_ns) &&
		    stamp_ns(&p.ts[i + 2], &after_ns))
			narrow(&t->real, before_ns, phc_ns, after_ns, slack(c));
	return done(t);
}

static bool sandwich(const struct clock_watch *c, clockid_t clock, struct clock_relation *to)
{
	int64_t before_ns, phc_ns, after_ns;

	for (int i = 0; i < SAMPLES; i++)
		if (read_ns(clock, &before_ns) && read_ns(clock_of_fd(c->phc_fd), &phc_ns) && read_ns(clock, &after_ns))
			narrow(to, before_ns, phc_ns, after_ns, slack(c));
	return is_taken(to);
}

static int take_sandwich(const struct clock_watch *c, struct taken *t)
{
	if (!sandwich(c, CLOCK_REALTIME, &t->real))
		return errno ? -errno : -EIO;
	return sandwich(c, CLOCK_MONOTONIC_RAW, &t->raw) ? 0 : -EIO;
}

static const struct {
	const char *name;
	int (*take)(const struct clock_watch *c, struct taken *t);
} methods[CLOCK_METHODS] = {
	[CLOCK_PRECISE] = { "PTP_SYS_OFFSET_PRECISE", take_precise },
	[CLOCK_EXTENDED] = { "PTP_SYS_OFFSET_EXTENDED", take_extended },
	[CLOCK_PLAIN] = { "PTP_SYS_OFFSET", take_plain },
	[CLOCK_SANDWICH] = { "clock_gettime", take_sandwich },
};

const char *clock_method_name(const struct clock_watch *c)
{
	return methods[c->method].name;
}

/* From the best method down: one that fails now (EBUSY) does not spoil the reading. */
static int take_phc(const struct clock_watch *c, struct taken *t)
{
	int error = -ENODEV;

	for (enum clock_method m = c->method; m < CLOCK_METHODS && error; m++) {
		*t = (struct taken){ none, none };
		errno = 0;
		error = methods[m].take(c, t);
	}
	return error;
}

/* ---- A whole reading -------------------------------------------------------------------------------------------- */

/* 16.16 ppm; no rate is above 100 %, whatever a driver writes. */
static int64_t scaled_ppm_to_ppb(int64_t scaled)
{
	const int64_t limit = 1000000LL * 65536;

	return (scaled > limit ? limit : scaled < -limit ? -limit : scaled) * 1000 / 65536;
}

/* What is still to be worked off, as a rate: adjtime(3) goes by 500 ppm, the kernel's loop by a part of the rest. */
static int64_t slew_ppb(const struct timex *t)
{
	struct timex single = { .modes = ADJ_OFFSET_SS_READ };
	int64_t offset = absolute((int64_t)t->offset);
	int64_t offset_ns = (offset < NS_PER_S ? offset : NS_PER_S) * (t->status & STA_NANO ? 1 : 1000);
	int shift = PLL_SHIFT + (t->constant > 0 && t->constant < 32 ? (int)t->constant : 0);
	int64_t ppb = offset_ns >> shift; /* ns a second */

	if (adjtimex(&single) >= 0 && single.offset)
		ppb = SLEW_PPB;
	return ppb < SLEW_PPB ? ppb : SLEW_PPB;
}

static void read_system_dial(struct clock_watch *c, struct clock_dial *dial)
{
	struct timex t = { .modes = 0 };

	*dial = (struct clock_dial){ .known = adjtimex(&t) >= 0 };
	if (!dial->known)
		return;
	c->tai_s = t.tai;
	/* tick: microseconds in a hundredth of a second. */
	dial->ppb = scaled_ppm_to_ppb(t.freq);
	if (t.tick >= 9000 && t.tick <= 11000) /* the kernel takes no other */
		dial->ppb += ((int64_t)t.tick - 10000) * 100000;
	dial->slew_ppb = slew_ppb(&t);
}

static void read_phc_dial(struct clock_watch *c, struct clock_dial *dial)
{
	struct timex t = { .modes = 0 };
	int result = c->dial_fd < 0 ? -1 : clock_adjtime(clock_of_fd(c->dial_fd), &t);

	*dial = (struct clock_dial){ .known = result >= 0 };
	if (dial->known)
		dial->ppb = scaled_ppm_to_ppb(t.freq);
}

/* The same value in two brackets. One that stands contradicts itself as one that is set does, but tries do not end it. */
static bool is_frozen(const struct clock_watch *c, const struct taken *t)
{
	int64_t phc_ns[2];

	return !__builtin_add_overflow(t->real.at_ns, t->real.offset_ns, &phc_ns[0]) &&
	       !__builtin_add_overflow(t->raw.at_ns, t->raw.offset_ns, &phc_ns[1]) &&
	       distance(phc_ns[0], phc_ns[1]) <= slack(c);
}

static bool fill_relations(const struct clock_watch *c, struct clock_reading *r, const struct taken *t)
{
	struct clock_relation again, added;

	r->phc_real = t->real;
	if (!take_real_raw(c, &again) || !chain(&added, &t->real, &again))
		return false;
	if (is_taken(&t->raw)) {
		r->phc_raw = t->raw;
		return agree(&added, &t->raw) || is_frozen(c, t);
	}
	r->phc_raw = added;
	return agree(&again, &r->real_raw);
}

/* A clock that is set while the three relations are taken makes them contradict each other: then once more. */
static int take_reading(const struct clock_watch *c, struct clock_reading *r)
{
	struct taken t;

	for (int i = 0; i < TRIES; i++) {
		int error;

		if (!take_real_raw(c, &r->real_raw))
			return -EIO;
		if (c->phc_fd < 0)
			return 0;
		error = take_phc(c, &t);
		if (error)
			return error;
		r->has_phc = fill_relations(c, r, &t);
		if (r->has_phc)
			return 0;
	}
	return -EAGAIN;
}

/* ---- Rates over the last readings ------------------------------------------------------------------------------- */

static const struct clock_relation *relation(const struct clock_reading *r, enum between b)
{
	return b == PHC_REAL ? &r->phc_real : b == PHC_RAW ? &r->phc_raw : &r->real_raw;
}

static bool is_in(const struct clock_reading *r, enum between b)
{
	return r->has_phc || b == REAL_RAW;
}

/* May one go from the reading before r to r? */
static bool is_joined(const struct clock_reading *before, const struct clock_reading *r, enum between b)
{
	return is_in(before, b) && is_in(r, b) && !(b != REAL_RAW && r->broken[CLOCK_OF_NIC]) &&
	       !(b != PHC_RAW && r->broken[CLOCK_OF_SYSTEM]);
}

/* How far rates may have changed between two readings: the sum, for two clocks need not change at one moment. */
static int64_t spread_ppb(const struct clock_reading *x, const struct clock_reading *y, enum between b)
{
	int64_t sum = 0;

	for (int i = 0; i < CLOCKS; i++) {
		const struct clock_dial *d = &x->dial[i], *e = &y->dial[i];

		if (b == (i == CLOCK_OF_NIC ? REAL_RAW : PHC_RAW))
			continue;
		sum += d->known && e->known ? distance(d->ppb, e->ppb) : UNKNOWN_PPB;
		sum += larger(d->slew_ppb, e->slew_ppb);
	}
	return sum;
}

static int64_t odd(const struct clock_reading *r, enum between b)
{
	return sum_of_bounds(b == REAL_RAW ? 0 : r->odd_ns[CLOCK_OF_NIC],
			     b == PHC_RAW ? 0 : r->odd_ns[CLOCK_OF_SYSTEM]);
}

/* Changes of an offset, in ns per second, that is ppb. */
struct rate {
	bool measured;
	double ppb, bound_ppb;
};

static const struct clock_reading *kept(const struct clock_watch *c, uint64_t number)
{
	return &c->history[number % CLOCK_HISTORY];
}

static uint64_t oldest_kept(const struct clock_watch *c)
{
	return c->readings > CLOCK_HISTORY ? c->readings - CLOCK_HISTORY : 0;
}

/* Of the dials alone, for a pair of clocks of which no two readings are there. */
static struct rate rate_of_dials(const struct clock_reading *r, enum between b)
{
	const struct clock_dial *nic = &r->dial[CLOCK_OF_NIC], *system = &r->dial[CLOCK_OF_SYSTEM];
	int64_t free_ppb = b == REAL_RAW && system->known ? TOLERANCE_PPB : FREE_PPB;
	int64_t nic_ppb = nic->known ? nic->ppb : 0, system_ppb = system->known ? system->ppb : 0;

	return (struct rate){
		.ppb = (double)(b == PHC_REAL ? nic_ppb - system_ppb : b == PHC_RAW ? nic_ppb : system_ppb),
		.bound_ppb = (double)(free_ppb + spread_ppb(r, r, b)),
	};
}

/* open_ns: beside the brackets. */
static struct rate rate_between(const struct clock_reading *from, const struct clock_reading *to, enum between b,
				int64_t changes_ppb, int64_t open_ns)
{
	const struct clock_relation *x = relation(from, b), *y = relation(to, b);
	double dt_s = (double)difference(y->at_ns, x->at_ns) / NS_PER_S;

	if (dt_s <= 0)
		return (struct rate){ 0 };
	open_ns = sum_of_bounds(open_ns, sum_of_bounds(x->bound_ns, y->bound_ns));
	return (struct rate){
		.measured = true,
		.ppb = (double)difference(y->offset_ns, x->offset_ns) / dt_s,
		.bound_ppb = (double)open_ns / dt_s + (double)changes_ppb + WANDER_PPB,
	};
}

/* Do those between two readings lie where the line through both says? If not, it bends: a step too small to be seen as
 * one, or a change of rate. */
static bool is_straight(const struct clock_watch *c, uint64_t from, uint64_t to, enum between b,
			const struct rate *rate, int64_t changes_ppb)
{
	const struct clock_relation *x = relation(kept(c, from), b), *y = relation(kept(c, to), b);

	for (uint64_t n = from + 1; n < to; n++) {
		const struct clock_relation *z = relation(kept(c, n), b);
		int64_t since_ns = difference(z->at_ns, x->at_ns);
		double expected_ns = rate->ppb * ((double)since_ns / NS_PER_S);
		double off_ns = (double)difference(z->offset_ns, x->offset_ns) - expected_ns;
		double bound_ns = (double)z->bound_ns + (double)larger(x->bound_ns, y->bound_ns) +
				  (double)over(since_ns, 2 * WANDER_PPB + changes_ppb);

		if (off_ns > bound_ns || off_ns < -bound_ns)
			return false;
	}
	return true;
}

/*
 * The rate at a reading: from that one of the last two seconds that leaves the least open, as long as no line was bent.
 * Over a longer distance brackets count less, but dials may have been turned. Two readings that are too close to each
 * other say less than a quartz does by being one.
 */
static struct rate rate_at(const struct clock_watch *c, uint64_t number, enum between b)
{
	const struct clock_reading *newest = kept(c, number);
	struct rate best = rate_of_dials(newest, b);
	int64_t changes_ppb = 0, odd_ns = 0;

	for (uint64_t n = number; n > oldest_kept(c) && number - n < RATE_BACK; n--) {
		const struct clock_reading *before = kept(c, n - 1);
		struct rate r;

		if (!is_joined(before, kept(c, n), b))
			break;
		changes_ppb = larger(changes_ppb, spread_ppb(before, newest, b));
		if (n < number && distance(newest->began_ns, before->began_ns) > RATE_WINDOW_NS)
			break;
		odd_ns = sum_of_bounds(odd_ns, odd(kept(c, n), b));
		r = rate_between(before, newest, b, changes_ppb, odd_ns);
		if (!r.measured || !is_straight(c, n - 1, number, b, &r, changes_ppb))
			break;
		if (r.bound_ppb < best.bound_ppb)
			best = r;
	}
	return best;
}

/* ---- Steps, standstills, segments ------------------------------------------------------------------------------- */

static struct clock_rate rate_of(const struct clock_relation *x, const struct clock_relation *y)
{
	struct clock_rate r = { .over_ns = difference(y->at_ns, x->at_ns) };
	double dt_s = (double)r.over_ns / NS_PER_S;

	if (r.over_ns <= 0)
		return (struct clock_rate){ 0 };
	r.measured = true;
	r.ppb = (double)difference(y->offset_ns, x->offset_ns) / dt_s;
	r.bound_ppb = (double)sum_of_bounds(x->bound_ns, y->bound_ns) / dt_s;
	r.known = r.ppb > r.bound_ppb || -r.ppb > r.bound_ppb;
	return r;
}

static struct clock_rate better(struct clock_rate a, struct clock_rate b)
{
	return b.measured && (!a.measured || b.bound_ppb < a.bound_ppb) ? b : a;
}

/* From an early reading to a late one; one bad bracket at either end must not spoil it, so some of each are kept. */
static struct clock_rate segment_rate(const struct clock_track *t)
{
	struct clock_rate r = { 0 };

	for (int i = 0; i < 6 && t->segment_readings > 1; i++)
		r = better(r, rate_of(&t->first[i / 3], &t->recent[i % 3]));
	return r;
}

static void segment_end(struct clock_track *t)
{
	t->rate = better(t->rate, segment_rate(t));
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

static void note_dial(struct clock_track *t, const struct clock_dial *d)
{
	if (!d->known)
		return;
	if (!t->dial[0].known)
		t->dial[0] = *d;
	else if (d->ppb != t->dial[1].ppb)
		t->dial_changes++;
	t->dial[1] = *d;
}

/* The stamp itself: the relation was made from it. */
static int64_t phc_of(const struct clock_reading *r)
{
	int64_t phc_ns;

	return __builtin_add_overflow(r->phc_raw.at_ns, r->phc_raw.offset_ns, &phc_ns) ? 0 : phc_ns;
}

static bool stands(const struct clock_watch *c, const struct clock_reading *before, const struct clock_reading *r)
{
	return distance(phc_of(r), phc_of(before)) <= slack(c) &&
	       difference(r->phc_raw.at_ns, before->phc_raw.at_ns) >=
		       sum_of_bounds(STANDSTILL_NS, sum_of_bounds(r->phc_raw.bound_ns, before->phc_raw.bound_ns));
}

/* How far the clock is from where its rate at a reading would have taken it; the bound is what brackets, the rate and
 * the changes of rate since then leave open. */
static struct clock_jump jump_since(const struct clock_watch *c, uint64_t number, const struct clock_reading *r,
				    enum clock_which which, int64_t changes_ppb)
{
	enum between b = which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW;
	const struct clock_reading *before = kept(c, number);
	const struct clock_relation *x = relation(before, b), *y = relation(r, b);
	struct rate rate = rate_at(c, number, b);
	int64_t dt_ns = distance(y->at_ns, x->at_ns);
	int64_t bound_ppb = (int64_t)rate.bound_ppb + changes_ppb;
	double expected_ns = rate.ppb * ((double)dt_ns / NS_PER_S);

	if (expected_ns > (double)ABSURD_NS || expected_ns < -(double)ABSURD_NS)
		expected_ns = 0;
	return (struct clock_jump){
		.which = which,
		.size_ns = difference(difference(y->offset_ns, x->offset_ns), (int64_t)expected_ns),
		.bound_ns = sum_of_bounds(sum_of_bounds(x->bound_ns, y->bound_ns), over(dt_ns, bound_ppb)),
		.mono_ns = { before->began_ns, r->ended_ns },
		.mark = { before->mark, r->mark },
	};
}

static int64_t excess(const struct clock_jump *j)
{
	return difference(absolute(j->size_ns), j->bound_ns);
}

static void note_step(struct clock_watch *c, struct clock_track *t, const struct clock_jump *j)
{
	if (c->steps_kept < CLOCK_STEPS_KEPT)
		c->step[c->steps_kept++] = *j;
	counter_add(&t->steps, 1);
}

/* True: it stepped. It is looked for from the reading that leaves the least open, so a step that was hidden by one long
 * bracket is found by the next reading, and then lies anywhere since. */
static bool note_jump(struct clock_watch *c, struct clock_track *t, struct clock_reading *r, enum clock_which which)
{
	enum between b = which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW;
	int64_t changes_ppb = spread_ppb(kept(c, t->last_number), r, b);
	struct clock_jump last = jump_since(c, t->last_number, r, which, changes_ppb);
	struct clock_jump best = jump_since(c, t->last_number, r, which, changes_ppb + TOLERANCE_PPB);
	uint64_t since = t->last_number;

	for (uint64_t n = since; n > oldest_kept(c) && t->last_number - n < JUMP_BACK; n--) {
		struct clock_jump j;

		if (!is_joined(kept(c, n - 1), kept(c, n), b))
			break;
		changes_ppb += spread_ppb(kept(c, n - 1), kept(c, n), b);
		j = jump_since(c, n - 1, r, which, changes_ppb + TOLERANCE_PPB);
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
	note_step(c, t, &best);
	return true;
}

/* True: the clock's history is parted here. */
static bool note_change(struct clock_watch *c, struct clock_track *t, struct clock_reading *r, enum clock_which which)
{
	const struct clock_reading *last = kept(c, t->last_number);
	bool stood = t->standing;

	if (t->last_number < oldest_kept(c))
		return true; /* the PHC was away for as long as the history goes back */
	t->standing = which == CLOCK_OF_NIC && stands(c, last, r);
	if (t->standing) {
		if (!stood)
			counter_add(&t->standstills, 1);
		t->stood_ns += difference(r->phc_raw.at_ns, last->phc_raw.at_ns);
		return true;
	}
	if (stood)
		return true; /* it goes again; how long it still stood cannot be told from a step */
	return note_jump(c, t, r, which);
}

static void judge(struct clock_watch *c, struct clock_reading *r, enum clock_which which)
{
	struct clock_track *t = &c->track[which];

	note_dial(t, &r->dial[which]);
	if (which == CLOCK_OF_NIC && !r->has_phc)
		return;
	if (t->readings)
		r->broken[which] = note_change(c, t, r, which);
	if (r->broken[which])
		segment_end(t);
	segment_add(t, relation(r, which == CLOCK_OF_NIC ? PHC_RAW : REAL_RAW));
	t->last = which == CLOCK_OF_NIC ? r->phc_real : r->real_raw;
	t->last_number = c->readings;
	t->readings++;
}

/* ---- Publishing, and asking ------------------------------------------------------------------------------------- */

static void slot_write(struct clock_slot *s, const struct clock_relation *r, const struct rate *rate, bool valid)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_relaxed);

	atomic_store_explicit(&s->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->valid, valid, memory_order_relaxed);
	atomic_store_explicit(&s->at_ns, r->at_ns, memory_order_relaxed);
	atomic_store_explicit(&s->offset_ns, r->offset_ns, memory_order_relaxed);
	atomic_store_explicit(&s->bound_ns, r->bound_ns, memory_order_relaxed);
	atomic_store_explicit(&s->rate, rate->ppb / NS_PER_S, memory_order_relaxed);
	atomic_store_explicit(&s->rate_bound, rate->bound_ppb / NS_PER_S, memory_order_relaxed);
	atomic_store_explicit(&s->sequence, sequence + 2, memory_order_release);
}

#define LONG_BRACKET_SHIFT 6

/* Into the slot that nobody is told of yet: a writer that is interrupted never makes the measuring thread wait. */
static void publish(struct clock_watch *c)
{
	const struct clock_reading *r = kept(c, c->readings - 1);
	uint32_t other = !atomic_load_explicit(&c->current, memory_order_relaxed);
	bool broken = r->broken[CLOCK_OF_NIC] || r->broken[CLOCK_OF_SYSTEM];
	struct clock_relation relation_now = r->phc_real;
	struct rate rate;

	if (!r->has_phc && !broken)
		return; /* what is published grows old by itself */
	rate = rate_at(c, c->readings - 1, PHC_REAL);
	/* A step that a long bracket hides bends the rate too: seen to pass a bound of 0.6 ms by 0.14 %. */
	relation_now.bound_ns = sum_of_bounds(relation_now.bound_ns, relation_now.bound_ns >> LONG_BRACKET_SHIFT);
	slot_write(&c->slot[other], &relation_now, &rate,
		   !broken && r->phc_real.bound_ns < ABSURD_NS && rate.ppb < NS_PER_S && rate.ppb > -NS_PER_S);
	atomic_store_explicit(&c->current, other, memory_order_release);
}

int clock_measure(struct clock_watch *c, uint64_t mark)
{
	struct clock_reading r = { .mark = mark, .began_ns = clock_read_ns(CLOCK_MONOTONIC) };
	int error;

	read_system_dial(c, &r.dial[CLOCK_OF_SYSTEM]);
	read_phc_dial(c, &r.dial[CLOCK_OF_NIC]);
	error = take_reading(c, &r);
	r.ended_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (error) {
		c->failures++;
		c->failure = -error;
		if (!is_taken(&r.real_raw))
			return error;
	}
	judge(c, &r, CLOCK_OF_SYSTEM);
	judge(c, &r, CLOCK_OF_NIC);
	c->history[c->readings++ % CLOCK_HISTORY] = r;
	publish(c);
	return error;
}

/* False: it was being written. */
static bool slot_read(const struct clock_slot *s, struct clock_relation *r, double *rate, double *rate_bound,
		      bool *valid)
{
	uint32_t sequence = atomic_load_explicit(&s->sequence, memory_order_acquire);

	*valid = atomic_load_explicit(&s->valid, memory_order_relaxed);
	r->at_ns = atomic_load_explicit(&s->at_ns, memory_order_relaxed);
	r->offset_ns = atomic_load_explicit(&s->offset_ns, memory_order_relaxed);
	r->bound_ns = atomic_load_explicit(&s->bound_ns, memory_order_relaxed);
	*rate = atomic_load_explicit(&s->rate, memory_order_relaxed);
	*rate_bound = atomic_load_explicit(&s->rate_bound, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return !(sequence & 1) && sequence == atomic_load_explicit(&s->sequence, memory_order_relaxed);
}

bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns)
{
	struct clock_relation r;
	double rate, rate_bound;
	bool valid, whole = false;
	int64_t d_ns, offset_ns;

	/* A second turn only when two readings, a tenth of a second apart, were published during the first. */
	for (int i = 0; i < TRIES && !whole; i++)
		whole = slot_read(&c->slot[atomic_load_explicit(&c->current, memory_order_acquire)], &r, &rate,
				  &rate_bound, &valid);
	if (!whole || !valid || __builtin_sub_overflow(realtime_ns, r.at_ns, &d_ns) || d_ns > CLOCK_FRESH_NS ||
	    d_ns < -CLOCK_FRESH_NS)
		return false;
	*bound_ns = r.bound_ns + (int64_t)(rate_bound * (double)(d_ns < 0 ? -d_ns : d_ns)) + 2;
	return !__builtin_add_overflow(r.offset_ns, (int64_t)(rate * (double)d_ns), &offset_ns) &&
	       !__builtin_add_overflow(realtime_ns, offset_ns, phc_ns);
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

struct clock_rate clock_drift(const struct clock_watch *c, enum clock_which which)
{
	return better(c->track[which].rate, segment_rate(&c->track[which]));
}

const struct clock_reading *clock_last(const struct clock_watch *c)
{
	return c->readings ? kept(c, c->readings - 1) : NULL;
}

enum clock_scale clock_scale(const struct clock_watch *c)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	int64_t tai_ns = (c->tai_s ? c->tai_s : 37) * NS_PER_S; /* 37 s since 2017 (IERS Bulletin C) */

	if (!t->readings)
		return CLOCK_SCALE_UNKNOWN;
	if (distance(t->last.offset_ns, 0) <= NS_PER_S)
		return CLOCK_SCALE_UTC;
	if (distance(t->last.offset_ns, tai_ns) <= NS_PER_S)
		return CLOCK_SCALE_TAI;
	return CLOCK_SCALE_OTHER;
}

enum clock_steering clock_steering(const struct clock_watch *c, enum clock_which which)
{
	const struct clock_track *t = &c->track[which];

	if (!t->dial[0].known)
		return CLOCK_STEERING_UNKNOWN;
	return t->dial_changes ? CLOCK_STEERED : CLOCK_NOT_STEERED;
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static void read_name(struct clock_watch *c, int phc_index)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/ptp/ptp%d/clock_name", phc_index);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(c->name, sizeof(c->name), f))
			c->name[0] = '\0';
		fclose(f);
	}
	c->name[strcspn(c->name, "\n")] = '\0';
	for (char *p = c->name; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	if (!c->name[0])
		snprintf(c->name, sizeof(c->name), "ptp%d", phc_index);
}

/* The time that a read takes bounds the tick from above; a clock that moves in larger steps shows them. */
static void measure_system(struct clock_watch *c)
{
	enum { READS = 256, PATIENCE = 1 << 20 };
	int64_t last_ns = clock_read_ns(CLOCK_REALTIME), least_ns = 0;

	for (int i = 1; i < READS || (!least_ns && i < PATIENCE); i++) {
		int64_t now_ns = clock_read_ns(CLOCK_REALTIME), step_ns = now_ns - last_ns;

		if (step_ns > 0 && (!least_ns || step_ns < least_ns))
			least_ns = step_ns;
		last_ns = now_ns;
	}
	c->system_granularity_ns = least_ns ? least_ns : NS_PER_MS;
}

/* What all differences of stamps are multiples of. */
static int measure_phc(struct clock_watch *c)
{
	enum { READS = 32 };
	int64_t last_ns, phc_ns;

	errno = 0;
	if (!read_ns(clock_of_fd(c->phc_fd), &last_ns))
		return errno ? -errno : -EIO;
	for (int i = 0; i < READS; i++) {
		if (!read_ns(clock_of_fd(c->phc_fd), &phc_ns))
			return errno ? -errno : -EIO;
		c->phc_granularity_ns = common_divisor(c->phc_granularity_ns, distance(phc_ns, last_ns));
		last_ns = phc_ns;
	}
	return 0;
}

/* A driver may offer a better method and get it wrong: one that contradicts the simplest is not used. */
static bool is_usable(const struct clock_watch *c, enum clock_method m)
{
	struct taken t = { none, none }, simple = { none, none };

	if (methods[m].take(c, &t))
		return false;
	return m != CLOCK_PRECISE || take_sandwich(c, &simple) || agree(&t.real, &simple.real);
}

static int choose_method(struct clock_watch *c)
{
	struct clock_relation ignored = none;

	c->raw_taken = !extended(c, CLOCK_MONOTONIC_RAW, &ignored);
	for (c->method = CLOCK_PRECISE; c->method < CLOCK_SANDWICH; c->method++)
		if (is_usable(c, c->method))
			return 0;
	return is_usable(c, CLOCK_SANDWICH) ? 0 : -EIO;
}

static int open_device(struct clock_watch *c, const char *path)
{
	static const struct {
		int error;
		const char *cure;
	} cures[] = {
		{ EACCES, ": run as root, or allow to read it" },
		{ EPERM, ": run as root, or allow this container to use it" },
		{ ENOENT, ": pass it into this container, or run 'modprobe ptp'" },
	};
	const char *cure = "";

	c->phc_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->phc_fd >= 0)
		return 0;
	for (size_t i = 0; i < sizeof(cures) / sizeof(cures[0]); i++)
		if (cures[i].error == errno)
			cure = cures[i].cure;
	int error = -errno;

	snprintf(c->why, sizeof(c->why), "%s: %s%s", path, strerror(-error), cure);
	return error;
}

/* Older kernels want a descriptor that can write, though nothing is to be written (kernel/time/posix-clock.c; 6.12.95
 * does not any more). What fails here leaves the dial unknown. */
static void open_dial(struct clock_watch *c, const char *path)
{
	struct timex t = { .modes = 0 };

	c->dial_fd = c->phc_fd;
	if (clock_adjtime(clock_of_fd(c->phc_fd), &t) >= 0 || errno != EACCES)
		return;
	c->dial_fd = open(path, O_RDWR | O_CLOEXEC);
}

int clock_open(struct clock_watch *c, int phc_index)
{
	char path[32];
	int error;

	memset(c, 0, sizeof(*c));
	c->phc_fd = c->dial_fd = -1;
	measure_system(c);
	if (phc_index < 0) {
		snprintf(c->why, sizeof(c->why), "the NIC has no clock of its own (PHC)");
		return -ENODEV;
	}
	read_name(c, phc_index);
	snprintf(path, sizeof(path), "/dev/ptp%d", phc_index);
	error = open_device(c, path);
	if (error)
		return error;
	error = measure_phc(c);
	if (!error)
		error = choose_method(c);
	if (error) {
		snprintf(c->why, sizeof(c->why), "%s cannot be read: %s", path, strerror(-error));
		clock_close(c);
		return error;
	}
	open_dial(c, path);
	return 0;
}

void clock_close(struct clock_watch *c)
{
	if (c->dial_fd >= 0 && c->dial_fd != c->phc_fd)
		close(c->dial_fd);
	if (c->phc_fd >= 0)
		close(c->phc_fd);
	c->phc_fd = c->dial_fd = -1;
}

/* ---- The other host's PHC --------------------------------------------------------------------------------------- */

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
