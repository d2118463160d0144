/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and receives one packet and fetches transmit timestamps (hot), all on c->at. */
#ifndef WIRE_TIMESTAMPING_H
#define WIRE_TIMESTAMPING_H

#include "rant.h"
#include "wire/socket.h"

struct arrival {
	size_t bytes; /* length of the STAMP packet; 0: the encapsulation contains none */
	union address from;
	/* source address of the reply, as the transport's packet info */
	uint8_t local[sizeof(struct in6_pktinfo)];
	bool to_unicast; /* the destination was a unicast address of this host, not broadcast or multicast */
	bool from_self; /* source and destination address are equal */
	bool truncated;
	bool cut_short; /* control messages were truncated: only the octets and the sender are valid */
	int ttl; /* -1: not reported */
	int tos; /* DSCP << 2 | ECN; -1: not reported */
	/* The reply uses the DSCP of `tos` without its ECN bits; on IPv4 the kernel derives the priority
	 * from it unless c->keeps_priority. False, as set by stamp_receive(): the socket's settings. */
	bool in_class;
	bool strays; /* arrived at the per-peer socket of another sender; answered by the listening socket */
	uint8_t source; /* enum source of time_ns */
	int64_t time_ns;
	int64_t kernel_ns; /* with c->kernel_times: CLOCK_REALTIME, by the kernel; 0: it has none */
};

struct departure {
	uint32_t id;
	int64_t time_ns;
};

/*
 * Sends one packet. `id` becomes the id of its transmit timestamp, or the kernel counts from 0: sent
 * packets and some refused packets. After a refused packet (id_doubted) the next packet requests its own id
 * (id_asked), which stamp_fetch() returns before any timestamp of that packet. `answering` is the arrival
 * being answered; NULL for an emitter. 0 or -errno.
 */
int stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering);

/* Marks the kernel's id count as uncertain: see stamp_send(). */
static inline void stamp_doubt(const struct channel *c, struct peer_socket *l)
{
	l->id_doubted = c->tx_stamps && !l->id_by_message;
}

/* Receives one datagram into c->datagram without waiting. 1: *a is filled; 0: none; -errno. */
int stamp_receive(struct channel *c, struct arrival *a);

enum fetch { FETCH_EMPTY, FETCH_STAMP, FETCH_ID, FETCH_QUEUE, FETCH_DRIVER, FETCH_OTHER };

/* Reads one error queue entry without waiting. FETCH_ID: the id of a packet that requested it. FETCH_QUEUE,
 * FETCH_DRIVER: time_ns is KERNEL_QUEUE or KERNEL_DRIVER of this packet, CLOCK_REALTIME. FETCH_OTHER: not a
 * transmit timestamp of this program, counted in *c. */
enum fetch stamp_fetch(struct channel *c, struct departure *d);

#define STAMP_READY 4

/* A source port (wire/ports.c) with pending events. */
struct stamp_ready {
	uint8_t number;
	bool receive; /* a datagram */
	/* a transmit timestamp, or an error that the next stamp_receive() returns and clears */
	bool fetch;
};

/* Fills the source ports with pending events without waiting: at most STAMP_READY per call, round robin.
 * Returns their number. */
unsigned stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY]);

/* Sleeps until a timestamp (or with `receive` a datagram) is pending on any socket, a signal arrives, or
 * limit_ns has passed. False: nothing was pending at the begin or arrived. */
bool stamp_wait(struct channel *c, bool receive, int64_t limit_ns);

#endif
