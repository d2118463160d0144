/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of plain files that stands for tracefs, with faults where the test wants them, and a trace that is opened in
 * it. Include it after util.h; wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent.
 */
#ifndef FAKE_TRACEFS_H
#define FAKE_TRACEFS_H

#include "host/trace/trace_save.h"
#include "tracefs.h"

#include <fcntl.h>
#include <ftw.h>
#include <mntent.h>
#include <sys/stat.h>

#define NAME "test" /* of the instance in the folder that stands for tracefs */
#define EVENTS_4 "irq:irq_handler_entry\nirq:irq_handler_exit\nnet:napi_gro_receive_entry\nsched:sched_switch\n"
#define ALL_CPUS "ffffffff,ffffffff,ffffffff,ffffffff"

static struct trace t;
static struct trace_saved saved;
static char root[64], instance[256], out[128];
static const char *mounts_path = "/proc/mounts"; /* content read in its place */
static char said[8192];

#define CAPTURED(result, call)                                    \
	do {                                                      \
		struct util_capture capture_;                     \
		util_capture_begin(&capture_);                    \
		(result) = (call);                                \
		util_capture_end(&capture_, said, sizeof(said));  \
	} while (0)

static inline void assert_lines(int lines)
{
	int n = 0;

	for (const char *at = said; (at = strchr(at, '\n')); at++)
		n++;
	if (n != lines)
		fail_msg("%d lines, not %d: %s", n, lines, said);
}

#define assert_silent() assert_string_equal(said, "")

/* ---- Faults: off by default, on in one test --------------------------------------------------------------------- */

static struct {
	int event_errno; /* of the switch of an event */
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

static inline void step(char letter, char what)
{
	size_t n = strlen(fake.steps);

	if (n + 3 < sizeof(fake.steps))
		snprintf(fake.steps + n, 3, "%c%c", letter, what);
}

static inline bool is_saved_file(int fd)
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

static inline void put_file(const char *name, const char *text);

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

	if (!on && fd != t.snapshot_fd) {
		if (fake.event_errno && fd != t.events_fd) {
			errno = fake.event_errno;
			return -1;
		}
		return __real_pwrite(fd, from, bytes, at);
	}
	step(on ? 'o' : 's', *(const char *)from);
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

FILE *__real_setmntent(const char *path, const char *mode);
FILE *__wrap_setmntent(const char *path, const char *mode);
FILE *__wrap_setmntent(const char *path, const char *mode)
{
	assert_string_equal(path, "/proc/mounts");
	return __real_setmntent(mounts_path, mode);
}

/* ---- The folder that stands for tracefs ------------------------------------------------------------------------- */

static inline void put_at(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(__real_write(fd, text, strlen(text)), strlen(text));
	__real_close(fd);
}

static inline void put_file(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	put_at(path, text);
}

/* Valid until the next call. */
static inline const char *get_at(const char *path)
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

static inline const char *get_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	return get_at(path);
}

static inline const char *get_saved(const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", saved.path, name);
	return get_at(path);
}

static inline void remove_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", instance, name);
	assert_int_equal(unlink(path), 0);
}

#define TABLE "# tracer: nop\n#\n# entries-in-buffer/entries-written: %s   #P:2\n#\n"

static inline void put_trace(const char *name, const char *counts, const char *body)
{
	char *text = malloc(strlen(body) + 256);

	assert_non_null(text);
	sprintf(text, TABLE "%s", counts, body);
	put_file(name, text);
	free(text);
}

static inline void fill_instance(void)
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

static inline void fill_snapshot(const char *text)
{
	put_file("snapshot", text);
	put_trace("per_cpu/cpu0/snapshot", "1/1", "old\n");
	put_trace("per_cpu/cpu1/snapshot", "2/2", "old\n");
}

static inline void mount_as(const char *line)
{
	static char path[128];
	char text[1024];

	snprintf(path, sizeof(path), "%s/mounts", root);
	snprintf(text, sizeof(text), "sysfs /sys sysfs rw 0 0\n%s\n", line);
	put_at(path, text);
	mounts_path = path;
}

static inline void mount_here(void)
{
	char line[256];

	snprintf(line, sizeof(line), "tracefs %s/tracing tracefs rw 0 0", root);
	mount_as(line);
}

static inline void make_folder(const char *below)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, below);
	assert_int_equal(__real_mkdir(path, 0700), 0);
}

static inline int begin(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.file_writes_left = -1;
	memset(&t, 0, sizeof(t));
	*said = 0;
	strcpy(root, "/tmp/rant-tracefs-XXXXXX");
	assert_non_null(mkdtemp(root));
	golden_hide("FOLDER", root);
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

static inline int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
	(void)s;
	(void)type;
	(void)at;
	return remove(path);
}

static inline int end(void **state)
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

static inline int open_it(bool snapshot, double packets_per_s)
{
	const struct trace_wanted wanted = { .snapshot = snapshot, .packets_per_s = packets_per_s };
	int error;

	CAPTURED(error, trace_open(&t, NAME, &wanted));
	return error;
}

static inline void open_well(bool snapshot)
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

static inline void breach(bool stop)
{
	trace_breach(&t, ROLE_REFLECT, &spike, 100000, stop);
}

/* ---- Steps of several tests ------------------------------------------------------------------------------------- */

static inline int save(void)
{
	int result;

	CAPTURED(result, trace_save(&t, out, &saved));
	return result;
}

static inline int rearm(void)
{
	int result;

	CAPTURED(result, trace_rearm(&t));
	return result;
}

/* Puts the marker into the text of CPU 1 and of all, `before` bytes after the beginning of the events. */
static inline void put_marker(const char *source, size_t before)
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

static inline void assert_has(const char *file, const char *piece)
{
	const char *text = get_saved(file);

	if (!text || !strstr(text, piece))
		fail_msg("\"%s\" is not in %s: %s", piece, file, text ? text : "no such file");
}

static inline int64_t time_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	long long s;
	char ns[10];

	if (!at || sscanf(at + strlen(name), "%lld.%9[0-9]", &s, ns) != 2 || strlen(ns) != 9)
		fail_msg("%s is not in: %s", name, text);
	return s * NS_PER_S + atoll(ns);
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
