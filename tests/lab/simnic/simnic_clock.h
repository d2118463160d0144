/* SPDX-License-Identifier: GPL-2.0 */
/* The PHC of a simulated NIC: simnic.c, which alone includes it, says how it runs. */
#ifndef SIMNIC_CLOCK_H
#define SIMNIC_CLOCK_H

#include "simnic.h"

#include <linux/ptp_clock_kernel.h>

struct clock {
	struct ptp_clock_info info;
	struct ptp_clock *ptp;
	int index; /* of the device */
	spinlock_t lock;
	s64 at, phc; /* true time of the last look, and what the clock read then */
	s64 rest; /* of phc, in 10^-9 ns */
	s64 adjusted_ppb; /* by adjfine */
	s64 stepped; /* all steps so far */
	s64 read_at[READ_BUDGET_MAX]; /* a ring: true time of the last reads that were accepted */
	unsigned int accepted;
};

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static s64 real_minus_raw; /* a PHC starts as CLOCK_REALTIME, like most */

static s64 true_now(void)
{
	return (s64)ktime_get_raw_ns() + real_minus_raw;
}

/* What the rate adds in `part` ns of true time, rounded down; *rest: what the last rounding left, and this one leaves.
 * So each reading is rounded once. */
static s64 clock_gain(s64 part, s64 rate_ppb, s64 *rest)
{
	s64 product = part * rate_ppb + *rest;
	s64 whole = div_s64(product, NSEC_PER_SEC);

	whole -= whole * NSEC_PER_SEC > product;
	*rest = product - whole * NSEC_PER_SEC;
	return whole;
}

/* Brings the clock to true time t; a second at a time, since ns * ppb must fit 64 bits even of a clock that stands. */
static void clock_advance(struct clock *c, s64 t)
{
	const s64 rate_ppb = c->adjusted_ppb + READ_ONCE(drift_ppb[c->index]);

	while (t > c->at) {
		s64 part = min_t(s64, t - c->at, NSEC_PER_SEC);

		c->phc += part + clock_gain(part, rate_ppb, &c->rest);
		c->at += part;
	}
}

/* What the clock reads at true time t, which is close to now. */
static s64 clock_read_at(struct clock *c, s64 t)
{
	unsigned long flags;
	s64 value, rest;

	spin_lock_irqsave(&c->lock, flags);
	clock_advance(c, true_now());
	rest = c->rest;
	value = c->phc + t - c->at + clock_gain(t - c->at, c->adjusted_ppb + READ_ONCE(drift_ppb[c->index]), &rest) +
		READ_ONCE(phc_offset_ns[c->index]);
	spin_unlock_irqrestore(&c->lock, flags);
	return value;
}

/* The stamp of true time t by this device's PHC. */
static s64 clock_stamp(struct clock *c, s64 t, bool scripted, s64 epoch)
{
	if (!scripted)
		return clock_read_at(c, t);
	return t + READ_ONCE(phc_offset_ns[c->index]) + READ_ONCE(c->stepped) +
	       div_s64((t - epoch) * READ_ONCE(drift_ppb[c->index]), NSEC_PER_SEC);
}

static void clock_step(struct clock *c, s64 ns)
{
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	c->phc += ns;
	c->stepped += ns;
	spin_unlock_irqrestore(&c->lock, flags);
}

static struct clock *clock_of(struct ptp_clock_info *info)
{
	return container_of(info, struct clock, info);
}

static int sim_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct clock *c = clock_of(info);
	unsigned long flags;

	spin_lock_irqsave(&c->lock, flags);
	clock_advance(c, true_now());
	c->adjusted_ppb = ((s64)scaled_ppm * 1000) >> 16;
	spin_unlock_irqrestore(&c->lock, flags);
	return 0;
}

static int sim_adjtime(struct ptp_clock_info *info, s64 ns)
{
	clock_step(clock_of(info), ns);
	return 0;
}

/* More reads than read_budget in the second before. */
static bool is_over_budget(struct clock *c)
{
	const unsigned int budget = min_t(unsigned int, READ_ONCE(read_budget), READ_BUDGET_MAX);
	const s64 now = true_now();
	unsigned long flags;
	bool over;

	if (!budget)
		return false;
	spin_lock_irqsave(&c->lock, flags);
	over = c->accepted >= budget && now - c->read_at[(c->accepted - budget) % READ_BUDGET_MAX] < NSEC_PER_SEC;
	if (over)
		reads_refused++;
	else
		c->read_at[c->accepted++ % READ_BUDGET_MAX] = now;
	spin_unlock_irqrestore(&c->lock, flags);
	return over;
}

static atomic_t reads;

static int sim_gettimex64(struct ptp_clock_info *info, struct timespec64 *ts, struct ptp_system_timestamp *sts)
{
	const unsigned int every = READ_ONCE(read_error_every);
	s64 t;

	if (READ_ONCE(phc_unreadable))
		return -EOPNOTSUPP;
	if (every && (unsigned int)atomic_inc_return(&reads) % every == 0)
		return -(int)READ_ONCE(read_error);
	if (is_over_budget(clock_of(info)))
		return -EBUSY;
	ptp_read_system_prets(sts);
	t = true_now();
	ptp_read_system_postts(sts);
	*ts = ns_to_timespec64(clock_read_at(clock_of(info), t));
	return 0;
}

static int sim_settime64(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	struct clock *c = clock_of(info);

	clock_step(c, timespec64_to_ns(ts) - clock_read_at(c, true_now()));
	return 0;
}

static const struct ptp_clock_info clock_info = {
	.owner = THIS_MODULE,
	.max_adj = 1000000,
	.adjfine = sim_adjfine,
	.adjtime = sim_adjtime,
	.gettimex64 = sim_gettimex64,
	.settime64 = sim_settime64,
};

static int clock_open(struct clock *c, const char *kind, int index)
{
	c->index = index;
	spin_lock_init(&c->lock);
	c->at = c->phc = true_now();
	c->info = clock_info;
	snprintf(c->info.name, sizeof(c->info.name), "%s%d", kind, index);
	c->ptp = ptp_clock_register(&c->info, NULL);
	if (IS_ERR(c->ptp))
		return PTR_ERR(c->ptp);
	return c->ptp ? 0 : -EOPNOTSUPP;
}

#endif
