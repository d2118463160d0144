/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other host's PHC, by the four times of exchanges. */
#ifndef HOST_CLOCK_PEER_H
#define HOST_CLOCK_PEER_H

#include "host/clock.h"

/* The reflector's PHC minus the emitter's, from the four times on the wire of exchanges. */
struct clock_peer {
	struct clock_relation best; /* at T1; bounds grow with age, so the best is a young one */
	struct clock_relation first, last, window; /* the best of the first, the last whole and the present second */
	uint64_t exchanges;
	uint64_t refused; /* response longer than the round trip, or beyond 64 bits */
	uint64_t jumps; /* no steady pair of clocks explains it: one was set, and all above began again */
	int64_t since_ns; /* T1 at the begin of the present second */
	bool has_first, has_last;
};

/* Hot. t1_ns .. t4_ns in the order of the exchange. The bound is half the time on the way. */
void clock_peer_add(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, int64_t t3_ns, int64_t t4_ns);

/* Hot. The reflector's clock minus the emitter's at t1_ns, by the best exchange so far, and how far off that may be.
 * False: there was none. */
bool clock_peer_offset(const struct clock_peer *p, int64_t t1_ns, int64_t *offset_ns, int64_t *bound_ns);

/* False: nothing was added. The relation is the best of about the last two seconds, and is that of its moment, at_ns;
 * the rate is that of the reflector's clock against the emitter's. */
bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate);

#endif
