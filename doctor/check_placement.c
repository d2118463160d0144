// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of CPU affinity and scheduling policy of this process, and of the isolation of its CPUs. */
#include "doctor/inside.h"

#include <errno.h>

/* The last allowed CPU: tasks and interrupts without an affinity run mostly on the first CPUs. */
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
		check_not_known(c, "sched_getaffinity", c->cpus_error);
	else if (!check_pinned(c))
		check_say(c, WARN, "sched_getaffinity", "a migration during a run costs cache contents and time",
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
		check_say(c, NOTE, "sched_getscheduler", "other tasks on that CPU get a share of its time",
			  "rant --fifo 22, below the priority of interrupt threads", "%s", own);
}

static void look_at_isolation(struct check *c)
{
	struct check_file boot, group;
	cpu_set_t isolated, more;
	bool reported, reported_group;

	reported = check_read(&boot, "/sys/devices/system/cpu/isolated") && check_cpus_read(boot.text, &isolated);
	if (!reported)
		CPU_ZERO(&isolated);
	/* A cpuset partition isolates CPUs at run time. */
	reported_group = check_read(&group, "/sys/fs/cgroup/cpuset.cpus.isolated") &&
		check_cpus_read(group.text, &more);
	if (reported_group)
		CPU_OR(&isolated, &isolated, &more);
	if (!reported && !reported_group)
		return check_not_known(c, boot.path, boot.error ? boot.error : EINVAL);
	if (c->cpus_error)
		return check_not_known(c, "sched_getaffinity", c->cpus_error);
	struct check_cpu_text on = check_cpus_text(&isolated);
	const char *where = reported_group ? "cpu/isolated, cpuset.cpus.isolated" : boot.path;
	int cpu = proposed_cpu(c);

	if (check_cpus_within(&c->cpus, &isolated))
		check_say(c, OK, where, NULL, NULL, "CPU %s, this process runs on them", on.text);
	else
		check_say(c, WARN, where, "the scheduler places other tasks on the measuring CPU",
			  check_command(c, "boot with isolcpus=managed_irq,domain,%d and taskset -c %d", cpu, cpu),
			  CPU_COUNT(&isolated) ? "CPU %s, this process may run on others" : "none%s", on.text);
}

static void look_at_nohz_full(struct check *c)
{
	struct check_file f;
	cpu_set_t cpus;

	if (!CHECK_READ(c, &f, "/sys/devices/system/cpu/nohz_full"))
		return;
	if (!check_cpus_read(f.text, &cpus))
		return check_not_known(c, f.path, EINVAL);
	if (check_cpus_overlap(&cpus, &c->cpus))
		check_say(c, NOTE, f.path,
			  "no tick on these CPUs, but each system call costs more, and rant makes several for each packet",
			  "compare with a boot without nohz_full", "CPU %s", check_cpus_text(&cpus).text);
	else
		check_say(c, OK, f.path, NULL, NULL, "off for this process");
}

const struct check_row check_placement_rows[] = {
	{ "CPU", "placement", look_at_placement, false },
	{ NULL, "scheduling", look_at_scheduling, false },
	{ NULL, "isolated CPUs", look_at_isolation, false },
	{ NULL, "nohz_full", look_at_nohz_full, false },
	{ NULL, NULL, NULL, false },
};
