/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about drivers of NICs, from their sources: one row for each driver, or for each kind of NIC of a driver. */
#ifndef HOST_NIC_NIC_DRIVER_H
#define HOST_NIC_NIC_DRIVER_H

#include "rant.h"

/* The context in which the driver delivers a transmit timestamp. */
enum nic_delivery {
	NIC_BY_UNKNOWN, NIC_BY_INTERRUPT, NIC_BY_THREAD, NIC_BY_COMPLETION,
	NIC_BY_KWORKER, /* on the CPU of the interrupt */
	NIC_BY_OWN_KWORKER, /* on the sending CPU */
};

/* Packets that the NIC timestamps in hardware. */
enum nic_stamped {
	NIC_STAMPS_BY_DEVICE, /* the driver asks the device */
	NIC_STAMPS_NONE, NIC_STAMPS_PTP, NIC_STAMPS_ALL,
};

struct nic_driver {
	const char *name; /* by ETHTOOL_GDRVINFO */
	enum { NIC_ALL_OR_NOT, NIC_ALL_LISTED, NIC_ALL_NOT_LISTED } filters; /* distinguishes models of one driver */
	enum nic_stamped receives, transmits;
	int in_flight; /* pending transmit timestamps at most; 0: as many as the queue has packets, or not known */
	enum nic_delivery delivery;
	enum {
		NIC_MODES = 1, /* rx-usecs 1 to 3 select an adaptive mode and are not microseconds */
		NIC_REFUSES = 2, /* refuses filter "all" where it does not list it */
		NIC_TAKES = 4, /* accepts filter "all" where it does not list it */
	} flags;
	uint32_t reads_per_s; /* readings of the clock by all programs together; 0: no limit is known */
	/* Texts for the doctor. NULL: no such fact is known. */
	const char *lost; /* names of the counters of lost transmit timestamps ("ethtool -S") */
	const char *meaning; /* the event whose time a timestamp of this driver is */
	const char *constants; /* delays by which the driver corrects its timestamps */
	const char *clock; /* other users, and limits, of the clock */
	const char *fault; /* known fault */
	const char *instead; /* other sources of time */
};

/* The row of a driver by its name and its receive filters (1 << HWTSTAMP_FILTER_*). NULL: no row. */
const struct nic_driver *nic_driver_find(const char *name, uint32_t rx_filters);

/* Row `index` of the table, by index from 0. NULL: no more rows. */
const struct nic_driver *nic_driver_row(size_t index);

/* Names of the counters of lost transmit timestamps, the same for all rows of a driver. NULL: not known. */
const char *nic_driver_lost(const char *name);

#endif
