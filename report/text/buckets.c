// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of a histogram: buckets of --bucket-size, added up from the fine buckets, all or folded. */
#include "report/text/sections.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"

#include <inttypes.h>
#include <string.h>

#define BEFORE_BAR 54 /* columns */
#define FILE_COLUMNS 80 /* width of a file with bars */

/* Buckets from..to - 1 of --bucket-size: the first and the last of them have samples. */
struct bucket_row {
	uint32_t from, to;
	uint64_t count;
};

struct bucket_rows {
	const struct histogram *h;
	uint32_t per, all; /* fine buckets in a bucket; number of buckets */
	int powers; /* powers of two above the limit that have samples */
	struct bucket_row row[BUCKETS_ROWS_MOST];
	int rows;
};

/* ---- Above the limit: powers of two ------------------------------------------------------------------------------ */

/* The samples of one power of two. */
struct power {
	int64_t from_ns, to_ns; /* the first row begins at the limit */
	uint64_t count;
};

/* Next power of two from log-linear bucket *i on; false: no more samples. */
static bool next_power(const struct histogram *h, uint32_t *i, struct power *p)
{
	const uint32_t end = h->buckets + h->log_buckets;

	while (*i < end && !histogram_bucket(h, *i))
		++*i;
	if (*i == end)
		return false;

	const int64_t edge_ns = histogram_bucket_ns(h, *i);
	const int64_t power_ns = 1LL << (63 - __builtin_clzll((uint64_t)edge_ns));

	*p = (struct power){ power_ns > h->limit_ns ? power_ns : h->limit_ns, 2 * power_ns, 0 };
	for (; *i < end && histogram_bucket_ns(h, *i) < p->to_ns; ++*i)
		p->count += histogram_bucket(h, *i);
	return true;
}

static int count_powers(const struct histogram *h)
{
	struct power p;
	int n = 0;

	for (uint32_t i = h->buckets; next_power(h, &i, &p);)
		n++;
	return n;
}

static void begin(struct bucket_rows *b, const struct histogram *h, const struct options *o)
{
	memset(b, 0, sizeof(*b));
	b->h = h;
	b->per = (uint32_t)(o->bucket_ns / h->width_ns);
	b->all = (h->buckets + b->per - 1) / b->per;
	b->powers = count_powers(h);
}

static uint64_t count_of(const struct bucket_rows *b, uint32_t i)
{
	const uint32_t end = i + 1 < b->all ? (i + 1) * b->per : b->h->buckets;
	uint64_t count = 0;

	for (uint32_t k = i * b->per; k < end; k++)
		count += histogram_bucket(b->h, k);
	return count;
}

/* ---- Folding ----------------------------------------------------------------------------------------------------- */

/* Narrows the row to the buckets with samples. False: no samples. */
static bool set_row(const struct bucket_rows *b, struct bucket_row *row, uint32_t from, uint32_t to)
{
	*row = (struct bucket_row){ .from = to };
	for (uint32_t i = from; i < to; i++) {
		const uint64_t count = count_of(b, i);

		if (!count)
			continue;
		if (!row->count)
			row->from = i;
		row->to = i + 1;
		row->count += count;
	}
	return row->count;
}

/* Number of lines, including the `...` lines for gaps, the overflow row and its powers of two. */
static int lines_of(const struct bucket_rows *b)
{
	int lines = b->rows + 1 + b->powers;

	for (int i = 0; i < b->rows; i++)
		lines += b->row[i].to < (i + 1 < b->rows ? b->row[i + 1].from : b->all);
	return lines;
}

/* Index of the row with most samples among the rows wider than one bucket; -1: no row is wider. */
static int fullest(const struct bucket_rows *b)
{
	int most = -1;

	for (int i = 0; i < b->rows; i++)
		if (b->row[i].to - b->row[i].from > 1 && (most < 0 || b->row[i].count > b->row[most].count))
			most = i;
	return most;
}

/* Splits a row in the middle. Both halves have samples, because the first and the last bucket have samples. */
static void split(struct bucket_rows *b, int i)
{
	const struct bucket_row row = b->row[i];
	const uint32_t middle = row.from + (row.to - row.from + 1) / 2;

	memmove(&b->row[i + 1], &b->row[i], (size_t)(b->rows - i) * sizeof(b->row[0]));
	b->rows++;
	set_row(b, &b->row[i], row.from, middle);
	set_row(b, &b->row[i + 1], middle, row.to);
}

/* A split adds a row and perhaps a `...` line: two lines. */
static void fold(struct bucket_rows *b)
{
	int i;

	b->rows = set_row(b, &b->row[0], 0, b->all);
	while (lines_of(b) + 2 <= BUCKETS_ROWS_MOST && (i = fullest(b)) >= 0)
		split(b, i);
}

bool buckets_are_folded(const struct histogram *h, const struct options *o)
{
	struct bucket_rows b;
	int rows;

	if (o->verbose)
		return false;
	begin(&b, h, o);
	rows = 1 + b.powers;
	for (uint32_t i = 0; i < b.all && rows <= BUCKETS_ROWS_MOST; i++)
		rows += count_of(&b, i) > 0;
	return rows > BUCKETS_ROWS_MOST;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_bar(FILE *out, uint64_t count, uint64_t largest, int columns)
{
	const int space = columns - BEFORE_BAR - 2;
	int length = space > 0 && largest ? (int)((double)count / (double)largest * space + 0.5) : 0;

	if (length > 0)
		fputs("  ", out);
	while (length-- > 0)
		fputc('#', out);
	fputc('\n', out);
}

static void write_row(FILE *out, const struct bucket_rows *b, const struct bucket_row *row, uint64_t largest,
		      int columns)
{
	const int64_t size_ns = b->per * b->h->width_ns, upper_ns = row->to * size_ns;

	fprintf(out, "  %12.3f - %12.3f : %12" PRIu64 " %8.4f%%", label_us(row->from * size_ns),
		label_us(upper_ns < b->h->limit_ns ? upper_ns : b->h->limit_ns), row->count,
		100.0 * (double)row->count / (double)b->h->count);
	write_bar(out, row->count, largest, columns);
}

/* Rows of a power of two have a bar where others have a colon, because the row above has counted their samples. */
static void write_power(FILE *out, const struct histogram *h, const struct power *p, uint64_t largest, int columns)
{
	char to[24] = "(and more)";

	if (p->to_ns <= HISTOGRAM_MOST_NS || h->max_ns < p->to_ns)
		snprintf(to, sizeof(to), "%.3f", label_us(p->to_ns));
	fprintf(out, "  %12.3f - %12s | %12" PRIu64 " %8.4f%%", label_us(p->from_ns), to, p->count,
		100.0 * (double)p->count / (double)h->count);
	write_bar(out, p->count, largest, columns);
}

static void write_overflow(FILE *out, const struct histogram *h, uint64_t largest, int columns)
{
	struct power p;

	fprintf(out, "  %12.3f - %12s : %12" PRIu64 " %8.4f%%", label_us(h->limit_ns), "(overflow)", h->overflows,
		100.0 * (double)h->overflows / (double)h->count);
	write_bar(out, h->overflows, largest, columns);
	for (uint32_t i = h->buckets; next_power(h, &i, &p);)
		write_power(out, h, &p, largest, columns);
}

static void write_folded(FILE *out, struct bucket_rows *b, int columns)
{
	uint64_t largest = b->h->overflows;

	fold(b);
	for (int i = 0; i < b->rows; i++)
		if (b->row[i].count > largest)
			largest = b->row[i].count;
	for (int i = 0; i < b->rows; i++) {
		write_row(out, b, &b->row[i], largest, columns);
		if (b->row[i].to < (i + 1 < b->rows ? b->row[i + 1].from : b->all))
			fputs("  ...\n", out);
	}
	write_overflow(out, b->h, largest, columns);
}

/* Empty buckets are omitted. */
static void write_all(FILE *out, const struct bucket_rows *b, int columns)
{
	uint64_t largest = b->h->overflows;

	for (uint32_t i = 0; i < b->all; i++) {
		const uint64_t count = count_of(b, i);

		if (count > largest)
			largest = count;
	}
	for (uint32_t i = 0; i < b->all; i++) {
		const struct bucket_row row = { i, i + 1, count_of(b, i) };

		if (row.count)
			write_row(out, b, &row, largest, columns);
	}
	write_overflow(out, b->h, largest, columns);
}

void buckets_write(FILE *out, const struct histogram *h, const struct options *o, int columns)
{
	struct bucket_rows b;

	begin(&b, h, o);
	if (buckets_are_folded(h, o))
		write_folded(out, &b, columns ? columns : FILE_COLUMNS);
	else
		write_all(out, &b, columns);
}
