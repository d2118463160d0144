// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about drivers of NICs, from their sources. */
#include "doctor/driver.h"

#include "doctor/facts.h"
#include "host/nic/nic.h"
#include "options.h"

#include <linux/net_tstamp.h>
#include <string.h>

static const struct check_driver drivers[] = {
	{ "igb", ALL_LISTED, 1, BY_KWORKER, MODES, NULL },
	{ "igb", ALL_NOT_LISTED, 1, BY_OWN_KWORKER, MODES | REFUSES, NULL },
	{ "igc", ALL_OR_NOT, 4, BY_INTERRUPT, MODES | TAKES, NULL },
	{ "e1000e", ALL_OR_NOT, 1, BY_OWN_KWORKER, MODES, NULL },
	{ "ixgbe", ALL_OR_NOT, 1, BY_OWN_KWORKER, REFUSES, NULL },
	{ "i40e", ALL_OR_NOT, 1, BY_INTERRUPT, REFUSES, NULL },
	{ "ice", ALL_OR_NOT, 64, BY_THREAD, TAKES, NULL },
	{ "mlx5_core", ALL_OR_NOT, 0, BY_COMPLETION, 0,
	  "T1 and T3 are times of the DMA completion, before the wire, for all packets except PTP to port 319" },
	{ "mlx4_en", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "bnxt_en", ALL_OR_NOT, 4, BY_THREAD, 0, NULL },
	{ "tg3", ALL_OR_NOT, 1, BY_THREAD, REFUSES,
		"polls for a transmit timestamp every 100 ms, three times at most" },
	{ "st_gmac", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "fsl_enetc", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
	{ "sfc", ALL_OR_NOT, 0, BY_COMPLETION, 0, NULL },
};

const struct check_driver *check_find_driver(const struct check *c)
{
	bool all = c->nic.can.rx_filters & (1U << HWTSTAMP_FILTER_ALL);

	for (const struct check_driver *d = drivers; d < drivers + CHECK_COUNT(drivers); d++)
		if (!strcmp(d->name, c->nic.driver) &&
		    (d->filters == ALL_OR_NOT || (d->filters == ALL_LISTED) == all))
			return d;
	return NULL;
}

bool check_needs_own_cpu(const struct check *c)
{
	const struct check_driver *d = check_find_driver(c);

	return options_by_nic(c->options) && d && d->delivery == BY_OWN_KWORKER;
}
