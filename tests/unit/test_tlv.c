/* build: wraps= sources=wire/packet.c,wire/tlv_rant.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* TLVs against the figures of RFC 8972 and the vectors: in probes, in requests and in replies. The rant
 * TLVs: test_tlv_rant.c. */
#include "wire/tlv.c"

#include "tlv_bench.h"

static size_t answer_plain(uint8_t *packet, size_t bytes, uint32_t seq, int64_t t2_ns, int64_t t3_ns, uint8_t ttl)
{
	struct answer a = { .seq = seq, .t2_ns = t2_ns, .t3_ns = t3_ns, .ttl = ttl };
	bool malformed;

	return packet_reply(packet, bytes, NULL, &a, &malformed);
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

static void vector_3_is_written_and_read(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES + 20] = { 0 }, expected[20];
	struct answer a = plain_answer;
	struct reply r;
	bool malformed;

	(void)state;
	util_hex(bytes, sizeof(bytes), vector_1);
	util_hex(bytes + STAMP_BASE_BYTES, 20, "80070010");
	assert_int_equal(util_hex(expected, sizeof(expected), vector_3), sizeof(expected));
	a.follow_up_seq = 1;
	a.follow_up_ns = VECTOR_T1_NS - 5 * NS_PER_US;
	a.follow_up_method = PACKET_METHOD_HARDWARE;
	assert_int_equal(packet_reply(bytes, sizeof(bytes), NULL, &a, &malformed), sizeof(bytes));
	assert_memory_equal(bytes + STAMP_BASE_BYTES, expected, sizeof(expected));
	assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
	assert_true(r.follow_up_reported);
	assert_int_equal(r.follow_up_seq, 1);
	assert_true(r.follow_up_ns == VECTOR_T1_NS - 5 * NS_PER_US);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_HARDWARE);
}

static void vector_5_is_verified_and_answered(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t bytes[STAMP_AUTHENTICATED_BYTES + 28], text[4 + 8] = { 0, 0, 0, 2, 0x00, 0x03, 0, 4, 5, 1, 5, 2 };
	uint8_t expected[HMAC_BYTES];
	struct answer a = plain_answer;
	struct reply r;
	bool malformed = true;

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_4), STAMP_AUTHENTICATED_BYTES);
	assert_int_equal(util_hex(bytes + STAMP_AUTHENTICATED_BYTES, 28, vector_5), 28);
	a.t2_method = PACKET_METHOD_HARDWARE;
	a.t3_method = PACKET_METHOD_SOFTWARE;
	a.sync_source = 5;
	assert_int_equal(packet_reply(bytes, sizeof(bytes), key, &a, &malformed), sizeof(bytes));
	assert_false(malformed);
	assert_memory_equal(bytes + STAMP_AUTHENTICATED_BYTES, text + 4, 8);
	assert_int_equal(get32(bytes + STAMP_AUTHENTICATED_BYTES + 8), 0x00080010);
	/* Over the sequence number of the reply, and the TLV as it goes back. */
	hmac_sign(key, text, sizeof(text), NULL, 0, expected);
	assert_memory_equal(bytes + STAMP_AUTHENTICATED_BYTES + 12, expected, sizeof(expected));
	assert_int_equal(read_whole_reply(bytes, sizeof(bytes), key, &r), PACKET_GOOD);
	assert_false(r.tlv_integrity);
	assert_int_equal(r.t2_method, PACKET_METHOD_HARDWARE);
	assert_int_equal(r.t3_method, PACKET_METHOD_SOFTWARE);
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

struct plan_row {
	struct packet_plan plan;
	const char *tlvs; /* but for the HMAC's value and the padding's */
	size_t bytes; /* of all TLVs */
};

static const struct plan_row plan_rows[] = {
	{ { 0 }, "", 0 },
	{ { .stages = true }, ASK_STAGES, 28 },
	{ { .software = true }, ASK_SOFTWARE, 24 },
	{ { .software = true, .t2_user = true }, ASK_T2_USER ASK_RECEIPT, 36 },
	{ { .software = true, .t2_user = true, .t2_kernel = true }, ASK_T2_USER ASK_RECEIPT_KERNEL, 44 },
	{ { .kernel_every = 1 }, ASK_DEPARTURE_1, 24 },
	{ { .kernel_every = 64, .follow_ups = 2 },
	  "80f10024 52414e54" ENTRY_0 ENTRY_0 "80f30024 52414e54 00000000 00000000 00000040 00000000" ENTRY_0, 80 },
	{ { .freeze = true }, ASK_NO_FREEZE, 20 },
	{ { .freeze = true, .cause = true, .cause_seq = 4711 }, ASK_NO_FREEZE ASK_CAUSE_4711, 88 },
	{ { .stages = true, .kernel_every = 1, .freeze = true, .class_of_service = true, .dscp = 46 },
	  ASK_STAGES ASK_DEPARTURE_1 ASK_NO_FREEZE ASK_CLASS_46, 80 },
	{ { .t2_user = true }, "", 0 },
	{ { .class_of_service = true, .dscp = 46 }, ASK_CLASS_46, 8 },
	{ { .dscp = 46 }, "", 0 },
	{ { .follow_ups = 1 }, ASK_FOLLOW_UPS_1, 24 },
	{ { .follow_ups = 3 }, ASK_FOLLOW_UPS_3, 56 },
	{ { .stages = true, .software = true }, ASK_STAGES ASK_SOFTWARE, 52 },
	{ { .stages = true, .software = true, .class_of_service = true, .dscp = 46 },
	  ASK_STAGES ASK_SOFTWARE ASK_CLASS_46, 60 },
	{ { .stages = true, .software = true, .follow_ups = FOLLOW_UPS_MAX, .class_of_service = true, .dscp = 46 },
	  ASK_STAGES ASK_SOFTWARE ASK_FOLLOW_UPS_6 ASK_CLASS_46, 164 },
};

static void check_plan(const struct kind *k, const struct plan_row *row, size_t padding)
{
	struct packet_plan plan = row->plan;
	size_t hmac = k->keyed && row->bytes ? 20 : 0, needed = k->base + row->bytes + hmac;
	uint8_t expected[TLVS_MAX_BYTES], *packet;

	plan.key = key_of(k);
	plan.ssid = 0x4321;
	plan.bytes = padding ? needed + padding : padding;
	assert_int_equal(packet_plan_bytes(&plan), padding && padding < 4 ? needed + 4 : needed + padding);
	packet = prepared(&plan);
	packet_probe(packet, &plan, 7, VECTOR_T1_NS);

	assert_int_equal(util_hex(expected, sizeof(expected), row->tlvs), row->bytes);
	assert_memory_equal(packet + k->base, expected, row->bytes);
	if (hmac) {
		const uint8_t *tlv = packet + k->base + row->bytes;
		uint8_t mac[HMAC_BYTES];

		assert_int_equal(get32(tlv), 0x80080010);
		hmac_sign(vector_hmac, packet, 4, packet + k->base, row->bytes, mac);
		assert_memory_equal(tlv + 4, mac, sizeof(mac));
	}
	if (padding) {
		assert_int_equal(get16(packet + needed), 0x8001);
		assert_int_equal(get16(packet + needed + 2), padding < 4 ? 0 : padding - 4);
	}
	free(packet);
}

static void plans_become_octets(void **state)
{
	static const size_t paddings[] = { 0, 1, 2, 3, 4, 5, 100, 1000 };
	const struct kind *k = *state;

	for (size_t i = 0; i < COUNT_OF(plan_rows); i++)
		for (size_t j = 0; j < COUNT_OF(paddings); j++)
			check_plan(k, &plan_rows[i], paddings[j]);
}

static void a_plan_that_is_too_small_gets_what_it_needs(void **state)
{
	struct packet_plan plan = { .stages = true };

	(void)state;
	for (plan.bytes = 0; plan.bytes <= 44 + 28; plan.bytes++)
		assert_int_equal(packet_plan_bytes(&plan), 44 + 28);
	plan.bytes = UDP_MAX_BYTES;
	assert_int_equal(packet_plan_bytes(&plan), UDP_MAX_BYTES);

	uint8_t *packet = prepared(&plan);

	assert_int_equal(get32(packet + 72), 0x80010000 | (UDP_MAX_BYTES - 76));
	free(packet);
}

static void padding_does_not_compress(void **state)
{
	struct packet_plan plan = { .bytes = 44 + 4 + 1000 };
	uint8_t *packet = prepared(&plan);
	unsigned seen[256] = { 0 }, most = 0;

	(void)state;
	for (size_t at = 48; at < 1048; at++)
		if (++seen[packet[at]] > most)
			most = seen[packet[at]];
	assert_true(most < 20);
	free(packet);
}

/* ---- TLVs that arrive at a reflector ----------------------------------------------------------------------------- */

static void tos_unknown(struct answer *a)
{
	a->tos_known = false;
}

static void follow_up_unknown(struct answer *a)
{
	a->follow_up_method = PACKET_METHOD_NONE;
}

static void follow_up_software(struct answer *a)
{
	a->follow_up_method = PACKET_METHOD_SOFTWARE;
	a->follow_up_seq = 0xffffffff;
}

#define ANSWERED_FOLLOW_UP "00070010 00000001 e8fe6f801f9a8954 01000000"
static const struct tlv_row tlv_rows[] = {
	{ .name = "none", .request = "", .reply = "" },
	/* Not understood. */
	{ .name = "unknown type keeps U", .request = "80c80004 a1a2a3a4", .reply = "80c80004 a1a2a3a4" },
	{ .name = "unknown type gets U", .request = "00c80004 a1a2a3a4", .reply = "80c80004 a1a2a3a4" },
	{ .name = "flags that are not ours to set", .request = "ffc80001 a1", .reply = "80c80001 a1" },
	{ .name = "empty unknown", .request = "00c80000", .reply = "80c80000" },
	{ .name = "reserved type 0", .request = "00000002 a1a2", .reply = "80000002 a1a2" },
	{ .name = "reserved type 255", .request = "00ff0002 a1a2", .reply = "80ff0002 a1a2" },
	{ .name = "Location", .request = "80020004 a1a2a3a4", .reply = "80020004 a1a2a3a4" },
	{ .name = "Access Report", .request = "80060004 a1a2a3a4", .reply = "80060004 a1a2a3a4" },
	{ .name = "of RFC 9503", .request = "80090004 a1a2a3a4 800a0000", .reply = "80090004 a1a2a3a4 800a0000" },
	{ .name = "HMAC without a key", .request = "80080010 000102030405060708090a0b0c0d0e0f",
	  .reply = "80080010 000102030405060708090a0b0c0d0e0f" },
	{ .name = "HMAC of any length without a key", .request = "80080001 a1", .reply = "80080001 a1" },
	{ .name = "a value like a header is a value", .request = "80c80008 80010004 80010004",
	  .reply = "80c80008 80010004 80010004" },
	/* Extra Padding. */
	{ .name = "padding loses U", .request = "80010004 a1a2a3a4", .reply = "00010004 a1a2a3a4" },
	{ .name = "padding loses every flag", .request = "ff010000", .reply = "00010000" },
	{ .name = "padding of 1 octet", .request = "80010001 ff", .reply = "00010001 ff" },
	/* Timestamp Information. */
	{ .name = "timestamp information", .request = "80030004 00000000", .reply = "00030004 05010502" },
	{ .name = "flags of an answered one", .request = "ff030004 a1a2a3a4", .reply = "00030004 05010502" },
	{ .name = "sub-TLVs are left alone", .request = "8003000c 00000000 80010004 a1a2a3a4",
	  .reply = "0003000c 05010502 80010004 a1a2a3a4" },
	{ .name = "timestamp information, 1 too short", .request = "80030003 a1a2a3", .reply = "40030003 a1a2a3",
	  .malformed = true },
	{ .name = "timestamp information, empty", .request = "80030000", .reply = "40030000", .malformed = true },
	/* Class of Service. */
	{ .name = "class of service", .request = "80040004 28000000", .reply = "00040004 2ae50000" },
	{ .name = "class of service, all set by the sender", .request = "80040004 ffffffff",
	  .reply = "00040004 fee50000" },
	{ .name = "class of service, as asked for", .request = "80040004 b8000000", .reply = "00040004 bae40000" },
	{ .name = "class of service, not known here", .request = "80040004 28a1a2a3", .reply = "80040004 28a1a2a3",
	  .adjust = tos_unknown },
	{ .name = "class of service, 1 too short", .request = "80040003 280000", .reply = "40040003 280000",
	  .malformed = true },
	{ .name = "class of service, 1 too long", .request = "80040005 2800000000", .reply = "40040005 2800000000",
	  .malformed = true },
	/* Direct Measurement. */
	{ .name = "direct measurement", .request = "8005000c a1a2a3a4 b1b2b3b4 c1c2c3c4",
	  .reply = "0005000c a1a2a3a4 01020304 05060708" },
	{ .name = "direct measurement, 1 too short", .request = "8005000b 0000000000000000000000",
	  .reply = "4005000b 0000000000000000000000", .malformed = true },
	{ .name = "direct measurement, 1 too long", .request = "8005000d 00000000000000000000000000",
	  .reply = "4005000d 00000000000000000000000000", .malformed = true },
	/* Follow-Up Telemetry. */
	{ .name = "follow-up", .request = "80070010 00000000000000000000000000000000", .reply = ANSWERED_FOLLOW_UP },
	{ .name = "follow-up, content is ignored", .request = "80070010 a1a2a3a4a5a6a7a8a9aaabacadaeafa0",
	  .reply = ANSWERED_FOLLOW_UP },
	{ .name = "follow-up in PTP format", .request = "80070010 00000000000000000000000000000000",
	  .reply = "00070010 00000001 6553f100075bb98d 01000000", .ptp = true },
	{ .name = "follow-up, software", .request = "80070010 00000000000000000000000000000000",
	  .reply = "00070010 ffffffff e8fe6f801f9a8954 02000000", .adjust = follow_up_software },
	{ .name = "follow-up, not known", .request = "80070010 a1a2a3a4a5a6a7a8a9aaabacadaeafa0",
	  .reply = "00070010 00000000000000000000000000000000", .adjust = follow_up_unknown },
	{ .name = "follow-up, empty", .request = "80070000", .reply = "40070000", .malformed = true },
	{ .name = "follow-up of 5", .request = "80070005 a1a2a3a4a5 c1", .reply = "40070005 0000000000 c1",
	  .malformed = true },
	{ .name = "follow-up, 1 too short", .request = "8007000f a1a2a3a4a5a6a7a8a9aaabacadaeaf",
	  .reply = "4007000f 000000000000000000000000adaeaf", .malformed = true },
	{ .name = "follow-up, 1 too long", .request = "80070011 a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1",
	  .reply = "40070011 000000000000000000000000adaeafb0b1", .malformed = true },
	{ .name = "follow-up cut off", .request = "80070010 a1a2a3a4a5a6a7", .reply = "40070010 00000000000000",
	  .malformed = true },
	{ .name = "follow-up cut off to nothing", .request = "80070010", .reply = "40070010", .malformed = true },
	/* Several TLVs, and TLVs that do not fit. */
	{ .name = "several", .request = "80010001 ff 00c80000 8001000201ff 00020001 80 80030004 00000000",
	  .reply = "00010001 ff 80c80000 0001000201ff 80020001 80 00030004 05010502" },
	{ .name = "the same twice", .request = "80030004 00000000 80030004 00000000",
	  .reply = "00030004 05010502 00030004 05010502" },
	{ .name = "nothing after a malformed one", .request = "80030003 000000 80030004 00000000 80010000",
	  .reply = "40030003 000000 80030004 00000000 80010000", .malformed = true },
	{ .name = "1 octet past the end", .request = "80010005 a1a2a3a4", .reply = "40010005 a1a2a3a4",
	  .malformed = true },
	{ .name = "1 octet past the end, no value", .request = "80010001", .reply = "40010001", .malformed = true },
	{ .name = "far past the end", .request = "8001ffff 80010000 80", .reply = "4001ffff 80010000 80",
	  .malformed = true },
	{ .name = "good TLVs before it", .request = "80010001 ff 00c80000 80010004 80f000",
	  .reply = "00010001 ff 80c80000 40010004 80f000", .malformed = true },
	{ .name = "unknown, past the end", .request = "80c80005 a1a2a3a4", .reply = "c0c80005 a1a2a3a4",
	  .malformed = true },
	{ .name = "1 stray octet", .request = "80", .reply = "80", .malformed = true },
	{ .name = "2 stray octets", .request = "8001", .reply = "8001", .malformed = true },
	{ .name = "3 stray octets", .request = "8001ff", .reply = "8001ff", .malformed = true },
	{ .name = "stray octets behind a good one", .request = "80010001 ff 80f001", .reply = "00010001 ff 80f001",
	  .malformed = true },
};

static void tlvs_are_answered(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(tlv_rows); i++)
		check_tlvs(&tlv_rows[i]);
}

static void as_many_tlvs_as_udp_can_carry(void **state)
{
	uint8_t *packet = calloc(1, UDP_MAX_BYTES);
	bool malformed = false;

	(void)state;
	util_hex(packet, STAMP_BASE_BYTES, vector_1);
	assert_int_equal(packet_reply(packet, UDP_MAX_BYTES, NULL, &plain_answer, &malformed), UDP_MAX_BYTES);
	assert_true(malformed); /* 65507 - 44 leaves 3 */
	for (size_t at = STAMP_BASE_BYTES; at < UDP_MAX_BYTES; at++) {
		bool flags = (at - STAMP_BASE_BYTES) % 4 == 0 && at + 4 <= UDP_MAX_BYTES;

		assert_int_equal(packet[at], flags ? 0x80 : 0);
	}
	free(packet);
}

struct wish_row {
	const char *name, *tlvs;
	bool t2_user, class, follow_ups;
	uint32_t kernel_every;
};

static void wishes_are_seen(void **state)
{
	static const struct wish_row rows[] = {
		{ "none", "", false, false, false, 0 },
		{ "T2_SW", ASK_T2_USER, true, false, false, 0 },
		{ "T2_SW, and ignored octets", "80f00014 52414e54 ffffffffffffffffffffffffffffffff", true, false,
		  false, 0 },
		{ "software without T2_SW", ASK_SOFTWARE, false, false, false, 0 },
		{ "software without T2_SW, and ignored octets",
		  "80f00014 52414e54 7fffffffffffffffffffffffffffffff", false, false, false, 0 },
		{ "class", ASK_CLASS_46, false, true, false, 0 },
		{ "both behind others", "80c80001a1" ASK_STAGES ASK_CLASS_46 ASK_T2_USER, true, true, false, 0 },
		{ "T2_SW without the magic", "80f00014 52414e55 80000000000000000000000000000000", false, false,
		  false, 0 },
		{ "ours of a wrong length", "80f00004 52414e54", false, false, false, 0 },
		{ "T2_SW, 1 too short", "80f00013 52414e54 800000000000000000000000000000", false, false, false, 0 },
		{ "class of a wrong length", "80040003 b80000", false, false, false, 0 },
		{ "class cut off", "80040004 b80000", false, false, false, 0 },
		{ "T2_SW cut off", "80f00014 52414e54 80", false, false, false, 0 },
		{ "behind a malformed one", "80030001 00" ASK_T2_USER ASK_CLASS_46, false, false, false, 0 },
		{ "before a malformed one", ASK_CLASS_46 "80030001 00", false, true, false, 0 },
		{ "within another", "80c80020" ASK_T2_USER ASK_CLASS_46, false, false, false, 0 },
		{ "follow-ups", ASK_FOLLOW_UPS_1, false, false, true, 0 },
		{ "all", ASK_FOLLOW_UPS_6 ASK_CLASS_46 ASK_T2_USER, true, true, true, 0 },
		{ "follow-ups, and ignored octets", "00f10014 52414e54 ffffffffffffffffffffffffffffffff", false,
		  false, true, 0 },
		{ "follow-ups without the magic", "80f10014 52414e55" ENTRY_0, false, false, false, 0 },
		{ "follow-ups, 1 too long", "80f10015 52414e54" ENTRY_0 "00" ASK_CLASS_46, false, false, false, 0 },
		{ "follow-ups, nothing but the magic", "80f10004 52414e54", false, false, false, 0 },
		{ "how the request was received", ASK_RECEIPT, false, false, false, 0 },
		{ "of the next type", "80f50014 52414e54" ENTRY_0, false, false, false, 0 },
		{ "the kernel's transmit times", ASK_DEPARTURE_1, false, false, false, 1 },
		{ "of one reply in 64", "80f30014 52414e54 00000000 00000000 00000040 00000000", false, false, false, 64 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint8_t packet[STAMP_BASE_BYTES + TLVS_MAX_BYTES];
		struct request r;

		util_hex(packet, STAMP_BASE_BYTES, vector_1);
		size_t bytes = STAMP_BASE_BYTES + util_hex(packet + STAMP_BASE_BYTES, TLVS_MAX_BYTES, rows[i].tlvs);
		uint8_t *exact = util_exact(packet, bytes);
		bool good = packet_read_request(exact, bytes, NULL, &r) == PACKET_GOOD;

		free(exact);
		if (!good || r.wants_t2_user != rows[i].t2_user || r.wants_class != rows[i].class ||
		    r.wants_follow_ups != rows[i].follow_ups || r.kernel_every != rows[i].kernel_every)
			fail_msg("wishes: %s", rows[i].name);
	}
}

/* ---- TLVs of an authenticated packet ----------------------------------------------------------------------------- */

enum spoil { RIGHT, WRONG_VALUE, WRONG_SEQUENCE, NOT_ALL_COVERED };

struct signed_row {
	const char *name, *before, *after; /* TLVs before and after the HMAC TLV */
	const char *hmac; /* header of the HMAC TLV; NULL: none; "": the regular header */
	enum spoil spoil;
	bool verified, malformed;
	const char *answered_before, *answered_after;
};

/* Octets of the packet; *hmac_at: where the HMAC TLV is. */
static size_t make_signed(const struct signed_row *row, uint8_t *packet, size_t space, size_t *hmac_at)
{
	size_t at = util_hex(packet, space, vector_4), tlvs = at;

	at += util_hex(packet + at, space - at, row->before);
	*hmac_at = at;
	if (row->hmac) {
		uint32_t seq = htobe32(row->spoil == WRONG_SEQUENCE ? 6 : 5);
		size_t covered = at - tlvs - (row->spoil == NOT_ALL_COVERED ? 1 : 0);

		util_hex(packet + at, space - at, *row->hmac ? row->hmac : "80080010");
		hmac_sign(vector_hmac, &seq, 4, packet + tlvs, covered, packet + at + 4);
		packet[at + 4 + HMAC_BYTES - 1] ^= row->spoil == WRONG_VALUE;
		at += 4 + get16(packet + at + 2);
	}
	return at + util_hex(packet + at, space - at, row->after);
}

static void check_signed(const struct signed_row *row)
{
	static const uint8_t reply_seq[4] = { 0, 0, 0, 2 };
	uint8_t request[STAMP_AUTHENTICATED_BYTES + TLVS_MAX_BYTES] = { 0 }, expected[TLVS_MAX_BYTES];
	size_t hmac_at, bytes = make_signed(row, request, sizeof(request), &hmac_at);
	uint8_t *packet = util_exact(request, bytes);
	struct request r = { 0 };
	bool malformed = !row->malformed;
	size_t n;

	assert_int_equal(packet_read_request(packet, bytes, vector_hmac, &r), PACKET_GOOD);
	assert_int_equal(packet_reply(packet, bytes, vector_hmac, &full_answer, &malformed), bytes);
	check_base(&authenticated_kind, packet, request, bytes, &full_answer);

	bool right = malformed == row->malformed;

	n = util_hex(expected, sizeof(expected), row->answered_before);
	assert_int_equal(n, hmac_at - STAMP_AUTHENTICATED_BYTES);
	right &= !memcmp(packet + STAMP_AUTHENTICATED_BYTES, expected, n);
	n = util_hex(expected, sizeof(expected), row->answered_after);
	right &= !memcmp(packet + bytes - n, expected, n);
	if (row->hmac && row->verified) {
		right &= get32(packet + hmac_at) == 0x00080010;
		right &= hmac_verify(vector_hmac, reply_seq, 4, packet + STAMP_AUTHENTICATED_BYTES,
				     hmac_at - STAMP_AUTHENTICATED_BYTES, packet + hmac_at + 4);
	} else if (row->hmac) {
		/* As it came, but for the flag. */
		right &= packet[hmac_at] == (0x20 | (request[hmac_at] & 0x80));
		right &= !memcmp(packet + hmac_at + 1, request + hmac_at + 1, 3 + HMAC_BYTES);
	}
	right &= r.wants_class == (row->verified && strstr(row->before, ASK_CLASS_46));
	free(packet);
	if (!right)
		fail_msg("signed TLVs: %s", row->name);
}

#define INFORMATION "80030004 00000000"
#define INFORMATION_ANSWERED "00030004 05010502"
#define INFORMATION_REFUSED "a0030004 00000000"

static const struct signed_row signed_rows[] = {
	{ .name = "answered", .before = INFORMATION, .hmac = "", .after = "", .verified = true,
	  .answered_before = INFORMATION_ANSWERED, .answered_after = "" },
	{ .name = "several, padding behind", .before = "80010001 ff" INFORMATION ASK_CLASS_46 "80c80000", .hmac = "",
	  .after = "80010002 a1a2 80010000", .verified = true,
	  .answered_before = "00010001 ff" INFORMATION_ANSWERED "00040004 bae40000" "80c80000",
	  .answered_after = "00010002 a1a2 00010000" },
	{ .name = "HMAC TLV alone", .before = "", .hmac = "", .after = "", .verified = true, .answered_before = "",
	  .answered_after = "" },
	{ .name = "HMAC TLV without its U flag", .before = INFORMATION, .hmac = "00080010", .after = "",
	  .verified = true, .answered_before = INFORMATION_ANSWERED, .answered_after = "" },
	{ .name = "padding needs none", .before = "80010002 a1a2 80010000", .after = "", .verified = true,
	  .answered_before = "00010002 a1a2 00010000", .answered_after = "" },
	{ .name = "no HMAC TLV", .before = INFORMATION ASK_CLASS_46, .after = "",
	  .answered_before = INFORMATION_REFUSED "a0040004 b8000000", .answered_after = "" },
	{ .name = "no HMAC TLV, an unknown type", .before = "80c80000", .after = "", .answered_before = "a0c80000",
	  .answered_after = "" },
	{ .name = "wrong value", .before = INFORMATION ASK_CLASS_46, .hmac = "", .after = "80010001 ff",
	  .spoil = WRONG_VALUE, .answered_before = INFORMATION_REFUSED "a0040004 b8000000",
	  .answered_after = "a0010001 ff" },
	{ .name = "of another packet", .before = INFORMATION, .hmac = "", .after = "", .spoil = WRONG_SEQUENCE,
	  .answered_before = INFORMATION_REFUSED, .answered_after = "" },
	{ .name = "over less", .before = INFORMATION, .hmac = "", .after = "", .spoil = NOT_ALL_COVERED,
	  .answered_before = INFORMATION_REFUSED, .answered_after = "" },
	{ .name = "flags when refused", .before = "7f030004 00000000", .after = "",
	  .answered_before = "20030004 00000000", .answered_after = "" },
	{ .name = "one behind it that is not padding", .before = INFORMATION, .hmac = "", .after = INFORMATION,
	  .answered_before = INFORMATION_REFUSED, .answered_after = INFORMATION_REFUSED },
	{ .name = "one behind the padding behind it", .before = INFORMATION, .hmac = "", .after = "80010000 80c80000",
	  .answered_before = INFORMATION_REFUSED, .answered_after = "a0010000 a0c80000" },
	{ .name = "another HMAC TLV behind it", .before = INFORMATION, .hmac = "",
	  .after = "80080010 00000000000000000000000000000000", .answered_before = INFORMATION_REFUSED,
	  .answered_after = "a0080010 00000000000000000000000000000000" },
	{ .name = "HMAC TLV that is longer", .before = INFORMATION, .hmac = "80080011", .after = "",
	  .answered_before = INFORMATION_REFUSED, .answered_after = "" },
	{ .name = "malformed, but verified", .before = "80030003 000000" INFORMATION, .hmac = "", .after = "80010000",
	  .verified = true, .malformed = true, .answered_before = "40030003 000000" INFORMATION,
	  .answered_after = "80010000" },
	{ .name = "malformed and not verified", .before = "80030003 000000", .hmac = "", .after = "",
	  .spoil = WRONG_VALUE, .answered_before = "a0030003 000000", .answered_after = "" },
	{ .name = "past the end behind it", .before = INFORMATION, .hmac = "", .after = "80010001", .malformed = true,
	  .answered_before = INFORMATION_REFUSED, .answered_after = "e0010001" },
	{ .name = "past the end, padding alone", .before = "80010002 a1", .after = "", .malformed = true,
	  .answered_before = "e0010002 a1", .answered_after = "" },
	{ .name = "stray octets behind it", .before = INFORMATION, .hmac = "", .after = "800100", .verified = true,
	  .malformed = true, .answered_before = INFORMATION_ANSWERED, .answered_after = "800100" },
	{ .name = "stray octets alone", .before = "800100", .after = "", .verified = true, .malformed = true,
	  .answered_before = "800100", .answered_after = "" },
};

static void signed_tlvs_are_answered_or_refused(void **state)
{
	key_of(&authenticated_kind);
	(void)state;
	for (size_t i = 0; i < COUNT_OF(signed_rows); i++)
		check_signed(&signed_rows[i]);
}

/* An HMAC TLV that is shorter than an HMAC, at the very end. */
static void a_short_hmac_tlv_is_refused(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t whole[STAMP_AUTHENTICATED_BYTES + 20];

	(void)state;
	for (uint8_t length = 0; length < HMAC_BYTES; length++) {
		size_t bytes = STAMP_AUTHENTICATED_BYTES + 4 + length;
		bool malformed;

		util_hex(whole, sizeof(whole), vector_4);
		memset(whole + STAMP_AUTHENTICATED_BYTES, 0, 20);
		whole[112] = 0x80, whole[113] = 8, whole[115] = length;

		uint8_t *packet = util_exact(whole, bytes);
		struct reply r;

		packet_reply(packet, bytes, key, &full_answer, &malformed);
		assert_int_equal(packet[112], 0xa0);
		assert_false(malformed);
		assert_int_equal(read_whole_reply(packet, bytes, key, &r), PACKET_GOOD);
		assert_true(r.tlv_integrity);
		free(packet);
	}
}

static void every_bit_of_the_tlvs_is_verified(void **state)
{
	const struct kind *k = &authenticated_kind;
	struct packet_plan plan = { .key = key_of(k), .stages = true, .software = true, .follow_ups = 3 };
	size_t bytes = packet_plan_bytes(&plan);
	uint8_t *probe = prepared(&plan), *answered;
	bool malformed;
	struct reply r;

	(void)state;
	packet_probe(probe, &plan, 1, VECTOR_T1_NS);
	answered = util_exact(probe, bytes);
	packet_reply(answered, bytes, plan.key, &full_answer, &malformed);
	assert_int_equal(read_whole_reply(answered, bytes, plan.key, &r), PACKET_GOOD);
	assert_true(r.software_reported && r.follow_up_reported && r.follow_ups == 2 && !r.tlv_integrity);
	for (size_t bit = k->base * 8; bit < bytes * 8; bit++) {
		size_t flags_of_hmac = bytes - 20;

		if (bit / 8 == flags_of_hmac)
			continue; /* not covered */
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(read_whole_reply(answered, bytes, plan.key, &r), PACKET_GOOD);
		assert_true(r.tlv_integrity);
		assert_nothing_reported(&r);
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(answered);
	free(probe);
}

/* Signed with another key. */
static void another_key_is_no_key(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	struct packet_plan plan = { .key = key };
	uint8_t *probe = prepared(&plan);
	struct request r;

	(void)state;
	packet_probe(probe, &plan, 1, VECTOR_T1_NS);
	assert_int_equal(packet_read_request(probe, STAMP_AUTHENTICATED_BYTES, key, &r), PACKET_GOOD);
	hmac_sign(key, "x", 1, NULL, 0, probe + 96);
	assert_int_equal(packet_read_request(probe, STAMP_AUTHENTICATED_BYTES, key, &r), PACKET_UNVERIFIED);
	free(probe);
}

/* ---- TLVs that come back ----------------------------------------------------------------------------------------- */

static void timestamp_information_is_read(void **state)
{
	struct reply r = read_with("00030004 01010202");

	(void)state;
	assert_int_equal(r.t2_method, PACKET_METHOD_HARDWARE);
	assert_int_equal(r.t3_method, PACKET_METHOD_SOFTWARE);
	assert_false(r.tlv_unrecognized || r.tlv_malformed || r.tlv_integrity || r.follow_up_reported);
	r = read_with("0003000c 01030200 80010004 a1a2a3a4");
	assert_int_equal(r.t2_method, PACKET_METHOD_CONTROL_PLANE);
	assert_int_equal(r.t3_method, PACKET_METHOD_NONE);
	r = read_with("00030004 010402ff");
	assert_int_equal(r.t2_method, PACKET_METHOD_NONE);
	assert_int_equal(r.t3_method, PACKET_METHOD_NONE);
}

static void class_of_service_is_read(void **state)
{
	struct reply r = read_with("00040004 2ae50000");

	(void)state;
	assert_true(r.class_reported);
	assert_int_equal(r.dscp, 46);
	assert_int_equal(r.ecn, 1);
	assert_true(r.reverse_dscp_refused);
	r = read_with("00040004 fdf8ffff");
	assert_int_equal(r.dscp, 0x1f);
	assert_int_equal(r.ecn, 2);
	assert_false(r.reverse_dscp_refused);
}

static void follow_up_is_read(void **state)
{
	struct reply r = read_with(vector_3);

	(void)state;
	assert_true(r.follow_up_reported);
	assert_int_equal(r.follow_up_seq, 1);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_HARDWARE);
	/* Zero means no time, whatever the other fields. */
	r = read_with("00070010 00000007 0000000000000000 01000000");
	assert_true(r.follow_up_reported);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
	/* But each half may be zero. */
	r = read_with("00070010 00000000 0000000000000001 02ffffff");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_SOFTWARE);
	r = read_with("00070010 00000000 e8fe6f8000000000 03000000");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_CONTROL_PLANE);
	assert_true(r.follow_up_ns == 1700000000 * NS_PER_S);
	r = read_with("00070010 00000000 e8fe6f8000000000 00000000");
	assert_true(r.follow_up_reported);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
	r = read_with("00070010 00000000 e8fe6f8000000000 04000000");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
}

struct flag_row {
	const char *name, *tlvs;
	bool used[2]; /* Timestamp Information, Class of Service */
	bool unrecognized, malformed, integrity;
};

static void flags_of_replies(void **state)
{
	static const struct flag_row rows[] = {
		{ "both", "00030004 01010101 00040004 2ae50000", { true, true }, false, false, false },
		{ "U on the first", "80030004 01010101 00040004 2ae50000", { false, true }, true, false, false },
		{ "U on the second", "00030004 01010101 80040004 2ae50000", { true, false }, true, false, false },
		{ "U on both", "80030004 01010101 80040004 2ae50000", { false, false }, true, false, false },
		{ "M on the first", "40030004 01010101 00040004 2ae50000", { false, false }, false, true, false },
		{ "M on the second", "00030004 01010101 40040004 2ae50000", { true, false }, false, true, false },
		{ "U and M", "c0030004 01010101 00040004 2ae50000", { false, false }, false, true, false },
		{ "I on the first", "20030004 01010101 00040004 2ae50000", { false, false }, false, false, true },
		{ "I on the second", "00030004 01010101 20040004 2ae50000", { false, false }, false, false, true },
		{ "all flags", "e0030004 01010101 e0040004 2ae50000", { false, false }, false, false, true },
		{ "I on an unknown one behind", "00030004 01010101 00040004 2ae50000 a0c80000", { false, false }, false,
		  false, true },
		{ "reserved flags", "1f030004 01010101 1f040004 2ae50000", { true, true }, false, false, false },
		{ "wrong length, no flag", "00030003 010101 00040004 2ae50000", { false, false }, false, true, false },
		{ "wrong length, U", "80030003 010101 00040004 2ae50000", { false, false }, false, true, false },
		{ "wrong length of the second", "00030004 01010101 00040005 2ae5000000", { true, false }, false, true,
		  false },
		{ "past the end", "00030004 01010101 00040004 2ae500", { true, false }, false, true, false },
		{ "stray octet", "00030004 01010101 00040004 2ae50000 00", { true, true }, false, true, false },
		{ "unknown without U", "00c80002 a1a2 00030004 01010101", { true, false }, false, false, false },
		{ "padding with U", "80010001 a1 00030004 01010101", { true, false }, true, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct flag_row *row = &rows[i];
		struct reply r = read_with(row->tlvs);
		bool right = (r.t2_method != PACKET_METHOD_NONE) == row->used[0] && r.class_reported == row->used[1] &&
			     r.tlv_unrecognized == row->unrecognized && r.tlv_malformed == row->malformed &&
			     r.tlv_integrity == row->integrity;

		if (!right)
			fail_msg("flags: %s", row->name);
	}
}

/* A peer that supports only RFC 8762 returns the octets unchanged. */
static void an_echo_of_the_tlvs_prints_nothing(void **state)
{
	struct packet_plan plan = { .stages = true, .software = true, .follow_ups = 2, .class_of_service = true,
				    .bytes = 200 };
	uint8_t *probe = prepared(&plan);
	struct reply r;

	(void)state;
	packet_probe(probe, &plan, 1, VECTOR_T1_NS);
	answer_plain(probe, STAMP_BASE_BYTES, 1, VECTOR_T1_NS, VECTOR_T1_NS, 64);
	assert_int_equal(read_whole_reply(probe, packet_plan_bytes(&plan), NULL, &r), PACKET_GOOD);
	assert_nothing_reported(&r);
	assert_true(r.tlv_unrecognized);
	assert_false(r.tlv_malformed);
	free(probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_3_is_written_and_read),
		cmocka_unit_test(vector_5_is_verified_and_answered),
		BOTH_KINDS(plans_become_octets),
		cmocka_unit_test(a_plan_that_is_too_small_gets_what_it_needs),
		cmocka_unit_test(padding_does_not_compress),
		cmocka_unit_test(tlvs_are_answered),
		cmocka_unit_test(as_many_tlvs_as_udp_can_carry),
		cmocka_unit_test(wishes_are_seen),
		cmocka_unit_test(signed_tlvs_are_answered_or_refused),
		cmocka_unit_test(a_short_hmac_tlv_is_refused),
		cmocka_unit_test(every_bit_of_the_tlvs_is_verified),
		cmocka_unit_test(another_key_is_no_key),
		cmocka_unit_test(timestamp_information_is_read),
		cmocka_unit_test(class_of_service_is_read),
		cmocka_unit_test(follow_up_is_read),
		cmocka_unit_test(flags_of_replies),
		cmocka_unit_test(an_echo_of_the_tlvs_prints_nothing),
	};

	util_seed();
	return cmocka_run_group_tests_name("tlv", tests, open_key, close_key);
}
