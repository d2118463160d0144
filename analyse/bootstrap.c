// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving-block bootstrap of the difference of two runs. */
#include "analyse/bootstrap.h"

#include "analyse/blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROWS_MOST 512 /* a longer run is divided into this many stretches, to limit memory */
#define SEED 0x72616e74ULL

/* Longer than the correlation of neighbours, and short enough for many blocks. The cube root is the optimal order
 * (Hall, Horowitz and Jing 1995). */
static size_t block_length(size_t rows)
{
	return rows ? (size_t)lround(2 * cbrt((double)rows)) : 1;
}

/* ---- A run as a table -------------------------------------------------------------------------------------------- */

/* Row i has the number of samples in each bucket before stretch i, so that a block costs one subtraction, whatever
 * its length. The last two columns count packets sent and lost. */
struct table {
	size_t rows, columns; /* without the last two */
	struct stretch {
		size_t from, rows, length; /* length: of a block in it */
	} *stretch; /* the run of each row */
	size_t least; /* the shortest length of a block */
	double blocks; /* number of blocks in one resample */
	int64_t *start_ns;
	uint64_t *before; /* (rows + 1) * (columns + 2) */
	uint64_t *sum; /* counts of the current resample */
};

/* Collects the buckets of all seconds, each once. */
static bool find_columns(struct table *t, const struct blocks *b)
{
	size_t n = 0;

	t->start_ns = malloc((b->buckets ? b->buckets : 1) * sizeof(*t->start_ns));
	if (!t->start_ns)
		return false;
	for (size_t i = 0; i < b->buckets; i++)
		t->start_ns[i] = b->bucket[i].start_ns;
	qsort(t->start_ns, b->buckets, sizeof(*t->start_ns), compare_ns);
	for (size_t i = 0; i < b->buckets; i++)
		if (!n || t->start_ns[n - 1] != t->start_ns[i])
			t->start_ns[n++] = t->start_ns[i];
	t->columns = n;
	return true;
}

/* Number of rows for these seconds of one run. */
static size_t rows_of(const struct blocks *b, size_t seconds)
{
	const size_t rows = b->blocks <= ROWS_MOST ? seconds : seconds * ROWS_MOST / b->blocks;

	return rows ? rows : 1;
}

/* Index after the last second of the run with second i. With more runs than rows all count as one run. */
static size_t end_of_run(const struct blocks *b, size_t i)
{
	size_t end = i;

	while (end < b->blocks && (b->runs > ROWS_MOST || b->block[end].run == b->block[i].run))
		end++;
	return end;
}

/* No block spans two runs: the end of one and the beginning of another were never neighbours. */
static void stage_rows(struct table *t, const struct blocks *b)
{
	size_t length, at = 0;

	t->rows = 0;
	for (size_t i = 0; i < b->blocks; i = end_of_run(b, i))
		t->rows += rows_of(b, end_of_run(b, i) - i);
	length = block_length(t->rows);
	t->least = length;
	for (size_t i = 0, end; i < b->blocks; i = end) {
		end = end_of_run(b, i);
		const size_t rows = rows_of(b, end - i);
		const struct stretch one = { .from = at, .rows = rows, .length = rows < length ? rows : length };

		for (; at < one.from + rows; at++)
			t->stretch[at] = one;
		t->least = one.length < t->least ? one.length : t->least;
		t->blocks += (double)rows / (double)one.length;
	}
}

static void fill(struct table *t, const struct blocks *b)
{
	const size_t width = t->columns + 2;
	size_t begin = 0, end = 0, row_of_run = 0;

	for (size_t i = 0; i < b->blocks; i++) {
		const struct block *one = &b->block[i];
		uint64_t *row, *at;

		if (i == end) {
			row_of_run += i ? rows_of(b, end - begin) : 0;
			begin = end;
			end = end_of_run(b, i);
		}
		row = at = t->before + (row_of_run + (i - begin) * rows_of(b, end - begin) / (end - begin) + 1) * width;

		for (size_t k = 0; k < one->buckets; k++) {
			const struct block_bucket *bucket = &b->bucket[one->from + k];
			const int64_t *found = bsearch(&bucket->start_ns, t->start_ns, t->columns, sizeof(*found),
						       compare_ns);

			at[found - t->start_ns] += bucket->count;
		}
		row[t->columns] += one->sent;
		row[t->columns + 1] += one->lost;
	}
	for (size_t i = width; i < (t->rows + 1) * width; i++)
		t->before[i] += t->before[i - width];
}

static int make_table(struct table *t, const struct blocks *b)
{
	*t = (struct table){ .stretch = malloc((ROWS_MOST + ROWS_MOST) * sizeof(*t->stretch)) };
	if (!t->stretch || !find_columns(t, b))
		return -ENOMEM;
	stage_rows(t, b);
	t->before = calloc((t->rows + 1) * (t->columns + 2), sizeof(*t->before));
	t->sum = calloc(t->columns + 2, sizeof(*t->sum));
	if (!t->before || !t->sum)
		return -ENOMEM;
	fill(t, b);
	return 0;
}

static void free_table(struct table *t)
{
	free(t->stretch);
	free(t->start_ns);
	free(t->before);
	free(t->sum);
}

static void add_rows(struct table *t, size_t from, size_t to)
{
	const size_t width = t->columns + 2;
	const uint64_t *low = t->before + from * width, *high = t->before + to * width;

	for (size_t i = 0; i < width; i++)
		t->sum[i] += high[i] - low[i];
}

static void take_all(struct table *t)
{
	memset(t->sum, 0, (t->columns + 2) * sizeof(*t->sum));
	add_rows(t, 0, t->rows);
}

/* Draws the first row of a block. Short runs have shorter blocks, of which more are drawn, so that each row is
 * drawn equally often. */
static size_t draw_row(const struct table *t, uint64_t *state)
{
	size_t row;

	do
		row = (size_t)(random_next(state) % t->rows);
	while (t->stretch[row].length > t->least && random_next(state) % t->stretch[row].length >= t->least);
	return row;
}

/* Draws blocks that may begin at any row. The first row of a run follows its last, so that each is drawn equally
 * often. */
static void take_some(struct table *t, uint64_t *state)
{
	memset(t->sum, 0, (t->columns + 2) * sizeof(*t->sum));
	for (size_t taken = 0; taken < t->rows;) {
		const size_t from = draw_row(t, state);
		const struct stretch *run = &t->stretch[from];
		const size_t end = from + run->length, last = run->from + run->rows;

		add_rows(t, from, end < last ? end : last);
		if (end > last)
			add_rows(t, run->from, run->from + end - last);
		taken += run->length;
	}
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

/* Interpolates within a bucket as if its samples were evenly spread. */
static double percentile(const struct table *t, const struct bootstrap_metric *f)
{
	uint64_t all = 0, below = 0;
	double rank;

	for (size_t i = 0; i < t->columns; i++)
		all += t->sum[i];
	rank = (double)all * (double)f->numerator / (double)f->denominator;
	for (size_t i = 0; i < t->columns; i++) {
		const uint64_t count = t->sum[i];

		if (count && (double)(below + count) >= rank)
			return (double)t->start_ns[i] +
			       (double)second_fine_ns(t->start_ns[i]) * (rank - (double)below) / (double)count;
		below += count;
	}
	return 0;
}

static double metric_of(const struct table *t, const struct bootstrap_metric *f)
{
	if (f->denominator)
		return percentile(t, f);
	return t->sum[t->columns] ? (double)t->sum[t->columns + 1] / (double)t->sum[t->columns] : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The bootstrap underestimates the variance for few blocks. Corrected as for a mean of as many values: Student's t
 * instead of the normal quantile, and n / (n - 1). The quantile of t is the expansion of Fisher and Cornish. */
static double widening(const struct table *a, const struct table *b)
{
	const double k = a->blocks < b->blocks ? a->blocks : b->blocks, f = k - 1, z = 1.959964;
	const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	const double t = z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
			 (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);

	return t / z * sqrt(k / f);
}

/* The centre is the exact difference; only the distances come from the resamples. */
static void set_interval(struct bootstrap_metric *f, double *draws, double middle, double wide)
{
	qsort(draws, BOOTSTRAP_DRAWS, sizeof(*draws), compare_doubles);
	f->low = f->difference + wide * (draws[BOOTSTRAP_DRAWS / 40] - middle);
	f->high = f->difference + wide * (draws[BOOTSTRAP_DRAWS - 1 - BOOTSTRAP_DRAWS / 40] - middle);
}

static int run(struct table *a, struct table *b, struct bootstrap_metric *metrics, unsigned n)
{
	double *draws = malloc((size_t)n * BOOTSTRAP_DRAWS * sizeof(*draws)), middle[BOOTSTRAP_METRICS];
	uint64_t state = SEED;

	if (!draws)
		return -ENOMEM;
	take_all(a);
	take_all(b);
	for (unsigned k = 0; k < n; k++)
		middle[k] = metric_of(b, &metrics[k]) - metric_of(a, &metrics[k]);
	for (unsigned i = 0; i < BOOTSTRAP_DRAWS; i++) {
		take_some(a, &state);
		take_some(b, &state);
		for (unsigned k = 0; k < n; k++)
			draws[k * BOOTSTRAP_DRAWS + i] = metric_of(b, &metrics[k]) - metric_of(a, &metrics[k]);
	}
	for (unsigned k = 0; k < n; k++)
		set_interval(&metrics[k], draws + k * BOOTSTRAP_DRAWS, middle[k], widening(a, b));
	free(draws);
	return 0;
}

bool bootstrap_is_fit(const struct blocks *a, const struct blocks *b)
{
	return a->blocks >= BOOTSTRAP_LEAST && b->blocks >= BOOTSTRAP_LEAST;
}

int bootstrap_run(const struct blocks *a, const struct blocks *b, struct bootstrap_metric *metrics, unsigned n)
{
	struct table ta, tb = { .rows = 0 };
	int error = make_table(&ta, a);

	if (!error)
		error = make_table(&tb, b);
	if (!error)
		error = run(&ta, &tb, metrics, n);
	free_table(&ta);
	free_table(&tb);
	return error;
}
