// SPDX-License-Identifier: GPL-2.0-or-later
/* Driver, firmware, link speed and interrupt coalescing, by ethtool ioctls. */
#include "host/nic/nic_details.h"

#include <linux/ethtool.h>

void nic_read_details(const struct nic *n, struct nic_details *d)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ethtool_coalesce c = { .cmd = ETHTOOL_GCOALESCE };

	*d = (struct nic_details){ .link.speed_mbps = -1 };
	if (!nic_ethtool(n, &info)) {
		snprintf(d->driver_version, sizeof(d->driver_version), "%.*s", (int)sizeof(info.version), info.version);
		snprintf(d->firmware, sizeof(d->firmware), "%.*s", (int)sizeof(info.fw_version), info.fw_version);
	}
	if (nic_read_link(n, &d->link))
		d->link.speed_mbps = -1;
	d->coalescing_known = !nic_ethtool(n, &c);
	d->adaptive_receive = c.use_adaptive_rx_coalesce;
	d->adaptive_transmit = c.use_adaptive_tx_coalesce;
	d->receive_us = c.rx_coalesce_usecs;
	d->transmit_us = c.tx_coalesce_usecs;
}
