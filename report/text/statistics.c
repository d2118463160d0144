// SPDX-License-Identifier: GPL-2.0-or-later
/* Histograms with their percentiles, and the table of the stages. */
#include "report/text/sections.h"

#include "histogram.h"
#include "options.h"
#include "report/text/confidence.h"
#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/stage.h"
#include "report/text/report.h"
#include "result/result.h"
#include "result/stages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void statistics_write_line(FILE *out, const struct histogram *h)
{
	if (!h->count)
		fprintf(out, "MIN: n/a | MAX: n/a | AVG: n/a | Total Samples: 0\n");
	else
		fprintf(out, "MIN: %" PRId64 " ns | MAX: %" PRId64 " ns | AVG: %.0f ns | Total Samples: %" PRIu64 "\n",
			h->min_ns, h->max_ns, histogram_mean_ns(h), h->count);
}

void statistics_write(FILE *out, const struct histogram *h)
{
	fprintf(out, "--- Latency Statistics ---\n");
	statistics_write_line(out, h);
}

/* ---- Histograms ------------------------------------------------------------------------------------------------ */

static bool is_fit(const struct histogram *h, size_t i)
{
	return !label_percentiles[i].rare || h->count / label_percentiles[i].denominator >= 10;
}

/* On a separate line, because scripts match each line of a percentile exactly. */
static void write_few(FILE *out, const struct histogram *h)
{
	const char *before = "    fewer than ten samples are above: ";

	for (size_t i = 0; i < PERCENTILES && is_fit(h, i); i++) {
		if (!label_is_few(h->count, label_percentiles[i].numerator, label_percentiles[i].denominator))
			continue;
		fprintf(out, "%s%sth", before, label_percentiles[i].percent);
		before = ", ";
	}
	if (*before == ',')
		fputc('\n', out);
}

bool statistics_percentile(const struct histogram *h, unsigned index, struct statistics_percentile *p)
{
	const struct label_percentile *row = &label_percentiles[index];

	if (index >= PERCENTILES || !is_fit(h, index))
		return false;

	const struct percentile v = histogram_percentile(h, row->numerator, row->denominator);

	*p = (struct statistics_percentile){
		.percent = row->percent, .value_ns = v.value_ns,
		/* Rounded down, because the rank is rounded up. */
		.above = (uint64_t)((unsigned __int128)h->count * (row->denominator - row->numerator) /
				    row->denominator),
	};
	return true;
}

static void write_percentiles(FILE *out, const struct histogram *h)
{
	fprintf(out, "  Percentiles (us):\n");
	for (size_t i = 0; i < PERCENTILES && is_fit(h, i); i++) {
		const struct label_percentile *row = &label_percentiles[i];
		struct percentile p = histogram_percentile(h, row->numerator, row->denominator);

		fprintf(out, "    %sth%*s:  %.3f%s\n", row->percent, (int)(6 - strlen(row->percent)), "",
			label_us(p.value_ns), i == PERCENTILE_50 ? " (Median)" : "");
	}
}

void statistics_write_summary(FILE *out, const struct histogram *h)
{
	fprintf(out, "Histogram Summary:\n  Samples   :  %" PRIu64 "\n", h->count);
	if (!h->count)
		return;
	fprintf(out, "  Minimum   :  %.2f us (#%" PRIu32 ")\n", label_us(h->min_ns), h->min_seq);
	fprintf(out, "  Maximum   :  %.2f us (#%" PRIu32 ")\n", label_us(h->max_ns), h->max_seq);
	fprintf(out, "  Average   :  %.2f us\n", histogram_mean_ns(h) / NS_PER_US);
	write_percentiles(out, h);
}

void statistics_write_histogram(FILE *out, const struct report *r, int columns)
{
	const struct histogram *h = r->histogram;

	fputc('\n', out);
	statistics_write_summary(out, h);
	if (!h->count)
		return;
	write_few(out, h);
	fprintf(out, "  Std dev   :  %.3f us\n", histogram_deviation_ns(h) / NS_PER_US);
	if (h->width_ns > 1)
		fprintf(out, "  Resolution:  %.3f us (percentiles are lower edges)\n", label_us(h->width_ns));
	fprintf(out, "  Buckets (us):%s\n", buckets_are_folded(h, r->options) ? "  (folded; -v has all)" : "");
	buckets_write(out, h, r->options, columns);
}

/* With other words than the histogram of the latency, so that scripts that match those lines find them once. */
static void write_stage_histogram(FILE *out, const struct report *r, const char *title, const struct histogram *h,
				  int columns)
{
	if (!h || !h->count)
		return;
	fprintf(out, "\n%s Histogram (us):\n", title);
	fprintf(out, "  %" PRIu64 " samples from %.3f (#%" PRIu32 ") to %.3f (#%" PRIu32 ")\n", h->count,
		label_us(h->min_ns), h->min_seq, label_us(h->max_ns), h->max_seq);
	fprintf(out, "  average %.3f, standard deviation %.3f\n", histogram_mean_ns(h) / NS_PER_US,
		histogram_deviation_ns(h) / NS_PER_US);
	for (size_t i = 0; i < PERCENTILES && is_fit(h, i); i++) {
		struct percentile v = histogram_percentile(h, label_percentiles[i].numerator,
							   label_percentiles[i].denominator);

		fprintf(out, "%s%sth %.3f", i ? ", " : "  ", label_percentiles[i].percent, label_us(v.value_ns));
	}
	fputc('\n', out);
	write_few(out, h);
	buckets_write(out, h, r->options, columns);
}

void statistics_write_histograms(FILE *out, const struct report *r, int columns)
{
	statistics_write_histogram(out, r, columns);
	if (!options_joined(r->options))
		return;
	write_stage_histogram(out, r, "Response", r->result->stage[STAGE_RESPONSE], columns);
	write_stage_histogram(out, r, "Network", r->result->stage[STAGE_NETWORK], columns);
}

/* ---- The table of parts ---------------------------------------------------------------------------------------- */

/* The columns of the table of stages, after the name. */
enum cell { CELL_FORMULA, CELL_SAMPLES, CELL_NEGATIVE, CELL_PERCENTILE,
	    CELL_MAXIMUM = CELL_PERCENTILE + PERCENTILES, CELL_AVERAGE,
	    CELLS };

static const struct {
	const char *title;
	int width; /* negative: left-aligned */
} cells[CELLS] = {
	[CELL_FORMULA] = { "", -22 },
	[CELL_SAMPLES] = { "Samples", 9 },
	[CELL_NEGATIVE] = { "Negative", 8 },
	[CELL_PERCENTILE ... CELL_MAXIMUM - 1] = { NULL, 10 }, /* label_percentiles[] */
	[CELL_MAXIMUM] = { "Maximum", 10 },
	[CELL_AVERAGE] = { "Average", 10 },
};

/* Columns by importance: a narrow terminal gets the first columns, a file gets all. */
#define P(name) CELL_PERCENTILE + PERCENTILE_##name
static const uint8_t cell_ranks[] = { CELL_SAMPLES, CELL_MAXIMUM, P(50), P(99), P(99_9), CELL_NEGATIVE, P(99_99),
				      P(99_999),
					   P(99_9999), P(90), CELL_AVERAGE, CELL_FORMULA, P(95) };
#undef P

/* NULL: the column has no percentile. */
static const struct label_percentile *percentile_of(int cell)
{
	return cell >= CELL_PERCENTILE && cell < CELL_MAXIMUM ? &label_percentiles[cell - CELL_PERCENTILE] : NULL;
}

/* True if fewer than ten of `count` samples are above the percentile. */
static bool is_few(uint64_t count, const struct label_percentile *p)
{
	return p && label_is_few(count, p->numerator, p->denominator);
}

struct table {
	int name_width;
	bool shown[CELLS];
	bool few; /* a cell was marked */
};

/* Rare percentiles are printed only for long runs. */
static bool is_wanted(const struct report *r, enum cell cell)
{
	const struct label_percentile *p = percentile_of((int)cell);

	if (cell == CELL_AVERAGE)
		return options_joined(r->options);
	return !p || !p->rare || !is_few(r->histogram->count, p);
}

static void begin_table(FILE *out, struct table *t, const char *title, const struct report *r, int columns)
{
	int width = 2;

	*t = (struct table){ .name_width = options_joined(r->options) ? 22 : 15 };
	width += t->name_width;
	for (size_t i = 0; i < sizeof(cell_ranks); i++) {
		const enum cell cell = cell_ranks[i];

		if (!is_wanted(r, cell))
			continue;
		width += 1 + abs(cells[cell].width);
		if (columns && width > columns)
			break;
		t->shown[cell] = true;
	}
	fprintf(out, "\n%-*s", 2 + t->name_width, title);
	for (int i = 0; i < CELLS; i++) {
		const struct label_percentile *p = percentile_of(i);

		if (t->shown[i] && p)
			fprintf(out, " %*sth", cells[i].width - 2, p->percent);
		else if (t->shown[i])
			fprintf(out, " %*s", cells[i].width, cells[i].title);
	}
	fputc('\n', out);
}

/* less_ns is subtracted from every value. A percentile, the lower edge of a bucket, may be below the minimum. */
static void cell_text(char *text, size_t bytes, const struct histogram *h, int cell, int64_t less_ns)
{
	if (cell == CELL_SAMPLES || cell == CELL_NEGATIVE) {
		snprintf(text, bytes, "%" PRIu64, cell == CELL_SAMPLES ? h->count : h->negatives);
	} else if (cell == CELL_MAXIMUM) {
		snprintf(text, bytes, "%.3f", label_us(h->max_ns - less_ns));
	} else if (cell == CELL_AVERAGE) {
		snprintf(text, bytes, "%.3f", (histogram_mean_ns(h) - (double)less_ns) / NS_PER_US);
	} else {
		const struct label_percentile *p = &label_percentiles[cell - CELL_PERCENTILE];
		struct percentile v = histogram_percentile(h, p->numerator, p->denominator);

		snprintf(text, bytes, "%.3f", label_us(v.value_ns > less_ns ? v.value_ns - less_ns : 0));
	}
}

/* A value with fewer than ten samples above it is followed by a mark instead of a blank. */
static void write_stage(FILE *out, struct table *t, const char *name, const char *formula,
			const struct histogram *h, int64_t less_ns)
{
	char after = ' ';

	fprintf(out, "  %-*s", t->name_width, name);
	if (t->shown[CELL_FORMULA])
		fprintf(out, " %*s", cells[CELL_FORMULA].width, formula);
	for (int i = CELL_SAMPLES; i < (h->count ? CELLS : CELL_PERCENTILE); i++) {
		char text[32];

		if (!t->shown[i])
			continue;
		cell_text(text, sizeof(text), h, i, less_ns);
		fprintf(out, "%c%*s", after, cells[i].width, text);
		after = is_few(h->count, percentile_of(i)) ? '*' : ' ';
		t->few |= after == '*';
	}
	fputc('\n', out);
}

static void end_table(FILE *out, const struct table *t)
{
	if (t->few)
		fprintf(out, "  * fewer than ten samples are above it\n");
}

/* A one-way delay needs the offset of the two hosts' clocks. Its variation, the delay minus the minimum, does not; it
 * is not known if samples were negative. */
static void write_one_way(FILE *out, const struct report *r, struct table *t)
{
	static const char *const names[ONE_WAYS][2] = { { "Forward", "Forward, variation" },
							{ "Backward", "Backward, variation" } };
	const struct result *result = r->result;
	const int64_t bound_ns = result->one_way_bound_ns[0].value;
	char bound[40];

	snprintf(bound, sizeof(bound), "+-%.3f us", label_us(bound_ns));
	for (int i = 0; i < ONE_WAYS; i++) {
		const struct histogram *h = result->one_way[i];

		if (!h || !(h->count + h->negatives))
			continue;
		write_stage(out, t, names[i][0], bound, h, 0);
		if (!h->negatives)
			write_stage(out, t, names[i][1], "above its minimum", h, h->min_ns);
	}
	if (!result->one_way[0] || !(result->one_way[0]->count + result->one_way[0]->negatives))
		return;
	fprintf(out, "  Forward and backward are within +-%" PRId64 " ns", bound_ns);
	if (r->options->synced_ns >= 0)
		fprintf(out, ", if the two NICs' clocks are, as --synced says\n");
	else if (result->one_way_bound_ns[1].known)
		fprintf(out, " (at the end +-%" PRId64 "): the clocks were compared by the exchanges themselves\n",
			result->one_way_bound_ns[1].value);
	else
		fprintf(out, ": the clocks were compared by the exchanges themselves\n");
	if (!result->peer.compared || !(result->one_way[0]->negatives + result->one_way[1]->negatives))
		return;
	if (result->one_way_beyond)
		fprintf(out,
			"  %" PRIu64 " of the negative values are beyond that: the assumed relation of the clocks is wrong\n",
			result->one_way_beyond);
	else
		fprintf(out,
			"  The negative values are within that: not a fault, the clocks are not known more exactly\n");
}

/* Reason why a requested response is not known. */
static void write_no_response(FILE *out, const struct result *result)
{
	int most = FOLLOW_UP_NONE;

	for (int i = 0; i < FOLLOW_UPS; i++)
		if (counter_get(&result->account.follow_up[i]) > counter_get(&result->account.follow_up[most]))
			most = i;
	if (counter_get(&result->account.follow_up[most]))
		fprintf(out, "  Response and network: not known: %s\n", label_follow_ups[most].meaning);
}

static void write_no_remote_stages(FILE *out, const struct result *result)
{
	const struct software_remote *last = &result->software_remote;

	fprintf(out, "  Remote stages: not known: %s\n",
		result->remote == SOURCE_USER ? "the reflector's stamps are those of its program" :
		!last->reported || !last->t2_known ? "the reflector does not report when its program had the probe" :
		!last->bound_ns.known ? "the reflector cannot compare its program's clock with that of its stamps" :
		"the reflector's times are not complete");
}

/* The whole latency, the first row of the table. */
static void write_whole(FILE *out, const struct report *r, struct table *t)
{
	char latency[64], name[32];

	label_latency(r->options, latency, sizeof(latency));
	snprintf(name, sizeof(name), "%s", r->options->role == ROLE_EMIT ? "Round trip" : "Response");
	limit_add(name, sizeof(name), r, LIMIT_LATENCY);
	write_stage(out, t, name, strstr(latency, "= ") + 2,
		    r->histogram, 0);
}

/* The time of a probe on the link, to compare with the network time. A reply of another length takes another time. */
static void write_wire_time(FILE *out, const struct report *r)
{
	const struct result *result = r->result;
	const struct wire *w = &result->wire;
	const uint64_t replies = counter_get(&result->account.timed_packets);
	const bool alike = replies && counter_get(&result->account.timed_bytes) == replies * (uint64_t)result->probe_bytes.value;
	const bool fast = w->speed_mbps >= 1000;

	if (!w->speed_mbps || !options_on_wire(r->options) || result->remote == SOURCE_USER)
		return;
	fprintf(out, "  Wire time: %s%" PRId64 " ns on the link of this host (%s %zu octets at %g %s)\n",
		alike ? "2 x " : "", w->probe_ns,
		alike ? "probe and reply, each" : "probe,", w->frame_bytes,
		fast ? w->speed_mbps / 1000.0 : w->speed_mbps, fast ? "Gbit/s" : "Mbit/s");
}

static void write_gaps_between(FILE *out, const struct result *result)
{
	const struct outages *gaps = &result->poll_gaps.between;

	if (gaps->count)
		fprintf(out, "  Between exchanges: %" PRIu64 " poll gap%s of %.0f us or more, the longest %.3f us, %.3f s "
			"after the start\n", gaps->count, gaps->count == 1 ? "" : "s", label_us(POLL_GAP_LONG_NS),
			label_us(gaps->longest_ns), label_seconds(gaps->longest_at_ns - result->began_ns));
}

void statistics_write_stages(FILE *out, const struct report *r, int columns)
{
	const struct result *result = r->result;
	struct stage stages[STAGES];
	struct table t;

	if (!r->histogram->count)
		return;
	stages_of_role(r->options->role, options_on_wire(r->options), stages);
	begin_table(out, &t, "Stages (us):", r, columns);
	write_whole(out, r, &t);
	for (int i = 0; i < STAGES; i++) {
		struct part p;

		if (!stage_is_collected(r, i, &stages[i]))
			continue;
		stage_name(&p, r, &stages[i]);
		limit_add(p.name, sizeof(p.name), r, limit_of_stage(r, i));
		write_stage(out, &t, p.name, p.formula, result->stage[i], 0);
	}
	if (result->poll_gaps.within)
		write_stage(out, &t, STATISTICS_POLL_GAP, STATISTICS_POLL_GAP_FORMULA, result->poll_gaps.within, 0);
	write_one_way(out, r, &t);
	end_table(out, &t);
	if (stage_is_collected(r, STAGE_NETWORK, &stages[STAGE_NETWORK]))
		write_wire_time(out, r);
	confidence_write(out, r);
	confidence_write_goal(out, r);
	write_gaps_between(out, result);
	if (!options_joined(r->options))
		return;
	if (result->stage[STAGE_RESPONSE] && !stage_is_collected(r, STAGE_RESPONSE, &stages[STAGE_RESPONSE]))
		write_no_response(out, result);
	if (result->stage[STAGE_REMOTE_APP] && !stage_is_split(r))
		write_no_remote_stages(out, result);
}

static void write_interval(FILE *out, const struct options *o)
{
	static const char *const how[] = { [PACING_HYBRID] = "hybrid", [PACING_SLEEP] = "sleep",
					   [PACING_SPIN] = "spin" };

	fprintf(out, "\nSchedule: a probe every %.3f us", label_us(o->interval_ns));
	if (o->poisson)
		fprintf(out, " on average (Poisson, --seed %" PRId64 ")", o->seed);
	else if (o->jitter_percent)
		fprintf(out, ", up to %" PRId64 " %% of that later (--seed %" PRId64 ")", o->jitter_percent, o->seed);
	fprintf(out, "; pacing: %s%s\n", how[o->pacing],
		o->interval_implied ?
		"; slow by default, because the responder did not agree to be measured: --interval TIME changes it" :
			"");
}

static void write_window(FILE *out, const struct report *r)
{
	const struct window_use *w = &r->result->window;

	if (w->most < 2)
		return;
	fprintf(out, "\nWindow: up to %" PRIu32 " probes in flight, %" PRIu32 " at most were\n", w->most, w->reached);
	if (w->by_nic)
		fprintf(out, "  Transmit stamps at once:  %" PRIu32 "%s\n", w->stamps_most,
			w->stamps_limited ? "  (with more at once some were missing: the limit of this NIC)" :
			w->stamps_most < w->most ? "  (no more were tried)" : "");
	if (r->options->stamp_every > 1)
		fprintf(out, "  Stamped and recorded:     one of %" PRId64 " probes\n", r->options->stamp_every);
}

void statistics_write_schedule(FILE *out, const struct report *r, int columns)
{
	static const char *const rows[PLANNED][2] = { [PLANNED_LATE] = { "Sent late", "T1 - slot" },
						      [PLANNED_RTT] = { "RTT from slot", "RTT + sent late" },
						      [PLANNED_CALL] = { "Send call", "in the kernel" } };
	const struct result *result = r->result;
	const uint64_t slots = counter_get(&result->slots), missed = counter_get(&result->missed);
	struct table t;

	write_window(out, r);
	if (!r->options->interval_ns)
		return;
	write_interval(out, r->options);
	fprintf(out, "  Slots     :  %" PRIu64 "\n", slots);
	fprintf(out, "  Missed    :  %" PRIu64, missed);
	if (missed)
		fprintf(out, "  (%.3f %%: %s, or this thread had no CPU)", 100.0 * (double)missed / (double)slots,
			result->window.most > 1 ? "the window was full" : "the probe before was not over");
	fputc('\n', out);
	begin_table(out, &t, "Schedule (us):", r, columns);
	for (int i = 0; i < PLANNED; i++)
		if (result->planned[i])
			write_stage(out, &t, rows[i][0], rows[i][1], result->planned[i], 0);
	end_table(out, &t);
}
