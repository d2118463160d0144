// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of percentiles. */
#include "report/text/confidence.h"

#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CONFIDENCE_PERCENTILES == LABEL_PERCENTILES, "an error for each percentile");

#define RANK_UNIT 1000000000 /* of the shares at which a percentile is looked up */

/* Quantile 0.975 of Student's distribution, within 0.1 % from 29 degrees of freedom on (Abramowitz and Stegun 26.7.5). */
static double student(unsigned blocks)
{
	return 1.96 + 2.46 / (double)(blocks - 1);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static size_t bucket_of(int64_t value_ns)
{
	const int shift = 56 - __builtin_clzll((uint64_t)value_ns | 128);
	const size_t bucket = (size_t)shift * 128 + (size_t)(value_ns >> shift);

	return bucket < CONFIDENCE_BUCKETS ? bucket : CONFIDENCE_BUCKETS - 1;
}

/* Smallest value of the bucket. */
static double start_of(size_t bucket)
{
	const size_t shift = bucket < 256 ? 0 : bucket / 128 - 1;

	return (double)(bucket - shift * 128) * (double)(1ULL << shift);
}

static void halve(struct confidence_blocks *b)
{
	for (unsigned i = 0; i < b->blocks / 2; i++) {
		for (size_t k = 0; k < CONFIDENCE_BUCKETS; k++)
			b->count[i][k] = b->count[2 * i][k] + b->count[2 * i + 1][k];
		b->samples[i] = b->samples[2 * i] + b->samples[2 * i + 1];
	}
	b->blocks /= 2;
	memset(b->count[b->blocks], 0, (CONFIDENCE_BLOCKS - b->blocks) * sizeof(*b->count));
	memset(b->samples + b->blocks, 0, (CONFIDENCE_BLOCKS - b->blocks) * sizeof(*b->samples));
	b->seconds_each *= 2;
}

/* The sum has complete blocks only. */
static void end_block(struct confidence_blocks *b)
{
	for (size_t k = 0; k < CONFIDENCE_BUCKETS; k++)
		b->count[CONFIDENCE_BLOCKS][k] += b->count[b->blocks][k];
	b->samples[CONFIDENCE_BLOCKS] += b->samples[b->blocks];
	b->seconds = 0;
	if (++b->blocks == CONFIDENCE_BLOCKS)
		halve(b);
}

void confidence_add(struct confidence_blocks *b, const int64_t *value_ns, size_t n)
{
	if (!b->count && !b->failed) {
		b->count = calloc(CONFIDENCE_BLOCKS + 1, sizeof(*b->count));
		b->failed = !b->count;
		b->seconds_each = 1;
	}
	if (b->failed)
		return;
	for (size_t i = 0; i < n; i++)
		b->count[b->blocks][bucket_of(value_ns[i])]++;
	b->samples[b->blocks] += n;
	if (++b->seconds == b->seconds_each)
		end_block(b);
}

void confidence_close(struct confidence_blocks *b)
{
	free(b->count);
	*b = (struct confidence_blocks){ .failed = b->failed };
}

/* The bucket in which the share `share` of all samples is reached; *part: how much of that bucket belongs to it. */
static size_t find_bucket(const struct confidence_blocks *b, double share, double *part)
{
	const uint64_t *sum = b->count[CONFIDENCE_BLOCKS];
	const double wanted = share * (double)b->samples[CONFIDENCE_BLOCKS];
	double below = 0;

	for (size_t k = 0; k < CONFIDENCE_BUCKETS; k++) {
		if (sum[k] && below + (double)sum[k] >= wanted) {
			*part = (wanted - below) / (double)sum[k];
			return k;
		}
		below += (double)sum[k];
	}
	*part = 1;
	return CONFIDENCE_BUCKETS - 1;
}

/* What the samples of a block at or below the percentile are above their share. */
static double excess_of(const struct confidence_blocks *b, unsigned block, size_t bucket, double part, double share)
{
	uint64_t below = 0;

	for (size_t k = 0; k < bucket; k++)
		below += b->count[block][k];
	return (double)below + part * (double)b->count[block][bucket] - share * (double)b->samples[block];
}

#define SIGNIFICANT 1.645 /* one-sided 5 % of the normal distribution */
#define ABOVE_EACH 5 /* samples above a percentile in each block: with fewer the blocks do not show their scatter */

/* The products of neighbours count where blocks are correlated beyond chance. In the tail the error is not below that of
 * the binomial distribution: few blocks with a sample there may agree by chance. */
static double error_at(const struct confidence_blocks *b, double share)
{
	const double n = (double)b->samples[CONFIDENCE_BLOCKS], blocks = b->blocks;
	double part, squares = 0, products = 0, before = 0;
	const size_t bucket = find_bucket(b, share, &part);

	for (unsigned i = 0; i < b->blocks; i++) {
		const double excess = excess_of(b, i, bucket, part, share);

		squares += excess * excess;
		products += excess * before;
		before = excess;
	}

	if (products < squares * SIGNIFICANT / sqrt(blocks))
		products = 0;

	const double clustered = (squares + 2 * products) * blocks / (blocks - 1) / (n * n);
	const double independent = share * (1 - share) / n;
	const bool is_tail = (1 - share) * n < ABOVE_EACH * blocks;

	return sqrt(is_tail && clustered < independent ? independent : clustered);
}

static bool has_blocks(const struct confidence_blocks *b)
{
	return b->blocks >= CONFIDENCE_BLOCKS_LEAST && b->samples[CONFIDENCE_BLOCKS];
}

void confidence_find(struct confidence *to, const struct confidence_blocks *b, const struct known_goal *goal)
{
	*to = (struct confidence){ .width = -1 };
	if (!confidence_width(b, goal, &to->width))
		to->width = -1;
	if (!has_blocks(b))
		return;
	to->blocks = b->blocks;
	to->block_s = b->seconds_each;
	for (int i = 0; i < LABEL_PERCENTILES; i++) {
		const struct label_percentile *p = &label_percentiles[i];

		to->error[i] = (int64_t)llround(error_at(b, (double)p->numerator / (double)p->denominator) *
						CONFIDENCE_UNIT);
	}
}

bool confidence_width(const struct confidence_blocks *b, const struct known_goal *goal, double *width)
{
	double part;

	if (!goal->denominator || !has_blocks(b))
		return false;

	const double share = (double)goal->numerator / (double)goal->denominator;
	const double reach = student(b->blocks) * error_at(b, share);

	if (share + reach >= 1)
		return false;

	const double low = start_of(find_bucket(b, share > reach ? share - reach : 0, &part));
	const double high = start_of(find_bucket(b, share + reach, &part) + 1);
	const double value = start_of(find_bucket(b, share, &part));

	*width = value > 0 ? (high - low) / 2 / value : 1;
	return true;
}

/* ---- The interval ------------------------------------------------------------------------------------------------ */

struct confidence_interval confidence_interval(const struct histogram *h, const struct confidence *c, unsigned index)
{
	const struct label_percentile *p = &label_percentiles[index];
	const double share = (double)p->numerator / (double)p->denominator, n = (double)h->count;
	double reach = 1.96 * sqrt(share * (1 - share) / n);

	if (confidence_is_by_blocks(c)) {
		const double by_blocks = student(c->blocks) * (double)c->error[index] / CONFIDENCE_UNIT;

		reach = by_blocks;
	}

	const double low = share > reach ? floor((share - reach) * RANK_UNIT) : 0, high = ceil((share + reach) * RANK_UNIT);

	return (struct confidence_interval){
		.low_ns = histogram_percentile(h, low > 0 ? (uint64_t)low : 0, RANK_UNIT).value_ns,
		.high_ns = high < RANK_UNIT ? histogram_percentile(h, (uint64_t)high, RANK_UNIT).value_ns : -1,
	};
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
	for (unsigned i = 0; i < LABEL_PERCENTILES; i++) {
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
	if (width < 0)
		fprintf(out, "not reached: %.*s is not known yet (fewer than %d s, or too few samples above it)\n", name,
			goal->text, CONFIDENCE_BLOCKS_LEAST);
	else
		fprintf(out, "%s: %.*s is known to +-%.3g %%\n", confidence_is_reached(goal, width) ? "reached" : "not reached", name,
			goal->text, 100 * width);
}
