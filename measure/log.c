// SPDX-License-Identifier: GPL-2.0-or-later
/* The transaction log: records in the order in which they were completed, in memory that is there before the run. */

#include "measure/log.h"

#include <string.h>

#define SECONDS_IF_ENDLESS 3600
#define MARGIN_PERCENT 15

uint64_t log_capacity(int64_t duration_ns, uint64_t count, uint64_t free_bytes, size_t record_bytes, bool *limited)
{
	uint64_t seconds = duration_ns ? (uint64_t)((duration_ns + NS_PER_S - 1) / NS_PER_S) : SECONDS_IF_ENDLESS;
	uint64_t capacity = seconds * LOG_RATE * (100 + MARGIN_PERCENT) / 100;
	uint64_t ceiling = free_bytes / 4 / record_bytes;

	if (count && count < capacity)
		capacity = count;
	*limited = capacity > ceiling;
	return *limited ? ceiling : capacity;
}

void log_place(struct log *l, void *memory, uint64_t capacity, bool circular, bool full)
{
	*l = (struct log){ .record = memory, .record_bytes = log_record_bytes(full), .capacity = capacity,
			   .circular = circular };
}

static void put(struct log *l, uint64_t at, const struct sample *s)
{
	uint8_t *to = l->record + at * l->record_bytes;

	/* Each with a size that the compiler knows: no call. */
	if (l->record_bytes == SAMPLE_HERE_BYTES)
		memcpy(to, s, SAMPLE_HERE_BYTES);
	else
		memcpy(to, s, sizeof(*s));
}

bool log_add(struct log *l, const struct sample *s)
{
	if (l->used < l->capacity) {
		put(l, l->used++, s);
		return true;
	}
	l->left_out++;
	if (!l->circular || !l->capacity)
		return false;
	put(l, l->first++, s);
	if (l->first == l->capacity)
		l->first = 0;
	return true;
}

const struct sample *log_at(const struct log *l, uint64_t index)
{
	uint64_t at = l->first + index;

	return (const struct sample *)(l->record + (at < l->capacity ? at : at - l->capacity) * l->record_bytes);
}
