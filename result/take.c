// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of objects of host/ as plain data. */
#include "result/take.h"

#include "host/counters/pmu.h"
#include "host/process/hook.h"
#include "result/counters.h"
#include "result/evidence.h"
#include "result/nic.h"
#include "tracefs.h"

#include <string.h>

void take_commands(struct result_commands *to, const struct hooks *from)
{
	to->commands = from->wanted->commands;
	memcpy(to->ran, from->ran, sizeof(to->ran));
	memcpy(to->failed, from->failed, sizeof(to->failed));
	memcpy(to->left_out, from->left_out, sizeof(to->left_out));
}

void take_trace(struct result_trace *to, const struct trace *from, const struct trace_saved *saved)
{
	*to = (struct result_trace){
		.snapshot = from->snapshot, .spare_bytes = from->spare_bytes, .start_error = from->start_error,
		.marked = counter_get(&from->marked), .refused = counter_get(&from->refused),
		.off = counter_get(&from->off), .while_frozen = counter_get(&from->while_frozen),
		.saves = from->saves, .frozen = trace_is_frozen(from), .unsaved = from->unsaved, .last = from->last,
	};
	memcpy(to->path, from->path, sizeof(to->path));
	memcpy(to->clock, from->clock, sizeof(to->clock));
	if (saved)
		to->saved = *saved;
}

void take_counters(struct result_counters *to, const struct pmc *from)
{
	*to = (struct result_counters){ .counters = from->counters, .user_only = from->user_only,
					.system_calls = from->system_calls, .quick = from->quick, .slow = from->slow,
					.failed = from->failed };
	for (unsigned i = 0; i < from->counters; i++) {
		to->name[i] = pmc_name(from, i);
		to->quick_sum[i] = from->quick_sum[i];
		to->spike[i] = from->spike[i];
		to->partial[i] = from->partial[i];
	}
	memcpy(to->missing, from->missing, sizeof(to->missing));
}

void take_nic(struct result_nic *to, const struct nic *from, const struct link_watch *link)
{
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->driver, from->driver, sizeof(to->driver));
	memcpy(to->bus, from->bus, sizeof(to->bus));
	to->mtu = from->mtu;
	to->phc_index = from->can.phc_index;
	to->changed = from->changed;
	if (!link_stamper_name(link, to->stamper))
		*to->stamper = '\0';
	to->stamper_is_other = link->stamper != from->index;
	to->moves = link->moves;
	to->before = link->before;
	to->after = link->after;
}
