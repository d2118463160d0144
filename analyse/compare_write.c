// SPDX-License-Identifier: GPL-2.0-or-later
/* How a comparison is said. */
#include "analyse/compare_write.h"

#include "analyse/bootstrap.h"
#include "analyse/outcome.h"
#include "report/export/json_parts.h"
#include "report/verdict/verdict.h"

#include <inttypes.h>
#include <math.h>

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

#define NUMBER_BYTES 48

struct number {
	char text[NUMBER_BYTES];
};

/* Of several that stand together the largest tells the unit. */
struct unit {
	const char *name;
	double size;
	int decimals;
};

static struct unit unit_for(const struct compare_row *row, double largest)
{
	if (row->kind == COMPARE_LOSS)
		return (struct unit){ "percentage points", 0.01, 4 };
	if (fabs(largest) < 1000)
		return (struct unit){ "ns", 1, 0 };
	return (struct unit){ "us", 1000, fabs(largest) < 10000 ? 2 : 1 };
}

static struct number number(const struct unit *u, double value)
{
	static const double half[] = { 0.5, 0.05, 0.005, 0.0005, 0.00005 }; /* of the last decimal */
	struct number n;

	value /= u->size;
	if (fabs(value) < half[u->decimals])
		value = 0; /* and no minus before it */
	snprintf(n.text, sizeof(n.text), "%.*f", u->decimals, value);
	return n;
}

static double percent_of(const struct compare_row *row)
{
	return 100 * row->difference / row->a;
}


/* ---- One line ---------------------------------------------------------------------------------------------------- */

/* Of those with this result the one that differs most for its size. */
static const struct compare_row *find(const struct compare *c, int result)
{
	const struct compare_row *most = NULL;

	for (unsigned i = 0; i < c->rows; i++) {
		const struct compare_row *row = &c->row[i];

		if (row->decides && (int)row->result == result &&
		    (!most || fabs(row->difference) * fabs(most->a) > fabs(most->difference) * fabs(row->a)))
			most = row;
	}
	return most;
}

/* "p99.9 is 1.8 us (12 %) worse, interval 1.1 to 2.4 us" */
static void write_difference(char *text, size_t bytes, const struct compare_row *row)
{
	const bool worse = row->difference > 0;
	const double low = worse ? row->low : -row->high, high = worse ? row->high : -row->low;
	const struct unit u = unit_for(row, row->difference);
	char share[32] = "";

	/* Of a loss two shares of different things would stand beside each other. */
	if (row->a > 0 && row->kind != COMPARE_LOSS)
		snprintf(share, sizeof(share), " (%.*f %%)", fabs(percent_of(row)) < 10 ? 1 : 0, fabs(percent_of(row)));
	snprintf(text, bytes, "%s is %s%s %s%s %s", row->name, row->b_bound ? "at least " : "",
		 number(&u, fabs(row->difference)).text, u.name,
		 share, worse ? "worse" : "better");
	if (row->has_interval)
		text_add(text, bytes, ", interval %s to %s %s", number(&u, low).text, number(&u, high).text, u.name);
}

static void write_words(char *text, size_t bytes, const struct compare *c)
{
	const struct compare_row *worst = find(c, COMPARE_IS_WORSE), *best = find(c, COMPARE_IS_BETTER);
	const bool tolerant = c->tolerance.milli_percent || c->tolerance.ns;

	if (worst || best)
		write_difference(text, bytes, worst ? worst : best);
	else
		snprintf(text, bytes, "equal: nothing differs %s",
			 tolerant ? "by more than the tolerance" : c->has_intervals ? "for certain" : "at all");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void write_row(FILE *out, const struct compare_row *row)
{
	static const char *const results[] = { [COMPARE_IS_EQUAL] = "", [COMPARE_IS_BETTER] = "better",
					       [COMPARE_IS_WORSE] = "worse" };
	const struct unit u = row->kind == COMPARE_LOSS ? unit_for(row, 0) : (struct unit){ "us", 1000, 3 };
	char a[NUMBER_BYTES + 4], b[NUMBER_BYTES + 4], share[32] = "", interval[2 * NUMBER_BYTES + 8] = "";

	snprintf(a, sizeof(a), "%s%s", row->a_bound ? ">= " : "", number(&u, row->a).text);
	snprintf(b, sizeof(b), "%s%s", row->b_bound ? ">= " : "", number(&u, row->b).text);
	if (row->a > 0)
		snprintf(share, sizeof(share), "%+.1f %%", percent_of(row));
	if (row->has_interval)
		snprintf(interval, sizeof(interval), "%s to %s", number(&u, row->low).text, number(&u, row->high).text);
	fprintf(out, "  %-8s %14s %14s %12s %10s", row->name, a, b, number(&u, row->difference).text, share);
	if (row->has_interval)
		fprintf(out, "   %s", interval);
	if (row->few || row->result != COMPARE_IS_EQUAL)
		fprintf(out, "   %s%s", row->few ? "*" : "", results[row->result]);
	fputc('\n', out);
}

static void write_head(FILE *out, const char *title)
{
	fprintf(out, "\n%-10s %14s %14s %12s %10s   %s\n", title, "before", "now", "difference", "",
		"95 % interval of it");
}

static void write_runs(FILE *out, const struct compare *c)
{
	static const char *const which[] = { "before", "now" };

	for (int i = 0; i < 2; i++) {
		const struct read_file *f = &c->run[i]->read.file[0];

		fprintf(out, "  %-7s %s: %" PRIu64 " samples, %zu seconds: %s%s%s\n", which[i], f->path, f->samples,
			c->blocks[i].blocks,
			f->level < 0 ? "not judged" : verdict_levels[f->level], f->found ? ": " : "",
			f->found ? f->found : "");
	}
}

static void write_rule(FILE *out, const struct compare *c)
{
	const struct tolerance *t = &c->tolerance;

	fprintf(out, "\nWorse is what is worse %s", !t->milli_percent && !t->ns ? "at all" : "by more than ");
	if (t->milli_percent)
		fprintf(out, "%g %%%s", (double)t->milli_percent / 1000, t->ns ? " and " : "");
	if (t->ns)
		fprintf(out, "%" PRId64 " ns", t->ns);
	fprintf(out, "%s; the maximum, which is one packet, decides nothing\n",
		c->has_intervals ? ", with the whole of its interval" : "");
	if (!c->has_intervals)
		fprintf(out, "No intervals: %d seconds of each run are needed; the differences themselves decide\n",
			BOOTSTRAP_LEAST);
}

void compare_write(FILE *out, const struct compare *c)
{
	bool few = false, deciles = false;
	char words[256];

	write_words(words, sizeof(words), c);
	fprintf(out, "%s\n", words);
	write_runs(out, c);
	write_head(out, "Latency us");
	for (unsigned i = 0; i < c->rows; i++) {
		if (c->row[i].kind == COMPARE_DECILE && !deciles) {
			write_head(out, "Shift us");
			deciles = true;
		}
		write_row(out, &c->row[i]);
		few |= c->row[i].few && c->row[i].kind == COMPARE_PERCENTILE;
	}
	write_rule(out, c);
	if (few)
		fprintf(out, "* fewer than ten samples are above it in one of the runs: it decides nothing\n");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_value(struct json *j, const char *name, const struct compare_row *row, bool known, double value)
{
	if (!known)
		json_null(j, name);
	else if (row->kind == COMPARE_LOSS)
		json_real(j, name, value, 9);
	else
		json_integer(j, name, (int64_t)(value < 0 ? value - 0.5 : value + 0.5));
}

static void put_row(struct json *j, const struct compare_row *row)
{
	static const char *const results[] = { [COMPARE_IS_EQUAL] = "equal", [COMPARE_IS_BETTER] = "better",
					       [COMPARE_IS_WORSE] = "worse" };
	const bool loss = row->kind == COMPARE_LOSS;

	json_object(j, NULL);
	json_text(j, "name", row->name);
	json_text(j, "unit", loss ? "share" : "ns");
	if (row->denominator)
		json_real(j, "percent", 100 * (double)row->numerator / (double)row->denominator,
			  row->denominator == 100 ? 0 : row->denominator == 1000 ? 1 : 2);
	put_value(j, "before", row, true, row->a);
	put_value(j, "now", row, true, row->b);
	json_bool(j, "before_is_bound", row->a_bound);
	json_bool(j, "now_is_bound", row->b_bound);
	put_value(j, "difference", row, !row->a_bound, row->difference);
	put_value(j, "low", row, row->has_interval, row->low);
	put_value(j, "high", row, row->has_interval, row->high);
	json_bool(j, "few_samples", row->few);
	json_bool(j, "decides", row->decides);
	json_text(j, "result", row->decides ? results[row->result] : NULL);
	json_end(j);
}

static void put_run(struct json *j, const char *name, const struct compare *c, int i)
{
	const struct read_file *f = &c->run[i]->read.file[0];

	json_object(j, name);
	json_text(j, "file", f->path);
	json_count(j, "samples", f->samples);
	json_count(j, "seconds", c->blocks[i].blocks);
	json_text(j, "verdict", f->level < 0 ? NULL : verdict_levels[f->level]);
	json_end(j);
}

void compare_write_json(struct json *j, const struct compare *c)
{
	char words[256];

	write_words(words, sizeof(words), c);
	json_object(j, NULL);
	json_origin(j);
	json_object(j, "comparison");
	json_text(j, "words", words);
	json_text(j, "result", c->is_worse ? "worse" : find(c, COMPARE_IS_BETTER) ? "better" : "equal");
	json_bool(j, "intervals", c->has_intervals);
	json_real(j, "tolerance_percent", (double)c->tolerance.milli_percent / 1000, 3);
	json_integer(j, "tolerance_ns", c->tolerance.ns);
	put_run(j, "before", c, 0);
	put_run(j, "now", c, 1);
	json_array(j, "rows");
	for (unsigned i = 0; i < c->rows; i++)
		put_row(j, &c->row[i]);
	json_end(j);
	json_end(j);
	json_end(j);
}
