/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measuring thread and this machine: CPU affinity, hardware counters, changes and activity during the run. */
#ifndef RESULT_MACHINE_H
#define RESULT_MACHINE_H

#include "host/counters/activity.h"
#include "host/counters/changes.h"
#include "host/counters/pmc.h"
#include "rant.h"

/* CPU affinity and scheduling policy of the measuring thread. All zeros: not read. */
struct result_affinity {
	char text[64]; /* "CPU 3, SCHED_FIFO 22"; "not known": the kernel refused; empty: not read */
	bool known; /* the members below are known */
	int cpus; /* number of CPUs in the affinity mask */
	int priority; /* 0 except with SCHED_FIFO and SCHED_RR */
	char policy[24]; /* "SCHED_FIFO" */
};

/* Hardware counters of the measuring thread, of exchanges whose counters could be read. All zeros: not read. */
struct result_counters {
	unsigned counters; /* length of the arrays below */
	char name[PMC_MAX][32]; /* in 'perf list' */
	bool user_only; /* work in the kernel is not counted */
	unsigned system_calls; /* that reading adds to an exchange */
	char missing[sizeof(((struct pmc *)NULL)->missing)]; /* names of events that are not counted; "" if none */
	uint64_t quick; /* exchanges that are not slow */
	double quick_mean[PMC_MAX]; /* of these; without them 0 */
	uint64_t slow;
	uint64_t spike[PMC_MAX]; /* of the first slow exchange */
	uint64_t failed; /* exchanges whose counters could not be read */
	bool partial[PMC_MAX]; /* did not count all the time, so its values are too low */
};

/* Changes of the machine during the run, each with its time. All zeros: none, or not looked for. */
struct result_changes {
	struct machine_change kept[MACHINE_CHANGES_KEPT]; /* the first */
	uint64_t count; /* also those that are not kept */
};

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

/* Activity of the machine during the run: differences between readings of its counters. All zeros: not read. */
struct result_activity {
	bool is_read;
	bool is_pinned; /* the measuring thread is pinned to a CPU */
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
