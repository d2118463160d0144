/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The other host's PHC, by exchanges between two clocks whose truth is known. */
#include "host/clock_peer.c"

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
		int64_t offset_ns = (int64_t)util_below(1000 * S) - 500 * S, ppb = (int64_t)util_below(200000) - 100000;
		int64_t t = (int64_t)util_below(1000) * S;
		int64_t began = t;

		assert_false(clock_peer_result(&p, &offset, &rate));
		while (t < began + 10 * S) {
			int64_t there = 500 + (int64_t)util_below(20000), response = 3000 + (int64_t)util_below(10000);
			int64_t back = 500 + (int64_t)util_below(5000);
#define REMOTE(x) ((x) + offset_ns + (int64_t)((__int128)((x) - began) * ppb / S))
			clock_peer_add(&p, t, REMOTE(t + there), REMOTE(t + there + response),
				       t + there + response + back);
			if (p.exchanges % 50 == 1) {
				assert_true(clock_peer_result(&p, &offset, &rate));
				if (distance(offset.offset_ns, REMOTE(offset.at_ns) - offset.at_ns) > offset.bound_ns)
					fail_msg("offset %lld +- %lld is not %lld", (long long)offset.offset_ns,
						 (long long)offset.bound_ns,
						 (long long)(REMOTE(offset.at_ns) - offset.at_ns));
			}
			t += 1000000 + (int64_t)util_below(3000000);
		}
		assert_true(clock_peer_result(&p, &offset, &rate));
		assert_int_equal(p.jumps + p.refused, 0);
		assert_true(rate.measured && rate.over_ns > 7 * S);
		if (rate.ppb - (double)ppb > rate.bound_ppb || (double)ppb - rate.ppb > rate.bound_ppb)
			fail_msg("rate %.1f +- %.1f is not %lld", rate.ppb, rate.bound_ppb, (long long)ppb);
		assert_true(rate.bound_ppb < 2000);
		assert_true(offset.bound_ns < 3000 && offset.at_ns > t - 3 * S);
	}
}

/* One bad exchange does not hide a step. */
static void a_peer_that_steps_behind_a_slow_one(void **state)
{
	struct clock_peer p = { 0 };

	(void)state;
	clock_peer_add(&p, 0, 5000, 7000, 12000);
	clock_peer_add(&p, 1000000, 1500000, 1500000, 2000000);
	clock_peer_add(&p, 3000000, 3105000, 3107000, 3012000);
	assert_int_equal(p.jumps, 1);
}

static void a_peer_that_steps(void **state)
{
	struct clock_peer p = { 0 };
	struct clock_relation offset;
	struct clock_rate rate;

	(void)state;
	for (int64_t t = 0; t < 5 * S; t += S / 1000) {
		int64_t remote = t < 3 * S ? 0 : 100000;

		clock_peer_add(&p, t, t + 5000 + remote, t + 7000 + remote, t + 12000);
	}
	assert_int_equal(p.jumps, 1);
	assert_true(clock_peer_result(&p, &offset, &rate));
	assert_true(distance(offset.offset_ns, 100000) <= offset.bound_ns);
	assert_true(rate.over_ns < 2 * S);
	assert_false(rate.known);
	/* What cannot be. */
	clock_peer_add(&p, 0, 0, 20000, 10000);
	clock_peer_add(&p, INT64_MIN, 0, 0, INT64_MAX);
	clock_peer_add(&p, 0, INT64_MIN, INT64_MAX, 1);
	clock_peer_add(&p, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX);
	assert_int_equal(p.refused, 4);
	assert_int_equal(p.jumps, 1);
	clock_peer_add(&p, INT64_MAX - 10, INT64_MAX - 5, INT64_MAX - 5, INT64_MAX);
	clock_peer_add(&p, INT64_MIN, INT64_MIN + 5, INT64_MIN + 5, INT64_MIN + 10);
	assert_int_equal(p.refused, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peers_clock),
		cmocka_unit_test(a_peer_that_steps),
		cmocka_unit_test(a_peer_that_steps_behind_a_slow_one),
	};

	util_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
