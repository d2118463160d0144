/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Living beside ptp4l. */
#ifndef HOST_NIC_NIC_PTP4L_H
#define HOST_NIC_NIC_PTP4L_H

#include "host/nic/nic.h"
#include "rant.h"

/* Does a ptp4l of this network namespace have this interface and this domain, by its arguments and its configuration?
 * PTP messages of ours would then be part of its. 0, or -EBUSY after one line. Of one whose files this process may
 * not read nothing is known: 0. */
int nic_check_ptp4l(const struct nic *n, int domain);

#endif
