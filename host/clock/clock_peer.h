/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offset of the reflector's clock, by the four timestamps of each exchange. A packet is received after it was sent, so
 * the offset is at most T2 - T1 and at least T3 - T4. Timestamps that no two steady clocks can produce are an event: a
 * step, a standstill or a frequency error.
 */
#ifndef HOST_CLOCK_CLOCK_PEER_H
#define HOST_CLOCK_CLOCK_PEER_H

#include "host/clock/clock.h"

#define PEER_EVENTS_KEPT 16
#define PEER_ROWS 16 /* last exchanges kept for dating a conflict; a power of two */

/* Upper or lower limit of the offset, at at_ns of the emitter's clock. */
struct clock_peer_edge {
	bool known;
	int64_t at_ns, offset_ns;
};

enum clock_peer_kind { PEER_JUMPED, PEER_STOOD, PEER_WRONG_RATE, PEER_KINDS };

/* A fault of a clock: from the last exchange that agrees with earlier exchanges to the first that agrees with all
 * later exchanges. */
struct clock_peer_event {
	enum clock_peer_kind kind;
	uint32_t seq[2]; /* the event lies between these packets */
	int64_t mono_ns[2]; /* the event lies between these times of CLOCK_MONOTONIC */
	uint64_t conflicts; /* exchanges that contradicted the exchanges before them */
	uint64_t stills; /* exchanges with the T2 of the previous exchange */
	int64_t stood_ns; /* least duration of the standstill */
	int64_t agreed_ns; /* as clock_peer.agreed_ns, within the event */
	/* sum of both one-way delays, of the last exchange before the event or the first after it, whichever is less: a
	 * step during an exchange changes its delays */
	int64_t directions_ns;
	bool has_before; /* `before` is valid */
	struct clock_relation before, after; /* offset before and after the event */
	struct clock_relation first; /* start for the rate: `before`, or else the first conflict; a rough value */
	struct clock_relation last; /* end for the rate: the last conflict; a rough value */
};

/* An exchange: its sequence number and its time of CLOCK_MONOTONIC. */
struct clock_peer_moment {
	uint32_t seq;
	int64_t mono_ns;
};

/* Limits of the offset by exchanges that agree with each other. */
struct clock_peer_belief {
	struct clock_peer_edge floor, ceiling; /* tightest limits, allowing for the drift since they were set */
	double slowest, fastest; /* limits of the rate of the offset, ns per ns */
	struct clock_relation anchor; /* start for the measurement of the rate */
	struct clock_relation first, last, window; /* best of the first, the last complete, and the present second */
	int64_t since_ns; /* T1 at the start of the present second */
	bool has_anchor, has_first, has_last, has_window;
};

/* State of the offset: reflector's clock minus emitter's clock. Initialise with zeros. */
struct clock_peer {
	struct clock_peer_belief belief;
	struct clock_peer_belief before; /* limits before the event, restored if only single timestamps were wrong */
	struct clock_relation latest; /* of the last exchange with all four timestamps */
	bool has_remote; /* at least one exchange had T1 and T2 */
	uint64_t exchanges; /* number of exchanges that agreed */
	uint64_t refused; /* number of exchanges whose differences exceed 64 bits */

	bool there_as_before; /* T1 and T2 of the present exchange agree with `before` */
	uint64_t outliers; /* number of conflicts that later exchanges proved to be single wrong timestamps */
	uint64_t conflicts; /* number of exchanges that contradicted the exchanges before them */
	int64_t conflict_ns; /* CLOCK_MONOTONIC, time of the last conflict */
	int64_t gap_ns; /* longest interval between two exchanges since the last conflict */
	int64_t agreed_ns; /* longest interval between two conflicts in which exchanges agreed */
	unsigned unsettled; /* number of exchanges that must still agree before the offset is valid; 0: valid */
	bool in_event;
	struct clock_peer_event event[PEER_EVENTS_KEPT];
	uint64_t events; /* number of events begun; may exceed the size of event[] */
	uint64_t jumps, stands, wrong_rates; /* numbers of events that are over, by kind */
	struct clock_peer_event spare; /* the present event when event[] is full */

	struct clock_peer_row { /* the last exchanges, from which the earliest beginning of a conflict is found */
		struct clock_peer_edge floor, ceiling;
		struct clock_peer_moment moment;
	} row[PEER_ROWS];
	uint64_t rows;
	int64_t t1_ns, t2_ns; /* of the last exchange */
	struct clock_peer_moment begun, now; /* first and last exchange */
};

/* Hot path. Adds T1 and T2 of an exchange; T3 and T4 follow, or never do. False: they contradict earlier exchanges. */
bool clock_peer_forward(struct clock_peer *p, int64_t t1_ns, int64_t t2_ns, const struct clock_peer_moment *moment);

/* Hot path. Adds T3 and T4 of the same exchange. False: they contradict earlier exchanges, or T1 and T2. */
bool clock_peer_backward(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns);

/* To be called after clock_peer_backward() if T3 is invalid (not within the round trip): the exchange counts as a
 * conflict. */
void clock_peer_contradicts(struct clock_peer *p);

/*
 * Hot path. Checks T3 and T4 of an exchange against T1 and T2 of another exchange that began at about T4, where many
 * probes are in flight: the limits by completed exchanges are then a round trip old, and drift over that time can hide
 * a step. T1 and T2 must have been added before. False: they contradict each other.
 */
bool clock_peer_pair(struct clock_peer *p, int64_t t3_ns, int64_t t4_ns, int64_t t1_ns, int64_t t2_ns,
		     const struct clock_peer_moment *moment);

/* Hot path. True if no event lies within the last exchanges: the offset is valid. */
static inline bool clock_peer_is_settled(const struct clock_peer *p)
{
	return !p->unsettled;
}

/* Hot path. Reflector's clock minus emitter's clock, at at_ns of the emitter's clock, and the bound. False: not
 * known. */
bool clock_peer_offset(const struct clock_peer *p, int64_t at_ns, int64_t *offset_ns, int64_t *bound_ns);

/* To be called once, after the run: ends a pending event. */
void clock_peer_finish(struct clock_peer *p);

/* False: not known. offset: the best relation of about the last two seconds, valid at its at_ns. rate: of the
 * reflector's clock against the emitter's clock, since the last event. */
bool clock_peer_result(const struct clock_peer *p, struct clock_relation *offset, struct clock_rate *rate);

/* Rate of the reflector's clock against the emitter's clock during the event. */
double clock_peer_event_ppb(const struct clock_peer_event *e);

/* Size of the step of the reflector's clock against the emitter's clock. False: the size is not known. */
bool clock_peer_event_size(const struct clock_peer_event *e, int64_t *size_ns, int64_t *bound_ns);

#endif
