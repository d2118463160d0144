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

static void add_name(char *text, size_t bytes, int class, const char *name, int cpu)
{
	text_add(text, bytes, "%s", cause_words[class].text);
	if (*name)
		text_add(text, bytes, " %s", name);
	if (cpu >= 0)
		text_add(text, bytes, " on CPU %d", cpu);
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

void causes_add_cause(char *text, size_t bytes, const struct result *r, const struct sample *s)
{
	const struct why *w = causes_find(r, s);

	if (!w)
		return;
	text_add(text, bytes, "Cause: ");
	if (*w->not_explained) {
		text_add(text, bytes, "not explained: %s", w->not_explained);
		return;
	}
	add_name(text, bytes, w->class, why_name(w), why_cpu(w));
	if (w->named)
		text_add(text, bytes, ", %d %% of the %s", why_share_percent(w),
			 w->has_typical ? "excess" : "stage");
	if (w->named == 2) {
		text_add(text, bytes, "; ");
		add_name(text, bytes, w->part[1].class, w->part[1].name, w->part[1].cpu);
	}
}

void causes_write_cause(FILE *out, const struct result *r, const struct sample *s)
{
	char text[TEXT_BYTES] = "";

	causes_add_cause(text, sizeof(text), r, s);
	if (*text)
		fprintf(out, "  %s\n", text);
}
