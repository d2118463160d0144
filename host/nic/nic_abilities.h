/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the NIC can stamp, and what its driver counted of it. Allocates (libnl): nothing for the measuring thread. */
#ifndef HOST_NIC_NIC_ABILITIES_H
#define HOST_NIC_NIC_ABILITIES_H

#include "host/nic/nic.h"
#include "rant.h"

/* Fills n->can, by ethtool netlink or, where that cannot be had, by ETHTOOL_GET_TS_INFO. 0, or -errno after one
 * line; an interface that stamps nothing is no error. */
int nic_read_abilities(struct nic *n);

/* Transmit stamps as the driver counts them, since it was loaded. has: bit 0 sent, bit 1 lost, bit 2 errors. */
struct nic_stamp_counts {
	uint64_t sent, lost, errors;
	unsigned has;
};

/* Asks by ethtool netlink (Linux 6.10; ice, mlx5, bnxt, idpf and a few more). 0, -EOPNOTSUPP where the kernel or the
 * driver does not count, or another -errno; silent. */
int nic_read_stamp_counts(const struct nic *n, struct nic_stamp_counts *counts);

#endif
