/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several rants on one NIC: only for the files of the NIC. The kernel does not count who needs a NIC's stamps, so the
 * first rant to end would take them from the others. In order: join, set the NIC, begin; at the end leave, put back,
 * end. All of it is silent: where the file cannot be had (not root), each rant is by itself.
 */
#ifndef HOST_NIC_NIC_SHARE_H
#define HOST_NIC_NIC_SHARE_H

#include "host/nic/nic.h"
#include "rant.h"

/* Opens n->share_fd, -1: there is no sharing. Waits up to 5 s for a rant that is just setting the NIC. True: others use
 * the NIC, n->found is what the first of them found, and n->set what the last of them set. */
bool nic_share_join(struct nic *n);

/* The NIC was set to n->set, n->found is what it was before: from here on others may join. Also of who has joined, and
 * set it again. */
void nic_share_begin(const struct nic *n);

/* Is nobody else left? Then the lock is exclusive, and n->set is what the last one set. Safe in a signal handler. */
bool nic_share_leave(struct nic *n);

/* Closes n->share_fd; with `alone` the file goes too. Safe in a signal handler. */
void nic_share_end(struct nic *n, bool alone);

#endif
