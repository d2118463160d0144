// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons about the reflector's clock, from the exchanges and from its own reports. */
#include "report/verdict/verdict_inside.h"

#include "options.h"
#include "result/result.h"

#include <inttypes.h>

/* Number of events that are not faults of this host's clock. */
static enum verdict_outcome look(const struct verdict_facts *f, struct verdict_finding *found,
				 enum clock_peer_kind kind)
{
	const struct result_peer *p = &f->result->peer;

	if (!p->compared)
		return NOT_ASKED;
	found->number = p->faults[kind];
	return JUDGED;
}

enum verdict_outcome verdict_look_steps_remote(const struct verdict_facts *f, struct verdict_finding *found)
{
	const uint64_t left_out = counter_get(&f->result->account.follow_up[FOLLOW_UP_STEPPED]);
	enum verdict_outcome outcome = look(f, found, PEER_JUMPED);

	if (outcome != JUDGED)
		return outcome;
	if (found->number)
		verdict_say(found, "%" PRIu64 " time%s", found->number, verdict_s(found->number));
	if (left_out)
		verdict_say(found, "%s%" PRIu64 " sample%s left out of response and network", verdict_comma(found),
			    left_out, verdict_s(left_out));
	return JUDGED;
}

/* Contradictions without a clock fault. */
enum verdict_outcome verdict_look_outliers_remote(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_peer *p = &f->result->peer;

	if (!p->compared)
		return NOT_ASKED;
	found->number = p->events ? 0 : counter_get(&f->result->account.follow_up[FOLLOW_UP_STEPPED]);
	verdict_say(found, "%" PRIu64 " sample%s left out of response and network", found->number,
		    verdict_s(found->number));
	return JUDGED;
}

enum verdict_outcome verdict_look_standstill_remote(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_peer *p = &f->result->peer;
	enum verdict_outcome outcome = look(f, found, PEER_STOOD);
	int64_t stood_ns = 0;

	if (outcome != JUDGED)
		return outcome;
	for (uint64_t i = 0; i < clocks_peer_kept(p); i++)
		stood_ns += p->event[i].stood_ns;
	verdict_say(found, "%" PRIu64 " time%s, %.3f s or more in all", found->number,
		    verdict_s(found->number), (double)stood_ns / NS_PER_S);
	return JUDGED;
}

enum verdict_outcome verdict_look_rate_remote(const struct verdict_facts *f, struct verdict_finding *found)
{
	enum verdict_outcome outcome = look(f, found, PEER_WRONG_RATE);

	if (outcome == JUDGED)
		verdict_say(found, "%" PRIu64 " time%s, see Clocks", found->number, verdict_s(found->number));
	return outcome;
}

enum verdict_outcome verdict_look_doubt_remote(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (f->options->role != ROLE_EMIT)
		return NOT_ASKED;
	found->number = counter_get(&f->result->account.doubted);
	verdict_say(found, "%" PRIu64 " replies, the first to packet %" PRIu32, found->number, f->result->doubted_seq);
	return JUDGED;
}
