/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens, configures and closes the sockets of a run. */
#ifndef WIRE_SOCKET_H
#define WIRE_SOCKET_H

#include "rant.h"
#include "wire/echo.h"
#include "wire/encapsulation.h"
#include "wire/transport.h"

struct nic;
struct options;

#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81 /* asm-generic/socket.h, Linux 6.13 */
#endif

#define DATAGRAM_MAX 65536 /* more than UDP can carry, so that MSG_TRUNC never occurs */

#define SOCKET_PRIORITY_FREE 6 /* the highest priority without CAP_NET_ADMIN, TC_PRIO_INTERACTIVE */

#define PEER_SOCKETS_EACH 9 /* per-peer sockets of one IP family, with the listening socket */
#define LISTENERS 2 /* one for each IP family */
#define PEER_SOCKETS (LISTENERS * PEER_SOCKETS_EACH)

/* A measured socket: an emitter's only socket or one of its source ports; a reflector's per-peer or
 * listening socket, see wire/peer_socket.h. */
struct peer_socket {
	int fd; /* -1: closed */
	uint8_t number; /* index in its array */
	uint8_t listener; /* reflector: index of the listening socket of its family, which may be itself */
	const struct transport *transport;
	/* connected: no addresses in messages; a send without control messages needs no route lookup */
	bool connected;
	bool bare; /* no control messages: no timestamp, no TTL */
	/* the kernel accepts transmit timestamp ids from the program (SCM_TS_OPT_ID, Linux 6.13) */
	bool id_by_message;
	/* If the kernel counts timestamp ids, it counts for each socket and does not report whether a
	 * refused packet was counted. */
	bool id_doubted; /* the id count is uncertain, so the next packet requests its id */
	bool id_asked; /* the last packet requested its id */
	bool id_reported; /* the id of an earlier packet was requested and is known */
	/* a packet has requested its id and has no answer yet; no other packet may ask until then, since
	 * answers do not name their packet */
	bool id_open;
	bool id_due; /* a packet has requested its id since the last refused packet */
	uint32_t asked_key; /* caller's number of the last packet that requested its id */
	uint32_t next_id; /* id of the next packet */
	uint32_t last_key, ids_ahead; /* caller's number of the last packet, and its id minus that number */
	int tos; /* ToS value set on the socket, if the channel keeps its priority; -1: not set yet */
	uint32_t drops_before; /* kernel drop count at the begin of the run */
	uint32_t drops_reported; /* drop count of the last datagram, reflector (SO_RXQ_OVFL) */
	/* CLOCK_MONOTONIC reading before the socket was last seen empty; datagrams received, in all and up
	 * to the last detected step of the system clock. */
	int64_t empty_ns;
	int64_t empty_ticks; /* the same by the clock of the poll gaps, more exactly; 0: not seen empty yet */
	uint64_t received, set_received;
	uint64_t looked; /* listening socket: `received` at the last check of which sockets are in use */
	/* listening socket: address and port that per-peer sockets are bound to; on Ethernet, of this
	 * interface */
	union address own;
	/* Per-peer sockets: */
	union address peer; /* address of the assigned sender; no family: unassigned */
	bool from_self; /* the sender's address is an address of this host */
	bool is_new; /* not seen empty since its assignment: queued datagrams may be of the previous sender */
	uint16_t own_port; /* port number of an emitter's source port */
	int64_t used_ns;
};

/* Sockets and buffers of the measuring loop: made by socket.c, used by timestamping.c. */
struct channel {
	const struct transport *transport; /* row of the first socket: properties that all sockets share */
	struct peer_socket peer_socket[PEER_SOCKETS];
	int peer_sockets; /* open sockets */
	/* number of listening, unconnected sockets, which come first; 1 for an emitter's only socket */
	int listeners;
	union address server; /* emitter whose socket cannot be connected */
	counter peer_sockets_taken, peer_sockets_refused;
	/* an emitter's source ports, instead of peer_socket[0]: see wire/ports.c; NULL: a single port */
	struct peer_socket *port;
	int ports; /* open source ports */
	int ready_fd; /* epoll(7) of the source ports */
	struct peer_socket *at; /* socket of the next receive, send or fetch */
	int stray_fd; /* emitter: bound to the same port, receives datagrams from other hosts; -1: none */
	enum source wire; /* source of the requested receive timestamps; SOURCE_USER: none */
	bool sent_by_kernel; /* --stamp receive: the kernel timestamps sent packets, whatever `wire` is */
	bool tx_stamps; /* transmit timestamps requested and granted */
	/* transmit timestamps are requested by a control message of each packet, not by the socket */
	bool some_stamps;
	bool unasked; /* request none for the next packet */
	bool direct; /* kernel_call_is_free() */
	bool tos_wanted; /* set by socket_want_tos() */
	/* the kernel's receive time beside the NIC's timestamp; set by socket_want_kernel_times() */
	bool kernel_times;
	/* The kernel's transmit times: flags of SO_TIMESTAMPING, 0: of no packet. detail_by_socket: of every packet,
	 * else of those that are sent with detailed. */
	int detail;
	bool detail_by_socket, detailed;
	/* A reflector with a given priority on IPv4, where the ToS of a packet would set its priority. */
	bool keeps_priority;
	int priority;
	int tos; /* ToS of replies without a requested class */
	int receive_buffer_bytes; /* granted SO_RCVBUF */
	struct optional dropped; /* set by socket_note_drops() */
	uint32_t unread; /* reflector: datagrams dropped by the kernel, as reported with later datagrams */
	counter error_other; /* error queue entries other than the requested transmit timestamps */
	counter control_truncated;
	struct encapsulation encapsulation; /* PTP encapsulation, if the transport has it */
	struct echo echo; /* echo header, if the transport has it */
	counter strays; /* datagrams on peer_socket[0] that the server did not send to it */
	/* the last received STAMP packet; the reflector turns it into the reply in place */
	uint8_t datagram[DATAGRAM_MAX];
};

/* The socket with this index (struct peer_socket.number). */
static inline enum source channel_sent_source(const struct channel *c)
{
	return c->sent_by_kernel ? SOURCE_KERNEL : c->wire;
}

static inline struct peer_socket *channel_peer_socket(struct channel *c, unsigned number)
{
	return c->port ? &c->port[number] : &c->peer_socket[number];
}

/* Initial value of a channel. */
#define CHANNEL_CLOSED { .peer_socket = { [0 ... PEER_SOCKETS - 1] = { .fd = -1 } }, .stray_fd = -1 }

/* Opens the socket, sets every option and reads back the granted values; a reflector opens a socket for
 * each IP family in which the interface has an address (n->first4, n->first6), unless a family was
 * requested. *c must be CHANNEL_CLOSED. 0, or -errno after one line with nothing open. */
int socket_open(struct channel *c, const struct options *o, const struct nic *n);

/* The transport as messages name it: "UDP/IPv4", "UDP/IPv4 and IPv6". */
static inline const char *socket_name(const struct channel *c)
{
	return c->listeners > 1 ? c->transport->name_both : c->transport->name;
}

/* Binds to the interface and port and connects (emitter) or opens as many per-peer sockets as possible
 * (reflector). Datagrams queue from here on, so call it right before the loop: datagrams that wait for the
 * rest of the start would look slow. 0, or -errno after one line with *c closed. */
int socket_bind(struct channel *c, const struct options *o, const struct nic *n);

/* Sets all options of l->fd, a socket of l->transport, for this channel; `listens`: unconnected socket. 0,
 * or -errno after one line. */
int socket_prepare(const struct channel *c, const struct peer_socket *l, const struct options *o, bool listens);

/* Binds a socket to the interface and this address. 0; or -errno after one line. */
int socket_bind_to(int fd, const struct nic *n, const union address *local);

/* Kernel drop count of a socket, modulo 2^32. 0 or -errno. */
int socket_read_drops(int fd, uint32_t *drops);

/* Makes the kernel drop and count everything that arrives at the socket from now on. 0 or -errno. */
int socket_take_nothing(int fd);

/* The same; also discards queued datagrams and returns their number. */
uint64_t socket_empty(int fd);

/* Connects a socket to the server. 0; or -errno after one line. */
int socket_connect(int fd, const struct options *o, const struct nic *n);

/* Opens a further socket like the emitter's first (unless l->fd is open), binds and connects it with a
 * source port chosen by the kernel (l->own_port). 0, or -errno after one line; the caller closes
 * the open socket. */
int socket_open_port(const struct channel *c, struct peer_socket *l, const struct options *o, const struct nic *n);

/* Enables the received `tos` of arrivals, which costs a control message each, so only on request. Prints
 * nothing; one system call for each socket; the loop may call it once (c->tos_wanted). 0 or -errno. */
int socket_want_tos(struct channel *c);

/* Requests the kernel's time of each received packet beside the timestamp of the NIC, on all sockets of a reflector
 * (SOF_TIMESTAMPING_RX_SOFTWARE, Documentation/networking/timestamping.rst). The first packets after that
 * may lack it. One system call for each socket. 0 or -errno: c->kernel_times stays false. */
int socket_want_kernel_times(struct channel *c);

/* Allows `detailed` packets of a reflector, which get KERNEL_QUEUE and with timestamps of the NIC KERNEL_DRIVER
 * (SOF_TIMESTAMPING_TX_SCHED, TX_SOFTWARE, OPT_TX_SWHW). One system call for each socket. 0 or -errno: c->detail
 * stays 0. */
int socket_want_detail(struct channel *c);

/* Stores in c->dropped the datagrams that the kernel dropped since socket_bind() because the receive buffer
 * was full or the checksum was wrong; for an emitter without those of other senders. Call it right after
 * the run, since an unread socket fills up. The kernel counts modulo 2^32, so multiples of 2^32 are not
 * reported. */
void socket_note_drops(struct channel *c);

/* Counts and discards datagrams for our port from other hosts, up to now; ends under any flood. Call it
 * after the run, before close. */
uint64_t socket_count_strays(struct channel *c);

void socket_close(struct channel *c);

#endif
