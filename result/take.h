/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the results of objects of host/ as plain data, so that reports read no live object. Call these functions while
 * no other thread uses the object. */
#ifndef RESULT_TAKE_H
#define RESULT_TAKE_H

#include "rant.h"

struct activity_story;
struct affinity;
struct clock_peer;
struct clock_watch;
struct hooks;
struct link_watch;
struct machine_changes;
struct nic;
struct nic_provider_watch;
struct options;
struct pmc;
struct result_activity;
struct result_affinity;
struct result_changes;
struct result_clocks;
struct result_commands;
struct result_counters;
struct result_nic;
struct result_nic_setting;
struct result_peer;
struct result_trace;
struct trace;
struct trace_keeper;

void take_commands(struct result_commands *to, const struct hooks *from);

/* keeper: has the saved traces, after trace_keep_last(); NULL: none. */
void take_trace(struct result_trace *to, const struct trace *from, const struct trace_keeper *keeper);

/* After pmc_finish(). */
void take_counters(struct result_counters *to, const struct pmc *from);

void take_affinity(struct result_affinity *to, const struct affinity *from);

void take_changes(struct result_changes *to, const struct machine_changes *from);

/* After the readings of the end. Allocates; without memory, after one line, the differences are not known. */
void take_activity(struct result_activity *to, const struct activity_story *from);

void take_activity_free(struct result_activity *a);

/* ---- take_clocks.c ----------------------------------------------------------------------------------------------- */

/* began_ns: start of the run, CLOCK_MONOTONIC. */
void take_clocks(struct result_clocks *to, const struct clock_watch *from, int64_t began_ns);

/* After clock_peer_finish(). clocks: of this host; NULL: not watched. by_nic: the clock of its NIC was compared. */
void take_peer(struct result_peer *to, const struct clock_peer *from, const struct clock_watch *clocks, bool by_nic);

/* True if a clock of this host was set or stood still so far. During the run too, by any thread. */
bool take_clocks_moved(const struct clock_watch *clocks);

/* ---- take_nic.c -------------------------------------------------------------------------------------------------- */

/* Without `details` and `setting`. */
void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link);

/* The provider of the timestamps, and its changes. */
void take_nic_provider(struct result_nic *to, const struct nic_provider_watch *from);

/* A timestamp setting by nic_read_setting(), with its result. */
void take_nic_setting(struct result_nic_setting *to, const int setting[3], int error, const struct options *o);

#endif
