/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What would make the trace worth little. For tracefs.c alone. */
#ifndef HOST_TRACE_TRACE_DOUBT_H
#define HOST_TRACE_TRACE_DOUBT_H

#include "tracefs.h"

/* Can markers be written, as far as the instance's switch for them and the CPUs of this process tell? 0, or -EINVAL
 * after one line. A line too where they can be written on some of the CPUs only. */
int trace_doubt_markers(const struct trace *t);

/* A line each for a clock, events and a buffer that will not show what happened at a breach. Fills t->clock. */
void trace_doubt_content(struct trace *t, double packets_per_s);

#endif
