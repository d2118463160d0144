// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU and priority of the measuring thread. Both are read back after they were set. */
#include "host/process/affinity.h"

#include "options.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <unistd.h>

static int take_cpu(int64_t cpu)
{
	cpu_set_t cpus;
	int error;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus))
		return 0;
	error = errno;
	/* EINVAL: none of these CPUs is online and in the cpuset. */
	if (error == EINVAL)
		warnx("--cpu %" PRId64 ": there is no such CPU, or it is switched off, or not in the cpuset of rant: "
				       "see 'lscpu -e' and "
		      "Cpus_allowed_list in /proc/self/status", cpu);
	else
		warnx("--cpu %" PRId64 ": refused by the kernel (%s): leave it out", cpu, strerror(error));
	return -error;
}

static int take_priority(int64_t priority)
{
	const struct sched_param p = { .sched_priority = (int)priority };
	int error;

	if (!sched_setscheduler(0, SCHED_FIFO, &p))
		return 0;
	error = errno;
	warnx("--fifo %" PRId64 ": refused by the kernel (%s): use sudo, or give rant CAP_SYS_NICE or "
	      "'ulimit -r %" PRId64 "', or leave it out", priority, strerror(error), priority);
	return -error;
}

static void read_affinity(struct affinity *p)
{
	struct sched_param param = { .sched_priority = 0 };
	cpu_set_t cpus;

	*p = (struct affinity){ .policy = sched_getscheduler(0) };
	if (p->policy < 0 || sched_getparam(0, &param) || sched_getaffinity(0, sizeof(cpus), &cpus)) {
		p->error = -errno;
		return;
	}
	p->policy &= ~SCHED_RESET_ON_FORK;
	p->priority = param.sched_priority;
	p->cpus = CPU_COUNT(&cpus);
	while (p->cpu < CPU_SETSIZE - 1 && !CPU_ISSET((size_t)p->cpu, &cpus))
		p->cpu++;
}

int affinity_read(struct affinity *p, const struct options *o)
{
	int error = o->cpu >= 0 ? take_cpu(o->cpu) : 0;

	if (!error && o->fifo)
		error = take_priority(o->fifo);
	read_affinity(p);
	if (error || p->error)
		return error;
	if (o->cpu >= 0 && (p->cpus != 1 || p->cpu != o->cpu)) {
		warnx("--cpu %" PRId64 ": the kernel took it, and runs rant elsewhere: leave it out", o->cpu);
		return -EIO;
	}
	if (o->fifo && (p->policy != SCHED_FIFO || p->priority != o->fifo)) {
		warnx("--fifo %" PRId64 ": the kernel took it, and runs rant otherwise: leave it out", o->fifo);
		return -EIO;
	}
	return 0;
}

const char *affinity_policy(const struct affinity *p)
{
	static const char *const names[] = { [SCHED_OTHER] = "SCHED_OTHER", [SCHED_FIFO] = "SCHED_FIFO",
					     [SCHED_RR] = "SCHED_RR",
					     [SCHED_BATCH] = "SCHED_BATCH", [SCHED_IDLE] = "SCHED_IDLE" };
	const unsigned policy = (unsigned)p->policy;

	return policy < sizeof(names) / sizeof(names[0]) && names[policy] ? names[policy] : "another policy";
}

const char *affinity_text(const struct affinity *p, char text[AFFINITY_TEXT_BYTES])
{
	const char *name = affinity_policy(p);
	int used;

	if (p->error) {
		snprintf(text, AFFINITY_TEXT_BYTES, "not known");
		return text;
	}
	if (p->cpus == 1)
		used = snprintf(text, AFFINITY_TEXT_BYTES, "CPU %d, %s", p->cpu, name);
	else
		used = snprintf(text, AFFINITY_TEXT_BYTES, "any of %d CPUs, %s", p->cpus, name);
	if (p->priority)
		snprintf(text + used, AFFINITY_TEXT_BYTES - (size_t)used, " %d", p->priority);
	return text;
}
