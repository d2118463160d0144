// SPDX-License-Identifier: GPL-2.0-or-later
/* One netlink request and its reply, by libnl, for routes, addresses and the capabilities of a NIC. */
#include "host/nic/nic_netlink.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define LIMIT_S 2 /* the kernel replies at once; a lost reply must not hang the start */

struct nl_sock *nic_netlink_open(int protocol)
{
	struct timeval limit = { .tv_sec = LIMIT_S };
	struct nl_sock *s = nl_socket_alloc();

	if (!s)
		return NULL;
	/* Without acks each request gets exactly one reply or one error, so a receive never waits. */
	nl_socket_disable_auto_ack(s);
	if (nl_connect(s, protocol) < 0 ||
	    setsockopt(nl_socket_get_fd(s), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0) {
		nl_socket_free(s);
		return NULL;
	}
	return s;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *error)
{
	(void)from;
	*(int *)error = e->error;
	return NL_STOP;
}

int nic_netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context)
{
	int error = 0;

	nl_socket_modify_cb(s, NL_CB_VALID, NL_CB_CUSTOM, on_answer, context);
	nl_socket_modify_err_cb(s, NL_CB_CUSTOM, on_error, &error);
	if (nl_send_auto(s, m) < 0 || (nl_recvmsgs_default(s) < 0 && !error))
		return -EIO;
	return error;
}

bool nic_netlink_read_uint(const struct nlattr *a, uint64_t *value)
{
	uint32_t small;

	if (!a || (nla_len(a) != sizeof(small) && nla_len(a) != sizeof(*value)))
		return false;
	memcpy(&small, nla_data(a), sizeof(small));
	*value = small;
	if (nla_len(a) == sizeof(*value))
		memcpy(value, nla_data(a), sizeof(*value));
	return true;
}
