// SPDX-License-Identifier: GPL-2.0-or-later
/* build: wraps=ioctl,genl_ctrl_resolve,nl_connect sources=host/nic/nic.c,host/nic/nic_abilities.c,host/nic/nic_names.c,host/nic/nic_provider.c,host/nic/nic_share.c,host/nic/nic_stamp.c,host/nic/nic_lower.c libs=-lnl-3 -lnl-genl-3 */
/* nic_address.c with a netlink that fails, and, as root, with the real kernel. */
#include "host/nic/nic_address.c"
#include "host/nic/nic_netlink.c"

#include "host/nic/nic_stamp.h"
#include "golden.h"

#include "nic_bench.h"
#include "nic_namespace.h"

/* ---- Netlink that fails ---------------------------------------------------------------------------------------- */

static void test_netlink_broken(void **state)
{
	union address a = { .in = { .sin_family = AF_INET, .sin_addr = { htonl(0xc0000201) } } };
	int result, fd = lowest_free_fd();
	struct nic n;

	(void)state;
	fake_on(&full);
	netlink_broken = true;
	assert_int_equal(nic_open(&n, "fake0"), 0);
	CAPTURED(result, nic_check_address(&n, &a));
	assert_int_equal(result, -EIO);
	golden_line(said);
	CAPTURED(result, nic_find_own(&n, AF_UNSPEC));
	assert_int_equal(result, -EIO);
	golden_line(said);
	CAPTURED(result, nic_stamp(&n, &udp));
	assert_int_equal(result, 0);
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static int never(struct nl_msg *m, void *context)
{
	(void)m;
	(void)context;
	fail();
	return NL_OK;
}

static void test_netlink_silent(void **state)
{
	struct nl_sock *s = nic_netlink_open(NETLINK_ROUTE);
	struct nl_msg *m = nlmsg_alloc_simple(NLMSG_NOOP, 0); /* the kernel does not reply to it */
	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

	(void)state;
	assert_non_null(s);
	assert_non_null(m);
	assert_int_equal(nic_netlink_ask(s, m, never, NULL), -EIO);
	assert_in_range(clock_read_ns(CLOCK_MONOTONIC) - began_ns, LIMIT_S * NS_PER_S / 2, 60 * NS_PER_S);
	nlmsg_free(m);
	nl_socket_free(s);
}

/* ---- The real kernel ------------------------------------------------------------------------------------------- */

static union address address_of(const char *text)
{
	union address a = { .any.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET };
	void *octets = strchr(text, ':') ? (void *)&a.in6.sin6_addr : &a.in.sin_addr;

	assert_int_equal(inet_pton(a.any.sa_family, text, octets), 1);
	return a;
}

static int check(const struct nic *n, const char *server)
{
	union address a = address_of(server);
	int result;

	CAPTURED(result, nic_check_address(n, &a));
	if (!result)
		assert_silent();
	return result;
}

static void test_kernel_own_address(void **state)
{
	static const char *const own[] = { "10.77.1.1", "10.77.2.1", "127.0.0.1", NULL };
	struct nic n;

	(void)state;
	make_links();
	/* By this route even the address of the other interface is reachable through va. */
	ip("route add default via 10.77.1.2 dev va");
	n = opened("va");
	for (const char *const *a = own; *a; a++) {
		assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
		golden_line(said);
	}
	nic_close(&n);
	n = opened("lo");
	assert_int_equal(check(&n, "127.0.0.1"), 0);
	assert_int_equal(check(&n, "10.77.1.1"), 0);
	assert_int_equal(check(&n, "10.77.1.2"), -EHOSTUNREACH);
	nic_close(&n);
}

/* As in a VRF: only a query that names the interface finds the table with the local address. */
static void test_kernel_own_address_by_rule(void **state)
{
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	ip("rule add pref 0 oif va table local");
	ip("rule del pref 0 from all table local");
	assert_int_equal(check(&n, "10.77.1.1"), -EADDRNOTAVAIL);
	golden_line(said);
	assert_int_equal(check(&n, "10.77.1.255"), -EADDRNOTAVAIL);
	golden_line(said);
	nic_close(&n);
}

static void test_kernel_not_a_host(void **state)
{
	static const char *const not_hosts[] = { "224.0.0.1", "239.1.2.3", "255.255.255.255", "0.0.0.0", "10.77.1.255",
						 "10.77.2.255", NULL };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	for (int with_default = 0; with_default < 2; with_default++) {
		for (const char *const *a = not_hosts; *a; a++) {
			assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
			golden_line(said);
		}
		if (!with_default)
			ip("route add default via 10.77.1.2 dev va");
	}
	nic_close(&n);
}

static void test_kernel_route(void **state)
{
	int fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	assert_int_equal(check(&n, "10.77.1.2"), 0);
	assert_int_equal(check(&n, "192.0.2.1"), -EHOSTUNREACH);
	golden_line(said);
	assert_int_equal(check(&n, "10.77.2.2"), -EHOSTUNREACH);
	golden_line(said);
	ip("route add 10.77.2.2 dev va");
	assert_int_equal(check(&n, "10.77.2.2"), 0);
	ip("route add default via 10.77.1.2 dev va");
	assert_int_equal(check(&n, "192.0.2.1"), 0);
	ip("route add blackhole 198.51.100.0/24");
	assert_int_equal(check(&n, "198.51.100.7"), -EHOSTUNREACH);
	golden_line(said);
	ip("route add 203.0.113.0/24 nexthop via 10.77.1.2 dev va nexthop via 10.77.2.2 dev vd onlink");
	assert_int_equal(check(&n, "203.0.113.1"), 0);
	nic_close(&n);
	n = opened("vc");
	assert_int_equal(check(&n, "203.0.113.1"), -EHOSTUNREACH);
	golden_line(said);
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_kernel_family(void **state)
{
	union address a = { .ll = { .sll_family = AF_PACKET } };
	int result;
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	CAPTURED(result, nic_check_address(&n, &a));
	assert_int_equal(result, -EAFNOSUPPORT);
	golden_line(said);
	nic_close(&n);
}

static void test_kernel_no_address(void **state)
{
	int result;
	struct nic n;

	(void)state;
	make_links();
	ip("-6 address flush dev vb");
	n = opened("vb");
	CAPTURED(result, nic_find_own(&n, AF_UNSPEC));
	assert_int_equal(result, -EADDRNOTAVAIL);
	golden_line(said);
	ip("address add 10.77.9.1/24 dev vb label vb:x");
	CAPTURED(result, nic_find_own(&n, AF_UNSPEC));
	assert_int_equal(result, 0);
	assert_silent();
	nic_close(&n);
}

static int check_own(const struct nic *n, const char *address)
{
	union address a = address_of(address);
	int result;

	CAPTURED(result, nic_check_own(n, &a));
	if (!result)
		assert_silent();
	return result;
}

static void test_kernel_own(void **state)
{
	const union address none = { .any.sa_family = AF_UNSPEC };
	struct nic n;

	(void)state;
	make_links();
	n = opened("va");
	ip("address add 10.77.1.9/24 dev va label va:x");
	ip("address add 10.77.5.1 peer 10.77.5.2 dev va");
	assert_int_equal(check_own(&n, "10.77.1.1"), 0);
	assert_int_equal(check_own(&n, "10.77.1.9"), 0);
	assert_int_equal(check_own(&n, "10.77.5.1"), 0);
	assert_int_equal(check_own(&n, "10.77.5.2"), -EADDRNOTAVAIL); /* the address of the peer */
	assert_int_equal(check_own(&n, "10.77.2.1"), -EADDRNOTAVAIL); /* an address of another interface */
	golden_line(said);
	assert_int_equal(nic_check_own(&n, &none), 0);
	nic_close(&n);
	n = opened("vb");
	assert_int_equal(check_own(&n, "10.77.1.1"), -EADDRNOTAVAIL);
	golden_line(said);
	assert_int_equal(nic_check_own(&n, &none), 0);
	nic_close(&n);
}

/* ---- IPv6 ------------------------------------------------------------------------------------------------------ */

/* As make_links(), with 2001:db8:1::1/64 and 2001:db8:2::1/64. */
static void make_links_of_ipv6(void)
{
	if (home < 0 || access("/proc/sys/net/ipv6", F_OK))
		skip();
	make_links();
	ip("address add 2001:db8:1::1/64 dev va nodad");
	ip("address add 2001:db8:2::1/64 dev vc nodad");
}

static void test_kernel_route_of_ipv6(void **state)
{
	int fd = lowest_free_fd();
	struct nic n;

	(void)state;
	make_links_of_ipv6();
	n = opened("va");
	assert_int_equal(check(&n, "2001:db8:1::2"), 0);
	assert_int_equal(check(&n, "fe80::77"), 0);
	assert_int_equal(check(&n, "2001:db8:9::1"), -ENETUNREACH);
	golden_line(said);
	assert_int_equal(check(&n, "2001:db8:2::2"), -ENETUNREACH);
	golden_line(said);
	ip("route add 2001:db8:2::2 dev va");
	assert_int_equal(check(&n, "2001:db8:2::2"), 0);
	ip("route add default via 2001:db8:1::2 dev va");
	assert_int_equal(check(&n, "2001:db8:9::1"), 0);
	assert_true(nic_reaches(n.index, &(const union address){ .in6 = address_of("2001:db8:9::1").in6 }));
	nic_close(&n);
	n = opened("vc");
	const union address remote = address_of("2001:db8:9::1"), near = address_of("2001:db8:2::7"),
				    all = address_of("ff02::1"),
			    ipv4 = address_of("10.77.2.9"), far = address_of("10.99.2.9");
	assert_false(nic_reaches(n.index, &remote) || nic_reaches(n.index, &all) || nic_reaches(n.index, &far));
	assert_true(nic_reaches(n.index, &near) && nic_reaches(n.index, &ipv4));
	nic_close(&n);
	assert_int_equal(lowest_free_fd(), fd);
}

static void test_kernel_no_host_of_ipv6(void **state)
{
	static const char *const own[] = { "2001:db8:1::1", "2001:db8:2::1", "::1", NULL };
	static const char *const not_hosts[] = { "ff02::1", "ff0e::9", "::", NULL };
	struct nic n;

	(void)state;
	make_links_of_ipv6();
	ip("route add default via 2001:db8:1::2 dev va");
	n = opened("va");
	for (const char *const *a = own; *a; a++) {
		assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
		golden_line(said);
	}
	for (const char *const *a = not_hosts; *a; a++) {
		assert_int_equal(check(&n, *a), -EADDRNOTAVAIL);
		golden_line(said);
	}
	/* The host's own address on this link; on another link the same address belongs to another host. */
	ip("address add fe80::5 dev va nodad");
	assert_int_equal(check(&n, "fe80::5"), -EADDRNOTAVAIL);
	nic_close(&n);
	n = opened("vc");
	assert_int_equal(check(&n, "fe80::5"), 0);
	nic_close(&n);
	n = opened("lo");
	assert_int_equal(check(&n, "::1"), 0);
	nic_close(&n);
}

static bool is_first(const union address *a, const char *text)
{
	const union address want = address_of(text);

	return a->any.sa_family == want.any.sa_family && same_octets(a, &want);
}

/* A wider scope ranks above link-local, and a tentative address ranks last. */
static void test_kernel_first_addresses(void **state)
{
	struct nic n;
	int result;

	(void)state;
	make_links_of_ipv6();
	ip("-6 address flush dev vb");
	ip("link set vb down"); /* so that addresses stay tentative */
	ip("address add 2001:db8:7::1/64 dev vb");
	ip("link set va down");
	n = opened("vd");
	snprintf(n.name, sizeof(n.name), "vb");
	n.index = (int)if_nametoindex("vb");
	assert_int_equal(nic_find_own(&n, AF_UNSPEC), 0);
	assert_int_equal(n.first4.any.sa_family, AF_UNSPEC);
	assert_true(is_first(&n.first6, "2001:db8:7::1"));
	assert_int_equal(check_own(&n, "2001:db8:7::1"), -EADDRNOTAVAIL);
	golden_line(said);
	CAPTURED(result, nic_find_own(&n, AF_INET));
	assert_int_equal(result, -EADDRNOTAVAIL);
	golden_line(said);
	ip("address add fe80::7/64 dev vb nodad");
	assert_int_equal(nic_find_own(&n, AF_UNSPEC), 0);
	assert_true(is_first(&n.first6, "fe80::7"));
	ip("address add 2001:db8:8::1/64 dev vb nodad");
	ip("address add 2001:db8:8::2/64 dev vb nodad");
	ip("address add 10.77.8.1/24 dev vb");
	assert_int_equal(nic_find_own(&n, AF_INET6), 0);
	assert_true(is_first(&n.first6, "2001:db8:8::1"));
	assert_true(is_first(&n.first4, "10.77.8.1"));
	assert_int_equal(check_own(&n, "2001:db8:8::1"), 0);
	assert_int_equal(check_own(&n, "fe80::7"), 0);
	assert_int_equal(check_own(&n, "2001:db8:8::3"), -EADDRNOTAVAIL);
	golden_line(said);
	nic_close(&n);
	n = opened("vc");
	ip("-6 address flush dev vc");
	CAPTURED(result, nic_find_own(&n, AF_INET6));
	assert_int_equal(result, -EADDRNOTAVAIL);
	golden_line(said);
	nic_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_netlink_broken, fake_off),
		cmocka_unit_test(test_netlink_silent),
		IN_NAMESPACE(test_kernel_own_address),
		IN_NAMESPACE(test_kernel_own_address_by_rule),
		IN_NAMESPACE(test_kernel_not_a_host),
		IN_NAMESPACE(test_kernel_route),
		IN_NAMESPACE(test_kernel_family),
		IN_NAMESPACE(test_kernel_no_address),
		IN_NAMESPACE(test_kernel_own),
		IN_NAMESPACE(test_kernel_route_of_ipv6),
		IN_NAMESPACE(test_kernel_no_host_of_ipv6),
		IN_NAMESPACE(test_kernel_first_addresses),
	};

	util_seed();
	return golden_run(tests);
}
