/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the address reached through this interface? Is it one of its own? */
#ifndef HOST_NIC_ADDRESS_H
#define HOST_NIC_ADDRESS_H

#include "host/nic.h"
#include "rant.h"

/* For an emitter: `server` is reached through this interface and is no address of this host (loopback excepted). For a
 * reflector (server NULL): the interface has an IPv4 address. 0, or -errno after one line. Source: rtnetlink(7). */
int nic_check_address(const struct nic *n, const union address *server);

/* Is it an IPv4 address of the interface, so that a socket can be bound to it? AF_UNSPEC: none is asked for, which is good. 0, or
 * -errno after one line that names one that is. */
int nic_check_own(const struct nic *n, const union address *address);

#endif
