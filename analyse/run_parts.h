/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the JSON of a run, each added to an outcome. For analyse/run*.c only. */
#ifndef ANALYSE_RUN_PARTS_H
#define ANALYSE_RUN_PARTS_H

#include "analyse/tree.h"

struct blocks;
struct outcome;
struct read_file;

/* Upper limit of a count in a file, so that sums of many files do not overflow. */
#define RUN_COUNT_MAX (1LL << 53)

/* Prints that this member is not as --json writes it, or contradicts others. Returns -EINVAL. */
int run_refuse(const char *path, const char *member, const char *why);

/* Reads an integer of 0 or more; *count is 0 if the member is missing. False: the member is something else. */
bool run_count(const struct tree *t, int64_t *count);

/* The same without a limit, for a value that is not added up. */
bool run_take_number(uint64_t *to, const struct tree *t);

/* The same up to UINT32_MAX. */
bool run_take_u32(uint32_t *to, const struct tree *t);

/* Index of the text in list[first] to list[end - 1]; -1: missing, or not in it. */
int run_index_of(const struct tree *t, const char *const list[], int first, int end);

/* True if the value is true; false also if it is missing. */
bool run_is_true(const struct tree *t);

/* Reads a time whose differences do not overflow. False: missing, or something else. */
bool run_take_time(int64_t *ns, const struct tree *t);

/* The same; 0 if it is missing. False: something else. */
bool run_take_time_or_0(int64_t *ns, const struct tree *t);

/* Copies a text without control characters, and truncates it; empty if it is missing. */
void run_take_text(char *to, size_t bytes, const struct tree *t);

/* Adds all statistics. The options of the outcome are set before. 0, or -errno after one line. */
int run_add_statistics(struct outcome *o, const struct tree *root, struct read_file *f);

/* Takes the period of the spikes, if this is the only file. 0, or -errno after one line. */
int run_take_rhythm(struct outcome *o, const struct tree *root, const char *path);

/* Takes the clocks of both hosts, if this is the only file; after the statistics. 0, or -EINVAL after one line. */
int run_take_clocks(struct outcome *o, const struct tree *root, const char *path);

/* Takes the breaches, if this is the only file; after the accounts. 0, or -EINVAL after one line. */
int run_take_breaches(struct outcome *o, const struct tree *root, const char *path);

/* Takes the explanation of a breach; t NULL: it has none. False: it is not valid, or memory is missing. */
bool run_take_why(struct outcome *o, const struct sample *s, const struct tree *t);

/* Takes the counts of all causes. 0, or -errno; -EINVAL after one line. */
int run_take_causes(struct outcome *o, const struct tree *root, const char *path);

/* Takes the requests to freeze the trace of the other host, if this is the only file. 0, or -EINVAL after one line. */
int run_take_freeze(struct outcome *o, const struct tree *root, const char *path);

/* Takes the activity of the machine, if this is the only file. 0, or -errno; -EINVAL after one line. */
int run_take_activity(struct outcome *o, const struct tree *root, const char *path);

/* Takes IPDV, source ports and modes, if this is the only file; after the accounts. 0, or -errno; -EINVAL after one
 * line. */
int run_take_delays(struct outcome *o, const struct tree *root, const char *path);

/* Takes counters, trace, commands and log, if this is the only file. 0, or -errno; -EINVAL after one line. */
int run_take_evidence(struct outcome *o, const struct tree *root, const char *path);

/* Adds all accounts, which must balance. 0, or -errno after one line. */
int run_add_accounts(struct outcome *o, const struct tree *root, const char *path);

#endif
