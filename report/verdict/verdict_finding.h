/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Result of the check of one reason. For the verdict only. */
#ifndef REPORT_VERDICT_VERDICT_FINDING_H
#define REPORT_VERDICT_VERDICT_FINDING_H

#include "rant.h"
#include "report/verdict/verdict.h"

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

#endif
