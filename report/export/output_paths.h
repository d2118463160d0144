/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Check that no two outputs write to the same file. */
#ifndef REPORT_EXPORT_OUTPUT_PATHS_H
#define REPORT_EXPORT_OUTPUT_PATHS_H

#include "rant.h"

struct output_path {
	const char *option, *path; /* option without the dashes; path NULL: not given */
};

/* -EINVAL after one line, if two outputs are the same file, or both stdout. A device such as /dev/null may be given
 * twice. */
int output_paths_refuse_same(const struct output_path *list, size_t n);

#endif
