// SPDX-License-Identifier: GPL-2.0-or-later
/* Ring buffer of the log, in memory that is allocated before the run. */
#include "result/log.h"

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

void log_assign(struct log *l, void *memory, uint64_t capacity, bool circular, bool full)
{
	*l = (struct log){ .record = memory, .record_bytes = log_record_bytes(full), .capacity = capacity,
			   .circular = circular, .space = capacity };
}

/* ---- Producer ------------------------------------------------------------------------------------------------ */

static void put(struct log *l, const struct sample *s)
{
	uint8_t *to = l->record + l->place * l->record_bytes;

	/* Constant sizes, so that the compiler inlines memcpy(3). */
	if (l->record_bytes == SAMPLE_LOCAL_BYTES)
		memcpy(to, s, SAMPLE_LOCAL_BYTES);
	else
		memcpy(to, s, sizeof(*s));
	l->put++;
	if (++l->place == l->capacity)
		l->place = 0;
}

static void leave_out(struct log *l, const struct sample *s)
{
	if (!l->gap++)
		l->gap_seq = s->seq;
	counter_add(&l->left_out, 1);
}

/* A circular log has no consumer during the run. */
static bool make_space(struct log *l)
{
	if (!l->capacity)
		return false;
	counter_add(&l->left_out, !log_is_mark(log_at(l, 0)));
	log_take(l, 1);
	l->space++;
	return true;
}

/* True if a record fits, with the mark before it. */
static bool has_space(struct log *l)
{
	const uint64_t needed = l->gap ? 2 : 1;

	if (l->put + needed <= l->space)
		return true;
	if (l->circular)
		return make_space(l);
	l->space = atomic_load_explicit(&l->taken, memory_order_acquire) + l->capacity;
	return l->put + needed <= l->space;
}

bool log_add(struct log *l, const struct sample *s)
{
	if (!has_space(l)) {
		leave_out(l, s);
		return false;
	}
	if (l->gap) {
		put(l, &(struct sample){ .seq = l->gap_seq, .follow_up = LOG_GAP, .latency_ns = (int64_t)l->gap });
		l->gap = 0;
	}
	put(l, s);
	counter_add(&l->added, 1);
	atomic_store_explicit(&l->ready, l->put, memory_order_release);
	return true;
}

void log_mark_repeated(struct log *l, uint32_t seq)
{
	if (!has_space(l))
		return;
	put(l, &(struct sample){ .seq = seq, .follow_up = LOG_REPEATED });
	atomic_store_explicit(&l->ready, l->put, memory_order_release);
}

/* ---- Consumer --------------------------------------------------------------------------------------------------- */

uint64_t log_ready(const struct log *l)
{
	return atomic_load_explicit(&l->ready, memory_order_acquire) - log_taken(l);
}

void log_take(struct log *l, uint64_t n)
{
	l->oldest += n;
	if (l->oldest >= l->capacity)
		l->oldest -= l->capacity;
	atomic_store_explicit(&l->taken, log_taken(l) + n, memory_order_release);
}

/* ---- Result ----------------------------------------------------------------------------------------------------- */

/* A circular log has added those that it overwrote. */
uint64_t log_offered(const struct log *l)
{
	return counter_get(&l->added) + (l->circular ? 0 : counter_get(&l->left_out));
}

void log_result(const struct log *l, struct result_log *to)
{
	const uint64_t left_out = counter_get(&l->left_out);

	to->exists = true;
	to->capacity = l->capacity;
	to->circular = l->circular;
	to->offered = log_offered(l);
	to->overwritten = l->circular ? left_out : 0;
	to->left_out = l->circular ? 0 : left_out;
}
