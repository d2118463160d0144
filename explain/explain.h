/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --explain, and the causes of the saved traces after a run. */
#ifndef EXPLAIN_EXPLAIN_H
#define EXPLAIN_EXPLAIN_H

#include "options.h"
#include "result/causes.h"

/* rant --explain DIR: text to stdout (not with --quiet), and the object of --json. 0, or -errno after one line on
 * stderr. The file is written if the folder can be read, also without a cause. */
int explain_main(const struct options *o);

/* Explains a folder. w->not_explained has the reason if that is not possible. */
void explain_folder(struct why *w, const char *folder);

/*
 * After a run, before its outputs are written: explains its saved traces, and fills r->causes, which the caller frees.
 * out: receives the text of the last trace, and the counts; NULL: no text. Does nothing if neither the text nor an
 * output needs the causes.
 *
 * Explains at most the last TRACES_KEPT traces, and begins none after EXPLAIN_LIMIT_NS or a signal (a change of *stop),
 * except the last trace; the others are counted as not explained.
 */
void explain_run(struct result *r, FILE *out, const _Atomic int *stop);

#define EXPLAIN_LIMIT_NS (5 * NS_PER_S)

#endif
