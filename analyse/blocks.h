/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seconds of a run from its JSON: histograms with buckets of seven significant bits. */
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
	uint64_t sent, lost, samples; /* samples: those in buckets */
	uint64_t all; /* all samples, with and without a bucket */
	size_t from, buckets; /* index into struct blocks.bucket */
	uint32_t run; /* number of its run, from 1; 0: there is only one run */
	bool has_sent, has_lost, has_unix; /* the member is not null */
	int64_t from_ns, to_ns; /* after the start of its run */
	int64_t unix_ns; /* CLOCK_REALTIME at its end */
	int64_t began_unix_ns; /* CLOCK_REALTIME at the start of its run, by the first second of the run */
	int64_t percentile_ns[SECOND_PERCENTILES];
	int64_t max_ns, gap_ns, skipped; /* -1: not known */
};

/* All zeros to begin with. */
struct blocks {
	struct block *block;
	size_t blocks;
	struct block_bucket *bucket;
	size_t buckets, space;
	bool has_loss; /* each second has the number of packets sent and lost */
	bool unknown; /* at least one file has no seconds */
	uint32_t runs; /* number of runs; seconds are sorted by run and time */
};

/* Adds a second. Its buckets follow by blocks_add_bucket(). 0 or -ENOMEM. */
int blocks_add(struct blocks *b, uint64_t sent, uint64_t lost);
int blocks_add_bucket(struct blocks *b, int64_t start_ns, uint64_t count);

/* Adds the seconds of the member `seconds`, as those of one new run or of several; NULL: the file has none. 0, or
 * -errno after one line (-ENOMEM: without a line). */
int blocks_read(struct blocks *b, const struct tree *seconds, const char *path);

void blocks_free(struct blocks *b);

#endif
