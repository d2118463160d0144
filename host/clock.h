/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NIC's clock (PHC) and the system's, how they relate, and within what bounds. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

#include "rant.h"

#define CLOCK_HISTORY 1024 /* readings kept */
#define CLOCK_STEPS_KEPT 64
#define CLOCK_FRESH_NS NS_PER_S /* a relation is not extrapolated further than this */

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
	int64_t odd_ns[CLOCKS]; /* moved by up to this since then, more than its rate explains but less than a step */
};

/* A clock's deviation from its rate between two readings. */
struct clock_jump {
	enum clock_which which;
	int64_t size_ns, bound_ns;
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

/* What was seen of one clock; steps between successive readings, or a standstill, part its history. */
struct clock_track {
	counter steps; /* kept in clock_watch.step[] or not */
	counter standstills; /* the PHC had not moved in a millisecond or more; its beginning may show as a step back */
	int64_t stood_ns;
	bool standing;
	struct clock_jump largest; /* of all jumps, the one that exceeds its bound by most (or falls short by least) */
	bool has_largest;
	struct clock_dial dial[2]; /* first and last that could be read */
	uint64_t dial_changes;

	uint64_t readings; /* with this clock */
	uint64_t last_number; /* of those of clock_watch.history[], when that is not 0 */
	struct clock_relation last; /* to CLOCK_REALTIME (PHC) or CLOCK_MONOTONIC_RAW */
	/* Of the present segment: the outermost, and precise ones near it. */
	struct clock_relation first[2], recent[3];
	uint64_t segment_readings;
	struct clock_rate rate; /* of the past segment with the least bound */
};

/* One published relation of the PHC to CLOCK_REALTIME; two, so that one is always whole. */
struct clock_slot {
	_Atomic uint32_t sequence; /* odd while it is written */
	_Atomic bool valid;
	_Atomic int64_t at_ns, offset_ns, bound_ns;
	_Atomic double rate, rate_bound; /* of the offset, ns per ns */
};

enum clock_method { CLOCK_PRECISE, CLOCK_EXTENDED, CLOCK_PLAIN, CLOCK_SANDWICH, CLOCK_METHODS };

struct clock_watch {
	int phc_fd, dial_fd; /* -1: none */
	char name[32]; /* from /sys/class/ptp, which may be out of sight, or "ptp0" */
	char why[160]; /* without a PHC: the reason, after "not comparable: " */
	enum clock_method method;
	bool raw_taken; /* the kernel brackets the PHC by CLOCK_MONOTONIC_RAW too; without, two relations are added */
	/* Measured by clock_open(). */
	int64_t phc_granularity_ns; /* all its stamps were multiples of this apart */
	int64_t system_granularity_ns; /* no more than this */

	struct clock_track track[CLOCKS];
	struct clock_jump step[CLOCK_STEPS_KEPT];
	uint32_t steps_kept;
	uint64_t failures; /* readings without the PHC although there is one */
	int failure; /* the last one: an errno */
	int tai_s; /* CLOCK_TAI - CLOCK_REALTIME; 0 means that nobody has told the kernel */

	struct clock_reading history[CLOCK_HISTORY]; /* a ring */
	uint64_t readings; /* made; the last is history[(readings - 1) % CLOCK_HISTORY] */
	_Atomic uint32_t current; /* of slot[] */
	struct clock_slot slot[2];
};

/*
 * Opens /dev/ptp<phc_index> for reading only and finds the best way to compare it: PTP_SYS_OFFSET_PRECISE, _EXTENDED,
 * plain PTP_SYS_OFFSET, or clock_gettime(2) of both. PHCs are in no namespace. phc_index -1: the NIC has none. 0, or
 * -errno with c->why filled and nothing printed: the system clock can then still be watched.
 */
int clock_open(struct clock_watch *c, int phc_index);

/*
 * Takes one reading, looks for steps since the one before, and publishes. Takes some ten microseconds, with slow NICs
 * some hundred; one thread at a time, not the measuring one while it measures. 0, or -errno when the PHC could not be
 * read, counted in c->failures (-EAGAIN: a clock stepped while it was read, more than once).
 */
int clock_measure(struct clock_watch *c, uint64_t mark);

/*
 * Hot, for another thread than the one that measures: no lock, no system call. What the PHC shows at realtime_ns of
 * CLOCK_REALTIME, by the last reading and the last rate. False: there is none, it is older than CLOCK_FRESH_NS, or the
 * last reading found a step. The bound holds while rates change by no more than 1 ppm beyond what their dials showed at
 * the last reading; a change after it is seen by the next one, and then counted in c->track[].dial_changes or steps.
 */
bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);

/* The mean rate, against CLOCK_MONOTONIC_RAW, of the stretch without steps that gives the least bound. */
struct clock_rate clock_drift(const struct clock_watch *c, enum clock_which which);

/* The last reading, NULL without any. */
const struct clock_reading *clock_last(const struct clock_watch *c);

enum clock_scale { CLOCK_SCALE_UNKNOWN, CLOCK_SCALE_UTC, CLOCK_SCALE_TAI, CLOCK_SCALE_OTHER };

/* Which scale the PHC shows, to a second; TAI by the kernel's offset, or 37 s if it was told none. */
enum clock_scale clock_scale(const struct clock_watch *c);

enum clock_steering { CLOCK_STEERING_UNKNOWN, CLOCK_NOT_STEERED, CLOCK_STEERED };

/* Was its rate changed between the readings? (That it was set before shows in c->track[].dial[0].) */
enum clock_steering clock_steering(const struct clock_watch *c, enum clock_which which);

const char *clock_method_name(const struct clock_watch *c);

/* Who keeps the clock of our stamps, as RFC 8972 table 7 numbers it, as far as that is known: the NIC's may be kept by PTP, but
 * who turns its dial cannot be seen. by_nic: the stamps are the NIC's. */
uint8_t clock_sync_source(bool by_nic);

void clock_close(struct clock_watch *c);

#endif
