// SPDX-License-Identifier: GPL-2.0-or-later
/* Order of the sections of the complete report, and the condition of each section. */
#include "report/text/report.h"

#include "options.h"
#include "report/text/breach.h"
#include "report/text/brief.h"
#include "report/text/freeze.h"
#include "report/text/label.h"
#include "report/text/sections.h"
#include "report/text/stage.h"
#include "report/verdict/rhythm_run.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void write_verdict(FILE *out, const struct report *r)
{
	const struct verdict *v = r->verdict;

	fputs("Measurement: ", out);
	verdict_write(out, v);
	fputc('\n', out);
	for (unsigned i = 0; r->options->verbose && i < v->reasons; i++)
		fprintf(out, "Why it matters: %s: %s\n", v->reason[i].name, v->reason[i].why);
	for (unsigned i = 0; r->options->verbose && i < v->unjudgeds; i++)
		fprintf(out, "Not judged, cannot be read: %s\n", v->unjudged[i].name);
	if (r->tracing)
		fprintf(out, "Note: tracing is on (%s): it changes the measured latencies\n", r->tracing);
}

void report_write_rhythm(FILE *out, const struct report *r)
{
	const struct rhythm *rhythm = &r->result->rhythm;
	char text[RHYTHM_TEXT_BYTES] = "";

	if (!rhythm->of)
		return;
	rhythm_say(text, sizeof(text), rhythm);
	fprintf(out, "\n%s\n", text);
	if (rhythm->from_ns)
		fprintf(out, "  in the %.0f s with most spikes, from %.0f s after the first sample on\n",
			label_seconds(rhythm->during_ns), label_seconds(rhythm->from_ns));
}

static void write_freeze(FILE *out, const struct report *r)
{
	char text[FREEZE_TEXT_BYTES] = "";

	freeze_say(text, sizeof(text), r);
	fprintf(out, "\n%s\n", text);
	*text = '\0';
	if (freeze_say_cause(text, sizeof(text), r))
		fprintf(out, "%s\n", text);
}

static void write_duration(FILE *out, const struct result *r)
{
	const double s = r->started ? label_seconds(r->ended_ns - r->began_ns) : 0;

	if (!r->read)
		fprintf(out, "Test is complete. Duration: %.2f s\n\n", s);
	else if (r->read->has_duration)
		fprintf(out, "Duration: %.2f s%s\n\n", s, r->read->files > 1 ? " in all" : "");
}

static void write_counts(FILE *out, const struct report *r)
{
	if (r->result->read && !r->result->read->has_accounts)
		fputs("\nNot in a log: packets sent and lost, samples left out, clocks, and the verdict\n", out);
	else
		account_write(out, r);
	if (r->result->log.exists)
		account_write_log(out, r);
}

static void write_machine(FILE *out, const struct report *r)
{
	const struct result *result = r->result;

	if (*result->affinity.text)
		fprintf(out, "\nMeasuring thread: %s\n", result->affinity.text);
	if (result->counters.counters)
		machine_write_counters(out, &result->counters);
	if (result->activity.is_read && (result->activity.until_breach.known || r->options->verbose))
		machine_write_activity(out, r);
	if (evidence_has_trace(&result->trace))
		evidence_write_trace(out, r);
	if (freeze_is_shown(r))
		write_freeze(out, r);
	if (result->commands.commands)
		evidence_write_commands(out, r);
	if (r->no_other_cpu)
		fprintf(out,
			"\nNothing was done beside the measurement (progress, commands, comparing the clocks, the "
			"report so far): no "
			"CPU but the measuring one may be used.\n");
}

void report_write_sections(FILE *out, const struct report *r, int columns)
{
	const struct read *read = r->result->read;
	char latency[64];

	if (!read || read->has_breaches)
		breach_write(out, r);
	write_duration(out, r->result);
	statistics_write(out, r->histogram);
	if (r->options->histogram)
		statistics_write_histograms(out, r, columns);
	report_write_rhythm(out, r);
	statistics_write_stages(out, r, columns);
	teeth_write(out, r);
	if (!read || (read->settings && read->files == 1))
		statistics_write_schedule(out, r, columns);
	ipdv_write(out, r, columns);
	source_ports_write(out, r);
	if (options_echoes(r->options))
		echo_write(out, r);
	label_latency(r->options, latency, sizeof(latency));
	fprintf(out, "\nLatency: %s (%s)\n", latency,
		label_stamps[options_on_wire(r->options) ? r->options->stamp : SOURCE_USER].clock);
	write_counts(out, r);
	if (clocks_are_shown(r))
		clocks_write(out, r);
	write_machine(out, r);
}

void report_write(FILE *out, const struct report *r, int columns)
{
	if (!options_complete(r->options)) {
		brief_write(out, r, brief_has_color(out, r));
		return;
	}
	headline_write(out, r);
	if (r->verdict)
		write_verdict(out, r);
	fputc('\n', out);
	report_write_sections(out, r, columns);
}

int report_columns(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col ? size.ws_col : 80;
}

int report_print(const struct report *r)
{
	FILE *out = r->stdout_taken ? stderr : stdout;

	report_write(out, r, report_columns(out));
	if (!fflush(out) && !ferror(out))
		return 0;
	warnx("the report could not be written to stdout: %s", strerror(errno));
	return -EIO;
}
