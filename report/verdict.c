// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * May the numbers be trusted? One table of reasons; each has a function that looks at what the run left behind. Nothing
 * is measured or changed here, and what could not be read is not judged.
 */
#include "report/verdict.h"

#include "histogram.h"
#include "host/activity.h"
#include "host/clock.h"
#include "host/nic.h"
#include "host/nic_names.h"
#include "host/nic_stamp.h"
#include "measure/exchange.h"
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>

enum outcome { JUDGED, NOT_ASKED, CANNOT_TELL };

/* What one of the functions found: the number that is held against the limit, and the words for it. */
struct finding {
	uint64_t number;
	char text[VERDICT_TEXT_BYTES];
};

struct row {
	const char *name;
	enum verdict_level level;
	uint64_t limit; /* more than that is a reason */
	enum outcome (*look)(const struct verdict_facts *f, struct finding *found);
	const char *why;
};

__attribute__((format(printf, 2, 3))) static void say(struct finding *found, const char *format, ...)
{
	size_t used = strlen(found->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(found->text + used, sizeof(found->text) - used, format, arguments);
	va_end(arguments);
}

/* ", " between the parts of a list. */
static const char *comma(const struct finding *found)
{
	return *found->text ? ", " : "";
}

static int64_t duration_ns(const struct verdict_facts *f)
{
	int64_t ns = f->exchange->ended_ns - f->exchange->began_ns;

	return f->exchange->started && ns > 0 ? ns : 0;
}

/* ---- The samples ----------------------------------------------------------------------------------------------------- */

static enum outcome look_recorded(const struct verdict_facts *f, struct finding *found)
{
	const struct account *a = &f->exchange->account;

	found->number = counter_get(&a->recorded) == 0;
	say(found, "%" PRIu64 " packets sent", counter_get(&a->sent));
	return JUDGED;
}

/* All that were to be measured and were answered. */
static uint64_t measured(const struct account *a)
{
	return counter_get(&a->recorded) + counter_get(&a->unstamped) + counter_get(&a->negative) +
	       counter_get(&a->stepped);
}

static enum outcome look_stamps(const struct verdict_facts *f, struct finding *found)
{
	const struct account *a = &f->exchange->account;
	uint64_t missing = counter_get(&a->unstamped), all = measured(a);

	found->number = missing;
	say(found, "%" PRIu64 " of %" PRIu64 " samples, %.2g %%", missing, all,
	    all ? 100.0 * (double)missing / (double)all : 0.0);
	return f->options->stamp == SOURCE_USER ? NOT_ASKED : JUDGED;
}

/* In percent, rounded up, so that the limit is what it says. */
static enum outcome look_most_stamps(const struct verdict_facts *f, struct finding *found)
{
	const struct account *a = &f->exchange->account;
	uint64_t all = measured(a);

	if (!all || f->options->stamp == SOURCE_USER)
		return NOT_ASKED;
	found->number = (uint64_t)(((unsigned __int128)counter_get(&a->unstamped) * 100 + all - 1) / all);
	say(found, "%" PRIu64 " %% of the samples", found->number);
	return JUDGED;
}

static enum outcome look_unmatched(const struct verdict_facts *f, struct finding *found)
{
	found->number = counter_get(&f->exchange->account.stamp_unmatched);
	say(found, "%" PRIu64 " transmit stamps of no packet in flight", found->number);
	return f->options->stamp == SOURCE_USER ? NOT_ASKED : JUDGED;
}

static enum outcome look_negative(const struct verdict_facts *f, struct finding *found)
{
	found->number = counter_get(&f->exchange->account.negative);
	say(found, "%" PRIu64 " not recorded", found->number);
	return JUDGED;
}

static enum outcome look_stages(const struct verdict_facts *f, struct finding *found)
{
	found->number = counter_get(&f->exchange->account.stage_negative);
	say(found, "%" PRIu64 " by more than their bound", found->number);
	return f->exchange->has_stages ? JUDGED : NOT_ASKED;
}

/* --threshold-on something that needs the other host's times, and that they did not come with every reply. */
static enum outcome look_threshold(const struct verdict_facts *f, struct finding *found)
{
	const struct options *o = f->options;
	const struct account *a = &f->exchange->account;

	if (o->role != ROLE_EMIT || !o->threshold_ns || o->threshold_on == FIGURE_RTT)
		return NOT_ASKED;
	found->number = counter_get(&a->unjudged);
	say(found, "%" PRIu64 " of %" PRIu64 " samples, %s time not known", found->number, counter_get(&a->recorded),
	    o->threshold_on == FIGURE_NETWORK ? "network" : "response");
	return JUDGED;
}

static enum outcome look_balance(const struct verdict_facts *f, struct finding *found)
{
	found->number = !f->balanced;
	say(found, "a fault of rant, please report it");
	return JUDGED;
}

static enum outcome look_log(const struct verdict_facts *f, struct finding *found)
{
	if (!f->log || f->log->circular)
		return NOT_ASKED;
	found->number = f->log->left_out;
	say(found, "%" PRIu64 " records left out", found->number);
	return JUDGED;
}

static uint64_t not_kept(const struct histogram *h)
{
	return h->overflows > h->overflow_capacity ? h->overflows - h->overflow_capacity : 0;
}

static enum outcome look_overflow(const struct verdict_facts *f, struct finding *found)
{
	found->number = not_kept(f->histogram);
	say(found, "%" PRIu64 " samples above --overflow were not kept, so that percentiles among them are bounds",
	    found->number);
	return JUDGED;
}

/* ---- The NIC --------------------------------------------------------------------------------------------------------- */

static void say_setting(struct finding *found, const char *before, const int setting[3])
{
	say(found, "%stransmit '%s', receive '%s'", before, nic_tx_type_name(setting[1]), nic_filter_name(setting[2]));
}

static enum outcome look_filter(const struct verdict_facts *f, struct finding *found)
{
	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (f->setting_error[0])
		return CANNOT_TELL;
	found->number = !nic_stamps_all(f->setting[0]);
	say_setting(found, "", f->setting[0]);
	return JUDGED;
}

static enum outcome look_setting(const struct verdict_facts *f, struct finding *found)
{
	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (f->setting_error[0] || f->setting_error[1])
		return CANNOT_TELL;
	found->number = memcmp(f->setting[0], f->setting[1], sizeof(f->setting[0])) != 0;
	say_setting(found, "from ", f->setting[0]);
	say_setting(found, " to ", f->setting[1]);
	return JUDGED;
}

/* activity.c counts much; these are the ones that say something about the numbers. */
static bool in_group(const struct activity_difference *d, const char *group)
{
	return !strncmp(d->group, group, strlen(group));
}

static bool has_word(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(text, *words))
			return true;
	return false;
}

/* Of a counter that went back (a driver that began anew) what it has now is the least that it counted. */
static uint64_t counted(const struct activity_difference *d)
{
	return d->change == ACTIVITY_COUNTED ? d->delta : d->change == ACTIVITY_RESET ? d->to : 0;
}

static const char *const stamp_words[] = { "stamp", "cqe", NULL };
static const char *const loss_words[] = { "skip", "timeout", "lost", "late", "flush", "discard", "clear", "err", "miss",
					  "drop", NULL };
static const char *const drop_words[] = { "drop", "discard", "missed", "overrun", "overflow", "fifo", "no_buf", "nobuf",
					  "out_of_buf", "nodesc", "no_desc", "error", "timeout", "lost", "abort", NULL };
/* What is meant to be dropped: by flow steering, by a program of the user, packets for nobody here. */
static const char *const intended_words[] = { "steer", "xdp", "fdir", "filter", NULL };

static bool is_lost_stamp(const struct activity_difference *d)
{
	if (in_group(d, "stamps of "))
		return strcmp(d->name, "transmit stamps given") != 0;
	return in_group(d, "driver statistics of ") && has_word(d->name, stamp_words) && has_word(d->name, loss_words);
}

/* Packets that no protocol of this host wanted, such as those of LLDP and STP, count among the interface's drops. */
static bool is_receive_drop(const struct activity_difference *d)
{
	return in_group(d, "interface ") && !strcmp(d->name, "receive drops");
}

static bool is_drop(const struct activity_difference *d)
{
	if (in_group(d, "interface "))
		return !is_receive_drop(d);
	return in_group(d, "driver statistics of ") && !has_word(d->name, stamp_words) && has_word(d->name, drop_words) &&
	       !has_word(d->name, intended_words);
}

static bool is_migration(const struct activity_difference *d)
{
	return in_group(d, "measuring thread") && !strcmp(d->name, "migrations to another CPU");
}

static bool is_wait(const struct activity_difference *d)
{
	return in_group(d, "measuring thread") && !strcmp(d->name, "waited for the CPU");
}

static bool is_heat(const struct activity_difference *d)
{
	return in_group(d, "CPU ") && strstr(d->name, "throttled by heat") && !*d->unit;
}

static bool is_frequency(const struct activity_difference *d)
{
	return in_group(d, "CPU ") && !strcmp(d->name, "frequency");
}

static struct activity_difference differences[ACTIVITY_COUNTERS];

/* -1: nothing was read. */
static int find_differences(const struct verdict_facts *f)
{
	size_t all;

	if (!f->activity || !f->activity_start || !f->activity_end)
		return -1;
	all = activity_differences(f->activity, f->activity_start, f->activity_end, differences, ACTIVITY_COUNTERS);
	return (int)(all < ACTIVITY_COUNTERS ? all : ACTIVITY_COUNTERS);
}

/* Adds up all that one of the above picks; their names and numbers are the text, if it is wanted. False: not read. */
static bool add_up(const struct verdict_facts *f, bool (*pick)(const struct activity_difference *d), uint64_t *sum,
		   struct finding *names)
{
	int all = find_differences(f);

	*sum = 0;
	for (int i = 0; i < all; i++) {
		const struct activity_difference *d = &differences[i];

		if (!pick(d) || !counted(d))
			continue;
		*sum += counted(d);
		if (names)
			say(names, "%s%s %" PRIu64, comma(names), d->name, counted(d));
	}
	return all >= 0;
}

/* Did activity.c say that it cannot tell it? */
static bool is_unreadable(const struct verdict_facts *f, const char *what)
{
	for (unsigned i = 0; f->activity && i < f->activity->unreadables; i++)
		if (!strncmp(f->activity->unreadable[i], what, strlen(what)))
			return true;
	return false;
}

static enum outcome look_lost_stamps(const struct verdict_facts *f, struct finding *found)
{
	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (is_unreadable(f, "statistics of the NIC") && is_unreadable(f, "transmit stamps as the driver counts them"))
		return CANNOT_TELL;
	return add_up(f, is_lost_stamp, &found->number, found) ? JUDGED : CANNOT_TELL;
}

static enum outcome look_drops(const struct verdict_facts *f, struct finding *found)
{
	return add_up(f, is_drop, &found->number, found) ? JUDGED : CANNOT_TELL;
}

/* Per second, begun ones too, rounded up. */
static enum outcome look_receive_drops(const struct verdict_facts *f, struct finding *found)
{
	uint64_t drops, seconds = (uint64_t)(duration_ns(f) / NS_PER_S) + 1;

	if (!add_up(f, is_receive_drop, &drops, NULL))
		return CANNOT_TELL;
	found->number = (drops + seconds - 1) / seconds;
	say(found, "%" PRIu64, drops);
	return JUDGED;
}

/* ---- The clocks ------------------------------------------------------------------------------------------------------ */

/* The NIC's clock makes hardware stamps, the system's makes all others. */
static enum outcome look_steps(const struct verdict_facts *f, struct finding *found)
{
	uint64_t nic, system, left_out = counter_get(&f->exchange->account.stepped);

	if (!f->clocks && !left_out)
		return CANNOT_TELL;
	nic = f->clocks && options_by_nic(f->options) ? counter_get(&f->clocks->track[CLOCK_OF_NIC].steps) : 0;
	system = f->clocks && (!options_by_nic(f->options) || exchange_has_stages(f->exchange)) ?
			 counter_get(&f->clocks->track[CLOCK_OF_SYSTEM].steps) : 0;
	found->number = nic + system + left_out;
	if (nic)
		say(found, "the NIC's clock %" PRIu64 " times", nic);
	if (system)
		say(found, "%sCLOCK_REALTIME %" PRIu64 " times", comma(found), system);
	if (left_out)
		say(found, "%s%" PRIu64 " samples left out", comma(found), left_out);
	return JUDGED;
}

static enum outcome look_standstill(const struct verdict_facts *f, struct finding *found)
{
	const struct clock_track *t;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!f->clocks || f->clocks->phc_fd < 0)
		return CANNOT_TELL;
	t = &f->clocks->track[CLOCK_OF_NIC];
	found->number = counter_get(&t->standstills);
	say(found, "%" PRIu64 " times, %.3f s in all", found->number, (double)t->stood_ns / NS_PER_S);
	return JUDGED;
}

/* In percent of the readings, rounded up. */
static enum outcome look_unread_clock(const struct verdict_facts *f, struct finding *found)
{
	const struct clock_watch *c = f->clocks;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c || c->phc_fd < 0 || !c->readings)
		return CANNOT_TELL;
	found->number = (c->failures * 100 + c->readings - 1) / c->readings;
	say(found, "%" PRIu64 " of %" PRIu64 " readings failed, the last: %s", c->failures, c->readings, strerror(c->failure));
	return JUDGED;
}

/* ---- The thread, its CPU, its memory --------------------------------------------------------------------------------- */

void verdict_read_thread(struct verdict_thread *t)
{
	struct rusage usage;

	*t = (struct verdict_thread){ .at_ns = clock_read_ns(CLOCK_MONOTONIC), .cpu = sched_getcpu(),
				      .known = !getrusage(RUSAGE_THREAD, &usage) };
	if (!t->known)
		return;
	t->minor_faults = (uint64_t)usage.ru_minflt;
	t->major_faults = (uint64_t)usage.ru_majflt;
	t->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* The count covers a little more than the loop; whoever never left his CPU in it was not moved in it. */
static enum outcome look_moved(const struct verdict_facts *f, struct finding *found)
{
	const struct verdict_thread *from = &f->thread[0], *to = &f->thread[1];
	bool known = add_up(f, is_migration, &found->number, NULL) && !is_unreadable(f, "migrations");

	if (from->known && to->known && to->switches - from->switches < found->number)
		found->number = to->switches - from->switches;
	if (from->cpu >= 0 && to->cpu >= 0 && from->cpu != to->cpu && !found->number)
		found->number = 1;
	say(found, "%" PRIu64 " times, from CPU %d to CPU %d", found->number, from->cpu, to->cpu);
	return known || found->number ? JUDGED : CANNOT_TELL;
}

/* Of the run, in percent, rounded up; a short run must wait at least this long for it to say something. */
#define WAIT_LEAST_NS (10 * NS_PER_MS)

static enum outcome look_waited(const struct verdict_facts *f, struct finding *found)
{
	uint64_t ns;
	int64_t run_ns = f->thread[1].at_ns - f->thread[0].at_ns;

	if (!add_up(f, is_wait, &ns, NULL) || is_unreadable(f, "time waited for the CPU") ||
	    is_unreadable(f, "waited for the CPU"))
		return CANNOT_TELL;
	if (ns < (uint64_t)WAIT_LEAST_NS || run_ns <= 0)
		return JUDGED;
	found->number = (uint64_t)(((unsigned __int128)ns * 100 + (uint64_t)run_ns - 1) / (uint64_t)run_ns);
	say(found, "%.3f s, %.1f %% of the run", (double)ns / NS_PER_S, 100.0 * (double)ns / (double)run_ns);
	return JUDGED;
}

static enum outcome look_heat(const struct verdict_facts *f, struct finding *found)
{
	if (!f->activity || f->activity->cpu < 0 || is_unreadable(f, "core throttled by heat"))
		return CANNOT_TELL;
	return add_up(f, is_heat, &found->number, found) ? JUDGED : CANNOT_TELL;
}

/* In percent of the higher one, rounded up. */
static enum outcome look_frequency(const struct verdict_facts *f, struct finding *found)
{
	int all = find_differences(f);

	if (all < 0 || f->activity->cpu < 0 || is_unreadable(f, "frequency"))
		return CANNOT_TELL;
	for (int i = 0; i < all; i++) {
		uint64_t from = differences[i].from, to = differences[i].to, high = from > to ? from : to;

		if (!is_frequency(&differences[i]) || differences[i].change != ACTIVITY_CHANGED || !high)
			continue;
		found->number = ((from > to ? from - to : to - from) * 100 + high - 1) / high;
		say(found, "from %" PRIu64 " to %" PRIu64 " MHz", from / 1000, to / 1000);
	}
	return JUDGED;
}

static enum outcome look_lock(const struct verdict_facts *f, struct finding *found)
{
	found->number = f->lock_error != 0;
	say(found, "%s", strerror(-f->lock_error));
	return JUDGED;
}

static enum outcome look_faults(const struct verdict_facts *f, struct finding *found)
{
	const struct verdict_thread *from = &f->thread[0], *to = &f->thread[1];
	uint64_t major = to->major_faults - from->major_faults;

	if (!from->known || !to->known)
		return CANNOT_TELL;
	found->number = to->minor_faults - from->minor_faults + major;
	say(found, "%" PRIu64, found->number);
	if (major)
		say(found, ", %" PRIu64 " of them from disk", major);
	return JUDGED;
}

static enum outcome look_resident(const struct verdict_facts *f, struct finding *found)
{
	if (f->absent_bytes < 0)
		return CANNOT_TELL;
	found->number = (uint64_t)f->absent_bytes;
	say(found, "%" PRIu64 " kB", (found->number + 1023) / 1024);
	return JUDGED;
}

/* ---- The table ------------------------------------------------------------------------------------------------------- */

/* The README has it as well; a test holds the two together. */
static const struct row table[] = {
	{ "nothing was recorded", VERDICT_VOID, 0, look_recorded,
	  "there is no number to trust" },
	{ "most stamps are missing", VERDICT_VOID, 50, look_most_stamps,
	  "what is left was chosen by the driver and is no picture of the whole; limit in % of the samples" },
	{ "stamps are missing", VERDICT_DOUBTFUL, 0, look_stamps,
	  "a sample that was not recorded may have been the slow one" },
	{ "the NIC does not stamp what was asked", VERDICT_VOID, 0, look_filter,
	  "read back right before the run: the driver granted less than it said" },
	{ "the NIC's setting was changed during the run", VERDICT_DOUBTFUL, 0, look_setting,
	  "another program (ptp4l?) uses the NIC; read back after the run, before it is restored" },
	{ "the driver lost stamps", VERDICT_DOUBTFUL, 0, look_lost_stamps,
	  "its counters (skipped, timeouts, lost ...) moved: for this program's packets or for another's" },
	{ "stamps did not match", VERDICT_DOUBTFUL, 0, look_unmatched,
	  "the kernel gave stamps with unknown numbers: other stamps may be on the wrong packet" },
	{ "a clock was set", VERDICT_DOUBTFUL, 0, look_steps,
	  "a latency that spans the step is wrong by its size; such samples are left out where they can be told (Stepped)" },
	{ "the NIC's clock stood still", VERDICT_VOID, 0, look_standstill,
	  "stamps of a clock that does not run measure nothing" },
	{ "the NIC's clock could not be read", VERDICT_DOUBTFUL, 10, look_unread_clock,
	  "steps of it may have been missed; limit in % of the readings" },
	{ "latencies were negative", VERDICT_DOUBTFUL, 0, look_negative,
	  "a clock went back, or stamps are wrong" },
	{ "stages were negative", VERDICT_DOUBTFUL, 0, look_stages,
	  "the two clocks of a stage are not related as it was assumed" },
	{ "a threshold was not judged", VERDICT_DOUBTFUL, 0, look_threshold,
	  "the reflector did not tell what --threshold-on is about: one of these may have been above it" },
	{ "the log is incomplete", VERDICT_DOUBTFUL, 0, look_log,
	  "it was full: give --duration or --count; not asked of the circular log of --snapshot" },
	{ "the overflow store was full", VERDICT_DOUBTFUL, 0, look_overflow,
	  "give a larger --overflow" },
	{ "the NIC counted errors or drops", VERDICT_DOUBTFUL, 0, look_drops,
	  "packets were lost in this host, so loss and latency are not those of the network" },
	{ "packets were dropped on receipt", VERDICT_DOUBTFUL, 1, look_receive_drops,
	  "as above; limit per second, since packets of unknown protocols count too" },
	{ "the measuring thread was moved to another CPU", VERDICT_DOUBTFUL, 0, look_moved,
	  "its caches are cold after it: pin it with taskset" },
	{ "the measuring thread had to wait for its CPU", VERDICT_DOUBTFUL, 1, look_waited,
	  "throttled (real-time limit, cgroup) or pushed aside; limit in % of the run, at least 10 ms" },
	{ "the CPU was throttled by heat", VERDICT_DOUBTFUL, 0, look_heat,
	  "it ran slower for a while" },
	{ "the CPU's frequency changed", VERDICT_DOUBTFUL, 5, look_frequency,
	  "from the start to the end, limit in %: set a fixed frequency" },
	{ "memory is not locked", VERDICT_DOUBTFUL, 0, look_lock,
	  "page faults may show as latency: run as root, or raise ulimit -l" },
	{ "page faults during the run", VERDICT_DOUBTFUL, 0, look_faults,
	  "each stops the measuring thread, and there must be none" },
	{ "memory of histogram or log is not resident", VERDICT_DOUBTFUL, 0, look_resident,
	  "recording a sample faults" },
	{ "the accounts do not balance", VERDICT_VOID, 0, look_balance,
	  "a packet is counted nowhere or twice" },
};

#define ROWS (sizeof(table) / sizeof(table[0]))

_Static_assert(ROWS <= VERDICT_REASONS, "there is room for all");

void verdict_reach(struct verdict *v, const struct verdict_facts *f)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &table[i];
		struct finding found = { 0 };
		struct verdict_reason *r;
		enum outcome answer = row->look(f, &found);

		if (answer == NOT_ASKED || (answer == JUDGED && found.number <= row->limit))
			continue;
		r = answer == JUDGED ? &v->reason[v->reasons++] : &v->unjudged[v->unjudgeds++];
		*r = (struct verdict_reason){ .level = row->level, .name = row->name, .why = row->why };
		if (answer != JUDGED)
			continue;
		memcpy(r->text, found.text, sizeof(r->text));
		if (row->level > v->level)
			v->level = row->level;
	}
}

bool verdict_fails(const struct verdict *v, bool strict)
{
	return v->level > (strict ? VERDICT_TRUSTED : VERDICT_DOUBTFUL);
}
