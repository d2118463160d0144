/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Phrases that messages and help text share. */
#ifndef OPTIONS_PHRASE_H
#define OPTIONS_PHRASE_H

#include "options/table.h"

/* Passed by value: made within one expression. What does not fit is cut off. */
struct phrase {
	char text[192];
};

#define phrase_add(p, ...) text_add((p)->text, sizeof((p)->text), __VA_ARGS__)

/* Joins words as "a, b or c"; `left` words follow this one. */
void phrase_add_word(struct phrase *p, const char *prefix, const char *word, int left);

/* What the user wrote, fit for a message of one line, however long it is and whatever is in it. */
struct phrase phrase_excerpt(const char *text);

/* The default as it is written on the command line; empty if there is none. */
struct phrase phrase_default(const struct option_row *row);

/* What may be given, for "give ...". */
struct phrase phrase_allowed(const struct option_row *row);

#endif
