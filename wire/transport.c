// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of transports, and their names in messages. */
#include "wire/transport.h"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/echo.h"
#include "wire/encapsulation.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/errqueue.h>
#include <sys/socket.h>

#define OF_IPV4 \
	.domain = AF_INET, .ip_level = SOL_IP, .recverr_type = IP_RECVERR, \
	.recverr_bytes = sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in), .set_ttl = IP_TTL, \
	.set_tos = IP_TOS, .mtu_discover = IP_MTU_DISCOVER
#define UDP_IN_IPV4 \
	OF_IPV4, .type = SOCK_DGRAM, .protocol = IPPROTO_UDP, \
	.want_ttl = IP_RECVTTL, .ttl_type = IP_TTL, .want_pktinfo = IP_PKTINFO, .pktinfo_type = IP_PKTINFO, \
	.pktinfo_bytes = sizeof(struct in_pktinfo), .want_tos = IP_RECVTOS, .tos_type = IP_TOS, \
	.tos_bytes = sizeof(uint8_t), .want_multicast = IP_MULTICAST_ALL

/* The traffic class corresponds to the TOS (RFC 8200 section 7); it is an int in both directions. */
#define OF_IPV6 \
	.domain = AF_INET6, .ip_level = SOL_IPV6, .recverr_type = IPV6_RECVERR, \
	.recverr_bytes = sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6), .set_ttl = IPV6_UNICAST_HOPS, \
	.set_tos = IPV6_TCLASS, .mtu_discover = IPV6_MTU_DISCOVER
#define UDP_IN_IPV6 \
	OF_IPV6, .type = SOCK_DGRAM, .protocol = IPPROTO_UDP, \
	.want_ttl = IPV6_RECVHOPLIMIT, .ttl_type = IPV6_HOPLIMIT, .want_pktinfo = IPV6_RECVPKTINFO, \
	.pktinfo_type = IPV6_PKTINFO, \
	.pktinfo_bytes = sizeof(struct in6_pktinfo), .want_tos = IPV6_RECVTCLASS, .tos_type = IPV6_TCLASS, \
	.tos_bytes = sizeof(int), .want_multicast = IPV6_MULTICAST_ALL

/* Ping sockets need a group in net.ipv4.ping_group_range (both families); raw sockets need CAP_NET_RAW.
 * Emitters only, connected: their only control messages are timestamps. */
#define ECHO_IN_IPV4 \
	OF_IPV4, .protocol = IPPROTO_ICMP, .header_bytes = 20 + ECHO_BYTES, .encapsulation_bytes = ECHO_BYTES, .echoes = true
#define ECHO_IN_IPV6 \
	OF_IPV6, .protocol = IPPROTO_ICMPV6, .header_bytes = 40 + ECHO_BYTES, \
	.encapsulation_bytes = ECHO_BYTES, .echoes = true

static const struct transport raw_echo = { .name = "ICMP/IPv4 (raw socket)", .type = SOCK_RAW, ECHO_IN_IPV4,
					   .before_bytes = ECHO_BEFORE_BYTES };
static const struct transport raw_echo6 = { .name = "ICMPv6 (raw socket)", .type = SOCK_RAW, ECHO_IN_IPV6 };

static const struct transport transports[] = {
	[TRANSPORT_UDP] = { .name = "UDP/IPv4", .name_both = "UDP/IPv4 and IPv6", UDP_IN_IPV4, .header_bytes = 20 + 8 },
	[TRANSPORT_PTP] = { .name = "PTP in UDP/IPv4", .name_both = "PTP in UDP/IPv4 and IPv6", UDP_IN_IPV4,
			    .header_bytes = 20 + 8 + ENCAPSULATION_BYTES, .encapsulation_bytes = ENCAPSULATION_BYTES,
			    .one_port = true },
	/* Protocol 0: receives nothing before bind(2) sets the ethertype. */
	[TRANSPORT_L2] = { .name = "PTP on Ethernet", .domain = AF_PACKET, .type = SOCK_DGRAM, .ip_level = SOL_PACKET,
			   .recverr_type = PACKET_TX_TIMESTAMP, .recverr_bytes = sizeof(struct sock_extended_err),
			   .header_bytes = ENCAPSULATION_BYTES, .encapsulation_bytes = ENCAPSULATION_BYTES, .one_port = true },
	[TRANSPORT_ICMP] = { .name = "ICMP/IPv4 (ping socket)", .type = SOCK_DGRAM, ECHO_IN_IPV4,
			     .instead = &raw_echo },
};

static const struct transport in_ipv6[] = {
	[TRANSPORT_UDP] = { .name = "UDP/IPv6", UDP_IN_IPV6, .header_bytes = 40 + 8 },
	/* Two octets after a PTP message, with which a transparent clock can correct the checksum: IEEE
	 * 1588-2019 annex D. */
	[TRANSPORT_PTP] = { .name = "PTP in UDP/IPv6", UDP_IN_IPV6,
			    .header_bytes = 40 + 8 + ENCAPSULATION_BYTES + TRANSPORT_BEHIND_BYTES,
			    .encapsulation_bytes = ENCAPSULATION_BYTES, .behind_bytes = TRANSPORT_BEHIND_BYTES,
			    .one_port = true },
	[TRANSPORT_ICMP] = { .name = "ICMPv6 (ping socket)", .type = SOCK_DGRAM, ECHO_IN_IPV6, .instead = &raw_echo6 },
};

const struct transport *transport_of(const struct options *o, int family)
{
	return family == AF_INET6 && o->transport != TRANSPORT_L2 ? &in_ipv6[o->transport] : &transports[o->transport];
}

/* EUI-64 from the interface's MAC address, by IEEE 1588-2008 (7.5.2.2.2); without Ethernet from the
 * interface index, which is not an assigned identifier. */
void transport_seal(struct encapsulation *e, const struct options *o, const struct nic *n)
{
	uint8_t identity[8] = { 0, 0, 0, 0xff, 0xfe };

	if (n->is_ethernet) {
		memcpy(identity, n->mac, 3);
		memcpy(identity + 5, n->mac + 3, 3);
	} else {
		put16(identity + 6, (uint16_t)n->index);
	}
	encapsulation_prepare(e, (uint8_t)o->ptp_type, (uint8_t)o->ptp_domain, o->role == ROLE_REFLECT, identity);
}

const char *transport_name(const union address *a, char text[TRANSPORT_NAME_BYTES])
{
	const uint8_t *mac = a->ll.sll_addr;

	if (a->any.sa_family == AF_INET)
		return inet_ntop(AF_INET, &a->in.sin_addr, text, TRANSPORT_NAME_BYTES);
	if (a->any.sa_family == AF_INET6)
		return inet_ntop(AF_INET6, &a->in6.sin6_addr, text, TRANSPORT_NAME_BYTES);
	if (a->any.sa_family != AF_PACKET)
		return NULL;
	snprintf(text, TRANSPORT_NAME_BYTES, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
		 mac[5]);
	return text;
}

void transport_name_server(const struct options *o, char text[TRANSPORT_NAME_BYTES])
{
	size_t n;

	if (!transport_name(&o->server, text))
		*text = '\0';
	n = strlen(text);
	if (o->port)
		snprintf(text + n, TRANSPORT_NAME_BYTES - n, " port %" PRId64, o->port);
}

void transport_say_port(int port, const struct nic *n, int error)
{
	const bool ptp = port == PTP_EVENT_PORT;

	if (!port)
		warnx("no free source port on %s (%s): see 'sysctl net.ipv4.ip_local_port_range'", n->name,
		      strerror(error));
	else if (error == EADDRINUSE && ptp)
		warnx("port %d: taken by another program on %s (ptp4l, or another rant: see 'ss -ulpn'), and PTP has "
		      "only this one: "
		      "end it, or use --transport l2 at both ends", port, n->name);
	else if (error == EADDRINUSE)
		warnx("port %d: taken by another program on %s (see 'ss -ulpn'): end it, or choose another --port",
		      port, n->name);
	else if (error == EACCES)
		warnx("port %d: ports below 1024 need root or CAP_NET_BIND_SERVICE: use sudo%s", port,
		      ptp ? "" : ", or --port 1024 or higher at both ends");
	else
		warnx("port %d: cannot bind: %s", port, strerror(error));
}
