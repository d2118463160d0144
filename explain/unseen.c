// SPDX-License-Identifier: GPL-2.0-or-later
/* SMI count, stolen time and disruptions around a breach. */
#include "explain/unseen.h"

#include "explain/cause.h"

#include <string.h>

#define COUNT_MAX (INT64_MAX / 4)
#define STEP_MAX_MS 1000

/* ---- breach.json ------------------------------------------------------------------------------------------------- */

static bool read_number(const struct tree *t, const char *name, int64_t *value)
{
	return tree_integer(tree_member(t, name), value) && *value >= 0 && *value <= COUNT_MAX;
}

static void read_counter(struct unseen_counter *c, const struct tree *t, const char *from, const char *to)
{
	evidence_read_name(tree_member(t, "not_known"), c->why, sizeof(c->why));
	if (!*c->why)
		snprintf(c->why, sizeof(c->why), "not in breach.json");
	c->known = read_number(t, "from_raw_ns", &c->from_ns) && read_number(t, "to_raw_ns", &c->to_ns) &&
		   c->to_ns > c->from_ns && read_number(t, from, &c->from) && read_number(t, to, &c->to);
}

static void read_disruptions(struct unseen_counter *c, const struct tree *t)
{
	bool changed = false;

	c->known = read_number(t, "from_raw_ns", &c->from_ns) && read_number(t, "to_raw_ns", &c->to_ns) &&
		   c->to_ns > c->from_ns && tree_is_bool(tree_member(t, "changed"), &changed);
	c->to = changed;
}

void unseen_read(struct unseen *u, const struct tree *t)
{
	int64_t number;

	*u = (struct unseen){ .there = tree_is_object(t), .cpu = -1 };
	if (!u->there)
		return;
	if (read_number(t, "cpu", &number) && number < TRACE_TEXT_CPUS_MAX)
		u->cpu = (int)number;
	read_counter(&u->smi, tree_member(t, "smi"), "from", "to");
	read_counter(&u->steal, tree_member(t, "steal"), "from_ms", "to_ms");
	if (!read_number(tree_member(t, "steal"), "step_ms", &u->step_ms) || !u->step_ms || u->step_ms > STEP_MAX_MS)
		u->steal.known = false;
	read_disruptions(&u->disruptions, tree_member(t, "disruptions"));
}

/* ---- The late stage ---------------------------------------------------------------------------------------------- */

/* True if the interval of the counter has the stage, which ended before the marker. */
static bool has_stage(const struct unseen_counter *n, const struct cause *c, const struct evidence *e)
{
	return n->known && e->raw_known && n->to_ns >= e->raw_ns &&
	       n->from_ns <= e->raw_ns - (e->placed_ns - c->from_ns) - c->bound_ns;
}

static struct optional difference(const struct unseen_counter *n, const struct cause *c, const struct evidence *e,
				  bool is_32_bits, char why[CAUSE_REASON_BYTES / 2])
{
	int64_t count = n->to - n->from;

	if (is_32_bits && count < 0)
		count += 1LL << 32;
	*why = '\0';
	if (has_stage(n, c, e) && count >= 0)
		return optional_of(count);
	snprintf(why, CAUSE_REASON_BYTES / 2, "%s", !n->known ? n->why : count < 0 ? "it was reset" :
		 "it was not read both before the stage and after it");
	return (struct optional){ .known = false };
}

void unseen_take(struct why_unseen *w, const struct cause *c, const struct evidence *e)
{
	const struct unseen *u = &e->unseen;

	*w = (struct why_unseen){ .there = u->there, .cpu = optional_cpu(u->cpu) };
	if (!u->there)
		return;
	w->smi_count = difference(&u->smi, c, e, true, w->smi_why);
	w->steal_ms = difference(&u->steal, c, e, false, w->steal_why);
	w->smi_within_ns = w->smi_count.known ? u->smi.to_ns - u->smi.from_ns : 0;
	w->steal_within_ns = w->steal_ms.known ? u->steal.to_ns - u->steal.from_ns : 0;
	w->steal_step_ms = w->steal_ms.known ? u->step_ms : 0;
	w->steal_ever = w->steal_ms.known && u->steal.to;
	if (has_stage(&u->disruptions, c, e))
		w->disrupted = optional_of(u->disruptions.to);
}
