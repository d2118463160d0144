/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Poll gaps: times in which the measuring thread did not poll (hot). In an ordinary turn of the loop a gap is the time of
 * a system call. A longer gap is an interrupt, a softirq, another thread or a page fault on its CPU, or a hypervisor:
 * between exchanges they are what oslat(8) measures.
 */
#ifndef RESULT_POLL_GAPS_H
#define RESULT_POLL_GAPS_H

#include "result/outage.h"

struct histogram;

#define POLL_GAP_LONG_NS (10 * NS_PER_US) /* gaps between exchanges count from here on */

struct poll_gaps {
	struct histogram *within; /* the longest gap of each exchange; NULL: not collected */
	struct outages between; /* gaps of POLL_GAP_LONG_NS or more between exchanges, at most one between two */
};

#endif
