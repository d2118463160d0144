/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hypervisor's report of disruptions: migration, pause, snapshot (VMClock, UAPI.13). For the activity only. */
#ifndef HOST_COUNTERS_ACTIVITY_VM_H
#define HOST_COUNTERS_ACTIVITY_VM_H

#include "host/counters/activity.h"

struct activity_inside;

/* Opens /dev/vmclock0 (Linux 6.13 and newer). Without the device nothing is added and nothing is noted. */
void activity_vm_open(struct activity *a);

void activity_vm_read(const struct activity_inside *in, struct activity_reading *r);

#endif
