// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the seconds of a run from its JSON. */
#include "analyse/blocks.h"

#include "analyse/run_parts.h"

#include <errno.h>
#include <stdlib.h>

int blocks_add(struct blocks *b, uint64_t sent, uint64_t lost)
{
	/* The capacity doubles whenever the number is a power of two. */
	if (!(b->blocks & (b->blocks - 1))) {
		struct block *more = realloc(b->block, (b->blocks ? 2 * b->blocks : 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->block = more;
	}
	b->block[b->blocks++] = (struct block){ .sent = sent, .lost = lost, .from = b->buckets };
	return 0;
}

int blocks_add_bucket(struct blocks *b, int64_t start_ns, uint64_t count)
{
	struct block *last = &b->block[b->blocks - 1];

	if (b->buckets == b->space) {
		const size_t space = b->space ? 2 * b->space : 1024;
		struct block_bucket *more = realloc(b->bucket, space * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->bucket = more;
		b->space = space;
	}
	b->bucket[b->buckets++] = (struct block_bucket){ start_ns, count };
	last->buckets++;
	last->samples += count;
	return 0;
}

static int read_buckets(struct blocks *b, const struct tree *list, const char *path)
{
	int64_t start_ns, count, before_ns = -1;

	for (size_t i = 0; i < tree_length(list); i++, before_ns = start_ns) {
		const struct tree *pair = tree_item(list, i);
		int error;

		if (tree_length(pair) != 2 || !tree_integer(tree_item(pair, 0), &start_ns) ||
		    !tree_integer(tree_item(pair, 1), &count) ||
		    start_ns <= before_ns || start_ns % second_fine_ns(start_ns) || count < 1 || count > RUN_COUNT_MAX)
			return run_refuse(path, "seconds", "has a bucket that is not valid");
		error = blocks_add_bucket(b, start_ns, (uint64_t)count);
		if (error)
			return error;
	}
	return 0;
}

/* Reads a number of 0 or more; -1 for null. False: it is neither. */
static bool read_number(const struct tree *second, const char *name, int64_t *ns)
{
	const struct tree *t = tree_member(second, name);

	*ns = -1;
	return !t || (tree_integer(t, ns) && *ns >= 0);
}

static bool read_counts(struct block *one, const struct tree *second)
{
	int64_t sent, lost, samples, beside;

	if (!run_count(tree_member(second, "sent"), &sent) || !run_count(tree_member(second, "lost"), &lost) ||
	    !run_count(tree_member(second, "samples"), &samples) ||
	    !run_count(tree_member(second, "not_in_percentiles"), &beside) ||
	    beside > samples)
		return false;
	*one = (struct block){ .sent = (uint64_t)sent, .lost = (uint64_t)lost, .all = (uint64_t)samples,
			       .samples = (uint64_t)(samples - beside),
			       .has_sent = tree_member(second, "sent"), .has_lost = tree_member(second, "lost") };
	return true;
}

static bool read_metrics(struct block *one, const struct tree *second)
{
	int64_t before_ns = 0, run;

	for (int i = 0; i < SECOND_PERCENTILES; i++) {
		if (!read_number(second, second_percentiles[i].name, &one->percentile_ns[i]) ||
		    (one->samples && one->percentile_ns[i] < before_ns))
			return false;
		before_ns = one->percentile_ns[i];
	}
	if (!read_number(second, "max_ns", &one->max_ns) || !read_number(second, "longest_gap_ns", &one->gap_ns) ||
	    !read_number(second, "skipped", &one->skipped) || !read_number(second, "run", &run) || run > UINT32_MAX ||
	    (one->samples && one->max_ns < before_ns))
		return false;
	one->run = run > 0 ? (uint32_t)run : 1;
	return true;
}

/* Limits CLOCK_REALTIME so that the beginning of the run does not overflow. */
static bool read_times(struct block *one, const struct tree *second)
{
	const struct tree *unix_ns = tree_member(second, "unix_ns");

	one->has_unix = unix_ns;
	return read_number(second, "from_ns", &one->from_ns) && read_number(second, "to_ns", &one->to_ns) &&
	       one->from_ns >= 0 &&
	       one->from_ns <= one->to_ns && one->to_ns <= 1LL << 61 &&
	       (!unix_ns || tree_integer(unix_ns, &one->unix_ns)) &&
	       one->unix_ns > -(1LL << 62);
}

static int read_second(struct blocks *b, const struct tree *second, const char *path)
{
	struct block read, *one;
	int error;

	if (!read_counts(&read, second))
		return run_refuse(path, "seconds", "has an element without its counts");
	if (!read_metrics(&read, second) || !read_times(&read, second))
		return run_refuse(path, "seconds", "has an element without its percentiles and times");
	b->has_loss &= read.has_lost;
	error = blocks_add(b, read.sent, read.lost);
	if (error)
		return error;
	one = &b->block[b->blocks - 1];
	read.from = one->from;
	*one = read;
	one->samples = 0; /* counted by blocks_add_bucket() */
	error = read_buckets(b, tree_member(second, "buckets"), path);
	return error || one->samples == read.samples ? error :
	       run_refuse(path, "seconds", "has an element whose buckets do not add up to its samples");
}

static int compare_runs(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->run != y->run)
		return (x->run > y->run) - (x->run < y->run);
	if (x->from_ns != y->from_ns)
		return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Sorts the seconds by run, and numbers runs so that no two files share a number. */
static void stage_runs(struct blocks *b, size_t first)
{
	uint32_t run = 0;

	qsort(b->block + first, b->blocks - first, sizeof(*b->block), compare_runs);
	for (size_t i = first; i < b->blocks; i++) {
		struct block *one = &b->block[i];
		const bool begins = i == first || one->run != run;

		b->runs += begins;
		run = one->run;
		one->run = b->runs;
		one->began_unix_ns = begins ? one->unix_ns - one->to_ns : one[-1].began_unix_ns;
		one->has_unix &= begins || one[-1].has_unix;
	}
}

int blocks_read(struct blocks *b, const struct tree *seconds, const char *path)
{
	const size_t first = b->blocks;

	b->has_loss = b->has_loss || !first;
	b->unknown |= !seconds;
	for (size_t i = 0; i < tree_length(seconds); i++) {
		int error = read_second(b, tree_item(seconds, i), path);

		if (error)
			return error;
	}
	if (b->blocks > first)
		stage_runs(b, first);
	return 0;
}

void blocks_free(struct blocks *b)
{
	free(b->block);
	free(b->bucket);
	*b = (struct blocks){ .block = NULL };
}
