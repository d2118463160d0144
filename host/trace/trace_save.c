// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saving a frozen trace to files, and switching tracing on again.
 * Facts: Documentation/trace/ftrace.rst, kernel/trace/trace.c.
 */
#include "host/trace/trace_save.h"

#include "host/file.h"
#include "host/trace/trace_files.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BLOCK_BYTES 16384
#define NAME_TRIES 1000

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* The folder must not be a link: rant runs as root, and other users may write in its parent folder. */
static int open_folder(const char *folder)
{
	char path[PATH_MAX];
	size_t length = strlen(folder);
	int fd;

	while (length > 1 && folder[length - 1] == '/') /* a trailing slash would make open() follow a link */
		length--;
	if (length >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, folder, length);
	path[length] = 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int bad_folder(const char *folder, int error)
{
	if (error == ENOENT)
		warnx("--save-trace %s: the folder does not exist: mkdir -p '%s'", folder, folder);
	else if (error == ENOTDIR || error == ELOOP)
		warnx("--save-trace %s: is not a folder, or a symbolic link: give the path of a folder",
		      folder);
	else
		warnx("--save-trace %s: cannot be written to (%s): choose another folder", folder, strerror(error));
	return -error;
}

int trace_check_folder(const char *folder)
{
	int fd = open_folder(folder), error = 0;
	char name[64];

	if (fd < 0)
		return bad_folder(folder, -fd);
	snprintf(name, sizeof(name), ".rant-%d", (int)getpid());
	if (mkdirat(fd, name, 0700) || unlinkat(fd, name, AT_REMOVEDIR))
		error = errno;
	close(fd);
	return error ? bad_folder(folder, error) : 0;
}

/* ---- Its files --------------------------------------------------------------------------------------------------- */

/* Common data of all files of a save. */
struct plan {
	const struct trace *trace;
	const struct trace_record *record;
	const char *source; /* "snapshot", "trace" */
	const char *needle; /* text of the line that marks the spike */
	size_t needle_bytes;
	int spike_cpu;
	bool marked; /* the marker was written */
	const char *from; /* a sentence on the source */
	int folder_fd;
};

struct scan {
	bool found; /* the needle */
	bool counted;
	uint64_t lost; /* events of all CPUs that are no longer in the buffer, when counted */
};

/* "# entries-in-buffer/entries-written: 205/310" near the beginning: counts of the buffer that is read, but of all CPUs
 * even in the text of a single CPU. */
static void scan_counts(struct scan *s, const char *text)
{
	const char *at = strstr(text, "entries-written: ");
	uint64_t kept, written;

	if (!at || sscanf(at, "entries-written: %" SCNu64 "/%" SCNu64, &kept, &written) != 2 || written < kept)
		return;
	s->counted = true;
	s->lost = written - kept;
}

/* The kernel's counters per CPU describe the live buffer, not a snapshot. */
static void say_lost(const struct plan *p, const struct scan *s, int cpu, char *text, size_t bytes)
{
	char name[64], stats[512];
	const char *at;
	int used = 0;

	if (s->counted)
		used = snprintf(text, bytes, "%" PRIu64, s->lost);
	else
		used = snprintf(text, bytes, "unknown");
	if (cpu < 0 || strcmp(p->source, "trace"))
		return;
	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	if (!trace_read_text(p->trace, name, stats, sizeof(stats)) && (at = strstr(stats, "\noverrun: ")))
		snprintf(text + used, bytes - (size_t)used, "; of this CPU: %" PRIu64,
			 (uint64_t)strtoull(at + strlen("\noverrun: "), NULL, 10));
}

static int write_header(const struct plan *p, const struct scan *s, int cpu, int fd)
{
	const struct trace_record *r = p->record;
	struct utsname kernel = { 0 };
	time_t now = time(NULL);
	uint64_t kib;
	struct tm utc;
	char date[32], spike[64] = "in no file", lost[96], size[32] = "unknown";
	char marker[TRACE_MARKER_BYTES + 1], header[2048];
	int length;

	uname(&kernel);
	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc);
	if (p->spike_cpu >= 0)
		snprintf(spike, sizeof(spike), "in cpu%d.txt%s", p->spike_cpu,
			 cpu == p->spike_cpu ? ", this file" : cpu < 0 ? ", and in this file with all CPUs" : "");
	say_lost(p, s, cpu, lost, sizeof(lost));
	snprintf(marker, sizeof(marker), "%.*s", (int)r->marker_bytes, r->marker);
	if (!p->marked)
		snprintf(marker, sizeof(marker), "refused (%s)", strerror(r->marker_error));
	if (trace_read_buffer_kib(p->trace, &kib))
		snprintf(size, sizeof(size), "%" PRIu64, kib);
	length = snprintf(header, sizeof(header),
			  "# rant: trace of a breach of '%s', sequence number %" PRIu32
			  "\n# Spike: %s\n# Marker: %s\n"
			  "# From: %s/%s, %s\n# Trace clock: %s\n# Buffer: %s KiB per CPU; events lost before the "
			  "first lines, of all CPUs: %s\n# Kernel: %s %s %s\n# Saved: %s\n#\n",
			  role_name(r->role), r->seq, spike, marker, p->trace->path, p->source, p->from,
			  p->trace->clock, size, lost, kernel.release, kernel.version, kernel.machine, date);
	return file_write_all(fd, header, (size_t)length < sizeof(header) ? (size_t)length : sizeof(header) - 1);
}

/* Reads a text file of the kernel to its end, searching for the needle; with to_fd >= 0 writes it there, after a
 * header. */
static int scan_text(const struct plan *p, int cpu, int to_fd, struct scan *s)
{
	char name[64], text[TRACE_MARKER_BYTES + BLOCK_BYTES + 1]; /* the end of the last block, this block */
	size_t carried = 0;
	ssize_t got;
	bool first = true;
	int fd, error = 0;

	*s = (struct scan){ 0 };
	if (cpu < 0)
		snprintf(name, sizeof(name), "%s", p->source);
	else
		snprintf(name, sizeof(name), "per_cpu/cpu%d/%s", cpu, p->source);
	fd = openat(p->trace->folder_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		got = read(fd, text + carried, BLOCK_BYTES);
		if (got < 0) {
			error = errno == EINTR ? 0 : -errno;
			continue;
		}
		size_t bytes = carried + (size_t)got;

		text[bytes] = 0;
		if (first) {
			scan_counts(s, text);
			error = to_fd >= 0 ? write_header(p, s, cpu, to_fd) : 0;
			first = false;
		}
		if (!error && to_fd >= 0)
			error = file_write_all(to_fd, text + carried, (size_t)got);
		s->found = s->found || memmem(text, bytes, p->needle, p->needle_bytes);
		carried = bytes < p->needle_bytes ? bytes : p->needle_bytes - 1;
		memmove(text, text + bytes - carried, carried);
	} while (got && !error);
	close(fd);
	return error;
}

/* Searches p->source for the spike, and fills p->spike_cpu. */
static int find_spike(struct plan *p)
{
	DIR *per_cpu = trace_open_per_cpu(p->trace);
	struct scan s;
	int cpu, error = 0;

	p->spike_cpu = -1;
	if (!per_cpu)
		return -errno;
	while (!error && p->spike_cpu < 0 && (cpu = trace_next_cpu(per_cpu)) >= 0) {
		error = scan_text(p, cpu, -1, &s);
		if (!error && s.found)
			p->spike_cpu = cpu;
	}
	closedir(per_cpu);
	return error;
}

/* The kernel may skip the swap of a snapshot without a report: the marker shows whether the snapshot or the trace holds
 * the spike. Without a marker of this run a marker of another run is used. */
static int choose_source(struct plan *p, bool *swap_skipped)
{
	const struct trace_record *r = p->record;
	bool marked = !r->marker_error || r->marker_error == EMSGSIZE;
	int error = 0;

	p->needle = marked ? r->marker : "RANT_BREACH role=";
	p->needle_bytes = marked ? r->marker_bytes : strlen(p->needle);
	if (r->snapshot_taken || (p->trace->snapshot && r->off_before)) {
		p->source = "snapshot";
		p->from = r->off_before ? "taken before the breach by others" : "taken at the breach";
		error = find_spike(p);
		if (error || p->spike_cpu >= 0 || (r->snapshot_taken && !marked))
			return error;
	}
	*swap_skipped = r->snapshot_taken;
	p->source = "trace";
	if (*swap_skipped)
		p->from = "since the snapshot does not hold the marker";
	else if (r->off_before)
		p->from = "stopped before the breach by others";
	else
		p->from = trace_is_frozen(p->trace) ? "stopped at the breach" : "not stopped at the breach";
	return find_spike(p);
}

static int save_file(const struct plan *p, int cpu, struct scan *s)
{
	char name[32] = "all.txt";
	int fd, error;

	if (cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d.txt", cpu);
	fd = openat(p->folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = scan_text(p, cpu, fd, s);
	/* Some file systems report at close that the disk is full. */
	if (close(fd) && !error)
		error = -errno;
	return error;
}

static int save_files(struct plan *p, struct trace_saved *saved)
{
	DIR *per_cpu;
	struct scan s;
	bool in_all;
	int cpu, error = choose_source(p, &saved->swap_skipped);

	p->marked = p->needle == p->record->marker;
	if (!p->marked)
		p->spike_cpu = -1; /* the marker belongs to another run */
	saved->source = p->source;
	saved->spike_cpu = (struct optional){ .known = false };
	if (error)
		return error;
	error = save_file(p, -1, &s);
	in_all = s.found;
	if (s.counted)
		saved->lost_events = optional_of((int64_t)s.lost);
	per_cpu = error ? NULL : trace_open_per_cpu(p->trace);
	if (!per_cpu)
		return error ? error : -errno;
	while (!error && (cpu = trace_next_cpu(per_cpu)) >= 0) {
		error = save_file(p, cpu, &s);
		if (s.found && in_all && p->marked)
			saved->spike_cpu = optional_of(cpu);
	}
	closedir(per_cpu);
	return error;
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

/* The run, which both hosts know, so that the folders of one breach have the same end of their names. */
static int put_name(const struct trace *t, char *name, size_t bytes)
{
	const struct trace_record *r = &t->last;

	if (!r->ssid)
		return snprintf(name, bytes, "rant-%s-%u-seq-%" PRIu32, role_name(r->role), t->saves + 1, r->seq);
	return snprintf(name, bytes, "rant-%s-run-" RUN_ID_FORMAT "-seq-%" PRIu32, role_name(r->role), r->ssid, r->seq);
}

/* Creates a folder NAME.part for a NAME that does not exist. Fills both names; returns the open folder, or -errno. */
static int make_part(int folder_fd, const struct trace *t, char *name, char *part, size_t bytes)
{
	struct stat s;
	int fd;

	for (int try = 1; try <= NAME_TRIES; try++) {
		const int used = put_name(t, name, bytes);

		if (try > 1)
			snprintf(name + used, bytes - (size_t)used, ".%d", try);
		snprintf(part, bytes, "%.48s.part", name);
		if (!fstatat(folder_fd, name, &s, AT_SYMLINK_NOFOLLOW))
			continue;
		if (mkdirat(folder_fd, part, 0700)) {
			if (errno == EEXIST)
				continue;
			return -errno;
		}
		fd = openat(folder_fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		fd = -errno;
		unlinkat(folder_fd, part, AT_REMOVEDIR);
		return fd;
	}
	return -EEXIST;
}

static void remove_part(int folder_fd, const char *part, int part_fd)
{
	int fd = dup(part_fd);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (*entry->d_name != '.')
			unlinkat(part_fd, entry->d_name, 0);
	if (d)
		closedir(d);
	unlinkat(folder_fd, part, AT_REMOVEDIR);
}

/* As far as it is possible: the text is saved. */
static void add_evidence(const struct trace *t, const struct plan *p, struct trace_saved *saved)
{
	const int error = t->describe ? t->describe(t->context, p->folder_fd, saved->spike_cpu) : 0;

	if (error)
		trace_leave_out(&saved->left_out, "breach.json", -error);
	trace_save_raw(t, p->source, p->folder_fd, &saved->left_out);
	trace_save_symbols(t, p->folder_fd, &saved->left_out);
}

int trace_save(struct trace *t, const char *folder, struct trace_saved *saved)
{
	struct plan p = { .trace = t, .record = &t->last };
	char name[64], part[64] = "";
	int folder_fd, error;

	*saved = (struct trace_saved){ .path = "" };
	if (!t->unsaved)
		return 0;
	folder_fd = open_folder(folder);
	if (folder_fd < 0)
		return bad_folder(folder, -folder_fd);
	p.folder_fd = make_part(folder_fd, t, name, part, sizeof(name));
	error = p.folder_fd < 0 ? p.folder_fd : save_files(&p, saved);
	/* A folder can replace only an empty folder. */
	if (!error && renameat(folder_fd, part, folder_fd, name))
		error = -errno;
	/* The text is safe now: reading the pages may remove them from the buffer. */
	if (!error)
		add_evidence(t, &p, saved);
	if (error && p.folder_fd >= 0)
		remove_part(folder_fd, part, p.folder_fd);
	if (p.folder_fd >= 0)
		close(p.folder_fd);
	close(folder_fd);
	if (error) {
		warnx("--save-trace %s: the trace could not be saved (%s); it is still in %s", folder, strerror(-error),
		      t->path);
		return error;
	}
	snprintf(saved->path, sizeof(saved->path), "%.*s/%s", (int)(sizeof(saved->path) - sizeof(name) - 1), folder,
		 name);
	t->unsaved = false;
	t->saves++;
	return 1;
}

/* ---- Again ------------------------------------------------------------------------------------------------------- */

/* Opening `trace` for writing with O_TRUNC empties the buffers of all CPUs. 0 or errno. */
static int empty_buffers(const struct trace *t)
{
	int fd = openat(t->folder_fd, "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return t->snapshot ? trace_set(t->snapshot_fd, "2") : 0;
}

int trace_rearm(struct trace *t)
{
	int error = 0;

	if (!trace_is_frozen(t) || t->unsaved)
		return -EBUSY;
	/* Another program on this instance may have frozen it first; its trace must stay. */
	if (t->last.stop_error || trace_read_on(t) != 1) {
		error = empty_buffers(t);
		if (!error)
			error = trace_set(t->on_fd, "1");
	}
	if (error) {
		warnx("--trace-rearm: %s: tracing cannot be switched on again (%s): later breaches are not traced",
		      t->path, strerror(error));
		return -error;
	}
	atomic_store_explicit(&t->state, TRACE_ARMED, memory_order_release);
	return 0;
}
