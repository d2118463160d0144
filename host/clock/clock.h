/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NIC's clock (PHC) and the system's, how they relate, and within what bounds. */
#ifndef HOST_CLOCK_CLOCK_H
#define HOST_CLOCK_CLOCK_H

#include "host/clock/clock_history.h"
#include "rant.h"

#define CLOCK_HISTORY 1024 /* readings kept */
#define CLOCK_STEPS_KEPT 64
#define CLOCK_SPELLS_KEPT 16
#define CLOCK_MISPLACED_KEPT 8
#define CLOCK_FRESH_NS NS_PER_S /* so far rates hold as measured; beyond, they may have changed */
#define CLOCK_STALE_NS (60 * NS_PER_S) /* nothing is placed further from the last reading than this, */
#define CLOCK_USELESS_NS NS_PER_MS /* or where that adds so much to the bound */
/* a rate that is off by more, beside what its dial says (of which 1000 ppm count), is wrong */
#define CLOCK_WRONG_PPB 1000000

/* One published relation of the PHC to CLOCK_REALTIME; two, so that one is always whole. */
struct clock_slot {
	_Atomic uint32_t sequence; /* odd while it is written */
	_Atomic bool valid;
	_Atomic int64_t at_ns, offset_ns, bound_ns;
	_Atomic int64_t since_ns; /* CLOCK_REALTIME: it holds from here on */
	_Atomic double rate, rate_bound; /* of the offset, ns per ns */
	_Atomic double growth[2]; /* of the bound, beyond CLOCK_FRESH_NS before and after at_ns */
};

/* So much by which times that had been placed turned out to be off beyond their bound. */
struct clock_misplaced {
	int64_t mono_ns, by_ns; /* when it was found */
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
	/* Of the PHC. When all are kept, the last one takes in what comes after it. */
	struct clock_spell spell[CLOCK_SPELLS_KEPT];
	uint32_t spells_kept;
	bool in_spell; /* the last one is not over */
	uint64_t going_number; /* the last reading before a standstill, if has_going */
	bool has_going;
	uint64_t failures; /* readings without the PHC although there is one */
	int failure; /* the last one: an errno */
	int tai_s; /* CLOCK_TAI - CLOCK_REALTIME; 0 means that nobody has told the kernel */

	struct clock_reading history[CLOCK_HISTORY]; /* a ring */
	uint64_t readings; /* made; the last is history[(readings - 1) % CLOCK_HISTORY] */
	_Atomic uint32_t current; /* of slot[] */
	struct clock_slot slot[2];
	int64_t since_ns; /* CLOCK_REALTIME: the present unbroken stretch of readings began */
	int64_t published_ns; /* CLOCK_MONOTONIC, of its last reading */
	int64_t dial_ppb[CLOCKS][2]; /* the least and the most that the dials explain, in it */
	_Atomic uint32_t doubts;
	uint32_t found; /* for doubts: also what was explained later */
	int64_t found_ns; /* by this reading: the largest, and its bound */
	_Atomic int64_t misplaced_ns;
	struct clock_misplaced misplaced[CLOCK_MISPLACED_KEPT]; /* each less than the one before it, and later */
	uint32_t misplaced_kept;
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
 * read, counted in c->failures (-ESTALE: a clock was set while it was read, more than once).
 */
int clock_measure(struct clock_watch *c, uint64_t mark);

/*
 * Hot, for another thread than the one that measures: no lock, no system call. What the PHC shows at realtime_ns of
 * CLOCK_REALTIME, by the last reading and the last rate. False: there is none, a step, a standstill or a wrong rate was
 * found by it, the time was before the last of these, or is too far away to be known within CLOCK_USELESS_NS.
 * The bound holds while rates change by no more than 1 ppm beyond what their dials showed; further than CLOCK_FRESH_NS
 * from the reading, by what the dials showed in this stretch and 100 ppm before it, 500 ppm after it. What happens
 * after the reading is seen by the next one: then see clock_misplaced_ns().
 */
bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);

/* Hot, one load each. Steps of both clocks found so far, and where standstills and wrong rates of the PHC began and
 * ended: it only grows, so something happened, or lasts, between two moments at which it differs. */
static inline uint32_t clock_doubts(const struct clock_watch *c)
{
	return atomic_load_explicit(&c->doubts, memory_order_relaxed);
}

/* By how much a time that was placed may have been off, beyond its bound, by what was found only later; 0: by
 * nothing. */
static inline int64_t clock_misplaced_ns(const struct clock_watch *c)
{
	return atomic_load_explicit(&c->misplaced_ns, memory_order_relaxed);
}

/* The same, of what was found since a moment of CLOCK_MONOTONIC. For the thread that measures. */
int64_t clock_misplaced_since(const struct clock_watch *c, int64_t mono_ns);

/* Did a clock step, stand or run at a wrong rate in a time that overlaps this one of CLOCK_MONOTONIC, as far as the
 * readings tell? */
bool clock_moved(const struct clock_watch *c, enum clock_which which, int64_t from_mono_ns, int64_t to_mono_ns);

/* How long a spell lasted: at least ns[0], at most ns[1]. */
void clock_spell_lasted(const struct clock_spell *s, int64_t ns[2]);

/* Is it off by more than CLOCK_WRONG_PPB beyond the dial? One that was not read may stand at its end. */
bool clock_rate_is_wrong(const struct clock_dial *dial, const struct clock_rate *rate);

/* Why a reading failed: the words for c->failure. */
const char *clock_failure(const struct clock_watch *c);

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

/* Who keeps the clock of our stamps, as RFC 8972 table 7 numbers it, as far as that is known: the NIC's may be kept by
 * PTP, but who turns its dial cannot be seen. by_nic: the stamps are the NIC's. */
uint8_t clock_sync_source(bool by_nic);

void clock_close(struct clock_watch *c);

#endif
