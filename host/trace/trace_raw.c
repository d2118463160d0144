// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saving the raw pages of a frozen trace: nanoseconds, where the text has microseconds.
 * Facts: Documentation/trace/ftrace.rst, kernel/trace/trace.c, trace-cmd-restore(1).
 */
#include "host/trace/trace_save.h"

#include "host/file.h"
#include "host/trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 16384
#define SMALL_BYTES (1 << 20) /* formats and names; the largest is saved_cmdlines with 128 KiB by default */
#define FORMATS_MAX 4096

struct raw {
	const struct trace *trace;
	const char *source;
	int fd; /* the folder `raw` */
	struct trace_left_out *left_out;
};

void trace_leave_out(struct trace_left_out *left_out, const char *name, int error)
{
	if (!left_out->parts++)
		snprintf(left_out->first, sizeof(left_out->first), "%.60s (%s)", name, strerror(error));
}

static void leave_out(struct raw *r, const char *name, int error)
{
	trace_leave_out(r->left_out, name, error);
}

/* Up to the end of the file, which for pages is EAGAIN, or `most` octets. 0 or errno. */
static int copy(int from_fd, int to_fd, uint64_t most)
{
	char block[BLOCK_BYTES];
	uint64_t done = 0;

	while (done < most) {
		ssize_t got = read(from_fd, block, sizeof(block));
		int error;

		if (!got || (got < 0 && errno == EAGAIN))
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		error = got < 0 ? errno : -file_write_all(to_fd, block, (size_t)got);
		if (error)
			return error;
		done += (uint64_t)got;
	}
	return 0;
}

/* from: below the instance; to: below `raw`. */
static void save(struct raw *r, const char *from, const char *to, uint64_t most)
{
	int from_fd = openat(r->trace->folder_fd, from, O_RDONLY | O_NONBLOCK | O_CLOEXEC), to_fd, error;

	if (from_fd < 0) {
		leave_out(r, from, errno);
		return;
	}
	to_fd = openat(r->fd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = to_fd < 0 ? errno : copy(from_fd, to_fd, most);
	if (to_fd >= 0 && close(to_fd) && !error)
		error = errno;
	close(from_fd);
	if (!error)
		return;
	leave_out(r, from, error);
	if (to_fd >= 0)
		unlinkat(r->fd, to, 0);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Two programs that measure hold a shared lock each; in a refused conversion the lock is lost. */
static bool is_shared(const struct trace *t)
{
	const bool shared = flock(t->marker_fd, LOCK_EX | LOCK_NB);

	flock(t->marker_fd, LOCK_SH | LOCK_NB);
	return shared;
}

static void save_pages(struct raw *r)
{
	const bool snapshot = !strcmp(r->source, "snapshot");
	char mask[2048], from[64], to[32];
	DIR *per_cpu;
	uint64_t kib;
	int cpu;

	if (!snapshot && is_shared(r->trace)) {
		leave_out(r, "per_cpu/cpu*/trace_pipe_raw", EBUSY);
		return;
	}
	per_cpu = trace_open_per_cpu(r->trace);
	if (!per_cpu || !trace_read_buffer_kib(r->trace, &kib)) {
		leave_out(r, "per_cpu", per_cpu ? EINVAL : errno);
		if (per_cpu)
			closedir(per_cpu);
		return;
	}
	if (trace_read_text(r->trace, "tracing_cpumask", mask, sizeof(mask)))
		*mask = 0;
	while ((cpu = trace_next_cpu(per_cpu)) >= 0) {
		if (*mask && !trace_in_mask(mask, (size_t)cpu))
			continue;
		snprintf(from, sizeof(from), "per_cpu/cpu%d/%s", cpu, snapshot ? "snapshot_raw" : "trace_pipe_raw");
		snprintf(to, sizeof(to), "cpu%d", cpu);
		/* The size of the buffer does not count the headers of its pages and the page of the reader. */
		save(r, from, to, 2 * kib * 1024 + SMALL_BYTES);
	}
	closedir(per_cpu);
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

/* name: SYSTEM:NAME, or SYSTEM/NAME. */
static void save_format(struct raw *r, const char *name)
{
	const int system = (int)strcspn(name, ":/");
	char path[256];

	if (!name[system] || strchr(name + system + 1, '/') || *name == '.' || name[system + 1] == '.')
		return;
	snprintf(path, sizeof(path), "events/%.*s", system, name);
	mkdirat(r->fd, path, 0700);
	snprintf(path, sizeof(path), "events/%.*s/%.100s", system, name, name + system + 1);
	mkdirat(r->fd, path, 0700);
	snprintf(path, sizeof(path), "events/%.*s/%.100s/format", system, name, name + system + 1);
	save(r, path, path, SMALL_BYTES);
}

static void save_formats(struct raw *r)
{
	int fd = openat(r->trace->folder_fd, "set_event", O_RDONLY | O_CLOEXEC);
	FILE *names = fd < 0 ? NULL : fdopen(fd, "r");
	char name[128];

	if (!names) {
		leave_out(r, "set_event", errno);
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < FORMATS_MAX && fgets(name, sizeof(name), names); i++) {
		name[strcspn(name, "\n")] = 0;
		save_format(r, name);
	}
	fclose(names);
	save_format(r, "ftrace/print");
}

/* An instance has no saved_cmdlines: names of threads are of the whole kernel. */
void trace_save_raw(const struct trace *t, const char *source, int folder_fd, struct trace_left_out *left_out)
{
	struct raw r = { .trace = t, .source = source, .left_out = left_out, .fd = -1 };

	if (!mkdirat(folder_fd, "raw", 0700))
		r.fd = openat(folder_fd, "raw", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r.fd < 0) {
		leave_out(&r, "raw", errno);
		return;
	}
	mkdirat(r.fd, "events", 0700);
	save(&r, "events/header_page", "header_page", SMALL_BYTES);
	save(&r, "events/header_page", "events/header_page", SMALL_BYTES);
	save(&r, "events/header_event", "header_event", SMALL_BYTES);
	save(&r, "events/header_event", "events/header_event", SMALL_BYTES);
	save(&r, "../../saved_cmdlines", "saved_cmdlines", SMALL_BYTES);
	save_formats(&r);
	save_pages(&r);
	close(r.fd);
}
