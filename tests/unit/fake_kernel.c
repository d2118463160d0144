// SPDX-License-Identifier: GPL-2.0-or-later
/* See fake_kernel.h. */
#include "measure/exchange.h"
#include "options.h"
#include "wire/packet.h"
#include "wire/socket.h"
#include "fake_kernel.h"
#include "reply.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
int __real_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask);
int __real_clock_gettime(clockid_t clock, struct timespec *t);

struct fake fake;

/* What calls take. An idle loop is let run faster, so that waiting costs few calls; all waits of the rooms are longer. */
#define CALL_NS 300
#define CLOCK_NS 20
#define IDLE_NS_MAX 5000
#define WIRE_DELAY_NS 700 /* from sendmsg to the wire */
#define ASLEEP_NS 50000 /* what a kernel thread needs to deliver a stamp */
#define PEER_GAP_NS 3000 /* a peer that waits for replies: from reply to next request */
#define FAKE_HMAC_AT 96 /* RFC 8762 section 4.4 */
#define FOLLOW_UP_TIME_AT (STAMP_BASE_BYTES + 8 + 8) /* behind Timestamp Information, and a header and number of its own */
#define T3_AT 4 /* RFC 8762 section 4.3.1 */
#define T2_AT 16
#define WRONG_NS 5555 /* how far off the time of a follow-up with a wrong number is */

/* The clocks are apart by odd amounts. */
#define REAL_OFFSET_NS (1700000000 * NS_PER_S + 123456789)
#define WIRE_OFFSET_NS (1700000037 * NS_PER_S + 987654321)
#define THERE_REAL_OFFSET_NS (1650000000 * NS_PER_S + 222333444)
#define THERE_WIRE_OFFSET_NS (1600000000 * NS_PER_S + 555666777)

struct stamps {
	struct timespec t[3];
};

struct error_message {
	struct sock_extended_err e;
	struct sockaddr_in from;
};

int64_t fake_real_ns(int64_t monotonic_ns)
{
	return monotonic_ns + REAL_OFFSET_NS + fake.real_set_ns;
}

int64_t fake_wire_ns(int64_t monotonic_ns)
{
	return fake.wire == SOURCE_HARDWARE ? monotonic_ns + WIRE_OFFSET_NS : fake_real_ns(monotonic_ns);
}

void fake_start(enum role role, enum source wire)
{
	memset(&fake, 0, sizeof(fake));
	fake.role = role;
	fake.wire = wire;
	fake.tx_stamps = wire != SOURCE_USER;
	fake.peers = 1;
	fake.there = wire == SOURCE_USER ? SOURCE_USER : SOURCE_HARDWARE;
	fake.timeout_ns = 5 * NS_PER_MS;
	fake.call_limit = 20000000;
	fake.idle_ns_max = IDLE_NS_MAX;
	fake.now_ns = 1000 * NS_PER_S;
	fake.time_limit_ns = fake.now_ns + 1000 * NS_PER_S;
	fake.last_event_ns = fake.now_ns;
	fake.failed_number = UINT32_MAX;
	fake.on = true;
}

void fake_end(void)
{
	fake.on = false;
}

/* Time passes. Here, and only here, a room that waits for ever is found out. */
static void advance(int64_t ns)
{
	fake.now_ns += ns;
	if (++fake.calls > fake.call_limit || fake.now_ns > fake.time_limit_ns) {
		fake.on = false;
		fail_msg("hang: %llu calls, %lld ns of virtual time", (unsigned long long)fake.calls,
			 (long long)(fake.now_ns - 1000 * NS_PER_S));
	}
	if (!fake.stop)
		return;
	if (fake.stop_at_ns && fake.now_ns >= fake.stop_at_ns)
		*fake.stop = 1;
	if (fake.idle_stop_ns && fake.now_ns - fake.last_event_ns >= fake.idle_stop_ns)
		*fake.stop = 1;
}

/* ---- Queues ------------------------------------------------------------------------------------------------------- */

void fake_put(struct fake_queue *queue, const struct fake_message *m)
{
	int i = 0;

	while (i < FAKE_QUEUE && queue->message[i].used)
		i++;
	if (i == FAKE_QUEUE)
		fail_msg("a queue of the fake is full");
	queue->message[i] = *m;
	queue->message[i].used = true;
	queue->message[i].order = fake.order++;
	queue->used++;
	if (queue->high <= i)
		queue->high = i + 1;
}

static struct fake_message *first_of(struct fake_queue *queue)
{
	struct fake_message *first = NULL;

	for (int i = 0; i < queue->high; i++) {
		struct fake_message *m = &queue->message[i];

		if (!m->used || m->asleep_ns)
			continue;
		if (!first || m->at_ns < first->at_ns || (m->at_ns == first->at_ns && m->order < first->order))
			first = m;
	}
	return first;
}

static struct fake_message *ready_of(struct fake_queue *queue)
{
	struct fake_message *m = first_of(queue);

	return m && m->at_ns <= fake.now_ns ? m : NULL;
}

void fake_control(struct fake_message *m, int level, int type, const void *payload, size_t bytes, size_t length)
{
	struct cmsghdr *h = (struct cmsghdr *)(m->control.octets + m->control_bytes);

	assert_true(m->control_bytes + CMSG_SPACE(bytes) <= sizeof(m->control));
	h->cmsg_level = level;
	h->cmsg_type = type;
	h->cmsg_len = length ? length : CMSG_LEN(bytes);
	memcpy(CMSG_DATA(h), payload, bytes);
	m->control_bytes += CMSG_SPACE(bytes);
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

/* change: octets that the message is longer or shorter than it should be. */
static void control_stamps(struct fake_message *m, int64_t ns, bool other_kind, long change)
{
	struct {
		struct stamps stamps;
		uint64_t more;
	} payload = { .more = 0 };
	size_t bytes = (size_t)((long)sizeof(payload.stamps) + change);

	payload.stamps.t[(fake.wire == SOURCE_HARDWARE) != other_kind ? 2 : 0] = timespec_of(ns);
	fake_control(m, SOL_SOCKET, SCM_TIMESTAMPING, &payload, bytes, 0);
}

static void control_error(struct fake_message *m, enum fake_entry entry, uint32_t id, long change)
{
	struct {
		struct error_message error;
		uint64_t more;
	} payload = { .error.e = { .ee_errno = ENOMSG, .ee_origin = SO_EE_ORIGIN_TIMESTAMPING, .ee_info = SCM_TSTAMP_SND,
				   .ee_data = id } };

	if (entry == ENTRY_ERRNO)
		payload.error.e.ee_errno = ECONNREFUSED;
	if (entry == ENTRY_ORIGIN)
		payload.error.e.ee_origin = SO_EE_ORIGIN_ZEROCOPY;
	if (entry == ENTRY_INFO)
		payload.error.e.ee_info = SCM_TSTAMP_SCHED;
	/* As the kernel sends it: ee_info and ee_data are 0, as those of the first stamp. */
	if (entry == ENTRY_ICMP)
		payload.error.e = (struct sock_extended_err){ .ee_errno = ECONNREFUSED, .ee_origin = SO_EE_ORIGIN_ICMP,
							      .ee_type = 3, .ee_code = 3 };
	fake_control(m, SOL_IP, IP_RECVERR, &payload, (size_t)((long)sizeof(payload.error) + change), 0);
}

/* ---- The script --------------------------------------------------------------------------------------------------- */

#define MORE_MAX 8

struct fate {
	bool lost, twice, bad_tlv, large, tx_none, tx_twice, tx_asleep;
	int64_t late_ns, twice_ns, latency_ns, step_ns, set_ns, tx_slow_ns, stop_ns;
	int64_t tx_id;
	enum fake_rx rx;
	enum fake_entry tx;
	bool lost_back, asked_twice, restarted, no_t2, no_clock, no_t2_user, no_bound, no_tlvs, bad_tlvs, bad_integrity, follow_zero;
	int64_t lost_which, delayed_ns, asked_ns, response_ns, stepped_ns, follow_number, padding_bytes;
	uint8_t follow_method, ttl, tos;
	int send_error, recv_error;
	unsigned send_times, set_times, extras, tx_extras, tx_extra_ids;
	enum fake_extra extra[MORE_MAX];
	enum fake_entry tx_extra[MORE_MAX];
	int64_t tx_extra_id[MORE_MAX];
};

/* What happens to the peer that reflects. */
static void apply_event_there(struct fate *f, const struct fake_event *e)
{
	switch (e->fault) {
	case LOST_BACK: f->lost_back = true; f->lost_which = e->argument; break;
	case DELAYED: f->delayed_ns = e->argument; break;
	case ASKED_TWICE: f->asked_twice = true; f->asked_ns = e->argument; break;
	case RESTARTED: f->restarted = true; break;
	case RESPONSE: f->latency_ns += e->argument - f->response_ns; f->response_ns = e->argument; break;
	case STEPPED_THERE: f->stepped_ns = e->argument; break;
	case NO_T2: f->no_t2 = true; break;
	case NO_CLOCK: f->no_clock = true; break;
	case NO_T2_USER: f->no_t2_user = true; break;
	case NO_BOUND: f->no_bound = true; break;
	case NO_TLVS: f->no_tlvs = true; break;
	case BAD_TLVS: f->bad_tlvs = true; break;
	case BAD_INTEGRITY: f->bad_integrity = true; break;
	case PADDED: f->padding_bytes = e->argument; break;
	case FOLLOW_ZERO: f->follow_zero = true; break;
	case FOLLOW_NUMBER: f->follow_number = e->argument; break;
	case FOLLOW_METHOD: f->follow_method = (uint8_t)e->argument; break;
	case ARRIVED_TTL: f->ttl = (uint8_t)e->argument; break;
	case ARRIVED_TOS: f->tos = (uint8_t)e->argument; break;
	default: fail_msg("fault %d means nothing", e->fault);
	}
}

static void apply_event(struct fate *f, const struct fake_event *e)
{
	switch (e->fault) {
	case LOST: f->lost = true; break;
	case LATE: f->late_ns = e->argument; break;
	case TWICE: f->twice = true; f->twice_ns = e->argument; break;
	case LATENCY: f->latency_ns = e->argument; break;
	case STEP: f->step_ns = e->argument; break;
	case SET: f->set_ns = e->argument; f->set_times = e->times; break;
	case EXTRA: f->extra[f->extras++ % MORE_MAX] = (enum fake_extra)e->argument; break;
	case BAD_TLV: f->bad_tlv = true; break;
	case LARGE: f->large = true; break;
	case RX: f->rx = (enum fake_rx)e->argument; break;
	case TX: f->tx = (enum fake_entry)e->argument; break;
	case TX_NONE: f->tx_none = true; break;
	case TX_SLOW: f->tx_slow_ns = e->argument; break;
	case TX_TWICE: f->tx_twice = true; break;
	case TX_ASLEEP: f->tx_asleep = true; break;
	case TX_ID: f->tx_id = e->argument; break;
	case TX_EXTRA: f->tx_extra[f->tx_extras++ % MORE_MAX] = (enum fake_entry)e->argument; break;
	case TX_EXTRA_ID: f->tx_extra_id[f->tx_extra_ids++ % MORE_MAX] = e->argument; break;
	case SEND_ERROR: f->send_error = (int)e->argument; f->send_times = e->times ? e->times : 1; break;
	case RECV_ERROR: f->recv_error = (int)e->argument; break;
	case STOP: f->stop_ns = e->argument; break;
	case NO_FAULT: break;
	default: apply_event_there(f, e);
	}
}

static struct fate fate_of(uint32_t number)
{
	/* Odd values, so that two packets seldom have the same latency. */
	struct fate f = { .latency_ns = 5000 + number * 7919LL % 3001, .response_ns = 1200 + number * 6271LL % 1801,
			  .ttl = FAKE_TTL, .tos = (uint8_t)(fake.dscp << 2) };

	/* Long random scripts: what is far behind is not looked at again. */
	while (fake.cursor < fake.event_count && fake.events[fake.cursor].last < number &&
	       fake.events[fake.cursor].first + 1000 < number)
		fake.cursor++;
	for (size_t i = fake.cursor; i < fake.event_count && fake.events[i].first <= number; i++)
		if (number == fake.events[i].first || number <= fake.events[i].last)
			apply_event(&f, &fake.events[i]);
	assert_true(f.extras <= MORE_MAX && f.tx_extras <= MORE_MAX && f.tx_extra_ids <= MORE_MAX);
	return f;
}

/* ---- The account of the fake -------------------------------------------------------------------------------------- */

/* README: stamps that do not fit between the times of user space, or around them, by more than 20 us and 1/512. */
static bool was_stepped(const struct fake_packet *p, int64_t latency_ns)
{
	int64_t user_ns = p->rx_user_ns - p->tx_user_ns, wire_ns = p->rx_wire_ns - p->tx_wire_ns;
	int64_t inner_ns = fake.role == ROLE_EMIT ? wire_ns : -user_ns, outer_ns = fake.role == ROLE_EMIT ? user_ns : -wire_ns;

	/* Or where CLOCK_REALTIME was set and the latency is not what it should be. */
	bool odd = latency_ns < 0 || latency_ns > 100000 || (fake.threshold_ns && latency_ns > fake.threshold_ns);

	assert_true(!p->set_ns || llabs(p->set_ns) > 50000); /* what is smaller need not be seen */
	return (fake.check_steps && 512 * (inner_ns - outer_ns - 20000) > inner_ns) || (fake.check_set && p->set_ns && odd);
}

/* ---- What becomes of T3 on the wire of the peer's replies ---- */

static bool joins(void)
{
	return fake.plan && fake.plan->stages;
}

/* --threshold-on something that needs both of the peer's stamps. */
static void judge(const struct fake_packet *p)
{
	struct fake_account *e = &fake.expect;
	int64_t response_ns = p->reply.t3_wire_ns - p->reply.t2_ns;

	if (fake.threshold_on == FIGURE_RTT)
		return;
	if (p->follow_up != FOLLOW_UP_THERE)
		e->unjudged++;
	else if (fake.threshold_ns)
		e->breaches += (fake.threshold_on == FIGURE_RESPONSE ? response_ns : p->latency_ns - response_ns) >
			       fake.threshold_ns;
}

static void end_waiting(enum follow_up how)
{
	struct fake_packet *p = fake.waiting;

	assert_non_null(p);
	fake.waiting = NULL;
	p->follow_up = how;
	fake.expect.follow_up[how]++;
	judge(p);
}

/* Its record has everything but that. Who did not answer the TLV will not tell of this reply either. */
static void begin_waiting(struct fake_packet *p)
{
	fake.waiting = p;
	if (!joins())
		end_waiting(FOLLOW_UP_NONE);
	else if (!p->reply.tlvs)
		end_waiting(FOLLOW_UP_UNTOLD);
}

/* A time of user space, or of who knows what, is no stamp on the wire where others are. */
static void only_the_best(struct fake_reply *r)
{
	enum source best = fake.best_there;

	if (r->no_clock)
		r->t2_source = SOURCE_NONE;
	else if (best == SOURCE_HARDWARE ? r->t2_source != SOURCE_HARDWARE :
	    best == SOURCE_KERNEL && r->t2_source != SOURCE_HARDWARE && r->t2_source != SOURCE_KERNEL)
		r->t2_source = SOURCE_NONE;
	else if (!best || r->t2_source == SOURCE_HARDWARE || r->t2_source == SOURCE_KERNEL)
		fake.best_there = r->t2_source;
}

/* Are both stamps of one kind, as far as the replies tell? What kind of software it is, the one that has it says. */
static bool is_mixed(const struct fake_reply *of, const struct fake_reply *in)
{
	if (of->no_clock || !of->t2_method || of->t2_method != in->follow_method)
		return true;
	/* A later reply may tell that there are better ones than T2 was. */
	return !of->t2_source || (of->t2_method == PACKET_METHOD_SOFTWARE && of->t2_source < in->t2_told);
}

/* A response is a part of the round trip, but for what clocks are off (1 us and 1/512). */
static bool is_possible(const struct fake_packet *p, int64_t t3_ns)
{
	int64_t response_ns = t3_ns - p->reply.t2_ns;

	return response_ns >= -1000 && 512 * (response_ns - p->latency_ns - 1000) <= response_ns;
}

/* Is this what is waited for? After a restart the number alone does not tell. */
static bool end_waiting_by(const struct fake_reply *r)
{
	const struct fake_packet *p = fake.waiting;

	if (!p || !r->follow_known || r->follow_seq != p->reply.seq)
		return false;
	if (is_mixed(&p->reply, r)) {
		end_waiting(FOLLOW_UP_MIXED);
		return true;
	}
	if (!is_possible(p, r->follow_ns))
		return false;
	/* Of a reflector that began again it may be another's by an accident that nobody can see: to be counted. */
	if (r->follow_ns != p->reply.t3_wire_ns) {
		fake.accidents++;
		fake.waiting->reply.t3_wire_ns = r->follow_ns;
	}
	end_waiting(FOLLOW_UP_THERE);
	return true;
}

/* The reply to a later probe, in time: nothing after it will tell. */
static void end_waiting_at(const struct fake_reply *r)
{
	if (!fake.waiting || end_waiting_by(r))
		return;
	if (!r->tlvs)
		end_waiting(FOLLOW_UP_UNTOLD);
	else
		end_waiting(r->seq == fake.waiting->reply.seq + 1 ? FOLLOW_UP_UNKNOWN : FOLLOW_UP_LOST);
}

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
	if (was_stepped(p, ns)) {
		e->stepped++;
		return;
	}
	if (fake.threshold_on == FIGURE_RTT)
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

static void conclude_packet(uint64_t n, bool ended)
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
		conclude_packet(n, true);
	if (fake.waiting)
		end_waiting(FOLLOW_UP_END);
}

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
	e->reordered += e->answered && fake.highest_answered > n;
	bool late = p->was_lost && fake.lost_order - fake.lost_at[n] <= LOST_REMEMBERED;

	p->came_back |= late;
	e->late += late;
	e->duplicate += !late;
	p->was_lost = false;
	if (end_waiting_by(&m->reply))
		return;
	e->follow_up_late += late && m->reply.follow_known;
	/* The one that was to tell says that it does not know: nothing after it will tell. */
	if (fake.waiting && m->reply.tlvs && !m->reply.follow_known && m->reply.seq == fake.waiting->reply.seq + 1)
		end_waiting(FOLLOW_UP_UNKNOWN);
}

/* CLOCK_REALTIME is set now, or soon. */
static void set_after(int64_t set_ns, unsigned reads)
{
	fake.set_after_reads = reads;
	fake.set_pending_ns = reads ? set_ns : 0;
	fake.real_set_ns += reads ? 0 : set_ns;
}

static void expect_datagram(const struct fake_message *m)
{
	fake.expect.received++;
	fake.expect.foreign += m->verdict == FOREIGN;
	fake.expect.malformed += m->verdict == MALFORMED;
	fake.expect.unverified += m->verdict == UNVERIFIED;
	fake.expect.control_truncated += (m->flags & MSG_CTRUNC) != 0;
	fake.user_rx_wanted = false;
	if (m->verdict != GOOD)
		return;
	if (fake.role == ROLE_EMIT) {
		expect_reply(m);
	} else {
		struct fate f = fate_of(m->number);

		fake.current = *m;
		fake.user_rx_wanted = true;
		set_after(f.set_ns, f.set_times);
	}
}

/* Flights are remembered by FLIGHTS, the one of the last attempt among them. */
static void expect_stamp(const struct fake_message *m)
{
	struct fake_account *e = &fake.expect;
	uint64_t n = (uint32_t)(m->id - fake.first_id);
	struct fake_packet *p = &fake.packet[n % FAKE_PACKETS];

	if (m->entry == ENTRY_CTRUNC) {
		e->control_truncated++;
	} else if (m->entry != ENTRY_GOOD) {
		e->error_other++;
	} else if (n >= fake.sends || fake.attempts_at_last_send - n >= FLIGHTS) {
		e->stamp_unmatched++;
	} else if (p->stamped) {
		e->stamp_duplicate++;
	} else if (p->concluded || (fake.role == ROLE_REFLECT && m->at_ns - p->sent_ns >= fake.timeout_ns)) {
		conclude_packet(n, false);
		e->stamp_late++;
	} else {
		p->stamped = true;
		p->tx_wire_ns = m->wire_ns;
		if (fake.role == ROLE_REFLECT)
			conclude_packet(n, false);
	}
}

/* ---- What is delivered -------------------------------------------------------------------------------------------- */

static void put_stamp(uint32_t id, int64_t at_ns, int64_t wire_ns, enum fake_entry entry, bool asleep)
{
	struct fake_message m = { .at_ns = at_ns, .id = id, .wire_ns = wire_ns, .entry = entry,
				  .flags = MSG_ERRQUEUE };

	m.asleep_ns = asleep ? ASLEEP_NS : 0;
	if (entry != ENTRY_NO_STAMP)
		control_stamps(&m, entry == ENTRY_ZERO ? 0 : wire_ns, entry == ENTRY_OTHER_KIND,
			       entry == ENTRY_STAMP_SHORT ? -8 : entry == ENTRY_STAMP_LONG ? 8 : 0);
	if (entry == ENTRY_CTRUNC)
		m.flags |= MSG_CTRUNC;
	if (entry != ENTRY_NO_ERROR && entry != ENTRY_CTRUNC)
		control_error(&m, entry, id, entry == ENTRY_ERROR_SHORT ? -8 : entry == ENTRY_ERROR_LONG ? 8 : 0);
	if (entry == ENTRY_TRUNC)
		m.flags |= MSG_TRUNC;
	fake_put(&fake.error_queue, &m);
}

/* Both roles: what the error queue gets for a packet. A plausible wrong time shows in the latency if it is taken. */
static void schedule_stamps(const struct fate *f, uint32_t id, int64_t wire_ns)
{
	if (!fake.tx_stamps)
		return;
	for (unsigned i = 0; i < f->tx_extras; i++)
		put_stamp(id, fake.now_ns, wire_ns - 1111, f->tx_extra[i], false);
	for (unsigned i = 0; i < f->tx_extra_ids; i++)
		put_stamp((uint32_t)(id + f->tx_extra_id[i]), fake.now_ns, wire_ns - 2222, ENTRY_GOOD, false);
	if (f->tx_none)
		return;
	put_stamp((uint32_t)(id + f->tx_id), fake.now_ns + f->tx_slow_ns, wire_ns, f->tx, f->tx_asleep);
	if (f->tx_twice)
		put_stamp(id, fake.now_ns + f->tx_slow_ns + 1, wire_ns + 3333, ENTRY_GOOD, false);
}

static void control_arrival(struct fake_message *m, enum fake_rx rx)
{
	m->rx_stamped = rx == RX_GOOD && fake.wire != SOURCE_USER;
	if (rx == RX_CTRUNC)
		m->flags |= MSG_CTRUNC;
	if (rx != RX_ABSENT && rx != RX_CTRUNC && fake.wire != SOURCE_USER)
		control_stamps(m, rx == RX_ZERO ? 0 : m->wire_ns, rx == RX_OTHER_KIND,
			       rx == RX_SHORT ? -8 : rx == RX_LONG ? 8 : 0);
}

/* The kernel tells the class of what is received after it was asked to. */
static void control_class(struct fake_message *m)
{
	if (!fake.tos_told || m->control_bytes + CMSG_SPACE(1) > sizeof(m->control))
		return;
	m->tos_told = true;
	fake_control(m, SOL_IP, IP_TOS, &m->tos, 1, 0);
}

static void control_request(struct fake_message *m, uint32_t to, uint32_t local)
{
	int ttl = FAKE_TTL;
	struct in_pktinfo info = { .ipi_ifindex = FAKE_INTERFACE, .ipi_spec_dst.s_addr = htonl(local),
				   .ipi_addr.s_addr = htonl(to) };

	fake_control(m, SOL_IP, IP_TTL, &ttl, sizeof(ttl), 0);
	fake_control(m, SOL_IP, IP_PKTINFO, &info, sizeof(info), 0);
}

/* ---- Emitter under test: the fake answers ------------------------------------------------------------------------- */

static void put_be(uint8_t *p, uint64_t v, unsigned octets)
{
	while (octets--) {
		p[octets] = (uint8_t)v;
		v >>= 8;
	}
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum fake_verdict verdict_of(enum fake_extra extra)
{
	if (extra == EXTRA_UNVERIFIED)
		return UNVERIFIED;
	return extra < EXTRA_BOTH_ROLES ? MALFORMED : FOREIGN;
}

/* A good reply, made bad. */
static void put_extra_reply(const struct fake_message *good, enum fake_extra extra)
{
	struct fake_message m = *good;

	m.at_ns--;
	m.verdict = verdict_of(extra);
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
		put_be(m.data + 14, FAKE_SSID + 1, 2);
	else if (extra == EXTRA_FUTURE)
		put_be(m.data + 24, get_be32(m.data + 24) + 1, 4);
	else if (extra == EXTRA_FAR_PAST)
		put_be(m.data + 24, get_be32(m.data + 24) - 0x70000000, 4);
	else if (extra == EXTRA_OTHER_T1)
		m.data[35] ^= 1;
	else
		fail_msg("extra %d means nothing to an emitter", extra);
	/* Whoever takes it for good takes a wrong time over. */
	if (joins() && m.bytes > FOLLOW_UP_TIME_AT)
		m.data[FOLLOW_UP_TIME_AT + 7] ^= 0x55;
	fake_put(&fake.receive_queue, &m);
}

static void put_receive_error(int error, int64_t at_ns)
{
	struct fake_message m = { .at_ns = at_ns, .error = error };

	fake_put(&fake.receive_queue, &m);
}

/* The times of the peer, by its clocks: of the wire, and of user space as it tells them. */
int64_t fake_there_ns(int64_t monotonic_ns, bool stamped)
{
	if (stamped && fake.synced)
		return fake_wire_ns(monotonic_ns);
	return monotonic_ns + (stamped && fake.there == SOURCE_HARDWARE ? THERE_WIRE_OFFSET_NS : THERE_REAL_OFFSET_NS);
}

static uint8_t method_there(bool stamped)
{
	return stamped && fake.there == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE;
}

/* What a sender may say of T2: where the reply does not tell by which software it was taken, nothing more. */
static enum source t2_source_told(const struct fake_reply *r, bool stamped)
{
	if (!r->tlvs)
		return SOURCE_LOCAL;
	if (r->t2_method == PACKET_METHOD_HARDWARE)
		return SOURCE_HARDWARE;
	return fake.plan->software ? (stamped ? fake.there : SOURCE_USER) : SOURCE_LOCAL;
}

static void fill_times(struct fake_reply *r, const struct fate *f, int64_t t2_monotonic_ns)
{
	bool stamped = !f->no_t2 && fake.there != SOURCE_USER;

	r->t2_ns = fake_there_ns(t2_monotonic_ns, stamped);
	r->t2_user_ns = fake_there_ns(t2_monotonic_ns + f->response_ns / 4, stamped && !f->no_bound);
	r->t3_ns = fake_there_ns(t2_monotonic_ns + f->response_ns / 2, stamped && !f->no_bound);
	r->t3_wire_ns = fake_there_ns(t2_monotonic_ns + f->response_ns, true) + f->stepped_ns;
	r->tlvs = joins() && fake.reflector != REFLECTOR_OLD && !f->no_tlvs && !f->bad_tlvs && !f->bad_integrity;
	r->malformed = joins() && f->bad_tlvs && !f->bad_integrity;
	r->integrity = joins() && f->bad_integrity;
	r->t2_method = r->tlvs ? method_there(stamped) : PACKET_METHOD_NONE;
	r->t2_source = t2_source_told(r, stamped);
	r->no_clock = f->no_clock;
	r->t2_told = joins() && fake.plan->software ? (stamped ? fake.there : SOURCE_USER) : SOURCE_LOCAL;
	r->t2_user = r->tlvs && fake.plan->t2_user && !f->no_t2_user;
	r->on_scale = r->tlvs && fake.plan->software && !f->no_bound;
	r->ttl = f->ttl;
	r->tos = f->tos;
}

/* What this reply tells of the one before. */
static void fill_follow_up(struct fake_reply *r, const struct fate *f)
{
	if (!r->tlvs || fake.reflector != REFLECTOR_STATEFUL || !fake.session.has_last || f->follow_zero)
		return;
	r->follow_seq = fake.session.last_seq + (uint32_t)f->follow_number;
	r->follow_ns = fake.session.last_ns + (f->follow_number ? WRONG_NS : 0);
	r->follow_method = f->follow_method ? f->follow_method : fake.session.last_method;
	r->follow_known = r->follow_method <= PACKET_METHOD_CONTROL_PLANE; /* others mean nothing to us */
}

static void count_reply(struct fake_reply *r, const struct fate *f, uint32_t probe_seq)
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
	fake.session.last_method = method_there(true);
}

/* By packet_reply(), and what only a faulty peer or an old one does. */
static void write_reply(struct fake_message *m, const struct fate *f, const struct fake_probe *probe)
{
	const struct fake_reply *r = &m->reply;
	const size_t tlvs = fake.key ? STAMP_AUTHENTICATED_BYTES : STAMP_BASE_BYTES;
	struct answer answer = {
		.seq = r->seq, .t2_ns = r->t2_ns, .t3_ns = r->t3_ns, .ttl = r->ttl, .t2_method = r->t2_method,
		.t3_method = PACKET_METHOD_SOFTWARE, .sync_source = FAKE_SYNC_SOURCE, .tos_known = true, .tos = r->tos,
		.follow_up_seq = r->follow_seq, .follow_up_ns = r->follow_ns,
		.follow_up_method = r->follow_method,
		.wire_source = r->t2_told == SOURCE_LOCAL ? SOURCE_NONE : (uint8_t)r->t2_told,
		.t2_user_known = r->t2_user, .t2_user_ns = r->t2_user_ns,
		.software_bound_ns = f->no_bound ? -1 : FAKE_BOUND_NS,
	};
	bool malformed;

	m->bytes = probe->bytes;
	memcpy(m->data, probe->data, probe->bytes);
	packet_reply(m->data, probe->bytes, fake.key, &answer, &malformed);
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

static void deliver_reply(struct fake_message *m, const struct fate *f)
{
	if (f->lost)
		return;
	if (f->lost_back && (!f->lost_which || (f->lost_which == 2) == m->reply.again))
		return;
	fake_put(&fake.receive_queue, m);
	if (f->twice && !m->reply.again) {
		m->at_ns += f->twice_ns;
		m->wire_ns += 4444;
		fake_put(&fake.receive_queue, m);
	}
}

/* The probe has arrived: it is answered. Of one that is lost there is only what else is scripted. */
static void reflect_probe(const struct fake_probe *probe)
{
	struct fake_packet *p = &fake.packet[probe->n];
	const struct fate f = fate_of(p->number);
	struct fake_message m = { .number = (uint32_t)probe->n, .reply.again = probe->again };
	/* Never before its own stamp, unless a negative latency or a step wants that. */
	int64_t back_ns = probe->sent_ns + WIRE_DELAY_NS + (f.latency_ns > 300 ? f.latency_ns : 300);

	fill_times(&m.reply, &f, probe->at_ns);
	if (!f.lost) {
		p->arrived = true;
		p->answers++;
		count_reply(&m.reply, &f, p->seq);
	}
	write_reply(&m, &f, probe);
	m.at_ns = back_ns + probe->more_ns;
	m.wire_ns = p->tx_wire_ns + f.latency_ns + f.step_ns + probe->more_ns + (fake.wire == SOURCE_HARDWARE ? 0 : f.set_ns);
	if (!probe->again) {
		if (f.recv_error)
			put_receive_error(f.recv_error, m.at_ns - 2);
		/* In time, so that they are of the probe in flight. */
		for (unsigned i = 0; i < f.extras && !f.delayed_ns; i++)
			put_extra_reply(&m, f.extra[i]);
	}
	if (f.late_ns)
		m.at_ns = probe->sent_ns + fake.timeout_ns + f.late_ns + probe->more_ns;
	control_arrival(&m, f.rx);
	deliver_reply(&m, &f);
}

/* What has arrived by now, in this order. */
static void peer_reflects(void)
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

static void schedule_probe(const struct fate *f, const uint8_t *data, size_t bytes)
{
	struct fake_probe probe = { .n = fake.sends, .sent_ns = fake.now_ns, .bytes = bytes, .more_ns = f->delayed_ns };

	memcpy(probe.data, data, bytes);
	probe.at_ns = fake.now_ns + WIRE_DELAY_NS + (f->latency_ns - f->response_ns) / 3 + f->delayed_ns;
	send_probe_on(&probe);
	if (!f->asked_twice || f->lost)
		return;
	probe.at_ns += f->asked_ns;
	probe.more_ns += f->asked_ns;
	probe.again = true;
	send_probe_on(&probe);
}

/* ---- Reflector under test: the fake probes ------------------------------------------------------------------------ */

/* The probes of all peers are alike but for the SSID. */
static struct packet_plan plan_of(unsigned peer)
{
	struct packet_plan plan = fake.plan ? *fake.plan : (struct packet_plan){ .key = fake.key };

	plan.ssid = (uint16_t)(FAKE_SSID + peer);
	return plan;
}

static struct fake_message make_request(uint32_t number, const struct fate *f, int64_t at_ns)
{
	unsigned peer = number % fake.peers;
	const struct packet_plan plan = plan_of(peer);
	struct fake_message m = { .at_ns = at_ns, .bytes = packet_plan_bytes(&plan), .number = number, .peer = peer };

	m.wire_ns = fake_wire_ns(at_ns);
	m.tos = f->tos;
	m.from.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)(FAKE_FIRST_PORT + peer)),
					  .sin_addr.s_addr = htonl(FAKE_REMOTE) };
	packet_prepare(m.data, &plan);
	packet_probe(m.data, &plan, fake.first_id + number / fake.peers, fake_real_ns(at_ns) - 5000);
	if (f->bad_tlv) {
		m.bad_tlv = true;
		m.data[m.bytes + 1] = 3;
		m.data[m.bytes + 3] = 200; /* the length */
		m.bytes += 8;
	}
	/* Whole headers of empty TLVs. */
	if (f->large && !f->bad_tlv)
		m.bytes += 65300;
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
	m.verdict = verdict_of(extra);
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
	control_arrival(&m, RX_GOOD);
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
	struct fate f = fate_of(number);
	struct fake_message m = make_request(number, &f, at_ns + f.late_ns);

	if (f.recv_error)
		put_receive_error(f.recv_error, at_ns - 2);
	for (unsigned i = 0; i < f.extras; i++)
		put_extra_request(&m, f.extra[i]);
	control_arrival(&m, f.rx);
	/* The kernel tells that something is missing, not what: nothing may be taken then. */
	if (f.rx == RX_CTRUNC)
		m.verdict = FOREIGN;
	control_request(&m, FAKE_LOCAL, FAKE_LOCAL);
	if (f.lost)
		return false;
	fake_put(&fake.receive_queue, &m);
	if (f.twice) {
		struct fake_message again = make_request(number, &f, at_ns + f.late_ns + (f.twice_ns ? f.twice_ns : 1));

		memcpy(again.data, m.data, sizeof(m.data));
		again.verdict = m.verdict;
		control_arrival(&again, f.rx);
		control_request(&again, FAKE_LOCAL, FAKE_LOCAL);
		fake_put(&fake.receive_queue, &again);
	}
	return m.verdict == GOOD && !f.late_ns;
}

/* The peer goes on until it has something to wait for. */
static void peers_go_on(void)
{
	int64_t gap_ns = fake.open_loop_ns ? fake.open_loop_ns : PEER_GAP_NS;
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

/* A time of user space as the reflector should tell it. *bound_ns: -1 when that is not on the scale of T2. */
static int64_t expected_time(int64_t real_ns, bool place, int64_t *bound_ns)
{
	int64_t placed_ns, error_ns;

	if (!place || *bound_ns < 0)
		return real_ns;
	if (!fake.place || !fake.place(real_ns, &placed_ns, &error_ns)) {
		*bound_ns = -1;
		return real_ns;
	}
	*bound_ns = error_ns > *bound_ns ? error_ns : *bound_ns;
	return placed_ns;
}

/* RFC 8972 section 4.7: the last reply of the session, as far as its stamp has been delivered by now. */
static void check_follow_up(const struct reply *r)
{
	const struct fake_packet *p = fake.peer_last[fake.current.peer];
	bool known = !fake.forgetful && p && (!fake.tx_stamps || p->stamped);

	assert_true(r->follow_up_told);
	if (!known) {
		assert_int_equal(r->follow_up_method, PACKET_METHOD_NONE);
		assert_int_equal(r->follow_up_seq, 0);
		assert_int_equal(r->follow_up_ns, 0);
		return;
	}
	fake.follow_ups++;
	assert_int_equal(r->follow_up_seq, p->reply_seq);
	assert_int_equal(r->follow_up_ns, fake.tx_stamps ? p->tx_wire_ns : p->tx_user_ns);
	assert_int_equal(r->follow_up_method, fake.tx_stamps && fake.wire == SOURCE_HARDWARE ? PACKET_METHOD_HARDWARE :
										       PACKET_METHOD_SOFTWARE);
}

/* What the TLVs were to be answered with, and T2 and T3, which go by the same rule: a time of user space is on the scale of
 * the stamps, also where it takes the place of one. */
static void check_times_told(const struct reply *r, const struct fake_packet *p)
{
	bool stamped = fake.current.rx_stamped, nic = stamped && fake.wire == SOURCE_HARDWARE;
	bool place = nic || (!stamped && fake.place);
	int64_t bound_ns = 0, t2_user_ns = 0;

	assert_int_equal(r->t2_ns, stamped ? p->rx_wire_ns : expected_time(p->rx_user_ns, place, &bound_ns));
	if (fake.plan && fake.plan->t2_user)
		t2_user_ns = expected_time(p->rx_user_ns, place, &bound_ns);
	assert_int_equal(r->t3_ns, expected_time(p->tx_user_ns, place, &bound_ns));
	assert_int_equal(r->software_told, fake.plan && fake.plan->software);
	assert_int_equal(r->t2_method, !joins() ? PACKET_METHOD_NONE : nic ? PACKET_METHOD_HARDWARE : PACKET_METHOD_SOFTWARE);
	assert_int_equal(r->t3_method, joins() ? PACKET_METHOD_SOFTWARE : PACKET_METHOD_NONE);
	if (!r->software_told)
		return;
	assert_int_equal(r->t2_user_known, fake.plan->t2_user);
	assert_int_equal(r->t2_user_ns, t2_user_ns);
	assert_int_equal(r->software_bound_ns, bound_ns);
	/* Nothing is said of one kind that is another: T3 without transmit stamps is of user space. */
	assert_int_equal(r->wire_source, !stamped ? SOURCE_USER : !fake.tx_stamps && !nic ? SOURCE_NONE : fake.wire);
}

/* What RFC 8762 section 4.3 asks of a reply, and where it has to go. */
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
	assert_int_equal(r.seq, fake.forgetful ? 0 : fake.peer_replies[c->peer]);
	assert_int_equal(r.ssid, FAKE_SSID + c->peer);
	assert_int_equal(r.ttl, FAKE_TTL);
	assert_int_equal(r.tlv_malformed, c->bad_tlv);
	assert_int_equal(r.class_told, c->tos_told && fake.plan->class_of_service);
	if (r.class_told) {
		assert_int_equal(r.dscp, c->tos >> 2);
		assert_int_equal(r.ecn, c->tos & 3);
		assert_int_equal(r.reverse_dscp_refused, c->tos >> 2 != fake.plan->dscp);
	}
	check_times_told(&r, p);
	if (joins())
		check_follow_up(&r);
	else
		assert_false(r.follow_up_told);
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

/* ---- The calls ---------------------------------------------------------------------------------------------------- */

static void keep_sent(const struct msghdr *m, int flags)
{
	size_t bytes = m->msg_iov[0].iov_len;

	memset(&fake.last_sent, 0, sizeof(fake.last_sent));
	fake.last_sent.header = *m;
	fake.last_sent.bytes = bytes;
	fake.last_sent.flags = flags;
	if (bytes > sizeof(fake.last_sent.data))
		bytes = sizeof(fake.last_sent.data);
	memcpy(fake.last_sent.data, m->msg_iov[0].iov_base, bytes);
	if (m->msg_name)
		memcpy(&fake.last_sent.name, m->msg_name, sizeof(fake.last_sent.name));
	assert_true(m->msg_controllen <= sizeof(fake.last_sent.control));
	if (m->msg_controllen)
		memcpy(fake.last_sent.control, m->msg_control, m->msg_controllen);
}

/* As the kernel reads control messages; anything unknown or misplaced fails the test. */
static uint32_t check_sent_control(const struct msghdr *m, uint32_t counted)
{
	bool id_told = false, source_told = false, class_told = false;
	uint32_t id = counted;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR((struct msghdr *)m, h)) {
		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TS_OPT_ID) {
			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(id)));
			memcpy(&id, CMSG_DATA(h), sizeof(id));
			id_told = true;
		} else if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(info)));
			memcpy(&info, CMSG_DATA(h), sizeof(info));
			assert_int_equal(info.ipi_spec_dst.s_addr, htonl(FAKE_LOCAL));
			assert_int_equal(info.ipi_addr.s_addr, 0);
			assert_int_equal(info.ipi_ifindex, FAKE_INTERFACE);
			source_told = true;
		} else if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_TOS) {
			int tos;

			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(tos)));
			memcpy(&tos, CMSG_DATA(h), sizeof(tos));
			assert_int_equal(tos, fake.current.tos & ~3);
			class_told = true;
		} else {
			fail_msg("control message %d %d", h->cmsg_level, h->cmsg_type);
		}
	}
	assert_int_equal(id_told, fake.id_by_message);
	assert_int_equal(source_told, fake.role == ROLE_REFLECT);
	/* In the class in which it came, if that was asked for and could be known. */
	assert_int_equal(class_told, fake.role == ROLE_REFLECT && fake.current.tos_told && fake.plan->class_of_service);
	assert_int_equal(m->msg_name != NULL, fake.role == ROLE_REFLECT);
	/* Kernels that count by themselves count successful sends: the key must be the same for all kernels. */
	assert_int_equal(id, counted);
	return id;
}

static int refuse(uint32_t number, const struct fate *f)
{
	if (!f->send_error)
		return 0;
	if (fake.failed_number != number) {
		fake.failed_number = number;
		fake.failed_times = 0;
	}
	if (fake.failed_times == f->send_times)
		return 0;
	fake.failed_times++;
	return f->send_error;
}

static bool run_is_over(void)
{
	return fake.end && *fake.end != END_NOT_YET;
}

/* An attempt: the ring has come round to what was sent FLIGHTS packets ago. */
static void expect_attempt(void)
{
	fake.attempts_at_last_send = fake.sends;
	if (fake.role == ROLE_EMIT && fake.sends)
		conclude_packet(fake.sends - 1, run_is_over());
	if (fake.waiting && fake.sends - (uint64_t)(fake.waiting - fake.packet) >= FLIGHTS)
		end_waiting(FOLLOW_UP_LOST);
	if (fake.role == ROLE_REFLECT && fake.sends >= FLIGHTS)
		conclude_packet(fake.sends - FLIGHTS, false);
}

static int refused(int error, uint32_t number)
{
	if (error != EINTR) {
		fake.expect.refused++;
		if (fake.role == ROLE_REFLECT) {
			fake.expect.unanswered++;
			note_request_taken();
			reply_seen(number);
		}
	}
	errno = error;
	return -1;
}

static struct fake_packet *record_sent(uint32_t number, const struct fate *f)
{
	struct fake_packet *p = &fake.packet[fake.sends];

	assert_true(fake.sends < FAKE_PACKETS);
	*p = (struct fake_packet){ .number = number, .sent_ns = fake.now_ns, .latency_ns = f->latency_ns,
				   .warmup = fake.warmup_left > 0, .tx_user_ns = fake.real_read_ns };
	p->tx_wire_ns = fake_wire_ns(fake.now_ns + WIRE_DELAY_NS);
	if (fake.recorded)
		p->recorded_before = *fake.recorded;
	fake.expect.sent++;
	fake.last_event_ns = fake.now_ns;
	if (f->stop_ns)
		fake.stop_at_ns = fake.now_ns + f->stop_ns;
	return p;
}

static void probe_sent(const uint8_t *probe, size_t bytes, uint32_t id, const struct fate *f)
{
	const struct packet_plan plan = plan_of(0);
	const int ssid = fake.key ? 26 : 14;
	struct fake_packet *p = record_sent((uint32_t)fake.sends, f);

	p->closing = run_is_over();
	if (p->closing) {
		assert_non_null(fake.waiting);
		assert_int_equal(fake.expect.closing++, 0);
	}
	assert_int_equal(bytes, packet_plan_bytes(&plan));
	p->seq = get_be32(probe);
	assert_int_equal(p->seq, (uint32_t)(fake.first_id + fake.sends));
	assert_int_equal((probe[ssid] << 8) | probe[ssid + 1], FAKE_SSID);
	schedule_stamps(f, id, p->tx_wire_ns);
	schedule_probe(f, probe, bytes);
	p->set_ns = f->set_ns;
	set_after(f->set_ns, 0);
	fake.sends++;
}

static void reply_sent(const uint8_t *reply, size_t bytes, uint32_t id, const struct fate *f)
{
	const struct fake_message *c = &fake.current;
	struct fake_packet *p = record_sent(c->number, f);
	uint64_t n = fake.sends++;

	p->seq = get_be32(c->data);
	p->rx_wire_ns = c->wire_ns;
	p->rx_user_ns = fake.arrival_user_ns;
	p->rx_stamped = c->rx_stamped;
	/* The reply leaves when the script says. */
	p->tx_wire_ns = c->wire_ns + f->latency_ns + f->step_ns + (fake.wire == SOURCE_HARDWARE ? 0 : f->set_ns);
	/* Before T2 of user space there is no part of its latency. */
	p->set_ns = fake.tx_stamps || f->set_times == 1 ? f->set_ns : 0;
	check_reply(reply, bytes, p);
	expect_order();
	note_request_taken();
	fake.expect.answered++;
	fake.expect.malformed_tlv += c->bad_tlv;
	fake.warmup_left -= p->warmup;
	p->reply_seq = fake.peer_replies[c->peer]++;
	fake.peer_last[c->peer] = p;
	schedule_stamps(f, id, p->tx_wire_ns);
	if (!fake.tx_stamps)
		conclude_packet(n, false);
	if (fake.echo_port)
		echo_reply(reply, bytes);
	reply_seen(c->number);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	if (!fake.on)
		return __real_sendmsg(fd, m, flags);
	assert_int_equal(fd, FAKE_FD);
	assert_int_equal(m->msg_iovlen, 1);
	fake.send_calls++;
	advance(CALL_NS);
	fake.empty_turns = 0;
	keep_sent(m, flags);
	if (fake.manual) {
		errno = fake.send_errors[fake.send_errors_used];
		if (errno)
			fake.send_errors_used++;
		return errno ? -1 : (ssize_t)m->msg_iov[0].iov_len;
	}
	uint32_t number = fake.role == ROLE_EMIT ? (uint32_t)fake.sends : fake.current.number;
	struct fate f = fate_of(number);

	expect_attempt();
	int error = refuse(number, &f);

	if (error)
		return refused(error, number);
	uint32_t id = check_sent_control(m, (uint32_t)(fake.first_id + fake.sends));

	(fake.role == ROLE_EMIT ? probe_sent : reply_sent)(m->msg_iov[0].iov_base, m->msg_iov[0].iov_len, id, &f);
	return (ssize_t)m->msg_iov[0].iov_len;
}

static int64_t idle_step(void)
{
	int64_t step = CALL_NS + fake.empty_turns++ * 10;

	return step < fake.idle_ns_max ? step : fake.idle_ns_max;
}

/* Copies out as the kernel does: what does not fit is cut off and flagged. */
static ssize_t hand_over(struct msghdr *m, const struct fake_message *q)
{
	size_t room = m->msg_iovlen ? m->msg_iov[0].iov_len : 0;
	size_t bytes = q->bytes < room ? q->bytes : room;
	size_t known = bytes < sizeof(q->data) ? bytes : sizeof(q->data);

	if (bytes) {
		memcpy(m->msg_iov[0].iov_base, q->data, known);
		memset((uint8_t *)m->msg_iov[0].iov_base + known, 0, bytes - known);
	}
	m->msg_flags = q->flags | (q->bytes > room && !(q->flags & MSG_ERRQUEUE) ? MSG_TRUNC : 0);
	if (q->control_bytes > m->msg_controllen)
		m->msg_flags |= MSG_CTRUNC;
	else
		m->msg_controllen = q->control_bytes;
	memcpy(m->msg_control, q->control.octets, m->msg_controllen);
	if (m->msg_name) {
		assert_true(m->msg_namelen >= sizeof(q->from.in));
		memcpy(m->msg_name, &q->from, sizeof(q->from.in));
		m->msg_namelen = sizeof(q->from.in);
	}
	return (ssize_t)bytes;
}

static ssize_t take(struct msghdr *m, struct fake_message *q, bool error_queue)
{
	struct fake_queue *queue = error_queue ? &fake.error_queue : &fake.receive_queue;

	fake.empty_turns = 0;
	fake.last_event_ns = fake.now_ns;
	q->used = false;
	if (--queue->used == 0)
		queue->high = 0;
	if (q->error) {
		if (q->error != EINTR && !fake.manual)
			fake.expect.refused++;
		errno = q->error;
		return -1;
	}
	if (fake.manual)
		return hand_over(m, q);
	if (!error_queue && fake.role == ROLE_REFLECT && q->verdict == GOOD)
		control_class(q);
	if (error_queue)
		expect_stamp(q);
	else
		expect_datagram(q);
	return hand_over(m, q);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	if (!fake.on)
		return __real_recvmsg(fd, m, flags);

	bool error_queue = flags & MSG_ERRQUEUE;

	assert_int_equal(fd, FAKE_FD);
	assert_true(flags & MSG_DONTWAIT);
	fake.last_receive_flags = flags;
	if (error_queue)
		fake.fetch_calls++;
	else
		fake.receive_calls++;

	if (fake.role == ROLE_EMIT)
		peer_reflects();
	struct fake_message *q = ready_of(error_queue ? &fake.error_queue : &fake.receive_queue);

	advance(q ? CALL_NS : idle_step());
	if (!q) {
		errno = EAGAIN;
		return -1;
	}
	return take(m, q, error_queue);
}

/* The first thing that wakes the task up. */
static int64_t wakes_at(int64_t until_ns, bool readable)
{
	struct fake_message *first[] = { first_of(&fake.error_queue), readable ? first_of(&fake.receive_queue) : NULL };

	for (int i = 0; i < 2; i++)
		if (first[i] && first[i]->at_ns < until_ns)
			until_ns = first[i]->at_ns;
	for (int i = 0; i < fake.error_queue.high; i++) {
		struct fake_message *m = &fake.error_queue.message[i];

		if (m->used && m->asleep_ns && fake.now_ns + m->asleep_ns < until_ns)
			until_ns = fake.now_ns + m->asleep_ns;
	}
	return until_ns;
}

/* A reflector that is busy sleeps little, so that its stamps may come when it is about to give them up, where the room may
 * decide either way: between two readings of its clock, or while it sleeps. These come clearly late instead. */
#define EITHER_WAY_NS (700 * NS_PER_US)

static int64_t clear_of_timeout(const struct fake_message *m)
{
	uint64_t n = (uint32_t)(m->id - fake.first_id);

	if (fake.role == ROLE_EMIT || n >= fake.sends)
		return fake.now_ns;

	int64_t sent_ns = fake.packet[n].sent_ns, waited_ns = fake.now_ns - sent_ns;

	if (waited_ns < fake.timeout_ns - EITHER_WAY_NS || waited_ns > 2 * fake.timeout_ns)
		return fake.now_ns;
	return sent_ns + 2 * fake.timeout_ns + NS_PER_MS;
}

/* While the task sleeps, kernel threads of its CPU may run, which deliver what waited for that. */
static void sleep_at_most(int64_t limit_ns, bool readable)
{
	int64_t until_ns = wakes_at(fake.now_ns + limit_ns, readable);
	int64_t slept_ns = until_ns > fake.now_ns ? until_ns - fake.now_ns : 0;

	advance(slept_ns);
	fake.sleeps++;
	fake.slept_ns += slept_ns;
	for (int i = 0; i < fake.error_queue.high; i++) {
		struct fake_message *m = &fake.error_queue.message[i];

		if (!m->used || !m->asleep_ns)
			continue;
		m->asleep_ns = m->asleep_ns > slept_ns ? m->asleep_ns - slept_ns : 0;
		m->at_ns = clear_of_timeout(m);
	}
}

int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
	if (!fake.on)
		return __real_ppoll(p, n, limit, mask);
	assert_int_equal(n, 1);
	assert_int_equal(p->fd, FAKE_FD);
	assert_non_null(limit);
	assert_null(mask);
	fake.poll_calls++;
	fake.poll_events = p->events;
	fake.poll_limit_ns = limit->tv_sec * NS_PER_S + limit->tv_nsec;
	assert_true(limit->tv_nsec >= 0 && limit->tv_nsec < NS_PER_S);
	advance(CALL_NS);
	if (!ready_of(&fake.error_queue) && !((p->events & POLLIN) && ready_of(&fake.receive_queue)))
		sleep_at_most(fake.poll_limit_ns, p->events & POLLIN);
	p->revents = (short)((ready_of(&fake.error_queue) ? POLLERR : 0) | (ready_of(&fake.receive_queue) ? POLLIN : 0));
	return p->revents != 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake.on || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return __real_clock_gettime(clock, t);
	advance(CLOCK_NS);
	if (clock == CLOCK_MONOTONIC) {
		*t = timespec_of(fake.now_ns);
		return 0;
	}
	fake.real_read_ns = fake_real_ns(fake.now_ns);
	*t = timespec_of(fake.real_read_ns);
	if (fake.set_pending_ns && --fake.set_after_reads == 0)
		set_after(fake.set_pending_ns, 0);
	if (fake.user_rx_wanted) {
		fake.arrival_user_ns = fake.real_read_ns;
		if (fake.role == ROLE_EMIT)
			fake.packet[fake.sends - 1].rx_user_ns = fake.real_read_ns;
		fake.user_rx_wanted = false;
	}
	return 0;
}
