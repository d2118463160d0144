// SPDX-License-Identifier: GPL-2.0-or-later
/* Routes and addresses of the interface, by rtnetlink. */
#include "host/nic/nic_inside.h"

#include "host/nic/nic_netlink.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>

struct route {
	int error;
	unsigned char type; /* RTN_*; RTN_UNSPEC: no route */
	uint32_t oif; /* index of the outgoing interface; 0: the route has several */
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

static const void *octets_of(const union address *a, int *bytes)
{
	*bytes = a->any.sa_family == AF_INET6 ? sizeof(a->in6.sin6_addr) : sizeof(a->in.sin_addr);
	return a->any.sa_family == AF_INET6 ? (const void *)&a->in6.sin6_addr : (const void *)&a->in.sin_addr;
}

static const char *name_of(const union address *a, char text[INET6_ADDRSTRLEN])
{
	int bytes;

	return inet_ntop(a->any.sa_family, octets_of(a, &bytes), text, INET6_ADDRSTRLEN);
}

static int ask_route(const union address *to, uint32_t oif, struct route *r)
{
	int bytes;
	const void *octets = octets_of(to, &bytes);
	/* Without FIB_MATCH the kernel assumes that any address is on the link of the requested interface. */
	struct rtmsg rt = { .rtm_family = (unsigned char)to->any.sa_family, .rtm_dst_len = (unsigned char)(8 * bytes),
			    .rtm_flags = RTM_F_FIB_MATCH };
	struct nl_sock *s = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int error = -EIO;

	if (s && m && !nlmsg_append(m, &rt, sizeof(rt), NLMSG_ALIGNTO) && !nla_put(m, RTA_DST, bytes, octets) &&
	    (!oif || !nla_put_u32(m, RTA_OIF, oif)))
		error = nic_netlink_ask(s, m, read_route, r);
	nlmsg_free(m);
	nl_socket_free(s);
	return error;
}

static struct route find_route(const union address *to, uint32_t oif)
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
		warnx("cannot query the route to address '%s' through interface '%s': %s: "
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

static bool is_no_host(const union address *a)
{
	const in_addr_t to = a->in.sin_addr.s_addr;

	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_MULTICAST(&a->in6.sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
	return IN_MULTICAST(ntohl(to)) || to == htonl(INADDR_BROADCAST) || to == htonl(INADDR_ANY);
}

/* Also the subnet-router anycast address of IPv6 (RFC 4291 section 2.6.1): any router of the subnet may reply. */
static bool is_for_many(const struct route *r)
{
	return r->type == RTN_BROADCAST || r->type == RTN_ANYCAST || r->type == RTN_MULTICAST;
}

static int check_server(const struct nic *n, const union address *to)
{
	char server[INET6_ADDRSTRLEN];

	name_of(to, server);
	/* A query that names this interface does not report addresses of other interfaces as local: they may even match
	 * the default route. So a second query names no interface; for a link-local address it would be ambiguous. */
	struct route through = find_route(to, (uint32_t)n->index), any = through;

	if (!address_is_link_local(to))
		any = find_route(to, 0);
	if (is_no_host(to) || is_for_many(&through) || is_for_many(&any)) {
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

bool nic_reaches(int index, const union address *to)
{
	const struct route through = find_route(to, (uint32_t)index);

	return !through.error && !is_no_host(to) && !is_for_many(&through);
}

int nic_route_to(const union address *to)
{
	const struct route r = find_route(to, 0);

	return r.error ? r.error : (int)r.oif;
}

struct own_addresses {
	uint32_t index;
	union address wanted; /* address to search for; AF_UNSPEC: none */
	union address first4, first6; /* first IPv4 address listed; oldest IPv6 address of the highest rank */
	int rank6; /* rank() of first6; 0: no IPv6 address */
	bool has_wanted, wanted_is_tentative;
};

/* A wider scope ranks above link-local; a tentative address cannot be used yet (RFC 4862 section 5.4). */
static int rank(const union address *a, bool tentative)
{
	return tentative ? 1 : address_is_link_local(a) ? 2 : 3;
}

/* On a point-to-point link IFA_ADDRESS is the peer and IFA_LOCAL this host (rtnetlink(7)); elsewhere IPv6 has
 * IFA_ADDRESS only. */
static bool get_address(struct nlmsghdr *h, const struct ifaddrmsg *m, union address *a)
{
	const struct nlattr *local = nlmsg_find_attr(h, sizeof(*m), IFA_LOCAL);
	int bytes;

	*a = (union address){ .any.sa_family = m->ifa_family };
	if (!local && m->ifa_family == AF_INET6)
		local = nlmsg_find_attr(h, sizeof(*m), IFA_ADDRESS);
	if (!local)
		return false;
	void *octets = (void *)(uintptr_t)octets_of(a, &bytes);

	if (nla_len(local) != bytes)
		return false;
	memcpy(octets, nla_data(local), (size_t)bytes);
	return true;
}

static bool same_octets(const union address *a, const union address *b)
{
	uint64_t x[2], y[2];

	address_as_ipv6(a, x);
	address_as_ipv6(b, y);
	return x[0] == y[0] && x[1] == y[1];
}

static int read_address(struct nl_msg *m, void *context)
{
	struct nlmsghdr *h = nlmsg_hdr(m);
	const struct ifaddrmsg *info = nlmsg_data(h);
	struct own_addresses *own = context;
	union address a;

	if (h->nlmsg_type != RTM_NEWADDR || !nlmsg_valid_hdr(h, sizeof(*info)) || info->ifa_index != own->index ||
	    (info->ifa_family != AF_INET && info->ifa_family != AF_INET6) || !get_address(h, info, &a))
		return NL_OK;
	/* Both bits are in the 8-bit field of flags. A duplicate address has TENTATIVE as well. */
	const bool tentative = info->ifa_flags & IFA_F_TENTATIVE && !(info->ifa_flags & IFA_F_OPTIMISTIC);
	const int rank6 = info->ifa_family == AF_INET6 ? rank(&a, tentative) : 0;

	if (!rank6 && own->first4.any.sa_family == AF_UNSPEC)
		own->first4 = a;
	if (rank6 >= own->rank6 && rank6) { /* the newest is listed first, and may be a privacy address */
		own->first6 = a;
		own->rank6 = rank6;
	}
	if (own->wanted.any.sa_family == info->ifa_family && same_octets(&own->wanted, &a)) {
		own->has_wanted = true;
		own->wanted_is_tentative = tentative;
	}
	return NL_OK;
}

static int list_addresses(const struct nic *n, struct own_addresses *own)
{
	/* Not getifaddrs(): it reports the label of an address ("eth0:1") as the name of the interface. */
	struct ifaddrmsg request = { .ifa_family = AF_UNSPEC };
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

static int say_no_address(const struct nic *n, int family)
{
	warnx("interface '%s' has no %s address: 'ip address add ADDRESS/PREFIX dev %s'", n->name,
	      family == AF_INET6 ? "IPv6" : family == AF_INET ? "IPv4" : "IP", n->name);
	return -EADDRNOTAVAIL;
}

int nic_find_own(struct nic *n, int family)
{
	struct own_addresses own = { .rank6 = 0 };
	int error = list_addresses(n, &own);

	if (error)
		return error;
	n->first4 = own.first4;
	n->first6 = own.first6;
	if ((family != AF_INET6 && own.first4.any.sa_family) || (family != AF_INET && own.first6.any.sa_family))
		return 0;
	return say_no_address(n, family);
}

int nic_check_own(const struct nic *n, const union address *address)
{
	struct own_addresses own = { .wanted = *address };
	const int family = address->any.sa_family;
	char wanted[INET6_ADDRSTRLEN], first[INET6_ADDRSTRLEN];
	int error;

	if (family == AF_UNSPEC)
		return 0;
	error = list_addresses(n, &own);
	if (error || (own.has_wanted && !own.wanted_is_tentative))
		return error;
	if (family == AF_INET6 ? !own.rank6 : !own.first4.any.sa_family)
		return say_no_address(n, family);
	name_of(&own.wanted, wanted);
	name_of(family == AF_INET6 ? &own.first6 : &own.first4, first);
	if (own.has_wanted)
		warnx("--bind %s: duplicate address detection has not finished (tentative): wait a second, see "
		      "'ip address show dev %s'", wanted, n->name);
	else
		warnx("--bind %s: not an address of interface '%s': give an address of the interface, such as %s, "
		      "or 'ip address add %s/PREFIX dev %s'",
		      wanted, n->name, first, wanted, n->name);
	return -EADDRNOTAVAIL;
}

int nic_check_address(const struct nic *n, const union address *server)
{
	if (server->any.sa_family != AF_INET && server->any.sa_family != AF_INET6) {
		warnx("the server address is not an IP address: give --address an address like 192.0.2.1 or "
		      "2001:db8::1");
		return -EAFNOSUPPORT;
	}
	return check_server(n, server);
}
