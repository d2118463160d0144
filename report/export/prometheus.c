// SPDX-License-Identifier: GPL-2.0-or-later
/* The text format 0.0.4: prometheus.io/docs/instrumenting/exposition_formats. */
#include "report/export/prometheus.h"

#include "histogram.h"
#include "options.h"
#include "report/export/json.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "wire/transport.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_BYTES 32768
#define LABELS_BYTES 256
#define NAME_BYTES 64

/* Upper edges, inclusive; the last bucket is unlimited. */
static const int64_t edges_ns[PROMETHEUS_BUCKETS - 1] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000, 10000000, 20000000,
		50000000,
	100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000,
};

struct text {
	size_t used;
	char text[TEXT_BYTES];
	char labels[LABELS_BYTES]; /* of all metrics: name="value",... */
	const struct prometheus_earlier *earlier;
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

/* These distinguish several runs on one host. An interface may have any name without a blank. */
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

static void put_counter(struct text *t, const char *name, const char *help, uint64_t count)
{
	put_head(t, name, "counter", help);
	put(t, "%s{%s} %" PRIu64 "\n", name, t->labels, count + prometheus_earlier_count(t->earlier, name));
}

static void put_gauge(struct text *t, const char *name, const char *help, uint64_t value)
{
	put_head(t, name, "gauge", help);
	put(t, "%s{%s} %" PRIu64 "\n", name, t->labels, value);
}

/* Help texts, by the names of the rows in JSON; both roles use the same text. */
static const struct {
	const char *name, *help;
} row_helps[] = {
	{ "sent", "Packets sent." },
	{ "received", "Packets received." },
	{ "warm_up", "Answered packets of the warm-up, which is left out of the statistics." },
	{ "recorded", "Samples in the statistics." },
	{ "lost", "Probes without a reply within --timeout." },
	{ "not_asked", "Answered probes without a timestamp request, by --stamp-every." },
	{ "unstamped", "Answered packets that lack a timestamp, and are not recorded." },
	{ "negative", "Packets whose latency was below 0, and is not recorded." },
	{ "stepped", "Packets during which a clock was set, and whose latency is not recorded." },
	{ "unfinished", "Probes in flight when the run was interrupted." },
	{ "closing", "Probes after the end of a run, which fetch the last timestamps." },
	{ "answered", "Probes with a reply within --timeout." },
	{ "late", "Replies after --timeout." },
	{ "duplicate", "Packets received again." },
	{ "reordered", "Packets received after a packet that was sent later." },
	{ "foreign", "Packets that do not belong to the measurement." },
	{ "malformed", "Packets that cannot be read." },
	{ "unverified", "Packets without a valid HMAC, with --key." },
	{ "disallowed", "Requests from addresses outside --allow." },
	{ "too_short", "Requests of less than 44 octets." },
	{ "no_session", "Requests that found the table of sessions full, with --key." },
	{ "stateless", "Packets answered without a session, because the table of sessions was full." },
	{ "replayed", "Authenticated requests that are old or were received again." },
	{ "over_rate", "Requests above --rate-limit." },
	{ "bad_tlvs", "Packets with a malformed TLV." },
	{ "bad_hmacs", "Replies with a TLV whose HMAC is wrong." },
	{ "unanswered", "Replies that the kernel did not accept." },
	{ "woken", "Requests answered after an idle sleep." },
	{ "refused", "Packets that the kernel did not accept, and errors that it reported." },
	{ "transmit", "Packets without a transmit timestamp." },
	{ "receive", "Packets without a receive timestamp." },
	{ "qdisc_times", "Packets recorded without the requested time of the kernel at the queueing discipline." },
	{ "driver_times", "Packets recorded without the requested time of the kernel at the driver." },
	{ "kernel_receive", "Packets recorded without the requested receive time of the kernel." },
	{ "came_late", "Transmit timestamps reported after --timeout." },
	{ "came_twice", "Transmit timestamps reported again." },
	{ "unmatched", "Transmit timestamps of no packet in flight." },
};

static const char *help_of(const char *name)
{
	for (size_t i = 0; i < sizeof(row_helps) / sizeof(row_helps[0]); i++)
		if (!strcmp(row_helps[i].name, name))
			return row_helps[i].help;
	return NULL;
}

static void put_rows(struct text *t, const struct report *r, enum account_table which, const char *prefix,
		     const char *of)
{
	const char *label, *key;
	uint64_t count;

	for (unsigned i = 0; account_row(r, which, i, &label, &key, &count); i++) {
		char name[NAME_BYTES], metric[2 * NAME_BYTES], help[2 * NAME_BYTES];

		snprintf(metric, sizeof(metric), "rant_%s%s_total", prefix, json_name(name, sizeof(name), key, ""));
		snprintf(help, sizeof(help), "%s, row %s of the report.", of, label);
		put_counter(t, metric, help_of(name) ? help_of(name) : help, count);
	}
}

/* All classes, so that rate() sees the first breach of each. Names of threads and interrupts would be labels without
 * a bound. */
static void put_causes(struct text *t, const struct report *r)
{
	const struct result_causes *c = r->result->causes;

	if (!r->options->save_trace_path && !c && !t->earlier->has_causes)
		return;
	put_head(t, PROMETHEUS_CAUSES, "counter",
		 "Breaches whose trace was saved, by the class of their cause; counted after the run.");
	for (int i = 0; i < CAUSE_CLASSES; i++)
		put(t, "%s{%s,cause=\"%s\"} %" PRIu64 "\n", PROMETHEUS_CAUSES, t->labels, cause_words[i].id,
		    (c ? causes_of_class(c, i) : 0) + t->earlier->cause[i]);
}

static const char *histogram_name(const struct options *o)
{
	return o->role == ROLE_EMIT ? "rant_rtt_seconds" : "rant_response_seconds";
}

static void put_histogram(struct text *t, const struct prometheus *p)
{
	const char *name = histogram_name(p->report->options);
	const struct prometheus_earlier *e = t->earlier;
	const int64_t sum_ns = p->sum_ns > INT64_MAX - e->sum_ns ? INT64_MAX : p->sum_ns + e->sum_ns;
	uint64_t upto = 0;

	put_head(t, name, "histogram", "Latency of the recorded samples.");
	for (int i = 0; i < PROMETHEUS_BUCKETS - 1; i++) {
		upto += p->bucket[i];
		put(t, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, t->labels, label_seconds(edges_ns[i]),
		    upto + e->upto[i]);
	}
	put(t, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, t->labels, p->samples + e->samples);
	put(t, "%s_sum{%s} %lld.%09lld\n", name, t->labels, sum_ns / NS_PER_S, sum_ns % NS_PER_S);
	put(t, "%s_count{%s} %" PRIu64 "\n", name, t->labels, p->samples + e->samples);
	put_counter(t, "rant_samples_unbinned_total",
		    "Recorded samples that are in no bucket, because they came faster than they could be counted.",
		    p->report->samples_are_taken ? counter_get(&p->sample_queue->left_out) :
		  counter_get(&p->report->result->account.recorded));
}

/* One of these is 1 after the run; all are 0 during the run, which has no verdict yet. */
static void put_verdict(struct text *t, const struct verdict *v, bool over)
{
	put_gauge(t, "rant_running", "1 while the run goes on, 0 after its end.", !over);
	put_head(t, "rant_verdict", "gauge",
		 "Whether the numbers of the last run can be trusted: 1 for the level found at its end, else 0.");
	for (int i = VERDICT_TRUSTED; i <= VERDICT_VOID; i++)
		put(t, "rant_verdict{%s,level=\"%s\"} %d\n", t->labels, verdict_levels[i], v && (int)v->level == i);
}

/* Percentiles are known at the end only. A label of the name `quantile` is reserved for summaries. */
static void put_percentiles(struct text *t, const struct histogram *h)
{
	static const uint8_t shown[] = { PERCENTILE_50, PERCENTILE_99, PERCENTILE_99_9 };

	put_head(t, "rant_last_run_latency_seconds", "gauge",
		 "Percentiles of the latency of the last run; percent 100 is the maximum.");
	for (size_t i = 0; i < sizeof(shown); i++) {
		const struct label_percentile *row = &label_percentiles[shown[i]];
		const int64_t ns = histogram_percentile(h, row->numerator, row->denominator).value_ns;

		put(t, "rant_last_run_latency_seconds{%s,percent=\"%s\"} %lld.%09lld\n", t->labels, row->percent,
		    ns / NS_PER_S, ns % NS_PER_S);
	}
	put(t, "rant_last_run_latency_seconds{%s,percent=\"100\"} %lld.%09lld\n", t->labels, h->max_ns / NS_PER_S,
	    h->max_ns % NS_PER_S);
}

/* --stamp receive: the latency is limited in one direction, within a bound. */
static void put_limit(struct text *t, const struct report *r)
{
	const char *words = limit_words(r, LIMIT_LATENCY);
	const struct optional bound = limit_bound_ns(r, LIMIT_LATENCY);
	const long long ns = bound.value;

	if (!bound.known)
		return;
	put_head(t, "rant_last_run_latency_bound_seconds", "gauge",
		 "Error of the latency of the last run, which is at most, or at least, the latency that is given.");
	put(t, "rant_last_run_latency_bound_seconds{%s,limit=\"%s\"} %lld.%09lld\n", t->labels, words,
	    ns / NS_PER_S, ns % NS_PER_S);
}

/* The counters are of all runs that have written this file. */
static void put_last_run(struct text *t, const struct prometheus *p, bool over)
{
	const struct report *r = p->report;
	const struct account *a = &r->result->account;

	put_gauge(t, "rant_last_run_samples", "Samples that the last run recorded.", counter_get(&a->recorded));
	if (!p->no_accounts)
		put_gauge(t, "rant_last_run_sent_packets", "Packets that the last run sent.", counter_get(&a->sent));
	if (!p->no_accounts && r->options->role == ROLE_EMIT)
		put_gauge(t, "rant_last_run_lost_packets", "Probes of the last run without a reply within --timeout.",
			  counter_get(&a->lost));
	if (over && r->histogram && r->histogram->count)
		put_percentiles(t, r->histogram);
	if (over && r->histogram && r->histogram->count)
		put_limit(t, r);
	if (over && !r->result->read)
		put_gauge(t, "rant_last_run_end_time_seconds", "End of the last run, in seconds since 1970 (UTC).",
			  (uint64_t)(clock_read_ns(CLOCK_REALTIME) / NS_PER_S));
}

static void put_all(struct text *t, const struct prometheus *p, bool over)
{
	const struct report *r = p->report;

	t->used = 0;
	t->earlier = &p->earlier;
	make_labels(t, r->options);
	put_head(t, "rant_info", "gauge", "Version of rant and source of the timestamps.");
	put(t, "rant_info{%s,version=\"" RANT_VERSION "\",stamp=\"%s\"} 1\n", t->labels,
	    label_stamps[options_on_wire(r->options) ? r->options->stamp : SOURCE_USER].option);
	if (!p->no_accounts) {
		put_rows(t, r, ACCOUNT_PACKETS, "", "Packets");
		put_rows(t, r, ACCOUNT_STAMPS, "missing_stamps_", "Missing stamps");
		put_counter(t, "rant_breaches_total", "Samples above --threshold.",
			    counter_get(&r->result->account.breaches));
		put_causes(t, r);
	}
	put_histogram(t, p);
	put_verdict(t, over ? r->verdict : NULL, over);
	put_last_run(t, p, over);
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

int prometheus_open(struct prometheus *p, const struct report *r, const struct sample_queue *sample_queue)
{
	const char *path = r->options->prometheus_path;
	int error;
	bool is_file;

	*p = (struct prometheus){ .report = r, .sample_queue = sample_queue, .file.fd = -1 };
	error = log_file_open_of(&p->file, "prometheus", path);
	if (error)
		return error;
	is_file = *p->file.partial;
	log_file_abandon(&p->file);
	if (is_file)
		return 0;
	warnx("--prometheus %s: not a regular file: give the path of a file that rant may replace", path);
	return -EINVAL;
}

void prometheus_go_on(struct prometheus *p)
{
	const char *path = p->report->options->prometheus_path;
	struct text t;
	unsigned line;
	int error;

	make_labels(&t, p->report->options);
	error = prometheus_earlier_read(&p->earlier, path, t.labels, histogram_name(p->report->options), &line);
	if (error == -EINVAL && line)
		warnx("--prometheus %s: line %u is not what rant writes, so its counters begin at 0", path, line);
	else if (error == -EINVAL)
		warnx("--prometheus %s: is not a file that rant writes, so its counters begin at 0", path);
	else if (error)
		warnx("--prometheus %s: cannot be read (%s), so its counters begin at 0", path, strerror(-error));
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
	for (uint32_t i = 0; i < h->buckets + h->log_buckets; i++)
		add_many(p, histogram_bucket_ns(h, i), histogram_bucket(h, i));
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
