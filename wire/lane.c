// SPDX-License-Identifier: GPL-2.0-or-later
/* Lanes of a reflector (hot). */
#include "wire/lane.h"

#include "wire/timestamping.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* That each takes of a socket's memory: the kernel's headers of a buffer (struct sk_buff, struct skb_shared_info) alone are more. */
#define DATAGRAM_LEAST_BYTES 512

bool lane_fits(const struct channel *c, const struct arrival *a)
{
	struct in_pktinfo info;

	memcpy(&info, a->local, sizeof(info));
	return c->lanes > 1 && a->to_unicast && info.ipi_spec_dst.s_addr == c->own.in.sin_addr.s_addr;
}

unsigned lane_backlog(const struct lane *l)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t bytes = sizeof(info);

	if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &bytes))
		return UINT32_MAX;
	return info[SK_MEMINFO_RMEM_ALLOC] / DATAGRAM_LEAST_BYTES;
}

/* One that is nobody's, or whose sender has been silent for longest. The last one is the first in its chain of the kernel, and only for that
 * one it spares itself the route of what comes, too (__udp4_lib_demux_lookup() in net/ipv4/udp.c). */
static struct lane *free_lane(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct lane *best = NULL;

	for (struct lane *l = &c->lane[c->lanes - 1]; l > c->lane; l--) {
		if (!memcmp(&l->peer, peer, sizeof(peer->in)))
			return NULL; /* what it sent before it had it was still waiting */
		if (!best || l->used_ns < best->used_ns)
			best = l;
	}
	return best && (!best->peer.any.sa_family || now_ns - best->used_ns >= LANE_IDLE_NS) ? best : NULL;
}

struct lane *lane_take(struct channel *c, const union address *peer, int64_t now_ns)
{
	struct lane *l = free_lane(c, peer, now_ns);

	if (!l || connect(l->fd, &peer->any, sizeof(peer->in))) {
		counter_add(&c->lanes_refused, 1);
		return NULL;
	}
	l->peer = *peer;
	l->used_ns = now_ns;
	l->from_self = peer->in.sin_addr.s_addr == c->own.in.sin_addr.s_addr;
	l->is_new = true;
	counter_add(&c->lanes_taken, 1);
	return l;
}
