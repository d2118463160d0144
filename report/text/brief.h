/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The brief report, printed without --details. */
#ifndef REPORT_TEXT_BRIEF_H
#define REPORT_TEXT_BRIEF_H

#include "rant.h"

struct report;
struct sample;

/* Most lines without a breach, additional lines with a breach, with a period of the spikes, with modes,
 * and with --histogram. Only the line that begins with "MIN:" may be longer than BRIEF_COLUMNS, because scripts match it as it is. */
#define BRIEF_LINES 22
#define BRIEF_LINES_BREACH 4
#define BRIEF_LINES_RHYTHM 2
#define BRIEF_LINES_MODES 2
#define BRIEF_LINES_HISTOGRAM 14
#define BRIEF_COLUMNS 80

/* The whole text. color: with escape sequences of a terminal. */
void brief_write(FILE *out, const struct report *r, bool color);

/* --color and NO_COLOR (no-color.org), for text that goes to `out`. */
bool brief_has_color(FILE *out, const struct report *r);

#endif
