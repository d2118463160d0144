// SPDX-License-Identifier: GPL-2.0-or-later
/* The doctor's checks of the NIC's interrupts: where they go, the priority of their threads, who moves them. */
#include "doctor/cpus.h"
#include "doctor/facts.h"
#include "doctor/finding.h"
#include "doctor/rows.h"

#include <errno.h>

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

/* May it run on a CPU of this process? Where either is not known, it may. */
static bool may_meet(const struct check *c, const struct check_irq *i)
{
	return !i->placed || c->cpus_error || check_cpus_overlap(&i->cpus, &c->cpus);
}

/* The thread with the least priority. meets: of those that may run on a CPU of this process. */
static const struct check_irq *weakest_thread(const struct check *c, bool meets)
{
	const struct check_irq *weakest = NULL;

	for (const struct check_irq *i = c->irq; i < c->irq + c->irqs; i++)
		if (i->thread && (!meets || may_meet(c, i)) && (!weakest || i->priority < weakest->priority))
			weakest = i;
	return weakest;
}

/* Equal is not enough: the busy loop never gives way to its equals. */
static bool is_below(const struct check *c, const struct check_irq *i)
{
	return i && check_real_time(c) && i->priority <= c->priority;
}

/* rant below the thread, as far below as is usual; or the thread is raised first, where there is nothing below it. */
static const char *cure_of_priority(struct check *c, const struct check_irq *i)
{
	const int usual = 22;

	if (i->priority > 1)
		return check_command(c, "chrt -f %d rant ...", i->priority > usual ? usual : i->priority - 1);
	return check_command(c, "chrt -f -p 50 %d, and chrt -f %d rant ...", i->thread, usual);
}

static void look_at_irq_priority(struct check *c)
{
	const struct check_irq *met = weakest_thread(c, true), *i = weakest_thread(c, false);
	char thread[32], own[32];
	const char *where = "/proc/PID/stat";

	if (!c->irqs)
		return tell_no_irqs(c);
	if (c->processes_hidden)
		return check_cannot_tell(c, "/proc/1/comm", ENOENT);
	if (!i)
		return check_say(c, OK, "no thread irq/N-* in /proc", NULL, NULL,
				 "in interrupt context, above every process");
	if (is_below(c, met))
		i = met;
	check_policy_text(i->policy, i->priority, thread);
	check_policy_text(c->policy, c->priority, own);
	if (is_below(c, met))
		check_say(c, WARN, where, "on one CPU the busy loop keeps the thread from delivering packet and stamp",
			  cure_of_priority(c, i), "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
	else if (is_below(c, i))
		check_say(c, NOTE, where, "only their CPUs keep them apart: on one CPU nothing would be delivered",
			  cure_of_priority(c, i), "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
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

const struct check_row check_interrupts_rows[] = {
	{ "Interrupts", "NIC interrupts", look_at_irq_cpus, false },
	{ NULL, "interrupt priority", look_at_irq_priority, false },
	{ NULL, "irqbalance", look_at_irqbalance, false },
	{ NULL, NULL, NULL, false },
};
