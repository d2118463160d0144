// SPDX-License-Identifier: GPL-2.0-or-later
/* The seconds of a run. */
#include "results/blocks.h"

#include "results/run_parts.h"

#include <errno.h>
#include <stdlib.h>

int blocks_add(struct blocks *b, uint64_t sent, uint64_t lost)
{
	/* Doubled whenever it is a power of two. */
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

	if (b->buckets == b->room) {
		const size_t room = b->room ? 2 * b->room : 1024;
		struct block_bucket *more = realloc(b->bucket, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		b->bucket = more;
		b->room = room;
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

		if (tree_length(pair) != 2 || !tree_integer(tree_item(pair, 0), &start_ns) || !tree_integer(tree_item(pair, 1), &count) ||
		    start_ns <= before_ns || start_ns % block_width_ns(start_ns) || count < 1 || count > RUN_COUNT_MAX)
			return run_refuse(path, "seconds", "has a bucket that is none");
		error = blocks_add_bucket(b, start_ns, (uint64_t)count);
		if (error)
			return error;
	}
	return 0;
}

int blocks_read(struct blocks *b, const struct tree *seconds, const char *path)
{
	b->has_loss = true;
	for (size_t i = 0; i < tree_length(seconds); i++) {
		const struct tree *second = tree_item(seconds, i);
		int64_t sent, lost, samples, beside;
		int error;

		if (!run_count(tree_member(second, "sent"), &sent) || !run_count(tree_member(second, "lost"), &lost) ||
		    !run_count(tree_member(second, "samples"), &samples) ||
		    !run_count(tree_member(second, "not_in_percentiles"), &beside))
			return run_refuse(path, "seconds", "has one without its counts");
		b->has_loss &= tree_member(second, "lost") != NULL;
		error = blocks_add(b, (uint64_t)sent, (uint64_t)lost);
		if (!error)
			error = read_buckets(b, tree_member(second, "buckets"), path);
		if (error)
			return error;
		if (b->block[b->blocks - 1].samples > (uint64_t)samples || (!beside && b->block[b->blocks - 1].samples != (uint64_t)samples))
			return run_refuse(path, "seconds", "has one whose buckets have not its samples");
	}
	return 0;
}

void blocks_free(struct blocks *b)
{
	free(b->block);
	free(b->bucket);
	*b = (struct blocks){ .block = NULL };
}
