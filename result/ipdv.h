/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IPDV (hot): the absolute difference of the delays of two probes with consecutive sequence numbers (RFC 3393 section
 * 2.4). A lost probe has no IPDV, neither with the probe before it nor with the probe after it.
 *
 * In the IPDV of one direction the offset of the two clocks cancels out, as far as their frequencies are equal, so
 * it is known even if one-way delays are not.
 */
#ifndef RESULT_IPDV_H
#define RESULT_IPDV_H

#include "rant.h"

/* A difference of delays is below 2^40 ns, because --timeout is at most a minute. */
#define IPDV_BITS 40
/* A bucket is 1/32 of a power of two wide, or 1 ns: its middle is within 1/64 of its values. */
#define IPDV_FINE_BITS 5
#define IPDV_FINE (1U << IPDV_FINE_BITS)
#define IPDV_BUCKETS ((IPDV_BITS - IPDV_FINE_BITS + 1) << IPDV_FINE_BITS)

enum ipdv_of { IPDV_RTT, IPDV_FORWARD, IPDV_BACKWARD, IPDV_RESPONSE, IPDV_NETWORK,
		    IPDV_METRICS };

/* Initially all zeros. */
struct ipdv_metric {
	int64_t delay_ns; /* of the last probe */
	uint32_t seq; /* of the last probe */
	uint8_t kind; /* kind of the last delay; 0: none */
	uint64_t count; /* differences in the members below */
	uint64_t beyond; /* differences of 2^IPDV_BITS ns and more, in no other member */
	uint64_t min_ns, max_ns;
	unsigned __int128 sum, sum_of_squares; /* exact: 2^48 squares of 40 bits fit */
	/* Samples of a bucket = carry * 256 + low, as in a histogram. */
	uint32_t carry[IPDV_BUCKETS];
	uint8_t low[IPDV_BUCKETS];
};

/* REPORTED_SEND has no IPDV here, because IPDV_FORWARD needs no T3. */
enum reported_of { REPORTED_RESPONSE, REPORTED_NETWORK, REPORTED_RECEIVE, REPORTED_VARIATIONS,
	REPORTED_SEND = REPORTED_VARIATIONS, REPORTED_DELAYS };

/*
 * Delays and IPDV by T2 and T3 in the reply itself, for replies whose T3 on the wire is not known. That T3 is read by
 * the reflector's program before it sends, so these values are kept apart from those by timestamps.
 */
struct reported {
	struct ipdv_metric delay[REPORTED_DELAYS]; /* delays */
	struct ipdv_metric varies[REPORTED_VARIATIONS]; /* IPDV */
	uint64_t negative[REPORTED_DELAYS]; /* delays below 0, not in delay[] */
	uint64_t two_clocks; /* samples whose reply reports T2 and T3 of two clocks, in no other member */
	uint64_t no_part; /* samples whose T3 - T2 does not fit into the round trip, in no other member */
	int64_t bound_ns[2]; /* error of the clock offset between the two hosts: the largest and the last */
};

/* During the run. All zeros to begin with. */
struct ipdv {
	struct ipdv_metric of[IPDV_METRICS];
	struct reported reported;
	/* samples near a clock step or with a doubtful clock: in IPDV_RTT only */
	uint64_t left_out;
};

/* Figures of an ipdv_metric for reports. All zeros: no value. */
struct ipdv_figures {
	uint64_t count, beyond; /* values in the members below; values of 2^IPDV_BITS ns and more, in none of them */
	uint64_t min_ns, p50_ns, p99_ns, max_ns; /* percentiles by ipdv_percentile() */
	double mean_ns, deviation_ns;
};

/* The figures of struct reported, and its counts. */
struct reported_figures {
	struct ipdv_figures delay[REPORTED_DELAYS], varies[REPORTED_VARIATIONS];
	uint64_t negative[REPORTED_DELAYS], two_clocks, no_part;
	int64_t bound_ns[2];
};

/* All zeros: none. */
struct result_ipdv {
	struct ipdv_figures of[IPDV_METRICS]; /* of a reflector only IPDV_RESPONSE, within each session */
	struct reported_figures reported;
	uint64_t left_out; /* as in struct ipdv */
};

/* Counts a difference. A figure without ipdv_add() can count values of any kind. */
INLINE void ipdv_count(struct ipdv_metric *f, uint64_t ns)
{
	unsigned shift, i;

	if (ns >> IPDV_BITS) {
		f->beyond++;
		return;
	}
	/* Exact below 2 * IPDV_FINE; above it the leading bits select the bucket. */
	shift = 63 - IPDV_FINE_BITS - (unsigned)__builtin_clzll(ns | IPDV_FINE);
	i = (shift << IPDV_FINE_BITS) + (unsigned)(ns >> shift);
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

/* Adds the delay of packet seq, in the order in which delays become known. kind: not 0; delays of different kinds are
 * not compared. */
INLINE void ipdv_add(struct ipdv_metric *f, int64_t delay_ns, uint32_t seq, uint8_t kind)
{
	int64_t by_ns;

	if (seq - f->seq == 1 && f->kind == kind) {
		if (__builtin_sub_overflow(delay_ns, f->delay_ns, &by_ns))
			f->beyond++;
		else
			ipdv_count(f, by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns);
	}
	f->delay_ns = delay_ns;
	f->seq = seq;
	f->kind = kind;
}

/* Smallest difference with at least numerator/denominator of all at or below it (nearest rank), within 1/64 of it.
 * Needs 0 < count and count * numerator < 2^64. */
uint64_t ipdv_percentile(const struct ipdv_metric *f, uint64_t numerator, uint64_t denominator);

void ipdv_figures(struct ipdv_figures *to, const struct ipdv_metric *from);

/* After the run. */
void ipdv_result(struct result_ipdv *to, const struct ipdv *from);

#endif
