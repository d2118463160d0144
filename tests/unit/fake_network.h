/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated network with an emitter's kernel and a reflector, in virtual time: the events of each probe
 * are fixed in advance, so that every record and every count can be compared with them.
 */
#ifndef TESTS_UNIT_FAKE_NETWORK_H
#define TESTS_UNIT_FAKE_NETWORK_H

#include "host/clock/clock_peer.h"
#include "measure/exchange.h"
#include "measure/run_buffers.h"
#include "wire/packet.h"
#include "wire/timestamping.h"

#define PROBES 6000
#define EVENTS 16384
#define PORTS 128
#define BEGIN_NS (1000 * NS_PER_S)
#define EPOCH_NS (1700000000 * NS_PER_S) /* CLOCK_REALTIME is so much ahead */
#define THERE_NS (1234567 * NS_PER_S) /* and the reflector's clock of that */
#define CALL_NS 300 /* duration of a system call */
#define IDLE_NS_MAX 3000
#define WIRE_NS 700 /* from the send to the timestamp */
#define RESPONSE_NS 200 /* less than an iteration of the loop */
#define TIMEOUT_NS (20 * NS_PER_MS)

/* Scripted events of a probe */
struct fate_of {
	int64_t remote_ns, back_ns; /* its ways; negative: lost */
	int64_t again_ns; /* its reply comes again, so much later; 0: once */
	int64_t stamp_ns; /* delivery delay of the transmit timestamp; negative: never */
	int64_t known_ns; /* delay until the reflector has T3; negative: never */
	unsigned refused; /* so often */
	bool forged; /* a reply with a wrong T1 arrives before its reply */
	bool astray; /* the reply comes first to another port than it was sent from */
};

/* Observed events */
struct truth {
	int64_t t1_ns, t2_ns, t3_ns, t4_ns;
	int64_t tried_ns; /* for the first time */
	unsigned tries, port;
	bool sent, closing;
};

enum what { ARRIVES_THERE, ARRIVES_HERE, STAMP, PLACE_IS_FREE };

#define ASKED UINT32_MAX /* no packet: only its id */

struct event {
	int64_t at_ns;
	enum what what;
	uint32_t seq, id;
	bool forged;
	unsigned port;
	size_t bytes;
	uint8_t packet[256];
};

extern struct network {
	int64_t now_ns;
	struct fate_of fate[PROBES];
	struct truth truth[PROBES];
	struct event event[EVENTS];
	unsigned events;
	int64_t next_ns; /* time of the first of these */
	unsigned idle_turns;
	unsigned slots, taken; /* transmit timestamp slots of the NIC; 0: unlimited */
	int64_t free_ns; /* time from a timestamp's fetch until its slot is free */
	unsigned reordered; /* replies that arrived after a later reply */
	uint32_t highest;
	bool replied;
	uint32_t ring; /* flights; 0: as they come */
	int64_t response_ns; /* RESPONSE_NS, and the queueing time of a probe at the reflector */
	int64_t stepped_at_ns, stepped_ns; /* the reflector's clock is set by so much at this time; 0: never */
	int64_t stepped_again_ns; /* and again after each interval of this length, stepped_times in all; 0: once */
	unsigned stepped_times;
	unsigned restart_at; /* the reflector restarts before it receives this or a later probe; 0: never */
	struct session_remote {
		uint32_t replies; /* the reflector's count */
		bool restarted;
		struct {
			int64_t t3_ns, known_ns;
		} reply[2 * PROBES];
	} session[PORTS]; /* for each source port */
	unsigned refuses; /* packets that this port has still to refuse, */
	unsigned refusing; /* number of refusing ports, and the first of them */
	/* the id count is marked uncertain after this number of probes, as after a stepped sample; 0: never */
	unsigned doubt_every;
	int64_t ids_take_ns; /* a requested id is this long delayed by timestamps in the queue */
	bool counts_refused; /* an older kernel: a packet that it refused has taken an id */
	uint32_t next_id[PORTS]; /* the kernel's count */
	unsigned sent[PORTS];
	unsigned stop_at; /* probes; 0: never */
	unsigned set_at; /* CLOCK_REALTIME is stepped after this number of sends; 0: never */
	int64_t set_ns; /* so much forward, */
	int64_t shift_ns; /* its step; NIC timestamps are unaffected */
	unsigned stall_at; /* the thread has no CPU after this probe, */
	int64_t stall_ns; /* duration of the stall */
	uint8_t follow_ups; /* requested follow-ups */
	bool silent; /* T3 is never reported: the TLV is returned as unsupported */
} sim;

extern struct options options;
extern struct channel channel;
extern struct exchange x;
extern struct clock_peer peer;
extern struct packet_plan plan;
extern struct sample record[PROBES];
extern _Atomic int stop;

/* From 0 to max - 1. */
int64_t network_chance(int64_t below);

/* An emitter of 3,000 probes with 64 in flight, to which nothing happens. */
int network_setup(void **state);
int network_teardown(void **state);

/* Runs it, and looks whether its accounts balance. */
void network_run(void);

void network_all_stamps_take(int64_t ns);

/* Delays of packets and timestamps vary, and each seventh reply is duplicated. */
void network_by_chance(void);

/* The relation of its clock to that of user space is not reported. */
void network_by_nic(void);

#define COUNT(name) counter_get(&x.result.account.name)

/* Each record is of its own packet, and in the order of sending. Returns how many there are. */
unsigned network_check_records(void);

#define TEST(f) cmocka_unit_test_setup_teardown(f, network_setup, network_teardown)

#endif
