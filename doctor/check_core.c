// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the CPU hardware: frequency, idle states, SMT siblings, NUMA node of the NIC. */
#include "doctor/inside.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- Speed ------------------------------------------------------------------------------------------------------- */

static void look_at_governor(struct check *c)
{
	struct check_file f;
	int cpus = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &c->cpus))
			continue;
		if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu))
			return;
		if (strcmp(f.text, "performance"))
			return check_say(c, WARN, f.path, "the frequency of the CPU changes with its load",
					 "cpupower frequency-set -g performance", "%.40s", f.text);
		cpus++;
	}
	if (cpus)
		check_say(c, OK, "cpufreq/scaling_governor", NULL, NULL, "performance");
	else
		check_not_known(c, "sched_getaffinity", c->cpus_error);
}

static void look_at_turbo(struct check *c)
{
	struct check_file f;
	bool on;
	const char *cure;

	if (check_read(&f, "/sys/devices/system/cpu/intel_pstate/no_turbo")) {
		on = !strcmp(f.text, "0");
		cure = check_command(c, "echo 1 >%s", f.path);
	} else {
		if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/cpufreq/boost"))
			return;
		on = strcmp(f.text, "0");
		cure = check_command(c, "echo 0 >%s", f.path);
	}
	if (on)
		check_say(c, NOTE, f.path, "the frequency depends on the load of the other cores", cure, "on");
	else
		check_say(c, OK, f.path, NULL, NULL, "off");
}

/* ---- Sleep ------------------------------------------------------------------------------------------------------- */

struct idle_state {
	char name[24];
	long long latency_us;
	int index; /* -1: no state */
};

/* The enabled state with the longest exit latency. */
static struct idle_state deepest_state(int cpu)
{
	struct idle_state deepest = { .index = -1 };
	struct check_file f, name;
	long long latency_us, disabled;

	for (int state = 0; state < 32; state++) {
		if (!check_read(&f, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency", cpu, state))
			break;
		if (!check_number_in(&f, &latency_us) || (deepest.index >= 0 && latency_us < deepest.latency_us))
			continue;
		if (check_read(&f, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu, state) &&
		    check_number_in(&f, &disabled) && disabled)
			continue;
		check_read(&name, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name", cpu, state);
		deepest.index = state;
		deepest.latency_us = latency_us;
		snprintf(deepest.name, sizeof(deepest.name), "%.23s", name.text);
	}
	return deepest;
}

#define LATENCY_DEVICE "/dev/cpu_dma_latency"

/* The CPU latency limit in force (PM QoS): a signed 32-bit number of microseconds. -1: cannot be read. */
static int latency_limit_us(void)
{
	char full[PATH_MAX];
	int32_t us = -1;
	int fd;

	check_full_path(full, LATENCY_DEVICE);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (read(fd, &us, sizeof(us)) != sizeof(us))
		us = -1;
	close(fd);
	return us;
}

static void look_at_idle(struct check *c)
{
	struct idle_state s = deepest_state(check_first_cpu(&c->cpus));
	struct check_file driver;
	int limit_us = latency_limit_us();
	char full[PATH_MAX], where[128];

	check_full_path(full, LATENCY_DEVICE);
	if (s.index < 0) {
		if (!CHECK_READ(c, &driver, "/sys/devices/system/cpu/cpuidle/current_driver"))
			return;
		return check_say(c, !strcmp(driver.text, "none") ? OK : NOTE, driver.path, NULL, NULL,
				 "no idle states, driver '%.20s'", driver.text);
	}
	snprintf(where, sizeof(where), "cpu%d/cpuidle/state%d, %s", check_first_cpu(&c->cpus), s.index, LATENCY_DEVICE);
	if (limit_us >= 0 && limit_us < s.latency_us)
		check_say(c, OK, where, NULL, NULL, "'%s' (%lld us exit latency) is not used, the limit is %d us",
			  s.name, s.latency_us, limit_us);
	else if (!c->options->no_cpu_dma_latency && access(full, W_OK) == 0)
		check_say(c, OK, where, NULL, NULL,
			  "deepest is '%s', %lld us exit latency; rant holds the limit at 0 during a run", s.name,
			  s.latency_us);
	else
		check_say(c, s.latency_us > 1 ? WARN : NOTE, where, "a sleeping CPU adds this latency when it wakes up",
			  c->options->no_cpu_dma_latency ? "leave out --no-cpu-dma-latency" :
							   "run as root: rant then holds the limit at 0",
			  "deepest is '%s', %lld us exit latency", s.name, s.latency_us);
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

static void look_at_smt(struct check *c)
{
	int cpu = check_first_cpu(&c->cpus);
	cpu_set_t siblings;
	struct check_file f;

	if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/smt/active"))
		return;
	if (!strcmp(f.text, "0"))
		return check_say(c, OK, f.path, NULL, NULL, "off");
	if (!check_pinned(c))
		return check_say(c, NOTE, f.path, "two CPUs share a core, and this process may run on either",
				 "see 'placement'", "on");
	if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		return;
	if (!check_cpus_read(f.text, &siblings))
		return check_not_known(c, f.path, EINVAL);
	CPU_CLR((size_t)cpu, &siblings);
	if (CPU_COUNT(&siblings))
		check_say(c, WARN, f.path, "tasks on the sibling slow the measuring loop down",
			  check_command(c, "echo 0 >/sys/devices/system/cpu/cpu%d/online", check_first_cpu(&siblings)),
			  "CPU %s shares the core of CPU %d", check_cpus_text(&siblings).text, cpu);
	else
		check_say(c, OK, f.path, NULL, NULL, "CPU %d does not share its core", cpu);
}

static void look_at_numa(struct check *c)
{
	cpu_set_t near;
	struct check_file f;
	long long node;

	if (!*c->device)
		return check_say(c, NOTE, "ETHTOOL_GDRVINFO", NULL, NULL,
				 "unknown, the driver reports no bus device");
	if (!CHECK_READ(c, &f, "%s/numa_node", c->device) || !check_number(c, &f, &node))
		return;
	if (node < 0)
		return check_say(c, OK, f.path, NULL, NULL, "the NIC belongs to no NUMA node");
	if (!CHECK_READ(c, &f, "/sys/devices/system/node/node%lld/cpulist", node))
		return;
	if (!check_cpus_read(f.text, &near))
		return check_not_known(c, f.path, EINVAL);
	if (check_cpus_within(&c->cpus, &near))
		check_say(c, OK, f.path, NULL, NULL, "NIC and process are on node %lld", node);
	else
		check_say(c, WARN, f.path, "every access to the NIC and its packets crosses nodes",
			  check_command(c, "taskset -c %d rant ...", check_first_cpu(&near)),
			  "the NIC is on node %lld, with CPU %s; this process may run on CPU %s", node,
			  check_cpus_text(&near).text, check_cpus_text(&c->cpus).text);
}

const struct check_row check_core_rows[] = { /* in the group "CPU" */
	{ NULL, "governor", look_at_governor, false },
	{ NULL, "turbo", look_at_turbo, false },
	{ NULL, "idle states", look_at_idle, false },
	{ NULL, "SMT", look_at_smt, false },
	{ NULL, "NUMA", look_at_numa, false },
	{ NULL, NULL, NULL, false },
};
