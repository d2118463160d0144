// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect sources=host/nic/nic_abilities.c,host/nic/nic_address.c,host/nic/nic_names.c,host/nic/nic_netlink.c,host/nic/nic_provider.c,host/nic/nic_share.c,host/nic/nic_stamp.c,host/nic/nic_lower.c libs=-lnl-3 -lnl-genl-3 */
/* nic.c against a simulated NIC behind ioctl, and, as root, against the real kernel in a new network namespace. */
#include "host/nic/nic.c"

#include "golden.h"

#include "nic_bench.h"
#include "nic_namespace.h"

/* ---- A fake NIC ------------------------------------------------------------------------------------------------ */

/* ETHTOOL_GLINK decides; IFF_RUNNING, which is late, decides only where the driver does not report the link. */
static void test_find(void **state)
{
	char mac[NIC_MAC_BYTES] = "kept";
	struct nic n;
	int result, fd = lowest_free_fd();

	(void)state;
	fake_on(&full);
	fake_nic.down = fake_nic.no_link = true;
	CAPTURED(result, nic_open(&n, "fake0"));
	assert_int_equal(result, -ENETDOWN);
	golden_line(said);
	assert_int_equal(n.control_fd, -1);
	CAPTURED(result, nic_find(&n, "fake0"));
	assert_int_equal(result, 0);
	assert_silent();
	assert_int_equal(n.index, 7);
	assert_int_equal(n.flags & IFF_UP, 0);
	assert_int_equal(n.mtu, 1500);
	assert_string_equal(n.driver, "fake");
	/* The kernel may fill the field without a terminating 0. */
	assert_string_equal(n.bus, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
	assert_false(nic_has_carrier(&n));
	fake_nic.no_link = false;
	assert_true(nic_has_carrier(&n));
	fake_nic.mac_error = EIO;
	assert_int_equal(nic_read_mac(&n, mac), -EIO);
	assert_string_equal(mac, "kept");
	fake_nic.mac_error = 0;
	assert_int_equal(nic_read_mac(&n, mac), 0);
	assert_string_equal(mac, "02:fe:00:10:0a:ff");
	nic_close(&n);
	fake_nic.mtu_error = EIO;
	CAPTURED(result, nic_find(&n, "fake0"));
	assert_int_equal(result, 0);
	assert_int_equal(n.mtu, 0);
	nic_close(&n);
	assert_int_equal(fake.sets, 0);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_link(void **state)
{
	static const struct {
		int words, errors[2];
		uint32_t speed;
		uint8_t duplex;
		int result, speed_mbps, expected;
	} cases[] = {
		{ 3, { 0, 0 }, 1000, DUPLEX_FULL, 0, 1000, NIC_DUPLEX_FULL },
		{ 3, { 0, 0 }, 10, DUPLEX_HALF, 0, 10, NIC_DUPLEX_HALF },
		{ 127, { 0, 0 }, 800000, DUPLEX_FULL, 0, 800000, NIC_DUPLEX_FULL },
		{ 3, { 0, 0 }, 0, DUPLEX_UNKNOWN, 0, -1, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, (uint32_t)SPEED_UNKNOWN, DUPLEX_UNKNOWN, 0, -1, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, INT_MAX, 77, 0, INT_MAX, NIC_DUPLEX_UNKNOWN },
		{ 3, { 0, 0 }, INT_MAX + 1U, DUPLEX_FULL, 0, -1, NIC_DUPLEX_FULL },
		{ 3, { EOPNOTSUPP, 0 }, 1000, DUPLEX_FULL, -EOPNOTSUPP, 42, NIC_DUPLEX_HALF },
		{ 3, { 0, ENODEV }, 1000, DUPLEX_FULL, -ENODEV, 42, NIC_DUPLEX_HALF },
		{ 0, { 0, 0 }, 1000, DUPLEX_FULL, 0, 1000, NIC_DUPLEX_FULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct nic_link link = { .speed_mbps = { true, 42 }, .duplex = NIC_DUPLEX_HALF };
		struct nic n;

		fake_on(&full);
		fake.link_words = cases[i].words;
		memcpy(fake.settings_error, cases[i].errors, sizeof(fake.settings_error));
		fake.speed = cases[i].speed;
		fake.duplex = cases[i].duplex;
		assert_int_equal(nic_find(&n, "fake0"), 0);
		assert_int_equal(nic_read_link(&n, &link), cases[i].result);
		assert_int_equal(link.speed_mbps.known ? link.speed_mbps.value : -1, cases[i].speed_mbps);
		assert_int_equal(link.duplex, cases[i].expected);
		nic_close(&n);
	}
}

static void test_carrier(void **state)
{
	static const struct {
		int link_error;
		bool no_link, not_running, warned;
	} rows[] = {
		{ 0, false, true, false },
		{ 0, true, false, true },
		{ EOPNOTSUPP, true, false, false },
		{ EOPNOTSUPP, false, true, true },
	};
	static const struct script plain = { .name = "carrier" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct nic n;
		int result;

		fake_on(&plain);
		fake_nic.link_error = rows[i].link_error;
		fake_nic.no_link = rows[i].no_link;
		fake_nic.not_running = rows[i].not_running;
		CAPTURED(result, nic_open(&n, "fake0"));
		nic_close(&n);
		assert_int_equal(result, 0);
		if (rows[i].warned)
			golden_line(said);
		else
			assert_silent();
	}
}

/* ---- The real kernel ------------------------------------------------------------------------------------------- */

static void test_kernel_not_found(void **state)
{
	int result, fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links();
	CAPTURED(result, nic_open(&n, "eth9"));
	assert_int_equal(result, -ENODEV);
	golden_line(said);
	assert_int_equal(n.control_fd, -1);
	CAPTURED(result, nic_open(&n, "va:1"));
	assert_int_equal(result, -ENODEV);
	golden_line(said);
	CAPTURED(result, nic_open(&n, ""));
	assert_int_equal(result, -ENODEV);
	golden_line(said);
	CAPTURED(result, nic_open(&n, "a23456789012345"));
	assert_int_equal(result, -ENODEV);
	golden_line(said);
	CAPTURED(result, nic_open(&n, "a234567890123456"));
	assert_int_equal(result, -ENODEV);
	golden_line(said);
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_kernel_down(void **state)
{
	struct nic n;
	int result;

	(void)state;
	make_links();
	ip("link set va down");
	CAPTURED(result, nic_open(&n, "va"));
	assert_int_equal(result, -ENETDOWN);
	golden_line(said);
}

static void test_kernel_no_carrier(void **state)
{
	struct nic n;
	int result;

	(void)state;
	make_links();
	ip("link set vb down");
	CAPTURED(result, nic_open(&n, "va"));
	assert_int_equal(result, 0);
	golden_line(said);
	nic_close(&n);
}

/* The fake NIC answers for fake0 only: the question is not for the VLAN. */
static void test_stamper_driver(void **state)
{
	char driver[NIC_DRIVER_BYTES];
	struct nic n;
	int result;

	(void)state;
	fake_on(&full);
	CAPTURED(result, nic_find(&n, "fake0"));
	assert_int_equal(result, 0);
	strcpy(n.name, "vlan0");
	strcpy(n.driver, "802.1Q VLAN Support");
	nic_read_stamper_driver(&n, driver);
	assert_string_equal(driver, "802.1Q VLAN Support");
	strcpy(n.stamper_name, "fake0");
	nic_read_stamper_driver(&n, driver);
	assert_string_equal(driver, "fake");
	assert_string_equal(n.driver, "802.1Q VLAN Support");
	nic_close(&n);
}

static void test_kernel_alternative_name(void **state)
{
	struct nic n;

	(void)state;
	make_links();
	ip("link property add dev va altname another");
	ip("link set va mtu 1400");
	n = opened("another");
	assert_string_equal(n.name, "va");
	assert_int_equal(n.index, if_nametoindex("va"));
	assert_int_equal(n.mtu, 1400);
	nic_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_find, fake_off),
		cmocka_unit_test_teardown(test_stamper_driver, fake_off),
		cmocka_unit_test_teardown(test_link, fake_off),
		cmocka_unit_test_teardown(test_carrier, fake_off),
		IN_NAMESPACE(test_kernel_not_found),
		IN_NAMESPACE(test_kernel_down),
		IN_NAMESPACE(test_kernel_no_carrier),
		IN_NAMESPACE(test_kernel_alternative_name),
	};

	util_seed();
	return golden_run(tests);
}
