/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A socket ready for the loop. */
#ifndef WIRE_SOCKET_H
#define WIRE_SOCKET_H

#include "rant.h"
#include "wire/echo.h"
#include "wire/envelope.h"
#include "wire/transport.h"

struct nic;
struct options;

#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81 /* asm-generic/socket.h, Linux 6.13 */
#endif

#define DATAGRAM_MAX 65536 /* more than UDP can carry, so that MSG_TRUNC stays a surprise */

#define SOCKET_PRIORITY_FREE 6 /* the highest that everybody may set, TC_PRIO_INTERACTIVE */

#define LANES_EACH 9 /* of one IP family */
#define LISTENERS 2 /* that many families */
#define LANES (LISTENERS * LANES_EACH)

/* One of the sockets that are measured on: an emitter's only one, or one of its source ports; of a reflector see
 * wire/lane.h. */
struct lane {
	int fd; /* -1: it is not open */
	uint8_t number; /* among its like */
	uint8_t listener; /* a reflector's: of the lane that has everybody else of its family, which may be itself */
	const struct transport *transport;
	/* no addresses in its messages; without any message no route is looked up for a packet either */
	bool connected;
	bool bare; /* nothing is told beside a datagram: no stamp, no TTL */
	bool id_by_message; /* the kernel takes the id of a transmit stamp from us (SCM_TS_OPT_ID, Linux 6.13) */
	/* Where the kernel counts ids of stamps by itself, it does for each socket; and whether it has counted a packet
	 * that it did not send, it does not say. */
	bool id_doubted; /* so the next packet asks for its id, */
	bool id_asked; /* as the last one did, */
	bool id_told; /* or some packet before */
	/* a packet has asked, and was not told: nobody else asks until then, or it would not be known whose an id is */
	bool id_open;
	bool id_due; /* a packet has asked since the last one that was refused, */
	uint32_t asked_key; /* and this is the caller's number of the last one that did */
	uint32_t next_id; /* of the next packet, */
	uint32_t last_key, ids_ahead; /* and the caller's number of the last one, and what its id was ahead of that */
	int tos; /* of the socket, where the channel keeps its priority; -1: it is to be set */
	uint32_t drops_before; /* by the kernel, when the run began */
	uint32_t drops_told; /* by the last datagram of a reflector's (SO_RXQ_OVFL) */
	/* The last reading of the clock (CLOCK_MONOTONIC) before it was seen empty; how many datagrams it has had, in
	 * all and when the system's clock was last seen to be set. */
	int64_t empty_ns;
	uint64_t received, set_received;
	uint64_t looked; /* of one that listens: `received` when it was last looked who is in use */
	/* of one that listens: the address and the port that the others are bound to; on Ethernet, of this interface */
	union address own;
	/* Of the others: */
	union address peer; /* whose it is; no family: nobody's */
	bool from_self; /* that is an address of this host */
	bool is_new; /* it was not empty since it is that sender's: what comes may be another's */
	uint16_t own_port; /* of an emitter's source port */
	int64_t used_ns;
};

/* Sockets and buffers of the measuring loop: made by socket.c, used by timestamping.c. */
struct channel {
	const struct transport *transport; /* of the first lane: what all have alike */
	struct lane lane[LANES];
	int lanes; /* open */
	int listeners; /* of them, the first ones: they are not connected; an emitter's only lane is one */
	union address server; /* of an emitter whose socket cannot be connected */
	counter lanes_taken, lanes_refused;
	struct lane *port; /* an emitter's source ports, instead of lane[0]: see wire/ports.h; NULL: it has one */
	int ports; /* open */
	int ready_fd; /* of them: epoll(7) */
	struct lane *at; /* what is received from, sent by and fetched from */
	int stray_fd; /* emitter: bound to the same port, gets what others than the server send; -1 if none */
	enum source wire; /* of the stamps asked for; SOURCE_USER: none */
	bool tx_stamps; /* asked for and granted */
	bool some_stamps; /* by a message with each packet whose stamp is wanted, not for all by the socket */
	bool unasked; /* not for the next packet */
	bool direct; /* kernel_call_is_free() */
	bool tos_wanted; /* by socket_want_tos() */
	/* A reflector that was given a priority and answers with IPv4, where that of a packet would be its class's. */
	bool keeps_priority;
	int priority;
	int tos; /* of a reply that has no class to go out in */
	int receive_buffer_bytes; /* granted */
	int64_t dropped; /* by socket_note_drops(); -1: not known */
	uint32_t unread; /* reflector: datagrams that the kernel dropped, as far as later ones told */
	counter error_other; /* entries of the error queue that are no transmit stamp of the kind asked for */
	counter control_truncated;
	struct envelope envelope; /* of a transport that has one: PTP */
	struct echo echo; /* the same: ICMP */
	counter strays; /* that came by lane[0] itself, to which the server did not send them */
	/* the STAMP packet last received; the reflector turns it into the reply in place */
	uint8_t datagram[DATAGRAM_MAX];
};

/* One of its sockets, by struct lane's number. */
static inline struct lane *channel_lane(struct channel *c, unsigned number)
{
	return c->port ? &c->port[number] : &c->lane[number];
}

/* A channel before it is opened. */
#define CHANNEL_CLOSED { .lane = { [0 ... LANES - 1] = { .fd = -1 } }, .stray_fd = -1 }

/* Opens the socket and sets every option, reading back what was granted; of a reflector one for each IP family in which
 * the interface has an address (n->first4, n->first6), unless one was asked for. *c is CHANNEL_CLOSED before. 0; or
 * -errno after one line, and nothing is open. */
int socket_open(struct channel *c, const struct options *o, const struct nic *n);

/* What carries the packets, for messages: "UDP/IPv4", "UDP/IPv4 and IPv6". */
static inline const char *socket_name(const struct channel *c)
{
	return c->listeners > 1 ? c->transport->name_both : c->transport->name;
}

/* Binds to the interface and the port, and connects (emitter), or opens the other lanes, as many as there can be
 * (reflector). Datagrams queue up from here on, so it comes right before the loop: what waited for the rest of the
 * start would show as slow. 0; or -errno after one line, and *c is closed. */
int socket_bind(struct channel *c, const struct options *o, const struct nic *n);

/* Sets all options of l->fd, a socket of l->transport, as those of the channel; `listens`: for whoever sends. 0; or
 * -errno after one line. */
int socket_prepare(const struct channel *c, const struct lane *l, const struct options *o, bool listens);

/* Binds a socket to the interface and this address. 0; or -errno after one line. */
int socket_bind_to(int fd, const struct nic *n, const union address *local);

/* What the kernel dropped of what came for a socket, modulo 2^32. 0 or -errno. */
int socket_read_drops(int fd, uint32_t *drops);

/* From now on nothing is queued for a socket, and the kernel counts it as dropped. 0 or -errno. */
int socket_take_nothing(int fd);

/* The same, and throws away what is in it: how many datagrams. */
uint64_t socket_empty(int fd);

/* Connects a socket to the server. 0; or -errno after one line. */
int socket_connect(int fd, const struct options *o, const struct nic *n);

/* Opens one more socket as an emitter's first, unless l->fd is open, and binds and connects it: to a source port of its
 * own, which the kernel chooses (l->own_port). 0; or -errno after one line: what is open is the caller's to close. */
int socket_open_port(const struct channel *c, struct lane *l, const struct options *o, const struct nic *n);

/* From now on arrivals have their `tos`, each for the price of a control message; so not before somebody asks for it.
 * Silent, and one system call a lane: the loop may call it, once (c->tos_wanted). 0 or -errno. */
int socket_want_tos(struct channel *c);

/* Notes in c->dropped how many datagrams the kernel dropped between socket_bind() and now, because the socket had no
 * room for them or their checksum was wrong; at an emitter without those of others than the server. Call it right after
 * the run, for a socket that is not read any more fills up. The kernel counts to 2^32: that many drops more are not
 * told. */
void socket_note_drops(struct channel *c);

/* Datagrams for our port from others than the server, counted and dropped, up to now: it ends under any flood. Call it
 * after the run, before close. */
uint64_t socket_count_strays(struct channel *c);

void socket_close(struct channel *c);

#endif
