// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small files of /proc, /sys and /dev. */
#include "doctor/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *root = ""; /* prefix of every path; tests set a folder of their own */

void check_full_path(char full[PATH_MAX], const char *path)
{
	snprintf(full, PATH_MAX, "%s%s", root, path);
}

bool check_exists(const char *path)
{
	char full[PATH_MAX];

	check_full_path(full, path);
	return access(full, F_OK) == 0;
}

bool check_read(struct check_file *f, const char *format, ...)
{
	char full[PATH_MAX];
	ssize_t got = -1;
	va_list ap;
	int fd;

	va_start(ap, format);
	vsnprintf(f->path, sizeof(f->path), format, ap);
	va_end(ap);
	check_full_path(full, f->path);
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		got = read(fd, f->text, sizeof(f->text) - 1);
	f->error = got < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	f->bytes = got < 0 ? 0 : (size_t)got;
	while (f->bytes && (f->text[f->bytes - 1] == '\n' || f->text[f->bytes - 1] == ' '))
		f->bytes--;
	f->text[f->bytes] = '\0';
	return got >= 0;
}

bool check_number_in(const struct check_file *f, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(f->text, &end, 10);
	return !errno && end > f->text && !*end;
}

bool check_number(struct check *c, struct check_file *f, long long *value)
{
	if (check_number_in(f, value))
		return true;
	check_say(c, NOTE, f->path, NULL, NULL, "unknown, '%.40s' is not a number", f->text);
	return false;
}

bool check_capabilities(struct check_file *f, unsigned long long *capabilities)
{
	const char *line;

	if (!check_read(f, "/proc/self/status"))
		return false;
	line = strstr(f->text, "CapEff:");
	if (!line || sscanf(line, "CapEff: %llx", capabilities) != 1)
		f->error = ENODATA;
	return !f->error;
}
