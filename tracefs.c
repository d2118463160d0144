// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's trace. Found and opened before the run; marked and stopped at a breach, by the measuring thread, with
 * nothing but the system calls for it; saved to files after the run or by the housekeeping thread.
 * Facts: Documentation/trace/ftrace.rst, kernel/trace/trace.c.
 */
#include "tracefs.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define USEFUL_EVENTS "irq:irq_handler_entry irq:irq_handler_exit net:napi_gro_receive_entry sched:sched_switch"
#define EVENT_BYTES 64 /* of the ring buffer, a usual event */
#define LOCK_TRIES 50
#define LOCK_PAUSE_US 1000
#define OPEN_TRIES 3 /* another program may remove the instance between our mkdir and our open */

static const char *mounts_path = "/proc/mounts"; /* a test has its own */

/* ---- Reading the small files of an instance ---------------------------------------------------------------------- */

/* Reads the beginning of a file, without the newline at the end. 0 or -errno. */
static int read_text(const struct trace *t, const char *name, char *text, size_t bytes)
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

/* A number at the beginning of a file: "1410", "7 (expanded: 1408)". False: there is none. */
static bool read_number(const struct trace *t, const char *name, uint64_t *number)
{
	char text[64], *end;

	if (read_text(t, name, text, sizeof(text)))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return end != text && *text != '-' && !errno;
}

/* The number of the next folder cpuN, or -1. */
static int next_cpu(DIR *per_cpu)
{
	const struct dirent *entry;
	int cpu, used;

	while ((entry = readdir(per_cpu)))
		if (sscanf(entry->d_name, "cpu%d%n", &cpu, &used) == 1 && cpu >= 0 && !entry->d_name[used])
			return cpu;
	return -1;
}

static DIR *open_per_cpu(const struct trace *t)
{
	int fd = openat(t->folder_fd, "per_cpu", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

/* The smallest per-CPU buffer: where they differ, the file of all says "X". */
static bool read_buffer_kib(const struct trace *t, uint64_t *kib)
{
	DIR *per_cpu;
	uint64_t one;
	char name[64];
	int cpu;

	if (read_number(t, "buffer_size_kb", kib))
		return true;
	per_cpu = open_per_cpu(t);
	if (!per_cpu)
		return false;
	*kib = UINT64_MAX;
	while ((cpu = next_cpu(per_cpu)) >= 0) {
		snprintf(name, sizeof(name), "per_cpu/cpu%d/buffer_size_kb", cpu);
		if (read_number(t, name, &one) && one < *kib)
			*kib = one;
	}
	closedir(per_cpu);
	return *kib != UINT64_MAX;
}

/* ---- Finding and opening ----------------------------------------------------------------------------------------- */

#define MOUNT_BYTES 176

/* The first mount of a type whose folder of instances can be seen, or else the first one. */
static bool find_mount(const char *type, const char *below, char path[static MOUNT_BYTES])
{
	FILE *f = setmntent(mounts_path, "re");
	char buffer[2 * PATH_MAX], try[MOUNT_BYTES], instances[MOUNT_BYTES + 16];
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

static const char *advice(int error)
{
	switch (error) {
	case EACCES:
		return "run as root";
	case EPERM:
		return "a container or kernel lockdown forbids it, see 'cat /sys/kernel/security/lockdown'";
	default:
		return "see 'dmesg | tail'";
	}
}

static int fail(const struct trace *t, const char *what, int error)
{
	warnx("--trace-marker: %s%s: %s: %s", t->path, what, strerror(error), advice(error));
	return -error;
}

static int find_instance(struct trace *t, const char *instance)
{
	char mount[MOUNT_BYTES];

	if (!find_mount("tracefs", "", mount) && !find_mount("debugfs", "/tracing", mount)) {
		warnx("--trace-marker: tracefs is not mounted here ('ip netns exec' hides it, 'nsenter --net' does not): "
		      "mount -t tracefs tracefs /sys/kernel/tracing");
		return -ENOENT;
	}
	snprintf(t->path, sizeof(t->path), "%s/instances/%.64s", mount, instance);
	return 0;
}

/* Makes the instance if it is not there, and opens it. -ENOENT: it went away meanwhile. */
static int open_instance(struct trace *t)
{
	t->created = !mkdir(t->path, 0755);
	if (!t->created && errno != EEXIST)
		return fail(t, ": cannot be made", errno);
	t->folder_fd = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->folder_fd < 0)
		return errno == ENOENT ? -ENOENT : fail(t, "", errno);
	t->marker_fd = openat(t->folder_fd, "trace_marker", O_WRONLY | O_CLOEXEC);
	if (t->marker_fd < 0)
		return errno == ENOENT ? -ENOENT : fail(t, "/trace_marker", errno);
	t->on_fd = openat(t->folder_fd, "tracing_on", O_RDWR | O_CLOEXEC);
	if (t->on_fd < 0)
		return fail(t, "/tracing_on", errno);
	/* Shared by all who measure; who gets it exclusively at the end is the last, and is on its way out. */
	for (int try = 0; try < LOCK_TRIES && flock(t->marker_fd, LOCK_SH | LOCK_NB); try++)
		usleep(LOCK_PAUSE_US);
	return 0;
}

static void close_files(struct trace *t)
{
	int *const fds[] = { &t->folder_fd, &t->marker_fd, &t->on_fd, &t->snapshot_fd };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static int open_repeatedly(struct trace *t)
{
	int error = -ENOENT;

	for (int try = 0; try < OPEN_TRIES && error == -ENOENT; try++) {
		close_files(t);
		error = open_instance(t);
	}
	if (error == -ENOENT)
		fail(t, "/trace_marker", ENOENT);
	return error;
}

/* tracing_on as it is: 1, 0, or -1 if it cannot be read. */
static int tracing_on(const struct trace *t)
{
	char c;

	if (pread(t->on_fd, &c, 1, 0) != 1)
		return -1;
	return c == '0' ? 0 : 1;
}

/* One character to a switch. 0 or errno: hot. */
static int set(int fd, const char *c)
{
	ssize_t done = pwrite(fd, c, 1, 0);

	return done == 1 ? 0 : done < 0 ? errno : EIO;
}

static int switch_on(struct trace *t)
{
	int error;

	if (tracing_on(t) == 1)
		return 0;
	t->switched_on = true;
	error = set(t->on_fd, "1");
	if (error)
		return fail(t, "/tracing_on: cannot be set to 1", error);
	if (tracing_on(t) != 1) {
		warnx("--trace-marker: %s/tracing_on stays 0: another program holds tracing off: find it with "
		      "'fuser -v %s/*'", t->path, t->path);
		return -EBUSY;
	}
	warnx("--trace-marker: tracing was switched off, by others or at the breach of an earlier run: switched on, and what "
	      "%s/trace holds will be overwritten", t->path);
	return 0;
}

/* ---- The snapshot ------------------------------------------------------------------------------------------------ */

static int no_snapshot(const struct trace *t, int error)
{
	uint64_t kib = 0;

	switch (error) {
	case ENOENT:
		warnx("--snapshot: this kernel has none (CONFIG_TRACER_SNAPSHOT is not set): use --trace-marker alone: "
		      "tracing stops at the breach and the evidence stays in %s/trace", t->path);
		break;
	case EBUSY:
		warnx("--snapshot: %s/snapshot is in use by a latency tracer, a trigger or a reader that maps the buffer: "
		      "echo nop > %s/current_tracer", t->path, t->path);
		break;
	case ENOMEM:
		read_number(t, "buffer_total_size_kb", &kib);
		warnx("--snapshot: no memory for a second buffer of %" PRIu64 " KiB: make the first one smaller, e.g. "
		      "echo 1410 > %s/buffer_size_kb", kib, t->path);
		break;
	default:
		warnx("--snapshot: %s/snapshot: %s: %s", t->path, strerror(error), advice(error));
	}
	return -error;
}

/* Allocates the spare buffer by taking a snapshot, which also shows that it can be taken. */
static int open_snapshot(struct trace *t)
{
	char text[1024];
	uint64_t kib;
	bool freed;
	int error;

	t->snapshot_fd = openat(t->folder_fd, "snapshot", O_WRONLY | O_CLOEXEC);
	if (t->snapshot_fd < 0)
		return no_snapshot(t, errno);
	freed = !read_text(t, "snapshot", text, sizeof(text)) && strstr(text, "Snapshot is freed");
	error = set(t->snapshot_fd, "1");
	if (error)
		return no_snapshot(t, error);
	t->spare_made = freed;
	t->snapshot = true;
	/* The spare buffer has the size of the other. */
	if (read_number(t, "buffer_total_size_kb", &kib))
		t->spare_bytes = kib * 1024;
	return 0;
}

/* ---- What would make the trace worth little ---------------------------------------------------------------------- */

/* How many events are enabled; 1 if another tracer than none is. */
static unsigned count_events(const struct trace *t)
{
	char text[4096], tracer[64];
	unsigned events = 0;

	if (!read_text(t, "current_tracer", tracer, sizeof(tracer)) && strcmp(tracer, "nop"))
		events++;
	if (!read_text(t, "set_event", text, sizeof(text)) && *text) {
		events++;
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			events++;
	}
	return events;
}

static void doubt_events(const struct trace *t, double packets_per_s)
{
	unsigned events = count_events(t);
	uint64_t kib, wanted_kib = 1024;
	double need_kib = packets_per_s * events * EVENT_BYTES / 1024;

	if (!events) {
		warnx("--trace-marker: no event is enabled, so the trace will hold markers only: "
		      "%s%s%secho '" USEFUL_EVENTS "' > %s/set_event", t->created ? "mkdir " : "",
		      t->created ? t->path : "", t->created ? "; " : "", t->path);
		return;
	}
	if (!read_buffer_kib(t, &kib) || (double)kib >= need_kib)
		return;
	while ((double)wanted_kib < need_kib && wanted_kib < UINT64_MAX / 2)
		wanted_kib *= 2;
	warnx("--trace-marker: a buffer of %" PRIu64 " KiB per CPU holds less than a second of %u events at %.0f packets/s: "
	      "echo %" PRIu64 " > %s/buffer_size_kb", kib, events, packets_per_s, wanted_kib, t->path);
}

/* Clocks whose times mean the same on all CPUs and are those of a clock in the marker, or run with one of them. */
static void doubt_clock(struct trace *t)
{
	static const char *const good[] = { "mono_raw", "tai", "mono", "boot" };
	char text[256], *from, *to;

	if (read_text(t, "trace_clock", text, sizeof(text)) || !(from = strchr(text, '[')) || !(to = strchr(from, ']')))
		return;
	*to = 0;
	snprintf(t->clock, sizeof(t->clock), "%.15s", from + 1);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(t->clock, good[i]))
			return;
	warnx("--trace-marker: the trace clock is '%s', whose times cannot be placed beside the stamps: "
	      "echo mono_raw > %s/trace_clock (or tai; this empties the buffers)", t->clock, t->path);
}

/* In an instance that was just made there is nothing that another clock could be wanted for. */
static void choose_clock(const struct trace *t)
{
	static const char name[] = "mono_raw";
	int fd = openat(t->folder_fd, "trace_clock", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, name, strlen(name)) < 0)
		warnx("--trace-marker: %s/trace_clock cannot be set to %s: %s", t->path, name, strerror(errno));
	close(fd);
}

/* The bit of a CPU in "ffffffff,00000003". */
static bool in_mask(const char *mask, size_t cpu)
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

/* A marker is refused (EBADF) on a CPU that is not traced. */
static int doubt_cpus(const struct trace *t)
{
	char mask[2048];
	cpu_set_t mine;
	int left_out = -1, traced = 0;

	if (read_text(t, "tracing_cpumask", mask, sizeof(mask)) || sched_getaffinity(0, sizeof(mine), &mine))
		return 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		if (in_mask(mask, cpu))
			traced++;
		else if (left_out < 0)
			left_out = (int)cpu;
	}
	if (left_out < 0)
		return 0;
	warnx("--trace-marker: tracing_cpumask (%s) leaves out CPU %d, where %s: pin rant to a traced CPU with taskset, or "
	      "add it to %s/tracing_cpumask", mask, left_out,
	      traced ? "rant may run: markers written there are refused" : "rant runs: no marker could be written",
	      t->path);
	return traced ? 0 : -EINVAL;
}

static int check_markers(const struct trace *t)
{
	char text[16];

	if (read_text(t, "options/markers", text, sizeof(text)) || *text != '0')
		return 0;
	warnx("--trace-marker: markers are switched off: echo 1 > %s/options/markers", t->path);
	return -EINVAL;
}

int trace_open(struct trace *t, const char *instance, bool snapshot, double packets_per_s)
{
	int error;

	memset(t, 0, sizeof(*t));
	t->folder_fd = t->marker_fd = t->on_fd = t->snapshot_fd = -1;
	strcpy(t->clock, "unknown");
	error = find_instance(t, instance);
	if (!error)
		error = open_repeatedly(t);
	if (!error)
		error = check_markers(t);
	if (!error)
		error = doubt_cpus(t);
	if (!error && t->created)
		choose_clock(t);
	if (!error && snapshot)
		error = open_snapshot(t);
	if (!error)
		error = switch_on(t);
	if (error) {
		trace_close(t);
		return error;
	}
	doubt_clock(t);
	doubt_events(t, packets_per_s);
	return 0;
}

/* ---- Hot: markers ------------------------------------------------------------------------------------------------ */

struct text {
	char *at, *end;
};

static void put(struct text *x, const char *text)
{
	while (*text && x->at < x->end)
		*x->at++ = *text++;
}

/* At least `least` digits. */
static void put_digits(struct text *x, uint64_t v, int least)
{
	char digits[21], *at = digits + sizeof(digits) - 1;

	*at = 0;
	for (; v || least > 0; v /= 10, least--)
		*--at = (char)('0' + v % 10);
	put(x, at);
}

static uint64_t put_sign(struct text *x, int64_t v)
{
	if (v >= 0)
		return (uint64_t)v;
	put(x, "-");
	return -(uint64_t)v;
}

static void put_number(struct text *x, const char *name, int64_t v)
{
	put(x, name);
	put_digits(x, put_sign(x, v), 1);
}

/* seconds.nanoseconds, as in the log and the report, so that a search for one finds the other. */
static void put_time(struct text *x, const char *name, int64_t ns)
{
	uint64_t size;

	put(x, name);
	size = put_sign(x, ns);
	put_digits(x, size / NS_PER_S, 1);
	put(x, ".");
	put_digits(x, size % NS_PER_S, 9);
}

static const char *const role_names[] = { [ROLE_EMIT] = "emit", [ROLE_REFLECT] = "reflect" };

/* Read last, since the kernel's own stamp of the marker is taken when it is written. */
static void put_clocks(struct text *x)
{
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME), tai_ns = clock_read_ns(CLOCK_TAI);
	int64_t raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);

	put_time(x, " REALTIME=", real_ns);
	put_time(x, " TAI=", tai_ns);
	put_time(x, " MONOTONIC_RAW=", raw_ns);
}

static void compose(struct trace_record *r, const struct sample *s, int64_t threshold_ns)
{
	static const char *const times[][TIMES] = {
		[ROLE_EMIT] = { " T1_", " T1_", " T4_", " T4_" },
		[ROLE_REFLECT] = { " T2_", " T2_", " T3_", " T3_" },
	};
	static const char *const sources[] = {
		[SOURCE_USER] = "SW=", [SOURCE_KERNEL] = "KERNEL=", [SOURCE_HARDWARE] = "HW=",
	};
	struct text x = { r->marker, r->marker + sizeof(r->marker) };

	put(&x, "RANT_BREACH role=");
	put(&x, role_names[r->role]);
	put_number(&x, " seq=", s->seq);
	put_number(&x, " latency_ns=", s->latency_ns);
	put_number(&x, " threshold_ns=", threshold_ns);
	for (int i = 0; i < TIMES; i++) {
		if (s->source[i] == SOURCE_NONE || s->source[i] > SOURCE_HARDWARE)
			continue;
		put(&x, times[r->role][i]);
		put_time(&x, sources[s->source[i]], s->time_ns[i]);
	}
	put_clocks(&x);
	r->marker_bytes = (uint32_t)(x.at - r->marker);
}

/* 0 or errno. EMSGSIZE: the kernel took only the beginning, which *bytes tells. */
static int write_marker(const struct trace *t, const char *marker, uint32_t *bytes)
{
	ssize_t done = write(t->marker_fd, marker, *bytes);

	if (done <= 0)
		return done < 0 ? errno : EIO;
	if ((size_t)done >= *bytes)
		return 0;
	*bytes = (uint32_t)done;
	return EMSGSIZE;
}

void trace_mark_start(struct trace *t, enum role role)
{
	char marker[TRACE_MARKER_BYTES];
	struct text x = { marker, marker + sizeof(marker) };
	uint32_t bytes;

	put(&x, "RANT_TEST_START role=");
	put(&x, role_names[role]);
	put_clocks(&x);
	bytes = (uint32_t)(x.at - marker);
	t->start_error = write_marker(t, marker, &bytes);
}

/* ---- Hot: the breach --------------------------------------------------------------------------------------------- */

static bool freeze(struct trace *t, struct trace_record *r)
{
	r->stop_error = set(t->on_fd, "0");
	if (t->snapshot)
		r->snapshot_error = set(t->snapshot_fd, "1");
	r->snapshot_taken = t->snapshot && !r->snapshot_error;
	/* A snapshot is out of reach of what is still being traced. */
	return !r->stop_error || r->snapshot_taken;
}

void trace_breach(struct trace *t, enum role role, const struct sample *s, int64_t threshold_ns, bool stop)
{
	struct trace_record *r = &t->last;
	int64_t entered_ns;
	bool frozen = false;

	if (trace_is_frozen(t)) {
		counter_add(&t->while_frozen, 1);
		return;
	}
	entered_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	*r = (struct trace_record){ .seq = s->seq, .role = (uint8_t)role };
	compose(r, s, threshold_ns);
	r->marker_error = write_marker(t, r->marker, &r->marker_bytes);
	r->marker_ns = clock_read_ns(CLOCK_MONOTONIC_RAW) - entered_ns;
	/* Where others have stopped the trace, a snapshot would bring back what theirs has put aside. A marker is also refused
	 * on a CPU that is not traced; then there is something to freeze. */
	r->off_before = r->marker_error == EBADF && tracing_on(t) == 0;
	counter_add(r->off_before ? &t->off : r->marker_error ? &t->refused : &t->marked, 1);
	t->unsaved = true;
	if (stop && !r->off_before)
		frozen = freeze(t, r);
	r->frozen_ns = clock_read_ns(CLOCK_MONOTONIC_RAW) - entered_ns;
	if (frozen)
		atomic_store_explicit(&t->state, TRACE_FROZEN, memory_order_release);
}

bool trace_is_frozen(const struct trace *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire) == TRACE_FROZEN;
}

/* Opening `trace` this way empties the buffers of all CPUs. 0 or errno. */
static int empty_buffers(const struct trace *t)
{
	int fd = openat(t->folder_fd, "trace", O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return t->snapshot ? set(t->snapshot_fd, "2") : 0;
}

int trace_rearm(struct trace *t)
{
	int error = 0;

	if (!trace_is_frozen(t) || t->unsaved)
		return -EBUSY;
	/* Another program on this instance may have been first; what it traces must stay. */
	if (t->last.stop_error || tracing_on(t) != 1) {
		error = empty_buffers(t);
		if (!error)
			error = set(t->on_fd, "1");
	}
	if (error) {
		warnx("--trace-rearm: %s: tracing cannot be switched on again (%s): later breaches are not traced", t->path,
		      strerror(error));
		return -error;
	}
	atomic_store_explicit(&t->state, TRACE_ARMED, memory_order_release);
	return 0;
}

/* ---- Saving ------------------------------------------------------------------------------------------------------ */

#define BLOCK_BYTES 16384
#define NAME_TRIES 1000

/* The folder itself may be no link either: rant runs as root, and others may write where the folder is. */
static int open_folder(const char *folder)
{
	char path[PATH_MAX];
	size_t length = strlen(folder);
	int fd;

	while (length > 1 && folder[length - 1] == '/') /* it would make open follow the link */
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
		warnx("--save-trace %s: there is no such folder: mkdir -p '%s'", folder, folder);
	else if (error == ENOTDIR || error == ELOOP)
		warnx("--save-trace %s: is no folder, or a symbolic link to one: give the path of the folder itself", folder);
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

static int write_all(int fd, const char *from, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, from, bytes);

		if (done < 0 && errno != EINTR)
			return -errno;
		from += done > 0 ? done : 0;
		bytes -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* What all files of one save have in common. */
struct plan {
	const struct trace *trace;
	const struct trace_record *record;
	const char *source; /* "snapshot", "trace" */
	const char *needle; /* what shows the spike */
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

/* "# entries-in-buffer/entries-written: 205/310" near the beginning, of the very buffer that is read, but of all CPUs also
 * in the text of one. */
static void scan_counts(struct scan *s, const char *text)
{
	const char *at = strstr(text, "entries-written: ");
	uint64_t kept, written;

	if (!at || sscanf(at, "entries-written: %" SCNu64 "/%" SCNu64, &kept, &written) != 2 || written < kept)
		return;
	s->counted = true;
	s->lost = written - kept;
}

/* What the kernel counts per CPU is about the live buffer: there is no such number for a snapshot. */
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
	if (!read_text(p->trace, name, stats, sizeof(stats)) && (at = strstr(stats, "\noverrun: ")))
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
	if (read_buffer_kib(p->trace, &kib))
		snprintf(size, sizeof(size), "%" PRIu64, kib);
	length = snprintf(header, sizeof(header),
			  "# rant: trace of a breach of '%s', sequence number %" PRIu32 "\n# Spike: %s\n# Marker: %s\n"
			  "# From: %s/%s, %s\n# Trace clock: %s\n# Buffer: %s KiB per CPU; events lost before the first "
			  "lines, of all CPUs: %s\n# Kernel: %s %s %s\n# Saved: %s\n#\n",
			  role_names[r->role], r->seq, spike, marker, p->trace->path, p->source, p->from,
			  p->trace->clock, size, lost, kernel.release, kernel.version, kernel.machine, date);
	return write_all(fd, header, (size_t)length < sizeof(header) ? (size_t)length : sizeof(header) - 1);
}

/* Reads one text of the kernel to its end, looking for the needle; with to_fd >= 0 writes it there, after a header. */
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
			error = write_all(to_fd, text + carried, (size_t)got);
		s->found = s->found || memmem(text, bytes, p->needle, p->needle_bytes);
		carried = bytes < p->needle_bytes ? bytes : p->needle_bytes - 1;
		memmove(text, text + bytes - carried, carried);
	} while (got && !error);
	close(fd);
	return error;
}

/* Looks for the spike in p->source, and fills p->spike_cpu. */
static int find_spike(struct plan *p)
{
	DIR *per_cpu = open_per_cpu(p->trace);
	struct scan s;
	int cpu, error = 0;

	p->spike_cpu = -1;
	if (!per_cpu)
		return -errno;
	while (!error && p->spike_cpu < 0 && (cpu = next_cpu(per_cpu)) >= 0) {
		error = scan_text(p, cpu, -1, &s);
		if (!error && s.found)
			p->spike_cpu = cpu;
	}
	closedir(per_cpu);
	return error;
}

/* The kernel may skip the swap of a snapshot and not say so: the marker decides whether it is the snapshot or the trace
 * that holds the spike. Without a marker of ours there is nothing to go by but a marker of others. */
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
	/* Some file systems find out at close that there is no room. */
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
		p->spike_cpu = -1; /* it was the spike of others */
	saved->source = p->source;
	saved->spike_cpu = -1;
	if (error)
		return error;
	error = save_file(p, -1, &s);
	in_all = s.found;
	saved->lost_events = s.counted ? s.lost : UINT64_MAX;
	per_cpu = error ? NULL : open_per_cpu(p->trace);
	if (!per_cpu)
		return error ? error : -errno;
	while (!error && (cpu = next_cpu(per_cpu)) >= 0) {
		error = save_file(p, cpu, &s);
		if (s.found && in_all && p->marked)
			saved->spike_cpu = cpu;
	}
	closedir(per_cpu);
	return error;
}

/* Makes a folder NAME.part such that there is no NAME. Fills both names; returns it opened, or -errno. */
static int make_part(int folder_fd, const struct trace *t, char *name, char *part, size_t bytes)
{
	struct stat s;
	int fd;

	for (int try = 1; try <= NAME_TRIES; try++) {
		int used = snprintf(name, bytes, "rant-%s-%u-seq-%" PRIu32, role_names[t->last.role], t->saves + 1, t->last.seq);

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

int trace_save(struct trace *t, const char *folder, struct trace_saved *saved)
{
	struct plan p = { .trace = t, .record = &t->last };
	char name[64], part[64] = "";
	int folder_fd, error;

	*saved = (struct trace_saved){ .spike_cpu = -1 };
	if (!t->unsaved)
		return 0;
	folder_fd = open_folder(folder);
	if (folder_fd < 0)
		return bad_folder(folder, -folder_fd);
	p.folder_fd = make_part(folder_fd, t, name, part, sizeof(name));
	error = p.folder_fd < 0 ? p.folder_fd : save_files(&p, saved);
	/* A folder takes the name of an empty one at most. */
	if (!error && renameat(folder_fd, part, folder_fd, name))
		error = -errno;
	if (error && p.folder_fd >= 0)
		remove_part(folder_fd, part, p.folder_fd);
	if (p.folder_fd >= 0)
		close(p.folder_fd);
	close(folder_fd);
	if (error) {
		warnx("--save-trace %s: the trace could not be saved (%s); it is still in %s", folder, strerror(-error), t->path);
		return error;
	}
	snprintf(saved->path, sizeof(saved->path), "%.*s/%s", (int)(sizeof(saved->path) - sizeof(name) - 1), folder, name);
	t->unsaved = false;
	t->saves++;
	return 1;
}

static bool is_running(const char *path)
{
	struct trace t = { .folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	uint64_t on;
	bool running;

	if (t.folder_fd < 0)
		return false;
	running = read_number(&t, "tracing_on", &on) && on && count_events(&t);
	close(t.folder_fd);
	return running;
}

bool trace_is_running(char *text, size_t bytes)
{
	char mount[MOUNT_BYTES], path[MOUNT_BYTES + NAME_MAX + 16];
	struct dirent *entry;
	DIR *instances;

	*text = 0;
	if (!find_mount("tracefs", "", mount) && !find_mount("debugfs", "/tracing", mount))
		return false;
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
	return *text;
}

/* ---- Closing ----------------------------------------------------------------------------------------------------- */

void trace_close(struct trace *t)
{
	bool alone, clean, remove;

	if (!*t->path)
		return;
	/* The lock is refused while another program that measures has the instance open. */
	alone = t->marker_fd < 0 || !flock(t->marker_fd, LOCK_EX | LOCK_NB);
	/* Off, and not by us: it may be the evidence of another that has ended. */
	clean = !trace_is_frozen(t) && !t->unsaved && tracing_on(t) != 0;
	remove = t->created && alone && (clean || (trace_is_frozen(t) && !t->unsaved));
	if (clean && alone && t->spare_made)
		set(t->snapshot_fd, "0");
	if (clean && alone && t->switched_on)
		set(t->on_fd, "0");
	close_files(t);
	if (remove)
		rmdir(t->path); /* EBUSY: others use it */
	*t->path = 0;
}
