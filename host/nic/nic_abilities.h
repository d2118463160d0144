/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timestamp capabilities of the NIC, and its driver's counters. Allocates (libnl): not for the measuring thread. */
#ifndef HOST_NIC_NIC_ABILITIES_H
#define HOST_NIC_NIC_ABILITIES_H

#include "host/nic/nic.h"
#include "rant.h"

/* Fills n->can, by ethtool netlink or, where that is not available, by ETHTOOL_GET_TS_INFO. 0, or -errno after one
 * line; an interface without timestamps is not an error. */
int nic_read_abilities(struct nic *n);

/* The driver's counters of transmit timestamps since it was loaded. Bits of `has`, set for each counter that the
 * driver reports: 0 sent, 1 lost, 2 errors. */
struct nic_stamp_counts {
	uint64_t sent, lost, errors;
	unsigned has;
};

/* By ethtool netlink (Linux 6.10; ice, mlx5, bnxt, idpf and a few more). 0, -EOPNOTSUPP where the kernel or the driver
 * does not count, or another -errno; prints nothing. */
int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts);

#endif
