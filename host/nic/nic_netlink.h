/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One netlink request and its reply. Only for the files of host/nic/. Allocates (libnl). */
#ifndef HOST_NIC_NIC_NETLINK_H
#define HOST_NIC_NIC_NETLINK_H

#include "rant.h"

#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

/* Opens a socket for NETLINK_ROUTE or NETLINK_GENERIC, to be freed by nl_socket_free(); NULL: failed. */
struct nl_sock *nic_netlink_open(int protocol);

/* Sends `m`, which the caller frees, and calls on_answer(message, context) for each message of the reply. 0, or the
 * kernel's own -errno, which libnl replaces by a code of its own; -EIO: no reply within 2 s. */
int nic_netlink_ask(struct nl_sock *s, struct nl_msg *m, nl_recvmsg_msg_cb_t on_answer, void *context);

/* A netlink "u32", or a "uint", which has 4 octets, or 8 if the value needs them. False: absent, or another size. */
bool nic_netlink_read_uint(const struct nlattr *a, uint64_t *value);

#endif
