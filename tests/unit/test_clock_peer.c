/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Offset of the reflector's PHC, by exchanges between two simulated clocks. */
#include "host/clock/clock_peer.c"

#include "util.h"

#define S NS_PER_S

/* Two clocks with an offset and a rate, and unequal one-way delays: the true offset is within the bound. */
static void the_peers_clock(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct clock_peer p = { 0 };
		struct clock_relation offset;
		struct clock_rate rate;
		int64_t offset_ns = (int64_t)util_below(1000 * S) - 500 * S,
				    ppb = (int64_t)util_below(1800000) - 900000;
		int64_t t = (int64_t)util_below(1000) * S;
		int64_t began = t;

		assert_false(clock_peer_result(&p, &offset, &rate));
		while (t < began + 10 * S) {
			int64_t remote = 500 + (int64_t)util_below(20000), response = 3000 + (int64_t)util_below(10000);
			int64_t back = 500 + (int64_t)util_below(5000);
#define AT_REFLECTOR(x) ((x) + offset_ns + (int64_t)((__int128)((x) - began) * ppb / S))
			assert_true(clock_peer_forward(&p, t, AT_REFLECTOR(t + remote),
						       &(struct clock_peer_moment){ 0 }));
			assert_true(clock_peer_backward(&p, AT_REFLECTOR(t + remote + response),
							t + remote + response + back));
			if (p.exchanges % 50 == 1) {
				int64_t at_ns = t + remote + response + back;

				assert_true(clock_peer_offset(&p, at_ns, &offset.offset_ns, &offset.bound_ns));
				assert_true(distance(offset.offset_ns, AT_REFLECTOR(at_ns) - at_ns) <= offset.bound_ns);
				assert_true(clock_peer_result(&p, &offset, &rate));
				if (distance(offset.offset_ns,
					     AT_REFLECTOR(offset.at_ns) - offset.at_ns) > offset.bound_ns)
					fail_msg("offset %lld +- %lld is not %lld", (long long)offset.offset_ns,
						 (long long)offset.bound_ns,
						 (long long)(AT_REFLECTOR(offset.at_ns) - offset.at_ns));
			}
			t += 1000000 + (int64_t)util_below(3000000);
		}
		assert_true(clock_peer_result(&p, &offset, &rate));
		assert_int_equal(p.events + p.refused, 0);
		assert_true(rate.measured && rate.over_ns > 7 * S);
		if (rate.ppb - (double)ppb > rate.bound_ppb || (double)ppb - rate.ppb > rate.bound_ppb)
			fail_msg("rate %.1f +- %.1f is not %lld", rate.ppb, rate.bound_ppb, (long long)ppb);
		assert_true(rate.bound_ppb < 2000);
		assert_true(offset.bound_ns < 3000 && offset.at_ns > t - 3 * S);
	}
}

/* ---- Clocks that are set, stand, or run at a wrong rate ---------------------------------------------------------- */

/* Fault of one clock, in true time: it runs at a rate for a while, then it is set. */
static struct fault {
	bool remote; /* the reflector's clock; else the emitter's */
	int64_t from_ns, to_ns, ppb, step_ns;
	int64_t times, every_ns; /* number and interval of steps of the same size */
} fault;

static int64_t shown(bool remote, int64_t true_ns)
{
	int64_t in_ns = true_ns < fault.from_ns ? 0 : (true_ns < fault.to_ns ? true_ns : fault.to_ns) - fault.from_ns;
	int64_t off_ns = (int64_t)((__int128)in_ns * fault.ppb / S);

	for (int64_t i = 0, at_ns = fault.to_ns; i < larger(fault.times, 1) && at_ns <= true_ns; i++,
	     at_ns += fault.every_ns)
		off_ns += fault.step_ns;

	return true_ns + (remote ? 123456789 : 0) + (remote == fault.remote ? off_ns : 0);
}

static struct {
	uint64_t accepted, refused;
	int64_t worst_ns; /* largest error of a recorded network time */
	bool waits; /* recorded only after the next exchange */
	int64_t off_ns;
} ran;

static void one_exchange(struct clock_peer *p, int64_t t, uint32_t seq, int64_t *end_ns)
{
	const int64_t remote_ns = 2000 + (int64_t)util_below(500), response_ns = 5000 + (int64_t)util_below(2000);
	const int64_t back_ns = 1500 + (int64_t)util_below(500);
	const struct clock_peer_moment moment = { .seq = seq, .mono_ns = t };
	const int64_t at[4] = { t, t + remote_ns, t + remote_ns + response_ns, t + remote_ns + response_ns + back_ns };
	int64_t stamp[4];
	bool agrees;

	for (int i = 0; i < 4; i++)
		stamp[i] = shown(i == 1 || i == 2, at[i]);
	agrees = clock_peer_forward(p, stamp[0], stamp[1], &moment);
	if (ran.waits && agrees && clock_peer_is_settled(p)) {
		ran.accepted++;
		ran.worst_ns = larger(ran.worst_ns, absolute(ran.off_ns));
	} else {
		ran.refused += ran.waits;
	}
	ran.waits = clock_peer_backward(p, stamp[2], stamp[3]) && clock_peer_is_settled(p);
	ran.refused += !ran.waits;
	ran.off_ns = (stamp[3] - stamp[0]) - (stamp[2] - stamp[1]) - remote_ns - back_ns;
	*end_ns = at[3];
}

/* Successive exchanges for a time, with a gap. */
static void run(struct clock_peer *p, int64_t over_ns, int64_t gap_ns, struct fault what)
{
	memset(p, 0, sizeof(*p));
	memset(&ran, 0, sizeof(ran));
	fault = what;
	for (int64_t t = S, end; t < S + over_ns; t = end + gap_ns / 2 + (int64_t)util_below((uint64_t)gap_ns))
		one_exchange(p, t, (uint32_t)(ran.accepted + ran.refused), &end);
	clock_peer_finish(p);
}

static int64_t sign(int64_t v)
{
	return util_below(2) ? v : -v;
}

/* A step at any time: recorded samples are right, and it is reported once, with its time and size. */
static void steps_of_either_clock(void **state)
{
	static const int64_t sizes_ns[] = { 15000, 100000, 1000000, S / 10, S };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		const int64_t at_ns = S + S / 100 + (int64_t)util_below(S / 1000), size_ns = sign(sizes_ns[round % 5]);
		const struct fault step = { .remote = round & 1, .from_ns = at_ns, .to_ns = at_ns, .step_ns = size_ns };
		const int64_t jumped_ns = step.remote ? size_ns : -size_ns;
		struct clock_peer p;
		const struct clock_peer_event *e = p.event;

		run(&p, S / 50, 10000, step);
		if (ran.worst_ns > 2 * NS_PER_US || p.jumps != 1 || p.events != 1 || e->kind != PEER_JUMPED ||
		    distance(e->after.offset_ns - e->before.offset_ns,
			     jumped_ns) > e->after.bound_ns + e->before.bound_ns ||
		    e->mono_ns[0] > at_ns || e->mono_ns[1] < at_ns - 20000 || e->mono_ns[1] > at_ns + 100000)
			fail_msg("a step of %lld ns: %lld ns wrong, %llu events, %llu jumps by %lld ns, %lld to %lld "
				 "ns from it",
				 (long long)jumped_ns, (long long)ran.worst_ns, (unsigned long long)p.events,
				 (unsigned long long)p.jumps, (long long)(e->after.offset_ns - e->before.offset_ns),
				 (long long)(e->mono_ns[0] - at_ns), (long long)(e->mono_ns[1] - at_ns));
		assert_in_range(ran.refused, 1, 40);
		assert_true(ran.accepted > 500);
	}
}

/* Regular steps are not a frequency error: in between the clock runs as before. */
static void many_steps_of_either_clock(void **state)
{
	static const struct {
		int64_t size_ns, times, every_ns, gap_ns;
	} rows[] = {
		{ -700000, 8, S / 2, 1000000 },
		{ -700000, 8, S / 2, 10000 },
		{ -50000, 5, 600000, 10000 },
		{ 100000, 5, 300000, 10000 }, /* fewer than 16 exchanges apart */
		{ 15000, 20, S / 20, 100000 },
		{ S, 20, S / 10, 1000000 },
	};

	(void)state;
	for (unsigned i = 0; i < 8 * COUNT_OF(rows); i++) {
		const int64_t size_ns = i & 4 ? -rows[i / 8].size_ns : rows[i / 8].size_ns,
					at_ns = S + S / 10 + (int64_t)util_below(S / 1000);
		const struct fault steps = { .remote = i & 1, .from_ns = at_ns, .to_ns = at_ns, .step_ns = size_ns,
					     .times = rows[i / 8].times,
					     .every_ns = rows[i / 8].every_ns };
		struct clock_peer p;

		run(&p, S / 5 + steps.times * steps.every_ns, rows[i / 8].gap_ns, steps);
		if (p.wrong_rates || p.stands || !p.jumps || p.jumps > (uint64_t)steps.times ||
		    ran.worst_ns > 2 * NS_PER_US)
			fail_msg("%lld steps of %lld ns: %llu jumps, %llu stands, %llu rates, %lld ns wrong",
				 (long long)steps.times,
				 (long long)size_ns, (unsigned long long)p.jumps, (unsigned long long)p.stands,
				 (unsigned long long)p.wrong_rates, (long long)ran.worst_ns);
		if (rows[i / 8].every_ns >= S / 2)
			assert_int_equal(p.jumps, steps.times);
		for (uint64_t k = 0; k < p.events && k < PEER_EVENTS_KEPT && rows[i / 8].every_ns >= S / 2; k++) {
			int64_t jumped_ns, bound_ns;

			assert_true(clock_peer_event_size(&p.event[k], &jumped_ns, &bound_ns));
			assert_true(distance(jumped_ns, steps.remote ? size_ns : -size_ns) <= bound_ns);
		}
	}
}

static void a_clock_that_stands(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		const int64_t from_ns = S + (round % 4 ? S / 100 + (int64_t)util_below(S / 1000) : -1),
					stood_ns = S / 50;
		struct clock_peer p;

		run(&p, S / 20, 10000 + (int64_t)util_below(1000000),
		    (struct fault){ .remote = true, .from_ns = from_ns, .to_ns = from_ns + stood_ns, .ppb = -S });
		assert_in_range(ran.worst_ns, 0, 2 * NS_PER_US);
		assert_int_equal(p.stands, 1);
		assert_int_equal(p.jumps + p.wrong_rates, 0);
		assert_in_range(p.event[0].stood_ns, stood_ns - 3 * NS_PER_MS, stood_ns + NS_PER_MS);
		assert_true(ran.accepted > 5);
	}
}

static void clocks_at_a_wrong_rate(void **state)
{
	static const int64_t percent[] = { -50, -20, -5, -1, 1, 5, 20, 50 };

	(void)state;
	for (int round = 0; round < 160; round++) {
		const int64_t ppb = percent[round % 8] * S / 100;
		struct clock_peer p;
		const struct clock_peer_event *e = p.event;

		run(&p, S / 4, 10000 + (round % 16 > 7) * 1000000,
		    (struct fault){ .remote = true, .to_ns = INT64_MAX, .ppb = ppb });
		/* Until it is found, the response time of at most 7 us has that relative error. */
		if (!p.wrong_rates || p.stands || ran.worst_ns > 7 * NS_PER_US * llabs(ppb) / S + 10)
			fail_msg("%lld ppb: %lld ns wrong, %llu rates, %llu jumps, %llu stands", (long long)ppb,
				 (long long)ran.worst_ns, (unsigned long long)p.wrong_rates,
				 (unsigned long long)p.jumps,
				 (unsigned long long)p.stands);
		while (e->kind != PEER_WRONG_RATE)
			e++;
		assert_true(llabs((int64_t)clock_peer_event_ppb(e) - ppb) < llabs(ppb) / 10);
	}
}

/* From the beginning: within the first exchange, before which the offset is not known. */
static void a_rate_that_the_first_exchange_shows(void **state)
{
	(void)state;
	for (int64_t percent = -5; percent <= 5; percent += 10) {
		struct clock_peer p = { 0 };

		for (int64_t t_ns = S, n = 0; n < 4000; n++) {
			const int64_t response_ns = n ? 15000 : 1000000, t4_ns = t_ns + response_ns + 6000;
			const struct clock_peer_moment moment = { (uint32_t)n, t_ns };

			clock_peer_forward(&p, t_ns, t_ns + 3000 + (t_ns + 3000) * percent / 100, &moment);
			clock_peer_backward(&p, t4_ns - 3000 + (t4_ns - 3000) * percent / 100, t4_ns);
			t_ns = t4_ns + 4000;
		}
		clock_peer_finish(&p);
		assert_int_equal(p.wrong_rates, 1);
		assert_int_equal(p.jumps, 0);
		assert_true(llabs((int64_t)clock_peer_event_ppb(&p.event[0]) - percent * S / 100) < S / 1000);
	}
}

/* With long response times the fault moves T3 out of the round trip. measure/join.c omits such a T3, and the exchange
 * counts as a conflict. */
static void a_rate_in_long_responses(void **state)
{
	(void)state;
	for (int64_t percent = -5; percent <= 5; percent += 10) {
		struct clock_peer p = { 0 };

		for (int64_t t_ns = S, n = 0; n < 4003; n++) {
			const bool is_long = n % 16 > 4;
			const int64_t response_ns = is_long ? 8000000 : 15000, t4_ns = t_ns + response_ns + 6000;
			const int64_t t2_ns = t_ns + 3000 + (t_ns + 3000) * percent / 100;
			const struct clock_peer_moment moment = { (uint32_t)n, t_ns };

			clock_peer_forward(&p, t_ns, t2_ns, &moment);
			clock_peer_backward(&p, is_long ? t2_ns : t4_ns - 3000 + (t4_ns - 3000) * percent / 100, t4_ns);
			if (is_long)
				clock_peer_contradicts(&p);
			t_ns = t4_ns + 4000;
		}
		clock_peer_finish(&p);
		assert_int_equal(p.wrong_rates, 1);
		assert_int_equal(p.jumps, 0);
	}
}

/* A frequency error too small to be found in a single exchange. */
static void a_rate_that_only_time_shows(void **state)
{
	struct clock_peer p;

	(void)state;
	run(&p, 4 * S, 1000000, (struct fault){ .remote = true, .to_ns = INT64_MAX, .ppb = 1500000 });
	assert_int_equal(p.events, 1);
	assert_int_equal(p.wrong_rates, 1);
	assert_true(llabs((int64_t)clock_peer_event_ppb(&p.event[0]) - 1500000) < 50000);
	/* Within the range of steering nothing is reported. */
	run(&p, 4 * S, 1000000, (struct fault){ .remote = true, .to_ns = INT64_MAX, .ppb = 900000 });
	assert_int_equal(p.events, 0);
	assert_int_equal(ran.refused, 0);
}

/* A single wrong timestamp invalidates its exchange and its neighbours, and is not an event. */
static void single_wrong_stamps(void **state)
{
	const struct clock_peer_moment moment = { 0 };

	(void)state;
	for (int which = 0; which < 4; which++) {
		struct clock_peer p = { 0 };
		unsigned left_out = 0;

		for (int n = 0; n < 410; n++) {
			const int64_t t = n * 20000;
			int64_t stamp[4] = { t, t + 2000, t + 8000, t + 10000 };

			if (n % 40 == 39)
				stamp[which] += which & 1 ? -9000 : 9000;
			bool good = clock_peer_forward(&p, stamp[0], stamp[1], &moment);

			good &= clock_peer_backward(&p, stamp[2], stamp[3]);
			left_out += !good || !clock_peer_is_settled(&p);
		}
		clock_peer_finish(&p);
		assert_int_equal(p.events, 0);
		assert_in_range(p.outliers, 9, 10);
		assert_in_range(left_out, 10, 20);
	}
}

/* Many wrong timestamps: the rate is still measured, and a frequency error reported. */
static void a_rate_among_wrong_stamps(void **state)
{
	const int64_t wrong_ppm = (int64_t)(PEER_APART * 1e6) + 100;

	(void)state;
	for (int64_t ppm = 0; ppm <= wrong_ppm; ppm += wrong_ppm) {
		struct clock_peer p = { 0 };
		struct clock_relation offset;
		struct clock_rate rate;

		for (int64_t t = 0, n = 0; n < 9990; t += NS_PER_MS, n++) {
			const int64_t off_ns = t * ppm / 1000000, wrong_ns = n % 40 == 39 ? 50000 : 0;

			clock_peer_forward(&p, t, t + 2000 + off_ns - wrong_ns, &(struct clock_peer_moment){ 0 });
			clock_peer_backward(&p, t + 8000 + off_ns, t + 10000);
		}
		if (!ppm) {
			assert_in_range(p.outliers, 200, 250);
			assert_true(clock_peer_result(&p, &offset, &rate));
			assert_true(rate.measured && rate.over_ns > 7 * S);
		}
		clock_peer_finish(&p);
		assert_int_equal(p.events, ppm != 0);
		assert_int_equal(p.wrong_rates, ppm != 0);
	}
}

/* A slow exchange does not hide a step; samples before it may be wrong. */
static void a_step_behind_a_slow_exchange(void **state)
{
	struct clock_peer p = { 0 };
	const struct clock_peer_moment moment[] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };

	(void)state;
	assert_true(clock_peer_forward(&p, 0, 5000, &moment[0]));
	assert_true(clock_peer_backward(&p, 7000, 12000));
	assert_true(clock_peer_forward(&p, 1000000, 1500000, &moment[1]));
	assert_true(clock_peer_backward(&p, 1500000, 2000000));
	assert_true(clock_peer_forward(&p, 3000000, 3105000, &moment[2]));
	assert_false(clock_peer_backward(&p, 3107000, 3012000));
	clock_peer_finish(&p);
	assert_int_equal(p.jumps, 1);
	assert_int_equal(p.event[0].seq[0], 1);
	assert_int_equal(p.event[0].seq[1], 3);
}

/* A step after a pause, which the round trip and the pause may hide: the error of one-way delays beyond the largest
 * bound. */
static int64_t beyond_the_bound(void)
{
	const int direction_ns = 2750, response_ns = 20000 + (int)util_below(1000000),
		before = 20 + (int)util_below(40);
	const int64_t step_ns = (int64_t)util_below(30000) - 15000, pause_ns = (int64_t)util_below(20000000);
	int64_t offset_ns = 5000, most_off_ns = 0, most_bound_ns = 0, t1_ns = S;
	struct clock_peer p = { 0 };

	for (int i = 0; i < before + 100; i++) {
		const struct clock_peer_moment moment = { (uint32_t)i, t1_ns };
		const int64_t t4_ns = t1_ns + 2 * direction_ns + response_ns + (int64_t)util_below(10000);
		int64_t known_ns, bound_ns;
		bool agrees;

		offset_ns += i == before ? step_ns : 0;
		agrees = clock_peer_forward(&p, t1_ns, t1_ns + direction_ns + offset_ns, &moment);
		if (clock_peer_backward(&p, t4_ns - direction_ns + offset_ns, t4_ns) && agrees &&
		    clock_peer_offset(&p, t4_ns, &known_ns, &bound_ns)) {
			most_off_ns = larger(most_off_ns, distance(known_ns, offset_ns));
			most_bound_ns = larger(most_bound_ns, bound_ns);
		}
		t1_ns = t4_ns + 10000 + (int64_t)util_below(90000) + (i == before - 1 ? pause_ns : 0);
	}
	return most_off_ns - most_bound_ns;
}

/* A step that is not found leaves each offset within its bound, except for the error of timestamps. */
static void steps_that_are_too_small(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++)
		assert_in_range(beyond_the_bound() + S, 0, S + PEER_SLACK_NS);
}

/* A response that a step back shortened widens the range of the rate, up to what two clocks can have. */
static void a_rate_after_a_hidden_step(void **state)
{
	struct clock_peer p = { 0 };

	(void)state;
	for (int64_t t = S; t < 2 * S - NS_PER_MS; t += NS_PER_MS) {
		const int64_t step_ns = t < S + 390 * NS_PER_MS ? 0 : -700 * NS_PER_US;

		assert_true(clock_peer_forward(&p, t, t + 2000, &(struct clock_peer_moment){ .mono_ns = t }));
		assert_true(clock_peer_backward(&p, t + 900000 + step_ns, t + 902000));
		assert_true(p.belief.slowest >= -PEER_APART && p.belief.fastest <= PEER_APART);
	}
	assert_true(p.belief.fastest < PEER_APART);
}

static void times_beyond_64_bits(void **state)
{
	static const int64_t odd_ns[] = { 0, 1, -1, 20000, INT64_MIN, INT64_MIN + 10, INT64_MAX - 10, INT64_MAX };
	const struct clock_peer_moment moment = { 0 };
	struct clock_peer p = { 0 };
	struct clock_relation offset;
	struct clock_rate rate;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		int64_t t[4];

		for (int k = 0; k < 4; k++)
			t[k] = odd_ns[util_below(8)];
		if (util_below(4))
			clock_peer_forward(&p, t[0], t[1], &moment);
		if (util_below(4))
			clock_peer_backward(&p, t[2], t[3]);
		clock_peer_offset(&p, t[0], &offset.offset_ns, &offset.bound_ns);
		clock_peer_result(&p, &offset, &rate);
	}
	clock_peer_finish(&p);
	assert_true(p.refused > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peers_clock),
		cmocka_unit_test(steps_of_either_clock),
		cmocka_unit_test(many_steps_of_either_clock),
		cmocka_unit_test(a_clock_that_stands),
		cmocka_unit_test(clocks_at_a_wrong_rate),
		cmocka_unit_test(a_rate_that_the_first_exchange_shows),
		cmocka_unit_test(a_rate_in_long_responses),
		cmocka_unit_test(a_rate_that_only_time_shows),
		cmocka_unit_test(a_step_behind_a_slow_exchange),
		cmocka_unit_test(steps_that_are_too_small),
		cmocka_unit_test(single_wrong_stamps),
		cmocka_unit_test(a_rate_among_wrong_stamps),
		cmocka_unit_test(a_rate_after_a_hidden_step), cmocka_unit_test(times_beyond_64_bits),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
