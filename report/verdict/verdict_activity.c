// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the counters of host/counters/activity.c that affect the verdict. Counters of a driver are recognised by the
 * words in their names.
 */
#include "report/verdict/verdict_inside.h"

#include "options.h"
#include "report/verdict/verdict.h"
#include "result/result.h"

#include <inttypes.h>
#include <string.h>

/* ---- Which counters ---------------------------------------------------------------------------------------------- */

static bool in_group(const struct result_difference *d, const char *group)
{
	return !strncmp(d->group, group, strlen(group));
}

static bool names_any(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

/* A counter that decreased was reset by its driver: its value is a lower bound of the increase. */
static uint64_t counted(const struct result_difference *d)
{
	return d->change == ACTIVITY_COUNTED ? d->delta : d->change == ACTIVITY_RESET ? d->to : 0;
}

static const char *const stamp_words[] = { "stamp", "cqe", NULL };
static const char *const loss_words[] = { "skip", "timeout", "lost", "late", "flush", "discard", "clear", "err", "miss",
					  "drop", NULL };
static const char *const drop_words[] = { "drop", "discard", "missed", "overrun", "overflow", "fifo", "no_buf", "nobuf",
					  "out_of_buf", "nodesc", "no_desc", "error", "timeout", "lost", "abort",
					  NULL };
/* Intended drops: flow steering, BPF programs, packets for other hosts. */
static const char *const intended_words[] = { "steer", "xdp", "fdir", "filter", NULL };

static bool is_lost_stamp(const struct result_difference *d)
{
	if (in_group(d, "stamps of "))
		return strcmp(d->name, "transmit stamps given") != 0;
	return in_group(d, "driver statistics of ") && names_any(d->name, stamp_words) &&
	       names_any(d->name, loss_words);
}

/* The drops of an interface include packets of unknown protocols, such as LLDP and STP. */
static bool is_receive_drop(const struct result_difference *d)
{
	return in_group(d, "interface ") && !strcmp(d->name, "receive drops");
}

static bool is_drop(const struct result_difference *d)
{
	if (in_group(d, "interface "))
		return !is_receive_drop(d);
	return in_group(d, "driver statistics of ") && !names_any(d->name, stamp_words) &&
	       names_any(d->name, drop_words) && !names_any(d->name, intended_words);
}

static bool is_migration(const struct result_difference *d)
{
	return in_group(d, "measuring thread") && !strcmp(d->name, "migrations to another CPU");
}

static bool is_wait(const struct result_difference *d)
{
	return in_group(d, "measuring thread") && !strcmp(d->name, "waited for the CPU");
}

static bool is_heat(const struct result_difference *d)
{
	return in_group(d, "CPU ") && strstr(d->name, "throttled by heat") && !*d->unit;
}

static bool is_stolen(const struct result_difference *d)
{
	return in_group(d, "CPU ") && !strcmp(d->name, "stolen by the hypervisor");
}

static bool is_disruption(const struct result_difference *d)
{
	return in_group(d, "virtual machine") && d->change == ACTIVITY_CHANGED;
}

static bool is_frequency(const struct result_difference *d)
{
	return in_group(d, "CPU ") && !strcmp(d->name, "frequency");
}

/* ---- How much they counted --------------------------------------------------------------------------------------- */

/* Adds up the counters that pick() selects. names: gets their names and numbers; NULL: not needed. False: not read. */
static bool add_up(const struct verdict_facts *f, bool (*pick)(const struct result_difference *d), uint64_t *sum,
		   struct verdict_finding *names)
{
	const struct result_differences *all = &f->result->activity.run;

	*sum = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct result_difference *d = &all->list[i];

		if (!pick(d) || !counted(d))
			continue;
		*sum += counted(d);
		if (names)
			verdict_say(names, "%s%s %" PRIu64, verdict_comma(names), d->name, counted(d));
	}
	return all->known;
}

/* True if host/counters/activity.c could not read this counter. */
static bool is_unreadable(const struct verdict_facts *f, const char *what)
{
	const struct result_activity *a = &f->result->activity;

	for (unsigned i = 0; i < a->unreadables; i++)
		if (!strncmp(a->unreadable[i], what, strlen(what)))
			return true;
	return false;
}

/* The measuring thread is pinned to a CPU, whose counters were read. */
static bool has_cpu(const struct verdict_facts *f)
{
	return f->result->activity.is_read && f->result->activity.is_pinned;
}

/* ---- The reasons ------------------------------------------------------------------------------------------------- */

enum verdict_outcome verdict_look_lost_stamps(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (is_unreadable(f, "statistics of the NIC") && is_unreadable(f, "transmit stamps as the driver counts them"))
		return CANNOT_TELL;
	return add_up(f, is_lost_stamp, &found->number, found) ? JUDGED : CANNOT_TELL;
}

enum verdict_outcome verdict_look_drops(const struct verdict_facts *f, struct verdict_finding *found)
{
	return add_up(f, is_drop, &found->number, found) ? JUDGED : CANNOT_TELL;
}

static int64_t duration_ns(const struct verdict_facts *f)
{
	int64_t ns = f->result->ended_ns - f->result->began_ns;

	return f->result->started && ns > 0 ? ns : 0;
}

enum verdict_outcome verdict_look_receive_drops(const struct verdict_facts *f, struct verdict_finding *found)
{
	uint64_t drops, seconds = (uint64_t)(duration_ns(f) / NS_PER_S) + 1;

	if (!add_up(f, is_receive_drop, &drops, NULL))
		return CANNOT_TELL;
	found->number = (drops + seconds - 1) / seconds;
	verdict_say(found, "%" PRIu64, drops);
	return JUDGED;
}

/* The count covers a little more than the loop: the loop had at most as many moves as context switches. */
enum verdict_outcome verdict_look_moved(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct verdict_thread *from = &f->thread[0], *to = &f->thread[1];
	bool known = add_up(f, is_migration, &found->number, NULL) && !is_unreadable(f, "migrations");

	if (from->known && to->known && to->switches - from->switches < found->number)
		found->number = to->switches - from->switches;
	if (from->cpu >= 0 && to->cpu >= 0 && from->cpu != to->cpu && !found->number)
		found->number = 1;
	verdict_say(found, "%" PRIu64 " time%s", found->number, verdict_s(found->number));
	if (from->cpu >= 0 && from->cpu == to->cpu)
		verdict_say(found, ", on CPU %d at the start and at the end", to->cpu);
	else if (from->cpu >= 0 && to->cpu >= 0)
		verdict_say(found, ", from CPU %d to CPU %d", from->cpu, to->cpu);
	return known || found->number ? JUDGED : CANNOT_TELL;
}

/* A shorter wait is not significant, whatever its share of a short run. The count covers a little more than the
 * loop. */
#define WAIT_LEAST_NS (10 * NS_PER_MS)

enum verdict_outcome verdict_look_waited(const struct verdict_facts *f, struct verdict_finding *found)
{
	uint64_t ns;
	int64_t run_ns = f->thread[1].at_ns - f->thread[0].at_ns;

	if (!add_up(f, is_wait, &ns, NULL) || is_unreadable(f, "time waited for the CPU") ||
	    is_unreadable(f, "waited for the CPU"))
		return CANNOT_TELL;
	if (ns < (uint64_t)WAIT_LEAST_NS || run_ns <= 0)
		return JUDGED;
	if (ns > (uint64_t)run_ns) {
		found->number = 100;
		verdict_say(found, "%.3f s, in a run of %.3f s and right before and after it", (double)ns / NS_PER_S,
			    (double)run_ns / NS_PER_S);
		return JUDGED;
	}
	found->number = (uint64_t)(((unsigned __int128)ns * 100 + (uint64_t)run_ns - 1) / (uint64_t)run_ns);
	verdict_say(found, "%.3f s, %.1f %% of the run", (double)ns / NS_PER_S, 100.0 * (double)ns / (double)run_ns);
	return JUDGED;
}

#define STALL_LONG_NS (200 * NS_PER_MS)

enum verdict_outcome verdict_look_stalled(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result *result = f->result;
	const int64_t run_ns = result->ended_ns - result->began_ns;
	uint64_t waited_ns = 0;
	int64_t ns;

	/* Without this counter the waiting time counts as 0. */
	add_up(f, is_wait, &waited_ns, NULL);
	ns = result->stalls.total_ns - (int64_t)(waited_ns < INT64_MAX ? waited_ns : INT64_MAX);
	if (result->stalls.longest_ns >= STALL_LONG_NS && ns < result->stalls.longest_ns)
		ns = result->stalls.longest_ns;
	if (ns < WAIT_LEAST_NS || run_ns <= 0)
		return JUDGED;
	if (ns > run_ns)
		ns = run_ns;
	found->number = (uint64_t)(((unsigned __int128)(uint64_t)ns * 100 + (uint64_t)run_ns - 1) / (uint64_t)run_ns);
	verdict_say(found, "%.3f s, %.1f %% of the run", (double)ns / NS_PER_S, 100.0 * (double)ns / (double)run_ns);
	return JUDGED;
}

/* /proc/stat counts in ticks of 10 ms: a single tick may contain steal time from before the run. */
#define STOLEN_LEAST_MS 20

enum verdict_outcome verdict_look_stolen(const struct verdict_facts *f, struct verdict_finding *found)
{
	const int64_t run_ns = f->thread[1].at_ns - f->thread[0].at_ns;
	uint64_t ms;

	if (!has_cpu(f) || is_unreadable(f, "time stolen by the hypervisor") ||
	    is_unreadable(f, "stolen by the hypervisor") || !add_up(f, is_stolen, &ms, NULL))
		return CANNOT_TELL;
	if (ms < STOLEN_LEAST_MS || run_ns <= 0)
		return JUDGED;
	if (ms > (uint64_t)(run_ns / NS_PER_MS))
		ms = (uint64_t)(run_ns / NS_PER_MS);
	found->number = (ms * NS_PER_MS * 100 + (uint64_t)run_ns - 1) / (uint64_t)run_ns;
	verdict_say(found, "%.2f s, %.1f %% of the run", (double)ms / 1000,
		    100.0 * (double)ms * NS_PER_MS / (double)run_ns);
	return JUDGED;
}

enum verdict_outcome verdict_look_disrupted(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_differences *all = &f->result->activity.run;

	if (!all->known || is_unreadable(f, "disruptions of the virtual machine"))
		return CANNOT_TELL;
	if (!f->result->activity.sees_disruptions)
		return NOT_ASKED;
	for (size_t i = 0; i < all->count; i++) {
		const struct result_difference *d = &all->list[i];

		if (!is_disruption(d))
			continue;
		found->number = 1;
		verdict_say(found, "marker %" PRIu64 " at the start, %" PRIu64 " at the end", d->from, d->to);
	}
	return JUDGED;
}

enum verdict_outcome verdict_look_heat(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (!has_cpu(f) || is_unreadable(f, "core throttled by heat"))
		return CANNOT_TELL;
	return add_up(f, is_heat, &found->number, found) ? JUDGED : CANNOT_TELL;
}

enum verdict_outcome verdict_look_frequency(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_differences *all = &f->result->activity.run;

	if (!all->known || !has_cpu(f) || is_unreadable(f, "frequency"))
		return CANNOT_TELL;
	for (size_t i = 0; i < all->count; i++) {
		const struct result_difference *d = &all->list[i];
		uint64_t from = d->from, to = d->to, high = from > to ? from : to;

		if (!is_frequency(d) || d->change != ACTIVITY_CHANGED || !high)
			continue;
		found->number = ((from > to ? from - to : to - from) * 100 + high - 1) / high;
		verdict_say(found, "from %" PRIu64 " to %" PRIu64 " MHz", from / 1000, to / 1000);
	}
	return JUDGED;
}
