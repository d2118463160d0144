/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One netlink request and its answer. Only for the files of the NIC. Allocates (libnl). */
#ifndef HOST_NIC_NIC_NETLINK_H
#define HOST_NIC_NIC_NETLINK_H

#include "rant.h"

#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

/* A socket for NETLINK_ROUTE or NETLINK_GENERIC, for nl_socket_free(); NULL: cannot be had. */
struct nl_sock *nic_netlink_open(int protocol);

/* Sends `m`, which stays the caller's, and calls on_answer(message, context) for each message of the answer. 0, or
 * the kernel's own -errno, which libnl's return value no longer tells; -EIO: no answer within 2 s. */
int nic_netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context);

#endif
