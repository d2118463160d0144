/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU latency request (PM QoS): keeps idle CPUs, including the CPUs of the interrupts, out of states with a long exit
 * latency. */
#ifndef HOST_PROCESS_CPU_LATENCY_H
#define HOST_PROCESS_CPU_LATENCY_H

#include "rant.h"

/* Makes the request, which holds while the returned descriptor is open. -1: not granted; with `verbose` after one line.
 * Source: Documentation/power/pm_qos_interface.rst. */
int cpu_latency_open(bool verbose);

/* fd -1: does nothing. */
void cpu_latency_close(int fd);

#endif
