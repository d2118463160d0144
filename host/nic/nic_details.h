/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else the driver tells of the NIC: nothing that rant needs, but what a result is read with. */
#ifndef HOST_NIC_NIC_DETAILS_H
#define HOST_NIC_NIC_DETAILS_H

#include "host/nic/nic.h"
#include "rant.h"

struct nic_details {
	char driver_version[40], firmware[40]; /* empty: not told */
	struct nic_link link; /* speed_mbps -1: not known */
	bool coalescing_known;
	bool adaptive_receive, adaptive_transmit;
	uint32_t receive_us, transmit_us; /* that an interrupt may be held back */
};

/* By ETHTOOL_GDRVINFO, GLINKSETTINGS and GCOALESCE. What cannot be read is not known; silent. */
void nic_read_details(const struct nic *n, struct nic_details *d);

#endif
