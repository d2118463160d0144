// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interface and its NIC, by ioctl and netlink. A NIC has one stamping setting for all programs, and the last writer
 * wins: so it is read first, changed only when it must be, read back, and put back only while it is still ours.
 */
#include "host/nic.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NETLINK_LIMIT_S 2 /* the kernel answers at once; a lost answer must not hang the start */

#define BIT(n) (1U << (n))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int nic_ioctl(const struct nic *n, unsigned long request, struct ifreq *r)
{
	memcpy(r->ifr_name, n->name, sizeof(r->ifr_name));
	return ioctl(n->control_fd, request, r) < 0 ? -errno : 0;
}

int nic_ethtool(const struct nic *n, void *command)
{
	struct ifreq r = { .ifr_data = command };

	return nic_ioctl(n, SIOCETHTOOL, &r);
}

static int say_io(const struct nic *n, const char *what, int error)
{
	warnx("cannot %s interface '%s': %s: see 'ip -d link show dev %s' and the kernel log ('dmesg')", what, n->name,
	      strerror(-error), n->name);
	return error;
}

/* ---- Finding the interface ------------------------------------------------------------------------------------- */

static int find(struct nic *n, const char *name)
{
	struct ifreq r = { .ifr_ifindex = 0 };
	int error;

	if (strlen(name) >= sizeof(n->name)) {
		warnx("interface name '%s' is longer than %zu characters, so there is none: list them with 'ip link'",
		      name, sizeof(n->name) - 1);
		return -ENODEV;
	}
	strcpy(n->name, name);
	/* The kernel cuts "eth0:1" at the colon in these ioctls, but not in SO_BINDTODEVICE. */
	error = strchr(name, ':') ? -ENODEV : nic_ioctl(n, SIOCGIFINDEX, &r);
	if (error == -ENODEV)
		warnx("interface '%s' not found in this network namespace: list them with 'ip link'; "
		      "enter another with 'nsenter --net=/var/run/netns/NAME'", name);
	else if (error)
		say_io(n, "find", error);
	if (error)
		return error;
	n->index = r.ifr_ifindex;
	/* The name may have been an alternative one ('ip link property add'): here is the one that others print. */
	if (!nic_ioctl(n, SIOCGIFNAME, &r))
		memcpy(n->name, r.ifr_name, sizeof(n->name));
	return 0;
}

/* IFF_RUNNING comes up to a second after the carrier; this is the carrier itself, where the driver tells. */
bool nic_has_carrier(const struct nic *n)
{
	struct ethtool_value link = { .cmd = ETHTOOL_GLINK };

	return nic_ethtool(n, &link) ? n->flags & IFF_RUNNING : link.data;
}

static int read_flags(struct nic *n)
{
	struct ifreq r = { .ifr_flags = 0 };
	int error = nic_ioctl(n, SIOCGIFFLAGS, &r);

	if (error)
		return say_io(n, "read the flags of", error);
	n->flags = (unsigned short)r.ifr_flags;
	return 0;
}

static int check_up(const struct nic *n)
{
	if (!(n->flags & IFF_UP)) {
		warnx("interface '%s' is down: 'ip link set %s up'", n->name, n->name);
		return -ENETDOWN;
	}
	if (!nic_has_carrier(n))
		warnx("warning: interface '%s' has no carrier, so nothing will answer: check the cable and the "
		      "other end, see 'ip link show dev %s'", n->name, n->name);
	return 0;
}

static void read_driver(struct nic *n)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	bool told = !nic_ethtool(n, &info) && info.driver[0];

	snprintf(n->driver, sizeof(n->driver), "%.*s", (int)sizeof(n->driver) - 1, told ? info.driver : "unknown");
	snprintf(n->bus, sizeof(n->bus), "%.*s", (int)sizeof(n->bus) - 1, told ? info.bus_info : "");
}

int nic_find(struct nic *n, const char *name)
{
	int error;

	*n = (struct nic){ .can.phc_index = -1, .control_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
	if (n->control_fd < 0) {
		error = -errno;
		warnx("cannot open a socket to ask about interface '%s': %s: see 'ulimit -n'", name, strerror(-error));
		return error;
	}
	error = find(n, name);
	if (!error)
		error = read_flags(n);
	if (error) {
		nic_close(n);
		return error;
	}
	read_driver(n);
	return 0;
}

int nic_open(struct nic *n, const char *name)
{
	int error = nic_find(n, name);

	if (error)
		return error;
	error = check_up(n);
	if (error)
		nic_close(n);
	return error;
}

void nic_close(struct nic *n)
{
	if (n->control_fd < 0)
		return;
	nic_restore(n); /* the last moment at which it can be done */
	close(n->control_fd);
	n->control_fd = -1;
}

/* ---- What can be read of it without changing anything ---------------------------------------------------------- */

int nic_read_mac(const struct nic *n, char text[NIC_MAC_BYTES])
{
	struct ifreq r = { .ifr_ifindex = 0 };
	int error = nic_ioctl(n, SIOCGIFHWADDR, &r);
	const uint8_t *m = (const uint8_t *)r.ifr_hwaddr.sa_data;

	if (!error)
		snprintf(text, NIC_MAC_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return error;
}

int nic_read_link(const struct nic *n, struct nic_link *link)
{
	struct {
		struct ethtool_link_settings s;
		uint32_t masks[3 * SCHAR_MAX];
	} ask = { .s.cmd = ETHTOOL_GLINKSETTINGS };
	int error = nic_ethtool(n, &ask);

	/* The first answer is only the size of the masks, as a negative number; the second has the rest. */
	if (!error && ask.s.link_mode_masks_nwords < 0) {
		ask.s = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS, .link_mode_masks_nwords =
							(int8_t)-ask.s.link_mode_masks_nwords };
		error = nic_ethtool(n, &ask);
	}
	if (error)
		return error;
	/* Drivers without a link say 0 or -1, which is not a speed. */
	link->speed_mbps = ask.s.speed && ask.s.speed <= INT_MAX ? (int)ask.s.speed : -1;
	link->duplex = ask.s.duplex == DUPLEX_HALF ? NIC_DUPLEX_HALF :
		       ask.s.duplex == DUPLEX_FULL ? NIC_DUPLEX_FULL : NIC_DUPLEX_UNKNOWN;
	return 0;
}

/* ---- Netlink: one request, its answer -------------------------------------------------------------------------- */

static struct nl_sock *netlink_open(int protocol)
{
	struct timeval limit = { .tv_sec = NETLINK_LIMIT_S };
	struct nl_sock *s = nl_socket_alloc();

	if (!s)
		return NULL;
	/* Without acks there is exactly one answer or one error to each request, so that one receive never waits. */
	nl_socket_disable_auto_ack(s);
	if (nl_connect(s, protocol) < 0 ||
	    setsockopt(nl_socket_get_fd(s), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0) {
		nl_socket_free(s);
		return NULL;
	}
	return s;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *error)
{
	(void)from;
	*(int *)error = e->error;
	return NL_STOP;
}

/* 0, or the kernel's own -errno, which libnl's return value no longer tells. */
static int netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context)
{
	int error = 0;

	nl_socket_modify_cb(s, NL_CB_VALID, NL_CB_CUSTOM, on_answer, context);
	nl_socket_modify_err_cb(s, NL_CB_CUSTOM, on_error, &error);
	if (nl_send_auto(s, m) < 0 || (nl_recvmsgs_default(s) < 0 && !error))
		return -EIO;
	return error;
}

/* ---- The address: is it reached through this interface? -------------------------------------------------------- */

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
	struct nl_sock *s = netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int error = -EIO;

	if (s && m && !nlmsg_append(m, &rt, sizeof(rt), NLMSG_ALIGNTO) && !nla_put_u32(m, RTA_DST, to.s_addr) &&
	    (!oif || !nla_put_u32(m, RTA_OIF, oif)))
		error = netlink_ask(s, m, read_route, r);
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

struct own_address {
	uint32_t index;
	bool found;
};

static int read_address(struct nl_msg *m, void *context)
{
	struct nlmsghdr *h = nlmsg_hdr(m);
	const struct ifaddrmsg *a = nlmsg_data(h);
	struct own_address *own = context;

	if (h->nlmsg_type == RTM_NEWADDR && nlmsg_valid_hdr(h, sizeof(*a)) && a->ifa_family == AF_INET &&
	    a->ifa_index == own->index)
		own->found = true;
	return NL_OK;
}

static int check_own_address(const struct nic *n)
{
	/* Not getifaddrs(): it gives an address the name of its label ("eth0:1"), where there is one. */
	struct ifaddrmsg request = { .ifa_family = AF_INET };
	struct own_address own = { .index = (uint32_t)n->index };
	struct nl_sock *s = netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(RTM_GETADDR, NLM_F_DUMP);
	int error = -EIO;

	if (s && m && !nlmsg_append(m, &request, sizeof(request), NLMSG_ALIGNTO))
		error = netlink_ask(s, m, read_address, &own);
	nlmsg_free(m);
	nl_socket_free(s);
	if (error)
		return say_io(n, "list the addresses of", error);
	if (own.found)
		return 0;
	warnx("interface '%s' has no IPv4 address: 'ip address add ADDRESS/PREFIX dev %s'", n->name, n->name);
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

/* ---- What the NIC can stamp ------------------------------------------------------------------------------------ */

/* Names as 'ethtool -T' prints them. */
static const char *const stamping_names[] = { /* by the log2 of SOF_TIMESTAMPING_* */
	[0] = "hardware-transmit", [2] = "hardware-receive", [6] = "hardware-raw-clock",
};

static const char *const tx_names[] = {
	[HWTSTAMP_TX_OFF] = "off",
	[HWTSTAMP_TX_ON] = "on",
	[HWTSTAMP_TX_ONESTEP_SYNC] = "onestep-sync",
	[HWTSTAMP_TX_ONESTEP_P2P] = "onestep-p2p",
};

static const char *const filter_names[] = {
	[HWTSTAMP_FILTER_NONE] = "none",
	[HWTSTAMP_FILTER_ALL] = "all",
	[HWTSTAMP_FILTER_SOME] = "some",
	[HWTSTAMP_FILTER_PTP_V1_L4_EVENT] = "ptpv1-l4-event",
	[HWTSTAMP_FILTER_PTP_V1_L4_SYNC] = "ptpv1-l4-sync",
	[HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ] = "ptpv1-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L4_EVENT] = "ptpv2-l4-event",
	[HWTSTAMP_FILTER_PTP_V2_L4_SYNC] = "ptpv2-l4-sync",
	[HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ] = "ptpv2-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L2_EVENT] = "ptpv2-l2-event",
	[HWTSTAMP_FILTER_PTP_V2_L2_SYNC] = "ptpv2-l2-sync",
	[HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ] = "ptpv2-l2-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_EVENT] = "ptpv2-event",
	[HWTSTAMP_FILTER_PTP_V2_SYNC] = "ptpv2-sync",
	[HWTSTAMP_FILTER_PTP_V2_DELAY_REQ] = "ptpv2-delay-req",
	[HWTSTAMP_FILTER_NTP_ALL] = "ntp-all",
};

static const char *name_of(const char *const *names, size_t count, int value)
{
	return value >= 0 && (size_t)value < count && names[value] ? names[value] : "unknown";
}

/* "name name name" of the bits that are set and have a name. */
static const char *names_of(const char *const *names, size_t count, uint32_t bits, char text[NIC_NAMES_BYTES])
{
	size_t used = 0;

	strcpy(text, "nothing");
	for (size_t i = 0; i < count; i++)
		if ((bits & BIT(i)) && names[i] && used < NIC_NAMES_BYTES)
			used += (size_t)snprintf(text + used, NIC_NAMES_BYTES - used, "%s%s", used ? " " : "", names[i]);
	return text;
}

const char *nic_tx_type_name(int tx_type)
{
	return name_of(tx_names, COUNT(tx_names), tx_type);
}

const char *nic_filter_name(int rx_filter)
{
	return name_of(filter_names, COUNT(filter_names), rx_filter);
}

const char *nic_filter_names(uint32_t rx_filters, char text[NIC_NAMES_BYTES])
{
	return names_of(filter_names, COUNT(filter_names), rx_filters, text);
}

const char *nic_stamping_names(uint32_t stamping, char text[NIC_NAMES_BYTES])
{
	return names_of(stamping_names, COUNT(stamping_names), stamping, text);
}

/* The first word of a compact bitset: bits above 31 are none that this program knows. An absent one is empty. */
static bool read_bitset(struct nlattr *bitset, uint32_t *bits)
{
	struct nlattr *part[ETHTOOL_A_BITSET_MAX + 1], *value;

	*bits = 0;
	if (!bitset)
		return true;
	if (nla_parse_nested(part, ETHTOOL_A_BITSET_MAX, bitset, NULL) < 0)
		return false;
	value = part[ETHTOOL_A_BITSET_VALUE];
	if (!value || nla_len(value) < (int)sizeof(*bits) || nla_len(value) % (int)sizeof(*bits))
		return false;
	*bits = nla_get_u32(value);
	return true;
}

static bool parse_tsinfo(struct nlmsghdr *h, struct nic_abilities *can)
{
	struct nlattr *a[ETHTOOL_A_TSINFO_MAX + 1], *phc;

	if (!genlmsg_valid_hdr(h, 0) || genlmsg_hdr(h)->cmd != ETHTOOL_MSG_TSINFO_GET_REPLY ||
	    genlmsg_parse(h, 0, a, ETHTOOL_A_TSINFO_MAX, NULL) < 0)
		return false;
	phc = a[ETHTOOL_A_TSINFO_PHC_INDEX];
	if (phc && nla_len(phc) != sizeof(uint32_t))
		return false;
	can->phc_index = phc ? (int)nla_get_u32(phc) : -1;
	return read_bitset(a[ETHTOOL_A_TSINFO_TIMESTAMPING], &can->stamping) &&
	       read_bitset(a[ETHTOOL_A_TSINFO_TX_TYPES], &can->tx_types) &&
	       read_bitset(a[ETHTOOL_A_TSINFO_RX_FILTERS], &can->rx_filters);
}

struct tsinfo {
	struct nic_abilities can;
	bool good;
};

static int read_tsinfo(struct nl_msg *m, void *context)
{
	struct tsinfo *t = context;

	t->good = parse_tsinfo(nlmsg_hdr(m), &t->can);
	return NL_OK;
}

static bool put_tsinfo_request(struct nl_msg *m, int family, int index, uint32_t flags)
{
	struct nlattr *header;

	if (!genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, ETHTOOL_MSG_TSINFO_GET, ETHTOOL_GENL_VERSION))
		return false;
	header = nla_nest_start(m, ETHTOOL_A_TSINFO_HEADER);
	if (!header || nla_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)index) ||
	    nla_put_u32(m, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS | flags))
		return false;
	return nla_nest_end(m, header) >= 0;
}

static bool abilities_by_netlink(const struct nic *n, struct nic_abilities *can)
{
	struct tsinfo t = { .good = false };
	struct nl_sock *s = netlink_open(NETLINK_GENERIC);
	struct nl_msg *m = nlmsg_alloc();
	int family = s ? genl_ctrl_resolve(s, ETHTOOL_GENL_NAME) : -1;

	if (family >= 0 && m && put_tsinfo_request(m, family, n->index, 0) && netlink_ask(s, m, read_tsinfo, &t))
		t.good = false;
	if (t.good)
		*can = t.can;
	nlmsg_free(m);
	nl_socket_free(s);
	return t.good;
}

static int abilities_by_ioctl(const struct nic *n, struct nic_abilities *can)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	int error = nic_ethtool(n, &info);

	*can = (struct nic_abilities){ .phc_index = -1 };
	if (error == -EOPNOTSUPP)
		return 0;
	if (error)
		return say_io(n, "read the stamping abilities of", error);
	*can = (struct nic_abilities){ info.so_timestamping, info.tx_types, info.rx_filters, info.phc_index };
	return 0;
}

/* Not asked: whether filter "all" is listed. Some drivers (igc, ice) take it without listing it. */
int nic_read_abilities(struct nic *n)
{
	return abilities_by_netlink(n, &n->can) ? 0 : abilities_by_ioctl(n, &n->can);
}

static int check_abilities(const struct nic *n)
{
	const uint32_t needed = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
				SOF_TIMESTAMPING_RAW_HARDWARE;
	const uint32_t missing = needed & ~n->can.stamping;
	char text[NIC_NAMES_BYTES];

	if (n->can.phc_index < 0)
		warnx("interface '%s' (driver '%s') has no hardware clock to stamp packets with: "
		      "--stamp kernel works on any interface", n->name, n->driver);
	else if (missing)
		warnx("interface '%s' (driver '%s') has a hardware clock but not the abilities %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      nic_stamping_names(missing, text));
	else if (!(n->can.tx_types & BIT(HWTSTAMP_TX_ON)))
		warnx("interface '%s' (driver '%s') cannot stamp what it sends, its transmit types are: %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      names_of(tx_names, COUNT(tx_names), n->can.tx_types, text));
	else
		return 0;
	return -EOPNOTSUPP;
}

/* ---- What the driver counted of its transmit stamps ------------------------------------------------------------- */

/* linux/ethtool_netlink.h of Linux 6.10, which few distributions build with. */
enum { TSINFO_STATS = 6, TS_STAT_TX_PKTS = 1, TS_STAT_TX_LOST, TS_STAT_TX_ERR };
#define REQUEST_STATS (1 << 2) /* ETHTOOL_FLAG_STATS */

/* A netlink "uint" is 4 octets long, or 8 where it must be. */
static bool read_uint(const struct nlattr *a, uint64_t *value)
{
	uint32_t small;

	if (!a || (nla_len(a) != sizeof(small) && nla_len(a) != sizeof(*value)))
		return false;
	memcpy(&small, nla_data(a), sizeof(small));
	*value = small;
	if (nla_len(a) == sizeof(*value))
		memcpy(value, nla_data(a), sizeof(*value));
	return true;
}

static int read_stamp_counts(struct nl_msg *m, void *context)
{
	struct nlattr *a[TSINFO_STATS + 1], *stat[TS_STAT_TX_ERR + 1];
	struct nic_stamp_counts *c = context;
	struct nlmsghdr *h = nlmsg_hdr(m);

	if (!genlmsg_valid_hdr(h, 0) || genlmsg_hdr(h)->cmd != ETHTOOL_MSG_TSINFO_GET_REPLY ||
	    genlmsg_parse(h, 0, a, TSINFO_STATS, NULL) < 0 || !a[TSINFO_STATS] ||
	    nla_parse_nested(stat, TS_STAT_TX_ERR, a[TSINFO_STATS], NULL) < 0)
		return NL_OK;
	c->has = (unsigned)read_uint(stat[TS_STAT_TX_PKTS], &c->sent) |
		 (unsigned)read_uint(stat[TS_STAT_TX_LOST], &c->lost) << 1 |
		 (unsigned)read_uint(stat[TS_STAT_TX_ERR], &c->errors) << 2;
	return NL_OK;
}

int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts)
{
	struct nl_sock *s = netlink_open(NETLINK_GENERIC);
	struct nl_msg *m = nlmsg_alloc();
	int family = s ? genl_ctrl_resolve(s, ETHTOOL_GENL_NAME) : -1, error = -EOPNOTSUPP;

	*counts = (struct nic_stamp_counts){ .has = 0 };
	if (family >= 0 && m && put_tsinfo_request(m, family, n->index, REQUEST_STATS))
		error = netlink_ask(s, m, read_stamp_counts, counts);
	nlmsg_free(m);
	nl_socket_free(s);
	return error ? error : counts->has ? 0 : -EOPNOTSUPP;
}

/* ---- Several programs on one NIC --------------------------------------------------------------------------------
 *
 * The kernel does not count who needs a NIC's stamps, so the first of several rants to end would take them from the others.
 * Each holds a shared lock on a file of the NIC, with the setting that the first one found; who is alone puts that back. The
 * lock is exclusive while a setting is made or put back, and goes with the program, however that ends. Locks of the open
 * file (fcntl(2), F_OFD_SETLK) and not flock(2), since they are turned from one kind into the other without a gap. Where the
 * file cannot be had (not root), each rant is by itself.
 */

static const char *share_folder = "/run";

#define SHARE_TRIES 500 /* 10 ms each: some drivers take a second to set the NIC */

static bool share_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_len = 1 };

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/* Opens n->share_fd, -1: there is no sharing. True: others use the NIC, and n->found is what the first of them found. */
static bool share_join(struct nic *n)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };
	struct stat space;

	n->share_fd = -1;
	if (stat("/proc/self/ns/net", &space))
		return false;
	snprintf(n->share_path, sizeof(n->share_path), "%s/rant-stamping-%ju-%d", share_folder, (uintmax_t)space.st_ino,
		 n->index);
	for (int i = 0; i < SHARE_TRIES; i++) {
		int fd = open(n->share_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct stat file;

		if (fd < 0)
			return false;

		bool alone = share_lock(fd, F_WRLCK), locked = alone || share_lock(fd, F_RDLCK);

		if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_uid != geteuid()) {
			close(fd);
			return false;
		}
		/* What the last one has unlinked in the meantime is a file of the past. */
		if (locked && file.st_nlink &&
		    (alone || pread(fd, n->found, sizeof(n->found), 0) == sizeof(n->found))) {
			n->share_fd = fd;
			return !alone;
		}
		close(fd);
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The NIC was set: from here on others may join. */
static void share_begin(const struct nic *n)
{
	if (n->share_fd >= 0 && pwrite(n->share_fd, n->found, sizeof(n->found), 0) == sizeof(n->found))
		share_lock(n->share_fd, F_RDLCK);
}

/* Is nobody else left? Then the lock is exclusive. */
static bool share_leave(const struct nic *n)
{
	return n->share_fd < 0 || (share_lock(n->share_fd, F_UNLCK) && share_lock(n->share_fd, F_WRLCK));
}

static void share_end(struct nic *n, bool alone)
{
	if (n->share_fd < 0)
		return;
	if (alone)
		unlink(n->share_path);
	close(n->share_fd);
	n->share_fd = -1;
}

/* ---- What the NIC is set to ------------------------------------------------------------------------------------ */

enum { FLAGS, TX_TYPE, RX_FILTER }; /* the ints of struct hwtstamp_config */

static const int wanted[3] = { 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL };

static int hwtstamp_ioctl(const struct nic *n, unsigned long request, int setting[3])
{
	struct hwtstamp_config c = { setting[FLAGS], setting[TX_TYPE], setting[RX_FILTER] };
	struct ifreq r = { .ifr_data = (void *)&c };
	int error = nic_ioctl(n, request, &r);

	if (error)
		return error;
	setting[FLAGS] = c.flags;
	setting[TX_TYPE] = c.tx_type;
	setting[RX_FILTER] = c.rx_filter;
	return 0;
}

int nic_read_setting(const struct nic *n, int setting[3])
{
	memset(setting, 0, 3 * sizeof(setting[0]));
	return hwtstamp_ioctl(n, SIOCGHWTSTAMP, setting);
}

bool nic_stamps_all(const int setting[3])
{
	return setting[TX_TYPE] == HWTSTAMP_TX_ON && setting[RX_FILTER] == HWTSTAMP_FILTER_ALL;
}

static int say_refused(const struct nic *n, int error)
{
	char text[NIC_NAMES_BYTES];

	if (error == -EPERM || error == -EACCES)
		warnx("setting the NIC of interface '%s' to stamp packets needs CAP_NET_ADMIN: run with sudo, or have "
		      "root set it once with 'hwstamp_ctl -i %s -t 1 -r 1'", n->name, n->name);
	else if (error == -ERANGE && !(n->can.rx_filters & BIT(HWTSTAMP_FILTER_ALL)))
		warnx("interface '%s' (driver '%s') stamps only PTP packets on receipt, not rant's; its filters are: "
		      "%s: use --stamp kernel", n->name, n->driver,
		      nic_filter_names(n->can.rx_filters, text));
	else
		warnx("interface '%s' (driver '%s') refuses to stamp every packet: %s; its filters are: %s: "
		      "use --stamp kernel", n->name, n->driver, strerror(-error),
		      nic_filter_names(n->can.rx_filters, text));
	return error;
}

static int say_granted(const struct nic *n, const int setting[3], const char *left)
{
	warnx("interface '%s' (driver '%s') was asked for transmit 'on' and receive filter 'all' but granted '%s' and "
	      "'%s', so it stamps only some packets%s: use --stamp kernel", n->name, n->driver,
	      nic_tx_type_name(setting[TX_TYPE]),
	      nic_filter_name(setting[RX_FILTER]), left);
	return -ERANGE;
}

/*
 * Older drivers cannot say what they are set to. Nothing can then be put back: "off" would take the stamps from a
 * ptp4l that needs them, while "on, all" gives every other program what it had. So the setting is left and said; and it
 * is made only where the driver lists it, since a refusal half-way could not be undone either.
 */
static int set_unseen(const struct nic *n)
{
	int setting[3];
	int error;

	if (!(n->can.rx_filters & BIT(HWTSTAMP_FILTER_ALL)))
		return say_refused(n, -ERANGE);
	memcpy(setting, wanted, sizeof(setting));
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, setting);
	if (error)
		return say_refused(n, error);
	if (!nic_stamps_all(setting))
		return say_granted(n, setting, "; what it was set to before is not known");
	warnx("warning: driver '%s' does not tell what it was set to, so interface '%s' will go on stamping all "
	      "packets after this run: 'hwstamp_ctl -i %s -t 0 -r 0' ends it", n->driver, n->name, n->name);
	return 0;
}

/* For a set that failed or was not granted in full: a driver may have changed something all the same. */
static void put_back(struct nic *n)
{
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, n->set) && memcmp(n->set, n->found, sizeof(n->set)))
		nic_restore(n);
	n->changed = false;
}

static int set_and_verify(struct nic *n)
{
	int error, now[3] = { 0 };

	memcpy(n->set, wanted, sizeof(n->set));
	n->changed = true; /* first, so that a signal from here on restores */
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, n->set);
	if (error) {
		say_refused(n, error);
		put_back(n);
		return error;
	}
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, now))
		memcpy(n->set, now, sizeof(n->set));
	if (nic_stamps_all(n->set))
		return 0;
	error = say_granted(n, n->set, "");
	put_back(n);
	return error;
}

/* joined: n->found is not what the NIC is set to now, but what the first rant found. */
static int make_setting(struct nic *n, bool joined)
{
	int now[3], error = nic_read_setting(n, now);

	if (error == -EOPNOTSUPP)
		return set_unseen(n);
	if (error)
		return say_io(n, "read the stamping setting of", error);
	if (nic_stamps_all(now)) {
		memcpy(n->set, now, sizeof(now));
		n->changed = joined;
		return 0;
	}
	/* Those who share it have lost it to another program: what that one wants is to be put back, by this rant alone. */
	if (joined)
		share_end(n, false);
	memcpy(n->found, now, sizeof(now));
	if (n->found[TX_TYPE] > HWTSTAMP_TX_ON) {
		warnx("the NIC of interface '%s' is set to transmit '%s' by another program (ptp4l?), which owns it: "
		      "stop that program, or use --stamp kernel", n->name,
		      nic_tx_type_name(n->found[TX_TYPE]));
		return -EBUSY;
	}
	return set_and_verify(n);
}

int nic_stamp(struct nic *n)
{
	int error = nic_read_abilities(n);
	bool joined;

	if (!error)
		error = check_abilities(n);
	if (error)
		return error;
	joined = share_join(n);
	error = make_setting(n, joined);
	if (!n->changed)
		share_end(n, !joined);
	else if (!joined)
		share_begin(n);
	return error;
}

void nic_restore(struct nic *n)
{
	int now[3] = { 0 }, back[3];
	int saved_errno = errno; /* of what a signal handler interrupts */
	bool alone;

	if (!n->changed)
		return;
	alone = share_leave(n);
	memcpy(back, n->found, sizeof(back));
	if (alone && !hwtstamp_ioctl(n, SIOCGHWTSTAMP, now) && !memcmp(now, n->set, sizeof(now)))
		hwtstamp_ioctl(n, SIOCSHWTSTAMP, back);
	share_end(n, alone);
	n->changed = false; /* last: a signal during the ioctls restores as well */
	errno = saved_errno;
}
