/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by test_tlv.c and test_tlv_rant.c, besides packet_bench.h: requests of probes, a full answer, TLVs
 * in both directions. */
#ifndef TLV_BENCH_H
#define TLV_BENCH_H

#include "wire/octets.h"
#include "packet_bench.h"

#define TLVS_MAX_BYTES 300

#define ASK_STAGES "80030004 00000000 80070010 00000000 000000000000000000000000"
#define ASK_SOFTWARE "80f00014 52414e54 00000000000000000000000000000000"
#define ASK_T2_USER "80f00014 52414e54 80000000000000000000000000000000"
#define ASK_RECEIPT "80f20008 52414e54 00000000"
#define ASK_RECEIPT_KERNEL "80f20010 52414e54 00000000 00000000 00000000"
#define ASK_CLASS_46 "80040004 b8000000"
#define ENTRY_0 "00000000 00000000 0000000000000000"
#define ASK_FOLLOW_UPS_1 "80f10014 52414e54" ENTRY_0
#define ASK_DEPARTURE_1 "80f30014 52414e54 00000000 00000000 00000001 00000000"
#define ASK_CAUSE_4711 "80f50040 52414e54 80000000 00001267 00000000 0000000000000000 0000000000000000 " \
	"0000000000000000 0000000000000000 0000000000000000 0000000000000000"
#define ASK_NO_FREEZE "80f40010 52414e54 00000000 00000000 00000000"
#define ASK_FREEZE_4711 "80f40010 52414e54 80000000 00001267 000000d6"
#define ASK_FOLLOW_UPS_3 "80f10034 52414e54" ENTRY_0 ENTRY_0 ENTRY_0
#define ASK_FOLLOW_UPS_6 "80f10064 52414e54" ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0

static const struct packet_departure departures[] = {
	{ 7, PACKET_METHOD_HARDWARE, VECTOR_T1_NS, 0x384, 0x4b0, PACKET_KERNEL_QUEUE | PACKET_KERNEL_DRIVER },
	{ .seq = 5, .method = PACKET_METHOD_SOFTWARE, .ns = VECTOR_T1_NS - 5 * NS_PER_US },
};

/* Answers of the rows. */
static const struct answer full_answer = {
	.seq = 2, .t2_ns = 1, .t3_ns = 2, .ttl = 64,
	.t2_method = PACKET_METHOD_HARDWARE, .t3_method = PACKET_METHOD_SOFTWARE, .sync_source = 5,
	.tos_known = true, .tos = 0xb9, /* DSCP 46, ECN 1 */
	.received = 0x01020304, .sent = 0x05060708,
	.follow_up_seq = 1, .follow_up_ns = VECTOR_T1_NS - 5 * NS_PER_US, .follow_up_method = PACKET_METHOD_HARDWARE,
	.wire_source = SOURCE_HARDWARE, .t2_user_known = true, .t2_user_ns = VECTOR_T1_NS,
	.software_bound_ns = 0x11223344, .poll_gap_ns = 305419,
	.follow_ups = COUNT_OF(departures), .follow_up = departures,
	.freeze = { .flags = FREEZE_FROZEN, .seq = 4711, .age_us = 35 },
};

struct tlv_row {
	const char *name, *request, *reply;
	bool malformed;
	void (*adjust)(struct answer *a);
	bool ptp;
};

static inline void check_tlvs(const struct tlv_row *row)
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

/* Reads V2 with these TLVs after it. */
static inline struct reply read_with(const char *tlvs)
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

#endif
