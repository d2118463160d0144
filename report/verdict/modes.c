// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Modes by lowlands (Akinshin, "Lowland multimodality detection", 2020) in a density of adaptive bins: each bin has
 * about the same number of samples, so that its relative noise is the same in a peak and in a tail. Two peaks are two
 * modes if the density between them falls below half of the lower peak, and if sampling noise does not explain it.
 *
 * Buckets are first put together into cells, which are wider than the granularity of the clocks: a clock that counts in
 * steps of 40 ns makes a comb that is not a property of the network.
 */
#include "report/verdict/modes.h"

#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_NS 250
#define GRAIN_MOST_NS 2000 /* coarsest clock */
#define GRAIN_SCATTER_NS 8 /* values of one tick differ by this at most: rate adjustment, two clocks */
#define GRAIN_LEAST_SHARE 50 /* buckets with fewer samples than 1/50 of the fullest are not part of the pattern */
#define BIN_LEAST_SAMPLES 100
#define BINS_FULL 200
#define BINS (2 * BINS_FULL + 2) /* before each full bin there may be a bin that is not full */
#define DEPTH 0.5 /* largest density of a valley, relative to the lower peak */
#define SIGNIFICANT 5.0 /* standard deviations; covers the choice among all pairs of peaks */

/* ---- Buckets ----------------------------------------------------------------------------------------------------- */

static uint32_t buckets_of(const struct histogram *h)
{
	return h->buckets + h->log_buckets;
}

static int64_t bucket_end_ns(const struct histogram *h, uint32_t i)
{
	return i + 1 < buckets_of(h) ? histogram_bucket_ns(h, i + 1) : h->most_ns + 1;
}

static bool are_empty(const struct histogram *h, uint32_t i)
{
	uint64_t low, carry[4];

	memcpy(&low, h->low + i, sizeof(low));
	memcpy(carry, h->carry + i, sizeof(carry));
	return !(low | carry[0] | carry[1] | carry[2] | carry[3]);
}

/* The first bucket from i on that has samples. Most have none, so that eight are looked at together. */
static uint32_t next_bucket(const struct histogram *h, uint32_t i)
{
	const uint32_t end = buckets_of(h);

	while (i < end && !h->low[i] && !h->carry[i])
		i += i % 8 == 0 && end - i > 8 && are_empty(h, i) ? 8 : 1;
	return i;
}

/* The first bucket whose values are not below value_ns. */
static uint32_t bucket_from(const struct histogram *h, int64_t value_ns)
{
	uint32_t low = 0, n = buckets_of(h);

	while (n) {
		const uint32_t half = n / 2;
		const bool after = histogram_bucket_ns(h, low + half) < value_ns;

		low += after ? half + 1 : 0;
		n = after ? n - half - 1 : half;
	}
	return low;
}

/* The bucket of the minimum, whose lower edge may be below it. */
static uint32_t first_bucket(const struct histogram *h)
{
	return bucket_from(h, histogram_edge_ns(h, h->min_ns));
}

/* After the bucket of the maximum. */
static uint32_t end_bucket(const struct histogram *h)
{
	return bucket_from(h, h->max_ns + 1);
}

struct span {
	int64_t from_ns, to_ns; /* without to_ns */
};

static uint64_t samples_within(const struct histogram *h, struct span s)
{
	const uint32_t end = bucket_from(h, s.to_ns);
	uint64_t n = 0;

	for (uint32_t i = next_bucket(h, bucket_from(h, s.from_ns)); i < end; i = next_bucket(h, i + 1))
		n += histogram_bucket(h, i);
	return n;
}

/* The values below which these shares of the samples of the span are; ascending. */
static void quantiles_within(const struct histogram *h, struct span s, uint64_t samples, const double *share,
			     int64_t *value_ns, unsigned n)
{
	const uint32_t end = bucket_from(h, s.to_ns);
	uint64_t below = 0;
	unsigned k = 0;

	for (uint32_t i = next_bucket(h, bucket_from(h, s.from_ns)); i < end && k < n; i = next_bucket(h, i + 1)) {
		below += histogram_bucket(h, i);
		for (; k < n && below > (uint64_t)((double)samples * share[k]); k++)
			value_ns[k] = histogram_bucket_ns(h, i) +
				      (bucket_end_ns(h, i) - histogram_bucket_ns(h, i)) / 2;
	}
}

/* ---- Granularity of the clocks ----------------------------------------------------------------------------------- */

static uint64_t fullest(const struct histogram *h)
{
	const uint32_t end = end_bucket(h);
	uint64_t most = 0;

	for (uint32_t i = next_bucket(h, first_bucket(h)); i < end; i = next_bucket(h, i + 1))
		most = histogram_bucket(h, i) > most ? histogram_bucket(h, i) : most;
	return most;
}

/* The usual distance of a value to the next value of another tick: the median over the samples. Values of a fine
 * clock have neighbours right after GRAIN_SCATTER_NS. */
static int64_t grain_of(const struct histogram *h)
{
	static uint64_t at[GRAIN_MOST_NS + 1]; /* samples by distance */
	const uint64_t least = fullest(h) / GRAIN_LEAST_SHARE;
	const uint32_t end = end_bucket(h);
	uint64_t all = 0, below = 0, first_count = 0;
	int64_t last_ns = -1, first_ns = -1;

	memset(at, 0, sizeof(at));
	for (uint32_t i = next_bucket(h, first_bucket(h)); i < end; i = next_bucket(h, i + 1)) {
		const int64_t ns = histogram_bucket_ns(h, i);
		const uint64_t n = histogram_bucket(h, i);

		if (n <= least && least)
			continue;
		if (first_ns < 0 || ns - last_ns > GRAIN_SCATTER_NS) {
			const int64_t distance_ns = first_ns < 0 ? 0 : ns - first_ns;

			if (distance_ns && distance_ns <= GRAIN_MOST_NS)
				at[distance_ns] += first_count;
			first_ns = ns;
			first_count = 0;
		} else if (ns - first_ns > GRAIN_SCATTER_NS) {
			at[GRAIN_SCATTER_NS] += first_count;
			first_ns = ns;
			first_count = 0;
		}
		last_ns = ns;
		first_count += n;
	}
	for (size_t i = 0; i <= GRAIN_MOST_NS; i++)
		all += at[i];
	for (size_t i = 1; all && i <= GRAIN_MOST_NS; i++)
		if (2 * (below += at[i]) >= all)
			return (int64_t)i;
	return 1;
}

/* ---- Bins -------------------------------------------------------------------------------------------------------- */

struct bin {
	struct span of;
	struct span empty; /* the longest part without samples */
	uint64_t samples;
	double density; /* samples per nanosecond */
};

struct bins {
	struct bin bin[BINS];
	unsigned count;
	uint64_t full; /* samples of a bin that is full */
	struct bin open;
	int64_t end_ns; /* of the last cell */
};

static bool is_full(const struct bins *b, unsigned i)
{
	return b->bin[i].samples >= b->full;
}

static void close_bin(struct bins *b, int64_t at_ns)
{
	struct bin *one = &b->open;

	if (one->of.from_ns < at_ns && b->count < BINS) {
		one->of.to_ns = at_ns;
		one->density = (double)one->samples / (double)(at_ns - one->of.from_ns);
		b->bin[b->count++] = *one;
	}
	*one = (struct bin){ .of.from_ns = at_ns };
}

static void note_empty(struct bin *one, int64_t from_ns, int64_t to_ns)
{
	if (to_ns - from_ns > one->empty.to_ns - one->empty.from_ns)
		one->empty = (struct span){ from_ns, to_ns };
}

/* Cells in ascending order. A cell that is full by itself is a bin, so that the gap before it is a bin too. */
static void add_cell(struct bins *b, struct span cell, uint64_t samples)
{
	if (!b->count && !b->open.samples)
		b->open.of.from_ns = b->end_ns = cell.from_ns;
	note_empty(&b->open, b->end_ns, cell.from_ns);
	if (samples >= b->full)
		close_bin(b, cell.from_ns);
	b->open.samples += samples;
	b->end_ns = cell.to_ns;
	if (b->open.samples >= b->full)
		close_bin(b, cell.to_ns);
}

/* A whole number of ticks and of buckets, so that each cell has the same number of them. */
static struct span cell_of(const struct histogram *h, uint32_t i, int64_t grain_ns)
{
	const int64_t at_ns = histogram_bucket_ns(h, i), width_ns = bucket_end_ns(h, i) - at_ns;
	const int64_t ticks_ns = grain_ns * (CELL_NS / grain_ns < 2 ? 2 : (CELL_NS + grain_ns - 1) / grain_ns);
	const int64_t cell_ns = (ticks_ns + width_ns - 1) / width_ns * width_ns;
	const int64_t before_ns = grain_ns / 2 / width_ns * width_ns;
	const int64_t from_ns = (at_ns + before_ns) / cell_ns * cell_ns - before_ns;

	return (struct span){ from_ns, from_ns + cell_ns };
}

static void make_bins(struct bins *b, const struct histogram *h)
{
	const int64_t grain_ns = grain_of(h);
	const uint32_t end = end_bucket(h);
	struct span cell = { 0, INT64_MIN };
	uint64_t samples = 0;

	*b = (struct bins){ .full = h->count / BINS_FULL > BIN_LEAST_SAMPLES ? h->count / BINS_FULL + 1 :
										BIN_LEAST_SAMPLES };
	for (uint32_t i = next_bucket(h, first_bucket(h)); i < end; i = next_bucket(h, i + 1)) {
		if (histogram_bucket_ns(h, i) >= cell.to_ns) {
			const int64_t before_ns = cell.to_ns;

			if (samples)
				add_cell(b, cell, samples);
			cell = cell_of(h, i, grain_ns);
			if (cell.from_ns < before_ns) /* the width of the buckets has changed */
				cell.from_ns = before_ns;
			samples = 0;
		}
		samples += histogram_bucket(h, i);
	}
	if (samples)
		add_cell(b, cell, samples);
	close_bin(b, b->end_ns);
}

/* ---- Peaks and valleys ------------------------------------------------------------------------------------------- */

/* Standard deviations by which a region of this width has too few samples, if its density were that of the peak: a
 * sample of both is in the region with a probability of its share of their width. */
static double deviations(const struct bin *peak, double width_ns, double samples)
{
	const double peak_ns = (double)(peak->of.to_ns - peak->of.from_ns), all = samples + (double)peak->samples;
	const double p = width_ns / (width_ns + peak_ns);

	return (all * p - samples) / sqrt(all * p * (1 - p));
}

/* The significance of the valley between two peaks; 0: none that is deep enough. *lowest: its lowest bin. */
static double valley_between(const struct bins *b, unsigned left, unsigned right, unsigned *lowest)
{
	const struct bin *bin = b->bin;
	const double level = DEPTH * fmin(bin[left].density, bin[right].density);
	double width_ns = 0, samples = 0;
	unsigned low = left + 1, first, end;

	for (unsigned i = left + 1; i < right; i++)
		if (bin[i].density < bin[low].density)
			low = i;
	if (low >= right || bin[low].density > level)
		return 0;
	*lowest = low;
	for (first = low; first - 1 > left && bin[first - 1].density <= level; first--)
		;
	for (end = low + 1; end < right && bin[end].density <= level; end++)
		;
	for (unsigned i = first; i < end; i++) {
		width_ns += (double)(bin[i].of.to_ns - bin[i].of.from_ns);
		samples += (double)bin[i].samples;
	}
	return fmin(deviations(&bin[left], width_ns, samples), deviations(&bin[right], width_ns, samples));
}

/* Local maxima. A bin that is not full is too noisy. */
static unsigned find_peaks(const struct bins *b, unsigned peak[BINS])
{
	unsigned peaks = 0;
	bool rising = true;

	for (unsigned i = 0; i < b->count; i++) {
		if (!is_full(b, i)) {
			rising = true;
			continue;
		}
		const bool after = i + 1 == b->count || !is_full(b, i + 1) ||
				   b->bin[i + 1].density <= b->bin[i].density;

		if (rising && after)
			peak[peaks++] = i;
		rising = i + 1 < b->count && b->bin[i + 1].density > b->bin[i].density;
	}
	return peaks;
}

/* Joins the two neighbours with the least significant valley, until all valleys are significant. */
static unsigned join_peaks(const struct bins *b, unsigned peak[BINS], unsigned peaks)
{
	while (peaks > 1) {
		double least = INFINITY;
		unsigned at = 0, lowest;

		for (unsigned i = 0; i + 1 < peaks; i++) {
			const double z = valley_between(b, peak[i], peak[i + 1], &lowest);

			if (z < least) {
				least = z;
				at = i;
			}
		}
		if (least >= SIGNIFICANT)
			break;
		at += b->bin[peak[at]].density > b->bin[peak[at + 1]].density;
		memmove(peak + at, peak + at + 1, (peaks - at - 1) * sizeof(*peak));
		peaks--;
	}
	return peaks;
}

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

static int64_t cut_between(const struct bins *b, unsigned left, unsigned right)
{
	unsigned lowest = left;

	valley_between(b, left, right, &lowest);

	const struct bin *low = &b->bin[lowest];
	const struct span s = low->empty.to_ns > low->empty.from_ns ? low->empty : low->of;

	return s.from_ns + (s.to_ns - s.from_ns) / 2;
}

static struct mode mode_of(const struct histogram *h, const struct bins *b, unsigned peak, struct span of)
{
	static const double middle[] = { 0.5 }, ends[] = { 0.1, 0.9 };
	const double level = b->bin[peak].density * DEPTH;
	int64_t end_ns[2] = { 0, 0 };
	unsigned first = peak, last = peak;
	struct mode m = { .samples = samples_within(h, of) };
	uint64_t samples = 0;

	while (first && b->bin[first - 1].density >= level && b->bin[first - 1].of.from_ns >= of.from_ns)
		first--;
	while (last + 1 < b->count && b->bin[last + 1].density >= level && b->bin[last + 1].of.to_ns <= of.to_ns)
		last++;
	for (unsigned i = first; i <= last; i++)
		samples += b->bin[i].samples;
	quantiles_within(h, (struct span){ b->bin[first].of.from_ns, b->bin[last].of.to_ns }, samples, middle,
			 &m.value_ns, 1);
	quantiles_within(h, of, m.samples, ends, end_ns, 2);
	m.spread_ns = end_ns[1] - end_ns[0];
	return m;
}

/* Keeps the largest modes, in their order. */
static void keep(struct modes *to, const struct mode *m)
{
	unsigned least = 0;

	to->count++;
	if (to->kept == MODES_KEPT) {
		for (unsigned i = 1; i < to->kept; i++)
			least = to->mode[i].samples < to->mode[least].samples ? i : least;
		if (to->mode[least].samples >= m->samples)
			return;
		memmove(to->mode + least, to->mode + least + 1, (--to->kept - least) * sizeof(*to->mode));
	}
	to->mode[to->kept++] = *m;
}

/* The distance of which all others are multiples, by a line through the first and the last mode. */
static int64_t distance_of(const int64_t *value_ns, unsigned n)
{
	int64_t least_ns = INT64_MAX, steps = 0;

	for (unsigned i = 1; i < n; i++)
		if (value_ns[i] - value_ns[i - 1] < least_ns)
			least_ns = value_ns[i] - value_ns[i - 1];
	if (n < 2 || least_ns <= 0)
		return 0;
	for (unsigned i = 1; i < n; i++)
		steps += (value_ns[i] - value_ns[i - 1] + least_ns / 2) / least_ns;

	const double step_ns = (double)(value_ns[n - 1] - value_ns[0]) / (double)steps;

	for (unsigned i = 1; i < n; i++) {
		const double is_ns = (double)(value_ns[i] - value_ns[i - 1]);

		if (fabs(is_ns - step_ns * round(is_ns / step_ns)) > 0.02 * step_ns)
			return 0;
	}
	return llround(step_ns);
}

void modes_find(struct modes *to, const struct histogram *h)
{
	static struct bins b;
	static unsigned peak[BINS];
	static int64_t value_ns[BINS];
	int64_t from_ns = histogram_edge_ns(h, h->min_ns);
	unsigned peaks;

	*to = (struct modes){ .samples = h->count };
	if (h->count < MODES_LEAST_SAMPLES)
		return;
	make_bins(&b, h);
	peaks = join_peaks(&b, peak, find_peaks(&b, peak));
	for (unsigned i = 0; i < peaks; i++) {
		const int64_t to_ns = i + 1 < peaks ? cut_between(&b, peak[i], peak[i + 1]) : h->max_ns + 1;
		const struct mode m = mode_of(h, &b, peak[i], (struct span){ from_ns, to_ns });

		value_ns[i] = m.value_ns;
		keep(to, &m);
		from_ns = to_ns;
	}
	to->distance_ns = distance_of(value_ns, peaks);
}

double modes_percent(const struct modes *m, const struct mode *one)
{
	return m->samples ? 100.0 * (double)one->samples / (double)m->samples : 0;
}
