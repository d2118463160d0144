/* build: wraps=fopen,clock_getres sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Periodic work of the kernel: by its settings, and nothing where they cannot be read, or where it is off. */
#include "host/periods.c"

#include "util.h"

struct file {
	const char *path, *text; /* text NULL: the file is not there */
};

static const struct file *files;
static int64_t resolution_ns; /* below 0: not known */
static struct nic_details nic;

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	for (const struct file *f = files; f->path; f++)
		if (!strcmp(f->path, path) && f->text)
			return fmemopen((void *)(uintptr_t)f->text, strlen(f->text), mode);
	errno = ENOENT;
	return NULL;
}

int __wrap_clock_getres(clockid_t clock, struct timespec *t);
int __wrap_clock_getres(clockid_t clock, struct timespec *t)
{
	assert_int_equal(clock, CLOCK_MONOTONIC_COARSE);
	*t = (struct timespec){ .tv_nsec = resolution_ns };
	return resolution_ns < 0 ? -1 : 0;
}

static void assert_periods(const struct file *from, const char *const *names, const int64_t *ns, unsigned count)
{
	struct periods p = { .count = 0 };

	files = from;
	periods_read(&p, &nic);
	assert_int_equal(p.count, count);
	for (unsigned i = 0; i < count; i++) {
		assert_string_equal(p.each[i].name, names[i]);
		assert_int_equal(p.each[i].period_ns, ns[i]);
	}
}

static void a_usual_host(void **state)
{
	static const struct file usual[] = {
		{ "/proc/sys/vm/stat_interval", "1\n" },
		{ "/proc/sys/vm/dirty_writeback_centisecs", "500\n" },
		{ "/proc/sys/kernel/watchdog_thresh", "10\n" },
		{ "/proc/sys/kernel/soft_watchdog", "1\n" },
		{ "/proc/sys/kernel/sched_rt_period_us", "1000000\n" },
		{ "/proc/sys/kernel/sched_rt_runtime_us", "950000\n" },
		{ "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n" },
		{ "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "10000\n" },
		{ NULL, NULL },
	};
	static const char *const names[] = { "timer tick (CONFIG_HZ 300)", "vm.stat_interval 1",
					     "vm.dirty_writeback_centisecs 500",
					     "lockup detector (kernel.watchdog_thresh 10)",
					     "real-time throttling (kernel.sched_rt_period_us 1000000)",
					     "khugepaged (scan_sleep_millisecs 10000)" };
	static const int64_t ns[] = { 3333333, NS_PER_S, 5 * NS_PER_S, 4 * NS_PER_S, NS_PER_S, 10 * NS_PER_S };

	(void)state;
	resolution_ns = 3333333;
	assert_periods(usual, names, ns, COUNT_OF(ns));
}

static void all_off(void **state)
{
	static const struct file off[] = {
		{ "/proc/sys/vm/stat_interval", "0\n" },
		{ "/proc/sys/vm/dirty_writeback_centisecs", "0\n" },
		{ "/proc/sys/kernel/watchdog_thresh", "10\n" },
		{ "/proc/sys/kernel/soft_watchdog", "0\n" },
		{ "/proc/sys/kernel/sched_rt_period_us", "1000000\n" },
		{ "/proc/sys/kernel/sched_rt_runtime_us", "-1\n" },
		{ "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n" },
		{ "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "10000\n" },
		{ NULL, NULL },
	};

	(void)state;
	resolution_ns = -1;
	assert_periods(off, NULL, NULL, 0);
}

static void coalescing_of_the_nic(void **state)
{
	static const struct file none[] = { { NULL, NULL } };
	static const char *const names[] = { "rx-usecs 50", "tx-usecs 64" };
	static const int64_t ns[] = { 50 * NS_PER_US, 64 * NS_PER_US };

	(void)state;
	resolution_ns = 0;
	nic = (struct nic_details){ .coalescing_known = true, .receive_us = 50, .transmit_us = 64 };
	assert_periods(none, names, ns, COUNT_OF(ns));
	nic.transmit_us = 0;
	assert_periods(none, names, ns, 1);
	nic.coalescing_known = false;
	assert_periods(none, NULL, NULL, 0);
}

static void nothing_is_readable(void **state)
{
	static const struct file none[] = { { NULL, NULL } }, strange[] = {
		{ "/proc/sys/vm/stat_interval", "one\n" },
		{ "/proc/sys/vm/dirty_writeback_centisecs", "99999999999999999999\n" },
		{ "/proc/sys/kernel/watchdog_thresh", "-1\n" },
		{ "/proc/sys/kernel/soft_watchdog", "1\n" },
		{ "/proc/sys/kernel/sched_rt_period_us", "\n" },
		{ "/proc/sys/kernel/sched_rt_runtime_us", "950000\n" },
		{ NULL, NULL },
	};

	(void)state;
	resolution_ns = 0;
	assert_periods(none, NULL, NULL, 0);
	assert_periods(strange, NULL, NULL, 0);
}

static void no_more_than_there_is_room_for(void **state)
{
	struct periods p = { .count = 0 };

	(void)state;
	for (unsigned i = 0; i < 2 * PERIODS_MAX; i++)
		periods_add(&p, i, "number %u", i);
	assert_int_equal(p.count, PERIODS_MAX);
	assert_string_equal(p.each[0].name, "number 1");
	periods_add(&p, 1, "%0100d", 1);
	assert_int_equal(p.count, PERIODS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_usual_host), cmocka_unit_test(all_off),
					    cmocka_unit_test(coalescing_of_the_nic),
					    cmocka_unit_test(nothing_is_readable),
					    cmocka_unit_test(no_more_than_there_is_room_for) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
