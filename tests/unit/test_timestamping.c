/* build: wraps=sendmsg,recvmsg,send,recv,ppoll,clock_gettime sources=tests/unit/fake_kernel.c,tests/unit/fake_script.c,tests/unit/fake_account.c,tests/unit/fake_reflector.c,tests/unit/fake_emitter.c,wire/packet.c,wire/tlv*.c,wire/hmac.c libs=-lm */
// SPDX-License-Identifier: GPL-2.0-or-later
/* Each check of a control message by itself: the message is the kernel's except for one change. */
#include "wire/timestamping.c"

#include "util.h"

#include "fake_kernel.h"

#include <arpa/inet.h>

#define SECONDS 1700000000
#define SOFTWARE_NS 111
#define HARDWARE_NS 222
#define KEY 0xfffffff0

static struct channel c;

static const struct transport ipv4 = {
	.ip_level = SOL_IP,
	.recverr_type = IP_RECVERR,
	.recverr_bytes = sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in),
	.ttl_type = IP_TTL,
	.pktinfo_type = IP_PKTINFO,
	.pktinfo_bytes = sizeof(struct in_pktinfo),
	.tos_type = IP_TOS,
	.tos_bytes = sizeof(uint8_t),
};

static void begin(enum source wire)
{
	memset(&c, 0, sizeof(c));
	c.transport = c.peer_socket[0].transport = &ipv4;
	c.at = &c.peer_socket[0];
	c.peer_sockets = c.listeners = 1;
	c.at->fd = FAKE_FD;
	c.wire = wire;
	fake_start(ROLE_REFLECT, wire);
	fake.manual = true;
}

static int teardown(void **state)
{
	(void)state;
	fake_end();
	return 0;
}

static int64_t time_of(enum source wire)
{
	return SECONDS * NS_PER_S + (wire == SOURCE_HARDWARE ? HARDWARE_NS : SOFTWARE_NS);
}

/* ---- The error queue --------------------------------------------------------------------------------------------- */

/* Deviations from a good entry. */
struct change {
	const char *name;
	int stamp_level, stamp_type, error_level, error_type; /* added */
	long stamp_bytes, error_bytes; /* added */
	unsigned ee_errno, ee_origin, ee_info; /* replace the good values if not 0 */
	bool no_stamp, no_error, no_software, no_hardware, swapped;
	int flags;
	bool software_good, hardware_good;
};

#define BOTH_GOOD .software_good = true, .hardware_good = true

static const struct change changes[] = {
	{ .name = "good", BOTH_GOOD },
	{ .name = "the other order", .swapped = true, BOTH_GOOD },
	{ .name = "no software stamp", .no_software = true, .hardware_good = true },
	{ .name = "no hardware stamp", .no_hardware = true, .software_good = true },
	{ .name = "stamps of zero", .no_software = true, .no_hardware = true },
	{ .name = "stamp level", .stamp_level = 1 },
	{ .name = "stamp type", .stamp_type = 1 },
	{ .name = "stamp 1 shorter", .stamp_bytes = -1 },
	{ .name = "stamp 8 shorter", .stamp_bytes = -8 },
	{ .name = "stamp 16 shorter", .stamp_bytes = -16 },
	{ .name = "stamp empty", .stamp_bytes = -48 },
	{ .name = "stamp 1 longer", .stamp_bytes = 1 },
	{ .name = "stamp 16 longer", .stamp_bytes = 16 },
	{ .name = "error level", .error_level = 1 },
	{ .name = "error type", .error_type = 1 },
	{ .name = "error 1 shorter", .error_bytes = -1 },
	{ .name = "error without address", .error_bytes = -16 },
	{ .name = "error empty", .error_bytes = -32 },
	{ .name = "error 1 longer", .error_bytes = 1 },
	{ .name = "error of IPv6", .error_bytes = 12 },
	{ .name = "errno", .ee_errno = ECONNREFUSED },
	{ .name = "origin ICMP", .ee_origin = SO_EE_ORIGIN_ICMP },
	{ .name = "origin local", .ee_origin = SO_EE_ORIGIN_LOCAL },
	{ .name = "origin zerocopy", .ee_origin = SO_EE_ORIGIN_ZEROCOPY },
	{ .name = "info SCHED", .ee_info = SCM_TSTAMP_SCHED },
	{ .name = "info ACK", .ee_info = SCM_TSTAMP_ACK },
	{ .name = "ICMP", .ee_errno = ECONNREFUSED, .ee_origin = SO_EE_ORIGIN_ICMP },
	{ .name = "no stamp", .no_stamp = true },
	{ .name = "no error", .no_error = true },
	{ .name = "nothing", .no_stamp = true, .no_error = true },
	{ .name = "with the packet, as of a PHY", .flags = MSG_TRUNC, BOTH_GOOD },
};

static struct fake_message entry(const struct change *w)
{
	struct fake_message m = { .flags = MSG_ERRQUEUE | w->flags };
	struct {
		struct stamps stamps;
		uint8_t more[32];
	} stamp = { .more = { 0 } };
	struct {
		struct sock_extended_err e;
		struct sockaddr_in from;
		uint8_t more[32];
	} error = { .e = { .ee_errno = w->ee_errno ? w->ee_errno : ENOMSG,
			   .ee_origin = (uint8_t)(w->ee_origin ? w->ee_origin : SO_EE_ORIGIN_TIMESTAMPING),
			   .ee_info = w->ee_info, .ee_data = KEY } };

	if (!w->no_software)
		stamp.stamps.software = (struct timespec){ SECONDS, SOFTWARE_NS };
	if (!w->no_hardware)
		stamp.stamps.hardware = (struct timespec){ SECONDS, HARDWARE_NS };
	for (int i = 0; i < 2; i++) {
		if ((i == 0) != w->swapped && !w->no_stamp)
			fake_control(&m, SOL_SOCKET + w->stamp_level, SCM_TIMESTAMPING + w->stamp_type, &stamp,
				     (size_t)((long)sizeof(struct stamps) + w->stamp_bytes), 0);
		if ((i == 1) != w->swapped && !w->no_error)
			fake_control(&m, SOL_IP + w->error_level, IP_RECVERR + w->error_type, &error,
				     (size_t)(32 + w->error_bytes), 0);
	}
	return m;
}

static void check_fetch(const struct change *w, enum source wire)
{
	struct fake_message m = entry(w);
	struct departure d = { .id = 1, .time_ns = 2 };
	bool good = wire == SOURCE_HARDWARE ? w->hardware_good : w->software_good;

	begin(wire);
	fake_put(&fake.error_queue, &m);

	enum fetch got = stamp_fetch(&c, &d);

	fake_end();
	if (got != (good ? FETCH_STAMP : FETCH_OTHER))
		fail_msg("%s, wire %d: %d", w->name, wire, got);
	assert_int_equal(counter_get(&c.error_other), !good);
	assert_int_equal(counter_get(&c.control_truncated), 0);
	if (!good)
		return;
	assert_int_equal(d.id, KEY);
	assert_int_equal(d.time_ns, time_of(wire));
}

static void each_check_of_a_transmit_stamp(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		check_fetch(&changes[i], SOURCE_HARDWARE);
		check_fetch(&changes[i], SOURCE_KERNEL);
	}
}

/* --stamp receive: of an entry with both times that of the kernel; of a received packet that of the NIC. */
static void the_kernel_of_sent_packets_the_nic_of_received_ones(void **state)
{
	static const struct change both = { .name = "both" }, nic_only = { .no_software = true };
	struct stamps stamps = { .software = { SECONDS, SOFTWARE_NS }, .hardware = { SECONDS, HARDWARE_NS } };
	union control control;
	struct fake_message m;
	struct departure d = { .id = 1 };
	int64_t time_ns, kernel_ns;

	(void)state;
	for (int i = 0; i < 2; i++) {
		m = entry(i ? &nic_only : &both);
		begin(SOURCE_HARDWARE);
		c.sent_by_kernel = true;
		fake_put(&fake.error_queue, &m);
		assert_int_equal(stamp_fetch(&c, &d), i ? FETCH_OTHER : FETCH_STAMP);
		if (!i)
			assert_int_equal(d.time_ns, time_of(SOURCE_KERNEL));
		fake_end();
	}
	put_message(&control.align, SOL_SOCKET, SCM_TIMESTAMPING, &stamps, sizeof(stamps));
	assert_true(read_stamp(c.wire, &control.align, &time_ns, &kernel_ns));
	assert_int_equal(time_ns, time_of(SOURCE_HARDWARE));
	assert_int_equal(kernel_ns, time_of(SOURCE_KERNEL));
	assert_int_equal(channel_sent_source(&c), SOURCE_KERNEL);
	begin(SOURCE_HARDWARE);
	assert_int_equal(channel_sent_source(&c), SOURCE_HARDWARE);
}

/* With requested ids, an entry with only an id is valid; with any other deviation it is not. */
static void an_entry_with_an_id(void **state)
{
	static const struct {
		struct change change;
		enum fetch got;
	} cases[] = {
		{ { .ee_info = SCM_TSTAMP_SCHED }, FETCH_ID },
		{ { .ee_info = SCM_TSTAMP_SCHED, .no_stamp = true }, FETCH_ID },
		{ { .ee_info = SCM_TSTAMP_ACK }, FETCH_OTHER },
		{ { .ee_info = SCM_TSTAMP_SCHED, .ee_errno = ECONNREFUSED }, FETCH_OTHER },
		{ { .ee_info = SCM_TSTAMP_SCHED, .ee_origin = SO_EE_ORIGIN_ICMP }, FETCH_OTHER },
		{ { .ee_info = SCM_TSTAMP_SCHED, .error_bytes = -16 }, FETCH_OTHER },
		{ { .ee_info = SCM_TSTAMP_SCHED, .flags = MSG_TRUNC }, FETCH_ID },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fake_message m = entry(&cases[i].change);
		struct departure d = { .id = 1 };

		begin(SOURCE_HARDWARE);
		c.peer_socket[0].id_reported = true;
		fake_put(&fake.error_queue, &m);
		assert_int_equal(stamp_fetch(&c, &d), cases[i].got);
		assert_int_equal(counter_get(&c.error_other), cases[i].got == FETCH_OTHER);
		if (cases[i].got == FETCH_ID)
			assert_int_equal(d.id, KEY);
	}
}

/* With the kernel's transmit times requested: each entry by its type, and by the clock of its time. */
static void entries_of_the_kernel(void **state)
{
	static const struct {
		struct change change;
		enum source wire;
		enum fetch got;
		enum source time; /* clock */
	} cases[] = {
		{ { .ee_info = SCM_TSTAMP_SCHED }, SOURCE_HARDWARE, FETCH_QUEUE, SOURCE_KERNEL },
		{ { .ee_info = SCM_TSTAMP_SCHED }, SOURCE_KERNEL, FETCH_QUEUE, SOURCE_KERNEL },
		{ { .ee_info = SCM_TSTAMP_SCHED, .no_software = true }, SOURCE_HARDWARE, FETCH_OTHER, SOURCE_NONE },
		{ { .ee_info = SCM_TSTAMP_SCHED, .no_stamp = true }, SOURCE_HARDWARE, FETCH_OTHER, SOURCE_NONE },
		{ { .no_hardware = true }, SOURCE_HARDWARE, FETCH_DRIVER, SOURCE_KERNEL },
		{ { .no_hardware = true }, SOURCE_KERNEL, FETCH_STAMP, SOURCE_KERNEL },
		{ { .no_software = true }, SOURCE_HARDWARE, FETCH_STAMP, SOURCE_HARDWARE },
		{ { .no_software = true }, SOURCE_KERNEL, FETCH_OTHER, SOURCE_NONE },
		{ { .ee_info = SCM_TSTAMP_ACK }, SOURCE_HARDWARE, FETCH_OTHER, SOURCE_NONE },
		{ { .no_software = true, .flags = MSG_TRUNC }, SOURCE_HARDWARE, FETCH_STAMP, SOURCE_HARDWARE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct fake_message m = entry(&cases[i].change);
		struct departure d = { .id = 1 };

		begin(cases[i].wire);
		c.detail = SOF_TIMESTAMPING_TX_SCHED |
			   (cases[i].wire == SOURCE_HARDWARE ? SOF_TIMESTAMPING_TX_SOFTWARE : 0);
		fake_put(&fake.error_queue, &m);
		assert_int_equal(stamp_fetch(&c, &d), cases[i].got);
		assert_int_equal(counter_get(&c.error_other), cases[i].got == FETCH_OTHER);
		if (cases[i].got == FETCH_OTHER)
			continue;
		assert_int_equal(d.id, KEY);
		assert_int_equal(d.time_ns, time_of(cases[i].time));
	}
}

static void truncated_control_data_of_a_stamp(void **state)
{
	struct fake_message m = entry(&changes[0]);
	struct departure d;

	(void)state;
	/* Complete, but the kernel reports truncation. */
	begin(SOURCE_HARDWARE);
	m.flags |= MSG_CTRUNC;
	fake_put(&fake.error_queue, &m);
	assert_int_equal(stamp_fetch(&c, &d), FETCH_OTHER);
	assert_int_equal(counter_get(&c.control_truncated), 1);
	assert_int_equal(counter_get(&c.error_other), 0);
}

static void the_error_queue(void **state)
{
	struct fake_message m = entry(&changes[0]), later = m;
	struct departure d;

	(void)state;
	begin(SOURCE_KERNEL);
	assert_int_equal(stamp_fetch(&c, &d), FETCH_EMPTY);
	later.at_ns = fake.now_ns + NS_PER_S;
	fake_put(&fake.error_queue, &m);
	fake_put(&fake.error_queue, &later);
	assert_int_equal(stamp_fetch(&c, &d), FETCH_STAMP);
	assert_int_equal(stamp_fetch(&c, &d), FETCH_EMPTY);
	assert_true(fake.last_receive_flags & MSG_ERRQUEUE && fake.last_receive_flags & MSG_DONTWAIT);
	assert_int_equal(counter_get(&c.error_other), 0);
}

/* The kernel's messages with IPv4 fit, with an IP_PKTINFO too; and the maximum with IPv6. */
static void the_control_buffer_is_large_enough(void **state)
{
	struct fake_message m = entry(&changes[0]);
	struct departure d;
	uint8_t more[64] = { 0 };

	(void)state;
	begin(SOURCE_KERNEL);
	fake_control(&m, SOL_IP, IP_PKTINFO, more, sizeof(more), 0);
	fake_put(&fake.error_queue, &m);
	assert_int_equal(stamp_fetch(&c, &d), FETCH_STAMP);
}

/* Octets that are not control messages: lengths that no cmsghdr can have, or that pass the end. */
static void nonsense_control_data(void **state)
{
	static const size_t lengths[] = { 1, 15, 16, 17, 64, 65, 255, 256, 4096, (size_t)INT64_MAX, SIZE_MAX };
	struct stamps stamps = { .software = { SECONDS, 1 }, .hardware = { SECONDS, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		struct fake_message m = { .flags = 0 };
		struct departure d;
		struct arrival a;

		if (lengths[i] == CMSG_LEN(sizeof(stamps)))
			continue;
		fake_control(&m, SOL_SOCKET, SCM_TIMESTAMPING, &stamps, sizeof(stamps), lengths[i]);
		begin(SOURCE_HARDWARE);
		fake_put(&fake.error_queue, &m);
		fake_put(&fake.receive_queue, &m);
		assert_int_equal(stamp_fetch(&c, &d), FETCH_OTHER);
		assert_int_equal(stamp_receive(&c, &a), 1);
		assert_int_equal(a.source, SOURCE_NONE);
	}
}

/* ---- Receiving --------------------------------------------------------------------------------------------------- */

static struct fake_message datagram(size_t bytes)
{
	struct fake_message m = { .bytes = bytes };

	memcpy(m.data, "datagram", 8);
	m.from.in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(1234),
					  .sin_addr.s_addr = htonl(FAKE_REMOTE) };
	return m;
}

static void put_stamps(struct fake_message *m, int64_t software_ns, int64_t hardware_ns)
{
	struct stamps s = { .software = { software_ns ? SECONDS : 0, software_ns },
			    .hardware = { hardware_ns ? SECONDS : 0, hardware_ns } };

	fake_control(m, SOL_SOCKET, SCM_TIMESTAMPING, &s, sizeof(s), 0);
}

static void put_info(struct fake_message *m, uint32_t to, size_t length)
{
	struct in_pktinfo info = { .ipi_ifindex = 7, .ipi_spec_dst.s_addr = htonl(FAKE_LOCAL),
				   .ipi_addr.s_addr = htonl(to) };

	fake_control(m, SOL_IP, IP_PKTINFO, &info, sizeof(info), length);
}

static bool wants_kernel_times;

static struct arrival receive_one(const struct fake_message *m, enum source wire)
{
	struct arrival a;

	memset(&a, 0xa5, sizeof(a)); /* nothing of an earlier datagram may stay */
	begin(wire);
	c.kernel_times = wants_kernel_times;
	fake_put(&fake.receive_queue, m);
	assert_int_equal(stamp_receive(&c, &a), 1);
	assert_true(fake.last_receive_flags & MSG_DONTWAIT);
	assert_false(fake.last_receive_flags & MSG_ERRQUEUE);
	return a;
}

static void a_good_datagram(void **state)
{
	struct fake_message m = datagram(44);
	int ttl = 200;
	uint8_t tos[] = { 0xbb, 1, 1, 1 }; /* the following octets are not part of it */

	(void)state;
	put_stamps(&m, SOFTWARE_NS, HARDWARE_NS);
	fake_control(&m, SOL_IP, IP_TTL, &ttl, sizeof(ttl), 0);
	put_info(&m, FAKE_LOCAL, 0);
	fake_control(&m, SOL_IP, IP_TOS, tos, sizeof(tos), CMSG_LEN(1));

	struct arrival a = receive_one(&m, SOURCE_HARDWARE);
	struct in_pktinfo info;

	assert_int_equal(a.bytes, 44);
	assert_memory_equal(c.datagram, "datagram", 8);
	assert_int_equal(a.source, SOURCE_HARDWARE);
	assert_int_equal(a.time_ns, time_of(SOURCE_HARDWARE));
	assert_int_equal(a.ttl, 200);
	assert_int_equal(a.tos, 0xbb);
	assert_false(a.in_class);
	assert_true(a.to_unicast);
	assert_false(a.from_self);
	assert_false(a.truncated);
	assert_int_equal(a.from.in.sin_port, htons(1234));
	assert_int_equal(a.from.in.sin_addr.s_addr, htonl(FAKE_REMOTE));
	/* The answer leaves by the same interface, with the requested address as source. */
	memcpy(&info, a.local, sizeof(info));
	assert_int_equal(info.ipi_ifindex, 7);
	assert_int_equal(info.ipi_spec_dst.s_addr, htonl(FAKE_LOCAL));
	assert_int_equal(info.ipi_addr.s_addr, 0);
}

static void the_stamp_is_of_the_kind_asked_for(void **state)
{
	static const struct {
		int64_t software_ns, hardware_ns;
	} kinds[] = { { 0, 0 }, { SOFTWARE_NS, 0 }, { 0, HARDWARE_NS }, { SOFTWARE_NS, HARDWARE_NS } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		struct fake_message m = datagram(44);

		put_stamps(&m, kinds[i].software_ns, kinds[i].hardware_ns);
		struct arrival a = receive_one(&m, SOURCE_HARDWARE);

		assert_int_equal(a.source, kinds[i].hardware_ns ? SOURCE_HARDWARE : SOURCE_NONE);
		if (a.source)
			assert_int_equal(a.time_ns, time_of(SOURCE_HARDWARE));
		a = receive_one(&m, SOURCE_KERNEL);
		assert_int_equal(a.source, kinds[i].software_ns ? SOURCE_KERNEL : SOURCE_NONE);
		if (a.source)
			assert_int_equal(a.time_ns, time_of(SOURCE_KERNEL));
	}
}

/* Beside the timestamp of the NIC, whether that is there or not. */
static void the_kernels_time_only_if_asked_for(void **state)
{
	struct fake_message m = datagram(44);
	struct arrival a;

	(void)state;
	put_stamps(&m, SOFTWARE_NS, HARDWARE_NS);
	a = receive_one(&m, SOURCE_HARDWARE);
	assert_int_equal(a.kernel_ns, 0);
	for (int hardware = 0; hardware < 2; hardware++) {
		m = datagram(44);
		put_stamps(&m, SOFTWARE_NS, hardware ? HARDWARE_NS : 0);
		wants_kernel_times = true;
		a = receive_one(&m, SOURCE_HARDWARE);
		assert_int_equal(a.kernel_ns, time_of(SOURCE_KERNEL));
		assert_int_equal(a.source, hardware ? SOURCE_HARDWARE : SOURCE_NONE);
	}
	/* Missing, and not that of the packet before. */
	m = datagram(44);
	put_stamps(&m, 0, HARDWARE_NS);
	a = receive_one(&m, SOURCE_HARDWARE);
	assert_int_equal(a.kernel_ns, 0);
	wants_kernel_times = false;
}

/* Level, type and length of each message that a datagram can carry. */
static void each_check_of_an_arrival(void **state)
{
	struct stamps s = { .software = { SECONDS, SOFTWARE_NS }, .hardware = { SECONDS, HARDWARE_NS } };
	struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(FAKE_LOCAL), .ipi_addr.s_addr = htonl(FAKE_LOCAL) };
	int ttl = 9;
	uint8_t tos = 0xff;
	const struct {
		int level, type;
		const void *payload;
		size_t bytes;
	} messages[] = { { SOL_SOCKET, SCM_TIMESTAMPING, &s, sizeof(s) }, { SOL_IP, IP_TTL, &ttl, sizeof(ttl) },
			 { SOL_IP, IP_PKTINFO, &info, sizeof(info) }, { SOL_IP, IP_TOS, &tos, sizeof(tos) } };
	static const struct {
		int level, type, length;
	} wrong[] = { { 0, 0, 0 }, { 100, 0, 0 }, { 0, 100, 0 }, { 0, 0, -1 }, { 0, 0, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(messages); i++) {
		for (size_t w = 0; w < COUNT_OF(wrong); w++) {
			struct fake_message m = datagram(44);

			fake_control(&m, messages[i].level + wrong[w].level, messages[i].type + wrong[w].type,
				     messages[i].payload, messages[i].bytes,
				     (size_t)((long)CMSG_LEN(messages[i].bytes) + wrong[w].length));

			struct arrival a = receive_one(&m, SOURCE_HARDWARE);

			assert_int_equal(a.source, i == 0 && w == 0 ? SOURCE_HARDWARE : SOURCE_NONE);
			assert_int_equal(a.ttl, i == 1 && w == 0 ? 9 : -1);
			assert_int_equal(a.to_unicast, i == 2 && w == 0);
			assert_int_equal(a.tos, i == 3 && w == 0 ? 0xff : -1);
		}
	}
}

/* IPv6 has an int where IPv4 has an octet, and each takes only its own. */
static void the_tos_of_ipv6(void **state)
{
	struct transport ipv6 = ipv4;

	(void)state;
	ipv6.tos_type = IPV6_TCLASS;
	ipv6.tos_bytes = sizeof(int);
	for (size_t bytes = 1; bytes <= sizeof(int); bytes += 3) {
		struct fake_message m = datagram(44);
		struct arrival a;
		int tos = 0x1bb; /* all of it is read */

		fake_control(&m, SOL_IP, IPV6_TCLASS, &tos, bytes, 0);
		begin(SOURCE_KERNEL);
		c.at->transport = &ipv6;
		fake_put(&fake.receive_queue, &m);
		assert_int_equal(stamp_receive(&c, &a), 1);
		assert_int_equal(a.tos, bytes == sizeof(int) ? 0x1bb : -1);
	}
}

static void where_it_was_sent_to(void **state)
{
	struct fake_message m = datagram(44);

	(void)state;
	put_info(&m, 0xe0000001, 0);
	assert_false(receive_one(&m, SOURCE_KERNEL).to_unicast);
	m = datagram(44);
	put_info(&m, 0x0affffff, 0);
	assert_false(receive_one(&m, SOURCE_KERNEL).to_unicast);
	m = datagram(44);
	m.from.in.sin_addr.s_addr = htonl(FAKE_LOCAL);
	put_info(&m, FAKE_LOCAL, 0);
	struct arrival a = receive_one(&m, SOURCE_KERNEL);

	assert_true(a.to_unicast);
	assert_true(a.from_self);
}

static const struct transport ipv6 = {
	.domain = AF_INET6,
	.ip_level = SOL_IPV6,
	.recverr_type = IPV6_RECVERR,
	.recverr_bytes = sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6),
	.ttl_type = IPV6_HOPLIMIT,
	.pktinfo_type = IPV6_PKTINFO,
	.pktinfo_bytes = sizeof(struct in6_pktinfo),
	.tos_type = IPV6_TCLASS,
	.tos_bytes = sizeof(int),
};

static struct in6_addr in6_of(const char *text)
{
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
	return a;
}

/* The same of IPv6: whether it was for many, or from ourselves, and where the answer is from. */
static void a_datagram_of_ipv6(void **state)
{
	static const struct {
		const char *from, *to;
		bool to_unicast, from_self;
	} cases[] = {
		{ "2001:db8::1", "2001:db8::2", true, false }, { "2001:db8::2", "2001:db8::2", true, true },
		{ "2001:db8::1", "ff02::1", false, false }, { "fe80::1", "fe80::2", true, false },
		{ "2001:db8::2:0:0:1", "2001:db8::2:0:0:2", true, false }, /* alike in the fields of IPv4 */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct in6_pktinfo info = { .ipi6_addr = in6_of(cases[i].to), .ipi6_ifindex = 7 };
		struct fake_message m = { .bytes = 44 };
		int hops = 33, class = 0xbb;
		struct arrival a;

		memset(&a, 0xa5, sizeof(a));
		m.from.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(99),
						    .sin6_addr = in6_of(cases[i].from) };
		fake_control(&m, SOL_IPV6, IPV6_PKTINFO, &info, sizeof(info), 0);
		fake_control(&m, SOL_IPV6, IPV6_HOPLIMIT, &hops, sizeof(hops), 0);
		fake_control(&m, SOL_IPV6, IPV6_TCLASS, &class, sizeof(class), 0);
		begin(SOURCE_KERNEL);
		c.peer_socket[0].transport = &ipv6;
		fake_put(&fake.receive_queue, &m);
		assert_int_equal(stamp_receive(&c, &a), 1);
		assert_int_equal(a.to_unicast, cases[i].to_unicast);
		assert_int_equal(a.from_self, cases[i].from_self);
		assert_int_equal(a.ttl, 33);
		assert_int_equal(a.tos, 0xbb);
		assert_memory_equal(a.local, &info, sizeof(info));
		assert_int_equal(a.from.in6.sin6_port, htons(99));
	}
}

/* On a reassigned per-peer socket: only the address identifies the sender. */
static void what_strays_of_ipv6(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fake_message m = { .bytes = 44 };
		struct arrival a;

		memset(&a, 0xa5, sizeof(a));
		m.from.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(99),
						    .sin6_addr = in6_of("2001:db8::1") };
		begin(SOURCE_KERNEL);
		c.peer_socket[0].transport = &ipv6;
		c.peer_socket[0].connected = c.peer_socket[0].is_new = true;
		c.peer_socket[0].peer = m.from;
		c.peer_socket[0].peer.in6.sin6_addr.s6_addr[15] += i;
		c.peer_socket[0].own.in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
							   .sin6_addr = in6_of("2001:db8::9") };
		fake_put(&fake.receive_queue, &m);
		assert_int_equal(stamp_receive(&c, &a), 1);
		assert_int_equal(a.strays, i);
		assert_true(a.to_unicast && !a.from_self);
		if (a.strays)
			assert_memory_equal(a.local, &c.peer_socket[0].own.in6.sin6_addr, sizeof(struct in6_addr));
	}
}

static void truncation(void **state)
{
	struct fake_message m = datagram(44);
	int ttl = 9;

	(void)state;
	put_stamps(&m, SOFTWARE_NS, HARDWARE_NS);
	fake_control(&m, SOL_IP, IP_TTL, &ttl, sizeof(ttl), 0);
	put_info(&m, FAKE_LOCAL, 0);
	m.flags = MSG_TRUNC;
	assert_true(receive_one(&m, SOURCE_KERNEL).truncated);
	assert_int_equal(counter_get(&c.control_truncated), 0);
	m.flags = MSG_CTRUNC;

	/* Truncated control data are ignored. */
	struct arrival a = receive_one(&m, SOURCE_KERNEL);

	assert_false(a.truncated);
	assert_int_equal(a.source, SOURCE_NONE);
	assert_int_equal(a.ttl, -1);
	assert_false(a.to_unicast);
	assert_int_equal(counter_get(&c.control_truncated), 1);
}

static void sizes(void **state)
{
	(void)state;
	static const size_t bytes[] = { 0, 1, 44, 65507, DATAGRAM_MAX };

	for (size_t i = 0; i < COUNT_OF(bytes); i++) {
		struct fake_message m = datagram(bytes[i]);
		struct arrival a = receive_one(&m, SOURCE_KERNEL);

		assert_int_equal(a.bytes, bytes[i]);
		assert_false(a.truncated);
	}
	struct fake_message m = datagram(DATAGRAM_MAX + 1);

	assert_true(receive_one(&m, SOURCE_KERNEL).truncated);
}

static void errors_of_receive(void **state)
{
	static const struct {
		int error, result;
	} errors[] = { { EINTR, 0 }, { ECONNREFUSED, -ECONNREFUSED }, { ENETDOWN, -ENETDOWN }, { EAGAIN, 0 } };
	struct arrival a;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		struct fake_message m = { .error = errors[i].error };

		begin(SOURCE_KERNEL);
		fake_put(&fake.receive_queue, &m);
		assert_int_equal(stamp_receive(&c, &a), errors[i].result);
		assert_int_equal(stamp_receive(&c, &a), 0);
	}
}

/* A connected socket asks for no address. */
static void a_connected_socket(void **state)
{
	struct fake_message m = datagram(44);
	struct arrival a;

	(void)state;
	begin(SOURCE_KERNEL);
	c.peer_socket[0].connected = true;
	memset(&a, 0, sizeof(a));
	fake_put(&fake.receive_queue, &m);
	assert_int_equal(stamp_receive(&c, &a), 1);
	assert_int_equal(a.from.any.sa_family, AF_UNSPEC);
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static void errors_of_send(void **state)
{
	static const int errors[] = { ENOBUFS, EAGAIN, ECONNREFUSED, ENETDOWN, EPERM, EINVAL };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(errors); i++) {
		begin(SOURCE_KERNEL);
		c.at->connected = true;
		fake.send_errors[0] = EINTR;
		fake.send_errors[1] = EINTR;
		fake.send_errors[2] = errors[i];
		assert_int_equal(stamp_send(&c, "x", 1, 0, NULL), -errors[i]);
		assert_int_equal(fake.send_calls, 3);
	}
	begin(SOURCE_KERNEL);
	c.at->connected = true;
	fake.send_errors[0] = EINTR;
	assert_int_equal(stamp_send(&c, "x", 1, 0, NULL), 0);
	assert_int_equal(fake.send_calls, 2);
}

/* A refused packet may have been counted: the next packet requests its id, by a timestamp before the
 * queueing discipline. */
static void an_id_is_asked_for(void **state)
{
	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		const bool by_nic = mode & 1, by_message = mode & 2;
		uint32_t flags = 0;

		begin(by_nic ? SOURCE_HARDWARE : SOURCE_KERNEL);
		c.tx_stamps = c.at->connected = true;
		c.peer_socket[0].id_by_message = by_message;
		fake.send_errors[0] = EPERM;
		assert_int_equal(stamp_send(&c, "x", 1, KEY, NULL), -EPERM);
		assert_int_equal(c.peer_socket[0].id_doubted, !by_message);
		assert_false(c.peer_socket[0].id_asked);
		assert_int_equal(stamp_send(&c, "x", 1, KEY, NULL), 0);
		assert_int_equal(c.peer_socket[0].id_asked, !by_message);
		struct cmsghdr *h = (struct cmsghdr *)fake.last_sent.control;

		assert_int_equal(fake.last_sent.header.msg_controllen, CMSG_SPACE(4));
		assert_int_equal(h->cmsg_level, SOL_SOCKET);
		assert_int_equal(h->cmsg_type, by_message ? SCM_TS_OPT_ID : SO_TIMESTAMPING);
		memcpy(&flags, CMSG_DATA(h), sizeof(flags));
		if (!by_message)
			assert_int_equal(flags, SOF_TIMESTAMPING_TX_SCHED |
						(by_nic ? SOF_TIMESTAMPING_TX_HARDWARE : SOF_TIMESTAMPING_TX_SOFTWARE));
		/* Until it is known. */
		assert_int_equal(c.peer_socket[0].id_doubted, !by_message);
		c.peer_socket[0].id_doubted = false;
		assert_int_equal(stamp_send(&c, "x", 1, KEY, NULL), 0);
		assert_false(c.peer_socket[0].id_asked);
	}
}

/* For each packet with a requested timestamp, and an id if the count is uncertain, or ours. Neither for
 * other packets. */
static void a_stamp_is_asked_for(void **state)
{
	(void)state;
	for (int mode = 0; mode < 12; mode++) {
		const bool by_nic = mode & 1, unasked = mode & 2, doubted = mode & 4, by_message = mode & 8;
		uint32_t flags = 0, id = 0;

		begin(by_nic ? SOURCE_HARDWARE : SOURCE_KERNEL);
		c.tx_stamps = c.some_stamps = c.at->connected = true;
		c.at->id_by_message = by_message;
		c.unasked = unasked;
		c.at->id_doubted = doubted;
		c.at->id_asked = !doubted && !by_message; /* by the packet before, whose id may still arrive */
		assert_int_equal(stamp_send(&c, "x", 1, KEY, NULL), 0);
		assert_int_equal(c.at->id_doubted, doubted);
		assert_int_equal(c.at->id_asked, by_message ? false : unasked ? !doubted : doubted);
		assert_int_equal(fake.last_sent.header.msg_controllen, unasked ? 0 : CMSG_SPACE(4) * (1 + by_message));
		if (unasked)
			continue;
		struct cmsghdr *h = (struct cmsghdr *)fake.last_sent.control;

		if (by_message) {
			assert_int_equal(h->cmsg_type, SCM_TS_OPT_ID);
			memcpy(&id, CMSG_DATA(h), sizeof(id));
			assert_int_equal(id, KEY);
			h = (struct cmsghdr *)(fake.last_sent.control + CMSG_SPACE(4));
		}
		assert_int_equal(h->cmsg_type, SO_TIMESTAMPING);
		memcpy(&flags, CMSG_DATA(h), sizeof(flags));
		assert_int_equal(flags, (doubted ? SOF_TIMESTAMPING_TX_SCHED : 0) |
					(by_nic ? SOF_TIMESTAMPING_TX_HARDWARE : SOF_TIMESTAMPING_TX_SOFTWARE));
	}
}

static void send_one(bool id_by_message, const struct arrival *answering)
{
	begin(SOURCE_KERNEL);
	c.peer_socket[0].id_by_message = id_by_message;
	c.at->connected = !answering;
	assert_int_equal(stamp_send(&c, "packet", 6, KEY, answering), 0);
	assert_int_equal(fake.send_calls, 1);
	assert_int_equal(fake.last_sent.bytes, 6);
	assert_memory_equal(fake.last_sent.data, "packet", 6);
	assert_true(fake.last_sent.flags & MSG_DONTWAIT);
}

/* The sent control messages, compared with the expected, in any order. tos -1: none. */
static void check_control(bool id, const struct in_pktinfo *info, int tos)
{
	struct msghdr m = { .msg_control = fake.last_sent.control,
			    .msg_controllen = fake.last_sent.header.msg_controllen };
	unsigned ids = 0, infos = 0, toses = 0;

	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		uint32_t key = KEY;

		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TS_OPT_ID) {
			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(key)));
			assert_memory_equal(CMSG_DATA(h), &key, sizeof(key));
			ids++;
		} else if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_TOS) {
			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(tos)));
			assert_memory_equal(CMSG_DATA(h), &tos, sizeof(tos));
			toses++;
		} else {
			assert_int_equal(h->cmsg_level, SOL_IP);
			assert_int_equal(h->cmsg_type, IP_PKTINFO);
			assert_int_equal(h->cmsg_len, CMSG_LEN(sizeof(*info)));
			assert_non_null(info);
			assert_memory_equal(CMSG_DATA(h), info, sizeof(*info));
			infos++;
		}
	}
	assert_int_equal(ids, id);
	assert_int_equal(infos, info != NULL);
	assert_int_equal(toses, tos >= 0);
	/* An empty control buffer means none; and the kernel refuses inconsistent messages. */
	if (!id && !info)
		assert_null(fake.last_sent.header.msg_control);
	assert_int_equal(m.msg_controllen, (id ? CMSG_SPACE(4) : 0) + (info ? CMSG_SPACE(sizeof(*info)) : 0) +
						   (tos >= 0 ? CMSG_SPACE(4) : 0));
}

static void what_is_sent(void **state)
{
	struct in_pktinfo info = { .ipi_ifindex = 7, .ipi_spec_dst.s_addr = htonl(FAKE_LOCAL) };
	struct arrival a = { .to_unicast = true };

	(void)state;
	memcpy(a.local, &info, sizeof(info));
	a.from = datagram(1).from;
	for (int id = 0; id < 2; id++) {
		send_one(id, NULL);
		assert_null(fake.last_sent.header.msg_name);
		check_control(id, NULL, -1);
		send_one(id, &a);
		assert_non_null(fake.last_sent.header.msg_name);
		assert_true(fake.last_sent.header.msg_namelen >= sizeof(struct sockaddr_in));
		assert_memory_equal(&fake.last_sent.name, &a.from, sizeof(struct sockaddr_in));
		check_control(id, &info, -1);
	}
}

/* The DSCP of the answer is that of the request, without the ECN bits, if it is to be; also where it is 0, since the
 * socket may have another. */
static void the_dscp_of_an_answer(void **state)
{
	struct in_pktinfo info = { .ipi_ifindex = 7, .ipi_spec_dst.s_addr = htonl(FAKE_LOCAL) };
	struct arrival a = { .from = datagram(1).from, .in_class = true };

	(void)state;
	memcpy(a.local, &info, sizeof(info));
	for (int tos = 0; tos <= UINT8_MAX; tos++) {
		a.tos = tos;
		send_one(tos & 1, &a);
		check_control(tos & 1, &info, tos & 0xfc);
	}
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

static void waiting(void **state)
{
	struct fake_message m = datagram(44);
	int64_t began_ns;

	(void)state;
	begin(SOURCE_KERNEL);
	began_ns = fake.now_ns;
	stamp_wait(&c, true, NS_PER_MS);
	assert_int_equal(fake.poll_limit_ns, NS_PER_MS);
	assert_in_range(fake.now_ns - began_ns, NS_PER_MS, NS_PER_MS + NS_PER_US);
	stamp_wait(&c, true, 3 * NS_PER_S + 5);
	assert_int_equal(fake.poll_limit_ns, 3 * NS_PER_S + 5);

	/* It ends when either queue has an entry. */
	m.at_ns = began_ns = fake.now_ns;
	fake_put(&fake.receive_queue, &m);
	stamp_wait(&c, true, NS_PER_S);
	assert_true(fake.now_ns - began_ns < NS_PER_US);
	begin(SOURCE_KERNEL);
	m.at_ns = fake.now_ns + 100 * NS_PER_US;
	began_ns = fake.now_ns;
	fake_put(&fake.error_queue, &m);
	stamp_wait(&c, true, NS_PER_S);
	assert_in_range(fake.now_ns - began_ns, 100 * NS_PER_US, 101 * NS_PER_US);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_entry_with_an_id),
		TEST(the_kernel_of_sent_packets_the_nic_of_received_ones),
		TEST(entries_of_the_kernel), TEST(an_id_is_asked_for), TEST(a_stamp_is_asked_for),
		TEST(each_check_of_a_transmit_stamp), TEST(truncated_control_data_of_a_stamp), TEST(the_error_queue),
		TEST(the_control_buffer_is_large_enough), TEST(nonsense_control_data), TEST(a_good_datagram),
		TEST(the_stamp_is_of_the_kind_asked_for), TEST(the_kernels_time_only_if_asked_for), TEST(each_check_of_an_arrival), TEST(where_it_was_sent_to),
		TEST(a_datagram_of_ipv6), TEST(what_strays_of_ipv6), TEST(truncation), TEST(sizes),
		TEST(errors_of_receive), TEST(a_connected_socket), TEST(errors_of_send),
		TEST(what_is_sent), TEST(waiting), TEST(the_tos_of_ipv6), TEST(the_dscp_of_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
