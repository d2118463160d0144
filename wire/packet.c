// SPDX-License-Identifier: GPL-2.0-or-later
/* The base of STAMP packets, RFC 8762 section 4 (hot); the TLVs after it are in tlv.c. These two files
 * validate all data from the wire. */
#include "wire/packet.h"

#include "wire/hmac.h"
#include "wire/octets.h"
#include "wire/tlv.h"

#include <string.h>

/*
 * Offsets in the two kinds of packet: RFC 8762 figures 2, 4, 5 and 6, with the SSID of RFC 8972. In both
 * the sender's fields return at a constant distance. Functions with a layout parameter are inlined with a
 * constant layout, so that two kinds cost nothing.
 */
struct layout {
	uint8_t timestamp, error_estimate, ssid;
	uint8_t t2; /* reply, from here on; zero in a request */
	uint8_t sender_seq, sender_timestamp, sender_error_estimate;
	uint8_t ttl;
	uint8_t end; /* end of the fields common to request and reply, without the HMAC */
	uint8_t base; /* octets before the TLVs */
};

#define AT_SEQ 0

static const struct layout plain = {
	.timestamp = 4, .error_estimate = 12, .ssid = 14, .t2 = 16, .sender_seq = 24, .sender_timestamp = 28,
	.sender_error_estimate = 36, .ttl = 40, .end = 44, .base = STAMP_BASE_BYTES,
};

static const struct layout authenticated = {
	.timestamp = 16, .error_estimate = 24, .ssid = 26, .t2 = 32, .sender_seq = 48, .sender_timestamp = 64,
	.sender_error_estimate = 72, .ttl = 80, .end = 96, .base = STAMP_AUTHENTICATED_BYTES,
};

/* S is clear: the program has no proof that the clock is synchronised. The multiplier must not be 0 (RFC
 * 4656 section 4.1.2). */
#define ERROR_ESTIMATE_MULTIPLIER 0x00ff
#define OUR_ERROR_ESTIMATE 0x0001

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

INLINE const struct layout *layout_of(const struct hmac *key)
{
	return key ? &authenticated : &plain;
}

size_t packet_plan_bytes(const struct packet_plan *plan)
{
	size_t needed = layout_of(plan->key)->base + tlv_plan_bytes(plan);

	if (plan->bytes > needed && plan->bytes < needed + TLV_HEADER_BYTES)
		return needed + TLV_HEADER_BYTES;
	return plan->bytes > needed ? plan->bytes : needed;
}

void packet_prepare(uint8_t *packet, const struct packet_plan *plan)
{
	const struct layout *l = layout_of(plan->key);

	memset(packet, 0, l->base);
	put16(packet + l->error_estimate, ERROR_ESTIMATE_PTP | OUR_ERROR_ESTIMATE);
	put16(packet + l->ssid, plan->ssid);
	tlv_prepare(packet + l->base, packet + packet_plan_bytes(plan), plan);
}

COLD void sign_probe(uint8_t *packet, const struct packet_plan *plan)
{
	const struct layout *l = &authenticated;

	hmac_sign(plan->key, packet, l->end, NULL, 0, packet + l->end);
	tlv_sign(packet, plan);
}

void packet_probe(uint8_t *packet, const struct packet_plan *plan, uint32_t seq, int64_t t1_ns)
{
	put32(packet + AT_SEQ, seq);
	put_ns(packet + layout_of(plan->key)->timestamp, t1_ns, true);
	if (plan->key)
		sign_probe(packet, plan);
}

void packet_freeze_probe(uint8_t *packet, const struct packet_plan *plan, const struct packet_freeze *f)
{
	tlv_freeze_probe(packet + layout_of(plan->key)->base, plan, f);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

INLINE bool is_zero(const uint8_t *packet, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++)
		if (packet[at])
			return false;
	return true;
}

/*
 * True if a reflector sent the packet. RFC 8762 does not prevent two reflectors from answering each other
 * for ever, so the packet must show it. A STAMP request has zeros where a reply has the sender's error
 * estimate; the padding of a TWAMP-Light request may be random, but is unlikely to have zeros in each octet
 * that must be zero in a reply.
 */
INLINE bool is_reply(const struct layout *l, const uint8_t *packet, size_t bytes)
{
	if (bytes <= l->ttl || !(get16(packet + l->sender_error_estimate) & ERROR_ESTIMATE_MULTIPLIER))
		return false;
	return is_zero(packet, l->sender_error_estimate + 2, l->ttl) &&
	       is_zero(packet, l->ttl + 1, bytes < l->end ? bytes : l->end);
}

INLINE enum packet_verdict read_request_as(const struct layout *const l, const uint8_t *packet, size_t bytes,
					   const struct hmac *key, struct request *r)
{
	r->seq = get32(packet + AT_SEQ);
	r->error_estimate = get16(packet + l->error_estimate);
	r->is_rant = r->wants_t2_user = r->wants_follow_ups = r->wants_t2_kernel = r->wants_class = false;
	r->freeze.present = r->wants_cause = false;
	r->kernel_every = 0;
	if (!(r->error_estimate & ERROR_ESTIMATE_MULTIPLIER))
		return PACKET_MALFORMED;
	/* A shorter packet is from TWAMP-Light and has padding at the offset of the SSID (RFC 8762 section
	 * 4.6). */
	r->ssid = bytes >= l->base ? get16(packet + l->ssid) : 0;
	if (is_reply(l, packet, bytes))
		return PACKET_IS_REPLY;
	return bytes > l->base ? tlv_read_wishes(packet, bytes, key, r) : PACKET_GOOD;
}

INLINE bool wants_ptp(const struct layout *const l, const uint8_t *packet)
{
	return get16(packet + l->error_estimate) & ERROR_ESTIMATE_PTP;
}

/* RFC 8762 section 4.4. */
static bool is_verified(const uint8_t *packet, size_t bytes, const struct hmac *key)
{
	return bytes >= STAMP_AUTHENTICATED_BYTES &&
	       hmac_verify(key, packet, authenticated.end, NULL, 0, packet + authenticated.end);
}

COLD enum packet_verdict read_authenticated_request(const uint8_t *packet, size_t bytes, const struct hmac *key,
						    struct request *r)
{
	if (!is_verified(packet, bytes, key))
		return PACKET_UNVERIFIED;
	r->t1_ns = get_ns(packet + authenticated.timestamp, wants_ptp(&authenticated, packet));
	return read_request_as(&authenticated, packet, bytes, key, r);
}

enum packet_verdict packet_read_request(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r)
{
	if (key)
		return read_authenticated_request(packet, bytes, key, r);
	if (bytes < STAMP_REQUEST_MIN_BYTES)
		return PACKET_MALFORMED;
	return read_request_as(&plain, packet, bytes, NULL, r);
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* Clears the must-be-zero fields in the base of a reply: RFC 8762 figures 5 and 6. */
INLINE void clear_reply(const struct layout *const l, uint8_t *packet)
{
	memset(packet + AT_SEQ + 4, 0, l->timestamp - (AT_SEQ + 4u));
	memset(packet + l->ssid + 2, 0, l->t2 - (l->ssid + 2u));
	memset(packet + l->t2 + 8, 0, l->sender_seq - (l->t2 + 8u));
	memset(packet + l->sender_seq + 4, 0, l->sender_timestamp - (l->sender_seq + 4u));
	memset(packet + l->sender_error_estimate + 2, 0, l->ttl - (l->sender_error_estimate + 2u));
	memset(packet + l->ttl + 1, 0, l->end - (l->ttl + 1u));
}

INLINE size_t make_reply_as(const struct layout *const l, uint8_t *packet, size_t bytes, const struct hmac *key,
			    const struct answer *a, bool *malformed_tlv)
{
	*malformed_tlv = false;
	if (bytes < l->base) {
		put16(packet + l->ssid, 0);
		bytes = l->base;
	} else if (bytes > l->base) {
		tlv_answer(packet, bytes, key, a, wants_ptp(l, packet), malformed_tlv);
	}

	const bool ptp = wants_ptp(l, packet); /* read again: keeping the value across the call costs more */

	/* The distances between the sender's fields are unchanged; the octets between and after them are
	 * cleared. */
	memcpy(packet + l->sender_seq, packet + AT_SEQ, l->ssid - AT_SEQ);
	clear_reply(l, packet);
	put32(packet + AT_SEQ, a->seq);
	put_ns(packet + l->timestamp, a->t3_ns, ptp);
	put16(packet + l->error_estimate, (uint16_t)((ptp ? ERROR_ESTIMATE_PTP : 0) | OUR_ERROR_ESTIMATE));
	put_ns(packet + l->t2, a->t2_ns, ptp);
	packet[l->ttl] = a->ttl;
	if (key)
		hmac_sign(key, packet, l->end, NULL, 0, packet + l->end);
	return bytes;
}

COLD size_t make_authenticated_reply(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a,
				     bool *malformed_tlv)
{
	return make_reply_as(&authenticated, packet, bytes, key, a, malformed_tlv);
}

size_t packet_reply(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool *malformed_tlv)
{
	if (key)
		return make_authenticated_reply(packet, bytes, key, a, malformed_tlv);
	return make_reply_as(&plain, packet, bytes, NULL, a, malformed_tlv);
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

INLINE enum packet_verdict read_reply_as(const struct layout *const l, const uint8_t *packet, size_t bytes,
					 struct reply *r)
{
	uint16_t estimate = get16(packet + l->error_estimate);
	bool ptp = estimate & ERROR_ESTIMATE_PTP;

	if (!(estimate & ERROR_ESTIMATE_MULTIPLIER) ||
	    !(get16(packet + l->sender_error_estimate) & ERROR_ESTIMATE_MULTIPLIER))
		return PACKET_MALFORMED;
	r->seq = get32(packet + AT_SEQ);
	r->sender_seq = get32(packet + l->sender_seq);
	r->ssid = get16(packet + l->ssid);
	r->error_estimate = estimate;
	r->t2_known = is_time(packet + l->t2);
	r->t3_known = is_time(packet + l->timestamp);
	r->t2_ns = get_ns(packet + l->t2, ptp);
	r->t3_ns = get_ns(packet + l->timestamp, ptp);
	r->ttl = bytes > l->ttl ? packet[l->ttl] : -1;
	return PACKET_GOOD;
}

COLD enum packet_verdict read_authenticated_reply(const uint8_t *packet, size_t bytes, const struct hmac *key,
						  struct reply *r)
{
	if (!is_verified(packet, bytes, key))
		return PACKET_UNVERIFIED;
	return read_reply_as(&authenticated, packet, bytes, r);
}

enum packet_verdict packet_read_reply(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r)
{
	if (key)
		return read_authenticated_reply(packet, bytes, key, r);
	if (bytes < STAMP_REPLY_MIN_BYTES)
		return PACKET_MALFORMED;
	return read_reply_as(&plain, packet, bytes, r);
}

INLINE bool answers(const struct layout *const l, const uint8_t *packet, const uint8_t *probe)
{
	/* RFC 8762 section 4.3: sequence number, timestamp and error estimate come back bit for bit. */
	return !memcmp(packet + l->sender_seq, probe + AT_SEQ, 4) &&
	       !memcmp(packet + l->sender_timestamp, probe + l->timestamp, 8) &&
	       !memcmp(packet + l->sender_error_estimate, probe + l->error_estimate, 2);
}

bool packet_answers(const uint8_t *packet, const uint8_t *probe, const struct hmac *key)
{
	return key ? answers(&authenticated, packet, probe) : answers(&plain, packet, probe);
}

uint64_t packet_t1(const uint8_t *probe, const struct hmac *key)
{
	uint64_t octets;

	memcpy(&octets, probe + layout_of(key)->timestamp, sizeof(octets));
	return octets;
}

bool packet_has_t1(const uint8_t *packet, uint64_t t1, const struct hmac *key)
{
	return !memcmp(packet + layout_of(key)->sender_timestamp, &t1, sizeof(t1));
}
