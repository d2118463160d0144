/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a transport can reach the peer through this interface. */
#ifndef HOST_NIC_NIC_REACH_H
#define HOST_NIC_NIC_REACH_H

#include "host/nic/nic.h"
#include "options.h"

/* Before the run: checks that the emitter's server can be reached through this interface by --transport, that a
 * reflector has an address there (fills n->first4 and n->first6), and that no ptp4l uses the PTP domain on it. 0, or
 * -errno after one line. */
int nic_check_reach(struct nic *n, const struct options *o);

#endif
