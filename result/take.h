/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the results of objects of host/ as plain data, so that reports read no live object. Call these functions while
 * no other thread uses the object. */
#ifndef RESULT_TAKE_H
#define RESULT_TAKE_H

struct activity_story;
struct affinity;
struct hooks;
struct machine_changes;
struct pmc;
struct result_activity;
struct result_affinity;
struct result_changes;
struct result_commands;
struct result_counters;
struct result_trace;
struct trace;
struct trace_saved;

void take_commands(struct result_commands *to, const struct hooks *from);

/* saved: the last saved trace; its path is empty, or it is NULL: none. */
void take_trace(struct result_trace *to, const struct trace *from, const struct trace_saved *saved);

/* After pmc_finish(). */
void take_counters(struct result_counters *to, const struct pmc *from);

void take_affinity(struct result_affinity *to, const struct affinity *from);

void take_changes(struct result_changes *to, const struct machine_changes *from);

/* After the readings of the end. Allocates; without memory, after one line, the differences are not known. */
void take_activity(struct result_activity *to, const struct activity_story *from);

void take_activity_free(struct result_activity *a);

#endif
