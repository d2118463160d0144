/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads, checks and stores the argument of one option. */
#ifndef OPTIONS_VALUE_H
#define OPTIONS_VALUE_H

#include "options/table.h"

/* Stores `text` in the field of the row. 0, or -EINVAL after one line on stderr. A path or name points into `text`. */
int option_set(struct options *o, const struct option_row *row, const char *text);

/* The same for one kind of option each; `field` is the field of the row. */
/* In options/number.c: */
int option_set_number(const struct option_row *row, const char *text, void *field);
int option_set_dscp(const struct option_row *row, const char *text, void *field);
int option_set_goal(const struct option_row *row, const char *text, void *field);
int option_set_tolerance(const struct option_row *row, const char *text, void *field);
/* In options/address.c: */
int option_set_address(const struct option_row *row, const char *text, void *field);
int option_set_prefix(const struct option_row *row, const char *text, void *field);

/* The unit of a time under another usual name: "m" for "min"; NULL: unknown. */
const char *option_usual_unit(const char *unit);

/* True for a number without letters after it, such as "1" or "0.5". */
bool option_has_no_unit(const char *text);

/* True if the text has control characters, which could change the state of a terminal. */
bool option_has_control(const char *text);

/* Prints one line: the option, its argument, the reason and the accepted values. Returns -EINVAL. */
int option_refuse(const struct option_row *row, const char *text, const char *why);

#endif
