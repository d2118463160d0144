// SPDX-License-Identifier: GPL-2.0-or-later
/* Periodic work of the kernel and the NIC. Facts: Documentation/admin-guide/sysctl/{kernel,vm}.rst,
 * mm/transhuge.rst. */
#include "host/periods.h"

#include "host/file.h"
#include "host/nic/nic.h"

#include <stdlib.h>

void periods_add(struct periods *p, int64_t period_ns, const char *name, ...)
{
	va_list arguments;

	if (period_ns <= 0 || p->count == PERIODS_MAX)
		return;
	va_start(arguments, name);
	vsnprintf(p->each[p->count].name, sizeof(p->each[0].name), name, arguments);
	va_end(arguments);
	p->each[p->count++].period_ns = period_ns;
}

/* -1: not known. */
static int64_t read_number(const char *path)
{
	char text[32], *end;
	int64_t n;

	if (file_read(path, text, sizeof(text)) <= 0)
		return -1;
	errno = 0;
	n = strtoll(text, &end, 10);
	return errno || end == text || n < 0 || n > INT32_MAX ? -1 : n;
}

/* The resolution of a coarse clock is the tick: kernel/time/posix-timers.c, posix_get_coarse_res(). */
static int64_t tick_ns(void)
{
	struct timespec t;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &t) ? -1 : t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void read_watchdog(struct periods *p)
{
	const int64_t threshold = read_number("/proc/sys/kernel/watchdog_thresh");

	if (read_number("/proc/sys/kernel/soft_watchdog") > 0 && threshold > 0)
		/* kernel/watchdog.c, set_sample_period(): five times in twice the threshold. */
		periods_add(p, threshold * 2 * NS_PER_S / 5, "lockup detector (kernel.watchdog_thresh %d)",
			    (int)threshold);
}

static void read_throttling(struct periods *p)
{
	const int64_t us = read_number("/proc/sys/kernel/sched_rt_period_us");

	if (read_number("/proc/sys/kernel/sched_rt_runtime_us") >= 0) /* -1: off */
		periods_add(p, us * NS_PER_US, "real-time throttling (kernel.sched_rt_period_us %d)", (int)us);
}

static void read_huge_pages(struct periods *p)
{
	static const char folder[] = "/sys/kernel/mm/transparent_hugepage";
	char path[96], enabled[64];
	int64_t ms;

	snprintf(path, sizeof(path), "%s/enabled", folder);
	if (file_read(path, enabled, sizeof(enabled)) <= 0 || strstr(enabled, "[never]"))
		return;
	snprintf(path, sizeof(path), "%s/khugepaged/scan_sleep_millisecs", folder);
	ms = read_number(path);
	periods_add(p, ms * NS_PER_MS, "khugepaged (scan_sleep_millisecs %d)", (int)ms);
}

static void add_coalescing(struct periods *p, const struct nic_details *nic)
{
	if (!nic->coalescing_known)
		return;
	periods_add(p, nic->receive_us * NS_PER_US, "rx-usecs %u", nic->receive_us);
	periods_add(p, nic->transmit_us * NS_PER_US, "tx-usecs %u", nic->transmit_us);
}

void periods_read(struct periods *p, const struct nic_details *nic)
{
	const int64_t tick = tick_ns(), s = read_number("/proc/sys/vm/stat_interval"),
		      cs = read_number("/proc/sys/vm/dirty_writeback_centisecs");

	if (tick > 0)
		periods_add(p, tick, "timer tick (CONFIG_HZ %d)", (int)((NS_PER_S + tick / 2) / tick));
	periods_add(p, s * NS_PER_S, "vm.stat_interval %d", (int)s);
	periods_add(p, cs * 10 * NS_PER_MS, "vm.dirty_writeback_centisecs %d", (int)cs);
	read_watchdog(p);
	read_throttling(p);
	read_huge_pages(p);
	add_coalescing(p, nic);
}
