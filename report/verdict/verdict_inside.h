/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The check of each reason: only for the files of the verdict. */
#ifndef REPORT_VERDICT_VERDICT_INSIDE_H
#define REPORT_VERDICT_VERDICT_INSIDE_H

#include "rant.h"
#include "report/verdict/verdict.h"

/* ---- verdict_finding.c ------------------------------------------------------------------------------------------- */

/* Result of the check of one reason. */

enum verdict_outcome { JUDGED, NOT_ASKED, CANNOT_TELL };

struct verdict_finding {
	char more[VERDICT_MORE_BYTES]; /* follows the name, with a space before it */
	uint64_t number; /* compared with the limit of the reason */
	char text[VERDICT_TEXT_BYTES]; /* the number in words; may be set without a reason */
};

/* Appends to the text, which is truncated to the size of the buffer. */
#define verdict_say(found, ...) text_add((found)->text, sizeof((found)->text), __VA_ARGS__)

/* ", " between the parts of a list. */
const char *verdict_comma(const struct verdict_finding *found);

/* The ending of a noun after a number. */
static inline const char *verdict_s(uint64_t number)
{
	return number == 1 ? "" : "s";
}

/* ---- verdict_activity.c ------------------------------------------------------------------------------------------ */

/* The reasons that host/counters/activity.c counted. */

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

/* ---- verdict_outage.c -------------------------------------------------------------------------------------------- */

/* Reasons about outages. */

/* Replies of a reflector that its kernel refused. */
enum verdict_outcome verdict_look_refused_replies(const struct verdict_facts *f, struct verdict_finding *found);

/* Packets that the kernel dropped at the socket. */
enum verdict_outcome verdict_look_dropped(const struct verdict_facts *f, struct verdict_finding *found);

/* Time of outages at an emitter: in 1/1000 of the run, up to half of it, and in percent; rounded up. */
enum verdict_outcome verdict_look_silence(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_most_silence(const struct verdict_facts *f, struct verdict_finding *found);

/* Missed slots of --interval, in 1/1000 of the slots. */
enum verdict_outcome verdict_look_schedule(const struct verdict_facts *f, struct verdict_finding *found);

/* Link failures. */
enum verdict_outcome verdict_look_link(const struct verdict_facts *f, struct verdict_finding *found);

/* Changes of the member through which a bond sends, during the run or at its end. */
enum verdict_outcome verdict_look_stamper(const struct verdict_facts *f, struct verdict_finding *found);

/* Changes of the provider of the timestamps (MAC or PHY), where the kernel reports it. */
enum verdict_outcome verdict_look_provider(const struct verdict_facts *f, struct verdict_finding *found);

/* ---- verdict_remote.c -------------------------------------------------------------------------------------------- */

/* Reasons about the reflector's clock. */

enum verdict_outcome verdict_look_steps_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_outliers_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_standstill_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_rate_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_doubt_remote(const struct verdict_facts *f, struct verdict_finding *found);

/* ---- steadiness.c ------------------------------------------------------------------------------------------------ */

/* Changes of the level of the latency, see steadiness.h. */
enum verdict_outcome verdict_look_steadiness(const struct verdict_facts *f, struct verdict_finding *found);

#endif
