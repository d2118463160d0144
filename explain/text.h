/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cause of a breach as text. */
#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H

#include "explain/cause.h"

#define EXPLAIN_LINES_MAX 12

/* Writes at most EXPLAIN_LINES_MAX lines. also: end of the line "Cause:". */
void explain_write(FILE *out, const struct cause *c, const struct evidence *e, const char *also);

#endif
