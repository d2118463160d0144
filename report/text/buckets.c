// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of a histogram: buckets of --bucket-size, added up from the fine ones, all or folded. */
#include "report/text/buckets.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"

#include <inttypes.h>
#include <string.h>

#define BEFORE_BAR 54 /* columns */
#define FILE_COLUMNS 80 /* of a file, where there are bars in it */

/* Buckets from..to - 1 of --bucket-size: the first and the last of them have samples. */
struct bucket_row {
	uint32_t from, to;
	uint64_t count;
};

struct bucket_rows {
	const struct histogram *h;
	uint32_t per, all; /* fine buckets in one; how many of these there are */
	struct bucket_row row[BUCKETS_ROWS_MOST];
	int rows;
};

static void begin(struct bucket_rows *b, const struct histogram *h, const struct options *o)
{
	memset(b, 0, sizeof(*b));
	b->h = h;
	b->per = (uint32_t)(o->bucket_ns / h->width_ns);
	b->all = (h->buckets + b->per - 1) / b->per;
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

/* Narrowed to where there is something. False: there is nothing. */
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

/* Lines that they take, with those that stand for what is between them and before the overflow, and with that. */
static int lines_of(const struct bucket_rows *b)
{
	int lines = b->rows + 1;

	for (int i = 0; i < b->rows; i++)
		lines += b->row[i].to < (i + 1 < b->rows ? b->row[i + 1].from : b->all);
	return lines;
}

/* Where most samples are, of what is wider than one bucket; -1: nothing is. */
static int fullest(const struct bucket_rows *b)
{
	int most = -1;

	for (int i = 0; i < b->rows; i++)
		if (b->row[i].to - b->row[i].from > 1 && (most < 0 || b->row[i].count > b->row[most].count))
			most = i;
	return most;
}

/* In the middle. Both halves have samples, for the first and the last bucket have. */
static void split(struct bucket_rows *b, int i)
{
	const struct bucket_row row = b->row[i];
	const uint32_t middle = row.from + (row.to - row.from + 1) / 2;

	memmove(&b->row[i + 1], &b->row[i], (size_t)(b->rows - i) * sizeof(b->row[0]));
	b->rows++;
	set_row(b, &b->row[i], row.from, middle);
	set_row(b, &b->row[i + 1], middle, row.to);
}

/* One more row and what may be between the two are two lines. */
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
	int rows = 1;

	if (o->verbose)
		return false;
	begin(&b, h, o);
	for (uint32_t i = 0; i < b.all && rows <= BUCKETS_ROWS_MOST; i++)
		rows += count_of(&b, i) > 0;
	return rows > BUCKETS_ROWS_MOST;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_bar(FILE *out, uint64_t count, uint64_t largest, int columns)
{
	const int room = columns - BEFORE_BAR - 2;
	int length = room > 0 && largest ? (int)((double)count / (double)largest * room + 0.5) : 0;

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

static void write_overflow(FILE *out, const struct histogram *h, uint64_t largest, int columns)
{
	fprintf(out, "  %12.3f - %12s : %12" PRIu64 " %8.4f%%", label_us(h->limit_ns), "(overflow)", h->overflows,
		100.0 * (double)h->overflows / (double)h->count);
	write_bar(out, h->overflows, largest, columns);
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

/* The empty ones are left out. */
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
