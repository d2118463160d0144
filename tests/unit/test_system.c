/* build: wraps=uname,fopen,open sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts about the host, read from sample files of other hosts. */
#include "host/system.c"

#include "util.h"

#include <stdarg.h>

static const struct file {
	const char *path, *text;
} *files;
static const char *version;

int __wrap_uname(struct utsname *names);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static const char *text_of(const char *path)
{
	for (const struct file *f = files; f->path; f++)
		if (!strcmp(f->path, path))
			return f->text;
	return NULL;
}

int __wrap_uname(struct utsname *names)
{
	*names = (struct utsname){ .nodename = "here", .release = "6.12.1", .machine = "riscv64" };
	snprintf(names->version, sizeof(names->version), "%s", version ? version : "");
	return version ? 0 : -1;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text = text_of(path);

	(void)mode;
	errno = ENOENT;
	return text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

int __wrap_open(const char *path, int flags, ...)
{
	/* the coverage library opens its files */
	return strcmp(path, "/proc/self/cmdline") ? __real_open(path, flags, 0666) : -1;
}

static struct system read_of(const struct file *of, int cpu)
{
	struct system s;

	files = of;
	system_read(&s, cpu);
	return s;
}

static void assert_optional(struct optional n, int64_t value)
{
	assert_true(n.known);
	assert_int_equal(n.value, value);
}

static void a_host_that_prints_nothing(void **state)
{
	static const struct file none[] = { { NULL, NULL } };
	const struct system s = read_of(none, 0);

	(void)state;
	assert_string_equal(s.hostname, "");
	assert_string_equal(s.clocksource, "");
	assert_string_equal(s.governor, "");
	assert_int_equal(s.command_bytes, 0);
	assert_false(s.is_real_time.known);
	assert_false(s.is_virtual.known);
	assert_false(s.isolated_known);
	assert_true(s.cpus_online.value >= 1);
}

static void a_host_that_prints_all(void **state)
{
	static const struct file some[] = {
		{ "/proc/cpuinfo",
		  "processor\t: 0\nmodel name\t: A: B\nflags\t\t: fpu hypervisor lm\n\nprocessor\t: 1\nmodel name\t: "
		  "C\n" },
		{ "/sys/kernel/realtime", "1\n" }, { "/sys/devices/system/clocksource/clocksource0/current_clocksource",
						     "tsc\n" },
		{ "/sys/devices/system/cpu/isolated", "\n" },
			{ "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n" },
		{ "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n" },
		{ NULL, NULL },
	};
	struct system s;

	(void)state;
	version = "#1 SMP PREEMPT_DYNAMIC";
	s = read_of(some, 3);
	assert_string_equal(s.hostname, "here");
	assert_string_equal(s.kernel, "6.12.1");
	assert_string_equal(s.version, version);
	assert_string_equal(s.machine, "riscv64");
	assert_string_equal(s.cpu_model, "A: B");
	assert_string_equal(s.clocksource, "tsc");
	assert_string_equal(s.governor, "performance");
	assert_optional(s.is_real_time, 1);
	assert_optional(s.is_virtual, 1);
	assert_true(s.isolated_known);
	assert_string_equal(s.isolated, "");
	assert_string_equal(read_of(some, 0).governor, "powersave");
	assert_string_equal(read_of(some, -1).governor, "");
}

static void which_kernel_is_a_real_time_one(void **state)
{
	static const struct file none[] = { { NULL, NULL } },
					  no[] = { { "/sys/kernel/realtime", "0\n" }, { NULL, NULL } };

	(void)state;
	version = "#1 SMP PREEMPT_RT Debian";
	assert_optional(read_of(none, 0).is_real_time, 1);
	assert_optional(read_of(no, 0).is_real_time, 0); /* /sys/kernel/realtime has priority */
	version = "#1 SMP PREEMPT_DYNAMIC";
	assert_optional(read_of(none, 0).is_real_time, 0);
}

static void which_host_is_virtual(void **state)
{
	static const struct file bare[] = { { "/proc/cpuinfo", "flags\t\t: fpu lm\n" }, { NULL, NULL } },
				 xen[] = { { "/proc/cpuinfo", "flags\t\t: fpu lm\n" },
					   { "/sys/hypervisor/type", "xen\n" }, { NULL, NULL } };

	(void)state;
	assert_optional(read_of(bare, 0).is_virtual, 0);
	assert_optional(read_of(xen, 0).is_virtual, 1);
	assert_string_equal(read_of(xen, 0).hypervisor, "xen");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_host_that_prints_nothing),
					    cmocka_unit_test(a_host_that_prints_all),
					    cmocka_unit_test(which_kernel_is_a_real_time_one),
					    cmocka_unit_test(which_host_is_virtual) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
