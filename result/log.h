/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ring of the transaction log (hot: add). One thread adds, one other takes, and neither waits for the other.
 * Records are in the order in which they were completed; where the ring was full, a mark is among them that tells what
 * was left out.
 */
#ifndef RESULT_LOG_H
#define RESULT_LOG_H

#include "rant.h"

#define LOG_RING_BYTES (16 << 20)
#define LOG_RATE 50000 /* packets per second that a ring is sized for which nobody empties */
#define LOG_CIRCULAR_RECORDS 500000

struct log {
	/* Stays as it is. */
	uint8_t *record; /* each record_bytes long */
	size_t record_bytes; /* of struct sample: all, or SAMPLE_HERE_BYTES */
	uint64_t capacity;
	bool circular; /* keeps the newest instead of the oldest; nobody takes before the end */

	/* Of the thread that adds. */
	_Alignas(64) uint64_t place; /* of the next record */
	uint64_t put; /* records and marks */
	uint64_t room; /* put may grow so far: as last seen */
	uint32_t gap_seq; /* the first one that was left out since the last record, */
	uint64_t gap; /* and how many were */
	counter added; /* records */
	counter left_out; /* records that came when it was full; circular: overwritten */

	_Alignas(64) _Atomic uint64_t ready; /* put, when it may be read */

	/* Of the thread that takes; of a circular log, until its end, of the one that adds. */
	_Alignas(64) _Atomic uint64_t taken; /* records and marks whose room is free */
	uint64_t oldest; /* the place of what is taken next */
};

/* Records of a ring that nobody empties before the end: LOG_RATE for the duration (an hour if 0) and 15 % more, or
 * `count` if that is less and not 0; at most what fits a quarter of free_bytes (*limited says that this cut it). */
uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, size_t record_bytes, bool *limited);

/* capacity: two at least, that a mark and a record fit. full: the times of the other host too. */
void log_place(struct log *l, void *memory, uint64_t capacity, bool circular, bool full);

static inline size_t log_record_bytes(bool full)
{
	return full ? sizeof(struct sample) : SAMPLE_HERE_BYTES;
}

/* False: full; the record is counted as left out. A circular log overwrites its oldest record, which is counted so. */
bool log_add(struct log *l, const struct sample *s);

/* A mark that the reflector received this sequence number again: which of its records belongs to a reply that arrived
 * is not known, and one of them may be missing. Where the ring is full, there is no mark. */
void log_mark_repeated(struct log *l, uint32_t seq);

/* How many may be read: the oldest is number 0. This and what follows is for the thread that takes. */
uint64_t log_ready(const struct log *l);

/* How many were taken, in all. */
static inline uint64_t log_taken(const struct log *l)
{
	return atomic_load_explicit(&l->taken, memory_order_relaxed);
}

/* Of a log that is not full, time_ns[THERE] and what follows is not there: it may not be read. */
static inline const struct sample *log_at(const struct log *l, uint64_t index)
{
	const uint64_t at = l->oldest + index;

	return (const struct sample *)(l->record + (at < l->capacity ? at : at - l->capacity) * l->record_bytes);
}

/* The room of the oldest n is given back. */
void log_take(struct log *l, uint64_t n);

/* Values of follow_up in marks, which are not records. */
enum { LOG_GAP = FOLLOW_UPS, LOG_REPEATED };

static inline bool log_is_mark(const struct sample *s)
{
	return s->follow_up >= LOG_GAP;
}

static inline bool log_is_gap(const struct sample *s)
{
	return s->follow_up == LOG_GAP;
}

/* Records that were left out there; the first one is s->seq. */
static inline uint64_t log_gap(const struct sample *s)
{
	return (uint64_t)s->latency_ns;
}

/* After the end: what was left out after the last record, and its first sequence number. */
static inline uint64_t log_last_gap(const struct log *l, uint32_t *seq)
{
	*seq = l->gap_seq;
	return l->gap;
}

#endif
