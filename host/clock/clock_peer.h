/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The other host's clock, by the four times of exchanges. Each exchange bounds its difference from ours: what arrives
 * has left before, so that the difference is at most T2 - T1 and at least T3 - T4. What no steady pair of clocks
 * explains is an event.
 */
#ifndef HOST_CLOCK_CLOCK_PEER_H
#define HOST_CLOCK_CLOCK_PEER_H

#include "host/clock/clock.h"

#define PEER_EVENTS_KEPT 16
#define PEER_ROWS 16 /* exchanges that are looked back at, a power of two */

/* Of the difference: the most or the least that it can be, at a moment of our clock. */
struct clock_peer_edge {
	bool known;
	int64_t at_ns, offset_ns;
};

enum clock_peer_kind { PEER_JUMPED, PEER_STOOD, PEER_WRONG_RATE, PEER_KINDS };

/* From the last exchange that agreed with those before to the first one that all later ones agree with. */
struct clock_peer_event {
	enum clock_peer_kind kind;
	uint32_t seq[2]; /* it lies between these packets */
	int64_t mono_ns[2]; /* and moments of CLOCK_MONOTONIC */
	uint64_t conflicts; /* with what was known right before */
	uint64_t stills; /* exchanges that found it where the one before had */
	int64_t stood_ns; /* the clock did not move for so long at least */
	int64_t agreed_ns; /* as clock_peer.agreed_ns, within the event */
	/* both, of the last exchange before it, or of the first one after it if these took less: a step in one is in
	 * its ways */
	int64_t ways_ns;
	bool has_before; /* there was an exchange that agreed with others */
	struct clock_relation before, after; /* the difference */
	struct clock_relation first; /* that a rate is told from: before, or else at the first conflict; rough */
	struct clock_relation last; /* at the last conflict; rough */
};

/* Which exchange, and when: of CLOCK_MONOTONIC. */
struct clock_peer_moment {
	uint32_t seq;
	int64_t mono_ns;
};

/* What exchanges that agree with each other tell of the difference. */
struct clock_peer_belief {
	struct clock_peer_edge floor, ceiling; /* the tightest, by what clocks may part since */
	double slowest, fastest; /* that the difference may change, ns per ns */
	struct clock_relation anchor; /* an earlier exchange, that the rate is measured from */
	struct clock_relation first, last, window; /* the best of the first, the last whole and the present second */
	int64_t since_ns; /* T1 at the begin of the present second */
	bool has_anchor, has_first, has_last, has_window;
};

/* The reflector's clock minus the emitter's. All zeros to begin with. */
struct clock_peer {
	struct clock_peer_belief belief;
	struct clock_peer_belief before; /* the event, to which single wrong stamps come back */
	struct clock_relation latest; /* of the last exchange with all four times */
	bool has_there;
	uint64_t exchanges; /* that agreed */
	uint64_t refused; /* with times beyond 64 bits */

	bool there_as_before; /* T1 and T2 of the present exchange agree with what was believed before the event */
	uint64_t outliers; /* how often exchanges contradicted what those after them agree with again */
	uint64_t conflicts; /* exchanges that contradicted those before them */
	int64_t conflict_ns; /* when the last one did, CLOCK_MONOTONIC */
	int64_t gap_ns; /* the longest from one exchange to the next since then */
	int64_t agreed_ns; /* the longest time from one to the next in which exchanges agreed */
	unsigned unsettled; /* so many exchanges must still agree; 0: what is told is believed */
	bool in_event;
	struct clock_peer_event event[PEER_EVENTS_KEPT];
	uint64_t events; /* begun; those beyond the room are not in event[], */
	uint64_t jumps, stands, wrong_rates; /* but here, when they are over */
	struct clock_peer_event spare;

	/* The last exchanges, to tell since when a conflict may be. */
	struct clock_peer_row {
		struct clock_peer_edge floor, ceiling;
		struct clock_peer_moment moment;
	} row[PEER_ROWS];
	uint64_t rows;
	int64_t t1_ns, t2_ns; /* of the last one */
	struct clock_peer_moment begun, now; /* the first one, the last one */
};

/* Hot. T1 and T2 of an exchange; its other two times come after, or never. False: they contradict what was known. */
bool clock_peer_there(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, const struct clock_peer_moment *moment);

/* Hot. T3 and T4 of the same exchange. False: they contradict what was known, or T1 and T2. */
bool clock_peer_back(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns);

/* After clock_peer_back() without T3: it was no part of the round trip, so this exchange agreed with nothing. */
void clock_peer_contradicts(struct clock_peer *p);

/*
 * Hot. T3 and T4 of one exchange beside T1 and T2 of another that began at about T4, where many are in flight: what is
 * told by those before it is as old as a round trip, in which the clocks may have parted by more than a step. T1 and T2
 * were told before. False: they contradict each other.
 */
bool clock_peer_pair(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns, int64_t t1_ns, int64_t t2_ns,
		     const struct clock_peer_moment *moment);

/* Hot. No event within the last exchanges: what agrees may be believed. */
static inline bool clock_peer_is_settled(const struct clock_peer *p)
{
	return !p->unsettled;
}

/* Hot. The reflector's clock minus the emitter's at at_ns of the latter, and how far off that may be. False: not
 * known. */
bool clock_peer_offset(const struct clock_peer *p, int64_t at_ns, int64_t *offset_ns, int64_t *bound_ns);

/* After the run, once: an event that is not over ends here. */
void clock_peer_finish(struct clock_peer *p);

/* False: nothing is known. The relation is the best of about the last two seconds, and is that of its moment, at_ns;
 * the rate is that of the reflector's clock against the emitter's, since the last event. */
bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate);

/* How fast the reflector's clock ran against ours during the event. */
double clock_peer_event_ppb(const struct clock_peer_event *e);

/* By how much the reflector's clock jumped against ours. False: only that it did is known, not by how much. */
bool clock_peer_event_size(const struct clock_peer_event *e, int64_t *size_ns, int64_t *bound_ns);

#endif
