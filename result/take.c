// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of objects of host/ as plain data. */
#include "result/take.h"

#include "host/counters/activity_story.h"
#include "host/counters/pmu.h"
#include "host/process/affinity.h"
#include "host/process/hook.h"
#include "result/evidence.h"
#include "result/machine.h"
#include "tracefs.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void take_commands(struct result_commands *to, const struct hooks *from)
{
	to->commands = from->wanted->commands;
	for (int i = 0; i < to->commands; i++)
		to->command[i] = from->wanted->command[i];
	memcpy(to->ran, from->ran, sizeof(to->ran));
	memcpy(to->failed, from->failed, sizeof(to->failed));
	memcpy(to->left_out, from->left_out, sizeof(to->left_out));
}

void take_trace(struct result_trace *to, const struct trace *from, const struct trace_keeper *keeper)
{
	*to = (struct result_trace){
		.snapshot = from->snapshot, .events = from->events, .events_missing = from->events_missing,
		.spare_bytes = from->spare_bytes, .start_error = from->start_error,
		.marked = counter_get(&from->marked), .refused = counter_get(&from->refused),
		.off = counter_get(&from->off), .while_frozen = counter_get(&from->while_frozen),
		.saves = from->saves, .frozen = trace_is_frozen(from), .unsaved = from->unsaved, .last = from->last,
	};
	memcpy(to->path, from->path, sizeof(to->path));
	memcpy(to->clock, from->clock, sizeof(to->clock));
	if (!keeper)
		return;
	to->saved = keeper->saved;
	memcpy(to->kept, keeper->kept, sizeof(to->kept));
}

void take_counters(struct result_counters *to, const struct pmc *from)
{
	*to = (struct result_counters){ .counters = from->counters, .user_only = from->user_only,
					.system_calls = from->system_calls, .quick = from->quick, .slow = from->slow,
					.failed = from->failed };
	for (unsigned i = 0; i < from->counters; i++) {
		snprintf(to->name[i], sizeof(to->name[i]), "%s", pmc_name(from, i));
		to->quick_mean[i] = from->quick ? (double)from->quick_sum[i] / (double)from->quick : 0;
		to->spike[i] = from->spike[i];
		to->partial[i] = from->partial[i];
	}
	memcpy(to->missing, from->missing, sizeof(to->missing));
}

void take_affinity(struct result_affinity *to, const struct affinity *from)
{
	*to = (struct result_affinity){ .known = !from->error, .cpus = from->cpus, .priority = from->priority };
	_Static_assert(sizeof(to->text) >= AFFINITY_TEXT_BYTES, "the text has room");
	affinity_text(from, to->text);
	snprintf(to->policy, sizeof(to->policy), "%s", affinity_policy(from));
}

void take_changes(struct result_changes *to, const struct machine_changes *from)
{
	to->count = from->count;
	memcpy(to->kept, from->kept, sizeof(to->kept));
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

static void take_difference(struct result_difference *to, const struct activity_difference *from)
{
	snprintf(to->group, sizeof(to->group), "%s", from->group);
	snprintf(to->name, sizeof(to->name), "%s", from->name);
	snprintf(to->unit, sizeof(to->unit), "%s", from->unit);
	to->change = from->change;
	to->delta = from->delta;
	to->from = from->from;
	to->to = from->to;
}

static void take_differences(struct result_differences *to, const struct activity *a,
			     const struct activity_reading *before, const struct activity_reading *after)
{
	struct activity_difference *list = calloc(ACTIVITY_COUNTERS, sizeof(*list));
	const size_t all = list ? activity_differences(a, before, after, list, ACTIVITY_COUNTERS) : 0;

	to->mark[0] = before->mark;
	to->mark[1] = after->mark;
	to->list = list ? calloc(all + 1, sizeof(*to->list)) : NULL;
	to->known = to->list;
	if (!to->known)
		warnx("no memory for the activity of the machine: it is left out");
	for (; to->known && to->count < all && to->count < ACTIVITY_COUNTERS; to->count++)
		take_difference(&to->list[to->count], &list[to->count]);
	free(list);
}

void take_activity(struct result_activity *to, const struct activity_story *from)
{
	const struct activity *a = &from->activity;

	*to = (struct result_activity){ .is_read = true, .is_pinned = a->cpu >= 0, .sees_disruptions = a->sees_disruptions,
					.unreadables = a->unreadables,
					.unreadables_left_out = a->unreadables_left_out,
					.counters_left_out = a->counters_left_out };
	memcpy(to->unreadable, a->unreadable, sizeof(to->unreadable));
	take_differences(&to->run, a, &from->start, &from->end);
	if (from->has_breach)
		take_differences(&to->until_breach, a, &from->start, &from->breach);
	if (from->has_worst)
		take_differences(&to->before_worst, a, &from->before_worst, &from->worst);
}

void take_activity_free(struct result_activity *a)
{
	free(a->run.list);
	free(a->until_breach.list);
	free(a->before_worst.list);
	*a = (struct result_activity){ .is_read = false };
}
