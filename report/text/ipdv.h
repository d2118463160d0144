/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays and IPDV (RFC 3393), in one table. For report/ only. */
#ifndef REPORT_TEXT_IPDV_H
#define REPORT_TEXT_IPDV_H

#include "rant.h"

struct report;

/* For a run with a sample; a reflector has its own response only. Rows without values are omitted. columns:
 * width of the terminal, 0: out is not a terminal. */
void ipdv_write(FILE *out, const struct report *r, int columns);

/* True if the reflector reported no transmit time of a reply: only T2 and T3 in the replies are known. */
bool ipdv_is_reported(const struct report *r);

#endif
