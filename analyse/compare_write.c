// SPDX-License-Identifier: GPL-2.0-or-later
/* The text and the JSON of a comparison. */
#include "analyse/compare_write.h"

#include "analyse/bootstrap.h"
#include "analyse/outcome.h"
#include "report/export/json_parts.h"
#include "report/verdict/verdict.h"

#include <inttypes.h>
#include <math.h>

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

#define NUMBER_BYTES 48
#define WORDS_BYTES 320

struct number {
	char text[NUMBER_BYTES];
};

struct unit {
	const char *name;
	double size;
	int decimals;
};

/* By the largest of the values that are printed with this unit. */
static struct unit unit_for(const struct compare_row *row, double largest)
{
	if (row->kind == COMPARE_LOSS)
		return (struct unit){ "percentage points", 0.01, 4 };
	if (fabs(largest) < 1000)
		return (struct unit){ "ns", 1, 0 };
	return (struct unit){ "us", 1000, fabs(largest) < 10000 ? 2 : fabs(largest) < 1e6 ? 1 : 0 };
}

static struct number number(const struct unit *u, double value)
{
	static const double half[] = { 0.5, 0.05, 0.005, 0.0005, 0.00005 }; /* of the last decimal */
	struct number n;

	value /= u->size;
	if (fabs(value) < half[u->decimals])
		value = 0; /* no "-0" */
	snprintf(n.text, sizeof(n.text), "%.*f", u->decimals, value);
	return n;
}

static double percent_of(const struct compare_row *row)
{
	return 100 * row->difference / row->a;
}

/* ---- The first line ---------------------------------------------------------------------------------------------- */

/* The distance to the limit at which the row would be undecided or not worse. */
static double excess_of(const struct compare_row *row)
{
	const double end = row->has_interval && row->result == COMPARE_IS_UNDECIDED ? row->high : row->difference;

	return row->result == COMPARE_IS_BETTER ? -end : end - row->allowed;
}

/* The row with this result that differs most, relative to its value. */
static const struct compare_row *find(const struct compare *c, enum compare_result result)
{
	const struct compare_row *most = NULL;

	for (unsigned i = 0; i < c->rows; i++) {
		const struct compare_row *row = &c->row[i];

		if (row->decides && row->result == result &&
		    (!most || excess_of(row) * fabs(most->a) > excess_of(most) * fabs(row->a)))
			most = row;
	}
	return most;
}

/* "p99.9 is 1.8 us (12 %) higher, interval 1.1 to 2.4 us, allowed 1.0 us" */
static void write_difference(char *text, size_t bytes, const struct compare_row *row)
{
	const double far = row->has_interval ? fmax(fabs(row->low), fabs(row->high)) : 0;
	const struct unit u = unit_for(row, fmax(fabs(row->difference), far));
	char share[32] = "";

	/* A share of a share would be ambiguous next to percentage points. */
	if (row->a > 0 && row->kind != COMPARE_LOSS)
		snprintf(share, sizeof(share), " (%.*f %%)", fabs(percent_of(row)) < 10 ? 1 : 0, fabs(percent_of(row)));
	text_add(text, bytes, "%s is %s%s %s%s %s", row->name, row->b_bound ? "at least " : "",
		 number(&u, fabs(row->difference)).text, u.name, share, row->difference < 0 ? "lower" : "higher");
	if (row->has_interval)
		text_add(text, bytes, ", interval %s to %s %s", number(&u, row->low).text, number(&u, row->high).text,
			 u.name);
	if (row->allowed > 0)
		text_add(text, bytes, ", allowed %s %s", number(&u, row->allowed).text, u.name);
	else
		text_add(text, bytes, ", allowed 0");
}

static void write_words(char *text, size_t bytes, const struct compare *c)
{
	static const char *const names[] = { [COMPARE_IS_EQUAL] = "not worse", [COMPARE_IS_BETTER] = "not worse",
					     [COMPARE_IS_WORSE] = "worse", [COMPARE_IS_UNDECIDED] = "undecided" };
	const struct compare_row *row = c->result == COMPARE_IS_EQUAL ? NULL : find(c, c->result);
	const bool tolerant = c->tolerance.milli_percent || c->tolerance.ns;

	snprintf(text, bytes, "%s: ", names[c->result]);
	if (!row) {
		text_add(text, bytes, "no difference %s", tolerant ? "is above the tolerance" : "is above 0");
		return;
	}
	write_difference(text, bytes, row);
	if (c->result != COMPARE_IS_UNDECIDED)
		return;
	text_add(text, bytes, ": %s", row->b_bound ? "measure with a larger --overflow" :
		 row->allowed > 0 ? "measure longer" : "give --tolerance");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* At most nine characters up to 100 s. */
static struct number cell(const struct compare_row *row, double value)
{
	const double size = fabs(value);
	const struct unit us = { "us", 1000, size < 1e6 ? 3 : size < 1e8 ? 1 : 0 };
	const struct unit percent = { "%", 0.01, size < 0.1 ? 4 : 3 };

	return number(row->kind == COMPARE_LOSS ? &percent : &us, value);
}

/* With the sign of a bound, or of percent; loss is the only row that is not in microseconds. */
static struct number value_cell(const struct compare_row *row, double value, bool is_bound)
{
	struct number n;

	snprintf(n.text, sizeof(n.text), "%s%.32s%s", is_bound ? ">=" : "", cell(row, value).text,
		 row->kind == COMPARE_LOSS ? "%" : "");
	return n;
}

static void write_row(FILE *out, const struct compare_row *row)
{
	static const char *const results[] = { [COMPARE_IS_EQUAL] = "", [COMPARE_IS_BETTER] = "better",
					       [COMPARE_IS_WORSE] = "worse", [COMPARE_IS_UNDECIDED] = "undecided" };
	char share[32] = "", interval[2 * NUMBER_BYTES + 8] = "";

	if (row->a > 0)
		snprintf(share, sizeof(share), "%+.*f%%", fabs(percent_of(row)) < 1000 ? 1 : 0, percent_of(row));
	if (row->has_interval)
		snprintf(interval, sizeof(interval), "%s to %s", cell(row, row->low).text, cell(row, row->high).text);
	fprintf(out, "  %-6s %9s %9s %9s %8s", row->name, value_cell(row, row->a, row->a_bound).text,
		value_cell(row, row->b, row->b_bound).text, value_cell(row, row->difference, false).text, share);
	if (row->few || *results[row->result])
		fprintf(out, "  %-18s %s%s\n", interval, row->few ? "*" : "", results[row->result]);
	else if (*interval)
		fprintf(out, "  %s\n", interval);
	else
		fputc('\n', out);
}

static void write_head(FILE *out, const char *title)
{
	fprintf(out, "\n%s in us\n  %-6s %9s %9s %9s %8s  %s\n", title, "", "before", "now", "change", "",
		"95 % interval");
}

static void write_runs(FILE *out, const struct compare *c)
{
	static const char *const which[] = { "before", "now" };

	for (int i = 0; i < 2; i++) {
		const struct read_file *f = &c->run[i]->read.file[0];

		fprintf(out, "  %-7s %s: %" PRIu64 " samples, %zu seconds: %s%s%s\n", which[i], f->path, f->samples,
			c->blocks[i].blocks,
			f->level.known ? verdict_levels[f->level.value] : "not judged", f->found ? ": " : "",
			f->found ? f->found : "");
	}
	if (*c->differences)
		fprintf(out, "  Settings that differ: %s\n", c->differences);
}

static void write_rule(FILE *out, const struct compare *c)
{
	const struct tolerance *t = &c->tolerance;

	fputs("\nTolerance: ", out);
	if (t->milli_percent)
		fprintf(out, "%g %%%s", (double)t->milli_percent / 1000, t->ns ? " or " : "");
	if (t->ns)
		fprintf(out, "%" PRId64 " ns", t->ns);
	fprintf(out, "%s\n", t->milli_percent && t->ns ? ", the larger" : t->milli_percent || t->ns ? "" : "none");
	if (c->has_intervals)
		fputs("Worse: the whole interval is above the tolerance.\n"
		      "Not worse: the upper end of the interval is within it.\n", out);
	else
		fprintf(out, "No intervals, each run needs %d seconds: the differences decide.\n", BOOTSTRAP_LEAST);
	fputs("The maximum is a single packet and decides nothing.\n", out);
}

void compare_write(FILE *out, const struct compare *c)
{
	bool few = false, deciles = false;
	char words[WORDS_BYTES];

	write_words(words, sizeof(words), c);
	fprintf(out, "%s\n", words);
	write_runs(out, c);
	write_head(out, "Latency");
	for (unsigned i = 0; i < c->rows; i++) {
		if (c->row[i].kind == COMPARE_DECILE && !deciles) {
			write_head(out, "Deciles");
			deciles = true;
		}
		write_row(out, &c->row[i]);
		few |= c->row[i].few && c->row[i].kind == COMPARE_PERCENTILE;
	}
	write_rule(out, c);
	if (few)
		fputs("* fewer than ten samples are above it in one of the runs: it decides nothing\n", out);
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

static const char *const result_names[] = { [COMPARE_IS_EQUAL] = "equal", [COMPARE_IS_BETTER] = "better",
					    [COMPARE_IS_WORSE] = "worse", [COMPARE_IS_UNDECIDED] = "undecided" };

static void put_row(struct json *j, const struct compare_row *row)
{
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
	put_value(j, "allowed", row, true, row->allowed);
	json_bool(j, "few_samples", row->few);
	json_bool(j, "decides", row->decides);
	json_text(j, "result", row->decides ? result_names[row->result] : NULL);
	json_end(j);
}

static void put_run(struct json *j, const char *name, const struct compare *c, int i)
{
	const struct read_file *f = &c->run[i]->read.file[0];

	json_object(j, name);
	json_text(j, "file", f->path);
	json_count(j, "samples", f->samples);
	json_count(j, "seconds", c->blocks[i].blocks);
	json_text(j, "verdict", f->level.known ? verdict_levels[f->level.value] : NULL);
	json_end(j);
}

void compare_write_json(struct json *j, const struct compare *c)
{
	char words[WORDS_BYTES];

	write_words(words, sizeof(words), c);
	json_object(j, NULL);
	json_origin(j);
	json_object(j, "comparison");
	json_text(j, "words", words);
	json_text(j, "result", result_names[c->result]);
	json_bool(j, "intervals", c->has_intervals);
	json_real(j, "tolerance_percent", (double)c->tolerance.milli_percent / 1000, 3);
	json_integer(j, "tolerance_ns", c->tolerance.ns);
	json_text(j, "settings_that_differ", *c->differences ? c->differences : NULL);
	put_run(j, "before", c, 0);
	put_run(j, "now", c, 1);
	json_array(j, "rows");
	for (unsigned i = 0; i < c->rows; i++)
		put_row(j, &c->row[i]);
	json_end(j);
	json_end(j);
	json_end(j);
}
