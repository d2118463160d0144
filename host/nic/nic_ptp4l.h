/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detection of a ptp4l that uses the same PTP domain. */
#ifndef HOST_NIC_NIC_PTP4L_H
#define HOST_NIC_NIC_PTP4L_H

#include "host/nic/nic.h"
#include "rant.h"

/* Searches this network namespace for a ptp4l with this interface and domain in its arguments or its configuration:
 * such a ptp4l would process the PTP messages that rant sends. 0, or -EBUSY after one line. A ptp4l whose files this
 * process may not read is ignored. */
int nic_check_ptp4l(const struct nic *n, int domain);

#endif
