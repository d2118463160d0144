/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Replies that an emitter accepts for probes no longer in flight: those that name the probe's T1. */
#include "exchange_bench.h"

#define MANY 4000 /* probes: more than there are T1 remembered */
#define LONG_NS (20 * NS_PER_MS) /* in which more than these are sent, */
#define SHORT_NS NS_PER_MS /* and less */

static struct fake_account run(const struct fake_event *events, size_t n, bool no_ssid)
{
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = MANY;
	fake.no_ssid = no_ssid;
	bench_script(events, n);
	return bench_run("many probes");
}

static void a_late_reply_is_late_however_late_it_is(void **state)
{
	const struct fake_event events[] = { { 10, 0, LATE, LONG_NS, 0 }, { 20, 0, LATE, SHORT_NS, 0 } };

	(void)state;
	for (int no_ssid = 0; no_ssid < 2; no_ssid++) {
		struct fake_account got = run(events, COUNT_OF(events), no_ssid);

		assert_int_equal(got.lost, 2);
		assert_int_equal(got.late, 2);
		assert_int_equal(got.foreign + got.duplicate, 0);
	}
}

/* A reply repeated after more probes than are remembered is identified by its SSID, if the peer has SSIDs. */
static void a_reply_that_comes_again(void **state)
{
	const struct fake_event events[] = { { 10, 0, TWICE, LONG_NS, 0 }, { 20, 0, TWICE, SHORT_NS, 0 } };

	(void)state;
	for (int no_ssid = 0; no_ssid < 2; no_ssid++) {
		struct fake_account got = run(events, COUNT_OF(events), no_ssid);

		assert_int_equal(got.duplicate, no_ssid ? 1 : 2);
		assert_int_equal(got.foreign, no_ssid);
	}
}

/* A number is easily guessed: an answered probe, a lost probe, the oldest with a remembered T1, and an
 * older probe. */
static void a_forged_reply_enters_nothing(void **state)
{
	static const uint32_t ages[] = { 1, 2, 30, T1_REMEMBERED - 1, T1_REMEMBERED, T1_REMEMBERED + 1 };

	(void)state;
	for (int no_ssid = 0; no_ssid < 2; no_ssid++) {
		for (size_t i = 0; i < COUNT_OF(ages); i++) {
			const struct fake_event events[] = { { 3, 0, LOST, 0, 0 }, { 1500 - ages[i], 0, LOST, 0, 0 },
							     { 1500, 0, EXTRA, EXTRA_OLD, 0 },
							     { 1600, 1699, EXTRA, EXTRA_OLD, 0 } };
			struct fake_account got;

			bench_start(ROLE_EMIT, SOURCE_KERNEL);
			b.options.count = MANY;
			b.exact_directions = true;
			fake.no_ssid = no_ssid;
			fake.old_age = ages[i];
			bench_script(events, COUNT_OF(events));
			got = bench_run("forged");
			assert_int_equal(got.foreign, 101);
			assert_int_equal(got.late + got.duplicate + got.reordered, 0);
			assert_int_equal(b.x.result.directions.duplicate_forward +
					 b.x.result.directions.duplicate_backward +
						 b.x.result.directions.reordered_forward +
						 b.x.result.directions.reordered_backward +
						 b.x.result.directions.restarts,
					 0);
		}
	}
}

/* Before the first answer no SSID is known. */
static void a_forged_reply_before_the_first_one(void **state)
{
	const struct fake_event events[] = { { 0, 20, LOST, 0, 0 }, { 1, 20, EXTRA, EXTRA_OLD, 0 } };
	struct fake_account got = run(events, COUNT_OF(events), false);

	(void)state;
	assert_int_equal(got.foreign, 20);
	assert_int_equal(got.late, 0);
	assert_int_equal(got.lost, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_late_reply_is_late_however_late_it_is),
		TEST(a_reply_that_comes_again),
		TEST(a_forged_reply_enters_nothing),
		TEST(a_forged_reply_before_the_first_one),
	};

	return cmocka_run_group_tests(tests, NULL, bench_free);
}
