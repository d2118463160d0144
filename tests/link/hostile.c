// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bad peers for the namespace tests, bounded in count and time. Prints a line with the number of packets of each kind,
 * named like rant's counters, so that a test can compare both exactly. Packets are classified here by the RFCs, without
 * packet.c, which is under test.
 *
 *   hostile emit MODE ADDRESS [options]     sends to the reflector at ADDRESS
 *   hostile reflect MODE ADDRESS [options]  acts as the reflector at ADDRESS
 *   hostile hold stamps ADDRESS             sends nothing, but keeps kernel timestamping enabled
 *   hostile forge ROLE ADDRESS [options]    forges ICMP messages to the emitter or reflector at ADDRESS: packets too
 * long
 */
#include "wire/packet.h"
#include "wire/socket.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UDP_MAX_BYTES 65507
#define SSID 0x4242
#define ANSWER_LIMIT_MS 5000 /* until an answer that must come is missed */
#define LATE_MS 150
#define REPLAYED 60 /* packets in one replay: fewer than the duplicate window of a reflector */
#define FIRST_PORT 10000 /* below those that the kernel gives out */
#define PORTS 20000
#define NOT_KNOWN (-1)
#define FORGED_MTU 600

/* Offsets of the octets that the classification below reads. */
enum { AT_MULTIPLIER = 13, AT_SSID = 14, AT_SENDER_SEQ = 24, AT_SENDER_T1 = 28, AT_SENDER_MULTIPLIER = 37 };

static struct {
	const char *address, *second, *barrier;
	long port, count, seed, every;
	double limit_s;
	bool flood, instead;
} set = { .port = STAMP_PORT, .count = 200, .seed = 1, .every = 10, .limit_s = 20 };

static int64_t deadline_ns;
static volatile sig_atomic_t stop;

/* Packets sent, by the counter that rant should use. Each counter begins at 0 and is printed, except
 * NOT_KNOWN. */
static struct sample_queue {
	long sent, good, malformed, foreign, duplicate, reordered, bad_tlvs, sessions, no_session; /* to a reflector */
	long replies, exact; /* from it; exact: of the right length and the copy of our octets in it */
	long probes, right, lost, late, strays; /* with an emitter */
} sample_queue;

static void on_signal(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

static bool is_over(void)
{
	return stop || clock_read_ns(CLOCK_MONOTONIC) >= deadline_ns;
}

/* Seeded, so that a failure can be repeated (xorshift64*). */
static uint64_t random_number(void)
{
	static uint64_t state;

	if (!state)
		state = 0x9e3779b97f4a7c15ULL ^ (uint64_t)set.seed;
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static void random_fill(uint8_t *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (uint8_t)(random_number() >> 32);
}

static struct sockaddr_in address_of(const char *text, long port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, text, &a.sin_addr) != 1)
		errx(1, "'%s' is not an IPv4 address", text);
	return a;
}

/* `local` NULL: any address and a port of the kernel's choice. */
static int open_socket(const struct sockaddr_in *local)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, buffer = 4 << 20;

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer));
	if (local && bind(fd, (const struct sockaddr *)local, sizeof(*local)))
		err(1, "bind to port %d", ntohs(local->sin_port));
	return fd;
}

static void send_to(int fd, const void *packet, size_t bytes, const struct sockaddr_in *to)
{
	/* ECONNREFUSED and the like belong to an earlier packet. */
	for (int tries = 0; tries < 1000; tries++)
		if (sendto(fd, packet, bytes, 0, (const struct sockaddr *)to, sizeof(*to)) >= 0 || is_over())
			return;
	err(1, "sendto");
}

/* The 44 octets of a probe. */
static void make_probe(uint8_t *p, uint32_t seq, uint16_t ssid, int64_t t1_ns)
{
	const struct packet_plan plan = { .ssid = ssid };

	packet_prepare(p, &plan);
	packet_probe(p, &plan, seq, t1_ns);
}

static size_t make_reply(uint8_t *p, size_t bytes, uint32_t seq)
{
	const struct answer a = {
		.seq = seq, .t2_ns = clock_read_ns(CLOCK_REALTIME), .t3_ns = clock_read_ns(CLOCK_REALTIME), .ttl = 64,
		.software_bound_ns = -1,
	};
	bool bad;

	return packet_reply(p, bytes, NULL, &a, &bad);
}

/* ---- As an emitter ----------------------------------------------------------------------------------------------- */

/* Writes packet i and adds its kind to the counts; returns its length. */
typedef size_t make_packet(uint8_t *p, long i);

static size_t good(uint8_t *p, long i)
{
	make_probe(p, (uint32_t)i, SSID, clock_read_ns(CLOCK_REALTIME));
	sample_queue.good++;
	return STAMP_BASE_BYTES;
}

static size_t malformed(uint8_t *p, long i, size_t bytes)
{
	make_probe(p, (uint32_t)i, SSID, 0);
	sample_queue.malformed++;
	return bytes;
}

static size_t empty(uint8_t *p, long i)
{
	return malformed(p, i, 0);
}

static size_t tiny(uint8_t *p, long i)
{
	return malformed(p, i, 1 + (size_t)i % (STAMP_REQUEST_MIN_BYTES - 1));
}

static size_t estimate(uint8_t *p, long i)
{
	malformed(p, i, 0);
	p[AT_MULTIPLIER] = 0;
	return STAMP_BASE_BYTES;
}

static size_t shortened(uint8_t *p, long i)
{
	good(p, i);
	return STAMP_REQUEST_MIN_BYTES + (size_t)i % (STAMP_BASE_BYTES - STAMP_REQUEST_MIN_BYTES);
}

static size_t put_tlv(uint8_t *at, uint8_t type, size_t claimed)
{
	at[0] = 0x80;
	at[1] = type;
	at[2] = (uint8_t)(claimed >> 8);
	at[3] = (uint8_t)claimed;
	return 4;
}

/* The maximum of UDP: a TLV of Extra Padding up to the last octet. */
static size_t largest(uint8_t *p, long i)
{
	size_t at = good(p, i);

	at += put_tlv(p + at, 1, UDP_MAX_BYTES - at - 4);
	memset(p + at, 0xa5, UDP_MAX_BYTES - at);
	return UDP_MAX_BYTES;
}

/* Each kind of malformed TLV: far too long, too long by an octet, after a good TLV, shorter than a header. */
static size_t tlv(uint8_t *p, long i)
{
	size_t at = good(p, i);

	sample_queue.bad_tlvs++;
	memset(p + at, 0, 64);
	switch (i % 4) {
	case 0:
		return at + put_tlv(p + at, 1, 0xffff);
	case 1:
		return at + put_tlv(p + at, 7, 17) + 16;
	case 2:
		at += put_tlv(p + at, 1, 8) + 8;
		return at + put_tlv(p + at, 200, 9) + 8;
	default:
		return at + 1 + (size_t)(i / 4) % 3;
	}
}

/* RFC 8972 sections 4.3, 4.4, 4.5 and 4.7: those that rant answers and that have not just any length. */
static bool is_wrong_length(uint8_t type, size_t length)
{
	return (type == 3 && length < 4) || (type == 4 && length != 4) || (type == 5 && length != 12) ||
	       (type == 7 && length != 16);
}

/* True if a TLV has a wrong length or too few octets. */
static bool has_bad_tlv(const uint8_t *p, size_t bytes)
{
	size_t at = STAMP_BASE_BYTES;

	while (at + 4 <= bytes) {
		size_t length = (size_t)(p[at + 2] << 8 | p[at + 3]);

		if (is_wrong_length(p[at + 1], length))
			return true;
		at += 4 + length;
		if (at > bytes)
			return true;
	}
	return at < bytes;
}

/* Random octets are good if they are long enough and have a multiplier. The probability that they look like
 * a reply, with zeros in four or five given octets, is below 1 in 65,536 and the same for every run of a
 * seed. */
static size_t random_octets(uint8_t *p, long i)
{
	size_t bytes = random_number() % 200;

	(void)i;
	random_fill(p, bytes);
	sample_queue.reordered = NOT_KNOWN;
	sample_queue.sessions = NOT_KNOWN;
	sample_queue.duplicate = NOT_KNOWN;
	if (bytes < STAMP_REQUEST_MIN_BYTES || !p[AT_MULTIPLIER]) {
		sample_queue.malformed++;
		return bytes;
	}
	sample_queue.good++;
	sample_queue.bad_tlvs += bytes > STAMP_BASE_BYTES && has_bad_tlv(p, bytes);
	return bytes;
}

/* A reflector's packet, also with a TLV after it. */
static size_t reply(uint8_t *p, long i)
{
	size_t bytes = good(p, i);

	sample_queue.good--;
	sample_queue.foreign++;
	if (i % 2) {
		bytes += put_tlv(p + bytes, 1, 8) + 8;
		memset(p + bytes - 8, 0, 8);
	}
	return make_reply(p, bytes, (uint32_t)i);
}

/* A good probe, but from where or to where none may be answered. */
static size_t not_to_be_answered(uint8_t *p, long i)
{
	size_t bytes = good(p, i);

	sample_queue.good--;
	sample_queue.foreign++;
	return bytes;
}

/* Another new sender; the barrier is a sender too. The table is too small for all. */
static void count_sender(long i)
{
	const bool space = i < SESSIONS_MAX - 1;

	sample_queue.good += space;
	sample_queue.sessions += space && i > 0;
	sample_queue.no_session += !space;
}

static size_t many_ssids(uint8_t *p, long i)
{
	make_probe(p, 0, (uint16_t)(i + 1), 0);
	count_sender(i);
	return STAMP_BASE_BYTES;
}

static size_t many_ports(uint8_t *p, long i)
{
	make_probe(p, 0, SSID, 0);
	count_sender(i);
	return STAMP_BASE_BYTES;
}

static size_t duplicates(uint8_t *p, long i)
{
	sample_queue.duplicate += i % 2;
	return good(p, i / 2);
}

/* 1 0 3 2 5 4 ... */
static size_t swapped(uint8_t *p, long i)
{
	sample_queue.reordered += i % 2;
	return good(p, i ^ 1);
}

static size_t replay(uint8_t *p, long i)
{
	sample_queue.duplicate += i >= REPLAYED;
	return good(p, i % REPLAYED);
}

static size_t mixture(uint8_t *p, long i)
{
	static make_packet *const kinds[] = {
		good, empty, tiny, estimate, shortened, tlv, random_octets, reply, many_ssids,
	};

	/* The largest are rare: each is 45 fragments. */
	return i % 997 == 996 ? largest(p, i) : kinds[i % (long)(sizeof(kinds) / sizeof(kinds[0]))](p, i);
}

static const struct emit_mode {
	const char *name;
	make_packet *make;
	bool from_reflector_port;
	bool new_port_each;
} emit_modes[] = {
	{ "good", good, false, false },
	{ "empty", empty, false, false },
	{ "tiny", tiny, false, false }, /* 1 to 13 octets */
	{ "short", shortened, false, false }, /* 14 to 43 octets, as a TWAMP-Light sender's */
	{ "largest", largest, false, false }, /* 65,507 octets */
	{ "random", random_octets, false, false },
	{ "tlv", tlv, false, false }, /* length past the end */
	{ "estimate", estimate, false, false }, /* multiplier 0 */
	{ "replies", reply, false, false },
	{ "mirror", not_to_be_answered, true, false }, /* from the reflector's own port */
	{ "broadcast", not_to_be_answered, false, false }, /* ADDRESS is a broadcast address; give --barrier */
	{ "ssids", many_ssids, false, false },
	{ "ports", many_ports, false, true },
	{ "duplicates", duplicates, false, false },
	{ "reordered", swapped, false, false },
	{ "replay", replay, false, false },
	{ "mixture", mixture, false, false },
};

/* Receives a reply; true if it arrived within limit_ms. */
static bool take_answer(int fd, const uint8_t *request, size_t bytes, int limit_ms)
{
	static uint8_t answer[DATAGRAM_MAX];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t got;

	if (poll(&p, 1, limit_ms) <= 0)
		return false;
	got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	if (got < 0)
		return false;
	sample_queue.replies++;
	if ((size_t)got == (bytes < STAMP_BASE_BYTES ? STAMP_BASE_BYTES : bytes) &&
	    !memcmp(answer + AT_SENDER_SEQ, request, AT_SSID))
		sample_queue.exact++;
	return true;
}

/* A reflector reads in order: when this probe is answered, all earlier packets were processed, and wrong
 * answers have arrived. Sent from another port, as another session. */
static void pass_barrier(int barrier, uint32_t seq)
{
	struct sockaddr_in to = address_of(set.barrier ? set.barrier : set.address, set.port);
	uint8_t probe[STAMP_BASE_BYTES];

	make_probe(probe, seq, SSID ^ 1, clock_read_ns(CLOCK_REALTIME));
	send_to(barrier, probe, sizeof(probe), &to);
	sample_queue.sent++;
	sample_queue.good++;
	if (!take_answer(barrier, probe, sizeof(probe), ANSWER_LIMIT_MS))
		errx(1, "the reflector does not answer a good probe before or after the bad probes");
}

static void emit(const struct emit_mode *m)
{
	static uint8_t packet[DATAGRAM_MAX];
	struct sockaddr_in to = address_of(set.address, set.port), own_port = address_of("0.0.0.0", set.port);
	int fd = open_socket(m->from_reflector_port ? &own_port : NULL), barrier = open_socket(NULL);

	/* Before the table is full. */
	if (m->make == many_ssids || m->make == many_ports)
		pass_barrier(barrier, 0);
	sample_queue.sessions = m->from_reflector_port || m->make == reply || m->make == empty || m->make == tiny ||
			 m->make == estimate || m->make == not_to_be_answered ? 1 : 2; /* the barrier is a session */
	for (long i = 0; (!set.count || i < set.count) && !is_over(); i++) {
		long answerable = sample_queue.good;
		size_t bytes = m->make(packet, i);

		if (m->new_port_each) {
			/* Chosen here: the kernel may choose a port again. */
			struct sockaddr_in port = address_of("0.0.0.0", FIRST_PORT + i % PORTS);

			close(fd);
			fd = open_socket(&port);
		}
		send_to(fd, packet, bytes, &to);
		sample_queue.sent++;
		if (sample_queue.good > answerable && !set.flood && !take_answer(fd, packet, bytes, ANSWER_LIMIT_MS))
			break;
	}
	if (!set.flood)
		pass_barrier(barrier, 1);
	while (!set.flood && take_answer(fd, packet, 0, 0))
		;
	close(barrier);
	close(fd);
}

/* ---- As a reflector ---------------------------------------------------------------------------------------------- */

/* A probe and the correct reply to it. */
struct ask {
	int fd, second_fd;
	struct sockaddr_in from;
	long number;
	uint8_t answer[STAMP_BASE_BYTES];
};

static void answer_right(const struct ask *a)
{
	send_to(a->fd, a->answer, sizeof(a->answer), &a->from);
	sample_queue.right++;
}

/* Sends a wrong reply and then the correct one, which avoids a timeout; with --instead only the wrong one. */
static void answer_wrong(const struct ask *a, const void *wrong, size_t bytes, long *account)
{
	send_to(a->fd, wrong, bytes, &a->from);
	++*account;
	if (set.instead)
		sample_queue.lost++;
	else
		answer_right(a);
}

static bool is_turn(const struct ask *a)
{
	return a->number % set.every == set.every / 2;
}

static bool is_last(const struct ask *a)
{
	return a->number == set.count - 1;
}

static void reflect_good(const struct ask *a)
{
	answer_right(a);
}

static void reflect_drop(const struct ask *a)
{
	if (is_turn(a))
		sample_queue.lost++;
	else
		answer_right(a);
}

/* But for the last, since the emitter ends with the first answer to it. */
static void reflect_twice(const struct ask *a)
{
	answer_right(a);
	if (is_last(a))
		return;
	send_to(a->fd, a->answer, sizeof(a->answer), &a->from);
	sample_queue.duplicate++;
}

/* The next probe arrives before this reply and is answered after it. */
static void reflect_late(const struct ask *a)
{
	if (is_turn(a)) {
		poll(NULL, 0, LATE_MS);
		sample_queue.lost++;
		sample_queue.late++;
	}
	answer_right(a);
}

/* The answer comes after that to the next probe. */
static void reflect_swapped(const struct ask *a)
{
	static struct ask kept;
	static bool keeping;

	if (is_turn(a)) {
		kept = *a;
		keeping = true;
		sample_queue.lost++;
		return;
	}
	answer_right(a);
	if (keeping) {
		keeping = false;
		answer_right(&kept);
		sample_queue.late++;
		sample_queue.reordered++;
	}
}

static void reflect_future(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];

	/* The next number, i.e. the next probe; then far ahead; then numbers before the first. */
	static const uint32_t ahead[] = { 1, 1000, 0x7fffffff, 0x80000000, 0xffff0000 };
	uint32_t seq = htonl((uint32_t)a->number + ahead[a->number % 5]);

	memcpy(wrong, a->answer, sizeof(wrong));
	memcpy(wrong + AT_SENDER_SEQ, &seq, sizeof(seq));
	answer_wrong(a, wrong, sizeof(wrong), &sample_queue.foreign);
}

static void reflect_ssid(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];

	memcpy(wrong, a->answer, sizeof(wrong));
	wrong[AT_SSID + 1] ^= 1;
	/* 0 would be a peer without SSIDs. */
	if (!wrong[AT_SSID] && !wrong[AT_SSID + 1])
		wrong[AT_SSID] = 1;
	answer_wrong(a, wrong, sizeof(wrong), &sample_queue.foreign);
}

/* Names an earlier probe, without an SSID like a peer that does not support SSIDs; T1 is not that probe's. */
static void reflect_old(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];
	uint32_t seq = htonl((uint32_t)(a->number - 1 - a->number % 7));

	memcpy(wrong, a->answer, sizeof(wrong));
	memset(wrong + AT_SSID, 0, 2);
	memcpy(wrong + AT_SENDER_SEQ, &seq, sizeof(seq));
	answer_wrong(a, wrong, sizeof(wrong), &sample_queue.foreign);
}

/* The right answer but for the SSID, which all before it had. */
static void reflect_unnamed(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];

	memcpy(wrong, a->answer, sizeof(wrong));
	memset(wrong + AT_SSID, 0, 2);
	if (a->number)
		answer_wrong(a, wrong, sizeof(wrong), &sample_queue.foreign);
	else
		answer_right(a);
}

/* A TWAMP-Light reflector: no SSID, 41 octets. */
static void reflect_light(const struct ask *a)
{
	uint8_t light[STAMP_BASE_BYTES];

	memcpy(light, a->answer, sizeof(light));
	memset(light + AT_SSID, 0, 2);
	send_to(a->fd, light, 41, &a->from);
	sample_queue.right++;
}

static void reflect_t1(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];

	memcpy(wrong, a->answer, sizeof(wrong));
	wrong[AT_SENDER_T1 + a->number % 8] ^= 1;
	answer_wrong(a, wrong, sizeof(wrong), &sample_queue.foreign);
}

static void reflect_short(const struct ask *a)
{
	answer_wrong(a, a->answer, (size_t)a->number % STAMP_REPLY_MIN_BYTES, &sample_queue.malformed);
}

/* Longer than the request is valid: a peer may pad. */
static void reflect_largest(const struct ask *a)
{
	static uint8_t padded[UDP_MAX_BYTES];

	memcpy(padded, a->answer, sizeof(a->answer));
	send_to(a->fd, padded, sizeof(padded), &a->from);
	sample_queue.right++;
}

static void reflect_estimate(const struct ask *a)
{
	uint8_t wrong[STAMP_BASE_BYTES];

	memcpy(wrong, a->answer, sizeof(wrong));
	wrong[a->number % 2 ? AT_MULTIPLIER : AT_SENDER_MULTIPLIER] = 0;
	answer_wrong(a, wrong, sizeof(wrong), &sample_queue.malformed);
}

/* The right answer from a wrong port, or from a wrong address with --second. */
static void reflect_elsewhere(const struct ask *a)
{
	send_to(a->second_fd, a->answer, sizeof(a->answer), &a->from);
	sample_queue.strays++;
	if (set.instead)
		sample_queue.lost++;
	else
		answer_right(a);
}

static void send_garbage(const struct ask *a)
{
	uint8_t octets[100];
	size_t bytes = random_number() % sizeof(octets);

	random_fill(octets, sizeof(octets));
	if (bytes < STAMP_REPLY_MIN_BYTES || !octets[AT_MULTIPLIER] || !octets[AT_SENDER_MULTIPLIER])
		sample_queue.malformed++;
	else
		sample_queue.foreign++; /* the probability of a correct sequence number is below one in a million */
	send_to(a->fd, octets, bytes, &a->from);
}

static void reflect_garbage(const struct ask *a)
{
	for (long i = 0; i < set.every; i++)
		send_garbage(a);
	answer_right(a);
}

/* The probe itself comes back, as from an echo server: its octets 24 to 37 are zero. */
static void reflect_echo(const struct ask *a)
{
	uint8_t probe[STAMP_BASE_BYTES] = { 0 };

	memcpy(probe, a->answer + AT_SENDER_SEQ, AT_SSID);
	answer_wrong(a, probe, sizeof(probe), &sample_queue.malformed);
}

static const struct reflect_mode {
	const char *name;
	void (*answer)(const struct ask *a);
} reflect_modes[] = {
	{ "good", reflect_good },
	{ "drop", reflect_drop }, /* every Nth */
	{ "twice", reflect_twice },
	{ "late", reflect_late }, /* every Nth */
	{ "swapped", reflect_swapped }, /* every Nth */
	{ "future", reflect_future },
	{ "ssid", reflect_ssid },
	{ "old", reflect_old },
	{ "unnamed", reflect_unnamed },
	{ "light", reflect_light },
	{ "t1", reflect_t1 },
	{ "short", reflect_short },
	{ "largest", reflect_largest },
	{ "estimate", reflect_estimate },
	{ "elsewhere", reflect_elsewhere },
	{ "garbage", reflect_garbage }, /* N before each right answer */
	{ "echo", reflect_echo },
};

static void reflect(const struct reflect_mode *m)
{
	static uint8_t packet[DATAGRAM_MAX];
	struct sockaddr_in local = address_of(set.address, set.port);
	struct sockaddr_in other = address_of(set.second ? set.second : set.address, 0);
	struct ask a = { .fd = open_socket(&local), .second_fd = open_socket(&other) };

	for (; (!set.count || a.number < set.count) && !is_over(); a.number++) {
		struct pollfd p = { .fd = a.fd, .events = POLLIN };
		socklen_t bytes_from = sizeof(a.from);
		ssize_t bytes = -1;

		while (bytes < 0 && !is_over())
			if (poll(&p, 1, 100) > 0)
				bytes = recvfrom(a.fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&a.from,
						 &bytes_from);
		if (bytes < STAMP_BASE_BYTES)
			break;
		sample_queue.probes++;
		make_reply(packet, STAMP_BASE_BYTES, (uint32_t)a.number);
		memcpy(a.answer, packet, sizeof(a.answer));
		m->answer(&a);
	}
	/* At full rate: everything that the last requester gets is unrequested. */
	while (set.flood && a.from.sin_port && !is_over())
		send_garbage(&a);
	close(a.second_fd);
	close(a.fd);
}

/* ---- Not as a peer ----------------------------------------------------------------------------------------------- */

/* Keeps kernel timestamping of received packets enabled, as other programs on the machine may. */
static void hold_stamps(void)
{
	int fd = open_socket(NULL), one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &one, sizeof(one)))
		err(1, "SO_TIMESTAMP");
	while (!is_over())
		poll(NULL, 0, 1000);
	close(fd);
}

struct forged {
	struct icmphdr icmp;
	struct iphdr quoted;
	struct udphdr udp;
};

static uint16_t checksum_of(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	sum = (sum >> 16) + (sum & 0xffff);
	return htons((uint16_t)~(sum + (sum >> 16)));
}

/* "Fragmentation needed" (RFC 1191 section 4), forged, about a packet from ADDRESS to --second. --port is
 * that of the emitter, one of the two. */
static void forge(bool to_emitter)
{
	struct sockaddr_in to = address_of(set.address, 0), from = address_of(set.second ? set.second : "", 0);
	uint16_t emitter = htons((uint16_t)set.port), reflector = htons(STAMP_PORT);
	struct forged f = {
		.icmp = { .type = ICMP_DEST_UNREACH, .code = ICMP_FRAG_NEEDED, .un.frag.mtu = htons(FORGED_MTU) },
		.quoted = { .version = 4, .ihl = 5, .tot_len = htons(1428), .frag_off = htons(IP_DF), .ttl = 64,
			    .protocol = IPPROTO_UDP, .saddr = to.sin_addr.s_addr, .daddr = from.sin_addr.s_addr },
		.udp = { .source = to_emitter ? emitter : reflector, .dest = to_emitter ? reflector : emitter,
			 .len = htons(1408) },
	};
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	f.quoted.check = checksum_of(&f.quoted, sizeof(f.quoted));
	f.icmp.checksum = checksum_of(&f, sizeof(f));
	if (fd < 0 || sendto(fd, &f, sizeof(f), 0, (struct sockaddr *)&to, sizeof(to)) != sizeof(f))
		err(1, "forge");
	close(fd);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static void print_count(const char *name, long count)
{
	if (count != NOT_KNOWN)
		printf(" %s=%ld", name, count);
}

static void print_common(void)
{
	print_count("malformed", sample_queue.malformed);
	print_count("foreign", sample_queue.foreign);
	print_count("duplicate", sample_queue.duplicate);
	print_count("reordered", sample_queue.reordered);
}

/* NOT_KNOWN stays so, whatever was counted on top of it. */
static void forget_unknown(long *count, bool unknown)
{
	if (unknown)
		*count = NOT_KNOWN;
}

static void run_emit(const struct emit_mode *m)
{
	bool unknown = m->make == random_octets || m->make == mixture;

	emit(m);
	forget_unknown(&sample_queue.reordered, unknown);
	forget_unknown(&sample_queue.duplicate, unknown);
	forget_unknown(&sample_queue.sessions, unknown);
	printf("hostile emit %s: sent=%ld good=%ld", m->name, sample_queue.sent, sample_queue.good);
	print_common();
	print_count("bad_tlvs", sample_queue.bad_tlvs);
	print_count("sessions", sample_queue.sessions);
	print_count("no_session", sample_queue.no_session);
	printf(" replies=%ld exact=%ld\n", sample_queue.replies, sample_queue.exact);
}

static void run_reflect(const struct reflect_mode *m)
{
	reflect(m);
	printf("hostile reflect %s: probes=%ld right=%ld lost=%ld late=%ld", m->name, sample_queue.probes,
	       sample_queue.right,
	       sample_queue.lost, sample_queue.late);
	print_common();
	printf(" strays=%ld\n", sample_queue.strays);
}

static int usage(void)
{
	fputs("usage: hostile emit|reflect|hold|forge MODE ADDRESS [--port N] [--count N, 0: no limit] [--for "
	      "SECONDS]\n"
	      "       [--seed N] [--every N] [--instead] [--second ADDRESS] [--barrier ADDRESS] [--rate max]\nemit:",
	      stderr);
	for (size_t i = 0; i < sizeof(emit_modes) / sizeof(emit_modes[0]); i++)
		fprintf(stderr, " %s", emit_modes[i].name);
	fputs("\nreflect:", stderr);
	for (size_t i = 0; i < sizeof(reflect_modes) / sizeof(reflect_modes[0]); i++)
		fprintf(stderr, " %s", reflect_modes[i].name);
	fputc('\n', stderr);
	return 1;
}

static void read_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "port", 1, NULL, 'p' },   { "count", 1, NULL, 'c' },	 { "for", 1, NULL, 'f' },
		{ "seed", 1, NULL, 's' },   { "every", 1, NULL, 'e' },	 { "instead", 0, NULL, 'i' },
		{ "second", 1, NULL, '2' }, { "barrier", 1, NULL, 'b' }, { "rate", 1, NULL, 'r' },
		{ 0 },
	};
	int code;

	while ((code = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		long *number = code == 'p' ? &set.port : code == 'c' ? &set.count : code == 's' ? &set.seed :
			       code == 'e' ? &set.every : NULL;

		if (number)
			*number = atol(optarg);
		else if (code == 'f')
			set.limit_s = atof(optarg);
		else if (code == 'i')
			set.instead = true;
		else if (code == '2')
			set.second = optarg;
		else if (code == 'b')
			set.barrier = optarg;
		else if (code == 'r' && !strcmp(optarg, "max"))
			set.flood = true;
		else
			exit(usage());
	}
	/* Bounded in time with any options. */
	if (set.limit_s <= 0 || set.limit_s > 600 || set.every < 1)
		exit(usage());
}

int main(int argc, char **argv)
{
	struct sigaction end = { .sa_handler = on_signal };

	read_options(argc, argv);
	if (argc - optind != 3)
		return usage();
	set.address = argv[optind + 2];
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + (int64_t)(set.limit_s * NS_PER_S);
	if (!strcmp(argv[optind], "emit")) {
		for (size_t i = 0; i < sizeof(emit_modes) / sizeof(emit_modes[0]); i++)
			if (!strcmp(argv[optind + 1], emit_modes[i].name))
				return run_emit(&emit_modes[i]), 0;
	} else if (!strcmp(argv[optind], "reflect")) {
		for (size_t i = 0; i < sizeof(reflect_modes) / sizeof(reflect_modes[0]); i++)
			if (!strcmp(argv[optind + 1], reflect_modes[i].name))
				return run_reflect(&reflect_modes[i]), 0;
	} else if (!strcmp(argv[optind], "hold")) {
		return hold_stamps(), 0;
	} else if (!strcmp(argv[optind], "forge")) {
		return forge(!strcmp(argv[optind + 1], "emitter")), 0;
	}
	return usage();
}
