/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Driver, firmware, link speed and interrupt coalescing of the NIC, as context for a result. */
#ifndef HOST_NIC_NIC_DETAILS_H
#define HOST_NIC_NIC_DETAILS_H

#include "host/nic/nic.h"
#include "rant.h"

struct nic_details {
	char driver_version[40], firmware[40]; /* empty: not reported */
	struct nic_link link; /* speed_mbps -1: not known */
	bool coalescing_known;
	bool adaptive_receive, adaptive_transmit;
	uint32_t receive_us, transmit_us; /* longest delay of an interrupt by coalescing */
};

/* By ETHTOOL_GDRVINFO, GLINKSETTINGS and GCOALESCE. A value that cannot be read is marked as not known; prints
 * nothing. */
void nic_read_details(const struct nic *n, struct nic_details *d);

#endif
