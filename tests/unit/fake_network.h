/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network whose time is that of this file, with an emitter's kernel before it and a reflector behind it: what happens
 * to each probe on its way is written down before, so that every record and every count can be compared with it.
 */
#ifndef TESTS_UNIT_FAKE_NETWORK_H
#define TESTS_UNIT_FAKE_NETWORK_H

#include "host/clock/clock_peer.h"
#include "measure/exchange.h"
#include "measure/store.h"
#include "wire/packet.h"
#include "wire/timestamping.h"

#define PROBES 6000
#define EVENTS 16384
#define PORTS 128
#define BEGIN_NS (1000 * NS_PER_S)
#define EPOCH_NS (1700000000 * NS_PER_S) /* CLOCK_REALTIME is so much ahead */
#define THERE_NS (1234567 * NS_PER_S) /* and the reflector's clock of that */
#define CALL_NS 300 /* of a system call */
#define IDLE_NS_MAX 3000
#define WIRE_NS 700 /* from the send to the stamp */
#define RESPONSE_NS 200 /* less than a turn of the loop */
#define TIMEOUT_NS (20 * NS_PER_MS)

/* What is to happen to a probe, */
struct fate_of {
	int64_t there_ns, back_ns; /* its ways; negative: lost */
	int64_t again_ns; /* its reply comes again, so much later; 0: once */
	int64_t stamp_ns; /* the transmit stamp comes so much later than its time; negative: never */
	int64_t known_ns; /* the reflector knows T3 so much later; negative: never */
	unsigned refused; /* so often */
	bool forged; /* before its reply comes one that does not know its T1 */
	bool astray; /* the reply comes first to another port than it was sent from */
};

/* and what did. */
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
	int64_t next_ns; /* of the first of these */
	unsigned idle_turns;
	unsigned slots, taken; /* of transmit stamps; 0: any number */
	int64_t free_ns; /* a place is free so long after its stamp was fetched */
	unsigned reordered; /* replies that came after a later one */
	uint32_t highest;
	bool replied;
	uint32_t ring; /* flights; 0: as they come */
	int64_t response_ns; /* RESPONSE_NS, and what a probe waits there */
	int64_t stepped_at_ns, stepped_ns; /* the reflector's clock is set by so much at this time; 0: never */
	unsigned restart_at; /* the reflector is started again before it gets this probe or a later one; 0: never */
	struct session_there {
		uint32_t replies; /* the reflector's count */
		bool restarted;
		struct {
			int64_t t3_ns, known_ns;
		} reply[2 * PROBES];
	} session[PORTS]; /* of each source port */
	unsigned refuses; /* packets that this port has still to refuse, */
	unsigned refusing; /* and which one it is */
	/* probes: after so many it is doubted that the kernel counts as we do, as after a sample that was stepped; 0:
	 * never */
	unsigned doubt_every;
	int64_t ids_take_ns; /* an id that was asked for is behind stamps in the queue for so long */
	bool counts_refused; /* an older kernel: a packet that it refused has taken an id */
	uint32_t next_id[PORTS]; /* the kernel's count */
	unsigned sent[PORTS];
	unsigned stop_at; /* probes; 0: never */
	unsigned set_at; /* CLOCK_REALTIME is set when so many were sent, 0: never; */
	int64_t set_ns; /* so much forward, */
	int64_t shift_ns; /* and is ahead by this now; stamps are not, for they are a NIC's */
	unsigned stall_at; /* the thread has no CPU after this probe, */
	int64_t stall_ns; /* for so long */
	uint8_t follow_ups; /* that are asked for */
	bool silent; /* the T3 of nobody is told: the TLV comes back as unknown */
} sim;

extern struct options options;
extern struct channel channel;
extern struct exchange x;
extern struct clock_peer peer;
extern struct packet_plan plan;
extern struct sample record[PROBES];
extern _Atomic int stop;

/* From 0 to one less. */
int64_t network_chance(int64_t below);

/* An emitter of 3,000 probes with 64 in flight, to which nothing happens. */
int network_setup(void **state);
int network_teardown(void **state);

/* Runs it, and looks whether its accounts balance. */
void network_run(void);

void network_all_stamps_take(int64_t ns);

/* Ways and stamps of each probe take some time, and each seventh reply comes again. */
void network_by_chance(void);

/* Nothing tells how its clock relates to that of user space. */
void network_by_nic(void);

#define COUNT(name) counter_get(&x.result.account.name)

/* Each record is of its own packet, and in the order of sending. Returns how many there are. */
unsigned network_check_records(void);

#define TEST(f) cmocka_unit_test_setup_teardown(f, network_setup, network_teardown)

#endif
