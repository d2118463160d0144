/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about drivers of NICs, from their sources. */
#ifndef DOCTOR_DRIVER_H
#define DOCTOR_DRIVER_H

#include "rant.h"

struct check;

/* The context in which the driver delivers a transmit timestamp. */
enum delivery {
	BY_INTERRUPT, BY_THREAD, BY_COMPLETION,
	BY_KWORKER, /* on the CPU of the interrupt */
	BY_OWN_KWORKER, /* on the sending CPU */
};

#define CHECK_DRIVER_SOURCE "ETHTOOL_GDRVINFO; sources of Linux 7.3"

struct check_driver {
	const char *name; /* by ETHTOOL_GDRVINFO */
	enum { ALL_OR_NOT, ALL_LISTED, ALL_NOT_LISTED } filters; /* distinguishes models of one driver */
	int in_flight; /* pending transmit timestamps at most; 0: as many as the queue has packets */
	enum delivery delivery;
	enum {
		MODES = 1, /* rx-usecs 1 to 3 select an adaptive mode and are not microseconds */
		REFUSES = 2, /* refuses filter "all" where it does not list it */
		TAKES = 4, /* accepts filter "all" where it does not list it */
	} flags;
	const char *note; /* printed as a finding; NULL: no note */
};

/* The row for the driver of the NIC. NULL: unknown driver. */
const struct check_driver *check_find_driver(const struct check *c);

/* True if the driver needs the sending CPU for a kernel thread, so that real-time priority does harm. */
bool check_needs_own_cpu(const struct check *c);

#endif
