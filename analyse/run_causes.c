// SPDX-License-Identifier: GPL-2.0-or-later
/* The causes of breaches. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"
#include "result/causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Class, name and CPU. classes: number of the permitted classes. */
static bool take_cause(const struct tree *t, int classes, uint8_t *class, char name[CAUSE_NAME_BYTES],
		       struct optional *cpu)
{
	const char *id = tree_text(tree_member(t, "class"));
	const struct tree *at = tree_member(t, "cpu");
	int64_t number;
	int i = 0;

	while (id && i < classes && strcmp(id, cause_words[i].id))
		i++;
	*class = (uint8_t)i;
	run_take_text(name, CAUSE_NAME_BYTES, tree_member(t, "name"));
	if (at && (!tree_integer(at, &number) || number < 0 || number > INT16_MAX))
		return false;
	*cpu = at ? optional_of(number) : (struct optional){ .known = false };
	return id && i < classes;
}

/* A time of which 100 can be added. False: missing, or something else; `known` false: it must be null. */
static bool take_part_time(int64_t *ns, bool known, const struct tree *t)
{
	if (!known)
		return !t;
	return tree_integer(t, ns) && *ns >= 0 && *ns <= RUN_COUNT_MAX;
}

static bool take_parts(struct why *w, const struct tree *list)
{
	int64_t value_ns = 0, typical_ns = 0;

	w->parts = (unsigned)tree_length(list);
	if (!tree_is_array(list) || tree_length(list) > CAUSE_PARTS || w->named > w->parts)
		return false;
	for (unsigned i = 0; i < w->parts; i++) {
		const struct tree *t = tree_item(list, i);
		struct why_part *p = &w->part[i];

		if (!take_cause(t, OWNER_CLASSES, &p->class, p->name, &p->cpu) ||
		    !take_part_time(&p->value_ns, true, tree_member(t, "value_ns")) ||
		    !take_part_time(&p->typical_ns, w->has_typical, tree_member(t, "typical_ns")))
			return false;
		value_ns += p->value_ns;
		typical_ns += p->typical_ns;
	}
	return value_ns == w->value_ns && typical_ns == w->typical_ns;
}

/* A counter with the length of its interval, or neither and the reason. */
static bool take_counter(struct optional *count, int64_t *within_ns, char why[CAUSE_REASON_BYTES / 2],
			 const struct tree *t, const char *name, const char *within, const char *not_known)
{
	int64_t value = 0;

	if (!take_part_time(&value, tree_member(t, name), tree_member(t, name)) ||
	    !take_part_time(within_ns, tree_member(t, name), tree_member(t, within)))
		return false;
	if (tree_member(t, name))
		*count = optional_of(value);
	run_take_text(why, CAUSE_REASON_BYTES / 2, tree_member(t, not_known));
	return count->known == !*why;
}

/* Files of an older rant do not have it. */
static bool take_unseen(struct why_unseen *u, const struct tree *t)
{
	const struct tree *cpu = tree_member(t, "cpu"), *disrupted = tree_member(t, "disrupted");
	int64_t number = 0;
	bool is;

	if (!t)
		return true;
	u->there = true;
	if (!tree_is_object(t) || (cpu && (!tree_integer(cpu, &number) || number < 0 || number > INT16_MAX)) ||
	    !take_counter(&u->smi_count, &u->smi_within_ns, u->smi_why, t, "smi_count", "smi_within_ns",
			  "smi_not_known") ||
	    !take_counter(&u->steal_ms, &u->steal_within_ns, u->steal_why, t, "steal_ms", "steal_within_ns",
			  "steal_not_known") ||
	    !take_part_time(&u->steal_step_ms, u->steal_ms.known, tree_member(t, "steal_step_ms")) ||
	    tree_is_bool(tree_member(t, "steal_since_boot"), &u->steal_ever) != u->steal_ms.known ||
	    (disrupted && !tree_is_bool(disrupted, &is)))
		return false;
	if (cpu)
		u->cpu = optional_of(number);
	if (disrupted)
		u->disrupted = optional_of(is);
	return true;
}

/* The cause is the first part, or it is not an owner. */
static bool take_explained(struct why *w, const struct tree *t)
{
	char name[CAUSE_NAME_BYTES];
	uint64_t named;
	struct optional cpu;

	w->has_typical = tree_member(t, "typical_ns");
	if (!take_cause(t, CAUSE_NOT_EXPLAINED, &w->class, name, &cpu) ||
	    !run_take_number(&named, tree_member(t, "parts_named")) || named > 2 ||
	    !take_part_time(&w->value_ns, true, tree_member(t, "value_ns")) ||
	    !take_part_time(&w->typical_ns, w->has_typical, tree_member(t, "typical_ns")) ||
	    !take_part_time(&w->bound_ns, true, tree_member(t, "bound_ns")) ||
	    !run_take_number(&w->ordinary_packets, tree_member(t, "ordinary_packets")) ||
	    !run_take_number(&w->events, tree_member(t, "events")) ||
	    !take_unseen(&w->unseen, tree_member(t, "unseen")))
		return false;
	w->named = (uint8_t)named;
	run_take_text(w->stage, sizeof(w->stage), tree_member(t, "stage"));
	if (!*w->stage || !take_parts(w, tree_member(t, "parts")) || !named != (w->class >= OWNER_CLASSES))
		return false;
	return !named || (w->class == w->part[0].class && !strcmp(name, w->part[0].name) &&
			  optional_is_same(cpu, w->part[0].cpu));
}

static struct result_causes *causes_of_outcome(struct outcome *o)
{
	if (!o->result.causes)
		o->result.causes = calloc(1, sizeof(*o->result.causes));
	return o->result.causes;
}

bool run_take_why(struct outcome *o, const struct sample *s, const struct tree *t)
{
	struct result_causes *c;
	struct why *w;

	/* The first and the worst breach are in the list of the last breaches, too. */
	if (!t || causes_find(&o->result, s))
		return true;
	c = causes_of_outcome(o);
	if (!c || c->whys == CAUSES_MAX)
		return false;
	w = &c->why[c->whys];
	*w = (struct why){ .seq = s->seq, .latency_ns = s->latency_ns };
	run_take_text(w->not_explained, sizeof(w->not_explained), tree_member(t, "not_explained"));
	if (!*w->not_explained && !take_explained(w, t))
		return false;
	c->whys++;
	return true;
}

int run_take_causes(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *list = tree_member(root, "breach_causes");
	struct result_causes *c = list ? causes_of_outcome(o) : NULL;
	const size_t n = tree_length(list);

	if (!list)
		return 0;
	if (!c)
		return -ENOMEM;
	if (!tree_is_array(list) || n > CAUSES_MAX)
		return run_refuse(path, "breach_causes", "is not valid");
	for (size_t i = 0; i < n; i++) {
		const struct tree *t = tree_item(list, i);
		struct cause_count *to = &c->count[i];
		int64_t traces;

		if (!take_cause(t, CAUSE_CLASSES, &to->class, to->name, &to->cpu) ||
		    !run_count(tree_member(t, "count"), &traces) || !traces)
			return run_refuse(path, "breach_causes", "is not valid");
		to->traces = (uint64_t)traces;
		c->traces += to->traces;
		c->counts++;
	}
	return 0;
}
