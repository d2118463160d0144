// SPDX-License-Identifier: GPL-2.0-or-later
/* Breaches with their timestamps, stages and blame. */
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/breach.h"
#include "report/text/freeze.h"
#include "report/text/label.h"
#include "report/text/stage.h"
#include "report/text/report.h"
#include "result/breach.h"
#include "result/result.h"
#include "result/stages.h"

const char *const json_metrics_of[] = { [METRIC_RTT] = "rtt_ns", [METRIC_RESPONSE] = "response_ns",
					[METRIC_NETWORK] = "network_ns" };
const char *const json_sources[SOURCES] = { [SOURCE_NONE] = NULL, [SOURCE_USER] = "user", [SOURCE_KERNEL] = "kernel",
					    [SOURCE_HARDWARE] = "hardware", [SOURCE_LOCAL] = "local" };

static const char *name_of(char name[JSON_NAME_BYTES], const struct part *p)
{
	return json_name(name, JSON_NAME_BYTES, p->name, "_ns");
}

static void put_stamps(struct json *j, const struct report *r, const struct sample *s)
{
	const enum role role = r->options->role;
	const int64_t remote = r->result->remote;

	json_object(j, "stamps");
	for (int i = 0; i < ALL_TIMES; i++) {
		char label[16], name[JSON_NAME_BYTES];

		if (label_has_time(role, remote, s, i) && !label_reported_twice(role, remote, i))
			json_integer(j, json_name(name, sizeof(name), label_time_name(label, sizeof(label), r, i),
						  "_ns"), s->time_ns[i]);
	}
	json_end(j);
}

static void put_gaps(struct json *j, const struct gaps *g)
{
	json_array(j, "not_known");
	for (int i = 0; i < g->used; i++) {
		json_object(j, NULL);
		json_array(j, "parts");
		for (int k = 0; k < g->gap[i].parts; k++)
			json_text(j, NULL, g->gap[i].part[k]);
		json_end(j);
		json_text(j, "why", g->gap[i].why);
		json_end(j);
	}
	json_end(j);
}

/* null: not known, or neither. */
static void put_cause(struct json *j, enum receive_cause cause)
{
	static const char *const causes[] = { [RECEIVE_CAUSE_THREAD] = "not_polling",
					      [RECEIVE_CAUSE_PACKET] = "packet_late",
					      [RECEIVE_CAUSE_INTERRUPT] = "interrupt_late" };

	json_text(j, "cause", causes[cause]);
}

static void put_blame(struct json *j, const struct report *r, const struct sample *s, const struct blame *b)
{
	char name[JSON_NAME_BYTES];

	json_object(j, "blame");
	json_text(j, "part", b->part ? name_of(name, b->part) : NULL);
	json_bool(j, "known", b->part || !b->unknown);
	if (b->part) {
		json_integer(j, "value_ns", b->part->value_ns);
		json_integer(j, "typical_ns", b->part->usual.value_ns);
		put_cause(j, breach_receive_cause(r, b->part, s));
	}
	json_end(j);
}

static void put_stages(struct json *j, const struct part *parts, int n)
{
	char name[JSON_NAME_BYTES];

	json_object(j, "parts");
	for (int i = 0; i < n; i++)
		if (parts[i].known && (parts[i].index != STAGES || parts[i].candidate))
			json_integer(j, name_of(name, &parts[i]), parts[i].value_ns);
	json_end(j);
}

static void put_blamed_stages(struct json *j, const struct report *r, const struct sample *s)
{
	struct part parts[PARTS_MAX];
	const int n = stage_find(r, parts);
	struct blame blame;

	breach_find_blame(r, parts, n, s, &blame);
	put_stages(j, parts, n);
	put_gaps(j, &blame.gaps);
	if (n)
		put_blame(j, r, s, &blame);
	else
		json_null(j, "blame");
}

/* The record of the loop, from which --report works out all that this file shows of the breach. */
static void put_record(struct json *j, const struct sample *s)
{
	json_object(j, "record");
	json_pair(j, "sources");
	for (int i = 0; i < ALL_TIMES; i++)
		json_text(j, NULL, json_sources[s->source[i]]);
	json_end(j);
	json_pair(j, "times_ns");
	for (int i = 0; i < ALL_TIMES; i++)
		json_integer_if(j, NULL, s->source[i], s->time_ns[i]);
	json_end(j);
	json_text(j, "reflector_stamps", label_follow_ups[s->follow_up].flag);
	json_bool(j, "same_timebase", s->same_timebase);
	json_bool(j, "off_scale", s->off_scale);
	json_bool(j, "alike", s->alike);
	json_count(j, "poll_gap_ns", s->poll_gap_ns);
	json_count(j, "remote_poll_gap_ns", s->remote_poll_gap_ns);
	json_end(j);
}

void json_breach(struct json *j, const char *name, const struct report *r, const struct sample *s, uint64_t number,
		 bool over)
{
	struct part parts[PARTS_MAX];
	int64_t value_ns;

	result_metric(r->result, s, &value_ns);
	json_object(j, name);
	if (number)
		json_count(j, "number", number);
	json_count(j, "seq", s->seq);
	json_integer(j, "value_ns", value_ns);
	json_integer(j, "latency_ns", s->latency_ns);
	put_stamps(j, r, s);
	if (over)
		put_blamed_stages(j, r, s);
	else
		put_stages(j, parts, stage_of_sample(r, s, parts));
	if (over) {
		put_record(j, s);
		json_why(j, "why", causes_find(r->result, s));
	}
	json_end(j);
}

/* The last BREACHES_KEPT breaches. */
static void put_last(struct json *j, const struct report *r, uint64_t breaches)
{
	uint64_t first = breaches > BREACHES_KEPT - 1 ? breaches - (BREACHES_KEPT - 1) : 0;
	struct sample s;

	json_array(j, "last");
	for (uint64_t i = first; i < breaches; i++)
		if (breach_read(r->result, i, &s))
			json_breach(j, NULL, r, &s, i + 1, true);
	json_end(j);
}

void json_breaches(struct json *j, const struct report *r)
{
	const struct result *result = r->result;
	const struct options *o = r->options;
	const uint64_t breaches = counter_get(&result->account.breaches);

	if (!json_object_if(j, "breaches", o->threshold_ns && (!result->read || result->read->has_breaches)))
		return;
	json_integer(j, "threshold_ns", o->threshold_ns);
	json_text(j, "threshold_on", o->role == ROLE_EMIT ? json_metrics_of[o->threshold_on] : "response_ns");
	json_count(j, "count", breaches);
	if (breaches) {
		json_breach(j, "first", r, &result->breach, 1, true);
		json_breach(j, "worst", r, &result->worst, 0, true);
	} else {
		json_null(j, "first");
		json_null(j, "worst");
	}
	put_last(j, r, breaches);
	json_end(j);
}

static void put_freeze_cause(struct json *j, const struct freeze_cause *c)
{
	if (c->state == FREEZE_CAUSE_NONE) {
		json_null(j, "cause");
		return;
	}
	json_object(j, "cause");
	json_text(j, "state", freeze_cause_names[c->state]);
	if (c->state == FREEZE_CAUSE_KNOWN) {
		json_text(j, "stage", freeze_stages[c->stage].id);
		json_integer(j, "stage_ns", c->stage_ns);
		json_text(j, "class", cause_words[c->class].id);
		json_text(j, "name", *c->name ? c->name : NULL);
		json_optional(j, "cpu", c->cpu);
		json_integer(j, "value_ns", c->ns);
		json_count(j, "share_percent", c->percent);
	}
	json_end(j);
}

static void put_first_freeze(struct json *j, const struct result_freeze *z)
{
	const struct freeze_first *f = &z->first;

	json_object(j, "first");
	json_text(j, "outcome", freeze_names[f->outcome]);
	json_count(j, "seq", f->seq);
	json_optional(j, "own_ns", f->own_ns);
	json_optional(j, "peer_ns", f->peer_ns);
	json_optional(j, "peer_bound_ns", f->peer_bound_ns);
	json_count(j, "probes", f->probes);
	if (!f->holds.known)
		json_null(j, "buffer_holds_packet");
	else
		json_bool(j, "buffer_holds_packet", f->holds.value);
	json_text(j, "emitter", *z->emitter_name ? z->emitter_name : NULL);
	put_freeze_cause(j, &f->cause);
	json_end(j);
}

void json_freeze(struct json *j, const struct report *r)
{
	const struct result_freeze *z = &r->result->freeze;

	if (!json_object_if(j, "freeze", freeze_is_shown(r)))
		return;
	json_count(j, "asked", counter_get(&z->asked));
	json_count(j, "confirmed", counter_get(&z->confirmed));
	json_count(j, "refused", counter_get(&z->refused));
	json_count(j, "occupied", counter_get(&z->occupied));
	json_count(j, "unconfirmed", counter_get(&z->unconfirmed));
	json_count(j, "left_out", counter_get(&z->left_out));
	json_count(j, "of_peer", counter_get(&z->of_peer));
	json_count(j, "announced", counter_get(&z->announced));
	json_bool(j, "peer_supports", z->peer_supports);
	if (z->first.outcome)
		put_first_freeze(j, z);
	else
		json_null(j, "first");
	json_end(j);
}
