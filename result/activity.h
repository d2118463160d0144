/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity of the machine during the run: differences between readings of its counters. */
#ifndef RESULT_ACTIVITY_H
#define RESULT_ACTIVITY_H

#include "host/counters/activity.h"
#include "rant.h"

#define DIFFERENCES_SHOWN 200 /* of each list, in a report */

/* As struct activity_difference, with its texts. */
struct result_difference {
	char group[64], name[96];
	char unit[16]; /* empty: a plain count */
	enum activity_change change;
	uint64_t delta, from, to;
};

struct result_differences {
	bool known; /* both readings exist */
	size_t count;
	struct result_difference *list; /* memory of the result; of a result that was read at most DIFFERENCES_SHOWN */
	uint64_t mark[2]; /* packets sent at both readings */
};

/* All zeros: not read. */
struct result_activity {
	bool is_read;
	int cpu; /* the CPU that the measuring thread is pinned to; -1: none */
	bool sees_disruptions; /* the hypervisor reports disruptions of the virtual machine */
	char unreadable[ACTIVITY_UNREADABLE][sizeof(((struct activity *)NULL)->unreadable[0])]; /* each with its reason */
	unsigned unreadables, unreadables_left_out;
	unsigned counters_left_out;
	struct result_differences run;
	struct result_differences until_breach; /* from the start to the first breach; known if there was one */
	/* From the breach before the worst, or the start, to the worst; not known: the first breach was the worst. */
	struct result_differences before_worst;
};

#endif
