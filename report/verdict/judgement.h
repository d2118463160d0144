/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conclusions from the result of a run, in their order. */
#ifndef REPORT_VERDICT_JUDGEMENT_H
#define REPORT_VERDICT_JUDGEMENT_H

#include "report/verdict/teeth.h"
#include "report/verdict/verdict.h"

struct by_second;
struct report;
struct result;

struct judgement {
	struct verdict_facts facts; /* `thread`, lock_error and absent_bytes are set by the caller */
	struct verdict verdict;
	struct teeth teeth;
};

/*
 * After the run, when no other thread uses the result, which is that of the report and has the periods and delays of
 * the host: finds the confidence of the percentiles, changes of the level, the period of the slow samples, the verdict
 * and the modes. The report then points to the last two. One line on stderr if the accounts do not balance.
 */
void judgement_reach(struct judgement *j, struct report *r, struct result *result, const struct by_second *seconds);

#endif
