// SPDX-License-Identifier: GPL-2.0-or-later
/* Lanes of a reflector (hot). */
#include "wire/lane.h"

#include "wire/timestamping.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* That each takes of a socket's memory: the kernel's headers of a buffer (struct sk_buff, struct skb_shared_info) alone
 * are more. */
#define DATAGRAM_LEAST_BYTES 512

bool lane_fits(const struct channel *c, const struct arrival *a)
{
	const union address *own = &c->at->own;
	struct in6_pktinfo info6;
	struct in_pktinfo info;

	if (c->lanes <= c->listeners || !a->to_unicast)
		return false;
	memcpy(&info6, a->local, sizeof(info6));
	memcpy(&info, a->local, sizeof(info));
	return c->at->transport->domain == AF_INET6 ? IN6_ARE_ADDR_EQUAL(&info6.ipi6_addr, &own->in6.sin6_addr) :
						      info.ipi_spec_dst.s_addr == own->in.sin_addr.s_addr;
}

unsigned lane_backlog(const struct lane *l)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t bytes = sizeof(info);

	if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &bytes))
		return UINT32_MAX;
	return info[SK_MEMINFO_RMEM_ALLOC] / DATAGRAM_LEAST_BYTES;
}

/* One of its family that is nobody's, or whose sender has been silent for longest. The last one is the first in its
 * chain of the kernel, and only for that one it spares itself the route of what comes, too (__udp4_lib_demux_lookup()
 * in net/ipv4/udp.c, and __udp6_lib_demux_lookup()). */
static struct lane *free_lane(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct lane *best = NULL;

	for (struct lane *l = &c->lane[c->lanes - 1]; l >= &c->lane[c->listeners]; l--) {
		if (l->transport->domain != peer->any.sa_family)
			continue;
		if (!memcmp(&l->peer, peer, address_bytes(peer)))
			return NULL; /* what it sent before it had it was still waiting */
		if (!best || l->used_ns < best->used_ns)
			best = l;
	}
	return best && (!best->peer.any.sa_family || now_ns - best->used_ns >= LANE_IDLE_NS) ? best : NULL;
}

struct lane *lane_take(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct lane *l = free_lane(c, peer, now_ns);
	uint64_t theirs[2], ours[2];

	if (!l || connect(l->fd, &peer->any, address_bytes(peer))) {
		counter_add(&c->lanes_refused, 1);
		return NULL;
	}
	address_as_ipv6(peer, theirs);
	address_as_ipv6(&c->lane[l->listener].own, ours);
	l->peer = *peer;
	l->used_ns = now_ns;
	l->from_self = theirs[0] == ours[0] && theirs[1] == ours[1];
	l->is_new = true;
	counter_add(&c->lanes_taken, 1);
	return l;
}
