/* build: sources=@report,report/export/json.c,report/export/json_clocks.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks: offsets, rates, steps, and whether stages may be compared. */
#include "report/text/clocks.c"

#include "report/export/json_parts.h"

#include "fake_report.h"
#include "result/rules.h"

static struct clock_watch clocks;
static struct clock_peer peer;

/* One reading of a NIC's clock; nothing is said of rates yet. */
static void watched(enum source stamp)
{
	memset(&clocks, 0, sizeof(clocks));
	memset(&peer, 0, sizeof(peer));
	options.stamp = stamp;
	watched_clocks = &clocks;
	clocks.phc_fd = stamp == SOURCE_HARDWARE ? 7 : -1;
	strcpy(clocks.name, "sim0");
	clocks.method = CLOCK_EXTENDED;
	clocks.readings = 1;
	clocks.history[0] = (struct clock_reading){ .has_phc = true,
						    .phc_real = { .offset_ns = 1500, .bound_ns = 70 } };
	clocks.track[CLOCK_OF_NIC].readings = 1;
	clocks.track[CLOCK_OF_NIC].last = clocks.history[0].phc_real;
}

static void clocks_belong_to_hardware_stamps(void **state)
{
	(void)state;
	show_report();
	watched(SOURCE_HARDWARE);
	show_report();
	/* With others only for who wants to know, or where the clock of the stamps was set. */
	watched(SOURCE_KERNEL);
	show_report();
	counter_add(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	show_report();
	watched(SOURCE_KERNEL);
	options.verbose = true;
	show_report();
	watched(SOURCE_HARDWARE);
	options.no_tx_stamps = true;
	show_report();
}

static void a_clock_and_its_offset(void **state)
{
	static const struct {
		int64_t offset_ns, bound_ns;
	} rows[] = {
		{ 37 * NS_PER_S + 5, 123 },
		{ -1, 0 },
		{ -1700000000 * NS_PER_S, 9 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		watched(SOURCE_HARDWARE);
		clocks.history[0].phc_real = clocks.track[CLOCK_OF_NIC].last =
			(struct clock_relation){ .offset_ns = rows[i].offset_ns, .bound_ns = rows[i].bound_ns };
		show_report();
	}
}

/* The offset is not known, and not 0. */
static void a_clock_that_cannot_be_read(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.history[0].has_phc = false;
	clocks.failures = 3;
	clocks.failure = EBUSY;
	show_report();
	clocks.track[CLOCK_OF_NIC].readings = 0;
	clocks.readings = 0;
	show_report();
	clocks.phc_fd = -1;
	clocks.failures = 0;
	strcpy(clocks.why, "/dev/ptp3: Permission denied");
	show_report();
}

/* A limit of the readings, shared or not, and the refusals of the device. */
static void a_clock_with_a_limit(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.budget = (struct clock_budget){ .reads_per_s = 100, .fd = 9 };
	show_report();
	clocks.budget.waits = 12;
	clocks.failures = 5;
	clocks.failure = EBUSY;
	clocks.refused = 2;
	show_report();
	clocks.budget = (struct clock_budget){ .reads_per_s = 25, .fd = -1, .error = EACCES };
	show_report();
}

static void the_step_of_the_timestamps(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.stamp_check = (struct stamp_check){ .stamps = { 1000, 999 }, .divisor_ns = 8, .steps_of = STAMP_STEP_LEAST };
	show_report();
	result.stamp_check.steps_of--;
	show_report();
	result.stamp_check.steps_of++;
	result.stamp_check.divisor_ns = 1;
	show_report();
	options.verbose = true;
	show_report();
}

static void timestamps_in_a_wrong_order(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.stamp_check = (struct stamp_check){ .stamps = { 1000, 999 }, .repeated = { 1, 0 }, .backward = { 0, 2 } };
	show_report();
	result.stamp_check = (struct stamp_check){ .stamps = { 1000, 999 }, .repeated = { 0, 3 }, .backward = { 4, 0 } };
	show_report();
}

static void rate_of_nic(double ppb, double bound_ppb)
{
	clocks.track[CLOCK_OF_NIC].rate = (struct clock_rate){ .measured = true,
							       .known = ppb > bound_ppb || -ppb > bound_ppb,
							       .ppb = ppb, .bound_ppb = bound_ppb,
							       .over_ns = NS_PER_S };
}

static int keep_json(void *context, const char *from, size_t bytes)
{
	return fwrite(from, 1, bytes, context) == bytes ? 0 : -EIO;
}

/* These texts about its clocks are in the object, which is in one line. */
static void assert_in_json(const char *words)
{
	static struct json j;
	static char object[4096];
	FILE *out = fmemopen(object, sizeof(object), "w");

	json_begin(&j, keep_json, out, true);
	json_object(&j, NULL);
	json_clocks(&j, &report);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	fclose(out);
	if (!strstr(object, words))
		fail_msg("no '%s' in %s", words, object);
}

static void a_rate_is_known_only_above_its_bound(void **state)
{
	static const struct {
		double ppb, bound_ppb;
		int reported_ppb; /* the bound, in JSON */
	} rows[] = {
		{ 12345, 20, 20 },
		{ -50000, 3, 3 },
		{ 19, 20, 20 },
		{ 0, 0, 1 },
		{ 0.2, 0.3, 1 },
		{ 7, 2.1, 3 },
		{ 7, 0.1, 1 },
		{ 100000, 1, 1 },
		{ -100000, 1, 1 },
		{ 100001, 1, 1 },
		{ -100001, 1, 1 },
		/* It may be, or not. */
		{ 150000, 200000, 200000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char words[64];

		watched(SOURCE_HARDWARE);
		rate_of_nic(rows[i].ppb, rows[i].bound_ppb);
		show_report();
		snprintf(words, sizeof(words), "\"rate_ppb\":%.0f,\"rate_bound_ppb\":%d,", rows[i].ppb,
			 rows[i].reported_ppb);
		assert_in_json(words);
	}
	/* The same for the system's clock. */
	watched(SOURCE_HARDWARE);
	clocks.track[CLOCK_OF_SYSTEM].rate = (struct clock_rate){ .measured = true, .known = true, .ppb = -200000,
								  .bound_ppb = 4 };
	show_report();
}

static void a_clock_that_others_steer(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->frequency_changes = 42; /* of values that could not be read at first */
	show_report();
	t->frequency[0].known = true;
	show_report();
	t->frequency_changes = 0;
	show_report();
}

static void the_largest_jump_above_its_bound(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->largest = (struct clock_jump){ .size_ns = -501, .bound_ns = 500 };
	show_report();
	t->has_largest = true;
	show_report();
	t->largest.size_ns = 777;
	show_report();
	t->largest.size_ns = -500;
	show_report();
}

static struct clock_fault *add_fault(bool stands, int64_t from_ms, int64_t to_ms)
{
	struct clock_fault *s = &clocks.fault[clocks.faults_kept++];
	const int64_t start_ns = result.began_ns;

	counter_add(stands ? &clocks.track[CLOCK_OF_NIC].standstills : &clocks.track[CLOCK_OF_NIC].wrong_rates, 1);
	*s = (struct clock_fault){
		.stands = stands, .over = true, .lost_bound_ns = INT64_MAX,
		.rate = { .measured = true, .known = true, .ppb = -2e8, .bound_ppb = 12345 },
		.began_ns = { start_ns + (from_ms - 100) * NS_PER_MS, start_ns + from_ms * NS_PER_MS },
		.ended_ns = { start_ns + to_ms * NS_PER_MS, start_ns + (to_ms + 100) * NS_PER_MS } };
	return s;
}

/* Duration and time of the fault, as far as the readings show. */
static void a_clock_that_stood_still(void **state)
{
	struct clock_fault *s;

	(void)state;
	watched(SOURCE_HARDWARE);
	result.began_ns = 12345 * NS_PER_S;
	add_fault(true, 3100, 5100);
	show_report();
	/* The time by which it fell behind shows more. */
	s = add_fault(true, 7000, 9000);
	s->lost_ns = 2123 * NS_PER_MS;
	s->lost_bound_ns = 3000;
	show_report();
	/* Until the end, and since before the start. */
	clocks.faults_kept = 0;
	s = add_fault(true, 50, 9000);
	s->over = false;
	show_report();
}

static void a_clock_at_a_wrong_rate(void **state)
{
	static const struct {
		double ppb, bound_ppb;
	} rows[] = {
		{ -2e8, 12345 },
		{ 5e8, 3.2e7 },
		{ 1e9, 1e5 },
		{ 5e6, 2345 },
		{ -9.99e6, 10 },
		{ -2.1e6, 99 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		watched(SOURCE_HARDWARE);
		result.began_ns = 12345 * NS_PER_S;
		rate_of_nic(rows[i].ppb, rows[i].bound_ppb);
		add_fault(false, 2100, 4100)->rate = clocks.track[CLOCK_OF_NIC].rate;
		show_report();
	}
	/* Its frequency setting explains 1000 ppm more, and not more. */
	watched(SOURCE_HARDWARE);
	rate_of_nic(1999000, 900);
	clocks.track[CLOCK_OF_NIC].frequency[1] = (struct clock_frequency){ .known = true, .ppb = 3000000 };
	show_report();
	rate_of_nic(2001000, 900);
	show_report();
}

static void add_step(enum clock_which which, int64_t size_ns)
{
	int n = (int)counter_get(&clocks.track[CLOCK_OF_NIC].steps) +
		(int)counter_get(&clocks.track[CLOCK_OF_SYSTEM].steps);
	const int64_t mono_ns = result.began_ns + n * NS_PER_S;

	counter_add(&clocks.track[which].steps, 1);
	if (clocks.steps_kept < CLOCK_STEPS_KEPT)
		clocks.step[clocks.steps_kept++] = (struct clock_jump){
			.which = which, .size_ns = size_ns, .bound_ns = 30,
			.mono_ns = { mono_ns + 100 * NS_PER_MS, mono_ns + 300 * NS_PER_MS },
			.mark = { (uint64_t)(1000 * n), (uint64_t)(1000 * n + 7) } };
}

static void steps_and_where_they_were(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.began_ns = 12345 * NS_PER_S;
	add_step(CLOCK_OF_NIC, 1000123);
	add_step(CLOCK_OF_SYSTEM, -2000);
	show_report();
}

/* More than are shown, and more than are kept. */
static void more_steps_than_are_shown(void **state)
{
	static const int totals[] = { 10, 11, CLOCK_STEPS_KEPT + 5 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(totals); i++) {
		watched(SOURCE_HARDWARE);
		for (int n = 0; n < totals[i]; n++)
			add_step(n % 2 ? CLOCK_OF_SYSTEM : CLOCK_OF_NIC, n);
		show_report();
	}
}

static void the_offset_of_the_reflector(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	compared_peer = &peer;
	show_report(); /* nothing was added */
	peer.exchanges = 5;
	peer.belief.has_window = true;
	peer.belief.window = (struct clock_relation){ .offset_ns = -1234567890, .bound_ns = 4000 };
	show_report();
	peer.belief.has_first = true;
	peer.belief.first = (struct clock_relation){ .at_ns = 0, .offset_ns = 1000, .bound_ns = 10 };
	peer.belief.window = (struct clock_relation){ .at_ns = 10 * NS_PER_S, .offset_ns = 3000, .bound_ns = 10 };
	show_report();
}

static void add_event(enum clock_peer_kind kind, int64_t mono_ns, struct clock_peer_event e)
{
	e.kind = kind;
	e.seq[0] = 7;
	e.seq[1] = 9;
	e.mono_ns[0] = result.began_ns + mono_ns;
	e.mono_ns[1] = result.began_ns + mono_ns + NS_PER_S / 2;
	peer.event[peer.events++] = e;
}

#define NOT_KNOWN "\"reflector\":{\"minus_this_clock\":null,\"rate_ppb\":null,\"rate_bound_ppb\":null,\"rate_known\":false,\"doubted_replies\":0,"
#define JSON_AT(conflicts) "\"after_start_ns\":[2000000000,2500000000],\"after_seq\":[7,9],\"conflicts\":" #conflicts \
	"}],\"events_left_out\":0}"

static void what_the_reflectors_clock_did(void **state)
{
	static const struct {
		enum clock_peer_kind kind;
		struct clock_peer_event e;
		const char *json;
	} rows[] = {
		{ PEER_JUMPED, { .conflicts = 1, .has_before = true, .before = { .offset_ns = 5000, .bound_ns = 70 },
				 .after = { .offset_ns = -95000, .bound_ns = 30 } },
		  "\"size_ns\":-100000,\"bound_ns\":100,\"stood_ns\":null,\"rate_ppb\":null," JSON_AT(1) },
		{ PEER_JUMPED, { .conflicts = 3, .has_before = true, .after = { .offset_ns = 15000, .bound_ns = 30 } },
		  "\"size_ns\":15000,\"bound_ns\":30," },
		{ PEER_JUMPED, { .conflicts = 1 },
		  "\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null," JSON_AT(1) },
		{ PEER_STOOD, { .stood_ns = 2 * NS_PER_S - 1 },
		  "\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":1999999999,\"rate_ppb\":null," },
		{ PEER_WRONG_RATE, { .has_before = true, .last = { .at_ns = NS_PER_S, .offset_ns = -NS_PER_S / 5 } },
		  "\"stood_ns\":null,\"rate_ppb\":-200000000," JSON_AT(0) },
		{ PEER_WRONG_RATE, { .has_before = true, .last = { .at_ns = NS_PER_S, .offset_ns = 1500 * NS_PER_US } },
		  "\"rate_ppb\":1500000," },
	};
	(void)state;
	watched(SOURCE_HARDWARE);
	result.began_ns = 77 * NS_PER_S;
	compared_peer = &peer;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		peer = (struct clock_peer){ 0 };
		add_event(rows[i].kind, 2 * NS_PER_S, rows[i].e);
		show_report();
		assert_in_json(NOT_KNOWN);
		assert_in_json(rows[i].json);
	}
}

/* A fault of this host's clock at the time is not the other host's. */
static void what_this_hosts_clock_did(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.began_ns = 77 * NS_PER_S;
	compared_peer = &peer;
	peer = (struct clock_peer){ 0 };
	add_event(PEER_JUMPED, 2 * NS_PER_S, (struct clock_peer_event){ .conflicts = 1 });
	clocks.steps_kept = 1;
	clocks.step[0] = (struct clock_jump){ .which = CLOCK_OF_NIC, .mono_ns = { 79 * NS_PER_S, 79 * NS_PER_S + 1 } };
	show_report();
}

static void more_events_than_are_kept(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	compared_peer = &peer;
	peer = (struct clock_peer){ .events = PEER_EVENTS_KEPT + 3 };
	show_report();
	assert_in_json("\"events_left_out\":3}");
}

static void what_the_reflector_says(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	counter_add(&result.account.doubted, 12);
	result.doubted_seq = 345;
	show_report();
	result.account.doubted = 0;
	show_report();
}

static void what_broke_a_rule_is_listed(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.remote = SOURCE_HARDWARE;
	result.rules_broken = 3;
	result.broken[0] = (struct broken_rule){ .seq = 5, .rule = 0, .by_ns = 1234 };
	result.broken[1] = (struct broken_rule){ .seq = 6, .rule = RULE_RESPONSE, .by_ns = -1000000 };
	result.broken[2] = (struct broken_rule){ .seq = 7, .rule = RULE_RELATION };
	show_report();
	options.verbose = true;
	show_report();
	result.rules_broken = BROKEN_KEPT + 4;
	show_report();
}

static void stages_on_the_scale_of_the_nic(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	watched(SOURCE_HARDWARE);
	result.bound_ns[BOUND_LOCAL] = optional_of(345);
	/* Where nothing was placed, nothing is promised. */
	show_report();
	result.converted = true;
	result.bound_ns[BOUND_LOCAL] = optional_of(0);
	show_report();
	result.bound_ns[BOUND_LOCAL] = optional_of(345);
	show_report();
	counter_add(&result.account.unconverted, 17);
	show_report();
	counter_add(&result.account.disordered, 4);
	show_report();
	result.account.unconverted = 0;
	show_report();
	/* Without -s the report has no line about stages. */
	memset(result.stage, 0, sizeof(result.stage));
	result.account.disordered = 0;
	result.account.unconverted = 17;
	show_report();
}

/* A fault found later counts from the start of the run on, and moves no stage by more than both of them are. */
static void stages_that_a_step_moved(void **state)
{
	static const struct {
		int64_t found_ns, by_ns;
	} rows[] = {
		{ 12346, 300 }, { 12346, 346 }, { 12346, 8501 }, { 12346, 16245 },
		{ 12346, 16246 }, { 12346, NS_PER_S }, { 12345, 8501 }, { 12344, 8501 },
	};

	(void)state;
	for (int role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		tear_down(state);
		set_up(state);
		part = "^Clocks";
		usual_run(role, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
		watched(SOURCE_HARDWARE);
		result.converted = true;
		result.bound_ns[BOUND_LOCAL] = optional_of(345);
		result.began_ns = 12345;
		clocks.step_errors_kept = 1;
		for (size_t i = 0; i < COUNT_OF(rows); i++) {
			clocks.step_error[0] = (struct clock_step_error){ rows[i].found_ns, rows[i].by_ns };
			show_report();
		}
	}
}

/* The other host's stages with times of two clocks. */
static void remote_stages_on_the_scale_of_the_reflectors_stamps(void **state)
{
	(void)state;
	part = "^Clocks";
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	watched(SOURCE_HARDWARE);
	result.bound_ns[BOUND_REMOTE] = optional_of(678);
	show_report();
	result.bound_ns[BOUND_REMOTE] = optional_of(0);
	show_report();
	/* Stamps of the kernel are times of the same clock. */
	result.remote = SOURCE_KERNEL;
	show_report();
	/* They were not reported. */
	result.remote = SOURCE_HARDWARE;
	forget_samples(&stage[STAGE_REMOTE_APP], 0, 0);
	show_report();
	/* An emitter without a NIC's clock reports the other host's bound, too. */
	tear_down(state);
	set_up(state);
	part = "^Clocks";
	joined_run(SOURCE_KERNEL, SOURCE_HARDWARE, true);
	watched(SOURCE_KERNEL);
	show_report();
	result.bound_ns[BOUND_REMOTE] = optional_of(678);
	show_report();
}

static void the_provider_of_the_timestamps(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	result.nic.provider.known = true;
	strcpy(result.nic.provider_text, "MAC, /dev/ptp3, precise");
	strcpy(result.nic.provider_after_text, "PHY 1, /dev/ptp4, precise");
	show_report();
	result.nic.provider_changes = 1;
	show_report();
}

/* Timestamps of packets in place of readings; a run that was too short for them. */
static void a_clock_that_packets_show(void **state)
{
	static struct clock_packets packets;

	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.phc_fd = -1;
	clocks.packets = &packets;
	strcpy(clocks.why, "/dev/ptp3 cannot be read: Operation not supported");
	clocks.readings = 9; /* of which one has a relation */
	clocks.history[8].has_phc = false;
	show_report();
	clocks.track[CLOCK_OF_NIC].readings = 0;
	show_report();
	clocks.packets = NULL;
}

/* And then the times of user space stand in the log as the system's clock gave them. */
static void no_stages_and_why(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.phc_fd = -1;
	strcpy(clocks.why, "/dev/ptp3: Permission denied: run as root");
	strcpy(result.no_stages, clocks.why);
	show_report();
	options.role = ROLE_REFLECT;
	watched(SOURCE_HARDWARE);
	strcpy(result.no_stages, "no CPU");
	show_report();
	/* The same of the kernel's receive time. */
	options.sw_timestamps = true;
	options.stages.detail = STAGES_KERNEL;
	show_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_report_of_an_empty_run),
		TEST(clocks_belong_to_hardware_stamps),
		TEST(a_clock_and_its_offset),
		TEST(a_clock_that_cannot_be_read), TEST(a_clock_with_a_limit),
		TEST(the_step_of_the_timestamps),
		TEST(timestamps_in_a_wrong_order),
		TEST(a_rate_is_known_only_above_its_bound),
		TEST(a_clock_that_others_steer),
		TEST(the_largest_jump_above_its_bound),
		TEST(a_clock_that_stood_still),
		TEST(a_clock_at_a_wrong_rate),
		TEST(steps_and_where_they_were),
		TEST(more_steps_than_are_shown),
		TEST(the_offset_of_the_reflector),
		TEST(what_the_reflectors_clock_did),
		TEST(what_this_hosts_clock_did),
		TEST(more_events_than_are_kept),
		TEST(what_the_reflector_says),
		TEST(what_broke_a_rule_is_listed),
		TEST(stages_on_the_scale_of_the_nic),
		TEST(stages_that_a_step_moved),
		TEST(remote_stages_on_the_scale_of_the_reflectors_stamps),
		TEST(the_provider_of_the_timestamps),
		TEST(a_clock_that_packets_show),
		TEST(no_stages_and_why),
	};

	return golden_run(tests);
}
