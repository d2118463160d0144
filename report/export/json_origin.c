// SPDX-License-Identifier: GPL-2.0-or-later
/* First members of an object, and the list of members of a run. */
#include "report/export/json_parts.h"

#include "report/text/confidence.h"
#include "report/text/report.h"
#include "report/text/version.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

void json_origin(struct json *j)
{
	json_text(j, "format", "rant");
	json_integer(j, "schema_version", JSON_SCHEMA_VERSION);
	json_text(j, "rant_version", RANT_VERSION);
	json_text(j, "rant_commit", version_commit());
}

bool json_read_member(struct json *j, const struct report *r, const char *path)
{
	const struct read *read = r->result->read;
	const char *point = strrchr(path, '.');

	for (int i = 0; read && i < READ_MEMBERS && read->member[i].path; i++) {
		if (strcmp(read->member[i].path, path) || !read->member[i].json)
			continue;
		json_raw(j, point ? point + 1 : path, read->member[i].json);
		return true;
	}
	return false;
}

static void put_level_changes(struct json *j, const struct level_changes *c)
{
	if (!c->is_judged) {
		json_null(j, "level_changes");
		return;
	}
	json_array(j, "level_changes");
	for (unsigned i = 0; i < c->count; i++) {
		const struct level_change *one = &c->change[i];

		json_row(j, NULL);
		json_text(j, "metric", one->is_p99 ? "p99" : "p50");
		json_integer(j, "after_ns", one->after_ns);
		json_integer(j, "before_ns", one->before_ns);
		json_integer(j, "now_ns", one->now_ns);
		json_text(j, "with", *one->with ? one->with : NULL);
		json_end(j);
	}
	json_end(j);
}

/* The numbers are of the percentiles of the latency, in their order. */
static void put_confidence(struct json *j, const struct confidence *c)
{
	if (!json_object_if(j, "confidence", confidence_is_by_blocks(c)))
		return;
	json_count(j, "blocks", c->blocks);
	json_count(j, "block_s", c->block_s);
	json_array(j, "effective_samples");
	for (int i = 0; i < PERCENTILES; i++)
		json_integer(j, NULL, c->effective[i]);
	json_end(j);
	json_end(j);
}

void json_rhythm(struct json *j, const struct report *report)
{
	const struct rhythm *r = &report->result->rhythm;

	if (!json_object_if(j, "rhythm", r->of))
		return;
	json_integer(j, "period_ns", r->period_ns);
	json_small(j, "p", r->p);
	json_integer(j, "in_phase", r->in_phase);
	json_integer(j, "of", r->of);
	json_integer(j, "from_ns", r->from_ns);
	json_integer(j, "during_ns", r->during_ns);
	if (!r->has_suspects) {
		json_null(j, "suspects");
		json_end(j);
		return;
	}
	json_array(j, "suspects");
	for (unsigned i = 0; i < r->suspects; i++) {
		json_row(j, NULL);
		json_text(j, "name", r->suspect[i].period.name);
		json_integer(j, "period_ns", r->suspect[i].period.period_ns);
		json_integer_if(j, "times", r->suspect[i].times, r->suspect[i].times);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void json_whole(struct json *j, const struct report *r, int status)
{
	json_run(j, r, true);
	json_integer(j, "exit_status", status);
	json_verdict(j, r);
	json_configuration(j, r);
	json_host(j, r);
	json_clocks(j, r);
	json_accounts(j, r);
	json_statistics(j, r, true);
	put_level_changes(j, &r->result->level_changes);
	put_confidence(j, &r->result->confidence);
	json_rhythm(j, r);
	json_modes(j, r);
	json_breaches(j, r);
	json_breach_causes(j, r);
	json_freeze(j, r);
	json_machine(j, r);
}

static void put_what_a_log_has(struct json *j, const struct read_file *f)
{
	json_integer_if(j, "first_stamp_ns", f->is_timed, f->first_stamp_ns);
	json_count(j, "left_out", f->left_out);
	json_bool(j, "stamps_changed", f->stamps_changed);
}

void json_read_from(struct json *j, const struct read *read)
{
	json_array(j, "read_from");
	for (unsigned i = 0; i < read->files; i++) {
		const struct read_file *f = &read->file[i];

		json_object(j, NULL);
		json_text(j, "file", f->path);
		json_text(j, "form", f->form);
		json_text(j, "role", role_name(f->role));
		json_count(j, "samples", f->samples);
		json_integer_if(j, "max_ns", f->samples, f->max_ns);
		json_text(j, "verdict", f->level.known ? verdict_levels[f->level.value] : NULL);
		json_integer_if(j, "run", f->run, f->run);
		json_text(j, "hostname", f->hostname);
		json_text(j, "interface", f->interface);
		json_optional(j, "began_unix_ns", f->began_unix_ns);
		json_optional(j, "slots", f->slots);
		json_optional(j, "missed", f->missed);
		if (!read->settings)
			put_what_a_log_has(j, f);
		json_end(j);
	}
	json_end(j);
}
