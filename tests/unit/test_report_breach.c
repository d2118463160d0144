/* build: sources=@report libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* A breach: names that never say more than is known of a stamp, the times, and which part is to blame. */
#include "report/text/label.c"
#include "report/text/stage.c"
#include "report/text/breach.c"

#include "fake_report.h"
#include "host/clock/clock.h"

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static void labels_say_where_stamps_come_from(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool no_tx;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false },
		{ ROLE_EMIT, SOURCE_KERNEL, false },
		{ ROLE_EMIT, SOURCE_USER, false },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false },
		{ ROLE_REFLECT, SOURCE_KERNEL, false },
		{ ROLE_REFLECT, SOURCE_USER, false },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true },
		{ ROLE_REFLECT, SOURCE_KERNEL, true },
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.no_tx_stamps = rows[i].no_tx;
		label_latency(&options, name, sizeof(name));
		golden("role %d, stamps %d%s: %s\n", (int)options.role, (int)options.stamp,
		       options.no_tx_stamps ? ", no tx" : "", name);
	}
}

static void a_breach_shows_every_stamp_there_is(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_HARDWARE;
	options.threshold_ns = 100000;
	result.breach = (struct sample){
		.seq = 4294967295, .latency_ns = 330151,
		.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
		.time_ns = { 1773883524780127138, 1773883524780430176, 1773883524780430768, 1773883524780457289 },
	};
	result.worst = result.breach;
	counter_add(&result.account.breaches, 1);
	show_report();
	result.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	show_report();
}

static void kernel_stamps_are_never_called_hardware(void **state)
{
	(void)state;
	options.threshold_ns = 1;
	result.breach = (struct sample){ .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER } };
	result.worst = result.breach;
	counter_add(&result.account.breaches, 1);
	show_report();
}

/* ---- Where the time went ----------------------------------------------------------------------------------------- */

static void the_documented_breakdown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	show_report();
}

static void stages_to_a_nic_are_called_so(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	show_report();
}

/* The largest is as large as usual; the excess over the median of each stage counts, not the factor. */
static void the_arrow_is_not_at_the_largest(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 83510, 49000, 5000, 10);
	breach_at(7, 50000, 900, 20000);
	show_report();
}

static void the_arrow_at_each_stage_in_turn(void **state)
{
	static const struct {
		int64_t a_ns, b_ns, c_ns;
	} rows[] = {
		{ 120000, 1000, 2000 },
		{ 3000, 1000, 130001 },
		{ 3000, 140000, 2000 },
		{ 63000, 1000, 42000 },
		/* Others were quicker than usual. */
		{ 1000, 101000, 1000 },
	};

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		result.account.breaches = 0;
		breach_at(7, rows[i].a_ns, rows[i].b_ns, rows[i].c_ns);
		show_report();
	}
}

static void an_emitter_blames_only_what_is_in_the_round_trip(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_KERNEL, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	show_report();
}

static void an_emitter_with_a_nic(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_HARDWARE, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	show_report();
}

/* The spike alone is all that there is: it would be typical of itself. */
static void one_sample_blames_nothing(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		tear_down(state);
		set_up(state);
		usual_run(role, SOURCE_KERNEL, 1, 1, 1, 1);
		forget_samples(&histogram, 120000, 1);
		for (int i = 0; i < STAGES && result.stage[i]; i++)
			forget_samples(&stage[i], 40000, 1);
		breach_at(7, 40000, 120000, 40000);
		show_report();
	}
}

/* The histogram of a stage may lack samples that the histogram of the latency has. */
static void a_stage_that_was_hardly_seen_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 10, 1);
	breach_at(7, 303038, 592, 26521);
	show_report();
	/* Nor is it a reason to blame nothing. */
	result.account.breaches = 0;
	breach_at(7, 303038, 600, 8000);
	show_report();
	result.account.breaches = 0;
	breach_at(7, 3038, 592, 326521);
	show_report();
	/* And the clock went back in it. */
	result.account.breaches = 0;
	breach_at(8, -2, 592, 126521);
	show_report();
}

/* More samples lie above --overflow than are kept: the median is known to 1/1024. */
static void a_median_above_the_overflow(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	breach_at(7, 303038, 592, 26521);
	show_report();
	/* The latency in the place of the stage. */
	forget_samples(&stage[0], 7900, USUAL);
	forget_samples(&histogram, 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	show_report();
	/* As many as are kept: both are known to the nanosecond. */
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	forget_samples(&histogram, 160 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	show_report();
}

/* A threshold below the median makes such breaches. */
static void what_took_no_longer_than_usual_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 330151, 303038, 26521, 592);
	breach_at(7, 303038, 592, 26521);
	show_report();
	result.account.breaches = 0;
	breach_at(7, 303037, 591, 26520);
	show_report();
	result.account.breaches = 0;
	breach_at(7, 303037, 592, 26522); /* more than usual, in less than usual */
	show_report();
}

static void a_stage_without_a_time_is_not_shown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	result.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	result.worst = result.breach;
	show_report();
}

/* ---- Unknown stages ---------------------------------------------------------------------------------------------- */

static struct clock_watch worker;

/* A reflector with times of user space on the NIC's scale, as far as they have a place there. */
static void placing_run(void)
{
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	options.sw_timestamps = true;
	memset(&worker, 0, sizeof(worker));
	result.converted = true;
	watched_clocks = &worker;
}

static const char *unconverted_breach(int64_t a_ns, int64_t b_ns, int64_t c_ns, bool no_t2, bool no_t3)
{
	result.account.breaches = 0;
	breach_at(7, a_ns, b_ns, c_ns);
	if (no_t2)
		result.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	if (no_t3)
		result.breach.source[REFLECT_T3_USER] = SOURCE_NONE;
	result.worst = result.kept[0] = result.breach;
	return show_report();
}

static void unknown_is_not_none(void **state)
{
	(void)state;
	placing_run();
	unconverted_breach(303038, 592, 26521, true, true);
	unconverted_breach(303038, 592, 26521, false, true);
	/* Clock faults may be the reason too. */
	for (int i = 0; i < 2 * CLOCKS; i++) {
		memset(worker.track, 0, sizeof(worker.track));
		counter_add(i % 2 ? &worker.track[i / 2].standstills : &worker.track[i / 2].steps, 1);
		unconverted_breach(303038, 592, 26521, true, true);
	}
}

/* A stage with half of the excess of 100 us is to blame, whatever is unknown. */
static void what_is_known_of_half_is_blamed(void **state)
{
	(void)state;
	placing_run();
	unconverted_breach(57900, 600, 58000, true, false);
	unconverted_breach(57901, 600, 57999, true, false);
	/* A threshold below the typical value: nothing can be said of unknown stages. */
	unconverted_breach(7900, 600, 8000, true, false);
}

static void breaches_of_which_it_is_not_known(void **state)
{
	(void)state;
	placing_run();
	breach_at(3, 130000, 1000, 2000);
	breach_at(5, 3000, 120000, 2000);
	breach_at(6, 3000, 1000, 120000);
	breach_at(8, 3000, 600, 2000);
	for (int i = 1; i < 3; i++)
		result.kept[i].source[REFLECT_T2_USER] = result.kept[i].source[REFLECT_T3_USER] = SOURCE_NONE;
	show_report();
}

static void no_breakdown_without_stages(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	breach_at(7, 303038, 592, 26521);
	show_report();
}

/* ---- Where the time went, at both hosts -------------------------------------------------------------------------- */

/* The only one, and so the first and the worst. */
static const char *breached(const struct sample *s)
{
	result.account.breaches = 0;
	counter_add(&result.account.breaches, 1);
	result.breach = result.worst = result.kept[0] = *s;
	return show_report();
}

static void a_breach_shows_all_eight_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

	breached(&s);
}

/* A late receive stage is divided at the kernel's time: the half with most of the excess is blamed. */
static void the_halves_of_a_receive_stage(void **state)
{
	static const int64_t at_kernel_ns[] = { 511000, 1500, 256000 };
	struct sample s;

	(void)state;
	options.stages.detail = STAGES_KERNEL;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(at_kernel_ns); i++) {
		s = joined_sample(7, 5400, 512000, 900, 7000);
		received_by_kernels(&s, 1400, at_kernel_ns[i]);
		s.remote_poll_gap_ns = i == 1 ? 510000 : 100;
		breached(&s);
	}
	/* Another stage is to blame. */
	s = joined_sample(7, 512000, 2100, 900, 7000);
	received_by_kernels(&s, 1400, 1500);
	breached(&s);
	/* The kernel had no time of it. */
	s = joined_sample(7, 5400, 512000, 900, 7000);
	breached(&s);
}

/* The stamps of each host are named by their source. */
static void two_hosts_with_different_stamps(void **state)
{
	static const enum source remote[] = { SOURCE_KERNEL, SOURCE_LOCAL, SOURCE_USER };

	for (size_t i = 0; i < COUNT_OF(remote); i++) {
		tear_down(state);
		set_up(state);
		joined_run(SOURCE_HARDWARE, remote[i], true);
		struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

		breached(&s);
	}
}

static void each_part_of_both_hosts_in_turn(void **state)
{
	static const struct {
		int64_t network_ns, rx_ns, app_ns, tx_ns;
	} rows[] = {
		{ 5000, 512000, 900, 7000 },
		{ 13500, 512000, 2500, 7000 },
		{ 5000, 2100, 512000, 7000 },
		{ 5000, 2100, 900, 512000 },
		{ 512000, 2100, 900, 7000 },
		/* Not the response, although its excess is larger than that of the network. */
		{ 55000, 42100, 900, 47000 },
	};
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = joined_sample(7, rows[i].network_ns, rows[i].rx_ns, rows[i].app_ns, rows[i].tx_ns);

		/* The emitter's own stages are outside of the round trip. */
		s.time_ns[EMIT_T1_USER] -= 900000;
		s.time_ns[EMIT_T4_USER] += 900000;
		breached(&s);
	}
}

/* Without stages, or for a sample that lacks some of them, the response is one part. */
static void a_response_that_is_not_reported_apart(void **state)
{
	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, false);
	struct sample s = joined_sample(7, 5000, 512000, 900, 7000);

	breached(&s);
	for (int lacks = 0; lacks < 3; lacks++) {
		tear_down(state);
		set_up(state);
		joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
		/* The known stages have a larger excess, since the others were quicker. */
		s = joined_sample(7, 5000, 512000, 0, 0);
		if (lacks == 0)
			s.same_timebase = false;
		else
			s.source[REMOTE + (lacks == 1 ? REFLECT_T2_USER : REFLECT_T3_USER)] = SOURCE_NONE;
		breached(&s);
	}
}

static void why_response_and_network_are_not_known(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(unknowns); i++) {
		struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), unknowns[i].why);

		breached(&s);
	}
	/* Also where nothing else is divided, and then there is nothing to blame. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, false);
	result.stage[STAGE_RESPONSE] = result.stage[STAGE_NETWORK] = NULL;
	struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_UNREPORTED);

	breached(&s);
	/* Without -s nothing is reported. */
	options.plain = true;
	s.follow_up = FOLLOW_UP_NONE;
	breached(&s);
}

/* A part that explains at least half of it is to blame although not all parts are known. */
static void a_part_that_explains_half(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 105000, 102100, 900, 7000), FOLLOW_UP_LOST);

	breached(&s);
	s = without_t3(joined_sample(7, 105001, 102100, 900, 7000), FOLLOW_UP_LOST);
	breached(&s);
}

/* A threshold on response or network: the blame is among the parts of that, and the share is that of its excess. */
static void a_threshold_on_another_metric(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 300000, 132100, 900, 17000);

	options.threshold_on = METRIC_RESPONSE;
	breached(&s);
	options.threshold_on = METRIC_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	breached(&s);
	options.threshold_on = METRIC_RTT;
	breached(&s);
	/* Not split. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = METRIC_RESPONSE;
	s = joined_sample(7, 300000, 132100, 900, 17000);
	breached(&s);
	options.threshold_on = METRIC_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	breached(&s);
}

/* The largest value of the metric of the threshold, which need not be the longest round trip. */
static void the_worst_of_another_metric(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = METRIC_NETWORK;
	result.breach = joined_sample(3, 110000, 900000, 900, 7000);
	result.worst = joined_sample(5, 120000, 2100, 900, 7000);
	result.kept[0] = result.breach;
	result.kept[1] = result.worst;
	counter_add(&result.account.breaches, 2);
	show_report();
	result.worst = joined_sample(5, 110000, 2100, 900, 7000);
	show_report();
}

/* The last 63 of 70 are still known. Breaches with unknown stages are counted too. */
static void blames_of_many_breaches_at_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (uint32_t i = 0; i < 70; i++) {
		int kind = i < 7 ? 0 : i < 27 ? 1 : i < 39 ? 2 : i < 59 ? 3 : 4;
		struct sample s = joined_sample(i, kind == 1 ? 500000 : 5000, kind == 0 ? 500000 : 2100,
						kind == 2 ? 500000 : 900,
						kind == 3 ? 500000 : 7000);

		if (kind == 4)
			s = without_t3(joined_sample(i, 500000, 2100, 900, 7000), FOLLOW_UP_UNKNOWN);
		result.kept[i % BREACHES_KEPT] = s;
		if (!i)
			result.breach = result.worst = s;
		counter_add(&result.account.breaches, 1);
	}
	show_report();
	/* Where the response is never divided, it is the part. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	result.account.breaches = 0;
	for (uint32_t i = 0; i < 3; i++) {
		result.kept[i] = joined_sample(i, i ? 5000 : 500000, i ? 500000 : 2100, 900, 7000);
		counter_add(&result.account.breaches, 1);
	}
	result.breach = result.worst = result.kept[0];
	show_report();
}

/* Without stamps of its own an emitter does not see where the hosts end and the network begins. */
static void an_emitter_with_times_of_user_space(void **state)
{
	(void)state;
	joined_run(SOURCE_USER, SOURCE_KERNEL, true);
	struct sample s = joined_sample(7, 512000, 2100, 900, 7000);

	breached(&s);
	s = without_t3(s, FOLLOW_UP_END);
	breached(&s);
}

/* ---- The worst breach -------------------------------------------------------------------------------------------- */

static void the_worst_breach_when_it_is_another(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	show_report();
	breach_at(4, 100000, 1, 0);
	show_report();
	breach_at(5, 100000, 2, 0);
	breach_at(6, 100000, 1, 0);
	show_report();
}

/* Two emitters count for themselves. */
static void the_worst_breach_with_the_number_of_the_first(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	breach_at(3, 100000, 2, 0);
	show_report();
}

static void the_worst_breach_has_a_breakdown_too(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 120000, 1000, 2000);
	breach_at(5, 3000, 130000, 2000);
	show_report();
}

/* ---- Unknown to an emitter --------------------------------------------------------------------------------------- */

static void a_reflector_that_could_not_place_its_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 5000, 512000, 900, 7000);

	s.same_timebase = false;
	s.off_scale = true;
	breached(&s);
	/* All of the response is known, and its parts do not matter where it took no longer. */
	s = joined_sample(7, 5000, 2100, 900, 7000);
	s.same_timebase = false;
	s.off_scale = true;
	breached(&s);
	/* The timebase was not reported. */
	s.off_scale = false;
	breached(&s);
}

/* Unknown stages of the emitter itself are beside the round trip. */
static void an_emitter_that_could_not_place_its_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	memset(&worker, 0, sizeof(worker));
	result.converted = true;
	watched_clocks = &worker;
	struct sample s = joined_sample(7, 5000, 2100, 900, 7000);

	s.source[EMIT_T1_USER] = s.source[EMIT_T4_USER] = SOURCE_NONE;
	breached(&s);
}

static void a_reply_that_lacks_some_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_MIXED);

	s.source[REMOTE + REFLECT_T2_WIRE] = SOURCE_NONE;
	breached(&s);
	s = joined_sample(7, 512000, 2100, 900, 7000);
	s.source[REMOTE + REFLECT_T2_USER] = SOURCE_NONE;
	breached(&s);
	/* Nothing is left of the other host's times: that they are missing has one reason. */
	s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_LOST);
	memset(s.source + REMOTE, SOURCE_NONE, TIMES);
	breached(&s);
}

/* It took no longer than usual in all: that says nothing of the parts that are not known. */
static void a_usual_round_trip_whose_parts_are_not_known(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 5000, 2100, 900, 7000), FOLLOW_UP_LOST);

	breached(&s);
	s.same_timebase = false;
	s.off_scale = true;
	breached(&s);
	/* Without -s there are no such parts. */
	options.plain = true;
	s.follow_up = FOLLOW_UP_NONE;
	for (int i = STAGE_RESPONSE; i < STAGES; i++)
		result.stage[i] = NULL;
	breached(&s);
}

/* Also when the first was the worst. */
static void blames_of_several_breaches(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 130000, 1000, 2000);
	show_report();
	breach_at(5, 3000, 120000, 2000);
	breach_at(6, 3000, 1000, 120000);
	breach_at(7, 3000, 1000, 120000);
	show_report();
	/* Above the threshold, and no part above its typical value. */
	breach_at(8, 3000, 1000, 2000);
	show_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(labels_say_where_stamps_come_from),
		TEST(a_breach_shows_every_stamp_there_is),
		TEST(kernel_stamps_are_never_called_hardware),
		TEST(the_documented_breakdown),
		TEST(stages_to_a_nic_are_called_so),
		TEST(the_arrow_is_not_at_the_largest),
		TEST(the_arrow_at_each_stage_in_turn),
		TEST(an_emitter_blames_only_what_is_in_the_round_trip),
		TEST(an_emitter_with_a_nic),
		TEST(one_sample_blames_nothing),
		TEST(a_stage_that_was_hardly_seen_is_not_blamed),
		TEST(a_median_above_the_overflow),
		TEST(what_took_no_longer_than_usual_is_not_blamed),
		TEST(a_stage_without_a_time_is_not_shown),
		TEST(unknown_is_not_none),
		TEST(what_is_known_of_half_is_blamed),
		TEST(breaches_of_which_it_is_not_known),
		TEST(no_breakdown_without_stages),
		TEST(a_breach_shows_all_eight_times),
		TEST(the_halves_of_a_receive_stage),
		TEST(two_hosts_with_different_stamps),
		TEST(each_part_of_both_hosts_in_turn),
		TEST(a_response_that_is_not_reported_apart),
		TEST(why_response_and_network_are_not_known),
		TEST(a_part_that_explains_half),
		TEST(a_threshold_on_another_metric),
		TEST(the_worst_of_another_metric),
		TEST(blames_of_many_breaches_at_both_hosts),
		TEST(an_emitter_with_times_of_user_space),
		TEST(the_worst_breach_when_it_is_another),
		TEST(the_worst_breach_with_the_number_of_the_first),
		TEST(the_worst_breach_has_a_breakdown_too),
		TEST(a_reflector_that_could_not_place_its_times),
		TEST(an_emitter_that_could_not_place_its_times),
		TEST(a_reply_that_lacks_some_times),
		TEST(a_usual_round_trip_whose_parts_are_not_known),
		TEST(blames_of_several_breaches),
	};

	usual_stage = "exceeds threshold|Blamed for";
	return golden_run(tests);
}
