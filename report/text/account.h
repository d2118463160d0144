/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of every packet, stamp and record. For report/ only. */
#ifndef REPORT_TEXT_ACCOUNT_H
#define REPORT_TEXT_ACCOUNT_H

#include "rant.h"

struct result;
struct report;

/* Packets, directions, stamps of the other host, missing stamps, and the rate. */
void account_write(FILE *out, const struct report *r);

/* The log, which must be there. */
void account_write_log(FILE *out, const struct report *r);

/* A row: scripts look it up by its name. meaning: told beside a count that is not 0; NULL: nothing to tell. */
void account_count(FILE *out, const char *name, uint64_t count, const char *meaning);

enum account_table { ACCOUNT_PACKETS, ACCOUNT_DIRECTIONS, ACCOUNT_STAMPS };

/* Row `index` of a table, as the report has it of this role; the name is unique in its table. False: there are no
 * more. */
bool account_row(const struct report *r, enum account_table which, unsigned index, const char **name, uint64_t *count);

/* Adds to what that row counts, by the options of r: for who adds runs up. */
void account_row_add(struct result *result, enum account_table which, unsigned index, uint64_t count);

#endif
