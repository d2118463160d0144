/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of what --json has written, each added to an outcome. For analyse/run*.c only. */
#ifndef ANALYSE_RUN_PARTS_H
#define ANALYSE_RUN_PARTS_H

#include "analyse/tree.h"

struct blocks;
struct outcome;
struct read_file;

/* No count of a file is as large: sums of many have room. */
#define RUN_COUNT_MAX (1LL << 53)

/* One line: this member is not as --json writes it, or contradicts others. Returns -EINVAL. */
int run_refuse(const char *path, const char *member, const char *why);

/* A whole number of 0 and more; *count is 0 where it is not known. False: it is there and is none. */
bool run_count(const struct tree *t, int64_t *count);

/* All statistics, which the options of the outcome must fit. 0, or -errno after one line. */
int run_add_statistics(struct outcome *o, const struct tree *root, struct read_file *f);

/* All accounts, which must add up. 0, or -errno after one line. */
int run_add_accounts(struct outcome *o, const struct tree *root, const char *path);

#endif
