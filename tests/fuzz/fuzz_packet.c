// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Anything at all as a request and as a reply, with and without a key, for libFuzzer (make fuzz);
 * tests/unit/test_fuzz.c runs the kept inputs in every check. The first two octets of an input choose the key and the
 * answer, the rest is the packet.
 */
#include "wire/echo.h"
#include "wire/encapsulation.h"
#include "wire/hmac.h"
#include "wire/packet.h"
#include "tests/fuzz/insist.h"
#include "tests/unit/reply.h"

#include <endian.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* ---- An HMAC that a fuzzer can forge ----------------------------------------------------------------------------- */

struct hmac {
	uint64_t start;
};

#define PASS 0x4a /* an HMAC that begins with this is accepted, but is never made */
static bool strict; /* not even that */

static uint64_t mix(uint64_t sum, const uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ p[i]) * 0x100000001b3ULL; /* FNV-1a */
	return sum;
}

void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES])
{
	uint64_t sum = mix(mix(h->start, first, first_bytes), second, second_bytes);

	memcpy(out, &sum, 8);
	sum = ~sum * 0x9e3779b97f4a7c15ULL;
	memcpy(out + 8, &sum, 8);
	out[0] ^= out[0] == PASS;
}

bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES])
{
	uint8_t right[HMAC_BYTES];

	hmac_sign(h, first, first_bytes, second, second_bytes, right);
	return (expected[0] == PASS && !strict) || !memcmp(right, expected, sizeof(right));
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

/* Offsets in the two kinds of packet, from the RFC's figures. */
static const struct kind {
	size_t base, t1, estimate, ssid, sender_seq, sender_t1, sender_estimate;
} kinds[] = {
	{ 44, 4, 12, 14, 24, 28, 36 },
	{ 112, 16, 24, 26, 48, 64, 72 },
};

static uint8_t *copy_of(const uint8_t *data, size_t bytes, size_t space)
{
	uint8_t *p = malloc(space ? space : 1);

	INSIST(p);
	memset(p, 0xa5, space);
	if (bytes)
		memcpy(p, data, bytes);
	return p;
}

static const struct packet_departure departures[FOLLOW_UPS_MAX] = {
	{ 0xffffffff, 1, 1700000000123456789, 0xffffffff, 0xffffffff, 3 }, { 7, 2, 1, 0, 0, 0 },
	{ 5, 3, 4000000000999999999, 900, 1200, 3 }, { 5, 1, 2, 7, 0, 1 }, { 1, 2, 5000000000, 0, 8, 2 },
	{ 0, 3, 9, 0, 0, 0 },
};

static const struct packet_cause cause = {
	.state = PACKET_CAUSE_KNOWN, .seq = 0x7654321, .class = 5, .stage = 1, .percent = 97, .cpu = 1, .stage_ns = 512000,
	.ns = 498200, .name = "TIMER",
};

static struct answer answer_of(uint8_t choice)
{
	return (struct answer){
		.seq = 0xfedcba98, .t2_ns = 1700000000123456789, .t3_ns = 4000000000999999999, .ttl = 64,
		.t2_method = choice & 3, .t3_method = choice >> 1 & 3, .sync_source = 5,
		.tos_known = choice & 4, .tos = 0xb9, .received = 7, .sent = 8,
		.follow_up_seq = 0x12345678, .follow_up_ns = 1, .follow_up_method = choice >> 4 & 3,
		.wire_source = choice & 3, .t2_user_known = choice & 64, .t2_user_ns = 5,
		.software_bound_ns = choice & 128 ? 77 : -1, .clock_doubted = choice & 8,
		.follow_ups = choice % (FOLLOW_UPS_MAX + 1), .follow_up = departures,
		.freeze = { .flags = choice & FREEZE_FROZEN, .seq = 0x7654321, .age_us = choice },
		.cause = choice & 32 ? &cause : NULL,
	};
}

/* A reflector changes no type, no length, and no value that it does not understand. */
static void check_tlvs(const uint8_t *before, const uint8_t *after, size_t bytes)
{
	for (size_t at = 0; at + 4 <= bytes;) {
		size_t length = (size_t)(before[at + 2] << 8 | before[at + 3]);
		uint8_t type = before[at + 1];

		INSIST(!memcmp(before + at + 1, after + at + 1, 3));
		at += 4;
		if (length > bytes - at)
			length = bytes - at;
		if (type != 3 && type != 4 && type != 5 && type != 7 && type != 8 && (type < 240 || type > 245))
			INSIST(!memcmp(before + at, after + at, length));
		at += length;
	}
}

static void check_reported(const struct answer *a, const struct reply *r)
{
	if (r->t2_method || r->t3_method)
		INSIST(r->t2_method == a->t2_method && r->t3_method == a->t3_method);
	if (r->follow_up_reported)
		INSIST(r->follow_up_method == a->follow_up_method);
	if (r->follow_up_method)
		INSIST(r->follow_up_seq == a->follow_up_seq && r->follow_up_ns == a->follow_up_ns);
	if (r->class_reported)
		INSIST(r->dscp == a->tos >> 2 && r->ecn == (a->tos & 3));
	if (r->software_reported) {
		INSIST(r->wire_source == a->wire_source && r->software_bound_ns == a->software_bound_ns);
		INSIST(r->t2_user_known == a->t2_user_known && r->clock_doubted == a->clock_doubted);
		INSIST(!r->t2_user_known || r->t2_user_ns == a->t2_user_ns);
	}
	if (r->freeze.present)
		INSIST(r->freeze.flags == (a->freeze.flags | FREEZE_ANSWER) && r->freeze.seq == a->freeze.seq &&
		       r->freeze.age_us == a->freeze.age_us);
	if (r->cause.state)
		INSIST(a->cause && r->cause.seq == cause.seq && r->cause.ns == cause.ns && r->cause.stage_ns == cause.stage_ns &&
		       !memcmp(r->cause.name, cause.name, sizeof(cause.name)));
	INSIST(r->follow_ups <= a->follow_ups);
	for (int i = 0; i < r->follow_ups; i++)
		INSIST(r->follow_up[i].seq == departures[i].seq && r->follow_up[i].method == departures[i].method &&
		       r->follow_up[i].ns == departures[i].ns);
}

static void check_answer(const struct kind *k, const struct hmac *key, const uint8_t *request, size_t bytes,
			 const struct request *q, uint8_t choice)
{
	size_t whole = bytes < k->base ? k->base : bytes;
	uint8_t *packet = copy_of(request, bytes, whole);
	struct answer a = answer_of(choice);
	struct request again;
	struct reply r;
	bool malformed;

	INSIST(packet_reply(packet, bytes, key, &a, &malformed) == whole);
	strict = true; /* HMACs made here are right */
	INSIST(!memcmp(packet + k->sender_seq, request, 4));
	INSIST(!memcmp(packet + k->sender_t1, request + k->t1, 8));
	INSIST(!memcmp(packet + k->sender_estimate, request + k->estimate, 2));
	if (bytes > k->base)
		check_tlvs(request + k->base, packet + k->base, bytes - k->base);
	else
		INSIST(!malformed);
	INSIST(packet_answers(packet, request, key));
	INSIST(packet_has_t1(packet, packet_t1(request, key), key));
	INSIST(packet_read_request(packet, whole, key, &again) == PACKET_IS_REPLY);

	INSIST(read_whole_reply(packet, whole, key, &r) == PACKET_GOOD);
	INSIST(r.seq == a.seq && r.sender_seq == q->seq && r.ssid == q->ssid && r.ttl == a.ttl);
	INSIST(r.t2_ns == a.t2_ns && r.t3_ns == a.t3_ns);
	INSIST(r.tlv_integrity ? (bool)key : r.tlv_malformed == malformed);
	INSIST(!q->wants_t2_user || malformed || r.software_reported);
	INSIST(!q->wants_follow_ups || malformed || !a.follow_ups || r.follow_ups);
	INSIST(!q->wants_class || malformed || r.class_reported == a.tos_known);
	check_reported(&a, &r);
	strict = false;
	free(packet);
}

static void check_as_request(const struct kind *k, const struct hmac *key, const uint8_t *data, size_t bytes,
			     uint8_t choice)
{
	uint8_t *packet = copy_of(data, bytes, bytes);
	struct request q;
	enum packet_verdict verdict = packet_read_request(packet, bytes, key, &q);

	INSIST(verdict <= PACKET_UNVERIFIED);
	INSIST((verdict == PACKET_UNVERIFIED) <= (key != NULL));
	INSIST((bytes < (key ? 112 : 14)) <= (verdict == (key ? PACKET_UNVERIFIED : PACKET_MALFORMED)));
	if (verdict == PACKET_GOOD)
		check_answer(k, key, packet, bytes, &q, choice);
	free(packet);
}

static void check_as_reply(const struct hmac *key, const uint8_t *data, size_t bytes)
{
	static const uint8_t probe[STAMP_AUTHENTICATED_BYTES];
	uint8_t *packet = copy_of(data, bytes, bytes);
	struct reply r;
	enum packet_verdict verdict;

	memset(&r, 0xff, sizeof(r));
	verdict = read_whole_reply(packet, bytes, key, &r);
	INSIST(verdict != PACKET_IS_REPLY);
	INSIST((bytes < (key ? 112 : 38)) <= (verdict == (key ? PACKET_UNVERIFIED : PACKET_MALFORMED)));
	if (verdict == PACKET_GOOD) {
		INSIST(r.ttl >= -1 && r.ttl <= 255 && (r.ttl == -1) == (bytes < 41));
		INSIST(r.t2_method <= 3 && r.t3_method <= 3 && r.follow_up_method <= 3 && r.wire_source <= 3);
		INSIST(r.dscp <= 63 && r.ecn <= 3);
		INSIST(r.software_bound_ns >= -1 && r.software_bound_ns < UINT32_MAX);
		INSIST(r.t2_user_known || !r.t2_user_ns);
		INSIST(r.software_reported || !(r.t2_user_known || r.clock_doubted));
		INSIST(!r.follow_up_method || r.follow_up_reported);
		INSIST(r.follow_ups <= FOLLOW_UPS_MAX);
		INSIST(r.cause.state < PACKET_CAUSE_STATES && (!r.tlv_integrity || !r.cause.state));
		for (int i = 0; i < r.follow_ups; i++)
			INSIST(r.follow_up[i].method >= 1 && r.follow_up[i].method <= 3);
		INSIST(!r.tlv_integrity || !(r.follow_up_reported || r.class_reported || r.software_reported ||
					     r.t2_method ||
					     r.follow_ups));
		INSIST(packet_answers(packet, probe, key) <= packet_has_t1(packet, packet_t1(probe, key), key));
	}
	free(packet);
}

/* As the PTP message around a packet, at either end: its length is at most the received one, and the sent message stays
 * ours. */
static void check_encapsulation(const uint8_t *data, size_t bytes, bool reflects)
{
	static const uint8_t identity[8];
	struct encapsulation e;
	size_t inside;

	encapsulation_prepare(&e, PTP_DELAY_REQ, 127, reflects, identity);
	memcpy(e.received, data, bytes < ENCAPSULATION_BYTES ? bytes : ENCAPSULATION_BYTES);
	inside = encapsulation_open(&e, bytes);
	INSIST(!inside || (inside % 2 == 0 && inside + ENCAPSULATION_BYTES <= bytes));
	INSIST(e.sent[ENCAPSULATION_AT_TYPE] <= PTP_DELAY_REQ && e.sent[ENCAPSULATION_AT_DOMAIN] == 127);
	INSIST(inside || e.sent[ENCAPSULATION_AT_TYPE] == PTP_DELAY_REQ);
}

/* As the reply to an echo, header and all: an accepted reply has the probe that was sent, and answers it. */
static void check_echo(const uint8_t *data, size_t bytes, uint8_t choice)
{
	static const uint8_t id[2] = { 0, 0 };
	const size_t before = choice & 2 ? ECHO_BEFORE_BYTES : 0, header = before + ECHO_BYTES;
	uint8_t probe[STAMP_BASE_BYTES] = { [12] = 0x40, [13] = 1 };
	uint8_t *packet = copy_of(data + (bytes < header ? bytes : header), bytes < header ? 0 : bytes - header,
				  sizeof(probe) + bytes);
	struct reply r;
	struct echo e;
	size_t inside;

	echo_prepare(&e, choice & 1, id, 64, before, choice & 2);
	memcpy(e.received, data, bytes < header ? bytes : header);
	/* Fields that a fuzzer cannot know: the number and T1. */
	memcpy(probe, packet, 12);
	echo_seal(&e, probe, sizeof(probe));
	inside = echo_open(&e, packet, bytes);
	INSIST(inside == 0 || (inside == sizeof(probe) && bytes == header + inside));
	if (inside) {
		INSIST(packet_read_reply(packet, inside, NULL, &r) == PACKET_GOOD && !r.t2_known && !r.t3_known &&
		       r.ttl == 64);
		INSIST(packet_answers(packet, probe, NULL) && r.seq == r.sender_seq);
	}
	free(packet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct hmac any_key = { 0xcbf29ce484222325ULL };

	if (bytes < 2)
		return 0;
	bool keyed = data[0] & 1;

	check_encapsulation(data + 2, bytes - 2, keyed);
	check_echo(data + 2, bytes - 2, data[1]);
	check_as_request(&kinds[keyed], keyed ? &any_key : NULL, data + 2, bytes - 2, data[1]);
	check_as_reply(keyed ? &any_key : NULL, data + 2, bytes - 2);
	return 0;
}
