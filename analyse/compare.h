/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --compare: whether the second of two runs is worse than the first. docs/compare.md describes the method. */
#ifndef ANALYSE_COMPARE_H
#define ANALYSE_COMPARE_H

struct options;

/* Exit statuses. */
#define COMPARE_WORSE 4
#define COMPARE_UNDECIDED 5

/* Returns the exit status: 0 not worse, COMPARE_WORSE, COMPARE_UNDECIDED, or 1 after one line on stderr. */
int compare_main(const struct options *o);

#endif
