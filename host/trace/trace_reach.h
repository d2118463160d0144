/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far back the buffers of a frozen trace reach. */
#ifndef HOST_TRACE_TRACE_REACH_H
#define HOST_TRACE_TRACE_REACH_H

#include "tracefs.h"

/* 1: the frozen buffer of each CPU has all events since raw_ns of CLOCK_MONOTONIC_RAW; 0: one of them has overwritten
 * some. Not known with a snapshot or another trace clock, or if the buffers are saved already. Not in the loop. */
struct optional trace_reaches(const struct trace *t, int64_t raw_ns);

#endif
