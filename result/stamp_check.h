/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timestamps of this host's NIC in the order of cause and effect (hot): a packet that is sent after the timestamp of another
 * packet was read has a later timestamp in the same direction, whatever queues and interrupts both used. An equal
 * timestamp is repeated (the driver returned that of an earlier packet) or within one step of a coarse clock; an earlier
 * one went backwards.
 */
#ifndef RESULT_STAMP_CHECK_H
#define RESULT_STAMP_CHECK_H

#include "rant.h"

/* The step is of the first timestamps only: later timestamps cost two comparisons. */
#define STAMP_STEP_MOST 1024
/* By chance all differences have the common factor 2 with a probability of 2^-(n - 1). */
#define STAMP_STEP_LEAST 64

enum { STAMP_SENT, STAMP_RECEIVED, STAMP_WAYS };

struct stamp_check {
	uint64_t stamps[STAMP_WAYS], repeated[STAMP_WAYS], backward[STAMP_WAYS];
	int64_t last_ns[STAMP_WAYS]; /* of the emitter: the timestamp that was read last; 0: none */
	int64_t first_ns; /* of either direction */
	int64_t divisor_ns; /* of all differences from first_ns */
	uint64_t steps_of; /* timestamps that divisor_ns includes */
};

/* Adds a timestamp to the step. */
void stamp_check_step(struct stamp_check *c, int64_t ns);

/* before_ns: a timestamp of the same direction that was read before this packet could be sent; 0: none. */
INLINE void stamp_check_add(struct stamp_check *c, const unsigned way, int64_t ns, int64_t before_ns)
{
	c->last_ns[way] = ns;
	c->stamps[way]++;
	c->repeated[way] += before_ns && ns == before_ns;
	c->backward[way] += ns < before_ns;
	if (c->steps_of < STAMP_STEP_MOST)
		stamp_check_step(c, ns);
}

/* The greatest common divisor of the differences of the first timestamps; not known with too few. A clock that another
 * program steers has fractions of a nanosecond in its step, so 1 ns does not prove a fine clock. */
struct optional stamp_check_step_ns(const struct stamp_check *c);

/* Timestamps that cannot be of their packets. */
static inline uint64_t stamp_check_faults(const struct stamp_check *c)
{
	uint64_t n = 0;

	for (int i = 0; i < STAMP_WAYS; i++)
		n += c->repeated[i] + c->backward[i];
	return n;
}

#endif
