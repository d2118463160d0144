/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of this machine during a run, with their times: what a change of the latency may come from. */
#ifndef HOST_COUNTERS_CHANGES_H
#define HOST_COUNTERS_CHANGES_H

#include "rant.h"

#define MACHINE_CHANGES_KEPT 64
#define MACHINE_CHANGES_IRQS 64 /* interrupts of the interface */
#define MACHINE_CHANGE_BYTES 64
#define MACHINE_CPUS_BYTES 24 /* the begin of a list of CPUs */

struct machine_change {
	int64_t at_ns; /* CLOCK_MONOTONIC, when it was seen: at most one period of the duty late */
	char text[MACHINE_CHANGE_BYTES];
};

struct machine_irq {
	unsigned number;
	char cpus[MACHINE_CPUS_BYTES]; /* as last read; empty: not known */
};

struct machine_changes {
	char interface[16];
	int cpu; /* of the measuring thread; -1: may run on several */
	const _Atomic bool *idle; /* set by the caller: while true nothing is measured, so nothing is read; NULL: never */
	int64_t khz, carrier_changes; /* as last read; -1: not known */
	struct machine_irq irq[MACHINE_CHANGES_IRQS];
	unsigned irqs;
	struct machine_change kept[MACHINE_CHANGES_KEPT]; /* the first ones */
	uint64_t count; /* all of them */
};

/* Reads the present state. cpu: as in the struct. */
void machine_changes_open(struct machine_changes *c, const char *interface, int cpu);

/* Reads it again, and keeps what differs: the frequency of the CPU by more than a tenth, the CPUs of an interrupt of the
 * interface, and its link. A duty of host/process/worker.h; reads small files of /sys and /proc/irq that no CPU but its
 * own has a part in. */
void machine_changes_look(void *changes);

#endif
