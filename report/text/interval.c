// SPDX-License-Identifier: GPL-2.0-or-later
/* The buckets of the last copy are replaced by the difference, and then by the buckets of the new copy, so only one
 * more histogram is needed. */
#include "report/text/interval.h"

#include "report/text/label.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Without memory for samples above the limit. */
static bool lay_out(struct interval *v, struct histogram *since, const struct histogram *now)
{
	*since = (struct histogram){ .width_ns = now->width_ns, .limit_ns = now->limit_ns, .most_ns = now->most_ns,
				     .buckets = now->buckets, .log_buckets = now->log_buckets,
				     .log_first = now->log_first };
	if (!v->memory)
		v->memory = calloc(1, histogram_bytes(since));
	if (v->memory)
		histogram_assign(since, v->memory);
	return v->memory;
}

static void subtract_buckets(struct histogram *since, const struct histogram *now)
{
	for (uint32_t i = 0; i < now->buckets + now->log_buckets; i++) {
		const uint64_t n = histogram_bucket(now, i) - histogram_bucket(since, i);

		since->low[i] = (uint8_t)n;
		since->carry[i] = (uint32_t)(n >> 8);
		since->count += n;
		since->overflows += i < now->buckets ? 0 : n;
	}
}

static bool take_percentiles(struct interval *v, struct interval_line *line, const struct histogram *now)
{
	struct histogram since;

	if (!lay_out(v, &since, now))
		return false;
	subtract_buckets(&since, now);
	since.max_ns = line->max_ns;
	if (since.count) {
		line->p50 = histogram_percentile(&since, 50, 100);
		line->p99 = histogram_percentile(&since, 99, 100);
	}
	memcpy(since.low, now->low, (now->buckets + now->log_buckets) * sizeof(*now->low));
	memcpy(since.carry, now->carry, (now->buckets + now->log_buckets) * sizeof(*now->carry));
	return since.count;
}

void interval_end(struct interval *v, struct interval_line *line, struct result *result, const struct histogram *now,
		  int64_t now_ns)
{
	struct account *a = &result->account;
	const uint64_t recorded = counter_get(&a->recorded), lost = counter_get(&a->lost);

	*line = (struct interval_line){
		.seconds = label_seconds(now_ns - v->began_ns),
		.length = label_seconds(now_ns - (v->last_ns ? v->last_ns : v->began_ns)),
		.samples = recorded - v->recorded, .all_samples = recorded, .lost = lost - v->lost,
		.max_ns = atomic_exchange_explicit(&a->recent_max_ns, 0, memory_order_relaxed),
	};
	v->last_ns = now_ns;
	v->recorded = recorded;
	v->lost = lost;
	line->known = now && take_percentiles(v, line, now);
}

static void add_us(char *text, size_t bytes, const char *name, struct percentile p)
{
	text_add(text, bytes, "  %s %.3f us", name, label_us(p.value_ns));
}

void interval_write(char *text, size_t bytes, const struct interval_line *line, bool whole)
{
	*text = '\0';
	text_add(text, bytes, "%.1f s  %" PRIu64 " samples  %.0f/s", line->seconds,
		 whole ? line->all_samples : line->samples,
		 line->length > 0 ? (double)line->samples / line->length : 0);
	if (line->known) {
		add_us(text, bytes, "p50", line->p50);
		add_us(text, bytes, "p99", line->p99);
	} else {
		text_add(text, bytes, "  p50 -  p99 -");
	}
	if (line->samples)
		add_us(text, bytes, "max", (struct percentile){ .value_ns = line->max_ns });
	else
		text_add(text, bytes, "  max -");
	text_add(text, bytes, "  lost %" PRIu64, line->lost);
}

void interval_close(struct interval *v)
{
	free(v->memory);
	v->memory = NULL;
}
