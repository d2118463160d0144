/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts and softirqs of the measuring CPU and of the NIC: /proc/interrupts and /proc/softirqs. */
#ifndef HOST_COUNTERS_ACTIVITY_INTERRUPTS_H
#define HOST_COUNTERS_ACTIVITY_INTERRUPTS_H

#include "host/counters/activity_inside.h"

/* Finds out which interrupts are the NIC's and on which CPUs they come. After activity_fields_open(), which opens
 * the files. */
void activity_interrupts_open(struct activity *a);

/* Adds the interrupts that come for the first time, too. Sets r->cpus and r->rows. */
void activity_interrupts_read(struct activity *a, struct activity_reading *r);

#endif
