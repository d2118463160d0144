/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the NIC driver: statistics by ethtool, and timestamps delivered and lost. */
#ifndef HOST_COUNTERS_ACTIVITY_NIC_H
#define HOST_COUNTERS_ACTIVITY_NIC_H

#include "host/counters/activity_inside.h"

/* Adds, of the driver's statistics, those whose names contain a word for a fault. Maps memory. */
void activity_nic_open(struct activity *a);

/* Nothing of the statistics when the driver has another number of them than at opening. */
void activity_nic_read(struct activity *a, struct activity_reading *r);

/* Unmaps it. */
void activity_nic_close(struct activity_inside *in);

#endif
