/* build: wraps=socket,setsockopt,getsockopt,bind,connect,sendmsg,recv sources=wire/transport.c,wire/ethernet.c,wire/icmp.c,wire/timestamping.c,wire/peer_socket.c,wire/ports.c,wire/listen.c,wire/kernel_call.c,wire/kernel_stamps.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The measuring socket: with a kernel that refuses one option at a time, which needs no privileges, and on
 * the loopback interface of the real kernel, if permitted.
 */
#include "wire/socket.c"

#include "wire/timestamping.h"
#include "fake_socket.h"
#include "golden.h"

#include <fcntl.h>
#include <poll.h>

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static struct channel c;
static struct options o;
static struct nic lo = { .name = "lo", .index = 1 };
static char line[1024];

static void prepare(enum role role, enum source stamp)
{
	memset(&fake, 0, sizeof(fake));
	fake.granted_mask = -1;
	fake.send_error = EACCES;
	c = (struct channel)CHANNEL_CLOSED;
	lo.mtu = 0;
	o = (struct options){ .role = role, .stamp = stamp, .port = 8620, .ttl = 255, .dscp = -1, .priority = -1,
			      .vlan_priority = -1 };
	if (role == ROLE_EMIT)
		o.server.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int open_it(bool mocked)
{
	struct util_capture capture;

	fake.on = mocked;
	util_capture_begin(&capture);
	int error = socket_open(&c, &o, &lo);

	if (!error)
		error = socket_bind(&c, &o, &lo);
	util_capture_end(&capture, line, sizeof(line));
	fake.on = false;
	return error;
}

static int teardown(void **state)
{
	(void)state;
	fake.on = false;
	socket_close(&c);
	return 0;
}

static unsigned lines(void)
{
	unsigned n = 0;

	for (const char *p = line; *p; p++)
		n += *p == '\n';
	return n;
}

static int lowest_free_fd(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);

	close(fd);
	return fd;
}

/* It fails with the error and one line, and leaves nothing open. */
static void open_refused(int error)
{
	int free_fd = lowest_free_fd();

	assert_int_equal(open_it(true), -error);
	assert_one_line(line);
	assert_int_equal(c.peer_socket[0].fd, -1);
	assert_int_equal(c.stray_fd, -1);
	assert_int_equal(lowest_free_fd(), free_fd);
}

static void check_refused(int error)
{
	open_refused(error);
	golden_line(line);
}

static bool was_set(int level, int name, int value)
{
	for (unsigned i = 0; i < fake.sets; i++)
		if (fake.set[i].level == level && fake.set[i].name == name)
			return fake.set[i].value == value;
	return false;
}

static bool was_touched(int level, int name)
{
	for (unsigned i = 0; i < fake.sets; i++)
		if (fake.set[i].level == level && fake.set[i].name == name)
			return true;
	return false;
}

enum { EMIT = 1, REFLECT = 2, BOTH = 3 };

static const struct {
	int level, name, roles;
} refusals[] = {
	{ SOL_IP, IP_TTL, BOTH },
	{ SOL_IP, IP_MTU_DISCOVER, EMIT },
	{ SOL_IP, IP_TOS, BOTH },
	{ SOL_SOCKET, SO_PRIORITY, BOTH },
	{ SOL_SOCKET, SO_REUSEPORT, EMIT },
	{ SOL_IP, IP_RECVTTL, REFLECT },
	{ SOL_IP, IP_PKTINFO, REFLECT },
	{ SOL_SOCKET, SO_BUSY_POLL, BOTH },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL, BOTH },
	{ SOL_SOCKET, SO_BUSY_POLL_BUDGET, BOTH },
	{ SOL_SOCKET, SO_TIMESTAMPING, BOTH },
	{ SOL_SOCKET, SO_BINDTODEVICE, BOTH },
};

static void each_refused_option(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
			if (!(refusals[i].roles & (role == ROLE_EMIT ? EMIT : REFLECT)))
				continue;
			prepare(role, SOURCE_KERNEL);
			o.busy_poll_us = 50;
			o.busy_poll_budget = 8;
			o.prefer_busy_poll = true;
			o.dscp = 46;
			o.priority = 7;
			fake.refuse_level = refusals[i].level;
			fake.refuse_name = refusals[i].name;
			fake.refuse_error = EPERM;
			check_refused(EPERM);
		}
	}
}

static void what_is_set(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		bool reflect = role == ROLE_REFLECT;

		prepare(role, SOURCE_KERNEL);
		assert_int_equal(open_it(true), 0);
		assert_string_equal(line, "");
		assert_string_equal(fake.device, "lo");
		assert_true(was_set(SOL_IP, IP_TTL, 255));
		/* Independent of ICMP messages about the path. A reply has the length of its request, in as
		 * many fragments as the interface needs. */
		assert_true(was_set(SOL_IP, IP_MTU_DISCOVER, reflect ? IP_PMTUDISC_OMIT : IP_PMTUDISC_PROBE));
		assert_int_equal(was_set(SOL_IP, IP_RECVTTL, 1), reflect);
		assert_int_equal(was_set(SOL_IP, IP_PKTINFO, 1), reflect);
		/* Two reflectors on one port must be refused, so a reflector shares it only with itself: see
		 * open_peer_sockets(). */
		assert_int_equal(fake.set[fake.sets - 1].name == SO_REUSEPORT, reflect);
		assert_int_equal(fake.set[fake.sets - 1].value, 0);
		assert_true(was_touched(SOL_SOCKET, SO_RCVBUFFORCE));
		assert_false(was_touched(SOL_SOCKET, SO_RCVBUF));
		/* Not requested, not set: SO_BUSY_POLL 0 would undo net.core.busy_read. */
		assert_false(was_touched(SOL_SOCKET, SO_BUSY_POLL));
		assert_false(was_touched(SOL_SOCKET, SO_PREFER_BUSY_POLL));
		assert_false(was_touched(SOL_SOCKET, SO_BUSY_POLL_BUDGET));
		assert_false(was_touched(SOL_IP, IP_TOS));
		assert_false(was_touched(SOL_SOCKET, SO_PRIORITY));
		/* Only on request: a control message for each packet. */
		assert_false(was_touched(SOL_IP, IP_RECVTOS));
		/* An ICMP error in the error queue is of no use to anyone. */
		assert_false(was_touched(SOL_IP, IP_RECVERR));
		assert_int_equal(c.peer_socket[0].connected, !reflect);
		assert_int_equal(c.stray_fd >= 0, !reflect);
		assert_int_equal(ntohs(fake.bound[0].sin_port), reflect ? 8620 : 0);
		socket_close(&c);
	}
}

static unsigned place_of(int level, int name)
{
	unsigned i = 0;

	while (i < fake.sets && (fake.set[i].level != level || fake.set[i].name != name))
		i++;
	return i;
}

static void what_the_header_carries(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		prepare(role, SOURCE_USER);
		o.ttl = 1;
		o.dscp = 0;
		o.priority = 0;
		assert_int_equal(open_it(true), 0);
		assert_true(was_set(SOL_IP, IP_TTL, 1));
		assert_true(was_set(SOL_IP, IP_TOS, 0));
		assert_true(was_set(SOL_SOCKET, SO_PRIORITY, 0));
		socket_close(&c);
		prepare(role, SOURCE_USER);
		o.dscp = 63;
		o.priority = 15;
		assert_int_equal(open_it(true), 0);
		assert_true(was_set(SOL_IP, IP_TOS, 252));
		assert_true(was_set(SOL_SOCKET, SO_PRIORITY, 15));
		/* In the other order the kernel would replace it by the priority of the TOS. */
		assert_true(place_of(SOL_IP, IP_TOS) < place_of(SOL_SOCKET, SO_PRIORITY));
		socket_close(&c);
	}
}

static void what_does_not_fit_the_interface(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	lo.mtu = 1500;
	o.size_bytes = 1473;
	check_refused(EMSGSIZE);
	for (int i = 0; i < 4; i++) {
		prepare(i == 3 ? ROLE_REFLECT : ROLE_EMIT, SOURCE_USER);
		lo.mtu = i == 1 ? 0 : 1500; /* the MTU is unknown */
		o.size_bytes = i == 0 ? 1472 : i == 2 ? 0 : 1473;
		assert_int_equal(open_it(true), 0);
		assert_string_equal(line, "");
		socket_close(&c);
	}
}

static void the_tos_is_asked_for_once(void **state)
{
	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	assert_int_equal(open_it(true), 0);
	assert_false(c.tos_wanted);
	fake.on = true;
	assert_int_equal(socket_want_tos(&c), 0);
	fake.on = false;
	assert_true(was_set(SOL_IP, IP_RECVTOS, 1));
	assert_true(c.tos_wanted);
	/* Refused: not requested again for each packet. */
	c.tos_wanted = false;
	fake.refuse_level = SOL_IP;
	fake.refuse_name = IP_RECVTOS;
	fake.refuse_error = ENOPROTOOPT;
	fake.on = true;
	assert_int_equal(socket_want_tos(&c), -ENOPROTOOPT);
	assert_true(c.tos_wanted);
}

#define KERNEL_FLAGS (SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE)

/* An emitter and a reflector with -s ask at once; other reflectors when a request does. */
static void the_kernels_time_is_asked_for(void **state)
{
	const int nic = SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_TX_HARDWARE |
			SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;

	(void)state;
	for (int detail = STAGES_NIC; detail <= STAGES_KERNEL; detail++) {
		prepare(ROLE_EMIT, SOURCE_HARDWARE);
		o.stages.detail = detail;
		o.sw_timestamps = true;
		assert_int_equal(open_it(true), 0);
		assert_int_equal(fake.flags, detail == STAGES_KERNEL ? nic | KERNEL_FLAGS : nic);
		assert_int_equal(c.kernel_times, detail == STAGES_KERNEL);
		socket_close(&c);
	}
	prepare(ROLE_REFLECT, SOURCE_HARDWARE);
	o.stages.detail = STAGES_KERNEL;
	assert_int_equal(open_it(true), 0);
	assert_int_equal(fake.flags, nic);
	assert_false(c.kernel_times);
	fake.on = true;
	assert_int_equal(socket_want_kernel_times(&c), 0);
	fake.on = false;
	assert_int_equal(fake.flags, nic | KERNEL_FLAGS);
	assert_true(c.kernel_times);
	/* Refused: the timestamps of the NIC stay. */
	fake.refuse_level = SOL_SOCKET;
	fake.refuse_name = SO_TIMESTAMPING;
	fake.refuse_error = EINVAL;
	fake.on = true;
	assert_int_equal(socket_want_kernel_times(&c), -EINVAL);
	fake.on = false;
	assert_false(c.kernel_times);
	socket_close(&c);
	/* With timestamps of the kernel it is that. */
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	o.stages.detail = STAGES_KERNEL;
	o.sw_timestamps = true;
	assert_int_equal(open_it(true), 0);
	assert_false(c.kernel_times);
	assert_int_equal(socket_want_kernel_times(&c), -EOPNOTSUPP);
	socket_close(&c);
}

/* On the loopback, which has both. */
static void what_is_set_of_ipv6(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		const bool reflect = role == ROLE_REFLECT;

		prepare(role, SOURCE_USER);
		o.dscp = 46;
		if (reflect)
			o.ipv6 = true;
		else
			o.server.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
							      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		if (open_it(true) == -EADDRNOTAVAIL)
			skip(); /* from connect() */
		assert_string_equal(line, "");
		assert_string_equal(c.transport->name, "UDP/IPv6");
		assert_int_equal(c.listeners, 1);
		/* Each family has its own socket, without datagrams of the other. */
		assert_true(was_set(SOL_IPV6, IPV6_V6ONLY, 1));
		assert_true(was_set(SOL_IPV6, IPV6_UNICAST_HOPS, 255));
		assert_true(was_set(SOL_IPV6, IPV6_TCLASS, 46 << 2));
		assert_true(was_set(SOL_IPV6, IPV6_MTU_DISCOVER, reflect ? IPV6_PMTUDISC_OMIT : IPV6_PMTUDISC_PROBE));
		assert_int_equal(was_set(SOL_IPV6, IPV6_RECVHOPLIMIT, 1), reflect);
		assert_int_equal(was_set(SOL_IPV6, IPV6_RECVPKTINFO, 1), reflect);
		assert_int_equal(was_set(SOL_IPV6, IPV6_AUTOFLOWLABEL, 0), reflect);
		assert_false(was_touched(SOL_IP, IP_TTL));
		assert_false(was_touched(SOL_IPV6, IPV6_RECVTCLASS));
		fake.on = true;
		assert_int_equal(socket_want_tos(&c), 0);
		fake.on = false;
		assert_true(was_set(SOL_IPV6, IPV6_RECVTCLASS, 1));
		socket_close(&c);
	}
}

static void busy_polling(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	o.busy_poll_us = 50;
	o.busy_poll_budget = 8;
	o.prefer_busy_poll = true;
	assert_int_equal(open_it(true), 0);
	assert_true(was_set(SOL_SOCKET, SO_BUSY_POLL, 50));
	assert_true(was_set(SOL_SOCKET, SO_PREFER_BUSY_POLL, 1));
	assert_true(was_set(SOL_SOCKET, SO_BUSY_POLL_BUDGET, 8));
}

static void a_smaller_buffer_without_privileges(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	fake.refuse_level = SOL_SOCKET;
	fake.refuse_name = SO_RCVBUFFORCE;
	fake.refuse_error = EPERM;
	assert_int_equal(open_it(true), 0);
	assert_true(was_touched(SOL_SOCKET, SO_RCVBUF));
	assert_true(c.receive_buffer_bytes > 0);
}

#define HARDWARE_RX (SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE)
#define KERNEL_RX (SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE)
#define TX_OPTIONS (SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY)

static const struct {
	enum source stamp;
	bool no_tx;
	int flags;
	bool tx;
} modes[] = {
	{ SOURCE_HARDWARE, false, HARDWARE_RX | SOF_TIMESTAMPING_TX_HARDWARE | TX_OPTIONS, true },
	{ SOURCE_KERNEL, false, KERNEL_RX | SOF_TIMESTAMPING_TX_SOFTWARE | TX_OPTIONS, true },
	{ SOURCE_USER, false, 0, false },
	{ SOURCE_HARDWARE, true, HARDWARE_RX, false },
	{ SOURCE_KERNEL, true, KERNEL_RX, false },
	{ SOURCE_USER, true, 0, false },
};

static void flags_of_each_mode(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes) * 2; i++) {
		size_t mode = i / 2;

		prepare(i % 2 ? ROLE_REFLECT : ROLE_EMIT, modes[mode].stamp);
		o.no_tx_stamps = modes[mode].no_tx;
		assert_int_equal(open_it(true), 0);
		assert_int_equal(fake.flags, modes[mode].flags);
		assert_int_equal(was_touched(SOL_SOCKET, SO_TIMESTAMPING), modes[mode].flags != 0);
		assert_int_equal(c.wire, modes[mode].stamp);
		assert_int_equal(c.tx_stamps, modes[mode].tx);
		/* Only a socket whose timestamps have ids tests the kernel's count, and a connected socket
		 * uses the kernel's. */
		assert_int_equal(fake.sends, modes[mode].tx && o.role == ROLE_REFLECT);
		assert_int_equal(c.peer_socket[0].id_by_message, modes[mode].tx && o.role == ROLE_REFLECT);
		assert_int_equal(c.peer_socket[0].bare, modes[mode].stamp == SOURCE_USER && o.role == ROLE_EMIT);
		socket_close(&c);
	}
}

/* With --stamp-every each packet requests by itself. */
static void some_stamps_only(void **state)
{
	static const int flags[] = { [SOURCE_KERNEL] = KERNEL_RX | TX_OPTIONS,
				     [SOURCE_HARDWARE] = HARDWARE_RX | TX_OPTIONS };

	(void)state;
	for (enum source stamp = SOURCE_KERNEL; stamp <= SOURCE_HARDWARE; stamp++) {
		prepare(ROLE_EMIT, stamp);
		o.stamp_every = 2;
		assert_int_equal(open_it(true), 0);
		assert_int_equal(fake.flags, flags[stamp]);
		assert_true(c.tx_stamps && c.some_stamps);
		socket_close(&c);
	}
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	o.stamp_every = 1;
	assert_int_equal(open_it(true), 0);
	assert_false(c.some_stamps);
	socket_close(&c);
}

static void less_than_was_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (unsigned bit = 0; bit < 16; bit++) {
			if (!(modes[i].flags & 1 << bit))
				continue;
			prepare(ROLE_REFLECT, modes[i].stamp);
			o.no_tx_stamps = modes[i].no_tx;
			fake.granted_mask = ~(1 << bit);
			check_refused(EOPNOTSUPP);
		}
	}
}

static void who_counts_the_ids(void **state)
{
	static const struct {
		int error;
		bool by_message;
	} answers[] = { { EINVAL, false }, { EACCES, true }, { ENETUNREACH, true }, { 0, false } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		prepare(ROLE_REFLECT, SOURCE_KERNEL);
		fake.send_error = answers[i].error;
		assert_int_equal(open_it(true), 0);
		assert_int_equal(c.peer_socket[0].id_by_message, answers[i].by_message);
		socket_close(&c);
	}
	/* Emitters that name the receiver with each packet; these sockets need privileges. */
	for (int t = TRANSPORT_UDP; t <= TRANSPORT_ICMP; t++) {
		prepare(ROLE_EMIT, SOURCE_KERNEL);
		o.transport = t;
		fake.send_error = EACCES;
		fake.on = true;
		if (!socket_open(&c, &o, &lo))
			assert_int_equal(c.peer_socket[0].id_by_message, t == TRANSPORT_L2 || t == TRANSPORT_ICMP);
		else
			assert_true(t == TRANSPORT_L2 || t == TRANSPORT_ICMP);
		socket_close(&c);
	}
}

static void errors_of_bind(void **state)
{
	static const int errors[] = { EADDRINUSE, EACCES, EINVAL };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		prepare(ROLE_REFLECT, SOURCE_KERNEL);
		fake.bind_error = errors[i];
		check_refused(errors[i]);
	}
	/* The second socket of the emitter. */
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	fake.bind_error = EADDRINUSE;
	fake.bind_error_at = 1;
	open_refused(EADDRINUSE); /* a different port each time */
}

static void errors_of_connect(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	fake.connect_error = ENETUNREACH;
	check_refused(ENETUNREACH);
}

static void no_socket(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	fake.socket_error_at = 1;
	check_refused(EMFILE);
}

/* rant.h: a set-up function that fails has already printed its line. */
static void no_second_socket(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	fake.socket_error_at = 3; /* the second only tests the kernel's capabilities */
	check_refused(EMFILE);
}

/* ---- The real kernel, on lo -------------------------------------------------------------------------------------- */

/* A socket on 127.0.0.1 and its port. */
static int peer_socket(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(a);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, bytes), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &bytes), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t bytes = sizeof(a);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &bytes), 0);
	return ntohs(a.sin_port);
}

static void send_to(int fd, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a)), 1);
}

/* True: open. Else the test is skipped with the reason, unless privileges are not the reason. */
static bool really_open(void)
{
	int error = open_it(false);

	if (!error)
		return true;
	socket_close(&c);
	if (error != -EPERM && error != -EACCES && error != -ENODEV)
		fail_msg("%d: %s", error, line);
	print_message("SKIP: no socket on lo here: %s", line);
	return false;
}

static void strays_are_counted(void **state)
{
	uint16_t server_port, stranger_port;
	int server = peer_socket(&server_port), stranger = peer_socket(&stranger_port);
	char octet[8];

	(void)state;
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	o.port = server_port;
	if (!really_open()) {
		close(server);
		close(stranger);
		skip();
	}
	uint16_t port = port_of(c.peer_socket[0].fd);

	assert_int_equal(port_of(c.stray_fd), port);
	/* Datagrams of the server are not strays. */
	for (int i = 0; i < 3; i++)
		send_to(server, port);
	for (int i = 0; i < 5; i++)
		send_to(stranger, port);
	for (int i = 0; i < 3; i++)
		assert_int_equal(recv(c.peer_socket[0].fd, octet, sizeof(octet), MSG_DONTWAIT), 1);
	assert_int_equal(recv(c.peer_socket[0].fd, octet, sizeof(octet), MSG_DONTWAIT), -1);
	assert_int_equal(socket_count_strays(&c), 5);
	close(server);
	close(stranger);
}

static void strays_that_found_no_room_are_counted_too(void **state)
{
	uint16_t server_port, stranger_port;
	int server = peer_socket(&server_port), stranger = peer_socket(&stranger_port);

	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	o.port = server_port;
	if (!really_open()) {
		close(server);
		close(stranger);
		skip();
	}
	set_int(c.stray_fd, SOL_SOCKET, SO_RCVBUF, 2304);
	for (int i = 0; i < 300; i++)
		send_to(stranger, port_of(c.peer_socket[0].fd));
	assert_int_equal(socket_count_strays(&c), 300);
	close(server);
	close(stranger);
}

/* A foreign sender as fast as the counting. */
static struct {
	int fd, sent;
	uint16_t port;
} flood = { .fd = -1 };

#define FLOOD_MAX 20000

ssize_t __wrap_recv(int fd, void *to, size_t bytes, int flags)
{
	ssize_t got = __real_recv(fd, to, bytes, flags);

	if (flood.fd < 0 || flood.sent == FLOOD_MAX)
		return got;
	send_to(flood.fd, flood.port);
	flood.sent++;
	return got;
}

static void strays_that_do_not_end_are_counted_up_to_now(void **state)
{
	uint16_t server_port, stranger_port;
	int server = peer_socket(&server_port), stranger = peer_socket(&stranger_port), queued = 100;

	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	o.port = server_port;
	if (!really_open()) {
		close(server);
		close(stranger);
		skip();
	}
	flood.port = port_of(c.peer_socket[0].fd);
	for (int i = 0; i < queued; i++)
		send_to(stranger, flood.port);
	flood.fd = stranger;
	int counted = (int)socket_count_strays(&c);

	flood.fd = -1;
	assert_in_range(flood.sent, 1, queued + 1);
	/* All datagrams before the last read; the kernel drops and counts later arrivals. */
	assert_int_equal(counted, queued + flood.sent);
	close(server);
	close(stranger);
}

/* Drops of our own socket, in both roles; without the other socket's. */
static void own_drops_are_counted(void **state)
{
	(void)state;
	for (enum role role = ROLE_EMIT; role <= ROLE_REFLECT; role++) {
		uint16_t server_port, stranger_port;
		int server = peer_socket(&server_port), stranger = peer_socket(&stranger_port);
		int64_t taken = 0;

		prepare(role, SOURCE_USER);
		o.port = role == ROLE_EMIT ? server_port : 0;
		if (!really_open()) {
			close(server);
			close(stranger);
			skip();
		}
		socket_note_drops(&c);
		assert_int_equal(c.dropped.value, 0);
		set_int(c.peer_socket[0].fd, SOL_SOCKET, SO_RCVBUF, 2304);
		if (c.stray_fd >= 0)
			set_int(c.stray_fd, SOL_SOCKET, SO_RCVBUF, 2304);
		for (int i = 0; i < 300; i++)
			send_to(server, port_of(c.peer_socket[0].fd));
		for (int i = 0; c.stray_fd >= 0 && i < 50; i++)
			send_to(stranger, port_of(c.peer_socket[0].fd));
		socket_note_drops(&c);
		for (char octet; recv(c.peer_socket[0].fd, &octet, sizeof(octet), MSG_DONTWAIT) >= 0; taken++)
			;
		assert_true(taken > 0 && taken < 300);
		assert_int_equal(c.dropped.value, 300 - taken);
		socket_close(&c);
		close(server);
		close(stranger);
	}
}

/* The kernel's counter has 32 bits, and may have counted before. */
static void own_drops_by_a_counter_that_wraps(void **state)
{
	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	fake.drops = UINT32_MAX - 9;
	assert_int_equal(open_it(true), 0);
	fake.on = true;
	fake.drops += 37935;
	socket_note_drops(&c);
	assert_int_equal(c.peer_sockets, PEER_SOCKETS_EACH);
	assert_int_equal(c.dropped.value, PEER_SOCKETS_EACH * 37935);
	socket_close(&c);

	/* It cannot be read at the beginning, or at the end. */
	for (int at_end = 0; at_end <= 1; at_end++) {
		prepare(ROLE_REFLECT, SOURCE_USER);
		fake.drops_error = at_end ? 0 : EINVAL;
		assert_int_equal(open_it(true), 0);
		fake.on = true;
		fake.drops_error = at_end ? EINVAL : 0;
		socket_note_drops(&c);
		assert_false(c.dropped.known);
		socket_close(&c);
	}
}

static void a_reflector_has_no_strays(void **state)
{
	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	o.port = 0;
	if (!really_open())
		skip();
	assert_int_equal(c.stray_fd, -1);
	assert_int_equal(socket_count_strays(&c), 0);
}

static void a_port_that_is_taken(void **state)
{
	struct channel first;

	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	o.port = 0;
	if (!really_open())
		skip();
	first = c;
	o.port = port_of(first.peer_socket[0].fd);
	assert_int_equal(open_it(false), -EADDRINUSE);
	assert_int_equal(lines(), 1);
	assert_non_null(strstr(line, "taken"));
	socket_close(&first);
}

static void an_interface_that_is_not_there(void **state)
{
	struct nic none = { .name = "no-such-if" };
	struct util_capture capture;

	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	util_capture_begin(&capture);
	int error = socket_open(&c, &o, &none);

	if (!error)
		error = socket_bind(&c, &o, &none);

	util_capture_end(&capture, line, sizeof(line));
	assert_true(error == -ENODEV || error == -EPERM);
	assert_int_equal(lines(), 1);
	assert_non_null(strstr(line, "no-such-if"));
}

/* The id that the kernel assigned to the only sent packet; -1 without a timestamp. */
static int64_t first_id(int fd)
{
	char control[256];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = fd };

	poll(&p, 1, 1000);
	if (recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return -1;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		struct sock_extended_err e;

		if (h->cmsg_level != SOL_IP || h->cmsg_type != IP_RECVERR)
			continue;
		memcpy(&e, CMSG_DATA(h), sizeof(e));
		return e.ee_data;
	}
	return -1;
}

/* Testing the kernel sends nothing: no datagram, no timestamp, and an unchanged id count. */
static void ids_count_from_zero(void **state)
{
	uint16_t server_port;
	int server = peer_socket(&server_port);
	char octet[8];

	(void)state;
	prepare(ROLE_EMIT, SOURCE_KERNEL);
	o.port = server_port;
	if (!really_open()) {
		close(server);
		skip();
	}
	assert_int_equal(recvmsg(c.peer_socket[0].fd, &(struct msghdr){ 0 }, MSG_ERRQUEUE | MSG_DONTWAIT), -1);
	assert_int_equal(recv(server, octet, sizeof(octet), MSG_DONTWAIT), -1);
	assert_int_equal(send(c.peer_socket[0].fd, "x", 1, 0), 1);
	assert_int_equal(first_id(c.peer_socket[0].fd), 0);
	close(server);
}

static void the_reply_has_the_right_ttl(void **state)
{
	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	o.port = 0;
	if (!really_open())
		skip();
	assert_int_equal(get_int(c.peer_socket[0].fd, SOL_IP, IP_TTL), 255);
	assert_int_equal(get_int(c.peer_socket[0].fd, SOL_IP, IP_RECVTTL), 1);
	assert_int_equal(get_int(c.peer_socket[0].fd, SOL_IP, IP_PKTINFO), 1);
}

static void the_priority_is_not_that_of_the_tos(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	o.dscp = 46;
	o.priority = 3;
	if (!really_open())
		skip();
	assert_int_equal(get_int(c.peer_socket[0].fd, SOL_IP, IP_TOS), 46 << 2);
	assert_int_equal(get_int(c.peer_socket[0].fd, SOL_SOCKET, SO_PRIORITY), 3);
}

/* With the MTU that lo really has. */
static void a_size_at_the_limit(void **state)
{
	uint16_t server_port;
	int server = peer_socket(&server_port), mtu, limit;
	static char packet[65536];

	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	o.port = server_port;
	if (!really_open()) {
		close(server);
		skip();
	}
	mtu = get_int(c.peer_socket[0].fd, SOL_IP, IP_MTU);
	assert_true(mtu > 28);
	limit = mtu - 28 < 65507 ? mtu - 28 : 65507; /* the maximum of the option */
	assert_int_equal(send(c.peer_socket[0].fd, packet, (size_t)limit, 0), limit);
	assert_int_equal(send(c.peer_socket[0].fd, packet, (size_t)limit + 1, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	socket_close(&c);
	lo.mtu = mtu;
	o.size_bytes = limit;
	assert_int_equal(open_it(false), 0);
	close(server);
}

/* Result of c for a datagram. */
static struct arrival arrival_of(int from, uint16_t port)
{
	struct pollfd p = { .fd = c.peer_socket[0].fd, .events = POLLIN };
	struct arrival a = { 0 };

	send_to(from, port);
	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_int_equal(stamp_receive(&c, &a), 1);
	return a;
}

static int received_tos(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char control[64] = { 0 };
	struct iovec none = { .iov_base = NULL };
	struct msghdr m = { .msg_iov = &none, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };

	assert_int_equal(poll(&p, 1, 1000), 1);
	assert_true(recvmsg(fd, &m, MSG_DONTWAIT) >= 0);
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
		if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_TOS)
			return *(uint8_t *)CMSG_DATA(h);
	return -1;
}

/* DSCP and ECN of a request are reported once enabled, and its answer is sent with them. */
static void the_tos_comes_and_goes(void **state)
{
	uint16_t peer_port;
	int peer = peer_socket(&peer_port);
	struct arrival a;

	(void)state;
	prepare(ROLE_REFLECT, SOURCE_USER);
	o.port = 0;
	if (!really_open()) {
		close(peer);
		skip();
	}
	assert_int_equal(set_int(peer, SOL_IP, IP_RECVTOS, 1), 0);
	assert_int_equal(set_int(peer, SOL_IP, IP_TOS, 0xb9), 0);
	assert_int_equal(arrival_of(peer, port_of(c.peer_socket[0].fd)).tos, -1);
	assert_int_equal(socket_want_tos(&c), 0);
	a = arrival_of(peer, port_of(c.peer_socket[0].fd));
	assert_int_equal(a.tos, 0xb9);
	assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(received_tos(peer), 0);
	a.in_class = true;
	assert_int_equal(stamp_send(&c, "x", 1, 0, &a), 0);
	assert_int_equal(received_tos(peer), 0xb8);
	assert_int_equal(set_int(peer, SOL_IP, IP_TOS, 0), 0);
	assert_int_equal(arrival_of(peer, port_of(c.peer_socket[0].fd)).tos, 0);
	close(peer);
}

static void closing_twice(void **state)
{
	(void)state;
	prepare(ROLE_EMIT, SOURCE_USER);
	assert_int_equal(open_it(true), 0);
	socket_close(&c);
	assert_int_equal(c.peer_socket[0].fd, -1);
	assert_int_equal(c.stray_fd, -1);
	socket_close(&c);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_refused_option), TEST(what_is_set), TEST(busy_polling),
			TEST(a_smaller_buffer_without_privileges),
		TEST(flags_of_each_mode), TEST(some_stamps_only), TEST(less_than_was_asked_for),
		TEST(who_counts_the_ids), TEST(errors_of_bind),
		TEST(errors_of_connect), TEST(no_socket), TEST(no_second_socket), TEST(strays_are_counted),
		TEST(strays_that_found_no_room_are_counted_too), TEST(a_reflector_has_no_strays),
		TEST(strays_that_do_not_end_are_counted_up_to_now),
		TEST(own_drops_are_counted), TEST(own_drops_by_a_counter_that_wraps), TEST(a_port_that_is_taken),
		TEST(an_interface_that_is_not_there), TEST(ids_count_from_zero), TEST(the_reply_has_the_right_ttl),
		TEST(closing_twice), TEST(what_the_header_carries), TEST(what_does_not_fit_the_interface),
		TEST(the_tos_is_asked_for_once), TEST(the_kernels_time_is_asked_for), TEST(the_priority_is_not_that_of_the_tos), TEST(a_size_at_the_limit),
		TEST(the_tos_comes_and_goes), TEST(what_is_set_of_ipv6),
	};

	return golden_run(tests);
}
