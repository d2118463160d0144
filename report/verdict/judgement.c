// SPDX-License-Identifier: GPL-2.0-or-later
/* The order of the conclusions: the verdict uses the level and the confidence. */
#include "report/verdict/judgement.h"

#include "report/export/by_second.h"
#include "report/text/confidence.h"
#include "report/text/report.h"
#include "report/verdict/rhythm_run.h"
#include "report/verdict/steadiness.h"
#include "result/result.h"

#include <err.h>

void judgement_reach(struct judgement *j, struct report *r, struct result *result, const struct by_second *seconds)
{
	confidence_find(&result->confidence, seconds->confidence, result->histogram, &r->options->until_known);
	steadiness_find(&result->level_changes, &seconds->levels);
	steadiness_explain(&result->level_changes, &result->changes, &result->clocks, seconds->second.start_ns);
	rhythm_judge(result);
	verdict_take(&j->facts, r);
	verdict_reach(&j->verdict, &j->facts);
	r->verdict = &j->verdict;
	if (!j->facts.balanced)
		warnx("the accounts do not balance: this is a fault of rant; do not trust these numbers, please report "
		      "it");
	teeth_find(&j->teeth, r);
	r->teeth = &j->teeth;
}
