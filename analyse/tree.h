/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON that is read, as a tree. Only this file calls libjansson; see WITH_JANSSON in the Makefile. */
#ifndef ANALYSE_TREE_H
#define ANALYSE_TREE_H

#include "rant.h"

/* An object of so many octets is refused: the tree takes about fifteen times as much memory. */
#define TREE_FILE_MAX_BYTES (256LL << 20)

/* The library that reads JSON; NULL: built without libjansson. */
const char *tree_library(void);

/* A value; all pointers into a tree live as long as it does. */
struct tree;

/* Reads the file, which is the caller's, from its begin. The whole of it is one object, no name is in an object twice,
 * and no number is beyond 64 bits. NULL after one line that names the path. */
struct tree *tree_read(FILE *file, const char *path);

void tree_free(struct tree *t); /* of tree_read(); NULL: does nothing */

/* In what follows NULL is nothing, and has nothing. */

/* The member of an object; NULL: there is none, it is null, or this is no object. */
const struct tree *tree_member(const struct tree *t, const char *name);

/* The same for "one.other.third". */
const struct tree *tree_at(const struct tree *t, const char *path);

/* Of an array or an object. */
size_t tree_length(const struct tree *t);

/* Element i of an array; NULL: none, or null. */
const struct tree *tree_item(const struct tree *t, size_t i);

/* Calls `each` with each member of an object, in the order of the file (the value is NULL for null), until it returns
 * other than 0; returns that. */
int tree_each(const struct tree *t, int (*each)(void *context, const char *name, const struct tree *value),
	      void *context);

bool tree_is_object(const struct tree *t);
bool tree_is_array(const struct tree *t);
bool tree_is_bool(const struct tree *t, bool *value);

/* A whole number, written as one. */
bool tree_integer(const struct tree *t, int64_t *value);

/* Of a text; NULL: it is none. */
const char *tree_text(const struct tree *t);

/* The same as a copy, which the caller frees; NULL also without memory. */
char *tree_copy_text(const struct tree *t);

#endif
