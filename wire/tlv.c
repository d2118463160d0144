// SPDX-License-Identifier: GPL-2.0-or-later
/* TLVs of RFC 8972 section 4 and the rant TLVs (tlv_rant.c): written, answered, read and signed (hot). */
#include "wire/tlv.h"

#include "wire/hmac.h"
#include "wire/octets.h"
#include "wire/tlv_rant.h"

#include <string.h>

#define TLV_UNRECOGNIZED 0x80
#define TLV_MALFORMED 0x40
#define TLV_INTEGRITY 0x20

enum {
	TLV_EXTRA_PADDING = 1,
	TLV_TIMESTAMP_INFORMATION = 3,
	TLV_CLASS_OF_SERVICE = 4,
	TLV_DIRECT_MEASUREMENT = 5,
	TLV_FOLLOW_UP = 7,
	TLV_HMAC = 8,
};

/* Lengths of fixed-size values, or of their fixed begin. */
#define TIMESTAMP_INFORMATION_BYTES 4 /* without its sub-TLVs */
#define CLASS_OF_SERVICE_BYTES 4
#define DIRECT_MEASUREMENT_BYTES 12
#define FOLLOW_UP_BYTES 16
#define FOLLOW_UP_KNOWN_BYTES 12 /* sequence number and timestamp */

/* ---- Answers of each TLV type, and their contents ---------------------------------------------------------------- */

/* Fills the value; false: it cannot be answered. */
typedef bool answer_tlv(uint8_t *value, const struct tlv_answering *with);

/* Copies the value of a reply's TLV into *r. */
typedef void read_tlv(const uint8_t *value, bool ptp, struct reply *r);

static bool answer_with_itself(uint8_t *value, const struct tlv_answering *with)
{
	(void)value;
	(void)with;
	return true;
}

/* RFC 8972 section 4.3. Sub-TLVs after the four octets are not supported and keep their U flags. */
static bool answer_timestamp_information(uint8_t *value, const struct tlv_answering *with)
{
	value[0] = value[2] = with->a->sync_source;
	value[1] = with->a->t2_method;
	value[3] = with->a->t3_method;
	return true;
}

static void read_timestamp_information(const uint8_t *value, bool ptp, struct reply *r)
{
	(void)ptp;
	r->t2_method = tlv_known_method(value[1]);
	r->t3_method = tlv_known_method(value[3]);
}

/* RFC 8972 section 4.4: DSCP1 (6 bits), DSCP2 (6), ECN (2), RP (2), reserved (16). */
static bool answer_class_of_service(uint8_t *value, const struct tlv_answering *with)
{
	uint8_t tos = with->a->tos;

	if (!with->a->tos_known)
		return false;
	/* The reply is sent with the received DSCP, which may equal the requested DSCP. */
	value[1] = (uint8_t)((tos & 0x3f) << 2 | (value[0] >> 2 != tos >> 2));
	value[0] = (uint8_t)((value[0] & 0xfc) | tos >> 6);
	put16(value + 2, 0);
	return true;
}

static void read_class_of_service(const uint8_t *value, bool ptp, struct reply *r)
{
	(void)ptp;
	r->class_reported = true;
	r->dscp = (uint8_t)((value[0] & 0x03) << 4 | value[1] >> 4);
	r->ecn = value[1] >> 2 & 0x03;
	r->reverse_dscp_refused = value[1] & 0x03;
}

/* RFC 8972 section 4.5: S_TxC is returned unchanged, then R_RxC, R_TxC. */
static bool answer_direct_measurement(uint8_t *value, const struct tlv_answering *with)
{
	put32(value + 4, with->a->received);
	put32(value + 8, with->a->sent);
	return true;
}

/* RFC 8972 section 4.7. */
static bool answer_follow_up(uint8_t *value, const struct tlv_answering *with)
{
	const struct answer *a = with->a;

	memset(value, 0, FOLLOW_UP_BYTES);
	if (a->follow_up_method == PACKET_METHOD_NONE)
		return true;
	put32(value, a->follow_up_seq);
	put_ns(value + 4, a->follow_up_ns, with->ptp);
	value[12] = a->follow_up_method;
	return true;
}

static void read_follow_up(const uint8_t *value, bool ptp, struct reply *r)
{
	r->follow_up_reported = true;
	r->follow_up_seq = get32(value);
	r->follow_up_ns = get_ns(value + 4, ptp);
	r->follow_up_method = tlv_known_method(value[12]);
	/* Any sequence number is valid, so only the time shows whether it is present. */
	if (!is_time(value + 4))
		r->follow_up_method = PACKET_METHOD_NONE;
}

/* Supported types. A type without a row is returned with its U flag. */
static const struct tlv_rule {
	uint16_t smallest, largest; /* Length */
	answer_tlv *answer;
	read_tlv *read; /* NULL: its answer contains nothing that is used */
} tlv_rules[UINT8_MAX + 1] = {
	[TLV_EXTRA_PADDING] = { 0, UINT16_MAX, answer_with_itself, NULL },
	[TLV_TIMESTAMP_INFORMATION] = { TIMESTAMP_INFORMATION_BYTES, UINT16_MAX, answer_timestamp_information,
					read_timestamp_information },
	[TLV_CLASS_OF_SERVICE] = { CLASS_OF_SERVICE_BYTES, CLASS_OF_SERVICE_BYTES, answer_class_of_service,
				   read_class_of_service },
	[TLV_DIRECT_MEASUREMENT] = { DIRECT_MEASUREMENT_BYTES, DIRECT_MEASUREMENT_BYTES, answer_direct_measurement,
				     NULL },
	[TLV_FOLLOW_UP] = { FOLLOW_UP_BYTES, FOLLOW_UP_BYTES, answer_follow_up, read_follow_up },
	[TLV_HMAC] = { HMAC_BYTES, HMAC_BYTES, answer_with_itself, NULL }, /* signed at the end */
	[TLV_RANT] = { TLV_RANT_BYTES, TLV_RANT_BYTES, tlv_rant_answer, tlv_rant_read },
	[TLV_FOLLOW_UPS] = { TLV_RANT_MAGIC_BYTES + TLV_RANT_DEPARTURE_BYTES,
			     TLV_RANT_MAGIC_BYTES + FOLLOW_UPS_MAX * TLV_RANT_DEPARTURE_BYTES,
			     tlv_rant_answer_follow_ups,
			     tlv_rant_read_follow_ups },
	[TLV_DEPARTURE] = { TLV_RANT_MAGIC_BYTES + TLV_RANT_DEPARTURE_BYTES,
			    TLV_RANT_MAGIC_BYTES + FOLLOW_UPS_MAX * TLV_RANT_DEPARTURE_BYTES,
			    tlv_rant_answer_departure, tlv_rant_read_departure },
	[TLV_FREEZE] = { TLV_FREEZE_BYTES, TLV_FREEZE_BYTES, tlv_rant_answer_freeze, tlv_rant_read_freeze },
	[TLV_CAUSE] = { TLV_CAUSE_BYTES, TLV_CAUSE_BYTES, tlv_rant_answer_cause, tlv_rant_read_cause },
	[TLV_RECEIPT] = { TLV_RECEIPT_BYTES, TLV_RECEIPT_MOST_BYTES, tlv_rant_answer_receipt, tlv_rant_read_receipt },
};

/* Replaces the row of a type with several permitted Lengths if the Length is none of them: always
 * malformed. */
static const struct tlv_rule wrong_length = { .smallest = 1, .largest = 0 };

/* ---- The walk over the TLVs -------------------------------------------------------------------------------------- */

/* Octets before the first TLV. */
INLINE size_t base_of(const struct hmac *key)
{
	return key ? STAMP_AUTHENTICATED_BYTES : STAMP_BASE_BYTES;
}

/* A TLV of a packet. */
struct tlv {
	uint8_t type;
	size_t bytes; /* size of the value by its Length */
	bool cut; /* the Length exceeds the rest of the packet */
	const struct tlv_rule *rule; /* NULL: not supported */
};

/* The row of a type above TLV_HMAC; NULL: not supported. Without the rant magic a TLV of our types belongs
 * to another experiment. */
INLINE const struct tlv_rule *rule_of(const struct tlv *t, const uint8_t *p, size_t left, const struct hmac *key)
{
	if (t->type == TLV_HMAC)
		return key ? t->rule : NULL;
	if (t->bytes < TLV_RANT_MAGIC_BYTES || left < TLV_HEADER_BYTES + TLV_RANT_MAGIC_BYTES ||
	    memcmp(p + TLV_HEADER_BYTES, TLV_RANT_MAGIC, TLV_RANT_MAGIC_BYTES))
		return NULL;
	if ((t->type == TLV_FOLLOW_UPS || t->type == TLV_DEPARTURE) &&
	    (t->bytes - TLV_RANT_MAGIC_BYTES) % TLV_RANT_DEPARTURE_BYTES)
		return &wrong_length;
	return t->rule;
}

/* Parses the TLV at p, with `left` octets up to the end, at least a header. */
INLINE struct tlv look_at(const uint8_t *p, size_t left, const struct hmac *key)
{
	struct tlv t = { .type = p[1], .bytes = get16(p + 2), .rule = &tlv_rules[p[1]] };

	t.cut = t.bytes > left - TLV_HEADER_BYTES;
	if (!t.rule->answer)
		t.rule = NULL;
	else if (t.type >= TLV_HMAC)
		t.rule = rule_of(&t, p, left, key);
	return t;
}

INLINE bool is_malformed(const struct tlv *t)
{
	return t->cut || (t->rule && (t->bytes < t->rule->smallest || t->bytes > t->rule->largest));
}

/*
 * RFC 8972 section 4.8: TLVs other than Extra Padding require an HMAC TLV, and only Extra Padding may
 * follow it. It covers the packet's sequence number and the TLVs before it. Sets *at to its offset, or to
 * `bytes` if it is absent. False: the rule is broken, or the HMAC does not match.
 */
COLD bool tlvs_verified(const uint8_t *packet, const uint8_t *tlvs, size_t bytes, const struct hmac *key, size_t *at)
{
	bool found = false, needed = false;
	size_t local = 0;

	*at = bytes;
	while (bytes - local >= TLV_HEADER_BYTES) {
		struct tlv t = look_at(tlvs + local, bytes - local, key);

		if (t.cut || (found && t.type != TLV_EXTRA_PADDING) || (t.type == TLV_HMAC && t.bytes != HMAC_BYTES))
			return false;
		needed |= t.type != TLV_EXTRA_PADDING;
		if (t.type == TLV_HMAC) {
			found = true;
			*at = local;
		}
		local += TLV_HEADER_BYTES + t.bytes;
	}
	if (found != needed)
		return false;
	return !found || hmac_verify(key, packet, sizeof(uint32_t), tlvs, *at, tlvs + *at + TLV_HEADER_BYTES);
}

/* ---- Probes ------------------------------------------------------------------------------------------------------ */

/* Length of the TLVs before the freeze TLV. */
static size_t bytes_before_freeze(const struct packet_plan *plan)
{
	size_t bytes = 0;

	if (plan->stages)
		bytes += 2 * TLV_HEADER_BYTES + TIMESTAMP_INFORMATION_BYTES + FOLLOW_UP_BYTES;
	if (plan->software)
		bytes += TLV_HEADER_BYTES + TLV_RANT_BYTES;
	if (plan->follow_ups)
		bytes += TLV_HEADER_BYTES + tlv_rant_follow_ups_bytes(plan->follow_ups);
	if (plan->software && plan->t2_user)
		bytes += TLV_HEADER_BYTES + tlv_rant_receipt_bytes(plan);
	if (plan->kernel_every)
		bytes += TLV_HEADER_BYTES + tlv_rant_departure_bytes(plan);
	return bytes;
}

/* Length of the TLVs before the HMAC TLV. */
static size_t bytes_before_hmac(const struct packet_plan *plan)
{
	size_t bytes = bytes_before_freeze(plan);

	if (plan->freeze)
		bytes += TLV_HEADER_BYTES + TLV_FREEZE_BYTES;
	if (plan->cause)
		bytes += TLV_HEADER_BYTES + TLV_CAUSE_BYTES;
	if (plan->class_of_service)
		bytes += TLV_HEADER_BYTES + CLASS_OF_SERVICE_BYTES;
	return bytes;
}

size_t tlv_plan_bytes(const struct packet_plan *plan)
{
	size_t bytes = bytes_before_hmac(plan);

	return bytes + (plan->key && bytes ? TLV_HEADER_BYTES + HMAC_BYTES : 0);
}

/* Returns the value, and moves *p past it. */
static uint8_t *put_tlv(uint8_t **p, uint8_t type, size_t bytes)
{
	uint8_t *value = *p + TLV_HEADER_BYTES;

	(*p)[0] = TLV_UNRECOGNIZED; /* RFC 8972 section 4: cleared by a reflector that supports it */
	(*p)[1] = type;
	put16(*p + 2, (uint16_t)bytes);
	memset(value, 0, bytes);
	*p = value + bytes;
	return value;
}

/* RFC 8972 section 4.1 requires pseudo-random octets. These are the same each time (xorshift32), and do not
 * compress. */
static void fill_padding(uint8_t *p, size_t bytes)
{
	uint32_t state = 0x52414e54;

	for (size_t i = 0; i < bytes; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		p[i] = (uint8_t)(state >> 24);
	}
}

void tlv_prepare(uint8_t *p, const uint8_t *end, const struct packet_plan *plan)
{
	const uint8_t *start = p;

	if (plan->stages) {
		put_tlv(&p, TLV_TIMESTAMP_INFORMATION, TIMESTAMP_INFORMATION_BYTES);
		put_tlv(&p, TLV_FOLLOW_UP, FOLLOW_UP_BYTES);
	}
	if (plan->software)
		tlv_rant_ask(put_tlv(&p, TLV_RANT, TLV_RANT_BYTES), plan);
	if (plan->follow_ups)
		tlv_rant_ask_by_magic(put_tlv(&p, TLV_FOLLOW_UPS, tlv_rant_follow_ups_bytes(plan->follow_ups)));
	if (plan->software && plan->t2_user)
		tlv_rant_ask_by_magic(put_tlv(&p, TLV_RECEIPT, tlv_rant_receipt_bytes(plan)));
	if (plan->kernel_every)
		tlv_rant_ask_departure(put_tlv(&p, TLV_DEPARTURE, tlv_rant_departure_bytes(plan)), plan);
	if (plan->freeze)
		tlv_rant_ask_by_magic(put_tlv(&p, TLV_FREEZE, TLV_FREEZE_BYTES));
	if (plan->cause)
		tlv_rant_ask_cause(put_tlv(&p, TLV_CAUSE, TLV_CAUSE_BYTES), plan);
	if (plan->class_of_service)
		*put_tlv(&p, TLV_CLASS_OF_SERVICE, CLASS_OF_SERVICE_BYTES) = (uint8_t)(plan->dscp << 2);
	if (plan->key && p != start)
		put_tlv(&p, TLV_HMAC, HMAC_BYTES);
	if (p < end) {
		size_t bytes = (size_t)(end - p) - TLV_HEADER_BYTES;

		fill_padding(put_tlv(&p, TLV_EXTRA_PADDING, bytes), bytes);
	}
}

void tlv_freeze_probe(uint8_t *p, const struct packet_plan *plan, const struct packet_freeze *f)
{
	tlv_rant_put_freeze(p + bytes_before_freeze(plan) + TLV_HEADER_BYTES, f);
}

void tlv_sign(uint8_t *packet, const struct packet_plan *plan)
{
	uint8_t *tlvs = packet + STAMP_AUTHENTICATED_BYTES;
	size_t bytes = bytes_before_hmac(plan);

	if (bytes)
		hmac_sign(plan->key, packet, sizeof(uint32_t), tlvs, bytes, tlvs + bytes + TLV_HEADER_BYTES);
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

enum packet_verdict tlv_read_wishes(const uint8_t *packet, size_t bytes, const struct hmac *key, struct request *r)
{
	const size_t base = base_of(key);
	const uint8_t *p = packet + base;
	size_t left = bytes - base, hmac_at;

	if (key && !tlvs_verified(packet, p, left, key, &hmac_at))
		return PACKET_GOOD;
	while (left >= TLV_HEADER_BYTES) {
		struct tlv t = look_at(p, left, key);

		if (is_malformed(&t))
			break;
		if (t.type >= TLV_RANT && t.rule)
			tlv_rant_read_wishes(t.type, p + TLV_HEADER_BYTES, t.bytes, r);
		r->wants_class |= t.type == TLV_CLASS_OF_SERVICE;
		p += TLV_HEADER_BYTES + t.bytes;
		left -= TLV_HEADER_BYTES + t.bytes;
	}
	return PACKET_GOOD;
}

/* ---- The answer -------------------------------------------------------------------------------------------------- */

/* RFC 8972 section 4.7: even a malformed Follow-Up is returned without its sender's contents. */
static void clear_follow_up(uint8_t *value, size_t bytes)
{
	memset(value, 0, bytes < FOLLOW_UP_KNOWN_BYTES ? bytes : FOLLOW_UP_KNOWN_BYTES);
}

/* RFC 8972 section 4: an unsupported TLV keeps its U flag (set, if the sender left it clear); at a wrong
 * length, or at fewer octets than a header, processing stops and the rest is returned unchanged. */
static bool fill_tlvs(uint8_t *p, size_t left, const struct tlv_answering *with)
{
	while (left >= TLV_HEADER_BYTES) {
		struct tlv t = look_at(p, left, with->key);
		uint8_t *value = p + TLV_HEADER_BYTES;

		left -= TLV_HEADER_BYTES;
		if (is_malformed(&t)) {
			p[0] = t.rule ? TLV_MALFORMED : TLV_MALFORMED | TLV_UNRECOGNIZED;
			if (t.type == TLV_FOLLOW_UP)
				clear_follow_up(value, t.bytes < left ? t.bytes : left);
			return true;
		}
		p[0] = t.rule && t.rule->answer(value, with) ? 0 : TLV_UNRECOGNIZED;
		p = value + t.bytes;
		left -= t.bytes;
	}
	return left != 0;
}

/* RFC 8972 section 4.8: no TLV is answered; all get the I flag. */
static bool refuse_tlvs(uint8_t *p, size_t left, const struct hmac *key)
{
	while (left >= TLV_HEADER_BYTES) {
		struct tlv t = look_at(p, left, key);

		p[0] = (p[0] & TLV_UNRECOGNIZED) | TLV_INTEGRITY;
		if (t.cut) {
			p[0] |= TLV_MALFORMED;
			return true;
		}
		p += TLV_HEADER_BYTES + t.bytes;
		left -= TLV_HEADER_BYTES + t.bytes;
	}
	return left != 0;
}

/* With a key. Returns true if a TLV is malformed. */
COLD bool fill_and_sign_tlvs(uint8_t *packet, size_t bytes, const struct tlv_answering *with)
{
	uint8_t *tlvs = packet + STAMP_AUTHENTICATED_BYTES, seq[sizeof(uint32_t)];
	size_t left = bytes - STAMP_AUTHENTICATED_BYTES, hmac_at;

	if (!tlvs_verified(packet, tlvs, left, with->key, &hmac_at))
		return refuse_tlvs(tlvs, left, with->key);

	bool malformed = fill_tlvs(tlvs, left, with);

	/* Signed also after a malformed TLV: the receiver must be able to trust the M flag. */
	if (hmac_at < left) {
		tlvs[hmac_at] = 0;
		put32(seq, with->a->seq);
		hmac_sign(with->key, seq, sizeof(seq), tlvs, hmac_at, tlvs + hmac_at + TLV_HEADER_BYTES);
	}
	return malformed;
}

void tlv_answer(uint8_t *packet, size_t bytes, const struct hmac *key, const struct answer *a, bool ptp,
		bool *malformed)
{
	const struct tlv_answering with = { .a = a, .key = key, .ptp = ptp };

	if (key)
		*malformed = fill_and_sign_tlvs(packet, bytes, &with);
	else
		*malformed = fill_tlvs(packet + STAMP_BASE_BYTES, bytes - STAMP_BASE_BYTES, &with);
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

/* Sets the values of a reply without TLVs. All are after the fields of the base; for the array at the end
 * the count is enough. */
INLINE void forget_tlvs(struct reply *r)
{
	memset((uint8_t *)r + offsetof(struct reply, t2_method), 0,
	       offsetof(struct reply, follow_up) - offsetof(struct reply, t2_method));
	r->cause.state = PACKET_CAUSE_NONE;
	r->software_bound_ns = -1;
}

static void refuse_reply_tlvs(struct reply *r)
{
	forget_tlvs(r);
	r->tlv_integrity = true;
}

/* RFC 8972 section 4: U: this TLV is not used. M: nothing from here on is used. I in any TLV: none is used.
 * The length is checked whatever the flags say (section 6). */
void packet_read_tlvs(const uint8_t *packet, size_t bytes, const struct hmac *key, struct reply *r)
{
	const size_t base = base_of(key);
	const bool ptp = r->error_estimate & ERROR_ESTIMATE_PTP;
	const uint8_t *p = packet + base;
	size_t left = bytes > base ? bytes - base : 0, hmac_at;

	forget_tlvs(r);
	if (key && left && !tlvs_verified(packet, p, left, key, &hmac_at)) {
		refuse_reply_tlvs(r);
		return;
	}
	while (left >= TLV_HEADER_BYTES) {
		struct tlv t = look_at(p, left, key);

		if (p[0] & TLV_INTEGRITY) {
			refuse_reply_tlvs(r);
			return;
		}
		if (p[0] & TLV_MALFORMED || is_malformed(&t))
			break;
		if (p[0] & TLV_UNRECOGNIZED)
			r->tlv_unrecognized = true;
		else if (t.rule && t.rule->read)
			t.rule->read(p + TLV_HEADER_BYTES, ptp, r);
		p += TLV_HEADER_BYTES + t.bytes;
		left -= TLV_HEADER_BYTES + t.bytes;
	}
	r->tlv_malformed = left != 0;
}

