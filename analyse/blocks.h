/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seconds of a run, as its JSON has them: each a histogram with buckets of seven significant bits. */
#ifndef ANALYSE_BLOCKS_H
#define ANALYSE_BLOCKS_H

#include "rant.h"
#include "report/export/second.h"

struct tree;

struct block_bucket {
	int64_t start_ns;
	uint64_t count;
};

struct block {
	uint64_t sent, lost, samples; /* samples: in its buckets; */
	uint64_t all; /* and those that are in none */
	size_t from, buckets; /* in struct blocks */
	uint32_t run; /* which it is of, from 1 on; 0: all are of one */
	bool has_sent, has_lost, has_unix; /* are known */
	int64_t from_ns, to_ns; /* after its run began */
	int64_t unix_ns; /* CLOCK_REALTIME when it ended; */
	int64_t began_unix_ns; /* and when its run began, by the first second of that */
	int64_t percentile_ns[SECOND_PERCENTILES];
	int64_t max_ns, gap_ns, skipped; /* -1: not known */
};

/* All zeros to begin with. */
struct blocks {
	struct block *block;
	size_t blocks;
	struct block_bucket *bucket;
	size_t buckets, room;
	bool has_loss; /* each tells of what was sent and lost */
	bool unknown; /* a run tells of no seconds */
	uint32_t runs; /* those of one run stand together, in their order */
};

/* Adds a second. Its buckets follow by blocks_add_bucket(). 0 or -ENOMEM. */
int blocks_add(struct blocks *b, uint64_t sent, uint64_t lost);
int blocks_add_bucket(struct blocks *b, int64_t start_ns, uint64_t count);

/* Adds those of the member `seconds`, as those of a run of their own, or of several; NULL: it does not tell of them. 0,
 * or -errno after one line (but -ENOMEM: without one). */
int blocks_read(struct blocks *b, const struct tree *seconds, const char *path);

void blocks_free(struct blocks *b);

#endif
