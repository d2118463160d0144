/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Route to an address through this interface, and the addresses of the interface. */
#ifndef HOST_NIC_NIC_ADDRESS_H
#define HOST_NIC_NIC_ADDRESS_H

#include "host/nic/nic.h"
#include "rant.h"

/* For an emitter: checks that `server` is reached through this interface and is not an address of this host, except on
 * the loopback. 0, or -errno after one line. Source: rtnetlink(7). */
int nic_check_address(const struct nic *n, const union address *server);

/* True if a route to this unicast address leads through the interface of this index. Prints nothing. */
bool nic_reaches(int index, const union address *to);

/* The index of the interface of the route to this address; 0: the route has several; -errno: no route. */
int nic_route_to(const union address *to);

/* For a reflector: fills n->first4 and n->first6 with the first address of each family; for IPv6 this is the oldest
 * address of more than link-local scope, if the interface has such an address. 0, or -errno after one line where the
 * interface has no address of `family` (AF_UNSPEC: of either family). */
int nic_find_own(struct nic *n, int family);

/* Checks that the interface has this address, so that a socket can be bound to it; AF_UNSPEC always passes. 0, or
 * -errno after one line that names an address of the interface. */
int nic_check_own(const struct nic *n, const union address *address);

#endif
