/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --compare: is the second of two runs worse than the first? docs/compare.md says what it does. */
#ifndef ANALYSE_COMPARE_H
#define ANALYSE_COMPARE_H

struct options;

#define COMPARE_WORSE 4 /* the exit status */

/* Returns the exit status: 0 equal or better, COMPARE_WORSE, or 1 after one line on stderr: they cannot be compared. */
int compare_main(const struct options *o);

#endif
