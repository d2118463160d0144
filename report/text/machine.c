// SPDX-License-Identifier: GPL-2.0-or-later
/* Activity of the machine during the run: hardware counters and counters of the kernel. */
#include "report/text/sections.h"

#include "options.h"
#include "report/text/report.h"
#include "result/result.h"

#include <inttypes.h>
#include <string.h>

void machine_write_counters(FILE *out, const struct result_counters *p)
{
	fprintf(out, "\nHardware counters of an exchange%s:\n", p->user_only ? ", without the kernel's part" : "");
	fprintf(out, "  %-24s %14s %14s\n", "", "quick, mean", p->slow ? "spike" : "no spike");
	for (unsigned i = 0; i < p->counters; i++) {
		fprintf(out, "  %-24s", p->name[i]);
		if (p->quick)
			fprintf(out, " %14.1f", p->quick_mean[i]);
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

static void write_differences(FILE *out, const struct result_differences *all)
{
	const char *group = "";

	for (size_t i = 0; i < all->count && i < DIFFERENCES_SHOWN; i++) {
		const struct result_difference *d = &all->list[i];
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
	if (!all->count)
		fprintf(out, "  Nothing that is counted here moved\n");
	if (all->count > DIFFERENCES_SHOWN)
		fprintf(out, "  and %zu more\n", all->count - DIFFERENCES_SHOWN);
}

void machine_write_activity(FILE *out, const struct report *r)
{
	const struct result_activity *a = &r->result->activity;

	if (!a->run.known)
		return;
	if (a->until_breach.known) {
		fprintf(out, "\nActivity of the machine until the first breach");
		/* The housekeeping thread reads the counters, ten times a second if its CPU is free. */
		if (r->options->keep_going)
			fprintf(out, ", as read after %" PRIu64 " packets", a->until_breach.mark[1]);
		fprintf(out, ":\n");
		write_differences(out, &a->until_breach);
	}
	if (a->before_worst.known) {
		fprintf(out,
			"\nActivity of the machine from the breach before the worst to the worst, as read after %" PRIu64
			" and %" PRIu64 " packets:\n", a->before_worst.mark[0], a->before_worst.mark[1]);
		write_differences(out, &a->before_worst);
	}
	if (!a->until_breach.known || r->options->keep_going) {
		fprintf(out, "\nActivity of the machine during the run:\n");
		write_differences(out, &a->run);
	}
	if (a->counters_left_out || a->unreadables_left_out)
		fprintf(out, "  Left out for lack of room: %u counters\n",
			a->counters_left_out + a->unreadables_left_out);
	for (unsigned i = 0; r->options->verbose && i < a->unreadables; i++)
		fprintf(out, "  Not readable: %s\n", a->unreadable[i]);
}
