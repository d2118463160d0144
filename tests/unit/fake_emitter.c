// SPDX-License-Identifier: GPL-2.0-or-later
/* The peers that emit, see fake_kernel.h: with a reflector under test, the fake probes, and checks each reply. */
#include "fake_kernel.h"

#include "fake_inside.h"
#include "reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PEER_GAP_NS 3000 /* a peer that waits for replies: from reply to next request */

static void control_request(struct fake_message *m, uint32_t to, uint32_t local)
{
	int ttl = FAKE_TTL;
	struct in_pktinfo info = { .ipi_ifindex = FAKE_INTERFACE, .ipi_spec_dst.s_addr = htonl(local),
				   .ipi_addr.s_addr = htonl(to) };

	fake_control(m, SOL_IP, IP_TTL, &ttl, sizeof(ttl), 0);
	fake_control(m, SOL_IP, IP_PKTINFO, &info, sizeof(info), 0);
}

/* The probes of all peers are alike but for the SSID. */
struct packet_plan fake_plan_of(unsigned peer)
{
	struct packet_plan plan = fake.plan ? *fake.plan : (struct packet_plan){ .key = fake.key };

	plan.ssid = (uint16_t)(FAKE_SSID + peer);
	return plan;
}

static struct fake_message make_request(uint32_t number, const struct fake_fate *f, int64_t at_ns)
{
	unsigned peer = number % fake.peers;
	const struct packet_plan plan = fake_plan_of(peer);
	struct fake_message m = { .at_ns = at_ns, .bytes = packet_plan_bytes(&plan), .number = number, .peer = peer };

	m.wire_ns = fake_wire_ns(at_ns);
	m.tos = f->tos;
	m.from.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)(FAKE_FIRST_PORT + peer)),
					  .sin_addr.s_addr = htonl(FAKE_REMOTE + (fake.spread ? 256 * peer : 0)) };
	packet_prepare(m.data, &plan);
	packet_probe(m.data, &plan, fake.first_id + number / fake.peers, fake_real_ns(at_ns - f->late_ns) - 5000);
	if (f->bad_tlv) {
		m.bad_tlv = true;
		m.data[m.bytes + 1] = 3;
		m.data[m.bytes + 3] = 200; /* the length */
		m.bytes += 8;
	}
	/* Whole headers of empty TLVs. */
	if (f->large && !f->bad_tlv)
		m.bytes += 65300;
	if (fake.cut_bytes)
		m.bytes = fake.cut_bytes;
	return m;
}

static void put_extra_request(const struct fake_message *good, enum fake_extra extra)
{
	struct fake_message m = *good;
	const struct answer answer = { .seq = 1, .t2_ns = m.wire_ns, .t3_ns = m.wire_ns + 1, .ttl = FAKE_TTL };
	bool malformed;

	m.at_ns--;
	if (!fake.key)
		m.bytes = STAMP_BASE_BYTES;
	m.verdict = fake_verdict_of(extra);
	if (extra == EXTRA_EMPTY)
		m.bytes = 0;
	else if (extra == EXTRA_UNVERIFIED)
		m.data[FAKE_HMAC_AT] ^= 1;
	else if (extra == EXTRA_SHORT)
		m.bytes = STAMP_REQUEST_MIN_BYTES - 1;
	else if (extra == EXTRA_HUGE)
		memset(m.data, 0, m.bytes), m.bytes = 65507;
	else if (extra == EXTRA_MULTIPLIER)
		m.data[13] = 0;
	else if (extra == EXTRA_TRUNCATED)
		m.flags |= MSG_TRUNC;
	else if (extra == EXTRA_IS_REPLY)
		packet_reply(m.data, m.bytes, fake.key, &answer, &malformed);
	else if (extra == EXTRA_OWN_PORT)
		m.from.in.sin_port = htons(FAKE_PORT);
	else if (extra == EXTRA_OWN_ADDRESS)
		m.from.in.sin_addr.s_addr = htonl(FAKE_LOCAL);
	else if (extra < EXTRA_MULTICAST || extra >= EXTRA_REFLECT_END)
		fail_msg("extra %d means nothing to a reflector", extra);
	fake_control_arrival(&m, RX_GOOD);
	if (extra == EXTRA_MULTICAST)
		control_request(&m, 0xe0000001, FAKE_LOCAL);
	else if (extra == EXTRA_BROADCAST)
		control_request(&m, 0x0affffff, FAKE_LOCAL);
	else if (extra != EXTRA_NO_PKTINFO)
		control_request(&m, FAKE_LOCAL, FAKE_LOCAL);
	fake_put(&fake.receive_queue, &m);
}

/* True: a reply to this request is to be expected now, so that a peer that waits does so. */
static bool schedule_request(uint32_t number, int64_t at_ns)
{
	struct fake_fate f = fake_fate_of(number);
	struct fake_message m = make_request(number, &f, at_ns + f.late_ns);

	if (f.recv_error)
		fake_put_error(f.recv_error, at_ns - 2);
	for (unsigned i = 0; i < f.extras; i++)
		put_extra_request(&m, f.extra[i]);
	fake_control_arrival(&m, f.rx);
	/* The kernel reports that a message is missing, but not which: none may be used then. */
	if (f.rx == RX_CTRUNC)
		m.verdict = CUT_SHORT;
	control_request(&m, FAKE_LOCAL, FAKE_LOCAL);
	if (f.lost)
		return false;
	fake_put(&fake.receive_queue, &m);
	if (f.twice) {
		struct fake_message again = make_request(number, &f, at_ns + f.late_ns + (f.twice_ns ? f.twice_ns : 1));

		memcpy(again.data, m.data, sizeof(m.data));
		again.verdict = m.verdict;
		fake_control_arrival(&again, f.rx);
		control_request(&again, FAKE_LOCAL, FAKE_LOCAL);
		fake_put(&fake.receive_queue, &again);
	}
	return m.verdict == GOOD && !f.late_ns;
}

/* The peer goes on until it has something to wait for. */
static void peers_go_on(void)
{
	int64_t gap_ns = fake.open_loop_ns ? fake.open_loop_ns : fake.gap_ns ? fake.gap_ns : PEER_GAP_NS;
	int64_t at_ns = fake.now_ns + gap_ns;

	for (; fake.peer_made < fake.packets; at_ns += gap_ns) {
		fake.chain_number = fake.peer_made++;
		fake.chain_waits = schedule_request(fake.chain_number, at_ns);
		if (fake.chain_waits && !fake.open_loop_ns)
			return;
	}
}

void fake_begin(void)
{
	if (fake.role == ROLE_REFLECT)
		peers_go_on();
}

static void reply_seen(uint32_t number)
{
	if (fake.open_loop_ns || !fake.chain_waits || number != fake.chain_number)
		return;
	fake.chain_waits = false;
	peers_go_on();
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

static void expect_order(void)
{
	const struct fake_message *c = &fake.current;
	uint32_t nth = c->number / fake.peers;

	if (fake.forgetful)
		return;
	if (fake.seen[c->number % FAKE_PACKETS])
		fake.expect.repeated++;
	else if (fake.peer_requests[c->peer] && nth < fake.peer_highest[c->peer])
		fake.expect.reordered++;
}

static void note_request_taken(void)
{
	const struct fake_message *c = &fake.current;
	uint32_t nth = c->number / fake.peers;

	fake.seen[c->number % FAKE_PACKETS] = 1;
	if (!fake.peer_requests[c->peer]++ || nth > fake.peer_highest[c->peer])
		fake.peer_highest[c->peer] = nth;
}

/* The user-space time that the reflector should report. *bound_ns: -1 if it is not on the timebase of T2. */
static int64_t expected_time(int64_t real_ns, bool place, int64_t *bound_ns)
{
	int64_t converted_ns, error_ns;

	if (!place || *bound_ns < 0)
		return real_ns;
	if (!fake.place || !fake.place(real_ns, &converted_ns, &error_ns)) {
		*bound_ns = -1;
		return real_ns;
	}
	*bound_ns = error_ns > *bound_ns ? error_ns : *bound_ns;
	return converted_ns;
}

/* The reply to this peer `back` before the checked reply, if its timestamp was delivered by now; else NULL. */
static struct fake_packet *departed(uint32_t back)
{
	const unsigned peer = fake.current.peer;
	struct fake_packet *p = fake.peer_last[peer][(fake.peer_replies[peer] - back) % FAKE_LAST];

	return !fake.forgetful && back <= fake.peer_replies[peer] && (!fake.tx_stamps || p->stamped) ? p : NULL;
}

static uint8_t departed_method(void)
{
	return fake.tx_stamps && fake.wire == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* docs/protocol.md: all known departures of the last eight, newest first, up to the requested number. */
static void check_follow_ups(const struct reply *r)
{
	const unsigned wanted = fake.plan ? fake.plan->follow_ups : 0;
	unsigned reported = 0;

	for (uint32_t back = 1; back <= FAKE_LAST && reported < wanted; back++) {
		struct fake_packet *p = departed(back);

		if (!p)
			continue;
		assert_true(reported < r->follow_ups);
		assert_int_equal(r->follow_up[reported].seq, p->reply_seq);
		assert_int_equal(r->follow_up[reported].ns, fake.tx_stamps ? p->tx_wire_ns : p->tx_user_ns);
		assert_int_equal(r->follow_up[reported].method, departed_method());
		reported++;
		fake.listed += !p->listed;
		fake.listed_late += !p->listed && back > 1;
		p->listed = true;
	}
	assert_int_equal(r->follow_ups, reported);
}

/* RFC 8972 section 4.7: the last reply of the session, if its timestamp was delivered by now. */
static void check_follow_up(const struct reply *r)
{
	const struct fake_packet *p = departed(1);

	assert_true(r->follow_up_reported);
	if (!p) {
		assert_int_equal(r->follow_up_method, PACKET_METHOD_NONE);
		assert_int_equal(r->follow_up_seq, 0);
		assert_int_equal(r->follow_up_ns, 0);
		return;
	}
	fake.follow_ups++;
	assert_int_equal(r->follow_up_seq, p->reply_seq);
	assert_int_equal(r->follow_up_ns, fake.tx_stamps ? p->tx_wire_ns : p->tx_user_ns);
	assert_int_equal(r->follow_up_method, departed_method());
}

/* Expected contents of the TLVs, T2 and T3, by the same rule: a user-space time is on the timebase of the
 * timestamps, also when it replaces a timestamp. */
static void check_times_reported(const struct reply *r, const struct fake_packet *p)
{
	bool stamped = fake.current.rx_stamped, nic = stamped && fake.wire == SOURCE_HARDWARE;
	bool place = fake.wire == SOURCE_HARDWARE;
	int64_t bound_ns = 0, t2_user_ns = 0;

	assert_int_equal(r->t2_ns, stamped ? p->rx_wire_ns : expected_time(p->rx_user_ns, place, &bound_ns));
	if (fake.plan && fake.plan->t2_user)
		t2_user_ns = expected_time(p->rx_user_ns, place, &bound_ns);
	assert_int_equal(r->t3_ns, expected_time(p->tx_user_ns, place, &bound_ns));
	assert_int_equal(r->software_reported, fake.plan && fake.plan->software);
	assert_int_equal(r->t2_method, !fake_joins() ? PACKET_METHOD_NONE : nic ? PACKET_METHOD_HARDWARE :
			 PACKET_METHOD_SOFTWARE);
	assert_int_equal(r->t3_method, fake_joins() ? PACKET_METHOD_SOFTWARE : PACKET_METHOD_NONE);
	if (!r->software_reported)
		return;
	assert_int_equal(r->t2_user_known, fake.plan->t2_user);
	assert_int_equal(r->t2_user_ns, t2_user_ns);
	assert_int_equal(r->software_bound_ns, bound_ns);
	/* No source is reported if both are software: T3 without transmit timestamps is of user space. */
	assert_int_equal(r->wire_source, !stamped ? SOURCE_USER : !fake.tx_stamps && !nic ? SOURCE_NONE : fake.wire);
}

/* Requirements of RFC 8762 section 4.3 on a reply, and its destination. */
static void check_reply(const uint8_t *reply, size_t bytes, const struct fake_packet *p)
{
	const struct fake_message *c = &fake.current;
	const struct sockaddr_in *to = &fake.last_sent.name.in;
	struct reply r;

	assert_int_equal(to->sin_family, AF_INET);
	assert_int_equal(to->sin_port, c->from.in.sin_port);
	assert_int_equal(to->sin_addr.s_addr, c->from.in.sin_addr.s_addr);
	assert_int_equal(bytes, c->bytes > STAMP_BASE_BYTES ? c->bytes : STAMP_BASE_BYTES);
	assert_int_equal(read_whole_reply(reply, bytes, fake.key, &r), PACKET_GOOD);
	assert_true(packet_answers(reply, c->data, fake.key));
	const bool stateless = fake.stateful && c->peer >= fake.stateful;

	assert_int_equal(r.stateless, stateless && r.software_reported);
	assert_int_equal(r.seq, stateless ? fake_get_be32(c->data) : fake.forgetful ? 0 : fake.peer_replies[c->peer]);
	assert_int_equal(r.ssid, fake.cut_bytes && fake.cut_bytes < STAMP_BASE_BYTES ? 0 : FAKE_SSID + c->peer);
	assert_int_equal(r.ttl, FAKE_TTL);
	assert_int_equal(r.tlv_malformed, c->bad_tlv);
	assert_int_equal(r.class_reported, c->tos_reported && fake.plan->class_of_service);
	if (r.class_reported) {
		assert_int_equal(r.dscp, c->tos >> 2);
		assert_int_equal(r.ecn, c->tos & 3);
		assert_int_equal(r.reverse_dscp_refused, c->tos >> 2 != fake.plan->dscp);
	}
	check_times_reported(&r, p);
	if (stateless)
		return;
	check_follow_ups(&r);
	if (fake_joins())
		check_follow_up(&r);
	else
		assert_false(r.follow_up_reported);
}

static void echo_reply(const uint8_t *reply, size_t bytes)
{
	struct fake_message m = { .at_ns = fake.now_ns + 1000, .bytes = bytes, .verdict = FOREIGN };

	memcpy(m.data, reply, bytes < sizeof(m.data) ? bytes : sizeof(m.data));
	m.from = fake.current.from;
	m.from.in.sin_port = htons(fake.echo_port);
	control_request(&m, FAKE_LOCAL, FAKE_LOCAL);
	fake_put(&fake.receive_queue, &m);
}

void fake_reply_sent(const uint8_t *reply, size_t bytes, uint32_t id, const struct fake_fate *f)
{
	const struct fake_message *c = &fake.current;
	struct fake_packet *p = fake_record_sent(c->number, f);
	uint64_t n = fake.sends++;

	p->seq = fake_get_be32(c->data);
	p->rx_wire_ns = c->wire_ns;
	p->rx_user_ns = fake.arrival_user_ns;
	p->rx_stamped = c->rx_stamped;
	/* The reply is sent at the time in the script. */
	p->tx_wire_ns = c->wire_ns + f->latency_ns + f->step_ns + (fake.wire == SOURCE_HARDWARE ? 0 : f->set_ns);
	/* No part of its latency is before T2 of user space. */
	p->set_ns = fake.tx_stamps || f->set_times == 1 ? f->set_ns : 0;
	check_reply(reply, bytes, p);
	expect_order();
	note_request_taken();
	fake.expect.answered++;
	fake.expect.malformed_tlv += c->bad_tlv;
	fake.warmup_left -= p->warmup;
	p->reply_seq = fake.peer_replies[c->peer]++;
	fake.peer_last[c->peer][p->reply_seq % FAKE_LAST] = p;
	fake_put_stamps(f, id, p->tx_wire_ns);
	if (!fake.tx_stamps)
		fake_conclude(n, false);
	if (fake.echo_port)
		echo_reply(reply, bytes);
	reply_seen(c->number);
}

void fake_request_refused(uint32_t number)
{
	reply_seen(number);
}

void fake_reply_refused(uint32_t number)
{
	fake.expect.unanswered++;
	note_request_taken();
	reply_seen(number);
}
