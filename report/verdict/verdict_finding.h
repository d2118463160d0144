/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Result of the check of one reason. For the verdict only. */
#ifndef REPORT_VERDICT_VERDICT_FINDING_H
#define REPORT_VERDICT_VERDICT_FINDING_H

#include "rant.h"
#include "report/verdict/verdict.h"

enum verdict_outcome { JUDGED, NOT_ASKED, CANNOT_TELL };

struct verdict_finding {
	char more[VERDICT_MORE_BYTES]; /* of the name, with a space before it */
	uint64_t number; /* held against the limit of the reason */
	char text[VERDICT_TEXT_BYTES]; /* the number in words; may be set although there is no reason */
};

/* Appends to the text; what does not fit is cut off. */
#define verdict_say(found, ...) text_add((found)->text, sizeof((found)->text), __VA_ARGS__)

/* ", " between the parts of a list. */
const char *verdict_comma(const struct verdict_finding *found);

#endif
