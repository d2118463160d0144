/* build: wraps=getrusage,sched_getcpu sources=histogram.c,report/text/label.c,report/verdict/steadiness.c,report/verdict/verdict_activity.c,report/verdict/verdict_finding.c,report/verdict/verdict_outage.c,report/verdict/verdict_remote.c,result/take_clocks.c,result/take_nic.c,host/counters/activity*.c,host/clock/clock*.c,host/nic/nic*.c,@result libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict: each reason alone, at its limit and one above it, all together, and conditions that are not a reason. */
#include "report/verdict/verdict.c"

#include "golden.h"
#include "host/clock/clock_peer.h"
#include "result/take.h"
#include "util.h"
#include "wire/socket.h"

#include <glob.h>

#define NAMES_BYTES 16384
#define NAMES_FILES 16

/* ---- A finished run without a fault ------------------------------------------------------------------------------ */

static struct options options;
static struct result result;
static struct histogram histogram, stage;
static struct clock_watch clocks;
static struct clock_peer peer;
static bool is_watched, is_compared;
static int setting[2][3], setting_error[2]; /* of the NIC, before and after the run */
static struct verdict_facts facts;
static struct verdict verdict;

/* Readings of activity.c. */
static struct result_difference reported[4];

static void print(const char *group, const char *name, const char *unit, enum activity_change change, uint64_t delta,
		  uint64_t from, uint64_t to)
{
	struct result_difference *d = &reported[result.activity.run.count++];

	*d = (struct result_difference){ .change = change, .delta = delta, .from = from, .to = to };
	strcpy(d->group, group);
	strcpy(d->name, name);
	strcpy(d->unit, unit);
}

static void print_counted(const char *group, const char *name, uint64_t delta)
{
	print(group, name, "", ACTIVITY_COUNTED, delta, 5, 5 + delta);
}

static struct rusage usage;
static int usage_error, cpu = 3;

int __wrap_getrusage(int who, struct rusage *u);
int __wrap_getrusage(int who, struct rusage *u)
{
	assert_int_equal(who, RUSAGE_THREAD);
	*u = usage;
	return usage_error;
}

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
	return cpu;
}

/* Hardware stamps with stages and a log: everything is asked. */
static int set_up(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&result, 0, sizeof(result));
	memset(&histogram, 0, sizeof(histogram));
	memset(&stage, 0, sizeof(stage));
	result.log.exists = true;
	memset(&clocks, 0, sizeof(clocks));
	is_watched = true;
	is_compared = false;
	result.dropped = optional_of(0);
	/* As if the link was up all the time. */
	result.nic.before = result.nic.after = (struct link_state){ .up = true, .downs_known = true, .stamper = 2 };
	result.nic.provider.known = result.nic.provider_after.known = true;
	clocks.readings = 100;
	options.stamp = SOURCE_HARDWARE;
	counter_add(&result.account.sent, 1000);
	counter_add(&result.account.recorded, 1000);
	result.stage[0] = &stage;
	result.has_stages = true;
	result.started = true;
	result.began_ns = 7 * NS_PER_S;
	result.ended_ns = 17 * NS_PER_S;
	result.activity = (struct result_activity){ .is_read = true, .is_pinned = true,
						    .run = { .known = true, .list = reported } };
	facts = (struct verdict_facts){
		.options = &options, .result = &result, .histogram = &histogram,
		.thread = { { .known = true, .minor_faults = 50, .major_faults = 2, .switches = 9,
			      .at_ns = 6 * NS_PER_S, .cpu = 3 },
			    { .known = true, .minor_faults = 50, .major_faults = 2, .switches = 30,
			      .at_ns = 16 * NS_PER_S, .cpu = 3 } },
		.balanced = true,
	};
	memcpy(setting, (const int[2][3]){ { 0, 1, 1 }, { 0, 1, 1 } }, sizeof(setting));
	setting_error[0] = setting_error[1] = 0;
	return 0;
}

/* As rant.c does after the run. */
static void judge(void)
{
	for (int i = 0; i < 2; i++)
		take_nic_setting(&result.nic.setting[i], setting[i], setting_error[i], &options);
	if (is_watched)
		take_clocks(&result.clocks, &clocks, result.began_ns);
	else
		result.clocks = (struct result_clocks){ 0 };
	if (is_compared)
		take_peer(&result.peer, &peer, is_watched ? &clocks : NULL, options_by_nic(&options));
	else
		result.peer = (struct result_peer){ 0 };
	verdict_reach(&verdict, &facts);
}

/* The reasons as the report writes them, in order. */
static const char *reached(void)
{
	static char text[NAMES_BYTES];

	judge();
	*text = 0;
	for (unsigned i = 0; i < verdict.reasons; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s (%s)", i ? "; " : "",
			 verdict.reason[i].name,
			 verdict.reason[i].text);
	golden("%s\n", *text ? text : "no reason");
	return text;
}

static const char *unjudged(void)
{
	static char text[NAMES_BYTES];

	judge();
	*text = 0;
	for (unsigned i = 0; i < verdict.unjudgeds; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? "; " : "",
			 verdict.unjudged[i].name);
		assert_string_equal(verdict.unjudged[i].text, "");
	}
	golden("not judged: %s\n", text);
	return text;
}

static void assert_doubtful(void)
{
	reached();
	assert_int_equal(verdict.level, VERDICT_DOUBTFUL);
}

static void assert_void(void)
{
	reached();
	assert_int_equal(verdict.level, VERDICT_VOID);
}

static void assert_trusted(void)
{
	assert_string_equal(reached(), "");
	assert_int_equal(verdict.level, VERDICT_TRUSTED);
}

static void without_a_fault(void **state)
{
	(void)state;
	assert_trusted();
	unjudged();
}

/* ---- The samples ------------------------------------------------------------------------------------------------- */

static void set(counter *c, uint64_t n)
{
	atomic_store(c, n);
}

static void nothing_recorded(void **state)
{
	(void)state;
	set(&result.account.recorded, 0);
	assert_void();
	set(&result.account.recorded, 1);
	assert_trusted();
}

static void stamps_missing(void **state)
{
	(void)state;
	set(&result.account.recorded, 1999999);
	set(&result.account.unstamped, 1);
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	assert_doubtful();
	options.stamp = SOURCE_USER;
	assert_trusted();
}

/* Half of them is the last that is doubtful. */
static void most_stamps_missing(void **state)
{
	(void)state;
	set(&result.account.recorded, 3);
	set(&result.account.negative, 1);
	set(&result.account.stepped, 1);
	set(&result.account.unstamped, 5);
	reached();
	assert_int_equal(verdict.level, VERDICT_DOUBTFUL);
	set(&result.account.unstamped, 6);
	reached();
	assert_int_equal(verdict.level, VERDICT_VOID);
	/* Where percent and half look the same. */
	set(&result.account.recorded, UINT32_MAX);
	set(&result.account.unstamped, (uint64_t)UINT32_MAX + 3);
	reached();
	assert_int_equal(verdict.level, VERDICT_VOID);
}

static void unmatched(void **state)
{
	(void)state;
	set(&result.account.stamp_unmatched, 1);
	assert_doubtful();
}

static void negative(void **state)
{
	(void)state;
	set(&result.account.negative, 1);
	assert_doubtful();
}

static void times_out_of_order(void **state)
{
	(void)state;
	set(&result.account.disordered, 1);
	static struct histogram network = { .negatives = 3 };

	assert_doubtful();
	options.role = ROLE_EMIT;
	result.stage[STAGE_NETWORK] = &network;
	assert_doubtful();
	result.stage[STAGE_NETWORK] = NULL;
	result.has_stages = false;
	assert_trusted();
}

/* ---- The reflector's clock --------------------------------------------------------------------------------------- */

static void peer_event(enum clock_peer_kind kind, uint64_t *counter_of)
{
	memset(&peer, 0, sizeof(peer));
	is_compared = true;
	peer.events = 1;
	peer.event[0] = (struct clock_peer_event){ .kind = kind, .mono_ns = { 5 * NS_PER_S, 6 * NS_PER_S },
						   .stood_ns = 2 * NS_PER_S };
	*counter_of = 1;
}

static void the_reflectors_clock(void **state)
{
	(void)state;
	memset(&peer, 0, sizeof(peer));
	is_compared = true;
	assert_trusted();
	peer_event(PEER_JUMPED, &peer.jumps);
	set(&result.account.follow_up[FOLLOW_UP_STEPPED], 17);
	assert_doubtful();
	peer_event(PEER_STOOD, &peer.stands);
	reached();
	assert_int_equal(verdict.level, VERDICT_VOID);
	peer_event(PEER_WRONG_RATE, &peer.wrong_rates);
	reached();
	assert_int_equal(verdict.level, VERDICT_VOID);
	/* A sample left out without an event is a reason too: T3 was outside of the round trip. */
	memset(&peer, 0, sizeof(peer));
	assert_doubtful();
	/* A fault of this host's clock is not the reason for it. */
	peer_event(PEER_JUMPED, &peer.jumps);
	clocks.steps_kept = 1;
	clocks.step[0] = (struct clock_jump){ .which = CLOCK_OF_NIC, .mono_ns = { 5 * NS_PER_S, 5 * NS_PER_S + 1 } };
	assert_trusted();
	clocks.steps_kept = 0;
	is_compared = false;
	set(&result.account.doubted, 4);
	result.doubted_seq = 77;
	assert_doubtful();
}

static void threshold_not_judged(void **state)
{
	(void)state;
	options.threshold_ns = 100000;
	options.threshold_on = METRIC_NETWORK;
	assert_trusted();
	set(&result.account.unjudged, 1);
	assert_doubtful();
	options.threshold_on = METRIC_RESPONSE;
	assert_doubtful();
	/* The round trip is always there, and without a threshold nothing was to be judged. */
	options.threshold_on = METRIC_RTT;
	assert_trusted();
	options.threshold_on = METRIC_NETWORK;
	options.threshold_ns = 0;
	assert_trusted();
	options.threshold_ns = 100000;
	options.role = ROLE_REFLECT;
	assert_trusted();
}

static void unbalanced(void **state)
{
	(void)state;
	facts.balanced = false;
	assert_void();
}

static void log_incomplete(void **state)
{
	(void)state;
	result.log.left_out = 1;
	assert_doubtful();
	result.log.unwritten = 41;
	assert_doubtful();
	result.log.left_out = 0;
	assert_doubtful();
	result.log.unwritten = 0;
	assert_trusted();
	result.log.left_out = 1;
	result.log.circular = true;
	assert_trusted();
	result.log.exists = false;
	assert_trusted();
}

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static void filter_refused(void **state)
{
	(void)state;
	setting[0][2] = setting[1][2] = 12;
	assert_void();
	options.no_tx_stamps = true;
	assert_trusted();
	options.no_tx_stamps = false;
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
}

static void setting_changed(void **state)
{
	(void)state;
	setting[1][1] = 0;
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
}

/* A driver that does not report its setting has not changed it. */
static void setting_unreported(void **state)
{
	(void)state;
	setting[0][1] = setting[1][2] = 0;
	setting_error[0] = setting_error[1] = -EOPNOTSUPP;
	assert_trusted();
	unjudged();
	setting[0][1] = 1;
	setting_error[0] = 0;
	assert_trusted();
	unjudged();
}

static void driver_lost_stamps(void **state)
{
	(void)state;
	print_counted("driver statistics of eth0", "tx_hwtstamp_skipped", 12);
	print_counted("stamps of eth0", "transmit stamps lost", 3);
	/* That these were given is no trouble. */
	print_counted("stamps of eth0", "transmit stamps given", 1000);
	print_counted("driver statistics of eth0", "tx_stamps", 1000);
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
}

static void drops(void **state)
{
	(void)state;
	print_counted("driver statistics of eth0", "rx_queue_0_drops", 2);
	print_counted("interface eth0", "receive FIFO errors", 1);
	print_counted("driver statistics of eth0", "rx_steer_missed_packets", 77);
	print_counted("softirqs on CPU 3", "dropped", 77);
	assert_doubtful();
	options.stamp = SOURCE_USER;
	assert_doubtful();
}

/* A restarted driver has counted at least its current count; a driver that cannot be read any more says nothing. */
static void drops_of_a_reset_driver(void **state)
{
	(void)state;
	print("driver statistics of eth0", "rx_missed_errors", "", ACTIVITY_GONE, 0, 7, 0);
	print("interface eth0", "receive errors", "", ACTIVITY_RESET, 0, 9, 0);
	assert_trusted();
	reported[1].to = 4;
	assert_doubtful();
}

/* 10 s have 11 begun seconds. */
static void receive_drops(void **state)
{
	(void)state;
	print_counted("interface eth0", "receive drops", 11);
	assert_trusted();
	reported[0].delta = 12;
	assert_doubtful();
}

/* ---- The clocks -------------------------------------------------------------------------------------------------- */

static void clock_steps(void **state)
{
	(void)state;
	set(&clocks.track[CLOCK_OF_NIC].steps, 2);
	assert_doubtful();
	set(&result.account.stepped, 5);
	assert_doubtful();
	set(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	assert_doubtful();
}

/* The system's clock matters where its times do, the NIC's where it stamps. */
static void clock_steps_that_matter(void **state)
{
	(void)state;
	set(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	assert_doubtful();
	result.stage[0] = NULL;
	assert_trusted();
	options.stamp = SOURCE_USER;
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	set(&clocks.track[CLOCK_OF_SYSTEM].steps, 0);
	set(&clocks.track[CLOCK_OF_NIC].steps, 1);
	assert_trusted();
}

static void clocks_unwatched(void **state)
{
	(void)state;
	is_watched = false;
	assert_trusted();
	unjudged();
	set(&result.account.stepped, 1);
	assert_doubtful();
}

static void standstill(void **state)
{
	(void)state;
	set(&clocks.track[CLOCK_OF_NIC].standstills, 1);
	clocks.track[CLOCK_OF_NIC].stood_ns = 1500 * NS_PER_MS;
	assert_void();
	set(&result.account.stepped, 7); /* for it stood */
	assert_void();
	set(&result.account.stepped, 0);
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
	options.stamp = SOURCE_HARDWARE;
	clocks.phc_fd = -1;
	assert_trusted();
	unjudged();
}

static void fault(double ppb, int64_t from_ns, int64_t to_ns)
{
	clocks.fault[clocks.faults_kept++] = (struct clock_fault){
		.rate = { .measured = true, .known = true, .ppb = ppb, .bound_ppb = 1000 }, .over = true,
		.began_ns = { from_ns - 5, from_ns }, .ended_ns = { to_ns, to_ns + 5 } };
	set(&clocks.track[CLOCK_OF_NIC].wrong_rates, clocks.faults_kept);
}

/* The worst, and how long it was in all; that stamps do not fit is no sign of a step then. */
static void wrong_rate(void **state)
{
	(void)state;
	fault(-2e8, NS_PER_S, 3 * NS_PER_S + 100 * NS_PER_MS);
	assert_void();
	set(&result.account.stepped, 7);
	assert_void();
	set(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	assert_void();
	set(&clocks.track[CLOCK_OF_SYSTEM].steps, 0);
	fault(5e6, 10 * NS_PER_S, 11 * NS_PER_S);
	assert_void();
	fault(1e9, 20 * NS_PER_S, 21 * NS_PER_S);
	assert_void();
	options.stamp = SOURCE_KERNEL;
	set(&result.account.stepped, 0);
	assert_trusted();
}

static void clock_unread(void **state)
{
	(void)state;
	clocks.failures = 10;
	clocks.failure = EBUSY;
	assert_trusted();
	clocks.readings = 99;
	assert_doubtful();
	clocks.failure = ESTALE;
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
}

/* Not after a fault of the clock, whose timestamps are then in a wrong order for that reason. */
static void stamps_of_the_nic_in_a_wrong_order(void **state)
{
	struct stamp_check *c = &result.stamp_check;

	(void)state;
	c->stamps[STAMP_SENT] = c->stamps[STAMP_RECEIVED] = 1000;
	assert_trusted();
	c->repeated[STAMP_SENT] = 1;
	assert_doubtful();
	c->backward[STAMP_RECEIVED] = 1;
	assert_doubtful();
	c->repeated[STAMP_SENT] = 0;
	assert_doubtful();
	options.stamp = SOURCE_KERNEL;
	assert_trusted();
	options.stamp = SOURCE_RECEIVE;
	assert_doubtful();
	set(&clocks.track[CLOCK_OF_NIC].standstills, 1);
	judge();
	for (unsigned i = 0; i < verdict.reasons; i++)
		assert_string_not_equal(verdict.reason[i].id, "nic-stamps-contradict");
}

/* ---- The thread, its CPU, its memory ----------------------------------------------------------------------------- */

static void moved(void **state)
{
	(void)state;
	print_counted("measuring thread", "migrations to another CPU", 2);
	facts.thread[1].cpu = 5;
	assert_doubtful();
	/* There and back. */
	facts.thread[1].cpu = 3;
	assert_doubtful();
	/* Before the loop or after it. */
	facts.thread[1].switches = 10;
	assert_doubtful();
	facts.thread[1].switches = 9;
	assert_trusted();
}

/* Not all kernels count it. */
static void moved_by_its_cpu(void **state)
{
	(void)state;
	facts.thread[1].cpu = 5;
	assert_doubtful();
	result.activity = (struct result_activity){ 0 };
	assert_doubtful();
	facts.thread[1].cpu = -1;
	assert_trusted();
}

static void waited(void **state)
{
	(void)state;
	/* In 10 s. */
	print("measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, 100 * NS_PER_MS, 0, 0);
	assert_trusted();
	reported[0].delta++;
	assert_doubtful();
	facts.thread[1].at_ns = facts.thread[0].at_ns + 20 * NS_PER_MS; /* a short run */
	reported[0].delta = 10 * NS_PER_MS - 1;
	assert_trusted();
	reported[0].delta++;
	assert_doubtful();
	reported[0].delta = 36320 * NS_PER_US; /* not in the run alone */
	assert_doubtful();
	facts.thread[1].at_ns = facts.thread[0].at_ns;
	assert_trusted();
}

/* In 10 s, beside the time that it waited for its CPU. */
static void stood(void **state)
{
	(void)state;
	result.stalls.total_ns = 100 * NS_PER_MS;
	assert_trusted();
	result.stalls.total_ns++;
	assert_doubtful();
	result.stalls.total_ns = 1500 * NS_PER_MS;
	print("measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, 100 * NS_PER_MS, 0, 0);
	assert_doubtful();
	reported[0].delta = 1500 * NS_PER_MS; /* that is said by another reason */
	judge();
	assert_int_equal(verdict.reasons, 1);
	golden("%s\n", verdict.reason[0].name);
	result.stalls.longest_ns = 200 * NS_PER_MS; /* longer than waits for a CPU are */
	judge();
	assert_int_equal(verdict.reasons, 2);
	result.stalls.longest_ns = 0;
	result.activity = (struct result_activity){ 0 }; /* not known: all of it */
	result.stalls.total_ns = 20 * NS_PER_S;
	assert_doubtful();
}

static void heat(void **state)
{
	(void)state;
	print_counted("CPU 3", "core throttled by heat", 1);
	print("CPU 3", "core throttled by heat", "ms", ACTIVITY_COUNTED, 40, 0, 40);
	assert_doubtful();
}

static void stolen(void **state)
{
	(void)state;
	print("CPU 3", "stolen by the hypervisor", "ms", ACTIVITY_COUNTED, 100, 0, 100); /* 1 % of the run */
	assert_trusted();
	reported[0].delta = 110;
	assert_doubtful();
	reported[0].delta = 11000; /* ms of a run of 10 s: the readings are further apart than the run is long */
	assert_doubtful();
	result.activity.is_pinned = false;
	assert_trusted();
	result.activity.is_pinned = true;
}

static void disruption(void **state)
{
	(void)state;
	result.activity.sees_disruptions = true;
	assert_trusted();
	print("virtual machine", "disruption marker", "", ACTIVITY_CHANGED, 0, 7, 9);
	assert_doubtful();
	result.activity.sees_disruptions = false;
}

static void frequency(void **state)
{
	(void)state;
	print("CPU 3", "frequency", "kHz", ACTIVITY_CHANGED, 0, 2000000, 1900000);
	assert_trusted();
	reported[0].to--;
	assert_doubtful();
	reported[0].from = 800000;
	reported[0].to = 3000000;
	assert_doubtful();
}

static void lock_failed(void **state)
{
	(void)state;
	facts.lock_error = -ENOMEM;
	assert_doubtful();
}

static void faults(void **state)
{
	(void)state;
	facts.thread[1].minor_faults += 1;
	assert_doubtful();
	facts.thread[1].major_faults += 2;
	assert_doubtful();
	facts.thread[0].known = false;
	assert_trusted();
	unjudged();
}

static void not_resident(void **state)
{
	(void)state;
	facts.absent_bytes = 4096;
	assert_doubtful();
	facts.absent_bytes = -ENOMEM;
	assert_trusted();
	unjudged();
}

/* An unreadable counter is neither trusted nor blamed. */
static void machine_unread(void **state)
{
	(void)state;
	print_counted("interface eth0", "receive errors", 1);
	result.activity.run = (struct result_differences){ 0 };
	assert_trusted();
	unjudged();
}

static void parts_unread(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"statistics of the NIC ('ethtool -S eth0': no)",
			"transmit stamps as the driver counts them (ethtool netlink: no)",
		"migrations (/proc/self/task/7/sched: no)", "time waited for the CPU (/proc/self/task/7/schedstat: no)",
		"core throttled by heat (/sys: no)", "frequency (/sys: no)",
		"stolen by the hypervisor (not in /stat)", "disruptions of the virtual machine (/dev/vmclock0: no)",
	};
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		strcpy(result.activity.unreadable[result.activity.unreadables++], texts[i]);
	assert_trusted();
	unjudged();
	/* The driver counts them in one of two places. */
	result.activity.unreadable[0][0] = 'x';
	unjudged();
	/* Observed faults are reported all the same. */
	facts.thread[1].cpu = 0;
	assert_doubtful();
	result.activity.unreadables = 0;
}

static void thread_not_pinned(void **state)
{
	(void)state;
	result.activity.is_pinned = false;
	assert_trusted();
	unjudged();
}

static void thread_is_read(void **state)
{
	(void)state;
	struct verdict_thread t;

	usage = (struct rusage){ .ru_minflt = 5, .ru_majflt = 6, .ru_nvcsw = 7, .ru_nivcsw = 8 };
	verdict_read_thread(&t);
	assert_true(t.known);
	assert_int_equal(t.minor_faults, 5);
	assert_int_equal(t.major_faults, 6);
	assert_int_equal(t.switches, 15);
	assert_int_equal(t.cpu, 3);
	assert_true(t.at_ns > 0);
	usage_error = -1;
	verdict_read_thread(&t);
	assert_false(t.known);
	usage_error = 0;
}

/* ---- Together ---------------------------------------------------------------------------------------------------- */

/* Every row of the table at once: the worst decides, all are printed, in the order of the table. */
static void all_together(void **state)
{
	(void)state;
	struct account *a = &result.account;

	set(&a->recorded, 0);
	set(&a->unstamped, 5);
	set(&a->negative, 1);
	set(&a->stepped, 1);
	set(&a->stamp_unmatched, 1);
	set(&a->disordered, 1);
	result.stamp_check.repeated[STAMP_SENT] = 1;
	set(&a->unjudged, 1);
	set(&a->doubted, 1);
	memset(&peer, 0, sizeof(peer));
	peer.jumps = peer.stands = peer.wrong_rates = options.threshold_ns = 1;
	is_compared = true;
	options.threshold_on = METRIC_NETWORK;
	setting[0][2] = 0;
	set(&clocks.track[CLOCK_OF_NIC].standstills, 1);
	set(&clocks.track[CLOCK_OF_NIC].steps, 1);
	fault(-2e8, NS_PER_S, 2 * NS_PER_S);
	clocks.failures = 50;
	facts.balanced = result.nic.after.up = false;
	result.nic.provider_changes = 1;
	result.nic.moves = result.log.left_out = histogram.overflows = (uint64_t)(options.interval_ns = 1);
	result.dropped = optional_of(1);
	set(&result.missed, 1);
	facts.thread[1].cpu = 0;
	facts.thread[1].minor_faults++;
	facts.lock_error = -EPERM, facts.absent_bytes = 1;
	result.level_changes = (struct level_changes){ .is_judged = true, .count = 1 };
	result.outages.total_ns = result.stalls.total_ns = 6 * NS_PER_S;
	print_counted("driver statistics of eth0", "tx_hwtstamp_timeouts", 1);
	print_counted("interface eth0", "receive drops", 100);
	print("CPU 3", "frequency", "kHz", ACTIVITY_CHANGED, 0, 2, 1);
	print("measuring thread", "waited for the CPU", "ns", ACTIVITY_COUNTED, NS_PER_S, 0, 0);
	judge();
	assert_int_equal(verdict.level, VERDICT_VOID);
	/* All but drops, heat, steal time and disruptions, for which told[] has no room, a silence of less than half of
	 * the run, wrong stamps here and there, which are a reason only where nothing happened to a clock, and replies,
	 * which are a reflector's. */
	assert_int_equal(verdict.reasons, ROWS - 8);
	for (unsigned i = 0, k = 0; i < ROWS; i++) {
		if (table[i].look == verdict_look_drops || table[i].look == verdict_look_heat ||
		    table[i].look == verdict_look_stolen || table[i].look == verdict_look_disrupted ||
		    table[i].look == verdict_look_silence || table[i].look == verdict_look_outliers_remote ||
		    table[i].look == verdict_look_refused_replies || table[i].look == look_stamp_check)
			continue;
		assert_string_equal(verdict.reason[k].name, table[i].name);
		assert_string_equal(verdict.reason[k].why, table[i].why);
		assert_int_equal(verdict.reason[k].level, table[i].level);
		assert_true(*verdict.reason[k].text);
		k++;
	}
}

/* A doubtful reason after a void one does not better it, nor one before it. */
static void worst_decides(void **state)
{
	(void)state;
	facts.lock_error = -EPERM;
	set(&result.account.recorded, 0);
	reached();
	assert_int_equal(verdict.reasons, 2);
	assert_int_equal(verdict.level, VERDICT_VOID);
	set(&result.account.recorded, 1000);
	facts.balanced = false;
	reached();
	assert_int_equal(verdict.reasons, 2);
	assert_int_equal(verdict.level, VERDICT_VOID);
}

/* Many counters with long names do not fit into a reason. */
static void long_texts_are_cut(void **state)
{
	(void)state;
	char name[96];

	memset(name, 'x', sizeof(name));
	memcpy(name + 60, "_error_stamp_lost", 18);
	for (int i = 0; i < 4; i++)
		print_counted("driver statistics of eth0", name, UINT64_MAX / 8);
	judge();
	assert_int_equal(verdict.reasons, 1);
	assert_int_equal(strlen(verdict.reason[0].text), VERDICT_TEXT_BYTES - 1);
}

static void exit_status(void **state)
{
	(void)state;
	const struct verdict trusted = { .level = VERDICT_TRUSTED }, doubtful = { .level = VERDICT_DOUBTFUL },
			     nothing = { .level = VERDICT_VOID };

	assert_false(verdict_fails(&trusted, false));
	assert_false(verdict_fails(&trusted, true));
	assert_false(verdict_fails(&doubtful, false));
	assert_true(verdict_fails(&doubtful, true));
	assert_true(verdict_fails(&nothing, false));
	assert_true(verdict_fails(&nothing, true));
}

/* ---- Other files that have to agree ------------------------------------------------------------------------------ */

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	assert_non_null(text);
	if (!f) {
		free(text);
		print_message("SKIP: %s is not here: run it from the top of the source\n", path);
		skip();
	}
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static void readme_has_the_table(void **state)
{
	(void)state;
	static const char *const levels[] = { "trusted", "doubtful", "void" };
	char *page = read_file("docs/report.md"), line[512];

	for (size_t i = 0; i < ROWS; i++) {
		snprintf(line, sizeof(line), "\n| %s | `%s` | %s | %" PRIu64 "%s%s | %s | %s |\n", table[i].name,
			 table[i].id, levels[table[i].level], table[i].limit, *table[i].unit ? " " : "",
			 table[i].unit, table[i].why, table[i].cure);
		if (!strstr(page, line))
			fail_msg("docs/report.md has no line:%s", line);
	}
	free(page);
}

/* Programs compare them, and names have no numbers in them. */
static void ids_are_words_and_each_is_there_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		assert_true(*table[i].id && strspn(table[i].id, "abcdefghijklmnopqrstuvwxyz-") == strlen(table[i].id));
		assert_true(*table[i].cure && !strpbrk(table[i].name, "0123456789"));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(table[k].id, table[i].id);
	}
}

/* Counters are found by the names that activity.c gives them. */
static void counters_have_these_names(void **state)
{
	(void)state;
	static const char *const names[] = {
		"\"measuring thread\"", "\"CPU %d\"", "\"interface %s\"", "\"driver statistics of %s\"",
			"\"stamps of %s\"",
		"\"transmit stamps given\"", "\"receive drops\"", "\"migrations to another CPU\"",
		"\"waited for the CPU\", \"ns\"",
		"\"core throttled by heat\", \"\"", "\"frequency\", \"kHz\"",
		"\"stolen by the hypervisor\", \"ms\"", "\"virtual machine\"", "\"disruptions of the virtual machine (",
		"\"statistics of the NIC (", "\"transmit stamps as the driver counts them (", "\"migrations\"",
		"\"time waited for the CPU\"",
	};
	char *activity_c = calloc(1, NAMES_FILES << 20);
	glob_t files;

	/* Several files may fit. */
	assert_int_equal(glob("host/counters/activity*.c", 0, NULL, &files), 0);
	assert_in_range(files.gl_pathc, 1, NAMES_FILES);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char *one = read_file(files.gl_pathv[i]);

		strcat(activity_c, one);
		free(one);
	}
	globfree(&files);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strstr(activity_c, names[i]))
			fail_msg("activity.c does not name %s", names[i]);
	free(activity_c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_fault, set_up),
		cmocka_unit_test_setup(nothing_recorded, set_up),
		cmocka_unit_test_setup(stamps_missing, set_up),
		cmocka_unit_test_setup(most_stamps_missing, set_up),
		cmocka_unit_test_setup(unmatched, set_up),
		cmocka_unit_test_setup(negative, set_up),
		cmocka_unit_test_setup(times_out_of_order, set_up),
		cmocka_unit_test_setup(the_reflectors_clock, set_up),
		cmocka_unit_test_setup(threshold_not_judged, set_up),
		cmocka_unit_test_setup(unbalanced, set_up),
		cmocka_unit_test_setup(log_incomplete, set_up),
		cmocka_unit_test_setup(filter_refused, set_up),
		cmocka_unit_test_setup(setting_changed, set_up),
		cmocka_unit_test_setup(setting_unreported, set_up),
		cmocka_unit_test_setup(driver_lost_stamps, set_up),
		cmocka_unit_test_setup(drops, set_up),
		cmocka_unit_test_setup(drops_of_a_reset_driver, set_up),
		cmocka_unit_test_setup(receive_drops, set_up),
		cmocka_unit_test_setup(clock_steps, set_up),
		cmocka_unit_test_setup(clock_steps_that_matter, set_up),
		cmocka_unit_test_setup(clocks_unwatched, set_up),
		cmocka_unit_test_setup(standstill, set_up),
		cmocka_unit_test_setup(wrong_rate, set_up),
		cmocka_unit_test_setup(clock_unread, set_up),
		cmocka_unit_test_setup(stamps_of_the_nic_in_a_wrong_order, set_up),
		cmocka_unit_test_setup(moved, set_up),
		cmocka_unit_test_setup(moved_by_its_cpu, set_up),
		cmocka_unit_test_setup(waited, set_up), cmocka_unit_test_setup(stood, set_up),
		cmocka_unit_test_setup(heat, set_up),
		cmocka_unit_test_setup(stolen, set_up),
		cmocka_unit_test_setup(disruption, set_up),
		cmocka_unit_test_setup(frequency, set_up),
		cmocka_unit_test_setup(lock_failed, set_up),
		cmocka_unit_test_setup(faults, set_up),
		cmocka_unit_test_setup(not_resident, set_up),
		cmocka_unit_test_setup(machine_unread, set_up),
		cmocka_unit_test_setup(parts_unread, set_up),
		cmocka_unit_test_setup(thread_not_pinned, set_up),
		cmocka_unit_test_setup(thread_is_read, set_up),
		cmocka_unit_test_setup(all_together, set_up),
		cmocka_unit_test_setup(worst_decides, set_up),
		cmocka_unit_test_setup(long_texts_are_cut, set_up),
		cmocka_unit_test_setup(exit_status, set_up),
		cmocka_unit_test(readme_has_the_table),
		cmocka_unit_test(ids_are_words_and_each_is_there_once),
		cmocka_unit_test(counters_have_these_names),
	};

	return golden_run(tests);
}
