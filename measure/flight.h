/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet in flight, and the memory of earlier packets (hot). */
#ifndef MEASURE_FLIGHT_H
#define MEASURE_FLIGHT_H

#include "rant.h"
#include "result/stamp_check.h"
#include "result/stages.h"

/* packets that may wait for their transmit timestamp, a power of two; more with an emitter's window */
#define FLIGHTS 256
#define LOST_REMEMBERED 1024 /* lost probes that are remembered to distinguish a late reply from a duplicate */
#define T1_REMEMBERED 1024 /* probes whose T1 is checked against a late or second reply, a power of two */

/* A probe that timed out. */
struct lost_probe {
	int64_t seq; /* negative: its reply has arrived */
	uint64_t t1; /* packet_t1() */
};

enum flight_state { FLIGHT_NONE, FLIGHT_WAITING, FLIGHT_STAMPED, FLIGHT_GIVEN_UP };

struct flight {
	struct sample sample;
	int64_t sent_ns; /* CLOCK_MONOTONIC, as last read */
	/* TIMEBASE_SYSTEM: the last exchange.now_ns known to be before the first of the packet's two times */
	int64_t base_ns;
	int64_t sent_real_ns; /* emitter, TIMEBASE_SYSTEM: CLOCK_REALTIME, read between sent_ns and sent_by_ns */
	int64_t sent_by_ns; /* emitter: next reading of CLOCK_MONOTONIC after the send; 0: not yet */
	int64_t late_ns; /* emitter, scheduled probes: send time minus scheduled time */
	int64_t call_ns; /* emitter, scheduled probes: duration of the send call */
	uint32_t key;
	uint32_t id; /* id of the transmit timestamp */
	uint32_t reply_seq; /* the reflector's reply number, in both roles */
	uint8_t state; /* enum flight_state */
	uint8_t t2_method; /* emitter: enum packet_method */
	bool reported; /* emitter: the reply had an answered Follow-Up TLV */
	bool warmup, breach;
	bool kept; /* emitter: concluded, to be recorded */
	bool unasked; /* emitter: no timestamp was requested, so it is not recorded */
	bool detailed; /* the kernel's transmit times were requested */
	bool counted; /* pmc_end() was true */
	bool set; /* the clock of its timestamps was stepped during the exchange */
	bool validated; /* emitter: T1 and T2 were compared with the clocks of both hosts */
	bool has_offset; /* the comparison gave the reflector's offset at T1 */
	int64_t offset_ns, offset_bound_ns;
	int64_t bound_ns[BOUNDS]; /* error bounds of its user-space times */
	int64_t before_ns[STAMP_WAYS]; /* for stamp_check_add() */
	uint16_t session; /* reflector: session of the answered packet */
	uint8_t peer_socket; /* index of the socket that sent it */
	/* With a window: */
	uint8_t fate; /* enum fate */
	bool t3_unreported; /* the reply after its reply did not report its departure */
	uint32_t port_seq; /* with source ports: its number among the packets of its port */
	bool agrees; /* its times agreed with the clocks of both hosts */
	uint64_t conflicts; /* clock_peer.conflicts at the comparison */
	uint32_t confirm_key; /* this probe and later probes were sent after the reply was read */
	uint32_t stamps_out; /* outstanding transmit timestamps at the send, including its own */
};

/* State of a probe with a window. */
enum fate { FATE_OPEN, FATE_ANSWERED, FATE_LOST, FATE_CLOSING, FATE_DONE };

#endif
