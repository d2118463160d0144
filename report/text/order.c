// SPDX-License-Identifier: GPL-2.0-or-later
/* Radix sort, from the least significant digit. Its CPU may also run the reflector, so it has to be fast: for 270,000
 * samples qsort(3) takes 27 ms, this sort 2 ms. */
#include "report/text/order.h"

#define DIGIT_BITS 11

/* Sorts by one digit of base 2^DIGIT_BITS; the order of equal digits is kept. */
static void order_by(const int64_t *from, int64_t *to, size_t n, unsigned shift)
{
	enum { DIGITS = 1 << DIGIT_BITS };
	size_t place[DIGITS] = { 0 }, before = 0;

	for (size_t i = 0; i < n; i++)
		place[from[i] >> shift & (DIGITS - 1)]++;
	for (int digit = 0; digit < DIGITS; digit++) {
		const size_t local = place[digit];

		place[digit] = before;
		before += local;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

int64_t *order_values(int64_t *value_ns, int64_t *spare, size_t n, int64_t max_ns)
{
	for (unsigned shift = 0; shift < 63 && n && max_ns >> shift; shift += DIGIT_BITS) {
		int64_t *ordered = spare;

		order_by(value_ns, ordered, n, shift);
		spare = value_ns;
		value_ns = ordered;
	}
	return value_ns;
}
