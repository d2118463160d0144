// SPDX-License-Identifier: GPL-2.0-or-later
/* Freezing the traces of both hosts at one breach: rare, but called in the loop (hot). */
#include "measure/freeze.h"

#include "measure/probe.h"
#include "result/causes.h"

#include <string.h>

#define FREEZE_PROBES 1000 /* probes that carry a request, at most */
/* The second reply confirms; with a long --interval the first probe may leave after FREEZE_LIMIT_NS. */
#define FREEZE_PROBES_LEAST 10
#define FREEZE_LIMIT_NS NS_PER_S
#define FREEZE_ANNOUNCED 64 /* replies that report a breach of the reflector */
#define CAUSE_WAIT_NS NS_PER_S /* for the cause at the reflector, after the run */
#define CAUSE_EVERY_NS (50 * NS_PER_MS)
/* Slots that the loop reads: the thread that writes needs as many saved traces to come near them. */
#define CAUSES_READ (FREEZE_CAUSES / 2)
#define FREEZE_JUDGED (FREEZE_FROZEN | FREEZE_REFUSED | FREEZE_OCCUPIED)

_Static_assert((int)FREEZE_CAUSE_PENDING == PACKET_CAUSE_PENDING && (int)FREEZE_CAUSE_REFUSED == PACKET_CAUSE_REFUSED &&
	       (int)FREEZE_CAUSE_INVALID == PACKET_CAUSE_STATES, "the states of the TLV");

INLINE uint32_t age_us(int64_t since_ns, int64_t now_ns)
{
	const int64_t us = (now_ns - since_ns) / NS_PER_US;

	return us < 0 ? 0 : us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* The hook of a breach of the other host, at this packet of the emitter's run. */
static void freeze_here(struct exchange *x, uint16_t ssid, uint32_t seq, const struct flight *f)
{
	x->froze = (struct freeze_done){ .was_frozen = false };
	if (x->on_peer_breach)
		x->on_peer_breach(x->context, ssid, seq, f ? &f->sample : NULL);
	exchange_note_rest(x);
}

/* Before the packet of the flight was sent or received; not known if it is in no flight. */
static struct optional event_raw_ns(const struct flight *f, int64_t now_ns)
{
	return f ? optional_of(clock_read_ns(CLOCK_MONOTONIC_RAW) - (now_ns - f->sent_ns) - NS_PER_MS) :
	       (struct optional){ .known = false };
}

/* ---- The emitter ------------------------------------------------------------------------------------------------- */

/* A further request makes sense only if this host's trace was frozen for it, and if the reflector may allow it. */
static bool may_ask(const struct exchange *x, int64_t seen_ns)
{
	const struct freeze_emitter *z = &x->emit.freeze;

	return !z->asking && !x->froze.was_frozen &&
	       (!z->since_ns || seen_ns - z->since_ns >= x->options->trace_interval_ns);
}

static void ask(struct exchange *x, const struct flight *f, int64_t seen_ns)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct result_freeze *r = &x->result.freeze;

	if (!may_ask(x, seen_ns)) {
		counter_add(&r->left_out, 1);
		return;
	}
	counter_add(&r->asked, 1);
	z->changed = z->asking = true;
	z->seq = f->sample.seq;
	z->since_ns = seen_ns;
	z->probes = 0;
	if (r->first.outcome)
		return;
	r->event_raw_ns = event_raw_ns(f, clock_read_ns(CLOCK_MONOTONIC));
	r->first = (struct freeze_first){ .outcome = FREEZE_WAITING, .seq = z->seq, .own_ns = x->froze.ns };
}

/* A request has its outcome. */
static void settle(struct exchange *x, enum freeze_outcome outcome)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct result_freeze *r = &x->result.freeze;

	z->asking = false;
	z->changed = true;
	counter_add(outcome == FREEZE_UNCONFIRMED ? &r->unconfirmed : outcome == FREEZE_DENIED ? &r->refused :
		    outcome == FREEZE_TAKEN ? &r->occupied : &r->confirmed, 1);
	if (r->first.outcome != FREEZE_WAITING)
		return;
	r->first.outcome = outcome;
	r->first.probes = z->probes;
}

void freeze_end(struct exchange *x)
{
	if (x->emit.freeze.asking)
		settle(x, FREEZE_UNCONFIRMED);
}

void freeze_write(struct exchange *x)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct packet_freeze f = { .flags = 0 };
	const int64_t age_ns = clock_read_ns(CLOCK_MONOTONIC) - z->since_ns;

	if (z->probes >= FREEZE_PROBES || (z->probes >= FREEZE_PROBES_LEAST && age_ns >= FREEZE_LIMIT_NS))
		freeze_end(x);
	z->changed = z->asking; /* the age changes with each probe */
	if (z->asking) {
		f = (struct packet_freeze){ .flags = FREEZE_ASKED, .seq = z->seq, .age_us = age_us(0, age_ns) };
		z->probes++;
	} else if (z->seen) {
		f = (struct packet_freeze){ .flags = FREEZE_SEEN, .seq = z->peer_seq };
	}
	packet_freeze_probe(x->emit.probe, x->plan, &f);
}

/* Time of the freeze at the reflector, by the age in its reply: between the send of the probe and the
 * receipt of the reply, less that age. */
static void note_peer_time(struct exchange *x, const struct packet_freeze *f, int64_t now_ns)
{
	const struct flight *answered = verb_flight_of(x, x->emit.reply.sender_seq);
	struct freeze_first *first = &x->result.freeze.first;
	int64_t peer_ns = now_ns - x->emit.freeze.since_ns - f->age_us * NS_PER_US;

	if (first->outcome != FREEZE_WAITING || f->age_us == UINT32_MAX)
		return;
	peer_ns = peer_ns > 0 ? peer_ns : 0;
	first->peer_ns = first->peer_bound_ns = optional_of(peer_ns);
	if (answered->key == x->emit.reply.sender_seq && now_ns - answered->sent_ns < peer_ns)
		first->peer_bound_ns = optional_of(now_ns - answered->sent_ns);
}

/* The flight of this probe if its local times are complete; else NULL. */
static const struct flight *probe_of(struct exchange *x, uint32_t seq)
{
	const struct flight *f = verb_flight_of(x, seq);

	return f->key == seq && f->kept ? f : NULL;
}

/* The reflector reports a breach of its own. */
static void note_peer_breach(struct exchange *x, const struct packet_freeze *f, int64_t now_ns)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct result_freeze *r = &x->result.freeze;
	const uint32_t age = x->next_key - f->seq;
	const struct flight *probe = probe_of(x, f->seq);

	/* A number that was not sent, or that is older than the last such breach. */
	if (age == 0 || age > counter_get(&x->result.account.sent) ||
	    (z->has_peer && (int32_t)(f->seq - z->peer_seq) <= 0))
		return;
	z->has_peer = z->seen = z->changed = true;
	z->peer_seq = f->seq;
	counter_add(&r->of_peer, 1);
	freeze_here(x, x->plan->ssid, f->seq, probe);
	if (r->first.outcome)
		return;
	r->event_raw_ns = event_raw_ns(probe, clock_read_ns(CLOCK_MONOTONIC));
	r->first = (struct freeze_first){ .outcome = FREEZE_BY_PEER, .seq = f->seq,
					  .peer_ns = optional_of(f->age_us * NS_PER_US) };
	if (x->froze.ns.known)
		r->first.own_ns = optional_of(clock_read_ns(CLOCK_MONOTONIC) - now_ns);
}

/* The peer is not trusted: numbers out of range make the answer invalid, and the name becomes printable. */
static void take_cause(struct freeze_cause *to, const struct packet_cause *from)
{
	*to = (struct freeze_cause){ .state = (enum freeze_cause_state)from->state };
	if (from->state != PACKET_CAUSE_KNOWN)
		return;
	if (from->class >= CAUSE_NOT_EXPLAINED || from->stage >= FREEZE_STAGES || from->percent > 100 ||
	    from->stage_ns < 0 || from->ns < 0 || from->ns > from->stage_ns) {
		to->state = FREEZE_CAUSE_INVALID;
		return;
	}
	to->class = from->class;
	to->stage = from->stage;
	to->percent = from->percent;
	to->cpu = (struct optional){ .known = from->cpu != PACKET_CAUSE_NO_CPU, .value = from->cpu };
	to->stage_ns = from->stage_ns;
	to->ns = from->ns;
	for (size_t i = 0; i < sizeof(from->name) && from->name[i]; i++)
		to->name[i] = from->name[i] >= ' ' && from->name[i] <= '~' ? from->name[i] : '?';
}

/* Of a reply to a probe that asked, whose T1 it names: closing probes are among the last. */
static void note_cause(struct exchange *x)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct freeze_first *first = &x->result.freeze.first;
	const struct packet_cause *from = &x->emit.reply.cause;

	if ((int32_t)(x->emit.reply.sender_seq - z->cause_from) < 0)
		return;
	if (from->state == PACKET_CAUSE_NONE)
		first->cause.state = FREEZE_CAUSE_NONE; /* it does not know the TLV */
	else if (from->seq == first->seq)
		take_cause(&first->cause, from);
	z->cause_asking = first->cause.state == FREEZE_CAUSE_PENDING;
}

/* The probes with the cause TLV are longer, and so no measured probe is one of them. */
static bool ask_for_cause(struct exchange *x)
{
	struct freeze_emitter *z = &x->emit.freeze;
	struct freeze_first *first = &x->result.freeze.first;

	if (first->outcome != FREEZE_CONFIRMED && first->outcome != FREEZE_BY_PEER)
		return false;
	z->plan = *x->plan;
	z->plan.cause = true;
	z->plan.cause_seq = first->seq;
	x->plan = &z->plan;
	probe_prepare(x);
	z->changed = false;
	z->cause_from = x->next_key;
	first->cause.state = FREEZE_CAUSE_PENDING;
	return z->cause_asking = true;
}

/* The reflector may need the CPU of this thread to explain. */
static void sleep_until(int64_t ns)
{
	const struct timespec until = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

void freeze_await_cause(struct exchange *x, void (*close)(struct exchange *x))
{
	const int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + CAUSE_WAIT_NS;

	if (!ask_for_cause(x))
		return;
	for (;;) {
		const int64_t next_ns = clock_read_ns(CLOCK_MONOTONIC) + CAUSE_EVERY_NS;

		close(x);
		if (!x->emit.freeze.cause_asking || next_ns >= until_ns || x->result.end == END_GONE)
			break;
		sleep_until(next_ns);
	}
	x->emit.freeze.cause_asking = false;
}

void freeze_note_reply(struct exchange *x, bool in_time)
{
	struct freeze_emitter *z = &x->emit.freeze;
	const struct packet_freeze *f = &x->emit.reply.freeze;
	const uint8_t judged = f->flags & FREEZE_JUDGED;
	int64_t now_ns;

	x->result.freeze.peer_supports = true;
	if (z->cause_asking)
		note_cause(x);
	if (!(f->flags & ~FREEZE_ANSWER) && !z->seen)
		return;
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (judged && z->asking && f->seq == z->seq) {
		if (judged & FREEZE_FROZEN && !(f->flags & FREEZE_NO_TRACE))
			note_peer_time(x, f, now_ns);
		settle(x, judged & FREEZE_OCCUPIED ? FREEZE_TAKEN : judged & FREEZE_REFUSED ? FREEZE_DENIED :
			  f->flags & FREEZE_NO_TRACE ? FREEZE_MARKED : FREEZE_CONFIRMED);
	} else if (!judged && f->flags & FREEZE_BREACH) {
		if (in_time)
			note_peer_breach(x, f, now_ns);
	} else if (!judged && z->seen) {
		z->seen = false;
		z->changed = true;
	}
}

/* ---- The reflector ----------------------------------------------------------------------------------------------- */

/* The ports of an emitter differ. */
static bool is_same_emitter(const struct session_sender *a, const struct session_sender *b)
{
	return a->ssid == b->ssid && a->address[0] == b->address[0] && a->address[1] == b->address[1];
}

/* True if the request asks for the breach at which the trace was frozen last. */
static bool is_honoured(const struct exchange *x, const struct session *session, uint32_t seq)
{
	const struct freeze_reflector *z = &x->reflect.freeze;

	return z->flags && !session->stateless && z->seq == seq && is_same_emitter(&z->of, &session->sender);
}

/* Flags of a refusal; 0: it is allowed. */
static uint8_t refusal(const struct exchange *x, const struct session *session, int64_t now_ns)
{
	const struct freeze_reflector *z = &x->reflect.freeze;

	if (!x->options->allow_freeze || session->stateless)
		return FREEZE_REFUSED;
	if (x->trace_state && atomic_load_explicit(x->trace_state, memory_order_relaxed))
		return FREEZE_REFUSED | FREEZE_OCCUPIED;
	return z->allowed_ns && now_ns - z->allowed_ns < x->options->trace_interval_ns ? FREEZE_REFUSED : 0;
}

/* A request for a breach that was not judged before. */
static uint8_t judge(struct exchange *x, struct session *session, int64_t now_ns)
{
	const struct packet_freeze *f = &x->reflect.request.freeze;
	struct freeze_reflector *z = &x->reflect.freeze;
	struct result_freeze *r = &x->result.freeze;
	const uint8_t flags = refusal(x, session, now_ns);

	counter_add(&r->asked, 1);
	if (flags) {
		counter_add(flags & FREEZE_OCCUPIED ? &r->occupied : &r->refused, 1);
		return flags;
	}
	z->due = true;
	z->due_seq = f->seq;
	z->due_age_us = f->age_us;
	z->due_ns = now_ns;
	return 0;
}

/* A sender repeats the flag in each probe until it has read the answer. Later it has newer numbers only: an
 * old number is that of a delayed or repeated request. */
static uint8_t answer_asked(struct exchange *x, struct session *session, int64_t now_ns)
{
	const uint32_t seq = x->reflect.request.freeze.seq;

	if (session->freeze_judged && session->freeze_seq == seq)
		return session->freeze_flags;
	if (session->freeze_judged && (int32_t)(seq - session->freeze_seq) < 0) {
		counter_add(&x->result.freeze.refused, 1);
		return FREEZE_REFUSED;
	}
	session->freeze_flags = judge(x, session, now_ns);
	session->freeze_seq = seq;
	session->freeze_judged = session->freeze_flags;
	return session->freeze_flags;
}

struct packet_freeze freeze_answer(struct exchange *x, struct session *session)
{
	const struct packet_freeze *f = &x->reflect.request.freeze;
	struct freeze_reflector *z = &x->reflect.freeze;
	const bool announced = z->announce && is_same_emitter(&z->to, &session->sender) && !session->stateless;
	int64_t now_ns;

	if (!(f->flags & FREEZE_ASKED) && !announced)
		return (struct packet_freeze){ .flags = 0 };
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (f->flags & FREEZE_ASKED && is_honoured(x, session, f->seq))
		return (struct packet_freeze){ .flags = z->flags, .seq = f->seq, .age_us = age_us(z->frozen_ns, now_ns) };
	if (f->flags & FREEZE_ASKED) {
		const uint8_t flags = answer_asked(x, session, now_ns);

		/* The time of an earlier freeze is not kept. */
		return (struct packet_freeze){ .flags = flags, .seq = f->seq,
					       .age_us = flags & FREEZE_FROZEN ? UINT32_MAX : 0 };
	}
	counter_add(&x->result.freeze.announced, z->announce > FREEZE_ANNOUNCED);
	z->announce = f->flags & FREEZE_SEEN && f->seq == z->breach_seq ? 0 : z->announce - 1;
	if (!z->announce)
		return (struct packet_freeze){ .flags = 0 };
	return (struct packet_freeze){ .flags = FREEZE_BREACH, .seq = z->breach_seq,
				       .age_us = age_us(z->breach_ns, now_ns) };
}

/* False: not explained, or not remembered any more. */
static bool find_cause(struct freeze_causes *causes, uint16_t ssid, uint32_t seq, struct packet_cause *c)
{
	const unsigned n = causes ? atomic_load_explicit(&causes->written, memory_order_acquire) : 0;

	for (unsigned back = 1; back <= CAUSES_READ && back <= n; back++) {
		const unsigned slot = (n - back) % FREEZE_CAUSES;

		if (causes->slot[slot].ssid != ssid || causes->slot[slot].cause.seq != seq)
			continue;
		*c = causes->slot[slot].cause;
		return true;
	}
	return false;
}

const struct packet_cause *freeze_cause_answer(struct exchange *x, const struct session *session)
{
	struct freeze_reflector *z = &x->reflect.freeze;
	const uint32_t seq = x->reflect.request.cause_seq;

	z->cause = (struct packet_cause){ .state = PACKET_CAUSE_REFUSED, .seq = seq };
	if (!x->options->allow_freeze || session->stateless ||
	    find_cause(x->causes, session->sender.ssid, seq, &z->cause) || !is_honoured(x, session, seq))
		return &z->cause;
	z->cause.state = !x->causes || z->flags & FREEZE_NO_TRACE ? PACKET_CAUSE_NO_TRACE : PACKET_CAUSE_PENDING;
	return &z->cause;
}

/* The flight of the reply to this request if its times are complete; else NULL. */
static const struct flight *reply_of(struct exchange *x, const struct session *session, uint32_t seq)
{
	const uint16_t index = (uint16_t)(session - x->sessions->session);

	for (uint32_t back = 1; back <= FLIGHTS && back <= x->next_key; back++) {
		const struct flight *f = verb_flight_of(x, x->next_key - back);

		if (f->sample.seq == seq && f->session == index && f->key == x->next_key - back)
			return f->state == FLIGHT_STAMPED && f->sample.source[x->from] && f->sample.source[x->to] ? f : NULL;
	}
	return NULL;
}

static void remember_frozen(struct exchange *x, const struct session *session, uint32_t seq, int64_t now_ns)
{
	struct freeze_reflector *z = &x->reflect.freeze;

	z->of = session->sender;
	z->seq = seq;
	z->frozen_ns = now_ns;
	z->flags = FREEZE_FROZEN | (x->froze.ns.known ? 0 : FREEZE_NO_TRACE);
}

void freeze_for_emitter(struct exchange *x, struct session *session)
{
	struct freeze_reflector *z = &x->reflect.freeze;
	struct result_freeze *r = &x->result.freeze;
	const struct flight *f = reply_of(x, session, z->due_seq);
	int64_t now_ns;

	z->due = false;
	freeze_here(x, session->sender.ssid, z->due_seq, f);
	now_ns = clock_read_ns(CLOCK_MONOTONIC);
	z->allowed_ns = now_ns;
	remember_frozen(x, session, z->due_seq, now_ns);
	session->freeze_judged = true;
	session->freeze_flags = z->flags;
	counter_add(&r->confirmed, 1);
	if (r->first.outcome)
		return;
	r->emitter = x->arrival.from;
	r->event_raw_ns = event_raw_ns(f, now_ns);
	r->first = (struct freeze_first){ .outcome = x->froze.ns.known ? FREEZE_CONFIRMED : FREEZE_MARKED,
					  .seq = z->due_seq };
	if (x->froze.ns.known)
		r->first.own_ns = optional_of(now_ns - z->due_ns);
	if (z->due_age_us != UINT32_MAX)
		r->first.peer_ns = optional_of(z->due_age_us * NS_PER_US);
}

/* The replies report only a breach at which this host has just frozen its trace, or has none. */
static void announce(struct exchange *x, const struct flight *f, int64_t seen_ns)
{
	struct freeze_reflector *z = &x->reflect.freeze;
	const struct session *session = &x->sessions->session[f->session];

	if (session->stateless || x->froze.was_frozen)
		return;
	remember_frozen(x, session, f->sample.seq, clock_read_ns(CLOCK_MONOTONIC));
	z->announce = 1 + FREEZE_ANNOUNCED;
	z->to = session->sender;
	z->breach_seq = f->sample.seq;
	z->breach_ns = seen_ns;
}

void freeze_note_breach(struct exchange *x, const struct flight *f, int64_t seen_ns)
{
	if (x->options->role == ROLE_EMIT)
		ask(x, f, seen_ns);
	else
		announce(x, f, seen_ns);
}
