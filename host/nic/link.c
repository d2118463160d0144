// SPDX-License-Identifier: GPL-2.0-or-later
/* Link state by rtnetlink. IFLA_CARRIER_DOWN_COUNT also counts losses after which the carrier came back. */
#include "host/nic/link.h"

#include "host/nic/nic_inside.h"
#include "host/nic/nic_lower.h"
#include "host/nic/nic_netlink.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

static int read_answer(struct nl_msg *m, void *context)
{
	struct link_state *s = context;
	struct nlmsghdr *h = nlmsg_hdr(m);
	struct ifinfomsg *info = nlmsg_data(h);
	struct nlattr *a[IFLA_CARRIER_DOWN_COUNT + 1];

	if (h->nlmsg_type != RTM_NEWLINK || nlmsg_parse(h, sizeof(*info), a, IFLA_CARRIER_DOWN_COUNT, NULL) < 0)
		return NL_OK;
	s->error = 0;
	s->up = (info->ifi_flags & IFF_UP) && (!a[IFLA_CARRIER] || nla_get_u8(a[IFLA_CARRIER]));
	s->downs_known = a[IFLA_CARRIER_DOWN_COUNT] && nla_len(a[IFLA_CARRIER_DOWN_COUNT]) == sizeof(s->downs);
	if (s->downs_known)
		s->downs = nla_get_u32(a[IFLA_CARRIER_DOWN_COUNT]);
	return NL_OK;
}

void link_read(const struct nic *n, struct link_state *s)
{
	struct ifinfomsg info = { .ifi_index = n->index };
	struct nl_sock *socket = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	int error = -EIO;

	*s = (struct link_state){ .error = -EIO };
	if (socket && m && !nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO))
		error = nic_netlink_ask(socket, m, read_answer, s);
	if (error)
		s->error = error;
	s->stamper = nic_stamper(n);
	nlmsg_free(m);
	nl_socket_free(socket);
}

/* True if the bus address is that of a device: a PCI address, "30be0000.ethernet". A software device has none, or a word
 * without a digit: "N/A" (bridge), "tap". */
static bool is_on_bus(const struct nic *n)
{
	return strpbrk(n->bus, "0123456789");
}

int link_wire_mbps(const struct nic *n)
{
	const int index = nic_stamper(n);
	char name[IF_NAMESIZE];
	struct nic lower;
	struct nic_link link;
	bool known;

	if (!index || !if_indextoname((unsigned)index, name) || nic_find(&lower, name))
		return 0;
	known = lower.is_ethernet && is_on_bus(&lower) && !nic_read_link(&lower, &link) && link.speed_mbps.known;
	nic_close(&lower);
	return known ? (int)link.speed_mbps.value : 0;
}

/* True if the interface was deleted or moved to another namespace. Else r->ifr_name is its present name; empty if the
 * kernel does not report it. */
static bool is_gone(const struct nic *n, struct ifreq *r)
{
	*r = (struct ifreq){ .ifr_ifindex = n->index };
	return nic_ioctl(n, SIOCGIFNAME, r) == -ENODEV;
}

static void look_at_stamper(struct link_watch *w)
{
	const int now = nic_stamper(w->nic);

	if (w->seen != LINK_NOT_SEEN && now != w->stamper) {
		w->moves++;
		if (w->on_move)
			w->on_move(w->context, now);
	}
	w->stamper = now;
}

void link_look(void *worker)
{
	struct link_watch *w = worker;
	struct ifreq r;
	bool up;

	if (is_gone(w->nic, &r)) {
		w->on_gone();
		return;
	}
	/* An interface that stamps by its own NIC never gets a lower device later. */
	if (w->seen == LINK_NOT_SEEN || w->stamper != w->nic->index)
		look_at_stamper(w);
	if (!w->on_change || ioctl(w->nic->control_fd, SIOCGIFFLAGS, &r) < 0)
		return;
	up = (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
	if (w->seen != LINK_NOT_SEEN && (w->seen == LINK_SEEN_UP) != up)
		w->on_change(w->context, up);
	w->seen = up ? LINK_SEEN_UP : LINK_SEEN_DOWN;
}
