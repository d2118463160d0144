/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks of this host during the run, and the clock of the reflector as the exchanges show it. */
#ifndef RESULT_CLOCKS_H
#define RESULT_CLOCKS_H

#include "host/clock/clock.h"
#include "host/clock/clock_peer.h"
#include "rant.h"

/* A clock of this host against CLOCK_MONOTONIC_RAW, which is never set. */
struct result_clock_track {
	struct clock_rate rate;
	bool rate_is_wrong; /* see clock_rate_is_wrong() */
	enum clock_steering steering;
	uint64_t frequency_changes;
	uint64_t steps; /* also those that are not kept */
	uint64_t standstills, wrong_rates; /* of the NIC's clock, also those that are not kept */
	int64_t stood_ns; /* known total duration of standstills */
	bool has_largest;
	struct clock_jump largest; /* the jump that exceeds its bound by the most */
};

/* A standstill or a frequency error of the NIC's clock. */
struct result_clock_fault {
	bool stands; /* a standstill; else a frequency error */
	bool over; /* ended before the last reading */
	struct clock_rate rate; /* of a frequency error */
	int64_t began_ns[2]; /* CLOCK_MONOTONIC: earliest and latest beginning */
	int64_t lasted_ns[2]; /* least and, with `over`, greatest duration */
};

struct result_clocks {
	bool watched; /* false: nothing below is known */
	bool comparable; /* the clock of the NIC */
	/* The reason why it is not comparable, or with `by_packets` why it is not read. */
	char why[sizeof(((struct clock_watch *)NULL)->why)];
	bool by_packets; /* comparable by the timestamps of packets only */

	/* The clock of the NIC; valid with `comparable`. */
	char name[sizeof(((struct clock_watch *)NULL)->name)];
	char method[40]; /* by which it was read */
	enum clock_scale scale;
	bool has_relation;
	struct clock_relation minus_realtime; /* by the last reading */
	uint64_t readings;
	uint64_t failures; /* readings that failed */
	char failure[80]; /* reason of the last failure */
	uint64_t refused; /* attempts that the device refused (EBUSY, EOPNOTSUPP) */
	/* Limit of the readings a second, of this process or with `shared` of all rants; 0: none. */
	uint32_t limit_per_s;
	bool shared;
	char not_shared[80]; /* the reason */
	uint64_t waited; /* readings that were left out to keep the limit */

	struct result_clock_track track[CLOCKS];
	struct clock_jump step[CLOCK_STEPS_KEPT];
	uint32_t steps_kept;
	struct result_clock_fault fault[CLOCK_FAULTS_KEPT]; /* the last also covers those not kept */
	uint32_t faults_kept;
	int64_t late_ns; /* clock_step_error_since() the start of the run */
};

/* A fault of the reflector's clock against this host's clock. */
struct result_peer_event {
	enum clock_peer_kind kind;
	bool theirs; /* false: a fault of this host's clock at that time may explain the event */
	uint32_t seq[2]; /* the event lies between these packets */
	int64_t mono_ns[2]; /* the event lies between these times of CLOCK_MONOTONIC */
	uint64_t conflicts; /* exchanges that contradicted the exchanges before them */
	bool has_size;
	int64_t size_ns, bound_ns; /* of a step */
	int64_t stood_ns; /* least duration of a standstill */
	double ppb; /* rate against this host's clock during the event */
};

struct result_peer {
	bool compared; /* false: nothing below is known */
	bool is_known; /* offset and rate are known */
	struct clock_relation offset; /* reflector's clock minus this host's clock */
	struct clock_rate rate;
	struct result_peer_event event[PEER_EVENTS_KEPT];
	uint64_t events; /* also those that are not kept */
	uint64_t faults[PEER_KINDS]; /* events that are faults of the reflector's clock, also those that are not kept */
};

static inline uint64_t clocks_peer_kept(const struct result_peer *p)
{
	return p->events < PEER_EVENTS_KEPT ? p->events : PEER_EVENTS_KEPT;
}

#endif
