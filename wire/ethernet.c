// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A socket on Ethernet itself. It cannot be connected: whose frames it has, a filter says, which the kernel runs before it queues
 * anything. Octets are counted from the PTP message, for the socket is a SOCK_DGRAM; those of the header of the link by SKF_LL_OFF.
 */
#include "wire/ethernet.h"

#include "host/nic.h"
#include "options.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#define AT_SOURCE (SKF_LL_OFF + 6) /* of the header of the link */
#define TAKE 0xffffffff

/* A jump beyond the end of one: to the last but one is to take it, to the last not to. */
#define NO 254
#define YES 253
#define LOAD(size, at) BPF_STMT(BPF_LD | BPF_##size | BPF_ABS, (uint32_t)(at))
#define IS(value, then, other) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (then), (other))

static void resolve(struct sock_filter *f, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (BPF_CLASS(f[i].code) != BPF_JMP)
			continue;
		for (uint8_t *jump = &f[i].jt; jump; jump = jump == &f[i].jt ? &f[i].jf : NULL)
			if (*jump == YES || *jump == NO)
				*jump = (uint8_t)(count - i - (*jump == YES ? 3 : 2));
	}
}

static int attach(int fd, struct sock_filter *f, size_t count)
{
	const struct sock_fprog program = { .len = (unsigned short)count, .filter = f };

	resolve(f, count);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ? -errno : 0;
}

/* Frames for groups are the reflector's to count; those for other stations are seen only where somebody else listens to all. */
static int take_all(int fd, const struct options *o)
{
	struct sock_filter f[] = {
		LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE), IS(PACKET_OTHERHOST, NO, 0),
		LOAD(B, ENVELOPE_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), IS(2, 0, NO),
		LOAD(B, ENVELOPE_AT_DOMAIN), IS(o->ptp_domain, YES, NO),
		BPF_STMT(BPF_RET | BPF_K, TAKE), BPF_STMT(BPF_RET | BPF_K, 0),
	};

	return attach(fd, f, sizeof(f) / sizeof(f[0]));
}

/* For this station: of the server, or of all but the server. */
static int take_some(int fd, const struct options *o, bool servers)
{
	const uint8_t *mac = o->server.ll.sll_addr;
	struct sock_filter f[] = {
		LOAD(W, SKF_AD_OFF + SKF_AD_PKTTYPE), IS(PACKET_HOST, 0, NO),
		LOAD(B, ENVELOPE_AT_VERSION), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf), IS(2, 0, NO),
		LOAD(B, ENVELOPE_AT_DOMAIN), IS(o->ptp_domain, 0, NO),
		LOAD(W, AT_SOURCE), IS(get32(mac), 0, servers ? NO : YES),
		LOAD(H, AT_SOURCE + 4), IS(get16(mac + 4), servers ? YES : NO, servers ? NO : YES),
		BPF_STMT(BPF_RET | BPF_K, TAKE), BPF_STMT(BPF_RET | BPF_K, 0),
	};

	return attach(fd, f, sizeof(f) / sizeof(f[0]));
}

static int bind_to(int fd, const struct nic *n)
{
	const struct sockaddr_ll local = { .sll_family = AF_PACKET, .sll_protocol = htons(PTP_ETHERTYPE), .sll_ifindex = n->index };

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
		warnx("--interface %s: cannot bind a packet socket to it (%s): see 'ip link show dev %s'", n->name, strerror(-error),
		      n->name);
	return error;
}
