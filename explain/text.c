// SPDX-License-Identifier: GPL-2.0-or-later
/* The cause of a breach as text: a row for each section, the owners of its excess, the cause, and its cure. */
#include "explain/text.h"

#include "report/text/causes.h"
#include "report/text/label.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS_SHOWN 3 /* of one section */
#define TEXT_BYTES 512

/* ---- Owners ------------------------------------------------------------------------------------------------------ */

/* The cure of a cause by the class of its owner; NULL: none is known. Where the doctor checks the setting, it prints
 * the command. */
static const char *const cures[OWNER_CLASSES] = {
	[OWNER_ABSENT] = "enlarge buffer_size_kb of the trace instance, and include this CPU in tracing_cpumask",
	[OWNER_LOST] = "enable fewer events, or enlarge buffer_size_kb of the trace instance",
	[OWNER_NMI] = "switch the NMI watchdog and perf off (rant --check: watchdog)",
	[OWNER_IRQ] = "move this interrupt to another CPU: /proc/irq/N/smp_affinity (rant --check: irqbalance)",
	[OWNER_VECTOR] = "keep timers and calls of other CPUs off this CPU: nohz_full=, isolcpus= "
			 "(rant --check: nohz_full)",
	[OWNER_SOFTIRQ] = "keep its interrupts and timers off this CPU: IRQ affinity, nohz_full=, rcu_nocbs= "
			  "(rant --check: nohz_full)",
	[OWNER_THREAD] = "keep this thread off the CPU: isolcpus=, taskset, or --fifo above its priority "
			 "(rant --check: isolated CPUs)",
	[OWNER_IDLE] = "forbid deep idle states: leave --no-cpu-dma-latency out, or --spin "
		       "(rant --check: idle states)",
	[OWNER_HELD] = "rx-usecs 0 (rant --check: coalescing), and find code with interrupts off: tracer irqsoff",
	[OWNER_WAKE] = "rx-usecs 0, and forbid deep idle states (rant --check: coalescing, idle states)",
	[OWNER_DEFERRED] = "keep this thread off the CPU of the NIC's interrupts, or raise the priority of "
			   "ksoftirqd",
	[OWNER_SOFTIRQS_OFF] = "keep this thread off the CPU that receives; if it has no code with softirqs off: "
			       "firmware (SMI) or hypervisor",
	[OWNER_PACKETS] = "give this flow its own receive queue: ethtool -N (rant --check: queues)",
	[OWNER_UNSEEN] = "firmware (SMI) or hypervisor: run rtla hwnoise on this CPU; see steal time in "
			 "/proc/stat",
	[OWNER_WIRE] = "other frames in the transmit queue, pause frames or power saving of the NIC "
		       "(rant --check: pause frames)",
};

static void add_priority(char *text, size_t bytes, int prio)
{
	if (prio < 0)
		text_add(text, bytes, ", deadline");
	else if (prio && prio < 100)
		text_add(text, bytes, ", real-time priority %d", 99 - prio);
	else if (prio && prio != 120)
		text_add(text, bytes, ", nice %d", prio - 120);
}

static void add_thread(char *text, size_t bytes, const struct trace_text *t, const struct owner *o, int tasks)
{
	text_add(text, bytes, "thread %s", trace_text_name(t, o->name));
	if (tasks > 1)
		text_add(text, bytes, " (%d of this name", tasks);
	else
		text_add(text, bytes, " (%d", o->number);
	add_priority(text, bytes, o->prio);
	text_add(text, bytes, ")");
}

/* The name of an owner. tasks: threads of this name, 1 where it is a single one. */
static void add_owner(char *text, size_t bytes, const struct trace_text *t, const struct owner *o, int tasks)
{
	const char *name = trace_text_name(t, o->name);

	switch (o->class) {
	case OWNER_ABSENT:
		return text_add(text, bytes, "not in the trace");
	case OWNER_LOST:
		return text_add(text, bytes, "events lost");
	case OWNER_NMI:
		return text_add(text, bytes, "NMI %s", name);
	case OWNER_IRQ:
		return text_add(text, bytes, "irq %d %s", o->number, name);
	case OWNER_VECTOR:
		return text_add(text, bytes, "%s interrupt", name);
	case OWNER_SOFTIRQ:
		return text_add(text, bytes, "softirq %s", name);
	case OWNER_THREAD:
		return add_thread(text, bytes, t, o, tasks);
	case OWNER_IDLE:
		if (o->number >= 0)
			return text_add(text, bytes, "idle state %d", o->number);
		return text_add(text, bytes, o->number == OWNER_IDLE_UNKNOWN ? "idle" : "exit from idle");
	case OWNER_RANT:
		return text_add(text, bytes, "rant itself");
	case OWNER_HELD:
		text_add(text, bytes, "interrupt held back (NIC, or interrupts off in ");
		add_thread(text, bytes, t, o, tasks);
		return text_add(text, bytes, ")");
	case OWNER_WAKE:
		return text_add(text, bytes, "interrupt held back (NIC, or exit from idle)");
	case OWNER_DEFERRED:
		text_add(text, bytes, "deferred to ksoftirqd, ");
		return add_thread(text, bytes, t, o, tasks);
	case OWNER_SOFTIRQS_OFF:
		text_add(text, bytes, "softirqs off in ");
		add_thread(text, bytes, t, o, tasks);
		return text_add(text, bytes, ", or not seen by the kernel");
	case OWNER_PACKETS:
		return text_add(text, bytes, "other packets before it");
	case OWNER_UNSEEN:
		return text_add(text, bytes, "%snot seen by the kernel", o->number ? "rant itself, or " : "");
	case OWNER_WIRE:
		return text_add(text, bytes, "NIC or its bus");
	default:
		return text_add(text, bytes, "others");
	}
}

static int by_time(const void *a, const void *b)
{
	const struct owner_part *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* The longest owners of a section. */
static void add_owners(char *text, size_t bytes, const struct trace_text *t, const struct section_time *s)
{
	struct owner_parts p = s->parts;
	int64_t rest_ns = s->ns;
	int shown = 0;

	qsort(p.part, (size_t)p.count, sizeof(*p.part), by_time);
	while (shown < p.count && shown < OWNERS_SHOWN && p.part[shown].ns * 50 >= s->ns) {
		const struct owner_part *part = &p.part[shown];

		text_add(text, bytes, "%s ", shown ? "," : ":");
		add_owner(text, bytes, t, &part->owner, 1);
		if (part->owner.detail)
			text_add(text, bytes, " in %s", trace_text_name(t, part->owner.detail));
		if (p.count > 1)
			text_add(text, bytes, " %.1f us", label_us(part->ns));
		rest_ns -= part->ns;
		shown++;
	}
	if (shown < p.count && rest_ns * 50 >= s->ns)
		text_add(text, bytes, ", %d other%s %.1f us", p.count - shown, p.count - shown > 1 ? "s" : "",
			 label_us(rest_ns));
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static void add_section(char *text, size_t bytes, const struct cause *c, const struct evidence *e, int k)
{
	static const char *const names[] = {
		[SECTION_NET_RX] = "interrupt to NET_RX", [SECTION_STACK] = "to the network stack",
		[SECTION_SOCKET] = "to the socket", [SECTION_THREAD] = "until the thread runs",
		[SECTION_APP] = "thread to program", [SECTION_QUEUE] = "send call to the queue",
		[SECTION_DRIVER] = "queue to the driver", [SECTION_WIRE] = "driver to the timestamp",
	};
	const struct section_time *s = &c->section[k];

	if (k == SECTION_INTERRUPT && s->irq < 0)
		text_add(text, bytes, "NIC to NET_RX raised");
	else if (k == SECTION_INTERRUPT)
		text_add(text, bytes, "NIC to interrupt %d %s", s->irq, trace_text_name(&e->text, s->irq_name));
	else if (k == SECTION_APP && c->stage->kind == STAGE_IS_APP)
		text_add(text, bytes, "program");
	else
		text_add(text, bytes, "%s", names[k]);
	if (s->cpu >= 0)
		text_add(text, bytes, " on CPU %d", s->cpu);
	if (k == SECTION_STACK && s->packets)
		text_add(text, bytes, ", %d other packet%s before it", s->packets, s->packets > 1 ? "s" : "");
	add_owners(text, bytes, &e->text, s);
}

static void write_row(FILE *out, const struct cause *c, int64_t typical_ns, int64_t ns, const char *text)
{
	if (c->packets)
		fprintf(out, "  %8.1f us %9.1f us %+9.1f us  %s\n", label_us(typical_ns),
			label_us(ns), label_us(ns - typical_ns), text);
	else
		fprintf(out, "  %8s    %9.1f us %9s     %s\n", "?", label_us(ns), "?", text);
}

/* Sections that are short in this packet and in ordinary packets are in one row. */
static bool is_short(const struct cause *c, int k)
{
	return c->section[k].ns * 100 < c->ns && c->section_typical_ns[k] * 100 < c->ns;
}

static void write_sections(FILE *out, const struct cause *c, const struct evidence *e)
{
	int64_t short_ns = 0, short_typical_ns = 0, sum_ns = 0;
	char text[TEXT_BYTES];
	int shorts = 0;

	for (int k = 0; k < SECTIONS; k++) {
		sum_ns += c->section[k].ns;
		if (is_short(c, k)) {
			shorts += c->section[k].there;
			short_ns += c->section[k].ns;
			short_typical_ns += c->section_typical_ns[k];
			continue;
		}
		*text = '\0';
		add_section(text, sizeof(text), c, e, k);
		write_row(out, c, c->section_typical_ns[k], c->section[k].ns, text);
	}
	if (shorts || short_ns || short_typical_ns) {
		snprintf(text, sizeof(text), "%d other section%s", shorts, shorts == 1 ? "" : "s");
		write_row(out, c, short_typical_ns, short_ns, text);
	}
	snprintf(text, sizeof(text), "all of %s: %s", c->stage->name,
		 sum_ns == c->ns ? "nothing left over" : "the sections do not sum to it");
	write_row(out, c, c->typical_ns, c->ns, text);
}

/* ---- The cause --------------------------------------------------------------------------------------------------- */

static void add_cause(char *text, size_t bytes, const struct cause *c, const struct evidence *e, int i)
{
	const struct owner_excess *r = &c->rank[i];
	const int percent = causes_percent(r->ns - r->typical_ns, c->ns - c->typical_ns);

	add_owner(text, bytes, &e->text, &r->owner, r->tasks);
	if (r->owner.detail && r->detail_ns * 2 >= r->ns)
		text_add(text, bytes, " in %s", trace_text_name(&e->text, r->owner.detail));
	if (cause_cpu(c, &r->owner) >= 0)
		text_add(text, bytes, " on CPU %d", cause_cpu(c, &r->owner));
	text_add(text, bytes, ", %d %% of the %s", percent, c->packets ? "excess" : "stage");
}

/* After the cause: the counters of its CPU, if it may be outside of the kernel. */
static void add_unseen(char *text, size_t bytes, const struct cause *c, const struct why_unseen *u)
{
	for (int i = 0; i < c->named; i++) {
		if (!why_may_be_unseen(c->rank[i].owner.class))
			continue;
		text_add(text, bytes, "; ");
		causes_add_unseen(text, bytes, u, optional_cpu(cause_cpu(c, &c->rank[i].owner)));
		return;
	}
}

static const char *cure_of_unseen(const struct why_unseen *u, int cpu)
{
	if (!u->there || !optional_is_same(u->cpu, optional_cpu(cpu)))
		return cures[OWNER_UNSEEN];
	if (u->disrupted.known && u->disrupted.value)
		return "the hypervisor has paused or moved this virtual machine: ask its operator";
	if (u->smi_count.value && !u->steal_ms.value)
		return "firmware (SMI) may be the reason: its settings of power management, USB legacy support and "
		       "error polling";
	if (u->steal_ms.value && !u->smi_count.value)
		return "the hypervisor may be the reason: give this virtual CPU a CPU of its own";
	if (u->smi_count.known && u->steal_ms.known && !u->smi_count.value)
		return "not known: no SMI and no steal time were counted: run rtla hwnoise on this CPU";
	return cures[OWNER_UNSEEN];
}

static void write_cure(FILE *out, const struct cause *c, const struct evidence *e, const struct why_unseen *u)
{
	const struct owner *o = &c->rank[0].owner;

	if (o->class != OWNER_UNSEEN) {
		if (cures[o->class])
			fprintf(out, "  Cure : %s\n", cures[o->class]);
		return;
	}
	if (e->not_enabled)
		fprintf(out, "  Cure : not known: the event %s is not in the trace: enable it\n", e->not_enabled);
	else
		fprintf(out, "  Cure : %s%s\n", c->stage->kind != STAGE_IS_RECEIVE ?
			"it may be rant's own code or a page fault, else " : "", cure_of_unseen(u, cause_cpu(c, o)));
}

static void write_cause(FILE *out, const struct cause *c, const struct evidence *e, const char *also)
{
	char text[TEXT_BYTES] = "";
	struct why_unseen u;
	const int64_t excess_ns = c->ns - c->typical_ns;

	if (excess_ns <= c->bound_ns) {
		fprintf(out, "  Cause: none, %s was not late within the bound of the times%s\n",
			c->stage->name, also);
		return;
	}
	if (!c->named) {
		fprintf(out, "  Cause: spread over %d parts%s\n", c->spread, also);
		return;
	}
	add_cause(text, sizeof(text), c, e, 0);
	if (c->named == 2) {
		text_add(text, sizeof(text), "; ");
		add_cause(text, sizeof(text), c, e, 1);
	}
	unseen_take(&u, c, e);
	text_add(text, sizeof(text), "%s", also);
	add_unseen(text, sizeof(text), c, &u);
	fprintf(out, "  Cause: %s\n", text);
	write_cure(out, c, e, &u);
}

/* One line about the gaps of the trace. */
static void write_limits(FILE *out, const struct cause *c, const struct evidence *e)
{
	const struct trace_text *t = &e->text;
	const double wanted = c->held_ns > 0 ? 1 + (double)(t->breach.ns - c->from_ns) / (double)c->held_ns : 0;

	if (c->missing_ns > c->bound_ns && t->buffer_kib && wanted > 0)
		fprintf(out, "  The trace begins %.1f us after the stage: buffer_size_kb of %.0f would hold it\n",
			label_us(c->missing_ns), (double)t->buffer_kib * wanted);
	else if (c->missing_ns > c->bound_ns)
		fprintf(out, "  The trace begins %.1f us after the stage: enlarge buffer_size_kb\n", label_us(c->missing_ns));
	else if (c->lost)
		fprintf(out, "  Lost: %" PRIu64 " event%s of CPU %d during this stage, so %.1f us are not in the trace\n", c->lost,
			c->lost > 1 ? "s" : "", c->lost_cpu, label_us(c->absent_ns));
	else if (c->absent_ns)
		fprintf(out, "  Not in the trace: %.1f us of this stage (lost events, or a CPU outside of "
			"tracing_cpumask)\n", label_us(c->absent_ns));
	else if (c->chosen)
		fprintf(out, "  The late stage is not known (%s): this is the longest stage of this host\n",
			e->details ? "no blame" : "no breach.json");
	else if (!c->packets)
		fprintf(out, "  Typical times are not known: %s\n",
			e->details ? "too few ordinary packets in the trace" : "no breach.json");
}

void explain_write(FILE *out, const struct cause *c, const struct evidence *e, const char *also)
{
	char text[TEXT_BYTES] = "";

	for (int i = 0; i < c->cpu_count; i++)
		text_add(text, sizeof(text), "%s%d", !i ? c->cpu_count > 1 ? "CPUs " : "CPU " :
			 i == c->cpu_count - 1 ? " and " : ", ", c->cpus[i]);
	if (!c->cpu_count)
		text_add(text, sizeof(text), "no CPU");
	text_add(text, sizeof(text), ", ");
	text_add_grouped(text, sizeof(text), e->text.count);
	text_add(text, sizeof(text), " events");
	if (e->text.malformed)
		text_add(text, sizeof(text), ", %" PRIu64 " line%s unreadable", e->text.malformed,
			 e->text.malformed > 1 ? "s" : "");
	fprintf(out, "Why (trace of %s, times +- %.1f us):\n", text, label_us(c->bound_ns));
	*text = '\0';
	if (c->packets) {
		text_add(text, sizeof(text), "  (typical of ");
		text_add_grouped(text, sizeof(text), c->packets);
		text_add(text, sizeof(text), " packets)");
	}
	fprintf(out, "  %11s %12s %12s%s\n", "typical", "this packet", "excess", text);
	write_sections(out, c, e);
	write_cause(out, c, e, also);
	write_limits(out, c, e);
}
