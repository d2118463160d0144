// SPDX-License-Identifier: GPL-2.0-or-later
/* The breaches of a run. Several runs have several thresholds, or other hosts. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"

#include <errno.h>

/* Takes a source and its time. A time without a source is not known. */
static bool take_time(struct sample *s, int i, const struct tree *source, const struct tree *ns)
{
	const int k = run_index_of(source, json_sources, SOURCE_USER, SOURCES);

	if (k < 0)
		return !source;
	s->source[i] = (uint8_t)k;
	return run_take_time(&s->time_ns[i], ns);
}

static bool take_follow_up(struct sample *s, const struct tree *t)
{
	const char *text = tree_text(t);
	int i = 0;

	while (text && i < FOLLOW_UPS && strcmp(text, label_follow_ups[i].flag))
		i++;
	s->follow_up = (uint8_t)i;
	return text && i < FOLLOW_UPS;
}

static bool take_sample(struct sample *s, const struct tree *t)
{
	const struct tree *record = tree_member(t, "record");
	const struct tree *sources = tree_member(record, "sources"), *times = tree_member(record, "times_ns");

	*s = (struct sample){ .same_timebase = run_is_true(tree_member(record, "same_timebase")),
			      .off_scale = run_is_true(tree_member(record, "off_scale")),
			      .alike = run_is_true(tree_member(record, "alike")) };
	if (!run_take_u32(&s->seq, tree_member(t, "seq")) || !run_take_time(&s->latency_ns, tree_member(t, "latency_ns")))
		return false;
	for (int i = 0; i < ALL_TIMES; i++)
		if (!take_time(s, i, tree_item(sources, (size_t)i), tree_item(times, (size_t)i)))
			return false;
	return take_follow_up(s, tree_member(record, "reflector_stamps")) &&
	       run_take_u32(&s->poll_gap_ns, tree_member(record, "poll_gap_ns")) &&
	       run_take_u32(&s->remote_poll_gap_ns, tree_member(record, "remote_poll_gap_ns"));
}

static bool take_breach(struct outcome *o, struct sample *s, const struct tree *t)
{
	return take_sample(s, t) && run_take_why(o, s, tree_member(t, "why"));
}

/* All that breach_read() gives. */
static bool take_last(struct outcome *o, const struct tree *list, uint64_t breaches)
{
	const uint64_t kept = breaches < BREACHES_KEPT ? breaches : BREACHES_KEPT - 1;

	if (tree_length(list) != kept)
		return false;
	for (uint64_t i = 0; i < kept; i++)
		if (!take_breach(o, &o->result.kept[(breaches - kept + i) % BREACHES_KEPT], tree_item(list, i)))
			return false;
	return true;
}

static bool take_threshold(struct options *o, const struct tree *t)
{
	const char *on = tree_text(tree_member(t, "threshold_on"));
	int i = METRIC_RTT;

	while (on && o->role == ROLE_EMIT && i <= METRIC_NETWORK && strcmp(on, json_metrics_of[i]))
		i++;
	o->threshold_on = i;
	return on && i <= METRIC_NETWORK && run_count(tree_member(t, "threshold_ns"), &o->threshold_ns) &&
	       o->threshold_ns;
}

int run_take_breaches(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *t = tree_member(root, "breaches"), *last = tree_member(t, "last");
	const uint64_t breaches = counter_get(&o->result.account.breaches);
	struct options threshold = o->options;
	struct result *r = &o->result;
	uint64_t count;

	if (!tree_is_object(t) || o->read.files > 1)
		return 0;
	/* A file of an older version has no records. */
	if (breaches && !tree_at(t, "first.record"))
		return 0;
	if (!take_threshold(&threshold, t) || !run_take_number(&count, tree_member(t, "count")) || count != breaches ||
	    (breaches && (!take_breach(o, &r->breach, tree_member(t, "first")) ||
			  !take_breach(o, &r->worst, tree_member(t, "worst")))) ||
	    !take_last(o, last, breaches))
		return run_refuse(path, "breaches", "is not valid");
	o->options = threshold;
	stages_of_role(o->options.role, options_on_wire(&o->options), r->stages);
	o->read.has_breaches = true;
	return run_take_causes(o, root, path);
}

/* ---- Freezing both hosts ----------------------------------------------------------------------------------------- */

static bool take_duration(struct optional *to, const struct tree *t)
{
	int64_t ns;

	if (!t)
		return true;
	if (!run_take_time(&ns, t) || ns < 0)
		return false;
	*to = optional_of(ns);
	return true;
}

/* A file of an older rant has none. */
static bool take_freeze_cause(struct freeze_cause *c, const struct tree *t)
{
	const int state = run_index_of(tree_member(t, "state"), freeze_cause_names, FREEZE_CAUSE_PENDING,
				       FREEZE_CAUSE_STATES);
	char id[CAUSE_STAGE_BYTES] = "", class[CAUSE_NAME_BYTES] = "";
	uint32_t cpu, percent;

	if (!tree_is_object(t))
		return true;
	if (state < 0)
		return false;
	c->state = (enum freeze_cause_state)state;
	if (c->state != FREEZE_CAUSE_KNOWN)
		return true;
	run_take_text(id, sizeof(id), tree_member(t, "stage"));
	run_take_text(class, sizeof(class), tree_member(t, "class"));
	run_take_text(c->name, sizeof(c->name), tree_member(t, "name"));
	while (c->stage < FREEZE_STAGES && strcmp(id, freeze_stages[c->stage].id))
		c->stage++;
	while (c->class < CAUSE_NOT_EXPLAINED && strcmp(class, cause_words[c->class].id))
		c->class++;
	if (run_take_u32(&cpu, tree_member(t, "cpu")))
		c->cpu = optional_of(cpu);
	if (c->stage == FREEZE_STAGES || c->class == CAUSE_NOT_EXPLAINED ||
	    !run_take_u32(&percent, tree_member(t, "share_percent")) || percent > 100 ||
	    !run_take_time(&c->stage_ns, tree_member(t, "stage_ns")) ||
	    !run_take_time(&c->ns, tree_member(t, "value_ns")) || c->ns < 0 || c->ns > c->stage_ns)
		return false;
	c->percent = (uint8_t)percent;
	return true;
}

static bool take_first_freeze(struct result_freeze *z, const struct tree *t)
{
	const int outcome = run_index_of(tree_member(t, "outcome"), freeze_names, FREEZE_WAITING, FREEZE_OUTCOMES);
	const struct tree *holds = tree_member(t, "buffer_holds_packet");
	struct freeze_first *f = &z->first;
	bool yes;

	if (outcome < 0 || !run_take_u32(&f->seq, tree_member(t, "seq")) ||
	    !run_take_u32(&f->probes, tree_member(t, "probes")))
		return false;
	f->outcome = (enum freeze_outcome)outcome;
	if (tree_is_bool(holds, &yes))
		f->holds = optional_of(yes);
	run_take_text(z->emitter_name, sizeof(z->emitter_name), tree_member(t, "emitter"));
	return take_duration(&f->own_ns, tree_member(t, "own_ns")) &&
	       take_duration(&f->peer_ns, tree_member(t, "peer_ns")) &&
	       take_duration(&f->peer_bound_ns, tree_member(t, "peer_bound_ns")) &&
	       take_freeze_cause(&f->cause, tree_member(t, "cause"));
}

int run_take_freeze(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *t = tree_member(root, "freeze"), *first = tree_member(t, "first");
	struct result_freeze *z = &o->result.freeze;
	const struct {
		const char *name;
		counter *to;
	} counts[] = {
		{ "asked", &z->asked }, { "confirmed", &z->confirmed }, { "refused", &z->refused },
		{ "occupied", &z->occupied }, { "unconfirmed", &z->unconfirmed }, { "left_out", &z->left_out },
		{ "of_peer", &z->of_peer }, { "announced", &z->announced },
	};

	if (!tree_is_object(t) || o->read.files > 1)
		return 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		int64_t count;

		if (!run_count(tree_member(t, counts[i].name), &count))
			return run_refuse(path, "freeze", "is not valid");
		counter_add(counts[i].to, (uint64_t)count);
	}
	z->peer_supports = run_is_true(tree_member(t, "peer_supports"));
	if (tree_is_object(first) && !take_first_freeze(z, first))
		return run_refuse(path, "freeze", "is not valid");
	return 0;
}
