// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sending, receiving and fetching, with timestamps from the kernel's control messages (hot). Sources:
 * Documentation/networking/timestamping.rst, include/uapi/linux/{net_tstamp,errqueue}.h. Control messages
 * are compared by level, type and exact length, and copied out; truncated messages are ignored.
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

#define TOS_ECN 3 /* RFC 3168: congestion bits, to which this transport does not react */

/* The three times of SCM_TIMESTAMPING; the second is always 0. */
struct stamps {
	struct timespec software, unused, hardware;
};

/* 256 octets: IPv4 sends more than 64 with a transmit timestamp. */
union control {
	char octets[256];
	struct cmsghdr align;
};

/* True for a per-peer socket. */
static bool is_senders(const struct peer_socket *l)
{
	return l->peer.any.sa_family != AF_UNSPEC;
}

static bool is_message(const struct cmsghdr *m, int level, int type, size_t bytes)
{
	return m->cmsg_level == level && m->cmsg_type == type && m->cmsg_len == CMSG_LEN(bytes);
}

static int64_t ns_of(const struct timespec *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* *time_ns: the time of this source; 0 means missing. *kernel_ns: the time of the kernel. */
static bool read_stamp(enum source source, const struct cmsghdr *m, int64_t *time_ns, int64_t *kernel_ns)
{
	struct stamps stamps;

	memcpy(&stamps, CMSG_DATA(m), sizeof(stamps));
	*kernel_ns = ns_of(&stamps.software);
	*time_ns = source == SOURCE_HARDWARE ? ns_of(&stamps.hardware) : *kernel_ns;
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
 * The id is the kernel's or ours. Whether a kernel that counts ids counts refused packets depends: before
 * 6.8 it counts all packets that it began to build, since then the completely built packets (which an
 * output firewall may drop). So the next packet also requests a timestamp at the entry of the queueing
 * discipline (SCHED): it is available before the call returns, with the id of that packet, and no other
 * packet requests it.
 */
static struct cmsghdr *put_id(const struct channel *c, struct cmsghdr *m, uint32_t id)
{
	uint32_t asked = channel_sent_source(c) == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_HARDWARE :
								     SOF_TIMESTAMPING_TX_SOFTWARE;

	if (c->unasked)
		return m; /* no id message */
	if (c->at->id_by_message)
		m = put_message(m, SOL_SOCKET, SCM_TS_OPT_ID, &id, sizeof(id));
	else
		c->at->id_asked = c->at->id_doubted && !c->at->id_open;
	if (!c->at->id_asked && !c->some_stamps && (!c->detailed || c->detail_by_socket))
		return m;
	if (c->at->id_asked)
		asked |= SOF_TIMESTAMPING_TX_SCHED;
	if (c->detailed)
		asked |= c->detail;
	c->at->id_reported |= c->at->id_asked;
	return put_message(m, SOL_SOCKET, SO_TIMESTAMPING, &asked, sizeof(asked));
}

/*
 * Setting a TOS also sets the priority, by message (ip_cmsg_send() in net/ipv4/ip_sockglue.c) or for the
 * socket. So with a requested priority both are set for the socket: two system calls when an answer's class
 * differs from the previous answer on its socket.
 */
__attribute__((noinline))
static int set_class(const struct channel *c, const struct arrival *answering)
{
	const int tos = answering->in_class ? answering->tos & ~TOS_ECN : c->tos;
	struct peer_socket *l = c->at;

	if (l->tos == tos)
		return 0;
	l->tos = -1;
	if (setsockopt(l->fd, l->transport->ip_level, l->transport->set_tos, &tos, sizeof(tos)) ||
	    setsockopt(l->fd, SOL_SOCKET, SO_PRIORITY, &c->priority, sizeof(c->priority)))
		return -errno;
	l->tos = tos;
	return 0;
}

/* Without control messages the kernel does less work and needs no route lookup on a connected socket. */
static ssize_t send_message(const struct channel *c, const struct msghdr *m)
{
	if (m->msg_name || m->msg_controllen || m->msg_iovlen > 1)
		return kernel_sendmsg(c->direct, c->at->fd, m);
	return kernel_send(c->direct, c->at->fd, m->msg_iov->iov_base, m->msg_iov->iov_len);
}

/* Prepares the encapsulation of the packet. */
__attribute__((noinline))
static uint8_t *seal(struct channel *c, const void *packet, size_t bytes)
{
	if (c->transport->echoes) {
		echo_seal(&c->echo, packet, bytes);
		return c->echo.sent;
	}
	encapsulation_seal(&c->encapsulation, packet, bytes);
	return c->encapsulation.sent;
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
	if (t->encapsulation_bytes) {
		payload[0] = (struct iovec){ .iov_base = seal(c, packet, bytes), .iov_len = t->encapsulation_bytes };
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
		; /* before anything was counted: nothing is pending */
	if (sent >= 0)
		return 0;
	stamp_doubt(c, c->at);
	c->at->id_asked = c->at->id_open = c->at->id_due = false;
	return (int)sent;
}

/* A connected socket reports ICMP errors (udp(7)) by the next call, which did not cause them. */
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

/* IPv4: ipi_ifindex, ipi_spec_dst (reply source), ipi_addr (request destination). IPv6 has no broadcast,
 * and the same address for both. The reply's source is the request's destination, whatever the routing
 * table prefers. */
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

/* One octet from IPv4, an int from IPv6. */
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

/* For a datagram on a reassigned per-peer socket, which is rare: these sockets share the listening socket's
 * address. */
static void note_stray(const struct peer_socket *listener, struct arrival *a)
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

static bool is_anothers(const struct peer_socket *l, const struct arrival *a)
{
	return memcmp(&a->from, &l->peer, address_bytes(&l->peer));
}

/* Sets the values that messages on a per-peer socket omit; a newly assigned socket still reports the
 * sender. */
static void note_sender(const struct channel *c, struct arrival *a)
{
	const struct peer_socket *l = c->at;

	a->to_unicast = true;
	a->strays = l->is_new && is_anothers(l, a);
	if (a->strays) {
		note_stray(&c->peer_socket[l->listener], a);
	} else {
		a->from_self = l->from_self;
		a->from = l->peer;
	}
}

/* On Ethernet the sender address has the packet type, packet(7). */
static void note_station(const struct channel *c, struct arrival *a)
{
	a->to_unicast = a->from.ll.sll_pkttype == PACKET_HOST;
	a->from_self = !memcmp(a->from.ll.sll_addr, c->peer_socket[0].own.ll.sll_addr, 6);
}

/* Without control messages the kernel does less work. */
static ssize_t receive_message(struct channel *c, struct msghdr *m)
{
	if (c->at->bare)
		m->msg_controllen = 0;
	if (!c->at->bare || m->msg_iovlen > 1)
		return kernel_recvmsg(c->direct, c->at->fd, m, 0);
	return kernel_recv(c->direct, c->at->fd, c->datagram, sizeof(c->datagram));
}

/* Sets the length of the STAMP packet in a message of `bytes` octets. False: not from the server, counted. */
__attribute__((noinline))
static bool open_encapsulation(struct channel *c, struct arrival *a, size_t bytes)
{
	uint64_t theirs[2], servers[2];

	if (!c->transport->echoes) {
		a->bytes = encapsulation_open(&c->encapsulation, bytes);
		return true;
	}
	/* The kernel compares only the identifier of a ping socket (ping_lookup() in net/ipv4/ping.c). */
	address_as_ipv6(&a->from, theirs);
	address_as_ipv6(&c->server, servers);
	if (theirs[0] != servers[0] || theirs[1] != servers[1]) {
		counter_add(&c->strays, 1);
		return false;
	}
	a->bytes = echo_open(&c->echo, c->datagram, bytes);
	return true;
}

/* Drop count of this socket since it was opened. */
static void note_drops(struct channel *c, const struct cmsghdr *m)
{
	uint32_t drops;

	memcpy(&drops, CMSG_DATA(m), sizeof(drops));
	c->unread += drops - c->at->drops_reported;
	c->at->drops_reported = drops;
}

/* Separate from stamp_receive(): most receives find nothing and should not save the registers that only
 * this code needs. */
__attribute__((noinline))
static int read_arrival(struct channel *c, struct msghdr *m, size_t bytes, struct arrival *a)
{
	const struct transport *t = c->at->transport;
	int64_t kernel_ns;

	a->bytes = bytes;
	if (t->encapsulation_bytes && !open_encapsulation(c, a, bytes))
		return 0;
	a->source = SOURCE_NONE;
	a->kernel_ns = 0;
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
			if (read_stamp(c->wire, h, &a->time_ns, &kernel_ns))
				a->source = (uint8_t)c->wire;
			a->kernel_ns = c->kernel_times ? kernel_ns : 0;
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
	if (c->transport->encapsulation_bytes) {
		payload[0] = (struct iovec){ .iov_base = c->transport->echoes ? c->echo.received :
			c->encapsulation.received,
					     .iov_len =
						     c->transport->before_bytes + c->transport->encapsulation_bytes };
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

/* Classifies an error queue entry. An ICMP error carries a timestamp too: only errno, origin and info
 * distinguish it from a transmit timestamp. */
static enum fetch read_extended_error(const struct channel *c, const struct cmsghdr *m, struct departure *d)
{
	struct sock_extended_err e;

	memcpy(&e, CMSG_DATA(m), sizeof(e));
	d->id = e.ee_data;
	if (e.ee_errno != ENOMSG || e.ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
		return FETCH_OTHER;
	if (e.ee_info == SCM_TSTAMP_SCHED && c->detail)
		return FETCH_QUEUE;
	if (e.ee_info == SCM_TSTAMP_SCHED && c->at->id_reported)
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
	int64_t kernel_ns = 0;

	if (kernel_recvmsg(c->direct, c->at->fd, &m, MSG_ERRQUEUE) < 0)
		return FETCH_EMPTY;
	if (m.msg_flags & MSG_CTRUNC) {
		counter_add(&c->control_truncated, 1);
		return FETCH_OTHER;
	}
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		if (is_message(h, SOL_SOCKET, SCM_TIMESTAMPING, sizeof(struct stamps))) {
			stamped = read_stamp(channel_sent_source(c), h, &d->time_ns, &kernel_ns);
		} else if (is_message(h, t->ip_level, t->recverr_type, t->recverr_bytes)) {
			entry = read_extended_error(c, h, d);
		}
	}
	if (entry == FETCH_QUEUE || (entry == FETCH_STAMP && !stamped && c->detail & SOF_TIMESTAMPING_TX_SOFTWARE)) {
		/* With OPT_TX_SWHW the kernel's time and that of the NIC come in two entries. */
		entry = entry == FETCH_STAMP ? FETCH_DRIVER : entry;
		d->time_ns = kernel_ns;
		stamped = kernel_ns != 0;
	}
	/* With an id request an unwanted time may be included. MSG_TRUNC is not an error: a timestamp of a PHY has the
	 * packet as payload in spite of OPT_TSONLY (skb_complete_tx_timestamp() of the kernel). */
	if (entry == FETCH_ID || (entry != FETCH_OTHER && stamped))
		return entry;
	counter_add(&c->error_other, 1);
	return FETCH_OTHER;
}

unsigned stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY])
{
	struct epoll_event e[STAMP_READY];
	/* Equivalent to epoll_wait(), which some architectures do not have. */
	const int n = epoll_pwait(c->ready_fd, e, STAMP_READY, 0, NULL);

	for (int i = 0; i < n; i++)
		ready[i] = (struct stamp_ready){ .number = (uint8_t)e[i].data.u32, .receive = e[i].events & EPOLLIN,
						 .fetch = e[i].events & EPOLLERR };
	return n < 0 ? 0 : (unsigned)n;
}

bool stamp_wait(struct channel *c, bool receive, int64_t limit_ns)
{
	/* A non-empty error queue is POLLERR, which poll always reports. */
	struct pollfd p[PEER_SOCKETS];
	struct timespec limit = { .tv_sec = limit_ns / NS_PER_S, .tv_nsec = limit_ns % NS_PER_S };

	for (int i = 0; i < c->peer_sockets; i++)
		p[i] = (struct pollfd){ .fd = c->peer_socket[i].fd, .events = receive ? POLLIN : 0 };
	return ppoll(p, (nfds_t)c->peer_sockets, &limit, NULL) > 0;
}
