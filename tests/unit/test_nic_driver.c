// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources= libs= */
/* nic_driver.c: every row is found by its name and filters, and is complete and printable. */
#include "host/nic/nic_driver.c"

#include "util.h"

#include <ctype.h>

#define ALL (1U << HWTSTAMP_FILTER_ALL)

static void test_found(void **state)
{
	const struct nic_driver *d, *other;
	size_t rows = 0;

	(void)state;
	for (; (d = nic_driver_row(rows)); rows++) {
		uint32_t filters = d->filters == NIC_ALL_NOT_LISTED ? 0 : ALL;

		assert_true(strlen(d->name) < 32); /* ETHTOOL_GDRVINFO */
		assert_ptr_equal(nic_driver_find(d->name, filters), d);
		other = nic_driver_find(d->name, filters ^ ALL);
		assert_non_null(other);
		assert_int_equal(other == d, d->filters == NIC_ALL_OR_NOT);
	}
	assert_true(rows >= 40);
	assert_null(nic_driver_row(rows));
	assert_null(nic_driver_row(SIZE_MAX));
	assert_null(nic_driver_find("new", ALL));
	assert_null(nic_driver_find("", 0));
	assert_null(nic_driver_find("ig", ALL));
}

/* Other filters are not filter "all". */
static void test_models(void **state)
{
	(void)state;
	assert_int_equal(nic_driver_find("igb", ALL | 1)->delivery, NIC_BY_KWORKER);
	assert_int_equal(nic_driver_find("igb", ~ALL)->delivery, NIC_BY_OWN_KWORKER);
	assert_int_equal(nic_driver_find("igb", ~ALL)->receives, NIC_STAMPS_PTP);
}

/* A sentence in the middle of a line: no capital verb, no full stop, no control character. */
static void check_text(const char *text)
{
	if (!text)
		return;
	assert_true(strlen(text) > 3 && strlen(text) < 200);
	assert_true(text[strlen(text) - 1] != '.' && !isspace((unsigned char)text[strlen(text) - 1]));
	for (const char *p = text; *p; p++)
		assert_true(isprint((unsigned char)*p) && (p[0] != ' ' || p[1] != ' '));
}

static void test_texts(void **state)
{
	const struct nic_driver *d;

	(void)state;
	for (size_t i = 0; (d = nic_driver_row(i)); i++) {
		check_text(d->lost);
		check_text(d->meaning);
		check_text(d->constants);
		check_text(d->clock);
		check_text(d->fault);
		check_text(d->instead);
	}
}

/* A driver that timestamps no transmitted packet has neither slots, nor a delivery, nor lost timestamps. */
static void test_consistent(void **state)
{
	const struct nic_driver *d;

	(void)state;
	for (size_t i = 0; (d = nic_driver_row(i)); i++) {
		assert_true(d->in_flight >= 0 && d->in_flight <= 64);
		if (d->transmits == NIC_STAMPS_NONE) {
			assert_int_equal(d->in_flight, 0);
			assert_int_equal(d->delivery, NIC_BY_UNKNOWN);
			assert_null(d->lost);
		}
		assert_false(d->flags & NIC_REFUSES && d->flags & NIC_TAKES);
		if (d->flags & NIC_TAKES)
			assert_int_equal(d->receives, NIC_STAMPS_ALL);
	}
}

/* The documented limits: 125 readings of ENA, of which others keep some; no limit where none is documented. */
static void test_readings(void **state)
{
	const struct nic_driver *d;

	(void)state;
	for (size_t i = 0; (d = nic_driver_row(i)); i++)
		assert_int_equal(d->reads_per_s, strcmp(d->name, "ena") ? 0 : 100);
}

static void test_lost(void **state)
{
	(void)state;
	assert_string_equal(nic_driver_lost("igb"), "tx_hwtstamp_timeouts, tx_hwtstamp_skipped");
	assert_string_equal(nic_driver_lost("i40e"), "port.tx_hwtstamp_timeouts, port.tx_hwtstamp_skipped");
	assert_null(nic_driver_lost("veth"));
	assert_null(nic_driver_lost("new"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found), cmocka_unit_test(test_models), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_consistent), cmocka_unit_test(test_readings), cmocka_unit_test(test_lost),
	};

	return cmocka_run_group_tests_name("nic_driver", tests, NULL, NULL);
}
