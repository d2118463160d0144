// SPDX-License-Identifier: GPL-2.0-or-later
/* Delays and IPDV (RFC 3393), in one table. */
#include "report/text/sections.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>

/* Width with all columns; a narrower terminal gets no column of samples. */
#define ALL_COLUMNS 90

enum cell { CELL_MIN, CELL_MEAN, CELL_MEDIAN, CELL_99, CELL_MAX, CELL_DEVIATION, CELLS };

static const struct {
	const char *title;
	int width;
} cells[CELLS] = {
	[CELL_MIN] = { "Min", 10 },	[CELL_MEAN] = { "Mean", 10 }, [CELL_MEDIAN] = { "Median", 10 },
	[CELL_99] = { "99th", 10 },	[CELL_MAX] = { "Max", 10 },   [CELL_DEVIATION] = { "Stddev", 9 },
};

struct table {
	FILE *out;
	bool samples; /* the column of samples is printed */
	bool few; /* a cell was marked */
};

/* Explains the mark of a cell with fewer than ten samples above it. */
static char mark_of(struct table *t, uint64_t count, int cell)
{
	const bool few = (cell == CELL_MEDIAN && label_is_few(count, 50, 100)) ||
			 (cell == CELL_99 && label_is_few(count, 99, 100));

	t->few |= few;
	return few ? '*' : ' ';
}

/* A mark replaces the blank after a value. */
static void write_row(struct table *t, const char *name, uint64_t count, const double us[CELLS])
{
	char after = ' ';

	fprintf(t->out, "  %-13s", name);
	if (t->samples)
		fprintf(t->out, " %9" PRIu64, count);
	for (int i = 0; i < CELLS; i++) {
		char text[40];

		snprintf(text, sizeof(text), "%.3f", us[i]);
		fprintf(t->out, "%c%*s", after, cells[i].width, text);
		after = mark_of(t, count, i);
	}
	fputc('\n', t->out);
}

static void write_columns(const struct table *t, const char *title)
{
	fprintf(t->out, "%-15s", title);
	if (t->samples)
		fprintf(t->out, " %9s", "Samples");
	for (int i = 0; i < CELLS; i++)
		fprintf(t->out, " %*s", cells[i].width, cells[i].title);
	fputc('\n', t->out);
}

/* h: has samples. */
static void write_delay(struct table *t, const char *name, const struct histogram *h)
{
	const struct percentile median = histogram_percentile(h, 50, 100), high = histogram_percentile(h, 99, 100);

	write_row(t, name, h->count,
		  (const double[CELLS]){ label_us(h->min_ns), histogram_mean_ns(h) / NS_PER_US,
					 label_us(median.value_ns),
					 label_us(high.value_ns), label_us(h->max_ns),
					 histogram_deviation_ns(h) / NS_PER_US });
}

static double ns_as_us(double ns)
{
	return ns / NS_PER_US;
}

static bool write_ipdv(struct table *t, const char *name, const struct ipdv_figures *f)
{
	if (!f->count)
		return false;
	write_row(t, name, f->count,
		  (const double[CELLS]){ ns_as_us((double)f->min_ns), ns_as_us(f->mean_ns),
					 ns_as_us((double)f->p50_ns), ns_as_us((double)f->p99_ns),
					 ns_as_us((double)f->max_ns), ns_as_us(f->deviation_ns) });
	return true;
}

/* The rows of delays; rows without a sample are omitted. */
enum delay_index { DELAY_RTT, DELAY_SEND, DELAY_RECEIVE, DELAY_RESPONSE, DELAY_NETWORK, DELAY_TIMER, DELAY_CALL,
		   DELAYS };

struct delay_row {
	const char *name;
	const struct histogram *histogram; /* NULL: not collected */
};

/* Precision of the delays, and number of excluded samples. Counters have the samples excluded from the round trip. */
static void write_notes_of_delays(FILE *out, const struct delay_row rows[DELAYS])
{
	int64_t width_ns = 1;

	for (int i = 0; i < DELAYS; i++)
		if (rows[i].histogram && rows[i].histogram->count && rows[i].histogram->width_ns > width_ns)
			width_ns = rows[i].histogram->width_ns;
	if (width_ns > 1)
		fprintf(out, "  Median and 99th of delays are lower edges of at most %.3f us\n", label_us(width_ns));
	for (int i = DELAY_SEND; i < DELAYS; i++)
		if (rows[i].histogram && rows[i].histogram->negatives)
			fprintf(out, "  Not in %s: %" PRIu64 " that are negative\n", rows[i].name,
				rows[i].histogram->negatives);
}

/* The same for IPDV. within: " of one session", or empty. */
static void write_notes_of_ipdv(FILE *out, const struct result_ipdv *v, const char *within)
{
	uint64_t count = 0, beyond = 0;

	for (int i = 0; i < IPDV_METRICS; i++) {
		count += v->of[i].count;
		beyond += v->of[i].beyond;
	}
	if (count)
		fprintf(out,
			"  IPDV: between the delays of consecutive probes%s (RFC 3393); median and 99th within 1.6 "
			"%%\n", within);
	if (v->left_out)
		fprintf(out,
			"  In no IPDV but that of RTT: %" PRIu64 " samples around a clock that was set or is in "
								 "doubt\n",
			v->left_out);
	if (beyond)
		fprintf(out, "  Not in IPDV: %" PRIu64 " differences of more than 18 minutes\n", beyond);
}

/* ---- As its program reports -------------------------------------------------------------------------------------- */

bool ipdv_is_reported(const struct report *r)
{
	const struct result *result = r->result;
	const struct reported_figures *t = &result->ipdv.reported;

	return r->options->role == ROLE_EMIT && !counter_get(&result->account.follow_up[FOLLOW_UP_THERE]) &&
	       t->delay[REPORTED_RESPONSE].count + t->negative[REPORTED_RESPONSE] + t->two_clocks + t->no_part;
}

static void write_notes_of_reported(FILE *out, const struct reported_figures *t)
{
	static const char *const names[REPORTED_DELAYS] = { [REPORTED_RESPONSE] = "Response",
		[REPORTED_NETWORK] = "Network",
						  [REPORTED_RECEIVE] = "Receive delay",
							  [REPORTED_SEND] = "Send delay" };

	if (t->delay[REPORTED_SEND].count + t->negative[REPORTED_SEND])
		fprintf(out, "  Send and receive delay are within +-%.3f us (at the end +-%.3f)\n",
			label_us(t->bound_ns[0]),
			label_us(t->bound_ns[1]));
	for (int i = 0; i < REPORTED_DELAYS; i++)
		if (t->negative[i])
			fprintf(out, "  Not in %s: %" PRIu64 " that are negative\n", names[i], t->negative[i]);
	if (t->no_part)
		fprintf(out, "  In none of these: %" PRIu64 " samples whose T3 - T2 is not within the round trip\n",
			t->no_part);
	if (t->two_clocks)
		fprintf(out,
			"  In none of these: %" PRIu64 " samples whose reply reports that T2 and T3 are from two clocks\n",
			t->two_clocks);
}

/* In a separate table, because these values are not differences of timestamps on the wire. */
static void write_reported(FILE *out, const struct report *r, bool samples)
{
	const struct reported_figures *t = &r->result->ipdv.reported;
	struct table table = { .out = out, .samples = samples };

	if (!ipdv_is_reported(r))
		return;
	fprintf(out, "\nAs its program reports, by T2 and T3 in the replies (T3 is read before a reply is sent):\n");
	if (!t->delay[REPORTED_RESPONSE].count && !t->delay[REPORTED_NETWORK].count) {
		write_notes_of_reported(out, t);
		return;
	}
	write_columns(&table, "  (us)");
	write_ipdv(&table, "Send delay", &t->delay[REPORTED_SEND]);
	write_ipdv(&table, "Receive delay", &t->delay[REPORTED_RECEIVE]);
	write_ipdv(&table, "Response", &t->delay[REPORTED_RESPONSE]);
	write_ipdv(&table, "Network", &t->delay[REPORTED_NETWORK]);
	write_ipdv(&table, "Receive IPDV", &t->varies[REPORTED_RECEIVE]);
	write_ipdv(&table, "Response IPDV", &t->varies[REPORTED_RESPONSE]);
	write_ipdv(&table, "Network IPDV", &t->varies[REPORTED_NETWORK]);
	if (table.few)
		fprintf(out, "  * fewer than ten samples are above it\n");
	fprintf(out, "  Medians and 99ths are within 1.6 %%\n");
	write_notes_of_reported(out, t);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* A reflector has the IPDV of its responses within each session. */
static void write_responses(const struct report *r, struct table *t)
{
	const struct result *result = r->result;

	write_delay(t, "Response", r->histogram);
	write_ipdv(t, "Response IPDV", &result->ipdv.of[IPDV_RESPONSE]);
	if (t->few)
		fprintf(t->out, "  * fewer than ten samples are above it\n");
	write_notes_of_delays(t->out, (const struct delay_row[DELAYS]){ { "Response", r->histogram } });
	write_notes_of_ipdv(t->out, &result->ipdv, " of one session");
}

void ipdv_write(FILE *out, const struct report *r, int columns)
{
	const struct result *result = r->result;
	const struct ipdv_figures *f = result->ipdv.of;
	struct table t = { .out = out, .samples = !columns || columns >= ALL_COLUMNS };
	const struct delay_row rows[DELAYS] = {
		[DELAY_RTT] = { "RTT", r->histogram },
		[DELAY_SEND] = { "Send delay", result->one_way[ONE_WAY_FORWARD] },
		[DELAY_RECEIVE] = { "Receive delay", result->one_way[ONE_WAY_BACKWARD] },
		[DELAY_RESPONSE] = { "Response", result->stage[STAGE_RESPONSE] },
		[DELAY_NETWORK] = { "Network", result->stage[STAGE_NETWORK] },
		[DELAY_TIMER] = { "Timer error", result->planned[PLANNED_LATE] },
		[DELAY_CALL] = { "Send call", result->planned[PLANNED_CALL] },
	};
	bool direction_known = false, direction_varies;

	if (!r->histogram->count)
		return;
	fputc('\n', out);
	write_columns(&t, "Delays (us):");
	if (r->options->role == ROLE_REFLECT) {
		write_responses(r, &t);
		return;
	}
	for (int i = 0; i < DELAYS; i++) {
		if (!rows[i].histogram || !rows[i].histogram->count)
			continue;
		write_delay(&t, rows[i].name, rows[i].histogram);
		direction_known |= i == DELAY_SEND || i == DELAY_RECEIVE;
	}
	write_ipdv(&t, "RTT IPDV", &f[IPDV_RTT]);
	direction_varies = write_ipdv(&t, "Send IPDV", &f[IPDV_FORWARD]);
	direction_varies |= write_ipdv(&t, "Receive IPDV", &f[IPDV_BACKWARD]);
	write_ipdv(&t, "Response IPDV", &f[IPDV_RESPONSE]);
	write_ipdv(&t, "Network IPDV", &f[IPDV_NETWORK]);
	if (t.few)
		fprintf(out, "  * fewer than ten samples are above it\n");
	write_notes_of_delays(out, rows);
	if (direction_varies && !direction_known && !(ipdv_is_reported(r) &&
						      result->ipdv.reported.delay[REPORTED_SEND].count))
		fprintf(out, "  Send and receive delay: not known, only their variation\n");
	write_notes_of_ipdv(out, &result->ipdv, "");
	write_reported(out, r, t.samples);
}
