// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence of breaches: a frozen or saved trace, and the commands that ran. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>
#include <string.h>

static void write_step(FILE *out, const char *what, int error)
{
	if (error)
		fprintf(out, "  %s failed: %s\n", what, strerror(error));
}

static void write_unsaved(FILE *out, const struct result_trace *t)
{
	if (t->unsaved)
		fprintf(out, "  Evidence  : %s/%s\n", t->path, t->last.snapshot_taken ? "snapshot" : "trace");
}

/* Location of the evidence, and its limits. */
static void write_frozen(FILE *out, const struct report *r)
{
	const struct result_trace *t = &r->result->trace;
	const struct trace_record *last = &t->last;

	/* A trace that --trace-rearm has switched on again was stopped before. */
	fprintf(out, "  %s at #%" PRIu32 ", %.1f us after the breach was seen",
		t->frozen || !last->stop_error ? "Stopped" : "Not stopped", last->seq,
		label_us(last->frozen_ns));
	if (r->options->verbose)
		fprintf(out, " (marker written after %.1f us)", label_us(last->marker_ns));
	fputc('\n', out);
	write_step(out, "Writing the marker", last->marker_error);
	write_step(out, "Switching tracing off", last->stop_error);
	write_step(out, "The snapshot", last->snapshot_error);
	write_unsaved(out, t);
}

static void write_folder(FILE *out, const struct trace_saved *s)
{
	fprintf(out, "  Saved     : %s, from %s", s->path, s->source);
	if (s->spike_cpu.known)
		fprintf(out, ", the spike is in cpu%" PRId64 ".txt", s->spike_cpu.value);
	fputc('\n', out);
}

static void write_saved(FILE *out, const struct trace_saved *s)
{
	write_folder(out, s);
	if (!s->spike_cpu.known)
		fprintf(out,
			"  The marker of the breach is in no file: the buffer may be too small, or tracing was off\n");
	if (s->swap_skipped)
		fprintf(out, "  The kernel skipped the snapshot, so the trace itself was saved\n");
	if (s->lost_events.value)
		fprintf(out, "  Overwritten before the first line: %" PRId64 " events\n", s->lost_events.value);
	if (s->left_out.parts)
		fprintf(out, "  Not saved : %s%s\n", s->left_out.first,
			s->left_out.parts > 1 ? " and other parts" : "");
}

/* The trace is frozen, is not saved yet, or a step at its last breach failed. */
static bool is_worth_printing(const struct result_trace *t)
{
	const struct trace_record *last = &t->last;
	bool wrong = last->marker_error || last->stop_error || last->snapshot_error;

	return t->frozen || ((t->unsaved || wrong) && !last->off_before);
}

void evidence_write_place(FILE *out, const struct report *r)
{
	const struct result_trace *t = &r->result->trace;

	if (*t->saved.path)
		write_folder(out, &t->saved);
	else if (evidence_has_trace(t) && is_worth_printing(t))
		write_unsaved(out, t);
}

void evidence_write_trace(FILE *out, const struct report *r)
{
	const struct result_trace *t = &r->result->trace;

	fprintf(out, "\nTrace (tracing changes the measured latencies):\n");
	account_count(out, "Markers", t->marked, "of breaches");
	if (t->refused)
		account_count(out, "Refused", t->refused, "markers that the kernel did not take");
	if (t->off)
		account_count(out, "Off", t->off,
			      "breaches while others had switched tracing off: not traced");
	if (t->while_frozen)
		account_count(out, "While off", t->while_frozen,
			      "breaches while the trace was frozen: not traced");
	write_step(out, "Writing RANT_TEST_START", t->start_error);
	if (t->saves)
		account_count(out, "Saves", t->saves, NULL);
	if (is_worth_printing(t))
		write_frozen(out, r);
	if (*t->saved.path)
		write_saved(out, &t->saved);
}

void evidence_write_commands(FILE *out, const struct report *r)
{
	const struct result_commands *a = &r->result->commands;

	fprintf(out, "\nCommands:\n");
	for (int i = 0; i < a->commands; i++) {
		fputs("  ", out);
		for (const char *c = a->command[i]; *c; c++)
			fputc(text_shown(*c), out);
		fprintf(out, ": ran %u time%s", a->ran[i], a->ran[i] == 1 ? "" : "s");
		if (a->failed[i])
			fprintf(out, ", %u failed", a->failed[i]);
		if (a->left_out[i])
			fprintf(out, ", %u breaches came while it still ran", a->left_out[i]);
		fputc('\n', out);
	}
	if (a->breaches_missed)
		fprintf(out, "  %" PRIu64 " breaches were not reported, newer breaches had replaced them\n",
			a->breaches_missed);
}
