// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding tracefs, and reading the small files of an instance. */
#include "host/trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first mount of a type whose folder of instances is visible, or else the first mount. */
static bool find_mount(const char *type, const char *below, char path[static TRACE_MOUNT_BYTES])
{
	FILE *f = setmntent("/proc/mounts", "re");
	char buffer[2 * PATH_MAX], try[TRACE_MOUNT_BYTES], instances[TRACE_MOUNT_BYTES + 16];
	struct mntent entry;
	bool found = false, seen = false;

	if (!f)
		return false;
	while (!seen && getmntent_r(f, &entry, buffer, sizeof(buffer))) {
		if (strcmp(entry.mnt_type, type) ||
		    (size_t)snprintf(try, sizeof(try), "%s%s", entry.mnt_dir, below) >= sizeof(try))
			continue;
		snprintf(instances, sizeof(instances), "%s/instances", try);
		seen = !access(instances, F_OK);
		if (found && !seen)
			continue;
		strcpy(path, try);
		found = true;
	}
	endmntent(f);
	return found && (seen || !*below);
}

bool trace_find(char mount[static TRACE_MOUNT_BYTES])
{
	return find_mount("tracefs", "", mount) || find_mount("debugfs", "/tracing", mount);
}

int trace_read_text(const struct trace *t, const char *name, char *text, size_t bytes)
{
	int fd = openat(t->folder_fd, name, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t got;

	*text = 0;
	if (fd < 0)
		return -errno;
	got = read(fd, text, bytes - 1);
	if (got < 0)
		error = -errno;
	close(fd);
	if (got > 0 && text[got - 1] == '\n')
		got--;
	text[got > 0 ? got : 0] = 0;
	return error;
}

bool trace_read_number(const struct trace *t, const char *name, uint64_t *number)
{
	char text[64], *end;

	if (trace_read_text(t, name, text, sizeof(text)))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return end != text && *text != '-' && !errno;
}

int trace_next_cpu(DIR *per_cpu)
{
	const struct dirent *entry;
	int cpu, used;

	while ((entry = readdir(per_cpu)))
		if (sscanf(entry->d_name, "cpu%d%n", &cpu, &used) == 1 && cpu >= 0 && !entry->d_name[used])
			return cpu;
	return -1;
}

DIR *trace_open_per_cpu(const struct trace *t)
{
	int fd = openat(t->folder_fd, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

bool trace_in_mask(const char *mask, size_t cpu)
{
	size_t digit = 0;

	for (const char *at = mask + strlen(mask); at > mask; at--) {
		char c = at[-1];
		unsigned value = c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);

		if (c == ',')
			continue;
		if (digit++ == cpu / 4)
			return value >> cpu % 4 & 1;
	}
	return false;
}

/* If the buffers of the CPUs differ, the file for all CPUs contains "X". */
bool trace_read_buffer_kib(const struct trace *t, uint64_t *kib)
{
	DIR *per_cpu;
	uint64_t one;
	char name[64];
	int cpu;

	if (trace_read_number(t, "buffer_size_kb", kib))
		return true;
	per_cpu = trace_open_per_cpu(t);
	if (!per_cpu)
		return false;
	*kib = UINT64_MAX;
	while ((cpu = trace_next_cpu(per_cpu)) >= 0) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/buffer_size_kb", cpu);
		if (trace_read_number(t, name, &one) && one < *kib)
			*kib = one;
	}
	closedir(per_cpu);
	return *kib != UINT64_MAX;
}

unsigned trace_count_events(const struct trace *t)
{
	char text[4096], tracer[64];
	unsigned events = 0;

	if (!trace_read_text(t, "current_tracer", tracer, sizeof(tracer)) && strcmp(tracer, "nop"))
		events++;
	if (!trace_read_text(t, "set_event", text, sizeof(text)) && *text) {
		events++;
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			events++;
	}
	return events;
}
