/* build: wraps=sendmsg,recvmsg,ppoll,clock_gettime,clock_set_seen sources=wire/timestamping.c,wire/peer_socket.c,wire/packet.c,wire/tlv*.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,measure/exchange.c,measure/emit.c,measure/probe.c,measure/idle_sleep.c,measure/window*.c,measure/pace.c,measure/join.c,measure/reflect.c,measure/freeze.c,measure/tx_match.c,measure/rules.c,measure/ipdv.c,measure/source_port.c,@result,host/counters/pmc.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reflector's thread does not run for a while, requests wait, and CLOCK_REALTIME is set meanwhile, or is not. A
 * small kernel with that in it: time is virtual, and the truth about each response is known. Whatever is recorded must
 * be true, and without a step everything must be recorded.
 */
#include "measure/sample.c"

#include "util.h"

#include "result/log.h"
#include "wire/packet.h"
#include "wire/session.h"
#include "wire/socket.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CALL_NS 300
#define IDLE_NS_MAX 5000 /* an idle loop is let run faster, as in fake_kernel.c */
#define WIRE_NS 700 /* from sendmsg to T3 */
#define REAL_OFFSET_NS (1700000000 * NS_PER_S)
#define REQUESTS_MAX 100000
#define EVENTS_MAX 8
#define SSID 0x1234

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
bool __wrap_clock_set_seen(const struct clock_set *c);

/* Both in time since the begin of the run; a stall has this length, a step this size. */
struct event {
	int64_t at_ns, ns;
};

static struct {
	int64_t now_ns;
	struct event stall[EVENTS_MAX], set[EVENTS_MAX];
	bool reported; /* the kernel reports steps */
	int64_t prints_after_ns; /* delay of its report */
	int64_t asked_ns;
	unsigned asked, clock_reads, empty_turns;
	unsigned requests, received, sent, stamps_read;
	int64_t arrives_ns[REQUESTS_MAX], left_ns[REQUESTS_MAX];
	_Atomic int stop;
} kernel;

static struct options options;
static struct channel channel;
static struct histogram histogram;
static struct log log_of_run;
static struct sessions sessions;
static struct exchange x;
static struct sample record[REQUESTS_MAX];
static void *memory;

int socket_want_tos(struct channel *c)
{
	(void)c;
	return 0;
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

static int64_t real_of(int64_t ns)
{
	int64_t real_ns = REAL_OFFSET_NS + ns;

	for (int i = 0; i < EVENTS_MAX; i++)
		real_ns += kernel.set[i].at_ns <= ns ? kernel.set[i].ns : 0;
	return real_ns;
}

static void advance(int64_t ns)
{
	const int64_t before_ns = kernel.now_ns;

	kernel.now_ns += ns;
	for (int i = 0; i < EVENTS_MAX; i++)
		if (kernel.stall[i].at_ns > before_ns && kernel.stall[i].at_ns <= kernel.now_ns)
			kernel.now_ns += kernel.stall[i].ns;
	if (kernel.received == kernel.requests && kernel.stamps_read >= (channel.tx_stamps ? kernel.sent : 0))
		kernel.stop = 1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns;

	kernel.clock_reads++;
	advance(20);
	ns = clock == CLOCK_MONOTONIC ? kernel.now_ns : real_of(kernel.now_ns);
	*t = (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
	return 0;
}

bool __wrap_clock_set_seen(const struct clock_set *c)
{
	const int64_t until_ns = kernel.now_ns - kernel.prints_after_ns;
	bool seen = false;

	assert_ptr_equal(c, x.clock_set);
	kernel.asked++;
	for (int i = 0; i < EVENTS_MAX; i++)
		seen |= kernel.set[i].ns && kernel.set[i].at_ns > kernel.asked_ns && kernel.set[i].at_ns <= until_ns;
	kernel.asked_ns = until_ns;
	advance(CALL_NS);
	return seen;
}

static void put(struct msghdr *m, size_t *used, int level, int type, const void *payload, size_t bytes)
{
	struct cmsghdr *h = (struct cmsghdr *)((char *)m->msg_control + *used);

	assert_true(*used + CMSG_SPACE(bytes) <= m->msg_controllen);
	*h = (struct cmsghdr){ .cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(bytes) };
	memcpy(CMSG_DATA(h), payload, bytes);
	*used += CMSG_SPACE(bytes);
}

static void put_stamp(struct msghdr *m, size_t *used, int64_t ns)
{
	const struct timespec stamps[3] = { { .tv_sec = real_of(ns) / NS_PER_S, .tv_nsec = real_of(ns) % NS_PER_S } };

	if (channel.wire == SOURCE_KERNEL)
		put(m, used, SOL_SOCKET, SCM_TIMESTAMPING, stamps, sizeof(stamps));
}

static ssize_t receive_request(struct msghdr *m)
{
	const struct packet_plan plan = { .ssid = SSID };
	const struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(0x0a000002),
					 .ipi_addr.s_addr = htonl(0x0a000002) };
	const int64_t at_ns = kernel.arrives_ns[kernel.received];
	const int ttl = 64;
	struct sockaddr_in *from = m->msg_name;
	size_t used = 0;

	packet_prepare(m->msg_iov[0].iov_base, &plan);
	packet_probe(m->msg_iov[0].iov_base, &plan, kernel.received++, 1);
	*from = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(40000),
				      .sin_addr.s_addr = htonl(0x0a000001) };
	put_stamp(m, &used, at_ns);
	put(m, &used, SOL_IP, IP_TTL, &ttl, sizeof(ttl));
	put(m, &used, SOL_IP, IP_PKTINFO, &info, sizeof(info));
	m->msg_controllen = used;
	m->msg_flags = 0;
	return STAMP_BASE_BYTES;
}

static ssize_t fetch_stamp(struct msghdr *m)
{
	const struct {
		struct sock_extended_err e;
		struct sockaddr_in from;
	} error = { .e = { .ee_errno = ENOMSG, .ee_origin = SO_EE_ORIGIN_TIMESTAMPING, .ee_info = SCM_TSTAMP_SND,
			   .ee_data = kernel.stamps_read } };
	size_t used = 0;

	put_stamp(m, &used, kernel.left_ns[kernel.stamps_read++]);
	put(m, &used, SOL_IP, IP_RECVERR, &error, sizeof(error));
	m->msg_controllen = used;
	m->msg_flags = MSG_ERRQUEUE;
	return 0;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	const int64_t idle_ns = CALL_NS + kernel.empty_turns * 10;

	(void)fd;
	advance(flags & MSG_ERRQUEUE ? CALL_NS : idle_ns < IDLE_NS_MAX ? idle_ns : IDLE_NS_MAX);
	if (flags & MSG_ERRQUEUE) {
		if (kernel.stamps_read < kernel.sent && kernel.left_ns[kernel.stamps_read] <= kernel.now_ns)
			return fetch_stamp(m);
	} else if (kernel.received < kernel.requests && kernel.arrives_ns[kernel.received] <= kernel.now_ns) {
		kernel.empty_turns = 0;
		return receive_request(m);
	} else {
		kernel.empty_turns++;
	}
	errno = EAGAIN;
	return -1;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	(void)fd;
	(void)flags;
	advance(CALL_NS);
	kernel.left_ns[kernel.sent++] = kernel.now_ns + WIRE_NS;
	return (ssize_t)m->msg_iov[0].iov_len;
}

int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
	const int64_t ns = limit->tv_sec * NS_PER_S + limit->tv_nsec;
	const int64_t arrives_ns = kernel.received < kernel.requests ?
				   kernel.arrives_ns[kernel.received] - kernel.now_ns : INT64_MAX;

	(void)mask;
	if (arrives_ns >= ns || !(p->events & POLLIN)) {
		advance(ns);
		return 0;
	}
	advance(arrives_ns > 0 ? arrives_ns : 0);
	for (nfds_t i = 0; i < n; i++)
		p[i].revents = POLLIN;
	return 1;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

#define TELLS 1
#define SILENT 0

static void begin(enum source wire, bool prints)
{
	static const struct transport ipv4 = { .ip_level = SOL_IP, .recverr_type = IP_RECVERR, .recverr_bytes = 16 + 16,
					       .ttl_type = IP_TTL, .pktinfo_type = IP_PKTINFO,
					       .pktinfo_bytes = sizeof(struct in_pktinfo), .tos_type = IP_TOS,
					       .tos_bytes = 1 };
	static const struct clock_set clock_set = { .fd = -1 };
	const size_t bytes = histogram_layout(&histogram, 100 * NS_PER_US, 1, HISTOGRAM_OVERFLOW_STORE);

	if (!memory)
		memory = malloc(bytes);
	memset(memory, 0, bytes);
	memset(&kernel, 0, sizeof(kernel));
	memset(&channel, 0, sizeof(channel));
	histogram_assign(&histogram, memory);
	log_assign(&log_of_run, record, REQUESTS_MAX, false, false);
	sessions_init(&sessions, SESSIONS_MAX, 0, (const uint64_t[SESSION_SECRETS]){ 1, 2 });
	options = (struct options){ .role = ROLE_REFLECT, .timeout_ns = 100 * NS_PER_MS, .port = STAMP_PORT,
				    .overflow_ns = 100 * NS_PER_US,
				    .bucket_ns = NS_PER_US, .stamp = wire, .plain = true, .ttl = 64, .dscp = -1,
				    .synced_ns = -1 };
	channel.at = &channel.peer_socket[0];
	channel.peer_sockets = channel.listeners = 1;
	channel.transport = channel.peer_socket[0].transport = &ipv4;
	channel.wire = wire;
	channel.tx_stamps = wire != SOURCE_USER;
	channel.peer_socket[0].id_by_message = true; /* this kernel does not report requested ids */
	x = (struct exchange){ .channel = &channel, .result.histogram = &histogram, .log = &log_of_run,
			       .sessions = &sessions,
			       .options = &options, .result.options = &options, .stop = &kernel.stop };
	x.clock_set = prints ? &clock_set : NULL;
	kernel.now_ns = NS_PER_S;
}

/* Requests come every `gap_ns`, from that long after the begin. */
static void requests(unsigned n, int64_t gap_ns)
{
	kernel.requests = n;
	for (unsigned i = 0; i < n; i++)
		kernel.arrives_ns[i] = NS_PER_S + (i + 1) * gap_ns;
}

static void stall(int i, int64_t at_ns, int64_t ns)
{
	kernel.stall[i] = (struct event){ NS_PER_S + at_ns, ns };
}

static void set(int i, int64_t at_ns, int64_t ns)
{
	kernel.set[i] = (struct event){ NS_PER_S + at_ns, ns };
}

/* Runs, and holds every record against the truth. Returns how many were left out. */
static unsigned left_out(void)
{
	const struct account *a = &x.result.account;
	unsigned stepped;

	exchange_run(&x);
	stepped = (unsigned)counter_get(&a->stepped);
	assert_int_equal(counter_get(&a->received), kernel.requests);
	assert_int_equal(counter_get(&a->recorded) + stepped, kernel.requests);
	assert_int_equal(counter_get(&a->negative), 0);
	assert_true(account_balances(a, ROLE_REFLECT, &histogram, log_offered(&log_of_run)));
	for (uint64_t i = 0; i < log_ready(&log_of_run); i++) {
		const struct sample *s = log_at(&log_of_run, i);
		const int64_t true_ns = kernel.left_ns[s->seq] - kernel.arrives_ns[s->seq];

		if (channel.tx_stamps && s->latency_ns != true_ns)
			fail_msg("#%u was recorded with %lld ns, and it was %lld", s->seq, (long long)s->latency_ns,
				 (long long)true_ns);
		if (!channel.tx_stamps)
			assert_in_range(s->latency_ns, 0, 100 * NS_PER_US);
	}
	return stepped;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

#define WAITED 288 /* as many as a socket holds */
#define GAP_NS (10 * NS_PER_MS)

/* The thread stands for `stall_ns` from 5 ms on, while requests come every 10 ms. */
static void run_begins(enum source wire, bool prints, int64_t stall_ns)
{
	begin(wire, prints);
	requests(WAITED + 5, GAP_NS);
	stall(0, 5 * NS_PER_MS, stall_ns);
}

/* For any length: queued packets are recorded with their queueing time. */
static void a_stall_alone_leaves_nothing_out(void **state)
{
	static const int64_t stalls_ns[] = { 50 * NS_PER_US, 900 * NS_PER_US, 2 * NS_PER_MS, 30 * NS_PER_MS, NS_PER_S,
					     WAITED * GAP_NS };

	(void)state;
	for (enum source wire = SOURCE_USER; wire <= SOURCE_KERNEL; wire++) {
		for (size_t i = 0; i < COUNT_OF(stalls_ns); i++) {
			for (int prints = SILENT; prints <= TELLS; prints++) {
				run_begins(wire, prints, stalls_ns[i]);
				assert_int_equal(left_out(), 0);
			}
		}
	}
	/* Nor consecutive stalls. */
	run_begins(SOURCE_KERNEL, TELLS, NS_PER_S);
	for (int i = 1; i < EVENTS_MAX; i++)
		stall(i, NS_PER_S + 10 * NS_PER_MS + i * 100 * NS_PER_US, 20 * NS_PER_MS);
	assert_int_equal(left_out(), 0);
}

/* From 10 ms on; except before the first answer, and during an idle sleep. */
static void a_stall_is_counted(void **state)
{
	static const int64_t stalls_ns[] = { 9 * NS_PER_MS, 11 * NS_PER_MS, 25 * NS_PER_MS };

	(void)state;
	for (enum source wire = SOURCE_USER; wire <= SOURCE_KERNEL; wire++) {
		begin(wire, TELLS);
		requests(40, GAP_NS);
		kernel.arrives_ns[39] += 5 * NS_PER_S;
		stall(0, 5 * NS_PER_MS, 100 * NS_PER_MS);
		for (int i = 0; i < 3; i++)
			stall(i + 1, 200 * NS_PER_MS + i * 40 * NS_PER_MS + 700, stalls_ns[i]);
		assert_int_equal(left_out(), 0);
		assert_int_equal(x.result.stalls.count, 2);
		/* The clock is read once in 64 turns. */
		assert_in_range(x.result.stalls.total_ns, 36 * NS_PER_MS, 36 * NS_PER_MS + 2 * 64 * IDLE_NS_MAX);
		assert_in_range(x.result.stalls.longest_ns, 25 * NS_PER_MS, 25 * NS_PER_MS + 64 * IDLE_NS_MAX);
		assert_in_range(x.result.stalls.longest_at_ns, NS_PER_S + 280 * NS_PER_MS - 64 * IDLE_NS_MAX,
				NS_PER_S + 280 * NS_PER_MS + 700);
	}
}

/* Once in the middle: earlier times are wrong by it. Later times are not, but cannot be distinguished. */
static void a_step_in_a_stall(void **state)
{
	static const int64_t sets_ns[] = { NS_PER_S, -NS_PER_S, 50 * NS_PER_US, -50 * NS_PER_US, 3600 * NS_PER_S,
					   -3600 * NS_PER_S };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sets_ns); i++) {
		for (int prints = SILENT; prints <= TELLS; prints++) {
			run_begins(SOURCE_KERNEL, prints, WAITED * GAP_NS);
			set(0, WAITED / 2 * GAP_NS, sets_ns[i]);
			assert_in_range(left_out(), WAITED / 2, WAITED + 1);
		}
		/* Times of user space are read when it runs again. */
		run_begins(SOURCE_USER, TELLS, WAITED * GAP_NS);
		set(0, WAITED / 2 * GAP_NS, sets_ns[i]);
		assert_in_range(left_out(), 0, 1);
	}
}

/* By as much as some of them waited: these look as if they had not. Steps apart by 90 us, so that some wait is always
 * hidden. */
static void a_step_that_hides_the_wait(void **state)
{
	(void)state;
	for (int64_t more_ns = 0; more_ns < GAP_NS; more_ns += 90 * NS_PER_US) {
		run_begins(SOURCE_KERNEL, TELLS, WAITED * GAP_NS);
		set(0, WAITED / 2 * GAP_NS, -NS_PER_S - more_ns);
		assert_in_range(left_out(), WAITED / 2, WAITED + 1);
	}
}

/* And if no earlier time looks odd. */
static void a_step_that_hides_the_only_wait(void **state)
{
	(void)state;
	begin(SOURCE_KERNEL, TELLS);
	requests(3, 7 * NS_PER_MS);
	stall(0, 12 * NS_PER_MS, 6 * NS_PER_MS);
	set(0, 16 * NS_PER_MS, -4 * NS_PER_MS + 50 * NS_PER_US);
	assert_int_equal(left_out(), 1);
}

/* Readings of the clock before and after it agree. */
static void opposite_steps_in_one_stall(void **state)
{
	(void)state;
	for (int64_t set_ns = -NS_PER_S; set_ns <= NS_PER_S; set_ns += 2 * NS_PER_S) {
		run_begins(SOURCE_KERNEL, TELLS, WAITED * GAP_NS);
		set(0, 50 * GAP_NS, set_ns);
		set(1, 150 * GAP_NS, -set_ns);
		assert_in_range(left_out(), 150, WAITED + 1);
		/* It is between the two user-space times of a packet. */
		begin(SOURCE_USER, TELLS);
		requests(100, GAP_NS);
		stall(0, 10 * GAP_NS + 700, NS_PER_S);
		set(0, 20 * GAP_NS, set_ns);
		set(1, 30 * GAP_NS, -set_ns);
		exchange_run(&x);
		for (uint64_t i = 0; i < log_ready(&log_of_run); i++)
			assert_true(log_at(&log_of_run, i)->latency_ns < 100 * NS_PER_US ||
				    llabs(log_at(&log_of_run, i)->latency_ns - NS_PER_S) < 100 * NS_PER_US);
	}
}

/* During the run: the packet in flight, and those at the adjacent readings. */
static void a_step_without_a_stall(void **state)
{
	(void)state;
	for (int64_t set_ns = -NS_PER_S; set_ns <= NS_PER_S; set_ns += 2 * NS_PER_S) {
		for (int64_t at_ns = -1000; at_ns <= 3000; at_ns += 50) {
			begin(SOURCE_KERNEL, TELLS);
			requests(1000, 5 * NS_PER_US);
			kernel.prints_after_ns = 100 * NS_PER_US;
			set(0, 2500 * NS_PER_US + at_ns, set_ns);
			assert_in_range(left_out(), 0, 3);
		}
	}
}

/* An old clock step is not a reason to leave out a slow sample, whether it was reported at that time or
 * not. */
static void what_is_slow_after_a_step(void **state)
{
	(void)state;
	for (int opposite = 0; opposite < 2; opposite++) {
		begin(SOURCE_KERNEL, TELLS);
		requests(400, 200 * NS_PER_US);
		set(0, 10030 * NS_PER_US, NS_PER_S);
		if (opposite)
			set(1, 10040 * NS_PER_US, -NS_PER_S);
		stall(0, 40 * NS_PER_MS, 2 * NS_PER_MS);
		assert_in_range(left_out(), 0, 1);
		assert_true(histogram.max_ns > NS_PER_MS);
	}
}

/* More requests than it can answer: the socket is never empty. Some are left out after a step, and not all the rest. */
static void a_socket_that_is_never_empty(void **state)
{
	(void)state;
	begin(SOURCE_KERNEL, TELLS);
	requests(REQUESTS_MAX, 500);
	set(0, 5 * NS_PER_MS, NS_PER_S);
	assert_in_range(left_out(), 1, QUEUE_MAX + 5000);
}

/* Number of clock readings and queries of the kernel: as before without a pause, and not much more when
 * every sample is odd. */
static void what_it_costs(void **state)
{
	unsigned reads;

	(void)state;
	begin(SOURCE_KERNEL, TELLS);
	requests(10000, 10 * NS_PER_US);
	assert_int_equal(left_out(), 0);
	reads = kernel.clock_reads;
	assert_in_range(kernel.asked, 5, 13); /* 100 ms */
	begin(SOURCE_KERNEL, SILENT);
	requests(10000, 10 * NS_PER_US);
	assert_int_equal(left_out(), 0);
	assert_in_range(kernel.clock_reads, reads - reads / 20, reads + reads / 20);
	begin(SOURCE_KERNEL, TELLS);
	options.threshold_ns = 1;
	options.keep_going = true;
	requests(10000, 10 * NS_PER_US);
	assert_int_equal(left_out(), 0);
	assert_in_range(kernel.asked, 50, 110);
}

static struct flight probe_now(void)
{
	return (struct flight){ .base_ns = kernel.now_ns, .sent_ns = kernel.now_ns,
				.sent_real_ns = real_of(kernel.now_ns),
				.sent_by_ns = kernel.now_ns };
}

/* It reads no clocks besides its probes, and queries the kernel like a reflector. */
static void what_an_emitter_asks(void **state)
{
	struct flight f;

	(void)state;
	begin(SOURCE_KERNEL, TELLS);
	x.set_ns = INT64_MIN;
	set(0, 3 * NS_PER_S, NS_PER_S);
	set(1, 4 * NS_PER_S, -NS_PER_S);
	set(2, 6 * NS_PER_S, NS_PER_S);
	f = probe_now();
	kernel.now_ns += 2 * NS_PER_S;
	assert_false(sample_was_spoilt(&x, &f)); /* a stall alone */
	f = probe_now();
	kernel.now_ns += 3 * NS_PER_S;
	assert_false(sample_was_set(&f)); /* not shown by readings */
	assert_true(sample_was_spoilt(&x, &f));
	f = probe_now();
	kernel.now_ns += NS_PER_MS;
	assert_false(sample_was_spoilt(&x, &f)); /* it is over */
	f = probe_now();
	kernel.now_ns += NS_PER_S;
	x.clock_set = NULL;
	assert_true(sample_was_spoilt(&x, &f)); /* by readings alone */
}

static int free_memory(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

/* A request that waited for this thread has a poll gap at least that long, every other of two turns at most. A stall
 * without a request in it is between exchanges. */
static void poll_gaps_are_the_stalls(void **state)
{
	enum { WAIT_NS = 25 * NS_PER_MS, SHORT_NS = 2 * NS_PER_MS };
	const int64_t begin_ns = NS_PER_S + 55 * NS_PER_MS, end_ns = begin_ns + WAIT_NS + IDLE_NS_MAX;
	struct histogram within;
	unsigned waited = 0;

	(void)state;
	begin(SOURCE_KERNEL, TELLS);
	void *gaps = calloc(1, histogram_layout(&within, 100 * NS_PER_US, 10, HISTOGRAM_OVERFLOW_STORE));

	histogram_assign(&within, gaps);
	x.result.poll_gaps.within = &within;
	requests(50, GAP_NS);
	stall(0, 55 * NS_PER_MS, WAIT_NS);
	stall(1, 155 * NS_PER_MS, SHORT_NS);
	assert_int_equal(left_out(), 0);
	for (uint64_t i = 0; i < log_ready(&log_of_run); i++) {
		const struct sample *s = log_at(&log_of_run, i);
		const int64_t arrives_ns = kernel.arrives_ns[s->seq];

		if (arrives_ns >= begin_ns && arrives_ns < end_ns) {
			assert_in_range(s->poll_gap_ns, WAIT_NS, WAIT_NS + 50 * NS_PER_US);
			waited++;
		} else {
			assert_in_range(s->poll_gap_ns, CALL_NS, 3 * IDLE_NS_MAX);
		}
	}
	assert_int_equal(waited, 3);
	assert_int_equal(within.count, 50);
	assert_in_range(within.max_ns, WAIT_NS, WAIT_NS + 10 * NS_PER_US);
	assert_int_equal(x.result.poll_gaps.between.count, 1);
	assert_in_range(x.result.poll_gaps.between.longest_ns, SHORT_NS, SHORT_NS + 10 * NS_PER_US);
	assert_in_range(x.result.poll_gaps.between.longest_at_ns, NS_PER_S + 150 * NS_PER_MS, NS_PER_S + 160 * NS_PER_MS);
	free(gaps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stall_alone_leaves_nothing_out), cmocka_unit_test(a_stall_is_counted),
		cmocka_unit_test(a_step_in_a_stall),
		cmocka_unit_test(a_step_that_hides_the_wait),
		cmocka_unit_test(a_step_that_hides_the_only_wait),
		cmocka_unit_test(opposite_steps_in_one_stall),
		cmocka_unit_test(a_step_without_a_stall),
		cmocka_unit_test(what_is_slow_after_a_step),
		cmocka_unit_test(a_socket_that_is_never_empty),
		cmocka_unit_test(poll_gaps_are_the_stalls),
		cmocka_unit_test(what_it_costs),
		cmocka_unit_test(what_an_emitter_asks),
	};

	return cmocka_run_group_tests(tests, NULL, free_memory);
}
