// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect,nic_route_to,syscall sources=host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
/* "rant HOST": choice of the timestamp source by the capabilities and the setting of a NIC, without any change. */
#include "host/nic/nic_best.c"

#include "golden.h"

#include "nic_bench.h"

static bool privileged;
static int route;

long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	struct __user_cap_data_struct *data;
	va_list ap;

	assert_int_equal(number, SYS_capget);
	va_start(ap, number);
	va_arg(ap, void *);
	data = va_arg(ap, struct __user_cap_data_struct *);
	va_end(ap);
	data[0].effective = privileged ? 1U << CAP_NET_ADMIN : ~(1U << CAP_NET_ADMIN);
	return 0;
}

int __wrap_nic_route_to(const union address *to);
int __wrap_nic_route_to(const union address *to)
{
	(void)to;
	return route;
}

/* fake_nic.set is NULL, so a change of the setting fails the test. */
static void choose(const char *name, const struct script *s, bool may_set, int64_t transport, int64_t wanted)
{
	struct options o = { .interface = "fake0", .stamp = STAMP_BEST, .transport = transport };
	char why[256];
	int result;

	fake_on(s);
	fake_nic.set = NULL;
	privileged = may_set;
	CAPTURED(result, nic_choose_stamp(&o, why));
	assert_int_equal(!*said, !s->info_error); /* nic_read_abilities() prints its own line */
	assert_int_equal(result, 0);
	assert_int_equal(o.stamp, wanted);
	assert_setting(name, s->found);
	golden("%s: %s: %s\n", name, o.stamp == SOURCE_HARDWARE ? "hardware" : "kernel", why);
}

static void test_source(void **state)
{
	static const struct script off = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 } },
		set = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .found = { 0, 1, 1 } },
		unlisted = { .can = { HARDWARE, OFF_ON, PTP_ONLY, 5 } },
		unlisted_set = { .can = { HARDWARE, OFF_ON, PTP_ONLY, 5 }, .found = { 0, 1, 1 } },
		no_clock = { .can = { HARDWARE, OFF_ON, NONE_ALL, -1 } },
		one_way = { .can = { SOF_TIMESTAMPING_RX_HARDWARE, OFF_ON, NONE_ALL, 5 } },
		one_step = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .found = { 0, 2, 12 } },
		unseen = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .get_error = EOPNOTSUPP },
		no_abilities = { .info_error = EIO };

	(void)state;
	choose("privileged", &off, true, TRANSPORT_UDP, SOURCE_HARDWARE);
	choose("without privileges", &off, false, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("without privileges, set up", &set, false, TRANSPORT_UDP, SOURCE_HARDWARE);
	choose("PTP only", &unlisted, true, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("PTP only, in PTP", &unlisted, true, TRANSPORT_PTP, SOURCE_HARDWARE);
	choose("not listed, set up", &unlisted_set, true, TRANSPORT_UDP, SOURCE_HARDWARE);
	choose("no clock", &no_clock, true, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("one direction", &one_way, true, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("one-step", &one_step, true, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("setting not reported", &unseen, true, TRANSPORT_UDP, SOURCE_KERNEL);
	choose("abilities not reported", &no_abilities, true, TRANSPORT_UDP, SOURCE_KERNEL);
}

static void test_explicit_source_stays(void **state)
{
	struct options o = { .interface = "none", .stamp = SOURCE_HARDWARE };
	char why[256] = "before";

	(void)state;
	assert_int_equal(nic_choose_stamp(&o, why), 0);
	assert_int_equal(o.stamp, SOURCE_HARDWARE);
	assert_string_equal(why, "");
}

static void test_interface(void **state)
{
	struct options o = { .role = ROLE_EMIT, .server.in = { .sin_family = AF_INET, .sin_addr.s_addr = 0x01020304 } };
	struct options given = { .role = ROLE_EMIT, .interface = "fake0" }, reflector = { .role = ROLE_REFLECT };
	char name[IFNAMSIZ];
	int result;

	(void)state;
	assert_int_equal(nic_choose_interface(&given, name) | nic_choose_interface(&reflector, name), 0);
	assert_string_equal(given.interface, "fake0");
	assert_null(reflector.interface);
	route = (int)if_nametoindex("lo");
	assert_int_equal(nic_choose_interface(&o, name), 0);
	assert_string_equal(o.interface, "lo");
	for (int i = 0; i < 2; i++) {
		o.interface = NULL;
		route = i ? 0 : -ENETUNREACH;
		CAPTURED(result, nic_choose_interface(&o, name));
		assert_int_equal(result, i ? -EINVAL : -ENETUNREACH);
		assert_null(o.interface);
		golden("%s", said);
	}
}

static void test_driver_refuses(void **state)
{
	static const struct script willing = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 } },
		refuses = { .can = { HARDWARE, OFF_ON, NONE_ALL, 5 }, .set_error = ERANGE };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct options o = { .interface = "fake0", .stamp = SOURCE_HARDWARE };
		struct nic n;
		int opened;

		fake_on(i ? &refuses : &willing);
		opened = nic_open(&n, "fake0");
		assert_int_equal(opened, 0);
		util_capture_begin(&capture);
		nic_stamp_best(&n, &o);
		capture_end();
		assert_int_equal(o.stamp, i ? SOURCE_KERNEL : SOURCE_HARDWARE);
		golden("%s", said);
		nic_close(&n);
	}
}

static void test_first_line(void **state)
{
	static const struct options rows[] = {
		{ .role = ROLE_EMIT, .interface = "eth1", .stamp = SOURCE_HARDWARE },
		{ .role = ROLE_EMIT, .interface = "eth1", .stamp = SOURCE_KERNEL, .server_name = "peer" },
		{ .role = ROLE_REFLECT, .interface = "eth1", .stamp = SOURCE_USER },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		util_capture_begin(&capture);
		nic_print_choice(&rows[i], "192.0.2.1", "a reason");
		capture_end();
		golden("%s", said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_source, fake_off),
		cmocka_unit_test(test_explicit_source_stays),
		cmocka_unit_test_teardown(test_interface, fake_off),
		cmocka_unit_test_teardown(test_driver_refuses, fake_off),
		cmocka_unit_test(test_first_line),
	};

	return golden_run(tests);
}
