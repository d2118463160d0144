// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the numbers can be trusted: a table of reasons; each has a function that examines the result of the run. The
 * functions that use counters of host/counters/activity.c are in verdict_activity.c. Nothing is measured or changed
 * here, and values that could not be read are not judged.
 */
#include "report/verdict/verdict.h"

#include "histogram.h"
#include "options.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/verdict/steadiness.h"
#include "report/verdict/verdict_inside.h"
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
	const char *unit; /* unit of number and limit; empty: 1 means yes, or an event */
	enum verdict_outcome (*look)(const struct verdict_facts *f, struct verdict_finding *found);
	const char *id; /* for programs: never changed, never used again */
	const char *why;
	const char *cure; /* one action, without a full stop */
};

/* ---- The samples ------------------------------------------------------------------------------------------------- */

static enum verdict_outcome look_recorded(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct account *a = &f->result->account;

	found->number = counter_get(&a->recorded) == 0;
	verdict_say(found, "%" PRIu64 " packets sent", counter_get(&a->sent));
	return JUDGED;
}

/* Number of answered probes that should have been recorded. */
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

/* In percent, rounded up. */
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
		verdict_say(found, "%" PRIu64 " sample%s left out of the stages", left_out, verdict_s(left_out));
	if (negative)
		verdict_say(found, "%s%" PRIu64 " negative times of response or network", verdict_comma(found),
			    negative);
	return result->has_stages ? JUDGED : NOT_ASKED;
}

/* --threshold-on may need times of the other host, which some replies lack. */
static enum verdict_outcome look_threshold(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct options *o = f->options;
	const struct account *a = &f->result->account;

	if (o->role != ROLE_EMIT || !o->threshold_ns || o->threshold_on == METRIC_RTT)
		return NOT_ASKED;
	found->number = counter_get(&a->unjudged);
	verdict_say(found, "%" PRIu64 " of %" PRIu64 " samples, %s time not known", found->number,
		    counter_get(&a->recorded), o->threshold_on == METRIC_NETWORK ? "network" : "response");
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
	const struct result_log *l = &f->result->log;

	if (!l->exists || l->circular)
		return NOT_ASKED;
	found->number = l->left_out + l->unwritten;
	verdict_say(found, "%" PRIu64 " records left out", found->number);
	return JUDGED;
}

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static void say_setting(struct verdict_finding *found, const char *before, const struct result_nic_setting *s)
{
	verdict_say(found, "%stransmit '%s', receive '%s'", before, s->transmit, s->filter);
}

static enum verdict_outcome look_filter(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_nic_setting *s = &f->result->nic.setting[0];

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!s->known)
		return CANNOT_TELL;
	found->number = !s->stamps;
	say_setting(found, "", s);
	return JUDGED;
}

static enum verdict_outcome look_setting(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_nic_setting *s = f->result->nic.setting;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!s[0].known || !s[1].known)
		return CANNOT_TELL;
	found->number = memcmp(s[0].value, s[1].value, sizeof(s[0].value)) != 0;
	say_setting(found, "from ", &s[0]);
	say_setting(found, " to ", &s[1]);
	return JUDGED;
}


/* ---- The clocks -------------------------------------------------------------------------------------------------- */

/* Hardware timestamps use the NIC's clock, all others the system clock. */
static enum verdict_outcome look_steps(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_clocks *c = &f->result->clocks;
	const struct result_clock_track *t = &c->track[CLOCK_OF_NIC];
	uint64_t nic, system, left_out = counter_get(&f->result->account.stepped);

	if (!c->watched && !left_out)
		return CANNOT_TELL;
	if (t->wrong_rates || t->standstills)
		/* timestamps of a clock that stands still or is too fast contradict the user-space times too */
		left_out = 0;
	nic = options_by_nic(f->options) ? t->steps : 0;
	system = !options_by_nic(f->options) || options_place_sent(f->options) || result_has_stages(f->result) ?
			 c->track[CLOCK_OF_SYSTEM].steps : 0;
	found->number = nic + system + left_out;
	if (nic)
		verdict_say(found, "the NIC's clock %" PRIu64 " time%s", nic, verdict_s(nic));
	if (system)
		verdict_say(found, "%sCLOCK_REALTIME %" PRIu64 " time%s", verdict_comma(found), system, verdict_s(system));
	if (left_out)
		verdict_say(found, "%s%" PRIu64 " sample%s left out", verdict_comma(found), left_out,
			    verdict_s(left_out));
	return JUDGED;
}

/* After a step or a fault of the clock its own timestamps are in a wrong order. */
static enum verdict_outcome look_stamp_check(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct stamp_check *c = &f->result->stamp_check;
	const struct result_clock_track *t = &f->result->clocks.track[CLOCK_OF_NIC];
	const uint64_t repeated = c->repeated[STAMP_SENT] + c->repeated[STAMP_RECEIVED];
	const uint64_t backward = c->backward[STAMP_SENT] + c->backward[STAMP_RECEIVED];

	if (!options_by_nic(f->options) || t->steps || t->standstills || t->wrong_rates ||
	    counter_get(&f->result->account.stepped))
		return NOT_ASKED;
	found->number = stamp_check_faults(c);
	if (repeated)
		verdict_say(found, "%" PRIu64 " repeated an earlier one", repeated);
	if (backward)
		verdict_say(found, "%s%" PRIu64 " %s before an earlier one", verdict_comma(found), backward,
			    backward == 1 ? "was" : "were");
	return JUDGED;
}

static enum verdict_outcome look_standstill(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_clocks *c = &f->result->clocks;
	const struct result_clock_track *t = &c->track[CLOCK_OF_NIC];

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c->comparable)
		return CANNOT_TELL;
	found->number = t->standstills;
	verdict_say(found, "%" PRIu64 " time%s, %.3f s in all", found->number, verdict_s(found->number),
		    (double)t->stood_ns / NS_PER_S);
	return JUDGED;
}

static enum verdict_outcome look_rate(const struct verdict_facts *f, struct verdict_finding *found)
{
	const struct result_clocks *c = &f->result->clocks;
	const struct clock_rate *worst = NULL;
	int64_t lasted_ns = 0;
	char text[48];

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c->comparable)
		return CANNOT_TELL;
	found->number = c->track[CLOCK_OF_NIC].wrong_rates;
	for (uint32_t i = 0; i < c->faults_kept; i++) {
		const struct result_clock_fault *s = &c->fault[i];

		if (s->stands)
			continue;
		lasted_ns += s->lasted_ns[0];
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
	const struct result_clocks *c = &f->result->clocks;

	if (!options_by_nic(f->options))
		return NOT_ASKED;
	if (!c->comparable || !c->readings)
		return CANNOT_TELL;
	found->number = (c->failures * 100 + c->readings - 1) / c->readings;
	verdict_say(found, "%" PRIu64 " of %" PRIu64 " readings failed, the last: %s", c->failures, c->readings,
		    c->failure);
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

/* docs/report.md has the same table; a test compares them. */
static const struct reason table[] = {
	{ "nothing was recorded", VERDICT_VOID, 0, "", look_recorded,
	  "nothing-recorded",
	  "the run has no results, because no sample was recorded",
	  "see the losses and the lines on stderr" },
	{ "the peer did not answer", VERDICT_VOID, 50, "%", verdict_look_most_silence,
	  "peer-silent-mostly",
	  "latency during these outages is not known; each lost probe counts as one --timeout; "
	  "limit in % of the run",
	  "see whether the reflector runs, its host and the path" },
	{ "the peer did not answer", VERDICT_DOUBTFUL, 1, "per mille", verdict_look_silence,
	  "peer-silent",
	  "latency during these outages is not known and may have been the largest; limit in 1/1000 "
	  "of the run",
	  "see the outages below, and the log of the reflector" },
	{ "slots of --interval were missed", VERDICT_DOUBTFUL, 1, "per mille", verdict_look_schedule,
	  "slots-missed",
	  "latency in these slots is not known: give a longer --interval; limit in 1/1000 of the "
	  "slots",
	  "a longer --interval, or --window" },
	{ "most stamps are missing", VERDICT_VOID, 50, "%", look_most_stamps,
	  "stamps-missing-mostly",
	  "the driver chose the remaining samples, which do not represent the rest; limit in % of "
	  "the samples",
	  "--stamp kernel, or a longer --interval" },
	{ "stamps are missing", VERDICT_DOUBTFUL, 0, "packets", look_stamps,
	  "stamps-missing",
	  "a sample that was not recorded may have been the slowest",
	  "a longer --interval, or another driver" },
	{ "the NIC does not stamp what was asked", VERDICT_VOID, 0, "", look_filter,
	  "nic-stamps-other",
	  "the setting read back right before the run is less than the driver reported",
	  "--transport ptp, or --stamp kernel" },
	{ "the NIC's setting was changed during the run", VERDICT_DOUBTFUL, 0, "", look_setting,
	  "nic-setting-changed",
	  "another program (ptp4l?) uses the NIC; read back after the run, before it is restored",
	  "end the program that sets it (ptp4l?)" },
	{ "the driver lost stamps", VERDICT_DOUBTFUL, 0, "stamps", verdict_look_lost_stamps,
	  "driver-lost-stamps",
	  "its counters (skipped, timeouts, lost ...) increased, by packets of rant or of another "
	  "program",
	  "a longer --interval, fewer programs that use stamps" },
	{ "stamps did not match", VERDICT_DOUBTFUL, 0, "stamps", look_unmatched,
	  "stamps-unmatched",
	  "the kernel returned timestamps with unknown ids: others may be matched to the wrong "
	  "packet",
	  "measure again; report it if it stays" },
	{ "the NIC's stamps contradict each other", VERDICT_DOUBTFUL, 0, "stamps", look_stamp_check,
	  "nic-stamps-contradict",
	  "a timestamp equals that of an earlier packet, or is before it: latencies that contain it are wrong; not judged "
	  "after a step or a fault of the clock",
	  "another driver or firmware, or --stamp kernel" },
	{ "a clock was set", VERDICT_DOUBTFUL, 0, "", look_steps,
	  "clock-set",
	  "a latency across the step is wrong by its size; such samples are left out where they are "
	  "detected (Stepped)",
	  "stop NTP and phc2sys from stepping, then measure again" },
	{ "the NIC's clock stood still", VERDICT_VOID, 0, "times", look_standstill,
	  "nic-clock-stopped",
	  "differences of timestamps of a clock that does not run are meaningless",
	  "another driver or NIC, or --stamp kernel" },
	{ "the NIC's clock runs at a wrong rate", VERDICT_VOID, 0, "times", look_rate,
	  "nic-clock-rate",
	  "every latency is wrong by this factor; limit 1000 ppm beyond its frequency setting, of "
	  "which 1000 ppm count",
	  "end the program that sets its frequency, or --stamp kernel" },
	{ "the NIC's clock could not be read", VERDICT_DOUBTFUL, 10, "%", look_unread_clock,
	  "nic-clock-unread",
	  "steps of it may have been missed; limit in % of the readings",
	  "see the driver's messages in dmesg" },
	{ "the reflector's clock was set", VERDICT_DOUBTFUL, 0, "", verdict_look_steps_remote,
	  "peer-clock-set",
	  "samples across the step are left out of response and network where they are detected "
	  "(Remote step)",
	  "stop NTP and phc2sys there from stepping" },
	{ "the reflector's stamps contradict each other", VERDICT_DOUBTFUL, 0, "samples", verdict_look_outliers_remote,
	  "peer-stamps-contradict",
	  "some T2 or T3 are impossible, although the clocks run as before: they are left out "
	  "(Remote step)",
	  "another stamp source at the reflector" },
	{ "the reflector's clock stood still", VERDICT_VOID, 0, "times", verdict_look_standstill_remote,
	  "peer-clock-stopped",
	  "response and network of that time are not known",
	  "another driver or NIC there" },
	{ "the reflector's clock runs at a wrong rate", VERDICT_VOID, 0, "times", verdict_look_rate_remote,
	  "peer-clock-rate",
	  "by more than 0.1 % against the clock of this host: response and network are wrong by "
	  "this factor",
	  "find the program that sets the frequency of its clock" },
	{ "the reflector doubts its clock", VERDICT_DOUBTFUL, 0, "replies", verdict_look_doubt_remote,
	  "peer-clock-doubted",
	  "it reports that its clock was set or stood still, or has a frequency error",
	  "see the report of the reflector" },
	{ "latencies were negative", VERDICT_DOUBTFUL, 0, "samples", look_negative,
	  "latency-negative",
	  "a clock went back, or timestamps are wrong",
	  "stop the program that sets the clock, then measure again" },
	{ "times were out of order", VERDICT_DOUBTFUL, 0, "samples", look_stages,
	  "stage-order",
	  "the assumed relation between the two clocks of a stage is wrong",
	  "stop the program that sets the clocks, then measure again" },
	{ "a threshold was not judged", VERDICT_DOUBTFUL, 0, "samples", look_threshold,
	  "threshold-unjudged",
	  "the reflector did not report the times for --threshold-on: such a sample may have been "
	  "above the threshold",
	  "--threshold-on rtt" },
	{ "the log is incomplete", VERDICT_DOUBTFUL, 0, "records", look_log,
	  "log-incomplete",
	  "the disk or the reader of the log is too slow, or its thread has no CPU; not judged for "
	  "the circular log of --snapshot",
	  "a faster disk, or --log-threshold" },
	{ "the level changed", VERDICT_DOUBTFUL, 0, "times", verdict_look_steadiness,
	  "level-changed",
	  "the percentiles mix the times before and after: measure these apart, or exclude the first seconds by --warmup",
	  "measure the times before and after apart, or --warmup" },
	{ "this host refused to send replies", VERDICT_DOUBTFUL, 0, "packets", verdict_look_refused_replies,
	  "replies-refused",
	  "a firewall, a missing route or a full queue: at the emitter these probes count as lost",
	  "see the firewall and the routes of this host" },
	{ "this host dropped packets", VERDICT_DOUBTFUL, 0, "packets", verdict_look_dropped,
	  "host-dropped",
	  "the measuring thread did not read its socket in time: the packets count as lost, or are "
	  "not counted",
	  "--fifo 22 on an isolated CPU" },
	{ "the link went down", VERDICT_DOUBTFUL, 0, "times", verdict_look_link,
	  "link-down",
	  "by the kernel's carrier counter and the state after the run: the losses happened at the "
	  "link of this host",
	  "see the cable and the switch" },
	{ "another NIC stamped", VERDICT_VOID, 0, "times", verdict_look_stamper,
	  "nic-other",
	  "a bond sent by another member, which has another clock and was not set up for "
	  "timestamps; hardware timestamps only",
	  "name one member of the bond by -i" },
	{ "the timestamp provider changed", VERDICT_VOID, 0, "times", verdict_look_provider,
	  "nic-provider",
	  "another program (ptp4l?) selected the MAC or the PHY, which has another clock and was not set up for timestamps; "
	  "hardware timestamps only",
	  "stop the program that selects it, then measure again" },
	{ "the NIC counted errors or drops", VERDICT_DOUBTFUL, 0, "packets", verdict_look_drops,
	  "nic-errors",
	  "packets were lost in this host, so loss and latency do not describe the network",
	  "see ethtool -S; larger rings (ethtool -G)" },
	{ "packets were dropped on receipt", VERDICT_DOUBTFUL, 1, "packets/s", verdict_look_receive_drops,
	  "receive-drops",
	  "packets were lost in this host; limit per second, since packets of unknown protocols "
	  "count too",
	  "see nstat and the firewall of this host" },
	{ "the measuring thread was moved to another CPU", VERDICT_DOUBTFUL, 0, "times", verdict_look_moved,
	  "thread-moved",
	  "its caches are cold afterwards: pin it with taskset",
	  "--cpu N" },
	{ "the measuring thread had to wait for its CPU", VERDICT_DOUBTFUL, 1, "%", verdict_look_waited,
	  "cpu-wait",
	  "throttled (real-time limit, cgroup) or preempted; limit in % of the run, at least 10 ms",
	  "--fifo 22 on an isolated CPU" },
	{ "the measuring thread did not run", VERDICT_DOUBTFUL, 1, "%", verdict_look_stalled,
	  "thread-stalled",
	  "it was stopped for longer than it waited for its CPU: signal, debugger, frozen cgroup or "
	  "hypervisor; limit in % of the run, at least 10 ms",
	  "a host without a hypervisor, no debugger" },
	{ "the hypervisor took the measuring CPU", VERDICT_DOUBTFUL, 1, "%", verdict_look_stolen,
	  "cpu-stolen",
	  "steal time of the CPU (/proc/stat): the host of the virtual machine ran something else; limit in % of the run, "
	  "at least 20 ms",
	  "a virtual machine with dedicated CPUs" },
	{ "the virtual machine was disrupted", VERDICT_DOUBTFUL, 0, "", verdict_look_disrupted,
	  "vm-disrupted",
	  "the hypervisor reports a migration, a pause or a restored snapshot during the run (VMClock): a latency across it "
	  "may be wrong",
	  "measure again, without migrations" },
	{ "the CPU was throttled by heat", VERDICT_DOUBTFUL, 0, "times", verdict_look_heat,
	  "cpu-heat",
	  "the CPU ran at a lower frequency for some time",
	  "better cooling, or a lower fixed frequency" },
	{ "the CPU's frequency changed", VERDICT_DOUBTFUL, 5, "%", verdict_look_frequency,
	  "cpu-frequency",
	  "difference between start and end; limit in %",
	  "a fixed frequency (cpupower frequency-set)" },
	{ "memory is not locked", VERDICT_DOUBTFUL, 0, "", look_lock,
	  "memory-unlocked",
	  "page faults may appear as latency: run as root, or raise ulimit -l",
	  "run as root, or raise ulimit -l" },
	{ "page faults during the run", VERDICT_DOUBTFUL, 0, "faults", look_faults,
	  "page-faults",
	  "each page fault stops the measuring thread",
	  "run as root, or raise ulimit -l" },
	{ "memory of histogram or log is not resident", VERDICT_DOUBTFUL, 0, "bytes", look_resident,
	  "memory-absent",
	  "recording a sample causes a page fault",
	  "raise ulimit -l, close other programs" },
	{ "the accounts do not balance", VERDICT_VOID, 0, "", look_balance,
	  "counters-unbalanced",
	  "a packet is counted twice or not at all",
	  "report it as a fault of rant" },
};

#define ROWS (sizeof(table) / sizeof(table[0]))

_Static_assert(ROWS <= VERDICT_REASONS, "the verdict can hold all reasons");

void verdict_take(struct verdict_facts *f, const struct report *r)
{
	f->options = r->options;
	f->result = r->result;
	f->histogram = r->histogram;
	f->balanced = account_balances(&r->result->account, r->options->role, r->histogram,
				       r->result->log.offered);
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
		*r = (struct verdict_reason){ .level = row->level, .id = row->id, .name = row->name,
					      .unit = row->unit, .why = row->why, .cure = row->cure,
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
