// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect,nic_stamper,if_indextoname sources=host/nic/nic.c,host/nic/nic_abilities.c,host/nic/nic_address.c,host/nic/nic_names.c,host/nic/nic_lower.c,host/nic/nic_netlink.c,host/nic/nic_provider.c,host/nic/nic_share.c,host/nic/nic_stamp.c libs=-lnl-3 -lnl-genl-3 */
/* Link state before and after a run: with a netlink that fails, and, as root, in a network namespace. */
#include "host/nic/link.c"

#include "host/nic/nic_stamp.h"
#include "util.h"

#include "nic_bench.h"
#include "nic_namespace.h"

#include <linux/if_arp.h>

static void a_netlink_that_fails(void **state)
{
	struct nic n = { .name = "lo", .index = 1 };
	struct link_state s;
	int fd = lowest_free_fd();

	(void)state;
	netlink_broken = true;
	link_read(&n, &s);
	netlink_broken = false;
	assert_int_equal(s.error, -EIO);
	assert_false(s.up || s.downs_known);
	assert_int_equal(lowest_free_fd(), fd);
}

static struct link_state now(const struct nic *n)
{
	struct link_state s;

	link_read(n, &s);
	return s;
}

static void a_link_that_goes_down(void **state)
{
	struct link_state before, after;
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	before = now(&n);
	assert_int_equal(before.error, 0);
	assert_true(before.up && before.downs_known);

	/* Set down, and up again. */
	ip("link set va down");
	after = now(&n);
	assert_false(after.error || after.up);
	assert_int_equal(after.downs - before.downs, 1);
	ip("link set va up");
	after = now(&n);
	assert_true(after.up);
	assert_int_equal(after.downs - before.downs, 1);

	/* The peer is set down: up, without a carrier. */
	ip("link set vb down");
	after = now(&n);
	assert_false(after.error || after.up);
	assert_int_equal(after.downs - before.downs, 2);
	ip("link set vb up");
	assert_true(now(&n).up);
	assert_int_equal(now(&n).downs - before.downs, 2);
	/* Changes of other interfaces do not count. */
	ip("link set vc down");
	assert_int_equal(now(&n).downs - before.downs, 2);
	nic_close(&n);
}

static int calls;

static void on_gone(void)
{
	calls++;
}

static void look(const struct nic *n, int times)
{
	struct link_watch w = { .nic = n, .on_gone = on_gone };
	struct ifreq r;

	calls = 0;
	link_look(&w);
	assert_int_equal(calls, times);
	assert_int_equal(is_gone(n, &r), times);
	assert_int_equal(now(n).error, times ? -ENODEV : 0);
}

static char changes[16]; /* 'u' for each up, 'd' for each down */

static void on_change(void *context, bool up)
{
	assert_ptr_equal(context, changes);
	strcat(changes, up ? "u" : "d");
}

/* A kernel worker reports carrier changes, up to a second late. */
static void look_until(struct link_watch *w, const char *expected)
{
	for (int i = 0; i < 500 && strcmp(changes, expected); i++) {
		link_look(w);
		usleep(10000);
	}
	assert_string_equal(changes, expected);
}

static void a_link_that_changes_is_reported(void **state)
{
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");

	struct link_watch w = { .nic = &n, .on_gone = on_gone, .on_change = on_change, .context = changes };

	calls = 0;
	link_look(&w);
	link_look(&w);
	assert_string_equal(changes, "");
	ip("link set va down");
	link_look(&w);
	link_look(&w);
	assert_string_equal(changes, "d");
	ip("link set va name renamed");
	ip("link set renamed up");
	look_until(&w, "du");
	/* Up, without a carrier. */
	ip("link set vb down");
	look_until(&w, "dud");
	/* The first call records the state and reports no change. */
	w.seen = LINK_NOT_SEEN;
	link_look(&w);
	assert_string_equal(changes, "dud");
	ip("link set vb up");
	look_until(&w, "dudu");
	assert_int_equal(calls, 0);
	nic_close(&n);
}

static void an_interface_that_is_gone(void **state)
{
	struct nic n, other;
	struct ifreq r;

	(void)state;
	make_links();
	n = opened("va");
	look(&n, 0);
	ip("link set va down");
	look(&n, 0);
	ip("link set va name renamed");
	look(&n, 0);
	ip("link del renamed");
	look(&n, 1);
	/* A new interface of the same name is another interface. */
	ip("link add va type veth peer name vb");
	look(&n, 1);
	nic_close(&n);

	other = opened("vc");
	look(&other, 0);
	assert_int_equal(unshare(CLONE_NEWNET), 0); /* the socket for ioctls stays in the previous namespace */
	assert_false(is_gone(&other, &r));
	nic_close(&other);
}

/* ---- The speed of the link --------------------------------------------------------------------------------------- */

static int stamper; /* with the fake NIC: what nic_stamper() returns */

int __real_nic_stamper(const struct nic *n);
int __wrap_nic_stamper(const struct nic *n);
char *__real_if_indextoname(unsigned index, char *name);
char *__wrap_if_indextoname(unsigned index, char *name);

int __wrap_nic_stamper(const struct nic *n)
{
	return fake_nic.on ? stamper : __real_nic_stamper(n);
}

char *__wrap_if_indextoname(unsigned index, char *name)
{
	if (!fake_nic.on)
		return __real_if_indextoname(index, name);
	return index == 7 ? strcpy(name, "fake0") : NULL;
}

/* The speed counts only of an Ethernet device on a bus. The interface itself, a VLAN, is another one. */
static void the_speed_of_a_link(void **state)
{
	static const struct {
		int stamper;
		unsigned short hardware;
		const char *bus;
		uint32_t speed;
		int error, expected;
	} rows[] = {
		{ 7, ARPHRD_ETHER, "0000:01:00.0", 10000, 0, 10000 },
		{ 7, ARPHRD_ETHER, "30be0000.ethernet", 100, 0, 100 },
		{ 7, ARPHRD_ETHER, "", 10000, 0, 0 },
		{ 7, ARPHRD_ETHER, "N/A", 10000, 0, 0 },
		{ 7, ARPHRD_ETHER, "tap", 10000, 0, 0 },
		{ 7, ARPHRD_INFINIBAND, "0000:01:00.0", 10000, 0, 0 },
		{ 7, ARPHRD_ETHER, "0000:01:00.0", (uint32_t)SPEED_UNKNOWN, 0, 0 },
		{ 7, ARPHRD_ETHER, "0000:01:00.0", 0, 0, 0 },
		{ 7, ARPHRD_ETHER, "0000:01:00.0", 10000, EOPNOTSUPP, 0 },
		{ 8, ARPHRD_ETHER, "0000:01:00.0", 10000, 0, 0 }, /* gone */
		{ 0, ARPHRD_ETHER, "0000:01:00.0", 10000, 0, 0 }, /* in another namespace */
	};
	static const struct script plain = { .name = "speed" };
	const int fd = lowest_free_fd();

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct nic n = { .name = "vlan0", .index = 3, .control_fd = -1 };

		fake_on(&plain);
		fake.link_words = 3;
		fake.speed = rows[i].speed;
		fake.settings_error[0] = rows[i].error;
		fake_nic.bus = rows[i].bus;
		fake_nic.hardware = rows[i].hardware;
		stamper = rows[i].stamper;
		assert_int_equal(link_wire_mbps(&n), rows[i].expected);
	}
	assert_int_equal(lowest_free_fd(), fd);
}

/* The kernel's veth reports 10 Gbit/s. */
static void a_software_device_has_no_speed(void **state)
{
	static const char *const names[] = { "va", "lo" };
	struct nic_link link = { 0 };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");

	const int error = nic_read_link(&n, &link);

	nic_close(&n);
	if (error == -ENOSYS) /* qemu-user does not pass this ioctl on */
		skip();
	assert_int_equal(error, 0);
	assert_int_equal(link.speed_mbps.value, 10000);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		n = opened(names[i]);
		assert_int_equal(link_wire_mbps(&n), 0);
		nic_close(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_netlink_that_fails),
		IN_NAMESPACE(a_link_that_goes_down),
		IN_NAMESPACE(a_link_that_changes_is_reported),
		IN_NAMESPACE(an_interface_that_is_gone),
		cmocka_unit_test_teardown(the_speed_of_a_link, fake_off),
		IN_NAMESPACE(a_software_device_has_no_speed),
	};

	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
