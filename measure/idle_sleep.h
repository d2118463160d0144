/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Idle sleep of a reflector without requests (hot where the clock is read): after a second without
 * datagrams it sleeps in the kernel until a datagram arrives. That request waits for the task's wake-up,
 * some microseconds, more from a deep idle state of the CPU; so wake-ups are counted and the slowest
 * response is kept. Then the loop polls again for at least a second.
 */
#ifndef MEASURE_IDLE_SLEEP_H
#define MEASURE_IDLE_SLEEP_H

#include "rant.h"

struct exchange;

#define IDLE_SLEEP_AFTER_NS NS_PER_S
/* longest single sleep: a signal ends it, but a signal in the microseconds before it is handled only after
 * it */
#define IDLE_SLEEP_NS NS_PER_S

struct idle_sleep_state {
	/* The loop's own: so many datagrams had come when the clock was read last, and since when there are no more; */
	uint64_t heard;
	int64_t heard_ns;
	uint32_t key; /* flight key of the answer to the request that woke the loop */
	bool woken; /* `key` is valid */
};

/* True if it is time to sleep, by the clock as just read and with all sockets empty. Never while an answer
 * waits for its timestamp (`waiting`) or with --spin. Also notes the response of the last wake-up. */
bool idle_sleep_is_due(struct exchange *x, bool waiting);

/* Sleeps until a datagram arrives or the run ends. Fetch pending error queue entries before, or the sleep
 * returns at once. True: a datagram arrived on some socket; all sockets are then polled. The caller has
 * read the clock before and must read it again. One system call. */
bool idle_sleep(struct exchange *x);

#endif
