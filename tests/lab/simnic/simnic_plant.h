/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work that takes the CPU of the reflector from a packet: a planter, whose truth is what it measured itself. simnic.c
 * alone includes it.
 *
 * A kind that is written to plant_at_once runs at once, without a packet (number 0, and all kinds but the last three).
 *
 * With plant_every the hits of the sequence numbers are planted in turn with the kinds of plant_kinds. The sender of the
 * packet waits until the planted work has the CPU plant_cpu, then the packet is stamped and delivered: it meets the work
 * for certain. PLANT_PACKETS puts other packets before it instead, whose driver takes the time; PLANT_SEND interrupts
 * the reply in its driver, and PLANT_READ interrupts the reflector 0 to plant_spread_ns after its program has read the
 * packet: in the program or on its send path. The sequence number selects the delay.
 *
 * /proc/simnic_plants has a line for each of the last PLANTS: sequence number, kind, CLOCK_MONOTONIC_RAW when the work
 * began and ended, the part of that time in which its loop did not get the CPU for more than PLANT_GAP_NS, and the time
 * at which the packet was stamped (0: it was not planted before the wait was over).
 */
#ifndef SIMNIC_PLANT_H
#define SIMNIC_PLANT_H

#include "simnic.h"

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <uapi/linux/sched/types.h>

#define PLANT_GAP_NS 10000
#define PLANT_WAIT_NS (40 * NSEC_PER_MSEC) /* until the work has the CPU */
#define PLANTS 1024
#define OTHERS_MAX 48U /* below the budget of a poll */

enum plant_kind {
	PLANT_NONE, PLANT_IRQ, PLANT_TIMER, PLANT_TASKLET, PLANT_WORK, PLANT_IRQS_OFF, PLANT_PREEMPT_OFF, PLANT_FIFO,
	PLANT_PACKETS, PLANT_SEND, PLANT_READ, PLANT_KINDS
};

static const char *const plant_names[PLANT_KINDS] = { "none", "irq", "timer", "tasklet", "work", "irqs_off",
						       "preempt_off", "fifo", "packets", "send", "read" };

static uint plant_kinds[PLANT_KINDS];
static uint plant_kinds_set;
module_param_array(plant_kinds, uint, &plant_kinds_set, 0644);
MODULE_PARM_DESC(plant_kinds, "in turn, by enum plant_kind");
PARAM(uint, plant_every, 0, "");
PARAM(uint, plant_ns, 4000000, "how long the work takes");
PARAM(uint, plant_packets, 40, "of PLANT_PACKETS, at most 48");
PARAM(uint, plant_spread_ns, 40000, "of PLANT_READ: about as long as a program takes for its answer");
static uint plant_cpu = 1;
module_param(plant_cpu, uint, 0444);
MODULE_PARM_DESC(plant_cpu, "CPU that is taken");

static struct plant {
	u32 seq;
	enum plant_kind kind;
	s64 begun, ended, gaps, stamped;
} plants[PLANTS];
static unsigned int plants_made; /* only the transmit paths of one emitter and one reflector make them */
static struct plant *plant_now; /* NULL: none runs */

/* Returns the end. */
static s64 plant_spin(struct plant *p, s64 from, s64 until)
{
	s64 last = from, now = from;

	while (now < until) {
		now = ktime_get_raw_ns();
		if (now - last > PLANT_GAP_NS)
			p->gaps += now - last;
		last = now;
	}
	return now;
}

/* ---- Kinds of work ----------------------------------------------------------------------------------------------- */

/* Each on plant_cpu. */
static void plant_work_now(void)
{
	struct plant *p = smp_load_acquire(&plant_now);
	s64 begun;

	if (!p || p->begun)
		return;
	begun = ktime_get_raw_ns();
	smp_store_release(&p->begun, begun);
	smp_store_release(&p->ended, plant_spin(p, begun, begun + READ_ONCE(plant_ns)));
}

static enum hrtimer_restart plant_hrtimer_function(struct hrtimer *timer)
{
	plant_work_now();
	return HRTIMER_NORESTART;
}

static void plant_timer_function(struct timer_list *timer)
{
	plant_work_now();
}

static void plant_tasklet_function(struct tasklet_struct *tasklet)
{
	plant_work_now();
}

static void plant_work_function(struct work_struct *work)
{
	plant_work_now();
}

static struct hrtimer plant_hrtimer;
static DEFINE_TIMER(plant_timer, plant_timer_function);
static DECLARE_TASKLET(plant_tasklet, plant_tasklet_function);
static DECLARE_WORK(plant_work, plant_work_function);
static struct task_struct *plant_threads[PLANT_KINDS];

static int plant_thread(void *kind)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
		switch ((long)kind) {
		case PLANT_IRQS_OFF:
			local_irq_disable();
			plant_work_now();
			local_irq_enable();
			break;
		case PLANT_PREEMPT_OFF:
			preempt_disable();
			plant_work_now();
			preempt_enable();
			break;
		default:
			plant_work_now();
		}
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/* Of the CPU itself: what another one cannot start. */
static void plant_start(void *unused)
{
	struct plant *p = smp_load_acquire(&plant_now);
	u32 after_ns = 0;

	if (p && p->kind == PLANT_TASKLET) {
		tasklet_schedule(&plant_tasklet);
	} else if (p) {
		if (p->kind == PLANT_READ)
			after_ns = p->seq * 2654435761U % max(READ_ONCE(plant_spread_ns), 1U); /* uniform: multiplicative hash */
		hrtimer_start(&plant_hrtimer, after_ns, HRTIMER_MODE_REL_PINNED_HARD);
	}
}

static call_single_data_t plant_call = CSD_INIT(plant_start, NULL);

static void plant_request(const struct plant *p)
{
	switch (p->kind) {
	case PLANT_IRQ:
	case PLANT_READ:
	case PLANT_TASKLET:
		smp_call_function_single_async(plant_cpu, &plant_call);
		break;
	case PLANT_TIMER:
		plant_timer.expires = jiffies;
		add_timer_on(&plant_timer, plant_cpu);
		break;
	case PLANT_WORK:
		queue_work_on(plant_cpu, system_highpri_wq, &plant_work);
		break;
	case PLANT_SEND:
		plant_start(NULL);
		break;
	default:
		if (plant_threads[p->kind])
			wake_up_process(plant_threads[p->kind]);
	}
}

static struct plant *plant_open(enum plant_kind kind, u32 seq)
{
	struct plant *p = &plants[plants_made++ % PLANTS];

	*p = (struct plant){ .seq = seq, .kind = kind };
	return p;
}

static int plant_at_once(const char *text, const struct kernel_param *param)
{
	struct plant *p = plant_now;
	uint kind;
	int error = kstrtouint(text, 0, &kind);

	if (error)
		return error;
	if (kind == PLANT_NONE || kind >= PLANT_PACKETS || !plant_threads[PLANT_FIFO])
		return -EINVAL;
	if (p && !smp_load_acquire(&p->ended))
		return -EBUSY;
	p = plant_open(kind, 0);
	smp_store_release(&plant_now, p);
	plant_request(p);
	return 0;
}

static const struct kernel_param_ops plant_at_once_ops = { .set = plant_at_once };
module_param_cb(plant_at_once, &plant_at_once_ops, NULL, 0200);
MODULE_PARM_DESC(plant_at_once, "kind, by enum plant_kind");

/* ---- The packet -------------------------------------------------------------------------------------------------- */

/* The kind of a packet: PLANT_NONE if it is not hit. Of a reply only PLANT_SEND, of a probe only the others. */
static enum plant_kind plant_of(bool probe, u32 seq)
{
	const unsigned int every = READ_ONCE(plant_every), kinds = READ_ONCE(plant_kinds_set);
	enum plant_kind kind;

	if (!every || !kinds || seq % every != every - 1)
		return PLANT_NONE;
	kind = READ_ONCE(plant_kinds[seq / every % kinds]) % PLANT_KINDS;
	return (kind == PLANT_SEND) != probe ? kind : PLANT_NONE;
}

/* True: the work is planted at the delivery of the packet. */
static bool plant_follows(enum plant_kind kind)
{
	return kind == PLANT_PACKETS || kind == PLANT_READ;
}

/* Before the packet is stamped. Returns when the work has the CPU, for PLANT_SEND when it has ended. */
static struct plant *plant_before(bool probe, u32 seq)
{
	const enum plant_kind kind = plant_of(probe, seq);
	struct plant *p = plant_now;
	s64 until, *passed;

	if (kind == PLANT_NONE || (p && !smp_load_acquire(&p->ended)))
		return NULL;
	p = plant_open(kind, seq);
	if (plant_follows(kind))
		return p;
	smp_store_release(&plant_now, p);
	plant_request(p);
	until = ktime_get_raw_ns() + PLANT_WAIT_NS;
	passed = kind == PLANT_SEND ? &p->ended : &p->begun;
	while (!smp_load_acquire(passed) && ktime_get_raw_ns() < until)
		cpu_relax();
	return p;
}

/* The packet is stamped now. */
static void plant_stamped(struct plant *p)
{
	if (p && (plant_follows(p->kind) || p->begun))
		p->stamped = ktime_get_raw_ns();
}

/* For PLANT_READ, after the delivery. `clone` shares the data of the packet until the program has read the packet. */
static void plant_when_read(struct plant *p, struct sk_buff *clone)
{
	const s64 until = ktime_get_raw_ns() + PLANT_WAIT_NS;

	while (skb_cloned(clone) && ktime_get_raw_ns() < until)
		cpu_relax();
	kfree_skb(clone);
	smp_store_release(&plant_now, p);
	plant_request(p);
}

/* In the poll: one of the packets before it, and the packet itself. */
static void plant_other(void)
{
	struct plant *p = smp_load_acquire(&plant_now);
	const unsigned int others = min(READ_ONCE(plant_packets), OTHERS_MAX);
	s64 now;

	if (!p || p->kind != PLANT_PACKETS || !others)
		return;
	now = ktime_get_raw_ns();
	if (!p->begun)
		p->begun = now;
	plant_spin(p, now, now + READ_ONCE(plant_ns) / others);
}

static void plant_others_end(void)
{
	struct plant *p = smp_load_acquire(&plant_now);

	if (p && p->kind == PLANT_PACKETS && p->begun && !p->ended)
		smp_store_release(&p->ended, ktime_get_raw_ns());
}

/* ---- Load and unload --------------------------------------------------------------------------------------------- */

static int plant_show(struct seq_file *file, void *unused)
{
	const unsigned int made = READ_ONCE(plants_made);

	for (unsigned int i = made > PLANTS ? made - PLANTS : 0; i < made; i++) {
		const struct plant *p = &plants[i % PLANTS];

		seq_printf(file, "%u %s %lld %lld %lld %lld\n", p->seq, plant_names[p->kind], p->begun, p->ended,
			   p->gaps, p->stamped);
	}
	return 0;
}

static void plant_close(void)
{
	remove_proc_entry("simnic_plants", NULL);
	for (int i = 0; i < PLANT_KINDS; i++)
		if (!IS_ERR_OR_NULL(plant_threads[i]))
			kthread_stop(plant_threads[i]);
	hrtimer_cancel(&plant_hrtimer);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	timer_delete_sync(&plant_timer);
#else
	del_timer_sync(&plant_timer);
#endif
	tasklet_kill(&plant_tasklet);
	cancel_work_sync(&plant_work);
}

static int plant_open_threads(void)
{
	for (long kind = PLANT_IRQS_OFF; kind <= PLANT_FIFO; kind++) {
		struct task_struct *t = kthread_create(plant_thread, (void *)kind, "plant-%s", plant_names[kind]);

		plant_threads[kind] = t;
		if (IS_ERR(t))
			return PTR_ERR(t);
		kthread_bind(t, plant_cpu);
		sched_set_fifo(t);
		wake_up_process(t); /* it waits then */
	}
	return 0;
}

static int plant_init(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&plant_hrtimer, plant_hrtimer_function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(&plant_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	plant_hrtimer.function = plant_hrtimer_function;
#endif
	if (plant_cpu >= nr_cpu_ids || !cpu_online(plant_cpu))
		return 0; /* a guest with one CPU has no use for it */
	if (!proc_create_single("simnic_plants", 0444, NULL, plant_show))
		return -ENOMEM;
	return plant_open_threads();
}

#endif
