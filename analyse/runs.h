/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --json has written of a run, added to an outcome. */
#ifndef ANALYSE_RUNS_H
#define ANALYSE_RUNS_H

#include "rant.h"

struct blocks;
struct outcome;
struct read_file;

/* Adds the run of this file, whose settings must be those of the runs before. blocks: gets its seconds, NULL: not
 * wanted. 0, or -errno after one line. */
int runs_add(struct outcome *o, FILE *file, struct read_file *f, struct blocks *blocks);

/* False after one line that names all settings in which two outcomes differ. */
bool runs_are_alike(const struct outcome *a, const struct outcome *b);

#endif
