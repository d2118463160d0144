/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PTP encapsulation of a STAMP packet (hot), for NICs that timestamp PTP messages only. IEEE 1588-2019:
 * common header of 34 octets (13.3), originTimestamp, which Sync and Delay_Req share (13.6), and one TLV
 * (14.1) with the STAMP packet as its value. Requests and replies use different experimental TLV types
 * (14.1.1), so that a reflector never answers a reflector.
 */
#ifndef WIRE_ENCAPSULATION_H
#define WIRE_ENCAPSULATION_H

#include "rant.h"
#include "wire/octets.h"

#define PTP_EVENT_PORT 319 /* Annex C */
#define PTP_ETHERTYPE 0x88f7 /* Annex E */

#define ENCAPSULATION_BYTES (34 + 10 + 4)

enum { PTP_SYNC = 0, PTP_DELAY_REQ = 1 }; /* messageType */
enum { ENCAPSULATION_REQUEST = 0x2024, ENCAPSULATION_REPLY = 0x2025 }; /* tlvType */

/* Offsets. */
enum {
	ENCAPSULATION_AT_TYPE = 0, ENCAPSULATION_AT_VERSION = 1, ENCAPSULATION_AT_LENGTH = 2,
		ENCAPSULATION_AT_DOMAIN = 4,
			   ENCAPSULATION_AT_FLAGS = 6,
	ENCAPSULATION_AT_IDENTITY = 20, ENCAPSULATION_AT_PORT = 28, ENCAPSULATION_AT_SEQUENCE = 30,
		ENCAPSULATION_AT_CONTROL = 32,
	ENCAPSULATION_AT_INTERVAL = 33, ENCAPSULATION_AT_TLV = 44, ENCAPSULATION_AT_TLV_LENGTH = 46,
};

struct encapsulation {
	uint8_t sent[ENCAPSULATION_BYTES]; /* header of the last packet */
	uint8_t received[ENCAPSULATION_BYTES];
};

/* twoStepFlag of a Sync: the message carries no timestamp, so no device on the path needs to write one */
#define ENCAPSULATION_TWO_STEP 0x0200
#define ENCAPSULATION_UNICAST 0x0400
#define ENCAPSULATION_NO_INTERVAL 0x7f /* logMessageInterval of unicast messages, 13.3.2.14 */

static inline void encapsulation_set_type(struct encapsulation *e, uint8_t type)
{
	e->sent[ENCAPSULATION_AT_TYPE] = type; /* majorSdoId 0 */
	put16(e->sent + ENCAPSULATION_AT_FLAGS, ENCAPSULATION_UNICAST |
	      (type == PTP_SYNC ? ENCAPSULATION_TWO_STEP : 0));
	e->sent[ENCAPSULATION_AT_CONTROL] = type; /* controlField equals messageType for these two types */
}

/* Sets the constant fields; identity: EUI-64 of the clock. Not hot. */
static inline void encapsulation_prepare(struct encapsulation *e, uint8_t type, uint8_t domain, bool reply,
					 const uint8_t identity[8])
{
	memset(e, 0, sizeof(*e));
	encapsulation_set_type(e, type);
	e->sent[ENCAPSULATION_AT_VERSION] = 2;
	e->sent[ENCAPSULATION_AT_DOMAIN] = domain;
	memcpy(e->sent + ENCAPSULATION_AT_IDENTITY, identity, 8);
	put16(e->sent + ENCAPSULATION_AT_PORT, 1);
	e->sent[ENCAPSULATION_AT_INTERVAL] = ENCAPSULATION_NO_INTERVAL;
	put16(e->sent + ENCAPSULATION_AT_TLV, reply ? ENCAPSULATION_REPLY : ENCAPSULATION_REQUEST);
}

/* Writes the header for this STAMP packet into e->sent. sequenceId is the packet's number: some NICs match
 * timestamps by it. */
static inline void encapsulation_seal(struct encapsulation *e, const uint8_t *packet, size_t bytes)
{
	put16(e->sent + ENCAPSULATION_AT_LENGTH, (uint16_t)(ENCAPSULATION_BYTES + bytes));
	memcpy(e->sent + ENCAPSULATION_AT_SEQUENCE, packet + 2, 2);
	put16(e->sent + ENCAPSULATION_AT_TLV_LENGTH, (uint16_t)bytes);
}

/*
 * Length of the STAMP packet after e->received in a message of `bytes` octets; 0: not a message of this
 * program. Odd lengths are invalid (14.1.2); octets after the packet are link padding. A reply has the
 * messageType of its request.
 */
static inline size_t encapsulation_open(struct encapsulation *e, size_t bytes)
{
	const uint8_t *r = e->received;
	const bool reflects = get16(e->sent + ENCAPSULATION_AT_TLV) == ENCAPSULATION_REPLY;
	const size_t inside = bytes < ENCAPSULATION_BYTES ? 0 : get16(r + ENCAPSULATION_AT_TLV_LENGTH);

	if (!inside || inside % 2 || inside + ENCAPSULATION_BYTES > bytes ||
	    get16(r + ENCAPSULATION_AT_LENGTH) != inside + ENCAPSULATION_BYTES ||
	    (r[ENCAPSULATION_AT_VERSION] & 0xf) != 2 ||
		    r[ENCAPSULATION_AT_DOMAIN] != e->sent[ENCAPSULATION_AT_DOMAIN] ||
	    get16(r + ENCAPSULATION_AT_TLV) != (reflects ? ENCAPSULATION_REQUEST : ENCAPSULATION_REPLY) ||
	    r[ENCAPSULATION_AT_TYPE] > PTP_DELAY_REQ)
		return 0;
	if (reflects)
		encapsulation_set_type(e, r[ENCAPSULATION_AT_TYPE]);
	else if (r[ENCAPSULATION_AT_TYPE] != e->sent[ENCAPSULATION_AT_TYPE])
		return 0;
	return inside;
}

#endif
