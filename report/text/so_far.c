// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report so far. The measuring thread knows nothing of it: its counters are atomic, and of its histogram another
 * thread makes a copy. All else in the report is written by the loop without a thought of readers, or is known only at
 * the end, and is named as left out.
 */
#include "report/text/so_far.h"

#include "histogram.h"
#include "host/process/stop.h"
#include "options.h"
#include "report/text/account.h"
#include "report/text/headline.h"
#include "report/text/label.h"
#include "report/text/order.h"
#include "report/text/progress.h"
#include "report/text/report.h"
#include "report/text/statistics.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS (100 * NS_PER_MS)

/* ---- The text ---------------------------------------------------------------------------------------------------- */

/* Calls `put` for each count that says something: the first two, and what is not 0. */
static void put_counts(FILE *out, const struct report *r, void (*put)(FILE *out, const char *name, uint64_t count))
{
	const struct result *result = r->result;
	const char *name;
	uint64_t count;

	for (unsigned i = 0; account_row(r, ACCOUNT_PACKETS, i, &name, &count); i++)
		if (i < 2 || count)
			put(out, name, count);
	for (unsigned i = 0; account_row(r, ACCOUNT_STAMPS, i, &name, &count); i++)
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

/* As if it were that of a run that is over. */
static struct report with_copy(const struct report *r, const struct histogram *h)
{
	struct report copy = *r;

	copy.histogram = h;
	copy.verdict = NULL;
	return copy;
}

void so_far_write(FILE *out, const struct report *r, const struct histogram *h, double seconds, int columns)
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
	fprintf(out, "\nPackets so far (one that is on its way is in some of the counts, and in others not):\n");
	put_counts(out, r, put_row);
	fprintf(out,
		"\nOnly at the end: the verdict, breaches, stages, how delays vary, clocks, and what this machine "
		"did.\n\n");
}

void so_far_write_line(FILE *out, const struct report *r, const struct histogram *h, double seconds)
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

/* ---- Beside the run ---------------------------------------------------------------------------------------------- */

/* All of it is taken at once, so that what stands for months does not grow; and it is not given back during the run,
 * which would interrupt the measuring CPU to make it forget the addresses. */
static bool get_memory(struct so_far *s, size_t bytes)
{
	if (s->memory)
		return true;
	s->memory = malloc(bytes);
	if (s->memory)
		explicit_bzero(s->memory, bytes); /* of memset(3) a compiler makes calloc(3), whose pages come later */
	else
		warnx("no memory for the report so far (%zu bytes): use a smaller --overflow", bytes);
	return s->memory;
}

/* A copy of the histogram, in order; NULL: there is none now. */
static const struct histogram *copy_histogram(struct so_far *s, struct histogram *copy)
{
	const struct histogram *h = s->report->histogram;
	const size_t bytes = (histogram_bytes(h) + 7) / 8 * 8;
	size_t kept;

	if (!get_memory(s, bytes + h->overflow_capacity * sizeof(*h->overflow)) || !histogram_copy(copy, s->memory, h))
		return NULL;
	kept = copy->overflows < copy->overflow_capacity ? copy->overflows : copy->overflow_capacity;
	copy->overflow = order_values(copy->overflow, (int64_t *)((char *)s->memory + bytes), kept, copy->max_ns);
	return copy;
}

static void tell(struct so_far *s, int64_t now_ns, bool all)
{
	const struct report *r = s->report;
	FILE *out = r->stdout_taken ? stderr : stdout;
	const double seconds = label_seconds(now_ns - atomic_load_explicit(&s->began_ns, memory_order_relaxed));
	struct histogram copy;
	const struct histogram *h = copy_histogram(s, &copy);

	if (isatty(STDERR_FILENO))
		progress_end();
	if (all)
		so_far_write(out, r, h, seconds, report_columns(out));
	else
		so_far_write_line(out, r, h, seconds);
	fflush(out); /* what fails here fails at the end too, and is told there */
}

/* From the begin of the run on, so that they do not drift; after a halt one line stands for those that were due. */
static bool is_due(struct so_far *s, int64_t now_ns, int64_t began_ns)
{
	const int64_t every_ns = s->report->options->summary_ns;

	if (!every_ns || now_ns < (s->next_ns ? s->next_ns : began_ns + every_ns))
		return false;
	s->next_ns = began_ns + ((now_ns - began_ns) / every_ns + 1) * every_ns;
	return true;
}

static void look(void *so_far)
{
	struct so_far *s = so_far;
	const int64_t began_ns = atomic_load_explicit(&s->began_ns, memory_order_acquire),
				 now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (!began_ns)
		return;
	if (stop_take_question())
		tell(s, now_ns, true);
	if (is_due(s, now_ns, began_ns))
		tell(s, now_ns, false);
}

static void begin_thread(void *so_far)
{
	struct so_far *s = so_far;

	s->begin(s->context);
}

void so_far_start(struct so_far *s, const struct report *r, void (*begin)(void *context), void *context)
{
	int error;

	s->report = r;
	s->begin = begin;
	s->context = context;
	if (r->options->quiet)
		return;
	s->watch = (struct watch){ .name = "rant-so-far", .begin = begin_thread, .context = s,
				   .idle = &r->result->asleep };
	watch_add(&s->watch, (struct watch_duty){ .period_ns = LOOK_NS, .act = look, .context = s });
	error = r->no_other_cpu ? -ENODEV : watch_start(&s->watch);
	if (error && r->options->summary_ns)
		warnx("--summary-every: its lines are written by a thread on another CPU than the measuring one, and "
		      "there can be none "
		      "(%s): only the report at the end is written",
		      error == -ENODEV ? "there is no such CPU" : strerror(-error));
}

void so_far_begin(struct so_far *s)
{
	s->copy = *s->report;
	s->report = &s->copy;
	atomic_store_explicit(&s->began_ns, clock_read_ns(CLOCK_MONOTONIC), memory_order_release);
}

void so_far_stop(struct so_far *s)
{
	watch_stop(&s->watch);
	free(s->memory);
	s->memory = NULL;
}
