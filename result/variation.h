/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the delays of consecutive probes differ (hot): RFC 3393 with the selection of section 2.5 that takes each pair of
 * consecutive sequence numbers, without the sign. A number that is missing has no difference, neither to the one before
 * nor to the one after.
 *
 * For one way the difference of two clocks cancels out, as far as both run at one rate: so these are known also where
 * the delays are not.
 */
#ifndef RESULT_VARIATION_H
#define RESULT_VARIATION_H

#include "rant.h"

/* Beyond 2^40 ns is no difference of delays: --timeout is at most a minute. */
#define VARIATION_BITS 40
/* A bucket is a 32nd of a power of two, or 1 ns: its middle is within 1/64 of all that is in it. */
#define VARIATION_FINE_BITS 5
#define VARIATION_FINE (1U << VARIATION_FINE_BITS)
#define VARIATION_BUCKETS ((VARIATION_BITS - VARIATION_FINE_BITS + 1) << VARIATION_FINE_BITS)

enum variation_of { VARIATION_RTT, VARIATION_FORWARD, VARIATION_BACKWARD, VARIATION_RESPONSE, VARIATION_NETWORK,
		    VARIATIONS };

/* All zeros to begin with. */
struct variation_figure {
	int64_t delay_ns; /* of the last one */
	uint32_t seq;
	uint8_t kind; /* 0: there is none */
	uint64_t count; /* of differences, as all that follows */
	uint64_t beyond; /* of VARIATION_BITS: in nothing else here */
	uint64_t min_ns, max_ns;
	unsigned __int128 sum, sum_of_squares; /* exact: 2^48 squares of 40 bits fit */
	/* count = carry * 256 + low, as in a histogram. */
	uint32_t carry[VARIATION_BUCKETS];
	uint8_t low[VARIATION_BUCKETS];
};

/* The last one's variation is VARIATION_FORWARD: it needs no T3. */
enum told_of { TOLD_RESPONSE, TOLD_NETWORK, TOLD_RECEIVE, TOLD_VARIATIONS, TOLD_SEND = TOLD_VARIATIONS, TOLDS };

/*
 * Of replies whose T3 on the wire is not known: the delays, and how they vary, by T2 and T3 in the reply itself. That
 * T3 is a time of the reflector's program, read before the reply was sent, so these are never among those by stamps.
 */
struct told {
	struct variation_figure delay[TOLDS]; /* the delays themselves */
	struct variation_figure varies[TOLD_VARIATIONS];
	uint64_t negative[TOLDS]; /* delays below 0: not in delay[] */
	uint64_t two_clocks; /* samples whose reply tells that T2 and T3 are of two: in nothing else here */
	uint64_t no_part; /* whose T3 - T2 is no part of the round trip: in nothing else here */
	int64_t bound_ns[2]; /* of the offset between the two hosts' clocks, in both ways: the largest, and the last */
};

/* All zeros to begin with. */
struct variation {
	struct variation_figure of[VARIATIONS];
	struct told told;
	/* samples whose ways were known, around a clock that was set or is in doubt: in no figure but that of the round
	 * trip */
	uint64_t left_out;
};

/* Counts a difference; or, in a figure of its own, anything whose distribution is wanted. */
INLINE void variation_count(struct variation_figure *f, uint64_t ns)
{
	unsigned shift, i;

	if (ns >> VARIATION_BITS) {
		f->beyond++;
		return;
	}
	/* Below 2 * VARIATION_FINE all the digits count; of others the first ones. */
	shift = 63 - VARIATION_FINE_BITS - (unsigned)__builtin_clzll(ns | VARIATION_FINE);
	i = (shift << VARIATION_FINE_BITS) + (unsigned)(ns >> shift);
	if (++f->low[i] == 0)
		f->carry[i]++;
	if (ns < f->min_ns || !f->count)
		f->min_ns = ns;
	if (ns > f->max_ns)
		f->max_ns = ns;
	f->count++;
	f->sum += ns;
	f->sum_of_squares += (unsigned __int128)ns * ns;
}

/* The delay of packet seq, in the order in which they are known. kind: not 0; delays of different kinds are not
 * compared. */
INLINE void variation_add(struct variation_figure *f, int64_t delay_ns, uint32_t seq, uint8_t kind)
{
	int64_t by_ns;

	if (seq - f->seq == 1 && f->kind == kind) {
		if (__builtin_sub_overflow(delay_ns, f->delay_ns, &by_ns))
			f->beyond++;
		else
			variation_count(f, by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns);
	}
	f->delay_ns = delay_ns;
	f->seq = seq;
	f->kind = kind;
}

/* Smallest difference with at least numerator/denominator of all at or below it (nearest rank), within 1/64 of it.
 * Needs 0 < count and count * numerator < 2^64. */
uint64_t variation_percentile(const struct variation_figure *f, uint64_t numerator, uint64_t denominator);

#endif
