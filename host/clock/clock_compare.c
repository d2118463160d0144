// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four methods to compare the PHC with the system clocks. Each reads the first clock, the second, and the first again,
 * several times; the shortest bracket counts.
 * Sources: Documentation/driver-api/ptp.rst, linux/ptp_clock.h.
 */
#include "host/clock/clock_compare.h"

#include "host/clock/clock_inside.h"

#include <errno.h>
#include <linux/ptp_clock.h>
#include <sys/ioctl.h>

#define SAMPLES 5 /* the sample with the shortest bracket counts */
#define LIMITED_SAMPLES COMPARE_LIMITED_READS
#define PRECISE_NS 100 /* a tick of the always running timer (ART, up to 42 ns) at both ends, plus the PCIe delay */

/* From linux/ptp_clock.h of Linux 6.12. Older headers have a reserved word instead of `clock`, which is 0 there. */
struct offset_extended {
	uint32_t samples;
	int32_t clock;
	uint32_t reserved[2];
	struct ptp_clock_time ts[PTP_MAX_SAMPLES][3];
};

_Static_assert(sizeof(struct offset_extended) == sizeof(struct ptp_sys_offset_extended), "as the kernel has it");

static unsigned samples(const struct clock_watch *c)
{
	return c->budget.reads_per_s ? LIMITED_SAMPLES : SAMPLES;
}

static bool stamp_ns(const struct ptp_clock_time *t, int64_t *ns)
{
	return t->nsec < NS_PER_S && !__builtin_mul_overflow((int64_t)t->sec, NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)t->nsec, ns);
}

/*
 * Replaces *best by the relation of the bracket before, other, after, if its bound is smaller. `other` was read at any
 * time within the bracket, so the bound is half of its width plus granularities (slack_ns). 1/512 of that half is added
 * for a drift of some 1000 ppm between the read and the middle of the bracket.
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

bool clock_compare_system(const struct clock_watch *c, struct clock_relation *real_raw)
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

/* ---- The four methods ------------------------------------------------------------------------------------------- */

static int done(const struct clock_compared *t)
{
	return is_taken(&t->real) ? 0 : -EIO;
}

static int take_precise(const struct clock_watch *c, struct clock_compared *t)
{
	int64_t phc_ns, real_ns, raw_ns, bound_ns = PRECISE_NS + slack(c);

	for (int i = 0; i < TRIES; i++) {
		struct ptp_sys_offset_precise p = { 0 };

		if (ioctl(c->phc_fd, PTP_SYS_OFFSET_PRECISE, &p)) {
			if (errno == EBUSY && !c->budget.reads_per_s)
				continue;
			return -errno;
		}
		if (!stamp_ns(&p.device, &phc_ns) || !stamp_ns(&p.sys_realtime, &real_ns) ||
		    !stamp_ns(&p.sys_monoraw, &raw_ns))
			return -EIO;
		/* The kernel captures all three clocks at one instant, so the bracket has no width. */
		narrow(&t->real, real_ns, phc_ns, real_ns, bound_ns);
		narrow(&t->raw, raw_ns, phc_ns, raw_ns, bound_ns);
		return done(t);
	}
	return -EBUSY;
}

static int extended(const struct clock_watch *c, clockid_t clock, struct clock_relation *to)
{
	struct offset_extended x = { .samples = samples(c), .clock = clock };
	int64_t before_ns, phc_ns, after_ns;

	if (ioctl(c->phc_fd, _IOWR(PTP_CLK_MAGIC, 9, struct offset_extended), &x))
		return -errno;
	for (unsigned i = 0; i < samples(c); i++)
		if (stamp_ns(&x.ts[i][0], &before_ns) && stamp_ns(&x.ts[i][1], &phc_ns) &&
		    stamp_ns(&x.ts[i][2], &after_ns))
			narrow(to, before_ns, phc_ns, after_ns, slack(c));
	return is_taken(to) ? 0 : -EIO;
}

static int take_extended(const struct clock_watch *c, struct clock_compared *t)
{
	int error = extended(c, CLOCK_REALTIME, &t->real);

	if (!error && c->raw_taken)
		error = extended(c, CLOCK_MONOTONIC_RAW, &t->raw);
	return error;
}

static int take_plain(const struct clock_watch *c, struct clock_compared *t)
{
	struct ptp_sys_offset p = { .n_samples = samples(c) };
	int64_t before_ns, phc_ns, after_ns;

	if (ioctl(c->phc_fd, PTP_SYS_OFFSET, &p))
		return -errno;
	for (unsigned i = 0; i < 2 * samples(c); i += 2)
		if (stamp_ns(&p.ts[i], &before_ns) && stamp_ns(&p.ts[i + 1], &phc_ns) &&
		    stamp_ns(&p.ts[i + 2], &after_ns))
			narrow(&t->real, before_ns, phc_ns, after_ns, slack(c));
	return done(t);
}

static bool sandwich(const struct clock_watch *c, clockid_t clock, struct clock_relation *to)
{
	int64_t before_ns, phc_ns, after_ns;

	for (unsigned i = 0; i < samples(c); i++)
		if (read_ns(clock, &before_ns) && read_ns(clock_of_fd(c->phc_fd), &phc_ns) && read_ns(clock, &after_ns))
			narrow(to, before_ns, phc_ns, after_ns, slack(c));
	return is_taken(to);
}

static int take_sandwich(const struct clock_watch *c, struct clock_compared *t)
{
	if (!sandwich(c, CLOCK_REALTIME, &t->real))
		return errno ? -errno : -EIO;
	if (c->budget.reads_per_s)
		return 0;
	return sandwich(c, CLOCK_MONOTONIC_RAW, &t->raw) ? 0 : -EIO;
}

static int (*const take[CLOCK_METHODS])(const struct clock_watch *c, struct clock_compared *t) = {
	[CLOCK_PRECISE] = take_precise,
	[CLOCK_EXTENDED] = take_extended,
	[CLOCK_PLAIN] = take_plain,
	[CLOCK_SANDWICH] = take_sandwich,
};

int clock_compare_phc(const struct clock_watch *c, struct clock_compared *t)
{
	int error = -ENODEV;

	for (enum clock_method m = c->method; m < CLOCK_METHODS && error; m++) {
		*t = (struct clock_compared){ none, none };
		errno = 0;
		error = take[m](c, t);
		if (c->budget.reads_per_s && clock_is_refusal(error))
			break;
	}
	return error;
}

/* ---- Choice of the method --------------------------------------------------------------------------------------- */

/* Some drivers implement PTP_SYS_OFFSET_PRECISE wrongly: it is not used if it contradicts clock_gettime(2). */
static bool is_usable(const struct clock_watch *c, enum clock_method m)
{
	struct clock_compared t = { none, none }, simple = { none, none };

	if (take[m](c, &t))
		return false;
	return m != CLOCK_PRECISE || take_sandwich(c, &simple) || agree(&t.real, &simple.real);
}

int clock_compare_choose(struct clock_watch *c)
{
	struct clock_relation ignored = none;

	c->raw_taken = !c->budget.reads_per_s && !extended(c, CLOCK_MONOTONIC_RAW, &ignored);
	for (c->method = CLOCK_PRECISE; c->method < CLOCK_SANDWICH; c->method++)
		if (is_usable(c, c->method))
			return 0;
	return is_usable(c, CLOCK_SANDWICH) ? 0 : -EIO;
}
