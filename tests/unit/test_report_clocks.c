/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/account.c,report/breach.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/json.c,report/json_clocks.c,report/label.c,report/machine.c,host/place.c,report/part.c,report/report.c,report/statistics.c,report/variation.c,report/source_ports.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The clocks: offsets, rates, steps, and whether stages may be compared. */
#include "report/clocks.c"

#include "report/json_parts.h"

#include "fake_report.h"
#include "measure/rules.h"

#define CLOCKS_TITLE "\nClocks:\n"
#define REALTIME_UNKNOWN "  system clock  : rate unknown: too few readings\n"
#define NIC_UNKNOWN "  NIC clock     : rate unknown: too few readings\n"
#define NIC_UTC "  NIC clock     : sim0, UTC, minus CLOCK_REALTIME 0.000001500 s (+-70 ns), by PTP_SYS_OFFSET_EXTENDED\n"

static struct clock_watch clocks;
static struct clock_peer peer;

/* One reading of a NIC's clock; nothing is said of rates yet. */
static void watched(enum source stamp)
{
	memset(&clocks, 0, sizeof(clocks));
	memset(&peer, 0, sizeof(peer));
	options.stamp = stamp;
	report.clocks = &clocks;
	clocks.phc_fd = stamp == SOURCE_HARDWARE ? 7 : -1;
	strcpy(clocks.name, "sim0");
	clocks.method = CLOCK_EXTENDED;
	clocks.readings = 1;
	clocks.history[0] = (struct clock_reading){ .has_phc = true, .phc_real = { .offset_ns = 1500, .bound_ns = 70 } };
	clocks.track[CLOCK_OF_NIC].readings = 1;
	clocks.track[CLOCK_OF_NIC].last = clocks.history[0].phc_real;
}

static void clocks_belong_to_hardware_stamps(void **state)
{
	(void)state;
	assert_no(written(0), "Clocks");
	watched(SOURCE_HARDWARE);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* With others only for who wants to know, or where the clock of the stamps was set. */
	watched(SOURCE_KERNEL);
	assert_no(written(0), "Clocks");
	counter_add(&clocks.track[CLOCK_OF_SYSTEM].steps, 1);
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN "  1 more steps\n");
	watched(SOURCE_KERNEL);
	options.verbose = true;
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN);
	watched(SOURCE_HARDWARE);
	options.no_tx_stamps = true;
	assert_section(CLOCKS_TITLE, REALTIME_UNKNOWN);
}

static void a_clock_and_its_offset(void **state)
{
	static const struct {
		int64_t offset_ns, bound_ns;
		const char *words;
	} rows[] = {
		{ 37 * NS_PER_S + 5, 123, "sim0, TAI, minus CLOCK_REALTIME 37.000000005 s (+-123 ns), by " },
		{ -1, 0, "sim0, UTC, minus CLOCK_REALTIME -0.000000001 s (+-0 ns), by " },
		{ -1700000000 * NS_PER_S, 9, "sim0, neither UTC nor TAI, minus CLOCK_REALTIME -1700000000.000000000 s (+-9 ns), by " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[512];

		watched(SOURCE_HARDWARE);
		clocks.history[0].phc_real = clocks.track[CLOCK_OF_NIC].last =
			(struct clock_relation){ .offset_ns = rows[i].offset_ns, .bound_ns = rows[i].bound_ns };
		snprintf(lines, sizeof(lines), "  NIC clock     : %sPTP_SYS_OFFSET_EXTENDED\n" NIC_UNKNOWN REALTIME_UNKNOWN,
			 rows[i].words);
		assert_section(CLOCKS_TITLE, lines);
	}
}

/* There is no offset that could be told, and 0 is none. */
static void a_clock_that_cannot_be_read(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.history[0].has_phc = false;
	clocks.failures = 3;
	clocks.failure = EBUSY;
	assert_section(CLOCKS_TITLE, "  NIC clock     : sim0, UTC, by PTP_SYS_OFFSET_EXTENDED\n"
		       "  3 readings of it failed, the last: Device or resource busy\n" NIC_UNKNOWN REALTIME_UNKNOWN);
	clocks.track[CLOCK_OF_NIC].readings = 0;
	clocks.readings = 0;
	assert_section(CLOCKS_TITLE, "  NIC clock     : sim0, unknown scale, by PTP_SYS_OFFSET_EXTENDED\n"
		       "  3 readings of it failed, the last: Device or resource busy\n" NIC_UNKNOWN REALTIME_UNKNOWN);
	clocks.phc_fd = -1;
	clocks.failures = 0;
	strcpy(clocks.why, "/dev/ptp3: Permission denied");
	assert_section(CLOCKS_TITLE, "  NIC clock     : not comparable: /dev/ptp3: Permission denied\n" REALTIME_UNKNOWN);
}

static void rate_of_nic(double ppb, double bound_ppb)
{
	clocks.track[CLOCK_OF_NIC].rate = (struct clock_rate){ .measured = true, .known = ppb > bound_ppb || -ppb > bound_ppb,
							       .ppb = ppb, .bound_ppb = bound_ppb, .over_ns = NS_PER_S };
}

static int keep_json(void *context, const char *from, size_t bytes)
{
	return fwrite(from, 1, bytes, context) == bytes ? 0 : -EIO;
}

/* Of its clocks these words are in the object, which is in one line. */
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
#define OFF "  Warning: the NIC clock is off by more than 100 ppm\n"
	static const struct {
		double ppb, bound_ppb;
		const char *lines;
		int told_ppb; /* the bound, in JSON */
	} rows[] = {
		{ 12345, 20, "  NIC clock     : rate +12345 ppb (+-20)\n", 20 },
		{ -50000, 3, "  NIC clock     : rate -50000 ppb (+-3)\n", 3 },
		{ 19, 20, "  NIC clock     : rate within +-20 ppb\n", 20 },
		{ 0, 0, "  NIC clock     : rate within +-1 ppb\n", 1 },
		{ 0.2, 0.3, "  NIC clock     : rate within +-1 ppb\n", 1 },
		{ 7, 2.1, "  NIC clock     : rate +7 ppb (+-3)\n", 3 },
		{ 7, 0.1, "  NIC clock     : rate +7 ppb (+-1)\n", 1 },
		{ 100000, 1, "  NIC clock     : rate +100000 ppb (+-1)\n", 1 },
		{ -100000, 1, "  NIC clock     : rate -100000 ppb (+-1)\n", 1 },
		{ 100001, 1, "  NIC clock     : rate +100001 ppb (+-1)\n" OFF, 1 },
		{ -100001, 1, "  NIC clock     : rate -100001 ppb (+-1)\n" OFF, 1 },
		/* It may be, or not. */
		{ 150000, 200000, "  NIC clock     : rate within +-200000 ppb\n", 200000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[512];

		watched(SOURCE_HARDWARE);
		rate_of_nic(rows[i].ppb, rows[i].bound_ppb);
		snprintf(lines, sizeof(lines), NIC_UTC "%s" REALTIME_UNKNOWN, rows[i].lines);
		assert_section(CLOCKS_TITLE, lines);
		snprintf(lines, sizeof(lines), "\"rate_ppb\":%.0f,\"rate_bound_ppb\":%d,", rows[i].ppb, rows[i].told_ppb);
		assert_in_json(lines);
	}
	/* Of the system's clock too. */
	watched(SOURCE_HARDWARE);
	clocks.track[CLOCK_OF_SYSTEM].rate = (struct clock_rate){ .measured = true, .known = true, .ppb = -200000, .bound_ppb = 4 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN "  system clock  : rate -200000 ppb (+-4)\n"
		       "  Warning: the system clock is off by more than 100 ppm\n");
}

static void a_clock_that_others_steer(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->dial_changes = 42; /* of what could not be read at first */
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	t->dial[0].known = true;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, steered by another program "
		       "(42 changes of its rate)\n" REALTIME_UNKNOWN);
	t->dial_changes = 0;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

static void the_largest_jump_above_its_bound(void **state)
{
	struct clock_track *t = &clocks.track[CLOCK_OF_NIC];

	(void)state;
	watched(SOURCE_HARDWARE);
	t->largest = (struct clock_jump){ .size_ns = -501, .bound_ns = 500 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	t->has_largest = true;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, largest jump -501 ns (+-500)\n"
		       REALTIME_UNKNOWN);
	t->largest.size_ns = 777;
	assert_section(CLOCKS_TITLE, NIC_UTC "  NIC clock     : rate unknown: too few readings, largest jump +777 ns (+-500)\n"
		       REALTIME_UNKNOWN);
	t->largest.size_ns = -500;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

static struct clock_spell *add_spell(bool stands, int64_t from_ms, int64_t to_ms)
{
	struct clock_spell *s = &clocks.spell[clocks.spells_kept++];
	const int64_t start_ns = exchange.began_ns;

	counter_add(stands ? &clocks.track[CLOCK_OF_NIC].standstills : &clocks.track[CLOCK_OF_NIC].wrong_rates, 1);
	*s = (struct clock_spell){
		.stands = stands, .over = true, .lost_bound_ns = INT64_MAX,
		.rate = { .measured = true, .known = true, .ppb = -2e8, .bound_ppb = 12345 },
		.began_ns = { start_ns + (from_ms - 100) * NS_PER_MS, start_ns + from_ms * NS_PER_MS },
		.ended_ns = { start_ns + to_ms * NS_PER_MS, start_ns + (to_ms + 100) * NS_PER_MS } };
	return s;
}

/* For how long and when, as far as the readings tell. */
static void a_clock_that_stood_still(void **state)
{
#define NOTHING ": latencies of that time are nothing\n"
	struct clock_spell *s;

	(void)state;
	watched(SOURCE_HARDWARE);
	exchange.began_ns = 12345 * NS_PER_S;
	add_spell(true, 3100, 5100);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN
		       "  Warning: the NIC clock stood still for 2.000 to 2.200 s, from 3.0 to 3.1 s after the start" NOTHING
		       REALTIME_UNKNOWN);
	/* What it fell behind tells more. */
	s = add_spell(true, 7000, 9000);
	s->lost_ns = 2123 * NS_PER_MS;
	s->lost_bound_ns = 3000;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN
		       "  Warning: the NIC clock stood still for 2.000 to 2.200 s, from 3.0 to 3.1 s after the start" NOTHING
		       "  Warning: the NIC clock stood still for 2.123 s, from 6.9 to 7.0 s after the start" NOTHING
		       REALTIME_UNKNOWN);
	/* Until the end, and since before the start. */
	clocks.spells_kept = 0;
	s = add_spell(true, 50, 9000);
	s->over = false;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN
		       "  Warning: the NIC clock stood still for at least 8.950 s, from the start" NOTHING
		       "  It did so 2 times more\n" REALTIME_UNKNOWN);
}

static void a_clock_at_a_wrong_rate(void **state)
{
#define OFF_BY ": latencies of that time are off by as much\n"
	static const struct {
		double ppb, bound_ppb;
		const char *words;
	} rows[] = {
		{ -2e8, 12345, "20.0 % slow (+-0.1)" },
		{ 5e8, 3.2e7, "50.0 % fast (+-3.3)" },
		{ 1e9, 1e5, "100.0 % fast (+-0.1)" },
		{ 5e6, 2345, "5000 ppm fast (+-3)" },
		{ -9.99e6, 10, "9990 ppm slow (+-1)" },
		{ -2.1e6, 99, "2100 ppm slow (+-1)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[1024];

		watched(SOURCE_HARDWARE);
		exchange.began_ns = 12345 * NS_PER_S;
		rate_of_nic(rows[i].ppb, rows[i].bound_ppb);
		add_spell(false, 2100, 4100)->rate = clocks.track[CLOCK_OF_NIC].rate;
		snprintf(lines, sizeof(lines), NIC_UTC "  NIC clock     : runs %s\n"
			 "  Warning: the NIC clock is off by more than 100 ppm\n"
			 "  Warning: the NIC clock ran %s for 2.0 to 2.2 s, from 2.0 to 2.1 s after the start" OFF_BY
			 REALTIME_UNKNOWN, rows[i].words, rows[i].words);
		assert_section(CLOCKS_TITLE, lines);
	}
	/* By its dial it may be off by 1000 ppm more, and by no more. */
	watched(SOURCE_HARDWARE);
	rate_of_nic(1999000, 900);
	clocks.track[CLOCK_OF_NIC].dial[1] = (struct clock_dial){ .known = true, .ppb = 3000000 };
	assert_non_null(strstr(written(0), "rate +1999000 ppb (+-900)"));
	rate_of_nic(2001000, 900);
	assert_non_null(strstr(written(0), "runs 2001 ppm fast (+-1)"));
}

static void add_step(enum clock_which which, int64_t size_ns)
{
	int n = (int)counter_get(&clocks.track[CLOCK_OF_NIC].steps) + (int)counter_get(&clocks.track[CLOCK_OF_SYSTEM].steps);
	const int64_t mono_ns = exchange.began_ns + n * NS_PER_S;

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
	exchange.began_ns = 12345 * NS_PER_S;
	add_step(CLOCK_OF_NIC, 1000123);
	add_step(CLOCK_OF_SYSTEM, -2000);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Step of the NIC clock by +1000123 ns (+-30), 0.1 to 0.3 s after the start, after packet 0 to 7\n"
		       "  Step of the system clock by -2000 ns (+-30), 1.1 to 1.3 s after the start, after packet 1000 to 1007\n");
}

/* More than are shown, and more than are kept. */
static void more_steps_than_are_shown(void **state)
{
	static const int totals[] = { 10, 11, CLOCK_STEPS_KEPT + 5 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(totals); i++) {
		char more[64];

		watched(SOURCE_HARDWARE);
		for (int n = 0; n < totals[i]; n++)
			add_step(n % 2 ? CLOCK_OF_SYSTEM : CLOCK_OF_NIC, n);
		written(0);
		assert_int_equal(times_in(text, "  Step of the "), 10);
		assert_non_null(strstr(text, "system clock by +9 ns"));
		snprintf(more, sizeof(more), "  %d more steps", totals[i] - 10);
		if (totals[i] > 10)
			assert_line(text, more);
		else
			assert_no(text, "more steps");
	}
}

static void the_offset_of_the_reflector(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	report.peer = &peer;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN); /* nothing was added */
	peer.exchanges = 5;
	peer.belief.has_window = true;
	peer.belief.window = (struct clock_relation){ .offset_ns = -1234567890, .bound_ns = 4000 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Reflector     : its receive stamps minus this clock -1.234567890 s (+-4000 ns), "
		       "rate unknown: too few readings\n");
	peer.belief.has_first = true;
	peer.belief.first = (struct clock_relation){ .at_ns = 0, .offset_ns = 1000, .bound_ns = 10 };
	peer.belief.window = (struct clock_relation){ .at_ns = 10 * NS_PER_S, .offset_ns = 3000, .bound_ns = 10 };
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Reflector     : its receive stamps minus this clock 0.000003000 s (+-10 ns), rate +200 ppb (+-3)\n");
}

static void add_event(enum clock_peer_kind kind, int64_t mono_ns, struct clock_peer_event e)
{
	e.kind = kind;
	e.seq[0] = 7;
	e.seq[1] = 9;
	e.mono_ns[0] = exchange.began_ns + mono_ns;
	e.mono_ns[1] = exchange.began_ns + mono_ns + NS_PER_S / 2;
	peer.event[peer.events++] = e;
}

#define AT ", 2.0 to 2.5 s after the start, after packet 7 to 9\n"
#define NOTHING_ELSE NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN

#define NOT_KNOWN "\"reflector\":{\"minus_this_clock\":null,\"rate_ppb\":null,\"rate_bound_ppb\":null,\"doubted_replies\":0,"
#define JSON_AT "\"after_start_ns\":[2000000000,2500000000],\"after_seq\":[7,9]}],\"events_left_out\":0}"

static void what_the_reflectors_clock_did(void **state)
{
	static const struct {
		enum clock_peer_kind kind;
		struct clock_peer_event e;
		const char *line, *json;
	} rows[] = {
		{ PEER_JUMPED, { .conflicts = 1, .has_before = true, .before = { .offset_ns = 5000, .bound_ns = 70 },
				 .after = { .offset_ns = -95000, .bound_ns = 30 } },
		  "  The reflector's clock jumped by -100000 ns (+-100)" AT, "\"size_ns\":-100000,\"bound_ns\":100,\"stood_ns\":null,\"rate_ppb\":null," JSON_AT },
		{ PEER_JUMPED, { .conflicts = 3, .has_before = true, .after = { .offset_ns = 15000, .bound_ns = 30 } },
		  "  The reflector's clock jumped by +15000 ns (+-30), not at once" AT, "\"size_ns\":15000,\"bound_ns\":30," },
		{ PEER_JUMPED, { .conflicts = 1 }, "  The reflector's clock jumped" AT, "\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":null,\"rate_ppb\":null," JSON_AT },
		{ PEER_STOOD, { .stood_ns = 2 * NS_PER_S - 1 }, "  The reflector's clock stood still for 2.000 s or more" AT,
		  "\"size_ns\":null,\"bound_ns\":null,\"stood_ns\":1999999999,\"rate_ppb\":null," },
		{ PEER_WRONG_RATE, { .has_before = true, .last = { .at_ns = NS_PER_S, .offset_ns = -NS_PER_S / 5 } },
		  "  The reflector's clock ran 20 % slow" AT, "\"stood_ns\":null,\"rate_ppb\":-200000000," JSON_AT },
		{ PEER_WRONG_RATE, { .has_before = true, .last = { .at_ns = NS_PER_S, .offset_ns = 1500 * NS_PER_US } },
		  "  The reflector's clock ran 0.15 % fast" AT, "\"rate_ppb\":1500000," },
	};
	char expected[512];

	(void)state;
	watched(SOURCE_HARDWARE);
	exchange.began_ns = 77 * NS_PER_S;
	report.peer = &peer;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		peer = (struct clock_peer){ 0 };
		add_event(rows[i].kind, 2 * NS_PER_S, rows[i].e);
		snprintf(expected, sizeof(expected), "%s%s", NOTHING_ELSE, rows[i].line);
		assert_section(CLOCKS_TITLE, expected);
		assert_in_json(NOT_KNOWN);
		assert_in_json(rows[i].json);
	}
}

/* What this host's clock did at the time is not the other's doing. */
static void what_this_hosts_clock_did(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	exchange.began_ns = 77 * NS_PER_S;
	report.peer = &peer;
	peer = (struct clock_peer){ 0 };
	add_event(PEER_JUMPED, 2 * NS_PER_S, (struct clock_peer_event){ .conflicts = 1 });
	clocks.steps_kept = 1;
	clocks.step[0] = (struct clock_jump){ .which = CLOCK_OF_NIC, .mono_ns = { 79 * NS_PER_S, 79 * NS_PER_S + 1 } };
	assert_line(written(0), "  The reflector's clock against this host's jumped, 2.0 to 2.5 s after the start, after packet 7 to 9: "
		    "this host's clock moved then");
}

static void more_events_than_are_kept(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	report.peer = &peer;
	peer = (struct clock_peer){ .events = PEER_EVENTS_KEPT + 3 };
	assert_line(written(0), "  3 more of these");
	assert_int_equal(times_in(text, "  The reflector's clock jumped"), PEER_EVENTS_KEPT);
	assert_in_json("\"events_left_out\":3}");
}

static void what_the_reflector_says(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	counter_add(&exchange.account.doubted, 12);
	exchange.doubted_seq = 345;
	assert_section(CLOCKS_TITLE, NOTHING_ELSE "  The reflector says that its clock was set or stood still, or does not run right: 12 "
		       "replies, the first to packet 345\n");
	exchange.account.doubted = 0;
	assert_section(CLOCKS_TITLE, NOTHING_ELSE);
}

static void what_broke_a_rule_is_listed(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	exchange.there = SOURCE_HARDWARE;
	exchange.rules_broken = 3;
	exchange.broken[0] = (struct broken_rule){ .seq = 5, .rule = 0, .by_ns = 1234 };
	exchange.broken[1] = (struct broken_rule){ .seq = 6, .rule = RULE_RESPONSE, .by_ns = -1000000 };
	exchange.broken[2] = (struct broken_rule){ .seq = 7, .rule = RULE_RELATION };
	assert_no(written(0), "Left out");
	options.verbose = true;
	written(0);
	assert_line(text, "  Left out of #5: T1_SW is 1234 ns after T1_HW");
	assert_line(text, "  Left out of #6: a response of -1000000 ns is no part of the round trip");
	assert_line(text, "  Left out of #7: T2 and T3 do not fit to the clocks of the exchanges around it");
	exchange.rules_broken = BROKEN_KEPT + 4;
	assert_line(written(0), "  4 more of these");
}

static void stages_on_the_scale_of_the_nic(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	watched(SOURCE_HARDWARE);
	exchange.bound_ns[BOUND_HERE] = 345;
	/* Where nothing was placed, nothing is promised. */
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	exchange.clocks = &clocks;
	exchange.bound_ns[BOUND_HERE] = 0;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	exchange.bound_ns[BOUND_HERE] = 345;
#define PLACED NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN "  Stages        : user-space times are on the NIC's scale within +-345 ns\n"
	assert_section(CLOCKS_TITLE, PLACED);
	counter_add(&exchange.account.unplaced, 17);
	assert_section(CLOCKS_TITLE, PLACED "  17 samples had no place on the NIC's scale: they are in no stage\n");
	counter_add(&exchange.account.disordered, 4);
	assert_section(CLOCKS_TITLE, PLACED "  17 samples had no place on the NIC's scale: they are in no stage\n"
		       "  4 samples have times of user space on the wrong side of their stamps: they are in no stage\n");
	exchange.account.unplaced = 0;
	assert_section(CLOCKS_TITLE, PLACED "  4 samples have times of user space on the wrong side of their stamps: they are in no stage\n");
	/* Who asked for no stages is told nothing of them. */
	memset(exchange.stage, 0, sizeof(exchange.stage));
	exchange.account.disordered = 0;
	exchange.account.unplaced = 17;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
}

/* What came to light later counts from the start of the run on, and moves no stage by more than both of them are. */
static void stages_that_a_step_moved(void **state)
{
	static const struct {
		int64_t found_ns, by_ns, told_ns;
	} rows[] = {
		{ 12346, 300, 345 }, { 12346, 346, 346 }, { 12346, 8501, 8501 }, { 12346, 16245, 16245 },
		{ 12346, 16246, 16245 }, { 12346, NS_PER_S, 16245 }, { 12345, 8501, 8501 }, { 12344, 8501, 345 },
	};

	(void)state;
	for (int role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		tear_down(state);
		set_up(state);
		usual_run(role, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
		watched(SOURCE_HARDWARE);
		exchange.clocks = &clocks;
		exchange.bound_ns[BOUND_HERE] = 345;
		exchange.began_ns = 12345;
		clocks.misplaced_kept = 1;
		for (size_t i = 0; i < COUNT_OF(rows); i++) {
			char line[128];

			clocks.misplaced[0] = (struct clock_misplaced){ rows[i].found_ns, rows[i].by_ns };
			snprintf(line, sizeof(line), "  Stages        : user-space times are on the NIC's scale within +-%lld ns",
				 (long long)rows[i].told_ns);
			assert_line(written(0), line);
		}
	}
}

/* Of the other host's stages, where two clocks are in them. */
static void remote_stages_on_the_scale_of_the_reflectors_stamps(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	watched(SOURCE_HARDWARE);
	exchange.bound_ns[BOUND_THERE] = 678;
#define REMOTE "  Remote stages : user-space times are on the scale of the reflector's stamps within +-%d ns\n"
	char lines[1024];

	snprintf(lines, sizeof(lines), NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN REMOTE, 678);
	assert_section(CLOCKS_TITLE, lines);
	exchange.bound_ns[BOUND_THERE] = 0;
	snprintf(lines, sizeof(lines), NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN REMOTE, 0);
	assert_section(CLOCKS_TITLE, lines);
	/* Stamps of the kernel are times of the same clock. */
	exchange.there = SOURCE_KERNEL;
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* Nothing of them was told. */
	exchange.there = SOURCE_HARDWARE;
	forget_samples(&stage[STAGE_REMOTE_APP], 0, 0);
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN);
	/* An emitter without a NIC's clock has the other host's bound to tell, too. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_KERNEL, SOURCE_HARDWARE, true);
	watched(SOURCE_KERNEL);
	assert_no(written(0), "Clocks");
	exchange.bound_ns[BOUND_THERE] = 678;
	snprintf(lines, sizeof(lines), REALTIME_UNKNOWN REMOTE, 678);
	assert_section(CLOCKS_TITLE, lines);
}

/* And then the times of user space stand in the log as the system's clock gave them. */
static void no_stages_and_why(void **state)
{
	(void)state;
	watched(SOURCE_HARDWARE);
	clocks.phc_fd = -1;
	strcpy(clocks.why, "/dev/ptp3: Permission denied: run as root");
	report.stages_why = clocks.why;
	assert_section(CLOCKS_TITLE, "  NIC clock     : not comparable: /dev/ptp3: Permission denied: run as root\n" REALTIME_UNKNOWN
		       "  Stages        : not comparable: /dev/ptp3: Permission denied: run as root; T1_SW and T4_SW are times of "
		       "CLOCK_REALTIME\n");
	options.role = ROLE_REFLECT;
	watched(SOURCE_HARDWARE);
	report.stages_why = "no CPU";
	assert_section(CLOCKS_TITLE, NIC_UTC NIC_UNKNOWN REALTIME_UNKNOWN
		       "  Stages        : not comparable: no CPU; T2_SW and T3_SW are times of CLOCK_REALTIME\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(clocks_belong_to_hardware_stamps),
		TEST(a_clock_and_its_offset),
		TEST(a_clock_that_cannot_be_read),
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
		TEST(no_stages_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
