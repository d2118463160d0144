// SPDX-License-Identifier: GPL-2.0-or-later
/* Check of the paths of outputs. */
#include "report/export/output_paths.h"

#include "report/log/log_file.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Canonical path of a file that may not exist yet. */
static void real_name(char name[PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	char folder[PATH_MAX], real[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(file - path) : 1, slash ? path : ".");
	if (!realpath(folder, real) || snprintf(name, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "",
						file) >= PATH_MAX)
		snprintf(name, PATH_MAX, "%s", path);
}

/* Any number of outputs may write to a device such as /dev/null. */
static bool is_shared(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISCHR(s.st_mode);
}

static bool is_same(const char *a, const char *b)
{
	char one[PATH_MAX], other[PATH_MAX];

	if (log_file_is_stdout(a) || log_file_is_stdout(b))
		return log_file_is_stdout(a) && log_file_is_stdout(b);
	real_name(one, a);
	real_name(other, b);
	return !strcmp(one, other) && !is_shared(a);
}

int output_paths_refuse_same(const struct output_path *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (!list[i].path || !list[k].path || !is_same(list[i].path, list[k].path))
				continue;
			warnx("--%s %s with --%s %s: both would write to the same place: give each a file of its own",
			      list[k].option,
			      list[k].path, list[i].option, list[i].path);
			return -EINVAL;
		}
	}
	return 0;
}
