/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of the poll gaps (hot): the time stamp counter where the kernel itself keeps the time by it, else
 * CLOCK_MONOTONIC. One reading of the counter costs less than half of clock_gettime(2) in the vDSO, and there is one in
 * each turn of the loop.
 */
#ifndef HOST_CLOCK_POLL_CLOCK_H
#define HOST_CLOCK_POLL_CLOCK_H

#include "rant.h"

struct poll_clock {
	uint64_t ns_per_tick; /* times 2^32; 0: a tick is a nanosecond of CLOCK_MONOTONIC */
	int64_t begun_ticks, begun_ns; /* of the counter and of CLOCK_MONOTONIC, at poll_clock_open() */
};

/* Selects the counter and measures its frequency, which takes some milliseconds. */
void poll_clock_open(struct poll_clock *c);

/* False: the counter does not agree with CLOCK_MONOTONIC over the time since poll_clock_open() (suspend, migration of a
 * virtual machine), or the kernel stopped using it: no gap is to be believed. */
bool poll_clock_agrees(const struct poll_clock *c);

static inline int64_t poll_clock_read(const struct poll_clock *c)
{
#ifdef __x86_64__
	if (c->ns_per_tick)
		return (int64_t)__builtin_ia32_rdtsc();
#endif
	(void)c;
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* A difference of two readings. */
static inline int64_t poll_clock_ns(const struct poll_clock *c, int64_t ticks)
{
	return c->ns_per_tick ? (int64_t)((__int128)ticks * (int64_t)c->ns_per_tick >> 32) : ticks;
}

#endif
