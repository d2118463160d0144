// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The owner of each nanosecond of a CPU.
 *
 * Entry and exit events push and pop contexts. The letter of the context in each line of the trace (h, H, s) closes a
 * context whose exit is missing; it never opens one, since the end of such a context would be a guess. If a line names
 * another task than the last switch, a switch is missing, and the time since the previous event is OWNER_LOST. If all
 * CPUs fall silent at once, the machine stood still: OWNER_UNSEEN.
 */
#include "explain/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_OF_EVENT 3 /* a lost context, an NMI, the owner from then on */
#define SPANS_OF_CPU 128 /* of standstills, beside those of its events */
#define STILL_NS NS_PER_MS /* the machine may have stood still from this time without an event on */
#define TASKS 256 /* tasks whose work function and softirq are kept while they do not run */

enum level { LEVEL_THREAD, LEVEL_SOFTIRQ, LEVEL_IRQ, LEVELS };

/* The contexts of one CPU while the events are read. */
struct state {
	bool known; /* an event of this CPU was read */
	bool open[LEVELS];
	bool flagged[LEVELS]; /* its entry had the letter of this context; older PREEMPT_RT has no letter for softirqs */
	struct owner owner[LEVELS];
	int64_t last_ns; /* last event */
};

struct finder {
	const struct trace_text *text;
	struct owners *owners;
	int32_t own_pid;
	bool complete; /* the buffer holds all events since tracing began, at: */
	int64_t begin_ns;
	bool seen[TRACE_TEXT_CPUS_MAX]; /* an event of this CPU was read */
	int stills; /* standstills; SPANS_OF_CPU / 2 at most */
	struct state cpu[TRACE_TEXT_CPUS_MAX];
	struct task {
		int32_t pid;
		uint32_t function; /* of its work item; 0: none */
		bool in_softirq; /* PREEMPT_RT: it was preempted within a softirq */
		bool flagged; /* as that of the softirq */
		struct owner softirq;
	} task[TASKS];
};

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

bool owner_is_same(const struct owner *a, const struct owner *b, bool details)
{
	return a->class == b->class && a->name == b->name && a->number == b->number &&
	       (!details || a->detail == b->detail);
}

/* For each event at most SPANS_OF_EVENT times. */
static void add_span(struct timeline *t, int64_t from_ns, const struct owner *owner)
{
	if (t->count && t->span[t->count - 1].from_ns == from_ns)
		t->span[t->count - 1].owner = *owner; /* the previous owner had no time */
	else if (!t->count || !owner_is_same(&t->span[t->count - 1].owner, owner, true))
		t->span[t->count++] = (struct span){ from_ns, *owner };
}

/* Divides one piece of memory among the CPUs. 0 or -ENOMEM. */
static int open_spans(struct owners *o, const struct trace_text *t)
{
	size_t events[TRACE_TEXT_CPUS_MAX] = { 0 };
	struct span *next = calloc(t->count * SPANS_OF_EVENT + TRACE_TEXT_CPUS_MAX * SPANS_OF_CPU, sizeof(*next));

	o->spans = next;
	if (!next)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++)
		events[t->event[i].cpu]++;
	for (size_t cpu = 0; cpu < TRACE_TEXT_CPUS_MAX; cpu++) {
		o->cpu[cpu].span = next;
		next += SPANS_OF_EVENT * events[cpu] + SPANS_OF_CPU;
	}
	return 0;
}

/* ---- Contexts ---------------------------------------------------------------------------------------------------- */

static struct task *task_of(struct finder *f, int32_t pid)
{
	struct task *task = &f->task[(uint32_t)pid % TASKS];

	if (task->pid != pid)
		*task = (struct task){ .pid = pid };
	return task;
}

static void set_thread(struct finder *f, struct state *s, int32_t pid, uint32_t name, int16_t prio)
{
	struct owner *o = &s->owner[LEVEL_THREAD];

	*o = (struct owner){ .name = name, .number = pid, .prio = prio };
	o->class = pid == 0 ? OWNER_IDLE : pid == f->own_pid ? OWNER_RANT : OWNER_THREAD;
	if (pid == 0)
		*o = (struct owner){ .class = OWNER_IDLE, .number = OWNER_IDLE_UNKNOWN };
	else
		o->detail = task_of(f, pid)->function;
	s->open[LEVEL_THREAD] = true;
}

static struct owner *top(struct state *s)
{
	for (int level = LEVEL_IRQ; level > LEVEL_THREAD; level--)
		if (s->open[level])
			return &s->owner[level];
	return &s->owner[LEVEL_THREAD];
}

static void enter(struct state *s, enum level level, enum owner_class class, const struct event *e)
{
	s->owner[level] = (struct owner){ .class = (uint8_t)class, .name = e->name, .number = e->number };
	s->open[level] = true;
	s->flagged[level] = e->context && strchr(level == LEVEL_IRQ ? "hHzZ" : "sHzZ", e->context);
}

static void switch_task(struct finder *f, struct state *s, const struct event *e)
{
	struct task *from = task_of(f, e->pid), *to;

	from->in_softirq = e->pid && s->open[LEVEL_SOFTIRQ];
	from->flagged = s->flagged[LEVEL_SOFTIRQ];
	from->softirq = s->owner[LEVEL_SOFTIRQ];
	set_thread(f, s, e->number, e->name, e->prio);
	to = task_of(f, e->number);
	s->open[LEVEL_IRQ] = false;
	s->open[LEVEL_SOFTIRQ] = to->in_softirq;
	s->owner[LEVEL_SOFTIRQ] = to->softirq;
	s->flagged[LEVEL_SOFTIRQ] = to->flagged;
	to->in_softirq = false;
}

/* Closes contexts that have ended without an exit event, and takes the task from the line. */
static void correct(struct finder *f, struct timeline *t, struct state *s, const struct event *e)
{
	const struct owner *thread = &s->owner[LEVEL_THREAD];
	const int32_t pid = thread->class == OWNER_IDLE ? 0 : thread->number;

	if (e->context) {
		s->open[LEVEL_IRQ] &= !s->flagged[LEVEL_IRQ] || strchr("hHzZ", e->context);
		s->open[LEVEL_SOFTIRQ] &= !s->flagged[LEVEL_SOFTIRQ] || strchr("sHzZ", e->context);
	}
	if (s->known && pid != e->pid)
		add_span(t, s->last_ns, &(struct owner){ .class = OWNER_LOST });
	if (!s->known || pid != e->pid)
		set_thread(f, s, e->pid, e->task, 0);
	s->known = true;
}

static void apply(struct finder *f, struct state *s, const struct event *e)
{
	switch (e->kind) {
	case EVENT_IRQ_ENTRY:
		return enter(s, LEVEL_IRQ, OWNER_IRQ, e);
	case EVENT_VECTOR_ENTRY:
		return enter(s, LEVEL_IRQ, OWNER_VECTOR, e);
	case EVENT_IRQ_EXIT:
	case EVENT_VECTOR_EXIT:
		s->open[LEVEL_IRQ] = false;
		return;
	case EVENT_SOFTIRQ_ENTRY:
		return enter(s, LEVEL_SOFTIRQ, OWNER_SOFTIRQ, e);
	case EVENT_SOFTIRQ_EXIT:
		s->open[LEVEL_SOFTIRQ] = false;
		return;
	case EVENT_HRTIMER_ENTRY:
	case EVENT_TIMER_ENTRY:
		if (s->open[LEVEL_IRQ] || s->open[LEVEL_SOFTIRQ])
			top(s)->detail = e->name;
		return;
	case EVENT_HRTIMER_EXIT:
	case EVENT_TIMER_EXIT:
		if (s->open[LEVEL_IRQ] || s->open[LEVEL_SOFTIRQ])
			top(s)->detail = 0;
		return;
	case EVENT_WORK_START:
		s->owner[LEVEL_THREAD].detail = task_of(f, e->pid)->function = e->name;
		return;
	case EVENT_WORK_END:
		s->owner[LEVEL_THREAD].detail = task_of(f, e->pid)->function = 0;
		return;
	case EVENT_SWITCH:
		return switch_task(f, s, e);
	case EVENT_IDLE:
		if (s->owner[LEVEL_THREAD].class == OWNER_IDLE)
			s->owner[LEVEL_THREAD].number = e->number;
		return;
	default:
		return;
	}
}

/* An NMI is known when its handler has ended. It had the CPU since then, but not before the previous event. */
static void add_nmi(struct timeline *t, const struct state *s, const struct event *e)
{
	const int64_t began_ns = e->ns - e->number > s->last_ns ? e->ns - e->number : s->last_ns;

	if (began_ns < e->ns)
		add_span(t, began_ns, &(struct owner){ .class = OWNER_NMI, .name = e->name });
}

/* If the buffer holds all events since tracing began, a CPU without an event at its beginning was in the state in which
 * its first event found it. Only a plain thread is sure; an interrupt with the letter h did not interrupt a softirq. */
static void extend_to_begin(struct finder *f, struct timeline *t, struct state *s, const struct event *e)
{
	const struct owner *thread = &s->owner[LEVEL_THREAD];
	const bool interrupts = e->kind == EVENT_IRQ_ENTRY || e->kind == EVENT_VECTOR_ENTRY;

	if (!f->complete || f->seen[e->cpu] || e->context != (interrupts ? 'h' : '.') ||
	    (thread->class != OWNER_THREAD && thread->class != OWNER_RANT))
		return;
	add_span(t, f->begin_ns, thread);
	s->last_ns = f->begin_ns; /* an NMI that began before that, too, has the time since then */
}

/* ---- Standstill of the machine ----------------------------------------------------------------------------------- */

/* The timer tick of the scheduler: a CPU that is not idle has it in equal intervals, unless nohz_full stops it. */
static bool is_tick(const struct finder *f, const struct event *e)
{
	const char *function = e->kind == EVENT_HRTIMER_ENTRY ? trace_text_name(f->text, e->name) : "";

	return !strcmp(function, "tick_nohz_handler") || !strcmp(function, "tick_sched_timer");
}

/* Before event i no CPU had an event for still_ns. In the same time before that, as far as the buffer has it, the ticks of
 * this CPU came at least four times as often, and it was not idle: its interrupts stopped. Not so while the kernel stops
 * all CPUs itself (kernel/stop_machine.c). */
static bool was_stopped(const struct finder *f, size_t i, int cpu, int64_t still_ns)
{
	const struct event *const event = f->text->event;
	const struct owner *thread = &f->cpu[cpu].owner[LEVEL_THREAD];
	const int64_t last_ns = event[i - 1].ns;
	const int64_t from_ns = last_ns - still_ns > event[0].ns ? last_ns - still_ns : event[0].ns;
	int64_t next_ns = last_ns, pause_ns = 0;

	if (!f->cpu[cpu].known || thread->class == OWNER_IDLE ||
	    !strncmp(trace_text_name(f->text, thread->name), "migration/", strlen("migration/")))
		return false;
	while (i-- > 0 && event[i].ns >= from_ns) {
		if (event[i].cpu != cpu || !is_tick(f, &event[i]))
			continue;
		pause_ns = next_ns - event[i].ns > pause_ns ? next_ns - event[i].ns : pause_ns;
		next_ns = event[i].ns;
	}
	pause_ns = next_ns - from_ns > pause_ns ? next_ns - from_ns : pause_ns;
	return pause_ns <= still_ns / 4 && pause_ns <= (last_ns - from_ns) / 3;
}

/* An SMI or a hypervisor stops all CPUs at once. One CPU alone may as well have had its interrupts off. */
static void look_for_standstill(struct finder *f, size_t i)
{
	const struct event *e = &f->text->event[i];
	const int64_t last_ns = i ? e[-1].ns : e->ns, still_ns = e->ns - last_ns;
	int stopped = 0;

	if (still_ns < STILL_NS || e->kind == EVENT_LOST || f->stills == SPANS_OF_CPU / 2)
		return;
	for (int cpu = 0; cpu < TRACE_TEXT_CPUS_MAX; cpu++)
		stopped += was_stopped(f, i, cpu, still_ns);
	if (stopped < 2)
		return;
	f->stills++;
	for (int cpu = 0; cpu < TRACE_TEXT_CPUS_MAX; cpu++) {
		if (!f->cpu[cpu].known)
			continue;
		add_span(&f->owners->cpu[cpu], last_ns, &(struct owner){ .class = OWNER_UNSEEN });
		add_span(&f->owners->cpu[cpu], e->ns, top(&f->cpu[cpu]));
		f->cpu[cpu].last_ns = e->ns; /* no time before that is that of an NMI or of lost events */
	}
}

static void add_event(struct finder *f, const struct event *e)
{
	struct state *s = &f->cpu[e->cpu];
	struct timeline *t = &f->owners->cpu[e->cpu];

	if (e->kind == EVENT_LOST) {
		f->seen[e->cpu] = true;
		if (s->known)
			add_span(t, s->last_ns, &(struct owner){ .class = OWNER_LOST });
		*s = (struct state){ .last_ns = e->ns };
		return;
	}
	correct(f, t, s, e);
	extend_to_begin(f, t, s, e);
	f->seen[e->cpu] = true;
	if (e->kind == EVENT_NMI)
		add_nmi(t, s, e);
	apply(f, s, e);
	s->last_ns = e->ns;
	add_span(t, e->ns, top(s));
}

int owners_find(struct owners *o, const struct trace_text *t, int32_t own_pid)
{
	struct finder *f = calloc(1, sizeof(*f));

	*o = (struct owners){ 0 };
	if (!f || !t->count || open_spans(o, t)) {
		const int error = f && !t->count ? 0 : -ENOMEM;

		free(f);
		return error;
	}
	f->text = t;
	f->owners = o;
	f->own_pid = own_pid;
	f->begin_ns = t->event[0].ns;
	f->complete = t->lost_known && !t->lost_before && !t->dropped;
	for (size_t i = 0; i < t->count; i++) {
		look_for_standstill(f, i);
		add_event(f, &t->event[i]);
	}
	/* Tracing stopped on all CPUs at the same time, after the last event. */
	for (size_t cpu = 0; cpu < TRACE_TEXT_CPUS_MAX; cpu++)
		o->cpu[cpu].end_ns = t->event[t->count - 1].ns;
	free(f);
	return 0;
}

void owners_free(struct owners *o)
{
	free(o->spans);
	*o = (struct owners){ 0 };
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

void owner_add(struct owner_parts *p, const struct owner *owner, int64_t ns)
{
	int i = 0;

	if (!ns)
		return;
	while (i < p->count && !owner_is_same(&p->part[i].owner, owner, true))
		i++;
	if (i == OWNER_PARTS_MAX - 1 && i == p->count) {
		p->part[p->count++] = (struct owner_part){ { .class = OWNER_OTHERS }, ns };
		return;
	}
	if (i == OWNER_PARTS_MAX)
		i--; /* the element of OWNER_OTHERS */
	if (i == p->count)
		p->part[p->count++] = (struct owner_part){ *owner, 0 };
	p->part[i].ns += ns;
}

/* Index of the last span that begins at or before `ns`; -1: none. */
static ptrdiff_t span_at(const struct timeline *t, int64_t ns)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->span[middle].from_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low - 1;
}

void owner_add_interval(struct owner_parts *p, const struct owners *o, int cpu, int64_t from_ns, int64_t to_ns)
{
	static const struct owner absent = { .class = OWNER_ABSENT };
	static const struct timeline nothing;
	const struct timeline *t = cpu >= 0 && cpu < TRACE_TEXT_CPUS_MAX ? &o->cpu[cpu] : &nothing;
	const int64_t last_ns = !t->count ? from_ns : t->end_ns < to_ns ? t->end_ns : to_ns;
	ptrdiff_t i = span_at(t, from_ns);

	for (int64_t at_ns = from_ns; at_ns < to_ns;) {
		const int64_t next_ns = i + 1 < (ptrdiff_t)t->count ? t->span[i + 1].from_ns : INT64_MAX;
		const bool known = i >= 0 && at_ns < last_ns;
		int64_t until_ns = known || i < 0 ? next_ns : to_ns;

		if (known && until_ns > last_ns)
			until_ns = last_ns;
		if (until_ns > to_ns)
			until_ns = to_ns;
		owner_add(p, known ? &t->span[i].owner : &absent, until_ns - at_ns);
		at_ns = until_ns;
		while (i + 1 < (ptrdiff_t)t->count && t->span[i + 1].from_ns <= at_ns)
			i++;
	}
}
