// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics in whole nanoseconds, with their numbers of samples. */
#include "histogram.h"
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/confidence.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "report/text/stage.h"
#include "result/ipdv.h"
#include "result/result.h"
#include "result/source_port.h"
#include "result/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Histograms -------------------------------------------------------------------------------------------------- */

static void put_pair(struct json *j, int64_t start_ns, uint64_t count)
{
	json_pair(j, NULL);
	json_integer(j, NULL, start_ns);
	json_count(j, NULL, count);
	json_end(j);
}

static void put_buckets(struct json *j, const char *name, const struct histogram *h, uint32_t first, uint32_t end)
{
	json_array(j, name);
	for (uint32_t i = first; i < end; i++)
		if (histogram_bucket(h, i))
			put_pair(j, histogram_bucket_ns(h, i), histogram_bucket(h, i));
	json_end(j);
}

/* Ascending: each value that was kept, and its number of samples. */
static void put_overflow(struct json *j, const struct histogram *h)
{
	uint32_t from = 0;

	json_array(j, "overflow");
	for (uint32_t i = 0; i < h->kept; i++) {
		if (i + 1 < h->kept && h->overflow[i + 1] == h->overflow[i])
			continue;
		put_pair(j, h->overflow[i], i + 1 - from);
		from = i + 1;
	}
	json_end(j);
}

static void put_histogram(struct json *j, const struct histogram *h)
{
	json_object(j, "histogram");
	json_integer(j, "bucket_ns", h->width_ns);
	json_integer(j, "overflow_from_ns", h->limit_ns);
	json_count(j, "overflow_samples", h->overflows);
	json_count(j, "overflow_not_kept", h->overflows - h->kept);
	put_buckets(j, "buckets", h, 0, h->buckets);
	put_buckets(j, "overflow_buckets", h, h->buckets, h->buckets + h->log_buckets);
	put_overflow(j, h);
	json_end(j);
}

/* c: of the latency; else NULL. */
static void put_percentiles(struct json *j, const struct histogram *h, const struct confidence *c)
{
	struct statistics_percentile p;

	json_array(j, "percentiles");
	for (unsigned i = 0; h->count && statistics_percentile(h, i, &p); i++) {
		const char *point = strchr(p.percent, '.');

		json_object(j, NULL);
		json_real(j, "percent", strtod(p.percent, NULL), point ? (int)strlen(point + 1) : 0);
		json_integer(j, "value_ns", p.value_ns);
		json_count(j, "samples_above", p.above);

		const struct confidence_interval interval = confidence_interval(h, c, i);

		json_integer(j, "low_ns", interval.low_ns);
		json_integer_if(j, "high_ns", interval.high_ns >= 0, interval.high_ns);
		json_end(j);
	}
	json_end(j);
}

/* null without samples. */
static void put_extremes(struct json *j, const struct histogram *h)
{
	if (!h->count) {
		json_null(j, "min_ns");
		json_null(j, "min_seq");
		json_null(j, "max_ns");
		json_null(j, "max_seq");
		json_null(j, "mean_ns");
		json_null(j, "stddev_ns");
		json_null(j, "sum_ns");
		return;
	}
	json_integer(j, "min_ns", h->min_ns);
	json_count(j, "min_seq", h->min_seq);
	json_integer(j, "max_ns", h->max_ns);
	json_count(j, "max_seq", h->max_seq);
	json_real(j, "mean_ns", histogram_mean_ns(h), 0);
	json_real(j, "stddev_ns", histogram_deviation_ns(h), 0);
	json_integer_if(j, "sum_ns", h->sum <= INT64_MAX, (int64_t)h->sum);
}

struct statistic {
	const char *label; /* name in the report */
	const char *formula;
	const struct histogram *histogram;
	bool with_histogram;
	struct optional within_ns; /* error of each value by the clock relation; not known: one clock made both timestamps */
	struct optional within_end_ns; /* the same at the end of the run */
	const struct confidence *confidence; /* NULL: not of the latency */
	const char *limit; /* limit_words() */
};

static void put_metric(struct json *j, const struct statistic *f)
{
	const struct histogram *h = f->histogram;
	char name[JSON_NAME_BYTES];

	json_object(j, json_name(name, sizeof(name), f->label, "_ns"));
	json_text(j, "formula", f->formula);
	json_count(j, "samples", h->count);
	json_count(j, "negative", h->negatives);
	if (f->limit)
		json_text(j, "limit", f->limit);
	if (f->within_ns.known)
		json_integer(j, "within_ns", f->within_ns.value);
	if (f->within_end_ns.known)
		json_integer(j, "within_end_ns", f->within_end_ns.value);
	put_extremes(j, h);
	json_text(j, "intervals_by", confidence_is_by_blocks(f->confidence) ? "blocks" : "binomial");
	put_percentiles(j, h, f->confidence);
	if (f->with_histogram)
		put_histogram(j, h);
	json_end(j);
}

static struct optional bound_of(const struct report *r, const struct stage *s)
{
	if (s->bound == BOUND_NONE)
		return (struct optional){ .known = false };
	return s->bound == BOUND_LOCAL && r->result->converted ? optional_of(clocks_stages_bound(r)) :
	       r->result->bound_ns[s->bound];
}

static void put_stages(struct json *j, const struct report *r, bool histograms)
{
	const struct result *result = r->result;
	struct stage stages[STAGES];

	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	for (int i = 0; i < STAGES; i++) {
		const struct stage *s = &stages[i];
		const char *words = limit_words(r, limit_of_stage(r, i));
		struct part p;

		if (s->from == s->to && s->less_from == s->less_to)
			continue;
		if (!stage_is_collected(r, i, s))
			continue;
		stage_name(&p, r, s);
		put_metric(j, &(struct statistic){ .label = p.name, .formula = p.formula, .histogram = result->stage[i],
						   .with_histogram = histograms, .limit = words,
						   .within_ns = words ? limit_bound_ns(r, limit_of_stage(r, i)) :
								bound_of(r, s) });
	}
}

static void put_one_way(struct json *j, const struct report *r, bool histograms)
{
	static const char *const names[ONE_WAYS][2] = { { "Forward", "T2 - T1" }, { "Backward", "T4 - T3" } };
	const struct result *result = r->result;

	for (int i = 0; i < ONE_WAYS; i++)
		if (result->one_way[i] && result->one_way[i]->count + result->one_way[i]->negatives)
			put_metric(j, &(struct statistic){ .label = names[i][0], .formula = names[i][1],
							   .histogram = result->one_way[i], .with_histogram = histograms,
							   .within_ns = result->one_way_bound_ns[0],
							   .within_end_ns = result->one_way_bound_ns[1] });
}

static void put_plain(struct json *j, const char *label, const char *formula, const struct histogram *h, bool histograms)
{
	if (h)
		put_metric(j, &(struct statistic){ .label = label, .formula = formula, .histogram = h,
						   .with_histogram = histograms });
}

void json_metrics(struct json *j, const struct report *r, bool histograms)
{
	const struct result *result = r->result;
	const char *words = limit_words(r, LIMIT_LATENCY), *equals;
	char formula[64];

	label_latency(r->options, formula, sizeof(formula));
	equals = strstr(formula, " = ");
	json_object(j, "statistics");
	put_metric(j, &(struct statistic){ .label = label_roles[r->options->role].latency,
					   .formula = equals ? equals + 3 : NULL, .histogram = r->histogram,
					   .with_histogram = histograms, .confidence = &result->confidence,
					   .limit = words, .within_ns = limit_bound_ns(r, LIMIT_LATENCY) });
	put_stages(j, r, histograms);
	put_one_way(j, r, histograms);
	put_plain(j, "Sent late", "T1 - slot", result->planned[PLANNED_LATE], histograms);
	put_plain(j, "RTT from slot", "RTT + sent late", result->planned[PLANNED_RTT], histograms);
	put_plain(j, "Send call", "in the kernel", result->planned[PLANNED_CALL], histograms);
	put_plain(j, STATISTICS_POLL_GAP, STATISTICS_POLL_GAP_FORMULA, result->poll_gaps.within, histograms);
	json_end(j);
}

/* ---- IPDV -------------------------------------------------------------------------------------------------------- */

static void put_ipdv(struct json *j, const char *name, const struct ipdv_figures *f)
{
	if (!json_object_if(j, name, f->count || f->beyond))
		return;
	json_count(j, "samples", f->count);
	json_count(j, "beyond", f->beyond);
	json_count_if(j, "min_ns", f->count, f->min_ns);
	json_count_if(j, "max_ns", f->count, f->max_ns);
	json_real(j, "mean_ns", f->count ? f->mean_ns : NAN, 0);
	json_real(j, "stddev_ns", f->count ? f->deviation_ns : NAN, 0);
	json_count_if(j, "p50_ns", f->count, f->p50_ns);
	json_count_if(j, "p99_ns", f->count, f->p99_ns);
	json_end(j);
}

void json_ipdv(struct json *j, const struct report *r)
{
	const struct result_ipdv *v = &r->result->ipdv;

	json_object(j, "ipdv");
	put_ipdv(j, "response_ipdv_ns", &v->of[IPDV_RESPONSE]);
	if (r->options->role == ROLE_EMIT) {
		put_ipdv(j, "rtt_ipdv_ns", &v->of[IPDV_RTT]);
		put_ipdv(j, "network_ipdv_ns", &v->of[IPDV_NETWORK]);
		put_ipdv(j, "send_ipdv_ns", &v->of[IPDV_FORWARD]);
		put_ipdv(j, "receive_ipdv_ns", &v->of[IPDV_BACKWARD]);
	}
	if (r->result->peer.compared || v->left_out)
		json_count(j, "left_out", v->left_out);
	json_end(j);
}

/* By times of the reflector's program; null if timestamps are known, or without samples. */
static void put_reported(struct json *j, const struct report *r)
{
	const struct reported_figures *t = &r->result->ipdv.reported;

	if (r->options->role != ROLE_EMIT)
		return;
	if (!json_object_if(j, "as_told", ipdv_is_reported(r)))
		return;
	json_text(j, "from", "T2 and T3 in the replies, T3 of the reflector's program before it sent");
	put_ipdv(j, "response_ns", &t->delay[REPORTED_RESPONSE]);
	put_ipdv(j, "network_ns", &t->delay[REPORTED_NETWORK]);
	put_ipdv(j, "send_delay_ns", &t->delay[REPORTED_SEND]);
	put_ipdv(j, "receive_delay_ns", &t->delay[REPORTED_RECEIVE]);
	json_integer_if(j, "ways_within_ns", t->delay[REPORTED_SEND].count + t->negative[REPORTED_SEND],
			t->bound_ns[0]);
	json_integer_if(j, "ways_within_end_ns", t->delay[REPORTED_SEND].count + t->negative[REPORTED_SEND],
			t->bound_ns[1]);
	put_ipdv(j, "response_ipdv_ns", &t->varies[REPORTED_RESPONSE]);
	put_ipdv(j, "network_ipdv_ns", &t->varies[REPORTED_NETWORK]);
	put_ipdv(j, "receive_ipdv_ns", &t->varies[REPORTED_RECEIVE]);
	json_count(j, "negative",
		   t->negative[REPORTED_RESPONSE] + t->negative[REPORTED_NETWORK] + t->negative[REPORTED_SEND] +
					  t->negative[REPORTED_RECEIVE]);
	json_pair(j, "negative_each");
	for (int i = 0; i < REPORTED_DELAYS; i++)
		json_count(j, NULL, t->negative[i]);
	json_end(j);
	json_count(j, "no_part", t->no_part);
	json_count(j, "two_clocks", t->two_clocks);
	json_end(j);
}

/* ---- The schedule ------------------------------------------------------------------------------------------------ */

static void put_schedule(struct json *j, const struct report *r)
{
	const struct result *result = r->result;

	if (r->options->role != ROLE_EMIT)
		return;
	if (r->options->interval_ns) {
		json_object(j, "schedule");
		json_integer(j, "interval_ns", r->options->interval_ns);
		json_count(j, "slots", counter_get(&result->slots));
		json_count(j, "missed", counter_get(&result->missed));
		json_end(j);
	} else {
		json_null(j, "schedule");
	}
	if (result->window.most > 1) {
		json_object(j, "window");
		json_count(j, "most", result->window.most);
		json_count(j, "reached", result->window.reached);
		json_count(j, "transmit_stamps_at_once", result->window.stamps_most);
		json_bool(j, "transmit_stamps_limited", result->window.stamps_limited);
		json_integer(j, "stamp_every", r->options->stamp_every);
		json_end(j);
	} else {
		json_null(j, "window");
	}
}

/* ---- Source ports ------------------------------------------------------------------------------------------------ */

static void put_port(struct json *j, const struct result_port *p)
{
	json_object(j, NULL);
	json_count(j, "port", p->number);
	json_count(j, "samples", p->samples);
	json_count(j, "sent", p->sent);
	json_count(j, "lost", p->lost);
	json_count(j, "refused", p->refused);
	json_count_if(j, "lost_there", p->directions_known, p->lost_forward);
	json_count_if(j, "lost_back", p->directions_known, p->lost_backward);
	json_count_if(j, "p50_ns", p->has_delay, p->p50_ns);
	json_count_if(j, "p99_ns", p->has_delay, p->p99_ns);
	json_count_if(j, "max_ns", p->has_delay, p->max_ns);
	json_end(j);
}

static void put_ports(struct json *j, const struct report *r)
{
	const struct result *result = r->result;
	const int worst = source_ports_worst(result->port, result->ports);

	if (r->options->role != ROLE_EMIT)
		return;
	if (!json_object_if(j, "source_ports", result->ports))
		return;
	json_text(j, "figure", result->ports_by_network ? "network_ns" : "rtt_ns");
	json_integer_if(j, "worst_port", worst >= 0, worst >= 0 ? result->port[worst].number : 0);
	json_array(j, "each");
	for (unsigned i = 0; i < result->ports; i++)
		put_port(j, &result->port[i]);
	json_end(j);
	json_end(j);
}

/* ---- The link ---------------------------------------------------------------------------------------------------- */

static void put_wire(struct json *j, const struct wire *w)
{
	if (!json_object_if(j, "wire_time", w->speed_mbps))
		return;
	json_integer(j, "probe_ns", w->probe_ns);
	json_count(j, "frame_bytes", w->frame_bytes);
	json_integer(j, "speed_mbps", w->speed_mbps);
	json_end(j);
}

void json_statistics(struct json *j, const struct report *r, bool histograms)
{
	const struct read *read = r->result->read;

	json_metrics(j, r, histograms);
	put_wire(j, &r->result->wire);
	/* IPDV is known for a live run and for the log of an emitter, not for merged runs. */
	if (!read || (read->settings ? read->files == 1 : r->options->role == ROLE_EMIT))
		json_ipdv(j, r);
	/* Logs and several files have none of these. */
	if (read && (!read->settings || read->files > 1))
		return;
	put_reported(j, r);
	put_schedule(j, r);
	put_ports(j, r);
}
