/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rant TLVs (docs/protocol.md), for tlv.c only (hot). A value has the length that its Length field
 * says. */
#ifndef WIRE_TLV_RANT_H
#define WIRE_TLV_RANT_H

#include "rant.h"
#include "wire/packet.h"

#define TLV_RANT 240 /* of the experimental range, RFC 8972 section 5.1 */
#define TLV_RANT_BYTES 20
#define TLV_FOLLOW_UPS 241
#define TLV_RECEIPT 242
#define TLV_RECEIPT_BYTES 8 /* magic and poll gap */
#define TLV_RECEIPT_KERNEL_BYTES 16 /* and T2_KERNEL; a later version may append fields, which are cleared here */
#define TLV_RECEIPT_MOST_BYTES 64
#define TLV_DEPARTURE 243
#define TLV_FREEZE 244
#define TLV_FREEZE_BYTES 16
#define TLV_CAUSE 245
#define TLV_CAUSE_BYTES 64
#define TLV_RANT_MAGIC "RANT" /* the Value begins with it; else the TLV belongs to another experiment */
#define TLV_RANT_MAGIC_BYTES 4
#define TLV_RANT_DEPARTURE_BYTES 16
#define TLV_RANT_T2_USER 0x80 /* flag: T2_SW requested (request), present (reply) */

/* Values that the answers to all TLVs of one reply share. */
struct tlv_answering {
	const struct answer *a;
	const struct hmac *key;
	bool ptp;
};

/* A timestamping method from the wire. Methods unknown to this program are treated as not reported. */
static inline uint8_t tlv_known_method(uint8_t method)
{
	return method <= PACKET_METHOD_CONTROL_PLANE ? method : PACKET_METHOD_NONE;
}

/* Length of the value that requests or reports this number of follow-ups. */
static inline size_t tlv_rant_follow_ups_bytes(unsigned follow_ups)
{
	return TLV_RANT_MAGIC_BYTES + follow_ups * TLV_RANT_DEPARTURE_BYTES;
}

/* Length of the receipt TLV's value, with or without room for T2_KERNEL. */
static inline size_t tlv_rant_receipt_bytes(const struct packet_plan *plan)
{
	return plan->t2_kernel ? TLV_RECEIPT_KERNEL_BYTES : TLV_RECEIPT_BYTES;
}

/* Length of the departure TLV's value: as many replies as T3 is reported of. */
static inline size_t tlv_rant_departure_bytes(const struct packet_plan *plan)
{
	return tlv_rant_follow_ups_bytes(plan->follow_ups ? plan->follow_ups : 1);
}

/* Fills a zeroed value with the request of a probe of this plan: type 240, types 241 and 242, and type 243. */
void tlv_rant_ask(uint8_t *value, const struct packet_plan *plan);
void tlv_rant_ask_by_magic(uint8_t *value);
void tlv_rant_ask_departure(uint8_t *value, const struct packet_plan *plan);

/* Type 243: the number of the first entry's second half is that of the request. */
uint32_t tlv_rant_kernel_every(const uint8_t *value);

/* Type 244: writes flags, sequence number and age into a request's value; reads them from a request or a reply. */
void tlv_rant_put_freeze(uint8_t *value, const struct packet_freeze *f);
struct packet_freeze tlv_rant_get_freeze(const uint8_t *value);

/* Type 245: writes the value of a request, and reads it. */
void tlv_rant_ask_cause(uint8_t *value, const struct packet_plan *plan);
void tlv_rant_read_asked_cause(const uint8_t *value, struct request *r);

/* Stores the requests of a rant TLV in *r. */
static inline void tlv_rant_read_wishes(uint8_t type, const uint8_t *value, size_t bytes, struct request *r)
{
	r->is_rant = true;
	if (type == TLV_RANT)
		r->wants_t2_user |= value[4] & TLV_RANT_T2_USER;
	else if (type == TLV_FOLLOW_UPS)
		r->wants_follow_ups = true;
	else if (type == TLV_DEPARTURE)
		r->kernel_every = tlv_rant_kernel_every(value);
	else if (type == TLV_FREEZE)
		r->freeze = tlv_rant_get_freeze(value);
	else if (type == TLV_CAUSE)
		tlv_rant_read_asked_cause(value, r);
	else
		r->wants_t2_kernel |= bytes >= TLV_RECEIPT_KERNEL_BYTES;
}

/* Turn the value of a request into its answer. Always true: all types can be answered. */
bool tlv_rant_answer(uint8_t *value, const struct tlv_answering *with);
bool tlv_rant_answer_follow_ups(uint8_t *value, const struct tlv_answering *with);
bool tlv_rant_answer_receipt(uint8_t *value, const struct tlv_answering *with);
bool tlv_rant_answer_departure(uint8_t *value, const struct tlv_answering *with);
bool tlv_rant_answer_freeze(uint8_t *value, const struct tlv_answering *with);
bool tlv_rant_answer_cause(uint8_t *value, const struct tlv_answering *with);

/* Copy the value of a reply's TLV into *r. */
void tlv_rant_read(const uint8_t *value, bool ptp, struct reply *r);
void tlv_rant_read_follow_ups(const uint8_t *value, bool ptp, struct reply *r);
void tlv_rant_read_receipt(const uint8_t *value, bool ptp, struct reply *r);
void tlv_rant_read_departure(const uint8_t *value, bool ptp, struct reply *r);
void tlv_rant_read_freeze(const uint8_t *value, bool ptp, struct reply *r);
void tlv_rant_read_cause(const uint8_t *value, bool ptp, struct reply *r);

#endif
