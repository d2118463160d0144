/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Methods to compare the PHC with the system clocks. For clock.c only. */
#ifndef HOST_CLOCK_CLOCK_COMPARE_H
#define HOST_CLOCK_CLOCK_COMPARE_H

#include "host/clock/clock.h"

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

/* CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. False: a clock cannot be read, or was set back during each try. */
bool clock_compare_system(const struct clock_watch *c, struct clock_relation *real_raw);

#endif
