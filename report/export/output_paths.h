/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where several outputs go: never two to the same place. */
#ifndef REPORT_EXPORT_OUTPUT_PATHS_H
#define REPORT_EXPORT_OUTPUT_PATHS_H

#include "rant.h"

struct output_path {
	const char *option, *path; /* without the dashes; path NULL: not asked for */
};

/* -EINVAL after one line, if two of them are the same file, or stdout. A device such as /dev/null may be there
 * twice. */
int output_paths_refuse_same(const struct output_path *list, size_t n);

#endif
