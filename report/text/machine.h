/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity of the machine during the run. For report/ only. */
#ifndef REPORT_TEXT_MACHINE_H
#define REPORT_TEXT_MACHINE_H

#include "rant.h"

struct affinity;
struct pmc;
struct report;

/* One line: CPU affinity and scheduling policy of the measuring thread. */
void machine_write_affinity(FILE *out, const struct affinity *p);

/* Hardware counters of a quick exchange, and next to them those of the spike. */
void machine_write_counters(FILE *out, const struct pmc *p);

/* What the kernel counted: until the first breach, before the worst one, during the run. Nothing where a reading at the
 * start or the end is missing; the activity itself must be there. One thread at a time. */
void machine_write_activity(FILE *out, const struct report *r);

#endif
