// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor's checks of the machine: interrupts, CPUs, memory, tracing; files below /sys and /proc, and measuring. */
#include "doctor/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NOW "measured now"

/* ---- Interrupts -------------------------------------------------------------------------------------------------- */

#define IRQ_SOURCE "effective_affinity_list in /proc/irq"

static void tell_no_irqs(struct check *c)
{
	if (*c->device)
		check_say(c, NOTE, c->device, NULL, NULL, "cannot tell, no interrupt of it has a handler in /proc/irq");
	else
		check_say(c, NOTE, "ETHTOOL_GDRVINFO, /proc/irq", NULL, NULL,
			  "cannot tell, the driver names no device on a bus and no handler is named '%s'", c->nic.name);
}

static void look_at_irq_cpus(struct check *c)
{
	cpu_set_t irqs = check_irq_cpus(c);
	struct check_cpu_text on = check_cpus_text(&irqs), own = check_cpus_text(&c->cpus);

	if (!c->irqs)
		return tell_no_irqs(c);
	if (!CPU_COUNT(&irqs))
		return check_say(c, NOTE, IRQ_SOURCE, NULL, NULL, "cannot tell where the %d of the NIC go", c->irqs);
	if (c->cpus_error)
		return check_cannot_tell(c, "sched_getaffinity", c->cpus_error);
	if (check_cpus_overlap(&irqs, &c->cpus))
		check_say(c, check_pinned(c) ? WARN : NOTE, IRQ_SOURCE ", sched_getaffinity",
			  "an interrupt on the measuring CPU stops the loop",
			  check_command(c, "echo CPU >/proc/irq/%d/smp_affinity_list, and so on", c->irq[0].number),
			  "%d of the NIC (%d %s...) on CPU %s, this process on %s", c->irqs, c->irq[0].number,
			  c->irq[0].name, on.text, own.text);
	else
		check_say(c, OK, IRQ_SOURCE ", sched_getaffinity", NULL, NULL,
			  "%d of the NIC on CPU %s, this process on %s", c->irqs, on.text, own.text);
}

/* The thread with the least priority. */
static const struct check_irq *weakest_thread(const struct check *c)
{
	const struct check_irq *weakest = NULL;

	for (const struct check_irq *i = c->irq; i < c->irq + c->irqs; i++)
		if (i->thread && (!weakest || i->priority < weakest->priority))
			weakest = i;
	return weakest;
}

/* A thread on a CPU of this process that has no more priority; NULL: none. */
static const struct check_irq *starved_thread(const struct check *c)
{
	for (const struct check_irq *i = c->irq; i < c->irq + c->irqs; i++)
		if (check_real_time(c) && i->thread && c->priority >= i->priority && i->placed &&
		    check_cpus_overlap(&i->cpus, &c->cpus))
			return i;
	return NULL;
}

static void look_at_irq_priority(struct check *c)
{
	const struct check_irq *starved = starved_thread(c), *i = starved ? starved : weakest_thread(c);
	char thread[32], own[32];
	const char *where = "/proc/PID/stat";

	if (!c->irqs)
		return tell_no_irqs(c);
	if (c->processes_hidden)
		return check_cannot_tell(c, "/proc/1/comm", ENOENT);
	if (!i)
		return check_say(c, OK, "no thread irq/N-* in /proc", NULL, NULL,
				 "in interrupt context, above every process");
	check_policy_text(i->policy, i->priority, thread);
	check_policy_text(c->policy, c->priority, own);
	if (starved)
		check_say(c, WARN, where, "on one CPU the busy loop keeps the thread from delivering packet and stamp",
			  check_command(c, "chrt -f -p %d %d, or another CPU", c->priority < 98 ? c->priority + 1 : 99,
					i->thread),
			  "thread of interrupt %d has %s, this process %s", i->number, thread, own);
	else
		check_say(c, OK, where, NULL, NULL, "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
}

static void look_at_irqbalance(struct check *c)
{
	if (c->processes_hidden)
		check_cannot_tell(c, "/proc/1/comm", ENOENT);
	else if (c->irqbalance)
		check_say(c, WARN, "/proc/PID/comm", "it moves interrupts between CPUs during a run",
			  "systemctl stop irqbalance", "runs as %d", c->irqbalance);
	else
		check_say(c, OK, "/proc/PID/comm", NULL, NULL, "does not run");
}

/* ---- CPU: where this process runs -------------------------------------------------------------------------------- */

/* The last one, as the first takes what nobody has placed. */
static int proposed_cpu(const struct check *c)
{
	int cpu = 0;

	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, &c->cpus))
			cpu = i;
	return cpu;
}

static void look_at_placement(struct check *c)
{
	struct check_cpu_text own = check_cpus_text(&c->cpus);

	if (c->cpus_error)
		check_cannot_tell(c, "sched_getaffinity", c->cpus_error);
	else if (!check_pinned(c))
		check_say(c, WARN, "sched_getaffinity", "to be moved during a run costs caches and time",
			  check_command(c, "taskset -c %d rant ...", proposed_cpu(c)), "may run on CPU %s", own.text);
	else
		check_say(c, OK, "sched_getaffinity", NULL, NULL, "only on CPU %s", own.text);
}

static void look_at_scheduling(struct check *c)
{
	char own[32];
	bool unfit = check_needs_own_cpu(c);

	check_policy_text(c->policy, c->priority, own);
	if (check_real_time(c) || unfit)
		check_say(c, OK, "sched_getscheduler", NULL, NULL, "%s%s", own, unfit ? ", see 'driver'" : "");
	else
		check_say(c, NOTE, "sched_getscheduler", "other tasks of that CPU take turns with it",
			  "chrt -f 22 rant ..., below the priority of interrupt threads", "%s", own);
}

static void look_at_isolation(struct check *c)
{
	struct check_file boot, group;
	cpu_set_t isolated, more;
	bool told, told_group;

	told = check_read(&boot, "/sys/devices/system/cpu/isolated") && check_cpus_read(boot.text, &isolated);
	if (!told)
		CPU_ZERO(&isolated);
	/* Made at run time by a cpuset partition. */
	told_group = check_read(&group, "/sys/fs/cgroup/cpuset.cpus.isolated") && check_cpus_read(group.text, &more);
	if (told_group)
		CPU_OR(&isolated, &isolated, &more);
	if (!told && !told_group)
		return check_cannot_tell(c, boot.path, boot.error ? boot.error : EINVAL);
	if (c->cpus_error)
		return check_cannot_tell(c, "sched_getaffinity", c->cpus_error);
	struct check_cpu_text on = check_cpus_text(&isolated);
	const char *where = told_group ? "cpu/isolated, cpuset.cpus.isolated" : boot.path;
	int cpu = proposed_cpu(c);

	if (check_cpus_within(&c->cpus, &isolated))
		check_say(c, OK, where, NULL, NULL, "CPU %s, this process is on them", on.text);
	else
		check_say(c, WARN, where, "the scheduler puts other tasks on the measuring CPU",
			  check_command(c, "boot with isolcpus=managed_irq,domain,%d and taskset -c %d", cpu, cpu),
			  CPU_COUNT(&isolated) ? "CPU %s, this process is not kept to them" : "none%s", on.text);
}

static void look_at_nohz_full(struct check *c)
{
	struct check_file f;
	cpu_set_t cpus;

	if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/nohz_full"))
		return;
	if (!check_cpus_read(f.text, &cpus))
		return check_cannot_tell(c, f.path, EINVAL);
	if (check_cpus_overlap(&cpus, &c->cpus))
		check_say(c, NOTE, f.path,
			  "no tick there, but each system call costs more, and rant makes some for each packet",
			  "compare with a boot without nohz_full", "CPU %s", check_cpus_text(&cpus).text);
	else
		check_say(c, OK, f.path, NULL, NULL, "off for this process");
}

/* ---- CPU: speed and sleep ---------------------------------------------------------------------------------------- */

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
			return check_say(c, WARN, f.path, "the CPU slows down and speeds up with its load",
					 "cpupower frequency-set -g performance", "%.40s", f.text);
		cpus++;
	}
	if (cpus)
		check_say(c, OK, "cpufreq/scaling_governor", NULL, NULL, "performance");
	else
		check_cannot_tell(c, "sched_getaffinity", c->cpus_error);
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
		check_say(c, NOTE, f.path, "the frequency depends on what the other cores do", cure, "on");
	else
		check_say(c, OK, f.path, NULL, NULL, "off");
}

struct idle_state {
	char name[24];
	long long latency_us;
	int index; /* -1: none */
};

/* Of those that are not disabled. */
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

/* The limit that is in force now: a signed 32-bit number of microseconds. -1: cannot be read. */
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
				 "no states to be read, driver '%.20s'", driver.text);
	}
	snprintf(where, sizeof(where), "cpu%d/cpuidle/state%d, %s", check_first_cpu(&c->cpus), s.index, LATENCY_DEVICE);
	if (limit_us >= 0 && limit_us < s.latency_us)
		check_say(c, OK, where, NULL, NULL, "'%s' (%lld us to leave) is not entered, the limit is %d us",
			  s.name, s.latency_us, limit_us);
	else if (!c->options->no_cpu_dma_latency && access(full, W_OK) == 0)
		check_say(c, OK, where, NULL, NULL,
			  "deepest is '%s', %lld us to leave; rant holds the limit at 0 during a run", s.name,
			  s.latency_us);
	else
		check_say(c, s.latency_us > 1 ? WARN : NOTE, where, "a CPU that sleeps so wakes up that late",
			  c->options->no_cpu_dma_latency ? "leave out --no-cpu-dma-latency" :
							   "run as root, then rant holds the limit at 0",
			  "deepest is '%s', %lld us to leave", s.name, s.latency_us);
}

/* ---- CPU: neighbours --------------------------------------------------------------------------------------------- */

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
		return check_say(c, NOTE, f.path, "two CPUs share a core; which one depends on where this process runs",
				 "see 'placement'", "on");
	if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		return;
	if (!check_cpus_read(f.text, &siblings))
		return check_cannot_tell(c, f.path, EINVAL);
	CPU_CLR((size_t)cpu, &siblings);
	if (CPU_COUNT(&siblings))
		check_say(c, WARN, f.path, "what runs there slows the measuring loop down",
			  check_command(c, "echo 0 >/sys/devices/system/cpu/cpu%d/online", check_first_cpu(&siblings)),
			  "CPU %s shares the core of CPU %d", check_cpus_text(&siblings).text, cpu);
	else
		check_say(c, OK, f.path, NULL, NULL, "CPU %d has its core for itself", cpu);
}

static void look_at_numa(struct check *c)
{
	cpu_set_t near;
	struct check_file f;
	long long node;

	if (!*c->device)
		return check_say(c, NOTE, "ETHTOOL_GDRVINFO", NULL, NULL,
				 "cannot tell, the driver names no device on a bus");
	if (!CHECK_READ(c, &f, "%s/numa_node", c->device) || !check_number(c, &f, &node))
		return;
	if (node < 0)
		return check_say(c, OK, f.path, NULL, NULL, "the NIC belongs to no node");
	if (!CHECK_READ(c, &f, "/sys/devices/system/node/node%lld/cpulist", node))
		return;
	if (!check_cpus_read(f.text, &near))
		return check_cannot_tell(c, f.path, EINVAL);
	if (check_cpus_within(&c->cpus, &near))
		check_say(c, OK, f.path, NULL, NULL, "NIC and process are on node %lld", node);
	else
		check_say(c, WARN, f.path, "every access to the NIC and its packets goes through another node",
			  check_command(c, "taskset -c %d rant ...", check_first_cpu(&near)),
			  "the NIC is on node %lld, with CPU %s; this process may run on CPU %s", node,
			  check_cpus_text(&near).text, check_cpus_text(&c->cpus).text);
}

/* ---- CPU: the kernel --------------------------------------------------------------------------------------------- */

static bool is_at_least(const char *release, int major, int minor)
{
	int have_major = 0, have_minor = 0;

	return sscanf(release, "%d.%d", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

enum built { BUILT_UNKNOWN, BUILT_NO, BUILT_YES };

/* By the configuration that distributions install; *path says which. */
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
	const char *why = "beyond that, real-time tasks are stopped";
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
			  "%lld us of each second, if built with CONFIG_RT_GROUP_SCHED: cannot tell", us);
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
		check_say(c, NOTE, f.path, "so much of each second may go to other tasks, if any wait on that CPU",
			  check_command(c, "echo 0 >%s", f.path), "%lld ms", ns / NS_PER_MS);
	else
		check_say(c, OK, f.path, NULL, NULL, "off");
}

static void look_at_watchdog(struct check *c)
{
	struct check_file nmi, soft, mask;
	cpu_set_t cpus;

	if (!CHECK_READ(c, &nmi, "/proc/sys/kernel/nmi_watchdog"))
		return;
	if (strcmp(nmi.text, "0"))
		return check_say(c, WARN, nmi.path, "its interrupts cannot be held off, and stop the loop now and then",
				 "sysctl -w kernel.nmi_watchdog=0", "nmi_watchdog %.20s", nmi.text);
	if (!CHECK_READ(c, &soft, "/proc/sys/kernel/soft_watchdog") || !strcmp(soft.text, "0")) {
		if (!soft.error)
			check_say(c, OK, soft.path, NULL, NULL, "off");
		return;
	}
	if (check_read(&mask, "/proc/sys/kernel/watchdog_cpumask") && check_cpus_read(mask.text, &cpus) &&
	    !check_cpus_overlap(&cpus, &c->cpus))
		return check_say(c, OK, mask.path, NULL, NULL, "not on the CPUs of this process");
	check_say(c, NOTE, soft.path, "a timer and a thread of top priority on each CPU every few seconds",
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
	check_say(c, NOTE, f.path, "long stretches of the kernel keep a task waiting, or an interrupt's work",
		  "a kernel with PREEMPT_RT", "%s", model);
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
	snprintf(where, sizeof(where), NOW ", by this process, %s on CPU %d", own, cpu);
	check_say(c, gap_ns > 100 * NS_PER_US ? WARN : gap_ns > 10 * NS_PER_US ? NOTE : OK, where,
		  gap_ns > 10 * NS_PER_US ? "a packet that comes then waits so long" : NULL,
		  gap_ns > 10 * NS_PER_US ? "see 'isolated CPUs', 'scheduling'" : NULL,
		  "%lld.%03lld us without this CPU in one second of spinning", (long long)(gap_ns / NS_PER_US),
		  (long long)(gap_ns % NS_PER_US));
}

/* ---- Memory, tracing --------------------------------------------------------------------------------------------- */

static void look_at_thp(struct check *c)
{
	struct check_file f;

	if (!CHECK_READ(c, &f, "/sys/kernel/mm/transparent_hugepage/enabled"))
		return;
	if (strstr(f.text, "[always]"))
		check_say(c, NOTE, f.path,
			  "memory of any program may be remapped while it runs; rant's large arrays are exempt",
			  check_command(c, "echo madvise >%s", f.path), "always");
	else
		check_say(c, OK, f.path, NULL, NULL, "%.40s", f.text);
}

static void look_at_memlock(struct check *c)
{
	const char *where = "CapEff in /proc/self/status, getrlimit";
	unsigned long long capabilities;
	struct rlimit limit;
	struct check_file f;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return check_cannot_tell(c, "getrlimit RLIMIT_MEMLOCK", errno);
	if (!check_capabilities(&f, &capabilities))
		return check_cannot_tell(c, f.path, f.error);
	if ((capabilities & 1ULL << 14) || limit.rlim_cur == RLIM_INFINITY) /* CAP_IPC_LOCK */
		check_say(c, OK, where, NULL, NULL, "no limit for this process");
	else
		check_say(c, WARN, where, "memory that is not locked may fault in the loop",
			  "ulimit -l unlimited, or run as root", "%llu kB may be locked",
			  (unsigned long long)limit.rlim_cur / 1024);
}

#define TRACEFS "/sys/kernel/tracing"

static void look_at_tracefs(struct check *c)
{
	char full[PATH_MAX];
	struct check_file f;

	check_full_path(full, TRACEFS "/trace_marker");
	if (access(full, W_OK))
		return check_say(c, NOTE, TRACEFS "/trace_marker", "without it a spike cannot be marked in a trace",
				 errno == ENOENT ? "mount -t tracefs none " TRACEFS : "run as root",
				 "cannot be used: %s", strerror(errno));
	if (check_read(&f, TRACEFS "/current_tracer") && strcmp(f.text, "nop"))
		return check_say(c, NOTE, f.path, "tracing moves what is measured",
				 "echo nop >" TRACEFS "/current_tracer", "tracer '%.30s' is on", f.text);
	if (check_read(&f, TRACEFS "/set_event") && *f.text)
		return check_say(c, NOTE, f.path, "tracing moves what is measured", "echo >" TRACEFS "/set_event",
				 "events are on, the first is %.*s",
				 (int)strcspn(f.text, "\n") < 40 ? (int)strcspn(f.text, "\n") : 40, f.text);
	check_say(c, OK, TRACEFS, NULL, NULL,
		  "there, nothing is traced, %s snapshots", check_exists(TRACEFS "/snapshot") ? "with" : "without");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

const struct check_row check_host_rows[] = {
	{ "Interrupts", "NIC interrupts", look_at_irq_cpus, false },
	{ NULL, "interrupt priority", look_at_irq_priority, false },
	{ NULL, "irqbalance", look_at_irqbalance, false },
	{ "CPU", "placement", look_at_placement, false },
	{ NULL, "scheduling", look_at_scheduling, false },
	{ NULL, "isolated CPUs", look_at_isolation, false },
	{ NULL, "nohz_full", look_at_nohz_full, false },
	{ NULL, "governor", look_at_governor, false },
	{ NULL, "turbo", look_at_turbo, false },
	{ NULL, "idle states", look_at_idle, false },
	{ NULL, "SMT", look_at_smt, false },
	{ NULL, "NUMA", look_at_numa, false },
	{ NULL, "RT throttling", look_at_throttling, false },
	{ NULL, "fair server", look_at_fair_server, false },
	{ NULL, "watchdog", look_at_watchdog, false },
	{ NULL, "preemption", look_at_preemption, false },
	{ NULL, "largest gap", look_at_gap, true },
	{ "Memory", "huge pages", look_at_thp, false },
	{ NULL, "memory lock", look_at_memlock, false },
	{ "Tracing", "tracefs", look_at_tracefs, false },
	{ NULL, NULL, NULL, false },
};
