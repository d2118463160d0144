/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transports of a STAMP packet, each a row of a table. */
#ifndef WIRE_TRANSPORT_H
#define WIRE_TRANSPORT_H

#include "rant.h"

struct encapsulation;
struct nic;
struct options;

/* How the socket is opened, the names of its control messages, and the encapsulation before the STAMP
 * packet. Absent features are 0. */
struct transport {
	const char *name;
	/* name of this transport together with the other IP family, for a reflector with both */
	const char *name_both;
	int domain, type, protocol;
	int ip_level; /* level of the options and messages below: SOL_IP, SOL_IPV6; SOL_PACKET */
	int recverr_type; /* error queue: extended error */
	size_t recverr_bytes;
	/* options that set the sent TTL and report the received TTL; type of its message, an int */
	int set_ttl, want_ttl, ttl_type;
	int want_pktinfo, pktinfo_type; /* destination of the request, source of the reply */
	size_t pktinfo_bytes;
	int set_tos, want_tos, tos_type; /* DSCP << 2 | ECN: as above; a sent message is an int */
	size_t tos_bytes; /* size of the message with the received ToS */
	/* IP_MTU_DISCOVER: which packets may be fragmented, and whether reported path MTUs are used */
	int mtu_discover;
	int want_multicast; /* IP_MULTICAST_ALL: receive groups that other sockets joined */
	int header_bytes; /* header octets within the MTU */
	size_t encapsulation_bytes; /* offset of the STAMP packet: see wire/encapsulation.h, wire/echo.h */
	size_t behind_bytes; /* zeros after it, at most TRANSPORT_BEHIND_BYTES */
	size_t before_bytes; /* octets before the encapsulation in received data: the IPv4 header */
	bool echoes; /* the encapsulation is that of wire/echo.h: the responder returns the data */
	const struct transport *instead; /* fallback if the kernel does not allow this transport; NULL: none */
	/* packet socket for both roles: an emitter's port is fixed, no sender address in messages, no
	 * per-peer sockets */
	bool one_port;
};

#define TRANSPORT_BEHIND_BYTES 2

/* The row of --transport for AF_INET or AF_INET6; --transport l2 ignores the family. */
const struct transport *transport_of(const struct options *o, int family);

/* Sets the encapsulation for this run; the PTP clock identity is that of the interface. */
void transport_seal(struct encapsulation *e, const struct options *o, const struct nic *n);

/* Octets of the Ethernet frame of a STAMP packet, from the destination address to the frame check sequence, padded to
 * the smallest frame (IEEE 802.3, 3.2.8). header_bytes: of the transport. A VLAN tag (4 octets) is not counted, because
 * a switch may add or remove it. */
static inline size_t transport_frame_bytes(int header_bytes, size_t stamp_bytes)
{
	const size_t bytes = 14 + (size_t)header_bytes + stamp_bytes;

	return (bytes < 60 ? 60 : bytes) + 4;
}

/* Time for which a frame occupies the link, in whole ns. The 8 octets of preamble and start delimiter are sent before
 * the frame; the gap of 12 octets counts because no other frame can begin in it (IEEE 802.3, 3.1.1 and 4.4.2).
 * 64 octets at 10 Gbit/s take 67.2 ns; the frame without preamble and gap would take 51.2 ns. */
static inline int64_t transport_wire_ns(size_t frame_bytes, int speed_mbps)
{
	return ((8 + (int64_t)frame_bytes + 12) * 8 * 1000 + speed_mbps / 2) / speed_mbps;
}

#define TRANSPORT_NAME_BYTES 64

/* An address as text: "192.0.2.1", "2001:db8::1", "02:00:00:00:00:01"; NULL: no address. */
const char *transport_name(const union address *a, char text[TRANSPORT_NAME_BYTES]);

/* The emitter's destination as messages name it: "192.0.2.1 port 862"; without ports "2001:db8::1",
 * "02:00:00:00:00:01". */
void transport_name_server(const struct options *o, char text[TRANSPORT_NAME_BYTES]);

/* One line for a port that could not be bound (an errno); 0: any port. */
void transport_say_port(int port, const struct nic *n, int error);

#endif
