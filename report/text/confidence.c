// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of percentiles. */
#include "report/text/confidence.h"

#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TAIL 0.025
#define CONFIDENCE_NORMAL 1.959964 /* 97.5 % quantile of the normal distribution */
#define LARGE_DEVIATION 1000 /* above it the normal distribution replaces the binomial */
#define LEAST_WIDENING 0.5 /* of the variance; the estimate for independent samples differs that much by chance */
#define CORRELATION_MOST 0.95
#define CORRELATION_LEAST (-0.5)

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The points are close together in the upper tail, where percentiles are. */
static double share_below(unsigned target)
{
	const unsigned even = CONFIDENCE_TARGETS * 7 / 16;

	return target < even ? 0.9 * (target + 1) / even : 1 - 0.1 * pow(0.75, target - even + 1);
}

struct builder {
	struct confidence_block *to;
	unsigned target;
	uint64_t need; /* samples below the next point */
	bool has_held;
	struct confidence_point held; /* the value before the current value */
};

static void set_need(struct builder *b)
{
	const uint64_t all = b->to->count;

	b->need = b->target < CONFIDENCE_TARGETS ? (uint64_t)ceil((double)all * share_below(b->target)) : all;
	b->need = b->need > all ? all : b->need;
}

static struct builder begin(struct confidence_block *to, uint64_t count, unsigned seconds)
{
	struct builder b = { .to = to };

	to->count = count;
	to->seconds = seconds;
	to->points = 0;
	set_need(&b);
	return b;
}

/* Values ascend. Both ends of a gap between two values are kept, so that no sample is counted within it. */
static void put(struct builder *b, int64_t value_ns, uint64_t below)
{
	struct confidence_block *to = b->to;
	const struct confidence_point point = { value_ns, below };

	if (to->points && below < b->need) {
		b->held = point;
		b->has_held = true;
		return;
	}
	if (b->has_held)
		to->point[to->points++] = b->held;
	to->point[to->points++] = point;
	b->has_held = false;
	while (b->target < CONFIDENCE_TARGETS && below >= b->need) {
		b->target++;
		set_need(b);
	}
}

static double count_below(const struct confidence_block *b, int64_t value_ns)
{
	const struct confidence_point *point = b->point;
	unsigned low = 0, high = b->points - 1;

	if (value_ns < point[0].value_ns)
		return 0;
	if (value_ns >= point[high].value_ns)
		return (double)b->count;
	while (high - low > 1) {
		const unsigned middle = (low + high) / 2;

		if (point[middle].value_ns <= value_ns)
			low = middle;
		else
			high = middle;
	}
	return (double)point[low].below + (double)(point[high].below - point[low].below) *
						  (double)(value_ns - point[low].value_ns) /
						  (double)(point[high].value_ns - point[low].value_ns);
}

static void merge(struct confidence_block *to, const struct confidence_block *a, const struct confidence_block *b)
{
	struct confidence_block sum;
	struct builder builder = begin(&sum, a->count + b->count, a->seconds + b->seconds);
	unsigned i = 0, k = 0;

	while (i < a->points || k < b->points) {
		const bool by_a = k == b->points || (i < a->points && a->point[i].value_ns <= b->point[k].value_ns);
		const int64_t value_ns = by_a ? a->point[i].value_ns : b->point[k].value_ns;

		while (i < a->points && a->point[i].value_ns == value_ns)
			i++;
		while (k < b->points && b->point[k].value_ns == value_ns)
			k++;
		put(&builder, value_ns, (uint64_t)llround(count_below(a, value_ns) + count_below(b, value_ns)));
	}
	*to = sum;
}

static void halve(struct confidence_blocks *p)
{
	for (unsigned i = 0; i < CONFIDENCE_BLOCKS / 2; i++)
		merge(&p->block[i], &p->block[2 * i], &p->block[2 * i + 1]);
	p->blocks = CONFIDENCE_BLOCKS / 2;
	p->seconds_each *= 2;
}

static void make(struct confidence_block *to, const int64_t *value_ns, size_t n)
{
	struct builder b = begin(to, n, 1);

	put(&b, value_ns[0] - 1, 0);
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || value_ns[i + 1] != value_ns[i])
			put(&b, value_ns[i], i + 1);
}

void confidence_add(struct confidence_blocks *p, const int64_t *value_ns, size_t n)
{
	struct confidence_block one, *last;

	if (!n)
		return;
	make(&one, value_ns, n);
	p->seconds_each += !p->seconds_each;
	last = p->blocks ? &p->block[p->blocks - 1] : NULL;
	if (last && last->seconds < p->seconds_each) {
		merge(last, last, &one);
		return;
	}
	if (p->blocks == CONFIDENCE_BLOCKS)
		halve(p);
	p->block[p->blocks++] = one;
}

/* ---- Effective number of samples --------------------------------------------------------------------------------- */

static double student(double degrees)
{
	const double f = degrees, z = CONFIDENCE_NORMAL, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

/* Share of all samples above the value. */
static double share_above(const struct confidence_blocks *p, int64_t value_ns, double *count)
{
	double above = 0;

	*count = 0;
	for (unsigned i = 0; i < p->blocks; i++) {
		above += (double)p->block[i].count - count_below(&p->block[i], value_ns);
		*count += (double)p->block[i].count;
	}
	return above / *count;
}

/* Number of independent samples with which the share above the value would be known as well as it is. Neighbouring
 * blocks are correlated as in an AR(1) process. */
static double effective_count(const struct confidence_blocks *p, int64_t value_ns)
{
	double count, share = share_above(p, value_ns, &count), squares = 0, products = 0, before = 0;
	double rho, variance, blocks, t, widening, all_above = 0, pairs = 0;
	const double n = p->blocks;

	/* No sample is above the largest; how often it occurs still varies. */
	if (share <= 0)
		share = share_above(p, --value_ns, &count);
	for (unsigned i = 0; i < p->blocks; i++) {
		const struct confidence_block *one = &p->block[i];
		const double above = (double)one->count - count_below(one, value_ns);
		const double off = above - (double)one->count * share;

		all_above += above;
		pairs += above * (above - 1);
		squares += off * off;
		products += off * before;
		before = off;
	}
	if (squares <= 0 || share >= 1)
		return count;
	/* The residuals of a fitted mean look less correlated than the blocks are (Kendall 1954). */
	rho = products / squares;
	rho += (1 + 4 * rho) / n;
	rho = rho < CORRELATION_LEAST ? CORRELATION_LEAST : rho > CORRELATION_MOST ? CORRELATION_MOST : rho;
	variance = squares * n / (n - 1) * (1 + rho) / (1 - rho);
	blocks = n * (1 - rho) / (1 + rho);
	/* If the samples above are those of a few bursts, the variance is known from these bursts only. */
	if (pairs > 0 && all_above * all_above / pairs < blocks)
		blocks = all_above * all_above / pairs;
	blocks = blocks > n ? n : blocks < 2 ? 2 : blocks;
	t = student(blocks - 1) / CONFIDENCE_NORMAL;
	widening = variance / (count * share * (1 - share)) * t * t;
	return count / (widening > LEAST_WIDENING ? widening : LEAST_WIDENING);
}

/* From the binomial distribution of the number of n samples that are above the percentile: it is below *least, and above
 * *most, with a probability of 2.5 % at most each. */
static void find_ends(double n, double share, double *least, double *most)
{
	const double mean = n * share, deviation = sqrt(mean * (1 - share));
	double k = floor(mean - 10 * deviation - 10), odds = share / (1 - share), mass, sum = 0;

	if (deviation > LARGE_DEVIATION) {
		*least = floor(mean - CONFIDENCE_NORMAL * deviation);
		*most = ceil(mean + CONFIDENCE_NORMAL * deviation);
		return;
	}
	k = k < 0 ? 0 : k;
	mass = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) + (n - k) * log1p(-share));
	*least = -1;
	for (; k < n; k++) {
		sum += mass;
		if (*least < 0 && sum > TAIL)
			*least = k;
		if (sum >= 1 - TAIL)
			break;
		mass *= (n - k) / (k + 1) * odds;
	}
	*least = *least < 0 ? k : *least;
	*most = k;
}

/* ---- The interval ------------------------------------------------------------------------------------------------ */

/* Shares of the samples at or below the ends of the interval, by n independent samples; below 0 or above 1: not known. */
static void find_shares(double n, double above, double *low, double *high)
{
	double least, most;

	n = n < 1 ? 1 : n;
	find_ends(n, above, &least, &most);
	*low = most < n ? (n - most) / n : -1;
	*high = least >= 1 ? (n - (least - 1)) / n : 2;
}

struct confidence_interval confidence_interval(const struct histogram *h, const struct confidence *c, unsigned index)
{
	const struct label_percentile *p = &label_percentiles[index];
	const double all = (double)h->count, above = (double)(p->denominator - p->numerator) / (double)p->denominator;
	double low, high;

	find_shares(confidence_is_by_blocks(c) ? (double)c->effective[index] : all, above, &low, &high);

	const double last = ceil(all * high - 1e-6);

	return (struct confidence_interval){
		.low_ns = low < 0 ? h->min_ns :
			  histogram_percentile(h, (uint64_t)floor(all * low + 1e-6), h->count).value_ns,
		.high_ns = high > 1 ? -1 : histogram_percentile(h, last < all ? (uint64_t)last : h->count, h->count).value_ns,
	};
}

void confidence_find(struct confidence *to, const struct confidence_blocks *b, const struct histogram *h,
		     const struct known_goal *goal)
{
	*to = (struct confidence){ 0 };
	if (!b)
		return;
	to->has_width = confidence_width(b, goal, &to->width);
	if (b->blocks < CONFIDENCE_BLOCKS_LEAST || !h->count)
		return;
	to->blocks = b->blocks;
	to->block_s = b->seconds_each;
	for (int i = 0; i < PERCENTILES; i++) {
		const struct label_percentile *p = &label_percentiles[i];
		const int64_t value_ns = histogram_percentile(h, p->numerator, p->denominator).value_ns;

		to->effective[i] = (int64_t)floor(effective_count(b, value_ns));
	}
}

/* Smallest value with this share of all samples of the blocks at or below it. */
static int64_t value_at(const struct confidence_blocks *b, double share)
{
	int64_t low = 0, high = 0;
	double count;

	for (unsigned i = 0; i < b->blocks; i++)
		if (b->block[i].point[b->block[i].points - 1].value_ns > high)
			high = b->block[i].point[b->block[i].points - 1].value_ns;
	while (low < high) {
		const int64_t middle = low + (high - low) / 2;

		if (1 - share_above(b, middle, &count) >= share)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool confidence_width(const struct confidence_blocks *b, const struct known_goal *goal, double *width)
{
	double low, high;

	if (!goal->denominator || b->blocks < CONFIDENCE_BLOCKS_LEAST)
		return false;

	const double above = (double)(goal->denominator - goal->numerator) / (double)goal->denominator;
	const int64_t value_ns = value_at(b, 1 - above);

	find_shares(floor(effective_count(b, value_ns)), above, &low, &high);
	if (low < 0 || high > 1 || value_ns <= 0)
		return false;
	*width = (double)(value_at(b, high) - value_at(b, low)) / 2 / (double)value_ns;
	return true;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

#define ON_A_LINE 3

static void write_one(FILE *out, const struct confidence_interval *i, const char *percent, unsigned number)
{
	fprintf(out, "%s%sth %.3f ", number % ON_A_LINE ? ", " : number ? ",\n    " : "    ", percent, label_us(i->low_ns));
	if (i->high_ns < 0)
		fputs("or more", out);
	else
		fprintf(out, "to %.3f", label_us(i->high_ns));
}

void confidence_write(FILE *out, const struct report *r)
{
	const struct confidence *c = &r->result->confidence;
	const struct histogram *h = r->histogram;
	unsigned number = 0;

	fprintf(out, "  95 %% intervals of the %s (us), ", r->options->role == ROLE_EMIT ? "round trip" : "response");
	if (confidence_is_by_blocks(c))
		fprintf(out, "by %u blocks of %u s:\n", c->blocks, c->block_s);
	else
		fprintf(out, "if samples are independent of each other:\n");
	for (unsigned i = 0; i < PERCENTILES; i++) {
		const struct label_percentile *p = &label_percentiles[i];

		if (label_is_few(h->count, p->numerator, p->denominator))
			continue;

		const struct confidence_interval interval = confidence_interval(h, c, i);

		write_one(out, &interval, p->percent, number++);
	}
	fputs(number ? "\n" : "    fewer than ten samples are above each percentile\n", out);
}

void confidence_write_goal(FILE *out, const struct report *r)
{
	const struct known_goal *goal = &r->options->until_known;
	const double width = r->result->confidence.width;
	const int name = (int)strcspn(goal->text ? goal->text : "", ":");

	if (!goal->denominator || r->result->read)
		return;
	fprintf(out, "--until-known %s: ", goal->text);
	if (!r->result->confidence.has_width)
		fprintf(out, "not reached: %.*s is not known yet (fewer than %d s, or too few independent samples above it)\n", name,
			goal->text, CONFIDENCE_BLOCKS_LEAST);
	else
		fprintf(out, "%s: %.*s is known to +-%.3g %%\n", confidence_is_reached(goal, width) ? "reached" : "not reached", name,
			goal->text, 100 * width);
}
