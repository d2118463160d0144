/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Phrases of messages and of the help text. */
#ifndef OPTIONS_PHRASE_H
#define OPTIONS_PHRASE_H

#include "options/table.h"

/* A short text, passed by value. Text that does not fit is cut off. */
struct phrase {
	char text[192];
};

#define phrase_add(p, ...) text_add((p)->text, sizeof((p)->text), __VA_ARGS__)

/* Joins words as "a, b or c"; `left` words follow this word. */
void phrase_add_word(struct phrase *p, const char *prefix, const char *word, int left);

/* The argument of a user for a message of one line: at most 40 octets, without control characters. */
struct phrase phrase_excerpt(const char *text);

/* The default in the form that the command line takes, without its unit; empty: no default. */
struct phrase phrase_default(const struct option_row *row);

/* The names of the choices: "nic, kernel or full". */
struct phrase phrase_choices(const struct option_row *row);

/* The accepted values, for the end of a message: "give ...". */
struct phrase phrase_allowed(const struct option_row *row);

#endif
