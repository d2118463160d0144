/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps idle CPUs, those that take the interrupts too, from states that take long to leave. */
#ifndef HOST_PROCESS_AWAKE_H
#define HOST_PROCESS_AWAKE_H

#include "rant.h"

/* Asks the kernel for it, for as long as the descriptor that is returned is open. -1: not granted, which `verbose` says
 * in a line. Source: Documentation/power/pm_qos_interface.rst. */
int awake_open(bool verbose);

/* fd -1: nothing. */
void awake_close(int fd);

#endif
