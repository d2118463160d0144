// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests and answers of the rant TLVs (hot, except the request of a probe, written once). */
#include "wire/tlv_rant.h"

#include "wire/octets.h"

#include <string.h>

/* Flags, beside TLV_RANT_T2_USER. */
#define RANT_ON_SCALE 0x40 /* T2_SW and T3 are on the timebase of T2, within the bound */
/* the clock of T2 was stepped, stood still or has a frequency error in this session */
#define RANT_CLOCK_DOUBTED 0x20
#define RANT_DISCARDS 0x10 /* the reply has the count and reasons of discarded requests */
#define RANT_STATELESS 0x01
#define RANT_DISCARD_REASONS (DISCARD_OVER_RATE | DISCARD_REFUSED | DISCARD_UNREAD)
#define RANT_NO_BOUND UINT32_MAX

/* ---- Type 240: timestamp sources and clock state ----------------------------------------------------------------- */

void tlv_rant_ask(uint8_t *value, const struct packet_plan *plan)
{
	memcpy(value, TLV_RANT_MAGIC, TLV_RANT_MAGIC_BYTES);
	value[4] = plan->t2_user ? TLV_RANT_T2_USER : 0;
}

/* docs/protocol.md: magic, flags, source of T2 and of the follow-up, count of discarded requests, bound, T2_SW. */
bool tlv_rant_answer(uint8_t *value, const struct tlv_answering *with)
{
	const struct answer *a = with->a;
	bool on_scale = a->software_bound_ns >= 0;

	memset(value + TLV_RANT_MAGIC_BYTES, 0, TLV_RANT_BYTES - TLV_RANT_MAGIC_BYTES);
	value[4] = (uint8_t)((a->t2_user_known ? TLV_RANT_T2_USER : 0) | (on_scale ? RANT_ON_SCALE : 0) |
			     (a->clock_doubted ? RANT_CLOCK_DOUBTED : 0) | RANT_DISCARDS | a->discard_reasons |
			     (a->stateless ? RANT_STATELESS : 0));
	value[5] = a->wire_source;
	put16(value + 6, (uint16_t)a->discarded);
	if (on_scale)
		put32(value + 8, a->software_bound_ns < RANT_NO_BOUND ? (uint32_t)a->software_bound_ns : RANT_NO_BOUND);
	if (a->t2_user_known)
		put_ns(value + 12, a->t2_user_ns, with->ptp);
	return true;
}

void tlv_rant_read(const uint8_t *value, bool ptp, struct reply *r)
{
	uint32_t bound_ns = get32(value + 8);

	/* The unchanged request: from a reflector that returns unsupported TLVs and still clears U. A real
	 * answer differs, since times on different timebases imply a NIC (octet 5). */
	if (!(value[4] & ~TLV_RANT_T2_USER) && !value[5] && !is_time(value + 12))
		return;
	r->software_reported = true;
	r->wire_source = value[5] <= SOURCE_HARDWARE || value[5] == SOURCE_RECEIVE ? value[5] : SOURCE_NONE;
	r->t2_user_known = value[4] & TLV_RANT_T2_USER;
	r->clock_doubted = value[4] & RANT_CLOCK_DOUBTED;
	r->stateless = value[4] & RANT_STATELESS;
	r->discards_reported = value[4] & RANT_DISCARDS;
	r->discarded = get16(value + 6);
	r->discard_reasons = r->discards_reported ? value[4] & RANT_DISCARD_REASONS : 0;
	r->t2_user_ns = r->t2_user_known ? get_ns(value + 12, ptp) : 0;
	/* The largest number means "this or larger", so it is not a bound. */
	r->software_bound_ns = value[4] & RANT_ON_SCALE && bound_ns != RANT_NO_BOUND ? (int64_t)bound_ns : -1;
}

/* ---- Type 241: departures of the last replies -------------------------------------------------------------------- */

/* The Length, already validated, is in the two octets before the value. */
INLINE unsigned length_of(const uint8_t *value)
{
	return get16(value - 2);
}

/* docs/protocol.md: magic; then for each reply 16 octets. */
INLINE unsigned departures_of(const uint8_t *value)
{
	return (length_of(value) - TLV_RANT_MAGIC_BYTES) / TLV_RANT_DEPARTURE_BYTES;
}

/* Each reply: its number, method, 3 zero octets, time. */

void tlv_rant_ask_by_magic(uint8_t *value)
{
	memcpy(value, TLV_RANT_MAGIC, TLV_RANT_MAGIC_BYTES);
}

bool tlv_rant_answer_follow_ups(uint8_t *value, const struct tlv_answering *with)
{
	const unsigned space = departures_of(value);
	const unsigned reported = with->a->follow_ups < space ? with->a->follow_ups : space;
	uint8_t *p = value + TLV_RANT_MAGIC_BYTES;

	memset(p, 0, space * TLV_RANT_DEPARTURE_BYTES);
	for (unsigned i = 0; i < reported; i++, p += TLV_RANT_DEPARTURE_BYTES) {
		const struct packet_departure *d = &with->a->follow_up[i];

		put32(p, d->seq);
		p[4] = d->method;
		put_ns(p + 8, d->ns, with->ptp);
	}
	return true;
}

void tlv_rant_read_follow_ups(const uint8_t *value, bool ptp, struct reply *r)
{
	const uint8_t *p = value + TLV_RANT_MAGIC_BYTES;

	r->follow_ups = 0;
	for (unsigned left = departures_of(value); left; left--, p += TLV_RANT_DEPARTURE_BYTES) {
		const uint8_t method = tlv_known_method(p[4]);

		/* Any number is valid, so only method and time show whether an entry is present. */
		if (method == PACKET_METHOD_NONE || !is_time(p + 8))
			continue;
		r->follow_up[r->follow_ups++] = (struct packet_departure){ .seq = get32(p), .method = method,
									   .ns = get_ns(p + 8, ptp) };
	}
}

/* ---- Type 242: how the request was received ---------------------------------------------------------------------- */

bool tlv_rant_answer_receipt(uint8_t *value, const struct tlv_answering *with)
{
	memset(value + TLV_RANT_MAGIC_BYTES, 0, length_of(value) - TLV_RANT_MAGIC_BYTES);
	put32(value + TLV_RANT_MAGIC_BYTES, with->a->poll_gap_ns);
	if (with->a->t2_kernel_known && length_of(value) >= TLV_RECEIPT_KERNEL_BYTES)
		put_ns(value + TLV_RECEIPT_BYTES, with->a->t2_kernel_ns, with->ptp);
	return true;
}

void tlv_rant_read_receipt(const uint8_t *value, bool ptp, struct reply *r)
{
	r->poll_gap_ns = get32(value + TLV_RANT_MAGIC_BYTES);
	r->t2_kernel_known = length_of(value) >= TLV_RECEIPT_KERNEL_BYTES && is_time(value + TLV_RECEIPT_BYTES);
	r->t2_kernel_ns = r->t2_kernel_known ? get_ns(value + TLV_RECEIPT_BYTES, ptp) : 0;
}

/* ---- Type 243: the kernel's transmit times of the last replies --------------------------------------------------- */

/* In each entry of a reply: its number, flags, 3 zero octets, two times in ns after T3 of user space. A request has its
 * number in the place of the first time of the first entry. */
#define DEPARTURE_FLAGS 4
#define DEPARTURE_QUEUE 8
#define DEPARTURE_DRIVER 12

void tlv_rant_ask_departure(uint8_t *value, const struct packet_plan *plan)
{
	memcpy(value, TLV_RANT_MAGIC, TLV_RANT_MAGIC_BYTES);
	put32(value + TLV_RANT_MAGIC_BYTES + DEPARTURE_QUEUE, plan->kernel_every);
}

uint32_t tlv_rant_kernel_every(const uint8_t *value)
{
	return get32(value + TLV_RANT_MAGIC_BYTES + DEPARTURE_QUEUE);
}

bool tlv_rant_answer_departure(uint8_t *value, const struct tlv_answering *with)
{
	const unsigned space = departures_of(value);
	uint8_t *p = value + TLV_RANT_MAGIC_BYTES, *end = p + space * TLV_RANT_DEPARTURE_BYTES;

	memset(p, 0, space * TLV_RANT_DEPARTURE_BYTES);
	for (unsigned i = 0; i < with->a->follow_ups && p < end; i++) {
		const struct packet_departure *d = &with->a->follow_up[i];

		if (!d->kernel)
			continue;
		put32(p, d->seq);
		p[DEPARTURE_FLAGS] = d->kernel;
		put32(p + DEPARTURE_QUEUE, d->queue_ns);
		put32(p + DEPARTURE_DRIVER, d->driver_ns);
		p += TLV_RANT_DEPARTURE_BYTES;
	}
	return true;
}

void tlv_rant_read_departure(const uint8_t *value, bool ptp, struct reply *r)
{
	const uint8_t *p = value + TLV_RANT_MAGIC_BYTES;

	(void)ptp;
	r->departures = 0;
	/* The unchanged request has no flags. */
	for (unsigned left = departures_of(value); left; left--, p += TLV_RANT_DEPARTURE_BYTES) {
		const uint8_t kernel = p[DEPARTURE_FLAGS] & (PACKET_KERNEL_QUEUE | PACKET_KERNEL_DRIVER);

		if (kernel)
			r->departure[r->departures++] = (struct packet_departure){
				.seq = get32(p), .kernel = kernel, .queue_ns = get32(p + DEPARTURE_QUEUE),
				.driver_ns = get32(p + DEPARTURE_DRIVER) };
	}
}

/* ---- Type 244: freezing the traces of both hosts ----------------------------------------------------------------- */

/* After the magic: flags, 3 zero octets, sequence number, age. */
#define FREEZE_FLAGS 4
#define FREEZE_SEQ 8
#define FREEZE_AGE 12

void tlv_rant_put_freeze(uint8_t *value, const struct packet_freeze *f)
{
	value[FREEZE_FLAGS] = f->flags;
	put32(value + FREEZE_SEQ, f->seq);
	put32(value + FREEZE_AGE, f->age_us);
}

struct packet_freeze tlv_rant_get_freeze(const uint8_t *value)
{
	return (struct packet_freeze){ .present = true, .flags = value[FREEZE_FLAGS], .seq = get32(value + FREEZE_SEQ),
				       .age_us = get32(value + FREEZE_AGE) };
}

bool tlv_rant_answer_freeze(uint8_t *value, const struct tlv_answering *with)
{
	memset(value + TLV_RANT_MAGIC_BYTES, 0, TLV_FREEZE_BYTES - TLV_RANT_MAGIC_BYTES);
	tlv_rant_put_freeze(value, &with->a->freeze);
	value[FREEZE_FLAGS] |= FREEZE_ANSWER;
	return true;
}

void tlv_rant_read_freeze(const uint8_t *value, bool ptp, struct reply *r)
{
	(void)ptp;
	/* The unchanged request, from a reflector that returns unsupported TLVs and still clears U, must not freeze. */
	if (value[FREEZE_FLAGS] & FREEZE_ANSWER)
		r->freeze = tlv_rant_get_freeze(value);
}

/* ---- Type 245: the cause of a breach, by the trace of the reflector ---------------------------------------------- */

/* After the magic. */
#define CAUSE_STATE 4
#define CAUSE_CLASS 5
#define CAUSE_STAGE 6
#define CAUSE_PERCENT 7
#define CAUSE_SEQ 8
#define CAUSE_CPU 12 /* and two zero octets */
#define CAUSE_STAGE_NS 16
#define CAUSE_NS 24
#define CAUSE_NAME 32

static void put_count(uint8_t *p, int64_t ns)
{
	put32(p, (uint32_t)((uint64_t)ns >> 32));
	put32(p + 4, (uint32_t)ns);
}

static int64_t get_count(const uint8_t *p)
{
	return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4));
}

void tlv_rant_ask_cause(uint8_t *value, const struct packet_plan *plan)
{
	tlv_rant_ask_by_magic(value);
	value[CAUSE_STATE] = PACKET_CAUSE_ASKED;
	put32(value + CAUSE_SEQ, plan->cause_seq);
}

void tlv_rant_read_asked_cause(const uint8_t *value, struct request *r)
{
	r->wants_cause = value[CAUSE_STATE] & PACKET_CAUSE_ASKED;
	r->cause_seq = get32(value + CAUSE_SEQ);
}

bool tlv_rant_answer_cause(uint8_t *value, const struct tlv_answering *with)
{
	const struct packet_cause *c = with->a->cause;

	memset(value + TLV_RANT_MAGIC_BYTES, 0, TLV_CAUSE_BYTES - TLV_RANT_MAGIC_BYTES);
	if (!c)
		return true;
	value[CAUSE_STATE] = c->state;
	put32(value + CAUSE_SEQ, c->seq);
	if (c->state != PACKET_CAUSE_KNOWN)
		return true;
	value[CAUSE_CLASS] = c->class;
	value[CAUSE_STAGE] = c->stage;
	value[CAUSE_PERCENT] = c->percent;
	put16(value + CAUSE_CPU, c->cpu);
	put_count(value + CAUSE_STAGE_NS, c->stage_ns);
	put_count(value + CAUSE_NS, c->ns);
	memcpy(value + CAUSE_NAME, c->name, PACKET_CAUSE_NAME_BYTES);
	return true;
}

void tlv_rant_read_cause(const uint8_t *value, bool ptp, struct reply *r)
{
	struct packet_cause *c = &r->cause;

	(void)ptp;
	/* The unchanged request is no state. */
	c->state = value[CAUSE_STATE] < PACKET_CAUSE_STATES ? value[CAUSE_STATE] : PACKET_CAUSE_NONE;
	if (c->state == PACKET_CAUSE_NONE)
		return;
	c->seq = get32(value + CAUSE_SEQ);
	c->class = value[CAUSE_CLASS];
	c->stage = value[CAUSE_STAGE];
	c->percent = value[CAUSE_PERCENT];
	c->cpu = get16(value + CAUSE_CPU);
	c->stage_ns = get_count(value + CAUSE_STAGE_NS);
	c->ns = get_count(value + CAUSE_NS);
	memcpy(c->name, value + CAUSE_NAME, sizeof(c->name));
}
