/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digits of numbers, several at a time: a log has millions of numbers, converted on a CPU that a measurement may
 * need. */
#ifndef REPORT_TEXT_DIGITS_H
#define REPORT_TEXT_DIGITS_H

#include "rant.h"

#include <endian.h>

#define DIGITS_EIGHT 100000000 /* from here on a number has more than eight */

/* Converts a number below DIGITS_EIGHT to eight octets, each 0 to 9, the most significant in the lowest bits. All are
 * computed at once, in fields of one word: a hundredth and a tenth are multiplications, exact up to 10^4 and 100. */
static inline uint64_t digits_of_eight(uint32_t v)
{
	uint64_t parts = v / 10000 | (uint64_t)(v % 10000) << 32, tops;

	tops = (parts * 10486 >> 20) & 0x0000007f0000007f;
	parts = tops | (parts - tops * 100) << 16;
	tops = (parts * 103 >> 10) & 0x000f000f000f000f;
	return tops | (parts - tops * 10) << 8;
}

/* Eight digits of a number below DIGITS_EIGHT, with zeros before it. */
static inline void digits_put_eight(char *at, uint32_t v)
{
	const uint64_t digits = htole64(digits_of_eight(v) | 0x3030303030303030);

	memcpy(at, &digits, sizeof(digits));
}

/* The same with blanks before it; 0 has one digit. */
static inline void digits_put_aligned(char *at, uint32_t v)
{
	const uint64_t digits = digits_of_eight(v), last = (uint64_t)1 << 56;
	const int zeros = __builtin_ctzll(digits | last) & ~7; /* bits of the leading zeros */
	const uint64_t text = htole64((digits |
				       0x3030303030303030) ^ (0x1010101010101010 & (((uint64_t)1 << zeros) - 1)));

	memcpy(at, &text, sizeof(text));
}

#endif
