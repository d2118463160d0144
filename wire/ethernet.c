// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A socket on Ethernet itself. It cannot be connected: whose frames it has, a filter says, which the kernel runs before
 * it queues anything. Octets are counted from the PTP message, for the socket is a SOCK_DGRAM; those of the header of
 * the link by SKF_LL_OFF.
 */
#include "wire/ethernet.h"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/sieve.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#define AT_SOURCE (SKF_LL_OFF + 6) /* of the header of the link */

/* Frames for groups are the reflector's to count; those for other stations are seen only where somebody else listens to
 * all. */
static int take_all(int fd, const struct options *o)
{
	struct sock_filter f[] = {
		SIEVE_LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE), SIEVE_IS(PACKET_OTHERHOST, SIEVE_NO, 0),
		SIEVE_LOAD(B, ENVELOPE_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), SIEVE_IS(2, 0, SIEVE_NO),
		SIEVE_LOAD(B, ENVELOPE_AT_DOMAIN), SIEVE_IS(o->ptp_domain, SIEVE_YES, SIEVE_NO),
		SIEVE_END,
	};

	return sieve_attach(fd, f, sizeof(f) / sizeof(f[0]));
}

/* For this station: of the server, or of all but the server. */
static int take_some(int fd, const struct options *o, bool servers)
{
	const uint8_t *mac = o->server.ll.sll_addr;
	struct sock_filter f[] = {
		SIEVE_LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE), SIEVE_IS(PACKET_HOST, 0, SIEVE_NO),
		SIEVE_LOAD(B, ENVELOPE_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), SIEVE_IS(2, 0, SIEVE_NO),
		SIEVE_LOAD(B, ENVELOPE_AT_DOMAIN), SIEVE_IS(o->ptp_domain, 0, SIEVE_NO),
		SIEVE_LOAD(W, AT_SOURCE), SIEVE_IS(get32(mac), 0, servers ? SIEVE_NO : SIEVE_YES),
		SIEVE_LOAD(H, AT_SOURCE + 4), SIEVE_IS(get16(mac + 4), servers ? SIEVE_YES : SIEVE_NO,
						       servers ? SIEVE_NO : SIEVE_YES),
		SIEVE_END,
	};

	return sieve_attach(fd, f, sizeof(f) / sizeof(f[0]));
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

/* The filter comes first: until a socket is bound nothing is in it. */
int ethernet_bind(struct channel *c, const struct options *o, const struct nic *n)
{
	const int fd = c->lane[0].fd;
	int error;

	c->lane[0].own.ll = (struct sockaddr_ll){ .sll_family = AF_PACKET };
	memcpy(c->lane[0].own.ll.sll_addr, n->mac, sizeof(n->mac));
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
