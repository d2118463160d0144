/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons about outages. For report/verdict/verdict.c only. */
#ifndef REPORT_VERDICT_VERDICT_OUTAGE_H
#define REPORT_VERDICT_VERDICT_OUTAGE_H

#include "report/verdict/verdict_finding.h"

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

#endif
