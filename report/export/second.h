/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of one second, collected once for all that is written of it while the run goes on. docs/json.md has the
 * members. */
#ifndef REPORT_EXPORT_SECOND_H
#define REPORT_EXPORT_SECOND_H

#include "report/export/json.h"
#include "report/text/label.h"
#include "result/tally.h"

#define SECOND_VALUES 1048576 /* what is beyond is counted and in no percentile */

struct report;

/* As read at one moment; all since the run began. */
struct second_counts {
	uint64_t sent, lost, unheard; /* unheard: of the tally */
};

#define SECOND_PERCENTILES 3

static const struct second_percentile {
	const char *name; /* in JSON */
	uint8_t percentile; /* of label_percentiles[] */
} second_percentiles[SECOND_PERCENTILES] = { { "p50_ns", LABEL_P50 }, { "p99_ns", LABEL_P99 },
					     { "p99_9_ns", LABEL_P99_9 } };

/* Of one that is read again: what its file tells and the samples do not, and what it does not tell. */
struct second_again {
	uint32_t run; /* of the runs that were put together the one that it is of, from 1 on */
	bool no_sent, no_lost; /* how many is not known */
	bool no_time; /* CLOCK_REALTIME is not known */
	bool has_skipped; /* of a log: ... */
	uint64_t skipped; /* ... so many sequence numbers were passed over in it */
	bool has_buckets; /* the samples are known by their buckets alone, */
	int64_t percentile_ns[SECOND_PERCENTILES]; /* and these besides */
};

struct second {
	/* Set by second_open(). */
	const struct report *report;
	struct tally *tally; /* what is in none of the values, and the gaps */
	int64_t *value, *spare; /* in order when the second is over; and room for that */

	size_t values;
	uint64_t samples, left_out; /* in all, and not in value[]; the unheard ones apart */
	int64_t max_ns; /* of all that were heard of */
	uint64_t number; /* from 1 on */
	int64_t start_ns, from_ns; /* CLOCK_MONOTONIC: of the first second, and of this one */
	int64_t start_unix_ns; /* CLOCK_REALTIME at start_ns */
	struct second_counts before; /* when it began */
	const struct second_again *again; /* of the caller; NULL: of a run that goes on */

	/* When it is over. */
	int64_t to_ns, unix_ns; /* CLOCK_MONOTONIC and CLOCK_REALTIME at its end */
	int64_t gap_ns; /* as of tally_take_gap() */
	struct second_counts after;
};

/* Memory for all of it; the tally stays the caller's. 0, or -ENOMEM after one line. */
int second_open(struct second *s, const struct report *r, struct tally *tally);

/* Right before the run: the first one begins. */
void second_begin(struct second *s);

/* Beside the run: latencies of this second. */
void second_add(struct second *s, const int64_t *value_ns, size_t n);

/* Beside the run, when all that there was is added: is it over? Then it may be told of, up to second_next(). */
bool second_is_over(struct second *s);

/* The same after the run: is there anything left of it? Not without a tally, for then no sample is known by itself. */
bool second_is_left(struct second *s);

/* In place of both, for what is read again: it is over at to_ns, which is of the clock of from_ns, as the times that
 * the tally has are. unix_ns: CLOCK_REALTIME then. */
void second_end(struct second *s, int64_t to_ns, int64_t unix_ns);

/* All that is told of one that is over, but for the buckets, as members of the object that is open. */
void second_put(struct json *j, const struct second *s);

/* Width of the fine bucket that has this value: 1 ns below 256 ns, from there 1/128 of the power of two below it. */
static inline int64_t second_fine_ns(int64_t value_ns)
{
	return 1LL << (56 - __builtin_clzll((uint64_t)value_ns | 128));
}

/* A member `buckets`: pairs of where a bucket begins (ns) and how many samples are in it, without the empty ones.
 * width_ns: of each; 0: a value has the first eight of its binary digits, so that a bucket is 1 ns up to 256 ns, and
 * beyond that 1/128 of a power of two. */
void second_put_buckets(struct json *j, const struct second *s, int64_t width_ns);

/* Samples of it that are in no bucket and in no percentile. */
uint64_t second_left_out(const struct second *s);

/* The next one begins where this one ended. */
void second_next(struct second *s);

void second_close(struct second *s);

#endif
