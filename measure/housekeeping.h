/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Housekeeping during the measurement: comparison of the clocks, state of the link, changes and activity of the
 * machine, breaches, saved traces. A thread on another CPU does this work. Without another CPU the clocks and the
 * link are read before and after the run only.
 */
#ifndef MEASURE_HOUSEKEEPING_H
#define MEASURE_HOUSEKEEPING_H

#include "host/clock/clock.h"
#include "host/counters/activity_story.h"
#include "host/counters/activity_unseen.h"
#include "host/counters/changes.h"
#include "host/nic/link.h"
#include "host/nic/nic_provider.h"
#include "host/process/worker.h"
#include "host/trace/trace_save.h"
#include "measure/exchange.h"
#include "result/breach.h"

#define HOUSEKEEPING_PERIOD_NS (100 * NS_PER_MS)

struct housekeeping {
	/* Set by the caller before housekeeping_start(). */
	struct exchange *exchange;
	struct trace *trace;
	int cpu; /* of the measuring thread; -1: may run on several */
	bool notes_changes; /* of the machine; an output needs them */
	struct worker worker; /* `begin` and its context */
	struct link_watch link; /* the NIC, on_change() and on_move() with their context */
	/* see struct trace_keeper */
	void (*on_saved)(void *context, const struct trace_record *breach, const char *path);
	void *saved_context;
	/* For each breach, after its reading of the activity. */
	void (*on_breach)(void *context, const struct sample *s, uint64_t number);
	void *breach_context;
	void (*print_outage)(void *context); /* emitter */
	void *context;
	struct activity_story activity; /* opened by activity_story_open() */

	/* Results. */
	struct clock_watch clocks;
	struct clock_packets packets; /* where the NIC's clock cannot be read */
	struct nic_provider_watch provider;
	struct machine_changes changes;
	struct breach_printer breaches;
	struct trace_keeper keeper;
	struct unseen_watch unseen; /* with --save-trace */
	bool no_other_cpu; /* so there is no thread */
};

#define HOUSEKEEPING_CLOSED { .clocks = { .phc_fd = -1, .frequency_fd = -1 } }

/* Opens the relation between the clocks of NIC and system: for the report, and to convert the times of user space. To
 * be closed by clock_close(). */
void housekeeping_open_clocks(struct housekeeping *h, const struct nic *n);

/* Reads the state before the run and starts the thread; worker_stop() ends it. If it cannot be started, which one line
 * reports where there is another CPU, the result gets no stages that need a comparison of the clocks during the run. 0,
 * or -errno after one line: --trace-rearm needs the thread. */
int housekeeping_start(struct housekeeping *h);

/* Right before the measurement: reads the activity of the machine, the setting of the NIC and its link. */
void housekeeping_read_before(struct housekeeping *h);

/* The same after the measurement, when the thread has ended, and the clocks. */
void housekeeping_read_after(struct housekeeping *h);

/* Reads the counters of what the kernel does not see, if the trace was frozen since their last reading. Returns those
 * around the last freeze. For the thread that saves the trace. */
const struct unseen_watch *housekeeping_look_unseen(struct housekeeping *h);

/* After that: copies what was seen of the NIC, the machine and the clocks into the result. Allocates. */
void housekeeping_take(const struct housekeeping *h);

#endif
