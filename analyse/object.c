// SPDX-License-Identifier: GPL-2.0-or-later
/* What was read as the object of --json. */
#include "analyse/object.h"

#include "analyse/outcome.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"

static void put_nulls(struct json *j, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_null(j, names[i]);
}

static void put_run(struct json *j, const struct outcome *o)
{
	static const char *const unknown[] = { "interface", "server", "port", "began_unix_ns", "end" };
	const struct result *result = &o->result;
	char latency[OUTCOME_FORMULA_BYTES];

	json_object(j, "run");
	json_text(j, "role", role_name(o->options.role));
	json_text(j, "stamp", label_stamps[options_on_wire(&o->options) ? o->options.stamp : SOURCE_USER].option);
	label_latency(&o->options, latency, sizeof(latency));
	json_text(j, "latency", latency);
	json_integer_if(j, "duration_ns", o->has_duration, result->ended_ns - result->began_ns);
	put_nulls(j, unknown, sizeof(unknown) / sizeof(unknown[0]));
	json_end(j);
}

static void put_verdict(struct json *j, const struct outcome *o)
{
	if (!o->report.verdict) {
		json_null(j, "verdict");
		return;
	}
	json_object(j, "verdict");
	json_text(j, "level", verdict_levels[o->verdict.level]);
	json_array(j, "reasons");
	for (unsigned i = 0; i < o->reasons; i++) {
		const struct outcome_reason *r = &o->reason[i];

		json_object(j, NULL);
		json_text(j, "name", r->name);
		json_text(j, "level", verdict_levels[r->level]);
		json_text(j, "found", r->found);
		json_integer(j, "number", r->number);
		json_integer(j, "limit", r->limit);
		json_text(j, "why", r->why);
		json_text(j, "file", r->path);
		json_end(j);
	}
	json_end(j);
	json_array(j, "not_judged");
	json_end(j);
	json_null(j, "tracing");
	json_end(j);
}

static void put_setting(struct json *j, const struct outcome_setting *s)
{
	static const char options[] = "configuration.options.";
	const char *name = s->path + sizeof(options) - 1;

	if (strncmp(s->path, options, sizeof(options) - 1))
		return; /* it stands elsewhere in the object */
	if (s->kind == SETTING_NUMBER)
		json_integer(j, name, s->number);
	else if (s->kind == SETTING_BOOL)
		json_bool(j, name, s->number);
	else
		json_text(j, name, s->kind == SETTING_TEXT ? s->text : NULL);
}

/* Options that all runs have alike; of a log nearly none is known. */
static void put_configuration(struct json *j, const struct outcome *o)
{
	static const char *const always[] = { "interface", "port", "timeout_ns" };

	json_object(j, "configuration");
	json_null(j, "command_line");
	json_object(j, "options");
	put_nulls(j, always, o->settings ? 2 : 3);
	for (unsigned i = 0; i < o->settings; i++)
		put_setting(j, &o->setting[i]);
	if (!o->settings) {
		json_text(j, "stamp", label_stamps[o->options.stamp].option);
		json_integer(j, "overflow_ns", o->options.overflow_ns);
		json_bool(j, "sw_timestamps", o->options.sw_timestamps);
		json_bool(j, "no_tx_ts", o->options.no_tx_stamps);
		json_bool(j, "plain", o->options.plain);
	}
	json_end(j);
	json_null(j, "granted");
	json_end(j);
}

static void put_host(struct json *j)
{
	static const char *const names[] = { "hostname", "kernel", "kernel_version", "real_time_kernel", "machine",
					     "cpu_model", "cpus_online",
					     "measuring_cpu", "governor", "isolated_cpus", "clocksource", "virtual",
					     "hypervisor" };

	json_object(j, "host");
	put_nulls(j, names, sizeof(names) / sizeof(names[0]));
	json_end(j);
}

static void put_accounts(struct json *j, const struct outcome *o)
{
	static const char *const packets[] = { "sent", "received", "recorded", "breaches" };

	if (o->has_accounts) {
		json_accounts(j, &o->report);
		return;
	}
	json_object(j, "accounts");
	json_object(j, "packets");
	put_nulls(j, packets, sizeof(packets) / sizeof(packets[0]));
	json_end(j);
	json_object(j, "missing_stamps");
	json_end(j);
	json_null(j, "rate_per_s");
	json_end(j);
}

static void put_rest(struct json *j)
{
	static const char *const activity[] = { "run", "until_first_breach", "before_worst_breach" };
	static const char *const nulls[] = { "counters", "trace", "log" };

	json_null(j, "breaches");
	json_object(j, "activity");
	put_nulls(j, activity, sizeof(activity) / sizeof(activity[0]));
	json_end(j);
	put_nulls(j, nulls, sizeof(nulls) / sizeof(nulls[0]));
	json_array(j, "commands");
	json_end(j);
	json_array(j, "findings");
	json_end(j);
}

static void put_what_a_log_tells(struct json *j, const struct outcome_file *f)
{
	json_integer_if(j, "first_stamp_ns", f->is_timed, f->first_stamp_ns);
	json_count(j, "left_out", f->left_out);
	json_bool(j, "stamps_changed", f->stamps_changed);
}

static void put_files(struct json *j, const struct outcome *o)
{
	json_array(j, "read_from");
	for (unsigned i = 0; i < o->files; i++) {
		const struct outcome_file *f = &o->file[i];

		json_object(j, NULL);
		json_text(j, "file", f->path);
		json_text(j, "form", f->form);
		json_text(j, "role", role_name(f->role));
		json_count(j, "samples", f->samples);
		json_integer_if(j, "max_ns", f->samples, f->max_ns);
		json_text(j, "verdict", f->level < 0 ? NULL : verdict_levels[f->level]);
		json_integer_if(j, "run", f->run, f->run);
		json_text(j, "hostname", f->hostname);
		json_text(j, "interface", f->interface);
		json_integer_if(j, "began_unix_ns", f->began_unix_ns >= 0, f->began_unix_ns);
		json_integer_if(j, "slots", f->slots >= 0, f->slots);
		json_integer_if(j, "missed", f->missed >= 0, f->missed);
		if (!o->settings)
			put_what_a_log_tells(j, f);
		json_end(j);
	}
	json_end(j);
}

/* A log has all that its round trips differ by; of several runs the differences are not known, but for their sums. */
static void put_figures(struct json *j, const struct outcome *o, bool histograms)
{
	json_figures(j, &o->report, histograms);
	if (!o->settings && o->options.role == ROLE_EMIT)
		json_variations(j, &o->report);
}

void object_write_first(struct json *j, const struct outcome *o)
{
	json_origin(j);
	put_run(j, o);
	put_configuration(j, o);
	put_host(j);
	json_null(j, "nic");
}

void object_write_summary(struct json *j, const struct outcome *o)
{
	put_run(j, o);
	json_integer(j, "exit_status", 0);
	put_verdict(j, o);
	json_null(j, "clocks");
	put_accounts(j, o);
	put_figures(j, o, false);
	json_integer_if(j, "breaches_not_told", o->has_accounts, (int64_t)counter_get(&o->result.account.breaches));
	put_files(j, o);
}

void object_write(struct json *j, const struct outcome *o)
{
	if (o->has_seconds)
		json_end(j);
	put_run(j, o);
	json_integer(j, "exit_status", 0);
	put_verdict(j, o);
	put_configuration(j, o);
	put_host(j);
	json_null(j, "nic");
	json_null(j, "clocks");
	put_accounts(j, o);
	put_figures(j, o, true);
	put_rest(j);
	put_files(j, o);
	json_end(j);
}
