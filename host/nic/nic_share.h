/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several rants on one NIC: only for the files of host/nic/. The kernel does not count the users of a NIC's timestamps,
 * so the first rant that ends would switch them off for the others. Order of calls: join, set the NIC, begin; at the
 * end leave, restore, end. Prints nothing: without the shared file (not root), each rant works alone.
 */
#ifndef HOST_NIC_NIC_SHARE_H
#define HOST_NIC_NIC_SHARE_H

#include "host/nic/nic.h"
#include "rant.h"

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
