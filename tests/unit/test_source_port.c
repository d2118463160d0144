/* build: wraps=stamp_send,stamp_receive,stamp_fetch,stamp_look,stamp_wait,clock_gettime,clock_nanosleep sources=tests/unit/fake_network.c,wire/timestamping.c,wire/peer_socket.c,wire/packet.c,wire/tlv*.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,measure/exchange.c,measure/emit.c,measure/window*.c,measure/probe.c,measure/idle_sleep.c,measure/join.c,measure/reflect.c,measure/pace.c,measure/sample.c,measure/freeze.c,measure/tx_match.c,measure/rules.c,measure/ipdv.c,measure/source_port.c,@result,measure/run_buffers.c,host/counters/pmc.c,host/process/memory.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter with many source ports. */
#include "measure/source_port.h"

#include "fake_network.h"
#include "util.h"

/* For each port the recorded samples, by its own numbers; and no sample of another port. */
static void check_ports(void)
{
	uint64_t samples[PORTS] = { 0 }, lost = 0, directions = 0;

	for (unsigned n = 0; n < COUNT(recorded); n++)
		samples[sim.truth[record[n].seq].port]++;
	for (unsigned i = 0; i < options.source_ports; i++) {
		const struct source_port *p = &x.source_port[i];

		assert_int_equal(p->rtt.count, samples[i]);
		assert_int_equal(p->sent, sim.sent[i]);
		lost += p->lost;
		directions += p->directions.lost_forward + p->directions.lost_backward + p->directions.lost_unknown;
	}
	assert_int_equal(lost, COUNT(lost));
	assert_int_equal(directions, x.result.directions.lost_forward + x.result.directions.lost_backward +
			 x.result.directions.lost_unknown);
	assert_int_equal(COUNT(stamp_unmatched) + COUNT(unstamped), 0);
}

static void each_port_is_a_session(void **state)
{
	static const int64_t ports[] = { 2, 3, 64, 128 }, windows[] = { 1, 2, 64, 1000 };

	for (size_t i = 0; i < COUNT_OF(ports) * COUNT_OF(windows); i++) {
		network_setup(state);
		options.source_ports = ports[i / COUNT_OF(windows)];
		options.window = windows[i % COUNT_OF(windows)];
		options.timeout_ns = 100 * NS_PER_MS;
		network_by_chance();
		for (unsigned n = 0; n < PROBES; n += 5)
			sim.fate[n].astray = true;
		network_run();
		assert_int_equal(network_check_records(), 3000);
		check_ports();
		assert_int_equal(COUNT(lost) + COUNT(late), 0);
		assert_in_range(COUNT(duplicate), (3000 - options.window) / 7 - 1, 3000 / 7 + 20);
		assert_in_range(COUNT(foreign), 3000 / 5 - 20, 3000 / 5 + 26);
		for (int64_t n = 0; n < options.source_ports; n++)
			assert_in_range(x.source_port[n].rtt.count, 3000 / options.source_ports,
					3000 / options.source_ports + 1);
		network_teardown(state);
	}
}

/* No T3 is missing or another's, as long as replies of a port keep their order; the last samples get theirs
 * by a closing probe on each port. */
static void t3_comes_by_its_own_port(void **state)
{
	static const int64_t windows[] = { 1, 64 };

	for (size_t i = 0; i < COUNT_OF(windows); i++) {
		network_setup(state);
		options.source_ports = 128;
		options.window = windows[i];
		options.count = 2999;
		network_run();
		assert_int_equal(network_check_records(), 2999);
		check_ports();
		assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 2999);
		assert_int_equal(COUNT(closing), 128);
		assert_true(x.result.directions.reported);
		network_teardown(state);
	}
}

static void what_a_port_loses_is_its_own(void **state)
{
	unsigned remote = 0, back = 0;

	(void)state;
	options.source_ports = 16;
	options.window = 32;
	for (unsigned i = 0; i < 2000; i++) {
		if (i % 16 == 5 && i / 16 % 3 == 1) {
			sim.fate[i].remote_ns = -1;
			remote++;
		} else if (i % 16 == 9 && i / 16 % 4 == 1) {
			sim.fate[i].back_ns = -1;
			back++;
		} else if (i % 16 == 11) {
			sim.fate[i].back_ns = 300 * NS_PER_US;
		}
	}
	network_run();
	assert_int_equal(network_check_records(), 3000 - remote - back);
	check_ports();
	assert_int_equal(x.source_port[5].lost, remote);
	assert_int_equal(x.source_port[5].directions.lost_forward, remote);
	assert_int_equal(x.source_port[9].lost, back);
	assert_int_equal(x.source_port[9].directions.lost_backward, back);
	assert_int_equal(x.result.directions.lost_forward, remote);
	assert_int_equal(x.result.directions.lost_backward, back);
	assert_int_equal(source_ports_worst(x.result.port, x.result.ports), 5);
	x.result.port[5].lost = x.result.port[9].lost = 0;
	assert_int_equal(source_ports_worst(x.result.port, x.result.ports), 11);
	assert_true(x.result.ports_by_network);
	assert_in_range(x.result.port[11].max_ns, 300 * NS_PER_US, 304 * NS_PER_US);
}

/* Late or again by a port that nothing is in flight of: none is missed at the end. */
static void what_is_late_comes_by_its_port(void **state)
{
	static const int64_t windows[] = { 1, 64 };

	for (size_t i = 0; i < COUNT_OF(windows); i++) {
		network_setup(state);
		options.source_ports = 64;
		options.window = windows[i];
		options.timeout_ns = 2 * NS_PER_MS;
		for (unsigned n = 0; n < 500; n += 10) {
			sim.fate[n].back_ns = 3 * NS_PER_MS;
			sim.fate[n].again_ns = 1000;
		}
		/* At the end no more is to come by those ports. */
		sim.silent = true;
		for (unsigned n = 2990; n < 2999; n++)
			sim.fate[n].again_ns = 1000;
		network_run();
		assert_int_equal(COUNT(lost), 50);
		assert_int_equal(COUNT(late), 50);
		assert_int_equal(COUNT(duplicate), 50 + 9);
		assert_int_equal(x.result.directions.lost_forward + x.result.directions.lost_backward +
				 x.result.directions.lost_unknown, 0);
		assert_int_equal(network_check_records(), 2950);
		check_ports();
		network_teardown(state);
	}
}

/* With either kind of kernel. The next probe leaves by the next port at once, and that of the refused port
 * requests its id. */
static void a_port_that_refuses_holds_up_no_other(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		network_setup(state);
		options.source_ports = 3;
		options.window = i % 2 ? 64 : 1;
		options.timeout_ns = 100 * NS_PER_MS;
		sim.counts_refused = i / 2;
		sim.refusing = 1;
		sim.refuses = 200;
		for (unsigned n = 0; n < PROBES; n++) {
			sim.fate[n].refused = n % 11 == 3;
			sim.fate[n].stamp_ns = network_chance(900 * NS_PER_US);
		}
		network_run();
		assert_int_equal(network_check_records(), 3000);
		check_ports();
		assert_int_equal(x.source_port[0].refused + x.source_port[1].refused + x.source_port[2].refused,
				 COUNT(refused));
		assert_true(x.source_port[1].refused >= 200);
		assert_true(x.source_port[1].rtt.count > 500);
		assert_true(x.source_port[0].rtt.count > x.source_port[1].rtt.count);
		assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000);
		for (unsigned n = 0; n < 3000; n++)
			assert_in_range(sim.truth[record[n].seq].t1_ns - EPOCH_NS - sim.truth[record[n].seq].tried_ns,
					WIRE_NS, 50 * NS_PER_US);
		network_teardown(state);
	}
}

/* With any number of ports the reply is read as soon as with one. */
static void one_in_flight_is_not_slower(void **state)
{
	(void)state;
	options.source_ports = 128;
	options.window = 1;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_in_range((sim.now_ns - BEGIN_NS) / 3000, 8000, 12000);
}

/* An empty port is no evidence about others. */
static void a_thread_without_a_cpu(void **state)
{
	static const int64_t busy_poll_us[] = { 0, 50 };

	for (size_t i = 0; i < COUNT_OF(busy_poll_us); i++) {
		network_setup(state);
		options.source_ports = 64;
		options.window = 1000;
		options.busy_poll_us = busy_poll_us[i];
		sim.stall_at = 2000;
		sim.stall_ns = 300 * NS_PER_MS;
		for (unsigned n = 0; n < PROBES; n++)
			sim.fate[n].remote_ns = sim.fate[n].stamp_ns = NS_PER_MS;
		network_run();
		assert_int_equal(network_check_records(), 3000);
		check_ports();
		assert_int_equal(COUNT(lost) + COUNT(late) + COUNT(unstamped), 0);
		network_teardown(state);
	}
}

/* Packets in flight at a signal are not lost. */
static void a_stop_in_the_middle(void **state)
{
	(void)state;
	options.source_ports = 16;
	options.timeout_ns = NS_PER_S;
	sim.stop_at = 1000;
	for (unsigned i = 900; i < 1000; i += 5)
		sim.fate[i].back_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 0);
	assert_int_equal(COUNT(unfinished), 20);
	check_ports();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_port_is_a_session), cmocka_unit_test(t3_comes_by_its_own_port),
			TEST(what_a_port_loses_is_its_own),
		TEST(one_in_flight_is_not_slower), cmocka_unit_test(a_thread_without_a_cpu), TEST(a_stop_in_the_middle),
		cmocka_unit_test(what_is_late_comes_by_its_port),
		cmocka_unit_test(a_port_that_refuses_holds_up_no_other),
	};

	util_seed();
	return cmocka_run_group_tests_name("source_port", tests, NULL, NULL);
}
