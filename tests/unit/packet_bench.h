/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by test_packet.c and test_tlv.c, each after the tested .c: independently computed vectors (V1 to
 * V5), the two kinds of packet with their keys, and the expected base.
 */
#ifndef PACKET_BENCH_H
#define PACKET_BENCH_H

#include "wire/hmac.h"
#include "wire/packet.h"
#include "reply.h"

#include "util.h"

#include <fcntl.h>

#define UDP_MAX_BYTES 65507

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

/* The two kinds of packet, from the RFC's figures and not from the table of the program. */
struct kind {
	bool keyed;
	size_t base, t1, estimate, ssid, t2, sender_seq, sender_t1, sender_estimate, ttl, end;
};

static const struct kind unauthenticated_kind = { false, 44, 4, 12, 14, 16, 24, 28, 36, 40, 44 };
static const struct kind authenticated_kind = { true, 112, 16, 24, 26, 32, 48, 64, 72, 80, 96 };

/* The key of the vectors; NULL without libnettle. */
static struct hmac *vector_hmac;

/* The key of the kind that the test runs with, and skips the test if there can be none. */
static inline const struct hmac *key_of(const struct kind *k)
{
	if (k->keyed && !vector_hmac) {
		print_message("built without libnettle\n");
		skip();
	}
	return k->keyed ? vector_hmac : NULL;
}

static inline int open_key(void **state)
{
	char path[] = "/tmp/test_packet_XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	(void)state;
	if (!hmac_library())
		return 0;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, vector_key, strlen(vector_key)), strlen(vector_key));
	close(fd);

	int error = hmac_open(&vector_hmac, path);

	unlink(path);
	return error;
}

static inline int close_key(void **state)
{
	(void)state;
	hmac_close(vector_hmac);
	return 0;
}

static inline void sign_base(uint8_t *packet, const struct kind *k)
{
	if (k->keyed)
		hmac_sign(vector_hmac, packet, 96, NULL, 0, packet + 96);
}

/* Contents of an answer that a test does not check. */
static const struct answer plain_answer = { .seq = 2, .t2_ns = 1, .t3_ns = 2, .ttl = 64, .software_bound_ns = -1 };

/* A probe without number and time. It fills its memory exactly, so that ASan detects an excess octet. */
static inline uint8_t *prepared(const struct packet_plan *plan)
{
	uint8_t *packet = malloc(packet_plan_bytes(plan));

	memset(packet, 0xff, packet_plan_bytes(plan));
	packet_prepare(packet, plan);
	return packet;
}

/* Checks a reply field by field against its request. */
static inline void check_base(const struct kind *k, const uint8_t *answered, const uint8_t *request, size_t bytes,
		       const struct answer *a)
{
	bool ptp = request[k->estimate] & 0x40;
	uint8_t expected[STAMP_AUTHENTICATED_BYTES] = { 0 };

	put32(expected, a->seq);
	put_ns(expected + k->t1, a->t3_ns, ptp);
	expected[k->estimate] = ptp ? 0x40 : 0;
	expected[k->estimate + 1] = 1;
	if (bytes >= k->base)
		memcpy(expected + k->ssid, request + k->ssid, 2);
	put_ns(expected + k->t2, a->t2_ns, ptp);
	memcpy(expected + k->sender_seq, request, 4);
	memcpy(expected + k->sender_t1, request + k->t1, 8);
	memcpy(expected + k->sender_estimate, request + k->estimate, 2);
	expected[k->ttl] = a->ttl;
	if (vector_hmac)
		sign_base(expected, k);
	assert_memory_equal(answered, expected, k->base);
}

/* Without TLVs all their values are empty, whatever the earlier contents. */
static inline void assert_nothing_reported(const struct reply *r)
{
	assert_int_equal(r->t2_method, PACKET_METHOD_NONE);
	assert_int_equal(r->t3_method, PACKET_METHOD_NONE);
	assert_false(r->follow_up_reported);
	assert_int_equal(r->follow_up_method, PACKET_METHOD_NONE);
	assert_int_equal(r->follow_up_seq, 0);
	assert_int_equal(r->follow_up_ns, 0);
	assert_false(r->class_reported);
	assert_int_equal(r->dscp, 0);
	assert_int_equal(r->ecn, 0);
	assert_false(r->reverse_dscp_refused);
	assert_false(r->software_reported);
	assert_int_equal(r->wire_source, SOURCE_NONE);
	assert_false(r->t2_user_known);
	assert_int_equal(r->t2_user_ns, 0);
	assert_int_equal(r->software_bound_ns, -1);
	assert_int_equal(r->follow_ups, 0);
}

/* A test for each kind of packet. */
#define BOTH_KINDS(test) \
	{ #test ", unauthenticated", test, NULL, NULL, (void *)&unauthenticated_kind }, \
	{ #test ", authenticated", test, NULL, NULL, (void *)&authenticated_kind }

#endif
