/* build: wraps= sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* STAMP packets against the RFC's figures and the vectors of an independent computation (stamp.md section 8). */
#include "packet.c"

#include "util.h"

#define UDP_MAX_BYTES 65507

/* Times come back modulo 2^32 seconds, since that is what both formats carry. */
#define ERA_NS ((1LL << 32) * NS_PER_S)

#define VECTOR_T1_NS 1700000000123456789LL

static const char vector_1[] = "00000005 e8fe6f801f9add37 8001 1234"
			       "00000000000000000000000000000000000000000000000000000000";
static const char vector_2[] = "00000002 e8fe6f801fa7f8a8 8001 1234 e8fe6f801fa16aef"
			       "00000005 e8fe6f801f9add37 8001 0000 40 000000";

/* A request as an honest sender of any kind makes it: random fields, zeros or `padding` behind them. */
static void make_request(uint8_t *packet, size_t bytes, const uint8_t *padding)
{
	uint8_t head[STAMP_BASE_BYTES] = { 0 };

	util_random_bytes(head, AT_SSID);
	head[AT_ERROR_ESTIMATE + 1] |= 1; /* a multiplier that is not 0 */
	if (bytes >= STAMP_BASE_BYTES)
		util_random_bytes(head + AT_SSID, 2);
	memset(packet, 0, bytes);
	if (padding)
		memcpy(packet, padding, bytes);
	memcpy(packet, head, bytes < AT_SSID ? bytes : AT_SSID);
	if (bytes >= STAMP_BASE_BYTES && !padding)
		memcpy(packet, head, STAMP_BASE_BYTES);
}

static size_t at_least_base(size_t bytes)
{
	return bytes < STAMP_BASE_BYTES ? STAMP_BASE_BYTES : bytes;
}

/* A time whose 8 octets on the wire are not all zero in either format. */
static int64_t random_time_ns(void)
{
	return (int64_t)util_below(ERA_NS - 1) + 1;
}

static void vector_1_is_read(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct request r;

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_1), sizeof(bytes));
	assert_int_equal(packet_read_request(bytes, sizeof(bytes), &r), PACKET_GOOD);
	assert_int_equal(r.seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_int_equal(r.error_estimate, 0x8001);
	assert_true(get_time(bytes + AT_TIMESTAMP, false) == VECTOR_T1_NS);
}

static void vector_2_is_read(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	assert_int_equal(util_hex(bytes, sizeof(bytes), vector_2), sizeof(bytes));
	assert_int_equal(packet_read_reply(bytes, sizeof(bytes), &r), PACKET_GOOD);
	assert_int_equal(r.seq, 2);
	assert_int_equal(r.sender_seq, 5);
	assert_int_equal(r.ssid, 0x1234);
	assert_true(r.t2_ns == VECTOR_T1_NS + 100 * NS_PER_US);
	assert_true(r.t3_ns == VECTOR_T1_NS + 200 * NS_PER_US);
}

static void vector_1_is_answered_with_vector_2(void **state)
{
	uint8_t bytes[STAMP_BASE_BYTES], expected[STAMP_BASE_BYTES], probe[STAMP_BASE_BYTES];
	bool malformed = true;

	(void)state;
	util_hex(bytes, sizeof(bytes), vector_1);
	memcpy(probe, bytes, sizeof(probe));
	util_hex(expected, sizeof(expected), vector_2);
	expected[AT_ERROR_ESTIMATE] = 0; /* the vector's reflector is synchronised, which we never claim */
	assert_int_equal(packet_reply(bytes, sizeof(bytes), 2, VECTOR_T1_NS + 100 * NS_PER_US,
				      VECTOR_T1_NS + 200 * NS_PER_US, 64, &malformed),
			 sizeof(bytes));
	assert_false(malformed);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(packet_answers(bytes, probe));
}

static void probe_octets(void **state)
{
	uint8_t expected[STAMP_BASE_BYTES];
	uint8_t *packet = malloc(STAMP_BASE_BYTES);
	struct request r;

	(void)state;
	util_hex(expected, sizeof(expected),
		 "fffffffe 6553f100075bcd15 4001 1234 00000000000000000000000000000000000000000000000000000000");
	memset(packet, 0xff, STAMP_BASE_BYTES); /* nothing of what was there before may leave the host */
	packet_probe(packet, 0xfffffffe, 0x1234, VECTOR_T1_NS);
	assert_memory_equal(packet, expected, sizeof(expected));
	assert_int_equal(packet_read_request(packet, STAMP_BASE_BYTES, &r), PACKET_GOOD);
	assert_int_equal(r.seq, 0xfffffffe);
	assert_int_equal(r.ssid, 0x1234);
	free(packet);
}

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

/* Checks one reply field by field against the request that it answers. */
static void check_reply(const uint8_t *reply, const uint8_t *request, size_t bytes, uint32_t seq, int64_t t2_ns,
			int64_t t3_ns, uint8_t ttl)
{
	bool ptp = request[12] & 0x40;
	uint8_t expected[STAMP_BASE_BYTES] = { 0 };

	expected[0] = (uint8_t)(seq >> 24);
	expected[1] = (uint8_t)(seq >> 16);
	expected[2] = (uint8_t)(seq >> 8);
	expected[3] = (uint8_t)seq;
	put_time(expected + 4, t3_ns, ptp);
	expected[12] = ptp ? 0x40 : 0;
	expected[13] = 1;
	if (bytes >= STAMP_BASE_BYTES)
		memcpy(expected + 14, request + 14, 2);
	put_time(expected + 16, t2_ns, ptp);
	memcpy(expected + 24, request, 14);
	expected[40] = ttl;
	assert_memory_equal(reply, expected, sizeof(expected));
}

static void answer_and_check(const uint8_t *request, size_t bytes)
{
	uint32_t seq = (uint32_t)util_random();
	int64_t t2_ns = random_time_ns(), t3_ns = random_time_ns();
	uint8_t ttl = (uint8_t)(1 + util_below(255));
	uint8_t *reply = malloc(at_least_base(bytes));
	struct request again;
	struct reply read;
	bool malformed;

	memset(reply, 0xa5, at_least_base(bytes)); /* a short request leaves behind it what came before */
	memcpy(reply, request, bytes);
	assert_int_equal(packet_reply(reply, bytes, seq, t2_ns, t3_ns, ttl, &malformed), at_least_base(bytes));
	check_reply(reply, request, bytes, seq, t2_ns, t3_ns, ttl);
	if (bytes < STAMP_BASE_BYTES)
		assert_false(malformed);
	assert_true(packet_answers(reply, request));

	assert_int_equal(packet_read_reply(reply, at_least_base(bytes), &read), PACKET_GOOD);
	assert_int_equal(read.seq, seq);
	assert_int_equal(read.sender_seq, get32(request));
	assert_int_equal(read.ssid, bytes < STAMP_BASE_BYTES ? 0 : get16(request + 14));
	assert_true(read.t2_ns == t2_ns);
	assert_true(read.t3_ns == t3_ns);

	/* So that two reflectors never answer each other. */
	assert_int_equal(packet_read_request(reply, at_least_base(bytes), &again), PACKET_IS_REPLY);
	free(reply);
}

static void request_of_length(size_t bytes, const uint8_t *padding)
{
	uint8_t *request = malloc(bytes);
	struct request r;

	make_request(request, bytes, padding);
	if (bytes < 14) {
		assert_int_equal(packet_read_request(request, bytes, &r), PACKET_MALFORMED);
	} else {
		assert_int_equal(packet_read_request(request, bytes, &r), PACKET_GOOD);
		assert_int_equal(r.seq, get32(request));
		assert_int_equal(r.error_estimate, get16(request + 12));
		/* Shorter than STAMP there is no SSID, but TWAMP-Light padding, whatever it holds. */
		assert_int_equal(r.ssid, bytes < STAMP_BASE_BYTES ? 0 : get16(request + 14));
		answer_and_check(request, bytes);
	}
	free(request);
}

static void requests_of_every_length(void **state)
{
	static uint8_t ones[UDP_MAX_BYTES];

	(void)state;
	memset(ones, 0xff, sizeof(ones));
	for (size_t bytes = 0; bytes <= 200; bytes++) {
		request_of_length(bytes, NULL);
		request_of_length(bytes, ones);
	}
	request_of_length(UDP_MAX_BYTES, NULL);
	request_of_length(UDP_MAX_BYTES, ones);
}

static void replies_of_every_length(void **state)
{
	uint8_t whole[60] = { 0 };

	(void)state;
	for (size_t bytes = 0; bytes <= sizeof(whole); bytes++) {
		/* Up to the Sender Error Estimate an answer of any kind of reflector has the same fields; what stands
		 * behind is not looked at. */
		util_hex(whole, sizeof(whole), vector_2);
		util_random_bytes(whole + 38, sizeof(whole) - 38);

		uint8_t *packet = util_exact(whole, bytes);
		struct reply r;

		if (bytes < 38) {
			assert_int_equal(packet_read_reply(packet, bytes, &r), PACKET_MALFORMED);
		} else {
			assert_int_equal(packet_read_reply(packet, bytes, &r), PACKET_GOOD);
			assert_int_equal(r.sender_seq, 5);
			assert_true(r.t3_ns - r.t2_ns == 100 * NS_PER_US);
			assert_true(packet_answers(packet, packet + 24));
		}
		free(packet);
	}
}

static void a_multiplier_of_0_is_malformed(void **state)
{
	uint8_t request[STAMP_BASE_BYTES], reply[STAMP_BASE_BYTES];
	struct request q;
	struct reply p;

	(void)state;
	util_hex(request, sizeof(request), vector_1);
	util_hex(reply, sizeof(reply), vector_2);
	for (unsigned estimate = 0; estimate <= UINT16_MAX; estimate++) {
		bool good = estimate & 0xff;

		put16(request + 12, (uint16_t)estimate);
		assert_int_equal(packet_read_request(request, sizeof(request), &q) == PACKET_GOOD, good);
		assert_int_equal(packet_read_request(request, 14, &q) == PACKET_GOOD, good);
		put16(reply + 12, (uint16_t)estimate);
		assert_int_equal(packet_read_reply(reply, sizeof(reply), &p) == PACKET_GOOD, good);
		put16(reply + 12, 0x8001);
		put16(reply + 36, (uint16_t)estimate);
		assert_int_equal(packet_read_reply(reply, sizeof(reply), &p) == PACKET_GOOD, good);
		put16(reply + 36, 0x8001);
	}
	assert_int_equal(packet_read_request(request, sizeof(request), &q), PACKET_GOOD);
	put16(request + 12, 0x4000);
	assert_int_equal(packet_read_request(request, sizeof(request), &q), PACKET_MALFORMED);
	put16(reply + 12, 0xff00);
	assert_int_equal(packet_read_reply(reply, sizeof(reply), &p), PACKET_MALFORMED);
}

/* The reflector's own Error Estimate says how T2 and T3 are to be read, not the sender's that comes back beside it. */
static void each_side_has_its_own_format(void **state)
{
	uint8_t packet[STAMP_BASE_BYTES];
	struct reply r;

	(void)state;
	for (int ptp = 0; ptp <= 1; ptp++) {
		util_hex(packet, sizeof(packet), vector_2);
		put16(packet + 12, ptp ? 0x4001 : 0x0001);
		put16(packet + 36, ptp ? 0x0001 : 0x4001);
		put_time(packet + 16, VECTOR_T1_NS, ptp);
		put_time(packet + 4, VECTOR_T1_NS + 7, ptp);
		assert_int_equal(packet_read_reply(packet, sizeof(packet), &r), PACKET_GOOD);
		assert_true(r.t2_ns == VECTOR_T1_NS);
		assert_true(r.t3_ns == VECTOR_T1_NS + 7);
	}
}

static void an_answer_has_every_bit_of_its_probe(void **state)
{
	uint8_t probe[STAMP_BASE_BYTES], reply[STAMP_BASE_BYTES];
	bool malformed;

	(void)state;
	packet_probe(probe, 77, 0x4321, VECTOR_T1_NS);
	memcpy(reply, probe, sizeof(reply));
	packet_reply(reply, sizeof(reply), 1, VECTOR_T1_NS, VECTOR_T1_NS, 64, &malformed);
	assert_true(packet_answers(reply, probe));
	for (size_t bit = 0; bit < sizeof(reply) * 8; bit++) {
		bool copied = bit / 8 >= 24 && bit / 8 < 38;

		reply[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(packet_answers(reply, probe), !copied);
		reply[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* ---- TLVs -------------------------------------------------------------------------------------------------------- */

struct tlv_row {
	const char *name, *request, *reply;
	bool malformed;
};

static void check_tlvs(const struct tlv_row *row)
{
	uint8_t base[STAMP_BASE_BYTES + 64], expected[64];
	bool malformed = !row->malformed;

	util_hex(base, STAMP_BASE_BYTES, vector_1);

	size_t tlvs = util_hex(base + STAMP_BASE_BYTES, sizeof(base) - STAMP_BASE_BYTES, row->request);
	size_t bytes = STAMP_BASE_BYTES + tlvs;
	uint8_t *packet = util_exact(base, bytes);

	assert_int_equal(util_hex(expected, sizeof(expected), row->reply), tlvs);
	assert_int_equal(packet_reply(packet, bytes, 2, 1, 2, 64, &malformed), bytes);
	check_reply(packet, base, bytes, 2, 1, 2, 64);

	bool as_expected = malformed == row->malformed && !memcmp(packet + STAMP_BASE_BYTES, expected, tlvs);

	free(packet);
	if (!as_expected)
		fail_msg("TLVs: %s", row->name);
}

static void tlvs_are_answered(void **state)
{
	static const struct tlv_row rows[] = {
		{ "none", "", "", false },
		{ "unknown type keeps U", "80f00004 a1a2a3a4", "80f00004 a1a2a3a4", false },
		{ "unknown type gets U", "00f00004 a1a2a3a4", "80f00004 a1a2a3a4", false },
		{ "flags that are not ours to set", "fff00001 a1", "80f00001 a1", false },
		{ "empty unknown", "00c80000", "80c80000", false },
		{ "reserved type 0", "00000002 a1a2", "80000002 a1a2", false },
		{ "reserved type 255", "00ff0002 a1a2", "80ff0002 a1a2", false },
		{ "known to the RFC, not to us", "00070004 a1a2a3a4", "80070004 a1a2a3a4", false },
		{ "HMAC", "80080010 000102030405060708090a0b0c0d0e0f", "80080010 000102030405060708090a0b0c0d0e0f",
		  false },
		{ "padding loses U", "80010004 a1a2a3a4", "00010004 a1a2a3a4", false },
		{ "padding loses every flag", "ff010000", "00010000", false },
		{ "padding of 1 octet", "80010001 ff", "00010001 ff", false },
		{ "several", "80010001 ff 00f00000 8001000201ff 00030001 80",
		  "00010001 ff 80f00000 0001000201ff 80030001 80", false },
		{ "a value like a header is a value", "00f00008 80010004 80010004", "80f00008 80010004 80010004",
		  false },
		{ "1 octet past the end", "80010005 a1a2a3a4", "40010005 a1a2a3a4", true },
		{ "1 octet past the end, no value", "80010001", "40010001", true },
		{ "far past the end", "8001ffff 80010000 80", "4001ffff 80010000 80", true },
		{ "good ones before it", "80010001 ff 00f00000 80010004 80f000",
		  "00010001 ff 80f00000 40010004 80f000", true },
		{ "1 stray octet", "80", "80", true },
		{ "2 stray octets", "8001", "8001", true },
		{ "3 stray octets", "8001ff", "8001ff", true },
		{ "stray octets behind a good one", "80010001 ff 80f001", "00010001 ff 80f001", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_tlvs(&rows[i]);
}

/* RFC 8972 section 4 has one rule for U and another for M: a type that is not understood has U, malformed or not. */
static void an_unknown_malformed_tlv_has_both_flags(void **state)
{
	static const struct tlv_row row = { "unknown, past the end", "80f00005 a1a2a3a4", "c0f00005 a1a2a3a4", true };

	(void)state;
	check_tlvs(&row);
}

static void as_many_tlvs_as_udp_can_carry(void **state)
{
	uint8_t *packet = calloc(1, UDP_MAX_BYTES);
	bool malformed = false;

	(void)state;
	util_hex(packet, STAMP_BASE_BYTES, vector_1);
	assert_int_equal(packet_reply(packet, UDP_MAX_BYTES, 2, 1, 2, 64, &malformed), UDP_MAX_BYTES);
	assert_true(malformed); /* 65507 - 44 leaves 3 */
	for (size_t at = STAMP_BASE_BYTES; at < UDP_MAX_BYTES; at++) {
		bool flags = (at - STAMP_BASE_BYTES) % 4 == 0 && at + 4 <= UDP_MAX_BYTES;

		assert_int_equal(packet[at], flags ? 0x80 : 0);
	}
	free(packet);
}

/* ---- Replies that arrive at a reflector -------------------------------------------------------------------------- */

static enum packet_verdict verdict_on_reply_with(int64_t t2_ns, uint8_t ttl, bool ptp)
{
	uint8_t packet[STAMP_BASE_BYTES];
	struct request r;
	bool malformed;

	packet_probe(packet, 1, 2, VECTOR_T1_NS);
	if (!ptp)
		put16(packet + 12, 1);
	packet_reply(packet, sizeof(packet), 3, t2_ns, t2_ns, ttl, &malformed);
	return packet_read_request(packet, sizeof(packet), &r);
}

static void replies_are_recognised(void **state)
{
	(void)state;
	for (int i = 0; i < 200000; i++) {
		int64_t t2_ns = i % 2 ? random_time_ns() : (int64_t)util_below(2000) - 1000;

		if (t2_ns == 0)
			continue; /* has a test of its own */
		assert_int_equal(verdict_on_reply_with(t2_ns, (uint8_t)(1 + i % 255), i % 3), PACKET_IS_REPLY);
	}
}

static void replies_with_ttl_0_are_recognised(void **state)
{
	(void)state;
	assert_int_equal(verdict_on_reply_with(VECTOR_T1_NS, 0, true), PACKET_IS_REPLY);
	assert_int_equal(verdict_on_reply_with(VECTOR_T1_NS, 0, false), PACKET_IS_REPLY);
}

/* A hardware clock that was never set begins at 0; in NTP format all is zero when era 1 begins. */
static void replies_with_t2_of_0_are_recognised(void **state)
{
	(void)state;
	assert_int_equal(verdict_on_reply_with(0, 64, true), PACKET_IS_REPLY);
	assert_int_equal(verdict_on_reply_with(2085978496 * NS_PER_S, 64, false), PACKET_IS_REPLY);
}

static void requests_are_not_taken_for_replies(void **state)
{
	uint8_t padding[101], packet[101];
	struct request r;
	unsigned taken = 0, taken_41 = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		size_t bytes = 14 + util_below(sizeof(packet) - 14);

		make_request(packet, bytes, NULL);
		assert_int_equal(packet_read_request(packet, bytes, &r), PACKET_GOOD);
		memset(padding, 0xff, sizeof(padding));
		make_request(packet, bytes, padding);
		assert_int_equal(packet_read_request(packet, bytes, &r), PACKET_GOOD);
		packet_probe(packet, (uint32_t)util_random(), (uint16_t)util_random(), (int64_t)util_random() / 2);
		assert_int_equal(packet_read_request(packet, STAMP_BASE_BYTES, &r), PACKET_GOOD);
	}
	for (int i = 0; i < 1000000; i++) {
		size_t bytes = 14 + util_below(sizeof(packet) - 14);

		util_random_bytes(padding, bytes);
		make_request(packet, bytes, padding);
		taken += packet_read_request(packet, bytes, &r) == PACKET_IS_REPLY;
		/* The shortest that could be a reply has only 16 bits that must be zero: one in 65536 is lost. */
		taken_41 += packet_read_request(packet, 41, &r) == PACKET_IS_REPLY && bytes >= 41;
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
	enum packet_verdict verdict = packet_read_reply(packet, length, &p);

	assert_int_equal(verdict == PACKET_GOOD, length >= 38 && packet[13] && packet[37]);
	if (verdict == PACKET_GOOD)
		packet_answers(packet, probe);
	verdict = packet_read_request(packet, length, &q);
	assert_int_equal(verdict == PACKET_MALFORMED, length < 14 || !packet[13]);
	if (verdict == PACKET_GOOD)
		answer_and_check(packet, length);
	free(packet);
}

static void fuzz(void **state)
{
	uint8_t bytes[300], probe[STAMP_BASE_BYTES];

	(void)state;
	packet_probe(probe, 1, 2, 3);
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
		cmocka_unit_test(vector_1_is_answered_with_vector_2),
		cmocka_unit_test(probe_octets),
		cmocka_unit_test(times_come_back_exactly),
		cmocka_unit_test(times_outside_the_era_come_back_modulo_it),
		cmocka_unit_test(octets_of_times_before_1970),
		cmocka_unit_test(requests_of_every_length),
		cmocka_unit_test(replies_of_every_length),
		cmocka_unit_test(a_multiplier_of_0_is_malformed),
		cmocka_unit_test(each_side_has_its_own_format),
		cmocka_unit_test(an_answer_has_every_bit_of_its_probe),
		cmocka_unit_test(tlvs_are_answered),
		cmocka_unit_test(an_unknown_malformed_tlv_has_both_flags),
		cmocka_unit_test(as_many_tlvs_as_udp_can_carry),
		cmocka_unit_test(replies_are_recognised),
		cmocka_unit_test(replies_with_ttl_0_are_recognised),
		cmocka_unit_test(replies_with_t2_of_0_are_recognised),
		cmocka_unit_test(requests_are_not_taken_for_replies),
		cmocka_unit_test(fuzz),
	};

	util_seed();
	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}
