/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of the clocks, and the faults found between readings. Part of clock.h. */
#ifndef HOST_CLOCK_CLOCK_HISTORY_H
#define HOST_CLOCK_CLOCK_HISTORY_H

#include "rant.h"

enum clock_which { CLOCK_OF_NIC, CLOCK_OF_SYSTEM, CLOCKS }; /* the PHC, CLOCK_REALTIME */

/* Clock A minus clock B, at at_ns of B. The true offset is in offset_ns - bound_ns .. offset_ns + bound_ns. */
struct clock_relation {
	int64_t at_ns, offset_ns, bound_ns;
};

/* Frequency setting of a clock, read by adjtimex(2) and clock_adjtime(2) with modes 0. */
struct clock_frequency {
	bool known;
	int64_t ppb;
	int64_t slew_ppb; /* system clock: a pending correction may change the rate by this much */
	bool assumed; /* not readable; assumed to change the rate by at most slew_ppb between two readings */
};

/* All relations at about the same time. raw: CLOCK_MONOTONIC_RAW, which no program can steer or step. */
struct clock_reading {
	struct clock_relation phc_real, phc_raw; /* valid with has_phc */
	struct clock_relation real_raw;
	struct clock_frequency frequency[CLOCKS];
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC before and after the reading */
	uint64_t mark; /* set by the caller, e.g. the last sequence number sent */
	bool has_phc;
	bool broken[CLOCKS]; /* stepped or stood still since the previous reading */
	bool frozen; /* the PHC did not advance during the reading */
	int64_t odd_ns[CLOCKS]; /* unexplained change since the previous reading, too small for a step */
};

/* A clock's deviation from its rate between two readings. */
struct clock_jump {
	enum clock_which which;
	int64_t size_ns, bound_ns;
	double ppb; /* rate against CLOCK_MONOTONIC_RAW before the jump */
	int64_t mono_ns[2]; /* the jump lies between these times of CLOCK_MONOTONIC */
	uint64_t mark[2]; /* marks of the readings before and after the jump */
};

/* Mean rate over over_ns. */
struct clock_rate {
	bool measured; /* two readings exist */
	bool known; /* the rate is larger than its bound */
	double ppb, bound_ppb;
	int64_t over_ns;
};

/* A standstill or a frequency error of the PHC. */
struct clock_fault {
	bool stands; /* a standstill; else a frequency error */
	bool over; /* ended before the last reading */
	struct clock_rate rate; /* of a frequency error */
	int64_t began_ns[2], ended_ns[2]; /* CLOCK_MONOTONIC: earliest and latest beginning, earliest and latest end */
	/* time that the PHC fell behind, of a standstill that is over; a bound of INT64_MAX: not known */
	int64_t lost_ns, lost_bound_ns;
};

/* History of a clock. Steps and standstills divide it into segments. */
struct clock_track {
	counter steps; /* also those beyond the size of clock_watch.step[] */
	counter standstills, wrong_rates; /* of the PHC, also those beyond the size of clock_watch.fault[] */
	int64_t stood_ns; /* known total duration of standstills */
	bool standing;
	int64_t unkept_ns[2]; /* CLOCK_MONOTONIC: interval of the steps that are not kept; 0, 0: none */
	struct clock_jump largest; /* the jump with the largest excess() over its bound, which may be negative */
	bool has_largest;
	struct clock_frequency frequency[2]; /* first and last setting that could be read */
	uint64_t frequency_changes;

	uint64_t readings; /* number of readings with this clock */
	uint64_t last_number, number_before; /* numbers of the last two readings, if there are two */
	struct clock_relation last; /* to CLOCK_REALTIME (PHC) or CLOCK_MONOTONIC_RAW */
	/* Present segment: its first and last relation, and precise relations near them. */
	struct clock_relation first[2], recent[3];
	uint64_t segment_readings;
	struct clock_rate rate; /* of the past segment whose rate has the least bound */
};

#endif
