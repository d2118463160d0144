// SPDX-License-Identifier: GPL-2.0-or-later
/* The text format 0.0.4: prometheus.io/docs/instrumenting/exposition_formats. */
#include "report/export/prometheus.h"

#include "histogram.h"
#include "options.h"
#include "report/export/json.h"
#include "report/text/account.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "wire/transport.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#define TEXT_BYTES 32768
#define LABELS_BYTES 256
#define NAME_BYTES 64

/* Upper edges, inclusive; the last bucket has none. */
static const int64_t edges_ns[PROMETHEUS_BUCKETS - 1] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, 20000000,
		50000000,
	100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000,
};

struct text {
	size_t used;
	char text[TEXT_BYTES];
	char labels[LABELS_BYTES]; /* that all have: name="value",... */
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(t->text + t->used, sizeof(t->text) - t->used, format, arguments);
	va_end(arguments);
	t->used += n > 0 ? (size_t)n : 0;
	if (t->used >= sizeof(t->text))
		t->used = sizeof(t->text) - 1;
}

/* ---- Metrics ----------------------------------------------------------------------------------------------------- */

/* Of several runs on one host each is told apart by these. An interface may have any name without a blank. */
static void make_labels(struct text *t, const struct options *o)
{
	char interface[2 * IFNAMSIZ + 1], server[TRANSPORT_NAME_BYTES], *to = interface;

	for (const char *from = o->interface ? o->interface : ""; *from && to < interface + sizeof(interface) - 2;
	     from++) {
		if (*from == '"' || *from == '\\')
			*to++ = '\\';
		*to++ = *from;
	}
	*to = 0;
	if (!transport_name(&o->server, server))
		*server = '\0';
	snprintf(t->labels, sizeof(t->labels), "role=\"%s\",interface=\"%s\",server=\"%s\",port=\"%" PRId64 "\"",
		 role_name(o->role), interface, server, o->port);
}

static void put_head(struct text *t, const char *name, const char *type, const char *help)
{
	put(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_count(struct text *t, const char *name, const char *type, const char *help, uint64_t count)
{
	put_head(t, name, type, help);
	put(t, "%s{%s} %" PRIu64 "\n", name, t->labels, count);
}

static void put_rows(struct text *t, const struct report *r, enum account_table which, const char *prefix,
		     const char *of)
{
	const char *label;
	uint64_t count;

	for (unsigned i = 0; account_row(r, which, i, &label, &count); i++) {
		char name[NAME_BYTES], metric[2 * NAME_BYTES], help[2 * NAME_BYTES];

		snprintf(metric, sizeof(metric), "rant_%s%s_total", prefix, json_name(name, sizeof(name), label, ""));
		snprintf(help, sizeof(help), "%s: %s in the report.", of, label);
		put_count(t, metric, "counter", help, count);
	}
}

static void put_histogram(struct text *t, const struct prometheus *p)
{
	const char *name = p->report->options->role == ROLE_EMIT ? "rant_rtt_seconds" : "rant_response_seconds";
	uint64_t upto = 0;

	put_head(t, name, "histogram", "Latency of the recorded samples.");
	for (int i = 0; i < PROMETHEUS_BUCKETS - 1; i++) {
		upto += p->bucket[i];
		put(t, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, t->labels, label_seconds(edges_ns[i]), upto);
	}
	put(t, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, t->labels, p->samples);
	put(t, "%s_sum{%s} %lld.%09lld\n", name, t->labels, p->sum_ns / NS_PER_S, p->sum_ns % NS_PER_S);
	put(t, "%s_count{%s} %" PRIu64 "\n", name, t->labels, p->samples);
	put_count(t, "rant_samples_not_in_histogram_total", "counter",
		  "Recorded samples that the histogram has no place of.",
		  p->report->tally ? counter_get(&p->tally->left_out) :
		  counter_get(&p->report->result->account.recorded));
}

/* One of these is 1: while it runs there is no verdict. */
static void put_verdict(struct text *t, const struct verdict *v, bool over)
{
	put_count(t, "rant_running", "gauge", "1 while it measures.", !over);
	put_head(t, "rant_verdict", "gauge", "May the numbers be trusted? 1 for what was found at the end of the run.");
	for (int i = VERDICT_TRUSTED; i <= VERDICT_VOID; i++)
		put(t, "rant_verdict{%s,level=\"%s\"} %d\n", t->labels, verdict_levels[i], v && (int)v->level == i);
}

static void put_all(struct text *t, const struct prometheus *p, bool over)
{
	const struct report *r = p->report;

	t->used = 0;
	make_labels(t, r->options);
	put_head(t, "rant_info", "gauge", "The program.");
	put(t, "rant_info{%s,version=\"" RANT_VERSION "\",stamp=\"%s\"} 1\n", t->labels,
	    label_stamps[options_on_wire(r->options) ? r->options->stamp : SOURCE_USER].option);
	if (!p->no_accounts) {
		put_rows(t, r, ACCOUNT_PACKETS, "", "Packets");
		put_rows(t, r, ACCOUNT_STAMPS, "missing_stamps_", "Missing stamps");
		put_count(t, "rant_breaches_total", "counter", "Samples above --threshold.",
			  counter_get(&r->result->account.breaches));
	}
	put_histogram(t, p);
	put_verdict(t, over ? r->verdict : NULL, over);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static int write_file(struct prometheus *p, bool over)
{
	static struct text text;
	int error;

	put_all(&text, p, over);
	error = log_file_open_of(&p->file, "prometheus", p->report->options->prometheus_path);
	if (!error)
		error = log_file_write(&p->file, text.text, text.used);
	if (!error)
		error = log_file_finish(&p->file);
	log_file_abandon(&p->file);
	p->is_broken |= error != 0;
	return error;
}

int prometheus_open(struct prometheus *p, const struct report *r, const struct tally *tally)
{
	const char *path = r->options->prometheus_path;
	int error;
	bool is_file;

	*p = (struct prometheus){ .report = r, .tally = tally, .file.fd = -1 };
	error = log_file_open_of(&p->file, "prometheus", path);
	if (error)
		return error;
	is_file = *p->file.partial;
	log_file_abandon(&p->file);
	if (is_file)
		return 0;
	warnx("--prometheus %s: is no file that can be replaced: give the path of one", path);
	return -EINVAL;
}

static void add_many(struct prometheus *p, int64_t value_ns, uint64_t n)
{
	int k = 0;

	while (k < PROMETHEUS_BUCKETS - 1 && value_ns > edges_ns[k])
		k++;
	p->bucket[k] += n;
	p->samples += n;
}

void prometheus_take(struct prometheus *p, const struct histogram *h)
{
	for (uint32_t i = 0; i < h->buckets; i++)
		add_many(p, i * h->width_ns, histogram_bucket(h, i));
	for (uint64_t i = 0; i < h->overflows && i < h->overflow_capacity; i++)
		add_many(p, h->overflow[i], 1);
	p->sum_ns = h->sum < INT64_MAX ? (int64_t)h->sum : INT64_MAX;
}

void prometheus_add(struct prometheus *p, const int64_t *value_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_many(p, value_ns[i], 1);
		p->sum_ns += value_ns[i];
	}
}

void prometheus_look(struct prometheus *p)
{
	const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (p->is_broken || now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + PROMETHEUS_PERIOD_NS;
	write_file(p, false);
}

int prometheus_end(struct prometheus *p)
{
	return p->is_broken ? -EIO : write_file(p, true);
}
