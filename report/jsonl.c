// SPDX-License-Identifier: GPL-2.0-or-later
/* A line a second, and a line a breach. */
#include "report/jsonl.h"

#include "measure/exchange.h"
#include "options.h"
#include "report/json_parts.h"
#include "report/report.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

/* ---- A line ---------------------------------------------------------------------------------------------------------- */

static int put_line(void *file, const char *from, size_t bytes)
{
	return log_file_write(file, from, bytes);
}

/* A new object, of this type. */
static struct json *begin_line(struct jsonl *l, const char *type)
{
	struct json *j = &l->json;

	json_begin(j, put_line, l->file, true);
	json_object(j, NULL);
	json_text(j, "type", type);
	return j;
}

/* What cannot be written, the file has said. */
static void end_line(struct json *j)
{
	json_end(j);
	json_finish(j);
}

/* ---- A second -------------------------------------------------------------------------------------------------------- */

void jsonl_add(struct jsonl *l, const int64_t *value_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!l->samples++ || value_ns[i] > l->max_ns)
			l->max_ns = value_ns[i];
		if (l->values < JSONL_VALUES)
			l->value[l->values++] = value_ns[i];
		else
			l->left_out++;
	}
}

/* Nearest rank, as those of the report. */
static void put_percentile(struct json *j, const struct jsonl *l, const char *name, uint64_t numerator, uint64_t denominator)
{
	const uint64_t rank = (l->values * numerator + denominator - 1) / denominator;

	if (l->values)
		json_integer(j, name, l->value[rank - 1]);
	else
		json_null(j, name);
}

/* Of the width of those that are printed: as fine as those of the whole run these would be too many for a line. */
static void put_buckets(struct json *j, const struct jsonl *l)
{
	const int64_t width_ns = l->report->options->bucket_ns;
	size_t from = 0;

	json_integer(j, "bucket_ns", width_ns);
	json_array(j, "buckets");
	for (size_t i = 0; i < l->values; i++) {
		if (i + 1 < l->values && l->value[i + 1] / width_ns == l->value[i] / width_ns)
			continue;
		json_pair(j, NULL);
		json_integer(j, NULL, l->value[i] / width_ns * width_ns);
		json_count(j, NULL, i + 1 - from);
		json_end(j);
		from = i + 1;
	}
	json_end(j);
}

static void put_gap(struct json *j, struct jsonl *l, int64_t now_ns)
{
	const int64_t gap_ns = tally_take_gap(l->tally, now_ns);

	if (gap_ns < 0)
		json_null(j, "longest_gap_ns");
	else
		json_integer(j, "longest_gap_ns", gap_ns);
}

/* What came since the last one: its counts are read at one moment, its samples up to that. */
static void write_second(struct jsonl *l, int64_t now_ns)
{
	const struct account *a = &l->report->exchange->account;
	const uint64_t sent = counter_get(&a->sent), lost = counter_get(&a->lost), unheard = counter_get(&l->tally->left_out);
	struct json *j = begin_line(l, "second");

	qsort(l->value, l->values, sizeof(*l->value), compare_ns);
	json_count(j, "number", l->number++);
	json_integer(j, "from_ns", l->from_ns - l->start_ns);
	json_integer(j, "to_ns", now_ns - l->start_ns);
	json_integer(j, "unix_ns", clock_read_ns(CLOCK_REALTIME));
	json_count(j, "sent", sent - l->sent);
	json_count(j, "samples", l->samples + unheard - l->unheard);
	json_count(j, "not_in_percentiles", l->left_out + unheard - l->unheard);
	if (l->report->options->role == ROLE_EMIT)
		json_count(j, "lost", lost - l->lost);
	put_percentile(j, l, "p50_ns", 50, 100);
	put_percentile(j, l, "p99_ns", 99, 100);
	put_percentile(j, l, "p99_9_ns", 999, 1000);
	if (l->samples)
		json_integer(j, "max_ns", l->max_ns);
	else
		json_null(j, "max_ns");
	put_gap(j, l, now_ns);
	put_buckets(j, l);
	end_line(j);
	l->from_ns = now_ns;
	l->sent = sent;
	l->lost = lost;
	l->unheard = unheard;
	l->values = 0;
	l->samples = l->left_out = 0;
}

/* ---- Breaches -------------------------------------------------------------------------------------------------------- */

static void write_breach(void *lines, const struct sample *s, uint64_t number)
{
	struct jsonl *l = lines;
	struct json *j = begin_line(l, "breach");

	json_breach(j, "breach", l->report, s, number + 1, false);
	end_line(j);
}

/* ---- Doors ----------------------------------------------------------------------------------------------------------- */

int jsonl_open(struct jsonl *l, const struct report *r, struct log_file *file, struct tally *tally)
{
	*l = (struct jsonl){ .report = r, .file = file, .tally = tally, .number = 1 };
	l->breaches = (struct breach_teller){ .exchange = r->exchange, .act = write_breach, .context = l };
	l->value = calloc(JSONL_VALUES, sizeof(*l->value));
	if (l->value)
		return 0;
	warnx("no memory for --jsonl");
	return -ENOMEM;
}

void jsonl_begin(struct jsonl *l)
{
	struct json *j = begin_line(l, "configuration");

	json_text(j, "format", "rant");
	json_integer(j, "schema_version", JSON_SCHEMA_VERSION);
	json_text(j, "rant_version", RANT_VERSION);
	json_run(j, l->report, false);
	json_configuration(j, l->report);
	json_host(j, l->report);
	end_line(j);
	l->start_ns = l->from_ns = clock_read_ns(CLOCK_MONOTONIC);
}

void jsonl_look(struct jsonl *l)
{
	const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	breach_tell(&l->breaches);
	/* From the start on, so that they do not drift; after a halt one stands for the time that it took. */
	if ((now_ns - l->start_ns) / NS_PER_S > (l->from_ns - l->start_ns) / NS_PER_S)
		write_second(l, now_ns);
}

void jsonl_end(struct jsonl *l, int status)
{
	const struct report *r = l->report;
	const int64_t ended_ns = r->exchange->ended_ns;
	struct json *j;

	breach_tell(&l->breaches);
	/* Without another thread the samples of the run are not known one by one. */
	if (r->exchange->tally && (ended_ns > l->from_ns || l->samples))
		write_second(l, ended_ns > l->from_ns ? ended_ns : l->from_ns);
	j = begin_line(l, "summary");
	json_run(j, r, true);
	json_integer(j, "exit_status", status);
	json_verdict(j, r);
	json_clocks(j, r);
	json_accounts(j, r);
	json_statistics(j, r, false);
	json_count(j, "breaches_not_told", l->breaches.missed);
	end_line(j);
}

void jsonl_close(struct jsonl *l)
{
	free(l->value);
	l->value = NULL;
}
