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
	const char *text = tree_text(source);
	int k = SOURCE_USER;

	if (!text)
		return !source;
	while (k < SOURCES && strcmp(text, json_sources[k]))
		k++;
	s->source[i] = (uint8_t)k;
	return k < SOURCES && run_take_time(&s->time_ns[i], ns);
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

static bool take_flag(const struct tree *t)
{
	bool yes;

	return tree_is_bool(t, &yes) && yes;
}

static bool take_gap(uint32_t *to, const struct tree *t)
{
	uint64_t ns;

	if (!run_take_number(&ns, t) || ns > UINT32_MAX)
		return false;
	*to = (uint32_t)ns;
	return true;
}

static bool take_sample(struct sample *s, const struct tree *t)
{
	const struct tree *record = tree_member(t, "record");
	const struct tree *sources = tree_member(record, "sources"), *times = tree_member(record, "times_ns");
	uint64_t seq;

	*s = (struct sample){ .same_timebase = take_flag(tree_member(record, "same_timebase")),
			      .off_scale = take_flag(tree_member(record, "off_scale")),
			      .alike = take_flag(tree_member(record, "alike")) };
	if (!run_take_number(&seq, tree_member(t, "seq")) || seq > UINT32_MAX ||
	    !run_take_time(&s->latency_ns, tree_member(t, "latency_ns")))
		return false;
	s->seq = (uint32_t)seq;
	for (int i = 0; i < ALL_TIMES; i++)
		if (!take_time(s, i, tree_item(sources, (size_t)i), tree_item(times, (size_t)i)))
			return false;
	return take_follow_up(s, tree_member(record, "reflector_stamps")) &&
	       take_gap(&s->poll_gap_ns, tree_member(record, "poll_gap_ns")) &&
	       take_gap(&s->remote_poll_gap_ns, tree_member(record, "remote_poll_gap_ns"));
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

static bool take_first_freeze(struct result_freeze *z, const struct tree *t)
{
	const char *outcome = tree_text(tree_member(t, "outcome"));
	const struct tree *holds = tree_member(t, "buffer_holds_packet");
	struct freeze_first *f = &z->first;
	bool yes;
	uint64_t seq, probes;
	int i = FREEZE_WAITING;

	while (outcome && i < FREEZE_OUTCOMES && strcmp(outcome, freeze_names[i]))
		i++;
	if (!outcome || i == FREEZE_OUTCOMES || !run_take_number(&seq, tree_member(t, "seq")) || seq > UINT32_MAX ||
	    !run_take_number(&probes, tree_member(t, "probes")) || probes > UINT32_MAX)
		return false;
	*f = (struct freeze_first){ .outcome = (enum freeze_outcome)i, .seq = (uint32_t)seq, .probes = (uint32_t)probes,
				    .holds = { .known = tree_is_bool(holds, &yes) } };
	if (f->holds.known)
		f->holds.value = yes;
	run_take_text(z->emitter_name, sizeof(z->emitter_name), tree_member(t, "emitter"));
	return take_duration(&f->own_ns, tree_member(t, "own_ns")) &&
	       take_duration(&f->peer_ns, tree_member(t, "peer_ns")) &&
	       take_duration(&f->peer_bound_ns, tree_member(t, "peer_bound_ns"));
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
	z->peer_supports = take_flag(tree_member(t, "peer_supports"));
	if (tree_is_object(first) && !take_first_freeze(z, first))
		return run_refuse(path, "freeze", "is not valid");
	return 0;
}
