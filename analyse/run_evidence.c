// SPDX-License-Identifier: GPL-2.0-or-later
/* Hardware counters, trace, commands and log of a run. Several runs have none of them. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/log/log_form.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

static bool take_counter(struct result_counters *to, unsigned i, const struct tree *t)
{
	const struct tree *mean = tree_member(t, "quick_mean");

	run_take_text(to->name[i], sizeof(to->name[i]), tree_member(t, "name"));
	to->partial[i] = run_is_true(tree_member(t, "too_low"));
	return *to->name[i] && (!mean || tree_number(mean, &to->quick_mean[i])) &&
	       run_take_number(&to->spike[i], tree_member(t, "spike"));
}

static bool take_counters(struct result_counters *to, const struct tree *t)
{
	const struct tree *each = tree_member(t, "each");

	if (!t)
		return true;
	to->user_only = run_is_true(tree_member(t, "user_only"));
	run_take_text(to->missing, sizeof(to->missing), tree_member(t, "not_counted"));
	if (!run_take_number(&to->quick, tree_member(t, "quick_exchanges")) ||
	    !run_take_number(&to->slow, tree_member(t, "slow_exchanges")) ||
	    !run_take_number(&to->failed, tree_member(t, "failed_exchanges")) ||
	    !run_take_u32(&to->system_calls, tree_member(t, "system_calls")) || tree_length(each) > PMC_MAX)
		return false;
	for (; to->counters < tree_length(each); to->counters++)
		if (!take_counter(to, to->counters, tree_item(each, to->counters)))
			return false;
	return to->counters;
}

/* ---- Trace ------------------------------------------------------------------------------------------------------- */

/* An errno; 0 if it is missing. */
static bool take_error(int *to, const struct tree *t)
{
	int64_t n;

	if (!run_count(t, &n) || n > INT16_MAX)
		return false;
	*to = (int)n;
	return true;
}

static bool take_last(struct trace_record *to, const struct tree *t)
{
	to->snapshot_taken = run_is_true(tree_member(t, "snapshot_taken"));
	to->off_before = run_is_true(tree_member(t, "off_before"));
	return run_take_u32(&to->seq, tree_member(t, "seq")) &&
	       run_take_time_or_0(&to->marker_ns, tree_member(t, "marker_after_ns")) &&
	       run_take_time_or_0(&to->frozen_ns, tree_member(t, "frozen_after_ns")) &&
	       take_error(&to->marker_error, tree_member(t, "marker_error")) &&
	       take_error(&to->stop_error, tree_member(t, "stop_error")) &&
	       take_error(&to->snapshot_error, tree_member(t, "snapshot_error"));
}

static bool take_saved(struct trace_saved *to, const struct tree *t)
{
	static const char *const sources[] = { "trace", "snapshot" }; /* as trace_save() names them */
	const struct tree *lost = tree_member(t, "events_lost"), *cpu = tree_member(t, "spike_cpu");
	const int from = run_index_of(tree_member(t, "saved_from"), sources, 0, 2);
	int64_t n;

	run_take_text(to->path, sizeof(to->path), tree_member(t, "saved"));
	to->source = sources[from > 0];
	to->swap_skipped = run_is_true(tree_member(t, "snapshot_skipped"));
	run_take_text(to->left_out.first, sizeof(to->left_out.first), tree_member(t, "not_saved_first"));
	if (cpu && (!run_count(cpu, &n) || n > INT16_MAX))
		return false;
	if (cpu)
		to->spike_cpu = optional_of(n);
	if (lost && !run_count(lost, &n))
		return false;
	if (lost)
		to->lost_events = optional_of(n);
	return run_take_u32(&to->left_out.parts, tree_member(t, "not_saved"));
}

static bool take_trace(struct result_trace *to, const struct tree *t)
{
	if (!t)
		return true;
	run_take_text(to->path, sizeof(to->path), tree_member(t, "path"));
	run_take_text(to->clock, sizeof(to->clock), tree_member(t, "clock"));
	to->frozen = run_is_true(tree_member(t, "frozen"));
	to->unsaved = run_is_true(tree_member(t, "unsaved"));
	return run_take_number(&to->marked, tree_member(t, "markers")) &&
	       run_take_number(&to->refused, tree_member(t, "refused")) &&
	       run_take_number(&to->off, tree_member(t, "off")) &&
	       run_take_number(&to->while_frozen, tree_member(t, "while_frozen")) &&
	       run_take_u32(&to->saves, tree_member(t, "saves")) &&
	       take_error(&to->start_error, tree_member(t, "start_error")) &&
	       take_last(&to->last, tree_member(t, "last")) && take_saved(&to->saved, t);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

/* 0, or -errno. */
static int take_commands(struct outcome *o, const struct tree *root)
{
	const struct tree *list = tree_member(root, "commands");
	struct result_commands *to = &o->result.commands;

	if (tree_length(list) > BREACH_COMMANDS_MAX ||
	    !run_take_number(&to->breaches_missed, tree_member(root, "breaches_without_command")))
		return -EINVAL;
	for (; to->commands < (int)tree_length(list); to->commands++) {
		const int i = to->commands;
		const struct tree *t = tree_item(list, (size_t)i);

		if (!tree_text(tree_member(t, "command")) || !run_take_u32(&to->ran[i], tree_member(t, "ran")) ||
		    !run_take_u32(&to->failed[i], tree_member(t, "failed")) ||
		    !run_take_u32(&to->left_out[i], tree_member(t, "left_out")))
			return -EINVAL;
		to->command[i] = o->read.command[i] = tree_copy_text(tree_member(t, "command"));
		if (!to->command[i])
			return -ENOMEM;
	}
	return 0;
}

/* ---- Log --------------------------------------------------------------------------------------------------------- */

static bool take_counts(struct result_log *to, const struct tree *t)
{
	uint64_t kept, left_out;

	if (!run_take_number(&kept, tree_member(t, "records")) ||
	    !run_take_number(&left_out, tree_member(t, "left_out")) ||
	    !run_take_number(&to->unwritten, tree_member(t, "unwritten")) ||
	    !run_take_number(&to->offered, tree_member(t, "offered")) ||
	    !run_take_number(&to->overwritten, tree_member(t, "overwritten")) ||
	    !run_take_number(&to->removed, tree_member(t, "removed")) ||
	    !run_take_number(&to->not_kept, tree_member(t, "not_kept")) || kept > UINT64_MAX - to->removed ||
	    left_out < to->overwritten)
		return false;
	to->written = kept + to->removed;
	to->left_out = left_out - to->overwritten;
	return true;
}

/* 0, or -errno. */
static int take_log(struct outcome *o, const struct tree *t)
{
	struct result_log *to = &o->result.log;
	const char *form = tree_text(tree_member(t, "form"));
	int i = 0;

	if (!t)
		return 0;
	while (form && i < LOG_FORMATS && strcmp(form, log_forms[i].name))
		i++;
	if (!form || i == LOG_FORMATS || !take_counts(to, t) || !run_take_time_or_0(&to->octets, tree_member(t, "octets")) ||
	    !run_take_time_or_0(&to->shortest_ns, tree_member(t, "shortest_ns")) ||
	    !run_take_number(&to->file, tree_member(t, "last_file")) ||
	    !take_error(&to->error, tree_member(t, "error")))
		return -EINVAL;
	to->exists = true;
	to->form = log_forms[i].name;
	to->error = -to->error;
	to->rotates = tree_member(t, "last_file");
	to->by_option_at_end = run_is_true(tree_member(t, "at_end_by_option"));
	to->beside = run_is_true(tree_member(t, "written_during_run"));
	to->path = o->read.log_path = tree_copy_text(tree_member(t, "path"));
	return to->path ? 0 : -ENOMEM;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static int take_all(struct outcome *o, const struct tree *root, const char *path)
{
	int error;

	if (!take_counters(&o->result.counters, tree_member(root, "counters")))
		return run_refuse(path, "counters", "is not valid");
	if (!take_trace(&o->result.trace, tree_member(root, "trace")))
		return run_refuse(path, "trace", "is not valid");
	error = take_commands(o, root);
	if (error == -EINVAL)
		return run_refuse(path, "commands", "is not valid");
	if (!error)
		error = take_log(o, tree_member(root, "log"));
	return error == -EINVAL ? run_refuse(path, "log", "is not valid") : error;
}

int run_take_evidence(struct outcome *o, const struct tree *root, const char *path)
{
	if (o->read.files == 1)
		return take_all(o, root, path);
	o->result.counters.counters = 0;
	*o->result.trace.path = '\0';
	o->result.commands.commands = 0;
	o->result.log.exists = false;
	return 0;
}
