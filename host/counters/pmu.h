/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the hardware counters that pmc.h reads. The two are one module in two files, since only pmc.c may run
 * between send and receive: so all names begin with pmc_. */
#ifndef HOST_COUNTERS_PMU_H
#define HOST_COUNTERS_PMU_H

#include "host/counters/pmc.h"
#include "rant.h"

/* Opens counters for the calling thread, which must be the measuring one: as many of the known events as the machine
 * can count at once. `system_calls`: also those that only a system call can read (page-faults, context-switches,
 * cpu-migrations), when rdpmc does for the others; where it does for none, all are read by system call. 0, or after
 * one line -ENODEV (there are none), -EACCES, -EMFILE and the like. Source: perf_event_open(2), linux/perf_event.h. */
int pmc_open(struct pmc *p, bool system_calls);

/* "cache-misses" and the like, as 'perf list' calls them. */
const char *pmc_name(const struct pmc *p, unsigned i);

/* After the run, while the thread that opened is still there: sets p->partial. */
void pmc_finish(struct pmc *p);

void pmc_close(struct pmc *p);

#endif
