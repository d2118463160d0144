/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commit, compiler and libraries. The version is RANT_VERSION in rant.h. */
#ifndef REPORT_TEXT_VERSION_H
#define REPORT_TEXT_VERSION_H

#include "rant.h"

/* The commit of the source, which the Makefile passes to the compiler: twelve digits, and "-dirty" if files were
 * changed since. NULL: not known, for example without the Makefile, or without git and outside of a release archive. */
const char *version_commit(void);

/* Writes the output of --version to stdout; its first line is "rant VERSION" only. Each argument is the library of an
 * optional module (NULL: built without it), which is loaded and closed to check its presence. 0, or -errno after one
 * line if stdout cannot be written. */
int version_print(const char *hmac, const char *filter, const char *tree, const char *pages);

#endif
