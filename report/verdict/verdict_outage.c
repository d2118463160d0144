// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons about outages: full socket buffer, missing replies, link failures. */
#include "report/verdict/verdict_inside.h"

#include "options.h"
#include "result/result.h"

#include <errno.h>
#include <inttypes.h>

enum verdict_outcome verdict_look_refused_replies(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct account *a = &f->result->account;

	if (f->options->role == ROLE_EMIT)
		return NOT_ASKED;
	found->number = counter_get(&a->unanswered);
	verdict_say(found, "%" PRIu64 " of %" PRIu64, found->number, found->number + counter_get(&a->sent));
	return JUDGED;
}

enum verdict_outcome verdict_look_dropped(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct optional dropped = f->result->dropped;

	if (!dropped.known)
		return CANNOT_TELL;
	found->number = (uint64_t)dropped.value;
	verdict_say(found, "%" PRId64, dropped.value);
	return JUDGED;
}

/* Share of outages in 1/parts of the run, rounded up. */
static uint64_t share_of(const struct result *result, uint64_t parts)
{
	const int64_t run_ns = result->ended_ns - result->began_ns, ns = result->outages.total_ns;

	if (ns <= 0)
		return 0;
	if (run_ns <= ns)
		return parts;
	return (uint64_t)(((unsigned __int128)ns * parts + (uint64_t)run_ns - 1) / (uint64_t)run_ns);
}

#define MOST_PERCENT 50

static enum verdict_outcome look_silence(const struct verdict_facts *f, struct verdict_finding *found, bool most)
{
	const struct result *result = f->result;

	if (f->options->role != ROLE_EMIT || most != (share_of(result, 100) > MOST_PERCENT))
		return NOT_ASKED;
	found->number = share_of(result, most ? 100 : 1000);
	snprintf(found->more, sizeof(found->more), " for %.3f s", (double)result->outages.total_ns / NS_PER_S);
	verdict_say(found, "%.2f %%", outage_percent(&result->outages, result->ended_ns - result->began_ns));
	return JUDGED;
}

enum verdict_outcome verdict_look_silence(const struct verdict_facts *f, struct verdict_finding *found)
{
	return look_silence(f, found, false);
}

enum verdict_outcome verdict_look_most_silence(const struct verdict_facts *f, struct verdict_finding *found)
{
	return look_silence(f, found, true);
}

enum verdict_outcome verdict_look_schedule(const struct verdict_facts *f, struct verdict_finding *found)
{
	const uint64_t slots = counter_get(&f->result->slots), missed = counter_get(&f->result->missed);
	const uint64_t all = slots ? slots : 1;

	if (!f->options->interval_ns)
		return NOT_ASKED;
	found->number = (missed * 1000 + all - 1) / all;
	verdict_say(found, "%" PRIu64 " of %" PRIu64 ", %.2f %%", missed, slots, 100.0 * (double)missed / (double)all);
	return JUDGED;
}

enum verdict_outcome verdict_look_link(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct link_state *from = &f->result->nic.before, *to = &f->result->nic.after;
	uint32_t downs = 0;

	if (to->error == -ENODEV) {
		found->number = 1;
		verdict_say(found, "the interface is gone");
		return JUDGED;
	}
	if (from->error || to->error)
		return CANNOT_TELL;
	if (from->downs_known && to->downs_known)
		downs = to->downs - from->downs;
	found->number = downs + !to->up;
	if (downs)
		verdict_say(found, "%" PRIu32 " time%s", downs, verdict_s(downs));
	if (!to->up)
		verdict_say(found, "%sdown at the end", verdict_comma(found));
	return downs || !to->up || (from->downs_known && to->downs_known) ? JUDGED : CANNOT_TELL;
}

enum verdict_outcome verdict_look_stamper(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct link_state *from = &f->result->nic.before, *to = &f->result->nic.after;
	const bool other = from->stamper && to->stamper && from->stamper != to->stamper;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	found->number = f->result->nic.moves ? f->result->nic.moves : other;
	verdict_say(found, "%" PRIu64 " time%s", found->number, verdict_s(found->number));
	return found->number || (from->stamper && to->stamper) ? JUDGED : CANNOT_TELL;
}

enum verdict_outcome verdict_look_provider(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_nic *n = &f->result->nic;

	if (!options_by_nic(f->options) || !n->provider.known)
		return NOT_ASKED;
	found->number = n->provider_changes;
	verdict_say(found, "%u time%s", n->provider_changes, verdict_s(n->provider_changes));
	if (n->provider_changes)
		verdict_say(found, ": from %s to %s", n->provider_text, n->provider_after_text);
	return found->number || n->provider_after.known ? JUDGED : CANNOT_TELL;
}
