// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of the times of --stamp receive. */
#include "report/text/limit.h"

#include "options.h"
#include "report/text/report.h"
#include "result/result.h"
#include "result/stages.h"

#include <inttypes.h>

/* Which hosts limit a time, and in which direction: this host, and the reflector of an emitter. */
static const struct {
	bool by_this, by_remote;
	const char *words;
} limits[][LIMITS] = {
	[ROLE_EMIT] = { [LIMIT_LATENCY] = { true, false, "at most" }, [LIMIT_RESPONSE] = { false, true, "at least" },
			[LIMIT_NETWORK] = { true, true, "at most" } },
	[ROLE_REFLECT] = { [LIMIT_LATENCY] = { true, false, "at least" } },
};

static bool is_by_this(const struct report *r, enum limit_of of)
{
	return limits[r->options->role][of].by_this && options_place_sent(r->options);
}

static bool is_by_remote(const struct report *r, enum limit_of of)
{
	return limits[r->options->role][of].by_remote && r->result->remote == SOURCE_RECEIVE;
}

const char *limit_words(const struct report *r, enum limit_of of)
{
	return of < LIMITS && (is_by_this(r, of) || is_by_remote(r, of)) ? limits[r->options->role][of].words : NULL;
}

struct optional limit_placed_ns(const struct report *r)
{
	const struct optional bound_ns = r->result->bound_ns[BOUND_LOCAL];
	const int64_t late_ns = r->result->clocks.late_ns;

	return bound_ns.known && late_ns > bound_ns.value ? optional_of(late_ns) : bound_ns;
}

struct optional limit_bound_ns(const struct report *r, enum limit_of of)
{
	const struct optional none = optional_of(0), unknown = { .known = false };
	struct optional by_this, by_remote;

	if (!limit_words(r, of))
		return unknown;
	by_this = is_by_this(r, of) ? limit_placed_ns(r) : none;
	by_remote = is_by_remote(r, of) ? r->result->bound_ns[BOUND_REMOTE] : none;
	return by_this.known && by_remote.known ? optional_of(by_this.value + by_remote.value) : unknown;
}

enum limit_of limit_of_stage(const struct report *r, int stage)
{
	if (r->options->role != ROLE_EMIT)
		return LIMITS;
	return stage == STAGE_RESPONSE ? LIMIT_RESPONSE : stage == STAGE_NETWORK ? LIMIT_NETWORK : LIMITS;
}

void limit_add(char *text, size_t bytes, const struct report *r, enum limit_of of)
{
	if (limit_words(r, of))
		text_add(text, bytes, ", %s", limit_words(r, of));
}

const char *limit_text(char *text, size_t bytes, const struct report *r, enum limit_of of)
{
	const char *words = limit_words(r, of);
	const struct optional bound_ns = limit_bound_ns(r, of);

	snprintf(text, bytes, "%s", words ? words : "");
	if (bound_ns.known)
		text_add(text, bytes, ", +-%" PRId64 " ns", bound_ns.value);
	return text;
}
