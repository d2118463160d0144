/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects that CLOCK_REALTIME was set, even if it was set back before anyone read it. */
#ifndef HOST_CLOCK_CLOCK_SET_H
#define HOST_CLOCK_CLOCK_SET_H

#include "rant.h"

struct clock_set {
	int fd; /* -1: not open */
};

/* 0, or -errno after one line. */
int clock_set_open(struct clock_set *c);

/* Hot path. True if the clock was set since the last call, or since clock_set_open(). The kernel sets the clock first
 * and reports it some microseconds later. */
bool clock_set_seen(const struct clock_set *c);

void clock_set_close(struct clock_set *c);

#endif
