/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TLVs after the base of a packet, for packet.c only (hot, except tlv_plan_bytes() and tlv_prepare()).
 * tlv.c also defines packet_read_tlvs() of packet.h. Callers pass packets longer than their base. */
#ifndef WIRE_TLV_H
#define WIRE_TLV_H

#include "rant.h"
#include "wire/packet.h"

#define TLV_HEADER_BYTES 4

/* Length of all TLVs of a probe of this plan, without padding. */
size_t tlv_plan_bytes(const struct packet_plan *plan);

/* Writes the TLVs of the plan from p on. The rest up to `end` (empty, or at least a header) becomes
 * padding. */
void tlv_prepare(uint8_t *p, const uint8_t *end, const struct packet_plan *plan);

/* Writes the contents of the freeze TLV of a probe whose TLVs begin at p. */
void tlv_freeze_probe(uint8_t *p, const struct packet_plan *plan, const struct packet_freeze *f);

/* Signs the TLVs of an authenticated probe, if any, after its sequence number was written. */
void tlv_sign(uint8_t *packet, const struct packet_plan *plan);

/* Sets the requests of the TLVs in *r. With a key, TLVs with a wrong HMAC are ignored. Always PACKET_GOOD:
 * a TLV never makes its request malformed. */
enum packet_verdict tlv_read_wishes(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r);

/* Answers the TLVs in place, before the base becomes that of the reply: their HMAC covers the received
 * sequence number. ptp: timestamp format. Sets *malformed as packet_reply() does. */
void tlv_answer(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool ptp,
		bool *malformed);

#endif
