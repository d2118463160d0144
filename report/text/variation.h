/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delays and how they vary, in one table. For report/ only. */
#ifndef REPORT_TEXT_VARIATION_H
#define REPORT_TEXT_VARIATION_H

#include "rant.h"

struct report;

/* Of a run that has a sample; of a reflector its own response alone. Rows of what is not known are left out. columns:
 * width of the terminal, 0 when out is none. */
void variation_write(FILE *out, const struct report *r, int columns);

/* Did the reflector tell of no sample when its reply left, so that T2 and T3 in the replies are all that there is? */
bool variation_is_told(const struct report *r);

#endif
