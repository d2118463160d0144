// SPDX-License-Identifier: GPL-2.0-or-later
/* The network of the window tests: forward and backward path, the kernel, and a run. */
#include "fake_network.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct network sim;
struct options options;
struct channel channel;
struct exchange x;
struct packet_plan plan;
struct sample record[PROBES];
_Atomic int stop;

static struct peer_socket peer_socket[PORTS];
static struct run_buffers run_buffers;
struct clock_peer peer;
static struct log log_of_run;

/* ---- The network ------------------------------------------------------------------------------------------------- */

static void happens(int64_t at_ns, struct event e)
{
	assert_in_range(sim.events, 0, EVENTS - 1);
	e.at_ns = at_ns;
	sim.next_ns = sim.events && sim.next_ns < at_ns ? sim.next_ns : at_ns;
	sim.event[sim.events++] = e;
}

/* Nearly always: an idle loop asks a thousand times between two events. */
static bool nothing_is_due(void)
{
	return !sim.events || sim.now_ns < sim.next_ns;
}

#define ANY_PORT PORTS

/* The next due event of a kind, by a given port or any; NULL: none. */
static struct event *due(enum what what, unsigned port)
{
	struct event *first = NULL;

	if (nothing_is_due())
		return NULL;
	for (unsigned i = 0; i < sim.events; i++) {
		struct event *e = &sim.event[i];

		if (e->what == what && e->at_ns <= sim.now_ns && (port == ANY_PORT || e->port == port) &&
		    (!first || e->at_ns < first->at_ns))
			first = e;
	}
	return first;
}

static void is_over(struct event *e)
{
	*e = sim.event[--sim.events];
	sim.next_ns = INT64_MAX;
	for (unsigned i = 0; i < sim.events; i++)
		if (sim.event[i].at_ns < sim.next_ns)
			sim.next_ns = sim.event[i].at_ns;
}

static void reflect(struct event *e)
{
	const struct fate_of *f = &sim.fate[e->seq];
	struct session_remote *s = &sim.session[e->port];
	struct truth *t = &sim.truth[e->seq];

	if (sim.restart_at && e->seq >= sim.restart_at && !s->restarted)
		*s = (struct session_remote){ .restarted = true };

	struct answer a = { .seq = s->replies, .t2_ns = t->t2_ns, .t3_ns = t->t3_ns, .ttl = 255,
			    .t2_method = PACKET_METHOD_SOFTWARE,
			    .t3_method = PACKET_METHOD_SOFTWARE, .wire_source = SOURCE_KERNEL };
	struct event back = { .what = ARRIVES_HERE, .seq = e->seq, .bytes = e->bytes, .port = e->port };
	struct packet_departure reported[FOLLOW_UPS_MAX];
	bool malformed;

	if (s->replies && s->reply[s->replies - 1].known_ns <= e->at_ns) {
		a.follow_up_seq = s->replies - 1;
		a.follow_up_ns = s->reply[s->replies - 1].t3_ns;
		a.follow_up_method = PACKET_METHOD_SOFTWARE;
	}
	for (uint32_t n = s->replies; n-- && s->replies - n <= FOLLOW_UPS_MAX;)
		if (s->reply[n].known_ns <= e->at_ns)
			reported[a.follow_ups++] = (struct packet_departure){
				.seq = n, .method = PACKET_METHOD_SOFTWARE, .ns = s->reply[n].t3_ns };
	a.follow_up = reported;
	s->reply[s->replies].t3_ns = t->t3_ns;
	s->reply[s->replies++].known_ns = f->known_ns < 0 ? INT64_MAX : e->at_ns + RESPONSE_NS + f->known_ns;
	memcpy(back.packet, e->packet, e->bytes);
	packet_reply(back.packet, e->bytes, NULL, &a, &malformed);
	assert_false(malformed);
	if (f->back_ns < 0)
		return;
	happens(e->at_ns + RESPONSE_NS + f->back_ns, back);
	if (f->again_ns)
		happens(e->at_ns + RESPONSE_NS + f->back_ns + f->again_ns, back);
	if (f->astray) {
		back.port = (e->port + 1) % (unsigned)options.source_ports;
		happens(e->at_ns + RESPONSE_NS + f->back_ns - 1, back);
		back.port = e->port;
	}
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
	while ((e = due(ARRIVES_THERE, ANY_PORT))) {
		struct event arrived = *e;

		is_over(e);
		reflect(&arrived);
	}
	while ((e = due(PLACE_IS_FREE, ANY_PORT))) {
		is_over(e);
		sim.taken--;
	}
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	const int64_t ns = sim.now_ns + (clock == CLOCK_REALTIME ? EPOCH_NS + sim.shift_ns : 0);

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

/* The reflector's clock at a moment of this network. */
static int64_t by_reflector(int64_t ns)
{
	int64_t steps = sim.stepped_at_ns && ns >= sim.stepped_at_ns;

	if (steps && sim.stepped_again_ns) {
		steps += (ns - sim.stepped_at_ns) / sim.stepped_again_ns;
		steps = steps < sim.stepped_times ? steps : sim.stepped_times;
	}
	return ns + EPOCH_NS + THERE_NS + steps * sim.stepped_ns;
}

static void note_sent(const struct channel *c, uint32_t seq, uint32_t id, const uint8_t *packet, size_t bytes)
{
	const unsigned port = c->at->number;
	const struct fate_of *f = &sim.fate[seq];
	struct truth *t = &sim.truth[seq];
	struct event remote = { .what = ARRIVES_THERE, .seq = seq, .bytes = bytes, .port = port };
	struct event stamp = { .what = STAMP, .seq = seq, .id = id, .port = port };

	*t = (struct truth){ .sent = true, .closing = x.closing, .tried_ns = t->tried_ns, .tries = t->tries,
			     .port = port, .t1_ns = sim.now_ns + EPOCH_NS + WIRE_NS };
	t->t2_ns = by_reflector(sim.now_ns + WIRE_NS + f->remote_ns);
	t->t3_ns = by_reflector(sim.now_ns + WIRE_NS + f->remote_ns + sim.response_ns);
	t->t4_ns = t->t1_ns + f->remote_ns + sim.response_ns + f->back_ns;
	assert_true(bytes <= sizeof(remote.packet));
	memcpy(remote.packet, packet, bytes);
	if (f->remote_ns >= 0)
		/* it waits to be looked at */
		happens(sim.now_ns + WIRE_NS + f->remote_ns + sim.response_ns - RESPONSE_NS, remote);
	if (!c->unasked && f->stamp_ns >= 0 && (!sim.slots || sim.taken < sim.slots)) {
		happens(sim.now_ns + WIRE_NS + f->stamp_ns, stamp);
		sim.taken++;
	}
}

int __wrap_stamp_send(struct channel *c, const void *packet, size_t bytes, uint32_t id,
		      const struct arrival *answering);
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
	if (sim.truth[seq].tries++ < sim.fate[seq].refused || (sim.refuses && c->at->number == sim.refusing)) {
		sim.refuses -= sim.refuses && c->at->number == sim.refusing;
		sim.next_id[c->at->number] += sim.counts_refused && !c->unasked;
		stamp_doubt(c, c->at);
		c->at->id_asked = c->at->id_open = c->at->id_due = false;
		return -EAGAIN;
	}
	assert_false(sim.truth[seq].sent);
	if (!c->unasked) {
		c->at->id_asked = c->at->id_doubted && !c->at->id_open;
		assert_true(c->at->id_asked || c->at->id_open || id == sim.next_id[c->at->number]);
		id = sim.next_id[c->at->number]++;
		if (c->at->id_asked)
			happens(sim.now_ns + sim.ids_take_ns,
				(struct event){ .what = STAMP, .seq = ASKED, .id = id, .port = c->at->number });
	}
	note_sent(c, seq, id, packet, bytes);
	sim.sent[c->at->number]++;
	if (sim.doubt_every && seq % sim.doubt_every == sim.doubt_every - 1)
		stamp_doubt(c, c->at);
	if (sim.stop_at && seq + 1 == sim.stop_at)
		stop = 1;
	if (sim.set_at && seq + 1 == sim.set_at)
		sim.shift_ns = sim.set_ns;
	if (sim.stall_at && seq == sim.stall_at)
		pass(sim.stall_ns);
	return 0;
}

int __wrap_stamp_receive(struct channel *c, struct arrival *a);
int __wrap_stamp_receive(struct channel *c, struct arrival *a)
{
	struct event *e;

	pass(CALL_NS);
	e = due(ARRIVES_HERE, c->at->number);
	if (!e)
		return 0;
	*a = (struct arrival){ .bytes = e->bytes, .to_unicast = true, .ttl = 255, .tos = -1, .source = SOURCE_KERNEL,
			       .time_ns = e->at_ns + EPOCH_NS };
	memcpy(c->datagram, e->packet, e->bytes);
	if (!e->forged && e->port == sim.truth[e->seq].port) {
		sim.reordered += sim.replied && e->seq < sim.highest && !sim.truth[e->seq].closing;
		sim.truth[e->seq].closing = false; /* once */
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

	pass(CALL_NS);
	e = due(STAMP, c->at->number);
	if (!e)
		return FETCH_EMPTY;
	if (e->seq == ASKED) {
		*d = (struct departure){ .id = e->id };
		is_over(e);
		return FETCH_ID;
	}
	*d = (struct departure){ .id = e->id, .time_ns = sim.truth[e->seq].t1_ns };
	is_over(e);
	happens(sim.now_ns + sim.free_ns, (struct event){ .what = PLACE_IS_FREE });
	return FETCH_STAMP;
}

/* An idle loop is let run faster, as in fake_kernel.c. */
static int64_t idle_step(void)
{
	const int64_t step_ns = CALL_NS + 10 * (int64_t)sim.idle_turns;

	sim.idle_turns = nothing_is_due() ? sim.idle_turns + 1 : 0;
	return step_ns < IDLE_NS_MAX ? step_ns : IDLE_NS_MAX;
}

unsigned __wrap_stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY]);
unsigned __wrap_stamp_look(const struct channel *c, struct stamp_ready ready[STAMP_READY])
{
	static unsigned first;
	unsigned n = 0;

	bool receive[PORTS] = { false }, fetch[PORTS] = { false };

	pass(idle_step());
	for (unsigned i = 0; !nothing_is_due() && i < sim.events; i++) {
		const struct event *e = &sim.event[i];

		receive[e->port] |= e->what == ARRIVES_HERE && e->at_ns <= sim.now_ns;
		fetch[e->port] |= e->what == STAMP && e->at_ns <= sim.now_ns;
	}
	for (unsigned i = 0; i < (unsigned)c->ports && n < STAMP_READY; i++) {
		const unsigned port = (first + i) % (unsigned)c->ports;

		if (receive[port] || fetch[port])
			ready[n++] = (struct stamp_ready){ .number = (uint8_t)port, .receive = receive[port],
							   .fetch = fetch[port] };
	}
	first++;
	return n;
}

bool __wrap_stamp_wait(struct channel *c, bool receive, int64_t limit_ns);
bool __wrap_stamp_wait(struct channel *c, bool receive, int64_t limit_ns)
{
	(void)c;
	(void)receive;
	pass(limit_ns);
	return false;
}

/* Only a reflector does. */
int socket_want_tos(struct channel *c)
{
	(void)c;
	fail();
	return -EINVAL;
}

int socket_want_kernel_times(struct channel *c)
{
	(void)c;
	return 0;
}

int socket_want_detail(struct channel *c)
{
	(void)c;
	return 0;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

int64_t network_chance(int64_t below)
{
	return rand() % below;
}

int network_setup(void **state)
{
	(void)state;
	memset(&sim, 0, sizeof(sim));
	sim.now_ns = BEGIN_NS;
	sim.response_ns = RESPONSE_NS;
	for (unsigned i = 0; i < PROBES; i++)
		sim.fate[i] = (struct fate_of){ .remote_ns = 3000, .back_ns = 4000, .stamp_ns = 200, .known_ns = 100 };
	options = (struct options){ .role = ROLE_EMIT, .timeout_ns = TIMEOUT_NS, .overflow_ns = 100 * NS_PER_US,
				    .bucket_ns = NS_PER_US,
				    .ttl = 255, .stamp = SOURCE_KERNEL, .dscp = -1, .priority = -1, .synced_ns = -1,
				    .count = 3000,
				    .window = 64, .source_ports = 1, .seed = 1 };
	channel = (struct channel)CHANNEL_CLOSED;
	channel.peer_sockets = channel.listeners = 1;
	channel.at = channel.peer_socket;
	channel.wire = SOURCE_KERNEL;
	channel.tx_stamps = true;
	peer = (struct clock_peer){ 0 };
	stop = 0;
	x = (struct exchange){ 0 };
	return 0;
}

int network_teardown(void **state)
{
	(void)state;
	run_buffers_close(&run_buffers);
	return 0;
}

void network_run(void)
{
	run_buffers = (struct run_buffers){ 0 };
	assert_int_equal(run_buffers_open(&run_buffers, &options, &x), 0);
	plan = (struct packet_plan){ .ssid = 7, .stages = !sim.silent, .software = !sim.silent,
				     .follow_ups = sim.follow_ups };
	log_assign(&log_of_run, record, PROBES, false, true);
	if (options.source_ports > 1) {
		memset(peer_socket, 0, sizeof(peer_socket));
		for (unsigned i = 0; i < PORTS; i++)
			peer_socket[i].number = (uint8_t)i;
		channel.port = peer_socket;
		channel.ports = (int)options.source_ports;
		channel.at = peer_socket;
	}
	x.channel = &channel;
	x.log = &log_of_run;
	x.options = &options;
	x.stop = &stop;
	x.plan = &plan;
	x.peer = &peer;
	if (sim.ring)
		x.flight_mask = sim.ring - 1;
	exchange_run(&x);
	source_ports_finish(&x);
	x.result.ports_by_network = source_ports_result(x.result.port, x.source_port, x.source_ports);
	assert_true(account_balances(&x.result.account, ROLE_EMIT, x.result.histogram, 0));
	assert_true(x.window.reached <= options.window);
	assert_int_equal(x.window.in_flight, 0);
	assert_true(x.window.stamps_out <= x.window.most + x.source_ports); /* a closing probe by each */
	assert_true(x.window.stamps_most <= x.window.most);
	assert_int_equal(counter_get(&x.result.account.reordered), sim.reordered);
}

void network_by_chance(void)
{
	for (unsigned i = 0; i < PROBES; i++) {
		sim.fate[i].remote_ns = 100 + network_chance(500 * NS_PER_US);
		sim.fate[i].back_ns = 100 + network_chance(500 * NS_PER_US);
		sim.fate[i].again_ns = i % 7 ? 0 : 1 + network_chance(NS_PER_MS);
		sim.fate[i].stamp_ns = network_chance(900 * NS_PER_US);
	}
}

void network_all_stamps_take(int64_t ns)
{
	for (unsigned i = 0; i < PROBES; i++)
		sim.fate[i].stamp_ns = ns;
}

void network_by_nic(void)
{
	channel.wire = options.stamp = SOURCE_HARDWARE;
	options.no_step_check = true;
}

unsigned network_check_records(void)
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
			assert_int_equal(at[REMOTE + REFLECT_T2_WIRE], t->t2_ns);
		if (s->source[REMOTE + REFLECT_T3_WIRE])
			assert_int_equal(at[REMOTE + REFLECT_T3_WIRE], t->t3_ns);
		assert_int_equal(s->source[REMOTE + REFLECT_T3_WIRE] != SOURCE_NONE, s->follow_up == FOLLOW_UP_THERE);
	}
	return n;
}
