/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the address reached through this interface? */
#ifndef HOST_NIC_ADDRESS_H
#define HOST_NIC_ADDRESS_H

#include "host/nic.h"
#include "rant.h"

/* For an emitter: `server` is reached through this interface and is no address of this host (loopback excepted). For a
 * reflector (server NULL): the interface has an IPv4 address. 0, or -errno after one line. Source: rtnetlink(7). */
int nic_check_address(const struct nic *n, const union address *server);

#endif
