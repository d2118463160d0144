/* build: sources=result/take*.c,analyse/[a-q]*.c,analyse/run_acco*.c,analyse/run_[b-z]*.c,analyse/runs.c,analyse/results.c,analyse/seconds.c,analyse/tree.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON of a run is written, read and written again: the same members, and the same sections of the report. */
#include "analyse/run_activity.c"

#include "fake_report.h"
#include "results_files.h"

#include "analyse/outcome.h"
#include "analyse/runs.h"
#include "report/export/json_parts.h"
#include "report/text/breach.h"
#include "report/text/freeze.h"
#include "report/text/sections.h"

/* ---- The way of a result ----------------------------------------------------------------------------------------- */

static int append(void *out, const char *from, size_t bytes)
{
	return fwrite(from, 1, bytes, out) == bytes ? 0 : -EIO;
}

/* The members in one line; the caller frees it. */
static char *json_of(void (*write_members)(struct json *j, const struct report *r), const struct report *r)
{
	static struct json j;
	size_t bytes;
	char *to;
	FILE *out = open_memstream(&to, &bytes);

	json_begin(&j, append, out, true);
	json_object(&j, NULL);
	write_members(&j, r);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	fclose(out);
	return to;
}

static char *text_of(void (*write_section)(FILE *out, const struct report *r), const struct report *r)
{
	size_t bytes;
	char *to;
	FILE *out = open_memstream(&to, &bytes);

	write_section(out, r);
	fclose(out);
	return to;
}

static void write_run(struct json *j, const struct report *r)
{
	json_origin(j);
	json_whole(j, r, 0);
}

/* 0 or -errno; said[] receives the text on stderr. */
static int read_again(struct outcome **o, const char *json)
{
	FILE *file = file_of(json, strlen(json));
	struct read_file *f;
	int error;

	*o = outcome_open(&(struct options){ .bucket_ns = NS_PER_US, .overflow_ns = 100 * NS_PER_US, .verbose = true });
	assert_non_null(*o);
	catch();
	f = outcome_add_file(*o, "run.json", file, "json");
	error = f ? runs_add(*o, file, f, NULL) : -EINVAL;
	caught_text();
	fclose(file);
	if (!error)
		outcome_finish(*o);
	return error;
}

static struct outcome *again(void)
{
	char *json = json_of(write_run, &report);
	struct outcome *o;
	const int error = read_again(&o, json);

	if (error)
		fail_msg("%s%s", said, json);
	free(json);
	return o;
}

static void assert_same(char *from, char *now)
{
	size_t at = 0;

	while (from[at] && from[at] == now[at])
		at++;
	if (from[at] != now[at])
		fail_msg("after '%.*s'\n'%.200s'\nis, after reading,\n'%.200s'", at < 400 ? (int)at : 400,
			 from + (at < 400 ? 0 : at - 400), from + at, now + at);
	free(from);
	free(now);
}

static void write_report(FILE *out, const struct report *r)
{
	report_write(out, r, 0);
}

/* Each change, of the first place of [0] to [1], makes this member not valid. */
static void assert_refused(const char *member, const char *const wrong[][2], size_t n)
{
	char *json = json_of(write_run, &report), expected[128];

	snprintf(expected, sizeof(expected),
		 "test_results_again: run.json: %s is not valid: give a file that --json has written\n", member);
	for (size_t i = 0; i < n; i++) {
		const char *at = strstr(json, wrong[i][0]);
		struct outcome *o;
		char *changed;

		if (!at)
			fail_msg("no %s in %s", wrong[i][0], json);
		assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - json), json, wrong[i][1],
				     at + strlen(wrong[i][0])) > 0);
		if (read_again(&o, changed) != -EINVAL)
			fail_msg("%s was accepted", wrong[i][1]);
		assert_string_equal(said, expected);
		outcome_close(o);
		free(changed);
	}
	free(json);
}

static void set(counter *c, uint64_t n)
{
	atomic_store_explicit(c, n, memory_order_relaxed);
}

/* A joined run of an emitter whose counters add up. */
static void set_up_joined(void)
{
	struct account *a = &result.account;

	options.verbose = true;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	histogram_finish(&histogram);
	for (int i = 0; i < FOLLOW_UPS; i++)
		set(&a->follow_up[i], 0);
	set(&a->recorded, histogram.count);
	set(&a->sent, histogram.count);
	set(&a->answered, histogram.count);
	set(&a->received, histogram.count);
	set(&a->follow_up[FOLLOW_UP_THERE], histogram.count);
}

static int set_up_run(void **state)
{
	set_up(state);
	set_up_joined();
	return 0;
}

/* ---- Activity ---------------------------------------------------------------------------------------------------- */

static struct result_differences differences_of(size_t count)
{
	static struct result_difference list[DIFFERENCES_SHOWN + 7];
	static const struct result_difference some[] = {
		{ "CPU 3", "interrupt \"45\" eth0", "", ACTIVITY_COUNTED, .delta = UINT64_C(1) << 60 },
		{ "CPU 3", "frequency", "MHz", ACTIVITY_CHANGED, .from = 3600, .to = 2400 },
		{ "NIC", "rx_errors", "", ACTIVITY_RESET, .from = 7, .to = 1 },
		{ "NIC", "rx_missed", "packets", ACTIVITY_GONE, .from = 8 },
	};

	for (size_t i = 0; i < COUNT_OF(list); i++)
		list[i] = some[i % COUNT_OF(some)];
	return (struct result_differences){ .known = true, .count = count, .list = list };
}

static void assert_same_activity(void)
{
	struct outcome *o = again();

	assert_same(json_of(json_machine, &report), json_of(json_machine, &o->report));
	assert_same(text_of(machine_write_activity, &report), text_of(machine_write_activity, &o->report));
	outcome_close(o);
}

static void activity_of_the_machine(void **state)
{
	struct result_activity *a = &result.activity;

	(void)state;
	*a = (struct result_activity){ .is_read = true, .run = differences_of(0) };
	assert_same_activity();
	a->run = differences_of(4);
	assert_same_activity();
	a->unreadables = 1;
	strcpy(a->unreadable[0], "/proc/interrupts: Permission denied");
	a->counters_left_out = 3;
	a->unreadables_left_out = 2;
	a->until_breach = differences_of(3);
	a->until_breach.mark[1] = 17;
	assert_same_activity();
	options.keep_going = true;
	a->before_worst = differences_of(2);
	a->before_worst.mark[0] = 18;
	a->before_worst.mark[1] = 19;
	assert_same_activity();
	/* Longer than a report shows. */
	a->run = differences_of(DIFFERENCES_SHOWN + 7);
	a->before_worst = differences_of(DIFFERENCES_SHOWN + 5);
	assert_same_activity();
}

/* Another version of rant may know other words; a list cannot be longer than a report shows. */
static void wrong_activity(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"changed\"", "\"grown\"" }, { "\"count\":1152921504606846976", "\"count\":-1" },
		{ "\"left_out_each\":[0,", "\"left_out_each\":[1," }, { "\"not_read\":0", "\"not_read\":65536" },
		{ "\"until_first_breach\":null", "\"until_first_breach\":7" },
		{ "\"first_breach_read_after\":null", "\"first_breach_read_after\":\"x\"" },
	};

	(void)state;
	result.activity = (struct result_activity){ .is_read = true, .run = differences_of(2) };
	assert_refused("activity", wrong, COUNT_OF(wrong));
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static void assert_same_clocks(void)
{
	struct outcome *o = again();

	assert_same(json_of(json_clocks, &report), json_of(json_clocks, &o->report));
	assert_int_equal(clocks_are_shown(&report), clocks_are_shown(&o->report));
	assert_same(text_of(clocks_write, &report), text_of(clocks_write, &o->report));
	for (int i = 0; i < PEER_KINDS; i++)
		assert_int_equal(result.peer.faults[i], o->result.peer.faults[i]);
	outcome_close(o);
}

static void watch_clocks(void)
{
	struct result_clocks *c = &result.clocks;

	*c = (struct result_clocks){ .watched = true, .comparable = true, .name = "ptp3", .method = "PTP_SYS_OFFSET",
				     .scale = CLOCK_SCALE_TAI, .readings = 1234 };
	c->track[CLOCK_OF_NIC].rate = (struct clock_rate){ .measured = true, .known = true, .ppb = -2345,
							   .bound_ppb = 12 };
	c->track[CLOCK_OF_SYSTEM].steering = CLOCK_NOT_STEERED;
}

static void clocks_of_this_host(void **state)
{
	struct result_clocks *c = &result.clocks;
	struct result_clock_track *nic = &c->track[CLOCK_OF_NIC], *host = &c->track[CLOCK_OF_SYSTEM];

	(void)state;
	result.began_ns = 5 * NS_PER_S;
	result.ended_ns = 25 * NS_PER_S;
	watch_clocks();
	assert_same_clocks();
	c->has_relation = true;
	c->minus_realtime = (struct clock_relation){ 0, 37 * NS_PER_S + 5, 60 };
	c->failures = 3;
	strcpy(c->failure, "Connection timed out");
	c->refused = 5;
	c->limit_per_s = 125;
	c->waited = 6;
	strcpy(c->not_shared, "Read-only file system");
	nic->steering = CLOCK_STEERED;
	nic->frequency_changes = 17;
	nic->steps = 2;
	nic->has_largest = true;
	nic->largest = (struct clock_jump){ .size_ns = -70000, .bound_ns = 200 };
	host->rate = (struct clock_rate){ .measured = true, .known = true, .ppb = 9.4, .bound_ppb = 9.2 };
	host->steps = 80;
	c->steps_kept = 2;
	c->step[0] = (struct clock_jump){ .which = CLOCK_OF_SYSTEM, .size_ns = 90000, .bound_ns = 150,
					  .mono_ns = { 6 * NS_PER_S, 7 * NS_PER_S }, .mark = { 400, 500 } };
	c->step[1] = (struct clock_jump){ .which = CLOCK_OF_NIC, .size_ns = -70000, .bound_ns = 200,
					  .mono_ns = { 4 * NS_PER_S, 5 * NS_PER_S + 1 }, .mark = { 0, 1 } };
	nic->standstills = 1;
	nic->wrong_rates = 12;
	nic->rate_is_wrong = true;
	c->faults_kept = 3;
	c->fault[0] = (struct result_clock_fault){ .stands = true, .over = true,
						   .began_ns = { 8 * NS_PER_S, 9 * NS_PER_S },
						   .lasted_ns = { 100 * NS_PER_MS, 300 * NS_PER_MS } };
	c->fault[1] = (struct result_clock_fault){ .over = true, .began_ns = { 10 * NS_PER_S, 11 * NS_PER_S },
						   .lasted_ns = { 2 * NS_PER_S, 2 * NS_PER_S },
						   .rate = { .measured = true, .ppb = 2e8, .bound_ppb = 4e6 } };
	c->fault[2] = (struct result_clock_fault){ .began_ns = { 4 * NS_PER_S, 5 * NS_PER_S },
						   .lasted_ns = { NS_PER_S },
						   .rate = { .measured = true, .ppb = -3e6, .bound_ppb = 4e3 } };
	assert_same_clocks();
	c->by_packets = true;
	strcpy(c->why, "/dev/ptp3 cannot be read: Operation not supported");
	assert_same_clocks();
	c->by_packets = false;
	c->comparable = false;
	strcpy(c->why, "/dev/ptp3: Permission denied: run as root");
	c->faults_kept = 0;
	*nic = (struct result_clock_track){ .rate = { .measured = false } };
	c->steps_kept = 1;
	strcpy(result.no_stages, c->why);
	assert_same_clocks();
	/* Timestamps of the kernel are of the system clock. */
	options.stamp = SOURCE_KERNEL;
	assert_same_clocks();
}

static void clock_of_the_reflector(void **state)
{
	struct result_peer *p = &result.peer;

	(void)state;
	result.began_ns = 5 * NS_PER_S;
	watch_clocks();
	p->compared = true;
	assert_same_clocks();
	p->is_known = true;
	p->offset = (struct clock_relation){ 0, -1234567890123, 950 };
	p->rate = (struct clock_rate){ .measured = true, .ppb = 15, .bound_ppb = 20 };
	assert_same_clocks();
	p->events = 3;
	p->event[0] = (struct result_peer_event){ .kind = PEER_JUMPED, .theirs = true, .seq = { 7, 8 },
						  .has_size = true, .mono_ns = { 6 * NS_PER_S, 7 * NS_PER_S }, .size_ns = -100000,
						  .bound_ns = 6881, .conflicts = 2 };
	p->event[1] = (struct result_peer_event){ .kind = PEER_STOOD, .seq = { 9, UINT32_MAX }, .stood_ns = NS_PER_S };
	p->event[2] = (struct result_peer_event){ .kind = PEER_WRONG_RATE, .theirs = true, .ppb = 2e8 };
	p->faults[PEER_JUMPED] = p->faults[PEER_WRONG_RATE] = 1;
	set(&result.account.doubted, 5);
	result.doubted_seq = 77;
	set(&result.account.disordered, 6);
	set(&result.account.unconverted, 4);
	assert_same_clocks();
	p->events = PEER_EVENTS_KEPT + 4;
	p->faults[PEER_JUMPED] = 1;
	assert_same_clocks();
}

/* The device that stamps: that of a bond, and one of several. */
static void the_nic_that_stamps(void **state)
{
	(void)state;
	watch_clocks();
	strcpy(result.nic.name, "bond0");
	strcpy(result.nic.stamper, "eth1");
	result.nic.stamper_is_other = true;
	result.nic.provider = (struct nic_provider){ .known = true, .source = NIC_SOURCE_MAC, .phc_index = 3 };
	result.nic.provider_after = (struct nic_provider){ .known = true, .source = NIC_SOURCE_PHY, .phc_index = 4 };
	strcpy(result.nic.provider_text, "MAC, /dev/ptp3, precise");
	strcpy(result.nic.provider_after_text, "PHY, /dev/ptp4, precise");
	result.nic.provider_changes = 2;
	assert_same_clocks();
	strcpy(result.nic.stamper, "bond0");
	result.nic.stamper_is_other = false;
	result.nic.provider_changes = 0;
	assert_same_clocks();
}

static void kernel_timestamps_that_are_placed(void **state)
{
	(void)state;
	watch_clocks();
	options.stamp = SOURCE_RECEIVE;
	result.bound_ns[BOUND_LOCAL] = optional_of(412);
	placing_note(&result.placing, 1500, 412);
	placing_note(&result.placing, -100, 300);
	placing_note(&result.placing, 1501, 5);
	assert_same_clocks();
	placing_note(&result.placing, 5000, 100000); /* --stamp kernel is better */
	assert_same_clocks();
}

static void timestamps_in_a_wrong_order(void **state)
{
	(void)state;
	watch_clocks();
	result.stamp_check = (struct stamp_check){ .stamps = { 1000, 999 }, .repeated = { 1, 2 }, .backward = { 3, 4 } };
	assert_same_clocks();
	result.stamp_check.steps_of = STAMP_STEP_LEAST;
	result.stamp_check.divisor_ns = 8;
	assert_same_clocks();
	result.clocks.comparable = false;
	assert_same_clocks();
}

static void bounds_of_the_stages(void **state)
{
	(void)state;
	watch_clocks();
	result.converted = true;
	result.bound_ns[BOUND_LOCAL] = optional_of(80);
	result.bound_ns[BOUND_REMOTE] = optional_of(90);
	assert_same_clocks();
	result.clocks.late_ns = 4000; /* a clock fault was found later */
	assert_same_clocks();
}

static void wrong_clocks(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"rate_bound_ppb\":12", "\"rate_bound_ppb\":null" },
		{ "\"rate_bound_ppb\":12", "\"rate_bound_ppb\":-1" },
		{ "\"size_ns\":0", "\"size_ns\":-9223372036854775808" }, { "\"offset_ns\":3", "\"offset_ns\":\"3\"" }, { "\"readings\":1234", "\"readings\":-1" },
		{ "\"after_start_ns\":[-5,-4]", "\"after_start_ns\":[-5]" },
		{ "\"after_seq\":[7,8]", "\"after_seq\":[7,4294967296]" },
		{ "\"events_left_out\":0", "\"events_left_out\":1" },
		{ "\"kind\":\"stood still\"", "\"kind\":null" }, { "\"disordered\":0", "\"disordered\":0.5" },
		{ "\"step_ns\":8", "\"step_ns\":0" }, { "\"repeated\":6", "\"repeated\":-6" },
	};
	struct result_clocks *c = &result.clocks;

	(void)state;
	watch_clocks();
	result.began_ns = 5;
	c->has_relation = true;
	c->minus_realtime.offset_ns = 3;
	c->steps_kept = c->faults_kept = 1;
	c->fault[0].stands = true;
	c->step[0].mono_ns[1] = 1;
	result.stamp_check = (struct stamp_check){ .stamps = { 1000, 999 }, .repeated = { 6 }, .divisor_ns = 8,
						   .steps_of = STAMP_STEP_LEAST };
	result.peer = (struct result_peer){ .compared = true, .events = 1, .event = { { .seq = { 7, 8 } } } };
	assert_refused("clocks", wrong, COUNT_OF(wrong));
}

/* ---- Breaches ---------------------------------------------------------------------------------------------------- */

static void assert_same_breaches(void)
{
	struct outcome *o;

	for (int i = 0; i < STAGES; i++)
		if (result.stage[i])
			histogram_finish(&stage[i]);
	histogram_finish(&histogram);
	o = again();
	assert_true(o->read.has_breaches);
	assert_same(json_of(json_breaches, &report), json_of(json_breaches, &o->report));
	assert_same(json_of(json_breach_causes, &report), json_of(json_breach_causes, &o->report));
	assert_same(text_of(breach_write, &report), text_of(breach_write, &o->report));
	if (counter_get(&result.account.breaches))
		assert_same(text_of(breach_write_brief, &report), text_of(breach_write_brief, &o->report));
	outcome_close(o);
}

static void breach_of(struct sample s)
{
	breach_note(&result, &s);
}

static void breaches_of_an_emitter(void **state)
{
	struct sample s;

	(void)state;
	watch_clocks();
	result.converted = true;
	assert_same_breaches();
	breach_of(joined_sample(7, 5000, 2100, 900, 107000));
	assert_same_breaches();
	breach_of(joined_sample(9, 205000, 2100, 900, 7000));
	breach_of(without_t3(joined_sample(10, 200000, 2100, 900, 7000), FOLLOW_UP_LOST));
	s = joined_sample(11, 5000, 150000, 900, 7000);
	s.remote_poll_gap_ns = 149000;
	breach_of(s);
	s = joined_sample(12, 5000, 2100, 900, 107000);
	s.time_ns[EMIT_T4_USER] += 300000;
	s.poll_gap_ns = UINT32_MAX;
	s.same_timebase = false;
	s.off_scale = s.alike = true;
	breach_of(s);
	s.source[EMIT_T4_USER] = SOURCE_NONE;
	breach_of(s);
	assert_same_breaches();
	result.clocks.track[CLOCK_OF_SYSTEM].steps = 1; /* may be why a time could not be converted */
	result.clocks_moved = true;
	assert_same_breaches();
	options.threshold_on = METRIC_NETWORK;
	options.threshold_ns = 4000;
	set(&result.account.breaches, 0);
	breach_of(joined_sample(9, 205000, 2100, 900, 7000));
	breach_of(joined_sample(8, 206000, 2100, 900, 107000));
	assert_same_breaches();
	for (uint32_t i = 0; i < BREACHES_KEPT + 3; i++)
		breach_of(joined_sample(20 + i, 105000 + i, 2100, 900, 7000));
	assert_same_breaches();
}

/* ---- Causes ------------------------------------------------------------------------------------------------------ */

static struct result_causes causes;

/* The breach with this number, from 0: its explanation has three parts. */
static struct why *explain_breach(uint64_t i, int class, const char *name)
{
	struct why *w = &causes.why[causes.whys++];
	struct sample s;

	assert_true(breach_read(&result, i, &s));
	*w = (struct why){ .seq = s.seq, .latency_ns = s.latency_ns, .class = (uint8_t)class,
			   .named = class < OWNER_CLASSES, .stage = "kernel_to_app_ns", .has_typical = true,
			   .value_ns = 7852, .typical_ns = 40, .bound_ns = 1097, .ordinary_packets = 12, .events = 653,
			   .parts = 3, .part = {
				   { .class = class < OWNER_CLASSES ? (uint8_t)class : OWNER_IRQ, .cpu = { true, 1 },
				     .value_ns = 7003, .typical_ns = 10 },
				   { .class = OWNER_RANT, .value_ns = 848, .typical_ns = 29 },
				   { .class = OWNER_SOFTIRQ, .cpu = { true, 0 }, .value_ns = 1, .typical_ns = 1,
				     .name = "NET_RX" } } };
	snprintf(w->part[0].name, sizeof(w->part[0].name), "%s", name);
	return w;
}

static void breach_with_causes(void)
{
	causes = (struct result_causes){ .whys = 0 };
	result.causes = &causes;
	for (uint32_t i = 0; i < 6; i++)
		breach_of(joined_sample(7 + i, 5000 + i, 2100, 900, 107000));
	explain_breach(0, OWNER_THREAD, "kworker/1:2");
	explain_breach(1, CAUSE_SPREAD, "eth1-rx-1");
	explain_breach(2, CAUSE_NONE, "eth1-rx-1");
	explain_breach(3, OWNER_WIRE, "")->part[0].cpu = (struct optional){ .known = false };
	*explain_breach(4, OWNER_HELD, "x") = (struct why){ .seq = 11, .latency_ns = causes.why[4].latency_ns,
							   .not_explained = "all.txt: No such file or directory" };
}

static const struct why_unseen counted = { .there = true, .cpu = { true, 1 }, .smi_count = { true, 2 }, .smi_within_ns = 123,
					   .steal_ms = { true, 0 }, .steal_within_ns = 45, .steal_step_ms = 10,
					   .steal_ever = true, .disrupted = { true, 1 } };

static void causes_of_breaches(void **state)
{
	struct why *w;

	(void)state;
	watch_clocks();
	result.converted = true;
	breach_with_causes();
	causes.why[0].named = 2;
	causes.why[0].unseen = counted;
	causes.why[1].unseen = (struct why_unseen){ .there = true, .smi_why = "no MSR", .steal_why = "none" };
	causes.why[2].unseen = (struct why_unseen){ .there = true, .cpu = { true, 0 }, .smi_why = "x", .steal_ms = { true, 30 },
						    .steal_within_ns = 9, .steal_step_ms = 4, .disrupted = { true, 0 } };
	w = explain_breach(5, OWNER_THREAD, "kworker/1:2");
	w->has_typical = false;
	w->typical_ns = w->part[0].typical_ns = w->part[1].typical_ns = w->part[2].typical_ns = 0;
	w->part[0].cpu = optional_of(0);
	for (unsigned i = 0; i < causes.whys; i++)
		causes_count(&causes, &causes.why[i]);
	causes_count_not_explained(&causes, 7);
	causes_sort(&causes);
	assert_same_breaches();
	/* Counts without explanations: newer breaches have replaced these in the list. */
	causes.whys = 0;
	assert_same_breaches();
}

/* Also a text that would end the line. */
static void wrong_causes(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"why\":{\"class\":\"thread\"", "\"why\":{\"class\":\"spell\"" },
		{ "\"why\":{\"class\":\"thread\"", "\"why\":{\"class\":\"not_explained\"" },
		{ "\"why\":{\"class\":\"thread\"", "\"why\":{\"class\":\"irq\"" },
		{ "\"why\":{\"class\":\"thread\"", "\"why\":{\"class\":7" },
		{ "\"why\":{\"class\":\"thread\"", "\"why\":7,\"y\":{\"class\":\"thread\"" },
		{ "\"name\":\"kworker/1:2\",\"cpu\":1", "\"name\":\"kworker/1:3\",\"cpu\":1" },
		{ "\"name\":\"kworker/1:2\",\"cpu\":1", "\"name\":\"kworker/1:2\",\"cpu\":32768" },
		{ "\"parts_named\":1", "\"parts_named\":0" }, { "\"parts_named\":1", "\"parts_named\":3" },
		{ "\"parts_named\":0", "\"parts_named\":1" }, { "\"stage\":\"kernel_to_app_ns\"", "\"stage\":\"\"" },
		{ "\"value_ns\":7852,", "\"value_ns\":7853," }, { "\"value_ns\":7003,", "\"value_ns\":-7003," },
		{ "\"value_ns\":7852,", "\"value_ns\":9223372036854775807," },
		{ "\"typical_ns\":29,", "\"typical_ns\":30," }, { "\"typical_ns\":40,", "\"typical_ns\":null," },
		{ "\"smi_count\":2,", "\"smi_count\":-2," }, { "\"smi_count\":2,", "\"smi_count\":null," },
		{ "\"smi_within_ns\":123", "\"smi_within_ns\":null" }, { "\"smi_not_known\":null", "\"smi_not_known\":\"x\"" },
		{ "\"steal_since_boot\":true", "\"steal_since_boot\":7" }, { "\"disrupted\":true", "\"disrupted\":7" },
		{ "\"unseen\":{\"cpu\":1,", "\"unseen\":7,\"x\":{\"cpu\":1," }, { "\"unseen\":{\"cpu\":1,", "\"unseen\":{\"cpu\":-1," },
		{ "\"bound_ns\":1097", "\"bound_ns\":null" }, { "\"events\":653", "\"events\":-1" },
		{ "\"parts\":[{\"class\":\"thread\"", "\"parts\":[{\"class\":\"spread\"" },
	};
	static const char *const wrong_counts[][2] = {
		{ "\"count\":4}", "\"count\":0}" }, { "\"count\":4}", "\"count\":9223372036854775807}" },
		{ "\"breach_causes\":[{\"class\":\"thread\"", "\"breach_causes\":[{\"class\":\"threads\"" },
		{ "\"breach_causes\":[", "\"breach_causes\":7,\"x\":[" },
	};

	(void)state;
	breach_with_causes();
	causes.why[0].unseen = counted;
	assert_refused("breaches", wrong, COUNT_OF(wrong));
	for (int i = 0; i < 4; i++)
		causes_count(&causes, &causes.why[0]);
	assert_refused("breach_causes", wrong_counts, COUNT_OF(wrong_counts));
}

/* ---- Breaches of other runs -------------------------------------------------------------------------------------- */

/* With the receive times of both kernels. */
static void breaches_with_kernel_times(void **state)
{
	struct sample s;

	options.stages.detail = STAGES_KERNEL;
	tear_down(state);
	set_up(state);
	options.stages.detail = STAGES_KERNEL;
	set_up_joined();
	s = joined_sample(9, 5000, 152100, 900, 7000);
	received_by_kernels(&s, 1400, 151000);
	breach_of(s);
	assert_same_breaches();
}

/* Also as a section of the report. */
static void put_freeze(FILE *out, const struct report *r)
{
	char line[FREEZE_TEXT_BYTES] = "";

	freeze_say(line, sizeof(line), r);
	fprintf(out, "%s\n", line);
	*line = '\0';
	freeze_say_cause(line, sizeof(line), r);
	fprintf(out, "%s\n", line);
}

static void assert_same_freeze(void)
{
	struct outcome *o = again();

	assert_same(json_of(json_freeze, &report), json_of(json_freeze, &o->report));
	assert_same(text_of(put_freeze, &report), text_of(put_freeze, &o->report));
	outcome_close(o);
}

static void freezes(void **state)
{
	struct result_freeze *z = &result.freeze;

	(void)state;
	assert_same_freeze();
	z->asked = 7;
	assert_same_freeze();
	z->confirmed = 1;
	z->refused = 2;
	z->occupied = 3;
	z->unconfirmed = 1;
	z->left_out = 5;
	z->of_peer = 6;
	z->announced = 4;
	z->peer_supports = true;
	for (enum freeze_outcome i = FREEZE_WAITING; i < FREEZE_OUTCOMES; i++) {
		z->first = (struct freeze_first){ .outcome = i, .seq = UINT32_MAX, .probes = 1000 };
		if (i % 2 == 0)
			z->first.own_ns = optional_of(3100);
		if (i % 3 == 0) {
			z->first.peer_ns = optional_of(214000);
			z->first.peer_bound_ns = optional_of(30000);
		} else {
			z->first.holds = optional_of(i % 3 == 1);
		}
		assert_same_freeze();
	}
	strcpy(z->emitter_name, "2001:db8::1");
	assert_same_freeze();
	z->first.outcome = FREEZE_CONFIRMED;
	for (enum freeze_cause_state i = FREEZE_CAUSE_NONE; i < FREEZE_CAUSE_STATES; i++) {
		z->first.cause.state = i;
		if (i == FREEZE_CAUSE_KNOWN)
			z->first.cause = (struct freeze_cause){ .state = i, .class = OWNER_SOFTIRQ, .stage = 1, .percent = 97,
								.cpu = { true, 1 }, .stage_ns = 512000, .ns = 498200, .name = "TIMER" };
		else
			z->first.cause = (struct freeze_cause){ .state = i };
		assert_same_freeze();
	}
}

static void breaches_of_a_reflector(void **state)
{
	tear_down(state);
	set_up(state);
	options.threshold_ns = 100000;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 12000, 2000, 7000, 3000);
	options.sw_timestamps = true;
	result.has_stages = true;
	set(&result.account.recorded, histogram.count);
	set(&result.account.sent, histogram.count);
	set(&result.account.answered, histogram.count);
	set(&result.account.received, histogram.count);
	stages_of_role(ROLE_REFLECT, true, result.stages);
	breach_of(sample_of(3, 2000, 150000, 3000));
	breach_of(sample_of(4, 2000000, 1000, 3000));
	assert_same_breaches();
}

/* A file of an older version has their number only. */
static void breaches_without_records(void **state)
{
	static const char from[] = "\"record\"";
	struct outcome *o;
	char *json;

	(void)state;
	breach_of(joined_sample(7, 5000, 2100, 900, 107000));
	json = json_of(write_run, &report);
	for (char *at = json; (at = strstr(at, from)); at++)
		at[1] = 'R';
	assert_int_equal(read_again(&o, json), 0);
	assert_false(o->read.has_breaches);
	assert_int_equal(counter_get(&o->result.account.breaches), 1);
	outcome_close(o);
	free(json);
}

static void wrong_breaches(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"breaches\":{\"threshold_ns\":100000", "\"breaches\":{\"threshold_ns\":0" },
		{ "\"threshold_on\":\"rtt_ns\"", "\"threshold_on\":\"x\"" }, { "\"count\":2", "\"count\":3" },
		{ "\"seq\":7", "\"seq\":4294967296" },
		{ "\"latency_ns\":115000", "\"latency_ns\":-9223372036854775808" }, { "\"latency_ns\":115000", "\"latency_ns\":null" },
		{ "\"sources\":[\"user\"", "\"sources\":[\"sundial\"" },
		{ "\"times_ns\":[1773883524780127138", "\"times_ns\":[9223372036854775807" },
		{ "\"times_ns\":[1773883524780127138", "\"times_ns\":[null" },
		{ "\"reflector_stamps\":\"-\"", "\"reflector_stamps\":\"?\"" },
		{ "\"remote_poll_gap_ns\":0", "\"remote_poll_gap_ns\":4294967296" },
		{ "\"last\":[{", "\"last\":[{},{" }, { "\"worst\":{", "\"worst\":null,\"w\":{" },
	};

	(void)state;
	breach_of(joined_sample(7, 5000, 2100, 900, 107000));
	breach_of(joined_sample(7, 5000, 2100, 900, 107000));
	assert_refused("breaches", wrong, COUNT_OF(wrong));
}

/* ---- Members of a single run ------------------------------------------------------------------------------------- */

static void write_schedule(FILE *out, const struct report *r)
{
	statistics_write_schedule(out, r, 0);
}

static void write_statistics(struct json *j, const struct report *r)
{
	json_statistics(j, r, true);
}

static void write_delays_and_evidence(FILE *out, const struct report *r)
{
	struct report of = *r;
	struct options verbose = *r->options;

	verbose.verbose = true;
	of.options = &verbose;
	teeth_write(out, &of);
	ipdv_write(out, &of, 0);
	source_ports_write(out, &of);
	machine_write_counters(out, &of.result->counters);
	evidence_write_trace(out, &of);
	evidence_write_commands(out, &of);
	if (of.result->log.exists)
		account_write_log(out, &of);
}

static void write_run_members(struct json *j, const struct report *r)
{
	json_run(j, r, true);
}

/* A run with a schedule and a window, whose other members no report computes with. */
static void set_up_schedule(void)
{
	options.interval_ns = 1000 * NS_PER_US;
	options.jitter_percent = 7;
	options.seed = 8;
	options.pacing = PACING_SLEEP;
	options.stamp_every = 4;
	counter_add(&result.slots, 9);
	counter_add(&result.missed, 2);
	result.window = (struct window_use){ .most = 64, .reached = 5, .stamps_most = 4, .stamps_limited = true,
					     .by_nic = true };
	result.granted.transport = "UDP/IPv4";
	result.end = END_COUNT;
	strcpy(result.system.hostname, "a \"host\"");
	strcpy(result.affinity.text, "CPU 3, SCHED_FIFO 22");
	strcpy(result.nic.name, "eth1");
	result.counters = (struct result_counters){ .counters = 1, .name = { "cycles" }, .quick = 3,
						    .quick_mean = { 10.3 } };
}

static void members_of_a_single_run(void **state)
{
	void (*const members[])(struct json *j, const struct report *r) = {
		write_run_members, json_configuration, json_host, write_statistics, json_modes, json_machine,
	};
	struct outcome *o;

	(void)state;
	set_up_schedule();
	o = again();
	for (size_t i = 0; i < COUNT_OF(members); i++)
		assert_same(json_of(members[i], &report), json_of(members[i], &o->report));
	assert_same(text_of(write_schedule, &report), text_of(write_schedule, &o->report));
	assert_string_equal(o->result.affinity.text, "CPU 3, SCHED_FIFO 22");
	outcome_close(o);
}

/* Members of `host` and of the other members that no report computes with are kept, also those of a later version. */
static void members_are_kept_as_they_are(void **state)
{
	char *json, *changed, *written;
	struct outcome *o;

	(void)state;
	set_up_schedule();
	json = json_of(write_run, &report);
	written = strstr(json, "\"host\":{");
	assert_non_null(written);
	assert_true(asprintf(&changed, "%.*s\"host\":{\"x\":[1.25,-7],\"of_a_later_version\":true,%s",
			     (int)(written - json), json, written + strlen("\"host\":{")) > 0);
	if (read_again(&o, changed))
		fail_msg("%s", said);
	written = json_of(write_run, &o->report);
	assert_non_null(strstr(written, "\"host\":{\"x\":[1.25,-7],\"of_a_later_version\":true,"));
	free(written);
	free(changed);
	free(json);
	outcome_close(o);
}

/* ---- Delays and evidence of a single run ------------------------------------------------------------------------- */

static struct result_port ports_again[3];
static struct teeth teeth_again;

static void set_up_delays(void)
{
	static const struct ipdv_figures f = { 7, 1, 2, 3, 4, 5, 3, 1 };
	struct reported_figures *t = &result.ipdv.reported;
	struct account *a = &result.account;

	/* no reply of the reflector told when it left */
	set(&a->follow_up[FOLLOW_UP_UNREPORTED], counter_get(&a->follow_up[FOLLOW_UP_THERE]));
	set(&a->follow_up[FOLLOW_UP_THERE], 0);

	for (int i = 0; i < IPDV_METRICS; i++)
		result.ipdv.of[i] = f;
	for (int i = 0; i < REPORTED_DELAYS; i++) {
		t->delay[i] = f;
		t->negative[i] = 10U + (unsigned)i;
	}
	for (int i = 0; i < REPORTED_VARIATIONS; i++)
		t->varies[i] = f;
	t->two_clocks = 21;
	t->no_part = 22;
	t->bound_ns[0] = 400;
	t->bound_ns[1] = 300;
	result.ipdv.left_out = 23;
	ports_again[0] = (struct result_port){ .number = 40001, .samples = 5, .sent = 6, .lost = 1, .refused = 2,
					       .directions_known = true, .lost_forward = 1, .has_delay = true,
					       .p50_ns = 7, .p99_ns = 8, .max_ns = 9 };
	ports_again[1] = (struct result_port){ .number = 40002 };
	ports_again[2] = (struct result_port){ .number = 65535, .sent = 4 };
	result.port = ports_again;
	result.ports = COUNT_OF(ports_again);
	result.ports_by_network = true;
	result.delays = (struct delays){ 1, { { "rx-usecs 50", 50000, "ethtool -C eth1 rx-usecs 0" } } };
	teeth_again = (struct teeth){ .count = 2, .tooth = {
		{ .stage = TEETH_OF_LATENCY, .modes = { .count = 3, .kept = 2, .samples = histogram.count,
			.mode = { { 5000, 0, 1 }, { 9000, 0, 2 } } } },
		{ .stage = STAGE_RESPONSE, .modes = { .count = 1, .kept = 1, .samples = stage[STAGE_RESPONSE].count,
			.mode = { { 7000, 0, 1 } }, .distance_ns = 50000 }, .cause = &result.delays.delay[0] },
	} };
	report.teeth = &teeth_again;
}

static void set_up_evidence(void)
{
	result.counters = (struct result_counters){ .counters = 2, .name = { "cycles", "cache-misses" },
		.user_only = true, .system_calls = 4, .missing = "branch-misses", .quick = 3, .quick_mean = { 10.3, 2 },
		.slow = 1, .spike = { 99, 7 }, .failed = 2, .partial = { false, true } };
	result.trace = (struct result_trace){ .path = "/sys/kernel/tracing/instances/rant", .clock = "mono_raw",
		.start_error = 5, .marked = 3, .refused = 1, .off = 2, .while_frozen = 4, .saves = 2, .frozen = true,
		.unsaved = true, .last = { .seq = 7, .marker_ns = 900, .frozen_ns = 1500, .marker_error = 28,
			.stop_error = 1, .snapshot_error = 16, .snapshot_taken = true },
		.saved = { .path = "/var/tmp/rant-emit-2-seq-7", .source = "snapshot", .spike_cpu = { true, 3 }, .swap_skipped = true,
			.lost_events = { true, 12 }, .left_out = { 2, "cpu1 (I/O error)" } } };
	result.commands = (struct result_commands){ .commands = 2, .command = { "date \"+%s\"", "true" }, .ran = { 1, 9 },
		.failed = { 0, 2 }, .left_out = { 3, 0 }, .breaches_missed = 6 };
	result.log = (struct result_log){ .exists = true, .path = "/tmp/a \"log\"", .form = "csv", .offered = 90,
		.overwritten = 1, .left_out = 2, .rotates = true, .file = 4, .error = -28, .written = 80, .removed = 5,
		.not_kept = 3, .unwritten = 0, .octets = 4096, .shortest_ns = 1500000000 };
}

static void delays_and_evidence(void **state)
{
	struct outcome *o;

	(void)state;
	set_up_delays();
	set_up_evidence();
	o = again();
	assert_same(json_of(write_statistics, &report), json_of(write_statistics, &o->report));
	assert_same(json_of(json_modes, &report), json_of(json_modes, &o->report));
	assert_same(json_of(json_machine, &report), json_of(json_machine, &o->report));
	assert_same(text_of(write_delays_and_evidence, &report), text_of(write_delays_and_evidence, &o->report));
	outcome_close(o);
	/* the other value of what is yes or no, or one of two */
	result.ports_by_network = false;
	result.trace.saved.source = "trace";
	result.trace.saved.spike_cpu = (struct optional){ .known = false };
	result.trace.saved.lost_events = (struct optional){ .known = false };
	result.trace.last.off_before = true;
	result.log = (struct result_log){ .exists = true, .path = "-", .form = "text", .beside = true, .written = 3,
					  .offered = 3 };
	o = again();
	assert_same(json_of(write_statistics, &report), json_of(write_statistics, &o->report));
	assert_same(json_of(json_machine, &report), json_of(json_machine, &o->report));
	assert_same(text_of(write_delays_and_evidence, &report), text_of(write_delays_and_evidence, &o->report));
	outcome_close(o);
}

static void wrong_delays(void **state)
{
	static const char *const ipdv[][2] = {
		{ "\"rtt_ipdv_ns\":{\"samples\":7", "\"rtt_ipdv_ns\":{\"samples\":-1" },
		{ "\"left_out\":23", "\"left_out\":\"x\"" }, { "\"mean_ns\":3,\"stddev_ns\":1", "\"stddev_ns\":1" },
	};
	static const char *const reported[][2] = {
		{ "\"negative_each\":[10", "\"negative_each\":[-10" },
		{ "\"ways_within_ns\":400", "\"ways_within_ns\":\"x\"" }, { "\"no_part\":22", "\"no_part\":-1" },
	};
	static const char *const ports[][2] = {
		{ "\"figure\":\"network_ns\"", "\"figure\":7" }, { "\"port\":40001", "\"port\":65536" },
		{ "\"port\":65535,\"samples\":0", "\"port\":65535,\"samples\":-1" },
	};
	static const char *const modes[][2] = {
		{ "\"metric\":\"rtt_ns\"", "\"metric\":\"sundial_ns\"" }, { "\"modes\":3,", "\"modes\":1," },
		{ "\"value_ns\":5000,\"samples\":1", "\"value_ns\":null,\"samples\":1" },
		{ "\"delay_ns\":50000", "\"delay_ns\":\"x\"" },
	};

	(void)state;
	set_up_delays();
	assert_refused("ipdv", ipdv, COUNT_OF(ipdv));
	assert_refused("as_told", reported, COUNT_OF(reported));
	assert_refused("source_ports", ports, COUNT_OF(ports));
	assert_refused("modes", modes, COUNT_OF(modes));
}

static void wrong_evidence(void **state)
{
	static const char *const counters[][2] = {
		{ "\"quick_exchanges\":3", "\"quick_exchanges\":-3" }, { "\"name\":\"cycles\"", "\"name\":null" },
		{ "\"quick_mean\":10.3", "\"quick_mean\":\"x\"" },
	};
	static const char *const traces[][2] = {
		{ "\"markers\":3", "\"markers\":-3" }, { "\"marker_error\":28", "\"marker_error\":99999" },
		{ "\"spike_cpu\":3", "\"spike_cpu\":-3" }, { "\"events_lost\":12", "\"events_lost\":\"x\"" },
	};
	static const char *const commands[][2] = {
		{ "\"command\":\"true\"", "\"command\":7" }, { "\"ran\":9", "\"ran\":4294967296" },
		{ "\"breaches_without_command\":6", "\"breaches_without_command\":-6" },
	};
	static const char *const log[][2] = {
		{ "\"form\":\"csv\"", "\"form\":\"cuneiform\"" }, { "\"records\":75", "\"records\":-75" },
		{ "\"left_out\":3,\"unwritten\"", "\"left_out\":0,\"unwritten\"" }, { "\"octets\":4096", "\"octets\":\"x\"" },
	};

	(void)state;
	set_up_evidence();
	assert_refused("counters", counters, COUNT_OF(counters));
	assert_refused("trace", traces, COUNT_OF(traces));
	assert_refused("commands", commands, COUNT_OF(commands));
	assert_refused("log", log, COUNT_OF(log));
}

static void wrong_window(void **state)
{
	static const char *const wrong[][2] = {
		{ "\"window\":{\"most\":64", "\"window\":{\"most\":4294967296" },
		{ "\"reached\":5", "\"reached\":-1" }, { "\"transmit_stamps_at_once\":4", "\"transmit_stamps_at_once\":\"x\"" },
	};

	(void)state;
	set_up_schedule();
	assert_refused("window", wrong, COUNT_OF(wrong));
}

#define TEST_RUN(test) cmocka_unit_test_setup_teardown(test, set_up_run, tear_down)

/* ---- A copy ------------------------------------------------------------------------------------------------------ */

/* The reports are made of a copy, while the original is overwritten: no member points into the struct. */
static void a_copy_has_the_same_reports(void **state)
{
	static struct result_port ports[2];
	static struct result copy;
	struct report of_copy = report;
	char *text_before, *json_before;

	(void)state;
	watch_clocks();
	result.converted = true;
	result.granted = (struct granted){ .transport = "UDP/IPv4", .stamps = SOURCE_HARDWARE, .transmit_stamps = true };
	result.port = ports;
	result.ports = 2;
	ports[1].sent = 7;
	result.probe_bytes = optional_of(96);
	result.wire = (struct wire){ 1000, 142, 1296 };
	result.strays = (struct optional){ .known = false };
	result.dropped = optional_of(3);
	snprintf(result.nic.name, sizeof(result.nic.name), "eth1");
	snprintf(result.system.hostname, sizeof(result.system.hostname), "here");
	result.system.is_virtual = optional_of(0);
	outage_add(&result.outages, 0, NS_PER_S);
	breach_of(joined_sample(7, 5000, 2100, 900, 107000));
	breach_of(joined_sample(9, 205000, 2100, 900, 7000));
	for (int i = 0; i < STAGES; i++)
		if (result.stage[i])
			histogram_finish(&stage[i]);
	histogram_finish(&histogram);
	text_before = text_of(write_report, &report);
	json_before = json_of(write_run, &report);

	copy = result;
	memset(&result, 0x5a, sizeof(result));
	of_copy.result = &copy;
	assert_non_null(strstr(json_before, "\"dropped_by_this_host\":3,\"strays\":null"));
	assert_same(text_before, text_of(write_report, &of_copy));
	assert_same(json_before, json_of(write_run, &of_copy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_RUN(activity_of_the_machine),
		TEST_RUN(wrong_activity),
		TEST_RUN(clocks_of_this_host),
		TEST_RUN(clock_of_the_reflector),
		TEST_RUN(the_nic_that_stamps),
		TEST_RUN(kernel_timestamps_that_are_placed),
		TEST_RUN(timestamps_in_a_wrong_order),
		TEST_RUN(bounds_of_the_stages),
		TEST_RUN(wrong_clocks),
		TEST_RUN(breaches_of_an_emitter),
		TEST_RUN(breaches_with_kernel_times),
		TEST_RUN(breaches_of_a_reflector),
		TEST_RUN(freezes),
		TEST_RUN(breaches_without_records),
		TEST_RUN(wrong_breaches),
		TEST_RUN(members_of_a_single_run),
		TEST_RUN(members_are_kept_as_they_are),
		TEST_RUN(delays_and_evidence),
		TEST_RUN(wrong_delays),
		TEST_RUN(wrong_evidence),
		TEST_RUN(wrong_window),
		TEST_RUN(a_copy_has_the_same_reports),
		TEST_RUN(causes_of_breaches),
		TEST_RUN(wrong_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
