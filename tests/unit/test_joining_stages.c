/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of records with the times of both hosts: stages, one-way delays, thresholds and counters. */
#include "exchange_bench.h"

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* Every stage at both hosts, with the local clocks related; the bench has the true remote times. */
static void every_stage_of_both_hosts(void **state)
{
	(void)state;
	bench_stages(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.plain = false;
	b.plan.stages = b.plan.software = b.plan.t2_user = true;
	relate_clocks(1000 * NS_PER_S, 100, 0);
	SCRIPT({ 5, 0, LOST_BACK, 0, 0 }, { 10, 0, NO_BOUND, 0, 0 }, { 12, 0, NO_T2_USER, 0, 0 },
	       { 14, 0, NO_T2, 0, 0 },
	       { 16, 0, FOLLOW_ZERO, 0, 0 }, { 18, 0, NO_TLVS, 0, 0 }, { 20, 0, LATENCY, -50, 0 },
	       { 22, 0, TX_NONE, 0, 0 });

	struct fake_account got = bench_run("stages");

	assert_int_equal(got.recorded, PACKETS - 3);
	for (int i = 0; i < STAGES; i++)
		check_stage(i);
	/* 4 had its T3 in the lost reply; 15 and 17 were not reported; 14 and 18 have no T2 to compare
	 * with. */
	assert_int_equal(b.stage[STAGE_RESPONSE].count, got.recorded - 5);
	assert_int_equal(b.stage[STAGE_NETWORK].count, got.recorded - 5);
	/* 10 is not on the same timebase, 12 has no T2_SW, 18 has no reports. */
	assert_int_equal(b.stage[STAGE_REMOTE_APP].count, got.recorded - 3);
	/* 14 has no T2 of the kind of the others. */
	assert_int_equal(b.stage[STAGE_REMOTE_WIRE_TO_APP].count, got.recorded - 4);
	/* 12 has T3_SW. */
	assert_int_equal(b.stage[STAGE_REMOTE_APP_TO_WIRE].count, got.recorded - 6);
	assert_int_equal(b.stage[STAGE_APP_TO_WIRE].count, got.recorded);
	assert_int_equal(b.stage[STAGE_WIRE_TO_APP].count, got.recorded);
	free_stages();
}

/* The parts make up the whole. */
static void the_stages_add_up(void **state)
{
	(void)state;
	bench_stages(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.plain = false;
	b.plan.stages = b.plan.software = b.plan.t2_user = true;
	relate_clocks(1000 * NS_PER_S, 100, 0);
	bench_run("stages");
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		int64_t sum_ns = 0, value_ns, response_ns;

		for (int n = STAGE_REMOTE_WIRE_TO_APP; n <= STAGE_REMOTE_APP_TO_WIRE; n++) {
			if (stages_is_part(&b.x.result.stages[n]))
				continue;
			assert_true(stages_value(&b.x.result.stages[n], logged(i), &value_ns));
			sum_ns += value_ns;
		}
		assert_true(stages_value(&b.x.result.stages[STAGE_RESPONSE], logged(i), &response_ns));
		assert_int_equal(sum_ns, response_ns);
		assert_true(stages_value(&b.x.result.stages[STAGE_NETWORK], logged(i), &value_ns));
		assert_int_equal(sum_ns + value_ns, logged(i)->latency_ns);
	}
	free_stages();
}

/* ---- Contradictions of the clocks of both hosts ------------------------------------------------------------------ */

/* Evidence about a sample includes T1 and T2 of the next sample. */
static void what_contradicts_the_clocks_is_left_out(void **state)
{
	static const struct {
		unsigned remote, back, from, to;
		uint32_t first, last; /* samples without the other host's times */
	} cases[] = {
		{ .remote = 12, .first = 10, .last = 10 }, /* exchange 12 is packet 11: packet 10 waits for it */
		{ .back = 12, .first = 11, .last = 11 },
		{ .from = 20, .to = 25, .first = 19, .last = 23 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		bench_stages(ROLE_EMIT, SOURCE_HARDWARE);
		b.options.plain = false;
		b.plan.stages = true;
		b.x.peer = &peer;
		memset(&peer, 0, sizeof(peer));
		hook.contradicts_remote = cases[i].remote;
		hook.contradicts_back = cases[i].back;
		hook.unsettled_from = cases[i].from;
		hook.unsettled_to = cases[i].to;
		fake.contradicts_first = cases[i].first;
		fake.contradicts_last = cases[i].last;
		bench_run("contradictions");
		assert_int_equal(follow_up(FOLLOW_UP_STEPPED), cases[i].last - cases[i].first + 1);
		assert_int_equal(b.stage[STAGE_NETWORK].count, PACKETS - (cases[i].last - cases[i].first + 1));
		assert_int_equal(b.x.result.rules_broken, cases[i].last - cases[i].first + 1);
		assert_int_equal(b.x.result.broken[0].seq, cases[i].first);
		assert_int_equal(b.x.result.broken[0].rule, RULE_RELATION);
		free_stages();
	}
}

/* ---- One-way delays ---------------------------------------------------------------------------------------------- */

static void bench_one_way(void)
{
	bench_stages(ROLE_EMIT, SOURCE_HARDWARE);
	b.options.plain = false;
	b.plan.stages = true;
	hook.peer_is_real = true;
	memset(&peer, 0, sizeof(peer));
	b.x.peer = &peer;
	for (int i = 0; i < ONE_WAYS; i++) {
		size_t bytes = histogram_layout(&b.one_way[i], OVERFLOW_NS, 1, HISTOGRAM_OVERFLOW_STORE);

		b.one_way_memory[i] = calloc(1, bytes);
		histogram_assign(&b.one_way[i], b.one_way_memory[i]);
		b.x.result.one_way[i] = &b.one_way[i];
	}
}

static void free_one_way(void)
{
	free_stages();
	for (int i = 0; i < ONE_WAYS; i++)
		free(b.one_way_memory[i]);
}

/* The true forward delay. */
static int64_t forward_of(const struct sample *s)
{
	const struct fake_packet *p = packet_of(s);

	return (p->reply.t2_ns - fake_remote_ns(0, true)) - (p->tx_wire_ns - fake_wire_ns(0));
}

/* Without synchronised clocks: the exchanges give the offset, with a bound. */
static void each_way_within_its_bound(void **state)
{
	int64_t most_ns = 0, sum_ns = 0;

	(void)state;
	bench_one_way();
	SCRIPT({ 5, 0, LOST_BACK, 0, 0 }, { 12, 0, FOLLOW_ZERO, 0, 0 }, { 20, 0, LATENCY, 90 * NS_PER_US, 0 });
	bench_run("one way");
	/* 4 and 11 have no T3. */
	assert_int_equal(b.one_way[ONE_WAY_FORWARD].count, PACKETS - 3);
	assert_int_equal(b.one_way[ONE_WAY_BACKWARD].count, PACKETS - 3);
	/* The sum of both directions needs no synchronised clocks, except for the improvement of the offset
	 * between T1 and T4. */
	assert_true(llabs((int64_t)(b.one_way[ONE_WAY_FORWARD].sum + b.one_way[ONE_WAY_BACKWARD].sum -
				    b.stage[STAGE_NETWORK].sum)) <=
		    100 * PACKETS);
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		int64_t forward_ns = forward_of(logged(i));

		if (!logged(i)->source[REMOTE + REFLECT_T3_WIRE])
			continue;
		sum_ns += forward_ns;
		most_ns = forward_ns > most_ns ? forward_ns : most_ns;
	}
	/* A third of the time is forward; the bound is half of two consecutive exchanges. */
	assert_in_range(b.x.result.one_way_bound_ns[0].value, 1000, 5000);
	assert_in_range(b.x.result.one_way_bound_ns[1].value, 1000, b.x.result.one_way_bound_ns[0].value);
	assert_true(llabs(b.one_way[ONE_WAY_FORWARD].max_ns - most_ns) <= b.x.result.one_way_bound_ns[0].value);
	assert_true(llabs((int64_t)b.one_way[ONE_WAY_FORWARD].sum - sum_ns) <= b.x.result.one_way_bound_ns[0].value *
		    (PACKETS - 3));
	assert_int_equal(b.one_way[ONE_WAY_FORWARD].max_seq, 20);
	free_one_way();
}

/* The rate is known, so that the bound is less than the drift of the clocks in a long response: each
 * direction uses the offset at its local end. */
static void each_way_of_a_long_response_between_clocks_that_drift(void **state)
{
	(void)state;
	bench_one_way();
	b.options.timeout_ns = NS_PER_S;
	fake.remote_ppb = -100000;
	SCRIPT({ 1, 30, RESPONSE, 4 * NS_PER_MS, 0 }, { 36, 0, RESPONSE, 300 * NS_PER_MS, 0 });
	bench_run("drift");
	assert_int_equal(b.one_way[ONE_WAY_FORWARD].count + b.one_way[ONE_WAY_BACKWARD].count, 2 * PACKETS);
	assert_in_range(b.x.result.one_way_bound_ns[0].value, 1000, 15000);
	/* Truly at most 7 us, of which a third is forward. */
	assert_true(b.one_way[ONE_WAY_FORWARD].max_ns <= 7000 / 3 + b.x.result.one_way_bound_ns[0].value);
	assert_true(b.one_way[ONE_WAY_BACKWARD].max_ns <= 7000 * 2 / 3 + b.x.result.one_way_bound_ns[0].value);
	assert_true(b.one_way[ONE_WAY_FORWARD].min_ns >= -b.x.result.one_way_bound_ns[0].value);
	assert_true(b.one_way[ONE_WAY_BACKWARD].min_ns >= -b.x.result.one_way_bound_ns[0].value);
	assert_int_equal(b.x.result.one_way_beyond, 0);
	free_one_way();
}

/* The network time hides the step. Its own sample uses the offset shown by its reply, not the earlier
 * offset (docs/clocks.md). */
static void each_way_after_a_step_that_is_too_small(void **state)
{
	const int64_t slack_ns = NS_PER_US, ways_differ_ns = 2 * NS_PER_US;

	(void)state;
	for (int64_t step_ns = -3000; step_ns <= 4000; step_ns += 500) {
		int64_t most_ns = 0;

		bench_one_way();
		fake.remote_set_at_ns = BEGIN_NS + 300 * NS_PER_US;
		fake.remote_set_by_ns = step_ns;
		bench_run("a small step");
		for (uint64_t i = 0; i < log_ready(&b.log); i++) {
			const bool after = packet_of(logged(i))->tx_wire_ns > fake_wire_ns(fake.remote_set_at_ns);
			const int64_t forward_ns = forward_of(logged(i)) - (after ? step_ns : 0);

			most_ns = forward_ns > most_ns ? forward_ns : most_ns;
		}
		assert_int_equal(b.one_way[ONE_WAY_FORWARD].count, PACKETS);
		assert_in_range(b.one_way[ONE_WAY_FORWARD].max_ns, 0,
				most_ns + b.x.result.one_way_bound_ns[0].value + slack_ns + ways_differ_ns / 2);
		free_one_way();
	}
}

/* --synced: the offset is 0, within the given bound. */
static void each_way_by_clocks_that_agree(void **state)
{
	__int128 sum = 0;

	(void)state;
	for (int64_t synced_ns = 0; synced_ns < 100; synced_ns += 30) {
		sum = 0;
		bench_one_way();
		fake.synced = true;
		b.options.synced_ns = synced_ns;
		SCRIPT({ 12, 0, FOLLOW_ZERO, 0, 0 }, { 20, 0, LATENCY, 90 * NS_PER_US, 0 });
		bench_run("one way, synchronised");
		for (uint64_t i = 0; i < log_ready(&b.log); i++)
			if (logged(i)->source[REMOTE + REFLECT_T3_WIRE])
				sum += forward_of(logged(i));
		assert_int_equal(b.one_way[ONE_WAY_FORWARD].count, PACKETS - 1);
		assert_true(b.one_way[ONE_WAY_FORWARD].sum == sum);
		assert_int_equal(b.one_way[ONE_WAY_FORWARD].max_ns, forward_of(logged(20)));
		assert_int_equal(b.x.result.one_way_bound_ns[0].value, synced_ns);
		assert_int_equal(b.x.result.one_way_bound_ns[1].value, synced_ns);
		free_one_way();
	}
}

/* They differ, and one direction is negative by more than the given bound. */
static void each_way_by_clocks_that_are_said_to_agree(void **state)
{
	(void)state;
	bench_one_way();
	b.options.synced_ns = 30;
	bench_run("one way, not synchronised");
	assert_int_equal(b.one_way[ONE_WAY_FORWARD].negatives + b.one_way[ONE_WAY_BACKWARD].negatives, PACKETS);
	assert_int_equal(b.x.result.one_way_beyond, PACKETS);
	free_one_way();
}

/* All its times are there, and its response fits; but it is not recorded, so its ways are not either. */
static void a_negative_latency_has_no_ways(void **state)
{
	(void)state;
	bench_one_way();
	fake.synced = true;
	b.options.synced_ns = 0;
	SCRIPT({ 20, 0, RESPONSE, 600, 0 }, { 20, 0, LATENCY, -50, 0 });

	struct fake_account got = bench_run("one way, negative");

	assert_int_equal(got.negative, 1);
	assert_int_equal(got.follow_up[FOLLOW_UP_THERE], PACKETS);
	for (int i = 0; i < ONE_WAYS; i++)
		assert_int_equal(b.one_way[i].count + b.one_way[i].negatives, PACKETS - 1);
	free_one_way();
}

/* Unrecorded samples are no evidence about the other host's clock; without T3 the whole response may be
 * network time. */
static void the_peer_gets_all_four_times(void **state)
{
	(void)state;
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.x.peer = &peer;
	SCRIPT({ 3, 0, LOST, 0, 0 }, { 5, 0, TX_NONE, 0, 0 }, { 12, 0, FOLLOW_ZERO, 0, 0 }, { 15, 0, LOST_BACK, 0, 0 });

	struct fake_account got = bench_run("the peer");

	assert_int_equal(hook.added, got.recorded);
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		const struct fake_packet *p = packet_of(logged(i));
		const int64_t *ns = hook.peer_ns[i];

		assert_int_equal(ns[0], p->tx_wire_ns);
		assert_int_equal(ns[1], p->reply.t2_ns);
		assert_int_equal(ns[2], p->seq == 11 || p->seq == 14 ? p->reply.t2_ns : p->reply.t3_wire_ns);
		assert_int_equal(ns[3], p->rx_wire_ns);
	}
}

/* ---- Threshold --------------------------------------------------------------------------------------------------- */

static struct {
	uint64_t sends, answered, breaches, noted;
	int64_t value_ns;
	unsigned calls;
	uint32_t seq[8];
	bool joined;
} seen;

static void on_breach_of(void *context, const struct sample *s)
{
	assert_ptr_equal(context, &b);
	seen.sends = fake.sends;
	seen.answered = counter_get(&b.x.result.account.answered);
	seen.breaches = counter_get(&b.x.result.account.breaches);
	seen.joined = s->source[REMOTE + REFLECT_T3_WIRE];
	seen.seq[seen.calls++ % COUNT_OF(seen.seq)] = s->seq;
	result_metric(&b.x.result, s, &seen.value_ns);
}

static void bench_threshold(enum metric on, bool keep_going)
{
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	memset(&seen, 0, sizeof(seen));
	b.x.on_breach = on_breach_of;
	b.options.threshold_ns = THRESHOLD_NS;
	b.options.threshold_on = on;
	b.options.keep_going = keep_going;
}

/* A breach of the round trip is frozen at once, before anything is sent; its record gets the other host's times
 * later. */
static void a_breach_of_the_round_trip(void **state)
{
	(void)state;
	for (int closing = 0; closing < 2; closing++) {
		bench_threshold(METRIC_RTT, false);
		if (closing)
			SCRIPT({ 12, 0, LATENCY, THRESHOLD_NS + 1, 0 });
		else
			SCRIPT({ 12, 0, LATENCY, THRESHOLD_NS + 1, 0 }, { 13, 0, LOST, 0, 0 });

		struct fake_account got = bench_run("round trip");

		assert_int_equal(b.x.result.end, END_BREACH);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.seq[0], 12);
		assert_int_equal(seen.sends, 13);
		assert_int_equal(seen.breaches, 0);
		assert_false(seen.joined);
		assert_int_equal(got.sent, 14);
		assert_int_equal(got.closing, 1);
		assert_int_equal(got.breaches, 1);
		assert_int_equal(got.recorded, 13);

		const struct sample *kept[] = { &b.x.result.breach, &b.x.result.worst, &b.x.result.kept[0] };

		for (size_t i = 0; i < COUNT_OF(kept); i++) {
			assert_int_equal(kept[i]->seq, 12);
			assert_int_equal(kept[i]->follow_up, closing ? FOLLOW_UP_THERE : FOLLOW_UP_END);
			check_remote(kept[i], &fake.packet[12]);
		}
	}
}

static void all_breaches_of_the_round_trip(void **state)
{
	struct sample s;

	(void)state;
	bench_threshold(METRIC_RTT, true);
	SCRIPT({ 12, 0, LATENCY, 50000, 0 }, { 13, 0, LATENCY, 70000, 0 }, { 20, 0, LATENCY, 60000, 0 },
	       { 21, 0, LOST_BACK, 0, 0 }, { 39, 0, LATENCY, THRESHOLD_NS + 1, 0 });

	struct fake_account got = bench_run("round trip, all");

	assert_int_equal(b.x.result.end, END_COUNT);
	assert_int_equal(got.breaches, 4);
	assert_int_equal(seen.calls, 4);
	assert_int_equal(b.x.result.breach.seq, 12);
	assert_int_equal(b.x.result.worst.seq, 13);
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t seqs[] = { 12, 13, 20, 39 };

		assert_int_equal(seen.seq[i], seqs[i]);
		assert_true(breach_read(&b.x.result, i, &s));
		assert_int_equal(s.seq, seqs[i]);
		check_remote(&s, &fake.packet[seqs[i]]);
	}
	assert_int_equal(got.unjudged, 0);
}

/* For each metric only the samples above: 10 is slow at the reflector, 12 in the network, 14 in both. */
static const struct fake_event metric_events[] = {
	{ 10, 0, RESPONSE, 60000, 0 }, { 12, 0, LATENCY, 50000, 0 }, { 14, 0, LATENCY, 23000, 0 },
	{ 14, 0, RESPONSE, 30000, 0 }, { 16, 0, RESPONSE, THRESHOLD_NS, 0 },
};

static void a_breach_of_another_metric(void **state)
{
	(void)state;
	for (enum metric on = METRIC_RESPONSE; on <= METRIC_NETWORK; on++) {
		const uint32_t seq = on == METRIC_RESPONSE ? 10 : 12;

		bench_threshold(on, false);
		bench_script(metric_events, COUNT_OF(metric_events));

		struct fake_account got = bench_run("figure");

		assert_int_equal(b.x.result.end, END_BREACH);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.seq[0], seq);
		/* As soon as the next reply is there, and before anything is made of that. */
		assert_int_equal(seen.sends, seq + 2);
		assert_int_equal(seen.answered, seq + 2);
		assert_true(seen.joined);
		assert_int_equal(seen.breaches, 0);
		assert_true(seen.value_ns > THRESHOLD_NS);
		/* The reply that reported it belongs to the run; the closing reply reports that reply. */
		assert_int_equal(got.sent, seq + 3);
		assert_int_equal(got.recorded, seq + 2);
		assert_int_equal(got.breaches, 1);
		assert_int_equal(got.unjudged, 0);
		assert_int_equal(b.x.result.breach.seq, seq);
		check_remote(&b.x.result.breach, &fake.packet[seq]);
	}
}

static void all_breaches_of_another_metric(void **state)
{
	static const uint32_t seqs[][2] = { [METRIC_RESPONSE] = { 10, 14 }, [METRIC_NETWORK] = { 12, 14 } };

	(void)state;
	for (enum metric on = METRIC_RESPONSE; on <= METRIC_NETWORK; on++) {
		bench_threshold(on, true);
		bench_script(metric_events, COUNT_OF(metric_events));

		struct fake_account got = bench_run("figure, all");

		assert_int_equal(b.x.result.end, END_COUNT);
		assert_int_equal(got.recorded, PACKETS);
		assert_int_equal(got.breaches, 2);
		assert_int_equal(seen.calls, 2);
		for (int i = 0; i < 2; i++)
			assert_int_equal(seen.seq[i], seqs[on][i]);
		assert_int_equal(b.x.result.breach.seq, seqs[on][0]);
		assert_int_equal(b.x.result.worst.seq, seqs[on][0]);
	}
}

/* The worst is that of the metric: 20 has the longer round trip and the shorter network time. */
static void the_worst_is_of_the_metric(void **state)
{
	(void)state;
	bench_threshold(METRIC_NETWORK, true);
	SCRIPT({ 12, 0, LATENCY, 40000, 0 }, { 15, 0, LATENCY, 60000, 0 }, { 20, 0, LATENCY, 35000, 0 },
	       { 20, 0, RESPONSE, 50000, 0 });
	assert_int_equal(bench_run("the worst").breaches, 3);
	assert_true(fake.packet[20].latency_ns > fake.packet[15].latency_ns);
	assert_int_equal(b.x.result.breach.seq, 12);
	assert_int_equal(b.x.result.worst.seq, 15);
}

/* Exactly at the threshold is not a breach; a nanosecond more is. */
static void the_threshold_to_the_nanosecond(void **state)
{
	static struct fake_event events[2];

	(void)state;
	for (enum metric on = METRIC_RTT; on <= METRIC_NETWORK; on++) {
		for (int more = 0; more < 2; more++) {
			const int64_t at_ns = THRESHOLD_NS + more, response_ns = 1200 + 12 * 6271 % 1801;

			bench_threshold(on, true);
			events[0] = (struct fake_event){ 12, 0, LATENCY,
							 on == METRIC_NETWORK ? at_ns + response_ns : at_ns, 0 };
			if (on == METRIC_RESPONSE)
				events[0] = (struct fake_event){ 12, 0, RESPONSE, at_ns, 0 };
			bench_script(events, 1);
			assert_int_equal(bench_run("to the nanosecond").breaches, more);
		}
	}
}

/* Without both remote timestamps there is no result, and that is counted. */
static void what_cannot_be_judged(void **state)
{
	(void)state;
	for (enum metric on = METRIC_RTT; on <= METRIC_NETWORK; on++) {
		bench_threshold(on, true);
		SCRIPT({ 10, 0, LATENCY, 90000, 0 }, { 10, 0, RESPONSE, 60000, 0 }, { 11, 0, FOLLOW_ZERO, 0, 0 },
		       { 15, 0, LOST_BACK, 0, 0 }, { 20, 0, NO_TLVS, 0, 0 }, { CLOSING, 0, LOST, 0, 0 });

		struct fake_account got = bench_run("not judged");

		/* 10; 14, whose follow-up was lost; 19 and 20; the last sample. */
		assert_int_equal(got.unjudged, on == METRIC_RTT ? 0 : 5);
		assert_int_equal(got.breaches, on == METRIC_RTT);
		assert_int_equal(seen.calls, on == METRIC_RTT);
	}
}

/* Detected after the end of the run: still a breach, and reported once. */
static void a_breach_in_the_last_record(void **state)
{
	(void)state;
	for (int stop = 0; stop < 2; stop++) {
		for (int keep_going = 0; keep_going < 2; keep_going++) {
			bench_threshold(METRIC_NETWORK, keep_going);
			b.options.count = stop ? 0 : PACKETS;
			if (stop)
				SCRIPT({ 39, 0, LATENCY, 90000, 0 }, { 40, 0, STOP, 2000, 0 });
			else
				SCRIPT({ 39, 0, LATENCY, 90000, 0 });
			assert_int_equal(bench_run("the last").breaches, 1);
			assert_int_equal(seen.calls, 1);
			assert_int_equal(seen.seq[0], 39);
			assert_int_equal(seen.sends, PACKETS + 1 + stop);
			if (!keep_going)
				assert_int_equal(b.x.result.end, END_BREACH);
			else
				assert_int_equal(b.x.result.end, stop ? END_SIGNAL : END_COUNT);
		}
	}
}

/* Two consecutive breaches: the second is in flight when the first ends the run, and is not reported again. */
static void a_breach_behind_the_one_that_ends_the_run(void **state)
{
	(void)state;
	for (enum metric on = METRIC_RTT; on <= METRIC_NETWORK; on += 2) {
		bench_threshold(on, false);
		SCRIPT({ 12, 14, LATENCY, 90000, 0 });

		struct fake_account got = bench_run("two breaches");

		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.seq[0], 12);
		assert_int_equal(got.breaches, on == METRIC_RTT ? 1 : 2);
		assert_int_equal(b.x.result.breach.seq, 12);
	}
}

/* ---- Counters of the hardware ------------------------------------------------------------------------------------ */

/* Each is of the packet it is accounted to, whenever that is. */
static void check_counters(enum metric on)
{
	int64_t last = -1;

	for (unsigned i = 0; i < hook.accounted; i++) {
		const struct fake_packet *p = &fake.packet[hook.counted_of[i]];
		int64_t response_ns = p->reply.t3_wire_ns - p->reply.t2_ns;
		int64_t value_ns = on == METRIC_RTT ? p->latency_ns : on == METRIC_RESPONSE ? response_ns :
									   p->latency_ns - response_ns;

		assert_true(hook.counted_of[i] > last);
		last = hook.counted_of[i];
		assert_true(p->follow_up != FOLLOW_UP_NONE);
		if (on == METRIC_RTT || p->follow_up == FOLLOW_UP_THERE)
			assert_int_equal(hook.slow[i], value_ns > THRESHOLD_NS);
		else
			assert_false(hook.slow[i]);
	}
}

static void counters_of_each_exchange(void **state)
{
	(void)state;
	for (enum metric on = METRIC_RTT; on <= METRIC_NETWORK; on++) {
		bench_threshold(on, true);
		b.x.pmc = &pmc;
		bench_script(metric_events, COUNT_OF(metric_events));
		bench_run("counters");
		assert_int_equal(hook.begun, PACKETS);
		assert_int_equal(hook.ended, PACKETS);
		assert_int_equal(hook.accounted, PACKETS);
		for (unsigned i = 0; i < PACKETS; i++)
			assert_int_equal(hook.counted_of[i], i);
		check_counters(on);
	}
}

/* While a probe is in flight there is time to record; not between a reply and the next probe. */
static void records_are_made_while_a_probe_is_on_its_way(void **state)
{
	(void)state;
	for (int joined = 0; joined < 2; joined++) {
		bench_start(ROLE_EMIT, SOURCE_HARDWARE);
		b.plan.stages = joined;
		fake.recorded = &b.histogram.count;
		bench_run("when records are made");
		/* Before probe n is sent, the last complete record is not recorded yet. */
		for (int64_t n = 0; n < PACKETS; n++)
			assert_int_equal(fake.packet[n].recorded_before, n > 1 + joined ? n - 1 - joined : 0);
	}
}

/* Counters during its wait belong to the probe that was lost, or not sent, in between. */
static void counters_of_what_came_in_between(void **state)
{
	(void)state;
	bench_threshold(METRIC_RTT, true);
	b.x.pmc = &pmc;
	SCRIPT({ 5, 0, LOST, 0, 0 }, { 10, 0, LOST_BACK, 0, 0 }, { 14, 0, LATENCY, 90000, 0 },
	       { 15, 0, SEND_ERROR, ENOBUFS, 2 }, { 20, 0, TX_NONE, 0, 0 }, { 25, 0, RX, RX_ABSENT, 0 },
	       { CLOSING, 0, LOST, 0, 0 });

	struct fake_account got = bench_run("counters, losses");

	/* 4, 9 and 14 were still waiting when other things were counted. */
	assert_int_equal(got.recorded, PACKETS - 4);
	assert_int_equal(hook.accounted, got.recorded - 3);
	for (unsigned i = 0; i < hook.accounted; i++)
		for (int64_t n = 4; n <= 14; n += 5)
			assert_int_not_equal(hook.counted_of[i], n);
	check_counters(METRIC_RTT);
}

static void counters_that_could_not_be_read(void **state)
{
	(void)state;
	for (unsigned every = 2; every < 5; every++) {
		bench_threshold(METRIC_NETWORK, true);
		b.x.pmc = &pmc;
		hook.every = every;
		bench_script(metric_events, COUNT_OF(metric_events));
		bench_run("counters that fail");
		assert_int_equal(hook.accounted, (PACKETS + every - 1) / every);
		for (unsigned i = 0; i < hook.accounted; i++)
			assert_int_equal(hook.counted_of[i], i * every);
		check_counters(METRIC_NETWORK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_stage_of_both_hosts),
		TEST(the_stages_add_up),
		TEST(what_contradicts_the_clocks_is_left_out),
		TEST(each_way_within_its_bound), TEST(each_way_of_a_long_response_between_clocks_that_drift),
		TEST(each_way_after_a_step_that_is_too_small),
		TEST(each_way_by_clocks_that_agree), TEST(each_way_by_clocks_that_are_said_to_agree),
		TEST(a_negative_latency_has_no_ways),
		TEST(the_peer_gets_all_four_times),
		TEST(a_breach_of_the_round_trip),
		TEST(all_breaches_of_the_round_trip),
		TEST(a_breach_of_another_metric),
		TEST(all_breaches_of_another_metric),
		TEST(the_worst_is_of_the_metric),
		TEST(the_threshold_to_the_nanosecond),
		TEST(what_cannot_be_judged),
		TEST(a_breach_in_the_last_record),
		TEST(a_breach_behind_the_one_that_ends_the_run),
		TEST(counters_of_each_exchange),
		TEST(records_are_made_while_a_probe_is_on_its_way),
		TEST(counters_of_what_came_in_between),
		TEST(counters_that_could_not_be_read),
	};

	util_seed();
	return cmocka_run_group_tests_name("joining_stages", tests, NULL, bench_free);
}
