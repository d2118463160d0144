/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ways to compare the PHC with the system's clocks. For clock.c alone. */
#ifndef HOST_CLOCK_CLOCK_COMPARE_H
#define HOST_CLOCK_CLOCK_COMPARE_H

#include "host/clock/clock.h"

/* The PHC minus CLOCK_REALTIME, and minus CLOCK_MONOTONIC_RAW where the way gives that. A bound of INT64_MAX: not
 * taken. */
struct clock_compared {
	struct clock_relation real, raw;
};

/* Finds the best way that works with an open PHC, whose granularity is known: fills c->method and c->raw_taken. 0 or
 * -errno. */
int clock_compare_choose(struct clock_watch *c);

/* Compares by c->method, or when that fails now by those after it: a busy driver (EBUSY) does not spoil a reading. 0,
 * or -errno of the last one. */
int clock_compare_phc(const struct clock_watch *c, struct clock_compared *t);

/* CLOCK_REALTIME minus CLOCK_MONOTONIC_RAW. False: it cannot be read, or was set back each time. */
bool clock_compare_system(const struct clock_watch *c, struct clock_relation *real_raw);

#endif
