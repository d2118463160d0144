// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of the interrupts of the NIC: their CPUs, the priority of their threads, irqbalance. */
#include "doctor/inside.h"

#include <errno.h>

#define IRQ_SOURCE "effective_affinity_list in /proc/irq"

static void print_no_irqs(struct check *c)
{
	if (*c->device)
		check_say(c, NOTE, c->device, NULL, NULL, "unknown, none of its interrupts has a handler in /proc/irq");
	else
		check_say(c, NOTE, "ETHTOOL_GDRVINFO, /proc/irq", NULL, NULL,
			  "unknown, the driver reports no bus device and no handler is named '%s'",
			  c->nic.name);
}

static void look_at_irq_cpus(struct check *c)
{
	cpu_set_t irqs = check_irq_cpus(c);
	struct check_cpu_text on = check_cpus_text(&irqs), own = check_cpus_text(&c->cpus);

	if (!c->irqs)
		return print_no_irqs(c);
	if (!CPU_COUNT(&irqs))
		return check_say(c, NOTE, IRQ_SOURCE, NULL, NULL,
				 "unknown on which CPUs the interrupts of the NIC run (%d)",
				 c->irqs);
	if (c->cpus_error)
		return check_not_known(c, "sched_getaffinity", c->cpus_error);
	if (check_cpus_overlap(&irqs, &c->cpus))
		check_say(c, check_pinned(c) ? WARN : NOTE, IRQ_SOURCE ", sched_getaffinity",
			  "an interrupt on the measuring CPU stops the loop",
			  check_command(c, "echo CPU >/proc/irq/%d/smp_affinity_list, for each interrupt",
					c->irq[0].number),
			  "%d of the NIC (%d %s...) on CPU %s, this process on %s", c->irqs, c->irq[0].number,
			  c->irq[0].name, on.text, own.text);
	else
		check_say(c, OK, IRQ_SOURCE ", sched_getaffinity", NULL, NULL,
			  "%d of the NIC on CPU %s, this process on %s", c->irqs, on.text, own.text);
}

/* True if the thread of the interrupt may run on a CPU of this process, or if one of the two is unknown. */
static bool may_meet(const struct check *c, const struct check_irq *i)
{
	return !i->placed || c->cpus_error || check_cpus_overlap(&i->cpus, &c->cpus);
}

/* The thread with the lowest priority; with `meets` only threads that may run on a CPU of this process. */
static const struct check_irq *weakest_thread(const struct check *c, bool meets)
{
	const struct check_irq *weakest = NULL;

	for (const struct check_irq *i = c->irq; i < c->irq + c->irqs; i++)
		if (i->thread && (!meets || may_meet(c, i)) && (!weakest || i->priority < weakest->priority))
			weakest = i;
	return weakest;
}

/* An equal priority is too low: SCHED_FIFO does not preempt the busy loop for a thread of the same priority. */
static bool is_below(const struct check *c, const struct check_irq *i)
{
	return i && check_real_time(c) && i->priority <= c->priority;
}

/* Lowers rant below the thread, to the usual priority if possible; or raises a thread of priority 1 first. */
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
		return print_no_irqs(c);
	if (c->processes_hidden)
		return check_not_known(c, "/proc/1/comm", ENOENT);
	if (!i)
		return check_say(c, OK, "no thread irq/N-* in /proc", NULL, NULL,
				 "in interrupt context, above every process");
	if (is_below(c, met))
		i = met;
	check_policy_text(i->policy, i->priority, thread);
	check_policy_text(c->policy, c->priority, own);
	if (is_below(c, met))
		check_say(c, WARN, where,
			  "on the same CPU the busy loop prevents the thread from delivering packets and timestamps",
			  cure_of_priority(c, i), "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
	else if (is_below(c, i))
		check_say(c, NOTE, where,
			  "they are on different CPUs now: on the same CPU no packet would be delivered",
			  cure_of_priority(c, i), "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
	else
		check_say(c, OK, where, NULL, NULL, "thread of interrupt %d has %s, this process %s", i->number, thread,
			  own);
}

static void look_at_irqbalance(struct check *c)
{
	if (c->processes_hidden)
		check_not_known(c, "/proc/1/comm", ENOENT);
	else if (c->irqbalance)
		check_say(c, WARN, "/proc/PID/comm", "irqbalance moves interrupts between CPUs during a run",
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
