/* build: wraps= sources=wire/tlv.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* STAMP packets against the RFC's figures and the vectors of an independent computation (V1 to V5 below). */
#include "wire/packet.c"
#include "reply.h"

#include "util.h"

#include <fcntl.h>

#define UDP_MAX_BYTES 65507
#define TLVS_MAX_BYTES 300

/* Times come back modulo 2^32 seconds, since that is what both formats carry. */
#define ERA_NS ((1LL << 32) * NS_PER_S)

#define VECTOR_T1_NS 1700000000123456789LL

static const char vector_1[] = "00000005 e8fe6f801f9add37 8001 1234"
			       "00000000000000000000000000000000000000000000000000000000";
static const char vector_2[] = "00000002 e8fe6f801fa7f8a8 8001 1234 e8fe6f801fa16aef"
			       "00000005 e8fe6f801f9add37 8001 0000 40 000000";
static const char vector_3[] = "00070010 00000001 e8fe6f801f9a8954 01 000000";
static const char vector_4[] = "00000005 000000000000000000000000 e8fe6f801f9add37 8001 1234"
			       "00000000000000000000000000000000 00000000000000000000000000000000"
			       "00000000000000000000000000000000 00000000000000000000000000000000 00000000"
			       "5fc9b8846371f91753939fcf91e554fb";
static const char vector_5[] = "80030004 00000000 80080010 ce69f7788f29f143897621ef188b0194";
static const char vector_key[] = "00112233445566778899aabbccddeeff";

/* The two kinds of packet, from the RFC's figures and not from the room's table. */
struct kind {
	bool keyed;
	size_t base, t1, estimate, ssid, t2, sender_seq, sender_t1, sender_estimate, ttl, end;
};

static const struct kind unauthenticated_kind = { false, 44, 4, 12, 14, 16, 24, 28, 36, 40, 44 };
static const struct kind authenticated_kind = { true, 112, 16, 24, 26, 32, 48, 64, 72, 80, 96 };

/* That of the vectors; NULL without libcrypto. */
static struct hmac *vector_hmac;

/* The key of the kind that the test runs with, and skips the test if there can be none. */
static const struct hmac *key_of(const struct kind *k)
{
	if (k->keyed && !vector_hmac) {
		print_message("built without libcrypto\n");
		skip();
	}
	return k->keyed ? vector_hmac : NULL;
}

static int open_key(void **state)
{
	char path[] = "/tmp/test_packet_XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	if (!hmac_is_available())
		return 0;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, vector_key, strlen(vector_key)), strlen(vector_key));
	close(fd);

	int error = hmac_open(&vector_hmac, path);

	unlink(path);
	return error;
}

static int close_key(void **state)
{
	(void)state;
	hmac_close(vector_hmac);
	return 0;
}

static void sign_base(uint8_t *packet, const struct kind *k)
{
	if (k->keyed)
		hmac_sign(vector_hmac, packet, 96, NULL, 0, packet + 96);
}

/* What an answer says when a test does not care. */
static const struct answer plain_answer = { .seq = 2, .t2_ns = 1, .t3_ns = 2, .ttl = 64, .software_bound_ns = -1 };

static void make_probe(uint8_t *packet, uint32_t seq, uint16_t ssid, int64_t t1_ns)
{
	struct packet_plan plan = { .ssid = ssid };

	assert_int_equal(packet_plan_bytes(&plan), STAMP_BASE_BYTES);
	packet_prepare(packet, &plan);
	packet_probe(packet, &plan, seq, t1_ns);
}

static size_t answer_plain(uint8_t *packet, size_t bytes, uint32_t seq, int64_t t2_ns, int64_t t3_ns, uint8_t ttl)
{
	struct answer a = { .seq = seq, .t2_ns = t2_ns, .t3_ns = t3_ns, .ttl = ttl };
	bool malformed;

	return packet_reply(packet, bytes, NULL, &a, &malformed);
}

/* A request as an honest sender of any kind makes it: random fields, zeros or `padding` behind them. */
static void make_request(uint8_t *packet, const struct kind *k, size_t bytes, const uint8_t *padding)
{
	uint8_t head[STAMP_AUTHENTICATED_BYTES] = { 0 };

	if (padding && !k->keyed)
		memcpy(head, padding, bytes < sizeof(head) ? bytes : sizeof(head));
	util_random_bytes(head, 4);
	util_random_bytes(head + k->t1, 10);
	head[k->estimate + 1] |= 1; /* a multiplier that is not 0 */
	if (bytes >= k->base && !padding)
		util_random_bytes(head + k->ssid, 2);
	if (vector_hmac)
		sign_base(head, k);
	memset(packet, 0, bytes);
	if (padding)
		memcpy(packet, padding, bytes);
	memcpy(packet, head, bytes < k->base ? bytes : k->base);
}

static size_t at_least(size_t bytes, size_t least)
{
	return bytes < least ? least : bytes;
}

/* A time whose 8 octets on the wire are not all zero in either format. */
static int64_t random_time_ns(void)
{
	return (int64_t)util_below(ERA_NS - 1) + 1;
}

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

static void vector_1_is_read(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct request r;

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_1), sizeof(bytes));
	assert_int_equal(packet_read_request(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_int_equal(r.error_estimate, 0x8001);
	assert_false(r.wants_t2_user);
	assert_false(r.wants_class);
	assert_true(get_time(bytes + 4, false) == VECTOR_T1_NS);
}

static void vector_2_is_read(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	memset(&r, 0xff, sizeof(r));
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_2), sizeof(bytes));
	assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 2);
	assert_int_equal(r.sender_seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_int_equal(r.error_estimate, 0x8001);
	assert_int_equal(r.ttl, 64);
	assert_true(r.t2_ns == VECTOR_T1_NS + 100 * NS_PER_US);
	assert_true(r.t3_ns == VECTOR_T1_NS + 200 * NS_PER_US);
}

/* Eight octets of zeros are no time, in either format; one that is not zero makes them one. */
static void a_reply_without_a_time(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	util_hex(bytes, sizeof(bytes), vector_2);
	for (int ptp = 0; ptp < 2; ptp++) {
		bytes[12] = (uint8_t)(0x80 | ptp << 6);
		for (size_t at = 4; at <= 16; at += 12) {
			memset(bytes + 4, 1, 8);
			memset(bytes + 16, 1, 8);
			memset(bytes + at, 0, 8);
			assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
			assert_int_equal(r.t3_known, at != 4);
			assert_int_equal(r.t2_known, at != 16);
		}
		for (size_t i = 0; i < 8; i++) {
			memset(bytes + 16, 0, 8);
			bytes[16 + i] = 1;
			assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
			assert_true(r.t2_known);
		}
	}
}

/* Without TLVs all that they would tell is empty, whatever was there before. */
static void assert_nothing_told(const struct reply *r)
{
	assert_int_equal(r->t2_method, PACKET_METHOD_NONE);
	assert_int_equal(r->t3_method, PACKET_METHOD_NONE);
	assert_false(r->follow_up_told);
	assert_int_equal(r->follow_up_method, PACKET_METHOD_NONE);
	assert_int_equal(r->follow_up_seq, 0);
	assert_int_equal(r->follow_up_ns, 0);
	assert_false(r->class_told);
	assert_int_equal(r->dscp, 0);
	assert_int_equal(r->ecn, 0);
	assert_false(r->reverse_dscp_refused);
	assert_false(r->software_told);
	assert_int_equal(r->wire_source, SOURCE_NONE);
	assert_false(r->t2_user_known);
	assert_int_equal(r->t2_user_ns, 0);
	assert_int_equal(r->software_bound_ns, -1);
}

static void a_reply_without_tlvs_tells_nothing_of_them(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	memset(&r, 0xff, sizeof(r));
	util_hex(bytes, sizeof(bytes), vector_2);
	assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
	assert_nothing_told(&r);
	assert_false(r.tlv_unrecognized);
	assert_false(r.tlv_malformed);
	assert_false(r.tlv_integrity);
}

static void vector_1_is_answered_with_vector_2(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES], expected[STAMP_BASE_BYTES], probe[STAMP_BASE_BYTES];
	struct answer a = { .seq = 2, .t2_ns = VECTOR_T1_NS + 100 * NS_PER_US, .t3_ns = VECTOR_T1_NS + 200 * NS_PER_US,
			    .ttl = 64 };
	bool malformed = true;

	(void)state;
	util_hex(bytes, sizeof(bytes), vector_1);
	memcpy(probe, bytes, sizeof(probe));
	util_hex(expected, sizeof(expected), vector_2);
	expected[12] = 0; /* the vector's reflector is synchronised, which we never claim */
	assert_int_equal(packet_reply(bytes, sizeof(bytes), NULL, &a, &malformed), sizeof(bytes));
	assert_false(malformed);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(packet_answers(bytes, probe, NULL));
}

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
	assert_true(r.follow_up_told);
	assert_int_equal(r.follow_up_seq, 1);
	assert_true(r.follow_up_ns == VECTOR_T1_NS - 5 * NS_PER_US);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_HARDWARE);
}

static void vector_4_is_verified_and_read(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t bytes[STAMP_AUTHENTICATED_BYTES], made[HMAC_BYTES];
	struct request r = { .wants_class = true, .wants_t2_user = true };

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_4), sizeof(bytes));
	hmac_sign(key, bytes, 96, NULL, 0, made);
	assert_memory_equal(made, bytes + 96, sizeof(made));
	assert_int_equal(packet_read_request(bytes, sizeof(bytes), key, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_int_equal(r.error_estimate, 0x8001);
	assert_false(r.wants_class);
	assert_false(r.wants_t2_user);
}

/* Whatever the fields say: what is not verified is not looked at. */
static void one_wrong_bit_and_nothing_is_believed(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t request[STAMP_AUTHENTICATED_BYTES], answered[STAMP_AUTHENTICATED_BYTES];
	struct request q = { .seq = 77 };
	struct reply p;
	bool malformed;

	(void)state;
	util_hex(request, sizeof(request), vector_4);
	memcpy(answered, request, sizeof(request));
	packet_reply(answered, sizeof(answered), key, &plain_answer, &malformed);
	assert_int_equal(read_whole_reply(answered, sizeof(answered), key, &p), PACKET_GOOD);
	for (size_t bit = 0; bit < sizeof(request) * 8; bit++) {
		request[bit / 8] ^= (uint8_t)(1 << bit % 8);
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(packet_read_request(request, sizeof(request), key, &q), PACKET_UNVERIFIED);
		assert_int_equal(read_whole_reply(answered, sizeof(answered), key, &p), PACKET_UNVERIFIED);
		request[bit / 8] ^= (uint8_t)(1 << bit % 8);
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_int_equal(q.seq, 77);
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

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static int64_t there_and_back(int64_t ns, bool ptp)
{
	uint8_t bytes[8];

	put_time(bytes, ns, ptp);
	return get_time(bytes, ptp);
}

static void times_come_back_exactly(void **state)
{
	static const int64_t edges[] = {
		0, 1, NS_PER_S - 1, NS_PER_S, NS_PER_S + 1,
		2147483647 * NS_PER_S + 999999999, 2147483648 * NS_PER_S, /* 2038 */
		2085978495 * NS_PER_S + 999999999, 2085978496 * NS_PER_S, /* end of NTP era 0, 2036 */
		ERA_NS - 1, ERA_NS - NS_PER_S,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(edges); i++) {
		assert_true(there_and_back(edges[i], false) == edges[i]);
		assert_true(there_and_back(edges[i], true) == edges[i]);
	}
	for (int i = 0; i < 300000; i++) {
		int64_t ns = (int64_t)util_below(ERA_NS);

		assert_true(there_and_back(ns, false) == ns);
		assert_true(there_and_back(ns, true) == ns);
	}
}

/* A hardware clock may stand anywhere, so also before 1970 and after 2106. */
static void times_outside_the_era_come_back_modulo_it(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		/* Half of them close to 0, where a carry between seconds and nanoseconds would show. */
		int64_t ns = i % 2 ? (int64_t)util_random() : (int64_t)util_below(4 * NS_PER_S) - 2 * NS_PER_S;
		int64_t within = (ns % ERA_NS + ERA_NS) % ERA_NS;

		assert_true(there_and_back(ns, false) == within);
		assert_true(there_and_back(ns, true) == within);
	}
}

static void octets_of_times_before_1970(void **state)
{
	uint8_t bytes[8], expected[8];

	(void)state;
	put_time(bytes, -1, true);
	util_hex(expected, sizeof(expected), "ffffffff 3b9ac9ff");
	assert_memory_equal(bytes, expected, sizeof(bytes));
	put_time(bytes, -1, false);
	util_hex(expected, sizeof(expected), "83aa7e7f fffffffb");
	assert_memory_equal(bytes, expected, sizeof(bytes));
	put_time(bytes, -NS_PER_S, true);
	util_hex(expected, sizeof(expected), "ffffffff 00000000");
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

static void probe_octets(void **state)
{
	uint8_t expected[STAMP_BASE_BYTES];
	uint8_t *packet = malloc(STAMP_BASE_BYTES);
	struct request r;

	(void)state;
	util_hex(expected, sizeof(expected),
		 "fffffffe 6553f100075bcd15 4001 1234 00000000000000000000000000000000000000000000000000000000");
	memset(packet, 0xff, STAMP_BASE_BYTES); /* nothing of what was there before may leave the host */
	make_probe(packet, 0xfffffffe, 0x1234, VECTOR_T1_NS);
	assert_memory_equal(packet, expected, sizeof(expected));
	assert_int_equal(packet_read_request(packet, STAMP_BASE_BYTES, NULL, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 0xfffffffe);
	assert_int_equal(r.ssid, 0x1234);
	free(packet);
}

#define ASK_STAGES "80030004 00000000 80070010 00000000 000000000000000000000000"
#define ASK_SOFTWARE "80f00014 52414e54 00000000000000000000000000000000"
#define ASK_T2_USER "80f00014 52414e54 80000000000000000000000000000000"
#define ASK_CLASS_46 "80040004 b8000000"

struct plan_row {
	struct packet_plan plan;
	const char *tlvs; /* but for the HMAC's value and the padding's */
	size_t bytes; /* of all TLVs */
};

static const struct plan_row plan_rows[] = {
	{ { 0 }, "", 0 },
	{ { .stages = true }, ASK_STAGES, 28 },
	{ { .software = true }, ASK_SOFTWARE, 24 },
	{ { .software = true, .t2_user = true }, ASK_T2_USER, 24 },
	{ { .t2_user = true }, "", 0 },
	{ { .class_of_service = true, .dscp = 46 }, ASK_CLASS_46, 8 },
	{ { .dscp = 46 }, "", 0 },
	{ { .stages = true, .software = true }, ASK_STAGES ASK_SOFTWARE, 52 },
	{ { .stages = true, .software = true, .class_of_service = true, .dscp = 46 },
	  ASK_STAGES ASK_SOFTWARE ASK_CLASS_46, 60 },
};

/* Prepared where nothing else is, so that ASan sees one octet too many. */
static uint8_t *prepared(const struct packet_plan *plan)
{
	uint8_t *packet = malloc(packet_plan_bytes(plan));

	memset(packet, 0xff, packet_plan_bytes(plan));
	packet_prepare(packet, plan);
	return packet;
}

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

static void a_probe_changes_nothing_but_number_time_and_hmacs(void **state)
{
	const struct kind *k = *state;
	struct packet_plan plan = { .key = key_of(k), .ssid = 1, .stages = true, .software = true, .bytes = 300 };
	uint8_t *packet = prepared(&plan), *before = util_exact(packet, packet_plan_bytes(&plan));
	size_t tlv = k->base + 28 + 24 + 4;

	packet_probe(packet, &plan, 0xffffffff, VECTOR_T1_NS);
	for (size_t at = 0; at < packet_plan_bytes(&plan); at++) {
		bool may = at < 4 || (at >= k->t1 && at < k->t1 + 8) ||
			   (k->keyed && ((at >= 96 && at < 112) || (at >= tlv && at < tlv + HMAC_BYTES)));

		if (!may)
			assert_int_equal(packet[at], before[at]);
	}
	assert_int_equal(get32(packet), 0xffffffff);
	assert_true(get_time(packet + k->t1, true) == VECTOR_T1_NS);
	free(before);
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

/* ---- Requests and replies of every length ------------------------------------------------------------------------ */

/* Checks one reply field by field against the request that it answers. */
static void check_base(const struct kind *k, const uint8_t *answered, const uint8_t *request, size_t bytes,
		       const struct answer *a)
{
	bool ptp = request[k->estimate] & 0x40;
	uint8_t expected[STAMP_AUTHENTICATED_BYTES] = { 0 };

	put32(expected, a->seq);
	put_time(expected + k->t1, a->t3_ns, ptp);
	expected[k->estimate] = ptp ? 0x40 : 0;
	expected[k->estimate + 1] = 1;
	if (bytes >= k->base)
		memcpy(expected + k->ssid, request + k->ssid, 2);
	put_time(expected + k->t2, a->t2_ns, ptp);
	memcpy(expected + k->sender_seq, request, 4);
	memcpy(expected + k->sender_t1, request + k->t1, 8);
	memcpy(expected + k->sender_estimate, request + k->estimate, 2);
	expected[k->ttl] = a->ttl;
	if (vector_hmac)
		sign_base(expected, k);
	assert_memory_equal(answered, expected, k->base);
}

static void answer_and_check(const struct kind *k, const uint8_t *request, size_t bytes)
{
	struct answer a = { .seq = (uint32_t)util_random(), .t2_ns = random_time_ns(), .t3_ns = random_time_ns(),
			    .ttl = (uint8_t)(1 + util_below(255)), .software_bound_ns = -1 };
	const struct hmac *key = k->keyed ? vector_hmac : NULL;
	size_t whole = at_least(bytes, k->base);
	uint8_t *answered = malloc(whole);
	struct request again;
	struct reply read;
	bool malformed;

	memset(answered, 0xa5, whole); /* a short request leaves behind it what came before */
	memcpy(answered, request, bytes);
	assert_int_equal(packet_reply(answered, bytes, key, &a, &malformed), whole);
	check_base(k, answered, request, bytes, &a);
	if (bytes <= k->base)
		assert_false(malformed);
	assert_true(packet_answers(answered, request, key));

	assert_int_equal(read_whole_reply(answered, whole, key, &read), PACKET_GOOD);
	assert_int_equal(read.seq, a.seq);
	assert_int_equal(read.sender_seq, get32(request));
	assert_int_equal(read.ssid, bytes < k->base ? 0 : get16(request + k->ssid));
	assert_int_equal(read.error_estimate, (request[k->estimate] & 0x40) << 8 | 1);
	assert_int_equal(read.ttl, a.ttl);
	assert_true(read.t2_ns == a.t2_ns);
	assert_true(read.t3_ns == a.t3_ns);

	/* So that two reflectors never answer each other. */
	assert_int_equal(packet_read_request(answered, whole, key, &again), PACKET_IS_REPLY);
	free(answered);
}

static void request_of_length(const struct kind *k, size_t bytes, const uint8_t *padding)
{
	const struct hmac *key = key_of(k);
	uint8_t *request = malloc(bytes);
	struct request r;

	make_request(request, k, bytes, padding);
	if (k->keyed && bytes < 112) {
		assert_int_equal(packet_read_request(request, bytes, key, &r), PACKET_UNVERIFIED);
	} else if (bytes < 14) {
		assert_int_equal(packet_read_request(request, bytes, key, &r), PACKET_MALFORMED);
	} else {
		assert_int_equal(packet_read_request(request, bytes, key, &r), PACKET_GOOD);
		assert_int_equal(r.seq, get32(request));
		assert_int_equal(r.error_estimate, get16(request + k->estimate));
		/* Shorter than STAMP there is no SSID, but TWAMP-Light padding, whatever it holds. */
		assert_int_equal(r.ssid, bytes < k->base ? 0 : get16(request + k->ssid));
		answer_and_check(k, request, bytes);
	}
	free(request);
}

static void requests_of_every_length(void **state)
{
	static uint8_t ones[UDP_MAX_BYTES];

	memset(ones, 0xff, sizeof(ones));
	for (size_t bytes = 0; bytes <= 200; bytes++) {
		request_of_length(*state, bytes, NULL);
		request_of_length(*state, bytes, ones);
	}
	request_of_length(*state, UDP_MAX_BYTES, NULL);
	request_of_length(*state, UDP_MAX_BYTES, ones);
}

/* Up to the Sender Error Estimate an answer of any kind of reflector has the same fields; what stands behind is looked
 * at as far as it is there. */
static void replies_of_every_length(void **state)
{
	uint8_t whole[200] = { 0 };

	(void)state;
	for (size_t bytes = 0; bytes <= sizeof(whole); bytes++) {
		util_hex(whole, sizeof(whole), vector_2);
		util_random_bytes(whole + 38, sizeof(whole) - 38);

		uint8_t *packet = util_exact(whole, bytes);
		struct reply r;

		if (bytes < 38) {
			assert_int_equal(read_whole_reply(packet, bytes, NULL, &r), PACKET_MALFORMED);
		} else {
			assert_int_equal(read_whole_reply(packet, bytes, NULL, &r), PACKET_GOOD);
			assert_int_equal(r.sender_seq, 5);
			assert_int_equal(r.ttl, bytes > 40 ? whole[40] : -1);
			assert_true(r.t3_ns - r.t2_ns == 100 * NS_PER_US);
			assert_true(packet_answers(packet, packet + 24, NULL));
		}
		free(packet);
	}
}

static void authenticated_replies_of_every_length(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t whole[200] = { 0 };
	bool malformed;

	(void)state;
	util_hex(whole, sizeof(whole), vector_4);
	packet_reply(whole, STAMP_AUTHENTICATED_BYTES, key, &plain_answer, &malformed);
	for (size_t bytes = 0; bytes <= sizeof(whole); bytes++) {
		uint8_t *packet;
		struct reply r;

		util_random_bytes(whole + 112, sizeof(whole) - 112);
		packet = util_exact(whole, bytes);
		assert_int_equal(read_whole_reply(packet, bytes, key, &r),
				 bytes < 112 ? PACKET_UNVERIFIED : PACKET_GOOD);
		if (bytes >= 112) {
			assert_int_equal(r.seq, 2);
			assert_int_equal(r.sender_seq, 5);
			assert_int_equal(r.ttl, 64);
		}
		free(packet);
	}
}

static void a_multiplier_of_0_is_malformed(void **state)
{
	const struct kind *k = *state;
	const struct hmac *key = key_of(k);
	uint8_t request[STAMP_AUTHENTICATED_BYTES], answered[STAMP_AUTHENTICATED_BYTES];
	struct request q;
	struct reply p;
	bool malformed;

	util_hex(request, sizeof(request), k->keyed ? vector_4 : vector_1);
	memcpy(answered, request, sizeof(request));
	packet_reply(answered, k->base, key, &plain_answer, &malformed);
	for (unsigned estimate = 0; estimate <= UINT16_MAX; estimate++) {
		enum packet_verdict expected = estimate & 0xff ? PACKET_GOOD : PACKET_MALFORMED;

		if (k->keyed && estimate % 256 > 3)
			continue; /* the others took too long */
		put16(request + k->estimate, (uint16_t)estimate);
		sign_base(request, k);
		assert_int_equal(packet_read_request(request, k->base, key, &q), expected);
		if (!k->keyed)
			assert_int_equal(packet_read_request(request, 14, key, &q), expected);
		put16(answered + k->estimate, (uint16_t)estimate);
		sign_base(answered, k);
		assert_int_equal(read_whole_reply(answered, k->base, key, &p), expected);
		put16(answered + k->estimate, 0x8001);
		put16(answered + k->sender_estimate, (uint16_t)estimate);
		sign_base(answered, k);
		assert_int_equal(read_whole_reply(answered, k->base, key, &p), expected);
		put16(answered + k->sender_estimate, 0x8001);
	}
}

/* The reflector's own Error Estimate says how T2 and T3 are to be read, not the sender's that comes back beside it. */
static void each_side_has_its_own_format(void **state)
{
	const struct kind *k = *state;
	const struct hmac *key = key_of(k);
	uint8_t packet[STAMP_AUTHENTICATED_BYTES + 20];
	struct reply r;
	bool malformed;

	for (int ptp = 0; ptp <= 1; ptp++) {
		util_hex(packet, sizeof(packet), k->keyed ? vector_4 : vector_1);
		packet_reply(packet, k->base, key, &plain_answer, &malformed);
		put16(packet + k->estimate, ptp ? 0x4001 : 0x0001);
		put16(packet + k->sender_estimate, ptp ? 0x0001 : 0x4001);
		put_time(packet + k->t2, VECTOR_T1_NS, ptp);
		put_time(packet + k->t1, VECTOR_T1_NS + 7, ptp);
		sign_base(packet, k);
		assert_int_equal(read_whole_reply(packet, k->base, key, &r), PACKET_GOOD);
		assert_true(r.t2_ns == VECTOR_T1_NS);
		assert_true(r.t3_ns == VECTOR_T1_NS + 7);
		assert_int_equal(r.error_estimate, ptp ? 0x4001 : 0x0001);
	}
}

static void an_answer_has_every_bit_of_its_probe(void **state)
{
	const struct kind *k = *state;
	struct packet_plan plan = { .key = key_of(k), .ssid = 0x4321 };
	uint8_t probe[STAMP_AUTHENTICATED_BYTES], answered[STAMP_AUTHENTICATED_BYTES];
	bool malformed;

	packet_prepare(probe, &plan);
	packet_probe(probe, &plan, 77, VECTOR_T1_NS);
	memcpy(answered, probe, sizeof(answered));
	packet_reply(answered, k->base, plan.key, &plain_answer, &malformed);
	assert_true(packet_answers(answered, probe, plan.key));
	for (size_t bit = 0; bit < k->base * 8; bit++) {
		size_t at = bit / 8;
		bool copied = (at >= k->sender_seq && at < k->sender_seq + 4) ||
			      (at >= k->sender_t1 && at < k->sender_t1 + 8) ||
			      (at >= k->sender_estimate && at < k->sender_estimate + 2);

		answered[at] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(packet_answers(answered, probe, plan.key), !copied);
		answered[at] ^= (uint8_t)(1 << bit % 8);
	}
}

/* RFC 8762 figure 6: whatever a sender has put where zeros must be is not sent back. */
static void an_authenticated_reply_has_zeros_where_they_must_be(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t request[STAMP_AUTHENTICATED_BYTES], answered[STAMP_AUTHENTICATED_BYTES];
	bool malformed;

	(void)state;
	memset(request, 0xff, sizeof(request));
	memcpy(answered, request, sizeof(request));
	packet_reply(answered, sizeof(answered), key, &plain_answer, &malformed);
	check_base(&authenticated_kind, answered, request, sizeof(request), &plain_answer);
}

/* ---- TLVs that arrive at a reflector ----------------------------------------------------------------------------- */

/* What the rows below are answered with. */
static const struct answer full_answer = {
	.seq = 2, .t2_ns = 1, .t3_ns = 2, .ttl = 64,
	.t2_method = PACKET_METHOD_HARDWARE, .t3_method = PACKET_METHOD_SOFTWARE, .sync_source = 5,
	.tos_known = true, .tos = 0xb9, /* DSCP 46, ECN 1 */
	.received = 0x01020304, .sent = 0x05060708,
	.follow_up_seq = 1, .follow_up_ns = VECTOR_T1_NS - 5 * NS_PER_US, .follow_up_method = PACKET_METHOD_HARDWARE,
	.wire_source = SOURCE_HARDWARE, .t2_user_known = true, .t2_user_ns = VECTOR_T1_NS,
	.software_bound_ns = 0x11223344,
};

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

static void t2_user_unknown(struct answer *a)
{
	a->t2_user_known = false;
}

static void not_on_scale(struct answer *a)
{
	a->software_bound_ns = -1;
}

static void bound_0(struct answer *a)
{
	a->software_bound_ns = 0;
}

static void bound_largest(struct answer *a)
{
	a->software_bound_ns = UINT32_MAX - 1LL;
}

static void bound_too_large(struct answer *a)
{
	a->software_bound_ns = 5 * NS_PER_S;
}

struct tlv_row {
	const char *name, *request, *reply;
	bool malformed;
	void (*adjust)(struct answer *a);
	bool ptp;
};

static void check_tlvs(const struct tlv_row *row)
{
	uint8_t base[STAMP_BASE_BYTES + TLVS_MAX_BYTES], expected[TLVS_MAX_BYTES];
	struct answer a = full_answer;
	bool malformed = !row->malformed;

	if (row->adjust)
		row->adjust(&a);
	util_hex(base, STAMP_BASE_BYTES, vector_1);
	if (row->ptp)
		base[12] |= 0x40;

	size_t tlvs = util_hex(base + STAMP_BASE_BYTES, sizeof(base) - STAMP_BASE_BYTES, row->request);
	size_t bytes = STAMP_BASE_BYTES + tlvs;
	uint8_t *packet = util_exact(base, bytes);

	assert_int_equal(util_hex(expected, sizeof(expected), row->reply), tlvs);
	assert_int_equal(packet_reply(packet, bytes, NULL, &a, &malformed), bytes);
	check_base(&unauthenticated_kind, packet, base, bytes, &a);

	bool as_expected = malformed == row->malformed && !memcmp(packet + STAMP_BASE_BYTES, expected, tlvs);

	free(packet);
	if (!as_expected)
		fail_msg("TLVs: %s", row->name);
}

#define ANSWERED_FOLLOW_UP "00070010 00000001 e8fe6f801f9a8954 01000000"
#define ANSWERED_RANT "00f00014 52414e54 c0 03 0000 11223344 e8fe6f801f9add37"

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
	/* Our own. */
	{ .name = "ours", .request = ASK_SOFTWARE, .reply = ANSWERED_RANT },
	{ .name = "ours, content is ignored", .request = "80f00014 52414e54 a1a2a3a4a5a6a7a8a9aaabacadaeafa0",
	  .reply = ANSWERED_RANT },
	{ .name = "ours in PTP format", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 c0 03 0000 11223344 6553f100075bcd15", .ptp = true },
	{ .name = "ours, T2 of user space not known", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 40 03 0000 11223344 0000000000000000", .adjust = t2_user_unknown },
	{ .name = "ours, not on the scale", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 80 03 0000 00000000 e8fe6f801f9add37", .adjust = not_on_scale },
	{ .name = "ours, bound 0", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 c0 03 0000 00000000 e8fe6f801f9add37", .adjust = bound_0 },
	{ .name = "ours, largest bound", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 c0 03 0000 fffffffe e8fe6f801f9add37", .adjust = bound_largest },
	{ .name = "ours, bound past the largest", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 c0 03 0000 ffffffff e8fe6f801f9add37", .adjust = bound_too_large },
	{ .name = "ours, 1 too short", .request = "80f00013 52414e54 000000000000000000000000000000",
	  .reply = "40f00013 52414e54 000000000000000000000000000000", .malformed = true },
	{ .name = "ours, 1 too long", .request = "80f00015 52414e54 0000000000000000000000000000000000",
	  .reply = "40f00015 52414e54 0000000000000000000000000000000000", .malformed = true },
	{ .name = "ours, nothing but the magic", .request = "80f00004 52414e54", .reply = "40f00004 52414e54",
	  .malformed = true },
	{ .name = "not ours, of our length", .request = "80f00014 52414e55 00000000000000000000000000000000",
	  .reply = "80f00014 52414e55 00000000000000000000000000000000" },
	{ .name = "not ours, of another length", .request = "80f00005 52414e55 00", .reply = "80f00005 52414e55 00" },
	{ .name = "not ours, too short for a magic", .request = "80f00003 52414e", .reply = "80f00003 52414e" },
	{ .name = "not ours, the magic is behind it", .request = "80f00000 52414e5400", .malformed = true,
	  .reply = "80f00000 c0414e5400" },
	{ .name = "not to be told whose, cut off", .request = "80f00014 52414e", .reply = "c0f00014 52414e",
	  .malformed = true },
	{ .name = "ours, cut off", .request = "80f00014 52414e54", .reply = "40f00014 52414e54", .malformed = true },
	/* More than one, and what does not fit. */
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
	{ .name = "good ones before it", .request = "80010001 ff 00c80000 80010004 80f000",
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
	bool t2_user, class;
};

static void wishes_are_seen(void **state)
{
	static const struct wish_row rows[] = {
		{ "none", "", false, false },
		{ "T2_SW", ASK_T2_USER, true, false },
		{ "T2_SW, and what is not looked at", "80f00014 52414e54 ffffffffffffffffffffffffffffffff", true, false },
		{ "software without T2_SW", ASK_SOFTWARE, false, false },
		{ "software without T2_SW, and what is not looked at", "80f00014 52414e54 7fffffffffffffffffffffffffffffff", false,
		  false },
		{ "class", ASK_CLASS_46, false, true },
		{ "both behind others", "80c80001a1" ASK_STAGES ASK_CLASS_46 ASK_T2_USER, true, true },
		{ "T2_SW without the magic", "80f00014 52414e55 80000000000000000000000000000000", false, false },
		{ "ours of a wrong length", "80f00004 52414e54", false, false },
		{ "T2_SW, 1 too short", "80f00013 52414e54 800000000000000000000000000000", false, false },
		{ "class of a wrong length", "80040003 b80000", false, false },
		{ "class cut off", "80040004 b80000", false, false },
		{ "T2_SW cut off", "80f00014 52414e54 80", false, false },
		{ "behind a malformed one", "80030001 00" ASK_T2_USER ASK_CLASS_46, false, false },
		{ "before a malformed one", ASK_CLASS_46 "80030001 00", false, true },
		{ "within another", "80c80020" ASK_T2_USER ASK_CLASS_46, false, false },
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
		if (!good || r.wants_t2_user != rows[i].t2_user || r.wants_class != rows[i].class)
			fail_msg("wishes: %s", rows[i].name);
	}
}

/* ---- TLVs of an authenticated packet ----------------------------------------------------------------------------- */

enum spoil { RIGHT, WRONG_VALUE, WRONG_SEQUENCE, NOT_ALL_COVERED };

struct signed_row {
	const char *name, *before, *after; /* TLVs before and after the HMAC TLV */
	const char *hmac; /* its header; NULL: there is none; "": that of an HMAC TLV */
	enum spoil spoil;
	bool verified, malformed;
	const char *answered_before, *answered_after;
};

/* Octets of the packet; *hmac_at: where the HMAC TLV is. */
static size_t make_signed(const struct signed_row *row, uint8_t *packet, size_t room, size_t *hmac_at)
{
	size_t at = util_hex(packet, room, vector_4), tlvs = at;

	at += util_hex(packet + at, room - at, row->before);
	*hmac_at = at;
	if (row->hmac) {
		uint32_t seq = htobe32(row->spoil == WRONG_SEQUENCE ? 6 : 5);
		size_t covered = at - tlvs - (row->spoil == NOT_ALL_COVERED ? 1 : 0);

		util_hex(packet + at, room - at, *row->hmac ? row->hmac : "80080010");
		hmac_sign(vector_hmac, &seq, 4, packet + tlvs, covered, packet + at + 4);
		packet[at + 4 + HMAC_BYTES - 1] ^= row->spoil == WRONG_VALUE;
		at += 4 + get16(packet + at + 2);
	}
	return at + util_hex(packet + at, room - at, row->after);
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
	struct packet_plan plan = { .key = key_of(k), .stages = true, .software = true };
	size_t bytes = packet_plan_bytes(&plan);
	uint8_t *probe = prepared(&plan), *answered;
	bool malformed;
	struct reply r;

	(void)state;
	packet_probe(probe, &plan, 1, VECTOR_T1_NS);
	answered = util_exact(probe, bytes);
	packet_reply(answered, bytes, plan.key, &full_answer, &malformed);
	assert_int_equal(read_whole_reply(answered, bytes, plan.key, &r), PACKET_GOOD);
	assert_true(r.software_told && r.follow_up_told && !r.tlv_integrity);
	for (size_t bit = k->base * 8; bit < bytes * 8; bit++) {
		size_t flags_of_hmac = bytes - 20;

		if (bit / 8 == flags_of_hmac)
			continue; /* not covered */
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(read_whole_reply(answered, bytes, plan.key, &r), PACKET_GOOD);
		assert_true(r.tlv_integrity);
		assert_nothing_told(&r);
		answered[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(answered);
	free(probe);
}

/* What another key has signed. */
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

/* Reads V2 with these TLVs behind it. */
static struct reply read_with(const char *tlvs)
{
	uint8_t packet[STAMP_BASE_BYTES + TLVS_MAX_BYTES];
	struct reply r;

	memset(&r, 0xff, sizeof(r));
	util_hex(packet, STAMP_BASE_BYTES, vector_2);

	size_t bytes = STAMP_BASE_BYTES + util_hex(packet + STAMP_BASE_BYTES, TLVS_MAX_BYTES, tlvs);
	uint8_t *exact = util_exact(packet, bytes);

	assert_int_equal(read_whole_reply(exact, bytes, NULL, &r), PACKET_GOOD);
	assert_int_equal(r.sender_seq, 5);
	free(exact);
	return r;
}

static void timestamp_information_is_read(void **state)
{
	struct reply r = read_with("00030004 01010202");

	(void)state;
	assert_int_equal(r.t2_method, PACKET_METHOD_HARDWARE);
	assert_int_equal(r.t3_method, PACKET_METHOD_SOFTWARE);
	assert_false(r.tlv_unrecognized || r.tlv_malformed || r.tlv_integrity || r.follow_up_told);
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
	assert_true(r.class_told);
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
	assert_true(r.follow_up_told);
	assert_int_equal(r.follow_up_seq, 1);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_HARDWARE);
	/* Zero is no time, whatever the rest says. */
	r = read_with("00070010 00000007 0000000000000000 01000000");
	assert_true(r.follow_up_told);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
	/* But each half may be zero. */
	r = read_with("00070010 00000000 0000000000000001 02ffffff");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_SOFTWARE);
	r = read_with("00070010 00000000 e8fe6f8000000000 03000000");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_CONTROL_PLANE);
	assert_true(r.follow_up_ns == 1700000000 * NS_PER_S);
	r = read_with("00070010 00000000 e8fe6f8000000000 00000000");
	assert_true(r.follow_up_told);
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
	r = read_with("00070010 00000000 e8fe6f8000000000 04000000");
	assert_int_equal(r.follow_up_method, PACKET_METHOD_NONE);
}

static void our_own_is_read(void **state)
{
	struct reply r = read_with(ANSWERED_RANT);

	(void)state;
	assert_true(r.software_told);
	assert_true(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_HARDWARE);
	assert_true(r.t2_user_ns == VECTOR_T1_NS);
	assert_true(r.software_bound_ns == 0x11223344);
	r = read_with("00f00014 52414e54 40 02 ffff 00000000 e8fe6f801f9add37");
	assert_true(r.software_told);
	assert_false(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_KERNEL);
	assert_true(r.t2_user_ns == 0);
	assert_true(r.software_bound_ns == 0);
	r = read_with("00f00014 52414e54 80 04 0000 00000005 e8fe6f801f9add37");
	assert_true(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_NONE);
	assert_true(r.software_bound_ns == -1);
	/* The largest number stands for all that do not fit, and bounds nothing. */
	r = read_with("00f00014 52414e54 c0 03 0000 ffffffff e8fe6f801f9add37");
	assert_true(r.software_bound_ns == -1);
	r = read_with("00f00014 52414e54 c0 03 0000 fffffffe e8fe6f801f9add37");
	assert_true(r.software_bound_ns == UINT32_MAX - 1LL);
	r = read_with("00f00014 52414e55 c0 03 0000 00000005 e8fe6f801f9add37");
	assert_nothing_told(&r);
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
		bool right = (r.t2_method != PACKET_METHOD_NONE) == row->used[0] && r.class_told == row->used[1] &&
			     r.tlv_unrecognized == row->unrecognized && r.tlv_malformed == row->malformed &&
			     r.tlv_integrity == row->integrity;

		if (!right)
			fail_msg("flags: %s", row->name);
	}
}

/* A peer that knows RFC 8762 only sends back what it got. */
static void an_echo_of_the_tlvs_tells_nothing(void **state)
{
	struct packet_plan plan = { .stages = true, .software = true, .class_of_service = true, .bytes = 200 };
	uint8_t *probe = prepared(&plan);
	struct reply r;

	(void)state;
	packet_probe(probe, &plan, 1, VECTOR_T1_NS);
	answer_plain(probe, STAMP_BASE_BYTES, 1, VECTOR_T1_NS, VECTOR_T1_NS, 64);
	assert_int_equal(read_whole_reply(probe, packet_plan_bytes(&plan), NULL, &r), PACKET_GOOD);
	assert_nothing_told(&r);
	assert_true(r.tlv_unrecognized);
	assert_false(r.tlv_malformed);
	free(probe);
}

/* ---- What was written comes back --------------------------------------------------------------------------------- */

static struct packet_plan random_plan(const struct hmac *key)
{
	return (struct packet_plan){
		.key = key, .ssid = (uint16_t)util_random(), .stages = util_below(2), .software = util_below(2),
		.t2_user = util_below(2), .class_of_service = util_below(2), .dscp = (uint8_t)util_below(64), .bytes = util_below(400),
	};
}

static struct answer random_answer(void)
{
	return (struct answer){
		.seq = (uint32_t)util_random(), .t2_ns = random_time_ns(), .t3_ns = random_time_ns(),
		.ttl = (uint8_t)util_random(),
		.t2_method = (uint8_t)util_below(4), .t3_method = (uint8_t)util_below(4),
		.sync_source = (uint8_t)util_random(),
		.tos_known = util_below(4), .tos = (uint8_t)util_random(),
		.received = (uint32_t)util_random(), .sent = (uint32_t)util_random(),
		.follow_up_seq = (uint32_t)util_random(), .follow_up_ns = random_time_ns(),
		.follow_up_method = (uint8_t)util_below(4),
		.wire_source = (uint8_t)util_below(4), .t2_user_known = util_below(2), .t2_user_ns = random_time_ns(),
		.software_bound_ns = util_below(2) ? -1 : (int64_t)util_below(UINT32_MAX),
	};
}

static void check_told(const struct packet_plan *plan, const struct answer *a, const struct reply *r)
{
	assert_int_equal(r->t2_method, plan->stages ? a->t2_method : 0);
	assert_int_equal(r->t3_method, plan->stages ? a->t3_method : 0);
	assert_int_equal(r->follow_up_told, plan->stages);
	assert_int_equal(r->follow_up_method, plan->stages ? a->follow_up_method : 0);
	if (r->follow_up_method) {
		assert_int_equal(r->follow_up_seq, a->follow_up_seq);
		assert_true(r->follow_up_ns == a->follow_up_ns);
	}
	assert_int_equal(r->class_told, plan->class_of_service && a->tos_known);
	if (r->class_told) {
		assert_int_equal(r->dscp, a->tos >> 2);
		assert_int_equal(r->ecn, a->tos & 3);
		assert_int_equal(r->reverse_dscp_refused, plan->dscp != a->tos >> 2);
	}
	assert_int_equal(r->software_told, plan->software);
	assert_int_equal(r->wire_source, plan->software ? a->wire_source : SOURCE_NONE);
	assert_int_equal(r->t2_user_known, plan->software && a->t2_user_known);
	assert_true(r->t2_user_ns == (r->t2_user_known ? a->t2_user_ns : 0));
	assert_true(r->software_bound_ns == (plan->software ? a->software_bound_ns : -1));
	assert_int_equal(r->tlv_unrecognized, plan->class_of_service && !a->tos_known);
	assert_false(r->tlv_malformed);
	assert_false(r->tlv_integrity);
}

static void one_there_and_back(const struct kind *k, const struct hmac *key)
{
	struct packet_plan plan = random_plan(key);
	struct answer a = random_answer();
	size_t bytes = packet_plan_bytes(&plan);
	uint32_t seq = (uint32_t)util_random();
	int64_t t1_ns = random_time_ns();
	uint8_t *probe = prepared(&plan), *answered;
	struct request q;
	struct reply r;
	bool malformed;

	packet_probe(probe, &plan, seq, t1_ns);
	if (util_below(2)) { /* a sender that writes NTP */
		probe[k->estimate] = 0;
		put_time(probe + k->t1, t1_ns, false);
		sign_base(probe, k);
	}
	assert_int_equal(packet_read_request(probe, bytes, key, &q), PACKET_GOOD);
	assert_int_equal(q.seq, seq);
	assert_int_equal(q.ssid, plan.ssid);
	assert_int_equal(q.error_estimate, get16(probe + k->estimate));
	assert_int_equal(q.wants_t2_user, plan.software && plan.t2_user);
	assert_int_equal(q.wants_class, plan.class_of_service);

	answered = util_exact(probe, bytes);
	assert_int_equal(packet_reply(answered, bytes, key, &a, &malformed), bytes);
	assert_false(malformed);
	check_base(k, answered, probe, bytes, &a);
	assert_true(packet_answers(answered, probe, key));
	memset(&r, (int)util_random(), sizeof(r));
	assert_int_equal(read_whole_reply(answered, bytes, key, &r), PACKET_GOOD);
	assert_int_equal(r.seq, a.seq);
	assert_int_equal(r.sender_seq, seq);
	assert_int_equal(r.ssid, plan.ssid);
	assert_int_equal(r.ttl, a.ttl);
	assert_true(r.t2_ns == a.t2_ns);
	assert_true(r.t3_ns == a.t3_ns);
	check_told(&plan, &a, &r);
	free(answered);
	free(probe);
}

static void what_was_written_is_read(void **state)
{
	const struct hmac *key = key_of(*state);

	for (int i = 0; i < 30000; i++)
		one_there_and_back(*state, key);
}

/* ---- Replies that arrive at a reflector -------------------------------------------------------------------------- */

static enum packet_verdict verdict_on_reply_with(const struct kind *k, int64_t t2_ns, uint8_t ttl, bool ptp)
{
	struct packet_plan plan = { .key = k->keyed ? vector_hmac : NULL, .ssid = 2, .stages = true };
	struct answer a = { .seq = 3, .t2_ns = t2_ns, .t3_ns = t2_ns, .ttl = ttl };
	uint8_t packet[200];
	struct request r;
	bool malformed;

	packet_prepare(packet, &plan);
	packet_probe(packet, &plan, 1, VECTOR_T1_NS);
	if (!ptp)
		put16(packet + k->estimate, 1);
	packet_reply(packet, packet_plan_bytes(&plan), plan.key, &a, &malformed);
	return packet_read_request(packet, packet_plan_bytes(&plan), plan.key, &r);
}

static void replies_are_recognised(void **state)
{
	const struct kind *k = *state;

	key_of(k);
	for (int i = 0; i < (k->keyed ? 20000 : 200000); i++) {
		int64_t t2_ns = i % 2 ? random_time_ns() : (int64_t)util_below(2000) - 1000;

		if (t2_ns == 0)
			continue; /* has a test of its own */
		assert_int_equal(verdict_on_reply_with(k, t2_ns, (uint8_t)(1 + i % 255), i % 3), PACKET_IS_REPLY);
	}
}

static void replies_with_ttl_0_are_recognised(void **state)
{
	key_of(*state);
	assert_int_equal(verdict_on_reply_with(*state, VECTOR_T1_NS, 0, true), PACKET_IS_REPLY);
	assert_int_equal(verdict_on_reply_with(*state, VECTOR_T1_NS, 0, false), PACKET_IS_REPLY);
}

/* A hardware clock that was never set begins at 0; in NTP format all is zero when era 1 begins. */
static void replies_with_t2_of_0_are_recognised(void **state)
{
	key_of(*state);
	assert_int_equal(verdict_on_reply_with(*state, 0, 64, true), PACKET_IS_REPLY);
	assert_int_equal(verdict_on_reply_with(*state, 2085978496 * NS_PER_S, 64, false), PACKET_IS_REPLY);
}

/* TWAMP-Light sends 41 at least: what is shorter is a request with some padding. */
static void a_reply_has_41_octets(void **state)
{
	uint8_t packet[STAMP_BASE_BYTES];
	struct request r;

	(void)state;
	util_hex(packet, sizeof(packet), vector_2);
	for (size_t bytes = 14; bytes <= sizeof(packet); bytes++) {
		enum packet_verdict expected = bytes < 41 ? PACKET_GOOD : PACKET_IS_REPLY;
		uint8_t *exact = util_exact(packet, bytes);

		assert_int_equal(packet_read_request(exact, bytes, NULL, &r), expected);
		free(exact);
	}
}

/* A sender's own use of octets that must be zero: none of them alone makes a reply of it. */
static void a_request_with_one_octet_too_many_is_a_request(void **state)
{
	const struct kind *k = *state;
	const struct hmac *key = key_of(k);
	uint8_t packet[STAMP_AUTHENTICATED_BYTES];
	struct request r;

	for (size_t at = k->ssid + 2; at < k->end; at++) {
		util_hex(packet, sizeof(packet), k->keyed ? vector_4 : vector_1);
		packet[at] = 0xff;
		sign_base(packet, k);
		/* One octet is: that of the multiplier, which nobody but a reflector writes. */
		assert_int_equal(packet_read_request(packet, k->base, key, &r),
				 at == k->sender_estimate + 1 ? PACKET_IS_REPLY : PACKET_GOOD);
	}
}

static void requests_are_not_taken_for_replies(void **state)
{
	const struct kind *k = &unauthenticated_kind;
	uint8_t padding[101], packet[101];
	struct request r;
	unsigned taken = 0, taken_41 = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		size_t bytes = 14 + util_below(sizeof(packet) - 14);

		make_request(packet, k, bytes, NULL);
		assert_int_equal(packet_read_request(packet, bytes, NULL, &r), PACKET_GOOD);
		memset(padding, 0xff, sizeof(padding));
		make_request(packet, k, bytes, padding);
		assert_int_equal(packet_read_request(packet, bytes, NULL, &r), PACKET_GOOD);
		make_probe(packet, (uint32_t)util_random(), (uint16_t)util_random(), (int64_t)util_random() / 2);
		assert_int_equal(packet_read_request(packet, STAMP_BASE_BYTES, NULL, &r), PACKET_GOOD);
	}
	for (int i = 0; i < 1000000; i++) {
		size_t bytes = 14 + util_below(sizeof(packet) - 14);

		util_random_bytes(padding, bytes);
		make_request(packet, k, bytes, padding);
		taken += packet_read_request(packet, bytes, NULL, &r) == PACKET_IS_REPLY;
		/* The shortest that could be a reply has only 16 bits that must be zero: one in 65536 is lost. */
		taken_41 += bytes >= 41 && packet_read_request(packet, 41, NULL, &r) == PACKET_IS_REPLY;
	}
	print_message("random padding taken for a reply: %u of 10^6, of 41 octets %u\n", taken, taken_41);
	/* 0.2 and 10 are to be expected. */
	assert_true(taken <= 6);
	assert_true(taken_41 <= 60);
}

/* ---- Anything at all --------------------------------------------------------------------------------------------- */

static void fuzz_one(uint8_t *bytes, size_t length, const uint8_t *probe)
{
	uint8_t *packet = util_exact(bytes, length);
	struct request q;
	struct reply p;
	enum packet_verdict verdict = read_whole_reply(packet, length, NULL, &p);

	assert_int_equal(verdict == PACKET_GOOD, length >= 38 && packet[13] && packet[37]);
	if (verdict == PACKET_GOOD)
		packet_answers(packet, probe, NULL);
	verdict = packet_read_request(packet, length, NULL, &q);
	assert_int_equal(verdict == PACKET_MALFORMED, length < 14 || !packet[13]);
	if (verdict == PACKET_GOOD)
		answer_and_check(&unauthenticated_kind, packet, length);
	free(packet);
}

static void fuzz(void **state)
{
	uint8_t bytes[300], probe[STAMP_BASE_BYTES];

	(void)state;
	make_probe(probe, 1, 2, 3);
	for (int i = 0; i < 100000; i++) {
		size_t length = util_below(i % 8 ? 64 : sizeof(bytes));

		if (i % 2) {
			util_random_bytes(bytes, length);
		} else {
			/* Something right, spoiled at a few places, reaches further. */
			memset(bytes, 0, sizeof(bytes));
			util_hex(bytes, sizeof(bytes), i % 4 ? vector_1 : vector_2);
			for (size_t spoiled = util_below(6); spoiled; spoiled--)
				bytes[util_below(sizeof(bytes))] = (uint8_t)util_random();
		}
		fuzz_one(bytes, length, probe);
	}
}

/* One test for each kind of packet. */
#define BOTH_KINDS(test) \
	{ #test ", unauthenticated", test, NULL, NULL, (void *)&unauthenticated_kind }, \
	{ #test ", authenticated", test, NULL, NULL, (void *)&authenticated_kind }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_1_is_read),
		cmocka_unit_test(vector_2_is_read),
		cmocka_unit_test(a_reply_without_a_time),
		cmocka_unit_test(a_reply_without_tlvs_tells_nothing_of_them),
		cmocka_unit_test(vector_1_is_answered_with_vector_2),
		cmocka_unit_test(vector_3_is_written_and_read),
		cmocka_unit_test(vector_4_is_verified_and_read),
		cmocka_unit_test(one_wrong_bit_and_nothing_is_believed),
		cmocka_unit_test(vector_5_is_verified_and_answered),
		cmocka_unit_test(times_come_back_exactly),
		cmocka_unit_test(times_outside_the_era_come_back_modulo_it),
		cmocka_unit_test(octets_of_times_before_1970),
		cmocka_unit_test(probe_octets),
		BOTH_KINDS(plans_become_octets),
		cmocka_unit_test(a_plan_that_is_too_small_gets_what_it_needs),
		BOTH_KINDS(a_probe_changes_nothing_but_number_time_and_hmacs),
		cmocka_unit_test(padding_does_not_compress),
		BOTH_KINDS(requests_of_every_length),
		cmocka_unit_test(replies_of_every_length),
		cmocka_unit_test(authenticated_replies_of_every_length),
		BOTH_KINDS(a_multiplier_of_0_is_malformed),
		BOTH_KINDS(each_side_has_its_own_format),
		BOTH_KINDS(an_answer_has_every_bit_of_its_probe),
		cmocka_unit_test(an_authenticated_reply_has_zeros_where_they_must_be),
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
		cmocka_unit_test(our_own_is_read),
		cmocka_unit_test(flags_of_replies),
		cmocka_unit_test(an_echo_of_the_tlvs_tells_nothing),
		BOTH_KINDS(what_was_written_is_read),
		BOTH_KINDS(replies_are_recognised),
		BOTH_KINDS(replies_with_ttl_0_are_recognised),
		BOTH_KINDS(replies_with_t2_of_0_are_recognised),
		cmocka_unit_test(a_reply_has_41_octets),
		BOTH_KINDS(a_request_with_one_octet_too_many_is_a_request),
		cmocka_unit_test(requests_are_not_taken_for_replies),
		cmocka_unit_test(fuzz),
	};

	util_seed();
	return cmocka_run_group_tests_name("packet", tests, open_key, close_key);
}
