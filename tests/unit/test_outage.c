/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* For how long nothing answered, in the loop of the emitter; and the end of both loops when the interface is gone. */
#include "exchange_bench.h"

void probe_note_outage(struct exchange *x); /* of measure/probe.h, which cannot be had beside the reflector */

/* The clock is read in every so many turns of the loop, which costs some time at each probe. */
#define SLACK_NS (TIMEOUT_NS / 20)
#define WITH_SLACK(ns) ((ns) + (ns) / 20 + SLACK_NS)

/* The outages of the last run: their number, total and longest in ns, and the packet with which the longest
 * began. */
static void assert_outages(uint64_t count, int64_t total_ns, int64_t longest_ns, uint64_t longest_at)
{
	const struct outages *o = &b.x.result.outages;

	assert_int_equal(o->count, count);
	assert_in_range(o->total_ns, total_ns, WITH_SLACK(total_ns));
	assert_in_range(o->longest_ns, longest_ns, WITH_SLACK(longest_ns));
	assert_int_equal(o->since_ns, 0);
	if (count)
		assert_in_range(o->longest_at_ns, fake.packet[longest_at].sent_ns - SLACK_NS,
				fake.packet[longest_at].sent_ns);
}

static void what_is_answered_is_no_outage(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	/* A missing timestamp, a duplicated reply or a late reply is not an outage either. */
	SCRIPT({ 3, 0, TX_NONE, 0, 0 }, { 5, 0, RX, RX_ABSENT, 0 }, { 9, 0, LATENCY, TIMEOUT_NS / 2, 0 });
	bench_run("all answered");
	assert_int_equal(b.x.result.account.lost, 0);
	assert_outages(0, 0, 0, 0);
}

static void a_lost_probe_stands_for_its_timeout(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 7, 0, LOST, 0, 0 });
	bench_run("one lost");
	assert_outages(1, TIMEOUT_NS, TIMEOUT_NS, 7);

	/* With a stamp that never came beside it. */
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 7, 0, LOST, 0, 0 }, { 8, 0, TX_NONE, 0, 0 });
	bench_run("one lost, and no stamp of the next");
	assert_outages(1, TIMEOUT_NS, TIMEOUT_NS, 7);
}

static void a_row_of_lost_probes_is_one_outage(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 2, 3, LOST, 0, 0 }, { 10, 19, LOST, 0, 0 }, { 30, 32, LOST, 0, 0 });
	bench_run("three rows");
	assert_outages(3, 15 * TIMEOUT_NS, 10 * TIMEOUT_NS, 10);
}

/* A peer that is stopped for a while answers all that waited when it goes on: only to the last it is in time. */
static void late_replies_do_not_end_it(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, LATE, 2 * TIMEOUT_NS + TIMEOUT_NS / 2, 0 }, { 11, 0, LATE, TIMEOUT_NS + TIMEOUT_NS / 2, 0 },
	       { 12, 0, LATE, TIMEOUT_NS / 2, 0 }, { 13, 0, LATENCY, 3 * NS_PER_MS, 0 });
	bench_run("late");
	assert_int_equal(b.x.result.account.late, 3);
	assert_outages(1, 3 * TIMEOUT_NS + 3 * NS_PER_MS, 3 * TIMEOUT_NS + 3 * NS_PER_MS, 10);
}

static void refused_sends_are_an_outage_too(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, SEND_ERROR, ENETUNREACH, 6 });
	bench_run("refused");
	assert_int_equal(b.x.result.account.refused, 6);
	assert_int_equal(b.x.result.outages.count, 1);
	assert_in_range(b.x.result.outages.total_ns, 6 * TIMEOUT_NS, WITH_SLACK(6 * TIMEOUT_NS));

	/* Together they are one. */
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 9, 0, LOST, 0, 0 }, { 10, 0, SEND_ERROR, ENETUNREACH, 6 }, { 10, 0, LOST, 0, 0 });
	bench_run("lost, refused, lost");
	assert_outages(1, 8 * TIMEOUT_NS, 8 * TIMEOUT_NS, 9);
}

static void one_may_last_to_the_end(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 30;
	SCRIPT({ 10, FAKE_PACKETS, LOST, 0, 0 });
	bench_run("lost to the end");
	assert_outages(1, 20 * TIMEOUT_NS, 20 * TIMEOUT_NS, 10);
	assert_in_range(b.x.result.ended_ns - b.x.result.outages.longest_at_ns, b.x.result.outages.longest_ns,
			b.x.result.outages.longest_ns);

	/* A peer that never answers: the outage is the whole run, with or without a warm-up. */
	for (int64_t warmup = 0; warmup < 10; warmup += 9) {
		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.options.count = 0;
		b.options.warmup = warmup;
		b.options.duration_ns = 20 * TIMEOUT_NS;
		SCRIPT({ 0, FAKE_PACKETS, LOST, 0, 0 });
		bench_run("never");
		assert_outages(1, b.x.result.ended_ns - b.x.result.began_ns, b.x.result.ended_ns - b.x.result.began_ns,
			       0);
	}
}

static void the_warmup_is_left_out(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.warmup = 5;
	SCRIPT({ 0, 3, LOST, 0, 0 }, { 6, 7, LOST, 0, 0 }, { 20, 0, LOST, 0, 0 });
	bench_run("losses in the warm-up");
	assert_int_equal(b.x.result.account.lost, 7);
	assert_outages(1, TIMEOUT_NS, TIMEOUT_NS, 20);
}

/* A probe cut short by a signal may have been answered in time; but after a second it is an outage. */
static void what_the_end_cut_short(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, LATENCY, 80 * NS_PER_US, 0 }, { 10, 0, STOP, 20 * NS_PER_US, 0 });
	assert_int_equal(bench_run("stopped at once").unfinished, 1);
	assert_outages(0, 0, 0, 0);

	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.timeout_ns = 60 * NS_PER_S;
	SCRIPT({ 10, 0, LOST, 0, 0 }, { 10, 0, STOP, 900 * NS_PER_MS, 0 });
	assert_int_equal(bench_run("stopped within a second").unfinished, 1);
	assert_outages(0, 0, 0, 0);

	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.timeout_ns = 60 * NS_PER_S;
	SCRIPT({ 10, 0, LOST, 0, 0 }, { 10, 0, STOP, 2 * NS_PER_S, 0 });
	assert_int_equal(bench_run("stopped after two seconds").unfinished, 1);
	assert_outages(1, 2 * NS_PER_S, 2 * NS_PER_S, 10);

	/* Nor does the end of the duration hide it. */
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.count = 0;
	b.options.timeout_ns = 60 * NS_PER_S;
	b.options.duration_ns = 5 * NS_PER_S;
	fake.cut_short = true;
	SCRIPT({ 10, FAKE_PACKETS, LOST, 0, 0 });
	assert_int_equal(bench_run("a duration").unfinished, 1);
	assert_in_range(b.x.result.outages.total_ns, 4900 * NS_PER_MS, 5100 * NS_PER_MS);
}

/* --give-up: an outage in the middle, one from the begin of the run, and not several that together are
 * longer. */
static void who_gives_up(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.give_up_ns = 5 * TIMEOUT_NS + TIMEOUT_NS / 2;
	fake.cut_short = true;
	SCRIPT({ 2, 6, LOST, 0, 0 }, { 10, FAKE_PACKETS, LOST, 0, 0 });
	assert_int_equal(bench_run("a peer that went away").recorded, 5);
	assert_int_equal(b.x.result.end, END_GIVEN_UP);
	assert_int_equal(b.x.result.outages.count, 2);
	assert_in_range(b.x.result.outages.longest_ns, b.options.give_up_ns, WITH_SLACK(b.options.give_up_ns));
	assert_int_equal(b.x.result.account.unfinished, 1);

	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.give_up_ns = 5 * TIMEOUT_NS;
	b.options.warmup = 3;
	fake.cut_short = true;
	SCRIPT({ 0, FAKE_PACKETS, LOST, 0, 0 });
	assert_int_equal(bench_run("a peer that never was").answered, 0);
	assert_int_equal(b.x.result.end, END_GIVEN_UP);
	assert_in_range(b.x.result.account.sent, 5, 6);

	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	b.options.give_up_ns = 5 * TIMEOUT_NS;
	SCRIPT({ 10, 0, SEND_ERROR, ENETUNREACH, UINT_MAX });
	bench_run("refused");
	assert_int_equal(b.x.result.end, END_GIVEN_UP);
}

/* The published outage: once it is long, with the last answered probe, until the next answer. */
static void a_long_one_is_published(void **state)
{
	static const struct options o = { .timeout_ns = TIMEOUT_NS };

	(void)state;
	b.x = (struct exchange){ .options = &o, .now_ns = 1000 * NS_PER_S, .emit.highest_answered = 4711 };
	outage_begin(&b.x.result.outages, b.x.now_ns);
	b.x.now_ns += 3 * NS_PER_S;
	probe_note_outage(&b.x);
	/* a peer that never answered is reported in another way */
	assert_int_equal(b.x.result.outages.long_since_ns, 0);
	counter_add(&b.x.result.account.answered, 1);
	b.x.now_ns--;
	probe_note_outage(&b.x);
	assert_int_equal(b.x.result.outages.long_since_ns, 0);
	b.x.now_ns++;
	probe_note_outage(&b.x);
	assert_int_equal(b.x.result.outages.long_since_ns, 1000 * NS_PER_S);
	assert_int_equal(b.x.result.outages.long_after, 4711);
	outage_end(&b.x.result.outages, b.x.now_ns, true);
	assert_int_equal(b.x.result.outages.long_since_ns, 0);
	assert_int_equal(b.x.result.end, END_NOT_YET);
}

static void a_reflector_has_none(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	SCRIPT({ 10, 5, LOST, 0, 0 }, { 20, 0, SEND_ERROR, ENOBUFS, 1 });
	bench_run("a reflector");
	assert_outages(0, 0, 0, 0);
}

/* The kernel says ENODEV where the interface to which the socket is bound is no more; other errors may pass. */
static void a_deleted_interface_ends_the_run(void **state)
{
	static const int others[] = { ENETDOWN, ENETUNREACH, EHOSTUNREACH, ENOBUFS, EPERM, ECONNREFUSED };

	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bench_start(role, SOURCE_KERNEL);
		b.options.timeout_ns = 60 * NS_PER_S;
		SCRIPT({ 10, 0, SEND_ERROR, ENODEV, UINT_MAX });

		struct fake_account got = bench_run("the interface is gone");

		assert_int_equal(b.x.result.end, END_GONE);
		assert_int_equal(got.recorded, 10);
		assert_in_range(fake.now_ns - fake.packet[9].sent_ns, 0, NS_PER_MS);
		for (size_t i = 0; i < COUNT_OF(others); i++) {
			const struct fake_event passing = { 10, 0, SEND_ERROR, others[i], 1 };

			bench_start(role, SOURCE_KERNEL);
			bench_script(&passing, 1);
			got = bench_run("another error");
			assert_int_not_equal(b.x.result.end, END_GONE);
			assert_true(got.recorded > 20);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_answered_is_no_outage),
		TEST(a_lost_probe_stands_for_its_timeout),
		TEST(a_row_of_lost_probes_is_one_outage),
		TEST(late_replies_do_not_end_it),
		TEST(refused_sends_are_an_outage_too),
		TEST(one_may_last_to_the_end),
		TEST(the_warmup_is_left_out),
		TEST(what_the_end_cut_short),
		TEST(who_gives_up),
		TEST(a_long_one_is_published),
		TEST(a_reflector_has_none),
		TEST(a_deleted_interface_ends_the_run),
	};

	util_seed();
	return cmocka_run_group_tests_name("outage", tests, NULL, bench_free);
}
