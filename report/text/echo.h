/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of measurements by ICMP echo. */
#ifndef REPORT_TEXT_ECHO_H
#define REPORT_TEXT_ECHO_H

#include "rant.h"

struct report;

/* Writes a paragraph for a run with --transport icmp. */
void echo_write(FILE *out, const struct report *r);

#endif
