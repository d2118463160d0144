/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts about the driver of the inspected NIC. */
#ifndef DOCTOR_DRIVER_H
#define DOCTOR_DRIVER_H

#include "host/nic/nic_driver.h"
#include "rant.h"

struct check;

#define CHECK_DRIVER_SOURCE "ETHTOOL_GDRVINFO; sources of Linux 7.3"

/* The row for the driver of the NIC. NULL: no facts are known. */
const struct nic_driver *check_find_driver(const struct check *c);

/* True if the driver needs the sending CPU for a kernel thread, so that real-time priority does harm. */
bool check_needs_own_cpu(const struct check *c);

#endif
