/* build: wraps= sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules for the times of a sample: each rule at its limit, and the fate of times that break it. */
#include "measure/rules.c"

#include "util.h"

#include <string.h>

#define T2 (REMOTE + REFLECT_T2_WIRE)
#define T2_USER (REMOTE + REFLECT_T2_USER)
#define T3_USER (REMOTE + REFLECT_T3_USER)
#define T3 (REMOTE + REFLECT_T3_WIRE)

static struct options options;
static struct exchange x;
static struct flight f;

/* A sample with all its times, a microsecond apart, in their order. */
static void begin(enum role role)
{
	static const uint8_t order[] = { EMIT_T1_USER, EMIT_T1_WIRE, T2, T2_USER, T3_USER, T3, EMIT_T4_WIRE,
					 EMIT_T4_USER };

	memset(&x, 0, sizeof(x));
	memset(&f, 0, sizeof(f));
	options.role = role;
	x.options = &options;
	x.same_timebase = true;
	f.sample = (struct sample){ .seq = 7, .same_timebase = true, .follow_up = FOLLOW_UP_THERE, .latency_ns = 5000 };
	f.bound_ns[BOUND_LOCAL] = 100;
	f.bound_ns[BOUND_REMOTE] = 200;
	for (int i = 0; i < (role == ROLE_EMIT ? KERNEL_RECEIVE : TIMES); i++) {
		int at = role == ROLE_EMIT ? order[i] : i;
		bool user = role == ROLE_EMIT ? i == 0 || i == 7 || i == 3 || i == 4 : i == 1 || i == 2;

		f.sample.time_ns[at] = NS_PER_S + i * NS_PER_US;
		f.sample.source[at] = user ? SOURCE_USER : SOURCE_HARDWARE;
	}
	/* Half a microsecond after the receive timestamp. */
	f.sample.time_ns[KERNEL_RECEIVE] = f.sample.time_ns[role == ROLE_EMIT ? EMIT_T4_WIRE : REFLECT_T2_WIRE] + 500;
	f.sample.source[KERNEL_RECEIVE] = SOURCE_KERNEL;
	if (role == ROLE_REFLECT)
		return;
	f.sample.time_ns[REMOTE_KERNEL_RECEIVE] = f.sample.time_ns[T2] + 500;
	f.sample.source[REMOTE_KERNEL_RECEIVE] = SOURCE_KERNEL;
}

static unsigned known(void)
{
	unsigned bits = 0;

	for (int i = 0; i < ALL_TIMES; i++)
		bits |= f.sample.source[i] ? 1U << (i) : 0;
	return bits;
}

static void order_within_the_bound(void **state)
{
	static const struct {
		enum role role;
		unsigned first, second, out;
		int64_t bound_ns;
	} cases[] = {
		{ ROLE_EMIT, EMIT_T1_USER, EMIT_T1_WIRE, 1U << (EMIT_T1_USER) | 1U << (EMIT_T4_USER), 100 },
		{ ROLE_EMIT, EMIT_T4_WIRE, EMIT_T4_USER, 1U << (EMIT_T1_USER) | 1U << (EMIT_T4_USER), 100 },
		{ ROLE_EMIT, T2, T2_USER, 1U << (T2_USER) | 1U << (T3_USER), 200 },
		{ ROLE_EMIT, T2_USER, T3_USER, 1U << (T2_USER) | 1U << (T3_USER), 0 },
		{ ROLE_EMIT, T3_USER, T3, 1U << (T2_USER) | 1U << (T3_USER), 200 },
		{ ROLE_REFLECT, REFLECT_T2_WIRE, REFLECT_T2_USER, 1U << (REFLECT_T2_USER) | 1U << (REFLECT_T3_USER),
		  100 },
		{ ROLE_REFLECT, REFLECT_T2_USER, REFLECT_T3_USER, 1U << (REFLECT_T2_USER) | 1U << (REFLECT_T3_USER),
		  0 },
		{ ROLE_REFLECT, REFLECT_T3_USER, REFLECT_T3_WIRE, 1U << (REFLECT_T2_USER) | 1U << (REFLECT_T3_USER),
		  100 },
		{ ROLE_EMIT, EMIT_T4_WIRE, KERNEL_RECEIVE, 1U << KERNEL_RECEIVE, 100 },
		{ ROLE_EMIT, KERNEL_RECEIVE, EMIT_T4_USER, 1U << KERNEL_RECEIVE, 0 },
		{ ROLE_EMIT, T2, REMOTE_KERNEL_RECEIVE, 1U << REMOTE_KERNEL_RECEIVE, 200 },
		{ ROLE_EMIT, REMOTE_KERNEL_RECEIVE, T2_USER, 1U << REMOTE_KERNEL_RECEIVE, 0 },
		{ ROLE_REFLECT, REFLECT_T2_WIRE, KERNEL_RECEIVE, 1U << KERNEL_RECEIVE, 100 },
		{ ROLE_REFLECT, KERNEL_RECEIVE, REFLECT_T2_USER, 1U << KERNEL_RECEIVE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (int64_t over_ns = -2; over_ns <= 2; over_ns++) {
			const int64_t by_ns = cases[i].bound_ns + over_ns;
			unsigned all;

			begin(cases[i].role);
			/* Only this pair is there. */
			for (unsigned k = 0; k < ALL_TIMES; k++)
				if (k != cases[i].first && k != cases[i].second)
					f.sample.source[k] = SOURCE_NONE;
			f.sample.time_ns[cases[i].second] = f.sample.time_ns[cases[i].first] - by_ns;
			all = known();
			rules_check(&x, &f, true, options.role == ROLE_EMIT);
			assert_int_equal(counter_get(&x.result.account.disordered), over_ns > 0);
			/* Those of the other host are not on the scale of its stamps then. */
			if (cases[i].out == RULE_USER_REMOTE) {
				assert_int_equal(known(), all);
				assert_int_equal(f.sample.off_scale, over_ns > 0);
				assert_int_equal(f.sample.same_timebase, over_ns <= 0);
			} else {
				assert_int_equal(known(), over_ns > 0 ? all & ~cases[i].out : all);
			}
			assert_int_equal(x.result.rules_broken, over_ns > 0);
			if (over_ns > 0) {
				assert_int_equal(x.result.broken[0].seq, 7);
				assert_int_equal(x.result.broken[0].by_ns, by_ns);
				assert_int_equal(rules_of_order[cases[i].role][x.result.broken[0].rule].first,
						 cases[i].first);
			}
			assert_int_equal(f.sample.follow_up, FOLLOW_UP_THERE);
		}
	}
}

static void a_good_sample_is_left_alone(void **state)
{
	(void)state;
	for (int role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		begin(role);
		const unsigned all = known();

		rules_check(&x, &f, true, options.role == ROLE_EMIT);
		assert_int_equal(known(), all);
		assert_int_equal(x.result.rules_broken, 0);
		/* Where there is no relation of the clocks nothing is known of their order. */
		if (role == ROLE_REFLECT) {
			x.same_timebase = false;
			f.sample.time_ns[REFLECT_T2_WIRE] = INT64_MAX / 2;
			rules_check(&x, &f, true, options.role == ROLE_EMIT);
			assert_int_equal(known(), all);
			continue;
		}
		/* The reflector's times of user space may be of another clock than its stamps. */
		f.sample.same_timebase = false;
		f.sample.time_ns[T2_USER] = 0;
		f.sample.time_ns[REMOTE_KERNEL_RECEIVE] = -1;
		f.sample.time_ns[T3_USER] = NS_PER_S * 2;
		rules_check(&x, &f, true, options.role == ROLE_EMIT);
		assert_int_equal(known(), all);
	}
}

/* Nothing of the other host is left; this host's own times are. */
static void what_contradicts_the_clocks(void **state)
{
	const unsigned local = 1U << (EMIT_T1_USER) | 1U << (EMIT_T1_WIRE) | 1U << (EMIT_T4_WIRE) |
		1U << (EMIT_T4_USER) | 1U << KERNEL_RECEIVE;

	(void)state;
	begin(ROLE_EMIT);
	rules_check(&x, &f, false, true);
	assert_int_equal(known(), local);
	assert_int_equal(f.sample.follow_up, FOLLOW_UP_STEPPED);
	assert_int_equal(x.result.broken[0].rule, RULE_RELATION);
	begin(ROLE_EMIT);
	f.sample.time_ns[T3] = f.sample.time_ns[T2] + 7000;
	rules_check(&x, &f, true, options.role == ROLE_EMIT);
	assert_int_equal(known(), local);
	assert_int_equal(f.sample.follow_up, FOLLOW_UP_STEPPED);
	assert_int_equal(x.result.broken[0].rule, RULE_RESPONSE);
	/* Without T3 there is no response, and without T2 nothing to contradict. */
	begin(ROLE_EMIT);
	f.sample.source[T3] = SOURCE_NONE;
	f.sample.follow_up = FOLLOW_UP_LOST;
	rules_check(&x, &f, true, options.role == ROLE_EMIT);
	assert_int_equal(f.sample.follow_up, FOLLOW_UP_LOST);
	f.sample.source[T2] = SOURCE_NONE;
	rules_check(&x, &f, false, true);
	assert_int_equal(f.sample.follow_up, FOLLOW_UP_LOST);
}

/* The response is a part of the round trip, but for 1 us and 1/512 of it. */
static void the_slack_of_a_response(void **state)
{
	static const struct {
		int64_t latency_ns, response_ns;
		bool possible;
	} cases[] = {
		{ 5000, 5000, true }, { 5000, 6000, true }, { 5000, 6011, true }, { 5000, 6012, false },
		{ 5000, 0, true }, { 5000, -1000, true }, { 5000, -1001, false }, { -50, 950, true },
		{ -50, 951, true }, { -50, 952, false }, { NS_PER_S, NS_PER_S, true },
		/* 1/512 of 1.002 s is 1.957 ms. */
		{ NS_PER_S, NS_PER_S + 1957 * NS_PER_US, true }, { NS_PER_S, NS_PER_S + 1959 * NS_PER_US, false },
		{ 5000, INT32_MAX, false }, { 5000, INT64_MIN / 4, false }, { 5000, INT64_MAX / 4, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct sample s = { .latency_ns = cases[i].latency_ns };

		s.time_ns[T2] = 1600 * NS_PER_S;
		s.time_ns[T3] = s.time_ns[T2] + cases[i].response_ns;
		if (rules_is_response(&s, 0) != cases[i].possible)
			fail_msg("case %zu", i);
	}
}

/* A time of a kernel that was placed on the scale of the NIC's clock is off by up to its bound: 100 ns of T1, 200 ns of
 * T3. */
static void the_slack_of_placed_times(void **state)
{
	static const struct {
		enum source t1, t3;
		int64_t slack_ns;
	} cases[] = {
		{ SOURCE_HARDWARE, SOURCE_HARDWARE, 0 }, { SOURCE_KERNEL, SOURCE_HARDWARE, 100 },
		{ SOURCE_HARDWARE, SOURCE_KERNEL, 200 }, { SOURCE_KERNEL, SOURCE_KERNEL, 300 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		begin(ROLE_EMIT);
		f.sample.source[EMIT_T1_WIRE] = (uint8_t)cases[i].t1;
		f.sample.source[T3] = (uint8_t)cases[i].t3;
		f.sample.time_ns[T3] = f.sample.time_ns[T2] - RESPONSE_SLACK_NS - cases[i].slack_ns;
		assert_true(rules_fits(&f));
		f.sample.time_ns[T3]--;
		assert_false(rules_fits(&f));
	}
	/* Both of the kernel: a single clock, without an error. */
	begin(ROLE_EMIT);
	memset(f.sample.source, SOURCE_KERNEL, sizeof(f.sample.source));
	assert_int_equal(rules_t1_error_ns(&f), 0);
	assert_int_equal(rules_t3_error_ns(&f), 0);
}

/* The first broken rules are kept, all are counted. */
static void many_broken_rules(void **state)
{
	struct exchange *const all = &x;

	(void)state;
	begin(ROLE_EMIT);
	for (uint32_t i = 0; i < 3 * BROKEN_KEPT; i++) {
		f.sample.seq = i;
		f.sample.source[T2] = SOURCE_HARDWARE;
		rules_check(all, &f, false, true);
	}
	assert_int_equal(all->result.rules_broken, 3 * BROKEN_KEPT);
	assert_int_equal(all->result.broken[BROKEN_KEPT - 1].seq, BROKEN_KEPT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_within_the_bound),
		cmocka_unit_test(a_good_sample_is_left_alone),
		cmocka_unit_test(what_contradicts_the_clocks),
		cmocka_unit_test(the_slack_of_a_response),
		cmocka_unit_test(the_slack_of_placed_times),
		cmocka_unit_test(many_broken_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
