/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reflector's clock, and the samples that broke a rule, in the section "Clocks". */
#ifndef REPORT_TEXT_CLOCKS_THERE_H
#define REPORT_TEXT_CLOCKS_THERE_H

#include "report/text/report.h"

/* True if the reflector's clock had an event. */
bool clocks_remote_has_news(const struct report *r);

void clocks_remote_write(FILE *out, const struct report *r);

#endif
