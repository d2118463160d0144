/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is given to one option: read, checked and stored. */
#ifndef OPTIONS_VALUE_H
#define OPTIONS_VALUE_H

#include "options/table.h"

/* Stores `text` in the field of the options that the row is about. 0, or -EINVAL after one line on stderr. A path or
 * name points into text. */
int option_set(struct options *o, const struct option_row *row, const char *text);

/* As above, of one kind each; `field` is that field. */
/* options/number.c, and the next two */
int option_set_number(const struct option_row *row, const char *text, void *field);
int option_set_dscp(const struct option_row *row, const char *text, void *field);
int option_set_tolerance(const struct option_row *row, const char *text, void *field);
/* options/address.c, and the next */
int option_set_address(const struct option_row *row, const char *text, void *field);
int option_set_prefix(const struct option_row *row, const char *text, void *field);

/* Has it characters that a terminal obeys? */
bool option_has_control(const char *text);

/* Says why, and what may be given. -EINVAL. */
int option_refuse(const struct option_row *row, const char *text, const char *why);

#endif
