/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration of the run. */
#ifndef REPORT_TEXT_CONFIGURATION_H
#define REPORT_TEXT_CONFIGURATION_H

#include "rant.h"

struct memory;
struct report;

/* For --verbose. log: memory of the log; NULL without a log. */
void report_configuration(FILE *out, const struct report *r, const struct memory *histogram, const struct memory *log);

#endif
