/* build: sources=wire/packet.c,wire/tlv.c,wire/tlv_rant.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The ICMP echo header: octet by octet, with the checksum of RFC 1071, and rejected replies. */
#include "wire/echo.h"

#include "wire/packet.h"

#include "util.h"

#define BYTES 48

static const uint8_t id[2] = { 0xbe, 0xef };
static const struct packet_plan plan = { .ssid = 0x1234, .bytes = BYTES };
static uint8_t probe[BYTES], came[BYTES];
static struct echo e;

/* The third probe of a run and its echo: the sent packet after the header of a reply. */
static size_t begin(bool ipv6, size_t before_bytes)
{
	uint8_t *header = e.received + before_bytes;

	echo_prepare(&e, ipv6, id, 64, before_bytes, before_bytes);
	packet_prepare(probe, &plan);
	packet_probe(probe, &plan, 0x10002, 1700000000123456789);
	echo_seal(&e, probe, BYTES);
	memcpy(came, probe, BYTES);
	*e.received = 0x45;
	memcpy(header, e.sent, ECHO_BYTES);
	header[0] = ipv6 ? 129 : 0;
	return before_bytes + ECHO_BYTES + BYTES;
}

static void octet_by_octet(void **state)
{
	(void)state;
	begin(false, 0);
	assert_memory_equal(e.sent, ((uint8_t[]){ 8, 0, 0, 0, 0xbe, 0xef, 0, 2 }), 8);
	begin(true, 0);
	assert_memory_equal(e.sent, ((uint8_t[]){ 128, 0, 0, 0, 0xbe, 0xef, 0, 2 }), 8);
}

/* The sum of all, the checksum in it, is 0xffff: of an even and of an odd number of octets, also where a carry brings
 * another. */
static void checksums(void **state)
{
	static uint8_t packet[65507];

	(void)state;
	for (size_t bytes = 44; bytes < sizeof(packet); bytes = bytes * 2 + 1) {
		memset(packet, 0xff, bytes);
		packet[3] = (uint8_t)bytes;
		echo_prepare(&e, false, id, 64, ECHO_BEFORE_BYTES, true);
		echo_seal(&e, packet, bytes);
		assert_int_equal(echo_fold(echo_sum(echo_sum(0, e.sent, ECHO_BYTES), packet, bytes)), 0);
		assert_int_not_equal(get16(e.sent + ECHO_AT_CHECKSUM), 0);
	}
	assert_int_equal(echo_fold(0x1ffff), 0xfffe); /* a carry that makes another */
	/* The example of RFC 1071 section 3. */
	assert_int_equal(echo_fold(echo_sum(0, (uint8_t[]){ 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7 }, 8)),
			 (uint16_t)~0xddf2);
}

/* The reply names its probe, and has no other contents. */
static void becomes_a_reply(void **state)
{
	struct reply r;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const size_t bytes = begin(i == 1, i == 2 ? ECHO_BEFORE_BYTES : 0);

		assert_int_equal(echo_open(&e, came, bytes), BYTES);
		assert_int_equal(packet_read_reply(came, BYTES, NULL, &r), PACKET_GOOD);
		assert_true(packet_answers(came, probe, NULL));
		assert_true(packet_has_t1(came, packet_t1(probe, NULL), NULL));
		assert_int_equal(r.sender_seq, 0x10002);
		assert_int_equal(r.seq, r.sender_seq);
		assert_int_equal(r.ssid, 0x1234);
		assert_int_equal(r.ttl, 64);
		assert_false(r.t2_known || r.t3_known);
		packet_read_tlvs(came, BYTES, NULL, &r);
		assert_false(r.follow_up_reported || r.software_reported || r.class_reported || r.tlv_malformed ||
			     r.follow_ups);
	}
}

/* Any changed octet is rejected, except T1, numbers at both positions (checked by the loop), and ignored
 * fields: the checksum, which the kernel verified, and the IPv4 header after its first octet. */
static void altered(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		const size_t before = i == 2 ? ECHO_BEFORE_BYTES : 0, all = begin(i == 1, before);

		for (size_t at = 0; at < all; at++) {
			uint8_t *octet = at < before + ECHO_BYTES ? &e.received[at] : &came[at - before - ECHO_BYTES];
			const size_t packet_at = at - before - ECHO_BYTES;
			const bool looked_at = at < before ? at == 0 : at < before + ECHO_BYTES ? at - before < 2 ||
					       at - before > 3 :
								       (packet_at > 1 && packet_at < 4) ||
									       packet_at >= 12;

			begin(i == 1, before);
			*octet ^= 0x10;
			assert_int_equal(echo_open(&e, came, all), looked_at ? 0 : BYTES);
		}
		begin(i == 1, before);
		assert_int_equal(echo_open(&e, came, all - 1), 0);
		assert_int_equal(echo_open(&e, came, all + 1), 0);
		assert_int_equal(echo_open(&e, came, 0), 0);
	}
}

/* Before the first send every reply is rejected. */
static void too_early(void **state)
{
	(void)state;
	echo_prepare(&e, false, id, 64, 0, false);
	assert_int_equal(echo_open(&e, came, ECHO_BYTES), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(octet_by_octet), cmocka_unit_test(checksums), cmocka_unit_test(becomes_a_reply),
			cmocka_unit_test(altered),
		cmocka_unit_test(too_early),
	};

	return cmocka_run_group_tests_name("echo", tests, NULL, NULL);
}
