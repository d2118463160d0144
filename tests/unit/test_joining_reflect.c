/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime,clock_to_phc,clock_peer_forward,clock_peer_backward,pmc_begin,pmc_end,pmc_account sources=@loop libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports of a reflector for the emitter's remote timestamps; the bench checks every reply against the
 * truth. */
#include "measure/reflect.c"

#include "exchange_bench.h"
#include "reply.h"

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

/* check_reply() of the fake has compared every reply with the expected reports. */
static void every_reply_prints_of_the_one_before(void **state)
{
	static const enum source kinds[] = { SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (int mode = 0; mode < 18; mode++) {
		bench_join(ROLE_REFLECT, kinds[mode % 3]);
		b.options.sw_timestamps = mode / 9;
		b.plan.software = mode / 3 % 3;
		b.plan.t2_user = mode / 3 % 3 == 2;
		assert_int_equal(bench_run("reflect").sent, PACKETS);
		assert_int_equal(fake.follow_ups, PACKETS - 1);
	}
}

/* -N: only T3 of user space exists, by software. T2 may be of the NIC's clock. */
static void follow_ups_without_transmit_stamps(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		bench_join(ROLE_REFLECT, mode & 1 ? SOURCE_HARDWARE : SOURCE_KERNEL);
		b.channel.tx_stamps = false;
		b.options.no_tx_stamps = true;
		b.plan.software = b.plan.t2_user = mode & 2;
		assert_int_equal(bench_run("-N").recorded, PACKETS);
		assert_int_equal(fake.follow_ups, PACKETS - 1);
	}
}

/* 300 packets of other senders arrive between two of a session: its last packet has left the ring, and is
 * still reported. */
static void a_session_remembers_its_last_reply(void **state)
{
	(void)state;
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.peers = 301;
	fake.packets = 3 * fake.peers;
	assert_int_equal(bench_run("301 sessions").sent, 903);
	assert_int_equal(fake.follow_ups, 602);
}

/* An evicted session begins anew: number 0, and no reports about earlier replies. */
static void a_session_that_was_forgotten(void **state)
{
	(void)state;
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.peers = SESSIONS_MAX + 1;
	fake.packets = 3 * fake.peers;
	fake.gap_ns = SESSION_IDLE_NS / SESSIONS_MAX;
	fake.idle_ns_max = NS_PER_MS;
	fake.idle_stop_ns = 4 * fake.gap_ns;
	fake.forgetful = true;
	b.plan.follow_ups = FOLLOW_UPS_MAX;
	assert_int_equal(bench_run("1025 sessions").sent, 3 * (SESSIONS_MAX + 1));
	assert_int_equal(fake.follow_ups, 0);
	assert_int_equal(fake.listed, 0);
	assert_int_equal(counter_get(&b.sessions.evicted), 2 * (SESSIONS_MAX + 1) + 1);

	/* As many as there are entries are all remembered. */
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.peers = SESSIONS_MAX;
	fake.packets = 2 * fake.peers;
	bench_run("1024 sessions");
	assert_int_equal(fake.follow_ups, SESSIONS_MAX);
}

/* The timestamp of a reply arrives after the next request: zeros then, and the follow-up in the reply after
 * that. */
static void a_stamp_that_is_not_known_in_time(void **state)
{
	(void)state;
	for (int late = 0; late < 3; late++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake.open_loop_ns = 20 * NS_PER_US;
		if (late == 0)
			SCRIPT({ 10, 0, TX_SLOW, 50 * NS_PER_US, 0 }); /* after two more requests */
		else if (late == 1)
			SCRIPT({ 10, 0, TX_SLOW, 2 * TIMEOUT_NS + NS_PER_MS, 0 }); /* after it was given up */
		else
			SCRIPT({ 10, 0, TX_NONE, 0, 0 });
		bench_run("late stamps");
		assert_int_equal(fake.follow_ups, PACKETS - 2);
	}
	/* Given up, delivered, and only then the next request. */
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.packets = 2;
	fake.open_loop_ns = 3 * TIMEOUT_NS;
	SCRIPT({ 0, 0, TX_SLOW, 2 * TIMEOUT_NS + NS_PER_MS, 0 });
	assert_int_equal(bench_run("a late stamp before the next request").stamp_late, 1);
	assert_int_equal(fake.follow_ups, 0);

	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	fake.packets = 400;
	fake.open_loop_ns = 2000;
	fake.peers = 400;
	SCRIPT({ 0, 399, TX_SLOW, 4 * NS_PER_MS, 0 });
	assert_int_equal(bench_run("out of the ring").stamp_unmatched, 400 - FLIGHTS);
}

/* The next request is queued already, and other entries precede the timestamp: it is still fetched. */
static void nothing_holds_up_the_stamp_of_the_last_reply(void **state)
{
	(void)state;
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	SCRIPT({ 10, 0, TWICE, 1, 0 }, { 10, 0, TX_EXTRA, ENTRY_INFO, 0 }, { 10, 0, TX_EXTRA, ENTRY_ICMP, 0 },
	       { 20, 0, TWICE, 1, 0 }, { 20, 0, TX_EXTRA_ID, -1, 0 });
	assert_int_equal(bench_run("more in the error queue").repeated, 2);
	assert_int_equal(fake.follow_ups, PACKETS + 2 - 1);
}

/* A timestamp belongs to its own reply, however many of the session have been sent since. */
static void a_stamp_of_an_earlier_reply(void **state)
{
	(void)state;
	for (unsigned peers = 1; peers <= 3; peers++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake.peers = peers;
		fake.open_loop_ns = 20 * NS_PER_US;
		fake.packets = 300;
		SCRIPT({ 10, 50, TX_SLOW, 50 * NS_PER_US, 0 }, { 100, 140, TX_SLOW, 90 * NS_PER_US, 0 },
		       { 200, 240, TX_TWICE, 0, 0 });
		bench_run("overlapping stamps");
		assert_in_range(fake.follow_ups, 200, 299 - 2 * 40 / (int)peers);
	}
}

/* The second rant TLV reports the last eight replies whose timestamps have arrived: check_follow_ups() of
 * the fake has compared each list with the truth. */
static void many_follow_ups(void **state)
{
	static const enum source kinds[] = { SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE };

	(void)state;
	for (int mode = 0; mode < 3 * FOLLOW_UPS_MAX; mode++) {
		bench_join(ROLE_REFLECT, kinds[mode % 3]);
		b.plan.follow_ups = (uint8_t)(1 + mode / 3);
		assert_int_equal(bench_run("many follow-ups").sent, PACKETS);
		assert_int_equal(fake.follow_ups, PACKETS - 1);
		assert_int_equal(fake.listed, PACKETS - 1);
		assert_int_equal(fake.listed_late, 0);
	}
	/* Nothing else that a probe may ask for is needed. */
	bench_start(ROLE_REFLECT, SOURCE_HARDWARE);
	b.plan.follow_ups = 2;
	bench_run("follow-ups alone");
	assert_int_equal(fake.listed, PACKETS - 1);

	bench_join(ROLE_REFLECT, SOURCE_KERNEL);
	b.plan.follow_ups = 3;
	b.channel.tx_stamps = false;
	b.options.no_tx_stamps = true;
	bench_run("follow-ups without transmit stamps");
	assert_int_equal(fake.listed, PACKETS - 1);
}

/* Every timestamp arrives this number of replies late, and is reported then; that of the ninth reply before
 * is too late. */
static void follow_ups_that_come_late(void **state)
{
	enum { REQUESTS = 300 };

	(void)state;
	for (int late = 0; late <= 9; late++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		b.plan.follow_ups = FOLLOW_UPS_MAX;
		fake.open_loop_ns = 20 * NS_PER_US;
		fake.packets = REQUESTS;
		const struct fake_event slow = { 0, REQUESTS, TX_SLOW, late * 20 * NS_PER_US + 5 * NS_PER_US, 0 };

		fake.events = &slow;
		fake.event_count = 1;
		bench_run("late stamps");
		/* The last `late` + 1 replies have no later reply that could report them. */
		assert_int_equal(fake.listed, late < FAKE_LAST ? REQUESTS - 1 - late : 0);
		assert_int_equal(fake.listed_late, late ? fake.listed : 0);
		assert_int_equal(fake.follow_ups, late ? 0 : REQUESTS - 1);
	}
}

/* Timestamps in any order, some missing, of one to three sessions, with requests in bursts. */
static void follow_ups_in_any_order(void **state)
{
	(void)state;
	for (unsigned run = 0; run < 60; run++) {
		struct fake_event script[100];

		bench_join(ROLE_REFLECT, run % 2 ? SOURCE_HARDWARE : SOURCE_KERNEL);
		b.plan.follow_ups = (uint8_t)(run % 4 ? FOLLOW_UPS_MAX : 1 + util_below(FOLLOW_UPS_MAX));
		fake.peers = 1 + run % 3;
		fake.open_loop_ns = run % 5 ? 20 * NS_PER_US : 3 * NS_PER_US;
		fake.packets = 400;
		for (uint32_t i = 0; i < COUNT_OF(script); i++)
			script[i] = (struct fake_event){ 4 * i, 4 * i + (uint32_t)util_below(4),
							 util_below(10) ? TX_SLOW : TX_NONE,
							 (int64_t)util_below(12 * (uint64_t)fake.open_loop_ns), 0 };
		fake.events = script;
		fake.event_count = COUNT_OF(script);
		bench_run("stamps in any order");
		assert_in_range(fake.listed_late, 10, 400);
		assert_true(fake.listed > fake.follow_ups);
	}
}

/* A reply that the kernel refused was not sent: the next reply reports the previous reply. */
static void a_reply_that_was_refused(void **state)
{
	(void)state;
	bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
	b.plan.follow_ups = FOLLOW_UPS_MAX;
	SCRIPT({ 10, 11, SEND_ERROR, ENOBUFS, 1 });
	assert_int_equal(bench_run("refused").unanswered, 2);
	assert_int_equal(fake.follow_ups, PACKETS - 3);
}

/* User-space times are reported on the timebase of T2 if the relation is known, with the bound; else as
 * they are. */
static void times_of_user_space_are_placed(void **state)
{
	(void)state;
	for (int mode = 0; mode < 16; mode++) {
		bench_join(ROLE_REFLECT, mode & 1 ? SOURCE_HARDWARE : SOURCE_KERNEL);
		b.plan.software = b.plan.t2_user = mode & 2;
		b.options.sw_timestamps = mode & 4;
		/* Without a comparison of the clocks a missing timestamp does not make the times
		 * comparable. */
		if (mode & 1 && mode & 8)
			relate_clocks(1000 * NS_PER_S, 100, 0.001);
		SCRIPT({ 10, 0, RX, RX_ABSENT, 0 });
		bench_run("placed");
	}
}

/* In the middle of the run the relation gets too old. */
static void times_that_have_no_place(void **state)
{
	(void)state;
	for (int64_t age_us = 90; age_us < 130; age_us++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		relate_clocks(1000 * NS_PER_S + age_us * NS_PER_US - NS_PER_S, 100, 0);
		bench_run("too old");
		assert_in_range(b.x.result.account.unconverted, 5, PACKETS - 5);
	}
}

/* The class of a packet costs a control message each: it is enabled once, on the first request. From then
 * on each reply reports it and is sent with it, which the fake checks. */
static void the_class_is_asked_for_once(void **state)
{
	(void)state;
	for (int wanted = 0; wanted < 2; wanted++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		b.plan.class_of_service = wanted;
		b.plan.dscp = 46;
		SCRIPT({ 0, 0, ARRIVED_TOS, 46 << 2, 0 }, { 10, 15, ARRIVED_TOS, 46 << 2, 0 },
		       { 16, 0, ARRIVED_TOS, 34 << 2 | 3, 0 });
		bench_run("class of service");
		assert_int_equal(b.want_tos_calls, wanted);
	}
	bench_join(ROLE_EMIT, SOURCE_HARDWARE);
	b.plan.class_of_service = true;
	b.options.dscp = 0;
	bench_run("class of service, emit");
	assert_int_equal(b.want_tos_calls, 0);
}

/* Without a request the answer is unchanged, also when the class is known because of another sender. */
static void only_who_asks_is_answered_in_class(void **state)
{
	(void)state;
	for (int wanted = 0; wanted < 2; wanted++) {
		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake_end();
		b.plan.class_of_service = wanted;
		packet_prepare(b.channel.datagram, &b.plan);
		packet_probe(b.channel.datagram, &b.plan, 7, 1700 * NS_PER_S);
		b.channel.tos_wanted = true;
		b.x.arrival = (struct arrival){ .bytes = packet_plan_bytes(&b.plan), .to_unicast = true, .tos = 46 << 2,
						.source = SOURCE_HARDWARE };
		b.x.arrival.from.in.sin_port = htons(FAKE_FIRST_PORT);
		assert_true(read_request(&b.x));
		assert_int_equal(b.x.arrival.in_class, wanted);
		assert_int_equal(b.want_tos_calls, 0);
	}
}

/* Once, by the first request that asks, and not with --stages nic. */
static void the_kernels_time_is_taken_for_who_asks(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		const bool wanted = kind & 1, allowed = kind & 2;

		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake_end();
		b.options.stages.detail = allowed ? STAGES_KERNEL : STAGES_NIC;
		b.plan.software = b.plan.t2_user = true;
		b.plan.t2_kernel = wanted;
		for (int i = 0; i < 2; i++) {
			packet_prepare(b.channel.datagram, &b.plan);
			packet_probe(b.channel.datagram, &b.plan, 7, 1700 * NS_PER_S);
			b.x.arrival = (struct arrival){ .bytes = packet_plan_bytes(&b.plan), .to_unicast = true,
							.source = SOURCE_HARDWARE };
			b.x.arrival.from.in.sin_port = htons(FAKE_FIRST_PORT);
			assert_true(read_request(&b.x));
			assert_int_equal(b.want_kernel_times_calls, wanted && allowed);
			b.channel.kernel_times = false; /* refused: not requested again for each packet */
		}
	}
}

/* On lo both ends have the same address; the other rules remain valid. */
static void own_address_on_loopback(void **state)
{
	static const struct transport two_ports, one_port = { .one_port = true };

	(void)state;
	for (int loopback = 0; loopback < 2; loopback++) {
		bench_start(ROLE_REFLECT, SOURCE_KERNEL);
		fake_end();
		b.channel.transport = &two_ports;
		b.x.loopback = loopback;
		b.x.arrival = (struct arrival){ .to_unicast = true, .from_self = true };
		b.x.arrival.from.in.sin_port = htons(FAKE_FIRST_PORT);
		assert_int_equal(is_foreign(&b.x, PACKET_GOOD), !loopback);
		assert_true(is_foreign(&b.x, PACKET_IS_REPLY));
		b.x.arrival.to_unicast = false;
		assert_true(is_foreign(&b.x, PACKET_GOOD));
		b.x.arrival.to_unicast = true;
		b.x.arrival.from.in.sin_port = htons(FAKE_PORT);
		assert_true(is_foreign(&b.x, PACKET_GOOD));
		b.channel.transport = &one_port;
		assert_int_equal(is_foreign(&b.x, PACKET_GOOD), !loopback);
		assert_true(is_foreign(&b.x, PACKET_IS_REPLY));
	}
}

/* Reports of a reply about the packet and the session, compared with a reply made by hand. */
static void what_else_a_reply_prints(void **state)
{
	static const uint8_t direct_measurement[] = { 0x80, 5, 0, 12, 0, 0, 0, 77, 0, 0, 0, 0, 0, 0, 0, 0 };

	(void)state;
	for (int tos = -1; tos < 256; tos++) {
		struct session session = { .reply_seq = 41, .requests = 57 };
		struct flight *f = &b.x.few[0];
		struct reply r;
		bool malformed;

		bench_join(ROLE_REFLECT, SOURCE_KERNEL);
		fake_end();
		b.plan.class_of_service = true;
		b.plan.dscp = 21;
		packet_prepare(b.channel.datagram, &b.plan);
		packet_probe(b.channel.datagram, &b.plan, 7, 1700 * NS_PER_S);
		b.x.arrival.bytes = packet_plan_bytes(&b.plan);
		memcpy(b.channel.datagram + b.x.arrival.bytes, direct_measurement, sizeof(direct_measurement));
		b.x.arrival.bytes += sizeof(direct_measurement);
		b.x.arrival.tos = tos;
		b.x.arrival.ttl = 77;
		b.x.sync_source = 3;
		f->sample.source[REFLECT_T2_WIRE] = SOURCE_KERNEL;
		f->sample.time_ns[REFLECT_T2_WIRE] = 1700 * NS_PER_S + 5;

		size_t bytes = make_reply(&b.x, f, &session, &malformed);
		const uint8_t *direct = b.channel.datagram + bytes - sizeof(direct_measurement);

		assert_int_equal(read_whole_reply(b.channel.datagram, bytes, NULL, &r), PACKET_GOOD);
		assert_int_equal(r.seq, 41);
		assert_int_equal(r.ttl, 77);
		assert_int_equal(r.t2_ns, 1700 * NS_PER_S + 5);
		assert_int_equal(r.class_reported, tos >= 0);
		if (tos >= 0) {
			assert_int_equal(r.dscp, tos >> 2);
			assert_int_equal(r.ecn, tos & 3);
			assert_int_equal(r.reverse_dscp_refused, tos >> 2 != 21);
		}
		/* As received; received; sent, including this packet. */
		assert_memory_equal(direct, ((const uint8_t[]){ 0, 5, 0, 12, 0, 0, 0, 77, 0, 0, 0, 57, 0, 0, 0, 42 }),
				    16);
		/* Timestamp Information, the first TLV: the source of T2 and of T3. */
		assert_int_equal(b.channel.datagram[STAMP_BASE_BYTES + 4], 3);
		assert_int_equal(b.channel.datagram[STAMP_BASE_BYTES + 6], 3);
		assert_false(malformed);
	}
}

/* Reports about the own clock: none to a session that began after the step; to earlier sessions the fault
 * and the possible error of the times, from then on. */
static void a_clock_in_doubt(void **state)
{
	static const struct {
		uint32_t doubts;
		int64_t step_error_ns, bound_ns;
		bool doubted;
	} rows[] = {
		{ 3, 0, 102, false }, { 3, 5000, 102, false }, { 4, 5000, 5000, true }, { 4, 0, 102, true },
			{ 5, 50, 102, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct session session = { .requests = 57, .doubts = 3 };
		struct flight *f = &b.x.few[0];
		struct reply r;
		bool malformed;

		bench_join(ROLE_REFLECT, SOURCE_HARDWARE);
		fake_end();
		relate_clocks(0, 100, 0);
		clocks.slot[0].at_ns = clock_read_ns(CLOCK_REALTIME);
		b.x.watched = &clocks;
		atomic_store(&clocks.doubts, rows[i].doubts);
		atomic_store(&clocks.step_error_ns, rows[i].step_error_ns);
		b.plan.software = true;
		packet_prepare(b.channel.datagram, &b.plan);
		packet_probe(b.channel.datagram, &b.plan, 7, 1700 * NS_PER_S);
		b.x.arrival.bytes = packet_plan_bytes(&b.plan);
		f->sample.source[REFLECT_T2_WIRE] = SOURCE_HARDWARE;
		make_reply(&b.x, f, &session, &malformed);
		assert_int_equal(read_whole_reply(b.channel.datagram, b.x.arrival.bytes, NULL, &r), PACKET_GOOD);
		assert_true(r.software_reported);
		assert_int_equal(r.clock_doubted, rows[i].doubted);
		assert_int_equal(r.software_bound_ns, rows[i].bound_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_reply_prints_of_the_one_before),
		TEST(follow_ups_without_transmit_stamps),
		TEST(a_session_remembers_its_last_reply),
		TEST(a_session_that_was_forgotten),
		TEST(a_stamp_that_is_not_known_in_time),
		TEST(nothing_holds_up_the_stamp_of_the_last_reply),
		TEST(a_stamp_of_an_earlier_reply),
		TEST(many_follow_ups),
		TEST(follow_ups_that_come_late),
		TEST(follow_ups_in_any_order),
		TEST(a_reply_that_was_refused),
		TEST(times_of_user_space_are_placed),
		TEST(times_that_have_no_place),
		TEST(the_class_is_asked_for_once),
		TEST(only_who_asks_is_answered_in_class),
		TEST(the_kernels_time_is_taken_for_who_asks),
		TEST(own_address_on_loopback),
		TEST(what_else_a_reply_prints),
		TEST(a_clock_in_doubt),
	};

	util_seed();
	return cmocka_run_group_tests_name("joining_reflect", tests, NULL, bench_free);
}
