// SPDX-License-Identifier: GPL-2.0-or-later
/* The brief report: the first line, the verdict with its cures, the table of stages, losses, the machine, and the lines
 * that scripts match. */
#include "report/text/brief.h"

#include "histogram.h"
#include "options.h"
#include "report/text/breach.h"
#include "report/text/causes.h"
#include "report/text/confidence.h"
#include "report/text/freeze.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "report/text/stage.h"
#include "report/verdict/rhythm_run.h"
#include "report/verdict/teeth.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD "1"
#define LOSS_LINES 2
#define FREEZE_LINES 2
#define REASONS_SHOWN 2
#define REASON_LINES 2
#define SHARES_SHOWN 3 /* of modes */

/* ---- Lines within the columns ------------------------------------------------------------------------------------ */

struct paragraph {
	char text[640];
	const char *color; /* of the first `coloured` characters; NULL: none */
	size_t coloured;
};

#define add(p, ...) text_add((p)->text, sizeof((p)->text), __VA_ARGS__)

/* The number of characters of `text` that fit into `space` columns, up to a blank if it has one. */
static size_t fitting(const char *text, size_t space)
{
	size_t end = strlen(text);

	if (end <= space)
		return end;
	for (end = space; end && text[end] != ' ';)
		end--;
	return end ? end : space;
}

/* Continuation lines are indented. Text beyond the last line is replaced by dots. */
static void write_lines(FILE *out, const struct paragraph *p, unsigned lines)
{
	const char *text = p->text;

	for (unsigned i = 0; i < lines && *text; i++) {
		const size_t indent = i ? 4 : 0, rest = strlen(text);
		size_t n = fitting(text, BRIEF_COLUMNS - indent);
		const bool cut = n < rest && i + 1 == lines;

		if (cut)
			n = fitting(text, BRIEF_COLUMNS - indent - 4);
		fprintf(out, "%*s", (int)indent, "");
		if (!i && p->color)
			fprintf(out, "\033[%sm", p->color);
		for (size_t k = 0; k < n; k++) {
			fputc(text[k], out);
			if (!i && p->color && k + 1 == p->coloured)
				fputs("\033[0m", out);
		}
		fputs(cut ? " ...\n" : "\n", out);
		text += n;
		text += strspn(text, " ");
	}
}

/* ---- The answer and the verdict ---------------------------------------------------------------------------------- */

/* Three digits in the largest unit below the value. */
static void add_time(struct paragraph *p, const char *before, int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { NS_PER_S, "s" }, { NS_PER_MS, "ms" }, { NS_PER_US, "us" } };
	size_t i = 0;

	while (i + 1 < sizeof(units) / sizeof(units[0]) && ns < units[i].ns)
		i++;

	const double value = (double)ns / (double)units[i].ns;

	add(p, "%s%.*f %s", before, value < 10 ? 2 : value < 100 ? 1 : 0, value, units[i].name);
}

static void add_grouped(struct paragraph *p, uint64_t n)
{
	char text[32] = "";

	text_add_grouped(text, sizeof(text), n);
	add(p, "%s", text);
}

static void write_answer(FILE *out, const struct report *r, bool color)
{
	const struct histogram *h = r->histogram;
	struct paragraph p = { .text = "" };
	char limit[48];

	add(&p, r->options->role == ROLE_EMIT ? "RTT " : "Response ");
	if (h->count && *limit_text(limit, sizeof(limit), r, LIMIT_LATENCY))
		add(&p, "(%s) ", limit);
	if (h->count) {
		const struct percentile typical = histogram_percentile(h, 50, 100),
					rare = histogram_percentile(h, 999, 1000);

		add_time(&p, "p50 ", typical.value_ns);
		add_time(&p, ", p99.9 ", rare.value_ns);
		add_time(&p, ", max ", h->max_ns);
		add(&p, " (#%" PRIu32 ") of ", h->max_seq);
		add_grouped(&p, h->count);
		add(&p, h->count == 1 ? " sample" : " samples");
	} else {
		add(&p, "not known: no samples");
	}
	if (color) {
		p.color = BOLD;
		p.coloured = fitting(p.text, BRIEF_COLUMNS);
	}
	write_lines(out, &p, 2);
}

static const char *color_of(enum verdict_level level)
{
	static const char *const colors[] = { [VERDICT_TRUSTED] = "32", [VERDICT_DOUBTFUL] = "33",
					      [VERDICT_VOID] = "31" };

	return colors[level];
}

/* Truncates the finding where the cure would not fit otherwise. */
static void add_reason(struct paragraph *p, const struct verdict_reason *v)
{
	const size_t space = REASON_LINES * (BRIEF_COLUMNS - 14);

	add(p, "%s%s", v->name, v->more);

	const size_t used = strlen(p->text) + strlen(v->cure ? v->cure : "") + 10;

	if (used + strlen(v->text) <= space)
		add(p, *v->text ? " (%s)" : "%s", v->text);
	else if (used < space)
		add(p, " (%.*s ...)", (int)fitting(v->text, space - used), v->text);
	if (v->cure && *v->cure)
		add(p, ": %s", v->cure);
}

/* Writes the reasons that saved runs contain, which have no cure. */
static bool add_reason_at(struct paragraph *p, const struct report *r, unsigned i)
{
	const struct read *read = r->result->read;

	if (i < r->verdict->reasons) {
		add_reason(p, &r->verdict->reason[i]);
		return true;
	}
	i -= r->verdict->reasons;
	if (!read || i >= read->reasons)
		return false;
	add(p, "%s (%s)", read->reason[i].name, read->reason[i].found);
	return true;
}

static void write_verdict(FILE *out, const struct report *r, bool color)
{
	const unsigned reasons = r->verdict->reasons + (r->result->read ? r->result->read->reasons : 0);
	struct paragraph p = { .text = "" };

	add(&p, "Measurement: %s", verdict_levels[r->verdict->level]);
	if (color) {
		p.color = color_of(r->verdict->level);
		p.coloured = strlen(p.text);
	}
	for (unsigned i = 0; i < reasons && i < REASONS_SHOWN; i++) {
		add(&p, i ? "  " : ": ");
		add_reason_at(&p, r, i);
		write_lines(out, &p, REASON_LINES);
		p = (struct paragraph){ .text = "" };
	}
	if (!reasons)
		write_lines(out, &p, 1);
	if (reasons > REASONS_SHOWN)
		fprintf(out, "  and %u more reason%s: -v\n", reasons - REASONS_SHOWN,
			reasons == REASONS_SHOWN + 1 ? "" : "s");
}

static void write_rhythm(FILE *out, const struct report *r)
{
	struct paragraph p = { .text = "" };

	if (!r->result->rhythm.of)
		return;
	rhythm_say(p.text, sizeof(p.text), &r->result->rhythm);
	write_lines(out, &p, BRIEF_LINES_RHYTHM);
}

/* ---- Where the time goes ----------------------------------------------------------------------------------------- */

#define COLUMN_WIDTH 13 /* 100 s in microseconds, a bound and a mark fit */
#define NAME_WIDTH 21 /* the names of the kernel's transmit times have one more */

static const uint8_t table_columns[] = { PERCENTILE_50, PERCENTILE_99, PERCENTILE_99_9 };

#define COLUMNS (sizeof(table_columns) / sizeof(table_columns[0]))

/* mark: of the previous value. Resolution: nanoseconds up to 100 ms, then a tenth of a microsecond. */
static void write_us(FILE *out, char mark, struct percentile v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*f", v.value_ns < 100 * NS_PER_MS ? 3 : 1,
		 label_us(v.value_ns));
	fprintf(out, "%c%*s", mark, COLUMN_WIDTH, text);
}

static int name_width(const struct report *r)
{
	return NAME_WIDTH + options_queue_times(r->options);
}

static void write_row(FILE *out, int width, const char *name, const struct histogram *h)
{
	char mark = ' ';

	fprintf(out, "%-*s", width, name);
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct label_percentile *p = &label_percentiles[table_columns[i]];

		write_us(out, mark, histogram_percentile(h, p->numerator, p->denominator));
		mark = label_is_few(h->count, p->numerator, p->denominator) ? '*' : ' ';
	}
	write_us(out, mark, (struct percentile){ .value_ns = h->max_ns });
	fputc('\n', out);
}

static void write_table(FILE *out, const struct report *r)
{
	struct stage stages[STAGES];
	char title[16], name[32];

	if (!r->histogram->count)
		return;
	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	fprintf(out, "\n%-*s", name_width(r), "us (* few samples)");
	for (size_t i = 0; i < COLUMNS; i++) {
		snprintf(title, sizeof(title), "p%s", label_percentiles[table_columns[i]].percent);
		fprintf(out, " %*s", COLUMN_WIDTH, title);
	}
	fprintf(out, " %*s\n", COLUMN_WIDTH, "max");
	snprintf(name, sizeof(name), "%s", r->options->role == ROLE_EMIT ? "RTT" : "Response");
	limit_add(name, sizeof(name), r, LIMIT_LATENCY);
	write_row(out, name_width(r), name, r->histogram);
	for (int i = 0; i < STAGES; i++) {
		struct part part;

		if (!stage_is_collected(r, i, &stages[i]) || !r->result->stage[i]->count)
			continue;
		stage_name(&part, r, &stages[i]);
		limit_add(part.name, sizeof(part.name), r, limit_of_stage(r, i));
		write_row(out, name_width(r), part.name, r->result->stage[i]);
	}
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; lines++) {
		text += fitting(text, BRIEF_COLUMNS - (lines ? 4 : 0));
		text += strspn(text, " ");
	}
	return lines;
}

/* Shares are left out where the cure would not fit otherwise. */
static void write_modes(FILE *out, const struct report *r)
{
	const struct tooth *t = r->teeth ? teeth_first(r->teeth) : NULL;
	struct paragraph p = { .text = "" };

	if (!t)
		return;
	teeth_say(p.text, sizeof(p.text), r, t, SHARES_SHOWN);
	if (lines_of(p.text) > BRIEF_LINES_MODES)
		teeth_say(p.text, sizeof(p.text), r, t, 0);
	write_lines(out, &p, BRIEF_LINES_MODES);
}

/* ---- Losses, outages, the machine -------------------------------------------------------------------------------- */

static void add_count(struct paragraph *p, const char *name, uint64_t count)
{
	if (count)
		add(p, ", %s %" PRIu64, name, count);
}

static void add_directions(struct paragraph *p, const struct directions *d)
{
	if (!d->reported) {
		add(p, " (the reflector reports no direction)");
		return;
	}
	add(p, " (forward %" PRIu64 ", backward %" PRIu64, d->lost_forward, d->lost_backward);
	add_count(p, "discarded by the reflector", d->discarded);
	add_count(p, "direction not known", d->lost_unknown);
	add(p, ")");
}

static void add_outages(struct paragraph *p, const struct result *result)
{
	const struct outages *o = &result->outages;

	if (!o->count) {
		add(p, "; no outage");
		return;
	}
	add(p, "; %" PRIu64 " outage%s: %.3f s (%.2f %%), longest %.3f s at %.3f s", o->count,
	    o->count == 1 ? "" : "s", label_seconds(o->total_ns),
	    outage_percent(o, result->ended_ns - result->began_ns), label_seconds(o->longest_ns),
	    label_seconds(o->longest_at_ns - result->began_ns));
}

static void write_losses(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const struct account *a = &result->account;
	const uint64_t sent = counter_get(&a->sent), lost = counter_get(&a->lost);
	struct paragraph p = { .text = "" };

	if (result->read && !result->read->has_accounts) {
		fputs("Losses: not known: logs do not contain them\n", out);
		return;
	}
	if (r->options->role == ROLE_EMIT) {
		add(&p, "Lost: %" PRIu64 " of %" PRIu64 " probes", lost, sent);
		if (lost) {
			add(&p, ", %.3g %%", 100.0 * (double)lost / (double)sent);
			add_directions(&p, &result->directions);
		}
		add_count(&p, "late", counter_get(&a->late));
	} else {
		add(&p, "Answered: %" PRIu64 " of %" PRIu64 " requests, %" PRIu64 " session%s", sent,
		    counter_get(&a->received), counter_get(&result->sessions),
		    counter_get(&result->sessions) == 1 ? "" : "s");
	}
	add_count(&p, "duplicated", counter_get(&a->duplicate));
	add_count(&p, "reordered", counter_get(&a->reordered));
	add_count(&p, "without a timestamp", counter_get(&a->unstamped));
	if (r->options->role == ROLE_EMIT)
		add_outages(&p, result);
	write_lines(out, &p, LOSS_LINES);
}

/* Names the source of the timestamps, and settings that change the measurement itself. */
static void write_machine(FILE *out, const struct report *r)
{
	struct paragraph p = { .text = "" };

	if (r->result->read) {
		add(&p, "Read from %u file%s: %s", r->result->read->files, r->result->read->files == 1 ? "" : "s",
		    r->result->read->file[0].path);
		write_lines(out, &p, 1);
		return;
	}
	add(&p, "Machine: %s", r->options->interface);
	if (*r->result->nic.driver && strcmp(r->result->nic.driver, "unknown"))
		add(&p, " (%s)", r->result->nic.driver);
	add(&p, ", %s timestamps", label_stamps[r->options->stamp].option);
	if (*r->result->affinity.text)
		add(&p, ", %s", r->result->affinity.text);
	if (r->tracing)
		add(&p, ", tracing is on");
	write_lines(out, &p, 1);
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

bool brief_has_color(FILE *out, const struct report *r)
{
	const char *none = getenv("NO_COLOR");

	if (r->options->color != COLOR_AUTO)
		return r->options->color == COLOR_ALWAYS;
	return isatty(fileno(out)) && !(none && *none);
}

/* Scripts match these lines to the letter. */
static void write_matched(FILE *out, const struct report *r)
{
	const struct result *result = r->result;

	fprintf(out, "\nTest is complete. Duration: %.2f s\n",
		result->started ? label_seconds(result->ended_ns - result->began_ns) : 0.0);
	statistics_write_line(out, r->histogram);
	if (r->options->histogram)
		statistics_write_summary(out, r->histogram);
}

/* Known only in a file that was read. */
static void write_causes(FILE *out, const struct report *r)
{
	struct paragraph cause = { .text = "  " }, counts = { .text = "  " };

	causes_add_cause(cause.text, sizeof(cause.text), r->result, &r->result->worst);
	causes_add(counts.text, sizeof(counts.text), r->result);
	write_lines(out, &cause, cause.text[2] ? 2 : 0);
	write_lines(out, &counts, counts.text[2] ? 3 : 0);
}

static void write_worst(FILE *out, const struct report *r)
{
	breach_write_brief(out, r);
	write_causes(out, r);
	evidence_write_place(out, r);
}

static void write_freeze(FILE *out, const struct report *r)
{
	struct paragraph p = { .text = "" }, cause = { .text = "" };

	if (!freeze_is_shown(r))
		return;
	freeze_say(p.text, sizeof(p.text), r);
	write_lines(out, &p, FREEZE_LINES);
	if (freeze_say_cause(cause.text, sizeof(cause.text), r))
		write_lines(out, &cause, FREEZE_LINES);
}

void brief_write(FILE *out, const struct report *r, bool color)
{
	write_answer(out, r, color);
	if (r->verdict)
		write_verdict(out, r, color);
	else
		fputs("Measurement: not known\n", out);
	if (counter_get(&r->result->account.breaches) && (!r->result->read || r->result->read->has_breaches))
		write_worst(out, r);
	write_freeze(out, r);
	write_rhythm(out, r);
	write_table(out, r);
	write_modes(out, r);
	write_losses(out, r);
	confidence_write_goal(out, r);
	write_machine(out, r);
	write_matched(out, r);
}
