// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel of the fake, see fake_kernel.h: clocks, the two queues of a socket, and the four calls replaced. */
#include "fake_kernel.h"

#include "fake_inside.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
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

/* Durations of calls. An idle loop runs slower in virtual time, so that waiting needs few calls; all
 * timeouts of the modules are longer. */
#define CALL_NS 300
#define CLOCK_NS 20
#define IDLE_NS_MAX 5000

#define ASLEEP_NS 50000 /* delivery of a timestamp by a kernel thread */

/* The clocks are apart by odd amounts. */
#define REAL_OFFSET_NS (1700000000 * NS_PER_S + 123456789)
#define WIRE_OFFSET_NS (1700000037 * NS_PER_S + 987654321)

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
	fake.remote = wire == SOURCE_USER ? SOURCE_USER : SOURCE_HARDWARE;
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

/* Time passes. Only here a loop that waits for ever is detected. */
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

/* CLOCK_REALTIME is set now, or soon. */
void fake_set_after(int64_t set_ns, unsigned reads)
{
	fake.set_after_reads = reads;
	fake.set_pending_ns = reads ? set_ns : 0;
	fake.real_set_ns += reads ? 0 : set_ns;
}

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

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
	queue->first = NULL;
	if (queue->high <= i)
		queue->high = i + 1;
}

static struct fake_message *first_of(struct fake_queue *queue)
{
	struct fake_message *first = NULL;

	if (queue->first)
		return queue->first;
	for (int i = 0; i < queue->high; i++) {
		struct fake_message *m = &queue->message[i];

		if (!m->used || m->asleep_ns)
			continue;
		if (!first || m->at_ns < first->at_ns || (m->at_ns == first->at_ns && m->order < first->order))
			first = m;
	}
	queue->first = first;
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
	} payload = { .error.e = { .ee_errno = ENOMSG, .ee_origin = SO_EE_ORIGIN_TIMESTAMPING,
				   .ee_info = SCM_TSTAMP_SND,
				   .ee_data = id } };

	if (entry == ENTRY_ERRNO)
		payload.error.e.ee_errno = ECONNREFUSED;
	if (entry == ENTRY_ORIGIN)
		payload.error.e.ee_origin = SO_EE_ORIGIN_ZEROCOPY;
	if (entry == ENTRY_INFO)
		payload.error.e.ee_info = SCM_TSTAMP_ACK;
	if (entry == ENTRY_ID)
		payload.error.e.ee_info = SCM_TSTAMP_SCHED;
	/* As the kernel sends it: ee_info and ee_data are 0, like those of the first timestamp. */
	if (entry == ENTRY_ICMP)
		payload.error.e = (struct sock_extended_err){ .ee_errno = ECONNREFUSED, .ee_origin = SO_EE_ORIGIN_ICMP,
							      .ee_type = 3, .ee_code = 3 };
	fake_control(m, SOL_IP, IP_RECVERR, &payload, (size_t)((long)sizeof(payload.error) + change), 0);
}

void fake_put_error(int error, int64_t at_ns)
{
	struct fake_message m = { .at_ns = at_ns, .error = error };

	fake_put(&fake.receive_queue, &m);
}

/* ---- Deliveries -------------------------------------------------------------------------------------------------- */

static void put_stamp(uint32_t id, int64_t at_ns, int64_t wire_ns, enum fake_entry entry, bool asleep)
{
	struct fake_message m = { .at_ns = at_ns, .id = id, .wire_ns = wire_ns, .entry = entry,
				  .flags = MSG_ERRQUEUE };

	m.asleep_ns = asleep ? ASLEEP_NS : 0;
	if (entry != ENTRY_NO_STAMP && !(entry == ENTRY_ID && fake.wire == SOURCE_HARDWARE))
		control_stamps(&m, entry == ENTRY_ZERO ? 0 : wire_ns, entry == ENTRY_OTHER_KIND,
			       entry == ENTRY_STAMP_SHORT ? -8 : entry == ENTRY_STAMP_LONG ? 8 : 0);
	if (entry == ENTRY_CTRUNC)
		m.flags |= MSG_CTRUNC;
	/* m.id is that of a kernel that counts sent packets. */
	if (entry != ENTRY_NO_ERROR && entry != ENTRY_CTRUNC)
		control_error(&m, entry, id + fake.refused_ids,
			      entry == ENTRY_ERROR_SHORT ? -8 : entry == ENTRY_ERROR_LONG ? 8 : 0);
	if (entry == ENTRY_WITH_PACKET)
		m.flags |= MSG_TRUNC;
	fake_put(&fake.error_queue, &m);
}

#define DETAIL_QUEUE_NS 11
#define DETAIL_DRIVER_NS 31

/* An entry of the kernel's time beside the timestamp, taken so long after the send. */
static void put_detail(uint32_t id, bool at_driver, int64_t after_ns)
{
	struct fake_message m = { .at_ns = fake.now_ns, .id = id, .entry = ENTRY_ID, .flags = MSG_ERRQUEUE };
	struct stamps stamps = { .t[0] = timespec_of(fake_real_ns(fake.now_ns) + after_ns) };
	struct error_message error = { .e = { .ee_errno = ENOMSG, .ee_origin = SO_EE_ORIGIN_TIMESTAMPING,
					      .ee_info = at_driver ? SCM_TSTAMP_SND : SCM_TSTAMP_SCHED,
					      .ee_data = id + fake.refused_ids } };

	fake_control(&m, SOL_SOCKET, SCM_TIMESTAMPING, &stamps, sizeof(stamps), 0);
	fake_control(&m, SOL_IP, IP_RECVERR, &error, sizeof(error), 0);
	fake_put(&fake.error_queue, &m);
}

static void put_details(uint32_t id)
{
	const int64_t wrong_ns = fake.how == DETAIL_EARLY ? -NS_PER_MS : fake.how == DETAIL_LATER ? NS_PER_S : 0;
	const uint32_t other = fake.how == DETAIL_OTHER_ID ? 1U << 30 : 0;

	if (fake.how == DETAIL_NONE)
		return;
	fake.expect.stamp_unmatched += other || wrong_ns ? fake.detail : 0;
	fake.expect.stamp_duplicate += fake.how == DETAIL_TWICE && fake.detail > 1;
	for (int again = fake.how == DETAIL_TWICE; again >= 0; again--)
		put_detail(id + other, false, DETAIL_QUEUE_NS - again + wrong_ns);
	for (int again = fake.how == DETAIL_TWICE; again >= 0 && fake.detail > 1; again--)
		put_detail(id + other, true, DETAIL_DRIVER_NS + 1 - again + wrong_ns);
}

/* Both roles: error queue entries of a packet. A plausible wrong time would be visible in the latency. */
void fake_put_stamps(const struct fake_fate *f, uint32_t id, int64_t wire_ns)
{
	if (!fake.tx_stamps)
		return;
	if (fake.detail && fake.how != DETAIL_AFTER)
		put_details(id);
	else if (fake.id_asked && !f->no_id)
		put_stamp(id, fake.now_ns, wire_ns - 500, ENTRY_ID, false);
	for (unsigned i = 0; i < f->tx_extras; i++)
		put_stamp(id, fake.now_ns, wire_ns - 1111, f->tx_extra[i], false);
	for (unsigned i = 0; i < f->tx_extra_ids; i++)
		put_stamp((uint32_t)(id + f->tx_extra_id[i]), fake.now_ns, wire_ns - 2222, ENTRY_GOOD, false);
	if (f->tx_none)
		return;
	put_stamp((uint32_t)(id + f->tx_id), fake.now_ns + f->tx_slow_ns, wire_ns + f->tx_time_ns, f->tx, f->tx_asleep);
	if (fake.detail && fake.how == DETAIL_AFTER)
		put_details(id);
	if (f->tx_twice)
		put_stamp(id, fake.now_ns + f->tx_slow_ns + 1, wire_ns + 3333, ENTRY_GOOD, false);
}

void fake_control_arrival(struct fake_message *m, enum fake_rx rx)
{
	m->rx_stamped = rx == RX_GOOD && fake.wire != SOURCE_USER;
	if (rx == RX_CTRUNC)
		m->flags |= MSG_CTRUNC;
	if (rx != RX_ABSENT && rx != RX_CTRUNC && fake.wire != SOURCE_USER)
		control_stamps(m, rx == RX_ZERO ? 0 : m->wire_ns, rx == RX_OTHER_KIND,
			       rx == RX_SHORT ? -8 : rx == RX_LONG ? 8 : 0);
}

/* The kernel reports the class of received packets once requested. */
static void control_class(struct fake_message *m)
{
	if (!fake.tos_reported || m->control_bytes + CMSG_SPACE(1) > sizeof(m->control))
		return;
	m->tos_reported = true;
	fake_control(m, SOL_IP, IP_TOS, &m->tos, 1, 0);
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

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

/* As the kernel reads control messages; anything unknown or in a wrong position fails the test. */
static uint32_t check_sent_control(const struct msghdr *m, uint32_t counted)
{
	bool id_reported = false, source_reported = false, class_reported = false;
	uint32_t id = counted;

	fake.id_asked = false;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR((struct msghdr *)m, h)) {
		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TS_OPT_ID) {
			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(id)));
			memcpy(&id, CMSG_DATA(h), sizeof(id));
			id_reported = true;
		} else if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SO_TIMESTAMPING) {
			uint32_t flags, own = fake.wire == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_HARDWARE :
				SOF_TIMESTAMPING_TX_SOFTWARE;

			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(flags)));
			memcpy(&flags, CMSG_DATA(h), sizeof(flags));
			own |= fake.detail > 1 ? SOF_TIMESTAMPING_TX_SOFTWARE : 0;
			assert_int_equal(flags, SOF_TIMESTAMPING_TX_SCHED | own);
			assert_false(fake.id_by_message);
			fake.id_asked = true;
			fake.ids_asked++;
		} else if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(info)));
			memcpy(&info, CMSG_DATA(h), sizeof(info));
			assert_int_equal(info.ipi_spec_dst.s_addr, htonl(FAKE_LOCAL));
			assert_int_equal(info.ipi_addr.s_addr, 0);
			assert_int_equal(info.ipi_ifindex, FAKE_INTERFACE);
			source_reported = true;
		} else if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_TOS) {
			int tos;

			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(tos)));
			memcpy(&tos, CMSG_DATA(h), sizeof(tos));
			assert_int_equal(tos, fake.current.tos & ~3);
			class_reported = true;
		} else {
			fail_msg("control message %d %d", h->cmsg_level, h->cmsg_type);
		}
	}
	assert_int_equal(id_reported, fake.id_by_message);
	assert_int_equal(source_reported, fake.role == ROLE_REFLECT);
	/* In the class of the request, if that was requested and known. */
	assert_int_equal(class_reported, fake.role == ROLE_REFLECT && fake.current.tos_reported &&
			 fake.plan->class_of_service);
	assert_int_equal(m->msg_name != NULL, fake.role == ROLE_REFLECT);
	/* Kernels that count by themselves count successful sends: the key must be the same for all kernels. */
	assert_int_equal(id, counted);
	return id;
}

static int refuse(uint32_t number, const struct fake_fate *f)
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

static int refused(int error, uint32_t number)
{
	if (error != EINTR) {
		fake.expect.refused++;
		fake.refused_ids += fake.counts_refused && !fake.id_by_message;
		if (fake.role == ROLE_REFLECT)
			fake_reply_refused(number);
	}
	errno = error;
	return -1;
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
	struct fake_fate f = fake_fate_of(number);

	fake_expect_attempt();
	int error = refuse(number, &f);

	if (error)
		return refused(error, number);
	uint32_t id = check_sent_control(m, (uint32_t)(fake.first_id + fake.sends));

	(fake.role == ROLE_EMIT ? fake_probe_sent : fake_reply_sent)(m->msg_iov[0].iov_base, m->msg_iov[0].iov_len, id,
								     &f);
	return (ssize_t)m->msg_iov[0].iov_len;
}

ssize_t __wrap_send(int fd, const void *packet, size_t bytes, int flags)
{
	struct iovec payload = { .iov_base = (void *)packet, .iov_len = bytes };
	const struct msghdr m = { .msg_iov = &payload, .msg_iovlen = 1 };

	return __wrap_sendmsg(fd, &m, flags);
}

static int64_t idle_step(void)
{
	int64_t step = CALL_NS + fake.empty_turns++ * 10;

	return step < fake.idle_ns_max ? step : fake.idle_ns_max;
}

/* Copies out like the kernel: excess octets are truncated and flagged. */
static ssize_t hand_over(struct msghdr *m, const struct fake_message *q)
{
	size_t space = m->msg_iovlen ? m->msg_iov[0].iov_len : 0;
	size_t bytes = q->bytes < space ? q->bytes : space;
	size_t known = bytes < sizeof(q->data) ? bytes : sizeof(q->data);

	if (bytes) {
		memcpy(m->msg_iov[0].iov_base, q->data, known);
		memset((uint8_t *)m->msg_iov[0].iov_base + known, 0, bytes - known);
	}
	m->msg_flags = q->flags | (q->bytes > space && !(q->flags & MSG_ERRQUEUE) ? MSG_TRUNC : 0);
	if (q->control_bytes > m->msg_controllen)
		m->msg_flags |= MSG_CTRUNC;
	else
		m->msg_controllen = q->control_bytes;
	if (m->msg_control)
		memcpy(m->msg_control, q->control.octets, m->msg_controllen);
	if (m->msg_name) {
		assert_true(m->msg_namelen >= address_bytes(&q->from));
		memcpy(m->msg_name, &q->from, address_bytes(&q->from));
		m->msg_namelen = address_bytes(&q->from);
	}
	return (ssize_t)bytes;
}

static ssize_t take(struct msghdr *m, struct fake_message *q, bool error_queue)
{
	struct fake_queue *queue = error_queue ? &fake.error_queue : &fake.receive_queue;
	bool refused = false;

	fake.empty_turns = 0;
	fake.last_event_ns = fake.now_ns;
	q->used = false;
	queue->first = NULL;
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
	if (!error_queue && fake.role == ROLE_REFLECT && fake.judge) {
		refused = q->verdict == GOOD;
		q->verdict = fake.judge(q);
		refused &= q->verdict != GOOD;
	}
	if (!error_queue && fake.role == ROLE_REFLECT && q->verdict == GOOD)
		control_class(q);
	if (error_queue)
		fake_expect_stamp(q);
	else
		fake_expect_datagram(q);

	const uint32_t number = q->number;
	ssize_t bytes = hand_over(m, q);

	/* Its queue entry may be reused by the next request. */
	if (refused)
		fake_request_refused(number);
	return bytes;
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
		fake_peer_reflects();
	struct fake_message *q = ready_of(error_queue ? &fake.error_queue : &fake.receive_queue);

	advance(q ? CALL_NS : idle_step());
	if (!q) {
		errno = EAGAIN;
		return -1;
	}
	return take(m, q, error_queue);
}

ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags)
{
	struct iovec payload = { .iov_base = to, .iov_len = bytes };
	struct msghdr m = { .msg_iov = &payload, .msg_iovlen = 1 };
	ssize_t got = __wrap_recvmsg(fd, &m, flags);

	assert_true(!fake.on || got < 0 || fake.bare);
	assert_int_equal(got < 0 ? 0 : m.msg_flags, 0); /* not reported to the caller */
	return got;
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

/* A busy reflector sleeps little, so timestamps may arrive close to their timeout, where both results are
 * correct: between two clock readings, or during a sleep. These arrive clearly late instead. */
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

/* While the task sleeps, kernel threads of its CPU may run and deliver pending timestamps. */
static void sleep_at_most(int64_t limit_ns, bool readable)
{
	int64_t until_ns = wakes_at(fake.now_ns + limit_ns, readable);
	int64_t slept_ns = until_ns > fake.now_ns ? until_ns - fake.now_ns : 0;

	advance(slept_ns);
	fake.sleeps++;
	fake.slept_ns += slept_ns;
	fake.error_queue.first = NULL;
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
	p->revents = (short)((ready_of(&fake.error_queue) ? POLLERR : 0) | (ready_of(&fake.receive_queue) ? POLLIN :
									    0));
	return p->revents != 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!fake.on || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME && clock != clock_of_fd(FAKE_PHC_FD)))
		return __real_clock_gettime(clock, t);
	advance(CLOCK_NS);
	if (clock == clock_of_fd(FAKE_PHC_FD)) {
		*t = timespec_of(fake_wire_ns(fake.now_ns) + fake.phc_set_ns);
		return 0;
	}
	if (clock == CLOCK_MONOTONIC) {
		*t = timespec_of(fake.now_ns);
		return 0;
	}
	fake.real_read_ns = fake_real_ns(fake.now_ns);
	*t = timespec_of(fake.real_read_ns);
	if (fake.set_pending_ns && --fake.set_after_reads == 0)
		fake_set_after(fake.set_pending_ns, 0);
	if (fake.user_rx_wanted) {
		fake.arrival_user_ns = fake.real_read_ns;
		if (fake.role == ROLE_EMIT)
			fake.packet[fake.sends - 1].rx_user_ns = fake.real_read_ns;
		fake.user_rx_wanted = false;
	}
	return 0;
}
