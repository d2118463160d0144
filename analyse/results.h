/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --report and --compare: analyse saved logs and JSON files. Needs neither a network nor privileges. */
#ifndef ANALYSE_RESULTS_H
#define ANALYSE_RESULTS_H

struct options;

/* Runs --report or --compare. Returns the exit status; an error is one line on stderr. */
int results_main(const struct options *o);

#endif
