/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence of breaches: trace and commands. For report/ only. */
#ifndef REPORT_TEXT_EVIDENCE_H
#define REPORT_TEXT_EVIDENCE_H

#include "rant.h"

struct report;

/* The trace, which must be there: how often it was marked, where it stands still, where it was saved. */
void evidence_write_trace(FILE *out, const struct report *r);

/* One line: the folder of the saved trace, or the file in which it stands still; nothing without one. */
void evidence_write_place(FILE *out, const struct report *r);

/* The commands, which must be there, and how they ended. */
void evidence_write_commands(FILE *out, const struct report *r);

#endif
