/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does a transport reach whom it is to reach, through this interface? */
#ifndef HOST_NIC_NIC_REACH_H
#define HOST_NIC_NIC_REACH_H

#include "host/nic/nic.h"
#include "options.h"

/* The server of an emitter is reached through this interface by --transport, a reflector can be reached there
 * (n->first4 and n->first6 are filled then), and nobody else has our PTP domain on it. 0, or -errno after one line.
 * Before the run. */
int nic_check_reach(struct nic *n, const struct options *o);

#endif
