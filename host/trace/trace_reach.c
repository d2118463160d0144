// SPDX-License-Identifier: GPL-2.0-or-later
/* How far back the buffers of a frozen trace reach: per_cpu/cpuN/stats (Documentation/trace/ftrace.rst). */
#include "tracefs.h"

#include "host/trace/trace_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool find_number(const char *text, const char *name, uint64_t *number)
{
	const char *at = strstr(text, name);

	if (!at)
		return false;
	at += strlen(name);
	at += strspn(at, " ");
	*number = strtoull(at, NULL, 10);
	return *at >= '0' && *at <= '9';
}

/* "oldest event ts:  5143.000013", in seconds with microseconds for a clock that counts nanoseconds. */
static bool find_oldest(const char *text, int64_t *oldest_ns)
{
	static const char name[] = "oldest event ts:";
	const char *at = strstr(text, name);
	uint64_t s, us;

	if (!at || !find_number(text, name, &s) || s > INT64_MAX / 2 / NS_PER_S)
		return false;
	at = strchr(at, '.');
	if (!at || strspn(at + 1, "0123456789") != 6)
		return false;
	us = strtoull(at + 1, NULL, 10);
	*oldest_ns = (int64_t)s * NS_PER_S + (int64_t)us * NS_PER_US;
	return true;
}

static const struct optional not_known = { .known = false };

/* Of one CPU; see trace_reaches(). */
static struct optional cpu_reaches(const struct trace *t, int cpu, int64_t raw_ns)
{
	char name[64], text[512];
	uint64_t overrun;
	int64_t oldest_ns;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	if (trace_read_text(t, name, text, sizeof(text)) || !find_number(text, "\noverrun:", &overrun))
		return not_known;
	if (!overrun)
		return optional_of(true);
	return find_oldest(text, &oldest_ns) ? optional_of(oldest_ns <= raw_ns) : not_known;
}

struct optional trace_reaches(const struct trace *t, int64_t raw_ns)
{
	struct optional reaches = not_known;
	DIR *per_cpu;
	int cpu;

	if (!trace_is_frozen(t) || !t->unsaved || t->last.snapshot_taken || strcmp(t->clock, "mono_raw"))
		return not_known;
	per_cpu = trace_open_per_cpu(t);
	if (!per_cpu)
		return not_known;
	while ((cpu = trace_next_cpu(per_cpu)) >= 0) {
		reaches = cpu_reaches(t, cpu, raw_ns);
		if (!reaches.known || !reaches.value)
			break;
	}
	closedir(per_cpu);
	return reaches;
}
