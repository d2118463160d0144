// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of the causes of breaches. */
#include "report/text/causes.h"

#include "result/result.h"

#include <inttypes.h>

#define CAUSES_SHOWN 4
#define TEXT_BYTES 512

static uint64_t breaches_of(const struct result *r)
{
	return counter_get(&r->account.breaches);
}

void causes_add_same(char *text, size_t bytes, const struct result *r, const struct why *w)
{
	const struct result_causes *c = r->causes;

	if (!c || c->traces < 2)
		return;
	text_add(text, bytes, " (in ");
	text_add_grouped(text, bytes, causes_of(c, w));
	text_add(text, bytes, " of ");
	text_add_grouped(text, bytes, c->traces);
	text_add(text, bytes, " %sbreaches of this run)", breaches_of(r) > c->traces ? "traced " : "");
}

static void add_name(char *text, size_t bytes, int class, const char *name, struct optional cpu)
{
	text_add(text, bytes, "%s", cause_words[class].text);
	if (*name)
		text_add(text, bytes, " %s", name);
	if (cpu.known)
		text_add(text, bytes, " on CPU %" PRId64, cpu.value);
}

static void add_count(char *text, size_t bytes, const struct cause_count *n)
{
	add_name(text, bytes, n->class, n->name, n->cpu);
	text_add(text, bytes, " ");
	text_add_grouped(text, bytes, n->traces);
}

static void add_counts(char *text, size_t bytes, const struct result_causes *c)
{
	const bool has_rest = c->counts && c->count[c->counts - 1].class == CAUSE_NOT_EXPLAINED;
	const unsigned causes = c->counts - has_rest;
	uint64_t others = 0;

	for (unsigned i = 0; i < causes; i++) {
		if (i >= CAUSES_SHOWN) {
			others += c->count[i].traces;
			continue;
		}
		text_add(text, bytes, i ? ", " : ": ");
		add_count(text, bytes, &c->count[i]);
	}
	if (others) {
		text_add(text, bytes, ", other causes ");
		text_add_grouped(text, bytes, others);
	}
	if (has_rest) {
		text_add(text, bytes, causes ? ", " : ": ");
		add_count(text, bytes, &c->count[causes]);
	}
}

void causes_add(char *text, size_t bytes, const struct result *r)
{
	const struct result_causes *c = r->causes;

	if (!c || c->traces < 2)
		return;
	text_add(text, bytes, "Causes of ");
	text_add_grouped(text, bytes, c->traces);
	if (breaches_of(r) > c->traces) {
		text_add(text, bytes, " traced breaches of ");
		text_add_grouped(text, bytes, breaches_of(r));
	} else {
		text_add(text, bytes, " breaches");
	}
	add_counts(text, bytes, c);
}

bool causes_write(FILE *out, const struct result *r)
{
	char text[TEXT_BYTES] = "";

	causes_add(text, sizeof(text), r);
	if (*text)
		fprintf(out, "  %s\n", text);
	return *text;
}

static void add_length(char *text, size_t bytes, int64_t ns)
{
	text_add(text, bytes, " in %.*f s", ns < NS_PER_S ? 3 : 1, (double)ns / NS_PER_S);
}

static void add_smi(char *text, size_t bytes, const struct why_unseen *u)
{
	if (!u->smi_count.known) {
		text_add(text, bytes, "SMI count not known (%s)", u->smi_why);
		return;
	}
	text_add(text, bytes, "SMI count +%" PRId64, u->smi_count.value);
	add_length(text, bytes, u->smi_within_ns);
}

static void add_steal(char *text, size_t bytes, const struct why_unseen *u)
{
	if (!u->steal_ms.known) {
		text_add(text, bytes, "steal time not known (%s)", u->steal_why);
		return;
	}
	text_add(text, bytes, "steal time +%" PRId64 " ms", u->steal_ms.value);
	add_length(text, bytes, u->steal_within_ns);
	if (u->steal_ever)
		text_add(text, bytes, " (steps of %" PRId64 " ms)", u->steal_step_ms);
	else
		text_add(text, bytes, " (none since boot)");
}

void causes_add_unseen(char *text, size_t bytes, const struct why_unseen *u, struct optional cpu)
{
	if (!u->there) {
		text_add(text, bytes, "SMI count and steal time not known (not in breach.json)");
		return;
	}
	if (u->cpu.known && cpu.known && u->cpu.value != cpu.value) {
		text_add(text, bytes, "SMI count and steal time of this CPU not known (those of CPU %" PRId64
			 " were read)", u->cpu.value);
		return;
	}
	add_smi(text, bytes, u);
	text_add(text, bytes, ", ");
	add_steal(text, bytes, u);
	if (u->disrupted.known)
		text_add(text, bytes, ", %s by the hypervisor", u->disrupted.value ? "disrupted" : "not disrupted");
}

void causes_add_cause(char *text, size_t bytes, const struct result *r, const struct sample *s)
{
	const struct why *w = causes_find(r, s);
	const struct why_part *part;

	if (!w)
		return;
	text_add(text, bytes, "Cause: ");
	if (*w->not_explained) {
		text_add(text, bytes, "not explained: %s", w->not_explained);
		return;
	}
	part = why_unseen_part(w);
	add_name(text, bytes, w->class, why_name(w), why_cpu(w));
	if (w->named)
		text_add(text, bytes, ", %d %% of the %s", why_share_percent(w),
			 w->has_typical ? "excess" : "stage");
	if (w->named == 2) {
		text_add(text, bytes, "; ");
		add_name(text, bytes, w->part[1].class, w->part[1].name, w->part[1].cpu);
	}
	if (part && w->unseen.there) {
		text_add(text, bytes, "; ");
		causes_add_unseen(text, bytes, &w->unseen, part->cpu);
	}
}

void causes_write_cause(FILE *out, const struct result *r, const struct sample *s)
{
	char text[TEXT_BYTES] = "";

	causes_add_cause(text, sizeof(text), r, s);
	if (*text)
		fprintf(out, "  %s\n", text);
}
