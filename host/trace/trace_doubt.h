/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions that make a trace useless. For tracefs.c only. */
#ifndef HOST_TRACE_TRACE_DOUBT_H
#define HOST_TRACE_TRACE_DOUBT_H

#include "tracefs.h"

/* Checks that markers can be written: the switch of the instance, and the CPUs of this process. 0, or -EINVAL after one
 * line. Also prints a line if they can be written on some of the CPUs only. */
int trace_doubt_markers(const struct trace *t);

/* Prints a line each for a clock, events and a buffer that cannot show the cause of a breach. Fills t->clock. */
void trace_doubt_content(struct trace *t, double packets_per_s);

#endif
