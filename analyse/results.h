/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --report and --compare: what runs have left is read again, without a network and without rights. */
#ifndef ANALYSE_RESULTS_H
#define ANALYSE_RESULTS_H

struct options;

/* With the options of one of the two. Returns the exit status; what failed is one line on stderr. */
int results_main(const struct options *o);

#endif
