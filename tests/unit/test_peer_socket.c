/* build: sources=wire/socket.c,wire/listen.c,wire/transport.c,wire/ethernet.c,wire/icmp.c,wire/ports.c,wire/kernel_call.c,wire/kernel_stamps.c,wire/timestamping.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Per-peer sockets of a reflector, with real sockets on the loopback interface. */
#include "wire/peer_socket.c"

#include "host/nic/nic.h"
#include "options.h"
#include "wire/kernel_call.h"
#include "golden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#define START_NS (1000 * NS_PER_S)

static struct channel c;
static struct options o;
static struct nic lo = { .name = "lo", .index = 1 };
static struct arrival a;
static char said[1024];

/* ---- Senders ----------------------------------------------------------------------------------------------------- */

static union address address_of(int fd)
{
	union address name = { 0 };
	socklen_t bytes = sizeof(name.in);

	assert_int_equal(getsockname(fd, &name.any, &bytes), 0);
	return name;
}

/* On a port of its own. */
static int sender(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	return fd;
}

static void send_one(int fd, const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)o.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	assert_int_equal(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof(to)), strlen(text));
}

static bool is_from(int fd)
{
	const union address from = address_of(fd);

	return !memcmp(&a.from.in, &from.in, sizeof(from.in));
}

/* ---- The reflector ----------------------------------------------------------------------------------------------- */

/* With this limit of file descriptors; 0: unlimited. */
static int open_it(int descriptors)
{
	struct util_capture capture;
	struct rlimit before, few;
	int error, fd[8];

	util_capture_begin(&capture);
	getrlimit(RLIMIT_NOFILE, &before);
	for (int i = 0; i < descriptors; i++)
		fd[i] = dup(STDIN_FILENO);
	for (int i = 0; i < descriptors; i++)
		close(fd[i]);
	few = (struct rlimit){ .rlim_max = before.rlim_max };
	if (descriptors) {
		few.rlim_cur = (rlim_t)fd[descriptors - 1] + 1;
		setrlimit(RLIMIT_NOFILE, &few);
	}
	error = socket_open(&c, &o, &lo);
	if (!error)
		error = socket_bind(&c, &o, &lo);
	setrlimit(RLIMIT_NOFILE, &before);
	util_capture_end(&capture, said, sizeof(said));
	return error;
}

static void prepare(void)
{
	int fd = sender();

	c = (struct channel)CHANNEL_CLOSED;
	o = (struct options){ .role = ROLE_REFLECT, .stamp = SOURCE_USER, .ttl = 255, .dscp = -1, .priority = -1 };
	o.port = ntohs(address_of(fd).in.sin_port);
	close(fd);
}

static bool begin(void)
{
	prepare();
	if (!open_it(0))
		return true;
	print_message("SKIP: no socket on lo here: %s", said);
	return false;
}

static int teardown(void **state)
{
	(void)state;
	socket_close(&c);
	return 0;
}

static int receive(struct peer_socket *l)
{
	c.at = l;
	c.direct = KERNEL_CALL_IS_KNOWN && !c.direct; /* directly and by libc alternately */
	return stamp_receive(&c, &a);
}

static struct peer_socket *take(int fd, int64_t now_ns)
{
	const union address from = address_of(fd);

	return peer_socket_take(&c, &from, now_ns);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void what_a_sender_sends_is_in_its_peer_socket(void **state)
{
	int busy = sender(), other = sender();
	char text[8];
	struct peer_socket *l;

	(void)state;
	if (!begin())
		skip();
	assert_int_equal(c.peer_sockets, PEER_SOCKETS_EACH);
	send_one(busy, "a");
	l = take(busy, START_NS);
	assert_non_null(l);
	assert_int_equal(counter_get(&c.peer_sockets_taken), 1);
	send_one(busy, "b");
	send_one(other, "c");
	/* Earlier datagrams stay in their socket. */
	assert_int_equal(receive(&c.peer_socket[0]), 1);
	assert_true(is_from(busy));
	assert_int_equal(c.datagram[0], 'a');
	assert_int_equal(receive(&c.peer_socket[0]), 1);
	assert_true(is_from(other));
	assert_true(a.from_self && a.to_unicast && !a.strays);
	assert_int_equal(receive(&c.peer_socket[0]), 0);
	for (int i = 0; i < 2; i++) { /* a newly assigned socket, and a socket empty since */
		assert_int_equal(receive(l), 1);
		assert_int_equal(c.datagram[0], 'b');
		assert_true(is_from(busy));
		assert_true(a.from_self && a.to_unicast && !a.strays);
		assert_int_equal(a.ttl, 64);
		assert_int_equal(receive(l), 0);
		send_one(busy, "b");
	}
	/* The answer has the request's destination port. */
	assert_int_equal(stamp_send(&c, "answer", 6, 0, &a), 0);
	struct sockaddr_in from;
	assert_int_equal(recvfrom(busy, text, sizeof(text), MSG_DONTWAIT, (struct sockaddr *)&from,
				  &(socklen_t){ sizeof(from) }), 6);
	assert_int_equal(ntohs(from.sin_port), o.port);
	assert_int_equal(from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	close(busy);
	close(other);
}

static void there_are_few(void **state)
{
	int fd[PEER_SOCKETS_EACH + 1];
	struct peer_socket *l[PEER_SOCKETS_EACH + 1];

	(void)state;
	for (int i = 0; i <= PEER_SOCKETS_EACH; i++)
		fd[i] = sender();
	if (!begin())
		skip();
	for (int i = 1; i < PEER_SOCKETS_EACH; i++) {
		l[i] = take(fd[i], START_NS + i);
		assert_non_null(l[i]);
		for (int j = 1; j < i; j++)
			assert_ptr_not_equal(l[i], l[j]);
	}
	assert_null(take(fd[0], START_NS + PEER_SOCKETS_EACH));
	assert_int_equal(counter_get(&c.peer_sockets_refused), 1);
	/* An idle sender loses its socket; no sender gets two. */
	l[1]->used_ns = START_NS + NS_PER_S;
	assert_null(take(fd[0], START_NS + 2 + PEER_SOCKET_IDLE_NS - 1));
	assert_null(take(fd[3], START_NS + 2 + PEER_SOCKET_IDLE_NS));
	assert_ptr_equal(take(fd[0], START_NS + 2 + PEER_SOCKET_IDLE_NS), l[2]);
	assert_null(take(fd[2], START_NS + 2 + PEER_SOCKET_IDLE_NS));
	for (int i = 0; i <= PEER_SOCKETS_EACH; i++)
		close(fd[i]);
}

/* Between the last read of a socket and its new sender a datagram of the old sender arrived. */
static void a_datagram_of_the_one_before(void **state)
{
	int old = sender(), new = sender();
	struct peer_socket *l;
	char octet;

	(void)state;
	if (!begin())
		skip();
	c.peer_sockets = 2; /* a per-peer socket and the listening socket */
	l = take(old, START_NS);
	send_one(old, "o");
	assert_ptr_equal(take(new, START_NS + PEER_SOCKET_IDLE_NS), l);
	send_one(new, "n");
	send_one(old, "p");
	assert_int_equal(receive(l), 1);
	assert_true(a.strays && is_from(old) && a.from_self && a.to_unicast);
	assert_int_equal(c.datagram[0], 'o');
	/* It is answered by the first, from the right address. */
	c.at = &c.peer_socket[0];
	assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(recv(old, &octet, 1, MSG_DONTWAIT), 1);
	assert_int_equal(receive(l), 1);
	assert_true(!a.strays && is_from(new));
	assert_int_equal(receive(l), 0);
	assert_false(l->is_new);
	assert_int_equal(receive(&c.peer_socket[0]), 1);
	assert_true(is_from(old));
	close(old);
	close(new);
}

static const struct sockaddr_in6 one6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

/* On its own port, *name; -1: no IPv6 on this host. */
static int sender6(union address *name)
{
	socklen_t bytes = sizeof(*name);
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&one6, sizeof(one6)))
		return -1;
	assert_int_equal(getsockname(fd, &name->any, &bytes), 0);
	return fd;
}

static void send_one6(int fd, const char *text)
{
	struct sockaddr_in6 to = one6;

	to.sin6_port = htons((uint16_t)o.port);
	assert_int_equal(sendto(fd, text, 1, 0, (struct sockaddr *)&to, sizeof(to)), 1);
}

static bool begin_both(void)
{
	bool begun;

	lo.first4 = (union address){ .in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) } };
	lo.first6.in6 = one6;
	begun = begin();
	lo.first4 = lo.first6 = (union address){ .any.sa_family = AF_UNSPEC };
	if (!begun)
		return false;
	assert_int_equal(c.listeners, 2);
	assert_int_equal(c.peer_sockets, PEER_SOCKETS);
	return true;
}

static void who_can_have_one_of_ipv6(void **state)
{
	union address name;
	int fd = sender6(&name);

	(void)state;
	if (fd < 0 || !begin_both())
		skip();
	send_one6(fd, "a");
	assert_int_equal(receive(&c.peer_socket[1]), 1);
	assert_true(a.from_self && a.to_unicast && peer_socket_fits(&c, &a));
	assert_memory_equal(&a.from, &name, sizeof(name.in6));
	c.peer_socket[1].own.in6.sin6_addr.s6_addr[7] = 1; /* in the half that differs */
	assert_false(peer_socket_fits(&c, &a));
	close(fd);
}

/* The same for IPv6 next to per-peer sockets of IPv4: assignment, strays, and source addresses. */
static void peer_sockets_of_ipv6(void **state)
{
	union address old_name, new_name;
	int old = sender6(&old_name), new = sender6(&new_name), other = sender();
	struct sockaddr_in6 from;
	struct peer_socket *l;
	char octet;

	(void)state;
	if (new < 0 || !begin_both())
		skip();
	/* All except one of its family are assigned; those of the other family do not help. */
	for (struct peer_socket *each = &c.peer_socket[2]; each < &c.peer_socket[PEER_SOCKETS]; each++)
		if (each->transport->domain == AF_INET6)
			each->used_ns = START_NS;
	l = &c.peer_socket[PEER_SOCKETS - 1];
	l->used_ns = 0;
	assert_ptr_equal(peer_socket_take(&c, &old_name, START_NS), l);
	assert_true(l->from_self);
	send_one6(old, "o");
	assert_ptr_equal(peer_socket_take(&c, &new_name, START_NS + PEER_SOCKET_IDLE_NS - 1), NULL);
	l->used_ns = START_NS - 1;
	assert_ptr_equal(peer_socket_take(&c, &new_name, START_NS + PEER_SOCKET_IDLE_NS - 1), l);
	send_one6(new, "n");
	assert_int_equal(receive(l), 1);
	assert_true(a.strays && a.from_self && a.to_unicast && c.datagram[0] == 'o');
	assert_memory_equal(a.local, &one6.sin6_addr, sizeof(one6.sin6_addr)); /* begins with the address */
	c.at = &c.peer_socket[l->listener];
	assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(recvfrom(old, &octet, 1, MSG_DONTWAIT, (struct sockaddr *)&from, &(socklen_t){ sizeof(from) }),
			 1);
	assert_int_equal(ntohs(from.sin6_port), o.port);
	assert_int_equal(receive(l), 1);
	assert_true(!a.strays && c.datagram[0] == 'n');
	assert_memory_equal(&a.from, &new_name, sizeof(new_name.in6));
	assert_non_null(take(other, START_NS));
	close(old);
	close(new);
	close(other);
}

static void who_can_have_one(void **state)
{
	int fd = sender();

	(void)state;
	if (!begin())
		skip();
	send_one(fd, "a");
	assert_int_equal(receive(&c.peer_socket[0]), 1);
	assert_true(peer_socket_fits(&c, &a));
	a.to_unicast = false;
	assert_false(peer_socket_fits(&c, &a));
	a.to_unicast = true;
	c.peer_socket[0].own.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	assert_false(peer_socket_fits(&c, &a));
	c.peer_socket[0].own.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c.peer_sockets = 1;
	assert_false(peer_socket_fits(&c, &a));
	close(fd);
}

/* Its sender has gone: the kernel reports that by the next call, which did not cause it. */
static void nobody_is_there_any_more(void **state)
{
	int fd = sender();
	struct peer_socket *l;

	(void)state;
	if (!begin())
		skip();
	l = take(fd, START_NS);
	close(fd);
	c.at = l;
	for (int i = 0; i < 4; i++)
		assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(receive(l), 0);
	assert_int_equal(receive(l), 0);
}

static void drops_of_all_peer_sockets(void **state)
{
	int fd = sender(), other = sender(), small = 2304, got = 0;
	struct peer_socket *l;

	(void)state;
	if (!begin())
		skip();
	l = take(fd, START_NS);
	setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	setsockopt(c.peer_socket[0].fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	for (int i = 0; i < 100; i++) {
		send_one(fd, "x");
		send_one(other, "y");
	}
	socket_note_drops(&c);
	while (receive(l) || receive(&c.peer_socket[0]))
		got++;
	assert_int_equal(c.dropped.value + got, 200);
	assert_true(c.dropped.value > 100);
	close(fd);
	close(other);
}

static int class_of_answer(int fd)
{
	char octet, control[64];
	struct iovec payload = { &octet, 1 };
	struct msghdr m = { .msg_iov = &payload, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };

	assert_int_equal(recvmsg(fd, &m, MSG_DONTWAIT), 1);
	assert_non_null(CMSG_FIRSTHDR(&m));
	return *CMSG_DATA(CMSG_FIRSTHDR(&m));
}

static void the_class_of_a_packet(void **state)
{
	int fd = sender(), tos = 46 << 2;
	struct peer_socket *l;

	(void)state;
	if (!begin())
		skip();
	setsockopt(fd, SOL_IP, IP_TOS, &tos, sizeof(tos));
	l = take(fd, START_NS);
	send_one(fd, "x");
	assert_int_equal(receive(l), 1);
	assert_int_equal(a.tos, -1);
	assert_int_equal(socket_want_tos(&c), 0);
	send_one(fd, "x");
	assert_int_equal(receive(l), 1);
	assert_int_equal(a.tos, tos);
	/* And so it is answered. */
	int on = 1;
	setsockopt(fd, SOL_IP, IP_RECVTOS, &on, sizeof(on));
	a.in_class = true;
	assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(class_of_answer(fd), tos);
	close(fd);
}

static int option_of(const struct peer_socket *l, int level, int name)
{
	socklen_t bytes = sizeof(int);
	int value = -1;

	assert_int_equal(getsockopt(l->fd, level, name, &value, &bytes), 0);
	return value;
}

/* On a per-peer and on the listening socket: the TOS of an answer does not set a priority, and is reset if
 * no class is requested. */
static void the_priority_is_kept_in_every_class(void **state)
{
	static const int asked[] = { 46 << 2, -1, 0, 8 << 2, 8 << 2, -1 };
	int fd = sender(), on = 1;
	struct peer_socket *l;

	(void)state;
	prepare();
	o.priority = 5;
	o.dscp = 10;
	if (open_it(0))
		skip();
	l = take(fd, START_NS);
	assert_int_equal(setsockopt(fd, SOL_IP, IP_RECVTOS, &on, sizeof(on)), 0);
	for (size_t i = 0; i < COUNT_OF(asked) * 2; i++) {
		const int tos = asked[i / 2];

		send_one(fd, "x");
		assert_int_equal(receive(l), 1);
		if (i % 2)
			c.at = &c.peer_socket[0];
		a.in_class = tos >= 0;
		a.tos = tos | 1;
		assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
		assert_int_equal(class_of_answer(fd), tos >= 0 ? tos : 10 << 2);
		assert_int_equal(option_of(c.at, SOL_SOCKET, SO_PRIORITY), 5);
	}
	close(fd);
}

/* With any failure, the first socket serves all senders. */
static void few_descriptors(void **state)
{
	int fd = sender();

	(void)state;
	for (int left = 4; left < 8; left++) { /* some are spared */
		const int peer_sockets = left < 6 ? 1 : left - 4;

		prepare();
		o.verbose = true;
		if (open_it(left))
			skip();
		assert_int_equal(c.peer_sockets, peer_sockets);
		char *line = strstr(said, "only ");
		assert_non_null(line);
		assert_int_equal(line[5], '0' + peer_sockets - 1);
		golden_line(line);
		send_one(fd, "x");
		assert_int_equal(receive(&c.peer_socket[0]), 1);
		assert_int_equal(take(fd, START_NS) != NULL, peer_sockets > 1);
		socket_close(&c);
	}
	close(fd);
}

/* An error queue entry of any socket ends a wait; so does a datagram, if it is awaited. */
static void waiting_for_all(void **state)
{
	int fd = sender();
	int64_t began_ns;

	(void)state;
	if (!begin())
		skip();
	take(fd, START_NS);
	send_one(fd, "x");
	began_ns = clock_read_ns(CLOCK_MONOTONIC);
	stamp_wait(&c, false, 20 * NS_PER_MS);
	assert_true(clock_read_ns(CLOCK_MONOTONIC) - began_ns >= 20 * NS_PER_MS);
	began_ns = clock_read_ns(CLOCK_MONOTONIC);
	stamp_wait(&c, true, 600 * NS_PER_S);
	assert_true(clock_read_ns(CLOCK_MONOTONIC) - began_ns < 600 * NS_PER_S);
	close(fd);
}

#define TEST(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_a_sender_sends_is_in_its_peer_socket), TEST(there_are_few),
			TEST(a_datagram_of_the_one_before),
		TEST(peer_sockets_of_ipv6), TEST(who_can_have_one_of_ipv6), TEST(who_can_have_one),
		TEST(nobody_is_there_any_more), TEST(drops_of_all_peer_sockets),
		TEST(the_class_of_a_packet), TEST(the_priority_is_kept_in_every_class), TEST(few_descriptors),
		TEST(waiting_for_all),
	};

	return golden_run(tests);
}
