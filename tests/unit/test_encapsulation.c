/* build: sources= libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* PTP encapsulation of a STAMP packet: octet by octet by IEEE 1588, and rejected contents. */
#include "wire/encapsulation.h"

#include "util.h"

static const uint8_t identity[8] = { 0x02, 0xfe, 0x00, 0xff, 0xfe, 0x10, 0x0a, 0xff };
static const uint8_t packet[4] = { 0x12, 0x34, 0x56, 0x78 };
static struct encapsulation emitter, reflector;

static void begin(uint8_t type)
{
	encapsulation_prepare(&emitter, type, 127, false, identity);
	encapsulation_prepare(&reflector, PTP_DELAY_REQ, 127, true, identity);
}

/* A packet of this length, encapsulated by `from`, is received by `to` in a message of that length. */
static size_t pass(struct encapsulation *from, struct encapsulation *to, size_t packet_bytes, size_t bytes)
{
	encapsulation_seal(from, packet, packet_bytes);
	memcpy(to->received, from->sent, ENCAPSULATION_BYTES);
	return encapsulation_open(to, bytes);
}

static void octet_by_octet(void **state)
{
	static const uint8_t delay_req[ENCAPSULATION_BYTES] = {
		0x01, 0x02, 0, 48 + 44, 127, 0, 0x04, 0x00, /* type, version, length, domain, unicast */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* correctionField, messageTypeSpecific */
		0x02, 0xfe, 0x00, 0xff, 0xfe, 0x10, 0x0a, 0xff, 0, 1, /* sourcePortIdentity */
		0x56, 0x78, 1, 0x7f, /* sequenceId, controlField, logMessageInterval */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* originTimestamp */
		0x20, 0x24, 0, 44,
	};
	uint8_t expected[ENCAPSULATION_BYTES];

	(void)state;
	begin(PTP_DELAY_REQ);
	encapsulation_seal(&emitter, packet, 44);
	assert_memory_equal(emitter.sent, delay_req, ENCAPSULATION_BYTES);

	memcpy(expected, delay_req, sizeof(expected));
	expected[45] = 0x25;
	encapsulation_seal(&reflector, packet, 44);
	assert_memory_equal(reflector.sent, expected, ENCAPSULATION_BYTES);

	begin(PTP_SYNC);
	memcpy(expected, delay_req, sizeof(expected));
	expected[0] = expected[32] = 0;
	expected[6] = 0x06; /* two steps: the time in it is none */
	encapsulation_seal(&emitter, packet, 44);
	assert_memory_equal(emitter.sent, expected, ENCAPSULATION_BYTES);
}

static void lengths(void **state)
{
	(void)state;
	begin(PTP_DELAY_REQ);
	for (size_t inside = 2; inside <= 65534 - ENCAPSULATION_BYTES; inside += 2)
		assert_int_equal(pass(&emitter, &reflector, inside, inside + ENCAPSULATION_BYTES), inside);
	assert_int_equal(pass(&emitter, &reflector, 44, 44 + ENCAPSULATION_BYTES + 7), 44); /* padding of the link */
	assert_int_equal(pass(&emitter, &reflector, 44, 44 + ENCAPSULATION_BYTES - 1), 0);
	assert_int_equal(pass(&emitter, &reflector, 44, ENCAPSULATION_BYTES), 0);
	assert_int_equal(pass(&emitter, &reflector, 44, 0), 0);
	assert_int_equal(pass(&emitter, &reflector, 45, 45 + ENCAPSULATION_BYTES), 0);
	assert_int_equal(pass(&emitter, &reflector, 0, ENCAPSULATION_BYTES), 0);
	/* A length that has wrapped round. */
	assert_int_equal(pass(&emitter, &reflector, 65536 - ENCAPSULATION_BYTES, 65536), 0);
}

/* A good message with this octet changed. */
static size_t spoilt(size_t at, uint8_t value)
{
	pass(&emitter, &reflector, 44, 92);
	reflector.received[at] = value;
	return encapsulation_open(&reflector, 92);
}

static void each_field_that_is_looked_at(void **state)
{
	static const struct {
		size_t at;
		uint8_t bad;
	} fields[] = { { 0, 2 }, { 0, 0x11 }, { 1, 1 }, { 1, 3 }, { 2, 1 }, { 3, 91 }, { 3, 93 }, { 4, 126 }, { 4, 0 },
		       { 44, 0 }, { 45, 0x23 },
		       { 45, 0x25 }, { 46, 1 }, { 47, 43 }, { 47, 42 } };

	(void)state;
	begin(PTP_DELAY_REQ);
	for (size_t i = 0; i < COUNT_OF(fields); i++)
		if (spoilt(fields[i].at, fields[i].bad))
			fail_msg("octet %zu is %u, and nobody minds", fields[i].at, fields[i].bad);
	/* PTP of 2019 has a minor version; devices on the path change flags and the correction. */
	assert_int_equal(spoilt(1, 0x12), 44);
	assert_int_equal(spoilt(6, 0xff), 44);
	assert_int_equal(spoilt(15, 0xff), 44);
}

static void who_answers_whom(void **state)
{
	static struct encapsulation other;

	(void)state;
	for (uint8_t type = PTP_SYNC; type <= PTP_DELAY_REQ; type++) {
		begin(type);
		assert_int_equal(pass(&emitter, &reflector, 44, 92), 44);
		/* In the same kind, so that the same NIC filter timestamps it. */
		assert_int_equal(pass(&reflector, &emitter, 44, 92), 44);
		assert_int_equal(emitter.received[0], type);
		assert_int_equal(emitter.received[32], type);
		assert_int_equal(emitter.received[6], type == PTP_SYNC ? 6 : 4);
	}
	/* Neither a reflector a reflector, nor an emitter an emitter. */
	encapsulation_prepare(&other, PTP_DELAY_REQ, 127, true, identity);
	assert_int_equal(pass(&other, &reflector, 44, 92), 0);
	begin(PTP_DELAY_REQ);
	other = emitter;
	assert_int_equal(pass(&other, &emitter, 44, 92), 0);
	/* A reply of the other type is to nothing of ours. */
	begin(PTP_SYNC);
	assert_int_equal(pass(&reflector, &emitter, 44, 92), 0);
}

/* For any input: the length is within the received octets, and only a good message is accepted. */
static void anything(void **state)
{
	(void)state;
	begin(PTP_DELAY_REQ);
	for (int i = 0; i < 200000; i++) {
		size_t bytes = util_random() % 200, inside;

		encapsulation_seal(&emitter, packet, 2 * (util_random() % 80));
		memcpy(reflector.received, emitter.sent, ENCAPSULATION_BYTES);
		for (uint64_t n = util_random() % 4; n; n--)
			reflector.received[util_random() % ENCAPSULATION_BYTES] = (uint8_t)util_random();
		inside = encapsulation_open(&reflector, bytes);
		assert_true(!inside || inside + ENCAPSULATION_BYTES <= bytes);
		assert_true(reflector.sent[0] <= PTP_DELAY_REQ);
		assert_int_equal(get16(reflector.sent + ENCAPSULATION_AT_TLV), ENCAPSULATION_REPLY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(octet_by_octet), cmocka_unit_test(lengths),
			cmocka_unit_test(each_field_that_is_looked_at),
		cmocka_unit_test(who_answers_whom), cmocka_unit_test(anything),
	};

	util_seed();
	return cmocka_run_group_tests_name("encapsulation", tests, NULL, NULL);
}
