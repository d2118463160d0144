/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads JSON of rant (--json) into an outcome. */
#ifndef ANALYSE_RUNS_H
#define ANALYSE_RUNS_H

#include "rant.h"

struct blocks;
struct outcome;
struct read_file;

/* Adds the run of this file; its settings must be equal to those of the runs before. blocks: receives the seconds of
 * the run, or NULL. 0, or -errno after one line. */
int runs_add(struct outcome *o, FILE *file, struct read_file *f, struct blocks *blocks);

#define RUNS_DIFFERENCES_BYTES 4096

/* The settings in which two outcomes differ: "--size 64 and 128, --ttl 255 and 64", or an empty text. */
void runs_differences(char text[RUNS_DIFFERENCES_BYTES], const struct outcome *a, const struct outcome *b);

/* False after one line with these settings. */
bool runs_are_alike(const struct outcome *a, const struct outcome *b);

#endif
