/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the address reached through this interface? Is it one of its own? */
#ifndef HOST_NIC_NIC_ADDRESS_H
#define HOST_NIC_NIC_ADDRESS_H

#include "host/nic/nic.h"
#include "rant.h"

/* For an emitter: `server` is reached through this interface and is no address of this host (loopback excepted). 0, or
 * -errno after one line. Source: rtnetlink(7). */
int nic_check_address(const struct nic *n, const union address *server);

/* Is there a route to a host of this address through the interface of this index? Not a word. */
bool nic_reaches(int index, const union address *to);

/* For a reflector: fills n->first4 and n->first6, the first address of each family, of IPv6 the oldest one beyond the
 * link if there is one. One of `family`, or AF_UNSPEC of any, must be there. 0, or -errno after one line. */
int nic_find_own(struct nic *n, int family);

/* Is it an address of the interface, so that a socket can be bound to it? AF_UNSPEC: none is asked for, which is good.
 * 0, or
 * -errno after one line that names one that is. */
int nic_check_own(const struct nic *n, const union address *address);

#endif
