/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detection of a running kernel trace. */
#ifndef HOST_TRACE_TRACE_RUNNING_H
#define HOST_TRACE_TRACE_RUNNING_H

#include "rant.h"

/* True if the kernel is tracing in any instance: tracing is on, and a tracer is set or events are enabled. text: name
 * of the first such instance. Also false if tracefs cannot be read. Takes milliseconds; changes nothing. */
bool trace_is_running(char *text, size_t bytes);

#endif
