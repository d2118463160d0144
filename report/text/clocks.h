/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Section "Clocks" of the report. For report/ only. */
#ifndef REPORT_TEXT_CLOCKS_H
#define REPORT_TEXT_CLOCKS_H

#include "rant.h"

struct clock_rate;
struct result;
struct report;

/* True if the clocks were watched, and the report has a reason to show them. */
bool clocks_are_shown(const struct report *r);

/* The clocks must have been watched. */
void clocks_write(FILE *out, const struct report *r);

/* For printing in whole ppb: rounded up, at least 1. */
double clocks_rate_bound_ppb(const struct clock_rate *r);

/* Error bound of user-space times that were converted to the timebase of the timestamps. Needs r->result->converted. */
int64_t clocks_stages_bound(const struct report *r);

#endif
