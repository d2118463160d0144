// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the folder of a saved trace: the events, the marker among them (tracefs.c writes it), and breach.json. */
#include "explain/evidence.h"

#include "analyse/tree.h"
#include "host/file.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_FILE_MAX_BYTES (16LL << 30)
#define DETAILS_FILE_MAX_BYTES (8LL << 20)
#define DISTANCE_MAX_NS (86400 * NS_PER_S) /* from a time of a packet to the marker */
#define RATE_MAX 1e-3 /* adjtimex(2): at most 500 ppm, and a clock that is off by as much */
#define RATE_KNOWN_PPM 5 /* change of the rate within the buffer */
#define RATE_UNKNOWN_PPM 100
#define MARKER_DELAY_NS 5000 /* from the reading of the clocks to the time of the marker */

const char *const stamp_kinds[STAMP_KINDS] = { [STAMP_SW] = "SW", [STAMP_KERNEL] = "KERNEL", [STAMP_HW] = "HW",
					       [STAMP_QUEUE] = "SCHED", [STAMP_DRIVER] = "TXSW" };

int evidence_refuse(char why[CAUSE_REASON_BYTES], int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, CAUSE_REASON_BYTES, format, arguments);
	va_end(arguments);
	return -error;
}

/* ---- The marker -------------------------------------------------------------------------------------------------- */

/* "KEY=12.345678901" as nanoseconds. False: not there. */
static bool read_seconds(const char *text, const char *key, int64_t *ns)
{
	const char *at = strstr(text, key), *end;
	unsigned long long s, fraction;

	if (!at)
		return false;
	at += strlen(key);
	if (strspn(at, "0123456789") < 1 || strspn(at, "0123456789") > 10)
		return false;
	s = strtoull(at, (char **)&end, 10);
	if (s > INT64_MAX / 4 / NS_PER_S || *end != '.' || strspn(end + 1, "0123456789") != 9)
		return false;
	fraction = strtoull(end + 1, NULL, 10);
	*ns = (int64_t)s * NS_PER_S + (int64_t)fraction;
	return true;
}

static bool read_number(const char *text, const char *key, int64_t *number)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	if (strspn(at, "0123456789") < 1 || strspn(at, "0123456789") > 18)
		return false;
	*number = strtoll(at, NULL, 10);
	return true;
}

static void read_stamps(struct stamps *s, const char *text)
{
	char key[16];

	for (int n = 1; n <= 4; n++)
		for (int kind = 0; kind < STAMP_KINDS; kind++) {
			snprintf(key, sizeof(key), " T%d_%s=", n, stamp_kinds[kind]);
			s->known[n][kind] = read_seconds(text, key, &s->ns[n][kind]);
		}
}

static int read_marker(struct evidence *e, char *why)
{
	const char *text = e->text.breach.text;
	int64_t seq = 0, latency_ns;

	if (!*text)
		return evidence_refuse(why, EINVAL,
				       "all.txt has no marker RANT_BREACH, so the packet cannot be found in it: it was "
				       "refused, or this is not a trace that --save-trace has written");
	e->role = strstr(text, " role=reflect ") ? ROLE_REFLECT : ROLE_EMIT;
	if (!read_number(text, " seq=", &seq) || !read_number(text, " latency_ns=", &latency_ns) ||
	    !read_seconds(text, " REALTIME=", &e->realtime_ns))
		return evidence_refuse(why, EINVAL,
				       "the marker RANT_BREACH in all.txt is not complete: save the trace again");
	e->latency_ns = latency_ns;
	e->breach.seq = (uint32_t)seq;
	e->raw_known = read_seconds(text, " MONOTONIC_RAW=", &e->raw_ns);
	read_stamps(&e->breach, text);
	return 0;
}

/* ---- The trace clock --------------------------------------------------------------------------------------------- */

static int refuse_clock(const struct evidence *e, char *why)
{
	return evidence_refuse(why, EINVAL,
			       "the trace clock is '%s', whose times cannot be placed beside the stamps: "
			       "echo mono_raw > /sys/kernel/tracing/instances/rant/trace_clock before the run",
			       *e->text.clock ? e->text.clock : "not named");
}

/* The rate of the trace clock between both markers, of which `key` is a clock; NULL: their times in the trace. */
static void find_rate(struct evidence *e, const char *key)
{
	const struct trace_marker *start = &e->text.start, *breach = &e->text.breach;
	int64_t real_ns, from_ns = start->ns, to_ns = breach->ns;
	double rate;

	if (!*start->text || !read_seconds(start->text, " REALTIME=", &real_ns) ||
	    (key && (!read_seconds(start->text, key, &from_ns) || !read_seconds(breach->text, key, &to_ns))))
		return;
	if (e->realtime_ns - real_ns < 10 * NS_PER_MS || e->realtime_ns - real_ns > DISTANCE_MAX_NS)
		return;
	rate = (double)(to_ns - from_ns) / (double)(e->realtime_ns - real_ns) - 1;
	e->rate_known = fabs(rate) <= RATE_MAX; /* else CLOCK_REALTIME was set */
	e->rate = e->rate_known ? rate : 0;
}

/* A clock without a relation to the stamps, such as `local`, is placed by the markers if both were written on the CPU
 * of the thread and the clock ran as fast as CLOCK_MONOTONIC_RAW between them. */
static bool runs_like_raw(const struct evidence *e)
{
	const struct trace_marker *start = &e->text.start, *breach = &e->text.breach;
	int64_t from_ns, to_ns;

	if (!*start->text || start->cpu != breach->cpu || !read_seconds(start->text, " MONOTONIC_RAW=", &from_ns) ||
	    !read_seconds(breach->text, " MONOTONIC_RAW=", &to_ns))
		return false;
	return llabs((breach->ns - start->ns) - (to_ns - from_ns)) <= 20 * NS_PER_US + (to_ns - from_ns) / 10000;
}

/* Documentation/trace/ftrace.rst, trace_clock. */
static int place_marker(struct evidence *e, char *why)
{
	static const char *const by_marker[] = { "local", "global", "perf" };
	const char *clock = e->text.clock, *text = e->text.breach.text;
	int64_t tai_ns;

	/* The time between the readings of REALTIME and TAI; their offset is whole seconds. */
	e->placed_bound_ns = e->text.resolution_ns;
	if (read_seconds(text, " TAI=", &tai_ns))
		e->placed_bound_ns += 2 * (llabs(tai_ns - e->realtime_ns) % NS_PER_S);
	if (!strcmp(clock, "mono_raw") && read_seconds(text, " MONOTONIC_RAW=", &e->placed_ns)) {
		find_rate(e, " MONOTONIC_RAW=");
		return 0;
	}
	e->rate_known = true; /* TAI, MONOTONIC and BOOTTIME have the rate of REALTIME */
	if (!strcmp(clock, "tai") && read_seconds(text, " TAI=", &e->placed_ns))
		return 0;
	e->placed_ns = e->text.breach.ns - MARKER_DELAY_NS / 2;
	e->placed_bound_ns += MARKER_DELAY_NS / 2;
	if (!strcmp(clock, "mono") || !strcmp(clock, "boot"))
		return 0;
	e->rate_known = false;
	for (size_t i = 0; i < sizeof(by_marker) / sizeof(by_marker[0]); i++)
		if (!strcmp(clock, by_marker[i]) && runs_like_raw(e)) {
			find_rate(e, NULL);
			return 0;
		}
	return refuse_clock(e, why);
}

bool evidence_place(const struct evidence *e, const struct stamps *s, int n, enum stamp_kind kind, int64_t *ns,
		    int64_t *bound_ns)
{
	__int128 distance_ns;

	if (!s->known[n][kind] || (kind == STAMP_HW && !e->hw_known))
		return false;
	distance_ns = (__int128)s->ns[n][kind] - e->realtime_ns;
	*bound_ns = e->placed_bound_ns;
	if (kind == STAMP_HW) {
		distance_ns -= e->hw_minus_realtime_ns;
		*bound_ns += e->hw_bound_ns;
	}
	if (distance_ns > DISTANCE_MAX_NS || distance_ns < -DISTANCE_MAX_NS)
		return false;

	const int64_t whole_ns = (int64_t)distance_ns;

	*ns = e->placed_ns + whole_ns + (int64_t)((double)whole_ns * e->rate);
	*bound_ns += llabs(whole_ns) / 1000000 * (e->rate_known ? RATE_KNOWN_PPM : RATE_UNKNOWN_PPM);
	return true;
}

/* ---- breach.json ------------------------------------------------------------------------------------------------- */

static bool read_time(const struct tree *t, int64_t *ns)
{
	return tree_integer(t, ns) && *ns <= INT64_MAX / 2 && *ns >= -INT64_MAX / 2;
}

void evidence_read_name(const struct tree *t, char *to, size_t bytes)
{
	const char *text = tree_text(t);

	snprintf(to, bytes, "%s", text ? text : "");
	for (char *c = to; *c; c++)
		*c = (unsigned char)*c < 0x80 ? text_shown(*c) : '?';
}

static void read_packet(struct stamps *s, const struct tree *t)
{
	int64_t seq = 0;
	char key[16];

	tree_integer(tree_member(t, "seq"), &seq);
	*s = (struct stamps){ .seq = (uint32_t)seq, .other_run = tree_member(t, "run") };
	for (int n = 1; n <= 4; n++)
		for (int kind = 0; kind < STAMP_KINDS; kind++) {
			snprintf(key, sizeof(key), "T%d_%s", n, stamp_kinds[kind]);
			s->known[n][kind] = read_time(tree_member(t, key), &s->ns[n][kind]);
		}
}

/* The marker lacks times that were not known yet, and may have those of user space by the clock of the NIC. */
static void complete_breach(struct stamps *breach, const struct stamps *s)
{
	for (int n = 1; n <= 4; n++)
		for (int kind = 0; kind < STAMP_KINDS; kind++) {
			if (!s->known[n][kind])
				continue;
			breach->known[n][kind] = true;
			breach->ns[n][kind] = s->ns[n][kind];
		}
}

static int read_packets(struct evidence *e, const struct tree *list)
{
	const size_t n = tree_length(list), first = n > EVIDENCE_PACKETS_MAX + 1 ? n - EVIDENCE_PACKETS_MAX - 1 : 0;

	e->packet = n ? calloc(n - first, sizeof(*e->packet)) : NULL;
	if (n && !e->packet)
		return -ENOMEM;
	for (size_t i = first; i < n; i++) {
		struct stamps *s = &e->packet[e->packets];

		read_packet(s, tree_item(list, i));
		/* The breached packet is in the list, too. */
		if (s->seq == e->breach.seq && !s->other_run)
			complete_breach(&e->breach, s);
		else
			e->packets++;
	}
	return 0;
}

static int read_details(struct evidence *e, const struct tree *t)
{
	const struct tree *irqs = tree_member(t, "irqs");
	int64_t number;

	e->details = true;
	if (tree_integer(tree_member(t, "host_cpu"), &number) && number >= 0 && number < TRACE_TEXT_CPUS_MAX)
		e->cpu = (int)number;
	for (size_t i = 0; i < tree_length(irqs) && e->irqs < EVIDENCE_IRQS_MAX; i++)
		if (tree_integer(tree_member(tree_item(irqs, i), "irq"), &number) && number >= 0 && number <= INT32_MAX)
			e->irq[e->irqs++] = (int32_t)number;
	evidence_read_name(tree_member(t, "run"), e->run, sizeof(e->run));
	evidence_read_name(tree_member(t, "interface"), e->interface, sizeof(e->interface));
	evidence_read_name(tree_member(t, "blame"), e->blame, sizeof(e->blame));
	e->hw_known = read_time(tree_at(t, "relations.hw_minus_realtime_ns"), &e->hw_minus_realtime_ns);
	if (!read_time(tree_at(t, "relations.hw_bound_ns"), &e->hw_bound_ns) || e->hw_bound_ns < 0)
		e->hw_bound_ns = 0;
	unseen_read(&e->unseen, tree_member(t, "unseen"));
	return read_packets(e, tree_member(t, "packets"));
}

/* ---- The rate without a marker of the start ---------------------------------------------------------------------- */

#define FOLLOW_NS 4000 /* from a send time to its event, and the error of the prediction */
#define FOLLOWED_LEAST 16 /* packets */
#define FOLLOWED_SPAN_NS (20 * NS_PER_MS)

/* The first event of the send path of the measuring thread within FOLLOW_NS of a time; NULL: none. */
static const struct event *find_send(const struct trace_text *t, int64_t ns)
{
	for (size_t i = trace_text_first(t, ns - FOLLOW_NS); i < t->count && t->event[i].ns <= ns + FOLLOW_NS; i++)
		if (t->event[i].kind == EVENT_QUEUE && t->event[i].pid == t->breach.pid)
			return &t->event[i];
	return NULL;
}

/* A long run has overwritten the marker of the start. Then the events net_dev_queue are compared with the send times of
 * the packets, from the marker of the breach backwards, and the rate is that of a straight line through them. */
static void follow_packets(struct evidence *e)
{
	const int n = e->role == ROLE_EMIT ? 1 : 3;
	double sum = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, shift_ns = 0, divisor;
	int64_t last_ns = 0;

	for (size_t i = e->packets; i-- > 0;) {
		const struct stamps *s = &e->packet[i];
		const int64_t distance_ns = s->known[n][STAMP_SW] ? s->ns[n][STAMP_SW] - e->realtime_ns : 1;
		const struct event *send;

		if (distance_ns >= last_ns || distance_ns < -DISTANCE_MAX_NS)
			continue;
		send = find_send(&e->text, e->placed_ns + distance_ns + (int64_t)shift_ns);
		if (!send)
			continue;

		const double x = (double)distance_ns, y = (double)(send->ns - e->placed_ns - distance_ns);

		shift_ns += sum ? (y - shift_ns) / 8 : y;
		last_ns = distance_ns;
		sum++;
		sum_x += x;
		sum_y += y;
		sum_xx += x * x;
		sum_xy += x * y;
	}
	divisor = sum * sum_xx - sum_x * sum_x;
	if (sum < FOLLOWED_LEAST || -last_ns < FOLLOWED_SPAN_NS || divisor <= 0)
		return;
	e->rate = (sum * sum_xy - sum_x * sum_y) / divisor;
	e->rate_known = fabs(e->rate) <= RATE_MAX;
	e->rate = e->rate_known ? e->rate : 0;
}

/* ---- The folder -------------------------------------------------------------------------------------------------- */

/* Opens a regular file. NULL: errno is set. */
static FILE *open_file(int folder_fd, const char *name, int64_t max_bytes)
{
	const int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *file;
	int64_t bytes;

	if (fd < 0)
		return NULL;
	bytes = file_regular_bytes(fd, max_bytes);
	file = bytes < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		const int error = bytes < 0 ? (int)-bytes : errno;

		close(fd);
		errno = error;
	}
	return file;
}

static int read_text(struct evidence *e, int folder_fd, char *why)
{
	FILE *file = open_file(folder_fd, "all.txt", TEXT_FILE_MAX_BYTES);
	int error;

	if (!file) {
		error = errno;
		return evidence_refuse(why, error,
				       "all.txt: %s: give a folder rant-ROLE-run-RUN-seq-SEQ that --save-trace "
				       "has written", error == ELOOP ? "is a symbolic link" :
				       error == EINVAL ? "is not a regular file" : strerror(error));
	}
	error = trace_text_read(&e->text, file);
	fclose(file);
	return error ? evidence_refuse(why, -error, "all.txt: %s", strerror(-error)) : 0;
}

static int read_json(struct evidence *e, int folder_fd, const char *folder, char *why)
{
	FILE *file = open_file(folder_fd, "breach.json", DETAILS_FILE_MAX_BYTES);
	char path[PATH_MAX];
	struct tree *t;
	int error = 0;

	if (!file) {
		if (errno != ENOENT)
			warnx("--explain %s: breach.json cannot be read (%s): explained without it", folder,
			      errno == ELOOP ? "is a symbolic link" : strerror(errno));
		return 0;
	}
	snprintf(path, sizeof(path), "%.*s/breach.json", (int)sizeof(path) - 32, folder);
	t = tree_read(file, path);
	if (t)
		error = read_details(e, t);
	tree_free(t);
	fclose(file);
	return error ? evidence_refuse(why, -error, "breach.json: %s", strerror(-error)) : 0;
}

/* Without these events a CPU may be busy unnoticed. */
static void find_not_enabled(struct evidence *e, int folder_fd)
{
	static const struct {
		enum event_kind kind;
		bool on_x86; /* elsewhere the local timer is an interrupt as others */
		const char *name, *path;
	} needed[] = {
		{ EVENT_SWITCH, false, "sched:sched_switch", "raw/events/sched/sched_switch/format" },
		{ EVENT_IRQ_ENTRY, false, "irq:irq_handler_entry", "raw/events/irq/irq_handler_entry/format" },
		{ EVENT_SOFTIRQ_ENTRY, false, "irq:softirq_entry", "raw/events/irq/softirq_entry/format" },
		{ EVENT_VECTOR_ENTRY, true, "irq_vectors:local_timer_entry",
		  "raw/events/irq_vectors/local_timer_entry/format" },
	};
	const bool formats = !faccessat(folder_fd, "raw/events", X_OK, 0);

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && !e->not_enabled; i++) {
		const bool seen = e->text.kinds & 1ULL << needed[i].kind;
		const bool there = formats && !faccessat(folder_fd, needed[i].path, F_OK, AT_SYMLINK_NOFOLLOW);

		if (!seen && !there && (!needed[i].on_x86 || e->text.x86))
			e->not_enabled = needed[i].name;
	}
}

int evidence_open(struct evidence *e, const char *folder, char why[CAUSE_REASON_BYTES])
{
	const int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error;

	*e = (struct evidence){ .cpu = -1 };
	if (folder_fd < 0) {
		error = errno;
		return evidence_refuse(why, error, "%s: give a folder that --save-trace has written", strerror(error));
	}
	error = read_text(e, folder_fd, why);
	if (!error) {
		trace_pages_read(&e->text, folder_fd, e->no_pages); /* else the text remains */
		error = read_marker(e, why);
	}
	if (!error)
		error = place_marker(e, why);
	if (!error)
		error = read_json(e, folder_fd, folder, why);
	if (!error && !e->rate_known)
		follow_packets(e);
	if (!error)
		find_not_enabled(e, folder_fd);
	close(folder_fd);
	return error;
}

void evidence_close(struct evidence *e)
{
	trace_text_free(&e->text);
	free(e->packet);
	*e = (struct evidence){ .cpu = -1 };
}
