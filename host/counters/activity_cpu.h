/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measuring CPU: frequency, throttling and idle states by sysfs, the count of SMIs by an MSR. */
#ifndef HOST_COUNTERS_ACTIVITY_CPU_H
#define HOST_COUNTERS_ACTIVITY_CPU_H

#include "host/counters/activity_inside.h"

/* Adds the counters of the CPU that the thread is bound to; for a thread that is not bound it notes the counters that
 * cannot be read. */
void activity_cpu_open(struct activity *a);

/* The SMIs, unless r->measuring: reading an MSR interrupts that CPU. The files are read by activity_read_singles(). */
void activity_cpu_read(struct activity_inside *in, struct activity_reading *r);

#endif
