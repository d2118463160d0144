/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The breaches as the report shows them. For report/ only. */
#ifndef REPORT_BREACH_H
#define REPORT_BREACH_H

#include "rant.h"

struct report;

/* The first; with --continue the worst, and how often each part is to blame. Nothing without a breach. */
void breach_write(FILE *out, const struct report *r);

#endif
