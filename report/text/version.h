/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commit, compiler and libraries. The version is RANT_VERSION in rant.h. */
#ifndef REPORT_TEXT_VERSION_H
#define REPORT_TEXT_VERSION_H

#include "rant.h"

/* The commit of its source, as the Makefile tells it to the compiler: twelve digits, and "-dirty" where files were
 * changed since. NULL: not known, as without the Makefile, or without git and outside of an archive of a release. */
const char *version_commit(void);

/* Writes to stdout what --version shows; its first line is "rant VERSION" and no more. Each argument is the library
 * that an optional part loads, as its room tells it (NULL: built without): it is loaded and closed, to see whether it
 * is there. 0, or -errno after one line where stdout cannot be written. */
int version_print(const char *hmac, const char *filter, const char *tree);

#endif
