// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the kernel: mechanisms that take the CPU from the measuring loop. */
#include "doctor/inside.h"

#include <string.h>

/* ---- Real-time throttling ---------------------------------------------------------------------------------------- */

static bool is_at_least(const char *release, int major, int minor)
{
	int have_major = 0, have_minor = 0;

	return sscanf(release, "%d.%d", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

enum built { BUILT_UNKNOWN, BUILT_NO, BUILT_YES };

/* Reads the kernel configuration that distributions install; `path` gets its name. */
static enum built built_with(const char *release, const char *option, char *path, size_t bytes)
{
	char full[PATH_MAX], line[256];
	enum built built = BUILT_UNKNOWN;
	FILE *f;

	snprintf(path, bytes, "/boot/config-%.60s", release);
	check_full_path(full, path);
	f = fopen(full, "re");
	if (!f)
		return BUILT_UNKNOWN;
	while (built != BUILT_YES && fgets(line, sizeof(line), f)) {
		size_t length = strlen(option);

		built = !strncmp(line, option, length) && !strncmp(line + length, "=y", 2) ? BUILT_YES : BUILT_NO;
	}
	fclose(f);
	return built;
}

static void look_at_throttling(struct check *c)
{
	const char *why = "the kernel stops real-time tasks beyond this time";
	const char *cure = "sysctl -w kernel.sched_rt_runtime_us=-1";
	struct check_file f, release;
	char config[80], where[400];
	enum built groups;
	long long us;

	if (!CHECK_READ(c, &f, "/proc/sys/kernel/sched_rt_runtime_us") || !check_number(c, &f, &us) ||
	    !CHECK_READ(c, &release, "/proc/sys/kernel/osrelease"))
		return;
	if (us < 0)
		return check_say(c, OK, f.path, NULL, NULL, "off");
	if (!check_real_time(c))
		return check_say(c, OK, "sched_getscheduler", NULL, NULL, "this process is not real-time");
	if (!is_at_least(release.text, 6, 12))
		return check_say(c, WARN, f.path, why, cure, "%lld us of each second", us);
	groups = built_with(release.text, "CONFIG_RT_GROUP_SCHED", config, sizeof(config));
	snprintf(where, sizeof(where), "%s, %s", f.path, config);
	if (groups == BUILT_YES)
		check_say(c, WARN, where, why, cure, "%lld us of each second, with CONFIG_RT_GROUP_SCHED", us);
	else if (groups == BUILT_NO)
		check_say(c, OK, where, NULL, NULL, "not in force, Linux 6.12 and newer need CONFIG_RT_GROUP_SCHED");
	else
		check_say(c, NOTE, where, why, cure,
			  "%lld us of each second with CONFIG_RT_GROUP_SCHED, which is unknown", us);
}

static void look_at_fair_server(struct check *c)
{
	struct check_file f;
	long long ns;

	if (!check_real_time(c))
		return check_say(c, OK, "sched_getscheduler", NULL, NULL, "this process is not real-time");
	if (!CHECK_READ(c, &f, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", check_first_cpu(&c->cpus)) ||
	    !check_number(c, &f, &ns))
		return;
	if (ns)
		check_say(c, NOTE, f.path, "waiting tasks get this much of each second on that CPU",
			  check_command(c, "echo 0 >%s", f.path), "%lld ms", ns / NS_PER_MS);
	else
		check_say(c, OK, f.path, NULL, NULL, "off");
}

/* ---- Interruptions ----------------------------------------------------------------------------------------------- */

static void look_at_watchdog(struct check *c)
{
	struct check_file nmi, soft, mask;
	cpu_set_t cpus;

	if (!CHECK_READ(c, &nmi, "/proc/sys/kernel/nmi_watchdog"))
		return;
	if (strcmp(nmi.text, "0"))
		return check_say(c, WARN, nmi.path, "NMIs cannot be masked and interrupt the loop",
				 "sysctl -w kernel.nmi_watchdog=0", "nmi_watchdog %.20s", nmi.text);
	if (!CHECK_READ(c, &soft, "/proc/sys/kernel/soft_watchdog") || !strcmp(soft.text, "0")) {
		if (!soft.error)
			check_say(c, OK, soft.path, NULL, NULL, "off");
		return;
	}
	if (check_read(&mask, "/proc/sys/kernel/watchdog_cpumask") && check_cpus_read(mask.text, &cpus) &&
	    !check_cpus_overlap(&cpus, &c->cpus))
		return check_say(c, OK, mask.path, NULL, NULL, "not on the CPUs of this process");
	check_say(c, NOTE, soft.path, "a timer and a thread of the highest priority run on each CPU every few seconds",
		  "sysctl -w kernel.watchdog=0", "nmi_watchdog off, soft_watchdog on");
}

static void look_at_preemption(struct check *c)
{
	const char *model = "not PREEMPT_RT";
	struct check_file f;

	if (check_kernel_is_rt())
		return check_say(c, OK, "/sys/kernel/realtime, /proc/version", NULL, NULL, "PREEMPT_RT");
	if (!CHECK_READ(c, &f, "/proc/version"))
		return;
	if (strstr(f.text, "PREEMPT_DYNAMIC"))
		model = "PREEMPT_DYNAMIC";
	else if (strstr(f.text, " PREEMPT "))
		model = "PREEMPT";
	check_say(c, NOTE, f.path, "kernel code without preemption delays tasks and interrupt threads",
		  "boot a kernel with PREEMPT_RT", "%s", model);
}

static void look_at_gap(struct check *c)
{
	int64_t start_ns = clock_read_ns(CLOCK_MONOTONIC), now_ns = start_ns, gap_ns = 0;
	char where[96], own[32];
	int cpu = sched_getcpu();

	while (now_ns - start_ns < NS_PER_S) {
		int64_t then_ns = now_ns;

		now_ns = clock_read_ns(CLOCK_MONOTONIC);
		if (now_ns - then_ns > gap_ns)
			gap_ns = now_ns - then_ns;
	}
	check_policy_text(c->policy, c->priority, own);
	snprintf(where, sizeof(where), CHECK_NOW ", by this process, %s on CPU %d", own, cpu);
	check_say(c, gap_ns > 100 * NS_PER_US ? WARN : gap_ns > 10 * NS_PER_US ? NOTE : OK, where,
		  gap_ns > 10 * NS_PER_US ? "a packet that arrives in such a gap waits this long" : NULL,
		  gap_ns > 10 * NS_PER_US ? "see 'isolated CPUs', 'scheduling'" : NULL,
		  "%lld.%03lld us without this CPU in one second of spinning", (long long)(gap_ns / NS_PER_US),
		  (long long)(gap_ns % NS_PER_US));
}

const struct check_row check_kernel_rows[] = { /* in the group "CPU" */
	{ NULL, "RT throttling", look_at_throttling, false },
	{ NULL, "fair server", look_at_fair_server, false },
	{ NULL, "watchdog", look_at_watchdog, false },
	{ NULL, "preemption", look_at_preemption, false },
	{ NULL, "largest gap", look_at_gap, true },
	{ NULL, NULL, NULL, false },
};
