/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the kernel tracing? */
#ifndef HOST_TRACE_TRACE_RUNNING_H
#define HOST_TRACE_TRACE_RUNNING_H

#include "rant.h"

/* Is the kernel tracing, in the top instance or any other: a tracer is set, or events are enabled, and tracing is on?
 * Names the first such one in text. False too where tracefs cannot be read. Takes milliseconds; changes nothing. */
bool trace_is_running(char *text, size_t bytes);

#endif
