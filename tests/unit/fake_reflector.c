// SPDX-License-Identifier: GPL-2.0-or-later
/* The peer that reflects, see fake_kernel.h: with an emitter under test, the fake answers. */
#include "fake_kernel.h"

#include "fake_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* after Timestamp Information; with its own header and number */
#define FOLLOW_UP_TIME_AT (STAMP_BASE_BYTES + 8 + 8)
#define T3_AT 4 /* RFC 8762 section 4.3.1 */
#define T2_AT 16
#define WRONG_NS 5555 /* how far off the time of a follow-up with a wrong number is */

/* Apart by odd amounts from the clocks of the emitter. */
#define THERE_REAL_OFFSET_NS (1650000000 * NS_PER_S + 222333444)
#define THERE_WIRE_OFFSET_NS (1600000000 * NS_PER_S + 555666777)

/* A good reply, made bad. */
static void put_extra_reply(const struct fake_message *good, enum fake_extra extra)
{
	struct fake_message m = *good;

	m.at_ns--;
	m.verdict = fake_verdict_of(extra);
	if (extra == EXTRA_EMPTY)
		m.bytes = 0;
	else if (extra == EXTRA_UNVERIFIED)
		m.data[FAKE_HMAC_AT] ^= 1;
	else if (extra == EXTRA_SHORT)
		m.bytes = STAMP_REPLY_MIN_BYTES - 1;
	else if (extra == EXTRA_HUGE)
		memset(m.data, 0, m.bytes), m.bytes = 65507;
	else if (extra == EXTRA_MULTIPLIER)
		m.data[13] = 0;
	else if (extra == EXTRA_TRUNCATED)
		m.flags |= MSG_TRUNC;
	else if (extra == EXTRA_OTHER_SSID)
		fake_put_be(m.data + 14, FAKE_SSID + 1, 2);
	else if (extra == EXTRA_FUTURE)
		fake_put_be(m.data + 24, fake_get_be32(m.data + 24) + 1, 4);
	else if (extra == EXTRA_FAR_PAST)
		fake_put_be(m.data + 24, fake_get_be32(m.data + 24) - 0x70000000, 4);
	else if (extra == EXTRA_OTHER_T1)
		m.data[35] ^= 1;
	else if (extra == EXTRA_OLD || extra == EXTRA_OLD_WITH_SSID)
		fake_put_be(m.data + 24, fake_get_be32(m.data + 24) - (fake.old_age ? fake.old_age : 1), 4);
	else if (extra != EXTRA_NO_SSID)
		fail_msg("extra %d means nothing to an emitter", extra);
	if (extra == EXTRA_OLD || extra == EXTRA_NO_SSID)
		fake_put_be(m.data + 14, 0, 2);
	/* Accepting it would copy a wrong time. */
	if (fake_joins() && m.bytes > FOLLOW_UP_TIME_AT)
		m.data[FOLLOW_UP_TIME_AT + 7] ^= 0x55;
	fake_put(&fake.receive_queue, &m);
}

/* The peer's times, by its clocks: of the wire, and of user space as it reports them. */
int64_t fake_remote_ns(int64_t monotonic_ns, bool stamped)
{
	if (stamped && fake.synced)
		return fake_wire_ns(monotonic_ns);
	return monotonic_ns + monotonic_ns * fake.remote_ppb / NS_PER_S + fake.remote_more_ns +
	       (fake.remote_set_at_ns && monotonic_ns >= fake.remote_set_at_ns ? fake.remote_set_by_ns : 0) +
	       (stamped && fake.remote == SOURCE_HARDWARE ? THERE_WIRE_OFFSET_NS : THERE_REAL_OFFSET_NS);
}

static uint8_t method_remote(bool stamped)
{
	return stamped && fake.remote == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* Permitted report about T2: if the reply does not report the kind of software, nothing more. */
static enum source t2_source_reported(const struct fake_reply *r, bool stamped)
{
	if (!r->tlvs)
		return SOURCE_LOCAL;
	if (r->t2_method == PACKET_METHOD_HARDWARE)
		return SOURCE_HARDWARE;
	return fake.plan->software ? (stamped ? fake.remote : SOURCE_USER) : SOURCE_LOCAL;
}

static void fill_times(struct fake_reply *r, const struct fake_fate *f, int64_t t2_monotonic_ns)
{
	bool stamped = !f->no_t2 && fake.remote != SOURCE_USER;

	r->t2_ns = fake_remote_ns(t2_monotonic_ns, stamped);
	r->t2_user_ns = fake_remote_ns(t2_monotonic_ns + f->response_ns / 4, stamped && !f->no_bound);
	r->t3_ns = fake_remote_ns(t2_monotonic_ns + f->response_ns / 2, stamped && !f->no_bound);
	r->t3_wire_ns = fake_remote_ns(t2_monotonic_ns + f->response_ns, true) + f->stepped_ns;
	r->tlvs = fake_joins() && fake.reflector != REFLECTOR_OLD && !f->no_tlvs && !f->bad_tlvs && !f->bad_integrity;
	r->malformed = fake_joins() && f->bad_tlvs && !f->bad_integrity;
	r->integrity = fake_joins() && f->bad_integrity;
	r->t2_method = r->tlvs ? method_remote(stamped) : PACKET_METHOD_NONE;
	r->t2_source = t2_source_reported(r, stamped);
	r->no_clock = f->no_clock;
	r->t2_reported = fake_joins() && fake.plan->software ? (stamped ? fake.remote : SOURCE_USER) : SOURCE_LOCAL;
	r->t2_user = r->tlvs && fake.plan->t2_user && !f->no_t2_user;
	r->on_scale = r->tlvs && fake.plan->software && !f->no_bound;
	r->off_scale = r->tlvs && fake.plan->software && f->no_bound;
	r->ttl = f->ttl;
	r->tos = f->tos;
}

/* Report of this reply about the previous reply. */
static void fill_follow_up(struct fake_reply *r, const struct fake_fate *f)
{
	if (!r->tlvs || fake.reflector != REFLECTOR_STATEFUL || !fake.session.has_last || f->follow_zero)
		return;
	r->follow_seq = fake.session.last_seq + (uint32_t)f->follow_number;
	r->follow_ns = fake.session.last_ns + (f->follow_number ? WRONG_NS : 0);
	r->follow_method = f->follow_method ? f->follow_method : fake.session.last_method;
	r->follow_known = r->follow_method <= PACKET_METHOD_CONTROL_PLANE; /* others mean nothing to us */
}

static void count_reply(struct fake_reply *r, const struct fake_fate *f, uint32_t probe_seq)
{
	if (f->restarted && !r->again) {
		memset(&fake.session, 0, sizeof(fake.session));
		fake.restarts++;
	}
	r->seq = fake.reflector == REFLECTOR_STATELESS ? probe_seq : fake.session.seq++;
	fill_follow_up(r, f);
	fake.session.has_last = true;
	fake.session.last_seq = r->seq;
	fake.session.last_ns = r->t3_wire_ns;
	fake.session.last_method = method_remote(true);
}

/* By packet_reply(), with the deviations of a faulty or an old peer. */
static void write_reply(struct fake_message *m, const struct fake_fate *f, const struct fake_probe *probe)
{
	const struct fake_reply *r = &m->reply;
	const size_t tlvs = fake.key ? STAMP_AUTHENTICATED_BYTES : STAMP_BASE_BYTES;
	struct answer answer = {
		.seq = r->seq, .t2_ns = r->t2_ns, .t3_ns = r->t3_ns, .ttl = r->ttl, .t2_method = r->t2_method,
		.t3_method = PACKET_METHOD_SOFTWARE, .sync_source = FAKE_SYNC_SOURCE, .tos_known = true, .tos = r->tos,
		.follow_up_seq = r->follow_seq, .follow_up_ns = r->follow_ns,
		.follow_up_method = r->follow_method,
		.wire_source = r->t2_reported == SOURCE_LOCAL ? SOURCE_NONE : (uint8_t)r->t2_reported,
		.t2_user_known = r->t2_user, .t2_user_ns = r->t2_user_ns,
		.software_bound_ns = f->no_bound ? -1 : FAKE_BOUND_NS,
	};
	bool malformed;

	m->bytes = probe->bytes;
	memcpy(m->data, probe->data, probe->bytes);
	packet_reply(m->data, probe->bytes, fake.key, &answer, &malformed);
	if (fake.no_ssid)
		fake_put_be(m->data + 14, 0, 2);
	if (probe->bytes > tlvs && !r->tlvs)
		memcpy(m->data + tlvs, probe->data + tlvs, probe->bytes - tlvs);
	if (r->no_clock) {
		memset(m->data + T3_AT, 0, 8);
		memset(m->data + T2_AT, 0, 8);
	}
	if (r->malformed)
		m->data[tlvs] |= 0x40;
	if (r->integrity)
		m->data[tlvs] |= 0x20;
	assert_true(m->bytes + (size_t)f->padding_bytes <= sizeof(m->data));
	memset(m->data + m->bytes, 0xff, (size_t)f->padding_bytes);
	m->bytes += (size_t)f->padding_bytes;
}

static void deliver_reply(struct fake_message *m, const struct fake_fate *f)
{
	if (f->lost)
		return;
	if (f->lost_backward_count && (!f->lost_which || (f->lost_which == 2) == m->reply.again))
		return;
	fake_put(&fake.receive_queue, m);
	if (f->twice && !m->reply.again) {
		m->at_ns += f->twice_ns;
		m->wire_ns += 4444;
		fake_put(&fake.receive_queue, m);
	}
}

/* The probe arrives and is answered. A lost probe has only its other scripted events. */
static void reflect_probe(const struct fake_probe *probe)
{
	struct fake_packet *p = &fake.packet[probe->n];
	const struct fake_fate f = fake_fate_of(p->number);
	struct fake_message m = { .number = (uint32_t)probe->n, .reply.again = probe->again };
	/* Never before its own timestamp, unless scripted as a negative latency or a step. */
	int64_t back_ns = probe->sent_ns + FAKE_WIRE_DELAY_NS + (f.latency_ns > 300 ? f.latency_ns : 300);

	fill_times(&m.reply, &f, probe->at_ns);
	if (!f.lost) {
		p->arrived = true;
		p->answers++;
		count_reply(&m.reply, &f, p->seq);
	}
	write_reply(&m, &f, probe);
	m.at_ns = back_ns + probe->more_ns;
	m.wire_ns = p->tx_wire_ns + f.latency_ns + f.step_ns + probe->more_ns + (fake.wire == SOURCE_HARDWARE ? 0 :
										 f.set_ns);
	if (!probe->again) {
		if (f.recv_error)
			fake_put_error(f.recv_error, m.at_ns - 2);
		/* In time, so that they are of the probe in flight. */
		for (unsigned i = 0; i < f.extras && !f.delayed_ns; i++)
			put_extra_reply(&m, f.extra[i]);
	}
	if (f.late_ns)
		m.at_ns = probe->sent_ns + fake.timeout_ns + f.late_ns + probe->more_ns;
	fake_control_arrival(&m, f.rx);
	deliver_reply(&m, &f);
}

/* Delivers arrived packets, in this order. */
void fake_peer_reflects(void)
{
	while (fake.probes) {
		struct fake_probe *first = NULL;

		for (unsigned i = 0; i < fake.probes_high; i++)
			if (fake.probe[i].used && (!first || fake.probe[i].at_ns < first->at_ns))
				first = &fake.probe[i];
		if (first->at_ns > fake.now_ns)
			return;
		first->used = false;
		if (--fake.probes == 0)
			fake.probes_high = 0;
		reflect_probe(first);
	}
}

static void send_probe_on(const struct fake_probe *probe)
{
	unsigned i = 0;

	while (i < FAKE_QUEUE && fake.probe[i].used)
		i++;
	assert_true(i < FAKE_QUEUE);
	fake.probe[i] = *probe;
	fake.probe[i].used = true;
	fake.probes++;
	if (fake.probes_high <= i)
		fake.probes_high = i + 1;
}

static void schedule_probe(const struct fake_fate *f, const uint8_t *data, size_t bytes)
{
	struct fake_probe probe = { .n = fake.sends, .sent_ns = fake.now_ns, .bytes = bytes, .more_ns = f->delayed_ns };

	memcpy(probe.data, data, bytes);
	probe.at_ns = fake.now_ns + FAKE_WIRE_DELAY_NS + (f->latency_ns - f->response_ns) / 3 + f->delayed_ns;
	send_probe_on(&probe);
	if (!f->asked_twice || f->lost)
		return;
	probe.at_ns += f->asked_ns;
	probe.more_ns += f->asked_ns;
	probe.again = true;
	send_probe_on(&probe);
}

void fake_probe_sent(const uint8_t *probe, size_t bytes, uint32_t id, const struct fake_fate *f)
{
	const struct packet_plan plan = fake_plan_of(0);
	const int ssid = fake.key ? 26 : 14;
	struct fake_packet *p = fake_record_sent((uint32_t)fake.sends, f);

	p->closing = fake_run_is_over();
	if (p->closing) {
		assert_non_null(fake.waiting);
		assert_int_equal(fake.expect.closing++, 0);
	}
	assert_int_equal(bytes, packet_plan_bytes(&plan));
	p->seq = fake_get_be32(probe);
	assert_int_equal(p->seq, (uint32_t)(fake.first_id + fake.sends));
	assert_int_equal((probe[ssid] << 8) | probe[ssid + 1], FAKE_SSID);
	fake_put_stamps(f, id, p->tx_wire_ns);
	schedule_probe(f, probe, bytes);
	p->set_ns = f->set_ns;
	fake_set_after(f->set_ns, 0);
	fake.sends++;
}
