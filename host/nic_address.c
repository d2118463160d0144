// SPDX-License-Identifier: GPL-2.0-or-later
/* Is the address reached through this interface? The kernel is asked for its route, by netlink. */
#include "host/nic_address.h"

#include "host/nic_inside.h"
#include "host/nic_netlink.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

struct route {
	int error;
	unsigned char type; /* RTN_*; RTN_UNSPEC: no route */
	uint32_t oif; /* 0: the route has several */
};

static int read_route(struct nl_msg *m, void *context)
{
	struct nlmsghdr *h = nlmsg_hdr(m);
	const struct rtmsg *rt = nlmsg_data(h);
	struct route *r = context;

	if (h->nlmsg_type != RTM_NEWROUTE || !nlmsg_valid_hdr(h, sizeof(*rt)))
		return NL_SKIP;
	const struct nlattr *oif = nlmsg_find_attr(h, sizeof(*rt), RTA_OIF);

	r->type = rt->rtm_type;
	r->oif = oif && nla_len(oif) == sizeof(uint32_t) ? nla_get_u32(oif) : 0;
	return NL_OK;
}

static int ask_route(struct in_addr to, uint32_t oif, struct route *r)
{
	/* FIB_MATCH: without it the kernel takes any address to be on the link of the interface that is asked for. */
	struct rtmsg rt = { .rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_flags = RTM_F_FIB_MATCH };
	struct nl_sock *s = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int error = -EIO;

	if (s && m && !nlmsg_append(m, &rt, sizeof(rt), NLMSG_ALIGNTO) && !nla_put_u32(m, RTA_DST, to.s_addr) &&
	    (!oif || !nla_put_u32(m, RTA_OIF, oif)))
		error = nic_netlink_ask(s, m, read_route, r);
	nlmsg_free(m);
	nl_socket_free(s);
	return error;
}

static struct route find_route(struct in_addr to, uint32_t oif)
{
	struct route r = { .type = RTN_UNSPEC };

	r.error = ask_route(to, oif, &r);
	if (!r.error && r.type == RTN_UNSPEC)
		r.error = -EIO;
	return r;
}

static int say_no_route(const struct nic *n, const char *server, const struct route *through, const struct route *any)
{
	char other[IF_NAMESIZE];

	if (through->error != -ENETUNREACH && through->error != -EHOSTUNREACH)
		warnx("cannot ask the kernel for the route to address '%s' through interface '%s': %s: "
		      "see 'ip route get fibmatch %s oif %s'", server, n->name, strerror(-through->error), server,
		      n->name);
	else if (!any->error && any->oif && any->oif != (uint32_t)n->index && if_indextoname(any->oif, other))
		warnx("address '%s' is reached through interface '%s', not '%s': use --interface %s, or "
		      "'ip route add %s dev %s'", server, other, n->name, other, server, n->name);
	else
		warnx("no route to address '%s' through interface '%s': give the interface an address in that network "
		      "('ip address add ADDRESS/PREFIX dev %s') or add a route ('ip route add %s dev %s')",
		      server, n->name, n->name, server, n->name);
	return through->error;
}

static int check_server(const struct nic *n, struct in_addr to)
{
	char server[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &to, server, sizeof(server));
	/* An address of another interface of this host is no local one to a query that names this interface: it may
	 * even match the default route. So the question is asked twice. */
	struct route through = find_route(to, (uint32_t)n->index), any = find_route(to, 0);

	if (IN_MULTICAST(ntohl(to.s_addr)) || to.s_addr == htonl(INADDR_BROADCAST) || to.s_addr == htonl(INADDR_ANY) ||
	    through.type == RTN_BROADCAST || any.type == RTN_BROADCAST) {
		warnx("address '%s' is not a single host: give --address the unicast address of the reflector", server);
		return -EADDRNOTAVAIL;
	}
	if (through.type == RTN_LOCAL || any.type == RTN_LOCAL) {
		if (n->flags & IFF_LOOPBACK)
			return 0;
		warnx("address '%s' is this host's own address, packets to it never reach the NIC: run the reflector "
		      "on another host or in another network namespace, or measure with --interface lo", server);
		return -EADDRNOTAVAIL;
	}
	return through.error ? say_no_route(n, server, &through, &any) : 0;
}

struct own_addresses {
	uint32_t index;
	struct in_addr first, wanted; /* the first one that the kernel lists; this one, if any */
	bool found, has_wanted;
};

static int read_address(struct nl_msg *m, void *context)
{
	struct nlmsghdr *h = nlmsg_hdr(m);
	const struct ifaddrmsg *a = nlmsg_data(h);
	struct own_addresses *own = context;
	const struct nlattr *local;
	struct in_addr address;

	if (h->nlmsg_type != RTM_NEWADDR || !nlmsg_valid_hdr(h, sizeof(*a)) || a->ifa_family != AF_INET || a->ifa_index != own->index)
		return NL_OK;
	local = nlmsg_find_attr(h, sizeof(*a), IFA_LOCAL);
	if (!local || nla_len(local) != sizeof(address))
		return NL_OK;
	memcpy(&address, nla_data(local), sizeof(address));
	if (!own->found)
		own->first = address;
	own->found = true;
	own->has_wanted |= address.s_addr == own->wanted.s_addr;
	return NL_OK;
}

static int list_addresses(const struct nic *n, struct own_addresses *own)
{
	/* Not getifaddrs(): it gives an address the name of its label ("eth0:1"), where there is one. */
	struct ifaddrmsg request = { .ifa_family = AF_INET };
	struct nl_sock *s = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_DUMP);
	int error = -EIO;

	own->index = (uint32_t)n->index;
	if (s && m && !nlmsg_append(m, &request, sizeof(request), NLMSG_ALIGNTO))
		error = nic_netlink_ask(s, m, read_address, own);
	nlmsg_free(m);
	nl_socket_free(s);
	return error ? nic_say_io(n, "list the addresses of", error) : 0;
}

static int say_no_address(const struct nic *n)
{
	warnx("interface '%s' has no IPv4 address: 'ip address add ADDRESS/PREFIX dev %s'", n->name, n->name);
	return -EADDRNOTAVAIL;
}

static int check_own_address(const struct nic *n)
{
	struct own_addresses own = { .found = false };
	int error = list_addresses(n, &own);

	return error || own.found ? error : say_no_address(n);
}

int nic_check_own(const struct nic *n, const union address *address)
{
	struct own_addresses own = { .wanted = address->in.sin_addr };
	char wanted[INET_ADDRSTRLEN], first[INET_ADDRSTRLEN];
	int error;

	if (address->any.sa_family == AF_UNSPEC)
		return 0;
	error = list_addresses(n, &own);
	if (error || own.has_wanted)
		return error;
	if (!own.found)
		return say_no_address(n);
	inet_ntop(AF_INET, &own.wanted, wanted, sizeof(wanted));
	inet_ntop(AF_INET, &own.first, first, sizeof(first));
	warnx("--bind %s: no address of interface '%s': give one that it has, such as %s, or 'ip address add %s/PREFIX dev %s'",
	      wanted, n->name, first, wanted, n->name);
	return -EADDRNOTAVAIL;
}

int nic_check_address(const struct nic *n, const union address *server)
{
	if (!server)
		return check_own_address(n);
	if (server->any.sa_family != AF_INET) {
		warnx("the address of the server is no IPv4 address: give --address one like 192.0.2.1");
		return -EAFNOSUPPORT;
	}
	return check_server(n, server->in.sin_addr);
}
