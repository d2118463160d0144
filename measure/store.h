/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of what is collected: the histograms of the latency, of its stages, of each way and of the schedule, and
 * the log; and of the senders of a reflector, or the probes in a window and their source ports. */
#ifndef MEASURE_STORE_H
#define MEASURE_STORE_H

#include "host/process/memory.h"
#include "measure/exchange.h"

struct store {
	struct memory histogram_memory, log_memory, flight_memory, session_memory, port_memory;
	struct histogram latency, stage[STAGES], one_way[ONE_WAYS], planned[PLANNED];
	struct log log;
};

/* Lays out and maps the histograms that these options ask for, the table of sessions of a reflector, and with a window
 * the flights, and points x at them. 0, or -errno after one line: -EINVAL for a --bucket-size that the finest bucket
 * does not divide. */
int store_open(struct store *s, const struct options *o, struct exchange *x);

/* The same for the ring of the log, if there is one. emptied: there is a thread that takes from it beside the run. */
int store_open_log(struct store *s, const struct options *o, struct exchange *x, bool emptied);

/* Locks all memory of the process. What could not be had, --hugepages too, is said in a line each. 0 or -errno. */
int store_lock(const struct store *s, const struct options *o);

/* How much of it is in no page; -1: cannot be told. Not after memory was unlocked. */
int64_t store_absent_bytes(const struct store *s);

/* After the run, once: what is collected can be read now. */
void store_finish(struct store *s, const struct exchange *x);

void store_close(struct store *s);

#endif
