/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel tells whether CLOCK_REALTIME was set: also when it was set back again before anybody read it. */
#ifndef HOST_CLOCK_CLOCK_SET_H
#define HOST_CLOCK_CLOCK_SET_H

#include "rant.h"

struct clock_set {
	int fd; /* -1: not open */
};

/* 0, or -errno and a line is written. */
int clock_set_open(struct clock_set *c);

/* Hot. Was it set since this was asked last, or since clock_set_open()? The kernel moves the clock first and tells of
 * it some microseconds later. */
bool clock_set_seen(const struct clock_set *c);

void clock_set_close(struct clock_set *c);

#endif
