/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of packets, timestamps and log records. For report/ only. */
#ifndef REPORT_TEXT_ACCOUNT_H
#define REPORT_TEXT_ACCOUNT_H

#include "rant.h"

struct result;
struct report;

/* Packets, directions, stamps of the other host, missing stamps, and the rate. */
void account_write(FILE *out, const struct report *r);

/* The log. Needs --log. */
void account_write_log(FILE *out, const struct report *r);

/* Writes a row; scripts find it by its name. meaning: printed after a count that is not 0; NULL: none. */
void account_count(FILE *out, const char *name, uint64_t count, const char *meaning);

enum account_table { ACCOUNT_PACKETS, ACCOUNT_DIRECTIONS, ACCOUNT_STAMPS };

/* Row `index` of a table of the report for this role; the name is unique in its table. json: text from which
 * json_name() makes the member of JSON. False: no more rows. */
bool account_row(const struct report *r, enum account_table which, unsigned index, const char **name, const char **json,
		 uint64_t *count);

/* Adds to the counter of a row, when several runs are merged. */
void account_row_add(struct result *result, enum account_table which, unsigned index, uint64_t count);

#endif
