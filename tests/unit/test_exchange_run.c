/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The run of both loops: how it begins and ends, silence, thresholds, and the breaches that are kept. */
#include "exchange_bench.h"

/* ---- Warm-up, count, duration ------------------------------------------------------------------------------------ */

static void count_is_exact(void **state)
{
	static const struct fake_event faults[] = {
		{ 1, 0, LOST, 0, 0 }, { 7, 0, TX_NONE, 0, 0 }, { 8, 0, LOST, 0, 0 }, { 9, 0, RX, RX_ABSENT, 0 },
		{ 10, 0, LATENCY, -1, 0 },
	};

	(void)state;
	/* Emit: the loss in the warm-up is made good, those after it count. */
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.count = 10;
	bench_script(faults, COUNT_OF(faults));
	struct fake_account got = bench_run("emit, count 10");

	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(got.sent, 16);
	assert_int_equal(got.warmup, 5);
	assert_int_equal(got.lost, 2);
	assert_int_equal(got.recorded, 6);
	/* Each recorded sample is among the slowest, at its first timestamp. */
	assert_int_equal(b.x.result.spikes.count, 6);
	assert_int_equal(b.x.result.spikes.ordinary_ns[0], b.x.result.spikes.first_ns);
	assert_true(b.x.result.spikes.last_ns > b.x.result.spikes.first_ns);

	/* Reflector: packets that never arrived were never counted. */
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.count = 10;
	bench_script(faults, COUNT_OF(faults));
	got = bench_run("reflect, count 10");
	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(got.sent, 15);
	assert_int_equal(got.warmup, 5);
	assert_int_equal(got.recorded, 7);
}

static void count_without_warmup(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (int count = 1; count < 4; count++) {
			bench_start(role, SOURCE_HARDWARE);
			b.options.count = count;
			assert_int_equal(bench_run("count").recorded, count);
			assert_int_equal(b.x.result.end, END_COUNT);
		}
	}
}

static void warmup_is_not_in_the_numbers(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.warmup = 10;
		b.options.count = 30;
		b.options.threshold_ns = 50 * NS_PER_US;
		SCRIPT({ 0, 9, LATENCY, 90 * NS_PER_US, 0 }, { 5, 0, TX_NONE, 0, 0 }, { 6, 0, RX, RX_ABSENT, 0 });

		struct fake_account got = bench_run("warm-up");

		assert_int_equal(got.warmup, 10);
		assert_int_equal(got.recorded, 30);
		assert_int_equal(got.breaches + got.missing_tx + got.missing_rx, 0);
		assert_int_equal(b.breach_calls, 0);
		assert_true(b.histogram.max_ns < 10 * NS_PER_US);
		assert_int_equal(logged(0)->seq, 10);
	}
}

static void duration_begins_after_the_warmup(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = 5;
	b.options.duration_ns = 20 * NS_PER_MS;
	SCRIPT({ 2, 4, LOST, 0, 0 });
	bench_run("duration");
	assert_int_equal(b.x.result.end, END_DURATION);
	/* Five answered, three lost: the ninth probe begins the run. */
	assert_true(b.x.result.began_ns > fake.packet[7].sent_ns && b.x.result.began_ns <= fake.packet[8].sent_ns);
	assert_true(b.x.result.ended_ns - b.x.result.began_ns >= b.options.duration_ns);
	assert_true(b.x.result.ended_ns - b.x.result.began_ns < b.options.duration_ns + 2 * TIMEOUT_NS);

	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.warmup = 5;
	b.options.duration_ns = 20 * NS_PER_MS;
	fake.packets = 1000;
	fake.open_loop_ns = 100 * NS_PER_US;
	SCRIPT({ 0, 99, LOST, 0, 0 });
	bench_run("duration");
	assert_int_equal(b.x.result.end, END_DURATION);
	/* The first ping that is answered begins the run. */
	assert_true(b.x.result.began_ns >= fake.packet[0].sent_ns && b.x.result.began_ns < fake.packet[1].sent_ns);
	assert_true(b.x.result.ended_ns - b.x.result.began_ns >= b.options.duration_ns);
	assert_true(b.x.result.ended_ns - b.x.result.began_ns < b.options.duration_ns + TIMEOUT_NS);
}

static void a_warmup_longer_than_the_duration(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = 100;
	b.options.duration_ns = 20 * NS_PER_MS;
	SCRIPT({ 0, FAKE_PACKETS, LATENCY, NS_PER_MS, 0 });
	assert_int_equal(bench_run("a long warm-up").warmup, 100);
	assert_in_range(b.x.result.account.recorded, 18, 20);
	assert_in_range(b.x.result.ended_ns - b.x.result.began_ns, 20 * NS_PER_MS, 22 * NS_PER_MS);
}

static void a_reflector_that_hears_nothing_goes_on(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.duration_ns = NS_PER_MS;
	b.options.once = true;
	fake.packets = 0;
	fake.idle_stop_ns = 5 * NS_PER_S;
	bench_run("no emitter");
	assert_int_equal(b.x.result.end, END_SIGNAL);
	assert_int_equal(b.x.result.account.sent, 0);
}

/* ---- A reflector to which nothing comes -------------------------------------------------------------------------- */

#define REQUESTS 5

static void idle(enum source wire, bool spin, int64_t gap_ns)
{
	bench_start(ROLE_REFLECT, wire);
	b.options.spin = spin;
	fake.packets = REQUESTS;
	fake.gap_ns = gap_ns;
	fake.idle_stop_ns = gap_ns + NS_PER_S;
	bench_run(spin ? "idle, spinning" : "idle");
	assert_int_equal(b.x.result.account.answered, REQUESTS);
	assert_int_equal(b.x.result.end, END_SIGNAL);
}

/* Asleep it reads no clock and asks for nothing, but once a second. */
static void a_reflector_sleeps_when_nothing_comes(void **state)
{
	(void)state;
	for (enum source wire = SOURCE_USER; wire <= SOURCE_HARDWARE; wire++) {
		idle(wire, false, 5 * NS_PER_S);
		assert_int_equal(b.x.result.account.woken, REQUESTS);
		assert_true(b.x.result.woken_slowest_ns.value > 0);
		assert_in_range(b.x.result.woken_slowest_seq, 0, REQUESTS - 1);
		assert_in_range(fake.slept_ns, (4 * REQUESTS + 4) * NS_PER_S, (4 * REQUESTS + 6) * NS_PER_S);
		assert_in_range(fake.poll_calls, 4 * REQUESTS + 4, 5 * REQUESTS + 9);
		assert_int_equal(fake.poll_events, POLLIN);
		assert_int_equal(fake.poll_limit_ns, NS_PER_S);
		/* Packets in time find it polling; with --spin packets at any time. */
		idle(wire, false, 900 * NS_PER_MS);
		assert_int_equal(b.x.result.account.woken, 0);
		assert_true(fake.slept_ns <= NS_PER_S);
		idle(wire, true, 2 * NS_PER_S);
		assert_int_equal(b.x.result.account.woken, 0);
		assert_int_equal(fake.slept_ns, 0);
		assert_false(b.x.result.woken_slowest_ns.known);
	}
}

/* A wake-up by an unanswered packet is not counted, nor is the answer after it. */
static void what_wakes_it_may_be_no_request(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	fake.packets = 4;
	fake.gap_ns = 2 * NS_PER_S;
	fake.idle_stop_ns = 6 * NS_PER_S;
	SCRIPT({ 2, 0, LOST, 0, 0 }, { 2, 0, EXTRA, EXTRA_SHORT, 0 });
	assert_int_equal(bench_run("something else wakes it").malformed, 1);
	assert_int_equal(b.x.result.account.answered, 3);
	assert_int_equal(b.x.result.account.woken, 3);
}

/* Nor does it sleep longer than it is to run. */
static void the_end_comes_in_its_sleep(void **state)
{
	const uint32_t packets = 20; /* more than the probes that make an emitter */

	(void)state;
	for (int once = 0; once < 2; once++) {
		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		fake.packets = packets;
		fake.idle_stop_ns = 20 * NS_PER_S;
		b.options.once = once;
		b.options.once_silence_ns = 2345 * NS_PER_MS;
		b.options.duration_ns = once ? 0 : 5432 * NS_PER_MS;
		bench_run("an end in its sleep");
		assert_int_equal(b.x.result.end, once ? END_ONCE : END_DURATION);
		assert_in_range(fake.now_ns - fake.packet[once ? packets - 1 : 0].sent_ns,
				once ? 2345 * NS_PER_MS : 5432 * NS_PER_MS,
				(once ? 2345 : 5432) * NS_PER_MS + NS_PER_MS);
		assert_in_range(fake.poll_calls, 2, 10);
	}
}

/* ---- Silence ----------------------------------------------------------------------------------------------------- */

static void silence(const struct fake_event *events, size_t n, int64_t warmup)
{
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.warmup = warmup;
	b.options.timeout_ns = 100 * NS_PER_MS;
	b.options.duration_ns = 8 * NS_PER_S;
	bench_script(events, n);
	bench_run("silence");
}

static void check_silence_reported_once(void)
{
	assert_int_equal(b.silence_calls, 1);
	assert_true(b.silence_ns - 1000 * NS_PER_S >= 3 * NS_PER_S);
	assert_true(b.silence_ns - 1000 * NS_PER_S < 3 * NS_PER_S + 300 * NS_PER_MS);
	assert_int_equal(b.x.result.end, END_DURATION);
	assert_true(b.x.result.ended_ns - 1000 * NS_PER_S < 8 * NS_PER_S + 300 * NS_PER_MS);
}

static void a_peer_that_never_answers(void **state)
{
	static const struct fake_event lost[] = { { 0, FAKE_PACKETS, LOST, 0, 0 } };
	static const struct fake_event refused_sends[] = { { 0, FAKE_PACKETS, SEND_ERROR, ECONNREFUSED, UINT_MAX } };
	static const struct fake_event garbage[] = { { 0, FAKE_PACKETS, LOST, 0, 0 },
						     { 0, FAKE_PACKETS, EXTRA, EXTRA_SHORT, 0 } };

	(void)state;
	for (int64_t warmup = 0; warmup <= 100; warmup += 100) {
		silence(lost, COUNT_OF(lost), warmup);
		check_silence_reported_once();
		assert_int_equal(b.x.result.account.lost, b.x.result.account.sent);
		silence(refused_sends, COUNT_OF(refused_sends), warmup);
		check_silence_reported_once();
		assert_int_equal(b.x.result.account.sent, 0);
		assert_true(b.x.result.account.refused >= 70 && b.x.result.account.refused <= 81);
		silence(garbage, COUNT_OF(garbage), warmup);
		check_silence_reported_once();
	}
}

/* A long timeout must not keep the run from ending, nor the warning from coming. */
static void a_long_timeout(void **state)
{
	(void)state;
	for (int is_refused = 0; is_refused < 2; is_refused++) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.count = 0;
		b.options.timeout_ns = 60 * NS_PER_S;
		b.options.duration_ns = 5 * NS_PER_S;
		fake.cut_short = true;
		if (is_refused)
			SCRIPT({ 0, FAKE_PACKETS, SEND_ERROR, ENOBUFS, UINT_MAX });
		else
			SCRIPT({ 0, FAKE_PACKETS, LOST, 0, 0 });

		struct fake_account got = bench_run("a long timeout");

		assert_int_equal(b.x.result.end, END_DURATION);
		assert_in_range(b.x.result.ended_ns - b.x.result.began_ns, 5 * NS_PER_S,
				5 * NS_PER_S + 300 * NS_PER_MS);
		assert_int_equal(b.silence_calls, 1);
		assert_in_range(b.silence_ns - 1000 * NS_PER_S, 3 * NS_PER_S, 3 * NS_PER_S + 100 * NS_PER_MS);
		assert_int_equal(got.unfinished, !is_refused);
		assert_int_equal(got.lost, 0);
		assert_in_range(got.refused, is_refused ? 40 : 0, is_refused ? 60 : 0);
	}
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.timeout_ns = 60 * NS_PER_S;
	SCRIPT({ 10, 0, TX_NONE, 0, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("a long timeout, reflect").unstamped, 1);
	assert_true(fake.now_ns - fake.stop_at_ns < NS_PER_S);
}

static void a_peer_that_answers_is_not_silent(void **state)
{
	static const struct fake_event late_start[] = { { 0, 35, LOST, 0, 0 },
							{ 36, FAKE_PACKETS, LATENCY, 2 * NS_PER_MS, 0 } };
	static const struct fake_event stops[] = { { 1, FAKE_PACKETS, LOST, 0, 0 } };

	(void)state;
	silence(late_start, COUNT_OF(late_start), 3);
	assert_int_equal(b.silence_calls, 1);
	assert_int_equal(b.x.result.account.lost, 36);
	assert_int_equal(b.x.result.account.warmup, 3);
	assert_true(b.x.result.account.recorded > 1000);
	silence(stops, COUNT_OF(stops), 0);
	assert_int_equal(b.silence_calls, 0);
	assert_int_equal(b.x.result.end, END_DURATION);
	/* In the warm-up too. */
	silence(stops, COUNT_OF(stops), 5);
	assert_int_equal(b.silence_calls, 0);
	assert_int_equal(b.x.result.end, END_DURATION);
	assert_int_equal(b.x.result.account.warmup, 1);
}

#define LOST_0_NS (1097 * NS_PER_MS)
#define LOST_400_NS (1075 * NS_PER_MS)

static void more_losses_than_are_remembered(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.timeout_ns = NS_PER_MS;
	b.options.count = 1600;
	/* Each loss takes a little more than the timeout: some ten more than are remembered, and some ten fewer. */
	SCRIPT({ 0, 0, LATE, LOST_0_NS, 0 }, { 1, 399, LOST, 0, 0 }, { 400, 0, LATE, LOST_400_NS, 0 },
	       { 401, 1500, LOST, 0, 0 });

	struct fake_account got = bench_run("many losses");

	assert_int_equal(got.lost, 1501);
	assert_int_equal(got.late, 1);
	assert_int_equal(got.duplicate, 1);
	assert_int_equal(got.recorded, 99);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void a_stop_in_the_middle_of_an_exchange(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, LATENCY, 80 * NS_PER_US, 0 }, { 10, 0, STOP, 20 * NS_PER_US, 0 });

	struct fake_account got = bench_run("stop before the reply");

	assert_int_equal(b.x.result.end, END_SIGNAL);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.answered, 10);
	assert_int_equal(got.recorded, 10);
	assert_true(b.x.result.ended_ns - fake.packet[10].sent_ns < 100 * NS_PER_US);

	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_SLOW, 900 * NS_PER_US, 0 }, { 10, 0, STOP, 100 * NS_PER_US, 0 });
	got = bench_run("stop before the stamp");
	assert_int_equal(b.x.result.end, END_SIGNAL);
	assert_int_equal(got.unfinished, 1);
	assert_int_equal(got.answered, 11);

	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 9, 0, STOP, 200 * NS_PER_US, 0 }, { 10, 0, SEND_ERROR, ENOBUFS, UINT_MAX });
	got = bench_run("stop while sends are refused");
	assert_int_equal(b.x.result.end, END_SIGNAL);
	assert_int_equal(got.sent, 10);
	assert_int_equal(got.unfinished, 0);
}

static void a_stop_before_the_run(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.stop = 1;
		fake.packets = 0;
		assert_int_equal(bench_run("stopped").sent, 0);
		assert_int_equal(b.x.result.end, END_SIGNAL);
	}
}

static void a_reflector_waits_for_its_last_stamps(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_SLOW, 3 * NS_PER_MS, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("stop, a stamp on its way").unstamped, 0);
	assert_int_equal(b.x.result.end, END_SIGNAL);

	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TX_NONE, 0, 0 }, { 10, 0, STOP, 1, 0 });
	assert_int_equal(bench_run("stop, a stamp missing").unstamped, 1);
	assert_true(fake.now_ns - fake.stop_at_ns < TIMEOUT_NS + 2 * NS_PER_MS);
}

/* The emitter continues, unaware that the reflector is about to end. Its probes must not keep the task from
 * sleeping, without which some drivers deliver no timestamp (kernel-timestamping, section 8). */
static void a_reflector_sleeps_for_its_last_stamps(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.options.count = 10;
	fake.open_loop_ns = 20 * NS_PER_US;
	SCRIPT({ 9, 0, TX_ASLEEP, 0, 0 });

	struct fake_account got = bench_run("count, requests in the queue, a stamp only while asleep");

	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(got.sent, 10);
	assert_true(fake.sleeps > 0);
	assert_int_equal(got.recorded, 10);
}

/* ---- The start --------------------------------------------------------------------------------------------------- */

static void the_start_is_reported_before_the_first_probe(void **state)
{
	(void)state;
	for (int64_t warmup = 0; warmup < 4; warmup++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.x.on_start = on_start;
		b.options.warmup = warmup;
		bench_run("start, emit");
		assert_int_equal(b.start_calls, 1);
		assert_int_equal(b.sends_at_start, warmup);
		assert_true(b.started_ns < fake.packet[warmup].sent_ns);
		/* The hook's time is not part of the duration. */
		assert_true(b.x.result.began_ns > b.started_ns);
	}
}

static void the_start_is_reported_after_the_first_reply(void **state)
{
	(void)state;
	for (int64_t warmup = 0; warmup < 4; warmup++) {
		for (int stamps = 0; stamps < 2; stamps++) {
			bench_start(ROLE_REFLECT, stamps ? SOURCE_HARDWARE : SOURCE_USER);
			b.x.on_start = on_start;
			b.options.warmup = warmup;
			bench_run("start, reflect");
			assert_int_equal(b.start_calls, 1);
			assert_int_equal(b.sends_at_start, warmup + 1);
			assert_true(b.started_ns >= fake.packet[warmup].sent_ns);
			assert_true(b.started_ns < fake.packet[warmup + 1].sent_ns);
		}
	}
}

static void the_warmup_ends_by_answers_not_by_probes(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	b.options.warmup = 3;
	SCRIPT({ 1, 2, LOST, 0, 0 });
	bench_run("start, losses in the warm-up");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 5);
}

static void a_refused_send_is_no_second_start(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	b.options.warmup = 2;
	SCRIPT({ 2, 0, SEND_ERROR, ENOBUFS, 3 });
	bench_run("start, refused");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 2);

	/* A reply that the kernel did not take was not measured. */
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	SCRIPT({ 0, 1, SEND_ERROR, ENOBUFS, 1 });
	bench_run("start, refused");
	assert_int_equal(b.start_calls, 1);
	assert_int_equal(b.sends_at_start, 1);
}

static void no_start_where_nothing_is_measured(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.on_start = on_start;
		b.options.warmup = 2 * PACKETS;
		b.options.count = 0;
		if (role == ROLE_EMIT)
			b.options.duration_ns = 20 * NS_PER_MS;
		SCRIPT({ 5, FAKE_PACKETS, LOST, 0, 0 });
		bench_run("all warm-up");
		assert_int_equal(b.start_calls, 0);
	}
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.x.on_start = on_start;
	SCRIPT({ 0, PACKETS, LOST, 0, 0 });
	bench_run("nobody asks");
	assert_int_equal(b.start_calls, 0);
}

/* ---- Threshold --------------------------------------------------------------------------------------------------- */

static void bench_threshold(enum role role, bool keep_going)
{
	bench_start(role, SOURCE_HARDWARE);
	b.options.threshold_ns = THRESHOLD_NS;
	b.options.keep_going = keep_going;
	b.options.sw_timestamps = true;
	SCRIPT({ 8, 0, LATENCY, -THRESHOLD_NS - 5, 0 }, { 10, 0, LATENCY, THRESHOLD_NS, 0 },
	       { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 }, { 14, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
}

static void check_breach_sample(const struct sample *s)
{
	bool emit = b.options.role == ROLE_EMIT;
	const struct fake_packet *p = &fake.packet[12];

	assert_int_equal(s->seq, 12);
	assert_int_equal(s->latency_ns, THRESHOLD_NS + 1);
	assert_int_equal(s->time_ns[emit ? EMIT_T1_WIRE : REFLECT_T3_WIRE], p->tx_wire_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T4_WIRE : REFLECT_T2_WIRE], p->rx_wire_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T1_USER : REFLECT_T3_USER], p->tx_user_ns);
	assert_int_equal(s->time_ns[emit ? EMIT_T4_USER : REFLECT_T2_USER], p->rx_user_ns);
	for (int i = 0; i < TIMES; i++)
		assert_int_not_equal(s->source[i], SOURCE_NONE);
}

static void a_breach_ends_the_run(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_threshold(role, false);

		struct fake_account got = bench_run("threshold");

		assert_int_equal(b.x.result.end, END_BREACH);
		/* exactly at the threshold is not a breach, negative even less */
		assert_int_equal(got.sent, 13);
		assert_int_equal(got.breaches, 1);
		assert_int_equal(b.breach_calls, 1);
		check_breach_sample(&b.x.result.breach);
		check_breach_sample(&b.first_breach);
		/* Evidence first: it was not yet in the histogram or the log. An earlier sample was
		 * negative. */
		assert_int_equal(b.recorded_at_breach, 11);
		assert_int_equal(b.logged_at_breach, 11);
		assert_int_equal(got.recorded, 12);
	}
}

static void continue_counts_all_breaches(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_threshold(role, true);

		struct fake_account got = bench_run("threshold, continue");

		assert_int_not_equal(b.x.result.end, END_BREACH);
		assert_int_equal(got.sent, PACKETS);
		assert_int_equal(got.breaches, 2);
		assert_int_equal(b.breach_calls, 2);
		check_breach_sample(&b.x.result.breach);
		assert_int_equal(got.recorded, PACKETS - 1);
	}
}

static void a_breach_without_a_hook(void **state)
{
	(void)state;
	bench_threshold(ROLE_EMIT, false);
	b.x.on_breach = NULL;
	assert_int_equal(bench_run("no hook").breaches, 1);
	assert_int_equal(b.x.result.end, END_BREACH);
}

static void the_log_threshold(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.options.log_threshold_ns = THRESHOLD_NS;
		SCRIPT({ 10, 0, LATENCY, THRESHOLD_NS, 0 }, { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 },
		       { 14, 0, LATENCY, 3 * OVERFLOW_NS, 0 });
		assert_int_equal(bench_run("log threshold").recorded, PACKETS);
		assert_int_equal(log_ready(&b.log), 2);
		assert_int_equal(logged(0)->seq, 12);
		assert_int_equal(logged(1)->seq, 14);
	}
}

static void no_log_and_a_full_log(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_HARDWARE);
		b.x.log = NULL;
		assert_int_equal(bench_run("no log").recorded, PACKETS);

		bench_start(role, SOURCE_HARDWARE);
		b.options.log_threshold_ns = 1; /* so that the records are not compared with all */
		log_assign(&b.log, b.record, 7, false, role == ROLE_REFLECT);
		assert_int_equal(bench_run("a full log").recorded, PACKETS);
		assert_int_equal(log_ready(&b.log), 7);
		assert_int_equal(b.log.left_out, PACKETS - 7);
	}
}

static void the_recent_maximum(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	SCRIPT({ 12, 0, LATENCY, 77777, 0 });
	bench_run("recent maximum");
	assert_int_equal(b.x.result.account.recent_max_ns, 77777);
	assert_int_equal(b.histogram.max_ns, 77777);
	assert_int_equal(b.histogram.max_seq, 12);
}

/* ---- A probe on the link ----------------------------------------------------------------------------------------- */

static void the_length_of_a_probe_on_its_link(void **state)
{
	static const struct transport udp_ipv4 = { .header_bytes = 20 + 8 };
	static const struct packet_plan plain = { .ssid = 0 };

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.channel->transport = &udp_ipv4;
	b.x.plan = &plain;
	exchange_note_wire(&b.x, 0);
	assert_int_equal(b.x.result.wire.frame_bytes, 0); /* not known */
	exchange_note_wire(&b.x, 1000);
	assert_int_equal(b.x.result.wire.speed_mbps, 1000);
	assert_int_equal(b.x.result.wire.frame_bytes, 14 + 28 + STAMP_BASE_BYTES + 4); /* with the frame check sequence */
	assert_int_equal(b.x.result.wire.probe_ns, (90 + 8 + 12) * 8);
}

/* ---- The ring of breaches ---------------------------------------------------------------------------------------- */

static int64_t latency_of(uint64_t n)
{
	return n == 70 ? 9000 : 100 + (int64_t)(n * 37 % 1000);
}

static void note(uint64_t n)
{
	struct flight f = { .sample = { .seq = (uint32_t)(5000 + n), .latency_ns = latency_of(n) } };

	sample_freeze(&b.x, &f);
	assert_true(f.breach);
	breach_note(&b.x.result, &f.sample);
}

static void the_newest_breaches_can_be_read_in_any_order(void **state)
{
	enum { MOST = 3 * BREACHES_KEPT };
	struct sample s;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.keep_going = true;
	for (uint64_t n = 0; n < MOST; n++) {
		note(n);
		assert_int_equal(counter_get(&b.x.result.account.breaches), n + 1);
		for (uint64_t i = 0; i <= n; i++) {
			/* The oldest entry may be in the middle of a write. */
			bool remote = n + 1 - i < BREACHES_KEPT;

			assert_int_equal(breach_read(&b.x.result, i, &s), remote);
			if (remote) {
				assert_int_equal(s.seq, 5000 + i);
				assert_int_equal(s.latency_ns, latency_of(i));
			}
		}
	}
	assert_int_equal(b.breach_calls, MOST);
}

/* A sample as it was at its breach: a timestamp of the NIC, times of user space and kernel, times of the other host. */
static struct sample breached(uint32_t seq)
{
	return (struct sample){ .seq = seq, .source = { [EMIT_T1_USER] = SOURCE_USER, [EMIT_T1_WIRE] = SOURCE_HARDWARE,
							[REMOTE + REFLECT_T2_USER] = SOURCE_USER,
							[KERNEL_RECEIVE] = SOURCE_KERNEL,
							[REMOTE_KERNEL_RECEIVE] = SOURCE_KERNEL } };
}

static void a_breach_is_completed_from_its_kept_sample(void **state)
{
	struct sample s;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.keep_going = true;
	b.x.result.converted = true;
	for (uint64_t n = 0; n < 2 * BREACHES_KEPT; n++)
		note(n);
	s = breached(5000 + 2 * BREACHES_KEPT - 3);
	breach_complete(&b.x.result, &s);
	assert_int_equal(s.latency_ns, latency_of(2 * BREACHES_KEPT - 3));

	s = breached(5000); /* overwritten: times that may not be converted yet are removed */
	breach_complete(&b.x.result, &s);
	assert_int_equal(s.latency_ns, 0);
	assert_int_equal(s.source[EMIT_T1_WIRE], SOURCE_HARDWARE);
	assert_int_equal(s.source[EMIT_T1_USER], SOURCE_NONE);
	assert_int_equal(s.source[KERNEL_RECEIVE], SOURCE_NONE);
	assert_int_equal(s.source[REMOTE + REFLECT_T2_USER], SOURCE_USER);
	assert_int_equal(s.source[REMOTE_KERNEL_RECEIVE], SOURCE_KERNEL);

	s = breached(5000); /* as at the breach of the other host */
	s.converted = true;
	breach_complete(&b.x.result, &s);
	assert_int_equal(s.source[EMIT_T1_USER], SOURCE_USER);
	assert_int_equal(s.source[KERNEL_RECEIVE], SOURCE_KERNEL);

	b.x.result.converted = false;
	s = breached(5000);
	breach_complete(&b.x.result, &s);
	assert_int_equal(s.source[EMIT_T1_USER], SOURCE_USER);
	assert_int_equal(s.source[KERNEL_RECEIVE], SOURCE_KERNEL);
}

static void the_first_and_the_worst_breach_are_kept(void **state)
{
	int64_t worst_ns = 0;

	(void)state;
	bench_start(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.keep_going = true;
	for (uint64_t n = 0; n < 3 * BREACHES_KEPT; n++) {
		note(n);
		worst_ns = latency_of(n) > worst_ns ? latency_of(n) : worst_ns;
		assert_int_equal(b.x.result.breach.seq, 5000);
		assert_int_equal(b.x.result.worst.latency_ns, worst_ns);
	}
	assert_int_equal(b.x.result.worst.seq, 5070);

	/* The earlier of two equal samples. */
	b.x.result.worst.latency_ns = latency_of(5);
	b.x.result.worst.seq = 1;
	note(5);
	assert_int_equal(b.x.result.worst.seq, 1);
}

/* A hook that looks at everything that may come only after it. */
static void on_breach_comes_first(void *context, const struct sample *s)
{
	const struct exchange *x = context;
	const struct sample none = { .seq = 0 };

	assert_ptr_equal(x, &b.x);
	assert_int_equal(s->seq, 12);
	b.breach_calls++;
	assert_int_equal(counter_get(&x->result.account.breaches), 0);
	assert_memory_equal(&x->result.breach, &none, sizeof(none));
	assert_memory_equal(&x->result.worst, &none, sizeof(none));
	assert_memory_equal(&x->result.kept[0], &none, sizeof(none));
	assert_int_equal(x->result.end, END_NOT_YET);
	/* The eighth was negative. */
	assert_int_equal(x->result.histogram->count, 11);
	assert_int_equal(counter_get(&x->result.account.recorded), 11);
	assert_int_equal(log_ready(&b.log), 11);
	assert_true(x->result.account.recent_max_ns <= THRESHOLD_NS);
	for (int i = 0; i < STAGES && x->result.stage[i]; i++)
		if (!stages_by_hand[x->options->role][i].peer && !stages_by_hand[x->options->role][i].kernel)
			assert_int_equal(x->result.stage[i]->count + x->result.stage[i]->negatives, 11);
	/* Nor was another packet sent. */
	assert_int_equal(fake.sends, 13);
}

static void the_hook_comes_before_all_else(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_stages(role, SOURCE_KERNEL);
		b.options.threshold_ns = THRESHOLD_NS;
		b.x.on_breach = on_breach_comes_first;
		b.x.context = &b.x;
		SCRIPT({ 8, 0, LATENCY, -THRESHOLD_NS - 5, 0 }, { 10, 0, LATENCY, THRESHOLD_NS, 0 },
		       { 12, 0, LATENCY, THRESHOLD_NS + 1, 0 });
		bench_run("the hook first");
		assert_int_equal(b.breach_calls, 1);
		assert_int_equal(b.x.result.end, END_BREACH);
		assert_int_equal(b.x.result.kept[0].seq, 12);
		free_stages();
	}
}

/* The trace marker can convert the times by the clocks itself, and must not wait for them. */
static void the_hook_gets_the_times_as_they_were_read(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		const struct fake_packet *p = &fake.packet[12];
		const unsigned tx = role == ROLE_EMIT ? EMIT_T1_USER : REFLECT_T3_USER;
		const unsigned rx = role == ROLE_EMIT ? EMIT_T4_USER : REFLECT_T2_USER;

		bench_threshold(role, false);
		relate_clocks(BEGIN_NS, 100, 0);
		assert_int_equal(bench_run("a breach, placed").breaches, 1);
		check_breach_sample(&b.first_breach);

		const struct sample *kept[] = { &b.x.result.breach, &b.x.result.worst, &b.x.result.kept[0] };
		const int64_t apart_ns = fake_wire_ns(0) - fake_real_ns(0);

		for (size_t i = 0; i < COUNT_OF(kept); i++) {
			assert_int_equal(kept[i]->seq, 12);
			assert_int_equal(kept[i]->time_ns[tx], p->tx_user_ns + apart_ns);
			assert_int_equal(kept[i]->time_ns[rx], p->rx_user_ns + apart_ns);
		}
	}
}

/* ---- By the clock ------------------------------------------------------------------------------------------------ */

#define SLOT_NS NS_PER_MS
#define TURN_NS (10 * NS_PER_US) /* maximum duration of a waiting loop's iteration */

static void probes_leave_in_their_slots(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.interval_ns = SLOT_NS;
	b.options.pacing = PACING_SPIN;
	fake.idle_ns_max = TURN_NS / 2;
	/* A lost probe covers the slots of its timeout, a slow probe those of its round trip. */
	SCRIPT({ 10, 0, LOST, 0, 0 }, { 20, 0, LATENCY, 2500 * NS_PER_US, 0 });
	bench_run("by the clock");
	for (unsigned n = 1, slot = 1; n < PACKETS; n++, slot++) {
		const int64_t at_ns = fake.packet[n].sent_ns - fake.packet[0].sent_ns;

		slot += n == 11 ? TIMEOUT_NS / SLOT_NS - 1 : n == 21 ? 1 : 0;
		assert_true(at_ns >= slot * SLOT_NS - TURN_NS);
		assert_true(at_ns <= slot * SLOT_NS + (n == 11 || n == 21 ? SLOT_NS : TURN_NS));
	}
	assert_int_equal(counter_get(&b.x.pace.missed), TIMEOUT_NS / SLOT_NS - 1 + 1);
	assert_int_equal(counter_get(&b.x.pace.slots), PACKETS + counter_get(&b.x.pace.missed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(probes_leave_in_their_slots),
		TEST(count_is_exact),
		TEST(count_without_warmup),
		TEST(warmup_is_not_in_the_numbers),
		TEST(duration_begins_after_the_warmup),
		TEST(a_reflector_that_hears_nothing_goes_on),
		TEST(a_reflector_sleeps_when_nothing_comes),
		TEST(what_wakes_it_may_be_no_request),
		TEST(the_end_comes_in_its_sleep),
		TEST(a_warmup_longer_than_the_duration),
		TEST(a_peer_that_never_answers),
		TEST(a_long_timeout),
		TEST(a_peer_that_answers_is_not_silent),
		TEST(more_losses_than_are_remembered),
		TEST(a_stop_in_the_middle_of_an_exchange),
		TEST(a_stop_before_the_run),
		TEST(a_reflector_waits_for_its_last_stamps),
		TEST(a_reflector_sleeps_for_its_last_stamps),
		TEST(a_breach_ends_the_run),
		TEST(continue_counts_all_breaches),
		TEST(a_breach_without_a_hook),
		TEST(the_log_threshold),
		TEST(no_log_and_a_full_log),
		TEST(the_recent_maximum),
		TEST(the_start_is_reported_before_the_first_probe),
		TEST(the_start_is_reported_after_the_first_reply),
		TEST(the_warmup_ends_by_answers_not_by_probes),
		TEST(a_refused_send_is_no_second_start),
		TEST(no_start_where_nothing_is_measured),
		TEST(the_newest_breaches_can_be_read_in_any_order),
		TEST(the_length_of_a_probe_on_its_link),
		TEST(a_breach_is_completed_from_its_kept_sample),
		TEST(the_first_and_the_worst_breach_are_kept),
		TEST(the_hook_comes_before_all_else),
		TEST(the_hook_gets_the_times_as_they_were_read),
	};

	util_seed();
	return cmocka_run_group_tests_name("exchange_run", tests, NULL, bench_free);
}
