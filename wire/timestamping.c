// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sending, receiving and fetching, with the stamps that the kernel hands over in control messages (hot).
 * Sources: Documentation/networking/timestamping.rst, include/uapi/linux/{net_tstamp,errqueue}.h. Control messages are
 * compared in level, type and exact length, and copied out; a truncated one is worth nothing.
 */
#include "wire/timestamping.h"

#include "wire/kernel_call.h"
#include "wire/socket.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define TOS_ECN 3 /* RFC 3168: two bits about congestion, to which this transport does not react */

/* The three times of SCM_TIMESTAMPING; the second is always 0. */
struct stamps {
	struct timespec software, unused, hardware;
};

/* 256 octets: 64 are too few for what IPv4 sends with a transmit stamp. */
union control {
	char octets[256];
	struct cmsghdr align;
};

/* A lane of its sender's alone? */
static bool is_senders(const struct lane *l)
{
	return l->peer.any.sa_family != AF_UNSPEC;
}

static bool is_message(const struct cmsghdr *m, int level, int type, size_t bytes)
{
	return m->cmsg_level == level && m->cmsg_type == type && m->cmsg_len == CMSG_LEN(bytes);
}

/* The time of the kind that was asked for; 0 is no time but a missing one. */
static bool read_stamp(const struct channel *c, const struct cmsghdr *m, int64_t *time_ns)
{
	struct stamps stamps;
	struct timespec *t = c->wire == SOURCE_HARDWARE ? &stamps.hardware : &stamps.software;

	memcpy(&stamps, CMSG_DATA(m), sizeof(stamps));
	*time_ns = t->tv_sec * NS_PER_S + t->tv_nsec;
	return *time_ns != 0;
}

static struct cmsghdr *put_message(struct cmsghdr *m, int level, int type, const void *payload, size_t bytes)
{
	m->cmsg_level = level;
	m->cmsg_type = type;
	m->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(m), payload, bytes);
	return (struct cmsghdr *)((char *)m + CMSG_SPACE(bytes));
}

/*
 * The id is the kernel's or ours. Does a kernel that counts by itself count what it refuses? Before 6.8 all that it has
 * begun to build, since then what is built (and, say, an output firewall drops). So the packet after it also asks for a
 * stamp at the door of the queueing discipline: that comes before the call returns, with the id that the packet got,
 * and no other packet asks for it.
 */
static struct cmsghdr *put_id(const struct channel *c, struct cmsghdr *m, uint32_t id)
{
	uint32_t asked = c->wire == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_HARDWARE : SOF_TIMESTAMPING_TX_SOFTWARE;

	if (c->unasked)
		return m; /* it gets no id */
	if (c->at->id_by_message)
		m = put_message(m, SOL_SOCKET, SCM_TS_OPT_ID, &id, sizeof(id));
	else
		c->at->id_asked = c->at->id_doubted && !c->at->id_open;
	if (!c->at->id_asked && !c->some_stamps)
		return m;
	if (c->at->id_asked)
		asked |= SOF_TIMESTAMPING_TX_SCHED;
	c->at->id_told |= c->at->id_asked;
	return put_message(m, SOL_SOCKET, SO_TIMESTAMPING, &asked, sizeof(asked));
}

/*
 * A TOS sets a priority with it, whether by message (ip_cmsg_send() in net/ipv4/ip_sockglue.c) or for the socket. So
 * where one was asked for, both are set for the socket: two system calls, when an answer is of another class than the
 * one before on its lane.
 */
__attribute__((noinline))
static int set_class(const struct channel *c, const struct arrival *answering)
{
	const int tos = answering->in_class ? answering->tos & ~TOS_ECN : c->tos;
	struct lane *l = c->at;

	if (l->tos == tos)
		return 0;
	l->tos = -1;
	if (setsockopt(l->fd, l->transport->ip_level, l->transport->set_tos, &tos, sizeof(tos)) ||
	    setsockopt(l->fd, SOL_SOCKET, SO_PRIORITY, &c->priority, sizeof(c->priority)))
		return -errno;
	l->tos = tos;
	return 0;
}

/* The kernel reads less where there is no message with the packet, and looks up no route on a connected socket. */
static ssize_t send_message(const struct channel *c, const struct msghdr *m)
{
	if (m->msg_name || m->msg_controllen || m->msg_iovlen > 1)
		return kernel_sendmsg(c->direct, c->at->fd, m);
	return kernel_send(c->direct, c->at->fd, m->msg_iov->iov_base, m->msg_iov->iov_len);
}

/* What stands before the packet, as it is to be sent. */
__attribute__((noinline))
static uint8_t *seal(struct channel *c, const void *packet, size_t bytes)
{
	if (c->transport->echoes) {
		echo_seal(&c->echo, packet, bytes);
		return c->echo.sent;
	}
	envelope_seal(&c->envelope, packet, bytes);
	return c->envelope.sent;
}

static int send_once(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering)
{
	union control control;
	struct cmsghdr *end = &control.align;
	const struct transport *t = c->at->transport;
	static const uint8_t behind[TRANSPORT_BEHIND_BYTES];
	struct iovec payload[3];
	struct msghdr m = { .msg_iov = &payload[1], .msg_iovlen = 1 };
	ssize_t sent;

	payload[1] = (struct iovec){ .iov_base = (void *)packet, .iov_len = bytes };
	if (t->envelope_bytes) {
		payload[0] = (struct iovec){ .iov_base = seal(c, packet, bytes), .iov_len = t->envelope_bytes };
		m.msg_iov = payload;
		payload[2] = (struct iovec){ .iov_base = (void *)(uintptr_t)behind, .iov_len = t->behind_bytes };
		m.msg_iovlen = t->behind_bytes ? 3 : 2;
	}
	if (!c->at->connected) {
		m.msg_name = answering ? (void *)&answering->from : &c->server;
		m.msg_namelen = sizeof(answering->from);
		if (t->pktinfo_bytes)
			end = put_message(end, t->ip_level, t->pktinfo_type, answering->local, t->pktinfo_bytes);
	}
	if (c->keeps_priority && t->domain == AF_INET) {
		int error = set_class(c, answering);

		if (error)
			return error;
	} else if (answering && answering->in_class) {
		int tos = answering->tos & ~TOS_ECN;

		end = put_message(end, t->ip_level, t->tos_type, &tos, sizeof(tos));
	}
	end = put_id(c, end, id);
	m.msg_controllen = (size_t)((char *)end - control.octets);
	if (m.msg_controllen)
		m.msg_control = &control;

	while ((sent = send_message(c, &m)) == -EINTR)
		; /* before anything was counted: nothing here waits */
	if (sent >= 0)
		return 0;
	stamp_doubt(c, c->at);
	c->at->id_asked = c->at->id_open = c->at->id_due = false;
	return (int)sent;
}

/* A connected socket is told of what ICMP messages say (udp(7)), by the next call: that is no fault of this one. */
int stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering)
{
	int error = send_once(c, packet, bytes, id, answering);

	return error && is_senders(c->at) ? send_once(c, packet, bytes, id, answering) : error;
}

static void read_packet_info6(const struct cmsghdr *m, struct arrival *a)
{
	struct in6_pktinfo info;

	memcpy(&info, CMSG_DATA(m), sizeof(info));
	a->to_unicast = !IN6_IS_ADDR_MULTICAST(&info.ipi6_addr);
	a->from_self = IN6_ARE_ADDR_EQUAL(&info.ipi6_addr, &a->from.in6.sin6_addr);
	memcpy(a->local, &info, sizeof(info));
}

/* IPv4: ipi_ifindex, ipi_spec_dst (where to answer from), ipi_addr (where it was sent to). IPv6 has no broadcast, and
 * one address for both. The answer goes out by the address that was asked, whatever the routing table prefers. */
static void read_packet_info(const struct cmsghdr *m, size_t bytes, struct arrival *a)
{
	struct in_pktinfo info;

	if (bytes == sizeof(struct in6_pktinfo)) {
		read_packet_info6(m, a);
		return;
	}
	memcpy(&info, CMSG_DATA(m), sizeof(info));
	a->to_unicast = info.ipi_addr.s_addr == info.ipi_spec_dst.s_addr;
	a->from_self = info.ipi_addr.s_addr == a->from.in.sin_addr.s_addr;
	info.ipi_addr.s_addr = 0;
	memcpy(a->local, &info, sizeof(info));
}

/* One octet from IPv4 and an int from IPv6. */
static int read_tos(const struct cmsghdr *m, size_t bytes)
{
	uint8_t octet;
	int number;

	if (bytes == sizeof(octet)) {
		memcpy(&octet, CMSG_DATA(m), sizeof(octet));
		return octet;
	}
	memcpy(&number, CMSG_DATA(m), sizeof(number));
	return number;
}

/* Of one that came by a lane that is another's by now, which is rare: lanes have the address of the one that
 * listens. */
static void note_stray(const struct lane *listener, struct arrival *a)
{
	const struct in6_pktinfo info6 = { .ipi6_addr = listener->own.in6.sin6_addr };
	const struct in_pktinfo info = { .ipi_spec_dst = listener->own.in.sin_addr };
	uint64_t theirs[2], ours[2];

	address_as_ipv6(&a->from, theirs);
	address_as_ipv6(&listener->own, ours);
	a->from_self = theirs[0] == ours[0] && theirs[1] == ours[1];
	if (listener->own.any.sa_family == AF_INET6)
		memcpy(a->local, &info6, sizeof(info6));
	else
		memcpy(a->local, &info, sizeof(info));
}

static bool is_anothers(const struct lane *l, const struct arrival *a)
{
	return memcmp(&a->from, &l->peer, address_bytes(&l->peer));
}

/* What the messages of a lane do not say; of a new one they say who sent it. */
static void note_sender(const struct channel *c, struct arrival *a)
{
	const struct lane *l = c->at;

	a->to_unicast = true;
	a->strays = l->is_new && is_anothers(l, a);
	if (a->strays) {
		note_stray(&c->lane[l->listener], a);
	} else {
		a->from_self = l->from_self;
		a->from = l->peer;
	}
}

/* On Ethernet the address of the sender tells it, packet(7). */
static void note_station(const struct channel *c, struct arrival *a)
{
	a->to_unicast = a->from.ll.sll_pkttype == PACKET_HOST;
	a->from_self = !memcmp(a->from.ll.sll_addr, c->lane[0].own.ll.sll_addr, 6);
}

/* The kernel reads less where it has nothing to tell but the datagram. */
static ssize_t receive_message(struct channel *c, struct msghdr *m)
{
	if (c->at->bare)
		m->msg_controllen = 0;
	if (!c->at->bare || m->msg_iovlen > 1)
		return kernel_recvmsg(c->direct, c->at->fd, m, 0);
	return kernel_recv(c->direct, c->at->fd, c->datagram, sizeof(c->datagram));
}

/* How long the STAMP packet is in a message of so many octets. False: it is not of the server, which is counted. */
__attribute__((noinline))
static bool open_envelope(struct channel *c, struct arrival *a, size_t bytes)
{
	uint64_t theirs[2], servers[2];

	if (!c->transport->echoes) {
		a->bytes = envelope_open(&c->envelope, bytes);
		return true;
	}
	/* The kernel looks only at the number that a ping socket has (ping_lookup() in net/ipv4/ping.c). */
	address_as_ipv6(&a->from, theirs);
	address_as_ipv6(&c->server, servers);
	if (theirs[0] != servers[0] || theirs[1] != servers[1]) {
		counter_add(&c->strays, 1);
		return false;
	}
	a->bytes = echo_open(&c->echo, c->datagram, bytes);
	return true;
}

/* What this socket has dropped since it is open. */
static void note_drops(struct channel *c, const struct cmsghdr *m)
{
	uint32_t drops;

	memcpy(&drops, CMSG_DATA(m), sizeof(drops));
	c->unread += drops - c->at->drops_told;
	c->at->drops_told = drops;
}

/* Most receives find nothing: for these no registers are to be saved that only this needs. As stamp_receive(). */
__attribute__((noinline))
static int read_arrival(struct channel *c, struct msghdr *m, size_t bytes, struct arrival *a)
{
	const struct transport *t = c->at->transport;

	a->bytes = bytes;
	if (t->envelope_bytes && !open_envelope(c, a, bytes))
		return 0;
	a->source = SOURCE_NONE;
	a->ttl = a->tos = -1;
	a->in_class = a->to_unicast = a->strays = false;
	a->truncated = m->msg_flags & MSG_TRUNC;
	a->cut_short = m->msg_flags & MSG_CTRUNC;
	if (is_senders(c->at))
		note_sender(c, a);
	else if (t->domain == AF_PACKET)
		note_station(c, a);
	if (a->cut_short) {
		counter_add(&c->control_truncated, 1);
		return 1;
	}
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (is_message(h, SOL_SOCKET, SCM_TIMESTAMPING, sizeof(struct stamps))) {
			if (read_stamp(c, h, &a->time_ns))
				a->source = (uint8_t)c->wire;
		} else if (is_message(h, t->ip_level, t->ttl_type, sizeof(int))) {
			memcpy(&a->ttl, CMSG_DATA(h), sizeof(int));
		} else if (is_message(h, t->ip_level, t->pktinfo_type, t->pktinfo_bytes)) {
			read_packet_info(h, t->pktinfo_bytes, a);
		} else if (is_message(h, t->ip_level, t->tos_type, t->tos_bytes)) {
			a->tos = read_tos(h, t->tos_bytes);
		} else if (is_message(h, SOL_SOCKET, SO_RXQ_OVFL, sizeof(uint32_t))) {
			note_drops(c, h);
		}
	}
	return 1;
}

int stamp_receive(struct channel *c, struct arrival *a)
{
	union control control;
	struct iovec payload[2];
	struct msghdr m = { .msg_iov = &payload[1], .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	payload[1] = (struct iovec){ .iov_base = c->datagram, .iov_len = sizeof(c->datagram) };
	if (c->transport->envelope_bytes) {
		payload[0] = (struct iovec){ .iov_base = c->transport->echoes ? c->echo.received : c->envelope.received,
					     .iov_len = c->transport->before_bytes + c->transport->envelope_bytes };
		m.msg_iov = payload;
		m.msg_iovlen = 2;
	}
	if (!c->at->connected || c->at->is_new) {
		m.msg_name = &a->from;
		m.msg_namelen = sizeof(a->from);
	}
	const ssize_t bytes = receive_message(c, &m);
	if (bytes == -EAGAIN)
		c->at->is_new = false;
	if (bytes < 0)
		return bytes == -EAGAIN || bytes == -EINTR || is_senders(c->at) ? 0 : (int)bytes;
	return read_arrival(c, &m, (size_t)bytes, a);
}

/* What an entry of the error queue is. An ICMP error carries a stamp too: only errno, origin and info tell it from
 * ours. */
static enum fetch read_extended_error(const struct channel *c, const struct cmsghdr *m, struct departure *d)
{
	struct sock_extended_err e;

	memcpy(&e, CMSG_DATA(m), sizeof(e));
	d->id = e.ee_data;
	if (e.ee_errno != ENOMSG || e.ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
		return FETCH_OTHER;
	if (e.ee_info == SCM_TSTAMP_SCHED && c->at->id_told)
		return FETCH_ID;
	return e.ee_info == SCM_TSTAMP_SND ? FETCH_STAMP : FETCH_OTHER;
}

enum fetch stamp_fetch(struct channel *c, struct departure *d)
{
	union control control;
	struct msghdr m = { .msg_control = &control, .msg_controllen = sizeof(control) };
	const struct transport *t = c->at->transport;
	enum fetch entry = FETCH_OTHER;
	bool stamped = false;

	if (kernel_recvmsg(c->direct, c->at->fd, &m, MSG_ERRQUEUE) < 0)
		return FETCH_EMPTY;
	if (m.msg_flags & MSG_CTRUNC) {
		counter_add(&c->control_truncated, 1);
		return FETCH_OTHER;
	}
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		if (is_message(h, SOL_SOCKET, SCM_TIMESTAMPING, sizeof(struct stamps))) {
			stamped = read_stamp(c, h, &d->time_ns);
		} else if (is_message(h, t->ip_level, t->recverr_type, t->recverr_bytes)) {
			entry = read_extended_error(c, h, d);
		}
	}
	/* A stamp asked for with OPT_TSONLY has no payload, so MSG_TRUNC means something else. With an id a time that
	 * was not wished for may come, or not. */
	if ((entry == FETCH_ID || (entry == FETCH_STAMP && stamped)) && !(m.msg_flags & MSG_TRUNC))
		return entry;
	counter_add(&c->error_other, 1);
	return FETCH_OTHER;
}

unsigned stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY])
{
	struct epoll_event e[STAMP_READY];
	/* As epoll_wait(), which some machines do not have. */
	const int n = epoll_pwait(c->ready_fd, e, STAMP_READY, 0, NULL);

	for (int i = 0; i < n; i++)
		ready[i] = (struct stamp_ready){ .number = (uint8_t)e[i].data.u32, .receive = e[i].events & EPOLLIN,
						 .fetch = e[i].events & EPOLLERR };
	return n < 0 ? 0 : (unsigned)n;
}

bool stamp_wait(struct channel *c, bool receive, int64_t limit_ns)
{
	/* The error queue shows as POLLERR, which poll reports without being asked. */
	struct pollfd p[LANES];
	struct timespec limit = { .tv_sec = limit_ns / NS_PER_S, .tv_nsec = limit_ns % NS_PER_S };

	for (int i = 0; i < c->lanes; i++)
		p[i] = (struct pollfd){ .fd = c->lane[i].fd, .events = receive ? POLLIN : 0 };
	return ppoll(p, (nfds_t)c->lanes, &limit, NULL) > 0;
}
