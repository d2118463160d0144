/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Methods to compare the PHC with the system clocks. For clock.c only. */
#ifndef HOST_CLOCK_CLOCK_COMPARE_H
#define HOST_CLOCK_CLOCK_COMPARE_H

#include "host/clock/clock.h"

#include <errno.h>

/* PHC minus CLOCK_REALTIME, and PHC minus CLOCK_MONOTONIC_RAW where the method measures it. A bound of INT64_MAX: not
 * measured. */
struct clock_compared {
	struct clock_relation real, raw;
};

/* Chooses the best method that works with the open PHC, whose granularity must be known: fills c->method and
 * c->raw_taken. 0 or -errno. */
int clock_compare_choose(struct clock_watch *c);

/* Compares by c->method; if it fails, for example with EBUSY, by the methods after it in enum clock_method. 0, or
 * -errno of the last method. */
int clock_compare_phc(const struct clock_watch *c, struct clock_compared *t);

/* Largest number of readings of the PHC by clock_compare_phc(), and by clock_compare_choose(), of a clock with a limit;
 * with a limit a refusal does not lead to other methods. */
#define COMPARE_LIMITED_READS 3
#define CHOOSE_LIMITED_READS (3 * COMPARE_LIMITED_READS)

/* True for the errors of a device that refuses a reading for a while. */
static inline bool clock_is_refusal(int error)
{
	return error == -EBUSY || error == -EOPNOTSUPP;
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. False: a clock cannot be read, or was set back during each try. */
bool clock_compare_system(const struct clock_watch *c, struct clock_relation *real_raw);

#endif
