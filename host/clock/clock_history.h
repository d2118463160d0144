/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was seen of the clocks: readings, and what moved between them. Part of clock.h. */
#ifndef HOST_CLOCK_CLOCK_HISTORY_H
#define HOST_CLOCK_CLOCK_HISTORY_H

#include "rant.h"

enum clock_which { CLOCK_OF_NIC, CLOCK_OF_SYSTEM, CLOCKS }; /* the PHC, CLOCK_REALTIME */

/* One clock minus another, at at_ns of the other. The truth is in offset_ns - bound_ns .. offset_ns + bound_ns. */
struct clock_relation {
	int64_t at_ns, offset_ns, bound_ns;
};

/* How a clock's rate is set, by adjtimex(2) and clock_adjtime(2) with modes 0. */
struct clock_dial {
	bool known;
	int64_t ppb;
	int64_t slew_ppb; /* of the system clock: a correction that is being worked off may change the rate by this */
};

/* All relations at about one moment. raw: CLOCK_MONOTONIC_RAW, which nobody steers or steps. */
struct clock_reading {
	struct clock_relation phc_real, phc_raw; /* only with has_phc */
	struct clock_relation real_raw;
	struct clock_dial dial[CLOCKS];
	int64_t began_ns, ended_ns; /* CLOCK_MONOTONIC before and after it was taken */
	uint64_t mark; /* the caller's, e.g. the sequence number sent last */
	bool has_phc;
	bool broken[CLOCKS]; /* stepped or stood still since the reading before */
	bool frozen; /* the PHC did not move while it was taken */
	int64_t odd_ns[CLOCKS]; /* moved by up to this since then, more than its rate explains but less than a step */
};

/* A clock's deviation from its rate between two readings. */
struct clock_jump {
	enum clock_which which;
	int64_t size_ns, bound_ns;
	double ppb; /* the rate, against CLOCK_MONOTONIC_RAW */
	int64_t mono_ns[2]; /* it happened between these moments of CLOCK_MONOTONIC */
	uint64_t mark[2];
};

/* A mean rate against CLOCK_MONOTONIC_RAW over over_ns. */
struct clock_rate {
	bool measured; /* there are two readings to tell from */
	bool known; /* it is larger than its bound */
	double ppb, bound_ppb;
	int64_t over_ns;
};

/* A time in which the PHC stood still, or ran at a wrong rate. */
struct clock_spell {
	bool stands, over; /* not over: it lasted at the last reading */
	struct clock_rate rate; /* unless it stands */
	int64_t began_ns[2], ended_ns[2]; /* CLOCK_MONOTONIC: between these two it began, between those it ended */
	/* stood, and over: what it fell behind. A bound of INT64_MAX: that is not known */
	int64_t lost_ns, lost_bound_ns;
};

/* What was seen of one clock; steps between successive readings, or a standstill, part its history. */
struct clock_track {
	counter steps; /* kept in clock_watch.step[] or not */
	counter standstills, wrong_rates; /* of the PHC, kept in clock_watch.spell[] or not */
	int64_t stood_ns; /* in all, as far as is known */
	bool standing;
	int64_t unkept_ns[2]; /* CLOCK_MONOTONIC: steps that are not kept were between these; 0, 0: none */
	struct clock_jump largest; /* of all jumps, the one that exceeds its bound by most (or falls short by least) */
	bool has_largest;
	struct clock_dial dial[2]; /* first and last that could be read */
	uint64_t dial_changes;

	uint64_t readings; /* with this clock */
	uint64_t last_number, number_before; /* of the last two in clock_watch.history[], when there are as many */
	struct clock_relation last; /* to CLOCK_REALTIME (PHC) or CLOCK_MONOTONIC_RAW */
	/* Of the present segment: the outermost, and precise ones near it. */
	struct clock_relation first[2], recent[3];
	uint64_t segment_readings;
	struct clock_rate rate; /* of the past segment with the least bound */
};

#endif
