// SPDX-License-Identifier: GPL-2.0-or-later
/* --compare: two runs side by side, and whether the second is worse. */
#include "analyse/compare.h"

#include "analyse/blocks.h"
#include "analyse/bootstrap.h"
#include "analyse/compare_write.h"
#include "analyse/outcome.h"
#include "analyse/output.h"
#include "analyse/runs.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/status.h"

#include <err.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- The two runs ------------------------------------------------------------------------------------------------ */

static int read_run(struct outcome *o, struct blocks *blocks, const char *path)
{
	FILE *file = outcome_open_file(path);
	struct read_file *f;
	int error;

	if (!file)
		return -EINVAL;
	f = outcome_add_file(o, path, file, "json");
	error = f ? runs_add(o, file, f, blocks) : -EINVAL;
	fclose(file);
	outcome_finish(o);
	return error;
}

static int refuse(const struct outcome *o, const char *why)
{
	warnx("%s: %s: it cannot be compared", o->read.file[0].path, why);
	return -EINVAL;
}

static int check_run(const struct outcome *o)
{
	if (!o->latency.count)
		return refuse(o, "has no sample");
	if (o->report.verdict && o->verdict.level == VERDICT_VOID)
		return refuse(o, "is void, its numbers say nothing");
	return 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static double allowed_of(const struct compare *c, const struct compare_row *row)
{
	const struct tolerance *t = &c->tolerance;
	const double share = fabs(row->a) * (double)t->milli_percent / 100000;

	/* A time is no measure of what is lost. */
	return row->kind == COMPARE_LOSS || share > (double)t->ns ? share : (double)t->ns;
}

/* Its interval, where it has one, must be beyond what is allowed; else the difference itself. */
static void judge(const struct compare *c, struct compare_row *row)
{
	const double low = row->has_interval ? row->low : row->difference,
			   high = row->has_interval ? row->high : row->difference;

	if (!row->decides)
		return;
	if (low > allowed_of(c, row))
		row->result = COMPARE_IS_WORSE;
	else if (high < -allowed_of(c, row))
		row->result = COMPARE_IS_BETTER;
}

static void set_percentile(struct compare *c, const char *name, uint64_t numerator, uint64_t denominator, bool decile)
{
	const struct histogram *a = &c->run[0]->latency, *b = &c->run[1]->latency;
	const struct percentile of_a = histogram_percentile(a, numerator, denominator),
				       of_b = histogram_percentile(b, numerator, denominator);
	struct compare_row *row = &c->row[c->rows++];

	*row = (struct compare_row){ .kind = decile ? COMPARE_DECILE : COMPARE_PERCENTILE, .numerator = numerator,
				     .denominator = denominator,
				     .a = (double)of_a.value_ns, .b = (double)of_b.value_ns, .a_bound = of_a.bound,
				     .b_bound = of_b.bound };
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->difference = row->b - row->a;
	row->few = label_is_few(a->count, numerator, denominator) || label_is_few(b->count, numerator, denominator);
	/* The second is at least so much worse where only it is a bound. */
	row->decides = !decile && !row->few && !of_a.bound;
}

static void set_max(struct compare *c)
{
	struct compare_row *row = &c->row[c->rows++];

	*row = (struct compare_row){ .kind = COMPARE_MAX, .name = "max", .a = (double)c->run[0]->latency.max_ns,
				     .b = (double)c->run[1]->latency.max_ns };
	row->difference = row->b - row->a;
}

static double loss_of(const struct outcome *o, bool *known)
{
	const struct account *a = &o->result.account;
	const uint64_t sent = counter_get(&a->sent) - counter_get(&a->closing);

	*known = o->options.role == ROLE_EMIT && o->read.has_accounts && sent;
	return *known ? (double)counter_get(&a->lost) / (double)sent : 0;
}

static void set_loss(struct compare *c)
{
	struct compare_row *row = &c->row[c->rows];
	bool known[2];

	*row = (struct compare_row){ .kind = COMPARE_LOSS, .name = "loss", .decides = true };
	row->a = loss_of(c->run[0], &known[0]);
	row->b = loss_of(c->run[1], &known[1]);
	row->difference = row->b - row->a;
	c->rows += known[0] && known[1];
}

static void set_rows(struct compare *c)
{
	static const uint8_t compared[] = { LABEL_P50, LABEL_P90, LABEL_P99, LABEL_P99_9, LABEL_P99_99 };
	char name[16];

	for (size_t i = 0; i < sizeof(compared); i++) {
		const struct label_percentile *p = &label_percentiles[compared[i]];

		snprintf(name, sizeof(name), "p%s", p->percent);
		set_percentile(c, name, p->numerator, p->denominator, false);
	}
	set_max(c);
	set_loss(c);
	for (unsigned i = 10; i <= 90; i += 10) {
		snprintf(name, sizeof(name), "%u %%", i);
		set_percentile(c, name, i, 100, true);
	}
}

/* Above the others lie fewer samples: where the median decides nothing, none does, and that nothing is worse would say
 * nothing. */
static int check_rows(const struct compare *c)
{
	const struct compare_row *median = &c->row[0];
	const char *before = c->run[0]->read.file[0].path, *now = c->run[1]->read.file[0].path;

	if (median->decides)
		return 0;
	if (median->few)
		warnx("%s and %s: fewer than ten samples are above p50 in one of them: they cannot be compared: "
		      "measure for longer", before, now);
	else
		warnx("%s: p50 is beyond the overflow store, and only a bound of it is known: it cannot be compared: "
		      "measure with a larger --overflow", before);
	return -EINVAL;
}

/* Of a bound there is no difference, and of one slow packet no interval. */
static bool has_interval(const struct compare *c, const struct compare_row *row)
{
	if (row->kind == COMPARE_LOSS)
		return c->blocks[0].has_loss && c->blocks[1].has_loss;
	return row->kind != COMPARE_MAX && !row->a_bound && !row->b_bound;
}

static int set_intervals(struct compare *c)
{
	struct bootstrap_figure figure[COMPARE_ROWS];
	struct compare_row *of[COMPARE_ROWS];
	unsigned n = 0;
	int error;

	_Static_assert(COMPARE_ROWS <= BOOTSTRAP_FIGURES, "there is room for all");
	c->has_intervals = bootstrap_is_fit(&c->blocks[0], &c->blocks[1]);
	if (!c->has_intervals)
		return 0;
	for (unsigned i = 0; i < c->rows; i++) {
		struct compare_row *row = &c->row[i];

		if (!has_interval(c, row))
			continue;
		figure[n] = (struct bootstrap_figure){ .numerator = row->numerator, .denominator = row->denominator,
						       .difference = row->difference };
		of[n++] = row;
	}
	error = bootstrap_run(&c->blocks[0], &c->blocks[1], figure, n);
	if (error) {
		warnx("no memory for the intervals of the differences");
		return error;
	}
	for (unsigned i = 0; i < n; i++) {
		of[i]->has_interval = true;
		of[i]->low = figure[i].low;
		of[i]->high = figure[i].high;
	}
	return 0;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int open_runs(struct compare *c, const struct options *o)
{
	for (int i = 0; i < 2; i++) {
		int error;

		c->run[i] = outcome_open(o);
		error = c->run[i] ? read_run(c->run[i], &c->blocks[i], o->file[i]) : -ENOMEM;
		if (!error)
			error = check_run(c->run[i]);
		if (error)
			return error;
	}
	if (outcome_refuse_same(c->run[0]->read.file, c->run[1]->read.file))
		return -EINVAL;
	if (!runs_are_alike(c->run[0], c->run[1]))
		return -EINVAL;
	if (c->run[0]->latency.width_ns == c->run[1]->latency.width_ns)
		return 0;
	warnx("%s and %s: have buckets of different widths: they cannot be compared", o->file[0], o->file[1]);
	return -EINVAL;
}

static int write_all(struct output_files *f, const struct compare *c, const struct options *o)
{
	const bool taken = o->json_path && log_file_is_stdout(o->json_path);
	FILE *out = taken ? stderr : stdout;

	if (!o->quiet)
		compare_write(out, c);
	if (fflush(out) || ferror(out)) {
		warnx("the comparison could not be written (%s)", strerror(errno));
		return -EIO;
	}
	if (!f->told.json.path)
		return 0;
	compare_write_json(output_begin_json(f), c);
	return by_second_finish_json(&f->told);
}

static int compare(struct output_files *output, struct compare *c, const struct options *o)
{
	int error = output_open_json(output, o);

	if (!error)
		error = open_runs(c, o);
	for (int i = 0; i < 2 && !error; i++)
		error = output_check_json(o, c->run[i]);
	if (error)
		return error;
	set_rows(c);
	error = check_rows(c);
	if (!error)
		error = set_intervals(c);
	if (error)
		return error;
	for (unsigned i = 0; i < c->rows; i++) {
		judge(c, &c->row[i]);
		c->is_worse |= c->row[i].result == COMPARE_IS_WORSE;
	}
	return write_all(output, c, o);
}

int compare_main(const struct options *o)
{
	struct output_files output = OUTPUT_CLOSED;
	struct compare c = { .tolerance = o->tolerance };
	int error = compare(&output, &c, o);

	output_close(&output);
	for (int i = 0; i < 2; i++) {
		outcome_close(c.run[i]);
		blocks_free(&c.blocks[i]);
	}
	return error ? STATUS_FAILED : c.is_worse ? COMPARE_WORSE : STATUS_DONE;
}
