// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The yardstick of `make bench`: a bare emitter and reflector with the system calls per round trip of rant and nothing
 * else. But for one kind no clock is read; no packet is looked at, nothing is recorded but a count. A timer's signal
 * ends the emitter, two seconds of silence the reflector. The result is the rate that the kernel allows.
 *
 *   kernel   emitter: send, recvmsg until the reply is there, recvmsg of the error queue until the stamp is there;
 *            reflector: recvmsg, sendmsg, error queue. Options, control messages and their order are those of rant.
 * messages the same without stamps: with the control messages that a reflector needs, no error queue. Between this and
 * user
 *            lies their cost.
 * stamp user-space times as STAMP has them, and nothing more: four readings of the clock, two of them in the reply with
 * the TTL
 * of the request, which takes a control message; as many octets as rant's probe. The difference from this to user is the cost of
 * costs.
 *   user     no stamps and no control messages: send and recv, recvfrom and sendto.
 *
 * A reflector connects its socket to the first sender after its first answer, if asked to. Then the kernel looks
 * up neither route nor address for a reply, as long as no control message goes with it: the id of its stamp is counted
 * then. Only the TTL is asked for, for the local address is known.
 *
 * Both ends also print for how long they were ready and had no CPU. They never sleep, so others had it meanwhile.
 */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID 81 /* asm-generic/socket.h, Linux 6.13 */
#endif

#define PROBE_BYTES 44
#define STAMP_PROBE_BYTES 96 /* with the TLVs that rant sends */
#define RECEIVE_BUFFER_BYTES (4 << 20)
#define SILENCE_S 2
#define FIRST_PROBE_S 10 /* how long a reflector waits for it */
#define LOST_TURNS 200000 /* fruitless receives, about 50 ms, after which a probe is sent again */

static volatile sig_atomic_t over;
static volatile uint64_t rounds, ticked_at;
static bool stamps, times, messages; /* stamps and times imply messages */
static bool connects; /* the reflector, when it has answered once */

struct end {
	int fd;
	bool id_by_message, connected;
	uint32_t key; /* of the next transmit stamp */
	uint8_t ttl; /* of the last request */
	uint8_t packet[65536];
	struct sockaddr_in peer;
	union {
		char octets[256];
		struct cmsghdr align;
	} in, out, queue;
};

static struct end end;

/* A STAMP probe, so that a reflector of rant answers it too: PTP format, multiplier 1 (RFC 8762 section 4.2). */
static uint8_t probe[STAMP_PROBE_BYTES] = { [12] = 0x40, [13] = 0x01 };
static size_t probe_bytes = PROBE_BYTES;

static void on_end(int signal_number)
{
	(void)signal_number;
	over = 1;
}

/* Reflector: one interval of the timer without a round is silence. */
static void on_tick(int signal_number)
{
	(void)signal_number;
	if (rounds == ticked_at)
		over = 1;
	ticked_at = rounds;
}

static void set_timer(void (*handler)(int), int first_s, int interval_s)
{
	const struct itimerval timer = { .it_value.tv_sec = first_s, .it_interval.tv_sec = interval_s };

	signal(SIGALRM, handler);
	if (setitimer(ITIMER_REAL, &timer, NULL))
		err(1, "setitimer");
}

static void set_int(int level, int name, int value)
{
	if (setsockopt(end.fd, level, name, &value, sizeof(value)))
		err(1, "setsockopt level %d option %d", level, name);
}

/* As rant finds it out: an unknown control message is EINVAL before the destination is looked at. */
static bool takes_id_by_message(void)
{
	const uint32_t key = 0;
	struct sockaddr_in broadcast = { .sin_family = AF_INET, .sin_port = htons(9),
					 .sin_addr.s_addr = htonl(INADDR_BROADCAST) };
	struct msghdr m = { .msg_name = &broadcast, .msg_namelen = sizeof(broadcast), .msg_control = end.out.octets,
			    .msg_controllen = CMSG_SPACE(sizeof(key)) };

	end.out.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_TS_OPT_ID,
					  .cmsg_len = CMSG_LEN(sizeof(key)) };
	memcpy(CMSG_DATA(&end.out.align), &key, sizeof(key));
	return sendmsg(end.fd, &m, MSG_DONTWAIT) < 0 && errno != EINVAL;
}

static void open_end(bool emitter, const char *interface, const char *address, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	end.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (end.fd < 0)
		err(1, "socket");
	set_int(SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES);
	if (setsockopt(end.fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1))
		err(1, "SO_BINDTODEVICE %s", interface);
	if (messages && !emitter) {
		set_int(SOL_IP, IP_PKTINFO, 1);
		set_int(SOL_IP, IP_RECVTTL, 1);
	}
	if (!emitter && bind(end.fd, (struct sockaddr *)&a, sizeof(a)))
		err(1, "bind to port %d", port);
	if (emitter && (!inet_aton(address, &a.sin_addr) || connect(end.fd, (struct sockaddr *)&a, sizeof(a))))
		err(1, "connect to %s", address);
	end.connected = emitter;
	if (stamps) {
		set_int(SOL_SOCKET, SO_TIMESTAMPING,
			SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY);
		end.id_by_message = !emitter && takes_id_by_message();
	}
}

/* The port stays: a socket without a bound address gets that of the route. Packets from the peer meanwhile are in the
 * queue. */
static void connect_to_peer(void)
{
	if (connect(end.fd, (struct sockaddr *)&end.peer, sizeof(end.peer)))
		err(1, "connect to the emitter");
	if (messages)
		set_int(SOL_IP, IP_PKTINFO, 0);
	end.connected = true;
	end.id_by_message = false;
}

/* ---- CPU time of the loops --------------------------------------------------------------------------------------- */

static struct share {
	double at_s;
	unsigned long long waited_ns; /* for the CPU, as the scheduler counts it */
	bool known;
} began;

static struct share share_now(void)
{
	struct share s = { 0 };
	struct timespec t;
	FILE *f = fopen("/proc/self/schedstat", "r");

	if (f) {
		s.known = fscanf(f, "%*u %llu", &s.waited_ns) == 1;
		fclose(f);
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	s.at_s = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	return s;
}

static void print_share(const struct share *ended)
{
	if (began.known && ended->known)
		printf("Waited: %llu ns of %.0f\n", ended->waited_ns - began.waited_ns,
		       (ended->at_s - began.at_s) * 1e9);
}

/* ---- With control messages --------------------------------------------------------------------------------------- */

/* The control messages of a send: laid out once; only the key and the addresses change. */
struct outgoing {
	struct msghdr m;
	struct iovec payload;
	uint8_t *key, *info; /* inside end.out; NULL: not sent */
};

static uint8_t *append(struct msghdr *m, int level, int type, size_t bytes)
{
	struct cmsghdr *h = (struct cmsghdr *)(end.out.octets + m->msg_controllen);

	*h = (struct cmsghdr){ .cmsg_level = level, .cmsg_type = type, .cmsg_len = CMSG_LEN(bytes) };
	m->msg_control = end.out.octets;
	m->msg_controllen += CMSG_SPACE(bytes);
	return CMSG_DATA(h);
}

static void lay_out(struct outgoing *o, bool emitter)
{
	*o = (struct outgoing){ .payload = { emitter ? probe : end.packet, probe_bytes }, .m = { .msg_iovlen = 1 } };
	o->m.msg_iov = &o->payload;
	memset(&end.out, 0, sizeof(end.out));
	if (!end.connected) {
		o->m.msg_name = &end.peer;
		o->m.msg_namelen = sizeof(end.peer);
		o->info = append(&o->m, SOL_IP, IP_PKTINFO, sizeof(struct in_pktinfo));
	}
	if (end.id_by_message)
		o->key = append(&o->m, SOL_SOCKET, SCM_TS_OPT_ID, sizeof(end.key));
}

static bool send_message(struct outgoing *o)
{
	if (o->key)
		memcpy(o->key, &end.key, sizeof(end.key));
	if ((o->m.msg_controllen ? sendmsg(end.fd, &o->m, MSG_DONTWAIT) :
				   send(end.fd, o->payload.iov_base, o->payload.iov_len, MSG_DONTWAIT)) < 0)
		return false;
	end.key++;
	return true;
}

/* False: nothing there. */
static bool receive_message(struct outgoing *reply)
{
	struct iovec payload = { end.packet, sizeof(end.packet) };
	struct msghdr m = { .msg_iov = &payload, .msg_iovlen = 1, .msg_control = end.in.octets,
			    .msg_controllen = sizeof(end.in) };

	if (!end.connected) {
		m.msg_name = &end.peer;
		m.msg_namelen = sizeof(end.peer);
	}
	ssize_t bytes = recvmsg(end.fd, &m, MSG_DONTWAIT);

	if (bytes < 0)
		return false;
	if (reply) {
		reply->payload.iov_len = (size_t)bytes;
		for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
			if (reply->info && h->cmsg_level == SOL_IP && h->cmsg_type == IP_PKTINFO)
				memcpy(reply->info, CMSG_DATA(h), offsetof(struct in_pktinfo, ipi_addr));
			if (h->cmsg_level == SOL_IP && h->cmsg_type == IP_TTL)
				end.ttl = *CMSG_DATA(h);
		}
	}
	return true;
}

static bool fetch_stamp(void)
{
	struct msghdr m = { .msg_control = end.queue.octets, .msg_controllen = sizeof(end.queue) };

	return recvmsg(end.fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0;
}

static void wait_for_stamp(void)
{
	for (int turn = 0; turn < LOST_TURNS && !over; turn++)
		if (fetch_stamp())
			return;
}

static uint64_t emit_messages(void)
{
	struct outgoing o;
	uint64_t lost = 0;

	lay_out(&o, true);
	while (!over) {
		int turn = 0;

		if (!send_message(&o))
			continue;
		while (!receive_message(NULL) && ++turn < LOST_TURNS && !over)
			;
		if (turn == LOST_TURNS)
			lost++;
		if (stamps)
			wait_for_stamp();
		rounds += turn < LOST_TURNS && !over;
	}
	return lost;
}

static bool answer_times(struct outgoing *o);

static void answer_messages(struct outgoing *o)
{
	if (times ? !answer_times(o) : !receive_message(o) || !send_message(o))
		return;
	if (stamps)
		wait_for_stamp();
	rounds++;
}

static void reflect_messages(void)
{
	struct outgoing o;

	lay_out(&o, false);
	while (!over && !rounds)
		answer_messages(&o);
	if (rounds && connects) {
		connect_to_peer();
		lay_out(&o, false);
	}
	began = share_now();
	while (!over)
		answer_messages(&o);
}

/* ---- With times of user space ------------------------------------------------------------------------------------ */

/* Offsets in a reply (RFC 8762 section 4.3.1), and in a probe, where T1 is at that of T3. */
enum { AT_T3 = 4, AT_T2 = 16, AT_T1 = 28, AT_TTL = 40 };

static void put_time(uint8_t *octets)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);

	const uint32_t words[] = { htonl((uint32_t)t.tv_sec), htonl((uint32_t)t.tv_nsec) };

	memcpy(octets, words, sizeof(words));
}

static uint64_t emit_times(void)
{
	uint64_t lost = 0;
	uint8_t t4[8];

	while (!over) {
		int turn = 0;

		put_time(probe + AT_T3);
		if (send(end.fd, probe, probe_bytes, MSG_DONTWAIT) < 0)
			continue;
		while (recv(end.fd, end.packet, sizeof(end.packet), MSG_DONTWAIT) < 0 && ++turn < LOST_TURNS && !over)
			;
		put_time(t4);
		if (turn == LOST_TURNS)
			lost++;
		rounds += turn < LOST_TURNS && !over;
	}
	return lost;
}

static bool answer_times(struct outgoing *o)
{
	uint8_t t1[8];

	if (!receive_message(o))
		return false;
	memcpy(t1, end.packet + AT_T3, sizeof(t1));
	put_time(end.packet + AT_T2);
	memcpy(end.packet + AT_T1, t1, sizeof(t1));
	end.packet[AT_TTL] = end.ttl;
	put_time(end.packet + AT_T3);
	return send_message(o);
}

/* ---- Without stamps ---------------------------------------------------------------------------------------------- */

static uint64_t emit_plain(void)
{
	uint64_t lost = 0;

	while (!over) {
		int turn = 0;

		if (send(end.fd, probe, probe_bytes, MSG_DONTWAIT) < 0)
			continue;
		while (recv(end.fd, end.packet, sizeof(end.packet), MSG_DONTWAIT) < 0 && ++turn < LOST_TURNS && !over)
			;
		if (turn == LOST_TURNS)
			lost++;
		rounds += turn < LOST_TURNS && !over;
	}
	return lost;
}

static void answer_plain(void)
{
	socklen_t length = sizeof(end.peer);
	ssize_t bytes = recvfrom(end.fd, end.packet, sizeof(end.packet), MSG_DONTWAIT, (struct sockaddr *)&end.peer,
				 &length);

	if (bytes >= 0 &&
	    sendto(end.fd, end.packet, (size_t)bytes, MSG_DONTWAIT, (struct sockaddr *)&end.peer, length) >= 0)
		rounds++;
}

static void answer_connected(void)
{
	ssize_t bytes = recv(end.fd, end.packet, sizeof(end.packet), MSG_DONTWAIT);

	if (bytes >= 0 && send(end.fd, end.packet, (size_t)bytes, MSG_DONTWAIT) >= 0)
		rounds++;
}

static void reflect_plain(void)
{
	while (!over && !rounds)
		answer_plain();
	if (rounds && connects)
		connect_to_peer();
	began = share_now();
	while (!over && end.connected)
		answer_connected();
	while (!over)
		answer_plain();
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static void usage(void)
{
	errx(1,
	     "usage: bare emit|reflect|reflect-connected kernel|messages|stamp|user INTERFACE PORT [ADDRESS SECONDS]");
}

int main(int argc, char **argv)
{
	bool emitter = argc > 1 && !strcmp(argv[1], "emit");
	struct share ended;

	connects = argc > 1 && !strcmp(argv[1], "reflect-connected");
	if (argc != (emitter ? 7 : 5) || (!emitter && !connects && strcmp(argv[1], "reflect")))
		usage();
	stamps = !strcmp(argv[2], "kernel");
	times = !strcmp(argv[2], "stamp");
	messages = stamps || times || !strcmp(argv[2], "messages");
	probe_bytes = times ? STAMP_PROBE_BYTES : PROBE_BYTES;
	if (!messages && strcmp(argv[2], "user"))
		usage();
	signal(SIGINT, on_end);
	signal(SIGTERM, on_end);
	open_end(emitter, argv[3], emitter ? argv[5] : NULL, atoi(argv[4]));
	if (!emitter) {
		set_timer(on_tick, FIRST_PROBE_S, SILENCE_S);
		if (messages)
			reflect_messages();
		else
			reflect_plain();
		ended = share_now();
		print_share(&ended);
		return 0;
	}
	set_timer(on_end, atoi(argv[6]), 0);
	began = share_now();

	uint64_t lost = times ? emit_times() : messages ? emit_messages() : emit_plain();

	ended = share_now();
	printf("Rounds: %llu, sent again: %llu\n", (unsigned long long)rounds, (unsigned long long)lost);
	printf("Rate: %.0f round trips/s\n", (double)rounds / (ended.at_s - began.at_s));
	print_share(&ended);
	return 0;
}
