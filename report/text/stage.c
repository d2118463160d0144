// SPDX-License-Identifier: GPL-2.0-or-later
/* Stages of an exchange: the collected stages of a run, and their names. */
#include "report/text/stage.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"
#include "result/stages.h"

#include <string.h>

static const char *place_of(const struct report *r, int i)
{
	const struct label_time *t = label_time(r->options->role, i);

	return t->place ? t->place : label_stamps[label_source_of(t, label_source(r, i))].place;
}

void stage_name(struct part *p, const struct report *r, const struct stage *s)
{
	const enum role role = r->options->role;
	const struct label_time *from = label_time(role, s->from), *to = label_time(role, s->to);
	const char *place = place_of(r, s->from);
	char a[16], b[16];

	if (s->less_from != s->less_to) {
		/* Without stamps on the wire at both hosts the difference includes time in the hosts. */
		const bool more = r->options->stamp == SOURCE_USER || r->result->remote == SOURCE_USER;

		strcpy(p->name, more ? "Network and hosts" : "Network");
		snprintf(p->formula, sizeof(p->formula), "%s - %s", label_roles[role].latency,
			 label_roles[ROLE_REFLECT].latency);
		return;
	}
	if (from->wire && to->wire)
		snprintf(p->name, sizeof(p->name), "%s", time_is_remote(s->from) ? "Response" : "Wire and reflector");
	else if (!from->wire && !to->wire && !stages_is_part(s))
		snprintf(p->name, sizeof(p->name), time_is_remote(s->from) ? "Remote app processing" : "App processing");
	else
		snprintf(p->name, sizeof(p->name), "%s%c%s-to-%s", time_is_remote(s->from) ? "Remote " : "",
			 time_is_remote(s->from) ? *place : *place & ~0x20, place + 1,
			 place_of(r, s->to));
	snprintf(p->formula, sizeof(p->formula), "%s - %s", label_time_name(b, sizeof(b), r, s->to),
		 label_time_name(a, sizeof(a), r, s->from));
}

struct percentile stage_typical(const struct histogram *h)
{
	return h->count > 1 ? histogram_percentile(h, 50, 100) : (struct percentile){ .value_ns = INT64_MAX };
}

bool stage_is_collected(const struct report *r, int i, const struct stage *s)
{
	const struct histogram *h = r->result->stage[i];
	const int64_t remote = r->result->remote;

	return h && (!s->peer || (h->count + h->negatives && !label_reported_twice(r->options->role, remote, s->from) &&
				  !label_reported_twice(r->options->role, remote, s->to)));
}

bool stage_is_split(const struct report *r)
{
	struct stage stages[STAGES];

	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	return r->options->role == ROLE_EMIT && stage_is_collected(r, STAGE_REMOTE_APP, &stages[STAGE_REMOTE_APP]);
}

static void set_stage(struct part *p, const struct report *r, int index, const struct stage *s,
		      const struct histogram *h)
{
	*p = (struct part){ .index = index, .stage = *s,
			    .usual = h ? stage_typical(h) : (struct percentile){ .value_ns = INT64_MAX } };
	stage_name(p, r, s);
}

/* The round trip of an emitter. */
static void set_whole(struct part *p, const struct report *r, const struct histogram *h)
{
	const bool on_wire = options_on_wire(r->options);
	struct stage whole = { .inside = true };

	stages_latency_times(ROLE_EMIT, on_wire, &whole.from, &whole.to);
	whole.less_from = whole.less_to = whole.from;
	set_stage(p, r, STAGES, &whole, h);
	if (!on_wire)
		strcpy(p->name, "Round trip");
}

int stage_find(const struct report *r, struct part parts[PARTS_MAX])
{
	const struct options *o = r->options;
	struct stage stages[STAGES];
	int n = 0;

	stages_of_role(o->role, options_on_wire(o), stages);
	for (int i = 0; i < STAGES; i++)
		if (stage_is_collected(r, i, &stages[i]))
			set_stage(&parts[n++], r, i, &stages[i], r->result->stage[i]);
	if (!n || o->role == ROLE_REFLECT)
		return n;
	set_whole(&parts[n], r, r->histogram);
	return n + 1;
}

/* A host without stamps on the wire reports its user-space times in both fields. */
static bool is_reported(const struct report *r, int i, const struct stage *s)
{
	const int64_t remote = r->result->remote;

	return r->result->stage[i] && (!s->peer || (!label_reported_twice(r->options->role, remote, s->from) &&
						     !label_reported_twice(r->options->role, remote, s->to)));
}

int stage_of_sample(const struct report *r, const struct sample *s, struct part parts[PARTS_MAX])
{
	const struct options *o = r->options;
	struct stage stages[STAGES];
	bool joined = false;
	int n = 0;

	stages_of_role(o->role, options_on_wire(o), stages);
	for (int i = 0; i < STAGES; i++) {
		int64_t value_ns;

		if (!is_reported(r, i, &stages[i]) || !stages_value(&stages[i], s, &value_ns))
			continue;
		set_stage(&parts[n], r, i, &stages[i], NULL);
		parts[n].known = true;
		parts[n++].value_ns = value_ns;
		joined |= o->role == ROLE_REFLECT || i == STAGE_NETWORK;
	}
	if (!n || joined)
		return n;
	set_whole(&parts[n], r, NULL);
	parts[n].known = parts[n].candidate = true;
	parts[n].value_ns = s->latency_ns;
	return n + 1;
}
