/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of the run in one line, to be quoted. For report/ only. */
#ifndef REPORT_TEXT_HEADLINE_H
#define REPORT_TEXT_HEADLINE_H

#include "rant.h"

struct report;

/* "RTT p50 11.2 us, p99.9 16.4 us, max 34.4 us (#27) of 28,546 samples in 600 s, 0 lost: trusted", with a line end. For
 * a reflector: its responses, without losses, which it cannot detect. A percentile with fewer than ten samples above it
 * is marked. */
void headline_write(FILE *out, const struct report *r);

/* The begin of the line, without a line end: "RTT p50 11.2 us, ... of 28,546 samples". */
void headline_write_latency(FILE *out, const struct report *r);

/* The line without the verdict and the line end: "RTT p50 11.2 us, ... of 28,546 samples in 600 s, 0 lost". */
void headline_write_after(FILE *out, const struct report *r, double seconds);

#endif
