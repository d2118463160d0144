/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run buffers: histograms (latency, stages, each direction, schedule), the log, and a reflector's sessions
 * or an emitter's window and source ports. */
#ifndef MEASURE_RUN_BUFFERS_H
#define MEASURE_RUN_BUFFERS_H

#include "host/process/memory.h"
#include "measure/exchange.h"

struct run_buffers {
	struct memory histogram_memory, log_memory, flight_memory, session_memory, port_memory, neighbour_memory;
	struct neighbours neighbours;
	struct histogram latency, stage[STAGES], one_way[ONE_WAYS], planned[PLANNED], poll_gaps;
	struct log log;
};

/* Lays out and maps the histograms that these options request, a reflector's session table, and with a
 * window the flights, and sets x's pointers. 0, or -errno after one line: -EINVAL if the finest bucket does
 * not divide --bucket-size. */
int run_buffers_open(struct run_buffers *s, const struct options *o, struct exchange *x);

/* The same for the log's ring, if any. emptied: a thread drains it during the run. */
int run_buffers_open_log(struct run_buffers *s, const struct options *o, struct exchange *x, bool emptied);

/* Locks all memory of the process. Each refusal, also of --hugepages, is reported in one line. 0 or -errno. */
int run_buffers_lock(const struct run_buffers *s, const struct options *o);

/* Octets without a resident page; -1: unknown. Only valid while memory is locked. */
int64_t run_buffers_absent_bytes(const struct run_buffers *s);

/* After source_ports_finish(), once: makes the collected data readable, and fills the results of IPDV and of the ports. */
void run_buffers_finish(struct run_buffers *s, struct exchange *x);

void run_buffers_close(struct run_buffers *s);

#endif
