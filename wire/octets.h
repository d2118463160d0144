/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and times as octets of a packet, for packet.c, tlv.c and encapsulation.h only (hot). All inline: a
 * call for each field would cost more than the field. */
#ifndef WIRE_OCTETS_H
#define WIRE_OCTETS_H

#include "rant.h"

#include <endian.h>
#include <string.h>

#define COLD static __attribute__((noinline)) /* keeps rare code out of its hot callers */

/* RFC 8186 section 2.3: the Z bit of an Error Estimate selects PTP format for the timestamps of the same
 * packet half. */
#define ERROR_ESTIMATE_PTP 0x4000

#define NTP_TO_UNIX_S 2208988800LL /* RFC 8762 section 4.2.1: NTP counts from 1900 */

INLINE uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

INLINE uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

INLINE void put16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

INLINE void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

/* Time since 1970 as 8 octets, PTP or NTP format. Seconds are written modulo 2^32. */
static inline void put_ns(uint8_t *p, int64_t ns, bool ptp)
{
	/* A PHC may be before 1970: the remainder is kept positive. */
	int64_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);
	uint32_t rest_ns = (uint32_t)(ns - seconds * NS_PER_S);

	if (ptp) {
		put32(p, (uint32_t)seconds);
		put32(p + 4, rest_ns);
	} else {
		put32(p, (uint32_t)(seconds + NTP_TO_UNIX_S));
		put32(p + 4, (uint32_t)(((uint64_t)rest_ns << 32) / NS_PER_S));
	}
}

/* Zeros mean "no timestamp" in both formats (RFC 8972 section 4.7; NTP, RFC 5905 section 6). */
static inline bool is_time(const uint8_t *p)
{
	static const uint8_t nothing[8];

	return memcmp(p, nothing, sizeof(nothing));
}

static inline int64_t get_ns(const uint8_t *p, bool ptp)
{
	uint32_t seconds = get32(p), rest = get32(p + 4);

	if (ptp)
		return seconds * NS_PER_S + rest;
	/* Era 0 ends in 2036: times before 1970 are read as era 1. Rounded, since the encoder rounds down. */
	int64_t unix_s = seconds - NTP_TO_UNIX_S;

	if (unix_s < 0)
		unix_s += 1LL << 32;
	return unix_s * NS_PER_S + (int64_t)(((uint64_t)rest * NS_PER_S + (1ULL << 31)) >> 32);
}

#endif
