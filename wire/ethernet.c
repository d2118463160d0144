// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PTP socket on Ethernet. A packet socket cannot be connected, so a BPF socket filter, which the kernel
 * runs before queueing, selects the senders. Offsets count from the PTP message (SOCK_DGRAM), with
 * SKF_LL_OFF from the link header.
 */
#include "wire/socket_inside.h"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/socket_filter.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#define AT_SOURCE (SKF_LL_OFF + 6) /* in the link header */

/* A reflector counts frames to groups; frames to other stations arrive only while another program enables
 * promiscuous mode. */
static int take_all(int fd, const struct options *o)
{
	struct sock_filter f[] = {
		SOCKET_FILTER_LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE),
			SOCKET_FILTER_IS(PACKET_OTHERHOST, SOCKET_FILTER_NO, 0),
		SOCKET_FILTER_LOAD(B, ENCAPSULATION_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
			SOCKET_FILTER_IS(2, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(B, ENCAPSULATION_AT_DOMAIN),
			SOCKET_FILTER_IS(o->ptp_domain, SOCKET_FILTER_YES, SOCKET_FILTER_NO),
		SOCKET_FILTER_END,
	};

	return socket_filter_attach(fd, f, sizeof(f) / sizeof(f[0]));
}

/* Frames to this station: from the server, or from all other senders. */
static int take_some(int fd, const struct options *o, bool servers)
{
	const uint8_t *mac = o->server.ll.sll_addr;
	struct sock_filter f[] = {
		SOCKET_FILTER_LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE), SOCKET_FILTER_IS(PACKET_HOST, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(B, ENCAPSULATION_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
			SOCKET_FILTER_IS(2, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(B, ENCAPSULATION_AT_DOMAIN), SOCKET_FILTER_IS(o->ptp_domain, 0, SOCKET_FILTER_NO),
		SOCKET_FILTER_LOAD(W, AT_SOURCE), SOCKET_FILTER_IS(get32(mac), 0, servers ? SOCKET_FILTER_NO :
								   SOCKET_FILTER_YES),
		SOCKET_FILTER_LOAD(H, AT_SOURCE + 4), SOCKET_FILTER_IS(get16(mac + 4), servers ? SOCKET_FILTER_YES :
								       SOCKET_FILTER_NO,
								       servers ? SOCKET_FILTER_NO : SOCKET_FILTER_YES),
		SOCKET_FILTER_END,
	};

	return socket_filter_attach(fd, f, sizeof(f) / sizeof(f[0]));
}

static int bind_to(int fd, const struct nic *n)
{
	const struct sockaddr_ll local = { .sll_family = AF_PACKET, .sll_protocol = htons(PTP_ETHERTYPE),
					   .sll_ifindex = n->index };

	return bind(fd, (const struct sockaddr *)&local, sizeof(local)) ? -errno : 0;
}

static int open_strays(struct channel *c, const struct options *o, const struct nic *n)
{
	int error;

	c->stray_fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (c->stray_fd < 0)
		return -errno;
	error = take_some(c->stray_fd, o, false);
	return error ? error : bind_to(c->stray_fd, n);
}

/* Attach the filter first: the socket receives nothing before bind. */
int ethernet_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	const int fd = c->peer_socket[0].fd;
	int error;

	c->peer_socket[0].own.ll = (struct sockaddr_ll){ .sll_family = AF_PACKET };
	memcpy(c->peer_socket[0].own.ll.sll_addr, n->mac, sizeof(n->mac));
	if (o->role == ROLE_EMIT) {
		c->server = o->server;
		c->server.ll.sll_ifindex = n->index;
		c->server.ll.sll_protocol = htons(PTP_ETHERTYPE);
		error = take_some(fd, o, true);
		if (!error)
			error = open_strays(c, o, n);
	} else {
		error = take_all(fd, o);
	}
	if (!error)
		error = bind_to(fd, n);
	if (error)
		warnx("--interface %s: cannot bind a packet socket to it (%s): see 'ip link show dev %s'", n->name,
		      strerror(-error),
		      n->name);
	return error;
}
