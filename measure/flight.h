/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet on its way, and what is remembered of those that were (hot). */
#ifndef MEASURE_FLIGHT_H
#define MEASURE_FLIGHT_H

#include "rant.h"
#include "result/stages.h"

/* packets whose transmit stamp may still come, a power of two; an emitter with a window may have more */
#define FLIGHTS 256
#define LOST_REMEMBERED 1024 /* lost probes whose late reply is still told from a duplicate */
#define T1_REMEMBERED 1024 /* probes whose T1 a late or second reply must name, a power of two */

/* A probe that was given up. */
struct lost_probe {
	int64_t seq; /* negative: its reply came */
	uint64_t t1; /* packet_t1() */
};

enum flight_state { FLIGHT_NONE, FLIGHT_WAITING, FLIGHT_STAMPED, FLIGHT_GIVEN_UP };

struct flight {
	struct sample sample;
	int64_t sent_ns; /* CLOCK_MONOTONIC, as last read */
	/* TIMEBASE_SYSTEM: the last exchange.now_ns that is known to be before the first of its two times */
	int64_t base_ns;
	int64_t sent_real_ns; /* emitter, TIMEBASE_SYSTEM: CLOCK_REALTIME, read between sent_ns and sent_by_ns */
	int64_t sent_by_ns; /* emitter: CLOCK_MONOTONIC, as read next; 0: not yet */
	int64_t late_ns; /* emitter, by the clock: sent so long after it was due */
	int64_t call_ns; /* emitter, by the clock: of the send */
	uint32_t key;
	uint32_t id; /* of its transmit stamp */
	uint32_t reply_seq; /* the reflector's number of the reply, in both roles */
	uint8_t state; /* enum flight_state */
	uint8_t t2_method; /* emitter: enum packet_method */
	bool told; /* emitter: the reply had an answered Follow-Up TLV */
	bool warmup, breach;
	bool kept; /* emitter: concluded, and to be recorded */
	bool unasked; /* emitter: for its stamp, so it is not recorded */
	bool counted; /* pmc_end() was true */
	bool set; /* the clock of its stamps was set while it was on its way */
	bool weighed; /* emitter: its T1 and T2 were compared with the two hosts' clocks, */
	bool has_offset; /* and these told how far the other one was ahead at T1: */
	int64_t offset_ns, offset_bound_ns;
	int64_t bound_ns[BOUNDS]; /* of its times of user space */
	uint16_t session; /* reflector: of the packet that is answered */
	uint8_t lane; /* that it was sent by */
	/* With a window: */
	uint8_t fate; /* enum fate */
	bool t3_untold; /* the reply after its reply did not know when that left */
	uint32_t port_seq; /* with source ports: its number among those of its port */
	bool agrees; /* its times agreed with the two hosts' clocks when they were compared */
	uint64_t conflicts; /* clock_peer.conflicts when its times were compared */
	uint32_t confirm_key; /* this probe and those after it were sent after the reply was read */
	uint32_t stamps_out; /* so many transmit stamps were waited for when it was sent, its own included */
};

/* Of a probe, with a window. */
enum fate { FATE_OPEN, FATE_ANSWERED, FATE_LOST, FATE_CLOSING, FATE_DONE };

#endif
