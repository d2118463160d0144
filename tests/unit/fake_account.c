// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of the fake, see fake_kernel.h: the expected counts of the module, from the truth about each
 * packet. */
#include "fake_kernel.h"

#include "fake_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* docs/report.md: timestamps that do not fit between the user-space times, or around them, by more than 20
 * us and 1/512. */
static bool was_stepped(const struct fake_packet *p, int64_t latency_ns)
{
	int64_t user_ns = p->rx_user_ns - p->tx_user_ns, wire_ns = p->rx_wire_ns - p->tx_wire_ns;
	int64_t inner_ns = fake.role == ROLE_EMIT ? wire_ns : -user_ns,
			   outer_ns = fake.role == ROLE_EMIT ? user_ns : -wire_ns;

	/* Or CLOCK_REALTIME was stepped and the latency is wrong. */
	bool odd = latency_ns < 0 || latency_ns > 100000 || (fake.threshold_ns && latency_ns > fake.threshold_ns);

	assert_true(!p->set_ns || llabs(p->set_ns) > 50000); /* smaller steps need not be detected */
	return (fake.check_steps && 512 * (inner_ns - outer_ns - 20000) > inner_ns) ||
	       (fake.check_set && p->set_ns && odd);
}

/* ---- T3 on the wire of the peer's replies ------------------------------------------------------------------------ */

/* --threshold-on a metric that needs both timestamps of the peer. */
static void judge(const struct fake_packet *p)
{
	struct fake_account *e = &fake.expect;
	int64_t response_ns = p->reply.t3_wire_ns - p->reply.t2_ns;

	if (fake.threshold_on == METRIC_RTT)
		return;
	if (p->follow_up != FOLLOW_UP_THERE)
		e->unjudged++;
	else if (fake.threshold_ns)
		e->breaches += (fake.threshold_on == METRIC_RESPONSE ? response_ns : p->latency_ns - response_ns) >
			       fake.threshold_ns;
}

static void end_waiting(enum follow_up how)
{
	struct fake_packet *p = fake.waiting;

	assert_non_null(p);
	fake.waiting = NULL;
	if (fake.contradicts_last && p >= fake.packet + fake.contradicts_first &&
	    p <= fake.packet + fake.contradicts_last)
		how = FOLLOW_UP_STEPPED;
	p->follow_up = how;
	fake.expect.follow_up[how]++;
	judge(p);
}

/* Its record lacks only that. A peer that did not answer the TLV will not report this reply either. */
static void begin_waiting(struct fake_packet *p)
{
	fake.waiting = p;
	if (!fake_joins())
		end_waiting(FOLLOW_UP_NONE);
	else if (!p->reply.tlvs)
		end_waiting(FOLLOW_UP_UNREPORTED);
}

/* A user-space time, or a time of unknown source, is not a wire timestamp if the peer has wire timestamps. */
static void only_the_best(struct fake_reply *r)
{
	enum source best = fake.best_remote;

	if (r->no_clock)
		r->t2_source = SOURCE_NONE;
	else if (best == SOURCE_HARDWARE ? r->t2_source != SOURCE_HARDWARE :
	    best == SOURCE_KERNEL && r->t2_source != SOURCE_HARDWARE && r->t2_source != SOURCE_KERNEL)
		r->t2_source = SOURCE_NONE;
	else if (!best || r->t2_source == SOURCE_HARDWARE || r->t2_source == SOURCE_KERNEL)
		fake.best_remote = r->t2_source;
}

/* True if both timestamps are of the same kind, as far as the replies report it. The kind of software is
 * reported with the timestamp. */
static bool is_mixed(const struct fake_reply *of, const struct fake_reply *in)
{
	if (of->no_clock || !of->t2_method || of->t2_method != in->follow_method)
		return true;
	/* A later reply may show that better timestamps than T2 exist. */
	return !of->t2_source || (of->t2_method == PACKET_METHOD_SOFTWARE && of->t2_source < in->t2_reported);
}

/* A response is not longer than the round trip, except by clock errors (1 us and 1/512). */
static bool is_possible(const struct fake_packet *p, int64_t t3_ns)
{
	int64_t response_ns = t3_ns - p->reply.t2_ns;

	return response_ns >= -1000 && 512 * (response_ns - p->latency_ns - 1000) <= response_ns;
}

/* True if this is the awaited departure. After a restart it may belong to another reply, which does not
 * fit. */
static bool end_waiting_by(const struct fake_reply *r)
{
	const struct fake_packet *p = fake.waiting;

	if (!p || !r->follow_known || r->follow_seq != p->reply.seq)
		return false;
	if (is_mixed(&p->reply, r)) {
		end_waiting(FOLLOW_UP_MIXED);
		return true;
	}
	if (p->latency_ns >= 0 && !is_possible(p, r->follow_ns)) {
		end_waiting(FOLLOW_UP_STEPPED);
		return true;
	}
	/* After a reflector's restart it may accidentally match another reply, undetectably: counted. */
	if (r->follow_ns != p->reply.t3_wire_ns) {
		fake.accidents++;
		fake.waiting->reply.t3_wire_ns = r->follow_ns;
	}
	end_waiting(FOLLOW_UP_THERE);
	return true;
}

/* The reply to a later probe, in time: later replies have no more about it. */
static void end_waiting_at(const struct fake_reply *r)
{
	if (!fake.waiting || end_waiting_by(r))
		return;
	if (!r->tlvs)
		end_waiting(FOLLOW_UP_UNREPORTED);
	else
		end_waiting(r->seq == fake.waiting->reply.seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
}

/* ---- Result of a packet ------------------------------------------------------------------------------------------ */

static void place_sample(struct fake_packet *p)
{
	struct fake_account *e = &fake.expect;
	bool user = !fake.tx_stamps;
	int64_t ns = user ? p->rx_user_ns - p->tx_user_ns : p->rx_wire_ns - p->tx_wire_ns;

	if (fake.role == ROLE_REFLECT)
		ns = -ns;
	if (!user && !(p->stamped && p->rx_stamped)) {
		e->unstamped++;
		e->missing_tx += !p->stamped;
		e->missing_rx += !p->rx_stamped;
		return;
	}
	if (was_stepped(p, ns) || p->clock_set) {
		e->stepped++;
		return;
	}
	if (fake.threshold_on == METRIC_RTT)
		e->breaches += fake.threshold_ns && ns > fake.threshold_ns;
	p->latency_ns = ns;
	if (fake.role == ROLE_EMIT)
		begin_waiting(p);
	if (ns < 0) {
		e->negative++;
		return;
	}
	p->place = PLACE_RECORDED;
	e->recorded++;
}

void fake_conclude(uint64_t n, bool ended)
{
	struct fake_packet *p = &fake.packet[n];
	struct fake_account *e = &fake.expect;
	bool stopped = ended && (fake.cut_short || (fake.stop && *fake.stop));

	if (p->concluded)
		return;
	p->concluded = true;
	p->place = PLACE_OTHER;
	if (p->closing)
		return;
	if (fake.role == ROLE_EMIT && stopped && !(p->answered && (p->stamped || !fake.tx_stamps))) {
		e->unfinished++;
		p->was_lost = !p->answered;
		fake.lost_at[n] = fake.lost_order;
	} else if (fake.role == ROLE_EMIT && !p->answered) {
		e->lost++;
		p->was_lost = true;
		fake.lost_at[n] = fake.lost_order++;
	} else if (p->warmup) {
		e->warmup++;
		fake.warmup_left -= fake.role == ROLE_EMIT;
	} else {
		place_sample(p);
	}
}

void fake_finish(void)
{
	for (uint64_t n = 0; n < fake.sends; n++)
		fake_conclude(n, true);
	if (fake.waiting)
		end_waiting(FOLLOW_UP_END);
}

/* ---- Packets delivered to the module, and sent by it ------------------------------------------------------------- */

static void expect_reply(const struct fake_message *m)
{
	struct fake_account *e = &fake.expect;
	uint64_t n = m->number;
	struct fake_packet *p = &fake.packet[n];

	if (n == fake.sends - 1 && !p->concluded && !p->answered) {
		end_waiting_at(&m->reply);
		p->reply = m->reply;
		only_the_best(&p->reply);
		e->malformed_tlv += m->reply.malformed;
		e->unusable_tlv += m->reply.integrity;
		e->other_ttl += m->reply.ttl != FAKE_TTL;
		e->other_class += m->reply.tlvs && fake.plan->class_of_service && m->reply.tos >> 2 != fake.dscp;
		p->answered = p->came_back = true;
		p->rx_stamped = m->rx_stamped;
		p->rx_wire_ns = m->wire_ns;
		fake.user_rx_wanted = true;
		e->answered++;
		fake.highest_answered = n;
		return;
	}
	bool late = p->was_lost && fake.lost_order - fake.lost_at[n] <= LOST_REMEMBERED;

	/* Nothing identifies it any more. */
	if (!late && fake.sends - n > T1_REMEMBERED && fake.no_ssid) {
		e->foreign++;
		return;
	}
	e->reordered += e->answered && fake.highest_answered > n;
	p->came_back |= late;
	e->late += late;
	e->duplicate += !late;
	p->was_lost = false;
	if (end_waiting_by(&m->reply))
		return;
	e->follow_up_late += late && m->reply.follow_known;
	/* The reply that should report it reports "unknown": later replies have no more about it. */
	if (fake.waiting && m->reply.tlvs && !m->reply.follow_known && m->reply.seq == fake.waiting->reply.seq + 1)
		end_waiting(FOLLOW_UP_UNKNOWN);
}

void fake_expect_datagram(const struct fake_message *m)
{
	fake.expect.received++;
	fake.expect.foreign += m->verdict == FOREIGN;
	fake.expect.malformed += m->verdict == MALFORMED;
	fake.expect.unverified += m->verdict == UNVERIFIED;
	fake.expect.cut_short += m->verdict == CUT_SHORT;
	fake.expect.disallowed += m->verdict == DISALLOWED;
	fake.expect.too_short += m->verdict == TOO_SHORT;
	fake.expect.no_session += m->verdict == NO_SESSION;
	fake.expect.replayed += m->verdict == REPLAYED;
	fake.expect.over_rate += m->verdict == OVER_RATE;
	fake.expect.control_truncated += (m->flags & MSG_CTRUNC) != 0;
	fake.user_rx_wanted = false;
	if (m->verdict != GOOD)
		return;
	if (fake.role == ROLE_EMIT) {
		expect_reply(m);
	} else {
		struct fake_fate f = fake_fate_of(m->number);

		fake.current = *m;
		fake.user_rx_wanted = true;
		fake_set_after(f.set_ns, f.set_times);
	}
}

/* The room reads clocks until it has looked: CLOCK_REALTIME the fourth time, the NIC's the second time. */
#define LOOKED_NS (fake.wire == SOURCE_HARDWARE ? 40 : 80)

/* A timestamp is of another packet if it was taken before this packet was sent, or after its fetch, which
 * is checked if more than 100 us later. For NIC timestamps this needs a valid relation of the clocks. */
static bool contradicts(struct fake_packet *p, const struct fake_message *m)
{
	int64_t sent_ns = p->tx_user_ns, bound_ns = 0;

	if (!(fake.check_set || fake.check_steps) || !fake.tx_stamps || p->set_ns)
		return false;
	if (fake.wire == SOURCE_HARDWARE &&
	    (!fake.place || !fake.phc_readable || !fake.place(sent_ns, &sent_ns, &bound_ns)))
		return false;
	p->clock_set = fake.role == ROLE_REFLECT && fake.phc_set_ns &&
		       (uint64_t)(m->wire_ns - sent_ns + bound_ns) > 100000 &&
		       (uint64_t)(m->wire_ns - p->rx_wire_ns - (p->tx_user_ns - p->rx_user_ns)) > 100000;
	if (fake.phc_set_ns)
		return false;
	if (m->wire_ns < sent_ns - bound_ns)
		return true;
	return m->wire_ns - sent_ns + bound_ns > 100000 && m->wire_ns > fake_wire_ns(fake.now_ns + LOOKED_NS);
}

/* FLIGHTS flights are remembered, including that of the last attempt. */
void fake_expect_stamp(const struct fake_message *m)
{
	struct fake_account *e = &fake.expect;
	uint64_t n = (uint32_t)(m->id - fake.first_id);
	struct fake_packet *p = &fake.packet[n % FAKE_PACKETS];

	if (m->entry == ENTRY_CTRUNC) {
		e->control_truncated++;
	} else if (m->entry == ENTRY_ID) {
		p->id_unknown = false;
	} else if (m->entry > ENTRY_WITH_PACKET) {
		e->error_other++;
	} else if (n >= fake.sends || fake.attempts_at_last_send - n >= FLIGHTS || p->id_unknown) {
		e->stamp_unmatched++;
	} else if (p->stamped) {
		e->stamp_duplicate++;
	} else if (p->concluded || (fake.role == ROLE_REFLECT && m->at_ns - p->sent_ns >= fake.timeout_ns)) {
		fake_conclude(n, false);
		e->stamp_late++;
	} else if (contradicts(p, m)) {
		e->stamp_unmatched++;
	} else {
		p->stamped = true;
		p->tx_wire_ns = m->wire_ns;
		if (fake.role == ROLE_REFLECT)
			fake_conclude(n, false);
	}
}

bool fake_run_is_over(void)
{
	return fake.end && *fake.end != END_NOT_YET;
}

/* An attempt: the ring reaches the packet sent FLIGHTS packets ago. */
void fake_expect_attempt(void)
{
	fake.attempts_at_last_send = fake.sends;
	if (fake.role == ROLE_EMIT && fake.sends)
		fake_conclude(fake.sends - 1, fake_run_is_over());
	if (fake.waiting && fake.sends - (uint64_t)(fake.waiting - fake.packet) >= FLIGHTS)
		end_waiting(FOLLOW_UP_LOST);
	if (fake.role == ROLE_REFLECT && fake.sends >= FLIGHTS)
		fake_conclude(fake.sends - FLIGHTS, false);
}

struct fake_packet *fake_record_sent(uint32_t number, const struct fake_fate *f)
{
	struct fake_packet *p = &fake.packet[fake.sends];

	assert_true(fake.sends < FAKE_PACKETS);
	*p = (struct fake_packet){ .number = number, .sent_ns = fake.now_ns, .latency_ns = f->latency_ns,
				   .warmup = fake.warmup_left > 0, .tx_user_ns = fake.real_read_ns };
	p->tx_wire_ns = fake_wire_ns(fake.now_ns + FAKE_WIRE_DELAY_NS);
	p->id_unknown = fake.id_asked;
	if (fake.recorded)
		p->recorded_before = *fake.recorded;
	fake.expect.sent++;
	fake.last_event_ns = fake.now_ns;
	if (f->stop_ns)
		fake.stop_at_ns = fake.now_ns + f->stop_ns;
	return p;
}
