/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons that host/counters/activity.c counted. For the table of verdict.c only. */
#ifndef REPORT_VERDICT_VERDICT_ACTIVITY_H
#define REPORT_VERDICT_VERDICT_ACTIVITY_H

#include "report/verdict/verdict_finding.h"

/* CANNOT_TELL: the counters were not read. */

/* Timestamps that the driver counts as lost. */
enum verdict_outcome verdict_look_lost_stamps(const struct verdict_facts *f, struct verdict_finding *found);

/* Errors and drops of the NIC, without intended drops. */
enum verdict_outcome verdict_look_drops(const struct verdict_facts *f, struct verdict_finding *found);

/* Dropped on receipt, per second: a second that has begun counts as one, rounded up. */
enum verdict_outcome verdict_look_receive_drops(const struct verdict_facts *f, struct verdict_finding *found);

/* Number of moves of the measuring thread to another CPU. */
enum verdict_outcome verdict_look_moved(const struct verdict_facts *f, struct verdict_finding *found);

/* Stall time of the loop minus the time that it waited for its CPU, in percent of the run, rounded up, at most 100; or
 * the longest stall if that is STALL_LONG_NS or more, since waits for a CPU are rarely as long and many short waits
 * could hide it. 0: too short for a finding. */
enum verdict_outcome verdict_look_stalled(const struct verdict_facts *f, struct verdict_finding *found);

/* Time that the thread waited for its CPU, in percent of the run, rounded up, at most 100. 0: too short for a
 * finding. */
enum verdict_outcome verdict_look_waited(const struct verdict_facts *f, struct verdict_finding *found);

/* Steal time of its CPU, in percent of the run. */
enum verdict_outcome verdict_look_stolen(const struct verdict_facts *f, struct verdict_finding *found);

/* Disruptions of the virtual machine. */
enum verdict_outcome verdict_look_disrupted(const struct verdict_facts *f, struct verdict_finding *found);

/* Number of times that its CPU was throttled by heat. */
enum verdict_outcome verdict_look_heat(const struct verdict_facts *f, struct verdict_finding *found);

/* Difference of the CPU frequency between start and end, in percent of the higher value, rounded up. */
enum verdict_outcome verdict_look_frequency(const struct verdict_facts *f, struct verdict_finding *found);

#endif
