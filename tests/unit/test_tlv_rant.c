/* build: wraps= sources=wire/tlv.c,wire/packet.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Contents of the rant TLVs, against docs/protocol.md. */
#include "wire/tlv_rant.c"

#include "tlv_bench.h"

/* ---- That arrive at a reflector ---------------------------------------------------------------------------------- */

static void t2_user_unknown(struct answer *a)
{
	a->t2_user_known = false;
}

static void not_on_scale(struct answer *a)
{
	a->software_bound_ns = -1;
}

static void clock_in_doubt(struct answer *a)
{
	a->clock_doubted = true;
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

static void some_discarded(struct answer *a)
{
	a->discarded = 0x123abcd;
	a->discard_reasons = DISCARD_OVER_RATE | DISCARD_REFUSED | DISCARD_UNREAD;
}

static void no_session(struct answer *a)
{
	a->stateless = true;
}

static void no_departures(struct answer *a)
{
	a->follow_ups = 0;
	a->follow_up = NULL;
}

static void no_gap(struct answer *a)
{
	a->poll_gap_ns = 0;
}

static void kernel_time(struct answer *a)
{
	a->t2_kernel_known = true;
	a->t2_kernel_ns = VECTOR_T1_NS;
}

static void nothing_frozen(struct answer *a)
{
	a->freeze = (struct packet_freeze){ .flags = 0 };
}

static void freeze_refused(struct answer *a)
{
	a->freeze = (struct packet_freeze){ .flags = FREEZE_REFUSED, .seq = 4711 };
}

#define ANSWERED_FREEZE "00f40010 52414e54 41000000 00001267 00000023"
#define ANSWERED_RECEIPT_KERNEL "00f20010 52414e54 0004a90b e8fe6f80 1f9add37"
#define ANSWERED_RECEIPT "00f20008 52414e54 0004a90b"
#define ASK_RECEIPT_UNKNOWN "00f20008 52414e54 00000000"
#define ANSWERED_DEPARTURE "00f30014 52414e54 00000007 03000000 00000384 000004b0"
#define ENTRY_7 "00000007 01000000 e8fe6f801f9add37"
#define ENTRY_5 "00000005 02000000 e8fe6f801f9a8954"
#define ANSWERED_FOLLOW_UPS "00f10034 52414e54" ENTRY_7 ENTRY_5 ENTRY_0
#define ANSWERED_RANT "00f00014 52414e54 d0 03 0000 11223344 e8fe6f801f9add37"

static const struct tlv_row rows[] = {
	/* Our own. */
	{ .name = "ours", .request = ASK_SOFTWARE, .reply = ANSWERED_RANT },
	{ .name = "ours, content is ignored", .request = "80f00014 52414e54 a1a2a3a4a5a6a7a8a9aaabacadaeafa0",
	  .reply = ANSWERED_RANT },
	{ .name = "ours in PTP format", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 d0 03 0000 11223344 6553f100075bcd15", .ptp = true },
	{ .name = "ours, T2 of user space not known", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 50 03 0000 11223344 0000000000000000", .adjust = t2_user_unknown },
	{ .name = "ours, not on the scale", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 90 03 0000 00000000 e8fe6f801f9add37", .adjust = not_on_scale },
	{ .name = "ours, the clock in doubt", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 f0 03 0000 11223344 e8fe6f801f9add37", .adjust = clock_in_doubt },
	{ .name = "ours, bound 0", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 d0 03 0000 00000000 e8fe6f801f9add37", .adjust = bound_0 },
	{ .name = "ours, largest bound", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 d0 03 0000 fffffffe e8fe6f801f9add37", .adjust = bound_largest },
	{ .name = "ours, bound past the largest", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 d0 03 0000 ffffffff e8fe6f801f9add37", .adjust = bound_too_large },
	{ .name = "ours, of a session with requests that were not answered", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 de 03 abcd 11223344 e8fe6f801f9add37", .adjust = some_discarded },
	{ .name = "ours, without a session", .request = ASK_SOFTWARE,
	  .reply = "00f00014 52414e54 d1 03 0000 11223344 e8fe6f801f9add37", .adjust = no_session },
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
	{ .name = "of an unknown owner, cut off", .request = "80f00014 52414e", .reply = "c0f00014 52414e",
	  .malformed = true },
	{ .name = "ours, cut off", .request = "80f00014 52414e54", .reply = "40f00014 52414e54", .malformed = true },
	/* Our second. */
	{ .name = "follow-ups", .request = ASK_FOLLOW_UPS_3, .reply = ANSWERED_FOLLOW_UPS },
	{ .name = "follow-ups, content is ignored", .reply = "00f10024 52414e54" ENTRY_7 ENTRY_5,
	  .request = "fff10024 52414e54 a1a2a3a4a5a6a7a8a9aaabacadaeafa0 b1b2b3b4b5b6b7b8b9babbbcbdbebfb0" },
	{ .name = "follow-ups in PTP format", .request = ASK_FOLLOW_UPS_1,
	  .reply = "00f10014 52414e54 00000007 01000000 6553f100075bcd15", .ptp = true },
	{ .name = "follow-ups, one is asked for", .request = ASK_FOLLOW_UPS_1, .reply = "00f10014 52414e54" ENTRY_7 },
	{ .name = "follow-ups, as many as can be", .request = ASK_FOLLOW_UPS_6,
	  .reply = "00f10064 52414e54" ENTRY_7 ENTRY_5 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 },
	{ .name = "follow-ups, none is known", .reply = "00f10014 52414e54" ENTRY_0, .adjust = no_departures,
	  .request = "80f10014 52414e54 a1a2a3a4a5a6a7a8a9aaabacadaeafa0" },
	{ .name = "follow-ups, one too many", .request =
	  "80f10074 52414e54" ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0,
	  .reply = "40f10074 52414e54" ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0, .malformed = true },
	{ .name = "follow-ups, 1 too short", .request = "80f10013 52414e54 000000000000000000000000000000",
	  .reply = "40f10013 52414e54 000000000000000000000000000000", .malformed = true },
	{ .name = "follow-ups, 1 too long", .request = "80f10015 52414e54" ENTRY_0 "00 80030004 00000000",
	  .reply = "40f10015 52414e54" ENTRY_0 "00 80030004 00000000", .malformed = true },
	{ .name = "follow-ups, one and a half", .request = "80f1001c 52414e54" ENTRY_0 "0000000000000000",
	  .reply = "40f1001c 52414e54" ENTRY_0 "0000000000000000", .malformed = true },
	{ .name = "follow-ups, nothing but the magic", .request = "80f10004 52414e54", .reply = "40f10004 52414e54",
	  .malformed = true },
	{ .name = "follow-ups cut off", .request = "80f10014 52414e54 00", .reply = "40f10014 52414e54 00",
	  .malformed = true },
	{ .name = "no follow-ups of ours", .request = "80f10014 52414e55" ENTRY_0,
	  .reply = "80f10014 52414e55" ENTRY_0 },
	{ .name = "no follow-ups of ours, of another length", .request = "00f10005 52414e55 00",
	  .reply = "80f10005 52414e55 00" },
	{ .name = "no follow-ups of ours, too short for a magic", .request = "80f10003 52414e",
	  .reply = "80f10003 52414e" },
	/* Our third. */
	{ .name = "receipt", .request = ASK_RECEIPT, .reply = ANSWERED_RECEIPT },
	{ .name = "receipt, content is ignored", .request = "80f20008 52414e54 a1a2a3a4", .reply = ANSWERED_RECEIPT },
	{ .name = "receipt, not known", .request = ASK_RECEIPT, .reply = ASK_RECEIPT_UNKNOWN, .adjust = no_gap },
	{ .name = "receipt, with fields of a later version", .request = "80f2000c 52414e54 00000000 a1a2a3a4",
	  .reply = "00f2000c 52414e54 0004a90b 00000000" },
	{ .name = "receipt with the kernel's time", .request = ASK_RECEIPT_KERNEL, .reply = ANSWERED_RECEIPT_KERNEL,
	  .adjust = kernel_time },
	{ .name = "receipt without the kernel's time", .request = ASK_RECEIPT_KERNEL,
	  .reply = "00f20010 52414e54 0004a90b 00000000 00000000" },
	{ .name = "receipt with the kernel's time and no room for it", .request = ASK_RECEIPT, .reply = ANSWERED_RECEIPT,
	  .adjust = kernel_time },
	{ .name = "receipt, 1 too short", .request = "80f20007 52414e54 000000", .reply = "40f20007 52414e54 000000",
	  .malformed = true },
	{ .name = "receipt, too long", .request = "80f20044 52414e54" ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0,
	  .reply = "40f20044 52414e54" ENTRY_0 ENTRY_0 ENTRY_0 ENTRY_0, .malformed = true },
	{ .name = "receipt, cut off", .request = "80f20008 52414e54 0000", .reply = "40f20008 52414e54 0000",
	  .malformed = true },
	/* Our fourth. Reply 5 has none of the kernel's times, so it has no entry. */
	{ .name = "departure", .request = ASK_DEPARTURE_1, .reply = ANSWERED_DEPARTURE },
	{ .name = "departures, more room than replies", .request = "80f30024 52414e54 00000000 00000000 00000040 00000000" ENTRY_0,
	  .reply = "00f30024 52414e54 00000007 03000000 00000384 000004b0" ENTRY_0 },
	{ .name = "departure, no times", .request = ASK_DEPARTURE_1, .reply = "00f30014 52414e54" ENTRY_0,
	  .adjust = no_departures },
	{ .name = "departure, 1 too long", .request = "80f30015 52414e54" ENTRY_0 "00",
	  .reply = "40f30015 52414e54" ENTRY_0 "00", .malformed = true },
	{ .name = "departure, nothing but the magic", .request = "80f30004 52414e54", .reply = "40f30004 52414e54",
	  .malformed = true },
	{ .name = "departure, cut off", .request = "80f30014 52414e54 0000", .reply = "40f30014 52414e54 0000",
	  .malformed = true },
	/* Our fifth. */
	{ .name = "freeze", .request = ASK_FREEZE_4711, .reply = ANSWERED_FREEZE },
	{ .name = "freeze, nothing is asked", .request = ASK_NO_FREEZE, .reply = "00f40010 52414e54 01000000 00000000 00000000",
	  .adjust = nothing_frozen },
	{ .name = "freeze, reserved octets are cleared", .request = "80f40010 52414e54 ffffffff ffffffff ffffffff",
	  .reply = ANSWERED_FREEZE },
	{ .name = "freeze, refused", .request = ASK_FREEZE_4711, .reply = "00f40010 52414e54 21000000 00001267 00000000",
	  .adjust = freeze_refused },
	{ .name = "freeze, 1 too short", .request = "80f4000f 52414e54 80000000 00001267 000000",
	  .reply = "40f4000f 52414e54 80000000 00001267 000000", .malformed = true },
	{ .name = "freeze, 1 too long", .request = "80f40011 52414e54 80000000 00001267 00000000 00",
	  .reply = "40f40011 52414e54 80000000 00001267 00000000 00", .malformed = true },
	{ .name = "freeze, nothing but the magic", .request = "80f40004 52414e54", .reply = "40f40004 52414e54",
	  .malformed = true },
	{ .name = "freeze, cut off", .request = "80f40010 52414e54 80", .reply = "40f40010 52414e54 80", .malformed = true },
	{ .name = "no freeze of ours", .request = "80f40010 52414e55 80000000 00001267 00000000",
	  .reply = "80f40010 52414e55 80000000 00001267 00000000" },
	{ .name = "no freeze of ours, too short for a magic", .request = "80f40003 52414e", .reply = "80f40003 52414e" },
	{ .name = "no departure of ours", .request = "80f30014 52414e55" ENTRY_0, .reply = "80f30014 52414e55" ENTRY_0 },
	{ .name = "no receipt of ours", .request = "80f20008 52414e55 00000000",
	  .reply = "80f20008 52414e55 00000000" },
};

static void ours_are_answered(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		check_tlvs(&rows[i]);
}

/* ---- That come back ---------------------------------------------------------------------------------------------- */

static void our_own_is_read(void **state)
{
	struct reply r = read_with(ANSWERED_RANT);

	(void)state;
	assert_true(r.software_reported);
	assert_true(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_HARDWARE);
	assert_true(r.t2_user_ns == VECTOR_T1_NS);
	assert_true(r.software_bound_ns == 0x11223344);
	assert_false(r.clock_doubted);
	r = read_with("00f00014 52414e54 20 03 0000 00000000 0000000000000000");
	assert_true(r.clock_doubted);
	r = read_with("00f00014 52414e54 40 02 ffff 00000000 e8fe6f801f9add37");
	assert_true(r.software_reported);
	assert_false(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_KERNEL);
	assert_true(r.t2_user_ns == 0);
	assert_true(r.software_bound_ns == 0);
	r = read_with("00f00014 52414e54 80 04 0000 00000005 e8fe6f801f9add37");
	assert_true(r.t2_user_known);
	assert_int_equal(r.wire_source, SOURCE_NONE);
	assert_true(r.software_bound_ns == -1);
	/* T2 of its NIC and follow-ups of its kernel, on that scale. */
	r = read_with("00f00014 52414e54 40 05 0000 00000005 0000000000000000");
	assert_int_equal(r.wire_source, SOURCE_RECEIVE);
	assert_true(r.software_bound_ns == 5);
	r = read_with("00f00014 52414e54 40 06 0000 00000005 0000000000000000");
	assert_int_equal(r.wire_source, SOURCE_NONE);
	/* The largest number stands for all that do not fit, and bounds nothing. */
	r = read_with("00f00014 52414e54 d0 03 0000 ffffffff e8fe6f801f9add37");
	assert_true(r.software_bound_ns == -1);
	r = read_with("00f00014 52414e54 d0 03 0000 fffffffe e8fe6f801f9add37");
	assert_true(r.software_bound_ns == UINT32_MAX - 1LL);
	r = read_with("00f00014 52414e54 5f 02 abcd 00000000 0000000000000000");
	assert_true(r.discards_reported && r.stateless);
	assert_int_equal(r.discarded, 0xabcd);
	assert_int_equal(r.discard_reasons, DISCARD_OVER_RATE | DISCARD_REFUSED | DISCARD_UNREAD);
	r = read_with("00f00014 52414e54 4e 02 abcd 00000000 0000000000000000");
	assert_false(r.discards_reported || r.discard_reasons);
	/* Requested, and returned unchanged with U clear. */
	r = read_with("00f00014 52414e54 00 00 0000 00000000 0000000000000000");
	assert_nothing_reported(&r);
	r = read_with("00f00014 52414e54 80 00 0000 00000000 0000000000000000");
	assert_nothing_reported(&r);
	r = read_with("00f00014 52414e54 20 00 0000 00000000 0000000000000000");
	assert_true(r.software_reported && r.clock_doubted);
	r = read_with("00f00014 52414e55 c0 03 0000 00000005 e8fe6f801f9add37");
	assert_nothing_reported(&r);
}

static void our_departures_are_read(void **state)
{
	struct reply r = read_with(ANSWERED_DEPARTURE);

	(void)state;
	assert_int_equal(r.departures, 1);
	assert_int_equal(r.departure[0].seq, 7);
	assert_int_equal(r.departure[0].kernel, PACKET_KERNEL_QUEUE | PACKET_KERNEL_DRIVER);
	assert_int_equal(r.departure[0].queue_ns, 900);
	assert_int_equal(r.departure[0].driver_ns, 1200);
	/* One of two times; unknown flags; a reply without times between others. */
	r = read_with("00f30034 52414e54 00000009 fd000000 00000001 ffffffff" ENTRY_0
		      "00000003 02000000 00000000 ffffffff");
	assert_int_equal(r.departures, 2);
	assert_int_equal(r.departure[0].kernel, PACKET_KERNEL_QUEUE);
	assert_int_equal(r.departure[1].seq, 3);
	assert_int_equal(r.departure[1].kernel, PACKET_KERNEL_DRIVER);
	assert_int_equal(r.departure[1].driver_ns, UINT32_MAX);
	/* The unchanged request with U clear, or set; of another experiment. */
	r = read_with("00f30014 52414e54 00000000 00000000 00000001 00000000");
	assert_int_equal(r.departures, 0);
	r = read_with("80f30014 52414e54 00000007 03000000 00000384 000004b0");
	assert_int_equal(r.departures, 0);
	r = read_with("00f30014 52414e55 00000007 03000000 00000384 000004b0");
	assert_int_equal(r.departures, 0);
}

static void our_freeze_is_read(void **state)
{
	struct reply r = read_with(ANSWERED_FREEZE);

	(void)state;
	assert_true(r.freeze.present);
	assert_int_equal(r.freeze.flags, FREEZE_FROZEN | FREEZE_ANSWER);
	assert_int_equal(r.freeze.seq, 4711);
	assert_int_equal(r.freeze.age_us, 35);
	r = read_with("00f40010 52414e54 ff123456 ffffffff ffffffff");
	assert_true(r.freeze.present);
	assert_int_equal(r.freeze.seq, UINT32_MAX);
	assert_int_equal(r.freeze.age_us, UINT32_MAX);
	/* The unchanged request with U clear, or set; of another experiment; malformed. */
	r = read_with("00f40010 52414e54 80000000 00001267 000000d6");
	assert_false(r.freeze.present);
	r = read_with("80f40010 52414e54 41000000 00001267 000000d6");
	assert_false(r.freeze.present);
	r = read_with("00f40010 52414e55 41000000 00001267 000000d6");
	assert_false(r.freeze.present);
	r = read_with("00f4000f 52414e54 41000000 00001267 0000d6");
	assert_true(r.tlv_malformed && !r.freeze.present);
	/* Its HMAC is wrong: a reflector sets I in any TLV. */
	r = read_with(ANSWERED_FREEZE "20c80000");
	assert_true(r.tlv_integrity && !r.freeze.present);
}

static void a_freeze_is_asked_for(void **state)
{
	static const struct packet_plan plans[] = {
		{ .freeze = true },
		{ .freeze = true, .stages = true, .software = true, .t2_user = true, .follow_ups = 2, .kernel_every = 1,
		  .class_of_service = true },
	};
	const struct packet_freeze asked = { .flags = FREEZE_ASKED, .seq = 4711, .age_us = 214 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(plans); i++) {
		const size_t bytes = packet_plan_bytes(&plans[i]);
		uint8_t *packet = prepared(&plans[i]);
		struct request r;

		packet_probe(packet, &plans[i], 7, VECTOR_T1_NS);
		assert_int_equal(packet_read_request(packet, bytes, NULL, &r), PACKET_GOOD);
		assert_true(r.freeze.present && r.is_rant);
		assert_int_equal(r.freeze.flags, 0);
		packet_freeze_probe(packet, &plans[i], &asked);
		assert_int_equal(packet_read_request(packet, bytes, NULL, &r), PACKET_GOOD);
		assert_true(r.freeze.present);
		assert_int_equal(r.freeze.flags, FREEZE_ASKED);
		assert_int_equal(r.freeze.seq, 4711);
		assert_int_equal(r.freeze.age_us, 214);
		packet_freeze_probe(packet, &plans[i], &(struct packet_freeze){ .flags = 0 });
		assert_int_equal(packet_read_request(packet, bytes, NULL, &r), PACKET_GOOD);
		assert_int_equal(r.freeze.flags | r.freeze.seq | r.freeze.age_us, 0);
		free(packet);
	}
	/* Not of a malformed TLV, nor of another experiment. */
	for (int i = 0; i < 2; i++) {
		uint8_t packet[STAMP_BASE_BYTES + 20];
		struct request r;

		util_hex(packet, STAMP_BASE_BYTES, vector_1);
		util_hex(packet + STAMP_BASE_BYTES, 20, i ? "80f4000f 52414e54 80000000 00001267 000000d6" :
			 "80f40010 52414e55 80000000 00001267 000000d6");
		assert_int_equal(packet_read_request(packet, sizeof(packet), NULL, &r), PACKET_GOOD);
		assert_false(r.freeze.present);
	}
}

#define ANSWERED_CAUSE "00f50040 52414e54 02050161 00001267 00010000 000000000007d000 0000000000079a18 " \
	"54494d45 52000000 0000000000000000 0000000000000000 0000000000000000"

static const struct packet_cause softirq = {
	.state = PACKET_CAUSE_KNOWN, .seq = 4711, .class = 5, .stage = 1, .percent = 97, .cpu = 1, .stage_ns = 512000,
	.ns = 498200, .name = "TIMER",
};

static void assert_answers_cause(const char *request, const struct packet_cause *c, const char *expected)
{
	uint8_t packet[STAMP_BASE_BYTES + 68], wanted[68];
	const struct answer a = { .cause = c };
	bool malformed;

	util_hex(packet, STAMP_BASE_BYTES, vector_1);
	util_hex(packet + STAMP_BASE_BYTES, sizeof(wanted), request);
	util_hex(wanted, sizeof(wanted), expected);
	assert_int_equal(packet_reply(packet, sizeof(packet), NULL, &a, &malformed), sizeof(packet));
	assert_false(malformed);
	assert_memory_equal(packet + STAMP_BASE_BYTES, wanted, sizeof(wanted));
}

static void our_cause_is_answered(void **state)
{
	const struct packet_cause pending = { .state = PACKET_CAUSE_PENDING, .seq = 4711, .class = 9, .name = "secret" };
	static const char garbage[] = "80f50040 52414e54 ffffffff ffffffff ffffffff ffffffffffffffff ffffffffffffffff "
		"ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff";

	(void)state;
	assert_answers_cause(garbage, &softirq, ANSWERED_CAUSE);
	/* Without a cause only the state. */
	assert_answers_cause(garbage, &pending, "00f50040 52414e54 01000000 00001267 00000000 0000000000000000 "
			     "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000");
	assert_answers_cause(garbage, NULL, "00" "f50040 52414e54 00000000 00000000 00000000 0000000000000000 "
			     "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000");
}

static void our_cause_is_read(void **state)
{
	static const char full[] = "00f50040 52414e54 02ffffff ffffffff ffffffff ffffffffffffffff ffffffffffffffff "
		"ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff";
	struct reply r = read_with(ANSWERED_CAUSE);

	(void)state;
	assert_int_equal(r.cause.state, PACKET_CAUSE_KNOWN);
	assert_int_equal(r.cause.seq, 4711);
	assert_int_equal(r.cause.class, 5);
	assert_int_equal(r.cause.stage, 1);
	assert_int_equal(r.cause.percent, 97);
	assert_int_equal(r.cause.cpu, 1);
	assert_int_equal(r.cause.stage_ns, 512000);
	assert_int_equal(r.cause.ns, 498200);
	assert_string_equal(r.cause.name, "TIMER");
	r = read_with(full);
	assert_int_equal(r.cause.ns, -1);
	assert_int_equal(r.cause.name[PACKET_CAUSE_NAME_BYTES - 1], '\xff');
	/* The unchanged request; not known to the peer; an unknown state; of another experiment; malformed. */
	r = read_with("00f50040 52414e54 80" "000000 00001267" "00000000 0000000000000000 0000000000000000 "
		      "0000000000000000 0000000000000000 0000000000000000 0000000000000000");
	assert_int_equal(r.cause.state, PACKET_CAUSE_NONE);
	r = read_with("80" "f50040 52414e54 02050161 00001267 00010000 000000000007d000 0000000000079a18 "
		      "54494d45 52000000 0000000000000000 0000000000000000 0000000000000000");
	assert_int_equal(r.cause.state, PACKET_CAUSE_NONE);
	r = read_with("00f50040 52414e54 06050161 00001267 00010000 000000000007d000 0000000000079a18 "
		      "54494d45 52000000 0000000000000000 0000000000000000 0000000000000000");
	assert_int_equal(r.cause.state, PACKET_CAUSE_NONE);
	r = read_with("00f50040 52414e55 02050161 00001267 00010000 000000000007d000 0000000000079a18 "
		      "54494d45 52000000 0000000000000000 0000000000000000 0000000000000000");
	assert_int_equal(r.cause.state, PACKET_CAUSE_NONE);
	r = read_with("00f50008 52414e54 02050161");
	assert_true(r.tlv_malformed && r.cause.state == PACKET_CAUSE_NONE);
}

static void a_cause_is_asked_for(void **state)
{
	struct packet_plan plan = { .freeze = true, .stages = true, .class_of_service = true };

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint8_t *packet = prepared(&plan);
		struct request r;

		packet_probe(packet, &plan, 7, VECTOR_T1_NS);
		assert_int_equal(packet_read_request(packet, packet_plan_bytes(&plan), NULL, &r), PACKET_GOOD);
		assert_int_equal(r.wants_cause, i);
		assert_true(!i || r.cause_seq == 4711);
		assert_int_equal(r.freeze.flags, 0);
		free(packet);
		plan.cause = true;
		plan.cause_seq = 4711;
	}
}

static void our_receipt_is_read(void **state)
{
	struct reply r = read_with(ANSWERED_RECEIPT);

	(void)state;
	assert_int_equal(r.poll_gap_ns, 305419);
	r = read_with("00f2000c 52414e54 ffffffff 12345678");
	assert_int_equal(r.poll_gap_ns, UINT32_MAX);
	assert_false(r.t2_kernel_known);
	r = read_with(ANSWERED_RECEIPT_KERNEL);
	assert_true(r.t2_kernel_known);
	assert_int_equal(r.t2_kernel_ns, VECTOR_T1_NS);
	r = read_with("00f20010 52414e54 0004a90b 00000000 00000000");
	assert_false(r.t2_kernel_known);
	r = read_with("80f20010 52414e54 0004a90b e8fe6f80 1f9add37");
	assert_false(r.t2_kernel_known);
	/* Returned by a peer that does not know it, of another experiment, malformed. */
	r = read_with("80f20008 52414e54 0004a90b");
	assert_int_equal(r.poll_gap_ns, 0);
	r = read_with("00f20008 52414e55 0004a90b");
	assert_int_equal(r.poll_gap_ns, 0);
	r = read_with("00f20007 52414e54 0004a9");
	assert_true(r.tlv_malformed && !r.poll_gap_ns);
}

static void assert_departure(const struct packet_departure *d, uint32_t seq, uint8_t method, int64_t ns)
{
	assert_int_equal(d->seq, seq);
	assert_int_equal(d->method, method);
	assert_true(d->ns == ns);
}

static void our_follow_ups_are_read(void **state)
{
	struct reply r = read_with(ANSWERED_FOLLOW_UPS);

	(void)state;
	assert_int_equal(r.follow_ups, 2);
	assert_departure(&r.follow_up[0], 7, PACKET_METHOD_HARDWARE, VECTOR_T1_NS);
	assert_departure(&r.follow_up[1], 5, PACKET_METHOD_SOFTWARE, VECTOR_T1_NS - 5 * NS_PER_US);
	assert_false(r.follow_up_reported || r.software_reported || r.tlv_unrecognized || r.tlv_malformed);
	/* Invalid entries: no time, no method, an undefined method. The entries after them are used; each
	 * half of a time may be zero. */
	r = read_with("00f10064 52414e54 00000009 01000000 0000000000000000 00000008 00000000 e8fe6f801f9add37"
		      "00000007 04000000 e8fe6f801f9add37 00000006 ff000000 e8fe6f801f9add37"
		      "00000000 03ffffff e8fe6f8000000000 ffffffff 02000000 0000000000000005");
	assert_int_equal(r.follow_ups, 2);
	assert_departure(&r.follow_up[0], 0, PACKET_METHOD_CONTROL_PLANE, 1700000000 * NS_PER_S);
	assert_departure(&r.follow_up[1], UINT32_MAX, PACKET_METHOD_SOFTWARE, 2085978496 * NS_PER_S + 1);
	r = read_with("00f10064 52414e54" ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_5);
	assert_int_equal(r.follow_ups, FOLLOW_UPS_MAX);
	assert_departure(&r.follow_up[5], 5, PACKET_METHOD_SOFTWARE, VECTOR_T1_NS - 5 * NS_PER_US);
	/* None; of two TLVs the last. */
	r = read_with(ANSWERED_FOLLOW_UPS "00f10014 52414e54" ENTRY_0);
	assert_nothing_reported(&r);
	/* That are not used. */
	r = read_with("80f10014 52414e54" ENTRY_7);
	assert_nothing_reported(&r);
	assert_true(r.tlv_unrecognized);
	r = read_with("00f10014 52414e55" ENTRY_7);
	assert_nothing_reported(&r);
	r = read_with("40f10014 52414e54" ENTRY_7);
	assert_nothing_reported(&r);
	assert_true(r.tlv_malformed);
	r = read_with("00f1001c 52414e54" ENTRY_7 "0000000000000000");
	assert_nothing_reported(&r);
	assert_true(r.tlv_malformed);
	r = read_with("00f10074 52414e54" ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7 ENTRY_7);
	assert_nothing_reported(&r);
	assert_true(r.tlv_malformed);
	r = read_with(ANSWERED_FOLLOW_UPS "20c80000");
	assert_nothing_reported(&r);
	assert_true(r.tlv_integrity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours_are_answered),
		cmocka_unit_test(our_own_is_read), cmocka_unit_test(our_receipt_is_read),
		cmocka_unit_test(our_departures_are_read),
		cmocka_unit_test(our_cause_is_answered), cmocka_unit_test(our_cause_is_read),
		cmocka_unit_test(a_cause_is_asked_for), cmocka_unit_test(our_freeze_is_read), cmocka_unit_test(a_freeze_is_asked_for),
		cmocka_unit_test(our_follow_ups_are_read),
	};

	util_seed();
	return cmocka_run_group_tests_name("tlv_rant", tests, open_key, close_key);
}
