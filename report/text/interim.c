// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interim report. It does not involve the measuring thread: the counters are atomic, and another thread copies the
 * histogram. The loop writes all other data of the report without synchronisation, or they are known only at the end;
 * the interim report omits and names these data.
 */
#include "report/text/interim.h"

#include "histogram.h"
#include "host/process/signals.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/progress.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS (100 * NS_PER_MS)

/* ---- The text ---------------------------------------------------------------------------------------------------- */

/* Calls `put` for the first two counters and for each counter that is not 0. */
static void put_counts(FILE *out, const struct report *r, void (*put)(FILE *out, const char *name, uint64_t count))
{
	const struct result *result = r->result;
	const char *name, *json;
	uint64_t count;

	for (unsigned i = 0; account_row(r, ACCOUNT_PACKETS, i, &name, &json, &count); i++)
		if (i < 2 || count)
			put(out, name, count);
	for (unsigned i = 0; account_row(r, ACCOUNT_STAMPS, i, &name, &json, &count); i++)
		if (count)
			put(out, name, count);
	if (r->options->role == ROLE_REFLECT) {
		put(out, "Sessions", counter_get(&result->sessions));
		count = counter_get(&result->evicted);
		if (count)
			put(out, "Evicted", count);
	}
	if (r->options->threshold_ns)
		put(out, "Breaches", counter_get(&result->account.breaches));
}

static void put_row(FILE *out, const char *name, uint64_t count)
{
	account_count(out, name, count, NULL);
}

static void put_words(FILE *out, const char *name, uint64_t count)
{
	fprintf(out, "; %s %" PRIu64, name, count);
}

/* A report with this copy of the histogram and without a verdict. */
static struct report with_copy(const struct report *r, const struct histogram *h)
{
	struct report copy = *r;

	copy.histogram = h;
	copy.verdict = NULL;
	return copy;
}

void interim_write(FILE *out, const struct report *r, const struct histogram *h, double seconds, int columns)
{
	fprintf(out, "Report so far, after %.1f s; it goes on.\n", seconds);
	if (h) {
		const struct report copy = with_copy(r, h);

		headline_write_after(out, &copy, seconds);
		fputs("\n\n", out);
		statistics_write(out, h);
		if (r->options->histogram)
			statistics_write_histogram(out, &copy, columns);
	} else {
		fputs("The latencies cannot be read at this moment: ask again\n", out);
	}
	fprintf(out, "\nPackets so far (a packet in flight is in some counters and not in others):\n");
	put_counts(out, r, put_row);
	fprintf(out,
		"\nOnly at the end: the verdict, breaches, stages, IPDV, clocks, and the activity of this machine"
		".\n\n");
}

void interim_write_line(FILE *out, const struct report *r, const struct histogram *h, double seconds)
{
	fprintf(out, "So far: ");
	if (h) {
		const struct report copy = with_copy(r, h);

		headline_write_after(out, &copy, seconds);
	} else {
		fprintf(out, "latencies cannot be read at this moment, after %.0f s", seconds);
	}
	put_counts(out, r, put_words);
	fputc('\n', out);
}

/* ---- During the run ---------------------------------------------------------------------------------------------- */

/* Allocates all memory at once, so that a process that runs for months does not grow. It is not freed during the run,
 * because unmapping interrupts the measuring CPU (TLB shootdown). */
static bool get_memory(struct interim *s, size_t bytes)
{
	if (s->memory)
		return true;
	s->memory = malloc(bytes);
	if (s->memory)
		explicit_bzero(s->memory, bytes); /* memset(3) would become calloc(3), which touches no page */
	else
		warnx("no memory for the report so far (%zu bytes): use a smaller --overflow", bytes);
	return s->memory;
}

/* A copy of the histogram; NULL: no copy now. */
static const struct histogram *copy_histogram(struct interim *s, struct histogram *copy)
{
	const struct histogram *h = s->report->histogram;

	return get_memory(s, histogram_bytes(h)) && histogram_copy(copy, s->memory, h) ? copy : NULL;
}

/* Ends an interval: a line on stdout with --every, else the line on the terminal. */
static void end_interval(struct interim *s, int64_t now_ns)
{
	FILE *out = s->report->stdout_taken ? stderr : stdout;
	struct interval_line line;
	struct histogram copy;
	char text[160];

	interval_end(&s->interval, &line, s->result, copy_histogram(s, &copy), now_ns);
	interval_write(text, sizeof(text), &line, s->live);
	if (s->live) {
		progress_draw(text);
		return;
	}
	fprintf(out, "%s\n", text);
	fflush(out);
}

static void print(struct interim *s, int64_t now_ns, bool all)
{
	const struct report *r = s->report;
	FILE *out = r->stdout_taken ? stderr : stdout;
	const double seconds = label_seconds(now_ns - atomic_load_explicit(&s->began_ns, memory_order_relaxed));
	struct histogram copy;
	const struct histogram *h = copy_histogram(s, &copy);

	if (isatty(STDERR_FILENO))
		progress_end();
	if (all)
		interim_write(out, r, h, seconds, report_columns(out));
	else
		interim_write_line(out, r, h, seconds);
	fflush(out); /* an error here occurs at the end too, and is reported there */
}

/* Times are multiples of every_ns since the begin of the run, so that they do not drift; missed times are skipped. */
static bool is_due(int64_t *next_ns, int64_t every_ns, int64_t now_ns, int64_t began_ns)
{
	if (!every_ns || now_ns < (*next_ns ? *next_ns : began_ns + every_ns))
		return false;
	*next_ns = began_ns + ((now_ns - began_ns) / every_ns + 1) * every_ns;
	return true;
}

static void look(void *interim)
{
	struct interim *s = interim;
	const int64_t began_ns = atomic_load_explicit(&s->began_ns, memory_order_acquire),
				 now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!began_ns)
		return;
	if (signals_take_question())
		print(s, now_ns, true);
	if (is_due(&s->next_ns, s->report->options->summary_ns, now_ns, began_ns))
		print(s, now_ns, false);
	s->interval.began_ns = began_ns;
	if (is_due(&s->next_interval_ns, s->live ? INTERIM_LIVE_NS : s->report->options->every_ns, now_ns, began_ns))
		end_interval(s, now_ns);
}

static void begin_thread(void *interim)
{
	struct interim *s = interim;

	s->begin(s->context);
}

void interim_start(struct interim *s, const struct report *r, void (*begin)(void *context), void *context)
{
	int error;

	s->report = r;
	s->begin = begin;
	s->context = context;
	if (r->options->quiet)
		return;
	s->live = isatty(STDERR_FILENO) && !r->options->every_ns;
	s->worker = (struct worker){ .name = "rant-so-far", .begin = begin_thread, .context = s,
				   .idle = &r->result->asleep };
	worker_add(&s->worker, (struct worker_duty){ .period_ns = LOOK_NS, .act = look, .context = s });
	error = r->no_other_cpu ? -ENODEV : worker_start(&s->worker);
	if (error && (r->options->summary_ns || r->options->every_ns))
		warnx("%s: its lines are written by a thread on another CPU than the measuring one, and "
		      "there can be none "
		      "(%s): only the report at the end is written",
		      r->options->every_ns ? "--every" : "--summary-every",
		      error == -ENODEV ? "there is no such CPU" : strerror(-error));
}

void interim_begin(struct interim *s)
{
	s->copy = *s->report;
	s->report = &s->copy;
	atomic_store_explicit(&s->began_ns, clock_read_ns(CLOCK_MONOTONIC), memory_order_release);
}

void interim_stop(struct interim *s)
{
	worker_stop(&s->worker);
	if (s->live && s->interval.last_ns)
		progress_end();
	s->live = false;
	interval_close(&s->interval);
	free(s->memory);
	s->memory = NULL;
}
