// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The clocks: the NIC's own (PHC), CLOCK_REALTIME and CLOCK_MONOTONIC_RAW, and how they relate.
 *
 * Software timestamps are of CLOCK_REALTIME, so the relation of the PHC to CLOCK_REALTIME is measured directly and not
 * as the sum of two relations, each with its error. CLOCK_MONOTONIC_RAW is the reference: no program steps or steers
 * it, so if it agrees with one of the two clocks, the other clock was changed.
 */
#include "host/clock/clock.h"

#include "host/clock/clock_compare.h"
#include "host/clock/clock_inside.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#ifndef ADJ_OFFSET_SS_READ
#define ADJ_OFFSET_SS_READ 0xa001
#endif
#define PLL_SHIFT 2 /* SHIFT_PLL of the kernel's include/linux/timex.h */

/* ---- Readings --------------------------------------------------------------------------------------------------- */

/* scaled: ppm with 16 fractional bits. Limited to 100 %, since a driver may report any value. */
static int64_t scaled_ppm_to_ppb(int64_t scaled)
{
	const int64_t limit = 1000000LL * 65536;

	return (scaled > limit ? limit : scaled < -limit ? -limit : scaled) * 1000 / 65536;
}

/* Rate of a pending correction: adjtime(3) slews by 500 ppm, the kernel's PLL by a fraction of the remaining offset. */
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

static void read_system_frequency(struct clock_watch *c, struct clock_frequency *frequency)
{
	struct timex t = { .modes = 0 };

	*frequency = (struct clock_frequency){ .known = adjtimex(&t) >= 0 };
	if (!frequency->known)
		return;
	c->tai_s = t.tai;
	/* tick: microseconds per 1/100 s. */
	frequency->ppb = scaled_ppm_to_ppb(t.freq);
	if (t.tick >= 9000 && t.tick <= 11000) /* the range that the kernel accepts */
		frequency->ppb += ((int64_t)t.tick - 10000) * 100000;
	frequency->slew_ppb = slew_ppb(&t);
}

static void read_phc_frequency(struct clock_watch *c, struct clock_frequency *frequency)
{
	if (c->packets) {
		*frequency = (struct clock_frequency){ .assumed = true, .slew_ppb = CLOCK_PACKETS_CHANGE_PPB };
		return;
	}
	struct timex t = { .modes = 0 };
	int result = c->frequency_fd < 0 ? -1 : clock_adjtime(clock_of_fd(c->frequency_fd), &t);

	*frequency = (struct clock_frequency){ .known = result >= 0 };
	if (frequency->known)
		frequency->ppb = scaled_ppm_to_ppb(t.freq);
}

/* Adds relations: a is X minus Y, b is Y minus Z, the sum is X minus Z. False: the sum exceeds 64 bits. */
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

#define FROZEN_NS (10 * NS_PER_US)

/* True if the PHC, FROZEN_NS after the comparison, still has the value of the comparison. */
static bool is_frozen(const struct clock_watch *c, const struct clock_relation *compared)
{
	int64_t since_ns, now_ns, phc_ns, then_ns;

	/* A PHC that never moved yet, or that moves less often than FROZEN_NS, may only be coarse. */
	if (!c->phc_granularity_ns || 8 * slack(c) > FROZEN_NS || !read_ns(CLOCK_MONOTONIC_RAW, &since_ns) ||
	    __builtin_add_overflow(compared->at_ns, compared->offset_ns, &then_ns))
		return false;
	while (c->budget.reads_per_s) /* a single reading */
		if (!read_ns(CLOCK_MONOTONIC_RAW, &now_ns) || difference(now_ns, since_ns) >= FROZEN_NS)
			break;
	do {
		if (!read_ns(clock_of_fd(c->phc_fd), &phc_ns) || distance(phc_ns, then_ns) > slack(c) ||
		    !read_ns(CLOCK_MONOTONIC_RAW, &now_ns))
			return false;
	} while (difference(now_ns, since_ns) < FROZEN_NS);
	return true;
}

#define READING_READS (COMPARE_LIMITED_READS + 1) /* of a clock with a limit: also is_frozen() */

#define FASTEST 4 /* a clock that runs more than 4 times as fast was set, which is not a frequency error */

/*
 * False: the relations contradict each other. A clock that was set causes this once, a standstill or a frequency error
 * at each try: so the last try accepts a contradiction that a rate explains, and adds it to the bound of phc_real.
 */
static bool fill_relations(const struct clock_watch *c, struct clock_reading *r, const struct clock_compared *t,
			   bool last_try)
{
	struct clock_relation again, added;
	int64_t off_ns, most_ns;

	r->phc_real = t->real;
	r->frozen = is_frozen(c, &t->real);
	if (!clock_compare_system(c, &again) || !chain(&added, &t->real, &again))
		return false;
	if (!is_taken(&t->raw)) {
		r->phc_raw = added;
		return agree(&again, &r->real_raw);
	}
	r->phc_raw = t->raw;
	if (r->frozen || agree(&added, &t->raw))
		return true;
	off_ns = distance(added.offset_ns, t->raw.offset_ns);
	most_ns = sum_of_bounds(sum_of_bounds(added.bound_ns, t->raw.bound_ns),
				over(distance(added.at_ns, t->raw.at_ns), FASTEST * NS_PER_S));
	r->phc_real.bound_ns = sum_of_bounds(r->phc_real.bound_ns, off_ns);
	return last_try && off_ns <= most_ns;
}

/* If a clock is set between the three measurements, their results contradict each other, and all are repeated. */
static int take_reading(struct clock_watch *c, struct clock_reading *r)
{
	struct clock_compared t;

	for (int i = 0; i < TRIES; i++) {
		int error;

		if (i && !clock_budget_take(&c->budget, READING_READS))
			break;
		if (!clock_compare_system(c, &r->real_raw))
			return -EIO;
		if (c->phc_fd < 0)
			return 0;
		error = clock_compare_phc(c, &t);
		if (error)
			return error;
		r->has_phc = fill_relations(c, r, &t, i == TRIES - 1);
		if (r->has_phc)
			return 0;
	}
	return -ESTALE;
}

/* Time of CLOCK_REALTIME at a reading. */
static int64_t real_of(const struct clock_reading *r)
{
	return difference(r->real_raw.at_ns, -r->real_raw.offset_ns);
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW at a time of CLOCK_REALTIME before r, on the line between two readings.
 * False: no reading is older, or the clock was set since, so that a time of packets may be of either setting. */
static bool system_at(const struct clock_watch *c, const struct clock_reading *r, int64_t real_ns,
		      struct clock_relation *to)
{
	uint64_t n = c->readings - 1;
	int64_t all_ns, part_ns, change_ns;
	struct clock_jump jump;

	for (;;) {
		const struct clock_reading *x = kept(c, n);

		jump = clock_track_jump(c, n, r, CLOCK_OF_SYSTEM,
					clock_track_spread_ppb(x, r, REAL_RAW) + TOLERANCE_PPB);
		if (r->broken[CLOCK_OF_SYSTEM] || excess(&jump) > 0)
			return false;
		if (real_of(x) <= real_ns)
			break;
		if (n-- == oldest_kept(c))
			return false;
		r = x;
	}
	all_ns = difference(r->real_raw.at_ns, kept(c, n)->real_raw.at_ns);
	part_ns = difference(real_ns, real_of(kept(c, n)));
	change_ns = difference(r->real_raw.offset_ns, kept(c, n)->real_raw.offset_ns);
	if (all_ns <= 0 || part_ns < 0 || part_ns > 2 * all_ns)
		return false;
	to->offset_ns = kept(c, n)->real_raw.offset_ns +
			(int64_t)((double)change_ns * ((double)part_ns / (double)all_ns));
	/* Between the readings it is off the line by no more than at the later one off that of the rate before. */
	to->bound_ns = sum_of_bounds(larger(r->real_raw.bound_ns, kept(c, n)->real_raw.bound_ns),
				     absolute(jump.size_ns));
	to->at_ns = difference(real_ns, to->offset_ns);
	return true;
}

/* The relation of a PHC that cannot be read, by the packets since the last reading. */
static void take_packets(struct clock_watch *c, struct clock_reading *r)
{
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	const bool measured = t->readings && t->last_number >= oldest_kept(c);
	struct clock_exchange_pair pair;
	struct clock_slope rate = { .bound_ppb = FREE_PPB };
	struct clock_relation real_raw;

	if (!c->packets || !c->readings || !clock_packets_take(c->packets, &pair))
		return;
	if (measured)
		rate = clock_track_slope(c, t->last_number, PHC_REAL);
	if (!clock_packets_relation(&pair, rate.ppb, rate.bound_ppb, c->system_granularity_ns, &r->phc_real) ||
	    !system_at(c, r, r->phc_real.at_ns, &real_raw))
		return;
	r->phc_raw = (struct clock_relation){
		real_raw.at_ns, difference(r->phc_real.offset_ns, -real_raw.offset_ns),
		sum_of_bounds(r->phc_real.bound_ns, real_raw.bound_ns),
	};
	r->has_phc = true;
}

static const struct {
	unsigned usual; /* refusals in a row that do not delay the next attempt */
	unsigned doublings;
	int64_t ns;
} retry[] = {
	{ 9, 4, 200 * NS_PER_MS }, /* a busy driver accepts a reading within a second */
	{ 0, 3, NS_PER_S }, /* with a limit: those that are known are per second */
};

/* After refusals, each attempt waits twice as long: up to 3.2 s, with a limit up to 8 s. */
static void note_result(struct clock_watch *c, int error, int64_t now_ns)
{
	const bool limited = c->budget.reads_per_s;
	unsigned late;

	if (!clock_is_refusal(error)) {
		c->refused_in_row = 0;
		return;
	}
	c->refused++;
	if (c->refused_in_row++ < retry[limited].usual)
		return;
	late = c->refused_in_row - 1 - retry[limited].usual;
	if (late > retry[limited].doublings)
		late = retry[limited].doublings;
	c->not_before_ns = now_ns + (retry[limited].ns << late);
}

/* After refusals: the system clocks only, as if the device refused again. */
static int take_without_phc(const struct clock_watch *c, struct clock_reading *r)
{
	return clock_compare_system(c, &r->real_raw) ? -c->failure : -EIO;
}

int clock_measure(struct clock_watch *c, uint64_t mark)
{
	struct clock_reading r = { .mark = mark, .began_ns = clock_read_ns(CLOCK_MONOTONIC) };
	const bool waits = c->phc_fd >= 0 && r.began_ns < c->not_before_ns;
	int error;

	if (c->phc_fd >= 0 && !waits && !clock_budget_take(&c->budget, READING_READS))
		return 0;
	read_system_frequency(c, &r.frequency[CLOCK_OF_SYSTEM]);
	read_phc_frequency(c, &r.frequency[CLOCK_OF_NIC]);
	error = waits ? take_without_phc(c, &r) : take_reading(c, &r);
	r.ended_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (!waits)
		note_result(c, error, r.ended_ns);
	if (error) {
		c->failures++;
		c->failure = -error;
		if (!is_taken(&r.real_raw))
			return error;
	}
	take_packets(c, &r);
	clock_track_add(c, &r);
	clock_seqlock_publish(c);
	return error;
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

const char *clock_method_name(const struct clock_watch *c)
{
	static const char *const names[CLOCK_METHODS] = {
		[CLOCK_PRECISE] = "PTP_SYS_OFFSET_PRECISE",
		[CLOCK_EXTENDED] = "PTP_SYS_OFFSET_EXTENDED",
		[CLOCK_PLAIN] = "PTP_SYS_OFFSET",
		[CLOCK_SANDWICH] = "clock_gettime",
	};

	return c->packets ? "timestamps of packets" : names[c->method];
}

const char *clock_failure(const struct clock_watch *c)
{
	return c->failure == ESTALE ? "a clock was set while it was read" : strerror(c->failure);
}

struct clock_rate clock_drift(const struct clock_watch *c, enum clock_which which)
{
	return better(c->track[which].rate, clock_track_segment(&c->track[which]));
}

const struct clock_reading *clock_last(const struct clock_watch *c)
{
	return c->readings ? &c->history[(c->readings - 1) % CLOCK_HISTORY] : NULL;
}

bool clock_to_realtime(void *watch, int64_t *ns)
{
	const struct clock_watch *c = watch;
	const struct clock_track *t = &c->track[CLOCK_OF_NIC];
	int64_t about_ns, phc_ns, bound_ns;

	if (!t->readings)
		return false;
	about_ns = *ns - t->last.offset_ns;
	if (!clock_to_phc(c, about_ns, &phc_ns, &bound_ns))
		return false;
	*ns = about_ns + (*ns - phc_ns);
	return true;
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

	if (!t->frequency[0].known)
		return CLOCK_STEERING_UNKNOWN;
	return t->frequency_changes ? CLOCK_STEERED : CLOCK_NOT_STEERED;
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

/* The smallest difference between successive reads is an upper bound of the granularity. */
static void measure_system(struct clock_watch *c)
{
	enum { READS = 256, READS_MAX = 1 << 20 };
	int64_t last_ns = clock_read_ns(CLOCK_REALTIME), least_ns = 0;

	for (int i = 1; i < READS || (!least_ns && i < READS_MAX); i++) {
		int64_t now_ns = clock_read_ns(CLOCK_REALTIME), step_ns = now_ns - last_ns;

		if (step_ns > 0 && (!least_ns || step_ns < least_ns))
			least_ns = step_ns;
		last_ns = now_ns;
	}
	c->system_granularity_ns = least_ns ? least_ns : NS_PER_MS;
}

#define OPEN_LIMITED_READS 9 /* fewer readings may give a multiple of the granularity, and so a wider bound */

/* The granularity is the greatest common divisor of all differences. Some reads may fail with a busy driver. */
static int measure_phc(struct clock_watch *c)
{
	enum { READS = 33, READS_MAX = 2 * READS };
	const int wanted = c->budget.reads_per_s ? OPEN_LIMITED_READS : READS;
	const int most = c->budget.reads_per_s ? OPEN_LIMITED_READS : READS_MAX;
	int64_t last_ns = 0, phc_ns;
	int got = 0, error = -EIO;

	for (int i = 0; i < most && got < wanted; i++) {
		errno = 0;
		if (!read_ns(clock_of_fd(c->phc_fd), &phc_ns)) {
			error = errno ? -errno : -EIO;
			continue;
		}
		if (got++)
			c->phc_granularity_ns = common_divisor(c->phc_granularity_ns, distance(phc_ns, last_ns));
		last_ns = phc_ns;
	}
	return got > wanted / 2 ? 0 : error;
}

static int open_device(struct clock_watch *c, const char *path)
{
	static const struct {
		int error;
		const char *cure;
	} cures[] = {
		{ EACCES, ": run as root, or make it readable" },
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

/* Older kernels require a writable descriptor even for reading the frequency (kernel/time/posix-clock.c; 6.12.95 does
 * not). On failure the frequency setting stays unknown. */
static void open_frequency(struct clock_watch *c, const char *path)
{
	struct timex t = { .modes = 0 };

	c->frequency_fd = c->phc_fd;
	if (clock_adjtime(clock_of_fd(c->phc_fd), &t) >= 0 || errno != EACCES)
		return;
	c->frequency_fd = open(path, O_RDWR | O_CLOEXEC);
}

static int examine(struct clock_watch *c, const char *path)
{
	int error = -EBUSY;

	if (!clock_budget_wait(&c->budget, OPEN_LIMITED_READS + CHOOSE_LIMITED_READS)) {
		snprintf(c->why, sizeof(c->why), "%s: other programs use up its %u readings a second", path,
			 c->budget.reads_per_s);
		return error;
	}
	error = measure_phc(c);
	if (!error)
		error = clock_compare_choose(c);
	if (error)
		snprintf(c->why, sizeof(c->why), "%s cannot be read: %s", path, strerror(-error));
	return error;
}

int clock_open(struct clock_watch *c, int phc_index)
{
	return clock_open_limited(c, phc_index, 0);
}

int clock_open_limited(struct clock_watch *c, int phc_index, uint32_t reads_per_s)
{
	char path[32];
	int error;

	memset(c, 0, sizeof(*c));
	c->phc_fd = c->frequency_fd = c->budget.fd = -1;
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
	clock_budget_open(&c->budget, phc_index, reads_per_s);
	error = examine(c, path);
	if (error) {
		clock_close(c);
		return error;
	}
	open_frequency(c, path);
	return 0;
}

void clock_use_packets(struct clock_watch *c, struct clock_packets *packets)
{
	c->packets = packets;
	if (!*c->name)
		snprintf(c->name, sizeof(c->name), "without a device");
}

#define SYNC_SOURCE_NTP 1
#define SYNC_SOURCE_LOCAL 5

uint8_t clock_sync_source(bool by_nic)
{
	struct timex t = { .modes = 0 };

	return !by_nic && adjtimex(&t) >= 0 && !(t.status & STA_UNSYNC) ? SYNC_SOURCE_NTP : SYNC_SOURCE_LOCAL;
}

void clock_close(struct clock_watch *c)
{
	if (c->frequency_fd >= 0 && c->frequency_fd != c->phc_fd)
		close(c->frequency_fd);
	if (c->phc_fd >= 0)
		close(c->phc_fd);
	clock_budget_close(&c->budget);
	c->phc_fd = c->frequency_fd = -1;
}
