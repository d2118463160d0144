// SPDX-License-Identifier: GPL-2.0-or-later
/* Lower device of an interface. In the kernel: net/8021q/vlan_netlink.c, drivers/net/bonding/bond_netlink.c. */
#include "host/nic/nic_lower.h"

#include "host/nic/nic_netlink.h"

#include <err.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

#define LAYERS_MAX 8 /* a VLAN in a VLAN on a bond has 3 layers */

static void read_egress(struct nic_lower *l, struct nlattr *map)
{
	struct nlattr *a;
	int rest;

	nla_for_each_nested(a, map, rest) {
		const struct ifla_vlan_qos_mapping *m = nla_data(a);

		if (nla_type(a) == IFLA_VLAN_QOS_MAPPING && nla_len(a) >= (int)sizeof(*m) &&
		    l->egresses < NIC_EGRESS_MAX)
			l->egress[l->egresses++] = (struct nic_egress){ m->from, m->to };
	}
}

static uint32_t number(const struct nlattr *a)
{
	return a && nla_len(a) == sizeof(uint32_t) ? nla_get_u32(a) : 0;
}

static void read_vlan(struct nic_lower *l, struct nlattr *data)
{
	struct nlattr *a[IFLA_VLAN_MAX + 1];

	if (nla_parse_nested(a, IFLA_VLAN_MAX, data, NULL) >= 0 && a[IFLA_VLAN_EGRESS_QOS])
		read_egress(l, a[IFLA_VLAN_EGRESS_QOS]);
}

static void read_bond(struct nic_lower *l, struct nlattr *data)
{
	struct nlattr *a[IFLA_BOND_MAX + 1];

	if (nla_parse_nested(a, IFLA_BOND_MAX, data, NULL) >= 0)
		l->index = (int)number(a[IFLA_BOND_ACTIVE_SLAVE]);
}

static void read_kind(struct nic_lower *l, struct nlattr *info)
{
	struct nlattr *a[IFLA_INFO_MAX + 1];

	if (nla_parse_nested(a, IFLA_INFO_MAX, info, NULL) < 0 || !a[IFLA_INFO_KIND])
		return;
	if (!nla_strcmp(a[IFLA_INFO_KIND], "vlan"))
		l->kind = NIC_VLAN;
	else if (!nla_strcmp(a[IFLA_INFO_KIND], "bond"))
		l->kind = NIC_BOND;
	if (a[IFLA_INFO_DATA] && l->kind == NIC_VLAN)
		read_vlan(l, a[IFLA_INFO_DATA]);
	if (a[IFLA_INFO_DATA] && l->kind == NIC_BOND)
		read_bond(l, a[IFLA_INFO_DATA]);
}

static int read_answer(struct nl_msg *m, void *context)
{
	struct nic_lower *l = context;
	struct nlmsghdr *h = nlmsg_hdr(m);
	struct nlattr *a[IFLA_LINKINFO + 1];

	if (h->nlmsg_type != RTM_NEWLINK || nlmsg_parse(h, sizeof(struct ifinfomsg), a, IFLA_LINKINFO, NULL) < 0)
		return NL_OK;
	*l = (struct nic_lower){ .kind = NIC_ITSELF };
	if (a[IFLA_LINKINFO])
		read_kind(l, a[IFLA_LINKINFO]);
	/* With IFLA_LINK_NETNSID the lower device is in another namespace, where its index counts. */
	if (l->kind == NIC_VLAN && !nlmsg_find_attr(h, sizeof(struct ifinfomsg), IFLA_LINK_NETNSID))
		l->index = (int)number(a[IFLA_LINK]);
	return NL_OK;
}

int nic_read_lower(int index, struct nic_lower *l)
{
	struct ifinfomsg info = { .ifi_index = index };
	struct nl_sock *s = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);
	int error = -EIO;

	*l = (struct nic_lower){ .kind = NIC_ITSELF };
	if (s && m && !nlmsg_append(m, &info, sizeof(info), NLMSG_ALIGNTO))
		error = nic_netlink_ask(s, m, read_answer, l);
	nlmsg_free(m);
	nl_socket_free(s);
	return error;
}

int nic_stamper(const struct nic *n)
{
	struct nic_lower l;
	int index = n->index;

	for (int i = 0; i < LAYERS_MAX && index; i++) {
		if (nic_read_lower(index, &l))
			return 0;
		if (l.kind == NIC_ITSELF)
			return index;
		index = l.index;
	}
	return 0;
}

/* ---- VLAN priority ----------------------------------------------------------------------------------------------- */

static bool is_in_map(const struct nic_lower *l, int64_t priority)
{
	for (unsigned i = 0; i < l->egresses; i++)
		if (l->egress[i].priority == (uint64_t)priority)
			return true;
	return false;
}

/* Smallest priority with this code point, since a priority above 6 needs CAP_NET_ADMIN. -1: no priority has it. */
static int64_t find_priority(const struct nic_lower *l, int64_t code)
{
	int64_t least = -1;

	/* A priority that is not in the map has code point 0, and the kernel lists no entry with code point 0. */
	if (!code)
		while (is_in_map(l, ++least))
			;
	for (unsigned i = 0; i < l->egresses; i++)
		if (l->egress[i].code == (uint64_t)code && (least < 0 || l->egress[i].priority < least))
			least = l->egress[i].priority;
	return least;
}

int nic_choose_priority(const struct nic *n, struct options *o)
{
	const int code = (int)o->vlan_priority;
	struct nic_lower l;
	int error = code < 0 ? 0 : nic_read_lower(n->index, &l);

	if (code < 0)
		return 0;
	if (error) {
		warnx("--vlan-priority %d: cannot read the lower device of interface '%s': %s: use --priority instead",
		      code, n->name, strerror(-error));
		return error;
	}
	if (l.kind != NIC_VLAN) {
		warnx("--vlan-priority %d: interface '%s' is not a VLAN, so its packets have no tag: give a VLAN "
		      "interface, or use --priority", code, n->name);
		return -EINVAL;
	}
	o->priority = find_priority(&l, code);
	if (o->priority >= 0)
		return 0;
	warnx("--vlan-priority %d: the egress map of VLAN '%s' maps no priority to code point %d: 'ip link set dev "
	      "%s type vlan egress-qos-map %d:%d'", code, n->name, code, n->name, code, code);
	return -ENOENT;
}
