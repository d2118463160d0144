/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rant: round-trip and network timing. Types and small functions that all modules share.
 *
 * Conventions: every time is a signed 64-bit count of nanoseconds, converted when it comes from the kernel; the unit is
 * part of the name. Functions return 0 (or a count) or -errno. A set-up function that fails has printed one line on
 * stderr (problem, reason, cure); callers only pass the error on. Modules marked "hot" run between send and receive: no
 * allocation, no stdio, no lock.
 */
#ifndef RANT_H
#define RANT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* so this header comes first in every file */
#endif

#include <limits.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#define RANT_VERSION "0.2" /* the newest version in CHANGELOG.md */

#define STAMP_PORT 862 /* RFC 8762 section 4.1 */
#define STAMP_BASE_BYTES 44 /* unauthenticated packet, RFC 8762 sections 4.2 and 4.3 */
#define SESSIONS_MAX 1024 /* sessions of a reflector */

#define NS_PER_US 1000LL
#define NS_PER_MS 1000000LL
#define NS_PER_S 1000000000LL

static inline int64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The clock of a descriptor of /dev/ptpN. Documentation/driver-api/ptp.rst. */
static inline clockid_t clock_of_fd(int fd)
{
	return (clockid_t)((~(unsigned)fd << 3) | 3);
}

/* Greatest common divisor; 0 and b give b. Negative only if both are. */
static inline int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* splitmix64 (Steele, Lea and Flood 2014): pseudo-random, with a period of 2^64. Any initial state is valid. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* For qsort(): times in ascending order. */
static inline int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Counters have one writer, the measuring thread; the housekeeping thread may read them at any time. */
typedef _Atomic uint64_t counter;

/* For functions of the loop, which the compiler specialises for each role. */
#define INLINE static inline __attribute__((always_inline))

static inline void counter_add(counter *c, uint64_t n)
{
	/* A relaxed load and store: with one writer no locked instruction is needed. */
	atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

static inline uint64_t counter_get(const counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

/* A number that may be not known. All zeros: not known. */
struct optional {
	bool known;
	int64_t value; /* 0 if it is not known */
};

static inline struct optional optional_of(int64_t value)
{
	return (struct optional){ .known = true, .value = value };
}

/* Of the number of a CPU, which is below 0 if it is not known. */
static inline struct optional optional_cpu(int cpu)
{
	return cpu < 0 ? (struct optional){ .known = false } : optional_of(cpu);
}

static inline bool optional_is_same(struct optional a, struct optional b)
{
	return a.known == b.known && a.value == b.value;
}

enum role { ROLE_EMIT, ROLE_REFLECT };

/* The name in files, in the trace and in the environment of hook commands. */
static inline const char *role_name(enum role role)
{
	return role == ROLE_EMIT ? "emit" : "reflect";
}

/* The source of a timestamp. SOURCE_NONE: no timestamp, its number is undefined. SOURCE_LOCAL: software of a peer that
 * does not report whether its kernel or its program read the clock. */
enum source { SOURCE_NONE, SOURCE_USER, SOURCE_KERNEL, SOURCE_HARDWARE, SOURCE_LOCAL, SOURCES,
	/* Timestamps of a host, not the source of a time: received packets by the NIC, sent packets by the kernel, on
	 * the scale of the NIC's clock. */
	SOURCE_RECEIVE = SOURCES, HOST_SOURCES };

/* Source of the timestamps of sent or received packets at a host with these timestamps (enum source). */
static inline enum source source_of_packets(int64_t host, bool sent)
{
	return host != SOURCE_RECEIVE ? (enum source)host : sent ? SOURCE_KERNEL : SOURCE_HARDWARE;
}

/* The four times of one exchange at one host, in chronological order. */
enum { EMIT_T1_USER, EMIT_T1_WIRE, EMIT_T4_WIRE, EMIT_T4_USER };
enum { REFLECT_T2_WIRE, REFLECT_T2_USER, REFLECT_T3_USER, REFLECT_T3_WIRE };
#define TIMES 4

/* The times at the other host, which an emitter takes from the replies: THERE + REFLECT_T2_WIRE and so on. */
#define REMOTE TIMES

/* The kernel's own times of a packet, CLOCK_REALTIME. KERNEL_RECEIVE: with timestamps of the NIC, the driver handed the
 * received packet to the kernel (T4_KERNEL of an emitter, T2_KERNEL of a reflector). KERNEL_QUEUE: a sent packet entered
 * the queueing discipline (T1_SCHED, T3_SCHED). KERNEL_DRIVER: with timestamps of the NIC, the driver got it (T1_TXSW,
 * T3_TXSW). And those of the other host. */
enum { KERNEL_RECEIVE = 2 * TIMES, REMOTE_KERNEL_RECEIVE, KERNEL_QUEUE, KERNEL_DRIVER, REMOTE_KERNEL_QUEUE,
       REMOTE_KERNEL_DRIVER, ALL_TIMES };

/* True if time i is of the other host. */
static inline bool time_is_remote(int i)
{
	return (i >= REMOTE && i < KERNEL_RECEIVE) || i == REMOTE_KERNEL_RECEIVE || i >= REMOTE_KERNEL_QUEUE;
}

/* State of T3_WIRE of a reply, which the next reply carries (RFC 8972 section 4.7). */
enum follow_up {
	FOLLOW_UP_NONE, /* not requested */
	FOLLOW_UP_THERE, /* received */
	FOLLOW_UP_LOST, /* the reply that carried it was lost */
	FOLLOW_UP_UNKNOWN, /* the reflector had no timestamp in time */
	FOLLOW_UP_UNREPORTED, /* the reflector does not report T3 */
	FOLLOW_UP_MIXED, /* T2 and T3 have different or unreported sources and are not comparable */
	FOLLOW_UP_END, /* the run ended without a next reply */
	FOLLOW_UP_STEPPED, /* T2 and T3 contradict the known relation of the clocks of both hosts */
	FOLLOW_UPS,
};

/* The plain log stores only the first part, up to time_ns[REMOTE]. */
struct sample {
	uint32_t seq; /* sequence number of the probe, as on the wire */
	/* At the receipt of this packet: time since this host's program last found the socket empty. UINT32_MAX: that or
	 * more; 0: not known. */
	uint32_t poll_gap_ns;
	uint8_t source[ALL_TIMES]; /* enum source */
	uint8_t follow_up; /* enum follow_up */
	/* The reply reports that user times and timestamps of the reflector are from the same timebase; or are not. */
	bool same_timebase : 1, off_scale : 1;
	bool alike : 1; /* the reply reports the same clock for T2 and T3 */
	bool converted : 1; /* the times of user space and of the kernel of this host are on the timebase of the NIC */
	int64_t latency_ns;
	int64_t time_ns[ALL_TIMES]; /* since the epoch of the clock that source[] names */
	uint32_t remote_poll_gap_ns; /* poll_gap_ns of the reflector, as the reply reports it */
	uint16_t ssid; /* of the probe: identifies the run of the emitter; 0: not known */
};

#define RUN_ID_FORMAT "%04x" /* of sample.ssid, as users see it */

/* With a timestamp of the kernel on the wire (time_ns[wire]), that is the time at the driver. */
static inline void sample_note_driver(struct sample *s, unsigned wire, bool remote)
{
	const unsigned queue = remote ? REMOTE_KERNEL_QUEUE : KERNEL_QUEUE, driver = queue + 1;

	if (!s->source[queue] || s->source[wire] != SOURCE_KERNEL)
		return;
	s->time_ns[driver] = s->time_ns[wire];
	s->source[driver] = SOURCE_KERNEL;
}

#define SAMPLE_LOCAL_BYTES offsetof(struct sample, time_ns[REMOTE])

/* A character of foreign text for a message of one line: control characters become '?'. */
static inline char text_shown(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

/* Appends to a text in a buffer of this size, in the format of printf(3). Text that does not fit is cut off. */
__attribute__((format(printf, 3, 4)))
static inline void text_add(char *text, size_t bytes, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, bytes - used, format, arguments);
	va_end(arguments);
}

/* Appends a number with a comma between thousands, as text_add() does. */
static inline void text_add_grouped(char *text, size_t bytes, uint64_t n)
{
	if (n >= 1000) {
		text_add_grouped(text, bytes, n / 1000);
		text_add(text, bytes, ",%03u", (unsigned)(n % 1000));
	} else {
		text_add(text, bytes, "%u", (unsigned)n);
	}
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ll ll; /* AF_PACKET: a MAC address */
};

/* Size of an address of either IP family in octets, for system calls and comparisons. */
static inline socklen_t address_bytes(const union address *a)
{
	return a->any.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

/* True for an address that needs an interface as its zone (RFC 4007); a socket that is bound to one has it. */
static inline bool address_is_link_local(const union address *a)
{
	return a->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a->in6.sin6_addr);
}

/* The octets of an IP address as IPv6, IPv4 in its mapped form (RFC 4291 section 2.5.5.2), so that the two families
 * share none. A MAC address fills the last octets: all peers of a run are of one family. */
static inline void address_as_ipv6(const union address *a, uint64_t octets[2])
{
	if (a->any.sa_family == AF_INET6) {
		memcpy(octets, &a->in6.sin6_addr, 16);
		return;
	}
	uint8_t *mapped = (uint8_t *)octets;

	memset(mapped, 0, 10);
	if (a->any.sa_family == AF_PACKET) {
		memcpy(mapped + 10, a->ll.sll_addr, 6);
		return;
	}
	mapped[10] = mapped[11] = 0xff;
	memcpy(mapped + 12, &a->in.sin_addr, 4);
}

#endif
