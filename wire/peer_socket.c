// SPDX-License-Identifier: GPL-2.0-or-later
/* Per-peer sockets of a reflector (hot). */
#include "wire/peer_socket.h"

#include "wire/timestamping.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* Minimum socket memory of a datagram: the kernel's buffer headers (struct sk_buff, struct skb_shared_info)
 * are larger. */
#define DATAGRAM_LEAST_BYTES 512

bool peer_socket_fits(const struct channel *c, const struct arrival *a)
{
	const union address *own = &c->at->own;
	struct in6_pktinfo info6;
	struct in_pktinfo info;

	if (c->peer_sockets <= c->listeners || !a->to_unicast)
		return false;
	memcpy(&info6, a->local, sizeof(info6));
	memcpy(&info, a->local, sizeof(info));
	return c->at->transport->domain == AF_INET6 ? IN6_ARE_ADDR_EQUAL(&info6.ipi6_addr, &own->in6.sin6_addr) :
						      info.ipi_spec_dst.s_addr == own->in.sin_addr.s_addr;
}

unsigned peer_socket_backlog(const struct peer_socket *l)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t bytes = sizeof(info);

	if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &bytes))
		return UINT32_MAX;
	return info[SK_MEMINFO_RMEM_ALLOC] / DATAGRAM_LEAST_BYTES;
}

/* An unassigned socket of this family, or the socket with the longest idle sender. The last socket is first
 * in the kernel's hash chain, and only the first socket gets early demultiplexing, without a route lookup
 * for received packets (__udp4_lib_demux_lookup() in net/ipv4/udp.c, and __udp6_lib_demux_lookup()). */
static struct peer_socket *free_peer_socket(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct peer_socket *best = NULL;

	for (struct peer_socket *l = &c->peer_socket[c->peer_sockets - 1]; l >= &c->peer_socket[c->listeners]; l--) {
		if (l->transport->domain != peer->any.sa_family)
			continue;
		if (!memcmp(&l->peer, peer, address_bytes(peer)))
			return NULL; /* datagrams of its previous sender are still queued */
		if (!best || l->used_ns < best->used_ns)
			best = l;
	}
	return best && (!best->peer.any.sa_family || now_ns - best->used_ns >= PEER_SOCKET_IDLE_NS) ? best : NULL;
}

struct peer_socket *peer_socket_take(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct peer_socket *l = free_peer_socket(c, peer, now_ns);
	uint64_t theirs[2], ours[2];

	if (!l || connect(l->fd, &peer->any, address_bytes(peer))) {
		counter_add(&c->peer_sockets_refused, 1);
		return NULL;
	}
	address_as_ipv6(peer, theirs);
	address_as_ipv6(&c->peer_socket[l->listener].own, ours);
	l->peer = *peer;
	l->used_ns = now_ns;
	l->from_self = theirs[0] == ours[0] && theirs[1] == ours[1];
	l->is_new = true;
	counter_add(&c->peer_sockets_taken, 1);
	return l;
}
