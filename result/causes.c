// SPDX-License-Identifier: GPL-2.0-or-later
/* Words and counts of causes. */
#include "result/causes.h"

#include "result/result.h"

#include <stdlib.h>
#include <string.h>

const struct cause_word cause_words[CAUSE_CLASSES] = {
	[OWNER_ABSENT] = { "not_in_trace", "not in the trace" },
	[OWNER_LOST] = { "events_lost", "events lost" },
	[OWNER_NMI] = { "nmi", "NMI" },
	[OWNER_IRQ] = { "irq", "irq" },
	[OWNER_VECTOR] = { "interrupt", "interrupt" },
	[OWNER_SOFTIRQ] = { "softirq", "softirq" },
	[OWNER_THREAD] = { "thread", "thread" },
	[OWNER_IDLE] = { "idle", "idle" },
	[OWNER_RANT] = { "rant", "rant itself" },
	[OWNER_HELD] = { "interrupt_held", "interrupt held back in" },
	[OWNER_WAKE] = { "interrupt_held_idle", "interrupt held back in idle" },
	[OWNER_DEFERRED] = { "deferred", "deferred to ksoftirqd by" },
	[OWNER_SOFTIRQS_OFF] = { "softirqs_off", "softirqs off in" },
	[OWNER_PACKETS] = { "packets", "other packets before it" },
	[OWNER_UNSEEN] = { "not_seen", "not seen by the kernel" },
	[OWNER_WIRE] = { "nic", "NIC or its bus" },
	[OWNER_OTHERS] = { "others", "others" },
	[CAUSE_SPREAD] = { "spread", "spread over several parts" },
	[CAUSE_NONE] = { "not_late", "not late" },
	[CAUSE_NOT_EXPLAINED] = { "not_explained", "not explained" },
};

const struct why *causes_find(const struct result *r, const struct sample *s)
{
	const struct result_causes *c = r->causes;

	for (unsigned i = 0; c && i < c->whys; i++)
		if (c->why[i].seq == s->seq && c->why[i].latency_ns == s->latency_ns)
			return &c->why[i];
	return NULL;
}

/* The excess of an owner is larger than that of the stage if another owner took less time than usual. */
int causes_percent(int64_t part_ns, int64_t whole_ns)
{
	if (part_ns <= 0 || whole_ns <= 0)
		return 0;
	return part_ns > whole_ns ? 100 : (int)(100.0 * (double)part_ns / (double)whole_ns + 0.5);
}

int why_share_percent(const struct why *w)
{
	return causes_percent(w->named ? why_excess_ns(w, &w->part[0]) : 0,
			      w->value_ns - (w->has_typical ? w->typical_ns : 0));
}

static struct cause_count *count_of(struct result_causes *c, int class, const char *name)
{
	struct cause_count *n = c->count;

	while (n < c->count + c->counts && (n->class != class || strcmp(n->name, name)))
		n++;
	return n;
}

static struct cause_count *add_count(struct result_causes *c, int class, const char *name,
				     struct optional cpu)
{
	struct cause_count *n = count_of(c, class, name);

	if (n < c->count + c->counts) {
		if (!optional_is_same(n->cpu, cpu))
			n->cpu = (struct optional){ .known = false };
		return n;
	}
	*n = (struct cause_count){ .class = (uint8_t)class, .cpu = cpu };
	snprintf(n->name, sizeof(n->name), "%s", name);
	c->counts++;
	return n;
}

void causes_count(struct result_causes *c, const struct why *w)
{
	if (*w->not_explained) {
		causes_count_not_explained(c, 1);
		return;
	}
	add_count(c, w->class, why_name(w), why_cpu(w))->traces++;
	c->traces++;
}

void causes_count_not_explained(struct result_causes *c, uint64_t traces)
{
	if (!traces)
		return;
	add_count(c, CAUSE_NOT_EXPLAINED, "", (struct optional){ .known = false })->traces += traces;
	c->traces += traces;
}

static int by_frequency(const void *a, const void *b)
{
	const struct cause_count *x = a, *y = b;
	const bool x_last = x->class == CAUSE_NOT_EXPLAINED, y_last = y->class == CAUSE_NOT_EXPLAINED;

	if (x_last != y_last)
		return x_last - y_last;
	if (x->traces != y->traces)
		return x->traces < y->traces ? 1 : -1;
	return x->class != y->class ? x->class - y->class : strcmp(x->name, y->name);
}

void causes_sort(struct result_causes *c)
{
	qsort(c->count, c->counts, sizeof(*c->count), by_frequency);
}

uint64_t causes_of(const struct result_causes *c, const struct why *w)
{
	uint64_t traces = 0;

	for (unsigned i = 0; i < c->counts; i++)
		if (c->count[i].class == w->class && !strcmp(c->count[i].name, why_name(w)))
			traces += c->count[i].traces;
	return traces;
}

uint64_t causes_of_class(const struct result_causes *c, int class)
{
	uint64_t traces = 0;

	for (unsigned i = 0; i < c->counts; i++)
		if (c->count[i].class == class)
			traces += c->count[i].traces;
	return traces;
}
