// SPDX-License-Identifier: GPL-2.0-or-later
/* The result in one line. */
#include "report/text/sections.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <inttypes.h>
#include <string.h>

/* At least three digits: two decimals below 10 us, else one. */
static void write_us(FILE *out, const char *before, int64_t ns)
{
	const double us = label_us(ns);

	fprintf(out, "%s%.*f us", before, us < 10 ? 2 : 1, us);
}

static void write_percentile(FILE *out, const char *name, struct percentile p)
{
	fputs(name, out);
	write_us(out, " ", p.value_ns);
}

static void write_grouped(FILE *out, uint64_t n)
{
	char text[32] = "";

	text_add_grouped(text, sizeof(text), n);
	fputs(text, out);
}

static void write_latency(FILE *out, const struct histogram *h)
{
	write_percentile(out, "p50", histogram_percentile(h, 50, 100));
	write_percentile(out, ", p99.9", histogram_percentile(h, 999, 1000));
	write_us(out, ", max ", h->max_ns);
	fprintf(out, " (#%" PRIu32 ") of ", h->max_seq);
	write_grouped(out, h->count);
	fputs(h->count == 1 ? " sample" : " samples", out);
	if (label_is_few(h->count, 999, 1000))
		fputs(" (too few for p99.9)", out);
}

void headline_write_latency(FILE *out, const struct report *r)
{
	char limit[48];

	fputs(r->options->role == ROLE_EMIT ? "RTT " : "Response ", out);
	if (r->histogram->count && *limit_text(limit, sizeof(limit), r, LIMIT_LATENCY))
		fprintf(out, "(%s) ", limit);
	if (r->histogram->count)
		write_latency(out, r->histogram);
	else
		fputs("not known: no samples", out);
}

void headline_write_after(FILE *out, const struct report *r, double seconds)
{
	headline_write_latency(out, r);
	fprintf(out, seconds < 100 ? " in %.3g s" : " in %.0f s", seconds < 0.001 ? 0 : seconds);
	if (r->options->role == ROLE_EMIT) {
		fputs(", ", out);
		write_grouped(out, counter_get(&r->result->account.lost));
		fputs(" lost", out);
	}
}

void headline_write(FILE *out, const struct report *r)
{
	const struct result *result = r->result;

	headline_write_after(out, r, result->started ? label_seconds(result->ended_ns - result->began_ns) : 0);
	if (r->verdict)
		fprintf(out, ": %s", verdict_levels[r->verdict->level]);
	fputc('\n', out);
}
