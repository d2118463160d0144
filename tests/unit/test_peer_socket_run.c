/* build: wraps=connect,recvmsg sources=wire/socket.c,wire/listen.c,wire/transport.c,wire/ethernet.c,wire/icmp.c,wire/ports.c,wire/kernel_call.c,wire/kernel_stamps.c,wire/peer_socket.c,wire/timestamping.c,wire/packet.c,wire/tlv*.c,wire/hmac.c,wire/session.c,wire/allow.c,wire/sequence.c,histogram.c,measure/exchange.c,measure/emit.c,measure/probe.c,measure/idle_sleep.c,measure/window*.c,measure/pace.c,measure/join.c,measure/sample.c,measure/freeze.c,measure/tx_match.c,measure/rules.c,measure/ipdv.c,measure/source_port.c,@result,host/counters/pmc.c,host/clock/clock*.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A reflector whose busy sessions get per-peer sockets, with real sockets on the loopback interface. The
 * senders run in the same thread, before each receive; so the answers, their order, and the two moments
 * between which each reply left are known.
 */
#include "measure/reflect.c"

#include "host/nic/nic.h"
#include "options.h"
#include "util.h"
#include "wire/packet.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SENDERS_MAX 12
#define EACH 600 /* requests */
#define FEW 200 /* of a sender that ends before the others */
#define RECORDS (SENDERS_MAX * EACH)
#define DESCRIPTORS 64

int __real_connect(int fd, const struct sockaddr *address, socklen_t bytes);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);

struct sender {
	int fd;
	union address name;
	unsigned all, sent, answered;
	int64_t reported_ns[EACH]; /* by the reply after it: when this reply left */
};

static struct sender sender[SENDERS_MAX];
static unsigned senders, most_at_once, connects;
static bool runs, twice, slow, mixed; /* mixed: every other sender uses IPv6 */
static _Atomic int stop;
static struct packet_plan plan;
static struct options options;
static struct channel channel = CHANNEL_CLOSED;
static struct nic lo = { .name = "lo", .index = 1 };
static struct histogram histogram;
static struct log log_of_run;
static struct sessions sessions;
static struct exchange x;
static struct sample record[RECORDS];
static void *memory;

/* ---- The senders ------------------------------------------------------------------------------------------------- */

/* That of the loopback, of the family of this sender. */
static union address loopback_of(const struct sender *s)
{
	union address a = { .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };

	if (mixed && (s - sender) % 2)
		a = (union address){ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
	return a;
}

static void send_one(struct sender *s)
{
	union address to = loopback_of(s);
	uint8_t probe[DATAGRAM_MAX];
	const size_t bytes = packet_plan_bytes(&plan);

	if (s->sent == s->all)
		return;
	to.in.sin_port = htons((uint16_t)options.port);
	packet_prepare(probe, &plan);
	packet_probe(probe, &plan, s->sent++, 1700 * NS_PER_S);
	assert_int_equal(sendto(s->fd, probe, bytes, 0, &to.any, address_bytes(&to)), bytes);
}

/* Each once, in order, from the requested address. */
static void take_replies(struct sender *s)
{
	uint8_t octets[2048];
	union address from, want = loopback_of(s);
	socklen_t bytes = sizeof(from);
	struct reply r;
	ssize_t got;

	want.in.sin_port = htons((uint16_t)options.port);
	while ((got = recvfrom(s->fd, octets, sizeof(octets), MSG_DONTWAIT, &from.any, &bytes)) > 0) {
		assert_int_equal(bytes, address_bytes(&want));
		assert_memory_equal(&from, &want, bytes);
		memset(&r, 0, sizeof(r));
		assert_int_equal(packet_read_reply(octets, (size_t)got, NULL, &r), PACKET_GOOD);
		packet_read_tlvs(octets, (size_t)got, NULL, &r);
		assert_int_equal(r.sender_seq, s->answered);
		assert_int_equal(r.seq, s->answered);
		if (r.follow_up_method != PACKET_METHOD_NONE)
			s->reported_ns[r.follow_up_seq] = r.follow_up_ns;
		s->answered++;
	}
}

static void let_them_send(void)
{
	bool over = true;

	for (unsigned i = 0; i < senders; i++) {
		struct sender *s = &sender[i];

		take_replies(s);
		for (unsigned n = (unsigned)rand() % (most_at_once + 1); n && s->sent - s->answered < most_at_once; n--)
			send_one(s);
		over &= s->answered == s->all;
		if (slow) /* as if a second had passed */
			sessions.session[i].counted_ns -= NS_PER_S;
	}
	stop = over;
}

/* With `twice` each error queue entry is repeated by the next call. */
static ssize_t fetch_twice(int fd, struct msghdr *m, int flags)
{
	static struct {
		bool waits;
		uint8_t control[256];
		size_t bytes;
	} last[DESCRIPTORS];
	ssize_t got = 0;

	assert_in_range(fd, 0, DESCRIPTORS - 1);
	if (last[fd].waits) {
		memcpy(m->msg_control, last[fd].control, last[fd].bytes);
		m->msg_controllen = last[fd].bytes;
		m->msg_flags = MSG_ERRQUEUE;
	} else {
		got = __real_recvmsg(fd, m, flags);
		if (got < 0)
			return got;
		last[fd].bytes = m->msg_controllen;
		assert_in_range(last[fd].bytes, 1, sizeof(last[fd].control));
		memcpy(last[fd].control, m->msg_control, last[fd].bytes);
	}
	last[fd].waits = !last[fd].waits;
	return got;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	if (twice && flags & MSG_ERRQUEUE)
		return fetch_twice(fd, m, flags);
	if (runs && !(flags & MSG_ERRQUEUE))
		let_them_send();
	return __real_recvmsg(fd, m, flags);
}

/* Just before and just after the assignment of a socket. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	struct sender *s = NULL;
	int result;

	for (unsigned i = 0; i < senders && runs; i++)
		if (!memcmp(&sender[i].name, address, address_bytes(&sender[i].name)))
			s = &sender[i];
	for (int i = 0; s && i < 3; i++)
		send_one(s);
	result = __real_connect(fd, address, bytes);
	for (int i = 0; s && i < 3; i++)
		send_one(s);
	connects += s != NULL;
	return result;
}

/* ---- The reflector ----------------------------------------------------------------------------------------------- */

static bool open_it(enum source stamp)
{
	struct util_capture capture;
	char said[1024];
	int error;

	options = (struct options){ .role = ROLE_REFLECT, .timeout_ns = 10 * NS_PER_S, .overflow_ns = 100 * NS_PER_US,
				    .ttl = 64,
				    .bucket_ns = NS_PER_US, .stamp = stamp, .plain = true, .dscp = -1, .synced_ns = -1,
				    .allow_short = true };
	options.priority = -1;
	options.port = 20000 + getpid() % 20000;
	channel = (struct channel)CHANNEL_CLOSED;
	lo.first4 = (union address){ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	lo.first6 = (union address){ .any.sa_family = AF_UNSPEC };
	if (mixed)
		lo.first6 = (union address){ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
	util_capture_begin(&capture);
	error = socket_open(&channel, &options, &lo);
	if (!error)
		error = socket_bind(&channel, &options, &lo);
	util_capture_end(&capture, said, sizeof(said));
	if (error)
		print_message("SKIP: no socket on lo here: %s", said);
	channel.direct = false; /* this test replaces recvmsg() of libc */
	return !error;
}

static void make_senders(unsigned n)
{
	senders = n;
	for (unsigned i = 0; i < n; i++) {
		const union address any = loopback_of(&sender[i]);
		socklen_t bytes = sizeof(any);

		sender[i] = (struct sender){ .fd = socket(any.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0),
					     .all = twice && !i ? FEW : EACH };
		assert_int_equal(bind(sender[i].fd, &any.any, address_bytes(&any)), 0);
		assert_int_equal(getsockname(sender[i].fd, &sender[i].name.any, &bytes), 0);
	}
}

static int compare_records(const void *a, const void *b)
{
	const int64_t one_ns = ((const struct sample *)a)->time_ns[REFLECT_T3_USER];
	const int64_t other_ns = ((const struct sample *)b)->time_ns[REFLECT_T3_USER];

	return (one_ns > other_ns) - (one_ns < other_ns);
}

/* A single thread: a reply leaves after its T3 and before the T3 of the next. So no timestamp is another's. */
static void check_stamps(unsigned records)
{
	qsort(record, records, sizeof(record[0]), compare_records);
	for (unsigned i = 0; i < records && channel.tx_stamps; i++) {
		assert_true(record[i].time_ns[REFLECT_T3_WIRE] >= record[i].time_ns[REFLECT_T3_USER]);
		assert_true(record[i].time_ns[REFLECT_T2_WIRE] <= record[i].time_ns[REFLECT_T3_USER]);
		if (i + 1 < records)
			assert_true(record[i].time_ns[REFLECT_T3_WIRE] <= record[i + 1].time_ns[REFLECT_T3_USER]);
	}
}

/* The departure reported to a sender is in the log, of a packet with that number. */
static void check_reported(unsigned records)
{
	unsigned reported = 0;

	for (unsigned i = 0; i < records && channel.tx_stamps; i++)
		for (unsigned n = 0; n < senders; n++)
			reported += sender[n].reported_ns[record[i].seq] == record[i].time_ns[REFLECT_T3_WIRE];
	if (channel.tx_stamps)
		assert_in_range(reported, records - senders * 9, records);
}

/* Maximum number of senders of one family that get a socket. */
static unsigned peer_sockets_for(unsigned n)
{
	return slow ? 0 : n < PEER_SOCKETS_EACH ? n : PEER_SOCKETS_EACH - 1;
}

static void check_run(unsigned n, unsigned at_once, enum source stamp, bool by_message)
{
	const struct account *a = &x.result.account;
	const unsigned all = n * EACH - (twice ? EACH - FEW : 0);
	const unsigned peer_sockets = mixed ? peer_sockets_for(n / 2) + peer_sockets_for(n - n / 2) :
		peer_sockets_for(n);

	if (!open_it(stamp))
		skip();
	assert_int_equal(channel.listeners, 1 + mixed);
	for (int i = 0; i < channel.listeners && !by_message; i++)
		channel.peer_socket[i].id_by_message = false; /* then the kernel counts, of any version */
	memset(memory, 0, histogram_layout(&histogram, options.overflow_ns, 1, HISTOGRAM_OVERFLOW_STORE));
	histogram_assign(&histogram, memory);
	log_assign(&log_of_run, record, RECORDS, false, true);
	sessions_init(&sessions, SESSIONS_MAX, 0, (const uint64_t[SESSION_SECRETS]){ 1, 2 });
	x = (struct exchange){ .channel = &channel, .result.histogram = &histogram, .log = &log_of_run,
			       .sessions = &sessions,
			       .options = &options, .stop = &stop, .loopback = true };
	plan = (struct packet_plan){ .ssid = 7, .stages = true };
	make_senders(n);
	most_at_once = at_once;
	connects = 0;
	stop = 0;
	runs = true;
	exchange_run(&x);
	runs = false;

	assert_int_equal(counter_get(&a->received), all);
	assert_int_equal(counter_get(&a->answered), all);
	assert_int_equal(counter_get(&a->recorded), all);
	assert_int_equal(counter_get(&a->unstamped), 0);
	assert_int_equal(counter_get(&a->reordered), 0);
	assert_int_equal(counter_get(&a->repeated), 0);
	assert_int_equal(counter_get(&a->refused), 0);
	assert_int_equal(counter_get(&a->foreign), 0);
	assert_int_equal(counter_get(&a->stamp_unmatched), 0);
	assert_int_equal(counter_get(&a->stamp_late), 0);
	assert_int_equal(counter_get(&a->stamp_duplicate), twice ? all : 0);
	assert_int_equal(counter_get(&sessions.opened), n);
	/* If too many datagrams wait, the assignment is retried, if the senders reach it. */
	assert_in_range(counter_get(&channel.peer_sockets_taken), at_once > 1 ? 0 : peer_sockets, peer_sockets);
	assert_int_equal(connects, counter_get(&channel.peer_sockets_taken));
	assert_true(at_once > 1 || (counter_get(&channel.peer_sockets_refused) > 0) == (n - peer_sockets && !slow));
	socket_note_drops(&channel);
	assert_int_equal(channel.dropped.value, 0);
	check_stamps(all);
	check_reported(all);
	for (unsigned i = 0; i < n; i++)
		close(sender[i].fd);
	socket_close(&channel);
}

static void with_stamps(enum source stamp, bool by_message)
{
	static const unsigned some[] = { 1, 2, 3, PEER_SOCKETS_EACH - 1, PEER_SOCKETS_EACH, SENDERS_MAX };

	for (size_t i = 0; i < COUNT_OF(some); i++)
		for (unsigned at_once = 1; at_once <= 4; at_once += 3)
			check_run(some[i], at_once, stamp, by_message);
}

static void stamps_of_the_kernel(void **state)
{
	(void)state;
	with_stamps(SOURCE_KERNEL, true);
}

static void stamps_of_the_kernel_that_it_counts(void **state)
{
	(void)state;
	with_stamps(SOURCE_KERNEL, false);
}

static void stamps_of_user_space(void **state)
{
	(void)state;
	with_stamps(SOURCE_USER, true);
}

/* Also the last timestamp of a sender that ends while the others continue: its flight is soon reused. */
static void stamps_that_come_twice(void **state)
{
	(void)state;
	twice = true;
	check_run(2, 1, SOURCE_KERNEL, false);
	check_run(PEER_SOCKETS_EACH - 1, 1, SOURCE_KERNEL, true);
	check_run(SENDERS_MAX, 4, SOURCE_KERNEL, false);
}

/* Only busy senders get sockets. */
static void who_is_slow_gets_none(void **state)
{
	(void)state;
	slow = true;
	check_run(2, 1, SOURCE_KERNEL, true);
	check_run(PEER_SOCKETS_EACH, 4, SOURCE_USER, true);
}

/* On the loopback. */
static bool has_ipv6(void)
{
	const struct sockaddr_in6 one = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool has = fd >= 0 && !bind(fd, (const struct sockaddr *)&one, sizeof(one));

	if (fd >= 0)
		close(fd);
	return has;
}

static void two_families(void **state)
{
	(void)state;
	if (!has_ipv6())
		skip();
	mixed = true;
	with_stamps(SOURCE_KERNEL, true);
	with_stamps(SOURCE_KERNEL, false);
	check_run(4, 4, SOURCE_USER, true);
}

/* After an idle sleep all sockets are polled, including a newly assigned socket. */
static void a_peer_socket_when_all_are_hot(void **state)
{
	(void)state;
	if (!open_it(SOURCE_USER))
		skip();
	x = (struct exchange){ .channel = &channel, .options = &options, .now_ns = 100 * NS_PER_S,
			       .reflect.hots = (unsigned)channel.peer_sockets, .reflect.next_cold = 77 };
	for (int i = 0; i < channel.peer_sockets; i++)
		x.reflect.hot[i] = &channel.peer_socket[i];
	make_senders(1);
	x.arrival.from = sender[0].name;
	channel.at = &channel.peer_socket[0];
	polling_hand_over(&x);
	assert_int_equal(counter_get(&channel.peer_sockets_taken), 1);
	assert_int_equal(x.reflect.hots, channel.peer_sockets);
	assert_int_equal(x.reflect.next_hot, 0);
	assert_null(x.reflect.hot[channel.peer_sockets]);
	close(sender[0].fd);
}

/* While another per-peer socket is busy, a new sender waits a few iterations, in either family. */
static void who_listens_is_asked(void **state)
{
	unsigned asked[PEER_SOCKETS] = { 0 };

	(void)state;
	for (int listeners = 1; listeners <= LISTENERS; listeners++) {
		channel = (struct channel){ .listeners = listeners, .peer_sockets = listeners * PEER_SOCKETS_EACH };
		for (int i = 0; i < PEER_SOCKETS; i++)
			channel.peer_socket[i].number = (uint8_t)i;
		x = (struct exchange){ .channel = &channel, .reflect.hot = { &channel.peer_socket[5] },
			.reflect.hots = 1 };
		for (unsigned n = 0; n < 64 * PEER_SOCKETS; n++) {
			memset(asked, 0, n % 64 ? 0 : sizeof(asked));
			asked[polling_choose_peer_socket(&x)->number]++;
			x.turn++;
			if (n % 64 < 63)
				continue;
			assert_in_range(asked[0], listeners == 1 ? 3 : 2, 4);
			assert_int_equal(asked[1] > 0, listeners > 1 ||
					 channel.peer_socket[x.reflect.next_cold].number == 1);
			assert_true(asked[5] >= 60);
		}
	}
	channel = (struct channel)CHANNEL_CLOSED;
}

/* Waiting time of requests in iterations, one every `period` iterations, or as soon as the previous was
 * answered. */
static unsigned wait_of(unsigned period, unsigned hots, unsigned *others)
{
	unsigned waited = 0, since = 0;

	channel = (struct channel){ .listeners = 1, .peer_sockets = PEER_SOCKETS_EACH };
	x = (struct exchange){ .channel = &channel, .reflect.hot = { &channel.peer_socket[5], &channel.peer_socket[6] },
			       .reflect.hots = hots };
	*others = 0;
	for (unsigned n = 0; n < 64 * 64; n++) {
		const bool is_hot = polling_choose_peer_socket(&x) == &channel.peer_socket[5], came = since >= period &&
			is_hot;

		*others += !is_hot;
		waited += n >= 64 && since >= period && !is_hot;
		since = came ? 0 : since + 1;
		polling_note(&x, came);
		x.turn++;
	}
	channel = (struct channel)CHANNEL_CLOSED;
	return waited;
}

static void who_is_alone_does_not_wait(void **state)
{
	unsigned others;

	(void)state;
	for (unsigned period = 3; period < FIRST_TURNS; period++) {
		assert_int_equal(wait_of(period, 1, &others), 0);
		assert_in_range(others, 64 * 64 / (period + 2), 64 * 64 / period);
		assert_true(wait_of(period, 2, &others) > 0);
	}
	/* While the next request is always queued: four of 64 iterations, of which a single one may be its own
	 * socket's. */
	wait_of(0, 1, &others);
	assert_in_range(others, 4 * 64 - 64 / PEER_SOCKETS_EACH, 4 * 64);
}

static int teardown(void **state)
{
	(void)state;
	runs = twice = slow = mixed = false;
	socket_close(&channel);
	return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stamps_of_the_kernel), TEST(stamps_of_the_kernel_that_it_counts), TEST(stamps_of_user_space),
			TEST(stamps_that_come_twice),
		TEST(who_is_slow_gets_none), TEST(two_families), TEST(a_peer_socket_when_all_are_hot),
		TEST(who_listens_is_asked), TEST(who_is_alone_does_not_wait),
	};

	util_seed();
	memory = malloc(histogram_layout(&histogram, 100 * NS_PER_US, 1, HISTOGRAM_OVERFLOW_STORE));
	const int failed = cmocka_run_group_tests_name("lane_run", tests, NULL, NULL);
	free(memory);
	return failed;
}
