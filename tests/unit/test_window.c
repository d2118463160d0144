/* build: wraps=stamp_send,stamp_receive,stamp_fetch,stamp_look,stamp_wait,clock_gettime,clock_nanosleep sources=tests/unit/fake_network.c,wire/timestamping.c,wire/peer_socket.c,wire/packet.c,wire/tlv*.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,measure/exchange.c,measure/emit.c,measure/window*.c,measure/probe.c,measure/idle_sleep.c,measure/join.c,measure/reflect.c,measure/pace.c,measure/sample.c,measure/freeze.c,measure/tx_match.c,measure/rules.c,measure/ipdv.c,measure/source_port.c,@result,measure/run_buffers.c,host/counters/pmc.c,host/process/memory.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The emitter with many probes in flight. */
#include "measure/window.h"

#include "fake_network.h"
#include "util.h"

static void each_has_its_own_times(void **state)
{
	static const int64_t windows[] = { 2, 3, 64, 1000 };

	for (size_t w = 0; w < COUNT_OF(windows); w++) {
		network_setup(state);
		options.window = windows[w];
		options.timeout_ns = 100 * NS_PER_MS;
		network_by_chance();
		for (unsigned i = 0; i < PROBES; i += 5)
			sim.fate[i].forged = true;
		network_run();
		assert_int_equal(network_check_records(), 3000);
		assert_int_equal(x.window.reached, windows[w]);
		assert_int_equal(COUNT(sent), 3000 + COUNT(closing));
		assert_int_equal(COUNT(lost) + COUNT(late) + COUNT(unstamped) + COUNT(stamp_unmatched) +
				 COUNT(unfinished), 0);
		assert_in_range(COUNT(duplicate), 3000 / 7 - windows[w] / 7 - 1, 3000 / 7 + 1);
		assert_in_range(COUNT(foreign), 3000 / 5, 3000 / 5 + 1);
		assert_true(windows[w] < 64 || COUNT(reordered) > 100);
		assert_int_equal(x.result.outages.count, 0);
		network_teardown(state);
	}
}

static void check_what_is_lost(void **state, uint32_t ring)
{
	unsigned lost = 0, remote = 0, late = 0, duplicate = 0;

	network_setup(state);
	sim.ring = ring;
	/* Late packets arrive before the end. */
	sim.fate[2999].back_ns = TIMEOUT_NS - 500 * NS_PER_US;
	for (unsigned i = 0; i < 2000; i++) {
		struct fate_of *f = &sim.fate[i];

		if (i % 37 == 5) {
			f->remote_ns = -1;
			remote++;
		} else if (i % 41 == 7) {
			f->back_ns = -1;
		} else if (i % 43 == 9) {
			f->back_ns = TIMEOUT_NS + 400 * NS_PER_US;
			f->again_ns = i % 2 * 1000;
			late++;
			duplicate += i % 2;
		} else {
			continue;
		}
		lost++;
	}
	network_run();
	assert_int_equal(network_check_records(), 3000 - lost);
	assert_int_equal(COUNT(lost), lost);
	assert_int_equal(COUNT(late), late);
	assert_int_equal(COUNT(duplicate), duplicate);
	assert_int_equal(x.result.directions.lost_forward, remote);
	assert_int_equal(x.result.directions.lost_backward, lost - remote - late);
	assert_int_equal(x.result.outages.count, 0);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]) + COUNT(follow_up[FOLLOW_UP_LOST]) +
			 COUNT(follow_up[FOLLOW_UP_END]), 3000 - lost);
	assert_in_range(COUNT(follow_up[FOLLOW_UP_LOST]), 1, lost);
	network_teardown(state);
}

/* Also if the ring is too small for the probes of a timeout: sending waits. */
static void what_is_lost_is_counted(void **state)
{
	check_what_is_lost(state, 0);
	check_what_is_lost(state, 256);
}

/* Its ring entry was reused since. */
static void what_comes_long_after_it_was_lost_is_late(void **state)
{
	(void)state;
	sim.ring = 128;
	options.interval_ns = 10 * NS_PER_US;
	options.timeout_ns = NS_PER_MS;
	for (unsigned i = 0; i < 2000; i += 100) {
		sim.fate[i].back_ns = 5 * NS_PER_MS;
		sim.fate[i].again_ns = 1000;
	}
	network_run();
	assert_int_equal(COUNT(lost), 20);
	assert_int_equal(COUNT(late), 20);
	assert_int_equal(COUNT(duplicate), 20);
	assert_int_equal(network_check_records(), 3000 - 20);
}

/* The ring is full of those, and the oldest waits for T3. */
static void a_ring_that_is_full(void **state)
{
	(void)state;
	sim.ring = 128;
	sim.fate[499].known_ns = -1;
	for (unsigned i = 500; i < 900; i++)
		sim.fate[i].remote_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 400);
	assert_int_equal(network_check_records(), 2600);
}

/* A stall of the peer is seen by all probes that it covers. */
static void a_stall_is_in_every_probe_that_it_covers(void **state)
{
	const int64_t slot_ns = 100 * NS_PER_US, stall_ns = 50 * NS_PER_MS;
	unsigned slow = 0;

	(void)state;
	options.interval_ns = slot_ns;
	options.timeout_ns = 100 * NS_PER_MS;
	options.window = options.timeout_ns / slot_ns + 1;
	for (int64_t i = 0; i < stall_ns / slot_ns; i++)
		sim.fate[1000 + i].remote_ns = stall_ns - i * slot_ns;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	for (unsigned i = 0; i < 3000; i++) {
		slow += record[i].latency_ns > 50 * NS_PER_US;
		assert_true(sim.truth[i].t1_ns - sim.truth[0].t1_ns >= i * slot_ns - 5000);
		assert_true(sim.truth[i].t1_ns - sim.truth[0].t1_ns <= i * slot_ns + 10000);
	}
	assert_int_equal(slow, stall_ns / slot_ns);
	assert_int_equal(counter_get(&x.pace.missed), 0);
	assert_in_range(x.window.reached, stall_ns / slot_ns, stall_ns / slot_ns + 1);
	assert_int_equal(x.result.planned[PLANNED_RTT]->count, 3000);
	assert_int_equal(x.result.planned[PLANNED_CALL]->count, 3000);
	assert_in_range(x.result.planned[PLANNED_CALL]->min_ns, CALL_NS, CALL_NS + 100);
	assert_in_range(x.result.planned[PLANNED_CALL]->max_ns, CALL_NS, CALL_NS + 100);
}

/* Whatever clock is set, slots are where they were: nothing bunches, and nothing is lost. */
static void a_clock_that_is_set_moves_no_slot(void **state)
{
	static const int64_t set_ns[] = { 3600 * NS_PER_S, -3600 * NS_PER_S };
	const int64_t slot_ns = 100 * NS_PER_US;

	for (size_t n = 0; n < COUNT_OF(set_ns); n++) {
		network_setup(state);
		network_by_nic();
		options.interval_ns = slot_ns;
		options.pacing = PACING_SPIN;
		sim.set_at = 1500;
		sim.set_ns = set_ns[n];
		network_run();
		assert_int_equal(network_check_records(), 3000);
		assert_int_equal(COUNT(lost) + COUNT(late) + counter_get(&x.pace.missed), 0);
		assert_int_equal(x.result.stalls.count, 0);
		for (unsigned i = 0; i < 3000; i++)
			assert_in_range(sim.truth[i].t1_ns - sim.truth[0].t1_ns - (int64_t)i * slot_ns + 5000, 0,
					15000);
		network_teardown(state);
	}
}

/* The window is full, then it has space again. */
static void a_full_window_misses_slots(void **state)
{
	(void)state;
	options.interval_ns = 100 * NS_PER_US;
	options.window = 10;
	for (unsigned i = 0; i < 10; i++)
		sim.fate[100 + i].remote_ns = 5 * NS_PER_MS;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(x.window.reached, 10);
	assert_in_range(counter_get(&x.pace.missed), 39, 42);
	assert_int_equal(counter_get(&x.pace.slots) - counter_get(&x.pace.missed), 3000);
}

/* Up to the end of the run, and not beyond. */
static void slots_that_are_missed_at_the_end(void **state)
{
	(void)state;
	options.interval_ns = NS_PER_MS;
	options.timeout_ns = NS_PER_S;
	options.window = 2;
	options.count = 0;
	options.duration_ns = 100 * NS_PER_MS;
	sim.fate[0].back_ns = sim.fate[1].back_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 2);
	assert_in_range(counter_get(&x.pace.slots), 99, 101);
	assert_int_equal(counter_get(&x.pace.missed), counter_get(&x.pace.slots) - 2);
}

/* A single lost probe never causes a missed slot, however small the window is. */
static void a_small_window_by_the_clock(void **state)
{
	(void)state;
	options.interval_ns = 50 * NS_PER_US;
	options.window = 10;
	for (unsigned i = 0; i < 3000; i += 1000)
		sim.fate[i].back_ns = -1;
	network_run();
	assert_int_equal(counter_get(&x.pace.missed), 0);
	assert_int_equal(network_check_records(), 2997);
}

static void nobody_answers_for_a_while(void **state)
{
	(void)state;
	sim.ring = 256;
	for (unsigned i = 500; i < 2900; i++)
		sim.fate[i].remote_ns = -1;
	network_run();
	assert_int_equal(network_check_records(), 3000 - 2400);
	assert_int_equal(COUNT(lost), 2400);
	assert_int_equal(COUNT(unfinished), 0);
	assert_int_equal(x.result.outages.count, 1);
	assert_true(x.result.outages.total_ns > 2400 / 64 * TIMEOUT_NS);
	assert_true(x.result.outages.total_ns < (2400 / 64 + 2) * TIMEOUT_NS);
}

/* Scheduled, so that the duration is known: with any ratio to --timeout, twice, and with several lost
 * probes. */
static void outages_of_any_length(void **state)
{
	static const unsigned lengths[] = { 210, 300, 399, 401, 700, 1000 };

	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		const int64_t length_ns = lengths[i] * 50 * NS_PER_US;

		network_setup(state);
		options.interval_ns = 50 * NS_PER_US;
		options.window = 2000;
		for (unsigned n = 0; n < lengths[i]; n++)
			sim.fate[300 + n].remote_ns = sim.fate[1600 + n].back_ns = -1;
		sim.fate[100].remote_ns = sim.fate[2900].remote_ns = sim.fate[2901].remote_ns = -1;
		network_run();
		assert_int_equal(COUNT(lost), 2 * lengths[i] + 3);
		assert_int_equal(x.result.outages.count, 2);
		assert_in_range(x.result.outages.longest_ns, length_ns - NS_PER_MS / 10, length_ns + NS_PER_MS);
		assert_in_range(x.result.outages.total_ns, 2 * length_ns - NS_PER_MS / 5, 2 * (length_ns + NS_PER_MS));
		network_teardown(state);
	}
	network_setup(state);
}

/* The run is stopped before the timeout of unanswered probes. The last probes may still be answered. */
static void an_outage_right_before_a_stop(void **state)
{
	(void)state;
	options.interval_ns = 50 * NS_PER_US;
	options.window = 2000;
	options.timeout_ns = 10 * NS_PER_S;
	sim.stop_at = 1000;
	for (unsigned n = 700; n < 950; n++)
		sim.fate[n].remote_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 0);
	assert_true(COUNT(unfinished) >= 250);
	assert_int_equal(x.result.outages.count, 1);
	assert_in_range(x.result.outages.total_ns, 250 * 50 * NS_PER_US - NS_PER_MS / 10,
			250 * 50 * NS_PER_US + NS_PER_MS);
}

/* The window is full for as long as its probes are waited for, and when they are lost all is well again. */
static void an_outage_of_a_whole_window(void **state)
{
	(void)state;
	for (unsigned i = 500; i < 500 + 64; i++)
		sim.fate[i].remote_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 64);
	assert_int_equal(x.result.outages.count, 1);
	assert_in_range(x.result.outages.total_ns, TIMEOUT_NS, TIMEOUT_NS + NS_PER_MS);
}

static void nobody_answers_at_all(void **state)
{
	(void)state;
	options.count = 300;
	for (unsigned i = 0; i < 300; i++)
		sim.fate[i].remote_ns = -1;
	network_run();
	assert_int_equal(COUNT(lost), 300);
	assert_int_equal(COUNT(sent), 300);
	assert_int_equal(x.result.outages.count, 1);
}

/* All lost probes are answered late, more than the list of lost probes holds; each twice. */
static void all_that_were_lost_are_late(void **state)
{
	(void)state;
	options.interval_ns = 10 * NS_PER_US;
	options.window = 4000;
	options.timeout_ns = 2 * NS_PER_MS;
	for (unsigned i = 0; i < 3000; i++) {
		sim.fate[i].back_ns = 25 * NS_PER_MS;
		sim.fate[i].again_ns = 2000;
	}
	for (unsigned i = 2000; i < 3000; i++)
		sim.fate[i] = (struct fate_of){ .remote_ns = 3000, .back_ns = 4000, .stamp_ns = 200, .known_ns = 100 };
	options.count = 5000;
	network_run();
	assert_int_equal(COUNT(lost), 2000);
	assert_int_equal(COUNT(late), 2000);
	assert_int_equal(COUNT(duplicate), 2000);
	assert_int_equal(COUNT(foreign), 0);
	assert_int_equal(network_check_records(), 3000);
}

static void the_slots_of_a_nic_are_found(void **state)
{
	static const unsigned slots[] = { 1, 2, 4, 7 };

	for (size_t i = 0; i < COUNT_OF(slots); i++) {
		network_setup(state);
		sim.slots = slots[i];
		network_by_nic();
		options.timeout_ns = 100 * NS_PER_MS;
		for (unsigned n = 0; n < PROBES; n++) {
			sim.fate[n].remote_ns = 100 * NS_PER_US;
			sim.fate[n].stamp_ns = 20 * NS_PER_US;
		}
		network_run();
		assert_int_equal(x.window.stamps_most, slots[i]);
		assert_true(x.window.stamps_limited);
		assert_in_range(COUNT(unstamped), 1, 2);
		assert_int_equal(COUNT(recorded), 3000 - COUNT(unstamped));
		network_teardown(state);
	}
}

/* Packets of that time wait in the socket's queues: none is lost or missing. */
static void a_thread_without_a_cpu(void **state)
{
	for (int hardware = 0; hardware < 2; hardware++) {
		network_setup(state);
		sim.stall_at = 2000;
		sim.stall_ns = 300 * NS_PER_MS;
		if (hardware)
			network_by_nic();
		for (unsigned i = 0; i < PROBES; i++)
			sim.fate[i].remote_ns = sim.fate[i].stamp_ns = 100 * NS_PER_US;
		network_run();
		assert_int_equal(network_check_records(), 3000);
		assert_int_equal(COUNT(lost) + COUNT(late) + COUNT(unstamped), 0);
		assert_false(x.window.stamps_limited);
		assert_int_equal(x.result.stalls.count, 1);
		assert_in_range(x.result.stalls.total_ns, sim.stall_ns, sim.stall_ns + 100 * NS_PER_US);
		network_teardown(state);
	}
}

/* Timestamps are slow here, and none is taken as missing for that. */
static void a_nic_with_slow_stamps(void **state)
{
	(void)state;
	sim.slots = 1;
	network_by_nic();
	options.timeout_ns = 200 * NS_PER_MS;
	options.count = 200;
	network_all_stamps_take(15 * NS_PER_MS);
	network_run();
	assert_in_range(COUNT(unstamped), 1, 3);
	assert_int_equal(x.window.stamps_most, 1);
}

static void a_nic_that_takes_any_number(void **state)
{
	(void)state;
	network_by_nic();
	options.window = 8;
	network_all_stamps_take(20 * NS_PER_US);
	network_run();
	assert_int_equal(COUNT(recorded), 3000);
	assert_int_equal(x.window.stamps_most, 8);
	assert_false(x.window.stamps_limited);
}

/* Some are missing then for no fault of ours. */
static void a_nic_that_is_slow_to_free_its_place(void **state)
{
	(void)state;
	sim.slots = 1;
	sim.free_ns = 3000;
	network_by_nic();
	options.count = 500;
	network_all_stamps_take(20 * NS_PER_US);
	network_run();
	assert_int_equal(x.window.stamps_most, 1);
	assert_int_equal(COUNT(recorded), 500 - COUNT(unstamped));
	assert_int_equal(network_check_records(), COUNT(recorded));
}

static void stamps_that_are_missing_or_late(void **state)
{
	unsigned missing = 0;

	(void)state;
	options.timeout_ns = 50 * NS_PER_MS;
	for (unsigned i = 0; i < 3000; i += 50) {
		sim.fate[i].stamp_ns = i % 100 ? -1 : 30 * NS_PER_MS;
		missing += i % 100 != 0;
	}
	network_run();
	assert_int_equal(COUNT(unstamped), missing);
	assert_int_equal(COUNT(missing_tx), missing);
	assert_int_equal(network_check_records(), 3000 - missing);
}

static void what_the_reflector_does_not_know(void **state)
{
	unsigned unknown = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i += 10) {
		sim.fate[i].known_ns = -1;
		unknown++;
	}
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), unknown);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000 - unknown);
	assert_int_equal(COUNT(closing), 1);
	assert_int_equal(COUNT(timed_packets), 3000);
	assert_int_equal(COUNT(timed_bytes), 3000 * (uint64_t)x.result.probe_bytes.value);
}

/* Its ring entry was that of a reported probe. */
static void what_was_not_reported(void **state)
{
	(void)state;
	sim.ring = 256;
	for (unsigned i = 300; i < 310; i++)
		sim.fate[i].known_ns = -1;
	for (unsigned i = 301 + 256; i < 311 + 256; i += 2)
		sim.fate[i].back_ns = -1;
	network_run();
	assert_int_equal(network_check_records(), 3000 - 5);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), 10);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_LOST]), 5);
}

/* A reply arrives after many later replies: its report is too late, and their report about it is known. */
static void replies_out_of_order(void **state)
{
	(void)state;
	sim.follow_ups = FOLLOW_UPS_MAX;
	sim.fate[500].back_ns += 100 * NS_PER_US;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000);
	assert_int_equal(COUNT(reordered), 1);

	network_teardown(state);
	network_setup(state);
	sim.fate[500].back_ns += 100 * NS_PER_US;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 2999);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_LOST]), 1);
	assert_int_equal(COUNT(follow_up_late), 1);
}

/* At the end a probe waits for T3, and a later probe for its timestamp: neither arrives. */
static void nothing_more_comes_at_the_end(void **state)
{
	(void)state;
	sim.fate[2990].known_ns = -1;
	sim.fate[2995].stamp_ns = -1;
	network_run();
	assert_int_equal(COUNT(unstamped), 1);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), 1);
	assert_int_equal(network_check_records(), 2999);
}

/* Its thread has not fetched the timestamp when it builds the next reply, nor the following replies; and
 * some of the reporting replies are lost. */
static void one_of_several_follow_ups_is_enough(void **state)
{
	(void)state;
	sim.follow_ups = FOLLOW_UPS_MAX;
	for (unsigned i = 0; i < 3000; i++) {
		sim.fate[i].known_ns = network_chance(3000);
		if (i % 20 == 10)
			sim.fate[i].back_ns = -1;
	}
	network_run();
	assert_int_equal(network_check_records(), 3000 - 150);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000 - 150);
	assert_int_equal(COUNT(follow_up_late), 0);
}

/* No record has a network time that spans a step. */
static void check_network_times(void)
{
	for (unsigned n = 0; n < COUNT(recorded); n++) {
		const int64_t *at = record[n].time_ns;

		if (record[n].source[REMOTE + REFLECT_T3_WIRE])
			assert_int_equal(record[n].latency_ns - (at[REMOTE + REFLECT_T3_WIRE] - at[REMOTE + REFLECT_T2_WIRE]),
					 7000);
	}
}

/* Only a probe sent after the replies to those reflected across the step shows it. */
static void a_step_of_the_reflectors_clock(void **state)
{
	static const int64_t steps_ns[] = { -NS_PER_S, -700 * NS_PER_US, -15 * NS_PER_US, 15 * NS_PER_US,
					    700 * NS_PER_US };

	for (unsigned i = 0; i < 3 * COUNT_OF(steps_ns); i++) {
		network_setup(state);
		options.interval_ns = i % 3 ? 120 * NS_PER_US : 0;
		sim.response_ns = NS_PER_MS;
		sim.stepped_at_ns = BEGIN_NS + 20 * NS_PER_MS + network_chance(NS_PER_MS);
		/* In the time of a round trip the clocks may drift by more than the smallest step. */
		if (i % 3 == 2) {
			options.window = 512;
			options.timeout_ns = NS_PER_S;
			sim.response_ns = 60 * NS_PER_MS;
			sim.stepped_at_ns = BEGIN_NS + 90 * NS_PER_MS;
		}
		sim.stepped_ns = steps_ns[i / 3];
		network_run();
		assert_int_equal(network_check_records(), 3000);
		check_network_times();
		/* Such a small step may be taken as timestamps that contradict the others. */
		assert_int_equal(peer.jumps + (i % 3 == 2 ? peer.outliers : 0), 1);
		assert_in_range(COUNT(follow_up[FOLLOW_UP_STEPPED]), 1, 3 * options.window);
		assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]) + COUNT(follow_up[FOLLOW_UP_STEPPED]), 3000);
		network_teardown(state);
	}
}

/* 1,500 probes in 180 ms; a reply arrives in the middle between two probes. least: samples with the reflector's times. */
static void run_with_steps(void **state, int64_t at_ns, int64_t step_ns, int64_t again_ns, unsigned times,
			   unsigned least)
{
	network_setup(state);
	options.count = 1500;
	options.interval_ns = 120 * NS_PER_US;
	options.window = 512;
	options.timeout_ns = NS_PER_S;
	sim.response_ns = 40 * NS_PER_MS + 10 * NS_PER_US + network_chance(80 * NS_PER_US);
	sim.stepped_at_ns = BEGIN_NS + at_ns;
	sim.stepped_ns = step_ns;
	sim.stepped_times = times;
	sim.stepped_again_ns = again_ns;
	network_run();
	assert_int_equal(network_check_records(), 1500);
	check_network_times();
	assert_int_not_equal(peer.jumps + peer.outliers, 0);
	assert_in_range(COUNT(follow_up[FOLLOW_UP_THERE]), least, 1400);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]) + COUNT(follow_up[FOLLOW_UP_STEPPED]), 1500);
	network_teardown(state);
}

/* After a step no exchange is complete until the next step. Only the reply just before a step back shows it, which may
 * be recorded by then: a probe was sent between this reply and the step. Only the reply just after a step forward shows
 * it, whose response may be longer than its round trip. */
static void steps_within_one_round_trip(void **state)
{
	static const int64_t steps_ns[] = { -NS_PER_S, -20 * NS_PER_MS, -700 * NS_PER_US, -200 * NS_PER_US,
					    45 * NS_PER_US, 700 * NS_PER_US, NS_PER_S };

	for (unsigned i = 0; i < 3 * COUNT_OF(steps_ns); i++)
		run_with_steps(state, 60 * NS_PER_MS + network_chance(NS_PER_MS), steps_ns[i / 3],
			       2 * NS_PER_MS + network_chance(20 * NS_PER_MS), 4, 250);
	/* While the comparison is suspended, for the network time of a reply that spans earlier steps. */
	run_with_steps(state, 60 * NS_PER_MS, -5 * NS_PER_MS, 8 * NS_PER_MS, 4, 250);
}

/* Only the closing probe shows it. */
static void a_step_after_the_last_probe(void **state)
{
	run_with_steps(state, 165 * NS_PER_MS, -700 * NS_PER_US, 25 * NS_PER_MS, 2, 900);
}

/* It was away for some probes, and counts its replies from 0 again. */
static void a_reflector_that_is_started_again(void **state)
{
	static const unsigned answers[] = { 1, 2, 20, 100, 1500, 2800 };

	for (unsigned i = 0; i < 2 * COUNT_OF(answers); i++) {
		const unsigned from = answers[i / 2], away = 150;

		network_setup(state);
		options.interval_ns = i % 2 ? 50 * NS_PER_US : 0;
		/* without --interval no new probe leaves until the lost probes time out */
		options.timeout_ns = NS_PER_MS;
		sim.restart_at = from + away;
		for (unsigned lost = from; lost < from + away; lost++)
			sim.fate[lost].remote_ns = -1;
		network_run();
		network_check_records();
		assert_int_equal(COUNT(lost), away);
		assert_int_equal(x.result.directions.restarts, 1);
		assert_int_equal(x.result.directions.lost_forward, away);
		assert_int_equal(COUNT(follow_up_late), 0);
		assert_int_equal(COUNT(follow_up[FOLLOW_UP_STEPPED]), 0);
		assert_in_range(COUNT(follow_up[FOLLOW_UP_LOST]), 1, options.window);
		assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]) + COUNT(follow_up[FOLLOW_UP_LOST]), COUNT(recorded));
		network_teardown(state);
	}
}

static void a_plain_reflector(void **state)
{
	(void)state;
	sim.silent = options.plain = true;
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(COUNT(closing), 0);
	assert_int_equal(COUNT(sent), 3000);
}

/* Probes in flight then are unfinished after the drain timeout, however long the timeout is. */
static void a_stop_in_the_middle(void **state)
{
	int64_t began_ns;

	(void)state;
	sim.stop_at = 1000;
	options.timeout_ns = 10 * NS_PER_S;
	for (unsigned i = 990; i < 1100; i += 2)
		sim.fate[i].back_ns = -1;
	began_ns = sim.now_ns;
	network_run();
	assert_int_equal(x.result.end, END_SIGNAL);
	assert_in_range(COUNT(unfinished), 5, 40);
	assert_int_equal(COUNT(lost), 0);
	assert_int_equal(network_check_records(), COUNT(sent) - COUNT(closing) - COUNT(unfinished));
	assert_true(sim.now_ns - began_ns < 400 * NS_PER_MS);
}

static void refused_sends_are_tried_again(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i += 100)
		sim.fate[i].refused = 3;
	network_run();
	assert_int_equal(COUNT(refused), 90);
	for (unsigned i = 0; i < 3000; i += 100)
		assert_true(sim.truth[i].t1_ns - EPOCH_NS - sim.truth[i].tried_ns >= 3 * NS_PER_MS);
	assert_int_equal(COUNT(sent), 3000 + COUNT(closing));
	assert_int_equal(network_check_records(), 3000);
}

/* More packets have left by then: the id's packet must be known, and the requesting packet is the first of
 * them. */
static void an_id_that_is_reported_late(void **state)
{
	static const int64_t ports[] = { 1, 8 };

	for (unsigned i = 0; i < 2 * COUNT_OF(ports); i++) {
		network_setup(state);
		options.no_step_check = true; /* no other check detects the timestamp of another packet */
		options.source_ports = ports[i / 2];
		network_all_stamps_take(200 * NS_PER_US);
		sim.ids_take_ns = 30 * NS_PER_US;
		sim.doubt_every = 100;
		for (unsigned n = 50; i % 2 && n < 3000; n += 100)
			sim.fate[n].refused = 1;
		network_run();
		assert_int_equal(network_check_records(), COUNT(recorded));
		/* Packets before the known id have no timestamp. */
		assert_in_range(COUNT(recorded), i % 2 ? 1000 : 2000, 3000);
		network_teardown(state);
	}
}

/* A time in which nothing can be sent is an outage of that length. */
static void refused_for_long(void **state)
{
	(void)state;
	sim.fate[1000].refused = 100; /* each tried again after a millisecond */
	network_run();
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(COUNT(refused), 100);
	assert_int_equal(x.result.outages.count, 1);
	assert_in_range(x.result.outages.total_ns, 95 * NS_PER_MS, 120 * NS_PER_MS);
}

static void a_warmup(void **state)
{
	(void)state;
	options.warmup = 100;
	network_run();
	assert_int_equal(COUNT(warmup), 100);
	assert_int_equal(COUNT(recorded), 3000);
	assert_int_equal(network_check_records(), 3000);
	assert_int_equal(record[0].seq, COUNT(warmup));
	network_teardown(state);

	/* Lost probes are among the first hundred all the same; the duration counts from the first probe
	 * after them. */
	network_setup(state);
	options.warmup = 100;
	for (unsigned i = 0; i < 50; i += 10)
		sim.fate[i].remote_ns = -1;
	network_run();
	assert_int_equal(COUNT(warmup), 95);
	assert_int_equal(COUNT(lost), 5);
	assert_int_equal(COUNT(recorded), 3000);
	assert_int_equal(x.emit.warmup_open, 0);
	assert_int_equal(record[0].seq, 100);
}

/* The NIC has a single slot, and its timestamps are slow: only timestamped probes wait for it. */
static void load_beside_what_is_stamped(void **state)
{
	static const int64_t ports[] = { 1, 8 };

	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		network_setup(state);
		network_by_nic();
		options.source_ports = ports[i];
		options.stamp_every = 10;
		options.timeout_ns = 100 * NS_PER_MS;
		sim.slots = 1;
		network_all_stamps_take(NS_PER_MS);
		for (unsigned n = 5; n < 3000; n += 7)
			sim.fate[n].back_ns = -1;
		for (unsigned n = 0; n < 3000; n += 11)
			sim.fate[n].refused = 1;
		sim.counts_refused = true;
		network_run();
		assert_int_equal(COUNT(lost), 428);
		assert_int_equal(COUNT(recorded) + COUNT(unasked), 3000 - 428);
		assert_in_range(COUNT(recorded), 250, 300);
		assert_int_equal(COUNT(unstamped) + COUNT(stamp_unmatched), 0);
		assert_int_equal(network_check_records(), COUNT(recorded));
		for (unsigned n = 0; n < COUNT(recorded) && ports[i] == 1; n++)
			assert_int_equal(record[n].seq % 10, 0);
		network_teardown(state);
	}
}

static void load_does_not_wait_for_stamps(void **state)
{
	(void)state;
	network_by_nic();
	options.stamp_every = 100;
	options.window = 1000;
	sim.slots = 1;
	network_all_stamps_take(60 * NS_PER_US);
	network_run();
	assert_int_equal(network_check_records(), 30);
	assert_int_equal(COUNT(unasked), 2970);
	assert_in_range(sim.now_ns - BEGIN_NS, 2 * NS_PER_MS, 3 * NS_PER_MS); /* else it is more */
}

/* As slow as three times the slowest that was in time. */
static void what_is_late_at_the_end(void **state)
{
	(void)state;
	sim.fate[100].back_ns = 15 * NS_PER_MS;
	sim.fate[2998].back_ns = 40 * NS_PER_MS;
	sim.fate[2999].back_ns = 50 * NS_PER_MS;
	network_run();
	assert_int_equal(network_check_records(), 2998);
	assert_int_equal(COUNT(lost), 2);
	assert_int_equal(COUNT(late), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_own_times), cmocka_unit_test(what_is_lost_is_counted),
			TEST(what_comes_long_after_it_was_lost_is_late), TEST(a_ring_that_is_full),
		TEST(slots_that_are_missed_at_the_end), TEST(a_small_window_by_the_clock),
		cmocka_unit_test(a_thread_without_a_cpu), TEST(a_nic_with_slow_stamps),
		TEST(a_nic_that_takes_any_number), TEST(what_was_not_reported), TEST(replies_out_of_order),
		TEST(a_stall_is_in_every_probe_that_it_covers),
		TEST(a_full_window_misses_slots), cmocka_unit_test(a_clock_that_is_set_moves_no_slot),
		TEST(nobody_answers_for_a_while), TEST(outages_of_any_length), TEST(an_outage_right_before_a_stop),
		TEST(an_outage_of_a_whole_window), TEST(nobody_answers_at_all),
		TEST(all_that_were_lost_are_late), cmocka_unit_test(the_slots_of_a_nic_are_found),
		TEST(a_nic_that_is_slow_to_free_its_place), TEST(stamps_that_are_missing_or_late),
		TEST(what_the_reflector_does_not_know), TEST(nothing_more_comes_at_the_end),
		TEST(one_of_several_follow_ups_is_enough),
		cmocka_unit_test(a_step_of_the_reflectors_clock),
		cmocka_unit_test(steps_within_one_round_trip),
		cmocka_unit_test(a_step_after_the_last_probe), cmocka_unit_test(a_reflector_that_is_started_again),
		TEST(a_plain_reflector), TEST(a_stop_in_the_middle),
		TEST(refused_sends_are_tried_again), cmocka_unit_test(an_id_that_is_reported_late),
			TEST(refused_for_long),
		TEST(a_warmup), TEST(what_is_late_at_the_end), cmocka_unit_test(load_beside_what_is_stamped),
		TEST(load_does_not_wait_for_stamps),
	};

	util_seed();
	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
