/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the hardware counters that pmc.h reads. Both headers are one module, whose names begin with pmc_; it has two
 * files, since only pmc.c may run between send and receive. */
#ifndef HOST_COUNTERS_PMU_H
#define HOST_COUNTERS_PMU_H

#include "host/counters/pmc.h"
#include "rant.h"

/* Opens counters for the calling thread, which must be the measuring thread: as many of the known events as the machine
 * can count at the same time. `system_calls`: also opens events that only a system call can read (page-faults,
 * context-switches, cpu-migrations) if rdpmc reads the others; if rdpmc cannot read any, a system call reads all. 0, or
 * after one line -ENODEV (no counters), -EACCES, -EMFILE or similar. Source: perf_event_open(2), linux/perf_event.h. */
int pmc_open(struct pmc *p, bool system_calls);

/* Name of a counter in 'perf list', such as "cache-misses". */
const char *pmc_name(const struct pmc *p, unsigned i);

/* After the run, before the thread that opened the counters ends: sets p->partial. */
void pmc_finish(struct pmc *p);

void pmc_close(struct pmc *p);

#endif
