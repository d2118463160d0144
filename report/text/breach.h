/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breaches in the report. For report/ only. */
#ifndef REPORT_TEXT_BREACH_H
#define REPORT_TEXT_BREACH_H

#include "rant.h"
#include "report/text/stage.h"

struct report;

/* Stages that are not known for one reason. */
struct gap {
	const char *part[PARTS_MAX];
	int parts;
	bool candidate; /* a stage of this gap may be to blame */
	char why[160];
};

struct gaps {
	struct gap gap[PARTS_MAX];
	int used;
};

struct blame {
	const struct part *part; /* the candidate with the largest excess over its median; NULL: none has an excess */
	bool unknown; /* a stage of a gap may be to blame instead */
	struct gaps gaps;
};

/* Cause of most of the excess of a receive stage or of a part of it, by the kernel's receive time or the poll gap. */
enum receive_cause { RECEIVE_CAUSE_NONE, RECEIVE_CAUSE_THREAD, RECEIVE_CAUSE_PACKET, RECEIVE_CAUSE_INTERRUPT };

/* NONE: not known, not a receive stage, or neither half has half of the excess. p: as breach_find_blame() left it. */
enum receive_cause breach_receive_cause(const struct report *r, const struct part *p, const struct sample *s);

/* Finds the stage of parts[] (stage_find()) that explains a breach; sets the values of all stages for this sample. */
void breach_find_blame(const struct report *r, struct part *parts, int n, const struct sample *s, struct blame *b);

/* The first breach; with --continue also the worst, and the number of breaches by blamed stage. Nothing without a
 * breach. */
void breach_write(FILE *out, const struct report *r);

/* The worst breach in BRIEF_LINES_BREACH lines at most. Needs a breach. */
void breach_write_brief(FILE *out, const struct report *r);

#endif
