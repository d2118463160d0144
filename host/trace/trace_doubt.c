// SPDX-License-Identifier: GPL-2.0-or-later
/* Conditions that make a trace useless: refused markers, no events, a small buffer, an unsuitable clock. */
#include "host/trace/trace_files.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#define EVENT_BYTES 64 /* size of a usual event in the ring buffer */

/* A marker is refused (EBADF) on a CPU that is not traced. */
static int check_cpus(const struct trace *t)
{
	char mask[2048];
	cpu_set_t mine;
	int left_out = -1, traced = 0;

	if (trace_read_text(t, "tracing_cpumask", mask, sizeof(mask)) || sched_getaffinity(0, sizeof(mine), &mine))
		return 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		if (trace_in_mask(mask, cpu))
			traced++;
		else if (left_out < 0)
			left_out = (int)cpu;
	}
	if (left_out < 0)
		return 0;
	warnx("--trace-marker: tracing_cpumask (%s) leaves out CPU %d, where %s: pin rant to a traced CPU with "
	      "taskset, or add it to %s/tracing_cpumask", mask, left_out,
	      traced ? "rant may run: markers written there are refused" : "rant runs: no marker could be written",
	      t->path);
	return traced ? 0 : -EINVAL;
}

static int check_switch(const struct trace *t)
{
	char text[16];

	if (trace_read_text(t, "options/markers", text, sizeof(text)) || *text != '0')
		return 0;
	warnx("--trace-marker: markers are switched off: echo 1 > %s/options/markers", t->path);
	return -EINVAL;
}

int trace_doubt_markers(const struct trace *t)
{
	int error = check_switch(t);

	return error ? error : check_cpus(t);
}

/* In an instance that was made here the buffer has the kernel's default size, and the events are chosen. */
static void doubt_events(const struct trace *t, double packets_per_s)
{
	uint64_t kib, wanted_kib = 1024;
	unsigned events;
	double need_kib;

	if (t->created)
		return;
	if (!trace_count_events(t)) {
		warnx("--trace-marker: no event is enabled, so the trace will hold markers only: rmdir %s: rant makes it again, "
		      "with the events of --trace-events", t->path);
		return;
	}
	events = trace_count_packet_events(t);
	need_kib = packets_per_s * events * EVENT_BYTES / 1024;
	if (!trace_read_buffer_kib(t, &kib) || (double)kib >= need_kib)
		return;
	while ((double)wanted_kib < need_kib && wanted_kib < UINT64_MAX / 2)
		wanted_kib *= 2;
	warnx("--trace-marker: a buffer of %" PRIu64 " KiB per CPU holds less than a second of %u events at %.0f "
	      "packets/s: echo %" PRIu64 " > %s/buffer_size_kb", kib, events, packets_per_s, wanted_kib, t->path);
}

/* A good clock has the same times on all CPUs, and is a clock of the marker or runs at the rate of such a clock. */
static void doubt_clock(struct trace *t)
{
	static const char *const good[] = { "mono_raw", "tai", "mono", "boot" };
	char text[256], *from, *to;

	if (trace_read_text(t, "trace_clock", text, sizeof(text)) || !(from = strchr(text, '[')) ||
	    !(to = strchr(from, ']')))
		return;
	*to = 0;
	snprintf(t->clock, sizeof(t->clock), "%.15s", from + 1);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(t->clock, good[i]))
			return;
	warnx("--trace-marker: the trace clock is '%s', whose times cannot be placed beside the stamps: "
	      "echo mono_raw > %s/trace_clock (or tai; this empties the buffers)", t->clock, t->path);
}

void trace_doubt_content(struct trace *t, double packets_per_s)
{
	doubt_clock(t);
	doubt_events(t, packets_per_s);
}
