// SPDX-License-Identifier: GPL-2.0-or-later
/* --compare: reads two runs, computes the differences and decides. */
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

static int refuse_untrusted(const struct read_file *f)
{
	warnx("%s: its verdict is %s%s%s, and --strict compares only trusted runs: measure again, or leave out "
	      "--strict",
	      f->path, f->level.known ? verdict_levels[f->level.value] : "not known", f->found ? ": " : "",
	      f->found ? f->found : "");
	return -EINVAL;
}

static int check_run(const struct outcome *o, bool strict)
{
	if (!o->latency.count)
		return refuse(o, "has no sample");
	if (o->report.verdict && o->verdict.level == VERDICT_VOID)
		return refuse(o, "its verdict is void");
	if (strict && (!o->read.file[0].level.known || o->read.file[0].level.value != VERDICT_TRUSTED))
		return refuse_untrusted(&o->read.file[0]);
	return 0;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* A tolerance in ns does not apply to loss. */
static double allowed_of(const struct compare *c, const struct compare_row *row)
{
	const struct tolerance *t = &c->tolerance;
	const double share = fabs(row->a) * (double)t->milli_percent / 100000;

	return row->kind == COMPARE_LOSS || share > (double)t->ns ? share : (double)t->ns;
}

/* A row without an interval is judged by its difference, which is a lower bound where the second value is one. */
static enum compare_result result_of(const struct compare_row *row)
{
	const double low = row->has_interval ? row->low : row->difference,
			   high = row->has_interval ? row->high : row->difference;

	if (low > row->allowed)
		return COMPARE_IS_WORSE;
	if (high > row->allowed || row->b_bound)
		return COMPARE_IS_UNDECIDED;
	return high < -row->allowed ? COMPARE_IS_BETTER : COMPARE_IS_EQUAL;
}

static void judge(const struct compare *c, struct compare_row *row)
{
	row->allowed = allowed_of(c, row);
	if (row->decides)
		row->result = result_of(row);
}

static void judge_all(struct compare *c)
{
	static const uint8_t severity[] = { [COMPARE_IS_EQUAL] = 0, [COMPARE_IS_BETTER] = 1,
					    [COMPARE_IS_UNDECIDED] = 2, [COMPARE_IS_WORSE] = 3 };

	c->result = COMPARE_IS_EQUAL;
	for (unsigned i = 0; i < c->rows; i++) {
		struct compare_row *row = &c->row[i];

		judge(c, row);
		if (row->decides && severity[row->result] > severity[c->result])
			c->result = row->result;
	}
}

static void set_percentile(struct compare *c, const char *name, uint64_t numerator, uint64_t denominator, bool decile)
{
	const struct histogram *a = &c->run[0]->latency, *b = &c->run[1]->latency;
	const struct percentile of_a = histogram_percentile(a, numerator, denominator),
				       of_b = histogram_percentile(b, numerator, denominator);
	struct compare_row *row = &c->row[c->rows++];

	*row = (struct compare_row){ .kind = decile ? COMPARE_DECILE : COMPARE_PERCENTILE, .numerator = numerator,
				     .denominator = denominator,
				     .a = (double)of_a.value_ns, .b = (double)of_b.value_ns };
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->difference = row->b - row->a;
	row->few = label_is_few(a->count, numerator, denominator) || label_is_few(b->count, numerator, denominator);
	row->decides = !decile && !row->few;
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
	static const uint8_t compared[] = { PERCENTILE_50, PERCENTILE_90, PERCENTILE_99, PERCENTILE_99_9,
					    PERCENTILE_99_99 };
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

/* Fewer samples lie above the other percentiles, so none of them decides where the median does not. */
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

/* A bound has no exact difference; the maximum is a single packet. */
static bool has_interval(const struct compare *c, const struct compare_row *row)
{
	if (row->kind == COMPARE_LOSS)
		return c->blocks[0].has_loss && c->blocks[1].has_loss;
	return row->kind != COMPARE_MAX && !row->a_bound && !row->b_bound;
}

/* Bonferroni: with n rows that decide, all of their intervals hold at the same time with 95 %. The ratio of the normal
 * quantiles at 1 - 0.025 / n and at 0.975. */
static double widening_for(unsigned n)
{
	static const double ratio[] = { 1, 1, 1.1436, 1.2214, 1.2744, 1.3142, 1.3461 };

	return ratio[n < sizeof(ratio) / sizeof(ratio[0]) ? n : sizeof(ratio) / sizeof(ratio[0]) - 1];
}

static int set_intervals(struct compare *c)
{
	unsigned deciding = 0;
	double wide;
	struct bootstrap_metric metric[COMPARE_ROWS];
	struct compare_row *of[COMPARE_ROWS];
	unsigned n = 0;
	int error;

	_Static_assert(COMPARE_ROWS <= BOOTSTRAP_METRICS, "one figure for each row");
	c->has_intervals = bootstrap_is_fit(&c->blocks[0], &c->blocks[1]);
	if (!c->has_intervals)
		return 0;
	for (unsigned i = 0; i < c->rows; i++) {
		struct compare_row *row = &c->row[i];

		if (!has_interval(c, row))
			continue;
		metric[n] = (struct bootstrap_metric){ .numerator = row->numerator, .denominator = row->denominator,
						       .difference = row->difference };
		of[n++] = row;
		deciding += row->decides;
	}
	wide = widening_for(deciding);
	error = bootstrap_run(&c->blocks[0], &c->blocks[1], metric, n);
	if (error) {
		warnx("no memory for the intervals of the differences");
		return error;
	}
	for (unsigned i = 0; i < n; i++) {
		of[i]->has_interval = true;
		of[i]->low = of[i]->difference - wide * (of[i]->difference - metric[i].low);
		of[i]->high = of[i]->difference + wide * (metric[i].high - of[i]->difference);
	}
	return 0;
}

/* ---- The comparison ---------------------------------------------------------------------------------------------- */

static int open_runs(struct compare *c, const struct options *o)
{
	for (int i = 0; i < 2; i++) {
		int error;

		c->run[i] = outcome_open(o);
		error = c->run[i] ? read_run(c->run[i], &c->blocks[i], o->file[i]) : -ENOMEM;
		if (!error)
			error = check_run(c->run[i], o->strict);
		if (error)
			return error;
	}
	if (outcome_refuse_same(c->run[0]->read.file, c->run[1]->read.file))
		return -EINVAL;
	if (o->anyway) {
		runs_differences(c->differences, c->run[0], c->run[1]);
		return 0;
	}
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
	if (!f->reported.json.path)
		return 0;
	compare_write_json(output_begin_json(f), c);
	return by_second_finish_json(&f->reported);
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
	judge_all(c);
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
	if (error)
		return STATUS_FAILED;
	return c.result == COMPARE_IS_WORSE ? COMPARE_WORSE : c.result == COMPARE_IS_UNDECIDED ? COMPARE_UNDECIDED :
	       STATUS_DONE;
}
