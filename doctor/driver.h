/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the NICs' drivers, from their sources. */
#ifndef DOCTOR_DRIVER_H
#define DOCTOR_DRIVER_H

#include "rant.h"

struct check;

/* What brings a transmit stamp to the program. */
enum delivery {
	BY_INTERRUPT, BY_THREAD, BY_COMPLETION,
	BY_KWORKER, /* of the CPU that took the interrupt */
	BY_OWN_KWORKER, /* of the CPU that sent */
};

#define CHECK_DRIVER_SOURCE "ETHTOOL_GDRVINFO; sources of Linux 7.3"

struct check_driver {
	const char *name; /* as ETHTOOL_GDRVINFO tells */
	enum { ALL_OR_NOT, ALL_LISTED, ALL_NOT_LISTED } filters; /* tells models of one driver apart */
	int in_flight; /* transmit stamps at a time; 0: as many as the queue holds */
	enum delivery delivery;
	enum {
		MODES = 1, /* rx-usecs of 1 to 3 are ways to adapt, not microseconds */
		REFUSES = 2, /* filter "all" where it is not listed */
		TAKES = 4, /* it there */
	} flags;
	const char *note; /* NULL: none */
};

/* That of the NIC. NULL: nothing is on record of it. */
const struct check_driver *check_find_driver(const struct check *c);

/* The driver needs the sending CPU for a thread of its own, so real-time priority is no advice. */
bool check_needs_own_cpu(const struct check *c);

#endif
