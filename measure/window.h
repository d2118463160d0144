/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emitter with several probes in flight (hot): sent on schedule, or as soon as the window has space.
 * Flights are in a ring by sequence number and leave it in that order, so that recording and clock
 * comparison follow the send order. A full ring delays sending; no probe is given up for it.
 */
#ifndef MEASURE_WINDOW_H
#define MEASURE_WINDOW_H

#include "rant.h"
#include "wire/packet.h"

struct exchange;

#define EARLY_T3S 64 /* a power of two */
#define WINDOW_T3_REACH 16 /* number of later replies that may still report T3, since replies may be reordered */
/* ring entries neither in flight nor held: answered, but the reflector's T3 is outstanding */
#define WINDOW_BESIDE 64

/* Probes by reply number, which the reflector counts for each session. */
struct replies {
	uint32_t *key; /* mask + 1 entries */
	uint32_t mask;
	bool any;
	uint32_t highest;
	/* T3 of replies that have not arrived yet, by reply number: later replies arrived before */
	struct packet_departure early[EARLY_T3S];
};

/* Read positions in the kernel's queues of replies or timestamps. */
struct window_queue {
	int64_t read_ns; /* everything that arrived before this time (CLOCK_MONOTONIC) has been read */
	int64_t marked_ns; /* the next read_ns, when the remaining datagrams are read or the queue is empty */
	uint32_t unread;
};

struct window_reply {
	bool known;
	int64_t t3_ns, t4_ns;
	int64_t network_ns; /* round trip less response, from 0 to the round trip */
};

struct window {
	/* Set by the caller, with the rings of the exchange (see there); most is 0 without a window;
	 * several source ports need a window. */
	uint32_t most; /* maximum probes in flight, up to WINDOW_MAX */
	struct replies replies; /* flights entries; for several source ports see measure/source_port.h */

	/* Results. */
	uint32_t reached; /* largest number in flight */
	/* limit of outstanding transmit timestamps, as found for this NIC */
	uint32_t stamps_most;
	bool stamps_limited; /* with one more outstanding, timestamps were missing */

	/* Internal. */
	uint32_t in_flight; /* sent, neither answered nor timed out */
	uint32_t held_key; /* flights from this key to oldest_key - 1 are held: see join_release() */
	uint32_t beside_key; /* the last held flight whose T4 is not after the last compared T1 */
	/* its reply, or that of the last such flight with all times; kept when the flight is recorded */
	struct window_reply beside;
	/* the last compared T1; time before which data contradict later data */
	int64_t beside_t1_ns, beside_since_ns;
	/* the last flight whose T1 and T2 were compared with the clocks of both hosts */
	uint32_t confirmed_key;
	/* outstanding timestamps; timestamps received since the limit changed */
	uint32_t stamps_out, stamps_good;
	bool stamps_held; /* the limit delayed a probe since then */
	struct window_queue reply_queue, stamp_queue;
	int64_t slowest_ns; /* longest concluded round trip */
	int64_t slowest_stamp_ns; /* longest time from a send to its timestamp's fetch, by clock readings */
	uint32_t stamp_key; /* timestamps of all flights before this key have arrived or are overdue */
	/* all flights before dated_key have sent_by_ns; none before expire_key is open */
	uint32_t dated_key, expire_key;
	uint32_t next_port, last_port; /* port of the next send, and of the last */
	uint32_t refused; /* consecutive ports from which the kernel refused to send */
	int64_t answered_ns, retry_ns; /* CLOCK_MONOTONIC: last answer; next retry after a refused send */
};

void window_run(struct exchange *x);

#endif
