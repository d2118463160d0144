/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of nic.c and of other modules for the files of host/nic/ only. */
#ifndef HOST_NIC_NIC_INSIDE_H
#define HOST_NIC_NIC_INSIDE_H

#include "host/nic/nic.h"
#include "rant.h"

/* One request of linux/sockios.h for this interface; fills in r->ifr_name. 0 or -errno. Safe in a signal handler. */
int nic_ioctl(const struct nic *n, unsigned long request, struct ifreq *r);

/* Prints "cannot WHAT interface ...: ERROR: see ...". Returns `error`. */
int nic_say_io(const struct nic *n, const char *what, int error);

/* ---- nic_stamp.c ------------------------------------------------------------------------------------------------- */

/* By SIOCSHWTSTAMP; `setting` becomes what the driver granted. 0 or -errno. Safe in a signal handler. */
int nic_write_setting(const struct nic *n, int setting[3]);

/* ---- nic_address.c ----------------------------------------------------------------------------------------------- */

/* Route to an address through this interface, and the addresses of the interface. */

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

/* ---- nic_ptp4l.c ------------------------------------------------------------------------------------------------- */

/* Detection of a ptp4l that uses the same PTP domain. */

/* Searches this network namespace for a ptp4l with this interface and domain in its arguments or its configuration:
 * such a ptp4l would process the PTP messages that rant sends. 0, or -EBUSY after one line. A ptp4l whose files this
 * process may not read is ignored. */
int nic_check_ptp4l(const struct nic *n, int domain);

/* ---- nic_share.c ------------------------------------------------------------------------------------------------- */

/*
 * Several rants on one NIC. The kernel does not count the users of a NIC's timestamps,
 * so the first rant that ends would switch them off for the others. Order of calls: join, set the NIC, begin; at the
 * end leave, restore, end. Prints nothing: without the shared file (not root), each rant works alone.
 */

/* Opens n->share_fd (-1: not shared). Waits up to 5 s for another rant that is setting the NIC. True: others use the
 * NIC, n->found is the setting that the first rant found, n->set the setting that the last rant made. */
bool nic_share_join(struct nic *n);

/* To be called when the NIC was changed from n->found to n->set: from here on others may join. Also after a rant that
 * has joined changed the setting again. */
void nic_share_begin(const struct nic *n);

/* True if no other rant is left: the lock is exclusive then, and n->set is the last setting made. Safe in a signal
 * handler. */
bool nic_share_leave(struct nic *n);

/* Closes n->share_fd; with `alone` also unlinks the file. Safe in a signal handler. */
void nic_share_end(struct nic *n, bool alone);

#endif
