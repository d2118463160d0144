// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cause of a breach.
 *
 * Milestones are events near the times of the packet. Between two milestones the owners of one CPU are summed, so the
 * parts sum to the stage. The typical times are means over the ordinary packets whose stage is in the central half of all
 * of them: means of parts sum to the mean of the stage, as medians would not, and the central half has no late packet.
 */
#include "explain/cause.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN_NS 10000 /* the loop of rant makes a system call, and so packet events, at least this often */
#define SEARCH_EVENTS 65536
#define PACKETS_LEAST 8 /* for typical times */
#define PLACED_MAX_NS (20 * NS_PER_US) /* of an ordinary packet, whose parts are far smaller */

static const struct stage_row stages[] = {
	{ "nic_to_app", "NIC-to-app", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_HW, STAMP_SW },
	{ "nic_to_kernel", "NIC-to-kernel", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_HW, STAMP_KERNEL },
	{ "kernel_to_app", "Kernel-to-app", STAGE_IS_RECEIVE, { 4, 2 }, { 4, 2 }, STAMP_KERNEL, STAMP_SW },
	{ "app_processing", "App processing", STAGE_IS_APP, { 0, 2 }, { 0, 3 }, STAMP_SW, STAMP_SW },
	{ "app_to_nic", "App-to-NIC", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_SW, STAMP_HW },
	{ "app_to_kernel", "App-to-kernel", STAGE_IS_TRANSMIT, { 1, 3 }, { 1, 3 }, STAMP_SW, STAMP_KERNEL },
};

#define STAGE_ROWS (sizeof(stages) / sizeof(stages[0]))

/* ---- The interval of a stage ------------------------------------------------------------------------------------- */

struct interval {
	int64_t from_ns, to_ns, bound_ns; /* by the trace clock */
};

static bool place_stage(const struct evidence *e, const struct stage_row *stage, const struct stamps *s,
			struct interval *i)
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

/* Index of the first event at or after a time. */
static size_t first_at(const struct trace_text *t, int64_t ns)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->event[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

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
	for (size_t i = first_at(t, from_ns); i < t->count && t->event[i].ns <= to_ns; i++)
		if (fits(t, &t->event[i], &w))
			return &t->event[i];
	return NULL;
}

/* The last such event of [from_ns, to_ns]; NULL: none. */
static const struct event *find_last(const struct trace_text *t, struct wanted w, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = first_at(t, to_ns + 1); i > 0 && t->event[i - 1].ns >= from_ns; i--)
		if (fits(t, &t->event[i - 1], &w))
			return &t->event[i - 1];
	return NULL;
}

/* The CPU on which the measuring thread was seen last before a time. */
static int thread_cpu(const struct evidence *e, int64_t ns)
{
	const struct trace_text *t = &e->text;
	const int32_t pid = t->breach.pid;
	size_t i = first_at(t, ns + 1);

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
	const struct interval *i;
	int64_t at_ns; /* the end of the last section */
	struct section_time *section; /* all SECTIONS */
};

/* Ends a section at a milestone, which may be off by the resolution of the text. */
static void end_section(struct walk *w, enum section section, int cpu, int64_t ns)
{
	struct section_time *s = &w->section[section];

	if (ns > w->i->to_ns)
		ns = w->i->to_ns;
	if (ns < w->at_ns)
		ns = w->at_ns;
	s->there = true;
	s->cpu = cpu;
	s->ns = ns - w->at_ns;
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

/* Longest time without an event of a CPU for which the measuring thread had it: OWNER_UNSEEN. */
static void split_unseen(const struct walk *w, enum section section, int64_t from_ns)
{
	const struct trace_text *t = &w->e->text;
	struct section_time *s = &w->section[section];
	int64_t last_ns = from_ns, unseen_ns = 0;

	for (size_t i = first_at(t, from_ns); ; i++) {
		const bool ends = i == t->count || t->event[i].ns >= w->at_ns;
		const int64_t ns = ends ? w->at_ns : t->event[i].ns;
		struct owner_parts p = { .count = 0 };

		if (!ends && t->event[i].cpu != s->cpu)
			continue;
		if (ns - last_ns >= UNSEEN_NS) {
			owner_add_interval(&p, w->owners, s->cpu, last_ns, ns);
			if (p.count == 1 && p.part[0].owner.class == OWNER_RANT)
				unseen_ns += ns - last_ns;
		}
		last_ns = ns;
		if (ends)
			break;
	}
	for (int i = 0; i < s->parts.count && unseen_ns; i++) {
		struct owner_part *p = &s->parts.part[i];

		if (p->owner.class != OWNER_RANT || p->ns < unseen_ns)
			continue;
		p->ns -= unseen_ns;
		owner_add(&s->parts, &(struct owner){ .class = OWNER_UNSEEN }, unseen_ns);
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

	for (size_t i = first_at(t, w->i->from_ns - TRACE_TEXT_NS); i < t->count && t->event[i].ns <= to_ns; i++)
		if (t->event[i].kind == EVENT_IRQ_ENTRY && is_own_irq(w->e, t->event[i].number))
			return &t->event[i];
	return NULL;
}

static void walk_interrupt(struct walk *w, int64_t stack_ns, int *cpu)
{
	const struct event *irq = own_interrupt(w, stack_ns);
	struct section_time *s = &w->section[SECTION_INTERRUPT];

	if (!irq)
		return;
	*cpu = irq->cpu;
	end_section(w, SECTION_INTERRUPT, irq->cpu, irq->ns);
	s->irq = irq->number;
	s->irq_name = irq->name;
	/* While a thread runs, a pending interrupt is taken at once unless interrupts are off. */
	rename_owners(s, OWNER_THREAD, OWNER_HELD);
	rename_owners(s, OWNER_RANT, OWNER_HELD);
	rename_owners(s, OWNER_IDLE, OWNER_WAKE);
}

static void walk_net_rx(struct walk *w, int64_t stack_ns, int *cpu)
{
	const struct trace_text *t = &w->e->text;
	const struct event *rx = find_first(t, (struct wanted){ EVENT_SOFTIRQ_ENTRY, *cpu, SOFTIRQ_NET_RX, NULL },
					    w->at_ns - TRACE_TEXT_NS, stack_ns);

	if (!rx || !w->section[SECTION_INTERRUPT].there)
		return;
	end_section(w, SECTION_NET_RX, rx->cpu, rx->ns);
	if (!strncmp(trace_text_name(t, rx->task), "ksoftirqd", 9))
		rename_owners(&w->section[SECTION_NET_RX], OWNER_THREAD, OWNER_DEFERRED);
}

/* Until the packet is in the stack: there the kernel takes its receive time. */
static void walk_stack(struct walk *w, int64_t stack_ns, int cpu)
{
	const struct trace_text *t = &w->e->text;
	const int64_t from_ns = w->at_ns;
	struct section_time *s = &w->section[SECTION_STACK];

	end_section(w, SECTION_STACK, cpu, stack_ns);
	for (size_t i = first_at(t, from_ns); i < t->count && t->event[i].ns < stack_ns - TRACE_TEXT_NS; i++)
		s->packets += t->event[i].kind == EVENT_RECEIVE && t->event[i].cpu == cpu;
	if (!s->packets)
		return;
	for (int i = 0; i < s->parts.count; i++)
		if (s->parts.part[i].owner.class == OWNER_SOFTIRQ && s->parts.part[i].owner.number == SOFTIRQ_NET_RX)
			s->parts.part[i].owner = (struct owner){ .class = OWNER_PACKETS };
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
	if (ready)
		end_section(w, SECTION_SOCKET, ready->cpu, ready->ns);
	from_ns = w->at_ns;
	runs = find_last(t, (struct wanted){ EVENT_SWITCH, cpu, t->breach.pid, NULL }, from_ns, w->i->to_ns);
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
	const struct trace_text *t = &w->e->text;
	const struct event *receive;
	int64_t stack_ns, bound_ns;
	int cpu = -1;

	if (!evidence_place(w->e, s, stage->from[w->e->role], STAMP_KERNEL, &stack_ns, &bound_ns))
		stack_ns = w->i->to_ns;
	receive = find_first(t, (struct wanted){ EVENT_RECEIVE, -1, -1, w->e->interface }, stack_ns - 3 * TRACE_TEXT_NS,
			     stack_ns + 3 * TRACE_TEXT_NS);
	if (stage->from_kind == STAMP_HW) {
		walk_interrupt(w, stack_ns, &cpu);
		walk_net_rx(w, stack_ns, &cpu);
		if (cpu < 0 && receive)
			cpu = receive->cpu;
		if (stack_ns < w->i->to_ns || stage->to_kind == STAMP_KERNEL)
			walk_stack(w, stack_ns, cpu >= 0 ? cpu : thread_cpu(w->e, stack_ns));
	}
	if (stage->to_kind == STAMP_SW)
		walk_thread(w, receive ? receive->cpu : cpu);
}

static void walk_transmit(struct walk *w, const struct stage_row *stage)
{
	const struct trace_text *t = &w->e->text;
	const int cpu = thread_cpu(w->e, w->i->from_ns + TRACE_TEXT_NS);
	const char *interface = w->e->interface;
	const struct event *queue, *driver;
	int64_t from_ns = w->at_ns;

	queue = find_first(t, (struct wanted){ EVENT_QUEUE, cpu, -1, interface }, w->at_ns - TRACE_TEXT_NS, w->i->to_ns);
	if (queue) {
		end_section(w, SECTION_QUEUE, cpu, queue->ns);
		split_unseen(w, SECTION_QUEUE, from_ns);
		from_ns = w->at_ns;
	}
	driver = find_first(t, (struct wanted){ EVENT_XMIT, -1, -1, interface }, w->at_ns - TRACE_TEXT_NS, w->i->to_ns);
	if (driver) {
		end_section(w, SECTION_DRIVER, driver->cpu, driver->ns);
		split_unseen(w, SECTION_DRIVER, from_ns);
		from_ns = w->at_ns;
	}
	if (driver && stage->to_kind == STAMP_HW) {
		struct section_time *s = &w->section[SECTION_WIRE];

		*s = (struct section_time){ .there = true, .cpu = -1, .ns = w->i->to_ns - w->at_ns };
		owner_add(&s->parts, &(struct owner){ .class = OWNER_WIRE }, s->ns);
		return;
	}
	end_section(w, SECTION_WIRE, cpu, w->i->to_ns);
	split_unseen(w, SECTION_WIRE, from_ns);
}

/* The sections of a stage of one packet sum to the interval. */
static void walk_stage(const struct evidence *e, const struct owners *o, const struct stage_row *stage,
		       const struct stamps *s, const struct interval *i, struct section_time section[SECTIONS])
{
	struct walk w = { .e = e, .owners = o, .i = i, .at_ns = i->from_ns, .section = section };

	memset(section, 0, SECTIONS * sizeof(*section));
	switch (stage->kind) {
	case STAGE_IS_RECEIVE:
		return walk_receive(&w, stage, s);
	case STAGE_IS_TRANSMIT:
		return walk_transmit(&w, stage);
	case STAGE_IS_APP:
		end_section(&w, SECTION_APP, thread_cpu(e, i->to_ns), i->to_ns);
		split_unseen(&w, SECTION_APP, i->from_ns);
	}
}

/* ---- Owners of the whole stage ----------------------------------------------------------------------------------- */

/* Sums of one or of many packets. */
struct totals {
	int64_t ns, section_ns[SECTIONS];
	struct owner_parts parts;
};

static void add_totals(struct totals *t, const struct section_time section[SECTIONS])
{
	for (int k = 0; k < SECTIONS; k++) {
		t->section_ns[k] += section[k].ns;
		t->ns += section[k].ns;
		for (int i = 0; i < section[k].parts.count; i++)
			owner_add(&t->parts, &section[k].parts.part[i].owner, section[k].parts.part[i].ns);
	}
}

static bool is_thread(const struct owner *o)
{
	return o->class == OWNER_THREAD || o->class == OWNER_HELD || o->class == OWNER_DEFERRED;
}

/* The element of an owner; threads of the same name share one. NULL: the list is full. */
static struct owner_excess *rank_of(struct cause *c, const struct owner *o)
{
	struct owner_excess *r = c->rank;

	while (r < c->rank + c->ranks && (r->owner.class != o->class || r->owner.name != o->name ||
					  (!is_thread(o) && r->owner.number != o->number)))
		r++;
	if (r < c->rank + c->ranks)
		return r;
	if (c->ranks == CAUSE_RANKS)
		return NULL;
	c->ranks++;
	*r = (struct owner_excess){ .owner = *o };
	r->owner.detail = 0;
	return r;
}

static int by_excess(const void *a, const void *b)
{
	const struct owner_excess *x = a, *y = b;
	const int64_t dx = x->ns - x->typical_ns, dy = y->ns - y->typical_ns;

	return (dx < dy) - (dx > dy);
}

/* True if no part before part i is of the same task. */
static bool is_first(const struct owner_parts *p, int i)
{
	for (int k = 0; k < i; k++)
		if (owner_is_same(&p->part[k].owner, &p->part[i].owner, false))
			return false;
	return true;
}

static void rank_owners(struct cause *c, const struct totals *late, const struct totals *usual)
{
	for (int i = 0; i < late->parts.count; i++) {
		const struct owner_part *p = &late->parts.part[i];
		struct owner_excess *r = rank_of(c, &p->owner);

		if (!r)
			continue;
		r->ns += p->ns;
		r->tasks += is_first(&late->parts, i);
		if (p->owner.detail && p->ns > r->detail_ns) {
			r->owner.detail = p->owner.detail;
			r->detail_ns = p->ns;
		}
	}
	for (int i = 0; i < usual->parts.count && c->packets; i++) {
		struct owner_excess *r = rank_of(c, &usual->parts.part[i].owner);

		if (r)
			r->typical_ns += usual->parts.part[i].ns / (int64_t)c->packets;
	}
	qsort(c->rank, (size_t)c->ranks, sizeof(*c->rank), by_excess);
}

static int64_t excess_of(const struct owner_excess *r)
{
	return r->ns - r->typical_ns;
}

/* An owner with at least half of the excess is the cause, else the two largest together. */
static void name_cause(struct cause *c)
{
	const int64_t excess_ns = c->ns - c->typical_ns;

	if (excess_ns <= 0 || !c->ranks)
		return;
	for (int i = 0; i < c->ranks; i++)
		c->spread += excess_of(&c->rank[i]) > 0;
	if (2 * excess_of(&c->rank[0]) >= excess_ns)
		c->named = 1;
	else if (c->ranks > 1 && 2 * (excess_of(&c->rank[0]) + excess_of(&c->rank[1])) >= excess_ns)
		c->named = 2;
}

/* ---- Ordinary packets -------------------------------------------------------------------------------------------- */

static bool is_complete(const struct section_time section[SECTIONS])
{
	for (int k = 0; k < SECTIONS; k++)
		for (int i = 0; i < section[k].parts.count; i++)
			if (section[k].parts.part[i].owner.class <= OWNER_LOST)
				return false;
	return true;
}

/* Intervals of the ordinary packets that the buffer holds; returns their number. */
static size_t place_ordinary(const struct evidence *e, const struct stage_row *stage, struct interval *interval,
			     size_t *index)
{
	const int64_t begin_ns = e->text.count ? e->text.event[0].ns : INT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < e->packets; i++)
		if (place_stage(e, stage, &e->packet[i], &interval[n]) && interval[n].from_ns >= begin_ns &&
		    interval[n].to_ns <= e->text.breach.ns && interval[n].bound_ns <= PLACED_MAX_NS)
			index[n++] = i;
	return n;
}

static void quartiles(const struct interval *interval, size_t n, int64_t *low_ns, int64_t *high_ns)
{
	int64_t length[EVIDENCE_PACKETS_MAX + 1];

	for (size_t i = 0; i < n; i++)
		length[i] = interval[i].to_ns - interval[i].from_ns;
	qsort(length, n, sizeof(*length), compare_ns);
	*low_ns = length[n / 4];
	*high_ns = length[n - 1 - n / 4];
}

/* Sums over the packets in the central half; c->packets is their number. */
static void find_typical(struct cause *c, const struct owners *o, const struct evidence *e, struct totals *usual)
{
	struct interval *interval = calloc(EVIDENCE_PACKETS_MAX + 1, sizeof(*interval));
	size_t *index = calloc(EVIDENCE_PACKETS_MAX + 1, sizeof(*index)), n;
	struct section_time *section = calloc(SECTIONS, sizeof(*section));
	int64_t low_ns, high_ns;

	n = interval && index && section ? place_ordinary(e, c->stage, interval, index) : 0;
	if (n >= PACKETS_LEAST) {
		quartiles(interval, n, &low_ns, &high_ns);
		for (size_t i = 0; i < n; i++) {
			const int64_t ns = interval[i].to_ns - interval[i].from_ns;

			if (ns < low_ns || ns > high_ns)
				continue;
			walk_stage(e, o, c->stage, &e->packet[index[i]], &interval[i], section);
			if (!is_complete(section))
				continue;
			add_totals(usual, section);
			c->packets++;
		}
	}
	free(interval);
	free(index);
	free(section);
	if (c->packets < PACKETS_LEAST / 2)
		c->packets = 0;
	for (int k = 0; k < SECTIONS && c->packets; k++) {
		c->section_typical_ns[k] = usual->section_ns[k] / (int64_t)c->packets;
		c->typical_ns += c->section_typical_ns[k];
	}
}

/* ---- The breach -------------------------------------------------------------------------------------------------- */

static const struct stage_row *stage_named(const char *id)
{
	const size_t bytes = strlen(id) > 3 && !strcmp(id + strlen(id) - 3, "_ns") ? strlen(id) - 3 : strlen(id);

	for (size_t i = 0; i < STAGE_ROWS; i++)
		if (strlen(stages[i].id) == bytes && !strncmp(stages[i].id, id, bytes))
			return &stages[i];
	return NULL;
}

/* The longest stage of this host that can be placed. */
static const struct stage_row *longest_stage(const struct evidence *e, struct interval *i)
{
	const struct stage_row *longest = NULL;
	struct interval at;

	for (size_t k = 0; k < STAGE_ROWS; k++) {
		if (!place_stage(e, &stages[k], &e->breach, &at) ||
		    (longest && at.to_ns - at.from_ns <= i->to_ns - i->from_ns))
			continue;
		longest = &stages[k];
		*i = at;
	}
	return longest;
}

static int choose_stage(struct cause *c, const struct evidence *e, struct interval *i, const char *folder)
{
	c->stage = *e->blame ? stage_named(e->blame) : NULL;
	if (*e->blame && !c->stage) {
		warnx("--explain %s: the late stage is %s, which is not on this host: explain the trace of the other host, "
		      "saved there by a run with -t, -T and --save-trace", folder, e->blame);
		return -EINVAL;
	}
	if (c->stage && place_stage(e, c->stage, &e->breach, i))
		return 0;
	c->chosen = !c->stage;
	c->stage = c->stage ? NULL : longest_stage(e, i);
	if (c->stage)
		return 0;
	warnx("--explain %s: no stage of this host can be placed in the trace: %s", folder,
	      e->breach.known[2][STAMP_HW] || e->breach.known[4][STAMP_HW] || e->breach.known[1][STAMP_HW] ||
	      e->breach.known[3][STAMP_HW] ?
	      "the relation of the NIC's clock is not in breach.json" :
	      "measure with -s, which records the times of the program");
	return -EINVAL;
}

static void add_cpus(struct cause *c)
{
	for (int k = 0; k < SECTIONS; k++) {
		int i = 0;

		if (!c->section[k].there || c->section[k].cpu < 0 || !c->section[k].ns)
			continue;
		while (i < c->cpu_count && c->cpus[i] != c->section[k].cpu)
			i++;
		if (i == c->cpu_count && i < (int)(sizeof(c->cpus) / sizeof(c->cpus[0])))
			c->cpus[c->cpu_count++] = c->section[k].cpu;
	}
}

static void find_absent(struct cause *c, const struct evidence *e, const struct totals *late)
{
	const uint64_t needed = 1ULL << EVENT_SWITCH | 1ULL << EVENT_IRQ_ENTRY | 1ULL << EVENT_SOFTIRQ_ENTRY;

	for (int i = 0; i < late->parts.count; i++)
		if (late->parts.part[i].owner.class <= OWNER_LOST)
			c->absent_ns += late->parts.part[i].ns;
	if (e->text.count && e->text.event[0].ns > c->from_ns)
		c->missing_ns = e->text.event[0].ns - c->from_ns;
	if ((e->text.kinds & needed) != needed)
		c->not_enabled = !(e->text.kinds & 1ULL << EVENT_SWITCH) ? "sched:sched_switch" :
				 !(e->text.kinds & 1ULL << EVENT_SOFTIRQ_ENTRY) ? "irq:softirq_entry" :
									  "irq:irq_handler_entry";
	else if (!(e->text.kinds & 1ULL << EVENT_VECTOR_ENTRY))
		c->not_enabled = "irq_vectors:local_timer_entry";
}

int cause_find(struct cause *c, struct owners *o, const struct evidence *e, const char *folder)
{
	struct totals *late = calloc(1, sizeof(*late)), *usual = calloc(1, sizeof(*usual));
	struct interval i = { 0, 0, 0 };
	int error;

	*c = (struct cause){ .stage = NULL };
	error = owners_find(o, &e->text, e->text.breach.pid);
	if (!error && (!late || !usual))
		error = -ENOMEM;
	if (error)
		warnx("--explain %s: %s", folder, strerror(-error));
	else
		error = choose_stage(c, e, &i, folder);
	if (!error) {
		c->from_ns = i.from_ns;
		c->ns = i.to_ns - i.from_ns;
		c->bound_ns = i.bound_ns;
		walk_stage(e, o, c->stage, &e->breach, &i, c->section);
		add_totals(late, c->section);
		add_cpus(c);
		find_absent(c, e, late);
		find_typical(c, o, e, usual);
		rank_owners(c, late, usual);
		name_cause(c);
	}
	free(late);
	free(usual);
	return error;
}
