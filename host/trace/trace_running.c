// SPDX-License-Identifier: GPL-2.0-or-later
/* Detection of a running kernel trace in any instance. */
#include "tracefs.h"

#include "host/trace/trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static bool is_running(const char *path)
{
	struct trace t = { .folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	uint64_t on;
	bool running;

	if (t.folder_fd < 0)
		return false;
	running = trace_read_number(&t, "tracing_on", &on) && on && trace_count_events(&t);
	close(t.folder_fd);
	return running;
}

/* The name of the first instance in which the kernel is tracing, or an empty text. */
static void find_running(char *text, size_t bytes)
{
	char mount[TRACE_MOUNT_BYTES], path[TRACE_MOUNT_BYTES + NAME_MAX + 16];
	struct dirent *entry;
	DIR *instances;

	*text = 0;
	if (!trace_find(mount))
		return;
	if (is_running(mount))
		snprintf(text, bytes, "%s", mount);
	snprintf(path, sizeof(path), "%s/instances", mount);
	instances = opendir(path);
	while (!*text && instances && (entry = readdir(instances))) {
		snprintf(path, sizeof(path), "%s/instances/%s", mount, entry->d_name);
		if (entry->d_name[0] != '.' && is_running(path))
			snprintf(text, bytes, "%s", path);
	}
	if (instances)
		closedir(instances);
}

bool trace_is_running(const struct trace *own, char *text, size_t bytes)
{
	if (*own->path)
		snprintf(text, bytes, "%s", own->path);
	else
		find_running(text, bytes);
	return *text;
}
