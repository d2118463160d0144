// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sections of a stage. Milestones are events near the times of the packet; between two milestones the owners of one
 * CPU are summed, so the parts sum to the stage.
 */
#include "explain/walk.h"

#include <string.h>

/* A loop of rant that polls makes a system call more often than this. */
#define UNSEEN_NS 10000
#define SEARCH_EVENTS 65536
#define RECEIVE_NS 1000000 /* most time of a batch of GRO */

/* ---- The interval of a stage ------------------------------------------------------------------------------------- */

bool walk_place(const struct evidence *e, const struct stage_row *stage, const struct stamps *s, struct placed *i)
{
	int64_t bound_ns;

	if (!stage->from[e->role] ||
	    !evidence_place(e, s, stage->from[e->role], stage->from_kind, &i->from_ns, &i->bound_ns) ||
	    !evidence_place(e, s, stage->to[e->role], stage->to_kind, &i->to_ns, &bound_ns))
		return false;
	i->bound_ns = bound_ns > i->bound_ns ? bound_ns : i->bound_ns;
	return i->to_ns >= i->from_ns;
}

/* ---- Events near a time ------------------------------------------------------------------------------------------ */

/* A condition on events; -1 and NULL: any. */
struct wanted {
	enum event_kind kind;
	int cpu;
	int32_t number;
	const char *name;
};

static bool fits(const struct trace_text *t, const struct event *e, const struct wanted *w)
{
	return e->kind == w->kind && (w->cpu < 0 || e->cpu == w->cpu) && (w->number < 0 || e->number == w->number) &&
	       (!w->name || !*w->name || !strcmp(trace_text_name(t, e->name), w->name));
}

/* The first such event of [from_ns, to_ns]; NULL: none. */
static const struct event *find_first(const struct trace_text *t, struct wanted w, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = trace_text_first(t, from_ns); i < t->count && t->event[i].ns <= to_ns; i++)
		if (fits(t, &t->event[i], &w))
			return &t->event[i];
	return NULL;
}

/* The same in the other direction. */
static const struct event *find_last(const struct trace_text *t, struct wanted w, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = trace_text_first(t, to_ns + 1); i > 0 && t->event[i - 1].ns >= from_ns; i--)
		if (fits(t, &t->event[i - 1], &w))
			return &t->event[i - 1];
	return NULL;
}

/* The CPU on which the measuring thread was seen last before a time. */
static int thread_cpu(const struct evidence *e, int64_t ns)
{
	const struct trace_text *t = &e->text;
	const int32_t pid = t->breach.pid;
	size_t i = trace_text_first(t, ns + 1);

	for (size_t left = SEARCH_EVENTS; i > 0 && left; i--, left--) {
		const struct event *event = &t->event[i - 1];

		if (event->pid == pid || (event->kind == EVENT_SWITCH && event->number == pid))
			return event->cpu;
	}
	return e->cpu >= 0 ? e->cpu : t->breach.cpu;
}

/* ---- Sections of one packet -------------------------------------------------------------------------------------- */

/* The work on one packet. */
struct walk {
	const struct evidence *e;
	const struct owners *owners;
	const struct placed *i;
	int64_t at_ns; /* the end of the last section */
	bool polls; /* the program waits for the packet */
	struct section_time *section; /* all SECTIONS */
};

/* Ends a section, or a part of it, at a milestone, which may be off by the resolution of the text. */
static void end_section(struct walk *w, enum section section, int cpu, int64_t ns)
{
	struct section_time *s = &w->section[section];

	if (ns > w->i->to_ns)
		ns = w->i->to_ns;
	if (ns < w->at_ns)
		ns = w->at_ns;
	s->there = true;
	s->cpu = cpu;
	s->ns += ns - w->at_ns;
	owner_add_interval(&s->parts, w->owners, cpu, w->at_ns, ns);
	w->at_ns = ns;
}

/* Assigns the time of owners of a class to another class. */
static void rename_owners(struct section_time *s, enum owner_class from, enum owner_class to)
{
	for (int i = 0; i < s->parts.count; i++)
		if (s->parts.part[i].owner.class == from)
			s->parts.part[i].owner.class = (uint8_t)to;
}

/* Time that the measuring thread had of an interval without an event of its CPU; 0: another owner had some of it. */
static int64_t only_rant(const struct walk *w, int cpu, int64_t from_ns, int64_t to_ns)
{
	struct owner_parts p = { .count = 0 };
	int64_t ns = 0;

	owner_add_interval(&p, w->owners, cpu, from_ns, to_ns);
	for (int i = 0; i < p.count; i++) {
		if (p.part[i].owner.class == OWNER_RANT)
			ns = p.part[i].ns;
		else if (p.part[i].owner.class != OWNER_UNSEEN) /* the machine stood still */
			return 0;
	}
	return ns;
}

/* Longest time without an event of a CPU for which the measuring thread had it: OWNER_UNSEEN. */
static void split_unseen(const struct walk *w, enum section section, int64_t from_ns)
{
	const struct trace_text *t = &w->e->text;
	struct section_time *s = &w->section[section];
	int64_t last_ns = from_ns, unseen_ns = 0;

	for (size_t i = trace_text_first(t, from_ns); ; i++) {
		const bool ends = i == t->count || t->event[i].ns >= w->at_ns;
		const int64_t ns = ends ? w->at_ns : t->event[i].ns;

		if (!ends && t->event[i].cpu != s->cpu)
			continue;
		if (ns - last_ns >= UNSEEN_NS)
			unseen_ns += only_rant(w, s->cpu, last_ns, ns);
		last_ns = ns;
		if (ends)
			break;
	}
	for (int i = 0; i < s->parts.count && unseen_ns; i++) {
		struct owner_part *p = &s->parts.part[i];

		if (p->owner.class != OWNER_RANT || p->ns < unseen_ns)
			continue;
		p->ns -= unseen_ns;
		owner_add(&s->parts, &(struct owner){ .class = OWNER_UNSEEN, .number = !w->polls }, unseen_ns);
		break;
	}
}

static bool is_own_irq(const struct evidence *e, int32_t irq)
{
	for (int i = 0; i < e->irqs; i++)
		if (e->irq[i] == irq)
			return true;
	return false;
}

/* The interrupt of the NIC's own vector; NULL: its numbers are not known, or it did not fire. */
static const struct event *own_interrupt(const struct walk *w, int64_t to_ns)
{
	const struct trace_text *t = &w->e->text;

	for (size_t i = trace_text_first(t, w->i->from_ns - TRACE_TEXT_NS); i < t->count && t->event[i].ns <= to_ns; i++)
		if (t->event[i].kind == EVENT_IRQ_ENTRY && is_own_irq(w->e, t->event[i].number))
			return &t->event[i];
	return NULL;
}

/* The event of the packet itself: the last one before the kernel takes its receive time, with GRO up to a batch of packets
 * later (net/core/gro.c). NULL: it is not in the trace. cpu: -1: any. */
static const struct event *own_receive(const struct walk *w, int64_t stack_ns, int cpu)
{
	const struct trace_text *t = &w->e->text;
	const int64_t from_ns = stack_ns - RECEIVE_NS, to_ns = stack_ns + 3 * TRACE_TEXT_NS;
	const struct event *own = find_last(t, (struct wanted){ EVENT_RECEIVE, cpu, -1, w->e->interface }, from_ns, to_ns);

	/* The event may be of a lower interface. */
	return own || cpu < 0 ? own : find_last(t, (struct wanted){ EVENT_RECEIVE, cpu, -1, NULL }, from_ns, to_ns);
}

/* If no interrupt of the NIC is known, as of virtual NICs: the softirq NET_RX is raised by it. NULL: not in the trace. */
static const struct event *own_raise(const struct walk *w, const struct event *receive)
{
	if (w->e->irqs || !receive)
		return NULL;
	return find_first(&w->e->text, (struct wanted){ EVENT_SOFTIRQ_RAISE, receive->cpu, SOFTIRQ_NET_RX, NULL },
			  w->i->from_ns, receive->ns);
}

static void walk_interrupt(struct walk *w, const struct event *receive, int64_t stack_ns, int *cpu)
{
	const struct event *irq = own_interrupt(w, stack_ns), *raise = irq ? NULL : own_raise(w, receive);
	const struct event *end = irq ? irq : raise;
	struct section_time *s = &w->section[SECTION_INTERRUPT];

	if (!end)
		return;
	*cpu = end->cpu;
	end_section(w, SECTION_INTERRUPT, end->cpu, end->ns);
	s->irq = irq ? irq->number : -1;
	s->irq_name = end->name;
	/* While a thread runs, a pending interrupt is taken at once unless interrupts are off. */
	rename_owners(s, OWNER_THREAD, OWNER_HELD);
	rename_owners(s, OWNER_RANT, OWNER_HELD);
	rename_owners(s, OWNER_IDLE, OWNER_WAKE);
}

/* A section that ends in NET_RX: a thread had the CPU although the softirq was pending. */
static void name_wait(struct section_time *s, const struct trace_text *t, const struct event *rx)
{
	const bool deferred = rx && !strncmp(trace_text_name(t, rx->task), "ksoftirqd", 9);

	rename_owners(s, OWNER_THREAD, deferred ? OWNER_DEFERRED : OWNER_SOFTIRQS_OFF);
	rename_owners(s, OWNER_RANT, deferred ? OWNER_DEFERRED : OWNER_SOFTIRQS_OFF);
}

static void walk_net_rx(struct walk *w, int64_t stack_ns, int *cpu)
{
	const struct trace_text *t = &w->e->text;
	const struct event *rx = find_first(t, (struct wanted){ EVENT_SOFTIRQ_ENTRY, *cpu, SOFTIRQ_NET_RX, NULL },
					    w->at_ns - TRACE_TEXT_NS, stack_ns);

	if (!rx || !w->section[SECTION_INTERRUPT].there)
		return;
	end_section(w, SECTION_NET_RX, rx->cpu, rx->ns);
	name_wait(&w->section[SECTION_NET_RX], t, rx);
}

/* Until the packet is in the stack: there the kernel takes its receive time. Before the event of the packet itself the
 * softirq NET_RX worked for other packets. */
static void walk_stack(struct walk *w, int64_t stack_ns, int cpu)
{
	const struct trace_text *t = &w->e->text;
	const struct event *own = own_receive(w, stack_ns, cpu);
	struct section_time *s = &w->section[SECTION_STACK];

	for (size_t i = trace_text_first(t, w->at_ns); own && &t->event[i] < own; i++)
		s->packets += t->event[i].kind == EVENT_RECEIVE && t->event[i].cpu == cpu;
	if (own && s->packets)
		end_section(w, SECTION_STACK, cpu, own->ns);
	for (int i = 0; i < s->parts.count; i++)
		if (s->parts.part[i].owner.class == OWNER_SOFTIRQ && s->parts.part[i].owner.number == SOFTIRQ_NET_RX)
			s->parts.part[i].owner = (struct owner){ .class = OWNER_PACKETS };
	end_section(w, SECTION_STACK, cpu, stack_ns);
}

/* From the stack to the socket, to the thread, to the program. */
static void walk_thread(struct walk *w, int stack_cpu)
{
	const struct trace_text *t = &w->e->text;
	const int cpu = thread_cpu(w->e, w->i->to_ns);
	const struct event *ready, *runs;
	int64_t from_ns;

	ready = find_first(t, (struct wanted){ EVENT_DATA_READY, stack_cpu, IPPROTO_UDP, NULL },
			   w->at_ns - 2 * TRACE_TEXT_NS, w->i->to_ns);
	if (ready) {
		const struct wanted rx = { EVENT_SOFTIRQ_ENTRY, ready->cpu, SOFTIRQ_NET_RX, NULL };

		from_ns = w->at_ns;
		end_section(w, SECTION_SOCKET, ready->cpu, ready->ns);
		name_wait(&w->section[SECTION_SOCKET], t, find_last(t, rx, from_ns, ready->ns));
	}
	from_ns = w->at_ns;
	runs = find_last(t, (struct wanted){ EVENT_SWITCH, cpu, t->breach.pid, NULL }, from_ns,
			 w->i->to_ns + w->i->bound_ns);
	if (runs) {
		end_section(w, SECTION_THREAD, cpu, runs->ns);
		split_unseen(w, SECTION_THREAD, from_ns);
		from_ns = w->at_ns;
	}
	end_section(w, SECTION_APP, cpu, w->i->to_ns);
	split_unseen(w, SECTION_APP, from_ns);
}

static void walk_receive(struct walk *w, const struct stage_row *stage, const struct stamps *s)
{
	const struct event *receive;
	int64_t stack_ns, bound_ns;
	int cpu = -1;

	if (!evidence_place(w->e, s, stage->from[w->e->role], STAMP_KERNEL, &stack_ns, &bound_ns))
		stack_ns = w->i->to_ns;
	receive = own_receive(w, stack_ns, -1);
	if (stage->from_kind == STAMP_HW) {
		walk_interrupt(w, receive, stack_ns, &cpu);
		walk_net_rx(w, stack_ns, &cpu);
		if (cpu < 0 && receive)
			cpu = receive->cpu;
		if (stack_ns < w->i->to_ns || stage->to_kind == STAMP_KERNEL)
			walk_stack(w, stack_ns, cpu >= 0 ? cpu : thread_cpu(w->e, stack_ns));
	}
	if (stage->to_kind == STAMP_SW)
		walk_thread(w, receive ? receive->cpu : cpu);
}

/* A section of the way out, up to an event, else up to the time of the kernel; neither: its time is in the next one. */
static void walk_out(struct walk *w, enum section section, const struct event *event, int cpu, struct optional stamp_ns)
{
	const int64_t from_ns = w->at_ns;

	if (!event && !stamp_ns.known)
		return;
	end_section(w, section, event ? event->cpu : cpu, event ? event->ns : stamp_ns.value);
	split_unseen(w, section, from_ns);
}

/* Time of the kernel on the way out. Not known: absent, or not within the stage. */
static struct optional kernel_time(const struct walk *w, const struct stage_row *stage, const struct stamps *s,
				   enum stamp_kind kind)
{
	int64_t ns, bound_ns;

	if (!evidence_place(w->e, s, stage->from[w->e->role], kind, &ns, &bound_ns) || ns < w->at_ns || ns > w->i->to_ns)
		return (struct optional){ .known = false };
	return optional_of(ns);
}

/* The event at which the driver returns, which has the packet at w->at_ns. NULL: not in the trace. */
static const struct event *driver_end(const struct walk *w, int cpu)
{
	const struct trace_text *t = &w->e->text;
	const struct event *end = find_first(t, (struct wanted){ EVENT_XMIT_END, cpu, -1, w->e->interface }, w->at_ns,
					     INT64_MAX);

	/* Of the next packet. */
	if (end && find_first(t, (struct wanted){ EVENT_XMIT, cpu, -1, w->e->interface }, w->at_ns + 1, end->ns))
		return NULL;
	return end;
}

/* From the driver to the timestamp. While the driver passes the packet to the NIC, interrupts may hold it up, and on
 * PREEMPT_RT threads; all other time on its CPU is that of the NIC. A thread that has the CPU after the driver holds up
 * nothing. */
static void walk_wire(struct walk *w, int cpu)
{
	struct section_time *s = &w->section[SECTION_WIRE];
	const struct event *end = driver_end(w, cpu);
	const int64_t until_ns = end && end->ns < w->i->to_ns ? end->ns : w->i->to_ns;
	struct owner_parts on_cpu = { .count = 0 };

	*s = (struct section_time){ .there = true, .cpu = -1, .ns = w->i->to_ns - w->at_ns };
	owner_add_interval(&on_cpu, w->owners, cpu, w->at_ns, until_ns);
	owner_add(&s->parts, &(struct owner){ .class = OWNER_WIRE }, w->i->to_ns - until_ns);
	for (int i = 0; i < on_cpu.count; i++) {
		const struct owner_part *p = &on_cpu.part[i];
		const bool interrupts = p->owner.class >= OWNER_NMI && p->owner.class <= OWNER_SOFTIRQ;
		const bool holds_up = interrupts || (end && p->owner.class == OWNER_THREAD);

		owner_add(&s->parts, holds_up ? &p->owner : &(struct owner){ .class = OWNER_WIRE }, p->ns);
		if (holds_up)
			s->cpu = cpu;
	}
}

/* The kernel takes its time at the queueing discipline right before the event net_dev_queue, and the driver takes its
 * time after the event net_dev_start_xmit (net/core/dev.c). */
static void walk_transmit(struct walk *w, const struct stage_row *stage, const struct stamps *s)
{
	const struct trace_text *t = &w->e->text;
	const int cpu = thread_cpu(w->e, w->i->from_ns + TRACE_TEXT_NS);
	const char *interface = w->e->interface;
	const struct event *driver = NULL;
	struct optional driver_ns = { .known = false };

	if (stage->to_kind == STAMP_QUEUE) {
		walk_out(w, SECTION_QUEUE, NULL, cpu, optional_of(w->i->to_ns));
		return;
	}
	if (stage->from_kind == STAMP_DRIVER) {
		walk_wire(w, cpu);
		return;
	}
	walk_out(w, SECTION_QUEUE, find_first(t, (struct wanted){ EVENT_QUEUE, cpu, -1, interface },
					      w->at_ns - TRACE_TEXT_NS, w->i->to_ns),
		 cpu, stage->from_kind == STAMP_SW ? kernel_time(w, stage, s, STAMP_QUEUE) :
						     (struct optional){ .known = false });
	driver = find_first(t, (struct wanted){ EVENT_XMIT, -1, -1, interface }, w->at_ns - TRACE_TEXT_NS, w->i->to_ns);
	driver_ns = kernel_time(w, stage, s, STAMP_DRIVER);
	walk_out(w, SECTION_DRIVER, driver, cpu, driver_ns);
	if ((driver || driver_ns.known) && stage->to_kind == STAMP_HW)
		walk_wire(w, driver ? driver->cpu : cpu);
	else
		walk_out(w, SECTION_WIRE, NULL, cpu, optional_of(w->i->to_ns));
}

void walk_stage(const struct evidence *e, const struct owners *o, const struct stage_row *stage,
		const struct stamps *s, const struct placed *i, struct section_time section[SECTIONS])
{
	struct walk w = { .e = e, .owners = o, .i = i, .at_ns = i->from_ns,
			  .polls = stage->kind == STAGE_IS_RECEIVE, .section = section };

	memset(section, 0, SECTIONS * sizeof(*section));
	switch (stage->kind) {
	case STAGE_IS_RECEIVE:
		return walk_receive(&w, stage, s);
	case STAGE_IS_TRANSMIT:
		return walk_transmit(&w, stage, s);
	case STAGE_IS_APP:
		end_section(&w, SECTION_APP, thread_cpu(e, i->to_ns), i->to_ns);
		split_unseen(&w, SECTION_APP, i->from_ns);
	}
}
