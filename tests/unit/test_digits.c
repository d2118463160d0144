/* build: sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Digits as printf(3) writes them. */
#include "report/text/digits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void look_at(uint32_t v)
{
	char zeros[9] = "", blanks[9] = "", text[16];

	digits_put_eight(zeros, v);
	digits_put_aligned(blanks, v);
	snprintf(text, sizeof(text), "%08u", v);
	assert_string_equal(zeros, text);
	snprintf(text, sizeof(text), "%8u", v);
	assert_string_equal(blanks, text);
}

/* The halves do not meet, so each value of each is enough. */
static void all_of_both_halves(void **state)
{
	(void)state;
	for (uint32_t half = 0; half < 10000; half++) {
		look_at(half);
		look_at(half * 10000);
		look_at(half * 10000 + (9999 - half));
	}
}

static void each_number_of_digits(void **state)
{
	(void)state;
	for (uint32_t power = 1; power < DIGITS_EIGHT; power *= 10) {
		look_at(power - 1);
		look_at(power);
		look_at(power + 1);
	}
	look_at(DIGITS_EIGHT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_both_halves),
		cmocka_unit_test(each_number_of_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
