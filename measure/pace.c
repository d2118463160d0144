// SPDX-License-Identifier: GPL-2.0-or-later
/* Schedule of probes. */
#include "measure/pace.h"

#include <time.h>

#define SLEEP_MOST_NS (50 * NS_PER_MS)
#define MARGIN_FIRST_NS (100 * NS_PER_US)
#define MARGIN_MOST_NS (2 * NS_PER_MS)

/* 0 <= r < 1, in steps of 2^-53. */
static double draw_part(struct pace *p)
{
	return (double)(random_next(&p->random) >> 11) * 0x1p-53;
}

/*
 * Exponential distribution with mean 1, by von Neumann's method ("Various techniques used in connection
 * with random digits", 1951): the first of a falling run is taken if the run has an odd number of draws. No
 * logarithm: the loop does not call libm, whose code is not locked in memory.
 */
static double draw_exponential(struct pace *p)
{
	for (unsigned whole = 0;; whole++) {
		const double first = draw_part(p);
		double last = first, next = draw_part(p);
		bool odd = true;

		for (; next < last; odd = !odd) {
			last = next;
			next = draw_part(p);
		}
		if (odd)
			return whole + first;
	}
}

/* Scheduled time of the slot's probe; p->slot_ns is then the begin of the slot after it. */
static int64_t next_due(struct pace *p)
{
	const int64_t slot_ns = p->slot_ns;

	if (p->poisson) {
		p->slot_ns += (int64_t)(draw_exponential(p) * (double)p->interval_ns + 0.5);
		return slot_ns;
	}
	p->slot_ns += p->interval_ns;
	return p->jitter_percent ? slot_ns + (int64_t)(draw_part(p) * (double)p->jitter_percent / 100 *
						       (double)p->interval_ns) : slot_ns;
}

void pace_begin(struct pace *p, int64_t now_ns)
{
	p->slot_ns = now_ns;
	p->due_ns = next_due(p);
	p->after_ns = next_due(p);
	p->margin_ns = MARGIN_FIRST_NS;
}

static void step(struct pace *p)
{
	counter_add(&p->slots, 1);
	p->due_ns = p->after_ns;
	p->after_ns = next_due(p);
}

void pace_pass(struct pace *p, int64_t now_ns)
{
	while (p->after_ns <= now_ns) {
		step(p);
		counter_add(&p->missed, 1);
	}
}

int64_t pace_take(struct pace *p, int64_t now_ns)
{
	int64_t due_ns;

	pace_pass(p, now_ns);
	due_ns = p->due_ns;
	step(p);
	return due_ns;
}

bool pace_sleep(struct pace *p, bool hybrid, int64_t now_ns, int64_t end_ns)
{
	const int64_t margin_ns = hybrid ? p->margin_ns : 0;
	int64_t until_ns = p->due_ns - margin_ns, late_ns;

	if (until_ns <= now_ns)
		return false;
	if (until_ns > end_ns)
		until_ns = end_ns;
	if (until_ns - now_ns > SLEEP_MOST_NS)
		until_ns = now_ns + SLEEP_MOST_NS;

	p->slept_until_ns = until_ns;

	const struct timespec until = { .tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S };

	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		return true; /* interrupted by a signal */
	late_ns = clock_read_ns(CLOCK_MONOTONIC) - until_ns;
	late_ns += late_ns / 2;
	p->margin_ns -= p->margin_ns / 64;
	if (late_ns > p->margin_ns)
		p->margin_ns = late_ns < MARGIN_MOST_NS ? late_ns : MARGIN_MOST_NS;
	return true;
}
