/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rant --explain DIR: the cause of a breach as text. */
#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H

#include "explain/cause.h"

#define EXPLAIN_LINES_MAX 12

/* Writes at most EXPLAIN_LINES_MAX lines. */
void explain_write(FILE *out, const struct cause *c, const struct evidence *e);

/* Explains the breach in the folder, to `out` (NULL: only checks the folder), with `before` in front of it. 0, or -errno after one line on stderr. */
int explain_folder(const char *folder, FILE *out, const char *before);

#endif
