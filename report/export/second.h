/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of one second, shared by all outputs per second. docs/json.md describes the members. */
#ifndef REPORT_EXPORT_SECOND_H
#define REPORT_EXPORT_SECOND_H

#include "report/export/json.h"
#include "report/text/label.h"
#include "result/sample_queue.h"

#define SECOND_VALUES 1048576 /* more samples are counted, and are in no percentile */

struct report;

/* Counters at one moment, since the begin of the run. */
struct second_counts {
	uint64_t sent, lost, unheard; /* unheard: dropped by the sample queue */
};

#define SECOND_PERCENTILES 3

static const struct second_percentile {
	const char *name; /* of the JSON member */
	uint8_t percentile; /* index label_percentiles[] */
} second_percentiles[SECOND_PERCENTILES] = { { "p50_ns", PERCENTILE_50 }, { "p99_ns", PERCENTILE_99 },
					     { "p99_9_ns", PERCENTILE_99_9 } };

enum { SECOND_P50, SECOND_P99 }; /* in second_percentiles[] */

/* Second from a saved file: values that its samples do not have, and those that the file lacks. */
struct second_again {
	uint32_t run; /* number of its run among the merged runs, from 1 on */
	bool no_sent, no_lost; /* not known */
	bool no_time; /* CLOCK_REALTIME is not known */
	bool has_skipped; /* of a log: `skipped` is known */
	uint64_t skipped; /* sequence numbers without a record */
	bool has_buckets; /* samples are known by their buckets only */
	int64_t percentile_ns[SECOND_PERCENTILES]; /* with has_buckets: percentiles in the file */
};

struct second {
	/* Set by second_open(). */
	const struct report *report;
	struct sample_queue *sample_queue; /* sample queue: number of dropped samples, and gaps */
	int64_t *value; /* sorted after the end of the second */
	int64_t *spare; /* scratch memory for sorting */

	size_t values;
	uint64_t samples; /* without those that the sample queue dropped */
	uint64_t left_out; /* of these, not in value[] */
	int64_t max_ns; /* of `samples` */
	uint64_t number; /* from 1 on */
	int64_t start_ns, from_ns; /* begin of the first and of the current second, CLOCK_MONOTONIC */
	int64_t start_unix_ns; /* CLOCK_REALTIME at start_ns */
	struct second_counts before; /* at its begin */
	const struct second_again *again; /* memory of the caller; NULL: a second of a live run */

	/* Set at its end. */
	int64_t to_ns, unix_ns; /* CLOCK_MONOTONIC and CLOCK_REALTIME at its end */
	int64_t gap_ns; /* result of sample_queue_take_gap() */
	struct second_counts after;
};

/* Allocates the memory; the sample queue stays the caller's. 0, or -ENOMEM after one line. */
int second_open(struct second *s, const struct report *r, struct sample_queue *sample_queue);

/* Before the run: begins the first second. */
void second_begin(struct second *s);

/* During the run: latencies of this second. */
void second_add(struct second *s, const int64_t *value_ns, size_t n);

/* During the run, after all queued samples are added. True: the second has ended, and may be written. */
bool second_is_over(struct second *s);

/* After the run. True: an unfinished second is left. False without a sample queue, as no sample is known then. */
bool second_is_left(struct second *s);

/* Replaces both for saved files: ends the second at to_ns, by the clock of from_ns and of the sample queue. unix_ns:
 * CLOCK_REALTIME at its end. */
void second_end(struct second *s, int64_t to_ns, int64_t unix_ns);

/* Adds all members of a second that has ended, except the buckets, to the object that is open. */
void second_put(struct json *j, const struct second *s);

/* Width of the fine bucket of this value: 1 ns below 256 ns, above it 1/128 of a power of two. */
static inline int64_t second_fine_ns(int64_t value_ns)
{
	return 1LL << (56 - __builtin_clzll((uint64_t)value_ns | 128));
}

/* A percentile by its number in second_percentiles[]; 0 without a sample. */
int64_t second_percentile_ns(const struct second *s, int which);

/* Adds a member `buckets`: pairs of the lower edge of a bucket (ns) and its number of samples, without empty buckets.
 * width_ns: of each bucket; 0: second_fine_ns(). */
void second_put_buckets(struct json *j, const struct second *s, int64_t width_ns);

/* Samples of this second that are in no bucket and in no percentile. */
uint64_t second_left_out(const struct second *s);

/* Begins the next second at the end of the current second. */
void second_next(struct second *s);

void second_close(struct second *s);

#endif
