// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps= sources= libs= */
/* nic_names.c: every name, and numbers without a name. */
#include "host/nic/nic_names.c"

#include "util.h"

static void test_names(void **state)
{
	char text[NIC_NAMES_BYTES];

	(void)state;
	names_of(filter_names, COUNT(filter_names), UINT32_MAX, text);
	assert_string_equal(text + strlen(text) - 8, " ntp-all"); /* the buffer holds all names */
	assert_string_equal(names_of(filter_names, COUNT(filter_names), 0, text), "nothing");
	assert_string_equal(names_of(filter_names, COUNT(filter_names), 1U << 16 | 1U << 31, text), "nothing");
	assert_string_equal(names_of(filter_names, COUNT(filter_names), 1U << 15 | 1, text), "none ntp-all");
	assert_string_equal(name_of(filter_names, COUNT(filter_names), 15), "ntp-all");
	assert_string_equal(name_of(filter_names, COUNT(filter_names), 16), "unknown");
	assert_string_equal(name_of(tx_names, COUNT(tx_names), -1), "unknown");
}

static void test_public_names(void **state)
{
	char text[NIC_NAMES_BYTES];

	(void)state;
	assert_string_equal(nic_tx_type_name(HWTSTAMP_TX_ONESTEP_SYNC), "onestep-sync");
	assert_string_equal(nic_tx_type_name(99), "unknown");
	assert_string_equal(nic_filter_name(HWTSTAMP_FILTER_PTP_V2_EVENT), "ptpv2-event");
	assert_string_equal(nic_filter_name(-1), "unknown");
	for (int i = 0; i <= HWTSTAMP_FILTER_NTP_ALL; i++)
		assert_int_equal(nic_filter_of(nic_filter_name(i)), i);
	assert_int_equal(nic_filter_of("unknown"), -1);
	assert_ptr_equal(nic_filter_names(1U << HWTSTAMP_FILTER_NONE | 1U << HWTSTAMP_FILTER_ALL, text), text);
	assert_string_equal(text, "none all");
	assert_string_equal(nic_stamping_names(SOF_TIMESTAMPING_TX_HARDWARE, text), "hardware-transmit");
	assert_string_equal(nic_stamping_names(0, text), "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_public_names),
	};

	util_seed();
	return cmocka_run_group_tests_name("nic_names", tests, NULL, NULL);
}
