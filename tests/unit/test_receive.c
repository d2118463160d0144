/* build: sources=host/clock/clock_packets.c,report/text/label.c,report/text/limit.c,result/stages.c,histogram.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* --stamp receive: the place of a transmit timestamp on the scale of the NIC's clock, and what its times are called. */
#include "measure/sample.c"

#include "report/text/label.h"
#include "report/text/limit.h"
#include "report/text/report.h"
#include "report/text/sections.h"
#include "util.h"

#include <string.h>

#define OFFSET_NS (37 * NS_PER_S)
#define RATE 1000 /* the clock of the NIC gains 1 ns in so many ns */
#define BOUND_NS 300

static struct options options;
static struct exchange x;
static struct flight f;
static struct clock_watch clocks;
static bool is_related;
static struct report report;

bool clock_to_phc(const struct clock_watch *c, int64_t realtime_ns, int64_t *phc_ns, int64_t *bound_ns)
{
	assert_ptr_equal(c, &clocks);
	if (!is_related)
		return false;
	*phc_ns = realtime_ns + OFFSET_NS + realtime_ns / RATE;
	*bound_ns = BOUND_NS;
	return true;
}

bool clock_set_seen(const struct clock_set *c)
{
	(void)c;
	return false;
}

static void begin(enum role role)
{
	memset(&x, 0, sizeof(x));
	memset(&f, 0, sizeof(f));
	options = (struct options){ .role = role, .stamp = SOURCE_RECEIVE };
	x.options = &options;
	x.clocks = &clocks;
	x.places = true;
	is_related = true;
}

/* Each time by the relation at its own time, and the bound is kept. */
static void a_sent_packet_is_placed(void **state)
{
	(void)state;
	for (int64_t ns = NS_PER_S; ns < 4 * NS_PER_S; ns += NS_PER_S) {
		begin(ROLE_EMIT);
		f.sample.time_ns[EMIT_T1_WIRE] = ns;
		f.sample.source[EMIT_T1_WIRE] = SOURCE_KERNEL;
		sample_place(&x, &f, EMIT_T1_WIRE);
		assert_int_equal(f.sample.time_ns[EMIT_T1_WIRE], ns + OFFSET_NS + ns / RATE);
		assert_int_equal(f.sample.source[EMIT_T1_WIRE], SOURCE_KERNEL);
		assert_int_equal(f.bound_ns[BOUND_LOCAL], BOUND_NS);
	}
}

static void without_a_relation_it_has_no_time(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(ROLE_REFLECT);
		f.sample.source[REFLECT_T3_WIRE] = SOURCE_KERNEL;
		is_related = false;
		if (i)
			x.clocks = NULL;
		sample_place(&x, &f, REFLECT_T3_WIRE);
		assert_int_equal(f.sample.source[REFLECT_T3_WIRE], SOURCE_NONE);
		assert_int_equal(f.bound_ns[BOUND_LOCAL], 0);
	}
}

/* The delay from the NIC to the kernel, that --stamp kernel includes, against the bound. */
static void the_bound_against_the_delay_to_the_kernel(void **state)
{
	static const struct {
		int64_t delay_ns;
		bool worse;
	} cases[] = { { BOUND_NS + 1, false }, { BOUND_NS, false }, { BOUND_NS - 1, true }, { -5000, true } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		begin(ROLE_EMIT);
		for (unsigned n = 0; n < PLACING_ENOUGH; n++) {
			assert_false(placing_is_worse(&x.result.placing, PLACING_ENOUGH));
			memset(&f, 0, sizeof(f));
			f.sample.time_ns[KERNEL_RECEIVE] = NS_PER_S;
			f.sample.source[KERNEL_RECEIVE] = SOURCE_KERNEL;
			f.sample.source[EMIT_T4_WIRE] = SOURCE_HARDWARE;
			f.sample.time_ns[EMIT_T4_WIRE] = NS_PER_S + OFFSET_NS + NS_PER_S / RATE - cases[i].delay_ns;
			sample_convert_user_times(&x, &f);
		}
		assert_int_equal(placing_delay_ns(&x.result.placing), cases[i].delay_ns);
		assert_int_equal(placing_is_worse(&x.result.placing, PLACING_ENOUGH), cases[i].worse);
	}
}

/* Who has what: for each pair of hosts, what is printed of round trip, response and network. */
static void what_the_times_are_called(void **state)
{
	static const struct {
		enum role role;
		int64_t stamp, remote;
		const char *latency, *response, *network;
	} cases[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, SOURCE_HARDWARE, "", "", "" },
		{ ROLE_EMIT, SOURCE_KERNEL, SOURCE_KERNEL, "", "", "" },
		{ ROLE_EMIT, SOURCE_RECEIVE, SOURCE_HARDWARE, "at most, +-400 ns", "", "at most, +-400 ns" },
		{ ROLE_EMIT, SOURCE_RECEIVE, SOURCE_KERNEL, "at most, +-400 ns", "", "at most, +-400 ns" },
		{ ROLE_EMIT, SOURCE_HARDWARE, SOURCE_RECEIVE, "", "at least, +-70 ns", "at most, +-70 ns" },
		{ ROLE_EMIT, SOURCE_RECEIVE, SOURCE_RECEIVE, "at most, +-400 ns", "at least, +-70 ns", "at most, +-470 ns" },
		{ ROLE_REFLECT, SOURCE_RECEIVE, SOURCE_NONE, "at least, +-400 ns", "", "" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, SOURCE_NONE, "", "", "" },
	};
	char limit[48];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		begin(cases[i].role);
		report = (struct report){ .options = &options, .result = &x.result };
		options.stamp = cases[i].stamp;
		x.result.remote = (uint8_t)cases[i].remote;
		x.result.bound_ns[BOUND_LOCAL] = optional_of(400);
		x.result.bound_ns[BOUND_REMOTE] = optional_of(70);
		assert_string_equal(limit_text(limit, sizeof(limit), &report, LIMIT_LATENCY), cases[i].latency);
		assert_string_equal(limit_text(limit, sizeof(limit), &report, LIMIT_RESPONSE), cases[i].response);
		assert_string_equal(limit_text(limit, sizeof(limit), &report, LIMIT_NETWORK), cases[i].network);
		assert_string_equal(limit_text(limit, sizeof(limit), &report, LIMITS), "");
	}
	/* A saved run without the bound. */
	begin(ROLE_EMIT);
	x.result.bound_ns[BOUND_LOCAL] = (struct optional){ .known = false };
	assert_string_equal(limit_text(limit, sizeof(limit), &report, LIMIT_LATENCY), "at most");
}

static void the_names_of_the_times(void **state)
{
	static const struct {
		enum role role;
		int time;
		const char *name;
	} cases[] = {
		{ ROLE_EMIT, EMIT_T1_WIRE, "T1_KERNEL" }, { ROLE_EMIT, EMIT_T4_WIRE, "T4_HW" },
		{ ROLE_EMIT, REMOTE + REFLECT_T2_WIRE, "T2_HW" }, { ROLE_EMIT, REMOTE + REFLECT_T3_WIRE, "T3_KERNEL" },
		{ ROLE_REFLECT, REFLECT_T2_WIRE, "T2_HW" }, { ROLE_REFLECT, REFLECT_T3_WIRE, "T3_KERNEL" },
		{ ROLE_EMIT, EMIT_T1_USER, "T1_SW" }, { ROLE_EMIT, KERNEL_RECEIVE, "T4_KERNEL" },
		{ ROLE_EMIT, KERNEL_DRIVER, "T1_KERNEL" },
	};
	char name[16], latency[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_string_equal(label_name(name, sizeof(name), cases[i].role, cases[i].time, SOURCE_RECEIVE), cases[i].name);
	begin(ROLE_EMIT);
	label_latency(&options, latency, sizeof(latency));
	assert_string_equal(latency, "RTT = T4_HW - T1_KERNEL");
	begin(ROLE_REFLECT);
	label_latency(&options, latency, sizeof(latency));
	assert_string_equal(latency, "RESPONSE = T3_KERNEL - T2_HW");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sent_packet_is_placed),
		cmocka_unit_test(without_a_relation_it_has_no_time),
		cmocka_unit_test(the_bound_against_the_delay_to_the_kernel),
		cmocka_unit_test(what_the_times_are_called),
		cmocka_unit_test(the_names_of_the_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
