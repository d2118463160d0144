/* build: wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clocks against made ones, whose truth is known: they are exact to 10^-9 ns, every read takes a time of its own,
 * and what is read of a PHC is of any moment in that time. Where there are PHCs (in the lab), against these too.
 */
#include "host/clock.c"

#include "util.h"

#include <pthread.h>

/* ---- Made clocks ------------------------------------------------------------------------------------------------ */

enum { RAW, REAL, PHC, MADE };

#define PHC_FD 1000
#define S NS_PER_S

struct made {
	__int128 value; /* 10^-9 ns */
	int64_t ppb; /* against RAW */
	bool stands;
};

static struct {
	bool on;
	int64_t now_ns; /* true time, which is that of RAW */
	struct made clock[MADE];
	int64_t dial_ppb[MADE]; /* as read */
	int64_t adjtime_us, pll_offset_ns;
	int tai_s, constant;
	int ioctl_error[CLOCK_METHODS]; /* errno */
	int busy; /* times that PRECISE is busy */
	int64_t precise_wrong_ns;
	bool no_raw, no_adjtimex, no_phc_dial, no_device, dial_wants_write;
	int open_error, phc_error;
	const char *name;
	int64_t phc_tick_ns, spike_every; /* a read in so many takes up to 100 us */
	int64_t cost_ns; /* of a read of the PHC, at most; a tenth at least */
	int64_t event_at_ns; /* in the middle of whatever goes on then */
	void (*event)(void);
	uint64_t changes; /* of a rate or a step: what no earlier reading can know of */
	int opened, closed;
	bool garbage;
} fake;

static void advance(int64_t ns)
{
	for (int i = 0; i < MADE; i++)
		if (!fake.clock[i].stands)
			fake.clock[i].value += (__int128)ns * (S + fake.clock[i].ppb);
	fake.now_ns += ns;
}

static void pass(int64_t ns)
{
	if (fake.event && fake.now_ns + ns >= fake.event_at_ns) {
		void (*event)(void) = fake.event;
		int64_t before_ns = fake.event_at_ns - fake.now_ns;

		fake.event = NULL;
		advance(before_ns);
		event();
		ns -= before_ns;
	}
	advance(ns);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t rest_of(int64_t a, int64_t b)
{
	return a % b < 0 ? a % b + b : a % b;
}

/* Down, as clocks are read. */
static int64_t shows(int which)
{
	__int128 v = fake.clock[which].value;
	int64_t ns = (int64_t)(v / S - (v % S < 0));

	if (which == PHC && fake.phc_tick_ns > 1)
		ns -= rest_of(ns, fake.phc_tick_ns);
	return ns;
}

static void step(int which, int64_t ns)
{
	fake.clock[which].value += (__int128)ns * S;
	fake.changes++;
}

/* By its dial, as a servo does. */
static void turn(int which, int64_t ppb)
{
	fake.clock[which].ppb += ppb - fake.dial_ppb[which];
	fake.dial_ppb[which] = ppb;
	fake.changes++;
}

static int64_t read_system(int which)
{
	pass(10 + (int64_t)util_below(30));
	return shows(which);
}

static int64_t read_phc(void)
{
	int64_t took_ns = fake.cost_ns / 10 + (int64_t)util_below((uint64_t)fake.cost_ns), value_ns;

	if (fake.spike_every && util_below((uint64_t)fake.spike_every) == 0)
		took_ns += (int64_t)util_below(100000);
	int64_t before_ns = (int64_t)util_below((uint64_t)took_ns + 1);

	pass(before_ns);
	value_ns = shows(PHC);
	pass(took_ns - before_ns);
	return value_ns;
}

static struct ptp_clock_time stamp(int64_t ns)
{
	struct ptp_clock_time t = { .sec = floor_div(ns, S), .nsec = (uint32_t)rest_of(ns, S) };

	if (fake.garbage) {
		util_random_bytes(&t, sizeof(t));
		if (util_below(2))
			t.sec = (int64_t)util_below(18000000000ULL) - 9000000000LL;
		t.nsec %= 1100000000U;
	}
	return t;
}

static int fail_with(int error)
{
	errno = error;
	return -1;
}

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	if (!fake.on)
		return __real_clock_gettime(clock, t);
	if (clock < 0) {
		assert_int_equal(clock, clock_of_fd(PHC_FD));
		if (fake.phc_error || fake.ioctl_error[CLOCK_SANDWICH])
			return fail_with(fake.phc_error ? fake.phc_error : fake.ioctl_error[CLOCK_SANDWICH]);
		ns = read_phc();
	} else if (clock == CLOCK_REALTIME) {
		ns = read_system(REAL);
	} else {
		assert_true(clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC);
		ns = read_system(RAW);
	}
	t->tv_sec = floor_div(ns, S);
	t->tv_nsec = rest_of(ns, S);
	return 0;
}

static int precise(struct ptp_sys_offset_precise *p)
{
	if (fake.busy > 0) {
		fake.busy--;
		return fail_with(EBUSY);
	}
	pass(50 + (int64_t)util_below(100));
	int64_t error_ns = (int64_t)util_below(200) - 100;

	p->device = stamp(shows(PHC) + fake.precise_wrong_ns);
	p->sys_realtime = stamp(shows(REAL) + error_ns);
	p->sys_monoraw = stamp(shows(RAW) + error_ns);
	pass(5000);
	return 0;
}

static int three(struct offset_extended *x)
{
	int which = x->clock == CLOCK_MONOTONIC_RAW ? RAW : REAL;

	if (x->samples > PTP_MAX_SAMPLES || x->reserved[0] || x->reserved[1] ||
	    (x->clock != CLOCK_REALTIME && (fake.no_raw || x->clock != CLOCK_MONOTONIC_RAW)))
		return fail_with(EINVAL);
	for (uint32_t i = 0; i < x->samples; i++) {
		x->ts[i][0] = stamp(read_system(which));
		x->ts[i][1] = stamp(read_phc());
		x->ts[i][2] = stamp(read_system(which));
	}
	return 0;
}

static int interleaved(struct ptp_sys_offset *p)
{
	if (p->n_samples > PTP_MAX_SAMPLES)
		return fail_with(EINVAL);
	for (uint32_t i = 0; i < 2 * p->n_samples; i += 2) {
		p->ts[i] = stamp(read_system(REAL));
		p->ts[i + 1] = stamp(read_phc());
	}
	p->ts[2 * p->n_samples] = stamp(read_system(REAL));
	return 0;
}

int __real_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument);
int __wrap_ioctl(int fd, unsigned long request, void *argument)
{
	if (!fake.on)
		return __real_ioctl(fd, request, argument);
	assert_int_equal(fd, PHC_FD);
	if (fake.phc_error)
		return fail_with(fake.phc_error);
	enum clock_method m = request == PTP_SYS_OFFSET_PRECISE ? CLOCK_PRECISE :
			      request == PTP_SYS_OFFSET_EXTENDED ? CLOCK_EXTENDED : CLOCK_PLAIN;

	assert_true(m != CLOCK_PLAIN || request == PTP_SYS_OFFSET);
	if (fake.ioctl_error[m])
		return fail_with(fake.ioctl_error[m]);
	return m == CLOCK_PRECISE ? precise(argument) : m == CLOCK_EXTENDED ? three(argument) : interleaved(argument);
}

static long scaled(int64_t ppb)
{
	return (long)(ppb * 65536 / 1000);
}

int __real_adjtimex(struct timex *t);
int __wrap_adjtimex(struct timex *t);
int __wrap_adjtimex(struct timex *t)
{
	if (!fake.on)
		return __real_adjtimex(t);
	if (fake.no_adjtimex)
		return fail_with(EPERM);
	if (t->modes == ADJ_OFFSET_SS_READ) {
		t->offset = fake.adjtime_us;
		return TIME_OK;
	}
	assert_int_equal(t->modes, 0);
	*t = (struct timex){ .freq = scaled(fake.dial_ppb[REAL] % 100000), .offset = fake.pll_offset_ns,
			     .status = STA_NANO, .tick = 10000 + fake.dial_ppb[REAL] / 100000, .tai = fake.tai_s,
			     .constant = fake.constant };
	if (fake.garbage) {
		t->freq = (long)util_random();
		t->offset = (long)util_random();
		t->tick = (long)util_random();
		t->constant = (long)util_random();
		t->status = util_below(2) ? STA_NANO : 0;
	}
	return TIME_OK;
}

int __real_clock_adjtime(clockid_t clock, struct timex *t);
int __wrap_clock_adjtime(clockid_t clock, struct timex *t);
int __wrap_clock_adjtime(clockid_t clock, struct timex *t)
{
	if (!fake.on)
		return __real_clock_adjtime(clock, t);
	assert_int_equal(t->modes, 0);
	if (fake.dial_wants_write && clock == clock_of_fd(PHC_FD))
		return fail_with(EACCES);
	if (fake.no_phc_dial)
		return fail_with(EOPNOTSUPP);
	t->freq = fake.garbage ? (long)util_random() : scaled(fake.dial_ppb[PHC]);
	return 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	if (!fake.on)
		return __real_open(path, flags);
	assert_string_equal(path, "/dev/ptp7");
	assert_true(flags & O_CLOEXEC);
	assert_true((flags & O_ACCMODE) == O_RDONLY || fake.dial_wants_write);
	if (fake.open_error)
		return fail_with(fake.open_error);
	return PHC_FD + fake.opened++;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	if (!fake.on)
		return __real_close(fd);
	assert_true(fd >= PHC_FD && fd < PHC_FD + fake.opened);
	fake.closed++;
	return 0;
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!fake.on)
		return __real_fopen(path, mode);
	assert_string_equal(path, "/sys/class/ptp/ptp7/clock_name");
	return fake.name ? fmemopen((void *)fake.name, strlen(fake.name), "r") : NULL;
}

/* ---- A run with them -------------------------------------------------------------------------------------------- */

static struct clock_watch c;

static uint64_t changes_known; /* fake.changes at the last reading */
static int asked, answered;

static int made_clocks(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.cost_ns = 2000;
	fake.phc_tick_ns = 1;
	fake.name = "a clock\n";
	fake.clock[RAW].value = (__int128)1000 * S * S;
	fake.clock[REAL].value = (__int128)1780000000 * S * S;
	fake.clock[PHC].value = (__int128)1780000000 * S * S;
	fake.on = true;
	changes_known = 0;
	asked = answered = 0;
	return 0;
}

static int real_clocks(void **state)
{
	(void)state;
	fake.on = false;
	return 0;
}

static void open_made(void)
{
	int error = clock_open(&c, 7);

	if (error)
		fail_msg("clock_open: %d, %s", error, c.why);
	assert_string_equal(c.why, "");
}

static void measure(void)
{
	uint64_t before = fake.changes;
	int error = clock_measure(&c, fake.changes);

	if (error)
		fail_msg("clock_measure: %d", error);
	changes_known = before;
}

/* The truth now, and whether what is said of it holds. */
static void ask(bool must_answer)
{
	int64_t real_ns = shows(REAL), phc_ns = shows(PHC), said_ns, bound_ns;
	bool unknown_change = fake.changes != changes_known;

	asked++;
	if (!clock_to_phc(&c, real_ns, &said_ns, &bound_ns)) {
		assert_true(!must_answer || unknown_change);
		return;
	}
	answered++;
	if (!unknown_change && distance(said_ns, phc_ns) > bound_ns)
		fail_msg("at %lld: %lld ns off, bound %lld", (long long)real_ns, (long long)(said_ns - phc_ns),
			 (long long)bound_ns);
}

/* Ten readings a second, and questions between them. */
static void run_for(int64_t ns, bool must_answer)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		for (int i = 0; i < 4; i++) {
			pass(20000000 + (int64_t)util_below(10000000));
			ask(must_answer);
		}
		measure();
	}
}

static void check_rate(enum clock_which which, double true_ppb)
{
	struct clock_rate r = clock_drift(&c, which);

	assert_true(r.measured);
	if (r.ppb - true_ppb > r.bound_ppb || true_ppb - r.ppb > r.bound_ppb)
		fail_msg("rate %.3f +- %.3f ppb is not %.3f", r.ppb, r.bound_ppb, true_ppb);
	assert_int_equal(r.known, r.ppb > r.bound_ppb || r.ppb < -r.bound_ppb);
}

static void assert_no_steps(void)
{
	for (int i = 0; i < CLOCKS; i++)
		if (counter_get(&c.track[i].steps) || counter_get(&c.track[i].standstills))
			fail_msg("clock %d: %llu steps, %llu standstills, largest %lld +- %lld", i,
				 (unsigned long long)counter_get(&c.track[i].steps),
				 (unsigned long long)counter_get(&c.track[i].standstills),
				 (long long)c.track[i].largest.size_ns, (long long)c.track[i].largest.bound_ns);
	assert_int_equal(c.steps_kept, 0);
}

/* ---- Rates and bounds ------------------------------------------------------------------------------------------- */

static const int64_t drifts_ppb[] = { 0, 50, -50, 50000, -50000, 500000, -500000 };

/* The four methods, with and without CLOCK_MONOTONIC_RAW, each with every drift: nothing leaves its bound. */
static void drift_by_every_method(void **state)
{
	for (int m = 0; m < CLOCK_METHODS; m++) {
		for (size_t d = 0; d < COUNT_OF(drifts_ppb); d++) {
			made_clocks(state);
			for (int i = 0; i < m; i++)
				fake.ioctl_error[i] = EOPNOTSUPP;
			fake.no_raw = d % 2;
			fake.clock[PHC].ppb = drifts_ppb[d];
			step(PHC, (int64_t)util_below(2000000) - 1000000);
			fake.spike_every = (int64_t)util_below(3) * 4;
			fake.phc_tick_ns = 1 << util_below(5);
			fake.changes = 0;
			open_made();
			assert_int_equal(c.method, m);
			measure();
			run_for(20 * S, true);
			assert_no_steps();
			pass(1);
			check_rate(CLOCK_OF_NIC, (double)drifts_ppb[d]);
			check_rate(CLOCK_OF_SYSTEM, 0);
			assert_int_equal(clock_scale(&c), CLOCK_SCALE_UTC);
			assert_int_equal(clock_steering(&c, CLOCK_OF_NIC), CLOCK_NOT_STEERED);
			clock_close(&c);
			assert_int_equal(fake.opened, fake.closed);
		}
	}
}

/* Two readings must do: where no other CPU is, there are no more. */
static void two_readings(void **state)
{
	(void)state;
	for (size_t d = 0; d < COUNT_OF(drifts_ppb); d++) {
		made_clocks(state);
		fake.clock[PHC].ppb = drifts_ppb[d];
		open_made();
		measure();
		int64_t began_ns = fake.now_ns;

		while (fake.now_ns < began_ns + 600 * S) {
			pass(10 * S);
			ask(false);
		}
		assert_int_equal(answered, 0); /* all too old */
		measure();
		assert_no_steps();
		check_rate(CLOCK_OF_NIC, (double)drifts_ppb[d]);
		struct clock_rate r = clock_drift(&c, CLOCK_OF_NIC);

		assert_true(r.over_ns >= 600 * S && r.bound_ppb < 20);
		assert_int_equal(r.known, d > 0);
	}
}

/* A servo on the PHC, a daemon on the system clock, its corrections worked off: none of them leaves a bound. */
static void steered_clocks(void **state)
{
	(void)state;
	for (int round = 0; round < 30; round++) {
		made_clocks(state);
		fake.clock[PHC].ppb = (int64_t)util_below(200000) - 100000;
		fake.no_raw = round % 2;
		fake.no_adjtimex = round % 7 == 6;
		fake.no_phc_dial = round % 5 == 4;
		open_made();
		measure();
		for (int i = 0; i < 20; i++) {
			run_for((int64_t)util_below(2 * S), false);
			pass((int64_t)util_below(100000000));
			if (!fake.no_phc_dial)
				turn(PHC, (int64_t)util_below(200000) - 100000);
			if (util_below(2))
				turn(REAL, (int64_t)util_below(1000000) - 500000);
		}
		run_for(S, false);
		assert_no_steps();
		assert_true(answered > asked / 2);
		assert_int_equal(clock_steering(&c, CLOCK_OF_NIC),
				 fake.no_phc_dial ? CLOCK_STEERING_UNKNOWN : CLOCK_STEERED);
		assert_int_equal(clock_steering(&c, CLOCK_OF_SYSTEM),
				 fake.no_adjtimex ? CLOCK_STEERING_UNKNOWN : CLOCK_STEERED);
	}
}

static int64_t slew_at;

static void slew_begins(void)
{
	fake.clock[REAL].ppb += 500000;
	fake.adjtime_us = 1000;
	fake.changes++;
	slew_at = fake.now_ns;
}

static void slew_ends(void)
{
	fake.clock[REAL].ppb -= 500000;
	fake.adjtime_us = 0;
	fake.changes++;
}

/* adjtime(3): the dial shows nothing, only that there is something left. */
static void a_correction_is_worked_off(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(3 * S, true);
	for (int i = 0; i < 20; i++) {
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(S);
		fake.event = slew_begins;
		run_for(S + S / 2, false);
		fake.event_at_ns = slew_at + 2 * S;
		fake.event = slew_ends;
		run_for(2 * S, false);
	}
	assert_no_steps();
}

/* The kernel's own loop: a part of what is left in each second, so the rate changes every second and no dial does. */
static void the_kernels_loop(void **state)
{
	(void)state;
	fake.constant = 2;
	open_made();
	measure();
	run_for(S, true);
	fake.pll_offset_ns = 4000000;
	for (int second = 0; second < 30; second++) {
		int64_t part_ns = fake.pll_offset_ns >> (2 + fake.constant);

		fake.clock[REAL].ppb = part_ns;
		fake.changes += second == 0;
		run_for(S, second > 0);
		fake.pll_offset_ns -= part_ns;
	}
	assert_no_steps();
	assert_true(clock_last(&c)->dial[CLOCK_OF_SYSTEM].slew_ppb > 0);
}

/* A quartz in a room: its rate walks about, and nobody says so. */
static void a_rate_that_wanders(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 30000;
	open_made();
	measure();
	for (int i = 0; i < 600; i++) {
		fake.clock[PHC].ppb = 30000 + (int64_t)util_below(900) - 450;
		run_for(S / 10, true);
	}
	assert_no_steps();
}

/* More than a quartz does, less than a step makes, and without a dial: the next reading knows of it. */
static void a_rate_that_changes_by_itself(void **state)
{
	(void)state;
	open_made();
	measure();
	for (int i = 0; i < 20; i++) {
		run_for(2 * S, false);
		pass((int64_t)util_below(S / 10));
		fake.clock[PHC].ppb = i % 2 ? 0 : 20000;
		fake.changes++;
	}
	assert_no_steps();
}

/* What began or ended with a bracket of a millisecond: the readings beside it are taken. */
static void a_bad_bracket_at_either_end(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 20000;
	open_made();
	fake.ioctl_error[CLOCK_PRECISE] = EBUSY;
	fake.cost_ns = 2000000;
	measure();
	fake.cost_ns = 2000;
	run_for(10 * S, true);
	fake.cost_ns = 2000000;
	measure();
	check_rate(CLOCK_OF_NIC, 20000);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).bound_ppb < 2000);
	/* A later and shorter stretch does not replace it. */
	fake.cost_ns = 2000;
	step(PHC, NS_PER_MS);
	run_for(S, false);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).over_ns > 6 * S);
	check_rate(CLOCK_OF_NIC, 20000);
}

/* Days, and a reading now and then that took long. */
static void days(void **state)
{
	(void)state;
	fake.clock[PHC].ppb = 12345;
	fake.clock[REAL].ppb = fake.dial_ppb[REAL] = -7000;
	fake.spike_every = 3;
	open_made();
	for (int64_t end_ns = fake.now_ns + 5 * 86400 * S; fake.now_ns < end_ns;) {
		measure();
		pass(10 * S + (int64_t)util_below(S));
		fake.cost_ns = 500 + (int64_t)util_below(5000);
	}
	measure();
	assert_no_steps();
	check_rate(CLOCK_OF_NIC, 12345);
	check_rate(CLOCK_OF_SYSTEM, -7000);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).bound_ppb < 0.1);
	assert_int_equal(clock_scale(&c), CLOCK_SCALE_OTHER); /* 19 ppm for five days */
	assert_true(c.readings > 30000);
}

/* What a bound is worth: on a quiet machine it is little more than the brackets. */
static void bounds_are_narrow(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	fake.clock[PHC].ppb = 50000;
	open_made();
	measure();
	run_for(5 * S, true);
	pass(100 * NS_PER_MS);
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	print_message("extrapolated by 0.1 s: +- %lld ns\n", (long long)bound_ns);
	assert_true(bound_ns < 2 * fake.cost_ns);
}

static void the_shortest_bracket(void **state)
{
	struct clock_relation r = none;

	(void)state;
	assert_false(is_taken(&r));
	narrow(&r, 1000, 5000, 2000, 20);
	assert_int_equal(r.at_ns, 1500);
	assert_int_equal(r.offset_ns, 3500);
	assert_true(r.bound_ns >= 520 && r.bound_ns < 530);
	narrow(&r, 3000, 7000, 3101, 20); /* shorter */
	assert_int_equal(r.at_ns, 3050);
	assert_int_equal(r.offset_ns, 3950);
	assert_true(r.bound_ns >= 71 && r.bound_ns < 75);
	narrow(&r, 4000, 8000, 4200, 20); /* longer */
	narrow(&r, 5000, 9000, 4999, 20); /* set back in between */
	narrow(&r, 5000, INT64_MIN, 5010, 20);
	narrow(&r, INT64_MIN, 0, INT64_MAX, 20);
	assert_int_equal(r.at_ns, 3050);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

static int step_which;
static int64_t step_by_ns;
static int64_t stepped_at_ns;

static void step_now(void)
{
	step(step_which, step_by_ns);
	stepped_at_ns = shows(RAW);
}

static void check_step(enum clock_which which, int64_t by_ns)
{
	const struct clock_jump *j = &c.step[c.steps_kept - 1];

	assert_true(c.steps_kept > 0);
	assert_int_equal(j->which, which);
	if (distance(j->size_ns, by_ns) > j->bound_ns)
		fail_msg("a step of %lld +- %lld is not one of %lld", (long long)j->size_ns, (long long)j->bound_ns,
			 (long long)by_ns);
	if (stepped_at_ns < j->mono_ns[0] || stepped_at_ns > j->mono_ns[1] || j->mono_ns[1] - j->mono_ns[0] > S / 3)
		fail_msg("%lld is not between %lld and %lld", (long long)stepped_at_ns, (long long)j->mono_ns[0],
			 (long long)j->mono_ns[1]);
	assert_true(j->mark[1] >= j->mark[0]);
	assert_true(excess(&c.track[which].largest) > 0);
}

/* Of either clock, of many sizes, anywhere between readings and within them; igb's wrap among them. */
static void steps_of_each_clock(void **state)
{
	static const int64_t sizes_ns[] = { 20000, -20000, 1000000, -1000000, S, -S, 37 * S, -37 * S, 1LL << 41,
					    -(1LL << 41), 400000 * S, -1780000000 * S };

	for (int which = REAL; which <= PHC; which++) {
		for (size_t i = 0; i < 2 * COUNT_OF(sizes_ns); i++) {
			enum clock_which w = which == PHC ? CLOCK_OF_NIC : CLOCK_OF_SYSTEM;

			made_clocks(state);
			fake.no_raw = i % 2;
			fake.clock[PHC].ppb = drifts_ppb[util_below(5)];
			open_made();
			measure();
			run_for(3 * S, true);
			step_which = which;
			step_by_ns = sizes_ns[i / 2];
			fake.event_at_ns = fake.now_ns + S / 2 + (int64_t)util_below(S / 10);
			fake.event = step_now;
			run_for(S, false);
			assert_int_equal(counter_get(&c.track[w].steps), 1);
			assert_int_equal(counter_get(&c.track[!w].steps), 0);
			check_step(w, step_by_ns);
			run_for(2 * S, true);
			assert_int_equal(c.steps_kept, 1);
			check_rate(CLOCK_OF_NIC, (double)fake.clock[PHC].ppb);
			check_rate(CLOCK_OF_SYSTEM, 0);
		}
	}
}

/* A step between the calls of one reading: it is taken again, and the step found as any other. */
static void a_step_within_a_reading(void **state)
{
	int seen = 0;

	for (int i = 0; i < 200; i++) {
		made_clocks(state);
		fake.no_raw = i % 2;
		fake.ioctl_error[CLOCK_PRECISE] = i % 8 < 4 ? EOPNOTSUPP : 0;
		open_made();
		measure();
		run_for(S, true);
		step_which = i % 4 < 2 ? REAL : PHC;
		step_by_ns = util_below(2) ? 3 * NS_PER_MS : -3 * NS_PER_MS;
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(4000);
		fake.event = step_now;
		measure();
		if (fake.event)
			continue; /* the reading was quicker */
		changes_known = fake.changes - 1; /* it may have been in the reading or after it */
		ask(false);
		seen += (int)c.steps_kept;
		pass(S / 10);
		measure();
		pass(S / 10);
		measure();
		ask(true);
		assert_int_equal(c.steps_kept, 1);
		check_step(i % 4 < 2 ? CLOCK_OF_SYSTEM : CLOCK_OF_NIC, step_by_ns);
	}
	assert_true(seen > 20);
}

/* The reading right after the step takes so long that it could be an error of its own; the next one tells. */
static void a_step_behind_a_long_bracket(void **state)
{
	int hidden = 0;

	for (int i = 0; i < 20; i++) {
		made_clocks(state);
		fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
		fake.clock[PHC].ppb = -40000;
		open_made();
		measure();
		run_for(3 * S, true);
		step_which = PHC;
		step_by_ns = i % 2 ? 60000 : -60000;
		fake.event_at_ns = fake.now_ns + (int64_t)util_below(S / 20);
		fake.event = step_now;
		for (int n = 0; n < 4; n++) {
			pass(S / 40);
			ask(false);
		}
		fake.cost_ns = 8000000;
		measure();
		fake.cost_ns = 2000;
		hidden += c.steps_kept == 0;
		run_for(S, false);
		assert_int_equal(c.steps_kept, 1);
		check_step(CLOCK_OF_NIC, step_by_ns);
		run_for(3 * S, true);
		assert_int_equal(c.steps_kept, 1);
		check_rate(CLOCK_OF_NIC, -40000);
	}
	assert_true(hidden > 5);
}

/* Steps that are smaller than what a change of rate might do are not told as such, but they are in the bounds. */
static void small_steps(void **state)
{
	for (int i = 0; i < 20; i++) {
		made_clocks(state);
		open_made();
		measure();
		run_for(3 * S, true);
		pass((int64_t)util_below(S / 10));
		step(i % 4 < 2 ? PHC : REAL, (i % 2 ? 1 : -1) * (1000 + (int64_t)util_below(3500)));
		run_for(5 * S, false);
		assert_no_steps();
	}
}

/* Nothing is said about times after a step until two readings agree, nor about those between. */
static void nothing_is_said_around_a_step(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	measure();
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	run_for(S, true);
	pass(S / 20);
	step(PHC, NS_PER_MS);
	pass(S / 20);
	measure();
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	pass(S / 10);
	measure();
	ask(true);
	assert_true(clock_to_phc(&c, shows(REAL) + S - S / 100, &said_ns, &bound_ns));
	assert_false(clock_to_phc(&c, shows(REAL) + S + S / 100, &said_ns, &bound_ns));
	assert_true(clock_to_phc(&c, shows(REAL) - S + S / 100, &said_ns, &bound_ns));
	assert_false(clock_to_phc(&c, shows(REAL) - S - S / 100, &said_ns, &bound_ns));
}

static void more_steps_than_are_kept(void **state)
{
	(void)state;
	open_made();
	measure();
	for (int i = 0; i < CLOCK_STEPS_KEPT + 10; i++) {
		pass(S / 10);
		step(PHC, NS_PER_MS);
		measure();
	}
	assert_int_equal(c.steps_kept, CLOCK_STEPS_KEPT);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), CLOCK_STEPS_KEPT + 10);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_SYSTEM].steps), 0);
}

/* Between the brackets of one reading it falls behind by more than they leave open. */
static void a_clock_that_stands_still_and_is_read_slowly(void **state)
{
	(void)state;
	fake.cost_ns = 200000;
	fake.ioctl_error[CLOCK_PRECISE] = EOPNOTSUPP;
	open_made();
	measure();
	run_for(2 * S, false);
	fake.clock[PHC].stands = true;
	fake.changes++;
	for (int i = 0; i < 10; i++) {
		pass(S / 10);
		measure();
	}
	assert_int_equal(c.failures, 0);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	assert_true(c.track[CLOCK_OF_NIC].stood_ns > S / 2);
}

static void a_clock_that_stands_still(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	fake.clock[PHC].ppb = 30000;
	open_made();
	measure();
	run_for(3 * S, true);
	fake.clock[PHC].stands = true;
	fake.changes++;
	pass(S / 10);
	for (int i = 0; i < 10; i++) {
		measure();
		assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
		pass(S / 10);
	}
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	assert_true(c.track[CLOCK_OF_NIC].standing);
	assert_true(distance(c.track[CLOCK_OF_NIC].stood_ns, S - S / 10) < S / 100);
	fake.clock[PHC].stands = false;
	fake.changes++;
	pass(S / 20);
	measure();
	pass(S / 10);
	run_for(3 * S, false);
	assert_false(c.track[CLOCK_OF_NIC].standing);
	ask(true);
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].standstills), 1);
	/* When it stopped it was behind at the next reading, as after a step. */
	assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 1);
	assert_true(c.step[0].size_ns < -S / 20);
	check_rate(CLOCK_OF_NIC, 30000);
}

/* A clock that moves once in a millisecond does not stand still because it was read twice in one. */
static void a_coarse_clock(void **state)
{
	(void)state;
	fake.phc_tick_ns = NS_PER_MS;
	fake.cost_ns = 200000; /* or the tick would not show */
	open_made();
	for (int i = 0; i < 50; i++) {
		measure();
		measure();
		pass(S / 20);
		ask(true);
	}
	measure();
	assert_no_steps();
}

/* The largest is one that exceeds its bound, not one that a long bracket would allow. */
static void the_largest_jump(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(3 * S, true);
	fake.cost_ns = 2000000;
	pass(S / 10);
	measure();
	pass(S / 10);
	measure();
	fake.cost_ns = 2000;
	pass(S / 10);
	measure();
	assert_no_steps();
	assert_true(excess(&c.track[CLOCK_OF_NIC].largest) <= 0);
	/* As such a reading may leave it. */
	c.track[CLOCK_OF_NIC].largest.size_ns = 400000;
	c.track[CLOCK_OF_NIC].largest.bound_ns = 500000;
	run_for(3 * S, true);
	step(PHC, -70000);
	run_for(S, false);
	assert_true(distance(c.track[CLOCK_OF_NIC].largest.size_ns, -70000) < 15000);
}

/* Longer than the history goes back: whatever it shows then is no step of one reading to the next. */
static void a_clock_that_was_away_for_long(void **state)
{
	(void)state;
	open_made();
	measure();
	run_for(S, true);
	fake.phc_error = ENODEV;
	for (int i = 0; i < CLOCK_HISTORY + 10; i++) {
		assert_int_equal(clock_measure(&c, 0), -ENODEV);
		pass(S / 10);
	}
	step(PHC, S);
	fake.phc_error = 0;
	measure();
	pass(S / 10);
	measure();
	ask(true);
	assert_int_equal(c.steps_kept, 0);
	run_for(S, true);
}

/* ---- What may be missing ---------------------------------------------------------------------------------------- */

static void no_clock_is_no_failure(void **state)
{
	static const struct {
		int index, open_error, phc_error, result;
		const char *says;
	} rows[] = {
		{ -1, 0, 0, -ENODEV, "the NIC has no clock of its own (PHC)" },
		{ 7, EACCES, 0, -EACCES, "/dev/ptp7: Permission denied: run as root, or allow to read it" },
		{ 7, ENOENT, 0, -ENOENT,
		  "/dev/ptp7: No such file or directory: pass it into this container, or run 'modprobe ptp'" },
		{ 7, EMFILE, 0, -EMFILE, "/dev/ptp7: Too many open files" },
		{ 7, 0, ENODEV, -ENODEV, "/dev/ptp7 cannot be read: No such device" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t said_ns, bound_ns;

		made_clocks(state);
		fake.open_error = rows[i].open_error;
		fake.phc_error = rows[i].phc_error;
		assert_int_equal(clock_open(&c, rows[i].index), rows[i].result);
		assert_string_equal(c.why, rows[i].says);
		assert_int_equal(fake.opened, fake.closed);
		assert_null(clock_last(&c));
		/* The system clock is watched all the same. */
		for (int n = 0; n < 20; n++) {
			assert_int_equal(clock_measure(&c, 0), 0);
			assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
			pass(S / 10);
		}
		step(REAL, S);
		assert_int_equal(clock_measure(&c, 0), 0);
		assert_int_equal(counter_get(&c.track[CLOCK_OF_SYSTEM].steps), 1);
		assert_int_equal(counter_get(&c.track[CLOCK_OF_NIC].steps), 0);
		assert_false(clock_drift(&c, CLOCK_OF_NIC).measured);
		assert_int_equal(clock_scale(&c), CLOCK_SCALE_UNKNOWN);
		clock_close(&c);
	}
}

static void a_clock_that_goes_away(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	measure();
	run_for(S, true);
	fake.phc_error = ENODEV;
	assert_int_equal(clock_measure(&c, 0), -ENODEV);
	assert_true(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns)); /* by the last one */
	pass(S);
	assert_int_equal(clock_measure(&c, 0), -ENODEV);
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
	assert_int_equal(c.failures, 2);
	assert_int_equal(c.failure, ENODEV);
	fake.phc_error = 0;
	measure();
	ask(true);
	run_for(S, true);
	assert_no_steps();
	assert_int_equal(c.failures, 2);
}

static void busy_for_some_time(void **state)
{
	(void)state;
	fake.cost_ns = 20000;
	open_made();
	assert_int_equal(c.method, CLOCK_PRECISE);
	fake.busy = TRIES - 1;
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns < 200);
	fake.busy = TRIES; /* the next method, for this once */
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns > 200);
	measure();
	assert_true(clock_last(&c)->phc_real.bound_ns < 200);
	run_for(S, true);
}

static void a_better_method_that_lies(void **state)
{
	(void)state;
	fake.precise_wrong_ns = NS_PER_MS;
	open_made();
	assert_int_equal(c.method, CLOCK_EXTENDED);
	assert_true(c.raw_taken);
	measure();
	run_for(S, true);
}

static void kernels_that_say_no(void **state)
{
	(void)state;
	fake.dial_wants_write = true;
	fake.dial_ppb[PHC] = -1000;
	open_made();
	measure();
	assert_true(c.track[CLOCK_OF_NIC].dial[0].known);
	assert_int_equal(c.track[CLOCK_OF_NIC].dial[0].ppb, -1000);
	assert_int_equal(fake.opened, 2);
	clock_close(&c);
	assert_int_equal(fake.closed, 2);
	made_clocks(state);
	fake.no_phc_dial = fake.no_adjtimex = true;
	open_made();
	measure();
	run_for(2 * S, true);
	assert_int_equal(clock_steering(&c, CLOCK_OF_NIC), CLOCK_STEERING_UNKNOWN);
	assert_int_equal(clock_steering(&c, CLOCK_OF_SYSTEM), CLOCK_STEERING_UNKNOWN);
	assert_false(clock_last(&c)->dial[CLOCK_OF_SYSTEM].known);
	assert_no_steps();
}

static void names_and_granularities(void **state)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{ "igb clock\n", "igb clock" },
		{ NULL, "ptp7" },
		{ "\n", "ptp7" },
		{ "bad\033[2J\n", "bad?[2J" },
		{ "a name of more than thirty-one characters\n", "a name of more than thirty-one " },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		made_clocks(state);
		fake.name = rows[i].file;
		fake.phc_tick_ns = 8;
		open_made();
		assert_string_equal(c.name, rows[i].name);
		assert_int_equal(c.phc_granularity_ns % 8, 0);
		assert_true(c.phc_granularity_ns > 0 && c.phc_granularity_ns < 200);
		assert_true(c.system_granularity_ns >= 10 && c.system_granularity_ns < 30);
		assert_string_equal(clock_method_name(&c), "PTP_SYS_OFFSET_PRECISE");
	}
}

static void scales(void **state)
{
	static const struct {
		int64_t offset_ns;
		int tai_s;
		enum clock_scale scale;
	} rows[] = {
		{ 0, 0, CLOCK_SCALE_UTC },
		{ -S + NS_PER_MS, 0, CLOCK_SCALE_UTC },
		{ 2 * S, 0, CLOCK_SCALE_OTHER },
		{ 37 * S, 0, CLOCK_SCALE_TAI },
		{ 37 * S, 37, CLOCK_SCALE_TAI },
		{ 38 * S, 40, CLOCK_SCALE_OTHER },
		{ 40 * S, 40, CLOCK_SCALE_TAI },
		{ -37 * S, 0, CLOCK_SCALE_OTHER },
		{ -1780000000 * S, 0, CLOCK_SCALE_OTHER },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		made_clocks(state);
		fake.tai_s = rows[i].tai_s;
		step(PHC, rows[i].offset_ns);
		open_made();
		assert_int_equal(clock_scale(&c), CLOCK_SCALE_UNKNOWN);
		measure();
		if (clock_scale(&c) != rows[i].scale)
			fail_msg("row %zu: %d", i, clock_scale(&c));
		assert_int_equal(c.tai_s, rows[i].tai_s);
	}
}

/* ---- Edges ------------------------------------------------------------------------------------------------------ */

static void epochs_before_1970_and_at_the_edges(void **state)
{
	static const int64_t phc_s[] = { 0, -1, -1000, 1, -4000000000, -7000000000, 9223372036, -9223372036 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(phc_s); i++) {
		made_clocks(state);
		bool fits = phc_s[i] > -7400000000 && phc_s[i] < 9000000000;

		fake.clock[PHC].value = (__int128)phc_s[i] * S * S;
		fake.clock[PHC].ppb = -50000;
		fake.changes = 0;
		if (clock_open(&c, 7)) {
			assert_false(fits);
			continue;
		}
		for (int n = 0; n < 20; n++) {
			int error = clock_measure(&c, 0);

			assert_true(!error || !fits);
			if (!error)
				ask(true);
			pass(S / 10);
		}
		if (!fits)
			continue;
		assert_no_steps();
		check_rate(CLOCK_OF_NIC, -50000);
	}
}

static void stamps_that_are_none(void **state)
{
	static const struct {
		struct ptp_clock_time t;
		bool good;
		int64_t ns;
	} rows[] = {
		{ { .sec = 0, .nsec = 0 }, true, 0 },
		{ { .sec = 1, .nsec = 999999999 }, true, 1999999999 },
		{ { .sec = -1, .nsec = 999999999 }, true, -1 },
		{ { .sec = 1, .nsec = 1000000000 }, false, 0 },
		{ { .sec = 9223372036, .nsec = 854775807 }, true, INT64_MAX },
		{ { .sec = 9223372036, .nsec = 854775808 }, false, 0 },
		{ { .sec = -9223372036, .nsec = 0 }, true, -9223372036 * S },
		{ { .sec = INT64_MAX, .nsec = 0 }, false, 0 },
		{ { .sec = INT64_MIN, .nsec = 0 }, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int64_t ns;
		bool good = stamp_ns(&rows[i].t, &ns);

		if (good != rows[i].good || (good && ns != rows[i].ns))
			fail_msg("row %zu", i);
	}
}

/* Whatever a driver writes: no overflow (UBSan ends the test), and a bound is never negative. */
static void garbage(void **state)
{
	for (int i = 0; i < 300; i++) {
		int64_t said_ns, bound_ns;

		made_clocks(state);
		for (int m = 0; m < i % 3; m++)
			fake.ioctl_error[m] = EOPNOTSUPP;
		fake.no_raw = util_below(2);
		open_made();
		fake.garbage = true;
		for (int n = 0; n < 30; n++) {
			fake.garbage = util_below(8);
			clock_measure(&c, 0);
			pass((int64_t)util_below(S));
			const struct clock_relation *r = &clock_last(&c)->phc_real;
			int64_t at[] = { shows(REAL), r->at_ns, INT64_MIN, INT64_MAX, (int64_t)util_random() };

			for (size_t k = 0; k < COUNT_OF(at); k++) {
				if (clock_to_phc(&c, at[k], &said_ns, &bound_ns))
					assert_true(bound_ns >= 0);
			}
			clock_drift(&c, CLOCK_OF_NIC);
			clock_scale(&c);
		}
	}
}

/* ---- Two threads ------------------------------------------------------------------------------------------------ */

static struct clock_watch shared;
static _Atomic bool stop_writing;

/* Every relation that is published has the same number in all places, so a mixture shows. */
static void *write_slots(void *argument)
{
	(void)argument;
	for (int64_t n = 1; !atomic_load(&stop_writing); n++) {
		struct clock_relation r = { .at_ns = n, .offset_ns = n, .bound_ns = n };
		struct rate rate = { .ppb = 0 };
		uint32_t other = !atomic_load_explicit(&shared.current, memory_order_relaxed);

		slot_write(&shared.slot[other], &r, &rate, true);
		atomic_store_explicit(&shared.current, other, memory_order_release);
	}
	return NULL;
}

static void no_torn_reads(void **state)
{
	pthread_t writer;
	int64_t said_ns, bound_ns;
	int torn = 0, got = 0;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_slots, NULL), 0);
	while (!clock_to_phc(&shared, 0, &said_ns, &bound_ns))
		;
	for (int i = 0; i < 3000000; i++) {
		if (!clock_to_phc(&shared, 0, &said_ns, &bound_ns))
			continue;
		got++;
		torn += bound_ns != said_ns + 2; /* the rates are 0 */
	}
	atomic_store(&stop_writing, true);
	pthread_join(writer, NULL);
	assert_int_equal(torn, 0);
	assert_true(got > 0);
}

/* A writer that was put to sleep in the middle keeps nobody waiting. */
static void a_sleeping_writer(void **state)
{
	int64_t said_ns, bound_ns;

	(void)state;
	open_made();
	measure();
	run_for(S, true);
	for (int i = 0; i < 4; i++) {
		struct clock_slot *told = &c.slot[atomic_load(&c.current)];
		uint32_t sequence = atomic_load(&told->sequence);

		pass(S / 10);
		measure();
		assert_int_equal(atomic_load(&told->sequence), sequence); /* not the one that may be being read */
		assert_true(told != &c.slot[atomic_load(&c.current)]);
	}
	atomic_fetch_add(&c.slot[!atomic_load(&c.current)].sequence, 1);
	ask(true);
	atomic_fetch_add(&c.slot[atomic_load(&c.current)].sequence, 1);
	assert_false(clock_to_phc(&c, shows(REAL), &said_ns, &bound_ns));
}

/* ---- The other host --------------------------------------------------------------------------------------------- */

/* Two hosts whose clocks differ by an offset and a rate, with unequal ways: the truth is in the bound. */
static void the_peers_clock(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct clock_peer p = { 0 };
		struct clock_relation offset;
		struct clock_rate rate;
		int64_t offset_ns = (int64_t)util_below(1000 * S) - 500 * S, ppb = (int64_t)util_below(200000) - 100000;
		int64_t t = (int64_t)util_below(1000) * S;
		int64_t began = t;

		assert_false(clock_peer_result(&p, &offset, &rate));
		while (t < began + 10 * S) {
			int64_t there = 500 + (int64_t)util_below(20000), response = 3000 + (int64_t)util_below(10000);
			int64_t back = 500 + (int64_t)util_below(5000);
#define REMOTE(x) ((x) + offset_ns + (int64_t)((__int128)((x) - began) * ppb / S))
			clock_peer_add(&p, t, REMOTE(t + there), REMOTE(t + there + response),
				       t + there + response + back);
			if (p.exchanges % 50 == 1) {
				assert_true(clock_peer_result(&p, &offset, &rate));
				if (distance(offset.offset_ns, REMOTE(offset.at_ns) - offset.at_ns) > offset.bound_ns)
					fail_msg("offset %lld +- %lld is not %lld", (long long)offset.offset_ns,
						 (long long)offset.bound_ns,
						 (long long)(REMOTE(offset.at_ns) - offset.at_ns));
			}
			t += 1000000 + (int64_t)util_below(3000000);
		}
		assert_true(clock_peer_result(&p, &offset, &rate));
		assert_int_equal(p.jumps + p.refused, 0);
		assert_true(rate.measured && rate.over_ns > 7 * S);
		if (rate.ppb - (double)ppb > rate.bound_ppb || (double)ppb - rate.ppb > rate.bound_ppb)
			fail_msg("rate %.1f +- %.1f is not %lld", rate.ppb, rate.bound_ppb, (long long)ppb);
		assert_true(rate.bound_ppb < 2000);
		assert_true(offset.bound_ns < 3000 && offset.at_ns > t - 3 * S);
	}
}

/* One bad exchange does not hide a step. */
static void a_peer_that_steps_behind_a_slow_one(void **state)
{
	struct clock_peer p = { 0 };

	(void)state;
	clock_peer_add(&p, 0, 5000, 7000, 12000);
	clock_peer_add(&p, 1000000, 1500000, 1500000, 2000000);
	clock_peer_add(&p, 3000000, 3105000, 3107000, 3012000);
	assert_int_equal(p.jumps, 1);
}

static void a_peer_that_steps(void **state)
{
	struct clock_peer p = { 0 };
	struct clock_relation offset;
	struct clock_rate rate;

	(void)state;
	for (int64_t t = 0; t < 5 * S; t += S / 1000) {
		int64_t remote = t < 3 * S ? 0 : 100000;

		clock_peer_add(&p, t, t + 5000 + remote, t + 7000 + remote, t + 12000);
	}
	assert_int_equal(p.jumps, 1);
	assert_true(clock_peer_result(&p, &offset, &rate));
	assert_true(distance(offset.offset_ns, 100000) <= offset.bound_ns);
	assert_true(rate.over_ns < 2 * S);
	assert_false(rate.known);
	/* What cannot be. */
	clock_peer_add(&p, 0, 0, 20000, 10000);
	clock_peer_add(&p, INT64_MIN, 0, 0, INT64_MAX);
	clock_peer_add(&p, 0, INT64_MIN, INT64_MAX, 1);
	clock_peer_add(&p, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX);
	assert_int_equal(p.refused, 4);
	assert_int_equal(p.jumps, 1);
	clock_peer_add(&p, INT64_MAX - 10, INT64_MAX - 5, INT64_MAX - 5, INT64_MAX);
	clock_peer_add(&p, INT64_MIN, INT64_MIN + 5, INT64_MIN + 5, INT64_MIN + 10);
	assert_int_equal(p.refused, 4);
}

/* ---- The clocks of this machine --------------------------------------------------------------------------------- */

static void system_clock_of_this_machine(void **state)
{
	int64_t slept_ns = 0;

	(void)state;
	clock_open(&c, -1);
	assert_true(c.system_granularity_ns > 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(clock_measure(&c, 0), 0);
		usleep(20000);
		slept_ns += 20000000;
	}
	struct clock_rate r = clock_drift(&c, CLOCK_OF_SYSTEM);

	assert_true(r.measured && r.over_ns >= slept_ns * 4 / 5);
	print_message("tick at most %lld ns, CLOCK_REALTIME %.0f +- %.0f ppb\n", (long long)c.system_granularity_ns, r.ppb,
		      r.bound_ppb);
	clock_close(&c);
}

static void print_phc(int index, int outside)
{
	const struct clock_reading *last = clock_last(&c);
	const struct clock_track *t = &c.track[CLOCK_OF_NIC];
	struct clock_rate r = clock_drift(&c, CLOCK_OF_NIC);

	print_message("ptp%d '%s' by %s%s, granularity %lld ns\n", index, c.name, clock_method_name(&c),
		      c.raw_taken ? " with raw" : "", (long long)c.phc_granularity_ns);
	print_message("ptp%d offset %lld +- %lld ns, drift %.0f +- %.0f ppb, scale %d\n", index,
		      (long long)last->phc_real.offset_ns, (long long)last->phc_real.bound_ns, r.ppb, r.bound_ppb,
		      clock_scale(&c));
	print_message("ptp%d dial %s%s %lld ppb, changed %llu times, stood still %llu times, outside %d\n", index,
		      t->dial[1].known ? "known" : "unknown", c.dial_fd == c.phc_fd ? "" : " (by O_RDWR)",
		      (long long)t->dial[1].ppb,
		      (unsigned long long)t->dial_changes, (unsigned long long)counter_get(&t->standstills), outside);
	for (uint32_t i = 0; i < c.steps_kept; i++)
		print_message("ptp%d step of %s: %lld +- %lld ns at reading %llu\n", index,
			      c.step[i].which == CLOCK_OF_NIC ? "PHC" : "system", (long long)c.step[i].size_ns,
			      (long long)c.step[i].bound_ns, (unsigned long long)c.step[i].mark[1]);
}

/* Two ways to measure it must agree, and what was said must hold when it is looked at again. READINGS, 50 ms apart. */
static void phc_of_this_machine(int index)
{
	const char *readings = getenv("READINGS");
	int64_t said_ns, bound_ns;
	int outside = 0;

	if (clock_open(&c, index))
		fail_msg("ptp%d: %s", index, c.why);
	for (int i = 0; i < (readings ? atoi(readings) : 20); i++) {
		struct taken t = { none, none };
		int error = clock_measure(&c, (uint64_t)i);

		if (error)
			fail_msg("ptp%d: %s", index, strerror(-error));
		assert_int_equal(take_sandwich(&c, &t), 0);
		outside += !agree(&t.real, &clock_last(&c)->phc_real) || !agree(&t.raw, &clock_last(&c)->phc_raw);
		usleep(50000);
		assert_int_equal(take_phc(&c, &t), 0);
		outside += clock_to_phc(&c, t.real.at_ns, &said_ns, &bound_ns) &&
			   distance(said_ns - t.real.at_ns, t.real.offset_ns) > bound_ns + t.real.bound_ns;
	}
	clock_measure(&c, 0);
	print_phc(index, outside);
	clock_close(&c);
	/* One look may fall on the other side of a step, or of a change that only the next reading can know of. */
	uint64_t changes = 0;

	for (int i = 0; i < CLOCKS; i++)
		changes += 2 * counter_get(&c.track[i].steps) + c.track[i].dial_changes;
	assert_true((uint64_t)outside <= changes);
	assert_true(clock_drift(&c, CLOCK_OF_NIC).measured);
}

static void phcs_of_this_machine(void **state)
{
	int found = 0;

	(void)state;
	for (int i = 0; i < 16; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/ptp%d", i);
		if (access(path, R_OK) || (getenv("PHC") && atoi(getenv("PHC")) != i))
			continue;
		found++;
		phc_of_this_machine(i);
	}
	if (!found) {
		print_message("no PHC here that may be read\n");
		skip();
	}
}

#define MADE_TEST(f) cmocka_unit_test_setup(f, made_clocks)
#define REAL_TEST(f) cmocka_unit_test_setup(f, real_clocks)

/* test_clock [PATTERN]: only the tests with such a name. PHC=N: only that one of this machine's. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		MADE_TEST(drift_by_every_method),
		MADE_TEST(two_readings),
		MADE_TEST(steered_clocks),
		MADE_TEST(a_correction_is_worked_off),
		MADE_TEST(the_kernels_loop),
		MADE_TEST(a_rate_that_wanders),
		MADE_TEST(a_rate_that_changes_by_itself),
		MADE_TEST(a_bad_bracket_at_either_end),
		MADE_TEST(days),
		MADE_TEST(bounds_are_narrow),
		MADE_TEST(the_shortest_bracket),
		MADE_TEST(steps_of_each_clock),
		MADE_TEST(a_step_within_a_reading),
		MADE_TEST(a_step_behind_a_long_bracket),
		MADE_TEST(small_steps),
		MADE_TEST(nothing_is_said_around_a_step),
		MADE_TEST(more_steps_than_are_kept),
		MADE_TEST(a_clock_that_stands_still_and_is_read_slowly),
		MADE_TEST(a_clock_that_stands_still),
		MADE_TEST(a_coarse_clock),
		MADE_TEST(the_largest_jump),
		MADE_TEST(a_clock_that_was_away_for_long),
		MADE_TEST(no_clock_is_no_failure),
		MADE_TEST(a_clock_that_goes_away),
		MADE_TEST(busy_for_some_time),
		MADE_TEST(a_better_method_that_lies),
		MADE_TEST(kernels_that_say_no),
		MADE_TEST(names_and_granularities),
		MADE_TEST(scales),
		MADE_TEST(epochs_before_1970_and_at_the_edges),
		MADE_TEST(stamps_that_are_none),
		MADE_TEST(garbage),
		REAL_TEST(no_torn_reads),
		MADE_TEST(a_sleeping_writer),
		REAL_TEST(the_peers_clock),
		REAL_TEST(a_peer_that_steps),
		REAL_TEST(a_peer_that_steps_behind_a_slow_one),
		REAL_TEST(system_clock_of_this_machine),
		REAL_TEST(phcs_of_this_machine),
	};

	util_seed();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
