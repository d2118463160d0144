// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of one second. */
#include "report/export/second.h"

#include "options.h"
#include "report/text/report.h"
#include "result/result.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#define DIGIT_BITS 11

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

int second_open(struct second *s, const struct report *r, struct sample_queue *sample_queue)
{
	*s = (struct second){ .report = r, .sample_queue = sample_queue, .number = 1 };
	s->value = calloc(SECOND_VALUES, sizeof(*s->value));
	s->spare = calloc(SECOND_VALUES, sizeof(*s->spare));
	if (s->value && s->spare)
		return 0;
	second_close(s);
	warnx("no memory for the samples of a second");
	return -ENOMEM;
}

void second_begin(struct second *s)
{
	s->start_ns = s->from_ns = clock_read_ns(CLOCK_MONOTONIC);
	s->start_unix_ns = clock_read_ns(CLOCK_REALTIME);
}

void second_add(struct second *s, const int64_t *value_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!s->samples++ || value_ns[i] > s->max_ns)
			s->max_ns = value_ns[i];
		if (s->values < SECOND_VALUES)
			s->value[s->values++] = value_ns[i];
		else
			s->left_out++;
	}
}

/* Sorts by one digit of base 2^DIGIT_BITS; the order of equal digits is kept. */
static void order_by(const int64_t *from, int64_t *to, size_t n, unsigned shift)
{
	enum { DIGITS = 1 << DIGIT_BITS };
	size_t place[DIGITS] = { 0 }, before = 0;

	for (size_t i = 0; i < n; i++)
		place[from[i] >> shift & (DIGITS - 1)]++;
	for (int digit = 0; digit < DIGITS; digit++) {
		const size_t local = place[digit];

		place[digit] = before;
		before += local;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts n values of 0 .. max_ns in ascending order. spare: memory for n values. Returns the array of the two that holds
 * the sorted values. qsort(3) is slow, and may map memory and give it back, which interrupts the measuring CPU. A radix
 * sort, from the least significant digit, is fast, which the CPU needs that may also run the reflector: for 270,000
 * samples qsort(3) takes 27 ms, this sort 2 ms. */
static int64_t *order_values(int64_t *value_ns, int64_t *spare, size_t n, int64_t max_ns)
{
	for (unsigned shift = 0; shift < 63 && n && max_ns >> shift; shift += DIGIT_BITS) {
		int64_t *ordered = spare;

		order_by(value_ns, ordered, n, shift);
		spare = value_ns;
		value_ns = ordered;
	}
	return value_ns;
}

static void order(struct second *s)
{
	int64_t *ordered = order_values(s->value, s->spare, s->values, s->max_ns);

	if (ordered == s->spare)
		s->spare = s->value;
	s->value = ordered;
}

void second_end(struct second *s, int64_t to_ns, int64_t unix_ns)
{
	order(s);
	s->to_ns = to_ns;
	s->unix_ns = unix_ns;
	s->gap_ns = sample_queue_take_gap(s->sample_queue, to_ns);
}

/* Counters are read after the samples of the second, directly after each other. */
static void end(struct second *s, int64_t now_ns)
{
	const struct account *a = &s->report->result->account;

	s->after = (struct second_counts){ counter_get(&a->sent), counter_get(&a->lost),
					   counter_get(&s->sample_queue->left_out) };
	second_end(s, now_ns, clock_read_ns(CLOCK_REALTIME));
}

bool second_is_over(struct second *s)
{
	const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	/* Seconds count from the start, so that they do not drift. After a
	 * halt a single second covers the whole halt. */
	if ((now_ns - s->start_ns) / NS_PER_S <= (s->from_ns - s->start_ns) / NS_PER_S)
		return false;
	end(s, now_ns);
	return true;
}

bool second_is_left(struct second *s)
{
	const struct result *result = s->report->result;

	/* Closing probes are sent after the end of the run. */
	const bool counted = counter_get(&result->account.sent) != s->before.sent ||
			     counter_get(&result->account.lost) != s->before.lost;

	if (!s->report->samples_are_taken || (result->ended_ns <= s->from_ns && !s->samples && !counted))
		return false;
	end(s, result->ended_ns > s->from_ns ? result->ended_ns : s->from_ns);
	return true;
}

void second_next(struct second *s)
{
	s->from_ns = s->to_ns;
	s->before = s->after;
	s->values = 0;
	s->samples = s->left_out = 0;
	s->number++;
}

void second_close(struct second *s)
{
	free(s->value);
	free(s->spare);
	s->value = s->spare = NULL;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static uint64_t unheard(const struct second *s)
{
	return s->after.unheard - s->before.unheard;
}

uint64_t second_left_out(const struct second *s)
{
	return s->left_out + unheard(s);
}

/* Nearest rank, as in the report. */
int64_t second_percentile_ns(const struct second *s, int which)
{
	const struct label_percentile *p = &label_percentiles[second_percentiles[which].percentile];
	const uint64_t rank = (s->values * p->numerator + p->denominator - 1) / p->denominator;

	if (s->again && s->again->has_buckets)
		return s->again->percentile_ns[which];
	return s->values ? s->value[rank - 1] : 0;
}

static void put_percentiles(struct json *j, const struct second *s)
{
	for (int i = 0; i < SECOND_PERCENTILES; i++)
		json_integer_if(j, second_percentiles[i].name, s->values, second_percentile_ns(s, i));
}

static void put_count(struct json *j, const char *name, bool unknown, uint64_t count)
{
	if (unknown)
		json_null(j, name);
	else
		json_count(j, name, count);
}

static void put_again(struct json *j, const struct second_again *again)
{
	json_count(j, "run", again->run);
	put_count(j, "skipped", !again->has_skipped, again->skipped);
}

void second_put(struct json *j, const struct second *s)
{
	const struct second_again *again = s->again;

	json_count(j, "number", s->number);
	json_integer(j, "from_ns", s->from_ns - s->start_ns);
	json_integer(j, "to_ns", s->to_ns - s->start_ns);
	json_integer_if(j, "unix_ns", !again || !again->no_time, s->unix_ns);
	put_count(j, "sent", again && again->no_sent, s->after.sent - s->before.sent);
	if (s->report->options->role == ROLE_EMIT)
		put_count(j, "lost", again && again->no_lost, s->after.lost - s->before.lost);
	json_count(j, "samples", s->samples + unheard(s));
	put_percentiles(j, s);
	json_integer_if(j, "max_ns", s->samples, s->max_ns);
	json_integer_if(j, "longest_gap_ns", s->gap_ns >= 0, s->gap_ns);
	json_count(j, "not_in_percentiles", second_left_out(s));
	if (again)
		put_again(j, again);
}

static int64_t start_of(int64_t value_ns, int64_t width_ns)
{
	return width_ns ? value_ns / width_ns * width_ns : value_ns & -second_fine_ns(value_ns);
}

void second_put_buckets(struct json *j, const struct second *s, int64_t width_ns)
{
	int64_t start_ns = s->values ? start_of(s->value[0], width_ns) : 0;
	size_t from = 0;

	json_array(j, "buckets");
	for (size_t i = 0; i < s->values; i++) {
		const int64_t next_ns = i + 1 < s->values ? start_of(s->value[i + 1], width_ns) : -1;

		if (next_ns == start_ns)
			continue;
		json_pair(j, NULL);
		json_integer(j, NULL, start_ns);
		json_count(j, NULL, i + 1 - from);
		json_end(j);
		start_ns = next_ns;
		from = i + 1;
	}
	json_end(j);
}
