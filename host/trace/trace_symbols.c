// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Symbols of the functions that a saved trace names: the text has their names, the raw pages their addresses. The lines
 * are those of /proc/kallsyms, for example "ffffffff81123456 t wb_timer_fn" or "... t e1000_watchdog\t[e1000e]".
 */
#include "host/trace/trace_save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 1024 /* a power of two; three quarters of it are used at most */
#define NAME_BYTES 128
#define LINE_BYTES 1024

const char *trace_symbols_path = "/proc/kallsyms";

struct names {
	char name[NAMES_MAX][NAME_BYTES]; /* by hash; empty: not used */
	unsigned used;
};

/* The place of a name; an empty one: it is not there. */
static char *place_of(struct names *n, const char *name, size_t bytes)
{
	uint32_t hash = 2166136261; /* FNV-1a */
	unsigned i;

	for (size_t k = 0; k < bytes; k++)
		hash = (hash ^ (unsigned char)name[k]) * 16777619;
	for (i = hash % NAMES_MAX; *n->name[i]; i = (i + 1) % NAMES_MAX)
		if (!strncmp(n->name[i], name, bytes) && !n->name[i][bytes])
			break;
	return n->name[i];
}

static void add_name(struct names *n, const char *name)
{
	const size_t bytes = strcspn(name, " \t\n+(");
	char *to;

	if (!bytes || bytes >= NAME_BYTES || n->used >= NAMES_MAX / 4 * 3)
		return;
	to = place_of(n, name, bytes);
	if (*to)
		return;
	memcpy(to, name, bytes);
	to[bytes] = '\0';
	n->used++;
}

/* Functions of timers, works, tasklets and sockets. Also finds "function" in text of other kinds: then it is a name that
 * no symbol has. */
static void find_names(struct names *n, FILE *text)
{
	static const char *const keys[] = { "function=", ": function ", "func=" };
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), text))
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			const char *at = strstr(line, keys[i]);

			if (at)
				add_name(n, at + strlen(keys[i]));
		}
}

/* Copies the lines of these names. Returns their number. Addresses of zeros are hidden from this process. */
static unsigned copy_lines(struct names *n, FILE *from, FILE *to)
{
	char line[LINE_BYTES];
	unsigned lines = 0;

	while (fgets(line, sizeof(line), from)) {
		const size_t digits = strspn(line, "0123456789abcdef");
		const char *name = line + digits + 3;

		if (!digits || strspn(line, "0") == digits || line[digits] != ' ' || !line[digits + 1] ||
		    line[digits + 2] != ' ' || !*place_of(n, name, strcspn(name, " \t\n")))
			continue;
		fputs(line, to);
		lines++;
	}
	return lines;
}

static FILE *open_at(int folder_fd, const char *name, int flags, const char *mode)
{
	const int fd = openat(folder_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, mode);

	if (!file && fd >= 0)
		close(fd);
	return file;
}

/* From the beginning. The kernel shows addresses by the rights that the process had when it opened the file. */
static FILE *open_symbols(const struct trace *t)
{
	const int fd = t->symbols_fd < 0 || lseek(t->symbols_fd, 0, SEEK_SET) ? -1 : dup(t->symbols_fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (!file && fd >= 0)
		close(fd);
	return file;
}

void trace_open_symbols(struct trace *t)
{
	t->symbols_fd = open(trace_symbols_path, O_RDONLY | O_CLOEXEC);
}

void trace_save_symbols(const struct trace *t, int folder_fd, struct trace_left_out *left_out)
{
	struct names *n = calloc(1, sizeof(*n));
	FILE *text = open_at(folder_fd, "all.txt", O_RDONLY, "r"), *from = open_symbols(t), *to = NULL;
	unsigned lines = 0;
	int error = 0;

	if (n && text && from) {
		find_names(n, text);
		to = n->used ? open_at(folder_fd, "raw/kallsyms", O_WRONLY | O_CREAT | O_EXCL, "w") : NULL;
		error = n->used && !to ? errno : 0;
	}
	if (to) {
		lines = copy_lines(n, from, to);
		error = ferror(to) ? EIO : 0;
		if (fclose(to) && !error)
			error = errno;
		if (!lines || error)
			unlinkat(folder_fd, "raw/kallsyms", 0);
	}
	if (error)
		trace_leave_out(left_out, "kallsyms", error);
	if (text)
		fclose(text);
	if (from)
		fclose(from);
	free(n);
}
