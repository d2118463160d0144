// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * May the numbers be trusted? One table of reasons; each has a function that looks at what the run left behind. Those
 * that look at counters of host/counters/activity.c are in verdict_activity.c. Nothing is measured or changed here, and
 * what could not be read is not judged.
 */
#include "report/verdict/verdict.h"

#include "histogram.h"
#include "host/clock/clock.h"
#include "host/nic/nic.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_stamp.h"
#include "options.h"
#include "report/log/log_writer.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/verdict/verdict_activity.h"
#include "report/verdict/verdict_finding.h"
#include "report/verdict/verdict_outage.h"
#include "report/verdict/verdict_there.h"
#include "result/log.h"
#include "result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

struct reason {
	const char *name;
	enum verdict_level level;
	uint64_t limit; /* more than that is a reason */
	enum verdict_outcome (*look)(const struct verdict_facts *f, struct verdict_finding *found);
	const char *why;
};

/* ---- The samples ------------------------------------------------------------------------------------------------- */

static enum verdict_outcome look_recorded(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct account *a = &f->result->account;

	found->number = counter_get(&a->recorded) == 0;
	verdict_say(found, "%" PRIu64 " packets sent", counter_get(&a->sent));
	return JUDGED;
}

/* All that were to be measured and were answered. */
static uint64_t measured(const struct account *a)
{
	return counter_get(&a->recorded) + counter_get(&a->unstamped) + counter_get(&a->negative) +
	       counter_get(&a->stepped);
}

static enum verdict_outcome look_stamps(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct account *a = &f->result->account;
	uint64_t missing = counter_get(&a->unstamped), all = measured(a);

	const double percent = all ? 100.0 * (double)missing / (double)all : 0;

	found->number = missing;
	verdict_say(found, "%" PRIu64 " of %" PRIu64 " samples, ", missing, all);
	verdict_say(found, percent < 0.0001 ? "less than 0.0001 %%" : percent < 10 ? "%.2g %%" : "%.0f %%", percent);
	return f->options->stamp == SOURCE_USER ? NOT_ASKED : JUDGED;
}

/* In percent, rounded up, so that the limit is what it says. */
static enum verdict_outcome look_most_stamps(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct account *a = &f->result->account;
	uint64_t all = measured(a);

	if (!all || f->options->stamp == SOURCE_USER)
		return NOT_ASKED;
	found->number = (uint64_t)(((unsigned __int128)counter_get(&a->unstamped) * 100 + all - 1) / all);
	verdict_say(found, "%" PRIu64 " %% of the samples", found->number);
	return JUDGED;
}

static enum verdict_outcome look_unmatched(const struct verdict_facts *f, struct verdict_finding *found)
{
	found->number = counter_get(&f->result->account.stamp_unmatched);
	verdict_say(found, "%" PRIu64 " transmit stamps of no packet in flight", found->number);
	return f->options->stamp == SOURCE_USER ? NOT_ASKED : JUDGED;
}

static enum verdict_outcome look_negative(const struct verdict_facts *f, struct verdict_finding *found)
{
	found->number = counter_get(&f->result->account.negative);
	verdict_say(found, "%" PRIu64 " not recorded", found->number);
	return JUDGED;
}

static enum verdict_outcome look_stages(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result *result = f->result;
	const uint64_t left_out = counter_get(&result->account.disordered);
	uint64_t negative = 0;

	if (f->options->role == ROLE_EMIT)
		for (int i = STAGE_RESPONSE; i <= STAGE_NETWORK; i++)
			negative += result->stage[i] ? result->stage[i]->negatives : 0;
	found->number = left_out + negative;
	if (left_out)
		verdict_say(found, "%" PRIu64 " samples left out of the stages", left_out);
	if (negative)
		verdict_say(found, "%s%" PRIu64 " negative times of response or network", verdict_comma(found),
			    negative);
	return result->has_stages ? JUDGED : NOT_ASKED;
}

/* --threshold-on may ask for times of the other host, which some replies do not bring. */
static enum verdict_outcome look_threshold(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct options *o = f->options;
	const struct account *a = &f->result->account;

	if (o->role != ROLE_EMIT || !o->threshold_ns || o->threshold_on == FIGURE_RTT)
		return NOT_ASKED;
	found->number = counter_get(&a->unjudged);
	verdict_say(found, "%" PRIu64 " of %" PRIu64 " samples, %s time not known", found->number,
		    counter_get(&a->recorded), o->threshold_on == FIGURE_NETWORK ? "network" : "response");
	return JUDGED;
}

static enum verdict_outcome look_balance(const struct verdict_facts *f, struct verdict_finding *found)
{
	found->number = !f->balanced;
	verdict_say(found, "a fault of rant, please report it");
	return JUDGED;
}

static enum verdict_outcome look_log(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (!f->log || f->log->circular)
		return NOT_ASKED;
	found->number = counter_get(&f->log->left_out) + f->log_unwritten;
	verdict_say(found, "%" PRIu64 " records left out", found->number);
	return JUDGED;
}

static uint64_t not_kept(const struct histogram *h)
{
	return h->overflows > h->overflow_capacity ? h->overflows - h->overflow_capacity : 0;
}

static enum verdict_outcome look_overflow(const struct verdict_facts *f, struct verdict_finding *found)
{
	found->number = not_kept(f->histogram);
	verdict_say(found, "%" PRIu64 " samples above --overflow were not kept, so that percentiles among them are "
		    "bounds", found->number);
	return JUDGED;
}

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static void say_setting(struct verdict_finding *found, const char *before, const int setting[3])
{
	verdict_say(found, "%stransmit '%s', receive '%s'", before, nic_tx_type_name(setting[1]),
		    nic_filter_name(setting[2]));
}

static enum verdict_outcome look_filter(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (f->setting_error[0])
		return CANNOT_TELL;
	found->number = !nic_stamps(f->setting[0], f->options);
	say_setting(found, "", f->setting[0]);
	return JUDGED;
}

static enum verdict_outcome look_setting(const struct verdict_facts *f, struct verdict_finding *found)
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


/* ---- The clocks -------------------------------------------------------------------------------------------------- */

/* The NIC's clock makes hardware stamps, the system's makes all others. */
static enum verdict_outcome look_steps(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct clock_track *t = f->clocks ? &f->clocks->track[CLOCK_OF_NIC] : NULL;
	uint64_t nic, system, left_out = counter_get(&f->result->account.stepped);

	if (!t && !left_out)
		return CANNOT_TELL;
	if (t && (counter_get(&t->wrong_rates) || counter_get(&t->standstills)))
		/* stamps of a clock that stands, or is too fast, do not fit to the times of user space either */
		left_out = 0;
	nic = f->clocks && options_by_nic(f->options) ? counter_get(&f->clocks->track[CLOCK_OF_NIC].steps) : 0;
	system = f->clocks && (!options_by_nic(f->options) || result_has_stages(f->result)) ?
			 counter_get(&f->clocks->track[CLOCK_OF_SYSTEM].steps) : 0;
	found->number = nic + system + left_out;
	if (nic)
		verdict_say(found, "the NIC's clock %" PRIu64 " times", nic);
	if (system)
		verdict_say(found, "%sCLOCK_REALTIME %" PRIu64 " times", verdict_comma(found), system);
	if (left_out)
		verdict_say(found, "%s%" PRIu64 " samples left out", verdict_comma(found), left_out);
	return JUDGED;
}

static enum verdict_outcome look_standstill(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct clock_track *t;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!f->clocks || f->clocks->phc_fd < 0)
		return CANNOT_TELL;
	t = &f->clocks->track[CLOCK_OF_NIC];
	found->number = counter_get(&t->standstills);
	verdict_say(found, "%" PRIu64 " times, %.3f s in all", found->number, (double)t->stood_ns / NS_PER_S);
	return JUDGED;
}

static enum verdict_outcome look_rate(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct clock_watch *c = f->clocks;
	const struct clock_rate *worst = NULL;
	int64_t lasted_ns = 0;
	char text[48];

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c || c->phc_fd < 0)
		return CANNOT_TELL;
	found->number = counter_get(&c->track[CLOCK_OF_NIC].wrong_rates);
	for (uint32_t i = 0; i < c->spells_kept; i++) {
		const struct clock_spell *s = &c->spell[i];
		int64_t ns[2];

		if (s->stands)
			continue;
		clock_spell_lasted(s, ns);
		lasted_ns += ns[0];
		if (!worst || s->rate.ppb * s->rate.ppb > worst->ppb * worst->ppb)
			worst = &s->rate;
	}
	if (worst) {
		label_rate(text, sizeof(text), worst, false);
		verdict_say(found, "%s, for %.1f s at least", text, (double)lasted_ns / NS_PER_S);
	}
	return JUDGED;
}

/* In percent of the readings, rounded up. */
static enum verdict_outcome look_unread_clock(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct clock_watch *c = f->clocks;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c || c->phc_fd < 0 || !c->readings)
		return CANNOT_TELL;
	found->number = (c->failures * 100 + c->readings - 1) / c->readings;
	verdict_say(found, "%" PRIu64 " of %" PRIu64 " readings failed, the last: %s", c->failures, c->readings,
		    clock_failure(c));
	return JUDGED;
}

/* ---- The thread, its CPU, its memory ----------------------------------------------------------------------------- */

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

static enum verdict_outcome look_lock(const struct verdict_facts *f, struct verdict_finding *found)
{
	found->number = f->lock_error != 0;
	verdict_say(found, "%s", strerror(-f->lock_error));
	return JUDGED;
}

static enum verdict_outcome look_faults(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct verdict_thread *from = &f->thread[0], *to = &f->thread[1];
	uint64_t major = to->major_faults - from->major_faults;

	if (!from->known || !to->known)
		return CANNOT_TELL;
	found->number = to->minor_faults - from->minor_faults + major;
	verdict_say(found, "%" PRIu64, found->number);
	if (major)
		verdict_say(found, ", %" PRIu64 " of them from disk", major);
	return JUDGED;
}

static enum verdict_outcome look_resident(const struct verdict_facts *f, struct verdict_finding *found)
{
	if (f->absent_bytes < 0)
		return CANNOT_TELL;
	found->number = (uint64_t)f->absent_bytes;
	verdict_say(found, "%" PRIu64 " kB", (found->number + 1023) / 1024);
	return JUDGED;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* docs/report.md has it as well; a test holds the two together. */
static const struct reason table[] = {
	{ "nothing was recorded", VERDICT_VOID, 0, look_recorded,
	  "there is no number to trust" },
	{ "the peer did not answer", VERDICT_VOID, 50, verdict_look_most_silence,
	  "of most of the run nothing is known: a lost probe stands for its --timeout; limit in % of the run" },
	{ "the peer did not answer", VERDICT_DOUBTFUL, 1, verdict_look_silence,
	  "nothing is known of that time, and what was late may have been in it; limit in 1/1000 of the run" },
	{ "slots of --interval were missed", VERDICT_DOUBTFUL, 1, verdict_look_schedule,
	  "what their probes would have met is not known: give a longer --interval; limit in 1/1000 of the slots" },
	{ "most stamps are missing", VERDICT_VOID, 50, look_most_stamps,
	  "what is left was chosen by the driver and is no picture of the whole; limit in % of the samples" },
	{ "stamps are missing", VERDICT_DOUBTFUL, 0, look_stamps,
	  "a sample that was not recorded may have been the slow one" },
	{ "the NIC does not stamp what was asked", VERDICT_VOID, 0, look_filter,
	  "read back right before the run: the driver granted less than it said" },
	{ "the NIC's setting was changed during the run", VERDICT_DOUBTFUL, 0, look_setting,
	  "another program (ptp4l?) uses the NIC; read back after the run, before it is restored" },
	{ "the driver lost stamps", VERDICT_DOUBTFUL, 0, verdict_look_lost_stamps,
	  "its counters (skipped, timeouts, lost ...) moved: for this program's packets or for another's" },
	{ "stamps did not match", VERDICT_DOUBTFUL, 0, look_unmatched,
	  "the kernel gave stamps with unknown numbers: other stamps may be on the wrong packet" },
	{ "a clock was set", VERDICT_DOUBTFUL, 0, look_steps,
	  "a latency that spans the step is wrong by its size; such samples are left out where they can be told "
	  "(Stepped)" },
	{ "the NIC's clock stood still", VERDICT_VOID, 0, look_standstill,
	  "stamps of a clock that does not run measure nothing" },
	{ "the NIC's clock runs at a wrong rate", VERDICT_VOID, 0, look_rate,
	  "every latency is off by that share; limit 1000 ppm beyond what its dial says, of which 1000 ppm count" },
	{ "the NIC's clock could not be read", VERDICT_DOUBTFUL, 10, look_unread_clock,
	  "steps of it may have been missed; limit in % of the readings" },
	{ "the reflector's clock was set", VERDICT_DOUBTFUL, 0, verdict_look_steps_there,
	  "what it spoilt is left out of response and network where it can be told (Stepped there)" },
	{ "the reflector's stamps contradict each other", VERDICT_DOUBTFUL, 0, verdict_look_outliers_there,
	  "some T2 or T3 cannot be, although the clocks run as before: those are left out (Stepped there)" },
	{ "the reflector's clock stood still", VERDICT_VOID, 0, verdict_look_standstill_there,
	  "response and network of that time are not known" },
	{ "the reflector's clock runs at a wrong rate", VERDICT_VOID, 0, verdict_look_rate_there,
	  "by more than 0.1 % against this host's: response and network are off by that share" },
	{ "the reflector doubts its clock", VERDICT_DOUBTFUL, 0, verdict_look_doubt_there,
	  "it says that its clock was set or stood still, or does not run right" },
	{ "latencies were negative", VERDICT_DOUBTFUL, 0, look_negative,
	  "a clock went back, or stamps are wrong" },
	{ "times were out of order", VERDICT_DOUBTFUL, 0, look_stages,
	  "the two clocks of a stage are not related as it was assumed" },
	{ "a threshold was not judged", VERDICT_DOUBTFUL, 0, look_threshold,
	  "the reflector did not tell what --threshold-on is about: one of these may have been above it" },
	{ "the log is incomplete", VERDICT_DOUBTFUL, 0, look_log,
	  "the disk, or who reads the log, is too slow, or its thread has no CPU; not asked of the circular log of "
	  "--snapshot" },
	{ "the overflow store was full", VERDICT_DOUBTFUL, 0, look_overflow,
	  "give a larger --overflow" },
	{ "this host refused to send replies", VERDICT_DOUBTFUL, 0, verdict_look_refused_replies,
	  "a firewall, or no route back, or a full queue: at the emitter they count as lost" },
	{ "this host dropped packets", VERDICT_DOUBTFUL, 0, verdict_look_dropped,
	  "the measuring thread did not read its socket for too long: they count as lost, or were never seen" },
	{ "the link went down", VERDICT_DOUBTFUL, 0, verdict_look_link,
	  "by the kernel's count of lost carriers and the state after the run: losses are those of this host's link" },
	{ "another NIC stamped", VERDICT_VOID, 0, verdict_look_stamper,
	  "a bond sent by another member: its clock is another one, and it was not set to stamp; not asked without "
	  "stamps of a NIC" },
	{ "the NIC counted errors or drops", VERDICT_DOUBTFUL, 0, verdict_look_drops,
	  "packets were lost in this host, so loss and latency are not those of the network" },
	{ "packets were dropped on receipt", VERDICT_DOUBTFUL, 1, verdict_look_receive_drops,
	  "as above; limit per second, since packets of unknown protocols count too" },
	{ "the measuring thread was moved to another CPU", VERDICT_DOUBTFUL, 0, verdict_look_moved,
	  "its caches are cold after it: pin it with taskset" },
	{ "the measuring thread had to wait for its CPU", VERDICT_DOUBTFUL, 1, verdict_look_waited,
	  "throttled (real-time limit, cgroup) or pushed aside; limit in % of the run, at least 10 ms" },
	{ "the measuring thread did not run", VERDICT_DOUBTFUL, 1, verdict_look_stalled,
	  "longer than it waited for its CPU: a signal, a debugger, a frozen cgroup, the hypervisor; limit in % of the "
	  "run, at least 10 ms" },
	{ "the CPU was throttled by heat", VERDICT_DOUBTFUL, 0, verdict_look_heat,
	  "it ran slower for a while" },
	{ "the CPU's frequency changed", VERDICT_DOUBTFUL, 5, verdict_look_frequency,
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

void verdict_take(struct verdict_facts *f, const struct report *r)
{
	f->options = r->options;
	f->result = r->result;
	f->histogram = r->histogram;
	f->log = r->log;
	f->log_unwritten = r->log ? r->log_writer->unwritten : 0;
	f->clocks = r->clocks;
	f->peer = r->peer;
	f->activity = r->activity;
	f->activity_start = r->activity_start;
	f->activity_end = r->activity_end;
	f->balanced = account_balances(&r->result->account, r->options->role, r->histogram, r->log);
}

void verdict_reach(struct verdict *v, const struct verdict_facts *f)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < ROWS; i++) {
		const struct reason *row = &table[i];
		struct verdict_finding found = { 0 };
		struct verdict_reason *r;
		enum verdict_outcome answer = row->look(f, &found);

		if (answer == NOT_ASKED || (answer == JUDGED && found.number <= row->limit))
			continue;
		r = answer == JUDGED ? &v->reason[v->reasons++] : &v->unjudged[v->unjudgeds++];
		*r = (struct verdict_reason){ .level = row->level, .name = row->name, .why = row->why,
					      .number = found.number, .limit = row->limit };
		if (answer != JUDGED)
			continue;
		memcpy(r->text, found.text, sizeof(r->text));
		memcpy(r->more, found.more, sizeof(r->more));
		if (row->level > v->level)
			v->level = row->level;
	}
}

bool verdict_fails(const struct verdict *v, bool strict)
{
	return v->level > (strict ? VERDICT_TRUSTED : VERDICT_DOUBTFUL);
}
