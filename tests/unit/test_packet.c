/* build: wraps= sources=wire/tlv*.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* STAMP packets against the RFC's figures and the vectors: the base, and whole packets in both directions. */
#include "wire/packet.c"

#include "packet_bench.h"

/* Times are decoded modulo 2^32 seconds, the range of both formats. */
#define ERA_NS ((1LL << 32) * NS_PER_S)

static void make_probe(uint8_t *packet, uint32_t seq, uint16_t ssid, int64_t t1_ns)
{
	struct packet_plan plan = { .ssid = ssid };

	assert_int_equal(packet_plan_bytes(&plan), STAMP_BASE_BYTES);
	packet_prepare(packet, &plan);
	packet_probe(packet, &plan, seq, t1_ns);
}

/* A request of an honest sender of any kind: random fields, then zeros or `padding`. */
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
	assert_false(r.is_rant || r.wants_t2_user || r.wants_follow_ups);
	assert_false(r.wants_class);
	assert_true(get_ns(bytes + 4, false) == VECTOR_T1_NS);
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

/* Eight zero octets mean no time, in either format; a non-zero octet makes a time. */
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

static void a_reply_without_tlvs_prints_nothing_of_them(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	memset(&r, 0xff, sizeof(r));
	util_hex(bytes, sizeof(bytes), vector_2);
	assert_int_equal(read_whole_reply(bytes, sizeof(bytes), NULL, &r), PACKET_GOOD);
	assert_nothing_reported(&r);
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
	assert_true(packet_has_t1(bytes, packet_t1(probe, NULL), NULL));
}

static void vector_4_is_verified_and_read(void **state)
{
	const struct hmac *key = key_of(&authenticated_kind);
	uint8_t bytes[STAMP_AUTHENTICATED_BYTES], made[HMAC_BYTES];
	struct request r = { .is_rant = true, .wants_class = true, .wants_t2_user = true, .wants_follow_ups = true };

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_4), sizeof(bytes));
	hmac_sign(key, bytes, 96, NULL, 0, made);
	assert_memory_equal(made, bytes + 96, sizeof(made));
	assert_int_equal(packet_read_request(bytes, sizeof(bytes), key, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_int_equal(r.error_estimate, 0x8001);
	assert_false(r.wants_class);
	assert_false(r.is_rant || r.wants_t2_user || r.wants_follow_ups);
}

/* Whatever the fields contain: an unverified packet is not decoded. */
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

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static int64_t there_and_back(int64_t ns, bool ptp)
{
	uint8_t bytes[8];

	put_ns(bytes, ns, ptp);
	return get_ns(bytes, ptp);
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
	put_ns(bytes, -1, true);
	util_hex(expected, sizeof(expected), "ffffffff 3b9ac9ff");
	assert_memory_equal(bytes, expected, sizeof(bytes));
	put_ns(bytes, -1, false);
	util_hex(expected, sizeof(expected), "83aa7e7f fffffffb");
	assert_memory_equal(bytes, expected, sizeof(bytes));
	put_ns(bytes, -NS_PER_S, true);
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
	memset(packet, 0xff, STAMP_BASE_BYTES); /* earlier contents of the buffer must not leave the host */
	make_probe(packet, 0xfffffffe, 0x1234, VECTOR_T1_NS);
	assert_memory_equal(packet, expected, sizeof(expected));
	assert_int_equal(packet_read_request(packet, STAMP_BASE_BYTES, NULL, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 0xfffffffe);
	assert_int_equal(r.ssid, 0x1234);
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
	assert_true(get_ns(packet + k->t1, true) == VECTOR_T1_NS);
	free(before);
	free(packet);
}

/* ---- Requests and replies of every length ------------------------------------------------------------------------ */

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

	memset(answered, 0xa5, whole); /* a short request leaves earlier contents after it */
	memcpy(answered, request, bytes);
	assert_int_equal(packet_reply(answered, bytes, key, &a, &malformed), whole);
	check_base(k, answered, request, bytes, &a);
	if (bytes <= k->base)
		assert_false(malformed);
	assert_true(packet_answers(answered, request, key));
	assert_true(packet_has_t1(answered, packet_t1(request, key), key));
	assert_false(packet_has_t1(answered, packet_t1(request, key) ^ 1, key));

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
		/* A packet shorter than STAMP has no SSID but TWAMP-Light padding, whatever its contents. */
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

/* Up to the Sender Error Estimate an answer of any kind of reflector has the same fields; later octets are
 * used as far as they exist. */
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

/* The reflector's own Error Estimate gives the format of T2 and T3, not the returned estimate of the
 * sender. */
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
		put_ns(packet + k->t2, VECTOR_T1_NS, ptp);
		put_ns(packet + k->t1, VECTOR_T1_NS + 7, ptp);
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

/* ---- Encoding and decoding --------------------------------------------------------------------------------------- */

static struct packet_plan random_plan(const struct hmac *key)
{
	return (struct packet_plan){
		.key = key, .ssid = (uint16_t)util_random(), .stages = util_below(2), .software = util_below(2),
		.t2_user = util_below(2), .follow_ups = (uint8_t)util_below(FOLLOW_UPS_MAX + 1),
		.class_of_service = util_below(2), .dscp = (uint8_t)util_below(64), .bytes = util_below(400),
	};
}

static struct answer random_answer(void)
{
	static struct packet_departure departures[FOLLOW_UPS_MAX];

	for (int i = 0; i < FOLLOW_UPS_MAX; i++)
		departures[i] = (struct packet_departure){ (uint32_t)util_random(), (uint8_t)(1 + util_below(3)),
							   random_time_ns(), (uint32_t)util_random(),
							   (uint32_t)util_random(), (uint8_t)util_below(4) };
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
		.discarded = (uint32_t)util_random(), .discard_reasons = (uint8_t)util_below(8) << 1,
		.stateless = util_below(2),
		.follow_ups = (uint8_t)util_below(FOLLOW_UPS_MAX + 1), .follow_up = departures,
	};
}

static void check_reported(const struct packet_plan *plan, const struct answer *a, const struct reply *r)
{
	assert_int_equal(r->t2_method, plan->stages ? a->t2_method : 0);
	assert_int_equal(r->t3_method, plan->stages ? a->t3_method : 0);
	assert_int_equal(r->follow_up_reported, plan->stages);
	assert_int_equal(r->follow_up_method, plan->stages ? a->follow_up_method : 0);
	if (r->follow_up_method) {
		assert_int_equal(r->follow_up_seq, a->follow_up_seq);
		assert_true(r->follow_up_ns == a->follow_up_ns);
	}
	assert_int_equal(r->class_reported, plan->class_of_service && a->tos_known);
	if (r->class_reported) {
		assert_int_equal(r->dscp, a->tos >> 2);
		assert_int_equal(r->ecn, a->tos & 3);
		assert_int_equal(r->reverse_dscp_refused, plan->dscp != a->tos >> 2);
	}
	assert_int_equal(r->software_reported, plan->software);
	assert_int_equal(r->discards_reported, plan->software);
	assert_int_equal(r->discarded, plan->software ? (uint16_t)a->discarded : 0);
	assert_int_equal(r->discard_reasons, plan->software ? a->discard_reasons : 0);
	assert_int_equal(r->stateless, plan->software && a->stateless);
	assert_int_equal(r->wire_source, plan->software ? a->wire_source : SOURCE_NONE);
	assert_int_equal(r->t2_user_known, plan->software && a->t2_user_known);
	assert_true(r->t2_user_ns == (r->t2_user_known ? a->t2_user_ns : 0));
	assert_true(r->software_bound_ns == (plan->software ? a->software_bound_ns : -1));
	assert_int_equal(r->follow_ups, plan->follow_ups < a->follow_ups ? plan->follow_ups : a->follow_ups);
	for (int i = 0; i < r->follow_ups; i++) {
		assert_int_equal(r->follow_up[i].seq, a->follow_up[i].seq);
		assert_int_equal(r->follow_up[i].method, a->follow_up[i].method);
		assert_true(r->follow_up[i].ns == a->follow_up[i].ns);
	}
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
		put_ns(probe + k->t1, t1_ns, false);
		sign_base(probe, k);
	}
	assert_int_equal(packet_read_request(probe, bytes, key, &q), PACKET_GOOD);
	assert_int_equal(q.seq, seq);
	assert_int_equal(q.ssid, plan.ssid);
	assert_int_equal(q.error_estimate, get16(probe + k->estimate));
	assert_int_equal(q.wants_t2_user, plan.software && plan.t2_user);
	assert_int_equal(q.is_rant, plan.software || plan.follow_ups);
	assert_int_equal(q.wants_class, plan.class_of_service);
	assert_int_equal(q.wants_follow_ups, plan.follow_ups > 0);

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
	check_reported(&plan, &a, &r);
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

/* TWAMP-Light sends 41 at least: a shorter packet is a request with some padding. */
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
		/* One octet differs: the multiplier, which only a reflector writes. */
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
		/* The shortest possible reply has only 16 bits that must be zero: one in 65536 requests is
		 * lost. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_1_is_read),
		cmocka_unit_test(vector_2_is_read),
		cmocka_unit_test(a_reply_without_a_time),
		cmocka_unit_test(a_reply_without_tlvs_prints_nothing_of_them),
		cmocka_unit_test(vector_1_is_answered_with_vector_2),
		cmocka_unit_test(vector_4_is_verified_and_read),
		cmocka_unit_test(one_wrong_bit_and_nothing_is_believed),
		cmocka_unit_test(times_come_back_exactly),
		cmocka_unit_test(times_outside_the_era_come_back_modulo_it),
		cmocka_unit_test(octets_of_times_before_1970),
		cmocka_unit_test(probe_octets),
		BOTH_KINDS(a_probe_changes_nothing_but_number_time_and_hmacs),
		BOTH_KINDS(requests_of_every_length),
		cmocka_unit_test(replies_of_every_length),
		cmocka_unit_test(authenticated_replies_of_every_length),
		BOTH_KINDS(a_multiplier_of_0_is_malformed),
		BOTH_KINDS(each_side_has_its_own_format),
		BOTH_KINDS(an_answer_has_every_bit_of_its_probe),
		cmocka_unit_test(an_authenticated_reply_has_zeros_where_they_must_be),
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
