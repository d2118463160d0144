/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transaction log (hot: add). */
#ifndef MEASURE_LOG_H
#define MEASURE_LOG_H

#include "rant.h"

#define LOG_RATE 50000 /* packets per second that a log is sized for */
#define LOG_CIRCULAR_RECORDS 500000

struct log {
	uint8_t *record; /* each record_bytes long */
	size_t record_bytes; /* of struct sample: all, or SAMPLE_HERE_BYTES */
	uint64_t capacity, used;
	uint64_t first; /* place of the oldest record */
	uint64_t left_out; /* offered when it was full; circular: overwritten */
	bool circular; /* keeps the newest instead of the oldest */
};

/* Records to make room for: LOG_RATE for the duration (an hour if 0) and 15 % more, or `count` if that is less and not
 * 0; at most what fits a quarter of free_bytes (*limited says that this cut it). */
uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, size_t record_bytes, bool *limited);

/* full: the times of the other host too. */
void log_place(struct log *l, void *memory, uint64_t capacity, bool circular, bool full);

static inline size_t log_record_bytes(bool full)
{
	return full ? sizeof(struct sample) : SAMPLE_HERE_BYTES;
}

/* False: full; the record is counted as left out. A circular log overwrites its oldest record, which is counted so. */
bool log_add(struct log *l, const struct sample *s);

/* Record 0 .. used - 1, from the oldest to the newest. Of a log that is not full, time_ns[THERE] and what follows is not
 * there: it may not be read. */
const struct sample *log_at(const struct log *l, uint64_t index);

#endif
