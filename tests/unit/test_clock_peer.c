/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The other host's PHC, by exchanges between two clocks whose truth is known. */
#include "host/clock/clock_peer.c"

#include "util.h"

#define S NS_PER_S

/* Two hosts whose clocks differ by an offset and a rate, with unequal ways: the truth is in the bound. */
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
			int64_t there = 500 + (int64_t)util_below(20000), response = 3000 + (int64_t)util_below(10000);
			int64_t back = 500 + (int64_t)util_below(5000);
#define REMOTE(x) ((x) + offset_ns + (int64_t)((__int128)((x) - began) * ppb / S))
			assert_true(clock_peer_there(&p, t, REMOTE(t + there), &(struct clock_peer_moment){ 0 }));
			assert_true(clock_peer_back(&p, REMOTE(t + there + response), t + there + response + back));
			if (p.exchanges % 50 == 1) {
				int64_t at_ns = t + there + response + back;

				assert_true(clock_peer_offset(&p, at_ns, &offset.offset_ns, &offset.bound_ns));
				assert_true(distance(offset.offset_ns, REMOTE(at_ns) - at_ns) <= offset.bound_ns);
				assert_true(clock_peer_result(&p, &offset, &rate));
				if (distance(offset.offset_ns, REMOTE(offset.at_ns) - offset.at_ns) > offset.bound_ns)
					fail_msg("offset %lld +- %lld is not %lld", (long long)offset.offset_ns,
						 (long long)offset.bound_ns,
						 (long long)(REMOTE(offset.at_ns) - offset.at_ns));
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

/* What happens to one of the two clocks, in true time: it runs at a rate for a while, then it is set. */
static struct fault {
	bool there; /* the reflector's */
	int64_t from_ns, to_ns, ppb, step_ns;
	int64_t times, every_ns; /* it is set more than once, each time by as much */
} fault;

static int64_t shown(bool there, int64_t true_ns)
{
	int64_t in_ns = true_ns < fault.from_ns ? 0 : (true_ns < fault.to_ns ? true_ns : fault.to_ns) - fault.from_ns;
	int64_t off_ns = (int64_t)((__int128)in_ns * fault.ppb / S);

	for (int64_t i = 0, at_ns = fault.to_ns; i < larger(fault.times, 1) && at_ns <= true_ns; i++,
	     at_ns += fault.every_ns)
		off_ns += fault.step_ns;

	return true_ns + (there ? 123456789 : 0) + (there == fault.there ? off_ns : 0);
}

static struct {
	uint64_t accepted, refused;
	int64_t worst_ns; /* how far off a network time was that would be recorded */
	bool waits; /* for the exchange after it */
	int64_t off_ns;
} ran;

static void one_exchange(struct clock_peer *p, int64_t t, uint32_t seq, int64_t *end_ns)
{
	const int64_t there_ns = 2000 + (int64_t)util_below(500), response_ns = 5000 + (int64_t)util_below(2000);
	const int64_t back_ns = 1500 + (int64_t)util_below(500);
	const struct clock_peer_moment moment = { .seq = seq, .mono_ns = t };
	const int64_t at[4] = { t, t + there_ns, t + there_ns + response_ns, t + there_ns + response_ns + back_ns };
	int64_t stamp[4];
	bool agrees;

	for (int i = 0; i < 4; i++)
		stamp[i] = shown(i == 1 || i == 2, at[i]);
	agrees = clock_peer_there(p, stamp[0], stamp[1], &moment);
	if (ran.waits && agrees && clock_peer_is_settled(p)) {
		ran.accepted++;
		ran.worst_ns = larger(ran.worst_ns, absolute(ran.off_ns));
	} else {
		ran.refused += ran.waits;
	}
	ran.waits = clock_peer_back(p, stamp[2], stamp[3]) && clock_peer_is_settled(p);
	ran.refused += !ran.waits;
	ran.off_ns = (stamp[3] - stamp[0]) - (stamp[2] - stamp[1]) - there_ns - back_ns;
	*end_ns = at[3];
}

/* Exchanges for so long, one after the other but for a gap. */
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

/* Wherever it falls, what would be recorded is right; and it is told once, at its place and by its size. */
static void steps_of_either_clock(void **state)
{
	static const int64_t sizes_ns[] = { 15000, 100000, 1000000, S / 10, S };

	(void)state;
	for (int round = 0; round < 2000; round++) {
		const int64_t at_ns = S + S / 100 + (int64_t)util_below(S / 1000), size_ns = sign(sizes_ns[round % 5]);
		const struct fault step = { .there = round & 1, .from_ns = at_ns, .to_ns = at_ns, .step_ns = size_ns };
		const int64_t jumped_ns = step.there ? size_ns : -size_ns;
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

/* They are no rate, however even they come: in between the clock runs as before. */
static void many_steps_of_either_clock(void **state)
{
	static const struct {
		int64_t size_ns, times, every_ns, gap_ns;
	} rows[] = {
		{ -700000, 8, S / 2, 1000000 },
		{ -700000, 8, S / 2, 10000 },
		{ -50000, 5, 600000, 10000 },
		{ 100000, 5, 300000, 10000 }, /* by less than 16 exchanges apart */
		{ 15000, 20, S / 20, 100000 },
		{ S, 20, S / 10, 1000000 },
	};

	(void)state;
	for (unsigned i = 0; i < 8 * COUNT_OF(rows); i++) {
		const int64_t size_ns = i & 4 ? -rows[i / 8].size_ns : rows[i / 8].size_ns,
					at_ns = S + S / 10 + (int64_t)util_below(S / 1000);
		const struct fault steps = { .there = i & 1, .from_ns = at_ns, .to_ns = at_ns, .step_ns = size_ns,
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
			assert_true(distance(jumped_ns, steps.there ? size_ns : -size_ns) <= bound_ns);
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
		    (struct fault){ .there = true, .from_ns = from_ns, .to_ns = from_ns + stood_ns, .ppb = -S });
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
		    (struct fault){ .there = true, .to_ns = INT64_MAX, .ppb = ppb });
		/* Until it shows, the response of 7 us at most is off by its share. */
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

/* From the beginning: within the first exchange, before which nothing is known. */
static void a_rate_that_the_first_exchange_shows(void **state)
{
	(void)state;
	for (int64_t percent = -5; percent <= 5; percent += 10) {
		struct clock_peer p = { 0 };

		for (int64_t t_ns = S, n = 0; n < 4000; n++) {
			const int64_t response_ns = n ? 15000 : 1000000, t4_ns = t_ns + response_ns + 6000;
			const struct clock_peer_moment moment = { (uint32_t)n, t_ns };

			clock_peer_there(&p, t_ns, t_ns + 3000 + (t_ns + 3000) * percent / 100, &moment);
			clock_peer_back(&p, t4_ns - 3000 + (t4_ns - 3000) * percent / 100, t4_ns);
			t_ns = t4_ns + 4000;
		}
		clock_peer_finish(&p);
		assert_int_equal(p.wrong_rates, 1);
		assert_int_equal(p.jumps, 0);
		assert_true(llabs((int64_t)clock_peer_event_ppb(&p.event[0]) - percent * S / 100) < S / 1000);
	}
}

/* In long responses it takes T3 out of the round trip. Such exchanges have no T3, as measure/join.c leaves it out, and
 * agree with nothing. */
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

			clock_peer_there(&p, t_ns, t2_ns, &moment);
			clock_peer_back(&p, is_long ? t2_ns : t4_ns - 3000 + (t4_ns - 3000) * percent / 100, t4_ns);
			if (is_long)
				clock_peer_contradicts(&p);
			t_ns = t4_ns + 4000;
		}
		clock_peer_finish(&p);
		assert_int_equal(p.wrong_rates, 1);
		assert_int_equal(p.jumps, 0);
	}
}

/* Too slow a fault for one exchange to show it. */
static void a_rate_that_only_time_shows(void **state)
{
	struct clock_peer p;

	(void)state;
	run(&p, 4 * S, 1000000, (struct fault){ .there = true, .to_ns = INT64_MAX, .ppb = 1500000 });
	assert_int_equal(p.events, 1);
	assert_int_equal(p.wrong_rates, 1);
	assert_true(llabs((int64_t)clock_peer_event_ppb(&p.event[0]) - 1500000) < 50000);
	/* As far as clocks are steered there is nothing to tell. */
	run(&p, 4 * S, 1000000, (struct fault){ .there = true, .to_ns = INT64_MAX, .ppb = 900000 });
	assert_int_equal(p.events, 0);
	assert_int_equal(ran.refused, 0);
}

/* A stamp that is wrong by itself costs that exchange, or those beside it, and is no event. */
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
			bool good = clock_peer_there(&p, stamp[0], stamp[1], &moment);

			good &= clock_peer_back(&p, stamp[2], stamp[3]);
			left_out += !good || !clock_peer_is_settled(&p);
		}
		clock_peer_finish(&p);
		assert_int_equal(p.events, 0);
		assert_in_range(p.outliers, 9, 10);
		assert_in_range(left_out, 10, 20);
	}
}

/* However often: the rate is still measured, and one that is wrong is told. */
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

			clock_peer_there(&p, t, t + 2000 + off_ns - wrong_ns, &(struct clock_peer_moment){ 0 });
			clock_peer_back(&p, t + 8000 + off_ns, t + 10000);
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

/* One slow exchange does not hide a step; and what came before it may be spoilt. */
static void a_step_behind_a_slow_exchange(void **state)
{
	struct clock_peer p = { 0 };
	const struct clock_peer_moment moment[] = { { 1, 1 }, { 2, 2 }, { 3, 3 } };

	(void)state;
	assert_true(clock_peer_there(&p, 0, 5000, &moment[0]));
	assert_true(clock_peer_back(&p, 7000, 12000));
	assert_true(clock_peer_there(&p, 1000000, 1500000, &moment[1]));
	assert_true(clock_peer_back(&p, 1500000, 2000000));
	assert_true(clock_peer_there(&p, 3000000, 3105000, &moment[2]));
	assert_false(clock_peer_back(&p, 3107000, 3012000));
	clock_peer_finish(&p);
	assert_int_equal(p.jumps, 1);
	assert_int_equal(p.event[0].seq[0], 1);
	assert_int_equal(p.event[0].seq[1], 3);
}

/* A step, after a pause, that the time on the network and the pause may hide: how far one-way times are off then,
 * beyond the largest bound. */
static int64_t beyond_the_bound(void)
{
	const int way_ns = 2750, response_ns = 20000 + (int)util_below(1000000), before = 20 + (int)util_below(40);
	const int64_t step_ns = (int64_t)util_below(30000) - 15000, pause_ns = (int64_t)util_below(20000000);
	int64_t offset_ns = 5000, most_off_ns = 0, most_bound_ns = 0, t1_ns = S;
	struct clock_peer p = { 0 };

	for (int i = 0; i < before + 100; i++) {
		const struct clock_peer_moment moment = { (uint32_t)i, t1_ns };
		const int64_t t4_ns = t1_ns + 2 * way_ns + response_ns + (int64_t)util_below(10000);
		int64_t known_ns, bound_ns;
		bool agrees;

		offset_ns += i == before ? step_ns : 0;
		agrees = clock_peer_there(&p, t1_ns, t1_ns + way_ns + offset_ns, &moment);
		if (clock_peer_back(&p, t4_ns - way_ns + offset_ns, t4_ns) && agrees &&
		    clock_peer_offset(&p, t4_ns, &known_ns, &bound_ns)) {
			most_off_ns = larger(most_off_ns, distance(known_ns, offset_ns));
			most_bound_ns = larger(most_bound_ns, bound_ns);
		}
		t1_ns = t4_ns + 10000 + (int64_t)util_below(90000) + (i == before - 1 ? pause_ns : 0);
	}
	return most_off_ns - most_bound_ns;
}

/* One that is not seen makes no offset worse than its bound says, but for what stamps may be off. */
static void steps_that_are_too_small(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++)
		assert_in_range(beyond_the_bound() + S, 0, S + PEER_SLACK_NS);
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
			clock_peer_there(&p, t[0], t[1], &moment);
		if (util_below(4))
			clock_peer_back(&p, t[2], t[3]);
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
		cmocka_unit_test(times_beyond_64_bits),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
