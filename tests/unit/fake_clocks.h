/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated clocks with known truth, behind the calls that read and set clocks: exact to 10^-9 ns, each
 * read takes time, and a PHC reading is of any moment in that time. Off by default: then the real calls are
 * made. Include it after host/clock/clock_compare.c and util.h;
 * wraps=ioctl,clock_gettime,adjtimex,clock_adjtime,open,close,fopen.
 */
#ifndef FAKE_CLOCKS_H
#define FAKE_CLOCKS_H

#include "host/clock/clock.h"
#include "host/clock/clock_inside.h"

#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <sys/ioctl.h>
#include <sys/timex.h>

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
	int64_t frequency_ppb[MADE]; /* as read */
	int64_t adjtime_us, pll_offset_ns;
	int tai_s, constant;
	int ioctl_error[CLOCK_METHODS]; /* errno */
	unsigned fails_every, reads; /* period of reads at which the PHC is busy; number of reads */
	int busy; /* times that PRECISE is busy */
	unsigned reads_per_s; /* that the PHC allows, EBUSY beyond; 0: any number */
	int64_t read_at_ns[256]; /* a ring: the last reads that it allowed */
	unsigned allowed, refused;
	int64_t precise_wrong_ns;
	bool no_raw, no_adjtimex, no_phc_frequency, no_device, frequency_wants_write;
	int open_error, phc_error;
	const char *name;
	int64_t phc_tick_ns, spike_every; /* tick of the PHC; period of reads that take up to 100 us */
	int64_t cost_ns; /* maximum duration of a PHC read; at least a tenth */
	int64_t event_at_ns; /* true time of the event, which may lie within a call */
	void (*event)(void);
	uint64_t changes; /* changes of rate, and steps, which earlier readings cannot show */
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

/* Rounds down, as clock reads do. */
static int64_t shows(int which)
{
	__int128 v = fake.clock[which].value;
	int64_t ns = (int64_t)(v / S - (v % S < 0));

	if (which == PHC && fake.phc_tick_ns > 1)
		ns -= rest_of(ns, fake.phc_tick_ns);
	return ns;
}

static inline void step(int which, int64_t ns)
{
	fake.clock[which].value += (__int128)ns * S;
	fake.changes++;
}

/* By its frequency setting, as a servo does. */
static inline void turn(int which, int64_t ppb)
{
	fake.clock[which].ppb += ppb - fake.frequency_ppb[which];
	fake.frequency_ppb[which] = ppb;
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

static bool is_phc(int fd)
{
	return fd >= PHC_FD && fd < PHC_FD + fake.opened;
}

/* The inverse of clock_of_fd(). */
static int fd_of_clock(clockid_t clock)
{
	return ~(clock >> 3);
}

/* More reads than the device allows in the second before. */
static bool read_is_refused(void)
{
	unsigned n = fake.allowed;

	if (fake.reads_per_s && n >= fake.reads_per_s &&
	    fake.now_ns - fake.read_at_ns[(n - fake.reads_per_s) % 256] < S) {
		fake.refused++;
		return true;
	}
	fake.read_at_ns[fake.allowed++ % 256] = fake.now_ns;
	return false;
}

static bool read_fails(void)
{
	if (read_is_refused())
		return true;
	return fake.fails_every && ++fake.reads % fake.fails_every == 0;
}

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	if (!fake.on)
		return __real_clock_gettime(clock, t);
	if (clock < 0) {
		assert_true(is_phc(fd_of_clock(clock)));
		if (fake.phc_error || fake.ioctl_error[CLOCK_SANDWICH])
			return fail_with(fake.phc_error ? fake.phc_error : fake.ioctl_error[CLOCK_SANDWICH]);
		if (read_fails())
			return fail_with(EBUSY);
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
	if (fake.busy > 0 || read_fails()) {
		fake.busy -= fake.busy > 0;
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
		if (read_fails())
			return fail_with(EBUSY);
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
		if (read_fails())
			return fail_with(EBUSY);
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
	assert_true(is_phc(fd));
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
	*t = (struct timex){ .freq = scaled(fake.frequency_ppb[REAL] % 100000), .offset = fake.pll_offset_ns,
			     .status = STA_NANO, .tick = 10000 + fake.frequency_ppb[REAL] / 100000, .tai = fake.tai_s,
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
	if (fake.frequency_wants_write && clock == clock_of_fd(PHC_FD))
		return fail_with(EACCES);
	if (fake.no_phc_frequency)
		return fail_with(EOPNOTSUPP);
	t->freq = fake.garbage ? (long)util_random() : scaled(fake.frequency_ppb[PHC]);
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
	assert_true((flags & O_ACCMODE) == O_RDONLY || fake.frequency_wants_write);
	if (fake.open_error)
		return fail_with(fake.open_error);
	return PHC_FD + fake.opened++;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	if (!fake.on || fd < PHC_FD)
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

/* The coverage library (make coverage) opens its files after this. */
__attribute__((destructor)) static void real_ones_again(void)
{
	fake.on = false;
}

/* ---- A run with simulated clocks -------------------------------------------------------------------------------- */

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

static inline void open_made(void)
{
	int error = clock_open(&c, 7);

	if (error)
		fail_msg("clock_open: %d, %s", error, c.why);
	assert_string_equal(c.why, "");
}

static inline void measure(void)
{
	uint64_t before = fake.changes;
	int error = clock_measure(&c, fake.changes);

	if (error)
		fail_msg("clock_measure: %d", error);
	changes_known = before;
}

/* The truth now, and the check of the reported values against it. */
static inline void ask(bool must_answer)
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

/* Ten readings a second, and queries between them. */
static inline void run_for(int64_t ns, bool must_answer)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		for (int i = 0; i < 4; i++) {
			pass(20000000 + (int64_t)util_below(10000000));
			ask(must_answer);
		}
		measure();
	}
}

static inline void check_rate(enum clock_which which, double true_ppb)
{
	struct clock_rate r = clock_drift(&c, which);

	assert_true(r.measured);
	if (r.ppb - true_ppb > r.bound_ppb || true_ppb - r.ppb > r.bound_ppb)
		fail_msg("rate %.3f +- %.3f ppb is not %.3f", r.ppb, r.bound_ppb, true_ppb);
	assert_int_equal(r.known, r.ppb > r.bound_ppb || r.ppb < -r.bound_ppb);
}

static inline void assert_no_steps(void)
{
	for (int i = 0; i < CLOCKS; i++)
		if (counter_get(&c.track[i].steps) || counter_get(&c.track[i].standstills))
			fail_msg("clock %d: %llu steps, %llu standstills, largest %lld +- %lld", i,
				 (unsigned long long)counter_get(&c.track[i].steps),
				 (unsigned long long)counter_get(&c.track[i].standstills),
				 (long long)c.track[i].largest.size_ns, (long long)c.track[i].largest.bound_ns);
	assert_int_equal(c.steps_kept, 0);
}

#define MADE_TEST(f) cmocka_unit_test_setup(f, made_clocks)

#endif
