// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings, activity of the machine, saved traces, hook commands, log and verdict. */
#include "doctor/check.h"
#include "histogram.h"
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <math.h>

void json_finding(struct json *j, const struct check_reported *r)
{
	json_text(j, "level", r->level);
	json_text(j, "subject", r->subject);
	json_text(j, "what", r->what);
	json_text(j, "where", r->where);
	json_text(j, "why", r->why);
	json_text(j, "cure", r->cure);
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

const char *const json_activity_changes[JSON_ACTIVITY_CHANGES] = {
	[ACTIVITY_COUNTED] = "counted", [ACTIVITY_CHANGED] = "changed", [ACTIVITY_RESET] = "reset",
	[ACTIVITY_GONE] = "gone",
};

static void put_difference(struct json *j, const struct result_difference *d)
{
	json_object(j, NULL);
	json_text(j, "group", d->group);
	json_text(j, "name", d->name);
	json_text(j, "unit", *d->unit ? d->unit : NULL);
	json_text(j, "change", json_activity_changes[d->change]);
	if (d->change == ACTIVITY_COUNTED) {
		json_count(j, "count", d->delta);
	} else {
		json_count(j, "from", d->from);
		if (d->change == ACTIVITY_GONE)
			json_null(j, "to");
		else
			json_count(j, "to", d->to);
	}
	json_end(j);
}

/* Number of entries that are not written. */
static uint64_t left_out(const struct result_differences *all)
{
	return all->known && all->count > DIFFERENCES_SHOWN ? all->count - DIFFERENCES_SHOWN : 0;
}

static void put_differences(struct json *j, const char *name, const struct result_differences *all)
{
	if (!all->known) {
		json_null(j, name);
		return;
	}
	json_array(j, name);
	for (size_t i = 0; i < all->count && i < DIFFERENCES_SHOWN; i++)
		put_difference(j, &all->list[i]);
	json_end(j);
}

/* Packets sent when the counters were read. */
static void put_packets(struct json *j, const struct result_activity *a)
{
	json_integer_if(j, "first_breach_read_after", a->until_breach.known, (int64_t)a->until_breach.mark[1]);
	if (!a->before_worst.known) {
		json_null(j, "worst_breach_read_after");
		return;
	}
	json_pair(j, "worst_breach_read_after");
	json_count(j, NULL, a->before_worst.mark[0]);
	json_count(j, NULL, a->before_worst.mark[1]);
	json_end(j);
}

static void put_activity(struct json *j, const struct report *r)
{
	const struct result_activity *a = &r->result->activity;
	const uint64_t each[] = { left_out(&a->run), left_out(&a->until_breach), left_out(&a->before_worst) };

	json_object(j, "activity");
	put_differences(j, "run", &a->run);
	put_differences(j, "until_first_breach", &a->until_breach);
	put_differences(j, "before_worst_breach", &a->before_worst);
	if (a->is_read) {
		put_packets(j, a);
		json_count(j, "left_out", each[0] + each[1] + each[2]);
		json_pair(j, "left_out_each");
		for (int i = 0; i < 3; i++)
			json_count(j, NULL, each[i]);
		json_end(j);
		json_count(j, "not_read", a->counters_left_out + a->unreadables_left_out);
		json_array(j, "unreadable");
		for (unsigned i = 0; i < a->unreadables; i++)
			json_text(j, NULL, a->unreadable[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_counters(struct json *j, const struct result_counters *p)
{
	if (!json_object_if(j, "counters", p->counters))
		return;
	json_bool(j, "user_only", p->user_only);
	json_count(j, "quick_exchanges", p->quick);
	json_count(j, "slow_exchanges", p->slow);
	json_count(j, "failed_exchanges", p->failed);
	json_count(j, "system_calls", p->system_calls);
	json_text(j, "not_counted", *p->missing ? p->missing : NULL);
	json_array(j, "each");
	for (unsigned i = 0; i < p->counters; i++) {
		json_object(j, NULL);
		json_text(j, "name", p->name[i]);
		json_real(j, "quick_mean", p->quick ? p->quick_mean[i] : NAN, 1);
		json_count_if(j, "spike", p->slow, p->spike[i]);
		json_bool(j, "too_low", p->partial[i]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* ---- Trace, commands, log ---------------------------------------------------------------------------------------- */

/* errno of a step; null: it did not fail. */
static void put_error(struct json *j, const char *name, int error)
{
	json_integer_if(j, name, error, error);
}

static void put_last_breach(struct json *j, const struct trace_record *last)
{
	json_row(j, "last");
	json_count(j, "seq", last->seq);
	json_integer(j, "marker_after_ns", last->marker_ns);
	json_integer(j, "frozen_after_ns", last->frozen_ns);
	put_error(j, "marker_error", last->marker_error);
	put_error(j, "stop_error", last->stop_error);
	put_error(j, "snapshot_error", last->snapshot_error);
	json_bool(j, "snapshot_taken", last->snapshot_taken);
	json_bool(j, "off_before", last->off_before);
	json_end(j);
}

static void put_saved(struct json *j, const struct trace_saved *s)
{
	json_text(j, "saved", *s->path ? s->path : NULL);
	json_text(j, "saved_from", *s->path ? s->source : NULL);
	json_optional(j, "spike_cpu", s->spike_cpu);
	json_bool(j, "snapshot_skipped", s->swap_skipped);
	json_optional(j, "events_lost", s->lost_events);
	json_count(j, "not_saved", s->left_out.parts);
	json_text(j, "not_saved_first", *s->left_out.first ? s->left_out.first : NULL);
}

static void put_trace(struct json *j, const struct report *r)
{
	const struct result_trace *t = &r->result->trace;

	if (!json_object_if(j, "trace", evidence_has_trace(t)))
		return;
	json_text(j, "path", t->path);
	json_text(j, "clock", t->clock);
	json_count(j, "markers", t->marked);
	json_count(j, "refused", t->refused);
	json_count(j, "off", t->off);
	json_count(j, "while_frozen", t->while_frozen);
	put_error(j, "start_error", t->start_error);
	json_bool(j, "frozen", t->frozen);
	json_bool(j, "unsaved", t->unsaved);
	put_last_breach(j, &t->last);
	json_count(j, "saves", t->saves);
	put_saved(j, &t->saved);
	json_end(j);
}

static void put_commands(struct json *j, const struct report *r)
{
	const struct result_commands *a = &r->result->commands;

	json_array(j, "commands");
	for (int i = 0; i < a->commands; i++) {
		json_object(j, NULL);
		json_text(j, "command", a->command[i]);
		json_count(j, "ran", a->ran[i]);
		json_count(j, "failed", a->failed[i]);
		json_count(j, "left_out", a->left_out[i]);
		json_end(j);
	}
	json_end(j);
	json_count_if(j, "breaches_without_command", a->commands, a->breaches_missed);
}

static void put_log(struct json *j, const struct report *r)
{
	const struct result_log *l = &r->result->log;

	if (!json_object_if(j, "log", l->exists))
		return;
	json_text(j, "path", l->path);
	json_text(j, "form", l->form);
	json_count(j, "records", l->written - l->removed);
	json_count(j, "left_out", l->overwritten + l->left_out);
	json_count(j, "unwritten", l->unwritten);
	json_integer(j, "octets", l->octets);
	json_count(j, "offered", l->offered);
	json_count(j, "overwritten", l->overwritten);
	json_count(j, "removed", l->removed);
	json_count(j, "not_kept", l->not_kept);
	json_integer_if(j, "last_file", l->rotates, (int64_t)l->file);
	json_bool(j, "written_during_run", l->beside);
	json_bool(j, "at_end_by_option", l->by_option_at_end);
	json_integer_if(j, "shortest_ns", l->shortest_ns, l->shortest_ns);
	put_error(j, "error", -l->error);
	json_end(j);
}

void json_machine(struct json *j, const struct report *r)
{
	put_activity(j, r);
	put_counters(j, &r->result->counters);
	put_trace(j, r);
	put_commands(j, r);
	put_log(j, r);
}

/* ---- The verdict ------------------------------------------------------------------------------------------------- */

static void put_reason(struct json *j, const struct verdict_reason *v)
{
	char found[VERDICT_MORE_BYTES + VERDICT_TEXT_BYTES];

	/* The name is the same in all runs: its numbers are in `found`. */
	snprintf(found, sizeof(found), "%s%s%s", *v->more ? v->more + 1 : "", *v->more ? ", " : "", v->text);
	json_object(j, NULL);
	json_text(j, "id", v->id);
	json_text(j, "name", v->name);
	json_text(j, "level", verdict_levels[v->level]);
	json_text(j, "found", found);
	json_text(j, "unit", v->unit);
	json_count(j, "number", v->number);
	json_count(j, "limit", v->limit);
	json_text(j, "why", v->why);
	json_end(j);
}

static void put_read_reason(struct json *j, const struct read_reason *v)
{
	json_object(j, NULL);
	if (*v->id)
		json_text(j, "id", v->id);
	json_text(j, "name", v->name);
	json_text(j, "level", verdict_levels[v->level]);
	json_text(j, "found", v->found);
	if (*v->id)
		json_text(j, "unit", v->unit);
	json_integer(j, "number", v->number);
	json_integer(j, "limit", v->limit);
	json_text(j, "why", v->why);
	json_text(j, "file", v->path);
	json_end(j);
}

void json_verdict(struct json *j, const struct report *r)
{
	const struct read *read = r->result->read;
	const struct verdict *v = r->verdict;

	if (!json_object_if(j, "verdict", v))
		return;
	json_text(j, "level", verdict_levels[v->level]);
	json_array(j, "reasons");
	for (unsigned i = 0; i < v->reasons; i++)
		put_reason(j, &v->reason[i]);
	for (unsigned i = 0; read && i < read->reasons; i++)
		put_read_reason(j, &read->reason[i]);
	json_end(j);
	if (!json_read_member(j, r, "verdict.not_judged")) {
		json_array(j, "not_judged");
		for (unsigned i = 0; i < v->unjudgeds; i++)
			json_text(j, NULL, v->unjudged[i].name);
		json_end(j);
	}
	if (!json_read_member(j, r, "verdict.tracing"))
		json_text(j, "tracing", r->tracing);
	json_end(j);
}
