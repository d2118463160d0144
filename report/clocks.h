/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the clocks ran, as the report tells it. For report/ only. */
#ifndef REPORT_CLOCKS_H
#define REPORT_CLOCKS_H

#include "rant.h"

struct report;

/* The clocks must have been watched. */
void clocks_write(FILE *out, const struct report *r);

#endif
