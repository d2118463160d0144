/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Processing of an exchange's times by both loops: stages, clock steps, conversion to the NIC's timebase,
 * and the data passed to other modules. */
#include "exchange_bench.h"

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

static void stages_of_both_roles(void **state)
{
	struct stage stages[STAGES];

	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		const enum role role = mode & 1 ? ROLE_REFLECT : ROLE_EMIT;
		const bool on_wire = mode & 2;

		stages_of_role(role, on_wire, stages);
		for (int i = 0; i < STAGES; i++) {
			struct by_hand want = stages_by_hand[role][i];

			if (i == STAGE_NETWORK && role == ROLE_EMIT && !on_wire) {
				want.from = EMIT_T1_USER;
				want.to = EMIT_T4_USER;
			}
			assert_int_equal(stages[i].from, want.from);
			assert_int_equal(stages[i].to, want.to);
			assert_int_equal(stages[i].bound, want.bound);
			assert_int_equal(stages[i].inside, want.inside);
			assert_int_equal(stages[i].user, want.user);
			assert_int_equal(stages[i].peer, want.peer);
			assert_int_equal(stages_is_part(&stages[i]), want.kernel);
			/* Nothing is subtracted, or the named times. */
			if (want.less_from == want.less_to) {
				assert_int_equal(stages[i].less_from, stages[i].less_to);
			} else {
				assert_int_equal(stages[i].less_from, want.less_from);
				assert_int_equal(stages[i].less_to, want.less_to);
			}
		}
	}
}

static void a_stage_needs_both_times(void **state)
{
	const struct stage stage = { .from = REFLECT_T2_USER, .to = REFLECT_T3_USER, .less_from = REFLECT_T2_USER,
				     .less_to = REFLECT_T2_USER, .inside = true };
	struct sample s = { .time_ns = { 0, 5000, 5700, 0 } };
	int64_t value_ns;

	(void)state;
	for (unsigned sources = 0; sources < 4; sources++) {
		s.source[REFLECT_T2_USER] = sources & 1 ? SOURCE_USER : SOURCE_NONE;
		s.source[REFLECT_T3_USER] = sources & 2 ? SOURCE_USER : SOURCE_NONE;
		assert_int_equal(stages_value(&stage, &s, &value_ns), sources == 3);
	}
	assert_int_equal(value_ns, 700);
	s.time_ns[REFLECT_T3_USER] = 4999;
	assert_true(stages_value(&stage, &s, &value_ns));
	assert_int_equal(value_ns, -1);
}

static void every_recorded_sample_is_in_its_stages(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_stages(role, SOURCE_KERNEL);
		b.options.warmup = 5;
		SCRIPT({ 2, 0, LATENCY, 90 * NS_PER_US, 0 }, { 10, 0, TX_NONE, 0, 0 }, { 12, 0, RX, RX_ABSENT, 0 },
		       { 14, 0, LATENCY, -50, 0 }, { 16, 0, LATENCY, 3 * OVERFLOW_NS, 0 });

		struct fake_account got = bench_run("stages");

		assert_int_equal(got.warmup, 5);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.negative, 1);
		for (int i = 0; i < STAGES; i++) {
			const struct by_hand *stage = &stages_by_hand[role][i];
			bool used = stage->from != stage->to && !stage->peer && !stage->kernel;

			check_stage(i);
			/* Whatever the clocks show: a value for each sample, none for other packets. */
			assert_int_equal(b.stage[i].count + b.stage[i].negatives, used ? got.recorded : 0);
		}
		free_stages();
	}
}

static void the_processing_of_a_reflector_is_one_of_them(void **state)
{
	(void)state;
	bench_stages(ROLE_REFLECT, SOURCE_KERNEL);
	bench_run("stages");
	/* Both times are of the same clock, so the fake has the true value. */
	for (unsigned n = 0; n < PACKETS; n++) {
		int64_t value_ns = fake.packet[n].tx_user_ns - fake.packet[n].rx_user_ns;

		assert_true(value_ns > 0);
		assert_true(histogram_bucket(&b.stage[2], (uint32_t)value_ns) > 0);
	}
	assert_int_equal(b.stage[2].count, PACKETS);
	assert_in_range(b.stage[2].min_seq, 0, PACKETS - 1);
	free_stages();
}

/* Latencies between user-space times; a stage to the wire is not there. */
static void no_stage_without_its_time(void **state)
{
	(void)state;
	bench_stages(ROLE_REFLECT, SOURCE_KERNEL);
	b.channel.tx_stamps = false;
	b.channel.wire = SOURCE_KERNEL;
	SCRIPT({ 10, 0, RX, RX_ABSENT, 0 });
	assert_int_equal(bench_run("stages without transmit stamps").recorded, PACKETS);
	for (int i = 0; i < STAGES; i++)
		check_stage(i);
	assert_int_equal(b.stage[0].count + b.stage[0].negatives, PACKETS - 1);
	assert_int_equal(b.stage[1].count + b.stage[1].negatives, 0);
	assert_int_equal(b.stage[2].count, PACKETS);
	free_stages();
}

/* ---- A clock that was set ---------------------------------------------------------------------------------------- */

/* 20 us, and 1/512 of the inner time: exactly that is none yet. */
static void the_slack_of_a_step(void **state)
{
	static const struct {
		int64_t within_ns, around_ns;
		bool stepped;
	} cases[] = {
		{ 5000, 6000, false }, { 5000, 5000, false }, { 20000, -39, false }, { 20000, -40, true },
		{ 20479, 440, false }, { 20479, 439, true }, { 20480, 440, false }, { 20480, 439, true },
		{ NS_PER_MS, NS_PER_MS - 20000 - 1953, false }, { NS_PER_MS, NS_PER_MS - 20000 - 1954, true },
		{ 0, -20000, false }, { 0, -20001, true }, { NS_PER_S, NS_PER_S, false },
			{ NS_PER_S, 2 * NS_PER_S, false },
		{ NS_PER_S, -NS_PER_S, true }, { -NS_PER_S, NS_PER_S, false },
		/* 2000 ppm in a second is more than clocks are off, 1 ms more is not. */
		{ NS_PER_S, NS_PER_S - 1900 * NS_PER_US, false }, { NS_PER_S, NS_PER_S - 2900 * NS_PER_US, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (unsigned remote = 0; remote < 1 << TIMES; remote++) {
			/* The outer two and the inner two are of clocks that are far apart. */
			struct sample s = { .time_ns = { 1700 * NS_PER_S, 37, 37 + cases[i].within_ns,
							 1700 * NS_PER_S + cases[i].around_ns } };

			for (int t = 0; t < TIMES; t++)
				s.source[t] = remote & 1u << t ? SOURCE_USER : SOURCE_NONE;
			if (sample_is_stepped(&s, 0) != (cases[i].stepped && remote == (1 << TIMES) - 1))
				fail_msg("case %zu with times %x", i, remote);
		}
	}
}

static struct fake_event step_event = { .first = 10, .fault = STEP };

static struct fake_account run_with_step(enum role role, int64_t step_ns, bool check)
{
	bench_start(role, SOURCE_HARDWARE);
	b.options.no_step_check = !check;
	step_event.argument = step_ns;
	bench_script(&step_event, 1);
	return bench_run("a step");
}

/* The last step within normal drift; time is virtual, so it repeats in the next run. */
static int64_t largest_unseen_step(enum role role)
{
	int64_t sign = role == ROLE_EMIT ? 1 : -1, step_ns = 0;
	const struct fake_packet *p = &fake.packet[10];
	int64_t user_ns, wire_ns, within_ns, around_ns;

	run_with_step(role, 0, true);
	do {
		step_ns += sign;
		user_ns = sign * (p->rx_user_ns - p->tx_user_ns);
		wire_ns = sign * (p->rx_wire_ns - p->tx_wire_ns) + step_ns;
		within_ns = role == ROLE_EMIT ? wire_ns : user_ns;
		around_ns = role == ROLE_EMIT ? user_ns : wire_ns;
	} while (within_ns - around_ns <= 20000 + within_ns / 512);
	return step_ns - sign;
}

static void a_stepped_sample_is_counted_apart(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t sign = role == ROLE_EMIT ? 1 : -1, most_ns = largest_unseen_step(role);

		assert_in_range(sign * most_ns, 20000, 40000);
		assert_int_equal(run_with_step(role, most_ns, true).stepped, 0);
		/* At a reflector such a step makes the response negative. */
		assert_int_equal(b.histogram.count, role == ROLE_EMIT ? PACKETS : PACKETS - 1);

		struct fake_account got = run_with_step(role, most_ns + sign, true);

		assert_int_equal(got.stepped, 1);
		assert_int_equal(got.recorded, PACKETS - 1);
		assert_int_equal(got.negative, 0);
		for (uint64_t i = 0; i < log_ready(&b.log); i++)
			assert_int_not_equal(logged(i)->seq, 10);
		/* The balance needs it. */
		counter_add(&b.x.result.account.stepped, 1);
		assert_false(account_balances(&b.x.result.account, b.options.role, &b.histogram, log_offered(&b.log)));

		got = run_with_step(role, sign * NS_PER_S, false);
		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.recorded + got.negative, PACKETS);
		assert_int_equal(got.negative, role == ROLE_REFLECT);
	}
}

static void a_stepped_sample_is_no_breach(void **state)
{
	(void)state;
	for (int check = 0; check < 2; check++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.no_step_check = !check;
		b.options.threshold_ns = THRESHOLD_NS;
		SCRIPT({ 10, 0, STEP, NS_PER_MS, 0 });

		struct fake_account got = bench_run("a step above the threshold");

		assert_int_equal(got.breaches, !check);
		assert_int_equal(b.breach_calls, !check);
		assert_int_equal(b.x.result.end, check ? END_COUNT : END_BREACH);
		assert_int_equal(b.histogram.max_ns > THRESHOLD_NS, !check);
	}
}

/* In the warm-up all packets count as warm-up; without a timestamp nothing can be compared. */
static void what_is_not_looked_at_for_steps(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t step_ns = role == ROLE_EMIT ? NS_PER_S : -NS_PER_S;
		struct fake_event events[] = { { 2, 0, STEP, step_ns, 0 }, { 10, 0, STEP, step_ns, 0 },
					       { 10, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, step_ns, 0 },
					       { 12, 0, RX, RX_ABSENT, 0 } };

		bench_start(role, SOURCE_HARDWARE);
		b.options.no_step_check = false;
		b.options.warmup = 5;
		bench_script(events, COUNT_OF(events));

		struct fake_account got = bench_run("steps that do not count");

		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.warmup, 5);
	}
}

static struct fake_event set_event = { .first = 10, .fault = SET };

/* The reflector's CLOCK_REALTIME is set between its two times of user space, if these are its latency. */
static struct fake_account run_with_set(enum role role, enum source wire, int64_t set_ns, bool check)
{
	bench_start(role, wire);
	b.options.no_step_check = !check;
	b.options.threshold_ns = role == ROLE_EMIT ? OVERFLOW_NS : 0;
	set_event.argument = set_ns;
	set_event.times = wire == SOURCE_USER;
	bench_script(&set_event, 1);
	return bench_run("a clock that is set");
}

/* A forward step is neither the largest latency nor a breach; a backward step is not taken as a wrong
 * timestamp. */
static void a_sample_in_which_the_system_clock_is_set(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (enum source wire = SOURCE_USER; wire <= SOURCE_KERNEL; wire++) {
			for (int64_t set_ns = -3600 * NS_PER_S; set_ns <= 3600 * NS_PER_S; set_ns += 7200 * NS_PER_S) {
				struct fake_account got = run_with_set(role, wire, set_ns, true);

				assert_int_equal(got.stepped, 1);
				assert_int_equal(got.recorded, PACKETS - 1);
				assert_int_equal(got.negative + got.breaches, 0);
				assert_true(b.histogram.max_ns < OVERFLOW_NS);
				for (uint64_t i = 0; i < log_ready(&b.log); i++)
					assert_int_not_equal(logged(i)->seq, 10);

				got = run_with_set(role, wire, set_ns, false);
				assert_int_equal(got.stepped, 0);
				assert_int_equal(got.negative, set_ns < 0);
				assert_int_equal(got.breaches, role == ROLE_EMIT && set_ns > 0);
			}
		}
	}
}

/* A reflector idle until the first request, and a step before T2 of user space. */
static void a_clock_that_was_set_before_is_none(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_USER);
	b.options.no_step_check = false;
	SCRIPT({ 10, 0, SET, NS_PER_S, 0 }, { 20, 0, SET, -NS_PER_S, 0 }, { 30, 0, SET, 3 * NS_PER_S, 2 });
	assert_int_equal(bench_run("set before T2 and after T3").stepped, 0);
	assert_int_equal(b.histogram.count, PACKETS);
}

/* Latencies of all sizes and misordered timestamps are not taken as steps; nor are delays of this thread. */
static void what_is_slow_was_not_set(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_KERNEL);
		b.options.no_step_check = false;
		/* The timestamp of a reply is never available before it was taken. */
		SCRIPT({ 0, 0, LATENCY, NS_PER_MS, 0 }, { 0, 0, TX_SLOW, NS_PER_MS, 0 },
		       { 4, 0, LATENCY, 90 * NS_PER_US, 0 },
		       { 8, 0, LATENCY, 101 * NS_PER_US, 0 }, { 8, 0, TX_SLOW, 101 * NS_PER_US, 0 },
		       { 12, 0, LATENCY, 2 * NS_PER_MS, 0 }, { 12, 0, TX_SLOW, 2 * NS_PER_MS, 0 },
		       { 16, 0, LATENCY, -90 * NS_PER_US, 0 }, { 18, 0, LATENCY, TIMEOUT_NS - 200 * NS_PER_US, 0 },
		       { 18, 0, TX_SLOW, TIMEOUT_NS - 200 * NS_PER_US, 0 }, { 20, 0, TX_SLOW, NS_PER_MS, 0 },
		       { 20, 0, LATENCY, NS_PER_MS, 0 });

		struct fake_account got = bench_run("slow, but true");

		/* A reply sent before its T3_SW has another packet's timestamp. */
		assert_int_equal(got.stepped, 0);
		assert_int_equal(got.negative, role == ROLE_EMIT);
		assert_int_equal(got.stamp_unmatched, role == ROLE_REFLECT);
		assert_int_equal(got.unstamped, role == ROLE_REFLECT);
		assert_int_equal(got.recorded, PACKETS - 1);
	}
}

/* The thread was delayed between the three clock readings of a send, for 20 ms - 2 ms: differences within
 * these bounds may be that delay. Each reading takes 20 ns here. */
static void how_much_a_step_must_be(void **state)
{
	(void)state;
	for (int64_t over_ns = -1; over_ns <= 1; over_ns++) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		struct flight f = { .sent_ns = fake.now_ns - 20 * NS_PER_MS, .sent_real_ns = fake_real_ns(fake.now_ns),
				    .sent_by_ns = fake.now_ns - 2 * NS_PER_MS };

		/* That it went by no more than the longest time there was ... */
		f.sent_real_ns -= 20 * NS_PER_MS + STEP_SLACK_NS + 20 + over_ns;
		assert_int_equal(sample_was_set(&f), over_ns > 0);
		/* ... and by no less than the shortest, */
		f.sent_ns = fake.now_ns - 20 * NS_PER_MS;
		f.sent_by_ns = fake.now_ns - 2 * NS_PER_MS;
		f.sent_real_ns = fake_real_ns(fake.now_ns) - 2 * NS_PER_MS + STEP_SLACK_NS + 20 + over_ns;
		assert_int_equal(sample_was_set(&f), over_ns > 0);
		/* which is none where no clock was read since. */
		f.sent_by_ns = 0;
		f.sent_real_ns = fake_real_ns(fake.now_ns) + STEP_SLACK_NS + 40 + over_ns;
		assert_int_equal(sample_was_set(&f), over_ns > 0);
		fake_end();
	}
	assert_false(is_odd(&(struct sample){ .latency_ns = 100 * NS_PER_US }));
	assert_true(is_odd(&(struct sample){ .latency_ns = 100 * NS_PER_US + 1 }));
	assert_false(is_odd(&(struct sample){ .latency_ns = 0 }));
	assert_true(is_odd(&(struct sample){ .latency_ns = -1 }));
}

/* Samples that are neither long nor a breach are not checked. */
static void a_step_is_no_breach_of_a_low_threshold(void **state)
{
	(void)state;
	for (int64_t threshold_ns = 0; threshold_ns <= 20 * NS_PER_US; threshold_ns += 20 * NS_PER_US) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.no_step_check = false;
		b.options.threshold_ns = threshold_ns;
		SCRIPT({ 10, 0, SET, 60 * NS_PER_US, 0 });

		struct fake_account got = bench_run("a small step");

		assert_int_equal(got.stepped, threshold_ns != 0);
		assert_int_equal(b.breach_calls, 0);
		assert_int_equal(b.histogram.max_ns > 60 * NS_PER_US, threshold_ns == 0);
	}
}

/* Also steps smaller than the latency, with a network of 2 ms. */
static void a_step_of_less_than_the_latency(void **state)
{
	(void)state;
	for (int64_t set_ns = -NS_PER_MS; set_ns <= NS_PER_MS; set_ns += 2 * NS_PER_MS) {
		struct fake_event events[] = { { 0, PACKETS, LATENCY, 2 * NS_PER_MS, 0 }, { 10, 0, SET, set_ns, 0 } };

		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.no_step_check = false;
		bench_script(events, COUNT_OF(events));
		assert_int_equal(bench_run("a step of half the latency").stepped, 1);
		assert_int_equal(b.histogram.min_ns, 2 * NS_PER_MS);
		assert_int_equal(b.histogram.max_ns, 2 * NS_PER_MS);
	}
	/* At a reflector only the answer that leaves late. */
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.no_step_check = false;
	SCRIPT({ 10, 0, LATENCY, 2 * NS_PER_MS, 0 }, { 10, 0, TX_SLOW, 2 * NS_PER_MS, 0 },
	       { 10, 0, SET, -NS_PER_MS, 0 });
	assert_int_equal(bench_run("a step back of half the response").stepped, 1);
}

/* ---- Times of user space on the NIC's scale ---------------------------------------------------------------------- */

/* How far the farthest time of user space is from a moment. */
static int64_t farthest_ns(int64_t moment_ns)
{
	int64_t most_ns = 0;

	for (uint64_t n = 0; n < fake.sends; n++) {
		int64_t tx_ns = llabs(fake.packet[n].tx_user_ns - moment_ns),
				rx_ns = llabs(fake.packet[n].rx_user_ns - moment_ns);

		most_ns = tx_ns > most_ns ? tx_ns : most_ns;
		most_ns = rx_ns > most_ns ? rx_ns : most_ns;
	}
	return most_ns;
}

/* check_samples() has seen that the log holds the placed times. The relation is of the begin of the run, or of its
 * end. */
static void stages_are_right_without_synchronisation(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		enum role role = mode & 1 ? ROLE_REFLECT : ROLE_EMIT;
		int64_t at_ns = BEGIN_NS + (mode & 2 ? 500 * NS_PER_US : 0);

		bench_stages(role, SOURCE_HARDWARE);
		relate_clocks(at_ns, 100, 0.001);
		assert_int_equal(bench_run("placed").recorded, PACKETS);
		/* A reflector converts T3 of its reply too. */
		assert_int_equal(hook.converted, (role == ROLE_EMIT ? 2 : 3) * PACKETS);
		assert_int_equal(b.x.result.account.unconverted, 0);
		assert_true(b.x.flight[(b.x.next_key - 1) & b.x.flight_mask].sample.converted);
		for (int i = 0; i < STAGES && b.x.result.stage[i]; i++) {
			check_stage(i);
			if (stages_by_hand[role][i].peer || stages_by_hand[role][i].kernel)
				continue;
			assert_int_equal(b.stage[i].count, PACKETS);
			assert_true(b.stage[i].max_ns < 50 * NS_PER_US);
		}
		/* The bound grows with the distance from the relation: the largest counts, first or last. */
		assert_in_range(farthest_ns(fake_real_ns(at_ns)), 100000, NS_PER_MS);
		assert_int_equal(b.x.result.bound_ns[BOUND_LOCAL].value, 100 + farthest_ns(fake_real_ns(at_ns)) / 1000 + 2);
		free_stages();
	}
}

/* In the middle of the run, at age age_ns, the relation becomes too old. Returns the number of packets with
 * a converted time. */
static unsigned run_until_too_old(enum role role, int64_t age_ns)
{
	uint64_t unconverted = 0, in_stage[STAGES] = { 0 };
	unsigned halves = 0;

	bench_stages(role, SOURCE_HARDWARE);
	relate_clocks(BEGIN_NS + age_ns - NS_PER_S, 100, 0);
	assert_int_equal(bench_run("too old").recorded, PACKETS);
	for (uint64_t n = 0; n < fake.sends; n++) {
		const struct fake_packet *p = &fake.packet[n];
		bool tx = has_place(p->tx_user_ns), rx = has_place(p->rx_user_ns);

		unconverted += !tx || !rx;
		halves += tx != rx;
		in_stage[0] += role == ROLE_EMIT ? tx : rx;
		in_stage[1] += role == ROLE_EMIT ? rx : tx;
		in_stage[2] += role == ROLE_REFLECT && tx && rx;
	}
	assert_in_range(unconverted, 5, PACKETS - 5);
	assert_int_equal(b.x.result.account.unconverted, unconverted);
	for (int i = 0; i < STAGES; i++) {
		check_stage(i);
		assert_int_equal(b.stage[i].count + b.stage[i].negatives, in_stage[i]);
	}
	free_stages();
	return halves;
}

static void a_time_without_a_place_is_in_no_stage(void **state)
{
	unsigned halves = 0;

	(void)state;
	for (int64_t age_us = 90; age_us < 110; age_us += 2) {
		run_until_too_old(ROLE_REFLECT, age_us * NS_PER_US);
		halves += run_until_too_old(ROLE_EMIT, age_us * NS_PER_US);
	}
	assert_true(halves > 0);
}

/* Unrecorded packets need no conversion, except for their send time, against which the timestamp is
 * validated. */
static void only_what_is_recorded_is_placed(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.no_step_check = false;
	b.options.warmup = 5;
	relate_clocks(BEGIN_NS - 2 * NS_PER_S, 100, 0);
	SCRIPT({ 10, 0, LOST, 0, 0 }, { 11, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, NS_PER_S, 0 });

	struct fake_account got = bench_run("not placed");

	assert_int_equal(got.recorded, PACKETS - 3);
	assert_int_equal(hook.converted, 2 * got.recorded + got.sent - 1);
	/* One count for the sample, though both its times lack it. */
	assert_int_equal(b.x.result.account.unconverted, got.recorded);
	assert_int_equal(b.x.result.bound_ns[BOUND_LOCAL].value, 0);
}

/* Without step detection the emitter has a single user-space time. */
static void one_time_is_placed_too(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	relate_clocks(BEGIN_NS, 7, 0);
	assert_int_equal(bench_run("one time").recorded, PACKETS);
	assert_int_equal(hook.converted, PACKETS);
	assert_int_equal(b.x.result.account.unconverted, 0);
	assert_int_equal(b.x.result.bound_ns[BOUND_LOCAL].value, 7 + 2);
}

/* ---- The clock of the reflector, and counters -------------------------------------------------------------------- */

/* T3 of a reply may be of another clock than T2. */
static void the_peer_gets_t1_t2_t4_of_what_is_recorded(void **state)
{
	unsigned n = 0;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.no_step_check = false;
	b.options.warmup = 5;
	b.x.peer = &peer;
	/* The late reply arrives between another reply and its timestamp. */
	SCRIPT({ 3, 0, LOST, 0, 0 }, { 10, 0, LOST, 0, 0 }, { 11, 0, TX_NONE, 0, 0 }, { 12, 0, STEP, NS_PER_S, 0 },
	       { 14, 0, RX, RX_ABSENT, 0 }, { 16, 0, TWICE, 1, 0 }, { 18, 0, TWICE, 100 * NS_PER_US, 0 },
	       { 20, 0, LATE, 50 * NS_PER_US, 0 }, { 21, 25, TX_SLOW, 40 * NS_PER_US, 0 },
	       { 22, 0, EXTRA, EXTRA_OTHER_T1, 0 });

	struct fake_account got = bench_run("the peer");

	assert_int_equal(got.late, 1);
	assert_int_equal(got.duplicate, 2);
	assert_int_equal(got.stepped, 1);
	assert_int_equal(hook.added, got.recorded);
	assert_int_equal(log_ready(&b.log), got.recorded);
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		const struct fake_packet *p = packet_of(logged(i));
		const int64_t *ns = hook.peer_ns[n++];

		assert_int_equal(ns[0], p->tx_wire_ns);
		assert_int_equal(ns[1], p->reply.t2_ns);
		assert_int_equal(ns[2], p->reply.t2_ns);
		assert_int_equal(ns[3], p->rx_wire_ns);
	}
}

static void a_reflector_has_no_peer(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.peer = &peer;
	bench_run("the peer of a reflector");
	assert_int_equal(hook.added, 0);
}

static void counters_of_each_exchange(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.threshold_ns = THRESHOLD_NS;
		b.options.keep_going = true;
		b.x.pmc = &pmc;
		SCRIPT({ 10, 0, LATENCY, THRESHOLD_NS, 0 }, { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 },
		       { 20, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		assert_int_equal(bench_run("counters").breaches, 2);
		assert_int_equal(hook.begun, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS);
		for (unsigned n = 0; n < PACKETS; n++)
			assert_int_equal(hook.slow[n], n == 12 || n == 20);
	}
}

static void counters_without_transmit_stamps(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_USER);
		b.x.pmc = &pmc;
		assert_int_equal(bench_run("counters, user").recorded, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS);
	}
}

/* Without a threshold nothing is slow. */
static void counters_without_a_threshold(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.pmc = &pmc;
		SCRIPT({ 12, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		bench_run("counters");
		assert_int_equal(hook.accounted, PACKETS);
		for (unsigned n = 0; n < PACKETS; n++)
			assert_false(hook.slow[n]);
	}
}

static void counters_that_could_not_be_read(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.pmc = &pmc;
		hook.every = 4;
		assert_int_equal(bench_run("counters that fail").recorded, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS / 4);
	}
}

static void only_what_is_recorded_is_counted(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		int64_t step_ns = role == ROLE_EMIT ? NS_PER_S : -NS_PER_S;
		struct fake_event events[] = { { 10, 0, LOST, 0, 0 }, { 12, 0, TX_NONE, 0, 0 },
					       { 14, 0, RX, RX_ABSENT, 0 },
					       { 16, 0, STEP, step_ns, 0 }, { 18, 0, EXTRA, EXTRA_SHORT, 0 },
					       { 20, 0, SEND_ERROR, ENOBUFS, 1 } };

		bench_start(role, SOURCE_HARDWARE);
		b.options.no_step_check = false;
		b.options.warmup = 5;
		b.x.pmc = &pmc;
		bench_script(events, COUNT_OF(events));

		struct fake_account got = bench_run("counters of samples that are not recorded");

		assert_int_equal(got.stepped, 1);
		assert_int_equal(got.unstamped, 2);
		assert_int_equal(got.refused, 1);
		assert_int_equal(hook.accounted, got.recorded);
		/* Each attempted send, but not requests that a reflector does not answer. */
		assert_int_equal(hook.begun, got.sent + got.refused);
	}
}

/* Counters of two overlapping answers belong to neither. */
static void overlapping_answers_are_not_counted(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.pmc = &pmc;
	fake.open_loop_ns = 20 * NS_PER_US;
	/* Three requests arrive before the timestamp of the first answer; that of the last may end before
	 * or after it. */
	SCRIPT({ 10, 0, TX_SLOW, 50 * NS_PER_US, 0 }, { 20, 0, TX_SLOW, 25 * NS_PER_US, 0 });
	assert_int_equal(bench_run("overlapping answers").recorded, PACKETS);
	assert_int_equal(hook.begun, PACKETS);
	assert_int_equal(hook.ended, PACKETS - 2);
	assert_int_equal(hook.accounted, PACKETS - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stages_of_both_roles),
		TEST(a_stage_needs_both_times),
		TEST(every_recorded_sample_is_in_its_stages),
		TEST(the_processing_of_a_reflector_is_one_of_them),
		TEST(no_stage_without_its_time),
		TEST(the_slack_of_a_step),
		TEST(a_stepped_sample_is_counted_apart),
		TEST(a_stepped_sample_is_no_breach),
		TEST(what_is_not_looked_at_for_steps),
		TEST(a_sample_in_which_the_system_clock_is_set),
		TEST(a_clock_that_was_set_before_is_none),
		TEST(what_is_slow_was_not_set),
		TEST(how_much_a_step_must_be),
		TEST(a_step_of_less_than_the_latency),
		TEST(a_step_is_no_breach_of_a_low_threshold),
		TEST(stages_are_right_without_synchronisation),
		TEST(a_time_without_a_place_is_in_no_stage),
		TEST(only_what_is_recorded_is_placed),
		TEST(one_time_is_placed_too),
		TEST(the_peer_gets_t1_t2_t4_of_what_is_recorded),
		TEST(a_reflector_has_no_peer),
		TEST(counters_of_each_exchange),
		TEST(counters_without_transmit_stamps),
		TEST(counters_without_a_threshold),
		TEST(counters_that_could_not_be_read),
		TEST(only_what_is_recorded_is_counted),
		TEST(overlapping_answers_are_not_counted),
	};

	util_seed();
	return cmocka_run_group_tests_name("stages_of_role", tests, NULL, bench_free);
}
