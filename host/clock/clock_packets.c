// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of the offset of a NIC's clock, from the timestamps of packets. */
#include "host/clock/clock_packets.h"

#include "host/clock/clock_inside.h"

/* Drift at FREE_PPB, which two exchanges far apart allow for until the rate is measured. */
#define FREE_SHIFT 10

static int64_t begin_of(const struct clock_exchange *e)
{
	return smaller(e->sent_ns, e->received_ns);
}

static int64_t end_of(const struct clock_exchange *e)
{
	return larger(e->sent_ns, e->received_ns);
}

static int64_t most_of(const struct clock_exchange *e)
{
	return difference(e->sent_phc_ns, e->sent_ns);
}

static int64_t least_of(const struct clock_exchange *e)
{
	return difference(e->received_phc_ns, e->received_ns);
}

/* ---- The loop (hot) ---------------------------------------------------------------------------------------------- */

static void note_pair(struct clock_packets *p, const struct clock_exchange *e)
{
	const int64_t most_ns = larger(most_of(&p->before), most_of(e));
	const int64_t least_ns = smaller(least_of(&p->before), least_of(e));
	const int64_t width_ns = sum_of_bounds(difference(most_ns, least_ns),
					       difference(end_of(e), begin_of(&p->before)) >> FREE_SHIFT);
	const uint32_t sequence = atomic_load_explicit(&p->sequence, memory_order_relaxed);

	if (sequence != atomic_load_explicit(&p->taken, memory_order_relaxed) && width_ns >= p->best_ns)
		return;
	p->best_ns = width_ns;
	atomic_store_explicit(&p->sequence, sequence + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (int i = 0; i < 2; i++) {
		const struct clock_exchange *from = i ? e : &p->before;

		atomic_store_explicit(&p->best[i][0], from->sent_ns, memory_order_relaxed);
		atomic_store_explicit(&p->best[i][1], from->sent_phc_ns, memory_order_relaxed);
		atomic_store_explicit(&p->best[i][2], from->received_phc_ns, memory_order_relaxed);
		atomic_store_explicit(&p->best[i][3], from->received_ns, memory_order_relaxed);
	}
	atomic_store_explicit(&p->sequence, sequence + 2, memory_order_release);
}

void clock_packets_note(struct clock_packets *p, const struct clock_exchange *e)
{
	if (most_of(e) < least_of(e)) {
		counter_add(&p->contradictions, 1);
		p->has_before = false;
		return;
	}
	if (p->has_before && begin_of(e) > end_of(&p->before))
		note_pair(p, e);
	else if (p->has_before && begin_of(e) >= begin_of(&p->before))
		return; /* with several packets in flight: overlaps it */
	p->before = *e;
	p->has_before = true;
}

/* ---- Housekeeping ------------------------------------------------------------------------------------------------ */

/* False: no pair since, or the loop writes one at this time. */
static bool copy_best(struct clock_packets *p, struct clock_exchange_pair *to)
{
	const uint32_t sequence = atomic_load_explicit(&p->sequence, memory_order_acquire);

	if (sequence == atomic_load_explicit(&p->taken, memory_order_relaxed) || sequence & 1)
		return false;
	for (int i = 0; i < 2; i++)
		to->of[i] = (struct clock_exchange){
			.sent_ns = atomic_load_explicit(&p->best[i][0], memory_order_relaxed),
			.sent_phc_ns = atomic_load_explicit(&p->best[i][1], memory_order_relaxed),
			.received_phc_ns = atomic_load_explicit(&p->best[i][2], memory_order_relaxed),
			.received_ns = atomic_load_explicit(&p->best[i][3], memory_order_relaxed),
		};
	atomic_thread_fence(memory_order_acquire);
	if (sequence != atomic_load_explicit(&p->sequence, memory_order_relaxed))
		return false;
	atomic_store_explicit(&p->taken, sequence, memory_order_relaxed);
	return true;
}

bool clock_packets_take(struct clock_packets *p, struct clock_exchange_pair *to)
{
	bool whole = false;

	/* The loop may write another pair during a copy. */
	for (int i = 0; i < TRIES && !whole; i++)
		whole = copy_best(p, to);
	return whole;
}

/* The change of the offset over a time, and with `bound_ns` its uncertainty. */
static int64_t moved(int64_t ns, double ppb, double bound_ppb, int64_t *bound_ns)
{
	const double by_ns = (double)ns * (ppb / NS_PER_S);

	*bound_ns = over(absolute(ns), bound_ppb < 9e18 ? (int64_t)bound_ppb + 1 : INT64_MAX);
	return by_ns < (double)ABSURD_NS && by_ns > -(double)ABSURD_NS ? (int64_t)by_ns : 0;
}

bool clock_packets_relation(const struct clock_exchange_pair *pair, double ppb, double bound_ppb,
			    int64_t granularity_ns, struct clock_relation *to)
{
	const int64_t at_ns = end_of(&pair->of[0]);
	const double size_ppb = (ppb < 0 ? -ppb : ppb) + bound_ppb;
	int64_t most_ns = INT64_MIN, least_ns = INT64_MAX, width_ns, half_ns, extra_ns;

	for (int i = 0; i < 2; i++) {
		const struct clock_exchange *e = &pair->of[i];
		int64_t bound_ns;
		const int64_t up_ns = moved(difference(at_ns, e->sent_ns), ppb, bound_ppb, &bound_ns);

		most_ns = larger(most_ns, sum_of_bounds(sum_of_bounds(most_of(e), up_ns), bound_ns));
		const int64_t down_ns = moved(difference(at_ns, e->received_ns), ppb, bound_ppb, &bound_ns);

		least_ns = smaller(least_ns, difference(sum_of_bounds(least_of(e), down_ns), bound_ns));
	}
	width_ns = difference(most_ns, least_ns);
	if (width_ns < 0 || width_ns > ABSURD_NS)
		return false;
	half_ns = width_ns / 2 + width_ns % 2;
	/* A limit is that of an unknown time, up to the width away from the system's time that it is counted at. */
	extra_ns = sum_of_bounds(over(width_ns, size_ppb < 9e18 ? (int64_t)size_ppb + 1 : INT64_MAX),
				 granularity_ns + CLOCK_PACKETS_STEP_NS + 1);
	*to = (struct clock_relation){ at_ns, difference(most_ns, half_ns), sum_of_bounds(half_ns, extra_ns) };
	return true;
}
