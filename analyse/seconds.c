// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes seconds of a log, or reads them from JSON, for outputs by the second. */
#include "analyse/seconds.h"

#include "analyse/blocks.h"
#include "analyse/outcome.h"
#include "report/export/by_second.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#define BEGIN_NS 1 /* clock at the start of a run: struct sample_queue takes 0 for "no time" */
#define MOST_NS (1LL << 62) /* limit of a time in a log, against overflow */

int seconds_open(struct seconds *s, struct by_second *to, struct outcome *o)
{
	*s = (struct seconds){ .to = to, .outcome = o, .at_ns = BEGIN_NS, .again = { .run = 1 } };
	o->seconds = s;
	return second_open(&to->second, &o->report, &o->sample_queue);
}

void seconds_begin(struct seconds *s, bool known)
{
	struct second *one = &s->to->second;

	one->again = &s->again;
	one->start_ns = one->from_ns = BEGIN_NS;
	s->outcome->has_seconds = known;
	if (s->to->json.path)
		by_second_begin_json(s->to, known);
	if (!s->to->lines_file.path)
		return;
	jsonl_begin(&s->to->lines);
}

/* Written with the first second, because the header has its time. */
static void begin_head(struct seconds *s, const char *note)
{
	if (s->to->hlog_file.path && !s->has_head)
		hlog_begin(&s->to->hlog, s->to->second.start_unix_ns, note);
	s->has_head = true;
}

/* ---- From a log -------------------------------------------------------------------------------------------------- */

static void print(struct seconds *s, int64_t to_ns)
{
	struct second *one = &s->to->second;
	int64_t unix_ns = 0;

	/* A NIC clock may have any epoch, and a log does not name it. */
	s->again.no_time = !s->has_time || s->outcome->options.stamp == SOURCE_HARDWARE ||
			   s->outcome->options.stamp == SOURCE_RECEIVE ||
			   __builtin_sub_overflow(to_ns, s->shift_ns, &unix_ns);
	s->again.no_sent = s->again.no_lost = true;
	s->again.has_skipped = s->outcome->options.role == ROLE_EMIT;
	one->start_unix_ns = s->again.no_time ? 0 : unix_ns - (to_ns - one->start_ns);
	begin_head(s,
		   s->again.no_time ?
		   "StartTimestamp is after the first sample: a log does not name the epoch of a NIC's clock" : NULL);
	second_end(one, to_ns, unix_ns);
	by_second_pass_on(s->to);
	s->again.skipped = 0;
}

/* Seconds without a sample are written as one. */
static void go_to(struct seconds *s, int64_t at_ns)
{
	const int64_t now = (at_ns - BEGIN_NS) / NS_PER_S, last = (s->to->second.from_ns - BEGIN_NS) / NS_PER_S;

	s->at_ns = at_ns;
	if (now == last)
		return;
	print(s, BEGIN_NS + (last + 1) * NS_PER_S);
	if (now > last + 1)
		print(s, BEGIN_NS + now * NS_PER_S);
}

/* After a backward step the time continues from the last record. */
static int64_t place(struct seconds *s, int64_t time_ns)
{
	int64_t at_ns, back_ns, shift_ns;

	if (__builtin_add_overflow(time_ns, s->shift_ns, &at_ns) || at_ns > MOST_NS)
		return s->at_ns;
	if (at_ns >= s->at_ns)
		return at_ns;
	if ((__builtin_sub_overflow(s->at_ns, at_ns, &back_ns) || back_ns > NS_PER_S) &&
	    !__builtin_sub_overflow(s->at_ns, time_ns, &shift_ns))
		s->shift_ns = shift_ns;
	return s->at_ns;
}

static bool begins_before(const struct seconds *s, int64_t time_ns)
{
	int64_t at_ns;

	return !__builtin_add_overflow(time_ns, s->shift_ns, &at_ns) && at_ns < s->at_ns - NS_PER_S;
}

static void begin_run(struct seconds *s)
{
	struct second *one = &s->to->second;

	print(s, s->at_ns);
	s->again.run++;
	s->at_ns = one->start_ns = one->from_ns = BEGIN_NS;
	s->has_time = false;
	s->records = 0;
}

static void note_number(struct seconds *s, uint32_t seq)
{
	if (s->records && seq < s->next_seq)
		return;
	if (s->records)
		s->again.skipped += seq - s->next_seq;
	s->next_seq = (uint64_t)seq + 1;
}

void seconds_add(struct seconds *s, const struct sample *sample, uint8_t to)
{
	const int64_t time_ns = sample->time_ns[to];
	const bool timed = sample->source[to];
	int64_t shift_ns;

	if (s->is_next && s->has_time && timed && begins_before(s, time_ns))
		begin_run(s);
	s->is_next = false;
	if (timed && !s->has_time && !__builtin_sub_overflow(s->at_ns, time_ns, &shift_ns)) {
		s->has_time = true;
		s->shift_ns = shift_ns;
	}
	if (timed && s->has_time)
		go_to(s, place(s, time_ns));
	note_number(s, sample->seq);
	s->records++;
	sample_queue_note_time(&s->outcome->sample_queue, s->at_ns);
	second_add(&s->to->second, &sample->latency_ns, 1);
}

void seconds_next_log(struct seconds *s)
{
	s->is_next = true;
}

/* ---- From JSON --------------------------------------------------------------------------------------------------- */

/* Sorts by time since the start of the run, so that a clock step does not change the order within a run. */
static int compare_ends(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a, *y = *(const struct block *const *)b;
	const int64_t x_ns = x->began_unix_ns + x->to_ns, y_ns = y->began_unix_ns + y->to_ns;

	return x_ns != y_ns ? (x_ns > y_ns) - (x_ns < y_ns) : (x > y) - (x < y);
}

/* Adds the samples of a bucket at its lower edge, except the maximum, which is known. */
static void take_values(struct second *one, const struct blocks *b, const struct block *from)
{
	const struct block_bucket *bucket = b->bucket + from->from, *last = bucket + from->buckets - 1;

	for (; bucket < b->bucket + from->from + from->buckets; bucket++)
		for (uint64_t k = 0; k < bucket->count && one->values < SECOND_VALUES; k++)
			one->value[one->values++] = bucket->start_ns;
	if (one->values && from->max_ns >= last->start_ns &&
	    from->max_ns - last->start_ns < second_fine_ns(last->start_ns))
		one->value[one->values - 1] = from->max_ns;
}

static void take(struct seconds *s, const struct blocks *b, const struct block *from)
{
	struct second *one = &s->to->second;
	const bool reported = from->max_ns >= 0;

	take_values(one, b, from);
	one->samples = reported ? from->all : 0;
	one->max_ns = from->max_ns;
	one->left_out = reported ? from->all - one->values : 0;
	one->before = (struct second_counts){ 0 };
	one->after = (struct second_counts){ from->sent, from->lost, reported ? 0 : from->all };
	one->start_ns = 0;
	one->from_ns = from->from_ns;
	one->to_ns = from->to_ns;
	one->unix_ns = from->unix_ns;
	one->start_unix_ns = from->has_unix ? from->began_unix_ns : 0;
	one->gap_ns = from->gap_ns;
	s->again = (struct second_again){ .run = from->run, .no_sent = !from->has_sent, .no_lost = !from->has_lost,
					  .no_time = !from->has_unix,
					  .has_skipped = from->skipped >= 0,
					  .skipped = from->skipped >= 0 ? (uint64_t)from->skipped : 0,
					  .has_buckets = true };
	memcpy(s->again.percentile_ns, from->percentile_ns, sizeof(from->percentile_ns));
}

int seconds_pass_on(struct seconds *s, const struct blocks *b)
{
	const struct block **order = malloc((b->blocks ? b->blocks : 1) * sizeof(*order));
	bool timed = true;

	if (!order) {
		warnx("no memory for the contents of the files");
		return -ENOMEM;
	}
	for (size_t i = 0; i < b->blocks; i++) {
		order[i] = &b->block[i];
		timed &= b->block[i].has_unix;
	}
	if (timed)
		qsort(order, b->blocks, sizeof(*order), compare_ends);
	for (size_t i = 0; i < b->blocks; i++) {
		take(s, b, order[i]);
		begin_head(s, timed ? "Values are lower edges of buckets of 1/128" :
				      "Values are lower edges of buckets of 1/128; StartTimestamp is after the start "
				      "of each run");
		by_second_pass_on(s->to);
	}
	free(order);
	return 0;
}

void seconds_end(struct seconds *s)
{
	if (s->records)
		print(s, s->at_ns);
	begin_head(s, s->outcome->has_seconds ? "No intervals: there is no sample" :
		   "No intervals: not all runs have seconds");
}
