/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PTP message around a STAMP packet (hot): NICs that stamp nothing else stamp it. IEEE 1588-2019: the common header
 * of 34 octets (13.3), the originTimestamp that a Sync and a Delay_Req have alike (13.6), and one TLV (14.1) with the
 * STAMP packet as its value. Of the types for experiments (14.1.1) a request has one and a reply another, so that no
 * reflector answers a reflector.
 */
#ifndef WIRE_ENVELOPE_H
#define WIRE_ENVELOPE_H

#include "rant.h"
#include "wire/octets.h"

#define PTP_EVENT_PORT 319 /* Annex C */
#define PTP_ETHERTYPE 0x88f7 /* Annex E */

#define ENVELOPE_BYTES (34 + 10 + 4)

enum { PTP_SYNC = 0, PTP_DELAY_REQ = 1 }; /* messageType */
enum { ENVELOPE_REQUEST = 0x2024, ENVELOPE_REPLY = 0x2025 }; /* tlvType */

/* Offsets. */
enum {
	ENVELOPE_AT_TYPE = 0, ENVELOPE_AT_VERSION = 1, ENVELOPE_AT_LENGTH = 2, ENVELOPE_AT_DOMAIN = 4,
			   ENVELOPE_AT_FLAGS = 6,
	ENVELOPE_AT_IDENTITY = 20, ENVELOPE_AT_PORT = 28, ENVELOPE_AT_SEQUENCE = 30, ENVELOPE_AT_CONTROL = 32,
	ENVELOPE_AT_INTERVAL = 33, ENVELOPE_AT_TLV = 44, ENVELOPE_AT_TLV_LENGTH = 46,
};

struct envelope {
	uint8_t sent[ENVELOPE_BYTES]; /* as of the last packet */
	uint8_t received[ENVELOPE_BYTES];
};

/* of a Sync: it is no time of its own, and no device on its way need write one into it */
#define ENVELOPE_TWO_STEP 0x0200
#define ENVELOPE_UNICAST 0x0400
#define ENVELOPE_NO_INTERVAL 0x7f /* of unicast messages, 13.3.2.14 */

static inline void envelope_set_type(struct envelope *e, uint8_t type)
{
	e->sent[ENVELOPE_AT_TYPE] = type; /* majorSdoId 0 */
	put16(e->sent + ENVELOPE_AT_FLAGS, ENVELOPE_UNICAST | (type == PTP_SYNC ? ENVELOPE_TWO_STEP : 0));
	e->sent[ENVELOPE_AT_CONTROL] = type; /* the two have the same numbers there */
}

/* What stays the same. identity: of the clock, EUI-64. Not hot. */
static inline void envelope_prepare(struct envelope *e, uint8_t type, uint8_t domain, bool reply,
				    const uint8_t identity[8])
{
	memset(e, 0, sizeof(*e));
	envelope_set_type(e, type);
	e->sent[ENVELOPE_AT_VERSION] = 2;
	e->sent[ENVELOPE_AT_DOMAIN] = domain;
	memcpy(e->sent + ENVELOPE_AT_IDENTITY, identity, 8);
	put16(e->sent + ENVELOPE_AT_PORT, 1);
	e->sent[ENVELOPE_AT_INTERVAL] = ENVELOPE_NO_INTERVAL;
	put16(e->sent + ENVELOPE_AT_TLV, reply ? ENVELOPE_REPLY : ENVELOPE_REQUEST);
}

/* Makes e->sent that of this STAMP packet. Its sequenceId is from the packet's number: some NICs match stamps by it. */
static inline void envelope_seal(struct envelope *e, const uint8_t *packet, size_t bytes)
{
	put16(e->sent + ENVELOPE_AT_LENGTH, (uint16_t)(ENVELOPE_BYTES + bytes));
	memcpy(e->sent + ENVELOPE_AT_SEQUENCE, packet + 2, 2);
	put16(e->sent + ENVELOPE_AT_TLV_LENGTH, (uint16_t)bytes);
}

/*
 * How long the STAMP packet is that came behind e->received, in a message of so many octets; 0: it is no message of
 * ours. One whose packet is of odd length is none (14.1.2); octets behind it are the padding of a link. A reply has the
 * type of its request.
 */
static inline size_t envelope_open(struct envelope *e, size_t bytes)
{
	const uint8_t *r = e->received;
	const bool reflects = get16(e->sent + ENVELOPE_AT_TLV) == ENVELOPE_REPLY;
	const size_t inside = bytes < ENVELOPE_BYTES ? 0 : get16(r + ENVELOPE_AT_TLV_LENGTH);

	if (!inside || inside % 2 || inside + ENVELOPE_BYTES > bytes ||
	    get16(r + ENVELOPE_AT_LENGTH) != inside + ENVELOPE_BYTES ||
	    (r[ENVELOPE_AT_VERSION] & 0xf) != 2 || r[ENVELOPE_AT_DOMAIN] != e->sent[ENVELOPE_AT_DOMAIN] ||
	    get16(r + ENVELOPE_AT_TLV) != (reflects ? ENVELOPE_REQUEST : ENVELOPE_REPLY) ||
	    r[ENVELOPE_AT_TYPE] > PTP_DELAY_REQ)
		return 0;
	if (reflects)
		envelope_set_type(e, r[ENVELOPE_AT_TYPE]);
	else if (r[ENVELOPE_AT_TYPE] != e->sent[ENVELOPE_AT_TYPE])
		return 0;
	return inside;
}

#endif
