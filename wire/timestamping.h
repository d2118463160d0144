/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send one, receive one, fetch transmit stamps (hot): all on c->at. */
#ifndef WIRE_TIMESTAMPING_H
#define WIRE_TIMESTAMPING_H

#include "rant.h"
#include "wire/socket.h"

struct arrival {
	size_t bytes; /* of the STAMP packet; 0 where there is none in what the transport wraps around it */
	union address from;
	uint8_t local[sizeof(struct in6_pktinfo)]; /* source for the answer, as the transport's packet info */
	bool to_unicast; /* the destination was an address of this host, not a broadcast or multicast one */
	bool from_self; /* source and destination address are the same */
	bool truncated;
	bool cut_short; /* its control messages were: nothing is known but its octets and where it came from */
	int ttl; /* -1: not told */
	int tos; /* DSCP << 2 | ECN; -1: not told */
	/* The answer goes out with the DSCP of `tos` and without its ECN bits, and with IPv4 the kernel derives the
	 * priority from that, unless c->keeps_priority. False, as stamp_receive() leaves it: as the socket was set. */
	bool in_class;
	bool strays; /* it came by a lane that is not its sender's (any more), and is answered by the first */
	uint8_t source; /* enum source of time_ns */
	int64_t time_ns;
};

struct departure {
	uint32_t id;
	int64_t time_ns;
};

/*
 * Sends one packet. `id` becomes that of its transmit stamp, or the kernel counts from 0 by itself: what it has sent,
 * and some of what it has refused. After a packet that was refused, id_doubted, the next one asks for its own
 * (id_asked): stamp_fetch() has it before any stamp of that packet. `answering` is the arrival that is answered; an
 * emitter has none (NULL). 0 or -errno.
 */
int stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering);

/* What its stamps say may not be true of the kernel's count: see stamp_send(). */
static inline void stamp_doubt(const struct channel *c, struct lane *l)
{
	l->id_doubted = c->tx_stamps && !l->id_by_message;
}

/* Receives one datagram into c->datagram without waiting. 1: *a is filled; 0: nothing there; -errno. */
int stamp_receive(struct channel *c, struct arrival *a);

enum fetch { FETCH_EMPTY, FETCH_STAMP, FETCH_ID, FETCH_OTHER };

/* Reads one entry of the error queue without waiting. FETCH_ID: only the id, of a packet that asked for it.
 * FETCH_OTHER: it was no stamp of ours, and is counted in *c. */
enum fetch stamp_fetch(struct channel *c, struct departure *d);

#define STAMP_READY 4

/* A source port (wire/ports.h) where something waits. */
struct stamp_ready {
	uint8_t number;
	bool receive; /* a datagram */
	/* a transmit stamp; or an error that the kernel reports, which the next stamp_receive() takes away */
	bool fetch;
};

/* Where something waits, without waiting: at most STAMP_READY at a time, all of them in turn. Returns how many. */
unsigned stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY]);

/* Sleeps until there is something to fetch on any lane, or with `receive` to receive, or a signal comes, at most
 * limit_ns. False: there was nothing when it began, nor has anything come. */
bool stamp_wait(struct channel *c, bool receive, int64_t limit_ns);

#endif
