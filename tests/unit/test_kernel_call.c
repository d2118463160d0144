/* build: sources= libs=-ldl */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Sending and receiving without libc, and with it, by a real socket. */
#include "wire/kernel_call.c"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static int fd = -1;

/* A socket connected to itself. */
static int set_up(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(a);

	(void)state;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || getsockname(fd, (struct sockaddr *)&a, &bytes) ||
	       connect(fd, (struct sockaddr *)&a, sizeof(a));
}

static int tear_down(void **state)
{
	(void)state;
	return close(fd);
}

static void exchange(bool direct)
{
	char much[] = "much too long", got[8] = "", control[CMSG_SPACE(sizeof(int))];
	struct iovec out = { much, sizeof(much) }, in = { got, sizeof(got) };
	struct sockaddr_in from = { 0 };
	const struct msghdr sent = { .msg_iov = &out, .msg_iovlen = 1 };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &in, .msg_iovlen = 1,
			    .msg_control = control, .msg_controllen = sizeof(control) };

	assert_int_equal(kernel_send(direct, fd, "one", 4), 4);
	assert_int_equal(kernel_recv(direct, fd, got, sizeof(got)), 4);
	assert_string_equal(got, "one");
	assert_int_equal(kernel_sendmsg(direct, fd, &sent), sizeof(much));
	assert_int_equal(kernel_recvmsg(direct, fd, &m, 0), sizeof(got));
	assert_memory_equal(got, much, sizeof(got));
	assert_int_equal(m.msg_flags, MSG_TRUNC);
	assert_int_equal(m.msg_controllen, 0);
	assert_int_equal(m.msg_namelen, sizeof(from));
	assert_int_equal(from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
}

static void refuse(bool direct)
{
	char got[8];
	struct msghdr m = { 0 };

	assert_int_equal(kernel_recv(direct, fd, got, sizeof(got)), -EAGAIN);
	assert_int_equal(kernel_recvmsg(direct, fd, &m, 0), -EAGAIN);
	assert_int_equal(kernel_recvmsg(direct, fd, &m, MSG_ERRQUEUE), -EAGAIN);
	assert_int_equal(kernel_recv(direct, -1, got, sizeof(got)), -EBADF);
	assert_int_equal(kernel_recvmsg(direct, -1, &m, 0), -EBADF);
	assert_int_equal(kernel_send(direct, -1, got, sizeof(got)), -EBADF);
	assert_int_equal(kernel_sendmsg(direct, -1, &m), -EBADF);
}

static void both_ways_send_receive_and_fail_alike(void **state)
{
	(void)state;
	exchange(false);
	refuse(false);
	if (!KERNEL_CALL_IS_KNOWN) {
		print_message("SKIP: without libc not on this architecture\n");
		skip();
	}
	exchange(true);
	errno = 0;
	refuse(true);
	assert_int_equal(errno, 0); /* it was not libc */
}

/* The sanitizer that this test is built with has put functions of its own before libc's. */
static void not_where_something_stands_before_libc(void **state)
{
	(void)state;
	assert_false(kernel_call_is_free());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways_send_receive_and_fail_alike),
		cmocka_unit_test(not_where_something_stands_before_libc),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
