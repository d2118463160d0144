// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's trace. Its instance is opened before the run; at a breach the measuring thread marks and stops it, with
 * nothing but the system calls for that; it is closed after the run.
 * Facts: Documentation/trace/ftrace.rst, kernel/trace/trace.c.
 */
#include "tracefs.h"

#include "host/trace/trace_files.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES 50
#define LOCK_PAUSE_US 1000
#define OPEN_TRIES 3 /* another program may remove the instance between our mkdir and our open */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

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
	char mount[TRACE_MOUNT_BYTES];

	if (!trace_find(mount)) {
		warnx("--trace-marker: tracefs is not mounted here ('ip netns exec' hides it, 'nsenter --net' does "
		      "not): mount -t tracefs tracefs /sys/kernel/tracing");
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
	int *const fds[] = { &t->folder_fd, &t->marker_fd, &t->on_fd, &t->snapshot_fd, &t->events_fd,
			     &t->symbols_fd };

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

static int switch_on(struct trace *t)
{
	int error;

	if (trace_read_on(t) == 1)
		return 0;
	t->switched_on = true;
	error = trace_set(t->on_fd, "1");
	if (error)
		return fail(t, "/tracing_on: cannot be set to 1", error);
	if (trace_read_on(t) != 1) {
		warnx("--trace-marker: %s/tracing_on stays 0: another program holds tracing off: find it with "
		      "'fuser -v %s/*'", t->path, t->path);
		return -EBUSY;
	}
	warnx("--trace-marker: tracing was switched off, by others or at the breach of an earlier run: switched on, "
	      "and the contents of %s/trace will be overwritten", t->path);
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
		warnx("--snapshot: %s/snapshot is in use by a latency tracer, a trigger or a reader that maps the "
		      "buffer: echo nop > %s/current_tracer", t->path, t->path);
		break;
	case ENOMEM:
		trace_read_number(t, "buffer_total_size_kb", &kib);
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
	freed = !trace_read_text(t, "snapshot", text, sizeof(text)) && strstr(text, "Snapshot is freed");
	error = trace_set(t->snapshot_fd, "1");
	if (error)
		return no_snapshot(t, error);
	t->spare_made = freed;
	t->snapshot = true;
	/* The spare buffer has the size of the other. */
	if (trace_read_number(t, "buffer_total_size_kb", &kib))
		t->spare_bytes = kib * 1024;
	return 0;
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

/* The events of an instance that others have made are theirs. */
static int choose_events(struct trace *t, const struct trace_wanted *wanted)
{
	if (t->created)
		return trace_events_on(t, wanted->events);
	if (!wanted->events_given)
		return 0;
	warnx("--trace-events: %s exists, and its events stay as they are: leave out the option, or remove the instance: "
	      "rmdir %s", t->path, t->path);
	return -EEXIST;
}

int trace_open(struct trace *t, const char *instance, const struct trace_wanted *wanted)
{
	int error;

	memset(t, 0, sizeof(*t));
	t->folder_fd = t->marker_fd = t->on_fd = t->snapshot_fd = t->events_fd = t->symbols_fd = -1;
	strcpy(t->clock, "unknown");
	error = find_instance(t, instance);
	if (!error)
		error = open_repeatedly(t);
	if (!error)
		error = trace_doubt_markers(t);
	if (!error && t->created)
		choose_clock(t);
	if (!error)
		error = choose_events(t, wanted);
	if (!error && wanted->snapshot)
		error = open_snapshot(t);
	if (!error)
		error = switch_on(t);
	if (error) {
		trace_close(t);
		return error;
	}
	trace_doubt_content(t, wanted->packets_per_s);
	return 0;
}

/* ---- Hot: markers ------------------------------------------------------------------------------------------------ */

struct marker {
	char *at, *end;
};

static void put_text(struct marker *x, const char *text)
{
	while (*text && x->at < x->end)
		*x->at++ = *text++;
}

/* At least `least` digits. */
static void put_digits(struct marker *x, uint64_t v, int least)
{
	char digits[21], *at = digits + sizeof(digits) - 1;

	*at = 0;
	for (; v || least > 0; v /= 10, least--)
		*--at = (char)('0' + v % 10);
	put_text(x, at);
}

static uint64_t put_sign(struct marker *x, int64_t v)
{
	if (v >= 0)
		return (uint64_t)v;
	put_text(x, "-");
	return -(uint64_t)v;
}

static void put_number(struct marker *x, const char *name, int64_t v)
{
	put_text(x, name);
	put_digits(x, put_sign(x, v), 1);
}

/* seconds.nanoseconds, as in the log and the report, so that a search for one finds the other. */
static void put_seconds(struct marker *x, const char *name, int64_t ns)
{
	uint64_t size;

	put_text(x, name);
	size = put_sign(x, ns);
	put_digits(x, size / NS_PER_S, 1);
	put_text(x, ".");
	put_digits(x, size % NS_PER_S, 9);
}

/* Read last, since the kernel's own stamp of the marker is taken when it is written. */
static void put_clocks(struct marker *x)
{
	int64_t real_ns = clock_read_ns(CLOCK_REALTIME), tai_ns = clock_read_ns(CLOCK_TAI);
	int64_t raw_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);

	put_seconds(x, " REALTIME=", real_ns);
	put_seconds(x, " TAI=", tai_ns);
	put_seconds(x, " MONOTONIC_RAW=", raw_ns);
}

static void put_times(struct marker *x, enum role role, const struct sample *s)
{
	static const char *const times[][TIMES] = {
		[ROLE_EMIT] = { " T1_", " T1_", " T4_", " T4_" },
		[ROLE_REFLECT] = { " T2_", " T2_", " T3_", " T3_" },
	};
	static const char *const sources[] = {
		[SOURCE_USER] = "SW=", [SOURCE_KERNEL] = "KERNEL=", [SOURCE_HARDWARE] = "HW=",
	};

	for (int i = 0; i < TIMES; i++) {
		if (s->source[i] == SOURCE_NONE || s->source[i] > SOURCE_HARDWARE ||
		    (s->converted && s->source[i] != SOURCE_HARDWARE))
			continue;
		put_text(x, times[role][i]);
		put_seconds(x, sources[s->source[i]], s->time_ns[i]);
	}
	if (s->converted)
		return;
	if (s->source[KERNEL_RECEIVE])
		put_seconds(x, role == ROLE_EMIT ? " T4_KERNEL=" : " T2_KERNEL=", s->time_ns[KERNEL_RECEIVE]);
	if (s->source[KERNEL_QUEUE])
		put_seconds(x, role == ROLE_EMIT ? " T1_SCHED=" : " T3_SCHED=", s->time_ns[KERNEL_QUEUE]);
	if (s->source[KERNEL_DRIVER])
		put_seconds(x, role == ROLE_EMIT ? " T1_TXSW=" : " T3_TXSW=", s->time_ns[KERNEL_DRIVER]);
}

/* What a breach writes: `of` is the role of the other host that had it, or NULL; without `s` only the number is known. */
static void compose(struct trace_record *r, const char *of, const struct sample *s, int64_t threshold_ns)
{
	struct marker x = { r->marker, r->marker + sizeof(r->marker) };

	put_text(&x, "RANT_BREACH role=");
	put_text(&x, role_name(r->role));
	put_number(&x, " seq=", r->seq);
	if (s)
		put_number(&x, " latency_ns=", s->latency_ns);
	if (!of) {
		put_number(&x, " threshold_ns=", threshold_ns);
	} else {
		put_text(&x, " breach_of=");
		put_text(&x, of);
	}
	if (s)
		put_times(&x, r->role, s);
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
	struct marker x = { marker, marker + sizeof(marker) };
	uint32_t bytes;

	put_text(&x, "RANT_TEST_START role=");
	put_text(&x, role_name(role));
	put_clocks(&x);
	bytes = (uint32_t)(x.at - marker);
	t->start_error = write_marker(t, marker, &bytes);
}

/* ---- Hot: the breach --------------------------------------------------------------------------------------------- */

static bool freeze_trace(struct trace *t, struct trace_record *r)
{
	r->stop_error = trace_set(t->on_fd, "0");
	if (t->snapshot)
		r->snapshot_error = trace_set(t->snapshot_fd, "1");
	r->snapshot_taken = t->snapshot && !r->snapshot_error;
	/* Events that are traced later do not change a snapshot. */
	return !r->stop_error || r->snapshot_taken;
}

/* t->last has the marker. */
static void mark_and_freeze(struct trace *t, int64_t entered_ns, bool stop)
{
	struct trace_record *r = &t->last;
	bool frozen = false;

	r->entered_ns = entered_ns;
	r->marker_error = write_marker(t, r->marker, &r->marker_bytes);
	r->marker_ns = clock_read_ns(CLOCK_MONOTONIC_RAW) - entered_ns;
	/* If another program has stopped the trace, a snapshot would bring back the contents that it swapped out. A
	 * marker is also refused on a CPU that is not traced; then there is something to freeze. */
	r->off_before = r->marker_error == EBADF && trace_read_on(t) == 0;
	counter_add(r->off_before ? &t->off : r->marker_error ? &t->refused : &t->marked, 1);
	t->unsaved = true;
	if (stop && !r->off_before)
		frozen = freeze_trace(t, r);
	r->frozen_ns = clock_read_ns(CLOCK_MONOTONIC_RAW) - entered_ns;
	if (frozen)
		atomic_store_explicit(&t->state, TRACE_FROZEN, memory_order_release);
}

void trace_breach(struct trace *t, enum role role, const struct sample *s, int64_t threshold_ns, bool stop)
{
	int64_t entered_ns;

	if (trace_is_frozen(t)) {
		counter_add(&t->while_frozen, 1);
		return;
	}
	entered_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	t->last = (struct trace_record){ .seq = s->seq, .ssid = s->ssid, .latency_ns = s->latency_ns,
					 .role = (uint8_t)role };
	compose(&t->last, NULL, s, threshold_ns);
	mark_and_freeze(t, entered_ns, stop);
}

void trace_peer_breach(struct trace *t, enum role role, uint16_t ssid, uint32_t seq, const struct sample *s)
{
	int64_t entered_ns;

	if (trace_is_frozen(t))
		return;
	entered_ns = clock_read_ns(CLOCK_MONOTONIC_RAW);
	t->last = (struct trace_record){ .seq = seq, .ssid = ssid, .latency_ns = s ? s->latency_ns : 0,
					 .role = (uint8_t)role };
	compose(&t->last, role_name(role == ROLE_EMIT ? ROLE_REFLECT : ROLE_EMIT), s, 0);
	mark_and_freeze(t, entered_ns, true);
}

bool trace_is_frozen(const struct trace *t)
{
	return atomic_load_explicit(&t->state, memory_order_acquire) == TRACE_FROZEN;
}

/* ---- Closing ----------------------------------------------------------------------------------------------------- */

#define CLOSE_TRIES 50 /* a millisecond apart */

void trace_close(struct trace *t)
{
	bool alone, clean, remove;

	if (!*t->path)
		return;
	/* The lock is refused while another program that measures has the instance open. */
	alone = t->marker_fd < 0 || !flock(t->marker_fd, LOCK_EX | LOCK_NB);
	/* Off, and not by us: it may be the evidence of another that has ended. */
	clean = !trace_is_frozen(t) && !t->unsaved && trace_read_on(t) != 0;
	remove = t->created && alone && (clean || (trace_is_frozen(t) && !t->unsaved));
	if (clean && alone && t->spare_made)
		trace_set(t->snapshot_fd, "0");
	if (clean && alone && t->switched_on)
		trace_set(t->on_fd, "0");
	if (alone && !remove)
		trace_events_off(t);
	close_files(t);
	/* EBUSY: others use it; or a thread of ours whose end has been seen, and whose files the kernel closes a little
	 * later. */
	for (int i = 0; remove && rmdir(t->path) && errno == EBUSY && i < CLOSE_TRIES; i++)
		nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS }, NULL);
	*t->path = 0;
}
