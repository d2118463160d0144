// SPDX-License-Identifier: GPL-2.0-or-later
/* The facts about the driver of the inspected NIC. */
#include "doctor/driver.h"

#include "doctor/facts.h"
#include "host/nic/nic.h"
#include "options.h"

const struct nic_driver *check_find_driver(const struct check *c)
{
	return nic_driver_find(c->nic.driver, c->nic.can.rx_filters);
}

bool check_needs_own_cpu(const struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);

	return options_by_nic(c->options) && d && d->delivery == NIC_BY_OWN_KWORKER;
}
