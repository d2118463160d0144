/* build: wraps=clock_gettime,clock_nanosleep sources=wire/packet.c,wire/tlv*.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Freezing the traces of both hosts: when an emitter asks and stops asking, and what a reflector honours. */
#include "measure/freeze.c"

#include "util.h"

#define BEGIN_NS (1000 * NS_PER_S)
#define INTERVAL_NS (10 * NS_PER_S)
#define BREACH_SEQ 17
#define SSID 5

static struct exchange x;
static struct options options;
static struct channel channel;
static struct packet_plan plan = { .ssid = SSID, .freeze = true };
static struct sessions sessions;
static _Atomic int trace_state;
static int64_t now_ns;
static unsigned hooks;
static uint32_t hook_seq, hook_ssid;
static bool hook_has_sample;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	*t = (struct timespec){ .tv_sec = now_ns / NS_PER_S, .tv_nsec = now_ns % NS_PER_S };
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	(void)clock;
	(void)left;
	assert_int_equal(flags, TIMER_ABSTIME);
	now_ns = until->tv_sec * NS_PER_S + until->tv_nsec;
	return 0;
}

void probe_prepare(struct exchange *to)
{
	packet_prepare(to->emit.probe, to->plan);
	to->emit.probe_bytes = packet_plan_bytes(to->plan);
}

/* A trace that takes 20 us to freeze. */
static void on_peer_breach(void *context, uint16_t ssid, uint32_t seq, const struct sample *s)
{
	const bool was = trace_state;

	(void)context;
	hooks++;
	hook_seq = seq;
	hook_ssid = ssid;
	hook_has_sample = s;
	now_ns += 20 * NS_PER_US;
	trace_state = 1;
	x.froze = (struct freeze_done){ .was_frozen = was, .ns = { .known = !was, .value = was ? 0 : 20 * NS_PER_US } };
}

static void begin(enum role role)
{
	memset(&x, 0, sizeof(x));
	memset(&sessions, 0, sizeof(sessions));
	options = (struct options){ .role = role, .threshold_ns = 1000, .trace_interval_ns = INTERVAL_NS,
				    .allow_freeze = role == ROLE_REFLECT };
	trace_state = 0;
	hooks = 0;
	now_ns = BEGIN_NS;
	x.options = x.result.options = &options;
	x.channel = &channel;
	x.plan = &plan;
	x.sessions = &sessions;
	x.flight = x.few;
	x.flight_mask = FLIGHTS - 1;
	x.on_peer_breach = on_peer_breach;
	x.trace_state = &trace_state;
	x.freezes = true;
	packet_prepare(x.emit.probe, &plan);
}

/* ---- An emitter -------------------------------------------------------------------------------------------------- */

static struct flight *sent(uint32_t seq)
{
	struct flight *f = &x.few[seq & x.flight_mask];

	*f = (struct flight){ .key = seq, .sample.seq = seq, .sent_ns = now_ns, .kept = true };
	if (x.next_key <= seq)
		x.next_key = seq + 1;
	atomic_store(&x.result.account.sent, x.next_key);
	return f;
}

/* The breach of this probe, whose own trace takes 3 us to freeze. */
static void breach(uint32_t seq)
{
	const int64_t seen_ns = now_ns;

	now_ns += 3 * NS_PER_US;
	x.froze = (struct freeze_done){ .was_frozen = trace_state };
	if (!trace_state)
		x.froze.ns = optional_of(3 * NS_PER_US);
	trace_state = 1;
	freeze_note_breach(&x, sent(seq), seen_ns);
}

/* The freeze TLV of the next probe. */
static struct packet_freeze probe(void)
{
	struct request r;

	if (x.emit.freeze.changed)
		freeze_write(&x);
	sent(x.next_key);
	packet_probe(x.emit.probe, &plan, x.next_key - 1, 1);
	assert_int_equal(packet_read_request(x.emit.probe, packet_plan_bytes(&plan), NULL, &r), PACKET_GOOD);
	assert_true(r.freeze.present);
	return r.freeze;
}

static void reply(uint8_t flags, uint32_t seq, uint32_t age, bool in_time)
{
	x.emit.reply.sender_seq = x.next_key - 1;
	x.emit.reply.freeze = (struct packet_freeze){ .present = true, .flags = flags | FREEZE_ANSWER, .seq = seq,
						      .age_us = age };
	freeze_note_reply(&x, in_time);
}

static void a_request_is_repeated_until_it_is_confirmed(void **state)
{
	const struct freeze_first *first = &x.result.freeze.first;
	struct packet_freeze f;

	(void)state;
	begin(ROLE_EMIT);
	assert_int_equal(probe().flags, 0);
	breach(BREACH_SEQ);
	for (int i = 0; i < 3; i++) {
		now_ns += 10 * NS_PER_US;
		f = probe();
		assert_int_equal(f.flags, FREEZE_ASKED);
		assert_int_equal(f.seq, BREACH_SEQ);
		assert_int_equal(f.age_us, 13 + 30 * i);
		now_ns += 20 * NS_PER_US;
		reply(0, 0, 0, true);
	}
	/* That of another breach confirms nothing. */
	reply(FREEZE_FROZEN, BREACH_SEQ + 1, 5, true);
	assert_int_equal(probe().flags, FREEZE_ASKED);
	now_ns += 20 * NS_PER_US;
	reply(FREEZE_FROZEN, BREACH_SEQ, 15, false);
	f = probe();
	assert_int_equal(f.flags | f.seq | f.age_us, 0);
	assert_false(x.emit.freeze.changed);
	assert_int_equal(first->outcome, FREEZE_CONFIRMED);
	assert_int_equal(first->seq, BREACH_SEQ);
	assert_int_equal(first->own_ns.value, 3 * NS_PER_US);
	assert_int_equal(first->peer_ns.value, (3 + 90 + 20 - 15) * NS_PER_US);
	assert_int_equal(first->peer_bound_ns.value, 20 * NS_PER_US);
	assert_int_equal(first->probes, 4);
	assert_true(x.result.freeze.peer_supports);
	/* The same reply again. */
	reply(FREEZE_FROZEN, BREACH_SEQ, 15, true);
	assert_int_equal(x.result.freeze.confirmed, 1);
}

static void a_refusal_ends_a_request(void **state)
{
	static const struct {
		uint8_t flags;
		enum freeze_outcome outcome;
	} rows[] = {
		{ FREEZE_REFUSED, FREEZE_DENIED },
		{ FREEZE_REFUSED | FREEZE_OCCUPIED, FREEZE_TAKEN },
		{ FREEZE_FROZEN | FREEZE_NO_TRACE, FREEZE_MARKED },
		{ 0xff & ~FREEZE_OCCUPIED, FREEZE_DENIED },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		begin(ROLE_EMIT);
		breach(BREACH_SEQ);
		probe();
		reply(rows[i].flags, BREACH_SEQ, 0, true);
		assert_int_equal(x.result.freeze.first.outcome, rows[i].outcome);
		assert_false(x.result.freeze.first.peer_ns.known);
		assert_int_equal(probe().flags, 0);
		assert_int_equal(hooks, 0);
	}
}

static void a_peer_that_never_confirms(void **state)
{
	unsigned asked = 0;

	(void)state;
	/* After 1,000 probes. */
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	while (probe().flags) {
		asked++;
		now_ns += NS_PER_US;
		assert_true(asked < 5000);
	}
	assert_int_equal(asked, 1000);
	assert_int_equal(x.result.freeze.first.outcome, FREEZE_UNCONFIRMED);
	assert_int_equal(x.result.freeze.first.probes, 1000);
	assert_false(x.result.freeze.peer_supports);
	/* After a second, but not before ten probes. */
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	for (asked = 0; probe().flags; asked++)
		now_ns += NS_PER_S;
	assert_int_equal(asked, 10);
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	for (asked = 0; probe().flags; asked++)
		now_ns += 5 * NS_PER_MS;
	assert_int_equal(asked, 200);
	/* The run ends. */
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	freeze_end(&x);
	freeze_end(&x);
	assert_int_equal(x.result.freeze.unconfirmed, 1);
	assert_int_equal(probe().flags, 0);
}

static void one_request_at_a_time(void **state)
{
	(void)state;
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	trace_state = 0; /* re-armed */
	breach(BREACH_SEQ + 1);
	assert_int_equal(probe().seq, BREACH_SEQ);
	assert_int_equal(x.result.freeze.left_out, 1);
	reply(FREEZE_FROZEN, BREACH_SEQ, 0, true);
	/* Re-armed, but within --trace-interval. */
	trace_state = 0;
	breach(BREACH_SEQ + 10);
	assert_int_equal(probe().flags, 0);
	/* After it, while the own trace is frozen; then re-armed. */
	now_ns += INTERVAL_NS;
	breach(BREACH_SEQ + 20);
	assert_int_equal(probe().flags, 0);
	trace_state = 0;
	breach(BREACH_SEQ + 30);
	assert_int_equal(probe().seq, BREACH_SEQ + 30);
	assert_int_equal(x.result.freeze.asked, 2);
	assert_int_equal(x.result.freeze.left_out, 3);
	assert_int_equal(x.result.freeze.first.seq, BREACH_SEQ);
	/* Without an answer for longer than that. */
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	now_ns += 2 * INTERVAL_NS;
	trace_state = 0;
	breach(BREACH_SEQ + 1);
	assert_int_equal(probe().seq, BREACH_SEQ);
}

static void a_breach_of_the_reflector(void **state)
{
	struct packet_freeze f;

	(void)state;
	begin(ROLE_EMIT);
	for (int i = 0; i < 30; i++)
		probe();
	/* Not of a late reply, and not of a number that was not sent. */
	reply(FREEZE_BREACH, BREACH_SEQ, 40, false);
	reply(FREEZE_BREACH, 30, 40, true);
	assert_int_equal(hooks, 0);
	reply(FREEZE_BREACH, BREACH_SEQ, 40, true);
	assert_int_equal(hooks, 1);
	assert_int_equal(hook_seq, BREACH_SEQ);
	assert_int_equal(hook_ssid, SSID);
	assert_true(hook_has_sample);
	assert_int_equal(x.result.freeze.first.outcome, FREEZE_BY_PEER);
	assert_int_equal(x.result.freeze.first.peer_ns.value, 40 * NS_PER_US);
	assert_int_equal(x.result.freeze.first.own_ns.value, 20 * NS_PER_US);
	f = probe();
	assert_int_equal(f.flags, FREEZE_SEEN);
	assert_int_equal(f.seq, BREACH_SEQ);
	/* Again, and one before it. */
	reply(FREEZE_BREACH, BREACH_SEQ, 50, true);
	reply(FREEZE_BREACH, BREACH_SEQ - 1, 50, true);
	assert_int_equal(hooks, 1);
	/* Until it is not reported any more. */
	assert_int_equal(probe().flags, FREEZE_SEEN);
	reply(0, 0, 0, true);
	assert_int_equal(probe().flags, 0);
	reply(FREEZE_BREACH, BREACH_SEQ + 1, 50, true);
	assert_int_equal(hooks, 2);
	assert_int_equal(x.result.freeze.of_peer, 2);
}

/* Closing probes after the run, and the answers to them: number n has answers[n], the last again and again. */
static unsigned closes;
static struct packet_cause answers[3];
static uint32_t replied_to; /* sequence number of the probe that is answered; 0: the last */

static void close_once(struct exchange *to)
{
	const struct packet_cause *c = &answers[closes < 2 ? closes : 2];
	struct request r;

	closes++;
	assert_false(to->emit.freeze.changed);
	sent(x.next_key);
	packet_probe(x.emit.probe, x.plan, x.next_key - 1, 1);
	assert_int_equal(packet_read_request(x.emit.probe, x.emit.probe_bytes, NULL, &r), PACKET_GOOD);
	assert_true(r.wants_cause);
	assert_int_equal(r.cause_seq, BREACH_SEQ);
	now_ns += 10 * NS_PER_MS;
	x.emit.reply = (struct reply){ .sender_seq = replied_to ? replied_to : r.seq,
				       .freeze = { .present = true, .flags = FREEZE_ANSWER }, .cause = *c };
	freeze_note_reply(&x, true);
}

/* A run with a breach; returns the cause that it leaves. */
static const struct freeze_cause *await_cause(uint8_t flags)
{
	begin(ROLE_EMIT);
	closes = 0;
	replied_to = 0;
	breach(BREACH_SEQ);
	probe();
	reply(flags, BREACH_SEQ, 15, true);
	probe();
	freeze_await_cause(&x, close_once);
	return &x.result.freeze.first.cause;
}

static const struct packet_cause softirq = { .state = PACKET_CAUSE_KNOWN, .seq = BREACH_SEQ, .class = OWNER_SOFTIRQ,
					     .stage = 1, .percent = 97, .cpu = PACKET_CAUSE_NO_CPU, .stage_ns = 512000,
					     .ns = 498200 };

static void a_cause_is_asked_for_until_it_is_known(void **state)
{
	const struct packet_cause pending = { .state = PACKET_CAUSE_PENDING, .seq = BREACH_SEQ };
	const struct freeze_cause *c;

	(void)state;
	answers[0] = pending;
	answers[1] = answers[2] = softirq;
	answers[1].seq++; /* of another breach */
	/* All octets are used, none of them is a NUL, and few can be printed. */
	memset(answers[2].name, '\x1b', sizeof(answers[2].name));
	memcpy(answers[2].name, "a\nb\xff~", 5);
	c = await_cause(FREEZE_FROZEN);
	assert_int_equal(closes, 3);
	assert_int_equal(c->state, FREEZE_CAUSE_KNOWN);
	assert_string_equal(c->name, "a?b?~???????????????????????????");
	assert_false(c->cpu.known);
	assert_int_equal(c->class, OWNER_SOFTIRQ);
	assert_int_equal(c->stage, 1);
	assert_int_equal(c->percent, 97);
	assert_int_equal(c->stage_ns, 512000);
	assert_int_equal(c->ns, 498200);
	/* A repeated reply changes nothing later. */
	x.emit.reply.cause.ns = 1;
	freeze_note_reply(&x, true);
	assert_int_equal(c->ns, 498200);
}

/* Until 1 s after the run, every 50 ms. */
static void a_late_cause_is_not_awaited_longer(void **state)
{
	int64_t began_ns;

	(void)state;
	answers[0] = answers[1] = answers[2] = (struct packet_cause){ .state = PACKET_CAUSE_PENDING, .seq = BREACH_SEQ };
	assert_int_equal(await_cause(FREEZE_FROZEN)->state, FREEZE_CAUSE_PENDING);
	assert_int_equal(closes, 20);
	/* No reply of the run is one to these probes. */
	answers[0] = answers[1] = answers[2] = softirq;
	begin(ROLE_EMIT);
	breach(BREACH_SEQ);
	probe();
	reply(FREEZE_FROZEN, BREACH_SEQ, 15, true);
	replied_to = x.next_key - 1;
	began_ns = now_ns;
	freeze_await_cause(&x, close_once);
	assert_int_equal(x.result.freeze.first.cause.state, FREEZE_CAUSE_PENDING);
	assert_true(now_ns - began_ns <= NS_PER_S + 10 * NS_PER_MS);
}

static void a_cause_is_not_asked_for(void **state)
{
	static const uint8_t flags[] = { FREEZE_REFUSED, FREEZE_REFUSED | FREEZE_OCCUPIED, FREEZE_FROZEN | FREEZE_NO_TRACE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(flags); i++) {
		assert_int_equal(await_cause(flags[i])->state, FREEZE_CAUSE_NONE);
		assert_int_equal(closes, 0);
		assert_ptr_equal(x.plan, &plan);
	}
	/* A peer without this TLV is asked once. */
	answers[0] = (struct packet_cause){ .state = PACKET_CAUSE_NONE };
	assert_int_equal(await_cause(FREEZE_FROZEN)->state, FREEZE_CAUSE_NONE);
	assert_int_equal(closes, 1);
}

static void hostile_causes(void **state)
{
	(void)state;
	for (int i = 0; i < 7; i++) {
		struct packet_cause *from = &answers[0];

		*from = softirq;
		from->class = i == 1 ? CAUSE_NOT_EXPLAINED : 0;
		from->stage = i == 2 ? FREEZE_STAGES : 0;
		from->percent = i == 3 ? 101 : 100;
		from->ns = i == 4 ? -1 : i == 5 ? 512001 : 1;
		from->stage_ns = i == 6 ? INT64_MIN : 512000;
		assert_int_equal(await_cause(FREEZE_FROZEN)->state, i ? FREEZE_CAUSE_INVALID : FREEZE_CAUSE_KNOWN);
		assert_int_equal(closes, 1);
	}
}

/* ---- A reflector ------------------------------------------------------------------------------------------------- */

/* A request of the session, and the flags of its answer; the trace is frozen after the reply. */
static struct packet_freeze request(unsigned session, uint8_t flags, uint32_t seq)
{
	struct packet_freeze f;

	x.reflect.request.freeze = (struct packet_freeze){ .present = true, .flags = flags, .seq = seq, .age_us = 214 };
	f = freeze_answer(&x, &sessions.session[session]);
	now_ns += 30 * NS_PER_US;
	if (x.reflect.freeze.due)
		freeze_for_emitter(&x, &sessions.session[session]);
	return f;
}

static void begin_reflector(void)
{
	begin(ROLE_REFLECT);
	for (unsigned i = 0; i < 3; i++)
		sessions.session[i].sender = (struct session_sender){ .address = { 1, i / 2 }, .port = (uint16_t)(1000 + i),
								      .ssid = SSID };
}

static void an_allowed_request_is_honoured_once(void **state)
{
	const struct freeze_first *first = &x.result.freeze.first;
	struct packet_freeze f;

	(void)state;
	begin_reflector();
	assert_int_equal(request(0, 0, 0).flags, 0);
	assert_int_equal(hooks, 0);
	assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ).flags, 0); /* not yet */
	assert_int_equal(hooks, 1);
	assert_int_equal(hook_seq, BREACH_SEQ);
	assert_int_equal(hook_ssid, SSID);
	now_ns += 100 * NS_PER_US;
	/* Again, and from another port of the same emitter. */
	for (unsigned port = 0; port < 2; port++) {
		f = request(port, FREEZE_ASKED, BREACH_SEQ);
		assert_int_equal(f.flags, FREEZE_FROZEN);
		assert_int_equal(f.seq, BREACH_SEQ);
		assert_int_equal(f.age_us, 100 + 30 * port);
	}
	assert_int_equal(hooks, 1);
	assert_int_equal(x.result.freeze.asked, 1);
	assert_int_equal(x.result.freeze.confirmed, 1);
	assert_int_equal(first->outcome, FREEZE_CONFIRMED);
	assert_int_equal(first->own_ns.value, (30 + 20) * NS_PER_US);
	assert_int_equal(first->peer_ns.value, 214 * NS_PER_US);
}

static uint8_t cause_for(unsigned session, uint32_t seq)
{
	x.reflect.request.cause_seq = seq;
	return freeze_cause_answer(&x, &sessions.session[session])->state;
}

static void a_cause_is_reported_to_the_emitter_that_asked(void **state)
{
	static struct freeze_causes causes;
	struct packet_cause c = softirq;

	(void)state;
	memset(&causes, 0, sizeof(causes));
	begin_reflector();
	x.causes = &causes;
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_REFUSED);
	request(0, FREEZE_ASKED, BREACH_SEQ);
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_PENDING);
	assert_int_equal(cause_for(0, BREACH_SEQ + 1), PACKET_CAUSE_REFUSED);
	/* Of another run with this number; of another number. */
	freeze_causes_add(&causes, SSID + 1, &c);
	c.seq++;
	freeze_causes_add(&causes, SSID, &c);
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_PENDING);
	c.seq--;
	freeze_causes_add(&causes, SSID, &c);
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_KNOWN);
	assert_int_equal(x.reflect.freeze.cause.ns, softirq.ns);
	/* Another port of this emitter. */
	assert_int_equal(cause_for(1, BREACH_SEQ), PACKET_CAUSE_KNOWN);
	sessions.session[2].sender.ssid = SSID + 2;
	assert_int_equal(cause_for(2, BREACH_SEQ), PACKET_CAUSE_REFUSED);
	sessions.session[0].stateless = true;
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_REFUSED);
	sessions.session[0].stateless = false;
	options.allow_freeze = false;
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_REFUSED);
	options.allow_freeze = true;
	x.causes = NULL;
	assert_int_equal(cause_for(0, BREACH_SEQ), PACKET_CAUSE_NO_TRACE);
}

/* The last 32 are remembered, also when the count of them wraps. */
static void old_causes_are_not_remembered(void **state)
{
	static struct freeze_causes causes;

	(void)state;
	memset(&causes, 0, sizeof(causes));
	atomic_store(&causes.written, UINT_MAX - 40);
	begin_reflector();
	x.causes = &causes;
	for (uint32_t seq = 1; seq <= 100; seq++)
		freeze_causes_add(&causes, SSID, &(struct packet_cause){ .state = PACKET_CAUSE_KNOWN, .seq = seq });
	assert_int_equal(cause_for(0, 100), PACKET_CAUSE_KNOWN);
	assert_int_equal(cause_for(0, 69), PACKET_CAUSE_KNOWN);
	assert_int_equal(cause_for(0, 68), PACKET_CAUSE_REFUSED);
}

static void two_emitters(void **state)
{
	(void)state;
	begin_reflector();
	request(0, FREEZE_ASKED, BREACH_SEQ);
	/* Its trace is frozen; repeated flags count once. */
	for (int i = 0; i < 5; i++)
		assert_int_equal(request(2, FREEZE_ASKED, BREACH_SEQ).flags, FREEZE_REFUSED | FREEZE_OCCUPIED);
	assert_int_equal(x.result.freeze.occupied, 1);
	/* Re-armed, but within --trace-interval: also for the first emitter. */
	trace_state = 0;
	assert_int_equal(request(2, FREEZE_ASKED, BREACH_SEQ + 1).flags, FREEZE_REFUSED);
	assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ + 1).flags, FREEZE_REFUSED);
	assert_int_equal(x.result.freeze.refused, 2);
	assert_int_equal(hooks, 1);
	now_ns += INTERVAL_NS;
	assert_int_equal(request(2, FREEZE_ASKED, BREACH_SEQ + 2).flags, 0);
	assert_int_equal(hooks, 2);
	assert_int_equal(request(2, FREEZE_ASKED, BREACH_SEQ + 2).flags, FREEZE_FROZEN);
}

static void repeated_requests_are_not_honoured_again(void **state)
{
	struct packet_freeze f;

	(void)state;
	begin_reflector();
	request(0, FREEZE_ASKED, BREACH_SEQ);
	trace_state = 0;
	now_ns += 2 * INTERVAL_NS;
	request(2, FREEZE_ASKED, BREACH_SEQ);
	assert_int_equal(hooks, 2);
	trace_state = 0;
	now_ns += 2 * INTERVAL_NS;
	/* The first request again, whose time is not known any more; then an older one. */
	f = request(0, FREEZE_ASKED, BREACH_SEQ);
	assert_int_equal(f.flags, FREEZE_FROZEN);
	assert_int_equal(f.age_us, UINT32_MAX);
	assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ - 1).flags, FREEZE_REFUSED);
	assert_int_equal(hooks, 2);
	assert_int_equal(x.result.freeze.refused, 1);
}

static void requests_that_are_not_allowed(void **state)
{
	(void)state;
	begin_reflector();
	options.allow_freeze = false;
	for (int i = 0; i < 3; i++)
		assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ).flags, FREEZE_REFUSED);
	assert_int_equal(x.result.freeze.refused, 1);
	options.allow_freeze = true;
	sessions.session[2].stateless = true;
	assert_int_equal(request(2, FREEZE_ASKED, BREACH_SEQ).flags, FREEZE_REFUSED);
	assert_int_equal(hooks, 0);
	assert_int_equal(trace_state, 0);
	assert_int_equal(x.result.freeze.first.outcome, FREEZE_NONE);
}

static void a_reflector_without_a_trace_marks(void **state)
{
	(void)state;
	begin_reflector();
	x.on_peer_breach = NULL;
	x.trace_state = NULL;
	request(0, FREEZE_ASKED, BREACH_SEQ);
	assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ).flags, FREEZE_FROZEN | FREEZE_NO_TRACE);
	assert_int_equal(x.result.freeze.first.outcome, FREEZE_MARKED);
	assert_false(x.result.freeze.first.own_ns.known);
}

static void own_breaches_are_reported(void **state)
{
	struct packet_freeze f;
	unsigned reported = 0;

	(void)state;
	begin_reflector();
	breach(BREACH_SEQ); /* of session 0 */
	assert_int_equal(request(2, 0, 0).flags, 0);
	f = request(0, 0, 0);
	assert_int_equal(f.flags, FREEZE_BREACH);
	assert_int_equal(f.seq, BREACH_SEQ);
	assert_int_equal(f.age_us, 3 + 30);
	/* The emitter had the same breach, and asks. */
	assert_int_equal(request(0, FREEZE_ASKED, BREACH_SEQ).flags, FREEZE_FROZEN);
	assert_int_equal(request(0, FREEZE_SEEN, BREACH_SEQ - 1).flags, FREEZE_BREACH);
	assert_int_equal(request(0, FREEZE_SEEN, BREACH_SEQ).flags, 0);
	assert_int_equal(request(0, 0, 0).flags, 0);
	assert_int_equal(x.result.freeze.announced, 1);
	assert_int_equal(hooks, 0);
	/* While the trace is frozen. */
	breach(BREACH_SEQ + 1);
	assert_int_equal(request(0, 0, 0).flags, 0);
	/* Never seen. */
	trace_state = 0;
	breach(BREACH_SEQ + 2);
	while (request(0, 0, 0).flags)
		reported++;
	assert_int_equal(reported, 64);
	assert_int_equal(x.result.freeze.announced, 2);
}

static void the_sample_of_the_request_is_found(void **state)
{
	(void)state;
	begin_reflector();
	x.to = REFLECT_T3_WIRE;
	struct flight *f = sent(BREACH_SEQ);

	sent(BREACH_SEQ + 1);
	f->state = FLIGHT_STAMPED;
	f->sample.source[x.from] = f->sample.source[x.to] = SOURCE_KERNEL;
	f->session = 2;
	request(0, FREEZE_ASKED, BREACH_SEQ); /* of another emitter */
	assert_false(hook_has_sample);
	assert_false(x.result.freeze.event_raw_ns.known);
	begin_reflector();
	x.to = REFLECT_T3_WIRE;
	f = sent(BREACH_SEQ);
	f->state = FLIGHT_STAMPED;
	f->sample.source[x.from] = f->sample.source[x.to] = SOURCE_KERNEL;
	request(0, FREEZE_ASKED, BREACH_SEQ);
	assert_true(hook_has_sample);
	assert_int_equal(x.result.freeze.event_raw_ns.value, BEGIN_NS - NS_PER_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_repeated_until_it_is_confirmed),
		cmocka_unit_test(a_refusal_ends_a_request),
		cmocka_unit_test(a_peer_that_never_confirms),
		cmocka_unit_test(one_request_at_a_time),
		cmocka_unit_test(a_breach_of_the_reflector),
		cmocka_unit_test(an_allowed_request_is_honoured_once),
		cmocka_unit_test(a_cause_is_asked_for_until_it_is_known),
		cmocka_unit_test(a_late_cause_is_not_awaited_longer),
		cmocka_unit_test(a_cause_is_not_asked_for), cmocka_unit_test(hostile_causes),
		cmocka_unit_test(a_cause_is_reported_to_the_emitter_that_asked),
		cmocka_unit_test(old_causes_are_not_remembered), cmocka_unit_test(two_emitters),
		cmocka_unit_test(repeated_requests_are_not_honoured_again),
		cmocka_unit_test(requests_that_are_not_allowed),
		cmocka_unit_test(a_reflector_without_a_trace_marks),
		cmocka_unit_test(own_breaches_are_reported),
		cmocka_unit_test(the_sample_of_the_request_is_found),
	};

	return cmocka_run_group_tests_name("freeze", tests, NULL, NULL);
}
