/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emitter with more than one probe in flight (hot): sent by the clock, or as soon as there is room in the window.
 * Flights are in a ring by sequence number and leave it in that order, so that what is recorded and what is compared
 * with the other host's clock comes in the order in which it was sent. A ring that is full holds up the sending;
 * nothing is given up for it.
 */
#ifndef MEASURE_WINDOW_H
#define MEASURE_WINDOW_H

#include "rant.h"
#include "wire/packet.h"

struct exchange;

#define EARLY_T3S 64 /* a power of two */
#define WINDOW_T3_REACH 16 /* replies after it of which one may still tell T3: some are behind others */
/* flights of the ring that are neither in flight nor held: answered, but the reflector's T3 is still to be told */
#define WINDOW_BESIDE 64

/* Probes by the number of their reply, which the reflector counts for each session. */
struct replies {
	uint32_t *key; /* as many as the mask says, and one more */
	uint32_t mask;
	bool any;
	uint32_t highest;
	/* T3 of replies that have not come, by their number: those after them came before */
	struct packet_departure early[EARLY_T3S];
};

/* Replies or stamps, which wait in queues of the kernel. */
struct window_queue {
	int64_t read_ns; /* all that came before this moment (CLOCK_MONOTONIC) has been read */
	int64_t marked_ns; /* so has all that came before this one when so many more are read, or there are none */
	uint32_t unread;
};

struct window {
	/* Set by the caller, with the rings of the exchange (see there); most is 0 without a window, which several
	 * source ports need. */
	uint32_t most; /* probes that may be in flight, up to WINDOW_MAX */
	struct replies replies; /* as many as flights; of several source ports see measure/source_port.h */

	/* Results. */
	uint32_t reached; /* so many were in flight at once */
	/* transmit stamps that are waited for at once: of a NIC as many as it was found to take */
	uint32_t stamps_most;
	bool stamps_limited; /* with one more some were missing */

	/* Its own. */
	uint32_t in_flight; /* sent, neither answered nor given up */
	uint32_t held_key; /* flights from it to oldest_key - 1 are held: see join_release() */
	uint32_t beside_key; /* the last of the held flights whose T4 is not after the last T1 that was compared */
	/* that T1; and what was before this moment contradicts what was after it, as is known */
	int64_t beside_t1_ns, beside_since_ns;
	uint32_t confirmed_key; /* the last flight whose T1 and T2 were compared with the two hosts' clocks */
	uint32_t stamps_out, stamps_good; /* that are waited for, and that came since there may be so many */
	bool stamps_held; /* they held up a probe since then */
	struct window_queue reply_queue, stamp_queue;
	int64_t slowest_ns; /* round trip that was concluded */
	int64_t slowest_stamp_ns; /* from its send to its fetch, as far as it is known by the clock */
	uint32_t stamp_key; /* of all flights before it the stamp came, or is overdue */
	uint32_t dated_key, expire_key; /* all flights before it have sent_by_ns; none of them is open */
	uint32_t next_port, last_port; /* that is sent from next, and that was last */
	uint32_t refused; /* ports that the kernel sent nothing from, one after the other */
	int64_t answered_ns, retry_ns; /* CLOCK_MONOTONIC: the last answer; the next try after a refused send */
};

void window_run(struct exchange *x);

#endif
