/* build: sources=result/take*.c,@outputs,doctor/[a-z]*.c,@result,wire/[a-z]*.c,@host,histogram.c,tracefs.c,options.c,options/[a-z]*.c libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Output of --json: each number of a run at its own name. The numbers differ, so that none can stand for another. */
#include "report/export/json_parts.h"

#include "fake_report.h"

#include "host/process/affinity.h"
#include "host/process/hook.h"
#include "host/system.h"
#include "host/clock/clock_peer.h"
#include "host/counters/pmc.h"
#include "report/export/jsonl.h"
#include "report/log/log_file.h"
#include "report/verdict/verdict.h"

#include <endian.h>

/* ---- One part as a line of JSON ---------------------------------------------------------------------------------- */

static struct json writer_of_json;
static char line[64 << 10];
static size_t line_bytes;

static int put(void *context, const char *from, size_t bytes)
{
	(void)context;
	assert_true(line_bytes + bytes < sizeof(line));
	memcpy(line + line_bytes, from, bytes);
	line_bytes += bytes;
	line[line_bytes] = '\0';
	return 0;
}

static struct json *begin(void)
{
	line_bytes = 0;
	json_begin(&writer_of_json, put, NULL, true);
	take_results();
	json_object(&writer_of_json, NULL);
	return &writer_of_json;
}

static void finish(void)
{
	json_end(&writer_of_json);
	assert_int_equal(json_finish(&writer_of_json), 0);
}

static const char *written_json(void (*write_stage)(struct json *j, const struct report *r))
{
	write_stage(begin(), &report);
	finish();
	return line;
}

/* A line for each object and array that another member follows. */
static void show(const char *json)
{
	for (size_t bytes; *json; json += bytes) {
		const char *object = strstr(json, "},"), *array = strstr(json, "],");
		const char *end = !object || (array && array < object) ? array : object;

		bytes = end ? (size_t)(end + 2 - json) : strlen(json);
		golden("%.*s%s", (int)bytes, json, end ? "\n" : "");
	}
}

/* The object or array of this name, wherever it is first, is as this. */
static void assert_value(const char *all, const char *name, const char *value)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", name);
	at = strstr(all, quoted);
	if (!at)
		fail_msg("there is no member '%s' in:\n%s", name, all);
	at += strlen(quoted);
	if (strncmp(at, value, strlen(value)) || !strchr(",}]", at[strlen(value)]))
		fail_msg("'%s' is not\n%s\nbut\n%s", name, value, at);
}

/* ---- Accounts ---------------------------------------------------------------------------------------------------- */

static void accounts_of_an_emitter(void **state)
{
	struct account *a = &result.account;

	(void)state;
	options.plain = false;
	result.remote = SOURCE_HARDWARE;
	result.measured = 1000;
	result.probe_bytes = optional_of(52);
	result.arrived_ttl = 63;
	result.arrived_dscp = 46;
	result.began_ns = 5 * NS_PER_S;
	result.last_ns = 7 * NS_PER_S;
	result.outages = (struct outages){ .count = 3, .total_ns = 4000, .longest_ns = 2500,
					   .longest_at_ns = 5 * NS_PER_S + 77 };
	result.directions = (struct directions){ .reported = true, .lost_forward = 11, .lost_backward = 12,
						 .lost_unknown = 13, .discard_reasons =
						 DISCARD_OVER_RATE | DISCARD_UNREAD,
		.reordered_forward = 14, .reordered_backward = 15, .duplicate_forward = 16, .duplicate_backward = 17,
		.restarts = 18 };
	result.dropped = optional_of(21);
	result.strays = optional_of(22);
	counter_add(&result.truncated, 23);
	counter_add(&result.error_other, 24);
	counter_add(&a->missing_tx, 25);
	counter_add(&a->missing_rx, 26);
	counter_add(&a->breaches, 27);
	counter_add(&a->closing, 1);
	counter_add(&a->answered, 900);
	counter_add(&a->follow_up_late, 28);
	counter_add(&a->unjudged, 29);
	counter_add(&a->other_ttl, 31);
	counter_add(&a->other_class, 32);
	counter_add(&a->timed_packets, 33);
	counter_add(&a->timed_bytes, 34);
	for (unsigned i = 0; i < FOLLOW_UPS; i++)
		counter_add(&a->follow_up[i], 40 + i);
	for (uint32_t i = 0; i < 500; i++)
		histogram_add(&histogram, 5000, i);
	show(written_json(json_accounts));
}

static void accounts_of_a_reflector(void **state)
{
	struct account *a = &result.account;

	(void)state;
	options.role = ROLE_REFLECT;
	result.dropped = (struct optional){ .known = false };
	result.woken_slowest_ns = optional_of(51);
	result.woken_slowest_seq = 52;
	counter_add(&result.sessions, 53);
	counter_add(&result.evicted, 54);
	counter_add(&a->cut_short, 55);
	counter_add(&result.peer_sockets_taken, 56);
	counter_add(&result.peer_sockets_refused, 57);
	show(written_json(json_accounts));
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

static void metrics(struct json *j, const struct report *r)
{
	json_metrics(j, r, true);
}

static void numbers_of_a_histogram(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	for (uint32_t i = 0; i < 90; i++)
		histogram_add(&histogram, 5000, i);
	for (uint32_t i = 90; i < 100; i++)
		histogram_add(&histogram, 6000, i);
	histogram_add(&histogram, 200000, 100);
	histogram_add(&histogram, 200000, 101);
	histogram_add(&histogram, 300000, 102);
	histogram_add(&histogram, 4000, 103);
	histogram_add(&histogram, -1, 104);
	histogram_finish(&histogram);
	show(written_json(metrics));
	forget_samples(&histogram, 0, 0);
	show(written_json(metrics));
}

static void stages_and_ways(void **state)
{
	static struct histogram late, planned_rtt;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	options.role = ROLE_EMIT;
	result.bound_ns[BOUND_LOCAL] = optional_of(71);
	result.bound_ns[BOUND_REMOTE] = optional_of(72);
	result.one_way_bound_ns[0] = optional_of(73);
	result.one_way_bound_ns[1] = optional_of(74);
	for (int i = 0; i < ONE_WAYS; i++) {
		place(&one_way[i], 1);
		result.one_way[i] = &one_way[i];
		histogram_add(&one_way[i], 2400 + 200 * i, 1);
	}
	place(&late, 1);
	place(&planned_rtt, 1);
	histogram_add(&late, 801, 8);
	histogram_add(&planned_rtt, 15801, 9);
	result.planned[PLANNED_LATE] = &late;
	result.planned[PLANNED_RTT] = &planned_rtt;
	json_metrics(begin(), &report, false);
	finish();
	free(late.overflow);
	free(planned_rtt.overflow);
	result.planned[PLANNED_LATE] = result.planned[PLANNED_RTT] = NULL;
	show(line);
}

static void the_wire_time(void **state)
{
	(void)state;
	options.role = ROLE_EMIT;
	json_statistics(begin(), &report, false);
	finish();
	assert_value(line, "wire_time", "null");
	result.wire = (struct wire){ 10000, 64, 67 };
	json_statistics(begin(), &report, false);
	finish();
	assert_value(line, "wire_time", "{\"probe_ns\":67,\"frame_bytes\":64,\"speed_mbps\":10000}");
}

static void metric_of(struct ipdv_metric *f, uint64_t a, uint64_t b)
{
	ipdv_count(f, a);
	ipdv_count(f, b);
	ipdv_count(f, b);
}

static void ipdv_metrics(void **state)
{
	static struct ipdv ipdv;
	struct reported *t = &ipdv.reported;

	(void)state;
	options.role = ROLE_EMIT;
	result.peer.compared = true;
	ipdv.left_out = 81;
	ipdv.of[IPDV_RTT].beyond = 82;
	for (unsigned i = 0; i < IPDV_METRICS; i++)
		metric_of(&ipdv.of[i], 10 + i, 20 + i);
	ipdv_result(&result.ipdv, &ipdv);
	show(written_json(json_ipdv));
	options.role = ROLE_REFLECT;
	show(written_json(json_ipdv));
	options.role = ROLE_EMIT;
	for (unsigned i = 0; i < REPORTED_DELAYS; i++) {
		t->negative[i] = 100 + 100 * i;
		metric_of(&t->delay[i], 10 + i, 20 + i);
	}
	for (unsigned i = 0; i < REPORTED_VARIATIONS; i++)
		metric_of(&t->varies[i], 15 + i, 25 + i);
	t->bound_ns[0] = 91;
	t->bound_ns[1] = 92;
	t->no_part = 93;
	t->two_clocks = 94;
	ipdv_result(&result.ipdv, &ipdv);
	json_statistics(begin(), &report, false);
	finish();
	show(line);
}

static void schedule_and_ports(void **state)
{
	static struct source_port port[2];
	static struct result_port after[2];

	(void)state;
	options.role = ROLE_EMIT;
	options.interval_ns = 1001;
	options.stamp_every = 4;
	counter_add(&result.slots, 1002);
	counter_add(&result.missed, 1003);
	result.window = (struct window_use){ .most = 64, .reached = 63, .stamps_most = 62, .stamps_limited = true };
	memset(port, 0, sizeof(port));
	for (unsigned i = 0; i < 2; i++) {
		port[i] = (struct source_port){ .number = (uint16_t)(40001 + i), .sent = 1000 + i, .lost = 5 + 9 * i,
						.refused = 20 + i,
			.directions = { .reported = i, .lost_forward = 31, .lost_backward = 32 } };
		metric_of(&port[i].rtt, 10 + i, 20 + i);
	}
	source_ports_result(after, port, 2);
	result.port = after;
	result.ports = 2;
	json_statistics(begin(), &report, false);
	finish();
	show(line);
	memset(&port[1].rtt, 0, sizeof(port[1].rtt));
	port[0].sent = port[1].sent = 0;
	source_ports_result(after, port, 2);
	json_statistics(begin(), &report, false);
	finish();
	show(strstr(line, "source_ports"));
	result.port = NULL;
	result.ports = 0;
	options.interval_ns = 0;
	result.window.most = 1;
	json_statistics(begin(), &report, false);
	finish();
	show(strstr(line, "as_told"));
}

/* ---- Breaches ---------------------------------------------------------------------------------------------------- */

static struct result_causes causes = {
	.whys = 2,
	.why = {
		{ .seq = 7, .latency_ns = 115000, .class = OWNER_SOFTIRQ, .named = 1, .stage = "nic_to_app_ns",
		  .has_typical = true, .value_ns = 3001, .typical_ns = 1007, .bound_ns = 1005, .ordinary_packets = 1006,
		  .events = 1008, .parts = 2,
		  .part = { { .class = OWNER_SOFTIRQ, .cpu = { true, 3 }, .name = "NET_RX", .value_ns = 3000, .typical_ns = 7 },
			    { .class = OWNER_RANT, .value_ns = 1, .typical_ns = 1000 } } },
		{ .seq = 9, .latency_ns = 215000, .not_explained = "the file \"all.txt\" is absent" },
	},
};

static void breaches_of_an_emitter(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	options.role = ROLE_EMIT;
	result.breach = joined_sample(7, 5000, 2100, 900, 107000);
	result.worst = joined_sample(9, 205000, 2100, 900, 7000);
	result.kept[0] = result.breach;
	result.kept[1] = result.worst;
	counter_add(&result.account.breaches, 2);
	result.causes = &causes;
	causes_count(&causes, &causes.why[0]);
	causes_count(&causes, &causes.why[1]);
	causes_sort(&causes);
	for (int i = 0; i < STAGES; i++)
		if (result.stage[i])
			histogram_finish(&stage[i]);
	histogram_finish(&histogram);
	show(written_json(json_breaches));
	show(written_json(json_breach_causes));
	json_breach(begin(), "breach", &report, &result.worst, 2, false);
	finish();
	show(line);
	memset(&result.account.breaches, 0, sizeof(result.account.breaches));
	show(written_json(json_breaches));
	options.threshold_ns = 0;
	show(written_json(json_breaches));
	result.causes = NULL;
	show(written_json(json_breach_causes));
}

static void what_a_breach_does_not_print(void **state)
{
	struct sample s;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	options.role = ROLE_EMIT;
	s = without_t3(joined_sample(7, 5000, 2100, 900, 107000), FOLLOW_UP_LOST);
	for (int i = 0; i < STAGES; i++)
		if (result.stage[i])
			histogram_finish(&stage[i]);
	histogram_finish(&histogram);
	json_breach(begin(), "breach", &report, &s, 0, true);
	finish();
	show(line);
}

/* Each once, though it is looked for again. */
static void lines_of_breaches(void **state)
{
	char path[] = "/tmp/rant-jsonl-XXXXXX";
	struct log_file file = { .fd = -1 };
	static struct jsonl lines;
	int fd = mkstemp(path);
	ssize_t got;

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	options.role = ROLE_EMIT;
	result.kept[0] = joined_sample(7, 5000, 2100, 900, 107000);
	result.kept[1] = joined_sample(9, 205000, 2100, 900, 7000);
	counter_add(&result.account.breaches, 1);
	assert_int_equal(log_file_open(&file, path, 0, 0), 0);
	jsonl_open(&lines, &report, &file);
	jsonl_look(&lines);
	jsonl_look(&lines);
	counter_add(&result.account.breaches, 1);
	jsonl_look(&lines);
	assert_int_equal(log_file_finish(&file), 0);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	unlink(path);
	assert_true(got > 0);
	line[got] = '\0';
	show(line);
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static struct clock_watch clocks;
static struct clock_peer peer;

static void put_clocks(void)
{
	memset(&clocks, 0, sizeof(clocks));
	strcpy(clocks.name, "ptp_x");
	clocks.method = CLOCK_EXTENDED;
	clocks.readings = 1;
	clocks.history[0] = (struct clock_reading){ .has_phc = true, .phc_real = { 1, 37 * NS_PER_S + 102, 103 } };
	clocks.failures = 104;
	clocks.refused = 113;
	clocks.budget = (struct clock_budget){ .reads_per_s = 114, .fd = 9, .waits = 115 };
	clocks.tai_s = 37;
	counter_add(&clocks.track[CLOCK_OF_NIC].steps, 105);
	counter_add(&clocks.track[CLOCK_OF_SYSTEM].steps, 106);
	clocks.track[CLOCK_OF_SYSTEM].has_largest = true;
	clocks.track[CLOCK_OF_SYSTEM].largest = (struct clock_jump){ .size_ns = -107, .bound_ns = 108 };
	clocks.track[CLOCK_OF_NIC].rate = (struct clock_rate){ .measured = true, .ppb = 109, .bound_ppb = 110,
							       .over_ns = NS_PER_S };
	clocks.step[0] = (struct clock_jump){ .which = CLOCK_OF_SYSTEM, .size_ns = 111, .bound_ns = 112,
					      .mono_ns = { 1113, 1114 } };
	clocks.steps_kept = 1;
	clocks.fault[0] = (struct clock_fault){ .stands = true, .over = true, .began_ns = { 1100, 1110 },
						.ended_ns = { 1150, 1170 },
						.lost_ns = 55, .lost_bound_ns = 3 };
	clocks.fault[1] = (struct clock_fault){ .rate = { .measured = true, .ppb = -2000, .bound_ppb = 115 },
						.began_ns = { 1200, 1220 }, .ended_ns = { 1300, 1300 } };
	clocks.faults_kept = 2;
	result.began_ns = 1000;
	watched_clocks = &clocks;
}

static void clocks_of_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	options.role = ROLE_EMIT;
	put_clocks();
	memset(&peer, 0, sizeof(peer));
	peer.events = PEER_EVENTS_KEPT + 3;
	for (unsigned i = 0; i < PEER_EVENTS_KEPT; i++)
		peer.event[i] = (struct clock_peer_event){ .kind = PEER_JUMPED, .seq = { 121, 122 },
							   .mono_ns = { 1123, 1124 } };
	peer.event[0].has_before = true;
	peer.event[0].before = (struct clock_relation){ 0, 1000, 125 };
	peer.event[0].after = (struct clock_relation){ 0, 3000, 126 };
	peer.event[1].kind = PEER_STOOD;
	peer.event[1].stood_ns = 127;
	compared_peer = &peer;
	result.converted = true, watched_clocks = &clocks;
	result.bound_ns[BOUND_LOCAL] = optional_of(128);
	result.bound_ns[BOUND_REMOTE] = optional_of(129);
	strcpy(result.no_stages, "why");
	counter_add(&result.account.doubted, 131);
	counter_add(&result.account.unconverted, 132);
	counter_add(&result.account.disordered, 133);
	result.stamp_check = (struct stamp_check){ .stamps = { 134, 135 }, .repeated = { 136, 137 }, .backward = { 138, 139 },
						   .divisor_ns = 140, .steps_of = STAMP_STEP_LEAST };
	show(written_json(json_clocks));
	compared_peer = NULL;
	result.peer = (struct result_peer){ 0 };
	clocks.phc_fd = -1;
	strcpy(clocks.why, "no clock");
	show(written_json(json_clocks));
	watched_clocks = NULL;
	show(written_json(json_clocks));
}

/* ---- The machine and the verdict --------------------------------------------------------------------------------- */

/* A list of `count`, with three differences and then the first of them again. */
static struct result_differences some_differences(size_t count)
{
	static struct result_difference list[207];
	const struct result_difference three[] = {
		{ "cpu", "a", "", ACTIVITY_COUNTED, .delta = 141, .from = 142, .to = 143 },
		{ "cpu", "b", "MHz", ACTIVITY_CHANGED, .delta = 144, .from = 145, .to = 146 },
		{ "nic", "c", "", ACTIVITY_GONE, .delta = 147, .from = 148, .to = 149 },
	};

	for (size_t i = 0; i < COUNT_OF(list); i++)
		list[i] = three[i < COUNT_OF(three) ? i : 0];
	return (struct result_differences){ .known = true, .count = count, .list = list };
}

static void what_the_machine_did(void **state)
{
	const struct pmc read = { .counters = 2, .event = { 0, 1 }, .quick = 10, .quick_sum = { 55, 66 }, .slow = 1,
				  .spike = { 152, 153 },
				  .failed = 154, .partial = { false, true }, .user_only = true };

	(void)state;
	result.activity = (struct result_activity){ .is_read = true, .unreadables_left_out = 151,
						    .counters_left_out = 200, .run = some_differences(3) };
	hardware = read;
	result.commands = (struct result_commands){ .commands = 1, .command = { "true" }, .ran = { 155 }, .failed = { 156 },
						    .left_out = { 157 } };
	traced();
	counter_add(&trace.marked, 158);
	trace.saves = 159;
	strcpy(keeper.saved.path, "/x");
	is_saved = true;
	place_records(RECORDS, false, false);
	write_log(161);
	result.log.removed = 60;
	result.log.unwritten = 162;
	counter_add(&transactions.left_out, 163);
	show(written_json(json_machine));
	hardware.quick = hardware.slow = 0;
	result.log.exists = false;
	is_traced = false;
	result.commands.commands = 0;
	result.activity.run = result.activity.until_breach = result.activity.before_worst = some_differences(207);
	json_machine(begin(), &report);
	finish();
	assert_value(line, "left_out", "21");
	result.activity = (struct result_activity){ 0 };
	show(written_json(json_machine));
}

static void the_verdict_and_its_numbers(void **state)
{
	static struct verdict verdict = { .level = VERDICT_VOID, .reasons = 2, .unjudgeds = 1,
		.reason = { { VERDICT_DOUBTFUL, "stamps are missing", "because", "3 of 9", " of requests", 171, 172,
			      "stamps-missing", "packets", "" },
			    { VERDICT_VOID, "b", "c", "d", "", 173, 174, "b-c", "", "" } },
		.unjudged = { { .name = "e" } } };

	(void)state;
	report.tracing = "/t";
	show(written_json(json_verdict));
	report.verdict = &verdict;
	show(written_json(json_verdict));
}

/* Without a period, with suspects, and of a log. */
static void the_rhythm(void **state)
{
	(void)state;
	show(written_json(json_rhythm));
	result.rhythm = (struct rhythm){ .period_ns = 181, .p = 1.85e-12, .in_phase = 182, .of = 183, .from_ns = 184,
					 .during_ns = 186, .has_suspects = true, .suspects = 2,
					 .suspect = { { { "a", 187 }, 3 }, { { "b", 188 }, 0 } } };
	show(written_json(json_rhythm));
	result.rhythm.has_suspects = false;
	show(written_json(json_rhythm));
}

/* ---- The run and its configuration ------------------------------------------------------------------------------- */

static void run_over(struct json *j, const struct report *r)
{
	json_run(j, r, true);
}

static void a_run(void **state)
{
	static const char *const words[] = { [END_DURATION] = "\"duration\"", [END_COUNT] = "\"count\"",
					     [END_SIGNAL] = "\"signal\"",
					     [END_BREACH] = "\"breach\"", [END_ONCE] = "\"once\"",
					     [END_GIVEN_UP] = "\"given_up\"" };

	(void)state;
	options.role = ROLE_EMIT;
	options.port = 862;
	show(written_json(run_over));
	result.started = true;
	result.began_ns = clock_read_ns(CLOCK_MONOTONIC) - 5 * NS_PER_S;
	result.ended_ns = result.began_ns + 181;
	for (enum end end = END_DURATION; end <= END_GIVEN_UP; end++) {
		if (end == END_GONE)
			continue;
		result.end = end;
		assert_value(written_json(run_over), "end", words[end]);
	}
	assert_value(line, "duration_ns", "181");
	const int64_t off_ns = strtoll(strstr(line, "began_unix_ns\":") + 15, NULL,
				       10) - (clock_read_ns(CLOCK_REALTIME) - 5 * NS_PER_S);
	assert_in_range(off_ns + NS_PER_S, 0, 2 * NS_PER_S);
}

static void the_host_and_what_it_granted(void **state)
{
	static struct verdict_facts facts = { .thread = { [1] = { .known = true, .cpu = 193 } }, .lock_error = -1 };
	struct nic_details *const details = &result.nic.details;

	(void)state;
	options.role = ROLE_EMIT;
	options.stamp = SOURCE_HARDWARE;
	options.busy_poll_us = 196;
	result.granted.receive_buffer_bytes = 197;
	result.granted.stamps = SOURCE_HARDWARE;
	result.granted.transmit_stamps = true;
	result.probe_bytes = optional_of(198);
	result.window.most = 199;
	take_affinity(&result.affinity, &(struct affinity){ .cpus = 191, .policy = 1, .priority = 192 });
	report.facts = &facts;
	result.nic = (struct result_nic){ .name = "eth7", .driver = "igb", .bus = "b", .mtu = { true, 194 },
					.phc_index = { true, 195 } };
	take_nic_setting(&result.nic.setting[0], (const int[]){ 0, 1, 0 }, 0, &options);
	take_nic_setting(&result.nic.setting[1], (const int[]){ 0, 0, 1 }, 0, &options);
	result.nic.provider = (struct nic_provider){ .known = true, .phc_index = 196, .source = NIC_SOURCE_PHY,
						     .has_phy_index = true, .phy_index = 197 };
	result.nic.provider_after = (struct nic_provider){ .known = true, .qualifier = 1, .source = NIC_SOURCE_MAC };
	strcpy(result.nic.provider_text, "PHY 197");
	strcpy(result.nic.provider_after_text, "MAC");
	result.nic.provider_changes = 205;
	result.system = (struct system){ .hostname = "h", .kernel = "k", .version = "v", .machine = "m", .cpu_model = "c",
				   .is_virtual = { true, 1 },
				   .is_real_time = { true, 0 }, .cpus_online = { true, 201 }, .governor = "g", .clocksource = "tsc",
				   .isolated_known = true,
				   .isolated = "2-3", .command_bytes = 5, .command = "a\0b c" };
	*details = (struct nic_details){ .driver_version = "dv", .firmware = "f",
					.link = { .speed_mbps = { true, 202 }, .duplex = NIC_DUPLEX_HALF },
		.coalescing_known = true, .adaptive_receive = true, .receive_us = 203, .transmit_us = 204 };
	show(written_json(json_host));
	json_configuration(begin(), &report);
	finish();
	assert_value(line, "command_line", "[\"a\",\"b c\"]");
	show(strstr(line, "\"granted\""));
	result.system.is_virtual = result.system.is_real_time = result.system.cpus_online =
		(struct optional){ .known = false };
	result.system.isolated_known = false;
	details->link.speed_mbps.known = false;
	details->coalescing_known = false;
	facts.thread[1].known = false;
	result.nic.setting[0].known = result.nic.provider.known = false;
	result.nic.provider_after.qualifier = 2; /* of a later kernel */
	options.stamp = SOURCE_KERNEL;
	show(written_json(json_host));
}

static void options_that_are_lists(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.allow.prefixes = 2;
	options.allow.prefix[0] = (struct allow_prefix){ .address = { 0, htobe64(0xffffc0000200) },
							 .mask = { ~0ULL, htobe64(~0xffULL) } };
	options.allow.prefix[1] = (struct allow_prefix){ .address = { htobe64(0x20010db800000000), 0 },
							 .mask = { htobe64(~0ULL << 32), 0 },
							 .ipv6 = true };
	options.on_breach = (struct breach_hooks){ .stop = true, .keep_going = true, .commands = 2,
						     .command = { "a", "b" } };
	options.log_rotate = (struct log_rotation){ 1048576, 211 };
	result.system = (struct system){ .command_bytes = 0 };
	json_configuration(begin(), &report);
	finish();
	assert_value(line, "command_line", "null");
	assert_value(line, "allow", "[\"192.0.2.0/24\",\"2001:db8::/32\"]");
	assert_value(line, "on_breach", "[\"stop\",\"continue\",\"exec:a\",\"exec:b\"]");
	assert_value(line, "log_rotate", "{\"size_bytes\":1048576,\"files\":211}");
	assert_value(line, "ttl", "255");
	assert_value(line, "log", "null");
	assert_null(strstr(line, "\"probe_bytes\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(accounts_of_an_emitter),
		TEST(accounts_of_a_reflector),
		TEST(numbers_of_a_histogram),
		TEST(stages_and_ways),
		TEST(the_wire_time),
		TEST(ipdv_metrics),
		TEST(schedule_and_ports),
		TEST(breaches_of_an_emitter),
		TEST(what_a_breach_does_not_print),
		TEST(lines_of_breaches),
		TEST(clocks_of_both_hosts),
		TEST(what_the_machine_did),
		TEST(the_verdict_and_its_numbers),
		TEST(the_rhythm),
		TEST(a_run),
		TEST(the_host_and_what_it_granted),
		TEST(options_that_are_lists),
	};

	return golden_run(tests);
}
