/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matching and validation of transmit timestamps: the kernel counts refused packets, or not, or reports no
 * id; and a timestamp has the right id and the time of another packet. No sample gets it, with any other
 * delay or loss.
 */
#include "exchange_bench.h"

#include <linux/net_tstamp.h>

#define REFUSED(n) { n, 0, SEND_ERROR, EPERM, 1 }

/* As --stages full. */
static void take_details(enum source wire)
{
	b.options.stages = (struct stages_wish){ STAGES_FULL, 1, "full" };
	b.channel.detail = SOF_TIMESTAMPING_TX_SCHED | (wire == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_SOFTWARE : 0);
	b.channel.detail_by_socket = true;
	fake.detail = wire == SOURCE_HARDWARE ? 2 : 1;
}

/* The fake refuses some in the middle; timestamps are late, so that several are outstanding, of three
 * peers. */
static struct fake_account run_refused(enum role role, enum source wire, bool counts, bool detailed)
{
	bench_start(role, wire);
	if (detailed)
		take_details(wire);
	b.options.no_step_check = wire == SOURCE_HARDWARE;
	fake.counts_refused = counts;
	fake.peers = role == ROLE_REFLECT ? 3 : 1;
	fake.open_loop_ns = role == ROLE_REFLECT ? 20 * NS_PER_US : 0;
	SCRIPT({ 0, 39, TX_SLOW, 75 * NS_PER_US, 0 }, REFUSED(10), REFUSED(11), REFUSED(13), REFUSED(17), REFUSED(18),
	       REFUSED(19),
	       REFUSED(22), REFUSED(30));
	return bench_run("refused");
}

static void sends_that_are_refused(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (enum source wire = SOURCE_KERNEL; wire <= SOURCE_HARDWARE; wire++) {
			for (int kind = 0; kind < 4; kind++) {
				const bool counts = kind & 1, detailed = kind & 2;
				struct fake_account got = run_refused(role, wire, counts, detailed);

				assert_int_equal(got.refused, 8);
				assert_int_equal(got.recorded, role == ROLE_EMIT ? PACKETS : PACKETS - 8);
				assert_int_equal(got.unstamped + got.stamp_unmatched + got.error_other, 0);
				/* After each run of refusals once. */
				assert_in_range(fake.ids_asked, 5, 8);
				assert_int_equal(b.channel.at->ids_ahead, counts ? 8 : 0);
				assert_int_equal(counter_get(&b.x.result.account.detailed), detailed ? got.recorded : 0);
				assert_int_equal(counter_get(&b.x.result.account.missing_queue), 0);
				assert_int_equal(counter_get(&b.x.result.account.missing_driver), 0);
			}
		}
	}
}

/* No unneeded id is requested. */
static void no_id_is_asked_for(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	assert_int_equal(bench_run("nothing refused").recorded, PACKETS);
	assert_int_equal(fake.ids_asked, 0);
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.id_by_message = true;
	SCRIPT(REFUSED(10));
	assert_int_equal(bench_run("ids by message").recorded, PACKETS - 1);
	assert_int_equal(fake.ids_asked, 0);
	bench_start(ROLE_REFLECT, SOURCE_USER);
	SCRIPT(REFUSED(10));
	assert_int_equal(bench_run("no stamps").recorded, PACKETS - 1);
	assert_int_equal(fake.ids_asked, 0);
}

/* The requesting packet has no timestamp known to be its own; the next packet requests again. */
static void an_id_that_does_not_come(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		const unsigned from = role == ROLE_EMIT ? 10 : 11;

		bench_start(role, SOURCE_KERNEL);
		fake.counts_refused = true;
		static struct fake_event events[] = { REFUSED(10), { 0, 0, NO_ID, 0, 0 } };

		events[1].first = from;
		bench_script(events, COUNT_OF(events));

		struct fake_account got = bench_run("no id");

		assert_int_equal(got.unstamped, 1);
		assert_int_equal(got.stamp_unmatched, 1);
		assert_int_equal(got.recorded, PACKETS - 1 - (role == ROLE_REFLECT));
		assert_int_equal(fake.ids_asked, 2);
		assert_int_equal(b.channel.at->ids_ahead, 1);
	}
}

/* The timestamp of another packet with the right id: before the send, or after the fetch. */
static void a_time_that_cannot_be(void **state)
{
	static const int64_t by_ns[] = { -2000, -50 * NS_PER_US, -NS_PER_S, 150 * NS_PER_US, NS_PER_S };
	static struct fake_event event = { .first = 10, .fault = TX_TIME };

	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		for (size_t i = 0; i < COUNT_OF(by_ns); i++) {
			for (int by_message = 0; by_message < 2; by_message++) {
				bench_start(role, SOURCE_KERNEL);
				b.options.no_step_check = false;
				fake.id_by_message = by_message;
				event.argument = by_ns[i] - (role == ROLE_REFLECT ? 10 * NS_PER_US : 0);
				if (by_ns[i] > 0)
					event.argument = by_ns[i];
				bench_script(&event, 1);

				struct fake_account got = bench_run("a time that cannot be");

				assert_int_equal(got.stamp_unmatched, 1);
				assert_int_equal(got.unstamped, 1);
				assert_int_equal(got.recorded, PACKETS - 1);
				assert_int_equal(fake.ids_asked, !by_message);
			}
		}
	}
}

static uint32_t reads_per_s; /* limit of the NIC's clock; 0: none */

/* NIC timestamps, and the relation of the clocks is known within 100 ns. */
static struct fake_account run_by_nic(enum role role, int64_t by_ns, int64_t phc_set_ns, int phc_fd)
{
	static struct fake_event event = { .first = 10, .fault = TX_TIME };

	bench_start(role, SOURCE_HARDWARE);
	b.options.no_step_check = false;
	relate_clocks(BEGIN_NS, 100, 0);
	clocks.phc_fd = phc_fd;
	clocks.budget.reads_per_s = reads_per_s;
	fake.phc_set_ns = phc_set_ns;
	event.argument = by_ns;
	bench_script(&event, 1);
	return bench_run("by the NIC");
}

/* Too early by less than the step threshold, and too late; before the send of the reply, but not before the
 * request. */
static void a_time_of_the_nic_that_cannot_be(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		const int64_t early_ns = role == ROLE_EMIT ? -4000 : -6000;

		assert_int_equal(run_by_nic(role, early_ns, 0, FAKE_PHC_FD).stamp_unmatched, 1);
		assert_int_equal(b.x.result.account.recorded, PACKETS - 1);
		assert_int_equal(b.x.result.account.stepped + b.x.result.account.disordered, 0);
		assert_int_equal(run_by_nic(role, 150 * NS_PER_US, 0, FAKE_PHC_FD).stamp_unmatched, 1);
		/* The clock contradicts the relation: it was stepped, which is no evidence about the
		 * timestamp's packet. */
		for (int late = 0; late < 2; late++) {
			const struct fake_account got = late ?
							run_by_nic(role, 150 * NS_PER_US, 150 * NS_PER_US,
								   FAKE_PHC_FD) :
							run_by_nic(role, early_ns, -7000, FAKE_PHC_FD);

			assert_int_equal(got.stamp_unmatched, 0);
			assert_int_equal(b.x.result.account.recorded + b.x.result.account.negative,
					 PACKETS - got.stepped);
			/* A response of the time in the program and some microseconds more is after the step. */
			assert_int_equal(got.stepped, role == ROLE_REFLECT && late);
		}
		/* No NIC's clock can be read: nothing is known. */
		assert_int_equal(run_by_nic(role, early_ns, 0, -1).stamp_unmatched, 0);
		assert_int_equal(b.x.result.account.recorded, PACKETS);
		/* The same of a clock whose readings have a limit. */
		reads_per_s = 100;
		assert_int_equal(run_by_nic(role, early_ns, 0, FAKE_PHC_FD).stamp_unmatched, 0);
		assert_int_equal(b.x.result.account.recorded, PACKETS);
		reads_per_s = 0;
	}
}

/* A clock was set after the send: the sample is stepped, whatever its latency. */
static void a_clock_that_was_set_is_no_wrong_stamp(void **state)
{
	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.options.no_step_check = false;
	SCRIPT({ 10, 0, SET, -NS_PER_S, 0 });

	struct fake_account got = bench_run("set");

	assert_int_equal(got.stepped, 1);
	assert_int_equal(got.stamp_unmatched, 0);
}

/* --no-step-check: clocks are simulated, and nothing is known of their times. */
static void no_tx_match_without_a_check_of_steps(void **state)
{
	(void)state;
	bench_start(ROLE_EMIT, SOURCE_KERNEL);
	SCRIPT({ 10, 0, TX_TIME, -50 * NS_PER_US, 0 });
	assert_int_equal(bench_run("simulated").recorded, PACKETS);
}

/* The kernel counts for each socket: two packets may have the same id. */
static void ids_of_two_sockets(void **state)
{
	struct peer_socket *peer_socket = b.channel.peer_socket;

	(void)state;
	bench_start(ROLE_REFLECT, SOURCE_KERNEL);
	b.channel.peer_socket[0].id_by_message = false;
	b.x.flight = b.x.few;
	b.x.flight_mask = FLIGHTS - 1;
	for (uint32_t i = 0; i < 2; i++)
		b.x.flight[5 + i] = (struct flight){ .key = 5 + i, .id = 5, .peer_socket = (uint8_t)i,
						     .state = FLIGHT_WAITING };
	/* Also where it is not as far ahead as it was when that packet was sent. */
	for (uint32_t ahead = 0; ahead < 4; ahead++) {
		for (int i = 0; i < 2; i++) {
			b.channel.at = &peer_socket[i];
			peer_socket[i].number = (uint8_t)i;
			peer_socket[i].ids_ahead = 1 - ahead;
			assert_ptr_equal(tx_match_flight_of(&b.x, 5), &b.x.flight[5 + i]);
			assert_null(tx_match_flight_of(&b.x, 6));
		}
	}
	peer_socket[2].number = 2;
	b.channel.at = &peer_socket[2];
	assert_null(tx_match_flight_of(&b.x, 5));
}

/* ---- The kernel's transmit times --------------------------------------------------------------------------------- */

struct detail_case {
	enum fake_detail how;
	bool known;
	unsigned unmatched; /* entries of each packet that no packet in flight has */
};

static const struct detail_case detail_cases[FAKE_DETAILS] = {
	{ DETAIL_GOOD, true, 0 }, { DETAIL_AFTER, false, 0 }, { DETAIL_OTHER_ID, false, 1 }, { DETAIL_EARLY, false, 1 },
	{ DETAIL_LATER, false, 1 }, { DETAIL_TWICE, true, 0 }, { DETAIL_NONE, false, 0 },
};

static void check_details(enum role role, enum source wire, const struct detail_case *c)
{
	const bool by_nic = wire == SOURCE_HARDWARE;
	struct fake_account got;
	struct account *a = &b.x.result.account;

	bench_start(role, wire);
	b.options.no_step_check = false;
	take_details(wire);
	fake.how = c->how;
	fake.id_by_message = true;
	got = bench_run("details");
	assert_int_equal(got.recorded, PACKETS);
	assert_int_equal(counter_get(&a->detailed), PACKETS);
	assert_int_equal(counter_get(&a->missing_queue), c->known ? 0 : PACKETS);
	assert_int_equal(counter_get(&a->missing_driver), c->known || !by_nic ? 0 : PACKETS);
	assert_in_range(counter_get(&a->stamp_unmatched), c->unmatched * fake.detail * PACKETS,
			c->unmatched * fake.detail * (PACKETS + 1));
	assert_in_range(counter_get(&a->stamp_duplicate), c->how == DETAIL_TWICE && by_nic ? PACKETS : 0,
			c->how == DETAIL_TWICE && by_nic ? PACKETS + 1 : 0);
	for (uint64_t i = 0; i < log_ready(&b.log); i++) {
		const struct sample *s = logged(i);

		assert_int_equal(s->source[KERNEL_QUEUE], c->known ? SOURCE_KERNEL : SOURCE_NONE);
		assert_int_equal(s->source[KERNEL_DRIVER], c->known ? SOURCE_KERNEL : SOURCE_NONE);
		if (!c->known || role == ROLE_REFLECT) /* whose records have only the times on the wire and of user space */
			continue;
		assert_in_range(s->time_ns[KERNEL_QUEUE] - s->time_ns[EMIT_T1_USER], 11, 5000);
		if (by_nic)
			assert_int_equal(s->time_ns[KERNEL_DRIVER] - s->time_ns[KERNEL_QUEUE], 20 +
					 (c->how == DETAIL_TWICE ? 0 : 1));
		else
			assert_int_equal(s->time_ns[KERNEL_DRIVER], s->time_ns[EMIT_T1_WIRE]);
	}
}

static void the_times_of_queue_and_driver(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++)
		for (enum source wire = SOURCE_KERNEL; wire <= SOURCE_HARDWARE; wire++)
			for (int how = 0; how < FAKE_DETAILS; how++)
				check_details(role, wire, &detail_cases[how]);
}

/* Of many entries that of the packet which requested its id is the one between its send and the next. */
static void the_entry_of_the_packet_that_asked(void **state)
{
	static const struct {
		int64_t time_ns;
		bool learned, next_sent;
	} cases[] = {
		{ 999, false, true }, { 1000, true, true }, { 2000, true, true }, { 2001, false, true },
		{ 2001, true, false }, { 999, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct peer_socket *at;

		bench_start(ROLE_EMIT, SOURCE_KERNEL);
		b.x.flight = b.x.few;
		b.x.flight_mask = FLIGHTS - 1;
		at = b.channel.at = &b.channel.peer_socket[0];
		at->id_open = at->id_due = true;
		at->asked_key = 5;
		at->last_key = cases[i].next_sent ? 6 : 5;
		b.x.next_key = at->last_key + 1;
		for (uint32_t key = 5; key < b.x.next_key; key++)
			b.x.flight[key] = (struct flight){ .key = key, .id = key ^ TX_MATCH_UNKNOWN_ID,
							   .state = FLIGHT_WAITING,
							   .sample.time_ns[EMIT_T1_USER] = 1000 * (key - 4) };
		tx_match_kernel(&b.x, &(struct departure){ .id = 7, .time_ns = cases[i].time_ns }, KERNEL_QUEUE,
				EMIT_T1_USER);
		assert_int_equal(at->id_open, !cases[i].learned);
		assert_int_equal(b.x.flight[5].id, cases[i].learned ? 7 : 5 ^ TX_MATCH_UNKNOWN_ID);
		assert_int_equal(b.x.flight[5].sample.source[KERNEL_QUEUE], cases[i].learned ? SOURCE_KERNEL :
				 SOURCE_NONE);
		assert_int_equal(counter_get(&b.x.result.account.stamp_unmatched), !cases[i].learned);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sends_that_are_refused),
		TEST(no_id_is_asked_for),
		TEST(an_id_that_does_not_come),
		TEST(a_time_that_cannot_be),
		TEST(a_time_of_the_nic_that_cannot_be),
		TEST(a_clock_that_was_set_is_no_wrong_stamp),
		TEST(no_tx_match_without_a_check_of_steps),
		TEST(ids_of_two_sockets),
		TEST(the_times_of_queue_and_driver),
		TEST(the_entry_of_the_packet_that_asked),
	};

	util_seed();
	return cmocka_run_group_tests_name("tx_match", tests, NULL, bench_free);
}
