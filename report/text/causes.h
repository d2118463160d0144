/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of the causes of all breaches of a run whose traces were saved. */
#ifndef REPORT_TEXT_CAUSES_H
#define REPORT_TEXT_CAUSES_H

#include "rant.h"

struct result;
struct sample;
struct why;
struct why_unseen;

/* End of a line about one breach: in how many traces of the run the same cause was found. Empty text: there is only one
 * trace. */
void causes_add_same(char *text, size_t bytes, const struct result *r, const struct why *w);

/* The most frequent causes. Empty text: there is only one trace. */
void causes_add(char *text, size_t bytes, const struct result *r);

/* The same as one line. False: nothing is written. */
bool causes_write(FILE *out, const struct result *r);

/* The cause of a breach. Empty text: its trace was not saved, or the run has just ended, and explain/ writes it. */
void causes_add_cause(char *text, size_t bytes, const struct result *r, const struct sample *s);

/* The same as one line, or nothing. */
void causes_write_cause(FILE *out, const struct result *r, const struct sample *s);

/* What is known of a cause outside of the kernel: "SMI count +1 in 12.3 s, steal time not known (...)". cpu: of the
 * cause. */
void causes_add_unseen(char *text, size_t bytes, const struct why_unseen *u, struct optional cpu);

#endif
