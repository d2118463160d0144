/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own TLVs (docs/protocol.md), for tlv.c alone (hot). A value is as long as its Length says, and that is right. */
#ifndef WIRE_TLV_RANT_H
#define WIRE_TLV_RANT_H

#include "rant.h"
#include "wire/packet.h"

#define TLV_RANT 240 /* of the experimental range, RFC 8972 section 5.1 */
#define TLV_RANT_BYTES 20
#define TLV_RANT_MAGIC "RANT" /* the Value begins with it, or the TLV is another experiment, of somebody else */
#define TLV_RANT_MAGIC_BYTES 4
#define TLV_RANT_T2_USER 0x80 /* flag: T2_SW is wanted (request), is there (reply) */

/* What the answers to all TLVs of one reply share. */
struct tlv_answering {
	const struct answer *a;
	const struct hmac *key;
	bool ptp;
};

/* A timestamping method off the wire. A peer may know methods that we do not: not told. */
static inline uint8_t tlv_known_method(uint8_t method)
{
	return method <= PACKET_METHOD_CONTROL_PLANE ? method : PACKET_METHOD_NONE;
}

/* Fills a value of zeros: what a probe of this plan asks. */
void tlv_rant_ask(uint8_t *value, const struct packet_plan *plan);

/* Does a request ask for T2_SW? */
static inline bool tlv_rant_wants_t2_user(const uint8_t *value)
{
	return value[4] & TLV_RANT_T2_USER;
}

/* Makes the answer of the value of a request. Always true: it can be answered. */
bool tlv_rant_answer(uint8_t *value, const struct tlv_answering *with);

/* Takes the value of a reply's TLV over into *r. */
void tlv_rant_read(const uint8_t *value, bool ptp, struct reply *r);

#endif
