/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the delays of consecutive probes differ (hot): RFC 3393 with the selection of section 2.5 that takes each pair of consecutive
 * sequence numbers, without the sign. A number that is missing has no difference, neither to the one before nor to the one after.
 *
 * For one way the difference of two clocks cancels out, as far as both run at one rate: so these are known also where the delays
 * are not.
 */
#ifndef MEASURE_VARIATION_H
#define MEASURE_VARIATION_H

#include "rant.h"

struct exchange;
struct flight;

/* Beyond 2^40 ns is no difference of delays: --timeout is at most a minute. */
#define VARIATION_BITS 40
/* A bucket is a 32nd of a power of two, or 1 ns: its middle is within 1/64 of all that is in it. */
#define VARIATION_FINE_BITS 5
#define VARIATION_BUCKETS ((VARIATION_BITS - VARIATION_FINE_BITS + 1) << VARIATION_FINE_BITS)

enum variation_of { VARIATION_RTT, VARIATION_FORWARD, VARIATION_BACKWARD, VARIATION_RESPONSE, VARIATION_NETWORK, VARIATIONS };

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
 * Of replies whose T3 on the wire is not known: the delays, and how they vary, by T2 and T3 in the reply itself. That T3 is a time of the
 * reflector's program, read before the reply was sent, so these are never among those by stamps.
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
	uint64_t left_out; /* samples whose ways were known, around a clock that was set or is in doubt: in no figure but that of the round trip */
	uint64_t doubted; /* as account.doubted was last seen, */
	int64_t set_ns; /* and exchange.set_ns */
	bool disturbed; /* one of them had changed */
};

/* The delay of packet seq, in the order in which they are known. kind: not 0; delays of different kinds are not compared. */
void variation_add(struct variation_figure *f, int64_t delay_ns, uint32_t seq, uint8_t kind);

/* Reflector: takes an answer that was recorded, once: by how much its response differs from that of the request before it of the same
 * session. */
void variation_note_answer(struct exchange *x, const struct flight *f);

/* Counts a difference; or, in a figure of its own, anything whose distribution is wanted. */
void variation_count(struct variation_figure *f, uint64_t ns);

/* Takes a sample that was recorded, once: its latency; and of its ways, its response and its network what is known and obeys the rules
 * of measure/rules.h. True: its response is one that only the reflector's program tells. */
bool variation_note(struct exchange *x, const struct sample *s);

/* Of such a sample both ways, by the offset of the reflector's clock at T1 and at T4, which is known within bound_ns. */
void variation_tell_ways(struct exchange *x, const struct sample *s, const int64_t offset_ns[2], int64_t bound_ns);

/* Smallest difference with at least numerator/denominator of all at or below it (nearest rank), within 1/64 of it. Needs
 * 0 < count and count * numerator < 2^64. */
uint64_t variation_percentile(const struct variation_figure *f, uint64_t numerator, uint64_t denominator);

#endif
