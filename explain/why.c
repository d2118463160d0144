// SPDX-License-Identifier: GPL-2.0-or-later
/* The explanation of a breach as plain data. */
#include "explain/why.h"

_Static_assert(CAUSE_PARTS >= CAUSE_RANKS && CAUSE_NAME_BYTES >= TRACE_TEXT_NAME_BYTES, "the lists and names fit");

void why_owner_name(char name[CAUSE_NAME_BYTES], const struct evidence *e, const struct owner *o)
{
	*name = '\0';
	if (o->class == OWNER_IDLE && o->number >= 0)
		snprintf(name, CAUSE_NAME_BYTES, "state %d", o->number);
	else if (o->class == OWNER_IDLE && o->number != OWNER_IDLE_UNKNOWN)
		snprintf(name, CAUSE_NAME_BYTES, "exit");
	else if (o->class == OWNER_UNSEEN && o->number)
		snprintf(name, CAUSE_NAME_BYTES, "or rant itself");
	else if (o->class == OWNER_NMI || o->class == OWNER_IRQ || o->class == OWNER_VECTOR ||
		 o->class == OWNER_SOFTIRQ || owner_is_thread(o))
		snprintf(name, CAUSE_NAME_BYTES, "%s", trace_text_name(&e->text, o->name));
}

void why_take(struct why *w, const struct cause *c, const struct evidence *e)
{
	*w = (struct why){
		.seq = e->breach.seq, .latency_ns = e->latency_ns, .named = (uint8_t)c->named,
		.class = c->named ? c->rank[0].owner.class :
			 c->ns - c->typical_ns <= c->bound_ns ? CAUSE_NONE : CAUSE_SPREAD,
		.has_typical = c->packets, .value_ns = c->ns, .typical_ns = c->typical_ns, .bound_ns = c->bound_ns,
		.ordinary_packets = c->packets, .events = e->text.count, .parts = (unsigned)c->ranks,
	};
	unseen_take(&w->unseen, c, e);
	snprintf(w->stage, sizeof(w->stage), "%s_ns", c->stage->id);
	for (int i = 0; i < c->ranks; i++) {
		const struct owner_excess *r = &c->rank[i];
		struct why_part *p = &w->part[i];

		*p = (struct why_part){ .class = r->owner.class, .cpu = optional_cpu(cause_cpu(c, &r->owner)),
					.value_ns = r->ns, .typical_ns = r->typical_ns };
		why_owner_name(p->name, e, &r->owner);
	}
}
