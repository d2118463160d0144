/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies the results of objects of host/ as plain data, so that reports read no live object. Call these functions while
 * no other thread uses the object. */
#ifndef RESULT_TAKE_H
#define RESULT_TAKE_H

struct activity_story;
struct hooks;
struct link_watch;
struct nic;
struct pmc;
struct result_activity;
struct result_commands;
struct result_counters;
struct result_nic;
struct result_trace;
struct trace;
struct trace_saved;

void take_commands(struct result_commands *to, const struct hooks *from);

/* saved: the last saved trace; its path is empty, or it is NULL: none. */
void take_trace(struct result_trace *to, const struct trace *from, const struct trace_saved *saved);

/* After pmc_finish(). */
void take_counters(struct result_counters *to, const struct pmc *from);

/* Without `details`, which the caller reads. */
void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link);

/* After the readings of the end. Allocates; without memory, after one line, the differences are not known. */
void take_activity(struct result_activity *to, const struct activity_story *from);

void take_activity_free(struct result_activity *a);

#endif
