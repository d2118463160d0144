// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Change points of the median and of p99 over the seconds of a run.
 *
 * The test is a CUSUM of ranks (Pettitt 1979), so that the distribution of the noise does not matter. The variance of a
 * mean of correlated seconds is that of an AR(1) process, whose coefficient is estimated from the residuals on both
 * sides of the change. Further changes are found by binary segmentation.
 */
#include "report/verdict/steadiness.h"

#include "report/verdict/verdict_inside.h"
#include "result/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEDIAN_SAMPLES 20
#define P99_SAMPLES 100
#define EDGE 8 /* shortest time, in stretches, before or after a change */
#define LEAST_SHARE 0.02
#define CHANGES_EACH (LEVEL_CHANGES_MAX / 2)

/* ---- Seconds ----------------------------------------------------------------------------------------------------- */

/* Pairs of seconds of a long run are merged, so that memory does not grow. */
static void halve(struct levels *l)
{
	for (unsigned i = 0; i < LEVEL_STRETCHES / 2; i++) {
		struct level_stretch one = l->stretch[2 * i];
		const struct level_stretch *next = &l->stretch[2 * i + 1];

		one.median_ns += next->median_ns;
		one.p99_ns += next->p99_ns;
		one.seconds += next->seconds;
		one.samples += next->samples;
		l->stretch[i] = one;
	}
	l->stretches = LEVEL_STRETCHES / 2;
	l->seconds_each *= 2;
}

void steadiness_add(struct levels *l, int64_t from_ns, uint64_t samples, int64_t median_ns, int64_t p99_ns)
{
	struct level_stretch *to;

	l->seconds++;
	if (samples < MEDIAN_SAMPLES) {
		l->silent++;
		return;
	}
	l->no_p99 |= samples < P99_SAMPLES;
	l->seconds_each += !l->seconds_each;
	to = l->stretches ? &l->stretch[l->stretches - 1] : NULL;
	if (!to || to->seconds == l->seconds_each) {
		if (l->stretches == LEVEL_STRETCHES)
			halve(l);
		to = &l->stretch[l->stretches++];
		*to = (struct level_stretch){ .from_ns = from_ns };
	}
	to->median_ns += (double)median_ns;
	to->p99_ns += (double)p99_ns;
	to->seconds++;
	to->samples += samples;
}

/* ---- One change -------------------------------------------------------------------------------------------------- */

struct series {
	double value[LEVEL_STRETCHES];
	double sum[LEVEL_STRETCHES + 1]; /* sums of the ranks before each stretch of the tested segment */
	double rank[LEVEL_STRETCHES]; /* ranks of the tested segment */
	unsigned n;
};

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static unsigned count_below(const double *sorted, unsigned n, double value, bool or_equal)
{
	unsigned low = 0;

	while (n) {
		const unsigned half = n / 2;
		const bool after = sorted[low + half] < value || (or_equal && sorted[low + half] <= value);

		low += after ? half + 1 : 0;
		n = after ? n - half - 1 : half;
	}
	return low;
}

/* Equal values share the mean of their ranks. */
static void rank(struct series *s, unsigned from, unsigned to)
{
	double sorted[LEVEL_STRETCHES];
	const unsigned n = to - from;

	memcpy(sorted, s->value + from, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	s->sum[from] = 0;
	for (unsigned i = from; i < to; i++) {
		s->rank[i] = (count_below(sorted, n, s->value[i], false) + count_below(sorted, n, s->value[i], true)) /
			     2.0;
		s->sum[i + 1] = s->sum[i] + s->rank[i];
	}
}

static double cusum(const struct series *s, unsigned from, unsigned at, unsigned to)
{
	return s->sum[at] - s->sum[from] - (s->sum[to] - s->sum[from]) * (at - from) / (to - from);
}

/* The position of the step between two levels that fits the ranks best. */
static unsigned date(const struct series *s, unsigned from, unsigned to)
{
	unsigned best = from + EDGE;
	double most = -1;

	for (unsigned at = from + EDGE; at + EDGE <= to; at++) {
		const double c = cusum(s, from, at, to), fit = c * c / ((double)(at - from) * (to - at));

		if (fit > most) {
			most = fit;
			best = at;
		}
	}
	return best;
}

static double mean_of(const struct series *s, unsigned from, unsigned to)
{
	return (s->sum[to] - s->sum[from]) / (to - from);
}

/* The square of the difference of both sides, in units of its variance. */
static double statistic(const struct series *s, unsigned from, unsigned at, unsigned to)
{
	const double left = mean_of(s, from, at), right = mean_of(s, at, to), n = to - from;
	double squares = 0, products = 0, before = 0, rho, variance;

	for (unsigned i = from; i < to; i++) {
		const double off = s->rank[i] - (i < at ? left : right);

		squares += off * off;
		products += i > from && i != at ? off * before : 0;
		before = off;
	}
	if (squares <= 0)
		return left < right || left > right ? INFINITY : 0;
	/* Residuals of two fitted means are less correlated than the noise (Kendall 1954). */
	rho = products / squares;
	rho += (1 + 4 * rho) / n;
	rho = rho < 0 ? 0 : rho > 0.95 ? 0.95 : rho;
	variance = squares / (n - 2) * (1 + rho) / (1 - rho) * (1.0 / (at - from) + 1.0 / (to - at));
	return (left - right) * (left - right) / variance;
}

/* The value that at most 0.5 % of the steady runs of n seconds exceed: 1 % with two metrics. From 20,000 simulated runs
 * for each n with an autocorrelation of 0.7, the worst case of 0 to 0.7, plus 5 %. */
static double critical(unsigned n)
{
	static const struct {
		double n, limit;
	} table[] = { { 20, 52 }, { 30, 52 }, { 40, 46 }, { 60, 37 }, { 90, 29 }, { 120, 26 }, { 180, 22 },
		      { 240, 20.5 }, { 300, 20 }, { 512, 18.5 } };
	size_t i = 1;

	while (i + 1 < sizeof(table) / sizeof(table[0]) && table[i].n < n)
		i++;
	return table[i - 1].limit + (table[i].limit - table[i - 1].limit) * (n - table[i - 1].n) /
					    (table[i].n - table[i - 1].n);
}

static double residual(const struct series *s, unsigned from, unsigned to)
{
	const double mean = mean_of(s, from, to);
	double squares = 0;

	for (unsigned i = from; i < to; i++)
		squares += (s->rank[i] - mean) * (s->rank[i] - mean);
	return squares;
}

static double residual_of_step(const struct series *s, unsigned from, unsigned to)
{
	const unsigned at = date(s, from, to);

	return to - from < 2 * EDGE ? residual(s, from, to) : residual(s, from, at) + residual(s, at, to);
}

static double residual_of_line(const struct series *s, unsigned from, unsigned to)
{
	const double n = to - from, mean = (s->sum[to] - s->sum[from]) / n, middle = from + (n - 1) / 2;
	double xy = 0, xx = 0, yy = 0;

	for (unsigned i = from; i < to; i++) {
		const double x = i - middle, y = s->rank[i] - mean;

		xy += x * y;
		xx += x * x;
		yy += y * y;
	}
	return yy - xy * xy / xx;
}

/* A drift has no time of change: a line fits better than one or two steps. */
static bool is_drift(const struct series *s, unsigned from, unsigned at, unsigned to)
{
	const double left = residual(s, from, at), right = residual(s, at, to), line = residual_of_line(s, from, to);

	return line < left + right && line < residual_of_step(s, from, at) + right &&
	       line < left + residual_of_step(s, at, to);
}

static double median_of(const struct series *s, unsigned from, unsigned to)
{
	double sorted[LEVEL_STRETCHES];

	memcpy(sorted, s->value + from, (to - from) * sizeof(*sorted));
	qsort(sorted, to - from, sizeof(*sorted), compare_doubles);
	return (sorted[(to - from) / 2] + sorted[(to - from - 1) / 2]) / 2;
}

static bool differs_enough(const struct series *s, unsigned from, unsigned at, unsigned to)
{
	const double before = median_of(s, from, at), now = median_of(s, at, to);

	return fabs(now - before) >= LEAST_SHARE * fmin(fabs(before), fabs(now)) && fabs(now - before) >= 1;
}

/* ---- All changes ------------------------------------------------------------------------------------------------- */

/* Adds the changes between two stretches, in order of time. */
static void split(struct series *s, unsigned from, unsigned to, unsigned at[CHANGES_EACH], unsigned *changes)
{
	unsigned middle;

	if (to - from < STEADINESS_SECONDS || *changes == CHANGES_EACH)
		return;
	rank(s, from, to);
	middle = date(s, from, to);
	if (statistic(s, from, middle, to) <= critical(to - from) ||
	    is_drift(s, from, middle, to) ||
	    !differs_enough(s, from, middle, to))
		return;
	split(s, from, middle, at, changes);
	if (*changes == CHANGES_EACH)
		return;
	at[(*changes)++] = middle;
	split(s, middle, to, at, changes);
}

static void find(struct level_changes *to, const struct levels *l, struct series *s, bool is_p99)
{
	unsigned at[CHANGES_EACH], changes = 0;

	for (s->n = 0; s->n < l->stretches; s->n++) {
		const struct level_stretch *one = &l->stretch[s->n];

		s->value[s->n] = (is_p99 ? one->p99_ns : one->median_ns) / one->seconds;
	}
	/* The last stretch may have fewer seconds, and therefore another variance. */
	if (s->n && l->stretch[s->n - 1].seconds < l->seconds_each)
		s->n--;
	split(s, 0, s->n, at, &changes);
	for (unsigned i = 0; i < changes; i++) {
		const unsigned from = i ? at[i - 1] : 0, end = i + 1 < changes ? at[i + 1] : s->n;

		to->change[to->count++] = (struct level_change){
			.is_p99 = is_p99, .after_ns = l->stretch[at[i]].from_ns,
			.before_ns = llround(median_of(s, from, at[i])), .now_ns = llround(median_of(s, at[i], end))
		};
	}
}

/* Only the beginning differs: no metric changes twice, and none after the first quarter. */
static void note_settled(struct level_changes *c, const struct levels *l)
{
	const int64_t most_ns = l->stretch[l->stretches / 4].from_ns;
	int64_t last_ns = 0;

	for (unsigned i = 0; i < c->count; i++) {
		const struct level_change *one = &c->change[i];

		if (one->after_ns > most_ns || (i && one->is_p99 == one[-1].is_p99))
			return;
		last_ns = one->after_ns > last_ns ? one->after_ns : last_ns;
	}
	c->settled_ns = last_ns;
	for (unsigned i = 0; i < l->stretches && l->stretch[i].from_ns < last_ns; i++)
		c->settled_samples += l->stretch[i].samples;
}

void steadiness_find(struct level_changes *to, const struct levels *l)
{
	static struct series s;

	*to = (struct level_changes){ .count = 0 };
	if (l->of_several || l->stretches < STEADINESS_SECONDS || 10 * l->silent >= l->seconds)
		return;
	to->is_judged = true;
	to->stretch_ns = l->seconds_each * NS_PER_S;
	find(to, l, &s, false);
	if (!l->no_p99)
		find(to, l, &s, true);
	if (to->count)
		note_settled(to, l);
}

/* ---- Changes of the machine at the same time ---------------------------------------------------------------------- */

/* A level change lies between two stretches, and a change of the machine is seen up to a second late. */
static bool is_then(const struct level_changes *c, const struct level_change *one, int64_t start_ns, int64_t at_ns)
{
	const int64_t by_ns = at_ns - start_ns - one->after_ns;

	return by_ns >= -c->stretch_ns - NS_PER_S && by_ns <= c->stretch_ns + NS_PER_S;
}

static void add_with(struct level_change *one, const char *text)
{
	text_add(one->with, sizeof(one->with), "%s%s", *one->with ? "; " : "", text);
}

void steadiness_explain(struct level_changes *to, const struct result_changes *machine,
			const struct result_clocks *clocks, int64_t start_ns)
{
	static const char *const clock_names[] = { [CLOCK_OF_NIC] = "clock of the NIC set",
						   [CLOCK_OF_SYSTEM] = "CLOCK_REALTIME set" };

	for (unsigned i = 0; i < to->count; i++) {
		struct level_change *one = &to->change[i];

		for (unsigned k = 0; k < machine->count && k < MACHINE_CHANGES_KEPT; k++)
			if (is_then(to, one, start_ns, machine->kept[k].at_ns))
				add_with(one, machine->kept[k].text);
		for (uint32_t k = 0; k < clocks->steps_kept; k++)
			if (is_then(to, one, start_ns, clocks->step[k].mono_ns[1]))
				add_with(one, clock_names[clocks->step[k].which]);
	}
}

void steadiness_say(char *text, size_t bytes, const struct level_changes *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct level_change *one = &c->change[i];

		text_add(text, bytes, "%s%s %.2f to %.2f us after %" PRId64 " s", i ? ", " : "",
			 one->is_p99 ? "p99" : "p50", (double)one->before_ns / 1000, (double)one->now_ns / 1000,
			 (int64_t)(one->after_ns / NS_PER_S));
		/* Once for p50 and p99 that change together. */
		if (*one->with && (!i || strcmp(one->with, one[-1].with)))
			text_add(text, bytes, " (then: %s)", one->with);
	}
	if (c->settled_ns)
		text_add(text, bytes, "; only the beginning differs: --warmup %" PRIu64, c->settled_samples);
}

enum verdict_outcome verdict_look_steadiness(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct level_changes *c = &f->result->level_changes;

	if (!c->is_judged)
		return NOT_ASKED;
	found->number = c->count;
	steadiness_say(found->text, sizeof(found->text), c);
	return JUDGED;
}
