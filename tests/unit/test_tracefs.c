/* build: wraps=write,pwrite,mkdir,mkdirat,rmdir,renameat,close,setmntent sources=host/trace/trace_raw.c,host/trace/trace_symbols.c,host/trace/trace_events.c,host/trace/trace_files.c,host/trace/trace_doubt.c,host/trace/trace_save.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening and closing an instance, in a folder of plain files; and, as root, all that is done with a trace in the real
 * tracefs where one is mounted, in instances of its own.
 */
#include "tracefs.c"

#include "golden.h"
#include "fake_tracefs.h"

#include <sched.h>

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

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
	golden_line(said);
	int after = dup(2);

	__real_close(after);
	assert_int_equal(after, fd); /* nothing was left open */
}

static void test_refusals(void **state)
{
	static const int errors[] = { EACCES, EPERM, ENOMEM };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		fake.mkdir_errno = errors[i];
		assert_int_equal(open_it(false, 1000), -errors[i]);
		golden_line(said);
	}
}

static void test_tracing_was_off(void **state)
{
	(void)state;
	put_file("tracing_on", "0\n");
	assert_int_equal(open_it(false, 1000), 0);
	golden_line(said);
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

/* By which other programs see that an instance is in use. */
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
	golden_line(said);
	fake.on_errno = EIO;
	assert_int_equal(open_it(false, 1000), -EIO);
	golden_line(said);
}
/* ---- The snapshot ----------------------------------------------------------------------------------------------- */

static void test_no_snapshot_in_the_kernel(void **state)
{
	(void)state;
	assert_int_equal(open_it(true, 1000), -ENOENT);
	golden_line(said);
}

static void test_snapshot_refused(void **state)
{
	static const int errors[] = { EBUSY, ENOMEM, EPERM, EINVAL };

	(void)state;
	fill_snapshot("# * Snapshot is freed *\n");
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		fake.snapshot_errno = errors[i];
		assert_int_equal(open_it(true, 1000), -errors[i]);
		golden_line(said);
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
/* ---- Closing ---------------------------------------------------------------------------------------------------- */

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

/* Another program had a breach in the instance that this program made, and is gone. */
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
	assert_int_equal(fake.rmdirs, 1 + CLOSE_TRIES);

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

/* ---- The real tracefs ------------------------------------------------------------------------------------------- */

static bool has_snapshot; /* in this kernel */

static int begin_real(void **state)
{
	char mount[TRACE_MOUNT_BYTES];

	begin(state);
	mounts_path = "/proc/mounts";
	*instance = 0;
	if (geteuid() || !trace_find(mount))
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
	const struct trace_wanted wanted = { .snapshot = snapshot, .packets_per_s = 1000 };
	int error;

	CAPTURED(error, trace_open(trace, strrchr(instance, '/') + 1, &wanted));
	return error;
}

/* Its own time, mono_raw and microseconds in the text, beside the clock that it names. */
static void assert_marker_at(const char *text, const char *line)
{
	int64_t reported_ns = time_of(t.last.marker, " MONOTONIC_RAW=");
	const char *at;
	double stamp_s;

	for (at = strstr(text, line); at > text && at[-1] != '\n'; at--)
		;
	assert_int_equal(sscanf(at, " %*s [%*d] %*s %lf:", &stamp_s), 1);
	assert_true(stamp_s * 1e9 >= (double)reported_ns - 1000);
	assert_true(stamp_s * 1e9 <= (double)reported_ns + (double)t.last.marker_ns + 1000);
}

static void test_real_run(void **state)
{
	char line[TRACE_MARKER_BYTES + 16];
	const char *text, *at;

	(void)state;
	need_tracefs();
	assert_int_equal(open_real(&t, false), 0);
	assert_silent();
	assert_true(t.created);
	assert_true(t.events > 0);
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
	assert_marker_at(text, line);

	assert_int_equal(save(), 1);
	assert_silent();
	assert_true(saved.spike_cpu.known);
	snprintf(line, sizeof(line), "cpu%d.txt", (int)saved.spike_cpu.value);
	assert_has(line, ", this file\n");
	assert_has(line, ": RANT_BREACH role=reflect seq=4294967295 ");
	assert_has("all.txt", ": RANT_BREACH role=reflect seq=4294967295 ");
	assert_int_equal(saved.lost_events.value, 0);

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
	assert_lines(2);
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
	assert_true(saved.spike_cpu.known);
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
	assert_false(saved.spike_cpu.known);
}

/* The number of written bytes less the kept bytes. */
static void test_real_lost_events(void **state)
{
	static char text[900];
	uint64_t kept = 0, written = 0;
	const char *at;

	(void)state;
	need_tracefs();
	__real_mkdir(instance, 0700); /* without events */
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
	assert_int_equal(saved.lost_events.value, written + 1 - kept);
}

/* An instance without events: the command that is advised removes it, and the next one has events. */
static void test_real_advice(void **state)
{
	char command[512], *at, *end;

	(void)state;
	need_tracefs();
	__real_mkdir(instance, 0700);
	assert_int_equal(open_real(&t, false), 0);
	at = strstr(said, "rmdir ");
	end = at ? strchr(at, ':') : NULL;
	assert_true(end && (size_t)(end - at) < sizeof(command));
	snprintf(command, sizeof(command), "%.*s", (int)(end - at), at);
	trace_close(&t);
	assert_int_equal(system(command), 0);
	assert_int_equal(open_real(&t, false), 0);
	assert_silent();
	assert_int_equal(trace_count_events(&t), t.events);
	util_visit_cpus(100);
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
	assert_one_line(said);
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
		util_visit_cpus(100);
		breach(true);
		assert_int_equal(t.last.marker_error, 0);
		assert_int_equal(t.last.stop_error, 0);
		assert_int_equal(t.last.snapshot_error, 0);
		assert_int_equal(save(), 1);
		assert_string_equal(saved.source, "snapshot");
		assert_false(saved.swap_skipped);
		assert_true(saved.spike_cpu.known);
		for (long cpu = 0; cpu < online; cpu++) { /* with the earlier events of every CPU */
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

/* Where the instance stays, its former state stays: no spare buffer before, none after. */
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

#define REAL(test) cmocka_unit_test_setup_teardown(test, begin_real, end_real)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAIN(test_existing_instance_is_never_removed),
		PLAIN(test_created_instance_is_removed),
		PLAIN(test_clock_of_others_is_left_alone),
		PLAIN(test_instance_goes_away_meanwhile),
		PLAIN(test_instance_is_made_by_another_meanwhile),
		PLAIN(test_no_trace_marker),
		PLAIN(test_refusals),
		PLAIN(test_tracing_was_off),
		PLAIN(test_tracing_was_off_and_another_measures),
		PLAIN(test_shared_lock_is_held),
		PLAIN(test_lock_cannot_be_had),
		PLAIN(test_tracing_stays_off),
		PLAIN(test_no_snapshot_in_the_kernel),
		PLAIN(test_snapshot_refused),
		PLAIN(test_spare_buffer),
		PLAIN(test_spare_buffer_stays_with_evidence),
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
	return golden_run(tests);
}
