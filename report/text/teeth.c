// SPDX-License-Identifier: GPL-2.0-or-later
/* Modes of the latency and its stages, each with the setting that explains it. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/text/stage.h"
#include "report/verdict/teeth.h"
#include "result/result.h"

#include <string.h>

const char *teeth_name(char *text, size_t bytes, const struct report *r, const struct tooth *t)
{
	struct stage stages[STAGES];
	struct part p;

	if (t->stage == TEETH_OF_LATENCY) {
		snprintf(text, bytes, "%s", r->options->role == ROLE_EMIT ? "RTT" : "Response");
		return text;
	}
	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	stage_name(&p, r, &stages[t->stage]);
	snprintf(text, bytes, "%s", p.name);
	return text;
}

/* Marks the largest modes. Returns their number. */
static unsigned choose(const struct modes *m, bool chosen[MODES_KEPT], unsigned most)
{
	unsigned n = 0;

	memset(chosen, 0, MODES_KEPT * sizeof(*chosen));
	for (; n < most && n < m->kept; n++) {
		int best = -1;

		for (unsigned i = 0; i < m->kept; i++)
			if (!chosen[i] && (best < 0 || m->mode[i].samples > m->mode[best].samples))
				best = (int)i;
		chosen[best] = true;
	}
	return n;
}

static void say_shares(char *text, size_t bytes, const struct modes *m, unsigned shares)
{
	bool chosen[MODES_KEPT];
	const char *before = choose(m, chosen, shares) < m->count ? ", the largest " : ": ";

	for (unsigned i = 0; i < m->kept; i++) {
		const double percent = modes_percent(m, &m->mode[i]);

		if (!chosen[i])
			continue;
		text_add(text, bytes, "%s%.*f %% near %.1f us", before, percent < 1 ? 1 : 0, percent,
			 label_us(m->mode[i].value_ns));
		before = ", ";
	}
}

void teeth_say(char *text, size_t bytes, const struct report *r, const struct tooth *t, unsigned shares)
{
	const struct modes *m = &t->modes;
	char name[48];

	*text = '\0';
	teeth_name(name, sizeof(name), r, t);
	if (m->count > 1)
		text_add(text, bytes, "%u modes of %s", m->count, name);
	else
		text_add(text, bytes, "Thin peak of %s", name);
	say_shares(text, bytes, m, shares);
	if (m->distance_ns)
		text_add(text, bytes, ", %.1f us apart", label_us(m->distance_ns));
	if (t->cause)
		text_add(text, bytes, ": %s: %s", t->cause->name, t->cause->cure);
}

void teeth_write(FILE *out, const struct report *r)
{
	char text[TEETH_TEXT_BYTES];

	if (!r->teeth || !r->teeth->count)
		return;
	fputs("\nModes:\n", out);
	for (unsigned i = 0; i < r->teeth->count; i++) {
		teeth_say(text, sizeof(text), r, &r->teeth->tooth[i], MODES_KEPT);
		fprintf(out, "  %s\n", text);
	}
}
