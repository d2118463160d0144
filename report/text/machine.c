// SPDX-License-Identifier: GPL-2.0-or-later
/* Activity of the machine during the run: hardware counters and counters of the kernel. */
#include "report/text/machine.h"

#include "host/counters/activity.h"
#include "host/process/affinity.h"
#include "options.h"
#include "report/text/report.h"
#include "result/counters.h"

#include <inttypes.h>
#include <string.h>

void machine_write_affinity(FILE *out, const struct affinity *p)
{
	char text[AFFINITY_TEXT_BYTES];

	fprintf(out, "\nMeasuring thread: %s\n", affinity_text(p, text));
}

void machine_write_counters(FILE *out, const struct result_counters *p)
{
	fprintf(out, "\nHardware counters of an exchange%s:\n", p->user_only ? ", without the kernel's part" : "");
	fprintf(out, "  %-24s %14s %14s\n", "", "quick, mean", p->slow ? "spike" : "no spike");
	for (unsigned i = 0; i < p->counters; i++) {
		fprintf(out, "  %-24s", p->name[i]);
		if (p->quick)
			fprintf(out, " %14.1f", (double)p->quick_sum[i] / (double)p->quick);
		else
			fprintf(out, " %14s", "-");
		if (p->slow)
			fprintf(out, " %14" PRIu64, p->spike[i]);
		fprintf(out, "%s\n", p->partial[i] ? "  (did not count all the time: too low)" : "");
	}
	if (*p->missing)
		fprintf(out, "  Not here: %s\n", p->missing);
	if (p->failed)
		fprintf(out, "  %" PRIu64 " exchanges could not be counted\n", p->failed);
	if (p->system_calls)
		fprintf(out, "  Reading them costs %u system calls in each exchange\n", p->system_calls);
}

#define DIFFERENCES_MAX 200

static void write_differences(FILE *out, const struct report *r, const struct activity_reading *before,
			      const struct activity_reading *after)
{
	static struct activity_difference list[DIFFERENCES_MAX];
	size_t all = activity_differences(r->activity, before, after, list, DIFFERENCES_MAX);
	const char *group = "";

	for (size_t i = 0; i < all && i < DIFFERENCES_MAX; i++) {
		const struct activity_difference *d = &list[i];
		const char *blank = *d->unit ? " " : "";

		if (strcmp(group, d->group))
			fprintf(out, "  %s:\n", d->group);
		group = d->group;
		fprintf(out, "    %s: ", d->name);
		if (d->change == ACTIVITY_COUNTED)
			fprintf(out, "%" PRIu64 "%s%s\n", d->delta, blank, d->unit);
		else if (d->change == ACTIVITY_GONE)
			fprintf(out, "cannot be read any more\n");
		else
			fprintf(out, "%" PRIu64 " -> %" PRIu64 "%s%s%s\n", d->from, d->to, blank, d->unit,
				d->change == ACTIVITY_RESET ? " (how much was counted is not known)" : "");
	}
	if (!all)
		fprintf(out, "  Nothing that is counted here moved\n");
	if (all > DIFFERENCES_MAX)
		fprintf(out, "  and %zu more\n", all - DIFFERENCES_MAX);
}

void machine_write_activity(FILE *out, const struct report *r)
{
	const struct activity *a = r->activity;

	if (!r->activity_start || !r->activity_end)
		return;
	if (r->activity_breach) {
		fprintf(out, "\nActivity of the machine until the first breach");
		/* The housekeeping thread reads the counters, ten times a second if its CPU is free. */
		if (r->options->keep_going)
			fprintf(out, ", as read after %" PRIu64 " packets", r->activity_breach->mark);
		fprintf(out, ":\n");
		write_differences(out, r, r->activity_start, r->activity_breach);
	}
	if (r->activity_worst) {
		fprintf(out,
			"\nActivity of the machine from the breach before the worst to the worst, as read after %" PRIu64
			" and %" PRIu64 " packets:\n", r->activity_before_worst->mark, r->activity_worst->mark);
		write_differences(out, r, r->activity_before_worst, r->activity_worst);
	}
	if (!r->activity_breach || r->options->keep_going) {
		fprintf(out, "\nActivity of the machine during the run:\n");
		write_differences(out, r, r->activity_start, r->activity_end);
	}
	if (a->counters_left_out || a->unreadables_left_out)
		fprintf(out, "  Left out for lack of room: %u counters\n",
			a->counters_left_out + a->unreadables_left_out);
	for (unsigned i = 0; r->options->verbose && i < a->unreadables; i++)
		fprintf(out, "  Not readable: %s\n", a->unreadable[i]);
}
