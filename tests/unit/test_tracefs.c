/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracefs.c against a folder of plain files that stands for tracefs, with faults where the test wants them, and, as root,
 * against the real tracefs where one is mounted, in instances of its own.
 */
#include "tracefs.c"

#include "util.h"

#include <ftw.h>

#define NAME "test" /* of the instance in the folder that stands for tracefs */
#define EVENTS_4 "irq:irq_handler_entry\nirq:irq_handler_exit\nnet:napi_gro_receive_entry\nsched:sched_switch\n"
#define ALL_CPUS "ffffffff,ffffffff,ffffffff,ffffffff"

static struct trace t;
static struct trace_saved saved;
static char root[64], instance[256], out[128];
static char said[8192];

#define CAPTURED(result, call)                                    \
	do {                                                      \
		struct util_capture capture_;                     \
		util_capture_begin(&capture_);                    \
		(result) = (call);                                \
		util_capture_end(&capture_, said, sizeof(said));  \
	} while (0)

static void assert_lines(int lines, const char *const *pieces)
{
	int n = 0;

	for (const char *at = said; (at = strchr(at, '\n')); at++)
		n++;
	if (n != lines)
		fail_msg("%d lines, not %d: %s", n, lines, said);
	for (; *pieces && **pieces; pieces++)
		if (!strstr(said, *pieces))
			fail_msg("\"%s\" is not in: %s", *pieces, said);
}

#define ASSERT_SAID(lines, ...) assert_lines(lines, (const char *const[]){ __VA_ARGS__, "" })
#define assert_silent() assert_string_equal(said, "")

/* ---- Faults: off by default, on in one test ------------------------------------------------------------------------ */

static struct {
	int marker_errno, on_errno, snapshot_errno, mkdir_errno, mkdirat_errno, rename_errno, rmdir_errno;
	size_t marker_room; /* bytes of a marker that are taken, 0: all */
	bool on_is_stuck; /* writes to tracing_on do nothing */
	const char *on_failed_marker; /* what tracing_on is then set to, by another program */
	int file_writes_left; /* to files that are saved; then ENOSPC. -1: no limit */
	int close_errno; /* of a saved file */
	void (*made)(void); /* after mkdir, to fill it */
	void (*on_mkdir_error)(void);
	bool no_mkdir; /* the folder is there already, but mkdir says that it made it */
	bool keep; /* rmdir only counts */
	int rmdirs;
	char steps[64]; /* one letter per system call of the hot path */
} fake;

static void step(char letter, char what)
{
	size_t n = strlen(fake.steps);

	if (n + 3 < sizeof(fake.steps))
		snprintf(fake.steps + n, 3, "%c%c", letter, what);
}

static bool is_saved_file(int fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = 0;
	return strstr(path, ".part/");
}

static void put_file(const char *name, const char *text);

ssize_t __real_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes);
ssize_t __wrap_write(int fd, const void *from, size_t bytes)
{
	if (*t.path && fd == t.marker_fd) {
		step('m', ' ');
		if (fake.marker_errno) {
			if (fake.on_failed_marker)
				put_file("tracing_on", fake.on_failed_marker);
			errno = fake.marker_errno;
			return -1;
		}
		if (fake.marker_room && bytes > fake.marker_room)
			bytes = fake.marker_room;
	} else if (fake.file_writes_left >= 0 && is_saved_file(fd) && fake.file_writes_left-- == 0) {
		errno = ENOSPC;
		return -1;
	}
	return __real_write(fd, from, bytes);
}

ssize_t __real_pwrite(int fd, const void *from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	bool on = fd == t.on_fd;
	int error = on ? fake.on_errno : fake.snapshot_errno;

	step(on ? 'o' : fd == t.snapshot_fd ? 's' : '?', *(const char *)from);
	if (error) {
		errno = error;
		return -1;
	}
	/* The snapshot of the folder of files is a text that the test has put there. */
	if ((on && fake.on_is_stuck) || (!on && strncmp(root, "/sys", 4)))
		return (ssize_t)bytes;
	return __real_pwrite(fd, from, bytes, at);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
	int result = 0;

	if (fake.mkdir_errno) {
		if (fake.on_mkdir_error)
			fake.on_mkdir_error();
		errno = fake.mkdir_errno;
		return -1;
	}
	if (!fake.no_mkdir)
		result = __real_mkdir(path, mode);
	if (fake.made)
		fake.made();
	return result;
}

int __real_mkdirat(int fd, const char *path, mode_t mode);
int __wrap_mkdirat(int fd, const char *path, mode_t mode);
int __wrap_mkdirat(int fd, const char *path, mode_t mode)
{
	if (fake.mkdirat_errno) {
		errno = fake.mkdirat_errno;
		return -1;
	}
	return __real_mkdirat(fd, path, mode);
}

int __real_rmdir(const char *path);
int __wrap_rmdir(const char *path);
int __wrap_rmdir(const char *path)
{
	fake.rmdirs++;
	if (fake.rmdir_errno) {
		errno = fake.rmdir_errno;
		return -1;
	}
	return fake.keep ? 0 : __real_rmdir(path);
}

int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (fake.rename_errno) {
		errno = fake.rename_errno;
		return -1;
	}
	return __real_renameat(from_fd, from, to_fd, to);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	bool fails = fake.close_errno && is_saved_file(fd);

	__real_close(fd);
	if (!fails)
		return 0;
	errno = fake.close_errno;
	return -1;
}

/* ---- The folder that stands for tracefs ---------------------------------------------------------------------------- */

static void put_at(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(__real_write(fd, text, strlen(text)), strlen(text));
	__real_close(fd);
}

static void put_file(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	put_at(path, text);
}

/* Valid until the next call. */
static const char *get_at(const char *path)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY);
	ssize_t got, n = 0;

	if (fd < 0)
		return NULL;
	while ((got = read(fd, text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n += got;
	__real_close(fd);
	text[n] = 0;
	return text;
}

static const char *get_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	return get_at(path);
}

static const char *get_saved(const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", saved.path, name);
	return get_at(path);
}

static void remove_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	assert_int_equal(unlink(path), 0);
}

#define TABLE "# tracer: nop\n#\n# entries-in-buffer/entries-written: %s   #P:2\n#\n"

static void put_trace(const char *name, const char *counts, const char *body)
{
	char *text = malloc(strlen(body) + 256);

	assert_non_null(text);
	sprintf(text, TABLE "%s", counts, body);
	put_file(name, text);
	free(text);
}

static void fill_instance(void)
{
	char path[512];

	static const char *const folders[] = { "per_cpu", "per_cpu/cpu0", "per_cpu/cpu1", "options" };

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", instance, folders[i]);
		assert_int_equal(__real_mkdir(path, 0700), 0);
	}
	put_file("trace_marker", "");
	put_file("tracing_on", "1\n");
	put_file("trace_clock", "local global [mono_raw] tai\n");
	put_file("buffer_size_kb", "16384\n");
	put_file("buffer_total_size_kb", "32768\n");
	put_file("per_cpu/cpu0/buffer_size_kb", "16384\n");
	put_file("per_cpu/cpu1/buffer_size_kb", "16384\n");
	put_file("per_cpu/cpu0/stats", "entries: 3\noverrun: 0\ncommit overrun: 7\nbytes: 9\n");
	put_file("per_cpu/cpu1/stats", "entries: 5\noverrun: 12\ncommit overrun: 8\nbytes: 9\n");
	put_file("current_tracer", "nop\n");
	put_file("set_event", EVENTS_4);
	put_file("tracing_cpumask", ALL_CPUS "\n");
	put_file("options/markers", "1\n");
	put_trace("trace", "3/3", "old\n");
	put_trace("per_cpu/cpu0/trace", "1/1", "old\n");
	put_trace("per_cpu/cpu1/trace", "2/2", "old\n");
}

static void fill_snapshot(const char *text)
{
	put_file("snapshot", text);
	put_trace("per_cpu/cpu0/snapshot", "1/1", "old\n");
	put_trace("per_cpu/cpu1/snapshot", "2/2", "old\n");
}

static void mount_as(const char *line)
{
	static char path[128];
	char text[512];

	snprintf(path, sizeof(path), "%s/mounts", root);
	snprintf(text, sizeof(text), "sysfs /sys sysfs rw 0 0\n%s\n", line);
	put_at(path, text);
	mounts_path = path;
}

static void mount_here(void)
{
	char line[256];

	snprintf(line, sizeof(line), "tracefs %s/tracing tracefs rw 0 0", root);
	mount_as(line);
}

static void make_folder(const char *below)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, below);
	assert_int_equal(__real_mkdir(path, 0700), 0);
}

static int begin(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.file_writes_left = -1;
	memset(&t, 0, sizeof(t));
	*said = 0;
	strcpy(root, "/tmp/rant-tracefs-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(instance, sizeof(instance), "%s/tracing/instances/" NAME, root);
	snprintf(out, sizeof(out), "%s/out", root);
	make_folder("out");
	make_folder("tracing");
	make_folder("tracing/instances");
	make_folder("tracing/instances/" NAME);
	fill_instance();
	mount_here();
	return 0;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
	(void)s;
	(void)type;
	(void)at;
	return remove(path);
}

static int end(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.file_writes_left = -1;
	fake.keep = true;
	trace_close(&t);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	mounts_path = "/proc/mounts";
	return 0;
}

static int open_it(bool snapshot, double packets_per_s)
{
	int error;

	CAPTURED(error, trace_open(&t, NAME, snapshot, packets_per_s));
	return error;
}

static void open_well(bool snapshot)
{
	if (snapshot)
		fill_snapshot("# tracer: nop\n#\n#\n# * Snapshot is freed *\n#\n");
	assert_int_equal(open_it(snapshot, 1000), 0);
	assert_silent();
	*fake.steps = 0;
}

static const struct sample spike = {
	.seq = 4294967295, .latency_ns = 330151,
	.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
	.time_ns = { 1773883524780127138, 1773883524780430176, 1773883524780430768, 1773883524780457289 },
};

static void breach(bool stop)
{
	trace_breach(&t, ROLE_REFLECT, &spike, 100000, stop);
}

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

static void test_not_mounted(void **state)
{
	(void)state;
	mount_as("proc /proc proc rw 0 0");
	assert_int_equal(open_it(false, 1000), -ENOENT);
	ASSERT_SAID(1, "--trace-marker: ", "mount -t tracefs tracefs /sys/kernel/tracing", "ip netns exec", "nsenter --net");
	mounts_path = "/nowhere/mounts";
	assert_int_equal(open_it(false, 1000), -ENOENT);
	trace_close(&t); /* of what was not opened */
}

static void test_mount_with_instances_is_preferred(void **state)
{
	char line[512];

	(void)state;
	snprintf(line, sizeof(line), "tracefs %s tracefs rw 0 0\ntracefs %s/tracing tracefs rw 0 0\n"
		 "tracefs %s/out tracefs rw 0 0", root, root, root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.path, instance);
}

static void test_mount_path_with_a_blank(void **state)
{
	char line[256], path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/a b", root);
	assert_int_equal(symlink("tracing", path), 0);
	snprintf(line, sizeof(line), "tracefs %s/a\\040b tracefs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_non_null(strstr(t.path, "/a b/instances/" NAME));
}

static void test_debugfs(void **state)
{
	char line[256];

	(void)state;
	snprintf(line, sizeof(line), "debugfs %s debugfs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.path, instance);
	trace_close(&t);
	snprintf(line, sizeof(line), "debugfs %s/out debugfs rw 0 0", root);
	mount_as(line);
	assert_int_equal(open_it(false, 1000), -ENOENT);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

static void test_existing_instance_is_never_removed(void **state)
{
	(void)state;
	open_well(false);
	assert_false(t.created);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 0);
	assert_string_equal(get_file("tracing_on"), "1\n");
	assert_string_equal(get_file("trace_marker"), "");
}

static void test_created_instance_is_removed(void **state)
{
	(void)state;
	fake.no_mkdir = true;
	fake.keep = true;
	put_file("trace_clock", "");
	assert_int_equal(open_it(false, 1000), 0);
	assert_true(t.created);
	assert_string_equal(get_file("trace_clock"), "mono_raw");
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 1);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 1);
}

static void test_clock_of_others_is_left_alone(void **state)
{
	(void)state;
	open_well(false);
	assert_string_equal(get_file("trace_clock"), "local global [mono_raw] tai\n");
	assert_string_equal(t.clock, "mono_raw");
}

static int times_made;

/* Another program removes it between mkdir and open, once. */
static void take_away(void)
{
	if (times_made++ == 0)
		assert_int_equal(__real_rmdir(instance), 0);
	else
		fill_instance();
}

static void restore_marker(void)
{
	put_file("trace_marker", "");
}

/* The files come with the next mkdir, which then says that there is one. */
static void made_by_another(void)
{
	fake.made = NULL;
	fake.mkdir_errno = EEXIST;
	fake.on_mkdir_error = restore_marker;
}

static void test_instance_goes_away_meanwhile(void **state)
{
	(void)state;
	nftw(instance, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	times_made = 0;
	fake.made = take_away;
	assert_int_equal(open_it(false, 1000), 0);
	assert_int_equal(times_made, 2);
}

static void test_instance_is_made_by_another_meanwhile(void **state)
{
	(void)state;
	remove_file("trace_marker");
	fake.no_mkdir = fake.keep = true; /* it was made here, and lost its files: the next mkdir finds another's */
	fake.made = made_by_another;
	assert_int_equal(open_it(false, 1000), 0);
	assert_false(t.created);
}

static void test_no_trace_marker(void **state)
{
	int fd = dup(2);

	(void)state;
	__real_close(fd);
	remove_file("trace_marker");
	assert_int_equal(open_it(false, 1000), -ENOENT);
	ASSERT_SAID(1, "/instances/" NAME "/trace_marker");
	int after = dup(2);

	__real_close(after);
	assert_int_equal(after, fd); /* nothing was left open */
}

static void test_refusals(void **state)
{
	static const struct {
		int error;
		const char *says;
	} rows[] = { { EACCES, "run as root" }, { EPERM, "lockdown" }, { ENOMEM, "dmesg" } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		fake.mkdir_errno = rows[i].error;
		assert_int_equal(open_it(false, 1000), -rows[i].error);
		ASSERT_SAID(1, "--trace-marker: ", NAME, strerror(rows[i].error), rows[i].says);
	}
}

static void test_markers_switched_off(void **state)
{
	(void)state;
	put_file("options/markers", "0\n");
	assert_int_equal(open_it(false, 1000), -EINVAL);
	ASSERT_SAID(1, "echo 1 > ", "/options/markers");
}

static void test_tracing_was_off(void **state)
{
	(void)state;
	put_file("tracing_on", "0\n");
	assert_int_equal(open_it(false, 1000), 0);
	ASSERT_SAID(1, "switched off", "switched on");
	assert_int_equal(*get_file("tracing_on"), '1');
	assert_true(t.switched_on);
	trace_close(&t);
	assert_int_equal(*get_file("tracing_on"), '0');
}

static void test_tracing_was_off_and_another_measures(void **state)
{
	char path[512];
	int fd;

	(void)state;
	put_file("tracing_on", "0\n");
	assert_int_equal(open_it(false, 1000), 0);
	snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open(path, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	trace_close(&t);
	__real_close(fd);
	assert_int_equal(*get_file("tracing_on"), '1');
}

/* By which others know that this one measures. */
static void test_shared_lock_is_held(void **state)
{
	char path[512];
	int fd;

	(void)state;
	open_well(false);
	snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open(path, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	__real_close(fd);
}

/* Nor is it a reason not to start when the lock cannot be had. */
static void test_lock_cannot_be_had(void **state)
{
	char path[512];
	int fd, error;

	(void)state;
	snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open(path, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	error = open_it(false, 1000);
	__real_close(fd);
	assert_int_equal(error, 0);
}

static void test_tracing_stays_off(void **state)
{
	(void)state;
	put_file("tracing_on", "0\n");
	fake.on_is_stuck = true;
	assert_int_equal(open_it(false, 1000), -EBUSY);
	ASSERT_SAID(1, "tracing_on stays 0", "fuser");
	fake.on_errno = EIO;
	assert_int_equal(open_it(false, 1000), -EIO);
	ASSERT_SAID(1, "tracing_on", strerror(EIO));
}

/* ---- What would make the trace worth little ------------------------------------------------------------------------ */

static void test_no_events(void **state)
{
	char command[512];

	(void)state;
	put_file("set_event", "");
	assert_int_equal(open_it(false, 50000), 0);
	snprintf(command, sizeof(command),
		 ": echo 'irq:irq_handler_entry irq:irq_handler_exit net:napi_gro_receive_entry sched:sched_switch' > "
		 "%s/set_event\n", instance);
	ASSERT_SAID(1, "markers only", command);
	trace_close(&t);

	fake.no_mkdir = fake.keep = true;
	assert_int_equal(open_it(false, 50000), 0);
	ASSERT_SAID(1, "markers only: mkdir ", "; echo 'irq:", "/set_event\n");
	trace_close(&t);

	put_file("current_tracer", "function\n");
	assert_int_equal(open_it(false, 1000), 0);
	assert_silent();
}

static void test_small_buffer(void **state)
{
	(void)state;
	/* 4 events of 64 bytes: 1000 packets/s need 250 KiB. */
	put_file("buffer_size_kb", "250\n");
	assert_int_equal(open_it(false, 1000), 0);
	assert_silent();
	trace_close(&t);
	put_file("buffer_size_kb", "249 (expanded: 1408)\n");
	assert_int_equal(open_it(false, 1000), 0);
	ASSERT_SAID(1, "249 KiB", "less than a second", "4 events at 1000 packets/s", "echo 1024 > ", "/buffer_size_kb\n");
	trace_close(&t);
	put_file("buffer_size_kb", "X\n");
	put_file("per_cpu/cpu1/buffer_size_kb", "1410\n");
	assert_int_equal(open_it(false, 50000), 0);
	ASSERT_SAID(1, "1410 KiB", "echo 16384 > ");
	trace_close(&t);
	remove_file("per_cpu/cpu0/buffer_size_kb");
	remove_file("per_cpu/cpu1/buffer_size_kb");
	assert_int_equal(open_it(false, 50000), 0);
	assert_silent(); /* not known is not too small */
}

static void test_clocks(void **state)
{
	static const char *const good[] = { "mono_raw", "tai", "mono", "boot" };
	static const char *const bad[] = { "local", "global", "counter", "x86-tsc" };
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good) + COUNT_OF(bad); i++) {
		const char *name = i < COUNT_OF(good) ? good[i] : bad[i - COUNT_OF(good)];

		snprintf(text, sizeof(text), "perf [%s] uptime\n", name);
		put_file("trace_clock", text);
		assert_int_equal(open_it(false, 1000), 0);
		assert_string_equal(t.clock, name);
		if (i < COUNT_OF(good))
			assert_silent();
		else
			ASSERT_SAID(1, name, "echo mono_raw > ", "/trace_clock", "tai");
		trace_close(&t);
	}
	remove_file("trace_clock");
	assert_int_equal(open_it(false, 1000), 0);
	assert_string_equal(t.clock, "unknown");
}

static void test_cpu_mask(void **state)
{
	static const struct {
		const char *mask;
		size_t cpu;
		bool in;
	} rows[] = {
		{ "3", 0, true }, { "3", 1, true }, { "3", 2, false }, { "8", 3, true }, { "f0", 3, false }, { "f0", 4, true },
		{ "a", 1, true }, { "a", 2, false }, { "00000001,00000000", 32, true }, { "", 0, false },
		{ "00000001,00000000", 0, false }, { "80000000,00000000", 63, true }, { "80000000,00000000", 64, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (in_mask(rows[i].mask, rows[i].cpu) != rows[i].in)
			fail_msg("%s, CPU %zu", rows[i].mask, rows[i].cpu);
}

static void test_cpu_not_traced(void **state)
{
	cpu_set_t before, one;
	int first = -1, second = -1, error_one, error_none;
	char mask[64];

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	for (int cpu = 0; cpu < 32; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		if (first < 0)
			first = cpu;
		else if (second < 0)
			second = cpu;
	}
	if (second < 0) {
		print_message("needs two CPUs below 32\n");
		skip();
	}
	snprintf(mask, sizeof(mask), "%x\n", 1U << second);
	put_file("tracing_cpumask", mask);
	error_one = open_it(false, 1000);
	assert_int_equal(error_one, 0);
	ASSERT_SAID(1, "may run", "taskset", "/tracing_cpumask");
	trace_close(&t);
	CPU_ZERO(&one);
	CPU_SET((size_t)first, &one);
	sched_setaffinity(0, sizeof(one), &one);
	error_none = open_it(false, 1000);
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(error_none, -EINVAL);
	ASSERT_SAID(1, "no marker could be written", "taskset");
}

/* ---- The snapshot -------------------------------------------------------------------------------------------------- */

static void test_no_snapshot_in_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(open_it(true, 1000), -ENOENT);
	ASSERT_SAID(1, "--snapshot: ", "CONFIG_TRACER_SNAPSHOT", "--trace-marker");
}

static void test_snapshot_refused(void **state)
{
	static const struct {
		int error;
		const char *says, *also;
	} rows[] = {
		{ EBUSY, "echo nop > ", "/current_tracer" },
		{ ENOMEM, "32768 KiB", "/buffer_size_kb" },
		{ EPERM, "lockdown", "/snapshot" },
		{ EINVAL, "dmesg", "/snapshot" },
	};

	(void)state;
	fill_snapshot("# * Snapshot is freed *\n");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		fake.snapshot_errno = rows[i].error;
		assert_int_equal(open_it(true, 1000), -rows[i].error);
		ASSERT_SAID(1, "--snapshot: ", rows[i].says, rows[i].also);
	}
}

static void test_spare_buffer(void **state)
{
	(void)state;
	fill_snapshot("#\n# * Snapshot is freed *\n#\n");
	assert_int_equal(open_it(true, 1000), 0);
	assert_silent();
	assert_string_equal(fake.steps, "s1");
	assert_int_equal(t.spare_bytes, 32768 * 1024);
	assert_true(t.snapshot);
	trace_close(&t);
	assert_string_equal(fake.steps, "s1s0"); /* its memory is given back */

	*fake.steps = 0;
	put_file("snapshot", "#\n# * Snapshot is allocated *\n#\n");
	assert_int_equal(open_it(true, 1000), 0);
	assert_int_equal(t.spare_bytes, 32768 * 1024);
	trace_close(&t);
	assert_string_equal(fake.steps, "s1"); /* it was somebody else's */
}

static void test_spare_buffer_stays_with_evidence(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	*fake.steps = 0;
	trace_close(&t);
	assert_string_equal(fake.steps, "");
}

/* ---- Markers ------------------------------------------------------------------------------------------------------- */

static int64_t time_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	long long s;
	char ns[10];

	if (!at || sscanf(at + strlen(name), "%lld.%9[0-9]", &s, ns) != 2 || strlen(ns) != 9)
		fail_msg("%s is not in: %s", name, text);
	return s * NS_PER_S + atoll(ns);
}

static void test_start_marker(void **state)
{
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME), tai_ns = clock_read_ns(CLOCK_TAI);
	int64_t raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	const char *text;

	(void)state;
	open_well(false);
	trace_mark_start(&t, ROLE_EMIT);
	assert_int_equal(t.start_error, 0);
	text = get_file("trace_marker");
	assert_int_equal(strncmp(text, "RANT_TEST_START role=emit REALTIME=", 35), 0);
	assert_null(strchr(text, '\n'));
	assert_true(time_of(text, " REALTIME=") >= real_ns);
	assert_true(time_of(text, " REALTIME=") <= clock_read_ns(CLOCK_REALTIME));
	assert_true(time_of(text, " TAI=") >= tai_ns);
	assert_true(time_of(text, " TAI=") <= clock_read_ns(CLOCK_TAI));
	assert_true(time_of(text, " MONOTONIC_RAW=") >= raw_ns);
	assert_true(time_of(text, " MONOTONIC_RAW=") <= clock_read_ns(CLOCK_MONOTONIC_RAW));
	assert_string_equal(fake.steps, "m ");
	fake.marker_errno = EBADF;
	trace_mark_start(&t, ROLE_REFLECT);
	assert_int_equal(t.start_error, EBADF);
	assert_false(t.unsaved);
}

static void test_breach_marker(void **state)
{
	int64_t raw_ns;
	const char *text;

	(void)state;
	open_well(false);
	raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	breach(true);
	text = get_file("trace_marker");
	assert_non_null(strstr(text, "RANT_BREACH role=reflect seq=4294967295 latency_ns=330151 threshold_ns=100000 "
			       "T2_HW=1773883524.780127138 T2_SW=1773883524.780430176 "
			       "T3_SW=1773883524.780430768 T3_HW=1773883524.780457289 REALTIME="));
	assert_true(time_of(text, " MONOTONIC_RAW=") >= raw_ns);
	assert_true(time_of(text, " MONOTONIC_RAW=") <= clock_read_ns(CLOCK_MONOTONIC_RAW));
	assert_true(time_of(text, " REALTIME=") > time_of(text, " MONOTONIC_RAW="));
	assert_int_equal(strlen(text), t.last.marker_bytes);
	assert_memory_equal(text, t.last.marker, t.last.marker_bytes);
	assert_int_equal(t.last.seq, 4294967295);
	assert_int_equal(t.last.role, ROLE_REFLECT);
}

static void test_breach_marker_of_the_emitter(void **state)
{
	struct sample s = {
		.seq = 0, .latency_ns = 2000000005,
		.source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_NONE },
		.time_ns = { 5, 1000000000, 3000000005, 77 },
	};

	(void)state;
	open_well(false);
	trace_breach(&t, ROLE_EMIT, &s, 1, false);
	assert_non_null(strstr(get_file("trace_marker"),
			       "RANT_BREACH role=emit seq=0 latency_ns=2000000005 threshold_ns=1 T1_SW=0.000000005 "
			       "T1_KERNEL=1.000000000 T4_KERNEL=3.000000005 REALTIME="));
}

static void test_longest_marker(void **state)
{
	struct sample s = { .seq = UINT32_MAX, .latency_ns = INT64_MIN };
	const char *text;

	(void)state;
	for (int i = 0; i < TIMES; i++) {
		s.source[i] = SOURCE_KERNEL;
		s.time_ns[i] = INT64_MIN;
	}
	open_well(false);
	trace_breach(&t, ROLE_REFLECT, &s, INT64_MIN, false);
	text = get_file("trace_marker");
	assert_non_null(strstr(text, " latency_ns=-9223372036854775808 "));
	assert_non_null(strstr(text, " T3_KERNEL=-9223372036.854775808 REALTIME="));
	/* The clocks are as long as they will be until 2286, but for MONOTONIC_RAW. */
	size_t longest = strlen(text) + 3 * 21 - strlen("1773883524.780127138") * 2 - strlen(strstr(text, "_RAW=") + 5);

	assert_int_equal(longest, 326);
	assert_true(longest < TRACE_MARKER_BYTES);
}

static void test_full_text_is_cut(void **state)
{
	char room[8];
	struct text x = { room, room + 4 };

	(void)state;
	memset(room, '.', sizeof(room));
	put_number(&x, "ab", -123);
	assert_memory_equal(room, "ab-1....", 8);
	put_time(&x, "c", 1);
	assert_memory_equal(room, "ab-1....", 8);
}

/* ---- The breach ---------------------------------------------------------------------------------------------------- */

static void test_order_of_steps(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	assert_string_equal(fake.steps, "m o0s1");
	assert_int_equal(*get_file("tracing_on"), '0');
	assert_true(trace_is_frozen(&t));
	assert_true(t.last.snapshot_taken);
	assert_int_equal(counter_get(&t.marked), 1);
	assert_true(t.last.marker_ns > 0);
	assert_true(t.last.frozen_ns > t.last.marker_ns);
}

static void test_no_snapshot_asked_for(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	assert_string_equal(fake.steps, "m o0");
	assert_false(t.last.snapshot_taken);
	assert_true(trace_is_frozen(&t));
}

static void test_breach_without_stop(void **state)
{
	(void)state;
	open_well(true);
	breach(false);
	breach(false);
	assert_string_equal(fake.steps, "m m ");
	assert_false(trace_is_frozen(&t));
	assert_int_equal(counter_get(&t.marked), 2);
	assert_int_equal(counter_get(&t.while_frozen), 0);
	assert_int_equal(*get_file("tracing_on"), '1');
}

static void test_breach_while_frozen(void **state)
{
	struct sample other = spike;

	(void)state;
	open_well(true);
	breach(true);
	*fake.steps = 0;
	other.seq = 5;
	trace_breach(&t, ROLE_REFLECT, &other, 100000, true);
	assert_string_equal(fake.steps, "");
	assert_int_equal(t.last.seq, spike.seq);
	assert_int_equal(counter_get(&t.while_frozen), 1);
	assert_int_equal(counter_get(&t.marked), 1);
}

static void test_last_breach_is_kept(void **state)
{
	struct sample other = spike;

	(void)state;
	open_well(false);
	other.seq = 5;
	trace_breach(&t, ROLE_REFLECT, &other, 100000, false);
	breach(true);
	assert_int_equal(t.last.seq, spike.seq);
}

/* Two programs on one instance: the first has frozen it, and a second swap would undo the first. */
static void test_others_have_stopped_the_trace(void **state)
{
	(void)state;
	open_well(true);
	fake.marker_errno = EBADF;
	put_file("tracing_on", "0\n");
	breach(true);
	assert_string_equal(fake.steps, "m ");
	assert_false(trace_is_frozen(&t));
	assert_true(t.last.off_before);
	assert_int_equal(t.last.marker_error, EBADF);
	assert_int_equal(counter_get(&t.off), 1);
	assert_int_equal(counter_get(&t.marked) + counter_get(&t.refused), 0);
}

/* On a CPU that is not traced. */
static void test_marker_refused_but_tracing_is_on(void **state)
{
	static const int errors[] = { EBADF, EINVAL };

	(void)state;
	open_well(true);
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		atomic_store(&t.state, TRACE_ARMED);
		*fake.steps = 0;
		fake.marker_errno = errors[i];
		put_file("tracing_on", "1\n");
		breach(true);
		assert_string_equal(fake.steps, "m o0s1");
		assert_true(trace_is_frozen(&t));
		assert_int_equal(t.last.marker_error, errors[i]);
		assert_int_equal(counter_get(&t.refused), i + 1);
	}
	assert_int_equal(counter_get(&t.off), 0);
}

static void test_marker_is_cut(void **state)
{
	(void)state;
	open_well(false);
	fake.marker_room = 40;
	breach(true);
	assert_int_equal(t.last.marker_error, EMSGSIZE);
	assert_int_equal(t.last.marker_bytes, 40);
	assert_int_equal(counter_get(&t.refused), 1);
	assert_string_equal(fake.steps, "m o0");
}

static void test_stop_is_refused(void **state)
{
	(void)state;
	open_well(false);
	fake.on_errno = EIO;
	breach(true);
	assert_int_equal(t.last.stop_error, EIO);
	assert_false(trace_is_frozen(&t)); /* it goes on */
	trace_close(&t);

	open_well(true);
	breach(true);
	assert_string_equal(fake.steps, "m o0s1");
	assert_int_equal(t.last.stop_error, EIO);
	assert_true(trace_is_frozen(&t)); /* in the snapshot */
}

static void test_snapshot_is_refused_at_the_breach(void **state)
{
	(void)state;
	open_well(true);
	fake.snapshot_errno = EBUSY;
	breach(true);
	assert_int_equal(t.last.snapshot_error, EBUSY);
	assert_false(t.last.snapshot_taken);
	assert_true(trace_is_frozen(&t)); /* in the trace */
}

/* ---- Again --------------------------------------------------------------------------------------------------------- */

static int save(void)
{
	int result;

	CAPTURED(result, trace_save(&t, out, &saved));
	return result;
}

static int rearm(void)
{
	int result;

	CAPTURED(result, trace_rearm(&t));
	return result;
}

static void test_rearm(void **state)
{
	(void)state;
	open_well(true);
	assert_int_equal(rearm(), -EBUSY); /* not frozen */
	breach(true);
	assert_int_equal(rearm(), -EBUSY); /* not saved */
	assert_int_equal(save(), 1);
	*fake.steps = 0;
	assert_int_equal(rearm(), 0);
	assert_silent();
	assert_string_equal(fake.steps, "s2o1"); /* emptied, then on */
	assert_string_equal(get_file("trace"), "");
	assert_false(trace_is_frozen(&t));
	*fake.steps = 0;
	breach(true);
	assert_string_equal(fake.steps, "m o0s1");
	assert_int_equal(counter_get(&t.marked), 2);
}

static void test_rearm_after_another_program(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	assert_int_equal(save(), 1);
	*fake.steps = 0;
	put_file("tracing_on", "1\n");
	assert_int_equal(rearm(), 0);
	assert_string_equal(fake.steps, "");
	assert_non_null(strstr(get_file("trace"), "old"));
	assert_false(trace_is_frozen(&t));
}

static void test_rearm_after_a_refused_stop(void **state)
{
	(void)state;
	open_well(true);
	fake.on_errno = EIO;
	breach(true);
	assert_int_equal(save(), 1);
	fake.on_errno = 0;
	*fake.steps = 0;
	assert_int_equal(rearm(), 0);
	assert_string_equal(fake.steps, "s2o1");
}

static void test_rearm_fails(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	assert_int_equal(save(), 1);
	fake.on_errno = EIO;
	assert_int_equal(rearm(), -EIO);
	ASSERT_SAID(1, "--trace-rearm: ", strerror(EIO));
	assert_true(trace_is_frozen(&t));
	fake.on_errno = 0;
	fake.snapshot_errno = EBUSY;
	assert_int_equal(rearm(), -EBUSY);
	ASSERT_SAID(1, strerror(EBUSY));
	assert_true(trace_is_frozen(&t));
	fake.snapshot_errno = 0;
	remove_file("trace");
	assert_int_equal(rearm(), -ENOENT);
	assert_true(trace_is_frozen(&t));
}

/* ---- Saving -------------------------------------------------------------------------------------------------------- */

/* Puts the marker into the text of CPU 1 and of all, `before` bytes after the beginning of the events. */
static void put_marker(const char *source, size_t before)
{
	char *body = malloc(before + TRACE_MARKER_BYTES + 64), name[64];

	assert_non_null(body);
	memset(body, 'x', before);
	sprintf(body + before, " tracing_mark_write: %.*s\nafter\n", (int)t.last.marker_bytes, t.last.marker);
	put_trace(source, "8/20", body);
	snprintf(name, sizeof(name), "per_cpu/cpu1/%s", source);
	put_trace(name, "8/20", body); /* the kernel gives the sum of all CPUs in each */
	free(body);
}

static void assert_out_is_empty(void)
{
	assert_int_equal(rmdir(out), 0);
	assert_int_equal(__real_mkdir(out, 0700), 0);
}

static void test_nothing_to_save(void **state)
{
	(void)state;
	open_well(false);
	trace_mark_start(&t, ROLE_EMIT);
	assert_int_equal(save(), 0);
	assert_silent();
	assert_string_equal(saved.path, "");
	assert_out_is_empty();
}

static void assert_has(const char *file, const char *piece)
{
	const char *text = get_saved(file);

	if (!text || !strstr(text, piece))
		fail_msg("\"%s\" is not in %s: %s", piece, file, text ? text : "no such file");
}

static void test_save_trace(void **state)
{
	char path[512], line[TRACE_MARKER_BYTES + 16];
	struct utsname kernel;

	(void)state;
	open_well(false);
	breach(true);
	put_marker("trace", 0);
	put_trace("per_cpu/cpu0/trace", "8/20", "zero\n");
	assert_int_equal(save(), 1);
	assert_silent();
	snprintf(path, sizeof(path), "%s/rant-reflect-1-seq-4294967295", out);
	assert_string_equal(saved.path, path);
	assert_string_equal(saved.source, "trace");
	assert_int_equal(saved.spike_cpu, 1);
	assert_false(saved.swap_skipped);
	assert_int_equal(saved.lost_events, 12);

	snprintf(line, sizeof(line), "# Marker: %.*s\n", (int)t.last.marker_bytes, t.last.marker);
	uname(&kernel);
	for (int i = 0; i < 3; i++) {
		static const char *const files[] = { "all.txt", "cpu0.txt", "cpu1.txt" };

		assert_has(files[i], "# rant: trace of a breach of 'reflect', sequence number 4294967295\n");
		assert_has(files[i], line);
		assert_has(files[i], "# Trace clock: mono_raw\n");
		assert_has(files[i], "/trace, stopped at the breach\n");
		assert_has(files[i], kernel.release);
		assert_has(files[i], " UTC\n");
	}
	assert_has("all.txt", "# Spike: in cpu1.txt, and in this file with all CPUs\n");
	assert_has("cpu0.txt", "# Spike: in cpu1.txt\n");
	assert_has("cpu1.txt", "# Spike: in cpu1.txt, this file\n");
	assert_has("all.txt", "# Buffer: 16384 KiB per CPU; events lost before the first lines, of all CPUs: 12\n");
	assert_has("cpu0.txt", " of all CPUs: 12; of this CPU: 0\n");
	assert_has("cpu1.txt", " of all CPUs: 12; of this CPU: 12\n");
	/* Below the header everything is as the kernel gave it. */
	assert_string_equal(strstr(get_saved("cpu0.txt"), "#\n# tracer") + 2,
			    "# tracer: nop\n#\n# entries-in-buffer/entries-written: 8/20   #P:2\n#\nzero\n");
	assert_int_equal(save(), 0); /* it is saved */
}

static void test_saved_files_are_private(void **state)
{
	struct stat s;
	char path[PATH_MAX + 16];

	(void)state;
	open_well(false);
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(stat(saved.path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	snprintf(path, sizeof(path), "%s/all.txt", saved.path);
	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
}

static void test_save_snapshot(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	put_marker("snapshot", 10);
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "snapshot");
	assert_int_equal(saved.spike_cpu, 1);
	assert_false(saved.swap_skipped);
	assert_has("all.txt", "/snapshot, taken at the breach\n");
	assert_has("cpu1.txt", "first lines, of all CPUs: 12\n");
	assert_has("cpu1.txt", "tracing_mark_write: RANT_BREACH");
	assert_null(strstr(get_saved("cpu0.txt"), "tracing_mark_write"));
}

static void test_swap_was_skipped(void **state)
{
	(void)state;
	open_well(true);
	breach(true);
	put_marker("trace", 0);
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "trace");
	assert_true(saved.swap_skipped);
	assert_int_equal(saved.spike_cpu, 1);
	assert_has("all.txt", "/trace, since the snapshot does not hold the marker\n");
}

static void test_snapshot_was_refused(void **state)
{
	(void)state;
	open_well(true);
	fake.snapshot_errno = EBUSY;
	breach(true);
	put_marker("trace", 0);
	put_marker("snapshot", 0); /* must not be looked at */
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "trace");
	assert_false(saved.swap_skipped);
}

static void test_marker_is_in_no_file(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.spike_cpu, -1);
	assert_has("cpu1.txt", "# Spike: in no file\n");
}

/* The same text but for one digit of a clock: another run's marker. */
static void test_marker_of_an_older_run(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	t.last.marker[t.last.marker_bytes - 1] ^= 1;
	put_marker("trace", 0);
	t.last.marker[t.last.marker_bytes - 1] ^= 1;
	assert_int_equal(save(), 1);
	assert_int_equal(saved.spike_cpu, -1);
}

static void test_marker_across_blocks(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	/* What stands before it: the table, these bytes, and the name of the event. */
	const size_t fixed = strlen(TABLE) - 2 + strlen("8/20") + strlen(" tracing_mark_write: ");

	/* From all in the first block to all in the second. */
	for (size_t inside = 0; inside <= t.last.marker_bytes; inside++) {
		size_t before = BLOCK_BYTES - fixed - inside;

		put_marker("trace", before);
		t.unsaved = true;
		assert_int_equal(save(), 1);
		assert_int_equal(saved.spike_cpu, 1);
		assert_int_equal(strlen(strstr(get_saved("cpu1.txt"), "#\n# tracer") + 2),
				 strlen(get_file("per_cpu/cpu1/trace")));
	}
}

static void test_save_without_counts(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	put_file("trace", "text\n");
	put_file("per_cpu/cpu0/trace", "text\n");
	remove_file("per_cpu/cpu0/stats");
	put_file("buffer_size_kb", "X\n");
	remove_file("per_cpu/cpu0/buffer_size_kb");
	remove_file("per_cpu/cpu1/buffer_size_kb");
	assert_int_equal(save(), 1);
	assert_true(saved.lost_events == UINT64_MAX);
	assert_has("cpu0.txt", "# Buffer: unknown KiB per CPU; events lost before the first lines, of all CPUs: unknown\n");
}

/* What was frozen is in the snapshot, though there is nothing to prove it by. */
static void test_save_snapshot_without_marker(void **state)
{
	(void)state;
	open_well(true);
	fake.marker_errno = EINVAL;
	breach(true);
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "snapshot");
	assert_int_equal(saved.spike_cpu, -1);
	assert_false(saved.swap_skipped);
	assert_has("cpu1.txt", "/snapshot, taken at the breach\n");
	assert_has("cpu1.txt", "# Marker: refused (Invalid argument)\n");
}

static void test_save_when_others_had_stopped(void **state)
{
	(void)state;
	open_well(true);
	fake.marker_errno = EBADF;
	put_file("tracing_on", "0\n");
	breach(true);
	put_trace("per_cpu/cpu0/snapshot", "1/1", "RANT_BREACH role=emit seq=1\n");
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "snapshot");
	assert_int_equal(saved.spike_cpu, -1);
	assert_has("cpu0.txt", "/snapshot, taken before the breach by others\n");
	assert_has("cpu0.txt", "# Marker: refused (Bad file descriptor)\n");
	assert_has("cpu0.txt", "# Spike: in no file\n");
	t.unsaved = true;
	put_trace("per_cpu/cpu0/snapshot", "1/1", "");
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "trace");
	assert_has("cpu0.txt", "/trace, stopped before the breach by others\n");
	assert_false(saved.swap_skipped);
}

static void test_save_of_what_was_not_stopped(void **state)
{
	(void)state;
	open_well(false);
	breach(false);
	put_marker("trace", 0);
	assert_int_equal(save(), 1);
	assert_has("all.txt", "/trace, not stopped at the breach\n");
	assert_int_equal(saved.spike_cpu, 1);
}

static void test_cut_marker_is_found(void **state)
{
	(void)state;
	open_well(false);
	fake.marker_room = 60;
	breach(true);
	put_marker("trace", 0);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.spike_cpu, 1);
}

static void test_nothing_is_overwritten(void **state)
{
	char first[PATH_MAX], path[PATH_MAX + 16];

	(void)state;
	open_well(false);
	breach(true);
	assert_int_equal(save(), 1);
	strcpy(first, saved.path);
	snprintf(path, sizeof(path), "%s/all.txt", first);
	put_at(path, "mine");
	snprintf(path, sizeof(path), "%s.2.part", first); /* another save is at work */
	assert_int_equal(__real_mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s.3", first);
	assert_int_equal(symlink("/nowhere", path), 0);
	t.unsaved = true;
	t.saves = 0;
	assert_int_equal(save(), 1);
	snprintf(path, sizeof(path), "%s.4", first);
	assert_string_equal(saved.path, path);
	snprintf(path, sizeof(path), "%s/all.txt", first);
	assert_string_equal(get_at(path), "mine");
}

static void test_number_in_the_name(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(rearm(), 0);
	breach(true);
	assert_int_equal(save(), 1);
	assert_non_null(strstr(saved.path, "/rant-reflect-2-seq-4294967295"));
	assert_null(strstr(saved.path, ".2"));
}

static void test_disk_is_full(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	put_marker("trace", 0);
	/* A header and a text for each of three files. */
	for (int room = 0; room < 6; room++) {
		fake.file_writes_left = room;
		assert_int_equal(save(), -ENOSPC);
		ASSERT_SAID(1, "--save-trace ", out, strerror(ENOSPC), instance);
		assert_string_equal(saved.path, "");
		assert_out_is_empty();
		assert_true(t.unsaved);
	}
	fake.file_writes_left = 6;
	assert_int_equal(save(), 1);
}

static void test_faults_of_saving(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	fake.close_errno = EDQUOT;
	assert_int_equal(save(), -EDQUOT);
	assert_out_is_empty();
	fake.close_errno = 0;
	fake.rename_errno = EIO;
	assert_int_equal(save(), -EIO);
	assert_out_is_empty();
	fake.rename_errno = 0;
	fake.mkdirat_errno = EROFS;
	assert_int_equal(save(), -EROFS);
	ASSERT_SAID(1, strerror(EROFS));
	fake.mkdirat_errno = 0;
	remove_file("per_cpu/cpu1/trace");
	assert_int_equal(save(), -ENOENT);
	assert_out_is_empty();
	assert_true(t.unsaved);
}

static void test_folder(void **state)
{
	static const struct {
		const char *name;
		int error;
		const char *says;
	} rows[] = {
		{ "out", 0, "" },
		{ "out//", 0, "" },
		{ "none", -ENOENT, "mkdir -p" },
		{ "mounts", -ENOTDIR, "is no folder" },
		{ "link", -ENOTDIR, "symbolic link" },
		{ "link/", -ENOTDIR, "symbolic link" },
	};
	char path[512];
	int error;

	(void)state;
	snprintf(path, sizeof(path), "%s/link", root);
	assert_int_equal(symlink("out", path), 0);
	open_well(false);
	breach(true);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, rows[i].name);
		CAPTURED(error, trace_check_folder(path));
		assert_int_equal(error, rows[i].error);
		if (!error) {
			assert_silent();
			continue;
		}
		ASSERT_SAID(1, "--save-trace ", rows[i].says, rows[i].name);
		CAPTURED(error, trace_save(&t, path, &saved));
		assert_int_equal(error, rows[i].error);
		ASSERT_SAID(1, "--save-trace ", rows[i].says);
	}
	assert_out_is_empty();
	fake.mkdirat_errno = EROFS;
	CAPTURED(error, trace_check_folder(out));
	assert_int_equal(error, -EROFS);
	ASSERT_SAID(1, strerror(EROFS), "choose another folder");
}

/* ---- Closing ------------------------------------------------------------------------------------------------------- */

static void open_created(void)
{
	fake.no_mkdir = fake.keep = true;
	put_file("trace_clock", "");
	assert_int_equal(open_it(false, 1000), 0);
	fake.rmdirs = 0;
}

static void test_evidence_is_kept(void **state)
{
	(void)state;
	open_created();
	breach(true);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 0);
	assert_int_equal(*get_file("tracing_on"), '0');

	put_file("tracing_on", "1\n");
	open_created();
	breach(false); /* a marker alone is evidence too */
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 0);
}

static void test_saved_evidence_may_go(void **state)
{
	(void)state;
	open_created();
	breach(true);
	assert_int_equal(save(), 1);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 1);
	assert_int_equal(*get_file("tracing_on"), '0'); /* if it was not removed, it stays as the breach left it */
}

static void test_after_rearm_all_may_go(void **state)
{
	(void)state;
	open_created();
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(rearm(), 0);
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 1);
}

static void test_tracing_was_off_and_there_was_a_breach(void **state)
{
	(void)state;
	put_file("tracing_on", "0\n");
	assert_int_equal(open_it(false, 1000), 0);
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(rearm(), 0);
	assert_int_equal(*get_file("tracing_on"), '1');
	trace_close(&t);
	assert_int_equal(*get_file("tracing_on"), '0'); /* armed again and nothing in it: as it was found */
}

/* Another program had a breach in the instance that this one made, and is gone. */
static void test_evidence_of_others_is_kept(void **state)
{
	(void)state;
	open_created();
	put_file("tracing_on", "0\n");
	trace_close(&t);
	assert_int_equal(fake.rmdirs, 0);
}

static void test_instance_in_use_is_kept(void **state)
{
	char path[512];
	int fd;

	(void)state;
	open_created();
	fake.rmdir_errno = EBUSY;
	CAPTURED(fd, (trace_close(&t), 0));
	assert_silent();
	assert_int_equal(fake.rmdirs, 1);

	fake.rmdir_errno = 0;
	open_created();
	snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open(path, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	trace_close(&t);
	__real_close(fd);
	assert_int_equal(fake.rmdirs, 0);
}

static void test_failed_open_leaves_nothing(void **state)
{
	(void)state;
	fake.no_mkdir = fake.keep = true;
	assert_int_equal(open_it(true, 1000), -ENOENT); /* no snapshot */
	assert_int_equal(fake.rmdirs, 1);
	assert_string_equal(t.path, "");
}

/* ---- The real tracefs ---------------------------------------------------------------------------------------------- */

static bool has_snapshot; /* in this kernel */

static int begin_real(void **state)
{
	char mount[MOUNT_BYTES];

	begin(state);
	mounts_path = "/proc/mounts";
	*instance = 0;
	if (geteuid() || !find_mount("tracefs", "", mount))
		return 0;
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	strcpy(root, "/sys");
	snprintf(out, sizeof(out), "/tmp/rant-tracefs-XXXXXX");
	assert_non_null(mkdtemp(out));
	snprintf(instance, sizeof(instance), "%s/instances/rant_test_%d", mount, (int)getpid());
	__real_mkdir(instance, 0700);
	has_snapshot = get_file("snapshot");
	__real_rmdir(instance);
	return 0;
}

static int end_real(void **state)
{
	if (!*instance)
		return end(state);
	trace_close(&t);
	mounts_path = "/proc/mounts";
	nftw(out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (int i = 0; i < 100 && __real_rmdir(instance) && errno == EBUSY; i++)
		usleep(1000);
	return 0;
}

static void need_tracefs(void)
{
	if (*instance)
		return;
	print_message("needs root and a mounted tracefs\n");
	skip();
}

static int open_real(struct trace *trace, bool snapshot)
{
	int error;

	CAPTURED(error, trace_open(trace, strrchr(instance, '/') + 1, snapshot, 1000));
	return error;
}

/* For a moment on each CPU, so that the trace holds something of each. */
static void visit_cpus(void)
{
	cpu_set_t before, one;

	sched_getaffinity(0, sizeof(before), &before);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		usleep(100);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

static void test_real_run(void **state)
{
	char line[TRACE_MARKER_BYTES + 16];
	const char *text, *at;

	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, false), 0);
	ASSERT_SAID(1, "markers only: mkdir ");
	assert_true(t.created);
	assert_string_equal(t.clock, "mono_raw");
	trace_mark_start(&t, ROLE_REFLECT);
	assert_int_equal(t.start_error, 0);
	breach(true);
	assert_int_equal(t.last.marker_error, 0);
	assert_int_equal(t.last.stop_error, 0);
	assert_true(trace_is_frozen(&t));
	assert_string_equal(get_file("tracing_on"), "0\n");
	snprintf(line, sizeof(line), ": %.*s\n", (int)t.last.marker_bytes, t.last.marker);
	text = get_file("trace");
	at = strstr(text, ": RANT_TEST_START role=reflect ");
	assert_non_null(at);
	assert_non_null(strstr(at, line));

	/* Its own time beside the clock that it tells: mono_raw, microseconds in the text. */
	int64_t told_ns = time_of(t.last.marker, " MONOTONIC_RAW=");
	double stamp_s;

	for (at = strstr(at, line); at > text && at[-1] != '\n'; at--)
		;
	assert_int_equal(sscanf(at, " %*s [%*d] %*s %lf:", &stamp_s), 1);
	assert_true(stamp_s * 1e9 >= (double)told_ns - 1000);
	assert_true(stamp_s * 1e9 <= (double)told_ns + (double)t.last.marker_ns + 1000);

	assert_int_equal(save(), 1);
	assert_silent();
	assert_true(saved.spike_cpu >= 0);
	snprintf(line, sizeof(line), "cpu%d.txt", saved.spike_cpu);
	assert_has(line, ", this file\n");
	assert_has(line, ": RANT_BREACH role=reflect seq=4294967295 ");
	assert_has("all.txt", ": RANT_BREACH role=reflect seq=4294967295 ");
	assert_int_equal(saved.lost_events, 0);

	assert_int_equal(rearm(), 0);
	assert_null(strstr(get_file("trace"), "RANT_"));
	assert_string_equal(get_file("tracing_on"), "1\n");
	breach(true);
	assert_int_equal(t.last.marker_error, 0);
	assert_int_equal(save(), 1);
	trace_close(&t);
	assert_int_equal(access(instance, F_OK), -1);
}

static void test_real_evidence_stays(void **state)
{
	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, false), 0);
	breach(true);
	trace_close(&t);
	assert_non_null(strstr(get_file("trace"), "RANT_BREACH"));
	/* The next run finds tracing off, says so and switches it on; it did not make the instance. */
	assert_int_equal(open_real(&t, false), 0);
	ASSERT_SAID(2, "switched off", "markers only: echo '");
	assert_false(t.created);
	trace_close(&t);
	assert_string_equal(get_file("tracing_on"), "0\n");
}

static void test_real_no_breach(void **state)
{
	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, false), 0);
	trace_mark_start(&t, ROLE_EMIT);
	assert_int_equal(save(), 0);
	trace_close(&t);
	assert_int_equal(access(instance, F_OK), -1);
}

static void test_real_two_programs(void **state)
{
	static struct trace other;
	struct trace *trace[2] = { &t, &other };

	(void)state;
	need_tracefs();
	for (int first = 0; first < 2; first++) {
		assert_int_equal(open_real(&t, false), 0);
		assert_int_equal(open_real(&other, false), 0);
		assert_true(t.created);
		assert_false(other.created);
		trace_close(trace[first]);
		assert_int_equal(access(instance, F_OK), 0);
		trace_breach(trace[!first], ROLE_EMIT, &spike, 1, false);
		assert_int_equal(trace[!first]->last.marker_error, 0);
		trace[!first]->unsaved = false;
		trace_close(trace[!first]);
		/* Only who made it removes it, and only as the last. */
		assert_int_equal(access(instance, F_OK), first == 1 ? -1 : 0);
		__real_rmdir(instance);
	}
}

static void test_real_second_breach_finds_it_stopped(void **state)
{
	static struct trace other;

	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, has_snapshot), 0);
	assert_int_equal(open_real(&other, has_snapshot), 0);
	breach(true);
	trace_breach(&other, ROLE_EMIT, &spike, 1, true);
	assert_int_equal(other.last.marker_error, EBADF);
	assert_true(other.last.off_before);
	assert_false(trace_is_frozen(&other));
	assert_int_equal(save(), 1);
	assert_true(saved.spike_cpu >= 0);
	assert_string_equal(saved.source, has_snapshot ? "snapshot" : "trace");
	trace_close(&other);
	trace_close(&t);
}

static void test_real_cpu_not_traced(void **state)
{
	cpu_set_t before, one;
	int first = -1, second = -1;
	char mask[64];

	(void)state;
	need_tracefs();
	sched_getaffinity(0, sizeof(before), &before);
	for (int cpu = 0; cpu < 32; cpu++)
		if (CPU_ISSET(cpu, &before)) {
			second = first < 0 ? -1 : second < 0 ? cpu : second;
			first = first < 0 ? cpu : first;
		}
	if (second < 0) {
		print_message("needs two CPUs below 32\n");
		skip();
	}
	assert_int_equal(open_real(&t, false), 0);
	snprintf(mask, sizeof(mask), "%x\n", 1U << second);
	put_file("tracing_cpumask", mask);
	CPU_ZERO(&one);
	CPU_SET((size_t)first, &one);
	sched_setaffinity(0, sizeof(one), &one);
	breach(true);
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(t.last.marker_error, EBADF);
	assert_false(t.last.off_before);
	assert_true(trace_is_frozen(&t));
	assert_int_equal(save(), 1);
	assert_int_equal(saved.spike_cpu, -1);
}

/* As many as were written, less what was kept. */
static void test_real_lost_events(void **state)
{
	static char text[900];
	uint64_t kept = 0, written = 0;
	const char *at;

	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, false), 0);
	put_file("buffer_size_kb", "8");
	memset(text, 'x', sizeof(text));
	for (; written < 200; written++)
		assert_int_equal(__real_write(t.marker_fd, text, sizeof(text)), sizeof(text));
	breach(true);
	assert_int_equal(save(), 1);
	for (at = get_saved("all.txt"); (at = strstr(at, ": tracing_mark_write: ")); at++)
		kept++;
	assert_true(kept > 1 && kept < written);
	assert_int_equal(saved.lost_events, written + 1 - kept);
}

/* The command that is advised does enable the events. */
static void test_real_advice(void **state)
{
	char command[512], *at;

	(void)state;
	need_tracefs();
	__real_mkdir(instance, 0700);
	assert_int_equal(open_real(&t, false), 0);
	at = strstr(said, "echo '");
	assert_true(at && strlen(at) < sizeof(command));
	strcpy(command, at);
	trace_close(&t);
	assert_int_equal(system(command), 0);
	assert_int_equal(open_real(&t, false), 0);
	assert_int_equal(count_events(&t), 4);
	if (strstr(said, "mono_raw >"))
		put_file("trace_clock", "mono_raw");
	visit_cpus();
	breach(true);
	assert_int_equal(save(), 1);
	assert_has("all.txt", "sched_switch: ");
}

static void test_real_no_snapshot(void **state)
{
	(void)state;
	need_tracefs();
	if (has_snapshot) {
		print_message("this kernel has snapshots\n");
		skip();
	}
	assert_int_equal(open_real(&t, true), -ENOENT);
	ASSERT_SAID(1, "--snapshot: ", "CONFIG_TRACER_SNAPSHOT");
	assert_int_equal(access(instance, F_OK), -1);
}

static void need_snapshot(void)
{
	need_tracefs();
	if (has_snapshot)
		return;
	print_message("this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)\n");
	skip();
}

static void test_real_snapshot(void **state)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	char name[32];

	(void)state;
	need_snapshot();
	assert_int_equal(open_real(&t, true), 0);
	assert_true(t.spare_bytes > 0);
	assert_true(t.spare_made);
	put_file("set_event", "sched:sched_switch");
	for (int round = 0; round < 3; round++) {
		visit_cpus();
		breach(true);
		assert_int_equal(t.last.marker_error, 0);
		assert_int_equal(t.last.stop_error, 0);
		assert_int_equal(t.last.snapshot_error, 0);
		assert_int_equal(save(), 1);
		assert_string_equal(saved.source, "snapshot");
		assert_false(saved.swap_skipped);
		assert_true(saved.spike_cpu >= 0);
		for (long cpu = 0; cpu < online; cpu++) { /* with what came before on every CPU */
			snprintf(name, sizeof(name), "cpu%ld.txt", cpu);
			assert_has(name, "sched_switch: ");
		}
		assert_int_equal(rearm(), 0);
		assert_null(strstr(get_file("snapshot"), "RANT_BREACH"));
		assert_null(strstr(get_file("trace"), "RANT_BREACH"));
	}
	trace_close(&t);
	assert_int_equal(access(instance, F_OK), -1);
}

/* Where the instance stays, so does what was there: no spare buffer before, none after. */
static void test_real_spare_is_given_back(void **state)
{
	(void)state;
	need_snapshot();
	__real_mkdir(instance, 0700);
	assert_int_equal(open_real(&t, true), 0);
	assert_non_null(strstr(get_file("snapshot"), "Snapshot is allocated"));
	trace_close(&t);
	assert_non_null(strstr(get_file("snapshot"), "Snapshot is freed"));
}

/* ---- Is anybody tracing? -------------------------------------------------------------------------------------------- */

static void put_top(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/tracing/%s", root, name);
	put_at(path, text);
}

static void test_tracing_of_others_is_seen(void **state)
{
	char text[256];

	(void)state;
	/* In the instance events are enabled. */
	assert_true(trace_is_running(text, sizeof(text)));
	assert_string_equal(text, instance);
	put_file("tracing_on", "0\n");
	assert_false(trace_is_running(text, sizeof(text)));
	assert_string_equal(text, "");
	put_file("tracing_on", "1\n");
	put_file("set_event", "");
	assert_false(trace_is_running(text, sizeof(text)));
	put_file("current_tracer", "function\n");
	assert_true(trace_is_running(text, sizeof(text)));
	/* The top instance comes first. */
	put_top("tracing_on", "1\n");
	put_top("current_tracer", "nop\n");
	put_top("set_event", EVENTS_4);
	assert_true(trace_is_running(text, sizeof(text)));
	assert_true(strlen(text) < strlen(instance) && !strncmp(text, instance, strlen(text)));
	put_top("set_event", "");
	put_file("current_tracer", "nop\n");
	assert_false(trace_is_running(text, sizeof(text)));
	mounts_path = "/nowhere/mounts";
	assert_false(trace_is_running(text, sizeof(text)));
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, begin, end)
#define REAL(test) cmocka_unit_test_setup_teardown(test, begin_real, end_real)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_not_mounted),
		PLAIN(test_tracing_of_others_is_seen),
		PLAIN(test_mount_with_instances_is_preferred),
		PLAIN(test_mount_path_with_a_blank),
		PLAIN(test_debugfs),
		PLAIN(test_existing_instance_is_never_removed),
		PLAIN(test_created_instance_is_removed),
		PLAIN(test_clock_of_others_is_left_alone),
		PLAIN(test_instance_goes_away_meanwhile),
		PLAIN(test_instance_is_made_by_another_meanwhile),
		PLAIN(test_no_trace_marker),
		PLAIN(test_refusals),
		PLAIN(test_markers_switched_off),
		PLAIN(test_tracing_was_off),
		PLAIN(test_tracing_was_off_and_another_measures),
		PLAIN(test_shared_lock_is_held),
		PLAIN(test_lock_cannot_be_had),
		PLAIN(test_tracing_stays_off),
		PLAIN(test_no_events),
		PLAIN(test_small_buffer),
		PLAIN(test_clocks),
		PLAIN(test_cpu_mask),
		PLAIN(test_cpu_not_traced),
		PLAIN(test_no_snapshot_in_the_kernel),
		PLAIN(test_snapshot_refused),
		PLAIN(test_spare_buffer),
		PLAIN(test_spare_buffer_stays_with_evidence),
		PLAIN(test_start_marker),
		PLAIN(test_breach_marker),
		PLAIN(test_breach_marker_of_the_emitter),
		PLAIN(test_longest_marker),
		PLAIN(test_full_text_is_cut),
		PLAIN(test_order_of_steps),
		PLAIN(test_no_snapshot_asked_for),
		PLAIN(test_breach_without_stop),
		PLAIN(test_breach_while_frozen),
		PLAIN(test_last_breach_is_kept),
		PLAIN(test_others_have_stopped_the_trace),
		PLAIN(test_marker_refused_but_tracing_is_on),
		PLAIN(test_marker_is_cut),
		PLAIN(test_stop_is_refused),
		PLAIN(test_snapshot_is_refused_at_the_breach),
		PLAIN(test_rearm),
		PLAIN(test_rearm_after_another_program),
		PLAIN(test_rearm_after_a_refused_stop),
		PLAIN(test_rearm_fails),
		PLAIN(test_nothing_to_save),
		PLAIN(test_save_trace),
		PLAIN(test_saved_files_are_private),
		PLAIN(test_save_snapshot),
		PLAIN(test_swap_was_skipped),
		PLAIN(test_snapshot_was_refused),
		PLAIN(test_marker_is_in_no_file),
		PLAIN(test_marker_of_an_older_run),
		PLAIN(test_marker_across_blocks),
		PLAIN(test_save_without_counts),
		PLAIN(test_save_snapshot_without_marker),
		PLAIN(test_save_when_others_had_stopped),
		PLAIN(test_save_of_what_was_not_stopped),
		PLAIN(test_cut_marker_is_found),
		PLAIN(test_nothing_is_overwritten),
		PLAIN(test_number_in_the_name),
		PLAIN(test_disk_is_full),
		PLAIN(test_faults_of_saving),
		PLAIN(test_folder),
		PLAIN(test_evidence_is_kept),
		PLAIN(test_saved_evidence_may_go),
		PLAIN(test_after_rearm_all_may_go),
		PLAIN(test_tracing_was_off_and_there_was_a_breach),
		PLAIN(test_evidence_of_others_is_kept),
		PLAIN(test_instance_in_use_is_kept),
		PLAIN(test_failed_open_leaves_nothing),
		REAL(test_real_run),
		REAL(test_real_evidence_stays),
		REAL(test_real_no_breach),
		REAL(test_real_two_programs),
		REAL(test_real_second_breach_finds_it_stopped),
		REAL(test_real_cpu_not_traced),
		REAL(test_real_lost_events),
		REAL(test_real_advice),
		REAL(test_real_no_snapshot),
		REAL(test_real_snapshot),
		REAL(test_real_spare_is_given_back),
	};

	util_seed();
	return cmocka_run_group_tests_name("tracefs", tests, NULL, NULL);
}
