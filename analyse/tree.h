/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads JSON into a tree. Only tree.c calls libjansson; see WITH_JANSSON in the Makefile. */
#ifndef ANALYSE_TREE_H
#define ANALYSE_TREE_H

#include "rant.h"

/* Larger files are refused: the tree takes about fifteen times as much memory. */
#define TREE_FILE_MAX_BYTES (256LL << 20)

/* The library that reads JSON; NULL: built without libjansson. */
const char *tree_library(void);

/* A value; all pointers into a tree live as long as it does. */
struct tree;

/* Reads a file of the caller from its beginning: one object, without duplicate names and without numbers beyond 64
 * bits. NULL after one line that names the path. */
struct tree *tree_read(FILE *file, const char *path);

void tree_free(struct tree *t); /* result of tree_read(), or NULL */

/* All functions below take NULL for a missing value. */

/* A member of an object; NULL: it is missing or null, or this is not an object. */
const struct tree *tree_member(const struct tree *t, const char *name);

/* The same for a path "one.other.third". */
const struct tree *tree_at(const struct tree *t, const char *path);

/* Number of elements of an array, or of members of an object. */
size_t tree_length(const struct tree *t);

/* Element i of an array; NULL: missing, or null. */
const struct tree *tree_item(const struct tree *t, size_t i);

/* Calls `each` with each member of an object, in the order of the file (the value is NULL for null), until it returns
 * other than 0; returns that. */
int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value),
	      void *context);

bool tree_is_object(const struct tree *t);
bool tree_is_array(const struct tree *t);
bool tree_is_bool(const struct tree *t, bool *value);

/* True for an integer without a point or exponent, which is stored in *value. */
bool tree_integer(const struct tree *t, int64_t *value);

/* True for any number, which is stored in *value. */
bool tree_number(const struct tree *t, double *value);

/* The text; NULL: this is not a text. */
const char *tree_text(const struct tree *t);

/* A copy of the text, which the caller frees; NULL also without memory. */
char *tree_copy_text(const struct tree *t);

/* The value as JSON in one line, which the caller frees; NULL also without memory. Numbers keep 15 digits. */
char *tree_json(const struct tree *t);

#endif
