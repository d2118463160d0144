/* build: wraps=socket sources=wire/socket.c,wire/ethernet.c,wire/icmp.c,wire/ports.c,wire/listen.c,wire/kernel_call.c,wire/kernel_stamps.c,wire/timestamping.c,wire/peer_socket.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of transports, and packets through an encapsulating transport: on the loopback of the real
 * kernel, if permitted. */
#include "wire/transport.c"

#include "wire/kernel_call.h"
#include "wire/socket.h"
#include "wire/timestamping.h"

#include "golden.h"

#include <netinet/ip_icmp.h>
#include <poll.h>

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);

static struct options o;
static char line[512];

static void said(int port, int error)
{
	const struct nic n = { .name = "eth0" };
	struct util_capture capture;

	util_capture_begin(&capture);
	transport_say_port(port, &n, error);
	util_capture_end(&capture, line, sizeof(line));
}

static void ports_that_cannot_be_had(void **state)
{
	(void)state;
	said(862, EADDRINUSE);
	golden_line(line);
	said(319, EADDRINUSE);
	golden_line(line);
	said(862, EACCES);
	golden_line(line);
	said(319, EACCES);
	golden_line(line);
}

static void names(void **state)
{
	char text[TRANSPORT_NAME_BYTES];

	(void)state;
	o = (struct options){ .transport = TRANSPORT_PTP, .port = 319 };
	o.server.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xfffefdfc) };
	transport_name_server(&o, text);
	assert_string_equal(text, "255.254.253.252 port 319");
	assert_string_equal(transport_of(&o, AF_INET)->name, "PTP in UDP/IPv4");
	o.transport = TRANSPORT_UDP;
	assert_string_equal(transport_of(&o, AF_INET)->name, "UDP/IPv4");
	assert_false(transport_of(&o, AF_INET)->one_port || transport_of(&o, AF_INET)->encapsulation_bytes);
}

static void both_families(void **state)
{
	char text[TRANSPORT_NAME_BYTES];

	(void)state;
	o = (struct options){ .transport = TRANSPORT_PTP, .port = 319 };
	o.server.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					      .sin6_addr = { { { 0x20, 1, 0xd, 0xb8, [15] = 1 } } } };
	transport_name_server(&o, text);
	assert_string_equal(text, "2001:db8::1 port 319");
	for (int i = TRANSPORT_UDP; i <= TRANSPORT_PTP; i++) {
		const struct transport *four, *six;

		o.transport = i;
		four = transport_of(&o, AF_INET);
		six = transport_of(&o, AF_INET6);
		assert_int_equal(four->domain, AF_INET);
		assert_int_equal(six->domain, AF_INET6);
		assert_int_equal(six->behind_bytes, i == TRANSPORT_PTP ? 2 : 0);
		assert_int_equal(six->header_bytes - four->header_bytes, 20 + six->behind_bytes);
		assert_int_equal(six->encapsulation_bytes, four->encapsulation_bytes);
		assert_int_equal(six->one_port, four->one_port);
		assert_int_equal(six->ip_level, SOL_IPV6);
		assert_int_equal(six->pktinfo_bytes, sizeof(struct in6_pktinfo));
	}
	o.transport = TRANSPORT_L2;
	assert_ptr_equal(transport_of(&o, AF_INET6), transport_of(&o, AF_UNSPEC));
	assert_int_equal(transport_of(&o, AF_INET6)->domain, AF_PACKET);
}

/* The clock is the interface: by its address, or where it has none by its number. */
static void seal(void **state)
{
	static const uint8_t by_mac[8] = { 2, 1, 0x55, 0xff, 0xfe, 0xaa, 7, 9 },
					 by_number[8] = { 0, 0, 0, 0xff, 0xfe, 0, 1, 2 };
	struct nic n = { .is_ethernet = true, .mac = { 2, 1, 0x55, 0xaa, 7, 9 }, .index = 258 };
	struct encapsulation e;

	(void)state;
	o = (struct options){ .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_SYNC, .ptp_domain = 9,
			      .role = ROLE_REFLECT };
	transport_seal(&e, &o, &n);
	assert_memory_equal(e.sent + ENCAPSULATION_AT_IDENTITY, by_mac, 8);
	assert_int_equal(e.sent[ENCAPSULATION_AT_TYPE], PTP_SYNC);
	assert_int_equal(e.sent[ENCAPSULATION_AT_DOMAIN], 9);
	assert_int_equal(get16(e.sent + ENCAPSULATION_AT_TLV), ENCAPSULATION_REPLY);
	o.role = ROLE_EMIT;
	n.is_ethernet = false;
	transport_seal(&e, &o, &n);
	assert_memory_equal(e.sent + ENCAPSULATION_AT_IDENTITY, by_number, 8);
	assert_int_equal(get16(e.sent + ENCAPSULATION_AT_TLV), ENCAPSULATION_REQUEST);
}

/* Worked out by hand: (8 + frame + 12) * 8 bits, at 1 bit/ns for each Gbit/s. */
static void time_on_the_wire(void **state)
{
	static const struct {
		size_t frame_bytes;
		int speed_mbps;
		int64_t expected_ns;
	} times[] = {
		{ 64, 10, 67200 }, { 64, 100, 6720 }, { 64, 1000, 672 }, { 64, 2500, 269 /* 268.8 */ },
		{ 64, 10000, 67 /* 67.2 */ }, { 64, 25000, 27 /* 26.88 */ }, { 64, 100000, 7 /* 6.72 */ },
		{ 64, 400000, 2 /* 1.68 */ }, { 64, INT_MAX, 0 },
		{ 1500, 10000, 1216 }, { 1500, 25000, 486 /* 486.4 */ }, { 1500, 100000, 122 /* 121.6 */ },
		{ 1518, 10000, 1230 /* 1230.4 */ }, { 65535, 10, 52444000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(times); i++)
		assert_int_equal(transport_wire_ns(times[i].frame_bytes, times[i].speed_mbps), times[i].expected_ns);
}

/* Ethernet 14, IPv4 20 or IPv6 40, UDP or ICMP 8, PTP encapsulation 48, in UDP/IPv6 with 2 octets after it; 4 of the
 * frame check sequence. */
static void octets_of_a_frame(void **state)
{
	static const struct {
		int transport, family;
		size_t stamp_bytes, expected;
	} rows[] = {
		{ TRANSPORT_UDP, AF_INET, 44, 90 }, { TRANSPORT_UDP, AF_INET6, 44, 110 },
		{ TRANSPORT_UDP, AF_INET, 96, 142 }, { TRANSPORT_UDP, AF_INET, 1472, 1518 },
		{ TRANSPORT_UDP, AF_INET6, 1452, 1518 },
		{ TRANSPORT_PTP, AF_INET, 44, 138 }, { TRANSPORT_PTP, AF_INET6, 44, 160 },
		{ TRANSPORT_L2, AF_UNSPEC, 44, 110 },
		{ TRANSPORT_ICMP, AF_INET, 44, 90 }, { TRANSPORT_ICMP, AF_INET6, 44, 110 },
		/* Padded to 64, up to 18 octets. */
		{ TRANSPORT_UDP, AF_INET, 0, 64 }, { TRANSPORT_UDP, AF_INET, 18, 64 }, { TRANSPORT_UDP, AF_INET, 19, 65 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		o = (struct options){ .transport = rows[i].transport };

		const struct transport *t = transport_of(&o, rows[i].family);

		assert_int_equal(transport_frame_bytes(t->header_bytes, rows[i].stamp_bytes), rows[i].expected);
		if (t->instead)
			assert_int_equal(t->instead->header_bytes, t->header_bytes);
	}
}

/* ---- Through the kernel ------------------------------------------------------------------------------------------ */

#define PORT 10319 /* not that of PTP: something on this machine may have it */

static struct channel c;
static struct encapsulation peer;
static struct sockaddr_in remote = { .sin_family = AF_INET };

static int arrives(struct arrival *a)
{
	struct pollfd p = { .fd = c.at->fd, .events = POLLIN };

	poll(&p, 1, 1000);
	c.direct = KERNEL_CALL_IS_KNOWN && !c.direct; /* directly and by libc alternately */
	return stamp_receive(&c, a);
}

static void send_as(int fd, const uint8_t *packet, size_t packet_bytes, size_t cut)
{
	uint8_t message[2048];

	encapsulation_seal(&peer, packet, packet_bytes);
	memcpy(message, peer.sent, ENCAPSULATION_BYTES);
	memcpy(message + ENCAPSULATION_BYTES, packet, packet_bytes);
	assert_int_equal(sendto(fd, message, ENCAPSULATION_BYTES + packet_bytes - cut, 0, (struct sockaddr *)&remote,
				sizeof(remote)),
			 ENCAPSULATION_BYTES + packet_bytes - cut);
}

static void through_the_kernel(void **state)
{
	static const uint8_t packet[100] = { 1, 2, 3, 4, 5, [99] = 77 };
	static const struct nic lo = { .name = "lo", .index = 1 };
	struct util_capture capture;
	struct arrival a = { 0 };
	uint8_t answer[2048];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	(void)state;
	c = (struct channel)CHANNEL_CLOSED;
	o = (struct options){ .transport = TRANSPORT_PTP, .ptp_type = PTP_TYPE_DELAY_REQ, .ptp_domain = 127,
			      .role = ROLE_REFLECT,
			      .stamp = SOURCE_USER, .port = PORT, .ttl = 255, .dscp = -1, .priority = -1 };
	util_capture_begin(&capture);
	error = socket_open(&c, &o, &lo);
	if (!error)
		error = socket_bind(&c, &o, &lo);
	util_capture_end(&capture, line, sizeof(line));
	if (error == -EPERM)
		skip();
	assert_int_equal(error, 0);
	assert_int_equal(c.peer_sockets, 1);
	remote.sin_port = htons(PORT);
	remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	encapsulation_prepare(&peer, PTP_SYNC, 127, false, (const uint8_t[8]){ 0 });

	send_as(fd, packet, sizeof(packet), 0);
	assert_int_equal(arrives(&a), 1);
	assert_int_equal(a.bytes, sizeof(packet));
	assert_memory_equal(c.datagram, packet, sizeof(packet));
	assert_false(a.truncated);
	assert_int_equal(stamp_send(&c, c.datagram, a.bytes, 0, &a), 0);
	assert_int_equal(recv(fd, answer, sizeof(answer), 0), ENCAPSULATION_BYTES + sizeof(packet));
	assert_memory_equal(answer + ENCAPSULATION_BYTES, packet, sizeof(packet));
	memcpy(peer.received, answer, ENCAPSULATION_BYTES);
	assert_int_equal(encapsulation_open(&peer, ENCAPSULATION_BYTES + sizeof(packet)), sizeof(packet));

	/* Cut off: within the packet, within the message, and all of it. */
	for (size_t cut = 2; cut <= ENCAPSULATION_BYTES + sizeof(packet); cut += 73) {
		send_as(fd, packet, sizeof(packet), cut);
		assert_int_equal(arrives(&a), 1);
		assert_int_equal(a.bytes, 0);
	}
	socket_close(&c);
	close(fd);
}

/* A ping socket is refused; another program's ping reply arrives as soon as the raw socket exists. */
static bool others_ping;

int __wrap_socket(int domain, int type, int protocol)
{
	const struct icmphdr reply = { .type = ICMP_ECHOREPLY, .checksum = 0xffff };
	int fd, theirs;

	if (others_ping && (type & 0xf) == SOCK_DGRAM) {
		errno = EACCES;
		return -1;
	}
	fd = __real_socket(domain, type, protocol);
	if (!others_ping || fd < 0)
		return fd;
	theirs = __real_socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	assert_int_equal(sendto(theirs, &reply, sizeof(reply), 0, (struct sockaddr *)&remote, sizeof(remote)),
			 sizeof(reply));
	close(theirs);
	return fd;
}

static void what_came_before_the_filter_of_a_raw_socket(void **state)
{
	static const struct nic lo = { .name = "lo", .index = 1, .first4.any.sa_family = AF_INET };
	int fd = __real_socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP), error;
	uint8_t octets[64];

	(void)state;
	if (fd < 0)
		skip();
	close(fd);
	remote = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	c = (struct channel)CHANNEL_CLOSED;
	o = (struct options){ .transport = TRANSPORT_ICMP, .role = ROLE_EMIT, .stamp = SOURCE_USER, .ttl = 255,
			      .dscp = -1, .priority = -1,
			      .server.in = remote };
	others_ping = true;
	error = socket_open(&c, &o, &lo);
	if (!error)
		error = socket_bind(&c, &o, &lo);
	others_ping = false;
	assert_int_equal(error, 0);
	assert_int_equal(c.transport->type, SOCK_RAW);
	assert_memory_equal(&c.server, &o.server, sizeof(c.server));
	assert_int_equal(recv(c.peer_socket[0].fd, octets, sizeof(octets), MSG_DONTWAIT), -1);
	assert_int_equal(socket_count_strays(&c), 0);
	socket_close(&c);
}

/* Those in which the interface has an address; IPv4 where it has none. */
static void the_families_of_a_reflector(void **state)
{
	const union address four = { .any.sa_family = AF_INET }, six = { .any.sa_family = AF_INET6 },
				   none = { .any.sa_family = AF_UNSPEC };
	const struct {
		union address first4, first6, own;
		bool ipv4, ipv6;
		const char *name;
	} cases[] = {
		{ four, none, none, false, false, "UDP/IPv4" }, { none, none, none, false, false, "UDP/IPv4" },
		{ none, six, none, false, false, "UDP/IPv6" }, { four, six, none, false, false, "UDP/IPv4 and IPv6" },
		{ four, six, none, true, false, "UDP/IPv4" }, { four, six, none, false, true, "UDP/IPv6" },
		{ four, six, six, false, false, "UDP/IPv6" }, { four, six, four, false, false, "UDP/IPv4" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct nic n = { .name = "lo", .first4 = cases[i].first4, .first6 = cases[i].first6 };

		c = (struct channel)CHANNEL_CLOSED;
		o = (struct options){ .role = ROLE_REFLECT, .stamp = SOURCE_USER, .ttl = 255, .dscp = -1,
				      .priority = -1,
				      .own = cases[i].own, .ipv4 = cases[i].ipv4, .ipv6 = cases[i].ipv6 };
		assert_int_equal(socket_open(&c, &o, &n), 0);
		assert_string_equal(socket_name(&c), cases[i].name);
		socket_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_that_cannot_be_had), cmocka_unit_test(names), cmocka_unit_test(both_families),
			cmocka_unit_test(the_families_of_a_reflector), cmocka_unit_test(seal),
			cmocka_unit_test(time_on_the_wire), cmocka_unit_test(octets_of_a_frame),
		cmocka_unit_test(through_the_kernel), cmocka_unit_test(what_came_before_the_filter_of_a_raw_socket),
	};

	return golden_run(tests);
}
