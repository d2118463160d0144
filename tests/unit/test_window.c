/* build: wraps=stamp_send,stamp_receive,stamp_fetch,stamp_wait,clock_gettime,clock_nanosleep sources=wire/timestamping.c,wire/lane.c,wire/packet.c,wire/tlv*.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,measure/exchange.c,measure/emit.c,measure/window.c,measure/probe.c,measure/join.c,measure/reflect.c,measure/pace.c,measure/sample.c,measure/witness.c,measure/rules.c,measure/variation.c,measure/breach.c,measure/stages.c,measure/account.c,measure/log.c,measure/store.c,host/pmc.c,host/memory.c,host/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The emitter with many probes in flight, against a network whose time is that of this file: what happens to each probe on its way is
 * written down before, so that every record and every count can be compared with it.
 */
#include "measure/window.h"

#include "host/clock_peer.h"
#include "measure/exchange.h"
#include "measure/store.h"
#include "util.h"
#include "wire/packet.h"
#include "wire/timestamping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBES 6000
#define EVENTS 16384
#define BEGIN_NS (1000 * NS_PER_S)
#define EPOCH_NS (1700000000 * NS_PER_S) /* CLOCK_REALTIME is so much ahead */
#define THERE_NS (1234567 * NS_PER_S) /* and the reflector's clock of that */
#define CALL_NS 300 /* of a system call */
#define WIRE_NS 700 /* from the send to the stamp */
#define RESPONSE_NS 200 /* less than a turn of the loop */
#define TIMEOUT_NS (20 * NS_PER_MS)

/* What is to happen to a probe, */
struct fate_of {
	int64_t there_ns, back_ns; /* its ways; negative: lost */
	int64_t again_ns; /* its reply comes again, so much later; 0: once */
	int64_t stamp_ns; /* the transmit stamp comes so much later than its time; negative: never */
	int64_t known_ns; /* the reflector knows T3 so much later; negative: never */
	unsigned refused; /* so often */
	bool forged; /* before its reply comes one that does not know its T1 */
};

/* and what did. */
struct truth {
	int64_t t1_ns, t2_ns, t3_ns, t4_ns;
	int64_t tried_ns; /* for the first time */
	unsigned tries;
	bool sent;
};

enum what { ARRIVES_THERE, ARRIVES_HERE, STAMP, PLACE_IS_FREE };

struct event {
	int64_t at_ns;
	enum what what;
	uint32_t seq, id;
	bool forged;
	size_t bytes;
	uint8_t packet[256];
};

static struct {
	int64_t now_ns;
	struct fate_of fate[PROBES];
	struct truth truth[PROBES];
	struct event event[EVENTS];
	unsigned events;
	unsigned slots, taken; /* of transmit stamps; 0: any number */
	int64_t free_ns; /* a place is free so long after its stamp was fetched */
	uint32_t replies; /* the reflector's count */
	struct {
		int64_t t3_ns, known_ns;
	} reply[2 * PROBES];
	unsigned reordered; /* replies that came after a later one */
	uint32_t highest;
	bool replied;
	uint32_t ring; /* flights; 0: as they come */
	unsigned stop_at; /* probes; 0: never */
	unsigned stall_at; /* the thread has no CPU after this probe, */
	int64_t stall_ns; /* for so long */
	uint8_t follow_ups; /* that are asked for */
	bool silent; /* the T3 of nobody is told: the TLV comes back as unknown */
} sim;

static struct options options;
static struct channel channel;
static struct exchange x;
static struct store store;
static struct clock_peer peer;
static struct packet_plan plan;
static struct sample record[PROBES];
static struct log log_of_run;
static volatile sig_atomic_t stop;

/* ---- The network ---------------------------------------------------------------------------------------------------- */

static void happens(int64_t at_ns, struct event e)
{
	assert_in_range(sim.events, 0, EVENTS - 1);
	e.at_ns = at_ns;
	sim.event[sim.events++] = e;
}

/* The next event of a kind that is due; NULL: none is. */
static struct event *due(enum what what)
{
	struct event *first = NULL;

	for (unsigned i = 0; i < sim.events; i++) {
		struct event *e = &sim.event[i];

		if (e->what == what && e->at_ns <= sim.now_ns && (!first || e->at_ns < first->at_ns))
			first = e;
	}
	return first;
}

static void is_over(struct event *e)
{
	*e = sim.event[--sim.events];
}

static void reflect(struct event *e)
{
	const struct fate_of *f = &sim.fate[e->seq];
	struct truth *t = &sim.truth[e->seq];
	struct answer a = { .seq = sim.replies, .t2_ns = t->t2_ns, .t3_ns = t->t3_ns, .ttl = 255, .t2_method = PACKET_METHOD_SOFTWARE,
			    .t3_method = PACKET_METHOD_SOFTWARE, .wire_source = SOURCE_KERNEL };
	struct event back = { .what = ARRIVES_HERE, .seq = e->seq, .bytes = e->bytes };
	struct packet_departure told[FOLLOW_UPS_MAX];
	bool malformed;

	if (sim.replies && sim.reply[sim.replies - 1].known_ns <= e->at_ns) {
		a.follow_up_seq = sim.replies - 1;
		a.follow_up_ns = sim.reply[sim.replies - 1].t3_ns;
		a.follow_up_method = PACKET_METHOD_SOFTWARE;
	}
	for (uint32_t n = sim.replies; n-- && sim.replies - n <= FOLLOW_UPS_MAX;)
		if (sim.reply[n].known_ns <= e->at_ns)
			told[a.follow_ups++] = (struct packet_departure){ n, PACKET_METHOD_SOFTWARE, sim.reply[n].t3_ns };
	a.follow_up = told;
	sim.reply[sim.replies].t3_ns = t->t3_ns;
	sim.reply[sim.replies++].known_ns = f->known_ns < 0 ? INT64_MAX : e->at_ns + RESPONSE_NS + f->known_ns;
	memcpy(back.packet, e->packet, e->bytes);
	packet_reply(back.packet, e->bytes, NULL, &a, &malformed);
	assert_false(malformed);
	if (f->back_ns < 0)
		return;
	happens(e->at_ns + RESPONSE_NS + f->back_ns, back);
	if (f->again_ns)
		happens(e->at_ns + RESPONSE_NS + f->back_ns + f->again_ns, back);
	if (f->forged) {
		back.packet[24 + 4 + 7] ^= 1; /* T1 as the reply names it */
		back.forged = true;
		happens(e->at_ns + RESPONSE_NS + f->back_ns - 1, back);
	}
}

static void pass(int64_t ns)
{
	struct event *e;

	sim.now_ns += ns;
	while ((e = due(ARRIVES_THERE))) {
		struct event arrived = *e;

		is_over(e);
		reflect(&arrived);
	}
	while ((e = due(PLACE_IS_FREE))) {
		is_over(e);
		sim.taken--;
	}
}

/* ---- The kernel ----------------------------------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	const int64_t ns = sim.now_ns + (clock == CLOCK_REALTIME ? EPOCH_NS : 0);

	pass(20);
	t->tv_sec = ns / NS_PER_S;
	t->tv_nsec = ns % NS_PER_S;
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	const int64_t ns = until->tv_sec * NS_PER_S + until->tv_nsec;

	(void)left;
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	if (ns > sim.now_ns)
		pass(ns - sim.now_ns + 3000);
	return 0;
}

static void note_sent(uint32_t seq, uint32_t id, const uint8_t *packet, size_t bytes)
{
	const struct fate_of *f = &sim.fate[seq];
	struct truth *t = &sim.truth[seq];
	struct event there = { .what = ARRIVES_THERE, .seq = seq, .bytes = bytes }, stamp = { .what = STAMP, .seq = seq, .id = id };

	*t = (struct truth){ .sent = true, .tried_ns = t->tried_ns, .tries = t->tries, .t1_ns = sim.now_ns + EPOCH_NS + WIRE_NS };
	t->t2_ns = t->t1_ns + f->there_ns + THERE_NS;
	t->t3_ns = t->t2_ns + RESPONSE_NS;
	t->t4_ns = t->t1_ns + f->there_ns + RESPONSE_NS + f->back_ns;
	assert_true(bytes <= sizeof(there.packet));
	memcpy(there.packet, packet, bytes);
	if (f->there_ns >= 0)
		happens(sim.now_ns + WIRE_NS + f->there_ns, there);
	if (f->stamp_ns >= 0 && (!sim.slots || sim.taken < sim.slots)) {
		happens(sim.now_ns + WIRE_NS + f->stamp_ns, stamp);
		sim.taken++;
	}
}

int __wrap_stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering);
int __wrap_stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id, const struct arrival *answering)
{
	const uint8_t *p = packet;
	const uint32_t seq = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];

	assert_ptr_equal(c, &channel);
	assert_null(answering);
	assert_in_range(seq, 0, PROBES - 1);
	pass(CALL_NS);
	if (!sim.truth[seq].tries)
		sim.truth[seq].tried_ns = sim.now_ns;
	if (sim.truth[seq].tries++ < sim.fate[seq].refused)
		return -EAGAIN;
	assert_false(sim.truth[seq].sent);
	note_sent(seq, id, packet, bytes);
	if (sim.stop_at && seq + 1 == sim.stop_at)
		stop = 1;
	if (sim.stall_at && seq == sim.stall_at)
		pass(sim.stall_ns);
	return 0;
}

int __wrap_stamp_receive(struct channel *c, struct arrival *a);
int __wrap_stamp_receive(struct channel *c, struct arrival *a)
{
	struct event *e;

	pass(CALL_NS);
	e = due(ARRIVES_HERE);
	if (!e)
		return 0;
	*a = (struct arrival){ .bytes = e->bytes, .to_unicast = true, .ttl = 255, .tos = -1, .source = SOURCE_KERNEL,
			       .time_ns = e->at_ns + EPOCH_NS };
	memcpy(c->datagram, e->packet, e->bytes);
	if (!e->forged) {
		sim.reordered += sim.replied && e->seq < sim.highest;
		sim.highest = sim.replied && sim.highest > e->seq ? sim.highest : e->seq;
		sim.replied = true;
	}
	is_over(e);
	return 1;
}

enum fetch __wrap_stamp_fetch(struct channel *c, struct departure *d);
enum fetch __wrap_stamp_fetch(struct channel *c, struct departure *d)
{
	struct event *e;

	(void)c;
	pass(CALL_NS);
	e = due(STAMP);
	if (!e)
		return FETCH_EMPTY;
	*d = (struct departure){ .id = e->id, .time_ns = sim.truth[e->seq].t1_ns };
	is_over(e);
	happens(sim.now_ns + sim.free_ns, (struct event){ .what = PLACE_IS_FREE });
	return FETCH_STAMP;
}

void __wrap_stamp_wait(struct channel *c, bool receive, int64_t limit_ns);
void __wrap_stamp_wait(struct channel *c, bool receive, int64_t limit_ns)
{
	(void)c;
	(void)receive;
	pass(limit_ns);
}

/* Only a reflector does. */
int socket_want_tos(struct channel *c)
{
	(void)c;
	fail();
	return -EINVAL;
}

/* ---- A run ---------------------------------------------------------------------------------------------------------- */

static int64_t chance(int64_t below)
{
	return rand() % below;
}

static int setup(void **state)
{
	(void)state;
	memset(&sim, 0, sizeof(sim));
	sim.now_ns = BEGIN_NS;
	for (unsigned i = 0; i < PROBES; i++)
		sim.fate[i] = (struct fate_of){ .there_ns = 3000, .back_ns = 4000, .stamp_ns = 200, .known_ns = 100 };
	options = (struct options){ .role = ROLE_EMIT, .timeout_ns = TIMEOUT_NS, .overflow_ns = 100 * NS_PER_US, .bucket_ns = NS_PER_US,
				    .ttl = 255, .stamp = SOURCE_KERNEL, .dscp = -1, .priority = -1, .synced_ns = -1, .count = 3000,
				    .window = 64, .seed = 1 };
	channel = (struct channel)CHANNEL_CLOSED;
	channel.lanes = 1;
	channel.at = channel.lane;
	channel.wire = SOURCE_KERNEL;
	channel.tx_stamps = true;
	peer = (struct clock_peer){ 0 };
	stop = 0;
	x = (struct exchange){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	store_close(&store);
	return 0;
}

static void run(void)
{
	store = (struct store){ 0 };
	assert_int_equal(store_open(&store, &options, &x), 0);
	plan = (struct packet_plan){ .ssid = 7, .stages = !sim.silent, .software = !sim.silent, .follow_ups = sim.follow_ups };
	log_place(&log_of_run, record, PROBES, false, true);
	x.channel = &channel;
	x.log = &log_of_run;
	x.options = &options;
	x.stop = &stop;
	x.plan = &plan;
	x.peer = &peer;
	if (sim.ring)
		x.flight_mask = sim.ring - 1;
	exchange_run(&x);
	directions_finish(&x.directions, counter_get(&x.account.sent));
	assert_true(account_balances(&x.account, ROLE_EMIT, x.histogram, NULL));
	assert_true(x.window.reached <= options.window);
	assert_int_equal(x.window.in_flight, 0);
	assert_true(x.window.stamps_out <= x.window.most);
	assert_true(x.window.stamps_most <= x.window.most);
	assert_int_equal(counter_get(&x.account.reordered), sim.reordered);
}

static void all_stamps_take(int64_t ns)
{
	for (unsigned i = 0; i < PROBES; i++)
		sim.fate[i].stamp_ns = ns;
}

/* Nothing tells how its clock relates to that of user space. */
static void by_nic(void)
{
	channel.wire = options.stamp = SOURCE_HARDWARE;
	options.no_step_check = true;
}

#define COUNT(name) counter_get(&x.account.name)

/* Each record is of its own packet, and in the order of sending. Returns how many there are. */
static unsigned check_records(void)
{
	unsigned n = 0;

	for (; n < COUNT(recorded); n++) {
		const struct sample *s = &record[n];
		const struct truth *t = &sim.truth[s->seq];
		const int64_t *at = s->time_ns;

		assert_true(n == 0 || s->seq > record[n - 1].seq);
		assert_int_equal(at[EMIT_T1_WIRE], t->t1_ns);
		assert_int_equal(at[EMIT_T4_WIRE], t->t4_ns);
		assert_int_equal(s->latency_ns, t->t4_ns - t->t1_ns);
		if (plan.stages)
			assert_int_equal(at[THERE + REFLECT_T2_WIRE], t->t2_ns);
		if (s->source[THERE + REFLECT_T3_WIRE])
			assert_int_equal(at[THERE + REFLECT_T3_WIRE], t->t3_ns);
		assert_int_equal(s->source[THERE + REFLECT_T3_WIRE] != SOURCE_NONE, s->follow_up == FOLLOW_UP_THERE);
	}
	return n;
}

/* ---- Tests ---------------------------------------------------------------------------------------------------------- */

static void each_has_its_own_times(void **state)
{
	static const int64_t windows[] = { 2, 3, 64, 1000 };

	for (size_t w = 0; w < COUNT_OF(windows); w++) {
		setup(state);
		options.window = windows[w];
		options.timeout_ns = 100 * NS_PER_MS;
		for (unsigned i = 0; i < PROBES; i++) {
			sim.fate[i].there_ns = 100 + chance(500 * NS_PER_US);
			sim.fate[i].back_ns = 100 + chance(500 * NS_PER_US);
			sim.fate[i].again_ns = i % 7 ? 0 : 1 + chance(NS_PER_MS);
			sim.fate[i].stamp_ns = chance(900 * NS_PER_US);
			sim.fate[i].forged = i % 5 == 0;
		}
		run();
		assert_int_equal(check_records(), 3000);
		assert_int_equal(x.window.reached, windows[w]);
		assert_int_equal(COUNT(sent), 3000 + COUNT(closing));
		assert_int_equal(COUNT(lost) + COUNT(late) + COUNT(unstamped) + COUNT(stamp_unmatched) + COUNT(unfinished), 0);
		assert_in_range(COUNT(duplicate), 3000 / 7 - windows[w] / 7 - 1, 3000 / 7 + 1);
		assert_in_range(COUNT(foreign), 3000 / 5, 3000 / 5 + 1);
		assert_true(windows[w] < 64 || COUNT(reordered) > 100);
		assert_int_equal(x.outages.count, 0);
		teardown(state);
	}
}

static void check_what_is_lost(void **state, uint32_t ring)
{
	unsigned lost = 0, there = 0, late = 0, duplicate = 0;

	setup(state);
	sim.ring = ring;
	/* What is late comes before the end. */
	sim.fate[2999].back_ns = TIMEOUT_NS - 500 * NS_PER_US;
	for (unsigned i = 0; i < 2000; i++) {
		struct fate_of *f = &sim.fate[i];

		if (i % 37 == 5) {
			f->there_ns = -1;
			there++;
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
	run();
	assert_int_equal(check_records(), 3000 - lost);
	assert_int_equal(COUNT(lost), lost);
	assert_int_equal(COUNT(late), late);
	assert_int_equal(COUNT(duplicate), duplicate);
	assert_int_equal(x.directions.lost_forward, there);
	assert_int_equal(x.directions.lost_backward, lost - there - late);
	assert_int_equal(x.outages.count, 0);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]) + COUNT(follow_up[FOLLOW_UP_LOST]) + COUNT(follow_up[FOLLOW_UP_END]), 3000 - lost);
	assert_in_range(COUNT(follow_up[FOLLOW_UP_LOST]), 1, lost);
	teardown(state);
}

/* Also where the ring is too small for what is sent within the timeout: sending waits. */
static void what_is_lost_is_counted(void **state)
{
	check_what_is_lost(state, 0);
	check_what_is_lost(state, 256);
}

/* Its place in the ring was another's since. */
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
	run();
	assert_int_equal(COUNT(lost), 20);
	assert_int_equal(COUNT(late), 20);
	assert_int_equal(COUNT(duplicate), 20);
	assert_int_equal(check_records(), 3000 - 20);
}

/* The ring is full of those, and the oldest one waits for T3. */
static void a_ring_that_is_full(void **state)
{
	(void)state;
	sim.ring = 128;
	sim.fate[499].known_ns = -1;
	for (unsigned i = 500; i < 900; i++)
		sim.fate[i].there_ns = -1;
	run();
	assert_int_equal(COUNT(lost), 400);
	assert_int_equal(check_records(), 2600);
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
		sim.fate[1000 + i].there_ns = stall_ns - i * slot_ns;
	run();
	assert_int_equal(check_records(), 3000);
	for (unsigned i = 0; i < 3000; i++) {
		slow += record[i].latency_ns > 50 * NS_PER_US;
		assert_true(sim.truth[i].t1_ns - sim.truth[0].t1_ns >= i * slot_ns - 5000);
		assert_true(sim.truth[i].t1_ns - sim.truth[0].t1_ns <= i * slot_ns + 10000);
	}
	assert_int_equal(slow, stall_ns / slot_ns);
	assert_int_equal(counter_get(&x.pace.missed), 0);
	assert_in_range(x.window.reached, stall_ns / slot_ns, stall_ns / slot_ns + 1);
	assert_int_equal(x.planned[PLANNED_RTT]->count, 3000);
}

/* The window is full, then there is room again. */
static void a_full_window_misses_slots(void **state)
{
	(void)state;
	options.interval_ns = 100 * NS_PER_US;
	options.window = 10;
	for (unsigned i = 0; i < 10; i++)
		sim.fate[100 + i].there_ns = 5 * NS_PER_MS;
	run();
	assert_int_equal(check_records(), 3000);
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
	run();
	assert_int_equal(COUNT(lost), 2);
	assert_in_range(counter_get(&x.pace.slots), 99, 101);
	assert_int_equal(counter_get(&x.pace.missed), counter_get(&x.pace.slots) - 2);
}

/* One lost probe is no reason to miss a slot, however small the window is. */
static void a_small_window_by_the_clock(void **state)
{
	(void)state;
	options.interval_ns = 50 * NS_PER_US;
	options.window = 10;
	for (unsigned i = 0; i < 3000; i += 1000)
		sim.fate[i].back_ns = -1;
	run();
	assert_int_equal(counter_get(&x.pace.missed), 0);
	assert_int_equal(check_records(), 2997);
}

static void nobody_answers_for_a_while(void **state)
{
	(void)state;
	sim.ring = 256;
	for (unsigned i = 500; i < 2900; i++)
		sim.fate[i].there_ns = -1;
	run();
	assert_int_equal(check_records(), 3000 - 2400);
	assert_int_equal(COUNT(lost), 2400);
	assert_int_equal(COUNT(unfinished), 0);
	assert_int_equal(x.outages.count, 1);
	assert_true(x.outages.total_ns > 2400 / 64 * TIMEOUT_NS);
	assert_true(x.outages.total_ns < (2400 / 64 + 2) * TIMEOUT_NS);
}

static void nobody_answers_at_all(void **state)
{
	(void)state;
	options.count = 300;
	for (unsigned i = 0; i < 300; i++)
		sim.fate[i].there_ns = -1;
	run();
	assert_int_equal(COUNT(lost), 300);
	assert_int_equal(COUNT(sent), 300);
	assert_int_equal(x.outages.count, 1);
}

/* All that were lost come after all, more of them than a list of lost ones holds; each twice. */
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
		sim.fate[i] = (struct fate_of){ .there_ns = 3000, .back_ns = 4000, .stamp_ns = 200, .known_ns = 100 };
	options.count = 5000;
	run();
	assert_int_equal(COUNT(lost), 2000);
	assert_int_equal(COUNT(late), 2000);
	assert_int_equal(COUNT(duplicate), 2000);
	assert_int_equal(COUNT(foreign), 0);
	assert_int_equal(check_records(), 3000);
}

static void the_slots_of_a_nic_are_found(void **state)
{
	static const unsigned slots[] = { 1, 2, 4, 7 };

	for (size_t i = 0; i < COUNT_OF(slots); i++) {
		setup(state);
		sim.slots = slots[i];
		by_nic();
		options.timeout_ns = 100 * NS_PER_MS;
		for (unsigned n = 0; n < PROBES; n++) {
			sim.fate[n].there_ns = 100 * NS_PER_US;
			sim.fate[n].stamp_ns = 20 * NS_PER_US;
		}
		run();
		assert_int_equal(x.window.stamps_most, slots[i]);
		assert_true(x.window.stamps_limited);
		assert_in_range(COUNT(unstamped), 1, 2);
		assert_int_equal(COUNT(recorded), 3000 - COUNT(unstamped));
		teardown(state);
	}
}

/* What came meanwhile waits in the queues of the socket: nothing of it is lost or missing. */
static void a_thread_without_a_cpu(void **state)
{
	for (int hardware = 0; hardware < 2; hardware++) {
		setup(state);
		sim.stall_at = 2000;
		sim.stall_ns = 300 * NS_PER_MS;
		if (hardware)
			by_nic();
		for (unsigned i = 0; i < PROBES; i++)
			sim.fate[i].there_ns = sim.fate[i].stamp_ns = 100 * NS_PER_US;
		run();
		assert_int_equal(check_records(), 3000);
		assert_int_equal(COUNT(lost) + COUNT(late) + COUNT(unstamped), 0);
		assert_false(x.window.stamps_limited);
		teardown(state);
	}
}

/* Stamps are slow here, and none is taken for missing for that. */
static void a_nic_with_slow_stamps(void **state)
{
	(void)state;
	sim.slots = 1;
	by_nic();
	options.timeout_ns = 200 * NS_PER_MS;
	options.count = 200;
	all_stamps_take(15 * NS_PER_MS);
	run();
	assert_in_range(COUNT(unstamped), 1, 3);
	assert_int_equal(x.window.stamps_most, 1);
}

static void a_nic_that_takes_any_number(void **state)
{
	(void)state;
	by_nic();
	options.window = 8;
	all_stamps_take(20 * NS_PER_US);
	run();
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
	by_nic();
	options.count = 500;
	all_stamps_take(20 * NS_PER_US);
	run();
	assert_int_equal(x.window.stamps_most, 1);
	assert_int_equal(COUNT(recorded), 500 - COUNT(unstamped));
	assert_int_equal(check_records(), COUNT(recorded));
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
	run();
	assert_int_equal(COUNT(unstamped), missing);
	assert_int_equal(COUNT(missing_tx), missing);
	assert_int_equal(check_records(), 3000 - missing);
}

static void what_the_reflector_does_not_know(void **state)
{
	unsigned unknown = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i += 10) {
		sim.fate[i].known_ns = -1;
		unknown++;
	}
	run();
	assert_int_equal(check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), unknown);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000 - unknown);
	assert_int_equal(COUNT(closing), 1);
	assert_int_equal(COUNT(timed_packets), 3000);
	assert_int_equal(COUNT(timed_bytes), 3000 * x.probe_bytes);
}

/* Its place in the ring was one's that was told. */
static void what_was_not_told(void **state)
{
	(void)state;
	sim.ring = 256;
	for (unsigned i = 300; i < 310; i++)
		sim.fate[i].known_ns = -1;
	for (unsigned i = 301 + 256; i < 311 + 256; i += 2)
		sim.fate[i].back_ns = -1;
	run();
	assert_int_equal(check_records(), 3000 - 5);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), 10);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_LOST]), 5);
}

/* One reply comes after many that were sent later: what it tells is too late, and what they told of it is known. */
static void replies_out_of_order(void **state)
{
	(void)state;
	sim.follow_ups = FOLLOW_UPS_MAX;
	sim.fate[500].back_ns += 100 * NS_PER_US;
	run();
	assert_int_equal(check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000);
	assert_int_equal(COUNT(reordered), 1);

	teardown(state);
	setup(state);
	sim.fate[500].back_ns += 100 * NS_PER_US;
	run();
	assert_int_equal(check_records(), 3000);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 2999);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_LOST]), 1);
	assert_int_equal(COUNT(follow_up_late), 1);
}

/* At the end one waits for T3, and behind it one for its stamp: neither comes. */
static void nothing_more_comes_at_the_end(void **state)
{
	(void)state;
	sim.fate[2990].known_ns = -1;
	sim.fate[2995].stamp_ns = -1;
	run();
	assert_int_equal(COUNT(unstamped), 1);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_UNKNOWN]), 1);
	assert_int_equal(check_records(), 2999);
}

/* Its thread has not fetched the stamp when it makes the next reply, nor the ones after that; and of those that tell some are lost. */
static void one_of_several_follow_ups_is_enough(void **state)
{
	(void)state;
	sim.follow_ups = FOLLOW_UPS_MAX;
	for (unsigned i = 0; i < 3000; i++) {
		sim.fate[i].known_ns = chance(3000);
		if (i % 20 == 10)
			sim.fate[i].back_ns = -1;
	}
	run();
	assert_int_equal(check_records(), 3000 - 150);
	assert_int_equal(COUNT(follow_up[FOLLOW_UP_THERE]), 3000 - 150);
	assert_int_equal(COUNT(follow_up_late), 0);
}

static void a_plain_reflector(void **state)
{
	(void)state;
	sim.silent = options.plain = true;
	run();
	assert_int_equal(check_records(), 3000);
	assert_int_equal(COUNT(closing), 0);
	assert_int_equal(COUNT(sent), 3000);
}

/* What is in flight then is unfinished after the patience, however long the timeout is. */
static void a_stop_in_the_middle(void **state)
{
	int64_t began_ns;

	(void)state;
	sim.stop_at = 1000;
	options.timeout_ns = 10 * NS_PER_S;
	for (unsigned i = 990; i < 1100; i += 2)
		sim.fate[i].back_ns = -1;
	began_ns = sim.now_ns;
	run();
	assert_int_equal(x.end, END_SIGNAL);
	assert_in_range(COUNT(unfinished), 5, 40);
	assert_int_equal(COUNT(lost), 0);
	assert_int_equal(check_records(), COUNT(sent) - COUNT(closing) - COUNT(unfinished));
	assert_true(sim.now_ns - began_ns < 400 * NS_PER_MS);
}

static void refused_sends_are_tried_again(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i += 100)
		sim.fate[i].refused = 3;
	run();
	assert_int_equal(COUNT(refused), 90);
	for (unsigned i = 0; i < 3000; i += 100)
		assert_true(sim.truth[i].t1_ns - EPOCH_NS - sim.truth[i].tried_ns >= 3 * NS_PER_MS);
	assert_int_equal(COUNT(sent), 3000 + COUNT(closing));
	assert_int_equal(check_records(), 3000);
}

static void a_warmup(void **state)
{
	(void)state;
	options.warmup = 100;
	run();
	assert_in_range(COUNT(warmup), 100, 100 + options.window);
	assert_int_equal(COUNT(recorded), 3000);
	assert_int_equal(check_records(), 3000);
	assert_int_equal(record[0].seq, COUNT(warmup));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_own_times), cmocka_unit_test(what_is_lost_is_counted), TEST(what_comes_long_after_it_was_lost_is_late), TEST(a_ring_that_is_full),
		TEST(slots_that_are_missed_at_the_end), TEST(a_small_window_by_the_clock), cmocka_unit_test(a_thread_without_a_cpu), TEST(a_nic_with_slow_stamps),
		TEST(a_nic_that_takes_any_number), TEST(what_was_not_told), TEST(replies_out_of_order), TEST(a_stall_is_in_every_probe_that_it_covers),
		TEST(a_full_window_misses_slots), TEST(nobody_answers_for_a_while), TEST(nobody_answers_at_all),
		TEST(all_that_were_lost_are_late), cmocka_unit_test(the_slots_of_a_nic_are_found), TEST(a_nic_that_is_slow_to_free_its_place), TEST(stamps_that_are_missing_or_late),
		TEST(what_the_reflector_does_not_know), TEST(nothing_more_comes_at_the_end), TEST(one_of_several_follow_ups_is_enough),
		TEST(a_plain_reflector), TEST(a_stop_in_the_middle),
		TEST(refused_sends_are_tried_again), TEST(a_warmup),
	};

	util_seed();
	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
