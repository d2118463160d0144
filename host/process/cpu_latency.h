/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps idle CPUs, those that take the interrupts too, from states that take long to leave. */
#ifndef HOST_PROCESS_CPU_LATENCY_H
#define HOST_PROCESS_CPU_LATENCY_H

#include "rant.h"

/* Asks the kernel for it, for as long as the descriptor that is returned is open. -1: not granted, which `verbose` says
 * in a line. Source: Documentation/power/pm_qos_interface.rst. */
int cpu_latency_open(bool verbose);

/* fd -1: nothing. */
void cpu_latency_close(int fd);

#endif
