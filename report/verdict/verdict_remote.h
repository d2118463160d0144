/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons about the reflector's clock. For report/verdict/verdict.c alone. */
#ifndef REPORT_VERDICT_VERDICT_THERE_H
#define REPORT_VERDICT_VERDICT_THERE_H

#include "report/verdict/verdict_finding.h"

enum verdict_outcome verdict_look_steps_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_outliers_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_standstill_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_rate_remote(const struct verdict_facts *f, struct verdict_finding *found);
enum verdict_outcome verdict_look_doubt_remote(const struct verdict_facts *f, struct verdict_finding *found);

#endif
