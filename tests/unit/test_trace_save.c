/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,host/trace/trace_events.c,tracefs.c,host/trace/trace_files.c,host/trace/trace_doubt.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Saving and re-arming, with a folder of plain files, and faults where they may happen. */
#include "host/trace/trace_save.c"

#include "golden.h"
#include "fake_tracefs.h"

#include <sys/file.h>

/* ---- Raw pages --------------------------------------------------------------------------------------------------- */

#define PAGE 4096

/* `pages` pages of a letter, and files that explain them. */
static void put_raw(const char *source, char letter, int pages)
{
	static const char *const folders[] = { "events", "events/sched", "events/sched/sched_switch", "events/ftrace",
					       "events/ftrace/print" };
	char path[512], text[16 * PAGE + 1] = "";

	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", instance, folders[i]);
		__real_mkdir(path, 0700);
	}
	memset(text, letter, (size_t)pages * PAGE);
	snprintf(path, sizeof(path), "per_cpu/cpu1/%s", source);
	put_file(path, text);
	snprintf(path, sizeof(path), "per_cpu/cpu0/%s", source);
	put_file(path, "");
	put_file("set_event", "sched:sched_switch\n");
	put_file("events/sched/sched_switch/format", "name: sched_switch\n");
	put_file("events/ftrace/print/format", "name: print\n");
	put_file("events/header_page", "page\n");
	put_file("events/header_event", "event\n");
	put_file("../../saved_cmdlines", "1 init\n");
}

static void test_raw_pages(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 9); /* more than a block */
	breach(true);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 0);
	assert_int_equal(strlen(get_saved("raw/cpu1")), 9 * PAGE);
	assert_int_equal(strspn(get_saved("raw/cpu1"), "r"), 9 * PAGE);
	assert_string_equal(get_saved("raw/cpu0"), "");
	assert_string_equal(get_saved("raw/header_page"), "page\n");
	assert_string_equal(get_saved("raw/header_event"), "event\n");
	assert_string_equal(get_saved("raw/events/header_page"), "page\n");
	assert_string_equal(get_saved("raw/saved_cmdlines"), "1 init\n");
	assert_string_equal(get_saved("raw/events/sched/sched_switch/format"), "name: sched_switch\n");
	assert_string_equal(get_saved("raw/events/ftrace/print/format"), "name: print\n");
}

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

#define CALLED "    a-1 [000] ..... 1.000000: timer_expire_entry: timer=00000000a6db6585 function=wb_timer_fn now=7\n" \
	"    a-1 [000] ..... 1.000001: workqueue_execute_start: work struct 00000000a6db6585: function vmstat_update\n" \
	"    a-1 [000] ..... 1.000002: sk_data_ready: family=2 protocol=17 func=sock_def_readable\n" \
	"    a-1 [000] ..... 1.000003: timer_expire_entry: timer=00000000a6db6585 function=watchdog [e1000e] now=7\n" \
	"    a-1 [000] ..... 1.000004: timer_expire_entry: timer=00000000a6db6585 function=wb_timer_fn now=8\n" \
	"    a-1 [000] ..... 1.000005: tracing_mark_write: function=\n"

static void put_symbols(const char *text)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/kallsyms", instance);
	put_file("kallsyms", text);
	trace_symbols_path = path;
	trace_open_symbols(&t);
}

/* The lines of the functions that the text names, and no others. */
static void test_symbols(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	put_symbols("ffffffff81000000 T _text\nffffffff81000010 t wb_timer_fn\nffffffff81000020 t wb_timer\n"
		    "ffffffff81000030 T vmstat_update\nffffffff81000040 t sock_def_readable\n"
		    "ffffffffc0000050 t watchdog\t[e1000e]\nffffffff81000060 t watchdog_fn\nx\n12\n\n");
	breach(true);
	put_trace("trace", "8/8", CALLED);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 0);
	assert_string_equal(get_saved("raw/kallsyms"), "ffffffff81000010 t wb_timer_fn\nffffffff81000030 T vmstat_update\n"
			    "ffffffff81000040 t sock_def_readable\nffffffffc0000050 t watchdog\t[e1000e]\n");
}

/* Hidden addresses are zeros: no file, which is not a fault. */
static void test_hidden_symbols(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	put_symbols("0000000000000000 t wb_timer_fn\n0000000000000000 T vmstat_update\n");
	breach(true);
	put_trace("trace", "8/8", CALLED);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 0);
	assert_null(get_saved("raw/kallsyms"));
}

static void test_raw_pages_of_a_snapshot(void **state)
{
	(void)state;
	open_well(true);
	put_raw("snapshot_raw", 's', 1);
	breach(true);
	put_marker("snapshot", 0);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 0);
	assert_int_equal(strspn(get_saved("raw/cpu1"), "s"), PAGE);
}

static void test_raw_pages_of_traced_cpus_only(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	breach(true);
	put_file("tracing_cpumask", "2\n");
	assert_int_equal(save(), 1);
	assert_null(get_saved("raw/cpu0"));
	assert_non_null(get_saved("raw/cpu1"));
}

/* A trace that does not stop ends a read of pages at the size of the buffer. */
static void test_raw_pages_are_bounded(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	breach(true);
	remove_file("per_cpu/cpu0/trace_pipe_raw");
	put_file("buffer_size_kb", "1410\n");
	char path[512];

	snprintf(path, sizeof(path), "%s/per_cpu/cpu0/trace_pipe_raw", instance);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(save(), 1);
	snprintf(path, sizeof(path), "%s/raw/cpu0", saved.path);
	struct stat s;

	assert_int_equal(stat(path, &s), 0);
	assert_in_range(s.st_size, 1410 * 1024, 4 << 20);
}

static void test_parts_are_left_out(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	breach(true);
	remove_file("per_cpu/cpu1/trace_pipe_raw");
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 1);
	assert_string_equal(saved.left_out.first, "per_cpu/cpu1/trace_pipe_raw (No such file or directory)");
	assert_null(get_saved("raw/cpu1"));
	assert_non_null(get_saved("raw/cpu0"));
	/* The disk is full after the text. */
	t.unsaved = true;
	fake.file_writes_left = 6;
	assert_int_equal(save(), 1);
	assert_non_null(get_saved("cpu1.txt"));
}

static int described_errno, described_cpu;

static int describe(void *context, int folder_fd, struct optional spike_cpu)
{
	(void)context;
	described_cpu = spike_cpu.known ? (int)spike_cpu.value : -1;
	assert_int_equal(faccessat(folder_fd, "all.txt", F_OK, 0), 0);
	return -described_errno;
}

static void test_description(void **state)
{
	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	t.describe = describe;
	breach(true);
	put_marker("trace", 0);
	described_errno = ENOSPC;
	assert_int_equal(save(), 1);
	assert_int_equal(described_cpu, 1);
	assert_string_equal(saved.left_out.first, "breach.json (No space left on device)");
	described_errno = 0;
	t.unsaved = true;
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 0);
}

/* Reading would take the pages from a program that shares the instance. */
static void test_shared_pages_stay(void **state)
{
	char path[512];
	int fd;

	(void)state;
	open_well(false);
	put_raw("trace_pipe_raw", 'r', 1);
	breach(true);
	snprintf(path, sizeof(path), "%s/trace_marker", instance);
	fd = open(path, O_WRONLY);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.left_out.parts, 1);
	assert_string_equal(saved.left_out.first, "per_cpu/cpu*/trace_pipe_raw (Device or resource busy)");
	assert_null(get_saved("raw/cpu1"));
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1); /* the own lock is still held */
	__real_close(fd);
	t.unsaved = true;
	assert_int_equal(save(), 1);
	assert_non_null(get_saved("raw/cpu1"));
}

/* ---- Again ------------------------------------------------------------------------------------------------------ */

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
	golden_line(said);
	assert_true(trace_is_frozen(&t));
	fake.on_errno = 0;
	fake.snapshot_errno = EBUSY;
	assert_int_equal(rearm(), -EBUSY);
	golden_line(said);
	assert_true(trace_is_frozen(&t));
	fake.snapshot_errno = 0;
	remove_file("trace");
	assert_int_equal(rearm(), -ENOENT);
	assert_true(trace_is_frozen(&t));
}

/* ---- Saving ----------------------------------------------------------------------------------------------------- */

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
	assert_int_equal(saved.spike_cpu.value, 1);
	assert_false(saved.swap_skipped);
	assert_int_equal(saved.lost_events.value, 12);

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
	assert_int_equal(saved.spike_cpu.value, 1);
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
	assert_int_equal(saved.spike_cpu.value, 1);
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
	assert_false(saved.spike_cpu.known);
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
	assert_false(saved.spike_cpu.known);
}

static void test_marker_across_blocks(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	/* Data before it: the table, these bytes, and the name of the event. */
	const size_t fixed = strlen(TABLE) - 2 + strlen("8/20") + strlen(" tracing_mark_write: ");

	/* From all in the first block to all in the second. */
	for (size_t inside = 0; inside <= t.last.marker_bytes; inside++) {
		size_t before = BLOCK_BYTES - fixed - inside;

		put_marker("trace", before);
		t.unsaved = true;
		assert_int_equal(save(), 1);
		assert_int_equal(saved.spike_cpu.value, 1);
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
	assert_false(saved.lost_events.known);
	assert_has("cpu0.txt",
		   "# Buffer: unknown KiB per CPU; events lost before the first lines, of all CPUs: unknown\n");
}

/* The frozen trace is in the snapshot, though nothing proves it. */
static void test_save_snapshot_without_marker(void **state)
{
	(void)state;
	open_well(true);
	fake.marker_errno = EINVAL;
	breach(true);
	assert_int_equal(save(), 1);
	assert_string_equal(saved.source, "snapshot");
	assert_false(saved.spike_cpu.known);
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
	assert_false(saved.spike_cpu.known);
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
	assert_int_equal(saved.spike_cpu.value, 1);
}

static void test_cut_marker_is_found(void **state)
{
	(void)state;
	open_well(false);
	fake.marker_room = 60;
	breach(true);
	put_marker("trace", 0);
	assert_int_equal(save(), 1);
	assert_int_equal(saved.spike_cpu.value, 1);
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

/* The name has the run, which both hosts know; of two packets with this number in the same run the second gets ".2". */
static void test_run_in_the_name(void **state)
{
	struct sample s = spike;

	(void)state;
	s.ssid = 0x3a;
	open_well(false);
	trace_breach(&t, ROLE_REFLECT, &s, 100000, true);
	assert_int_equal(save(), 1);
	assert_string_equal(strrchr(saved.path, '/'), "/rant-reflect-run-003a-seq-4294967295");
	assert_int_equal(rearm(), 0);
	trace_peer_breach(&t, ROLE_REFLECT, 0x3a, 4294967295, NULL);
	assert_int_equal(save(), 1);
	assert_string_equal(strrchr(saved.path, '/'), "/rant-reflect-run-003a-seq-4294967295.2");
	assert_int_equal(rearm(), 0);
	trace_peer_breach(&t, ROLE_EMIT, 0xf03a, 7, NULL);
	assert_int_equal(save(), 1);
	assert_string_equal(strrchr(saved.path, '/'), "/rant-emit-run-f03a-seq-7");
}

static void test_disk_is_full(void **state)
{
	(void)state;
	open_well(false);
	breach(true);
	put_marker("trace", 0);
	/* A header and a text for each of three files. */
	for (int space = 0; space < 6; space++) {
		fake.file_writes_left = space;
		assert_int_equal(save(), -ENOSPC);
		golden_line(said);
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
	golden_line(said);
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
	} rows[] = {
		{ "out", 0 },
		{ "out//", 0 },
		{ "none", -ENOENT },
		{ "mounts", -ENOTDIR },
		{ "link", -ENOTDIR },
		{ "link/", -ENOTDIR },
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
		golden_line(said);
		CAPTURED(error, trace_save(&t, path, &saved));
		assert_int_equal(error, rows[i].error);
		golden_line(said);
	}
	assert_out_is_empty();
	fake.mkdirat_errno = EROFS;
	CAPTURED(error, trace_check_folder(out));
	assert_int_equal(error, -EROFS);
	golden_line(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_raw_pages),
		PLAIN(test_symbols),
		PLAIN(test_hidden_symbols),
		PLAIN(test_raw_pages_of_a_snapshot),
		PLAIN(test_raw_pages_of_traced_cpus_only),
		PLAIN(test_raw_pages_are_bounded),
		PLAIN(test_parts_are_left_out),
		PLAIN(test_shared_pages_stay),
		PLAIN(test_description),
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
		PLAIN(test_run_in_the_name),
		PLAIN(test_disk_is_full),
		PLAIN(test_faults_of_saving),
		PLAIN(test_folder),
	};

	util_seed();
	return golden_run(tests);
}
