/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What carries a STAMP packet: each transport is a row of data. */
#ifndef WIRE_TRANSPORT_H
#define WIRE_TRANSPORT_H

#include "rant.h"

struct envelope;
struct nic;
struct options;

/* How the socket is made, how its control messages are named, and what stands before the STAMP packet. What a transport
 * does not have is 0. */
struct transport {
	const char *name;
	const char *name_both; /* of this one and that of the other IP family, by one reflector */
	int domain, type, protocol;
	int ip_level; /* of the options and messages below: SOL_IP, SOL_IPV6; SOL_PACKET */
	int recverr_type; /* error queue: extended error */
	size_t recverr_bytes;
	int set_ttl, want_ttl, ttl_type; /* option to send with, to ask for the received one; its message, an int */
	int want_pktinfo, pktinfo_type; /* destination of the request, source of the reply */
	size_t pktinfo_bytes;
	int set_tos, want_tos, tos_type; /* DSCP << 2 | ECN: the same three; what is sent by message is an int */
	size_t tos_bytes; /* of the message with the received one */
	int mtu_discover; /* what may be fragmented, and whose word is taken for it */
	int want_multicast; /* whether groups that others have joined are heard */
	int header_bytes; /* of an MTU */
	size_t envelope_bytes; /* the STAMP packet begins there: see wire/envelope.h, wire/echo.h */
	size_t behind_bytes; /* zeros behind it, at most TRANSPORT_BEHIND_BYTES */
	size_t before_bytes; /* what a socket hands over before the envelope: the header of IPv4 */
	bool echoes; /* the envelope is that of wire/echo.h: whoever is asked sends back what came */
	const struct transport *instead; /* where the kernel does not allow this one; NULL: nothing */
	/* of both ends: an emitter's is no free one, tells nothing of its sender, and there are no lanes */
	bool one_port;
};

#define TRANSPORT_BEHIND_BYTES 2

/* The row of --transport, for AF_INET or AF_INET6, which --transport l2 does not care about. */
const struct transport *transport_of(const struct options *o, int family);

/* Makes the envelope that a run's packets have: the clock it names is this interface. */
void transport_seal(struct envelope *e, const struct options *o, const struct nic *n);

#define TRANSPORT_NAME_BYTES 64

/* An address as text: "192.0.2.1", "2001:db8::1", "02:00:00:00:00:01"; NULL: there is none. */
const char *transport_name(const union address *a, char text[TRANSPORT_NAME_BYTES]);

/* Whom an emitter sends to, as messages name him: "192.0.2.1 port 862", "2001:db8::1", where there are no ports,
 * "02:00:00:00:00:01". */
void transport_name_server(const struct options *o, char text[TRANSPORT_NAME_BYTES]);

/* One line for a port that could not be had (an errno); 0: for any. */
void transport_say_port(int port, const struct nic *n, int error);

#endif
