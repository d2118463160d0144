/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence of breaches: trace and commands. For report/ only. */
#ifndef REPORT_TEXT_EVIDENCE_H
#define REPORT_TEXT_EVIDENCE_H

#include "rant.h"

struct report;

/* The trace: number of markers, file of the frozen trace, saved traces. Needs a trace. */
void evidence_write_trace(FILE *out, const struct report *r);

/* One line: the folder of the saved trace, or the file of the frozen trace; nothing without a trace. */
void evidence_write_place(FILE *out, const struct report *r);

/* The hook commands and their results. Needs commands. */
void evidence_write_commands(FILE *out, const struct report *r);

#endif
