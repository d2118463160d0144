/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ring buffer of the log (hot: add) with one producer and one consumer, neither of which waits for the other. Records
 * are in the order of their completion. Where the ring was full, a mark among them has the number of missing records.
 */
#ifndef RESULT_LOG_H
#define RESULT_LOG_H

#include "rant.h"

#define LOG_RING_BYTES (16 << 20)
#define LOG_RATE 50000 /* packets per second, for the size of a ring without a consumer */
#define LOG_CIRCULAR_RECORDS 500000

struct log {
	/* Constant after log_assign(). */
	uint8_t *record; /* each record_bytes long */
	size_t record_bytes; /* of struct sample: all, or SAMPLE_LOCAL_BYTES */
	uint64_t capacity;
	bool circular; /* keeps the newest records instead of the oldest; read at the end only */

	/* Written by the producer. */
	_Alignas(64) uint64_t place; /* of the next record */
	uint64_t put; /* records and marks */
	uint64_t space; /* limit of put, as last read from `taken` */
	uint32_t gap_seq; /* sequence number of the first record dropped since the last record in the ring */
	uint64_t gap; /* records dropped since the last record in the ring */
	counter added; /* records */
	counter left_out; /* records dropped because the ring was full; circular: overwritten */

	_Alignas(64) _Atomic uint64_t ready; /* value of put up to which the consumer may read */

	/* Written by the consumer; in a circular log, until the end of the run, by the producer. */
	_Alignas(64) _Atomic uint64_t taken; /* records and marks that were consumed */
	uint64_t oldest; /* index of the next record to consume */
};

/* Capacity in records of a ring that is read at the end: LOG_RATE for the duration (an hour if 0) and 15 % more, or
 * `count` if that is less and not 0; at most a quarter of free_bytes (*limited: this reduced it). */
uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, size_t record_bytes, bool *limited);

/* capacity: at least two, for a mark and a record. full: with the times of the other host. */
void log_assign(struct log *l, void *memory, uint64_t capacity, bool circular, bool full);

static inline size_t log_record_bytes(bool full)
{
	return full ? sizeof(struct sample) : SAMPLE_LOCAL_BYTES;
}

/* False: the ring is full, and left_out is incremented. A circular log overwrites its oldest record and counts that. */
bool log_add(struct log *l, const struct sample *s);

/* Adds a mark: the reflector received this sequence number twice. It is not known which of its records belongs to the
 * reply that arrived, and one may be missing. A full ring gets no mark. */
void log_mark_repeated(struct log *l, uint32_t seq);

/* Number of records to read; the oldest has index 0. This function and those below are for the consumer. */
uint64_t log_ready(const struct log *l);

/* Number of records and marks consumed so far. */
static inline uint64_t log_taken(const struct log *l)
{
	return atomic_load_explicit(&l->taken, memory_order_relaxed);
}

/* Records of a log without `full` end before time_ns[THERE]: members from there on must not be read. */
static inline const struct sample *log_at(const struct log *l, uint64_t index)
{
	const uint64_t at = l->oldest + index;

	return (const struct sample *)(l->record + (at < l->capacity ? at : at - l->capacity) * l->record_bytes);
}

/* Releases the oldest n. */
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

/* Number of records dropped at this mark, beginning with s->seq. */
static inline uint64_t log_gap(const struct sample *s)
{
	return (uint64_t)s->latency_ns;
}

/* After the run: number of records dropped after the last record in the ring, and their first sequence number. */
static inline uint64_t log_last_gap(const struct log *l, uint32_t *seq)
{
	*seq = l->gap_seq;
	return l->gap;
}

/* The log for reports. All zeros: none. */
struct result_log {
	bool exists;

	/* The ring, by log_result(). */
	uint64_t capacity; /* records */
	bool circular;
	uint64_t offered; /* as log_offered() */
	uint64_t overwritten; /* by newer records of a circular log */
	uint64_t left_out; /* because the ring was full */

	/* The file, by its writer. */
	const char *path; /* memory of the options, or of struct read */
	const char *form; /* a constant */
	bool beside; /* a thread writes it during the run */
	bool by_option_at_end; /* else it is written after the run, as --snapshot wants */
	bool rotates;
	uint64_t file; /* number of the last file of a rotation */
	int error; /* -errno of the file; 0: none */
	uint64_t written; /* records */
	uint64_t removed; /* part of these, removed with the oldest files */
	uint64_t not_kept; /* outside of --log-last */
	uint64_t unwritten; /* lost at the file */
	int64_t octets;
	int64_t shortest_ns; /* as in struct log_writer */
};

/* Records offered to the log; those that a circular log has overwritten are counted once. */
uint64_t log_offered(const struct log *l);

/* Before the run its size, after the run its counts too. */
void log_result(const struct log *l, struct result_log *to);

#endif
