/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activity of the machine during the run. For report/ only. */
#ifndef REPORT_TEXT_MACHINE_H
#define REPORT_TEXT_MACHINE_H

#include "rant.h"

struct report;
struct result_counters;


/* Hardware counters of quick exchanges, and of the spike. */
void machine_write_counters(FILE *out, const struct result_counters *p);

/* Counters of the kernel: until the first breach, before the worst breach, during the run. Nothing if a reading at the
 * start or the end is missing; needs the activity. */
void machine_write_activity(FILE *out, const struct report *r);

#endif
