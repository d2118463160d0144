/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NIC's clock (PHC), the system clock, and the relation between them with its bound. */
#ifndef HOST_CLOCK_CLOCK_H
#define HOST_CLOCK_CLOCK_H

#include "host/clock/clock_budget.h"
#include "host/clock/clock_history.h"
#include "host/clock/clock_packets.h"
#include "rant.h"

#define CLOCK_HISTORY 1024 /* readings kept */
#define CLOCK_STEPS_KEPT 64
#define CLOCK_FAULTS_KEPT 16
#define CLOCK_STEP_ERRORS_KEPT 8
#define CLOCK_FRESH_NS NS_PER_S /* a measured rate holds for this time; later it may have changed */
#define CLOCK_STALE_NS (60 * NS_PER_S) /* no time further from the last reading than this is converted */
#define CLOCK_USELESS_NS NS_PER_MS /* no time is converted where its distance adds more than this to the bound */
/* A frequency error above this, after subtracting the frequency setting (at most 1000 ppm of it), is a fault. */
#define CLOCK_WRONG_PPB 1000000

/* A published relation of the PHC to CLOCK_REALTIME: of two slots the current slot is always complete. */
struct clock_slot {
	_Atomic uint32_t sequence; /* odd while it is written */
	_Atomic bool valid;
	_Atomic int64_t at_ns, offset_ns, bound_ns;
	_Atomic int64_t since_ns; /* CLOCK_REALTIME: the relation holds from here on */
	_Atomic double rate, rate_bound; /* of the offset, ns per ns */
	_Atomic double growth[2]; /* of the bound, ns per ns beyond CLOCK_FRESH_NS before and after at_ns */
};

/* Error, beyond their bound, of times that had been converted before a clock fault was found. */
struct clock_step_error {
	int64_t mono_ns; /* CLOCK_MONOTONIC, when the fault was found */
	int64_t by_ns; /* size of the error */
};

enum clock_method { CLOCK_PRECISE, CLOCK_EXTENDED, CLOCK_PLAIN, CLOCK_SANDWICH, CLOCK_METHODS };

struct clock_watch {
	int phc_fd, frequency_fd; /* -1: not open */
	char name[32]; /* from /sys/class/ptp, or "ptp0" where sysfs is not mounted */
	char why[160]; /* without a PHC that can be read: the reason, after "not comparable: " */
	struct clock_packets *packets; /* of a PHC that cannot be read; NULL: readings, or none */
	enum clock_method method;
	bool raw_taken; /* the kernel also brackets the PHC by CLOCK_MONOTONIC_RAW; else two relations are added */
	int64_t phc_granularity_ns; /* by clock_open(): all differences of PHC stamps were multiples of this */
	int64_t system_granularity_ns; /* by clock_open(): upper bound of the granularity of CLOCK_REALTIME */

	struct clock_track track[CLOCKS];
	struct clock_jump step[CLOCK_STEPS_KEPT];
	uint32_t steps_kept;
	/* Faults of the PHC. When the array is full, the last entry also covers all later faults. */
	struct clock_fault fault[CLOCK_FAULTS_KEPT];
	uint32_t faults_kept;
	bool in_fault; /* the last fault is not over */
	uint64_t going_number; /* number of the last reading before a standstill, valid with has_going */
	bool has_going;
	uint64_t failures; /* readings in which an existing PHC could not be read */
	int failure; /* errno of the last failure */
	struct clock_budget budget; /* of the readings of the PHC */
	uint64_t refused; /* attempts that the device or its driver refused: EBUSY, EOPNOTSUPP */
	unsigned refused_in_row;
	int64_t not_before_ns; /* CLOCK_MONOTONIC: after refusals, the time of the next attempt */
	int tai_s; /* CLOCK_TAI - CLOCK_REALTIME; 0: not set in the kernel */

	struct clock_reading history[CLOCK_HISTORY]; /* a ring */
	uint64_t readings; /* number made; the last is history[(readings - 1) % CLOCK_HISTORY] */
	_Atomic uint32_t current; /* index into slot[] */
	struct clock_slot slot[2];
	int64_t since_ns; /* CLOCK_REALTIME: start of the present stretch of readings without a fault */
	int64_t published_ns; /* CLOCK_MONOTONIC: last reading of this stretch */
	int64_t frequency_ppb[CLOCKS][2]; /* least and greatest rate by the frequency settings in this stretch */
	_Atomic uint32_t doubts; /* as last published: see clock_doubts() */
	uint32_t found; /* next value of `doubts`; includes faults that a later reading explained */
	int64_t found_ns; /* largest fault found by the present reading, plus its bound */
	_Atomic int64_t step_error_ns;
	struct clock_step_error step_error[CLOCK_STEP_ERRORS_KEPT]; /* by falling size and rising time */
	uint32_t step_errors_kept;
};

/*
 * Opens /dev/ptp<phc_index> read-only and chooses the best method that works: PTP_SYS_OFFSET_PRECISE, _EXTENDED, plain
 * PTP_SYS_OFFSET, or clock_gettime(2) of both clocks. PHC numbers are the same in all namespaces. phc_index -1: the NIC
 * has no PHC. 0, or -errno with c->why filled and nothing printed; the system clock can still be watched then.
 */
int clock_open(struct clock_watch *c, int phc_index);

/* The same for a clock that accepts this number of readings a second from all programs; 0: any number. Then fewer
 * readings are made, with wider bounds, and clock_open() may wait a few seconds for its share. */
int clock_open_limited(struct clock_watch *c, int phc_index, uint32_t reads_per_s);

/* After clock_open() failed: from here on a reading is a relation by the packets noted there, if there are any. It is
 * published once the rate of the offset is known within CLOCK_PACKETS_RATE_PPB. */
#define CLOCK_PACKETS_RATE_PPB 100000
void clock_use_packets(struct clock_watch *c, struct clock_packets *packets);

/* True if readings give the relation of the PHC, or packets. */
static inline bool clock_is_comparable(const struct clock_watch *c)
{
	return c->phc_fd >= 0 || c->packets;
}

/*
 * Takes a reading, searches for steps since the previous reading, and publishes the relation. Takes some 10 us, with
 * slow NICs some 100 us. To be called by a single thread, which is not the measuring thread. 0, or -errno if the PHC
 * could not be read, counted in c->failures (-ESTALE: clocks were set during each try). After refusals it
 * waits with the next attempt, and fails in the meantime as before. Without a share of a limit it reads nothing: 0.
 */
int clock_measure(struct clock_watch *c, uint64_t mark);

/*
 * Hot path; for a thread other than the caller of clock_measure(): no lock, no system call. Converts realtime_ns of
 * CLOCK_REALTIME to the PHC, by the last reading and the last rate. False: no reading yet; the last reading found a
 * step, a standstill or a frequency error; the time lies before the last such fault; or the bound would grow beyond
 * CLOCK_USELESS_NS. The bound holds while rates change by at most 1 ppm beyond their frequency settings. Further than
 * CLOCK_FRESH_NS from the reading it allows for the settings seen in this stretch, plus 100 ppm before the reading and
 * 500 ppm after it. A fault after the reading is found by the next reading: see clock_step_error_ns().
 */
bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns);

/* Converts a time that clock_to_phc() has converted back to CLOCK_REALTIME. For the thread of clock_measure(), and for
 * struct breach_facts: `watch` is a struct clock_watch. False as for clock_to_phc(). */
bool clock_to_realtime(void *watch, int64_t *ns);

/* Hot path, a single load. Number of clock faults found so far: steps of both clocks, and beginnings and ends of
 * standstills and frequency errors of the PHC. It only grows, so two different values enclose a fault. */
static inline uint32_t clock_doubts(const struct clock_watch *c)
{
	return atomic_load_explicit(&c->doubts, memory_order_relaxed);
}

/* Hot path, a single load. Largest error, beyond its bound, of a time that was converted before a fault was found;
 * 0: none. */
static inline int64_t clock_step_error_ns(const struct clock_watch *c)
{
	return atomic_load_explicit(&c->step_error_ns, memory_order_relaxed);
}

/* As clock_step_error_ns(), for faults found since mono_ns of CLOCK_MONOTONIC. For the thread of clock_measure(). */
int64_t clock_step_error_since(const struct clock_watch *c, int64_t mono_ns);

/* True if, by the readings, a fault of this clock (step, standstill, frequency error) overlaps this interval of
 * CLOCK_MONOTONIC. */
bool clock_moved(const struct clock_watch *c, enum clock_which which, int64_t from_mono_ns, int64_t to_mono_ns);

/* Duration of a fault: at least ns[0], at most ns[1]. */
void clock_fault_lasted(const struct clock_fault *s, int64_t ns[2]);

/* True if the rate is off by more than CLOCK_WRONG_PPB beyond the frequency setting. If the setting could not be read,
 * its greatest value is assumed. */
bool clock_rate_is_wrong(const struct clock_frequency *frequency, const struct clock_rate *rate);

/* Text for c->failure. */
const char *clock_failure(const struct clock_watch *c);

/* Mean rate against CLOCK_MONOTONIC_RAW, over the interval without steps that gives the least bound. */
struct clock_rate clock_drift(const struct clock_watch *c, enum clock_which which);

/* The last reading; NULL: no reading yet. */
const struct clock_reading *clock_last(const struct clock_watch *c);

enum clock_scale { CLOCK_SCALE_UNKNOWN, CLOCK_SCALE_UTC, CLOCK_SCALE_TAI, CLOCK_SCALE_OTHER };

/* Timescale of the PHC, by its offset to within 1 s; TAI by the kernel's TAI offset, or 37 s if that is not set. */
enum clock_scale clock_scale(const struct clock_watch *c);

enum clock_steering { CLOCK_STEERING_UNKNOWN, CLOCK_NOT_STEERED, CLOCK_STEERED };

/* Whether the frequency setting changed between readings. (The first setting is in c->track[].frequency[0].) */
enum clock_steering clock_steering(const struct clock_watch *c, enum clock_which which);

const char *clock_method_name(const struct clock_watch *c);

/* Synchronization source of the clock that stamps, by the numbers of RFC 8972 table 7. A PHC counts as local: PTP may
 * steer it, but the kernel does not report which program does. by_nic: the timestamps come from the PHC. */
uint8_t clock_sync_source(bool by_nic);

void clock_close(struct clock_watch *c);

#endif
