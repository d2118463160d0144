/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The header of an ICMP or ICMPv6 echo before a STAMP packet (hot): RFC 792, RFC 4443 section 4. The
 * responder returns the data unchanged, so the probe itself arrives. This module turns it into the reply of
 * a reflector that reports no timestamps.
 */
#ifndef WIRE_ECHO_H
#define WIRE_ECHO_H

#include "rant.h"
#include "wire/octets.h"

#define ECHO_BYTES 8
/* IPv4 header without options; a raw IPv4 socket delivers it too, raw(7) */
#define ECHO_BEFORE_BYTES 20

enum { ECHO_REQUEST = 8, ECHO_REPLY = 0, ECHO6_REQUEST = 128, ECHO6_REPLY = 129 }; /* types; the code is 0 */

/* Offsets within the echo header, the IPv4 header and the STAMP packet fields that are equal in all packets
 * of a run (RFC 8762 figures 2 and 5). */
enum {
	ECHO_AT_TYPE = 0, ECHO_AT_CODE = 1, ECHO_AT_CHECKSUM = 2, ECHO_AT_ID = 4, ECHO_AT_SEQUENCE = 6,
	ECHO_PACKET_SEQUENCE = 2, ECHO_PACKET_T1 = 4, ECHO_PACKET_ALIKE = 12, ECHO_PACKET_SENDERS = 24,
	ECHO_PACKET_TTL = 40,
};

struct echo {
	uint8_t sent[ECHO_BYTES]; /* header of the last packet */
	uint8_t received[ECHO_BEFORE_BYTES + ECHO_BYTES];
	/* last packet, owned by the caller; packets of a run differ only in sequence number and T1 */
	const uint8_t *packet;
	size_t bytes; /* length of `packet` */
	size_t before_bytes; /* offset of the ICMP header in `received` */
	uint8_t reply_type;
	uint8_t ttl; /* TTL of sent packets */
	bool sums; /* this module writes the checksum: raw IPv4 socket */
};

/* Sets the constant header fields; id: two octets in network order. Not hot. */
static inline void echo_prepare(struct echo *e, bool ipv6, const uint8_t id[2], uint8_t ttl, size_t before_bytes,
				bool sums)
{
	memset(e, 0, sizeof(*e));
	e->sent[ECHO_AT_TYPE] = ipv6 ? ECHO6_REQUEST : ECHO_REQUEST;
	memcpy(e->sent + ECHO_AT_ID, id, 2);
	e->reply_type = ipv6 ? ECHO6_REPLY : ECHO_REPLY;
	e->ttl = ttl;
	e->before_bytes = before_bytes;
	e->sums = sums;
}

/* Internet checksum (RFC 1071) of octets that begin at an even offset; `sum`: unfolded sum of the octets
 * before. */
static inline uint32_t echo_sum(uint32_t sum, const uint8_t *octets, size_t bytes)
{
	for (; bytes > 1; bytes -= 2, octets += 2)
		sum += get16(octets);
	return bytes ? sum + (uint32_t)(*octets << 8) : sum;
}

static inline uint16_t echo_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Writes the header for this STAMP packet into e->sent. The caller keeps the packet until the next call. */
static inline void echo_seal(struct echo *e, const uint8_t *packet, size_t bytes)
{
	e->packet = packet;
	e->bytes = bytes;
	memcpy(e->sent + ECHO_AT_SEQUENCE, packet + ECHO_PACKET_SEQUENCE, 2);
	if (!e->sums)
		return;
	put16(e->sent + ECHO_AT_CHECKSUM, 0);
	put16(e->sent + ECHO_AT_CHECKSUM, echo_fold(echo_sum(echo_sum(0, e->sent, ECHO_BYTES), packet, bytes)));
}

/* True if e->received and the octets after it (`bytes` in all) are an unchanged probe of this run. */
static inline bool echo_is_ours(const struct echo *e, const uint8_t *packet, size_t bytes)
{
	const uint8_t *r = e->received + e->before_bytes;

	return e->packet && bytes == e->before_bytes + ECHO_BYTES + e->bytes &&
	       (!e->before_bytes || *e->received == 0x45) &&
	       r[ECHO_AT_TYPE] == e->reply_type && !r[ECHO_AT_CODE] &&
	       !memcmp(r + ECHO_AT_ID, e->sent + ECHO_AT_ID, 2) &&
	       !memcmp(r + ECHO_AT_SEQUENCE, packet + ECHO_PACKET_SEQUENCE, 2) &&
	       !memcmp(packet + ECHO_PACKET_ALIKE, e->packet + ECHO_PACKET_ALIKE, e->bytes - ECHO_PACKET_ALIKE);
}

/*
 * Turns an echoed probe into its reply, in place, and returns its length; 0: not a probe of this run. The
 * reply has no data of the peer: T2 and T3 are 0, the reply number is the probe's (no loss by direction)
 * and the TTL is the sent TTL.
 */
static inline size_t echo_open(const struct echo *e, uint8_t *packet, size_t bytes)
{
	if (!echo_is_ours(e, packet, bytes))
		return 0;
	memcpy(packet + ECHO_PACKET_SENDERS, packet, ECHO_PACKET_ALIKE + 2); /* number, T1, Error Estimate */
	memset(packet + ECHO_PACKET_T1, 0, 8);
	packet[ECHO_PACKET_TTL] = e->ttl;
	return e->bytes;
}

#endif
