/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the clocks ran, as the report tells it. For report/ only. */
#ifndef REPORT_TEXT_CLOCKS_H
#define REPORT_TEXT_CLOCKS_H

#include "rant.h"

struct clock_rate;
struct result;
struct report;

/* The clocks must have been watched. */
void clocks_write(FILE *out, const struct report *r);

/* As it is told, in whole ppb: rounded up, and never nothing. */
double clocks_rate_bound_ppb(const struct clock_rate *r);

/* How far off times of user space may be that were placed on the scale of the stamps; r->result->placed. */
int64_t clocks_stages_bound(const struct report *r);

#endif
