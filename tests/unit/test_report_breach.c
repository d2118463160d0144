/* build: sources=report/headline.c,report/buckets.c,report/verdict_finding.c,report/log_file.c,report/log_mend.c,report/account.c,report/clocks.c,report/clocks_there.c,report/echo.c,report/evidence.c,report/machine.c,host/place.c,report/report.c,report/statistics.c,report/variation.c,report/source_ports.c,histogram.c,tracefs.c,host/trace_*.c,measure/[a-z]*.c,host/memory.c,wire/[a-z]*.c,host/activity*.c,host/clock*.c,host/nic*.c,host/pm*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* A breach: names that never say more than is known of a stamp, the times, and which part is to blame. */
#include "report/label.c"
#include "report/part.c"
#include "report/breach.c"

#include "fake_report.h"
#include "host/clock.h"

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static void labels_say_where_stamps_come_from(void **state)
{
	static const struct {
		enum role role;
		enum source stamp;
		bool no_tx;
		const char *name;
	} rows[] = {
		{ ROLE_EMIT, SOURCE_HARDWARE, false, "RTT = T4_HW - T1_HW" },
		{ ROLE_EMIT, SOURCE_KERNEL, false, "RTT = T4_KERNEL - T1_KERNEL" },
		{ ROLE_EMIT, SOURCE_USER, false, "RTT = T4_SW - T1_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, false, "RESPONSE = T3_HW - T2_HW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, false, "RESPONSE = T3_KERNEL - T2_KERNEL" },
		{ ROLE_REFLECT, SOURCE_USER, false, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_HARDWARE, true, "RESPONSE = T3_SW - T2_SW" },
		{ ROLE_REFLECT, SOURCE_KERNEL, true, "RESPONSE = T3_SW - T2_SW" },
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		options.role = rows[i].role;
		options.stamp = rows[i].stamp;
		options.no_tx_stamps = rows[i].no_tx;
		label_latency(&options, name, sizeof(name));
		assert_string_equal(name, rows[i].name);
	}
}

static void a_breach_shows_every_stamp_there_is(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.stamp = SOURCE_HARDWARE;
	options.threshold_ns = 100000;
	exchange.breach = (struct sample){
		.seq = 4294967295, .latency_ns = 330151,
		.source = { SOURCE_HARDWARE, SOURCE_USER, SOURCE_USER, SOURCE_HARDWARE },
		.time_ns = { 1773883524780127138, 1773883524780430176, 1773883524780430768, 1773883524780457289 },
	};
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Response latency (330151 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Sequence number: 4294967295");
	assert_line(all, "  T2_HW (NIC rx): 1773883524.780127138");
	assert_line(all, "  T3_HW (NIC tx): 1773883524.780457289");
	assert_line(all, "  T2_SW (app rx): 1773883524.780430176");
	assert_line(all, "  T3_SW (app tx): 1773883524.780430768");
	exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	assert_no(written(0), "T2_SW (");
}

static void kernel_stamps_are_never_called_hardware(void **state)
{
	(void)state;
	options.threshold_ns = 1;
	exchange.breach = (struct sample){ .source = { SOURCE_USER, SOURCE_KERNEL, SOURCE_KERNEL, SOURCE_USER } };
	counter_add(&exchange.account.breaches, 1);
	const char *all = written(0);

	assert_line(all, "Round-trip latency (0 ns) exceeds threshold (1 ns).");
	assert_line(all, "  T1_KERNEL (kernel tx): 0.000000000");
	assert_no(all, "HW");
	assert_no(all, "NIC");
}

/* ---- Where the time went ----------------------------------------------------------------------------------------- */

static void the_documented_breakdown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "Response latency (330151 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW);
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns");
	assert_line(all, "  App processing (T3_SW - T2_SW): 592 ns");
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical 7.900 us, 94 % of the excess");
	assert_no(all, "Wire and reflector");
	assert_no(all, "NIC");
	assert_no(all, "HW");
	/* Between the stamps and the blank line. */
	assert_non_null(strstr(all, "T3_SW (app tx): 1773883524.780430768\n  Kernel-to-app"));
	assert_non_null(strstr(all, "of the excess\n\nTest is complete."));
}

static void stages_to_a_nic_are_called_so(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  NIC-to-app (T2_SW - T2_HW): 303038 ns" ARROW);
	assert_line(all, "  App-to-NIC (T3_HW - T3_SW): 26521 ns");
	assert_line(all, "  App processing (T3_SW - T2_SW): 592 ns");
	assert_line(all, "  Blame: NIC-to-app 303.038 us, typical 7.900 us, 94 % of the excess");
	assert_no(all, "ernel");
}

/* The largest is as large as ever; by how much each stage exceeds its own median is what counts, not by what factor. */
static void the_arrow_is_not_at_the_largest(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 83510, 49000, 5000, 10);
	breach_at(7, 50000, 900, 20000);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 50000 ns");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 20000 ns" ARROW);
	assert_line(all, "  App processing (T3_SW - T2_SW): 900 ns");
	assert_int_equal(times_in(all, "<--"), 1);
	assert_non_null(strstr(all, "  Blame: App-to-kernel 20.000 us, typical 5.000 us"));
}

static void the_arrow_at_each_stage_in_turn(void **state)
{
	static const struct {
		int64_t a_ns, b_ns, c_ns;
		const char *arrow, *blame;
	} rows[] = {
		{ 120000, 1000, 2000, "  Kernel-to-app (T2_SW - T2_KERNEL): 120000 ns" ARROW,
		  "  Blame: Kernel-to-app 120.000 us, typical 3.000 us, 100 % of the excess" },
		{ 3000, 1000, 130001, "  App-to-kernel (T3_KERNEL - T3_SW): 130001 ns" ARROW,
		  "  Blame: App-to-kernel 130.001 us, typical 2.000 us, 100 % of the excess" },
		{ 3000, 140000, 2000, "  App processing (T3_SW - T2_SW): 140000 ns" ARROW,
		  "  Blame: App processing 140.000 us, typical 1.000 us, 100 % of the excess" },
		{ 63000, 1000, 42000, "  Kernel-to-app (T2_SW - T2_KERNEL): 63000 ns" ARROW,
		  "  Blame: Kernel-to-app 63.000 us, typical 3.000 us, 60 % of the excess" },
		/* Others were quicker than usual. */
		{ 1000, 101000, 1000, "  App processing (T3_SW - T2_SW): 101000 ns" ARROW,
		  "  Blame: App processing 101.000 us, typical 1.000 us, 103 % of the excess" },
	};

	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		exchange.account.breaches = 0;
		breach_at(7, rows[i].a_ns, rows[i].b_ns, rows[i].c_ns);
		const char *all = written(0);

		assert_line(all, rows[i].arrow);
		assert_line(all, rows[i].blame);
		assert_int_equal(times_in(all, "<--"), 1);
	}
}

static void an_emitter_blames_only_what_is_in_the_round_trip(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_KERNEL, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	const char *all = written(0);

	assert_line(all, "Round-trip latency (120000 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  App-to-kernel (T1_KERNEL - T1_SW): 900000 ns");
	assert_line(all, "  Kernel-to-app (T4_SW - T4_KERNEL): 800000 ns");
	assert_line(all, "  Wire and reflector (T4_KERNEL - T1_KERNEL): 120000 ns" ARROW);
	assert_line(all, "  Blame: Wire and reflector 120.000 us, typical 20.000 us, 100 % of the excess");
	assert_int_equal(times_in(all, "<--"), 1);
	assert_no(all, "App processing");
}

static void an_emitter_with_a_nic(void **state)
{
	(void)state;
	usual_run(ROLE_EMIT, SOURCE_HARDWARE, 20000, 3000, 2000, 0);
	breach_at(7, 900000, 120000, 800000);
	const char *all = written(0);

	assert_line(all, "  App-to-NIC (T1_HW - T1_SW): 900000 ns");
	assert_line(all, "  NIC-to-app (T4_SW - T4_HW): 800000 ns");
	assert_line(all, "  Wire and reflector (T4_HW - T1_HW): 120000 ns" ARROW);
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
		for (int i = 0; i < STAGES && exchange.stage[i]; i++)
			forget_samples(&stage[i], 40000, 1);
		breach_at(7, 40000, 120000, 40000);
		const char *all = written(0);

		assert_no(all, "<--");
		assert_line(all, "  Blame: none, there is nothing typical to compare these with");
	}
}

/* The histogram of a stage of its own may lack what that of the latency has. */
static void a_stage_that_was_hardly_seen_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 10, 1);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns");
	assert_line(all, "  Blame: not known: Kernel-to-app is not known (there is nothing typical to compare with)");
	/* Nor is it a reason to blame nothing. */
	exchange.account.breaches = 0;
	breach_at(7, 303038, 600, 8000);
	assert_line(written(0), "  Blame: not known: Kernel-to-app is not known (there is nothing typical to compare with)");
	exchange.account.breaches = 0;
	breach_at(7, 3038, 592, 326521);
	assert_line(written(0), "  App-to-kernel (T3_KERNEL - T3_SW): 326521 ns" ARROW);
	assert_line(text, "  Kernel-to-app: not known: there is nothing typical to compare with");
	/* And the clock went back in it. */
	exchange.account.breaches = 0;
	breach_at(8, -2, 592, 126521);
	assert_line(written(0), "  Kernel-to-app (T2_SW - T2_KERNEL): -2 ns");
}

/* More samples lie beyond --overflow than are kept: the median is that value or more. */
static void a_median_that_is_only_a_bound(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 303038 ns" ARROW);
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical >= 100.000 us");
	assert_no(all, "of the excess");
	/* The stage is known, the latency is not. */
	forget_samples(&stage[0], 7900, USUAL);
	forget_samples(&histogram, 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE + 1);
	all = written(0);
	assert_line(all, "  Blame: Kernel-to-app 303.038 us, typical 7.900 us");
	assert_no(all, "of the excess");
	/* As many as are kept: both are known. */
	forget_samples(&stage[0], 150 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	forget_samples(&histogram, 160 * NS_PER_US, HISTOGRAM_OVERFLOW_STORE);
	assert_line(written(0), "  Blame: Kernel-to-app 303.038 us, typical 150.000 us, 90 % of the excess");
}

/* A threshold below the median makes such breaches. */
static void what_took_no_longer_than_usual_is_not_blamed(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 330151, 303038, 26521, 592);
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_no(all, "<--");
	assert_line(all, "  Blame: none, each of these took no longer than usual");
	exchange.account.breaches = 0;
	breach_at(7, 303037, 591, 26520);
	assert_no(written(0), "<--");
	exchange.account.breaches = 0;
	breach_at(7, 303037, 592, 26522); /* more than usual, in less than usual */
	all = written(0);
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26522 ns" ARROW);
	assert_line(all, "  Blame: App-to-kernel 26.522 us, typical 26.521 us");
	assert_no(all, "of the excess");
}

static void a_stage_without_a_time_is_not_shown(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 16500, 7900, 8000, 600);
	breach_at(7, 303038, 592, 26521);
	exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	exchange.worst = exchange.breach;
	const char *all = written(0);

	assert_no(all, "Kernel-to-app (T2_SW - T2_KERNEL): ");
	assert_no(all, "App processing (T3_SW - T2_SW): ");
	assert_line(all, "  App-to-kernel (T3_KERNEL - T3_SW): 26521 ns");
	assert_no(all, "<--");
	assert_line(all, "  Blame: not known: Kernel-to-app and App processing are not known (a time is missing)");
}

/* ---- What is not known ------------------------------------------------------------------------------------------- */

static struct clock_watch watch;

/* A reflector with times of user space on the NIC's scale, as far as they have a place there. */
static void placing_run(void)
{
	usual_run(ROLE_REFLECT, SOURCE_HARDWARE, 16500, 7900, 8000, 600);
	options.sw_timestamps = true;
	memset(&watch, 0, sizeof(watch));
	exchange.clocks = report.clocks = &watch;
}

static const char *unplaced_breach(int64_t a_ns, int64_t b_ns, int64_t c_ns, bool no_t2, bool no_t3)
{
	exchange.account.breaches = 0;
	breach_at(7, a_ns, b_ns, c_ns);
	if (no_t2)
		exchange.breach.source[REFLECT_T2_USER] = SOURCE_NONE;
	if (no_t3)
		exchange.breach.source[REFLECT_T3_USER] = SOURCE_NONE;
	exchange.worst = exchange.kept[0] = exchange.breach;
	return written(0);
}

#define STALE "no comparison of the clocks within 1 s"

static void unknown_is_not_none(void **state)
{
	const char *all;

	(void)state;
	placing_run();
	all = unplaced_breach(303038, 592, 26521, true, true);
	assert_line(all, "  Blame: not known: NIC-to-app, App-to-NIC and App processing are not known (" STALE ")");
	assert_int_equal(times_in(all, "not known:"), 1);
	assert_no(all, "usual");
	assert_no(all, "<--");
	all = unplaced_breach(303038, 592, 26521, false, true);
	assert_line(all, "  NIC-to-app (T2_SW - T2_HW): 303038 ns" ARROW);
	assert_line(all, "  App-to-NIC and App processing: not known: " STALE);
	assert_line(all, "  Blame: NIC-to-app 303.038 us, typical 7.900 us, 94 % of the excess");
	/* What was seen of the clocks may be the reason too. */
	for (int i = 0; i < 2 * CLOCKS; i++) {
		memset(watch.track, 0, sizeof(watch.track));
		counter_add(i % 2 ? &watch.track[i / 2].standstills : &watch.track[i / 2].steps, 1);
		all = unplaced_breach(303038, 592, 26521, true, true);
		assert_line(all, "  Blame: not known: NIC-to-app, App-to-NIC and App processing are not known (" STALE
			    ", or one was set or stood still)");
	}
}

/* Whatever is not known, what explains half of the excess of 100 us is to blame. */
static void what_is_known_of_half_is_blamed(void **state)
{
	const char *all;

	(void)state;
	placing_run();
	all = unplaced_breach(57900, 600, 58000, true, false);
	assert_line(all, "  Blame: App-to-NIC 58.000 us, typical 8.000 us, 50 % of the excess");
	assert_line(all, "  NIC-to-app and App processing: not known: " STALE);
	all = unplaced_breach(57901, 600, 57999, true, false);
	assert_line(all, "  App-to-NIC (T3_HW - T3_SW): 57999 ns");
	assert_line(all, "  Blame: not known: NIC-to-app and App processing are not known (" STALE ")");
	/* A threshold that is lower than what is usual: nothing can be said of the parts that are not known. */
	all = unplaced_breach(7900, 600, 8000, true, false);
	assert_line(all, "  Blame: not known: NIC-to-app and App processing are not known (" STALE ")");
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
		exchange.kept[i].source[REFLECT_T2_USER] = exchange.kept[i].source[REFLECT_T3_USER] = SOURCE_NONE;
	assert_section("\nBlamed for the last 4 of 4 breaches:\n", "  NIC-to-app: 1\n  App-to-NIC: 0\n  App processing: 0\n"
		       "  Not known: 2\n  None of these: 1\n");
}

static void no_breakdown_without_stages(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	breach_at(7, 303038, 592, 26521);
	const char *all = written(0);

	assert_no(all, "Kernel-to-app");
	assert_no(all, "Blame");
	assert_no(all, "Stages (us)");
}

/* ---- Where the time went, at both hosts -------------------------------------------------------------------------- */

/* The only one, and so the first and the worst. */
static const char *breached(const struct sample *s)
{
	exchange.account.breaches = 0;
	counter_add(&exchange.account.breaches, 1);
	exchange.breach = exchange.worst = exchange.kept[0] = *s;
	return written(width);
}

/* The first lines, up to a blank one. */
static void assert_breach(const struct sample *s, const char *lines)
{
	const char *all = below_the_top(breached(s)), *end = strstr(all, "\n\n");

	assert_non_null(end);
	assert_text(all, (size_t)(end + 1 - all), lines);
}

static void a_breach_shows_all_eight_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

	assert_breach(&s, "Round-trip latency (525300 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_HW (NIC tx): 1773883524.780130138\n  T4_HW (NIC rx): 1773883524.780655438\n"
		      "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780657438\n"
		      "  T2_HW (remote NIC rx): 1234567890.000000000\n  T3_HW (remote NIC tx): 1234567890.000519900\n"
		      "  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
		      "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
		      "  Response (T3_HW - T2_HW): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
		      "  Remote NIC-to-app (T2_SW - T2_HW): 512000 ns" ARROW "\n"
		      "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
		      "  Remote app-to-NIC (T3_HW - T3_SW): 7000 ns\n"
		      "  Blame: Remote NIC-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n");
}

/* Each host's stamps are called what they are. */
static void two_hosts_with_different_stamps(void **state)
{
	static const struct {
		enum source there;
		const char *lines;
	} rows[] = {
		{ SOURCE_KERNEL, "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
				 "  T3_KERNEL (remote kernel tx): 1234567890.000519900\n"
				 "  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
				 "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
				 "  Response (T3_KERNEL - T2_KERNEL): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
				 "  Remote kernel-to-app (T2_SW - T2_KERNEL): 512000 ns" ARROW "\n"
				 "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
				 "  Remote app-to-kernel (T3_KERNEL - T3_SW): 7000 ns\n"
				 "  Blame: Remote kernel-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n" },
		{ SOURCE_LOCAL, "  T2_LOCAL (remote host rx): 1234567890.000000000\n"
				"  T3_LOCAL (remote host tx): 1234567890.000519900\n"
				"  T2_SW (remote app rx): 1234567890.000512000\n  T3_SW (remote app tx): 1234567890.000512900\n"
				"  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
				"  Response (T3_LOCAL - T2_LOCAL): 519900 ns\n  Network (RTT - RESPONSE): 5400 ns\n"
				"  Remote host-to-app (T2_SW - T2_LOCAL): 512000 ns" ARROW "\n"
				"  Remote app processing (T3_SW - T2_SW): 900 ns\n"
				"  Remote app-to-host (T3_LOCAL - T3_SW): 7000 ns\n"
				"  Blame: Remote host-to-app 512.000 us, typical 2.100 us, 100 % of the excess\n" },
		/* No time twice, and no stage from a time to itself. */
		{ SOURCE_USER, "  T2_SW (remote app rx): 1234567890.000000000\n  T3_SW (remote app tx): 1234567890.000519900\n"
			       "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
			       "  Response (T3_SW - T2_SW): 519900 ns" ARROW "\n  Network and hosts (RTT - RESPONSE): 5400 ns\n"
			       "  Blame: Response 519.900 us, typical 10.000 us, 100 % of the excess\n" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char lines[2048];

		tear_down(state);
		set_up(state);
		joined_run(SOURCE_HARDWARE, rows[i].there, true);
		struct sample s = joined_sample(7, 5400, 512000, 900, 7000);

		snprintf(lines, sizeof(lines), "Round-trip latency (525300 ns) exceeds threshold (100000 ns).\n"
			 "  Sequence number: 7\n"
			 "  T1_HW (NIC tx): 1773883524.780130138\n  T4_HW (NIC rx): 1773883524.780655438\n"
			 "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780657438\n%s", rows[i].lines);
		assert_breach(&s, lines);
	}
}

static void each_part_of_both_hosts_in_turn(void **state)
{
	static const struct {
		int64_t network_ns, rx_ns, app_ns, tx_ns;
		const char *blame;
	} rows[] = {
		{ 5000, 512000, 900, 7000, "Remote NIC-to-app 512.000 us, typical 2.100 us, 100 % of the excess" },
		{ 13500, 512000, 2500, 7000, "Remote NIC-to-app 512.000 us, typical 2.100 us, 98 % of the excess" },
		{ 5000, 2100, 512000, 7000, "Remote app processing 512.000 us, typical 0.900 us, 100 % of the excess" },
		{ 5000, 2100, 900, 512000, "Remote app-to-NIC 512.000 us, typical 7.000 us, 100 % of the excess" },
		{ 512000, 2100, 900, 7000, "Network 512.000 us, typical 5.000 us, 100 % of the excess" },
		/* Not the response, which exceeds what is usual by more than the network does. */
		{ 55000, 42100, 900, 47000, "Network 55.000 us, typical 5.000 us, 38 % of the excess" },
	};
	char line[128];

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample s = joined_sample(7, rows[i].network_ns, rows[i].rx_ns, rows[i].app_ns, rows[i].tx_ns);

		/* What the emitter itself took is no part of the round trip. */
		s.time_ns[EMIT_T1_USER] -= 900000;
		s.time_ns[EMIT_T4_USER] += 900000;
		snprintf(line, sizeof(line), "  Blame: %s", rows[i].blame);
		assert_line(breached(&s), line);
		assert_int_equal(times_in(text, "<--"), 1);
		assert_no(text, "Wire and reflector");
		assert_no(text, "Response and network");
	}
}

/* Without stages, or for a sample that lacks some of them, the response is one part. */
static void a_response_that_is_not_told_apart(void **state)
{
	(void)state;
	joined_run(SOURCE_KERNEL, SOURCE_KERNEL, false);
	struct sample s = joined_sample(7, 5000, 512000, 900, 7000);

	assert_breach(&s, "Round-trip latency (524900 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_KERNEL (kernel tx): 1773883524.780130138\n  T4_KERNEL (kernel rx): 1773883524.780655038\n"
		      "  T1_SW (app tx): 1773883524.780127138\n"
		      "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
		      "  T3_KERNEL (remote kernel tx): 1234567890.000519900\n"
		      "  T3_SW (remote app tx): 1234567890.000512900\n"
		      "  Response (T3_KERNEL - T2_KERNEL): 519900 ns" ARROW "\n  Network (RTT - RESPONSE): 5000 ns\n"
		      "  Blame: Response 519.900 us, typical 10.000 us, 100 % of the excess\n");
	for (int lacks = 0; lacks < 3; lacks++) {
		tear_down(state);
		set_up(state);
		joined_run(SOURCE_KERNEL, SOURCE_KERNEL, true);
		/* What is known of its stages exceeds what is usual by more, since the others were quicker. */
		s = joined_sample(7, 5000, 512000, 0, 0);
		if (lacks == 0)
			s.one_scale = false;
		else
			s.source[THERE + (lacks == 1 ? REFLECT_T2_USER : REFLECT_T3_USER)] = SOURCE_NONE;
		assert_line(breached(&s), "  Blame: Response 512.000 us, typical 10.000 us, 100 % of the excess");
		assert_line(text, "  Response (T3_KERNEL - T2_KERNEL): 512000 ns" ARROW);
		assert_no(text, "Remote app processing (T3_SW - T2_SW): ");
	}
}

static void why_response_and_network_are_not_known(void **state)
{
	char line[160];

	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (size_t i = 0; i < COUNT_OF(unknowns); i++) {
		struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), unknowns[i].why);

		snprintf(line, sizeof(line), "  Response and network: not known: %s", unknowns[i].words);
		assert_line(breached(&s), line);
		assert_no(text, "  T3_HW (remote");
		assert_no(text, "  Response (");
		assert_no(text, "  Network (");
		assert_no(text, "  Remote app-to-NIC (T3_HW - T3_SW): ");
		assert_line(text, "  Remote NIC-to-app (T2_SW - T2_HW): 2100 ns");
		assert_line(text, "  Wire and reflector (T4_HW - T1_HW): 522000 ns" ARROW);
		assert_line(text, "  Blame: Wire and reflector 522.000 us, typical 15.000 us, 100 % of the excess");
	}
	/* Also where nothing else is told apart, and then there is nothing to blame. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_LOCAL, false);
	exchange.stage[STAGE_RESPONSE] = exchange.stage[STAGE_NETWORK] = NULL;
	struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_UNTOLD);

	assert_line(breached(&s), "  Response and network: not known: the reflector does not tell when a reply left: RFC 8972 "
		    "section 4.7");
	assert_no(text, "Blame");
	/* Who did not ask is told nothing. */
	options.plain = true;
	s.follow_up = FOLLOW_UP_NONE;
	assert_no(breached(&s), "Response and network");
}

/* A part that explains at least half of it is to blame although not all parts are known. */
static void a_part_that_explains_half(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 105000, 102100, 900, 7000), FOLLOW_UP_LOST);

	assert_line(breached(&s), "  Remote NIC-to-app (T2_SW - T2_HW): 102100 ns" ARROW);
	assert_line(text, "  Blame: Remote NIC-to-app 102.100 us, typical 2.100 us, 50 % of the excess");
	assert_line(text, "  Wire and reflector (T4_HW - T1_HW): 215000 ns");
	s = without_t3(joined_sample(7, 105001, 102100, 900, 7000), FOLLOW_UP_LOST);
	assert_line(breached(&s), "  Wire and reflector (T4_HW - T1_HW): 215001 ns" ARROW);
	assert_line(text, "  Blame: Wire and reflector 215.001 us, typical 15.000 us, 100 % of the excess");
}

/* A threshold on response or network: the blame is among the parts of that, and the share is that of its excess. */
static void a_threshold_on_another_figure(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 300000, 132100, 900, 17000);

	options.threshold_on = FIGURE_RESPONSE;
	assert_line(breached(&s), "Response time (150000 ns) exceeds threshold (100000 ns).");
	assert_non_null(strstr(text, "\n  Sequence number: 7\n  Round-trip latency: 450000 ns\n  T1_HW (NIC tx): "));
	assert_line(text, "  Remote NIC-to-app (T2_SW - T2_HW): 132100 ns" ARROW);
	assert_line(text, "  Blame: Remote NIC-to-app 132.100 us, typical 2.100 us, 93 % of the excess");
	options.threshold_on = FIGURE_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	assert_line(breached(&s), "Network time (300000 ns) exceeds threshold (100000 ns).");
	assert_line(text, "  Round-trip latency: 850000 ns");
	assert_line(text, "  Network (RTT - RESPONSE): 300000 ns" ARROW);
	assert_line(text, "  Blame: Network 300.000 us, typical 5.000 us, 100 % of the excess");
	options.threshold_on = FIGURE_RTT;
	assert_line(breached(&s), "Round-trip latency (850000 ns) exceeds threshold (100000 ns).");
	assert_no(text, "  Round-trip latency: ");
	assert_line(text, "  Blame: Remote NIC-to-app 532.100 us, typical 2.100 us, 63 % of the excess");
	/* Not split. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = FIGURE_RESPONSE;
	s = joined_sample(7, 300000, 132100, 900, 17000);
	assert_line(breached(&s), "  Blame: Response 150.000 us, typical 10.000 us, 100 % of the excess");
	options.threshold_on = FIGURE_NETWORK;
	s = joined_sample(7, 300000, 532100, 900, 17000);
	assert_line(breached(&s), "  Blame: Network 300.000 us, typical 5.000 us, 100 % of the excess");
}

/* The largest of what the threshold is about, which need not be the longest round trip. */
static void the_worst_of_another_figure(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	options.threshold_on = FIGURE_NETWORK;
	exchange.breach = joined_sample(3, 110000, 900000, 900, 7000);
	exchange.worst = joined_sample(5, 120000, 2100, 900, 7000);
	exchange.kept[0] = exchange.breach;
	exchange.kept[1] = exchange.worst;
	counter_add(&exchange.account.breaches, 2);
	assert_line(written(0), "Network time (110000 ns) exceeds threshold (100000 ns).");
	assert_non_null(strstr(text, "\n\nThe worst of 2 breaches:\nNetwork time (120000 ns) exceeds threshold (100000 ns).\n"
			       "  Sequence number: 5\n"));
	exchange.worst = joined_sample(5, 110000, 2100, 900, 7000);
	assert_no(written(0), "The worst of");
}

/* Of 70 only the last 63 are still known. Those of which not all was told are counted too. */
static void blames_of_many_breaches_at_both_hosts(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	for (uint32_t i = 0; i < 70; i++) {
		int kind = i < 7 ? 0 : i < 27 ? 1 : i < 39 ? 2 : i < 59 ? 3 : 4;
		struct sample s = joined_sample(i, kind == 1 ? 500000 : 5000, kind == 0 ? 500000 : 2100, kind == 2 ? 500000 : 900,
						kind == 3 ? 500000 : 7000);

		if (kind == 4)
			s = without_t3(joined_sample(i, 500000, 2100, 900, 7000), FOLLOW_UP_UNKNOWN);
		exchange.kept[i % BREACHES_KEPT] = s;
		if (!i)
			exchange.breach = exchange.worst = s;
		counter_add(&exchange.account.breaches, 1);
	}
	assert_section("\nBlamed for the last 63 of 70 breaches:\n", "  Network: 20\n  Remote NIC-to-app: 0\n"
		       "  Remote app processing: 12\n  Remote app-to-NIC: 20\n  Wire and reflector: 11\n");
	/* Where the response is never told apart, it is the part. */
	tear_down(state);
	set_up(state);
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, false);
	exchange.account.breaches = 0;
	for (uint32_t i = 0; i < 3; i++) {
		exchange.kept[i] = joined_sample(i, i ? 5000 : 500000, i ? 500000 : 2100, 900, 7000);
		counter_add(&exchange.account.breaches, 1);
	}
	exchange.breach = exchange.worst = exchange.kept[0];
	assert_section("\nBlamed for the last 3 of 3 breaches:\n", "  Response: 2\n  Network: 1\n");
}

/* Without stamps of its own an emitter does not see where the hosts end and the network begins. */
static void an_emitter_with_times_of_user_space(void **state)
{
	(void)state;
	joined_run(SOURCE_USER, SOURCE_KERNEL, true);
	struct sample s = joined_sample(7, 512000, 2100, 900, 7000);

	assert_breach(&s, "Round-trip latency (522000 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780649138\n"
		      "  T2_KERNEL (remote kernel rx): 1234567890.000000000\n"
		      "  T3_KERNEL (remote kernel tx): 1234567890.000010000\n"
		      "  T2_SW (remote app rx): 1234567890.000002100\n  T3_SW (remote app tx): 1234567890.000003000\n"
		      "  Response (T3_KERNEL - T2_KERNEL): 10000 ns\n"
		      "  Network and hosts (RTT - RESPONSE): 512000 ns" ARROW "\n"
		      "  Remote kernel-to-app (T2_SW - T2_KERNEL): 2100 ns\n"
		      "  Remote app processing (T3_SW - T2_SW): 900 ns\n"
		      "  Remote app-to-kernel (T3_KERNEL - T3_SW): 7000 ns\n"
		      "  Blame: Network and hosts 512.000 us, typical 5.000 us, 100 % of the excess\n");
	s = without_t3(s, FOLLOW_UP_END);
	assert_line(breached(&s), "  Round trip (T4_SW - T1_SW): 522000 ns" ARROW);
	assert_line(text, "  Blame: Round trip 522.000 us, typical 15.000 us, 100 % of the excess");
	assert_no(text, "HW");
}

/* ---- The worst breach -------------------------------------------------------------------------------------------- */

static void the_worst_breach_when_it_is_another(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	assert_no(written(0), "The worst of");
	breach_at(4, 100000, 1, 0);
	assert_no(written(0), "The worst of");
	breach_at(5, 100000, 2, 0);
	breach_at(6, 100000, 1, 0);
	const char *all = written(0);

	assert_line(all, "Response latency (100001 ns) exceeds threshold (100000 ns).");
	assert_line(all, "  Sequence number: 3");
	assert_non_null(strstr(all, "\n\nThe worst of 4 breaches:\nResponse latency (100002 ns) exceeds threshold (100000 ns).\n"
			       "  Sequence number: 5\n"));
	assert_no(all, "  Sequence number: 4");
	assert_no(all, "  Sequence number: 6");
}

/* Two emitters count for themselves. */
static void the_worst_breach_with_the_number_of_the_first(void **state)
{
	(void)state;
	options.role = ROLE_REFLECT;
	options.threshold_ns = 100000;
	breach_at(3, 100000, 1, 0);
	breach_at(3, 100000, 2, 0);
	assert_line(written(0), "The worst of 2 breaches:");
}

static void the_worst_breach_has_a_breakdown_too(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 120000, 1000, 2000);
	breach_at(5, 3000, 130000, 2000);
	const char *all = written(0);

	assert_line(all, "  Kernel-to-app (T2_SW - T2_KERNEL): 120000 ns" ARROW);
	assert_line(all, "  App processing (T3_SW - T2_SW): 130000 ns" ARROW);
	assert_int_equal(times_in(all, "  Blame: "), 2);
}

/* ---- What an emitter does not know ------------------------------------------------------------------------------- */

#define NO_PLACE "the reflector could not put its program's times on the scale of its stamps"

static void a_reflector_that_could_not_place_its_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = joined_sample(7, 5000, 512000, 900, 7000);

	s.one_scale = false;
	s.off_scale = true;
	assert_breach(&s, "Round-trip latency (524900 ns) exceeds threshold (100000 ns).\n  Sequence number: 7\n"
		      "  T1_HW (NIC tx): 1773883524.780130138\n  T4_HW (NIC rx): 1773883524.780655038\n"
		      "  T1_SW (app tx): 1773883524.780127138\n  T4_SW (app rx): 1773883524.780657038\n"
		      "  T2_HW (remote NIC rx): 1234567890.000000000\n  T3_HW (remote NIC tx): 1234567890.000519900\n"
		      "  App-to-NIC (T1_HW - T1_SW): 3000 ns\n  NIC-to-app (T4_SW - T4_HW): 2000 ns\n"
		      "  Response (T3_HW - T2_HW): 519900 ns" ARROW "\n  Network (RTT - RESPONSE): 5000 ns\n"
		      "  Remote NIC-to-app, Remote app processing and Remote app-to-NIC: not known: " NO_PLACE "\n"
		      "  Blame: Response 519.900 us, typical 10.000 us, 100 % of the excess\n");
	/* All of the response is known, and of what it is made does not matter where it took no longer. */
	s = joined_sample(7, 5000, 2100, 900, 7000);
	s.one_scale = false;
	s.off_scale = true;
	assert_line(breached(&s), "  Blame: none, each of these took no longer than usual");
	/* Nothing was told of a scale. */
	s.off_scale = false;
	assert_line(breached(&s), "  Remote NIC-to-app, Remote app processing and Remote app-to-NIC: not known: the reflector did "
		    "not tell on which scale its program's times are");
}

/* What the emitter does not know of itself is beside the round trip. */
static void an_emitter_that_could_not_place_its_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	memset(&watch, 0, sizeof(watch));
	exchange.clocks = report.clocks = &watch;
	struct sample s = joined_sample(7, 5000, 2100, 900, 7000);

	s.source[EMIT_T1_USER] = s.source[EMIT_T4_USER] = SOURCE_NONE;
	assert_line(breached(&s), "  App-to-NIC and NIC-to-app: not known: " STALE);
	assert_line(text, "  Blame: none, each of these took no longer than usual");
}

static void a_reply_that_lacks_some_times(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_MIXED);

	s.source[THERE + REFLECT_T2_WIRE] = SOURCE_NONE;
	assert_line(breached(&s), "  Response, network and Remote NIC-to-app: not known: the reflector told no stamp of when the "
		    "probe arrived");
	assert_line(text, "  Blame: Wire and reflector 522.000 us, typical 15.000 us, 100 % of the excess");
	s = joined_sample(7, 512000, 2100, 900, 7000);
	s.source[THERE + REFLECT_T2_USER] = SOURCE_NONE;
	assert_line(breached(&s), "  Remote NIC-to-app and Remote app processing: not known: the reflector did not tell when its "
		    "program had the packet");
	assert_no(text, "Remote app-to-NIC: ");
	/* Nothing is left of the other host's times: that they are missing has one reason. */
	s = without_t3(joined_sample(7, 512000, 2100, 900, 7000), FOLLOW_UP_LOST);
	memset(s.source + THERE, SOURCE_NONE, TIMES);
	assert_line(breached(&s), "  Response, network, Remote NIC-to-app, Remote app processing and Remote app-to-NIC: not known: "
		    "the next reply, which tells when this one left, was lost");
}

/* It took no longer than usual in all: that says nothing of the parts that are not known. */
static void a_usual_round_trip_whose_parts_are_not_known(void **state)
{
	(void)state;
	joined_run(SOURCE_HARDWARE, SOURCE_HARDWARE, true);
	struct sample s = without_t3(joined_sample(7, 5000, 2100, 900, 7000), FOLLOW_UP_LOST);

	assert_line(breached(&s), "  Blame: not known: Response and network are not known (the next reply, which tells when this "
		    "one left, was lost)");
	s.one_scale = false;
	s.off_scale = true;
	assert_line(breached(&s), "  Blame: not known: Response and network are not known (the next reply, which tells when this "
		    "one left, was lost); Remote NIC-to-app, Remote app processing and Remote app-to-NIC are not known ("
		    NO_PLACE ")");
	/* Who did not ask for them has no such parts. */
	options.plain = true;
	s.follow_up = FOLLOW_UP_NONE;
	for (int i = STAGE_RESPONSE; i < STAGES; i++)
		exchange.stage[i] = NULL;
	assert_line(breached(&s), "  Blame: none, each of these took no longer than usual");
}

/* Also when the first was the worst. */
static void blames_of_several_breaches(void **state)
{
	(void)state;
	usual_run(ROLE_REFLECT, SOURCE_KERNEL, 6000, 3000, 2000, 1000);
	breach_at(3, 130000, 1000, 2000);
	assert_no(written(0), "Blamed for");
	breach_at(5, 3000, 120000, 2000);
	breach_at(6, 3000, 1000, 120000);
	breach_at(7, 3000, 1000, 120000);
	assert_non_null(strstr(written(0), "\nBlamed for the last 4 of 4 breaches:\n  Kernel-to-app: 1\n  App-to-kernel: 2\n"
			       "  App processing: 1\n\n"));
	assert_no(text, "The worst of");
	/* Above the threshold, and no part above what it usually takes. */
	breach_at(8, 3000, 1000, 2000);
	assert_non_null(strstr(written(0), "\nBlamed for the last 5 of 5 breaches:\n  Kernel-to-app: 1\n  App-to-kernel: 2\n"
			       "  App processing: 1\n  None of these: 1\n\n"));
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
		TEST(a_median_that_is_only_a_bound),
		TEST(what_took_no_longer_than_usual_is_not_blamed),
		TEST(a_stage_without_a_time_is_not_shown),
		TEST(unknown_is_not_none),
		TEST(what_is_known_of_half_is_blamed),
		TEST(breaches_of_which_it_is_not_known),
		TEST(no_breakdown_without_stages),
		TEST(a_breach_shows_all_eight_times),
		TEST(two_hosts_with_different_stamps),
		TEST(each_part_of_both_hosts_in_turn),
		TEST(a_response_that_is_not_told_apart),
		TEST(why_response_and_network_are_not_known),
		TEST(a_part_that_explains_half),
		TEST(a_threshold_on_another_figure),
		TEST(the_worst_of_another_figure),
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
