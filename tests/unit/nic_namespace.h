/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network namespace of the real kernel for a test of host/nic/. Include it after nic_bench.h. */
#ifndef NIC_NAMESPACE_H
#define NIC_NAMESPACE_H

#include <fcntl.h>
#include <sched.h>

static int home = -1;

static inline int namespace_enter(void **state)
{
	(void)state;
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0 || unshare(CLONE_NEWNET) < 0) {
		print_message("skipped: cannot make a network namespace, which needs root: %s\n", strerror(errno));
		if (home >= 0)
			close(home);
		home = -1;
	}
	return 0;
}

static inline int namespace_leave(void **state)
{
	(void)state;
	if (home >= 0 && setns(home, CLONE_NEWNET) < 0)
		abort(); /* later tests would run in the wrong namespace */
	if (home >= 0)
		close(home);
	home = -1;
	return 0;
}

static inline void ip(const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "ip %s", arguments);
	assert_int_equal(system(command), 0);
}

/* va - vb and vc - vd, all up; va has 10.77.1.1/24, vc 10.77.2.1/24. */
static inline void make_links(void)
{
	if (home < 0)
		skip();
	ip("link set lo up");
	ip("link add va type veth peer name vb");
	ip("link add vc type veth peer name vd");
	ip("address add 10.77.1.1/24 dev va");
	ip("address add 10.77.2.1/24 dev vc");
	ip("link set va up");
	ip("link set vb up");
	ip("link set vc up");
	ip("link set vd up");
}

static inline struct nic opened(const char *name)
{
	struct nic n;
	int result;

	CAPTURED(result, nic_open(&n, name));
	assert_int_equal(result, 0);
	assert_silent();
	return n;
}

#define IN_NAMESPACE(test) cmocka_unit_test_setup_teardown(test, namespace_enter, namespace_leave)

#endif
