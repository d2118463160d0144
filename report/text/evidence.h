/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the breaches left behind. For report/ only. */
#ifndef REPORT_TEXT_EVIDENCE_H
#define REPORT_TEXT_EVIDENCE_H

#include "rant.h"

struct report;

/* The trace, which must be there: how often it was marked, where it stands still, where it was saved. */
void evidence_write_trace(FILE *out, const struct report *r);

/* The commands, which must be there, and how they ended. */
void evidence_write_commands(FILE *out, const struct report *r);

#endif
