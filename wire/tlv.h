/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TLVs behind the base of a packet, for packet.c alone (hot, but for tlv_plan_bytes() and tlv_prepare()). tlv.c has
 * packet_read_tlvs() of packet.h too. A packet whose TLVs are read or answered is longer than its base. */
#ifndef WIRE_TLV_H
#define WIRE_TLV_H

#include "rant.h"
#include "wire/packet.h"

#define TLV_HEADER_BYTES 4

/* Octets of all TLVs of a probe of this plan but for the padding. */
size_t tlv_plan_bytes(const struct packet_plan *plan);

/* Writes the TLVs of the plan from p on. What is left up to `end`, nothing or a header at least, becomes padding. */
void tlv_prepare(uint8_t *p, const uint8_t *end, const struct packet_plan *plan);

/* Signs the TLVs of an authenticated probe, if there are any: after its sequence number has been written. */
void tlv_sign(uint8_t *packet, const struct packet_plan *plan);

/* Sets the wishes in *r that the TLVs tell of. With a key, TLVs whose HMAC is wrong tell of none. Always PACKET_GOOD:
 * no TLV makes the request around it malformed. */
enum packet_verdict tlv_read_wishes(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r);

/* Answers the TLVs in place, before the base becomes that of the reply: their HMAC is over the sequence number that
 * came. ptp: the format of times. Sets *malformed as packet_reply() says. */
void tlv_answer(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool ptp,
		bool *malformed);

#endif
