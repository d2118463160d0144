// SPDX-License-Identifier: GPL-2.0-or-later
/* The delays and how they vary, in one table. */
#include "report/variation.h"

#include "histogram.h"
#include "measure/exchange.h"
#include "options.h"
#include "report/label.h"
#include "report/report.h"

#include <inttypes.h>

/* With all columns; a terminal that is narrower gets those that are left without the samples. */
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
	bool samples; /* as a column */
	int64_t width_ns; /* of the widest bucket so far */
};

/* bound: the value of this cell is that or more. */
static void write_row(const struct table *t, const char *name, uint64_t count, const double us[CELLS], const bool bound[CELLS])
{
	fprintf(t->out, "  %-13s", name);
	if (t->samples)
		fprintf(t->out, " %9" PRIu64, count);
	for (int i = 0; i < CELLS; i++) {
		char text[40];

		snprintf(text, sizeof(text), "%s%.3f", bound[i] ? ">=" : "", us[i]);
		fprintf(t->out, " %*s", cells[i].width, text);
	}
}

static void write_title(const struct table *t)
{
	fprintf(t->out, "\n%-15s", "Delays (us):");
	if (t->samples)
		fprintf(t->out, " %9s", "Samples");
	for (int i = 0; i < CELLS; i++)
		fprintf(t->out, " %*s", cells[i].width, cells[i].title);
	fputc('\n', t->out);
}

/* h: NULL: not collected. What is negative is in no histogram. */
static bool write_delay(struct table *t, const char *name, const struct histogram *h)
{
	struct percentile median, high;

	if (!h || !h->count)
		return false;
	median = histogram_percentile(h, 50, 100);
	high = histogram_percentile(h, 99, 100);
	write_row(t, name, h->count,
		  (const double[CELLS]){ label_us(h->min_ns), histogram_mean_ns(h) / NS_PER_US, label_us(median.value_ns),
					 label_us(high.value_ns), label_us(h->max_ns), histogram_deviation_ns(h) / NS_PER_US },
		  (const bool[CELLS]){ [CELL_MEDIAN] = median.bound, [CELL_99] = high.bound });
	if (h->negatives)
		fprintf(t->out, "  (without %" PRIu64 " that are negative)", h->negatives);
	fputc('\n', t->out);
	if (h->width_ns > t->width_ns)
		t->width_ns = h->width_ns;
	return true;
}

static double ns_as_us(double ns)
{
	return ns / NS_PER_US;
}

static bool write_variation(const struct table *t, const char *name, const struct variation_figure *f)
{
	if (!f->count)
		return false;
	write_row(t, name, f->count,
		  (const double[CELLS]){ ns_as_us((double)f->min_ns), ns_as_us((double)f->sum / (double)f->count),
					 ns_as_us((double)variation_percentile(f, 50, 100)),
					 ns_as_us((double)variation_percentile(f, 99, 100)), ns_as_us((double)f->max_ns),
					 ns_as_us(histogram_deviation(f->count, f->sum, f->sum_of_squares)) },
		  (const bool[CELLS]){ false });
	fputc('\n', t->out);
	return true;
}

/* What the numbers are, how exact, and what is not in them. */
static void write_notes(FILE *out, const struct report *r, bool variations, bool ways_unknown, int64_t width_ns)
{
	const struct variation *v = &r->exchange->variation;
	uint64_t beyond = 0;

	for (int i = 0; i < VARIATIONS; i++)
		beyond += v->of[i].beyond;
	if (width_ns > 1)
		fprintf(out, "  Median and 99th of delays are lower edges of at most %.3f us\n", label_us(width_ns));
	if (variations)
		fprintf(out, "  IPDV: the difference between the delays of consecutive probes (RFC 3393); its median and 99th are "
			"within 1.6 %%\n");
	if (ways_unknown)
		fprintf(out, "  Send and receive delay: not known, only their variation\n");
	if (v->left_out)
		fprintf(out, "  Not in the IPDV of send and receive: %" PRIu64 " samples around a clock that was set or is in doubt\n",
			v->left_out);
	if (beyond)
		fprintf(out, "  Not in the IPDV: %" PRIu64 " differences of more than 18 minutes\n", beyond);
}

void variation_write(FILE *out, const struct report *r, int columns)
{
	const struct exchange *x = r->exchange;
	const struct variation_figure *f = x->variation.of;
	struct table t = { .out = out, .samples = !columns || columns >= ALL_COLUMNS };
	bool ways, any, any_way;

	if (r->options->role != ROLE_EMIT || !r->histogram->count)
		return;
	write_title(&t);
	write_delay(&t, "RTT", r->histogram);
	ways = write_delay(&t, "Send delay", x->one_way[ONE_WAY_FORWARD]);
	ways |= write_delay(&t, "Receive delay", x->one_way[ONE_WAY_BACKWARD]);
	write_delay(&t, "Response", x->stage[STAGE_RESPONSE]);
	write_delay(&t, "Timer error", x->planned[PLANNED_LATE]);
	any = write_variation(&t, "RTT IPDV", &f[VARIATION_RTT]);
	any_way = write_variation(&t, "Send IPDV", &f[VARIATION_FORWARD]);
	any_way |= write_variation(&t, "Receive IPDV", &f[VARIATION_BACKWARD]);
	write_notes(out, r, any || any_way, any_way && !ways, t.width_ns);
}
