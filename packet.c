// SPDX-License-Identifier: GPL-2.0-or-later
/* STAMP packets: RFC 8762 section 4, TLVs of RFC 8972 section 4. Everything that comes from the wire is checked here. */
#include "rant.h"

#include <endian.h>
#include <string.h>

/* Offsets of the unauthenticated packets, RFC 8762 figures 2 and 5, with the SSID of RFC 8972. */
enum {
	AT_SEQ = 0,
	AT_TIMESTAMP = 4,
	AT_ERROR_ESTIMATE = 12,
	AT_SSID = 14,
	AT_T2 = 16, /* reply, from here on; zero in a request */
	AT_SENDER_SEQ = 24,
	AT_SENDER_TIMESTAMP = 28,
	AT_SENDER_ERROR_ESTIMATE = 36,
	AT_MBZ = 38,
	AT_TTL = 40,
	AT_MBZ_LAST = 41,
};

/* RFC 8186 section 2.3: the Z bit chooses the PTP format. S is not set: nothing here knows that the clock is
 * synchronised; and the multiplier must not be 0 (RFC 4656 section 4.1.2). */
#define ERROR_ESTIMATE_PTP 0x4000
#define ERROR_ESTIMATE_MULTIPLIER 0x00ff
#define OUR_ERROR_ESTIMATE 0x0001

#define NTP_TO_UNIX_S 2208988800LL /* RFC 8762 section 4.2.1: NTP counts from 1900 */

#define TLV_HEADER_BYTES 4
#define TLV_UNRECOGNIZED 0x80
#define TLV_MALFORMED 0x40
#define TLV_EXTRA_PADDING 1

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static void put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static void put_time(uint8_t *p, int64_t ns, bool ptp)
{
	/* A PHC may stand before 1970: the remainder is kept positive. */
	int64_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);
	uint32_t rest_ns = (uint32_t)(ns - seconds * NS_PER_S);

	if (ptp) {
		put32(p, (uint32_t)seconds);
		put32(p + 4, rest_ns);
	} else {
		put32(p, (uint32_t)(seconds + NTP_TO_UNIX_S));
		put32(p + 4, (uint32_t)(((uint64_t)rest_ns << 32) / NS_PER_S));
	}
}

static int64_t get_time(const uint8_t *p, bool ptp)
{
	uint32_t seconds = get32(p), rest = get32(p + 4);

	if (ptp)
		return seconds * NS_PER_S + rest;
	/* Era 0 ends in 2036: what would be before 1970 is in era 1. Rounded, since the encoder rounds down. */
	int64_t unix_s = seconds - NTP_TO_UNIX_S;

	if (unix_s < 0)
		unix_s += 1LL << 32;
	return unix_s * NS_PER_S + (int64_t)(((uint64_t)rest * NS_PER_S + (1ULL << 31)) >> 32);
}

void packet_probe(uint8_t *packet, uint32_t seq, uint16_t ssid, int64_t t1_ns)
{
	put32(packet + AT_SEQ, seq);
	put_time(packet + AT_TIMESTAMP, t1_ns, true);
	put16(packet + AT_ERROR_ESTIMATE, ERROR_ESTIMATE_PTP | OUR_ERROR_ESTIMATE);
	put16(packet + AT_SSID, ssid);
	memset(packet + AT_T2, 0, STAMP_BASE_BYTES - AT_T2);
}

/*
 * Is this what a reflector sends? RFC 8762 says nothing about two reflectors that answer each other for ever, so it
 * must be seen from the packet. A STAMP request has zeros where a reply has the sender's error estimate; the padding of
 * a TWAMP-Light request may be random, but hardly has zeros in each octet that must be zero in a reply.
 */
static bool is_reply(const uint8_t *packet, size_t bytes)
{
	if (bytes < AT_MBZ_LAST)
		return false;
	for (size_t at = AT_MBZ_LAST; at < bytes && at < STAMP_BASE_BYTES; at++)
		if (packet[at])
			return false;
	return (get16(packet + AT_SENDER_ERROR_ESTIMATE) & ERROR_ESTIMATE_MULTIPLIER) && !get16(packet + AT_MBZ);
}

enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, struct request *r)
{
	if (bytes < STAMP_REQUEST_MIN_BYTES)
		return PACKET_MALFORMED;
	r->seq = get32(packet + AT_SEQ);
	r->error_estimate = get16(packet + AT_ERROR_ESTIMATE);
	if (!(r->error_estimate & ERROR_ESTIMATE_MULTIPLIER))
		return PACKET_MALFORMED;
	/* A shorter packet is a TWAMP-Light one, which has padding where STAMP has the SSID (RFC 8762 section 4.6). */
	r->ssid = bytes >= STAMP_BASE_BYTES ? get16(packet + AT_SSID) : 0;
	return is_reply(packet, bytes) ? PACKET_IS_REPLY : PACKET_GOOD;
}

/* RFC 8972 section 4: what is not understood keeps its U flag (set, if the sender left it clear); at a TLV that is
 * longer than the packet, or at octets too few for a header, processing stops and the rest goes back as it came. */
static bool answer_tlvs(uint8_t *tlv, size_t bytes)
{
	while (bytes >= TLV_HEADER_BYTES) {
		size_t length = TLV_HEADER_BYTES + get16(tlv + 2);

		tlv[0] = tlv[1] == TLV_EXTRA_PADDING ? 0 : TLV_UNRECOGNIZED;
		if (length > bytes) {
			tlv[0] |= TLV_MALFORMED;
			return true;
		}
		tlv += length;
		bytes -= length;
	}
	return bytes != 0;
}

size_t packet_reply(uint8_t *packet, size_t bytes, uint32_t seq, int64_t t2_ns, int64_t t3_ns, uint8_t ttl,
		    bool *malformed_tlv)
{
	bool ptp = get16(packet + AT_ERROR_ESTIMATE) & ERROR_ESTIMATE_PTP;

	*malformed_tlv = false;
	if (bytes < STAMP_BASE_BYTES) {
		put16(packet + AT_SSID, 0);
		bytes = STAMP_BASE_BYTES;
	} else {
		*malformed_tlv = answer_tlvs(packet + STAMP_BASE_BYTES, bytes - STAMP_BASE_BYTES);
	}
	/* Octets 0..13 of the request go to 24..37; the SSID after them stays where it is, and its copy would stand
	 * in octets that must be zero. */
	memcpy(packet + AT_SENDER_SEQ, packet + AT_SEQ, AT_SSID - AT_SEQ);
	put32(packet + AT_SEQ, seq);
	put_time(packet + AT_TIMESTAMP, t3_ns, ptp);
	put16(packet + AT_ERROR_ESTIMATE, (uint16_t)((ptp ? ERROR_ESTIMATE_PTP : 0) | OUR_ERROR_ESTIMATE));
	put_time(packet + AT_T2, t2_ns, ptp);
	put16(packet + AT_MBZ, 0);
	packet[AT_TTL] = ttl;
	memset(packet + AT_MBZ_LAST, 0, STAMP_BASE_BYTES - AT_MBZ_LAST);
	return bytes;
}

enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, struct reply *r)
{
	if (bytes < STAMP_REPLY_MIN_BYTES)
		return PACKET_MALFORMED;
	uint16_t estimate = get16(packet + AT_ERROR_ESTIMATE);

	if (!(estimate & ERROR_ESTIMATE_MULTIPLIER) ||
	    !(get16(packet + AT_SENDER_ERROR_ESTIMATE) & ERROR_ESTIMATE_MULTIPLIER))
		return PACKET_MALFORMED;
	r->seq = get32(packet + AT_SEQ);
	r->sender_seq = get32(packet + AT_SENDER_SEQ);
	r->ssid = get16(packet + AT_SSID);
	r->t2_ns = get_time(packet + AT_T2, estimate & ERROR_ESTIMATE_PTP);
	r->t3_ns = get_time(packet + AT_TIMESTAMP, estimate & ERROR_ESTIMATE_PTP);
	return PACKET_GOOD;
}

bool packet_answers(const uint8_t *packet, const uint8_t *probe)
{
	/* RFC 8762 section 4.3: sequence number, timestamp and error estimate come back bit for bit. */
	return !memcmp(packet + AT_SENDER_SEQ, probe + AT_SEQ, AT_SSID - AT_SEQ);
}
