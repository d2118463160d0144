// SPDX-License-Identifier: GPL-2.0-or-later
/* The explanation of a breach, and the causes of all breaches whose traces were saved. */
#include "report/export/json_parts.h"
#include "report/text/report.h"
#include "result/causes.h"
#include "result/result.h"

static void put_cause(struct json *j, int class, const char *name, struct optional cpu)
{
	json_text(j, "class", cause_words[class].id);
	json_text(j, "name", *name ? name : NULL);
	json_optional(j, "cpu", cpu);
}

/* In one line: most explanations have many parts. */
static void put_part(struct json *j, const struct why *w, const struct why_part *p)
{
	json_row(j, NULL);
	put_cause(j, p->class, p->name, p->cpu);
	json_integer_if(j, "typical_ns", w->has_typical, p->typical_ns);
	json_integer(j, "value_ns", p->value_ns);
	json_integer_if(j, "excess_ns", w->has_typical, why_excess_ns(w, p));
	json_end(j);
}

/* Counters of what the kernel does not see. */
static void put_unseen(struct json *j, const struct why_unseen *u)
{
	if (!json_object_if(j, "unseen", u->there))
		return;
	json_optional(j, "cpu", u->cpu);
	json_optional(j, "smi_count", u->smi_count);
	json_integer_if(j, "smi_within_ns", u->smi_count.known, u->smi_within_ns);
	json_text(j, "smi_not_known", u->smi_count.known ? NULL : u->smi_why);
	json_optional(j, "steal_ms", u->steal_ms);
	json_integer_if(j, "steal_within_ns", u->steal_ms.known, u->steal_within_ns);
	json_integer_if(j, "steal_step_ms", u->steal_ms.known, u->steal_step_ms);
	if (u->steal_ms.known)
		json_bool(j, "steal_since_boot", u->steal_ever);
	else
		json_null(j, "steal_since_boot");
	json_text(j, "steal_not_known", u->steal_ms.known ? NULL : u->steal_why);
	if (u->disrupted.known)
		json_bool(j, "disrupted", u->disrupted.value);
	else
		json_null(j, "disrupted");
	json_end(j);
}

void json_why(struct json *j, const char *name, const struct why *w)
{
	if (!json_object_if(j, name, w))
		return;
	if (*w->not_explained) {
		json_text(j, "not_explained", w->not_explained);
		json_end(j);
		return;
	}
	put_cause(j, w->class, why_name(w), why_cpu(w));
	json_integer_if(j, "excess_ns", w->named && w->has_typical,
			w->named ? why_excess_ns(w, &w->part[0]) : 0);
	json_integer_if(j, "share_percent", w->named, why_share_percent(w));
	json_integer(j, "parts_named", w->named);
	json_text(j, "stage", w->stage);
	json_integer_if(j, "typical_ns", w->has_typical, w->typical_ns);
	json_integer(j, "value_ns", w->value_ns);
	json_integer(j, "bound_ns", w->bound_ns);
	json_count(j, "ordinary_packets", w->ordinary_packets);
	json_count(j, "events", w->events);
	put_unseen(j, &w->unseen);
	json_array(j, "parts");
	for (unsigned i = 0; i < w->parts; i++)
		put_part(j, w, &w->part[i]);
	json_end(j);
	json_end(j);
}

void json_breach_causes(struct json *j, const struct report *r)
{
	const struct result_causes *c = r->result->causes;

	if (!c || !c->counts) {
		json_null(j, "breach_causes");
		return;
	}
	json_array(j, "breach_causes");
	for (unsigned i = 0; i < c->counts; i++) {
		json_row(j, NULL);
		put_cause(j, c->count[i].class, c->count[i].name, c->count[i].cpu);
		json_count(j, "count", c->count[i].traces);
		json_end(j);
	}
	json_end(j);
}
